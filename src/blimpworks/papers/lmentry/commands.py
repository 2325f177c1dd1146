"""Verbs of Multi-LMentry."""

from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from blimpworks.papers.clams.commands import of_language
from blimpworks.records.job import Job, Planned

Items = Annotated[list[Path], typer.Option(help="Prompts; one table for each language.")]
Answers = Annotated[list[Path], typer.Option(help="Answers; one for each table of prompts.")]
Packs = Annotated[list[Path], typer.Option(help="Language pack; one for each.")]
Outputs = Annotated[list[Path], typer.Option(help="Judgements to write; one for each.")]


def judge_answers(
    items: Items,
    answers: Answers,
    pack: Packs,
    variant: Annotated[str, typer.Option(help="Variant of the prompts.")],
    output: Outputs,
) -> None:
    """Judge the answers to Multi-LMentry's prompts, by published and corrected rules."""
    from blimpworks.papers.lmentry.items.packs import pack_files
    from blimpworks.papers.lmentry.judging import answers as library

    for table, found, language, target in zip(items, answers, pack, output, strict=True):
        inputs, params = [table, found, *pack_files(language)], {"variant": variant}
        with (
            suppress(Planned),
            Job("judge_answers", inputs=inputs, outputs=[target], params=params) as job,
        ):
            job.note(unjudged=library.judge_answers(table, found, language, variant, target))


def build_lmentry_items(
    resources: Annotated[list[Path], typer.Argument(help="A language's resource files.")],
    pack: Annotated[Path, typer.Option(help="Its language pack.")],
    declarations: Annotated[Path, typer.Option(help="Declarations of the tasks.")],
    output: Annotated[Path, typer.Option(help="Table of prompts to write.")],
    options: Annotated[str, typer.Option(help="Options of Multi-LMentry, as JSON.")],
) -> None:
    """Make the prompts of all tasks in a language from its annotated resources."""
    from blimpworks.campaign.settings.parsing import parse_options
    from blimpworks.papers.lmentry.items import prompts
    from blimpworks.papers.lmentry.settings import LmentryOptions

    chosen = parse_options(LmentryOptions, options)
    inputs = [*resources, pack, declarations]
    params = chosen.model_dump(mode="json", exclude_unset=True)
    with Job("build_lmentry_items", inputs=inputs, outputs=[output], params=params) as job:
        job.note(**prompts.build_prompts(resources, pack, declarations, output, chosen))


def count_lmentry_prompts(
    packs: Annotated[list[Path], typer.Argument(help="Language packs.")],
    declarations: Annotated[Path, typer.Option(help="Declarations of the tasks.")],
    output: Annotated[Path, typer.Option(help="Table to write.")],
    resources: Annotated[
        list[str] | None, typer.Option(help="Resource file of a language, as LANG=PATH.")
    ] = None,
) -> None:
    """Count the prompts that the release's settings give each task and language."""
    from blimpworks.papers.lmentry.items import counts as settings

    found: dict[str, list[Path]] = {}
    for lang, path in map(of_language, resources or []):
        found.setdefault(lang, []).append(path)
    inputs = [*packs, declarations, *chain.from_iterable(found.values())]
    params = {"resources": sorted(found)}
    with Job("count_lmentry_prompts", inputs=inputs, outputs=[output], params=params) as job:
        job.note(**settings.count_prompts(packs, declarations, found, output))


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    for verb in (build_lmentry_items, count_lmentry_prompts, judge_answers):
        app.command()(verb)
