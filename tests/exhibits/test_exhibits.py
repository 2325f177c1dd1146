"""Test exhibits as files: texts of each format, unusual labels, same bytes, and titles."""

import ast
import io
import re
from dataclasses import replace
from importlib import import_module
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from hypothesis import given
from hypothesis import strategies as st
from jinja2.meta import find_referenced_templates, find_undeclared_variables
from markdown_it import MarkdownIt
from matplotlib.figure import Figure
from pydantic import TypeAdapter, ValidationError

from blimpworks.benchmarks.exhibits.heat_maps import Names
from blimpworks.campaign.load import campaign_model
from blimpworks.campaign.paper import FORMATS
from blimpworks.campaign.registry import exhibits, exhibits_to_make, find_exhibit, papers
from blimpworks.commands.declare import find_command
from blimpworks.errors import UserError
from blimpworks.exhibits import exhibit as exhibit_module
from blimpworks.exhibits import fonts
from blimpworks.exhibits import render as rendering
from blimpworks.exhibits.exhibit import Cell, Document, Exhibit, Labels, Section, sheets
from blimpworks.exhibits.formulas import Formula
from blimpworks.exhibits.shared import best_of_each
from blimpworks.exhibits.style import BARS, POINTS, frame_of, house_style, new_figure, with_ends
from blimpworks.papers.blimp.exhibits.figures import draw_groups
from blimpworks.records.job import Job
from blimpworks.records.reading import record_of
from blimpworks.report.pages import _escape_rst
from blimpworks.strict import DrawnLabel, Label
from support.latex import lacking, overfull_lines


def cell(row, column, value=1.0, **more):
    fields = {"text": f"{value:g}", "formula": Formula("f", len), "source": "items"}
    return Cell(row, column, value, **(fields | {"where": {"lang": row}} | more))


SMALL = Exhibit(
    "Under_score & 50 %",
    "A caption with $ and #.",
    [
        cell("A_1", "x|y", 1 / 3, text="0.3", where={"lang": "a"}, stands_for=("cym", "pairs")),
        cell("A_1", "z~", 2.0, text="2.0", where={"lang": "a"}),
        cell("{B}^\\", "x|y", 4.0, text="4.0", where={"lang": "b"}),
    ],
    row_title="Row",
    stub={"A_1": {"ISO": "a&b"}, "{B}^\\": {"ISO": "c"}},
    bold={("A_1", "z~")},
)
CSV = "Row,ISO,x|y,z~\nA_1,a&b,0.333333333333333,2.0\n{B}^\\,c,4.0,\n"
MARKDOWN = r"""# Under_score & 50 %

| Row   | ISO   |   x\|y |      z~ |
|:------|:------|-------:|--------:|
| A_1   | a&b   |    0.3 | **2.0** |
| {B}^\ | c     |    4.0 |       – |

A caption with $ and #.
"""
LATEX = r"""\begin{table}
\centering\small
\sisetup{mode=text,detect-weight,group-minimum-digits=99}
\begin{adjustbox}{max width=\columnwidth,max totalheight=0.8\textheight}
\begin{tabular}{llS[table-format=1.1]S[table-format=1.1]}
\toprule
Row & ISO & {x\textbar{}y} & {z\textasciitilde{}} \\
\midrule
A\_1 & a\&b & 0.3 & \bfseries 2.0 \\
\{B\}\textasciicircum{}\textbackslash{} & c & 4.0 & {--} \\
\bottomrule
\end{tabular}
\end{adjustbox}
\caption{Under\_score \& 50 \%. A caption with \$ and \#.}
\end{table}
"""


@pytest.mark.parametrize(
    ("writer", "text"),
    [(rendering.csv_text, CSV), (rendering.markdown_text, MARKDOWN), (rendering.latex_text, LATEX)],
)
def test_a_table_has_its_values_to_fifteen_digits_or_as_printed(writer, text):
    assert writer(SMALL) == text


@pytest.mark.parametrize(
    ("texts", "alignment"),
    [
        (("−0.25", "12.5", "–"), "S[table-format=-2.2]"),
        (("12", "7", "1,234"), "r"),
        (("12.5", "1,234.5"), "r"),
        (("12.5", "7 of 9"), "r"),
        (("–", "–"), "r"),
    ],
)
def test_columns_of_decimal_numbers_alone_are_aligned_at_the_point(texts, alignment):
    cells = [cell(str(n), "x", text=text) for n, text in enumerate(texts)]
    text = rendering.latex_text(Exhibit("Title", "Caption.", cells))
    assert rf"\begin{{tabular}}{{l{alignment}}}" in text


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_table_has_the_columns_of_its_widest_section(order):
    cells = [cell(row, column) for row in "rs" for column in ("x", "y", "z")]
    parts = [Section("P", {"r": "r"}, ["x"]), Section("Q", {"s": "s"}, ["x", "y", "z"])]
    exhibit = Exhibit("T", "C", cells, row_title="Row", sections=[parts[i] for i in order])
    assert r"\begin{tabular}{lrrr}" in rendering.latex_text(exhibit)
    rows = ElementTree.fromstring(rendering.html_text(exhibit)).iter("tr")
    assert {sum(int(td.get("colspan", 1)) for td in row) for row in rows} == {4}


