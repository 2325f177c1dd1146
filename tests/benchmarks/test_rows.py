"""Test cells, templates and name patterns; aligned and lookup files; rows with several options."""

import json
import re
import time

import pytest

from blimpworks.benchmarks.account import Account
from blimpworks.benchmarks.files import columns_in
from blimpworks.benchmarks.templates import Row, cell
from blimpworks.errors import UserError
from support.declared_kit import PAIRS, built, jsonl, pairs_of, regions_of

CELLS = {"s": "The key to the cabinets is here . <eos>", "gap": "He ___ it.", "index": "5"}
CELLS |= {"form": "are", "none": None, "blank": " ", "two": 2.0, "meta.id": "x"}
CELLS |= {"odd|[name]=": "odd", "don't": "do", "big": "Il fut là !", "dotted": "İyi."}
CELLS |= {"marked": "“She likes dogs,” he said.", "quoted": "He said “no.”", "tr": "Işık söndü."}


def row(lang: str = "eng", **rules: object) -> Row:
    return Row({**CELLS, "lang": lang}, "a.csv", 7, Account("data.0", **rules))


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{form}, {meta.id}!", "are, x!"),
        ("{odd|[name]=} {don't} {don't}", "odd do do"),
        ("{s[5]=were}", "The key to the cabinets were here . <eos>"),
        ("{s[index]=form}", "The key to the cabinets are here . <eos>"),
        ("{marked[2]=cats}", "“She likes cats,” he said."),
        ("{marked[4]='did!'}", "“She likes dogs,” he did!"),
        ("{marked[4]=''}", "“She likes dogs,” he "),
        ("{big[3]='?'}", "Il fut là ?"),
        ("{s[index]=form['<eos>']=''}", "The key to the cabinets are here . "),
        ("{s['The ']=''[0]='Keys'}", "Keys to the cabinets is here . <eos>"),
        ("{gap['___']=form}", "He are it."),
        ('{gap["___"]="isn\'t in {it}"}', "He isn't in {it} it."),
        ("{gap['___']=\"\"|unpunctuated|uncapitalised} so", "he it so"),
        ("{quoted|unpunctuated}, {form|capitalised}", "He said “no”, Are"),
        ("{tr|uncapitalised}", "işık söndü."),
        ("{dotted|uncapitalised}", "iyi."),
    ],
)
def test_a_template_changes_text(template, expected):
    assert cell(row(), template) == expected


def test_case_and_counting_are_as_the_rules_and_the_language_say():
    assert cell(row("tur"), "{tr|uncapitalised}") == "ışık söndü."
    assert cell(row("tur"), "{dotted|uncapitalised|capitalised}") == "İyi."
    assert cell(row(words_from=1), "{gap[1]=form}") == "are ___ it."
    assert cell(row(allow_empty=("none", "blank")), "a{none}b{blank}") == "ab "


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{gap[3]=form}", "the word at index 3 is not in 'He ___ it.', whose 3 words have the"),
        ("{gap['blank']=form}", "a.csv:7: 'blank' occurs 0 times in 'He ___ it.'; expected once"),
        ("{s['e']=form}", "'e' occurs 7 times in"),
        ("{gap[1]=from}", "has no column 'from', but 'form'; correct the template, or put text"),
        ("{gap[1]=bad_word}", "has no column 'bad_word'; correct the template, or put text"),
        ("{form} {none}", "column 'none' is empty, and a template needs it; correct the file, or"),
        ("{form|upper}", "has the filter 'upper'; expected one of stripped, unpunctuated"),
        ("{s['The ']=''[0]='Keys']}", "is no column and no template; expected one such as"),
        ("{from}", "a.csv:7 has no column 'from'; its columns are"),
    ],
)
def test_a_template_that_does_not_fit_a_row_is_refused(template, says):
    with pytest.raises(UserError, match=re.escape(says)):
        cell(row(), template)


def test_a_name_that_only_some_rows_have_is_no_text(tmp_path):
    records = [{"s": "He runs.", "form": "run."}, {"s": "He runs."}]
    for lines, says in ((records, "no column 'form', and"), (records[::-1], "a column 'form'")):
        data = {**PAIRS, "files": "*.jsonl", "good": "s", "bad": "{s[1]=form}"}
        with pytest.raises(UserError, match=f"a.jsonl:2 has {says}"):
            built(tmp_path / says[:2].strip(), {"a.jsonl": jsonl(*lines)}, data=[data])


def test_no_template_takes_long():
    start = time.monotonic()
    for template in ("{" + "='x'" * 3000, "{s" + "['x']=y" * 400 + "[", "{" * 5000):
        with pytest.raises(UserError):
            cell(row(), template)
    long = Row({"s": "! " * 20000 + "x"}, "a", 1, Account(""))
    assert cell(long, "{s|unpunctuated}").endswith("! x")
    assert time.monotonic() - start < 5


