"""Run one attempt at a scoring job in a child process, and record in a journal how it ended.

``blimpworks score`` and ``blimpworks answer`` call ``run_attempt``, which starts the same command
again as the child. The journal beside the job's log gets an entry at the start, and one at the end:
{"attempt": "3f0c…", "cause": "memory", …}.

Each run of a scoring job is an attempt; a SLURM job may run several scoring jobs.
When memory runs out, the kernel kills the larger process, the child; the parent can still write.
Near the end of the SLURM job's time, the child stops between two shards (files with scores). The
parent then requeues the SLURM job, for which Snakemake keeps waiting.
"""

import ctypes
import logging
import os
import re
import resource
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import product
from pathlib import Path
from types import FrameType

from blimpworks.cluster.slurm import DEADLINE, Allocation, ask, find_allocation
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.records import journal
from blimpworks.scoring.progress import ATTEMPT, read_progress

log = logging.getLogger(__name__)

OUT_OF_TIME = 75
"""Exit code of a job that stopped between shards (EX_TEMPFAIL of sysexits.h)."""
USER_ERROR = 2
"""Exit code after a ``UserError``."""
GPU_FULL = re.compile(
    r"cuda(?: error)?:? out of memory|outofmemoryerror|no available memory for the cache|"
    r"free memory on device|larger than the available kv cache",
    re.IGNORECASE,
)
"""Messages of PyTorch and vLLM when GPU memory is too small."""
SEARCHED_CHARACTERS = 4000
"""Characters at the end of a log that are searched for ``GPU_FULL``."""
REQUEUE_SECONDS = 60.0
"""Seconds that SLURM may take to end a requeued job."""

CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")
"""Control groups of this process, in lines such as ``4:memory:/slurm/uid_7/job_12``."""


def memory_groups() -> list[Path]:
    """List memory control groups of this process and its SLURM job. Raises OSError without any."""
    directories: list[Path] = []
    for line in MEMBERSHIP.read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory") or "memory" in controllers.split(","):
            base = CGROUPS / "memory" if controllers else CGROUPS
            group = base / path.lstrip("/")
            directories.append(group)
            # Groups above the folder job_… belong to the node, with other users' processes.
            directories += [parent for parent in group.parents if "/job_" in str(parent)]
    return directories


def count_kills() -> int:
    """Return how often the kernel killed processes of ``memory_groups`` for lack of memory.

    The counts are in ``memory.oom_control`` (cgroups v1) and ``memory.events`` (v2); without such
    files, return 0. They include earlier processes, and a process counts in each of its groups. So
    only compare two results: a larger one means that a process was killed.
    """
    kills = 0
    with suppress(OSError):
        for group, name in product(memory_groups(), ("memory.oom_control", "memory.events")):
            with suppress(OSError):
                text = (group / name).read_text(encoding="utf-8")
                kills += sum(map(int, re.findall(r"^oom_kill (\d+)$", text, re.MULTILINE)))
    return kills


PARENT_DEATH_SIGNAL = 1
"""``PR_SET_PDEATHSIG`` of Linux's prctl."""


def die_with_parent() -> None:
    """Have Linux kill this process when its parent ends. The child calls this first."""
    with suppress(AttributeError, OSError):  # on other systems, the child goes on without parent
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


class _SignalForwarder:
    """Handler of SIGTERM and SIGINT that sends SIGTERM to the child process.

    When SLURM cancels a job, it signals only the job's first process, a Snakemake; this process is
    killed without warning. Then ``retry_scaling`` asks SLURM how the job ended.
    """

    def __init__(self) -> None:
        self.child: subprocess.Popen[bytes] | None = None
        self.received = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self)

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        self.received = True
        if self.child is not None and self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)


def cause_of(
    code: int, *, kills: int = 0, on_request: bool = False, out_of_time: bool = False, end: str = ""
) -> journal.Cause:
    """Return the reason why an attempt ended; if several apply, the first of those tested below.

    ``code``: exit code of the child, negative for a signal. ``kills``: number of processes that
    were killed for lack of memory. ``on_request``: whether a signal told this process to end.
    ``out_of_time``: whether the allocation is over. ``end``: last characters of the log.
    """
    if code == 0:
        return "done"
    if on_request:
        return "walltime" if out_of_time else "cancelled"
    if kills > 0:
        return "memory"
    if code == OUT_OF_TIME:
        return "walltime"
    if GPU_FULL.search(end):
        return "gpu_memory"
    if code == USER_ERROR:
        return "input"
    return "killed" if code in (-signal.SIGKILL, 128 + signal.SIGKILL) else "error"


def _read_progress_of(attempt: str, log_file: Path) -> tuple[datetime, journal.Scored] | None:
    """Return time and counts of the progress file; None if the attempt has not written it."""
    with suppress(UserError):
        progress = read_progress(journal.progress_path(log_file))
        if progress and progress.attempt == attempt:
            counts = progress.model_dump(include=set(journal.Scored.model_fields))
            return progress.updated, journal.Scored.model_validate(counts)
    return None


def _record_lost_attempt(log_file: Path) -> None:
    """Append to the journal what the last attempt scored, if it was killed with its parent."""
    attempts = journal.read_attempts(journal.journal_path(log_file))
    if not attempts or attempts[-1].ended or attempts[-1].lost:
        return
    lost = attempts[-1].started.attempt
    if read := _read_progress_of(lost, log_file):
        time_of_progress, scored = read
        entry = journal.Lost(attempt=lost, time=time_of_progress, scored=scored)
        journal.append_entry(journal.journal_path(log_file), entry)


