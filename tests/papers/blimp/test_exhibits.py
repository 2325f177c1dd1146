"""BLiMP's exhibits on accuracies of a made-up campaign, in bins, and of generated pairs."""

import importlib
import math
import re
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.campaign.paper import FORMATS
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.render import build_exhibit
from blimpworks.papers.blimp import analysis
from blimpworks.papers.blimp.exhibits import SPECS
from blimpworks.papers.blimp.exhibits import tables as blimp_tables
from blimpworks.papers.blimp.exhibits.figures import generated
from blimpworks.papers.blimp.paradigms import PARADIGMS, PHENOMENON_OF
from blimpworks.papers.blimp.released_results import read_blimp_release
from blimpworks.tables import ACCURACIES, ITEMS, Evaluation, read_table, write_rows, write_table
from support import print_kit
from support.blimp_kit import campaign, check_cells, evaluate, write_release
from support.cells_kit import by_place

MODELS = {"lstm-gulordava": "LSTM", "transformer-xl-wt103": "TXL", "gpt2-large": "GPT-2"}
TRAINED = {"blimp_training": {"lstm-gulordava": "LSTM (1 × 20 units)"}}
LABELS = Labels({"eng": "English"}, MODELS, "full_sentence", facts=TRAINED)
# Table 1 is of print; generated pairs and learning curves are tested by themselves.
PRINT = print_kit.labels_of("blimp")
TABLES = {path.stem: path for path in print_kit.printed("blimp") if path.stem != "text"}
OTHERS = ("table1", "generated", "fig5", "slopes")
MEASURED = {spec.name: spec for spec in SPECS if spec.needs and spec.name not in OTHERS}
BESIDE_THE_RELEASE = [name for name, spec in MEASURED.items() if "released" in spec.optional]
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


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    root = tmp_path_factory.mktemp("campaign")
    own = campaign(root / "accuracies.parquet", dict(zip(MODELS, (0.6, 0.65, 0.75), strict=True)))
    released = root / "released.parquet"
    read_blimp_release(*write_release(root), released)
    return {"accuracies": [own], "released": [released]} | evaluate(root, MODELS, TIED)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "at_hand"),
    [*((name, True) for name in MEASURED), *((name, False) for name in BESIDE_THE_RELEASE)],
)
def test_an_exhibit_is_written_and_its_cells_computed_again(name, at_hand, tables, tmp_path):
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


@pytest.mark.parametrize(
    ("name", "column", "mistaken"),
    [
        ("table2", "row", ("table2,binding,N", "table2,bindng,N")),
        ("table3", "column", ("table3,gpt2-large,binding", "table3,gpt2-large,bindng")),
        ("table3", "row", ("table3,gpt2-large,binding", "table3,bindng,binding")),
        ("erratum", "column", ("table3,gpt2-large,binding", "table3,gpt2-large,bindng")),
        ("erratum", "row", ("table3,gpt2-large,binding", "table3,bindng,binding")),
        ("table4", "column", ("table4,wh_island,gpt2-large", "table4,wh_island,bindng")),
    ],
)
def test_a_printed_number_of_no_row_or_column_is_refused(name, column, mistaken, tmp_path):
    own = campaign(tmp_path / "accuracies.parquet", {"gpt2-large": 0.75})
    for path in TABLES.values():
        (tmp_path / path.name).write_text(path.read_text().replace(*mistaken))
    tables = {"printed": sorted(tmp_path.glob("table*.csv")), "accuracies": [own]}
    labels = replace(PRINT, method="full_sentence")
    exhibit = mistaken[0].partition(",")[0]
    message = f"numbers of {exhibit} have one of {column} 'bindng', which .*; its {column}s are .*"
    with pytest.raises(UserError, match=message):
        getattr(blimp_tables, name)(tables, labels)


def test_a_phenomenon_without_accuracies_has_none_of_its_paradigms(tmp_path):
    own = campaign(tmp_path / "accuracies.parquet", {"gpt2-large": 0.75})
    rows = read_table(ACCURACIES, own)
    remaining = pc.invert(pc.is_in(rows["paradigm"], pa.array(PARADIGMS["binding"])))
    write_table(rows.filter(remaining), ACCURACIES, own)
    tables = {"printed": [TABLES["table2"]], "accuracies": [own]}
    labels = replace(PRINT, method="full_sentence")
    cells = by_place(blimp_tables.table2(tables, labels))
    assert len(cells) == 24
    assert cells["Binding", "Rows of Table 4"].text == "0"


