"""Files in the layouts of real benchmarks become the same pairs."""

import bz2
import gzip
import io
import json
import lzma
import re
import tarfile
import zipfile

import openpyxl
import pandas as pd
import pytest

from blimpworks.benchmarks.build import build_items
from blimpworks.errors import UserError
from support.declared_kit import (
    CSV,
    PAIRS,
    built,
    conditions_of,
    declare,
    jsonl,
    pairs_of,
    regions_of,
    suite,
)

TWO = [("The cats sleep.", "The cats sleeps."), ("He runs.", "He run.")]
RECORDS = [{"good": good, "bad": bad} for good, bad in TWO]


def zipped(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"data/{name}.csv", text)
        archive.writestr("data/._agreement.csv", b"\0Mac OS X")
    return buffer.getvalue()


def tarred(suffix: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{suffix}") as archive:
        entry = tarfile.TarInfo("data/agreement.csv")
        entry.size = len(CSV.encode())
        archive.addfile(entry, io.BytesIO(CSV.encode()))
    return buffer.getvalue()


def workbook() -> bytes:
    book = openpyxl.Workbook()
    for row in (["good", "bad"], *TWO):
        book.active.append(row)
    saved, changed = io.BytesIO(), io.BytesIO()
    book.save(saved)
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():  # Some programs write a wrong size.
            new.writestr(name, old.read(name).replace(b'ref="A1:B3"', b'ref="A1:B2"'))
    return changed.getvalue()


def parquet() -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame(RECORDS).to_parquet(buffer)
    return buffer.getvalue()


FILES = {
    "a.csv": CSV,
    "a.tsv": CSV.replace(",", "\t"),
    "a.jsonl": jsonl(*RECORDS),
    "a.json": json.dumps(RECORDS),
    "a.parquet": parquet(),
    "a.xlsx": workbook(),
    "a.csv.xz": lzma.compress(CSV.encode()),
    "a.csv.gz": gzip.compress(CSV.encode()),
    "a.csv.bz2": bz2.compress(CSV.encode()),
    "a.jsonl.xz": lzma.compress(jsonl(*RECORDS).encode()),
    "a.zip": zipped(agreement=CSV),
    "a.tar.gz": tarred("gz"),
    "a.tar.xz": tarred("xz"),
    "a.tar": tarred(""),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_and_compression_gives_the_same_pairs(tmp_path, name):
    data = {**PAIRS, "files": "a.*", "members": "*/*.csv"}
    rows = built(tmp_path / "toy", {name: FILES[name]}, data=[data])
    assert pairs_of(rows) == TWO
    assert [regions_of(row) for row in rows] == [("sleep", "sleeps"), ("runs", "run")]


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
def test_the_separator_is_the_one_that_the_headings_have(tmp_path, separator):
    text = CSV.replace(",", separator)
    assert pairs_of(built(tmp_path / "toy", {"a.csv": text}, data=[PAIRS])) == TWO


@pytest.mark.parametrize(
    ("encoding", "stated"),
    [("utf-8", None), ("utf-8-sig", None), ("utf-16", None), ("cp1251", "cp1251")],
)
def test_the_encoding_is_what_a_mark_says_or_what_is_stated(tmp_path, encoding, stated):
    text = "good,bad\nКошки спят.,Кошки спит.\n".encode(encoding)
    data = {**PAIRS, "encoding": stated}
    rows = built(tmp_path / "toy", {"a.csv": text}, lang="rus", languages=["rus"], data=[data])
    assert pairs_of(rows) == [("Кошки спят.", "Кошки спит.")]


def test_an_items_line_is_where_it_begins_in_the_file(tmp_path):
    text = 'good,bad\n"The cats\nsleep.","The cats\nsleeps."\nHe runs.,He run.\n'
    rows = built(tmp_path / "toy", {"a.csv": text}, data=[{**PAIRS, "quotes": "csv"}])
    assert [row["line"] for row in rows] == [2, 5]
    assert {row["file"] for row in rows} == {"a.csv"}


SENTENCES = ('It\u2028rains, "no\x0c\x85.', "It rain.")
QUOTED = 'good,bad\n"It\u2028rains, ""no\x0c\x85.",It rain.\n'


@pytest.mark.parametrize(
    ("name", "text", "how"),
    [
        ("a.csv", QUOTED, {}),
        ("a.csv", QUOTED.replace("\n", "\r\n"), {"quotes": "csv"}),
        ("a.csv", QUOTED.replace(",It rain.", ', "It rain."'), {}),
        ("a.tsv", "good\tbad\n" + "\t".join(SENTENCES) + "\n", {}),
        ("a.tsv", "\ufeffgood\tbad\r\n" + "\t".join(SENTENCES), {"encoding": "utf-8"}),
        ("a.csv", "good|bad\n" + "|".join(SENTENCES) + "\n", {"quotes": "none"}),
        ("a.jsonl", jsonl(dict(zip(("good", "bad"), SENTENCES, strict=True))), {}),
    ],
)
def test_lines_end_at_line_feeds_alone_and_quotes_are_what_is_declared(tmp_path, name, text, how):
    data = {**PAIRS, "files": "a.*", **how}
    rows = built(tmp_path / "toy", {name: text.encode()}, data=[data])
    assert pairs_of(rows) == [SENTENCES]


def test_a_field_of_any_size_is_read(tmp_path):
    text = f"good,bad,note\nHe runs.,He run.,{'x' * 200_000}\n"
    assert len(built(tmp_path / "toy", {"a.csv": text}, data=[PAIRS])) == 1


def test_an_account_counts_what_is_read_and_what_is_left_out(tmp_path):
    text = "good,bad,split\nHe runs. ,He run.,test\nbroken\nHe runs.,He run.,dev\n"
    text += "Cafe\u0301s close.,Caf\u00e9s closes.,test\n"
    data = {**PAIRS, "where": {"split": "test"}, "skip_lines": {"a.csv": [3], "reason": "cut"}}
    path = declare(tmp_path / "toy", {"a.csv": text}, data=[data])
    facts = build_items(path, [], path.parent, "toy", "eng", tmp_path / "items.parquet")
    assert facts["account"] == {
        "data.0": {
            "files": 1,
            "rows": 4,
            "used": 2,
            "items": 2,
            "left_out": {"skip_lines": 1, "where.split": 1},
            "notes": {
                "texts with white space at their ends, which is left out": 1,
                "pairs with one sentence in Unicode's NFC and one not": 1,
            },
        }
    }


def test_equal_pairs_have_ids_of_their_own_and_the_first_keeps_its_id(tmp_path):
    once = built(tmp_path / "toy", {"a.csv": CSV}, data=[PAIRS])
    twice = built(tmp_path / "toy", {"a.csv": CSV + CSV.partition("\n")[2]}, data=[PAIRS])
    ids = [row["item_id"] for row in twice]
    assert ids[:2] == [row["item_id"] for row in once]
    assert len({*ids}) == 4


def test_names_of_files_say_paradigm_and_language(tmp_path):
    data = {**PAIRS, "files": "{lang}/{phenomenon}/{paradigm}.csv"}
    data["rename"] = {"lang": {"id": "ind", "ta": "tam"}, "phenomenon": {"npi": "NPI"}}
    files = {"id/npi/ever.csv": CSV, "ta/npi/any.csv": CSV}
    more = {"languages": {"ind": "Indonesian", "tam": "Tamil"}, "data": [data]}
    rows = built(tmp_path / "toy", files, lang="tam", **more)
    assert {(row["lang"], row["phenomenon"], row["paradigm"]) for row in rows} == {
        ("tam", "NPI", "any")
    }


def test_names_of_members_say_the_paradigm(tmp_path):
    data = {**PAIRS, "files": "a.zip", "members": "data/{paradigm}.csv"}
    content = zipped(first=CSV, second=CSV.replace("cats", "dogs"))
    rows = built(tmp_path / "toy", {"a.zip": content}, data=[data])
    assert [row["paradigm"] for row in rows] == ["first"] * 2 + ["second"] * 2


def test_new_names_can_stand_in_a_table(tmp_path):
    data = {**PAIRS, "constants": {"phenomenon": "sva"}, "rename": {"phenomenon": "names.tsv"}}
    files = {"a.csv": CSV, "names.tsv": "sva\tSubject-verb agreement\n"}
    rows = built(tmp_path / "toy", files, data=[data])
    assert {row["phenomenon"] for row in rows} == {"Subject-verb agreement"}


def test_phenomena_group_paradigms(tmp_path):
    data = {**PAIRS, "files": "{paradigm}.csv"}
    files = {"sva_1.csv": CSV, "npi_1.csv": CSV}
    phenomena = {"Agreement": ["sva_*"], "Licensing": ["npi_1"]}
    rows = built(tmp_path / "toy", files, data=[data], phenomena=phenomena)
    assert {row["paradigm"]: row["phenomenon"] for row in rows} == {
        "sva_1": "Agreement",
        "npi_1": "Licensing",
    }


def test_rows_can_be_left_out_by_a_column(tmp_path):
    text = "good,bad,split\nThe cats sleep.,The cats sleeps.,test\nHe runs.,He run.,train\n"
    data = {**PAIRS, "where": {"split": "test"}}
    assert pairs_of(built(tmp_path / "toy", {"a.csv": text}, data=[data])) == TWO[:1]


def test_columns_that_are_kept_stand_in_the_items(tmp_path):
    text = "good,bad,depth,name\nHe runs.,He run.,3,x17\n"
    data = {**PAIRS, "keep": ["depth"], "id": "name"}
    (row,) = built(tmp_path / "toy", {"a.csv": text}, data=[data])
    assert (row["depth"], row["sent_id"]) == ("3", "x17")


def test_fields_inside_json_are_named_by_dotted_paths(tmp_path):
    record = {"pair": {"ok": "He runs.", "no": "He run."}, "tags": ["sva", "number"]}
    data = {**PAIRS, "files": "*.jsonl", "good": "pair.ok", "bad": "pair.no", "paradigm": "tags.1"}
    (row,) = built(tmp_path / "toy", {"a.jsonl": jsonl(record)}, data=[data])
    assert (row["good"], row["bad"], row["paradigm"]) == ("He runs.", "He run.", "number")


def test_a_pair_that_is_twice_the_same_sentence_is_kept_and_marked(tmp_path):
    text = "good,bad\nHe runs.,He runs.\nHe runs.,He run.\n"
    rows = built(tmp_path / "toy", {"a.csv": text}, data=[PAIRS])
    assert [row["identical"] for row in rows] == [True, False]


def test_a_table_without_headings_has_stated_columns(tmp_path):
    text = "x\t1\t\tHe runs.\nx\t0\t*\tHe run.\n"
    data = {
        "layout": "sentences",
        "files": "*.tsv",
        "columns": ["source", "label", "mark", "text"],
        "sentence": "text",
        "label": "label",
    }
    rows = built(tmp_path / "toy", {"a.tsv": text}, data=[data])
    assert [(row["good"], row["bad"], row["acceptable"]) for row in rows] == [
        ("He runs.", "He runs.", True),
        ("He run.", "He run.", False),
    ]


def test_two_rows_are_a_pair_by_their_labels(tmp_path):
    text = "item,s,ok\n1,He run.,0\n1,He runs.,1\n2,The cats sleep.,1\n2,The cats sleeps.,0\n"
    data = {"layout": "labelled_rows", "files": "*.csv", "sentence": "s", "label": "ok"}
    data |= {"good": [1], "bad": [0]}
    expected = [("He runs.", "He run."), ("The cats sleep.", "The cats sleeps.")]
    for more in ({}, {"item": "item"}):
        rows = built(tmp_path / "toy", {"a.csv": text}, data=[{**data, **more}])
        assert pairs_of(rows) == expected


@pytest.mark.parametrize(("order", "turned"), [("good first", 1), ("bad first", -1)])
def test_two_rows_without_labels_are_a_pair_by_their_order(tmp_path, order, turned):
    data = {"layout": "labelled_rows", "files": "*.csv", "sentence": "s", "order": order}
    text = "s\nHe runs.\nHe run.\nHe sleeps.\nHe sleep.\n"
    rows = built(tmp_path / "toy", {"a.csv": text}, data=[data])
    assert pairs_of(rows) == [
        ("He runs.", "He run.")[::turned],
        ("He sleeps.", "He sleep.")[::turned],
    ]


def test_an_item_of_several_rows_has_a_pair_for_each_good_and_bad_sentence(tmp_path):
    text = "item,s,ok\n1,He runs.,good\n1,He run.,bad\n1,He running.,bad\n"
    data = {"layout": "labelled_rows", "files": "*.csv", "sentence": "s", "label": "ok"}
    data |= {"good": ["good"], "bad": ["bad"], "item": "item"}
    rows = built(tmp_path / "toy", {"a.csv": text}, data=[data])
    assert pairs_of(rows) == [("He runs.", "He run."), ("He runs.", "He running.")]


def test_of_two_sentences_a_column_says_which_is_right(tmp_path):
    text = "sentence_a,sentence_b,right\nHe runs.,He run.,a\nHe sleep.,He sleeps.,b\n"
    right = {"column": "right", "first": ["a"], "second": ["b"]}
    data = {"layout": "choices", "files": "*.csv", "first": "sentence_a", "second": "sentence_b"}
    rows = built(tmp_path / "toy", {"a.csv": text}, data=[{**data, "right": right}])
    assert pairs_of(rows) == [("He runs.", "He run."), ("He sleeps.", "He sleep.")]


def test_a_context_has_two_endings_and_the_endings_are_the_critical_regions(tmp_path):
    record = {"context": "It rained.", "ending": "We got wet.", "other": "We got dry."}
    data = {"layout": "pairs", "files": "*.jsonl", "good": "{context} {ending}"}
    data |= {"bad": "{context} {other}", "critical": {"good": "ending", "bad": "other"}}
    (row,) = built(tmp_path / "toy", {"a.jsonl": jsonl(record)}, data=[data])
    assert (row["good"], row["bad"]) == ("It rained. We got wet.", "It rained. We got dry.")
    assert regions_of(row) == ("We got wet.", "We got dry.")


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        ("I saw the cat.", "I saw cat.", ("the cat", "cat")),
        ("我把书给他。", "我把书被他。", ("给", "被")),
        ("我看书了", "我看书", ("书了", "书")),
        ("ดีมาก", "ดีมาค", ("ก", "ค")),
        ("वह गया था", "वह गई थी", ("गया था", "गई थी")),
        ("ಅವಳು ಬಂದಳು", "ಅವಳು ಬಂದನು", ("ಬಂದಳು", "ಬಂದನು")),
        ("وہ گیا", "وہ گئی", ("گیا", "گئی")),
        ("run fast", "fast run", ("run fast", "fast run")),
        ("abab", "ab", ("abab", "ab")),
    ],
)
def test_the_critical_region_is_where_sentences_differ_in_any_script(tmp_path, good, bad, expected):
    record = {"good": good, "bad": bad}
    data = {**PAIRS, "files": "*.jsonl"}
    (row,) = built(tmp_path / "toy", {"a.jsonl": jsonl(record)}, data=[data])
    assert regions_of(row) == expected


