"""Generated pairs of subject-verb agreement: numbers of subjects, distractors and verbs."""

import pytest

from support.clauses_kit import (
    accepts,
    falls_under,
    numbers,
    numbers_of_verb,
    phrase_at,
    phrase_before,
    words,
)
from support.generator_kit import pairs

OTHER = {"sg": "pl", "pl": "sg"}
ONE_PREFIX = [f"{kind}_plural_subject_verb_agreement_1" for kind in ("regular", "irregular")]
TWO_PREFIX = [f"{kind}_plural_subject_verb_agreement_2" for kind in ("regular", "irregular")]
RELATIONAL = "distractor_agreement_relational_noun"
RELATIVE = "distractor_agreement_relative_clause"
SWAPPED_VERBS = [*ONE_PREFIX, RELATIONAL, RELATIVE]
RELATIVES = {"who", "which", "that"}


def subject(prefix):
    """The noun that a prefix begins with, in its number, and the words after it."""
    _, readings, rest = phrase_at(words(prefix))
    assert len(numbers(readings)) == 1, prefix
    return next(iter(readings))[0], *numbers(readings), rest


@pytest.mark.slow
@pytest.mark.parametrize("uid", SWAPPED_VERBS)
def test_the_good_verb_has_the_subjects_number_and_the_bad_one_the_other(uid):
    for pair in pairs(uid):
        _, number, _ = subject(pair.good.prefix)
        assert numbers_of_verb(pair.good.word) == {number}, pair.record
        assert numbers_of_verb(pair.bad.word) == {OTHER[number]}, pair.record


@pytest.mark.parametrize("uid", TWO_PREFIX)
def test_the_verb_has_the_good_subjects_number_and_not_the_bad_ones(uid):
    for pair in pairs(uid):
        noun, number, _ = subject(pair.good.prefix)
        other, other_number, _ = subject(pair.bad.prefix)
        assert numbers_of_verb(pair.good.word) == {number}, pair.record
        assert (other, other_number) == (noun, OTHER[number]), pair.record
        assert pair.good.text.startswith("The ")
        assert pair.bad.text.startswith("The ")


@pytest.mark.parametrize("uid", [*SWAPPED_VERBS, *TWO_PREFIX])
def test_no_bad_verb_is_fine_as_a_past(uid):
    for pair in pairs(uid):
        verb = pair.drawn["verb"].entry
        assert pair.bad.word != verb.form("past"), pair.record


@pytest.mark.parametrize("uid", [*ONE_PREFIX, *TWO_PREFIX, RELATIVE])
def test_subjects_have_the_plural_that_the_paradigm_is_about_and_are_no_institutions(uid):
    for pair in pairs(uid):
        noun, _, _ = subject(pair.good.prefix)
        assert noun.irregular == uid.startswith("irregular"), noun
        assert not falls_under(noun, "institution"), noun


def test_relational_subjects_have_an_owner_of_the_other_number():
    for pair in pairs(RELATIONAL):
        noun, number, rest = subject(pair.good.prefix)
        owners, before = phrase_before(rest)
        assert ("relational" in noun.tags, before) == (True, ["of"]), pair.record
        assert numbers(owners) == {OTHER[number]}, pair.record
        assert any(accepts(noun.of, owner) for owner, _ in owners), pair.record


def test_distractors_in_relative_clauses_have_the_other_number_and_could_be_the_subject():
    for pair in pairs(RELATIVE):
        _, number, rest = subject(pair.good.prefix)
        assert rest[0] in RELATIVES, pair.record
        distractors, _ = phrase_before(rest)
        assert numbers(distractors) == {OTHER[number]}, pair.record
        verb = pair.drawn["verb"].entry
        assert any(accepts(verb.subject, noun) for noun, _ in distractors), pair.record
