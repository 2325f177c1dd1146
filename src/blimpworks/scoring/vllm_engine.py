"""Score with causal models through vLLM, by a server or in this process.

Texts are tokenized here and sent as *prompts*: lists of ids, for which vLLM returns the
log-probability of each id. ``VllmEngine`` hands prompts to a ``ServedModel`` (HTTP requests, with
retries and restarts of the server) or to an ``InProcessModel``. Both divide the prompts into
batches by ``run_batches``. The generation of answers uses them too.
"""

import gc
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import numpy as np
import torch

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import TransientError, UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.scoring import selftest
from blimpworks.scoring.engine import Encoded, Failure, LogProbs, engine_key
from blimpworks.scoring.hub_loading import DTYPES, TOLERANCE, HubTokenizer, check_names
from blimpworks.scoring.store import nothing_scored
from blimpworks.scoring.vllm_server import MODEL, Setup, Trouble, VllmServer, is_full, make_setup

Prompt = list[int]  # ids
P = TypeVar("P")  # a request to vLLM, such as a prompt
R = TypeVar("R")  # its result, such as log-probabilities
Outcome = list[R] | Trouble
"""Results of a batch, or why it has none; see ``Trouble``."""
Attempt = Callable[[list[list[P]]], list[Outcome[R]]]
"""Function that runs batches, and returns the outcome of each."""


def cut(numbers: Sequence[int], size: int) -> list[list[int]]:
    """Divide numbers into consecutive lists of at most ``size``."""
    return [list(numbers[a : a + size]) for a in range(0, len(numbers), size)]


