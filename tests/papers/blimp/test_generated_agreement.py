"""Generated pairs of subject-verb agreement: numbers of subjects, distractors and verbs."""

import pytest

from support.clauses_kit import (
    falls_under,
    numbers,
    numbers_of_verb,
    phrase_at,
    words,
)
from support.generator_kit import pairs

OTHER = {"sg": "pl", "pl": "sg"}
ONE_PREFIX = [f"{kind}_plural_subject_verb_agreement_1" for kind in ("regular", "irregular")]
TWO_PREFIX = [f"{kind}_plural_subject_verb_agreement_2" for kind in ("regular", "irregular")]
RELATIONAL = "distractor_agreement_relational_noun"
RELATIVE = "distractor_agreement_relative_clause"
SWAPPED_VERBS = [*ONE_PREFIX, RELATIONAL, RELATIVE]


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
