"""Rows of all files of an entry, with what names of files and the declaration add to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from blimpworks.benchmarks.account import Account
from blimpworks.benchmarks.entries import Files
from blimpworks.benchmarks.files import new_names_table, tables_in
from blimpworks.benchmarks.names import columns_in
from blimpworks.benchmarks.readers import as_text
from blimpworks.errors import UserError, reading

Named = Mapping[str, Path]
"""Files by their names: those of sources, and those in the benchmark's folder."""
Read = TypeVar("Read", bound=Files)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file: its cells by column, and where it stands."""

    cells: Mapping[str, Any]
    file: str
    """Name of the file; of one inside an archive ARCHIVE/MEMBER."""
    line: int
    """Line, row or record, from 1."""
    account: Account
    """Account of the entry that reads the row."""

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.file}:{self.line}"


def is_one_of(value: object, among: object) -> bool:
    """Whether a cell is one of some values, or the only one, whatever their types and case."""
    several = among if isinstance(among, tuple | list) else (among,)
    return as_text(value).strip().casefold() in {as_text(each).casefold() for each in several}


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
        text = path.read_text(encoding="utf-8")
    names: dict[str, str] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        cells = line.removesuffix("\r").split("\t")
        if len(cells) != 2 or cells[0] in names:
            found = f"has {len(cells)} cells" if len(cells) != 2 else f"has {cells[0]!r} again"
            raise UserError(
                f"{path}:{number} {found}; expected two, an old value and the new one, with a tab "
                "between them, and each old value once. Correct it."
            )
        names[cells[0]] = cells[1]
    return names


def files_of(how: Files, named: Named, account: Account) -> list[tuple[str, Path]]:
    """Names and paths of the files that patterns mean, by name.

    Raises UserError for a pattern that fits none.
    """
    for pattern in how.patterns:
        if not any(columns_in([pattern], name) is not None for name in named):
            raise UserError(
                f"{account.entry}: 'files' {pattern!r} fits no file "
                f"({', '.join([*named][:4]) or 'there is none'}{', …' if len(named) > 4 else ''}); "
                "correct the pattern, or add the files to sources.tsv or to the folder."
            )
    return sorted((n, path) for n, path in named.items() if columns_in(how.patterns, n) is not None)


def rows_in(how: Files, named: Named, folder: Path, account: Account) -> list[Row]:
    """Rows of all files of an entry, counted in its account.

    Columns of the name and constants are added first, then values are renamed, and last the rows
    left out that ``where`` does not name. Raises UserError for malformed rows, for a column or
    value of ``where`` and ``rename`` that no row has, and where no row is left.
    """
    declared, how = how, with_new_names(how, folder)
    values: dict[str, set[str]] = {
        f"{key}.{column}": set() for key in ("where", "rename") for column in getattr(how, key)
    }
    rows: list[Row] = []
    for name, path in files_of(how, named, account):
        for table, in_name in tables_in(path, name, how):
            account.files[table.name] = table.reading
            added = {**in_name, **how.constants}
            for line, content in table.rows(account):
                account.rows += 1
                if twice := added.keys() & content.keys():
                    raise UserError(
                        f"{table.name}:{line}: column {min(twice)!r} stands in the file, and in "
                        "the name of the file or the constants too; rename the one in 'files' or "
                        "'constants'."
                    )
                cells = {**content, **added}
                for column, names in how.rename.items():
                    if column in cells and isinstance(names, Mapping):
                        old = as_text(cells[column])
                        values[f"rename.{column}"].add(old)
                        cells[column] = names.get(old, cells[column])
                for column in how.where.keys() & cells.keys():
                    values[f"where.{column}"].add(as_text(cells[column]).strip())
                keys = [k for k, among in how.where.items() if not is_one_of(cells.get(k), among)]
                if keys:
                    account.left_out[f"where.{keys[0]}"] += 1
                else:
                    rows.append(Row(cells, table.name, line, account))
    account.check_faults()
    _check_entry(declared, how, account, values)
    if not rows:
        raise UserError(
            f"{account.entry}: no row of {len(account.files)} files is left; correct 'where' and "
            "'skip_lines'."
        )
    return rows


def _check_entry(
    declared: Files, how: Files, account: Account, values: Mapping[str, set[str]]
) -> None:
    """Raise UserError for a column, value or file of an entry that nothing has."""
    expected = {f"where.{column}": among for column, among in how.where.items()}
    # Headings of ratings are renamed where they are read.
    if not getattr(how, "headings", None):
        expected |= {f"rename.{column}": (*names,) for column, names in how.rename.items()}
    for key, among in expected.items():
        names = {as_text(name) for name in (among if isinstance(among, tuple) else (among,))}
        # Values of where are compared whatever their case.
        fold = str.casefold if key.startswith("where.") else str
        seen = {fold(value): value for value in values[key]}
        unused = {name for name in names if fold(name) not in seen}
        is_table = key.startswith("rename.") and isinstance(declared.rename[key[7:]], str)
        if is_table and unused < names:
            if unused:  # One table serves several entries.
                account.notes[f"values in the table of {key} that no row has"] += len(unused)
        elif unused:
            listed = ", ".join(map(repr, sorted(seen.values())[:6]))
            found = f"values of rows are {listed}" if seen else "no row has such a column"
            raise UserError(
                f"{account.entry}: '{key}' names {min(unused)!r}, which no row has ({found}); "
                "correct it."
            )
    absent = {*how.skip_lines} - {"reason", *account.files}
    if absent:
        raise UserError(
            f"{account.entry}: 'skip_lines' names {min(absent)!r}, which is none of the files that "
            f"are read ({', '.join([*account.files][:4])}); correct it."
        )