def test_an_exhibit_as_data_is_read_as_the_sheets_that_were_written(tmp_path):
    path = tmp_path / "small.json"
    rendering.render(SMALL, [path])
    assert exhibit_module.read_document(path) == Document(SMALL.title, SMALL.caption, sheets(SMALL))


def test_the_best_as_printed_are_all_those_that_tie():
    cells = [cell("a", "x", 50.01), cell("a", "y", 50.04), cell("b", "x", 1.0), cell("b", "z", 2.0)]
    assert best_of_each(cells, {"x", "y"}) == {("a", "x"), ("a", "y"), ("b", "x")}
    # Correlations can be negative, or not defined.
    minus = [replace(cells[0], column=name, value=v) for name, v in (("x", np.nan), ("y", -0.5))]
    assert best_of_each(minus, {"x", "y"}) == {("a", "y")}


def test_a_number_in_html_carries_its_place_and_the_keys_of_the_printed_one():
    page = ElementTree.fromstring(rendering.html_text(SMALL))
    numbers = page.findall(".//td[@data-cell]")
    keys = [(td.get("data-cell"), td.get("data-row"), td.get("data-column")) for td in numbers]
    assert keys == [("0", "cym", "pairs"), ("1", "A_1", "z~"), ("2", "{B}^\\", "x|y")]
    assert [th.text for th in page.findall(".//th[@scope='row']")] == ["A_1", "{B}^\\"]
    others = [td.text for td in page.findall(".//tbody//td") if not td.get("data-cell")]
    assert others == ["a&b", "c", "–"]
    assert [strong.text for strong in page.findall(".//td/strong")] == ["2.0"]


def test_sections_in_html_are_bodies_of_their_own_with_headings_where_columns_change():
    sections = [Section("First", {"a": "A"}, ["x"]), Section("Second", {"b": "B"}, ["y"])]
    heads = {"x": ("Over", "x"), "y": ("Over", "y")}
    exhibit = Exhibit("", "", [cell("a", "x"), cell("b", "y")], heads=heads, sections=sections)
    first, second = ElementTree.fromstring(rendering.html_text(exhibit)).findall(".//tbody")
    assert first.find("tr/th[@scope='colgroup']") is None
    assert second.findtext("tr/th[@scope='colgroup']") == "Over"
    assert [th.text for th in second.findall("tr/th[@scope='col']")] == ["Second", "y"]


def test_a_figure_in_html_is_its_picture_with_its_numbers_as_a_table_under_it(tmp_path):
    drawn = Exhibit("Dots", "Some dots.", [cell("Welsh", "n", 3)], figure=new_figure(2, 2))
    rendering.render(drawn, [tmp_path / "dots.svg", tmp_path / "dots.html"])
    page = ElementTree.parse(tmp_path / "dots.html")
    assert (tmp_path / page.find(".//img").get("src")).is_file()
    assert page.findtext(".//details//td[@data-cell='0']") == "3"
    assert "Some dots." in "".join(page.find(".//figcaption").itertext())


def test_an_accuracy_over_few_pairs_shows_pairs_and_ties():
    few, enough = rendering.ENOUGH_PAIRS - 1, rendering.ENOUGH_PAIRS
    numbers = {"a": (4, 4), "b": (few, 1), "c": (few, 0), "d": (enough, 9), "e": (4, None)}
    cells = [cell("r", name, 50, n=n, ties=ties) for name, (n, ties) in numbers.items()]
    exhibit = Exhibit("Accuracies", "By paradigm.", cells)
    drawn = Exhibit("A figure", "By paradigm.", cells[:1], figure=Figure())
    rendering.show_few_pairs(exhibit)
    rendering.show_few_pairs(drawn)
    texts = ["50 (n = 4, 4 ties)", "50 (n = 29, 1 tie)", "50 (n = 29)", "50", "50"]
    assert [each.text for each in exhibit.cells] == texts
    assert exhibit.caption == f"By paradigm. {rendering.EXPLANATION}"
    assert (drawn.cells[0].text, drawn.caption) == ("50", "By paradigm.")


