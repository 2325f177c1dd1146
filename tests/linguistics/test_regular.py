"""Test expressions that users write: RE2's, with the meaning that Python gives them."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.linguistics import regular


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("(a)b(c)", r"\1x\2"),
        ("a*", "x"),
        ("(a)(b)?[)c|]", r"\2\1\\"),
        ("a(b|$)", r"\1"),
        (r"\b", "-"),
        ("^(a|b)c", r"\1\1"),
        ("$", "x"),
    ],
)
@given(word=st.text("abc()|", max_size=7))
def test_expressions_mean_what_they_mean_in_python(text, new, word):
    own = regular.expression(text)
    assert own.sub(new, word) == re.sub(text, new, word)
    assert own.sub(new, word, count=1) == re.sub(text, new, word, count=1)
    assert own.fullmatch(word) == (re.fullmatch(text, word) is not None)


@pytest.mark.parametrize(
    "text", ["((((a|.)*)*)*)*b", "(a+)+$", "(a|aa)*b", "a(a*)*b", "(.*)*x" * 20]
)
def test_no_expression_takes_longer_than_its_text(text):
    start = time.process_time()
    for word in ("a" * 200, "ab" * 100):
        regular.expression(text).fullmatch(word)
        regular.expression(text).sub("x", word)
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    "text", ["(a", "(?!a)b", "a{1001}", "((a{1000}){1000}){1000}", r"(a)\1", "(?<=a)b", "a(?=b)"]
)
def test_what_re2_does_not_know_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        regular.check(text)


@pytest.mark.parametrize("new", [r"\1", r"\x", "\\"])
def test_a_replacement_names_groups_that_there_are(new):
    with pytest.raises(ValueError, match="can't replace what"):
        regular.check("a", new)


def test_replacements_follow_one_another_on_words_that_have_something_to_replace():
    replaced = regular.replacer([("a", "b"), ("(x)b", r"\1c"), ("b$", "")])
    assert [replaced(word) for word in ("xaa", "yy", "ab", "xb", "")] == ["xc", "yy", "b", "xc", ""]
    assert regular.replacer([])("a") == "a"
