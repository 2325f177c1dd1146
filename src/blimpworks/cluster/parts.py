"""The parts that the scoring of a campaign falls into: a job each, with a store of its own.

The one place that says which there are, for the workflow, for plans and for progress.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from blimpworks.benchmarks import BLIMP, LANG, paper_of
from blimpworks.catalogue import Catalogue, ModelRow
from blimpworks.clams import sets as clams_sets
from blimpworks.config import Campaign
from blimpworks.exhibits.catalogue import of_benchmarks
from blimpworks.exhibits.spec import ExhibitSpec
from blimpworks.seeds import curves_of

Groups = Mapping[str, Sequence[str]]
"""Languages of each group of the reference data."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one job scores: one checkpoint of a model on the items of some languages."""

    model: str
    part: str
    """``multi``, a language, or ``multi.LANGUAGE``."""
    engine: str
    sets: tuple[tuple[str, str], ...]
    """Benchmark and language of each items table."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that it scores."""
        return tuple(dict.fromkeys(lang for _, lang in self.sets))

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

    def items(self, campaign: Campaign) -> list[Path]:
        """Its items tables."""
        return [items_table(campaign, *each) for each in self.sets]


def items_table(campaign: Campaign, benchmark: str, lang: str) -> Path:
    """The items of a benchmark in a language."""
    return Path(campaign.pathvars.results, "items", benchmark, f"{lang}.parquet")


def engine_of(campaign: Campaign, row: ModelRow) -> str:
    """The engine that scores with a model in this campaign."""
    return campaign.engines.get(row.engine, row.engine)


def languages_of(campaign: Campaign, catalogue: Catalogue, benchmark: str) -> tuple[str, ...]:
    """Languages of the campaign that a benchmark has items in, in the catalogue's order."""
    if benchmark == "clams":
        return clams_sets.languages(campaign, catalogue)
    if paper_of(benchmark) == BLIMP:
        return tuple(lang for lang in catalogue.languages if lang == LANG)
    return tuple(catalogue.languages)


def item_sets(campaign: Campaign, catalogue: Catalogue) -> list[tuple[str, str]]:
    """Benchmark and language of each items table of the campaign."""
    return [(b, lang) for b in campaign.benchmarks for lang in languages_of(campaign, catalogue, b)]


def benchmarks_of(campaign: Campaign, row: ModelRow) -> tuple[str, ...]:
    """Benchmarks of the campaign that a model is run on."""
    papers = row.papers
    return tuple(b for b in campaign.benchmarks if not papers or paper_of(b) in papers)


def covered_by(
    campaign: Campaign, catalogue: Catalogue, groups: Groups, row: ModelRow, benchmark: str
) -> tuple[str, ...]:
    """Languages of a benchmark that a model exists for, in the catalogue's order."""
    group = row.languages
    return tuple(
        lang
        for lang in languages_of(campaign, catalogue, benchmark)
        if not group or lang in groups[group]
    )


def part_of(campaign: Campaign, row: ModelRow, lang: str) -> str:
    """Name of the part in which a model scores a language."""
    if row.scope == "monolingual":
        return lang
    return "multi" if campaign.scoring.jobs == "model" else f"multi.{lang}"


def score_parts(campaign: Campaign, catalogue: Catalogue, groups: Groups) -> list[Part]:
    """Every part of a campaign: models in the catalogue's order, and languages within them."""
    found = []
    for name, row in catalogue.models.items():
        shares: dict[str, list[tuple[str, str]]] = {}
        for benchmark in benchmarks_of(campaign, row):
            for lang in covered_by(campaign, catalogue, groups, row, benchmark):
                shares.setdefault(part_of(campaign, row, lang), []).append((benchmark, lang))
        engine = engine_of(campaign, row)
        found += [Part(name, part, engine, tuple(each)) for part, each in shares.items()]
    return found


def exhibits_of(
    campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part]
) -> list[ExhibitSpec]:
    """The campaign's own exhibits: of benchmarks that it has languages, and perhaps models, for."""
    having = [name for name in campaign.benchmarks if languages_of(campaign, catalogue, name)]
    curved = {model for models in curves_of(catalogue.seeds).values() for model in models}
    evaluated: dict[bool, set[str]] = {True: set(), False: set()}
    for part in parts:
        evaluated[part.model in curved] |= {benchmark for benchmark, _ in part.sets}
    return of_benchmarks(having, evaluated=evaluated[False], sampled=evaluated[True])
