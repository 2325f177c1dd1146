"""Pairs of other benchmarks go out as a declared benchmark and come back the same."""

import lzma

import pytest

from blimpworks.benchmarks.build import build_items
from blimpworks.benchmarks.drafts import export_benchmark
from blimpworks.errors import UserError
from blimpworks.papers.blimp.items.build import build_items as build_blimp
from blimpworks.tables import ITEMS, read_table
from support.tiny import write_items

SAME = ("lang", "phenomenon", "paradigm", "good", "bad")
SPANS = ("good_start", "good_end", "bad_start", "bad_end")


def there_and_back(tmp_path, items, columns):
    """Columns of the items, and of those of the declared benchmark made from them."""
    folder, output = tmp_path / "again", tmp_path / "again.parquet"
    export_benchmark([items], folder, "Again", "Nobody (2026)")
    build_items(folder / "benchmark.yaml", [], folder, "again", "eng", output)
    return tuple(read_table(ITEMS, path, columns).to_pylist() for path in (items, output))


@pytest.mark.mirror
def test_all_released_pairs_of_a_paper_come_back_the_same(tmp_path, mirror):
    files = []
    for path in sorted((mirror / "blimp" / "data").glob("*.jsonl.xz")):
        files.append(tmp_path / path.stem)
        files[-1].write_bytes(lzma.decompress(path.read_bytes()))
    items = tmp_path / "items.parquet"
    build_blimp(files, items, 1000)
    before, after = there_and_back(tmp_path, items, SAME)
    assert len(before) == 67_000
    assert sorted(map(str, before)) == sorted(map(str, after))


def test_critical_regions_come_back_the_same_and_a_folder_is_not_written_twice(tmp_path):
    items = write_items(tmp_path / "items.parquet", [("He runs.", "He run."), ("a b", "a c")])
    before, after = there_and_back(tmp_path, items, [*SAME, *SPANS])
    assert before == after
    with pytest.raises(UserError, match=r"again/benchmark\.yaml exists; expected a new folder"):
        export_benchmark([items], tmp_path / "again", "Again", "Nobody (2026)")
