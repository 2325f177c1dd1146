"""Test the public benchmarks that consist of data alone, read from the mirror."""

import re

import pandas as pd
import pytest
import yaml

from blimpworks.benchmarks.accuracies import read_people
from blimpworks.benchmarks.build import build_items
from blimpworks.benchmarks.check import preview
from blimpworks.benchmarks.paper import read_declared
from support.mirror_kit import fetch
from support.paths import REPOSITORY

FOLDER = REPOSITORY / "config" / "benchmarks"
NAMES = sorted(path.name for path in FOLDER.iterdir())
SAME = {
    **{"babylm_blimp": 7, "babylm_multilingual_blimp": 7, "babylm_multilingual_blimp_nl": 10},
    **{"blimp_nl": 10, "gulordava": 31, "qfrblimp": 18, "turblimp": 30},
}
"""Number of pairs whose two sentences are the same."""


def test_all_that_are_shipped_are_data_alone():
    for path in FOLDER.rglob("*"):
        assert path.is_dir() or path.suffix in (".yaml", ".tsv", ".csv")
        if path.name == "benchmark.yaml":
            assert len(path.read_text().splitlines()) <= 60
            assert yaml.safe_load(path.read_text())


# The multilingual track repeats files of other benchmarks.
AGAIN = [name for name in NAMES if "multilingual" in name]


@pytest.mark.mirror
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long) if name in AGAIN else name for name in NAMES],
)
def test_items_of_a_shipped_benchmark_are_as_many_as_its_paper_says(name, mirror, tmp_path):
    declared = read_declared(FOLDER / name)
    assert declared.items
    assert declared.licence
    for row in declared.sources_of(declared.data):
        fetch(row, mirror, tmp_path)
    # It refuses a number of items other than the paper's, which the declaration has.
    text = "\n".join(preview(declared, tmp_path / "raw", 1))
    twice = re.findall(r"twice the same sentence: (\d+), which count as ties", text)
    assert twice == ([str(SAME[name])] if name in SAME else [])


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("name", "lang", "n", "right"),
    [("qfrblimp", "fra", 12 * 1761, 18_163), ("zhoblimp", "zho", 2_968, 2_787)],
)
def test_people_are_right_as_often_as_their_files_say(name, lang, n, right, mirror, tmp_path):
    declared = read_declared(FOLDER / name)
    items, table = tmp_path / "items.parquet", tmp_path / "people.parquet"
    files = {
        key: [fetch(row, mirror, tmp_path) for row in declared.sources_of(entries)]
        for key, entries in (("data", declared.data), ("people", declared.people))
    }
    place = declared.path, tmp_path / "raw", name
    build_items(place[0], files["data"], *place[1:], lang, items)
    read_people(place[0], files["people"], *place[1:], [items], table)
    people = pd.read_parquet(table)
    everything = people[(people["phenomenon"] == "all") & (people["paradigm"] == "all")]
    assert everything["n"].tolist() == [n]
    assert (everything["n"] * everything["accuracy"]).tolist() == [pytest.approx(right, abs=0.5)]


@pytest.mark.mirror
def test_people_grade_typical_patients_higher_in_nearly_all_pairs(mirror, tmp_path):
    declared = read_declared(FOLDER / "dtfit")
    files = [fetch(row, mirror, tmp_path) for row in declared.sources]
    build_items(declared.path, files, tmp_path / "raw", "dtfit", "eng", tmp_path / "items.parquet")
    ratings = pd.read_parquet(tmp_path / "items.parquet")["rating"]
    assert (len(ratings.dropna()), (ratings > 0).sum()) == (395, 391)
