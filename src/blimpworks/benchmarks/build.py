"""Tables of items from the files of a declared benchmark."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from blimpworks.benchmarks import designs, layouts
from blimpworks.benchmarks.declaration import Declaration, declaration_in, read_declaration
from blimpworks.benchmarks.designs import Design
from blimpworks.benchmarks.entries import Files
from blimpworks.benchmarks.files import (
    local_files,
    new_names_table,
    rows_of,
    tables_in,
)
from blimpworks.benchmarks.grouping import grouping
from blimpworks.benchmarks.layouts import Item, Naming
from blimpworks.benchmarks.names import columns_in
from blimpworks.errors import UserError, reading
from blimpworks.items import evenly, item_id
from blimpworks.tables import ITEMS, LABEL, write_table

log = logging.getLogger(__name__)

Named = Mapping[str, Path]
"""Files by their names: those of sources, and those in the benchmark's folder."""
Read = TypeVar("Read", bound=Files)
LAYOUTS: Mapping[str, Callable[..., Iterator[Any]]] = {
    "pairs": layouts.pairs,
    "choices": layouts.choices,
    "labelled_rows": layouts.labelled_rows,
    "sentences": layouts.sentences,
    "conditions": designs.conditions,
    "designs": designs.designs,
    "suites": designs.suites,
}


def with_new_names(how: Read, folder: Path) -> Read:
    """How files are read, with tables of new names in place of the names of these tables.

    Raises UserError for a table that is absent or malformed.
    """
    tables = {
        column: _new_names(new_names_table(folder, names)) if isinstance(names, str) else names
        for column, names in how.rename.items()
    }
    return how.model_copy(update={"rename": tables})


def _new_names(path: Path) -> dict[str, str]:
    with reading(path, "a table of old and new values", "Add it, or correct 'rename'."):
        lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    for number, cells in enumerate(lines, start=1):
        if len(cells) != 2:
            raise UserError(
                f"{path}:{number} has {len(cells)} cells; expected two, an old value and the new "
                "one, with a tab between them. Correct it."
            )
    return {cells[0]: cells[1] for cells in lines}


def files_of(how: Files, named: Named, folder: Path) -> Iterator[tuple[str, Path]]:
    """Names and paths of the files that patterns mean, those of the folder first.

    Raises UserError where there is none.
    """
    chosen = {
        name: path for name, path in named.items() if columns_in(how.patterns, name) is not None
    }
    if not chosen:
        raise UserError(
            f"{declaration_in(folder)}: 'files' {', '.join(map(repr, how.patterns))} fits no file "
            f"({', '.join([*named][:4]) or 'there is none'}{', …' if len(named) > 4 else ''}); "
            "correct the pattern, or add the files to sources.tsv or to the folder."
        )
    yield from sorted(chosen.items())


def rows_in(how: Files, named: Named, folder: Path, read: dict[str, str]) -> Iterator[Any]:
    """Rows of all files of an entry; ``read`` gets how each file is read, by its name."""
    how = with_new_names(how, folder)
    for name, path in files_of(how, named, folder):
        for table, said in tables_in(path, name, how):
            read[table.name] = table.reading
            yield from rows_of(table, said)


def read_items(
    declaration: Declaration, folder: Path, named: Named, read: dict[str, str]
) -> Iterator[Item | Design]:
    """All items of a benchmark, in the order of its declaration and files.

    ``read`` gets how each file is read, by its name. Raises UserError for what is malformed.
    """
    naming = Naming(grouping(declaration), tuple(declaration.languages))
    for data in declaration.data:
        yield from LAYOUTS[data.layout](rows_in(data, named, folder, read), data, naming)


def _columns(item: Item | Design) -> dict[str, Any]:
    """Columns that all items have."""
    return {
        "lang": item.lang,
        "phenomenon": item.phenomenon,
        "paradigm": item.paradigm,
        "treebank": None,
        "file": item.file,
        "sent_id": item.id,
        "line": item.line,
        **item.more,
    }


def _row(item: Item, benchmark: str, unit: str) -> dict[str, Any]:
    """The row of a pair, or of a sentence, which stands on both sides."""
    same = {"identical": item.good == item.bad} if unit == "pair" else {}
    return {
        "item_id": item_id(benchmark, item.paradigm, item.good, item.bad),
        "good": item.good,
        "bad": item.bad,
        **item.regions._asdict(),
        **same,
        **_columns(item),
    }


