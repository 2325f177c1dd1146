"""Attention checks: a grammatical sentence against its words in an order that no sentence has."""

import unicodedata
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

FEWEST, MOST = 5, 15
"""Words of a sentence for a check; longer ones are taken where there are no others."""
TRIES = 200


def _parted(sentence: str) -> tuple[list[str], str]:
    """Words of a sentence, and the marks that end it."""
    body = sentence.strip()
    while body and unicodedata.category(body[-1])[0] in "PZ":
        body = body[:-1]
    return body.split(), sentence.strip()[len(body) :]


def suits(sentence: str) -> bool:
    """Whether a sentence has words enough to be scrambled beyond doubt."""
    words, _ = _parted(sentence)
    return len(words) >= FEWEST and len({*words}) >= FEWEST


def is_short(sentence: str) -> bool:
    """Whether a sentence is read at a glance."""
    return len(_parted(sentence)[0]) <= MOST


def _obvious(words: Sequence[str], order: Sequence[str]) -> bool:
    """Whether no two words follow each other as before, and another word stands last.

    Urdu's order is free enough for sentences to survive the move of a phrase; none survives this.
    """
    return order[-1] != words[-1] and not {*pairwise(words)} & {*pairwise(order)}


def scrambled(sentence: str, random: np.random.Generator) -> str:
    """The words of a sentence that ``suits``, in a random order; the marks at its end stay."""
    words, end = _parted(sentence)
    for _ in range(TRIES):
        order = [words[place] for place in random.permutation(len(words))]
        if _obvious(words, order):
            return " ".join(order) + end
    # Of sentences with many repeated words.
    return " ".join(reversed(words)) + end
