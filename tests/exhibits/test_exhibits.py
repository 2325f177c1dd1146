"""Exhibits: their cells from small tables, their text, and the same bytes each time."""

from dataclasses import replace

import matplotlib as mpl
import pyarrow as pa
import pyarrow.csv
import pytest

from blimpworks.campaign.exhibit_spec import FORMATS
from blimpworks.campaign.exhibits import exhibits, find_exhibit, of_benchmarks
from blimpworks.campaign.load import campaign_model
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import Formula
from blimpworks.exhibits.latex import latex_text
from blimpworks.exhibits.render import build_exhibit, csv_text, markdown_text, render
from blimpworks.papers.multiblimp.exhibits.data import funnel
from blimpworks.papers.multiblimp.exhibits.evaluation import table5
from blimpworks.papers.multiblimp.exhibits.languages import fig3
from blimpworks.tables import ACCURACIES, CELLS, FUNNEL, ITEMS, read_table, write_table

METHOD = "full_sentence"
F = Formula("f", len)
LABELS = Labels(
    {"cym": "Welsh", "wol": "Wolof", "eng": "English"},
    {"a": "Model A", "b": "Model B"},
    method=METHOD,
)
TEXT = {"phenomenon": "sv#", "paradigm": "p", "good": "g", "bad": "b"}
ORIGIN = {"treebank": "T", "file": "f", "sent_id": "s"}
SPANS = dict.fromkeys(("good_start", "good_end", "bad_start", "bad_end"), 0)

CAMPAIGN = campaign_model()(campaign="x")


@pytest.fixture
def items(tmp_path):
    """Write items: each (count, lang, grammatical, order, label) stands for so many rows."""

    def write(*groups):
        rows = [
            {
                "item_id": f"{g}-{i}",
                "lang": lang,
                **TEXT,
                **SPANS,
                **ORIGIN,
                "grammatical": value,
                "order": order,
                "label": label,
            }
            for g, (count, lang, value, order, label) in enumerate(groups)
            for i in range(count)
        ]
        path = tmp_path / "items.parquet"
        write_table(pa.Table.from_pylist(rows), ITEMS, path)
        return {"items": [path]}

    return write


def values(exhibit, **where):
    chosen = (
        cell
        for cell in exhibit.cells
        if all(getattr(cell, name) == value for name, value in where.items())
    )
    return {cell.column: cell.value for cell in chosen}


@pytest.fixture
def accuracies(tmp_path):
    def write(*rows):
        path = tmp_path / "accuracies.parquet"
        full = [
            {
                "benchmark": "multiblimp",
                "model": model,
                "lang": lang,
                "phenomenon": phenomenon,
                "paradigm": "all",
                "method": method,
                "correct": accuracy * n,
                "n": n,
                "skipped": 0,
                "ties": 0,
                "near_ties": 0,
                "accuracy": accuracy,
                "low": accuracy - 0.1,
                "high": accuracy + 0.1,
            }
            for lang, model, phenomenon, accuracy, n, method in ((*row, METHOD)[:6] for row in rows)
        ]
        write_table(pa.Table.from_pylist(full, schema=ACCURACIES.arrow()), ACCURACIES, path)
        sizes = {lang: max(row[4] for row in rows if row[0] == lang) for lang, *_ in rows}
        return {"accuracies": [path], "items": [pairs(lang, n) for lang, n in sizes.items()]}

    def pairs(lang, n):
        """A language's items, as many as the model with the most judgements has judged."""
        path = tmp_path / f"{lang}.parquet"
        rows = [{"item_id": str(i), "lang": lang, **TEXT, **SPANS, **ORIGIN} for i in range(n)]
        write_table(pa.Table.from_pylist(rows), ITEMS, path)
        return path

    return write


def test_table5_has_languages_and_models_in_print_order_with_intervals(accuracies):
    tables = accuracies(
        ("wol", "b", "all", 0.5, 8),
        ("wol", "a", "all", 0.75, 8),
        ("cym", "b", "all", 0.875, 16),
        ("cym", "a", "all", 0.5, 16),
        ("cym", "a", "sv#", 0.25, 16),
        ("cym", "a", "all", 0.125, 16, "another method"),
        ("deu", "a", "all", 0.1, 16),
    )
    exhibit = table5(tables, LABELS)
    layout = exhibit.layout()
    assert list(layout.columns) == ["Language", "ISO", "n", "Model A", "Model B"]
    assert layout.to_numpy().tolist() == [
        ["Welsh", "cym", "16", "50.0", "87.5"],
        ["Wolof", "wol", "8", "75.0", "50.0"],
    ]
    first = next(cell for cell in exhibit.cells if cell.column == "Model A")
    assert (first.low, first.high) == (40, 60)


