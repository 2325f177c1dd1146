"""Ask SLURM, a cluster's scheduler, about jobs, and about the SLURM job of this process.

``read_queue`` and ``slurm_states`` find the states of jobs, and ``find_allocation`` the resources
and the end of this process's job. If SLURM's programs (``squeue``, ``sacct``, ``scontrol``) are
missing or do not answer, the result is None or empty. ``Deadline`` stops a scoring run in time.
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

if TYPE_CHECKING:  # slow to import, and every command imports this module
    import pyarrow as pa


TIMEOUT = 20.0
"""Seconds to wait for an answer."""
JOB_ID = re.compile(r"[0-9]+([_+][0-9]+)?")
"""Id of a job, of a member of an array (``12_3``) or of a heterogeneous job (``12+1``)."""
BATCH = 200
"""Largest number of jobs in one command."""


def ask(
    command: Sequence[str], *, even_if_failed: bool = False, timeout: float | None = None
) -> str | None:
    """Return the output of a command; None if it is missing, fails, or takes ``timeout`` seconds.

    With ``even_if_failed``, return the output of a failed command too. Asked about several jobs,
    SLURM's programs fail if they do not know one, but print the jobs that they know.
    """
    seconds = timeout or TIMEOUT
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout if even_if_failed or result.returncode == 0 else None


def slurm_states(ids: Collection[str]) -> dict[str, str]:
    """Return {job id: state}, with SLURM's states such as RUNNING, TIMEOUT, NODE_FAIL.

    Ask the controller first, then the accounting database for finished jobs. Jobs that SLURM does
    not know are left out. The result is empty without SLURM, or without an answer in time.
    """
    jobs = {job for job in ids if JOB_ID.fullmatch(job)}
    states: dict[str, str] = {}
    queue = ["squeue", "-h", "-t", "all", "-o", "%i|%T", "-j"]
    accounting = ["sacct", "-n", "-X", "-P", "-o", "JobID,State", "-j"]
    for command in (queue, accounting):
        missing = sorted(jobs - states.keys())
        for start in range(0, len(missing), BATCH):
            answer = ask([*command, ",".join(missing[start : start + BATCH])], even_if_failed=True)
            if answer is None:
                break  # the next batch would only wait for ``TIMEOUT`` too
            for line in answer.splitlines():
                fields = line.strip().split("|")
                if len(fields) == 2 and fields[0] in missing and fields[1]:
                    job, state = fields
                    states[job] = state.split()[0]  # the first word of "CANCELLED by 1000"
    return states


@dataclass(frozen=True)
class Queue:
    """A user's jobs in SLURM's queue; empty without SLURM."""

    answered: bool = False
    """Whether SLURM answered, so that a missing job is over."""
    states: Mapping[str, str] = field(default_factory=dict)
    """State of each job, keyed by SLURM's job id."""
    pending: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """SLURM's job id of each scoring job that waits in the queue, keyed by (title, name)."""


def read_queue(jobs: Iterable[tuple[str, str]]) -> Queue:
    """Read this user's queue, and find which scoring jobs of this directory wait in it.

    ``jobs``: (title, name) of each scoring job. Snakemake writes
    ``rule_score_wildcards_TITLE_NAME`` into the comment of a SLURM job.
    """
    # Slow to import (0.1 s), and most callers of this module only ask for their allocation.
    from blimpworks.campaign.scoring_jobs import ANSWERS_SUFFIX

    # Id, state, working directory and comment of each job.
    answer = ask(["squeue", "--me", "-h", "-t", "all", "-o", "%i|%T|%Z|%k"])
    if answer is None:
        return Queue()
    job_by_comment = {}  # {(whether it answers prompts, wildcards): scoring job}
    for title, name in jobs:
        wildcards = f"{title.removesuffix(ANSWERS_SUFFIX)}_{name}"
        job_by_comment[title.endswith(ANSWERS_SUFFIX), wildcards] = title, name
    states, pending = {}, {}
    for line in answer.splitlines():
        if line.count("|") < 3:
            continue
        slurm_job, state, directory, comment = line.split("|", 3)
        states[slurm_job] = state
        rule, _, wildcards = comment.partition("_wildcards_")
        match = job_by_comment.get((rule.startswith("rule_answer"), wildcards))
        if state == "PENDING" and match and Path(directory) == Path.cwd():
            pending[match] = slurm_job
    return Queue(True, states, pending)


