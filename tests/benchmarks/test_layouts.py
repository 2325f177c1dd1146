"""Test that files in the layouts of real benchmarks become the same pairs."""

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
from support.declared_kit import CSV, PAIRS, built, declare, jsonl, pairs_of, regions_of, suite

TWO = [("The cats sleep.", "The cats sleeps."), ("He runs.", "He run.")]
RECORDS = [{"good": good, "bad": bad} for good, bad in TWO]


def zipped(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"data/{name}.csv", text)
        archive.writestr("data/._agreement.csv", b"\0Mac OS X")
    return buffer.getvalue()


def tarred(suffix: str, link: bytes = tarfile.LNKTYPE) -> bytes:
    """Return an archive of a file and a link to it; only the link matches the members' pattern."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{suffix}") as archive:
        entry, linked = tarfile.TarInfo("data/first"), tarfile.TarInfo("data/agreement.csv")
        entry.size = len(CSV.encode())
        archive.addfile(entry, io.BytesIO(CSV.encode()))
        linked.type, linked.linkname = link, "first" if link == tarfile.SYMTYPE else "data/first"
        archive.addfile(linked)
    return buffer.getvalue()


def workbook(*pairs: tuple[str, str], more: tuple[str, ...] = ()) -> bytes:
    book = openpyxl.Workbook()
    for row in (["good", "bad"], *pairs):
        book.active.append(row)
    book.create_sheet().append(more)
    saved, changed = io.BytesIO(), io.BytesIO()
    book.save(saved)
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():  # Some programs write a wrong size.
            new.writestr(name, old.read(name).replace(b'ref="A1:B3"', b'ref="A1:B2"'))
    return changed.getvalue()


FILES = {
    "a.csv": CSV,
    "a.tsv": CSV.replace(",", "\t"),
    "a.jsonl": jsonl(*RECORDS),
    "a.json": json.dumps(RECORDS),
    "a.parquet": pd.DataFrame(RECORDS).to_parquet(),
    "a.xlsx": workbook(*TWO),
    "a.csv.xz": lzma.compress(CSV.encode()),
    "a.csv.gz": gzip.compress(CSV.encode()),
    "a.csv.bz2": bz2.compress(CSV.encode()),
    "a.jsonl.xz": lzma.compress(jsonl(*RECORDS).encode()),
    "a.zip": zipped(agreement=CSV),
    "a.tar.gz": tarred("gz"),
    "a.tar.xz": tarred("xz"),
    "a.tar": tarred("", tarfile.SYMTYPE),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_and_compression_gives_the_same_pairs(tmp_path, name):
    data = {**PAIRS, "files": "a.*", "members": "*/*.csv"}
    rows = built(tmp_path / "toy", {name: FILES[name]}, data=[data])
    assert pairs_of(rows) == TWO
    assert [regions_of(row) for row in rows] == [("sleep", "sleeps"), ("runs", "run")]


SENTENCES = ('It\u2028rains, "no\x0c\x85.', "It rain.")
QUOTED = 'good,bad\n"It\u2028rains, ""no\x0c\x85.",It rain.\n'
RUSSIAN = ("Кошки спят.", "Кошки спит.")
RUSSIAN_CSV = "good,bad\nКошки спят.,Кошки спит.\n"


@pytest.mark.parametrize(
    ("name", "text", "how", "expected"),
    [
        *(("a.csv", CSV.replace(",", separator), {}, TWO) for separator in ";\t|,"),
        *(("a.csv", RUSSIAN_CSV.encode(name), {}, [RUSSIAN]) for name in ("utf-8-sig", "utf-16")),
        ("a.csv", RUSSIAN_CSV.encode("cp1251"), {"encoding": "cp1251"}, [RUSSIAN]),
        # Only line feeds end lines, and quotes are those that the declaration names.
        ("a.csv", QUOTED, {}, [SENTENCES]),
        ("a.csv", QUOTED.replace("\n", "\r\n"), {"quotes": "csv"}, [SENTENCES]),
        ("a.csv", QUOTED.replace(",It rain.", ', "It rain."'), {}, [SENTENCES]),
        ("a.tsv", "good\tbad\n" + "\t".join(SENTENCES) + "\n", {}, [SENTENCES]),
        ("a.tsv", "\ufeffgood\tbad\r\n" + "\t".join(SENTENCES), {"encoding": "utf-8"}, [SENTENCES]),
        ("a.csv", "good|bad\n" + "|".join(SENTENCES) + "\n", {"quotes": "none"}, [SENTENCES]),
        ("a.jsonl", jsonl(dict(zip(("good", "bad"), SENTENCES, strict=True))), {}, [SENTENCES]),
        # A text of a divided column is divided, too.
        (
            *("a.csv", "id,s\n1,It rains./It rain.|no\n"),
            {"split": {"s": "|", "s.0": "/"}, "good": "s.0.0", "bad": "s.0.1"},
            [("It rains.", "It rain.")],
        ),
        # A workbook contains the time, which would differ in the test's name between workers.
        pytest.param(
            *("a.xlsx", workbook(("It_x000D_\nrains.", "It rain.")), {}),
            [("It\r\nrains.", "It rain.")],
            id="workbook",
        ),
    ],
)
def test_separator_encoding_and_quotes_are_evident_or_declared(tmp_path, name, text, how, expected):
    rows = built(tmp_path / "toy", {name: text}, data=[{**PAIRS, "files": "a.*", **how}])
    assert pairs_of(rows) == expected


def test_an_account_counts_what_is_read_and_what_is_left_out(tmp_path):
    text = "good,bad,split\nHe runs. ,He run.,test\nbroken\nHe runs.,He run.,dev\n"
    text += "Cafe\u0301s close.,Caf\u00e9s closes.,test\n"
    data = {**PAIRS, "where": {"split": "test"}, "skip_lines": {"a.csv": [3], "reason": "cut"}}
    path = declare(tmp_path / "toy", {"a.csv": text}, data=[data])
    facts = build_items(path, [], path.parent, "toy", "eng", tmp_path / "items.parquet")
    account = facts["account"]["data.0"]
    assert account.pop("left_out") == {"skip_lines": 1, "where.split": 1}
    assert account.pop("notes") == {
        "texts with white space at their ends, which is left out": 1,
        "pairs with one sentence in Unicode's NFC and one not": 1,
    }
    assert account == {"files": 1, "rows": 4, "used": 2, "items": 2}


def test_equal_pairs_have_ids_of_their_own_and_the_first_keeps_its_id(tmp_path):
    once = built(tmp_path / "toy", {"a.csv": CSV}, data=[PAIRS])
    twice = built(tmp_path / "toy", {"a.csv": CSV + CSV.partition("\n")[2]}, data=[PAIRS])
    ids = [row["item_id"] for row in twice]
    assert ids[:2] == [row["item_id"] for row in once]
    assert len({*ids}) == 4


@pytest.mark.parametrize(("more", "notes"), [((), []), (("A", "B"), [1])])
def test_sheets_that_are_not_read_are_counted(tmp_path, more, notes):
    files, data = {"a.xlsx": workbook(*TWO, more=more)}, [{**PAIRS, "files": "*.xlsx"}]
    path = declare(tmp_path / "toy", files, data=data)
    facts = build_items(path, [], path.parent, "toy", "eng", tmp_path / "items.parquet")
    assert [*facts["account"]["data.0"]["notes"].values()] == notes


def test_items_of_one_name_with_other_sentences_are_no_copies(tmp_path, caplog):
    entry = {"layout": "alternatives", "files": "*.csv", "options": ["x", "y"], "id": "i"}
    for other, copies in (("E", 0), ("A", 1)):
        files = {"a.csv": f"i,x,y,r\n1,A,B,0\n1,{other},B,0\n"}
        built(tmp_path / "toy", files, data=[{**entry, "right": {"column": "r"}}])
        assert caplog.text.count("1 of 2 items are copies of others") == copies


JSONL = {**PAIRS, "files": "*.jsonl"}
SINGLE = {"layout": "sentences", "files": "*.csv", "sentence": "s", "label": "ok"}
LABELLED = {**SINGLE, "layout": "labelled_rows", "good": [1], "bad": [0]}
LABELLED_CSV = "item,s,ok\n1,He run.,0\n1,He runs.,1\n2,The cats sleep.,1\n2,The cats sleeps.,0\n"
ORDERED = {"layout": "labelled_rows", "files": "*.csv", "sentence": "s"}
ORDERED_CSV = "s\nHe runs.\nHe run.\nHe sleeps.\nHe sleep.\n"
CHOICES = {"layout": "choices", "files": "*.csv", "first": "a", "second": "b"}
CHOICES |= {"right": {"column": "right", "first": ["a"], "second": ["b"]}}
CONDITIONS = {"layout": "conditions", "files": "*.csv", "item": "i", "condition": "c"}
OFFSETS = dict(zip(("good_start", "good_end", "bad_start", "bad_end"), "abcd", strict=True))
LANGUAGES = {"languages": {"eng": "English", "tam": "Tamil"}}
DESIGN = {"layout": "designs", "files": "*.csv", "sentences": {"gram": "a", "ungram": "b"}}
DESIGN |= {"critical": {"gram": "word", "ungram": "other"}}
DESIGN |= {"predictions": ["(critical;%gram%) < (critical;%ungram%)"]}
GRADED = "good,bad,grade\nA b.,A c.,0.5\nD e.,D f.,\n"
RATED_CSV = "item,ok,s,grade\n1,1,A b.,6.5\n1,0,A c.,2\n2,1,D e.,6\n2,0,D f.,\n"
GRADES = {"files": "grades.tsv", "sentence": "text", "rating": "score"}
GRADES_TSV = "text\tscore\nA b.\t6\nA b.\t7\nA c.\t2\nD e.\t6\n"

READ = {
    "lines where items begin": ({**PAIRS, "quotes": "csv"},
        {"a.csv": 'good,bad\n"The cats\nsleep.","The cats\nsleeps."\nHe runs.,He run.\n'},
        {"line": [2, 5], "file": ["a.csv"] * 2}),
    "a field of any size": (PAIRS, {"a.csv": f"good,bad,note\nHe runs.,He run.,{'x' * 200_000}\n"},
        {"good": ["He runs."]}),
    "names of files": (
        {**PAIRS, "files": "{lang}/{phenomenon}/{paradigm}.csv"}
        | {"rename": {"lang": {"en": "eng", "ta": "tam"}, "phenomenon": {"npi": "NPI"}}},
        {"en/npi/ever.csv": CSV, "ta/npi/any.csv": CSV},
        {"lang": ["eng"] * 2, "phenomenon": ["NPI"] * 2, "paradigm": ["ever"] * 2},
        LANGUAGES,
    ),
    "names of members": ({**PAIRS, "files": "a.zip", "members": "data/{paradigm}.csv"},
        {"a.zip": zipped(first=CSV, second=CSV.replace("cats", "dogs"))},
        {"paradigm": ["first"] * 2 + ["second"] * 2}),
    "a table of new names": ({**PAIRS, "constants": {"phenomenon": "sva"},
                              "rename": {"phenomenon": "names.tsv"}},
        {"a.csv": CSV, "names.tsv": "sva\tSubject-verb agreement\n"},
        {"phenomenon": ["Subject-verb agreement"] * 2}),
    "phenomena of paradigms": ({**PAIRS, "files": "{paradigm}.csv"},
        {"npi_1.csv": CSV, "sva_1.csv": CSV}, {"phenomenon": ["Licensing"] * 2 + ["Agreement"] * 2},
        {"phenomena": {"Agreement": ["sva_*"], "Licensing": ["npi_1"]}}),
    "columns that are kept": ({**PAIRS, "keep": ["depth"], "id": "name"},
        {"a.csv": "good,bad,depth,name\nHe runs.,He run.,3,x17\n"},
        {"depth": ["3"], "sent_id": ["x17"]}),
    "dotted paths": ({**JSONL, "good": "pair.ok", "bad": "pair.no", "paradigm": "tags.1"},
        {"a.jsonl": jsonl({"pair": {"ok": "He runs.", "no": "He run."}, "tags": ["sva", "num"]})},
        {"good": ["He runs."], "bad": ["He run."], "paradigm": ["num"]}),
    "a pair of the same sentence": (PAIRS,
        {"a.csv": "good,bad\nHe runs.,He runs.\nHe runs.,He run.\n"}, {"identical": [True, False]}),
    "a table without headings": ({**SINGLE, "files": "*.tsv",
                                  "columns": ["source", "ok", "mark", "s"]},
        {"a.tsv": "x\t1\t\tHe runs.\nx\t0\t*\tHe run.\n"},
        {"good": ["He runs.", "He run."], "bad": ["He runs.", "He run."],
         "acceptable": [True, False]}),
    "rows with labels in turn": (LABELLED, {"a.csv": LABELLED_CSV}, {"pair": TWO[::-1]}),
    "bad rows first": ({**ORDERED, "order": "bad first"}, {"a.csv": ORDERED_CSV},
        {"bad": ["He runs.", "He sleeps."]}),
    "each good and bad sentence of an item": ({**LABELLED, "good": ["good"], "bad": ["bad"],
                                               "item": "item", "critical": {"word": 1}},
        {"a.csv": "item,s,ok\n1,He runs.,good\n1,He run.,bad\n1,He running.,bad\n"},
        {"pair": [("He runs.", "He run."), ("He runs.", "He running.")],
         "region": [("runs.", "run."), ("runs.", "running.")]}),
    "the right one of two sentences": (CHOICES,
        {"a.csv": "a,b,right\nHe runs.,He run.,a\nHe sleep.,He sleeps.,b\n"},
        {"pair": [("He runs.", "He run."), ("He sleeps.", "He sleep.")]}),
    "two endings of a context": (
        {**JSONL, "good": "{context} {ending}", "bad": "{context} {other}"}
        | {"critical": {"good": "ending", "bad": "other"}},
        {"a.jsonl": jsonl({"context": "It rained.", "ending": "We got wet.", "other": "No."})},
        {
            "pair": [("It rained. We got wet.", "It rained. No.")],
            "region": [("We got wet.", "No.")],
        },
    ),
    "the critical word beside the difference": ({**PAIRS, "critical": "word"},
        {"a.csv": "good,bad,word\nA cat is a cat is fun.,A cat is a cats is fun.,is\n"},
        {"good_start": [15], "bad_start": [16]}),
    "critical offsets": ({**PAIRS, "critical": OFFSETS},
        {"a.csv": "good,bad,a,b,c,d\nHe runs.,He run.,3,7,3,6\n"}, {"region": [("runs", "run")]}),
    "an empty region": ({**CONDITIONS, "regions": ["a", "b", "d"],
                         "predictions": ["(d;%x%) < (d;%y%)"]},
        {"a.csv": "i,c,a,b,d\n1,x,He,,runs\n1,y,He,often,runs\n"},
        {"good": ["He runs", "He often runs"], "region_starts": [[0, 2, 3], [0, 3, 9]],
         "region": [("runs", "runs")] * 2}),
    "a test suite": ({"layout": "suites", "files": "*.json"}, {"verbs.json": json.dumps(suite())},
        {"good": ["The cats sleep", "The cats sleeps"], "condition": ["match", "mismatch"],
         "region_starts": [[0, 9]] * 2, "predictions": [["(2;%match%) < (2;%mismatch%)"]] * 2,
         "region": [("sleep", "sleep"), ("sleeps", "sleeps")],
         "paradigm": ["verbs"] * 2}),
    "a row for each region": ({**CONDITIONS, "region": "n", "content": "text",
                               "predictions": ["(2;%x%) < (2;%y%)"]},
        {"a.csv": "i,c,n,text\n1,x,np,The cats\n1,x,2,sleep\n1,y,np,The cats\n1,y,2,sleeps\n"},
        {"good": ["The cats sleep", "The cats sleeps"], "condition": ["x", "y"],
         "regions": [["np", "2"]] * 2}),
    "a design in a row": (DESIGN, {"a.csv": "a,b,word,other\nHe runs.,He run.,runs,run\n"},
        {"condition": ["gram", "ungram"], "region_starts": [[0, 3], [0, 3]],
         "region_ends": [[8, 7], [7, 6]], "region": [("runs", "runs"), ("run", "run")]}),
    "words apart from their contexts": (
        {"layout": "designs", "files": "*.csv", "allow_empty": ["before", "last"],
         "apart": {"apart": ["context", "word"], "earlier": ["before", "last"]},
         "sentences": {"spaced": "{context} {word}", "none": "{before}{last}"},
         "critical": {"spaced": "word"},
         "predictions": ["(critical;%spaced%) < (critical;%apart%)"],
         "effects": {"now": "(critical;%apart%)", "then": "(critical;%earlier%)"}},
        {"a.csv": "context,word,before,last\nHe never,runs.,He,never\nHe,runs.,,\n"},
        {"good": ["He never\x1fruns.", "He\x1fnever", "Henever", "He never runs.",
                  "He\x1fruns.", "He runs."],
         "region_starts": [[9], [3], [0], [0, 9], [3], [0, 3]],
         "region_ends": [[14], [8], [7], [14, 14], [8], [8, 8]],
         "effect_names": [["now", "then"]] * 4 + [["now"]] * 2}),
    "lists of contexts by word, and children's shares where known": (
        {"layout": "designs", "files": "words.json", "keys_as": "word",
         "lookup": {"table": "children.csv", "by": "word", "partial": True},
         "sentences": {"spaced": "{context|stripped} {word}"}, "critical": {"spaced": "word"},
         "apart": {"apart": ["context", "word"]}, "keep": ["word", "16"],
         "predictions": ["(critical;%spaced%) < (critical;%apart%)"]},
        {"words.json": json.dumps({"dog": [{"context": "I see a "}], "cat": [{"context": "My"}]}),
         "children.csv": "word,16\ndog,0.5\ndog,0.9\nzebra,0.1\n"},
        {"good": ["I see a\x1fdog", "I see a dog", "My\x1fcat", "My cat"],
         "word": ["dog", "dog", "cat", "cat"], "16": ["0.5", "0.5", "", ""]}),
    "a space before": ({**PAIRS, "before": " "}, {"a.csv": CSV.replace("The", " The")},
        {"good": [f" {good}" for good, _ in TWO], "bad": [f" {bad}" for _, bad in TWO],
         "region": [("sleep", "sleeps"), ("runs", "run")]}),
    "regions of a prediction and an effect": ({**CONDITIONS, "regions": ["a", "b", "d"],
         "predictions": ["(b;%x%) < (*;%y%)"], "effects": {"late": "(d;%x%) - (d;%y%)"}},
        {"a.csv": "i,c,a,b,d\n1,x,He,often,runs\n1,y,He,often,runs\n1,z,He,often,runs\n"},
        {"region": [("often runs",) * 2, *[("He often runs",) * 2] * 2]}),
    "a hidden file": (PAIRS, {"a.csv": CSV, ".a.csv": "x"}, {"file": ["a.csv"] * 2}),
    "ratings of labelled rows": ({**LABELLED, "item": "item", "rating": "grade"},
        {"a.csv": RATED_CSV}, {"rating": [4.5, None]}),
    "missing ratings of json": ({**JSONL, "rating": "grade"},
        {"a.jsonl": '{"good": "A b.", "bad": "A c.", "grade": NaN}\n'}, {"rating": [None]}),
    "items with one name in two phenomena": ({**LABELLED, "item": "i"},
        {"a.csv": "phenomenon,i,s,ok\nx,1,A b.,1\nx,1,A c.,0\ny,1,D e.,1\ny,1,D f.,0\n"},
        {"pair": [("A b.", "A c."), ("D e.", "D f.")], "phenomenon": ["x", "y"]}),
    "pairs between rows of another language": (
        {**LABELLED, "lang": "l", "where": {"l": "eng"}},
        {"a.csv": "l,s,ok\neng,A b.,1\ntam,X y.,1\neng,A c.,0\ntam,X z.,0\n"},
        {"pair": [("A b.", "A c.")]},
    ),
    "ratings beside pairs": ({**PAIRS, "rating": GRADES},
        {"a.csv": GRADED, "grades.tsv": GRADES_TSV}, {"rating": [4.5, None]}),
    "ratings beside sentences": ({**SINGLE, "rating": GRADES},
        {"a.csv": RATED_CSV, "grades.tsv": GRADES_TSV}, {"rating": [6.5, 2, 6, None]}),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_rows_are_read_as_their_entry_says(tmp_path, name):
    data, files, expected, *more = READ[name]
    rows = built(tmp_path / "toy", files, data=[data], **dict(*more))
    rows = [{**row, "pair": (row["good"], row["bad"]), "region": regions_of(row)} for row in rows]
    assert {column: [row[column] for row in rows] for column in expected} == expected


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
    ],
)
def test_the_critical_region_is_where_sentences_differ_in_any_script(tmp_path, good, bad, expected):
    files = {"a.jsonl": jsonl({"good": good, "bad": bad})}
    (row,) = built(tmp_path / "toy", files, data=[JSONL])
    assert regions_of(row) == expected


def test_effects_and_what_counts_as_right_stand_in_the_items(tmp_path):
    data = {**CONDITIONS, "regions": ["a", "b"], "right": "mean"}
    data |= {"predictions": ["(b;%x%) < (b;%y%)"]}
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
    with pytest.raises(UserError, match="right must be the same, all or mean, in all entries"):
        built(tmp_path / "toy", files, data=[data, {**data, "right": "all"}])


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


def test_items_of_several_sentences_have_nothing_before(tmp_path):
    with pytest.raises(UserError, match="before is of pairs and sentences"):
        built(tmp_path / "toy", {"a.csv": "a,b\nA.,B.\n"}, data=[{**DESIGN, "before": " "}])
