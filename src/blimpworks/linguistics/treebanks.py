"""Read CoNLL-U treebanks of a language with the conllu package, as tables of tokens and sentences.

The package parses only ids, heads and comments. This module checks the format's other rules
(https://universaldependencies.org/format.html), but accepts a byte order mark, CRLF line ends and
surplus blank lines.
"""

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from conllu import TokenList, parse_token_and_metadata
from conllu.exceptions import ParseException
from conllu.parser import parse_comment_line, parse_id_value, parse_int_value

from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.errors import UserError, reading
from blimpworks.files import write_text
from blimpworks.tables import SENTENCES, TOKENS, TableSchema, write_table

CONLLU_FIELDS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
SPACE = "\ufdd0"
"""Noncharacter that replaces spaces while the package splits a line."""
NO_HEAD = -1
LARGEST_NUMBER = 999_999_999
"""Tables hold numbers of 32 bits."""
BATCH_ROWS = 50_000


class Malformed(NamedTuple):
    """Location and reason of the first problem of a sentence that was left out."""

    treebank: str
    file: str
    line: int
    sent_id: str | None
    reason: str


class Reading(NamedTuple):
    """Tokens and sentences of a file, and the problems of left out sentences."""

    tokens: pa.Table
    sentences: pa.Table
    malformed: list[Malformed]


class Block(NamedTuple):
    """Lines of a sentence, without line ends."""

    line: int
    """Number of the first line, from 1."""
    lines: Sequence[str]
    broken: Collection[int] = ()
    """Numbers of lines that are not UTF-8."""
    cut: bool = False
    """Whether the file ends with the block, without a line end."""
    unfinished: bool = False
    """Whether the file ends with the block, without a blank line."""


