"""Score with causal models through vLLM, served or in process."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.scoring.engine import Encoded, Failure, LogProbs, engine_key
from blimpworks.scoring.hub_loading import HubTokenizer, check_names
from blimpworks.scoring.logits import TOLERANCE, find_dtype
from blimpworks.scoring.selftest import Findings, StartedEngine, gap_behind, marked_key
from blimpworks.scoring.store import nothing_scored
from blimpworks.scoring.vllm_client import Loaded, Prompt, Served
from blimpworks.scoring.vllm_server import MODEL
from blimpworks.scoring.vllm_setup import Setup, make_setup

LOWEST = -9999.0
"""vLLM's server's answer for the logarithm of zero."""
# One token must be generated; which one is of no interest.
REQUEST = {"model": MODEL, "prompt_logprobs": 0, "max_tokens": 1, "temperature": 0}


def read_response(body: bytes, prompts: Sequence[Prompt]) -> list[LogProbs]:
    """Read log-probabilities of each prompt's ids after the first from an answer."""
    import orjson  # in vLLM's environments; thrice as fast as json, on answers of megabytes

    choices: list[dict[str, Any]] = orjson.loads(body)["choices"]
    choices.sort(key=lambda choice: int(choice["index"]))
    return [
        np.array(
            [
                position[str(number)]["logprob"]
                for number, position in zip(prompt[1:], choice["prompt_logprobs"][1:], strict=True)
            ],
            dtype=np.float32,
        )
        for prompt, choice in zip(prompts, choices, strict=True)
    ]


def write_request(prompts: Sequence[Prompt]) -> bytes:
    """Return the body of the request whose answer ``read_response`` reads."""
    import orjson

    body: bytes = orjson.dumps(REQUEST | {"prompt": prompts})
    return body


def sampling() -> Any:
    """Return the parameters of a prompt, in the form that ``read_flat`` reads."""
    from vllm import SamplingParams

    parameters = SamplingParams(
        prompt_logprobs=0, max_tokens=1, temperature=0, detokenize=False, flat_logprobs=True
    )
    # Else each request gets a deep copy of them, a twentieth of the time of short sentences.
    if hasattr(parameters, "skip_clone"):  # older ones have no such switch
        parameters.skip_clone = True
    return parameters


def read_flat(flat: Any) -> LogProbs:
    """Read vLLM's flat log-probabilities, which have no entry for the first id."""
    return np.maximum(np.array(flat.logprobs, dtype=np.float32), LOWEST)


def generate(model: Any, batch: Sequence[Prompt]) -> list[LogProbs]:
    """Return log-probabilities of each prompt's ids after the first, by vLLM's ``LLM``."""
    inputs = [{"prompt_token_ids": prompt} for prompt in batch]
    outputs = model.generate(inputs, sampling(), use_tqdm=False)
    return [read_flat(output.prompt_logprobs) for output in outputs]


Model = Served[Prompt, LogProbs] | Loaded[Prompt, LogProbs]


def make_model(setup: Setup) -> Model:
    """Prepare to run a model, in the mode of its options."""
    options = setup.options
    if options.mode == "in_process":
        return Loaded(setup, generate)
    return Served(setup, write_request, read_response, options.prompts, options.in_flight)


ENTRIES = (
    "blimpworks.scoring.hub_loading:HubTokenizer",
    "blimpworks.scoring.vllm_setup:make_setup",
    "blimpworks.scoring.vllm_server:command_line",
    "blimpworks.scoring.vllm_engine:score_encoded",
    "blimpworks.scoring.vllm_engine:write_request",
    "blimpworks.scoring.vllm_engine:read_response",
    "blimpworks.scoring.vllm_engine:sampling",
    "blimpworks.scoring.vllm_engine:read_flat",
)
"""The code that decides numbers, without that which watches and restarts a server."""


