"""Start a vLLM server for one model, wait until it answers, and end it with its job."""

import logging
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import urllib3

from blimpworks.errors import TransientError, UserError
from blimpworks.files import KEPT, new_scratch
from blimpworks.scoring import vllm_supervisor
from blimpworks.scoring.vllm_setup import Setup

log = logging.getLogger(__name__)

MODEL = "model"
"""Name of the model in requests."""
ENTRIES = ("vllm.entrypoints.launchers.api_server.entry", "vllm.entrypoints.openai.api_server")
"""Modules that serve: today's, and that of vLLM up to 0.24."""
# An executor inside the engine's process spares a third process, which waits for the second
# by spinning. vLLM refuses its short name on CPUs because it cannot set the number of threads
# then; here the environment does.
SINGLE_PROCESS = "vllm.v1.executor.uniproc_executor.UniProcExecutor"
ERROR = re.compile(r"(?:^|[\]\s])((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit): .+)$")
SECOND_HAND = (
    "Engine core initialization failed",
    "EngineDeadError",
    "WorkerProc init",
    "Tokenizer not available when `skip_tokenizer_init",
)
FULL = ("out of memory", "outofmemory", "allocate memory", "bad_alloc", "memoryerror")
ROOM = 107 - len("/blimpworks-vllm.12345678-1234567.12345678.tmp/") - 36
"""Longest name of a temporary directory that leaves room for vLLM's sockets below it."""
LOG_INTERVAL = 15.0
"""Seconds between two log lines while the server starts."""


def telling_line(text: str) -> str:
    """Return the log line that best says why a server failed: its last error of its own."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [match[1] for line in lines if (match := ERROR.search(line))]
    first_hand = [error for error in errors if not any(phrase in error for phrase in SECOND_HAND)]
    return (first_hand or errors or lines or ["it wrote nothing"])[-1][:300]


def is_full(text: str) -> bool:
    """Whether an answer or a log says that memory ran out."""
    return any(phrase in text.lower() for phrase in FULL)


def node_address(host: str) -> str:
    """Return the address to listen on for the option ``host``. Raises UserError without any."""
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
    """Return a port that is free at this moment."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


def make_directory() -> Path:
    """Make a directory for a server's log and sockets, whose paths the system limits."""
    short = len(os.fsencode(tempfile.gettempdir())) <= ROOM
    # A new directory below it, of a random name, that this user alone can open.
    return new_scratch("blimpworks-vllm", None if short else Path("/tmp"))  # noqa: S108


def server_module() -> str:
    """Find the module of the installed vLLM that serves, by its file, without an import."""
    spec = find_spec("vllm")
    root = Path(spec.origin).parent if spec and spec.origin else Path()
    files = {name: root.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in ENTRIES}
    return next((name for name, file in files.items() if file.exists()), ENTRIES[0])


def command_line(setup: Setup, address: str, port: int) -> list[str]:
    """Return the command that serves a model. It holds no secret, since every user can read it."""
    command = [sys.executable, "-m", server_module(), "--host", address, "--port", str(port)]
    command += ["--served-model-name", MODEL, "--uvicorn-log-level", "warning"]
    command += ["--disable-uvicorn-access-log", "--disable-fastapi-docs"]
    if not setup.gpus:
        command += ["--distributed-executor-backend", SINGLE_PROCESS]
    for name, value in setup.arguments().items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            command.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            command += [f"--{flag}", str(value)]
    return command


class VllmServer:
    """A server in processes of its own, which end with it; its log is kept if it failed."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._supervisor: subprocess.Popen[bytes] | None = None
        self.log = Path()
        """Path of its log, once it was started."""
        self._failed = False
        self.token = secrets.token_urlsafe(32)
        self.address, self.port = node_address(setup.options.host), 0

    @property
    def running(self) -> bool:
        return self._supervisor is not None and self._supervisor.poll() is None

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises UserError, with the telling line of its log, when it dies first, and TransientError
        when it takes too long.
        """
        for tries_left in (2, 1, 0):
            self.port = free_port(self.address)
            self.log = make_directory() / "server.log"
            # The second: where vLLM puts sockets, which it leaves behind.
            own = {"VLLM_API_KEY": self.token, "VLLM_RPC_BASE_PATH": str(self.log.parent)}
            command = command_line(self._setup, self.address, self.port)
            log.info("starting a vLLM server for %s; its log is %s", self._setup.model, self.log)
            with self.log.open("wb") as handle:
                self._supervisor = subprocess.Popen(
                    [sys.executable, "-P", vllm_supervisor.__file__, *command],
                    stdin=subprocess.PIPE,
                    stdout=handle,
                    stderr=subprocess.STDOUT,
                    env=os.environ | self._setup.environment() | own,
                    # A Ctrl-C in the terminal is for the job, which ends the server in order.
                    start_new_session=True,
                )
            if self._await_answer():
                return
            # Somebody else was quicker to take the port.
            if not tries_left or "Address already in use" not in self.read_log():
                error = self.failure("did not start")
                self.stop()
                raise error
            self.stop()

    def _await_answer(self) -> bool:
        started = logged = time.monotonic()
        while self.running:
            if self.ready():
                log.info("the vLLM server answers after %.0f s", time.monotonic() - started)
                return True
            now = time.monotonic()
            if now - started > self._setup.options.start_timeout:
                error = self.failure(f"did not answer within {now - started:.0f} s", TransientError)
                self.stop()
                raise error
            if now - logged > LOG_INTERVAL:
                logged = now
                log.info("waiting for the vLLM server (%.0f s)", now - started)
            time.sleep(0.2)
        return False

    def ready(self) -> bool:
        """Whether it answers. Another server at the same port would refuse the token."""
        url = f"http://{self.address}:{self.port}/v1/models"
        try:
            answer = urllib3.request("GET", url, headers=self.headers(), timeout=5.0, retries=False)
            return answer.status == 200
        except urllib3.exceptions.HTTPError:
            return False

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}

    def await_end(self, seconds: float) -> None:
        """Wait up to ``seconds`` for its end."""
        with suppress(subprocess.TimeoutExpired):
            if self._supervisor:
                self._supervisor.wait(seconds)

    def read_log(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def ran_full(self) -> bool:
        """Whether memory ran out, by its log or the signal that ended it."""
        killed = self._supervisor and self._supervisor.returncode == 128 + signal.SIGKILL
        return bool(killed) or is_full(self.read_log())

    def failure(self, what: str, kind: type[UserError] = UserError) -> UserError:
        """Return an error that says what happened and, by the log, why; keep the log."""
        self._failed = True
        with suppress(OSError):
            (self.log.parent / KEPT).touch()
        log_text = self.read_log()
        log.error("end of %s:\n%s", self.log, "\n".join(log_text.splitlines()[-40:]))
        return kind(
            f"{self._setup.model}: the vLLM server {what} ({telling_line(log_text)}); its log is "
            f"{self.log}. Correct the cause, or choose the engine transformers."
        )

    def stop(self) -> None:
        """End all its processes and remove its directory; do nothing when none runs."""
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
        if not self._failed:
            shutil.rmtree(self.log.parent, ignore_errors=True)