class MalformedSentence(Exception):
    """First problem of a sentence, with the number of the line."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line, self.reason = line, reason


def _blocks(lines: Iterable[bytes]) -> Iterator[Block]:
    """Yield the sentences of a file, which blank lines separate."""
    texts: list[str] = []
    broken: list[int] = []
    number, cut = 0, False
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            text = line.decode(errors="replace")
            broken.append(number)
        cut = not text.endswith("\n")
        text = text.removesuffix("\n") if cut else text.removesuffix("\n").removesuffix("\r")
        text = text.removeprefix("\ufeff") if number == 1 else text
        if text:
            texts.append(text)
        elif texts:
            yield Block(number - len(texts), texts, broken)
            texts, broken = [], []
    if texts:
        yield Block(number + 1 - len(texts), texts, broken, cut, unfinished=True)


def _parsed(parse: Callable[[str], Any], otherwise: Any) -> Callable[[list[str], int], Any]:
    """Make a parser for the package; its value is ``otherwise`` for a malformed cell."""

    def parser(cells: list[str], at: int) -> Any:
        try:
            return parse(cells[at])
        except (ParseException, ValueError):  # the latter for thousands of digits
            return otherwise

    return parser


PARSED_COLUMNS = ("start", *(name.lower() for name in CONLLU_FIELDS), "end")
PARSERS: dict[str, Callable[[list[str], int], Any]] = {
    **dict.fromkeys(PARSED_COLUMNS, lambda cells, at: cells[at].replace(SPACE, " ")),
    "id": _parsed(parse_id_value, None),
    "head": _parsed(parse_int_value, NO_HEAD),
}


def parse_sentence(block: Block) -> TokenList:
    """Parse the tokens of a sentence, and the values of its comments as ``metadata``.

    ``id`` and ``head`` are the package's values, other fields are texts. Raises MalformedSentence
    for the first problem.
    """
    for at, line in enumerate(block.lines):
        number, fields = block.line + at, line.count("\t") + 1
        if number in block.broken:
            raise MalformedSentence(number, "the line is not UTF-8, expected UTF-8")
        if block.cut and at == len(block.lines) - 1:
            raise MalformedSentence(number, "the file ends in mid-line, expected a line end")
        if not line.startswith("#") and fields != len(CONLLU_FIELDS):
            reason = f"{fields} tab-separated field(s), expected {len(CONLLU_FIELDS)}"
            raise MalformedSentence(number, reason)
        if line.startswith("#") and at and not block.lines[at - 1].startswith("#"):
            reason = "a comment after a token of its sentence, expected comments to come first"
            raise MalformedSentence(number, reason)
    comments = [line for line in block.lines if line.startswith("#")]
    rows = block.lines[len(comments) :]
    if not any(_is_word(row.partition("\t")[0]) for row in rows):
        raise MalformedSentence(block.line, "a sentence without words, expected at least one")
    # The package strips lines, and takes two spaces for a tab: add outer fields, replace spaces.
    framed = [f"_\t{row.replace(' ', SPACE)}\t_" for row in rows]
    tokens = parse_token_and_metadata("\n".join([*comments, *framed]), PARSED_COLUMNS, PARSERS)
    _check_tokens(block.line + len(comments), [row.split("\t") for row in rows], tokens)
    if block.unfinished:
        reason = "the file ends without a blank line after its last sentence, expected one"
        raise MalformedSentence(block.line + len(block.lines) - 1, reason)
    return tokens


def _is_word(cell: str) -> bool:
    return cell.isascii() and cell.isdecimal()


def _check_tokens(first: int, rows: Sequence[list[str]], tokens: TokenList) -> None:
    """Check ids, heads and features, and that the heads make a tree. Raises MalformedSentence.

    ``first`` is the number of the first token's line.
    """
    positions = [at for at, row in enumerate(rows) if _is_word(row[0])]
    before = 0
    for at, (row, token) in enumerate(zip(rows, tokens, strict=True)):
        reason = _token_problem(row, token["id"], token["head"], before, len(positions))
        if reason:
            raise MalformedSentence(first + at, reason)
        before += _is_word(row[0])
    heads = [tokens[at]["head"] for at in positions]
    roots = [word for word, head in enumerate(heads, start=1) if head == 0]
    if not roots:
        reason = "no word of the sentence has HEAD 0, expected one root"
        raise MalformedSentence(first + positions[0], reason)
    if len(roots) > 1:
        reason = f"words {roots[0]} and {roots[1]} have HEAD 0, expected one root"
        raise MalformedSentence(first + positions[roots[1] - 1], reason)
    for start, at in enumerate(positions, start=1):
        word, steps = start, 0
        while word and steps <= len(heads):
            word, steps = heads[word - 1], steps + 1
        if word:
            reason = f"the heads above word {start} go round in a circle, expected a tree"
            raise MalformedSentence(first + at, reason)


def _token_problem(row: Sequence[str], ident: Any, head: int | None, before: int, size: int) -> str:
    """Return the problem of a token that follows ``before`` of ``size`` words, or ""."""
    for name, cell in zip(CONLLU_FIELDS, row, strict=True):
        if not cell or cell.isspace():
            return f"{name} is blank, expected a value"
    written = "".join(map(str, ident)) if isinstance(ident, tuple) else str(ident)
    match ident:
        case int():
            in_order = ident == before + 1
        case (first, "-", last):
            in_order = first == before + 1 and last <= size
        case (first, ".", number):
            in_order = first == before and number <= LARGEST_NUMBER
        case _:
            in_order = False
    if written != row[0] or not in_order:
        return (
            f"ID {row[0]!r}, expected word {before + 1}, a range that begins with it or an empty "
            f"node {before}.N"
        )
    if not _is_word(row[0]):
        if head is not None:
            return f"HEAD {row[6]!r} of a range or empty node, expected '_'"
    elif head is None or not 0 <= head <= size:
        return f"HEAD {row[6]!r}, expected an integer from 0 to {size}"
    elif ident == head:
        return f"HEAD {head} of word {ident} is the word itself, expected another word"
    # The package accepts any text as FEATS.
    pairs = (pair.split("=") for pair in row[5].split("|"))
    if row[5] != "_" and not all(len(pair) == 2 and all(pair) for pair in pairs):
        return f"FEATS {row[5]!r}, expected '_' or name=value pairs joined by '|'"
    return ""


def _table(rows: Iterator[tuple[Any, ...]], schema: TableSchema) -> pa.Table:
    """Return a table of rows that have the order of the schema's columns."""
    arrow = schema.arrow()
    batches = [arrow.empty_table()]
    while batch := [*islice(rows, BATCH_ROWS)]:
        columns = zip(*batch, strict=True)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, arrow, strict=True)]
        batches.append(pa.Table.from_arrays(arrays, schema=arrow))
    return _joined(batches)


