"""Accuracies of people and released decisions, as tables that exhibits read beside models'."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL, wilson
from blimpworks.benchmarks.account import Account
from blimpworks.benchmarks.declaration import (
    Declaration,
    People,
    Released,
    declaration_in,
    grouping,
    read_declaration,
)
from blimpworks.benchmarks.entries import Files, Values
from blimpworks.benchmarks.files import local_files
from blimpworks.benchmarks.layouts import Naming, not_empty, number
from blimpworks.benchmarks.names import pattern_of
from blimpworks.benchmarks.readers import as_text
from blimpworks.benchmarks.rows import rows_in, with_new_names
from blimpworks.benchmarks.tables import MODEL_PERPLEXITIES
from blimpworks.benchmarks.templates import Row, cell, is_one_of
from blimpworks.errors import UserError
from blimpworks.tables import ACCURACIES, ITEMS, read_table, write_frame, write_rows

log = logging.getLogger(__name__)

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
    """Judgements; 0 where it is not known how many there are."""
    skipped: int = 0
    """Cells without a judgement."""


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
        key = next(key for key, entry in entries if entry is how)
        account = Account(f"{declaration_in(self.folder)}: key {key}")
        yield from rows_in(how, self.named, self.folder, account)
        for note in (account.left_out, account.notes):
            if note:
                log.info("%s: %s", account.entry, dict(note))

    def place(self, row: Row, how: People | Released) -> tuple[str, str, str]:
        """Language, phenomenon (empty where the row is silent) and paradigm of a row."""
        given = {name: getattr(how, name, None) for name in ("paradigm", "phenomenon", "lang")}
        only = self.naming.languages[0] if len(self.naming.languages) == 1 else ""
        said = {
            name: as_text(cell(row, column) if column else row.cells.get(name))
            for name, column in given.items()
        }
        phenomenon = said["phenomenon"]
        paradigm = said["paradigm"] or (ALL if phenomenon else PurePosixPath(row.file).stem)
        return said["lang"] or only, phenomenon, paradigm


def _choices(source: Source, how: People) -> Iterator[Outcome]:
    """Whether each choice is right; an empty cell is none."""
    rows = [*source.rows(how)]
    answers = {as_text(cell(row, how.answer)).strip() for row in rows} if how.answer else set()
    chosen = False
    for row in rows:
        place = source.place(row, how)
        right = (as_text(cell(row, how.answer)).strip(),) if how.answer else how.right
        for heading, value in _chosen(row, how):
            chosen, text = True, as_text(value).strip()
            if text and answers and not is_one_of(text, (*answers,)):
                raise UserError(
                    f"{row.place}: column {heading!r} is {value!r:.60}, which column "
                    f"{how.answer!r} never is ({', '.join(sorted(answers)[:5])}); map it with "
                    "'rename', or correct the file."
                )
            counts = (1, 0) if text else (0, 1)
            is_right = bool(text) and _is_right(row, heading, value, right)
            yield Outcome(HUMAN, *place, float(is_right), *counts)
    if rows and not chosen:
        raise UserError(
            f"{declaration_in(source.folder)}: no heading of {', '.join(how.patterns)} fits "
            f"'headings' ({how.headings!r}); correct it."
        )


def _is_right(row: Row, column: str, value: object, right: Values) -> bool:
    """Whether a judgement is right. Raises UserError for what stands where one is missing."""
    if as_text(value).strip().casefold() in ("", "na", "n/a", "nan", "null", "none"):
        raise UserError(
            f"{row.place}: column {column!r} is {value!r}, which is no judgement; leave such rows "
            "out with 'where', or map the value with 'rename'."
        )
    return is_one_of(value, right)


def _check_any_right(outcomes: Sequence[Outcome], how: People | Released, column: str) -> None:
    if outcomes and not any(each.correct for each in outcomes):
        raise UserError(
            f"{', '.join(how.patterns)}: no value of {column!r} is one of 'right' "
            f"({', '.join(map(repr, how.right))}); name there what says that one is right."
        )


def _chosen(row: Row, how: People) -> Iterator[tuple[str, Any]]:
    """Headings and cells with a choice, of a row that has one or one for each person."""
    if how.headings is None:
        assert how.correct is not None
        yield how.correct, cell(row, how.correct)
        return
    pattern = pattern_of(how.headings)
    yield from ((name, value) for name, value in row.cells.items() if pattern.values(name))


def _accuracies(source: Source, how: People) -> Iterator[Outcome]:
    """Printed accuracies; in percent where any is above 1."""
    assert how.accuracy is not None
    rows = [(row, number(row, how.accuracy)) for row in source.rows(how)]
    whole = 100.0 if any(value > 1 for _, value in rows) else 1.0
    for row, value in rows:
        n = int(number(row, how.n)) if how.n else 0
        if not 0 <= value <= whole or n < 0:
            raise UserError(
                f"{row.place}: the accuracy is {value:g} of {n} judgements; expected one from 0 to "
                f"1, or in percent, and no negative number. Correct the file, or {how.accuracy!r}."
            )
        yield Outcome(HUMAN, *source.place(row, how), value / whole * (n or 1), n)


def _ratings_of(source: Source, how: People) -> Iterator[dict[str, Any]]:
    """What each person says of each sentence."""
    rows = source.rows(how)
    how = with_new_names(how, source.folder)  # for headings, which rows have as they stand
    for row in rows:
        person = as_text(cell(row, how.person)) if how.person else row.place
        for each in _single_ratings(row, how):
            side = as_text(each.cells["side"]).strip()
            if side not in SIDES:
                raise UserError(
                    f"{row.place}: the side of a rating is {side!r}; expected good or bad. Map the "
                    "values with 'rename', or correct 'headings'."
                )
            lang, phenomenon, paradigm = source.place(each, how)
            yield {
                "person": person,
                "lang": lang,
                "phenomenon": phenomenon,
                "paradigm": paradigm,
                "side": side,
                "value": number(each, "rating"),
            }


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
    """Share of pairs, of each person and paradigm, whose good sentence has the higher rating."""
    rows = pd.DataFrame(_ratings_of(source, how))
    if rows.empty:
        raise UserError(
            f"{declaration_in(source.folder)}: no rating is in {', '.join(how.patterns)}; correct "
            f"'headings' ({how.headings!r}) and 'header_row', or 'side' and 'rating'."
        )
    keys = ["person", "lang", "phenomenon", "paradigm"]
    alone = 0
    for key, group in rows.groupby(keys, sort=False):
        good, bad = (group["value"][group["side"] == side].to_numpy() for side in SIDES)
        alone += len(group) * (not len(good) or not len(bad))
        if len(good) and len(bad):
            # Lists seldom show both sentences of a pair to one person, so all are compared.
            ahead = good[:, None] - bad[None, :]
            share = float((ahead > 0).mean() + 0.5 * (ahead == 0).mean())
            _, lang, phenomenon, paradigm = map(str, key)
            yield Outcome(HUMAN, lang, phenomenon, paradigm, share)
    patterns = ", ".join(how.patterns)
    if alone == len(rows):
        raise UserError(
            f"{declaration_in(source.folder)}: in {patterns} no person rated good and bad "
            "sentences of a paradigm; name the column that says who it was as 'person'."
        )
    if alone:
        log.warning(
            "%s: ratings without one of the other side: %d of %d", patterns, alone, len(rows)
        )


KINDS = {"choices": _choices, "ratings": _ratings, "accuracies": _accuracies}


@dataclass(frozen=True, slots=True)
class Places:
    """Phenomena and paradigms of a benchmark's items."""

    phenomena: Mapping[tuple[str, str], frozenset[str]]
    """By language and paradigm; those of a language by ``all``."""

    @classmethod
    def read(cls, tables: Iterable[Path]) -> "Places":
        """Those of tables of items. Raises UserError when one is missing or broken."""
        found: dict[tuple[str, str], set[str]] = {}
        columns = ["lang", "phenomenon", "paradigm"]
        for path in tables:
            rows = read_table(ITEMS, path, columns).group_by(columns).aggregate([]).to_pylist()
            for row in rows:
                for paradigm in (row["paradigm"], ALL):
                    found.setdefault((row["lang"], paradigm), set()).add(row["phenomenon"])
        return cls({key: frozenset(phenomena) for key, phenomena in found.items()})

    def settle(self, outcome: Outcome) -> Outcome | None:
        """The outcome with the items' phenomenon; None where the items lack its paradigm.

        One in a language without items here stays as it is.
        """
        lang, said, paradigm = outcome.lang, outcome.phenomenon, outcome.paradigm
        if (lang, ALL) not in self.phenomena:
            return replace(outcome, phenomenon=said or paradigm)
        phenomena = self.phenomena.get((lang, paradigm), frozenset())
        if said in phenomena:
            return outcome
        if paradigm == ALL or not phenomena:
            return None
        if len(phenomena) > 1:
            raise UserError(
                f"people judged paradigm {paradigm!r}, which items have in the phenomena "
                f"{', '.join(sorted(phenomena))}; name the column that tells them apart as "
                "'phenomenon' of the entry in 'people'."
            )
        return replace(outcome, phenomenon=min(phenomena))


