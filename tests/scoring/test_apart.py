"""Words that are encoded apart from their context, as published reading times were predicted."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.items import APART
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.store import Request, encode_requests, score_shard
from support import tiny

pytestmark = pytest.mark.xdist_group("framed")
WORDS = [
    ("the nurse", "sees"),
    ("the dog sees the", "unwatchable,"),
    ("a", "cat."),
    ("the", "água"),
]


def scored(checkpoint, name, texts):
    engine = load_engine(checkpoint, name, ScoringOptions())
    requests = [Request(text) for text in texts]
    keys = {request: str(number) for number, request in enumerate(requests)}
    return score_shard(engine, keys, encode_requests(engine, requests)).to_pylist()


@torch.no_grad()
def step_by_step(checkpoint, architecture, context, word):
    """Sum over the word's tokens: each after the context and the decoded tokens, encoded anew."""
    loaders = {"causal": AutoModelForCausalLM, "masked": AutoModelForMaskedLM}
    model = loaders[architecture].from_pretrained(checkpoint.parent).eval()
    tokenizer = AutoTokenizer.from_pretrained(checkpoint.parent)
    masks = tokenizer.mask_token * 3 if architecture == "masked" else ""
    total, text = 0.0, context
    for number, token in enumerate(tokenizer(word, add_special_tokens=False)["input_ids"]):
        decoded = tokenizer.decode(token)
        again = tokenizer(decoded, add_special_tokens=False)["input_ids"]
        ids = tokenizer(text + masks)["input_ids"]
        position = ids.index(tokenizer.mask_token_id) if masks else len(ids) - 1
        logits = model(torch.tensor([ids])).logits[0, position]
        total += float(logits.log_softmax(-1)[again[0] if number else token])
        text += decoded
    return total


@pytest.mark.parametrize("architecture", ["causal", "masked"])
def test_a_word_apart_has_the_sum_over_its_tokens_after_a_text_encoded_anew(
    trained, tmp_path, architecture
):
    first = {"first_token": "encoded"} if architecture == "causal" else {}
    checkpoint = tiny.copied(trained(architecture), tmp_path / "m", **first)
    rows = scored(checkpoint, "transformers", [f"{a}{APART}{b}" for a, b in WORDS])
    counts = []
    for row, (context, word) in zip(rows, WORDS, strict=True):
        assert np.nansum(row["logprobs"]) == pytest.approx(
            step_by_step(checkpoint, architecture, context, word), abs=1e-4
        )
        starts = [0, *row["ends"][:-1]]
        inside = [start >= len(context) for start in starts]
        assert inside == [not np.isnan(value) for value in row["logprobs"]]
        assert row["ends"][-1] == len(row["text"])
        counts.append(sum(inside))
    assert max(counts) > 1


@pytest.mark.parametrize("architecture", ["ngram", "lstm"])
def test_to_a_model_of_words_a_word_apart_is_a_word(trained, architecture):
    engine = {"ngram": "kenlm", "lstm": "lstm"}[architecture]
    apart, spaced = scored(trained(architecture), engine, [f"the dog{APART}sees", "the dog sees"])
    assert apart["logprobs"] == spaced["logprobs"]
    assert apart["ends"] == spaced["ends"]


def test_an_engine_that_does_not_know_words_apart_refuses_them(trained, monkeypatch):
    monkeypatch.setattr("blimpworks.scoring.kenlm_engine.KenlmEngine.encodes_apart", False)
    with pytest.raises(UserError, match=r"'the\|dog' has a word that is encoded apart .* Kenlm"):
        scored(trained("ngram"), "kenlm", [f"the{APART}dog"])


def test_a_step_too_long_for_the_model_makes_the_word_too_long(trained):
    (row,) = scored(trained("causal"), "transformers", [f"{'the dog ' * 400}{APART}sees"])
    assert row["status"] == "too_long"
    assert np.isnan(row["logprobs"]).all()
