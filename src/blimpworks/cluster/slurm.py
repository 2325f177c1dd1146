"""Ask SLURM about jobs, and find resources and deadline of the job that this process runs in.

SLURM is a cluster's scheduler; its programs (``squeue``, ``sacct``) may be missing or silent.
"""

import os
import platform
import re
import subprocess
import time
from collections import deque
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blimpworks.errors import OutOfTime, UserError
from blimpworks.scoring.progress import Watch

if TYPE_CHECKING:  # each small command finds its allocation
    import pyarrow as pa


TIMEOUT = 20.0
"""Seconds to wait for an answer."""
JOB = re.compile(r"[0-9]+([_+][0-9]+)?")
BATCH = 200
"""Most jobs in one question."""


def ask(command: Sequence[str], *, partly: bool = False) -> str | None:
    """Return the output of a SLURM command; None when the command is missing, fails or hangs.

    With ``partly``, return the output of a failed command too. SLURM fails when it has forgotten
    one of several jobs, but still describes the others.
    """
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout if partly or result.returncode == 0 else None


def slurm_states(ids: Collection[str]) -> dict[str, str]:
    """Return the state of each job by id, such as RUNNING, TIMEOUT or NODE_FAIL.

    Ask the controller first, then the accounting. Jobs that SLURM has forgotten are left out. The
    result is empty without SLURM, or without an answer in time.
    """
    jobs = {job for job in ids if JOB.fullmatch(job)}
    states: dict[str, str] = {}
    queue = ["squeue", "-h", "-t", "all", "-o", "%i|%T", "-j"]
    accounting = ["sacct", "-n", "-X", "-P", "-o", "JobID,State", "-j"]
    for command in (queue, accounting):
        unknown = sorted(jobs - states.keys())
        for start in range(0, len(unknown), BATCH):
            answer = ask([*command, ",".join(unknown[start : start + BATCH])], partly=True)
            if answer is None:
                break
            for row in (line.strip().split("|") for line in answer.splitlines()):
                if len(row) == 2 and row[0] in unknown and row[1]:
                    states[row[0]] = row[1].split()[0]  # the first word of "CANCELLED by 1000"
    return states


@dataclass(frozen=True)
class Queue:
    """A user's jobs in SLURM's queue; empty without SLURM."""

    listed: bool = False
    """Whether SLURM answered, so that a missing job is over."""
    states: Mapping[str, str] = field(default_factory=dict)
    """State of each job by id."""
    pending: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """SLURM id of each waiting scoring job, keyed by its title and name, of this directory."""


def read_queue(jobs: Iterable[tuple[str, str]]) -> Queue:
    """Read this user's queue; find the waiting ones of ``jobs``, given by title and name.

    Snakemake writes a job's rule and wildcards into its comment.
    """
    # Slow to import (0.1 s), and most callers of this module only ask for their allocation.
    from blimpworks.campaign.parts import ANSWERS_SUFFIX

    answer = ask(["squeue", "--me", "-h", "-t", "all", "-o", "%i|%T|%Z|%k"])
    if answer is None:
        return Queue()
    by_wildcards = {}
    for title, name in jobs:
        wildcards = f"{title.removesuffix(ANSWERS_SUFFIX)}_{name}"
        by_wildcards[title.endswith(ANSWERS_SUFFIX), wildcards] = title, name
    states, pending = {}, {}
    for line in answer.splitlines():
        if line.count("|") < 3:
            continue
        slurm_job, state, directory, comment = line.split("|", 3)
        states[slurm_job] = state
        rule, _, wildcards = comment.partition("_wildcards_")
        match = by_wildcards.get((rule.startswith("rule_answer"), wildcards))
        if state == "PENDING" and match and Path(directory) == Path.cwd():
            pending[match] = slurm_job
    return Queue(True, states, pending)


UNITS = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2}
"""MiB of a unit of memory."""


def _mebibytes(text: str) -> int | None:
    """Read ``1234K``, or a number of MiB without unit, as MiB; None for anything else."""
    match = re.fullmatch(r"([0-9.]+)([KMGT]?)n?", text)
    return round(float(match[1]) * UNITS[match[2] or "M"]) if match else None


@dataclass(frozen=True, slots=True)
class Allocation:
    """Resources of the SLURM job that this process runs in; unknown fields are None or empty."""

    slurm_job: str | None
    """Job id; None outside of SLURM."""
    node: str
    gpus: tuple[str, ...] = ()
    """Name of each GPU by its driver, or else by SLURM."""
    mem_mb: int | None = None
    minutes: int | None = None
    cores: int | None = None
    ends: float | None = None
    """End of the allocation in seconds since 1970."""
    requeue: bool = False
    """Whether SLURM may start the job again."""

    def recorded(self) -> dict[str, Any]:
        """Return the fields that a product's record contains."""
        return {"slurm_job": self.slurm_job, "node": self.node, "gpus": self.gpus}


