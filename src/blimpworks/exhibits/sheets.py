"""Lay a table exhibit out as printed: headings and rows of text by section."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from blimpworks.exhibits.exhibit import Exhibit, Section

ABSENT = "–"
Style = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a sheet: two-line heading, alignment, and share of the line."""

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
    """Rows under their headings; ``headed`` is False when the headings before still hold.

    ``places`` has the (row, column) of the cell for each text of ``body``, None for names of rows.
    """

    columns: tuple[Column, ...]
    body: list[list[str]]
    headed: bool = True
    places: list[list[tuple[str, str] | None]] = field(default_factory=list)


def sheets(exhibit: Exhibit, escape: Style, bold: Style) -> Iterator[Sheet]:
    """Yield the exhibit's sections (or all of it as one) as escaped text, bold where marked."""
    frame = exhibit.layout()
    frame = frame.set_index(frame.columns[0])
    whole = Section(exhibit.row_title, {row: row for row in frame.index}, list(frame.columns))
    # What stands beside the cells is aligned as they are where it is numbers alone.
    texts: dict[str, list[str]] = {}
    for row_texts in (*exhibit.stub.values(), *exhibit.remarks.values()):
        for name, text in row_texts.items():
            texts.setdefault(name, []).extend([text] if text else [])
    numbers = {
        name: bool(beside) and all(map(str.isdecimal, beside)) for name, beside in texts.items()
    }
    before: Sequence[str] | None = None
    for section in exhibit.sections or [whole]:
        columns = []
        if exhibit.named:
            columns.append(Column("", escape(section.title), right=False, width=None))
        for name in section.columns:
            upper, lower = exhibit.heads.get(name, ("", name))
            width = exhibit.widths.get(name)
            right = width is None and numbers.get(name, not exhibit.textual)
            columns.append(Column(escape(upper), escape(lower), right, width))
        body: list[list[str]] = []
        places: list[list[tuple[str, str] | None]] = []
        for row, printed in section.rows.items():
            body.append([escape(printed)] if exhibit.named else [])
            places.append([None] if exhibit.named else [])
            absent = ABSENT if row in frame.index else ""
            for column in section.columns:
                value = frame[column].get(row) if column in frame else None
                shown = escape(value if isinstance(value, str) else absent)
                body[-1].append(bold(shown) if (row, column) in exhibit.bold else shown)
                places[-1].append((row, column))
        yield Sheet(tuple(columns), body, list(section.columns) != before, places)
        before = list(section.columns)
