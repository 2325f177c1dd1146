"""From prompts to what a model reads: chat templates, system prompts, dates, and where to stop."""

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from jinja2 import TemplateError
from transformers import AutoTokenizer

from blimpworks.errors import UserError
from blimpworks.generation.reasoning import opens_reasoning

log = logging.getLogger(__name__)

Mode = Literal["template", "raw"]
SystemPlace = Literal["role", "user", "nowhere"]
"""Where a system prompt goes: in a role of its own, before the user's text, or nowhere."""
Message = dict[str, str]
CLOCK = "strftime_now"
"""The function by which chat templates learn the date."""
TODAY = {"d": "26", "m": "07", "y": "24", "Y": "2024", "b": "Jul", "B": "July"}
"""The day that all answers are given on: the one that Llama 3.1's template takes where nobody
names another. (A template that asks for a weekday or an hour gets the letters of its format.)"""
PROBE = "7f3a9c"
"""A text that no template has."""


class PromptRequest(NamedTuple):
    """A prompt, and the system prompt that goes with it."""

    prompt: str
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """A prompt as a model is asked it."""

    request: PromptRequest
    messages: tuple[tuple[str, str], ...]
    """Role and text of each message; none where the prompt is sent as it is."""
    ids: tuple[int, ...]
    """Its tokens, those of the template included."""
    room: int
    """Most tokens that the answer may have."""
    opened: bool = False
    """Whether the template has begun reasoning, so that the answer's text begins inside it."""

    @property
    def conversation(self) -> list[Message]:
        """The messages in OpenAI's form."""
        return [{"role": role, "content": text} for role, text in self.messages]


def pin_date(template: str) -> str:
    """``template`` with the clock stopped at ``TODAY``, unchanged where it does not ask for it.

    Some templates (Llama 3.2's, SmolLM3's) write today's date into each prompt, and answers
    would change from day to day. A macro of the clock's name hides the function from the
    template, wherever that is rendered; Llama's variable ``date_string`` is set from it.
    """
    if CLOCK not in template:
        return template
    filters = "".join(f" | replace('%{letter}', '{text}')" for letter, text in TODAY.items())
    return f"{{%- macro {CLOCK}(format) -%}}{{{{ format{filters} }}}}{{%- endmacro -%}}{template}"


def _ids(value: Any) -> set[int]:
    """Ids of a setting that holds one, some or none."""
    return {
        int(each) for each in (value if isinstance(value, list) else [value]) if each is not None
    }


def _settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return settings if isinstance(settings, dict) else {}


def stop_ids(directory: Path, own: int | None) -> tuple[int, ...]:
    """Tokens that end an answer: the tokenizer's (``own``), and those the model's files name.

    Chat models end a turn with another token than a text, which ``generation_config.json``
    alone tells of some.
    """
    files = ("config.json", "generation_config.json")
    values = (_settings(directory / name).get("eos_token_id") for name in files)
    return tuple(sorted({*_ids(own), *(each for value in values for each in _ids(value))}))


class Conversation:
    """A model's tokenizer and chat template, and how a prompt is put to it."""

    def __init__(
        self, directory: Path, mode: Mode = "template", context: int | None = None
    ) -> None:
        """Load the tokenizer in ``directory``; ``context`` is the most tokens that there can be.

        Raises UserError for a template that cannot be used at all.
        """
        self.directory, self.context = directory, context
        self.tokenizer: Any = AutoTokenizer.from_pretrained(
            directory, local_files_only=True, trust_remote_code=False
        )
        own = self.tokenizer.chat_template if mode == "template" else None
        if isinstance(own, dict):  # several, by what they are for
            own = own.get("default")
        self.template: str | None = pin_date(own) if own else None
        self.stops = stop_ids(directory, self.tokenizer.eos_token_id)

    @property
    def chat(self) -> bool:
        """Whether prompts go into a chat template; else they are sent as they are."""
        return self.template is not None

    def _render(self, messages: Sequence[Message]) -> str:
        text: str = self.tokenizer.apply_chat_template(
            list(messages),
            chat_template=self.template,
            tokenize=False,
            add_generation_prompt=True,
        )
        return text

    @cached_property
    def system_place(self) -> SystemPlace:
        """Where system prompts go. Raises UserError for a template that refuses users too."""
        if not self.chat:
            return "nowhere"
        user = {"role": "user", "content": "x"}
        try:
            self._render([user])
        except TemplateError as error:
            raise UserError(
                f"{self.directory}: its chat template refuses a user's message ({error}); set "
                "answers.chat: raw in the benchmark's settings to send prompts as they are."
            ) from error
        try:
            if PROBE in self._render([{"role": "system", "content": PROBE}, user]):
                return "role"
            reason = "leaves system prompts out"
        except TemplateError as error:
            reason = f"refuses system prompts ({error})"
        log.info("%s: its chat template %s; they go before the user's text", self.directory, reason)
        return "user"

    def messages(self, request: PromptRequest) -> list[Message]:
        """The messages of a conversation that asks for an answer; none where there is no chat."""
        if not self.chat:
            return []
        text, lead = request.prompt, []
        if request.system and self.system_place == "role":
            lead = [{"role": "system", "content": request.system}]
        elif request.system:
            text = f"{request.system}\n\n{request.prompt}"
        return [*lead, {"role": "user", "content": text}]

    def text(self, request: PromptRequest) -> str:
        """What the model reads, template included."""
        return self._render(self.messages(request)) if self.chat else request.prompt

    def ready(self, requests: Iterable[PromptRequest], most: int) -> list[Ready]:
        """Each prompt as it is asked, with room for ``most`` tokens or what the context leaves.

        Room is zero or less for a prompt that is too long.
        """
        requests = list(requests)
        texts = [self.text(each) for each in requests]
        # A template writes the special tokens itself.
        rows = self.tokenizer(texts, add_special_tokens=not self.chat)["input_ids"] if texts else []
        return [
            self._ready(each, text, row, most)
            for each, text, row in zip(requests, texts, rows, strict=True)
        ]

    def _ready(self, request: PromptRequest, text: str, ids: Sequence[int], most: int) -> Ready:
        room = most if self.context is None else min(most, self.context - len(ids))
        said = tuple((each["role"], each["content"]) for each in self.messages(request))
        # What a prompt itself says of reasoning opens none.
        behind = text.rpartition(request.prompt.strip() or PROBE)[2]
        return Ready(request, said, tuple(ids), room, self.chat and opens_reasoning(behind))

    def name(self) -> str:
        """All that decides what a model reads and where it stops, for an engine's key."""
        template = self.template or ""
        place = self.system_place
        mode = f"chat {sha256(template.encode()).hexdigest()[:16]}" if self.chat else "raw"
        return f"{mode} system {place} stops {','.join(map(str, self.stops))}"
