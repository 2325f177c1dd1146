"""Reading attribute-varying grammars: files into one ``Grammar``.

A line is empty, a comment (``#``), the vary statement, or a rule: a left-hand side with
brackets, then alternatives with ``|`` between them. Rules for ``S[]`` are templates. A left-hand
side that comes again adds alternatives. Source: Mueller et al. (2020), section 3; what the paper
leaves open is as in the grammars that its authors released.
"""

from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import NoReturn

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedToken, VisitError

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError
from blimpworks.files import read_cells
from blimpworks.papers.clams.items.grammar.model import (
    COMMON,
    START,
    Alternative,
    Grammar,
    Place,
    Preterminal,
    Reference,
    Rule,
    Template,
    check_grammar,
    fail,
)

BLANKS = " \t\r"
ARROWS = ("→", "->", "=>", "=", ":", "::=")
"""What other notations have between the two sides of a rule; this one has a space."""
MISTAKES = {
    row.pop("mistake"): tuple(row.values())
    for row in read_cells(Path(__file__).with_name("mistakes.tsv"))
}
"""What stands there, what was expected and what to do, by what is wrong with a token."""


def common_beside(path: Path) -> Path | None:
    """The ``common.avg`` in a grammar's directory, if there is one and it isn't the grammar."""
    common = path.with_name(COMMON)
    return common if common != path and common.is_file() else None


def read_grammar(path: Path, common: Path | None, variant: Variant) -> Grammar:
    """Read a grammar, after ``common`` if given. Raises UserError with the place of a mistake."""
    reader = _Reader()
    for file in [common, path] if common else [path]:
        reader.read(file)
    rules = [Rule(name, tuple(words), place) for name, (words, place) in reader.rules.items()]
    grammar = Grammar(tuple(reader.templates), tuple(rules), tuple(reader.varied), path)
    check_grammar(grammar, variant, path)
    return grammar


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UserError(
            f"{path} is not a file; expected an attribute-varying grammar; correct the path."
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig")
        place = Place(path, before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)
        fail(
            place,
            f"the byte {data[error.start]:#04x}, which is not UTF-8",
            "text in UTF-8",
            "save the file in that encoding",
        )


@cache
def _parser() -> Lark:
    return Lark.open("grammar.lark", rel_to=__file__, parser="lalr", start=["start", "mistakes"])


@v_args(inline=True)
class _Reader(Transformer[Token, None]):
    """Collects the statements of files that are read one after another, in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.file = Path()
        self.templates: list[Template] = []
        self.rules: dict[Preterminal, tuple[list[Alternative], Place]] = {}
        self.varied: list[Reference] = []

    def read(self, file: Path) -> None:
        """Take in the statements of a file. Raises UserError for the first mistake."""
        self.file = file
        text = f"{_read(file)}\n"
        try:
            self.transform(_parser().parse(text, start="start"))
        except UnexpectedToken as error:
            _explain(error.token, error.expected, text.split("\n")[error.line - 1], file)
        except VisitError as error:
            raise error.orig_exc from None

    def _place(self, token: Token) -> Place:
        return _place(token, self.file)

    def REFERENCE(self, token: Token) -> Reference:
        """What ``Name[a,b]`` denotes."""
        name, _, inside = token.removesuffix("]").partition("[")
        inside = inside.strip(BLANKS)
        attributes = [each.strip(BLANKS) for each in inside.split(",")] if inside else []
        place = self._place(token)
        if token.type != "ITEM" and not {*BLANKS}.isdisjoint(token):
            fail(
                place,
                f"{token}, which has a blank in its brackets",
                "none, as the authors' program cuts rules and templates at blanks",
                "delete it, as in V[3,s]",
            )
        if "" in attributes:
            fail(
                place,
                f"{token}, where an attribute is empty",
                "attributes with single commas between them, as in V[3,s]",
                "delete a comma or write what is missing",
            )
        written = f"{name}[{','.join(attributes)}]"
        return Reference(Preterminal(name, frozenset(attributes), written), place)

    LEFT = ITEM = REFERENCE

    def sentence(self, *parts: Token | Reference) -> Template:
        """A template: its words and references."""
        first = parts[0]
        place = first.place if isinstance(first, Reference) else self._place(first)
        words = (part if isinstance(part, Reference) else str(part) for part in parts)
        return Template(tuple(words), place)

    def words(self, *words: Token) -> Alternative:
        return Alternative(" ".join(words), self._place(words[0]))

    def template(self, left: Token, *sentences: Template) -> None:
        """A line of templates."""
        _check_arrow(str(left), str(sentences[0].parts[0]), sentences[0].place)
        self.templates += sentences

    def rule(self, left: Reference, *alternatives: Alternative | None) -> None:
        """A line of alternatives, after those that the preterminal has had before."""
        written = [each or Alternative("", left.place) for each in alternatives]
        _check_arrow(str(left.target), written[0].text.split(" ")[0], written[0].place)
        known, _ = self.rules.setdefault(left.target, ([], left.place))
        known += written

    def vary(self, *items: Reference) -> None:
        self.varied += items


def _place(token: Token, file: Path, offset: int = 0) -> Place:
    return Place(file, token.line or 1, (token.column or 1) + offset)


def _check_arrow(left: str, first: str, place: Place) -> None:
    if first in ARROWS:
        fail(
            place,
            f"{first!r} after {left}",
            "the first word right after a space",
            f"delete {first}",
        )


def _explain(token: Token, expected: Collection[str], line: str, file: Path) -> NoReturn:
    """Raise the UserError for a token of ``line`` that is none of the ``expected`` terminals."""
    key = token.type if token.type in MISTAKES else _misplaced(token, expected, line)
    offsets = {"UNOPENED": len(token) - 1, "UNCLOSED": len(token) - 1, "no colon": len("vary")}
    facts = {
        "token": str(token),
        "closed": f"{token.partition(']')[0]}]",
        "left": line.partition("]")[0].lstrip(BLANKS) + "]",
        "item": line.partition(":")[2].strip(BLANKS),
    }
    message = (text.format_map(facts) for text in MISTAKES[key])
    fail(_place(token, file, offsets.get(key, 0)), *message)


def _misplaced(token: Token, expected: Collection[str], line: str) -> str:
    """What is wrong with a token that would be right elsewhere, as ``MISTAKES`` has it."""
    if "LEFT" in expected:
        if token.startswith("vary"):
            return "no colon"
        return "attributes of S" if token.startswith(f"{START}[") else "no left-hand side"
    if "ITEM" in expected or "SEMICOLON" in expected:
        return "no item" if token.type == "_NEWLINE" or token == ";" else "item"
    if token.type == "_NEWLINE" or token == "|":
        return "empty" if "|" in line else "no right-hand side"
    return "recursion"
