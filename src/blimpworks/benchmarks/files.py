"""Find a benchmark's files by patterns of their names; read, change and join their rows.

Begin with ``rows_in``, which does all of this for an entry of a declaration. With the pattern
``{paradigm}/{lang}.csv``, rows of the file ``case/deu.csv`` have the columns of its headings, and
``paradigm: case`` and ``lang: deu``. Files may be compressed, or members of archives.
"""

import bz2
import csv
import gzip
import io
import lzma
import re
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from blimpworks import errors
from blimpworks.benchmarks.account import BLANK, Account
from blimpworks.benchmarks.declaration import declaration_in
from blimpworks.benchmarks.entries import Files, Lookup, PlainFiles
from blimpworks.benchmarks.readers import Table, as_text, is_wide
from blimpworks.benchmarks.templates import Row, cell, comparable, is_one_of
from blimpworks.errors import UserError, reading
from blimpworks.files import BadLine, below, relative, table_rows

COMPRESSED: Mapping[str, Callable[[bytes], bytes]] = {
    ".xz": lzma.decompress,
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
}
ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")
Named = Mapping[str, Path]
"""Paths of the benchmark's sources and of the files in its folder, by name."""
FileRows = tuple[Mapping[str, str], Sequence[Row]]
"""Columns from a file's name, such as ``{"paradigm": "case"}``, and the file's rows."""
AnyFiles = TypeVar("AnyFiles", bound=PlainFiles)
LONGEST_PATTERN = 500
BROKEN = (
    *(OSError, ValueError, RuntimeError, struct.error, tarfile.TarError, zipfile.BadZipFile),
    KeyError,  # a link in a tar archive to a file that is not there
    *errors.BROKEN,
)
"""Errors that the libraries raise for damaged archives and compressed files."""


def local_files(folder: Path) -> dict[str, Path]:
    """Return a folder's visible files by relative name. UserError for a link to outside."""
    visible = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not _is_hidden(name):
            if path.is_symlink():
                below(folder, name, f"{folder}: a file")
            visible[name] = path
    return visible


def rename_table_path(folder: Path, name: str) -> Path:
    """Return the path of a table of ``rename``. Raises UserError for a path outside the folder."""
    return below(folder, name, f"{declaration_in(folder)}: a table of 'rename'")


def plain_name(name: str) -> str:
    """Return a file's name without a suffix of compression, such as .gz."""
    path = PurePosixPath(name)
    return str(path.with_suffix("")) if path.suffix in COMPRESSED else name


