"""Evaluate formulas over the surprisals of an item's regions: predictions and effects.

``Prediction.parse("(6;%match%) < (6;%mismatch%)").margins(surprisals)`` returns a margin for each
item, above 0 where the prediction holds. ``(6;%match%)`` is the surprisal of region 6 in the
condition ``match``. Regions have numbers or names; ``*`` is the whole sentence. A prediction
compares sums of surprisals and numbers with ``<``, ``>`` and ``=``, and combines comparisons with
``&`` (binds tighter), ``|`` and ``!``. Round or square brackets group them. An effect is a sum. All
formulas of SyntaxGym (Gauthier et al. 2020, section 2) are valid.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from lark import Lark, Token, Transformer, Tree, v_args
from lark.exceptions import UnexpectedInput, UnexpectedToken

from blimpworks.errors import UserError
from blimpworks.scoring.tokens import Floats

WHOLE = "*"
"""Region that is the whole sentence."""
Region = tuple[str, str]
"""Name or number of a region, or WHOLE, and the name of a condition."""
ByRegion = Mapping[Region, Floats]
"""A number for each item [n], by region."""
ABSOLUTE, RELATIVE = 1e-3, 1e-5
"""Tolerances of ``=`` in syntaxgym-core, ``atol`` and ``rtol`` of ``numpy.isclose``."""
MOST_CHARACTERS, MOST_LEVELS = 5000, 200
"""Limits of a formula's length, and of the depth of its brackets and operators."""
LEAST_NORMAL = np.finfo(np.float64).tiny
"""Margin of ``=`` for a difference that equals the tolerance, since a margin of 0 is a tie."""
TERMINAL_NAMES = {
    "REGION": "a region before ';'",
    "CONDITION": "a condition between two '%'",
    "NUMBER": "a number",
    "SIGN": "one of < > =",
    "$END": "the end",
}
"""Names of the grammar's terminals, for messages."""
_EXAMPLES = {"start": "(6;%match%) < (6;%mismatch%)", "effect": "(6;%mismatch%) - (6;%match%)"}
"""Example of a formula for each start symbol of the grammar (``Formula.start``)."""


class _Sum(NamedTuple):
    """A sum of surprisals [n], or a number; and the bound of its rounding error."""

    value: Floats | float
    bound: Floats | float


@v_args(inline=True)
class _Margins(Transformer[Token, Floats]):
    """Compute a formula's margins from the surprisals of its regions and their rounding bounds.

    A method computes the rule of the grammar (predictions.lark) that has its name.
    """

    either = np.maximum  # ``a | b`` holds if the larger margin is positive
    both = np.minimum  # ``a & b`` holds if the smaller margin is positive

    def __init__(self, surprisals: ByRegion, bounds: ByRegion) -> None:
        super().__init__()
        self.surprisals = surprisals
        self.bounds = bounds

    def surprisal(self, region: Token, condition: Token) -> _Sum:
        key = _region(region, condition)
        return _Sum(self.surprisals[key], self.bounds.get(key, 0.0))

    def constant(self, number: Token) -> _Sum:
        return _Sum(float(number), 0.0)

    def negative(self, term: _Sum) -> _Sum:
        return _Sum(-term.value, term.bound)

    def plus(self, first: _Sum, second: _Sum) -> _Sum:
        return _Sum(first.value + second.value, first.bound + second.bound)

    def minus(self, first: _Sum, second: _Sum) -> _Sum:
        return _Sum(first.value - second.value, first.bound + second.bound)

    def comparison(self, first: _Sum, sign: Token, second: _Sum) -> Floats:
        """Return the margin of each comparison [n]: positive if it holds, 0 for a tie."""
        difference = np.asarray(self.minus(second, first).value)
        if sign == "=":
            margin: Floats = ABSOLUTE + RELATIVE * np.abs(second.value) - np.abs(difference)
            # As in numpy.isclose, a difference equal to the tolerance holds. Bounds of rounding are
            # not needed, because "=" has a tolerance.
            return np.where(margin == 0, LEAST_NORMAL, margin)
        difference = np.where(np.abs(difference) <= first.bound + second.bound, 0.0, difference)
        return difference if sign == "<" else 0.0 - difference

    def opposite(self, margin: Floats) -> Floats:
        """Negate margins as 0.0 - margin, which leaves a tie at 0.0, not at -0.0."""
        return 0.0 - margin


