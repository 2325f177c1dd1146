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


def _text(cells: list[str], at: int) -> str:
    return cells[at].replace(SPACE, " ")


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
PARSERS = dict.fromkeys(COLUMNS, _text) | {
    "id": _parsed(parse_id_value, None),
    "head": _parsed(parse_int_value, NO_HEAD),
}


def _framed(line: str) -> str:
    """A line of fields so that the package keeps all white space in them.

    It strips lines, and takes two spaces for a tab.
    """
    return f"_\t{line.replace(' ', SPACE)}\t_"


def _is_comment(line: str) -> bool:
    return line.startswith("#")


def comment_values(lines: Sequence[str]) -> dict[str, str | None]:
    """The values of a sentence's comments ``# key = value``, of each key the last one."""
    pairs = (parse_comment_line(line) for line in lines if _is_comment(line))
    return dict(pair for values in pairs for pair in values)


def _check_lines(block: Block) -> None:
    """Whether each line is UTF-8 and whole, has its fields, and comments come first."""
    for at, line in enumerate(block.lines):
        number, fields = block.line + at, line.count("\t") + 1
        if number in block.broken:
            raise MalformedSentence(number, "the line is not UTF-8, expected UTF-8")
        if block.cut and at == len(block.lines) - 1:
            raise MalformedSentence(number, "the file ends in mid-line, expected a line end")
        if not _is_comment(line) and fields != len(FIELDS):
            reason = f"{fields} tab-separated field(s), expected {len(FIELDS)}"
            raise MalformedSentence(number, reason)
        if _is_comment(line) and at and not _is_comment(block.lines[at - 1]):
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


def _id_text(ident: Any) -> str:
    return "".join(map(str, ident)) if isinstance(ident, tuple) else str(ident)


def _id_problem(cell: str, ident: Any, before: int, words: int) -> str | None:
    """What is wrong with an ID: words count from 1, ranges and empty nodes have their places."""
    if _id_text(ident) == cell and _in_place(ident, before, words):
        return None
    expected = f"word {before + 1}, a range that begins with it or an empty node {before}.N"
    return f"ID {cell!r}, expected {expected}"


def _head_problem(cell: str, head: int | None, words: int, *, is_word: bool) -> str | None:
    """What is wrong with a HEAD: words have 0 or a word of the sentence, other rows none."""
    if not is_word:
        return None if head is None else f"HEAD {cell!r} of a range or empty node, expected '_'"
    if head is not None and 0 <= head <= words:
        return None
    return f"HEAD {cell!r}, expected an integer from 0 to {words}"


def _self_problem(ident: Any, head: int | None, *, is_word: bool) -> str | None:
    """That a word is its own head."""
    if is_word and ident == head:
        return f"HEAD {head} of word {ident} is the word itself, expected another word"
    return None


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


def _feats_problem(cell: str) -> str | None:
    """What is wrong with FEATS, which the package parses whatever they look like."""
    pairs = (part.split("=") for part in cell.split("|"))
    if cell == "_" or all(len(pair) == 2 and all(pair) for pair in pairs):
        return None
    return f"FEATS {cell!r}, expected '_' or name=value pairs joined by '|'"


def _is_word(cell: str) -> bool:
    return cell.isascii() and cell.isdecimal()


def _check_tokens(first: int, rows: Sequence[list[str]], tokens: TokenList) -> None:
    """Whether the fields of tokens, ``rows`` as they are in the file, fit together."""
    words, before = sum(_is_word(row[0]) for row in rows), 0
    for at, (row, token) in enumerate(zip(rows, tokens, strict=True)):
        is_word = _is_word(row[0])
        blank = next(
            (n for n, cell in zip(FIELDS, row, strict=True) if not cell or cell.isspace()), None
        )
        reason = (
            (blank and f"{blank} is blank, expected a value")
            or _id_problem(row[0], token["id"], before, words)
            or _head_problem(row[6], token["head"], words, is_word=is_word)
            or _self_problem(token["id"], token["head"], is_word=is_word)
            or _feats_problem(row[5])
        )
        if reason:
            raise MalformedSentence(first + at, reason)
        before += is_word
    places = [at for at, row in enumerate(rows) if _is_word(row[0])]
    problem = _tree_problem([tokens[at]["head"] for at in places])
    if problem:
        word, reason = problem
        raise MalformedSentence(first + places[word - 1], reason)


def parse_sentence(block: Block) -> TokenList:
    """The tokens of a sentence and, as ``metadata``, the values of its comments.

    ``id`` and ``head`` are the package's values, other fields are text as it stands in the file.
    Raises MalformedSentence at the first problem.
    """
    _check_lines(block)
    comments = [line for line in block.lines if _is_comment(line)]
    rows = block.lines[len(comments) :]
    if not any(_is_word(row.partition("\t")[0]) for row in rows):
        raise MalformedSentence(block.line, "a sentence without words, expected at least one")
    data = "\n".join([*comments, *map(_framed, rows)])
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
