"""Verbs from prompts to answers: answer, collect."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from blimpworks.audit.verbs import answer_verb
from blimpworks.campaign.settings.generation import GenerationJobOptions
from blimpworks.campaign.settings.parsing import parse_options
from blimpworks.cli.scoring import Each, Outputs, pairs_of
from blimpworks.errors import UserError
from blimpworks.records.job import Job, Planned

Manifest = Annotated[Path, typer.Option(help="Manifest of the model's answers.")]
Store = Annotated[Path, typer.Option(help="Directory of the model's shards.")]
Systems = Annotated[str, typer.Option(help="System prompt of each language, as a JSON object.")]


def _systems(text: str) -> dict[str, str]:
    """System prompts by language. Raises UserError for what is no JSON object of strings."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UserError(f"--systems is {text!r}, no JSON ({error}); correct it.") from error
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        raise UserError(f'--systems is {text!r}; expected {{"LANG": "system prompt", …}}.')
    return found


def answer(
    checkpoint: Annotated[Path, typer.Option(help="The model's checkpoint.json.")],
    engine: Annotated[str, typer.Option(help="Engine that answers: vllm or transformers.")],
    store: Store,
    manifest: Manifest,
    options: Annotated[str, typer.Option(help="Options of answering, as JSON.")],
    systems: Systems = "{}",
    items: Annotated[list[Path] | None, typer.Argument(help="Tables of prompts.")] = None,
    log: Annotated[
        Path | None, typer.Option(help="The job's log; its attempts are entered beside it.")
    ] = None,
) -> None:
    """Ask one model all prompts of the items, each once; resumes where it was killed."""
    from blimpworks.campaign.answering_engines import find_answering
    from blimpworks.cluster.deadline import deadline_of
    from blimpworks.generation.run import answer_items
    from blimpworks.models.checkpoint import read_description
    from blimpworks.records.journal import progress_path
    from blimpworks.scoring.progress import Progress
    from blimpworks.scoring.watch import Watch, Watches

    chosen, said, tables = (
        parse_options(GenerationJobOptions, options),
        _systems(systems),
        items or [],
    )
    find_answering(engine, read_description(checkpoint).architecture)
    params = chosen.model_dump() | {"engine": engine, "systems": said}
    outputs = [manifest, store]
    with Job(
        answer_verb(engine), inputs=[*tables, checkpoint], outputs=outputs, params=params
    ) as job:
        watch = Watches(Progress(progress_path(log)) if log else Watch(), deadline_of())
        result = answer_items(
            tables, said, checkpoint, store, manifest, engine, chosen, watch=watch
        )
        job.note(engine=result.engine, prompts=result.sentences, statuses=result.statuses)


def collect_answers(
    items: Each,
    manifest: Manifest,
    store: Store,
    output: Outputs,
    systems: Systems = "{}",
) -> None:
    """Slice a model's shards into answers tables, one for each table of prompts."""
    from blimpworks.generation import collect

    shards, said = collect.answer_shards(manifest, store), _systems(systems)
    for table, target in pairs_of(items, output):
        params = {"system": said.get(table.stem)}
        with (
            suppress(Planned),
            Job("collect_answers", inputs=[table, manifest], outputs=[target], params=params),
        ):
            collect.collect_answers(table, said, shards, target)


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    for verb in (answer, collect_answers):
        app.command()(verb)
