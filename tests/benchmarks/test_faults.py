"""Test that an error in a declaration or a file is one sentence that names its location."""

import gzip
import json
import re

import pytest

from blimpworks.errors import UserError
from support.declared_kit import CSV, PAIRS, built, jsonl, suite

ROWS = {"layout": "labelled_rows", "files": "*.csv", "sentence": "s", "label": "ok"}
ROWS |= {"good": [1], "bad": [0], "item": "i"}
LABELS = {key: value for key, value in ROWS.items() if key != "item"}
SENTENCES = {"layout": "sentences", "files": "*.csv", "sentence": "s", "label": "ok"}
CHOICES = {"layout": "choices", "files": "*.csv", "first": "a", "second": "b"}
RIGHT = {"column": "r", "first": ["a"], "second": ["b"]}
WIDE = {"layout": "conditions", "files": "*.csv", "item": "i", "condition": "c"}
WIDE |= {"regions": ["x", "y"], "predictions": ["(y;%p%) < (y;%q%)"]}
LONG = {"layout": "conditions", "files": "*.csv", "item": "i", "condition": "c", "region": "r"}
LONG |= {"content": "t", "predictions": ["(v;%p%) < (v;%q%)"]}
SUITES = {"layout": "suites", "files": "*.json"}
OPTIONS = {"layout": "alternatives", "files": "*.csv", "options": ["x", "y"]}
OPTIONS |= {"right": {"column": "r"}}
OFFSETS = dict(zip(("good_start", "good_end", "bad_start", "bad_end"), "abcd", strict=True))


def pairs(**changes):
    return {**PAIRS, **changes}


BROKEN_SUITE = suite()
del BROKEN_SUITE["items"][0]["conditions"][0]["regions"][0]["content"]
APART_SUITE = suite()
APART_SUITE["items"][0]["conditions"][0]["regions"][0]["content"] += "\x1fdog"

