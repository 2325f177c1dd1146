"""The public benchmarks that are data alone, read from the mirror."""

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
# How many items the papers, or the files where these say nothing, have: docs/benchmarks_shipped.md.
SHIPPED = {
    "babylm_blimp": "59,875 pairs from 67 files",
    "babylm_entity_tracking": "9,483 items from 3 files",
    "babylm_multilingual_blimp": "67,000 pairs from 67 files",
    "babylm_multilingual_blimp_nl": "8,396 pairs from 22 files",
    "babylm_multilingual_zhoblimp": "35,400 pairs from 118 files",
    "babylm_reading": "1,726 items from 1 file",
    "babylm_supplement": "5,218 pairs from 5 files",
    "babylm_wug_adjectives": "200 pairs from 1 file",
    "blimp_nl": "8,396 pairs from 22 files",
    "climp": "16,000 pairs from 16 files",
    "cprag102": "34 items from 1 file",
    "dtfit": "395 pairs from 2 files",
    "gulordava": "9,750 pairs from 8 files",
    "itacola": "9,722 sentences from 1 file",
    "jblimp": "331 pairs from 1 file",
    "neg136": "68 pairs from 2 files",
    "qfrblimp": "1,761 pairs from 1 file",
    "role88": "44 pairs from 1 file",
    "rublimp": "45,000 pairs from 45 files",
    "syntaxgym": "842 items from 34 files",
    "turblimp": "18,200 pairs from 38 files",
    "xcopa": "5,500 pairs from 11 files",
    "zhoblimp": "35,400 pairs from 118 files",
}
SAME = {
    name: [f"{n}, which count as ties"]
    for name, n in {
        "babylm_blimp": 7,
        "babylm_multilingual_blimp": 7,
        "babylm_multilingual_blimp_nl": 10,
        "blimp_nl": 10,
        "gulordava": 31,
        "qfrblimp": 18,
        "turblimp": 30,
    }.items()
}
"""Pairs that are twice the same sentence."""


def test_all_that_are_shipped_are_data_alone():
    assert {path.name for path in FOLDER.iterdir()} == {*SHIPPED}
    for path in FOLDER.rglob("*"):
        assert path.is_dir() or path.suffix in (".yaml", ".tsv", ".csv")
        if path.name == "benchmark.yaml":
            assert len(path.read_text().splitlines()) <= 60
            assert yaml.safe_load(path.read_text())


# Those of the multilingual track are the files of others again.
AGAIN = [name for name in SHIPPED if "multilingual" in name]


@pytest.mark.mirror
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long) if name in AGAIN else name for name in SHIPPED],
)
def test_items_of_a_shipped_benchmark_are_as_many_as_its_paper_says(name, mirror, tmp_path):
    declared = read_declared(FOLDER / name)
    assert declared.items
    assert declared.licence
    for row in declared.sources_of(declared.data):
        fetch(row, mirror, tmp_path)
    lines = [*preview(declared, tmp_path / "raw", 1)]
    assert lines[0] == f"{declared.label}: {SHIPPED[name]}"
    twice = [line for line in lines if "twice the same sentence" in line]
    assert [line.rpartition(": ")[2] for line in twice] == SAME.get(name, [])


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
