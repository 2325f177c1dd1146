"""Collect printed numbers with their places, statuses, and measured numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError, reading
from blimpworks.reproduction.printed import PLACE, Place


@dataclass(frozen=True, slots=True)
class Number:
    """A printed number with its file and line (``where``) and the results of both comparisons."""

    row: PublishedRow
    where: str
    status: str = ""
    recomputed: float | None = None
    reading: str = ""
    rule: str = ""
    note: str = ""
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    verdict: str = ""
    differs: str = ""
    """Differences in subject between the measured and the printed number."""

    def in_print(self, value: float | str) -> str:
        """Return ``value`` with the printed number's decimals; a text unchanged."""
        return value if isinstance(value, str) else f"{value:.{self.row.decimals}f}"

    @property
    def again(self) -> str:
        """The recomputed number with the printed one's decimals; "" without one."""
        return self.reading if self.recomputed is None else self.in_print(self.recomputed)

    def facts(self) -> dict[str, Any]:
        """Return the number's fields and texts as plain values, without empty ones."""
        own = {name: value for name, value in asdict(self).items() if name != "row"}
        unit = "" if self.row.textual else self.row.unit
        printed = {"text": self.row.text, "unit": unit, "again": self.again}
        if self.row.corrected is not None:
            printed["corrected"] = self.in_print(self.row.corrected)
        return {key: value for key, value in {**printed, **own}.items() if value not in ("", None)}


Evidence = dict[Place, Number]
"""The printed numbers of one paper, in the order of its files."""


TEXTS = (*PLACE, "reading", "rule", "status", "verdict", "differs", "note")
"""Columns of the comparisons that hold no numbers."""


def read_comparison(path: Path, columns: Iterable[str]) -> pd.DataFrame:
    """Read one of the comparisons. Raises UserError when it is missing or no such table."""
    with reading(path, "a comparison with print", "Build it: snakemake reproduction"):
        frame = pd.read_csv(
            path, dtype=dict.fromkeys(TEXTS, str), keep_default_na=False, na_values={}
        )
        if not isinstance(frame.index, pd.RangeIndex):
            raise ValueError("a row has more cells than there are headings")
        for name in [name for name in frame if name not in TEXTS]:
            frame[name] = pd.to_numeric(frame[name])
    missing = [name for name in columns if name not in frame]
    if missing:
        raise UserError(f"{path} has no columns {', '.join(missing)}; rebuild it.")
    return frame


def gather(
    paper: str, printed: Sequence[Path], published: pd.DataFrame, measured: pd.DataFrame
) -> Evidence:
    """Collect a paper's printed numbers with their rows in the comparisons of all papers."""
    facts_by_place: dict[Place, dict[str, Any]] = {}
    for frame, names in (
        (published, ("status", "recomputed", "reading", "rule", "note")),
        (measured, ("measured", "low", "high", "n", "verdict", "differs")),
    ):
        for row in frame[frame["paper"] == paper].to_dict("records"):
            place = (row["exhibit"], row["row"], row["column"])
            present = {n: row[n] for n in names if not pd.isna(row[n]) and row[n] != ""}
            facts_by_place.setdefault(place, {}).update(present)
    evidence: Evidence = {}
    for path in sorted(printed):
        for line, number in enumerate(read_rows(PublishedRow, path), start=2):
            place = (number.exhibit, number.row, number.column)
            facts = {"note": number.note} | facts_by_place.get(place, {})
            if "n" in facts:
                facts["n"] = int(facts["n"])
            evidence[place] = Number(number, f"{path}:{line}", **facts)
    return evidence
