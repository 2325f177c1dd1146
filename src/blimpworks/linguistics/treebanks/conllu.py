"""A columnar CoNLL-U reader: whole files at once, one Arrow kernel per question.

Follows the format's definition (https://universaldependencies.org/format.html): the heads of a
sentence are a tree with one root, and a blank line stands behind each. Three liberties that
transport brings about are tolerated: a byte order mark, CRLF line ends and surplus blank lines.
Everything else is a malformed sentence, which either stops the reading or is left out and listed.

Rows are lines that are not blank; a sentence is a run of rows between blank lines.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.errors import reading
from blimpworks.linguistics.treebanks.reading import (
    BYTE_ORDER_MARK,
    FIELDS,
    Malformed,
    Mode,
    Reading,
    must_be_mended,
    without_sentence,
)
from blimpworks.tables import SENTENCES, TOKENS

if TYPE_CHECKING:
    from blimpworks.linguistics.treebanks.sentence import MalformedSentence

# Nine digits fit int32, so no cast of a match can overflow.
RANGE_OR_EMPTY_NODE = r"^(?P<first>0|[1-9][0-9]{0,8})(?P<mark>[-.])(?P<second>[1-9][0-9]{0,8})$"
FEATS = r"^[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*$"
SPACE_AFTER_NO = r"(^|\|)SpaceAfter=No(\||$)"
WHITE_SPACE = r"[\t-\r\x1c-\x20\x85\pZ]"  # what str.strip() strips; \s is ASCII here
INTEGERS_LONGEST = 9

Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


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
    ends_mid_sentence: bool


@dataclass(frozen=True, slots=True)
class _Tokens:
    """The rows that are tokens of well-formed lines, one array per field."""

    fields: dict[str, pa.Array]
    line: Integers
    sentence: Integers
    is_word: Mask
    position: Integers  # words of the sentence before this row
    words: Integers  # of each sentence, malformed ones included


def _numpy(array: Any) -> Any:
    # Of an Arrow array without nulls.
    return array.to_numpy(zero_copy_only=False)


def _decode(data: bytes) -> tuple[str, list[int]]:
    """Decode text with LF line ends; number the lines that are not UTF-8."""
    broken: list[int] = []
    try:
        text = data.decode()
    except UnicodeDecodeError:
        for number, line in enumerate(data.split(b"\n"), start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                broken.append(number)
        text = data.decode(errors="replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return text.removeprefix(BYTE_ORDER_MARK), broken


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
        ends_mid_sentence=not text.endswith("\n\n"),
    )


def _wrong_rows(rows: _Rows, broken: list[int]) -> Mask:
    """Which rows are wrong as far as can be seen without looking into the fields."""
    wrong: Mask = np.isin(rows.line, broken)
    wrong[~rows.comment] |= _numpy(pc.not_equal(pc.list_value_length(rows.cells), len(FIELDS)))
    wrong[-1] |= rows.ends_mid_sentence
    after_token = ~np.concatenate(([True], rows.comment[:-1]))
    after_token[rows.first] = False
    return wrong | (rows.comment & after_token)


def _tokens(rows: _Rows, wrong: Mask) -> _Tokens:
    """Take the token rows of the sentences that are not ``wrong``."""
    accepted = ~wrong[rows.sentence]
    cells = rows.cells
    if wrong.any():
        cells = cells.filter(pa.array(accepted[~rows.comment]))
    flat = cells.flatten()
    columns = {
        name: flat.take(pa.array(np.arange(first, len(flat), len(FIELDS))))
        for first, name in enumerate(FIELDS)
    }
    keep = accepted & ~rows.comment
    sentence = rows.sentence[keep]
    is_word = _numpy(pc.ascii_is_decimal(columns["ID"]))
    words = np.bincount(sentence[is_word], minlength=len(rows.first))
    before_sentence = np.cumsum(words) - words
    position = np.cumsum(is_word) - is_word - before_sentence[sentence]
    return _Tokens(columns, rows.line[keep], sentence, is_word, position, words)


def _wrong_ids(tokens: _Tokens) -> Mask:
    """Word ids count from 1; ranges stand before their first word, empty nodes after a word."""
    expected = pa.array(tokens.position + 1).cast(pa.string())
    wrong: Mask = tokens.is_word & _numpy(pc.not_equal(tokens.fields["ID"], expected))
    rows = np.flatnonzero(~tokens.is_word)
    parts = pc.extract_regex(tokens.fields["ID"].take(pa.array(rows)), RANGE_OR_EMPTY_NODE)
    first, second = (
        _numpy(pc.fill_null(pc.struct_field(parts, name).cast(pa.int64()), -1))
        for name in ("first", "second")
    )
    before = tokens.position[rows]
    is_range = _numpy(pc.fill_null(pc.equal(pc.struct_field(parts, "mark"), "-"), False))
    last_word = tokens.words[tokens.sentence[rows]]
    in_place = (first == before + 1) & (second >= first) & (second <= last_word)
    wrong[rows] = ~np.where(is_range, in_place, first == before)
    return wrong


def _heads(tokens: _Tokens) -> pa.Array:
    """HEAD as integers, null where it is none (or has leading zeros)."""
    text = tokens.fields["HEAD"]
    short = pc.less_equal(pc.binary_length(text), INTEGERS_LONGEST)
    digits = pc.and_(pc.ascii_is_decimal(text), short)
    heads = pc.if_else(digits, text, None).cast(pa.int32())
    return pc.if_else(pc.equal(heads.cast(pa.string()), text), heads, None)


def _wrong_heads(tokens: _Tokens, heads: pa.Array) -> Mask:
    """A word's head is 0 or another word of its sentence; other rows have none."""
    head, none = _numpy(pc.fill_null(heads, -1)), _numpy(pc.equal(tokens.fields["HEAD"], "_"))
    inside = (head >= 0) & (head <= tokens.words[tokens.sentence]) & (head != tokens.position + 1)
    mask: Mask = ~np.where(tokens.is_word, inside, none)
    return mask


