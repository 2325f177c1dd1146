"""Read cells by column name, or fill templates: texts with column names in braces.

Begin with ``cell``, which does both for a ``Row``. With ``sentence: "The dogs was ___."`` and
``answer: loud``, templates and their texts are::

    {sentence}                       The dogs was ___.
    {sentence['___']=answer}         The dogs was loud.    (a text that occurs once)
    {sentence[2]=were}               The dogs were ___.    (the word at index 2)
    {sentence|unpunctuated}          The dogs was ___      (a filter)
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any, Literal

from blimpworks.benchmarks.account import Account
from blimpworks.benchmarks.readers import as_text
from blimpworks.errors import UserError
from blimpworks.items import APART


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file."""

    cells: Mapping[str, Any]
    file: str
    """Name of the file; ARCHIVE/MEMBER for one inside an archive."""
    line: int
    """Line, row or record, from 1."""
    account: Account

    @property
    def location(self) -> str:
        return f"{self.file}:{self.line}"


Rows = Iterable[Row]
Span = tuple[int, int]
"""Half-open span of characters."""


def strip(row: Row, column: str, value: Any) -> str:
    """Strip a cell's text. UserError for U+001F, with which we mark words to encode separately."""
    if APART in value:
        raise UserError(
            f"{row.location}: column {column!r} has the control character U+001F; take it out."
        )
    return str(value.strip())


FORMS: tuple[Literal["NFC", "NFKC"], ...] = ("NFC", "NFKC")
"""Normal forms of Unicode that models' tokenizers use."""
INVISIBLE = dict.fromkeys([0xAD, 0x061C, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF])
INVISIBLE |= dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Soft hyphen, zero-width and word-joining spaces, and marks of direction."""


def plain(text: str, form: Literal["NFC", "NFKC"] = "NFKC") -> str:
    """Normalise characters, and white space to single spaces; leave out invisible characters."""
    return " ".join(unicodedata.normalize(form, text.translate(INVISIBLE)).split())


def has_column(row: Row, name: str, key: str, advice: str) -> bool:
    """Tell whether a row has a column; all rows of a file must agree, else UserError.

    The account remembers the answer for rows before under ``key``, such as "a.csv: lang".
    ``advice`` ends the error's message.
    """
    is_there = name in row.cells
    if row.account.columns.setdefault(key, is_there) != is_there:
        raise UserError(
            f"{row.location} has {'a' if is_there else 'no'} column {name!r}, and rows before have "
            f"{'none' if is_there else 'one'}; correct the file, or {advice}."
        )
    return is_there


def is_one_of(value: object, expected: object) -> bool:
    """Tell whether a cell equals ``expected``, or one of its values, by ``comparable`` texts."""
    values = expected if isinstance(expected, tuple | list) else (expected,)
    return comparable(value) in map(comparable, values)


def comparable(value: object) -> str:
    """Return a cell's text for comparison: without case, and 1 for 1.0."""
    return re.sub(r"^(-?\d+)\.0+$", r"\1", as_text(value).strip().casefold())


_BRACES = re.compile(r"""\{((?>(?<=[\[=])(?:'[^']*'|"[^"]*")|[^{}])++)\}""")
"""Braces around a column or an expression: {column} or {column[3]="}"}. A quotation, which may
contain braces, begins after "[" or "="; so the quotation mark in {don't} belongs to a column."""
_VALUE = r"""'[^']*'|"[^"]*"|[^][|='"]+"""
"""An old or new text, such as '___' in quotes, or the name of a column, such as answer."""
_EXCHANGE = re.compile(rf"\[({_VALUE})\]=({_VALUE})")
"""An old text and the new one, such as ['___']=answer."""
_EXPRESSION = re.compile(rf"([^][|=]+)((?:\[(?:{_VALUE})\]=(?:{_VALUE}))*+)((?:\|\w+)*+)")
"""A column, exchanges, and filters, such as sentence['___']=answer|stripped."""
_FINAL = ".!?…。．！？｡۔؟।॥།။։"
"""Marks that end a sentence."""
_CLOSING = "\"'’”»)]」』"
"""Quotes and brackets that can follow marks which end a sentence."""
_BEFORE, _AFTER = '"“«([「『¿¡', f'{_FINAL},;:،؛、，；："”»)]」』'
"""Marks that can stand before, and after, a word without being part of it."""
_DOTLESS = ("tur", "aze", "azj", "crh")
"""Languages in which i and ı are two letters, with the capitals İ and I."""


