"""Commands of CLAMS."""

from pathlib import Path
from typing import Annotated

import typer

from blimpworks.campaign.variants import Variant
from blimpworks.commands.declare import WRITTEN, Use, calls, command, spread
from blimpworks.commands.options import TABLES, Iso, LanguageFile, Output, of_language, settings
from blimpworks.papers.clams.settings import ClamsOptions

PAPER = "blimpworks.papers.clams"


@calls(f"{PAPER}.items.evaluation_sets:count_sets", packages=TABLES, notes="minimal_sets")
def count_sets(
    sets: Annotated[
        list[LanguageFile],
        typer.Argument(help="Released files, as LANG=PATH.", parser=of_language),
        Use(
            reads=lambda sets, _: [each.path for each in sets],
            records=lambda _, sets: {"languages": [each.lang for each in sets]},
        ),
    ],
    output: Output,
) -> None:
    """Count the minimal sets of the released evaluation sets, by the words that differ."""


@calls(f"{PAPER}.items.build:build_items", packages=TABLES, notes="pairs")
def build_clams_items(
    sets: Annotated[list[Path], typer.Argument(help="Evaluation sets, called as paradigms.")],
    lang: Iso,
    output: Annotated[Path, typer.Option(help="Items table to write."), WRITTEN],
    options: Annotated[
        ClamsOptions,
        typer.Option(help="Options of CLAMS, as JSON.", **settings(ClamsOptions)),
        spread(mode="json", exclude_unset=True),
    ],
) -> None:
    """Turn a language's evaluation sets into items with critical regions."""


@calls(f"{PAPER}.analysis.wals:build_morphology", packages=TABLES, notes="languages")
def build_morphology(
    values: Annotated[Path, typer.Argument(help="WALS's raw/value.csv.")],
    elements: Annotated[Path, typer.Option(help="WALS's raw/domainelement.csv.")],
    languages: Annotated[Path, typer.Option(help="WALS's cldf/languages.csv.")],
    output: Output,
) -> None:
    """Quantify the morphology of languages by their WALS features."""


Common = Annotated[
    Path | None,
    typer.Option(help="Grammar to read first, in place of the common.avg beside each grammar."),
]
Way = Annotated[
    Variant,
    typer.Option(help="As the authors' program does, or with its faults put right."),
]


@command(f"{PAPER}.items.grammar.generator:generate_sets")
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
    with generate_sets.job(inputs=inputs, outputs=output, params=params) as job:
        counts = generator.generate_sets(grammars, common, output, variant)
        job.note(lines=dict(zip(map(str, output), counts, strict=True)))


@command()
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
    parsed = read_grammar(grammar, common, variant)
    typer.echo(f"{grammar}" + (f", after {common}" if common else ""))
    for line in preview.preview(parsed, variant, show, words):
        typer.echo(line)
