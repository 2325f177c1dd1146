"""BLiMP's exhibits on accuracies of a made-up campaign, and as files."""

import importlib
import json
from dataclasses import replace

import pandas as pd
import pytest
from blimp_kit import campaign, published, write_release

from blimpworks.blimp.paradigms import PARADIGMS, PHENOMENON_OF
from blimpworks.errors import UserError
from blimpworks.exhibits.blimp.specs import SPECS
from blimpworks.exhibits.build import build_exhibit
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.formulas import FORMULAS, select_rows
from blimpworks.reproduction.blimp_release import read_blimp_release
from blimpworks.tables import ACCURACIES, read_table

MODELS = {"lstm-gulordava": "LSTM", "transformer-xl-wt103": "TXL", "gpt2-large": "GPT-2"}
LABELS = Labels({"eng": "English"}, MODELS, "full_sentence")
# Learning curves are of other models, and tested by themselves.
MEASURED = {
    spec.name: spec
    for spec in SPECS
    if "accuracies" in spec.needs and "blimp_curves" not in spec.facts
}


def make(name, tables, labels=LABELS):
    module, _, function = MEASURED[name].function.partition(":")
    return getattr(importlib.import_module(module), function)(tables, labels)


def values(exhibit):
    return {(cell.row, cell.column): cell.value for cell in exhibit.cells}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    root = tmp_path_factory.mktemp("campaign")
    own = campaign(root / "accuracies.parquet", dict(zip(MODELS, (0.6, 0.65, 0.75), strict=True)))
    released = root / "released.parquet"
    read_blimp_release(*write_release(root), released)
    return {"accuracies": [own], "released": [released]}


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("at_hand", [True, False], ids=["with release", "without"])
def test_each_cell_can_be_computed_again_from_the_rows_it_selects(name, at_hand, tables):
    given = tables if at_hand else {"accuracies": tables["accuracies"]}
    read = {
        kind: read_table(ACCURACIES, paths[0]).to_pandas().astype({"lang": object})
        for kind, paths in tables.items()
    }
    # The released table lies below the directory of accuracies, so it is looked up there too.
    read["accuracies"] = pd.concat(read.values(), ignore_index=True)
    exhibit = make(name, given)
    assert exhibit.cells
    for cell in exhibit.cells:
        rows = select_rows(read[cell.source], json.loads(json.dumps(dict(cell.where))))
        assert FORMULAS[cell.formula](rows) == pytest.approx(cell.value), cell
        if cell.low is not None:
            assert cell.low <= cell.value <= cell.high


def test_accuracy_of_a_phenomenon_is_the_mean_of_its_paradigms(tables):
    frame = read_table(ACCURACIES, tables["accuracies"][0]).to_pandas()
    frame = frame[(frame["model"] == "gpt2-large") & (frame["method"] == "full_sentence")]
    frame = frame[frame["lang"] == "eng"].set_index("paradigm")["accuracy"]
    found = values(make("table3", tables))
    for column, uids in {"Overall": [*PHENOMENON_OF], "Binding": PARADIGMS["binding"]}.items():
        assert found["GPT-2", column] == pytest.approx(100 * frame[list(uids)].mean())


def test_humans_are_shown_only_where_their_answers_are_released(tables):
    without = {"accuracies": tables["accuracies"]}
    for name in ("table3", "table4", "fig1", "fig3", "fig4"):
        for given, there in ((tables, True), (without, False)):
            shown = {n for cell in make(name, given).cells for n in (cell.row, cell.column)}
            assert ("Human" in shown) == there, name


def test_cells_stand_for_the_numbers_that_the_paper_prints_of_the_same(tables):
    places = {
        name: {cell.stands_for for cell in make(name, tables).cells}
        for name in ("table2", "table3", "table4", "text")
    }
    assert ("binding", "N") in places["table2"]
    assert ("gpt2-large", "island_effects") in places["table3"]
    assert ("wh_island", "human") in places["table4"]
    assert ("transformer-xl-wt103", "r with lstm-gulordava") in places["text"]
    assert {("human", "aggregate"), ("gpt2-large", "attractor")} <= places["text"]


def test_a_contrast_is_a_difference_of_means(tables):
    frame = read_table(ACCURACIES, tables["accuracies"][0]).to_pandas()
    frame = frame[(frame["model"] == "gpt2-large") & (frame["method"] == "full_sentence")]
    frame = frame[frame["lang"] == "eng"].set_index("paradigm")["accuracy"]
    nouns = pd.Series({uid: frame[uid] for uid in PARADIGMS["determiner_noun_agreement"]})
    plain = ["_with_adj" not in uid for uid in nouns.index]
    expected = 100 * (nouns[plain].mean() - nouns[[not p for p in plain]].mean())
    assert values(make("text", tables))["GPT-2: adjective", "Value"] == pytest.approx(expected)


def test_one_model_alone_has_no_correlations(tables):
    labels = replace(LABELS, models={"gpt2-large": "GPT-2"})
    exhibit = make("fig1", {"accuracies": tables["accuracies"]}, labels)
    assert not exhibit.cells
    assert exhibit.figure.axes


def test_a_prefix_method_is_compared_on_its_own_paradigms(tables):
    cells = {(c.row, c.column): c for c in make("fig6", tables).cells}
    for prefix, one in (("1-prefix", True), ("2-prefix", False)):
        both = [
            cells["LSTM", f"Binding: {bar}"] for bar in (prefix, f"sentence ({prefix} paradigms)")
        ]
        assert both[0].where["paradigm"] == both[1].where["paradigm"]
        assert both[0].where["method"] == ("one_prefix" if one else "two_prefix")
        assert both[1].where["method"] == "full_sentence"


def test_accuracies_by_no_known_method_are_refused(tables):
    with pytest.raises(UserError, match="no accuracies of BLiMP's paradigms by method other"):
        make("table3", tables, replace(LABELS, method="other"))


def test_every_published_form_is_drawn_without_the_release(tmp_path):
    published(tmp_path, outputs=True)
    assert "Wilcox et al. (2018)" in (tmp_path / "table1.md").read_text()
    assert "70 72 74 79 86" in (tmp_path / "table4.md").read_text()
    assert "it needs the released results" in (tmp_path / "fig6.svg").read_text()


def test_every_measured_form_is_drawn(tables, tmp_path):
    for spec in MEASURED.values():
        suffix = "svg" if spec.kind == "figure" else "tex"
        output = tmp_path / f"{spec.name}.{suffix}"
        build_exhibit(spec, tables, LABELS, tmp_path / f"{spec.name}.parquet", [output])
        assert "GPT-2" in output.read_text() or spec.name == "table2"