@dataclass(frozen=True)
class Formula:
    """A formula over surprisals of at least one region."""

    text: str
    regions: frozenset[Region]
    tree: Tree[Token] = field(repr=False, compare=False)
    start: ClassVar[str]
    """Symbol of the grammar that the text must match."""

    @classmethod
    @cache
    def parse(cls, text: str) -> Self:
        """Parse a formula. Raises UserError for a malformed one, and for one without a region."""
        if len(text) > MOST_CHARACTERS:
            raise UserError(
                f"formula {text[:40]!r}… has {len(text):,} characters; expected at most "
                f"{MOST_CHARACTERS:,}. Make several predictions of it."
            )
        try:
            tree = _parser().parse(text, cls.start)
        except UnexpectedInput as error:
            if isinstance(error, UnexpectedToken) and error.token.type == "$END":
                column, character = len(text), ""
            else:
                column = error.pos_in_stream or 0
                character = f", {text[column]!r}"
            raise UserError(
                f"formula {text!r} is malformed at column {column + 1}{character}; expected "
                f"{_expected(error)}."
            ) from None
        if _depth(tree) > MOST_LEVELS:
            raise UserError(
                f"formula {text[:40]!r}… has more than {MOST_LEVELS} levels; expected fewer. Make "
                "several predictions of it."
            )
        regions = frozenset(_region(*node.children) for node in tree.find_data("surprisal"))
        if not regions:
            raise UserError(
                f"formula {text!r} names no region; expected one such as {_EXAMPLES[cls.start]}."
            )
        return cls(text, regions, tree)


class Effect(Formula):
    """A sum or difference of surprisals, in their unit."""

    start = "effect"

    def values(self, surprisals: ByRegion) -> Floats:
        """Compute the effect in each item [n]; NaN where a surprisal is missing."""
        total: Any = _Margins(surprisals, {}).transform(self.tree)
        return np.asarray(total.value)


class Prediction(Formula):
    """A formula that must hold of an item."""

    start = "start"

    def margins(self, surprisals: ByRegion, bounds: ByRegion | None = None) -> Floats:
        """Return the prediction's margin in each item [n], in the unit of ``surprisals``.

        The prediction holds if its margin is above 0. At 0 it is a tie: neither the prediction nor
        its negation holds. The margin of ``a < b`` is b - a, the margin of ``a > b`` is a - b. The
        margin of ``a = b`` is the tolerance 1e-3 + 1e-5 |b| minus |a - b|. ``&`` takes the smaller
        margin, ``|`` the larger, ``!`` the negative.

        ``surprisals`` [n] of a region are NaN if missing; the margin is then NaN too.
        Sums that differ by no more than their ``bounds`` of rounding errors [n] are tied.
        """
        return _Margins(surprisals, bounds or {}).transform(self.tree)


def _region(region: Any, condition: Any) -> Region:
    return str(region), str(condition).strip("%")


@cache
def _parser() -> Lark:
    return Lark.open("predictions.lark", rel_to=__file__, parser="lalr", start=[*_EXAMPLES])


def _expected(error: UnexpectedInput) -> str:
    """List what the grammar allows where an error is, such as "'&', ')' or a number"."""
    names = error.accepts if isinstance(error, UnexpectedToken) else getattr(error, "allowed", ())
    texts = [
        TERMINAL_NAMES.get(name) or repr(_parser().get_terminal(name).pattern.value)
        for name in sorted(names or ())
    ]
    return " or ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _depth(tree: Tree[Token]) -> int:
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [(child, level + 1) for child in node.children if isinstance(child, Tree)]
    return deepest


SOBOL_POINTS = 1 << 14
"""Number of points of Sobol's sequence, which must be a power of 2."""


@cache
def chance_of(formulas: tuple[str, ...]) -> float:
    """Estimate the probability that all predictions hold for independent normal surprisals.

    The estimate is the share of simulated items in which they hold. It is exact for one comparison
    by "<" or ">", else wrong by less than 0.001.
    """
    from scipy.stats import norm, qmc

    predictions = [*map(Prediction.parse, formulas)]
    regions = sorted(frozenset().union(*(prediction.regions for prediction in predictions)))
    # Sobol's points cover the space evenly. With the opposite of each point, which swaps "<" and
    # ">", a comparison holds in half of the items.
    points = norm.ppf(qmc.Sobol(len(regions), seed=0).random(SOBOL_POINTS)).T
    values = dict(zip(regions, np.hstack([points, -points]), strict=True))
    hold = [prediction.margins(values) > 0 for prediction in predictions]
    return float(np.all(hold, axis=0).mean())
