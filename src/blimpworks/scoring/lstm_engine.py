"""Scoring with word-level LSTMs, as CLAMS does."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from blimpworks.config import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.lstm import (
    END_ID,
    UNKNOWN_ID,
    LstmModel,
    LstmSettings,
    load_lstm,
    words_of,
)
from blimpworks.models.threads import one_thread
from blimpworks.scoring.engine import Encoded, Failure, LogProbs, engine_key
from blimpworks.scoring.loading import loading
from blimpworks.scoring.logits import device_name, target_logprobs
from blimpworks.scoring.passes import make_batches

FIRST = ("eos", "skip")


class LstmEngine:
    """Words and a final ``<eos>``, each given what is before and, under ``eos``, an ``<eos>``.

    The hidden state is fresh for each text (Mueller et al. 2020, section 4.2). An unknown
    word counts as ``<unk>``; the final ``<eos>`` ends where the last word does and takes no
    character (CLAMS leaves it out of its sums: the method ``without_end``).
    """

    limit: int | None = None
    regional = False
    shares_prefixes = False

    def __init__(self, checkpoint: Path, described: Checkpoint, options: ScoringOptions) -> None:
        """Model and vocabulary follow with the first batch.

        Raises UserError for a first-token policy or a dtype that it cannot follow.
        """
        if described.first_token not in FIRST or described.dtype != "float32":
            raise UserError(
                f"{checkpoint}: first_token is {described.first_token!r} and dtype "
                f"{described.dtype!r}, but an LSTM runs in float32 and starts after <eos> or "
                "nothing; set them to 'float32' and 'eos' or 'skip'."
            )
        self._directory = checkpoint.parent
        self._skip = described.first_token == "skip"
        self._batch_tokens = options.batch_tokens
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        name = (
            f"lstm torch {torch.__version__} {device_name(self._device)} "
            f"batch_tokens {options.batch_tokens}"
        )
        self.key = engine_key(LstmEngine, name, checkpoint, described)

    @cached_property
    def _loaded(self) -> tuple[LstmModel, dict[str, int], LstmSettings]:
        """Model, ids of its words, and its settings."""
        with loading(self._directory):
            model, words, settings = load_lstm(self._directory)
        ids = {word: number for number, word in enumerate(words)}
        return model.to(self._device), ids, settings

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Ids are line numbers of the checkpoint's ``vocabulary.txt``, from 0."""
        return [self._encode(text) for text in texts]

    def _encode(self, text: str) -> Encoded:
        _, numbers, settings = self._loaded
        words = words_of(text, settings.words)
        ids = [numbers.get(word, UNKNOWN_ID) for word, _ in words] + [END_ID]
        ends = [end for _, end in words]
        ends.append(max(ends, default=0))
        return Encoded(np.array(ids, dtype=np.int32), np.array(ends, dtype=np.int32))

    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Natural log-probabilities, NaN for the first word under ``skip``; see ``Engine``."""
        rows = [[END_ID, *encoded.ids.tolist()] for encoded in batch]
        if self._skip:
            rows = [row[1:] for row in rows]
        found: list[LogProbs | Failure] = [
            np.full(len(encoded.ids), np.nan, dtype=np.float32) for encoded in batch
        ]
        lengths = list(map(len, rows))
        # Ties are broken by the ids, so that batches don't depend on the order of arrival.
        order = sorted(range(len(rows)), key=lambda number: (lengths[number], rows[number]))
        order = [number for number in order if lengths[number] > 1]
        for group in make_batches(lengths, order, self._batch_tokens):
            values = self._forward([rows[number] for number in group])
            for number, value in zip(group, values, strict=True):
                found[number][-len(value) :] = value  # type: ignore[index]
        return found

    @one_thread()
    @torch.inference_mode()
    def _forward(self, rows: list[list[int]]) -> list[LogProbs]:
        """Log-probabilities of all ids of each row but the first.

        Padding stands right, where what comes before never looks.
        """
        tensors = [torch.tensor(row) for row in rows]
        ids = torch.nn.utils.rnn.pad_sequence(tensors, padding_value=END_ID).to(self._device)
        model = self._loaded[0]
        hidden, _ = model(ids[:-1])
        counts = [len(row) - 1 for row in rows]
        real = torch.arange(len(ids) - 1)[None] < torch.tensor(counts)[:, None]
        real = real.to(self._device)
        flat = target_logprobs(hidden.transpose(0, 1)[real], model.head, ids[1:].t()[real])
        return np.split(flat.cpu().numpy(), np.cumsum(counts)[:-1])

    def close(self) -> None:
        """Nothing is held that the interpreter does not free."""