def _name(outcome: Outcome) -> str:
    return outcome.phenomenon if outcome.paradigm == ALL else outcome.paradigm


def _of_people(source: Source, how: People, places: Places) -> tuple[list[Outcome], Counter[str]]:
    """What people judged, and how much is left out by the name of a paradigm."""
    path, every = declaration_in(source.folder), [*KINDS[how.kind](source, how)]
    if how.kind == "choices" and not how.answer:
        _check_any_right(every, how, how.correct or how.headings or "")
    left = Counter(dict.fromkeys(how.without, 0))
    for each in every:
        if _name(each) in left:
            left[_name(each)] += max(each.n, 1)
    absent = [name for name, count in left.items() if not count]
    if absent:
        raise UserError(
            f"{path}: 'without' of people names {absent[0]!r}, which no row of "
            f"{', '.join(how.patterns)} has; correct it."
        )
    kept = [each for each in every if _name(each) not in how.without]
    strange = next((o.lang for o in kept if o.lang not in source.declared.languages), None)
    if strange is not None:
        raise UserError(
            f"{path}: people judged items of language {strange!r}, and the benchmark has "
            f"{', '.join(source.declared.languages)}; map the values of 'lang' with 'rename', or "
            "add the language."
        )
    settled = [(each, places.settle(each)) for each in kept]
    lacking = [*dict.fromkeys(_name(each) for each, found in settled if found is None)]
    if lacking:
        log.error("%s: people judged what no item is of: %s", path, ", ".join(lacking))
        raise UserError(
            f"{path}: people judged {', '.join(map(repr, lacking[:4]))}"
            f"{f' and {len(lacking) - 4} more' if len(lacking) > 4 else ''}, which no item is of; "
            "map the names to the benchmark's with 'rename', or leave them out with "
            f"'without: [{', '.join(lacking[:4])}]'."
        )
    if left:
        named = ", ".join(f"{name} {count}" for name, count in left.items())
        log.warning("%s: judgements of people that 'without' leaves out: %s", path, named)
    return [found for _, found in settled if found], left


