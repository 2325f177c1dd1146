"""Scoring with causal models through vLLM, served or in process."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.scoring.engine import Encoded, Failure, LogProbs, engine_key
from blimpworks.scoring.hub_tokenizer import HubTokenizer
from blimpworks.scoring.plan import nothing_scored
from blimpworks.scoring.vllm_client import Prompt, Served
from blimpworks.scoring.vllm_in_process import LoadedModel
from blimpworks.scoring.vllm_server import MODEL
from blimpworks.scoring.vllm_setup import Setup, make_setup

# One token must be generated; which one is of no interest.
REQUEST = {"model": MODEL, "prompt_logprobs": 0, "max_tokens": 1, "temperature": 0}


def read_response(body: bytes, prompts: Sequence[Prompt]) -> list[LogProbs]:
    """Log-probabilities of each prompt's ids after the first, from an answer to a request."""
    import orjson  # in vLLM's environments; thrice as fast as json, on answers of megabytes

    choices: list[dict[str, Any]] = orjson.loads(body)["choices"]
    choices.sort(key=lambda choice: int(choice["index"]))
    return [
        np.array(
            [
                place[str(number)]["logprob"]
                for number, place in zip(prompt[1:], choice["prompt_logprobs"][1:], strict=True)
            ],
            dtype=np.float32,
        )
        for prompt, choice in zip(prompts, choices, strict=True)
    ]


def write_request(prompts: Sequence[Prompt]) -> bytes:
    """Body of the request that ``read_response`` reads the answer to."""
    import orjson

    body: bytes = orjson.dumps(REQUEST | {"prompt": prompts})
    return body


class ServedModel(Served[Prompt, LogProbs]):
    """Scores prompts through a server, which starts with the first of them; see ``Served``."""

    def __init__(self, setup: Setup) -> None:
        """Prepare; the server is not started yet."""
        super().__init__(setup, setup.options.prompts, setup.options.in_flight)

    def write(self, batch: Sequence[Prompt]) -> tuple[str, bytes]:
        """See ``write_request``."""
        return "/v1/completions", write_request(batch)

    def read(self, body: bytes, batch: Sequence[Prompt]) -> list[LogProbs]:
        """See ``read_response``."""
        return read_response(body, batch)

    def logprobs(self, prompts: list[Prompt]) -> list[LogProbs | Failure]:
        """Log-probabilities of each prompt's ids after the first, or why there are none.

        Raises UserError when the server does not start, or dies of everything.
        """
        return self.ask(prompts)


MODES: dict[str, type[ServedModel] | type[LoadedModel]] = {
    "served": ServedModel,
    "in_process": LoadedModel,
}
ENTRIES = (
    "blimpworks.scoring.hub_tokenizer:HubTokenizer",
    "blimpworks.scoring.vllm_setup:make_setup",
    "blimpworks.scoring.vllm_server:command_line",
    "blimpworks.scoring.vllm_engine:score_encoded",
    "blimpworks.scoring.vllm_engine:write_request",
    "blimpworks.scoring.vllm_engine:read_response",
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
    abreast = 1

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
