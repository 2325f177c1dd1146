"""Define targets by name: items, exhibits, and exhibits made of printed numbers."""


rule items:
    """Build the items of all languages."""
    input:
        [
            # All items, also if models are evaluated on a sample (sample.smk).
            whole_items_table(CAMPAIGN, benchmark, lang)
            for benchmark in CAMPAIGN.benchmarks
            for lang in layout.item_languages(benchmark)
        ],


rule published:
    """Make all exhibits from the papers' printed numbers."""
    input:
        published_folders(),


# Each exhibit has a rule without wildcards, so that its name is a target. Exhibits that cannot be
# made have such rules too, which fail with the reason.
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
