"""Small Llama-architecture language models, trained from scratch and repeatably."""

import hashlib
import json
import logging
import math
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tqdm import tqdm
from transformers import LlamaConfig, LlamaForCausalLM

from blimpworks.config import TransformerRecipe
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.models.checkpoint import Checkpoint, Trained, clear, seal, trained_checkpoint
from blimpworks.models.snapshot import load_snapshot, save_snapshot
from blimpworks.models.text import read_sentences
from blimpworks.models.threads import one_thread
from blimpworks.models.tokenizer import BOS_ID, EOS_ID, save_tokenizer, train_tokenizer

log = logging.getLogger(__name__)

WARM_UP = 0.05
BETAS = (0.9, 0.95)
WEIGHT_DECAY = 0.1
CLIP = 1.0
IGNORED = -100
Ids = NDArray[np.int64]


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """Run torch so that results repeat: seeded, deterministic kernels, one thread."""
    strict = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    try:
        with one_thread():
            yield
    finally:
        torch.use_deterministic_algorithms(strict)


def new_model(recipe: TransformerRecipe, vocabulary: int) -> LlamaForCausalLM:
    """A freshly initialised model in float32, from torch's current random state."""
    settings = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=recipe.hidden,
        # 8/3 of the width, as in Llama, rounded up to a multiple of 32
        intermediate_size=32 * math.ceil(recipe.hidden / 12),
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        num_key_value_heads=recipe.heads,
        max_position_embeddings=recipe.context,
        bos_token_id=BOS_ID,
        eos_token_id=EOS_ID,
        tie_word_embeddings=True,
        dtype="float32",
    )
    model: LlamaForCausalLM = LlamaForCausalLM(settings)
    return model


def encode_sentences(tokenizer: Tokenizer, sentences: list[str], context: int) -> list[Ids]:
    """``<s> tokens </s>`` of each sentence, cut to ``context`` ids."""
    encoded = tokenizer.encode_batch_fast(sentences, add_special_tokens=False)
    return [np.array([BOS_ID, *e.ids, EOS_ID][:context], dtype=np.int64) for e in encoded]


def epoch_batches(lengths: NDArray[np.int64], most: int, seed: int, epoch: int) -> list[Ids]:
    """Batches of one epoch: arrays of sentence numbers, in the order of training.

    Sentences of like length share a batch, at most ``most`` tokens with padding. Which of
    equal length do, and the order of batches, depends on ``seed`` and ``epoch`` alone.
    """
    draw = np.random.default_rng((seed, epoch))
    order = draw.permutation(len(lengths))
    order = order[np.argsort(lengths[order], kind="stable")]
    batches, start = [], 0
    for end in range(1, len(order) + 1):
        full = end == len(order) or (end + 1 - start) * lengths[order[end]] > most
        if full:
            batches.append(order[start:end])
            start = end
    return [batches[i] for i in draw.permutation(len(batches))]


def _padded(rows: list[Ids]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and labels ``[rows, longest]``; padding is ignored as a label.

    No attention mask is needed: padding stands right, where causal attention of the real
    tokens never looks.
    """
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), EOS_ID)
    labels = torch.full((len(rows), width), IGNORED)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = labels[i, : len(row)] = torch.from_numpy(row)
    return ids, labels


def learning_rate(step: int, steps: int, peak: float) -> float:
    """Rate of step ``step`` of ``steps`` (from 0): linear warm-up, then a cosine to zero."""
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return peak * (step + 1) / warm
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def _step(
    model: LlamaForCausalLM, optimiser: torch.optim.AdamW, rows: list[Ids], rate: float
) -> float:
    """One optimiser step on a batch; returns the mean loss per token, in nats."""
    ids, labels = _padded(rows)
    for group in optimiser.param_groups:
        group["lr"] = rate
    loss: torch.Tensor = model(input_ids=ids, labels=labels).loss
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimiser.step()
    return loss.item()


def _batch_plan(data: list[Ids], recipe: TransformerRecipe, seed: int) -> list[Ids]:
    """The batches of all steps of training."""
    lengths = np.array([len(row) for row in data])
    epochs = (
        epoch_batches(lengths, recipe.batch_tokens, seed, epoch) for epoch in range(recipe.epochs)
    )
    return [batch for epoch in epochs for batch in epoch][: recipe.max_steps]


def _fit(
    model: LlamaForCausalLM,
    data: list[Ids],
    recipe: TransformerRecipe,
    seed: int,
    run: str,
    scratch: Path,
) -> None:
    """Train ``model`` in place, from the last snapshot of this run if there is one."""
    optimiser = torch.optim.AdamW(model.parameters(), betas=BETAS, weight_decay=WEIGHT_DECAY)
    plan = _batch_plan(data, recipe, seed)
    done = load_snapshot(scratch, run, model, optimiser)
    model.train()
    with tqdm(total=len(plan), initial=done, unit="step", desc="training", mininterval=5) as bar:
        for step in range(done, len(plan)):
            rate = learning_rate(step, len(plan), recipe.learning_rate)
            loss = _step(model, optimiser, [data[i] for i in plan[step]], rate)
            bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
            bar.update()
            if (step + 1) % recipe.checkpoint_steps == 0:
                save_snapshot(scratch, run, step + 1, model, optimiser)


def _run_digest(source: Trained) -> str:
    versions = f"torch {torch.__version__}"
    settings = json.dumps(source.model_dump(), sort_keys=True)
    return hashlib.sha256(f"{versions}\n{settings}".encode()).hexdigest()


def train_transformer(
    text: Path,
    checkpoint: Path,
    *,
    name: str,
    scope: str,
    recipe_name: str,
    recipe: TransformerRecipe,
    seed: int,
) -> Checkpoint:
    """Train a tokenizer and a causal language model on ``text`` (one sentence per line).

    Writes a Hugging Face model directory, then ``checkpoint``, its ``checkpoint.json``.
    Every ``recipe.checkpoint_steps`` steps the state goes to the hidden sibling directory
    ``.<directory>.training``, from which a killed run goes on; the result is the same byte
    for byte. The sibling is removed at the end. What an earlier model left is removed first.

    Raises UserError when the text is missing or empty, or the directory holds other files.
    """
    sentences = read_sentences(text)
    if not sentences:
        raise UserError(f"{text} is empty; expected training text, one sentence per line.")
    directory = checkpoint.parent
    clear(directory)
    scratch = directory.with_name(f".{directory.name}.training")
    source = Trained(
        recipe=recipe_name, settings=recipe.model_dump(), seed=seed, text_sha256=sha256_of(text)
    )
    with repeatable(seed):
        tokenizer = train_tokenizer(sentences, recipe.vocabulary)
        model = new_model(recipe, tokenizer.get_vocab_size())
        data = encode_sentences(tokenizer, sentences, recipe.context)
        _fit(model, data, recipe, seed, _run_digest(source), scratch)
    save_tokenizer(tokenizer, directory, recipe.context)
    model.save_pretrained(directory)
    described = trained_checkpoint(name, scope, "causal", source)
    sealed = seal(checkpoint, described)
    shutil.rmtree(scratch, ignore_errors=True)
    log.info("%s: %d parameters, %d sentences", directory, model.num_parameters(), len(sentences))
    return sealed
