"""Commands from judgements and scores to tests."""

from pathlib import Path

from blimpworks.commands.declare import calls
from blimpworks.commands.options import (
    BENCHMARK,
    EVALUATED,
    EVALUATED_TABLES,
    METHOD,
    MODELLING,
    OUTPUT,
    settings,
)
from blimpworks.papers.multiblimp.settings import MultiblimpOptions


@calls("blimpworks.analysis.comparisons:compare_models", packages=MODELLING, notes="rows")
def compare_models(
    judgements: Path = EVALUATED_TABLES,
    models: str = EVALUATED,
    benchmark: str = BENCHMARK,
    method: str = METHOD,
    output: Path = OUTPUT,
    options: MultiblimpOptions = settings(
        MultiblimpOptions, "Settings of this stage, as JSON.", default="{}"
    ),
) -> None:
    """Compare every two models on each language by McNemar's test."""