def test_of_several_places_of_a_critical_word_the_one_beside_the_difference_counts(tmp_path):
    text = "good,bad,word\nA cat is a cat is fun.,A cat is a cats is fun.,is\n"
    data = {**PAIRS, "critical": "word"}
    (row,) = built(tmp_path / "toy", {"a.csv": text}, data=[data])
    assert (row["good_start"], row["bad_start"]) == (15, 16)


def test_critical_regions_can_be_offsets(tmp_path):
    text = "good,bad,a,b,c,d\nHe runs.,He run.,3,7,3,6\n"
    spans = dict(zip(("good_start", "good_end", "bad_start", "bad_end"), "abcd", strict=True))
    (row,) = built(tmp_path / "toy", {"a.csv": text}, data=[{**PAIRS, "critical": spans}])
    assert regions_of(row) == ("runs", "run")


EXPECTED = {"match": ["The cats", "sleep"], "mismatch": ["The cats", "sleeps"]}
FORMULA = "(2;%match%) < (2;%mismatch%)"


def test_test_suites_have_a_row_for_each_condition(tmp_path):
    data = {"layout": "suites", "files": "*.json"}
    rows = built(tmp_path / "toy", {"verbs.json": json.dumps(suite())}, data=[data])
    assert conditions_of(rows) == EXPECTED
    assert [row["good"] for row in rows] == ["The cats sleep", "The cats sleeps"]
    assert {(row["paradigm"], *row["predictions"]) for row in rows} == {("verbs", FORMULA)}
    assert len({row["item"] for row in rows}) == 1
    assert len({row["item_id"] for row in rows}) == 2


