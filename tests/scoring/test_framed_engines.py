"""Test masked models and encoder-decoders against log-probabilities by hand."""

import json
import shutil

import numpy as np
import pytest
import sentencepiece
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoConfig, AutoModelForMaskedLM, AutoModelForSeq2SeqLM, AutoTokenizer

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.encoding import BERT, save_tokenizer
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.framed_engines import word_numbers
from blimpworks.scoring.store import Request, encode_requests
from support import tiny

pytestmark = pytest.mark.xdist_group("framed")  # they share fixtures
TEXTS = ["the dog sees the cat.", "the nurse hears the birds", "teachers like the água!", "dog"]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    directory = tmp_path_factory.mktemp("masked")
    corpus = tiny.write_corpus(directory / "text.txt")
    # Trained until the context of a token affects it.
    recipe = tiny.MASKED.model_copy(update={"epochs": 30})
    return tiny.make_masked(corpus, directory / "model" / "checkpoint.json", recipe)


def open_masked(checkpoint, **settings):
    return load_engine(checkpoint, "transformers", ScoringOptions(**settings))


def plain(checkpoint, loader=AutoModelForMaskedLM):
    model = loader.from_pretrained(checkpoint.parent)
    return model.eval(), AutoTokenizer.from_pretrained(checkpoint.parent)


def by_hand(checkpoint, text, hide=lambda token, word, words: False, ahead=0):
    """Return pseudo-log-likelihoods by an explicit loop; ``hide`` chooses tokens to mask too."""
    model, tokenizer = plain(checkpoint)
    encoded = tokenizer(text)
    ids, words = encoded["input_ids"], encoded.word_ids()
    result = []
    for token in range(1, len(ids) - 1):
        masked = list(ids)
        for other in range(1, len(ids) - 1):
            if other == token or (other > token and hide(other, words[token], words)):
                masked[other] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model(torch.tensor([masked])).logits
        result.append(logits.log_softmax(-1)[0, token - ahead, ids[token]].item())
    return result


def test_a_next_token_is_read_one_position_before_its_mask(checkpoint, tmp_path):
    engine = open_masked(checkpoint, masked={"pll": "next_token"})
    rows = engine.logprobs(engine.encode(TEXTS))
    for text, row in zip(TEXTS, rows, strict=True):
        assert row == pytest.approx(by_hand(checkpoint, text, ahead=1), abs=1e-5)
    # Without a token before the sentence, no position predicts its first token.
    shutil.copytree(checkpoint.parent, tmp_path / "bare")
    file = tmp_path / "bare" / "tokenizer.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"post_processor": None}))
    engine = open_masked(tiny.describe(tmp_path / "bare", "masked"), masked={"pll": "next_token"})
    [row] = engine.logprobs(engine.encode(TEXTS[:1]))
    assert np.isnan(row).tolist() == [True] + [False] * (len(row) - 1)


def test_later_tokens_of_a_word_are_hidden_with_it(checkpoint):
    engine = open_masked(checkpoint, masked={"pll": "within_word_l2r"})
    text = "the doctors see hearing dogs"
    words = plain(checkpoint)[1](text).word_ids()
    assert len(set(words)) < len(words) - 1, "some word has several pieces"
    [row] = engine.logprobs(engine.encode([text]))
    same = by_hand(checkpoint, text, lambda other, word, words: words[other] == word)
    assert row == pytest.approx(same, abs=1e-5)
    assert not np.allclose(row, by_hand(checkpoint, text), atol=1e-3)


def test_a_gap_that_texts_share_is_read_once(checkpoint, monkeypatch):
    engine = open_masked(checkpoint)
    rows, forward = [], engine._score_rows
    monkeypatch.setattr(engine, "_score_rows", lambda some: rows.extend(some) or forward(some))
    texts = ["the dog sees the cat", "the dog likes the cat", "the dog finds the cat"]
    scores = engine.logprobs(engine.encode(texts))
    assert len(rows) == 4 * len(texts) + 1
    for text, row in zip(texts, scores, strict=True):
        assert row == pytest.approx(by_hand(checkpoint, text), abs=1e-5)


