"""Tables say over how many pairs an accuracy is where these are few, and how many are ties."""

from dataclasses import replace

from matplotlib.figure import Figure

from blimpworks.exhibits.exhibit import Cell, Exhibit
from blimpworks.exhibits.render import EXPLANATION, FEW, show_few_pairs


def cell(column, n, ties):
    return Cell("word order", column, 50.0, "50.00", "mean", "judgements", {}, n=n, ties=ties)


def shown(*cells, **more):
    exhibit = Exhibit("Accuracies", "By paradigm.", [*cells], **more)
    show_few_pairs(exhibit)
    return exhibit


def test_an_accuracy_over_few_pairs_shows_pairs_and_ties():
    exhibit = shown(
        cell("a", 4, 4), cell("b", FEW - 1, 1), cell("c", FEW - 1, 0), cell("d", FEW, 9)
    )
    texts = [each.text for each in exhibit.cells]
    assert texts == ["50.00 (n = 4, 4 ties)", "50.00 (n = 29, 1 tie)", "50.00 (n = 29)", "50.00"]
    assert exhibit.caption == f"By paradigm. {EXPLANATION}"


def test_cells_that_are_no_accuracies_over_pairs_stay_as_they_are():
    plain = replace(cell("a", 4, None), text="4")
    assert shown(plain).cells == [plain]
    assert shown(plain).caption == "By paradigm."


def test_figures_stay_as_they_are():
    assert shown(cell("a", 4, 4), figure=Figure()).cells[0].text == "50.00"