def _named_gpus(fields: dict[str, str]) -> tuple[str, ...]:
    """Return the names of a job's GPUs by their driver, or SLURM's names without a driver."""
    tres = fields.get("TRES", "") + "," + fields.get("AllocTRES", "")
    counts = re.findall(r"gres/gpu:([^=,]+)=(\d+)", tres) or re.findall(
        r"gres[:/]gpu(?::([^:,=]+))?[:=](\d+)", fields.get("TresPerNode", "") or tres
    )
    allocated = [name or "gpu" for name, count in dict(counts).items() for _ in range(int(count))]
    if not allocated:
        return ()
    output = ask(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]) or ""
    names = tuple(line.strip() for line in output.splitlines() if line.strip())
    # Processes that share a job each see some of its GPUs.
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    allocated = allocated[: len(visible.split(","))] if visible else allocated
    # A site without cgroups for devices shows all GPUs of the node.
    return names[: len(allocated)] or (*allocated,)


def read_job(line: str) -> dict[str, str]:
    """Read the fields of a job from one line of ``scontrol show job -o``."""
    return dict(re.findall(r"(\w[\w/:]*)=(\S*)", line))


@cache
def find_allocation() -> Allocation:
    """Return the allocation of this process; ask SLURM's controller once.

    Environment variables would not do: steps inside steps of a job lose most of them.
    """
    job, node = os.environ.get("SLURM_JOB_ID"), platform.node()
    if not job:
        return Allocation(None, node)
    fields = read_job(ask(["scontrol", "show", "job", "-o", job]) or "")
    # [DAYS-]HH:MM:SS; a word such as UNLIMITED is no limit.
    limit = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+):(\d+)", fields.get("TimeLimit", ""))
    days, hours, minutes, seconds = (int(n or 0) for n in limit.groups()) if limit else (0,) * 4
    ends: float | None
    try:
        ends = datetime.fromisoformat(fields.get("EndTime", "")).timestamp()
    except ValueError:
        # A container image has no scontrol; SLURM sets a variable for its jobs.
        stated = os.environ.get("SLURM_JOB_END_TIME", "")
        ends = float(stated) if stated.isdecimal() else None
    return Allocation(
        slurm_job=job,
        node=fields.get("BatchHost") or os.environ.get("SLURMD_NODENAME") or node,
        gpus=_named_gpus(fields),
        mem_mb=_mebibytes(fields.get("MinMemoryNode", "")),
        minutes=(days * 24 + hours) * 60 + minutes + (seconds > 0) if limit else None,
        cores=int(fields["NumCPUs"]) if fields.get("NumCPUs", "").isdecimal() else None,
        ends=ends,
        # Requeue only jobs that Snakemake submitted, not a user's job in which Snakemake runs.
        requeue=fields.get("Requeue") == "1" and fields.get("Comment", "").startswith("rule_"),
    )


DEADLINE = "BLIMPWORKS_DEADLINE"
"""Environment variable with the end of the allocation in seconds since 1970."""
RESERVE = 30.0
"""Seconds to end an engine and to write the journal."""
CAUTION = 1.5
"""Longest expected time of the next shard, as a multiple of the slowest shard so far."""


class Deadline(Watch):
    """Stops a scoring run before the first shard that may take longer than the allocation."""

    def __init__(self, moment: float) -> None:
        self._moment = moment
        self._shards: list[float] = []
        self._begun = deque[float]()
        """Start of each unwritten shard [s, monotonic clock]."""
        self._total = self._unscored = 0

    def begin(
        self, sentences: Mapping[str, Collection[Hashable]], missing: Collection[Hashable]
    ) -> None:
        self._total, self._unscored = len(set().union(*sentences.values())), len(missing)

    def before(self) -> None:
        """Let a shard begin. Raises OutOfTime when the shard would not end in time."""
        # The time of the first shard includes loading the model.
        slowest = max(self._shards[1:] or self._shards or [0.0])
        seconds_left = self._moment - time.time()
        if seconds_left < slowest * CAUTION + RESERVE:
            raise OutOfTime(
                f"{self._total - self._unscored} of {self._total} sentences have scores; the "
                f"allocation ends in {max(seconds_left, 0):.0f} s, and a shard takes up to "
                f"{slowest:.0f} s. Stopped between shards; the same job goes on from there."
            )
        self._begun.append(time.monotonic())

    def wrote(self, requests: Sequence[Hashable], scores: "pa.Table") -> None:
        self._shards.append(time.monotonic() - self._begun.popleft())
        self._unscored -= len(requests)


def deadline_of(environment: Mapping[str, str] = os.environ) -> Watch:
    """Return the deadline in the variable ``DEADLINE``, or else a watch that never stops a run.

    Raises UserError when the variable is not a number.
    """
    text = environment.get(DEADLINE)
    if not text:
        return Watch()
    try:
        return Deadline(float(text))
    except ValueError as error:
        raise UserError(
            f"{DEADLINE} is {text!r}; expected when the allocation ends, in seconds since 1970."
        ) from error
