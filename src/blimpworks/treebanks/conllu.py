"""A columnar CoNLL-U reader: whole files at once, one Arrow kernel per question.

Follows the format's definition (https://universaldependencies.org/format.html). Three
liberties that transport brings about are tolerated: a byte order mark, CRLF line ends and
surplus blank lines. Everything else is a malformed sentence, which either stops the
reading or is left out and listed.

Rows are lines that are not blank; a sentence is a run of rows between blank lines.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.errors import UserError
from blimpworks.tables import SENTENCES, TOKENS

FIELDS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
# Nine digits fit int32, so no cast of a match can overflow.
RANGE_OR_EMPTY_NODE = r"^(?P<first>0|[1-9][0-9]{0,8})(?P<mark>[-.])(?P<second>[1-9][0-9]{0,8})$"
FEATS = r"^[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*$"
SPACE_AFTER_NO = r"(^|\|)SpaceAfter=No(\||$)"
INTEGERS_LONGEST = 9

Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Mode = Literal["error", "set_aside"]


@dataclass(frozen=True, slots=True)
class Malformed:
    """A sentence that was left out: where its first problem is, and what it is."""

    treebank: str
    file: str
    line: int
    sent_id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The ``tokens`` and ``sentences`` of a file, and the sentences that were left out."""

    tokens: pa.Table
    sentences: pa.Table
    malformed: list[Malformed]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a file: text, line number from 1, sentence from 0, whether a comment."""

    text: pa.Array
    cells: pa.Array  # of each row that is no comment: list of its fields
    line: Integers
    sentence: Integers
    comment: Mask
    first: Integers  # of each sentence: its first row
    ends_mid_line: bool


@dataclass(frozen=True, slots=True)
class _Tokens:
    """The rows that are tokens of well-formed lines, one array per field."""

    fields: dict[str, pa.Array]
    line: Integers
    sentence: Integers
    is_word: Mask
    position: Integers  # words of the sentence before this row
    words: Integers  # of each sentence, malformed ones included


@dataclass(slots=True)
class _Complaints:
    """The first problem of each malformed sentence, as (line, reason)."""

    first: dict[int, tuple[int, str]] = field(default_factory=dict)

    def add(
        self, rows: _Rows | _Tokens, where: npt.ArrayLike, reason: Callable[[int], str]
    ) -> None:
        """Complain about each row of the mask ``where``; ``reason`` describes a row."""
        for row in np.flatnonzero(where):
            sentence, line = int(rows.sentence[row]), int(rows.line[row])
            if sentence not in self.first or line < self.first[sentence][0]:
                self.first[sentence] = (line, reason(int(row)))

    def accepted(self, sentences: int) -> Mask:
        """Which of the sentences nobody complained about."""
        mask = np.ones(sentences, dtype=np.bool_)
        mask[list(self.first)] = False
        return mask


def _numpy(array: Any) -> Any:
    """An Arrow array without nulls as a NumPy array."""
    return array.to_numpy(zero_copy_only=False)


def _always(reason: str) -> Callable[[int], str]:
    return lambda _: reason


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decode(data: bytes) -> tuple[str, list[int]]:
    """The text with LF line ends, and the numbers of lines that are not UTF-8."""
    broken: list[int] = []
    try:
        text = data.decode()
    except UnicodeDecodeError:
        broken = [n for n, line in enumerate(data.split(b"\n"), 1) if not _is_utf8(line)]
        text = data.decode(errors="replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return text.removeprefix("\ufeff"), broken


def _rows(text: str) -> _Rows:
    lines = pc.split_pattern(pa.array([text]), "\n").flatten()
    filled = _numpy(pc.not_equal(lines, ""))
    opens = filled & ~np.concatenate(([False], filled[:-1]))
    number = np.flatnonzero(filled)
    rows = lines.filter(pa.array(filled))
    comment = _numpy(pc.starts_with(rows, "#"))
    return _Rows(
        text=rows,
        cells=pc.split_pattern(rows.filter(pa.array(~comment)), "\t"),
        line=number + 1,
        sentence=np.cumsum(opens)[number] - 1,
        comment=comment,
        first=np.flatnonzero(opens[number]),
        ends_mid_line=not text.endswith("\n"),
    )


def _check_rows(rows: _Rows, broken: list[int], complaints: _Complaints) -> None:
    """Complain about what can be seen without looking into the fields."""
    where = np.isin(rows.line, broken)
    complaints.add(rows, where, _always("the line is not UTF-8, expected UTF-8"))

    if rows.ends_mid_line:
        where = np.arange(len(rows.line)) == len(rows.line) - 1
        complaints.add(rows, where, _always("the file ends in mid-line, expected a line end"))

    width = np.full(len(rows.line), len(FIELDS))
    width[~rows.comment] = _numpy(pc.list_value_length(rows.cells))
    complaints.add(
        rows,
        width != len(FIELDS),
        lambda row: f"{width[row]} tab-separated field(s), expected {len(FIELDS)}",
    )
    after_token = ~np.concatenate(([True], rows.comment[:-1]))
    after_token[rows.first] = False
    complaints.add(
        rows,
        rows.comment & after_token,
        _always("a comment after a token of its sentence, expected comments to come first"),
    )


def _columns(cells: pa.Array) -> dict[str, pa.Array]:
    flat = cells.flatten()
    return {
        name: flat.take(pa.array(np.arange(i, len(flat), len(FIELDS))))
        for i, name in enumerate(FIELDS)
    }


def _tokens(rows: _Rows, complaints: _Complaints) -> _Tokens:
    """The token rows of the sentences that nobody complained about."""
    accepted = complaints.accepted(len(rows.first))[rows.sentence]
    cells = rows.cells
    if complaints.first:
        cells = cells.filter(pa.array(accepted[~rows.comment]))
    columns = _columns(cells)
    keep = accepted & ~rows.comment
    sentence = rows.sentence[keep]
    is_word = _numpy(pc.ascii_is_decimal(columns["ID"]))
    words = np.bincount(sentence[is_word], minlength=len(rows.first))
    before_sentence = np.cumsum(words) - words
    position = np.cumsum(is_word) - is_word - before_sentence[sentence]
    return _Tokens(columns, rows.line[keep], sentence, is_word, position, words)


def _check_words(rows: _Rows, tokens: _Tokens, complaints: _Complaints) -> None:
    """Complain about sentences without words, at their first row."""
    empty = (tokens.words == 0) & complaints.accepted(len(rows.first))
    where = np.zeros(len(rows.line), dtype=np.bool_)
    where[rows.first[empty]] = True
    complaints.add(rows, where, _always("a sentence without words, expected at least one"))


def _check_blank(tokens: _Tokens, complaints: _Complaints) -> None:
    for name, column in tokens.fields.items():
        where = pc.or_(pc.equal(column, ""), pc.utf8_is_space(column))
        if pc.any(where).as_py():
            complaints.add(tokens, _numpy(where), _always(f"{name} is blank, expected a value"))


def _misplaced(tokens: _Tokens, rows: Integers) -> Mask:
    """Which of ``rows``, none of them words, are neither a range nor an empty node in place."""
    parts = pc.extract_regex(tokens.fields["ID"].take(pa.array(rows)), RANGE_OR_EMPTY_NODE)
    first, second = (
        _numpy(pc.fill_null(pc.struct_field(parts, name).cast(pa.int64()), -1))
        for name in ("first", "second")
    )
    before = tokens.position[rows]
    is_range = _numpy(pc.fill_null(pc.equal(pc.struct_field(parts, "mark"), "-"), False))
    last_word = tokens.words[tokens.sentence[rows]]
    in_place = (first == before + 1) & (second >= first) & (second <= last_word)
    mask: Mask = ~np.where(is_range, in_place, first == before)
    return mask


def _check_ids(tokens: _Tokens, complaints: _Complaints) -> None:
    """Word ids count from 1; ranges stand before their first word, empty nodes after a word."""
    ids = tokens.fields["ID"]
    expected = pa.array(tokens.position + 1).cast(pa.string())
    wrong = tokens.is_word & _numpy(pc.not_equal(ids, expected))
    others = np.flatnonzero(~tokens.is_word)
    wrong[others] = _misplaced(tokens, others)

    def reason(row: int) -> str:
        """What is wrong with the ID in a row."""
        found, before = ids[row].as_py(), tokens.position[row]
        expected = f"word {before + 1}, a range that begins with it or an empty node {before}.N"
        return f"ID {found!r}, expected {expected}"

    complaints.add(tokens, wrong, reason)


def _heads(tokens: _Tokens) -> pa.Array:
    """HEAD as integers, null where it is none (or has leading zeros)."""
    text = tokens.fields["HEAD"]
    short = pc.less_equal(pc.binary_length(text), INTEGERS_LONGEST)
    digits = pc.and_(pc.ascii_is_decimal(text), short)
    heads = pc.if_else(digits, text, None).cast(pa.int32())
    return pc.if_else(pc.equal(heads.cast(pa.string()), text), heads, None)


def _check_heads(tokens: _Tokens, heads: pa.Array, complaints: _Complaints) -> None:
    """A word's head is 0 or a word of its sentence; other rows have none."""
    text = tokens.fields["HEAD"]
    words = tokens.words[tokens.sentence]
    head = _numpy(pc.fill_null(heads, -1))
    fits = np.where(tokens.is_word, (head >= 0) & (head <= words), _numpy(pc.equal(text, "_")))

    def reason(row: int) -> str:
        """What is wrong with the HEAD in a row."""
        if not tokens.is_word[row]:
            return f"HEAD {text[row].as_py()!r} of a range or empty node, expected '_'"
        return f"HEAD {text[row].as_py()!r}, expected an integer from 0 to {words[row]}"

    complaints.add(tokens, ~fits, reason)


