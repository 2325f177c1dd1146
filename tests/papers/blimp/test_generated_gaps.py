"""Generated pairs of filler-gap dependencies and ellipsis."""

import re
from functools import cache

import pytest

from support.generator_kit import lexicon, pairs

INSTEAD = [
    "wh_questions_object_gap",
    "wh_questions_subject_gap",
    "wh_questions_subject_gap_long_distance",
]
"""The acceptable sentence has a relative clause instead of a question."""
NO_GAP = ["wh_vs_that_no_gap", "wh_vs_that_no_gap_long_distance"]
WITH_GAP = ["wh_vs_that_with_gap", "wh_vs_that_with_gap_long_distance"]
GAPS = [*INSTEAD, *NO_GAP, *WITH_GAP]
ELLIPSIS = ["ellipsis_n_bar_1", "ellipsis_n_bar_2"]


def texts(uid):
    return [(pair.good.text, pair.bad.text, pair) for pair in pairs(uid)]


def words(text):
    return text.rstrip(".").lower().split()


def said(constituent):
    """A constituent as it stands in a sentence."""
    text = " ".join(constituent.part())
    article, _, rest = text.partition(" ")
    if article != "a" or rest.startswith("lot of"):
        return text
    return f"{lexicon().sounds.article(rest)} {rest}"


@cache
def entries_with(form):
    """Entries of verbs without particle that have a form."""
    forms = ("base", "third", "past", "participle", "gerund")
    return [
        verb
        for verb in lexicon().verbs
        if not verb.particle and form in {verb.form(each) for each in forms}
    ]


@pytest.mark.parametrize("uid", GAPS)
def test_the_question_word_fits_what_it_asks_about(uid):
    for good, bad, pair in texts(uid):
        gap = pair.drawn.get("thing") or pair.drawn["object"]
        wh = "who" if "person" in gap.entry.classes else "what"
        assert wh == said(pair.drawn["what"])
        assert f" {wh} " in (good if uid in WITH_GAP else bad)


@pytest.mark.parametrize("uid", [*INSTEAD[1:], *NO_GAP])
def test_the_clause_without_gap_ends_in_an_object_that_the_verb_takes(uid):
    for good, bad, pair in texts(uid):
        verb, direct_object = pair.drawn["verb"].entry, pair.drawn["object"]
        assert good.endswith(f" {said(direct_object)}.")
        assert bad.endswith(f" {said(direct_object)}.")
        assert lexicon().classes.accepts(verb.object, direct_object.entry.classes), good


@pytest.mark.slow
@pytest.mark.parametrize("uid", WITH_GAP)
def test_the_clause_with_a_gap_ends_in_a_verb_that_never_goes_without_object(uid):
    for good, bad, _ in texts(uid):
        verbs = entries_with(words(good)[-1])
        assert verbs
        assert words(good)[-1] == words(bad)[-1]
        assert {verb.frame for verb in verbs} == {"transitive"}, bad
        assert not any(verb.tags & {"drops", "bare", "alternates"} for verb in verbs), bad


@pytest.mark.parametrize("uid", GAPS)
def test_no_clause_could_be_an_exclamation_or_begins_with_that_twice(uid):
    for good, bad, _ in texts(uid):
        for text in (good, bad):
            assert not re.search(r"\b(who|what) an? |\bthat that ", text), text


@pytest.mark.parametrize("uid", ELLIPSIS)
def test_both_clauses_say_the_same_but_for_the_number_of_their_subjects(uid):
    auxiliaries = {each.auxiliary: each.swapped for each in lexicon().auxiliaries}
    for good, _, pair in texts(uid):
        (first, *more), (second, *others) = (
            pair.drawn[name].part() for name in ("does", "other_does")
        )
        verb = pair.drawn["verb"]
        finite = {verb.part(form)[0] for form in ("base", "third")}
        assert more == others, good
        assert first == second or auxiliaries.get(first) == second or {first, second} == finite
