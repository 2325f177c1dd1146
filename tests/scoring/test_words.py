"""Words of sentences with the log-probabilities of their tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.scoring.words import END, align, words_of


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        ("the cats", [(3, -1.0), (5, -2.0), (8, -0.5)], [("the", -1.0), ("cats", -2.5)]),
        # White space behind a token, and a token of white space alone.
        ("the cat", [(4, -1.0), (7, -2.0)], [("the", -1.0), ("cat", -2.0)]),
        ("the cat", [(3, -1.0), (4, -0.25), (7, -2.0)], [("the", -1.0), ("cat", -2.25)]),
        ("a cat", [(1, -1.0), (5, -2.0), (5, -3.0)], [("a", -1.0), ("cat", -2.0), (END, -3.0)]),
        # After "a" come the first byte of " é", which completes no character, and the rest.
        ("a é", [(1, -1.0), (1, -0.5), (3, -2.0)], [("a", -1.0), ("é", -2.5)]),
        ("the cat", [(3, None), (7, -2.0)], [("the", None), ("cat", -2.0)]),
        ("the cat", [(3, float("nan")), (7, -2.0)], [("the", None), ("cat", -2.0)]),
        # Without spaces, words are tokens.
        (
            "猫が好き",
            [(1, -1.0), (2, -2.0), (4, -3.0)],
            [("猫", -1.0), ("が", -2.0), ("好き", -3.0)],
        ),
    ],
)
def test_a_word_has_the_sum_of_its_tokens(text, tokens, words):
    ends, values = zip(*tokens, strict=True)
    assert [(word["text"], word["logprob"]) for word in words_of(text, ends, values)] == words


def test_a_sentence_without_scores_has_its_words_all_the_same():
    words = words_of("the cat", [], [])
    assert words == [{"text": "the", "logprob": None}, {"text": "cat", "logprob": None}]


WORDS = st.lists(st.text("abéا猫", min_size=1, max_size=4), min_size=1, max_size=5)


@given(WORDS, st.data())
def test_no_log_probability_is_lost_and_no_character_of_a_word(words, data):
    text = " ".join(words)
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    ends = [*sorted(cuts), len(text)]
    values = data.draw(st.lists(st.floats(-20, 0), min_size=len(ends), max_size=len(ends)))
    pieces = words_of(text, ends, values)
    assert sum(piece["logprob"] or 0 for piece in pieces) == pytest.approx(sum(values))
    whole = "".join(piece["text"] for piece in pieces if piece["text"] != END)
    assert whole.replace(" ", "") == text.replace(" ", "")


def column_texts(first, second):
    sides = ([{"text": word, "logprob": 0.0} for word in side.split()] for side in (first, second))
    return [
        ([word and word["text"] for word in column["words"]], column["differs"])
        for column in align(*sides)
    ]


def test_equal_words_stand_in_a_column_and_the_others_beside_each_other():
    assert column_texts("the dog sees us", "the dog see us") == [
        (["the", "the"], False),
        (["dog", "dog"], False),
        (["sees", "see"], True),
        (["us", "us"], False),
    ]


def test_a_word_that_one_sentence_lacks_has_nothing_beside_it():
    assert column_texts("he did not go", "he did go")[2] == (["not", None], True)