def _wrong_trees(tokens: _Tokens, heads: pa.Array, wrong: Mask) -> Integers:
    """Sentences, of those that are not ``wrong``, whose heads are no tree with one root."""
    words = np.flatnonzero(tokens.is_word & ~wrong[tokens.sentence])
    sentence = tokens.sentence[words]
    head = _numpy(pc.fill_null(heads, 0)).astype(np.int64)[words]
    roots = np.bincount(sentence[head == 0], minlength=len(wrong))
    # Of each word its head's place among all words; a root is above itself.
    own = np.arange(len(words))
    above = np.where(head == 0, own, own - tokens.position[words] + head - 1)
    for _ in range(int(tokens.words.max(initial=0)).bit_length()):
        above = above[above]
    unsound = sentence[(roots[sentence] != 1) | (head[above] != 0)]
    return np.unique(unsound)


def _wrong_texts(tokens: _Tokens) -> Mask:
    """No field is blank, and FEATS are name=value pairs."""
    feats = tokens.fields["FEATS"].dictionary_encode()
    bundles = feats.dictionary
    fits = pc.or_(pc.equal(bundles, "_"), pc.match_substring_regex(bundles, FEATS))
    wrong: Mask = ~_numpy(fits)[_numpy(feats.indices)]
    for column in tokens.fields.values():
        wrong |= _numpy(pc.or_(pc.equal(column, ""), pc.utf8_is_space(column)))
    return wrong


