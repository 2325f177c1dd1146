"""Verbs of CLAMS."""

from pathlib import Path
from typing import Annotated

import typer

from blimpworks.errors import UserError
from blimpworks.provenance.record import Job


def _of_language(pair: str) -> tuple[str, Path]:
    """``deu=a.txt`` as language and path. Raises UserError for anything else."""
    lang, separator, path = pair.partition("=")
    if not separator:
        raise UserError(f"{pair!r}: expected LANG=PATH.")
    return lang, Path(path)


def count_sets(
    sets: Annotated[list[str], typer.Argument(help="Released files, as LANG=PATH.")],
    output: Annotated[Path, typer.Option(help="Table to write.")],
) -> None:
    """Count the minimal sets of the released evaluation sets, by the words that differ."""
    from blimpworks.clams import evaluation_sets

    found = [_of_language(pair) for pair in sets]
    inputs = [path for _, path in found]
    params = {"languages": [lang for lang, _ in found]}
    with Job("count_sets", inputs=inputs, outputs=[output], params=params) as job:
        job.note(minimal_sets=evaluation_sets.count_sets(found, output))


def build_clams_items(
    sets: Annotated[list[Path], typer.Argument(help="Evaluation sets, called as paradigms.")],
    lang: Annotated[str, typer.Option(help="ISO 639-3 code.")],
    output: Annotated[Path, typer.Option(help="Items table to write.")],
    options: Annotated[str, typer.Option(help="Options of CLAMS, as JSON.")],
) -> None:
    """Turn a language's evaluation sets into items with critical regions."""
    from blimpworks.clams import items
    from blimpworks.config import ClamsOptions, parse_options

    chosen = parse_options(ClamsOptions, options)
    params = {"lang": lang, **chosen.model_dump(mode="json", exclude_unset=True)}
    with Job("build_clams_items", inputs=sets, outputs=[output], params=params) as job:
        job.note(pairs=items.build_items(sets, lang, output, chosen))


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    for verb in (count_sets, build_clams_items):
        app.command()(verb)
