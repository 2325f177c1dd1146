"""Build corpora from treebanks and plain text, as Mueller et al. (2020) do from Wikipedia."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from blimpworks.campaign.settings.training import CorpusOptions, CorpusShares
from blimpworks.errors import UserError
from blimpworks.models.corpus import (
    SPECIALS,
    SPLITS,
    UNKNOWN,
    Corpus,
    Split,
    begin,
    seal,
    write_sentences,
    write_vocabulary,
)
from blimpworks.models.text import (
    HEADING,
    JOINED,
    clean,
    every_kth,
    item_texts,
    origins,
    plain_sentences,
    read_sentences,
    split_sentences,
    treebank_sentences,
    treebank_words,
)
from blimpworks.models.words import split_at_spaces, split_words

Words = tuple[str, ...]


class Candidate(NamedTuple):
    """A sentence that may enter a corpus."""

    text: str
    """Text as in its source."""
    words: Words


def make_vocabulary(sentences: Iterable[Sequence[str]], most: int, least: int) -> list[str]:
    """Return specials, then ``most`` words by falling frequency that occur ``least`` times."""
    counts = Counter(word for sentence in sentences for word in sentence)
    for special in SPECIALS:
        counts.pop(special, None)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    frequent = [word for word in ranked if counts[word] >= least]
    return [*SPECIALS, *frequent[: max(0, most - len(SPECIALS))]]


def tokenised_sentences(text: Path) -> Iterator[str]:
    """Yield sentences of a tokenised plain text file: a line each, cleaned.

    A file with headings of the form ``= Title =`` is WikiText, whose lines are paragraphs. Headings
    go, sentences are split, and the parts around ``@-@`` (also ``@,@``, ``@.@``) are one word
    again. Its ``<unk>`` stay, since they are unknown words. Raises UserError when the file is
    missing or not UTF-8.
    """
    lines = read_sentences(text)
    wikitext = any(map(HEADING.match, lines))
    for line in lines:
        if not wikitext:
            yield clean(line)
        elif not HEADING.match(line):
            for sentence in split_sentences(clean(line)):
                yield JOINED.sub(r"\1", sentence)


def _of_treebank(tokens: Path, options: CorpusOptions, lang: str) -> Iterator[Candidate]:
    """Yield sentences of a tokens table; under ``whitespace`` its tokens are the words."""
    texts = treebank_sentences(tokens)
    if options.words == "split":
        for text in texts.values():
            yield Candidate(text, tuple(word for word, _ in split_words(text)))
        return
    syntactic = lang in options.segmented
    for number, sentence_words in treebank_words(tokens, syntactic=syntactic).items():
        # A token with a space inside is several words, as any line of a corpus is read.
        yield Candidate(texts[number], tuple(word for word, _ in split_at_spaces(sentence_words)))


def _key(text: str) -> str:
    """Return what a sentence keeps under any spacing and without a final full stop."""
    text_words = [word for word, _ in split_words(text)]
    return " ".join(text_words[:-1] if text_words[-1:] == ["."] else text_words)


def split_corpus(sentences: Sequence[Words], shares: CorpusShares) -> dict[Split, list[Words]]:
    """Cut sentences into train, valid and test by shares of tokens; first tokens decide."""
    starts = [0, *accumulate(map(len, sentences))]
    total = starts.pop()
    bounds = [shares.train * total, (shares.train + shares.valid) * total]
    split_numbers = np.searchsorted(bounds, starts, side="right")
    splits: dict[Split, list[Words]] = {split: [] for split in SPLITS}
    for sentence, split_number in zip(sentences, split_numbers.tolist(), strict=True):
        splits[SPLITS[split_number]].append(sentence)
    return splits


def build_corpus(
    tokens: Path | None,
    sentences: Path | None,
    text_files: Sequence[Path],
    items: Sequence[Path],
    corpus: Path,
    options: CorpusOptions,
    *,
    lang: str = "",
    treebank_text: bool = True,
) -> Corpus:
    """Build a corpus of one language (Mueller et al. 2020, section 5.1).

    From plain text files and, with ``treebank_text``, the treebank of ``tokens`` and ``sentences``:
    all sentences but those of items, without repeats, at most ``options.max_sentences``, shuffled,
    split by tokens. The vocabulary is the most frequent words of train and valid. Sentences with
    too many unknown words are then left out. Writes the files beside ``corpus``, then ``corpus``
    itself, the ``corpus.json``.

    An item's sentence never enters, however it is spaced, nor the treebank sentence that an item
    names as its origin. Raises UserError when a file is missing or malformed, or no sentence is
    left.
    """
    forbidden = {_key(text) for text in item_texts(list(items))}
    by_rule = options.words == "split"
    read, split = (
        (plain_sentences, split_words) if by_rule else (tokenised_sentences, split_at_spaces)
    )
    candidates = [
        Candidate(text, tuple(word for word, _ in split(text)))
        for path in text_files
        for text in read(path)
    ]
    if tokens is not None and sentences is not None:
        forbidden |= {_key(text) for text in origins(tokens, sentences, list(items))}
        if treebank_text:
            candidates += _of_treebank(tokens, options, lang)
    dropped = Counter(held_out=0, repeated=0, beyond=0, unknown=0)
    distinct: dict[Words, None] = {}
    for text, sentence_words in candidates:
        if _key(text) in forbidden or _key(" ".join(sentence_words)) in forbidden:
            dropped["held_out"] += 1
        elif sentence_words in distinct:
            dropped["repeated"] += 1
        elif sentence_words:
            distinct[sentence_words] = None
    gathered = [*distinct]
    if not gathered:
        raise UserError(
            f"{corpus}: no sentence is left of {len(candidates)} found ({dropped['held_out']} "
            "belong to items); give text files or set training.treebank_text to true."
        )
    kept = every_kth(gathered, options.max_sentences or len(gathered))
    dropped["beyond"] = len(gathered) - len(kept)
    order = np.random.default_rng(options.seed).permutation(len(kept)).tolist()
    splits = split_corpus([kept[number] for number in order], options.shares)
    vocabulary = make_vocabulary(
        (*splits["train"], *splits["valid"]), options.vocabulary, options.min_count
    )
    directory, frequent = begin(corpus), {*vocabulary}
    for name, shuffled in splits.items():
        replaced = [
            tuple(word if word in frequent else UNKNOWN for word in sentence_words)
            for sentence_words in shuffled
        ]
        written = [s for s in replaced if s.count(UNKNOWN) <= options.unknown_share * len(s)]
        dropped["unknown"] += len(replaced) - len(written)
        write_sentences(directory / f"{name}.txt", written)
    write_vocabulary(directory, vocabulary)
    return seal(corpus, options.words, options, dict(dropped))
