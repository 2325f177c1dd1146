"""The values of methods: totals over the token scores of n sentences at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from blimpworks.scoring.methods import Method
from blimpworks.scoring.spans import joined, joint, overlaps

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Side:
    """Token scores of n sentences (all good ones, or all bad), flat over t tokens."""

    texts: pa.StringArray
    """n sentences."""
    logprobs: pa.ListArray
    """n lists, NaN where a token is unscored."""
    ends: pa.ListArray
    """n lists: characters complete after each token."""
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

    @cached_property
    def last(self) -> Mask:
        """[t] whether a token is the last of its sentence."""
        found: Mask = np.ones(len(self.row), dtype=bool)
        found[:-1] = self.row[1:] != self.row[:-1]
        return found

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
        """[n] where the white space before the critical region starts."""
        pairs = zip(self.texts.to_pylist(), self.span_start.tolist(), strict=True)
        return np.array([joint(text, first) for text, first in pairs], dtype=np.int64)


def every_token(side: Side) -> Mask:
    """All tokens [t]."""
    return np.ones(len(side.value), dtype=bool)


def without_end(side: Side) -> Mask:
    """[t] all tokens but a last one that takes no character, such as ``</s>``."""
    outside: Mask = side.last & (side.start == side.end)
    return ~outside


def critical_region(side: Side) -> Mask:
    """[t] tokens that overlap the critical region."""
    return overlaps(side.start, side.end, side.span_start[side.row], side.span_end[side.row])


def joined_region(side: Side) -> Mask:
    """[t] tokens of the critical region, with the space that joins it to its prefix."""
    first, after = side.span_start[side.row], side.span_end[side.row]
    return joined(side.start, side.end, side.joint[side.row], first, after)


REGIONS: dict[str, Callable[[Side], Mask]] = {
    "all": every_token,
    "text": without_end,
    "region": joined_region,
}


def divisors(method: Method, side: Side) -> Floats:
    """What each sentence's sum of log-probabilities is divided by [n]; NaN without a value.

    A region has a value only where all its tokens do: two words are not compared by what is
    left of one when its first token is unscored (``skip``).
    """
    inside = REGIONS[method.tokens](side)
    count = len(side.characters)
    scored = np.bincount(side.row[inside & ~np.isnan(side.value)], minlength=count)
    found = scored.astype(np.float64) if method.aggregate == "mean" else np.ones(count)
    if method.length is not None:
        length: Integers = getattr(side, method.length)
        found *= length
    usable = scored > 0
    tokens = np.bincount(side.row[inside], minlength=count)
    if method.aggregate == "only":
        usable &= tokens == 1
    if method.tokens == "region":
        usable &= tokens == scored
    return np.where(usable & (found > 0), found, np.nan)


def totals(method: Method, side: Side) -> Floats:
    """The total of each sentence [n], in nats; NaN where it has none."""
    chosen = REGIONS[method.tokens](side) & ~np.isnan(side.value)
    count = len(side.characters)
    sums = np.bincount(side.row[chosen], weights=side.value[chosen], minlength=count)
    found: Floats = sums / divisors(method, side)
    return found


def shown(method: Method, total: Floats) -> Floats:
    """Totals as the method shows them: a perplexity, say."""
    for change in method.shown:
        total = np.exp(total) if change == "exp" else -total
    return total
