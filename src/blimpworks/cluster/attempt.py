"""One attempt at a job: a process that starts the work, and lives to say how it ended.

The work is a child: when memory runs out the kernel kills that, the larger one, and what is
left can write down why. When the allocation is nearly over the work stops between two shards
(``deadline``), and the job is put back into SLURM's queue from here, which no executor has to
know about: it goes on waiting for the same job.
"""

import ctypes
import logging
import math
import os
import re
import resource
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from blimpworks.cluster.allocation import Allocation, find_allocation
from blimpworks.cluster.deadline import DEADLINE
from blimpworks.cluster.slurm import ask
from blimpworks.errors import UserError
from blimpworks.records.journal import (
    Asked,
    Cause,
    Ended,
    Left,
    Scored,
    Started,
    append_entry,
    journal_path,
    now,
    progress_path,
    read_attempts,
)
from blimpworks.scoring.progress import ATTEMPT, Progressed, read_progress

CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def memory_groups() -> list[Path]:
    """Control groups of this process that count memory, from its own up to its job's.

    Raises OSError where the system has none.
    """
    directories: list[Path] = []
    for line in MEMBERSHIP.read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory") or "memory" in controllers.split(","):
            base = CGROUPS / "memory" if controllers else CGROUPS
            own = base / path.lstrip("/")
            # Above a job's group lie those of the whole node, which count other people's too.
            job = [p for p in own.parents if any(part.startswith("job_") for part in p.parts)]
            directories += [own, *job]
    return directories


def count_kills() -> int:
    """Processes of this process's control groups that were killed when memory ran out.

    The files are those of the kernel's cgroups v1 (``memory.oom_control``) and v2
    (``memory.events``); 0 where there are none. Only a difference says something.
    """
    try:
        directories = memory_groups()
    except OSError:
        return 0
    counts = [0]
    for directory in directories:
        for name in ("memory.oom_control", "memory.events"):
            try:
                text = (directory / name).read_text(encoding="utf-8")
            except OSError:
                continue
            counts += map(int, re.findall(r"^oom_kill (\d+)$", text, flags=re.MULTILINE))
    return sum(counts)


log = logging.getLogger(__name__)

OUT_OF_TIME = 75
"""Exit code of work that stopped between shards (EX_TEMPFAIL of sysexits.h)."""
MISTAKE = 2
"""Exit code of what ``UserError`` says."""
GPU_FULL = re.compile(
    r"cuda(?: error)?:? out of memory|outofmemoryerror|no available memory for the cache|"
    r"free memory on device|larger than the available kv cache",
    re.IGNORECASE,
)
"""What PyTorch and vLLM say when a GPU's memory is too small."""
LAST_LINES = 4000
"""Characters of a log's end that are looked through for it."""
DEATH_SIGNAL = 1
"""``PR_SET_PDEATHSIG`` of Linux's prctl."""
PACKED = "BLIMPWORKS_PACKED"
"""Environment variable of a job that shares its allocation, which others then care for: its
share of the GPUs, and of how many members it is one (``1/4,70``)."""
GRACE = 60.0
"""Seconds that SLURM may take to end a job that was put back into the queue."""


def is_attempt(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process is the work of an attempt."""
    return ATTEMPT in environment


def die_with_parent() -> None:
    """End this process when the one that started it ends, however that happens (on Linux)."""
    try:
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)
    except (AttributeError, OSError):
        return  # another system: an orphan would finish its work


@dataclass
class _Signals:
    """Signals that asked this process to end, passed on to its child."""

    child: subprocess.Popen[bytes] | None = None
    received: list[int] = field(default_factory=list)

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self.received.append(number)
        if self.child is not None and self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)

    def listen(self) -> None:
        """Take SIGTERM and SIGINT.

        SLURM sends them to a step's first process alone, which is a Snakemake, and then kills
        the rest: an attempt that it cancels is lost, and SLURM is asked what became of it.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self)


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known when the work has ended."""

    code: int
    """Its exit code; negative for a signal."""
    kills: int
    """Processes killed meanwhile because memory ran out."""
    on_request: bool
    """Whether somebody asked this process to end."""
    out_of_time: bool
    """Whether that was when the allocation's time was over."""
    said: str
    """The end of its log."""


def cause_of(ending: Ending) -> Cause:
    """Why an attempt ended."""
    killed = ending.code in (-signal.SIGKILL, 128 + signal.SIGKILL)
    causes: list[tuple[bool, Cause]] = [
        (ending.code == 0, "done"),
        (ending.on_request, "walltime" if ending.out_of_time else "cancelled"),
        (ending.kills > 0, "memory"),
        (ending.code == OUT_OF_TIME, "walltime"),
        (GPU_FULL.search(ending.said) is not None, "gpu_memory"),
        (ending.code == MISTAKE, "input"),
        (killed, "killed"),
    ]
    return next((cause for holds, cause in causes if holds), "error")


def _progress(log_file: Path, attempt: str) -> Progressed | None:
    """What an attempt's progress file says, if it is still that attempt's."""
    try:
        progress = read_progress(progress_path(log_file))
    except UserError:
        return None
    return progress if progress is not None and progress.attempt == attempt else None


