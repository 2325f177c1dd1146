"""Warn about n-gram files whose words cannot match the words of sentences."""

from collections.abc import Sequence
from pathlib import Path

from blimpworks.models.ngram import read_vocabulary
from blimpworks.models.text import split_words


def notes_on_words(path: Path) -> tuple[str, ...]:
    """Return warnings: many words with punctuation marks; only words without capitals, or with."""
    _unk, _end, *vocabulary = read_vocabulary(path)
    # Sentences have a word such as "don't" as two words.
    unmatched = [word for word in vocabulary if [piece for piece, _ in split_words(word)] != [word]]
    notes, of_all = [], f"of the {len(vocabulary):,} words of {path.name}"
    if len(unmatched) > 0.05 * len(vocabulary):
        notes.append(
            f"{len(unmatched):,} {of_all}, such as {unmatched[0]!r}, never match, because "
            "sentences are split into words and punctuation marks; unknown words are <unk>."
        )
    for letter, number in _rare_letters(vocabulary).items():
        verb = "have" if number > 1 else "has"
        notes.append(
            f"{number or 'None'} {of_all} {verb} {letter}, so words of sentences with one "
            "count as <unk> (the report card has the share of unknown words); name a model of "
            "text that is written like the sentences."
        )
    return tuple(notes)


def _rare_letters(vocabulary: Sequence[str]) -> dict[str, int]:
    """Return {"a capital": number of words with one} if at most 1% have one; so for small letters.

    Only words in scripts with two cases count; if these are few, return {}. Words of small Georgian
    letters do not count: no sentence begins with a Georgian capital, and ``title`` makes none.
    """
    cased = [word for word in vocabulary if word.title() != word or word.lower() != word]
    if len(cased) < max(10, len(vocabulary) / 2):
        return {}
    words_with = {
        "a capital": sum(word.lower() != word for word in cased),
        "a small letter": sum(word.upper() != word for word in cased),
    }
    return {letter: number for letter, number in words_with.items() if number <= 0.01 * len(cased)}
