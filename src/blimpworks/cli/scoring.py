"""Verbs from items to accuracies: score, collect, judge, summarise."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blimpworks.audit.verbs import score_verb
from blimpworks.campaign.settings.base import Positive
from blimpworks.campaign.settings.parsing import parse_options, parse_rows
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.records.job import Job, Planned, is_planning
from blimpworks.strict import Strict

if TYPE_CHECKING:
    from blimpworks.cluster.pack_run import Member

Each = Annotated[list[Path], typer.Option(help="Items table; repeatable.")]
Outputs = Annotated[list[Path], typer.Option(help="Table to write; one for each items table.")]
Output = Annotated[Path, typer.Option(help="Table to write.")]
Manifest = Annotated[Path, typer.Option(help="Manifest of the model's scores.")]
Store = Annotated[Path, typer.Option(help="Directory of the model's shards.")]


def pairs_of(items: list[Path], outputs: list[Path]) -> list[tuple[Path, Path]]:
    """Each items table with what is written for it. Raises UserError for unlike numbers."""
    if len(items) != len(outputs):
        raise UserError(
            f"{len(items)} --items and {len(outputs)} --output; expected an output for each."
        )
    return [*zip(items, outputs, strict=True)]


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
    verb = score_verb(engine, read_description(checkpoint).architecture)
    return Job(verb, inputs=[*items, checkpoint], outputs=[manifest, store], params=params)


def score(
    checkpoint: Annotated[Path, typer.Option(help="The model's checkpoint.json.")],
    engine: Annotated[str, typer.Option(help="Engine that scores: vllm, transformers, ….")],
    store: Store,
    manifest: Manifest,
    options: Annotated[str, typer.Option(help="Scoring options, as JSON.")],
    items: Annotated[list[Path] | None, typer.Argument(help="Items tables.")] = None,
    regions: Annotated[
        list[Path] | None, typer.Option(help="Items whose critical regions are enough.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="The job's log; its attempts are entered beside it.")
    ] = None,
) -> None:
    """Score all sentences of the items with one model; resumes where it was killed."""
    from blimpworks.cluster.deadline import deadline_of
    from blimpworks.records.journal import progress_path
    from blimpworks.scoring.progress import Progress
    from blimpworks.scoring.run import score_items
    from blimpworks.scoring.watch import Watch, Watches

    watch = Watches(Progress(progress_path(log)) if log else Watch(), deadline_of())
    chosen = parse_options(ScoringOptions, options)
    whole, parts = items or [], regions or []
    with score_job([*whole, *parts], checkpoint, engine, manifest, store, chosen) as job:
        result = score_items(
            whole, checkpoint, store, manifest, engine, chosen, regions=parts, watch=watch
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
        with (
            suppress(Planned),
            Job("collect_scores", inputs=[table, manifest], outputs=[target], params={}),
        ):
            collect.collect_scores(table, shards, target)


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
    for (table, target), found in zip(pairs_of(items, output), scores, strict=True):
        with (
            suppress(Planned),
            Job("judge", inputs=[table, found], outputs=[target], params=params) as job,
        ):
            how = library.Rules(method, ties, near_tie, unknown)
            unjudged = library.judge(table, found, target, how)
            job.note(unjudged=unjudged)


# A campaign has thousands of these tables, and one argument of a shell holds 128 KiB.
Tables = Annotated[Path, typer.Argument(help="Directory of LANG/MODEL.parquet.")]
Evaluated = Annotated[str, typer.Option(help="Languages of each model, as a JSON object.")]


def tables_below(root: Path, models: str) -> list[tuple[str, str, Path]]:
    """Model, language and path of the tables of judgements or scores that are asked for."""
    return [
        (model, lang, root / lang / f"{model}.parquet")
        for model, languages in json.loads(models).items()
        for lang in languages
    ]


def compute_accuracies(
    judgements: Tables,
    models: Evaluated,
    benchmark: Annotated[str, typer.Option(help="Name of the benchmark.")],
    output: Output,
    one_more: Annotated[
        list[str] | None, typer.Option(help="Model for which one item too many is correct.")
    ] = None,
) -> None:
    """Summarise judgements as accuracies with Wilson 95 % intervals."""
    from blimpworks.analysis import accuracy

    found = tables_below(judgements, models)
    paths = [path for _, _, path in found]
    params: dict[str, object] = {"benchmark": benchmark}
    params |= {"one_more": one_more} if one_more else {}
    with Job("compute_accuracies", inputs=paths, outputs=[output], params=params):
        accuracy.compute_accuracies(found, benchmark, output, one_more or [])


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    for verb in (score, score_pack, collect_scores, judge, compute_accuracies):
        app.command()(verb)