def _scored(progress: Progressed | None) -> Scored | None:
    """The part of it that the journal keeps."""
    return progress and Scored.model_validate(progress.model_dump(include=set(Scored.model_fields)))


def _enter_lost(log_file: Path) -> None:
    """Enter what the attempt before this left behind, if it could not itself."""
    attempts = read_attempts(journal_path(log_file))
    if not attempts or attempts[-1].ended or attempts[-1].left:
        return
    lost = attempts[-1].started.attempt
    progress = _progress(log_file, lost)
    scored = _scored(progress)
    if progress and scored:
        append_entry(
            journal_path(log_file), Left(attempt=lost, time=progress.updated, scored=scored)
        )


def _own_share(place: Allocation) -> Allocation:
    """What of a shared allocation is this attempt's, so that all members' add up to the whole."""
    share, _, members = os.environ.get(PACKED, "").partition(",")
    if not members:
        return place
    slots, width = map(int, share.split("/"))
    return replace(
        place,
        gpus=place.gpus[:slots],
        minutes=place.minutes and math.ceil(place.minutes * width / (slots * int(members))),
        mem_mb=place.mem_mb and place.mem_mb * slots // width,
    )


def _start(log_file: Path, attempt: str, place: Allocation) -> None:
    try:
        _enter_lost(log_file)
    except UserError as error:
        print(f"blimpworks: {error}", file=sys.stderr)
    started = Started(
        attempt=attempt,
        time=now(),
        slurm_job=place.slurm_job,
        node=place.node,
        gpus=place.gpus,
        asked=Asked(**place.requested()),
    )
    append_entry(journal_path(log_file), started)


def _said(log_file: Path) -> str:
    try:
        return log_file.read_text(encoding="utf-8", errors="replace")[-LAST_LINES:]
    except OSError:
        return ""


def _run(command: Sequence[str], environment: Mapping[str, str], signals: _Signals) -> int:
    child = subprocess.Popen(command, env={**environment})
    signals.child = child
    if signals.received:  # before there was a child
        child.send_signal(signal.SIGTERM)
    return child.wait()


def put_back(place: Allocation) -> bool:
    """Whether SLURM takes this job back into its queue; then it ends this process soon."""
    if place.slurm_job is None or not place.requeue:
        return False
    return ask(["scontrol", "requeue", place.slurm_job]) is not None


def _continue_later(ended: Ended, place: Allocation) -> None:
    """Put the job back into the queue if it got somewhere; else its size is wrong."""
    if not (ended.scored and ended.scored.new):
        log.info("no shard was finished in this time; the next attempt gets more")
    elif put_back(place):
        log.info("SLURM job %s is queued again, and goes on there", place.slurm_job)
        time.sleep(GRACE)
    else:
        log.info("SLURM does not queue this job again; the workflow's next attempt goes on")


def run_attempt(command: Sequence[str], log_file: Path) -> int:
    """Run ``command`` as the work of one attempt, and enter it in the journal of ``log_file``.

    Returns the exit code to end with. Raises OSError for a journal that cannot be written.
    """
    place, attempt, signals = _own_share(find_allocation()), uuid.uuid4().hex, _Signals()
    signals.listen()
    _start(log_file, attempt, place)
    environment = os.environ | {ATTEMPT: attempt}
    if place.ends is not None:
        environment[DEADLINE] = str(place.ends)
    begun, kills = time.monotonic(), count_kills()
    code = _run(command, environment, signals)
    ending = Ending(
        code,
        count_kills() - kills,
        bool(signals.received),
        place.ends is not None and time.time() > place.ends - 1,
        _said(log_file),
    )
    ended = Ended(
        attempt=attempt,
        time=now(),
        cause=cause_of(ending),
        exit=code,
        seconds=round(time.monotonic() - begun, 3),
        rss_mb=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        scored=_scored(_progress(log_file, attempt)),
    )
    try:
        append_entry(journal_path(log_file), ended)
    except OSError as error:
        print(f"blimpworks: how this ended cannot be entered: {error}", file=sys.stderr)
    _tell(ended, place)
    if ended.cause == "walltime" and code == OUT_OF_TIME and PACKED not in os.environ:
        _continue_later(ended, place)
    return code if code >= 0 else 128 - code


def _tell(ended: Ended, place: Allocation) -> None:
    """Say in the log what the next attempt will do about it."""
    messages = {
        "memory": "the kernel killed it because memory ran out "
        f"({place.mem_mb or '?'} MB asked for); the next attempt asks for twice as much",
        "gpu_memory": "the GPU's memory is too small; "
        + (
            "state gpus or memory_gb of this model in the site's file"
            if PACKED in os.environ
            else "the next attempt asks for more"
        ),
        "cancelled": "it was ended from outside; what has scores keeps them",
        "killed": "it was killed; what has scores keeps them",
    }
    if ended.cause in messages:
        where = f"SLURM job {place.slurm_job} on {place.node}: " if place.slurm_job else ""
        print(f"blimpworks (attempt): {where}{messages[ended.cause]}.", file=sys.stderr)