def _design_rows(item: Design, benchmark: str) -> Iterator[dict[str, Any]]:
    """A row for each condition, whose sentence stands on both sides."""
    key = item_id(benchmark, item.paradigm, item.file, item.id)
    for each in item.conditions:
        sentence = each.sentence
        whole = {
            "good_start": 0,
            "good_end": len(sentence),
            "bad_start": 0,
            "bad_end": len(sentence),
        }
        starts, ends = zip(*each.placed(), strict=True)
        yield {
            "item_id": item_id(key, each.name),
            "good": sentence,
            "bad": sentence,
            **whole,
            **_columns(item),
            "item": key,
            "condition": each.name,
            "regions": [*each.regions],
            "region_starts": [*starts],
            "region_ends": [*ends],
            "predictions": [*item.predictions],
        }


def _sampled(items: Sequence[Item | Design], most: int | None) -> Iterator[Item | Design]:
    """At most so many items of each paradigm, evenly from all of it."""
    groups: dict[tuple[str, str], list[Item | Design]] = {}
    for item in items:
        groups.setdefault((item.phenomenon, item.paradigm), []).append(item)
    for group in groups.values():
        yield from evenly(group, most)


def check_number(declaration: Declaration, lang: str, count: int, folder: Path) -> None:
    """See that a language has the declared number of items, at least one. Raises UserError else."""
    expected = declaration.expected(lang)
    path = declaration_in(folder)
    if count == 0:
        raise UserError(f"{path}: the files have no item of language {lang!r}; correct 'lang'.")
    if expected is not None and count != expected:
        raise UserError(
            f"{path}: the files have {count:,} items of {lang!r}, and 'items' says {expected:,}; "
            "retrieve the files again, or correct 'items'."
        )


def _write(rows: Iterable[Mapping[str, Any]], output: Path) -> None:
    """Write rows with columns beyond the schema; lists and integers keep their types."""
    every = [*rows]
    columns = dict.fromkeys(name for row in every for name in row)
    known = dict(ITEMS.columns)
    arrays = {
        name: pa.array([row.get(name) for row in every], known.get(name) or EXTRA.get(name))
        for name in columns
    }
    write_table(pa.table(arrays), ITEMS, output)


EXTRA: Mapping[str, pa.DataType] = {
    "line": pa.int32(),
    "condition": LABEL,
    "regions": pa.list_(pa.string()),
    "region_starts": pa.list_(pa.int32()),
    "region_ends": pa.list_(pa.int32()),
    "predictions": pa.list_(pa.string()),
}


def build_items(
    declaration: Path,
    files: Sequence[Path],
    sources: Path,
    benchmark: str,
    lang: str,
    output: Path,
    most: int | None = None,
) -> dict[str, Any]:
    """Write a declared benchmark's items of a language; return facts for the record.

    ``files`` are those below the directory ``sources``, whose names are their paths there; files
    in the declaration's folder are read too. ``most``: at most so many of each paradigm, evenly
    from all of it. A pair that is twice the same sentence is kept. Items are pairs, single
    sentences (column ``acceptable``), or several conditions, a row each.

    Raises UserError for a malformed declaration or file, with the line, and where the number of
    items is not the declared one.
    """
    folder = declaration.parent
    declared = read_declaration(declaration)
    named = local_files(folder) | {path.relative_to(sources).as_posix(): path for path in files}
    read: dict[str, str] = {}
    items = [item for item in read_items(declared, folder, named, read) if item.lang == lang]
    check_number(declared, lang, len(items), folder)
    chosen = [*_sampled(items, most)]
    rows: list[dict[str, Any]] = []
    for item in chosen:
        if isinstance(item, Item):
            rows.append(_row(item, benchmark, declared.unit))
        else:
            rows += _design_rows(item, benchmark)
    _write(rows, output)
    same = sum(row.get("identical", False) for row in rows)
    if same:
        log.warning("%s: %d of %d pairs are twice the same sentence", output, same, len(rows))
    repeated = sum(count - 1 for count in Counter(row["item_id"] for row in rows).values())
    if repeated:
        log.warning("%s: %d of %d rows stand there a second time", output, repeated, len(rows))
    return {"items": len(chosen), "identical": same, "repeated": repeated, "files": read}