@pytest.mark.parametrize("suffix", FORMATS["figure"])
def test_a_figure_drawn_and_rendered_twice_has_the_same_bytes(tmp_path, suffix):
    files = [tmp_path / name / f"bars.{suffix}" for name in ("first", "second")]
    for file in files:
        figure = new_figure(3, 2)
        figure.subplots().bar(["a", "b"], [1, 2])
        rendering.render(Exhibit("Bars", "", [cell("a", "n", 1)], figure=figure), [file])
        mpl.rcdefaults()
    first, second = (file.read_bytes() for file in files)
    assert first == second
    assert len(first) > 100


def test_exhibits_that_cannot_be_built_say_why(tmp_path):
    spec, out = find_exhibit("multiblimp/table2"), tmp_path / "c"
    with pytest.raises(UserError, match="exhibit multiblimp/table2 needs items"):
        rendering.build_exhibit(spec, {}, Labels({}), out, [])
    with pytest.raises(UserError, match=r"exhibit 'x/y' is unknown; expected one of mult"):
        find_exhibit("x/y")


ASKED = {"annotations": (Path("p01.csv"),)}
OF_ANNOTATORS = {"table52", "table53", "agreement", "agreement_tasks"}


def names_of(evaluated, benchmark, **settings):
    campaign = campaign_model()(campaign="x", **settings)
    specs = exhibits_to_make([benchmark], campaign, evaluated=evaluated)
    assert {spec.paper for spec in specs} == {benchmark}
    return {spec.name for spec in specs}


@pytest.mark.parametrize(
    ("evaluated", "benchmark", "settings", "more"),
    [
        (["urblimp"], "urblimp", {"urblimp": ASKED}, {"table9", "validation"}),
        ([], "urblimp", {"urblimp": ASKED}, {"table9", "validation"}),
        (["lmentry"], "lmentry", {"lmentry": ASKED}, OF_ANNOTATORS),
        (["blimp", "blimp_generated"], "blimp", {}, {"generated"}),
    ],
)
def test_some_exhibits_need_people_or_two_sets(evaluated, benchmark, settings, more):
    assert names_of(evaluated, benchmark, **settings) - names_of(evaluated[:1], benchmark) == more


def test_a_campaign_without_models_has_the_exhibits_of_its_data():
    assert names_of([], "urblimp") == {"table1", "table2", "table10", "rules", "samples"}
    numbered = {*(f"table{n}" for n in (*range(1, 9), 10)), "fig1", "fig2", "text", "tests"}
    own = {"rules", "samples", "lengths", "lengths_fig", "examples_fig"}
    assert names_of(["urblimp"], "urblimp") == numbered | own
    assert exhibits_to_make((), campaign_model()(campaign="x"), evaluated=()) == []
    assert all(key == spec.key for key, spec in exhibits().items())


LABELS = [
    *("{id}", r"$\x$", "<script>alert(1)</script>", "100 % of a_b & c|d", "_hidden_ *bold* `code`"),
    *("a\nb", r"[x](http://y) ~~z~~ \textbf{w}", "&amp; {{ 7 * 7 }}", "*star", "<*<*<"),
]
SHOWN = [" ".join(label.split()) for label in LABELS]


def table_of(labels):
    cells = [cell(row, column, text="1.0", where={}) for row in labels for column in labels]
    return Exhibit(labels[0], f"Of {labels[0]}.", cells, row_title="Row")


@given(
    st.lists(st.text("ab1$_*|\\`<>&[]()~{}% \n", min_size=1, max_size=9), min_size=1, max_size=3)
)
def test_markdown_shows_any_label_as_it_is(labels):
    labels = [f"x{label}y" for label in dict.fromkeys(labels)]
    parser = MarkdownIt("commonmark").enable("table").enable("strikethrough")
    tokens = parser.parse(rendering.markdown_text(table_of(labels)))
    inline = [token.children for token in tokens if token.type == "inline"]
    assert {child.type for children in inline for child in children} <= {"text", "text_special"}
    title, *texts = ["".join(child.content for child in children) for children in inline]
    shown = [re.sub(r"\s*\n\s*", " ", label) for label in labels]
    assert title == shown[0]
    assert texts[1 : len(shown) + 1] == shown


