"""Lines of plain text, rows of aligned files beside each other, and tables of lookup."""

import re

import pytest

from blimpworks.errors import UserError
from support.declared_kit import PAIRS, built, jsonl, pairs_of

# The layout of Gulordava et al. (2018): sentences, what is known of each, and a number.
ALIGNED = {
    "en/generated.text": "The key to the cabinets is here . <eos>\nDogs\u2028bark . <eos>\n",
    "en/generated.gold": "singular\t5\tis\tare\nplural\t1\tbark\tbarks\n",
    "en/generated.eval": "4\n0\n",
    "it/generated.text": "Il cane dorme . <eos>\r\n",
    "it/generated.gold": "singular\t2\tdorme\tdormono\n",
    "it/generated.eval": "0\n",
}
GOLD = {"files": "{l}/generated.gold", "format": "tsv", "columns": ["case", "at", "form", "other"]}
EVAL = {"files": "{l}/generated.eval", "format": "txt", "columns": ["attractors"]}
TEXT = {"layout": "pairs", "files": "{l}/generated.text", "format": "txt", "paradigm": "case"}
TEXT |= {"good": "{text['<eos>']=''}", "bad": "{text[at]=other['<eos>']=''}"}
TEXT |= {"aligned": [GOLD, EVAL], "critical": {"word": "at"}, "keep": ["attractors"]}
TEXT |= {"constants": {"phenomenon": "agreement"}}
LANGUAGES = {"languages": ["eng", "ita"]}
NAMES = {"lang": "l", "rename": {"l": {"en": "eng", "it": "ita"}}}


KEY = ("The key to the cabinets is here .", "The key to the cabinets are here .")
DOGS = ("Dogs\u2028bark .", "Dogs\u2028barks .")


@pytest.mark.parametrize(
    ("lang", "more", "expected"),
    [
        ("eng", {}, [KEY, DOGS]),
        ("eng", {"where": {"attractors": 0}}, [DOGS]),
        ("ita", {}, [("Il cane dorme .", "Il cane dormono .")]),
    ],
)
def test_lines_of_aligned_files_are_rows(tmp_path, lang, more, expected):
    data = {**TEXT, **NAMES, **more}
    rows = built(tmp_path / "toy", ALIGNED, lang=lang, data=[data], **LANGUAGES)
    assert pairs_of(rows) == expected
    assert [row["attractors"] for row in rows] == ["4", "0"][-len(rows) :]


@pytest.mark.parametrize(
    ("files", "more", "says"),
    [
        ({"en/generated.gold": "singular\t5\tis\tare\n"}, {}, "en/generated.text has 2 rows, and"),
        ({"en/generated.text": "Dogs bark .\n\n"}, {}, "en/generated.text:2 is empty; expected a"),
        ({}, {"aligned": [{**GOLD, "files": "*/generated.gold"}]}, "has 2 files beside it; expec"),
        ({"de/generated.eval": "1\n"}, {}, "de/generated.eval is 'aligned', but beside no file of"),
        ({}, {"aligned": [GOLD, {**EVAL, "columns": ["at"]}]}, "generated.eval:1: column 'at' st"),
        ({}, {"aligned": [{**EVAL, "columns": ["a", "b"]}]}, "is plain text, and has one column"),
    ],
)
def test_files_that_do_not_stand_side_by_side_are_refused(tmp_path, files, more, says):
    data = {**TEXT, **NAMES, **more}
    with pytest.raises(UserError, match=re.escape(says)):
        built(tmp_path / "toy", {**ALIGNED, **files}, data=[data], **LANGUAGES)


COPA = [
    {"p": "It rained.", "a": "We got wet.", "b": "We sang.", "q": "effect", "lang": "eng"},
    {"p": "We got wet.", "a": "It rained.", "b": "We sang.", "q": "cause", "lang": "eng"},
    {"p": "下雨了。", "a": "地湿了。", "b": "地干了。", "q": "effect", "lang": "zho"},
]
WORDS = "lang\tq\tword\tspace\neng\teffect\tso\t \neng\tcause\tbecause\t \nzho\teffect\t,所以\t\n"
LOOKED = PAIRS | {
    "good": "{p|unpunctuated}{space}{word}{space}{a|uncapitalised}",
    "bad": "{p|unpunctuated}{space}{word}{space}{b|uncapitalised}",
    "lookup": [{"table": "words.tsv", "by": ["lang", "q"]}, {"table": "names.tsv", "by": "q"}],
    **{"files": "*.jsonl", "allow_empty": ["space"], "paradigm": "name", "critical": {"word": 0}},
}


def test_a_table_of_lookup_adds_connectives_by_language(tmp_path):
    files = {"words.tsv": WORDS, "names.tsv": "name\tq\r\nEffects\teffect\r\nCauses\tcause\r\n"}
    files["a.jsonl"] = jsonl(*COPA)
    sentences = {}
    for lang in ("eng", "zho"):
        rows = built(tmp_path / "toy", files, lang=lang, data=[LOOKED], languages=["eng", "zho"])
        sentences |= {row["good"]: row["paradigm"] for row in rows}
    assert sentences == {
        "It rained so we got wet.": "Effects",
        "We got wet because it rained.": "Causes",
        "下雨了,所以地湿了。": "Effects",
    }


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (WORDS.replace("cause", "why"), "words.tsv has no row for lang 'eng', q 'cause'; add it"),
        (WORDS + "deu\teffect\tso\t \n", "words.tsv:5: no row of *.jsonl has lang 'deu', q 'eff"),
        (WORDS + "eng\tcause\tfor\t \n", "words.tsv:5: lang 'eng', q 'cause' stands in line 3"),
        (WORDS.replace("word", "p"), "words.tsv: column 'p' stands in a.jsonl too; rename it"),
    ],
)
def test_a_table_of_lookup_fits_its_rows_one_by_one(tmp_path, table, says):
    data = {**LOOKED, "lookup": LOOKED["lookup"][:1], "paradigm": "q"}
    files = {"a.jsonl": jsonl(*COPA), "words.tsv": table}
    with pytest.raises(UserError, match=re.escape(says)):
        built(tmp_path / "toy", files, data=[data], languages=["eng", "zho"])
