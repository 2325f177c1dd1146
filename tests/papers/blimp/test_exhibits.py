"""BLiMP's exhibits on accuracies of a made-up campaign, and as files."""

import importlib
import re
from dataclasses import replace

import pytest

from blimpworks.campaign.exhibit_spec import FORMATS
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.render import build_exhibit
from blimpworks.papers.blimp.exhibits import SPECS
from blimpworks.papers.blimp.paradigms import PHENOMENON_OF
from blimpworks.papers.blimp.released_results import read_blimp_release
from blimpworks.tables import ACCURACIES, ITEMS, read_table, write_table
from support.blimp_kit import by_place, campaign, check_cells, evaluate, published, write_release

MODELS = {"lstm-gulordava": "LSTM", "transformer-xl-wt103": "TXL", "gpt2-large": "GPT-2"}
TRAINED = {"blimp_training": {"lstm-gulordava": "LSTM (1 × 20 units)"}}
LABELS = Labels({"eng": "English"}, MODELS, "full_sentence", facts=TRAINED)
# Table 1 is of print; generated pairs and learning curves are tested by themselves.
OTHERS = ("table1", "generated", "fig5", "slopes")
MEASURED = {spec.name: spec for spec in SPECS if spec.needs and spec.name not in OTHERS}
TIED = ("wh_island", "causative")
# Exhibits of the same tables are made once.
pytestmark = pytest.mark.xdist_group("blimp-exhibits")
_made = {}


def make(name, tables, labels=LABELS):
    key = repr((name, sorted(tables.items()), labels))
    if key not in _made:
        module, _, function = MEASURED[name].function.partition(":")
        _made[key] = getattr(importlib.import_module(module), function)(tables, labels)
    return _made[key]


def values(exhibit):
    return {place: cell.value for place, cell in by_place(exhibit).items()}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    root = tmp_path_factory.mktemp("campaign")
    own = campaign(root / "accuracies.parquet", dict(zip(MODELS, (0.6, 0.65, 0.75), strict=True)))
    released = root / "released.parquet"
    read_blimp_release(*write_release(root), released)
    return {"accuracies": [own], "released": [released]} | evaluate(root, MODELS, TIED)


def own_accuracies(tables):
    """GPT-2's accuracies on English by whole sentences."""
    where = {"model": "gpt2-large", "method": "full_sentence", "lang": "eng"}
    return select_rows(read_table(ACCURACIES, tables["accuracies"][0]).to_pandas(), where)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("at_hand", [True, False], ids=["with release", "without"])
def test_an_exhibit_is_written_and_its_cells_are_of_the_rows_they_name(
    name, at_hand, tables, tmp_path
):
    given = tables if at_hand else {k: paths for k, paths in tables.items() if k != "released"}
    spec = MEASURED[name]
    outputs = [tmp_path / f"{name}.{suffix}" for suffix in FORMATS[spec.kind]]
    exhibit = build_exhibit(spec, given, LABELS, tmp_path / "cells.parquet", outputs)
    assert all(path.is_file() for path in outputs)
    assert exhibit.cells
    if "accuracies" in spec.needs and name != "text":
        assert "LSTM, TXL, GPT-2: " in exhibit.caption
        assert "Trained here on treebanks and plain text: LSTM (1 × 20 units)." in exhibit.caption
    check_cells(exhibit, given)


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


def test_one_model_alone_has_no_correlations(tables):
    labels = replace(LABELS, models={"gpt2-large": "GPT-2"})
    exhibit = make("fig1", {"accuracies": tables["accuracies"]}, labels)
    assert not exhibit.cells
    assert exhibit.figure.axes


def test_a_prefix_method_is_compared_on_its_own_paradigms(tables):
    cells = by_place(make("fig6", tables))
    for prefix, is_one in (("1-prefix", True), ("2-prefix", False)):
        both = [
            cells["LSTM", f"Binding: {bar}"] for bar in (prefix, f"sentence ({prefix} paradigms)")
        ]
        assert both[0].where["paradigm"] == both[1].where["paradigm"]
        assert both[0].where["method"] == ("one_prefix" if is_one else "two_prefix")
        assert both[1].where["method"] == "full_sentence"


def test_accuracies_by_no_known_method_are_refused(tables):
    with pytest.raises(UserError, match="no accuracies of BLiMP's paradigms by method other"):
        make("table3", tables, replace(LABELS, method="other"))


@pytest.mark.slow
def test_every_published_form_is_drawn_without_the_release(tmp_path):
    published(tmp_path, outputs=True)
    assert "Wilcox et al. (2018)" in (tmp_path / "table1.md").read_text()
    table4 = (tmp_path / "table4.md").read_text()
    assert "Should read GPT-2" in table4
    assert re.search(r"\| +70 \| +72 \| +74 \| +79 \| +86 \|", table4)
    assert "it needs the released results" in (tmp_path / "fig6.svg").read_text()
    assert "it needs the scores of single sentences" in (tmp_path / "fig2.svg").read_text()
    assert "so only what is printed stands here" in (tmp_path / "erratum.md").read_text()
    assert "Only what is at hand" in (tmp_path / "humans.md").read_text()


def test_by_pair_every_pair_of_a_model_counts_once(tables):
    frame = own_accuracies(tables)
    frame = frame[frame["paradigm"] != "all"]
    cells = by_place(make("table3", tables))
    whole = cells["GPT-2", "Overall, by pair"]
    assert whole.value == pytest.approx(100 * frame["correct"].sum() / frame["n"].sum())
    assert whole.n == frame["n"].sum()
    binding = frame[frame["phenomenon"] == "binding"]
    by_pair = cells["GPT-2", "Binding, by pair"].value
    assert by_pair == pytest.approx(100 * binding["correct"].sum() / binding["n"].sum())


def test_a_tie_is_wrong_as_published_and_half_right_as_corrected(tables):
    numbers = values(make("ties", tables))
    row = "LSTM: all paradigms, full sentence"
    # Three pairs of each tied paradigm, and the one that is twice the same sentence.
    assert numbers[row, "Ties"] == 3 * len(TIED) + 1
    assert numbers[row, "Same sentence twice"] == 1
    # The paradigm of the identical pair allows no prefix method.
    assert numbers["LSTM: all paradigms, one prefix", "Same sentence twice"] == 0
    half = numbers[row, "Ties half (corrected)"] - numbers[row, "Ties wrong (published)"]
    assert half == pytest.approx(100 * (len(TIED) + 1 / 3) / 2 / len(PHENOMENON_OF))
    assert numbers["LSTM: wh_island", "Ties half (corrected)"] == 50
    assert numbers["LSTM: wh_island", "Ties wrong (published)"] == 0


def test_items_that_do_not_say_what_is_identical_are_refused(tables, tmp_path):
    plain = read_table(ITEMS, tables["items"][0]).select(ITEMS.names)
    write_table(plain, ITEMS, tmp_path / "eng.parquet")
    with pytest.raises(UserError, match="no column 'identical'; expected the items of BLiMP"):
        make("ties", tables | {"items": [tmp_path / "eng.parquet"]})


def test_bins_by_another_method_are_refused(tables):
    with pytest.raises(UserError, match="no bins by method one_prefix"):
        make("fig2", tables, replace(LABELS, method="one_prefix"))
