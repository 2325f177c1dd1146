"""Define formulas: functions from rows of a table to a number, each with a sentence.

A formula computes a cell, which is a number of an exhibit (a table or figure). Tables of cells
store its sentence, such as "mean of value"; ``formula_of`` finds the formula of a sentence, so that
``blimpworks explain`` can compute the number again. A ``Template`` makes formulas with parameters:
``mean_of("value")``. Formulas of one paper are in the modules of its exhibits.
"""

import inspect
import math
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from itertools import chain
from string import Formatter
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, SupportsFloat, get_type_hints

import pandas as pd

from blimpworks.campaign.registry import papers
from blimpworks.errors import UserError

Arguments = ParamSpec("Arguments")


@dataclass(frozen=True)
class Formula:
    """A function from rows to a number, and the sentence that describes and identifies it."""

    sentence: str
    function: Callable[..., SupportsFloat] = field(compare=False, repr=False)
    arguments: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    takes_as_printed: bool = field(default=False, compare=False, repr=False)
    """True if printed inputs are used as if exact, so that comparisons allow for no rounding."""

    def __call__(self, rows: pd.DataFrame) -> float:
        return float(self.function(rows, **self.arguments))

    def __str__(self) -> str:
        return self.sentence


class Notation(NamedTuple):
    """Functions that write a parameter's value in a sentence, and read it from a sentence."""

    pattern: str
    """Regular expression, without groups, that matches each result of ``write``."""
    write: Callable[[Any], str] = str
    read: Callable[[str], Any] = str


PLAIN_NOTATION = Notation(
    r"\S+",
    lambda value: repr(float(value)).removesuffix(".0") if isinstance(value, float) else str(value),
)
"""Notation that writes words, numbers (2 for 2.0) and formulas; ``NOTATIONS`` read them by type."""
PHRASE = Notation(".+")  # texts with spaces


def choice(value_by_name: Mapping[str, Any]) -> Notation:
    """Make the notation of a parameter with few values: {name in sentences: value}."""
    name_by_value = {value: name for name, value in value_by_name.items()}
    pattern = "|".join(map(re.escape, value_by_name))
    return Notation(pattern, name_by_value.__getitem__, value_by_name.__getitem__)


@dataclass(frozen=True, eq=False)
class Template(Generic[Arguments]):
    """A formula with parameters: ``mean_of("value")`` returns the ``Formula`` "mean of value"."""

    text: str
    """Sentence with parameters in braces, such as "mean of {column}"."""
    function: Callable[Concatenate[pd.DataFrame, Arguments], SupportsFloat]
    notations: Mapping[str, Notation]
    """{parameter: its notation}; other parameters have the notation of their type."""
    takes_as_printed: bool

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Formula:
        """Return the formula; the arguments are the function's parameters after the rows."""
        bound = self._signature.bind(None, *args, **kwargs)  # None in place of rows
        bound.apply_defaults()
        _rows, *parameters = bound.arguments.items()
        values = dict(parameters)
        as_printed, texts = self.takes_as_printed, {}
        for name, value in values.items():
            texts[name] = self.notations.get(name, PLAIN_NOTATION).write(value)
            # A formula may have another formula as a parameter.
            as_printed |= isinstance(value, Formula) and value.takes_as_printed
        return Formula(self.text.format(**texts), self.function, values, as_printed)


def formula(
    text: str, /, *, takes_as_printed: bool = False, **notations: Notation
) -> Callable[[Callable[Concatenate[pd.DataFrame, Arguments], SupportsFloat]], Template[Arguments]]:
    """Return a decorator that makes a ``Template`` of a function of rows and parameters.

    ``text`` is the sentence with parameters in braces. ``notations`` are for parameters that are
    neither words, numbers nor formulas. For ``takes_as_printed`` see ``Formula``.
    """
    return lambda function: Template(text, function, notations, takes_as_printed)


@formula("sum of {column}")
def sum_of(rows: pd.DataFrame, column: str) -> float:
    """Return the sum of a column."""
    return float(rows[column].sum())


@formula("mean of {column}")
def mean_of(rows: pd.DataFrame, column: str) -> float:
    """Return the mean of a column."""
    return float(rows[column].mean())


@formula("mean({column})")
def column_mean(rows: pd.DataFrame, column: str) -> float:
    """Return the mean of a column, as ``mean_of`` does. Stored cells have both sentences."""
    return float(rows[column].mean())


# The pattern excludes a column "text", since "text of the row" is the sentence of ``ROW_TEXT``.
@formula("{column} of the row", column=Notation(r"(?!text )\S+"))
def of_row(rows: pd.DataFrame, column: str) -> float:
    """Return the only row's value in a column."""
    return float(rows[column].item())


