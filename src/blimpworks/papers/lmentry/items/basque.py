"""The Basque cases that category names need in prompts.

Source: Moroni, Aula-Blasco, Conia and others (2025), appendix A.3; regular declension of common
nouns (Hualde and Ortiz de Urbina, A Grammar of Basque, 2003, chapter 3.2).
"""

from typing import Literal, NamedTuple

Case = Literal[
    "absolutive_singular",
    "absolutive_plural",
    "comitative_singular",
    "comitative_plural",
    "ergative",
    "genitive",
]


class Endings(NamedTuple):
    """What a stem takes: in -a (which it replaces), in another vowel, in a consonant."""

    after_a: str
    after_vowel: str
    after_consonant: str


ENDINGS: dict[Case, Endings] = {
    "absolutive_singular": Endings("a", "a", "a"),
    "absolutive_plural": Endings("ak", "ak", "ak"),
    "comitative_singular": Endings("arekin", "arekin", "arekin"),
    "comitative_plural": Endings("ekin", "ekin", "ekin"),
    # Both indefinite, the genitive possessive.
    "ergative": Endings("ak", "k", "ek"),
    "genitive": Endings("aren", "ren", "en"),
}


def decline(noun: str, case: Case) -> str:
    """A noun phrase in a case, its last word declined; r is doubled before an ending."""
    endings = ENDINGS[case]
    if noun.endswith("a"):
        return noun[:-1] + endings.after_a
    if noun.endswith(("e", "i", "o", "u")):
        return noun + endings.after_vowel
    return noun + ("r" if noun.endswith("r") else "") + endings.after_consonant


def _related(category: str, have: str) -> str:
    """What an abstract category's words are called: words that have to do with it."""
    return f"{decline(category, 'comitative_singular')} zerikusia {have} hitz"


def category_related(category: str) -> tuple[str, ...]:
    """What the release takes for an abstract category's words; the first is that of prompts."""
    having = ("zerikusia duten", "lotura duten", "erlazioa duten")
    being = ("lotuta dauden", "erlazionatuta dauden")
    stem = decline(category, "comitative_singular")
    return tuple(f"{stem} {each} hitzak" for each in (*having, *being))


def category_name(
    category: str, task: str, number: int, abstract: frozenset[str], *, correct: bool
) -> str:
    """A category as it stands in template ``number`` of a task on categories.

    ``abstract`` are categories that words have to do with rather than belong to. The release
    looks among them after it has put "or" for "and" inside a name, and so misses one; ``correct``
    looks before.
    """
    if task in ("most_associated_word", "least_associated_word"):
        case: Case = "absolutive_singular" if category in abstract else "absolutive_plural"
        return decline(category, case)
    either = category.replace(" eta ", " edo ")
    known = (category if correct else either) in abstract
    if task == "all_words_from_category":
        return decline(_related(either, "duten") if known else either, "absolutive_plural")
    name = _related(either, "duen") if known else either
    return decline(name, "genitive") if number == 3 else name
