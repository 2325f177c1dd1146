"""Items of several conditions, from token scores to whether their predictions hold."""

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blimpworks.benchmarks.design_table import positions
from blimpworks.benchmarks.judge_designs import judge_designs
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


def test_a_prediction_holds_where_the_named_regions_differ_as_it_says(tmp_path):
    rows = judged_designs(tmp_path, [item(3.0, 4.5), item(4.5, 3.0)], [LESS])
    assert [row["item_id"] for row in rows] == ["item 0", "item 1"]
    assert [row["margin"] for row in rows] == [1.5, -1.5]
    assert [row["correct"] for row in rows] == [1.0, 0.0]
    assert [row["predictions_held"] for row in rows] == [[True], [False]]
    labels = {(row["phenomenon"], row["paradigm"], row["method"]) for row in rows}
    assert labels == {("sv#", "SG", "critical_region")}
    assert {(row["value_good"], row["value_bad"], row["tie"]) for row in rows} == {
        (None, None, False)
    }


def test_an_item_is_correct_where_all_its_predictions_hold_by_the_smallest_margin(tmp_path):
    formulas = [LESS, "(1;%match%) > (1;%mismatch%)", "(2;%match%) > 4"]
    rows = judged_designs(tmp_path, [item(4.5, 5.0), item(3.5, 5.0)], formulas)
    assert [row["predictions_held"] for row in rows] == [[True, True, True], [True, True, False]]
    assert [(row["correct"], row["margin"]) for row in rows] == [(1.0, 0.5), (0.0, -0.5)]


def test_items_of_several_suites_keep_their_order_and_their_own_predictions(tmp_path):
    items = [item(3.0, 4.0), item(3.0, 5.0), item(3.0, 6.0)]
    formulas = [[LESS], ["(1;%match%) < (1;%mismatch%)", LESS], [LESS]]
    columns = {"paradigm": ["a", "a", "b", "b", "a", "a"]}
    rows = judged_designs(tmp_path, items, formulas, columns=columns)
    assert [(row["paradigm"], row["margin"]) for row in rows] == [("a", 1), ("b", -25), ("a", 3)]
    assert [row["predictions_held"] for row in rows] == [[True], [False, True], [True]]


def test_items_of_two_suites_may_have_the_same_name(tmp_path):
    columns = {"paradigm": ["a", "a", "b", "b"], "item": ["1"] * 4}
    rows = judged_designs(tmp_path, [item(3.0, 4.0), item(4.0, 3.0)], [LESS], columns=columns)
    assert [(r["item_id"], r["paradigm"], r["margin"]) for r in rows] == [
        ("1", "a", 1.0),
        ("1", "b", -1.0),
    ]


def test_rows_of_items_may_be_mixed(tmp_path):
    items = [item(3.0, 4.0), item(3.0, 5.0)]
    path = write_designs(tmp_path / "items.parquet", items, [LESS])
    tokens = [(each.tokens, each.tokens) for one in items for each in one.values()]
    scores = write_scores(tmp_path / "scores.parquet", tokens)
    mixed = tmp_path / "mixed.parquet"
    table = pq.read_table(path)
    pq.write_table(table.take([3, 0, 2, 1]).replace_schema_metadata(None), mixed)
    judge_designs(mixed, scores, tmp_path / "out.parquet", Rules(["critical_region"], ["half"], 0))
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [(row["item_id"], row["margin"]) for row in rows] == [("item 1", 2.0), ("item 0", 1.0)]


def test_surprisals_of_all_tokens_of_a_region_add_up(tmp_path):
    items = [
        {
            "match": Condition(("a", [9.0]), ("bcd", [1.0, 2.0, 4.0]), ("e", [9.0])),
            "mismatch": Condition(("a", [1.0]), ("bcd", [8.0]), ("e", [1.0])),
        }
    ]
    (row,) = judged_designs(tmp_path, items, [LESS])
    assert row["margin"] == 8.0 - 7.0


def test_a_token_of_nothing_but_the_space_before_a_region_belongs_to_it(tmp_path):
    apart = [(-50.0, 8), (-0.5, 9), (-3.0, 14)]
    joined = [(-25.0, 7), (-4.0, 13)]
    (row,) = judged_scores(tmp_path, [item(3.0, 4.0)], [LESS], [apart, joined])
    assert row["margin"] == 4.0 - 3.5


