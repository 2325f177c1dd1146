"""Commands of BLiMP."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from blimpworks.commands.declare import RECORDED, WRITTEN, Use, calls, command, recorded
from blimpworks.commands.options import (
    JSON,
    MODELLING,
    STATISTICS,
    TABLES,
    Benchmark,
    Evaluated,
    Json,
    Judged,
    Method,
    Output,
    Seed,
    evaluations,
)
from blimpworks.errors import UserError

PAPER = "blimpworks.papers.blimp"
Lexicon = Annotated[Path, typer.Option(help="Directory of the lexicon.")]


@calls(f"{PAPER}.items.build:build_items", packages=TABLES, notes="pairs")
def build_blimp_items(
    files: Annotated[list[Path], typer.Argument(help="Files of pairs, called as paradigms.")],
    output: Annotated[Path, typer.Option(help="Items table to write."), WRITTEN],
    pairs: Annotated[int, typer.Option(min=1, help="Pairs that each file must have.")],
    most: Annotated[int | None, typer.Option(min=1, help="Take at most so many of each.")] = None,
) -> None:
    """Turn paradigms, released or generated, into items with critical regions."""


@command(f"{PAPER}.items.generator.generate:generate_paradigms")
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
    with generate_blimp.job(inputs=inputs, outputs=output, params=params) as job:
        job.note(pairs=generate.generate_paradigms(declarations, lexicon, output, pairs, seed))


@command()
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


@calls(f"{PAPER}.released_results:read_blimp_release", packages=STATISTICS, notes="accuracies")
def read_blimp_release(
    results: Annotated[Path, typer.Argument(help="Released accuracies of the models.")],
    humans: Annotated[Path, typer.Argument(help="Released summary of the human validation.")],
    rerun: Annotated[Path, typer.Argument(help="Released accuracies of the run of 2021.")],
    output: Output,
) -> None:
    """Make a table of the accuracies that BLiMP's authors released."""


@calls(f"{PAPER}.released_ratings:read_ratings", packages=TABLES)
def read_blimp_ratings(
    responses: Annotated[Path, typer.Argument(help="Released responses of the validation.")],
    output: Output,
) -> None:
    """Make a table of the single human judgements that BLiMP's authors released."""


@recorded(f"{PAPER}.analysis.bins:bin_accuracies", packages=STATISTICS)
def bin_accuracies(
    results: Judged,
    models: Evaluated,
    benchmark: Benchmark,
    method: Method,
    output: Output,
    bins: Annotated[int, typer.Option(min=2, help="Bins of each factor, at most.")],
) -> Mapping[str, Any]:
    """Compute accuracy by length, perplexity, probability and confidence of pairs, in bins."""
    from blimpworks.papers.blimp.analysis import bins as library

    rows = evaluations(results, models, benchmark)
    evaluated = [library.Evaluation(*row) for row in rows]
    return {"rows": library.bin_accuracies(evaluated, method, bins, output)}


def _and_of_people(method: str, _: Mapping[str, Any]) -> tuple[str, str]:
    """A method, and that of people's single judgements."""
    from blimpworks.papers.blimp.released_results import INDIVIDUAL

    return method, INDIVIDUAL


@calls(f"{PAPER}.analysis.curves:fit_curves", packages=MODELLING, notes="terms")
def fit_curves(
    accuracies: Annotated[Path, typer.Argument(help="Accuracies table.")],
    curves: Annotated[
        Json, typer.Option(help="Tokens of models by row and model, as JSON.", **JSON)
    ],
    method: Annotated[
        str,
        typer.Option(help="Method of judging."),
        Use(records=RECORDED.records, passes=_and_of_people),
    ],
    output: Output,
    humans: Annotated[Path | None, typer.Option(help="Accuracies table with humans.")] = None,
) -> None:
    """Fit the accuracy of models trained on samples on the logarithm of their size."""
