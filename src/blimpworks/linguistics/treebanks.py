r"""Read the CoNLL-U files of a language's treebanks into two tables, of tokens and of sentences.

``build_tokens``, a command, reads the files of a language with ``read_treebank``, and writes the
tables. A file has a line of ten tab-separated fields for each token; a blank line ends a sentence:

    # sent_id = w01
    1\tDogs\tdog\tNOUN\t_\tNumber=Plur\t2\tnsubj\t_\t_
    2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No

A token is a word (ID 3), a range of words that are written as one (3-4: *don't*), or an empty node,
an omitted word (3.1). The conllu package parses IDs and comments; this module checks the rules of
the format (https://universaldependencies.org/format.html). A byte order mark, CRLF line ends and
surplus blank lines are allowed. A malformed sentence is an error, or is left out and reported.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from conllu.exceptions import ParseException
from conllu.parser import parse_comment_line, parse_id_value, parse_int_value

from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.errors import UserError, reading
from blimpworks.files import write_text
from blimpworks.tables import SENTENCES, TOKENS, TableSchema, write_table

CONLLU_FIELDS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
INVALID_HEAD = -1
"""Value of a malformed HEAD; a HEAD "_" becomes None."""
LARGEST_NUMBER = 999_999_999
"""Largest number of an empty node, because tables have numbers of 32 bits."""
BATCH_ROWS = 50_000
"""Number of rows to convert to Arrow at a time; Python objects take more memory."""


class Malformed(NamedTuple):
    """Row of the report, for a sentence that was left out: line and reason of its first problem."""

    treebank: str
    file: str
    line: int
    sent_id: str
    reason: str


class Reading(NamedTuple):
    """Tables of a file's tokens and sentences, and the malformed sentences that were left out."""

    tokens: pa.Table
    sentences: pa.Table
    malformed: list[Malformed]


class Block(NamedTuple):
    """The lines of one sentence, without line ends."""

    first_line: int
    """Number of the first line in the file, from 1."""
    lines: Sequence[str]
    problems: Mapping[int, str]
    """{number of a line that cannot be read: reason}."""
    lacks_blank_line: bool = False
    """Whether the file ends after the block without a blank line."""


