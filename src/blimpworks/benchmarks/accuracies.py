"""Accuracies of people and released decisions, as tables that exhibits read beside models'."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL, wilson
from blimpworks.benchmarks.account import Account
from blimpworks.benchmarks.declaration import (
    Declaration,
    People,
    Perplexities,
    Released,
    declaration_in,
    read_declaration,
)
from blimpworks.benchmarks.entries import Files
from blimpworks.benchmarks.files import local_files
from blimpworks.benchmarks.grouping import grouping
from blimpworks.benchmarks.layouts import Naming, cell
from blimpworks.benchmarks.names import pattern_of
from blimpworks.benchmarks.readers import as_text
from blimpworks.benchmarks.rows import Row, is_one_of, rows_in, with_new_names
from blimpworks.benchmarks.tables import MODEL_PERPLEXITIES
from blimpworks.errors import UserError
from blimpworks.tables import ACCURACIES, write_frame, write_rows

HUMAN, RELEASED = "human", "released"
"""Name of people among models, and of the method of released decisions."""
SIDES = ("good", "bad")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How much of some judgements is right."""

    model: str
    lang: str
    phenomenon: str
    paradigm: str
    correct: float
    n: int = 1


@dataclass(frozen=True, slots=True)
class Source:
    """A benchmark's declaration, and the files that can be read."""

    benchmark: str
    declared: Declaration
    folder: Path
    named: Mapping[str, Path]
    naming: Naming

    @classmethod
    def read(cls, declaration: Path, files: Sequence[Path], sources: Path, name: str) -> "Source":
        """The declaration, with files below ``sources`` and those of its folder."""
        folder = declaration.parent
        named = {path.relative_to(sources).as_posix(): path for path in files}
        declared = read_declaration(declaration)
        naming = Naming(grouping(declared), tuple(declared.languages))
        return cls(name, declared, folder, local_files(folder) | named, naming)

    def rows(self, how: Files) -> Iterator[Row]:
        """Rows of the files of an entry."""
        entries = [
            (f"{key}.{number}", entry)
            for key in ("people", "released", "perplexities")
            for number, entry in enumerate(getattr(self.declared, key))
        ]
        key = next(key for key, entry in entries if entry.files == how.files)
        account = Account(f"{declaration_in(self.folder)}: key {key}")
        yield from rows_in(how, self.named, self.folder, account)

    def place(self, row: Row, how: People | Released) -> tuple[str, str, str]:
        """Language, phenomenon and paradigm of a row."""
        given = {name: getattr(how, name, None) for name in ("paradigm", "phenomenon", "lang")}
        only = self.naming.languages[0] if len(self.naming.languages) == 1 else ""
        said = {
            name: as_text(cell(row, column) if column else row.cells.get(name))
            for name, column in given.items()
        }
        phenomenon = said["phenomenon"]
        paradigm = said["paradigm"] or (ALL if phenomenon else PurePosixPath(row.file).stem)
        phenomenon = phenomenon or self.naming.phenomenon_of(paradigm) or paradigm
        return said["lang"] or only, phenomenon, paradigm


def _number(row: Row, column: str) -> float:
    value = as_text(cell(row, column)).strip()
    try:
        return float(value)
    except ValueError as error:
        raise UserError(
            f"{row.place}: column {column!r} is {value!r}; expected a number. Correct the file, or "
            "name another column."
        ) from error


def _choices(source: Source, how: People) -> Iterator[Outcome]:
    assert how.correct is not None
    for row in source.rows(how):
        right = is_one_of(cell(row, how.correct), how.right)
        yield Outcome(HUMAN, *source.place(row, how), float(right))


def _accuracies(source: Source, how: People) -> Iterator[Outcome]:
    """Printed accuracies; in percent where any is above 1."""
    assert how.accuracy is not None
    rows = [(row, _number(row, how.accuracy)) for row in source.rows(how)]
    whole = 100.0 if any(value > 1 for _, value in rows) else 1.0
    for row, value in rows:
        n = int(_number(row, how.n)) if how.n else 0
        yield Outcome(HUMAN, *source.place(row, how), value / whole * (n or 1), n)


@dataclass(frozen=True, slots=True)
class Rating:
    """What a person says of a sentence."""

    person: str
    place: tuple[str, str, str]
    side: str
    value: float


def _ratings_of(source: Source, how: People) -> Iterator[Rating]:
    how = with_new_names(how, source.folder)
    for row in source.rows(how):
        person = as_text(cell(row, how.person)) if how.person else row.place
        for each in _single_ratings(row, how):
            side = as_text(each.cells["side"]).strip()
            if side not in SIDES:
                raise UserError(
                    f"{row.place}: the side of a rating is {side!r}; expected good or bad. Map the "
                    "values with 'rename', or correct 'headings'."
                )
            yield Rating(person, source.place(each, how), side, _number(each, "rating"))


def _single_ratings(row: Row, how: People) -> Iterator[Row]:
    """Rows with one rating each, of a row that has one or one that has many."""
    if how.headings is None:
        assert how.side is not None
        assert how.rating is not None
        cells = {**row.cells, "side": cell(row, how.side), "rating": cell(row, how.rating)}
        yield replace(row, cells=cells)
        return
    pattern = pattern_of(how.headings)
    for heading, value in row.cells[""]:
        said = pattern.values(as_text(heading).strip())
        if said is not None and as_text(value).strip():
            for column, names in how.rename.items():
                if isinstance(names, Mapping) and column in said:
                    said[column] = names.get(said[column], said[column])
            yield replace(row, cells={**row.cells, **said, "rating": value})


