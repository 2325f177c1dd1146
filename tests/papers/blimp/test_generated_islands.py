"""Generated pairs of island effects: what is asked for, and where it is missing."""

import pytest

from support.clauses_kit import (
    auxiliary,
    falls_under,
    numbers,
    phrase_at,
    wants_its_object,
    words,
)
from support.generator_kit import pairs

ADJUNCT, COMPLEX_NP = "adjunct_island", "complex_NP_island"
LEFT_OF_TWO = "coordinate_structure_constraint_complex_left_branch"
OBJECT = "coordinate_structure_constraint_object_extraction"
SUBJECT, WH = "sentential_subject_island", "wh_island"
PERSONS = {"m": {"he"}, "f": {"she"}, "c": {"he", "she"}}


@pytest.mark.parametrize(
    ("uid", "name"), [(ADJUNCT, "object"), (COMPLEX_NP, "object"), (OBJECT, "asked"), (WH, "asked")]
)
def test_persons_are_asked_for_by_who_and_all_else_by_what(uid, name):
    for pair in pairs(uid):
        person = falls_under(pair.drawn[name].entry, "person")
        assert words(pair.good.text)[0] == ("who" if person else "what"), pair.good.text


@pytest.mark.parametrize(
    ("uid", "name"), [(ADJUNCT, "other"), (COMPLEX_NP, "inner"), (SUBJECT, "inner"), (WH, "inner")]
)
def test_verbs_before_the_forbidden_gap_never_go_without_an_object(uid, name):
    for pair in pairs(uid):
        verb = pair.drawn[name].entry
        assert wants_its_object(verb.lexeme), verb.lexeme


def test_joined_questions_share_auxiliary_form_and_number():
    for pair in pairs(LEFT_OF_TWO):
        numbers_ = {pair.drawn[name].number for name in ("subject", "other_subject")}
        assert len(numbers_) == 1, pair.good.text
        verb = pair.drawn["other"].entry
        shared = auxiliary(words(pair.bad.text)[1])
        last = f"{verb.form(shared.takes)} {verb.particle}".strip()
        assert pair.good.text.endswith(f" {last}?"), pair.good.text
        assert numbers_ <= shared.numbers


def test_joined_subjects_have_a_plural_auxiliary_and_the_first_alone_its_own():
    for pair in pairs(OBJECT):
        subject = pair.drawn["subject"]
        both, single = (auxiliary(words(text)[1]) for text in (pair.good.text, pair.bad.text))
        assert "pl" in both.numbers, pair.good.text
        assert subject.number in single.numbers, pair.bad.text
        assert single in (both, auxiliary(both.swapped)), pair.bad.text
        assert words(pair.good.text)[2:] != words(pair.bad.text)[2:]


def test_pronouns_agree_with_the_subject_that_who_stands_in_for():
    for pair in pairs(WH):
        _, readings, _ = phrase_at(words(pair.good.prefix)[2:])
        assert numbers(readings) == {pair.drawn["subject"].number}
        pronouns = (
            {"they"} if "pl" in numbers(readings) else PERSONS[next(iter(readings))[0].gender]
        )
        assert pair.good.word in pronouns, pair.good.text
        assert pair.bad.word == "who", pair.bad.text


def test_verbs_inside_a_question_fit_the_singular_that_who_asks_for():
    for pair in pairs(WH):
        first, *_ = pair.good.text.partition(f" {pair.good.word} ")[2].rstrip("?").split()
        verb = pair.drawn["inner"].entry
        fitting = {verb.form("past")}
        if pair.good.word != "they":
            fitting.add(verb.form("third"))
        known = auxiliary(first)
        numbered = known.numbers if known else {"sg", "pl"} if first in fitting else set()
        assert {"sg", "pl" if pair.good.word == "they" else "sg"} <= numbered, pair.bad.text