def _check_feats(tokens: _Tokens, complaints: _Complaints) -> None:
    feats = tokens.fields["FEATS"].dictionary_encode()
    bundles = feats.dictionary
    fits = pc.or_(pc.equal(bundles, "_"), pc.match_substring_regex(bundles, FEATS))
    complaints.add(
        tokens,
        ~_numpy(fits)[_numpy(feats.indices)],
        lambda row: f"FEATS {feats[row].as_py()!r}, expected '_' or name=value pairs joined by '|'",
    )


def _comment_values(rows: _Rows, key: str) -> pa.Array:
    """For each sentence the value of its last comment ``# key = value``, or null."""
    where = np.flatnonzero(rows.comment)
    comments = rows.text.take(pa.array(where))
    found = pc.extract_regex(comments, rf"^#\s*{key}\s*=(?P<value>.*)$")
    values = pc.utf8_trim_whitespace(pc.struct_field(found, "value"))
    filled = np.flatnonzero(_numpy(pc.fill_null(pc.not_equal(values, ""), False)))
    last = np.full(len(rows.first), -1)
    last[rows.sentence[where[filled]]] = filled
    return values.take(pa.array(last, mask=last < 0))


def _comments(rows: _Rows) -> pa.Array:
    """For each sentence the list of its comments, whole and in order."""
    where = np.flatnonzero(rows.comment)
    starts = np.searchsorted(rows.sentence[where], np.arange(len(rows.first) + 1))
    return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), rows.text.take(pa.array(where)))