def _unpunctuated(text: str) -> str:
    body = text.rstrip(_CLOSING)
    return body.rstrip(f"{_FINAL} ") + text[len(body) :]


def _with_case(text: str, lang: str, dotless: Mapping[str, str], case: Callable[[str], str]) -> str:
    """Change the first letter: by ``dotless`` in languages such as Turkish, else by ``case``."""
    letter = text[:1]
    changed = dotless[letter] if letter in dotless and lang in _DOTLESS else case(letter)
    return changed + text[1:]


FILTERS: Mapping[str, Callable[[str, str], str]] = {
    "stripped": lambda text, _lang: text.strip(),
    "unpunctuated": lambda text, _lang: _unpunctuated(text.rstrip()),
    # The lower case of İ is i and a combining dot; [:1] leaves out the dot.
    "uncapitalised": lambda text, lang: _with_case(text, lang, {"I": "ı"}, lambda c: c.lower()[:1]),
    "capitalised": lambda text, lang: _with_case(text, lang, {"i": "İ", "ı": "I"}, str.upper),
}
"""Functions of a text and its language, by the filter's name."""


_split_at_braces = cache(_BRACES.split)


@cache
def _parse(inside: str) -> tuple[str, list[tuple[str, str]], list[str]] | None:
    """Return an expression's column, exchanges (old, new) and filters; None if it is malformed.

    ``sentence['___']=answer|stripped`` gives sentence, [("'___'", "answer")] and [stripped].
    """
    match = _EXPRESSION.fullmatch(inside)
    if match is None:
        return None
    filters = match[3].split("|")[1:]
    for name in filters:
        if name not in FILTERS:
            raise UserError(
                f"the template {{{inside}}} has the filter {name!r}; expected one of "
                f"{', '.join(FILTERS)}."
            )
    return match[1], _EXCHANGE.findall(match[2]), filters


def cell(row: Row, column: str) -> Any:
    """Return the cell of a column, or the text of a template. UserError if the row lacks it."""
    if column in row.cells:
        return row.cells[column]
    pieces = _split_at_braces(column)  # "The {noun}." gives "The ", "noun" and "."
    if len(pieces) > 1:
        text = ""
        for number, piece in enumerate(pieces):
            is_in_braces = number % 2 == 1
            if not is_in_braces and re.search(r"[{}]", piece):
                raise UserError(
                    f"{row.location}: the template {column!r} has a brace too many; expected "
                    "columns in braces, each with a brace at both ends. Correct the declaration."
                )
            text += _fill(row, piece) if is_in_braces else piece
        return text
    names = [repr(name) for name, value in row.cells.items() if not isinstance(value, dict | list)]
    raise UserError(
        f"{row.location} has no column {column!r}; its columns are {', '.join(names)}. Correct the "
        "declaration, or name the headings with 'header_row' or 'columns'."
    )


