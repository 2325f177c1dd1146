"""Scoring with causal models through transformers.

Sentences of a shard go through the model in padded rows, or in the rows of their prefix tree
where that leaves less to compute (see ``passes``). Which of the two, and what is in a pass,
follows from the shard's sentences and the options alone, so that a resumed run repeats it.
"""

import logging
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.threads import Workers, once
from blimpworks.scoring.decoder import Decoder
from blimpworks.scoring.engine import Encoded, Failure, LogProbs, engine_key, loading
from blimpworks.scoring.hub_tokenizer import HubTokenizer
from blimpworks.scoring.logits import device_name, find_dtype, versions
from blimpworks.scoring.passes import packed_passes, padded_passes, pass_size
from blimpworks.scoring.plan import nothing_scored
from blimpworks.scoring.trie import Ids, Mask, Numbers, build_trie, plan_rows

log = logging.getLogger(__name__)

WIDTH = {"cpu": 64, "cuda": 256}
"""Tokens in a row of a prefix tree, by type of device: longer rows repeat fewer ancestors,
but attention takes longer."""
PAYS = 0.85
"""Share of tokens left to compute up to which a prefix tree is faster than padded rows."""
WINDOWS = ("sliding_window", "window_size", "attention_chunk_size")
"""What configurations call the number of tokens that some layers look back."""


def shortest_window(settings: Any) -> int | None:
    """Fewest tokens that some layer of a model looks back; None if all see everything."""
    sizes = [getattr(settings, name, None) for name in WINDOWS]
    return min((size for size in sizes if isinstance(size, int)), default=None)


class TransformersEngine:
    """A causal model on the first GPU, or on the CPU where there is none.

    Only local files, only safetensors, no code from the checkpoint, in the checkpoint's dtype.
    """

    regional = False
    shares_prefixes = True

    def __init__(self, checkpoint: Path, described: Checkpoint, options: ScoringOptions) -> None:
        """Load the tokenizer; the weights follow with the first batch.

        Raises UserError when the dtype is unknown or the tokenizer no use (see there).
        """
        self._directory = checkpoint.parent
        self._dtype = find_dtype(checkpoint, described.dtype)
        self._sharing = options.sharing
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._workers = Workers(self._device)
        self.abreast = self._workers.abreast
        self._most = pass_size(options.batch_tokens, self._device)
        self._tokenizer = HubTokenizer(checkpoint, described)
        self._prefix = np.array(self._tokenizer.prefix, dtype=np.int32)
        settings = AutoConfig.from_pretrained(
            self._directory, local_files_only=True, trust_remote_code=False
        )
        self._settings = settings.get_text_config()
        context = getattr(self._settings, "max_position_embeddings", None)
        self.limit = None if context is None else context - len(self._prefix)
        # How sentences share passes decides their shapes, and so the last digits.
        name = (
            f"{versions()} {device_name(self._device)} batch_tokens {options.batch_tokens} "
            f"shard {options.shard} sharing {options.sharing}"
        )
        self.key = engine_key(TransformersEngine, name, checkpoint, described)

    @once
    def _model(self) -> Decoder:
        # Deferred, because a run that finds all its sentences in the store needs no weights.
        with loading(self._directory):
            model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
                self._directory,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=self._dtype,
            )
        torch.nn.Module.to(model, self._device)
        return Decoder(model.eval(), self._workers)  # type: ignore[no-untyped-call]

    @once
    def _longest_shared(self) -> int:
        """Most ids that a sequence of a prefix tree may have; 0 where there is no tree."""
        if self._sharing == "never":
            return 0
        reason = self._model.why_not_shared(self._settings.vocab_size)
        if reason is not None:
            log.warning("%s: prefixes are not shared (%s)", self._directory, reason)
            return 0
        context = None if self.limit is None else self.limit + len(self._prefix)
        bounds = (shortest_window(self._settings), context, 4 * WIDTH[self._device.type])
        return min(bound for bound in bounds if bound is not None)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Tokens without any special token; see ``Engine``."""
        return self._tokenizer.encode(texts)

    def _padded(self, flat: Ids, lengths: Numbers) -> tuple[LogProbs, Mask]:
        return self._model.run(padded_passes(flat, lengths, self._most), len(flat))

    def _packed(self, flat: Ids, lengths: Numbers) -> tuple[LogProbs, Mask]:
        """Results from a prefix tree, unless it leaves too much to compute."""
        trie = build_trie(flat, lengths)
        plan = plan_rows(trie, min(WIDTH[self._device.type], self._longest_shared))
        plain = np.maximum(lengths - 1, 0).sum()
        if self._sharing == "auto" and plan.cells.size > PAYS * plain:
            return self._padded(flat, lengths)
        values, lost = self._model.run(packed_passes(trie, plan, self._most), len(trie.token))
        return values[trie.paths], lost[trie.paths]

    def _results(self, flat: Ids, lengths: Numbers) -> tuple[LogProbs, Mask]:
        """Log-probabilities [tokens], NaN for first tokens, and where memory did not suffice.

        ``flat`` [tokens]: ids of the sequences, one after another; ``lengths`` [sequences].
        """
        values, lost = nothing_scored(len(flat)), np.zeros(len(flat), dtype=bool)
        # Long sequences would make all rows of a tree long.
        short = lengths <= self._longest_shared
        for chosen, score in ((short, self._packed), (~short, self._padded)):
            if chosen.any():
                where = np.repeat(chosen, lengths)
                values[where], lost[where] = score(flat[where], lengths[chosen])
        return values, lost

    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Natural log-probabilities, NaN for the first token under ``skip``; see ``Engine``.

        A sentence for which memory does not suffice even alone is ``out_of_memory``.
        """
        pieces = [piece for encoded in batch for piece in (self._prefix, encoded.ids)]
        flat = np.concatenate([np.empty(0, dtype=np.int32), *pieces])
        lead = len(self._prefix)
        lengths = np.array([lead + len(encoded.ids) for encoded in batch], dtype=np.int64)
        values, lost = self._results(flat, lengths)
        edges = pairwise([0, *np.cumsum(lengths).tolist()])
        return ["out_of_memory" if lost[a:b].any() else values[a + lead : b] for a, b in edges]

    def close(self) -> None:
        """Begin no pass any more."""
        self._workers.close()
