"""Test judgements of items of several conditions and of single sentences, and their explanation."""

import math
from itertools import pairwise

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from scipy.stats import pearsonr

from blimpworks.analysis.statistics import correlation_interval
from blimpworks.audit.evidence import TABLE, item_evidence, read_tables
from blimpworks.audit.explain_text import item_lines
from blimpworks.audit.lineage import Node
from blimpworks.benchmarks.verdicts import (
    best_threshold,
    folds_of,
    judge_designs,
    matthews_correlation,
    thresholds,
)
from blimpworks.errors import UserError
from blimpworks.judging.judge import Rules
from support import judging_kit
from support.judging_kit import Condition, judged_designs, judged_sentences, write_scores

LESS = "(2;%match%) < (2;%mismatch%)"


def item(match, mismatch, *more):
    """Return two conditions whose second regions have these surprisals."""
    return {
        "match": Condition(("the cats", [50.0]), ("sleep", [match]), *more),
        "mismatch": Condition(("the cat", [25.0]), ("sleep", [mismatch]), *more),
    }


def judged_scores(folder, items, formulas, tokens, method="critical_region"):
    """Judge items by the tokens [conditions] of their sentences, lists of (score, end)."""
    path = judging_kit.write_designs(folder / "items.parquet", items, formulas)
    scores = write_scores(folder / "scores.parquet", [(each, each) for each in tokens])
    judge_designs(path, scores, folder / "out.parquet", Rules([method], ["wrong"], 0))
    return pq.read_table(folder / "out.parquet").to_pylist()


