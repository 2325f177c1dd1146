"""Ask SLURM about jobs, if there is a SLURM that answers."""

import re
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 20.0
"""Seconds to wait for an answer."""
JOB = re.compile(r"[0-9]+([_+][0-9]+)?")
TOGETHER = 200
"""Most jobs in one question."""


def ask(command: Sequence[str], *, partly: bool = False) -> str | None:
    """Return the output of a SLURM command; None when it is missing, fails or hangs.

    With ``partly``, the output of a failed command counts too: SLURM fails when it has forgotten
    some of the jobs, and still describes the others.
    """
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if partly or done.returncode == 0 else None


def _states(command: Sequence[str], ids: Collection[str]) -> dict[str, str]:
    """Read the state of each job (of "CANCELLED by 1000" the first word) until SLURM fails."""
    states: dict[str, str] = {}
    jobs = sorted(ids)
    for start in range(0, len(jobs), TOGETHER):
        answer = ask([*command, ",".join(jobs[start : start + TOGETHER])], partly=True)
        if answer is None:
            break
        rows = (line.strip().split("|") for line in answer.splitlines())
        states |= {row[0]: row[1].split()[0] for row in rows if len(row) == 2 and row[1]}
    return {job: state for job, state in states.items() if job in ids}


def slurm_states(ids: Collection[str]) -> dict[str, str]:
    """Return the state of each job that SLURM still knows: RUNNING, TIMEOUT, NODE_FAIL, ….

    The controller is asked first, then the accounting. Unknown jobs are left out; the result is
    empty without SLURM or an answer in time.
    """
    jobs = {job for job in ids if JOB.fullmatch(job)}
    if not jobs:
        return {}
    states = _states(["squeue", "-h", "-t", "all", "-o", "%i|%T", "-j"], jobs)
    if forgotten := jobs - states.keys():
        command = ["sacct", "-n", "-X", "-P", "-o", "JobID,State", "-j"]
        states |= _states(command, forgotten)
    return states


@dataclass(frozen=True)
class Queue:
    """A user's jobs in SLURM's queue; empty without SLURM."""

    listed: bool = False
    """Whether SLURM answered, so that a missing job is over."""
    states: Mapping[str, str] = field(default_factory=dict)
    """State of each job by id."""
    pending: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Id of the waiting job of a model and part, among those submitted from this directory."""


def read_queue(parts: Iterable[tuple[str, str]]) -> Queue:
    """Read the queue with the waiting jobs of models (or titles of parts) and parts.

    Snakemake writes a job's rule and wildcards into its comment.
    """
    # Not above: each job asks SLURM for its share, and settings take a tenth of a second to import.
    from blimpworks.campaign.parts import ANSWERS_SUFFIX

    answer = ask(["squeue", "--me", "-h", "-t", "all", "-o", "%i|%T|%Z|%k"])
    if answer is None:
        return Queue()
    by_wildcards = {}
    for title, part in parts:
        wildcards = f"{title.removesuffix(ANSWERS_SUFFIX)}_{part}"
        by_wildcards[title.endswith(ANSWERS_SUFFIX), wildcards] = title, part
    states, pending = {}, {}
    for line in answer.splitlines():
        if line.count("|") < 3:
            continue
        job, state, directory, comment = line.split("|", 3)
        states[job] = state
        rule, _, wildcards = comment.partition("_wildcards_")
        match = by_wildcards.get((rule.startswith("rule_answer"), wildcards))
        if state == "PENDING" and match and Path(directory) == Path.cwd():
            pending[match] = job
    return Queue(True, states, pending)


UNITS = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2}
"""MiB of a unit of memory."""


def mebibytes(text: str, unit: str = "") -> int | None:
    """Read ``1234K`` as MiB, a number without unit in ``unit``; None for anything else."""
    match = re.fullmatch(r"([0-9.]+)([KMGT]?)n?", text)
    scale = UNITS.get(match[2] or unit) if match else None
    return round(float(match[1]) * scale) if match and scale else None
