"""The builder: what a declaration excludes is never drawn."""

import random

import pytest

from blimpworks.papers.blimp.items.generator.builder import Builder
from blimpworks.papers.blimp.items.generator.declarations import Scheme
from support.generator_kit import lexicon

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
    assert {getattr(each.entry, names[draw["is"]]) for each in words} == kept


@pytest.mark.parametrize("distinct", [True, False])
def test_nouns_have_a_plural_of_their_own_where_it_is_asked_for(distinct):
    nouns = drawn(
        "noun",
        noun={"is": "noun", "classes": "fish", "number": "pl", "distinct_plural": distinct},
    )
    assert any(each.text == each.entry.noun for each in nouns) != distinct


def test_auxiliaries_are_among_those_that_are_allowed():
    predicates = drawn(
        "does",
        verb={"is": "verb", "words": ["cough"]},
        does={
            "is": "predicate",
            "verb": "verb",
            "number": "sg",
            "auxiliary": "always",
            "negated": "no",
            "among": ["has", "have", "will"],
        },
    )
    assert {each.chosen.aux for each in predicates} == {("has",), ("will",)}
