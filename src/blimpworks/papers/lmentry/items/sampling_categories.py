"""Arguments of the tasks on categories of words.

Source: Moroni, Aula-Blasco, Conia and others (2025), Tables 1 and 8, appendix A.3.
"""

from collections.abc import Hashable
from random import Random

from blimpworks.papers.lmentry.items.draws import LISTED, Arguments, Source, gather
from blimpworks.papers.lmentry.items.resources import Groups

Drawn = tuple[Hashable, Arguments] | None


def draw_associated(source: Source, rng: Random) -> list[Arguments]:
    """A word of one category among four of another; the question names the one or the other."""
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
    """Five words, some from other categories than the one in question; the answer is yes or no."""
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
    """Words of all other categories; in the release also those of its own.

    There a word of two of them stands twice, and may be drawn twice for one prompt.
    """
    others = [word for other, words in groups.items() if other != name for word in words]
    if ambiguous:
        return others
    own = {*groups[name]}
    return [word for word in dict.fromkeys(others) if word not in own]
