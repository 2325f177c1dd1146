"""Rows with several options become items whose right option must be better than the others."""

import json
import re

import pytest

from blimpworks.errors import UserError
from support.declared_kit import built, jsonl

ENDINGS = {"ctx": "It rained.", "a": "We got wet.", "b": "We got dry.", "c": "We sang."}
SENTENCES = ["It rained. We got wet.", "It rained. We got dry.", "It rained. We sang."]
COLUMNS = {"options": ["a", "b", "c"], "context": "ctx"}


LIST = [ENDINGS[name] for name in "abc"]
LABELLED = [{"label": label, "text": text} for label, text in zip("ABC", LIST, strict=True)]
GAP = {"gap": "It rained. We ___.", "a": "got wet", "b": "got dry"}
FILLED = {"options": ["{gap['___']=a}", "{gap['___']=b}"], "context": None}


@pytest.mark.parametrize(
    ("record", "data", "right", "expected"),
    [
        ({"y": "2"}, {}, {}, [2, 0, 1]),
        ({"y": 2}, {}, {"counts_from": 1}, [1, 0, 2]),
        ({"y": "B"}, {}, {"labels": ["A", "B", "C"]}, [1, 0, 2]),
        ({"y": 7, "k": [5, 6, 7]}, {}, {"labels": "k"}, [2, 0, 1]),
        ({"y": " We sang."}, {"right": "y"}, {}, [2, 0, 1]),
        ({"y": 1, "c": ""}, {"allow_empty": ["c"]}, {}, [1, 0]),
        ({"y": 1, "o": LIST}, {"options": "o"}, {}, [1, 0, 2]),
        ({"y": "C", "o": LABELLED}, {"options": "o.*.text"}, {"labels": "o.*.label"}, [2, 0, 1]),
        ({"y": 1, "o": json.dumps(LIST)}, {"options": "o"}, {}, [1, 0, 2]),
        ({"y": 1, "o": " | ".join(LIST[:2])}, {"options": "o", "split_by": "|"}, {}, [1, 0]),
        ({"y": 1, **GAP}, FILLED, {}, [1, 0]),
    ],
)
def test_an_option_is_right_by_position_label_or_text(tmp_path, record, data, right, expected):
    declared = {"layout": "alternatives", "files": "*.jsonl", **COLUMNS}
    declared |= {"right": {"column": "y", **right}, **data}
    files = {"a.jsonl": jsonl(ENDINGS | record)}
    rows = built(tmp_path / "toy", files, data=[declared])
    assert [row["good"] for row in rows] == [SENTENCES[n] for n in expected]
    n = len(expected)
    assert [row["condition"] for row in rows] == ["right", *(f"wrong {i}" for i in range(1, n))]
    assert {row["alternatives"] for row in rows} == {n}
    assert rows[0]["predictions"] == [f"(*;%right%) < (*;%wrong {i}%)" for i in range(1, n)]


def test_options_join_their_contexts_as_their_language_says(tmp_path):
    records = [
        {"ctx": "It rained.", "a": "Wet.", "b": "Dry.", "y": 0, "lang": "eng"},
        {"ctx": "下雨了。", "a": "湿。", "b": "干。", "y": 0, "lang": "zho"},
        {"ctx": None, "a": "湿。", "b": "干。", "y": 0, "lang": "zho"},
    ]
    data = {"layout": "alternatives", "files": "*.jsonl", "options": ["a", "b"], "context": "ctx"}
    data |= {"right": {"column": "y"}, "compared": "option", "allow_empty": ["ctx"]}
    data |= {"joined_by": {"eng": " ", "zho": ""}}
    declared = {"data": [data], "languages": ["eng", "zho"]}
    found = {}
    for lang in ("eng", "zho"):
        rows = built(tmp_path / "toy", {"a.jsonl": jsonl(*records)}, lang=lang, **declared)
        found[lang] = [
            (row["good"], row["good"][row["region_starts"][1] : row["region_ends"][1]])
            for row in rows
        ]
        assert rows[0]["predictions"] == ["(option;%right%) < (option;%wrong 1%)"]
    rained = [("下雨了。湿。", "湿。"), ("下雨了。干。", "干。")]
    assert found == {
        "eng": [("It rained. Wet.", "Wet."), ("It rained. Dry.", "Dry.")],
        "zho": [*rained, ("湿。", "湿。"), ("干。", "干。")],
    }


@pytest.mark.parametrize(
    ("changes", "data", "says"),
    [
        ({"y": 3}, {}, "a.jsonl:1: 'y' is 3, which is 0 of the options' '0', '1', '2'; expected"),
        ({"c": ""}, {}, "option 3 (column 'c') is ''; expected text. Correct the file, or add"),
        ({"c": "", "y": 2}, {"allow_empty": ["c"]}, "'y' is 2, which is 0 of the options'"),
        ({"b": "", "c": ""}, {"allow_empty": ["b", "c"]}, "has one option, 'We got wet.'; expec"),
        ({"b": "We sang.", "y": "We sang."}, {"right": "y"}, "which is 2 of the options'"),
        ({"ctx": ""}, {}, "column 'ctx' is ''; expected text"),
        ({}, {"options": "a"}, "'We got wet.'; expected a list. Say what stands between"),
        ({"o": ["a"]}, {"options": "o", "split_by": "|"}, "is ['a']; expected text with '|'"),
        ({"o": [{"text": "x"}, 1]}, {"options": "o.*.text"}, "option 2 (column 'o.*.text') is No"),
        ({}, {"split_by": "|"}, "split_by needs options to be one column"),
        ({}, {"joined_by": {"deu": ""}}, "'joined_by' is for deu; expected the languages of the"),
    ],
)
def test_what_is_wrong_with_options_is_said(tmp_path, changes, data, says):
    declared = {"layout": "alternatives", "files": "*.jsonl", "right": {"column": "y"}, **COLUMNS}
    record = {**ENDINGS, "y": 0, **changes}
    with pytest.raises(UserError, match=re.escape(says)):
        built(tmp_path / "toy", {"a.jsonl": jsonl(record)}, data=[{**declared, **data}])


def test_two_items_of_a_file_with_one_name_are_two_items(tmp_path):
    data = {"layout": "alternatives", "files": "*.jsonl", "right": {"column": "y"}, **COLUMNS}
    records = [{**ENDINGS, "y": 0}] * 2
    rows = built(tmp_path / "toy", {"a.jsonl": jsonl(*records)}, data=[{**data, "id": "y"}])
    assert len({row["item"] for row in rows}) == 2
    assert len({row["item_id"] for row in rows}) == len(rows)