def _comment_values(rows: _Rows, key: str) -> pa.Array:
    """For each sentence the value of its last comment ``# key = value``, or null."""
    where = np.flatnonzero(rows.comment)
    comments = rows.text.take(pa.array(where))
    matches = pc.extract_regex(comments, rf"^#{WHITE_SPACE}*{key}{WHITE_SPACE}*=(?P<value>.*)$")
    values = pc.utf8_trim_whitespace(pc.struct_field(matches, "value"))
    filled = np.flatnonzero(_numpy(pc.fill_null(pc.not_equal(values, ""), False)))
    last = np.full(len(rows.first), -1)
    last[rows.sentence[where[filled]]] = filled
    return values.take(pa.array(last, mask=last < 0))


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
    # The comments of each sentence, whole and in order.
    comments = np.flatnonzero(rows.comment)
    starts = np.searchsorted(rows.sentence[comments], np.arange(len(rows.first) + 1))
    columns = {
        "sentence": pa.array(number, pa.int32()),
        "treebank": _constant(treebank, len(number)),
        "file": _constant(file, len(number)),
        "sent_id": _comment_values(rows, "sent_id"),
        "line": pa.array(rows.line[rows.first], pa.int32()),
        "words": pa.array(words, pa.int32()),
        "text": _comment_values(rows, "text"),
        "comments": pa.ListArray.from_arrays(
            pa.array(starts, pa.int32()), rows.text.take(pa.array(comments))
        ),
    }
    return pa.table(columns, schema=SENTENCES.arrow())


def _problems(
    rows: _Rows, sentences: Integers, broken: list[int]
) -> "dict[int, MalformedSentence]":
    """What is wrong with some sentences, by their numbers, from 0."""
    if len(sentences) == 0:
        return {}
    from blimpworks.linguistics.treebanks.sentence import Block, explain

    edges = np.append(rows.first, len(rows.line))
    problems = {}
    for index in sentences:
        first, end = edges[index], edges[index + 1]
        last = end == len(rows.line)
        block = Block(
            int(rows.line[first]),
            rows.text[first:end].to_pylist(),
            broken,
            cut=bool(last and rows.ends_mid_line),
            unfinished=bool(last and rows.ends_mid_sentence),
        )
        problems[int(index)] = explain(block)
    return problems


def parse_conllu(
    data: bytes, path: Path, treebank: str, malformed: Mode, first_sentence: int = 0
) -> Reading:
    """Read the bytes of a CoNLL-U file; ``path`` and ``treebank`` only name it.

    Sentences are numbered from ``first_sentence``. ``space_after`` is what MISC of the very
    line says. Raises UserError when there is no sentence, or at the first malformed one
    when ``malformed`` is "error".
    """
    text, broken = _decode(data)
    rows = _rows(text)
    if len(rows.first) == 0:
        raise without_sentence(path)
    wrong: Mask = np.zeros(len(rows.first), dtype=np.bool_)
    wrong[rows.sentence[_wrong_rows(rows, broken)]] = True
    tokens = _tokens(rows, wrong)
    heads = _heads(tokens)
    wrong |= tokens.words == 0
    wrong_tokens = _wrong_texts(tokens) | _wrong_ids(tokens) | _wrong_heads(tokens, heads)
    wrong[tokens.sentence[wrong_tokens]] = True
    wrong[_wrong_trees(tokens, heads, wrong)] = True
    where = np.flatnonzero(wrong)
    problems = _problems(rows, where if malformed == "set_aside" else where[:1], broken)
    if problems and malformed == "error":
        [problem] = problems.values()
        raise must_be_mended(path, problem.line, problem.reason)

    number = np.cumsum(~wrong) - 1 + first_sentence
    sentences = _sentence_table(rows, tokens.words, number, treebank, path.name)
    listed = [
        Malformed(treebank, path.name, p.line, sentences["sent_id"][index].as_py(), p.reason)
        for index, p in problems.items()
    ]
    token_table = _token_table(tokens, heads, number)
    if listed:
        sentences = sentences.filter(pa.array(~wrong))
        token_table = token_table.filter(pa.array(~wrong[tokens.sentence]))
    return Reading(token_table, sentences, listed)


def read_conllu(path: Path, treebank: str, malformed: Mode, first_sentence: int = 0) -> Reading:
    """``parse_conllu`` of a file. Raises UserError also when the file is missing."""
    with reading(path, "a treebank", "Retrieve it."):
        data = path.read_bytes()
    return parse_conllu(data, path, treebank, malformed, first_sentence)
