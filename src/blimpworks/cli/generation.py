"""Commands from prompts to tables of responses: answer, collect-answers."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from blimpworks.campaign.engines import GENERATION_ENGINES
from blimpworks.campaign.settings.generation import GenerationJobOptions
from blimpworks.cli.scoring import SOFTWARE, watch_of
from blimpworks.commands import shared
from blimpworks.commands.declare import command
from blimpworks.commands.options import argument, option, pairs_of, settings
from blimpworks.errors import UserError
from blimpworks.records.commands import Command
from blimpworks.records.job import Planned

MANIFEST = option("Manifest of the model's responses.")
STORE = option("Directory of the model's shards.")


def _systems(text: str) -> dict[str, str]:
    """System prompts by language. Raises UserError for what is no JSON object of strings."""
    try:
        systems = json.loads(text)
    except ValueError as error:
        raise UserError(f"--systems is {text!r}, no JSON ({error}); correct it.") from error
    if not isinstance(systems, dict) or not all(isinstance(v, str) for v in systems.values()):
        raise UserError(f'--systems is {text!r}; expected {{"LANG": "system prompt", …}}.')
    return systems


SYSTEMS = option("System prompt of each language, as a JSON object.", default="{}")


def _engines() -> Iterator[Command]:
    # Engines are found by name at run time, so their imports don't show them.
    for engine, generator in GENERATION_ENGINES.items():
        entries = ("blimpworks.generation.run:answer_items", generator)
        yield Command(f"answer {engine}", entries, ("pyarrow", *SOFTWARE[engine]))


@command(_engines)
def answer(
    checkpoint: Path = option("The model's checkpoint.json."),
    engine: str = option("Engine that generates: vllm or transformers."),
    store: Path = STORE,
    manifest: Path = MANIFEST,
    options: GenerationJobOptions = settings(
        GenerationJobOptions, "Options of generation, as JSON."
    ),
    systems: str = SYSTEMS,
    items: list[Path] = argument("Tables of prompts.", default=list),
    log: Path | None = shared.LOG,
) -> None:
    """Generate one model's response to each prompt of the items; resumes where it was killed."""
    from blimpworks.campaign.engines import find_generation_engine
    from blimpworks.generation.run import answer_items
    from blimpworks.models.checkpoint import read_description

    prompts = _systems(systems)
    find_generation_engine(engine, read_description(checkpoint).architecture)
    params = options.model_dump() | {"engine": engine, "systems": prompts}
    inputs, outputs = [*items, checkpoint], [manifest, store]
    with answer.job(engine, inputs=inputs, outputs=outputs, params=params) as job:
        result = answer_items(
            items, prompts, checkpoint, store, manifest, engine, options, watch=watch_of(log)
        )
        job.note(engine=result.engine, prompts=result.sentences, statuses=result.statuses)


@command("blimpworks.generation.collect:collect_answers", packages=shared.ARROW, pandas=False)
def collect_answers(
    items: list[Path] = shared.EACH,
    manifest: Path = MANIFEST,
    store: Path = STORE,
    output: list[Path] = shared.OUTPUTS,
    systems: str = SYSTEMS,
) -> None:
    """Slice a model's shards into tables of responses, one for each table of prompts."""
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
