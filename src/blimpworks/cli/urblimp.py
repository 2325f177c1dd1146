"""Verbs of UrBLiMP."""

from pathlib import Path
from typing import Annotated

import typer

from blimpworks.provenance.record import Job


def build_urblimp_items(
    rules: Annotated[Path, typer.Argument(help="Directory of a language's pack and rules.")],
    lang: Annotated[str, typer.Option(help="Language, ISO 639-3.")],
    tokens: Annotated[Path, typer.Option(help="Tokens table of the language.")],
    sentences: Annotated[Path, typer.Option(help="Sentences table of the language.")],
    output: Annotated[Path, typer.Option(help="Table of items to write.")],
    counts: Annotated[Path, typer.Option(help="Table of what became of matches, to write.")],
    rejected: Annotated[Path, typer.Option(help="Table of matches without a pair, to write.")],
    options: Annotated[str, typer.Option(help="Options of UrBLiMP, as JSON.")],
    lexicon: Annotated[Path | None, typer.Option(help="Lexicon of the language.")] = None,
    text: Annotated[list[Path] | None, typer.Option(help="Plain text; repeatable.")] = None,
) -> None:
    """Make the pairs of UrBLiMP's paradigms in a language, by rules over its treebanks."""
    from blimpworks.config import UrblimpOptions, parse_options
    from blimpworks.urblimp import items as library

    chosen = parse_options(UrblimpOptions, options)
    sources = library.Sources(tokens, sentences, lexicon, tuple(text or ()))
    products = library.Products(output, counts, rejected)
    inputs = [*sorted(rules.glob("*.yaml")), tokens, sentences]
    inputs += [*([lexicon] if lexicon else []), *sources.texts]
    params = {"lang": lang, "options": chosen.model_dump(mode="json", exclude_unset=True)}
    with Job("build_urblimp_items", inputs=inputs, outputs=[*products], params=params) as job:
        job.note(**library.build_items(rules, lang, sources, products, chosen))


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    app.command()(build_urblimp_items)
