"""Train small BERT-architecture masked language models."""

from functools import partial

import numpy as np
from tokenizers import Tokenizer
from transformers import BertConfig, BertForMaskedLM

from blimpworks.campaign.settings.training import MaskedRecipe
from blimpworks.models.tokenizer import BERT, train_wordpiece
from blimpworks.models.transformer import IGNORED, Batch, Ids, Kind, padded, train_kind

PAD, CLS, SEP, MASK = (list(BERT).index(f"{role}_token") for role in ("pad", "cls", "sep", "mask"))
"""Ids of special tokens."""
KEPT, REPLACED = 0.1, 0.1
"""Shares of drawn tokens that stay, and that are replaced (Devlin et al. 2019, section 3.1)."""


def _new_model(recipe: MaskedRecipe, vocabulary: int) -> BertForMaskedLM:
    settings = BertConfig(
        vocab_size=vocabulary,
        hidden_size=recipe.hidden,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        intermediate_size=4 * recipe.hidden,
        max_position_embeddings=recipe.context,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=PAD,
        dtype="float32",
    )
    model: BertForMaskedLM = BertForMaskedLM(settings)
    return model


def _encode(tokenizer: Tokenizer, sentences: list[str], context: int) -> list[Ids]:
    encoded = tokenizer.encode_batch_fast(sentences, add_special_tokens=False)
    rows = [[CLS, *e.ids[: context - 2], SEP] for e in encoded if e.ids]
    return [np.array(row, dtype=np.int64) for row in rows]


def corrupt(row: Ids, share: float, vocabulary: int, draw: np.random.Generator) -> tuple[Ids, Ids]:
    """Mask some of a sentence's tokens [tokens]; return it with labels [tokens].

    ``share`` of the tokens between ``[CLS]`` and ``[SEP]``, at least one, are drawn. 80 % of them
    are masked, 10 % become a random token, 10 % stay. Other labels are ``IGNORED``.
    """
    inner = len(row) - 2
    count = min(inner, max(1, round(share * inner)))
    chosen = 1 + draw.choice(inner, count, replace=False)
    labels = np.full_like(row, IGNORED)
    labels[chosen] = row[chosen]
    fate = draw.random(count)
    random_ids = draw.integers(len(BERT), vocabulary, count)
    new = np.where(fate < KEPT, row[chosen], np.where(fate < KEPT + REPLACED, random_ids, MASK))
    corrupted = row.copy()
    corrupted[chosen] = new
    return corrupted, labels


def _masked_tokens(
    rows: list[Ids], recipe: MaskedRecipe, vocabulary: int, draw: np.random.Generator
) -> Batch:
    pairs = [corrupt(row, recipe.masked, vocabulary, draw) for row in rows]
    real = padded([np.ones_like(row) for row in rows], 0)
    return {
        "input_ids": padded([ids for ids, _ in pairs], PAD),
        "attention_mask": real,
        "labels": padded([labels for _, labels in pairs], IGNORED),
    }


MASKED: Kind[MaskedRecipe] = Kind(
    architecture="masked",
    tokenizer=train_wordpiece,
    specials=BERT,
    model=_new_model,
    encode=_encode,
    batch=_masked_tokens,
)
train_masked = partial(train_kind, MASKED)
"""Trains a masked language model: ``train_kind`` with the other arguments."""
