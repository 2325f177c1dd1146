"""Commands of Multi-LMentry's prompts and of the judging of their answers."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from blimpworks.commands.declare import WRITTEN, Use, calls, command, spread
from blimpworks.commands.options import LanguageFile, Output, of_language, optional, settings
from blimpworks.papers.lmentry.settings import LmentryOptions
from blimpworks.records.job import Planned

PAPER = "blimpworks.papers.lmentry"
Declarations = Annotated[Path, typer.Option(help="Declarations of the tasks.")]


@command(
    f"{PAPER}.judging.answers:judge_answers",
    packages=("pyarrow", "google-re2", "num2words", "jamo"),
)
def judge_answers(
    items: Annotated[list[Path], typer.Option(help="Prompts; one table for each language.")],
    answers: Annotated[list[Path], typer.Option(help="Answers; one for each table of prompts.")],
    pack: Annotated[list[Path], typer.Option(help="Language pack; one for each.")],
    variant: Annotated[str, typer.Option(help="Variant of the prompts.")],
    output: Annotated[list[Path], typer.Option(help="Judgements to write; one for each.")],
) -> None:
    """Judge the answers to Multi-LMentry's prompts, by published and corrected rules."""
    from blimpworks.papers.lmentry.items.packs import pack_files
    from blimpworks.papers.lmentry.judging import answers as library

    params = {"variant": variant}
    for table, given, language, target in zip(items, answers, pack, output, strict=True):
        inputs = [table, given, *pack_files(language)]
        with (
            suppress(Planned),
            judge_answers.job(inputs=inputs, outputs=[target], params=params) as job,
        ):
            job.note(unjudged=library.judge_answers(table, given, language, variant, target))


@calls(f"{PAPER}.items.prompts:build_prompts", packages=("jamo", "pyarrow"))
def build_lmentry_items(
    files: Annotated[
        list[Path], typer.Argument(metavar="RESOURCES...", help="A language's resource files.")
    ],
    pack: Annotated[Path, typer.Option(help="Its language pack.")],
    declarations: Declarations,
    output: Annotated[Path, typer.Option(help="Table of prompts to write."), WRITTEN],
    options: Annotated[
        LmentryOptions,
        typer.Option(help="Options of Multi-LMentry, as JSON.", **settings(LmentryOptions)),
        spread(mode="json", exclude_unset=True),
    ],
) -> None:
    """Make the prompts of all tasks in a language from its annotated resources."""


def _by_language(files: Sequence[LanguageFile]) -> dict[str, list[Path]]:
    """Paths of each language."""
    paths: dict[str, list[Path]] = {}
    for each in files:
        paths.setdefault(each.lang, []).append(each.path)
    return paths


@calls(f"{PAPER}.items.counts:count_prompts", packages=("jamo", "pyarrow"))
def count_lmentry_prompts(
    packs: Annotated[list[Path], typer.Argument(help="Language packs.")],
    declarations: Declarations,
    output: Output,
    resources: Annotated[
        list[LanguageFile],
        typer.Option(
            help="Resource file of a language, as LANG=PATH.", **optional(parser=of_language)
        ),
        Use(
            reads=lambda files, _: chain.from_iterable(_by_language(files).values()),
            records=lambda name, files: {name: sorted(_by_language(files))},
            passes=lambda files, _: _by_language(files),
        ),
    ],
) -> None:
    """Count the prompts that the release's settings give each task and language."""


@calls(f"{PAPER}.items.dialogues:build_dialogues", packages=("numpy", "pyarrow"), pandas=False)
def build_dialogues(
    practice: Annotated[list[Path], typer.Argument(help="Prompts with other arguments.")],
    benchmark: Annotated[
        list[Path], typer.Option("--items", help="The benchmark's prompts, to be left out.")
    ],
    packs: Annotated[list[Path], typer.Option("--pack", help="Pack of each language.")],
    output: Annotated[Path, typer.Option(help="Dialogues to write, as JSON Lines."), WRITTEN],
    seed: Annotated[int, typer.Option(help="Seed of all that is drawn at random.")],
    per_template: Annotated[int, typer.Option(min=1, help="At most so many of each template.")],
) -> None:
    """Make dialogues of Multi-LMentry's prompts, to train a model that follows instructions."""
