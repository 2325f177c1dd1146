"""The generator: what holds of the pairs of every declared paradigm."""

import re
from collections import Counter

import pytest
from generator_kit import PATHS, lexicon, pairs

from blimpworks.blimp.release import span_of

MARKS = (".", "?")


@pytest.fixture(params=PATHS, scope="module")
def paradigm(request):
    return request.param


def test_both_sentences_have_as_many_lexical_entries(paradigm):
    for pair in pairs(paradigm):
        assert len(pair.good.entries) == len(pair.bad.entries), pair.record


def test_sentences_differ_in_one_entry_or_in_order_alone(paradigm):
    for pair in pairs(paradigm):
        good, bad = (Counter(map(str.lower, side.entries)) for side in (pair.good, pair.bad))
        assert (good - bad).total() <= 1, pair.record


def test_sentences_are_written_as_released_ones_are(paradigm):
    for pair in pairs(paradigm):
        for text in (pair.good.text, pair.bad.text):
            assert text[0].isupper()
            assert text.endswith(MARKS), text
            # "A euro" and "a one" are right.
            wrong = re.search(r"  | [.,?]|[][{}]|\b[Aa] (?!euro|one)[aeio]", text)
            assert not wrong, text


def test_acceptable_sentences_are_distinct_and_never_the_other_one(paradigm):
    found = [pair.record for pair in pairs(paradigm)]
    assert len({record.sentence_good for record in found}) == len(found)
    assert all(not record.identical for record in found)


def test_critical_words_follow_their_prefixes(paradigm):
    for pair in pairs(paradigm):
        for text, critical in zip(
            (pair.good.text, pair.bad.text), pair.record.critical() or (), strict=False
        ):
            span_of(text, *critical)


def test_the_lexicon_has_three_thousand_entries_and_more():
    assert len(lexicon()) > 3000
