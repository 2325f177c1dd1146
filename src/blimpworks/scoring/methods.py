"""Methods as data: what of a sentence's token scores is compared.

A method is a region of the sentence, whose log-probabilities are summed, and a number that
the sum is divided by. A new combination is a line of ``METHODS``; a new region or
normaliser is a function of columns.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from blimpworks.errors import UserError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Side:
    """Token scores of n sentences (all good ones, or all bad), flat over t tokens."""

    logprobs: pa.ListArray
    """n lists, NaN where a token is unscored."""
    ends: pa.ListArray
    """n lists: characters complete after each token."""
    span_start: Integers
    """[n] critical region, first character; negative where there is none."""
    span_end: Integers
    """[n] critical region, character after the last."""
    characters: Integers
    """[n] length of the sentence in code points."""

    @cached_property
    def row(self) -> Integers:
        """[t] sentence of each token."""
        rows: Integers = pc.list_parent_indices(self.logprobs).to_numpy(zero_copy_only=False)
        return rows

    @cached_property
    def value(self) -> Floats:
        """[t] log-probability of each token in nats."""
        flat = self.logprobs.flatten().to_numpy(zero_copy_only=False)
        return np.asarray(flat, dtype=np.float64)

    @cached_property
    def end(self) -> Integers:
        """[t] where each token ends."""
        return np.asarray(self.ends.flatten().to_numpy(zero_copy_only=False), dtype=np.int64)

    @cached_property
    def start(self) -> Integers:
        """[t] where each token starts: where the one before it in its sentence ends."""
        start = np.zeros_like(self.end)
        same = self.row[1:] == self.row[:-1]
        start[1:] = np.where(same, self.end[:-1], 0)
        return start


def whole_sentence(side: Side) -> Mask:
    """All tokens."""
    return np.ones(len(side.value), dtype=bool)


def critical_region(side: Side) -> Mask:
    """Tokens that overlap the critical region.

    A token without a character of its own (the first bytes of a character, ``</s>``) counts
    where it stands.
    """
    first, after = side.span_start[side.row], side.span_end[side.row]
    inside = (side.end > first) | ((side.end == side.start) & (side.start == first))
    overlaps: Mask = (first >= 0) & (side.start < after) & inside
    return overlaps


def one(side: Side, tokens: Integers) -> Integers:
    """No normalisation."""
    return np.ones_like(tokens)


def scored_tokens(side: Side, tokens: Integers) -> Integers:
    """Number of scored tokens of the region."""
    return tokens


def sentence_characters(side: Side, tokens: Integers) -> Integers:
    """Length of the sentence in code points."""
    return side.characters


@dataclass(frozen=True, slots=True)
class Method:
    """Sum of log-probabilities over ``region``, divided by ``divisor``."""

    region: Callable[[Side], Mask]
    divisor: Callable[[Side, Integers], Integers]


METHODS: dict[str, Method] = {
    "full_sentence": Method(whole_sentence, one),
    "per_token": Method(whole_sentence, scored_tokens),
    "per_character": Method(whole_sentence, sentence_characters),
    "critical_region": Method(critical_region, one),
}


def find_method(name: str) -> Method:
    """A method by name. Raises UserError, with the known names, for an unknown one."""
    if name not in METHODS:
        raise UserError(f"method {name!r} is unknown; expected one of {', '.join(METHODS)}.")
    return METHODS[name]


def evaluate(method: Method, side: Side) -> Floats:
    """Value of each sentence [n]; NaN where its region has no scored token."""
    chosen = method.region(side) & ~np.isnan(side.value)
    count = len(side.characters)
    tokens = np.bincount(side.row[chosen], minlength=count)
    sums = np.bincount(side.row[chosen], weights=side.value[chosen], minlength=count)
    divisor = np.where(tokens == 0, 1, method.divisor(side, tokens))
    return np.where(tokens == 0, np.nan, sums / divisor)