def test_html_and_csv_show_labels_as_they_are():
    page = rendering.html_text(table_of(LABELS))
    assert "<script" not in page
    rows = ElementTree.fromstring(page).findall(".//th[@scope='row']")
    assert [" ".join(th.text.split()) for th in rows] == SHOWN
    frame = pd.read_csv(io.StringIO(rendering.csv_text(table_of(LABELS))))
    assert list(frame.columns)[1:] == list(frame.iloc[:, 0]) == LABELS
    with pytest.raises(UserError, match="two columns are called 'Row'"):
        rendering.csv_text(table_of(["Row"]))
    with pytest.raises(UserError, match="row 'a' has 4 numbers in column 'a'"):
        rendering.csv_text(table_of(["a", "a"]))
    with pytest.raises(UserError, match="two columns are called 'n'"):
        rendering.csv_text(replace(table_of(["n"]), stub={"n": {"n": "7"}}))


def test_latex_has_no_sign_of_a_label_that_means_anything():
    lines = rendering.latex_text(table_of(LABELS)).splitlines()
    rows = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(rows) == len(LABELS)
    escaped = re.compile(r"\\[&%$#_{}]|\\text\w+\{\}|\{\}")
    for row in rows:
        assert row.count(" & ") == len(LABELS)
        assert not row.startswith(("[", "*"))
        bare = escaped.sub("", row.removesuffix(r" \\").replace(" & ", ""))
        assert not set(bare) & set("&%$#_{}\\~^|<>")


def test_figures_show_labels_as_they_are(tmp_path):
    figure = Figure(figsize=(6, 6))
    axes = figure.add_subplot()
    axes.barh(LABELS, range(1, len(LABELS) + 1))
    axes.set(title=r"$\x$", xlabel=r"$\y$ and {id}", xscale="log")
    axes.text(2, 2, r"$\frac$")
    files = [tmp_path / f"f.{suffix}" for suffix in ("svg", "pdf", "png")]
    rendering.render(Exhibit("A figure", "", [], figure=figure), files)
    assert all(file.stat().st_size for file in files)
    texts = [each.text for each in ElementTree.parse(files[0]).iter() if each.text]
    shown = " ".join(" ".join(texts).split())
    assert all(part in shown for label in LABELS for part in label.split("\n"))
    assert r"$\frac$" in shown
    assert "mathdefault" not in shown


@pytest.mark.parametrize("title", [*SHOWN, "- a", "1. a", "a) b", ".. a", ":a: b", "==", "Ö. b"])
def test_no_title_of_the_report_means_anything_to_sphinx(title):
    docutils = pytest.importorskip("docutils.core")
    text = f"{_escape_rst(title)}\n{'=' * 4 * len(title)}\n\nText.\n"
    quiet = {"report_level": 1, "halt_level": 2, "warning_stream": io.StringIO()}
    tree = docutils.publish_doctree(text, settings_overrides={"doctitle_xform": False, **quiet})
    [section] = tree.children
    assert section.children[0].astext() == title


def test_a_label_is_one_line_without_control_characters_that_legends_do_not_leave_out():
    read = TypeAdapter(Label).validate_python
    assert read(" a \n b\t") == "a b"
    with pytest.raises(ValidationError, match="without control characters"):
        read("a\x00b")
    with pytest.raises(ValidationError, match="must not begin with '_'"):
        TypeAdapter(DrawnLabel).validate_python("_hidden_")


FUNCTIONS = [spec.function for paper in papers().values() for spec in paper.exhibits]


@pytest.mark.parametrize("room", sorted({name.rpartition(".")[0] for name in FUNCTIONS}))
def test_calls_give_the_values_that_their_texts_need_and_no_description_is_left_over(room):
    module = import_module(room)
    entries, environment = module.describe.entries, module.describe.environment

    def values_of(text):
        tree = environment.parse(text)
        included = (entries[key]["caption"] for key in find_referenced_templates(tree))
        return find_undeclared_variables(tree).union(*map(values_of, included))

    paths = Path(str(module.__file__)).parent.glob("*.py")
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text()))]
    texts = [text for entry in entries.values() for text in entry.values()]
    parts = {key for t in texts for key in find_referenced_templates(environment.parse(t))}
    assert {*entries} <= {n.value for n in nodes if isinstance(n, ast.Constant)} | parts
    for node in nodes:
        if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "describe"):
            continue
        keys = {n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant)}
        texts = [text for key in keys for text in entries[key].values()]
        needed = {name for text in texts for name in values_of(text)}
        values = {keyword.arg for keyword in node.keywords}
        # Values that a function passes with "**" have no names here.
        rest = needed - values if None in values else set()
        assert not keys or needed - rest == values - {None}, keys


URDU, HINDI = "لڑکی نے کتاب پڑھی ہے اور اب سو رہی ہے", "लड़की ने किताब पढ़ी है और अब सो रही है"


