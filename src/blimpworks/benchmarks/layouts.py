"""Make items of rows: pairs of sentences, or single sentences with a label."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import PurePosixPath
from typing import Any

from blimpworks.benchmarks import entries
from blimpworks.benchmarks.declaration import Declaration
from blimpworks.benchmarks.differences import Span, difference, span_of
from blimpworks.benchmarks.readers import as_text
from blimpworks.benchmarks.templates import Row, Rows, cell, has_column, is_one_of, word_span
from blimpworks.errors import UserError
from blimpworks.items import Regions


@dataclass(frozen=True, slots=True)
class Item:
    """A pair, or a sentence on both sides; ``more`` has further columns."""

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


def text(row: Row, column: str) -> str:
    """Return a cell with text, stripped. Raises UserError for an empty one, or no text."""
    value = cell(row, column)
    if not isinstance(value, str) or not value.strip():
        raise UserError(
            f"{row.place}: column {column!r} is {value!r:.60}; expected text. Correct the file, or "
            "name another column."
        )
    stripped = value.strip()
    if stripped != value and column in row.cells:
        row.account.notes["texts with white space at their ends, which is left out"] += 1
    return stripped


def number(row: Row, column: str) -> float:
    """Return a cell as a number. Raises UserError for no number."""
    value = as_text(cell(row, column)).strip()
    with suppress(ValueError):
        if math.isfinite(parsed := float(value)):
            return parsed
    raise UserError(
        f"{row.place}: column {column!r} is {value!r}; expected a number. Correct the file, or "
        "name another column."
    )


def rating_in(row: Row, data: entries.Labels) -> dict[str, float | None]:
    """Return the grade of a row, null for an empty cell; nothing without such a column."""
    if not isinstance(data.rating, str):
        return {}
    empty = not as_text(cell(row, data.rating)).strip()
    return {"rating": None if empty else number(row, data.rating)}


def ahead(good: float | None, bad: float | None) -> float | None:
    """Return the good sentence's grade less the bad one's; None where either has none."""
    return None if good is None or bad is None else good - bad


def by_paradigm(items: Iterable[Any]) -> dict[tuple[str, str, str], list[Any]]:
    """Group items by language, phenomenon and paradigm."""
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for item in items:
        groups.setdefault((item.lang, item.phenomenon, item.paradigm), []).append(item)
    return groups


def labels_of(row: Row, data: entries.Labels, declared: Declaration) -> dict[str, Any]:
    """Return the fields of a row's item that are not sentences."""
    paradigm = labelled(row, data.paradigm, "paradigm") or PurePosixPath(row.file).stem
    phenomenon = not_empty(row, data.phenomenon) if data.phenomenon else ""
    try:
        phenomenon = phenomenon or declared.phenomenon_of(paradigm) or ""
    except UserError as error:
        raise UserError(f"{row.place}: {error}") from error
    phenomenon = phenomenon or labelled(row, None, "phenomenon")
    lang = labelled(row, data.lang, "lang") or declared.only_language
    if lang not in declared.languages:
        raise UserError(
            f"{row.place}: the language is {lang!r}; expected one of "
            f"{', '.join(declared.languages)}. Correct 'lang', map its values with 'rename', or "
            "add the language to 'languages'."
        )
    labels = {"lang": lang, "paradigm": paradigm, "phenomenon": phenomenon or paradigm}
    name = as_text(cell(row, data.id)) if data.id else str(row.line)
    more = {column: as_text(cell(row, column)) for column in data.keep} | rating_in(row, data)
    return {**labels, "file": row.file, "line": row.line, "id": name, "more": more}


Joined = entries.Conditions | entries.Suites | entries.Alternatives


def joiner_in(row: Row, data: Joined, declared: Declaration) -> str:
    """Return the text between parts in a row's language. Raises UserError where none is given."""
    lang, joined_by = labels_of(row, data, declared)["lang"], data.joined_by
    if isinstance(joined_by, str):
        return joined_by
    if {*joined_by} - {*declared.languages} or lang not in joined_by:
        raise UserError(
            f"{row.place}: 'joined_by' is for {', '.join(joined_by)}; expected the languages "
            f"of the benchmark, {', '.join(declared.languages)}. Correct it."
        )
    return str(joined_by[lang])


def labelled(row: Row, column: str | None, default: str) -> str:
    """Return a label by its column or the usual one, or "". UserError for an empty cell."""
    if column is not None:
        return not_empty(row, column)
    advice = f"name a column as {default!r}"
    is_there = has_column(row, default, f"{row.file}: {default}", advice)
    return not_empty(row, default) if is_there else ""


def not_empty(row: Row, column: str) -> str:
    """Return a cell as text. Raises UserError for an empty one."""
    value = as_text(cell(row, column)).strip()
    if not value:
        raise UserError(
            f"{row.place}: column {column!r} is empty; expected a value in each row. Fill it in, "
            "name another column, or leave such rows out with 'where'."
        )
    return value


def item_key(row: Row, data: entries.Labels, item: str | None) -> tuple[str, ...]:
    """Return the file, paradigm, language and name that the rows of an item share."""
    among = (labelled(row, data.paradigm, "paradigm"), labelled(row, data.lang, "lang"))
    return (row.file, *among, *((not_empty(row, item),) if item else ()))


def region_in(
    row: Row, sentence: str, critical: entries.Column | entries.CriticalIndex, near: Span
) -> Span:
    """Return the span of a critical region; of several places the one next to ``near`` counts."""
    if isinstance(critical, entries.CriticalIndex):
        return word_span(row, sentence, critical.word, critical.words)
    region_text = text(row, critical)
    span = span_of(sentence, region_text, near)
    if span is None:
        raise UserError(
            f"{row.place}: the critical region {region_text!r} (column {critical!r}) is no part of "
            f"{sentence!r}; correct the file, or leave 'critical' out, so that it is where the "
            "sentences differ."
        )
    return span


