"""Draw the arguments of each task's prompts.

``draw``, at the end, takes a language's resources (words, sentences) and pack (its settings). It
returns a dictionary for each prompt, such as

    {"answer": "cat", "distractor": "house", "answer_index": 0, "word1": "cat", "word2": "house"}

Samplers named ``all_…`` return the arguments of all prompts, ``sample_…`` those of a sample.
Samplers named ``draw_…`` yield draws without end, of which ``draw`` takes different ones.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2, Tables 1 and 8, appendices A.2
and A.3, and the benchmark's released code: the same order of draws gives the same arguments from
the same seed. The release seeds Python's generator again for every template, so all templates have
the same arguments, which are drawn once here.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise, product
from operator import itemgetter
from random import Random
from string import ascii_lowercase
from typing import Any, NamedTuple

from blimpworks.papers.lmentry.items.languages import Alphabet, spell
from blimpworks.papers.lmentry.items.packs import Pack, Sampling
from blimpworks.papers.lmentry.items.resources import DISTRACTORS, Groups, Resources, Words

Arguments = dict[str, Any]
"""Values for a prompt and its judge, by the release's names."""


class Draw(NamedTuple):
    """The arguments of a prompt; a later draw of the same ``identity`` is left out."""

    identity: Hashable
    arguments: Arguments


Draws = Iterator[Draw | None]
"""Endless draws; None where the drawn words cannot make a prompt."""
MOST_FRUITLESS_DRAWS = 20_000
"""Number of draws without a new result after which drawing ends."""
LIST_LENGTH = 5
NUMBERS = range(10, 1000)
FAR = 13
"""Smallest distance of first letters that are far apart: half of the Latin alphabet."""


@dataclass(frozen=True)
class Source:
    """Data that a task's arguments are drawn from."""

    resources: Resources
    pack: Pack
    task: Sampling

    @cached_property
    def alphabet(self) -> Alphabet:
        """Alphabet of the language."""
        return Alphabet(self.pack.alphabet)

    @property
    def annotated(self) -> Words:
        """Words of the task's resource, with their annotation."""
        return self.resources.forms if self.task.resource == "forms" else self.resources.lexicon

    @cached_property
    def words(self) -> list[str]:
        """Words of the task's levels and length, in the order of the resource."""
        long_words = [word for word in self.annotated if len(word) >= self.task.shortest]
        if not self.task.levels:
            return long_words
        levels = {*self.task.levels}
        return [w for w in long_words if levels & {*self.annotated[w].get("levels", ())}]

    def categories(self, usual: Groups) -> dict[str, Sequence[str]]:
        """Return the words of each category with enough words; renamed categories come last.

        ``usual``: categories for a task that names no resource. Draws depend on their order.
        """
        resources = {"nouns": self.resources.nouns, "categories": self.resources.categories}
        groups = resources.get(self.task.resource, usual)
        new_names = self.task.rename
        renamed = {name: members for name, members in groups.items() if name not in new_names}
        renamed |= {new_names[name]: groups[name] for name in groups if name in new_names}
        fewest = self.task.fewest
        return {name: members for name, members in renamed.items() if len(members) >= fewest}


def pair(answer: Any, distractor: Any, answer_index: int) -> Arguments:
    """Return the arguments of a choice between two; ``answer_index`` 0 puts the answer first."""
    word1, word2 = (answer, distractor) if answer_index == 0 else (distractor, answer)
    arguments = {"answer": answer, "distractor": distractor, "answer_index": answer_index}
    return arguments | {"word1": word1, "word2": word2}


def sample_words(source: Source, rng: Random) -> list[Arguments]:
    """Sample words, then drop words of other parts of speech than the task's.

    Arguments of a task on the first or last letter have this letter as answer, others have none.
    """
    task = source.task
    prompts = []
    for word in rng.sample(source.words, min(task.size, len(source.words))):
        pos = source.annotated[word]["pos"]
        if task.pos and pos not in task.pos:
            continue
        arguments = {"word": word, "word_pos_tags": pos}
        if task.end:
            arguments["answer"] = word[0 if task.end == "first" else -1]
        prompts.append(arguments)
    return prompts