def truncate(value: float, decimals: int) -> float:
    """Cut a positive number after ``decimals`` digits, tolerating floating-point errors."""
    unit: float = 10**decimals
    return math.floor(value * unit + 1e-9) / unit


@formula("{formula}, truncated to {decimals} decimals")
def truncated(rows: pd.DataFrame, formula: Formula, decimals: int) -> float:
    """Return another formula's value, cut after ``decimals`` digits."""
    return truncate(formula(rows), decimals)


COUNT = Formula("number of rows", lambda rows: float(len(rows)))
ROW_TEXT = Formula("text of the row", lambda rows: float(len(rows)))
"""Formula of a cell of text, which has no number; the number of texts, 1, stands for it."""
N_SUM = sum_of("n")
SUM = sum_of("value")
MEAN = mean_of("value")
PERPLEXITY = column_mean("perplexity")
ACCURACY = Formula("100 × mean(correct)", lambda rows: 100 * rows["correct"].mean())
UNWEIGHTED = Formula("100 × mean(accuracy)", lambda rows: 100 * rows["accuracy"].mean())
LANGS = Formula("number of languages", lambda rows: rows["lang"].nunique())
PARADIGM_COUNT = Formula("number of paradigms", lambda rows: rows["paradigm"].nunique())
LARGEST = Formula("largest value", lambda rows: rows["value"].max())
PRODUCT = Formula("product of value", lambda rows: math.prod(map(float, rows["value"])))
QUOTIENT = Formula(
    "100 × first value ÷ second value",
    lambda rows: 100 * rows["value"].iloc[0] / rows["value"].iloc[1],
)
COMPLEMENT = Formula("1 − value of the row", lambda rows: 1 - rows["value"].item())


def select_rows(rows: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that ``where`` selects: {column: value or list}; ignore absent columns."""
    for column, value in where.items():
        if column in rows:
            # == is several times faster than isin, but finds no missing values.
            if isinstance(value, str | int):
                chosen = rows[column] == value
            else:
                chosen = rows[column].isin(value if isinstance(value, list) else [value])
            rows = rows if chosen.all() else rows[chosen]
    return rows


@cache
def declared() -> tuple[Formula | Template[Any], ...]:
    """Return each formula and template once, without formulas that templates have made."""
    # Digests of code miss modules imported by name, but cells are rebuilt if their formulas change.
    names = chain.from_iterable(paper.formulas for paper in papers().values())
    modules = [sys.modules[__name__], *map(import_module, names)]
    values = {id(value): value for module in modules for value in vars(module).values()}
    return tuple(
        value
        for value in values.values()
        if isinstance(value, Template) or (isinstance(value, Formula) and not value.arguments)
    )


@cache
def _reader(template: Template[Any]) -> tuple[re.Pattern[str], Mapping[str, Notation]]:
    """Return a pattern that matches a template's sentences, and the notation of each group in it.

    The pattern of "mean of {column}" is ``mean of (?P<column>…)``.
    """
    types = get_type_hints(template.function)
    notations: dict[str, Notation] = {}
    pattern = ""
    for text, name, _, _ in Formatter().parse(template.text):  # ("mean of ", "column", "", None)
        pattern += re.escape(text)
        if name in notations:
            pattern += f"(?P={name})"  # the same value again
        elif name:
            notations[name] = template.notations.get(name) or NOTATIONS[types[name]]
            pattern += f"(?P<{name}>{notations[name].pattern})"
    return re.compile(pattern), notations


def formulas_of(sentence: str) -> list[Formula]:
    """Return every formula with this sentence; more than one is a mistake."""
    candidates = [value for value in declared() if isinstance(value, Formula)]
    for template in (value for value in declared() if isinstance(value, Template)):
        pattern, notations = _reader(template)
        if match := pattern.fullmatch(sentence):
            # A text that matches by chance may be no sentence of a formula: then ``formula_of``,
            # which reads a formula as parameter, raises UserError.
            with suppress(UserError):
                values = {name: notation.read(match[name]) for name, notation in notations.items()}
                candidates.append(template(**values))
    # A pattern also matches texts that the formula does not write, such as 1.0 for 1.
    return [formula for formula in candidates if formula.sentence == sentence]


@cache
def formula_of(sentence: str) -> Formula:
    """Return the formula with this sentence. Raises UserError unless there is exactly one."""
    matches = formulas_of(sentence)
    if len(matches) != 1:
        raise UserError(
            f"{len(matches)} formulas are called {sentence!r}; expected one. If the cell is from "
            "another version of this package, build its exhibit again."
        )
    return matches[0]


# By the parameter's type. It comes last in this module, because it refers to ``formula_of``.
NOTATIONS: dict[Any, Notation] = {
    int: Notation(r"\d+", read=int),
    float: Notation(r"[\d.]+(?:e-?\d+)?", read=float),
    str: Notation(r"\S+"),
    Formula: Notation(".+", read=formula_of),
}
