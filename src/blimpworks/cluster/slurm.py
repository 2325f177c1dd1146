"""What SLURM says of jobs, where there is a SLURM that answers."""

import re
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

PATIENCE = 20.0
"""Seconds to wait for an answer: a busy controller takes some."""
JOB = re.compile(r"[0-9]+([_+][0-9]+)?")
TOGETHER = 200
"""Most jobs in one question."""


def ask(command: Sequence[str], *, partly: bool = False) -> str | None:
    """What a SLURM command printed; None where it is missing, fails or hangs.

    Asked for several jobs of which it has forgotten some, it fails and tells of the others:
    with ``partly`` that is an answer too.
    """
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if partly or done.returncode == 0 else None


def _blocks(ids: Collection[str]) -> Iterator[str]:
    waiting = iter(sorted(ids))
    while block := list(islice(waiting, TOGETHER)):
        yield ",".join(block)


def _rows(command: Sequence[str], ids: Collection[str]) -> Iterator[list[str]]:
    """Cells of each line that a command tells of ``ids``; none after one that is not answered."""
    for block in _blocks(ids):
        answer = ask([*command, block], partly=True)
        if answer is None:
            return
        yield from (line.strip().split("|") for line in answer.splitlines())


def _states(command: Sequence[str], ids: Collection[str]) -> dict[str, str]:
    """State of each of ``ids`` that a command tells: of "CANCELLED by 1000" the first word."""
    rows = (row for row in _rows(command, ids) if len(row) == 2 and row[1])
    return {job: state.split()[0] for job, state in rows if job in ids}


def slurm_states(ids: Collection[str]) -> dict[str, str]:
    """SLURM's word for each job that it still knows: RUNNING, TIMEOUT, NODE_FAIL, ….

    The controller is asked first, then the accounting for what it has forgotten. What neither
    knows is left out; empty where there is no SLURM, or none that answers in time.
    """
    jobs = {job for job in ids if JOB.fullmatch(job)}
    if not jobs:
        return {}
    states = _states(["squeue", "-h", "-t", "all", "-o", "%i|%T", "-j"], jobs)
    if rest := jobs - states.keys():
        command = ["sacct", "-n", "-X", "-P", "-o", "JobID,State", "-j"]
        states |= _states(command, rest)
    return states


@dataclass(frozen=True)
class Queue:
    """A user's jobs as SLURM lists them; empty where there is no SLURM."""

    listed: bool = False
    """Whether SLURM listed them, so that a job that is missing is over."""
    states: Mapping[str, str] = field(default_factory=dict)
    """SLURM's word for each job, by id."""
    pending: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Id of the waiting job of a model and part, among those submitted from this directory."""


def _parsed_comment(comment: str) -> tuple[bool, str]:
    """Whether a job answers, by its rule, and its wildcards, from its comment."""
    rule, _, wildcards = comment.partition("_wildcards_")
    return rule.startswith("rule_answer"), wildcards


def read_queue(parts: Iterable[tuple[str, str]]) -> Queue:
    """The queue, with the waiting jobs of some models (or titles of parts) and parts.

    Snakemake writes a job's rule and wildcards into its comment.
    """
    # Not above: each job asks SLURM for its share, and settings take a tenth of a second to import.
    from blimpworks.campaign.parts import ANSWERS_SUFFIX

    answer = ask(["squeue", "--me", "-h", "-t", "all", "-o", "%i|%T|%Z|%k"])
    if answer is None:
        return Queue()
    lines = [line.split("|", 3) for line in answer.splitlines() if line.count("|") >= 3]
    comments = {
        (title.endswith(ANSWERS_SUFFIX), f"{title.removesuffix(ANSWERS_SUFFIX)}_{part}"): (
            title,
            part,
        )
        for title, part in parts
    }
    pending = {}
    for job, state, directory, comment in lines:
        match = comments.get(_parsed_comment(comment))
        if state == "PENDING" and match and Path(directory) == Path.cwd():
            pending[match] = job
    return Queue(True, {job: state for job, state, *_ in lines}, pending)


@dataclass(frozen=True, slots=True)
class Accounted:
    """What SLURM's accounting has of a job, all its runs together."""

    state: str
    """How its last run ended."""
    seconds: float
    rss_mb: int | None
    """Largest memory of a step; None where none was measured."""


UNITS = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2}
"""MiB in a unit of memory."""


def _mib(text: str) -> int | None:
    """``1234K`` in MiB; None where nothing was measured."""
    match = re.fullmatch(r"([0-9.]+)([KMGT])n?", text)
    return round(float(match[1]) * UNITS[match[2]]) if match else None


def accounting(ids: Collection[str]) -> dict[str, Accounted]:
    """What the accounting has of jobs, by id; empty where there is none, or none that answers."""
    jobs: dict[str, Accounted] = {}
    command = ["sacct", "-n", "-P", "-D", "-o", "JobID,State,ElapsedRaw,MaxRSS", "-j"]
    for row in _rows(command, {job for job in ids if JOB.fullmatch(job)}):
        name, state, elapsed, rss = (*row, "", "", "", "")[:4]
        job, _, step = name.partition(".")
        if job not in ids or not elapsed.isdigit():
            continue
        before = jobs.get(job, Accounted("", 0.0, None))
        sizes = [size for size in (before.rss_mb, _mib(rss)) if size is not None]
        jobs[job] = Accounted(
            before.state if step else state.partition(" ")[0],
            before.seconds + (0 if step else int(elapsed)),
            max(sizes, default=None),
        )
    return jobs