def test_an_empty_region_has_a_surprisal_of_zero(tmp_path):
    items = [
        {
            "match": Condition(("a", [9.0]), ("", []), ("b", [2.0])),
            "mismatch": Condition(("a", [9.0]), ("so", [0.25]), ("b", [3.0])),
        }
    ]
    (row,) = judged_designs(tmp_path, items, [LESS])
    assert row["margin"] == 0.25
    (row,) = judged_designs(tmp_path, items, ["(2;%match%) = 0"])
    assert row["margin"] == 1e-3
    (row,) = judged_designs(tmp_path, items, [LESS], method="mean=mean(region)")
    assert row["margin"] == 0.25


def test_an_asterisk_is_the_whole_sentence_without_its_end_symbol(tmp_path):
    items = [item(3.0, 4.0, ("now", [1.0, 2.0]))]
    tokens = [[*each.tokens, (-100.0 * i, len(each.sentence))]
              for i, each in enumerate(items[0].values())]  # fmt: skip
    (row,) = judged_scores(tmp_path, items, ["(*;%mismatch%) < (*;%match%)"], tokens)
    assert row["margin"] == (50.0 + 3.0) - (25.0 + 4.0)


def test_regions_are_found_by_name_and_else_by_number(tmp_path):
    named = [(("subject", "the cat"), [5.0]), (("main verb", "sleeps"), [2.0])]
    items = [{"match": Condition(*named), "other": Condition(*named[::-1])}]
    for formula, expected in {
        "(main verb;%match%) < (subject;%match%)": 3.0,
        "(main verb;%match%) < (1;%match%)": 3.0,
        "(2;%match%) < (2;%other%)": 3.0,
        "(subject;%other%) = (1;%match%)": 1e-3 + 5e-5,
    }.items():
        (row,) = judged_designs(tmp_path, items, [formula])
        assert row["margin"] == expected
    numbered = [{"match": Condition((("2", "a"), [1.0]), (("1", "b"), [4.0]))}]
    (row,) = judged_designs(tmp_path, numbered, ["(2;%match%) < (1;%match%)"])
    assert row["margin"] == 3.0


@pytest.mark.parametrize(("ties", "expected"), [("wrong", 0.0), ("right", 1.0), ("half", 0.5)])
def test_a_tie_counts_as_its_policy_says_where_no_prediction_fails(tmp_path, ties, expected):
    items = [item(3.0, 3.0), item(3.0, 2.0), item(3.0, 4.0)]
    rows = judged_designs(tmp_path, items, [LESS, "(2;%match%) < 9"], ties=ties, near_tie=0)
    assert [row["correct"] for row in rows] == [expected, 0.0, 1.0]
    assert [row["tie"] for row in rows] == [True, False, False]
    assert [row["near_tie"] for row in rows] == [True, False, False]
    assert rows[0]["predictions_held"] == [False, True]


def test_sums_that_differ_by_rounding_alone_are_tied(tmp_path):
    unit = 2.0**-10
    differences = [10 * unit, 11 * unit, 12 * unit]  # 5 and 5 nats, and so many roundings more
    items = [item(5.0, 5.0 + more) for more in differences]
    rows = judged_designs(tmp_path, items, [LESS], rounding=unit)
    assert [row["tie"] for row in rows] == [True, False, False]
    assert [row["margin"] for row in rows] == [0.0, 11 * unit, 12 * unit]


def test_empty_regions_add_nothing_to_rounding(tmp_path):
    unit, empty = 2.0**-10, ("", [])
    items = [item(5.0, 5.0 + more, empty) for more in (10 * unit, 11 * unit)]
    formula = "(2;%match%) + (3;%match%) < (2;%mismatch%) + (3;%mismatch%)"
    rows = judged_designs(tmp_path, items, [formula], rounding=unit)
    assert [row["tie"] for row in rows] == [True, False]


def test_rounding_makes_no_tie_of_an_equality(tmp_path):
    unit = 2.0**-10  # 0.00002 below the tolerance, by which it is not known
    items = [item(unit, 4.0), item(unit + 2.0**-14, 4.0)]
    rows = judged_designs(tmp_path, items, ["(2;%match%) = 0"], rounding=unit)
    assert [(row["correct"], row["tie"], row["near_tie"]) for row in rows] == [
        (1.0, False, True),
        (0.0, False, True),
    ]
    assert rows[0]["margin"] == 1e-3 - unit


