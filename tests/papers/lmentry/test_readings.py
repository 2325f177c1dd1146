"""Answers in which an argument may be read in more than one way, as the release reads them."""

import pytest

from blimpworks.papers.lmentry.items.packs import Pack, read_pack
from blimpworks.papers.lmentry.judging.judge import Judge
from blimpworks.papers.lmentry.judging.roles import CLOSE, OPEN, ROLE, Argument, bracketed
from support.lmentry_prompts_kit import PACKS, needs_mirror, rows_of

METHODS = ("published", "corrected")
JUDGES = {
    (lang, method): Judge(read_pack(PACKS[lang]).answers, method)
    for lang in ("cat", "deu", "eng", "ita", "spa")
    for method in METHODS
}


def correct(lang, task, arguments, answer):
    """Whether it is right by the published and by the corrected rules."""
    return tuple(
        JUDGES[lang, method].ask(task, 1, arguments, "?")(answer).correct for method in METHODS
    )


def two(answer, distractor):
    return {"answer": answer, "distractor": distractor, "word1": answer, "word2": distractor}


LETTER = {"word": "sol", "answer": "l"}
LAST = {"sentence": "Questa è l'ultima", "answer": "l'ultima"}
SIND = {"sentence": "Wir sind es", "query": "sind", "answer": "es"}
AUTO = {"sentence": "Ein Auto, ein E-Auto", "query": "E-Auto", "answer": "Auto"}
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


@pytest.mark.parametrize(
    ("answer", "published"),
    [("law-in comes first", 1), ("law-in comes firstly, I say", 1), ("slawin comes first", 0)],
)
def test_an_argument_is_a_whole_word_where_it_stands_inside_another(answer, published):
    assert correct("eng", "first_alphabetically", two("in", "law"), answer)[0] == published


def test_what_an_argument_contains_is_syntax_for_the_release_alone():
    arguments = {"query": "via", "answer": "f.al", "distractor": "tot"}
    assert correct("deu", "homophones", arguments, "via klingt wie fxal") == (1, 0)
    assert correct("deu", "homophones", arguments, "via klingt wie f.al") == (1, 1)
    broken = {"query": "via", "answer": "fi[al", "distractor": "tot"}
    assert correct("deu", "homophones", broken, "via klingt wie fi[al") == (0, 1)


def test_brackets_are_around_each_argument_also_inside_another():
    inner, outer = Argument("b", ROLE["answer"]), Argument("a b", ROLE["query"])
    text = bracketed("a b", [inner, outer])
    open_inner, open_outer = OPEN[inner.role], OPEN[outer.role]
    assert text == f"{open_outer}a {open_inner}b{CLOSE[inner.role]}{CLOSE[outer.role]}"


@needs_mirror
def test_catalan_subsets_of_less_letters_have_a_colon_in_the_release_alone(tmp_path):
    for variant, subset in (("published", ":"), ("corrected", ",")):
        for row in rows_of("cat", variant, tmp_path):
            if row["phenomenon"].startswith("less_letters") and row["template"] == 2:
                mark = subset if "length" in row["phenomenon"] else ","
                assert row["prompt"].startswith(f"Quina paraula és més curta{mark} ")


def test_a_template_of_a_subset_must_stand_in_the_place_of_one():
    data = read_pack(PACKS["cat"]).model_dump()
    for key in ("less_letters.2", "less_letters_length_diff_1.9", "more.2"):
        with pytest.raises(ValueError, match=f"slips '{key}': no such template; expected a subset"):
            Pack.model_validate(data | {"slips": {key: "{word1} {word2}"}})
    with pytest.raises(ValueError, match="has \\{word1\\} in braces; expected \\{word1\\}, "):
        Pack.model_validate(data | {"slips": {"less_letters_length_diff_1.2": "{word1}"}})
