from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.scoring.store import Request, Store, requests_of, sort_requests, sorts_by_prefix
from blimpworks.scoring.tokens import END, align, overlaps, token_starts, words_of
from support import tiny

TEXTS = st.text("ab ", max_size=6)
REQUESTS = st.sets(st.builds(Request, TEXTS, st.integers(-1, 3), st.integers(-1, 6)))


def test_a_sentence_of_several_pairs_and_benchmarks_is_asked_for_once(tmp_path):
    first = tiny.write_items(tmp_path / "one.parquet", [("a dog", "a dogs"), ("a dog", "a cat")])
    other = tiny.write_items(tmp_path / "other.parquet", [("a cat", "a dog")])
    assert requests_of([first, other]) == {Request("a dog"), Request("a dogs"), Request("a cat")}


def test_a_region_of_a_sentence_is_another_request_than_the_whole(tmp_path):
    items = tiny.write_items(tmp_path / "items.parquet", [("a dog sees", "a dogs sees")])
    result = requests_of([items], regions=True)
    assert result == {Request("a dog sees", 2, 5), Request("a dogs sees", 2, 6)}
    keys = Store.keys("engine", result | requests_of([items]))
    assert len({*keys.values()}) == 4


def test_an_item_without_a_sentence_is_told(tmp_path):
    items = tiny.write_items(tmp_path / "items.parquet", [("a", "b")], bad=[None])
    with pytest.raises(UserError, match=r"items\.parquet: column 'bad' has 1 empty cells"):
        requests_of([items])


@given(st.lists(st.integers(0, 4)), st.integers(-1, 12), st.integers(0, 12))
def test_overlap_is_that_of_the_tokens_characters(widths, first, after):
    ends = np.cumsum(widths, dtype=np.int64)
    result = overlaps(token_starts(ends), ends, first, after)
    for start, end, inside in zip(token_starts(ends), ends, result, strict=True):
        own = range(start, end) or range(start, start + 1)
        assert inside == (first >= 0 and any(first <= c < after for c in own))


@given(REQUESTS, st.booleans())
def test_the_order_is_the_same_however_requests_came(requests, prefixes):
    ordered = sort_requests(requests, prefixes=prefixes)
    assert sorted(ordered) == sorted(requests)
    assert ordered == sort_requests(ordered[::-1], prefixes=prefixes)
    lengths = [len(request.text) for request in ordered]
    texts = [request.text for request in ordered]
    assert (texts == sorted(texts)) if prefixes else (lengths == sorted(lengths))


def test_prefixes_are_shared_where_that_pays():
    engine, options = SimpleNamespace(shares_prefixes=True), ScoringOptions()
    alike = {Request(f"the teacher near the doctors {word}") for word in ("sees", "see", "hears")}
    assert sorts_by_prefix(alike, engine, options)
    assert not sorts_by_prefix(
        {Request("birds"), Request("the cat"), Request("a dog")}, engine, options
    )


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        ("the cats", [(3, -1.0), (5, -2.0), (8, -0.5)], [("the", -1.0), ("cats", -2.5)]),
        # White space at the end of a token, and a token of white space alone.
        ("the cat", [(4, -1.0), (7, -2.0)], [("the", -1.0), ("cat", -2.0)]),
        ("the cat", [(3, -1.0), (4, -0.25), (7, -2.0)], [("the", -1.0), ("cat", -2.25)]),
        ("a cat", [(1, -1.0), (5, -2.0), (5, -3.0)], [("a", -1.0), ("cat", -2.0), (END, -3.0)]),
        # "a" is followed by the first byte of " é", which completes no character, and its other
        # byte.
        ("a é", [(1, -1.0), (1, -0.5), (3, -2.0)], [("a", -1.0), ("é", -2.5)]),
        ("the cat", [(3, None), (7, -2.0)], [("the", None), ("cat", -2.0)]),
        ("the cat", [(3, float("nan")), (7, -2.0)], [("the", None), ("cat", -2.0)]),
        # Without spaces, words are tokens.
        ("猫好き", [(1, -1.0), (3, -3.0)], [("猫", -1.0), ("好き", -3.0)]),
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


@pytest.mark.parametrize(
    ("first", "second", "columns"),
    [
        ("the dogs sees", "the dogs see", ["the|the", "dogs|dogs", "sees|see"]),
        ("he did not go", "he did go", ["he|he", "did|did", "not|", "go|go"]),
    ],
)
def test_equal_words_stand_in_a_column_and_the_others_beside_each_other(first, second, columns):
    sides = ([{"text": word, "logprob": 0.0} for word in side.split()] for side in (first, second))
    for column, words in zip(align(*sides), columns, strict=True):
        one, other = words.split("|")
        assert [word and word["text"] for word in column["words"]] == [one, other or None]
        assert column["differs"] == (one != other)
