"""Arguments of the tasks on sounds: rhymes and homophones.

Source: Moroni, Aula-Blasco, Conia and others (2025), Tables 1 and 8, appendix A.3.
"""

from collections.abc import Sequence
from functools import cache
from random import Random

from blimpworks.papers.lmentry.items.draws import Arguments, Source, gather, pair


def _nested(word: str, other: str) -> bool:
    """Whether one word ends in the other, as unhappy in happy."""
    return word.endswith(other) or other.endswith(word)


def _answers(relation: str, query: str, group: Sequence[str]) -> list[str]:
    """Members of a query's rhyme group that may be its answer."""
    if relation == "different":
        long = [word for word in group if min(len(word), len(query)) > 1]
        return [word for word in long if word[-2] != query[-2] and word[-1] != query[-1]]
    rhymes = [word for word in group if not _nested(query, word)]
    if relation == "similar":
        return [word for word in rhymes if word[-2:] == query[-2:]]
    return rhymes


def _distractors(relation: str, query: str, words: Sequence[str]) -> list[str]:
    """Words that may stand beside the answer: spelt like the query where the answer is not."""
    if relation == "similar":
        return [word for word in words if not {*word[-2:]} & {*query[-2:]}]
    if relation == "different":
        return [word for word in words if word[-2:] == query[-2:] and not _nested(query, word)]
    return [*words]


def draw_rhymes(source: Source, rng: Random) -> list[Arguments]:
    """A word, one of its rhyme group and one that does not rhyme with it."""
    task, groups = source.task, source.resources.rhymes
    names, sizes = [*groups], [*map(len, groups.values())]
    known = source.resources.unambiguous if task.resource == "unambiguous" else source.words

    @cache
    def strangers(name: str, query: str) -> list[str]:
        rhyming = {*groups[name]}
        if not task.ambiguous:
            rhyming = rhyming.union(*(each for each in groups.values() if query in each))
        return _distractors(task.relation, query, sorted({*known} - rhyming))

    def attempt() -> tuple[tuple[str | int, ...], Arguments] | None:
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
    """Every pair of homophones with each of its distractors, in both orders.

    Distractors come in the order of the release: easy ones, then those of like meaning.
    """
    return [
        {"query": row.word, **pair(row.homophone, word, index), "distractor_type": kind}
        for row in source.resources.homophones
        for kind, word in row.distractors
        for index in (0, 1)
    ]
