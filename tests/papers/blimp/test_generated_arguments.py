"""Generated pairs of anaphor agreement and argument structure, by their text and the lexicon."""

from collections import defaultdict
from functools import cache

import pytest

from support.clauses_kit import gender_of, noun_at
from support.generator_kit import lexicon, pairs

STRICT = {"intransitive", "clause", "raising", "control", "object_control"}
"""Frames of verbs that stand without an object."""


@cache
def entries():
    """Entries of verbs by verb, with its particle, and frame."""
    frames = defaultdict(dict)
    for verb in lexicon().verbs:
        frames[verb.lexeme][verb.frame] = verb
    return frames


def forms(verb):
    """All that can stand for a verb, with its particle."""
    kinds = ("base", "third", "past", "participle", "gerund")
    return {f"{verb.form(kind)} {verb.particle}".strip() for kind in kinds}


def ends_with(text, verb):
    """Whether a sentence ends with a verb."""
    return any(text.endswith(f" {form}.") for form in forms(verb))


def verbs(pair):
    """The verb of the acceptable sentence and the other's."""
    return pair.drawn["verb"].entry, pair.drawn["other"].entry


def needs_an_object(verb):
    """Whether a verb never stands without one, by all its entries."""
    frames = entries()[verb.lexeme]
    loose = frames["transitive"].tags & {"drops", "bare", "alternates", "psych"}
    return not STRICT & {*frames} and not loose


def has_no_object(verb):
    """Whether nothing after a verb could be its object, by all its entries."""
    frames = entries()[verb.lexeme]
    return "transitive" not in frames and not verb.particle and "objects" not in verb.tags


# Anaphor agreement


def test_a_reflexive_has_the_gender_of_the_subject_and_the_other_one_has_not():
    for pair in pairs("anaphor_gender_agreement"):
        noun, numbers = noun_at(pair.good.text)
        assert "sg" in numbers
        assert "person" in noun.classes
        assert noun.gender in "mf"
        assert gender_of(pair.good.word) == noun.gender, pair.record
        assert gender_of(pair.bad.word) not in (noun.gender, None), pair.record


def test_a_reflexive_has_the_number_of_the_subject_and_the_other_one_has_not():
    singulars = 0
    for pair in pairs("anaphor_number_agreement"):
        _, numbers = noun_at(pair.good.text)
        assert len(numbers) == 1
        plural = [gender_of(side.word) is None for side in (pair.good, pair.bad)]
        assert plural == ([True, False] if "pl" in numbers else [False, True]), pair.record
        singulars += "sg" in numbers
    assert 50 < singulars < 100


# Argument structure


@pytest.mark.parametrize(
    ("uid", "tag", "unfit", "final"),
    [
        ("causative", "alternates", has_no_object, False),
        ("drop_argument", "drops", needs_an_object, True),
        ("inchoative", "alternates", needs_an_object, True),
        ("intransitive", None, needs_an_object, True),
        ("passive_1", "passive", has_no_object, False),
        ("passive_2", "passive", has_no_object, False),
        ("transitive", None, has_no_object, False),
    ],
)
def test_only_the_good_verb_allows_the_arguments_of_its_sentence(uid, tag, unfit, final):
    frame = "intransitive" if uid == "intransitive" else "transitive"
    for pair in pairs(uid, 400):
        good, bad = verbs(pair)
        assert frame in entries()[good.lexeme], pair.record
        assert tag is None or tag in entries()[good.lexeme][frame].tags, pair.record
        assert unfit(bad), pair.record
        if final:
            assert ends_with(pair.good.text, good), pair.record
            assert ends_with(pair.bad.text, bad), pair.record


# Animate subjects


def wide(noun):
    """All classes that a noun falls under."""
    return {name for each in noun.classes for name in lexicon().classes.wider[each]}


def test_the_subject_is_animate_or_a_thing_of_the_same_number():
    for pair in pairs("animate_subject_trans", 400):
        good, bad = (noun_at(side.text) for side in (pair.good, pair.bad))
        assert "animate" in wide(good[0]), pair.record
        assert not wide(bad[0]) & {"animate", "institution", "document", "device"}, pair.record
        assert good[1] & bad[1], pair.record
        assert pair.good.word == pair.bad.word, pair.record
