"""Tests between models over phenomena, denominators of shares, intervals of means."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.analysis.accuracy import mean_interval, wilson
from blimpworks.analysis.shares import implied_denominator
from blimpworks.papers.urblimp.analysis.statistics import compare_scores, signed_rank_p


def test_differences_that_only_floating_point_tells_apart_are_tied():
    # 0.3 - 0.2 and 0.2 - 0.1 differ in the last bit.
    first, second = [0.3, 0.1, 0.9, 0.5], [0.2, 0.2, 0.4, 0.1]
    assert signed_rank_p(first, second) == 0.375


def test_each_pair_of_models_is_compared_on_what_both_were_scored_on():
    scores = pd.DataFrame(
        {"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 0.0, 0.0, None], "c": [1.0, 2.0, 3.0, 9.0]}
    )
    result = compare_scores(scores, [("a", "b"), ("a", "c")])
    assert list(result["n"]) == [3, 1]
    assert list(result["p"]) == [0.25, 1.0]
    assert list(result["holm"]) == [0.5, 1.0]
    assert compare_scores(scores, []).empty


@given(st.integers(1, 300), st.data())
def test_the_denominator_that_shares_imply_fits_them_and_is_no_larger_than_theirs(n, data):
    right = data.draw(st.lists(st.integers(0, n), min_size=1, max_size=6))
    shares = [round(k / n, 4) for k in right]
    result = implied_denominator(shares, [0.00005] * len(shares))
    assert result is not None
    assert result <= n
    assert [round(round(share * result) / result, 4) for share in shares] == shares


def test_shares_of_nothing_imply_nothing():
    assert implied_denominator([0.33333, 0.1234], [0, 0], largest=50) is None


def bounded(*counts):
    rows = [(k / n, *wilson(k, n)) for k, n in counts]
    return pd.DataFrame(rows, columns=["accuracy", "low", "high"])


def test_the_interval_of_a_mean_narrows_with_the_number_of_accuracies():
    low, high = wilson(80, 100)
    assert mean_interval(bounded((80, 100)), [1.0]) == pytest.approx((low, high))
    of_two = mean_interval(bounded((80, 100), (80, 100)), [0.5, 0.5])
    ends = [0.8 + (end - 0.8) / 2**0.5 for end in (low, high)]
    assert of_two == pytest.approx(ends)


def test_an_accuracy_without_an_interval_leaves_the_mean_without():
    rows = bounded((80, 100), (1, 2)).assign(low=[0.7, None])
    assert np.isnan(mean_interval(rows, [0.5, 0.5])[0])
