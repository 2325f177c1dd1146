"""Parts of the report, the report of declared benchmarks alone, and the list of exhibits."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from blimpworks.campaign.exhibits import exhibits
from blimpworks.campaign.reference import PublishedRow
from blimpworks.cli import app
from blimpworks.commands.registry import recorded_commands
from blimpworks.errors import UserError
from blimpworks.exhibits.sheets import Column, Document, Entry, Sheet, read_document
from blimpworks.records.job import Job
from blimpworks.report.data import Products
from blimpworks.report.evidence import Number, read_comparison
from blimpworks.report.inventory import read_inventory, spec_of, unlisted
from blimpworks.report.names import Names
from blimpworks.report.pages import assemble, ranking
from blimpworks.report.read import Campaign, Cell, Exhibit, Form, Inputs, PaperInputs, Trees
from blimpworks.report.views import Labels, lines_of, numbers_of, together_view, without
from support.paths import REPOSITORY

NAMES = Names({"lang": {"eng": "English"}, "model": {"gemma": "Gemma 27B"}, "phenomenon": {}})


def number(**facts):
    """A printed number, 90.2 %, with what the comparisons say of it."""
    row = dict.fromkeys(PublishedRow.model_fields, "") | {"text": "90.2", "value": "90.2"}
    return Number(PublishedRow.model_validate(row | {"unit": "%"}), "tables.csv:2", **facts)


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


LIST = REPOSITORY / "config/published/exhibits.tsv"
TEXTS = {"lmentry": "multi_lmentry"}
"""Papers whose text is not called like their benchmark."""


@pytest.fixture(scope="module")
def listed():
    return read_inventory(LIST)


def test_the_page_is_what_the_list_and_the_catalogue_make():
    done = CliRunner().invoke(app, ["list-exhibits", f"--printed={LIST.parent}"])
    assert done.stdout == (REPOSITORY / "docs/exhibits.md").read_text(encoding="utf-8")


def test_an_exhibit_that_nobody_builds_and_one_without_a_form_need_a_note(listed):
    for row in listed:
        spec = spec_of(row)
        assert row.note or (spec and spec.needs and spec.published), row
    unbuilt = {(row.paper, row.exhibit) for row in listed if spec_of(row) is None}
    assert unbuilt <= {("multiblimp", "Figure 2")}, "a drawing without numbers"


def test_each_exhibit_that_claims_to_be_of_a_paper_is_in_its_list(listed):
    ours = {spec.name for spec in unlisted(listed)}
    assert not [name for name in ours if re.match(r"(table|fig)[a-z]?\d", name)]
    built = [row for row in listed if spec_of(row)]
    assert len(built) + len(unlisted(listed)) == len(exhibits())


@pytest.mark.mirror
@pytest.mark.parametrize("paper", ["multiblimp", "clams", "blimp", "lmentry", "urblimp"])
def test_all_that_a_paper_numbers_is_listed_and_nothing_else(mirror, listed, paper):
    path = mirror.parent / "papers" / f"{TEXTS.get(paper, paper)}.txt"
    if not path.is_file():
        pytest.skip(f"no text of the paper at {path}")
    mentions = re.findall(r"\b(Table|Fig)(?:ure|s|\.)? (\d+)", path.read_text(encoding="utf-8"))
    named = {f"{'Figure' if kind == 'Fig' else kind} {number}" for kind, number in mentions}
    numbered = {row.exhibit for row in listed if row.paper == paper}
    assert named == {name for name in numbered if "B." not in name}
