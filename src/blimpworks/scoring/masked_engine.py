"""Pseudo-log-likelihoods with masked models through transformers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.threads import once
from blimpworks.scoring.engine import Encoded, Failure, Ids, LogProbs
from blimpworks.scoring.hub_loading import positions
from blimpworks.scoring.hub_model import FramedEngine, FramedTokenizer, Row
from blimpworks.scoring.logits import Head, split_model


@dataclass(frozen=True, slots=True)
class WordsEncoded(Encoded):
    """A text as tokens, with its words."""

    words: Ids = field(kw_only=True)
    """[tokens] number of each token's word, never falling."""


def word_numbers(text: str, words: list[int | None], offsets: list[tuple[int, int]]) -> Ids:
    """Return the number of each token's word, int32 [tokens].

    A word is what the tokenizer cuts into tokens. It never crosses white space (some tokenizers cut
    a whole sentence at once). ``offsets`` are each token's first character and the one after its
    last.
    """
    numbers, last, end = [], -1, 0
    previous: int | None = -1
    for word, (first, after) in zip(words, offsets, strict=True):
        # A token may hold the space before it.
        if word != previous or any(map(str.isspace, text[end : first + 1])):
            last += 1
        numbers.append(last)
        previous, end = word, after
    return np.array(numbers, dtype=np.int32)


class MaskedEngine(FramedEngine):
    """Score each token given all others, by a mask in a copy of the sentence.

    ``scoring.masked.pll``: ``original`` masks it alone (Salazar et al. 2020); ``within_word_l2r``
    also masks the later tokens of its word, which would give it away (Kauf and Ivanova 2023). The
    tokenizer's special tokens around the sentence aren't scored.
    """

    architecture = "masked"
    regional = True

    def __init__(self, checkpoint: Path, described: Checkpoint, options: ScoringOptions) -> None:
        """See ``HubEngine``; raises UserError too where the tokenizer has no mask token."""
        self._pll = options.masked.pll
        tokenizer = FramedTokenizer(checkpoint, described)
        super().__init__(checkpoint, described, options, tokenizer, f"pll {self._pll}")
        mask_id: int | None = tokenizer.hub.mask_token_id
        if mask_id is None:
            raise UserError(
                f"{checkpoint.parent}: the tokenizer has no mask token, so this is no masked "
                "model; correct its architecture in the catalogue."
            )
        self._mask = mask_id

    def _frame(self) -> list[int]:
        return self._framed([self._mask])

    @once
    def context(self) -> int | None:
        """Most ids of a row; RoBERTa's kin count positions from after the padding token's id."""
        table = positions(self._settings) or 10**9
        for name, module in self._loaded.model.named_modules():
            padding = getattr(module, "padding_idx", None)
            if name.endswith("position_embeddings") and padding is not None:
                table = int(module.weight.shape[0]) - padding - 1
        return min(table, int(self.tokenizer.hub.model_max_length))

    @once
    def _parts(self) -> tuple[torch.nn.Module, Head | None, int]:
        """Return the model's base, or the whole; its head; and the width of logits."""
        model = self._loaded.model
        ids = torch.arange(8, device=self._device)[None]
        model_inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        with torch.inference_mode():
            logits = model(**model_inputs).logits[0]
            base = model.base_model
            head = split_model(model, base, lambda: base(**model_inputs)[0][0], logits)
        return (base if head else model), head, int(logits.shape[1])

    def _width(self) -> int:
        return self._parts[2]

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        encoded = super().encode(texts)
        if self._pll == "original":
            return encoded
        with_words: list[Encoded] = []
        for text, plain in zip(texts, encoded, strict=True):
            split = self.tokenizer.hub(
                text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
            )
            words = word_numbers(text, split.word_ids(), split["offset_mapping"])
            with_words.append(WordsEncoded(plain.ids, plain.ends, plain.to_score, words=words))
        return with_words

    def _scores(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        return self._guesses(batch)

    def _read(self, encoded: Encoded, token: int) -> list[int]:
        ids = encoded.ids.copy()
        ids[token] = self._mask
        if isinstance(encoded, WordsEncoded):
            word_of_token = encoded.words
            ids[token:][word_of_token[token:] == word_of_token[token]] = self._mask
        return self._framed(ids.tolist())

    @torch.inference_mode()
    def _guess(self, rows: list[Row]) -> list[LogProbs]:
        base, head, _ = self._parts
        ids, real = self._filled([self._read(row.encoded, row.token) for row in rows])
        hidden = base(input_ids=ids, attention_mask=real)[0]
        at = torch.tensor([len(self.tokenizer.before) + row.token for row in rows])
        return self._targets(rows, hidden[torch.arange(len(rows)), at], head)