NAN = math.nan
UNIT = 2.0**-10
EMPTY = ("", [])
SPREAD = {
    "match": Condition(("so", [1.0]), ("ten", [2.0, 4.0])),
    "mismatch": Condition(("longer", [1.0]), ("éé", [12.0])),
}
SHORT = {
    "match": Condition(("a", [9.0]), EMPTY, ("b", [2.0])),
    "mismatch": Condition(("a", [9.0]), ("so", [0.25]), ("b", [3.0])),
}
NAMED = [(("subject", "the cat"), [5.0]), (("main verb", "sleeps"), [2.0])]
UNSCORED_FIRST = {**item(3.0, 4.0), "match": Condition(("the cats", [NAN]), ("sleep", [3.0]))}
UNKNOWN = {"ids": {(1, "good"): [7, 0], (2, "good"): [0, 7]}}
MEAN = {"columns": {"right": ["mean"] * 10}, "near_tie": 0}
BY_MEAN = [item(3.0, 4.0), item(30.0, 31.0), item(31.0, 30.0), item(25.0, 26.0), item(NAN, 3.0)]
MEAN_FORMULAS = [LESS, "(1;%match%) > (1;%mismatch%) + (2;%match%)"]
TIED = [item(3.0, 3.0), item(3.0, 2.0), item(3.0, 4.0)]
CASES = {
    "by regions": ([item(3.0, 4.5), item(4.5, 3.0)], [LESS], {},
        {"margin": [1.5, -1.5], "correct": [1, 0], "predictions_held": [[True], [False]],
         "tie": [False, False], "value_good": [None, None], "item_id": ["item 0", "item 1"],
         "paradigm": ["SG", "SG"], "method": ["critical_region"] * 2}),
    "all hold": ([item(4.5, 5.0), item(3.5, 5.0)],
        [LESS, "(1;%match%) > (1;%mismatch%)", "(2;%match%) > 4"], {},
        {"predictions_held": [[True] * 3, [True, True, False]], "margin": [0.5, -0.5],
         "correct": [1, 0]}),
    "suites": ([item(3.0, 4.0), item(3.0, 5.0), item(3.0, 6.0)],
        [[LESS], ["(1;%match%) < (1;%mismatch%)", LESS], [LESS]],
        {"columns": {"paradigm": ["a", "a", "b", "b", "a", "a"]}},
        {"paradigm": ["a", "b", "a"], "margin": [1, -25, 3],
         "predictions_held": [[True], [False, True], [True]]}),
    "same names": ([item(3.0, 4.0), item(4.0, 3.0)], [LESS],
        {"columns": {"paradigm": ["a", "a", "b", "b"], "item": ["1"] * 4}},
        {"item_id": ["1", "1"], "paradigm": ["a", "b"], "margin": [1, -1]}),
    "region names": ([{"match": Condition(*NAMED), "other": Condition(*NAMED[::-1])}],
        ["(main verb;%match%) < (subject;%other%)"], {}, {"margin": [3]}),
    "several tokens": ([SPREAD], [LESS], {}, {"margin": [12.0 - 6.0]}),
    "mean": ([SPREAD], [LESS], {"method": "mean=mean(region)"}, {"margin": [12.0 - 3.0]}),
    "characters": ([SPREAD], [LESS], {"method": "m=sum(region) / characters"}, {"margin": [4.0]}),
    "bytes": ([SPREAD], [LESS], {"method": "m=sum(region) / bytes"}, {"margin": [1.0]}),
    "lower": ([SPREAD], [LESS], {"method": "m=lower sum(region)"}, {"margin": [-6.0]}),
    "lower negative": ([SPREAD], [LESS], {"method": "m=lower -sum(region)"}, {"margin": [6.0]}),
    "only": ([SPREAD], [LESS], {"method": "m=only(region)"}, {"margin": [None]}),
    "empty": ([SHORT], [LESS], {}, {"margin": [0.25]}),
    "empty is 0": ([SHORT], ["(2;%match%) = 0"], {}, {"margin": [1e-3]}),
    "mean of empty": ([SHORT], [LESS], {"method": "m=mean(region)"}, {"margin": [0.25]}),
    "rounding": ([item(5.0, 5.0 + n * UNIT) for n in (10, 11, 12)], [LESS], {"rounding": UNIT},
        {"tie": [True, False, False], "margin": [0, 11 * UNIT, 12 * UNIT]}),
    "no rounding of empty": ([item(5.0, 5.0 + n * UNIT, EMPTY) for n in (10, 11)],
        ["(2;%match%) + (3;%match%) < (2;%mismatch%) + (3;%mismatch%)"], {"rounding": UNIT},
        {"tie": [True, False]}),
    "no tie of =": ([item(UNIT, 4.0), item(UNIT + 2.0**-14, 4.0)], ["(2;%match%) = 0"],
        {"rounding": UNIT}, {"correct": [1, 0], "tie": [False] * 2, "near_tie": [True] * 2}),
    "near ties": ([item(3.0, 3.0 + more) for more in (0.0, 0.25, -0.25, 0.5, -0.5)], [LESS],
        {"near_tie": 0.5}, {"near_tie": [True, True, True, False, False]}),
    "no score": ([item(NAN, 4.0), UNSCORED_FIRST], [LESS], {},
        {"correct": [None, 1], "margin": [None, 1], "tie": [None, False],
         "predictions_held": [None, [True]]}),
    "whole without score": ([UNSCORED_FIRST, item(3.0, 4.0)], ["(*;%match%) < 0"], {},
        {"correct": [None, 0]}),
    "known words": ([item(3.0, 4.0)] * 3, [LESS], UNKNOWN, {"correct": [1, 1, 1]}),
    "critical unknown": ([item(3.0, 4.0)] * 3, [LESS], {**UNKNOWN, "unknown": "critical"},
        {"correct": [None, 1, 1]}),
    "any unknown": ([item(3.0, 4.0)] * 3, [LESS], {**UNKNOWN, "unknown": "any"},
        {"correct": [None, None, 1]}),
    "mean of predictions": (BY_MEAN, MEAN_FORMULAS, {**MEAN, "ties": "wrong"},
        {"correct": [1, 0.5, 0, 0.5, None], "margin": [1, -5, -6, 0, None],
         "tie": [False, False, False, True, None]}),
    "mean, ties half": (BY_MEAN, MEAN_FORMULAS, {**MEAN, "ties": "half"},
        {"correct": [1, 0.5, 0, 0.75, None]}),
    **{f"tie {policy}": (TIED, [LESS, "(2;%match%) < 9"], {"ties": policy, "near_tie": 0},
        {"correct": [value, 0, 1], "tie": [True, False, False], "near_tie": [True, False, False]})
       for policy, value in (("wrong", 0), ("half", 0.5), ("right", 1))},
}  # fmt: skip


