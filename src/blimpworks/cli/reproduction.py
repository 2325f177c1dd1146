"""Commands that set what the papers print against what it is computed from, and our own numbers."""

from collections.abc import Sequence
from pathlib import Path

import typer

from blimpworks.commands import shared
from blimpworks.commands.declare import calls, command
from blimpworks.commands.options import argument, option

PRINTED = option("Directory of printed numbers, one below per paper.")
PAPERS = option("Paper to compare.", "--paper")
CELLS = argument("Cells of exhibits, …/PAPER/EXHIBIT.…")


def _by_exhibit(cells: Sequence[Path], paper: str) -> dict[str, Path]:
    """Cells files of one paper by exhibit."""
    return {path.name.split(".")[0]: path for path in cells if path.parent.name == paper}


@calls(
    "blimpworks.reproduction.accuracies:read_published",
    packages=("numpy", "pyarrow", "scipy"),
    notes="accuracies",
)
def read_published(
    printed: list[Path] = argument("Tables of a paper's printed numbers."),
    benchmark: str = shared.BENCHMARK,
    output: Path = shared.OUTPUT,
) -> None:
    """Make a table of the accuracies that a paper prints."""


@command("blimpworks.reproduction.published:compare_published", packages=shared.STATISTICS)
def compare_published(
    cells: list[Path] = CELLS,
    printed: Path = PRINTED,
    accuracies: Path = option("Directory of printed accuracies."),
    papers: list[str] = PAPERS,
    output: Path = shared.OUTPUT,
) -> None:
    """Set every printed number beside what the paper's other numbers make of it."""
    from blimpworks.campaign.registry import printed_folder
    from blimpworks.reproduction import published as library
    from blimpworks.reproduction.printed import printed_files

    compared = [
        library.Paper(
            paper,
            printed_files(printed, paper),
            printed_folder(printed, paper) / "reasons.tsv",
            _by_exhibit(cells, paper),
            accuracies / f"{paper}.parquet",
        )
        for paper in papers
    ]
    numbers = [path for p in compared for path in (*p.printed, p.reasons, p.accuracies)]
    inputs, params = [*cells, *numbers], {"papers": papers}
    with compare_published.job(inputs=inputs, outputs=[output], params=params) as job:
        counts = library.compare_published(compared, output)
        job.note(**counts)
    for status, n in counts.most_common():
        typer.echo(f"{n:6} {status}")


@command(
    "blimpworks.reproduction.measured:compare_measured", packages=("numpy", "pandas", "pyarrow")
)
def compare_measured(
    printed: Path = PRINTED,
    papers: list[str] = PAPERS,
    output: Path = shared.OUTPUT,
    cells: list[Path] | None = argument("Cells of exhibits.", default=None),
) -> None:
    """Set the campaign's own numbers beside the printed ones."""
    from blimpworks.reproduction import measured as library
    from blimpworks.reproduction.printed import printed_files

    own = cells or []
    numbers = {paper: printed_files(printed, paper) for paper in papers}
    compared = {paper: (numbers[paper], _by_exhibit(own, paper)) for paper in papers}
    inputs = [*own, *(path for paths in numbers.values() for path in paths)]
    params = {"papers": papers}
    with compare_measured.job(inputs=inputs, outputs=[output], params=params) as job:
        counts = library.compare_measured(compared, output)
        job.note(**counts)
    for verdict, n in counts.most_common():
        typer.echo(f"{n:6} {verdict}")
