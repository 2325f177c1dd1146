"""Every exhibit the repository can build: the papers' tables and figures, and a few of ours.

Plain data without heavy imports, because the Snakefile reads it each time it is parsed.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["table", "figure"]
FORMATS: dict[str, tuple[str, ...]] = {
    "table": ("csv", "md", "tex"),
    "figure": ("pdf", "png", "svg"),
}


@dataclass(frozen=True, slots=True)
class ExhibitSpec:
    """One exhibit: where it stands, what it is made of, and the function that makes it.

    ``needs`` names tables of the campaign: "accuracies", or one table per language such as
    "items"; ``function`` takes them and returns an ``Exhibit``. ``facts`` names what it
    wants to know of the campaign and its catalogue, such as the languages' families.
    ``optional`` names tables that it can do without where the campaign has none; with
    ``published``, the tables it needs there, it can be built from what the paper prints.
    """

    paper: str
    name: str
    kind: Kind
    title: str
    needs: tuple[str, ...]
    function: str
    facts: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    published: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Paper and name, as in the path of the files."""
        return f"{self.paper}/{self.name}"

    @property
    def alias(self) -> str:
        """The Snakemake target's name."""
        return f"{self.paper}_{self.name}"


_MULTIBLIMP = "blimpworks.exhibits.multiblimp"
EXHIBITS: dict[str, ExhibitSpec] = {
    spec.key: spec
    for spec in (
        ExhibitSpec(
            "multiblimp",
            "table1",
            "table",
            "Agreement probabilities by value and word order",
            ("agreement", "agreement_counts"),
            f"{_MULTIBLIMP}_agreement:table1",
            facts=("table1",),
            published=("printed",),
        ),
        ExhibitSpec(
            "multiblimp",
            "table2",
            "table",
            "Languages with at least ten pairs per agreement condition",
            ("items",),
            f"{_MULTIBLIMP}_data:table2",
            published=("printed",),
        ),
        ExhibitSpec(
            "multiblimp",
            "table5",
            "table",
            "Accuracy per language and model",
            ("accuracies", "items"),
            f"{_MULTIBLIMP}_evaluation:table5",
            facts=("table_models",),
            published=("accuracies", "printed"),
        ),
        ExhibitSpec(
            "multiblimp",
            "table3",
            "table",
            "Accuracy by phenomenon and group of languages",
            ("accuracies", "comparisons"),
            f"{_MULTIBLIMP}_evaluation:table3",
            facts=("table_models", "groups"),
            optional=("frequencies",),
            published=("accuracies", "printed"),
        ),
        ExhibitSpec(
            "multiblimp",
            "tableb2",
            "table",
            "Languages with a significantly best model",
            ("accuracies", "comparisons"),
            f"{_MULTIBLIMP}_evaluation:tableb2",
            facts=("table_models", "rivals", "mcnemar"),
            published=("accuracies", "printed"),
        ),
        ExhibitSpec(
            "multiblimp",
            "text72_73",
            "table",
            "The numbers of sections 7.2 and 7.3",
            ("accuracies", "comparisons", "regressions"),
            f"{_MULTIBLIMP}_statements:text72_73",
            facts=("pairs", "groups", "models", "mcnemar"),
            published=("accuracies", "printed"),
        ),
        ExhibitSpec(
            "multiblimp",
            "fig1",
            "figure",
            "Accuracy by language frequency",
            ("accuracies", "regressions", "residuals"),
            f"{_MULTIBLIMP}_trends:fig1",
            facts=("trend_model",),
            optional=("frequencies",),
            published=("accuracies", "regressions", "residuals"),
        ),
        ExhibitSpec(
            "multiblimp",
            "fig5",
            "figure",
            "Accuracy by model size",
            ("accuracies",),
            f"{_MULTIBLIMP}_trends:fig5",
            facts=("sized_models", "models"),
            published=("accuracies", "printed"),
        ),
        ExhibitSpec(
            "multiblimp",
            "fig6",
            "figure",
            "Models against each other, language by language",
            ("accuracies",),
            f"{_MULTIBLIMP}_contrasts:fig6",
            facts=("pairs", "groups"),
            published=("accuracies",),
        ),
        ExhibitSpec(
            "multiblimp",
            "fig7",
            "figure",
            "What drives the margin",
            ("margins",),
            f"{_MULTIBLIMP}_contrasts:fig7",
            facts=("margin_models",),
        ),
        ExhibitSpec(
            "multiblimp",
            "fig3",
            "figure",
            "Minimal pairs per language, certain and uncertain agreement",
            ("items",),
            f"{_MULTIBLIMP}_languages:fig3",
            published=("printed",),
        ),
        ExhibitSpec(
            "multiblimp",
            "funnel",
            "table",
            "What each stage of pair generation kept and dropped, per language",
            ("funnel",),
            f"{_MULTIBLIMP}_data:funnel",
        ),
        ExhibitSpec(
            "multiblimp",
            "table4",
            "table",
            "Excluded treebanks with reasons",
            ("sentences",),
            f"{_MULTIBLIMP}_data:table4",
            facts=("excluded",),
            published=("printed",),
        ),
        ExhibitSpec(
            "multiblimp",
            "fig4",
            "figure",
            "Language families: languages and pairs",
            ("items",),
            f"{_MULTIBLIMP}_languages:fig4",
            facts=("families",),
            published=("printed",),
        ),
        ExhibitSpec(
            "multiblimp",
            "figb1",
            "figure",
            "Languages by family, with their pairs",
            ("items",),
            f"{_MULTIBLIMP}_languages:figb1",
            facts=("families",),
            published=("printed",),
        ),
        ExhibitSpec(
            "multiblimp",
            "fig8",
            "table",
            "A sample of pairs",
            ("items",),
            f"{_MULTIBLIMP}_sample:fig8",
            facts=("traits",),
        ),
        ExhibitSpec(
            "multiblimp",
            "regeneration",
            "table",
            "Pairs regenerated, against the release",
            ("funnel",),
            f"{_MULTIBLIMP}_regeneration:regeneration",
            facts=("published_n", "completeness", "reasons"),
        ),
    )
}


EVALUATION = {"accuracies", "comparisons", "regressions", "residuals", "margins"}
"""Tables that only a campaign with models has."""


def of_benchmarks(benchmarks: tuple[str, ...], *, evaluated: bool) -> list[ExhibitSpec]:
    """Exhibits of the papers whose benchmarks a campaign runs.

    Without models to be ``evaluated``, those of the data alone.
    """
    return [
        spec
        for spec in EXHIBITS.values()
        if spec.paper in benchmarks and (evaluated or not EVALUATION & {*spec.needs})
    ]