def all_letters(source: Source, rng: Random) -> list[Arguments]:
    """Return the release's letters by code point, or else those that words have at the position."""
    position = source.task.letters
    listed = source.pack.letters.get(position)
    if listed and source.task.letters_of == "release":
        return [{"letter": letter} for letter in sorted(listed)]
    tests = {"starts": str.startswith, "ends": str.endswith, "contains": str.__contains__}
    spelled_words = [*map(spell, source.words)]
    letters = (*source.alphabet.letters, *source.pack.also)
    return [{"letter": c} for c in letters if any(tests[position](w, c) for w in spelled_words)]


def draw_numbers(source: Source, rng: Random) -> Draws:
    """Draw two different numbers from 10 to 999."""
    best = min if source.task.opposite else max
    while True:
        numbers = rng.sample(NUMBERS, 2)
        index = numbers.index(best(numbers))
        arguments = pair(numbers[index], numbers[1 - index], index)
        arguments |= {"n1": arguments.pop("word1"), "n2": arguments.pop("word2")}
        arguments["num_digits"] = [len(str(number)) for number in numbers]
        yield Draw(tuple(numbers), arguments)


def _sentences_without_marks(source: Source) -> Iterator[str]:
    marks = str.maketrans("", "", source.task.punctuation)
    stripped = (sentence.translate(marks) for sentence in source.resources.sentences)
    return (sentence for sentence in stripped if sentence.split())


def sample_neighbours(source: Source, rng: Random) -> list[Arguments]:
    """Sample words that are unique in their sentence, with the next or previous word as answer."""
    step = -1 if source.task.opposite else 1
    stop_words = {*source.task.stop_words.split()}
    queries: list[Arguments] = []
    for sentence in _sentences_without_marks(source):
        tokens, counts = sentence.split(), Counter(sentence.lower().split())
        for position, word in enumerate(tokens):
            neighbour = position + step
            if not 0 <= neighbour < len(tokens) or counts[word.lower()] > 1:
                continue
            answer = tokens[neighbour]
            if answer.lower() not in stop_words:
                query: Arguments = {"sentence": sentence, "query": word}
                queries.append(query | {"query_position_in_sentence": position, "answer": answer})
    return rng.sample(queries, min(source.task.size, len(queries)))


def all_ends(source: Source, rng: Random) -> list[Arguments]:
    """Return all sentences, with their first or last word as answer."""
    index = 0 if source.task.end == "first" else -1
    sentences = _sentences_without_marks(source)
    return [{"sentence": s, "answer": s.split()[index]} for s in sentences]


def draw_associated(source: Source, rng: Random) -> Draws:
    """Draw a word of one category and four of another; the question names one category."""
    groups = source.categories(source.resources.categories)
    names, task = [*groups], source.task
    while True:
        answer_group, distractor_group = rng.sample(names, 2)
        answers, distractors_pool = groups[answer_group], groups[distractor_group]
        if not task.ambiguous:
            in_both = {*answers} & {*distractors_pool}
            answers = [word for word in answers if word not in in_both]
            distractors_pool = [word for word in distractors_pool if word not in in_both]
            if not answers or len(distractors_pool) < LIST_LENGTH - 1:
                yield None
                continue
        answer = rng.choice(answers)
        number = rng.choice((LIST_LENGTH - 1,))  # advances the generator, as in the release
        distractors = rng.sample(distractors_pool, number)
        index = rng.choice(range(number + 1))
        category = distractor_group if task.opposite else answer_group
        arguments: Arguments = {"category": category, "answer": answer, "distractors": distractors}
        arguments |= {"distractor_category": distractor_group, "answer_category": answer_group}
        listed_words = [*distractors[:index], answer, *distractors[index:]]
        arguments |= {"answer_index": index, "words": listed_words}
        yield Draw((category, answer, tuple(distractors), index), arguments)


