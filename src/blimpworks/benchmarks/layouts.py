"""Turn rows of files into pairs and single sentences.

``pairs``, ``choices``, ``labelled_rows`` and ``sentences`` each yield ``Pair`` from the rows of one
layout of files; ``build.py`` calls the function that a declaration's ``layout`` names. The row
``{good: The dogs bark., bad: The dogs barks.}`` makes a pair with the critical regions ``bark`` and
``barks``, as spans of characters.
"""

import math
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import PurePosixPath
from typing import Any, TypeVar

from blimpworks.benchmarks import entries, templates
from blimpworks.benchmarks.declaration import Declaration
from blimpworks.benchmarks.differences import difference, is_inside_word
from blimpworks.benchmarks.readers import as_text
from blimpworks.benchmarks.templates import Row, Rows, Span, cell, is_one_of, strip
from blimpworks.errors import UserError
from blimpworks.items import ALL, Regions


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item of a benchmark, and its location in the files."""

    lang: str
    phenomenon: str
    paradigm: str
    file: str
    line: int
    id: str
    more: Mapping[str, Any] = field(default_factory=dict)
    """Values of further columns of the items table, such as ``acceptable``."""

    @property
    def location(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def labels(self) -> tuple[str, str, str]:
        return self.lang, self.phenomenon, self.paradigm


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Item):
    """A pair of sentences, or a single sentence as both good and bad."""

    good: str
    bad: str
    regions: Regions

    @property
    def sentences(self) -> list[str]:
        return [*dict.fromkeys((self.good, self.bad))]


AnyItem = TypeVar("AnyItem", bound=Item)
Key = TypeVar("Key", bound=Hashable)


def text(row: Row, column: str) -> str:
    """Return a cell's text, stripped. Raises UserError for a cell that is empty or no text."""
    value = cell(row, column)
    if not isinstance(value, str) or not value.strip():
        raise UserError(
            f"{row.location}: column {column!r} is {value!r:.60}; expected text. Correct the file, "
            "or name another column."
        )
    stripped = strip(row, column, value)
    # White space around the text of a template may come from the declaration, not from the file.
    if stripped != value and column in row.cells:
        row.account.notes["texts with white space at their ends, which is left out"] += 1
    return stripped


def number(row: Row, column: str) -> float:
    """Return a cell's number. Raises UserError for a cell without a finite number."""
    value = as_text(cell(row, column)).strip()
    with suppress(ValueError):
        # Python takes 1_0 for 10.
        if "_" not in value and math.isfinite(parsed := float(value)):
            return parsed
    raise UserError(
        f"{row.location}: column {column!r} is {value!r}; expected a number. Correct the file, or "
        "name another column."
    )


def _rating_in(row: Row, data: entries.LabelledFiles) -> dict[str, float | None]:
    """Return a row's grade as ``{"rating": grade or None}``; ``{}`` without a column of grades."""
    if not isinstance(data.rating, str):
        return {}
    is_empty = not as_text(cell(row, data.rating)).strip()
    return {"rating": None if is_empty else number(row, data.rating)}


def rating_difference(good: float | None, bad: float | None) -> float | None:
    """Return the good sentence's grade minus the bad one's; None if either is None."""
    return None if good is None or bad is None else good - bad


