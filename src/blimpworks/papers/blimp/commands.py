"""Verbs of BLiMP."""

from pathlib import Path
from typing import Annotated

import typer

from blimpworks.errors import UserError
from blimpworks.records.job import Job

Lexicon = Annotated[Path, typer.Option(help="Directory of the lexicon.")]
Seed = Annotated[int, typer.Option(help="Decides all random choices.")]


def build_blimp_items(
    files: Annotated[list[Path], typer.Argument(help="Files of pairs, called as paradigms.")],
    output: Annotated[Path, typer.Option(help="Items table to write.")],
    pairs: Annotated[int, typer.Option(min=1, help="Pairs that each file must have.")],
    most: Annotated[int | None, typer.Option(min=1, help="Take at most so many of each.")] = None,
) -> None:
    """Turn paradigms, released or generated, into items with critical regions."""
    from blimpworks.papers.blimp.items import build as items

    params = {"pairs": pairs, "most": most}
    with Job("build_blimp_items", inputs=files, outputs=[output], params=params) as job:
        job.note(pairs=items.build_items(files, output, pairs, most))


def generate_blimp(
    declarations: Annotated[list[Path], typer.Argument(help="Paradigms, as declared.")],
    lexicon: Lexicon,
    output: Annotated[list[Path], typer.Option(help="File to write, one for each paradigm.")],
    pairs: Annotated[int, typer.Option(min=1, help="Distinct pairs of each.")],
    seed: Seed = 0,
) -> None:
    """Generate pairs of declared paradigms, in the form that BLiMP was released in."""
    from blimpworks.papers.blimp.items.generator import generate
    from blimpworks.papers.blimp.items.lexicon.load import FILES

    if len(declarations) != len(output):
        raise UserError(
            f"{len(declarations)} declarations, but {len(output)} of --output; "
            "expected one file to write for each, in the same order."
        )
    inputs = [*declarations, *(lexicon / name for name in FILES)]
    params = {"pairs": pairs, "seed": seed}
    with Job("generate_blimp", inputs=inputs, outputs=output, params=params) as job:
        made = generate.generate_paradigms(declarations, lexicon, output, pairs, seed)
        job.note(pairs=made)


def try_paradigm(
    declaration: Annotated[Path, typer.Argument(help="A paradigm, as declared.")],
    lexicon: Lexicon = Path("config/blimp/lexicon"),
    show: Annotated[int, typer.Option(min=1, help="Pairs to show.")] = 10,
    seed: Seed = 0,
) -> None:
    """Show pairs that a declaration would give; write nothing."""
    from blimpworks.papers.blimp.items.generator import preview

    for line in preview.preview(declaration, lexicon, show, seed):
        typer.echo(line)


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    for verb in (try_paradigm, generate_blimp, build_blimp_items):
        app.command()(verb)
