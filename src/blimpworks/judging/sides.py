"""Compute methods' values: totals over the token scores of n sentences at a time."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from blimpworks.campaign.methods import Method
from blimpworks.scoring.resolution import Floats, Integers, exact_sums, rounding_errors
from blimpworks.scoring.words import joined, joint, overlaps

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Side:
    """Token scores of n sentences (all good ones, or all bad), flat over t tokens."""

    texts: pa.StringArray
    logprobs: pa.ListArray
    """n lists, NaN where a token is unscored."""
    ends: pa.ListArray
    """n lists: number of characters complete after each token."""
    ids: pa.ListArray
    """n lists: id of each token."""
    rounding: Floats
    """[n] largest relative error of a log-probability among a sentence's tokens."""
    span_start: Integers
    """[n] critical region, first character; negative where there is none."""
    span_end: Integers
    """[n] critical region, character after the last."""

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
    def id(self) -> Integers:
        """[t] id of each token."""
        return np.asarray(self.ids.flatten().to_numpy(zero_copy_only=False), dtype=np.int64)

    @cached_property
    def end(self) -> Integers:
        """[t] where each token ends."""
        return np.asarray(self.ends.flatten().to_numpy(zero_copy_only=False), dtype=np.int64)

    @cached_property
    def start(self) -> Integers:
        """[t] start of each token: the end of the one before it in its sentence."""
        start = np.zeros_like(self.end)
        same = self.row[1:] == self.row[:-1]
        start[1:] = np.where(same, self.end[:-1], 0)
        return start

    @cached_property
    def last(self) -> Mask:
        """[t] whether a token is the last of its sentence."""
        last: Mask = np.ones(len(self.row), dtype=bool)
        last[:-1] = self.row[1:] != self.row[:-1]
        return last

    @cached_property
    def characters(self) -> Integers:
        """[n] length of each sentence in code points."""
        return np.asarray(pc.utf8_length(self.texts), dtype=np.int64)

    @cached_property
    def bytes(self) -> Integers:
        """[n] length of each sentence in bytes of UTF-8."""
        return np.asarray(pc.binary_length(self.texts), dtype=np.int64)

    @cached_property
    def joint(self) -> Integers:
        """[n] start of the white space before the critical region."""
        pairs = zip(self.texts.to_pylist(), self.span_start.tolist(), strict=True)
        return np.array([joint(text, first) for text, first in pairs], dtype=np.int64)


def without_end(side: Side) -> Mask:
    """Mask all tokens [t] except a last one that takes no character, such as ``</s>``."""
    outside: Mask = side.last & (side.start == side.end)
    return ~outside


def critical_region(side: Side) -> Mask:
    """Mask tokens [t] that overlap the critical region."""
    return overlaps(side.start, side.end, side.span_start[side.row], side.span_end[side.row])


def joined_region(side: Side) -> Mask:
    """Mask tokens [t] of the critical region, with the space that joins it to its prefix."""
    first, after = side.span_start[side.row], side.span_end[side.row]
    return joined(side.start, side.end, side.joint[side.row], first, after)


TOKEN_SETS: dict[str, Callable[[Side], Mask]] = {
    "all": lambda side: np.ones(len(side.value), dtype=bool),
    "text": without_end,
    "region": joined_region,
}
"""Masks by ``Method.tokens``; of "Cats sleep .</s>" text is all but </s>, region " sleep"."""


def divisors(method: Method, side: Side) -> Floats:
    """Return the divisor of each sentence's sum of log-probabilities [n]; NaN without a value.

    A region has a value only if all its tokens do. This is because a word with an unscored first
    token (``skip``) cannot be compared by the rest.
    """
    inside = TOKEN_SETS[method.tokens](side)
    count = len(side.characters)
    scored = np.bincount(side.row[inside & ~np.isnan(side.value)], minlength=count)
    divisor = scored.astype(np.float64) if method.aggregate == "mean" else np.ones(count)
    if method.length is not None:
        length: Integers = getattr(side, method.length)
        divisor *= length
    usable = scored > 0
    tokens = np.bincount(side.row[inside], minlength=count)
    if method.aggregate == "only":
        usable &= tokens == 1
    if method.tokens == "region":
        usable &= tokens == scored
    return np.where(usable & (divisor > 0), divisor, np.nan)


def totals(method: Method, side: Side) -> Floats:
    """Return the total of each sentence [n], in nats; NaN where it has none."""
    return _sums(method, side, side.value) / divisors(method, side)


def rounding_bounds(method: Method, side: Side) -> Floats:
    """Return the most that rounding can have moved each sentence's total [n], in nats."""
    errors = rounding_errors(side.value, side.rounding[side.row])
    return _sums(method, side, errors) / divisors(method, side)


def _sums(method: Method, side: Side, values: Floats) -> Floats:
    chosen = TOKEN_SETS[method.tokens](side) & ~np.isnan(side.value)
    return exact_sums(side.row[chosen], values[chosen], len(side.characters))


def with_common_scores(good: Side, bad: Side) -> Side:
    """Return ``bad`` with scores of ``good`` where their tokens are the same: batches differ."""
    count = len(good.characters)
    same: Mask = np.bincount(good.row, minlength=count) == np.bincount(bad.row, minlength=count)
    inside = same[good.row]
    differs = good.id[inside] != bad.id[same[bad.row]]
    same[good.row[inside][differs]] = False
    values = bad.value.copy()
    taken, bad_values = good.value[same[good.row]], values[same[bad.row]]
    values[same[bad.row]] = np.where(np.isnan(taken), bad_values, taken)
    offsets = np.concatenate([[0], np.cumsum(pc.list_value_length(bad.logprobs))])
    shared = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values))
    return replace(bad, logprobs=shared)


def shown(method: Method, total: Floats) -> Floats:
    """Return totals as the method shows them, for example as perplexities."""
    for change in method.shown:
        total = np.exp(total) if change == "exp" else -total
    return total
