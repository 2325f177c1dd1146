"""Define commands from items to accuracies: score or answer, collect, judge, summarise, compare.

``commands/declare.py`` explains the arguments of ``@command``, and the jobs (``NAME.job``). While
jobs are only planned, opening a job raises ``Planned``; commands with several jobs suppress it, and
open the next job. An option that earlier versions lack is only recorded if it is used, so that
records of earlier versions stay valid.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from pydantic import TypeAdapter, ValidationError

from blimpworks.campaign.engines import find_engine, generators, scorers
from blimpworks.campaign.paper import Unit
from blimpworks.campaign.settings.base import parse_options
from blimpworks.campaign.settings.scoring import GenerationJobOptions, ParityOptions, ScoringOptions
from blimpworks.campaign.variants import Variant
from blimpworks.commands import shared
from blimpworks.commands.declare import EVALUATE, command
from blimpworks.commands.options import argument, option, pairs_of, settings
from blimpworks.errors import UserError
from blimpworks.records.job import Command, Planned

if TYPE_CHECKING:
    from blimpworks.scoring.progress import Watch

MANIFEST = option("Manifest of the model's scores.")
STORE = option("Directory of the model's shards.")
RESPONSES = option("Manifest of the model's responses.")
CODE = option(
    "Digest of the model's own code that may run; repeatable.", "--run-model-code", default=list
)


def watch_of(log: Path | None) -> "Watch":
    """Return a watch that writes the progress file beside ``log``, and stops in time."""
    from blimpworks.cluster.slurm import deadline_of
    from blimpworks.records.journal import progress_path
    from blimpworks.scoring.progress import Progress, Watch

    return Watch(*([Progress(progress_path(log))] if log else []), deadline_of())


def _engines() -> Iterator[Command]:
    # score_items imports an engine's class by its name, so the class is an entry of its own.
    for (name, architecture), scorer in scorers().items():
        entries = ("blimpworks.scoring.run:score_items", scorer.address)
        packages = (*shared.ARROW, *find_engine(name).packages)
        yield Command(f"score {name} {architecture}", entries, packages)


@command(_engines)
def score(
    checkpoint: Path = option("The model's checkpoint.json."),
    engine: str = option("Engine that scores: vllm, transformers, …."),
    store: Path = STORE,
    manifest: Path = MANIFEST,
    options: ScoringOptions = settings(ScoringOptions, "Scoring options, as JSON."),
    items: list[Path] = argument("Items tables.", default=list),
    regions: list[Path] = option(
        "Items of which only the critical regions are scored.", default=list
    ),
    give_up: bool = option("Whether a failure is written into the manifest."),
    run_model_code: list[str] = CODE,
    log: Path | None = shared.LOG,
) -> None:
    """Score all sentences of the items with one model; resume an interrupted run.

    With --give-up and a log, the manifest says of a failure why there are no scores.
    """
    from blimpworks.models.checkpoint import read_description
    from blimpworks.scoring.run import score_items

    watch = watch_of(log)
    params = options.model_dump(exclude={"near_tie", "jobs"}) | {"engine": engine}
    params |= {"run_model_code": run_model_code} if run_model_code else {}
    inputs, outputs = [*items, *regions, checkpoint], [manifest, store]
    architecture = read_description(checkpoint).architecture
    with score.job(engine, architecture, inputs=inputs, outputs=outputs, params=params) as job:
        result = score_items(
            *(items, checkpoint, store, manifest, engine, options),
            regions=regions,
            trusted=run_model_code,
            watch=watch,
        )
        job.note(engine=result.engine, sentences=result.sentences, statuses=result.statuses)


@command(
    calls="blimpworks.judging.sample:sample_items", packages=("pyarrow",), pandas=False, cheap=True
)
def limit_items(
    items: Path = argument("Items table."),
    output: Path = shared.OUTPUT,
    limit: int = option("Most items of the sample.", min=1),
    unit: Unit = option("What items are.", default="pair"),
) -> None:
    """Take a sample of items, balanced over paradigms."""


@command("blimpworks.scoring.run:collect_scores", packages=shared.ARROW, pandas=False, cheap=True)
def collect_scores(
    items: list[Path] = shared.ITEMS_TABLES,
    manifest: Path = MANIFEST,
    store: Path = STORE,
    output: list[Path] = shared.OUTPUTS,
) -> None:
    """Divide a model's shards into tables of scores, one for each items table."""
    from blimpworks.scoring import run

    shards = run.Shards(manifest, store)
    for table, target in pairs_of(items, output):
        # Each table has a record, so that it does not depend on those of other languages.
        inputs = [table, manifest]
        with suppress(Planned), collect_scores.job(inputs=inputs, outputs=[target], params={}):
            run.collect_scores(table, shards, target)


