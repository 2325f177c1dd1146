"""Declare CLAMS's commands: counting and making items, grammars, and morphology.

A command without a body calls the function named in its decorator.
"""

from pathlib import Path

import typer

from blimpworks.campaign.variants import Variant
from blimpworks.commands import shared
from blimpworks.commands.declare import AUTHOR, Use, command, spread
from blimpworks.commands.options import (
    LanguageFile,
    argument,
    of_language,
    option,
    settings,
    written,
)
from blimpworks.papers.clams.settings import ClamsOptions

CLAMS = "blimpworks.papers.clams"


@command(
    calls=f"{CLAMS}.items.build:count_sets", packages=shared.ARROW, notes="minimal_sets", cheap=True
)
def count_sets(
    sets: list[LanguageFile] = argument(
        "Released files, as LANG=PATH.",
        parser=of_language,
        use=Use(
            inputs_from=lambda sets, _arguments: [file.path for file in sets],
            parameters_from=lambda _name, sets: {"languages": [file.lang for file in sets]},
        ),
    ),
    output: Path = shared.OUTPUT,
) -> None:
    """Count the minimal sets of the released evaluation sets, by the words that differ."""


@command(calls=f"{CLAMS}.items.build:build_items", packages=shared.ARROW)
def build_clams_items(
    sets: list[Path] = argument("Evaluation sets; a file's stem is its paradigm."),
    lang: str = shared.LANG,
    output: Path = written("Items table to write."),
    options: ClamsOptions = settings(
        ClamsOptions, "Options of CLAMS, as JSON.", use=spread(mode="json", exclude_unset=True)
    ),
) -> None:
    """Turn a language's evaluation sets into items with critical regions."""


@command(calls=f"{CLAMS}.morphology:build_morphology", packages=shared.ARROW, notes="languages")
def build_morphology(
    values: Path = argument("WALS's raw/value.csv."),
    elements: Path = option("WALS's raw/domainelement.csv."),
    languages: Path = option("WALS's cldf/languages.csv."),
    output: Path = shared.OUTPUT,
) -> None:
    """Quantify the morphology of languages by their WALS features."""


COMMON = option("Grammar to read first, in place of common.avg.", default=None)


@command(f"{CLAMS}.items.grammar.generator:generate_sets")
def generate_sets(
    grammars: list[Path] = argument("Attribute-varying grammars."),
    output: list[Path] = option("File to write, one for each grammar."),
    variant: Variant = option("Rules of the authors' program, or with its faults corrected."),
    common: Path | None = COMMON,
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


@command(panel=AUTHOR, example="try-grammar config/grammars/ita/subj_rel.avg")
def try_grammar(
    grammar: Path = argument("Attribute-varying grammar."),
    common: Path | None = COMMON,
    variant: Variant = option(
        "Rules of the authors' program, or with its faults corrected.", default="published"
    ),
    show: int = option("Number of minimal sets to show of each template.", default=3, min=0),
    vocabulary: Path | None = option("Word list; words that it lacks are shown.", default=None),
) -> None:
    """Show the sentences that a grammar generates, and its oddities; write nothing.

    A file common.avg in the grammar's directory is read first, as in the authors' program.
    """
    from blimpworks.papers.clams.items.grammar import generator
    from blimpworks.papers.clams.items.grammar.model import common_beside, read_grammar

    vocabulary_words = generator.read_vocabulary(vocabulary) if vocabulary else None
    common = common or common_beside(grammar)
    parsed = read_grammar(grammar, common, variant)
    typer.echo(f"{grammar}" + (f", after {common}" if common else ""))
    for line in generator.preview(parsed, show, vocabulary_words):
        typer.echo(line)
