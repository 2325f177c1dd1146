"""The formulas of cells: from the rows a cell selects to its value, and to words.

An exhibit names a formula for each cell. What is stored of it is its sentence, which people
read; ``formula_lookup.formula_of`` gives the formula of a sentence again, so that
``blimpworks explain`` can recompute any printed number. Formulas that one paper alone uses are
in the modules of its exhibits.
"""

import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Concatenate, Generic, ParamSpec, SupportsFloat

import pandas as pd

Arguments = ParamSpec("Arguments")
"""Parameters of a formula's function, after the rows."""


@dataclass(frozen=True)
class Formula:
    """A function from rows to a number, and the sentence that describes it and tells it apart."""

    sentence: str
    function: Callable[..., SupportsFloat] = field(compare=False, repr=False)
    """Takes the rows, and the arguments by name."""
    arguments: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Values that a template was given; empty where the formula is of no template."""
    takes_as_printed: bool = field(default=False, compare=False, repr=False)
    """Whether rounded rows are just what it is about: that they are adds no doubt."""

    def __call__(self, rows: pd.DataFrame) -> float:
        """Compute the number from ``rows``."""
        return float(self.function(rows, **self.arguments))

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Notation:
    """Notation of a value in sentences that is no number, word or other formula."""

    pattern: str
    """Regular expression, without groups, of what ``write`` gives."""
    write: Callable[[Any], str] = str
    read: Callable[[str], Any] = str


PLAIN = Notation(
    r"\S+",
    lambda value: repr(float(value)).removesuffix(".0") if isinstance(value, float) else str(value),
)
"""Notation of words, numbers (with all their digits) and formulas (by their sentence)."""
PHRASE = Notation(".+")
"""A text of several words."""


def choice(values: Mapping[str, Any]) -> Notation:
    """Notation of one of several values, given by what sentences call them."""
    names = {value: name for name, value in values.items()}
    return Notation("|".join(map(re.escape, values)), names.__getitem__, values.__getitem__)


@dataclass(frozen=True, eq=False)
class Template(Generic[Arguments]):
    """A formula with parameters: called with their values, it gives the ``Formula``."""

    text: str
    """Its sentence, with the names of parameters in braces."""
    function: Callable[Concatenate[pd.DataFrame, Arguments], SupportsFloat]
    notations: Mapping[str, Notation]
    """By parameter; others are words, numbers or formulas, by the function's annotations."""
    takes_as_printed: bool

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Formula:
        """The formula with these arguments, which are what its function takes after the rows."""
        bound = self._signature.bind(None, *args, **kwargs)
        bound.apply_defaults()
        _, *values = bound.arguments.items()
        arguments = dict(values)
        words = {name: self.notations.get(name, PLAIN).write(value) for name, value in values}
        nested = (value for value in arguments.values() if isinstance(value, Formula))
        as_printed = self.takes_as_printed or any(each.takes_as_printed for each in nested)
        return Formula(self.text.format(**words), self.function, arguments, as_printed)


def formula(
    text: str, /, *, takes_as_printed: bool = False, **notations: Notation
) -> Callable[[Callable[Concatenate[pd.DataFrame, Arguments], SupportsFloat]], Template[Arguments]]:
    """Decorator: a function of rows and further parameters becomes a template of formulas.

    ``text`` is the sentence with parameters in braces, ``notations`` say how it has those that
    are no plain words, numbers or formulas. For ``takes_as_printed`` see ``Formula``.
    """
    return lambda function: Template(text, function, notations, takes_as_printed)


@formula("sum of {column}")
def sum_of(rows: pd.DataFrame, column: str) -> float:
    """The sum of a column."""
    return float(rows[column].sum())


@formula("mean of {column}")
def mean_of(rows: pd.DataFrame, column: str) -> float:
    """The mean of a column."""
    return float(rows[column].mean())


@formula("mean({column})")
def column_mean(rows: pd.DataFrame, column: str) -> float:
    """The mean of a column, as some exhibits write it."""
    return float(rows[column].mean())


# The text of a row is no number: see ``TEXT``.
@formula("{column} of the row", column=Notation(r"(?!text )\S+"))
def of_row(rows: pd.DataFrame, column: str) -> float:
    """The value of the only row in a column."""
    return float(rows[column].item())


def truncate(value: float, decimals: int) -> float:
    """Cut a positive number after some decimals; rounding errors below a digit don't count."""
    unit: float = 10**decimals
    return math.floor(value * unit + 1e-9) / unit


@formula("{formula}, truncated to {decimals} decimals")
def truncated(rows: pd.DataFrame, formula: Formula, decimals: int) -> float:
    """Another formula, with all digits after some decimals cut off."""
    return truncate(formula(rows), decimals)


COUNT = Formula("number of rows", lambda rows: float(len(rows)))
TEXT = Formula("text of the row", lambda rows: float(len(rows)))
"""Of a cell whose text stands for itself: its value is the number of texts, 1."""
TOTAL = sum_of("n")
VALUES = sum_of("value")
MEAN = mean_of("value")
PERPLEXITY = column_mean("perplexity")
ACCURACY = Formula("100 × mean(correct)", lambda rows: 100 * rows["correct"].mean())
UNWEIGHTED = Formula("100 × mean(accuracy)", lambda rows: 100 * rows["accuracy"].mean())
KINDS = Formula("number of languages", lambda rows: rows["lang"].nunique())
PARADIGM_COUNT = Formula("number of paradigms", lambda rows: rows["paradigm"].nunique())
LARGEST = Formula("largest value", lambda rows: rows["value"].max())
PRODUCT = Formula("product of value", lambda rows: math.prod(map(float, rows["value"])))
QUOTIENT = Formula(
    "100 × first value ÷ second value",
    lambda rows: 100 * rows["value"].iloc[0] / rows["value"].iloc[1],
)
COMPLEMENT = Formula("1 − value of the row", lambda rows: 1 - rows["value"].item())


def select_rows(rows: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """Select rows by value, or list of values, of each column in ``where`` that they have."""
    for column, value in where.items():
        if column in rows:
            # Comparing is several times faster; but nothing equals a missing value.
            if isinstance(value, str | int):
                chosen = rows[column] == value
            else:
                chosen = rows[column].isin(value if isinstance(value, list) else [value])
            rows = rows if chosen.all() else rows[chosen]
    return rows
