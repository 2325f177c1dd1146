"""The parts of a campaign's scoring and answering: one job each, with its own store.

The only definition of parts, for the workflow, plans and progress.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Literal

from blimpworks.campaign.addresses import is_local
from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.engines import can_generate
from blimpworks.campaign.exhibit_spec import ExhibitSpec
from blimpworks.campaign.exhibits import of_benchmarks
from blimpworks.campaign.registry import find_benchmark, paper_of
from blimpworks.campaign.seeds import curves_of
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.training import follows_instructions
from blimpworks.errors import UserError
from blimpworks.items import SAMPLED

ANSWERS_SUFFIX = " (answers)"
"""Suffix of a model's name for its answers, where scores have the plain name."""
Groups = Mapping[str, Sequence[str]]
"""Language codes by the value of models' column ``languages``: a group's name, or codes."""
Kind = Literal["score", "answer"]
"""Task of a part: score the sentences of pairs, or answer prompts."""
STORES: dict[Kind, str] = {"score": "store", "answer": "answers_store"}
"""Folder of the results with the stores of a kind of parts."""


@dataclass(frozen=True, slots=True)
class Part:
    """One job of scoring or answering: one checkpoint on items of some languages."""

    model: str
    part: str
    """``multi``, a language, or ``multi.LANGUAGE``."""
    engine: str
    sets: tuple[tuple[str, str], ...]
    """Benchmark and language of each items table."""
    kind: Kind = "score"
    trained: bool = False
    """Whether the campaign trains the model."""

    @property
    def title(self) -> str:
        """The model, with a suffix where it answers."""
        return self.model + (ANSWERS_SUFFIX if self.kind == "answer" else "")

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(lang for _, lang in self.sets))

    @property
    def scope(self) -> str:
        """Scope of its checkpoint: ``multi`` or a language."""
        return self.part.partition(".")[0]

    @property
    def label(self) -> str:
        return f"{self.title}/{self.part}"

    @property
    def key(self) -> str:
        """Model and part, as in paths."""
        return f"{self.model}/{self.part}"

    def manifest(self, campaign: Campaign) -> Path:
        """Return the manifest of its scores or answers, which exists when it is done."""
        return Path(campaign.pathvars.results, STORES[self.kind], self.key, "manifest.json")

    def checkpoint(self, campaign: Campaign) -> Path:
        return checkpoint_file(campaign, self.model, self.scope, trained=self.trained)

    def log(self, campaign: Campaign) -> Path:
        """Return the log of its job; journal and progress are beside it."""
        return Path(campaign.pathvars.logs, self.kind, f"{self.key}.log")

    def items(self, campaign: Campaign) -> list[Path]:
        return [items_table(campaign, *item_set) for item_set in self.sets]


def checkpoint_file(campaign: Campaign, model: str, scope: str, *, trained: bool) -> Path:
    """Return the checkpoint of a model for a language, or ``multi``.

    Campaigns share retrieved checkpoints. A trained one is among the results: its training text
    leaves out the sentences of this campaign's items.
    """
    root = campaign.pathvars.results if trained else campaign.pathvars.resources
    return Path(root, "models", model, scope, "checkpoint.json")


def items_folder(campaign: Campaign) -> Path:
    """Return the folder of the items that models run on (samples under a limit).

    Its name is ``items`` in both cases, by which audits recognise tables of items.
    """
    return Path(campaign.pathvars.results, SAMPLED if campaign.limit else "", "items")


def items_table(campaign: Campaign, benchmark: str, lang: str) -> Path:
    """Return the items of a benchmark in a language that models run on."""
    return items_folder(campaign) / benchmark / f"{lang}.parquet"


def whole_items_table(campaign: Campaign, benchmark: str, lang: str) -> Path:
    """Return all items of a benchmark in a language, before a sample is taken."""
    return Path(campaign.pathvars.results, "items", benchmark, f"{lang}.parquet")


def expected_items_of(campaign: Campaign, catalogue: Catalogue, benchmark: str, lang: str) -> int:
    """Return the expected number of items that models run on, before they are built."""
    number = find_benchmark(benchmark).expected_units(campaign, catalogue, lang)
    return min(number, campaign.limit or number)


def engine_of(campaign: Campaign, row: ModelRow) -> str:
    """Return the engine for scoring with a model in this campaign."""
    return campaign.engines.get(row.engine, row.engine)


def languages_of(campaign: Campaign, catalogue: Catalogue, benchmark: str) -> tuple[str, ...]:
    """Return the campaign's languages with items of a benchmark, in the catalogue's order."""
    return tuple(find_benchmark(benchmark).languages(campaign, catalogue))


