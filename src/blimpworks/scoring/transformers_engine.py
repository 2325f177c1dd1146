"""Score with causal models through transformers: token ids in, log-probabilities out.

``TransformersEngine`` gets one shard of sentences at a time. Sentences with the same beginning can
share its computation: they form a prefix tree, and the model reads rows of this tree (``passes``).
If the tree saves too little, or the model cannot read it, the model reads a padded row for each
sentence. This choice depends only on the shard's sentences and the options, so that a run that was
interrupted makes the same choice again.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from itertools import chain, pairwise
from pathlib import Path
from typing import cast

import numpy as np
import torch
from transformers import PreTrainedModel

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.fitting import single_thread
from blimpworks.scoring import hub_loading
from blimpworks.scoring.engine import Encoded, Failure, Ids, LogProbs, Mask
from blimpworks.scoring.hub_model import HubEngine
from blimpworks.scoring.passes import Pass, packed_passes, padded_passes, plan_rows
from blimpworks.scoring.selftest import StartedEngine, gap_by_later
from blimpworks.scoring.store import nothing_scored
from blimpworks.scoring.trie import Numbers, build_trie
from blimpworks.scoring.workers import Workers, once

ROW_TOKENS = {"cpu": 64, "cuda": 256}
"""Tokens in a row of a tree, by device. A longer row repeats fewer ancestors, but each of its
tokens is compared with more others."""
WORTHWHILE_SHARE = 0.85
"""Largest share of the tokens of padded rows with which rows of a tree are faster (measured)."""
STATEFUL = re.compile(
    r"(?i:mamba|rwkv|recurrent|rglru|deltanet|deltaattention|shortconv|lightning"
    r"|linearattention|lstm|hyena|retention)|SSM|^Conv1d$"
)
"""Names of layers that carry a state from token to token, such as ``MambaMixer``. Such a layer
would carry the state of one branch of the tree into the next."""
WINDOWS = ("sliding_window", "window_size", "attention_chunk_size")
"""Fields of configurations with the number of tokens to which some layers attend."""
NO_POSITIONS = "the model does not heed the positions it is given"
"""Reason why prefixes are not shared: ``position_ids`` change no hidden state."""
PassResult = tuple[np.ndarray, torch.Tensor | None]
"""Indices of a pass's results, and their log-probabilities; None if memory ran out."""


