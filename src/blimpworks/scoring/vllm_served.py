"""A model behind a vLLM server: many requests under way, retries, and restarts."""

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import urllib3

from blimpworks.scoring.engine import Failure, LogProbs
from blimpworks.scoring.vllm_batches import Outcome, Prompt, Trouble, score_batches
from blimpworks.scoring.vllm_server import MODEL, VllmServer, is_full
from blimpworks.scoring.vllm_setup import Setup

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
# One token must be generated; which one is of no interest.
ASKED = {"model": MODEL, "prompt_logprobs": 0, "max_tokens": 1, "temperature": 0}
DYING = 20.0
"""Seconds to wait for the end of a server that stopped answering."""


def read_answer(body: bytes, prompts: Sequence[Prompt]) -> list[LogProbs]:
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


def trouble(status: int, body: bytes) -> Trouble:
    """What an answer that holds no scores means for its batch."""
    if is_full(body.decode(errors="replace")) or status == 413:
        return "out_of_memory"
    return "refused" if 400 <= status < 500 else "lost"


class ServedModel:
    """Scores prompts through a server, which starts with the first of them.

    A server that dies is started again and sent what is missing, a few times in a row at
    most (``VllmOptions.restarts``) unless it scores something in between.
    """

    def __init__(self, setup: Setup) -> None:
        """Prepare; the server is not started yet."""
        self._setup, self._options = setup, setup.options
        self.server: VllmServer | None = None
        self._pool: urllib3.HTTPConnectionPool | None = None
        self._in_flight = setup.options.in_flight
        self._deaths = 0

    def logprobs(self, prompts: list[Prompt]) -> list[LogProbs | Failure]:
        """Log-probabilities of each prompt's ids after the first, or why there are none.

        Raises UserError when the server does not start, or dies again and again.
        """
        return score_batches(prompts, self._options.prompts, self._attempt)

    def close(self) -> None:
        """End the server."""
        if self.server:
            self.server.stop()
        self.server = self._pool = None

    def _attempt(self, batches: list[list[Prompt]]) -> list[Outcome]:
        if self.server is None:
            self._start()
        with ThreadPoolExecutor(self._in_flight) as threads:
            outcomes = list(threads.map(self.send, batches))
        if any(isinstance(outcome, list) for outcome in outcomes):
            self._deaths = 0
        return self._mourn(outcomes) if "lost" in outcomes else outcomes

    def _start(self) -> None:
        self.server = VllmServer(self._setup)
        self.server.start()
        self._pool = urllib3.HTTPConnectionPool(
            self.server.address,
            self.server.port,
            maxsize=self._in_flight,
            timeout=urllib3.Timeout(connect=10, read=self._options.answer_timeout),
        )

    def send(self, prompts: list[Prompt]) -> Outcome:
        """One request, with retries where these can help."""
        assert self.server is not None
        assert self._pool is not None
        if not self.server.running:  # a hundred batches need not find that out by retrying
            return "lost"
        import orjson

        body = orjson.dumps(ASKED | {"prompt": prompts})
        headers = {"Authorization": f"Bearer {self.server.token}"}
        headers["Content-Type"] = "application/json"
        try:
            answer = self._pool.request(
                "POST", "/v1/completions", body=body, headers=headers, retries=RETRIES
            )
        except urllib3.exceptions.HTTPError as error:
            log.debug("a request to the vLLM server failed (%s)", error)
            return "lost"
        if answer.status == 200:
            return read_answer(answer.data, prompts)
        found = trouble(answer.status, answer.data)
        if found != "lost":  # else its log knows more
            log.warning("the vLLM server answered %d: %s", answer.status, answer.data[:300])
        return found

    def _mourn(self, outcomes: list[Outcome]) -> list[Outcome]:
        """End the server that lost batches, and find the one that was too much for its memory.

        Of several batches under way nobody knows which that was, so from then on one goes
        after the other, and the first that is lost is the one.
        """
        server = self.server
        assert server is not None
        server.await_end(DYING)
        full = is_full(server.read_log())
        self._deaths += not full
        self.close()
        if self._deaths > self._options.restarts:
            raise server.failure(f"failed, {self._deaths} times in a row")
        log.warning("the vLLM server failed; it is started again, and sent what is missing")
        if full and self._in_flight == 1:
            outcomes[outcomes.index("lost")] = "out_of_memory"
        self._in_flight = 1 if full else self._in_flight
        return outcomes