def item_sets(campaign: Campaign, catalogue: Catalogue) -> list[tuple[str, str]]:
    """Return benchmark and language of each items table of the campaign."""
    return [(b, lang) for b in campaign.benchmarks for lang in languages_of(campaign, catalogue, b)]


def benchmarks_of(campaign: Campaign, row: ModelRow) -> tuple[str, ...]:
    """Return benchmarks of the campaign that a model runs on: prompts only if it can answer.

    A model that was trained to follow instructions runs on prompts alone.
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
    """Return the given languages that a model exists for."""
    named = row.languages
    return tuple(lang for lang in languages if not named or lang in groups[named])


def part_of(campaign: Campaign, row: ModelRow, lang: str) -> str:
    """Return the name of the part in which a model scores a language."""
    if row.scope == "monolingual":
        return lang
    return "multi" if campaign.scoring.jobs == "model" else f"multi.{lang}"


def every_part(campaign: Campaign, catalogue: Catalogue, groups: Groups) -> list[Part]:
    """Return the parts that score, then those that answer.

    Each kind is in the catalogue's order of models, then of languages.
    """
    parts = []
    languages = {name: languages_of(campaign, catalogue, name) for name in campaign.benchmarks}
    for part_kind, (name, row) in product(STORES, catalogue.models.items()):
        sets: dict[str, list[tuple[str, str]]] = {}
        for benchmark in benchmarks_of(campaign, row):
            if (find_benchmark(benchmark).unit == "prompt") != (part_kind == "answer"):
                continue
            for lang in covered_by(groups, row, languages[benchmark]):
                sets.setdefault(part_of(campaign, row, lang), []).append((benchmark, lang))
        engine = engine_of(campaign, row)
        parts += [
            Part(name, part, engine, tuple(tables), part_kind, trained=bool(row.recipe))
            for part, tables in sets.items()
        ]
    return parts


def score_parts(campaign: Campaign, catalogue: Catalogue, groups: Groups) -> list[Part]:
    """Return every part that scores sentences, in the catalogue's order."""
    return [part for part in every_part(campaign, catalogue, groups) if part.kind == "score"]


def exhibits_of(
    campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part]
) -> list[ExhibitSpec]:
    """Return the campaign's own exhibits: of benchmarks with languages, and perhaps models."""
    having = [name for name in campaign.benchmarks if languages_of(campaign, catalogue, name)]
    in_learning_curves = {*chain.from_iterable(curves_of(catalogue.seeds).values())}
    evaluated, sampled = set[str](), set[str]()
    for part in parts:
        benchmarks = sampled if part.model in in_learning_curves else evaluated
        benchmarks.update(benchmark for benchmark, _ in part.sets)
    return of_benchmarks(having, campaign, evaluated=evaluated, sampled=sampled)


def obstacle(
    campaign: Campaign, catalogue: Catalogue, groups: Groups, row: ModelRow, benchmark: str
) -> str:
    """Return why a model does not run on a benchmark in any language."""
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
        hint = "; `evaluate --languages` names others that it is to be run on" if fixed else ""
        return f"it exists for the languages of {row.languages!r} (column languages) alone{hint}"
    return "the campaign has no language of it"


def check_runs(campaign: Campaign, catalogue: Catalogue, groups: Groups) -> None:
    """Check that each model of a campaign runs on something, and each benchmark is run.

    Campaigns of the data alone, of print alone, or of all models are not checked. Raises UserError
    with the reason for each pair of model and benchmark.
    """
    if not campaign.benchmarks or not campaign.models or campaign.models == "all":
        return
    sets = {
        (catalogue.row_of(part.model), benchmark)
        for part in every_part(campaign, catalogue, groups)
        for benchmark, _ in part.sets
    }
    rows = {catalogue.row_of(name): row for name, row in catalogue.models.items()}

    for name in campaign.models:
        if name in rows and not any(name == model for model, _ in sets):
            reasons = "; ".join(
                f"{benchmark}: {obstacle(campaign, catalogue, groups, rows[name], benchmark)}"
                for benchmark in campaign.benchmarks
            )
            raise UserError(
                f"model {name!r} of campaign {campaign.campaign!r} runs on none of its benchmarks "
                f"({reasons}). Take it out of models, name a "
                f"benchmark that it runs on, or correct its row in {campaign.catalogue.models}."
            )
    for benchmark in campaign.benchmarks:
        if not any(benchmark == run for _, run in sets):
            reasons = "; ".join(
                f"{name}: {obstacle(campaign, catalogue, groups, row, benchmark)}"
                for name, row in rows.items()
            )
            raise UserError(
                f"benchmark {benchmark!r} of campaign {campaign.campaign!r} is run with none of "
                f"its models ({reasons}). Take it out of benchmarks, or name "
                "a model that runs on it."
            )
