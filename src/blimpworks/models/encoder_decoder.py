"""Train small mT5-architecture encoder-decoders by span corruption."""

from functools import partial

import numpy as np
from tokenizers import Tokenizer
from transformers import MT5Config, MT5ForConditionalGeneration

from blimpworks.campaign.settings.training import EncoderDecoderRecipe
from blimpworks.models.tokenizer import SENTINELS, T5, train_pieces
from blimpworks.models.transformer import IGNORED, Batch, Ids, Kind, padded, train_kind

PAD, EOS = (list(T5).index(f"{role}_token") for role in ("pad", "eos"))
"""Ids of special tokens. Decoding starts with the padding token, as in T5."""
SENTINEL = len(T5)
"""Id of the first sentinel; the others follow."""


def _new_model(recipe: EncoderDecoderRecipe, vocabulary: int) -> MT5ForConditionalGeneration:
    settings = MT5Config(
        vocab_size=vocabulary,
        d_model=recipe.hidden,
        d_kv=recipe.hidden // recipe.heads,
        d_ff=2 * recipe.hidden,
        num_layers=recipe.layers,
        num_decoder_layers=recipe.layers,
        num_heads=recipe.heads,
        dropout_rate=0.0,
        pad_token_id=PAD,
        eos_token_id=EOS,
        decoder_start_token_id=PAD,
        dtype="float32",
    )
    model: MT5ForConditionalGeneration = MT5ForConditionalGeneration(settings)
    return model


def _encode(tokenizer: Tokenizer, sentences: list[str], context: int) -> list[Ids]:
    encoded = tokenizer.encode_batch_fast(sentences, add_special_tokens=False)
    return [np.array(e.ids[: context - 1], dtype=np.int64) for e in encoded if e.ids]


def _cuts(total: int, parts: int, rng: np.random.Generator) -> Ids:
    """Draw lengths [parts], each at least 1, that add up to ``total``, uniformly."""
    inside = np.sort(rng.choice(total - 1, parts - 1, replace=False)) + 1
    return np.diff(np.concatenate([[0], inside, [total]]))


def corrupt(row: Ids, share: float, mean_span: float, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Take spans out of a sentence and return the two texts (Raffel et al. 2020, section 3.1.4).

    About ``share`` of the tokens, at least one, fall into spans of ``mean_span`` length. In the
    first array a sentinel replaces each span. In the second each span follows its sentinel, and one
    more sentinel ends the last. Both end with ``</s>``.
    """
    noise = min(len(row), max(1, round(share * len(row))))
    kept = len(row) - noise
    spans = min(max(1, round(noise / mean_span)), kept + 1, len(SENTINELS) - 1)
    # The first and last gap may be empty, but _cuts gives 1 at least: lend each a token for it.
    gaps = _cuts(kept + 2, spans + 1, rng)
    gaps[[0, -1]] -= 1
    lengths = _cuts(noise, spans, rng)
    source: list[Ids] = []
    target: list[Ids] = []
    at = 0
    for number, (gap, length) in enumerate(zip(gaps[:-1], lengths, strict=True)):
        mark = np.array([SENTINEL + number])
        source += [row[at : at + gap], mark]
        at += gap
        target += [mark, row[at : at + length]]
        at += length
    source += [row[at:], np.array([EOS])]
    target += [np.array([SENTINEL + spans, EOS])]
    return np.concatenate(source), np.concatenate(target)


def _batch(
    rows: list[Ids], recipe: EncoderDecoderRecipe, vocabulary: int, rng: np.random.Generator
) -> Batch:
    pairs = [corrupt(row, recipe.corrupted, recipe.span, rng) for row in rows]
    sources = [source for source, _ in pairs]
    return {
        "input_ids": padded(sources, PAD),
        "attention_mask": padded([np.ones_like(source) for source in sources], 0),
        "labels": padded([target for _, target in pairs], IGNORED),
    }


ENCODER_DECODER: Kind[EncoderDecoderRecipe] = Kind(
    architecture="encoder-decoder",
    tokenizer=train_pieces,
    specials=T5,
    model=_new_model,
    encode=_encode,
    batch=_batch,
)
train_encoder_decoder = partial(train_kind, ENCODER_DECODER)
"""Trains an encoder-decoder: ``train_kind`` with the other arguments."""
