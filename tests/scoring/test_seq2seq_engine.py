import json

import numpy as np
import pytest
import sentencepiece
import torch
import transformers

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.scoring.engine import load_engine
from support import tiny

pytestmark = pytest.mark.xdist_group("seq2seq")  # they share what is made once

TEXTS = ["the dog sees the cat.", "the nurse hears the birds", "teachers like the água!", "dog"]
FORMS = ("masked", "target", "copy")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    directory = tmp_path_factory.mktemp("seq2seq")
    corpus = tiny.write_corpus(directory / "text.txt")
    # Trained enough for what stands around a token to matter.
    recipe = tiny.SEQ2SEQ.model_copy(update={"epochs": 20})
    return tiny.make_seq2seq(corpus, directory / "model" / "checkpoint.json", recipe)


def open_seq2seq(checkpoint, form="masked", **settings):
    options = ScoringOptions(seq2seq={"form": form}, **settings)
    return load_engine(checkpoint, "transformers", options)


def plain(checkpoint):
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(checkpoint.parent)
    return model.eval(), transformers.AutoTokenizer.from_pretrained(checkpoint.parent)


def guesses(model, tokenizer, text):
    """A sentinel in the place of each token, and the token as the decoder's answer."""
    *ids, end = tokenizer(text)["input_ids"]
    assert end == tokenizer.eos_token_id
    sentinel = tokenizer.convert_tokens_to_ids("<extra_id_0>")
    result = []
    for token, target in enumerate(ids):
        source = torch.tensor([[*ids[:token], sentinel, *ids[token + 1 :], end]])
        with torch.no_grad():
            # The model shifts labels to the right and puts the start token first.
            logits = model(input_ids=source, labels=torch.tensor([[sentinel, target]])).logits
        result.append(logits.log_softmax(-1)[0, 1, target].item())
    return result


def outputs(model, tokenizer, text, source=""):
    """The text as labels, for an empty text in the encoder."""
    *ids, end = tokenizer(text)["input_ids"]
    source = tokenizer(source, return_tensors="pt")["input_ids"]
    assert source[0, -1] == end == tokenizer.eos_token_id
    labels = torch.tensor([ids])
    with torch.no_grad():
        logits = model(input_ids=source, labels=labels).logits
    return logits.log_softmax(-1)[0].gather(1, labels.T)[:, 0].tolist()


BY_HAND = {"masked": guesses, "target": outputs}
BY_HAND["copy"] = lambda model, tokenizer, text: outputs(model, tokenizer, text, source=text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tied", [True, False])
def test_first_and_later_versions_of_t5_score_as_by_hand(checkpoint, tmp_path, form, tied):
    model, tokenizer = plain(checkpoint)
    torch.manual_seed(1)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 1, "num_heads": 2}
    sizes |= {"vocab_size": len(tokenizer), "decoder_start_token_id": 0}
    settings = transformers.T5Config(tie_word_embeddings=tied, **sizes)
    model = transformers.T5ForConditionalGeneration(settings).eval()
    for saved in (model, tokenizer):
        saved.save_pretrained(tmp_path)
    engine = open_seq2seq(tiny.describe(tmp_path, "encoder-decoder"), form)
    for text, row in zip(TEXTS, engine.logprobs(engine.encode(TEXTS)), strict=True):
        assert row == pytest.approx(BY_HAND[form](model, tokenizer, text), abs=1e-5)


def test_a_sentencepiece_model_needs_no_other_tokenizer_file(checkpoint, tmp_path):
    """As mT5 is published: ``spiece.model`` and no ``tokenizer.json``."""
    corpus = tiny.write_corpus(tmp_path / "text.txt")
    symbols = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
    symbols |= {"user_defined_symbols": ["<extra_id_0>"], "minloglevel": 2}
    places = {"input": str(corpus), "model_prefix": str(tmp_path / "spiece")}
    sentencepiece.SentencePieceTrainer.train(
        vocab_size=200, hard_vocab_limit=False, **symbols, **places
    )
    settings = {"tokenizer_class": "T5Tokenizer", "extra_ids": 0}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    model, _ = plain(checkpoint)
    model.save_pretrained(tmp_path)
    engine = open_seq2seq(tiny.describe(tmp_path, "encoder-decoder"))
    [encoded] = engine.encode(["the dog  sees"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    pieces = tokenizer.convert_ids_to_tokens(encoded.ids.tolist())
    assert "".join(pieces) == "▁the▁dog▁sees"
    last = [number for number, piece in enumerate([*pieces[1:], "▁"]) if piece.startswith("▁")]
    assert encoded.ends[last].tolist() == [3, 7, 13]
    [row] = engine.logprobs([encoded])
    assert row == pytest.approx(guesses(model, tokenizer, "the dog  sees"), abs=1e-5)


def test_a_model_without_sentinels_is_scored_as_what_the_decoder_makes(tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 30)
    directory = tiny.make_masked(corpus, tmp_path / "a" / "checkpoint.json").parent
    torch.manual_seed(0)
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "init_std": 0.3}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    config = transformers.BartConfig(**sizes, **heads, vocab_size=320, max_position_embeddings=64)
    transformers.BartForConditionalGeneration(config).save_pretrained(directory)
    checkpoint = tiny.describe(directory, "encoder-decoder")
    engine = open_seq2seq(checkpoint)
    findings = engine.self_test()
    assert findings.checks["form"].startswith("target, because the tokenizer has no <extra_id_0>")
    assert engine.key == open_seq2seq(checkpoint, "target").key
    model, tokenizer = plain(checkpoint)
    source = tokenizer("", return_tensors="pt")["input_ids"]
    for text, row in zip(TEXTS, engine.logprobs(engine.encode(TEXTS)), strict=True):
        first, *ids, _ = tokenizer(text)["input_ids"]  # first is [CLS]
        decoder_ids = torch.tensor([[config.decoder_start_token_id, first, *ids[:-1]]])
        with torch.no_grad():
            logits = model(input_ids=source, decoder_input_ids=decoder_ids).logits[0, 1:]
        expected = logits.log_softmax(-1).gather(1, torch.tensor([ids]).T)[:, 0]
        np.testing.assert_allclose(row, expected, atol=1e-5)
