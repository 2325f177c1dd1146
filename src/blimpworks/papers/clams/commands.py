"""Verbs of CLAMS."""

from pathlib import Path
from typing import Annotated

import typer

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError
from blimpworks.records.job import Job


def of_language(pair: str) -> tuple[str, Path]:
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
    from blimpworks.papers.clams.items import evaluation_sets

    found = [of_language(pair) for pair in sets]
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
    from blimpworks.campaign.settings.parsing import parse_options
    from blimpworks.papers.clams.items import build as items
    from blimpworks.papers.clams.settings import ClamsOptions

    chosen = parse_options(ClamsOptions, options)
    params = {"lang": lang, **chosen.model_dump(mode="json", exclude_unset=True)}
    with Job("build_clams_items", inputs=sets, outputs=[output], params=params) as job:
        job.note(pairs=items.build_items(sets, lang, output, chosen))


Common = Annotated[
    Path | None,
    typer.Option(help="Grammar to read first, in place of the common.avg beside each grammar."),
]
Way = Annotated[
    Variant,
    typer.Option(help="As the authors' program does, or with its faults put right."),
]


def generate_sets(
    grammars: Annotated[list[Path], typer.Argument(help="Attribute-varying grammars.")],
    output: Annotated[list[Path], typer.Option(help="File to write, one for each grammar.")],
    variant: Way,
    common: Common = None,
) -> None:
    """Generate evaluation sets from attribute-varying grammars.

    Without --common, the common.avg in each grammar's directory is read before it.
    """
    from blimpworks.papers.clams.items.grammar import generator

    inputs = generator.files_read(grammars, common)
    params = {"variant": variant, "common": len(inputs) > len(grammars)}
    with Job("generate_sets", inputs=inputs, outputs=output, params=params) as job:
        counts = generator.generate_sets(grammars, common, output, variant)
        job.note(lines=dict(zip(map(str, output), counts, strict=True)))


def try_grammar(
    grammar: Annotated[Path, typer.Argument(help="Attribute-varying grammar.")],
    common: Common = None,
    variant: Way = "published",
    show: Annotated[int, typer.Option(min=0, help="Minimal sets to show of each template.")] = 3,
    vocabulary: Annotated[
        Path | None, typer.Option(help="Words, one a line: which ones does it lack?")
    ] = None,
) -> None:
    """Show what a grammar would generate, and what is odd in it; write nothing.

    A common.avg in the grammar's directory is read first, as the authors' program does it.
    """
    from blimpworks.papers.clams.items.grammar import preview
    from blimpworks.papers.clams.items.grammar.parser import common_beside, read_grammar

    words = preview.read_vocabulary(vocabulary) if vocabulary else None
    common = common or common_beside(grammar)
    found = read_grammar(grammar, common, variant)
    typer.echo(f"{grammar}" + (f", after {common}" if common else ""))
    for line in preview.preview(found, variant, show, words):
        typer.echo(line)


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    for verb in (generate_sets, try_grammar, build_clams_items, count_sets):
        app.command()(verb)