def region(text, word):
    start = text.index(word)
    return Request(text, start, start + len(word))


def test_a_single_piece_scores_as_the_word_masked_by_hand(checkpoint):
    """CLAMS replaces the critical word by one mask and compares both forms there."""
    engine = open_masked(checkpoint)
    texts = ["the dog sees the cat.", "the dog likes the cat."]
    requests = [region(text, text.split()[2]) for text in texts]
    pairs = zip(requests, engine.encode(texts), strict=True)
    encoded = [request.restrict(tokens) for request, tokens in pairs]
    assert [int(e.to_score.sum()) for e in encoded] == [1, 1]
    scores = [row[e.to_score][0] for row, e in zip(engine.logprobs(encoded), encoded, strict=True)]
    model, tokenizer = plain(checkpoint)
    requested = tokenizer("the dog [MASK] the cat.", return_tensors="pt")
    with torch.no_grad():
        logits = model(**requested).logits[0, 3]
    sees, likes = tokenizer.convert_tokens_to_ids(["sees", "likes"])
    logprobs = logits.log_softmax(-1)
    assert scores == pytest.approx([logprobs[sees].item(), logprobs[likes].item()], abs=1e-5)
    # So the difference of scores is that of logits, which the authors compare.
    difference = (logits[sees] - logits[likes]).item()
    assert scores[0] - scores[1] == pytest.approx(difference, abs=1e-5)