def regions_of(
    rows: tuple[Row, Row], good: str, bad: str, critical: entries.Critical | None
) -> Regions:
    """Return critical regions as declared in both rows, by default where the sentences differ."""
    if critical is None:
        return difference(good, bad)
    if isinstance(critical, entries.CriticalOffsets):
        columns = [getattr(critical, name) for name in Regions._fields]
        row, offsets = rows[0], []
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
                f"{row.place}: the critical regions {offsets} are not inside sentences of "
                f"{len(good)} and {len(bad)} characters; expected half-open spans in characters. "
                f"Correct the columns {', '.join(columns)}."
            )
        return regions
    if not isinstance(critical, entries.CriticalWords):
        critical = entries.CriticalWords(good=critical, bad=critical)
    near = difference(good, bad)
    first = region_in(rows[0], good, critical.good, near[:2])
    return Regions(*first, *region_in(rows[1], bad, critical.bad, near[2:]))


def pairs(rows: Rows, data: entries.Pairs, declared: Declaration) -> Iterator[Item]:
    """Make a pair of each row with a good and a bad sentence."""
    for row in rows:
        good, bad = text(row, data.good), text(row, data.bad)
        if isinstance(data.critical, entries.CriticalOffsets):
            for column in (data.good, data.bad):
                if cell(row, column)[0].isspace():
                    raise UserError(
                        f"{row.place}: column {column!r} begins with white space, which is left "
                        "out, so that spans of characters would be wrong; correct the file, or "
                        "'critical'."
                    )
        regions = regions_of((row, row), good, bad, data.critical)
        yield Item(good=good, bad=bad, regions=regions, **labels_of(row, data, declared))


def choices(rows: Rows, data: entries.Choices, declared: Declaration) -> Iterator[Item]:
    """Make a pair of each row with two sentences and a column that names the good one."""
    for row in rows:
        right = _side(row, data.right.column, data.right.first, data.right.second)
        sides = (data.first, data.second) if right else (data.second, data.first)
        critical = data.critical
        if isinstance(critical, entries.CriticalWords) and not right:
            critical = entries.CriticalWords(good=critical.bad, bad=critical.good)
        good, bad = (text(row, side) for side in sides)
        regions = regions_of((row, row), good, bad, critical)
        yield Item(good=good, bad=bad, regions=regions, **labels_of(row, data, declared))


def _side(row: Row, column: str, first: entries.Values, second: entries.Values) -> bool:
    value = cell(row, column)
    is_first = is_one_of(value, first)
    if is_first == is_one_of(value, second):
        listed = " or ".join(", ".join(map(repr, values)) for values in (first, second))
        raise UserError(
            f"{row.place}: the label {column!r} is {value!r}; expected one of {listed}. Correct "
            "the values in the declaration, or the file."
        )
    return is_first


def labelled_rows(rows: Rows, data: entries.LabelledRows, declared: Declaration) -> Iterator[Item]:
    """Make a pair of each good and each bad sentence of an item. UserError if it lacks one."""
    groups: dict[object, list[Row]] = {}
    numbers: Counter[object] = Counter()
    for row in rows:
        key = item_key(row, data, data.item)
        number = 0 if data.item else numbers[key] // 2
        numbers[key] += 1
        groups.setdefault((number, key), []).append(row)
    for group in groups.values():
        with group[0].account.collecting():
            sides: dict[bool, list[Row]] = {True: [], False: []}
            for number, row in enumerate(group):
                is_good = (number == 0) == (data.order == "good first")
                if data.label:
                    is_good = _side(row, data.label, data.good, data.bad)
                sides[is_good].append(row)
            if not data.item and len(group) == 1:
                raise UserError(
                    f"{group[0].place}: the last row has no other to make a pair with; without "
                    "'item' each two rows of a file, paradigm and language are one. Correct the "
                    "file, or name 'item'."
                )
            if not data.item and data.where and group[1].line != group[0].line + 1:
                raise UserError(
                    f"{group[0].place}: its pair would be with line {group[1].line}, and 'where' "
                    "may have left out the row between; name 'item'."
                )
            if not all(sides.values()):
                lacking = "good" if sides[False] else "bad"
                raise UserError(
                    f"{group[0].place}: the item has {len(group)} rows and no {lacking} sentence; "
                    "expected both. Correct 'item', 'good' and 'bad', or the file."
                )
            for good, bad in product(sides[True], sides[False]):
                first, second = (text(row, data.sentence) for row in (good, bad))
                regions = regions_of((good, bad), first, second, data.critical)
                labels = labels_of(good, data, declared)
                if rating := rating_in(bad, data):
                    labels["more"] |= {"rating": ahead(labels["more"]["rating"], rating["rating"])}
                yield Item(good=first, bad=second, regions=regions, **labels)


def sentences(rows: Rows, data: entries.Sentences, declared: Declaration) -> Iterator[Item]:
    """Make an item of each row with a sentence and its label."""
    for row in rows:
        sentence = text(row, data.sentence)
        acceptable = _side(row, data.label, data.acceptable, data.unacceptable)
        labels = labels_of(row, data, declared)
        labels["more"] = {**labels["more"], "acceptable": acceptable}
        regions = difference(sentence, sentence)
        yield Item(good=sentence, bad=sentence, regions=regions, **labels)
