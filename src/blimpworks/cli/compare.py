"""The command that compares two evaluations."""

from pathlib import Path

import typer

from blimpworks.commands.declare import EVALUATE, command
from blimpworks.commands.options import argument, option


@command(panel=EVALUATE, example="compare evaluations/gpt2 evaluations/mymodel")
def compare(
    first: Path = argument("Directory of an evaluation, or a results tree.", metavar="A"),
    second: Path = argument(
        "Directory of an evaluation, a results tree, or a model's results by lm-eval with samples.",
        metavar="B",
    ),
    models: tuple[str, str] | None = option(
        "Model of A and model of B; by default those of the same name, or the only ones.",
        default=None,
    ),
    flips: int = option("Show so many items that are right in one alone.", default=10, min=0),
    whole: bool = option("Show every phenomenon and reason.", "--all", default=False),
    json: bool = option("Print JSON.", "--json", default=False),
) -> None:
    """Show what moved between two evaluations, item by item, and why.

    Accuracies, McNemar's tests, items that only one got right, and what was done differently.
    """
    from blimpworks.evaluation.compare import compare_evaluations

    comparison = compare_evaluations(first, second, models, flips)
    if json:
        from json import dumps

        typer.echo(dumps(comparison.as_json(), indent=1, ensure_ascii=False))
        return
    from rich.console import Console

    from blimpworks.cluster.text import terminal_width
    from blimpworks.evaluation.compare_text import print_comparison

    print_comparison(comparison, Console(width=terminal_width()), whole=whole)
