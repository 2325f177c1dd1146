"""What is wrong with a declaration or a file is one sentence that says where."""

import gzip
import json
import re
from dataclasses import dataclass, field
from typing import Any

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
OFFSETS = dict(zip(("good_start", "good_end", "bad_start", "bad_end"), "abcd", strict=True))


@dataclass(frozen=True)
class Fault:
    """A mistake, and what its message must say."""

    says: str
    data: Any = field(default_factory=dict)
    files: dict[str, str | bytes] = field(default_factory=lambda: {"a.csv": CSV})
    more: dict[str, Any] = field(default_factory=dict)


def pairs(**changes: Any) -> dict[str, Any]:
    return {**PAIRS, **changes}


BROKEN_SUITE = suite()
del BROKEN_SUITE["items"][0]["conditions"][0]["regions"][0]["content"]

FAULTS = {
    "a misspelt key": Fault(
        "benchmark.yaml: key 'data.0.sepaartor' is not a setting; did you mean 'separator'?",
        pairs(sepaartor=";"),
    ),
    "a misspelt key at the top": Fault(
        "key 'lable' is not a setting; did you mean 'label'?", pairs(), more={"lable": "x"}
    ),
    "no layout": Fault(
        "key 'data.0.layout' is missing", {"files": "*.csv", "good": "good", "bad": "bad"}
    ),
    "an unknown layout": Fault(
        "key 'data.0.layout' is 'triples': expected one of 'pairs'", pairs(layout="triples")
    ),
    "a missing key": Fault(
        "key 'data.0.bad' is missing; add it",
        {key: value for key, value in PAIRS.items() if key != "bad"},
    ),
    "a folder outside": Fault("a name must stay below its directory", pairs(files="../*.csv")),
    "an absolute name": Fault("a name must stay below its directory", pairs(files="/etc/*")),
    "a wrong code": Fault("key 'languages", pairs(), more={"languages": ["english"]}),
    "layouts of several kinds": Fault(
        "data has items of several kinds (pair, sentence)",
        [PAIRS, {**SENTENCES, "sentence": "good", "label": "bad"}],
    ),
    "an unknown method": Fault("key 'methods", pairs(), more={"methods": ["Full Sentence"]}),
    "no file": Fault(
        "'files' 'b*.csv' fits no file (a.csv, benchmark.yaml); correct the pattern",
        pairs(files="b*.csv"),
    ),
    "an unknown suffix": Fault(
        "a.dat: the suffix '.dat' is of no known format (.csv, .tsv",
        pairs(files="*.dat"),
        {"a.dat": CSV},
    ),
    "a missing column": Fault(
        "a.csv:2 has no column 'gud'; its columns are 'good', 'bad'. Correct the declaration",
        pairs(good="gud"),
    ),
    "a missing column of a template": Fault(
        "a.csv:2 has no column 'context'", pairs(good="{context} {good}")
    ),
    "another encoding": Fault(
        "a.csv:2 is not in utf-8",
        pairs(),
        {"a.csv": "good,bad\nКошки спят.,Кошки спит.\n".encode("cp1251")},
    ),
    "an unknown encoding": Fault("a.csv is not in klingon", pairs(encoding="klingon")),
    "another separator": Fault(
        "a.csv:2: 2 cells, but 1 columns; check 'separator' (';')",
        pairs(separator=";"),
        {"a.csv": "good,bad\nHe runs.;He run.\n"},
    ),
    "quotation marks of text in csv": Fault(
        "a.csv:2: a quotation mark is not closed before the cell or the line ends",
        pairs(),
        {"a.csv": 'good,bad\n"Stop, he said.,"Stops, he said.\n'},
    ),
    "quotation marks of csv in tsv": Fault(
        """a.tsv:2: the cell '"He said ""no""."' looks like one in the quotes of csv""",
        pairs(files="*.tsv"),
        {"a.tsv": 'good\tbad\n"He said ""no""."\tHe say no.\n'},
    ),
    "an unclosed quotation mark": Fault(
        "a.csv:2: unexpected end of data",
        pairs(quotes="csv"),
        {"a.csv": 'good,bad\n"Stop\nHe runs.,He run.\n'},
    ),
    "a column of where that no row has": Fault(
        "key data.0: 'where.splitt' names 'test', which no row has (no row has such a column)",
        pairs(where={"splitt": "test"}),
    ),
    "a value of where that no row has": Fault(
        "key data.0: 'where.split' names 'tset', which no row has (values of rows are 'test')",
        pairs(where={"split": ["test", "tset"]}),
        {"a.csv": "good,bad,split\nHe runs.,He run.,test\n"},
    ),
    "a column of rename that no row has": Fault(
        "key data.0: 'rename.knd' names 'a', which no row has", pairs(rename={"knd": {"a": "b"}})
    ),
    "a value of rename in another case": Fault(
        "key data.0: 'rename.kind' names 'A', which no row has (values of rows are 'a')",
        pairs(rename={"kind": {"A": "b"}}),
        {"a.csv": "good,bad,kind\nHe runs.,He run.,a\n"},
    ),
    "lines to skip without a reason": Fault(
        "expected lists of lines by file, and why they are left out as 'reason'",
        pairs(skip_lines={"a.csv": [2]}),
    ),
    "a line to skip that the file lacks": Fault(
        "'skip_lines' names line 9 of a.csv, which has no row there",
        pairs(skip_lines={"a.csv": [9], "reason": "cut"}),
    ),
    "lines to skip of a file that is not read": Fault(
        "'skip_lines' names 'b.csv', which is none of the files that are read (a.csv)",
        pairs(skip_lines={"b.csv": [2], "reason": "cut"}),
    ),
    "a phenomenon of no paradigm": Fault(
        "key phenomena.Agreement: 'b' fits no paradigm that others before it leave; those of",
        pairs(),
        more={"phenomena": {"Agreement": ["a", "b"]}},
    ),
    "a phenomenon whose paradigms another one takes": Fault(
        "key phenomena.Other: 'a' fits no paradigm that others before it leave; those of",
        pairs(),
        more={"phenomena": {"Agreement": ["*"], "Other": ["a"]}},
    ),
    "one column for both sentences": Fault("good and bad must be two columns", pairs(bad="good")),
    "blank lines beside an aligned file": Fault(
        "key data.0: a file has blank lines, so rows of aligned files may not be the same",
        pairs(files="a.csv", bad="b", aligned=[{"files": "b.tsv"}]),
        {"a.csv": "good\nHe runs.\n\nShe sits.\n", "b.tsv": "b\nHe run.\nShe sit.\n"},
    ),
    "a fault of two rows in a file whose name has a space": Fault(
        "values in the declaration, or the file. The same at my file.csv:3.",
        {**CHOICES, "right": RIGHT},
        {"my file.csv": "a,b,r\nHe runs.,He run.,c\nShe runs.,She run.,c\n"},
    ),
    "two entries with a fault each": Fault(
        "key data.1: 'where.y' names 'z'",
        [pairs(where={"splitt": "test"}), pairs(where={"y": "z"})],
    ),
    "a key with a dot that is a path too": Fault(
        "a.jsonl:1: 'a.b' is a key with a dot, and a path too",
        pairs(files="*.jsonl"),
        {"a.jsonl": '{"a.b": 1, "a": {"b": 2}}\n'},
    ),
    "an old value twice in a table": Fault(
        "names.tsv:2 has 'a' again",
        pairs(rename={"good": "names.tsv"}),
        {"a.csv": CSV, "names.tsv": "a\tb\na\tc\n"},
    ),
    "an odd number of labelled rows": Fault(
        "or name 'item'. The same at b.csv:2.",
        LABELS,
        {"a.csv": "s,ok\nHe runs.,1\nHe run.,0\nShe runs.,1\n", "b.csv": "s,ok\nHe runs.,1\n"},
    ),
    "a short row": Fault(
        "a.csv:3: 1 cells, but 2 columns", pairs(), {"a.csv": "good,bad\nHe runs.,He run.\nHe\n"}
    ),
    "repeated headings": Fault(
        "a.csv:1: the heading 'good' stands in several columns",
        pairs(),
        {"a.csv": "good,good\nHe runs.,He run.\n"},
    ),
    "an empty file": Fault("a.csv is empty; expected a row of headings", pairs(), {"a.csv": ""}),
    "an empty sentence": Fault(
        "a.csv:2: column 'bad' is ''; expected text", pairs(), {"a.csv": "good,bad\nHe runs., \n"}
    ),
    "a number for a sentence": Fault(
        "a.jsonl:1: column 'bad' is 3; expected text",
        pairs(files="*.jsonl"),
        {"a.jsonl": jsonl({"good": "x", "bad": 3})},
    ),
    "broken JSON lines": Fault(
        "a.jsonl:2 is no JSON",
        pairs(files="*.jsonl"),
        {"a.jsonl": '{"good": "x", "bad": "y"}\n{\n'},
    ),
    "a line that is no object": Fault(
        "a.jsonl:1 is [1]; expected an object", pairs(files="*.jsonl"), {"a.jsonl": "[1]\n"}
    ),
    "absent records": Fault(
        "a.json has no 'data.test' (it has: train); correct 'records'",
        pairs(files="*.json", records="data.test"),
        {"a.json": '{"data": {"train": []}}'},
    ),
    "a broken archive": Fault("a.zip cannot be unpacked", pairs(files="*.zip"), {"a.zip": b"PK"}),
    "a broken compression": Fault(
        "a.csv.xz cannot be unpacked", pairs(files="*.xz"), {"a.csv.xz": b"no"}
    ),
    "a broken workbook": Fault("it is no xlsx file", pairs(files="*.xlsx"), {"a.xlsx": b"no"}),
    "a broken Parquet file": Fault("a.parquet", pairs(files="*.parquet"), {"a.parquet": b"no"}),
    "an undeclared language": Fault(
        "a.csv:2: the language is 'xx'; expected one of eng",
        pairs(lang="l"),
        {"a.csv": "good,bad,l\nHe runs.,He run.,xx\n"},
    ),
    "no language": Fault(
        "the language is None; expected one of eng, fra",
        pairs(),
        more={"languages": ["eng", "fra"]},
    ),
    "another number of items": Fault(
        "the files have 2 items of 'eng', and 'items' says 3", pairs(), more={"items": 3}
    ),
    "a critical word elsewhere": Fault(
        "a.csv:2: the critical region 'sings' (column 'w') is no part of 'He runs.'",
        pairs(critical="w"),
        {"a.csv": "good,bad,w\nHe runs.,He run.,sings\n"},
    ),
    "offsets outside": Fault(
        "a.csv:2: the critical regions [3, 17, 3, 6] are not inside sentences of 8 and 7",
        pairs(critical=OFFSETS),
        {"a.csv": "good,bad,a,b,c,d\nHe runs.,He run.,3,17,3,6\n"},
    ),
    "a paradigm without phenomenon": Fault(
        "paradigm 'a' is of no phenomenon of Toy; add it to one of 'phenomena' (Agreement)",
        pairs(),
        more={"phenomena": {"Agreement": ["b"]}},
    ),
    "a column twice": Fault(
        "a.csv:2: column 'good' stands in several of the file, its name and the constants",
        pairs(constants={"good": "x"}),
    ),
    "a column in the name and the constants": Fault(
        "a.csv:2: column 'lang' stands in several of the file, its name and the constants",
        pairs(files="{lang}.csv", constants={"lang": "eng"}),
    ),
    "a table of new names with three cells": Fault(
        "names.tsv:1 has 3 cells; expected two",
        pairs(rename={"good": "names.tsv"}),
        {"a.csv": CSV, "names.tsv": "a\tb\tc\n"},
    ),
    "a label of neither side": Fault(
        "a.csv:2: the label 'ok' is '2'; expected one of 1 or 0",
        ROWS,
        {"a.csv": "i,s,ok\n1,He runs.,2\n"},
    ),
    "an item without a bad sentence": Fault(
        "a.csv:2: the item has 1 rows and no bad sentence",
        ROWS,
        {"a.csv": "i,s,ok\n1,He runs.,1\n"},
    ),
    "a choice of neither": Fault(
        "the label 'r' is 'c'; expected one of 'a' or 'b'",
        {**CHOICES, "right": RIGHT},
        {"a.csv": "a,b,r\nHe runs.,He run.,c\n"},
    ),
    "a sentence with another label": Fault(
        "the label 'ok' is 'maybe'", SENTENCES, {"a.csv": "s,ok\nHe runs.,maybe\n"}
    ),
    "an empty paradigm": Fault(
        "a.csv:3: column 'paradigm' is empty; expected a value in each row",
        pairs(),
        {"a.csv": "good,bad,paradigm\nHe runs.,He run.,sva\nShe runs.,She run.,\n"},
    ),
    "an item without a name": Fault(
        "a.csv:2: column 'i' is empty", ROWS, {"a.csv": "i,s,ok\n,He runs.,1\n,He run.,0\n"}
    ),
    "a region twice": Fault(
        "a.csv:2: condition 'p' of item '1' has the region 'v' twice; expected distinct ones",
        LONG,
        {"a.csv": "i,c,r,t\n1,p,v,He\n1,p,v,runs\n1,q,v,run\n"},
    ),
    "a kept column that all items have": Fault(
        "key data.0: 'keep' names 'good', which is a column of all tables", pairs(keep=["good"])
    ),
    "a file twice": Fault(
        "key data.0: a.csv is read twice, from a.csv.gz the second time",
        pairs(files="a.csv*"),
        {"a.csv": CSV, "a.csv.gz": gzip.compress(CSV.encode())},
    ),
    "lines that end at carriage returns": Fault(
        "a.csv: its lines end at carriage returns alone",
        pairs(),
        {"a.csv": CSV.replace("\n", "\r")},
    ),
    "UTF-8 that is stated to be another encoding": Fault(
        "a.csv, read as latin-1, is in UTF-8 as well",
        pairs(encoding="latin-1"),
        {"a.csv": "good,bad\nÄr det.,Är det?\n"},
    ),
    "cp1252 that is stated to be latin-1": Fault(
        "a.csv, read as latin-1, also has control characters",
        pairs(encoding="latin-1"),
        {"a.csv": "good,bad\n“Yes” is.,“Yes” are.\n".encode("cp1252")},
    ),
    "two separators without headings": Fault(
        "a.csv: ',' or ';' may stand between the cells",
        pairs(columns=["good", "bad"]),
        {"a.csv": "He came, saw;He come\nHe sat, ate;He sit\n"},
    ),
    "every cell in quotes in tsv": Fault(
        """a.tsv:2: the cell '"He runs."' looks like one in the quotes of csv""",
        pairs(files="*.tsv"),
        {"a.tsv": 'good\tbad\n"He runs."\t"He run."\n'},
    ),
    "half a letter": Fault(
        "a.jsonl:1 is no JSON ('utf-8' codec can't encode",
        pairs(files="*.jsonl"),
        {"a.jsonl": '{"good": "x", "bad": "\\ud83d"}\n'},
    ),
    "a pair that where takes apart": Fault(
        "a.csv:2: its pair would be with line 5, and 'where' may have left out the row between",
        {**LABELS, "where": {"k": "x"}},
        {"a.csv": "s,ok,k\nA.,1,x\nB.,0,y\nC.,1,y\nD.,0,x\n"},
    ),
    "a brace too many in a template": Fault(
        "a.csv:2: the template '{{good}' has a brace too many", pairs(good="{{good}")
    ),
    "a list in a template": Fault(
        "a.jsonl:1: column 'a' is ['x'], and a template needs text; name a field of it",
        pairs(files="*.jsonl", bad="{a} {good}"),
        {"a.jsonl": jsonl({"good": "y", "a": ["x"]})},
    ),
    "a paradigm in some rows": Fault(
        "a.jsonl:2 has no column 'paradigm', and rows before have one",
        pairs(files="*.jsonl"),
        {"a.jsonl": jsonl({"good": "x", "bad": "y", "paradigm": "z"}, {"good": "x", "bad": "y"})},
    ),
    "a longer blank": Fault(
        "a.csv:2: '__' stands 2 times in 'He ___.'; expected once",
        pairs(bad="{bad['__']=good}"),
        {"a.csv": "good,bad\nHe runs.,He ___.\n"},
    ),
    "offsets after white space": Fault(
        "a.csv:2: column 'good' begins with white space",
        pairs(critical=OFFSETS, files="*.csv"),
        {"a.csv": 'good,bad,a,b,c,d\n" He runs.",He run.,4,8,3,6\n'},
    ),
    "regions in two ways": Fault(
        "either regions, or region and content, must be given", {**WIDE, "region": "x"}
    ),
    "no predictions": Fault("predictions must be given", {**WIDE, "predictions": []}),
    "a malformed prediction": Fault(
        "(y;%p%) <",
        {**WIDE, "predictions": ["(y;%p%) < "]},
        {"a.csv": "i,c,x,y\n1,p,He,runs\n1,q,He,run\n"},
    ),
    "a prediction about an absent condition": Fault(
        "a.csv:2: prediction '(y;%p%) < (y;%q%)' names region 'y' of condition 'q', which item "
        "'1' lacks; it has the conditions p and the regions x, y",
        WIDE,
        {"a.csv": "i,c,x,y\n1,p,He,runs\n"},
    ),
    "a condition twice": Fault(
        "a.csv:3: condition 'p' of the item stands in 2 rows",
        WIDE,
        {"a.csv": "i,c,x,y\n1,p,He,runs\n1,p,He,run\n"},
    ),
    "no test suite": Fault(
        "a.json:1 is no test suite", SUITES, {"a.json": json.dumps({"items": []})}
    ),
    "a suite whose items have no conditions": Fault(
        "a.json:1: the item is {'item_number': 1}; expected one with a list of 'conditions'",
        SUITES,
        {"a.json": json.dumps(suite(items=[{"item_number": 1}]))},
    ),
    "a suite whose predictions are texts": Fault(
        "a.json:1 is no test suite", SUITES, {"a.json": json.dumps(suite(predictions=["x"]))}
    ),
    "records that are no list": Fault(
        "a.json is 3; expected a list of records",
        pairs(files="*.json", records="data"),
        {"a.json": '{"data": 3}'},
    ),
    "a suite without text": Fault(
        "a condition of the item has no 'content'", SUITES, {"a.json": json.dumps(BROKEN_SUITE)}
    ),
}


def message_of(tmp_path, fault: Fault) -> str:
    """The message about a mistake."""
    data = fault.data if isinstance(fault.data, list) else [fault.data]
    with pytest.raises(UserError) as raised:
        built(tmp_path / "toy", fault.files, data=data, **fault.more)
    return str(raised.value)


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_one_sentence_that_says_where(tmp_path, name):
    message = message_of(tmp_path, FAULTS[name])
    assert FAULTS[name].says in message
    assert re.search(r"(benchmark\.yaml|a\.\w+|my file|names\.tsv|Toy|prediction)", message)
    assert message.endswith((".", "?"))
    assert ("\n" in message) == (name == "two entries with a fault each")


def test_at_most_twenty_faults_of_an_entry_are_listed_in_one_message(tmp_path):
    lines = "".join(f"He runs.,He run.,{number}\n" for number in range(30))
    data = {**CHOICES, "first": "a", "second": "b", "right": RIGHT}
    message = message_of(tmp_path, Fault("", data, {"a.csv": f"a,b,r\n{lines}"}))
    assert message.count("\n") == 20
    assert "key data.0: 30 faults; the first 20 of them:" in message
    assert "a.csv:21: the label 'r' is '19'" in message