def run_batches(requests: Sequence[P], size: int, attempt: Attempt[P, R]) -> list[R | Failure]:
    """Run requests in batches of ``size`` and return the result or failure of each request.

    A batch that is refused or too large is halved, until only the request that causes this is left.
    The requests of a deadly batch are run one by one. ``attempt`` must raise an exception when no
    further attempt can succeed, or this function would not end.
    """
    results: list[R | Failure | None] = [None] * len(requests)
    pending = cut(range(len(requests)), size)
    while pending:
        batches, pending = pending, []
        outcomes = attempt([[requests[i] for i in batch] for batch in batches])
        for batch, outcome in zip(batches, outcomes, strict=True):
            if not isinstance(outcome, str):
                for number, row in zip(batch, outcome, strict=True):
                    results[number] = row
            elif outcome in ("lost", "stray"):
                pending.append(batch)
            elif outcome == "deadly":  # another start of the server takes longer than many requests
                pending += cut(batch, 1)
            elif len(batch) > 1:
                pending += cut(batch, (len(batch) + 1) // 2)
            else:
                results[batch[0]] = cast(Failure, outcome)
    return cast(list[R | Failure], results)


log = logging.getLogger(__name__)
SHUTDOWN_TIMEOUT = 20.0
"""Longest wait for the end of a server that no longer answers [s]."""


class ServedModel(Generic[P, R]):
    """Sends requests to a vLLM server, which is started at the first request.

    A server that died is started again and gets the missing batches one at a time. The requests of
    a batch that kills it again are sent one by one, until the deadly request is found and marked.
    If the server dies too often in a row (``VllmOptions.restarts``), an error is raised.
    """

    def __init__(
        self,
        setup: Setup,
        write: Callable[[Sequence[P]], bytes],
        read: Callable[[bytes, Sequence[P]], list[R]],
        size: int,
        in_flight: int,
    ) -> None:
        """Prepare to send batches of ``size`` requests by HTTP, ``in_flight`` batches at a time.

        ``write`` makes the body of the HTTP request for a batch, and ``read`` reads the answer.
        """
        self._setup, self._write, self._read, self._size = setup, write, read, size
        self.server: VllmServer | None = None
        """Present server; None before the first request, and after a death."""
        self._usual_in_flight = self._in_flight = in_flight
        self._deaths_in_a_row = 0
        # A request that was answered. A new server gets this request first. If the server does not
        # answer it, the server is broken, and no other request is the cause of its death.
        self._answered: list[P] = []
        self._is_sound = True  # whether the present server has answered ``_answered``

    def ask(self, requests: Sequence[P]) -> list[R | Failure]:
        """Return the result or failure of each request.

        Raises UserError if the server does not start, or dies before any answer; TransientError if
        it starts too slowly, or dies again and again after an answer.
        """
        self._in_flight = self._usual_in_flight
        return run_batches(requests, self._size, self._attempt)

    def close(self) -> None:
        if self.server:
            self.server.stop()
        self.server = None

    def _attempt(self, batches: list[list[P]]) -> list[Outcome[R]]:
        """Send batches to the server, and find the cause if it dies ("lost" batches).

        - Another server answered ("stray"), or the new server failed on a request that an earlier
          server had answered: no request is the cause.
        - Several batches were in flight: the cause is unknown, and they are sent one by one.
        - One batch was in flight: it is the cause. A single request gets a ``Failure``. A larger
          batch is "deadly" and is divided; such a death is not counted, since it helps the search.
        """
        server = self.server or self._start()
        with ThreadPoolExecutor(self._in_flight) as threads:
            outcomes = list(threads.map(self.send, batches))
        for batch, outcome in zip(batches, outcomes, strict=True):
            if isinstance(outcome, list):
                self._deaths_in_a_row, self._answered = 0, batch[:1]
        if "lost" not in outcomes and "stray" not in outcomes:
            return outcomes
        server.await_end(SHUTDOWN_TIMEOUT)
        ran_full = server.ran_full()
        if "stray" in outcomes or not self._is_sound:  # no request is the cause
            self._deaths_in_a_row += 1
        elif self._in_flight == 1 and "out_of_memory" not in outcomes:
            # A batch with the answer "out_of_memory" would be the cause, and is halved anyway.
            cause = outcomes.index("lost")
            is_single = len(batches[cause]) == 1
            self._deaths_in_a_row += is_single
            mark: Trouble = "out_of_memory" if ran_full else "refused"
            outcomes[cause] = mark if is_single else "deadly"
        self._in_flight = 1
        if ran_full:
            self._usual_in_flight = 1
        # An answer shows that the setup works: the machine is the cause, and may work later.
        error_class = TransientError if self._answered else UserError
        error = server.failure(f"failed, {self._deaths_in_a_row} times in a row", error_class)
        self.close()
        if self._deaths_in_a_row > self._setup.options.restarts:
            raise error
        log.warning("the vLLM server failed; it is started again, and sent what is missing")
        return outcomes

    def _start(self) -> VllmServer:
        """Start a server, and send it a request that an earlier server has answered."""
        self.server = VllmServer(self._setup)
        self.server.start()
        if self._answered:
            self._is_sound = isinstance(self.send(self._answered), list)
            if self._is_sound:
                self._deaths_in_a_row = 0
        return self.server

    def send(self, batch: list[P]) -> Outcome[R]:
        """Send one HTTP request, and return the results, or the trouble that it had."""
        assert self.server is not None
        answer = self.server.post(self._write(batch))
        return answer if isinstance(answer, str) else self._read(answer, batch)


class InProcessModel(Generic[P, R]):
    """Runs requests through vLLM's offline API in this process; the first loads the model."""

    def __init__(self, setup: Setup, generate: Callable[[Any, Sequence[P]], list[R]]) -> None:
        """Take ``generate``, which returns a batch's results from vLLM's ``LLM`` and the batch."""
        self._setup, self._generate = setup, generate

    def ask(self, requests: Sequence[P]) -> list[R | Failure]:
        """Return the result or failure of each request. Raises UserError if loading fails."""
        size = max(1, len(requests))
        return run_batches(requests, size, lambda batches: [*map(self._run, batches)])

    def close(self) -> None:
        self.__dict__.pop("_model", None)
        gc.collect()

    @cached_property
    def _model(self) -> Any:
        # vLLM reads these variables at its import. No second process can then outlive this one.
        environment = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
        os.environ.update(self._setup.environment() | environment)
        if not self._setup.gpus:  # torch chose a number if it was imported before
            torch.set_num_threads(self._setup.options.threads)
        from vllm import LLM

        try:
            return LLM(**self._setup.arguments())
        except Exception as error:
            # The class can be OSError, pydantic's ValidationError and many others.
            message = " ".join(str(error).split())[:300]
            raise UserError(
                f"{self._setup.model}: vLLM cannot load the model ({message}); correct the cause, "
                "or choose the engine transformers."
            ) from error

    def _run(self, batch: Sequence[P]) -> Outcome[R]:
        model = self._model
        from vllm.exceptions import VLLMValidationError

        try:
            return self._generate(model, batch)
        except VLLMValidationError:
            return "refused"
        except (RuntimeError, MemoryError) as error:
            if not is_full(str(error)) and not isinstance(error, MemoryError):
                raise
            # Unload the model, or vLLM would go on with this batch's requests in the next call.
            self.close()
            return "out_of_memory"


ALIKE = 1e-3
"""Random tokens' log-probabilities differ by less if the weights were not loaded [nats]."""
LOWEST = -9999.0
"""Value that vLLM's server sends for the logarithm of zero."""
# vLLM must generate one token, which is not used.
REQUEST = {"model": MODEL, "prompt_logprobs": 0, "max_tokens": 1, "temperature": 0}


def read_response(body: bytes, prompts: Sequence[Prompt]) -> list[LogProbs]:
    """Read the log-probabilities of each prompt's ids after the first, from an HTTP answer.

    For the id 42, an answer's list ``prompt_logprobs`` has ``{"42": {"logprob": -1.5, …}, …}``.
    """
    import orjson  # comes with vLLM; three times as fast as json for answers of megabytes

    choices: list[dict[str, Any]] = orjson.loads(body)["choices"]
    choices.sort(key=lambda choice: int(choice["index"]))
    results = []
    for prompt, choice in zip(prompts, choices, strict=True):
        positions = zip(prompt[1:], choice["prompt_logprobs"][1:], strict=True)
        logprobs = [position[str(number)]["logprob"] for number, position in positions]
        results.append(np.array(logprobs, dtype=np.float32))
    return results


def write_request(prompts: Sequence[Prompt]) -> bytes:
    """Return the body of the HTTP request for prompts; ``read_response`` reads the answer."""
    import orjson

    body: bytes = orjson.dumps(REQUEST | {"prompt": prompts})
    return body


def sampling() -> Any:
    """Return vLLM's parameters for prompts, with results that ``read_flat`` reads."""
    from vllm import SamplingParams

    parameters = SamplingParams(
        prompt_logprobs=0, max_tokens=1, temperature=0, detokenize=False, flat_logprobs=True
    )
    # Otherwise each request copies them, which takes a twentieth of the time of short sentences.
    if hasattr(parameters, "skip_clone"):  # older versions have no such switch
        parameters.skip_clone = True
    return parameters


def read_flat(flat: Any) -> LogProbs:
    """Return the log-probabilities of one prompt's ids after the first, from vLLM's flat list."""
    return np.maximum(np.array(flat.logprobs, dtype=np.float32), LOWEST)  # as the server does


def generate(model: Any, batch: Sequence[Prompt]) -> list[LogProbs]:
    """Return the log-probabilities of each prompt's ids after the first, by vLLM's ``LLM``."""
    inputs = [{"prompt_token_ids": prompt} for prompt in batch]
    outputs = model.generate(inputs, sampling(), use_tqdm=False)
    return [read_flat(output.prompt_logprobs) for output in outputs]


Model = ServedModel[Prompt, LogProbs] | InProcessModel[Prompt, LogProbs]


def make_model(setup: Setup) -> Model:
    """Prepare to run a model by a server or in this process, as its options say."""
    options = setup.options
    if options.mode == "in_process":
        return InProcessModel(setup, generate)
    return ServedModel(setup, write_request, read_response, options.prompts, options.in_flight)


ENTRIES = (
    "blimpworks.scoring.hub_loading:HubTokenizer",
    "blimpworks.scoring.vllm_server:make_setup",
    "blimpworks.scoring.vllm_server:command_line",
    "blimpworks.scoring.vllm_engine:score_encoded",
    "blimpworks.scoring.vllm_engine:write_request",
    "blimpworks.scoring.vllm_engine:read_response",
    "blimpworks.scoring.vllm_engine:sampling",
    "blimpworks.scoring.vllm_engine:read_flat",
)
"""Functions and classes that decide log-probabilities, for the key of scores. Code that only runs
the server is not among them, so that a change to it keeps scores valid."""


def score_encoded(
    batch: Sequence[Encoded],
    prefix: list[int],
    vocabulary: int,
    score: Callable[[list[Prompt]], list[LogProbs | Failure]],
) -> list[LogProbs | Failure]:
    """Return the log-probabilities of each text's ids, by a function ``score`` of prompts.

    A prompt is ``prefix`` and the text's ids. A text with an id of ``vocabulary`` or above is
    refused. If no text has an id to score, ``score`` is not called, so that no model is loaded.
    """
    results: list[LogProbs | Failure] = [nothing_scored(len(e.ids)) for e in batch]
    prompts: dict[int, Prompt] = {}
    for i, text in enumerate(batch):
        prompt = [*prefix, *text.ids.tolist()]
        if max(prompt, default=0) >= vocabulary:
            results[i] = "refused"
        elif len(prompt) > max(1, len(prefix)):  # vLLM scores all ids but the first
            prompts[i] = prompt
    rows = score([*prompts.values()]) if prompts else []
    for i, row in zip(prompts, rows, strict=True):
        if isinstance(row, str):
            results[i] = row
            continue
        row[np.isnan(row)] = np.inf  # NaN means "not scored", so the model's NaN is marked by inf
        # The row begins at the prompt's second id. Put a value before it, and cut the prefix off.
        results[i] = np.concatenate([nothing_scored(1), row])[len(prefix) :]
    return results


class VllmEngine(selftest.StartedEngine):
    """A causal model in vLLM, in its checkpoint's number format.

    Only local safetensors are loaded, and no code of the checkpoint is run. Texts are tokenized as
    for the engine transformers, so that both engines score the same ids.
    """

    encodes_apart = True

    def __init__(
        self,
        checkpoint: Path,
        described: Checkpoint,
        options: ScoringOptions,
        model: Model | None = None,
    ) -> None:
        """Load the tokenizer; the first batch starts vLLM. Raises UserError if vLLM is missing."""
        setup = make_setup(checkpoint.parent, described.dtype, options.vllm)
        self._directory = checkpoint.parent
        self._dtype = DTYPES[described.dtype]
        self.tokenizer = HubTokenizer(checkpoint, described)
        self._model = model or make_model(setup)
        self._vocabulary = setup.vocabulary
        self._longest = setup.longest
        name = setup.name() + self.tokenizer.variant
        # The key is ``_bare`` with the self-test's decisions, which ``follow`` appends.
        self.key = self._bare = engine_key(VllmEngine, name, checkpoint, described, ENTRIES)

    @property
    def limit(self) -> int:
        return self._longest - 1 - len(self.tokenizer.prefix)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        return self.tokenizer.encode(texts)

    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Return natural log-probabilities. Raises UserError if vLLM does not start, or dies."""
        return score_encoded(batch, self.tokenizer.prefix, self._vocabulary, self._model.ask)

    def self_test(self) -> selftest.Findings:
        """Test the model in vLLM. Raises UserError if it looks ahead, or results are no numbers."""
        checks = {"weights": check_names(self._directory), "tokenizer": self.tokenizer.source}
        checks["limit"] = str(self._longest - 1)
        hub, prefix = self.tokenizer.hub, self.tokenizer.prefix
        ids = selftest.ordinary_ids(hub, prefix, self._vocabulary, self._directory)
        later_gap = selftest.gap_by_later(self.logprobs, ids, min(64, self.limit))
        if not later_gap <= TOLERANCE[self._dtype]:
            raise UserError(
                f"{self._directory}: log-probabilities by vLLM are no numbers, or change by "
                f"{later_gap:.2g} nats with what follows; expected a causal model with all its "
                "weights. Score it with the engine transformers, which says what is wrong."
            )
        checks["causality"] = "no token depends on what follows it"
        random_ids = np.random.default_rng(0).choice(ids, min(64, self.limit)).astype(np.int32)
        (row,) = self.logprobs(selftest.encoded([random_ids]))
        if not isinstance(row, str) and len(row) > 2 and np.ptp(row[1:]) < ALIKE:
            raise UserError(
                f"{self._directory}: vLLM gives {len(row) - 1} tokens drawn at random the same "
                f"log-probability, {row[-1]:.2f}; expected different ones. It did not load the "
                "weights by their names; score the model with the engine transformers."
            )
        return selftest.Findings(checks=checks)

    def follow(self, decisions: Mapping[str, str]) -> None:
        super().follow(decisions)
        self.key = selftest.marked_key(self._bare, decisions)

    def close(self) -> None:
        self._model.close()
