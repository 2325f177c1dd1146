"""Draw arguments of tasks that compare two words by alphabetical order or length.

Source: Moroni, Aula-Blasco, Conia and others (2025), Tables 1 and 8, appendix A.3.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import pairwise
from operator import itemgetter
from random import Random
from string import ascii_lowercase

from blimpworks.papers.lmentry.items.draws import Arguments, Attempt, Drawn, Source, gather, pair

FAR = 13
"""Distance of first letters that counts as far (half of the Latin alphabet)."""


def draw_order(source: Source, rng: Random) -> list[Arguments]:
    """Draw two words in alphabetical order, with the subset's relation of first letters.

    If the relation is a distance, the released code draws the answer, the distractor, then their
    order; so does this.
    """
    task, alphabet = source.task, source.alphabet
    letter_of = alphabet.initial if task.initials == "alphabet" else itemgetter(0)
    groups: dict[str, list[str]] = defaultdict(list)
    for word in source.words:
        if letter := letter_of(word):
            groups[letter].append(word)
    # First letters in question, in order: places tell how far they are apart.
    letters = {"alphabet": [*alphabet.initials], "found": [*groups]}.get(
        task.initials, [*ascii_lowercase]
    )
    present = [letter for letter in letters if letter in groups]

    if task.relation == "any":
        usable = {"ascii": [*ascii_lowercase], "alphabet": [*groups]}.get(task.initials)
        words = [w for w in source.words if usable is None or letter_of(w) in usable]
    elif task.relation == "same":
        # Of any first character at all in the release.
        same = [letter for letter, of_letter in groups.items() if len(of_letter) > 1]
    elif task.relation == "far":
        apart = min(FAR, len(letters) // 2)
        rank = {letter: number for number, letter in enumerate(letters)}
        early = [letter for letter in present if rank[letter] < apart]
        late = [letter for letter in present if rank[letter] >= apart]
    elif task.relation == "consecutive":
        following = dict(pairwise(letters))
        followed = [letter for letter in present if following.get(letter) in groups]

    def two_words() -> Sequence[str] | None:
        """Draw two words (far and consecutive: the answer first), or None."""
        if task.relation == "any":
            return rng.sample(words, 2)
        if task.relation == "same":
            return rng.sample(groups[rng.choice(same)], 2)
        if task.relation == "different":
            return [rng.choice(groups[letter]) for letter in rng.sample(present, 2)]
        if task.relation == "consecutive":
            letter = rng.choice(followed)
            return rng.choice(groups[letter]), rng.choice(groups[following[letter]])
        first = rng.choice((False, True))
        letter = rng.choice(early if first else late)
        word = rng.choice(groups[letter])
        distant = [x for x in (late if first else early) if abs(rank[x] - rank[letter]) >= apart]
        if not distant:
            return None
        partner = rng.choice(groups[rng.choice(distant)])
        return (word, partner) if first else (partner, word)

    def attempt() -> Drawn:
        drawn = two_words()
        if drawn is None:
            return None
        first, second = drawn
        if task.relation in ("far", "consecutive"):
            return _directed(first, second, rng)
        earlier = alphabet.first if task.order == "alphabet" else min
        holds = earlier(first, second) == first
        return (first, second), pair(first, second, 0) if holds else pair(second, first, 1)

    return gather(task.size, attempt)


def _directed(answer: str, distractor: str, rng: Random) -> tuple[Hashable, Arguments]:
    index = rng.choice((0, 1))
    return (answer, distractor, index), pair(answer, distractor, index)


def draw_lengths(source: Source, rng: Random) -> list[Arguments]:
    """Draw two words of different lengths, in subsets by a number of letters.

    No word has a letter twice; the release leaves out the word a.
    """
    task = source.task
    words = [word for word in source.words if word.lower() != "a"]
    if task.letters_only:
        words = [w for w in words if w.isalpha() and len({*w.casefold()}) == len(w.casefold())]
    else:
        words = [word for word in words if len({*word}) == len(word)]
    attempt = (_any_length if task.difference is None else _by_length)(source, words, rng)
    return gather(task.size, attempt)


def _any_length(source: Source, words: Sequence[str], rng: Random) -> Attempt:
    best = min if source.task.opposite else max

    def attempt() -> Drawn:
        drawn = rng.sample(words, 2)
        lengths = [*map(len, drawn)]
        if lengths[0] == lengths[1]:
            return None
        index = lengths.index(best(lengths))
        named = pair(drawn[index], drawn[1 - index], index)
        return tuple(drawn), named | {"word_lengths": lengths}

    return attempt


def _by_length(source: Source, words: Sequence[str], rng: Random) -> Attempt:
    """Return a draw of an answer, and of a distractor with an allowed length."""
    task = source.task
    by_length: dict[int, list[str]] = defaultdict(list)
    for word in words:
        by_length[len(word)].append(word)
    lengths = sorted(by_length)
    least, most = task.difference or (1, lengths[-1])
    partners: dict[int, list[int]] = {}
    for length in by_length:
        differences = {n: n - length if task.opposite else length - n for n in lengths}
        partners[length] = [n for n in lengths if least <= differences[n] <= most]
        if task.opposite and task.lengths == "release" and least > 1:
            # The release's range of longer words ends before the longest.
            partners[length] = [n for n in partners[length] if n != lengths[-1]]
    # Answers have, in the release, three letters more than the shortest word, or less than the
    # longest.
    if task.lengths == "all":
        options = [length for length in lengths if partners[length]]
    elif task.opposite:
        options = [length for length in lengths if length <= lengths[-1] - 3]
    else:
        options = [length for length in lengths if length >= lengths[0] + 3]

    def attempt() -> Drawn:
        length = rng.choice(options)
        answer = rng.choice(by_length[length])
        distractors = [word for n in partners[length] for word in by_length[n]]
        if not distractors:
            return None
        key, named = _directed(answer, rng.choice(distractors), rng)
        return key, named | {"word_lengths": [len(named["word1"]), len(named["word2"])]}

    return attempt