def test_conditions_can_have_a_row_each_or_a_row_for_each_region(tmp_path):
    data = {"layout": "conditions", "files": "*.csv", "item": "item", "condition": "c"}
    wide = "item,c,np,2\n1,match,The cats,sleep\n1,mismatch,The cats,sleeps\n"
    long = "item,c,n,text\n1,match,np,The cats\n1,match,2,sleep\n"
    long += "1,mismatch,np,The cats\n1,mismatch,2,sleeps\n"
    for text, how in (
        (wide, {"regions": ["np", "2"]}),
        (long, {"region": "n", "content": "text"}),
    ):
        declared = {**data, **how, "predictions": [FORMULA]}
        rows = built(tmp_path / "toy", {"a.csv": text}, data=[declared])
        assert conditions_of(rows) == EXPECTED
        assert rows[0]["regions"] == ["np", "2"]


def test_an_empty_region_takes_no_space(tmp_path):
    data = {"layout": "conditions", "files": "*.csv", "item": "i", "condition": "c"}
    data |= {"regions": ["a", "b", "d"], "predictions": ["(d;%x%) < (d;%y%)"]}
    text = "i,c,a,b,d\n1,x,He,,runs\n1,y,He,often,runs\n"
    rows = built(tmp_path / "toy", {"a.csv": text}, data=[data])
    assert [row["good"] for row in rows] == ["He runs", "He often runs"]
    assert conditions_of(rows) == {"x": ["He", "", "runs"], "y": ["He", "often", "runs"]}