SMALL = {"vocab_size": 40, "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1}
SMALL |= {"intermediate_size": 24, "max_position_embeddings": 64, "pad_token_id": 0}
CHANGES = {
    **{n: {} for n in ("bert", "roberta", "data2vec-text", "roberta-prelayernorm", "deberta-v2")},
    "xmod": {"default_language": "en_XX"},
    "longformer": {"attention_window": 8},
    "mpnet": {"pad_token_id": 1},
    "distilbert": {"dim": 16, "n_heads": 2, "n_layers": 1, "hidden_dim": 24},
    "albert": {"embedding_size": 8},
    "modernbert": {"reference_compile": False},
}
AFTER_PADDING = {
    **dict.fromkeys(("roberta", "data2vec-text", "roberta-prelayernorm", "xmod", "longformer"), 1),
    "mpnet": 2,  # assumes 1 as the padding token's id
}
"""Leading rows of a table of positions that no token uses."""


def letters(directory):
    """Save a tokenizer whose tokens are letters and SentencePiece's mark of a space."""
    pieces = {token: i for i, token in enumerate([*BERT.values(), "▁", *"abcdefghijklmnop"])}
    tokenizer = Tokenizer(models.BPE(pieces, [], unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, ends)
    tokenizer.add_special_tokens(list(BERT.values()))
    save_tokenizer(tokenizer, directory, 64, BERT)


def untrained(folder, name):
    """Make a masked model of letters with random weights; return its checkpoint."""
    torch.manual_seed(1)
    config = AutoConfig.for_model(name, **SMALL | CHANGES[name])
    AutoModelForMaskedLM.from_config(config).save_pretrained(folder)
    letters(folder)
    return tiny.describe(folder, "masked")


@pytest.mark.parametrize("name", CHANGES)
def test_architectures_of_masked_models_score_as_by_hand(tmp_path, name):
    checkpoint = untrained(tmp_path, name)
    engine = open_masked(checkpoint)
    assert engine.limit == 62 - AFTER_PADDING.get(name, 0)
    texts = ["ab cd", "a bad cab", "gone", "a" * (engine.limit - 1)]
    assert max(len(encoded.ids) for encoded in engine.encode(texts)) == engine.limit
    for text, row in zip(texts, engine.logprobs(engine.encode(texts)), strict=True):
        assert row == pytest.approx(by_hand(checkpoint, text), abs=1e-5)

    if name in AFTER_PADDING:
        with pytest.raises((IndexError, RuntimeError), match=r"index"):
            by_hand(checkpoint, "a" * engine.limit)


def test_words_marked_by_a_leading_space_are_words(tmp_path):
    engine = open_masked(untrained(tmp_path, "bert"), masked={"pll": "within_word_l2r"})
    [encoded] = engine.encode(["ab cde"])
    assert encoded.word_of_token.tolist() == [0, 0, 0, 1, 1, 1, 1]
    [row] = engine.logprobs([encoded])
    same = by_hand(tmp_path / "x", "ab cde", lambda other, word, words: words[other] == word)
    assert row == pytest.approx(same, abs=1e-5)


def test_words_end_at_white_space_whatever_the_tokenizer_says():
    assert word_numbers("dog is", [0, 0, 0], [(0, 2), (2, 3), (3, 6)]).tolist() == [0, 0, 1]
    assert word_numbers("a b", [0, 0], [(0, 1), (2, 3)]).tolist() == [0, 1]
    assert word_numbers("don't", [0, 1, 2], [(0, 3), (3, 4), (4, 5)]).tolist() == [0, 1, 2]


def test_what_needs_a_mask_refuses_a_model_without_one(trained, tmp_path):
    directory = tiny.unsealed(trained("causal"), tmp_path / "model")
    with pytest.raises(UserError, match="the tokenizer has no mask token"):
        open_masked(tiny.describe(directory, "masked"))
    with pytest.raises(UserError, match="has neither a mask token nor <extra_id_0>"):
        open_seq2seq(tiny.describe(directory, "encoder-decoder"), "continued")


FORMS = ("masked", "target", "copy", "masked_after_bos", "continued")


@pytest.fixture(scope="module")
def seq2seq(tmp_path_factory):
    directory = tmp_path_factory.mktemp("seq2seq")
    corpus = tiny.write_corpus(directory / "text.txt")
    # Trained until the context of a token affects it.
    recipe = tiny.SEQ2SEQ.model_copy(update={"epochs": 20})
    return tiny.make_seq2seq(corpus, directory / "model" / "checkpoint.json", recipe)


def open_seq2seq(checkpoint, form="masked", **settings):
    options = ScoringOptions(seq2seq={"form": form}, **settings)
    return load_engine(checkpoint, "transformers", options)


def guesses(model, tokenizer, text):
    """Score each token as the decoder's answer to a sentinel in its position."""
    return guesses_after(model, tokenizer, text, start=[model.config.decoder_start_token_id])


def outputs(model, tokenizer, text, source=""):
    """Score the text as the decoder's output for a source in the encoder."""
    *ids, end = tokenizer(text)["input_ids"]
    source = tokenizer(source)["input_ids"]
    assert source[-1] == end == tokenizer.eos_token_id
    # A model shifts labels to the right and puts the start token first.
    return decoded(model, source, [model.config.decoder_start_token_id, *ids[:-1]], ids)


def decoded(model, source, decoder_ids, targets):
    """Return log-probabilities of the targets after the decoder's last ids."""
    with torch.no_grad():
        logits = model(
            input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([decoder_ids])
        ).logits[0, -len(targets) :]
    return logits.log_softmax(-1).gather(1, torch.tensor([targets]).T)[:, 0].tolist()


def guesses_after(model, tokenizer, text, start=(), mask="<extra_id_0>"):
    """Score each token as the decoder's answer to a mask in its position."""
    encoded = tokenizer(text, return_special_tokens_mask=True)
    ids, mask_id = encoded["input_ids"], tokenizer.convert_tokens_to_ids(mask)
    result = []
    for token in np.flatnonzero(np.array(encoded["special_tokens_mask"]) == 0):
        source = [*ids[:token], mask_id, *ids[token + 1 :]]
        result += decoded(model, source, [*start, mask_id], [ids[token]])
    return result


def continuation(model, tokenizer, text, start=None, mask="<extra_id_0>", before=""):
    """Score the text in the decoder after a mask; the encoder reads ``before`` and a mask."""
    mask_id = tokenizer.convert_tokens_to_ids(mask)
    ids, beginning = (tokenizer(t, add_special_tokens=False)["input_ids"] for t in (text, before))
    *first, end = tokenizer("")["input_ids"]
    source = [*first, *beginning, mask_id, end]
    return decoded(model, source, [*(start or [mask_id]), mask_id, *ids[:-1]], ids)


BY_HAND = {"masked": guesses, "target": outputs}
BY_HAND["copy"] = lambda model, tokenizer, text: outputs(model, tokenizer, text, source=text)
BY_HAND |= {"masked_after_bos": guesses_after, "continued": continuation}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tied", [True, False])
def test_first_and_later_versions_of_t5_score_as_by_hand(seq2seq, tmp_path, form, tied):
    model, tokenizer = plain(seq2seq, AutoModelForSeq2SeqLM)
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


def test_a_sentencepiece_model_needs_no_other_tokenizer_file(seq2seq, tmp_path):
    """mT5 is published with ``spiece.model`` and no ``tokenizer.json``."""
    corpus = tiny.write_corpus(tmp_path / "text.txt")
    symbols = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
    symbols |= {"user_defined_symbols": ["<extra_id_0>"], "minloglevel": 2}
    places = {"input": str(corpus), "model_prefix": str(tmp_path / "spiece")}
    train = sentencepiece.SentencePieceTrainer.train
    train(vocab_size=200, hard_vocab_limit=False, **symbols, **places)
    settings = {"tokenizer_class": "T5Tokenizer", "extra_ids": 0}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    model, _ = plain(seq2seq, AutoModelForSeq2SeqLM)
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


@pytest.fixture
def bart(trained, tmp_path):
    """Make an encoder-decoder whose tokenizer has a mask and no sentinels; return its directory."""
    directory = tiny.unsealed(trained("masked"), tmp_path / "bart")
    torch.manual_seed(0)
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "init_std": 0.3}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    config = transformers.BartConfig(**sizes, **heads, vocab_size=320, max_position_embeddings=64)
    transformers.BartForConditionalGeneration(config).save_pretrained(directory)
    return directory


def test_a_model_without_sentinels_is_scored_as_what_the_decoder_makes(bart):
    checkpoint = tiny.describe(bart, "encoder-decoder")
    engine = open_seq2seq(checkpoint)
    findings = engine.self_test()
    assert findings.checks["form"].startswith("target, because the tokenizer has no <extra_id_0>")
    assert engine.key == open_seq2seq(checkpoint, "target").key
    model, tokenizer = plain(checkpoint, AutoModelForSeq2SeqLM)
    source = tokenizer("")["input_ids"]
    for text, row in zip(TEXTS, engine.logprobs(engine.encode(TEXTS)), strict=True):
        first, *ids, _ = tokenizer(text)["input_ids"]  # first is [CLS]
        decoder_ids = [model.config.decoder_start_token_id, first, *ids[:-1]]
        assert row == pytest.approx(decoded(model, source, decoder_ids, ids), abs=1e-5)


def test_masks_and_starts_are_those_of_the_tokenizer(bart):
    tokenizer = AutoTokenizer.from_pretrained(bart, bos_token="[SEP]")
    tokenizer.save_pretrained(bart)
    checkpoint = tiny.describe(bart, "encoder-decoder")
    model, _ = plain(checkpoint, AutoModelForSeq2SeqLM)
    own = {"start": [tokenizer.bos_token_id], "mask": "[MASK]"}
    engine = open_seq2seq(checkpoint, "masked_after_bos")
    for text, row in zip(TEXTS, engine.logprobs(engine.encode(TEXTS)), strict=True):
        assert row == pytest.approx(guesses_after(model, tokenizer, text, **own), abs=1e-5)
    engine = open_seq2seq(checkpoint, "continued")
    before, text = "the dog", "sees the cat."
    requests = [region(f"{before} {text}", text), Request(text)]
    inside, complete = engine.logprobs(encode_requests(engine, requests))
    expected = continuation(model, tokenizer, text, before=before, **own)
    assert inside[~np.isnan(inside)] == pytest.approx(expected, abs=1e-5)
    assert np.isnan(inside[: len(inside) - len(expected)]).all()
    assert complete == pytest.approx(continuation(model, tokenizer, text, **own), abs=1e-5)