def test_table5_sets_the_best_of_each_row_in_bold_and_all_of_them_when_they_tie(accuracies):
    tables = accuracies(
        ("cym", "a", "all", 0.5, 4),
        ("cym", "b", "all", 0.5, 4),
        ("wol", "a", "all", 0.25, 4),
        ("wol", "b", "all", 0.5, 4),
    )
    assert table5(tables, LABELS).bold == {
        ("Welsh", "Model A"),
        ("Welsh", "Model B"),
        ("Wolof", "Model B"),
    }


def test_fig3_counts_certain_and_uncertain_pairs_of_each_language(items):
    tables = items(
        (3, "cym", "SG", "SV", "+"), (2, "cym", "PL", "SV", "~"), (4, "wol", "SG", "SV", "?")
    )
    exhibit = fig3(tables, LABELS)
    assert values(exhibit, row="Welsh") == {"certain": 5, "uncertain": 0}
    assert values(exhibit, row="Wolof") == {"certain": 0, "uncertain": 4}
    assert values(exhibit, row="English") == {"certain": 0, "uncertain": 0}
    ticks = [label.get_text() for label in exhibit.figure.axes[0].get_xticklabels()]
    assert ticks == ["Welsh", "Wolof"]


def test_the_funnel_keeps_the_order_of_its_stages(tmp_path):
    path = tmp_path / "funnel.parquet"
    rows = {
        "lang": ["cym"] * 3,
        "stage": ["candidates", "candidates", "pairs"],
        "reason": ["subjects", "- too long", "pairs"],
        "n": [9, 2, 5],
    }
    write_table(pa.table(rows), FUNNEL, path)
    exhibit = funnel({"funnel": [path]}, replace(LABELS, languages={"cym": "Welsh"}))
    frame = exhibit.layout("value")
    assert [*frame.columns[1:]] == [
        "candidates: subjects",
        "candidates: - too long",
        "pairs: pairs",
    ]
    assert frame.to_numpy().tolist() == [["All", 9, 2, 5], ["Welsh", 9, 2, 5]]


# Text

SMALL = Exhibit(
    "Under_score & 50 %",
    "A caption with $ and #.",
    [
        Cell("A_1", "x|y", 1 / 3, "0.3", F, "items", {"lang": "a"}),
        Cell("A_1", "z~", 2.0, "2.0", F, "items", {"lang": "a"}),
        Cell("{B}^\\", "x|y", 4.0, "4.0", F, "items", {"lang": "b"}),
    ],
    row_title="Row",
    stub={"A_1": {"ISO": "a&b"}, "{B}^\\": {"ISO": "c"}},
    bold={("A_1", "z~")},
)


def test_csv_has_values_to_fifteen_digits():
    assert csv_text(SMALL) == ("Row,ISO,x|y,z~\nA_1,a&b,0.333333333333333,2.0\n{B}^\\,c,4.0,\n")


def test_markdown_escapes_bars_and_marks_bold_and_absent_cells():
    assert markdown_text(SMALL) == (
        "# Under_score & 50 %\n\n"
        "| Row   | ISO   |   x\\|y |      z~ |\n"
        "|:------|:------|-------:|--------:|\n"
        "| A_1   | a&b   |    0.3 | **2.0** |\n"
        "| {B}^\\ | c     |    4.0 |       – |\n\n"
        "A caption with $ and #.\n"
    )


