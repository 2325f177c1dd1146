"""Single sentences: thresholds of other folds, Matthews' correlation, verdicts."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr

from blimpworks.benchmarks.judge_sentences import best_threshold, folds_of, thresholds
from blimpworks.benchmarks.verdicts import correlation, correlation_interval, matthews
from blimpworks.errors import UserError
from support.judging_kit import judged_sentences

COLUMNS = ("value_bad", "margin", "correct", "accepted", "tie")


def threshold(values, acceptable, bounds=0.0):
    values, acceptable = np.array(values, dtype=float), np.array(acceptable, dtype=bool)
    return best_threshold(values, np.full(len(values), bounds), acceptable)[0]


def by_definition(values, acceptable):
    """The best threshold by trying each, with numpy's correlation, and 0 where it is undefined."""
    distinct = sorted({*values})
    candidates = [(low + high) / 2 for low, high in pairwise(distinct)]
    if not candidates:
        return distinct[0]

    def agreement(candidate):
        accepted = [value >= candidate for value in values]
        if len({*accepted}) < 2 or len({*acceptable}) < 2:
            return 0.0
        return round(np.corrcoef(acceptable, accepted)[0, 1], 9)

    best = max(map(agreement, candidates))
    tied = [each for each in candidates if agreement(each) == best]
    return tied[(len(tied) - 1) // 2]


@pytest.mark.parametrize(
    ("values", "acceptable", "expected"),
    [
        ([-4, -3, -2, -1], [0, 0, 1, 1], -2.5),
        # Both cuts between -4 and -2 leave one sentence of four on the wrong side, with
        # r = 1 / sqrt(3): the lower of two.
        ([-4, -3, -2, -1], [0, 1, 0, 1], -3.5),
        # Nothing to learn: all three cuts are as good, and -2.5 is in the middle.
        ([-4, -3, -2, -1], [1, 1, 1, 1], -2.5),
        # Preferring the worse ones: every cut is worse than chance; r = -1/sqrt(3) at both ends.
        ([-4, -3, -2, -1], [1, 1, 0, 0], -3.5),
        # Accepting 8, 5 or 1 is equally good: 8/sqrt(384), 10/sqrt(600) and 6/sqrt(216).
        (range(-10, 0), [0, 0, 1, 0, 0, 1, 0, 1, 0, 1], -5.5),
        ([-2, -2, -2], [0, 1, 1], -2.0),
    ],
)
def test_the_best_threshold_is_midway_between_two_values(values, acceptable, expected):
    assert threshold(values, acceptable) == expected
    assert by_definition(values, acceptable) == expected


LABELLED = st.lists(st.tuples(st.integers(-12, 0), st.booleans()), min_size=1, max_size=14)


def test_a_threshold_may_be_as_far_off_as_the_values_beside_it_are_on_average():
    values, bounds = np.array([-4.0, -3.0, -2.0]), np.array([4.0, 3.0, 2.0])
    acceptable = np.array([False, False, True])
    assert best_threshold(values, bounds, acceptable) == (-2.5, 2.5)
    assert best_threshold(values * 0, bounds, acceptable) == (0.0, 4.0)


@given(LABELLED, st.data())
@settings(max_examples=60)
def test_the_threshold_of_a_sentence_is_that_of_all_other_folds(labelled, data):
    values, acceptable = (np.array(each) for each in zip(*labelled, strict=True))
    folds = st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values))
    fold = np.array(data.draw(folds))
    chosen, moved = thresholds(values.astype(float), np.ones(len(values)), acceptable, fold)
    for i in range(len(values)):
        others = fold != fold[i]
        if others.any():
            expected = by_definition(values[others].tolist(), acceptable[others].tolist())
            assert (chosen[i], moved[i]) == (expected, 1.0)
        else:
            assert math.isnan(chosen[i])


