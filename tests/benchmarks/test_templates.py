"""Templates of cells and patterns of names: what they fill and match, and what is refused."""

import re
import time

import pytest

from blimpworks.benchmarks.files import columns_in
from blimpworks.benchmarks.readers import Account
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
        ("{gap[3]=form}", "the word at index 3 is not in 'He ___ it.', whose 3 words count from 0"),
        ("{gap['blank']=form}", "a.csv:7: 'blank' stands 0 times in 'He ___ it.'; expected once"),
        ("{s['e']=form}", "'e' stands 7 times in"),
        ("{gap[1]=from}", "has no column 'from', but 'form'; correct the template, or quote"),
        ("{gap[1]=bad_word}", "has no column 'bad_word'; correct the template, or quote"),
        ("{form} {none}", "column 'none' is empty, and a template needs it; correct the file, or"),
        ("{form|upper}", "has the filter 'upper'; expected one of unpunctuated, uncapitalised"),
        ("{s['The ']=''[0]='Keys']}", "is no column and no template; expected one such as"),
        ("{from}", "a.csv:7 has no column 'from'; its columns are"),
    ],
)
def test_a_template_that_does_not_fit_a_row_is_refused(template, says):
    with pytest.raises(UserError) as error:
        cell(row(), template)
    assert says in str(error.value)


def test_a_name_that_only_some_rows_have_is_no_text(tmp_path):
    records = [{"s": "He runs.", "form": "run."}, {"s": "He runs."}]
    for lines, says in (
        (records, "no column 'form', and rows"),
        (records[::-1], "a column 'form'"),
    ):
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