def _ratings(source: Source, how: People) -> Iterator[Outcome]:
    """Of each person and paradigm the share of pairs whose good sentence has the higher rating.

    Every good sentence of the paradigm that the person rated makes a pair with every bad one,
    because lists seldom show both sentences of a pair to one person; equal ratings count half.
    """
    rows = pd.DataFrame([_as_row(each) for each in _ratings_of(source, how)])
    if rows.empty:
        raise UserError(
            f"{declaration_in(source.folder)}: no rating is in {', '.join(how.patterns)}; correct "
            f"'headings' ({how.headings!r}) and 'header_row', or 'side' and 'rating'."
        )
    keys = ["person", "lang", "phenomenon", "paradigm"]
    for key, group in rows.groupby(keys, sort=False):
        good, bad = (group["value"][group["side"] == side].to_numpy() for side in SIDES)
        if len(good) and len(bad):
            ahead = good[:, None] - bad[None, :]
            share = float((ahead > 0).mean() + 0.5 * (ahead == 0).mean())
            _, lang, phenomenon, paradigm = map(str, key)
            yield Outcome(HUMAN, lang, phenomenon, paradigm, share)


def _as_row(rating: Rating) -> dict[str, Any]:
    lang, phenomenon, paradigm = rating.place
    return {
        "person": rating.person,
        "lang": lang,
        "phenomenon": phenomenon,
        "paradigm": paradigm,
        "side": rating.side,
        "value": rating.value,
    }


KINDS = {"choices": _choices, "ratings": _ratings, "accuracies": _accuracies}


def _released(source: Source, how: Released) -> Iterator[Outcome]:
    for row in source.rows(how):
        right = is_one_of(cell(row, how.correct), how.right)
        yield Outcome(as_text(cell(row, how.model)), *source.place(row, how), float(right))


PLACE = ["model", "lang", "phenomenon", "paradigm"]


def _summary(outcomes: Iterator[Outcome], benchmark: str, method: str) -> pd.DataFrame:
    """Rows of an accuracies table: of each paradigm, each phenomenon, and all."""
    names = (*PLACE, "correct", "n")
    each = pd.DataFrame([[getattr(o, name) for name in names] for o in outcomes], columns=[*names])
    if each.empty:
        raise UserError(
            f"{benchmark}: the files of {'people' if method == HUMAN else method} have no rows; "
            "retrieve them again, or correct 'where' and 'files' of their entry."
        )
    each["printed"] = each["n"] == 0
    each["n"] = each["n"].clip(lower=1)
    wholes = [each, each.assign(paradigm=ALL), each.assign(paradigm=ALL, phenomenon=ALL)]
    # Where only phenomena are known, their rows are those of the whole already.
    wholes[1] = wholes[1][each["paradigm"] != ALL]
    rows = (
        pd.concat(wholes)
        .groupby(PLACE, sort=False, as_index=False)
        .agg(correct=("correct", "sum"), n=("n", "sum"), printed=("printed", "any"))
    )
    rows["accuracy"] = rows["correct"] / rows["n"]
    bounds = [wilson(c, n) for c, n in zip(rows["correct"], rows["n"], strict=True)]
    rows["low"], rows["high"] = [b[0] for b in bounds], [b[1] for b in bounds]
    # Nothing is known of how many judgements are behind a printed accuracy.
    rows.loc[rows["printed"], ["low", "high"]] = None
    more = {"skipped": 0, "ties": 0, "near_ties": 0, "rounding": None, "origin": None}
    return rows.assign(benchmark=benchmark, method=method, **more)


def read_people(
    declaration: Path, files: Sequence[Path], sources: Path, benchmark: str, output: Path
) -> int:
    """Write people's accuracies on a declared benchmark; return the number of rows.

    n counts choices, or of ratings persons; intervals are Wilson's. Raises UserError for
    malformed files.
    """
    source = Source.read(declaration, files, sources, benchmark)
    outcomes = (each for how in source.declared.people for each in KINDS[how.kind](source, how))
    frame = _summary(outcomes, benchmark, HUMAN)
    write_frame(frame, ACCURACIES, output)
    return len(frame)


def read_released(
    declaration: Path, files: Sequence[Path], sources: Path, benchmark: str, output: Path
) -> int:
    """Write the accuracies of released decisions; return the number of rows.

    Raises UserError for malformed files.
    """
    source = Source.read(declaration, files, sources, benchmark)
    outcomes = (each for how in source.declared.released for each in _released(source, how))
    frame = _summary(outcomes, benchmark, RELEASED)
    write_frame(frame, ACCURACIES, output)
    return len(frame)


def _perplexities(source: Source, how: Perplexities) -> Iterator[dict[str, Any]]:
    for row in source.rows(how):
        value = _number(row, how.perplexity)
        yield {"model": as_text(cell(row, how.model)), "perplexity": value}


def read_perplexities(declaration: Path, files: Sequence[Path], sources: Path, output: Path) -> int:
    """Write the perplexities that authors have released; return the number of rows.

    Raises UserError for malformed files.
    """
    source = Source.read(declaration, files, sources, "")
    rows = [row for how in source.declared.perplexities for row in _perplexities(source, how)]
    write_rows(rows, MODEL_PERPLEXITIES, output)
    return len(rows)
