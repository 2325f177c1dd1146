"""Test the report's parts, page of items, declared benchmarks alone, and list of exhibits."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.registry import exhibits
from blimpworks.cli import app
from blimpworks.commands.declare import find_command
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Document, Entry, Sheet, SheetColumn, read_document
from blimpworks.records.job import Job
from blimpworks.report import read
from blimpworks.report.inventory import read_inventory, spec_of, unlisted
from blimpworks.report.pages import assemble, listing_html, rank_models
from blimpworks.report.scripts import Products, item_scripts
from blimpworks.report.views import Headings, cells_shown, lines_of, together_view, without_cells
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, write_rows, write_table
from support.paths import REPOSITORY

NAMES = read.Names({"lang": {"eng": "English"}, "model": {"gemma": "Gemma 27B"}, "phenomenon": {}})


def number(**facts):
    """Return a printed number, 90.2 %, with facts of the comparisons."""
    row = dict.fromkeys(PublishedRow.model_fields, "") | {"text": "90.2", "value": "90.2"}
    return read.Number(PublishedRow.model_validate(row | {"unit": "%"}), "tables.csv:2", **facts)


def sheet(heads, *rows, **more):
    """Return a sheet with the names of rows before columns; numbers are indices of cells."""
    columns = [SheetColumn("", "", names=True), *(SheetColumn(*head, right=True) for head in heads)]
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
        for each in without_cells([BOTH], dropped)
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
        read.read_comparison(tmp_path / "published.csv", ())


def test_a_number_says_what_it_is_about_unless_its_printed_keys_do():
    place = ("table3", "gemma", "eng")
    assert NAMES.about({"lang": "eng", "model": "gemma"}, place) == {}
    assert NAMES.used["lang"] == {"eng": "English"}
    two = {"lang": ["eng", "deu"], "model": "gemma"}
    assert NAMES.about(two, place) == {"data-lang": "eng deu"}


def recorded(path, inputs):
    """Write a file with a record that lists other files as inputs."""
    with Job(find_command("judge"), inputs=inputs, outputs=[path], params={}):
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
    # A rewritten product has no job, and a file without a record has no products.
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
    """Return a form with sheets, whose cells are these rows and columns of the exhibit "text"."""
    cells = [read.Cell({}, [], ("text", *place), None) for place in places]
    document = Document("", "", [*sheets])
    return read.Form("text", "published", document, cells, Path("text"), figure=False)


ALIKE = sheet([("", "Top 5"), ("", "Top 5"), ("", "Last")], ("English", 0, 1, 2))
STATEMENTS = sheet([("", "Printed")], ("Languages", 0), ("Pairs in all languages", 1))


def test_labels_are_headings_where_these_tell_the_keys_apart():
    places = [("eng", "first_letter"), ("eng", "first_word"), ("eng", "last_word")]
    labels = Headings([form_of(places, ALIKE)], NAMES)
    columns = [labels.of(("text", *place))[1] for place in places]
    assert columns == ["first letter", "first word", "Last"]
    places = [("size", "languages"), ("size", "pairs")]
    labels = Headings([form_of(places, STATEMENTS)], NAMES)
    assert labels.statement(("text", *places[0])) == "Languages"
    assert labels.statement(("text", *places[1])) == "Pairs in all languages"
    assert labels.statement(("text", "size", "unknown")) == "size: unknown"


def test_a_column_is_called_by_both_lines_of_its_heading_and_a_section_begins_anew():
    sheets = [sheet([("EN", "a"), ("EN", "b")], ("x", 0, 1)), sheet([("", "c")], ("y", 2))]
    assert [*cells_shown(sheets)] == [(0, "x", "EN a"), (1, "x", "EN b"), (2, "y", "c")]


SHEET = Sheet(
    (SheetColumn("", "", names=True), SheetColumn("", "")), [[Entry("A"), Entry("90.0", 0)]]
)


def cell(model, column, value, *, seed=False):
    facts = {"row": model, "column": column, "value": value, "text": f"{value:.1f}"}
    facts |= {"low": value - 5, "high": value + 5, "n": 40, "filter": {}, "source": "accuracies"}
    facts |= {"formula": "mean", "printed_row": "" if seed else model}
    return read.Cell(facts, [], None, None)


def paper(name, *cells, trees=("measured",)):
    """Return a declared benchmark with one exhibit, its models by accuracy."""
    document = Document("", "", [SHEET])
    forms = {
        tree: read.Form("models", tree, document, [*cells], Path("results/models"), figure=True)
        for tree in trees
    }
    exhibit = read.Exhibit("models", "Models by accuracy", forms)
    return read.PaperInputs(
        name, {}, read.Names({"lang": {}, "model": {}, "phenomenon": {}}), [exhibit]
    )


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
    about = ("mine", "Small.", "mine.yaml", Path(), Path("results"), "published", (), ())
    campaign = read.Campaign(*about, papers, {}, {}, declared=True)
    return assemble(read.Inputs(campaign, {}, PAPERS, "0"))


def test_models_stand_by_their_mean_and_those_that_lack_a_column_last():
    columns, means = rank_models(PAPERS)
    titles = ["Demo pairs, English", "Demo pairs, German", "Demo suites"]
    assert [column.title for column in columns] == titles
    assert columns[2].address == "demo_suites.html#demo-suites-models"
    assert [*means.items()] == [("B", 85.0), ("A", 80.0), ("C", None)]


def test_nothing_is_called_ours_or_a_reproduction_of_papers(texts):
    pages = "".join(text for name, text in texts.items() if name.endswith((".html", ".rst")))
    assert not re.search(r"\bours\b|reproduction|the papers?\b|MultiBLiMP", pages, re.IGNORECASE)
    assert texts["index.rst"].startswith("Report: mine\n")
    interval = "<strong>99.0</strong><small> 94.0 to 104.0, n = 40</small>"
    assert interval in texts["_pieces/index.html"]
    assert "models that lack a column come last" in texts["_pieces/index.html"]


def test_a_variant_that_was_not_measured_says_so_beside_printed_numbers():
    evidence = {("models", "A", "Accuracy"): number(status="complement")}
    printed = PAPERS[1]._replace(evidence=evidence)
    about = ("mine", "Small.", "mine.yaml", Path(), Path("results"), "corrected", (), ())
    campaign = read.Campaign(*about, (printed.name,), {}, {}, declared=True)
    texts = assemble(read.Inputs(campaign, {}, [printed], "0"))
    html = "".join(text for name, text in texts.items() if name.endswith(".html"))
    assert "no measured numbers of the variant published" in html
    assert "1 minus another printed number" in html


def test_the_list_of_numbers_has_all_digits_of_whole_numbers():
    row = dict.fromkeys(read.COMPARISON_COLUMNS["published"], "") | {"recomputed": 4234567.0}
    assert "4234567" in listing_html("published", pd.DataFrame([row]))


def test_measured_numbers_alone_have_no_tabs_variants_or_comparisons(texts):
    assert "published.rst" not in texts
    assert "tab-item" not in texts["demo_pairs.rst"]
    assert texts["demo_suites.rst"].count("tab-item") == 2, "released decisions beside measured"
    assert "variant" not in texts["_pieces/demo_pairs/head.html"]
    assert "data-variant" not in texts["_pieces/demo_pairs/models.measured.html"]


LIST = REPOSITORY / "config/published/exhibits.tsv"
TEXTS = {"lmentry": "multi_lmentry"}
"""Papers whose text has another name than their benchmark."""


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


PAIRS = [
    ("i1", "svP", "I see it .", "I sees it ."),
    ("i2", "svP", "You see .", "You sees ."),
    ("i3", "sv#", "We go .", "We goes ."),
]


def item(item_id, phenomenon, good, bad):
    texts = {"item_id": item_id, "phenomenon": phenomenon, "paradigm": phenomenon}
    return texts | {"good": good, "bad": bad, "lang": "eng"}


def write_items(path, rows, **more):
    """Write items with further columns, by the name of their Arrow type."""
    columns = [pa.field(name, pa.type_for_alias(kind)) for name, kind in more.items()]
    schema = pa.schema([*ITEMS.arrow(), *columns])
    write_table(pa.Table.from_pylist(rows, schema=schema), ITEMS, path)


def judgement(item_id, correct, method="full_sentence"):
    return {"item_id": item_id, "method": method, "correct": correct}


def score(item_id, good, bad):
    sides = {"good": good, "bad": bad}
    ends = {f"{s}_ends": [m.end() for m in re.finditer(r"\S+", t)] for s, t in sides.items()}
    values = {f"{s}_logprobs": [-1.5] * len(ends[f"{s}_ends"]) for s in sides}
    return {"item_id": item_id, **ends, **values}


@pytest.fixture
def facts(tmp_path):
    """Return the workflow's facts on three pairs and two models, one of which judged two."""
    write_rows([item(*pair) for pair in PAIRS], ITEMS, tmp_path / "eng.parquet")
    verdicts = {"a": {"i1": 1.0, "i2": 0.0, "i3": 0.5}, "b": {"i1": 0.0, "i3": None}}
    for model, own in verdicts.items():
        rows = [judgement(*each) for each in own.items()]
        rows.append(judgement("i1", 1.0 - (own["i1"] or 0.0), "another"))
        write_rows(rows, JUDGEMENTS, tmp_path / f"judgements/{model}/eng.parquet")
        scores = [score(i, good, bad) for i, _, good, bad in PAIRS if i in own]
        write_rows(scores, SCORES, tmp_path / f"scores/{model}/eng.parquet")
    templates = {n: f"{tmp_path}/{n}/{{model}}/{{lang}}.parquet" for n in ("judgements", "scores")}
    own = {"items": {"eng": str(tmp_path / "eng.parquet")}, "method": "full_sentence"}
    return {"x": own | templates | {"models": {"a": ["eng"], "b": ["eng"], "c": ["deu"]}}}


