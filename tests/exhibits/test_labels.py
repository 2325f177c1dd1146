"""Labels that users write stand for themselves in every output, whatever signs they have."""

import io
import re
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from matplotlib.figure import Figure
from pydantic import TypeAdapter, ValidationError

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit
from blimpworks.exhibits.formulas import Formula
from blimpworks.exhibits.html import html_text
from blimpworks.exhibits.latex import latex_text
from blimpworks.exhibits.render import csv_text, markdown_text, render
from blimpworks.report.pages import _plain
from blimpworks.strict import DrawnLabel, Label

LABELS = [
    "{id}",
    r"$\x$",
    "<script>alert(1)</script>",
    "100 % of a_b & c|d",
    "_hidden_ *bold* `code`",
    "a\nb",
    r"[x](http://y) ~~z~~ \textbf{w}",
    "&amp; {{ 7 * 7 }}",
    "*star",
    "<*<*<",
]
FORMULA = Formula("a number", lambda rows: 1.0, (), True)
SHOWN = [" ".join(label.split()) for label in LABELS]


def table_of(labels):
    cells = [
        Cell(row, column, 1.0, "1.0", FORMULA, "items", {}) for row in labels for column in labels
    ]
    return Exhibit(labels[0], f"Of {labels[0]}.", cells, row_title="Row")


def markdown_cells(text):
    tokens = MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(text)
    inline = [token for token in tokens if token.type == "inline"]
    kinds = {child.type for token in inline for child in token.children}
    assert kinds <= {"text", "text_special"}
    return ["".join(child.content for child in token.children) for token in inline]


@given(
    st.lists(st.text("ab1$_*|\\`<>&[]()~{}% \n", min_size=1, max_size=9), min_size=1, max_size=3)
)
def test_markdown_shows_any_label_as_it_is(labels):
    labels = [f"x{label}y" for label in dict.fromkeys(labels)]
    title, *cells, _ = markdown_cells(markdown_text(table_of(labels)))
    shown = [re.sub(r"\s*\n\s*", " ", label) for label in labels]
    assert title == shown[0]
    assert cells[1 : len(shown) + 1] == shown


def test_html_shows_labels_as_they_are():
    page = html_text(table_of(LABELS))
    assert "<script" not in page
    root = ElementTree.fromstring(page)
    names = [" ".join(th.text.split()) for th in root.findall(".//th[@scope='row']")]
    assert names == SHOWN


def test_csv_keeps_labels_whole():
    frame = pd.read_csv(io.StringIO(csv_text(table_of(LABELS))))
    assert list(frame.columns)[1:] == LABELS
    assert list(frame.iloc[:, 0]) == LABELS


def test_latex_has_no_sign_of_a_label_that_means_anything():
    lines = latex_text(table_of(LABELS)).splitlines()
    rows = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(rows) == len(LABELS)
    escaped = re.compile(r"\\[&%$#_{}]|\\text\w+\{\}|\{\}")
    for row in rows:
        assert row.count(" & ") == len(LABELS)
        assert not row.startswith(("[", "*"))
        bare = escaped.sub("", row.removesuffix(r" \\").replace(" & ", ""))
        assert not set(bare) & set("&%$#_{}\\~^|<>")


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_figures_show_labels_as_they_are(tmp_path, suffix):
    figure = Figure(figsize=(6, 6))
    axes = figure.add_subplot()
    axes.barh(LABELS, range(1, len(LABELS) + 1))
    axes.set(title=r"$\x$", xlabel=r"$\y$ and {id}", xscale="log")
    axes.text(2, 2, r"$\frac$")
    exhibit = Exhibit("A figure", "", [], figure=figure)
    render(exhibit, [tmp_path / f"f.{suffix}"])
    assert (tmp_path / f"f.{suffix}").stat().st_size
    if suffix == "svg":
        texts = [each.text for each in ElementTree.parse(tmp_path / "f.svg").iter() if each.text]
        shown = " ".join(" ".join(texts).split())
        assert all(part in shown for label in LABELS for part in label.split("\n"))
        assert r"$\frac$" in shown
        assert "mathdefault" not in shown


@pytest.mark.parametrize("title", [*SHOWN, "- a", "1. a", "a) b", ".. a", ":a: b", "==", "Ö. b"])
def test_no_title_of_the_report_means_anything_to_sphinx(title):
    docutils = pytest.importorskip("docutils.core")
    text = f"{_plain(title)}\n{'=' * 4 * len(title)}\n\nText.\n"
    quiet = {"report_level": 1, "halt_level": 2, "warning_stream": io.StringIO()}
    tree = docutils.publish_doctree(text, settings_overrides={"doctitle_xform": False, **quiet})
    [section] = tree.children
    assert section.children[0].astext() == title


def test_a_label_is_one_line_without_control_characters():
    read = TypeAdapter(Label).validate_python
    assert read(" a \n b\t") == "a b"
    with pytest.raises(ValidationError, match="without control characters"):
        read("a\x00b")


def test_a_label_that_legends_leave_out_is_refused():
    with pytest.raises(ValidationError, match="must not begin with '_'"):
        TypeAdapter(DrawnLabel).validate_python("_hidden_")


def test_a_column_called_as_that_of_the_labels_is_refused():
    with pytest.raises(UserError, match="a column is called 'Row'"):
        csv_text(table_of(["Row"]))
