"""From rows of files to items: pairs of sentences, or sentences that are acceptable or not."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import PurePosixPath
from typing import Any

from blimpworks.benchmarks.entries import (
    Choices,
    Critical,
    CriticalOffsets,
    CriticalWords,
    LabelledRows,
    Labels,
    Pairs,
    Sentences,
)
from blimpworks.benchmarks.readers import as_text
from blimpworks.benchmarks.regions import Span, difference, span_of
from blimpworks.benchmarks.rows import Row, is_one_of
from blimpworks.errors import UserError
from blimpworks.items import Regions

_PLACE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Item:
    """What stands in a row of a table of items."""

    lang: str
    phenomenon: str
    paradigm: str
    good: str
    bad: str
    regions: Regions
    file: str
    line: int
    id: str
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further columns."""


def cell(row: Row, column: str) -> Any:
    """A cell by its column, or by a template. Raises UserError where the row has no such column."""
    if column in row.cells:
        return row.cells[column]
    if _PLACE.search(column):
        return _PLACE.sub(lambda match: as_text(cell(row, match[1])), column)
    known = ", ".join(repr(n) for n, v in row.cells.items() if not isinstance(v, dict | list))
    raise UserError(
        f"{row.place} has no column {column!r}; its columns are {known}. Correct the declaration, "
        "or add 'columns' where a table has no headings."
    )


def text(row: Row, column: str) -> str:
    """A sentence, or part of one. Raises UserError where it is empty or no text."""
    value = cell(row, column)
    if not isinstance(value, str) or not value.strip():
        raise UserError(
            f"{row.place}: column {column!r} is {value!r:.60}; expected text. Correct the file, or "
            "name another column."
        )
    stripped = value.strip()
    if stripped != value:
        row.account.notes["texts with white space at their ends, which is left out"] += 1
    return stripped


@dataclass(frozen=True, slots=True)
class Naming:
    """Phenomena of paradigms, and the only language if there is one."""

    phenomenon_of: Callable[[str], str | None]
    languages: tuple[str, ...]

    def labels(self, row: Row, data: Labels) -> dict[str, Any]:
        """Language, phenomenon, paradigm, name and place of a row's item, and what is kept.

        Raises UserError for a language that the benchmark does not declare.
        """
        stem = PurePosixPath(row.file).stem
        paradigm = _said(row, data.paradigm, "paradigm") or stem
        phenomenon = as_text(cell(row, data.phenomenon)).strip() if data.phenomenon else ""
        phenomenon = phenomenon or self.phenomenon_of(paradigm) or _said(row, None, "phenomenon")
        only = self.languages[0] if len(self.languages) == 1 else None
        lang = _said(row, data.lang, "lang") or only
        if lang not in self.languages:
            raise UserError(
                f"{row.place}: the language is {lang!r}; expected one of "
                f"{', '.join(self.languages)}. Correct 'lang', map its values with 'rename', or "
                "add the language to 'languages'."
            )
        return {
            "lang": lang,
            "paradigm": paradigm,
            "phenomenon": phenomenon or paradigm,
            "file": row.file,
            "line": row.line,
            "id": as_text(cell(row, data.id)) if data.id else str(row.line),
            "more": {name: as_text(cell(row, name)) for name in data.keep},
        }


def _said(row: Row, column: str | None, default: str) -> str:
    """What a row says by a column, or by the one that is usual."""
    if column is not None:
        return as_text(cell(row, column)).strip()
    return as_text(row.cells.get(default)).strip()


def _span(row: Row, sentence: str, words: str, near: Span, column: str) -> Span:
    span = span_of(sentence, words, near)
    if span is None:
        raise UserError(
            f"{row.place}: the critical region {words!r} (column {column!r}) is no part of "
            f"{sentence!r}; correct the file, or leave 'critical' out, so that it is where the "
            "sentences differ."
        )
    return span


def _by_words(row: Row, good: str, bad: str, critical: CriticalWords) -> Regions:
    near = difference(good, bad)
    first = _span(row, good, text(row, critical.good), near[:2], critical.good)
    second = _span(row, bad, text(row, critical.bad), near[2:], critical.bad)
    return Regions(*first, *second)


def _by_offsets(row: Row, good: str, bad: str, critical: CriticalOffsets) -> Regions:
    columns = [getattr(critical, name) for name in Regions._fields]
    offsets = []
    for column in columns:
        value = as_text(cell(row, column)).strip()
        if not value.isdecimal():
            raise UserError(
                f"{row.place}: column {column!r} is {value!r}; expected a number of characters."
            )
        offsets.append(int(value))
    regions = Regions(*offsets)
    inside = regions.good_start < regions.good_end <= len(good)
    if not inside or not regions.bad_start < regions.bad_end <= len(bad):
        raise UserError(
            f"{row.place}: the critical regions {offsets} are not inside sentences of {len(good)} "
            f"and {len(bad)} characters; expected half-open spans in characters. Correct the "
            f"columns {', '.join(columns)}."
        )
    return regions


