"""Read and write journals of a job's attempts: the resources that each requested, and why it ended.

A journal is a file beside the job's log, with a JSON object per line (``append_entry``). The
process that supervises an attempt appends ``Started`` and ``Ended``. An attempt without an end was
killed or lost with its node; then the next attempt appends its last progress (``Lost``).
``read_attempts`` returns the attempts.
"""

import errno
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import AwareDatetime, Field, NonNegativeInt, TypeAdapter

from blimpworks.errors import reading
from blimpworks.files import named_errors
from blimpworks.strict import Strict

Cause = Literal["done", "walltime", "memory", "gpu_memory", "cancelled", "input", "error", "killed"]
"""Reason why an attempt ended: it was done; it ran out of time, memory or GPU memory; a signal told
it to end; it raised ``UserError``; it failed otherwise; it was killed."""
AttemptId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
"""A uuid4, as 32 hexadecimal digits."""


class Asked(Strict):
    """Resources that an attempt requested of the scheduler."""

    mem_mb: NonNegativeInt
    """Main memory, in MB."""
    minutes: NonNegativeInt
    """Walltime."""
    gpus: NonNegativeInt
    cores: NonNegativeInt


class Scored(Strict):
    """Sentences and tokens that an attempt had scored by its last report."""

    sentences: NonNegativeInt
    """Sentences of the job."""
    done: NonNegativeInt
    """Sentences with scores, of any attempt."""
    new: NonNegativeInt
    """Sentences that this attempt scored."""
    tokens: NonNegativeInt
    """Tokens that this attempt scored."""
    load_seconds: float | None
    """Estimated time for starting the engine and loading the model [s]; None if unknown."""
    score_seconds: float
    """Time of the attempt without ``load_seconds``, until the report [s]."""


class Started(Strict):
    """An attempt started."""

    event: Literal["started"] = "started"
    attempt: AttemptId
    time: AwareDatetime
    slurm_job: str | None
    node: str
    gpus: tuple[str, ...]
    """Names of visible GPUs."""
    asked: Asked


class Ended(Strict):
    """An attempt ended, and its supervisor recorded the cause."""

    event: Literal["ended"] = "ended"
    attempt: AttemptId
    time: AwareDatetime
    cause: Cause
    exit: int
    seconds: float
    """Time from its start [s]."""
    rss_mb: NonNegativeInt | None
    """Largest resident memory of the attempt's processes, in MB."""
    scored: Scored | None = None


class Lost(Strict):
    """Progress of an attempt without an end, written by the next attempt."""

    event: Literal["left"] = "left"
    attempt: AttemptId
    time: AwareDatetime
    """Time of the last progress."""
    scored: Scored


Entry = Started | Ended | Lost
_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="event")])


class Attempt(NamedTuple):
    """One run of a job in the journal."""

    started: Started
    ended: Ended | None = None
    lost: Lost | None = None

    @property
    def cause(self) -> Cause | None:
        """Cause of the end; None for an attempt that is running or lost."""
        return self.ended.cause if self.ended else None

    @property
    def scored(self) -> Scored | None:
        """Scored sentences and tokens, if known."""
        last = self.ended or self.lost
        return last.scored if last else None


REMEDY = "Remove the line: only the resources of the next attempt depend on it."


def now() -> datetime:
    """Return the time in UTC, in whole milliseconds."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def journal_path(log: Path) -> Path:
    """Return the path of the journal beside a job's ``log``."""
    return log.with_suffix(".attempts.jsonl")


def progress_path(log: Path) -> Path:
    """Return the path of the progress file beside a job's ``log``."""
    return log.with_suffix(".progress.json")


def append_entry(path: Path, entry: Entry) -> None:
    """Append a line to a journal by one write, and flush it to disk.

    Several processes may append. After an incomplete line, the entry starts on a new line. Raises
    OSError when the entry was not written completely.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    line = f"{entry.model_dump_json()}\n".encode()
    with named_errors(path), path.open("ab+", buffering=0) as handle:
        size = handle.seek(0, os.SEEK_END)
        if size and os.pread(handle.fileno(), 1, size - 1) != b"\n":
            line = b"\n" + line
        if handle.write(line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle.fileno())


def read_entries(path: Path) -> list[Entry]:
    """Return the entries of a journal in order; an empty list if there is no journal.

    Incomplete lines, as after a full disk or a lost node, are skipped. Raises UserError for a line
    of JSON that is not an entry.
    """
    with reading(path, "a journal of attempts", "Remove it: nothing depends on it."):
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
    entries = []
    for number, line in enumerate(lines, start=1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        with reading(Path(f"{path}:{number}"), "an entry of a journal of attempts", REMEDY):
            entries.append(_ENTRY.validate_python(value))
    return entries


def read_attempts(path: Path) -> list[Attempt]:
    """Return the attempts of a journal in the order of their starts. Raises as ``read_entries``."""
    entries = read_entries(path)
    ended = {entry.attempt: entry for entry in entries if isinstance(entry, Ended)}
    lost = {entry.attempt: entry for entry in entries if isinstance(entry, Lost)}
    started = [entry for entry in entries if isinstance(entry, Started)]
    return [Attempt(s, ended.get(s.attempt), lost.get(s.attempt)) for s in started]