def test_near_ties_are_margins_below_the_noise(tmp_path):
    items = [item(3.0, 3.0 + more) for more in (0.0, 0.25, -0.25, 0.5, -0.5)]
    rows = judged_designs(tmp_path, items, [LESS], near_tie=0.5)
    assert [row["near_tie"] for row in rows] == [True, True, True, False, False]


def test_an_item_with_a_needed_region_without_a_score_is_not_judged(tmp_path, caplog):
    unscored, first = item(math.nan, 4.0), item(3.0, 4.0)
    first["match"] = Condition(("the cats", [math.nan]), ("sleep", [3.0]))
    items = [unscored, first, item(3.0, 4.0)]
    rows = judged_designs(tmp_path, items, [LESS])
    assert [row["correct"] for row in rows] == [None, 1.0, 1.0]
    nulls = ("margin", "tie", "near_tie", "predictions_held", "value_good")
    assert {rows[0][name] for name in nulls} == {None}
    assert "1 of 3 judgements are null" in caplog.text
    rows = judged_designs(tmp_path, items, ["(*;%match%) < 0"])
    assert [row["correct"] for row in rows] == [None, None, 0.0]
    (row,) = judged_designs(
        tmp_path, [item(3.0, 4.0, ("so", [1.0, math.nan]))], ["(3;%match%) < 9"]
    )
    assert row["correct"] is None


@pytest.mark.parametrize(
    ("unknown", "judged"),
    [(None, [1.0, 1.0, 1.0]), ("critical", [None, 1.0, 1.0]), ("any", [None, None, 1.0])],
)
def test_items_with_unknown_words_are_left_out_as_the_rules_say(tmp_path, unknown, judged):
    ids = {(1, "good"): [7, 0], (2, "good"): [0, 7]}
    rows = judged_designs(tmp_path, [item(3.0, 4.0)] * 3, [LESS], unknown=unknown, ids=ids)
    assert [row["correct"] for row in rows] == judged


@pytest.mark.parametrize(
    ("method", "margin"),
    [
        ("mean=mean(region)", 12.0 / 1 - 6.0 / 2),
        ("length=sum(region) / characters", 12.0 / 2 - 6.0 / 3),
        ("length=sum(region) / bytes", 12.0 / 4 - 6.0 / 3),
        ("odd=lower sum(region)", 6.0 - 12.0),
        ("odd=lower -sum(region)", 12.0 - 6.0),
        ("odd=only(region)", None),
    ],
)
def test_a_method_says_how_a_region_is_added_up_and_by_which_length_divided(
    tmp_path, method, margin
):
    items = [
        {
            "match": Condition(("so", [1.0]), ("ten", [2.0, 4.0])),
            "mismatch": Condition(("longer", [1.0]), ("éé", [12.0])),
        }
    ]
    (row,) = judged_designs(tmp_path, items, [LESS], method=method)
    assert row["margin"] == margin


def test_each_method_has_a_row_for_each_item(tmp_path):
    items = [item(3.0, 4.0), item(4.0, 3.0)]
    path = write_designs(tmp_path / "items.parquet", items, [LESS])
    tokens = [(each.tokens, each.tokens) for one in items for each in one.values()]
    scores = write_scores(tmp_path / "scores.parquet", tokens)
    rules = Rules(["critical_region", "odd=lower sum(region)"], ["wrong", "half"], 0.01)
    judge_designs(path, scores, tmp_path / "out.parquet", rules)
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [(row["method"], row["correct"]) for row in rows] == [
        ("critical_region", 1.0),
        ("critical_region", 0.0),
        ("odd", 0.0),
        ("odd", 1.0),
    ]


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


def test_a_condition_that_an_item_lacks_is_refused(tmp_path):
    lacking = {"match": item(3.0, 4.0)["match"], "other": item(3.0, 4.0)["match"]}
    with pytest.raises(UserError) as error:
        judged_designs(tmp_path, [item(3.0, 4.0), lacking], [LESS])
    assert str(error.value) == (
        f"suite 'SG', item 'item 1': prediction '{LESS}' names condition 'mismatch', which the "
        "item lacks; it has match, other. Correct the prediction or the items."
    )


