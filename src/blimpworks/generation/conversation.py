"""Turn prompts into a model's input: token ids, with the model's chat template around the prompt.

``Conversation.ready`` takes requests (a prompt, and a system prompt or None). It returns a
``Ready`` for each: the ids, the room for an answer, and the reason if the model is not asked.
"""

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from jinja2 import TemplateError

from blimpworks.errors import UserError
from blimpworks.generation.reasoning import END, START, opens_reasoning
from blimpworks.models.hub_tokenizers import load_tokenizer

log = logging.getLogger(__name__)

Mode = Literal["template", "raw"]  # put prompts into the chat template, or send them as they are
SystemPlace = Literal["role", "user", "nowhere"]
"""Place of a system prompt: its role, before the user's text, or nowhere."""
Message = tuple[str, str]
"""Role and text."""
Unfit = Literal["altered", "empty", "refused", "too_long"]
"""Why a prompt is not asked.

altered: the template changes its text; empty: it has no tokens; refused: a token id is not in the
vocabulary; too_long: the context has no room for an answer.
"""
RENDER_ERRORS = (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors that a template raises for a role, or by a fault for a content that it does not expect."""
CLOCK = "strftime_now"
"""Name of the function by which chat templates get the date."""
TODAY = {"d": "26", "m": "07", "y": "24", "Y": "2024", "b": "Jul", "B": "July"}
"""Date in all prompts, by letter of ``strftime``: the default of Llama 3.1's template. Other
formats, such as ``%H`` for the hour, appear in prompts as they are."""
PROBE = "7f3A9c\nd5E1b8"
"""A text that no template contains, and that shows changes of letters or lines."""


class PromptRequest(NamedTuple):
    """A prompt and its system prompt."""

    prompt: str
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """A prompt as a model's input."""

    request: PromptRequest
    ids: tuple[int, ...]
    """Tokens of the input, with those of the template."""
    room: int
    """Largest number of tokens of the answer."""
    opened: bool = False
    """Whether the template begins a reasoning, which the answer then continues."""
    unfit: Unfit | None = None
    """Why the prompt is not asked; None if it is asked."""


def pin_date(template: str) -> str:
    """Return a template that takes ``TODAY`` for the date.

    Some templates (Llama 3.2's, SmolLM3's) write today's date into each prompt, so that answers
    would change daily. They get the date from the function ``CLOCK``, also Llama's variable
    ``date_string``. A macro of the same name before the template hides this function:

        {%- macro strftime_now(format) -%}
        {{ format | replace('%d', '26') | replace('%m', '07') }}    (and so on)
        {%- endmacro -%}
    """
    if CLOCK not in template:
        return template
    filters = "".join(f" | replace('%{letter}', '{text}')" for letter, text in TODAY.items())
    return f"{{%- macro {CLOCK}(format) -%}}{{{{ format{filters} }}}}{{%- endmacro -%}}{template}"


def stop_ids(directory: Path, end_of_text: int | None) -> tuple[int, ...]:
    """Return the ids that end an answer: ``end_of_text``, and those in the model's settings."""
    values: list[Any] = [end_of_text]
    for path in (directory / "config.json", directory / "generation_config.json"):
        if path.is_file():
            settings = json.loads(path.read_text(encoding="utf-8"))
            nested = settings.get("text_config") or {}  # of models that see or hear
            values += [settings.get("eos_token_id"), nested.get("eos_token_id")]
    stops = (stop for value in values for stop in (value if isinstance(value, list) else [value]))
    # Some files have -1 for no token.
    return tuple(sorted({int(token) for token in stops if token is not None and int(token) >= 0}))


def without_tokens_after(full: Sequence[int], text: Sequence[int]) -> tuple[int, ...]:
    """Return ``full`` without the tokens after ``text``: (1, 7, 8) for [1, 7, 8, 2] and [7, 8].

    ``full`` are a text's ids with those that the tokenizer adds, such as an end symbol.
    """
    size = len(text)
    ends = range(size, len(full) + 1)
    end = next((end for end in ends if [*full[end - size : end]] == [*text]), 0)
    return tuple(full[:end])


class Conversation:
    """A model's tokenizer and chat template."""

    def __init__(
        self,
        directory: Path,
        mode: Mode = "template",
        context: int | None = None,
        vocabulary: int | None = None,
    ) -> None:
        """Load the tokenizer.

        ``context``: largest number of tokens; ``vocabulary``: number of ids; None if unknown.
        """
        self.directory, self.context, self.vocabulary = directory, context, vocabulary
        loaded = load_tokenizer(directory)
        self.tokenizer: Any = loaded.tokenizer
        self._variant = loaded.variant
        template = self.tokenizer.chat_template if mode == "template" else None
        if isinstance(template, dict):  # templates for several purposes
            if "default" not in template:
                raise UserError(
                    f"{directory}: its chat templates are for {', '.join(template)}, and none is "
                    "the default; name the one to use 'default', or set answers.chat: raw in the "
                    "benchmark's settings to send prompts as they are."
                )
            template = template["default"]
        self.template: str | None = pin_date(template) if template else None
        self.stops = stop_ids(directory, self.tokenizer.eos_token_id)
        added = self.tokenizer.added_tokens_decoder.items()
        special = {token_id: token.content for token_id, token in added if token.special}
        # Answers keep the marks <think> and </think>, even if they are special tokens (``decode``).
        self._has_special_marks = not {START, END}.isdisjoint(special.values())
        self._left_out = {number for number, text in special.items() if text not in (START, END)}

    @property
    def chat(self) -> bool:
        """Whether prompts go into a chat template; otherwise they stay unchanged."""
        return self.template is not None

    def _render(self, messages: Sequence[Message], *, as_lists: bool) -> str:
        """Render messages, with contents as texts or as lists of one text."""
        rendered: str = self.tokenizer.apply_chat_template(
            [
                {"role": role, "content": [{"type": "text", "text": text}] if as_lists else text}
                for role, text in messages
            ],
            chat_template=self.template,
            tokenize=False,
            add_generation_prompt=True,
        )
        return rendered

    @cached_property
    def parts(self) -> bool:
        """Whether contents of messages are lists: [{"type": "text", "text": "Hi"}], not "Hi".

        Raises UserError for a template that keeps a user's text in neither form.
        """
        reason = ""
        for as_lists in (False, True):
            try:
                if PROBE in self._render([("user", PROBE)], as_lists=as_lists):
                    return as_lists
                reason = reason or "drops or changes a user's text"
            except RENDER_ERRORS as error:
                reason = reason or f"refuses a user's message ({error})"
        raise UserError(
            f"{self.directory}: its chat template {reason}; set answers.chat: raw in the "
            "benchmark's settings to send prompts as they are."
        )

    @cached_property
    def system_place(self) -> SystemPlace:
        """Place of system prompts. Raises UserError as ``parts`` does."""
        if not self.chat:
            return "nowhere"
        as_lists = self.parts
        try:
            if PROBE in self._render([("system", PROBE), ("user", "x")], as_lists=as_lists):
                return "role"
            reason = "leaves system prompts out or changes them"
        except RENDER_ERRORS as error:
            reason = f"refuses system prompts ({error})"
        log.info("%s: its chat template %s; they go before the user's text", self.directory, reason)
        return "user"

    def text(self, request: PromptRequest) -> str | None:
        """Return the input text of a prompt; None if the template alters the prompt."""
        prompt, system = request
        if not self.chat:
            return prompt
        # The first dialogue is taken of which the template keeps all contents: if possible with
        # the role of system prompts, else with the system prompt before the user's text.
        dialogues = [[("user", f"{system}\n\n{prompt}" if system else prompt)]]
        if system and self.system_place == "role":
            dialogues.insert(0, [("system", system), ("user", prompt)])
        for messages in dialogues:
            try:
                text = self._render(messages, as_lists=self.parts)
            except RENDER_ERRORS:
                continue
            # A template may trim a text.
            if all(content.strip() in text for _, content in messages):
                return text
        return None

    def ready(self, requests: Iterable[PromptRequest], most: int) -> list[Ready]:
        """Prepare each prompt, for answers of at most ``most`` tokens that fit the context.

        Raw prompts keep the tokens that the tokenizer puts before a text, but not those after it.
        """
        requests = list(requests)
        texts = [self.text(request) for request in requests]
        if not texts:
            return []
        inputs = [text or "" for text in texts]
        # A template writes the special tokens itself.
        rows = self.tokenizer(inputs, add_special_tokens=False)["input_ids"]
        if not self.chat:
            with_added_ids = self.tokenizer(inputs)["input_ids"]
            rows = [without_tokens_after(*pair) for pair in zip(with_added_ids, rows, strict=True)]
        ready = []
        for request, text, ids in zip(requests, texts, rows, strict=True):
            room = most if self.context is None else min(most, self.context - len(ids))
            unfit: Unfit | None = None
            if text is None:
                unfit = "altered"
            elif not ids:
                unfit = "empty"
            elif self.vocabulary is not None and max(ids) >= self.vocabulary:
                unfit = "refused"
            elif room < 1:
                unfit = "too_long"
            # Look for ``<think>`` only after the prompt, which may mention it. For a blank prompt,
            # look at the complete text: it does not contain PROBE, so ``rpartition`` returns all.
            text_after_prompt = (text or "").rpartition(request.prompt.strip() or PROBE)[2]
            opened = self.chat and opens_reasoning(text_after_prompt)
            ready.append(Ready(request, tuple(ids), room, opened, unfit))
        return ready

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of an answer without special tokens, but with marks of reasoning."""
        # The tokenizer can leave out only all special tokens. If marks of reasoning are special,
        # the other special tokens are left out here instead.
        leave_out_all = not self._has_special_marks
        kept = [*ids] if leave_out_all else [token for token in ids if token not in self._left_out]
        text: str = self.tokenizer.decode(
            kept, skip_special_tokens=leave_out_all, clean_up_tokenization_spaces=False
        )
        return text

    def name(self) -> str:
        """Return text for an engine's key: all that decides inputs, stops and decoded answers."""
        template = (self.template or "").encode()
        mode = f"chat {sha256(template).hexdigest()[:16]}" if self.chat else "raw"
        stops = ",".join(map(str, self.stops))
        marks = " special marks" if self._has_special_marks else ""
        return f"{mode} system {self.system_place} stops {stops}{marks}{self._variant}"
