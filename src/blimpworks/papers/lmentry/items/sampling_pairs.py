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
ByLetter = dict[str, list[str]]


def _initial(source: Source, word: str) -> str:
    return source.alphabet.initial(word) if source.task.initials == "alphabet" else word[0]


def _by_letter(source: Source) -> ByLetter:
    """Words by first letter, in the order in which the list has them."""
    groups: ByLetter = defaultdict(list)
    for word in source.words:
        if letter := _initial(source, word):
            groups[letter].append(word)
    return dict(groups)


def _letters(source: Source, words: ByLetter) -> list[str]:
    """First letters in question, in their order; places in it tell how far they are apart."""
    if source.task.initials == "alphabet":
        return [*source.alphabet.initials]
    return [*words] if source.task.initials == "found" else [*ascii_lowercase]


def _ordered(source: Source, word: str, other: str) -> Arguments:
    """Arguments that ask which of two words comes first, in the order in which they were drawn."""
    if source.task.order == "alphabet":
        first = source.alphabet.first(word, other)
    else:
        first = min(word, other)
    return pair(word, other, 0) if first == word else pair(other, word, 1)


Choice = Callable[[], tuple[str, str] | None]
"""Draws two words; None for a draw that does not do."""


def draw_order(source: Source, rng: Random) -> list[Arguments]:
    """Two words, of which one comes first; their first letters are as the subset wants them.

    Where the subset says how far they are apart, the answer is drawn before the distractor, and
    then which of them stands first.
    """
    unordered = {"any": _any, "same": _same, "different": _different}
    directed = {"far": _far, "consecutive": _consecutive}
    choose = (unordered | directed)[source.task.relation](source, rng)

    def attempt() -> Drawn:
        """Draw two words, and the order in which the question names them."""
        words = choose()
        if words is None:
            return None
        if source.task.relation in directed:
            return _directed(*words, rng)
        return words, _ordered(source, *words)

    return gather(source.task.size, attempt)


def _directed(answer: str, distractor: str, rng: Random) -> tuple[Hashable, Arguments]:
    """An answer and its distractor, in an order that is drawn."""
    index = rng.choice((0, 1))
    return (answer, distractor, index), pair(answer, distractor, index)


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
    words = {letter: each for letter, each in _by_letter(source).items() if len(each) > 1}
    letters = [*words]
    return lambda: _two(words[rng.choice(letters)], rng)


def _different(source: Source, rng: Random) -> Choice:
    """Two words with different first letters."""
    words = _by_letter(source)
    letters = [letter for letter in _letters(source, words) if letter in words]

    def choose() -> tuple[str, str]:
        """Draw two first letters, and a word of each."""
        first, second = rng.sample(letters, 2)
        return rng.choice(words[first]), rng.choice(words[second])

    return choose


def _far(source: Source, rng: Random) -> Choice:
    """A word with a letter of the first half of the alphabet, and one far behind it."""
    words = _by_letter(source)
    letters = _letters(source, words)
    apart = min(FAR, len(letters) // 2)
    place = {letter: number for number, letter in enumerate(letters)}
    early = [letter for letter in letters[:apart] if letter in words]
    late = [letter for letter in letters[apart:] if letter in words]

    def choose() -> tuple[str, str] | None:
        """Draw a word, and one far from it; None where there is none."""
        first = rng.choice((False, True))
        letter = rng.choice(early if first else late)
        word = rng.choice(words[letter])
        others = [x for x in (late if first else early) if abs(place[x] - place[letter]) >= apart]
        if not others:
            return None
        other = rng.choice(words[rng.choice(others)])
        return (word, other) if first else (other, word)

    return choose


def _consecutive(source: Source, rng: Random) -> Choice:
    """A word, and one whose first letter is the next."""
    words = _by_letter(source)
    letters = _letters(source, words)
    following = dict(pairwise(letters))
    options = [letter for letter in letters if letter in words and following.get(letter) in words]

    def choose() -> tuple[str, str]:
        """Draw a word, and one of the next letter."""
        letter = rng.choice(options)
        return rng.choice(words[letter]), rng.choice(words[following[letter]])

    return choose


def _countable(source: Source) -> list[str]:
    """Words without a repeated letter; the release leaves out the word a."""
    words = (word for word in source.words if word.lower() != "a")
    if not source.task.letters_only:
        return [word for word in words if len({*word}) == len(word)]
    return [w for w in words if w.isalpha() and len({*w.casefold()}) == len(w.casefold())]


def draw_lengths(source: Source, rng: Random) -> list[Arguments]:
    """Two words of different lengths, in the subsets by a number of letters."""
    words = _countable(source)
    by_difference = source.task.difference is not None
    attempt = (_by_length if by_difference else _any_length)(source, words, rng)
    return gather(source.task.size, attempt)


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
    by_length: dict[int, list[str]] = defaultdict(list)
    for word in words:
        by_length[len(word)].append(word)
    partners = {length: _partners(source, sorted(by_length), length) for length in by_length}
    options = _answer_lengths(source, partners)

    def attempt() -> Drawn:
        """Draw an answer, and a distractor whose length the subset allows; None where none has."""
        length = rng.choice(options)
        answer = rng.choice(by_length[length])
        others = [word for each in partners[length] for word in by_length[each]]
        if not others:
            return None
        key, named = _directed(answer, rng.choice(others), rng)
        lengths = [len(named["word1"]), len(named["word2"])]
        return key, named | {"word_lengths": lengths}

    return attempt


def _partners(source: Source, lengths: Sequence[int], answer: int) -> list[int]:
    """Lengths that distractors of an answer may have."""
    task = source.task
    least, most = task.difference or (1, max(lengths))
    longer = 1 if task.opposite else -1
    partners = [each for each in lengths if least <= (each - answer) * longer <= most]
    if task.opposite and task.lengths == "release" and least > 1:
        # The release's range of longer words ends before the longest.
        return [each for each in partners if each != max(lengths)]
    return partners


def _answer_lengths(source: Source, partners: dict[int, list[int]]) -> list[int]:
    """Lengths that answers may have: in the release three letters from one end, or more."""
    lengths = sorted(partners)
    if source.task.lengths == "all":
        return [each for each in lengths if partners[each]]
    if source.task.opposite:
        return [each for each in lengths if each <= lengths[-1] - 3]
    return [each for each in lengths if each >= lengths[0] + 3]