def _check_units(outcomes: Iterable[Outcome], path: Path) -> None:
    """See that people judged paradigms or whole phenomena of a language. Raises UserError else."""
    units: dict[str, set[bool]] = {}
    for each in outcomes:
        units.setdefault(each.lang, set()).add(each.paradigm == ALL)
    mixed = next((lang for lang, both in units.items() if len(both) > 1), None)
    if mixed is not None:
        raise UserError(
            f"{path}: people judged paradigms of {mixed!r} and also whole phenomena, which cannot "
            "be added up; keep the entry of one of them in 'people'."
        )


PLACE = ["model", "lang", "phenomenon", "paradigm"]


def _summary(outcomes: Iterator[Outcome], benchmark: str, method: str) -> pd.DataFrame:
    """Rows of an accuracies table: of each paradigm, each phenomenon, and all."""
    names = (*PLACE, "correct", "n", "skipped")
    each = pd.DataFrame([[getattr(o, name) for name in names] for o in outcomes], columns=[*names])
    if each.empty:
        raise UserError(
            f"{benchmark}: the files of {'people' if method == HUMAN else method} have no rows; "
            "retrieve them again, or correct 'where' and 'files' of their entry."
        )
    each["printed"] = (each["n"] == 0) & (each["skipped"] == 0)
    each["n"] += each["printed"]
    wholes = [each, each.assign(paradigm=ALL), each.assign(paradigm=ALL, phenomenon=ALL)]
    # Where only phenomena are known, their rows are those of the whole already.
    wholes[1] = wholes[1][each["paradigm"] != ALL]
    rows = (
        pd.concat(wholes)
        .groupby(PLACE, sort=False, as_index=False)
        .agg(
            correct=("correct", "sum"),
            n=("n", "sum"),
            skipped=("skipped", "sum"),
            printed=("printed", "any"),
        )
    )
    rows = rows[rows["n"] > 0].reset_index(drop=True)
    rows["accuracy"] = rows["correct"] / rows["n"]
    bounds = [wilson(c, n) for c, n in zip(rows["correct"], rows["n"], strict=True)]
    rows["low"], rows["high"] = [b[0] for b in bounds], [b[1] for b in bounds]
    # Nothing is known of how many judgements are behind a printed accuracy.
    rows.loc[rows["printed"], ["low", "high"]] = None
    more = {"ties": 0, "near_ties": 0, "rounding": None, "origin": None}
    return rows.assign(benchmark=benchmark, method=method, **more)