@pytest.mark.parametrize(("items", "formulas", "settings", "expected"), CASES.values(), ids=CASES)
def test_items_are_judged_by_their_regions(tmp_path, items, formulas, settings, expected):
    rows = judged_designs(tmp_path, items, formulas, **{**settings})
    assert {name: [row[name] for row in rows] for name in expected} == expected
    assert "effects" not in rows[0]


def test_rows_of_items_may_be_mixed_and_each_method_has_a_row_for_each_item(tmp_path):
    items = [item(3.0, 4.0), item(3.0, 5.0)]
    path = judging_kit.write_designs(tmp_path / "items.parquet", items, [LESS])
    tokens = [(each.tokens, each.tokens) for one in items for each in one.values()]
    scores = write_scores(tmp_path / "scores.parquet", tokens)
    mixed = tmp_path / "mixed.parquet"
    table = pq.read_table(path)
    pq.write_table(table.take([3, 0, 2, 1]).replace_schema_metadata(None), mixed)
    rules = Rules(["critical_region", "odd=lower sum(region)"], ["wrong", "half"], 0)
    judge_designs(mixed, scores, tmp_path / "out.parquet", rules)
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["method"] for row in rows] == ["critical_region"] * 2 + ["odd"] * 2
    assert [row["item_id"] for row in rows] == ["item 1", "item 0"] * 2
    assert [row["margin"] for row in rows] == [2.0, 1.0, -2.0, -1.0]


def test_a_token_of_nothing_but_the_space_before_a_region_belongs_to_it(tmp_path):
    apart = [(-50.0, 8), (-0.5, 9), (-3.0, 14)]
    joined = [(-25.0, 7), (-4.0, 13)]
    (row,) = judged_scores(tmp_path, [item(3.0, 4.0)], [LESS], [apart, joined])
    assert row["margin"] == 4.0 - 3.5


def test_an_asterisk_is_the_whole_sentence_without_its_end_symbol(tmp_path):
    items = [item(3.0, 4.0, ("now", [1.0, 2.0]))]
    tokens = [[*each.tokens, (-100.0 * i, len(each.sentence))]
              for i, each in enumerate(items[0].values())]  # fmt: skip
    (row,) = judged_scores(tmp_path, items, ["(*;%mismatch%) < (*;%match%)"], tokens)
    assert row["margin"] == (50.0 + 3.0) - (25.0 + 4.0)


@pytest.mark.parametrize("method", ["full_sentence", "without_end", "mean=mean(all)"])
def test_a_method_over_more_than_regions_is_refused(tmp_path, method):
    expected = (
        f"method '{method}' takes tokens outside of regions, but predictions compare regions; "
        "expected critical_region, one_prefix, two_prefix, masked_critical_word, or one such as "
        "'mean=mean(region)'."
    )
    with pytest.raises(UserError) as error:
        judged_designs(tmp_path, [item(3.0, 4.0)], [LESS], method=method)
    assert str(error.value) == expected


@pytest.mark.parametrize(
    ("formulas", "columns", "says"),
    [
        ([[LESS], []], {}, "suite 'SG', item 'item 1' has no predictions; expected"),
        ([LESS], {"condition": ["match", "mismatch", "match", "match"]},
            "item 'item 1' has condition 'match' in several rows;"),
        ([LESS], {"condition": [None, "mismatch"] * 2}, "lacks values of condition; expected"),
        ([LESS], {"item_id": ["i0", "i1", "i2", "i9"]}, "has no scores of item i9"),
        (["(2;%odd%) < 3"], {}, r"item 'item 0': the formula .* names region '2' of condition"),
        ([LESS], {"regions": [["1", "1"], ["1", "2"]] * 2}, "has condition 'match' with region"),
    ],
)  # fmt: skip
def test_items_that_cannot_be_judged_are_refused(tmp_path, formulas, columns, says):
    with pytest.raises(UserError, match=says):
        judged_designs(tmp_path, [item(3.0, 4.0)] * 2, formulas, columns=columns)