@command("blimpworks.judging.judge:judge", packages=shared.ARROW, pandas=False, cheap=True)
def judge(
    items: list[Path] = shared.ITEMS_TABLES,
    scores: list[Path] = shared.SCORES_TABLES,
    method: list[str] = shared.METHODS,
    ties: list[str] = shared.TIES,
    near_tie: float = shared.NEAR_TIE,
    output: list[Path] = shared.OUTPUTS,
    unknown: str | None = shared.UNKNOWN,
) -> None:
    """Judge for each item whether the model prefers the good sentence."""
    from blimpworks.judging import judge as library

    rules = library.Rules(method, ties, near_tie, unknown)
    shared.judge_each(judge, library.judge, rules, items, scores, output)


@command(
    calls="blimpworks.analysis.accuracy:compute_accuracies", packages=shared.STATISTICS, cheap=True
)
def compute_accuracies(
    judgements: Path = shared.EVALUATED_TABLES,
    models: str = shared.EVALUATED,
    benchmark: str = shared.BENCHMARK,
    output: Path = shared.OUTPUT,
    one_more: list[str] = option(
        "Model of which one more item counts as right, as in the authors' script; repeatable.",
        default=list,
        use=shared.RECORDED_IF_GIVEN,
    ),
) -> None:
    """Summarise judgements as accuracies with Wilson 95 % intervals."""


@command(
    calls="blimpworks.analysis.statistics:compare_models",
    packages=shared.MODELLING,
    notes="rows",
    cheap=True,
)
def compare_models(
    judgements: Path = shared.EVALUATED_TABLES,
    models: str = shared.EVALUATED,
    benchmark: str = shared.BENCHMARK,
    method: str = shared.METHOD,
    output: Path = shared.OUTPUT,
    mcnemar: Variant = option("Form of the test.", default="published"),
) -> None:
    """Compare every two models on each language by McNemar's test."""


def _systems(text: str) -> dict[str, str]:
    try:
        return TypeAdapter(dict[str, str]).validate_json(text)
    except ValidationError as error:
        message = f'--systems is {text!r}; expected {{"LANG": "system prompt", …}}.'
        raise UserError(message) from error


SYSTEMS = option("System prompt of each language, as a JSON object.", default="{}")


def _generation_engines() -> Iterator[Command]:
    # answer_items imports an engine's class by its name, so the class is an entry of its own.
    for engine, generator in generators().items():
        entries = ("blimpworks.generation.engine:answer_items", generator)
        yield Command(f"answer {engine}", entries, ("pyarrow", *find_engine(engine).packages))


@command(_generation_engines)
def answer(
    checkpoint: Path = option("The model's checkpoint.json."),
    engine: str = option("Engine that generates: vllm or transformers."),
    store: Path = STORE,
    manifest: Path = RESPONSES,
    options: GenerationJobOptions = settings(
        GenerationJobOptions, "Options of generation, as JSON."
    ),
    systems: str = SYSTEMS,
    items: list[Path] = argument("Tables of prompts.", default=list),
    run_model_code: list[str] = CODE,
    log: Path | None = shared.LOG,
) -> None:
    """Generate one model's response to each prompt of the items; resume an interrupted run."""
    from blimpworks.generation.engine import answer_items

    prompts = _systems(systems)
    params = options.model_dump() | {"engine": engine, "systems": prompts}
    params |= {"run_model_code": run_model_code} if run_model_code else {}
    inputs, outputs = [*items, checkpoint], [manifest, store]
    with answer.job(engine, inputs=inputs, outputs=outputs, params=params) as job:
        result = answer_items(
            *(items, prompts, checkpoint, store, manifest, engine, options),
            trusted=run_model_code,
            watch=watch_of(log),
        )
        job.note(engine=result.engine, prompts=result.sentences, statuses=result.statuses)


