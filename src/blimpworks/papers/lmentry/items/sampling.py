"""Draw the arguments of every task.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2, appendices A.2 and A.3. The
release seeds Python's generator anew for every template, so all templates have the same arguments,
which are drawn once here.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random

from blimpworks.papers.lmentry.items.alphabet import spell
from blimpworks.papers.lmentry.items.draws import (
    LISTED,
    Arguments,
    Drawn,
    Sampler,
    Source,
    gather,
    pair,
)
from blimpworks.papers.lmentry.items.resources import Groups
from blimpworks.papers.lmentry.items.sampling_pairs import draw_lengths, draw_order

NUMBERS = range(10, 1000)


def draw_words(source: Source, rng: Random) -> list[Arguments]:
    """Sample words, then drop other parts of speech; the answer is a letter."""
    task = source.task
    chosen = rng.sample(source.words, min(task.size, len(source.words)))
    drawn = []
    for word in chosen:
        pos = source.part_of_speech(word)
        if task.pos and pos not in task.pos:
            continue
        arguments = {"word": word, "word_pos_tags": pos}
        if task.end:
            arguments["answer"] = word[0 if task.end == "first" else -1]
        drawn.append(arguments)
    return drawn


def draw_letters(source: Source, rng: Random) -> list[Arguments]:
    """Return every letter of the task; the release's by code point, since its order is unknown."""
    kind = source.task.letters
    listed = source.pack.letters.get(kind)
    if listed and source.task.letters_of == "release":
        return [{"letter": letter} for letter in sorted(listed)]
    fits = {"starts": str.startswith, "ends": str.endswith, "contains": str.__contains__}[kind]
    words = [*map(spell, source.words)]
    letters = (*source.alphabet.letters, *source.pack.also)
    return [{"letter": c} for c in letters if any(fits(word, c) for word in words)]


def draw_numbers(source: Source, rng: Random) -> list[Arguments]:
    """Draw two different numbers from 10 to 999."""
    best = min if source.task.opposite else max

    def attempt() -> Drawn:
        numbers = rng.sample(NUMBERS, 2)
        index = numbers.index(best(numbers))
        named = pair(numbers[index], numbers[1 - index], index)
        digits = [len(str(number)) for number in numbers]
        in_prompt = {"n1": named.pop("word1"), "n2": named.pop("word2"), "num_digits": digits}
        return tuple(numbers), named | in_prompt

    return gather(source.task.size, attempt)


def _stripped(source: Source) -> Iterator[str]:
    marks = str.maketrans("", "", source.task.punctuation)
    stripped = (sentence.translate(marks) for sentence in source.resources.sentences)
    return (sentence for sentence in stripped if sentence.split())


def draw_neighbours(source: Source, rng: Random) -> list[Arguments]:
    """Draw words that are unique in their sentence, with the next or previous word."""
    step = -1 if source.task.opposite else 1
    stop_words = {*source.task.stop_words.split()}
    queries = []
    for sentence in _stripped(source):
        tokens, counts = sentence.split(), Counter(sentence.lower().split())
        for position, word in enumerate(tokens):
            beside = position + step
            if not 0 <= beside < len(tokens) or counts[word.lower()] > 1:
                continue
            if tokens[beside].lower() not in stop_words:
                queries.append(
                    {
                        "sentence": sentence,
                        "query": word,
                        "query_position_in_sentence": position,
                        "answer": tokens[beside],
                    }
                )
    return rng.sample(queries, min(source.task.size, len(queries)))


def draw_ends(source: Source, rng: Random) -> list[Arguments]:
    """Return every sentence, with its first or last word."""
    index = 0 if source.task.end == "first" else -1
    return [{"sentence": s, "answer": s.split()[index]} for s in _stripped(source)]


def draw_associated(source: Source, rng: Random) -> list[Arguments]:
    """Draw a word of one category and four of another; the question names one category."""
    groups = source.categories(source.resources.categories)
    names, task = [*groups], source.task

    def attempt() -> Drawn:
        own, other = rng.sample(names, 2)
        answers, others = groups[own], groups[other]
        if not task.ambiguous:
            answers, others = (
                [word for word in answers if word not in others],
                [word for word in others if word not in answers],
            )
            if not answers or len(others) < LISTED - 1:
                return None
        answer = rng.choice(answers)
        number = rng.choice((LISTED - 1,))
        distractors = rng.sample(others, number)
        index = rng.choice(range(number + 1))
        category = other if task.opposite else own
        words = [*distractors[:index], answer, *distractors[index:]]
        arguments = {
            "category": category,
            "answer": answer,
            "distractors": distractors,
            "distractor_category": other,
            "answer_category": own,
            "answer_index": index,
            "words": words,
        }
        return (category, answer, tuple(distractors), index), arguments

    return gather(task.size, attempt)


