"""Train tokenizers, save them in Hugging Face's layout, and encode texts for training.

There are four types of models to train: causal (``<s> tokens </s>``), masked (BERT's format),
encoder-decoders (T5's format) and causal models of dialogues. Each type has functions that train a
tokenizer, encode sentences, and make *labels*, the ids to predict. ``transformer`` calls these.

All tokenizers learn byte pair encoding, whose training always gives the same vocabulary. The
tokenizers library's trainers of WordPiece and Unigram give another vocabulary each time.
"""

import json
import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
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
from torch.nn.utils.rnn import pad_sequence

from blimpworks.errors import UserError, reading
from blimpworks.files import atomic, load_json, write_text
from blimpworks.items import evenly

BOS, EOS = "<s>", "</s>"
BOS_ID, EOS_ID = 0, 1
BERT = {f"{role}_token": f"[{role.upper()}]" for role in ("pad", "unk", "cls", "sep", "mask")}
"""Special tokens of masked models in order of ids, such as ``"pad_token": "[PAD]"``."""
T5 = {"pad_token": "<pad>", "eos_token": EOS, "unk_token": "<unk>"}
"""Special tokens of encoder-decoders, in order of ids; the sentinels follow."""
SENTINELS = [f"<extra_id_{number}>" for number in range(100)]
"""Tokens that each replace a span of a text."""
SPACE = "▁"  # stands for the space before a word
WORD = r"[\p{L}\p{N}\p{M}_\u200c\u200d]+|[^\p{L}\p{N}\p{M}_\u200c\u200d\s\x{0}-\x{1f}]"
"""Pattern of the words of ``text.split_words``, in the syntax of the tokenizers library."""


def train_tokenizer(sentences: list[str], vocabulary: int) -> Tokenizer:
    """Train a byte-level BPE tokenizer of at most ``vocabulary`` tokens on ``sentences``.

    All 256 bytes are tokens, so no text is unknown. ``<s>`` has id 0 and ``</s>`` id 1. Encoding
    adds neither, because the scoring engine adds the first token.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    train_bpe(tokenizer, sentences, vocabulary, [BOS, EOS], pre_tokenizers.ByteLevel.alphabet())
    return tokenizer


def train_bpe(
    tokenizer: Tokenizer,
    texts: Iterable[str],
    size: int,
    specials: list[str],
    alphabet: Iterable[str] = (),
) -> None:
    """Train a tokenizer of at most ``size`` tokens, including ``specials`` and ``alphabet``."""
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=specials,
        initial_alphabet=sorted(alphabet),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)


def train_wordpiece(sentences: list[str], vocabulary: int) -> Tokenizer:
    """Train a WordPiece tokenizer like BERT's, of about ``vocabulary`` tokens.

    Words are split at white space and punctuation and keep their case. Pieces inside a word start
    with ``##``. The vocabulary has each character of the text with and without ``##``; a word with
    any other character is ``[UNK]``. Encoding adds ``[CLS]`` and ``[SEP]``.
    """
    learner = Tokenizer(models.BPE())
    learner.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    marker = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always")
    learner.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), marker])
    train_bpe(learner, sentences, vocabulary - len(BERT), [])
    # BPE marks tokens that start a word (▁the, ing); WordPiece marks the others (the, ##ing). The
    # token ▁ alone becomes empty, and is left out.
    bpe_ids = learner.get_vocab()
    tokens = [
        token.removeprefix(SPACE) if token.startswith(SPACE) else f"##{token}"
        for token in sorted(bpe_ids, key=bpe_ids.__getitem__)
    ]
    letters = sorted(token for token in bpe_ids if len(token) == 1 and token != SPACE)
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


def train_pieces(sentences: list[str], vocabulary: int) -> Tokenizer:
    """Train a tokenizer like T5's: ``▁`` starts each word, and ``</s>`` ends each text."""
    tokenizer = Tokenizer(models.BPE(unk_token=T5["unk_token"], fuse_unk=True))
    marker = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([marker, pre_tokenizers.Punctuation()])
    tokenizer.decoder = decoders.Metaspace(replacement=SPACE, prepend_scheme="always")
    train_bpe(tokenizer, sentences, vocabulary, [*T5.values(), *SENTINELS])
    last = [(EOS, tokenizer.token_to_id(EOS))]
    tokenizer.post_processor = processors.TemplateProcessing(f"$A {EOS}", None, last)
    return tokenizer


def word_tokenizer(vocabulary: list[str], rule: Literal["split", "whitespace"]) -> Tokenizer:
    """Return a tokenizer with a token for each word of ``vocabulary``, split by a rule.

    The ids are in the order of ``vocabulary``; the first two are ``<unk>`` and ``<eos>``.
    """
    ids = {word: number for number, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token=vocabulary[0]))
    split = pre_tokenizers.Split(Regex(WORD), "removed", invert=True)
    tokenizer.pre_tokenizer = split if rule == "split" else pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(vocabulary[:2])
    return tokenizer


