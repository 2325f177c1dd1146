"""Targets that people ask for by name; they run nothing of their own."""


rule items:
    """The item sets of all languages."""
    input:
        [
            str(whole_items_table(CAMPAIGN, benchmark, lang))
            for benchmark in CAMPAIGN.benchmarks
            for lang in layout.item_languages(benchmark)
        ],
    localrule: True


rule published:
    """The exhibits as the papers' printed numbers make them."""
    input:
        published_folders(),
    localrule: True


# Rules without wildcards are targets that people can name. Who asks for one that cannot be built
# is told why.
TARGETS = [
    (spec.alias, f"{RESULTS}/exhibits/{spec.key}.{FORMATS[spec.kind][0]}")
    for spec in [*layout.exhibits, *map(find_exhibit, layout.refused)]
]
TARGETS += [
    (spec.published_alias, f"{RESULTS}/published/{spec.paper}")
    for spec in layout.published
]
for target, path in TARGETS:

    rule:
        name:
            target
        input:
            path,
        localrule: True
