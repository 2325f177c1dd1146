import json
import math

import numpy as np
import pyarrow as pa
import pytest
import tiny
import torch
from safetensors.torch import load_file

from blimpworks.config import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import read_checkpoint
from blimpworks.models.words import split_at_spaces
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.methods import find_method
from blimpworks.scoring.sides import Side, totals, without_end
from blimpworks.scoring.store import EMPTY

TEXTS = ["the dog sees the cat.", "the zebra hears the bird", "likes", "the cat likes!"]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    directory = tmp_path_factory.mktemp("lstm")
    corpus = tiny.write_corpus(directory / "text.txt")
    return tiny.make_lstm(corpus, directory / "model" / "checkpoint.json")


def open_lstm(checkpoint, **settings):
    return load_engine(checkpoint, "lstm", ScoringOptions(**settings))


def words_of(checkpoint):
    text = (checkpoint.parent / "vocabulary.txt").read_text(encoding="utf-8")
    return text.rstrip("\n").split("\n")


def lstm_step(weights, layer, inputs, hidden, cell):
    """One step of one layer, from the equations; its gates: input, forget, cell, output."""
    name = "lstm.{}_l" + str(layer)
    gates = weights[name.format("weight_ih")] @ inputs + weights[name.format("bias_ih")]
    gates = gates + weights[name.format("weight_hh")] @ hidden + weights[name.format("bias_hh")]
    enter, forget, new, leave = gates.chunk(4)
    cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
    return leave.sigmoid() * cell.tanh(), cell


def by_hand(checkpoint, words, start="<eos>"):
    """Log-probability of each word, by an explicit loop over words and layers."""
    weights = load_file(checkpoint.parent / "model.safetensors")
    settings = json.loads((checkpoint.parent / "config.json").read_text())
    ids = {word: number for number, word in enumerate(words_of(checkpoint))}
    zeros = torch.zeros(settings["hidden"])
    states = [(zeros, zeros)] * settings["layers"]
    found, last = [], start
    for word in words:
        inputs = weights["embedding.weight"][ids.get(last, ids["<unk>"])]
        for layer, (hidden, cell) in enumerate(states):
            states[layer] = lstm_step(weights, layer, inputs, hidden, cell)
            inputs = states[layer][0]
        logits = weights["head.weight"] @ inputs + weights["head.bias"]
        found.append(logits.log_softmax(0)[ids.get(word, ids["<unk>"])].item())
        last = word
    return found


def test_words_and_the_end_score_as_in_an_explicit_loop(checkpoint):
    engine = open_lstm(checkpoint)
    assert "zebra" not in words_of(checkpoint)
    rows = engine.logprobs(engine.encode(TEXTS))
    words = ["the", "dog", "sees", "the", "cat", ".", "<eos>"]
    assert rows[0] == pytest.approx(by_hand(checkpoint, words), abs=1e-5)
    words = ["the", "zebra", "hears", "the", "bird", "<eos>"]
    assert rows[1] == pytest.approx(by_hand(checkpoint, words), abs=1e-5)
    assert rows[2] == pytest.approx(by_hand(checkpoint, ["likes", "<eos>"]), abs=1e-5)


@pytest.mark.parametrize("after", ["", " ", " \u3000\n"])
def test_the_end_takes_no_character(checkpoint, after):
    """So that the method ``without_end`` leaves it out, as CLAMS does."""
    texts = [TEXTS[0] + after, after]
    table = tiny.shard_of(open_lstm(checkpoint), texts)
    assert table["ends"].to_pylist() == [[3, 7, 12, 16, 20, 21, 21], [0]]
    none = np.array([-1, -1])
    logprobs, ends = (table[name].combine_chunks() for name in ("logprobs", "ends"))
    side = Side(pa.array(texts), logprobs, ends, none, none)
    assert without_end(side).tolist() == [*[True] * 6, False, False]
    sums = totals(find_method("without_end"), side)
    assert sums[0] == pytest.approx(sum(logprobs[0].as_py()[:6]))
    assert math.isnan(sums[1])


