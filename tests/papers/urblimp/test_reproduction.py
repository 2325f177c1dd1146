import pytest

from blimpworks.campaign.reference import PublishedRow
from blimpworks.papers.urblimp.published import accuracies
from support import print_kit


@pytest.fixture(scope="module")
def exhibits(tmp_path_factory):
    root = tmp_path_factory.mktemp("print")
    tables = print_kit.tables_of("urblimp", root)
    return print_kit.build("urblimp", root, tables, ["text", "fig1"])[0]


def test_claims_without_a_number_are_counted(exhibits):
    counts = {cell.row: (cell.value, cell.n) for cell in exhibits["text"].cells}
    assert counts["Dative object: noun, models above 92 %"] == (11, 17)
    assert counts["Dative object: pronoun, models above 92 %"] == (9, 17)
    assert counts["Ergativity: differential object marking, models below 90 %"] == (11, 17)
    ahead = "gemma-3-27b-pt ahead of Llama-3-70B and DeepSeek-R1-Llama-70B: paradigms"
    assert counts[ahead] == (9, 19)


def test_figure_1_has_the_models_that_the_text_names_and_granite(exhibits):
    named = ("gemma-3-27b-pt", "DeepSeek-R1-Llama-70B", "Llama-3-70B", "bloomz-7b1-p3", "mBERT")
    more = ("Alif-1.0-8B", "granite-3.3-8b-base", "mT5-large")
    cells = {cell.row: cell for cell in exhibits["fig1"].cells}
    assert {*cells} == {*named, *more}
    assert round(cells["gemma-3-27b-pt"].value, 2) == 92.51
    assert all(cell.low < cell.value < cell.high for cell in cells.values())
    assert "Error bars are 95 % Wilson intervals" in exhibits["fig1"].caption


def printed_row(**fields):
    empty = dict.fromkeys(PublishedRow.model_fields, "")
    return PublishedRow(**{**empty, "unit": "%", "row": "aspect", "column": "m", **fields})


def test_printed_accuracies_have_the_pairs_that_table_10_should_have():
    n = printed_row(
        exhibit="table10", column="n", text="400", value="400", fault="erratum", corrected="401"
    )
    result = printed_row(exhibit="table7", text="99.25", value="99.25")
    (accuracy,) = accuracies([n, result])
    place = accuracy.model, accuracy.lang, accuracy.phenomenon
    assert (*place, accuracy.n) == ("m", "urd", "aspect", 401)
    assert (accuracy.accuracy, accuracy.rounding) == pytest.approx((0.9925, 0.00005))
