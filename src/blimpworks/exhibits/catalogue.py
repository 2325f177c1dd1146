"""Every exhibit the repository can build: the papers' tables and figures, and a few of ours.

Plain data without heavy imports, because the Snakefile reads it each time it is parsed.
"""

from collections.abc import Collection

from blimpworks.campaign.benchmarks import benchmarks_of
from blimpworks.campaign.exhibit_spec import FORMATS, ExhibitSpec
from blimpworks.papers.blimp.exhibits.specs import SPECS as BLIMP
from blimpworks.papers.clams.exhibits.specs import SPECS as CLAMS
from blimpworks.papers.lmentry.exhibits.specs import SPECS as LMENTRY
from blimpworks.papers.multiblimp.exhibits.specs import SPECS as MULTIBLIMP
from blimpworks.papers.urblimp.exhibits.specs import SPECS as URBLIMP

__all__ = ["EXHIBITS", "FORMATS", "ExhibitSpec", "of_benchmarks"]

EXHIBITS: dict[str, ExhibitSpec] = {
    spec.key: spec for spec in (*MULTIBLIMP, *CLAMS, *BLIMP, *LMENTRY, *URBLIMP)
}


EVALUATION = {
    "accuracies",
    "annotation_agreement",
    "bins",
    "comparisons",
    "curves",
    "data_sets",
    "judgements",
    "lengths",
    "margins",
    "regressions",
    "residuals",
    "surprisals",
    "verdicts",
}
"""Tables that only a campaign with models has."""
BOTH = "data_sets"
"""A table that wants pairs that are generated here, too."""


def _measurable(spec: ExhibitSpec, evaluated: Collection[str], sampled: Collection[str]) -> bool:
    """Whether models have judged all that an exhibit shows."""
    if spec.of_samples:
        return spec.paper in sampled
    if BOTH in spec.needs and not {*benchmarks_of(spec.paper)} <= {*evaluated}:
        return False
    return spec.paper in evaluated or not EVALUATION & {*spec.needs}


def of_benchmarks(
    benchmarks: Collection[str],
    *,
    evaluated: Collection[str],
    sampled: Collection[str] = (),
    absent: Collection[str] = (),
) -> list[ExhibitSpec]:
    """Exhibits of the papers whose benchmarks a campaign has items of.

    Of a benchmark that no model is ``evaluated`` on, those of the data alone; learning curves of
    those that models trained on samples are; never those that need nothing, which are of print
    alone, or one of the kinds of tables that the campaign has not (``absent``).
    """
    return [
        spec
        for spec in EXHIBITS.values()
        if spec.paper in benchmarks
        and spec.needs
        and not {*absent} & {*spec.needs}
        and _measurable(spec, evaluated, sampled)
    ]
