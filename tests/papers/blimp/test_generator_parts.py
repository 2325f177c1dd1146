"""Parts of what the generator draws, and the pronouns that stand for it."""

import random

import pytest

from blimpworks.papers.blimp.items.generator.builder import Builder
from blimpworks.papers.blimp.items.generator.checks import PARTS, read_declaration
from blimpworks.papers.blimp.items.generator.constituents import DeterminerForm, NounForm
from blimpworks.papers.blimp.items.generator.declarations import Scheme
from blimpworks.papers.blimp.items.generator.generate import make_sentence
from support.generator_kit import PATHS, lexicon


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
    builder = Builder(lexicon(), Scheme(draw=draw, good="", bad=""), random.Random(0))
    assert {*PARTS[kind]} <= {*builder.draw()[kind].PARTS}


def test_an_article_that_is_the_critical_word_has_the_right_form():
    drawn = {"object": phrase("apple", "sg", "a")}
    sentence = make_sentence("I eat [{object.first}] {object.rest}.", drawn, lexicon().sounds)
    assert (sentence.text, sentence.word) == ("I eat an apple.", "an")


def pronouns(classes, gender, number):
    """Reflexives of the other number than that of nouns that are drawn so."""
    noun = {"is": "noun", "classes": classes, "gender": [gender], "number": number}
    other = {"is": "pronoun", "case": "reflexive", "like": "n", "number_unlike": "n"}
    scheme = Scheme(draw={"n": noun, "other": other}, good="{other}", bad="{other}")
    builder = Builder(lexicon(), scheme, random.Random(0))
    return {builder.draw()["other"].text for _ in range(50)}


def test_a_pronoun_of_the_other_number_keeps_the_gender():
    assert pronouns("person", "f", "pl") == {"herself"}
    assert pronouns("person", "c", "pl") == {"himself", "herself"}
    assert pronouns("clothing", "n", "pl") == {"itself"}
    assert pronouns("person", "m", "sg") == {"themselves"}


@pytest.mark.parametrize("uid", PATHS)
def test_verbs_that_a_paradigm_names_have_the_frame_that_it_asks_for(uid):
    verbs = {(verb.lexeme, verb.frame) for verb in lexicon().verbs}
    for scheme in read_declaration(PATHS[uid]).one_of:
        for draw in scheme.draw.values():
            if draw.kind == "verb" and isinstance(draw.frame, str):
                assert {(word, draw.frame) for word in draw.words} <= verbs
