"""Random samples of a corpus's training text, to train on less of it.

Source: Warstadt et al. (2020), sections 4 and 6.3: five samples of each of ten sizes.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.models.corpus import (
    VOCABULARY,
    Corpus,
    begin,
    read_corpus,
    seal,
    sentences_of,
    write_sentences,
)

SHARED = ("valid.txt", "test.txt", VOCABULARY)
"""Files that all samples of a corpus have in common with it."""


def draw_sentences(lengths: Sequence[int], tokens: int, seed: int) -> list[int]:
    """Numbers of sentences drawn at random until they have ``tokens`` words, in their order.

    ``lengths`` are the sentences' numbers of words. The last sentence drawn counts whole, so
    there may be a few words more; there are fewer only if all sentences together have fewer.
    What is drawn depends on ``seed`` and ``tokens``: samples of two sizes are independent.
    """
    order = np.random.default_rng((seed, tokens)).permutation(len(lengths))
    reached = np.cumsum(np.asarray(lengths, dtype=np.int64)[order])
    count = int(np.searchsorted(reached, tokens)) + 1
    numbers: list[int] = np.sort(order[:count]).tolist()
    return numbers


def _drawn(text: Path, chosen: Sequence[int]) -> Iterator[list[str]]:
    drawn = {*chosen}
    return (words for number, words in enumerate(sentences_of(text)) if number in drawn)


def sample_corpus(corpus: Path, sample: Path, *, tokens: int, seed: int) -> Corpus:
    """Write a corpus with a random part of another one's training text.

    ``corpus`` and ``sample`` are ``corpus.json`` files. Tokens are words of the corpus, ``<unk>``
    included and the end of a sentence not. Validation and test text and the vocabulary are those
    of the whole, so that models trained on samples of all sizes know the same words and their
    perplexities are of the same text.

    Raises UserError when the corpus is missing or altered, or has fewer tokens than asked for.
    """
    whole = read_corpus(corpus)
    there = whole.splits["train"].tokens
    text = corpus.parent / "train.txt"
    if tokens > there:
        raise UserError(
            f"{text} has {there:,} tokens, but a sample of {tokens:,} is asked for; take that size "
            "out of 'tokens' of the recipe, or give the corpus more text."
        )
    directory = begin(sample)
    chosen = draw_sentences([len(words) for words in sentences_of(text)], tokens, seed)
    write_sentences(directory / "train.txt", _drawn(text, chosen))
    for name in SHARED:
        with atomic(directory / name) as temporary:
            shutil.copyfile(corpus.parent / name, temporary)
    return seal(sample, whole.words, whole.options)
