"""Compute on the log-probabilities of tokens: sums, rounding errors, and the tokens of words.

Engines return float32 numbers. The rounding error of a token's log-probability v is at most
``roundings`` x 2^-24 x max(1, |v|) nats, where ``roundings`` counts the engine's float32 operations
for v. Errors of tokens may add up. Two sentences are a tie if their sums differ by no more than the
sum of their errors. A 5-gram model, for example, gives reordered words the same probability, and
only rounding makes one larger.

Sums are exact, and so do not depend on the order of tokens. docs/scoring.md derives the bound and
describes its tests.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise, zip_longest
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from blimpworks.campaign.engines import engines
from blimpworks.errors import UserError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
UNIT = 2.0**-24
"""Largest relative error of one float32 operation (its unit roundoff)."""
GRID = 2.0**32
"""Number of steps per nat of the grid for addends, finer than float32 above 2^-9.

In float64, sums of multiples of a step are exact up to 2 million nats.
"""


def rounding_of(engine_key: str) -> float:
    """Return an engine's relative error from its key. Raises UserError for an unknown engine."""
    name = engine_key.partition(" ")[0]
    roundings = {key: e.roundings for e in engines().values() for key in (e.name, *e.keys)}
    if name not in roundings:
        raise UserError(
            f"scores were made by the engine {name!r}, whose rounding is unknown; expected one of "
            f"{', '.join(roundings)}. Score again with this version of blimpworks."
        )
    return roundings[name] * UNIT


def exact_sums(row: Integers, values: Floats, count: int) -> Floats:
    """Sum ``values`` [t] by ``row`` [t] exactly on a grid of 2^-32, for ``count`` rows."""
    addends = np.rint(values * GRID) / GRID
    return np.asarray(np.bincount(row, weights=addends, minlength=count), dtype=np.float64)


def rounding_errors(values: Floats, rounding: Floats) -> Floats:
    """Return the largest error of each log-probability [t]: ``rounding`` x max(1, |v|) [nats]."""
    errors: Floats = rounding * np.maximum(1.0, np.abs(values))
    return errors


Offsets = NDArray[np.int64] | NDArray[np.int32]
END = "⟨end⟩"
"""Text that stands for a last token without characters, such as ``</s>``."""
Span = tuple[int, int]


class ScoredWord(TypedDict):
    """A word with the sum of its tokens' log-probabilities."""

    text: str
    logprob: float | None
    """Sum of the log-probabilities of its tokens [nats]; None if none was scored."""


class AlignedWords(TypedDict):
    """Words of two sentences that are shown in one column, the good sentence's first."""

    words: list[ScoredWord | None]
    differs: bool


def _spans(text: str, ends: Sequence[int]) -> list[Span]:
    word_spans = [match.span() for match in re.finditer(r"\S+", text)]
    if len(word_spans) > 1:
        return word_spans
    edges = [0, *dict.fromkeys(end for end in ends if end > 0)]
    edges = edges if edges[-1] == len(text) else [*edges, len(text)]
    return list(pairwise(edges))


def words_of(text: str, ends: Sequence[int], logprobs: Sequence[float | None]) -> list[ScoredWord]:
    """Return the words of a sentence, each with the sum of its tokens' log-probabilities [nats].

    A last token without characters counts as a word.
    """
    spans = _spans(text, ends)
    if not spans:
        return []
    word_ends = np.array([end for _, end in spans])
    token_ends = np.asarray(ends, np.int64)
    starts = token_starts(token_ends)
    # A token belongs to the word in which it ends, without white space at its end. White space
    # alone, and a token without a character (the first bytes of one), belong to the next word.
    stripped_ends = np.array([len(text[:end].rstrip()) for end in token_ends])
    token_ends_in_words = np.where(stripped_ends > starts, stripped_ends, token_ends)
    ending_word = np.searchsorted(word_ends, token_ends_in_words, side="left")
    next_word = np.searchsorted(word_ends, token_ends, side="right")
    word_of_token: Offsets = np.where(starts == token_ends, next_word, ending_word)
    word_of_token = np.minimum(word_of_token, len(spans) - 1)
    values = np.array([np.nan if value is None else value for value in logprobs], np.float64)
    has_end_token = len(ends) > 1 and ends[-1] == ends[-2] == len(text)
    in_words = slice(None, -1) if has_end_token else slice(None)
    word_scores = [
        _word(text[start:end], values[in_words][word_of_token[in_words] == number])
        for number, (start, end) in enumerate(spans)
    ]
    return [*word_scores, _word(END, values[-1:])] if has_end_token else word_scores


def _word(text: str, values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> ScoredWord:
    scored = values[~np.isnan(values)]
    return {"text": text, "logprob": float(scored.sum()) if len(scored) else None}


def align(first: Sequence[ScoredWord], second: Sequence[ScoredWord]) -> list[AlignedWords]:
    """Put the words of two sentences in columns, equal words in the same column."""
    good, bad = ([word["text"] for word in side] for side in (first, second))
    columns: list[AlignedWords] = []
    for operation, a, b, c, d in SequenceMatcher(None, good, bad, autojunk=False).get_opcodes():
        pairs = zip_longest(first[a:b], second[c:d])
        columns += [{"words": [*pair], "differs": operation != "equal"} for pair in pairs]
    return columns


def single(sentence: Sequence[ScoredWord]) -> list[AlignedWords]:
    """Put the words of one sentence in columns."""
    return [{"words": [word], "differs": False} for word in sentence]


def overlaps(
    starts: Offsets, ends: Offsets, first: int | Offsets, after: int | Offsets
) -> NDArray[np.bool_]:
    """Return for each token [tokens] whether it overlaps a region of characters.

    The region begins with ``first`` and ends before ``after``. A token without a character (the
    first bytes of one, ``</s>``) overlaps the region that has its position. An empty region, or one
    with a negative ``first``, has no token.
    """
    inside = (ends > first) | ((ends == starts) & (starts == first))
    real = (np.asarray(first) >= 0) & (np.asarray(first) < after)
    overlapping: NDArray[np.bool_] = real & (starts < after) & inside
    return overlapping


def token_starts(ends: Offsets) -> Offsets:
    """Return the start of each token of a text, which is the end of the token before."""
    return np.concatenate([np.zeros(min(1, len(ends)), ends.dtype), ends[:-1]])


def joint(text: str, first: int) -> int:
    """Return the start of the white space before character ``first``."""
    return len(text[:first].rstrip()) if first > 0 else first


def joined(
    starts: Offsets,
    ends: Offsets,
    joint: int | Offsets,
    first: int | Offsets,
    after: int | Offsets,
) -> NDArray[np.bool_]:
    """Extend ``overlaps`` by tokens of only the white space from ``joint`` to ``first``.

    Some words have a token with the space before them. With the space, all words' probabilities are
    those of continuations of the same prefix.
    """
    space = (starts >= joint) & (ends <= first) & (ends > starts) & (np.asarray(first) >= 0)
    tokens: NDArray[np.bool_] = overlaps(starts, ends, first, after) | space
    return tokens
