"""A table exhibit as printed: headings and rows of text, section by section."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd

from blimpworks.exhibits.exhibit import Exhibit, Section

ABSENT = "–"
Style = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a sheet: its heading in two lines, alignment, and share of the line."""

    upper: str
    lower: str
    right: bool
    width: float | None

    @property
    def heading(self) -> str:
        """Both lines of the heading as one."""
        return f"{self.upper} {self.lower}".strip()


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows under their headings; ``headed`` is False when those of the sheet before hold.

    ``places`` has, for each text of ``body``, the (row, column) of the cell that stands
    there, or that would; None for what names the row.
    """

    columns: tuple[Column, ...]
    body: list[list[str]]
    headed: bool = True
    places: list[list[tuple[str, str] | None]] = field(default_factory=list)


def _columns(exhibit: Exhibit, names: Sequence[str], title: str, escape: Style) -> list[Column]:
    """Columns of one section: the row's name (if shown), and then ``names``."""
    rows = [*exhibit.stub.values(), *exhibit.remarks.values()]
    texts: dict[str, list[str]] = {}
    for column, text in (pair for row in rows for pair in row.items()):
        texts.setdefault(column, []).extend([text] if text else [])
    beside = {column: bool(own) and all(map(str.isdecimal, own)) for column, own in texts.items()}
    columns = [Column("", escape(title), right=False, width=None)] if exhibit.named else []
    for name in names:
        upper, lower = exhibit.heads.get(name, ("", name))
        right = beside.get(name, not exhibit.textual)
        width = exhibit.widths.get(name)
        columns.append(Column(escape(upper), escape(lower), right and width is None, width))
    return columns


def _sections(exhibit: Exhibit, frame: pd.DataFrame) -> Sequence[Section]:
    """The exhibit's sections, or all of it as one."""
    whole = Section(exhibit.row_title, {row: row for row in frame.index}, list(frame.columns))
    return exhibit.sections or [whole]


def sheets(exhibit: Exhibit, escape: Style, bold: Style) -> Iterator[Sheet]:
    """The exhibit's sections as printed text, each value escaped and bold where marked."""
    frame = exhibit.layout()
    frame = frame.set_index(frame.columns[0])
    before: Sequence[str] | None = None
    for section in _sections(exhibit, frame):
        body = []
        for row, printed in section.rows.items():
            texts = [escape(printed)] if exhibit.named else []
            absent = ABSENT if row in frame.index else ""
            for column in section.columns:
                text = frame[column].get(row) if column in frame else None
                shown = escape(text if isinstance(text, str) else absent)
                texts.append(bold(shown) if (row, column) in exhibit.bold else shown)
            body.append(texts)
        named: list[tuple[str, str] | None] = [None] if exhibit.named else []
        yield Sheet(
            tuple(_columns(exhibit, section.columns, section.title, escape)),
            body,
            headed=list(section.columns) != before,
            places=[
                [*named, *((row, column) for column in section.columns)] for row in section.rows
            ],
        )
        before = list(section.columns)
