"""Run requests in batches, by a vLLM server (retries, deaths, restarts) or in this process."""

import gc
import logging
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, cast

import torch
import urllib3

from blimpworks.errors import TransientError, UserError
from blimpworks.scoring.engine import Failure
from blimpworks.scoring.vllm_server import VllmServer, is_full
from blimpworks.scoring.vllm_setup import Setup

Prompt = list[int]
P = TypeVar("P")
R = TypeVar("R")
Trouble = Literal["out_of_memory", "refused", "lost", "deadly", "stray"]
"""Why a batch has no results.

``lost``: it may be fine, but the server is gone; ``deadly``: it killed the server; ``stray``:
another server answered.
"""
Outcome = list[R] | Trouble
Attempt = Callable[[list[list[P]]], list[Outcome[R]]]
"""Runs batches: a result for each request of a batch, or the batch's trouble."""


def cut(numbers: Sequence[int], size: int) -> list[list[int]]:
    """Cut into consecutive parts of at most ``size``."""
    return [list(numbers[a : a + size]) for a in range(0, len(numbers), size)]


def run_batches(requests: Sequence[P], size: int, attempt: Attempt[P, R]) -> list[R | Failure]:
    """Return each request's result or failure, from batches of ``size``.

    A batch that is refused or too big is halved until the request to blame is alone. Requests of a
    deadly batch are tried alone, and ``attempt`` says which trouble each has. ``attempt`` raises
    when nothing can help.
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
            elif outcome == "deadly":  # a new start costs more than many small requests
                pending += cut(batch, 1)
            elif len(batch) > 1:
                pending += cut(batch, (len(batch) + 1) // 2)
            else:
                results[batch[0]] = cast(Failure, outcome)
    return cast(list[R | Failure], results)


log = logging.getLogger(__name__)

# A server that is overloaded or restarting behind a proxy says so by one of these; 500 is what
# vLLM answers when its engine died, and no retry helps then.
RETRIES = urllib3.Retry(
    total=5,
    connect=1,
    read=2,
    status_forcelist=(408, 429, 502, 503, 504),
    allowed_methods=None,
    backoff_factor=0.2,
    raise_on_status=False,
)
REFUSED = (400, 413, 422)
"""Statuses about the prompts of a request."""
STRAY = (401, 403, 404)
"""Statuses of another server, which does not know the token or the model."""
PATH = "/v1/completions"
SHUTDOWN_TIMEOUT = 20.0
"""Seconds to wait for the end of a server that stopped answering."""


def trouble(status: int, body: bytes) -> Trouble:
    """Return the trouble that an answer without results means for its batch."""
    if status in STRAY:
        return "stray"
    if is_full(body.decode(errors="replace")):
        return "out_of_memory"
    return "refused" if status in REFUSED else "lost"


class Served(Generic[P, R]):
    """Sends requests to a server, which starts with the first.

    A dead server is started again and gets the missing batches one at a time. The requests of the
    batch that kills it again go one by one, until the deadly one is found and marked. If each one
    in a row is deadly (``VllmOptions.restarts``) and none was ever answered, the fault is not
    theirs.
    """

    def __init__(
        self,
        setup: Setup,
        write: Callable[[Sequence[P]], bytes],
        read: Callable[[bytes, Sequence[P]], list[R]],
        size: int,
        in_flight: int,
    ) -> None:
        """Prepare. An HTTP request has ``size`` requests; ``in_flight`` of them run at a time.

        ``write`` makes the body of the HTTP request with a batch, and ``read`` reads its answer.
        """
        self._setup, self._write, self._read, self._size = setup, write, read, size
        self.server: VllmServer | None = None
        self._pool: urllib3.HTTPConnectionPool | None = None
        self._usual = self._in_flight = in_flight
        self._deaths = 0
        self._sound = self._proven = True
        self._known: list[P] = []

    def ask(self, requests: Sequence[P]) -> list[R | Failure]:
        """Return each request's result or failure.

        Raises UserError when the server does not start, or dies of everything; TransientError when
        it starts too slowly, or dies after it has answered.
        """
        self._in_flight = self._usual
        return run_batches(requests, self._size, self._attempt)

    def close(self) -> None:
        if self.server:
            self.server.stop()
        self.server = self._pool = None

    def _attempt(self, batches: list[list[P]]) -> list[Outcome[R]]:
        server = self.server or self._start()
        with ThreadPoolExecutor(self._in_flight) as threads:
            outcomes = list(threads.map(self.send, batches))
        for batch, outcome in zip(batches, outcomes, strict=True):
            if isinstance(outcome, list):
                self._deaths, self._known = 0, batch[:1]
        if "lost" not in outcomes and "stray" not in outcomes:
            return outcomes
        # The server died. Among several batches under way the cause is unknown: from then on they
        # go one by one, and the first that is lost is the cause.
        server.await_end(SHUTDOWN_TIMEOUT)
        full = server.ran_full()
        if "stray" in outcomes or not self._proven:  # no request's fault
            self._deaths += 1
        elif self._in_flight == 1 and "out_of_memory" not in outcomes:  # that told itself
            place = outcomes.index("lost")
            alone = len(batches[place]) == 1
            self._deaths += alone
            mark: Trouble = "out_of_memory" if full else "refused"
            outcomes[place] = mark if alone else "deadly"
        self._in_flight, self._usual = 1, 1 if full else self._usual
        # It can answer again what it once answered: then the node ends it.
        kind = TransientError if self._known else UserError
        error = server.failure(f"failed, {self._deaths} times in a row", kind)
        self.close()
        if self._deaths > self._setup.options.restarts:
            raise error
        log.warning("the vLLM server failed; it is started again, and sent what is missing")
        return outcomes

    def _start(self) -> VllmServer:
        """Start a server, and see whether it answers what another answered before it."""
        self.server = VllmServer(self._setup)
        self.server.start()
        self._sound = True
        self._pool = urllib3.HTTPConnectionPool(
            self.server.address,
            self.server.port,
            maxsize=self._in_flight,
            timeout=urllib3.Timeout(connect=10, read=self._setup.options.answer_timeout),
        )
        if self._known:
            self._proven = isinstance(self.send(self._known), list)
            self._deaths = 0 if self._proven else self._deaths
        return self.server

    def send(self, batch: list[P]) -> Outcome[R]:
        """Send one HTTP request, with retries where these can help."""
        assert self.server is not None
        assert self._pool is not None
        # A hundred batches need not find out by retrying.
        if not self._sound or not self.server.running:
            return "lost"
        body, headers = self._write(batch), self.server.headers()
        try:
            answer = self._pool.request("POST", PATH, body=body, headers=headers, retries=RETRIES)
        except urllib3.exceptions.HTTPError as error:
            log.debug("a request to the vLLM server failed (%s)", error)
            self._sound = False
            return "lost"
        if answer.status == 200:
            return self._read(answer.data, batch)
        problem = trouble(answer.status, answer.data)
        self._sound = self._sound and problem not in ("lost", "stray")
        if problem != "lost":  # else its log knows more
            log.warning("the vLLM server answered %d: %s", answer.status, answer.data[:300])
        return problem


class Loaded(Generic[P, R]):
    """Runs requests through vLLM's offline API; the first loads the model."""

    def __init__(self, setup: Setup, generate: Callable[[Any, Sequence[P]], list[R]]) -> None:
        """``generate`` returns the result of each request of a batch, from vLLM's ``LLM``."""
        self._setup, self._generate = setup, generate

    def ask(self, requests: Sequence[P]) -> list[R | Failure]:
        """Return each request's result or failure. Raises UserError when loading fails."""
        return run_batches(requests, max(1, len(requests)), self._attempt)

    def close(self) -> None:
        self.__dict__.pop("_model", None)
        gc.collect()

    @cached_property
    def _model(self) -> Any:
        # Read when vLLM is imported. One process ends cleanly, several do not always.
        environment = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
        os.environ.update(self._setup.environment() | environment)
        if not self._setup.gpus:  # torch, if imported before, has chosen its own number
            torch.set_num_threads(self._setup.options.threads)
        from vllm import LLM

        try:
            return LLM(**self._setup.arguments())
        except Exception as error:
            # Anything from OSError to pydantic's ValidationError, by what is wrong.
            message = " ".join(str(error).split())[:300]
            raise UserError(
                f"{self._setup.model}: vLLM cannot load the model ({message}); correct the cause, "
                "or choose the engine transformers."
            ) from error

    def _attempt(self, batches: list[list[P]]) -> list[Outcome[R]]:
        return [self._outcome(batch) for batch in batches]

    def _outcome(self, batch: Sequence[P]) -> Outcome[R]:
        model = self._model
        from vllm.exceptions import VLLMValidationError

        try:
            return self._generate(model, batch)
        except VLLMValidationError:
            return "refused"
        except (RuntimeError, MemoryError) as error:
            if not is_full(str(error)) and not isinstance(error, MemoryError):
                raise
            # What was under way would come back with the next batch.
            self.close()
            return "out_of_memory"