FAULTS = [
    ("benchmark.yaml: key 'data.0.sepaartor' is not a setting; did you mean", pairs(sepaartor=";")),
    ("key 'data.0.bad' is missing; add it",
        {key: value for key, value in PAIRS.items() if key != "bad"}),
    ("a.csv:2: column 'bad' has the control character U+001F; take it out",
        PAIRS, {"a.csv": "good,bad\nHe runs.,He\x1frun.\n"}),
    ("expected a mapping from keys to lists of records. Correct 'records', or",
        pairs(files="a.json", keys_as="word"), {"a.json": '{"cat": {"good": "A", "bad": "B"}}'}),
    ("a name must stay below its directory", pairs(files="../*.csv")),
    ("data has items of several kinds", [PAIRS, {**SENTENCES, "sentence": "good", "label": "bad"}]),
    ("'files' 'b*.csv' fits no file (a.csv, benchmark.yaml); correct the", pairs(files="b*.csv")),
    ("a.dat: the suffix '.dat' is of no known format (.csv,", pairs(files="*.dat"), {"a.dat": CSV}),
    ("a.csv:2 has no column 'gud'; its columns are 'good', 'bad'. Correct the", pairs(good="gud")),
    ("a.csv:2: the paradigm is called 'all', as the accuracy over all of them is",
        pairs(paradigm="kind"), "good,bad,kind\nHe runs.,He run.,all\n"),
    ("a.csv:2 is not in utf-8", PAIRS, "good,bad\nКошки спят.,Кошки спит.\n".encode("cp1251")),
    ("a.csv:2: 2 cells, but 1 columns;", pairs(separator=";"), "good,bad\nHe runs.;He run.\n"),
    ("a.csv:2: a quotation mark is not", PAIRS, 'good,bad\n"Stop, he said.,"Stops, he said.\n'),
    ('a.tsv:2: the quotes of the cell \'"He said ""no""."\' look like those of csv',
        pairs(files="*.tsv"), {"a.tsv": 'good\tbad\n"He said ""no""."\tHe say no.\n'}),
    ("a.csv:2: unexpected end of data", pairs(quotes="csv"), 'good,bad\n"Stop\nHe runs.,He run.\n'),
    ("key data.0: 'where.splitt' names 'test', which no row has", pairs(where={"splitt": "test"})),
    ("key data.0: 'rename.kind' names 'A', which no row has (values of rows are 'a')",
        pairs(rename={"kind": {"A": "b"}}), "good,bad,kind\nHe runs.,He run.,a\n"),
    ("expected lists of lines by file, and why they are left", pairs(skip_lines={"a.csv": [2]})),
    ("'skip_lines' names line 9 of a.csv,", pairs(skip_lines={"a.csv": [9], "reason": "cut"})),
    ("'skip_lines' names 'b.csv', which is", pairs(skip_lines={"b.csv": [2], "reason": "cut"})),
    ("key phenomena.Agreement: 'b' fits no", PAIRS, CSV, {"phenomena": {"Agreement": ["a", "b"]}}),
    ("good and bad must be two columns", pairs(bad="good")),
    ("key data.0: a file has blank lines, so rows of aligned files may not be the same",
        pairs(files="a.csv", bad="b", aligned=[{"files": "b.tsv"}]),
        {"a.csv": "good\nHe runs.\n\nShe sits.\n", "b.tsv": "b\nHe run.\nShe sit.\n"}),
    ("values in the declaration, or the file. The same at my file.csv:3.",
        {**CHOICES, "right": RIGHT},
        {"my file.csv": "a,b,r\nHe runs.,He run.,c\nShe runs.,She run.,c\n"}),
    ("key data.1: 'where.y' names 'z'", [pairs(where={"splitt": "test"}), pairs(where={"y": "z"})]),
    ("a.jsonl:1: 'a.b' is a key with a dot, and a path too", pairs(files="*.jsonl"),
        {"a.jsonl": '{"a.b": 1, "a": {"b": 2}}\n'}),
    ("or name 'item'. The same at b.csv:2.", LABELS,
        {"a.csv": "s,ok\nHe runs.,1\nHe run.,0\nShe runs.,1\n", "b.csv": "s,ok\nHe runs.,1\n"}),
    ("a.csv:1: the heading 'good' is in several", PAIRS, "good,good\nHe runs.,He run.\n"),
    ("a.csv is empty; expected a row of headings", PAIRS, ""),
    ("a.csv:2: column 'bad' is ''; expected text", PAIRS, "good,bad\nHe runs., \n"),
    ("a.jsonl:2 is no JSON", pairs(files="*.jsonl"), {"a.jsonl": '{"good": "x", "bad": "y"}\n{\n'}),
    ("a.json has no 'data.test' (it has: train); correct 'records'",
        pairs(files="*.json", records="data.test"), {"a.json": '{"data": {"train": []}}'}),
    ("a.zip cannot be unpacked", pairs(files="*.zip"), {"a.zip": b"PK"}),
    ("the language is None; expected one of eng, fra", PAIRS, CSV, {"languages": ["eng", "fra"]}),
    ("the files have 2 items of 'eng', and 'items' says 3", PAIRS, CSV, {"items": 3}),
    ("a.csv:2: the critical region 'sings' (column 'w') is no part of 'He runs.'",
        pairs(critical="w"), "good,bad,w\nHe runs.,He run.,sings\n"),
    ("a.csv:2: the critical region 'the' (column 'w') occurs 2 times in 'the dog sees the cat'",
        {"layout": "designs", "files": "*.csv", "sentences": {"a": "a"}, "critical": {"a": "w"},
            "predictions": ["(critical;%a%) < (sentence;%a%)"]}, "a,w\nthe dog sees the cat,the\n"),
    ("a.csv:2: the critical region 'he' (column 'w') occurs 2 times in 'If he was he runs'",
        pairs(critical="w"), "good,bad,w\nIf he was he runs,if he is he run,he\n"),
    ("a.csv:2: the critical regions [3, 17, 3, 6] are not inside sentences of 8 and 7",
        pairs(critical=OFFSETS), "good,bad,a,b,c,d\nHe runs.,He run.,3,17,3,6\n"),
    ("paradigm 'a' is of no phenomenon of Toy;", PAIRS, CSV, {"phenomena": {"Agreement": ["b"]}}),
    ("a.csv:2: column 'good' is in several of the file, its", pairs(constants={"good": "x"})),
    ("names.tsv:1 has 3 cells; expected two", pairs(rename={"good": "names.tsv"}),
        {"a.csv": CSV, "names.tsv": "a\tb\tc\n"}),
    ("a.csv:2: the label 'ok' is '2'; expected one of 1 or 0", ROWS, "i,s,ok\n1,He runs.,2\n"),
    ("a.csv:2: the item has 1 rows and no bad sentence", ROWS, "i,s,ok\n1,He runs.,1\n"),
    ("a.csv:3: column 'paradigm' is empty; expected a value in each row", PAIRS,
        "good,bad,paradigm\nHe runs.,He run.,sva\nShe runs.,She run.,\n"),
    (r"a.csv:3: the paradigm is 'e\u0301', and elsewhere '\xe9', which look the same", PAIRS,
        "good,bad,paradigm\nHe runs.,He run.,\xe9\nShe runs.,She run.,e\u0301\n"),
    ("a.csv:2: condition 'p' of item '1' has", LONG, "i,c,r,t\n1,p,v,He\n1,p,v,runs\n1,q,v,run\n"),
    *((f"key data.0: 'keep' names {name!r}, which is a column of our own", pairs(keep=[name]))
        for name in ("good", "prefix_methods", "model", "tokens_good")),
    ("key data.0: a.csv is read twice, from a.csv.gz the second time", pairs(files="a.csv*"),
        {"a.csv": CSV, "a.csv.gz": gzip.compress(CSV.encode())}),
    ("a.csv: only carriage returns end its lines", PAIRS, CSV.replace("\n", "\r")),
    ("a.csv as latin-1 is valid UTF-8 too", pairs(encoding="latin-1"),
        "good,bad\nÄr det.,Är det?\n"),
    ("a.csv as latin-1 has control characters", pairs(encoding="latin-1"),
        "good,bad\n“Yes” is.,“Yes” are.\n".encode("cp1252")),
    ("a.csv: ',' or ';' may separate the cells", pairs(columns=["good", "bad"]),
        "He came, saw;He come\nHe sat, ate;He sit\n"),
    ("a.jsonl:1 is no JSON ('utf-8' codec can't encode", pairs(files="*.jsonl"),
        {"a.jsonl": '{"good": "x", "bad": "\\ud83d"}\n'}),
    ("a.csv:2: its pair would be with line 5, and 'where' or 'skip_lines' may have left out one",
        {**LABELS, "where": {"k": "x"}}, "s,ok,k\nA.,1,x\nB.,0,y\nC.,1,y\nD.,0,x\n"),
    ("a.csv:3: its pair would be with line 4, and 'where' or 'skip_lines' may have left out one",
        {**LABELS, "where": {"k": "x"}}, "s,ok,k\nA.,1,y\nB.,0,x\nC.,1,x\nD.,0,y\n"),
    ("a.csv:5: its pair would be with line 6, and 'where' or 'skip_lines' may have left out one",
        {**LABELS, "skip_lines": {"a.csv": [4, 7], "reason": "cut"}},
        "s,ok\nA.,1\nB.,0\nC.,1\nD.,0\nE.,1\nF.,0\n"),
    ("a.csv:1: the first row has the cell 'good', a name of 'columns', which is for tables without",
        pairs(columns=["good", "worse"], bad="worse")),
    ("columns is for a table without headings, and header_row for others",
        pairs(columns=["good", "bad"], header_row=2)),
    ("a.csv:2: the template '{{good}' has a brace too many", pairs(good="{{good}")),
    ("a.jsonl:1: column 'a' is ['x'], and a template needs text; name a field of it",
        pairs(files="*.jsonl", bad="{a} {good}"), {"a.jsonl": jsonl({"good": "y", "a": ["x"]})}),
    ("a.csv:2: column 'good' begins with white space", pairs(critical=OFFSETS, files="*.csv"),
        'good,bad,a,b,c,d\n" He runs.",He run.,4,8,3,6\n'),
    ("either regions, or region and content, must be given", {**WIDE, "region": "x"}),
    ("predictions must be given", {**WIDE, "predictions": []}),
    ("a.csv:2: no condition has a sentence; expected one or more", {"layout": "designs",
        "files": "*.csv", "sentences": {"p": "x", "q": "y"}, "allow_empty": ["x", "y"],
        "predictions": WIDE["predictions"]}, "id,x,y\n1,,\n"),
    ("a.csv:2: prediction '(y;%p%) < (y;%q%)' names region 'y' of", WIDE, "i,c,x,y\n1,p,He,runs\n"),
    ("a.csv:3: condition 'p' of the item is in 2", WIDE, "i,c,x,y\n1,p,He,runs\n1,p,He,run\n"),
    ("a.json:1 is no test suite", SUITES, {"a.json": json.dumps({"items": []})}),
    ("expected 'items', and 'predictions' that each have a formula", SUITES,
        {"a.json": json.dumps(suite(predictions=[*suite()["predictions"], {"formula": ""}]))}),
    ("a.json:1: the item is {'item_number': 1}; expected one with a list of 'conditions'", SUITES,
        {"a.json": json.dumps(suite(items=[{"item_number": 1}]))}),
    ("a.json:1: the item is {'conditions': []}; expected one with a list of 'conditions'", SUITES,
        {"a.json": json.dumps(suite(items=[{"conditions": []}]))}),
    ("a condition of the item has no 'content'", SUITES, {"a.json": json.dumps(BROKEN_SUITE)}),
    ("a.csv:2: column 'y' has the control character U+001F; take it out", WIDE,
        "i,c,x,y\n1,p,He,a\x1fb\n1,q,He,run\n"),
    ("a.csv:3: column 't' has the control character U+001F; take it out", LONG,
        "i,c,r,t\n1,p,v,runs\n1,q,v,run\x1f\n"),
    ("a.json:1: column 'content' has the control character U+001F; take it out",
        SUITES, {"a.json": json.dumps(APART_SUITE)}),
    ("all.csv:2: the paradigm is called 'all', as the accuracy over all of them is", PAIRS,
        {"all.csv": CSV}),
    ("a.jsonl:1: column 'paradigm' is empty", pairs(files="*.jsonl"),
        {"a.jsonl": '{"good": "He runs.", "bad": "He run.", "paradigm": NaN}\n'}),
    ("a.csv:2: column 'x' has the control character U+001F; take it out", OPTIONS,
        "x,y,r\na\x1fb,c,0\n"),
]  # fmt: skip


