"""The builder of pairs: parts and pronouns of draws, and what a declaration excludes."""

import random

import pytest

from blimpworks.papers.blimp.items.generator.builder import Builder
from blimpworks.papers.blimp.items.generator.checks import PARTS
from blimpworks.papers.blimp.items.generator.constituents import DeterminerForm, NounForm
from blimpworks.papers.blimp.items.generator.declarations import Scheme
from blimpworks.papers.blimp.items.generator.generate import make_sentence
from support.generator_kit import lexicon


def phrase(noun, number="sg", determiner=None):
    entry = next(each for each in lexicon().nouns if each.noun == noun)
    entries = (each for each in lexicon().determiners if each.determiner == determiner)
    return NounForm(entry, number, next(map(DeterminerForm, entries), None))


def test_a_phrase_has_a_first_word_and_a_rest():
    apples, name = phrase("apple", "pl", "a lot of"), phrase("Mary")
    assert apples.part("first") + apples.part("rest") == ("a", "lot", "of", "apples")
    assert (name.part("first"), name.part("rest")) == (("Mary",), ())


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
    assert {*PARTS[kind]} <= {*drawn(kind, **draw)[0].PARTS}


def test_an_article_that_is_the_critical_word_has_the_right_form():
    drawn = {"object": phrase("apple", "sg", "a")}
    sentence = make_sentence("I eat [{object.first}] {object.rest}.", drawn, lexicon().sounds)
    assert (sentence.text, sentence.word) == ("I eat an apple.", "an")


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
