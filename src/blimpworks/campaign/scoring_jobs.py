"""List the scoring jobs of a campaign, and the files that it retrieves.

A ``CampaignSelection`` is a campaign (the settings of a run) with its catalogue (the rows of its
languages, files and models). Its ``jobs`` and ``read_files`` are the lists that the workflow, plans
and progress reports use. A ``ScoringJob`` runs one model on some items tables, for example model
``gpt2``, name ``multi``, tables (mine, eng) and (yours, deu).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, product
from pathlib import Path
from typing import Literal, Self

from blimpworks.campaign.addresses import is_local
from blimpworks.campaign.catalogue import (
    UNIMORPH_KINDS,
    Catalogue,
    ModelRow,
    Pinned,
    SourceRow,
    TreebankRow,
    load_catalogue,
)
from blimpworks.campaign.engines import can_generate, find_scorer
from blimpworks.campaign.paper import ExhibitSpec
from blimpworks.campaign.reference import groups_of_models
from blimpworks.campaign.registry import (
    check_papers,
    exhibits_to_make,
    find_benchmark,
    paper_of,
    papers_of,
    table_kind,
)
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.training import InstructRecipe, follows_instructions
from blimpworks.errors import UserError
from blimpworks.items import SAMPLED

ANSWERS_SUFFIX = " (answers)"
"""Suffix of a model's name in the titles of its jobs that answer prompts."""
Task = Literal["score", "answer"]
"""Task of a job: score the sentences of pairs, or answer prompts."""
STORES: dict[Task, str] = {"score": "store", "answer": "answers_store"}
"""Folder of the results in which jobs of each task write their shards."""
CORPUS, TEXT = "corpus", "text"
"""Kinds of sources: released corpora of sentences, and plain text to train on."""


@dataclass(frozen=True, slots=True)
class ScoringJob:
    """A scoring job: one checkpoint scores or answers the items of some languages."""

    model: str
    name: str
    """``multi`` or ``multi.LANGUAGE`` for a multilingual checkpoint, else its language code."""
    engine: str
    sets: tuple[tuple[str, str], ...]
    """Benchmark and language of each items table."""
    task: Task = "score"
    trained: bool = False
    """Whether the campaign trains the model."""

    @property
    def title(self) -> str:
        """Name of the model, with the suffix `` (answers)`` if the job answers prompts."""
        return f"{self.model}{ANSWERS_SUFFIX}" if self.task == "answer" else self.model

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(lang for _, lang in self.sets))

    @property
    def scope(self) -> str:
        """Language of the checkpoint, or ``multi``."""
        return self.name.partition(".")[0]

    @property
    def label(self) -> str:
        return f"{self.title}/{self.name}"

    @property
    def key(self) -> str:
        """Model and name, as in paths."""
        return f"{self.model}/{self.name}"

    def manifest(self, campaign: Campaign) -> Path:
        """Return the manifest of the scores or answers, which exists when the job is done."""
        return Path(campaign.pathvars.results, STORES[self.task], self.key, "manifest.json")

    def checkpoint(self, campaign: Campaign) -> Path:
        return checkpoint_file(campaign, self.model, self.scope, trained=self.trained)

    def log(self, campaign: Campaign) -> Path:
        """Return the log of the job; journal and progress file are beside it."""
        return Path(campaign.pathvars.logs, self.task, f"{self.key}.log")

    def items(self, campaign: Campaign) -> list[Path]:
        return [items_table(campaign, *item_set) for item_set in self.sets]


def checkpoint_file(campaign: Campaign, model: str, scope: str, *, trained: bool) -> Path:
    """Return the path of a model's checkpoint for a ``scope``: a language, or ``multi``.

    Campaigns share retrieved checkpoints. A trained checkpoint is in the results, because its
    training text leaves out the sentences of the campaign's items.
    """
    root = campaign.pathvars.results if trained else campaign.pathvars.resources
    return Path(root, "models", model, scope, "checkpoint.json")


def items_folder(campaign: Campaign) -> Path:
    """Return the folder of the items that models run on; with ``limit``, they are samples.

    The folder's own name is always ``items``, because audits recognise items tables by it.
    """
    return Path(campaign.pathvars.results, SAMPLED if campaign.limit else "", "items")


