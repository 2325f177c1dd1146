"""Read, collect and list printed numbers with their statuses and measured numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from math import isnan
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from itables import to_html_datatable

from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError, reading
from blimpworks.reproduction.printed import PLACE, Place
from blimpworks.yaml_files import read_yaml

TEXTS: dict[str, Any] = read_yaml(Path(__file__).parent / "assets/texts.yaml", "texts of pages")
"""Statuses and verdicts with their signs and meanings, and texts of pages."""


@dataclass(frozen=True, slots=True)
class Number:
    """A printed number with its file and line (``where``) and the results of both comparisons.

    ``status`` is the result of the comparison with other printed numbers, by ``rule`` and with a
    ``note``; ``reading`` is the recomputed text. ``verdict`` is the result of the comparison with
    the ``measured`` number, of ``n`` items.
    """

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
    def recomputed_text(self) -> str:
        """The recomputed number with the printed one's decimals; "" without one."""
        return self.reading if self.recomputed is None else self.in_print(self.recomputed)

    def facts(self) -> dict[str, Any]:
        """Return the number's fields and texts as plain values, without empty ones."""
        facts = {name: value for name, value in asdict(self).items() if name != "row"}
        unit = "" if self.row.textual else self.row.unit
        printed = {"text": self.row.text, "unit": unit, "again": self.recomputed_text}
        if self.row.corrected is not None:
            printed["corrected"] = self.in_print(self.row.corrected)
        return {
            key: value for key, value in {**printed, **facts}.items() if value not in ("", None)
        }


Evidence = dict[Place, Number]
"""The printed numbers of one paper, in the order of its files."""


WORDS = (*PLACE, "reading", "rule", "status", "verdict", "differs", "note")
"""Columns of the comparisons that hold no numbers."""


def read_comparison(path: Path, columns: Iterable[str]) -> pd.DataFrame:
    """Read one of the comparisons. Raises UserError when it is missing or no such table."""
    with reading(path, "a comparison with print", "Build it: snakemake reproduction"):
        frame = pd.read_csv(
            path, dtype=dict.fromkeys(WORDS, str), keep_default_na=False, na_values={}
        )
        if not isinstance(frame.index, pd.RangeIndex):
            raise ValueError("a row has more cells than there are headings")
        for name in [name for name in frame if name not in WORDS]:
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


_PRINTED_NUMBER = PLACE[:-1]
"""Columns of both listings that identify a number."""
COLUMNS = {
    "published": (*_PRINTED_NUMBER, "status", "recomputed", "reading", "rule", "note"),
    "measured": (*_PRINTED_NUMBER, "measured", "low", "high", "n", "reading", "verdict", "differs"),
}
LISTED = ("paper", "exhibit", "status", "verdict")
"""Columns with few values, filtered by a list of choices."""


def _text(value: object) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:.6g}"
    return escape(str(value))


def listing_html(name: str, frame: pd.DataFrame) -> str:
    """Return the comparison ``name`` as HTML; needs ``_static/datatables.js`` beside the page."""
    frame = frame[list(COLUMNS[name])]
    places = frame[["paper", "exhibit", "row", "column"]].itertuples(index=False, name=None)
    links = []
    for (paper, *place), printed in zip(places, frame["printed"], strict=True):
        # The address opens the number's lineage.
        address = f"{paper}.html#number/{'/'.join(quote(part, safe='') for part in place)}"
        links.append(f'<a href="{escape(address)}">{escape(printed or "?")}</a>')
    shown = frame.map(_text).assign(printed=links)
    # These columns are filtered by a list of choices, others by a search.
    listed = [index for index, name in enumerate(shown.columns) if name in LISTED]
    by_list = [{"targets": listed, "columnControl": [["searchList"]]}]
    options = TEXTS["listing_options"] | {"table_id": f"bw-{name}", "columnDefs": by_list}
    table = to_html_datatable(shown, **options)
    return (
        f"<p>{TEXTS['introductions'][name]}</p>\n"
        '<script src="_static/datatables.js"></script>\n'
        f'<div class="bw-scroll">{table}</div>\n'
    )
