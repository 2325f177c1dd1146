"""Read the progress of a campaign from the files that its scoring jobs write.

``read_status`` returns a ``Status``: numbers of files, and for each model the state of each job
and an estimate of the remaining time. ``blimpworks status`` prints it by ``status_text``.

A scoring job runs one model on items of some languages. Its journal lists the attempts to run it,
its progress file counts the scored sentences, and its manifest, written last, marks it as done.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from blimpworks.campaign.paper import FORMATS
from blimpworks.campaign.scoring_jobs import CampaignSelection, ScoringJob, Task, items_table
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.cluster.needs import count_pairs, expected_items, expected_work
from blimpworks.cluster.slurm import Queue
from blimpworks.files import Listing
from blimpworks.records.journal import Attempt, journal_path, now, progress_path, read_attempts
from blimpworks.scoring.progress import ProgressFile, read_progress
from blimpworks.scoring.shards import Failed, read_manifest

State = Literal["failed", "lost", "running", "queued", "waiting", "done"]
STATES: tuple[State, ...] = ("failed", "lost", "running", "queued", "waiting", "done")
"""States in order of display: those that need a user's attention come first. lost: ended without a
record of the end; queued: submitted to SLURM; waiting: not submitted, or to be submitted again."""
SILENT = timedelta(minutes=15)
"""Time without output after which a job may be dead; loading a large model takes minutes."""
TOLERATED = timedelta(minutes=10)
"""Time past its walltime for which a job without a recorded end is still taken for running."""
PAUSED = {"walltime": "ran out of time", "cancelled": "was cancelled", "killed": "was killed"}
"""Causes of an end after which a job only has to be submitted again."""
FAILED = {
    "memory": "ran out of memory; the next attempt asks for more",
    "gpu_memory": "ran out of GPU memory; the next attempt asks for more",
    "input": "refused its input",
    "error": "failed",
}
"""Causes of an end after which a user must act, or the next attempt needs more resources."""
TAIL_BYTES = 8192
"""Bytes at the end of a log that are searched for its last line."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """Progress of one scoring job at one time."""

    job: ScoringJob
    log: Path
    attempts: list[Attempt]
    progress: ProgressFile | None
    state: State
    reason: str
    """Reason of the state; may be empty."""
    sentences: int | None
    """Number of sentences (or prompts); None when not yet counted."""
    done: int
    """Number of sentences with scores."""
    last_write: datetime | None
    """Time of the last write to its log, journal or progress file; None before the first."""
    silent: timedelta | None
    """Time since the last write to its files; None if shorter than ``SILENT``."""
    missing_input: str
    """Input that does not exist yet: "its model" or "items"; empty if all do."""

    @property
    def newest(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    def language(self, lang: str) -> tuple[int | None, int | None]:
        """Return (scored sentences, all sentences) of a language; (None, None) if not counted."""
        counted = self.progress.languages.get(lang) if self.progress else None
        if counted is None:
            return None, None
        # The progress file of a job that is done may be older than the last scores.
        done = counted.sentences if self.state == "done" else counted.done
        return done, counted.sentences


@dataclass(frozen=True)
class ModelStatus:
    """Progress of scoring with one model."""

    model: str
    """Name of the model, or title of its answering jobs."""
    jobs: list[JobStatus]
    sentences: int
    """Number of sentences of all its jobs."""
    is_counted: bool
    """Whether the sentences were counted; else their number is estimated from the items."""
    parameters: float | None
    """Billions of parameters."""
    engine: str
    """Engine and task, such as "vllm score"; models with the same have comparable speeds."""
    seconds_left: float | None = None
    """Remaining seconds if its jobs run one after another; None without a measured speed."""
    has_speed_of_others: bool = False
    """Whether the remaining time is from the measured speed of other models."""

    @property
    def done(self) -> int:
        return sum(job.done for job in self.jobs)

    @property
    def languages(self) -> tuple[int, int]:
        """Numbers of (completely scored languages, all languages)."""
        finished = 0
        for status in self.jobs:
            if status.state == "done":
                finished += len(status.job.languages)
            elif status.progress:
                counts = status.progress.languages.values()
                finished += sum(count.done == count.sentences for count in counts)
        return finished, sum(len(status.job.languages) for status in self.jobs)

    def rate(self, unit: Literal["tokens", "new"]) -> float | None:
        """Return tokens or new sentences per second in the last attempts; None without scores."""
        scored = [job.progress for job in self.jobs if job.progress and job.progress.new]
        seconds = sum(progress.score_seconds for progress in scored)
        total: float = sum(getattr(progress, unit) for progress in scored)
        return total / seconds if seconds else None

    @property
    def load_seconds(self) -> float | None:
        """Mean time that a job takes to load the model; None if no job has loaded it."""
        return _mean(job.progress.load_seconds for job in self.jobs if job.progress)


@dataclass(frozen=True)
class Status:
    """Progress of a campaign at one time."""

    campaign: str
    moment: datetime
    stages: dict[str, dict[Literal["done", "expected"], int]]
    """Numbers of existing and of expected files of each stage, such as "items"."""
    models: list[ModelStatus]


def last_line(log: Path) -> str:
    """Return the last line of a log that is not empty; an empty string if there is none."""
    try:
        with log.open("rb") as handle:
            handle.seek(max(0, handle.seek(0, os.SEEK_END) - TAIL_BYTES))
            text = handle.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    # A progress bar ends each update with a carriage return.
    lines = [line.strip() for line in text.replace("\r", "\n").split("\n") if line.strip()]
    return lines[-1] if lines else ""


def _judge_attempt(
    attempt: Attempt, queue: Queue, moment: datetime, silent: timedelta | None
) -> tuple[State, str]:
    """Return state and reason of a job without a manifest, from its last ``attempt``."""
    if attempt.cause in FAILED:
        return "failed", FAILED[attempt.cause]
    if attempt.cause is not None:  # if it was done, somebody has removed the manifest
        return "waiting", PAUSED.get(attempt.cause, "its manifest is gone")
    # The journal has no end of the attempt, so ask SLURM.
    job, minutes = attempt.started.slurm_job, attempt.started.asked.minutes
    slurm_state = queue.states.get(job or "")
    if slurm_state in ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED"):
        return "running", ""
    if slurm_state in ("PENDING", "CONFIGURING", "REQUEUED"):
        return "queued", f"job {job} starts again"
    if slurm_state:
        return "lost", f"SLURM says {slurm_state}"
    if minutes and moment > attempt.started.time + timedelta(minutes=minutes) + TOLERATED:
        return "lost", f"its {minutes} minutes are over"
    if job and queue.answered and silent:
        return "lost", f"SLURM does not know job {job} any more"
    return "running", ""  # there is no sign of its end


def read_job_status(
    campaign: Campaign, job: ScoringJob, moment: datetime, queue: Queue, listing: Listing
) -> JobStatus:
    """Read a job's status at ``moment`` from its files. Raises UserError for a malformed file."""
    log, manifest = job.log(campaign), job.manifest(campaign)
    attempts, progress = read_attempts(journal_path(log)), read_progress(progress_path(log))
    times = [attempts[-1].started.time] if attempts else []
    times += [progress.updated] if progress else []
    if times and log.exists():
        times.append(datetime.fromtimestamp(log.stat().st_mtime, times[0].tzinfo))
    last_write = max(times, default=None)
    silent = moment - last_write if last_write and moment - last_write >= SILENT else None
    missing_input = ""
    if job.checkpoint(campaign) not in listing:
        missing_input = "its model"
    elif any(path not in listing for path in job.items(campaign)):
        missing_input = "items"
    # A manifest has either scores or, after the last attempt, the reason of the failure.
    sentences, given_up = None, ""
    if manifest in listing:
        try:
            given_up = Failed.model_validate_json(manifest.read_bytes()).failed
        except ValidationError:
            sentences = read_manifest(manifest).sentences
    # The files and the queue may say different things: the first case that holds decides.
    slurm_job = queue.pending.get((job.title, job.name))
    state: State
    if sentences is not None:
        state, reason = "done", ""
    elif slurm_job:
        state, reason = "queued", f"job {slurm_job}"
    elif given_up:
        state, reason = "failed", given_up
    elif attempts:
        state, reason = _judge_attempt(attempts[-1], queue, moment, silent)
    elif progress is None:
        state, reason = "waiting", f"for {missing_input}" if missing_input else ""
    else:
        state = "lost" if silent else "running"
        reason = "it stopped, and nothing says why" if silent else ""
    done = progress.done if progress else 0
    if sentences is not None:
        done = sentences
    elif progress:
        sentences = progress.sentences
    # In the order of the fields of JobStatus.
    facts = (state, reason, sentences, done, last_write, silent, missing_input)
    return JobStatus(job, log, attempts, progress, *facts)


