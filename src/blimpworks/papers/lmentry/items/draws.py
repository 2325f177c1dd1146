"""Share what all samplers use: their source, and the search for enough draws.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2, and the benchmark's released
code: the same order of draws makes the same arguments from the same seed.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from blimpworks.papers.lmentry.items.alphabet import Alphabet
from blimpworks.papers.lmentry.items.declarations import Declaration
from blimpworks.papers.lmentry.items.packs import Pack
from blimpworks.papers.lmentry.items.resources import Groups, Resources, Word

Arguments = dict[str, Any]
"""Values for a prompt and its judge, by the release's names."""
Drawn = tuple[Hashable, Arguments] | None
"""Identity of a draw, and its arguments; None for an unusable draw."""
Attempt = Callable[[], Drawn]
PATIENCE = 20_000
"""Draws in a row without anything new that end the search."""
LISTED = 5


@dataclass(frozen=True)
class Source:
    """Data that a task's arguments are drawn from."""

    resources: Resources
    pack: Pack
    task: Declaration

    @cached_property
    def alphabet(self) -> Alphabet:
        """Letters of the language, in their order."""
        return Alphabet(self.pack.alphabet)

    @property
    def known(self) -> Mapping[str, Word]:
        """The list of words, with their annotation."""
        return self.resources.forms if self.task.resource == "forms" else self.resources.words

    @cached_property
    def words(self) -> list[str]:
        """Words of the wanted levels and length, in the order of their list."""
        levels = {*self.task.levels}
        return [
            word
            for word, facts in self.known.items()
            if len(word) >= self.task.shortest and (not levels or levels & {*facts.levels})
        ]

    def categories(self, usual: Groups) -> dict[str, Sequence[str]]:
        """Return categories with enough words; renamed ones come last."""
        chosen = {"nouns": self.resources.nouns, "categories": self.resources.categories}
        groups = chosen.get(self.task.resource, usual)
        named = self.task.rename
        kept = {name: members for name, members in groups.items() if name not in named}
        renamed = {named[name]: members for name, members in groups.items() if name in named}
        return {name: w for name, w in (kept | renamed).items() if len(w) >= self.task.fewest}


def gather(size: int, attempt: Attempt) -> list[Arguments]:
    """Return the first ``size`` different draws, or fewer if nothing new turns up."""
    draws: list[Arguments] = []
    seen: set[Hashable] = set()
    fruitless = 0
    while len(draws) < size and fruitless < PATIENCE:
        drawn = attempt()
        if drawn is None or drawn[0] in seen:
            fruitless += 1
            continue
        seen.add(drawn[0])
        draws.append(drawn[1])
        fruitless = 0
    return draws


def pair(answer: Any, distractor: Any, answer_index: int) -> Arguments:
    """Return arguments of a choice between two; ``answer_index`` 0 puts the answer first."""
    word1, word2 = (answer, distractor) if answer_index == 0 else (distractor, answer)
    return {
        "answer": answer,
        "distractor": distractor,
        "answer_index": answer_index,
        "word1": word1,
        "word2": word2,
    }


Sampler = Callable[[Source, Random], list[Arguments]]