def test_folds_are_ten_of_about_the_same_size_that_depend_on_ids_alone():
    ids = [f"i{number}" for number in range(5000)]
    folds = folds_of(ids)
    assert all(400 < size < 600 for size in np.bincount(folds, minlength=10))
    assert folds_of(ids[:40]).tolist() == folds[:40].tolist()
    assert folds[:8].tolist() == [0, 1, 0, 6, 2, 3, 8, 9]


def test_fewer_than_twenty_sentences_are_a_fold_each_and_twenty_are_not():
    ids = [f"i{number}" for number in range(20)]
    assert len({*folds_of([*ids[:19], *ids[:19]]).tolist()}) == 19
    assert len({*folds_of(ids).tolist()}) < 11


def test_each_sentence_is_judged_by_the_threshold_of_the_others(tmp_path):
    values = [-1.0, -2.0, -4.0, -5.0, -9.0]
    rows = judged_sentences(tmp_path, values, [True, True, False, True, False])
    assert [row["value_good"] for row in rows] == values
    # The others of the first two are right, wrong, right, wrong from the top: r = 1/sqrt(3) above
    # the second and below the third, of which the lower is taken. Without -4 nothing is wrong at
    # -7, without -5 at -3; and without -9, r is 1/3, 1/sqrt(3) (at -3) and -1/3.
    assert [tuple(row[name] for name in COLUMNS) for row in rows] == [
        (-7.0, 6.0, 1.0, True, False),
        (-7.0, 5.0, 1.0, True, False),
        (-7.0, -3.0, 0.0, True, False),
        (-3.0, -2.0, 0.0, False, False),
        (-3.0, 6.0, 1.0, False, False),
    ]
    assert [row["acceptable"] for row in rows] == [True, True, False, True, False]


def test_a_method_that_prefers_lower_values_accepts_those_below_the_threshold(tmp_path):
    values, acceptable = [-1.0, -2.0, -8.0, -9.0], [True, True, False, False]
    rows = judged_sentences(tmp_path, values, acceptable, method="perplexity")
    assert [row["value_bad"] for row in rows] == [*map(math.exp, (5.0, 4.5, 5.5, 5.0))]
    falling = judged_sentences(tmp_path, values[::-1], acceptable, method="odd=lower sum(all)")
    assert [row["value_good"] for row in falling] == values[::-1]
    assert [row["value_bad"] for row in falling] == [-5.0, -5.5, -4.5, -5.0]
    assert [row["margin"] for row in falling] == [4.0, 2.5, 2.5, 4.0]
    assert all(row["correct"] == 1.0 for row in falling)


@pytest.mark.parametrize(("ties", "expected"), [("wrong", 0.0), ("right", 1.0), ("half", 0.5)])
def test_a_value_at_its_threshold_is_accepted(tmp_path, ties, expected):
    # Without the middle one, the threshold is midway between the others: -3.
    values, acceptable = [-2.0, -3.0, -4.0], [True, False, False]
    (_, row, _) = judged_sentences(tmp_path, values, acceptable, ties=ties, near_tie=0)
    assert [row[name] for name in COLUMNS] == [-3.0, 0.0, expected, True, True]
    assert math.copysign(1, row["margin"]) == 1
    assert row["near_tie"]


def test_values_that_rounding_may_have_put_at_the_threshold_are_tied(tmp_path):
    unit = 2.0**-10
    # About 3 units of the value and, of the threshold, 3: the mean of 2 and 4.
    for more, tied in ((5 * unit, True), (7 * unit, False), (-5 * unit, True), (-7 * unit, False)):
        values = [-2.0, -3.0 + more, -4.0]
        (_, row, _) = judged_sentences(tmp_path, values, [True, True, False], rounding=unit)
        assert (row["value_bad"], row["tie"]) == (-3.0, tied)
        assert row["margin"] == (0.0 if tied else more)


