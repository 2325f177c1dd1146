"""Parts of the report: tables with rows taken out, products, printed beside measured numbers."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from blimpworks.campaign.reference import PublishedRow
from blimpworks.commands.registry import recorded_commands
from blimpworks.errors import UserError
from blimpworks.exhibits.sheets import Column, Document, Entry, Sheet, read_document
from blimpworks.records.job import Job
from blimpworks.report.data import Products
from blimpworks.report.evidence import Number, read_comparison
from blimpworks.report.names import Names
from blimpworks.report.read import Cell, Form
from blimpworks.report.views import Labels, lines_of, numbers_of, together_view, without

NAMES = Names({"lang": {"eng": "English"}, "model": {"gemma": "Gemma 27B"}, "phenomenon": {}})


def number(**facts):
    """A printed number, 90.2 %, with what the comparisons say of it."""
    row = dict.fromkeys(PublishedRow.model_fields, "") | {"text": "90.2", "value": "90.2"}
    return Number(PublishedRow.model_validate(row | {"unit": "%"}), "tables.csv:2", **facts)


# Tables


def sheet(heads, *rows, **more):
    """A sheet with the names of rows before columns; numbers are indices of cells."""
    columns = [Column("", "", names=True), *(Column(*head, right=True) for head in heads)]
    body = [
        [Entry(name), *(Entry(c) if isinstance(c, str) else Entry(f"{c}", c) for c in entries)]
        for name, *entries in rows
    ]
    return Sheet(tuple(columns), body, **more)


BOTH = sheet([("Both", "a"), ("Both", "b")], ("x", 0, 1), ("y", 2, "–"))


@pytest.mark.parametrize(
    ("dropped", "left"),
    [
        ({2}, ["Both a", "Both b", "x|0|1"]),
        ({1}, ["Both a", "x|0", "y|2"]),
        ({0}, ["Both a", "Both b", "x||1", "y|2|–"]),
        ({0, 1, 2}, None),
    ],
)
def test_rows_and_columns_without_a_kept_number_go(dropped, left):
    kept = [
        [c.heading for c in each.columns[1:]] + ["|".join(e.text for e in row) for row in each.body]
        for each in without([BOTH], dropped)
    ]
    assert kept == ([left] if left else [])


def test_files_that_are_missing_or_damaged_say_what_to_do(tmp_path):
    path = tmp_path / "table9.json"
    with pytest.raises(UserError, match=r"does not exist; .* Build the exhibit"):
        read_document(path)
    path.write_text('{"title": "T"}')
    with pytest.raises(UserError, match="Build the exhibit"):
        read_document(path)
    with pytest.raises(UserError, match="snakemake reproduction"):
        read_comparison(tmp_path / "published.csv", ())


def test_a_number_says_what_it_is_about_unless_its_printed_keys_do():
    place = ("table3", "gemma", "eng")
    assert NAMES.about({"lang": "eng", "model": "gemma"}, place) == {}
    assert NAMES.met["lang"] == {"eng": "English"}
    two = {"lang": ["eng", "deu"], "model": "gemma"}
    assert NAMES.about(two, place) == {"data-lang": "eng deu"}


# Products


def recorded(path, inputs):
    """A file with a record that says it was made from others."""
    job = Job(recorded_commands()["judge"], inputs=inputs, outputs=[path], params={})
    with job:
        path.write_text(path.name)
    return path


def test_products_are_a_graph_down_to_what_comes_from_outside(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("words")
    first = recorded(tmp_path / "first", [source])
    second = recorded(tmp_path / "second", [first, source])
    products = Products()
    top = products.add(second)
    assert products.add(second) == top
    by_name = {path.rpartition("/")[2]: (job, inputs) for path, _, job, inputs in products.products}
    assert by_name["source.txt"] == (-1, [])
    assert len(by_name["second"][1]) == 2
    assert [job[0] for job in products.jobs] == ["judge", "judge"]
    # A product that was made anew has no job any more, and a file without a record no products.
    record = json.loads((tmp_path / "first.prov.json").read_text())
    record["outputs"][0]["sha256"] = "0" * 64
    (tmp_path / "first.prov.json").write_text(json.dumps(record))
    products = Products()
    products.add(second)
    assert [p[2] for p in products.products if p[0].endswith("first")] == [-1]
    assert Products().add(source) is None


# Side by side


def test_a_measured_number_stands_with_its_difference_and_what_else_differs():
    facts = {"measured": 54.1, "low": 50.0, "high": 58.0, "verdict": "not comparable"}
    lines = lines_of(number(**facts, differs="3 of 101 languages"))
    assert lines["measured"].text == "54.1"
    assert lines["difference"].text == "−36.1"
    assert lines["difference"].small == "[−40.2, −32.2] 3 of 101 languages"
    assert [*lines_of(number(verdict="not run"))] == ["printed"]


def test_statements_stand_one_under_the_other_with_a_column_for_each_form():
    places = [("text", f"row {n}", f"column {n}") for n in range(4)]
    evidence = {place: number(status="exact", recomputed=90.24) for place in places}
    table = ElementTree.fromstring(together_view("text", {}, evidence, NAMES))
    heads = ["".join(th.itertext()) for th in table.iterfind(".//thead//th")]
    assert heads == ["printed", "recomputed"]
    lines = [[*line.itertext()] for line in table.iterfind(".//tbody/tr")]
    assert lines == [[f"row {n}: column {n}", "90.2", "90.2"] for n in range(4)]


def form_of(places, *sheets):
    """A form with a table, whose cells are these places of the exhibit "text"."""
    cells = [Cell({}, [], ("text", *place), None) for place in places]
    document = Document("", "", [*sheets])
    return Form("text", "published", document, cells, Path("text"), figure=False)


ALIKE = sheet([("", "Top 5"), ("", "Top 5"), ("", "Last")], ("English", 0, 1, 2))
STATEMENTS = sheet([("", "Printed")], ("Languages", 0), ("Pairs in all languages", 1))


def test_labels_are_headings_where_these_tell_the_keys_apart():
    places = [("eng", "first_letter"), ("eng", "first_word"), ("eng", "last_word")]
    labels = Labels([form_of(places, ALIKE)], NAMES)
    columns = [labels.of(("text", *place))[1] for place in places]
    assert columns == ["first letter", "first word", "Last"]
    places = [("size", "languages"), ("size", "pairs")]
    labels = Labels([form_of(places, STATEMENTS)], NAMES)
    assert labels.statement(("text", *places[0])) == "Languages"
    assert labels.statement(("text", *places[1])) == "Pairs in all languages"
    assert labels.statement(("text", "size", "unknown")) == "size: unknown"


def test_a_column_is_called_by_both_lines_of_its_heading_and_a_section_begins_anew():
    sheets = [sheet([("EN", "a"), ("EN", "b")], ("x", 0, 1)), sheet([("", "c")], ("y", 2))]
    assert [*numbers_of(sheets)] == [(0, "x", "EN a"), (1, "x", "EN b"), (2, "y", "c")]
