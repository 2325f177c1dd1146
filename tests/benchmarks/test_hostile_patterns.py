"""Patterns and formulas of a declaration end at once, and mean what they meant."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blimpworks.benchmarks.files import columns_in
from blimpworks.benchmarks.predictions import Prediction
from blimpworks.errors import UserError


def by_python(names, name):
    """What the pattern says by Python's expressions, with a reference for a repeated column."""
    pattern = ""
    for part in re.split(r"(\*|\{\w+\})", names):
        column = part[1:-1]
        if part == "*":
            pattern += "[^/]*"
        elif re.fullmatch(r"\{\w+\}", part):
            repeated = f"(?P<{column}>" in pattern
            pattern += f"(?P={column})" if repeated else f"(?P<{column}>[^/]+)"
        else:
            pattern += re.escape(part)
    match = re.fullmatch(pattern, name)
    return match.groupdict() if match else None


PARTS = st.lists(st.sampled_from(["*", "{a}", "{b}", "x", ".", "/", "-", "é"]), max_size=6)


@given(PARTS.filter(lambda parts: all(parts.count(each) < 2 for each in ("{a}", "{b}"))),
       st.text("x./-é", max_size=8))  # fmt: skip
@example(["{a}", "/", "{a}", ".", "x"], "x-/x-.x")
@example(["{a}", "-", "{a}"], "é-é")
def test_names_say_what_they_said_with_python(parts, name):
    pattern = "".join(parts)
    assert columns_in([pattern], name) == by_python(pattern, name)


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
