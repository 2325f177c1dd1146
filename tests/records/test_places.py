"""Texts that are given away hold no path of the machine on which they were made."""

from pathlib import Path

import pytest

from blimpworks.records.places import relative_texts


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Somebody's directory with results elsewhere, from which a workflow runs."""
    work = tmp_path / "home/ada/work"
    work.mkdir(parents=True)
    (tmp_path / "scratch/ada/results").mkdir(parents=True)
    (tmp_path / "scratch/ada/model.bin").touch()
    monkeypatch.chdir(work)
    return tmp_path


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
    ],
)
def test_paths_are_relative_and_the_rest_stays(home, text, expected):
    relative = relative_texts(
        {"results": home / "scratch/ada/results", "resources": Path("resources")}
    )
    assert relative(text.replace("{tmp}", str(home))) == expected


def test_results_below_the_working_directory_keep_their_path(home):
    relative = relative_texts({"results": Path("results/x"), "resources": Path("resources")})
    assert relative(f"{Path.cwd()}/results/x/items") == "results/x/items"