def count_states(jobs: Sequence[JobStatus]) -> Mapping[State, int]:
    """Count the jobs in each state, in the order of ``STATES``, without zeros."""
    counts = Counter(job.state for job in jobs)
    return {state: counts[state] for state in STATES if counts[state]}


def _count_files(
    selection: CampaignSelection, statuses: Sequence[JobStatus], listing: Listing
) -> dict[str, dict[Literal["done", "expected"], int]]:
    """Count the existing and the expected files of each stage of the campaign."""
    campaign, jobs, exhibits = selection.campaign, selection.jobs, selection.exhibits
    results, resources = Path(campaign.pathvars.results), Path(campaign.pathvars.resources)
    # (task, path in a folder of the results) of each table that models make.
    tables = [
        (job.task, f"{name}/{job.model}/{lang}.parquet") for job in jobs for name, lang in job.sets
    ]
    files: dict[str, Iterable[Path]] = {
        "sources": (resources / "sources" / name for name in selection.retrieved_files),
        "items": (items_table(campaign, *item_set) for item_set in selection.item_sets),
        "models": (job.checkpoint(campaign) for job in jobs),
        "scores": (results / "scores" / path for task, path in tables if task == "score"),
        "answers": (results / "answers" / path for task, path in tables if task == "answer"),
        "judgements": (results / "judgements" / path for _, path in tables),
        "exhibits": (results / "exhibits" / f"{s.key}.{FORMATS[s.kind][0]}" for s in exhibits),
    }
    stages: dict[str, dict[Literal["done", "expected"], int]] = {}
    for name, paths in files.items():
        distinct = {*paths}
        if distinct or name != "answers":
            stages[name] = {"done": sum(p in listing for p in distinct), "expected": len(distinct)}
        if name == "models":
            # Count scoring jobs by their states, since a failed job may have a manifest too.
            done = sum(status.state == "done" for status in statuses)
            stages["parts"] = {"done": done, "expected": len(statuses)}
    return stages


