"""Compute on the log-probabilities of a sentence's tokens: sums, errors, words and regions.

A tokenizer may divide "the dogs" into three tokens, with these character offsets::

    token   the   Ġdog   s
    start     0      3   7
    end       3      7   8      (the next token's start)

Engines return float32 numbers. The rounding error of a token's log-probability v is taken to be at
most ``roundings`` x 2^-24 x max(1, |v|) nats. ``roundings`` is the number of the engine's float32
operations for v; the sum over a vocabulary is one of them, though its error can be larger. Two
sentences are a tie if their sums differ by no more than the sum of all their tokens' errors. For
example, a 5-gram model can give reordered words the same probability, and only rounding makes one
sum larger. docs/ties.md derives the bound and describes its tests.
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
UNIT_ROUNDOFF = 2.0**-24
"""Largest relative error of one float32 operation."""
STEPS_PER_NAT = 2.0**32
"""Steps of the grid to which addends are rounded [1/nats]. All float32 numbers of at least 2^-9 are
on this grid. In float64, sums on the grid are exact up to 2 million nats."""


def rounding_of(engine_key: str) -> float:
    """Return an engine's relative rounding error from its key. UserError for an unknown engine."""
    name = engine_key.partition(" ")[0]
    roundings = {key: e.roundings for e in engines().values() for key in (e.name, *e.keys)}
    if name not in roundings:
        raise UserError(
            f"scores were made by the engine {name!r}, whose rounding is unknown; expected one of "
            f"{', '.join(roundings)}. Score again with this version of blimpworks."
        )
    return roundings[name] * UNIT_ROUNDOFF


def exact_sums(row: Integers, values: Floats, count: int) -> Floats:
    """Return the sum of ``values`` [tokens] in each row; ``row`` [tokens] is each token's row."""
    addends = np.rint(values * STEPS_PER_NAT) / STEPS_PER_NAT
    return np.asarray(np.bincount(row, weights=addends, minlength=count), dtype=np.float64)


def rounding_errors(values: Floats, rounding: Floats) -> Floats:
    """Return the rounding error of each log-probability; ``rounding`` is of ``rounding_of``."""
    errors: Floats = rounding * np.maximum(1.0, np.abs(values))
    return errors


Offsets = NDArray[np.int64] | NDArray[np.int32]
END = "⟨end⟩"
"""Text that is shown for a last token without characters, such as ``</s>``."""
Span = tuple[int, int]
"""Offsets of the first character and after the last character."""


class ScoredWord(TypedDict):
    """A word with its score."""

    text: str
    logprob: float | None
    """Sum of the log-probabilities of its tokens [nats]; None if no token was scored."""


class AlignedWords(TypedDict):
    """One column of a display: the good sentence's word above the bad sentence's."""

    words: list[ScoredWord | None]
    """A word of each sentence; None for a sentence without a word in this column."""
    differs: bool
    """Whether the words of the two sentences differ here."""


def _spans(text: str, ends: Sequence[int]) -> list[Span]:
    """Return the spans of words between white space; of tokens, if there is no white space."""
    word_spans = [match.span() for match in re.finditer(r"\S+", text)]
    if len(word_spans) > 1:
        return word_spans
    edges = [0, *dict.fromkeys(end for end in ends if end > 0)]
    edges = edges if edges[-1] == len(text) else [*edges, len(text)]
    return list(pairwise(edges))