def grouped(items: Iterable[AnyItem], key: Callable[[AnyItem], Key]) -> dict[Key, list[AnyItem]]:
    """Return lists of the items for which ``key`` returns the same, by that key."""
    groups: dict[Key, list[AnyItem]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def by_paradigm(items: Iterable[AnyItem]) -> dict[tuple[str, str, str], list[AnyItem]]:
    """Group items by language, phenomenon and paradigm."""
    return grouped(items, lambda item: item.labels)


def labels_of(row: Row, data: entries.LabelledFiles, declared: Declaration) -> dict[str, Any]:
    """Return a row's fields of ``Item``, by name."""
    paradigm = label_in(row, data.paradigm, "paradigm") or PurePosixPath(row.file).stem
    if data.phenomenon:
        phenomenon = not_empty(row, data.phenomenon)
    else:
        try:
            declared_phenomenon = declared.phenomenon_of(paradigm)
        except UserError as error:
            raise UserError(f"{row.location}: {error}") from error
        phenomenon = declared_phenomenon or label_in(row, None, "phenomenon")
    lang = label_in(row, data.lang, "lang") or declared.only_language
    if lang not in declared.languages:
        raise UserError(
            f"{row.location}: the language is {lang!r}; expected one of "
            f"{', '.join(declared.languages)}. Correct 'lang', map its values with 'rename', or "
            "add the language to 'languages'."
        )
    labels = {"lang": lang, "paradigm": paradigm, "phenomenon": phenomenon or paradigm}
    check_label_names(row, labels)
    name = as_text(cell(row, data.id)) if data.id else str(row.line)
    more = {column: as_text(cell(row, column)) for column in data.keep} | _rating_in(row, data)
    return {**labels, "file": row.file, "line": row.line, "id": name, "more": more}


def check_label_names(row: Row, labels: Mapping[str, str | None]) -> None:
    """Raise UserError for a label ``all``, which in tables of accuracies stands for a sum."""
    for name in ("lang", "paradigm", "phenomenon"):
        if labels.get(name) == ALL:
            raise UserError(
                f"{row.location}: the {name} is called {ALL!r}, as the accuracy over all of them "
                f"is; expected another name. Change it with 'rename', or name it as {name!r} "
                "(without that, the name of the file is the paradigm)."
            )


Joined = entries.Conditions | entries.Suites | entries.Alternatives


def joiner_in(row: Row, data: Joined, declared: Declaration) -> str:
    """Return the text that joins parts of a sentence in a row's language. UserError without it."""
    lang, joined_by = labels_of(row, data, declared)["lang"], data.joined_by
    if isinstance(joined_by, str):
        return joined_by
    if {*joined_by} - {*declared.languages} or lang not in joined_by:
        raise UserError(
            f"{row.location}: 'joined_by' is for {', '.join(joined_by)}; expected the languages "
            f"of the benchmark, {', '.join(declared.languages)}. Correct it."
        )
    return str(joined_by[lang])


def label_in(row: Row, column: str | None, default: str) -> str:
    """Return the label in ``column``, else in the column ``default``; "" without either column."""
    if column is not None:
        return not_empty(row, column)
    key, advice = f"{row.file}: {default}", f"name a column as {default!r}"
    return not_empty(row, default) if templates.has_column(row, default, key, advice) else ""


def not_empty(row: Row, column: str) -> str:
    """Return a cell's text. Raises UserError for an empty cell."""
    value = as_text(cell(row, column)).strip()
    if not value:
        raise UserError(
            f"{row.location}: column {column!r} is empty; expected a value in each row. Fill it "
            "in, name another column, or leave such rows out with 'where'."
        )
    return value


def item_key(row: Row, data: entries.LabelledFiles, item: str | None) -> tuple[str, ...]:
    """Return (file, paradigm, phenomenon, language) of a row, and its cell of a column ``item``."""
    names = ("paradigm", "phenomenon", "lang")
    key = (row.file, *(label_in(row, getattr(data, name), name) for name in names))
    return (*key, not_empty(row, item)) if item else key


def region_in(
    row: Row,
    sentence: str,
    critical: entries.Column | entries.CriticalIndex,
    near: Span | None = None,
) -> Span:
    """Return the span of a critical region, from its text in a row or from the index of its word.

    If the text occurs several times, occurrences with the fewest ends inside words are preferred.
    Among these, the nearest to the span ``near`` is taken; without ``near``, the one that ends the
    sentence. Raises UserError if no or several occurrences fit.
    """
    if isinstance(critical, entries.CriticalIndex):
        return templates.word_span(row, sentence, critical.word, critical.words)
    region_text = text(row, critical)

    def rank(span: Span) -> tuple[int, int]:
        start, end = span
        ends_in_words = is_inside_word(sentence, start) + is_inside_word(sentence, end)
        if near is None:
            return ends_in_words, 0 if end == len(sentence) else 1
        return ends_in_words, max(start - near[1], near[0] - end, 0)

    starts = templates.occurrences(sentence, region_text)
    candidates = [(start, start + len(region_text)) for start in starts]
    best = min(map(rank, candidates), default=None)
    spans = [span for span in candidates if rank(span) == best]
    if not spans:
        raise UserError(
            f"{row.location}: the critical region {region_text!r} (column {critical!r}) is no part "
            f"of {sentence!r}; correct the file, or leave 'critical' out, so that it is the words "
            "that differ."
        )
    if len(spans) > 1:
        raise UserError(
            f"{row.location}: the critical region {region_text!r} (column {critical!r}) occurs "
            f"{len(spans)} times in {sentence!r}; expected once. Name the index of its first word, "
            "such as 'critical: {word: column}'."
        )
    return spans[0]


def regions_of(
    rows: tuple[Row, Row], good: str, bad: str, critical: entries.Critical | None
) -> Regions:
    """Return a pair's critical regions; without ``critical``, the words in which it differs."""
    if critical is None:
        return difference(good, bad)
    if isinstance(critical, entries.CriticalOffsets):
        columns = [getattr(critical, name) for name in Regions._fields]
        row, offsets = rows[0], []
        for column in columns:
            value = as_text(cell(row, column)).strip()
            if not value.isdecimal():
                raise UserError(
                    f"{row.location}: column {column!r} is {value!r}; expected a whole number."
                )
            offsets.append(int(value))
        good_start, good_end, bad_start, bad_end = offsets
        if not (good_start < good_end <= len(good) and bad_start < bad_end <= len(bad)):
            raise UserError(
                f"{row.location}: the critical regions {offsets} are not inside sentences of "
                f"{len(good)} and {len(bad)} characters; expected half-open spans in characters. "
                f"Correct the columns {', '.join(columns)}."
            )
        return Regions(*offsets)
    if not isinstance(critical, entries.CriticalWords):
        critical = entries.CriticalWords(good=critical, bad=critical)
    near = difference(good, bad)
    first = region_in(rows[0], good, critical.good, near[:2])
    return Regions(*first, *region_in(rows[1], bad, critical.bad, near[2:]))


def pairs(rows: Rows, data: entries.Pairs, declared: Declaration) -> Iterator[Pair]:
    """Yield a pair from each row, which has a good and a bad sentence."""
    for row in rows:
        good, bad = text(row, data.good), text(row, data.bad)
        if isinstance(data.critical, entries.CriticalOffsets):
            for column in (data.good, data.bad):
                if cell(row, column)[0].isspace():
                    raise UserError(
                        f"{row.location}: column {column!r} begins with white space, which is left "
                        "out, so that spans would be wrong; correct the file, or 'critical'."
                    )
        regions = regions_of((row, row), good, bad, data.critical)
        yield Pair(good=good, bad=bad, regions=regions, **labels_of(row, data, declared))


def choices(rows: Rows, data: entries.Choices, declared: Declaration) -> Iterator[Pair]:
    """Yield a pair from each row, which has two sentences and says which is good."""
    for row in rows:
        first_is_good = _is_first(row, data.right.column, data.right.first, data.right.second)
        columns = (data.first, data.second) if first_is_good else (data.second, data.first)
        critical = data.critical
        if isinstance(critical, entries.CriticalWords) and not first_is_good:
            critical = entries.CriticalWords(good=critical.bad, bad=critical.good)
        good, bad = (text(row, column) for column in columns)
        regions = regions_of((row, row), good, bad, critical)
        yield Pair(good=good, bad=bad, regions=regions, **labels_of(row, data, declared))


def _is_first(row: Row, column: str, first: entries.Values, second: entries.Values) -> bool:
    """Tell whether a cell has a value of ``first``. UserError if neither or both lists have it."""
    value = cell(row, column)
    is_first = is_one_of(value, first)
    if is_first == is_one_of(value, second):
        listed = " or ".join(", ".join(map(repr, values)) for values in (first, second))
        raise UserError(
            f"{row.location}: the label {column!r} is {value!r}; expected one of {listed}. Correct "
            "the values in the declaration, or the file."
        )
    return is_first


def labelled_rows(rows: Rows, data: entries.LabelledRows, declared: Declaration) -> Iterator[Pair]:
    """Yield a pair of each good with each bad row of an item. UserError if either is absent."""
    groups: dict[object, list[Row]] = {}
    counts: Counter[object] = Counter()  # of rows, by key
    left_out: dict[str, list[int]] = {}  # by file
    for row in rows:
        if row.file not in left_out:
            left_out[row.file] = sorted(row.account.left_out_lines.get(row.file, ()))
        key = item_key(row, data, data.item)
        # Without a column of items, the first two rows with a key are an item, then the next two.
        pair_number = 0 if data.item else counts[key] // 2
        counts[key] += 1
        groups.setdefault((pair_number, key), []).append(row)
    for group in groups.values():
        with group[0].account.collecting():
            good_rows: list[Row] = []
            bad_rows: list[Row] = []
            for position, row in enumerate(group):
                if data.label:
                    is_good = _is_first(row, data.label, data.good, data.bad)
                else:
                    is_good = position == (1 if data.order == "bad first" else 0)
                (good_rows if is_good else bad_rows).append(row)
            if not data.item:
                _check_neighbours(group, left_out[group[0].file])
            if not good_rows or not bad_rows:
                lacking = "bad" if good_rows else "good"
                raise UserError(
                    f"{group[0].location}: the item has {len(group)} rows and no {lacking} "
                    "sentence; expected both. Correct 'item', 'good' and 'bad', or the file."
                )
            for good_row, bad_row in product(good_rows, bad_rows):
                good, bad = (text(row, data.sentence) for row in (good_row, bad_row))
                regions = regions_of((good_row, bad_row), good, bad, data.critical)
                labels = labels_of(good_row, data, declared)
                more = labels["more"]
                if bad_rating := _rating_in(bad_row, data):
                    more["rating"] = rating_difference(more["rating"], bad_rating["rating"])
                yield Pair(good=good, bad=bad, regions=regions, **labels)


def _check_neighbours(group: Sequence[Row], left_out: Sequence[int]) -> None:
    """Raise UserError if one row of this pair, or of one above, is among the lines ``left_out``."""
    first, second = group[0], group[-1]
    if first is second:
        raise UserError(
            f"{first.location}: the last row has no other to make a pair with; without 'item', two "
            "successive rows of a file, paradigm and language make a pair. Correct the file, or "
            "name 'item'."
        )
    # Leaving out only full pairs leaves out an even number of lines above, and none in between.
    above_first, above_second = (bisect(left_out, row.line) for row in group)
    if above_first % 2 or above_second > above_first:
        raise UserError(
            f"{first.location}: its pair would be with line {second.line}, and 'where' or "
            "'skip_lines' may have left out one row of a pair; name 'item', leave out both rows, "
            "or remove a row without a pair from the file."
        )


def sentences(rows: Rows, data: entries.Sentences, declared: Declaration) -> Iterator[Pair]:
    """Yield an item from each row, which has a sentence and its label."""
    for row in rows:
        sentence = text(row, data.sentence)
        acceptable = _is_first(row, data.label, data.acceptable, data.unacceptable)
        labels = labels_of(row, data, declared)
        labels["more"] = {**labels["more"], "acceptable": acceptable}
        regions = difference(sentence, sentence)
        yield Pair(good=sentence, bad=sentence, regions=regions, **labels)
