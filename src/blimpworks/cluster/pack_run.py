"""The job of a pack: its members as attempts of their own, side by side on its GPUs."""

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
"""Attempts in a row that got nowhere after which a member is given up, so that it does not
hold back the others for ever."""
SPEAKER = re.compile(r"^blimpworks( \(attempt\))?: ")
FAILURE = 1
"""Exit code of a pack that a further attempt may complete."""


@dataclass(frozen=True, slots=True)
class Member:
    """A scoring command and where it writes."""

    name: str
    arguments: tuple[str, ...]
    """Of ``blimpworks score``, without its log."""
    manifest: Path
    log: Path
    slots: int
    """GPUs that it needs; cores where the pack has no GPUs."""


@dataclass
class _Running:
    member: Member
    process: subprocess.Popen[bytes]
    slots: list[str]


@dataclass
class _Slots:
    """The GPUs (by id) or cores of the job that nobody uses."""

    free: list[str]
    gpus: bool
    width: int
    members: int

    def take(self, count: int) -> list[str] | None:
        """Ids of ``count`` free units, which are then in use; None where fewer are free."""
        if count > len(self.free):
            return None
        taken, self.free = self.free[:count], self.free[count:]
        return taken

    def environment(self, taken: Sequence[str]) -> Mapping[str, str]:
        """The environment of a member that has them."""
        own = {VISIBLE: ",".join(taken)} if self.gpus else {}
        return os.environ | own | {PACKED: f"{len(taken)}/{self.width},{self.members}"}


def find_slots(width: int, *, gpus: bool) -> list[str]:
    """Ids of the job's GPUs, or numbers of its cores, ``width`` of them at most."""
    visible = os.environ.get(VISIBLE, "")
    if gpus and visible:
        return visible.split(",")[:width]
    return [str(number) for number in range(width)]


@dataclass
class _Stop:
    """Whether somebody asked the pack to end; its members are asked by the same signal."""

    requested: bool = False
    running: list[_Running] = field(default_factory=list)

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        self.requested = True
        for each in self.running:
            each.process.send_signal(signal.SIGTERM)


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
    """Whether another member would still fit into the allocation."""

    def __init__(self, ends: float | None) -> None:
        self._ends, self._longest = ends, 0.0
        self._begun: dict[Member, float] = {}

    def begin(self, member: Member) -> None:
        """Note when a member starts."""
        self._begun[member] = time.time()

    def end(self, member: Member) -> None:
        """Note how long a member took."""
        self._longest = max(self._longest, time.time() - self._begun[member])

    def is_over(self) -> bool:
        """Whether one that takes as long as the longest so far would be cut off."""
        left = math.inf if self._ends is None else self._ends - time.time()
        return left < CAUTION * self._longest + RESERVE


def _side_by_side(members: Sequence[Member], slots: _Slots) -> Iterator[tuple[Member, int]]:
    """Run members, as many at a time as there are slots; each with its exit code as it ends.

    None is started when the allocation is nearly over.
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
        for each in [r for r in stop.running if r.process.poll() is not None]:
            stop.running.remove(each)
            slots.free += each.slots
            clock.end(each.member)
            yield each.member, each.process.returncode


def _got_on(members: Iterable[Member]) -> bool:
    """Whether the last attempt of any of some members has scored something."""
    last = (read_attempts(journal_path(member.log))[-1:] for member in members)
    return any(a.scored and a.scored.new for attempts in last for a in attempts)


def got_nowhere(log_file: Path) -> int:
    """How many attempts in a row, up to the last, ended without a single new score."""
    count = 0
    for attempt in reversed(read_attempts(journal_path(log_file))):
        if attempt.cause == "done" or (attempt.scored and attempt.scored.new):
            break
        count += attempt.cause not in ("cancelled", None)
    return count


def _give_up(member: Member) -> bool:
    """Whether a member that failed is not tried again; its manifest then says why it failed.

    Run again later, it has as many tries once more.
    """
    tries = got_nowhere(member.log)
    if tries == 0 or tries % TRIES:
        return False
    said = member.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    reason = SPEAKER.sub("", said[-1]) if said else "it said nothing"
    failed = Failed(failed=reason, log=str(member.log))
    write_text(member.manifest, failed.model_dump_json(indent=1) + "\n")
    log.error("%s is given up: %s", member.name, reason)
    return True


def run_pack(members: Sequence[Member], width: int, *, gpus: bool) -> int:
    """Run the members of a pack on ``width`` GPUs (or cores, without ``gpus``).

    Returns the exit code to end with: 0 when each is scored or given up, 75 when time ran out,
    else 1. Raises UserError when one needs more than there is.
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
    left = [m for m in members if codes.get(m) != 0]
    paused = [m for m in left if codes.get(m) in (OUT_OF_TIME, None)]
    if paused:
        if _got_on(codes) and put_back(find_allocation()):
            time.sleep(GRACE)
        return OUT_OF_TIME
    return 0 if all(_give_up(m) for m in left) else FAILURE
