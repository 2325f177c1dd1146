"""Find the tokens of stretches of characters, and show sentences as words."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise, zip_longest
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

END = "⟨end⟩"
"""Text for a last token without characters, such as ``</s>``."""
Span = tuple[int, int]


class Word(TypedDict):
    """A word with the sum of its tokens' log-probabilities."""

    text: str
    logprob: float | None
    """Sum of log-probabilities [nats]; None where no token of it was scored."""


class Column(TypedDict):
    """Words at the same place of two sentences, in the sides' order."""

    words: list[Word | None]
    differs: bool


def _spans(text: str, ends: Sequence[int]) -> list[Span]:
    word_spans = [match.span() for match in re.finditer(r"\S+", text)]
    if len(word_spans) > 1:
        return word_spans
    edges = [0, *dict.fromkeys(end for end in ends if end > 0)]
    edges = edges if edges[-1] == len(text) else [*edges, len(text)]
    return list(pairwise(edges))


def words_of(text: str, ends: Sequence[int], logprobs: Sequence[float | None]) -> list[Word]:
    """Return words, each with its tokens' sum [nats]; a last token without characters is one."""
    spans = _spans(text, ends)
    if not spans:
        return []
    after = np.asarray(ends, np.int64)
    # A token belongs to the word in which it ends, white space at the token's end aside. Pure
    # white space, and a token without a character (the first bytes of one), belong to the next.
    edges = np.array([end for _, end in spans])
    starts = token_starts(after)
    empty = starts == after
    bare = np.array([len(text[:end].rstrip()) for end in after])
    last = np.where(bare > starts, bare, after)
    first_with = np.searchsorted(edges, last, side="left")
    behind = np.searchsorted(edges, after, side="right")
    word_of_token: Integers = np.minimum(np.where(empty, behind, first_with), len(spans) - 1)
    values = np.array([np.nan if value is None else value for value in logprobs], np.float64)
    closing = len(after) > 1 and after[-1] == after[-2] == len(text)
    inside = slice(None, -1) if closing else slice(None)
    word_scores = [
        _word(text[start:end], values[inside][word_of_token[inside] == number])
        for number, (start, end) in enumerate(spans)
    ]
    return [*word_scores, _word(END, values[-1:])] if closing else word_scores


def _word(text: str, values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Word:
    scored = values[~np.isnan(values)]
    return {"text": text, "logprob": float(scored.sum()) if len(scored) else None}


def align(first: Sequence[Word], second: Sequence[Word]) -> list[Column]:
    """Put the words of two sentences in columns: equal ones together, others side by side."""
    good, bad = ([word["text"] for word in side] for side in (first, second))
    columns: list[Column] = []
    for operation, a, b, c, d in SequenceMatcher(None, good, bad, autojunk=False).get_opcodes():
        pairs = zip_longest(first[a:b], second[c:d])
        columns += [{"words": [*pair], "differs": operation != "equal"} for pair in pairs]
    return columns


def single(words: Sequence[Word]) -> list[Column]:
    """Put the words of one sentence in columns."""
    return [{"words": [word], "differs": False} for word in words]


Integers = NDArray[np.int64] | NDArray[np.int32]


def overlaps(
    starts: Integers, ends: Integers, first: int | Integers, after: int | Integers
) -> NDArray[np.bool_]:
    """Tell for each token [tokens] whether it overlaps characters ``first`` to ``after``.

    ``after`` is exclusive. A token without a character (the first bytes of one, ``</s>``) counts at
    its place. An empty stretch, or one with a negative ``first``, has no token.
    """
    inside = (ends > first) | ((ends == starts) & (starts == first))
    real = (np.asarray(first) >= 0) & (np.asarray(first) < after)
    overlapping: NDArray[np.bool_] = real & (starts < after) & inside
    return overlapping


def token_starts(ends: Integers) -> Integers:
    """Return the start of each token of one text, which is the end of the one before."""
    return np.concatenate([np.zeros(min(1, len(ends)), ends.dtype), ends[:-1]])


def joint(text: str, first: int) -> int:
    """Return the start of the white space before character ``first``."""
    return len(text[:first].rstrip()) if first > 0 else first


def joined(
    starts: Integers,
    ends: Integers,
    joint: int | Integers,
    first: int | Integers,
    after: int | Integers,
) -> NDArray[np.bool_]:
    """Extend ``overlaps`` by tokens that hold only the white space from ``joint`` to ``first``.

    Some words share a token with the space before them. Only together with it are all words'
    probabilities those of continuations of the same prefix.
    """
    space = (starts >= joint) & (ends <= first) & (ends > starts) & (np.asarray(first) >= 0)
    tokens: NDArray[np.bool_] = overlaps(starts, ends, first, after) | space
    return tokens
