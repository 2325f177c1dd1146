"""Test that published texts contain no path of the machine that made them."""

from pathlib import Path

import pytest

from blimpworks.files import sha256_of, write_text
from blimpworks.records.job import Command, Job, relative_texts
from blimpworks.records.reading import output_hash, record_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{tmp}/scratch/ada/results/items/eng.parquet", "results/items/eng.parquet"),
        ('"{tmp}/scratch/ada/results"', '"results"'),
        ("{tmp}/home/ada/work/config/x.yaml:3", "config/x.yaml:3"),
        ("--mirror={tmp}/scratch/ada/model.bin,", "--mirror=model.bin,"),
        ("pathvars:\n  results: {tmp}/scratch/ada/results\n", "pathvars:\n  results: results\n"),
        ("https://example.org/scratch/ada/x", "https://example.org/scratch/ada/x"),
        ("resources/demo/text/eng.txt and/or 1/2", "resources/demo/text/eng.txt and/or 1/2"),
        ("{tmp}/home/ada/work/results/x/items", "results/x/items"),
    ],
)
def test_paths_are_relative_and_the_rest_stays(tmp_path, monkeypatch, text, expected):
    """Results are elsewhere, or below the directory from which a workflow runs."""
    work, scratch = tmp_path / "home/ada/work", tmp_path / "scratch/ada"
    work.mkdir(parents=True)
    (scratch / "results").mkdir(parents=True)
    (scratch / "model.bin").touch()
    monkeypatch.chdir(work)
    results = Path("results/x") if expected == "results/x/items" else scratch / "results"
    relative = relative_texts({"results": results, "resources": Path("resources")})
    assert relative(text.replace("{tmp}", str(tmp_path))) == expected


def test_a_record_is_found_by_any_path_of_its_product(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = Command("write", ("blimpworks.files:write_text",))
    with Job(command, inputs=[], outputs=[Path("results/a.txt")], params={}):
        write_text(Path("results/a.txt"), "a")
    for path in (Path("results/a.txt"), tmp_path / "results/a.txt", Path("b/../results/a.txt")):
        record = record_of(path)
        assert record is not None
        assert output_hash(record, path) == sha256_of(Path("results/a.txt"))
