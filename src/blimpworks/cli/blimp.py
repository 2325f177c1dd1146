"""Verbs of BLiMP."""

from pathlib import Path
from typing import Annotated

import typer

from blimpworks.provenance.record import Job


def build_blimp_items(
    files: Annotated[list[Path], typer.Argument(help="Files of pairs, called as paradigms.")],
    output: Annotated[Path, typer.Option(help="Items table to write.")],
    pairs: Annotated[int, typer.Option(min=1, help="Pairs that each file must have.")],
    most: Annotated[int | None, typer.Option(min=1, help="Take at most so many of each.")] = None,
) -> None:
    """Turn paradigms, released or generated, into items with critical regions."""
    from blimpworks.blimp import items

    params = {"pairs": pairs, "most": most}
    with Job("build_blimp_items", inputs=files, outputs=[output], params=params) as job:
        job.note(pairs=items.build_items(files, output, pairs, most))


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    for verb in (build_blimp_items,):
        app.command()(verb)