def _value(column: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(column, "_"), None, column)


def _constant(value: str, length: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(np.zeros(length, dtype=np.int32), [value])


def _token_table(tokens: _Tokens, heads: pa.Array, number: Integers) -> pa.Table:
    cells = tokens.fields
    misc = cells["MISC"].dictionary_encode()
    joined = pc.match_substring_regex(misc.dictionary, SPACE_AFTER_NO)
    columns = {
        "sentence": pa.array(number[tokens.sentence], pa.int32()),
        "line": pa.array(tokens.line, pa.int32()),
        "id": cells["ID"],
        "word": pa.array(tokens.position + 1, pa.int32(), mask=~tokens.is_word),
        "form": cells["FORM"],
        "lemma": cells["LEMMA"],
        "head": heads,
        "deps": _value(cells["DEPS"]),
        "misc": _value(cells["MISC"]),
        "space_after": pc.invert(joined).take(misc.indices),
    }
    for name in ("upos", "xpos", "feats", "deprel"):
        columns[name] = _value(cells[name.upper()]).dictionary_encode()
    return pa.table(columns, schema=TOKENS.arrow())


def _sentence_table(
    rows: _Rows, words: Integers, number: Integers, treebank: str, file: str
) -> pa.Table:
    columns = {
        "sentence": pa.array(number, pa.int32()),
        "treebank": _constant(treebank, len(number)),
        "file": _constant(file, len(number)),
        "sent_id": _comment_values(rows, "sent_id"),
        "line": pa.array(rows.line[rows.first], pa.int32()),
        "words": pa.array(words, pa.int32()),
        "text": _comment_values(rows, "text"),
        "comments": _comments(rows),
    }
    return pa.table(columns, schema=SENTENCES.arrow())


def _stop(complaints: _Complaints, path: Path) -> None:
    line, reason = complaints.first[min(complaints.first)]
    raise UserError(
        f"{path}:{line}: {reason}; mend the file, or leave such sentences out "
        "with treebanks.malformed: set_aside."
    )


def parse_conllu(
    data: bytes, path: Path, treebank: str, malformed: Mode, first_sentence: int = 0
) -> Reading:
    """Read the bytes of a CoNLL-U file; ``path`` and ``treebank`` only name it.

    Sentences are numbered from ``first_sentence``. ``space_after`` is what MISC of the very
    line says. Raises UserError when there is no sentence, or at the first malformed one
    when ``malformed`` is "error".
    """
    text, broken = _decode(data)
    rows, complaints = _rows(text), _Complaints()
    if len(rows.first) == 0:
        raise UserError(f"{path} holds no sentence; expected CoNLL-U. Retrieve it again.")
    _check_rows(rows, broken, complaints)
    tokens = _tokens(rows, complaints)
    _check_words(rows, tokens, complaints)
    heads = _heads(tokens)
    _check_blank(tokens, complaints)
    _check_ids(tokens, complaints)
    _check_heads(tokens, heads, complaints)
    _check_feats(tokens, complaints)
    if complaints.first and malformed == "error":
        _stop(complaints, path)

    keep = complaints.accepted(len(rows.first))
    number = np.cumsum(keep) - 1 + first_sentence
    sentences = _sentence_table(rows, tokens.words, number, treebank, path.name)
    listed = [
        Malformed(treebank, path.name, line, sentences["sent_id"][index].as_py(), reason)
        for index, (line, reason) in sorted(complaints.first.items())
    ]
    token_table = _token_table(tokens, heads, number)
    if listed:
        sentences = sentences.filter(pa.array(keep))
        token_table = token_table.filter(pa.array(keep[tokens.sentence]))
    return Reading(token_table, sentences, listed)


def read_conllu(path: Path, treebank: str, malformed: Mode, first_sentence: int = 0) -> Reading:
    """``parse_conllu`` of a file. Raises UserError also when the file is missing."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; expected a treebank. Retrieve it.") from error
    return parse_conllu(data, path, treebank, malformed, first_sentence)
