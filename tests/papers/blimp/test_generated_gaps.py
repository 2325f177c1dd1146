"""Generated pairs of filler-gap dependencies and ellipsis."""

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


@pytest.mark.slow
@pytest.mark.parametrize("uid", WITH_GAP)
def test_the_clause_with_a_gap_ends_in_a_verb_that_never_goes_without_object(uid):
    for good, bad, _ in texts(uid):
        verbs = entries_with(words(good)[-1])
        assert verbs
        assert words(good)[-1] == words(bad)[-1]
        assert {verb.frame for verb in verbs} == {"transitive"}, bad
        assert not any(verb.tags & {"drops", "bare", "alternates"} for verb in verbs), bad