def _joined(tables: Iterable[pa.Table]) -> pa.Table:
    # Each column of labels gets one dictionary.
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def _value(cell: str) -> str | None:
    return None if cell == "_" else cell


def read_treebank(
    path: Path, treebank: str, options: TreebankOptions, first_sentence: int = 0
) -> Reading:
    """Read a CoNLL-U file; number its sentences from ``first_sentence``.

    ``space_after`` comes from MISC of the same line. Raises UserError if the file is missing, has
    no sentence, or has a malformed one that the options do not set aside.
    """
    sentences: list[tuple[Any, ...]] = []
    malformed: list[Malformed] = []

    def token_rows(lines: Iterable[bytes]) -> Iterator[tuple[Any, ...]]:
        """Yield rows of tokens; append rows to ``sentences`` and ``malformed``."""
        for block in _blocks(lines):
            try:
                parsed = parse_sentence(block)
            except MalformedSentence as problem:
                if options.malformed == "error":
                    raise UserError(
                        f"{path}:{problem.line}: {problem.reason}; mend the file, or leave such "
                        "sentences out with treebanks.malformed: set_aside."
                    ) from problem
                comments = (line for line in block.lines if line.startswith("#"))
                values = dict(pair for line in comments for pair in parse_comment_line(line))
                where = treebank, path.name, problem.line, values.get("sent_id")
                malformed.append(Malformed(*where, problem.reason))
                continue
            number = first_sentence + len(sentences)
            first = block.line + len(block.lines) - len(parsed)
            for line, token in enumerate(parsed, start=first):
                ident, misc = token["id"], token["misc"]
                is_word = isinstance(ident, int)
                yield (
                    number,
                    line,
                    str(ident) if is_word else "".join(map(str, ident)),
                    ident if is_word else None,
                    token["form"],
                    token["lemma"],
                    *(_value(token[name]) for name in ("upos", "xpos", "feats")),
                    token["head"],
                    *(_value(token[name]) for name in ("deprel", "deps", "misc")),
                    "SpaceAfter=No" not in misc.split("|"),
                )
            row = (
                number,
                treebank,
                path.name,
                parsed.metadata.get("sent_id"),
                block.line,
                sum(isinstance(token["id"], int) for token in parsed),
                parsed.metadata.get("text"),
                block.lines[: len(block.lines) - len(parsed)],
            )
            sentences.append(row)

    with reading(path, "a treebank", "Retrieve it."), path.open("rb") as lines:
        tokens = _table(token_rows(lines), TOKENS)
    if not sentences and not malformed:
        raise UserError(f"{path} holds no sentence; expected CoNLL-U. Retrieve it again.")
    return Reading(tokens, _table(iter(sentences), SENTENCES), malformed)


def build_tokens(
    files: list[tuple[str, Path]],
    tokens: Path,
    sentences: Path,
    malformed_report: Path,
    options: TreebankOptions,
) -> dict[str, int]:
    """Write tables of the tokens and sentences of ``files`` (treebank, path), and the report.

    Sentences are numbered from 0 through all files. Returns the numbers of files, sentences, words,
    tokens (with ranges and empty nodes) and sentences set aside. Raises UserError as
    ``read_treebank``, before it writes anything.
    """
    readings: list[Reading] = []
    number = 0
    for treebank, path in files:
        readings.append(read_treebank(path, treebank, options, number))
        number += len(readings[-1].sentences)
    token_table = _joined(reading.tokens for reading in readings)
    sentence_table = _joined(reading.sentences for reading in readings)
    malformed = [entry for reading in readings for entry in reading.malformed]
    del readings
    write_table(token_table, TOKENS, tokens)
    write_table(sentence_table, SENTENCES, sentences)
    report = io.StringIO()
    writer = csv.writer(report, delimiter="\t", lineterminator="\n")
    writer.writerows([Malformed._fields, *malformed])
    write_text(malformed_report, report.getvalue())
    return {
        "files": len(files),
        "sentences": len(sentence_table),
        "words": pc.count(token_table["word"]).as_py(),
        "tokens": len(token_table),
        "set_aside": len(malformed),
    }