def draw_category(source: Source, rng: Random) -> Draws:
    """Draw a category and five words; the answer is whether any (``opposite``: all) are of it."""
    groups = source.categories(source.resources.nouns)
    names, task = [*groups], source.task
    pools = {}
    for name in names:
        members = {*groups[name]}
        pool = [word for category in names if category != name for word in groups[category]]
        # In the release the pool may have members of the category, and words of two others twice.
        if not task.ambiguous:
            pool = [word for word in dict.fromkeys(pool) if word not in members]
        pools[name] = pool
    yes, no = source.pack.yes_no or ("", "")
    while True:
        # The draws have the order of the release.
        category = rng.choice(names)
        n_outside = rng.choice(task.distractors)  # words that are not of the category
        number = rng.choice((LIST_LENGTH,))  # advances the generator, as in the release
        category_words = rng.sample(groups[category], number - n_outside)
        distractors, positions = [], []
        if n_outside:
            distractors = rng.sample(pools[category], n_outside)
            positions = sorted(rng.sample(range(number), n_outside))
        listed_words = [*category_words]
        for position, word in zip(positions, distractors, strict=True):
            listed_words.insert(position, word)
        is_yes = n_outside == 0 if task.opposite else n_outside < number
        arguments = {"category": category, "num_words": number, "words": listed_words}
        arguments |= {"category_words": category_words, "distractors": distractors}
        arguments |= {"num_distractors": n_outside, "distractor_indices": positions}
        arguments["answer"] = yes if is_yes else no
        yield Draw((tuple(category_words), tuple(distractors), tuple(positions)), arguments)


def _nested(first: str, second: str) -> bool:
    # Return whether one word ends in the other, as unhappy does in happy.
    return first.endswith(second) or second.endswith(first)


def draw_rhymes(source: Source, rng: Random) -> Draws:
    """Draw a word (the query), an answer that rhymes with it, and a distractor that does not.

    The task's ``relation`` is that of the last two letters. By "similar", the answer has those of
    the query (night, light), the distractor has neither of them (night, sofa). By "different", the
    answer has two others (blue, through), the distractor has those of the query (blue, tongue).
    """
    task, groups = source.task, source.resources.rhymes
    names, sizes = [*groups], [*map(len, groups.values())]
    usable_words = source.resources.unambiguous if task.resource == "unambiguous" else source.words

    def answers_of(name: str, query: str) -> list[str]:
        if task.relation == "different":
            long = [word for word in groups[name] if min(len(word), len(query)) > 1]
            return [w for w in long if w[-2] != query[-2] and w[-1] != query[-1]]
        answers = [word for word in groups[name] if not _nested(query, word)]
        if task.relation == "similar":
            return [word for word in answers if word[-2:] == query[-2:]]
        return answers

    @cache
    def distractors_of(name: str, query: str) -> list[str]:
        rhyming = {*groups[name]}
        if not task.ambiguous:
            rhyming = rhyming.union(*(group for group in groups.values() if query in group))
        candidates = sorted({*usable_words} - rhyming)
        if task.relation == "similar":
            return [word for word in candidates if not {*word[-2:]} & {*query[-2:]}]
        if task.relation == "different":
            alike = [word for word in candidates if word[-2:] == query[-2:]]
            return [word for word in alike if not _nested(query, word)]
        return candidates

    while True:
        name = rng.sample(names, k=1, counts=sizes)[0]
        query = rng.choice(groups[name])
        answers = answers_of(name, query)
        if not answers:
            yield None
            continue
        answer = rng.choice(answers)
        distractor_pool = distractors_of(name, query)
        if not distractor_pool:
            yield None
            continue
        distractor, index = rng.choice(distractor_pool), rng.choice((0, 1))
        # For this relation the release takes no two draws that differ in the distractor only.
        compared = () if task.relation == "different" else (distractor,)
        arguments = {"query": query, **pair(answer, distractor, index)}
        yield Draw((query, answer, *compared, index), arguments)