def _started_late(allocation: Allocation, log_file: Path) -> bool:
    """Return whether a scoring job began in the second half of its SLURM job's time.

    Other scoring jobs took the first half. They are done when the SLURM job is requeued, so this
    job gets more time. Only its first attempt in the SLURM job may count, or requeues never end.
    """
    starts = [attempt.started for attempt in journal.read_attempts(journal.journal_path(log_file))]
    times = [start.time for start in starts if start.slurm_job == allocation.slurm_job]
    if len(times) != 1 or allocation.ends is None or allocation.minutes is None:
        return False
    seconds_left_at_start = allocation.ends - times[0].timestamp()
    return seconds_left_at_start < 60 * allocation.minutes / 2


def run_attempt(command: Sequence[str], log_file: Path) -> int:
    """Run ``command`` as an attempt, record it in the journal of ``log_file``; return the code.

    If a signal ended the child, the code is 128 + the signal's number. Raises OSError when the
    start cannot be written into the journal.
    """
    allocation, attempt, signals = find_allocation(), uuid.uuid4().hex, _SignalForwarder()
    try:
        _record_lost_attempt(log_file)
    except UserError as error:
        print(f"blimpworks: {error}", file=sys.stderr)
    started = journal.Started(
        attempt=attempt,
        time=journal.now(),
        slurm_job=allocation.slurm_job,
        node=allocation.node,
        gpus=allocation.gpus,
        asked=journal.Asked(
            mem_mb=allocation.mem_mb or 0,
            minutes=allocation.minutes or 0,
            gpus=len(allocation.gpus),
            cores=allocation.cores or 0,
        ),
    )
    journal.append_entry(journal.journal_path(log_file), started)
    # The child writes the attempt's id into its progress file, and stops before the deadline.
    environment = os.environ | {ATTEMPT: attempt}
    if allocation.ends is not None:
        environment[DEADLINE] = str(allocation.ends)
    start, kills_before = time.monotonic(), count_kills()
    signals.child = subprocess.Popen(command, env=environment)
    if signals.received:  # before the child started
        signals.child.send_signal(signal.SIGTERM)
    code = signals.child.wait()
    try:
        log_text = log_file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        log_text = ""
    # SLURM states the end in whole seconds, so allow for one.
    is_over = allocation.ends is not None and time.time() > allocation.ends - 1
    cause = cause_of(
        code,
        kills=count_kills() - kills_before,
        on_request=signals.received,
        out_of_time=is_over,
        end=log_text[-SEARCHED_CHARACTERS:],
    )
    time_and_counts = _read_progress_of(attempt, log_file)
    ended = journal.Ended(
        attempt=attempt,
        time=journal.now(),
        cause=cause,
        exit=code,
        seconds=round(time.monotonic() - start, 3),
        rss_mb=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        scored=time_and_counts[1] if time_and_counts else None,
    )
    try:
        journal.append_entry(journal.journal_path(log_file), ended)
    except OSError as error:
        print(f"blimpworks: the end of this attempt is not recorded: {error}", file=sys.stderr)
    _explain(cause, allocation)
    if cause == "walltime" and code == OUT_OF_TIME:
        has_new_scores = ended.scored is not None and ended.scored.new > 0
        _requeue(allocation, is_useful=has_new_scores or _started_late(allocation, log_file))
    return code if code >= 0 else 128 - code


def _requeue(allocation: Allocation, *, is_useful: bool) -> None:
    job = allocation.slurm_job
    if not is_useful:
        # Requeued, the job would have the same time, and would finish no shard either.
        log.info("no shard was finished in this time; the next attempt gets more time")
    elif job and allocation.requeue and ask(["scontrol", "requeue", job]) is not None:
        log.info("SLURM queues job %s again, which continues from here", job)
        time.sleep(REQUEUE_SECONDS)  # SLURM ends this process meanwhile
    else:
        log.info("SLURM does not queue this job again; the workflow's next attempt continues")


def _explain(cause: journal.Cause, allocation: Allocation) -> None:
    """Print why an attempt ended that was killed or lacked memory, and what follows from that."""
    messages = {
        "memory": "the kernel killed it because memory ran out "
        f"({allocation.mem_mb or '?'} MB requested); the next attempt asks for twice as much",
        "gpu_memory": "the GPU's memory is too small; the next attempt asks for more. If the model "
        "shares a SLURM job with others, state its gpus or memory_gb in the site's file",
        "cancelled": "it was ended from outside; the scores so far are kept",
        "killed": "it was killed; the scores so far are kept",
    }
    if cause in messages:
        job, node = allocation.slurm_job, allocation.node
        where = f"SLURM job {job} on {node}: " if job else ""
        print(f"blimpworks (attempt): {where}{messages[cause]}.", file=sys.stderr)


PREFIX = re.compile(r"^blimpworks( \(attempt\))?: ")
"""Name of the program before a message."""


def give_up(code: int, manifest: Path, log_file: Path) -> int:
    """Write a manifest with the reason why a job failed, and return 0, so that the run goes on.

    Called after the last attempt, whose exit code is ``code``. The manifest then lists no shards.
    For a job that succeeded, ran out of time or was cancelled, write nothing and return ``code``.
    """
    if code in (0, OUT_OF_TIME, 128 + signal.SIGTERM, 128 + signal.SIGINT):
        return code
    log_lines = log_file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    reason = PREFIX.sub("", log_lines[-1]) if log_lines else "it said nothing"
    from blimpworks.scoring.shards import Failed  # slow to import

    failed = Failed(failed=reason, log=str(log_file))
    write_text(manifest, failed.model_dump_json(indent=1) + "\n")
    print(f"blimpworks: given up: {reason}", file=sys.stderr)
    return 0
