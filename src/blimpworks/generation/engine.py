"""Answer prompts with an engine, and store the answers, one row per distinct prompt.

``answer_items`` runs a model and fills its store; ``collect_answers`` makes the table of answers of
one language. A row's key digests the engine's key, the prompt and its system prompt. So a prompt of
several tables is asked once, and no answer of another checkpoint, limit of tokens or template is
reused. A killed run that continues ends with the same files, if no answer depends on the other
prompts of its batch. A *request* is a prompt with its system prompt (``PromptRequest``).
"""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.campaign.engines import choose_generation_engine
from blimpworks.campaign.settings.scoring import GenerationJobOptions, ScoringOptions
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.generation.conversation import Conversation, PromptRequest, Ready
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.records.digest import number_digest
from blimpworks.scoring.engine import Failure, build_engine
from blimpworks.scoring.progress import UNWATCHED, Watch
from blimpworks.scoring.run import ShardRows, Shards, fill_store
from blimpworks.scoring.shards import OK, Manifest, ShardStore
from blimpworks.tables import ANSWERS, PROMPTS, read_table, write_table

log = logging.getLogger(__name__)

ANSWER_CODE = (
    "blimpworks.generation.conversation:Conversation",
    "blimpworks.generation.engine:response_shard",
)
"""Entry points of the code that decides answers of all engines."""


class Response(NamedTuple):
    """A model's answer."""

    text: str
    """Answer with its reasoning, without special tokens."""
    finish: Literal["stop", "length"]
    """Cause of the end: the model stopped, or the answer has the largest number of tokens."""
    tokens: int
    """Number of tokens, the one that ended the answer included."""


class GenerationEngine(ABC):
    """A model that answers prompts; the first batch loads the weights."""

    key: str
    """Text that identifies all that decides answers, except the prompts."""
    conversation: Conversation

    @abstractmethod
    def generate(self, batch: Sequence[Ready]) -> list[Response | Failure]:
        """Return the greedy answer to each prompt, or its failure.

        Prompts that cannot be asked (``Ready.unfit``) must have been left out.
        """

    def close(self) -> None:  # noqa: B027
        """Release all resources, such as a server; afterwards the engine is not used."""


def generation_key(
    software: str,
    checkpoint: Path,
    described: Checkpoint,
    conversation: Conversation,
    options: GenerationJobOptions,
    entries: Sequence[str],
) -> str:
    """Return the ``key`` of an engine with a checkpoint; it changes with all that decides answers.

    ``software`` names versions, device and all else that changes numbers. ``entries``
    (``module:name``) are entry points of the code that decides answers.
    """
    code = number_digest(*entries, *ANSWER_CODE)
    settings = f"max_tokens {options.max_tokens} {conversation.name()}"
    return "|".join((software, code, described.dtype, sha256_of(checkpoint), settings))


def load_generation_engine(
    checkpoint: Path, name: str, options: GenerationJobOptions, trusted: Collection[str] = ()
) -> GenerationEngine:
    """Load the engine ``name`` with a checkpoint. Raises UserError if the model cannot answer."""
    # The choice of an engine reads nothing else of the options than the number format.
    requested = ScoringOptions(dtype=options.dtype)
    choose = partial(choose_generation_engine, name, requested=requested)
    engine: GenerationEngine = build_engine(checkpoint, choose, options, trusted)
    return engine


FAILED: frozenset[str] = frozenset(get_args(Failure))
"""Statuses that another attempt can change: ``out_of_memory``, and ``refused`` by a server. (A
prompt with a token id that the vocabulary lacks is ``refused`` too, at each attempt.)"""
SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("system", pa.string()),
        ("prompt", pa.string()),
        ("text", pa.string()),
        ("finish", pa.string()),  # "stop" or "length"
        ("tokens", pa.int32()),
        ("opened", pa.bool_()),  # whether the chat template began a reasoning
        ("status", pa.string()),
    ]
)


def sort_requests(requests: Iterable[PromptRequest]) -> list[PromptRequest]:
    """Sort requests by length, so that prompts of a batch have similar lengths."""
    return sorted(requests, key=lambda r: (len(r.prompt), r.prompt, r.system or ""))


class ResponseStore(ShardStore[PromptRequest]):
    """The shards of one model's answers, in a directory."""

    schema, failed = SCHEMA, FAILED
    unit, task, retry_setting = "prompt", "answering", "answers.retry_failed"

    @staticmethod
    def content(request: PromptRequest) -> str:
        return json.dumps(request)


