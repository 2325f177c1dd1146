"""Scoring with causal models through transformers, in padded batches."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
import transformers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    PretrainedConfig,
    PreTrainedModel,
)

from blimpworks.config import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.threads import one_thread
from blimpworks.scoring.engine import Encoded, Failure, Ids, LogProbs, engine_key
from blimpworks.scoring.hub_tokenizer import HubTokenizer

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
Head = Callable[[torch.Tensor], torch.Tensor]
ROWS = 1024
"""Rows whose logits over the whole vocabulary exist at one time."""


def target_logprobs(hidden: torch.Tensor, head: Head, target: torch.Tensor) -> torch.Tensor:
    """Log-probability of ``target`` [rows] under softmax(head(``hidden`` [rows, width])).

    Gathers before it normalises, in chunks of rows, and in float32, so that the table of
    rows by vocabulary never exists as a whole.
    """
    found = torch.empty(len(target), dtype=torch.float32, device=hidden.device)
    for a in range(0, len(target), ROWS):
        logits = head(hidden[a : a + ROWS]).float()
        chosen = logits.gather(1, target[a : a + ROWS, None])[:, 0]
        found[a : a + ROWS] = chosen - logits.logsumexp(1)
    return found


def final_logits(settings: PretrainedConfig, head: torch.nn.Module) -> Head:
    """``head`` followed by what some architectures do to their logits.

    Cohere multiplies by ``logit_scale``, Granite divides by ``logits_scaling``, Gemma 2 caps
    softly at ``final_logit_softcapping``.
    """
    scale = getattr(settings, "logit_scale", None) or 1.0
    scale /= getattr(settings, "logits_scaling", None) or 1.0
    cap = getattr(settings, "final_logit_softcapping", None)

    def logits(hidden: torch.Tensor) -> torch.Tensor:
        """Logits [rows, vocabulary] of hidden states [rows, width]."""
        found: torch.Tensor = head(hidden) * scale
        return found if cap is None else cap * torch.tanh(found / cap)

    return logits


def device_name(device: torch.device) -> str:
    """``cpu``, or what the GPU is called: models of GPU round differently."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def make_batches(lengths: Sequence[int], order: Sequence[int], most: int) -> Iterator[list[int]]:
    """Cut ``order`` (numbers of sequences, by rising length) into padded batches.

    A batch has at most ``most`` tokens with padding, or one sequence.
    """
    batch: list[int] = []
    for number in order:
        if batch and (len(batch) + 1) * lengths[number] > most:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


class TransformersEngine:
    """A causal model on the first GPU, or on the CPU where there is none.

    Only local files, only safetensors, no code from the checkpoint, in the checkpoint's dtype.
    """

    regional = False
    shares_prefixes = False

    def __init__(self, checkpoint: Path, described: Checkpoint, options: ScoringOptions) -> None:
        """Load the tokenizer; the weights follow with the first batch.

        Raises UserError when the dtype is unknown or the tokenizer no use (see there).
        """
        if described.dtype not in DTYPES:
            raise UserError(
                f"{checkpoint}: dtype is {described.dtype!r}; expected {', '.join(DTYPES)}."
            )
        self._directory = checkpoint.parent
        self._dtype = DTYPES[described.dtype]
        self._batch_tokens = options.batch_tokens
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._tokenizer = HubTokenizer(checkpoint, described)
        self._prefix = self._tokenizer.prefix
        settings = AutoConfig.from_pretrained(self._directory, local_files_only=True)
        self._settings = settings.get_text_config()
        context = getattr(self._settings, "max_position_embeddings", None)
        self.limit = None if context is None else context - len(self._prefix)
        # How sentences share batches decides padded widths, and so the last digits.
        name = (
            f"transformers {transformers.__version__} torch {torch.__version__} "
            f"{device_name(self._device)} batch_tokens {options.batch_tokens}"
        )
        self.key = engine_key(TransformersEngine, name, checkpoint, described)

    @cached_property
    def _model(self) -> PreTrainedModel:
        # Deferred, because a run that finds all its sentences in the store needs no weights.
        model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
            self._directory, local_files_only=True, use_safetensors=True, dtype=self._dtype
        )
        torch.nn.Module.to(model, self._device)
        return model.eval()  # type: ignore[no-untyped-call,no-any-return]

    @cached_property
    def _head(self) -> Head:
        """From hidden states to logits, found equal to the model's own on a short input.

        Raises UserError where it isn't: an architecture this engine does not know.
        """
        last = self._model.get_output_embeddings()  # type: ignore[no-untyped-call]
        head = final_logits(self._settings, last)
        ids = torch.arange(8, device=self._device)[None]
        ours = head(self._hidden(ids, torch.ones_like(ids)))
        if not torch.allclose(ours, self._model(input_ids=ids).logits, rtol=1e-2, atol=1e-2):
            raise UserError(
                f"{self._directory}: {type(self._model).__name__} changes its logits in a way "
                "that the transformers engine does not know; choose another engine."
            )
        return head

    def _hidden(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        base = self._model.get_decoder()  # type: ignore[no-untyped-call]
        found = base(input_ids=ids, attention_mask=mask, use_cache=False)
        hidden: torch.Tensor = found.last_hidden_state
        return hidden

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Tokens without any special token; see ``Engine``."""
        return self._tokenizer.encode(texts)

    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Natural log-probabilities, NaN for the first token under ``skip``; see ``Engine``."""
        ids = [encoded.ids for encoded in batch]
        lengths = [len(row) for row in ids]
        # Ties are broken by the ids, so that batches don't depend on the order of arrival.
        order = sorted(range(len(batch)), key=lambda i: (lengths[i], ids[i].tolist()))
        found: list[LogProbs | Failure] = [np.empty(0, dtype=np.float32)] * len(batch)
        padded = [length + len(self._prefix) for length in lengths]
        for group in make_batches(padded, order, self._batch_tokens):
            for number, row in zip(group, self._forward([ids[i] for i in group]), strict=True):
                found[number] = row
        return found

    def _padded(self, rows: Sequence[Ids]) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids and attention mask [rows, longest + prefix], padded on the right."""
        start = len(self._prefix)
        width = start + max(map(len, rows))
        ids = np.zeros((len(rows), width), dtype=np.int64)
        mask = np.zeros((len(rows), width), dtype=np.int64)
        ids[:, :start] = self._prefix
        for i, row in enumerate(rows):
            ids[i, start : start + len(row)] = row
            mask[i, : start + len(row)] = 1
        return torch.from_numpy(ids).to(self._device), torch.from_numpy(mask).to(self._device)

    @one_thread()
    @torch.inference_mode()
    def _forward(self, rows: Sequence[Ids]) -> list[LogProbs]:
        ids, mask = self._padded(rows)
        unscored = 1 - len(self._prefix)
        counts = [max(0, len(row) - unscored) for row in rows]
        if not any(counts):
            return [np.full(len(row), np.nan, dtype=np.float32) for row in rows]
        hidden = self._hidden(ids, mask)
        real = mask[:, 1:].bool()
        flat = target_logprobs(hidden[:, :-1][real], self._head, ids[:, 1:][real])
        parts = np.split(flat.cpu().numpy(), np.cumsum(counts)[:-1])
        lead = np.full(unscored, np.nan, dtype=np.float32)
        return [
            np.concatenate([lead, part])[: len(row)] for row, part in zip(rows, parts, strict=True)
        ]

    def close(self) -> None:
        """Nothing is held that the interpreter does not free."""
