"""Items of several conditions, from token scores to whether their predictions hold."""

import math

import pyarrow.parquet as pq
import pytest

from blimpworks.benchmarks.verdicts import judge_designs
from blimpworks.errors import UserError
from blimpworks.judging.judge import Rules
from support.judging_kit import Condition, judged_designs, write_designs, write_scores

LESS = "(2;%match%) < (2;%mismatch%)"


def item(match, mismatch, *more):
    """Two conditions, whose second region has these surprisals."""
    return {
        "match": Condition(("the cats", [50.0]), ("sleep", [match]), *more),
        "mismatch": Condition(("the cat", [25.0]), ("sleep", [mismatch]), *more),
    }


def judged_scores(folder, items, formulas, tokens, method="critical_region"):
    """Judge items by the tokens [conditions] of their sentences, each a list of score and end."""
    path = write_designs(folder / "items.parquet", items, formulas)
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
    path = write_designs(tmp_path / "items.parquet", items, [LESS])
    tokens = [(each.tokens, each.tokens) for one in items for each in one.values()]
    scores = write_scores(tmp_path / "scores.parquet", tokens)
    mixed = tmp_path / "mixed.parquet"
    table = pq.read_table(path)
    pq.write_table(table.take([3, 0, 2, 1]).replace_schema_metadata(None), mixed)
    rules = Rules(["critical_region", "odd=lower sum(region)"], ["wrong", "half"], 0)
    judge_designs(mixed, scores, tmp_path / "out.parquet", rules)
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [(row["method"], row["item_id"], row["margin"]) for row in rows] == [
        ("critical_region", "item 1", 2.0),
        ("critical_region", "item 0", 1.0),
        ("odd", "item 1", -2.0),
        ("odd", "item 0", -1.0),
    ]


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
        (
            [LESS],
            {"condition": ["match", "mismatch", "match", "match"]},
            "item 'item 1' has condition 'match' in several rows;",
        ),
        ([LESS], {"condition": [None, "mismatch"] * 2}, "lacks values of condition; expected"),
        ([LESS], {"item_id": ["i0", "i1", "i2", "i9"]}, "has no scores of item i9"),
        (["(2;%odd%) < 3"], {}, r"item 'item 0': the formula .* names region '2' of condition"),
        ([LESS], {"regions": [["1", "1"], ["1", "2"]] * 2}, "has condition 'match' with region"),
    ],
)
def test_items_that_cannot_be_judged_are_refused(tmp_path, formulas, columns, says):
    with pytest.raises(UserError, match=says):
        judged_designs(tmp_path, [item(3.0, 4.0)] * 2, formulas, columns=columns)


def test_effects_are_sums_of_surprisals_beside_the_verdict(tmp_path):
    items = [item(3.0, 4.5), item(math.nan, 4.0), item(5.0, 2.0)]
    names = {"difference": "(2;%mismatch%) - (2;%match%)"}
    names |= {"whole": "(*;%match%) - [(1;%mismatch%) + 0.5]", "single": "-(1;%match%)"}
    columns = {
        "effects": [[*names.values()]] * 4 + [[]] * 2,
        "effect_names": [[*names]] * 4 + [[]] * 2,
    }
    rows = judged_designs(tmp_path, items, [LESS], columns=columns)
    assert [row["effects"] for row in rows] == [[1.5, 27.5, -50.0], [None, None, -50.0], None]
    assert [row["effect_names"] for row in rows] == [[*names], [*names], []]
    assert [row["correct"] for row in rows] == [1.0, None, 0.0]
