"""Tokenizers in the Hugging Face layout, shared by the engines of causal models."""

from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.hub_tokenizers import load_tokenizer
from blimpworks.models.starts import start_ids
from blimpworks.scoring.engine import Encoded, Ids


def complete_characters(starts: Ids, ends: Ids, lengths: Ids) -> Ids:
    """Characters complete after each token, from a tokenizer's offsets [tokens].

    ``lengths`` [texts]: tokens of each text, which come one after another. Tokenizers give a
    token that holds part of a character the whole of it; here such a token ends where the
    character starts, so that spans of tokens never overlap.
    """
    if len(ends) == 0:
        return ends
    text = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    following = np.append(starts[1:], ends[-1])
    last = np.append(text[1:] != text[:-1], True)
    corrected = np.where(last, ends, np.minimum(ends, following))
    # A running maximum that starts anew with each text.
    base = text * (int(ends.max()) + 1)
    return (np.maximum.accumulate(corrected + base) - base).astype(np.int32)


class HubTokenizer:
    """Texts to ids, without special tokens; and the ids that stand before every text."""

    policy: str
    """What decides on ``prefix``; see ``models.starts``."""
    prefix: list[int]
    """What conditions the first token: none under ``skip``."""

    def __init__(self, checkpoint: Path, described: Checkpoint) -> None:
        """Load the tokenizer beside ``checkpoint``.

        Raises UserError when it isn't a fast one, or has no token that the first-token
        policy asks for.
        """
        self.hub, self.source, self.variant = load_tokenizer(checkpoint.parent)
        """The tokenizer as transformers knows it; see ``LoadedTokenizer``."""
        if not self.hub.is_fast:
            raise UserError(
                f"{checkpoint.parent} has no fast tokenizer (tokenizer.json), which character "
                "offsets need; convert the tokenizer."
            )
        self._backend = self.hub.backend_tokenizer
        self._backend.no_truncation()
        self._backend.no_padding()
        self.policy = described.first_token
        self.prefix = start_ids(self.hub, described.first_token, str(checkpoint))

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Tokens without any special token; see ``Engine``."""
        # Without the layer above, which makes further lists of every text.
        encodings = self._backend.encode_batch(list(texts), add_special_tokens=False)
        rows, spans = [each.ids for each in encodings], [each.offsets for each in encodings]
        lengths = np.array([len(row) for row in rows], dtype=np.int32)
        ids = np.fromiter(chain.from_iterable(rows), np.int32, lengths.sum())
        offsets = np.array([*chain.from_iterable(spans)], dtype=np.int32).reshape(-1, 2)
        ends = complete_characters(offsets[:, 0], offsets[:, 1], lengths)
        bounds = pairwise([0, *np.cumsum(lengths).tolist()])
        return [Encoded(ids[a:b], ends[a:b]) for a, b in bounds]
