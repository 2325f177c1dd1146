"""Test BLiMP's exhibits on accuracies of a simulated campaign, in bins, and of generated pairs."""

import importlib
import math
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks import tables as blimpworks_tables
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.papers.blimp import analysis
from blimpworks.papers.blimp.exhibits import SPECS
from blimpworks.papers.blimp.exhibits import tables as blimp_tables
from blimpworks.papers.blimp.exhibits.figures import generated
from blimpworks.papers.blimp.paradigms import PARADIGMS, PHENOMENON_OF
from blimpworks.papers.blimp.released_results import read_blimp_release
from blimpworks.tables import ACCURACIES, ITEMS, JUDGEMENTS, read_table, write_rows, write_table
from support import print_kit
from support.blimp_kit import campaign, check_cells, evaluate, write_release
from support.cells_kit import by_place, write_exhibit

MODELS = {"lstm-gulordava": "LSTM", "transformer-xl-wt103": "TXL", "gpt2-large": "GPT-2"}
FACTS = {"blimp_training": {"lstm-gulordava": "LSTM (1 × 20 units)"}}
LABELS = Labels({"eng": "English"}, MODELS, "full_sentence", FACTS)
# Table 1 is a printed one; generated pairs and learning curves have their own tests.
PRINT = print_kit.labels_of("blimp")
TABLES = {path.stem: path for path in print_kit.printed("blimp") if path.stem != "text"}
OTHERS = ("table1", "generated", "fig5", "slopes")
MEASURED = {spec.name: spec for spec in SPECS if spec.needs and spec.name not in OTHERS}
BESIDE_THE_RELEASE = [name for name, spec in MEASURED.items() if "released" in spec.optional]
TIED = ("wh_island", "causative")
pytestmark = pytest.mark.xdist_group("blimp-exhibits")  # they share fixtures


def make(name, tables, labels=LABELS):
    module, _, function = MEASURED[name].function.partition(":")
    return getattr(importlib.import_module(module), function)(tables, labels)


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
    exhibit = (
        write_exhibit(MEASURED[name], given, LABELS, tmp_path) if at_hand else make(name, given)
    )
    assert exhibit.cells
    if "accuracies" in MEASURED[name].needs and name != "text":
        assert "LSTM, TXL, GPT-2: " in exhibit.caption
        assert "Trained here on treebanks and plain text: LSTM (1 × 20 units)." in exhibit.caption
    check_cells(exhibit, given)
    if name in ("table3", "table4", "fig1", "fig3", "fig4"):
        absent = "Humans are missing, because the campaign lacks BLiMP's released results."
        assert (absent in exhibit.caption) is (not at_hand)


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


