"""Reading attribute-varying grammars: files into one ``Grammar``.

A line is empty, a comment (``#``), the vary statement, or a rule: a left-hand side with
brackets, then alternatives with ``|`` between them. Rules for ``S[]`` are templates. A left-hand
side that comes again adds alternatives. Source: Mueller et al. (2020), section 3; what the paper
leaves open is as in the grammars that its authors released.
"""

from dataclasses import dataclass, field
from pathlib import Path

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError
from blimpworks.papers.clams.items.grammar.checks import check_grammar
from blimpworks.papers.clams.items.grammar.lexer import BLANKS, Token, fail, tokens_of
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
)

VARY = "vary"
ARROWS = ("→", "->", "=>", "=", ":", "::=")
"""What other notations have between the two sides of a rule; this one has a space."""


def common_beside(path: Path) -> Path | None:
    """The ``common.avg`` in a grammar's directory, if there is one and it isn't the grammar."""
    found = path.with_name(COMMON)
    return found if found != path and found.is_file() else None


def read_grammar(path: Path, common: Path | None, variant: Variant) -> Grammar:
    """The grammar of a file, after that of ``common`` if there is one, checked as a whole.

    Raises UserError with file, line and column for what is no grammar or cannot generate
    minimal sets in this variant, and for a file that cannot be read.
    """
    draft = _Draft()
    for file in [common, path] if common else [path]:
        for number, line in enumerate(_read(file).split("\n"), start=1):
            draft.add_line(line, file, number)
    grammar = draft.finish(path)
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


@dataclass
class _Draft:
    """A grammar while it is being read."""

    templates: list[Template] = field(default_factory=list)
    rules: dict[Preterminal, tuple[list[Alternative], Place]] = field(default_factory=dict)
    vary: list[Reference] = field(default_factory=list)
    varied_at: Place | None = None

    def add_line(self, line: str, file: Path, number: int) -> None:
        """Take in a line. Raises UserError for one that is no part of a grammar."""
        text = line.lstrip(BLANKS)
        place = Place(file, number, len(line) - len(text) + 1)
        text = text.rstrip(BLANKS)
        if text.startswith(VARY):
            self._add_vary(text, place)
        elif text and not text.startswith("#"):
            self._add_rule(tokens_of(text, place), place, place.column + len(text))

    def _add_vary(self, text: str, place: Place) -> None:
        if self.varied_at is not None:
            fail(
                place,
                "a second vary statement",
                f"a single one, which is at {self.varied_at}",
                "delete one, and write several names as vary: V[]; N[]",
            )
        self.varied_at = place
        after = text.removeprefix(VARY).lstrip(BLANKS)
        if not after.startswith(":"):
            fail(
                Place(place.file, place.line, place.column + len(VARY)),
                "no colon after vary",
                "vary: and a name, as in vary: V[]",
                "write the colon (and give no preterminal a name that starts with vary)",
            )
        column = place.column + len(text) - len(after) + 1
        for item in after[1:].split(";"):
            start = Place(place.file, place.line, column)
            self.vary.append(_vary_item(tokens_of(item, start), start))
            column += len(item) + 1

    def _add_rule(self, tokens: list[Token], place: Place, end: int) -> None:
        defined = _left_hand_side(tokens[0], place)
        alternatives = _split(tokens, Place(place.file, place.line, end))
        if defined.name == START:
            self.templates += [_template(tokens) for tokens in alternatives]
        else:
            known, _ = self.rules.setdefault(defined, ([], place))
            known += [_alternative(tokens, defined) for tokens in alternatives]

    def finish(self, file: Path) -> Grammar:
        """The grammar that the lines so far make up, of a file of its own."""
        rules = [Rule(name, tuple(found), at) for name, (found, at) in self.rules.items()]
        return Grammar(tuple(self.templates), tuple(rules), tuple(self.vary), file)


def _vary_item(tokens: list[Token], place: Place) -> Reference:
    if len(tokens) == 1 and tokens[0].preterminal:
        return Reference(tokens[0].preterminal, tokens[0].place)
    wrong = next((token for token in tokens if token.preterminal is None), None)
    text = " ".join(token.text for token in tokens)
    fail(
        wrong.place if wrong else place,
        f"{text!r} in the vary statement" if text else "nothing to vary",
        "names with brackets and a semicolon between any two, as in vary: V[]; N[p]",
        "write V[] for all attributes of V",
    )


def _left_hand_side(token: Token, place: Place) -> Preterminal:
    defined = token.preterminal
    if defined is None:
        fail(
            place,
            f"{token.text!r} at the start of a line, which is no rule",
            "a left-hand side with brackets, as in V[3,s] sings | laughs",
            "write the brackets (V[] has no attributes), or # before a comment",
        )
    if defined.name == START and defined.attributes:
        fail(
            place,
            f"a template with attributes, {defined}",
            f"{START}[] before each template",
            "delete the attributes, or give the preterminal another name",
        )
    return defined


def _split(tokens: list[Token], end: Place) -> list[list[Token]]:
    """The alternatives after the left-hand side. Raises UserError where one is empty."""
    left, *rest = tokens
    if rest and rest[0].text in ARROWS:
        fail(
            rest[0].place,
            f"{rest[0].text!r} after {left.text}",
            "the first word right after a space",
            f"delete {rest[0].text}",
        )
    alternatives: list[list[Token]] = [[]]
    for token in [*rest, Token("bar", "", end)]:
        if token.kind != "bar":
            alternatives[-1].append(token)
            continue
        if not alternatives[-1]:
            fail(
                token.place,
                f"an empty alternative of {left.text}" if rest else f"nothing after {left.text}",
                "words before and after each |" if rest else "a space and one or more words",
                "write the words" + (" or delete a |" if rest else ", or delete the line"),
            )
        alternatives.append([])
    return alternatives[:-1]


def _template(tokens: list[Token]) -> Template:
    parts = (
        Reference(token.preterminal, token.place) if token.preterminal else token.text
        for token in tokens
    )
    return Template(tuple(parts), tokens[0].place)


def _alternative(tokens: list[Token], defined: Preterminal) -> Alternative:
    for token in tokens:
        if token.preterminal:
            fail(
                token.place,
                f"a reference to {token.preterminal} in an alternative of {defined}",
                "words alone, as only templates refer to preterminals and nothing is recursive",
                "write its words out here, or move the reference into the templates",
            )
    return Alternative(" ".join(token.text for token in tokens), tokens[0].place)
