"""KabLiMP: two paradigms of English."""

from pathlib import Path

from blimpworks.campaign.paper import ANY, Benchmark, Citation, ExhibitSpec, Paper
from kablimp.settings import KablimpOptions

HERE = Path(__file__).parent

PAPER = Paper(
    name="kablimp",
    citation=Citation(label="KabLiMP", title="A Paper of One's Own", authors="Nobody (2026)"),
    settings=KablimpOptions,
    benchmarks=(
        Benchmark(
            name="kablimp",
            options=lambda campaign: campaign.section(KablimpOptions),
            languages=lambda campaign, catalogue: [
                lang for lang in catalogue.languages if lang == "eng"
            ],
            methods=lambda campaign, _: campaign.section(KablimpOptions).methods,
            expected_units=lambda campaign, catalogue, lang: (
                2 * campaign.section(KablimpOptions).pairs
            ),
            ties={"published": {ANY: "wrong"}, "corrected": {ANY: "wrong"}},
        ),
    ),
    exhibits=(
        ExhibitSpec(
            paper="kablimp",
            name="table1",
            kind="table",
            title="Accuracy by paradigm",
            needs=("accuracies",),
            function="kablimp.exhibits:table1",
            published=("accuracies",),
        ),
        ExhibitSpec(
            paper="kablimp",
            name="fig1",
            kind="figure",
            title="Accuracy by paradigm, drawn",
            needs=("accuracies",),
            function="kablimp.exhibits:fig1",
        ),
    ),
    formulas=("kablimp.formulas",),
    commands=("kablimp.commands",),
    rules=str(HERE / "kablimp.smk"),
    printed=HERE / "printed",
    printed_accuracies="kablimp.published:accuracies",
)
