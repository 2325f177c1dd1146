"""Reading generated sentences back: their nouns and pronouns, by the lexicon alone."""

from collections import defaultdict
from functools import cache

from support.generator_kit import lexicon

GENDERS = {"himself": "m", "herself": "f", "itself": "n"}


def gender_of(reflexive):
    """Gender of a singular reflexive pronoun; None of the plural."""
    return None if reflexive == "themselves" else GENDERS[reflexive]


@cache
def _nouns():
    readings = defaultdict(list)
    for noun in lexicon().nouns:
        for number, form in noun.forms.items():
            readings[form.lower()].append((noun, number))
    return readings


def noun_at(text):
    """The noun of the phrase that a text begins with, and the numbers that it can have.

    A noun that stands in several lines of the lexicon is the one of the first.
    """
    words = text.rstrip(".?").split(" ")
    determiners = {each.determiner for each in lexicon().determiners} | {"an"}
    for start in (4, 3, 2, 1, 0):
        if start and " ".join(words[:start]).lower() not in determiners:
            continue
        for end in range(len(words), start, -1):
            known = _nouns().get(" ".join(words[start:end]).lower(), [])
            pairs = [each for each in known if ("name" in each[0].tags) == (start == 0)]
            if pairs:
                return pairs[0][0], {number for noun, number in pairs if noun == pairs[0][0]}
    raise AssertionError(f"no noun at the beginning of {text!r}")
