"""Reading the printed numbers of a paper."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.catalogue import read_rows
from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.registry import printed_folder
from blimpworks.errors import UserError

PLACE = ("paper", "exhibit", "row", "column", "printed", "unit")
"""First columns of the comparisons: which printed number a row is about."""


def place_of(paper: str, row: PublishedRow) -> dict[str, str]:
    """The values of the columns ``PLACE`` for a printed number."""
    values = (paper, row.exhibit, row.row, row.column, row.text, row.unit)
    return dict(zip(PLACE, values, strict=True))


@dataclass(frozen=True, slots=True)
class PrintedAccuracy:
    """An accuracy that a paper prints, as a share of 1, over ``n`` pairs or prompts.

    ``rounding``: how far it may be from what it was rounded from. ``n`` is None where the
    paper does not give it.
    """

    model: str
    lang: str
    accuracy: float
    rounding: float
    origin: str
    """The printed number's ``place``."""
    n: int | None
    phenomenon: str = ALL
    paradigm: str = ALL


def printed_files(folder: Path, paper: str) -> list[Path]:
    """The tables of a paper's printed numbers below ``folder``. Raises UserError if none is."""
    own = printed_folder(folder, paper)
    paths = sorted(own.glob("*.csv"))
    if not paths:
        raise UserError(
            f"{own} has no tables (*.csv); expected the printed numbers of {paper!r}. "
            "Give the directory that has one below for each paper, such as config/published."
        )
    return paths


def read_printed_numbers(paths: Sequence[Path]) -> list[PublishedRow]:
    """All printed numbers of a paper, table after table.

    Raises UserError for a malformed row, or a place that two rows give a number for.
    """
    rows = [row for path in sorted(paths) for row in read_rows(PublishedRow, path)]
    counts = Counter((row.exhibit, row.row, row.column) for row in rows)
    for (exhibit, row, column), n in counts.items():
        if n > 1:
            raise UserError(
                f"{paths[0].parent}: {exhibit}, row {row!r}, column {column!r} stands in {n} "
                "rows; keep one."
            )
    return rows