def test_scripts_without_spaces_join_regions_with_nothing(tmp_path):
    data = {"layout": "conditions", "files": "*.csv", "item": "i", "condition": "c"}
    data |= {"regions": ["a", "b"], "predictions": ["(b;%x%) < (b;%y%)"], "joined_by": ""}
    text = "i,c,a,b\n1,x,我,来\n1,y,我,去\n"
    rows = built(tmp_path / "toy", {"a.csv": text}, data=[data])
    assert [row["good"] for row in rows] == ["我来", "我去"]


def test_a_design_has_a_sentence_for_each_condition_in_a_row(tmp_path):
    data = {
        "layout": "designs",
        "files": "*.csv",
        "sentences": {"gram": "a", "ungram": "b"},
        "critical": {"gram": "word", "ungram": "other"},
        "predictions": ["(critical;%gram%) < (critical;%ungram%)"],
    }
    text = "a,b,word,other\nHe runs.,He run.,runs,run\n"
    rows = built(tmp_path / "toy", {"a.csv": text}, data=[data])
    assert conditions_of(rows) == {"gram": ["He runs.", "runs"], "ungram": ["He run.", "run"]}


def test_effects_and_what_counts_as_right_stand_in_the_items(tmp_path):
    data = {"layout": "conditions", "files": "*.csv", "item": "i", "condition": "c"}
    data |= {"regions": ["a", "b"], "predictions": ["(b;%x%) < (b;%y%)"], "right": "mean"}
    data |= {"effects": {"garden path": "(b;%y%) - (b;%x%)", "sum": "(*;%y%) + 1"}}
    files = {"a.csv": "i,c,a,b\n1,x,He,runs\n1,y,He,run\n"}
    for row in built(tmp_path / "toy", files, data=[data]):
        assert row["effects"] == [*data["effects"].values()]
        assert row["effect_names"] == [*data["effects"]]
        assert row["right"] == "mean"
    for formula, says in {
        "(b;%y%) < (b;%x%)": "is malformed at column 9, '<'; expected",
        "(d;%y%)": "effect '(d;%y%)' names region 'd' of condition 'y', which item '1' lacks",
        "3": "formula '3' names no region; expected one such as (6;%mismatch%) - (6;%match%)",
    }.items():
        with pytest.raises(UserError, match=re.escape(says)):
            built(tmp_path / "toy", files, data=[{**data, "effects": {"x": formula}}])
    with pytest.raises(UserError, match="right must be all or mean in the whole of data"):
        built(tmp_path / "toy", files, data=[data, {**data, "right": "all"}])