def test_effects_are_sums_of_surprisals_beside_the_verdict(tmp_path):
    items = [item(3.0, 4.5), item(math.nan, 4.0), item(5.0, 2.0)]
    names = {"difference": "(2;%mismatch%) - (2;%match%)"}
    names |= {"whole": "(*;%match%) - [(1;%mismatch%) + 0.5]", "single": "-(1;%match%)"}
    columns = {"effects": [[*names.values()]] * 4 + [[]] * 2}
    columns |= {"effect_names": [[*names]] * 4 + [[]] * 2}
    rows = judged_designs(tmp_path, items, [LESS], columns=columns)
    assert [row["effects"] for row in rows] == [[1.5, 27.5, -50.0], [None, None, -50.0], None]
    assert [row["effect_names"] for row in rows] == [[*names], [*names], []]
    assert [row["correct"] for row in rows] == [1.0, None, 0.0]


def threshold(values, acceptable, bounds=0.0):
    values, acceptable = np.array(values, dtype=float), np.array(acceptable, dtype=bool)
    return best_threshold(values, np.full(len(values), bounds), acceptable)[0]


def by_definition(values, acceptable):
    """Return the best threshold by trying each, with numpy's correlation, 0 if undefined."""
    distinct = sorted({*values})
    candidates = [(low + high) / 2 for low, high in pairwise(distinct)]
    if not candidates:
        return distinct[0]

    def agreement(candidate):
        accepted = [value >= candidate for value in values]
        if len({*accepted}) < 2 or len({*acceptable}) < 2:
            return 0.0
        return round(np.corrcoef(acceptable, accepted)[0, 1], 9)

    best = max(map(agreement, candidates))
    tied = [each for each in candidates if agreement(each) == best]
    return tied[(len(tied) - 1) // 2]


@pytest.mark.parametrize(
    ("values", "acceptable", "expected"),
    [
        ([-4, -3, -2, -1], [0, 0, 1, 1], -2.5),
        # Both cuts between -4 and -2 leave one sentence of four on the wrong side, with r = 1 /
        # sqrt(3): the lower is taken.
        ([-4, -3, -2, -1], [0, 1, 0, 1], -3.5),
        # All three cuts are equally good if all labels agree, and -2.5 is in the middle.
        ([-4, -3, -2, -1], [1, 1, 1, 1], -2.5),
        # If the worse ones are labelled good, every cut is worse than chance; r = -1/sqrt(3) at
        # both ends.
        ([-4, -3, -2, -1], [1, 1, 0, 0], -3.5),
        # Cuts that accept 8, 5 or 1 are equally good: 8/sqrt(384), 10/sqrt(600) and 6/sqrt(216).
        (range(-10, 0), [0, 0, 1, 0, 0, 1, 0, 1, 0, 1], -5.5),
        ([-2, -2, -2], [0, 1, 1], -2.0),
    ],
)
def test_the_best_threshold_is_midway_between_two_values(values, acceptable, expected):
    assert threshold(values, acceptable) == expected
    assert by_definition(values, acceptable) == expected


LABELLED = st.lists(st.tuples(st.integers(-12, 0), st.booleans()), min_size=1, max_size=14)


def test_a_threshold_may_be_as_far_off_as_the_values_beside_it_are_on_average():
    values, bounds = np.array([-4.0, -3.0, -2.0]), np.array([4.0, 3.0, 2.0])
    acceptable = np.array([False, False, True])
    assert best_threshold(values, bounds, acceptable) == (-2.5, 2.5)
    assert best_threshold(values * 0, bounds, acceptable) == (0.0, 4.0)


@given(LABELLED, st.data())
@limits(max_examples=60)
def test_the_threshold_of_a_sentence_is_that_of_all_other_folds(labelled, data):
    values, acceptable = (np.array(each) for each in zip(*labelled, strict=True))
    folds = st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values))
    fold = np.array(data.draw(folds))
    chosen, moved = thresholds(values.astype(float), np.ones(len(values)), acceptable, fold)
    for i in range(len(values)):
        others = fold != fold[i]
        if others.any():
            expected = by_definition(values[others].tolist(), acceptable[others].tolist())
            assert (chosen[i], moved[i]) == (expected, 1.0)
        else:
            assert math.isnan(chosen[i])


def test_folds_are_ten_of_about_the_same_size_that_depend_on_ids_alone():
    ids = [f"i{number}" for number in range(5000)]
    folds = folds_of(ids)
    assert all(400 < size < 600 for size in np.bincount(folds, minlength=10))
    assert folds_of(ids[:40]).tolist() == folds[:40].tolist()
    assert folds[:8].tolist() == [0, 1, 0, 6, 2, 3, 8, 9]