def test_nothing_conditions_the_first_word_under_skip(checkpoint):
    engine = open_lstm(checkpoint, first_token="skip")
    rows = engine.logprobs(engine.encode(TEXTS))
    assert math.isnan(rows[1][0])
    words = TEXTS[1].split()
    rest = [*words[1:], "<eos>"]
    assert rows[1][1:] == pytest.approx(by_hand(checkpoint, rest, start=words[0]), abs=1e-5)


def test_batches_of_any_size_and_order_give_the_same(checkpoint):
    rows = []
    for most in (1, 12, 8192):
        engine = open_lstm(checkpoint, batch_tokens=most)
        encoded = engine.encode(TEXTS)
        rows.append(np.concatenate(engine.logprobs(encoded)))
        backwards = np.concatenate(engine.logprobs(encoded[::-1])[::-1])
        assert rows[-1].tolist() == backwards.tolist()
    assert rows[0] == pytest.approx(rows[2], abs=1e-5)
    assert rows[1] == pytest.approx(rows[2], abs=1e-5)


def test_long_and_empty_texts(checkpoint):
    texts = ["dog " * 3000, "", " ", "dog"]
    table = tiny.shard_of(open_lstm(checkpoint), texts)
    # Of an empty text the end can be scored, if something stands before it.
    assert table["status"].to_pylist() == ["ok"] * 4
    table = tiny.shard_of(open_lstm(checkpoint, first_token="skip"), texts)
    assert table["status"].to_pylist() == ["ok", EMPTY, EMPTY, "ok"]


def test_words_between_spaces_are_kept_whole(tmp_path):
    corpus = tmp_path / "text.txt"
    lines = [f"l' auteur rit {number} .\n" for number in range(60)]
    corpus.write_text("".join(lines), encoding="utf-8")
    whole = tiny.CORPUS.model_copy(update={"words": "whitespace"})
    for options, first in ((whole, "l'"), (tiny.CORPUS, "l")):
        checkpoint = tiny.make_lstm(corpus, tmp_path / "m" / "checkpoint.json", options=options)
        [encoded] = open_lstm(checkpoint).encode(["l' auteur  rit ."])
        assert words_of(checkpoint)[encoded.ids[0]] == first
    assert split_at_spaces("l' auteur  rit .") == [("l'", 2), ("auteur", 9), ("rit", 14), (".", 16)]


def test_trained_model_describes_itself(checkpoint):
    described = read_checkpoint(checkpoint)
    assert (described.architecture, described.first_token) == ("lstm", "eos")
    assert sorted(described.files) == ["config.json", "model.safetensors", "vocabulary.txt"]
    assert words_of(checkpoint)[:3] == ["<unk>", "<eos>", "the"]


def test_vocabulary_must_fit_the_weights(checkpoint, tmp_path):
    for name, content in tiny.contents(checkpoint.parent).items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "vocabulary.txt").write_text("<unk>\n<eos>\n")
    engine = open_lstm(tiny.describe(tmp_path, "lstm"), first_token="eos")
    with pytest.raises(UserError, match=r"vocabulary.txt has 2 words, but config.json .* says"):
        engine.encode(["dog"])


def test_what_an_lstm_cannot_do_is_refused(checkpoint, tmp_path):
    for name, content in tiny.contents(checkpoint.parent).items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match="an LSTM runs in float32 and starts after <eos>"):
        open_lstm(tiny.describe(tmp_path, "lstm"))


def test_what_decides_scores_is_in_the_key(checkpoint):
    keys = [
        open_lstm(checkpoint).key,
        open_lstm(checkpoint, first_token="skip").key,
        open_lstm(checkpoint, batch_tokens=5).key,
    ]
    assert len(set(keys)) == 3