class MalformedSentence(Exception):
    """First problem of a sentence, with the number of its line in the file."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line, self.reason = line, reason


def _blocks(lines: Iterable[bytes]) -> Iterator[Block]:
    """Yield the sentences of a file, which blank lines separate."""
    texts: list[str] = []
    problems: dict[int, str] = {}
    number = 0
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            text = line.decode(errors="replace")
            problems[number] = "the line is not UTF-8, expected UTF-8"
        if text.endswith("\n"):
            text = text.removesuffix("\n").removesuffix("\r")
        else:
            problems.setdefault(number, "the file ends in mid-line, expected a line end")
        if number == 1:
            text = text.removeprefix("\ufeff")  # byte order mark
        if text:
            texts.append(text)
        elif texts:
            yield Block(number - len(texts), texts, problems)
            texts, problems = [], {}
    if texts:
        yield Block(number + 1 - len(texts), texts, problems, lacks_blank_line=True)


Token = dict[str, Any]
"""{field: text of its cell}, with the numbers "id" and "head" that ``_parse_token`` reads."""


def _parse_token(line: str) -> Token:
    """Split a line into cells, and read its ID and HEAD as numbers.

    The ID of a range, "3-4", becomes (3, "-", 4), that of an empty node, "3.1", (3, ".", 1).
    """
    token: Token = dict(zip(CONLLU_FIELDS, line.split("\t"), strict=True))
    # A number of thousands of digits raises ValueError.
    try:
        token["id"] = parse_id_value(token["ID"])
    except (ParseException, ValueError):
        token["id"] = None
    try:
        token["head"] = parse_int_value(token["HEAD"])
    except (ParseException, ValueError):
        token["head"] = INVALID_HEAD
    return token


def parse_sentence(block: Block) -> list[Token]:
    """Parse and check the tokens of a sentence. Raises MalformedSentence for the first problem."""
    last_line = block.first_line + len(block.lines) - 1
    token_lines: list[str] = []
    for number, line in enumerate(block.lines, start=block.first_line):
        if number in block.problems:
            raise MalformedSentence(number, block.problems[number])
        if not line.startswith("#"):
            field_count = line.count("\t") + 1
            if field_count != len(CONLLU_FIELDS):
                reason = f"{field_count} tab-separated field(s), expected {len(CONLLU_FIELDS)}"
                raise MalformedSentence(number, reason)
            token_lines.append(line)
        elif token_lines:
            reason = "a comment after a token of its sentence, expected comments to come first"
            raise MalformedSentence(number, reason)
    tokens = [_parse_token(line) for line in token_lines]
    if not any(_is_word(token) for token in tokens):
        raise MalformedSentence(block.first_line, "a sentence without words, expected at least one")
    _check_tokens(last_line - len(tokens) + 1, tokens)  # tokens are the last lines of the block
    if block.lacks_blank_line:
        reason = "the file ends without a blank line after its last sentence, expected one"
        raise MalformedSentence(last_line, reason)
    return tokens


def _is_word(token: Token) -> bool:
    return bool(token["ID"].isascii() and token["ID"].isdecimal())


def _check_tokens(first_line: int, tokens: Sequence[Token]) -> None:
    """Check ids, heads and features, and that the heads make a tree. Raises MalformedSentence.

    ``first_line`` is the line of the first token.
    """
    line_of_word = [line for line, token in enumerate(tokens, start=first_line) if _is_word(token)]
    # Number of words above the token, and last word of the range above it.
    words_before = range_end = 0
    for line, token in enumerate(tokens, start=first_line):
        problem = _token_problem(token, words_before, len(line_of_word))
        if problem:
            raise MalformedSentence(line, problem)
        if isinstance(token["id"], tuple) and token["id"][1] == "-":
            if words_before < range_end:
                reason = f"range {token['ID']} overlaps one that ends with word {range_end}"
                raise MalformedSentence(line, f"{reason}, expected ranges of different words")
            range_end = token["id"][2]
        words_before += _is_word(token)
    heads = [token["head"] for token in tokens if _is_word(token)]
    roots = [word for word, head in enumerate(heads, start=1) if head == 0]
    if not roots:
        reason = "no word of the sentence has HEAD 0, expected one root"
        raise MalformedSentence(line_of_word[0], reason)
    if len(roots) > 1:
        reason = f"words {roots[0]} and {roots[1]} have HEAD 0, expected one root"
        raise MalformedSentence(line_of_word[roots[1] - 1], reason)
    # From each word, the heads must lead to the root in at most as many steps as there are words.
    for start, line in enumerate(line_of_word, start=1):
        word, steps = start, 0
        while word and steps <= len(heads):
            word, steps = heads[word - 1], steps + 1
        if word:
            reason = f"the heads above word {start} go round in a circle, expected a tree"
            raise MalformedSentence(line, reason)


def _token_problem(token: Token, words_before: int, word_count: int) -> str:
    """Return a description of a token's first fault, or ""; ``words_before`` are words above it."""
    for name in CONLLU_FIELDS:
        if not token[name] or token[name].isspace():
            return f"{name} is blank, expected a value"

    # A range is before its first word, an empty node after the word with its number.
    next_word = words_before + 1
    match token["id"]:
        case int(word):
            in_order = word == next_word
        case (first, "-", last):
            in_order = first == next_word and first <= last <= word_count
        case (word, ".", number):
            in_order = word == words_before and number <= LARGEST_NUMBER
        case _:
            in_order = False
    # An ID such as 01 is wrong too: the numbers, written again, give another text.
    id_text = "".join(map(str, token["id"])) if isinstance(token["id"], tuple) else str(token["id"])
    if not in_order or id_text != token["ID"]:
        return (
            f"ID {token['ID']!r}, expected word {next_word}, a range that begins with it or an "
            f"empty node {words_before}.N"
        )

    head = token["head"]
    if not _is_word(token):
        if head is not None:
            return f"HEAD {token['HEAD']!r} of a range or empty node, expected '_'"
    elif head is None or not 0 <= head <= word_count:
        return f"HEAD {token['HEAD']!r}, expected an integer from 0 to {word_count}"
    elif head == token["id"]:
        return f"HEAD {head} of word {head} is the word itself, expected another word"

    features = [feature.split("=") for feature in token["FEATS"].split("|")]
    if token["FEATS"] != "_" and not all(len(pair) == 2 and all(pair) for pair in features):
        return f"FEATS {token['FEATS']!r}, expected '_' or name=value pairs joined by '|'"
    if len({pair[0] for pair in features}) < len(features):
        return f"FEATS {token['FEATS']!r} has a feature twice, expected each once (Gender=Fem,Masc)"
    return ""


