"""Every byte of a table in Parquet counts: a damaged one is never read as other data."""

import os
import random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blimpworks.errors import UserError
from blimpworks.parquet import MARK, count_rows, open_parquet, read_parquet, write_parquet

# `make test-fuzz` tries more.
FLIPS = 150 * int(os.environ.get("BLIMPWORKS_FUZZ", "1"))
TABLE = pa.table(
    {
        "item_id": [f"item-{number}" for number in range(300)],
        "model": pa.array(["a", "b", "c"] * 100).dictionary_encode(),
        "margin": [number / 7 for number in range(300)],
        "correct": [number % 3 == 0 for number in range(300)],
        "logprobs": [[-1.5 * number] * (number % 4) for number in range(300)],
    }
)
METADATA = {b"blimpworks": b'{"table": "scores", "made_by": null}'}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A table in a file."""
    path = tmp_path_factory.mktemp("parquet") / "table.parquet"
    write_parquet(TABLE.replace_schema_metadata(METADATA), path)
    return path


def test_a_table_comes_back_as_it_was_written(path):
    assert read_parquet(path).equals(TABLE, check_metadata=False)
    assert read_parquet(path, ["margin"]).column_names == ["margin"]
    assert count_rows(path) == len(TABLE)


def test_other_readers_read_it_too(path):
    assert pd.read_parquet(path)["margin"].tolist() == TABLE["margin"].to_pylist()
    assert pq.read_table(path).equals(TABLE, check_metadata=False)


def test_the_same_table_has_the_same_bytes(path, tmp_path):
    write_parquet(TABLE.replace_schema_metadata(METADATA), tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("part", ["pages", "checksum", "footer", "end"])
def test_no_flipped_bit_is_read_as_other_data(part, path, tmp_path):
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    seal = content.rindex(MARK, 0, footer)
    first, end = {
        "pages": (0, seal),
        "checksum": (seal, footer),
        "footer": (footer, len(content) - 8),
        "end": (len(content) - 8, len(content)),
    }[part]
    chosen = random.Random(part)
    damaged = tmp_path / "damaged.parquet"
    for number in range(FLIPS // 4):
        flipped = bytearray(content)
        bit = chosen.randrange(first * 8, end * 8)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.write_bytes(flipped)
        # The same size, and perhaps the same time: what was seen of it before must not count.
        os.utime(damaged, (number + 1, number + 1))
        with pytest.raises(UserError, match=r"damaged.parquet.*; expected a table in Parquet"):
            read_parquet(damaged)


@pytest.mark.parametrize("cut", [0, 1, 7, 100, -1, -9, -60])
def test_a_table_that_was_cut_short_is_refused(cut, path, tmp_path):
    (tmp_path / "cut.parquet").write_bytes(path.read_bytes()[:cut])
    with pytest.raises(UserError, match=r"cut.parquet: "):
        read_parquet(tmp_path / "cut.parquet")


def test_a_table_of_another_tool_is_read_too(tmp_path):
    pq.write_table(TABLE, tmp_path / "plain.parquet")
    assert read_parquet(tmp_path / "plain.parquet").equals(TABLE, check_metadata=False)


def test_the_message_says_what_was_expected_and_what_to_do(tmp_path):
    (tmp_path / "no.parquet").write_text("a,b\n1,2\n")
    expected = r"no.parquet: .*; expected the cells. Build it\.$"
    with (
        pytest.raises(UserError, match=expected),
        open_parquet(tmp_path / "no.parquet", "the cells", "Build it."),
    ):
        pass
    with pytest.raises(UserError, match="does not exist"):
        read_parquet(tmp_path / "none.parquet")
    with pytest.raises(UserError, match=r"is a directory|damaged"):
        read_parquet(tmp_path)
