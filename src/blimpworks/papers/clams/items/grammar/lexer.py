"""The tokens of a line of a grammar, each with its column."""

import re
from dataclasses import dataclass
from typing import Literal, NoReturn

from blimpworks.errors import UserError
from blimpworks.papers.clams.items.grammar.model import Place, Preterminal

BLANKS = " \t\r"
"""What separates words. Other white space, such as a no-break space, is part of a word."""
# A word may hold anything but blanks and what the language uses itself.
_TOKEN = re.compile(
    r"(?P<bar>\|)"
    r"|(?P<name>[^ \t\r|\[\]]*)\[(?P<attributes>[^\[\]|]*)\](?=[ \t\r|]|$)"
    r"|(?P<word>[^ \t\r|\[\]]+)(?=[ \t\r|]|$)"
)
_CLOSED = re.compile(r"[^ \t\r|\[\]]*\[[^\[\]|]*\]")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a bar between alternatives, or a preterminal."""

    kind: Literal["word", "bar", "preterminal"]
    text: str
    place: Place
    preterminal: Preterminal | None = None


def fail(place: Place, found: str, expected: str, advice: str) -> NoReturn:
    """Raise the one sentence that a mistake in a grammar is told in."""
    raise UserError(f"{place}: found {found}; expected {expected}; {advice}.")


def tokens_of(text: str, start: Place) -> list[Token]:
    """The tokens of ``text``, which stands at ``start``.

    Raises UserError for brackets that do not pair up, for names or attributes left out, and for
    what was meant as a comment.
    """
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        if text[position] in BLANKS:
            position += 1
            continue
        place = Place(start.file, start.line, start.column + position)
        if text[position] == "#":
            # The authors' program would take the comment for words of the sentence.
            fail(
                place,
                "a # inside a line",
                "words, as only lines that begin with # are comments",
                "move the comment to a line of its own",
            )
        match = _TOKEN.match(text, position)
        if match is None:
            _explain(text, position, place)
        tokens.append(_token(match, place))
        position = match.end()
    return tokens


def _token(match: re.Match[str], place: Place) -> Token:
    if match["bar"]:
        return Token("bar", "|", place)
    if match["word"]:
        return Token("word", match["word"], place)
    return Token("preterminal", match[0], place, _preterminal(match, place))


def _preterminal(match: re.Match[str], place: Place) -> Preterminal:
    """What ``Name[a,b]`` denotes: blanks around attributes do not count, those inside do."""
    if not match["name"]:
        fail(
            place,
            f"{match[0]} without a name",
            "a name right before the bracket, as in V[3,s]",
            "write the name, without a space after it",
        )
    inside = match["attributes"].strip(BLANKS)
    attributes = [each.strip(BLANKS) for each in inside.split(",")] if inside else []
    if "" in attributes:
        fail(
            place,
            f"{match[0]}, where an attribute is empty",
            "attributes with single commas between them, as in V[3,s]",
            "delete a comma or write what is missing",
        )
    written = f"{match['name']}[{','.join(attributes)}]"
    return Preterminal(match["name"], frozenset(attributes), written)


def _start_of(text: str) -> str:
    """What stands before the first blank, short enough for a message."""
    return text.split(maxsplit=1)[0][:40]


def _explain(text: str, position: int, place: Place) -> NoReturn:
    """Say what is wrong with the brackets of what stands at ``position``."""
    closed = _CLOSED.match(text, position)
    if closed:
        fail(
            place,
            f"{_start_of(text[position:])!r}, where something follows the closing bracket",
            f"a space or | after {closed[0]}",
            "put a space there",
        )
    bracket = next(i for i in range(position, len(text)) if text[i] in "[]")
    place = Place(place.file, place.line, place.column + bracket - position)
    if text[bracket] == "]":
        fail(
            place,
            "a closing bracket that nothing opens",
            "a name and an opening bracket before it, as in V[3,s]",
            "write the opening bracket or delete the closing one",
        )
    fail(
        place,
        "a bracket that is not closed",
        "] after the attributes, before any other bracket or |",
        "close it, as in V[3,s]",
    )
