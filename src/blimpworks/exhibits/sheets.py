"""The table model of exhibits: sheets of texts, which each format writes, and as data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from blimpworks.errors import reading
from blimpworks.exhibits.exhibit import Exhibit, Section

ABSENT = "–"


@dataclass(frozen=True, slots=True)
class Entry:
    """A place of a sheet; ``cell`` is the index of its cell, None for names, stub and remarks."""

    text: str
    cell: int | None = None
    bold: bool = False
    lang: str | None = None
    """Language (BCP 47) of a text."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a sheet: two-line heading, alignment, and share of the line."""

    upper: str
    lower: str
    right: bool = False
    width: float | None = None
    names: bool = False
    """It has the names of the rows."""

    @property
    def heading(self) -> str:
        return f"{self.upper} {self.lower}".strip()


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows under their headings; ``headed`` is False when the headings before still hold."""

    columns: tuple[Column, ...]
    body: list[list[Entry]]
    headed: bool = True


def sheets(exhibit: Exhibit) -> list[Sheet]:
    """Return the exhibit's sections, or all of it as one; none for a figure without numbers."""
    if exhibit.figure is not None and not exhibit.cells:
        return []
    frame = exhibit.layout()
    frame = frame.set_index(frame.columns[0])
    whole = Section(exhibit.row_title, {row: row for row in frame.index}, list(frame.columns))
    cells = {(cell.row, cell.column): index for index, cell in enumerate(exhibit.cells)}
    # What stands beside the cells is aligned as they are where it is numbers alone.
    texts: dict[str, list[str]] = {}
    for row_texts in (*exhibit.stub.values(), *exhibit.remarks.values()):
        for name, text in row_texts.items():
            texts.setdefault(name, []).extend([text] if text else [])
    numbers = {
        name: bool(beside) and all(map(str.isdecimal, beside)) for name, beside in texts.items()
    }
    made: list[Sheet] = []
    before: Sequence[str] | None = None
    for section in exhibit.sections or [whole]:
        columns = [Column("", section.title, names=True)] if exhibit.named else []
        for name in section.columns:
            upper, lower = exhibit.heads.get(name, ("", name))
            width = exhibit.widths.get(name)
            right = width is None and numbers.get(name, not exhibit.textual)
            columns.append(Column(upper, lower, right, width))
        body = []
        for row, printed in section.rows.items():
            entries = [Entry(printed)] if exhibit.named else []
            absent = ABSENT if row in frame.index else ""
            for name in section.columns:
                value = frame[name].get(row) if name in frame else None
                text, key = value if isinstance(value, str) else absent, (row, name)
                is_bold, lang = key in exhibit.bold, exhibit.written_in.get(key)
                entries.append(Entry(text, cells.get(key), is_bold, lang))
            body.append(entries)
        made.append(Sheet(tuple(columns), body, list(section.columns) != before))
        before = list(section.columns)
    return made


def in_notation(
    printed_sheets: Sequence[Sheet], escape: Callable[[str], str], bold: Callable[[str], str]
) -> list[Sheet]:
    """Return the sheets with escaped texts, in bold where marked."""

    def written(entry: Entry) -> Entry:
        text = escape(entry.text)
        return replace(entry, text=bold(text) if entry.bold else text)

    made = []
    for sheet in printed_sheets:
        heads = ((c, escape(c.upper), escape(c.lower)) for c in sheet.columns)
        columns = tuple(replace(c, upper=upper, lower=lower) for c, upper, lower in heads)
        body = [[*map(written, entries)] for entries in sheet.body]
        made.append(replace(sheet, columns=columns, body=body))
    return made


@dataclass(frozen=True, slots=True)
class Document:
    """A finished exhibit as data beside its table of cells: the content of its JSON file."""

    title: str
    caption: str
    sheets: list[Sheet]


DOCUMENT = TypeAdapter(Document)


def json_text(exhibit: Exhibit) -> str:
    """Return title, caption and sheets, whose entries count the cells of the cells' table."""
    document = Document(exhibit.title, exhibit.caption, sheets(exhibit))
    return DOCUMENT.dump_json(document, exclude_defaults=True).decode() + "\n"


def read_document(path: Path) -> Document:
    """Read an exhibit's JSON file. Raises UserError when it is missing or no such file."""
    with reading(path, "an exhibit as data", f"Build the exhibit: snakemake {path}"):
        return DOCUMENT.validate_json(path.read_bytes())
