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
    "items"; ``function`` takes them and returns an ``Exhibit``.
    """

    paper: str
    name: str
    kind: Kind
    title: str
    needs: tuple[str, ...]
    function: str

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
            "table2",
            "table",
            "Languages with at least ten pairs per agreement condition",
            ("items",),
            f"{_MULTIBLIMP}:table2",
        ),
        ExhibitSpec(
            "multiblimp",
            "table5",
            "table",
            "Accuracy per language and model",
            ("accuracies",),
            f"{_MULTIBLIMP}:table5",
        ),
        ExhibitSpec(
            "multiblimp",
            "fig3",
            "figure",
            "Minimal pairs per language, certain and uncertain agreement",
            ("items",),
            f"{_MULTIBLIMP}:fig3",
        ),
        ExhibitSpec(
            "multiblimp",
            "funnel",
            "table",
            "What each stage of pair generation kept and dropped, per language",
            ("funnel",),
            f"{_MULTIBLIMP}:funnel",
        ),
    )
}


def of_benchmarks(benchmarks: tuple[str, ...]) -> list[ExhibitSpec]:
    """Exhibits of the papers whose benchmarks a campaign runs."""
    return [spec for spec in EXHIBITS.values() if spec.paper in benchmarks]
