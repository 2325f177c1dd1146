"""Single sentences: thresholds of other folds, Matthews' correlation, verdicts."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from scipy.stats import pearsonr

from blimpworks.benchmarks.verdicts import (
    best_threshold,
    correlation,
    correlation_interval,
    folds_of,
    matthews,
    thresholds,
)
from blimpworks.errors import UserError
from support.judging_kit import judged_sentences


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
@limits(max_examples=60)
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


FOUR = [True, True, False, False]
FIVE = [True, True, True, False, False]
CASES = {
    # The others of the first two are right, wrong, right, wrong from the top: r = 1/sqrt(3) above
    # the second and below the third, of which the lower is taken. Without -4 nothing is wrong at
    # -7, without -5 at -3; and without -9, r is 1/3, 1/sqrt(3) (at -3) and -1/3.
    "threshold of the others": ([-1, -2, -4, -5, -9], [True, True, False, True, False], {},
        {"value_good": [-1, -2, -4, -5, -9], "value_bad": [-7, -7, -7, -3, -3],
         "margin": [6, 5, -3, -2, 6], "correct": [1, 1, 0, 0, 1],
         "accepted": [True, True, True, False, False], "tie": [False] * 5}),
    "lower values": ([-1, -2, -8, -9], FOUR, {"method": "perplexity"},
        {"value_bad": [*map(math.exp, (5, 4.5, 5.5, 5))]}),
    "lower sums": ([-9, -8, -2, -1], FOUR, {"method": "odd=lower sum(all)"},
        {"value_bad": [-5, -5.5, -4.5, -5], "margin": [4, 2.5, 2.5, 4], "correct": [1] * 4}),
    "no score": ([-1, math.nan, -2, -8, -9], FIVE, {},
        {"value_good": [-1, None, -2, -8, -9], "value_bad": [-5, None, -4.5, -5.5, -5],
         "correct": [1, None, 1, 1, 1], "accepted": [True, None, True, False, False],
         "acceptable": FIVE}),
    "a single one": ([-1], [True], {}, {"value_good": [-1], "correct": [None], "accepted": [None]}),
    "unknown words": ([-1, -8.5, -2, -8, -9], FIVE, {"unknown": "any", "ids": {(1, "good"): [0]}},
        {"value_good": [-1, -8.5, -2, -8, -9], "value_bad": [-5, None, -4.5, -5.5, -5],
         "correct": [1, None, 1, 1, 1]}),
    # A sentence of two paradigms has no part in its own threshold.
    "two paradigms": ([-1, -1, -2, -9], [False, False, True, False],
        {"columns": {"item_id": ["i0", "i0", "i2", "i3"], "paradigm": ["SG", "PL", "SG", "SG"]}},
        {"value_bad": [-5.5, -5.5, -5, -1.5], "paradigm": ["SG", "PL", "SG", "SG"]}),
    # Without the middle one, the threshold is midway between the others.
    **{f"tie {ties}": ([-2, -3, -4], [True, False, False], {"ties": ties, "near_tie": 0},
        {"value_bad": [-3.5, -3, -2.5], "margin": [1.5, 0, 1.5], "correct": [1, value, 1],
         "accepted": [True, True, False], "tie": [False, True, False],
         "near_tie": [False, True, False]})
       for ties, value in (("wrong", 0), ("right", 1), ("half", 0.5))},
}  # fmt: skip


@pytest.mark.parametrize(
    ("values", "acceptable", "settings", "expected"), CASES.values(), ids=CASES
)
def test_sentences_are_judged_by_thresholds(tmp_path, values, acceptable, settings, expected):
    rows = judged_sentences(tmp_path, [*map(float, values)], acceptable, **settings)
    assert {name: [row[name] for row in rows] for name in expected} == expected


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