def words_of(text: str, ends: Sequence[int], logprobs: Sequence[float | None]) -> list[ScoredWord]:
    """Return the words of a sentence, each with the sum of its tokens' log-probabilities [nats].

    ``ends`` and ``logprobs`` have an element for each token. With the ends 3, 7, 8 and the values
    -1, -2, -3, "the dogs" has the words "the" (-1) and "dogs" (-5). A last token without characters
    counts as a word. A text without spaces, such as Chinese, is divided at its tokens.
    """
    spans = _spans(text, ends)
    if not spans:
        return []
    word_ends = np.array([end for _, end in spans])
    token_ends = np.asarray(ends, np.int64)
    starts = token_starts(token_ends)
    # A token belongs to the word in which it ends, not counting white space at its end. A token of
    # white space, or without a character (the first bytes of one), belongs to the next word.
    stripped_ends = np.array([len(text[:end].rstrip()) for end in token_ends])
    token_ends_in_words = np.where(stripped_ends > starts, stripped_ends, token_ends)
    ending_word = np.searchsorted(word_ends, token_ends_in_words, side="left")
    next_word = np.searchsorted(word_ends, token_ends, side="right")
    word_of_token: Offsets = np.where(starts == token_ends, next_word, ending_word)
    word_of_token = np.minimum(word_of_token, len(spans) - 1)
    values = np.array([np.nan if value is None else value for value in logprobs], np.float64)
    # Two last tokens that both end the text: the second has no character, such as ``</s>``.
    has_end_token = len(ends) > 1 and ends[-1] == ends[-2] == len(text)
    without_end = slice(None, -1) if has_end_token else slice(None)
    scored_words = [
        _scored_word(text[start:end], values[without_end][word_of_token[without_end] == number])
        for number, (start, end) in enumerate(spans)
    ]
    return [*scored_words, _scored_word(END, values[-1:])] if has_end_token else scored_words


def _scored_word(text: str, values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> ScoredWord:
    scored = values[~np.isnan(values)]
    return {"text": text, "logprob": float(scored.sum()) if len(scored) else None}


def align(first: Sequence[ScoredWord], second: Sequence[ScoredWord]) -> list[AlignedWords]:
    """Put words of two sentences in columns, equal words in one: a/a, dog/dogs, barks/bark."""
    good, bad = ([word["text"] for word in side] for side in (first, second))
    columns: list[AlignedWords] = []
    # Each operation makes words a to b of the first sentence into words c to d of the second.
    for operation, a, b, c, d in SequenceMatcher(None, good, bad, autojunk=False).get_opcodes():
        pairs = zip_longest(first[a:b], second[c:d])
        columns += [{"words": [*pair], "differs": operation != "equal"} for pair in pairs]
    return columns


def align_single(sentence: Sequence[ScoredWord]) -> list[AlignedWords]:
    """Put the words of one sentence in columns, as ``align`` does for two."""
    return [{"words": [word], "differs": False} for word in sentence]


def overlaps(
    starts: Offsets, ends: Offsets, first: int | Offsets, after: int | Offsets
) -> NDArray[np.bool_]:
    """Return whether each token overlaps a region of characters [tokens].

    The region begins with character ``first`` and ends before ``after``: in "the dogs", the region
    4 to 8 overlaps the tokens "Ġdog" and "s". A token without a character (``</s>``, or the first
    bytes of a character) overlaps a region that begins at its position or has it inside. An empty
    region, or one with a negative ``first``, has no tokens.
    """
    is_inside = (ends > first) | ((ends == starts) & (starts == first))
    is_region = (np.asarray(first) >= 0) & (np.asarray(first) < after)
    overlapping: NDArray[np.bool_] = is_region & (starts < after) & is_inside
    return overlapping


def token_starts(ends: Offsets) -> Offsets:
    """Return the start of each token, which is the end of the token before [tokens]."""
    return np.concatenate([np.zeros(min(1, len(ends)), ends.dtype), ends[:-1]])


def space_start(text: str, first: int) -> int:
    """Return the start of the white space before character ``first``."""
    return len(text[:first].rstrip()) if first > 0 else first


def overlaps_with_space(
    starts: Offsets, ends: Offsets, space: int | Offsets, first: int | Offsets, after: int | Offsets
) -> NDArray[np.bool_]:
    """Return whether each token overlaps a region, or is in the white space before it [tokens].

    ``space`` is the start of the white space. Some tokenizers give a space its own token, others
    put it into the next word's token. With the space, scored tokens always follow the same text.
    """
    is_space = (starts >= space) & (ends <= first) & (ends > starts) & (np.asarray(first) >= 0)
    tokens: NDArray[np.bool_] = overlaps(starts, ends, first, after) | is_space
    return tokens