def save_tokenizer(
    tokenizer: Tokenizer,
    directory: Path,
    context: int,
    specials: dict[str, str],
    chat: str | None = None,
) -> None:
    """Write the files of a tokenizer; ``specials`` are tokens by role, ``chat`` a chat template."""
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


IGNORED = -100
"""Label of a token that is not predicted; torch's losses leave it out."""
Ids = NDArray[np.integer[Any]]  # token ids of a text [tokens]


def encode_sentences(tokenizer: Tokenizer, sentences: list[str], context: int) -> list[Ids]:
    """Return ``<s> tokens </s>`` of each sentence, cut to ``context`` ids."""
    encoded = tokenizer.encode_batch_fast(sentences, add_special_tokens=False)
    return [np.array([BOS_ID, *e.ids, EOS_ID][:context], dtype=np.int64) for e in encoded]


def epoch_batches(lengths: NDArray[np.int64], most: int, seed: int, epoch: int) -> list[Ids]:
    """Return the batches of one epoch, arrays of sentence numbers, in the order of training.

    Sentences of similar length are in one batch of at most ``most`` tokens, padding included.
    ``seed`` and ``epoch`` decide the order of batches, and of sentences of the same length.
    """
    draw = np.random.default_rng((seed, epoch))
    order = draw.permutation(len(lengths))
    order = order[np.argsort(lengths[order], kind="stable")]
    batches, start = [], 0
    for end in range(1, len(order) + 1):
        # The next sentence is the longest so far, to whose length a batch with it would be padded.
        if end == len(order) or (end + 1 - start) * lengths[order[end]] > most:
            batches.append(order[start:end])
            start = end
    return [batches[i] for i in draw.permutation(len(batches))]


def padded(rows: list[Ids], filler: int, side: Literal["right", "left"] = "right") -> torch.Tensor:
    """Return rows as one tensor [rows, longest row], padded with ``filler``."""
    tensors = [torch.from_numpy(row).long() for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=filler, padding_side=side)


PAD, CLS, SEP, MASK = (list(BERT).index(f"{role}_token") for role in ("pad", "cls", "sep", "mask"))
"""Ids of special tokens of masked models, from ``BERT``; encoder-decoders have the same padding."""
KEPT, REPLACED = 0.1, 0.1
"""Shares of the tokens to predict that stay, and that become random tokens. All others are masked
(Devlin et al. 2019, section 3.1)."""


def encode_between(tokenizer: Tokenizer, sentences: list[str], context: int) -> list[Ids]:
    """Return ``[CLS] tokens [SEP]`` of each sentence that has tokens, cut to ``context`` ids."""
    encoded = tokenizer.encode_batch_fast(sentences, add_special_tokens=False)
    rows = [[CLS, *e.ids[: context - 2], SEP] for e in encoded if e.ids]
    return [np.array(row, dtype=np.int64) for row in rows]


def mask_tokens(
    row: Ids, share: float, vocabulary: int, draw: np.random.Generator
) -> tuple[Ids, Ids]:
    """Mask random tokens of a sentence; return its ids [tokens] and labels [tokens].

    A ``share`` of the tokens between ``[CLS]`` and ``[SEP]`` is drawn, at least one. 80 % of them
    are masked, 10 % become a random token, 10 % stay. The other tokens' labels are ``IGNORED``.
    """
    inner = len(row) - 2
    count = min(inner, max(1, round(share * inner)))
    chosen = 1 + draw.choice(inner, count, replace=False)
    labels = np.full_like(row, IGNORED)
    labels[chosen] = row[chosen]
    lots = draw.random(count)  # from 0 to 1; they decide whether a token stays
    random_ids = draw.integers(len(BERT), vocabulary, count)
    new_ids = np.where(lots < KEPT, row[chosen], np.where(lots < KEPT + REPLACED, random_ids, MASK))
    corrupted = row.copy()
    corrupted[chosen] = new_ids
    return corrupted, labels


SENTINEL = len(T5)
"""Id of the first sentinel; the others follow."""


def encode_alone(tokenizer: Tokenizer, sentences: list[str], context: int) -> list[Ids]:
    """Return the ids of each sentence with tokens, cut to ``context - 1``; ``</s>`` comes later."""
    encoded = tokenizer.encode_batch_fast(sentences, add_special_tokens=False)
    return [np.array(e.ids[: context - 1], dtype=np.int64) for e in encoded if e.ids]


def _cuts(total: int, count: int, rng: np.random.Generator) -> Ids:
    """Draw uniform random lengths [count], each at least 1, with the sum ``total`` (7: 2, 1, 4)."""
    inner_cuts = np.sort(rng.choice(total - 1, count - 1, replace=False)) + 1
    return np.diff(np.concatenate([[0], inner_cuts, [total]]))


