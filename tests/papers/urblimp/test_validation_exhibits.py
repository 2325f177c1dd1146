"""People's exhibits of UrBLiMP, from lists that a script has filled in."""

from dataclasses import replace

import pytest

from blimpworks.annotation.tables import VALIDATION_RATINGS
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.shared import read_plain
from blimpworks.papers.urblimp.exhibits.evaluation import table4, table9
from blimpworks.papers.urblimp.exhibits.validation import validation
from blimpworks.papers.urblimp.phenomena import PARADIGMS, PHENOMENA
from blimpworks.tables import ACCURACIES, read_table, write_table
from support.urblimp_models_kit import LABELS, SKILL, cell, simulate
from support.validation_kit import OPTIONS, measured_people


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    root = tmp_path_factory.mktemp("people")
    return simulate(root, SKILL) | measured_people(root)


@pytest.fixture
def labels():
    return replace(LABELS, facts=LABELS.facts | {"urblimp_validation": {"per_pair": 3}})


ALONE = Labels({"urd": "Urdu"}, facts={"urblimp_validation": {"per_pair": 3}})
"""Of a campaign without models."""


def test_table_9_has_people_on_each_paradigm_and_both_means(tables):
    exhibit = table9(tables, ALONE)
    rows = read_plain(ACCURACIES, tables["people"][0]).set_index("paradigm")
    for paradigm, name in PARADIGMS.items():
        number = cell(exhibit, name, "Accuracy")
        assert number.value == pytest.approx(100 * rows["accuracy"][paradigm])
        assert number.low < number.value <= number.high
        assert number.stands_for == (paradigm, "accuracy")
    average = cell(exhibit, "Average", "Accuracy")
    assert average.value == pytest.approx(100 * rows["accuracy"].mean())
    assert average.stands_for == ("average", "accuracy")
    phenomena = rows.groupby("phenomenon")["accuracy"].mean()
    macro = cell(exhibit, "Mean of the phenomena", "Accuracy")
    assert macro.value == pytest.approx(100 * phenomena.mean())
    assert len(phenomena) == 10
    assert [*exhibit.stub] == [*PARADIGMS.values(), "Average", "Mean of the phenomena"]
    assert exhibit.remarks["Average"]["95 % interval"] == f"{average.low:.1f} to {average.high:.1f}"


def test_table_4_has_a_row_of_people_that_is_never_the_best_model(tables, labels):
    exhibit = table4(tables, labels)
    rows = read_plain(ACCURACIES, tables["people"][0])
    for phenomenon, (name, _) in PHENOMENA.items():
        expected = rows["accuracy"][rows["phenomenon"] == phenomenon].mean()
        assert cell(exhibit, "Human", name).value == pytest.approx(100 * expected)
    assert "Human" not in {row for row, _ in exhibit.bold}
    without = {kind: paths for kind, paths in tables.items() if kind != "people"}
    models = [c for c in exhibit.cells if c.row != "Human"]
    assert models == table4(without, labels).cells
    assert exhibit.bold == table4(without, labels).bold


def test_the_exhibit_counts_who_and_what_is_left_out(tables):
    exhibit = validation(tables, ALONE)
    number = {c.row: c.value for c in exhibit.cells if c.column == "Number"}
    assert number["Participants"] == 6
    assert number["left out: failed attention checks"] == 1
    assert (number["Attention checks"], number["passed"]) == (24, 20)
    assert number["Pairs judged"] == 19 * 8
    # p06 is out: its pairs have two judgements.
    assert number["with 3 judgements"] + number["left out of κ"] == number["Pairs judged"]
    assert number["left out of κ"] == number["Pairs judged"] * 3 - number["Judgements that count"]
    assert 0 < number["left out of κ"] < number["Pairs judged"]


def test_the_exhibit_has_a_row_for_each_participant(tables):
    exhibit = validation(tables, ALONE)
    (people,) = [section for section in exhibit.sections if section.title == "Participant"]
    assert [*people.rows.values()] == [*OPTIONS.names]
    assert [exhibit.remarks[row]["Counted"] for row in people.rows] == ["yes"] * 5 + ["no"]
    assert cell(exhibit, "participant p06", "Passed").value == 0
    assert cell(exhibit, "participant p01", "Accuracy (%)").low < 100


def test_kappas_that_are_not_defined_are_left_out(tables, tmp_path):
    table = read_table(VALIDATION_RATINGS, tables["validation_ratings"][0])
    right = table.filter(table["chose_good"])
    path = tmp_path / "ratings.parquet"
    write_table(right, VALIDATION_RATINGS, path)
    exhibit = validation(tables | {"validation_ratings": [path]}, ALONE)
    rows = {c.row for c in exhibit.cells if c.column == "κ"}
    assert rows == {"Sentence chosen (published)", "Free-marginal (Randolph)"}
