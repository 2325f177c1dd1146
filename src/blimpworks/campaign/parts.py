"""The parts that a campaign's scoring and answering fall into: a job each, with its own store.

The one place that says which there are, for the workflow, for plans and for progress.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.engines import can_generate
from blimpworks.campaign.exhibit_spec import ExhibitSpec
from blimpworks.campaign.exhibits import of_benchmarks
from blimpworks.campaign.local_models import is_local
from blimpworks.campaign.registry import find_benchmark, paper_of
from blimpworks.campaign.seeds import curves_of
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.training import follows_instructions
from blimpworks.errors import UserError
from blimpworks.items import SAMPLED

ANSWERS_SUFFIX = " (answers)"
"""Behind the name of a model where its answers are told apart from its scores."""
Groups = Mapping[str, Sequence[str]]
"""Languages that models exist for, by what their column ``languages`` says: a group, or codes."""


Kind = Literal["score", "answer"]
"""What a part does: score the sentences of pairs, or answer prompts."""
STORES: dict[Kind, str] = {"score": "store", "answer": "answers_store"}
"""Folder of the results that parts of a kind have their stores in."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one job scores, or answers: one checkpoint of a model on items of some languages."""

    model: str
    part: str
    """``multi``, a language, or ``multi.LANGUAGE``."""
    engine: str
    sets: tuple[tuple[str, str], ...]
    """Benchmark and language of each items table."""
    kind: Kind = "score"
    trained: bool = False
    """Whether the campaign trains the model, in place of retrieving it."""

    @property
    def title(self) -> str:
        """The model, and that it answers where it does not score: for whoever reads of both."""
        return f"{self.model}{ANSWERS_SUFFIX if self.kind == 'answer' else ''}"

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that it scores."""
        return tuple(dict.fromkeys(lang for _, lang in self.sets))

    @property
    def scope(self) -> str:
        """Scope of its checkpoint: ``multi`` or a language."""
        return self.part.partition(".")[0]

    @property
    def kind_key(self) -> str:
        """Title and part, for people."""
        return f"{self.title}/{self.part}"

    @property
    def key(self) -> str:
        """Model and part, as in paths."""
        return f"{self.model}/{self.part}"

    def manifest(self, campaign: Campaign) -> Path:
        """Manifest of its scores or answers, which is there when it is done."""
        return Path(campaign.pathvars.results, STORES[self.kind], self.key, "manifest.json")

    def checkpoint(self, campaign: Campaign) -> Path:
        """The checkpoint that it scores with."""
        return checkpoint_file(campaign, self.model, self.scope, trained=self.trained)

    def log(self, campaign: Campaign) -> Path:
        """Log of its job; the journal and the progress lie beside it."""
        return Path(campaign.pathvars.logs, self.kind, f"{self.key}.log")

    def items(self, campaign: Campaign) -> list[Path]:
        """Its items tables."""
        return [items_table(campaign, *each) for each in self.sets]


def checkpoint_file(campaign: Campaign, model: str, scope: str, *, trained: bool) -> Path:
    """The checkpoint of a model for a language, or ``multi``.

    Retrieved ones are any campaign's. One that is trained here depends on the campaign's items,
    whose sentences its text leaves out, so it lies among the results.
    """
    root = campaign.pathvars.results if trained else campaign.pathvars.resources
    return Path(root, "models", model, scope, "checkpoint.json")


def items_folder(campaign: Campaign) -> Path:
    """Folder of the items that models are run on, BENCHMARK/LANG.parquet: samples under a limit.

    Both are called ``items``, by which audits recognise tables of items.
    """
    return Path(campaign.pathvars.results, SAMPLED if campaign.limit else "", "items")


def items_table(campaign: Campaign, benchmark: str, lang: str) -> Path:
    """The items of a benchmark in a language that models are run on."""
    return items_folder(campaign) / benchmark / f"{lang}.parquet"


def whole_items_table(campaign: Campaign, benchmark: str, lang: str) -> Path:
    """All items of a benchmark in a language, of which the campaign may take a sample."""
    return Path(campaign.pathvars.results, "items", benchmark, f"{lang}.parquet")


def expected_items_of(campaign: Campaign, catalogue: Catalogue, benchmark: str, lang: str) -> int:
    """Items of a benchmark in a language that models are run on, before they are built.

    Raises UserError for an unknown benchmark.
    """
    number = find_benchmark(benchmark).expected_units(campaign, catalogue, lang)
    return min(number, campaign.limit or number)


def engine_of(campaign: Campaign, row: ModelRow) -> str:
    """The engine that scores with a model in this campaign."""
    return campaign.engines.get(row.engine, row.engine)


def languages_of(campaign: Campaign, catalogue: Catalogue, benchmark: str) -> tuple[str, ...]:
    """Languages of the campaign that a benchmark has items in, in the catalogue's order.

    Raises UserError for an unknown benchmark.
    """
    return tuple(find_benchmark(benchmark).languages(campaign, catalogue))


def item_sets(campaign: Campaign, catalogue: Catalogue) -> list[tuple[str, str]]:
    """Benchmark and language of each items table of the campaign."""
    return [(b, lang) for b in campaign.benchmarks for lang in languages_of(campaign, catalogue, b)]


def benchmarks_of(campaign: Campaign, row: ModelRow) -> tuple[str, ...]:
    """Benchmarks of the campaign that a model is run on: prompts only if it can answer.

    One that was trained to follow instructions is run on prompts alone.
    """
    able = can_generate(engine_of(campaign, row), row.architecture)
    units = {"pair", "prompt"} if able else {"pair"}
    if follows_instructions(campaign.training.recipes, row.recipe):
        units = units - {"pair"}
    return tuple(
        name
        for name in campaign.benchmarks
        if find_benchmark(name).unit in units
        and (not row.papers or paper_of(name).name in row.papers)
    )


def covered_by(groups: Groups, row: ModelRow, languages: Iterable[str]) -> tuple[str, ...]:
    """Those of some languages that a model exists for."""
    named = row.languages
    return tuple(lang for lang in languages if not named or lang in groups[named])


def part_of(campaign: Campaign, row: ModelRow, lang: str) -> str:
    """Name of the part in which a model scores a language."""
    if row.scope == "monolingual":
        return lang
    return "multi" if campaign.scoring.jobs == "model" else f"multi.{lang}"


def every_part(campaign: Campaign, catalogue: Catalogue, groups: Groups) -> list[Part]:
    """The parts that score, and behind them those that answer.

    Of each kind models in the catalogue's order, and languages within them.
    """
    parts = []
    languages = {name: languages_of(campaign, catalogue, name) for name in campaign.benchmarks}
    for kind, (name, row) in product(STORES, catalogue.models.items()):
        sets: dict[str, list[tuple[str, str]]] = {}
        for benchmark in benchmarks_of(campaign, row):
            if (find_benchmark(benchmark).unit == "prompt") != (kind == "answer"):
                continue
            for lang in covered_by(groups, row, languages[benchmark]):
                sets.setdefault(part_of(campaign, row, lang), []).append((benchmark, lang))
        engine = engine_of(campaign, row)
        parts += [
            Part(name, part, engine, tuple(tables), kind, trained=bool(row.recipe))
            for part, tables in sets.items()
        ]
    return parts


def score_parts(campaign: Campaign, catalogue: Catalogue, groups: Groups) -> list[Part]:
    """Every part of a campaign that scores sentences, in the catalogue's order."""
    return [part for part in every_part(campaign, catalogue, groups) if part.kind == "score"]


