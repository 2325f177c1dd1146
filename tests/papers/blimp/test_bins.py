"""Accuracy in bins of single pairs by length, perplexity, probability and confidence."""

import math

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.errors import UserError
from blimpworks.papers.blimp.analysis import (
    CONFIDENCE,
    FACTORS,
    LENGTH,
    PERPLEXITY,
    PROBABILITY,
    bin_accuracies,
    binned,
    bins_of,
    factors,
)
from blimpworks.tables import Evaluation
from support.blimp_kit import evaluate

numbers = st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=80)


@given(numbers, st.integers(2, 12))
def test_bins_are_few_without_gaps_and_in_the_order_of_their_values(values, most):
    bins = bins_of(pd.Series(values), most)
    assert sorted(set(bins)) == list(range(bins.max() + 1))
    assert bins.max() < most
    by_value = sorted(zip(values, bins, strict=True))
    assert [number for _, number in by_value] == sorted(bins)


@given(numbers, st.integers(2, 12))
def test_equal_values_share_a_bin(values, most):
    frame = pd.DataFrame({"value": values, "bin": bins_of(pd.Series(values), most)})
    assert (frame.groupby("value")["bin"].nunique() == 1).all()


def test_factors_are_those_of_the_good_sentence_and_of_both():
    items = pa.table({"good": ["The cats often sleep."]})
    scores = pa.table({"logprob_good": [-12.0], "logprob_bad": [-10.5], "tokens_good": [6]})
    assert factors(items, scores).iloc[0].to_dict() == {
        LENGTH: 4,
        PERPLEXITY: pytest.approx(math.exp(2)),
        PROBABILITY: -12,
        CONFIDENCE: 1.5,
    }


def test_a_bin_has_the_accuracy_of_its_pairs_and_pairs_without_a_value_are_in_none():
    rows = pd.DataFrame({name: [1.0, 2.0, 3.0, 4.0, math.nan] for name in FACTORS})
    rows["correct"] = [1.0, 0.0, 1.0, 1.0, 0.0]
    bins = [row for row in binned(rows, 2) if row["factor"] == LENGTH]
    assert [(row["n"], row["accuracy"], row["mean"]) for row in bins] == [
        (2, 0.5, 1.5),
        (2, 1.0, 3.5),
    ]
    assert [(row["least"], row["most"]) for row in bins] == [(1, 2), (3, 4)]
    assert all(row["low"] < row["accuracy"] <= row["high"] for row in bins)


def test_a_method_that_nothing_is_judged_by_and_no_model_at_all_are_refused(tmp_path):
    evaluate(tmp_path, ["lstm"])
    paths = [tmp_path / "items" / "blimp" / "eng.parquet"]
    paths += [tmp_path / kind / "blimp/lstm/eng.parquet" for kind in ("scores", "judgements")]
    with pytest.raises(UserError, match="no judgements by method other; expected the method"):
        bin_accuracies([Evaluation("lstm", "eng", *paths)], "other", 10, tmp_path / "bins.parquet")
    with pytest.raises(UserError, match="no judgements are given; name at least one model"):
        bin_accuracies([], "full_sentence", 10, tmp_path / "bins.parquet")
