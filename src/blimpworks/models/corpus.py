"""Build, read, join and sample corpora for training (Warstadt et al. 2020, sections 4 and 6.3).

A corpus is a directory with these files, of which ``corpus.json`` is written last:

- ``train.txt``, ``valid.txt`` and ``test.txt``, the *splits*: one sentence per line, words
  separated by single spaces, ``<unk>`` for words that are not in the vocabulary
- ``vocabulary.txt``: one word per line; a word's id is its line number, from 0
- ``corpus.json``: counts, options, and each file's SHA-256
"""

import json
import shutil
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from blimpworks.campaign.settings.training import CorpusOptions, CorpusShares
from blimpworks.errors import UserError, reading
from blimpworks.files import atomic, sha256_of, write_text
from blimpworks.items import evenly
from blimpworks.models import text as texts
from blimpworks.models.checkpoint import verify_files
from blimpworks.strict import Strict, Within

UNKNOWN, END = "<unk>", "<eos>"
SPECIALS = (UNKNOWN, END)
"""First words of every vocabulary."""
Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test")
FILE_NAME, VOCABULARY = "corpus.json", "vocabulary.txt"
FILES = (*(f"{split}.txt" for split in SPLITS), VOCABULARY)
REMEDY = "Build the corpus again."  # for messages
Ids = npt.NDArray[np.int32]  # ids of words [words]
Words = tuple[str, ...]  # words of a sentence


class SplitCounts(Strict):
    """Counts of one split's sentences and words."""

    sentences: int
    tokens: int
    """Number of words, with ``<unk>`` and without ``<eos>``."""
    types: int
    """Number of different words, without ``<unk>``."""
    unknown: int
    unknown_share: float
    """Share of the tokens that are ``<unk>``, from 0 to 1."""


