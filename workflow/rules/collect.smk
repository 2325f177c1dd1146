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


# Who asks for one that cannot be built is told why.
for spec in [*layout.exhibits, *map(find_exhibit, layout.refused)]:

    rule:
        name:
            spec.alias
        input:
            f"{RESULTS}/exhibits/{spec.key}.{FORMATS[spec.kind][0]}",
        localrule: True


rule published:
    """The exhibits as the papers' printed numbers make them."""
    input:
        [f"{RESULTS}/published/{s.key}.{FORMATS[s.kind][0]}" for s in layout.published],
    localrule: True


for spec in layout.published:

    rule:
        name:
            f"{spec.alias}_published"
        input:
            f"{RESULTS}/published/{spec.key}.{FORMATS[spec.kind][0]}",
        localrule: True
