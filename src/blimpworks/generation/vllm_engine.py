"""Answer by vLLM: through a server, or in the job's own process. Both exchange token ids."""

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from blimpworks.campaign.settings.scoring import GenerationJobOptions
from blimpworks.generation.conversation import Conversation, Ready
from blimpworks.generation.engine import Response, generation_key
from blimpworks.generation.transformers_engine import read_row
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.scoring.engine import Failure
from blimpworks.scoring.hub_loading import check_names
from blimpworks.scoring.vllm_client import Served
from blimpworks.scoring.vllm_in_process import Loaded
from blimpworks.scoring.vllm_server import MODEL
from blimpworks.scoring.vllm_setup import Setup, make_setup

SEED = 1407
"""Seed for vLLM, without effect: the most probable token is taken each time."""
SHARED = {"model": MODEL, "temperature": 0, "seed": SEED, "return_token_ids": True}
GPU = {"enforce_eager": False, "enable_prefix_caching": True}
"""Arguments of answers on GPUs that differ from those of scores."""
ENTRIES = (
    "blimpworks.generation.vllm_engine:GenerationSetup",
    "blimpworks.generation.vllm_engine:make_generation_setup",
    "blimpworks.generation.vllm_engine:write_request",
    "blimpworks.generation.vllm_engine:read_response",
    "blimpworks.generation.vllm_engine:LoadedGenerator",
    "blimpworks.scoring.vllm_server:command_line",
)
"""The code that decides answers, without that which watches and restarts a server."""


class GenerationSetup(Setup):
    """A model that vLLM runs to answer; on GPUs with CUDA graphs and shared prefixes."""

    def arguments(self) -> dict[str, str | int | float | bool]:
        """See ``Setup``."""
        arguments = Setup.arguments(self)
        return arguments | GPU if self.gpus else arguments

    def name(self) -> str:
        """Return the set-up as text for keys: it can change which token is most probable."""
        return f"{Setup.name(self)} graphs, shared prefixes" if self.gpus else Setup.name(self)


def make_generation_setup(
    model: Path, dtype: str, options: GenerationJobOptions
) -> GenerationSetup:
    """Prepare to answer with the model in a directory. Raises UserError as ``make_setup``."""
    vllm = options.vllm
    room = vllm.model_copy(update={"longest": vllm.longest + options.max_tokens - 1})
    setup = make_setup(model, dtype, room)
    return GenerationSetup(
        **{setup_field.name: getattr(setup, setup_field.name) for setup_field in fields(setup)}
    )


def write_request(ready: Ready, stops: Sequence[int]) -> bytes:
    """Return the body of the HTTP request for one answer."""
    request = {"prompt": ready.ids, "max_tokens": ready.room, "stop_token_ids": [*stops]}
    return json.dumps(SHARED | request).encode()


def read_response(body: bytes) -> list[int]:
    """Read the generated ids from the server's answer."""
    ids: list[int] = json.loads(body)["choices"][0]["token_ids"]
    return ids


class ServedGenerator(Served[Ready, Response]):
    """Asks through a server, one prompt in a request, many requests at a time."""

    def __init__(self, setup: Setup, conversation: Conversation, in_flight: int) -> None:
        super().__init__(setup, 1, in_flight)
        self._conversation = conversation

    def write(self, batch: Sequence[Ready]) -> tuple[str, bytes]:
        """See ``write_request``."""
        return "/v1/completions", write_request(batch[0], self._conversation.stops)

    def read(self, body: bytes, batch: Sequence[Ready]) -> list[Response]:
        """See ``read_response``."""
        tokenizer, stops = self._conversation.tokenizer, self._conversation.stops
        return [read_row(tokenizer, read_response(body), stops) for _ in batch]


class LoadedGenerator(Loaded[Ready, Response]):
    """Asks vLLM's offline API, a shard of prompts at a time."""

    def __init__(self, setup: Setup, conversation: Conversation) -> None:
        super().__init__(setup)
        self._conversation = conversation

    def generate(self, model: Any, batch: Sequence[Ready]) -> list[Response]:
        """Return the answer to each prompt."""
        from vllm import SamplingParams

        tokenizer, stops = self._conversation.tokenizer, self._conversation.stops
        sampling = [
            SamplingParams(
                temperature=0,
                seed=SEED,
                max_tokens=prompt.room,
                stop_token_ids=list(stops),
                detokenize=False,
            )
            for prompt in batch
        ]
        inputs = [{"prompt_token_ids": list(prompt.ids)} for prompt in batch]
        outputs = model.generate(inputs, sampling, use_tqdm=False)
        return [read_row(tokenizer, prompt.outputs[0].token_ids, stops) for prompt in outputs]


class VllmGenerator:
    """A causal model in vLLM, in the stated number format; runs no code from the checkpoint."""

    def __init__(
        self, checkpoint: Path, described: Checkpoint, options: GenerationJobOptions
    ) -> None:
        """Load the tokenizer. Raises UserError without vLLM, weights or a usable template."""
        directory = checkpoint.parent
        setup = make_generation_setup(directory, described.dtype, options)
        check_names(directory)
        self.conversation = Conversation(directory, options.chat, setup.longest, setup.vocabulary)
        entries = (*ENTRIES, "blimpworks.scoring.vllm_setup:make_setup")
        self.key = generation_key(
            setup.name(), checkpoint, described, self.conversation, options, entries
        )
        self._model = (
            ServedGenerator(setup, self.conversation, options.in_flight)
            if options.vllm.mode == "served"
            else LoadedGenerator(setup, self.conversation)
        )

    def generate(self, batch: Sequence[Ready]) -> list[Response | Failure]:
        """See ``GenerationEngine``. Raises UserError when vLLM does not start, or always dies."""
        return self._model.ask(batch)

    def close(self) -> None:
        """End the server, or release the model."""
        self._model.close()
