"""Answer by vLLM: through a server, or in the job's own process. Both exchange token ids."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from blimpworks.campaign.settings.scoring import GenerationJobOptions
from blimpworks.generation.conversation import Conversation, Ready
from blimpworks.generation.engine import GenerationEngine, Response, generation_key
from blimpworks.generation.transformers_engine import read_row
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.scoring.engine import Failure
from blimpworks.scoring.hub_loading import check_names
from blimpworks.scoring.vllm_client import Loaded, Served
from blimpworks.scoring.vllm_server import MODEL
from blimpworks.scoring.vllm_setup import Setup, make_setup

SEED = 1407
"""Seed for vLLM, without effect: the most probable token is taken each time."""
SHARED = {"model": MODEL, "temperature": 0, "seed": SEED, "return_token_ids": True}
ENTRIES = (
    "blimpworks.generation.vllm_engine:make_generation_setup",
    "blimpworks.generation.vllm_engine:write_request",
    "blimpworks.generation.vllm_engine:read_response",
    "blimpworks.generation.vllm_engine:sampling",
    "blimpworks.scoring.vllm_setup:make_setup",
    "blimpworks.scoring.vllm_server:command_line",
)
"""The code that decides answers, without that which watches and restarts a server."""


def make_generation_setup(model: Path, dtype: str, options: GenerationJobOptions) -> Setup:
    """Prepare to answer with the model in a directory. Raises UserError as ``make_setup``."""
    vllm = options.vllm
    room = vllm.model_copy(update={"longest": vllm.longest + options.max_tokens - 1})
    return replace(make_setup(model, dtype, room), answers=True)


def write_request(ready: Ready, stops: Sequence[int]) -> bytes:
    """Return the body of the HTTP request for one answer."""
    request = {"prompt": ready.ids, "max_tokens": ready.room, "stop_token_ids": [*stops]}
    return json.dumps(SHARED | request).encode()


def read_response(body: bytes) -> list[int]:
    """Read the generated ids from the server's answer."""
    ids: list[int] = json.loads(body)["choices"][0]["token_ids"]
    return ids


def sampling(ready: Ready, stops: Sequence[int]) -> Any:
    """Return the parameters of one answer in process."""
    from vllm import SamplingParams

    return SamplingParams(
        temperature=0,
        seed=SEED,
        max_tokens=ready.room,
        stop_token_ids=list(stops),
        detokenize=False,
    )


class VllmGenerator(GenerationEngine):
    """A causal model in vLLM, in the stated number format; runs no code from the checkpoint.

    A server is sent one prompt in a request, many requests at a time.
    """

    def __init__(
        self, checkpoint: Path, described: Checkpoint, options: GenerationJobOptions
    ) -> None:
        """Load the tokenizer. Raises UserError without vLLM, weights or a usable template."""
        directory = checkpoint.parent
        setup = make_generation_setup(directory, described.dtype, options)
        check_names(directory)
        self.conversation = Conversation(directory, options.chat, setup.longest, setup.vocabulary)
        self.key = generation_key(
            setup.name(), checkpoint, described, self.conversation, options, ENTRIES
        )
        tokenizer, stops = self.conversation.tokenizer, self.conversation.stops

        def generate(model: Any, batch: Sequence[Ready]) -> list[Response]:
            inputs = [{"prompt_token_ids": list(prompt.ids)} for prompt in batch]
            parameters = [sampling(prompt, stops) for prompt in batch]
            outputs = model.generate(inputs, parameters, use_tqdm=False)
            return [read_row(tokenizer, each.outputs[0].token_ids, stops) for each in outputs]

        self._model: Served[Ready, Response] | Loaded[Ready, Response] = (
            Loaded(setup, generate)
            if options.vllm.mode == "in_process"
            else Served(
                setup,
                lambda batch: write_request(batch[0], stops),
                lambda body, _: [read_row(tokenizer, read_response(body), stops)],
                1,
                options.in_flight,
            )
        )

    def generate(self, batch: Sequence[Ready]) -> list[Response | Failure]:
        """See ``GenerationEngine``. Raises UserError when vLLM does not start, or always dies."""
        return self._model.ask(batch)

    def close(self) -> None:
        self._model.close()