def items_table(campaign: Campaign, benchmark: str, lang: str) -> Path:
    """Return the items table of a benchmark and language that models run on."""
    return items_folder(campaign) / benchmark / f"{lang}.parquet"


def whole_items_table(campaign: Campaign, benchmark: str, lang: str) -> Path:
    """Return the table of all items of a benchmark and language, before a sample is taken."""
    return Path(campaign.pathvars.results, "items", benchmark, f"{lang}.parquet")


def engine_of(campaign: Campaign, row: ModelRow) -> str:
    """Return the engine for scoring with a model in this campaign."""
    return campaign.engines.get(row.engine, row.engine)


def benchmarks_of(campaign: Campaign, row: ModelRow) -> tuple[str, ...]:
    """Return the benchmarks that a model runs on; prompts need a model that can generate."""
    units = {"pair"}
    if can_generate(engine_of(campaign, row), row.architecture):
        units.add("prompt")
    if follows_instructions(campaign.training.recipes, row.recipe):
        units.remove("pair")  # a model trained on dialogues runs on prompts alone
    names = [name for name in campaign.benchmarks if find_benchmark(name).unit in units]
    return tuple(n for n in names if not row.papers or paper_of(n).name in row.papers)


def is_usable(campaign: Campaign, row: Pinned) -> bool:
    """Return whether a campaign uses a file; ``unpinned: skip`` leaves out files without pins."""
    return row.sha256_optional or row.is_pinned(campaign.checksums) or campaign.unpinned == "error"


def released_corpus(
    campaign: Campaign, catalogue: Catalogue, corpus: str, lang: str
) -> list[SourceRow]:
    """Return the files of a language's released corpus; none if the corpus is made from text.

    ``corpus``: name of its settings in ``training.corpora``. Released corpora are tokenised, so
    they serve only corpora whose words stand between white space.
    """
    options = campaign.training.corpora[corpus]
    rows = catalogue.sources_of(CORPUS, lang)
    uses_released = options.released and options.words == "whitespace"
    return rows if uses_released and all(is_usable(campaign, row) for row in rows) else []


def available(campaign: Campaign, catalogue: Catalogue, source_kind: str) -> list[SourceRow]:
    """Return the sources of a kind if the campaign can retrieve all of them, else none."""
    names = [row.name for row in catalogue.sources.values() if row.kind == source_kind]
    return named_sources(campaign, catalogue, names)


def named_sources(
    campaign: Campaign, catalogue: Catalogue, names: Sequence[str]
) -> list[SourceRow]:
    """Return sources by their names if all can be retrieved, else none."""
    rows = [catalogue.sources[name] for name in names if name in catalogue.sources]
    usable = [row for row in rows if is_usable(campaign, row) and (row.url or campaign.mirror)]
    return usable if len(usable) == len(names) else []


def lexicon_sources(campaign: Campaign, catalogue: Catalogue, lang: str) -> list[SourceRow]:
    """Return the UniMorph tables of a language, or their substitutes, in the catalogue's order."""
    if not catalogue.languages[lang].unimorph:
        return []
    rows = chain.from_iterable(catalogue.sources_of(name, lang) for name in UNIMORPH_KINDS)
    return [catalogue.sources[campaign.substitutes.get(row.name, row.name)] for row in rows]


def treebank_languages(campaign: Campaign, catalogue: Catalogue) -> set[str]:
    """Return the languages with treebanks that items or training text are made from."""
    read = {lang for paper in papers_of(campaign) for lang in paper.treebanks(campaign, catalogue)}
    return {*read, *catalogue.languages} if campaign.training.treebank_text else read