def test_hidden_files_of_the_folder_are_no_data(tmp_path):
    rows = built(tmp_path / "toy", {"a.csv": CSV, ".a.csv": "x"}, data=[PAIRS])
    assert {row["file"] for row in rows} == {"a.csv"}


# Ratings

GRADED = "good,bad,grade\nA b.,A c.,0.5\nD e.,D f.,\n"
LABELLED = {"layout": "labelled_rows", "files": "a.csv", "sentence": "s", "label": "ok"}
LABELLED |= {"good": [1], "bad": [0], "item": "item"}
LABELLED_CSV = "item,ok,s,grade\n1,1,A b.,6.5\n1,0,A c.,2\n2,1,D e.,6\n2,0,D f.,\n"
GRADES = {"files": "grades.tsv", "sentence": "text", "rating": "score"}
GRADES_TSV = "text\tscore\nA b.\t6\nA b.\t7\nA c.\t2\nD e.\t6\n"
SINGLE = {"layout": "sentences", "files": "a.csv", "sentence": "s", "label": "ok"}


@pytest.mark.parametrize(
    ("entry", "text", "expected"),
    [
        ({**PAIRS, "files": "a.csv", "rating": "grade"}, GRADED, [0.5, None]),
        ({**PAIRS, "files": "a.csv", "rating": GRADES}, GRADED, [4.5, None]),
        ({**LABELLED, "rating": "grade"}, LABELLED_CSV, [4.5, None]),
        ({**LABELLED, "rating": GRADES}, LABELLED_CSV, [4.5, None]),
        ({**SINGLE, "rating": "grade"}, LABELLED_CSV, [6.5, 2, 6, None]),
        ({**SINGLE, "rating": GRADES}, LABELLED_CSV, [6.5, 2, 6, None]),
    ],
)
def test_items_have_ratings_of_their_row_or_of_their_sentences(tmp_path, entry, text, expected):
    rows = built(tmp_path / "toy", {"a.csv": text, "grades.tsv": GRADES_TSV}, data=[entry])
    assert [row["rating"] for row in rows] == expected


@pytest.mark.parametrize(
    ("entry", "text", "says"),
    [
        ({"rating": "grade"}, GRADED.replace("0.5", "nan"), "column 'grade' is 'nan'; expected"),
        ({"rating": GRADES}, GRADED.replace(".", "!"), "no sentence of column 'text' is one of a"),
        ({"keep": ["rating"]}, GRADED, "rating is a key"),
    ],
)
def test_a_rating_that_is_none_is_one_sentence(tmp_path, entry, text, says):
    data = [{**PAIRS, "files": "a.csv", **entry}]
    with pytest.raises(UserError, match=says):
        built(tmp_path / "toy", {"a.csv": text, "grades.tsv": GRADES_TSV}, data=data)
