"""Tokenizers in the Hugging Face layout, shared by the engines of causal models."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from transformers import AutoTokenizer

from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.scoring.engine import Encoded, Ids


def complete_characters(starts: Ids, ends: Ids) -> Ids:
    """Characters complete after each token, from a tokenizer's offsets [tokens].

    Tokenizers give a token that holds part of a character the whole of it; here such a
    token ends where the character starts, so that spans of tokens never overlap.
    """
    if len(ends) == 0:
        return ends
    found = ends.copy()
    found[:-1] = np.minimum(ends[:-1], starts[1:])
    return np.maximum.accumulate(found)


class HubTokenizer:
    """Texts to ids, without special tokens; and the ids that stand before every text."""

    prefix: list[int]
    """What conditions the first token: one id, or none under ``skip``."""

    def __init__(self, checkpoint: Path, described: Checkpoint) -> None:
        """Load the tokenizer beside ``checkpoint``.

        Raises UserError when it isn't a fast one, or has no token that the first-token
        policy asks for.
        """
        found = AutoTokenizer.from_pretrained(checkpoint.parent, local_files_only=True)
        if not found.is_fast:
            raise UserError(
                f"{checkpoint.parent} has no fast tokenizer (tokenizer.json), which character "
                "offsets need; convert the tokenizer."
            )
        self._tokenizer = found
        self.prefix = self._conditioning(checkpoint, described.first_token)

    def _conditioning(self, checkpoint: Path, policy: str) -> list[int]:
        if policy == "skip":
            return []
        found: int | None = getattr(self._tokenizer, f"{policy}_token_id")
        if found is None:
            raise UserError(
                f"{checkpoint}: first_token is {policy!r}, but the tokenizer has no {policy} "
                "token; choose another of bos, eos, skip."
            )
        return [found]

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Tokens without any special token; see ``Engine``."""
        found = self._tokenizer(
            list(texts), add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        pairs = zip(found["input_ids"], found["offset_mapping"], strict=True)
        return [self._encoded(ids, offsets) for ids, offsets in pairs]

    @staticmethod
    def _encoded(ids: list[int], offsets: list[tuple[int, int]]) -> Encoded:
        spans = np.array(offsets, dtype=np.int32).reshape(-1, 2)
        return Encoded(np.array(ids, dtype=np.int32), complete_characters(spans[:, 0], spans[:, 1]))