def exhibits_of(
    campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part]
) -> list[ExhibitSpec]:
    """The campaign's own exhibits: of benchmarks that it has languages, and perhaps models, for."""
    having = [name for name in campaign.benchmarks if languages_of(campaign, catalogue, name)]
    curved = {model for models in curves_of(catalogue.seeds).values() for model in models}
    evaluated: dict[bool, set[str]] = {True: set(), False: set()}
    for part in parts:
        evaluated[part.model in curved] |= {benchmark for benchmark, _ in part.sets}
    return of_benchmarks(having, campaign, evaluated=evaluated[False], sampled=evaluated[True])


def obstacle(
    campaign: Campaign, catalogue: Catalogue, groups: Groups, row: ModelRow, benchmark: str
) -> str:
    """Why a model is not run on a benchmark that it does not cover in any language."""
    prompts = find_benchmark(benchmark).unit == "prompt"
    engine = engine_of(campaign, row)
    if row.papers and paper_of(benchmark).name not in row.papers:
        return f"the model is of {', '.join(row.papers)} alone (column papers)"
    if prompts and not can_generate(engine, row.architecture):
        return f"it has prompts, which {row.architecture} models cannot answer with {engine}"
    if not prompts and follows_instructions(campaign.training.recipes, row.recipe):
        return "it has sentences to score, and the model is trained to answer prompts alone"
    if languages_of(campaign, catalogue, benchmark):
        fixed = is_local(row.hf_id) and "{lang}" not in row.hf_id
        others = "; `evaluate --languages` names others that it is to be run on" if fixed else ""
        return f"it exists for the languages of {row.languages!r} (column languages) alone{others}"
    return "the campaign has no language of it"


def check_runs(campaign: Campaign, catalogue: Catalogue, groups: Groups) -> None:
    """See that each model that a campaign names runs on something, and each benchmark is run.

    Nothing is checked in campaigns of the data alone, of print alone, or of all models. Raises
    UserError with the reason for each pair of model and benchmark.
    """
    if not campaign.benchmarks or not campaign.models or campaign.models == "all":
        return
    parts = every_part(campaign, catalogue, groups)
    running = {catalogue.row_of(part.model) for part in parts}
    rows = {catalogue.row_of(name): row for name, row in catalogue.models.items()}
    for name in campaign.models:
        if name in running or name not in rows:
            continue
        reasons = (
            f"{benchmark}: {obstacle(campaign, catalogue, groups, rows[name], benchmark)}"
            for benchmark in campaign.benchmarks
        )
        raise UserError(
            f"model {name!r} of campaign {campaign.campaign!r} runs on none of its benchmarks "
            f"({'; '.join(reasons)}). Take it out of models, name a benchmark that it runs on, or "
            f"correct its row in {campaign.catalogue.models}."
        )
    run = {benchmark for part in parts for benchmark, _ in part.sets}
    for benchmark in campaign.benchmarks:
        if benchmark not in run:
            reasons = (
                f"{name}: {obstacle(campaign, catalogue, groups, row, benchmark)}"
                for name, row in catalogue.models.items()
            )
            raise UserError(
                f"benchmark {benchmark!r} of campaign {campaign.campaign!r} is run with none of "
                f"its models ({'; '.join(reasons)}). Take it out of benchmarks, or name a model "
                "that runs on it."
            )