def test_columns_of_table_4_follow_print():
    models = dict(reversed(PRINT.models.items()))
    tables = {"printed": [TABLES["table4"]]}
    exhibit = blimp_tables.table4(tables, replace(PRINT, models=models))
    shown = dict.fromkeys(cell.column for cell in exhibit.cells)
    assert [*shown] == ["5-gram", "LSTM", "TXL", "GPT-2", "Human"]


@pytest.mark.slow
def test_every_published_form_is_drawn_without_the_release(tmp_path):
    tables = print_kit.tables_of("blimp", tmp_path)
    print_kit.build("blimp", tmp_path, tables, formats=True)
    assert "Wilcox et al. (2018)" in (tmp_path / "table1.md").read_text()
    table4 = (tmp_path / "table4.md").read_text()
    assert "Should read GPT-2" in table4
    assert re.search(r"\| +70 \| +72 \| +74 \| +79 \| +86 \|", table4)
    assert "it needs the released results" in (tmp_path / "fig6.svg").read_text()
    assert "it needs the scores of single sentences" in (tmp_path / "fig2.svg").read_text()
    assert "so only what is printed stands here" in (tmp_path / "erratum.md").read_text()
    assert "Only what is at hand" in (tmp_path / "humans.md").read_text()


def test_by_pair_every_pair_of_a_model_counts_once(tables):
    where = {"model": "gpt2-large", "method": "full_sentence", "lang": "eng"}
    frame = select_rows(read_table(ACCURACIES, tables["accuracies"][0]).to_pandas(), where)
    frame = frame[frame["paradigm"] != "all"]
    cells = by_place(make("table3", tables))
    whole = cells["GPT-2", "Overall, by pair"]
    assert whole.value == pytest.approx(100 * frame["correct"].sum() / frame["n"].sum())
    assert whole.n == frame["n"].sum()
    binding = frame[frame["phenomenon"] == "binding"]
    by_pair = cells["GPT-2", "Binding, by pair"].value
    assert by_pair == pytest.approx(100 * binding["correct"].sum() / binding["n"].sum())


def test_a_tie_is_wrong_as_published_and_half_right_as_corrected(tables):
    numbers = {place: cell.value for place, cell in by_place(make("ties", tables)).items()}
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


numbers = st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=80)


@given(numbers, st.integers(2, 12))
def test_bins_are_few_without_gaps_and_in_the_order_of_their_values(values, most):
    bins = analysis.bins_of(pd.Series(values), most)
    assert sorted(set(bins)) == list(range(bins.max() + 1))
    assert bins.max() < most
    by_value = sorted(zip(values, bins, strict=True))
    assert [number for _, number in by_value] == sorted(bins)


@given(numbers, st.integers(2, 12))
def test_equal_values_share_a_bin(values, most):
    frame = pd.DataFrame({"value": values, "bin": analysis.bins_of(pd.Series(values), most)})
    assert (frame.groupby("value")["bin"].nunique() == 1).all()


def test_factors_are_those_of_the_good_sentence_and_of_both():
    items = pa.table({"good": ["The cats often sleep."]})
    scores = pa.table({"logprob_good": [-12.0], "logprob_bad": [-10.5], "tokens_good": [6]})
    assert analysis.factors(items, scores).iloc[0].to_dict() == {
        analysis.LENGTH: 4,
        analysis.PERPLEXITY: pytest.approx(math.exp(2)),
        analysis.PROBABILITY: -12,
        analysis.CONFIDENCE: 1.5,
    }


