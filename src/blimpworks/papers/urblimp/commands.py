"""Commands of UrBLiMP: its pairs, and its human validation."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from blimpworks.commands.declare import WRITTEN, Use, command, dumped, recorded
from blimpworks.commands.options import (
    TABLES,
    Benchmark,
    Evaluated,
    Judged,
    Language,
    evaluations,
    optional,
    settings,
)
from blimpworks.papers.urblimp.settings import UrblimpOptions, ValidationOptions

PAPER = "blimpworks.papers.urblimp"
VALIDATION = typer.Option(
    help="Settings of the validation, as JSON.", **settings(ValidationOptions)
)


@recorded(f"{PAPER}.items.build:build_items", packages=("lark", "pyarrow", "wordfreq"))
def build_urblimp_items(
    rules: Annotated[
        Path,
        typer.Argument(help="Directory of a language's pack and rules."),
        Use(reads=lambda folder, _: sorted(folder.glob("*.yaml"))),
    ],
    lang: Language,
    tokens: Annotated[Path, typer.Option(help="Tokens table of the language.")],
    sentences: Annotated[Path, typer.Option(help="Sentences table of the language.")],
    output: Annotated[Path, typer.Option(help="Table of items to write."), WRITTEN],
    counts: Annotated[
        Path, typer.Option(help="Table of what became of matches, to write."), WRITTEN
    ],
    rejected: Annotated[
        Path, typer.Option(help="Table of matches without a pair, to write."), WRITTEN
    ],
    options: Annotated[
        UrblimpOptions,
        typer.Option(help="Options of UrBLiMP, as JSON.", **settings(UrblimpOptions)),
    ],
    *,
    lexicon: Annotated[Path | None, typer.Option(help="Lexicon of the language.")] = None,
    text: Annotated[list[Path], typer.Option(help="Plain text; repeatable.", **optional())],
) -> Mapping[str, Any]:
    """Make the pairs of UrBLiMP's paradigms in a language, by rules over its treebanks."""
    from blimpworks.papers.urblimp.items import build as library

    sources = library.Sources(tokens, sentences, lexicon, tuple(text))
    products = library.Products(output, counts, rejected)
    return library.build_items(rules, lang, sources, products, options)


@command(f"{PAPER}.validation.sheets:write_lists", packages=TABLES, pandas=False)
def validation_lists(
    sheets: Annotated[list[Path], typer.Argument(help="Sheets to write, one per participant.")],
    items: Annotated[Path, typer.Option(help="Items table of the language.")],
    lang: Language,
    key: Annotated[Path, typer.Option(help="Key of the lists to write; not for participants.")],
    pcibex: Annotated[Path, typer.Option(help="Table of all lists for PCIbex to write, CSV.")],
    options: Annotated[ValidationOptions, VALIDATION],
) -> None:
    """Deal pairs to participants, and write a list for each to fill in."""
    from blimpworks.papers.urblimp.validation.sheets import write_lists

    params = {"lang": lang, "options": options.model_dump(mode="json")}
    outputs = [key, pcibex, *sheets]
    with validation_lists.job(inputs=[items], outputs=outputs, params=params) as job:
        pairs = write_lists(items, lang, sheets, key, pcibex, options)
        job.note(pairs=pairs)
    typer.echo(f"{pairs} pairs on {len(sheets)} lists")


@recorded(
    f"{PAPER}.validation.results:read_validation",
    packages=("numpy", "pandas", "pyarrow", "statsmodels"),
)
def read_validation(
    sheets: Annotated[list[Path], typer.Argument(help="Filled lists.")],
    keys: Annotated[list[Path], typer.Option("--key", help="Key of lists; repeatable.")],
    ratings: Annotated[Path, typer.Option(help="Table of ratings to write."), WRITTEN],
    participants: Annotated[Path, typer.Option(help="Table of participants to write."), WRITTEN],
    accuracies: Annotated[
        Path, typer.Option(help="Table of people's accuracies to write."), WRITTEN
    ],
    options: Annotated[
        ValidationOptions, VALIDATION, dumped(mode="json", include={"check_threshold", "per_pair"})
    ],
) -> Mapping[str, Any]:
    """Check filled lists, leave out who fails the attention checks, and measure accuracies."""
    from blimpworks.papers.urblimp.validation import results

    outputs = (ratings, participants, accuracies)
    facts = results.read_validation(sheets, keys, outputs, options)
    typer.echo(", ".join(f"{name}: {value:.4g}" for name, value in facts.items()))
    return facts


@recorded(f"{PAPER}.analysis.lengths:compare_lengths", packages=TABLES)
def compare_lengths(
    results: Judged,
    models: Evaluated,
    benchmark: Benchmark,
    ties: Annotated[str, typer.Option(help="What equal values count as.")],
    output: Annotated[Path, typer.Option(help="Table of decisions to write."), WRITTEN],
    surprisals: Annotated[Path, typer.Option(help="Table of one pair by word, to write."), WRITTEN],
) -> Mapping[str, Any]:
    """Compare decisions by the mean per token with those by the sum of log-probabilities."""
    from blimpworks.papers.urblimp.analysis import lengths as library

    rows = evaluations(results, models, benchmark)
    evaluated = [library.Evaluation(*row) for row in rows]
    return library.compare_lengths(evaluated, ties, output, surprisals)