def draw_category(source: Source, rng: Random) -> list[Arguments]:
    """Draw five words, some from other categories than the asked one; the answer is yes or no."""
    groups = source.categories(source.resources.nouns)
    names, task = [*groups], source.task
    pools = {name: _others(groups, name, ambiguous=task.ambiguous) for name in names}
    yes, no = source.pack.yes_no or ("", "")

    def attempt() -> Drawn:
        category = rng.choice(names)
        strangers = rng.choice(task.distractors)
        number = rng.choice((LISTED,))
        members = rng.sample(groups[category], number - strangers)
        distractors, places = [], []
        if strangers:
            distractors = rng.sample(pools[category], strangers)
            places = sorted(rng.sample(range(number), strangers))
        words = [*members]
        for place, word in zip(places, distractors, strict=True):
            words.insert(place, word)
        holds = strangers == 0 if task.opposite else strangers < number
        arguments = {
            "category": category,
            "num_words": number,
            "words": words,
            "category_words": members,
            "distractors": distractors,
            "num_distractors": strangers,
            "distractor_indices": places,
            "answer": yes if holds else no,
        }
        return (tuple(members), tuple(distractors), tuple(places)), arguments

    return gather(task.size, attempt)


def _others(groups: Groups, name: str, *, ambiguous: bool) -> list[str]:
    """Return words of all other categories.

    In the release (``ambiguous``) these include words of its own, and repeat words of two
    categories.
    """
    others = [word for other, words in groups.items() if other != name for word in words]
    if ambiguous:
        return others
    own = {*groups[name]}
    return [word for word in dict.fromkeys(others) if word not in own]


def _nested(word: str, other: str) -> bool:
    # As unhappy in happy.
    return word.endswith(other) or other.endswith(word)


def _answers(relation: str, query: str, group: Sequence[str]) -> list[str]:
    if relation == "different":
        long = [word for word in group if min(len(word), len(query)) > 1]
        return [word for word in long if word[-2] != query[-2] and word[-1] != query[-1]]
    rhymes = [word for word in group if not _nested(query, word)]
    if relation == "similar":
        return [word for word in rhymes if word[-2:] == query[-2:]]
    return rhymes


def _distractors(relation: str, query: str, words: Sequence[str]) -> list[str]:
    """Return words that are spelt like the query exactly if the answer is not."""
    if relation == "similar":
        return [word for word in words if not {*word[-2:]} & {*query[-2:]}]
    if relation == "different":
        return [word for word in words if word[-2:] == query[-2:] and not _nested(query, word)]
    return [*words]


def draw_rhymes(source: Source, rng: Random) -> list[Arguments]:
    """Draw a word, one of its rhyme group and one that does not rhyme with it."""
    task, groups = source.task, source.resources.rhymes
    names, sizes = [*groups], [*map(len, groups.values())]
    known = source.resources.unambiguous if task.resource == "unambiguous" else source.words

    @cache
    def strangers(name: str, query: str) -> list[str]:
        rhyming = {*groups[name]}
        if not task.ambiguous:
            rhyming = rhyming.union(*(each for each in groups.values() if query in each))
        return _distractors(task.relation, query, sorted({*known} - rhyming))

    def attempt() -> Drawn:
        name = rng.sample(names, k=1, counts=sizes)[0]
        query = rng.choice(groups[name])
        answers = _answers(task.relation, query, groups[name])
        if not answers:
            return None
        answer = rng.choice(answers)
        others = strangers(name, query)
        if not others:
            return None
        distractor, index = rng.choice(others), rng.choice((0, 1))
        # Of these the release takes no two that differ in the distractor alone.
        middle = () if task.relation == "different" else (distractor,)
        named = {"query": query, **pair(answer, distractor, index)}
        return (query, answer, *middle, index), named

    return gather(task.size, attempt)


def draw_homophones(source: Source, rng: Random) -> list[Arguments]:
    """Return every pair of homophones with each distractor, in both orders.

    Distractors have the release's order: easy ones, then those of like meaning.
    """
    return [
        {"query": row.word, **pair(row.homophone, word, index), "distractor_type": kind}
        for row in source.resources.homophones
        for kind, word in row.distractors
        for index in (0, 1)
    ]


SAMPLERS: dict[str, Sampler] = {
    "words": draw_words,
    "letters": draw_letters,
    "associated": draw_associated,
    "category": draw_category,
    "order": draw_order,
    "lengths": draw_lengths,
    "numbers": draw_numbers,
    "rhymes": draw_rhymes,
    "homophones": draw_homophones,
    "neighbours": draw_neighbours,
    "ends": draw_ends,
}


def draw(source: Source, seed: int) -> list[Arguments]:
    """Draw the arguments of a task's prompts, in order; repeatable by ``seed``."""
    return SAMPLERS[source.task.sampler](source, Random(seed))
