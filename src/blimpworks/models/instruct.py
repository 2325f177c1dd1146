"""Train small causal models on dialogues, with a chat template."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from blimpworks.campaign.settings.training import InstructRecipe
from blimpworks.errors import UserError, reading
from blimpworks.files import load_json
from blimpworks.items import evenly
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.tokenizer import BOS, EOS, EOS_ID, learn
from blimpworks.models.transformer import IGNORED, Batch, Ids, Kind, new_model, padded, train_kind

ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
"""Tokens that begin each role's text."""
SPECIALS = [BOS, EOS, *ROLES]
ASSISTANT_ID = SPECIALS.index("<|assistant|>")
"""Training learns what follows it."""
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
"""Chat template: system, user and assistant in any order; answers end with ``</s>``."""
PIECE = r"\p{L}[\p{L}\p{M}]*|\p{N}|[^\p{L}\p{N}]"
"""Units that tokens never cross: words, digits, and other single characters.

A word thus has the same tokens everywhere, and can be copied.
"""
SAMPLE = 50_000
"""Most dialogues for training a tokenizer."""
PIECES = 2048
"""Dialogues that are encoded together."""


def written(system: str, prompt: str, answer: str) -> str:
    """Write a dialogue as ``TEMPLATE`` does."""
    dialogue = "".join(map(str.__add__, ROLES, (system, prompt, answer)))
    return f"{BOS}{dialogue}{EOS}"


def read_dialogues(path: Path) -> list[str]:
    """Read dialogues of a JSON Lines file as text. Raises UserError for a missing or bad one."""
    dialogues = []
    expected = reading(path, "dialogues", "Build them.")
    with expected, path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            try:
                fields = load_json(line)
                dialogue = written(fields["system"], fields["prompt"], fields["answer"])
            except (ValueError, RecursionError, KeyError, TypeError) as error:
                raise UserError(
                    f"{path}:{number}: no dialogue; expected a JSON object with the texts system, "
                    "prompt and answer. Build the dialogues again."
                ) from error
            dialogues.append(dialogue)
    if not dialogues:
        raise UserError(f"{path} has no dialogues; build them again.")
    return dialogues


def train_pieces(dialogues: list[str], vocabulary: int) -> Tokenizer:
    """Train a byte-level BPE of ``vocabulary`` tokens on ``SAMPLE`` dialogues, evenly spread."""
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(PIECE), "isolated")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, level])
    tokenizer.decoder = decoders.ByteLevel()
    marks = re.compile("|".join(map(re.escape, SPECIALS)))
    texts = (marks.sub(" ", text) for text in evenly(dialogues, SAMPLE))
    learn(tokenizer, texts, vocabulary, SPECIALS, level.alphabet())
    return tokenizer


def encode_dialogues(
    tokenizer: Tokenizer, dialogues: list[str], context: int, most: int | None = None, seed: int = 0
) -> list[Ids]:
    """Return ids of each dialogue that fits into ``context``; a cut one would have no answer.

    If all have more than ``most`` tokens, random ones, by ``seed``, with so many; always in the
    order of ``dialogues``.
    """
    order = np.random.default_rng((seed, len(dialogues))).permutation(len(dialogues))
    fitting: dict[int, Ids] = {}
    tokens = 0
    # In pieces: the tokenizer keeps far more of a dialogue than its ids.
    for start in range(0, len(order), PIECES):
        chosen = order[start : start + PIECES].tolist()
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
    """Return labels of a dialogue: its answer and its end."""
    start = int(np.argmax(row == ASSISTANT_ID))
    return np.where(np.arange(len(row)) > start, row, IGNORED)


def _dialogue_batch(
    rows: list[Ids], recipe: InstructRecipe, vocabulary: int, draw: np.random.Generator
) -> Batch:
    """Align dialogues at their ends, so that nothing unlearnt is computed."""
    labels = padded([answer_labels(row) for row in rows], IGNORED, "left")
    kept = 1 + int((labels != IGNORED).sum(1).max())
    return {
        "input_ids": padded(rows, EOS_ID, "left"),
        "attention_mask": padded([np.ones_like(row) for row in rows], 0, "left"),
        "labels": labels[:, -kept:],
        "logits_to_keep": kept,
    }


INSTRUCT: Kind[InstructRecipe] = Kind(
    architecture="causal",
    tokenizer=train_pieces,
    specials={"bos_token": BOS, "eos_token": EOS, "pad_token": EOS},
    model=new_model,
    encode=encode_dialogues,
    batch=_dialogue_batch,
    sentences=read_dialogues,
    chat=TEMPLATE,
)


def train_instruct(
    text: Path, checkpoint: Path, *, recipe: InstructRecipe, seed: int, **names: str
) -> Checkpoint:
    """Train a model on dialogues: ``train_kind`` of ``INSTRUCT`` with as many as it can use."""
    # Padding fills the rest of a batch, so no more tokens than these are ever looked at.
    most = recipe.max_steps * recipe.batch_tokens
    model_kind = replace(INSTRUCT, encode=partial(encode_dialogues, most=most, seed=seed))
    return train_kind(model_kind, text, checkpoint, recipe=recipe, seed=seed, **names)