UNITS = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2}
"""Size of SLURM's units of memory in MiB."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """Resources of the SLURM job that this process runs in; unknown fields are None or empty."""

    slurm_job: str | None
    """Job id; None outside of SLURM."""
    node: str
    gpus: tuple[str, ...] = ()
    """Name of each GPU, from its driver or else from SLURM."""
    mem_mb: int | None = None
    minutes: int | None = None
    cores: int | None = None
    ends: float | None = None
    """End of the allocation in seconds since 1970."""
    requeue: bool = False
    """Whether SLURM may start the job again."""

    def recorded(self) -> dict[str, Any]:
        """Return the fields that belong in the provenance record of a product."""
        return {"slurm_job": self.slurm_job, "node": self.node, "gpus": self.gpus}


def _find_gpus(fields: dict[str, str]) -> tuple[str, ...]:
    """Return the names of this process's GPUs: those of the driver, or SLURM's without a driver."""
    # TRES=cpu=8,gres/gpu:a100=2 has the type of GPUs, which TresPerNode=gres:gpu:2 may leave out.
    # The counts are then [("a100", "2")] or [("", "2")].
    tres = fields.get("TRES", "") + "," + fields.get("AllocTRES", "")
    counts = re.findall(r"gres/gpu:([^=,]+)=(\d+)", tres)
    if not counts:
        per_node = fields.get("TresPerNode", "") or tres
        counts = re.findall(r"gres[:/]gpu(?::([^:,=]+))?[:=](\d+)", per_node)
    allocated: list[str] = []
    for name, count in dict(counts).items():  # types that both lists have count once
        allocated += [name or "gpu"] * int(count)
    if not allocated:
        return ()
    # If several processes share a SLURM job, each sees only some of its GPUs.
    if visible := os.environ.get("CUDA_VISIBLE_DEVICES"):
        allocated = allocated[: len(visible.split(","))]
    output = ask(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]) or ""
    names = tuple(line.strip() for line in output.splitlines() if line.strip())
    # If SLURM does not hide other jobs' GPUs, the driver lists all: take as many as are allocated.
    return names[: len(allocated)] or (*allocated,)


def read_job(line: str) -> dict[str, str]:
    """Read {"JobId": "12", "Requeue": "1"} from a line of ``scontrol``, "JobId=12 Requeue=1"."""
    return dict(re.findall(r"(\w[\w/:]*)=(\S*)", line))


def _minutes_of(limit: str) -> int | None:
    """Return "1-02:30:10" (DAYS-HH:MM:SS) as 1591 minutes, rounded up; None for UNLIMITED."""
    match = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+):(\d+)", limit)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(number or 0) for number in match.groups())
    return (days * 24 + hours) * 60 + minutes + (seconds > 0)


@cache
def find_allocation() -> Allocation:
    """Return the allocation of this process; ask SLURM's controller once.

    SLURM's environment variables are not enough: a step inside another step lacks most of them.
    """
    job, node = os.environ.get("SLURM_JOB_ID"), platform.node()
    if not job:
        return Allocation(None, node)
    fields = read_job(ask(["scontrol", "show", "job", "-o", job]) or "")
    # 4G, 4Gn (per node) or 4096 (MiB)
    memory = re.fullmatch(r"([0-9.]+)([KMGT]?)n?", fields.get("MinMemoryNode", ""))
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
        gpus=_find_gpus(fields),
        mem_mb=round(float(memory[1]) * UNITS[memory[2] or "M"]) if memory else None,
        minutes=_minutes_of(fields.get("TimeLimit", "")),
        cores=int(fields["NumCPUs"]) if fields.get("NumCPUs", "").isdecimal() else None,
        ends=ends,
        # Requeue only jobs that Snakemake submitted, not a user's job in which Snakemake runs.
        requeue=fields.get("Requeue") == "1" and fields.get("Comment", "").startswith("rule_"),
    )


DEADLINE = "BLIMPWORKS_DEADLINE"
"""Environment variable with the end of the allocation in seconds since 1970."""
RESERVE = 30.0
"""Seconds before the end that are left for ending the engine and writing the journal."""
CAUTION = 1.5
"""Expected time of the next shard, as a multiple of the slowest shard's so far."""


class Deadline(Watch):
    """Stops scoring before the first shard (file of scores) that may outlast the allocation."""

    def __init__(self, moment: float) -> None:
        self._moment = moment
        self._shard_seconds: list[float] = []
        self._starts = deque[float]()
        """Starts of unwritten shards; a shard may start before the previous one is written [s]."""
        self._total = self._unscored = 0

    def begin(
        self, sentences: Mapping[str, Collection[Hashable]], missing: Collection[Hashable]
    ) -> None:
        self._total, self._unscored = len(set().union(*sentences.values())), len(missing)

    def before(self) -> None:
        """Note the start of a shard. Raises OutOfTime if it might not end before the deadline."""
        # The first shard takes longer, as it includes loading the model: leave it out if possible.
        slowest = max(self._shard_seconds[1:] or self._shard_seconds, default=0.0)
        seconds_left = self._moment - time.time()
        if seconds_left < slowest * CAUTION + RESERVE:
            raise OutOfTime(
                f"{self._total - self._unscored} of {self._total} sentences have scores; the "
                f"allocation ends in {max(seconds_left, 0):.0f} s, and a shard takes up to "
                f"{slowest:.0f} s. Stopped between shards; the same job goes on from there."
            )
        self._starts.append(time.monotonic())

    def wrote(self, requests: Sequence[Hashable], scores: "pa.Table") -> None:
        self._shard_seconds.append(time.monotonic() - self._starts.popleft())
        self._unscored -= len(requests)


def deadline_of(environment: Mapping[str, str] = os.environ) -> Watch:
    """Return a watch that stops by the time in ``DEADLINE``, if set. Raises UserError for text."""
    text = environment.get(DEADLINE)
    if not text:
        return Watch()
    try:
        return Deadline(float(text))
    except ValueError as error:
        raise UserError(
            f"{DEADLINE} is {text!r}; expected when the allocation ends, in seconds since 1970."
        ) from error