SENTENCE = {"good": "The keys are here.", "bad": "The keys is here.", "i": 2, "j": "1", "n": 2}
RIGHT = {"column": "i", "first": [1], "second": [2]}
LAYOUTS = {
    "pairs": {"good": "good", "bad": "bad"},
    "choices": {"first": "bad", "second": "good", "right": RIGHT},
}


@pytest.mark.parametrize(
    ("layout", "critical", "expected"),
    [
        ("pairs", {"word": "i"}, ("are", "is")),
        ("pairs", {"word": "j", "words": "n"}, ("keys are", "keys is")),
        ("pairs", {"good": {"word": "i"}, "bad": {"word": "j", "words": 2}}, ("are", "keys is")),
        ("pairs", {"good": "here", "bad": None}, "data.0.critical"),
        ("pairs", {"word": 4}, "a.jsonl:1: the word at index 4 is not in 'The keys are here.'"),
        ("choices", {"good": {"word": "j"}, "bad": {"word": "i"}}, ("are", "keys")),
    ],
)
def test_a_critical_region_is_words_by_their_index(tmp_path, layout, critical, expected):
    data = {"files": "*.jsonl", "layout": layout, "critical": critical, **LAYOUTS[layout]}
    files = {"a.jsonl": jsonl(SENTENCE)}
    if isinstance(expected, str):
        with pytest.raises(UserError, match=re.escape(expected)):
            built(tmp_path / "toy", files, data=[data])
        return
    rows = built(tmp_path / "toy", files, data=[data])
    assert regions_of(rows[0]) == expected
    assert pairs_of(rows) == [("The keys are here.", "The keys is here.")]


@pytest.mark.parametrize(
    ("patterns", "name", "expected"),
    [
        (["{a}/{a}.x"], "x-/x-.x", {"a": "x-"}),
        (["{a}-{a}"], "é-x", None),
        (["{a}-*.{b}"], "x-y-z.b.c", {"a": "x-y", "b": "c"}),
        (["*.x", "{b}.y"], "a.y", {"b": "a"}),
        (["*"], "a/b", None),
        (["a.x"], "abx", None),
    ],
)
def test_names_say_their_columns(patterns, name, expected):
    assert columns_in(patterns, name) == expected


@pytest.mark.parametrize("pattern", ["*a" * 200 + "b", "{x}" * 100 + "b", "{a}*{b}*{a}*{b}c"])
def test_no_pattern_of_names_takes_longer_than_the_name(pattern):
    start = time.process_time()
    assert columns_in([pattern], "a" * 250) is None
    assert time.process_time() - start < 3


def test_a_pattern_of_names_has_a_length():
    with pytest.raises(UserError, match="has 1000 characters; expected at most 500"):
        columns_in(["*" * 1000], "a")


# The layout of Gulordava et al. (2018): sentences, a table of their properties, and a number.
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
        ({}, {"aligned": [{**GOLD, "files": "*/generated.gold"}]}, "2 files of 'aligned'"),
        (
            {"de/generated.eval": "1\n"},
            {},
            "de/generated.eval is 'aligned', and belongs to no file",
        ),
        ({}, {"aligned": [GOLD, {**EVAL, "columns": ["at"]}]}, "generated.eval:1: column 'at' is"),
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
        (WORDS + "eng\tcause\tfor\t \n", "words.tsv:5: lang 'eng', q 'cause' is in line 3"),
        (WORDS.replace("word", "p"), "words.tsv: column 'p' is in a.jsonl too; rename it"),
    ],
)
def test_a_table_of_lookup_fits_its_rows_one_by_one(tmp_path, table, says):
    data = {**LOOKED, "lookup": LOOKED["lookup"][:1], "paradigm": "q"}
    files = {"a.jsonl": jsonl(*COPA), "words.tsv": table}
    with pytest.raises(UserError, match=re.escape(says)):
        built(tmp_path / "toy", files, data=[data], languages=["eng", "zho"])


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
        ({"y": 3}, {}, "a.jsonl:1: 'y' is 3, which fits 0 of the options '0', '1', '2'; expected"),
        ({"c": ""}, {}, "option 3 (column 'c') is ''; expected text. Correct the file, or add"),
        ({"c": "", "y": 2}, {"allow_empty": ["c"]}, "'y' is 2, which fits 0 of the options"),
        ({"b": "", "c": ""}, {"allow_empty": ["b", "c"]}, "has one option, 'We got wet.'; expec"),
        ({"b": "We sang.", "y": "We sang."}, {"right": "y"}, "which fits 2 of the options"),
        ({"ctx": ""}, {}, "column 'ctx' is ''; expected text"),
        ({}, {"options": "a"}, "'We got wet.'; expected a list. Name the separator"),
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