def scripts(facts, **options):
    """Return contents of the scripts by their names."""
    texts = dict(item_scripts(read.sets_from(facts), {"models": {"a": "Model A"}}, **options))
    contents = {}
    for name, text in texts.items():
        match = re.fullmatch(r'blimpworksItems\.receive\("([^"]+)",(.*)\);\n', text)
        assert match[1] == name
        contents[name] = json.loads(match[2])
    return contents


def test_each_pair_has_both_sentences_a_verdict_of_each_model_and_their_words(facts):
    contents = scripts(facts)
    first, second, third = contents["x.eng.0"]
    assert first == ["i1", 0, "I see it .", "I sees it .", "10"]
    assert (second[4], third[1], third[4]) == ("0-", 1, "h-")
    words = contents["x.eng.0.words"]
    assert words[0][0] == [[[-1.5] * 4], [[-1.5] * 4]]
    assert words[1][1] is None, "a pair that the model has not scored"
    # Beyond the size limit of the site, scripts have verdicts and no words.
    small = scripts(facts, most_words=5)
    assert (len(small["x.eng.0"]), "x.eng.0.words" in small) == (3, False)
    assert small["index"]["sets"][0]["words"] is False


@pytest.mark.parametrize("acceptable", [True, False])
def test_a_single_sentence_stands_on_its_own_side_with_its_words(facts, tmp_path, acceptable):
    rows = [item(i, p, good, good) | {"acceptable": acceptable} for i, p, good, _ in PAIRS]
    write_items(tmp_path / "eng.parquet", rows, acceptable="bool")
    texts = scripts(facts)
    step = 1 if acceptable else -1
    assert texts["x.eng.0"][0] == ["i1", 0, *["I see it .", None][::step], "10"]
    assert texts["x.eng.0.words"][0][0] == [[[-1.5] * 4], [[]]][::step]


def test_items_of_several_conditions_are_counted_where_they_are_left_out(facts, tmp_path):
    rows = []
    for name in "ab":
        rows += [item(i + name, p, g, g) | {"item": i, "condition": name} for i, p, g, _ in PAIRS]
    write_items(tmp_path / "deu.parquet", rows, item="string", condition="string")
    designs = facts["x"] | {"items": {"deu": str(tmp_path / "deu.parquet")}}
    assert scripts(facts | {"y": designs})["index"]["omitted"] == [["y", 3]]


def test_words_that_do_not_stand_between_spaces_are_written_out(facts, tmp_path):
    write_rows([item("i1", "svP", "見る", "見た")], ITEMS, tmp_path / "eng.parquet")
    numbers = {"ends": [1, 2], "logprobs": [-1.0, -2.0]}
    row = {"item_id": "i1"} | {f"{s}_{n}": v for s in ("good", "bad") for n, v in numbers.items()}
    for model in ("a", "b"):
        write_rows([row], SCORES, tmp_path / f"scores/{model}/eng.parquet")
    words = scripts(facts)["x.eng.0.words"]
    assert words[0][0] == [[[-1.0, -2.0], ["見", "る"]], [[-1.0, -2.0], ["見", "た"]]]