def _count_sentences(selection: CampaignSelection, statuses: Sequence[JobStatus]) -> list[int]:
    """Return the number of sentences of each job; estimate it if the job has not counted them.

    Pairs may share a sentence, which is scored once. So the estimate is the number of sentences in
    the items, with repetitions, times a share. The share is that of distinct sentences in the
    counted jobs of the same task.
    """
    in_items: list[int] = []
    # {task: sentences of the jobs that have counted theirs}
    distinct: Counter[Task] = Counter()
    with_repetitions: Counter[Task] = Counter()
    for status in statuses:
        items = expected_items(selection, status.job)
        in_items.append(expected_work(items).sentences)
        if status.sentences is not None and all(map(count_pairs, items)):
            distinct[status.job.task] += status.sentences
            with_repetitions[status.job.task] += in_items[-1]
    sentences = []
    for status, number in zip(statuses, in_items, strict=True):
        task = status.job.task
        share = distinct[task] / with_repetitions[task] if task in with_repetitions else 1
        sentences.append(round(number * share) if status.sentences is None else status.sentences)
    return sentences


def _mean(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _borrow_speed(model: ModelStatus, models: Sequence[ModelStatus]) -> float | None:
    """Estimate sentences per second of a model without scores from the speeds of other models.

    Use models of the same engine if any has a speed. If sizes are known, count a model of half the
    size as twice as fast.
    """
    measured = [model_status for model_status in models if model_status.rate("new")]
    measured = [m for m in measured if m.engine == model.engine] or measured
    scaled = [
        (m.rate("new") or 0) * m.parameters / model.parameters
        for m in measured
        if model.parameters and m.parameters
    ]
    return _mean(scaled or [m.rate("new") for m in measured])


def _with_estimate(model: ModelStatus, models: Sequence[ModelStatus]) -> ModelStatus:
    """Return a model's status with its remaining seconds, by the speed of ``models`` if needed."""
    unfinished = [job for job in model.jobs if job.state != "done"]
    if not unfinished:
        return replace(model, seconds_left=0.0)
    measured_speed = model.rate("new")
    speed = measured_speed or _borrow_speed(model, models)
    if not speed:
        return model
    # A running job has loaded its model; each other job will load it first.
    load_seconds = model.load_seconds or _mean(m.load_seconds for m in models) or 0.0
    starts = sum(job.state != "running" for job in unfinished)
    seconds_left = (model.sentences - model.done) / speed + load_seconds * starts
    return replace(model, seconds_left=seconds_left, has_speed_of_others=measured_speed is None)


def read_status(selection: CampaignSelection, queue: Queue | None = None) -> Status:
    """Read a campaign's progress; ``queue`` has SLURM's jobs. Raises UserError for a bad file."""
    moment, queue, listing = now(), queue or Queue(), Listing()
    campaign, rows = selection.campaign, selection.catalogue.models
    statuses = [read_job_status(campaign, job, moment, queue, listing) for job in selection.jobs]
    statuses_by_title: dict[str, list[JobStatus]] = {}
    totals: Counter[str] = Counter()
    sentences = _count_sentences(selection, statuses)
    for status, number in zip(statuses, sentences, strict=True):
        statuses_by_title.setdefault(status.job.title, []).append(status)
        totals[status.job.title] += number
    models = []
    for title, group in statuses_by_title.items():
        first, counted = group[0].job, all(status.sentences is not None for status in group)
        engine, billions = f"{first.engine} {first.task}", rows[first.model].parameters
        models.append(ModelStatus(title, group, totals[title], counted, billions, engine))
    estimated = [_with_estimate(model, models) for model in models]
    stages = _count_files(selection, statuses, listing)
    return Status(campaign.campaign, moment, stages, estimated)
