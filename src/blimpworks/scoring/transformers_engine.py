"""Score with causal models through transformers.

Sentences of a shard go through the model in padded rows, or in rows of their prefix tree where that
is less to compute (see ``trie``). The shard's sentences and the options alone decide this, so
that a resumed run repeats it.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.threads import once
from blimpworks.scoring.decoder import NO_POSITIONS, Decoder
from blimpworks.scoring.engine import Encoded, Failure, LogProbs
from blimpworks.scoring.hub_loading import HubTokenizer
from blimpworks.scoring.hub_model import HubEngine
from blimpworks.scoring.selftest import StartedEngine, gap_behind
from blimpworks.scoring.store import nothing_scored
from blimpworks.scoring.trie import (
    Ids,
    Mask,
    Numbers,
    build_trie,
    packed_passes,
    padded_passes,
    plan_rows,
)

WIDTH = {"cpu": 64, "cuda": 256}
"""Tokens in a tree's row by device: long rows repeat fewer ancestors, but attend longer."""
PAYS = 0.85
"""Share of tokens left to compute below which a prefix tree is faster than padded rows."""
CARRIES = re.compile(
    r"(?i:mamba|rwkv|recurrent|rglru|deltanet|deltaattention|shortconv|lightning"
    r"|linearattention|lstm|hyena|retention)|SSM|^Conv1d$"
)
"""Names of layers that carry a state from token to token."""
WINDOWS = ("sliding_window", "window_size", "attention_chunk_size")
"""Names in configurations for the number of tokens that some layers look back."""


class TransformersEngine(StartedEngine, HubEngine):
    """A causal model on the first GPU, or else the CPU, in its checkpoint's dtype."""

    architecture = "causal"
    probe = 20
    shares_prefixes = True

    def __init__(self, checkpoint: Path, described: Checkpoint, options: ScoringOptions) -> None:
        tokenizer = HubTokenizer(checkpoint, described)
        super().__init__(checkpoint, described, options, tokenizer, f"sharing {options.sharing}")
        self._sharing = options.sharing
        self._settings = self._settings.get_text_config()

    @once
    def _decoder(self) -> Decoder:
        return Decoder(self._loaded.model, self._workers)

    def _width(self) -> int:
        return self._decoder.width

    @property
    def _longest_shared(self) -> int:
        return 0 if self._sharing == "never" or self._testing else self._longest_packed

    @property
    def _longest_packed(self) -> int:
        """Most ids of a sequence in a tree, whose tokens must see all before them."""
        windows = [getattr(self._settings, name, None) for name in WINDOWS]
        bounds = (*windows, self.context, 4 * WIDTH[self._device.type])
        return min(bound for bound in bounds if isinstance(bound, int))

    def _examine(self, rows: list[Ids], checks: dict[str, str]) -> dict[str, str]:
        """Test also causality and sharing. Raises UserError for a model that looks ahead."""
        ids = np.unique(np.concatenate(rows))
        longest = len(rows[-1])
        ahead = gap_behind(self.logprobs, ids, longest)
        if not ahead <= self._tolerance():
            raise UserError(
                f"{self._directory}: {type(self._loaded.model).__name__} looks ahead: a token's "
                f"log-probability changes by {ahead:.2g} nats with what follows; expected a causal "
                "model. Correct config.json (is_decoder: true), or score it as the masked model "
                "that it is (architectures: …ForMaskedLM)."
            )
        checks["causality"] = "no token depends on what follows it"
        decisions = super()._examine(rows, checks)
        if self._sharing == "never":
            return decisions
        reason = self._decoder.why_not_shared(ids, min(longest, self._longest_packed))
        if reason is None:
            # With small weights, what such a layer carries over is too little to be measured.
            names = sorted({type(module).__name__ for module in self._decoder.modules()})
            reason = next((f"it has {name}" for name in names if CARRIES.search(name)), None)
        checks["prefixes"] = f"not shared: {reason}" if reason else "shared where that pays"
        if reason is None:
            return decisions
        # In float32 they were never shared either: scores made before are the same.
        same = self._dtype == torch.float32 or reason == NO_POSITIONS
        return decisions | {"sharing": "none" if same else "never"}

    def follow(self, decisions: Mapping[str, str]) -> None:
        if "sharing" in decisions:
            self._sharing = "never"
        super().follow({name: value for name, value in decisions.items() if value != "none"})

    def _padded(self, flat: Ids, lengths: Numbers) -> tuple[LogProbs, Mask]:
        return self._decoder.run(padded_passes(flat, lengths, self._most, self._rows), len(flat))

    def _packed(self, flat: Ids, lengths: Numbers) -> tuple[LogProbs, Mask]:
        trie = build_trie(flat, lengths)
        plan = plan_rows(trie, min(WIDTH[self._device.type], self._longest_shared))
        plain = np.maximum(lengths - 1, 0).sum()
        if self._sharing == "auto" and plan.cells.size > PAYS * plain:
            return self._padded(flat, lengths)
        values, lost = self._decoder.run(packed_passes(trie, plan, self._most), len(trie.token))
        return values[trie.paths], lost[trie.paths]

    def _scores(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        prefix = np.array(self.tokenizer.prefix, dtype=np.int32)
        pieces = [piece for encoded in batch for piece in (prefix, encoded.ids)]
        flat = np.concatenate([np.empty(0, dtype=np.int32), *pieces])
        lead = len(prefix)
        lengths = np.array([lead + len(encoded.ids) for encoded in batch], dtype=np.int64)
        values, lost = nothing_scored(len(flat)), np.zeros(len(flat), dtype=bool)
        # Long sequences would make all rows of a tree long.
        short = lengths <= self._longest_shared
        for chosen, score in ((short, self._packed), (~short, self._padded)):
            if chosen.any():
                where = np.repeat(chosen, lengths)
                values[where], lost[where] = score(flat[where], lengths[chosen])
        edges = pairwise([0, *np.cumsum(lengths).tolist()])
        return ["out_of_memory" if lost[a:b].any() else values[a + lead : b] for a, b in edges]
