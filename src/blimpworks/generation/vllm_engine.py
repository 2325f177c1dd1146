"""Answers by vLLM: through the chat endpoint of a server, or in the job's own process."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any
from weakref import finalize

from blimpworks.campaign.settings.generation import GenerationJobOptions
from blimpworks.files import new_scratch, remove
from blimpworks.generation.conversation import Conversation, Ready
from blimpworks.generation.engine import Response, generation_key
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.scoring.engine import Failure
from blimpworks.scoring.vllm_client import Served
from blimpworks.scoring.vllm_in_process import Loaded
from blimpworks.scoring.vllm_server import MODEL
from blimpworks.scoring.vllm_setup import Setup, make_setup

SEED = 1407
"""Asked of vLLM, and without effect: the most probable token is taken each time."""
CHAT, RAW = "/v1/chat/completions", "/v1/completions"
SHARED = {"model": MODEL, "temperature": 0, "seed": SEED, "skip_special_tokens": True}
GPU = {"enforce_eager": False, "enable_prefix_caching": True}
"""Arguments that answers have otherwise than scores, on GPUs."""
ENTRIES = (
    "blimpworks.generation.vllm_engine:GenerationSetup",
    "blimpworks.generation.vllm_engine:make_generation_setup",
    "blimpworks.generation.vllm_engine:write_request",
    "blimpworks.generation.vllm_engine:read_response",
    "blimpworks.generation.vllm_engine:LoadedGenerator",
    "blimpworks.scoring.vllm_server:command_line",
)
"""The code that decides answers: not how a server is watched, retried and restarted."""


@dataclass(frozen=True, slots=True)
class GenerationSetup(Setup):
    """A model that vLLM runs with its tokenizer, and the chat template to use."""

    template: str | None = None
    """File with the chat template; None where prompts are sent as they are."""

    def arguments(self) -> dict[str, str | int | float | bool]:
        """The engine's arguments: those of scoring, but with the tokenizer of the model's files.

        On GPUs also CUDA graphs, because an answer takes a forward pass for each token, and one
        computation for the beginning that prompts share, such as a system prompt.
        """
        arguments = Setup.arguments(self)
        arguments |= {"skip_tokenizer_init": False, "tokenizer_mode": "hf"}
        return arguments | GPU if self.gpus else arguments

    def name(self) -> str:
        """All that can move a log-probability, and so decide between two tokens."""
        return f"{Setup.name(self)} graphs, shared prefixes" if self.gpus else Setup.name(self)


class ServerSetup(GenerationSetup):
    """The same for a server, which takes a chat template too."""

    def arguments(self) -> dict[str, str | int | float | bool]:
        """See ``GenerationSetup``; the server alone knows the last two."""
        arguments = GenerationSetup.arguments(self)
        if self.template:
            arguments |= {"chat_template": self.template, "chat_template_content_format": "string"}
        return arguments


def make_generation_setup(model: Path, dtype: str, options: GenerationJobOptions) -> ServerSetup:
    """How to answer with the model in directory ``model``: room for the longest text and answer.

    Raises UserError as ``make_setup`` does.
    """
    vllm = options.vllm
    room = vllm.model_copy(update={"longest": vllm.longest + options.max_tokens - 1})
    setup = make_setup(model, dtype, room)
    named = {each.name: getattr(setup, each.name) for each in fields(setup)}
    return ServerSetup(**named)


def write_request(ready: Ready, stops: Sequence[int]) -> tuple[str, bytes]:
    """Address and body of the HTTP request for one answer."""
    how = SHARED | {"max_tokens": ready.room, "stop_token_ids": list(stops)}
    if ready.messages:
        return CHAT, json.dumps(how | {"messages": ready.conversation}).encode()
    return RAW, json.dumps(how | {"prompt": ready.request.prompt}).encode()


def read_response(body: bytes) -> Response:
    """The answer in what the server says, whichever endpoint was asked."""
    said = json.loads(body)
    choice: dict[str, Any] = said["choices"][0]
    text = choice["message"]["content"] if "message" in choice else choice["text"]
    finish = "length" if choice["finish_reason"] == "length" else "stop"
    return Response(text or "", finish, said["usage"]["completion_tokens"])  # type: ignore[arg-type]


class ServedGenerator(Served[Ready, Response]):
    """Asks through a server, one prompt in a request, many requests at a time."""

    def __init__(self, setup: Setup, conversation: Conversation, in_flight: int) -> None:
        """Prepare; the server is not started yet."""
        super().__init__(setup, 1, in_flight)
        self._stops = conversation.stops

    def write(self, batch: Sequence[Ready]) -> tuple[str, bytes]:
        """See ``write_request``."""
        return write_request(batch[0], self._stops)

    def read(self, body: bytes, batch: Sequence[Ready]) -> list[Response]:
        """See ``read_response``."""
        return [read_response(body) for _ in batch]


class LoadedGenerator(Loaded[Ready, Response]):
    """Asks vLLM's offline API, a shard of prompts at a time."""

    def __init__(self, setup: Setup, conversation: Conversation) -> None:
        """Prepare; nothing is loaded yet."""
        super().__init__(setup)
        self._conversation = conversation

    def generate(self, model: Any, batch: Sequence[Ready]) -> list[Response]:
        """The answer to each prompt."""
        from vllm import SamplingParams

        stops = list(self._conversation.stops)
        how = [
            SamplingParams(temperature=0, seed=SEED, max_tokens=each.room, stop_token_ids=stops)
            for each in batch
        ]
        if self._conversation.chat:
            outputs = model.chat(
                [each.conversation for each in batch],
                how,
                use_tqdm=False,
                chat_template=self._conversation.template,
                chat_template_content_format="string",
            )
        else:
            outputs = model.generate([each.request.prompt for each in batch], how, use_tqdm=False)
        said = (each.outputs[0] for each in outputs)
        return [
            Response(
                each.text,
                "length" if each.finish_reason == "length" else "stop",
                len(each.token_ids),
            )
            for each in said
        ]


