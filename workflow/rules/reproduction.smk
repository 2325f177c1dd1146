"""Compare printed numbers with recomputed ones, and with the campaign's numbers.

Printed numbers are in the text of a paper. Published exhibits are made from printed numbers.
Released numbers are in files of a benchmark's authors. Measured numbers are the campaign's. The
report and the crate show both comparisons.
"""


rule read_published:
    """Write a paper's printed accuracies as a table with the columns of measured ones."""
    input:
        lambda w: layout.printed_tables(w.benchmark),
    output:
        "<results>/accuracies/printed/{benchmark}.parquet",
    log:
        "<logs>/read_published/{benchmark}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("read_published"),
    message:
        "Read the printed accuracies of {wildcards.benchmark}"
    shell:
        "python -m blimpworks read-published {input:q} --benchmark {wildcards.benchmark} "
        "--output {output:q} > {log:q} 2>&1"


rule compare_published:
    """Compare each printed number with its value computed from other printed numbers."""
    input:
        cells=published_folders(layout.papers),
        printed=[layout.printed_tables(paper) for paper in layout.papers],
        reasons=[layout.printed_tables(paper, "reasons.tsv") for paper in layout.papers],
        # A paper's main benchmark has the paper's name.
        accuracies=expand(
            "<results>/accuracies/printed/{paper}.parquet", paper=layout.papers
        ),
    output:
        report(
            "<results>/reproduction/published.csv",
            caption="../report/comparison.rst",
            category="Reproduction",
            labels={"against": "print"},
        ),
    log:
        "<logs>/compare_published.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("compare_published"),
        cells=published_cells(layout.papers),
        printed=lambda w: str(CAMPAIGN.catalogue.published),
        accuracies=lambda w, input: Path(input.accuracies[0]).parent,
        papers=repeated("paper", layout.papers),
    message:
        "Compare printed with recomputed numbers"
    shell:
        "python -m blimpworks compare-published {params.cells:q} --printed {params.printed:q} "
        "--accuracies {params.accuracies:q} {params.papers:q} --output {output:q} > {log:q} 2>&1"


rule compare_measured:
    """Compare the campaign's numbers with the printed ones."""
    input:
        cells=[
            f"<results>/exhibits/{spec.key}.cells.parquet" for spec in layout.exhibits
        ],
        published=published_folders(layout.papers),
        accuracies=expand(
            "<results>/accuracies/printed/{paper}.parquet", paper=layout.papers
        ),
        printed=[layout.printed_tables(paper) for paper in layout.papers],
        basis=settings_file(
            "comparability.json",
            lambda: {p: basis_of(CAMPAIGN, CATALOGUE, p) for p in layout.papers},
        ),
    output:
        report(
            "<results>/reproduction/measured.csv",
            caption="../report/comparison.rst",
            category="Reproduction",
            labels={"against": "our own"},
        ),
    log:
        "<logs>/compare_measured.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("compare_measured"),
        printed=lambda w: str(CAMPAIGN.catalogue.published),
        published=repeated("published", published_cells(layout.papers)),
        accuracies=lambda w, input: Path(input.accuracies[0]).parent,
        papers=repeated("paper", layout.papers),
    message:
        "Compare the campaign's numbers with the printed ones"
    shell:
        "python -m blimpworks compare-measured {input.cells:q} --printed {params.printed:q} "
        "{params.papers:q} {params.published:q} --accuracies {params.accuracies:q} "
        "--basis {input.basis:q} --output {output:q} > {log:q} 2>&1"


rule reproduction:
    """Make both comparisons."""
    input:
        comparisons(),