def test_near_ties_are_those_that_noise_in_a_sum_could_make(tmp_path):
    values, acceptable = [-2.0, -3.25, -4.0], [True, False, False]
    for method, near_tie, near in (
        ("full_sentence", 0.25, False),
        ("full_sentence", 0.26, True),
        ("length=sum(all) / characters", 0.24, False),
        ("length=sum(all) / characters", 0.26, True),
    ):
        result = judged_sentences(tmp_path, values, acceptable, method=method, near_tie=near_tie)
        assert result[1]["near_tie"] == near


def test_sentences_without_a_score_are_not_judged_and_have_no_part_in_thresholds(tmp_path, caplog):
    values = [-1.0, math.nan, -2.0, -8.0, -9.0]
    rows = judged_sentences(tmp_path, values, [True, True, True, False, False])
    assert {rows[1][name] for name in ("value_good", "near_tie", *COLUMNS)} == {None}
    assert rows[1]["acceptable"] is True
    assert "1 of 5 judgements are null" in caplog.text
    whole = judged_sentences(tmp_path, values[:1] + values[2:], [True, True, False, False])
    assert [row["value_bad"] for row in rows[:1] + rows[2:]] == [row["value_bad"] for row in whole]
    (alone,) = judged_sentences(tmp_path, [-1.0], [True])
    assert (alone["correct"], alone["accepted"], alone["value_good"]) == (None, None, -1.0)


def test_sentences_with_unknown_words_are_left_out_where_the_rules_say_so(tmp_path):
    values, acceptable = [-1.0, -8.5, -2.0, -8.0, -9.0], [True, True, True, False, False]
    rows = judged_sentences(tmp_path, values, acceptable, unknown="any", ids={(1, "good"): [0]})
    assert [row["correct"] for row in rows] == [1.0, None, 1.0, 1.0, 1.0]
    assert rows[1]["value_good"] == -8.5
    assert rows[1]["value_bad"] is None
    assert rows[0]["value_bad"] == -5.0


def test_a_sentence_of_two_paradigms_has_no_part_in_its_own_threshold(tmp_path):
    values, acceptable = [-1.0, -1.0, -2.0, -9.0], [False, False, True, False]
    columns = {"item_id": ["i0", "i0", "i2", "i3"], "paradigm": ["SG", "PL", "SG", "SG"]}
    rows = judged_sentences(tmp_path, values, acceptable, columns=columns)
    assert [(row["value_bad"], row["accepted"]) for row in rows[:2]] == [(-5.5, True)] * 2
    assert [row["paradigm"] for row in rows[:2]] == ["SG", "PL"]


@pytest.mark.parametrize(
    ("acceptable", "method", "says"),
    [
        ([True, None], "full_sentence", "lacks values of acceptable; expected items with accept"),
        ([True, False], "vibes", "method 'vibes' is unknown"),
    ],
)
def test_what_cannot_be_judged_is_refused(tmp_path, acceptable, method, says):
    with pytest.raises(UserError, match=says):
        judged_sentences(tmp_path, [-1.0, -2.0], acceptable, method=method)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=60))
def test_matthews_correlation_is_that_of_pearson_with_its_interval(pairs):
    acceptable, accepted = (np.array(each) for each in zip(*pairs, strict=True))
    value = matthews(acceptable, accepted)
    if len({*acceptable.tolist()}) < 2 or len({*accepted.tolist()}) < 2:
        assert value == 0.0
        return
    peer = pearsonr(acceptable.astype(float), accepted.astype(float))
    assert value == pytest.approx(peer.statistic, abs=1e-12)
    if abs(value) < 1:
        interval = peer.confidence_interval(0.95)
        assert correlation_interval(value, len(pairs)) == pytest.approx([*interval], abs=1e-9)


def test_correlations_do_not_overflow_and_intervals_have_their_ends():
    million = 10**6
    assert float(correlation(8 * million, 4 * million, 4 * million, 3 * million)) == 0.5
    assert correlation_interval(0.5, 3) == (-1.0, 1.0)
    assert correlation_interval(1.0, 50) == (1.0, 1.0)
    assert correlation_interval(-1.0, 50) == (-1.0, -1.0)
