"""Verbs that set what the papers print against what it is computed from, and our own numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from blimpworks.records.job import Job

Output = Annotated[Path, typer.Option(help="Table to write.")]
Printed = Annotated[Path, typer.Option(help="Directory of printed numbers, one below per paper.")]
Papers = Annotated[list[str], typer.Option("--paper", help="Paper to compare.")]
Cells = Annotated[list[Path], typer.Argument(help="Cells of exhibits, …/PAPER/EXHIBIT.…")]


def _by_exhibit(cells: Sequence[Path], paper: str) -> dict[str, Path]:
    """Cells files of one paper by exhibit."""
    return {path.name.split(".")[0]: path for path in cells if path.parent.name == paper}


def read_published(
    printed: Annotated[list[Path], typer.Argument(help="Tables of a paper's printed numbers.")],
    benchmark: Annotated[str, typer.Option(help="Name of the benchmark.")],
    output: Output,
) -> None:
    """Make a table of the accuracies that a paper prints."""
    from blimpworks.reproduction import accuracies

    params = {"benchmark": benchmark}
    with Job("read_published", inputs=printed, outputs=[output], params=params) as job:
        job.note(accuracies=accuracies.read_published(printed, benchmark, output))


def read_blimp_release(
    results: Annotated[Path, typer.Argument(help="Released accuracies of the models.")],
    humans: Annotated[Path, typer.Argument(help="Released summary of the human validation.")],
    rerun: Annotated[Path, typer.Argument(help="Released accuracies of the run of 2021.")],
    output: Output,
) -> None:
    """Make a table of the accuracies that BLiMP's authors released."""
    from blimpworks.papers.blimp import released_results as blimp_release

    inputs = [results, humans, rerun]
    with Job("read_blimp_release", inputs=inputs, outputs=[output], params={}) as job:
        job.note(accuracies=blimp_release.read_blimp_release(results, humans, rerun, output))


def read_blimp_ratings(
    responses: Annotated[Path, typer.Argument(help="Released responses of the validation.")],
    output: Output,
) -> None:
    """Make a table of the single human judgements that BLiMP's authors released."""
    from blimpworks.papers.blimp import released_ratings as blimp_ratings

    with Job("read_blimp_ratings", inputs=[responses], outputs=[output], params={}) as job:
        job.note(**blimp_ratings.read_ratings(responses, output))


def compare_published(
    cells: Cells,
    printed: Printed,
    accuracies: Annotated[Path, typer.Option(help="Directory of printed accuracies.")],
    papers: Papers,
    output: Output,
) -> None:
    """Set every printed number beside what the paper's other numbers make of it."""
    from blimpworks.reproduction import published as library
    from blimpworks.reproduction.printed import printed_files

    found = [
        library.Paper(
            paper,
            printed_files(printed, paper),
            printed / paper / "reasons.tsv",
            _by_exhibit(cells, paper),
            accuracies / f"{paper}.parquet",
        )
        for paper in papers
    ]
    inputs = [path for p in found for path in (*p.printed, p.reasons, p.accuracies)]
    params = {"papers": papers}
    with Job("compare_published", inputs=[*cells, *inputs], outputs=[output], params=params) as job:
        counts = library.compare_published(found, output)
        job.note(**counts)
    for status, n in counts.most_common():
        typer.echo(f"{n:6} {status}")


def compare_measured(
    printed: Printed,
    papers: Papers,
    output: Output,
    cells: Annotated[list[Path] | None, typer.Argument(help="Cells of exhibits.")] = None,
) -> None:
    """Set the campaign's own numbers beside the printed ones."""
    from blimpworks.reproduction import measured as library
    from blimpworks.reproduction.printed import printed_files

    own = cells or []
    numbers = {paper: printed_files(printed, paper) for paper in papers}
    found = {paper: (numbers[paper], _by_exhibit(own, paper)) for paper in papers}
    inputs = [*own, *(path for paths in numbers.values() for path in paths)]
    params = {"papers": papers}
    with Job("compare_measured", inputs=inputs, outputs=[output], params=params) as job:
        counts = library.compare_measured(found, output)
        job.note(**counts)
    for verdict, n in counts.most_common():
        typer.echo(f"{n:6} {verdict}")


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    verbs = (read_published, read_blimp_release, read_blimp_ratings)
    for verb in (*verbs, compare_published, compare_measured):
        app.command()(verb)
