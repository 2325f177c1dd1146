import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.errors import UserError
from blimpworks.judging.sample import choose_items, items_to_take, sample_items
from blimpworks.tables import ITEMS, PROMPTS, read_table, write_rows
from support import tiny
from support.judging_kit import Condition, write_designs
from support.lmentry_campaign import prompt_row

PARADIGMS = st.tuples(st.sampled_from("abc"), st.sampled_from("uvwxyz"))
SIZES = st.dictionaries(PARADIGMS, st.integers(1, 12), max_size=12)
LIMITS = st.integers(1, 60)
ROWS = st.lists(st.tuples(st.integers(0, 40).map(str), PARADIGMS), max_size=60)
"""Items and paradigms of rows; an item may be in several paradigms, or twice in one."""


@given(SIZES, LIMITS)
def test_a_sample_fills_the_limit_evenly_and_takes_all_of_small_paradigms(sizes, limit):
    taken = items_to_take(sizes, limit)
    assert sum(taken.values()) == min(limit, sum(sizes.values()))
    assert all(taken[each] <= size for each, size in sizes.items())
    of_others = [taken[each] for each, size in sizes.items() if taken[each] < size]
    most = max(taken.values(), default=0)
    assert all(number >= most - 1 for number in of_others)


@given(SIZES, LIMITS)
def test_where_not_every_paradigm_gets_an_item_phenomena_take_turns(sizes, limit):
    taken = Counter({each: n for each, n in items_to_take(sizes, limit).items() if n})
    if max(taken.values(), default=0) > 1:
        return
    by_phenomenon, there = Counter(p for p, _ in taken), Counter(p for p, _ in sizes)
    most = max(by_phenomenon.values(), default=0)
    short = [by_phenomenon[p] for p in there if by_phenomenon[p] < there[p]]
    assert all(number >= most - 1 for number in short)


@given(ROWS, LIMITS, st.randoms())
def test_neither_order_nor_repetition_of_rows_decides_what_is_drawn(rows, limit, chance):
    again = [*rows, *rows[:3]]
    chance.shuffle(again)
    assert choose_items(rows, limit) == choose_items(again, limit)


@given(ROWS, LIMITS, LIMITS)
def test_a_larger_sample_contains_a_smaller_one(rows, first, second):
    smaller, larger = sorted((first, second))
    chosen = choose_items(rows, larger)
    assert choose_items(rows, smaller) <= chosen <= {item for item, _ in rows}


def test_the_draw_is_the_same_on_every_machine():
    sizes = {("agreement", "near"): 6, ("agreement", "far"): 6, ("islands", "wh"): 1}
    rows = [(f"{p}{q}{number}", (p, q)) for (p, q), n in sizes.items() for number in range(n)]
    drawn = "agreementfar4 agreementfar5 agreementnear1 agreementnear5 islandswh0"
    assert sorted(choose_items(rows, 5)) == drawn.split()


def sampled(path, limit, unit="pair"):
    """Return the rows of a sample of a table, and the command's notes on it."""
    output = path.with_name("sampled.parquet")
    notes = sample_items(path, output, limit, unit)
    return read_table(PROMPTS if unit == "prompt" else ITEMS, output), notes


@pytest.fixture
def pairs(tmp_path):
    """Write an items table of 30 pairs of three paradigms."""
    names = [f"p{i % 3}" for i in range(30)]
    rows = [(f"g {i}", f"b {i}") for i in range(30)]
    return tiny.write_items(tmp_path / "items.parquet", rows, paradigm=names)


def test_rows_stay_in_their_order_with_all_their_columns(pairs):
    whole = read_table(ITEMS, pairs)
    table, notes = sampled(pairs, 7)
    assert notes == {"items": 7, "of_items": 30, "rows": 7, "of_rows": 30}
    assert table.schema.equals(whole.schema)
    rows = whole.to_pylist()
    places = [rows.index(row) for row in table.to_pylist()]
    assert places == sorted(places)
    assert sorted(Counter(row["paradigm"] for row in table.to_pylist()).values()) == [2, 2, 3]
    assert sampled(pairs, 1000)[0].equals(whole)
    with pytest.raises(UserError, match="expected the prompts table"):
        sampled(pairs, 3, "prompt")


def test_items_of_several_conditions_are_whole_and_count_once(tmp_path):
    names = ("match", "mismatch")
    items = [{name: Condition((f"word{i}", [1.0])) for name in names} for i in range(6)]
    path = write_designs(tmp_path / "items.parquet", items, ["(*;%match%) < (*;%mismatch%)"])
    table, notes = sampled(path, 2)
    assert notes == {"items": 2, "of_items": 6, "rows": 4, "of_rows": 12}
    assert set(Counter(table["item"].to_pylist()).values()) == {2}
    assert Counter(table["condition"].to_pylist()) == {"match": 2, "mismatch": 2}


def test_a_pair_in_two_paradigms_comes_with_both_rows(tmp_path):
    ids, names = ["x", "x", "y", "z"], ["near", "far", "near", "far"]
    pairs, columns = [("g", "b")] * 4, {"item_id": ids, "paradigm": names}
    path = tiny.write_items(tmp_path / "items.parquet", pairs, **columns)
    for limit in (1, 2):
        kept = Counter(sampled(path, limit)[0]["item_id"].to_pylist())
        assert len(kept) == limit
        assert kept["x"] in (0, 2)


def prompts_table(path, templates=3, count=10, nominal=12):
    """Write prompts of two tasks, whose settings count a few more for each template."""
    places = product(("first_word", "rhyme"), range(1, templates + 1), range(1, count + 1))
    rows = [prompt_row("eng", *place, {}, nominal=nominal) for place in places]
    random.Random(1).shuffle(rows)
    write_rows(rows, PROMPTS, path)
    return path


def test_prompts_are_balanced_and_their_nominal_numbers_shrink_with_them(tmp_path):
    table, notes = sampled(prompts_table(tmp_path / "items.parquet"), 30, "prompt")
    assert notes == {"items": 30, "of_items": 60, "rows": 30, "of_rows": 60}
    places = zip(table["phenomenon"].to_pylist(), table["template"].to_pylist(), strict=True)
    assert set(Counter(places).values()) == {5}
    assert table["nominal"].to_pylist() == [6] * 30


def test_accuracies_on_a_sample_of_prompts_keep_their_proportion(tmp_path):
    """Right answers to 10 prompts, where the settings have 12, give 10 / 12, sampled or not."""
    from blimpworks.analysis.accuracy import summarise

    path = prompts_table(tmp_path / "items.parquet")
    whole = read_table(PROMPTS, path)
    for table in (whole, sampled(path, 30, "prompt")[0]):
        judged = table.select(["item_id", "phenomenon", "paradigm", "nominal"]).to_pandas()
        judged = judged.astype({"phenomenon": object, "paradigm": object})
        judged = judged.assign(method="published", correct=1.0, tie=False, near_tie=False)
        accuracies = summarise(judged)["accuracy"]
        assert accuracies.to_list() == pytest.approx([10 / 12] * len(accuracies))
