"""Formulas of cells: their sentences, and which formula a sentence is of."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.errors import UserError
from blimpworks.exhibits.formula_lookup import declared, formula_of, formulas_of
from blimpworks.exhibits.formulas import Formula, mean_of, truncated
from blimpworks.papers.lmentry.exhibits.formulas import mean_over_models
from blimpworks.papers.multiblimp.exhibits.formulas import wins
from blimpworks.papers.urblimp.exhibits.formulas import above, holm_of
from support.paths import DATA

# What the exhibits of all papers say of their cells, measured and published.
SENTENCES = (DATA / "formula_sentences.txt").read_text("utf-8").splitlines()


def test_each_sentence_in_use_and_each_formula_without_parameters_is_of_exactly_one_formula():
    plain = [each.sentence for each in declared() if isinstance(each, Formula)]
    for sentence in (*SENTENCES, *plain):
        assert [match.sentence for match in formulas_of(sentence)] == [sentence]


@given(st.floats(1e-9, 1e9))
def test_a_number_in_a_sentence_is_read_as_it_was_written(below):
    assert formula_of(wins(below).sentence).arguments == {"below": below}
    assert above(90).sentence == above(90.0).sentence == "number of rows where accuracy > 90"


def test_a_formula_in_a_formula_is_read_with_its_own_arguments_and_makes_the_same_of_rows():
    outer = truncated(holm_of("a", "b", "all pairs of models"), 3)
    again = formula_of(outer.sentence).arguments
    assert again["formula"].arguments == outer.arguments["formula"].arguments
    assert again["decimals"] == 3
    rows = pd.DataFrame({"model": ["a", "a", "b"], "value": [1.0, 2.0, 4.0]})
    nested = mean_over_models(mean_of("value"))
    assert formula_of(nested.sentence)(rows) == nested(rows) == 2.75


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("number of stars", 0),
        ("number of stars, truncated to 3 decimals", 0),
        ("", 0),
        # Is each mean cut off, or the mean of them?
        (truncated(mean_over_models(mean_of("value")), 1).sentence, 2),
    ],
)
def test_a_sentence_of_no_formula_or_of_two_is_refused(sentence, count):
    with pytest.raises(UserError, match=f"{count} formulas are called"):
        formula_of(sentence)