class Decoder:
    """A causal model on one device, which computes ``Pass`` objects."""

    def __init__(self, model: PreTrainedModel, workers: Workers) -> None:
        """Split ``model`` before its head if logits stay the same; only this class may run it."""
        self._model, self._workers = model, workers
        ids = torch.arange(8, device=model.device)[None]
        # Some classes of models have no argument ``use_cache``.
        parameters = signature(model.forward).parameters
        self._options = {"use_cache": False} if {"use_cache", "kwargs"} & parameters.keys() else {}
        with torch.inference_mode(), single_thread():
            logits = model(input_ids=ids, **self._options).logits[0]
            self.width = int(logits.shape[1])
            """Number of ids that logits cover."""
            decoder = model.get_decoder()  # type: ignore[no-untyped-call]

            def states() -> torch.Tensor:
                hidden = decoder(input_ids=ids, use_cache=False).last_hidden_state[0]
                return cast(torch.Tensor, hidden)

            self._head = hub_loading.split_model(model, decoder, states, logits)
        self._decoder = decoder if self._head else model

    def modules(self) -> Iterable[torch.nn.Module]:
        """Return all modules that read a text, without those for images or sound."""
        return self._decoder.modules()

    def _on_device(self, table: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(table).to(self._model.device)

    @torch.inference_mode()
    def _forward(self, batch: Pass) -> torch.Tensor:
        """Return the log-probabilities of one pass, ``batch`` [results]."""
        # No token sees the padding, which is on the right, so padded rows need no mask.
        added = {}
        if batch.number is not None and batch.end is not None and batch.depth is not None:
            # In a tree, cell i sees itself and its ancestors j: number[j] <= number[i] < end[j].
            numbers, ends = self._on_device(batch.number), self._on_device(batch.end)
            sees = numbers[:, None, :] <= numbers[:, :, None]
            sees &= numbers[:, :, None] < ends[:, None, :]
            # The mask [rows, 1, cell i, cell j] is added to attention scores.
            dtype = self._model.dtype
            mask = torch.zeros(sees.shape, dtype=dtype, device=self._model.device)
            added["attention_mask"] = mask.masked_fill_(~sees, torch.finfo(dtype).min)[:, None]
            added["position_ids"] = self._on_device(batch.depth)
        output = self._decoder(input_ids=self._on_device(batch.ids), **self._options, **added)
        cells = self._on_device(np.flatnonzero(batch.read))
        hidden = (output.last_hidden_state if self._head else output.logits).flatten(0, 1)[cells]
        parent = torch.from_numpy(batch.parent)
        return hub_loading.target_logprobs(hidden, self._head, self._on_device(batch.token), parent)

    def _attempt(self, batch: Pass) -> list[PassResult]:
        """Compute a pass, in halves if memory runs out."""
        try:
            return [(batch.result, self._forward(batch))]
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
        if len(batch.ids) == 1:
            return [(batch.result, None)]
        return [half_result for half in batch.halves() for half_result in self._attempt(half)]

    def run(self, passes: Iterable[Pass], count: int) -> tuple[LogProbs, Mask]:
        """Return ``count`` log-probabilities, NaN without a result, and where memory ran out."""
        values = np.full(count, np.nan, dtype=np.float32)
        ran_out = np.zeros(count, dtype=bool)
        for indices, logprobs in chain.from_iterable(self._workers.map(self._attempt, passes)):
            if logprobs is None:
                ran_out[indices] = True
            else:
                values[indices] = logprobs.cpu().numpy()
        return values, ran_out

    def _uses_position_ids(self) -> bool:
        """Return whether ``position_ids`` change hidden states (else only the order in a row)."""
        ids = torch.arange(8, device=self._model.device)[None]

        @torch.inference_mode()
        def states(step: int) -> torch.Tensor:
            output = self._decoder(input_ids=ids, position_ids=step * ids, **self._options)
            return cast(torch.Tensor, output[0])

        return not torch.equal(*self._workers.map(states, (1, 2)))

    def why_not_shared(self, vocabulary: Ids, longest: int) -> str | None:
        """Say why rows of a prefix tree give other results than padded rows; None if they agree.

        Six random sequences of ``vocabulary`` [ids], of at most ``longest`` tokens, are computed
        both ways. Models that count positions in a row, or carry a state along it, differ.
        """
        # With a letter for each different third, the sequences are abc, abd, aef, ae, ghi and j.
        third = max(1, longest // 3)
        ids = np.random.default_rng(0).choice(vocabulary, size=(6, 3 * third)).astype(np.int32)
        ids[1, : 2 * third] = ids[0, : 2 * third]
        ids[2:4, :third] = ids[0, :third]
        ids[3, third : 2 * third] = ids[2, third : 2 * third]
        lengths = np.array([3, 3, 3, 2, 3, 1]) * third
        flat = ids[np.arange(3 * third) < lengths[:, None]]
        trie = build_trie(flat, lengths)
        passes = packed_passes(trie, plan_rows(trie, 5 * third), 1 << 10)
        padded_values, _ = self.run(padded_passes(flat, lengths, 1 << 10), len(flat))
        try:
            if not self._uses_position_ids():
                return NO_POSITIONS
            packed_values = self.run(passes, len(trie.token))[0][trie.paths]
        except hub_loading.FOREIGN as error:
            return " ".join(str(error).split())[:200]
        difference = float(np.nanmax(np.abs(packed_values - padded_values)))
        if difference <= hub_loading.TOLERANCE[self._model.dtype]:  # false for NaN
            return None
        return f"log-probabilities differ by {difference:.2g}"


class TransformersEngine(StartedEngine, HubEngine):
    """A causal model on the first GPU, else the CPU, in its checkpoint's number format."""

    architecture = "causal"
    probe = 20
    shares_prefixes = True

    def __init__(self, checkpoint: Path, described: Checkpoint, options: ScoringOptions) -> None:
        tokenizer = hub_loading.HubTokenizer(checkpoint, described)
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
        # Longer sequences stay out of the tree; the self-test compares rows without any tree.
        return 0 if self._sharing == "never" or self._testing else self._longest_packed

    @property
    def _longest_packed(self) -> int:
        """Largest number of ids of a sequence in a tree, where tokens must see all before them."""
        # The last bound: one long sequence would make all rows of the tree as long.
        windows = [getattr(self._settings, name, None) for name in WINDOWS]
        bounds = (*windows, self.context, 4 * ROW_TOKENS[self._device.type])
        return min(bound for bound in bounds if isinstance(bound, int))

    def _examine(self, rows: list[Ids], checks: dict[str, str]) -> dict[str, str]:
        """Test causality and shared prefixes too. Raises UserError for a model that looks ahead."""
        ids = np.unique(np.concatenate(rows))
        longest = len(rows[-1])
        gap = gap_by_later(self.logprobs, ids, longest)
        if not gap <= self._tolerance():
            raise UserError(
                f"{self._directory}: {type(self._loaded.model).__name__} looks ahead: a token's "
                f"log-probability changes by {gap:.2g} nats with what follows; expected a causal "
                "model. Correct config.json (is_decoder: true), or score it as the masked model "
                "that it is (architectures: …ForMaskedLM)."
            )
        checks["causality"] = "no token depends on what follows it"
        decisions = super()._examine(rows, checks)
        if self._sharing == "never":
            return decisions
        reason = self._decoder.why_not_shared(ids, min(longest, self._longest_packed))
        if reason is None:
            # If weights are small, the state of such a layer changes too little to be measured.
            names = sorted({type(module).__name__ for module in self._decoder.modules()})
            reason = next((f"it has {name}" for name in names if STATEFUL.search(name)), None)
        checks["prefixes"] = f"not shared: {reason}" if reason else "shared where that pays"
        if reason is None:
            return decisions
        # Both values prevent sharing, but ``none`` stays out of the key: earlier versions of this
        # engine did not share prefixes in these cases either, so their scores stay valid.
        was_unshared = self._dtype == torch.float32 or reason == NO_POSITIONS
        return decisions | {"sharing": "none" if was_unshared else "never"}

    def follow(self, decisions: Mapping[str, str]) -> None:
        if "sharing" in decisions:
            self._sharing = "never"
        super().follow({name: value for name, value in decisions.items() if value != "none"})

    def _padded(self, flat: Ids, lengths: Numbers) -> tuple[LogProbs, Mask]:
        return self._decoder.run(
            padded_passes(flat, lengths, self._max_tokens, self._batching), len(flat)
        )

    def _packed(self, flat: Ids, lengths: Numbers) -> tuple[LogProbs, Mask]:
        """Score sequences in rows of their prefix tree, or in padded rows if that is less work."""
        trie = build_trie(flat, lengths)
        plan = plan_rows(trie, min(ROW_TOKENS[self._device.type], self._longest_shared))
        padded_cells = np.maximum(lengths - 1, 0).sum()
        if self._sharing == "auto" and plan.node.size > WORTHWHILE_SHARE * padded_cells:
            return self._padded(flat, lengths)
        values, ran_out = self._decoder.run(
            packed_passes(trie, plan, self._max_tokens), len(trie.token)
        )
        # Results belong to nodes of the tree; ``paths`` has the node of each token.
        return values[trie.paths], ran_out[trie.paths]

    def _scores(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        prefix = np.array(self.tokenizer.prefix, dtype=np.int32)
        pieces = [piece for encoded in batch for piece in (prefix, encoded.ids)]
        flat = np.concatenate([np.empty(0, dtype=np.int32), *pieces])
        lead = len(prefix)
        lengths = np.array([lead + len(encoded.ids) for encoded in batch], dtype=np.int64)
        values, ran_out = nothing_scored(len(flat)), np.zeros(len(flat), dtype=bool)
        # Long sequences are not put in the tree, since all its rows would be as long.
        is_short = lengths <= self._longest_shared
        for chosen, score in ((is_short, self._packed), (~is_short, self._padded)):
            if chosen.any():
                mask = np.repeat(chosen, lengths)
                values[mask], ran_out[mask] = score(flat[mask], lengths[chosen])
        bounds = pairwise([0, *np.cumsum(lengths).tolist()])
        return ["out_of_memory" if ran_out[a:b].any() else values[a + lead : b] for a, b in bounds]