def test_a_bin_has_the_accuracy_of_its_pairs_and_pairs_without_a_value_are_in_none():
    rows = pd.DataFrame({name: [1.0, 2.0, 3.0, 4.0, math.nan] for name in analysis.FACTORS})
    rows["correct"] = [1.0, 0.0, 1.0, 1.0, 0.0]
    bins = [row for row in analysis.binned(rows, 2) if row["factor"] == analysis.LENGTH]
    assert [(b["n"], b["accuracy"], b["mean"]) for b in bins] == [(2, 0.5, 1.5), (2, 1.0, 3.5)]
    assert [(row["least"], row["most"]) for row in bins] == [(1, 2), (3, 4)]
    assert all(row["low"] < row["accuracy"] <= row["high"] for row in bins)


def test_a_method_that_nothing_is_judged_by_and_no_model_at_all_are_refused(tmp_path):
    evaluate(tmp_path, ["lstm"])
    paths = [tmp_path / "items" / "blimp" / "eng.parquet"]
    paths += [tmp_path / kind / "blimp/lstm/eng.parquet" for kind in ("scores", "judgements")]
    with pytest.raises(UserError, match="no judgements by method other; expected the method"):
        analysis.bin_accuracies(
            [Evaluation("lstm", "eng", *paths)], "other", 10, tmp_path / "bins.parquet"
        )
    with pytest.raises(UserError, match="no judgements are given; name at least one model"):
        analysis.bin_accuracies([], "full_sentence", 10, tmp_path / "bins.parquet")


ONE_MODEL = Labels({"eng": "English"}, {"a": "A"}, "full_sentence")


def rows_of(root):
    return read_table(ACCURACIES, campaign(root / "a", {"a": 0.6})).to_pylist()


def sets_of(root, released, own):
    paths = []
    for benchmark, rows in (("blimp", released), ("blimp_generated", own)):
        paths.append(root / f"{benchmark}.parquet")
        named = [row | {"benchmark": benchmark} for row in rows]
        write_rows(named, ACCURACIES, paths[-1])
    return paths


def of_paradigms(rows, *uids):
    return [row for row in rows if row["paradigm"] in uids]


def cells_of(paths):
    return by_place(generated({"data_sets": paths}, ONE_MODEL))


def test_overall_is_the_mean_of_the_paradigms_that_both_sets_have(tmp_path):
    rows = rows_of(tmp_path)
    uids = ("causative", "passive_1", "passive_2", "transitive")
    own = of_paradigms(rows, *uids, "wh_island")
    cells = cells_of(sets_of(tmp_path, of_paradigms(rows, *uids, "causative", "inchoative"), own))
    assert cells["Overall", "A: released"].value == cells["Overall", "A: generated"].value
    assert cells["Overall", "A: released"].value == pytest.approx(
        sum(cells[uid, "A: released"].value for uid in uids) / 4
    )
    assert ("wh_island", "A: generated") in cells
    assert ("inchoative", "A: released") in cells
    assert cells["Overall", "A: r"].n == 4


@pytest.mark.slow
def test_a_paradigm_of_ones_own_is_shown_behind_the_papers(tmp_path):
    rows = rows_of(tmp_path)
    mine = [row | {"paradigm": "of_mine"} for row in of_paradigms(rows, "causative")]
    paths = sets_of(tmp_path, rows, rows + mine)
    cells = cells_of(paths)
    assert cells["of_mine", "A: generated"].value == cells["causative", "A: generated"].value
    assert ("of_mine", "A: released") not in cells
    (axes,) = generated({"data_sets": paths}, ONE_MODEL).figure.axes
    assert "of_mine" in {text.get_text() for text in axes.texts}


def test_sets_without_a_common_paradigm_have_no_overall(tmp_path):
    rows = rows_of(tmp_path)
    sets = of_paradigms(rows, "causative"), of_paradigms(rows, "passive_1")
    assert {row for row, _ in cells_of(sets_of(tmp_path, *sets))} == {"causative", "passive_1"}


def test_each_cell_can_be_computed_again_from_the_rows_it_selects(tmp_path):
    rows = rows_of(tmp_path)
    uids = ("causative", "passive_1", "passive_2", "transitive", "wh_island", "all")
    paths = sets_of(tmp_path, rows, of_paradigms(rows, *uids))
    exhibit = generated({"data_sets": paths}, ONE_MODEL)
    assert ("Overall", "A: r") in by_place(exhibit)
    check_cells(exhibit, {"data_sets": paths})