@pytest.mark.parametrize(
    ("name", "column", "mistaken"),
    [
        ("table2", "row", ("table2,binding,N", "table2,bindng,N")),
        ("table3", "column", ("table3,gpt2-large,binding", "table3,gpt2-large,bindng")),
        ("table3", "row", ("table3,gpt2-large,binding", "table3,bindng,binding")),
        ("erratum", "column", ("table3,gpt2-large,binding", "table3,gpt2-large,bindng")),
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
    message = f"numbers of {exhibit} have the {column} 'bindng'; expected one of .*"
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
    # Three pairs of each tied paradigm, and the pair of two identical sentences.
    assert numbers[row, "Ties"] == 3 * len(TIED) + 1
    assert numbers[row, "Same sentence twice"] == 1
    # The paradigm of the identical pair allows no prefix method.
    assert numbers["LSTM: all paradigms, one prefix", "Same sentence twice"] == 0
    half = numbers[row, "Ties half (corrected)"] - numbers[row, "Ties wrong (published)"]
    assert half == pytest.approx(100 * (len(TIED) + 1 / 3) / 2 / len(PHENOMENON_OF))
    assert numbers["LSTM: wh_island", "Ties half (corrected)"] == 50
    assert numbers["LSTM: wh_island", "Ties wrong (published)"] == 0


def test_a_paradigm_without_any_judged_pair_has_no_accuracy_by_ties(tables, tmp_path):
    paths = {path: tmp_path / path.parent.name / "eng.parquet" for path in tables["judgements"]}
    for path, copy in paths.items():
        rows = read_table(JUDGEMENTS, path).to_pandas()
        rows.loc[rows["paradigm"] == "passive_1", ["margin", "correct"]] = math.nan
        blimpworks_tables.write_frame(rows, JUDGEMENTS, copy)
    cells = by_place(make("ties", tables | {"judgements": [*paths.values()]}))
    assert cells["LSTM: passive_1", "Pairs"].value == 0
    assert ("LSTM: passive_1", "Ties half (corrected)") not in cells


def test_other_methods_and_items_that_do_not_say_what_is_identical_are_refused(tables, tmp_path):
    with pytest.raises(UserError, match="no accuracies of BLiMP's paradigms by method other"):
        make("table3", tables, replace(LABELS, method="other"))
    with pytest.raises(UserError, match="no bins by method one_prefix"):
        make("fig2", tables, replace(LABELS, method="one_prefix"))
    plain = read_table(ITEMS, tables["items"][0]).select(ITEMS.names)
    write_table(plain, ITEMS, tmp_path / "eng.parquet")
    with pytest.raises(UserError, match="no column 'identical'; expected the items of BLiMP"):
        make("ties", tables | {"items": [tmp_path / "eng.parquet"]})


numbers = st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=80)


@given(numbers, st.integers(2, 12))
def test_bins_are_few_without_gaps_in_the_order_of_values_and_equal_values_share_one(values, most):
    bins = analysis.bins_of(pd.Series(values), most)
    assert sorted(set(bins)) == list(range(bins.max() + 1))
    assert bins.max() < most
    by_value = sorted(zip(values, bins, strict=True))
    assert [number for _, number in by_value] == sorted(bins)
    assert len({*by_value}) == len({*values})


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
    columns = ("n", "accuracy", "mean", "least", "most")
    shown = [tuple(row[name] for name in columns) for row in bins]
    assert shown == [(2, 0.5, 1.5, 1, 2), (2, 1.0, 3.5, 3, 4)]
    assert all(row["low"] < row["accuracy"] <= row["high"] for row in bins)


def test_a_method_that_nothing_is_judged_by_and_no_model_at_all_are_refused(tmp_path):
    items, bins = tmp_path / "items/blimp/eng.parquet", tmp_path / "bins.parquet"
    evaluate(tmp_path, ["lstm"])
    paths = [tmp_path / kind / "blimp/lstm/eng.parquet" for kind in ("scores", "judgements")]
    lstm = blimpworks_tables.Evaluation("lstm", "eng", items, *paths)
    with pytest.raises(UserError, match="no judgements by method other; expected the method"):
        analysis.bin_accuracies([lstm], "other", 10, bins)
    with pytest.raises(UserError, match="no judgements are given; name at least one model"):
        analysis.bin_accuracies([], "full_sentence", 10, bins)


ONE_MODEL = Labels({"eng": "English"}, {"a": "A"}, "full_sentence")


UIDS = ("causative", "passive_1", "passive_2", "transitive")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a function that builds the exhibit on some released and some generated paradigms."""
    root = tmp_path_factory.mktemp("generated")
    rows = read_table(ACCURACIES, campaign(root / "a", {"a": 0.6})).to_pylist()

    def build(released, own, mine=()):
        sets = [[row for row in rows if row["paradigm"] in uids] for uids in (released, own)]
        sets[1] += [row | {"paradigm": uid} for uid in mine for row in sets[1]]
        paths, folder = [], tmp_path_factory.mktemp("sets")
        for benchmark, some in zip(("blimp", "blimp_generated"), sets, strict=True):
            paths.append(folder / f"{benchmark}.parquet")
            write_rows([row | {"benchmark": benchmark} for row in some], ACCURACIES, paths[-1])
        exhibit = generated({"data_sets": paths}, ONE_MODEL)
        check_cells(exhibit, {"data_sets": paths})
        return exhibit, by_place(exhibit)

    return build


def test_overall_is_the_mean_of_the_paradigms_that_both_sets_have(made):
    _, cells = made((*UIDS, "inchoative"), (*UIDS, "wh_island", "all"))
    assert cells["Overall", "A: released"].value == cells["Overall", "A: generated"].value
    mean = sum(cells[uid, "A: released"].value for uid in UIDS) / 4
    assert cells["Overall", "A: released"].value == pytest.approx(mean)
    assert {("wh_island", "A: generated"), ("inchoative", "A: released")} <= cells.keys()
    assert cells["Overall", "A: r"].n == 4


@pytest.mark.slow
def test_a_paradigm_of_ones_own_is_shown_behind_the_papers(made):
    exhibit, cells = made(UIDS, ["causative"], ["of_mine"])
    assert cells["of_mine", "A: generated"].value == cells["causative", "A: generated"].value
    assert ("of_mine", "A: released") not in cells
    (axes,) = exhibit.figure.axes
    assert "of_mine" in {text.get_text() for text in axes.texts}


def test_sets_without_a_common_paradigm_have_no_overall(made):
    assert {row for row, _ in made(["causative"], ["passive_1"])[1]} == {"causative", "passive_1"}
