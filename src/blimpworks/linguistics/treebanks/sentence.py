"""One sentence of a CoNLL-U file, parsed with the conllu package, or what is wrong with it.

The package parses ids, heads and comments and leaves it at that: a sentence may lack columns,
skip words or have heads beyond its end. The format's other rules
(https://universaldependencies.org/format.html) are checked here.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from conllu import TokenList, parse_token_and_metadata
from conllu.exceptions import ParseException
from conllu.parser import parse_comment_line, parse_id_value, parse_int_value

from blimpworks.linguistics.treebanks.reading import FIELDS

SPACE = "\ufdd0"
"""Stands for a space while the package splits a line: a noncharacter, which no text has."""
NO_HEAD = -1
LONGEST_NUMBER = 999_999_999
"""Tables hold numbers of 32 bits."""


@dataclass(frozen=True, slots=True)
class Block:
    """A sentence as it stands in the file: consecutive lines, none blank, without line ends."""

    line: int
    """Number of the first line, from 1."""
    lines: Sequence[str]
    broken: Collection[int] = ()
    """Numbers of lines that are not UTF-8."""
    cut: bool = False
    """Whether the file ends in its last line, without a line end."""
    unfinished: bool = False
    """Whether the file ends without a blank line after it."""


class MalformedSentence(Exception):
    """The first problem of a sentence: the number of its line, and what it is."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line, self.reason = line, reason


def _parsed(parse: Callable[[str], Any], otherwise: Any) -> Callable[[list[str], int], Any]:
    """A parser of a field that returns ``otherwise`` where the package refuses it."""

    def parser(cells: list[str], at: int) -> Any:
        """The value of a field."""
        try:
            return parse(cells[at])
        except (ParseException, ValueError):  # the latter for thousands of digits
            return otherwise

    return parser


COLUMNS = ("start", *(name.lower() for name in FIELDS), "end")
PARSERS: dict[str, Callable[[list[str], int], Any]] = {
    **dict.fromkeys(COLUMNS, lambda cells, at: cells[at].replace(SPACE, " ")),
    "id": _parsed(parse_id_value, None),
    "head": _parsed(parse_int_value, NO_HEAD),
}


def comment_values(lines: Sequence[str]) -> dict[str, str | None]:
    """The values of a sentence's comments ``# key = value``, of each key the last one."""
    pairs = (parse_comment_line(line) for line in lines if line.startswith("#"))
    return dict(pair for values in pairs for pair in values)


def _check_lines(block: Block) -> None:
    """Whether each line is UTF-8 and whole, has its fields, and comments come first."""
    for at, line in enumerate(block.lines):
        number, fields = block.line + at, line.count("\t") + 1
        if number in block.broken:
            raise MalformedSentence(number, "the line is not UTF-8, expected UTF-8")
        if block.cut and at == len(block.lines) - 1:
            raise MalformedSentence(number, "the file ends in mid-line, expected a line end")
        if not line.startswith("#") and fields != len(FIELDS):
            reason = f"{fields} tab-separated field(s), expected {len(FIELDS)}"
            raise MalformedSentence(number, reason)
        if line.startswith("#") and at and not block.lines[at - 1].startswith("#"):
            reason = "a comment after a token of its sentence, expected comments to come first"
            raise MalformedSentence(number, reason)


def _in_place(ident: Any, before: int, words: int) -> bool:
    """Whether an id follows ``before`` words in a sentence of ``words``."""
    match ident:
        case int():
            return ident == before + 1
        case (first, "-", last):
            return bool(first == before + 1 and last <= words)
        case (first, ".", number):
            return bool(first == before and number <= LONGEST_NUMBER)
    return False


