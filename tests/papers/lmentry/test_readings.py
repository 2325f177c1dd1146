"""Answers in which an argument may be read in more than one way, as the release reads them."""

import pytest

from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.judging.judge import Judge
from support.lmentry_prompts_kit import PACKS

METHODS = ("published", "corrected")
JUDGES = {
    (lang, method): Judge(read_pack(PACKS[lang]).answers, method)
    for lang in ("cat", "deu", "eng", "ita", "spa")
    for method in METHODS
}


def correct(lang, task, arguments, answer):
    return tuple(
        JUDGES[lang, method].ask(task, 1, arguments, "?")(answer).correct for method in METHODS
    )


def two(answer, distractor):
    return {"answer": answer, "distractor": distractor, "word1": answer, "word2": distractor}


LETTER = {"word": "sol", "answer": "l"}
LAST = {"sentence": "Questa è l'ultima", "answer": "l'ultima"}
SIND = {"sentence": "Wir sind es", "query": "sind", "answer": "es"}
AUTO = {"sentence": "Ein Auto, ein E-Auto", "query": "E-Auto", "answer": "Auto"}
SYNTAX = {"query": "via", "answer": "f.al", "distractor": "tot"}
READINGS = [
    # The letter asked for is also a word of the pattern, written on to the next.
    ("cat", "last_letter", LETTER, "L'última lletra és l.", 1, 1),
    ("cat", "last_letter", LETTER, "L'última lletra és o.", 0, 0),
    ("ita", "last_letter", LETTER, "L'ultima lettera di sol è l.", 1, 1),
    ("ita", "last_word", LAST, "L'ultima parola è l'ultima.", 1, 1),
    # A word before or after another, with the sentence itself around both.
    ("deu", "word_after", SIND, "Wir sind es kommt nach sind", 1, 0),
    ("deu", "word_after", AUTO, "Ich denke, ein E-Auto kommt nach E-Auto", 1, 0),
    # One argument inside another.
    ("eng", "first_alphabetically", two("in", "in-law"), "in comes before in-law", 1, 1),
    ("eng", "first_alphabetically", two("in-law", "law"), "law comes before in-law", 0, 0),
    ("eng", "first_alphabetically", two("a", "is-a"), "I think is-a comes first", 1, 0),
    ("eng", "first_alphabetically", two("in", "law"), "law-in comes firstly, I say", 1, 1),
    ("eng", "first_alphabetically", two("in", "law"), "slawin comes first", 0, 0),
    # An argument is an expression in the release alone, and may be a broken one.
    ("deu", "homophones", SYNTAX, "via klingt wie fxal", 1, 0),
    ("deu", "homophones", SYNTAX, "via klingt wie f.al", 1, 1),
    ("deu", "homophones", SYNTAX | {"answer": "fi[al"}, "via klingt wie fi[al", 0, 1),
    # "Más" becomes "menos" inside words too.
    ("spa", "more_letters", two("además", "sol"), "sol tiene menos letras que además", 1, 1),
    ("spa", "more_letters", two("además", "paz"), "paz es más corta que además", 1, 1),
    ("spa", "more_letters", two("sol", "más"), "más tiene menos letras", 0, 1),
    ("spa", "more_letters", two("ladrón", "más"), "menos tiene menos letras", 1, 0),
    ("deu", "more_letters", two("vermehrt", "rot"), "rot ist kürzer als vermehrt", 1, 1),
    ("deu", "more_letters", two("vermehrt", "mehr"), "mehr hat weniger Buchstaben", 0, 1),
]


@pytest.mark.parametrize(
    ("lang", "task", "arguments", "answer", "published", "corrected"), READINGS
)
def test_an_argument_is_read_as_the_release_reads_it(
    lang, task, arguments, answer, published, corrected
):
    assert correct(lang, task, arguments, answer) == (published, corrected)
