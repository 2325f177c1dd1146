"""Scoring with causal models through vLLM, served or in process."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.scoring.engine import Encoded, Failure, LogProbs, engine_key
from blimpworks.scoring.hub_tokenizer import HubTokenizer
from blimpworks.scoring.plan import nothing_scored
from blimpworks.scoring.vllm_batches import Prompt
from blimpworks.scoring.vllm_in_process import LoadedModel
from blimpworks.scoring.vllm_served import ServedModel
from blimpworks.scoring.vllm_setup import make_setup

MODES: dict[str, type[ServedModel] | type[LoadedModel]] = {
    "served": ServedModel,
    "in_process": LoadedModel,
}
ENTRIES = (
    "blimpworks.scoring.hub_tokenizer:HubTokenizer",
    "blimpworks.scoring.vllm_setup:make_setup",
    "blimpworks.scoring.vllm_server:command_line",
    "blimpworks.scoring.vllm_engine:score_encoded",
    "blimpworks.scoring.vllm_served:write_request",
    "blimpworks.scoring.vllm_served:read_response",
    "blimpworks.scoring.vllm_in_process:sampling",
    "blimpworks.scoring.vllm_in_process:read_flat",
)
"""The code that decides numbers: not how a server is watched, retried and restarted."""


def score_encoded(
    batch: Sequence[Encoded],
    prefix: list[int],
    vocabulary: int,
    score: Callable[[list[Prompt]], list[LogProbs | Failure]],
) -> list[LogProbs | Failure]:
    """Log-probabilities of each text's ids, from ``score``, which knows prompts.

    ``prefix`` stands before every text. An id that isn't below ``vocabulary`` is refused.
    Without anything to score, ``score`` isn't called: no model need be loaded for that.
    """
    results: list[LogProbs | Failure] = [nothing_scored(len(e.ids)) for e in batch]
    prompts: dict[int, Prompt] = {}
    for i, encoded in enumerate(batch):
        prompt = [*prefix, *encoded.ids.tolist()]
        if max(prompt, default=0) >= vocabulary:
            results[i] = "refused"
        elif len(prompt) > 1:  # vLLM gives the first id of a prompt no score
            prompts[i] = prompt
    lead = nothing_scored(1 - len(prefix))
    rows = score([*prompts.values()]) if prompts else []
    for i, row in zip(prompts, rows, strict=True):
        results[i] = row if isinstance(row, str) else np.concatenate([lead, row])
    return results


class VllmEngine:
    """A causal model run by vLLM, in the number format that is stated.

    Only local files, only safetensors, no code from the checkpoint. Texts are tokenized here
    as for transformers, so that both engines see the same ids; vLLM sees nothing but ids.
    """

    regional = False
    shares_prefixes = False

    def __init__(
        self,
        checkpoint: Path,
        described: Checkpoint,
        options: ScoringOptions,
        model: ServedModel | LoadedModel | None = None,
    ) -> None:
        """Load the tokenizer; vLLM starts with the first batch, unless it is given.

        Raises UserError where vLLM is not installed, or the tokenizer is no use.
        """
        setup = make_setup(checkpoint.parent, described.dtype, options.vllm)
        self._tokenizer = HubTokenizer(checkpoint, described)
        self._prefix = self._tokenizer.prefix
        self._model = model or MODES[options.vllm.mode](setup)
        self._vocabulary = setup.vocabulary
        self.limit = setup.longest - 1 - len(self._prefix)
        self.key = engine_key(VllmEngine, setup.name(), checkpoint, described, ENTRIES)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Tokens without any special token; see ``Engine``."""
        return self._tokenizer.encode(texts)

    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Natural log-probabilities, NaN for the first token under ``skip``; see ``Engine``.

        Raises UserError when vLLM does not start, or dies of everything.
        """
        return score_encoded(batch, self._prefix, self._vocabulary, self._model.logprobs)

    def close(self) -> None:
        """End the server, or release the model."""
        self._model.close()