def cut_spans(row: Ids, share: float, mean: float, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Cut spans out of a sentence; return input and target (Raffel et al. 2020, section 3.1.4).

    ``the dog barks at me`` may become the input ``the <0> at <1> </s>`` and the target ``<0> dog
    barks <1> me <2> </s>``; <0> is a sentinel. About ``share`` of the tokens, at least one, are in
    spans with a mean length of ``mean``.
    """
    cut_count = min(len(row), max(1, round(share * len(row))))
    kept_count = len(row) - cut_count
    spans = min(max(1, round(cut_count / mean)), kept_count + 1, len(SENTINELS) - 1)
    # Gaps are the kept tokens before, between and after the spans. Only the first and last gap may
    # be empty, but _cuts returns 1 at least: draw them with a token more, then take it away.
    gaps = _cuts(kept_count + 2, spans + 1, rng)
    gaps[[0, -1]] -= 1
    lengths = _cuts(cut_count, spans, rng)
    # Gaps are pieces[::2], spans pieces[1::2]. In the input sentinels replace spans, in the target
    # gaps; ``the dog barks at me`` has the pieces (the) (dog barks) (at) (me) ().
    pieces = np.split(row, np.cumsum(np.column_stack([gaps[:-1], lengths])))
    sentinels, end = [[SENTINEL + number] for number in range(spans + 1)], [EOS_ID]
    source = chain.from_iterable(zip(pieces[::2], [*sentinels[:-1], end], strict=True))
    target = chain.from_iterable(zip(sentinels, [*pieces[1::2], end], strict=True))
    return np.concatenate([*source]), np.concatenate([*target])


ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
"""Tokens before the text of each role."""
DIALOGUE_TOKENS = [BOS, EOS, *ROLES]
ASSISTANT_ID = DIALOGUE_TOKENS.index("<|assistant|>")
"""Id of the token before an answer, which training learns."""
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
"""Chat template for messages of the roles in any order; answers end with ``</s>``."""
UNIT = r"\p{L}[\p{L}\p{M}]*|\p{N}|[^\p{L}\p{N}]"
"""Units of a text: words, digits, and other single characters. No token is of two units. So a word
has the same tokens in every context, and models can copy it."""
MOST_DIALOGUES = 50_000  # that a tokenizer is trained on, to save time
ENCODED_AT_ONCE = 2048
"""Dialogues are encoded in groups of this number, because results take more memory than ids."""


def dialogue_text(system: str, prompt: str, answer: str) -> str:
    """Return ``<s><|system|>SYSTEM<|user|>PROMPT<|assistant|>ANSWER</s>``, as ``TEMPLATE`` does."""
    dialogue = "".join(map(str.__add__, ROLES, (system, prompt, answer)))
    return f"{BOS}{dialogue}{EOS}"


def read_dialogues(path: Path) -> list[str]:
    """Read the dialogues of a JSON Lines file as texts. Raises UserError for a bad file."""
    dialogues = []
    errors = reading(path, "dialogues", "Build them.")
    with errors, path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            try:
                fields = load_json(line)
                dialogue = dialogue_text(fields["system"], fields["prompt"], fields["answer"])
            except (ValueError, RecursionError, KeyError, TypeError) as error:
                raise UserError(
                    f"{path}:{number}: no dialogue; expected a JSON object with the texts system, "
                    "prompt and answer. Build the dialogues again."
                ) from error
            dialogues.append(dialogue)
    if not dialogues:
        raise UserError(f"{path} has no dialogues; build them again.")
    return dialogues


def train_dialogue_tokenizer(dialogues: list[str], vocabulary: int) -> Tokenizer:
    """Train a byte-level BPE of ``vocabulary`` tokens on at most ``MOST_DIALOGUES`` dialogues."""
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(UNIT), "isolated")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, level])
    tokenizer.decoder = decoders.ByteLevel()
    marks = re.compile("|".join(map(re.escape, DIALOGUE_TOKENS)))
    texts = (marks.sub(" ", text) for text in evenly(dialogues, MOST_DIALOGUES))
    train_bpe(tokenizer, texts, vocabulary, DIALOGUE_TOKENS, level.alphabet())
    return tokenizer


def encode_dialogues(
    tokenizer: Tokenizer, dialogues: list[str], context: int, most: int | None = None, seed: int = 0
) -> list[Ids]:
    """Return the ids of each dialogue with at most ``context`` tokens, in order.

    Longer dialogues are left out, because a cut one would have no answer. With ``most``, dialogues
    are drawn at random by ``seed``, until they have ``most`` tokens together.
    """
    order = np.random.default_rng((seed, len(dialogues))).permutation(len(dialogues))
    fitting: dict[int, Ids] = {}
    tokens = 0
    for start in range(0, len(order), ENCODED_AT_ONCE):
        chosen = order[start : start + ENCODED_AT_ONCE].tolist()
        texts = [dialogues[i] for i in chosen]
        encoded = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        for i, encoding in zip(chosen, encoded, strict=True):
            if len(encoding.ids) <= context and (most is None or tokens < most):
                fitting[i] = np.array(encoding.ids, dtype=np.int32)
                tokens += len(encoding.ids)
        if most is not None and tokens >= most:
            break
    return [fitting[i] for i in sorted(fitting)]


def answer_labels(row: Ids) -> Ids:
    """Return the labels of a dialogue: ids of its answer and ``</s>``; ``IGNORED`` before them."""
    start = int(np.argmax(row == ASSISTANT_ID))
    return np.where(np.arange(len(row)) > start, row, IGNORED)
