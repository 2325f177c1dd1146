import json
import lzma
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.benchmarks.predictions import Prediction
from blimpworks.errors import UserError

A, B, C = ("6", "a"), ("6", "b"), ("7", "a")
PLACES = (A, B, C)


def margin(text, values, bounds=None):
    both = ({place: np.array([v]) for place, v in (e or {}).items()} for e in (values, bounds))
    (result,) = Prediction.parse(text).margins(*both)
    return float(result)


def test_formulas_of_all_test_suites_are_predictions_of_their_own_regions(mirror):
    formulas = {}
    for path in sorted((mirror / "syntaxgym/test_suites/json").glob("*.xz")):
        suite = json.loads(lzma.decompress(path.read_bytes()))
        conditions = suite["items"][0]["conditions"]
        places = {
            (str(region["region_number"]), each["condition_name"])
            for each in conditions
            for region in each["regions"]
        }
        formulas |= {each["formula"]: places for each in suite["predictions"]}
    assert len(formulas) == 25
    assert all(Prediction.parse(text).regions <= places for text, places in formulas.items())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(6;%a%) < (6;%b%)", 3.0),
        ("(6;%a%) = (6;%b%)", 1e-3 + 5e-5 - 3.0),
        ("(6;%a%) < (6;%b%) & (7;%a%) > 0", 3.0),
        ("(6;%a%) < (6;%b%) & (7;%a%) < 0", -10.0),
        ("(6;%a%) < (6;%b%) | (7;%a%) < 0", 3.0),
        ("(6;%a%) < 3 | (6;%b%) < 1 & (7;%a%) < 9", 1.0),
        ("[(6;%a%) < 3 | (6;%b%) < 1] & (7;%a%) < 9", -1.0),
        ("!(6;%a%) < (6;%b%) & (7;%a%) > 0", -3.0),
        ("![(6;%a%) < (6;%b%) & (7;%a%) < 0]", 10.0),
        ("(7;%a%) - (6;%b%) + (6;%a%) > 0", 7.0),
        ("(7;%a%) - [(6;%b%) + (6;%a%)] > 0", 3.0),
        ("-(7;%a%) < -(-1.5)", 11.5),
        ("( 6 ;%a%)<\n1.25e1", 10.5),
        ("(6;%a%) < 1 | (6;%b%) < 1 & (7;%a%) < 9", -1.0),
        ("(7;%a%) - (6;%b%) - (6;%a%) > 0", 3.0),
        ("(7;%a%) < 10", 0.0),
        ("!(7;%a%) < 10", 0.0),
    ],
)  # fmt: skip
def test_margins_by_hand(text, expected):
    assert margin(text, {A: 2.0, B: 5.0, C: 10.0}) == expected


@given(st.floats(-80, 80), st.floats(-80, 80))
def test_equality_is_that_of_isclose_at_every_distance(left, right):
    tolerance = 1e-3 + 1e-5 * abs(right)
    for near in (left, right + tolerance, right - tolerance, np.nextafter(right + tolerance, 99)):
        close = np.isclose(near, right, rtol=1e-5, atol=1e-3)
        assert (margin("(6;%a%) = (6;%b%)", {A: near, B: right}) > 0) == close


def test_equality_at_its_tolerance_holds_and_its_negation_does_not():
    text = "(6;%a%) = 0"
    assert margin(text, {A: 1e-3}) > 0 > margin(f"!{text}", {A: 1e-3})
    assert margin(f"{text} & (6;%a%) < 5", {A: 1e-3}) > 0
    assert margin(text, {A: np.nextafter(1e-3, 1)}) < 0


def test_sums_that_differ_by_no_more_than_the_bounds_of_all_their_places_are_tied():
    bounds = dict.fromkeys(PLACES, 0.25)
    for text in ("(6;%a%) - (7;%a%) < (6;%b%)", "(6;%b%) > (6;%a%) - (7;%a%)"):
        assert margin(text, {A: 4.0, B: 4.0, C: 0.75}, bounds) == 0
        assert margin(text, {A: 4.0, B: 4.0, C: 0.8125}, bounds) == 0.8125
    assert margin("(6;%a%) < (6;%b%) | (7;%a%) > 0", {A: 4.0, B: 4.5, C: 1.0}, bounds) == 1.0
    assert margin("(6;%a%) < (6;%b%) & (7;%a%) < 0", {A: 4.0, B: 4.5, C: 1.0}, bounds) == -1.0


@pytest.mark.parametrize(
    "text",
    ["(6;%a%) < (7;%a%)", "!(6;%a%) = 0", "(6;%a%) < 1 | (7;%a%) < 9", "(7;%a%) < 1 & (6;%a%) > 9"],
)
def test_a_missing_value_leaves_no_margin(text):
    values = {A: np.array([np.nan, 1.0]), C: np.array([2.0, 2.0])}
    result = Prediction.parse(text).margins(values)
    assert np.isnan(result).tolist() == [True, False]


def test_names_hold_hyphens_dots_underscores_blanks_and_any_script():
    text = "(Ambiguous verb ;%no-obj_v1.2%) + (*;%Ünïted 条件%) < (np-1.a;%no-obj_v1.2%)"
    condition = "no-obj_v1.2"
    places = {("Ambiguous verb", condition), ("*", "Ünïted 条件"), ("np-1.a", condition)}
    assert Prediction.parse(text).regions == places


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column 1; expected '!', '(', '[', '-' or a number."),
        ("(6;%a%)", "column 8; expected '-', '+' or one of < > =."),
        ("(6;%a%) < (6;%b%", "column 17; expected ')'."),
        ("(6;a) < 3", "column 4, 'a'; expected a condition between two '%'."),
        ("(6;%a%) < 3 < 4", "column 13, '<'; expected the end, '&', '-', '+' or '|'."),
        ("(6;%a%) <= 3", "column 10, '='; expected '(', '[', '-' or a number."),
        ("(6;%a%) + [(6;%a%) < 3]", "column 20, '<'; expected '-', '+' or ']'."),
        ("(6;%a%) $ 3", "column 9, '$'; expected '&', "),
        ("1 < 2", "formula '1 < 2' names no region; expected one such as"),
    ],
)
def test_a_malformed_formula_is_refused_with_column_and_what_was_expected(text, message):
    with pytest.raises(UserError) as error:
        Prediction.parse(text)
    where = "" if message.startswith("formula") else f"formula {text!r} is malformed at "
    assert str(error.value).startswith(where + message)


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
