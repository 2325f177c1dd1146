"""Generated pairs of island effects: what is asked for, and where it is missing."""

import pytest

from support.clauses_kit import (
    numbers,
    phrase_at,
    wants_its_object,
    words,
)
from support.generator_kit import pairs

ADJUNCT, COMPLEX_NP = "adjunct_island", "complex_NP_island"
SUBJECT, WH = "sentential_subject_island", "wh_island"
PERSONS = {"m": {"he"}, "f": {"she"}, "c": {"he", "she"}}


@pytest.mark.parametrize(
    ("uid", "name"), [(ADJUNCT, "other"), (COMPLEX_NP, "inner"), (SUBJECT, "inner"), (WH, "inner")]
)
def test_verbs_before_the_forbidden_gap_never_go_without_an_object(uid, name):
    for pair in pairs(uid):
        verb = pair.drawn[name].entry
        assert wants_its_object(verb.lexeme), verb.lexeme


def test_pronouns_agree_with_the_subject_that_who_stands_in_for():
    for pair in pairs(WH):
        _, readings, _ = phrase_at(words(pair.good.prefix)[2:])
        assert numbers(readings) == {pair.drawn["subject"].number}
        pronouns = (
            {"they"} if "pl" in numbers(readings) else PERSONS[next(iter(readings))[0].gender]
        )
        assert pair.good.word in pronouns, pair.good.text
        assert pair.bad.word == "who", pair.bad.text
