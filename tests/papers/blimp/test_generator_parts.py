"""The builder of pairs: parts and pronouns of draws, and what a declaration excludes."""

import random

import pytest

from blimpworks.papers.blimp.items.generator.builder import Builder
from blimpworks.papers.blimp.items.generator.constituents import PARTS as PARTS_OF
from blimpworks.papers.blimp.items.generator.declarations import Scheme
from blimpworks.papers.blimp.items.generator.generate import PARTS
from support.generator_kit import lexicon


@pytest.mark.parametrize("kind", PARTS)
def test_what_is_drawn_has_the_parts_that_declarations_may_ask_for(kind):
    draw = {
        "verb": {"is": "verb", "frame": "transitive"},
        "noun": {"is": "noun", "subject_of": ["verb"], "number": "sg"},
        "phrase": {"is": "phrase", "subject_of": ["verb"]},
        "determiner": {"is": "determiner", "for": "noun"},
        "predicate": {"is": "predicate", "verb": "verb", "subject": ["noun"], "agreeing": True},
        "adjective": {"is": "adjective"},
        "pronoun": {"is": "pronoun", "case": "reflexive", "like": "noun"},
        "wh": {"is": "wh", "for": "noun"},
    }
    constituent = drawn(kind, **draw)[0]
    assert {*PARTS[kind]} <= {*PARTS_OF.get(type(constituent), [""])}


def pronouns(classes, gender, number):
    """Reflexives of the other number than that of nouns that are drawn so."""
    noun = {"is": "noun", "classes": classes, "gender": [gender], "number": number}
    other = {"is": "pronoun", "case": "reflexive", "like": "n", "number_unlike": "n"}
    return {each.text for each in drawn("other", n=noun, other=other)}


def test_a_pronoun_of_the_other_number_keeps_the_gender():
    assert pronouns("person", "f", "pl") == {"herself"}
    assert pronouns("person", "c", "pl") == {"himself", "herself"}
    assert pronouns("clothing", "n", "pl") == {"itself"}
    assert pronouns("person", "m", "sg") == {"themselves"}


DRAWS = 60


def drawn(name, **draw):
    """What a scheme of some draws gives for one of them, many times."""
    scheme = Scheme.model_validate({"draw": draw, "good": "", "bad": ""})
    builder = Builder(lexicon(), scheme, random.Random(0))
    return [builder.draw()[name] for _ in range(DRAWS)]


ADJECTIVES = {adjective.adjective for adjective in lexicon().adjectives}
WOMEN = {noun.noun for noun in lexicon().nouns if noun.gender == "f"}


@pytest.mark.parametrize(
    ("draw", "allowed", "kept"),
    [
        ({"is": "verb", "words": ["give up", "cough", "sneeze"]}, {"give up", "cough"}, {"sneeze"}),
        ({"is": "noun", "gender": ["f"]}, WOMEN, {"actress", "queen"}),
        ({"is": "adjective"}, ADJECTIVES, {"old", "new"}),
    ],
)
def test_words_are_other_than_those_that_are_excluded(draw, allowed, kept):
    words = drawn("word", word=draw | {"other_than": sorted(allowed - kept)})
    names = {"verb": "lexeme", "noun": "noun", "adjective": "adjective"}
    assert {getattr(getattr(each, "entry", each), names[draw["is"]]) for each in words} == kept