def regions_of(row: Row, good: str, bad: str, critical: Critical | None) -> Regions:
    """Critical regions of a pair, as declared, by default where the sentences differ.

    Raises UserError where a region is no part of its sentence.
    """
    if critical is None:
        return difference(good, bad)
    if isinstance(critical, CriticalOffsets):
        return _by_offsets(row, good, bad, critical)
    if isinstance(critical, str):
        critical = CriticalWords(good=critical, bad=critical)
    return _by_words(row, good, bad, critical)


def pairs(rows: Iterable[Row], data: Pairs, naming: Naming) -> Iterator[Item]:
    """A pair of each row with a good and a bad sentence."""
    for row in rows:
        with row.account.collecting():
            good, bad = text(row, data.good), text(row, data.bad)
            regions = regions_of(row, good, bad, data.critical)
            yield Item(good=good, bad=bad, regions=regions, **naming.labels(row, data))


def choices(rows: Iterable[Row], data: Choices, naming: Naming) -> Iterator[Item]:
    """A pair of each row with two sentences and a column that says which is the good one."""
    for row in rows:
        with row.account.collecting():
            right = _side(row, data.right.column, data.right.first, data.right.second)
            sides = (data.first, data.second) if right else (data.second, data.first)
            critical = data.critical
            if isinstance(critical, CriticalWords) and not right:
                critical = CriticalWords(good=critical.bad, bad=critical.good)
            good, bad = (text(row, side) for side in sides)
            regions = regions_of(row, good, bad, critical)
            yield Item(good=good, bad=bad, regions=regions, **naming.labels(row, data))


def _side(row: Row, column: str, first: object, second: object) -> bool:
    """Whether a label is one of the first values. Raises UserError where it is of neither."""
    value = cell(row, column)
    is_first = is_one_of(value, first)
    if is_first == is_one_of(value, second):
        raise UserError(
            f"{row.place}: the label {column!r} is {value!r}; expected one of {_listed(first)} or "
            f"{_listed(second)}. Correct the values in the declaration, or the file."
        )
    return is_first


def _listed(values: object) -> str:
    several = values if isinstance(values, tuple) else (values,)
    return ", ".join(map(repr, several))


def labelled_rows(rows: Iterable[Row], data: LabelledRows, naming: Naming) -> Iterator[Item]:
    """A pair of each good and each bad sentence of an item.

    Raises UserError for an item without a good or without a bad sentence.
    """
    groups: dict[object, list[Row]] = {}
    numbers: Counter[object] = Counter()
    for row in rows:
        paradigm, lang = _said(row, data.paradigm, "paradigm"), _said(row, data.lang, "lang")
        among = (row.file, paradigm, lang)
        key = as_text(cell(row, data.item)) if data.item else str(numbers[among] // 2)
        numbers[among] += 1
        groups.setdefault((key, *among), []).append(row)
    for group in groups.values():
        with group[0].account.collecting():
            sides: dict[bool, list[Row]] = {True: [], False: []}
            for row in group:
                sides[_side(row, data.label, data.good, data.bad)].append(row)
            if not data.item and len(group) == 1:
                raise UserError(
                    f"{group[0].place}: the last row has no other to make a pair with; without "
                    "'item' each two rows of a file, paradigm and language are one. Correct the "
                    "file, or name 'item'."
                )
            if not all(sides.values()):
                lacking = "good" if sides[False] else "bad"
                raise UserError(
                    f"{group[0].place}: the item has {len(group)} rows and no {lacking} sentence; "
                    "expected both. Correct 'item', 'good' and 'bad', or the file."
                )
            for good, bad in product(sides[True], sides[False]):
                yield _of_rows(good, bad, data, naming)


def _of_rows(first: Row, second: Row, data: LabelledRows, naming: Naming) -> Item:
    good, bad = (text(row, data.sentence) for row in (first, second))
    regions = difference(good, bad)
    if data.critical:
        spans = [
            _span(row, sentence, text(row, data.critical), near, data.critical)
            for row, sentence, near in ((first, good, regions[:2]), (second, bad, regions[2:]))
        ]
        regions = Regions(*spans[0], *spans[1])
    return Item(good=good, bad=bad, regions=regions, **naming.labels(first, data))


def sentences(rows: Iterable[Row], data: Sentences, naming: Naming) -> Iterator[Item]:
    """An item of each row with a sentence that is acceptable or not."""
    for row in rows:
        with row.account.collecting():
            sentence = text(row, data.sentence)
            acceptable = _side(row, data.label, data.acceptable, data.unacceptable)
            labels = naming.labels(row, data)
            labels["more"] = {**labels["more"], "acceptable": acceptable}
            regions = difference(sentence, sentence)
            yield Item(good=sentence, bad=sentence, regions=regions, **labels)
