"""Where the numbers of a report card come from."""

import json

import pytest

from blimpworks.cli.audit import explain
from blimpworks.cli.evaluate import build_report_card
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from support.card_kit import MARGINS, facts, write_evaluation

LONG = "too_long"
SKIPPING = MARGINS | {
    "eng": {"small": [2, 3, LONG, -1, 2, 4, -5, 0], "large": [1, 1, 1, 1, *[LONG] * 4]}
}


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory):
    """Directory of an evaluation in which some pairs were skipped."""
    folder = tmp_path_factory.mktemp("evaluation")
    results = folder / "results"
    write_evaluation(results, margins_of=SKIPPING)
    results_files = ("results_small.json", "results_large.json")
    names = ("card.json", "index.html", "tables.md", "tables.tex", *results_files)
    outputs = [results / "report_card" / name for name in names]
    build_report_card.callback(outputs=outputs, facts=facts(results))
    return folder


@pytest.fixture
def told(evaluation, monkeypatch, capsys, tmp_path):
    """What explain prints of a row and column of the evaluation's card."""
    monkeypatch.chdir(tmp_path)

    def tell(row=None, column=None, path="", **more):
        arguments = {"items": 1, "item": None, "paper": None, "printed_in": None} | more
        arguments |= {"whole": False, "html": None, "json": arguments.get("json", False)}
        explain.callback(exhibit=evaluation / path, row=row, column=column, **arguments)
        return capsys.readouterr().out

    return tell


CARD = "results/report_card"


@pytest.mark.parametrize("path", ["", "results", f"{CARD}/card.json", f"{CARD}/index.html"])
def test_a_number_of_the_card_leads_to_its_items_scores_and_files(told, evaluation, path):
    text = told("English", "small", path)
    items = evaluation / "results/items/pairs/eng.parquet"
    for line in (
        "English / Small model = 57.1, 95 % interval 25.0-84.2",
        "i6  SG  full_sentence: margin -5.000, wrong",
        "   + the dog 6 sees  [-20.000 nats]",
        "computed again from those rows: 57.1429 (the same)",
        "n = 7, 1 skipped: longer than the model's context.",
        "Rows of scores, by status: 7 ok, 1 too_long.",
        f"Items from {items}, sha256 {sha256_of(items)}.",
    ):
        assert line in text


@pytest.mark.parametrize(
    ("row", "value", "rows"),
    [
        ("all", "54.5", 12),
        ("all languages", "54.5", 12),
        ("mean", "53.6", 2),
        ("German", "50.0", 4),
        ("deu", "50.0", 4),
        ("pairs", "54.5", 12),
        ("eng, number", "66.7", 4),
        ("number/eng", "66.7", 4),
        ("Pairs, English, person", "50.0", 4),
    ],
)
def test_what_a_row_does_not_name_is_the_whole(told, row, value, rows):
    document = json.loads(told(row, "Small model", json=True))
    assert (document["cell"]["text"], document["rows"]) == (value, rows)
    assert document["recomputed"] == pytest.approx(document["cell"]["value"])


def test_without_row_and_column_the_numbers_are_listed(told):
    lines = told().splitlines()
    assert (
        "English / Small model = 57.1 (n = 7, 1 skipped: longer than the model's context)" in lines
    )
    assert "German / Large model = 100.0 (n = 4, none skipped)" in lines
    skipped = "English, person / Large model: 4 pairs, all skipped: longer than the model's context"
    assert skipped in lines
    assert told("eng, person", "large") == f"{skipped}\n"
    assert len(told("German").splitlines()) == 2


@pytest.mark.parametrize(
    ("row", "column", "message"),
    [
        ("Klingon", "small", "no row 'Klingon'; there are: All languages; All languages, number"),
        ("German", "medium", "no column 'medium'; there are: Small model, Large model."),
    ],
)
def test_what_the_card_does_not_have_is_refused_with_what_it_has(told, row, column, message):
    with pytest.raises(UserError, match=message):
        told(row, column)


def test_a_card_that_was_edited_or_moved_is_refused(told, evaluation, tmp_path):
    page = evaluation / CARD / "index.html"
    before = page.read_text(encoding="utf-8")
    page.write_text(before.replace("57.1", "97.1"), encoding="utf-8")
    with pytest.raises(UserError, match=r"index.html is not what its job wrote"):
        told("English", "small", f"{CARD}/index.html")
    page.write_text(before, encoding="utf-8")
    moved = evaluation.rename(tmp_path / "elsewhere")
    with pytest.raises(UserError, match=r"elsewhere/.* was made as .*; explain its numbers there"):
        told("English", "small", moved)
    moved.rename(evaluation)
