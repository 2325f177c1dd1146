"""Commands from judgements and scores to tests."""

from typing import Annotated

import typer

from blimpworks.commands.declare import calls
from blimpworks.commands.options import (
    MODELLING,
    Benchmark,
    Evaluated,
    Method,
    Output,
    Tables,
    settings,
)
from blimpworks.papers.multiblimp.settings import MultiblimpOptions


@calls("blimpworks.analysis.comparisons:compare_models", packages=MODELLING, notes="rows")
def compare_models(
    judgements: Tables,
    models: Evaluated,
    benchmark: Benchmark,
    method: Method,
    output: Output,
    options: Annotated[
        MultiblimpOptions,
        typer.Option(
            help="Settings of this stage, as JSON.",
            default_factory=MultiblimpOptions,
            show_default="{}",
            **settings(MultiblimpOptions),
        ),
    ],
) -> None:
    """Compare every two models on each language by McNemar's test."""
