"""Fill cells by name or by template: text with columns in braces, changed or not.

``{sentence[3]=were}`` exchanges the word at an index, ``{sentence['___']=answer}`` a text that
occurs once, and ``{premise|unpunctuated}`` applies a filter.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any

from blimpworks.benchmarks.differences import Span, occurrences
from blimpworks.benchmarks.readers import Account, as_text
from blimpworks.errors import UserError


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file: its cells by column, and its place."""

    cells: Mapping[str, Any]
    file: str
    """Name of the file; ARCHIVE/MEMBER for one inside an archive."""
    line: int
    """Line, row or record, from 1."""
    account: Account

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.file}:{self.line}"


Rows = Iterable[Row]


def has_column(row: Row, name: str, key: str, advice: str) -> bool:
    """Tell whether a row has a column. UserError where rows before, by ``key``, are unlike it."""
    is_there = name in row.cells
    if row.account.columns.setdefault(key, is_there) != is_there:
        raise UserError(
            f"{row.place} has {'a' if is_there else 'no'} column {name!r}, and rows before have "
            f"{'none' if is_there else 'one'}; correct the file, or {advice}."
        )
    return is_there


def is_one_of(value: object, among: object) -> bool:
    """Tell whether a cell equals one of some values, or a single one, as text without case."""
    values = among if isinstance(among, tuple | list) else (among,)
    return compared(value) in map(compared, values)


def compared(value: object) -> str:
    """Return a cell's text for comparison: without case, and 1.0 like 1."""
    return re.sub(r"^(-?\d+)\.0+$", r"\1", as_text(value).strip().casefold())


# A quotation holds braces only where one can begin, so that {don't} is a column.
_BRACES = re.compile(r"""\{((?>(?<=[\[=])(?:'[^']*'|"[^"]*")|[^{}])++)\}""")
_VALUE = r"""'[^']*'|"[^"]*"|[^][|='"]+"""
_EXCHANGE = re.compile(rf"\[({_VALUE})\]=({_VALUE})")
_EXPRESSION = re.compile(rf"([^][|=]+)((?:\[(?:{_VALUE})\]=(?:{_VALUE}))*+)((?:\|\w+)*+)")
_FINAL = ".!?…。．！？｡۔؟।॥།။։"
"""Marks that end a sentence."""
_CLOSING = "\"'’”»)]」』"
"""Quotes and brackets that can follow them."""
_BEFORE, _AFTER = '"“«([「『¿¡', f'{_FINAL},;:،؛、，；："”»)]」』'
"""Marks around a word that are no part of it."""
_DOTLESS = ("tur", "aze", "azj", "crh")
"""Languages in which i and ı are two letters, with capitals of their own."""

FILTERS: Mapping[str, Callable[[str, str], str]] = {
    "unpunctuated": lambda text, _lang: _unpunctuated(text.rstrip()),
    # İ becomes i without the dot that combines.
    "uncapitalised": lambda text, lang: _with_case(text, lang, {"I": "ı"}, lambda c: c.lower()[:1]),
    "capitalised": lambda text, lang: _with_case(text, lang, {"i": "İ", "ı": "I"}, str.upper),
}


@cache
def _split(template: str) -> tuple[str, ...]:
    return tuple(_BRACES.split(template))


@cache
def _parsed(inside: str) -> tuple[str, list[tuple[str, str]], list[str]] | None:
    """Return the column of an expression, its exchanges (old, new) as written, and filters."""
    match = _EXPRESSION.fullmatch(inside)
    if match is None:
        return None
    filters = match[3].split("|")[1:]
    unknown = next((name for name in filters if name not in FILTERS), None)
    if unknown is not None:
        raise UserError(
            f"the template {{{inside}}} has the filter {unknown!r}; expected one of "
            f"{', '.join(FILTERS)}."
        )
    return match[1], _EXCHANGE.findall(match[2]), filters


def cell(row: Row, column: str) -> Any:
    """Return a cell by its column, or the text of a template. UserError if the row lacks it."""
    if column in row.cells:
        return row.cells[column]
    pieces = _split(column)
    if len(pieces) > 1:
        if re.search(r"[{}]", "".join(pieces[::2])):
            raise UserError(
                f"{row.place}: the template {column!r} has a brace too many; expected columns in "
                "braces, each with one at both ends. Correct the declaration."
            )
        filled = (_filled(row, text) if n % 2 else text for n, text in enumerate(pieces))
        return "".join(filled)
    names = ", ".join(repr(n) for n, v in row.cells.items() if not isinstance(v, dict | list))
    raise UserError(
        f"{row.place} has no column {column!r}; its columns are {names}. Correct the declaration, "
        "or name the headings with 'header_row' or 'columns'."
    )