class Corpus(Strict):
    """Content of ``corpus.json``."""

    words: Literal["split", "whitespace"]
    """Rule for splitting texts into words; see ``CorpusOptions``."""
    options: CorpusOptions | None
    """Options that the corpus was built with; None for a released or joined corpus."""
    vocabulary: int
    """Number of words in the vocabulary, with ``<unk>`` and ``<eos>``."""
    splits: dict[Split, SplitCounts]
    dropped: dict[str, int]
    """Number of omitted sentences by reason. ``held_out``: sentences of items; ``beyond``: more
    than ``max_sentences``; ``unknown``: too many unknown words; and ``repeated``."""
    files: dict[Within, str]
    """SHA-256 of each file."""

    @property
    def counts(self) -> dict[str, object]:
        """Counts of the corpus, for the provenance record of its job."""
        splits = {str(name): counts.model_dump() for name, counts in self.splits.items()}
        return {"vocabulary": self.vocabulary, **splits, "dropped": self.dropped}


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file. Raises UserError if it is missing or not UTF-8."""
    errors = reading(path, "a file of a corpus in UTF-8", REMEDY)
    with errors, path.open(encoding="utf-8", newline="\n") as handle:
        for line in handle:
            yield line.rstrip("\n")


def sentences_of(path: Path) -> Iterator[list[str]]:
    """Yield the words of each sentence of a corpus file, without empty lines and ``<eos>``."""
    for line in read_lines(path):
        line_words = line.split()
        if line_words and line_words[-1] == END:
            line_words.pop()
        if line_words:
            yield line_words


def read_words(path: Path) -> list[str]:
    """Read the words of a vocabulary file in the order of ids. Raises UserError for a bad file."""
    vocabulary = list(read_lines(path))
    if tuple(vocabulary[: len(SPECIALS)]) != SPECIALS:
        raise UserError(
            f"{path}:1: starts with {vocabulary[:2]}, expected the words {', '.join(SPECIALS)}; "
            "build the corpus again."
        )
    lines = enumerate(vocabulary, start=1)
    # A file that was not completely written when the machine stopped may end with NULs.
    bad_line = next((n for n, word in lines if word.strip("\0").split() != [word]), None)
    if bad_line or len({*vocabulary}) < len(vocabulary):
        fault = f"line {bad_line} is no single word" if bad_line else "it has a word twice"
        raise UserError(f"{path}: {fault}; expected a word a line. Build the corpus again.")
    return vocabulary


def encode(sentences: Iterable[Sequence[str]], ids: dict[str, int]) -> Ids:
    """Return the ids of all words in one array [words], with ``<eos>`` after each sentence.

    ``ids`` are ids by word; other words get the id of ``<unk>``.
    """
    unknown, end = ids[UNKNOWN], ids[END]
    flat = array("i")
    for sentence in sentences:
        flat.extend(ids.get(word, unknown) for word in sentence)
        flat.append(end)
    return np.frombuffer(flat, dtype=np.int32) if flat else np.zeros(0, dtype=np.int32)


def count_words(sentences: Iterable[Sequence[str]]) -> SplitCounts:
    """Count the sentences, words and unknown words of a split."""
    word_counts, number = Counter[str](), 0
    for sentence in sentences:
        word_counts.update(sentence)
        number += 1
    tokens, unknown = word_counts.total(), word_counts.pop(UNKNOWN, 0)
    return SplitCounts(
        sentences=number,
        tokens=tokens,
        types=len(word_counts),
        unknown=unknown,
        unknown_share=round(unknown / tokens, 6) if tokens else 0.0,
    )


def begin(corpus: Path) -> Path:
    """Remove an earlier ``corpus.json`` before its files change; return its directory."""
    corpus.unlink(missing_ok=True)
    return corpus.parent


def seal(
    corpus: Path,
    word_rule: Literal["split", "whitespace"],
    options: CorpusOptions | None,
    dropped: dict[str, int] | None = None,
) -> Corpus:
    """Write ``corpus``, a directory's ``corpus.json``. Raises UserError for an empty split."""
    directory = corpus.parent
    splits = {split: count_words(sentences_of(directory / f"{split}.txt")) for split in SPLITS}
    for split, counts in splits.items():
        if not counts.sentences:
            raise UserError(
                f"{directory / split}.txt has no sentence; give more text, or options of "
                "training.corpora that leave out less (unknown_share, min_count, shares)."
            )
    described = Corpus(
        words=word_rule,
        options=options,
        vocabulary=len(read_words(directory / VOCABULARY)),
        splits=splits,
        dropped=dropped or {},
        files={name: sha256_of(directory / name) for name in FILES},
    )
    write_text(corpus, json.dumps(described.model_dump(mode="json"), indent=1) + "\n")
    return described


def files_of(corpus: Path) -> list[Path]:
    """Return the paths of a ``corpus.json`` and of the files that it lists."""
    return [corpus, *(corpus.parent / name for name in FILES)]


def read_corpus(corpus: Path) -> Corpus:
    """Read a ``corpus.json`` and verify its files. Raises UserError for a missing or bad file."""
    with reading(corpus, "the corpus.json of a corpus", REMEDY):
        described = Corpus.model_validate_json(corpus.read_bytes())
    verify_files(corpus, described.files, REMEDY)
    return described


