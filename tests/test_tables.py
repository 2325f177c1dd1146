"""Schemas that are data, and tables written from rows and frames."""

import pandas as pd
import pytest

from blimpworks.papers.blimp import tables as rooms
from blimpworks.records.digest import DATA_FILE, _direct
from blimpworks.tables import INT, LABEL, read_schema, read_table, write_frame, write_rows


@pytest.fixture
def schema(tmp_path):
    (tmp_path / "counts.tsv").write_text("column\tkind\nlang\tlabel\nn\tint\n", "utf-8")
    return read_schema(str(tmp_path / "tables.py"), "counts.tsv")


def test_a_schema_beside_a_module_is_called_after_its_file(schema):
    assert (schema.name, schema.open) == ("counts", False)
    assert schema.columns == (("lang", LABEL), ("n", INT))


def test_a_schema_with_a_base_is_of_its_kind_with_more_columns(schema, tmp_path):
    (tmp_path / "more.tsv").write_text("column\tkind\nbetween\tlist of string\n", "utf-8")
    wider = read_schema(str(tmp_path / "tables.py"), "more.tsv", schema)
    assert (wider.name, wider.names) == ("counts", ["lang", "n", "between"])


def test_an_unknown_kind_of_column_is_refused(tmp_path):
    (tmp_path / "odd.tsv").write_text("column\tkind\nn\tinteger\n", "utf-8")
    with pytest.raises(KeyError, match="integer"):
        read_schema(str(tmp_path / "tables.py"), "odd.tsv")


def test_rows_and_frames_are_written_without_what_the_schema_lacks(schema, tmp_path):
    rows = [{"lang": "eng", "n": 1, "more": "x"}, {"lang": "deu", "n": 2, "more": "y"}]
    write_rows(rows, schema, tmp_path / "rows.parquet")
    write_frame(pd.DataFrame(rows), schema, tmp_path / "frame.parquet")
    tables = [read_table(schema, tmp_path / f"{name}.parquet") for name in ("rows", "frame")]
    assert (
        tables[0].to_pylist()
        == tables[1].to_pylist()
        == [
            {"lang": "eng", "n": 1},
            {"lang": "deu", "n": 2},
        ]
    )


def test_a_schemas_file_counts_among_the_code_that_reads_it():
    assert "schemas/bins.tsv " in _direct((rooms.__name__, "BINS")).text
    assert "schemas/ratings.tsv" not in _direct((rooms.__name__, "BINS")).text
    assert DATA_FILE.fullmatch("grammar.lark")