@pytest.mark.parametrize("region", ["3", "0", "verb", "np"])
def test_a_region_that_a_condition_has_not_exactly_once_is_refused(tmp_path, region):
    named = [(("np", "a"), [1.0]), (("np", "b"), [1.0])]
    items = [item(3.0, 4.0, ("so", [1.0])), {"match": Condition(*named)}]
    formulas = [[LESS], [f"({region};%match%) < 3"]]
    with pytest.raises(UserError) as error:
        judged_designs(tmp_path, items, formulas)
    assert str(error.value) == (
        f"suite 'SG', item 'item 1': prediction '({region};%match%) < 3' names region '{region}', "
        "which condition 'match' must have once; it has np, np. Correct the prediction or the "
        "items."
    )


def test_positions_are_those_of_the_only_region_with_a_name_or_of_a_number():
    regions = pa.array([["a", "b"], ["b", "2", "1"], [], ["b", "b"]])
    names = {"a": [0, -1, -1, -1], "b": [1, 2, -1, -1], "c": [-1] * 4, "0": [-1] * 4}
    numbers = {"1": [0, 4, -1, 5], "2": [1, 3, -1, 6], "3": [-1, 4, -1, -1]}
    for name, expected in (names | numbers).items():
        assert positions(regions, name).tolist() == expected


@pytest.mark.parametrize(
    ("formulas", "columns", "says"),
    [
        ([[LESS], []], {}, "suite 'SG', item 'item 1' has no predictions; expected"),
        (
            [LESS],
            {"condition": ["match", "mismatch", "match", "match"]},
            "item 'item 1' has condition 'match' in several rows;",
        ),
        (
            [LESS],
            {"condition": [None, "mismatch"] * 2},
            "lacks values of condition; expected items with item, con",
        ),
        ([LESS], {"item_id": ["i0", "i1", "i2", "i9"]}, "has no scores of item i9"),
        (["(2;%odd%) < 3"], {}, r"item 'item 0': .* names condition 'odd', which the item"),
    ],
)
def test_items_that_cannot_be_judged_are_refused(tmp_path, formulas, columns, says):
    with pytest.raises(UserError, match=says):
        judged_designs(tmp_path, [item(3.0, 4.0)] * 2, formulas, columns=columns)


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("wrong", [1.0, 0.5, 0.0, 0.5, None]),
        ("half", [1.0, 0.5, 0.0, 0.75, None]),
        ("right", [1.0, 0.5, 0.0, 1.0, None]),
    ],
)
def test_by_the_mean_an_item_is_right_by_its_share_of_predictions(tmp_path, ties, expected):
    formulas = [LESS, "(1;%match%) > (1;%mismatch%) + (2;%match%)"]
    items = [item(3.0, 4.0), item(30.0, 31.0), item(31.0, 30.0), item(25.0, 26.0)]
    items += [item(math.nan, 3.0)]
    columns = {"right": ["mean"] * 10}
    rows = judged_designs(tmp_path, items, formulas, columns=columns, ties=ties, near_tie=0)
    assert [row["correct"] for row in rows] == expected
    assert [row["margin"] for row in rows] == [1.0, -5.0, -6.0, 0.0, None]
    assert [row["tie"] for row in rows] == [False, False, False, True, None]
    assert rows[1]["predictions_held"] == [True, False]
    assert "effects" not in rows[0]


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


REGION_TOKENS = st.lists(st.floats(0, 40, width=32), min_size=1, max_size=4)
SENTENCES = st.lists(REGION_TOKENS, min_size=3, max_size=3)


@pytest.mark.slow
@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=4))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_margins_are_those_of_sums_added_up_one_by_one(tmp_path, items):
    """Python adds up the tokens of each region, whose texts have four characters."""
    formula = "(2;%a%) + (3;%a%) - 1.5 < (2;%b%) & ![(1;%a%) > (3;%b%)]"
    designs = [
        {name: Condition(*(("abcd", region) for region in regions))
         for name, regions in zip("ab", pair, strict=True)} for pair in items
    ]  # fmt: skip
    rows = judged_designs(tmp_path, designs, [formula], rounding=0.0)
    for row, (a, b) in zip(rows, items, strict=True):
        first = math.fsum(b[1]) - math.fsum(a[1]) - math.fsum(a[2]) + 1.5
        second = math.fsum(b[2]) - math.fsum(a[0])
        assert row["margin"] == pytest.approx(min(first, second), abs=1e-8)
        assert row["correct"] == (row["margin"] > 0)