def _fill(row: Row, inside: str) -> str:
    """Return the text for braces around a column's name, or around an expression."""
    if inside in row.cells or not re.search(r"[][|=]", inside):
        return _column_text(row, inside)
    expression = _parse(inside)
    if expression is None:
        raise UserError(
            f"{row.location}: {{{inside}}} is no column and no template; expected one such as "
            "{column}, {column[3]=form}, {column['___']=form} or {column|filter}, with text in "
            "quotes if it has any of ' \" = [ ] | in it."
        )
    column, exchanges, filters = expression
    text = _column_text(row, column)
    for old, new in exchanges:
        new_text = new[1:-1] if new[0] in "'\"" else _named_or_literal(row, new)
        if old[0] in "'\"":  # a text in quotes, which occurs once
            old_text = old[1:-1]
            times = len([*occurrences(text, old_text)]) if old_text else 0
            if times != 1:
                raise UserError(
                    f"{row.location}: {old_text!r} occurs {times} times in {text!r}; expected "
                    "once. Correct the file, or the template."
                )
            start = text.index(old_text)
            end = start + len(old_text)
        else:  # the index of a word
            start, end = word_span(row, text, old)
            new_text = _with_marks(text[start:end], new_text)
        before, after = text[:start], text[end:]
        # If a text is removed from between two spaces, only the space before it stays.
        if not new_text and (not before.strip() or before[-1].isspace()):
            after = after.lstrip()
        text = before + new_text + after
    for name in filters:
        text = FILTERS[name](text, as_text(row.cells.get("lang")))
    return text


def _column_text(row: Row, column: str) -> str:
    """Return a column's text. UserError if it is empty and ``allow_empty`` lacks the column."""
    value = cell(row, column)
    if isinstance(value, dict | list):
        raise UserError(
            f"{row.location}: column {column!r} is {value!r:.60}, and a template needs text; name "
            f"a field of it, such as {column}.0."
        )
    text = as_text(value)
    if not text.strip() and column not in row.account.allow_empty:
        raise UserError(
            f"{row.location}: column {column!r} is empty, and a template needs it; correct the "
            f"file, or add 'allow_empty: [{column}]' to the entry."
        )
    return text


def _with_marks(word: str, value: str) -> str:
    """Put the marks around an old word around the new ``value``: "dog," and cat give "cat,"."""
    body = word.strip(_BEFORE + _AFTER)
    if not body or not value:
        return value
    before, after = word.split(body, 1)
    if value[0] not in _BEFORE:
        value = before + value
    return value if value[-1] in _AFTER else value + after


def occurrences(sentence: str, text: str) -> Iterator[int]:
    """Yield the index of each occurrence of a text in a sentence; occurrences may overlap."""
    start = sentence.find(text)
    while start >= 0:
        yield start
        start = sentence.find(text, start + 1)


def word_span(row: Row, text: str, first: str | int, count: str | int = 1) -> Span:
    """Return the span of ``count`` words from index ``first``. UserError if the text lacks them.

    ``first`` and ``count`` are numbers, or names of columns with numbers.
    """
    index, length = (_number(row, name) for name in (first, count))
    words_from = row.account.words_from  # index that the files give to the first word
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    chosen = spans[max(index - words_from, 0) :][:length]
    if index < words_from or length < 1 or len(chosen) < length:
        number = "" if length == 1 else f" with {length} words"
        raise UserError(
            f"{row.location}: the word at index {index}{number} is not in {text!r}, whose "
            f"{len(spans)} words have the indices {words_from} to {words_from + len(spans) - 1}; "
            f"correct {first!r}, or set 'words_from'."
        )
    return chosen[0][0], chosen[-1][1]


def _number(row: Row, name: str | int) -> int:
    """Return a number, or the number in the column of that name."""
    digits = str(name).strip()
    if not digits.isdecimal():
        digits = comparable(cell(row, digits))
    if not digits.isdecimal():
        raise UserError(
            f"{row.location}: column {name!r} is {digits!r}; expected the index or number of words."
        )
    return int(digits)


def _named_or_literal(row: Row, name: str) -> str:
    """Return the column's text, or ``name`` as text. UserError if it seems a misspelt column."""
    if has_column(row, name, name, f"quote text: '{name}'"):
        return _column_text(row, name)
    similar = _similar(name, tuple(row.cells), 1)
    if similar or "_" in name:
        but = f", but {similar[0]!r}" if similar else ""
        raise UserError(
            f"{row.location} has no column {name!r}{but}; correct the template, or put text in "
            f"quotes: ='{name}'."
        )
    return name


_similar = lru_cache(maxsize=1000)(get_close_matches)