def _tree_problem(heads: Sequence[int]) -> tuple[int, str] | None:
    """What keeps the heads of words 1, 2, … from being a tree: at which word, and why."""
    roots = [word for word, head in enumerate(heads, start=1) if head == 0]
    if not roots:
        return 1, "no word of the sentence has HEAD 0, expected one root"
    if len(roots) > 1:
        return roots[1], f"words {roots[0]} and {roots[1]} have HEAD 0, expected one root"
    for start in range(1, len(heads) + 1):
        word, above = start, 0
        while word and above <= len(heads):
            word, above = heads[word - 1], above + 1
        if word:
            return start, f"the heads above word {start} go round in a circle, expected a tree"
    return None


def _is_word(cell: str) -> bool:
    return cell.isascii() and cell.isdecimal()


def _token_problem(
    row: Sequence[str], ident: Any, head: int | None, before: int, words: int
) -> str:
    """Say what is wrong with the fields of a token after ``before`` words; "" if nothing."""
    for name, cell in zip(FIELDS, row, strict=True):
        if not cell or cell.isspace():
            return f"{name} is blank, expected a value"
    written = "".join(map(str, ident)) if isinstance(ident, tuple) else str(ident)
    if written != row[0] or not _in_place(ident, before, words):
        return (
            f"ID {row[0]!r}, expected word {before + 1}, a range that begins with it or an empty "
            f"node {before}.N"
        )
    if not _is_word(row[0]):
        if head is not None:
            return f"HEAD {row[6]!r} of a range or empty node, expected '_'"
    elif head is None or not 0 <= head <= words:
        return f"HEAD {row[6]!r}, expected an integer from 0 to {words}"
    elif ident == head:
        return f"HEAD {head} of word {ident} is the word itself, expected another word"
    # The package parses FEATS whatever they look like.
    pairs = (pair.split("=") for pair in row[5].split("|"))
    if row[5] != "_" and not all(len(pair) == 2 and all(pair) for pair in pairs):
        return f"FEATS {row[5]!r}, expected '_' or name=value pairs joined by '|'"
    return ""


def _check_tokens(first: int, rows: Sequence[list[str]], tokens: TokenList) -> None:
    """Check that the fields of tokens, ``rows`` as they are in the file, fit together."""
    words = [at for at, row in enumerate(rows) if _is_word(row[0])]
    before = 0
    for at, (row, token) in enumerate(zip(rows, tokens, strict=True)):
        reason = _token_problem(row, token["id"], token["head"], before, len(words))
        if reason:
            raise MalformedSentence(first + at, reason)
        before += _is_word(row[0])
    problem = _tree_problem([tokens[at]["head"] for at in words])
    if problem:
        word, reason = problem
        raise MalformedSentence(first + words[word - 1], reason)


def parse_sentence(block: Block) -> TokenList:
    """The tokens of a sentence and, as ``metadata``, the values of its comments.

    ``id`` and ``head`` are the package's values, other fields are text as it stands in the file.
    Raises MalformedSentence at the first problem.
    """
    _check_lines(block)
    comments = [line for line in block.lines if line.startswith("#")]
    rows = block.lines[len(comments) :]
    if not any(_is_word(row.partition("\t")[0]) for row in rows):
        raise MalformedSentence(block.line, "a sentence without words, expected at least one")
    # Framed, because the package strips lines, and takes two spaces for a tab.
    framed = [f"_\t{row.replace(' ', SPACE)}\t_" for row in rows]
    data = "\n".join([*comments, *framed])
    tokens = parse_token_and_metadata(data, COLUMNS, PARSERS)
    _check_tokens(block.line + len(comments), [row.split("\t") for row in rows], tokens)
    if block.unfinished:
        reason = "the file ends without a blank line after its last sentence, expected one"
        raise MalformedSentence(block.line + len(block.lines) - 1, reason)
    return tokens


def explain(block: Block) -> MalformedSentence:
    """What is wrong with a sentence that is known to be malformed."""
    try:
        parse_sentence(block)
    except MalformedSentence as problem:
        return problem
    raise AssertionError(f"the sentence at line {block.line} is well-formed")
