"""Evaluate predictions: formulas over the surprisals of an item's regions in its conditions.

``(6;%match%)`` is the surprisal of region 6 (or a named one; ``*`` is the whole sentence) in the
condition ``match``. Surprisals and numbers are added and subtracted, and sums compared with ``<``,
``>`` and ``=``. Comparisons are combined with ``&`` (binds tighter), ``|`` and ``!``; brackets,
round or square, group. Effects are sums alone. Source: SyntaxGym (Gauthier et al. 2020, section 2),
whose formulas all are valid here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from lark import Lark, Token, Transformer, Tree, v_args
from lark.exceptions import UnexpectedInput, UnexpectedToken

from blimpworks.errors import UserError
from blimpworks.scoring.resolution import Floats

WHOLE = "*"
"""Region that is the whole sentence."""
Place = tuple[str, str]
"""Name or number of a region, or WHOLE, and a condition."""
Values = Mapping[Place, Floats]
"""A number for each item [n], by place."""

ABSOLUTE, RELATIVE = 1e-3, 1e-5
"""Tolerances of ``=`` in syntaxgym-core, ``atol`` and ``rtol`` of ``numpy.isclose``."""
LONGEST, DEEPEST = 5000, 200
"""Characters and levels of the largest formula."""
LEAST = np.finfo(np.float64).tiny
TERMINALS = {
    "REGION": "a region before ';'",
    "CONDITION": "a condition between two '%'",
    "NUMBER": "a number",
    "SIGN": "one of < > =",
    "$END": "the end",
}

_EXAMPLES = {"start": "(6;%match%) < (6;%mismatch%)", "effect": "(6;%mismatch%) - (6;%match%)"}


class _Sum(NamedTuple):
    """A sum of surprisals [n], and its bound of rounding [n]."""

    value: Floats | float
    bound: Floats | float


@v_args(inline=True)
class _Margins(Transformer[Token, Floats]):
    """Margins of a formula, from the surprisals of its places and their bounds of rounding."""

    either = np.maximum
    both = np.minimum

    def __init__(self, values: Values, bounds: Values) -> None:
        super().__init__()
        self.values = values
        self.bounds = bounds

    def place(self, region: Token, condition: Token) -> _Sum:
        region_key = _place(region, condition)
        return _Sum(self.values[region_key], self.bounds.get(region_key, 0.0))

    def constant(self, number: Token) -> _Sum:
        return _Sum(float(number), 0.0)

    def negative(self, term: _Sum) -> _Sum:
        return _Sum(-term.value, term.bound)

    def plus(self, left: _Sum, right: _Sum) -> _Sum:
        return _Sum(left.value + right.value, left.bound + right.bound)

    def minus(self, left: _Sum, right: _Sum) -> _Sum:
        return _Sum(left.value - right.value, left.bound + right.bound)

    def comparison(self, left: _Sum, sign: Token, right: _Sum) -> Floats:
        """Return how far the right sum is above or below the left one, or inside the tolerance."""
        ahead = np.asarray(self.minus(right, left).value)
        if sign == "=":
            inside: Floats = ABSOLUTE + RELATIVE * np.abs(right.value) - np.abs(ahead)
            # Like numpy.isclose, the tolerance includes its end. There the margin is the least
            # normal number instead of 0, so that it counts as holding within "&", "|" and "!" too.
            # Rounding makes no ties of "=": how equal is equal, its tolerance says.
            return np.where(inside == 0, LEAST, inside)
        ahead = np.where(np.abs(ahead) <= left.bound + right.bound, 0.0, ahead)
        return ahead if sign == "<" else 0.0 - ahead

    def opposite(self, margin: Floats) -> Floats:
        """Negate margins, from 0.0, so that a tie has no sign."""
        return 0.0 - margin


@dataclass(frozen=True)
class Formula:
    """A formula over surprisals of regions, of which it names at least one."""

    text: str
    places: frozenset[Place]
    tree: Tree[Token] = field(repr=False, compare=False)
    start: ClassVar[str]
    """Its symbol in the grammar."""

    @classmethod
    @cache
    def parse(cls, text: str) -> Self:
        """Parse a formula. UserError with column and expectation if malformed or without region."""
        if len(text) > LONGEST:
            raise UserError(
                f"formula {text[:40]!r}… has {len(text):,} characters; expected at most "
                f"{LONGEST:,}. Make several predictions of it."
            )
        try:
            tree = _parser().parse(text, cls.start)
        except UnexpectedInput as error:
            ends = isinstance(error, UnexpectedToken) and error.token.type == "$END"
            column = len(text) if ends else error.pos_in_stream or 0
            raise UserError(
                f"formula {text!r} is malformed at column {column + 1}"
                f"{'' if ends else f', {text[column]!r}'}; expected {_expected(error)}."
            ) from None
        if _depth(tree) > DEEPEST:
            raise UserError(
                f"formula {text[:40]!r}… has more than {DEEPEST} levels; expected fewer. Make "
                "several predictions of it."
            )
        regions = frozenset(
            _place(*region_node.children) for region_node in tree.find_data("place")
        )
        if not regions:
            raise UserError(
                f"formula {text!r} names no region; expected one such as {_EXAMPLES[cls.start]}."
            )
        return cls(text, regions, tree)


class Effect(Formula):
    """A sum or difference of surprisals, in their unit."""

    start = "effect"

    def values(self, values: Values) -> Floats:
        """Compute the effect in each item [n] from surprisals [n]; NaN where one is missing."""
        total: Any = _Margins(values, {}).transform(self.tree)
        return np.asarray(total.value)


class Prediction(Formula):
    """A formula that is to hold of each item."""

    start = "start"

    def margins(self, values: Values, bounds: Values | None = None) -> Floats:
        """Return how far the prediction is from not holding [n], in the unit of ``values``.

        ``values`` are surprisals [n] of each of ``places``; a missing one is NaN, and so is its
        margin. The margin of ``a < b`` is b - a, of ``a > b`` a - b. That of ``a = b`` is the
        tolerance 1e-3 + 1e-5 |b| minus |a - b|. ``&`` takes the smaller, ``|`` the larger, ``!``
        the negative. The prediction holds above 0. A difference of exactly the tolerance holds too,
        with the least normal number as margin. 0 is a tie, in which neither it nor its negation
        holds.

        Sums that differ by no more than ``bounds`` of rounding [n] are tied. KeyError for a place
        without values.
        """
        return _Margins(values, bounds or {}).transform(self.tree)


def _place(region: Any, condition: Any) -> Place:
    return str(region), str(condition).strip("%")


@cache
def _parser() -> Lark:
    return Lark.open("predictions.lark", rel_to=__file__, parser="lalr", start=[*_EXAMPLES])


def _expected(error: UnexpectedInput) -> str:
    names = error.accepts if isinstance(error, UnexpectedToken) else getattr(error, "allowed", ())
    texts = [
        TERMINALS.get(name) or repr(_parser().get_terminal(name).pattern.value)
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


POINTS = 1 << 14
"""Sampled surprisals that estimate the chance of predictions."""


@cache
def chance_of(formulas: tuple[str, ...]) -> float:
    """Compute the probability of all predictions under independent, equal normal surprisals.

    It takes ``POINTS`` of Sobol's sequence and their opposites: exact for a single comparison, else
    with an error below 0.001. "=" never holds. Raises UserError for a malformed formula.
    """
    from scipy.stats import norm, qmc

    predictions = [*map(Prediction.parse, formulas)]
    regions = sorted(frozenset().union(*(prediction.places for prediction in predictions)))
    points = norm.ppf(qmc.Sobol(len(regions), seed=0).random(POINTS)).T
    values = dict(zip(regions, np.hstack([points, -points]), strict=True))
    hold = [prediction.margins(values) > 0 for prediction in predictions]
    return float(np.all(hold, axis=0).mean())
