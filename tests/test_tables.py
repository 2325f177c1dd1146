"""Test that tables have their schemas' columns, and a damaged one is never read as other data."""

import os
import random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blimpworks import tables as schemas
from blimpworks.errors import UserError
from blimpworks.papers.blimp import tables as rooms
from blimpworks.records.digest import DATA_FILE, _form_of


@pytest.fixture
def schema(tmp_path):
    (tmp_path / "counts.tsv").write_text("column\tkind\nlang\tlabel\nn\tint\n", "utf-8")
    return schemas.read_schema(str(tmp_path / "tables.py"), "counts.tsv")


def test_a_schema_beside_a_module_is_called_after_its_file(schema):
    assert (schema.name, schema.open) == ("counts", False)
    assert schema.columns == (("lang", schemas.LABEL), ("n", schemas.INT))


def test_a_schema_with_a_base_is_of_its_kind_with_more_columns(schema, tmp_path):
    (tmp_path / "more.tsv").write_text("column\tkind\nbetween\tlist of string\n", "utf-8")
    wider = schemas.read_schema(str(tmp_path / "tables.py"), "more.tsv", schema)
    assert (wider.name, wider.names) == ("counts", ["lang", "n", "between"])


def test_an_unknown_kind_of_column_is_refused(tmp_path):
    (tmp_path / "odd.tsv").write_text("column\tkind\nn\tinteger\n", "utf-8")
    with pytest.raises(KeyError, match="integer"):
        schemas.read_schema(str(tmp_path / "tables.py"), "odd.tsv")


def test_rows_and_frames_are_written_without_what_the_schema_lacks(schema, tmp_path):
    rows = [{"lang": "eng", "n": 1, "more": "x"}, {"lang": "deu", "n": 2, "more": "y"}]
    schemas.write_rows(rows, schema, tmp_path / "rows.parquet")
    schemas.write_frame(pd.DataFrame(rows), schema, tmp_path / "frame.parquet")
    paths = [tmp_path / "rows.parquet", tmp_path / "frame.parquet"]
    ours, theirs = (schemas.read_table(schema, path).to_pylist() for path in paths)
    assert ours == theirs == [{"lang": "eng", "n": 1}, {"lang": "deu", "n": 2}]


def test_a_schemas_file_counts_among_the_code_that_reads_it():
    assert "schemas/bins.tsv " in _form_of((rooms.__name__, "BINS")).text
    assert "schemas/ratings.tsv" not in _form_of((rooms.__name__, "BINS")).text
    assert DATA_FILE.fullmatch("grammar.lark")


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
    path = tmp_path_factory.mktemp("parquet") / "table.parquet"
    schemas.write_parquet(TABLE.replace_schema_metadata(METADATA), path)
    return path


def test_a_table_comes_back_as_it_was_written(path):
    assert schemas.read_parquet(path).equals(TABLE, check_metadata=False)
    assert schemas.read_parquet(path, ["margin"]).column_names == ["margin"]
    assert schemas.count_rows(path) == len(TABLE)


def test_other_readers_read_it_too(path):
    assert pd.read_parquet(path)["margin"].tolist() == TABLE["margin"].to_pylist()
    assert pq.read_table(path).equals(TABLE, check_metadata=False)


def test_the_same_table_has_the_same_bytes(path, tmp_path):
    schemas.write_parquet(TABLE.replace_schema_metadata(METADATA), tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("part", ["pages", "checksum", "footer", "end"])
def test_no_flipped_bit_is_read_as_other_data(part, path, tmp_path):
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    seal = content.rindex(schemas.MARK, 0, footer)
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
        # The same size, and perhaps the same time: an earlier look at the file must not count.
        os.utime(damaged, (number + 1, number + 1))
        with pytest.raises(UserError, match=r"damaged.parquet.*; expected a table in Parquet"):
            schemas.read_parquet(damaged)


@pytest.mark.parametrize("cut", [0, 1, 7, 100, -1, -9, -60])
def test_a_table_that_was_cut_short_is_refused(cut, path, tmp_path):
    (tmp_path / "cut.parquet").write_bytes(path.read_bytes()[:cut])
    with pytest.raises(UserError, match=r"cut.parquet: "):
        schemas.read_parquet(tmp_path / "cut.parquet")


def test_a_table_of_another_tool_is_read_too(tmp_path):
    pq.write_table(TABLE, tmp_path / "plain.parquet")
    assert schemas.read_parquet(tmp_path / "plain.parquet").equals(TABLE, check_metadata=False)


def test_the_message_says_what_was_expected_and_what_to_do(tmp_path):
    (tmp_path / "no.parquet").write_text("a,b\n1,2\n")
    expected = r"no.parquet: .*; expected the cells. Build it\.$"
    with (
        pytest.raises(UserError, match=expected),
        schemas.open_parquet(tmp_path / "no.parquet", "the cells", "Build it."),
    ):
        pass
    with pytest.raises(UserError, match="does not exist"):
        schemas.read_parquet(tmp_path / "none.parquet")
    with pytest.raises(UserError, match=r"is a directory|damaged"):
        schemas.read_parquet(tmp_path)