def all_homophones(source: Source, rng: Random) -> list[Arguments]:
    """Return each pair of homophones with each of its distractors, in both orders."""
    prompts = []
    for row, name, index in product(source.resources.homophones, DISTRACTORS, (0, 1)):
        if name in row:
            arguments = {"query": row["word"], **pair(row["homophone"], row[name], index)}
            prompts.append(arguments | {"distractor_type": name[:-1]})  # "easy1" is of type "easy"
    return prompts


def draw_order(source: Source, rng: Random) -> Draws:
    """Draw two words, of which the alphabetically first is the answer.

    The task's ``relation`` is that of their first letters: any, far, different, consecutive or the
    same. As in the release, the order of words with far or consecutive letters is drawn last.

    The task's ``initials`` gives first letters in order: a to z (``ascii``, ``all``), as in the
    words (``found``), or as in the alphabet (``alphabet``). By ``ascii`` and ``alphabet``, the
    relation "any" leaves out words with other first letters.
    """
    task, alphabet = source.task, source.alphabet
    letter_of = alphabet.initial if task.initials == "alphabet" else itemgetter(0)
    groups: dict[str, list[str]] = defaultdict(list)  # words by their first letter
    for word in source.words:
        if letter := letter_of(word):
            groups[letter].append(word)
    letter_lists = {"alphabet": [*alphabet.initials], "found": [*groups]}
    letters = letter_lists.get(task.initials, [*ascii_lowercase])  # a to z for "ascii" and "all"
    if task.relation == "consecutive":
        return _draw_consecutive(letters, groups, rng)
    if task.relation == "far":
        return _draw_far(letters, groups, rng)

    key = alphabet.key if task.order == "alphabet" else None
    if task.relation == "any":
        # For "all" and "found" this is None, and all letters are allowed.
        allowed_letters = {"ascii": {*ascii_lowercase}, "alphabet": {*groups}}.get(task.initials)
        candidates = source.words
        if allowed_letters is not None:
            candidates = [word for word in candidates if letter_of(word) in allowed_letters]
        return _draw_first(lambda: rng.sample(candidates, 2), key)
    if task.relation == "same":
        # In the release, these words may begin with any character.
        repeated = [letter for letter, members in groups.items() if len(members) > 1]
        return _draw_first(lambda: rng.sample(groups[rng.choice(repeated)], 2), key)
    present = [letter for letter in letters if letter in groups]
    return _draw_first(lambda: [rng.choice(groups[x]) for x in rng.sample(present, 2)], key)


def _draw_first(draw_two: Callable[[], list[str]], key: Callable[[str], Any] | None) -> Draws:
    # The first word by the sort ``key`` (None for code points) is the answer.
    while True:
        word, partner = draw_two()
        if min(word, partner, key=key) == word:
            yield Draw((word, partner), pair(word, partner, 0))
        else:
            yield Draw((word, partner), pair(partner, word, 1))


def _draw_consecutive(letters: Sequence[str], groups: Groups, rng: Random) -> Draws:
    following = dict(pairwise(letters))
    followed = [x for x in letters if x in groups and following.get(x) in groups]
    while True:
        letter = rng.choice(followed)
        word, partner = rng.choice(groups[letter]), rng.choice(groups[following[letter]])
        yield _in_random_order(word, partner, rng)