def texts(rows):
    long = "{long_name_without_any_space_at_all}"
    both = {"Urdu": f"{URDU} {long}", "Hindi": f"{HINDI} {long}"}
    cells = [cell(str(n), name, text=both[name]) for n, name in product(range(rows), both)]
    widths = {"Urdu": 0.3, "Hindi": 0.3}
    return Exhibit("Texts", "A caption.", cells, row_title="n", textual=True, widths=widths)


@pytest.mark.slow
@pytest.mark.skipif(bool(lacking()), reason=lacking())
def test_tables_of_texts_in_urdu_and_hindi_fit_the_page(tmp_path):
    path = tmp_path / "texts.tex"
    path.write_text(rendering.latex_text(texts(60)), encoding="utf-8")
    assert overfull_lines([path], tmp_path) == {}


def test_names_have_a_font_for_each_script_and_numbers_where_there_is_none(monkeypatch):
    known = {"THAI": "Loma", "DEVANAGARI": "Lohit Devanagari"}
    by_script = lambda texts: known.get(fonts.script_of(fonts.letters_of(texts)))  # noqa: E731
    monkeypatch.setattr(fonts, "font_for", by_script)
    names = Names.of(["eng", "ไทย", "किताब", "ខ្មែរ"])
    assert names.families == ("DejaVu Sans", "Lohit Devanagari", "Loma")
    assert [*names.texts.values()] == ["eng", "ไทย", "किताब", "1"]
    assert names.numbered == ["1 ខ្មែរ"]


@pytest.mark.parametrize(
    ("names", "packages"),
    [
        (["ខ្មែរ", "தமிழ்", "ไทย"], ["fonts-noto-core"]),
        (["日本語。", "かな", "한국어"], ["fonts-noto-cjk"]),
        (["किताब", "日本"], ["fonts-lohit-deva", "fonts-noto-cjk"]),
    ],
)
def test_a_figures_record_names_fonts_it_lacks(names, packages, tmp_path, monkeypatch, caplog):
    manager = fonts.font_manager
    bundled = [font for font in manager.fontManager.ttflist if font.name == "DejaVu Sans Mono"]
    monkeypatch.setattr(manager.fontManager, "ttflist", bundled)
    monkeypatch.setattr(manager, "findSystemFonts", list)
    output = tmp_path / "figure.txt"
    with Job(find_command("judge"), inputs=[], outputs=[output], params={}):
        families, absent = fonts.families_for(fonts.letters_of(names))
        output.write_text("drawn")
    assert (families, absent) == ([], fonts.letters_of(names))
    assert record_of(output)["notes"][fonts.WANTED] == packages
    assert all(package in caplog.text for package in packages)


# The interval of a mean over paradigms is that of all pairs, and need not contain the mean.
ENDS = {"a": (60.0, 55.0, 70.0), "b": (80.0, 81.0, 90.0), "c": (40.0, None, None)}
CELLS = [cell(row, "m", value, low=low, high=high) for row, (value, low, high) in ENDS.items()]


def intervals(lines):
    ends = [np.asarray(line.get_ydata(), dtype=float) for line in lines]
    return [(end.min(), end.max()) for end in ends if len(end) and not np.isnan(end).any()]


@pytest.mark.parametrize(
    ("plot", "settings", "values"),
    [
        (sns.barplot, BARS, lambda axes: [bar.get_height() for bar in axes.patches]),
        (sns.pointplot, POINTS, lambda axes: [*axes.lines[0].get_ydata()]),
    ],
)
def test_bars_and_points_stand_at_their_values_with_the_cells_intervals(plot, settings, values):
    bare = frame_of(CELLS)
    for frame, ends in ((with_ends(bare), [(55.0, 70.0), (81.0, 90.0)]), (bare, [])):
        with house_style():
            axes = new_figure(3, 2).subplots()
            plot(frame, x="row", y="value", ax=axes, **settings)
        assert values(axes) == [60.0, 80.0, 40.0]
        assert intervals(axes.lines[plot is sns.pointplot :]) == ends


def test_a_group_that_a_series_lacks_stays_empty_and_keeps_the_others_in_place():
    with house_style():
        axes = new_figure(3, 2).subplots()
        series = {"first": [CELLS[1]], "none": [], "last": [CELLS[0], CELLS[1]]}
        draw_groups(axes, ["a", "b"], series, width=3)
    place = {
        bars.get_label(): [round(bar.get_x() + bar.get_width() / 2, 2) for bar in bars]
        for bars in axes.containers
    }
    assert place["first"] == [0.73]
    assert place["last"] == [0.27, 1.27]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["a", "b"]
