"""The figure of generated pairs against released ones, whose paradigms may differ."""

import pyarrow as pa
import pytest

from blimpworks.exhibits.exhibit import Labels
from blimpworks.papers.blimp.exhibits.predictors import generated
from blimpworks.tables import ACCURACIES, read_table, write_table
from support.blimp_kit import by_place, campaign, check_cells

LABELS = Labels({"eng": "English"}, {"a": "A"}, "full_sentence")


def rows_of(root, name):
    return read_table(ACCURACIES, campaign(root / name, {"a": 0.6})).to_pylist()


def make(root, released, own):
    paths = []
    for benchmark, rows in (("blimp", released), ("blimp_generated", own)):
        paths.append(root / f"{benchmark}.parquet")
        named = [row | {"benchmark": benchmark} for row in rows]
        write_table(pa.Table.from_pylist(named, schema=ACCURACIES.arrow()), ACCURACIES, paths[-1])
    return paths


def of_paradigms(rows, *uids):
    return [row for row in rows if row["paradigm"] in uids]


def cells_of(paths):
    return by_place(generated({"data_sets": paths}, LABELS))


def test_overall_is_the_mean_of_the_paradigms_that_both_sets_have(tmp_path):
    rows = rows_of(tmp_path, "a")
    uids = ("causative", "passive_1", "passive_2", "transitive")
    own = of_paradigms(rows, *uids, "wh_island")
    cells = cells_of(make(tmp_path, of_paradigms(rows, *uids, "causative", "inchoative"), own))
    assert cells["Overall", "A: released"].value == cells["Overall", "A: generated"].value
    assert cells["Overall", "A: released"].value == pytest.approx(
        sum(cells[uid, "A: released"].value for uid in uids) / 4
    )
    assert ("wh_island", "A: generated") in cells
    assert ("inchoative", "A: released") in cells
    assert cells["Overall", "A: r"].n == 4


@pytest.mark.slow
def test_a_paradigm_of_ones_own_is_shown_behind_the_papers(tmp_path):
    rows = rows_of(tmp_path, "a")
    mine = [row | {"paradigm": "of_mine"} for row in of_paradigms(rows, "causative")]
    paths = make(tmp_path, rows, rows + mine)
    cells = cells_of(paths)
    assert cells["of_mine", "A: generated"].value == cells["causative", "A: generated"].value
    assert ("of_mine", "A: released") not in cells
    (axes,) = generated({"data_sets": paths}, LABELS).figure.axes
    assert "of_mine" in {text.get_text() for text in axes.texts}


def test_sets_without_a_common_paradigm_have_no_overall(tmp_path):
    rows = rows_of(tmp_path, "a")
    sets = of_paradigms(rows, "causative"), of_paradigms(rows, "passive_1")
    assert {row for row, _ in cells_of(make(tmp_path, *sets))} == {"causative", "passive_1"}


def test_each_cell_can_be_computed_again_from_the_rows_it_selects(tmp_path):
    rows = rows_of(tmp_path, "a")
    uids = ("causative", "passive_1", "passive_2", "transitive", "wh_island", "all")
    paths = make(tmp_path, rows, of_paradigms(rows, *uids))
    exhibit = generated({"data_sets": paths}, LABELS)
    assert ("Overall", "A: r") in by_place(exhibit)
    check_cells(exhibit, {"data_sets": paths})
