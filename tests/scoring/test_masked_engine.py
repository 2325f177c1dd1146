import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.tokenizer import BERT, save_tokenizer
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.masked_engine import word_numbers
from blimpworks.scoring.store import Request
from support import tiny

pytestmark = pytest.mark.xdist_group("masked")  # they share what is made once

TEXTS = ["the dog sees the cat.", "the nurse hears the birds", "teachers like the água!", "dog"]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    directory = tmp_path_factory.mktemp("masked")
    corpus = tiny.write_corpus(directory / "text.txt")
    # Trained enough for what stands around a token to matter.
    recipe = tiny.MASKED.model_copy(update={"epochs": 30})
    return tiny.make_masked(corpus, directory / "model" / "checkpoint.json", recipe)


def open_masked(checkpoint, **settings):
    return load_engine(checkpoint, "transformers", ScoringOptions(**settings))


def plain(checkpoint):
    model = AutoModelForMaskedLM.from_pretrained(checkpoint.parent)
    return model.eval(), AutoTokenizer.from_pretrained(checkpoint.parent)


def by_hand(checkpoint, text, hide=lambda token, word, words: False):
    """Pseudo-log-likelihoods by an explicit loop; ``hide`` says which others to mask too."""
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
        result.append(logits.log_softmax(-1)[0, token, ids[token]].item())
    return result


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
    rows, forward = [], engine._guess
    monkeypatch.setattr(engine, "_guess", lambda some: rows.extend(some) or forward(some))
    texts = ["the dog sees the cat", "the dog likes the cat", "the dog finds the cat"]
    scores = engine.logprobs(engine.encode(texts))
    assert len(rows) == 4 * len(texts) + 1
    for text, row in zip(texts, scores, strict=True):
        assert row == pytest.approx(by_hand(checkpoint, text), abs=1e-5)


def region(text, word):
    start = text.index(word)
    return Request(text, start, start + len(word))


def test_a_single_piece_scores_as_the_word_masked_by_hand(checkpoint):
    """What CLAMS does: the critical word replaced by one mask, both forms guessed there."""
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
    # So comparing scores is comparing logits, which is what the authors compare.
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
    "mpnet": 2,  # takes 1 for the padding token's id, whatever that is
}
"""Places at the head of a table of positions that no token gets."""


def letters(directory):
    """A tokenizer whose tokens are letters, SentencePiece's mark of a space among them."""
    pieces = {token: i for i, token in enumerate([*BERT.values(), "▁", *"abcdefghijklmnop"])}
    tokenizer = Tokenizer(models.BPE(pieces, [], unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, ends)
    tokenizer.add_special_tokens(list(BERT.values()))
    save_tokenizer(tokenizer, directory, 64, BERT)


@pytest.mark.parametrize("name", CHANGES)
def test_architectures_of_masked_models_score_as_by_hand(tmp_path, name):
    torch.manual_seed(1)
    AutoModelForMaskedLM.from_config(
        AutoConfig.for_model(name, **SMALL | CHANGES[name])
    ).save_pretrained(tmp_path)
    letters(tmp_path)
    checkpoint = tiny.describe(tmp_path, "masked")
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
    torch.manual_seed(1)
    AutoModelForMaskedLM.from_config(AutoConfig.for_model("bert", **SMALL)).save_pretrained(
        tmp_path
    )
    letters(tmp_path)
    engine = open_masked(tiny.describe(tmp_path, "masked"), masked={"pll": "within_word_l2r"})
    [encoded] = engine.encode(["ab cde"])
    assert encoded.words.tolist() == [0, 0, 0, 1, 1, 1, 1]
    [row] = engine.logprobs([encoded])
    same = by_hand(tmp_path / "x", "ab cde", lambda other, word, words: words[other] == word)
    assert row == pytest.approx(same, abs=1e-5)


def test_words_end_at_white_space_whatever_the_tokenizer_says():
    assert word_numbers("dog is", [0, 0, 0], [(0, 2), (2, 3), (3, 6)]).tolist() == [0, 0, 1]
    assert word_numbers("a b", [0, 0], [(0, 1), (2, 3)]).tolist() == [0, 1]
    assert word_numbers("don't", [0, 1, 2], [(0, 3), (3, 4), (4, 5)]).tolist() == [0, 1, 2]


def test_a_causal_model_is_no_masked_one(tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 30)
    directory = tiny.make_transformer(corpus, tmp_path / "a" / "checkpoint.json").parent
    with pytest.raises(UserError, match="the tokenizer has no mask token"):
        open_masked(tiny.describe(directory, "masked"))
