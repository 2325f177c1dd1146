import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.exhibits import formulas
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.shared import Recomputation, printed_statements, read_printed
from blimpworks.papers.lmentry.exhibits.formulas import mean_over_models
from blimpworks.papers.multiblimp.exhibits.measures import wins
from blimpworks.papers.urblimp.exhibits.formulas import above, holm_of
from support.paths import DATA

# Sentences of all papers' exhibits on their cells, measured and published.
SENTENCES = (DATA / "formula_sentences.txt").read_text("utf-8").splitlines()


def test_each_sentence_in_use_and_each_formula_without_parameters_is_of_exactly_one_formula():
    plain = [each.sentence for each in formulas.declared() if isinstance(each, formulas.Formula)]
    for sentence in (*SENTENCES, *plain):
        assert [match.sentence for match in formulas.formulas_of(sentence)] == [sentence]


@given(st.floats(1e-9, 1e9))
def test_a_number_in_a_sentence_is_read_as_it_was_written(below):
    assert formulas.formula_of(wins(below).sentence).arguments == {"below": below}
    assert above(90).sentence == above(90.0).sentence == "number of rows where accuracy > 90"


def test_a_formula_in_a_formula_is_read_with_its_own_arguments_and_makes_the_same_of_rows():
    outer = formulas.truncated(holm_of("a", "b", "all pairs of models"), 3)
    again = formulas.formula_of(outer.sentence).arguments
    assert again["formula"].arguments == outer.arguments["formula"].arguments
    assert again["decimals"] == 3
    rows = pd.DataFrame({"model": ["a", "a", "b"], "value": [1.0, 2.0, 4.0]})
    nested = mean_over_models(formulas.mean_of("value"))
    assert formulas.formula_of(nested.sentence)(rows) == nested(rows) == 2.75


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("number of stars", 0),
        ("number of stars, truncated to 3 decimals", 0),
        ("", 0),
        # The sentence may mean that each mean is cut off, or their mean.
        (formulas.truncated(mean_over_models(formulas.mean_of("value")), 1).sentence, 2),
    ],
)
def test_a_sentence_of_no_formula_or_of_two_is_refused(sentence, count):
    with pytest.raises(UserError, match=f"{count} formulas are called"):
        formulas.formula_of(sentence)


HEADINGS = "exhibit,row,column,text,value,unit,bold,fault,corrected,note,title,formula,of"
TABLE = ["table1,a,n,3,3,pairs,,,,,,,", "table1,b,n,five,5,pairs,,,,,,,"]
TABLE += ["table1,b,m,7,7,pairs,,,,,,,"]
SHARE = "text,share,of a,60 %,60,%,,,,,,100 × first value ÷ second value,table1/a; b/n"
RECOMPUTATION = Recomputation(
    {
        formulas.QUOTIENT: "{:.1f} %",
        formulas.COUNT: "{:.0f}",
        formulas.SUM: "{:,.0f}",
        formulas.of_row("value"): "{text}",
    },
    {"both": ["a", "b"]},
)


@pytest.fixture
def printed(tmp_path):
    def _printed(*lines):
        path = tmp_path / "text.csv"
        path.write_text("\n".join([HEADINGS, *TABLE, *lines, ""]), encoding="utf-8")
        return read_printed({"printed": [path]})

    return _printed


def statements(printed, **options):
    return printed_statements(printed, RECOMPUTATION, **options)


def test_a_statement_stands_as_printed_and_beside_what_other_numbers_make_of_it(printed):
    cells, faults = statements(printed(SHARE))
    shown = [(cell.row, cell.column, cell.text) for cell in cells]
    name = "share: of a"
    assert shown == [(name, "Printed", "60 %"), (name, "Recomputed", "60.0 %")]
    assert (cells[1].value, cells[1].formula) == (60, formulas.QUOTIENT)
    assert cells[1].where == {"exhibit": "table1", "row": ["a", "b"], "column": "n"}
    assert (cells[1].stands_for, faults) == (("share", "of a"), "")
    row = "text,all,n,8,8,pairs,,erratum,9,9 by Table 2,All pairs,sum of value,table1/*/n"
    cells, faults = statements(printed(row))
    assert {cell.row for cell in cells} == {"All pairs"}
    assert faults == "Errata: All pairs: 9 by Table 2."


@pytest.mark.parametrize(
    ("of", "where", "formula", "text"),
    [
        ("table1/*/n", {"column": "n"}, "number of rows", "2"),
        ("table1/{both}/m", {"row": ["a", "b"], "column": "m"}, "number of rows", "1"),
        ("table1/b/n; m", {"row": "b", "column": ["n", "m"]}, "sum of value", "12"),
        ("table1/b/n", {"row": "b", "column": "n"}, "value of the row", "five"),  # as printed
    ],
)
def test_numbers_can_be_of_any_row_a_list_or_several_columns(printed, of, where, formula, text):
    cells, _ = statements(printed(f"text,all,n,two,2,rows,,,,,,{formula},{of}"))
    assert (cells[1].where, cells[1].text) == ({"exhibit": "table1", **where}, text)


def test_a_number_without_a_formula_can_have_a_cell_of_the_papers_own(printed):
    own = Cell("t", "Recomputed", 1, "1", formulas.COUNT, "items", {})
    rows = printed("text,x,n,1,1,,,,,,,,", "text,y,n,1,1,,,,,,,,", SHARE)
    cells, _ = statements(rows, compute=lambda position, _: own if position[0] == "x" else None)
    assert [cell is own for cell in cells] == [False, True, False, False, False]


@pytest.mark.parametrize(
    ("formula", "of", "message"),
    [
        ("sum", "table1/a/n", "number text/x/n has the formula 'sum'; expected one of '100 × "),
        ("sum of value", "table1/{all}/n", "text/x/n is of {all}; expected a list among both"),
        ("sum of value", "table2/a/n", "text/x/n is of 'table2/a/n', but no printed number"),
    ],
)
def test_a_wrong_formula_list_or_place_is_refused(printed, formula, of, message):
    rows = printed(f"text,x,n,1,1,,,,,,,{formula},{of}")
    with pytest.raises(UserError, match=message):
        statements(rows)


@pytest.mark.parametrize(
    ("formula", "of"), [("number of rows", ""), ("", "table1/a/n"), ("number of rows", "table1/a")]
)
def test_half_a_recomputation_is_refused_with_its_line(tmp_path, formula, of):
    path = tmp_path / "text.csv"
    path.write_text(f"{HEADINGS}\ntext,x,n,1,1,,,,,,,{formula},{of}\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"text\.csv:2: column 'of' .*exhibit/rows/columns"):
        read_rows(PublishedRow, path)