def read_people(
    declaration: Path,
    files: Sequence[Path],
    sources: Path,
    benchmark: str,
    items: Sequence[Path],
    output: Path,
) -> dict[str, Any]:
    """Write people's accuracies on a declared benchmark; return facts for the record.

    Paradigms and phenomena are those of the tables of ``items``. n counts choices, or of ratings
    persons; skipped counts cells without a judgement; intervals are Wilson's.

    Raises UserError for malformed files, and for paradigms that the items lack.
    """
    source = Source.read(declaration, files, sources, benchmark)
    places = Places.read(items)
    outcomes: list[Outcome] = []
    left: Counter[str] = Counter()
    for how in source.declared.people:
        of_entry, without = _of_people(source, how, places)
        outcomes += of_entry
        left += without
    _check_units(outcomes, declaration)
    frame = _summary(iter(outcomes), benchmark, HUMAN)
    write_frame(frame, ACCURACIES, output)
    return {
        "rows": len(frame),
        "left_out": dict(left),
        "without_judgement": sum(each.skipped for each in outcomes),
    }


def read_released(
    declaration: Path, files: Sequence[Path], sources: Path, benchmark: str, output: Path
) -> int:
    """Write the accuracies of released decisions; return the number of rows.

    Raises UserError for malformed files.
    """
    source = Source.read(declaration, files, sources, benchmark)
    outcomes = []
    for how in source.declared.released:
        every = []
        for row in source.rows(how):
            right = _is_right(row, how.correct, cell(row, how.correct), how.right)
            lang, phenomenon, paradigm = source.place(row, how)
            phenomenon = phenomenon or source.naming.phenomenon_of(paradigm) or paradigm
            model = not_empty(row, how.model)
            every.append(Outcome(model, lang, phenomenon, paradigm, float(right)))
        _check_any_right(every, how, how.correct)
        outcomes += every
    frame = _summary(iter(outcomes), benchmark, RELEASED)
    write_frame(frame, ACCURACIES, output)
    return len(frame)


def read_perplexities(declaration: Path, files: Sequence[Path], sources: Path, output: Path) -> int:
    """Write the perplexities that authors have released; return the number of rows.

    Raises UserError for malformed files.
    """
    source = Source.read(declaration, files, sources, "")
    rows = [
        {"model": as_text(cell(row, how.model)), "perplexity": number(row, how.perplexity)}
        for how in source.declared.perplexities
        for row in source.rows(how)
    ]
    write_rows(rows, MODEL_PERPLEXITIES, output)
    return len(rows)
