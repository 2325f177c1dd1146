"""Train tokenizers and save them in Hugging Face's layout.

All learn byte pair encoding, whose training repeats; the tokenizers library's trainers of WordPiece
and Unigram give another vocabulary each time.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from blimpworks.files import atomic, write_text

BOS, EOS = "<s>", "</s>"
BOS_ID, EOS_ID = 0, 1
BERT = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
"""Special tokens of masked models, by id."""
T5 = {"pad_token": "<pad>", "eos_token": EOS, "unk_token": "<unk>"}
"""Special tokens of encoder-decoders, by id; the sentinels follow."""
SENTINELS = [f"<extra_id_{number}>" for number in range(100)]
"""Each replaces a span of a text."""
SPACE = "▁"
WORD = r"[\p{L}\p{N}\p{M}_\u200c\u200d]+|[^\p{L}\p{N}\p{M}_\u200c\u200d\s\x{0}-\x{1f}]"
"""The words of ``words.split_words``, in the tokenizers library's syntax."""


def train_tokenizer(sentences: list[str], vocabulary: int) -> Tokenizer:
    """Train a byte-level BPE tokenizer of at most ``vocabulary`` tokens on ``sentences``.

    All 256 bytes are tokens, so nothing is unknown. ``<s>`` is id 0 and ``</s>`` id 1. Encoding
    adds neither, because the scoring engine puts the first token itself.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    learn(tokenizer, sentences, vocabulary, [BOS, EOS], pre_tokenizers.ByteLevel.alphabet())
    return tokenizer


def learn(
    tokenizer: Tokenizer,
    texts: Iterable[str],
    size: int,
    specials: list[str],
    alphabet: Iterable[str] = (),
) -> None:
    """Train a tokenizer of at most ``size`` tokens, among them ``specials`` and ``alphabet``."""
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=specials,
        initial_alphabet=sorted(alphabet),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)


def train_wordpiece(sentences: list[str], vocabulary: int) -> Tokenizer:
    """Train a WordPiece tokenizer like BERT's, of about ``vocabulary`` tokens.

    Words, split at white space and punctuation, keep their case; continuing pieces start with
    ``##``. Each character of the text is in the vocabulary in both forms, and a word with another
    one is ``[UNK]``. Encoding puts ``[CLS]`` and ``[SEP]`` around.
    """
    learner = Tokenizer(models.BPE())
    learner.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    marked = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always")
    learner.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), marked])
    learn(learner, sentences, vocabulary - len(BERT), [])
    learnt = learner.get_vocab()
    tokens = [_wordpiece(token) for token in sorted(learnt, key=learnt.__getitem__)]
    letters = sorted(token for token in learnt if len(token) == 1 and token != SPACE)
    pieces = dict.fromkeys([*BERT.values(), *filter(None, tokens), *letters])
    pieces |= dict.fromkeys(f"##{letter}" for letter in letters)
    ids = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token=BERT["unk_token"]))
    tokenizer.normalizer = learner.normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(list(BERT.values()))
    first, last = BERT["cls_token"], BERT["sep_token"]
    ends = [(token, ids[token]) for token in (first, last)]
    tokenizer.post_processor = processors.TemplateProcessing(f"{first} $A {last}", None, ends)
    return tokenizer


def _wordpiece(token: str) -> str:
    return token.removeprefix(SPACE) if token.startswith(SPACE) else f"##{token}"


def train_pieces(sentences: list[str], vocabulary: int) -> Tokenizer:
    """Train a tokenizer like T5's, of ``vocabulary`` tokens; ``▁`` starts words, ``</s>`` ends."""
    tokenizer = Tokenizer(models.BPE(unk_token=T5["unk_token"], fuse_unk=True))
    marked = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([marked, pre_tokenizers.Punctuation()])
    tokenizer.decoder = decoders.Metaspace(replacement=SPACE, prepend_scheme="always")
    learn(tokenizer, sentences, vocabulary, [*T5.values(), *SENTINELS])
    last = [(EOS, tokenizer.token_to_id(EOS))]
    tokenizer.post_processor = processors.TemplateProcessing(f"$A {EOS}", None, last)
    return tokenizer


def word_tokenizer(words: list[str], rule: Literal["split", "whitespace"]) -> Tokenizer:
    """Make a tokenizer of whole ``words`` by id (``<unk>``, ``<eos>`` first) and a rule."""
    ids = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token=words[0]))
    tokenizer.pre_tokenizer = (
        pre_tokenizers.Split(Regex(WORD), "removed", invert=True)
        if rule == "split"
        else pre_tokenizers.WhitespaceSplit()
    )
    tokenizer.add_special_tokens(words[:2])
    return tokenizer


def save_tokenizer(
    tokenizer: Tokenizer,
    directory: Path,
    context: int,
    specials: dict[str, str],
    chat: str | None = None,
) -> None:
    """Write a tokenizer's files; ``specials`` are tokens by role, ``chat`` is a template."""
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        **specials,
        "model_max_length": context,
        "clean_up_tokenization_spaces": False,
        **({"chat_template": chat} if chat else {}),
    }
    with atomic(directory / "tokenizer.json") as temporary:
        tokenizer.save(str(temporary), pretty=False)
    write_text(directory / "tokenizer_config.json", json.dumps(settings, indent=1) + "\n")