def _members(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file in an archive, sorted by name."""
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in sorted(archive.namelist()):
                if not entry.endswith("/"):
                    yield entry, archive.read(entry)
        return
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            # A link is read as the file that it leads to.
            if file := archive.extractfile(member):
                yield member.name, file.read()


def _is_hidden(name: str) -> bool:
    return any(piece.startswith(".") and piece not in (".", "..") for piece in name.split("/"))


def _uncompressed(name: str, content: bytes) -> bytes:
    return COMPRESSED.get(PurePosixPath(name).suffix, bytes)(content)


def tables_in(path: Path, name: str, entry: PlainFiles) -> Iterator[tuple[Table, dict[str, str]]]:
    """Yield a file, or the members of an archive, each with the columns that its name contains.

    With ``files: {paradigm}.zip`` and ``members: {lang}.csv``, the member ``eng.csv`` of
    ``case.zip`` has the columns ``{"paradigm": "case", "lang": "eng"}``. Raises UserError for a
    broken file, and an archive without a fitting member, or with one that leads out of it.
    """
    columns = columns_in(entry.patterns, name) or {}
    try:
        content = path.read_bytes()
        if not name.endswith(ARCHIVES):
            yield Table(plain_name(name), _uncompressed(name, content), entry), columns
            return
        members = [pair for pair in _members(name, content) if not _is_hidden(pair[0])]
        fitting = []
        for member, data in members:
            try:
                relative(member)
            except ValueError as error:
                raise UserError(f"{name}: member {member!r:.80}: {error}; repack it.") from error
            captures = columns_in([entry.members], member) if entry.members else {}
            if captures is not None:
                fitting.append((member, data, captures))
        if not fitting:
            names = [member for member, _ in members]
            raise UserError(
                f"{name} has no member that 'members' ({entry.members!r}) fits; it has "
                f"{', '.join(names[:4]) or 'none'}{', …' if len(names) > 4 else ''}. Correct it."
            )
        for member, data, captures in fitting:
            content = _uncompressed(member, data)
            yield Table(plain_name(f"{name}/{member}"), content, entry), {**columns, **captures}
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; retrieve it, or correct 'files'.") from error
    except BROKEN as error:
        raise UserError(
            f"{path} cannot be unpacked ({error}); expected a complete "
            f"{PurePosixPath(name).suffix} file. Retrieve it again."
        ) from error


@cache
def _compiled(pattern: str) -> tuple[list[str], list[Any]]:
    r"""Return a pattern's columns, and two regular expressions for it: greedy and lazy.

    ``*_{lang}`` has the column lang, and the expressions ``[^/]*_([^/]+)``, ``[^/]*?_([^/]+?)``.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise UserError(
            f"the pattern of names {pattern[:40]!r}… has {len(pattern)} characters; expected at "
            f"most {LONGEST_PATTERN}. Make it shorter."
        )
    # re2 matches in linear time. Some environments that list the benchmarks lack it.
    import re2

    columns = re.findall(r"\{(\w+)\}", pattern)
    expressions = []
    for lazy in ("", "?"):
        expression = ""
        for piece in re.split(r"(\*|\{\w+\})", pattern):
            if piece == "*":
                expression += f"[^/]*{lazy}"
            elif re.fullmatch(r"\{\w+\}", piece):
                expression += f"([^/]+{lazy})"
            else:
                expression += re2.escape(piece)
        expressions.append(re2.compile(expression))
    return columns, expressions


def columns_in(patterns: Sequence[str], name: str) -> dict[str, str] | None:
    """Match a name with patterns; return the text of each column, or None if no pattern fits.

    ``*`` and ``{column}`` match text without a slash. The first pattern that fits is used. Columns
    take as much text as they can. If a column then has two texts, as ``{x}`` in ``{x}/{x}_*.csv``
    may, columns take as little as they can. Raises UserError for a pattern that is too long.
    """
    for pattern in patterns:
        columns, expressions = _compiled(pattern)
        for expression in expressions:
            match = expression.fullmatch(name)
            if match is None:
                break
            pairs = [*zip(columns, match.groups(), strict=True)]
            texts = dict(pairs)
            if all(texts[column] == text for column, text in pairs):
                return texts
    return None


def with_rename_tables(entry: AnyFiles, folder: Path) -> AnyFiles:
    """Replace names of tables in ``rename`` by their contents. UserError for a malformed table."""
    tables = dict(entry.rename)
    for column, table in entry.rename.items():
        if not isinstance(table, str):
            continue
        path = rename_table_path(folder, table)
        with reading(path, "a table of old and new values", "Add it, or correct 'rename'."):
            text = path.read_text(encoding="utf-8-sig")
        names: dict[str, str] = {}
        for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
            cells = line.removesuffix("\r").split("\t")
            if len(cells) != 2 or cells[0] in names:
                fault = f"has {len(cells)} cells" if len(cells) != 2 else f"has {cells[0]!r} again"
                raise UserError(
                    f"{path}:{number} {fault}; expected two, an old value and the new one, with a "
                    "tab between them, and each old value once. Correct it."
                )
            names[cells[0]] = cells[1]
        tables[column] = names
    return entry.model_copy(update={"rename": tables})


def rows_in(entry: Files, named: Named, folder: Path, account: Account) -> list[Row]:
    """Read the rows of an entry's files, and count them in its account.

    The steps are: add columns of file names and constants, rename and split values, join aligned
    files, apply ``where``, add columns of lookup tables. Raises UserError for malformed rows, an
    unused column or value of ``where`` and ``rename``, and if no row is left.
    """
    account.words_from, account.allow_empty = entry.words_from, entry.allow_empty
    tables = _read_tables(entry, named, folder, account)
    aligned = []
    for number, files in enumerate(entry.aligned):
        aligned_account = Account(f"{account.entry}.aligned.{number}")
        aligned.append((files, _read_tables(files, named, folder, aligned_account)))
        account.files |= aligned_account.files
        for note, n in aligned_account.notes.items():
            account.notes[f"aligned.{number}: {note}"] += n
        if account.notes[BLANK] or aligned_account.notes[BLANK]:
            raise UserError(
                f"{account.entry}: a file has blank lines, so rows of aligned files may not be the "
                "same; take the lines out, or name them in 'skip_lines'."
            )
    rows: list[Row] = []
    labels = ("lang", "paradigm", "phenomenon")
    label_columns = {getattr(entry, label, None) or label for label in labels}
    texts: dict[str, set[str]] = {column: set() for column in entry.where}  # in all rows
    for row in _join_aligned(tables, aligned):
        unmet = []
        for column, where_values in entry.where.items():
            if column in row.cells:
                texts[column].add(as_text(row.cells[column]).strip())
            if not is_one_of(row.cells.get(column), where_values):
                unmet.append(column)
        if unmet:
            account.left_out[f"where.{unmet[0]}"] += 1
            # ``labelled_rows`` checks whether a row that is left out was half of a pair. Rows of
            # another language, paradigm or phenomenon cannot be in a pair with the rows read.
            if not label_columns & {*unmet}:
                account.left_out_lines.setdefault(row.file, []).append(row.line)
        else:
            rows.append(row)
    for column, where_values in entry.where.items():
        expected = where_values if isinstance(where_values, tuple) else (where_values,)
        _check_values(account, f"where.{column}", [*map(as_text, expected)], texts[column])
    if not rows:
        raise UserError(
            f"{account.entry}: no row of {len(account.files)} files is left; correct 'where' and "
            "'skip_lines'."
        )
    for lookup in entry.lookup:
        rows = [*_with_lookup(rows, lookup, entry, folder)]
    return rows


def _read_tables(entry: PlainFiles, named: Named, folder: Path, account: Account) -> list[FileRows]:
    """Read the rows of an entry's files; add columns, rename and split values."""
    new_values = with_rename_tables(entry, folder).rename  # {column: {old value: new value}}
    old_values: dict[str, set[str]] = {column: set() for column in new_values}  # in the files
    text_counts: dict[str, int] = {}  # number of texts in rows before, by column of ``split``
    tables: list[FileRows] = []
    for pattern in entry.patterns:
        if not any(columns_in([pattern], name) is not None for name in named):
            raise UserError(
                f"{account.entry}: 'files' {pattern!r} fits no file "
                f"({', '.join([*named][:4]) or 'there is none'}{', …' if len(named) > 4 else ''}); "
                "correct the pattern, or add the files to sources.tsv or to the folder."
            )
    fitting = {name for name in named if columns_in(entry.patterns, name) is not None}
    for name in sorted(fitting):
        for table, name_columns in tables_in(named[name], name, entry):
            if table.name in account.files:
                raise UserError(
                    f"{account.entry}: {table.name} is read twice, from {name} the second time; "
                    "take one of the two away, or name one in 'files'."
                )
            account.files[table.name] = table.reading
            added = {**name_columns, **entry.constants}
            twice_added = name_columns.keys() & entry.constants.keys()
            rows = []
            for line, content in table.rows(account):
                account.rows += 1
                if repeated := (added.keys() & content.keys()) | twice_added:
                    raise UserError(
                        f"{table.name}:{line}: column {min(repeated)!r} is in several of the "
                        "file, its name and the constants; rename one in 'files' or 'constants'."
                    )
                cells = {**content, **added}
                for column, new_by_old in new_values.items():
                    if column in cells and isinstance(new_by_old, Mapping):
                        old = as_text(cells[column]).strip()
                        old_values[column].add(old)
                        cells[column] = new_by_old.get(old, cells[column])
                row = Row(cells, table.name, line, account)
                texts = _split_texts(row, entry.split, text_counts)
                rows.append(replace(row, cells=cells | texts))
            tables.append((name_columns, rows))
    account.check_faults()
    # Values inside headings of ratings are renamed only when the ratings are read.
    for column, new_by_old in () if is_wide(entry) else new_values.items():
        unused = len({*new_by_old} - old_values[column])
        is_table = isinstance(entry.rename[column], str)
        if is_table and 0 < unused < len(new_by_old):
            # Several entries may share a table, of which each needs only some lines.
            account.notes[f"values in the table of rename.{column} that no row has"] += unused
            continue
        _check_values(account, f"rename.{column}", [*new_by_old], old_values[column], fold=False)
    # Besides names of files, ``skip_lines`` has the key "reason".
    if absent := {*entry.skip_lines} - {"reason", *account.files}:
        raise UserError(
            f"{account.entry}: 'skip_lines' names {min(absent)!r}, which is none of the files that "
            f"are read ({', '.join([*account.files][:4])}); correct it."
        )
    return tables


def _split_texts(row: Row, separators: Mapping[str, str], counts: dict[str, int]) -> dict[str, str]:
    """Return the texts of split cells: ``{"x.0": "a", "x.1": "b"}`` for "a|b" in the column x.

    ``counts`` has the number of texts of each column in rows before. Raises UserError if a
    cell has another number of texts, or no separator.
    """
    added: dict[str, str] = {}
    for column, separator in separators.items():
        # The column may be a result of the split before, such as sentences.0.
        value = added.get(column, row.cells.get(column))
        if not isinstance(value, str) or separator not in value:
            raise UserError(
                f"{row.location}: column {column!r} is {value!r:.60}; expected text with "
                f"{separator!r} in it. Correct the file, or 'split'."
            )
        texts = value.split(separator)
        if counts.setdefault(column, len(texts)) != len(texts):
            raise UserError(
                f"{row.location}: column {column!r} has {len(texts)} texts, divided by "
                f"{separator!r}, and rows before have {counts[column]}; correct the file."
            )
        added |= {f"{column}.{number}": text for number, text in enumerate(texts)}
    return added


def _check_values(
    account: Account, key: str, expected: Sequence[str], values: set[str], *, fold: bool = True
) -> None:
    """Raise UserError for an expected value that is not in ``values``; ``fold`` ignores case."""
    seen = {*map(comparable, values)} if fold else values
    for value in expected:
        if (comparable(value) if fold else value) not in seen:
            listed = ", ".join(map(repr, sorted(values)[:6]))
            cause = f"values of rows are {listed}" if values else "no row has such a column"
            raise UserError(
                f"{account.entry}: '{key}' names {value!r}, which no row has ({cause}); correct it."
            )


def _join_aligned(
    tables: Iterable[FileRows], aligned: Sequence[tuple[PlainFiles, Sequence[FileRows]]]
) -> Iterator[Row]:
    """Join rows of files with those of aligned files. UserError if their numbers differ."""
    used: set[str] = set()  # names of aligned files
    for name_columns, rows in tables:
        joined = rows
        for entry, files in aligned:
            # The file sentences_eng.csv belongs to labels_eng.csv: ``{lang}`` is eng in both names.
            fitting = []
            for columns, aligned_rows in files:
                common_columns = columns.keys() & name_columns.keys()
                if all(columns[name] == name_columns[name] for name in common_columns):
                    fitting.append(aligned_rows)
            if len(fitting) != 1:
                raise UserError(
                    f"{joined[0].file}: {len(fitting)} files of 'aligned' "
                    f"{', '.join(map(repr, entry.patterns))} belong to it; expected one. A column "
                    "in braces that both patterns have must have the same text in both names."
                )
            (partners,) = fitting
            used.add(partners[0].file)
            if len(joined) != len(partners):
                raise UserError(
                    f"{joined[0].file} has {len(joined):,} rows, and the aligned file "
                    f"{partners[0].file} has {len(partners):,}; expected as many. Retrieve both "
                    "again, or correct 'aligned'."
                )
            pairs = zip(joined, partners, strict=True)
            joined = []
            for row, partner in pairs:
                if repeated := (row.cells.keys() & partner.cells.keys()) - name_columns.keys():
                    raise UserError(
                        f"{partner.location}: column {min(repeated)!r} is in {row.file} too; "
                        "rename it in one of the files."
                    )
                joined.append(replace(row, cells={**partner.cells, **row.cells}))
        yield from joined
    for _, files in aligned:
        for _, rows in files:
            if rows[0].file not in used:
                raise UserError(
                    f"{rows[0].file} is 'aligned', and belongs to no file of the entry; correct "
                    "one of the patterns."
                )


def _with_lookup(rows: Iterable[Row], lookup: Lookup, entry: Files, folder: Path) -> Iterator[Row]:
    """Add a table's columns; unless ``partial``, UserError for a row or line without match."""

    def key_text(key: Sequence[str]) -> str:
        return ", ".join(f"{name} {value!r}" for name, value in zip(lookup.by, key, strict=True))

    path = below(folder, lookup.table, f"{declaration_in(folder)}: a table of 'lookup'")
    # {cells of the columns ``by``: (line, other cells by column)}
    table: dict[tuple[str, ...], tuple[int, Mapping[str, str]]] = {}
    with reading(path, "a tab-separated table with headings", "Add it, or correct 'lookup'."):
        dialect = {} if path.suffix == ".csv" else {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
        for line, cells in table_rows(path, lookup.by, **dialect):
            key = tuple(cells.pop(name).strip() for name in lookup.by)
            if key in table and not lookup.partial:
                raise BadLine(line, f"{key_text(key)} is in line {table[key][0]} already")
            table.setdefault(key, (line, cells))
            empty_cells = dict.fromkeys(cells, "")  # all lines have the same columns
    used: set[tuple[str, ...]] = set()
    for row in rows:
        key = tuple(as_text(cell(row, name)).strip() for name in lookup.by)
        if key not in table and not lookup.partial:
            raise UserError(
                f"{row.location}: {path} has no row for {key_text(key)}; add it, or leave such "
                "rows out with 'where'."
            )
        used.add(key)
        _, added = table.get(key, (0, empty_cells))
        if repeated := added.keys() & row.cells.keys():
            raise UserError(f"{path}: column {min(repeated)!r} is in {row.file} too; rename it.")
        yield replace(row, cells={**row.cells, **added})
    for key, (line, _) in table.items():
        if key not in used and not lookup.partial:
            raise UserError(
                f"{path}:{line}: no row of {', '.join(entry.patterns)} has {key_text(key)}; "
                "correct the line, or take it out."
            )