def test_fewer_than_twenty_sentences_are_a_fold_each_and_twenty_are_not():
    ids = [f"i{number}" for number in range(20)]
    assert len({*folds_of([*ids[:19], *ids[:19]]).tolist()}) == 19
    assert len({*folds_of(ids).tolist()}) < 11


FOUR = [True, True, False, False]
FIVE = [True, True, True, False, False]
SENTENCES = {
    # Without the first or the second, the others are right, wrong, right, wrong from the top: r =
    # 1/sqrt(3) above the second and below the third, of which the lower is taken. Without -4
    # nothing is wrong at -7, without -5 at -3; and without -9, r is 1/3, 1/sqrt(3) (at -3) and
    # -1/3.
    "threshold of the others": ([-1, -2, -4, -5, -9], [True, True, False, True, False], {},
        {"value_good": [-1, -2, -4, -5, -9], "value_bad": [-7, -7, -7, -3, -3],
         "margin": [6, 5, -3, -2, 6], "correct": [1, 1, 0, 0, 1],
         "accepted": [True, True, True, False, False], "tie": [False] * 5}),
    "lower values": ([-1, -2, -8, -9], FOUR, {"method": "perplexity"},
        {"value_bad": [*map(math.exp, (5, 4.5, 5.5, 5))]}),
    "lower sums": ([-9, -8, -2, -1], FOUR, {"method": "odd=lower sum(all)"},
        {"value_bad": [-5, -5.5, -4.5, -5], "margin": [4, 2.5, 2.5, 4], "correct": [1] * 4}),
    "no score": ([-1, math.nan, -2, -8, -9], FIVE, {},
        {"value_good": [-1, None, -2, -8, -9], "value_bad": [-5, None, -4.5, -5.5, -5],
         "correct": [1, None, 1, 1, 1], "accepted": [True, None, True, False, False],
         "acceptable": FIVE}),
    "a single one": ([-1], [True], {}, {"value_good": [-1], "correct": [None], "accepted": [None]}),
    "unknown words": ([-1, -8.5, -2, -8, -9], FIVE, {"unknown": "any", "ids": {(1, "good"): [0]}},
        {"value_good": [-1, -8.5, -2, -8, -9], "value_bad": [-5, None, -4.5, -5.5, -5],
         "correct": [1, None, 1, 1, 1]}),
    # A sentence of two paradigms never takes part in its own threshold.
    "two paradigms": ([-1, -1, -2, -9], [False, False, True, False],
        {"columns": {"item_id": ["i0", "i0", "i2", "i3"], "paradigm": ["SG", "PL", "SG", "SG"]}},
        {"value_bad": [-5.5, -5.5, -5, -1.5], "paradigm": ["SG", "PL", "SG", "SG"]}),
    # Without the middle sentence, the threshold is midway between the other two.
    **{f"tie {ties}": ([-2, -3, -4], [True, False, False], {"ties": ties, "near_tie": 0},
        {"value_bad": [-3.5, -3, -2.5], "margin": [1.5, 0, 1.5], "correct": [1, value, 1],
         "accepted": [True, True, False], "tie": [False, True, False],
         "near_tie": [False, True, False]})
       for ties, value in (("wrong", 0), ("right", 1), ("half", 0.5))},
}  # fmt: skip


@pytest.mark.parametrize(
    ("values", "acceptable", "settings", "expected"), SENTENCES.values(), ids=SENTENCES
)
def test_sentences_are_judged_by_thresholds(tmp_path, values, acceptable, settings, expected):
    rows = judged_sentences(tmp_path, [*map(float, values)], acceptable, **settings)
    assert {name: [row[name] for row in rows] for name in expected} == expected


def test_values_that_rounding_may_have_put_at_the_threshold_are_tied(tmp_path):
    unit = 2.0**-10
    # Rounding is about 3 units of the value and 3 of the threshold, the mean of 2 and 4.
    for more, tied in ((5 * unit, True), (7 * unit, False), (-5 * unit, True), (-7 * unit, False)):
        values = [-2.0, -3.0 + more, -4.0]
        (_, row, _) = judged_sentences(tmp_path, values, [True, True, False], rounding=unit)
        assert (row["value_bad"], row["tie"]) == (-3.0, tied)
        assert row["margin"] == (0.0 if tied else more)


