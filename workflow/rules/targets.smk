"""Targets that people ask for by name; they run nothing of their own."""


rule items:
    """The item sets of all languages."""
    input:
        [
            # Before any limit (sample.smk).
            whole_items_table(CAMPAIGN, benchmark, lang)
            for benchmark in CAMPAIGN.benchmarks
            for lang in layout.item_languages(benchmark)
        ],


rule published:
    """The exhibits as the papers' printed numbers make them."""
    input:
        published_folders(),


# Rules without wildcards are targets that people can name. Who asks for one that cannot be built
# is told why.
TARGETS = [
    (spec.alias, first_file(spec))
    for spec in [*layout.exhibits, *map(find_exhibit, layout.refused)]
]
TARGETS += [
    (spec.published_alias, f"<results>/published/{spec.paper}")
    for spec in layout.published
]
for target, path in TARGETS:

    rule:
        name:
            target
        input:
            path,