def _draw_far(letters: Sequence[str], groups: Groups, rng: Random) -> Draws:
    distance = min(FAR, len(letters) // 2)
    rank = {letter: number for number, letter in enumerate(letters)}
    early = [letter for letter in letters[:distance] if letter in groups]
    late = [letter for letter in letters[distance:] if letter in groups]
    while True:
        is_early = rng.choice((False, True))
        letter = rng.choice(early if is_early else late)
        word = rng.choice(groups[letter])
        opposite = late if is_early else early
        distant = [x for x in opposite if abs(rank[x] - rank[letter]) >= distance]
        if not distant:
            yield None
            continue
        partner = rng.choice(groups[rng.choice(distant)])
        answer, distractor = (word, partner) if is_early else (partner, word)
        yield _in_random_order(answer, distractor, rng)


def _in_random_order(answer: str, distractor: str, rng: Random) -> Draw:
    index = rng.choice((0, 1))
    return Draw((answer, distractor, index), pair(answer, distractor, index))


def draw_lengths(source: Source, rng: Random) -> Draws:
    """Draw two words of different lengths; the longer one, or the opposite, is the answer.

    As in the release, no word is "a" or has a letter twice.
    """
    task = source.task
    usable = [word for word in source.words if word.lower() != "a"]
    if task.letters_only:
        usable = [word for word in usable if word.isalpha()]
    fold = str.casefold if task.letters_only else str
    usable = [word for word in usable if len({*fold(word)}) == len(fold(word))]
    if task.difference is not None:
        # This never ends, so the lines below are for tasks without a difference.
        yield from _lengths_that_differ(usable, task, task.difference, rng)
    best = min if task.opposite else max
    while True:
        two_words = rng.sample(usable, 2)
        lengths = [*map(len, two_words)]
        if lengths[0] == lengths[1]:
            yield None
            continue
        index = lengths.index(best(lengths))
        arguments = pair(two_words[index], two_words[1 - index], index)
        yield Draw(tuple(two_words), arguments | {"word_lengths": lengths})


def _lengths_that_differ(
    usable: Sequence[str], task: Sampling, difference: tuple[int, int], rng: Random
) -> Draws:
    """Draw two words whose lengths differ by the least to the largest number in ``difference``.

    By the task's ``lengths`` "all", answers have all possible lengths, by "release" fewer.
    """
    least, most = difference
    by_length: dict[int, list[str]] = defaultdict(list)
    for word in usable:
        by_length[len(word)].append(word)
    lengths = sorted(by_length)
    # Possible lengths of the distractor, for each length of the answer.
    partners: dict[int, list[int]] = {}
    for length in by_length:
        sign = 1 if task.opposite else -1
        partners[length] = [n for n in lengths if least <= sign * (n - length) <= most]
        if task.opposite and task.lengths == "release" and least > 1:
            # The release's range of longer distractors ends before the longest word.
            partners[length] = [n for n in partners[length] if n != lengths[-1]]
    # In the release, a longer word as answer has at least three letters more than the shortest
    # word, and a shorter word as answer at least three letters less than the longest word.
    if task.lengths == "all":
        options = [length for length in lengths if partners[length]]
    elif task.opposite:
        options = [length for length in lengths if length <= lengths[-1] - 3]
    else:
        options = [length for length in lengths if length >= lengths[0] + 3]
    while True:
        length = rng.choice(options)
        answer = rng.choice(by_length[length])
        distractors = [word for n in partners[length] for word in by_length[n]]
        if not distractors:
            yield None
            continue
        ordered = _in_random_order(answer, rng.choice(distractors), rng)
        lengths_drawn = [len(ordered.arguments[name]) for name in ("word1", "word2")]
        yield Draw(ordered.identity, ordered.arguments | {"word_lengths": lengths_drawn})


SAMPLERS: dict[str, Callable[[Source, Random], list[Arguments] | Draws]] = {
    "words": sample_words,
    "letters": all_letters,
    "associated": draw_associated,
    "category": draw_category,
    "order": draw_order,
    "lengths": draw_lengths,
    "numbers": draw_numbers,
    "rhymes": draw_rhymes,
    "homophones": all_homophones,
    "neighbours": sample_neighbours,
    "ends": all_ends,
}


def draw(source: Source, seed: int) -> list[Arguments]:
    """Draw the arguments of a task's prompts, in order; the same ``seed`` gives the same ones.

    From endless draws it takes the task's ``size`` different ones, or fewer if no new ones occur.
    """
    prompts_or_draws = SAMPLERS[source.task.sampler](source, Random(seed))
    if isinstance(prompts_or_draws, list):
        return prompts_or_draws
    different: dict[Hashable, Arguments] = {}
    fruitless = 0
    for candidate in prompts_or_draws:
        fruitless += 1
        if candidate is not None and candidate.identity not in different:
            different[candidate.identity] = candidate.arguments
            fruitless = 0
        if len(different) == source.task.size or fruitless == MOST_FRUITLESS_DRAWS:
            break
    return [*different.values()]