def _filled(row: Row, inside: str) -> str:
    """Fill braces: with a column, whatever its name, or an expression."""
    if inside in row.cells or not re.search(r"[][|=]", inside):
        return _column_text(row, inside)
    expression = _parsed(inside)
    if expression is None:
        raise UserError(
            f"{row.place}: {{{inside}}} is no column and no template; expected one such as "
            "{column}, {column[3]=form}, {column['___']=form} or {column|filter}, with text in "
            "quotes where it has any of ' \" = [ ] | in it."
        )
    column, exchanges, filters = expression
    text = _column_text(row, column)
    for old, new in exchanges:
        value = new[1:-1] if new[0] in "'\"" else _named_or_literal(row, new)
        if old[0] in "'\"":
            blank = old[1:-1]
            n = len([*occurrences(text, blank)]) if blank else 0
            if n != 1:
                raise UserError(
                    f"{row.place}: {blank!r} stands {n} times in {text!r}; expected once. Correct "
                    "the file, or the template."
                )
            start = text.index(blank)
            end = start + len(blank)
        else:
            start, end = word_span(row, text, old)
            value = _with_marks(text[start:end], value)
        if not value and (not text[:start].strip() or text[:start][-1:].isspace()):
            # Of the spaces on both sides of what is taken out, one stays.
            end += len(text[end:]) - len(text[end:].lstrip())
        text = text[:start] + value + text[end:]
    for name in filters:
        text = FILTERS[name](text, as_text(row.cells.get("lang")))
    return text


def _column_text(row: Row, column: str) -> str:
    """Return a template's column as text. Raises UserError for an empty one, unless allowed."""
    value = cell(row, column)
    if isinstance(value, dict | list):
        raise UserError(
            f"{row.place}: column {column!r} is {value!r:.60}, and a template needs text; name "
            f"a field of it, such as {column}.0."
        )
    text = as_text(value)
    if not text.strip() and column not in row.account.allow_empty:
        raise UserError(
            f"{row.place}: column {column!r} is empty, and a template needs it; correct the file, "
            f"or add 'allow_empty: [{column}]' to the entry."
        )
    return text


def _unpunctuated(text: str) -> str:
    body = text.rstrip(_CLOSING)
    return body.rstrip(f"{_FINAL} ") + text[len(body) :]


def _with_case(text: str, lang: str, dotless: Mapping[str, str], case: Callable[[str], str]) -> str:
    """Change the case of the first letter; I is İ or ı in Turkish and the like."""
    letter = text[:1]
    changed = dotless[letter] if letter in dotless and lang in _DOTLESS else case(letter)
    return changed + text[1:]


def _with_marks(word: str, value: str) -> str:
    """Give a new word the marks around the old one, unless it has some, or is empty."""
    body = word.strip(_BEFORE + _AFTER)
    if not body or not value:
        return value
    before, after = word.split(body, 1)
    return before * (value[0] not in _BEFORE) + value + after * (value[-1] not in _AFTER)


def word_span(row: Row, text: str, first: str | int, words: str | int = 1) -> Span:
    """Return the span of words by index of the first and number. UserError if they are absent."""
    index, count = (_number(row, name) for name in (first, words))
    start = index - row.account.words_from
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    if start < 0 or count < 1 or start + count > len(spans):
        last = len(spans) - 1 + row.account.words_from
        raise UserError(
            f"{row.place}: the word at index {index}{f' with {count} words' * (count != 1)} is "
            f"not in {text!r}, whose {len(spans)} words count from {row.account.words_from} to "
            f"{last}; correct {first!r}, or say 'words_from'."
        )
    return spans[start][0], spans[start + count - 1][1]


def _number(row: Row, name: str | int) -> int:
    figures = str(name).strip()
    if not figures.isdecimal():
        figures = compared(cell(row, figures))
    if not figures.isdecimal():
        raise UserError(
            f"{row.place}: column {name!r} is {figures!r}; expected the index or number of words."
        )
    return int(figures)


def _named_or_literal(row: Row, name: str) -> str:
    """Return a column's text, or the name itself if there is no such column."""
    if has_column(row, name, name, f"quote text: '{name}'"):
        return _column_text(row, name)
    alike = _resembled(name, tuple(row.cells))
    if alike is not None:
        raise UserError(
            f"{row.place} has no column {name!r}{f', but {alike!r}' * bool(alike)}; correct the "
            f"template, or quote what is text: ='{name}'."
        )
    return name


@lru_cache(maxsize=1000)
def _resembled(name: str, columns: tuple[str, ...]) -> str | None:
    return next(iter(get_close_matches(name, columns, 1)), "" if "_" in name else None)
