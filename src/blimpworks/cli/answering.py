"""Commands from prompts to answers: answer, collect."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from blimpworks.campaign.answering_engines import ANSWERING
from blimpworks.cli.scoring import SOFTWARE, watch_of
from blimpworks.commands.declare import command
from blimpworks.commands.options import TABLES, Each, Log, Outputs, pairs_of, settings
from blimpworks.errors import UserError
from blimpworks.papers.lmentry.settings import AnsweringOptions
from blimpworks.records.commands import Command
from blimpworks.records.job import Planned

Manifest = Annotated[Path, typer.Option(help="Manifest of the model's answers.")]
Store = Annotated[Path, typer.Option(help="Directory of the model's shards.")]


def _systems(text: str) -> dict[str, str]:
    """System prompts by language. Raises UserError for what is no JSON object of strings."""
    try:
        systems = json.loads(text)
    except ValueError as error:
        raise UserError(f"--systems is {text!r}, no JSON ({error}); correct it.") from error
    if not isinstance(systems, dict) or not all(isinstance(v, str) for v in systems.values()):
        raise UserError(f'--systems is {text!r}; expected {{"LANG": "system prompt", …}}.')
    return systems


Systems = Annotated[str, typer.Option(help="System prompt of each language, as a JSON object.")]


def _engines() -> Iterator[Command]:
    # Engines are found by name at run time, so their imports don't show them.
    for engine, answerer in ANSWERING.items():
        entries = ("blimpworks.generation.run:answer_items", answerer)
        yield Command(f"answer {engine}", entries, ("pyarrow", *SOFTWARE[engine]))


@command(_engines)
def answer(
    checkpoint: Annotated[Path, typer.Option(help="The model's checkpoint.json.")],
    engine: Annotated[str, typer.Option(help="Engine that answers: vllm or transformers.")],
    store: Store,
    manifest: Manifest,
    options: Annotated[
        AnsweringOptions,
        typer.Option(help="Options of answering, as JSON.", **settings(AnsweringOptions)),
    ],
    systems: Systems = "{}",
    items: Annotated[list[Path] | None, typer.Argument(help="Tables of prompts.")] = None,
    log: Log = None,
) -> None:
    """Ask one model all prompts of the items, each once; resumes where it was killed."""
    from blimpworks.campaign.answering_engines import find_answering
    from blimpworks.generation.run import answer_items
    from blimpworks.models.checkpoint import read_description

    prompts, tables = _systems(systems), items or []
    find_answering(engine, read_description(checkpoint).architecture)
    params = options.model_dump() | {"engine": engine, "systems": prompts}
    inputs, outputs = [*tables, checkpoint], [manifest, store]
    with answer.job(engine, inputs=inputs, outputs=outputs, params=params) as job:
        result = answer_items(
            tables, prompts, checkpoint, store, manifest, engine, options, watch=watch_of(log)
        )
        job.note(engine=result.engine, prompts=result.sentences, statuses=result.statuses)


@command("blimpworks.generation.collect:collect_answers", packages=TABLES, pandas=False)
def collect_answers(
    items: Each,
    manifest: Manifest,
    store: Store,
    output: Outputs,
    systems: Systems = "{}",
) -> None:
    """Slice a model's shards into answers tables, one for each table of prompts."""
    from blimpworks.generation import collect

    shards, prompts = collect.answer_shards(manifest, store), _systems(systems)
    for table, target in pairs_of(items, output):
        params = {"system": prompts.get(table.stem)}
        inputs = [table, manifest]
        with (
            suppress(Planned),
            collect_answers.job(inputs=inputs, outputs=[target], params=params),
        ):
            collect.collect_answers(table, prompts, shards, target)
