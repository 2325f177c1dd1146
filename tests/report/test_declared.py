"""The report of a campaign of declared benchmarks alone: its title, ranking and pages."""

import re
from pathlib import Path

import pytest

from blimpworks.exhibits.sheets import Column, Document, Entry, Sheet
from blimpworks.report.names import Names
from blimpworks.report.pages import assemble, ranking
from blimpworks.report.read import Campaign, Cell, Exhibit, Form, Inputs, PaperInputs, Trees

SHEET = Sheet((Column("", "", names=True), Column("", "")), [[Entry("A"), Entry("90.0", 0)]])
TREES = Trees(Path("results"), "published", frozenset(), frozenset())


def cell(model, column, value, *, seed=False):
    facts = {"row": model, "column": column, "value": value, "text": f"{value:.1f}"}
    facts |= {"low": value - 5, "high": value + 5, "n": 40, "filter": {}, "source": "accuracies"}
    facts |= {"formula": "mean", "printed_row": "" if seed else model}
    return Cell(facts, [], None, None)


def paper(name, *cells, trees=("measured",)):
    """A declared benchmark with one exhibit, its models by accuracy."""
    document = Document("", "", [SHEET])
    forms = {
        tree: Form("models", tree, document, [*cells], Path("results/models"), figure=True)
        for tree in trees
    }
    exhibit = Exhibit("models", "Models by accuracy", forms)
    return PaperInputs(name, {}, Names({"lang": {}, "model": {}, "phenomenon": {}}), [exhibit])


PAPERS = [
    paper("demo_pairs", *(cell(m, lang, v) for m, lang, v in (
        ("A", "English", 90.0), ("B", "English", 70.0), ("C", "English", 99.0),
        ("A", "German", 60.0), ("B", "German", 90.0),
    ))),
    paper("demo_suites", cell("A", "Accuracy", 90.0), cell("B", "Accuracy", 95.0),
          cell("B1", "Accuracy", 99.0, seed=True), trees=("published", "measured")),
]  # fmt: skip


@pytest.fixture
def texts():
    papers = tuple(each.name for each in PAPERS)
    campaign = Campaign("mine", "Small.", "mine.yaml", Path(), papers, {}, {}, declared=True)
    return assemble(Inputs(campaign, TREES, {}, PAPERS, "0"))


def test_models_stand_by_their_mean_and_those_that_lack_a_column_last():
    columns, lines = ranking(PAPERS)
    titles = ["Demo pairs, English", "Demo pairs, German", "Demo suites"]
    assert [column.title for column in columns] == titles
    assert columns[2].address == "demo_suites.html#demo-suites-models"
    assert [(line.model, line.mean) for line in lines] == [("B", 85.0), ("A", 80.0), ("C", None)]


def test_nothing_is_called_ours_or_a_reproduction_of_papers(texts):
    pages = "".join(text for name, text in texts.items() if name.endswith((".html", ".rst")))
    assert not re.search(r"\bours\b|reproduction|the papers?\b|MultiBLiMP", pages, re.IGNORECASE)
    assert texts["index.rst"].startswith("Report: mine\n")
    assert (
        "<strong>99.0</strong><small> 94.0 to 104.0, n = 40</small>" in texts["_pieces/index.html"]
    )


def test_measured_numbers_alone_have_no_tabs_variants_or_comparisons(texts):
    assert "published.rst" not in texts
    assert "tab-item" not in texts["demo_pairs.rst"]
    assert texts["demo_suites.rst"].count("tab-item") == 2, "released decisions beside measured"
    assert "variant" not in texts["_pieces/demo_pairs/head.html"]
    assert "data-variant" not in texts["_pieces/demo_pairs/models.measured.html"]
