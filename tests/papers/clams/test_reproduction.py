"""Test CLAMS's printed numbers beside the released evaluation sets and WALS."""

from collections import Counter

import pytest

from blimpworks.campaign.catalogue import SourceRow
from blimpworks.papers.clams.items.build import count_sets
from blimpworks.papers.clams.morphology import build_morphology
from blimpworks.reproduction.comparisons import recomputed_rows
from blimpworks.reproduction.printed import read_printed_numbers
from support import print_kit
from support.cells_kit import check_cells, sources_of
from support.mirror_kit import fetch, rows_of

# They share fixtures.
pytestmark = [pytest.mark.xdist_group("clams-release"), pytest.mark.mirror]

ROUNDED = [
    ("table1", "average", "fra clams-lstm-multi"),
    ("table4", "average", "eng clams-lstm-multi"),
    ("text", "LSTM, long VP and PP, German aside", "most"),
]


@pytest.fixture(scope="module")
def released(tmp_path_factory, mirror):
    """Build exhibits; return them, the paper that is compared, and the tables behind both."""
    root, sources = tmp_path_factory.mktemp("released"), rows_of(SourceRow, "sources.tsv")
    wals = {row.name: fetch(row, mirror, root) for row in sources if row.kind == "wals"}
    files = ("wals/raw/value.csv", "wals/raw/domainelement.csv", "wals/cldf/languages.csv")
    build_morphology(*(wals[name] for name in files), root / "morphology")
    sets = [(row.lang, fetch(row, mirror, root)) for row in sources if row.kind == "clams_set"]
    assert count_sets(sets, root / "sets") == 335_466, "not all released sets are whole"
    tables = print_kit.tables_of("clams", root) | {"morphology": [root / "morphology"]}
    tables["evaluation_sets"] = [root / "sets"]
    return *print_kit.build("clams", root, tables), sources_of(tables)


def of_status(rows, status, *columns):
    columns = ("exhibit", "row", "column", *columns)
    return [tuple(row[name] for name in columns) for row in rows if row["status"] == status]


def test_released_sets_and_wals_recompute_tables_6_and_7_and_the_correlations(released):
    rows = [*recomputed_rows(released[1])]
    counts = Counter((row["exhibit"], row["status"]) for row in rows)
    assert {key: n for key, n in counts.items() if key[0] in ("table6", "table7", "text")} == {
        **{("table6", "exact"): 35, ("table7", "exact"): 52, ("table7", "erratum"): 2},
        **{("text", "exact"): 16, ("text", "rounding"): 1, ("text", "erratum"): 3},
        ("text", "not recomputable"): 17,
    }
    printed = read_printed_numbers(print_kit.printed("clams"))
    faulty = [(*row.place.split("/"), row.corrected) for row in printed if row.fault == "erratum"]
    assert sorted(of_status(rows, "erratum", "corrected")) == sorted(faulty)
    assert of_status(rows, "rounding") == ROUNDED


def test_the_printed_correlation_with_capitals_is_what_keeping_hebrew_gives(released):
    exhibits, _, _ = released
    start = "Spearman's ρ of accuracy and morphological complexity: "
    correlations = {
        cell.row.removeprefix(start): cell.value
        for cell in exhibits["text"].cells
        if cell.column == "Recomputed" and cell.row.startswith(start)
    }
    expected = {"LSTM": 0.4, "LSTM, German aside": 1.0, "mBERT": -0.9, "LSTM with capitals": 0.4}
    expected |= {"LSTM with capitals, and Hebrew without": 0.2}
    assert correlations == pytest.approx(expected)


def test_complexity_ranks_the_five_languages_as_the_text_says(released):
    exhibits, _, _ = released
    complexities = {
        c.row: (c.value, c.n) for c in exhibits["fig3"].cells if c.column == "complexity"
    }
    assert {name: (round(value, 4), n) for name, (value, n) in complexities.items()} == {
        "English": (0.3293, 28),
        "German": (0.3970, 27),
        "French": (0.4341, 26),
        "Russian": (0.4534, 28),
        "Hebrew": (0.5291, 27),
    }


def test_every_cell_can_be_computed_again_from_its_rows(released):
    exhibits, _, tables = released
    cells = [cell for exhibit in exhibits.values() for cell in exhibit.cells]
    assert {cell.source for cell in cells} == set(tables)
    check_cells(cells, tables)


def test_no_two_numbers_of_an_exhibit_share_a_cell(released):
    """Table 7 has numbers of agreement and of reflexives for sentential complements."""
    exhibits, _, _ = released
    tables = {name: exhibit.layout("value") for name, exhibit in exhibits.items()}
    row = tables["table7"].set_index(tables["table7"].columns[0]).loc["In a sentential complement"]
    for column in ("English Mono", "English Mono, reflexives"):
        assert row[f"{column}, from the vocabulary"] == row[column]
