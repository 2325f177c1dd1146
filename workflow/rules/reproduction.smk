"""What the papers print: as tables, against itself, and beside the campaign's own numbers.

The report and the crate show both comparisons.
"""

# Printed: numbers as they stand in a paper. Published: exhibits made of those.
# Released: files of a benchmark's authors. Measured: the campaign's own numbers.


rule read_published:
    """Accuracies that a paper prints, as a table like the campaign's own."""
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
        "Read the accuracies that the paper of {wildcards.benchmark} prints"
    shell:
        "python -m blimpworks read-published {input:q} --benchmark {wildcards.benchmark} "
        "--output {output:q} > {log:q} 2>&1"


rule compare_published:
    """Every printed number beside its value computed from the paper's other numbers."""
    input:
        cells=published_folders(layout.papers),
        printed=[layout.printed_tables(paper) for paper in layout.papers],
        reasons=[layout.printed_tables(paper, "reasons.tsv") for paper in layout.papers],
        # A paper's own benchmark has its name.
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
        "Compare what the papers print with what it is computed from"
    shell:
        "python -m blimpworks compare-published {params.cells:q} --printed {params.printed:q} "
        "--accuracies {params.accuracies:q} {params.papers:q} --output {output:q} > {log:q} 2>&1"


rule compare_measured:
    """The campaign's own numbers beside the printed ones."""
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
    """Both comparisons."""
    input:
        comparisons(),
