"""Tests between models, denominators of shares, intervals of means, and kappas of people."""

import csv
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.analysis.accuracy import mean_interval, wilson
from blimpworks.analysis.statistics import implied_denominator
from blimpworks.papers.urblimp.analysis import statistics
from blimpworks.papers.urblimp.analysis.statistics import compare_scores, kappa, signed_rank_p
from support.paths import REPOSITORY

TABLE_9 = REPOSITORY / "config/published/urblimp/table9.csv"


def test_differences_that_only_floating_point_tells_apart_are_tied():
    # 0.3 - 0.2 and 0.2 - 0.1 differ in the last bit.
    first, second = [0.3, 0.1, 0.9, 0.5], [0.2, 0.2, 0.4, 0.1]
    assert signed_rank_p(first, second) == 0.375


def test_each_pair_of_models_is_compared_on_what_both_were_scored_on():
    of = {"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 0.0, 0.0, None], "c": [1.0, 2.0, 3.0, 9.0]}
    scores = pd.DataFrame(of)
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
    assert implied_denominator([0.33333, 0.1234], [0, 0]) is None


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


def rated(right, per_pair=3):
    """Ratings of pairs with so many right choices."""
    rows = [(f"i{n}", k < good) for n, good in enumerate(right) for k in range(per_pair)]
    return pd.DataFrame(rows, columns=["item_id", "chose_good"])


def test_kappas_of_five_pairs_are_those_by_hand():
    ratings = rated([3, 3, 2, 1, 3])
    # Agreement (1 + 1 + 1/3 + 1/3 + 1) / 5 = 11/15; by chance .8² + .2² = .68, or one half.
    assert kappa("corrected", ratings, 3) == pytest.approx((11 / 15 - 0.68) / 0.32)
    assert kappa("free", ratings, 3) == pytest.approx(2 * 11 / 15 - 1)
    assert statistics.agreements(ratings, 3).mean() == pytest.approx(11 / 15)
    counts = statistics.counts_of("published", ratings, 3)
    assert sorted(map(max, counts.tolist())) == [2, 2, 3, 3, 3]
    chance = float(((counts.sum(axis=0) / 15) ** 2).sum())
    expected = (11 / 15 - chance) / (1 - chance)
    assert kappa("published", ratings, 3) == pytest.approx(expected)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_of_half_the_pairs_the_grammatical_sentence_is_the_first_category(right):
    ratings = rated(right)
    counts = statistics.counts_of("published", ratings, 3)
    plain = statistics.counts_of("corrected", ratings, 3)
    turned = sum(a.tolist() != b.tolist() for a, b in zip(counts, plain, strict=True))
    assert turned == len(right) // 2
    assert (counts.sum(axis=1) == 3).all()


def test_only_pairs_with_all_their_judgements_enter():
    ratings = rated([3, 2, 1, 3])
    lacking = pd.concat([ratings, rated([0, 0])[:5].assign(item_id=["x", "x", "y", "y", "y"])])
    assert len(statistics.complete(lacking, 3)) == 5
    more = pd.concat([ratings, ratings[:1]])
    assert [*statistics.complete(more, 3).index] == ["i1", "i2", "i3"]
    assert math.isnan(kappa("free", ratings[:0], 3))


def test_an_interval_covers_the_value_about_as_often_as_it_says():
    random, covered = np.random.default_rng(5), 0
    wrong = random.beta(0.1, 2.4, 20_000)
    truth = 1 - 4 * float(np.mean(wrong * (1 - wrong)))
    for _ in range(200):
        ratings = rated(random.binomial(3, 1 - random.choice(wrong, 300)))
        low, high = statistics.kappa_interval("free", ratings, 3)
        covered += low <= truth <= high
    assert 180 <= covered <= 199


def test_errors_on_any_pairs_make_a_kappa_of_85_of_sentences_and_0_of_outcomes():
    # Which kappa the paper's .89 is: 57 pairs of each paradigm with three judgements, as many wrong
    # as Table 9 prints, any of them.
    with TABLE_9.open(encoding="utf-8", newline="") as file:
        printed = {row["row"]: float(row["text"]) / 100 for row in csv.DictReader(file)}
    printed.pop("average")
    shares = np.array([*printed.values()])
    assert 1 - 4 * (shares * (1 - shares)).mean() == pytest.approx(0.852, abs=5e-4)
    runs = []
    for seed in range(60):
        random, right = np.random.default_rng(seed), []
        for share in shares:
            judgements = np.arange(3 * 57) < round(share * 3 * 57)
            right += [*random.permutation(judgements).reshape(57, 3).sum(axis=1)]
        runs.append(rated(right))
    result = {name: [kappa(name, r, 3) for r in runs] for name in statistics.KAPPAS}
    for name in ("published", "free"):
        assert np.mean(result[name]) == pytest.approx(0.852, abs=0.002)
        assert max(result[name]) < 0.87
    assert np.mean(result["corrected"]) == pytest.approx(0.008, abs=0.01)
    assert max(result["corrected"]) < 0.1