def message_of(tmp_path, data, files=CSV, more=None):
    files = files if isinstance(files, dict) else {"a.csv": files}
    with pytest.raises(UserError) as raised:
        built(
            tmp_path / "toy", files, data=data if isinstance(data, list) else [data], **more or {}
        )
    return str(raised.value)


@pytest.mark.parametrize("fault", FAULTS, ids=[fault[0] for fault in FAULTS])
def test_a_mistake_is_one_sentence_that_says_where(tmp_path, fault):
    says, *declared = fault
    message = message_of(tmp_path, *declared)
    assert says in message
    assert re.search(r"(benchmark\.yaml|a(ll)?\.\w+|my file|names\.tsv|Toy|prediction)", message)
    assert message.endswith((".", "?"))
    assert ("\n" in message) == ("key data.1" in says)


def test_at_most_twenty_faults_of_an_entry_are_listed_in_one_message(tmp_path):
    lines = "".join(f"He runs.,He run.,{number}\n" for number in range(30))
    data = {**CHOICES, "first": "a", "second": "b", "right": RIGHT}
    message = message_of(tmp_path, data, f"a,b,r\n{lines}")
    assert message.count("\n") == 20
    assert "key data.0: 30 faults; the first 20 of them:" in message
    assert "a.csv:21: the label 'r' is '19'" in message
