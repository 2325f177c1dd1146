import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.fitting import single_thread
from blimpworks.models.lstm import END_ID
from blimpworks.models.text import split_at_spaces
from blimpworks.scoring.engine import load_engine
from support import tiny

# Few words, so that prefixes and repeats occur by chance; two of them are unknown.
SENTENCES = st.lists(
    st.lists(st.sampled_from(["the", "dog", "zebra", "yak"]), max_size=6), min_size=1, max_size=12
)
TEXTS = ["the dog sees the cat.", "the zebra hears the bird", "likes", "the cat likes!"]


@pytest.fixture(scope="module")
def checkpoint(trained):
    return trained("lstm")


def open_lstm(checkpoint, **settings):
    return load_engine(checkpoint, "lstm", ScoringOptions(**settings))


def words_of(checkpoint):
    text = (checkpoint.parent / "vocabulary.txt").read_text(encoding="utf-8")
    return text.rstrip("\n").split("\n")


@torch.no_grad()
def by_hand(checkpoint, words):
    """Return log-probabilities of words, by torch's own layers with the weights of the file."""
    weights = load_file(checkpoint.parent / "model.safetensors")
    settings = json.loads((checkpoint.parent / "config.json").read_text())
    ids = {word: number for number, word in enumerate(words_of(checkpoint))}
    known = [ids.get(word, ids["<unk>"]) for word in ("<eos>", *words)]
    layers = torch.nn.LSTM(*(settings[name] for name in ("embedding", "hidden", "layers")))
    own = {name: value for name, value in weights.items() if name.startswith("lstm.")}
    layers.load_state_dict({name.removeprefix("lstm."): value for name, value in own.items()})
    hidden, _ = layers(weights["embedding.weight"][known[:-1]])
    logits = hidden @ weights["head.weight"].T + weights["head.bias"]
    return logits.log_softmax(-1)[range(len(words)), known[1:]].tolist()


def test_words_and_the_end_score_as_in_an_explicit_loop(checkpoint):
    engine = open_lstm(checkpoint)
    assert "zebra" not in words_of(checkpoint)
    rows = engine.logprobs(engine.encode(TEXTS))
    words = ["the", "dog", "sees", "the", "cat", ".", "<eos>"]
    assert rows[0] == pytest.approx(by_hand(checkpoint, words), abs=1e-5)
    words = ["the", "zebra", "hears", "the", "bird", "<eos>"]
    assert rows[1] == pytest.approx(by_hand(checkpoint, words), abs=1e-5)
    assert rows[2] == pytest.approx(by_hand(checkpoint, ["likes", "<eos>"]), abs=1e-5)


@single_thread()
@torch.inference_mode()
def padded(engine, texts):
    """Score whole sentences in one pass of torch's LSTM, after an ``<eos>`` or no token."""
    model = engine._loaded[0]
    lead = [] if engine._skip else [END_ID]
    rows = [torch.tensor([*lead, *each.ids.tolist()]) for each in engine.encode(texts)]
    ids = torch.nn.utils.rnn.pad_sequence(rows)
    normal = model.head(model.lstm(model.embedding(ids))[0]).log_softmax(-1)
    result = [normal[range(len(row) - 1), n, row[1:]].numpy() for n, row in enumerate(rows)]
    return result if lead else [np.concatenate([[np.nan], row]) for row in result]


@pytest.fixture(scope="module")
def engines(checkpoint):
    def opened(first, sharing, most):
        return open_lstm(checkpoint, sharing=sharing, first_token=first, batch_tokens=most)

    ways = (("always", 8192), ("auto", 3), ("never", 8192), ("never", 3))
    return [[opened(first, *way) for way in ways] for first in ("eos", "skip")]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(SENTENCES, st.randoms(use_true_random=False))
def test_shared_prefixes_change_no_score_and_no_decision(engines, sentences, random):
    texts = [" ".join(words) for words in sentences]
    shuffled = random.sample(range(len(texts)), len(texts))
    for same in engines:
        plain = padded(same[0], texts)
        naive = [np.nansum(row, dtype=float) for row in plain]
        for engine in same:
            rows = engine.logprobs(engine.encode(texts))
            for row, other in zip(rows, plain, strict=True):
                assert np.allclose(row, other, rtol=0, atol=1e-5, equal_nan=True)
            sums = [np.nansum(row, dtype=float) for row in rows]
            for i, j in pairwise(range(len(texts))):
                if texts[i].replace("yak", "zebra") == texts[j].replace("yak", "zebra"):
                    assert sums[i] == sums[j]
                elif abs(naive[i] - naive[j]) > 1e-4:
                    assert (sums[i] > sums[j]) == (naive[i] > naive[j])
            again = engine.logprobs(engine.encode([texts[i] for i in shuffled]))
            for i, row in zip(shuffled, again, strict=True):
                assert np.array_equal(row, rows[i], equal_nan=True)


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


def test_vocabulary_must_fit_the_weights(checkpoint, tmp_path):
    tiny.copied(checkpoint, tmp_path)
    (tmp_path / "vocabulary.txt").write_text("<unk>\n<eos>\n")
    engine = open_lstm(tiny.describe(tmp_path, "lstm"), first_token="eos")
    with pytest.raises(UserError, match=r"vocabulary.txt has 2 words, but config.json .* says"):
        engine.encode(["dog"])