@command(
    "blimpworks.generation.engine:collect_answers", packages=shared.ARROW, pandas=False, cheap=True
)
def collect_answers(
    items: list[Path] = shared.ITEMS_TABLES,
    manifest: Path = RESPONSES,
    store: Path = STORE,
    output: list[Path] = shared.OUTPUTS,
    systems: str = SYSTEMS,
) -> None:
    """Divide a model's shards into tables of responses, one for each table of prompts."""
    from blimpworks.generation import engine
    from blimpworks.scoring.run import Shards

    shards, prompts = Shards(manifest, store), _systems(systems)
    for table, target in pairs_of(items, output):
        params = {"system": prompts.get(table.stem)}
        inputs = [table, manifest]
        with suppress(Planned), collect_answers.job(inputs=inputs, outputs=[target], params=params):
            engine.collect_answers(table, prompts, shards, target)


# Each variant is scored by the command `score`, which writes a record of its own.
@command(
    "blimpworks.analysis.parity:measure_parity",
    packages=(*shared.MODELLING, "tabulate"),
    panel=EVALUATE,
    example="parity results/demo/models/ngram-5/eng/checkpoint.json "
    "results/demo/items/demo_pairs/eng.parquet --output parity",
)
def parity(
    checkpoint: Path = argument("The model's checkpoint.json."),
    items: list[Path] = argument("Items tables."),
    output: Path = option("Directory to write to."),
    variant: list[str] = option(
        "ENGINE[:SETTING]…, such as transformers:bfloat16 or vllm:skip; repeatable.", default=list
    ),
    reference: str | None = option("Variant that the others are compared with."),
    method: list[str] = option("Method, or name=expression; repeatable.", default=list),
    pairs: int = option(
        "Largest number of pairs to compare.", default=ParityOptions().pairs, min=1
    ),
    options: str = option("Scoring options of all variants, as JSON.", default="{}"),
    python: list[str] = option(
        "Python interpreter of an engine: ENGINE=PATH; repeatable.", default=list
    ),
    run_model_code: list[str] = CODE,
) -> None:
    """Compare one model's scores between engines, number formats or first tokens.

    By default, reference and variants are chosen by the model's architecture.
    """
    from blimpworks.analysis.parity import measure_parity
    from blimpworks.analysis.scoring_variants import default_pythons
    from blimpworks.campaign.engines import comparison_of
    from blimpworks.models.checkpoint import read_description

    parse_options(ScoringOptions, options)
    architecture = read_description(checkpoint).architecture
    compared = comparison_of(architecture, reference, variant or None)
    params: dict[str, Any] = {"variants": [*compared.variants], "reference": compared.reference}
    params |= {"methods": method or ["full_sentence"], "count": pairs}
    params |= {"settings": json.loads(options)}
    params |= {"trusted": run_model_code} if run_model_code else {}
    pythons = default_pythons()
    for text in python:
        name, sign, path = text.partition("=")
        if not sign:
            raise UserError(f"--python is {text!r}, expected ENGINE=PATH, such as vllm=bin/python.")
        if not shutil.which(path):
            raise UserError(f"--python names {path!r} for {name}, but no such program exists.")
        pythons[name] = path
    # The directory is an output too: the sample and the scores of variants are in it.
    outputs = [output / "parity.parquet", output]
    with parity.job(inputs=[checkpoint, *items], outputs=outputs, params=params) as job:
        job.note(**measure_parity(checkpoint, items, output, pythons=pythons, **params))
    typer.echo((output / "parity.md").read_text(encoding="utf-8"))
