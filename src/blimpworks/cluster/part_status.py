"""What the files of a part say: how far it is, and what became of its job."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from blimpworks.campaign.parts import Kind, Part
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.cluster.present import read_kind
from blimpworks.cluster.slurm import Queue
from blimpworks.files import Listing
from blimpworks.records.journal import Attempt, journal_path, progress_path, read_attempts
from blimpworks.scoring.progress import Progressed, read_progress
from blimpworks.scoring.run import Failed

State = Literal["done", "running", "queued", "waiting", "failed", "lost"]
SILENT = timedelta(minutes=15)
"""So long may pass between two signs of life: a large model loads, or a shard is slow."""
LENIENT = timedelta(minutes=10)
"""So much longer than its walltime a job may live."""
PAUSED = {"walltime": "ran out of time", "cancelled": "was cancelled", "killed": "was killed"}
"""Causes after which the same job goes on, as soon as it is submitted again."""
FAILED = {
    "memory": "ran out of memory; the next attempt asks for more",
    "gpu_memory": "ran out of GPU memory; the next attempt asks for more",
    "input": "refused its input",
    "error": "failed",
}
"""Causes that somebody, or a larger allocation, has to mend."""
TAIL = 8192


def last_words(log: Path) -> str:
    """Last line of a log that says something; empty where there is none."""
    try:
        with log.open("rb") as handle:
            handle.seek(max(0, handle.seek(0, os.SEEK_END) - TAIL))
            text = handle.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    # A progress bar writes over its line.
    lines = (line.strip() for line in text.replace("\r", "\n").split("\n"))
    return next((line for line in reversed([*lines]) if line), "")


@dataclass(frozen=True)
class PartStatus:
    """One part, as its files show it at one time."""

    part: Part
    log: Path
    manifest: int | None
    """Sentences by its manifest; None while there is none."""
    attempts: list[Attempt]
    progress: Progressed | None
    moment: datetime
    queue: Queue = field(default_factory=Queue)
    lacks: str = ""
    """What must be made before it can start."""
    given_up: str = ""
    """Why its job was given up, where its manifest says so in place of scores."""

    @property
    def newest(self) -> Attempt | None:
        """The last attempt at the part; None before the first."""
        return self.attempts[-1] if self.attempts else None

    @property
    def sentences(self) -> int | None:
        """Sentences of the part; None before anything has counted them."""
        if self.manifest is not None:
            return self.manifest
        return self.progress.sentences if self.progress else None

    @property
    def done(self) -> int:
        """Sentences of the part that have scores."""
        if self.manifest is not None:
            return self.manifest
        return self.progress.done if self.progress else 0

    @cached_property
    def heard(self) -> datetime | None:
        """When it last gave a sign of life."""
        signs = [self.newest.started.time] if self.newest else []
        signs += [self.progress.updated] if self.progress else []
        if signs and self.log.exists():
            signs.append(datetime.fromtimestamp(self.log.stat().st_mtime, signs[0].tzinfo))
        return max(signs, default=None)

    @property
    def silent(self) -> timedelta | None:
        """How long it has given no sign of life, where that is strange."""
        if self.heard is None or self.moment - self.heard < SILENT:
            return None
        return self.moment - self.heard

    @property
    def _overdue(self) -> bool:
        assert self.newest is not None
        minutes = self.newest.started.asked.minutes
        end = self.newest.started.time + timedelta(minutes=minutes) + LENIENT
        return bool(minutes) and self.moment > end

    def _of_open_attempt(self) -> tuple[State, str]:
        """State of a part whose newest attempt has no end."""
        assert self.newest is not None
        job = self.newest.started.slurm_job
        known = self.queue.states.get(job or "")
        if known in ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED"):
            return "running", ""
        if known in ("PENDING", "CONFIGURING", "REQUEUED"):
            return "queued", f"job {job} starts again"
        if known:
            return "lost", f"SLURM says {known}"
        if self._overdue:
            minutes = self.newest.started.asked.minutes
            return "lost", f"its {minutes} minutes are over"
        if job and self.queue.listed and self.silent:
            return "lost", f"SLURM does not know job {job} any more"
        return "running", ""

    def _of_newest(self) -> tuple[State, str]:
        """State of a part by its newest attempt."""
        assert self.newest is not None
        cause = self.newest.cause
        if cause is None:
            return self._of_open_attempt()
        if cause in FAILED:
            return "failed", FAILED[cause]
        return "waiting", PAUSED.get(cause, "its manifest is gone")

    @cached_property
    def judged(self) -> tuple[State, str]:
        """State, and what there is to say about it."""
        if self.manifest is not None:
            return "done", ""
        if job := self.queue.pending.get((self.part.title, self.part.part)):
            return "queued", f"job {job}"
        if self.given_up:
            return "failed", self.given_up
        if self.newest is None:
            return self._without_journal()
        return self._of_newest()

    def _without_journal(self) -> tuple[State, str]:
        """State of a part that nobody keeps a journal of."""
        if self.progress is None:
            return "waiting", f"for {self.lacks}" if self.lacks else ""
        if self.silent:
            return "lost", "it stopped, and nothing says why"
        return "running", ""

    @property
    def state(self) -> State:
        """State of the part, from ``done`` to ``lost``."""
        return self.judged[0]

    @property
    def reason(self) -> str:
        """What there is to say about that; may be empty."""
        return self.judged[1]

    def finished_languages(self) -> int:
        """How many of its languages have all their scores."""
        if self.manifest is not None:
            return len(self.part.languages)
        each = self.progress.languages.values() if self.progress else ()
        return sum(language.done == language.sentences for language in each)


def _lacks(campaign: Campaign, part: Part, there: Listing) -> str:
    """What a part that did not start yet needs first."""
    if part.checkpoint(campaign) not in there:
        return "its model"
    paths = part.items(campaign)
    return "" if all(path in there for path in paths) else "items"


def _read(kind: Kind, manifest: Path) -> tuple[int | None, str]:
    """Sentences of a manifest; or none, and why the job was given up."""
    try:
        return None, Failed.model_validate_json(manifest.read_bytes()).failed
    except ValidationError:
        return read_kind(kind, manifest).sentences, ""


def read_part_status(
    campaign: Campaign, part: Part, moment: datetime, queue: Queue, there: Listing
) -> PartStatus:
    """What the files of a part say. Raises UserError for a file that is not what it should be."""
    log, manifest = part.log(campaign), part.manifest(campaign)
    sentences, given_up = _read(part.kind, manifest) if manifest in there else (None, "")
    return PartStatus(
        part,
        log,
        sentences,
        read_attempts(journal_path(log)),
        read_progress(progress_path(log)),
        moment,
        queue,
        _lacks(campaign, part, there),
        given_up,
    )


def count_states(parts: Sequence[PartStatus]) -> Mapping[State, int]:
    """How many parts are in each state, the states those that need somebody first."""
    order: tuple[State, ...] = ("failed", "lost", "running", "queued", "waiting", "done")
    counts = {state: sum(part.state == state for part in parts) for state in order}
    return {state: n for state, n in counts.items() if n}