def _table(rows: Iterator[tuple[Any, ...]], schema: TableSchema) -> pa.Table:
    """Return a table of ``rows``, whose cells are in the order of the schema's columns."""
    arrow = schema.arrow()
    batches = [arrow.empty_table()]
    while batch := [*islice(rows, BATCH_ROWS)]:
        columns = zip(*batch, strict=True)
        arrays = [pa.array(cells, field.type) for cells, field in zip(columns, arrow, strict=True)]
        batches.append(pa.Table.from_arrays(arrays, schema=arrow))
    return _joined(batches)


def _joined(tables: Iterable[pa.Table]) -> pa.Table:
    # Labels are stored as numbers, with a list of labels (dictionary) in each table; unite these.
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def _token_row(sentence: int, line: int, token: Token) -> tuple[Any, ...]:
    """Return a row of the table of tokens, in the order of its columns; "_" becomes None."""
    upos, xpos, feats, deprel, deps, misc = (
        None if token[name] == "_" else token[name]
        for name in ("UPOS", "XPOS", "FEATS", "DEPREL", "DEPS", "MISC")
    )
    word = token["id"] if _is_word(token) else None
    space_after = "SpaceAfter=No" not in token["MISC"].split("|")
    first_cells = sentence, line, token["ID"], word, token["FORM"], token["LEMMA"]
    return (*first_cells, upos, xpos, feats, token["head"], deprel, deps, misc, space_after)


def read_treebank(
    path: Path, treebank: str, options: TreebankOptions, first_sentence: int = 0
) -> Reading:
    """Read a CoNLL-U file, and number its sentences from ``first_sentence``.

    A sentence without ``sent_id`` is named by its first line, such as "line 12". ``space_after`` is
    False for a token whose MISC has SpaceAfter=No. Raises UserError if the file is missing, has no
    sentence, or has a malformed sentence and the options do not set it aside.
    """
    sentences: list[tuple[Any, ...]] = []
    malformed: list[Malformed] = []
    line_of_id: dict[str, int] = {}

    # A generator, so that ``_table`` converts a batch of rows at a time.
    def token_rows(lines: Iterable[bytes]) -> Iterator[tuple[Any, ...]]:
        """Yield rows of tokens; append rows to ``sentences`` and ``malformed`` on the way."""
        for block in _blocks(lines):
            # Values of comments such as "# sent_id = w01".
            comments = [line for line in block.lines if line.startswith("#")]
            metadata = dict(pair for line in comments for pair in parse_comment_line(line))
            sent_id = metadata.get("sent_id") or f"line {block.first_line}"
            try:
                tokens = parse_sentence(block)
                if sent_id in line_of_id:
                    reason = f"sent_id {sent_id!r} is that of line {line_of_id[sent_id]} too"
                    raise MalformedSentence(block.first_line, f"{reason}, expected another")
            except MalformedSentence as problem:
                if options.malformed == "error":
                    raise UserError(
                        f"{path}:{problem.line}: {problem.reason}; mend the file, or leave such "
                        "sentences out with treebanks.malformed: set_aside."
                    ) from problem
                entry = Malformed(treebank, path.name, problem.line, sent_id, problem.reason)
                malformed.append(entry)
                continue
            line_of_id[sent_id] = block.first_line
            number = first_sentence + len(sentences)
            for line, token in enumerate(tokens, start=block.first_line + len(comments)):
                yield _token_row(number, line, token)
            word_count = sum(map(_is_word, tokens))
            origin = number, treebank, path.name, sent_id, block.first_line
            sentences.append((*origin, word_count, metadata.get("text"), comments))

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
    """Write the tables of tokens and sentences of ``files``, and the report of malformed sentences.

    ``files`` are (name of the treebank, path). Sentences are numbered from 0, over all files.
    Returns the numbers of files, sentences, words, tokens (with ranges and empty nodes) and
    malformed sentences. Raises UserError like ``read_treebank``, before it writes anything.
    """
    readings: list[Reading] = []
    sentence_count = 0
    for treebank, path in files:
        readings.append(read_treebank(path, treebank, options, sentence_count))
        sentence_count += len(readings[-1].sentences)
    token_table = _joined(reading.tokens for reading in readings)
    sentence_table = _joined(reading.sentences for reading in readings)
    malformed = [entry for reading in readings for entry in reading.malformed]
    del readings  # the joined tables are copies
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
