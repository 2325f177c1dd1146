"""Attribute-varying grammars: how a mistake in one is told."""

import re

import pytest

from support import grammar_kit as kit
from support.grammar_kit import GOOD, flagged, mistake

MISTAKES = [
    ("Verbs\n" + GOOD, "1:1", "'Verbs' at the start of a line, which is no rule"),
    (GOOD + "N[p man\n", "6:2", "a bracket that is not closed"),
    (GOOD + "N[p] men] \n", "6:9", "a closing bracket that nothing opens"),
    (GOOD + "N[p]men\n", "6:1", "'N[p]men', where something follows the closing bracket"),
    (GOOD + "[p] men\n", "6:1", "[p] without a name"),
    (GOOD + "N[p,] men\n", "6:1", "N[p,], where an attribute is empty"),
    (GOOD + "N[p]\n", "6:5", "nothing after N[p]"),
    (GOOD + "S[] he V[3,s] | | he V[3,p]\n", "6:17", "an empty template; expected words"),
    (GOOD + "N[ p] men\n", "6:1", "N[ p], which has a blank in its brackets; expected none, as"),
    (GOOD + "N[p] men # comment\n", "6:10", "a # inside a line; expected words, as only lines"),
    (GOOD + "N[p] → men\n", "6:6", "'→' after N[p]; expected the first word"),
    (GOOD.replace("vary:", "vary"), "1:5", "no colon after vary; expected vary: and a name"),
    (GOOD.replace("V[]\n", "\n"), "1:6", "nothing to vary"),
    (GOOD.replace("V[]\n", "V\n"), "1:7", "'V' in the vary statement"),
    (GOOD.replace("vary: V[]", ""), "1:1", "no vary statement"),
    (GOOD.replace("S[]", "X[]"), "2:9", "a reference to N[s] in an alternative of X[]"),
    ("vary: V[]\nV[s] is\nV[p] are\n", "1:1", "no template"),
    (GOOD.replace("S[]", "S[3]"), "2:1", "a template with attributes, S[3]"),
    (GOOD + "S[] and S[]\n", "6:9", "S[] in a template, which would be recursion"),
    (
        GOOD.replace("V[3,s]\n", "V[1,s]\n"),
        "2:14",
        "V[1,s] in a template, which no rule defines; expected one of the attribute sets that V is "
        "defined with: V[3,s] and V[3,p]; correct it, or define it by a line",
    ),
    (
        GOOD.replace("the N[s]", "the NN[s]"),
        "2:9",
        "NN[s] in a template, which no rule defines; expected a name that a rule defines, such as "
        "N; correct it",
    ),
    (
        GOOD.replace("vary: V", "vary: Verb"),
        "1:7",
        "Verb[] in the vary statement, which no rule defines; expected a name that a rule defines",
    ),
    (
        GOOD.replace("V[]", "V[1]"),
        "1:7",
        "V[1] in the vary statement, whose attributes no V has; expected attributes of V[3,s] and",
    ),
    (GOOD + "S[] the N[s]\n", "6:5", "a template in which nothing varies"),
    (GOOD.replace("V[]", "N[]"), "2:9", "N[s], which is varied but has nothing to vary with"),
    (GOOD + "V[3,s] is\n", "5:1", "1 alternative of V[3,p]; expected 2, as many as V[3,s] has at "),
]


@pytest.mark.parametrize(("text", "place", "words"), MISTAKES)
def test_a_mistake_is_told_with_its_place_what_was_expected_and_what_to_do(
    write, text, place, words
):
    path = write(text)
    sentence = mistake(lambda: kit.lines(path))
    assert sentence.startswith(f"{path}:{place}: found {words}")
    assert re.fullmatch(r"[^\n]+; expected [^\n]+; [^\n]+\.", sentence)


def test_the_grammar_of_which_the_mistakes_are_made_has_none(write):
    assert flagged(kit.lines(write(GOOD))) == ["T the man sings", "F the man sing"]


def test_common_rules_have_no_sets_of_their_own(write):
    common = write("N[s] man\n", "common.avg")
    sentence = mistake(lambda: kit.lines(common))
    assert sentence.startswith(
        f"{common}:1:1: found no template, as common.avg is read with each of the others of its "
        "directory; expected a grammar with templates"
    )


def test_only_corrected_refuses_a_vary_item_of_a_single_attribute_set(write):
    path = write(GOOD.replace("V[]", "V[3,s]"))
    assert flagged(kit.lines(path)) == ["T the man sings", "F the man sings"]
    sentence = mistake(lambda: kit.lines(path, "corrected"))
    assert "V[3,s], which is varied but has nothing to vary with" in sentence


def test_a_file_that_is_not_utf_8_is_told_by_line_and_column(tmp_path):
    path = tmp_path / "case.avg"
    path.write_bytes("N[s] père\nN[p] p".encode() + "è".encode("latin-1"))
    sentence = mistake(lambda: kit.lines(path))
    assert sentence.startswith(f"{path}:2:7: found the byte 0xe8, which is not UTF-8")


def test_a_grammar_that_does_not_exist_is_told(tmp_path):
    assert "is not a file" in mistake(lambda: kit.lines(tmp_path / "case.avg"))
