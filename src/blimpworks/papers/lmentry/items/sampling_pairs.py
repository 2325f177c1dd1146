"""Arguments of the tasks that compare two words: alphabetical order and length.

Source: Moroni, Aula-Blasco, Conia and others (2025), Tables 1 and 8, appendix A.3.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from random import Random
from string import ascii_lowercase

from blimpworks.papers.lmentry.items.draws import Arguments, Attempt, Drawn, Source, gather, pair

FAR = 13
"""How far apart first letters are called far (half of the Latin alphabet)."""
Choice = Callable[[], tuple[str, str] | None]
"""Draws two words; None for a draw that does not do."""


def draw_order(source: Source, rng: Random) -> list[Arguments]:
    """Draw two words, of which one comes first; their first letters are as the subset wants them.

    Where the subset says how far they are apart, the answer is drawn before the distractor, and
    then which of them stands first.
    """
    task = source.task
    unordered = {"any": _any, "same": _same, "different": _different}
    directed = {"far": _far, "consecutive": _consecutive}
    choose = (unordered | directed)[task.relation](source, rng)

    def attempt() -> Drawn:
        """Draw two words, and the order in which the question names them."""
        words = choose()
        if words is None:
            return None
        if task.relation in directed:
            return _directed(*words, rng)
        first, second = words
        earlier = source.alphabet.first if task.order == "alphabet" else min
        holds = earlier(first, second) == first
        return words, pair(first, second, 0) if holds else pair(second, first, 1)

    return gather(task.size, attempt)


def _directed(answer: str, distractor: str, rng: Random) -> tuple[Hashable, Arguments]:
    """An answer and its distractor, in an order that is drawn."""
    index = rng.choice((0, 1))
    return (answer, distractor, index), pair(answer, distractor, index)


def _by_letter(source: Source) -> tuple[dict[str, list[str]], list[str]]:
    """Words by first letter, and the first letters in question.

    Both are in order: places among the letters tell how far they are apart.
    """
    initials = source.task.initials
    groups: dict[str, list[str]] = defaultdict(list)
    for word in source.words:
        if letter := source.alphabet.initial(word) if initials == "alphabet" else word[0]:
            groups[letter].append(word)
    if initials == "alphabet":
        return dict(groups), [*source.alphabet.initials]
    return dict(groups), [*groups] if initials == "found" else [*ascii_lowercase]


def _two(words: Sequence[str], rng: Random) -> tuple[str, str]:
    first, second = rng.sample(words, 2)
    return first, second


def _any(source: Source, rng: Random) -> Choice:
    """Any two different words."""
    words = source.words
    if source.task.initials == "ascii":
        words = [word for word in words if word[0] in ascii_lowercase]
    if source.task.initials == "alphabet":
        words = [word for word in words if source.alphabet.initial(word)]
    return lambda: _two(words, rng)


def _same(source: Source, rng: Random) -> Choice:
    """Two words with the same first letter, any character at all in the release."""
    groups = {letter: words for letter, words in _by_letter(source)[0].items() if len(words) > 1}
    letters = [*groups]
    return lambda: _two(groups[rng.choice(letters)], rng)


def _different(source: Source, rng: Random) -> Choice:
    """Two words with different first letters."""
    groups, letters = _by_letter(source)
    letters = [letter for letter in letters if letter in groups]

    def choose() -> tuple[str, str]:
        """Draw two first letters, and a word of each."""
        first, second = rng.sample(letters, 2)
        return rng.choice(groups[first]), rng.choice(groups[second])

    return choose


def _far(source: Source, rng: Random) -> Choice:
    """A word with a letter of the first half of the alphabet, and one far behind it."""
    groups, letters = _by_letter(source)
    apart = min(FAR, len(letters) // 2)
    rank = {letter: number for number, letter in enumerate(letters)}
    early = [letter for letter in letters[:apart] if letter in groups]
    late = [letter for letter in letters[apart:] if letter in groups]

    def choose() -> tuple[str, str] | None:
        """Draw a word, and one far from it; None where there is none."""
        first = rng.choice((False, True))
        letter = rng.choice(early if first else late)
        word = rng.choice(groups[letter])
        distant = [x for x in (late if first else early) if abs(rank[x] - rank[letter]) >= apart]
        if not distant:
            return None
        partner = rng.choice(groups[rng.choice(distant)])
        return (word, partner) if first else (partner, word)

    return choose


def _consecutive(source: Source, rng: Random) -> Choice:
    """A word, and one whose first letter is the next."""
    groups, letters = _by_letter(source)
    following = dict(pairwise(letters))
    options = [letter for letter in letters if letter in groups and following.get(letter) in groups]

    def choose() -> tuple[str, str]:
        """Draw a word, and one of the next letter."""
        letter = rng.choice(options)
        return rng.choice(groups[letter]), rng.choice(groups[following[letter]])

    return choose


def draw_lengths(source: Source, rng: Random) -> list[Arguments]:
    """Draw two words of different lengths, in the subsets by a number of letters.

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
        """Draw two words; None where they are of the same length."""
        drawn = rng.sample(words, 2)
        lengths = [*map(len, drawn)]
        if lengths[0] == lengths[1]:
            return None
        index = lengths.index(best(lengths))
        named = pair(drawn[index], drawn[1 - index], index)
        return tuple(drawn), named | {"word_lengths": lengths}

    return attempt


def _by_length(source: Source, words: Sequence[str], rng: Random) -> Attempt:
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
        """Draw an answer, and a distractor whose length the subset allows; None where none has."""
        length = rng.choice(options)
        answer = rng.choice(by_length[length])
        distractors = [word for n in partners[length] for word in by_length[n]]
        if not distractors:
            return None
        key, named = _directed(answer, rng.choice(distractors), rng)
        return key, named | {"word_lengths": [len(named["word1"]), len(named["word2"])]}

    return attempt
