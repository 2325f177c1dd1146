"""Parts of the report: labels, tables with rows taken out, views of one exhibit, products."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from blimpworks.campaign.exhibits import exhibits
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.render import build_exhibit
from blimpworks.files import sha256_of
from blimpworks.report.data import Products
from blimpworks.report.evidence import gather, read_comparison
from blimpworks.report.names import names_from
from blimpworks.report.read import Cell, Form, read_form, read_page
from blimpworks.report.together import Labels as Headings
from blimpworks.report.together import lines_of, together_view
from blimpworks.report.views import (
    headings_of,
    printed_view,
    without,
)
from blimpworks.reproduction.printed import read_published
from blimpworks.reproduction.published import Paper, compare

PRINTED = """exhibit,row,column,text,value,unit,bold,fault,corrected,note
table3,gemma-3-27b,eng,98.6,98.6,%,,,,
table3,gemma-3-27b,all,90.2,90.2,%,yes,,,
table3,llama-3.1-8b,eng,99.4,99.4,%,,erratum,99.1,Table 5 has 99.1
table3,llama-3.1-8b,goldfish,99.9,99.9,%,,,,
table5,eng,n,770,770,pairs,,,,
table5,eng,gemma-3-27b,98.6,98.6,%,,,,
table5,eng,llama-3.1-8b,99.1,99.1,%,,,,
"""
REASONS = "exhibit\trow\tcolumn\treason\n*\t*\t*\tneeds the models\n"
LANGUAGES, MODELS = {"eng": "English"}, {"gemma-3-27b": "Gemma3 27B", "llama-3.1-8b": "Llama3 8B"}


@pytest.fixture
def paper(tmp_path):
    """A paper that prints two tables, the published form of the first, and the comparison."""
    folder = tmp_path / "printed"
    folder.mkdir()
    (folder / "tables.csv").write_text(PRINTED)
    (folder / "reasons.tsv").write_text(REASONS)
    accuracies = tmp_path / "accuracies.parquet"
    read_published([folder / "tables.csv"], "multiblimp", accuracies)
    files = tmp_path / "published/multiblimp/table3"
    facts = {"table_models": [*MODELS], "groups": {"goldfish": [], "aya": [], "eurollm": []}}
    labels = Labels(LANGUAGES, MODELS, "printed", facts, source="published")
    cells = files.with_name("table3.cells.parquet")
    tables = {"accuracies": [accuracies], "printed": [folder / "tables.csv"]}
    build_exhibit(
        exhibits()["multiblimp/table3"], tables, labels, cells, [files.with_suffix(".html")]
    )
    return Paper(
        "multiblimp",
        [folder / "tables.csv"],
        folder / "reasons.tsv",
        {"table3": cells},
        accuracies,
    )


@pytest.fixture
def evidence(paper):
    published = pd.DataFrame(compare(paper))
    measured = published[["paper", "exhibit", "row", "column"]].assign(
        measured=float("nan"),
        low=float("nan"),
        high=float("nan"),
        n=float("nan"),
        verdict="",
        differs="",
    )
    return gather("multiblimp", paper.printed, published, measured)


@pytest.fixture
def form(paper, evidence):
    files = paper.cells["table3"].with_name("table3")
    return read_form("table3", "published", files, paper, evidence, figure=False)


@pytest.fixture
def names(paper):
    return names_from(LANGUAGES, MODELS, paper)


def rows(html):
    return ["".join(th.itertext()) for th in ElementTree.fromstring(html).iterfind(".//tbody//th")]


# Tables


TABLE = ElementTree.fromstring(
    "<table><thead><tr><td/><th colspan='2'>Both</th></tr>"
    "<tr><th/><th>a</th><th>b</th></tr></thead>"
    "<tbody><tr><th>x</th><td data-cell='0'>1</td><td data-cell='1'>2</td></tr>"
    "<tr><th>y</th><td data-cell='2'>3</td><td>–</td></tr></tbody></table>"
)


@pytest.mark.parametrize(
    ("dropped", "left"),
    [
        ("2", ["Both", "a|b", "x|1|2"]),
        ("1", ["Both", "a", "x|1", "y|3"]),
        ("0", ["Both", "a|b", "x|2", "y|3|–"]),
        ("012", None),
    ],
)
def test_rows_and_columns_without_a_kept_number_go(dropped, left):
    kept = without(TABLE, lambda cell: (cell.get("data-cell") or "x") in dropped)
    assert (kept and ["|".join(row.itertext()) for row in kept.iter("tr")]) == left
    if left and len(left[1]) == 1:
        assert kept.find(".//th[@colspan]").get("colspan") == "1"


def test_files_that_are_missing_or_damaged_say_what_to_do(tmp_path):
    page = tmp_path / "table9.html"
    with pytest.raises(UserError, match=r"does not exist; .* Build the exhibit"):
        read_page(page)
    page.write_text("<table><tr></table>")
    with pytest.raises(UserError, match="is not the page of an exhibit"):
        read_page(page)
    with pytest.raises(UserError, match="snakemake reproduction"):
        read_comparison(tmp_path / "published.csv", ())


# Views


def test_a_number_says_what_it_is_about_unless_its_printed_keys_do(form, names):
    table = ElementTree.fromstring(printed_view(form, names))
    cell = table.find(".//td[@data-row='gemma-3-27b'][@data-column='eng']")
    assert not {"data-model", "data-lang"} & {*cell.attrib}
    assert names.met["lang"] == {"eng": "English"}
    two = {"lang": ["eng", "deu"], "model": "gemma-3-27b"}
    assert names.about(two, ("table3", "gemma-3-27b", "eng")) == {"data-lang": "eng deu"}


# Products


def recorded(path, inputs, verb="judge"):
    """A file with a record that says it was made from others."""
    path.write_text(path.name)
    record = {
        "verb": verb,
        "code": "c0de",
        "inputs": [{"path": str(p), "sha256": sha256_of(p), "bytes": 1} for p in inputs],
        "outputs": [{"path": str(path), "sha256": sha256_of(path), "bytes": 1}],
        "params": {},
        "packages": {},
        "sources": {},
        "host": {"platform": "here"},
        "notes": {"origin": "here"},
        "git": {"commit": "abc", "clean": True},
        "started": "2026-01-01T00:00:00",
        "ended": "2026-01-01T00:00:00",
    }
    path.with_name(f"{path.name}.prov.json").write_text(json.dumps(record))
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
    assert products.jobs[0][5] == {"origin": "here"}
    # A product that was made anew has no job any more, and a file without a record no products.
    record = json.loads((tmp_path / "first.prov.json").read_text())
    record["outputs"][0]["sha256"] = "0" * 64
    (tmp_path / "first.prov.json").write_text(json.dumps(record))
    products = Products()
    products.add(second)
    assert [p[2] for p in products.products if p[0].endswith("first")] == [-1]
    assert Products().add(source) is None


# Side by side


def beside(number, **facts):
    """What stands in each line for a printed number with some facts."""
    row = number.row.model_copy(update={"text": "90.2", "value": 90.2, "unit": "%"})
    return lines_of(replace(number, row=row, status="not recomputable", recomputed=None, **facts))


def test_a_measured_number_stands_with_its_difference_and_what_else_differs(evidence):
    number = evidence["table3", "gemma-3-27b", "all"]
    facts = {"measured": 54.1, "low": 50.0, "high": 58.0, "verdict": "not comparable"}
    lines = beside(number, **facts, differs="3 of 101 languages")
    assert lines["measured"].text == "54.1"
    assert lines["difference"].text == "−36.1"
    assert lines["difference"].small == "[−40.2, −32.2] 3 of 101 languages"
    assert [*beside(number, verdict="not run")] == ["printed"]


def test_statements_stand_one_under_the_other_with_a_column_for_each_form(form, evidence, names):
    sparse = {
        (exhibit, f"{row} {column}", f"{column} of {row}"): number
        for (exhibit, row, column), number in evidence.items()
        if exhibit == "table3"
    }
    table = ElementTree.fromstring(together_view("table3", {}, sparse, names))
    heads = ["".join(th.itertext()) for th in table.iterfind(".//thead//th")]
    assert heads == ["printed", "recomputed"]
    assert len(table.findall(".//tbody/tr")) == len(sparse)


def form_of(table, places):
    """A form with a table, whose cells are these places of the exhibit "text"."""
    cells = [Cell({}, [], ("text", *place), None) for place in places]
    return Form(
        "text", "published", ElementTree.fromstring(table), cells, Path("text"), figure=False
    )


ALIKE = """<figure><table>
<tr><td/><th scope="col">Top 5</th><th scope="col">Top 5</th><th scope="col">Last</th></tr>
<tr><th scope="row">English</th><td data-cell="0"/><td data-cell="1"/><td data-cell="2"/></tr>
</table></figure>"""
STATEMENTS = """<figure><table>
<tr><td/><th scope="col">Printed</th></tr>
<tr><th scope="row">Languages</th><td data-cell="0"/></tr>
<tr><th scope="row">Pairs in all languages</th><td data-cell="1"/></tr>
</table></figure>"""


def test_headings_that_two_columns_share_give_way_to_the_keys(names):
    places = [("eng", "first_letter"), ("eng", "first_word"), ("eng", "last_word")]
    labels = Headings([form_of(ALIKE, places)], names)
    assert [labels.of(("text", *place))[1] for place in places] == [
        "first letter",
        "first word",
        "Last",
    ]


def test_a_statement_is_called_as_its_row_in_the_exhibit(names):
    places = [("size", "languages"), ("size", "pairs")]
    labels = Headings([form_of(STATEMENTS, places)], names)
    assert labels.statement(("text", *places[0])) == "Languages"
    assert labels.statement(("text", *places[1])) == "Pairs in all languages"
    assert labels.statement(("text", "size", "unknown")) == "size: unknown"


def test_a_column_is_called_by_both_lines_of_its_heading_and_a_section_begins_anew():
    table = ElementTree.fromstring(
        "<table><thead><tr><td/><th colspan='2' scope='colgroup'>EN</th></tr>"
        "<tr><th scope='col'/><th scope='col'>a</th><th scope='col'>b</th></tr></thead>"
        "<tbody><tr><th scope='row'>x</th><td data-cell='0'/><td data-cell='1'/></tr></tbody>"
        "<tbody><tr><th scope='col'/><th scope='col'>c</th></tr>"
        "<tr><th scope='row'>y</th><td data-cell='2'/></tr></tbody></table>"
    )
    assert [*headings_of(table)] == [(0, "x", "EN a"), (1, "x", "EN b"), (2, "y", "c")]
