"""Patterns of names and their columns; patterns and formulas end at once."""

import time

import pytest

from blimpworks.benchmarks.files import columns_in
from blimpworks.benchmarks.predictions import Prediction
from blimpworks.errors import UserError


@pytest.mark.parametrize(
    ("patterns", "name", "expected"),
    [
        (["{a}/{a}.x"], "x-/x-.x", {"a": "x-"}),
        (["{a}-{a}"], "é-x", None),
        (["{a}-*.{b}"], "x-y-z.b.c", {"a": "x-y", "b": "c"}),
        (["*.x", "{b}.y"], "a.y", {"b": "a"}),
        (["*"], "a/b", None),
        (["a.x"], "abx", None),
    ],
)
def test_names_say_their_columns(patterns, name, expected):
    assert columns_in(patterns, name) == expected


@pytest.mark.parametrize("pattern", ["*a" * 200 + "b", "{x}" * 100 + "b", "{a}*{b}*{a}*{b}c"])
def test_no_pattern_of_names_takes_longer_than_the_name(pattern):
    start = time.process_time()
    assert columns_in([pattern], "a" * 250) is None
    assert time.process_time() - start < 3


def test_a_pattern_of_names_has_a_length():
    with pytest.raises(UserError, match="has 1000 characters; expected at most 500"):
        columns_in(["*" * 1000], "a")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 2000 + "1 < 2" + ")" * 2000,
        "-" * 4000 + "1 < 2",
        "!" * 300 + "1 < 2",
        "(" + "a" * 4900,
        "1 < 2" + " & 1 < 2" * 1000,
    ],
)
def test_a_formula_that_is_too_deep_or_long_is_refused_at_once(text):
    start = time.process_time()
    with pytest.raises(UserError, match=r"^formula "):
        Prediction.parse(text)
    assert time.process_time() - start < 3
