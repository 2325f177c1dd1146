"""Declare BLiMP's commands. Those without body call the function that ``calls=`` names.

``blimpworks.commands.declare`` explains the other arguments of ``command``, such as ``cheap``.
"""

from pathlib import Path
from typing import Any

import typer

from blimpworks.commands import shared
from blimpworks.commands.declare import AUTHOR, command
from blimpworks.commands.options import argument, json_option, option, written
from blimpworks.errors import UserError

BLIMP = "blimpworks.papers.blimp"


@command(calls=f"{BLIMP}.items.build:build_items", packages=shared.ARROW, notes="pairs")
def build_blimp_items(
    files: list[Path] = argument("Files of pairs, each named after its paradigm."),
    output: Path = written("Items table to write."),
    pairs: int = option("Pairs that each file must have.", min=1),
    most: int | None = option("Largest number of pairs of a paradigm.", default=None, min=1),
) -> None:
    """Turn paradigms, released or generated, into items with critical regions."""


@command(f"{BLIMP}.items.generate:generate_paradigms")
def generate_blimp(
    declarations: list[Path] = argument("Declarations of paradigms."),
    lexicon: Path = option("Directory of the lexicon."),
    output: list[Path] = option("File to write, one for each paradigm."),
    pairs: int = option("Distinct pairs of each.", min=1),
    seed: int = shared.SEED,
) -> None:
    """Generate pairs of declared paradigms, in the form that BLiMP was released in."""
    from blimpworks.papers.blimp.items import generate
    from blimpworks.papers.blimp.items.lexicon import FILES

    if len(declarations) != len(output):
        raise UserError(
            f"{len(declarations)} declarations, but {len(output)} of --output; "
            "expected one file to write for each, in the same order."
        )
    inputs = [*declarations, *(lexicon / name for name in FILES)]
    for path in output:
        if [*inputs, *output].count(path) > 1:
            raise UserError(
                f"{path} is an output and also another file of this command; expected a path for "
                "each; correct --output."
            )
    params = {"pairs": pairs, "seed": seed}
    with generate_blimp.job(inputs=inputs, outputs=output, params=params) as job:
        job.note(pairs=generate.generate_paradigms(declarations, lexicon, output, pairs, seed))


@command(panel=AUTHOR, example="try-paradigm config/blimp/paradigms/causative.yaml --show 5")
def try_paradigm(
    declaration: Path = argument("Declaration of a paradigm."),
    lexicon: Path = option("Directory of the lexicon.", default=Path("config/blimp/lexicon")),
    show: int = option("Number of pairs to show.", default=10, min=1),
    seed: int = shared.SEED,
) -> None:
    """Show the pairs that a declaration generates; write nothing."""
    from blimpworks.papers.blimp.items.generate import preview

    for line in preview(declaration, lexicon, show, seed):
        typer.echo(line)


@command(
    calls=f"{BLIMP}.released_results:read_blimp_release",
    packages=shared.STATISTICS,
    notes="accuracies",
)
def read_blimp_release(
    results: Path = argument("Released accuracies of the models."),
    humans: Path = argument("Released summary of the human validation."),
    rerun: Path = argument("Released accuracies of the run of 2021."),
    output: Path = shared.OUTPUT,
) -> None:
    """Make a table of the accuracies that BLiMP's authors released."""


@command(calls=f"{BLIMP}.released_results:read_ratings", packages=shared.ARROW)
def read_blimp_ratings(
    responses: Path = argument("Released responses of the validation."),
    output: Path = shared.OUTPUT,
) -> None:
    """Make a table of the single human judgements that BLiMP's authors released."""


@command(
    calls=f"{BLIMP}.analysis:bin_accuracies", packages=shared.STATISTICS, notes="rows", cheap=True
)
def bin_accuracies(
    results: Path = shared.RESULTS,
    models: str = shared.EVALUATED,
    benchmark: str = shared.BENCHMARK,
    method: str = shared.METHOD,
    output: Path = shared.OUTPUT,
    bins: int = option("Largest number of bins of a factor.", min=2),
    items: Path | None = shared.SAMPLED,
) -> None:
    """Compute accuracy by length, perplexity, probability and confidence of pairs, in bins."""


@command(calls=f"{BLIMP}.analysis:fit_curves", packages=shared.MODELLING, notes="terms", cheap=True)
def fit_curves(
    accuracies: Path = argument("Accuracies table."),
    curves: dict[str, Any] = json_option(
        "Numbers of training tokens, {row of models.tsv: {model: tokens}}, as JSON."
    ),
    method: str = shared.METHOD,
    output: Path = shared.OUTPUT,
    humans: Path | None = option("Accuracies table with humans.", default=None),
) -> None:
    """Fit accuracy by the logarithm of the number of tokens on which the models were trained."""
