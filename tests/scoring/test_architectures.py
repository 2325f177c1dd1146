"""Test that models of transformers are scored as by a plain loop, or refused in a sentence."""

import json
from importlib.metadata import version

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import LlamaConfig, LlamaForCausalLM

from blimpworks.errors import UserError
from support import tiny
from support.architectures import DOCUMENT, product_scores, row, run_model, verdict
from support.tiny_architectures import TEXTS, entries

FORMATS = ("float32", "bfloat16")
ENTRIES = {f"{entry.mapping} {entry.title}": entry for entry in entries()}
SLICE = [
    ("causal FalconH1ForCausalLM", "float32"),
    ("causal Gemma3ForConditionalGeneration", "float32"),
    ("causal MixtralForCausalLM", "bfloat16"),
    ("causal Qwen3_5ForCausalLM", "bfloat16"),
]
"""Architectures, with a number format, that no engine's own test scores."""


@pytest.mark.slow
@pytest.mark.parametrize(("title", "dtype"), SLICE)
def test_an_architecture_is_scored_like_each_sentence_alone(title, dtype):
    outcome, detail = verdict(ENTRIES[title], dtype)
    assert outcome == "right", detail


@pytest.mark.long
@pytest.mark.parametrize("title", ENTRIES)
def test_no_architecture_gets_a_wrong_number(title):
    verdicts = [verdict(ENTRIES[title], dtype) for dtype in FORMATS]
    assert not {outcome for outcome, _ in verdicts} & {"wrong", "traceback"}, verdicts
    document = DOCUMENT.read_text(encoding="utf-8")
    if f"transformers {version('transformers')}" in document:
        # The reason for a refusal, after the bar, may differ by machine.
        entry = ENTRIES[title]
        assert row(entry.title, entry.model_type, verdicts).rpartition(" | ")[0] in document


START, END = "<s>", "</s>"
SYMBOLS = ["<pad>", START, END, "<unk>"]
STRINGS = ["The nurse sees 1234 cats.", "The  nurse", "ﬁne Straße", "दो कुत्ते"]
STRINGS += ["日本 日", "ÀÉ x😀y", "A", "don't"]


def frame(before, after):
    return processors.TemplateProcessing(
        single=f"{before} $A {after}".strip(), special_tokens=[(START, 1), (END, 2)]
    )


def bpe(pre_tokenizer, normalizer=None, post_processor=None):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=SYMBOLS, initial_alphabet=alphabet, show_progress=False
    )
    return fitted(tokenizer, trainer, pre_tokenizer, normalizer, post_processor)


def fitted(tokenizer, trainer, pre_tokenizer, normalizer=None, post_processor=None):
    """Give a tokenizer its parts, train it on a few sentences and return it."""
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(TEXTS + tiny.sentences(100), trainer)
    if post_processor is not None:
        tokenizer.post_processor = post_processor
    return tokenizer


def unigram(prepend_scheme, normalizer=None, post_processor=None):
    trainer = trainers.UnigramTrainer(
        vocab_size=200, special_tokens=SYMBOLS, unk_token="<unk>", show_progress=False
    )
    space = pre_tokenizers.Metaspace(prepend_scheme=prepend_scheme)
    return fitted(Tokenizer(models.Unigram()), trainer, space, normalizer, post_processor)


def word_piece():
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=SYMBOLS, show_progress=False)
    pieces = Tokenizer(models.WordPiece(unk_token="<unk>"))
    words, lower = pre_tokenizers.BertPreTokenizer(), normalizers.BertNormalizer(lowercase=True)
    return fitted(pieces, trainer, words, lower, frame(START, END))


BYTES, SPACED = (pre_tokenizers.ByteLevel(add_prefix_space=spaced) for spaced in (False, True))
DIGITS = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), SPACED])
FOLDED = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
LLAMA = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
TOKENIZERS = {
    "byte-level with the end symbol first": lambda: bpe(BYTES, post_processor=frame(END, "")),
    "byte-level, folded, single digits": lambda: bpe(DIGITS, FOLDED),
    "BPE of sentencepiece": lambda: bpe(None, LLAMA, frame(START, "")),
    "unigram": lambda: unigram("always", post_processor=frame("", END)),
    "unigram with a space at first": lambda: unigram("first", normalizers.NFKC()),
    "word pieces, lower-cased": word_piece,
}
REFUSED = ("BertTokenizerFast", "XLMRobertaTokenizer", "GemmaTokenizerFast", None)
CLASSES = ["GPT2TokenizerFast", "LlamaTokenizerFast", "T5Tokenizer", "BertTokenizerFast"]
CLASSES += ["XLMRobertaTokenizer", "GemmaTokenizerFast", None]
"""Values of the tokenizer class in ``tokenizer_config.json``, right or wrong."""


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """Write a tiny Llama without a tokenizer; return the model and its directory."""
    torch.manual_seed(0)
    directory = tmp_path_factory.mktemp("llama")
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1}
    sizes |= {"vocab_size": 400, "num_attention_heads": 2, "pad_token_id": 0}
    config = LlamaConfig(initializer_range=0.3, **sizes)
    model = LlamaForCausalLM(config).eval()
    model.save_pretrained(directory)
    return model, directory


def with_tokenizer(llama, hub, name, class_name):
    """Put a tokenizer beside a copy of the model; return the tokenizer."""
    hub.mkdir()
    for path in llama[1].iterdir():
        (hub / path.name).hardlink_to(path)
    tokenizer = TOKENIZERS[name]()
    tokenizer.save(str(hub / "tokenizer.json"))
    settings = {"tokenizer_class": class_name, "bos_token": START, "eos_token": END}
    settings |= {"unk_token": "<unk>", "pad_token": "<pad>"}
    (hub / "tokenizer_config.json").write_text(
        json.dumps({name: value for name, value in settings.items() if value is not None})
    )
    return tokenizer


def loop(model, tokenizer, text):
    """Score a text after the tokens that the tokenizer puts before it, else after <s>."""
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    whole = tokenizer.encode(text).ids
    at = next(n for n in range(len(whole)) if whole[n : n + len(ids)] == ids)
    before = whole[:at] or [1]
    normal = run_model(model, input_ids=[*before, *ids])
    return normal[len(before) - 1 + torch.arange(len(ids)), ids].tolist()


PAIRS = [(name, "PreTrainedTokenizerFast") for name in TOKENIZERS]
PAIRS += [("byte-level, folded, single digits", name) for name in CLASSES]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "class_name"), PAIRS)
def test_tokens_are_those_of_the_file_whatever_class_it_names(llama, tmp_path, name, class_name):
    tokenizer = with_tokenizer(llama, tmp_path / "hub", name, class_name)
    pairs = list(zip(STRINGS[::2], STRINGS[1::2], strict=True))
    try:
        scores = product_scores(tmp_path / "hub", None, pairs=pairs)
    except UserError:
        assert class_name in REFUSED
        return
    with torch.inference_mode():
        for text in STRINGS:
            assert scores[text] == pytest.approx(loop(llama[0], tokenizer, text), abs=1e-4), text
