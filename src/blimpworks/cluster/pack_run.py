"""Run the members of a pack side by side on the GPUs of one job, each as an attempt."""

import logging
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from blimpworks.cluster.allocation import CAUTION, RESERVE, find_allocation
from blimpworks.cluster.attempt import GRACE, OUT_OF_TIME, PACKED, put_back
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.records.journal import journal_path, read_attempts
from blimpworks.scoring.run import Failed

log = logging.getLogger(__name__)

VISIBLE = "CUDA_VISIBLE_DEVICES"
TRIES = 3
"""Failed attempts in a row without a new score after which a member is given up."""
SPEAKER = re.compile(r"^blimpworks( \(attempt\))?: ")
FAILURE = 1
"""Exit code of a pack that a further attempt may complete."""


@dataclass(frozen=True, slots=True)
class Member:
    """A scoring command with its output files."""

    name: str
    arguments: tuple[str, ...]
    """Arguments of ``blimpworks score``, without its log."""
    manifest: Path
    log: Path
    slots: int
    """GPUs of the member; cores in a pack without GPUs."""


@dataclass
class _Running:
    member: Member
    process: subprocess.Popen[bytes]
    slots: list[str]


@dataclass
class _Slots:
    """Free GPUs (by id) or cores of the job."""

    free: list[str]
    gpus: bool
    width: int
    members: int

    def take(self, count: int) -> list[str] | None:
        """Reserve ``count`` units and return their ids; None when fewer are free."""
        if count > len(self.free):
            return None
        taken, self.free = self.free[:count], self.free[count:]
        return taken

    def environment(self, taken: Sequence[str]) -> Mapping[str, str]:
        """Return the environment of a member on the units ``taken``."""
        visible = {VISIBLE: ",".join(taken)} if self.gpus else {}
        return os.environ | visible | {PACKED: f"{len(taken)}/{self.width},{self.members}"}


def find_slots(width: int, *, gpus: bool) -> list[str]:
    """List the ids of the job's GPUs, or numbers of its cores, at most ``width``."""
    visible = os.environ.get(VISIBLE, "")
    if gpus and visible:
        return visible.split(",")[:width]
    return [str(number) for number in range(width)]


@dataclass
class _Stop:
    """Passes on the request to end to the members of the pack."""

    requested: bool = False
    running: list[_Running] = field(default_factory=list)

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        self.requested = True
        for member_run in self.running:
            member_run.process.send_signal(signal.SIGTERM)


def _start(member: Member, slots: _Slots, taken: list[str]) -> _Running:
    member.log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "blimpworks", "score", *member.arguments]
    with member.log.open("wb") as handle:
        process = subprocess.Popen(
            [*command, "--log", str(member.log)],
            stdout=handle,
            stderr=subprocess.STDOUT,
            env={**slots.environment(taken)},
        )
    log.info("%s starts; its log is %s", member.name, member.log)
    return _Running(member, process, taken)


class _Time:
    """Tells whether another member would still fit into the allocation."""

    def __init__(self, ends: float | None) -> None:
        self._ends, self._longest = ends, 0.0
        self._begun: dict[Member, float] = {}

    def begin(self, member: Member) -> None:
        self._begun[member] = time.time()

    def end(self, member: Member) -> None:
        self._longest = max(self._longest, time.time() - self._begun[member])

    def is_over(self) -> bool:
        seconds_left = math.inf if self._ends is None else self._ends - time.time()
        return seconds_left < CAUTION * self._longest + RESERVE


def _side_by_side(members: Sequence[Member], slots: _Slots) -> Iterator[tuple[Member, int]]:
    """Run as many members at a time as there are slots; yield each with its exit code.

    Starts none near the end of the allocation.
    """
    waiting, stop, clock = list(members), _Stop(), _Time(find_allocation().ends)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    while waiting or stop.running:
        closed = stop.requested or clock.is_over()
        for member in list(waiting):
            taken = None if closed else slots.take(member.slots)
            if taken is not None:
                waiting.remove(member)
                clock.begin(member)
                stop.running.append(_start(member, slots, taken))
        if closed and not stop.running:
            return
        time.sleep(0.1)
        for ended in [r for r in stop.running if r.process.poll() is not None]:
            stop.running.remove(ended)
            slots.free += ended.slots
            clock.end(ended.member)
            yield ended.member, ended.process.returncode


def _got_on(members: Iterable[Member]) -> bool:
    last = (read_attempts(journal_path(member.log))[-1:] for member in members)
    return any(a.scored and a.scored.new for attempts in last for a in attempts)


def got_nowhere(log_file: Path) -> int:
    """Count the last attempts in a row that ended without a new score."""
    count = 0
    for attempt in reversed(read_attempts(journal_path(log_file))):
        if attempt.cause == "done" or (attempt.scored and attempt.scored.new):
            break
        count += attempt.cause not in ("cancelled", None)
    return count


def _give_up(member: Member) -> bool:
    """Write into a member's manifest why it failed, if it has failed often enough.

    A later run gives it the same number of attempts again.
    """
    tries = got_nowhere(member.log)
    if tries == 0 or tries % TRIES:
        return False
    log_lines = member.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    reason = SPEAKER.sub("", log_lines[-1]) if log_lines else "it said nothing"
    failed = Failed(failed=reason, log=str(member.log))
    write_text(member.manifest, failed.model_dump_json(indent=1) + "\n")
    log.error("%s is given up: %s", member.name, reason)
    return True


def run_pack(members: Sequence[Member], width: int, *, gpus: bool) -> int:
    """Run the members of a pack on ``width`` GPUs (cores without ``gpus``); return an exit code.

    0: all are scored or given up; 75: out of time; else 1. Raises UserError when a member needs
    more than the job has.
    """
    slots = _Slots(find_slots(width, gpus=gpus), gpus, width, len(members))
    largest = max(members, key=lambda member: member.slots)
    if largest.slots > len(slots.free):
        raise UserError(
            f"{largest.name} needs {largest.slots} {'GPUs' if gpus else 'cores'}, but this job "
            f"has {len(slots.free)} ({VISIBLE} is {os.environ.get(VISIBLE)!r}); run it on the "
            "cluster of the site's file."
        )
    codes = {}
    for member, code in _side_by_side(members, slots):
        codes[member] = code
        log.info("%s ended with exit code %d", member.name, code)
        log.info("%d of %d are over", len(codes), len(members))
    unfinished = [m for m in members if codes.get(m) != 0]
    paused = [m for m in unfinished if codes.get(m) in (OUT_OF_TIME, None)]
    if paused:
        if _got_on(codes) and put_back(find_allocation()):
            time.sleep(GRACE)
        return OUT_OF_TIME
    return 0 if all(_give_up(m) for m in unfinished) else FAILURE