def score_encoded(
    batch: Sequence[Encoded],
    prefix: list[int],
    vocabulary: int,
    score: Callable[[list[Prompt]], list[LogProbs | Failure]],
) -> list[LogProbs | Failure]:
    """Return log-probabilities of each text's ids from ``score``, which takes prompts.

    ``prefix`` precedes every text. An id not below ``vocabulary`` is refused. Without anything to
    score, ``score`` isn't called, and no model is loaded.
    """
    results: list[LogProbs | Failure] = [nothing_scored(len(e.ids)) for e in batch]
    prompts: dict[int, Prompt] = {}
    for i, encoded in enumerate(batch):
        prompt = [*prefix, *encoded.ids.tolist()]
        if max(prompt, default=0) >= vocabulary:
            results[i] = "refused"
        elif len(prompt) > max(1, len(prefix)):
            prompts[i] = prompt
    rows = score([*prompts.values()]) if prompts else []
    for i, row in zip(prompts, rows, strict=True):
        if not isinstance(row, str):
            row[np.isnan(row)] = np.inf  # no score, rather than a token that isn't scored
        # vLLM gives the first id of a prompt no score.
        results[i] = (
            row if isinstance(row, str) else np.concatenate([nothing_scored(1), row])[len(prefix) :]
        )
    return results


class VllmEngine(StartedEngine):
    """A causal model in vLLM, in the stated number format.

    Only local safetensors, no code from the checkpoint. Texts are tokenized here as for
    transformers, so that both engines see the same ids.
    """

    def __init__(
        self,
        checkpoint: Path,
        described: Checkpoint,
        options: ScoringOptions,
        model: Model | None = None,
    ) -> None:
        """Load the tokenizer; the first batch starts vLLM. Raises UserError without vLLM."""
        setup = make_setup(checkpoint.parent, described.dtype, options.vllm)
        self._directory = checkpoint.parent
        self._dtype = find_dtype(checkpoint, described.dtype)
        self.tokenizer = HubTokenizer(checkpoint, described)
        self._model = model or make_model(setup)
        self._vocabulary = setup.vocabulary
        self._longest = setup.longest
        name = setup.name() + self.tokenizer.variant
        self.key = self._bare = engine_key(VllmEngine, name, checkpoint, described, ENTRIES)

    @property
    def limit(self) -> int:
        return self._longest - 1 - len(self.tokenizer.prefix)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        return self.tokenizer.encode(texts)

    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Return natural log-probabilities. Raises UserError when vLLM does not start, or dies."""
        return score_encoded(batch, self.tokenizer.prefix, self._vocabulary, self._model.ask)

    def self_test(self) -> Findings:
        """Test the model in vLLM. Raises UserError for one that looks ahead or gives no numbers."""
        checks = {"weights": check_names(self._directory), "tokenizer": self.tokenizer.source}
        checks["limit"] = str(self._longest - 1)
        beyond = [frame_id for frame_id in self.tokenizer.prefix if frame_id >= self._vocabulary]
        if beyond:
            raise UserError(
                f"{self._directory}: the first token has the id {beyond[0]}, but the model knows "
                f"{self._vocabulary} ids; expected one below. Choose another first token."
            )
        special = self.tokenizer.hub.all_special_ids
        ids = np.setdiff1d(np.arange(self._vocabulary, dtype=np.int32), special)
        ahead = gap_behind(self.logprobs, ids, min(64, self.limit))
        if not ahead <= TOLERANCE[self._dtype]:
            raise UserError(
                f"{self._directory}: log-probabilities by vLLM are no numbers, or change by "
                f"{ahead:.2g} nats with what follows; expected a causal model with all its "
                "weights. Score it with the engine transformers, which says what is wrong."
            )
        checks["causality"] = "no token depends on what follows it"
        return Findings(checks=checks)

    def follow(self, decisions: Mapping[str, str]) -> None:
        super().follow(decisions)
        self.key = marked_key(self._bare, decisions)

    def close(self) -> None:
        self._model.close()
