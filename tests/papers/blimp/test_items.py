"""Test BLiMP's files of pairs, their items, and its benchmarks' needs and expectations."""

import json
import shutil
from pathlib import Path

import pytest

from blimpworks.campaign.catalogue import SourceRow, load_catalogue
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.registry import check_papers, find_benchmark
from blimpworks.errors import UserError
from blimpworks.papers.blimp import paradigms as blimp_paradigms
from blimpworks.papers.blimp.items.build import build_items, read_records
from blimpworks.papers.blimp.paradigms import ONE_PREFIX, PARADIGMS, PHENOMENON_OF, TWO_PREFIX
from blimpworks.papers.blimp.settings import BlimpOptions
from blimpworks.papers.clams.items.build import build_items as build_clams_items
from blimpworks.papers.clams.settings import ClamsOptions
from blimpworks.tables import ITEMS, read_table
from support.mirror_kit import fetch, rows_of
from support.paths import REPOSITORY

PLAIN = {"sentence_good": "The owl sings.", "sentence_bad": "The owl sing.", "UID": "owls"}
PLAIN |= {"field": "morphology", "linguistics_term": "subject_verb_agreement", "pairID": "0"}
FLAGS = ("one_prefix_method", "two_prefix_method", "lexically_identical")
PLAIN |= {"simple_LM_method": True} | dict.fromkeys(FLAGS, False)
ONE = PLAIN | {"one_prefix_method": True, "one_prefix_prefix": "The owl"}
ONE |= {"one_prefix_word_good": "sings", "one_prefix_word_bad": "sing"}
TWO = PLAIN | {"sentence_bad": "The owls sings.", "two_prefix_method": True}
TWO |= {"two_prefix_prefix_good": "The owl", "two_prefix_prefix_bad": "The owls"}
TWO |= {"two_prefix_word": " sings"}


def lines_of(*records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


def write(folder, *records):
    path = folder / "owls.jsonl"
    path.write_text(lines_of(*records))
    return path


def items_of(folder, *records, **more):
    path = write(folder, *records)
    build_items([path], folder / "items.parquet", len(records), **more)
    return read_table(ITEMS, folder / "items.parquet").to_pylist()


@pytest.mark.parametrize(
    ("record", "regions", "methods"),
    [
        (PLAIN, [None, None], []),
        (ONE, ["sings", "sing"], ["one_prefix"]),
        (TWO, ["sings", "sings"], ["two_prefix"]),
    ],
)
def test_critical_words_stand_where_the_fields_say(tmp_path, record, regions, methods):
    (row,) = items_of(tmp_path, record)
    spans = [
        row[side][row[f"{side}_start"] : row[f"{side}_end"]] if row[f"{side}_end"] else None
        for side in ("good", "bad")
    ]
    assert (spans, row["prefix_methods"]) == (regions, methods)


def test_pairs_of_the_same_sentence_are_kept_and_marked(tmp_path):
    same = PLAIN | {"sentence_bad": PLAIN["sentence_good"], "pairID": "1"}
    rows = items_of(tmp_path, PLAIN, same)
    assert [row["identical"] for row in rows] == [False, True]


def test_two_files_of_one_paradigm_are_refused(tmp_path):
    path = tmp_path / "wh_island.jsonl"
    with pytest.raises(UserError, match="one of 2 files of paradigm wh_island; expected one"):
        build_items([path, path], tmp_path / "items", 1)
    with pytest.raises(UserError, match="one of 2 files of paradigm wh_island; expected one"):
        build_clams_items([path, path], "eng", tmp_path / "items", ClamsOptions())


def test_fewer_pairs_are_taken_evenly(tmp_path):
    records = [PLAIN | {"sentence_good": f"Owl {i}.", "pairID": str(i)} for i in range(10)]
    rows = items_of(tmp_path, *records, most=4)
    assert [row["sent_id"] for row in rows] == ["0", "2", "5", "7"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"UID": "mice"}, "UID and pairID are 'mice' and '0'"),
        ({"pairID": "3"}, "UID and pairID are 'owls' and '3'"),
        ({"sentence_bad": ""}, "sentence_bad: string should have at least 1 character"),
        ({"extra": 1}, "extra: extra inputs are not permitted"),
        ({"simple_LM_method": "yes"}, "simple_lm_method"),
        ({"one_prefix_prefix": "An owl"}, "does not begin with 'An owl' and 'sings'"),
        ({"one_prefix_word_good": "sin"}, "'sin' ends inside a word"),
        ({"one_prefix_word_good": None}, "does not begin with 'The owl' and ''"),
    ],
)
def test_a_malformed_pair_is_named_with_its_line(tmp_path, change, said):
    path = write(tmp_path, ONE | change)
    with pytest.raises(UserError) as failure:
        [*read_records(path)]
    assert f"{path}:1" in str(failure.value)
    assert said.lower() in str(failure.value).lower()
    assert "expected pair 0 of the paradigm owls" in str(failure.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lines_of(PLAIN, PLAIN | {"pairID": "1"}), ":2: the pair is in line 1 too"),
        (lines_of(PLAIN), "has 1 pairs; expected 1000"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path, text, said):
    path = tmp_path / "owls.jsonl"
    path.write_text(text)
    with pytest.raises(UserError, match=said):
        build_items([path], tmp_path / "items.parquet", 1000)