def test_near_ties_are_those_that_noise_in_a_sum_could_make(tmp_path):
    values, acceptable = [-2.0, -3.25, -4.0], [True, False, False]
    for method, near_tie, near in (
        ("full_sentence", 0.25, False),
        ("full_sentence", 0.26, True),
        ("length=sum(all) / characters", 0.24, False),
        ("length=sum(all) / characters", 0.26, True),
    ):
        result = judged_sentences(tmp_path, values, acceptable, method=method, near_tie=near_tie)
        assert result[1]["near_tie"] == near


@pytest.mark.parametrize(
    ("acceptable", "method", "says"),
    [
        ([True, None], "full_sentence", "lacks values of acceptable; expected items with accept"),
        ([True, False], "vibes", "method 'vibes' is unknown"),
    ],
)
def test_what_cannot_be_judged_is_refused(tmp_path, acceptable, method, says):
    with pytest.raises(UserError, match=says):
        judged_sentences(tmp_path, [-1.0, -2.0], acceptable, method=method)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=60))
def test_matthews_correlation_is_that_of_pearson_with_its_interval(pairs):
    acceptable, accepted = (np.array(each) for each in zip(*pairs, strict=True))
    counts = acceptable.sum(), accepted.sum(), (acceptable & accepted).sum()
    value = float(matthews_correlation(len(pairs), *counts))
    if len({*acceptable.tolist()}) < 2 or len({*accepted.tolist()}) < 2:
        assert value == 0.0
        return
    peer = pearsonr(acceptable.astype(float), accepted.astype(float))
    assert value == pytest.approx(peer.statistic, abs=1e-12)
    if abs(value) < 1:
        interval = peer.confidence_interval(0.95)
        assert correlation_interval(value, len(pairs)) == pytest.approx([*interval], abs=1e-9)


def test_correlations_do_not_overflow_and_intervals_have_their_ends():
    million = 10**6
    assert float(matthews_correlation(8 * million, 4 * million, 4 * million, 3 * million)) == 0.5
    assert correlation_interval(0.5, 3) == (-1.0, 1.0)
    assert correlation_interval(1.0, 50) == (1.0, 1.0)
    assert correlation_interval(-1.0, 50) == (-1.0, -1.0)


MORE = "(1;%match%) < (1;%mismatch%)"


@pytest.fixture
def lines(tmp_path):
    """Return a function that explains each judged item, from the tables in the test's folder."""

    def run():
        nodes = {}
        for kind in ("items", "scores", "judgements"):
            path = tmp_path / kind / "eng.parquet"
            path.parent.mkdir()
            (tmp_path / f"{kind}.parquet").rename(path)
            nodes[kind] = Node(path, "", None)
        judgements = nodes.pop("judgements")
        judgements.inputs.extend(nodes.values())
        rows = read_tables([judgements]).drop(columns=TABLE).to_dict("records")
        return [item_lines([item_evidence(judgements, row)]) for row in rows]

    return run


def test_a_sentence_stands_once_with_its_threshold_and_whether_it_is_accepted(lines, tmp_path):
    judged_sentences(tmp_path, [-1.0, -2.0, -8.0, -9.0], [True, False, True, False])
    shown = lines()
    values = "value -1.000, threshold -8.500, accepted, right"
    assert shown[0][0] == f"i0  SG  full_sentence: {values}"
    assert all("accepted" in text[0] and "threshold" in text[0] for text in shown)
    signs = ["acceptable:", "not acceptable:"] * 2
    assert [text[1].split(" a b")[0].strip() for text in shown] == signs
    assert all(sum("a b" in line for line in text) == 1 for text in shown)


def test_each_prediction_of_an_item_says_whether_it_holds(lines, tmp_path):
    judged_designs(tmp_path, [item(3.0, 4.5)], [LESS, MORE])
    (shown,) = lines()
    assert shown[0].endswith("critical_region: margin -25.000, wrong")
    assert shown[1:3] == [f"   predicted: {LESS} (holds)", f"   predicted: {MORE} (does not hold)"]
    assert shown[3].startswith("   match: [1 the cats] [2 sleep]")