def response_shard(
    engine: GenerationEngine, keys: Mapping[PromptRequest, str], most: int
) -> pa.Table:
    """Answer the requests in ``keys``; return one row of ``SCHEMA`` for each.

    ``most``: largest number of tokens of an answer. The status of a prompt is ok if it was
    answered, a ``Failure`` if the model gave none, else an ``Unfit``.
    """
    ready = engine.conversation.ready(keys, most)
    to_ask = [prompt for prompt in ready if prompt.unfit is None]
    answers = iter(engine.generate(to_ask) if to_ask else [])
    # ``answers`` has a ``Response`` or ``Failure`` for each prompt that was asked, in order. Those
    # that were not asked are put in between, with their ``Unfit``.
    outcomes = [next(answers) if prompt.unfit is None else prompt.unfit for prompt in ready]
    altered = sum(prompt.unfit == "altered" for prompt in ready)
    if altered:
        log.warning(
            "%s: %d prompts are not asked, because its chat template drops or changes their text; "
            "set answers.chat: raw to send them as they are.",
            engine.conversation.directory,
            altered,
        )
    responses = [outcome if isinstance(outcome, Response) else None for outcome in outcomes]
    columns = [
        pa.array(keys.values(), pa.string()),
        pa.array([request.system for request in keys], pa.string()),
        pa.array([request.prompt for request in keys], pa.string()),
        pa.array([response and response.text for response in responses], pa.string()),
        pa.array([response and response.finish for response in responses], pa.string()),
        pa.array([response and response.tokens for response in responses], pa.int32()),
        pa.array([prompt.opened for prompt in ready], pa.bool_()),
        pa.array([OK if isinstance(out, Response) else out for out in outcomes], pa.string()),
    ]
    return pa.table(columns, schema=SCHEMA)


Systems = Mapping[str, str]
"""System prompts: the text of each language that has one, by language."""


def requests_of(items: Path, systems: Systems, *, system: bool) -> list[PromptRequest]:
    """Return the request for each row of a language's table, which is named after the language.

    ``system``: whether a request contains the language's system prompt. Raises UserError for a
    missing table and for empty cells.
    """
    column = read_table(PROMPTS, items, ["prompt"])["prompt"]
    if column.null_count:
        raise UserError(
            f"{items}: column 'prompt' has {column.null_count} empty cells; expected a text in "
            "each. Rebuild the items."
        )
    system_prompt = systems.get(items.stem) if system else None
    return [PromptRequest(prompt, system_prompt) for prompt in column.to_pylist()]


def answer_items(
    items: Sequence[Path],
    systems: Systems,
    checkpoint: Path,
    store: Path,
    manifest: Path,
    engine: str,
    options: GenerationJobOptions,
    *,
    trusted: Collection[str] = (),
    watch: Watch = UNWATCHED,
) -> Manifest:
    """Ask a checkpoint (model directory) every distinct prompt of ``items`` with ``engine``.

    ``trusted`` are digests of the model's own code that may run. Answers go into shards below
    ``store``; prompts with answers there are not asked again. ``manifest`` is written last. A run
    that was killed, or that ``watch`` ended by an exception, continues where it stopped. Raises
    UserError if items or checkpoint are missing or malformed, or the checkpoint cannot answer.
    """
    with closing(load_generation_engine(checkpoint, engine, options, trusted)) as loaded:
        with_system = loaded.conversation.chat and options.system
        requests = {path.stem: {*requests_of(path, systems, system=with_system)} for path in items}

        def answer(
            shards: Sequence[Sequence[PromptRequest]], keys: Mapping[PromptRequest, str]
        ) -> ShardRows[PromptRequest]:
            for shard in shards:
                watch.before()
                chosen = {request: keys[request] for request in shard}
                yield shard, response_shard(loaded, chosen, options.max_tokens)

        return fill_store(
            ResponseStore(store),
            requests,
            loaded.key,
            checkpoint,
            manifest,
            options,
            sort_requests,
            answer,
            watch,
            system=with_system,
        )


def collect_answers(items: Path, systems: Systems, shards: Shards, output: Path) -> pa.Table:
    """Write the table of answers to ``items`` from shards, one row for each item in their order.

    Text, finish and tokens are null without an answer. Raises UserError if a table, shard or answer
    is missing, or a shard was altered.
    """
    ids = read_table(PROMPTS, items, ["item_id"])
    if not len(ids):
        table = ANSWERS.arrow().empty_table()
        write_table(table, ANSWERS, output)
        return table
    requests = requests_of(items, systems, system=bool(shards.described.system))
    taken = shards.take(items, ResponseStore, requests)
    columns = {name: taken[name] for name in ("status", "text", "finish", "tokens", "opened")}
    table = pa.table({"item_id": ids["item_id"]} | columns)
    write_table(table, ANSWERS, output)
    answered = pc.sum(pc.equal(table["status"], OK)).as_py()
    log.info("%s: %d items, %d answered", output, len(table), answered)
    return table
