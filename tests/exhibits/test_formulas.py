"""Formulas of cells: their sentences, and which formula a sentence is of."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.errors import UserError
from blimpworks.exhibits.formula_lookup import declared, formula_of, formulas_of
from blimpworks.exhibits.formulas import Formula, mean_of, truncated
from blimpworks.papers.lmentry.exhibits.formulas import mean_over_models
from blimpworks.papers.multiblimp.exhibits.formulas import weighted_values, wins
from blimpworks.papers.urblimp.exhibits.formulas import above, holm_of
from support.paths import DATA

# What the exhibits of all papers say of their cells, measured and published.
SENTENCES = (DATA / "formula_sentences.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("sentence", SENTENCES)
def test_each_sentence_in_use_is_of_exactly_one_formula(sentence):
    [match] = formulas_of(sentence)
    assert match.sentence == sentence


def test_each_formula_without_parameters_has_a_sentence_of_its_own():
    for each in declared():
        if isinstance(each, Formula):
            assert formulas_of(each.sentence) == [each]


@given(st.floats(1e-9, 1e9))
def test_a_number_in_a_sentence_is_read_as_it_was_written(below):
    assert formula_of(wins(below).sentence).arguments == {"below": below}


def test_a_whole_number_has_no_decimals_in_a_sentence():
    assert above(90).sentence == above(90.0).sentence == "number of rows where accuracy > 90"


def test_a_formula_in_a_formula_is_read_with_its_own_arguments():
    inner = holm_of("a", "b", "all pairs of models")
    outer = truncated(inner, 3)
    assert outer.sentence == f"{inner}, truncated to 3 decimals"
    again = formula_of(outer.sentence)
    assert again.arguments["formula"].arguments == inner.arguments
    assert again.arguments["decimals"] == 3


def test_a_formula_that_is_read_makes_the_same_of_rows():
    rows = pd.DataFrame({"model": ["a", "a", "b"], "value": [1.0, 2.0, 4.0]})
    nested = mean_over_models(mean_of("value"))
    assert formula_of(nested.sentence)(rows) == nested(rows) == 2.75
    weighted = weighted_values(low=1, mid=2, high=5, total=8)
    columns = pd.DataFrame({"column": ["low", "mid", "high"], "value": [8.0, 16.0, 32.0]})
    assert formula_of(weighted.sentence)(columns) == weighted(columns) == 25


@pytest.mark.parametrize(
    "sentence", ["number of stars", "number of stars, truncated to 3 decimals", "", "(1 × a) ÷ b"]
)
def test_a_sentence_of_no_formula_is_refused(sentence):
    with pytest.raises(UserError, match="0 formulas are called"):
        formula_of(sentence)


def test_a_sentence_that_can_be_read_in_two_ways_is_refused():
    # Is each mean cut off, or the mean of them?
    sentence = truncated(mean_over_models(mean_of("value")), 1).sentence
    assert sentence == mean_over_models(truncated(mean_of("value"), 1)).sentence
    with pytest.raises(UserError, match="2 formulas are called"):
        formula_of(sentence)
