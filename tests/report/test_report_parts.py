"""Parts of the report: labels, tables with rows taken out, views of one exhibit, products."""

import json
from collections import Counter
from xml.etree import ElementTree

import pandas as pd
import pytest

from blimpworks.campaign.exhibits import exhibits
from blimpworks.errors import UserError
from blimpworks.exhibits.build import build_exhibit
from blimpworks.exhibits.exhibit import Labels
from blimpworks.files import sha256_of
from blimpworks.report.data import Products
from blimpworks.report.evidence import gather, read_comparison
from blimpworks.report.names import exhibit_label, names_from
from blimpworks.report.read import read_form, read_page
from blimpworks.report.states import STATUSES, bar
from blimpworks.report.views import plain_view, printed_view, recomputed_view, without
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


def texts(html):
    """Texts of numbers by the keys of the printed ones; others by the number of the cell."""
    cells = ElementTree.fromstring(html).iter("td")
    return {
        (td.get("data-row", ""), td.get("data-column", "")): "".join(td.itertext())
        for td in cells
        if td.get("data-row")
    }


def rows(html):
    return ["".join(th.itertext()) for th in ElementTree.fromstring(html).iterfind(".//tbody//th")]


# Labels


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("table3", "Table 3"),
        ("tableb2", "Table B.2"),
        ("fig6", "Figure 6"),
        ("text", "In the text"),
        ("text72_73", "In the text (7.2, 7.3)"),
        ("funnel", ""),
    ],
)
def test_an_exhibit_is_called_what_the_paper_calls_it(name, label):
    assert exhibit_label(name) == label


# Tables


TABLE = ElementTree.fromstring(
    "<table><thead><tr><td/><th colspan='2'>Both</th></tr>"
    "<tr><th/><th>a</th><th>b</th></tr></thead>"
    "<tbody><tr><th>x</th><td data-cell='0'>1</td><td data-cell='1'>2</td></tr>"
    "<tr><th>y</th><td data-cell='2'>3</td><td>–</td></tr></tbody></table>"
)


def left(dropped):
    kept = without(TABLE, lambda cell: cell.get("data-cell") in dropped)
    return kept if kept is None else ["|".join(row.itertext()) for row in kept.iter("tr")]


def test_rows_without_a_kept_number_go():
    assert left({"2"}) == ["Both", "a|b", "x|1|2"]


def test_columns_without_a_kept_number_go_and_headings_shrink():
    assert left({"1"}) == ["Both", "a", "x|1", "y|3"]
    kept = without(TABLE, lambda cell: cell.get("data-cell") == "1")
    assert kept.find(".//th[@colspan]").get("colspan") == "1"


def test_a_dropped_number_between_kept_ones_leaves_its_cell_empty():
    assert left({"0"}) == ["Both", "a|b", "x|2", "y|3|–"]


def test_a_table_without_any_kept_number_is_none():
    assert left({"0", "1", "2"}) is None


def test_a_page_that_is_missing_or_damaged_says_what_to_do(tmp_path):
    with pytest.raises(UserError, match=r"does not exist; .* Build the exhibit"):
        read_page(tmp_path / "table9.html")
    (tmp_path / "table9.html").write_text("<table><tr></table>")
    with pytest.raises(UserError, match="is not the page of an exhibit"):
        read_page(tmp_path / "table9.html")


# Views


def test_the_printed_view_has_the_printed_numbers_and_no_computed_rows(form, names):
    html = printed_view(form, names)
    assert texts(html)["gemma-3-27b", "eng"] == "98.6"
    assert rows(html) == ["Gemma3 27B", "Llama3 8B"]


def test_an_erratum_has_both_what_is_printed_and_what_it_should_read(form, names):
    table = ElementTree.fromstring(printed_view(form, names))
    (cell,) = table.findall(".//td[@data-s='erratum']")
    assert (cell.findtext(".//del"), cell.findtext(".//ins")) == ("99.4", "99.1")


def test_the_recomputed_view_has_what_other_numbers_make_of_it(form, names):
    html = recomputed_view(form, names)
    assert texts(html)["gemma-3-27b", "eng"] == "98.6"
    assert texts(html)["llama-3.1-8b", "eng"] == "99.1"
    states = {
        td.get("data-s") for td in ElementTree.fromstring(html).iter("td") if td.get("data-row")
    }
    assert {"exact", "erratum", "not recomputable"} >= states >= {"exact", "erratum"}


def test_printed_numbers_that_no_form_shows_stand_in_a_table_of_their_own(evidence, names):
    html = plain_view(None, "table5", evidence, names)
    assert texts(html)["eng", "llama-3.1-8b"] == "99.1"
    assert rows(html) == ["English"]


def test_a_number_says_which_language_and_model_it_is_about(form, names):
    table = ElementTree.fromstring(printed_view(form, names))
    cell = table.find(".//td[@data-row='gemma-3-27b'][@data-column='eng']")
    assert (cell.get("data-model"), cell.get("data-lang")) == ("gemma-3-27b", "eng")
    assert names.met["lang"] == {"eng": "English"}


def test_a_number_knows_the_line_that_it_stands_in(evidence):
    number = evidence["table5", "eng", "llama-3.1-8b"]
    assert number.where.endswith("tables.csv:8")


def test_a_comparison_that_is_missing_says_how_to_build_it(tmp_path):
    with pytest.raises(UserError, match="snakemake reproduction"):
        read_comparison(tmp_path / "published.csv", ())


# The front page


def test_a_bar_has_the_states_in_order_and_their_shares():
    parts = bar(Counter({"deviates": 1, "exact": 3}), STATUSES)
    assert [(part.state.name, part.count, part.share) for part in parts] == [
        ("exact", 3, 75),
        ("deviates", 1, 25),
    ]


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


def test_a_product_that_was_made_anew_has_no_job_any_more(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("words")
    first = recorded(tmp_path / "first", [source])
    second = recorded(tmp_path / "second", [first])
    record = json.loads((tmp_path / "first.prov.json").read_text())
    record["outputs"][0]["sha256"] = "0" * 64
    (tmp_path / "first.prov.json").write_text(json.dumps(record))
    products = Products()
    products.add(second)
    (job,) = [job for path, _, job, _ in products.products if path.endswith("first")]
    assert job == -1


def test_a_file_without_a_record_has_no_products(tmp_path):
    (tmp_path / "alone").write_text("")
    assert Products().add(tmp_path / "alone") is None
