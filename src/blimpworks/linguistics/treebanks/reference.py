"""The reference reader of CoNLL-U: sentence by sentence, with the conllu package.

It gives the same tables as the columnar reader and takes much longer: the one against which the
other can be checked on any treebank.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from conllu import TokenList

from blimpworks.errors import reading
from blimpworks.linguistics.treebanks.reading import (
    BYTE_ORDER_MARK,
    Malformed,
    Mode,
    Reading,
    must_be_mended,
    without_sentence,
)
from blimpworks.linguistics.treebanks.sentence import (
    Block,
    MalformedSentence,
    comment_values,
    parse_sentence,
)
from blimpworks.tables import SENTENCES, TOKENS, TableSchema

BATCH = 50_000
"""Rows that are held as Python objects at once."""


class _Table:
    """A table that grows row by row."""

    def __init__(self, schema: TableSchema) -> None:
        self.schema, self.batches = schema.arrow(), [schema.arrow().empty_table()]
        self.rows: list[tuple[Any, ...]] = []

    def add(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Append rows, whose values are in the order of the schema's columns."""
        self.rows += rows
        if len(self.rows) >= BATCH:
            self._close_batch()

    def _close_batch(self) -> None:
        columns = zip(*self.rows, strict=True)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, self.schema, strict=True)]
        self.batches.append(pa.Table.from_arrays(arrays, schema=self.schema))
        self.rows = []

    def whole(self) -> pa.Table:
        """All rows in one chunk; the labels of a column share one dictionary."""
        if self.rows:
            self._close_batch()
        return pa.concat_tables(self.batches).unify_dictionaries().combine_chunks()


def blocks(lines: Iterable[bytes]) -> Iterator[Block]:
    """The sentences of a file as they stand there, of its lines with their line ends."""
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
        text = text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text
        if text:
            texts.append(text)
        elif texts:
            yield Block(number - len(texts), texts, broken)
            texts, broken = [], []
    if texts:
        yield Block(number + 1 - len(texts), texts, broken, cut, unfinished=True)


def _value(cell: str) -> str | None:
    return None if cell == "_" else cell


def _token_rows(block: Block, tokens: TokenList, sentence: int) -> Iterator[tuple[Any, ...]]:
    first = block.line + len(block.lines) - len(tokens)
    for line, token in enumerate(tokens, start=first):
        ident, misc = token["id"], token["misc"]
        is_word = isinstance(ident, int)
        yield (
            sentence,
            line,
            str(ident) if is_word else "".join(map(str, ident)),
            ident if is_word else None,
            token["form"],
            token["lemma"],
            _value(token["upos"]),
            _value(token["xpos"]),
            _value(token["feats"]),
            token["head"],
            _value(token["deprel"]),
            _value(token["deps"]),
            _value(misc),
            "SpaceAfter=No" not in misc.split("|"),
        )


def parse_with_conllu(
    lines: Iterable[bytes], path: Path, treebank: str, malformed: Mode, first_sentence: int = 0
) -> Reading:
    """Read a CoNLL-U file, given as its lines; ``path`` and ``treebank`` only name it.

    Sentences are numbered from ``first_sentence``. Raises UserError when there is no sentence,
    or at the first malformed one when ``malformed`` is "error".
    """
    tokens, sentences, listed, number = _Table(TOKENS), _Table(SENTENCES), [], first_sentence
    for block in blocks(lines):
        try:
            parsed = parse_sentence(block)
        except MalformedSentence as problem:
            if malformed == "error":
                raise must_be_mended(path, problem.line, problem.reason) from problem
            name = comment_values(block.lines).get("sent_id")
            listed.append(Malformed(treebank, path.name, problem.line, name, problem.reason))
            continue
        tokens.add(_token_rows(block, parsed, number))
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
        sentences.add([row])
        number += 1
    if number == first_sentence and not listed:
        raise without_sentence(path)
    return Reading(tokens.whole(), sentences.whole(), listed)


def read_with_conllu(
    path: Path, treebank: str, malformed: Mode, first_sentence: int = 0
) -> Reading:
    """``parse_with_conllu`` of a file. Raises UserError also when the file is missing."""
    with reading(path, "a treebank", "Retrieve it."), path.open("rb") as lines:
        return parse_with_conllu(lines, path, treebank, malformed, first_sentence)
