"""KabLiMP: its pairs."""

from kablimp.settings import KablimpOptions


rule build_kablimp_items:
    """Pairs of English, of words of our own."""
    output:
        "<results>/items/kablimp/eng.parquet",
    log:
        "<logs>/build_items/kablimp/eng.log",
    localrule: True
    params:
        code=code_of("build_kablimp_items"),
        pairs=CAMPAIGN.section(KablimpOptions).pairs,
    message:
        "Make the pairs of KabLiMP"
    shell:
        "python -m blimpworks build-kablimp-items --output {output:q} --pairs {params.pairs} "
        "> {log:q} 2>&1"