class VllmGenerator:
    """A causal model run by vLLM, in the number format that is stated.

    Only local files, only safetensors, no code from the checkpoint.
    """

    def __init__(
        self, checkpoint: Path, described: Checkpoint, options: GenerationJobOptions
    ) -> None:
        """Load the tokenizer; vLLM starts with the first batch.

        Raises UserError where vLLM is not installed, or the chat template is no use.
        """
        directory = checkpoint.parent
        plain = make_generation_setup(directory, described.dtype, options)
        self.conversation = Conversation(directory, options.chat, plain.longest)
        self.limit = plain.longest - 1
        entries = (*ENTRIES, "blimpworks.scoring.vllm_setup:make_setup")
        self.key = generation_key(
            plain.name(), checkpoint, described, self.conversation, options, entries
        )
        self._folder = new_scratch("blimpworks-chat")
        # Removed with this object, even where the next lines raise.
        self._remove = finalize(self, remove, self._folder)
        self._model = self._runner(replace(plain, template=self._template()), options)

    def _template(self) -> str | None:
        """The file from which the server reads the chat template, with the clock stopped."""
        if self.conversation.template is None:
            return None
        path = self._folder / "chat_template.jinja"
        path.write_text(self.conversation.template, encoding="utf-8")
        return str(path)

    def _runner(
        self, setup: ServerSetup, options: GenerationJobOptions
    ) -> ServedGenerator | LoadedGenerator:
        if options.vllm.mode == "served":
            return ServedGenerator(setup, self.conversation, options.in_flight)
        named = {each.name: getattr(setup, each.name) for each in fields(GenerationSetup)}
        return LoadedGenerator(GenerationSetup(**named), self.conversation)

    def generate(self, batch: Sequence[Ready]) -> list[Response | Failure]:
        """See ``GenerationEngine``.

        Raises UserError when vLLM does not start, or dies of everything.
        """
        return self._model.ask(batch)

    def close(self) -> None:
        """End the server, or release the model."""
        self._model.close()
        self._remove()