def write_sentences(path: Path, sentences: Iterable[Sequence[str]]) -> None:
    """Write a file of a corpus, one sentence per line. An interrupted run leaves no file."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as handle:
        handle.writelines(f"{' '.join(sentence)}\n" for sentence in sentences)


def write_vocabulary(directory: Path, entries: Iterable[str]) -> None:
    """Write the vocabulary: ``<unk>``, ``<eos>``, then ``entries``, each once."""
    unique = dict.fromkeys([*SPECIALS, *entries])
    write_text(directory / VOCABULARY, "".join(f"{word}\n" for word in unique))


def take_released(files: dict[str, Path], corpus: Path) -> Corpus:
    """Copy a released corpus, which is tokenised, split and has ``<unk>`` for unknown words.

    ``files`` are train, valid, test and vocab, and ``corpus`` the ``corpus.json`` to write.
    ``<unk>`` and ``<eos>`` are added to the vocabulary. Raises UserError if a file is missing, or
    has a word that is not in the vocabulary.
    """
    lacking = [name for name in (*SPLITS, "vocab") if name not in files]
    if lacking:
        raise UserError(
            f"{corpus}: a released corpus has the files train.txt, valid.txt, test.txt and "
            f"vocab.txt, but {lacking[0]}.txt is not given; add its row to the table of sources."
        )
    directory = begin(corpus)
    entries = [word for line in read_lines(files["vocab"]) for word in line.split()]
    vocabulary = {*entries, *SPECIALS}
    for split in SPLITS:
        for number, line in enumerate(read_lines(files[split]), start=1):
            missing = next((word for word in line.split() if word not in vocabulary), None)
            if missing is not None:
                raise UserError(
                    f"{files[split]}:{number}: word {missing!r} is not in {files['vocab']}; "
                    f"expected {UNKNOWN} in place of such words: check that the two files belong "
                    "together."
                )
        with atomic(directory / f"{split}.txt") as temporary:
            shutil.copyfile(files[split], temporary)
    write_vocabulary(directory, entries)
    return seal(corpus, "whitespace", None)


def join_corpora(corpora: Sequence[Path], joined: Path) -> Corpus:
    """Concatenate corpora (paths of ``corpus.json``), with the union of their vocabularies.

    See Mueller et al. 2020, section 5.2. Raises UserError for altered or differently split corpora.
    """
    described = [read_corpus(corpus) for corpus in corpora]
    rules = sorted({corpus.words for corpus in described})
    if len(rules) != 1:
        raise UserError(
            f"{joined}: the corpora to join have words by the rules {', '.join(rules) or 'none'}; "
            "expected one rule, of at least one corpus: build them with the same options."
        )
    directory = begin(joined)
    for split in SPLITS:
        with atomic(directory / f"{split}.txt") as temporary, temporary.open("wb") as target:
            for corpus in corpora:
                with (corpus.parent / f"{split}.txt").open("rb") as source:
                    shutil.copyfileobj(source, target)
    all_words = (word for c in corpora for word in read_words(c.parent / VOCABULARY))
    write_vocabulary(directory, all_words)
    return seal(joined, described[0].words, None)


def draw_sentences(lengths: Sequence[int], tokens: int, seed: int) -> list[int]:
    """Draw random sentences until they have ``tokens`` words; return their numbers, sorted.

    ``lengths`` are the sentences' numbers of words. The last drawn sentence is not cut, so a sample
    may have a few more words. Samples with different ``seed`` or ``tokens`` are independent.
    """
    order = np.random.default_rng((seed, tokens)).permutation(len(lengths))
    total_tokens = np.cumsum(np.asarray(lengths, dtype=np.int64)[order])
    count = int(np.searchsorted(total_tokens, tokens)) + 1
    numbers: list[int] = np.sort(order[:count]).tolist()
    return numbers


def sample_corpus(corpus: Path, sample: Path, *, tokens: int, seed: int) -> Corpus:
    """Write a corpus with random sentences of another corpus's training text.

    ``corpus`` and ``sample`` are paths of ``corpus.json``. Tokens are words, with ``<unk>`` and
    without ends of sentences. Vocabulary, validation and test text are copied, so that models of
    all samples have the same words. Raises UserError for a missing, altered or too small corpus.
    """
    original = read_corpus(corpus)
    available_tokens = original.splits["train"].tokens
    text = corpus.parent / "train.txt"
    if tokens > available_tokens:
        raise UserError(
            f"{text} has {available_tokens:,} tokens, but a sample of {tokens:,} is asked for; "
            "take that size out of 'tokens' of the recipe, or give the corpus more text."
        )
    directory = begin(sample)
    sentences = list(sentences_of(text))
    drawn = draw_sentences(list(map(len, sentences)), tokens, seed)
    write_sentences(directory / "train.txt", (sentences[number] for number in drawn))
    for name in ("valid.txt", "test.txt", VOCABULARY):
        with atomic(directory / name) as temporary:
            shutil.copyfile(corpus.parent / name, temporary)
    return seal(sample, original.words, original.options)


def make_vocabulary(sentences: Iterable[Sequence[str]], most: int, least: int) -> list[str]:
    """Return ``<unk>``, ``<eos>``, then the most frequent words, at most ``most`` in all.

    Words with fewer than ``least`` occurrences are left out.
    """
    counts = Counter(word for sentence in sentences for word in sentence)
    for special in SPECIALS:
        counts.pop(special, None)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    frequent = [word for word in ranked if counts[word] >= least]
    return [*SPECIALS, *frequent[: max(0, most - len(SPECIALS))]]


def _key(text: str) -> str:
    """Return a sentence as its words, joined by spaces, without a final full stop.

    Two sentences with the same key count as the same sentence.
    """
    text_words = [word for word, _ in texts.split_words(text)]
    return " ".join(text_words[:-1] if text_words[-1:] == ["."] else text_words)


def split_corpus(sentences: Sequence[Words], shares: CorpusShares) -> dict[Split, list[Words]]:
    """Divide sentences into splits by shares of tokens.

    The number of a sentence's first token decides. Of 10 tokens, a share of 0.5 gives to train the
    sentences that start at the tokens 0 to 4.
    """
    starts = [0, *accumulate(map(len, sentences))]
    total = starts.pop()  # where a sentence after the last one would start
    bounds = [shares.train * total, (shares.train + shares.valid) * total]
    first, second = np.searchsorted(starts, bounds).tolist()
    slices = (sentences[:first], sentences[first:second], sentences[second:])
    return {split: [*chosen] for split, chosen in zip(SPLITS, slices, strict=True)}


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

    The sources are plain text files and, with ``treebank_text``, the treebank of ``tokens`` and
    ``sentences``. At most ``options.max_sentences`` sentences are taken, evenly from all sources,
    then shuffled and divided by tokens. The vocabulary is the most frequent words of train and
    valid. Left out are repetitions, sentences of items, treebank sentences that items were made
    from, and finally sentences with too many unknown words. Writes the files beside ``corpus``,
    then ``corpus``, the ``corpus.json``. Raises UserError for a bad file, or if nothing remains.
    """
    forbidden = {_key(text) for text in texts.item_texts(list(items))}
    tokenised = options.words == "whitespace"
    split = texts.split_at_spaces if tokenised else texts.split_words
    # Pairs of two forms of a sentence: the text of the source, and the text to split into words.
    # Items may contain either form, so both are looked up among the forbidden sentences.
    by_file = (texts.plain_sentences(path, tokenised=tokenised) for path in text_files)
    candidates = [(text, text) for text in chain.from_iterable(by_file)]
    if tokens is not None and sentences is not None:
        forbidden |= {_key(text) for text in texts.origins(tokens, sentences, list(items))}
        if treebank_text:
            originals = texts.treebank_sentences(tokens)
            to_split = originals
            if tokenised:
                # Here a token with a space inside becomes several words, as in corpus files.
                syntactic = lang in options.segmented
                to_split = texts.treebank_sentences(tokens, spaced=True, syntactic=syntactic)
            candidates += [(originals[number], text) for number, text in to_split.items()]

    checked = []
    for original, text in candidates:
        sentence = tuple(word for word, _ in split(text))
        is_forbidden = not forbidden.isdisjoint((_key(original), _key(" ".join(sentence))))
        checked.append((sentence, is_forbidden))
    distinct, counts = texts.keep_distinct(checked, f"{corpus}: no sentence")
    kept = evenly(distinct, options.max_sentences)
    dropped = {**counts, "beyond": len(distinct) - len(kept), "unknown": 0}

    order = np.random.default_rng(options.seed).permutation(len(kept)).tolist()
    splits = split_corpus([kept[number] for number in order], options.shares)
    vocabulary_text = (*splits["train"], *splits["valid"])
    vocabulary = make_vocabulary(vocabulary_text, options.vocabulary, options.min_count)
    directory, frequent = begin(corpus), {*vocabulary}
    for name, split_sentences in splits.items():
        marked = [tuple(w if w in frequent else UNKNOWN for w in s) for s in split_sentences]
        usable = [s for s in marked if s.count(UNKNOWN) <= options.unknown_share * len(s)]
        dropped["unknown"] += len(marked) - len(usable)
        write_sentences(directory / f"{name}.txt", usable)
    write_vocabulary(directory, vocabulary)
    return seal(corpus, options.words, options, dropped)
