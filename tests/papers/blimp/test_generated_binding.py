"""Generated pairs of binding, control and raising, by their text and the lexicon."""

import re
from collections import defaultdict
from functools import cache

import pytest

from support.clauses_kit import gender_of, noun_at
from support.generator_kit import lexicon, pairs

ACCUSATIVE = {"him": "himself", "her": "herself", "it": "itself", "them": "themselves"}
WEAK = "a|an|some|many|several|a few|a lot of|few|no|more than three|fewer than three"


def stands_for(reflexive, noun, number):
    """Whether a reflexive pronoun can stand for a noun."""
    gender = gender_of(reflexive)
    if gender is None or number == "pl":
        return gender is None and number == "pl"
    either = "mf" if "person" in noun.classes else "mfn"
    return gender == noun.gender or (noun.gender == "c" and gender in either)


def can_be_a_singular_they(phrase):
    """Whether "themselves" could stand for a phrase in the singular."""
    return phrase.number == "sg" and (
        phrase.entry.gender not in "mf" or phrase.det in (("every",), ("each",))
    )


def bound_by(phrase, reflexive):
    """Whether a reflexive pronoun can stand for a drawn phrase, by the lexicon."""
    if reflexive == "themselves" and can_be_a_singular_they(phrase):
        return True
    return stands_for(reflexive, phrase.entry, phrase.number)


@cache
def frames():
    """Frames of each verb and uses of each adjective."""
    frames_of = defaultdict(set)
    for verb in lexicon().verbs:
        frames_of[verb.lexeme].add(verb.frame)
    for each in lexicon().adjectives:
        frames_of[each.adjective, "adjective"].add(each.frame)
    return frames_of


def verb(pair, name):
    return pair.drawn[name].entry


# Binding


def test_only_the_whole_subject_binds_the_reflexive():
    relative = re.compile(r" (who|that) ")
    for pair in pairs("principle_A_c_command", 400):
        subject, numbers = noun_at(pair.good.text)
        assert relative.search(pair.good.text), pair.record
        assert any(stands_for(pair.good.word, subject, each) for each in numbers), pair.record
        assert not bound_by(pair.drawn["subject"], pair.bad.word), pair.record
        assert bound_by(pair.drawn["object"], pair.bad.word), pair.record


@pytest.mark.parametrize("uid", ["principle_A_domain_1", "principle_A_domain_2"])
def test_a_reflexive_stands_for_the_subject_of_its_own_clause(uid):
    for pair in pairs(uid, 400):
        if uid == "principle_A_domain_2":
            assert bound_by(pair.drawn["other"], pair.good.word), pair.record
        else:
            assert ACCUSATIVE[pair.good.word] == pair.bad.word, pair.record
        assert bound_by(pair.drawn["subject"], pair.bad.word), pair.record
        assert not bound_by(pair.drawn["other"], pair.bad.word), pair.record


# Control and raising


@pytest.mark.parametrize(
    ("uid", "right", "wrong"),
    [
        ("existential_there_object_raising", "object_raising", "object_control"),
        ("expletive_it_object_raising", "object_raising", "object_control"),
        ("existential_there_subject_raising", "raising", "control"),
        ("tough_vs_raising_1", "tough", "raising"),
        ("tough_vs_raising_2", "raising", "tough"),
    ],
)
def test_only_the_good_word_has_the_frame_that_its_sentence_needs(uid, right, wrong):
    for pair in pairs(uid, 400):
        if hasattr(verb(pair, "other"), "adjective"):
            words = [(verb(pair, name).adjective, "adjective") for name in ("adjective", "other")]
        else:
            words = [verb(pair, name).lexeme for name in ("verb", "other")]
        good, bad = (frames()[word] for word in words)
        assert right in good, pair.record
        assert bad & {right, wrong} == {wrong}, pair.record


@pytest.mark.parametrize(
    "uid", ["existential_there_object_raising", "existential_there_subject_raising"]
)
def test_what_there_is_has_a_weak_quantifier_and_does_something(uid):
    for pair in pairs(uid):
        for text in (pair.good.text, pair.bad.text):
            rest = re.search(rf"there .*?\bto be ((?:{WEAK}) .+)$", text, re.IGNORECASE)[1]
            noun, _ = noun_at(rest)
            inner = verb(pair, "inner")
            assert f" {inner.form('gerund')}" in rest, pair.record
            assert lexicon().classes.accepts(inner.subject, noun.classes), pair.record