def test_latex_escapes_every_special_character():
    assert latex_text(SMALL) == "\n".join(
        [
            r"\begin{table}",
            r"\centering\small",
            r"\sisetup{mode=text,detect-weight,group-minimum-digits=99}",
            r"\begin{adjustbox}{max width=\columnwidth,max totalheight=0.8\textheight}",
            r"\begin{tabular}{llS[table-format=1.1]S[table-format=1.1]}",
            r"\toprule",
            r"Row & ISO & {x\textbar{}y} & {z\textasciitilde{}} \\",
            r"\midrule",
            r"A\_1 & a\&b & 0.3 & \bfseries 2.0 \\",
            r"\{B\}\textasciicircum{}\textbackslash{} & c & 4.0 & {--} \\",
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{adjustbox}",
            r"\caption{Under\_score \& 50 \%. A caption with \$ and \#.}",
            r"\end{table}",
            "",
        ]
    )


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
    cells = [Cell(str(n), "x", 1.0, text, F, "items", {}) for n, text in enumerate(texts)]
    exhibit = Exhibit("Title", "Caption.", cells)
    assert rf"\begin{{tabular}}{{l{alignment}}}" in latex_text(exhibit)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_latex_table_has_the_columns_of_its_widest_section(order):
    cells = [
        Cell(row, column, 1.0, "1", F, "items", {}) for row in "rs" for column in ("x", "y", "z")
    ]
    parts = [Section("P", {"r": "r"}, ["x"]), Section("Q", {"s": "s"}, ["x", "y", "z"])]
    exhibit = Exhibit("T", "C", cells, row_title="Row", sections=[parts[i] for i in order])
    assert r"\begin{tabular}{lrrr}" in latex_text(exhibit)


def test_the_cells_table_holds_filters_as_json():
    rows = SMALL.table().to_pylist()
    assert [r["filter"] for r in rows] == ['{"lang": "a"}', '{"lang": "a"}', '{"lang": "b"}']
    assert SMALL.table().schema.equals(CELLS.arrow())


# Files


@pytest.mark.parametrize("suffix", FORMATS["figure"])
def test_a_figure_drawn_and_rendered_twice_has_the_same_bytes(items, tmp_path, suffix):
    tables = items((3, "cym", "SG", "SV", "+"), (4, "wol", "SG", "SV", "?"))
    files = [tmp_path / name / f"fig3.{suffix}" for name in ("first", "second")]
    for file in files:
        render(fig3(tables, LABELS), [file])
        mpl.rcdefaults()
    first, second = (file.read_bytes() for file in files)
    assert first == second
    assert len(first) > 1000


def test_an_unknown_format_is_refused_and_leaves_no_file(tmp_path):
    with pytest.raises(KeyError):
        render(SMALL, [tmp_path / "small.doc"])
    assert list(tmp_path.iterdir()) == []


def test_an_exhibit_is_built_with_its_cells_and_all_its_formats(items, tmp_path):
    tables = items((10, "cym", "SG", "SV", "+"))
    outputs = [tmp_path / f"table2.{suffix}" for suffix in FORMATS["table"]]
    cells = tmp_path / "table2.cells.parquet"
    exhibit = build_exhibit(find_exhibit("multiblimp/table2"), tables, LABELS, cells, outputs)
    assert read_table(CELLS, cells).num_rows == len(exhibit.cells)
    assert all(path.stat().st_size for path in outputs)
    assert pa.csv.read_csv(outputs[0]).column_names[0] == "Agreement"


def test_an_exhibit_without_its_tables_says_what_it_needs(tmp_path):
    with pytest.raises(UserError, match="exhibit multiblimp/table2 needs items"):
        build_exhibit(find_exhibit("multiblimp/table2"), {}, LABELS, tmp_path / "c", [])


def test_an_unknown_exhibit_lists_those_there_are():
    with pytest.raises(UserError, match=r"no exhibit 'x/y'; there are: multiblimp/fig1"):
        find_exhibit("x/y")


def test_a_campaign_has_the_exhibits_of_its_benchmarks():
    exhibits = of_benchmarks(("multiblimp",), CAMPAIGN, evaluated=("multiblimp",))
    assert {spec.paper for spec in exhibits} == {"multiblimp"}
    assert of_benchmarks((), CAMPAIGN, evaluated=()) == []


def test_a_campaign_without_models_has_the_exhibits_of_its_data():
    names = {spec.name for spec in of_benchmarks(("multiblimp",), CAMPAIGN, evaluated=())}
    assert {"table2", "fig3", "regeneration"} < names
    assert not {"table3", "table5", "fig1", "fig7"} & names
    assert all(key == spec.key for key, spec in exhibits().items())


def test_table5_stars_an_accuracy_over_fewer_pairs_than_another_models(accuracies):
    tables = accuracies(("cym", "a", "all", 0.5, 4), ("cym", "b", "all", 0.5, 2))
    layout = table5(tables, LABELS).layout()
    assert layout.to_numpy().tolist() == [["Welsh", "cym", "4", "50.0", "50.0*"]]
