"""Scoring with a model behind a vLLM server."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from blimpworks.scoring.engine import Failure, LogProbs
from blimpworks.scoring.vllm_batches import Prompt
from blimpworks.scoring.vllm_client import Served
from blimpworks.scoring.vllm_server import MODEL
from blimpworks.scoring.vllm_setup import Setup

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
