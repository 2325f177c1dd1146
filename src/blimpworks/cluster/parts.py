"""The parts that the scoring of a campaign falls into: a job each, with a store of its own.

The one place that says which there are, for the workflow, for plans and for progress.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from blimpworks.catalogue import Catalogue, ModelRow
from blimpworks.config import Campaign

Groups = Mapping[str, Sequence[str]]
"""Languages of each group of the reference data."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one job scores: one checkpoint of a model on some languages."""

    model: str
    part: str
    """``multi``, a language, or ``multi.LANGUAGE``."""
    engine: str
    languages: tuple[str, ...]
    benchmarks: tuple[str, ...]

    @property
    def scope(self) -> str:
        """Scope of its checkpoint: ``multi`` or a language."""
        return self.part.partition(".")[0]

    @property
    def key(self) -> str:
        """Model and part, as in paths."""
        return f"{self.model}/{self.part}"

    def manifest(self, campaign: Campaign) -> Path:
        """Manifest of its scores, which is there when it is done."""
        return Path(campaign.pathvars.results, "store", self.key, "manifest.json")

    def checkpoint(self, campaign: Campaign) -> Path:
        """The checkpoint that it scores with."""
        resources = campaign.pathvars.resources
        return Path(resources, "models", self.model, self.scope, "checkpoint.json")

    def log(self, campaign: Campaign) -> Path:
        """Log of its job; the journal and the progress lie beside it."""
        return Path(campaign.pathvars.logs, "score", f"{self.key}.log")

    def items(self, campaign: Campaign, lang: str) -> list[Path]:
        """Items tables of one of its languages."""
        root = Path(campaign.pathvars.results, "items")
        return [root / benchmark / f"{lang}.parquet" for benchmark in self.benchmarks]


def engine_of(campaign: Campaign, row: ModelRow) -> str:
    """The engine that scores with a model in this campaign."""
    return campaign.engines.get(row.engine, row.engine)


def benchmarks_of(campaign: Campaign, row: ModelRow) -> tuple[str, ...]:
    """Benchmarks of the campaign that a model is run on."""
    return tuple(b for b in campaign.benchmarks if not row.papers or b in row.papers)


def covered_by(catalogue: Catalogue, groups: Groups, row: ModelRow) -> tuple[str, ...]:
    """Languages of the campaign that a model exists for, in the catalogue's order."""
    group = row.languages
    return tuple(lang for lang in catalogue.languages if not group or lang in groups[group])


def part_of(campaign: Campaign, row: ModelRow, lang: str) -> str:
    """Name of the part in which a model scores a language."""
    if row.scope == "monolingual":
        return lang
    return "multi" if campaign.scoring.jobs == "model" else f"multi.{lang}"


def score_parts(campaign: Campaign, catalogue: Catalogue, groups: Groups) -> list[Part]:
    """Every part of a campaign: models in the catalogue's order, and languages within them."""
    found = []
    for name, row in catalogue.models.items():
        engine, benchmarks = engine_of(campaign, row), benchmarks_of(campaign, row)
        shares: dict[str, list[str]] = {}
        for lang in covered_by(catalogue, groups, row) if benchmarks else ():
            shares.setdefault(part_of(campaign, row, lang), []).append(lang)
        found += [
            Part(name, part, engine, tuple(langs), benchmarks) for part, langs in shares.items()
        ]
    return found
