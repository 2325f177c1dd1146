"""A causal model at work on passes: hidden states, then log-probabilities."""

import logging
from collections.abc import Iterable
from itertools import chain
from typing import cast

import numpy as np
import torch
from transformers import PreTrainedModel

from blimpworks.models.threads import Workers
from blimpworks.scoring.engine import LogProbs
from blimpworks.scoring.logits import split_model, target_logprobs
from blimpworks.scoring.passes import Pass, packed_passes, padded_passes
from blimpworks.scoring.trie import Mask, build_trie, plan_rows

log = logging.getLogger(__name__)

Part = tuple[np.ndarray, torch.Tensor | None]
"""Places of a pass, and its results; None where there was no memory for it."""
TOLERANCE = {torch.float32: 1e-4, torch.float16: 0.05, torch.bfloat16: 0.25}
"""Most that rounding moves a log-probability, in nats, between two ways through a model."""


class Decoder:
    """Runs passes on one device, on the CPU several at a time."""

    def __init__(self, model: PreTrainedModel, workers: Workers) -> None:
        """Take ``model`` apart; it is no use elsewhere from then on."""
        self._device, self._dtype, self._workers = model.device, model.dtype, workers
        # Most have it as `model` or `transformer`, OPT as `model.decoder`.
        decoder = model.get_decoder()  # type: ignore[no-untyped-call]
        name = next(name for name, module in model.named_modules() if module is decoder)
        self._decoder, self._head = split_model(model, name)

    def _on_device(self, table: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(table).to(self._device)

    def _attention_mask(self, number: np.ndarray, end: np.ndarray) -> torch.Tensor:
        """What to add to attention scores [rows, 1, width, width] in rows of a tree."""
        numbers, ends = self._on_device(number), self._on_device(end)
        seen = numbers[:, None, :] <= numbers[:, :, None]
        seen &= numbers[:, :, None] < ends[:, None, :]
        blocked = torch.zeros(seen.shape, dtype=self._dtype, device=self._device)
        return blocked.masked_fill_(~seen, torch.finfo(self._dtype).min)[:, None]

    @torch.inference_mode()
    def _forward(self, batch: Pass) -> torch.Tensor:
        tree = {}
        if batch.number is not None and batch.end is not None and batch.depth is not None:
            tree["attention_mask"] = self._attention_mask(batch.number, batch.end)
            tree["position_ids"] = self._on_device(batch.depth)
        # Padding is on the right, where no token sees it: plain rows need no mask.
        output = self._decoder(input_ids=self._on_device(batch.ids), use_cache=False, **tree)
        cells = self._on_device(np.flatnonzero(batch.read))
        hidden = output.last_hidden_state.flatten(0, 1)[cells]
        parent = torch.from_numpy(batch.parent)
        return target_logprobs(hidden, self._head, self._on_device(batch.token), parent)

    def _attempt(self, batch: Pass) -> list[Part]:
        """Results of a pass, in halves where memory does not suffice."""
        try:
            return [(batch.place, self._forward(batch))]
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
        if len(batch.ids) == 1:
            return [(batch.place, None)]
        return [part for half in batch.halves() for part in self._attempt(half)]

    def run(self, passes: Iterable[Pass], count: int) -> tuple[LogProbs, Mask]:
        """Results of ``passes`` at their places among ``count``, NaN at others.

        The second array says which are missing because memory ran out.
        """
        values = np.full(count, np.nan, dtype=np.float32)
        lost = np.zeros(count, dtype=bool)
        for place, logprobs in chain.from_iterable(self._workers.map(self._attempt, passes)):
            if logprobs is None:
                lost[place] = True
            else:
                values[place] = logprobs.cpu().numpy()
        return values, lost

    def _uses_position_ids(self) -> bool:
        """Whether hidden states depend on the positions that come with the tokens.

        In low precision a model that goes by places in the row can hide among rounding.
        """
        ids = torch.arange(8, device=self._device)[None]

        @torch.inference_mode()
        def states(step: int) -> torch.Tensor:
            """Hidden states of a few tokens that lie so far apart."""
            output = self._decoder(input_ids=ids, position_ids=step * ids, use_cache=False)
            return cast(torch.Tensor, output.last_hidden_state)

        return not torch.equal(*self._workers.map(states, (1, 2)))

    def why_not_shared(self, vocabulary: int) -> str | None:
        """Why rows of a prefix tree give other results than padded rows; None if they don't.

        Tried on a few made-up sequences whose tree takes several rows. Models whose
        positions are distances within the row, or that carry a state along it, fail.
        """
        ids = np.random.default_rng(0).integers(vocabulary, size=(6, 9), dtype=np.int32)
        ids[1, :5] = ids[0, :5]
        ids[2:4, :3] = ids[0, :3]
        ids[3, 3:6] = ids[2, 3:6]
        lengths = np.array([9, 9, 9, 7, 9, 3])
        flat = ids[np.arange(9) < lengths[:, None]]
        trie = build_trie(flat, lengths)
        passes = packed_passes(trie, plan_rows(trie, 14), 1 << 10)
        plain, _ = self.run(padded_passes(flat, lengths, 1 << 10), len(flat))
        try:
            if not self._uses_position_ids():
                return "the model does not heed the positions it is given"
            packed = self.run(passes, len(trie.token))[0][trie.paths]
        except (TypeError, ValueError, RuntimeError, IndexError) as error:
            return " ".join(str(error).split())[:200]
        difference = float(np.nanmax(np.abs(packed - plain)))
        # Written so that NaN is a difference too.
        if difference <= TOLERANCE[self._dtype]:
            return None
        return f"log-probabilities differ by {difference:.2g}"