@pytest.mark.mirror
def test_the_release_is_67_paradigms_of_1000_pairs_with_seven_identical_ones(mirror, tmp_path):
    files = [
        fetch(row, mirror, tmp_path)
        for row in rows_of(SourceRow, "sources.tsv")
        if row.kind == "blimp_data"
    ]
    assert build_items(files, tmp_path / "items.parquet", 1000) == 67_000
    rows = read_table(ITEMS, tmp_path / "items.parquet").to_pandas()
    rows = rows.astype({"paradigm": str, "phenomenon": str})
    assert dict(rows.groupby("paradigm")["phenomenon"].first()) == PHENOMENON_OF
    same = rows[rows["identical"]]["paradigm"].value_counts().to_dict()
    assert same == {"passive_1": 2, "principle_A_case_2": 5}
    allowed = rows.drop_duplicates("paradigm").set_index("paradigm")["prefix_methods"].map(list)
    for method, paradigms in (("one_prefix", ONE_PREFIX), ("two_prefix", TWO_PREFIX)):
        assert {*allowed.index[allowed.map(lambda a, m=method: m in a)]} == {*paradigms}
    assert len(PARADIGMS) == 12


def loaded(files=None, name="blimp", **changes):
    campaign = load_campaign(Path(f"config/{name}.yaml"))
    catalogue = campaign.catalogue.model_copy(update=files or {})
    campaign = campaign.model_copy(update=changes | {"catalogue": catalogue})
    return campaign, load_catalogue(campaign)


DEMO = {"sources": Path("config/demo/sources.tsv")}
NO_SOURCES = r"^config/demo/sources\.tsv has no row of kind 'blimp_data' and lang 'eng', expected"
ALONE = "^benchmark '{}' has items in eng alone; languages has deu, heb: add eng, or"
SETS = ("blimp", "blimp_generated")


@pytest.mark.parametrize(
    ("files", "changes", "message"),
    [
        *((None, {"benchmarks": (s,), "languages": ("deu", "heb")}, ALONE.format(s)) for s in SETS),
        (DEMO, {"models": ("ngram-5",)}, NO_SOURCES),
        ({"blimp": Path("tests")}, {}, r"paradigms has no declaration, expected one \.yaml file"),
    ],
)
def test_what_a_benchmark_needs_and_lacks_is_one_sentence(files, changes, message):
    with pytest.raises(UserError, match=message):
        check_papers(*loaded(files, **changes))


def test_what_no_benchmark_needs_may_be_missing():
    check_papers(*loaded())
    check_papers(*loaded(benchmarks=("multiblimp",), languages=("deu",)))
    check_papers(*loaded(DEMO, models=("ngram-5",), benchmarks=("blimp_generated",)))
    check_papers(*loaded({"blimp": Path("tests")}, benchmarks=("blimp",)))


def test_pairs_are_expected_of_each_paradigm_that_is_released_or_declared(tmp_path):
    folder = tmp_path / "paradigms"
    shutil.copytree(REPOSITORY / "config/blimp/paradigms", folder)
    shutil.copy(folder / "causative.yaml", folder / "of_mine.yaml")
    campaign, catalogue = loaded({"blimp": tmp_path}, blimp=BlimpOptions(pairs=60))
    assert len(blimp_paradigms.declared_paradigms(campaign)) == len(PHENOMENON_OF) + 1
    fewer = campaign.model_copy(update={"blimp": BlimpOptions(per_paradigm=20)})
    for chosen, expected in ((campaign, [67_000, 68 * 60]), (fewer, [67 * 20, 68 * 20])):
        counts = [find_benchmark(s).expected_units(chosen, catalogue, "eng") for s in SETS]
        assert counts == expected


def test_a_named_model_without_seeds_is_refused_and_one_of_all_left_out():
    campaign, catalogue = loaded(name="config")
    assert campaign.models == "all"
    assert "blimp-lstm-curve" not in {catalogue.row_of(name) for name in catalogue.models}
    message = r"names 'blimp-lstm-curve', whose recipe 'blimp-lstm-curve' has seeds: 0, so that"
    with pytest.raises(UserError, match=message):
        loaded(name="config", models=("blimp-5gram", "blimp-lstm-curve"))
