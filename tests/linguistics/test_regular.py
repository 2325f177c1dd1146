"""Expressions that users write: those of RE2, with the meaning that Python gives them."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blimpworks.campaign.settings.parsing import read_settings
from blimpworks.linguistics import regular
from support.paths import REPOSITORY

PACKS = sorted((REPOSITORY / "config/urblimp").glob("*/language.yaml"))
RULES = sorted((REPOSITORY / "config/urblimp").glob("*/*.yaml"))


def expressions_of(path):
    return re.findall(r're"([^"]*)"', path.read_text("utf-8"))


def anywhere(value):
    """Pairs of an expression and its replacement in a pack."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("lemma", "apart") and isinstance(inner, str):
                yield inner, ""
            elif key == "stem":
                yield tuple(inner)
            elif key in ("joints", "spellings"):
                yield from map(tuple, inner)
            elif key == "lists":
                yield from ((text, "") for text in inner.values())
            else:
                yield from anywhere(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from anywhere(inner)


OURS = sorted(
    {pair for path in PACKS for pair in anywhere(read_settings(path, "pack"))}
    | {(text, "") for path in RULES for text in expressions_of(path)}
)


def python_of(text):
    return text.replace(r"\pL", r"[^\W\d_]")


@pytest.mark.parametrize(("text", "new"), OURS)
def test_our_expressions_mean_what_they_mean_in_python(text, new):
    signs = "".join(dict.fromkeys(re.sub(r"[\\^$()|?*+=!<>\[\]]", "", text))) + "+ا1 aé"
    own, python = regular.expression(text), re.compile(python_of(text))

    @settings(max_examples=60, deadline=None, database=None)
    @given(st.text(signs, max_size=8))
    def same(word):
        assert own.fullmatch(word) == (python.fullmatch(word) is not None)
        assert own.sub(new, word) == python.sub(new, word)
        assert own.sub(new, word, count=1) == python.sub(new, word, count=1)

    same()


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("(?<=a)b(?=c)", "x"),
        ("(?<=a)(?=a)", "-"),
        ("a*", "x"),
        ("(a)(b)?(?=[)c|])", r"\2\1\\"),
        ("a(?=b|$)", ""),
        ("(?<=[a(])b", "x"),
        ("^(a|b)(?=c)", r"\1\1"),
        ("$", "x"),
    ],
)
@given(word=st.text("abc()|", max_size=7))
def test_contexts_mean_what_they_mean_in_python(text, new, word):
    assert regular.expression(text).sub(new, word) == re.sub(text, new, word)


@pytest.mark.parametrize(
    "text", ["((((a|.)*)*)*)*b", "(a+)+$", "(a|aa)*b", "(?<=a)(a*)*(?=b)", "(.*)*x" * 20]
)
def test_no_expression_takes_longer_than_its_text(text):
    start = time.process_time()
    for word in ("a" * 200, "ab" * 100):
        regular.expression(text).fullmatch(word)
        regular.expression(text).sub("x", word)
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    "text",
    ["(a", "(?!a)b", "a{1001}", "((a{1000}){1000}){1000}", r"(a)\1", "(?<=a)b|c", "(?<=(a))b"],
)
def test_what_re2_does_not_know_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        regular.check(text)


@pytest.mark.parametrize("new", [r"\1", r"\x", "\\"])
def test_a_replacement_names_groups_that_there_are(new):
    with pytest.raises(ValueError, match="can't replace what"):
        regular.check("a", new)


def test_replacements_follow_one_another_on_words_that_have_something_to_replace():
    replaced = regular.Replacements([("a", "b"), ("(?<=x)b", "c"), ("b$", "")])
    assert [replaced(word) for word in ("xaa", "yy", "ab", "xb", "")] == ["xc", "yy", "b", "xc", ""]
    assert regular.Replacements([])("a") == "a"
