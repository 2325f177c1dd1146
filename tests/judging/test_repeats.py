"""One name stands for one thing in a table, however often it stands there."""

from pathlib import Path

import pyarrow as pa
import pytest

from blimpworks.errors import UserError
from blimpworks.judging.judge import count_repeats

PATH = Path("scores.parquet")


def table(*rows):
    return pa.table({"item_id": [r[0] for r in rows], "value": [r[1] for r in rows]})


def test_rows_that_are_the_same_again_are_counted():
    nan = float("nan")
    rows = table(("a", [1.0, nan]), ("b", None), ("a", [1.0, nan]), ("b", None), ("a", [1.0, nan]))
    assert count_repeats(rows, ["item_id"], ["value"], PATH, "scores") == 3


def test_distinct_rows_are_no_repetition():
    assert count_repeats(table(("a", [1.0]), ("b", [1.0])), ["item_id"], ["value"], PATH, "x") == 0
    assert (
        count_repeats(
            table().cast(pa.schema({"item_id": pa.string(), "value": pa.string()})),
            ["item_id"],
            ["value"],
            PATH,
            "x",
        )
        == 0
    )


def test_a_name_of_two_things_is_refused_with_both_rows():
    rows = table(("a", [1.0]), ("b", [1.0]), ("a", [2.0]))
    message = r"^scores\.parquet: rows 1 and 3 are both of 'a', but have different scores; expected"
    with pytest.raises(UserError, match=message):
        count_repeats(rows, ["item_id"], ["value"], PATH, "scores")