def _listed(obstacles: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {obstacle}" for name, obstacle in obstacles.items())


@dataclass(frozen=True)
class CampaignSelection:
    """A campaign with its catalogue, which decide on which items its models run."""

    campaign: Campaign
    catalogue: Catalogue
    groups: Mapping[str, Sequence[str]]
    """{value in the column ``languages`` of models: language codes that it means}, such as
    {"deu, fra": ("deu", "fra")}."""

    @classmethod
    def of(cls, campaign: Campaign) -> Self:
        """Read the tables of a campaign. Raises UserError for bad tables or missing data."""
        catalogue = load_catalogue(campaign)
        check_papers(campaign, catalogue)
        return cls(campaign, catalogue, groups_of_models(campaign, catalogue))

    def engine_of(self, model: str) -> str:
        return engine_of(self.campaign, self.catalogue.models[model])

    def dtype_of(self, model: str) -> str:
        row = self.catalogue.models[model]
        scorer = find_scorer(self.engine_of(model), row.architecture)
        return scorer.settle("dtype", row.dtype, self.campaign.scoring.dtype)

    # Cached functions are properties, because a method's cache would keep all selections.
    @cached_property
    def item_languages(self) -> Callable[[str], tuple[str, ...]]:
        """Function that returns the languages with items of a benchmark, in catalogue order."""
        campaign, catalogue = self.campaign, self.catalogue
        return cache(lambda name: (*find_benchmark(name).languages(campaign, catalogue),))

    @property
    def item_sets(self) -> list[tuple[str, str]]:
        """Benchmark and language of each items table."""
        return [(b, lang) for b in self.campaign.benchmarks for lang in self.item_languages(b)]

    @cached_property
    def covered_by(self) -> Callable[[str, str], tuple[str, ...]]:
        """Function from (model, benchmark) to the languages of both, in catalogue order."""

        def languages(model: str, benchmark: str) -> tuple[str, ...]:
            group = self.catalogue.models[model].languages
            codes = self.item_languages(benchmark)
            return tuple(lang for lang in codes if not group or lang in self.groups[group])

        return cache(languages)

    def job_name(self, model: str, lang: str) -> str:
        """Return the name of the job in which a model scores a language (``ScoringJob.name``)."""
        if self.catalogue.models[model].scope == "monolingual":
            return lang
        return "multi" if self.campaign.scoring.jobs == "model" else f"multi.{lang}"

    @cached_property
    def jobs(self) -> list[ScoringJob]:
        """Jobs that score, then those that answer, in the catalogue's order of models."""
        jobs = []
        for task, (model, row) in product(STORES, self.catalogue.models.items()):
            unit = "prompt" if task == "answer" else "pair"
            names = benchmarks_of(self.campaign, row)
            # Each job gets all benchmarks of its languages.
            sets_by_job: dict[str, list[tuple[str, str]]] = {}
            for benchmark in (name for name in names if find_benchmark(name).unit == unit):
                for lang in self.covered_by(model, benchmark):
                    sets_by_job.setdefault(self.job_name(model, lang), []).append((benchmark, lang))
            engine, trained = self.engine_of(model), bool(row.recipe)
            for name, sets in sets_by_job.items():
                jobs.append(ScoringJob(model, name, engine, tuple(sets), task, trained))
        return jobs

    @cached_property
    def exhibits(self) -> list[ExhibitSpec]:
        """Exhibits (tables and figures) that the campaign's items and jobs can make."""
        with_items = [name for name in self.campaign.benchmarks if self.item_languages(name)]
        # Benchmarks with results of usual models, and of models trained on samples of a corpus.
        evaluated, sampled = set[str](), set[str]()
        for job in self.jobs:
            benchmarks = {benchmark for benchmark, _ in job.sets}
            if job.model in self.catalogue.sampled:
                sampled |= benchmarks
            else:
                evaluated |= benchmarks
        return exhibits_to_make(with_items, self.campaign, evaluated=evaluated, sampled=sampled)

    def obstacle(self, model: str, benchmark: str) -> str:
        """Return the reason why a model does not run on a benchmark in any language."""
        row, engine = self.catalogue.models[model], self.engine_of(model)
        prompts = find_benchmark(benchmark).unit == "prompt"
        if row.papers and paper_of(benchmark).name not in row.papers:
            return f"the model is of {', '.join(row.papers)} alone (column papers)"
        if prompts and not can_generate(engine, row.architecture):
            return f"it has prompts, which {row.architecture} models cannot answer with {engine}"
        if not prompts and follows_instructions(self.campaign.training.recipes, row.recipe):
            return "it has sentences to score, and the model is trained to answer prompts alone"
        if not self.item_languages(benchmark):
            return "the campaign has none of its languages"
        reason = f"it exists for the languages of {row.languages!r} (column languages) alone"
        if is_local(row.hf_id) and "{lang}" not in row.hf_id:
            reason += "; `evaluate --languages` names other languages to run it on"
        return reason

    def check_runs(self) -> None:
        """Check that each model of a campaign runs on a benchmark, and each benchmark has a model.

        Campaigns without benchmarks or models, or with all models, are not checked. Raises
        UserError for a model that runs on no benchmark, with a reason for each benchmark; and for a
        benchmark without models, with a reason for each model.
        """
        campaign, catalogue = self.campaign, self.catalogue
        if not campaign.benchmarks or not campaign.models or campaign.models == "all":
            return
        run_models = {catalogue.row_of(job.model) for job in self.jobs}
        run_benchmarks = {benchmark for job in self.jobs for benchmark, _ in job.sets}
        # {row: one of its trainings}, since all trainings of a row run on the same benchmarks.
        trainings = {catalogue.row_of(name): name for name in catalogue.models}
        for name in campaign.models:
            if name in trainings and name not in run_models:
                obstacles = {b: self.obstacle(trainings[name], b) for b in campaign.benchmarks}
                raise UserError(
                    f"model {name!r} of campaign {campaign.campaign!r} runs on none of its "
                    f"benchmarks ({_listed(obstacles)}). Take it out of models, name a benchmark "
                    f"that it runs on, or correct its row in {campaign.catalogue.models}."
                )
        for benchmark in campaign.benchmarks:
            if benchmark not in run_benchmarks:
                obstacles = {n: self.obstacle(t, benchmark) for n, t in trainings.items()}
                raise UserError(
                    f"benchmark {benchmark!r} of campaign {campaign.campaign!r} is run with none "
                    f"of its models ({_listed(obstacles)}). Take it out of benchmarks, or name a "
                    "model that runs on it."
                )

    @cached_property
    def read_files(self) -> list[TreebankRow | SourceRow]:
        """Treebank files and other sources that a campaign reads, each once.

        Files without a checksum are included, although the campaign may skip these (``unpinned``).
        """
        campaign, catalogue = self.campaign, self.catalogue
        # Find the training data: a released corpus, or else text made from sources and treebanks.
        languages_with_text: set[str] = set()
        corpora: list[SourceRow] = []
        for job in self.jobs:
            recipe = campaign.training.recipes.get(catalogue.models[job.model].recipe)
            if recipe is None or isinstance(recipe, InstructRecipe):
                continue  # not trained here, or trained on dialogues
            corpus: str | None = getattr(recipe, "corpus", None)
            for lang in job.languages:
                files = released_corpus(campaign, catalogue, corpus, lang) if corpus else []
                corpora += files
                if not files:
                    languages_with_text.add(lang)
        # List what items and training data are made from, in the catalogue's order of languages.
        papers = papers_of(campaign)
        with_treebanks = {lang for p in papers for lang in p.treebanks(campaign, catalogue)}
        with_treebanks |= languages_with_text & treebank_languages(campaign, catalogue)
        rows: list[Pinned] = []
        for lang in catalogue.languages:
            rows += catalogue.treebanks[lang] if lang in with_treebanks else []
            rows += catalogue.sources_of(TEXT, lang) if lang in languages_with_text else []
        rows += [row for paper in papers for row in paper.sources(campaign, catalogue)]
        rows += corpora
        # Add the sources of the tables that exhibits are made from.
        for spec in self.exhibits:
            for table_name in (*spec.needs, *spec.optional):
                rows += table_kind(spec.paper, table_name).sources(campaign, catalogue)
        by_name = {row.name: row for row in rows if isinstance(row, TreebankRow | SourceRow)}
        return [*by_name.values()]

    @property
    def retrieved_files(self) -> list[str]:
        return [row.name for row in self.read_files if is_usable(self.campaign, row)]
