"""Run a causal model on passes: hidden states, then log-probabilities."""

import logging
from collections.abc import Iterable
from inspect import signature
from itertools import chain
from typing import cast

import numpy as np
import torch
from transformers import PreTrainedModel

from blimpworks.models.threads import Workers, single_thread
from blimpworks.scoring.engine import LogProbs
from blimpworks.scoring.logits import FOREIGN, TOLERANCE, split_model, target_logprobs
from blimpworks.scoring.trie import (
    Ids,
    Mask,
    Pass,
    build_trie,
    packed_passes,
    padded_passes,
    plan_rows,
)

log = logging.getLogger(__name__)

NO_POSITIONS = "the model does not heed the positions it is given"
Part = tuple[np.ndarray, torch.Tensor | None]
"""Places of a pass, and its results; None where memory ran out."""


class Decoder:
    """Runs passes on one device, on the CPU several at a time."""

    def __init__(self, model: PreTrainedModel, workers: Workers) -> None:
        """Take ``model`` apart if that gives the same logits; it is of no other use then."""
        self._model, self._workers = model, workers
        ids = torch.arange(8, device=model.device)[None]
        takes = signature(model.forward).parameters
        self._options = {"use_cache": False} if {"use_cache", "kwargs"} & takes.keys() else {}
        with torch.inference_mode(), single_thread():
            logits = model(input_ids=ids, **self._options).logits[0]
            self.width = int(logits.shape[1])
            """Ids that logits are of."""
            decoder = model.get_decoder()  # type: ignore[no-untyped-call]

            def states() -> torch.Tensor:
                hidden = decoder(input_ids=ids, use_cache=False).last_hidden_state[0]
                return cast(torch.Tensor, hidden)

            self._head = split_model(model, decoder, states, logits)
        self._decoder = decoder if self._head else model

    def modules(self) -> Iterable[torch.nn.Module]:
        """Return all modules that read a text, without those for pictures or sound."""
        return self._decoder.modules()

    def _on_device(self, table: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(table).to(self._model.device)

    @torch.inference_mode()
    def _forward(self, batch: Pass) -> torch.Tensor:
        tree = {}
        if batch.number is not None and batch.end is not None and batch.depth is not None:
            # Added to attention scores [rows, 1, width, width]: a token sees its ancestors.
            numbers, ends = self._on_device(batch.number), self._on_device(batch.end)
            seen = numbers[:, None, :] <= numbers[:, :, None]
            seen &= numbers[:, :, None] < ends[:, None, :]
            dtype = self._model.dtype
            blocked = torch.zeros(seen.shape, dtype=dtype, device=self._model.device)
            tree["attention_mask"] = blocked.masked_fill_(~seen, torch.finfo(dtype).min)[:, None]
            tree["position_ids"] = self._on_device(batch.depth)
        # Padding is on the right, where no token sees it: plain rows need no mask.
        output = self._decoder(input_ids=self._on_device(batch.ids), **self._options, **tree)
        cells = self._on_device(np.flatnonzero(batch.read))
        hidden = (output.last_hidden_state if self._head else output.logits).flatten(0, 1)[cells]
        parent = torch.from_numpy(batch.parent)
        return target_logprobs(hidden, self._head, self._on_device(batch.token), parent)

    def _attempt(self, batch: Pass) -> list[Part]:
        try:
            return [(batch.place, self._forward(batch))]
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
        if len(batch.ids) == 1:
            return [(batch.place, None)]
        return [half_result for half in batch.halves() for half_result in self._attempt(half)]

    def run(self, passes: Iterable[Pass], count: int) -> tuple[LogProbs, Mask]:
        """Return the passes' results [count], NaN at other places, and where memory ran out."""
        values = np.full(count, np.nan, dtype=np.float32)
        lost = np.zeros(count, dtype=bool)
        for position, logprobs in chain.from_iterable(self._workers.map(self._attempt, passes)):
            if logprobs is None:
                lost[position] = True
            else:
                values[position] = logprobs.cpu().numpy()
        return values, lost

    def _uses_position_ids(self) -> bool:
        """Whether hidden states depend on the given positions, not on places in the row."""
        ids = torch.arange(8, device=self._model.device)[None]

        @torch.inference_mode()
        def states(step: int) -> torch.Tensor:
            output = self._decoder(input_ids=ids, position_ids=step * ids, **self._options)
            return cast(torch.Tensor, output[0])

        return not torch.equal(*self._workers.map(states, (1, 2)))

    def why_not_shared(self, vocabulary: Ids, longest: int) -> str | None:
        """Say why rows of a prefix tree give other results than padded rows; None if they don't.

        Tries made-up sequences of ``vocabulary`` [ids], at most ``longest`` tokens long, whose tree
        takes several rows. Models with relative positions in the row, or a state along it, fail.
        """
        third = max(1, longest // 3)
        ids = np.random.default_rng(0).choice(vocabulary, size=(6, 3 * third)).astype(np.int32)
        ids[1, : 2 * third] = ids[0, : 2 * third]
        ids[2:4, :third] = ids[0, :third]
        ids[3, third : 2 * third] = ids[2, third : 2 * third]
        lengths = np.array([3, 3, 3, 2, 3, 1]) * third
        flat = ids[np.arange(3 * third) < lengths[:, None]]
        trie = build_trie(flat, lengths)
        passes = packed_passes(trie, plan_rows(trie, 5 * third), 1 << 10)
        plain, _ = self.run(padded_passes(flat, lengths, 1 << 10), len(flat))
        try:
            if not self._uses_position_ids():
                return NO_POSITIONS
            packed = self.run(passes, len(trie.token))[0][trie.paths]
        except FOREIGN as error:
            return " ".join(str(error).split())[:200]
        difference = float(np.nanmax(np.abs(packed - plain)))
        # Written so that NaN is a difference too.
        if difference <= TOLERANCE[self._model.dtype]:
            return None
        return f"log-probabilities differ by {difference:.2g}"
