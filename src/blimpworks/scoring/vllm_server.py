"""A vLLM server for one model: started, watched until it answers, ended with its job."""

import logging
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import urllib3

from blimpworks.errors import UserError
from blimpworks.scoring import vllm_supervisor
from blimpworks.scoring.vllm_setup import Setup

log = logging.getLogger(__name__)

MODEL = "model"
"""Name that requests call the model by."""
ENTRY = "vllm.entrypoints.launchers.api_server.entry"
# An executor inside the engine's process spares a third process, which waits for the second
# by spinning. vLLM refuses its short name on CPUs because it cannot set the number of threads
# then; here the environment does.
ONE_PROCESS = "vllm.v1.executor.uniproc_executor.UniProcExecutor"
ERROR = re.compile(r"(?:^|[\]\s])((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit): .+)$")
SECOND_HAND = (
    "Engine core initialization failed",
    "EngineDeadError",
    "WorkerProc init",
    "Tokenizer not available when `skip_tokenizer_init",
)
FULL = ("out of memory", "outofmemory", "allocate memory", "bad_alloc", "memoryerror")
TOLD = 15.0
"""Seconds between two notes that the server is still starting."""


def telling_line(text: str) -> str:
    """The line of a server's log that says best why it failed: its last error of its own."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [found[1] for line in lines if (found := ERROR.search(line))]
    own = [error for error in errors if not any(part in error for part in SECOND_HAND)]
    return (own or errors or lines or ["it wrote nothing"])[-1][:300]


def is_full(text: str) -> bool:
    """Whether an answer or a log says that memory ran out."""
    return any(part in text.lower() for part in FULL)


def node_address(host: str) -> str:
    """Address to listen on, for the option ``host``. Raises UserError where there is none."""
    if host == "loopback":
        return "127.0.0.1"
    name = socket.gethostname()
    try:
        return socket.gethostbyname(name)
    except OSError as error:
        raise UserError(
            f"scoring.vllm.host is {host!r}, but {name!r}, the name of this machine, has no "
            "address; choose loopback."
        ) from error


def free_port(address: str) -> int:
    """A port that nobody listens on, at this moment."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


def command_line(setup: Setup, address: str, port: int) -> list[str]:
    """The command that serves a model. It holds no secret: every user can read it."""
    command = [sys.executable, "-m", ENTRY, "--host", address, "--port", str(port)]
    command += ["--served-model-name", MODEL, "--uvicorn-log-level", "warning"]
    command += ["--disable-uvicorn-access-log", "--disable-fastapi-docs"]
    if not setup.gpus:
        command += ["--distributed-executor-backend", ONE_PROCESS]
    for name, value in setup.arguments().items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            command.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            command += [f"--{flag}", str(value)]
    return command


class VllmServer:
    """A server in processes of its own, which end with this object or this process.

    Its log lies in a file that is named when it starts; the log of a server that failed is
    also told, so that it survives the node.
    """

    def __init__(self, setup: Setup) -> None:
        """Prepare; nothing runs yet."""
        self._setup = setup
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._directory = Path(tempfile.mkdtemp(prefix="blimpworks-vllm-"))
        self.log = self._directory / "server.log"
        self.token = secrets.token_urlsafe(32)
        self.address, self.port = node_address(setup.options.host), 0

    def __enter__(self) -> "VllmServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether its main process lives."""
        return self._supervisor is not None and self._supervisor.poll() is None

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises UserError, with the telling line of its log, when it dies before or takes too
        long.
        """
        for left in (2, 1, 0):
            self.port = free_port(self.address)
            self._launch()
            if self._await_answer():
                return
            said = self.read_log()
            self.stop()
            # Somebody else was quicker to take the port.
            if not left or "Address already in use" not in said:
                raise self.failure("did not start")

    def _launch(self) -> None:
        environment = os.environ | self._setup.environment() | {"VLLM_API_KEY": self.token}
        command = command_line(self._setup, self.address, self.port)
        log.info("starting a vLLM server for %s; its log is %s", self._setup.model, self.log)
        with self.log.open("wb") as handle:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-P", vllm_supervisor.__file__, *command],
                stdin=subprocess.PIPE,
                stdout=handle,
                stderr=subprocess.STDOUT,
                env=environment,
                # A Ctrl-C in the terminal is for the job, which ends the server in order.
                start_new_session=True,
            )

    def _await_answer(self) -> bool:
        """Whether it answers in time; False as soon as it is dead."""
        started = told = time.monotonic()
        while self.running:
            if self.healthy():
                log.info("the vLLM server answers after %.0f s", time.monotonic() - started)
                return True
            now = time.monotonic()
            if now - started > self._setup.options.start_timeout:
                self.stop()
                raise self.failure(f"did not answer within {now - started:.0f} s")
            if now - told > TOLD:
                told = now
                log.info("waiting for the vLLM server (%.0f s)", now - started)
            time.sleep(0.2)
        return False

    def healthy(self) -> bool:
        """Whether it answers that it is well."""
        url = f"http://{self.address}:{self.port}/health"
        try:
            return urllib3.request("GET", url, timeout=5.0, retries=False).status == 200
        except urllib3.exceptions.HTTPError:
            return False

    def await_end(self, seconds: float) -> bool:
        """Whether it ends by itself within ``seconds``."""
        try:
            if self._supervisor:
                self._supervisor.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def read_log(self) -> str:
        """What it has written so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def failure(self, what: str) -> UserError:
        """The error that says what happened, and why as far as the log knows."""
        said = self.read_log()
        log.error("end of %s:\n%s", self.log, "\n".join(said.splitlines()[-40:]))
        return UserError(
            f"{self._setup.model}: the vLLM server {what} ({telling_line(said)}); its log is "
            f"{self.log}. Correct the cause, or choose the engine transformers."
        )

    def stop(self) -> None:
        """End it and all its processes; nothing happens when none runs."""
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is None:
            return
        if supervisor.stdin:
            supervisor.stdin.close()
        try:
            supervisor.wait(3 * vllm_supervisor.GRACE)
        except subprocess.TimeoutExpired:
            supervisor.kill()
            supervisor.wait()
