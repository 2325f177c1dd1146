"""Format the progress of a campaign (``status.Status``) as text for a terminal, or as JSON.

``as_text`` shows the numbers of files, a row for each model, and the jobs that failed or run:

    model     languages  sentences             tokens/s    left  state
    gpt2-xl        3/19   12,400/62,000  20 %      8,100  1 h 5 min  1 running, 4 waiting
"""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from blimpworks.cluster.status import JobStatus, ModelStatus, Status, count_states, last_line
from blimpworks.cluster.text import (
    DEFAULT_WIDTH,
    TextTable,
    count_text,
    duration,
    printed,
    shortened,
)

MOST_SHOWN = 20
"""Largest number of entries that a section of jobs shows."""


def _percent(done: int, total: int) -> str:
    return f"{100 * done // total} %" if total else "-"


def _model_row(model: ModelStatus) -> dict[str, str]:
    """Return a model's row as {heading: cell}; "~" marks estimates. Percentages have no heading."""
    finished, languages = model.languages
    sentences = f"{'' if model.is_counted else '~'}{count_text(model.sentences)}"
    time_left = duration(model.seconds_left)
    if model.seconds_left == 0:
        time_left = "-"
    elif model.has_speed_of_others:
        time_left = f"~{time_left}"
    counts = count_states(model.jobs)
    state_text = ", ".join(f"{number} {state}" for state, number in counts.items())
    if len(counts) == 1:  # all jobs are in the same state, so leave out their number
        state_text = model.jobs[0].state
        missing_inputs = {status.missing_input for status in model.jobs}
        if state_text == "waiting" and len(missing_inputs) == 1 and missing_inputs != {""}:
            state_text += f" for {missing_inputs.pop()}"
    return {
        "model": model.model,
        "languages": f"{finished}/{languages}",
        "sentences": f"{count_text(model.done)}/{sentences}" if model.sentences else "-",
        "": _percent(model.done, model.sentences),
        "tokens/s": count_text(model.rate("tokens")),
        "left": time_left,
        "state": state_text,
    }


def _join(*phrases: str) -> str:
    return ", ".join(filter(None, phrases))


def _node_text(status: JobStatus) -> str:
    """Return where the last attempt runs or ran, such as ``node3, 4x A100, job 815``."""
    if status.newest is None:
        return ""
    started = status.newest.started
    counts = Counter(name.removeprefix("NVIDIA ") for name in started.gpus)
    gpus = (f"{count}x {name}" if count > 1 else name for name, count in counts.items())
    return _join(started.node, *gpus, f"job {started.slurm_job}" if started.slurm_job else "")


def _scored_text(status: JobStatus) -> str:
    return f"{_percent(status.done, status.sentences or 0)} of {count_text(status.sentences)}"


def _section(title: str, entries: Sequence[Sequence[Text]]) -> list[RenderableType]:
    """Return title and lines of at most ``MOST_SHOWN`` entries; an empty list if there are none."""
    if not entries:
        return []
    lines: list[RenderableType] = ["", title]
    lines += [line for entry in entries[:MOST_SHOWN] for line in entry]
    if len(entries) > MOST_SHOWN:
        lines.append(f"  … and {len(entries) - MOST_SHOWN} more (--json has all)")
    return lines


def _summary(status: Status) -> list[str]:
    """Return lines on the scored sentences and the remaining time of all models."""
    total = sum(model.sentences for model in status.models)
    done = sum(model.done for model in status.models)
    if not total:
        return ["The number of sentences to score is not known yet."]
    scored = f"In all {count_text(done)} of {count_text(total)} sentences have scores."
    unfinished = [model.seconds_left for model in status.models if model.seconds_left != 0]
    seconds = [seconds_left for seconds_left in unfinished if seconds_left is not None]
    if not unfinished:
        return [scored]
    if not seconds:
        return [scored, "The remaining time is unknown until the first sentences have scores."]
    without_speed = len(unfinished) - len(seconds)
    exception = f" (without {without_speed} models of unknown speed)" if without_speed else ""
    return [
        scored,
        f"Left: {duration(sum(seconds))} of scoring{exception}; "
        f"the model that takes longest: {duration(max(seconds))}.",
    ]


def as_text(status: Status, configfile: str, width: int = DEFAULT_WIDTH) -> str:
    """Return the progress as text of ``width`` columns; ``configfile`` is the campaign's file."""
    stages = {name: f"{count['done']}/{count['expected']}" for name, count in status.stages.items()}
    blocks: list[RenderableType] = [
        f"Campaign {status.campaign} ({configfile}), {status.moment.astimezone():%a %d %b %H:%M}",
        "",
        TextTable([stages]),
    ]
    if status.models:
        models = TextTable([*map(_model_row, status.models)], text_columns=("model", "state"))
        blocks += ["", models, "", *_summary(status)]
    jobs = [job for model in status.models for job in model.jobs]
    failed = [job for job in jobs if job.state in ("failed", "lost")]
    interrupted = [job for job in jobs if job.state in ("waiting", "queued") and job.attempts]
    running = [job for job in jobs if job.state == "running"]
    blocks += _section("In trouble", _describe_failures(failed))
    entries = [
        [shortened(f"  {job.job.label}: {_join(job.state, job.reason)}; {_scored_text(job)}")]
        for job in interrupted
    ]
    blocks += _section("Interrupted, to go on where they were", entries)
    blocks += _section("Running", [[_describe_running(job, status.moment)] for job in running])
    return printed(blocks, width)


def _describe_failures(failed: Sequence[JobStatus]) -> list[list[Text]]:
    """Return the lines of each entry: one entry for a model's jobs that failed in the same way."""
    # {(model's title, reason, last line of the log): jobs}
    jobs_by_failure: dict[tuple[str, str, str], list[JobStatus]] = {}
    for status in failed:
        key = (status.job.title, status.reason or status.state, last_line(status.log))
        jobs_by_failure.setdefault(key, []).append(status)
    entries = []
    for (_, reason, line), (first, *more_jobs) in jobs_by_failure.items():
        attempt = f"attempt {len(first.attempts)}: " if len(first.attempts) > 1 else ""
        names = ", ".join(status.job.name for status in more_jobs)
        more = f" ({len(more_jobs)} more: {names})" if more_jobs else ""
        node = f"  ({_node_text(first)})" if _node_text(first) else ""
        entry = [shortened(f"  {first.job.label}: {attempt}{reason}{more}")]
        entry += [shortened(f"    {line}")] if line else []
        # Not shortened, so that the path can be copied.
        entries.append([*entry, Text(f"    {first.log}{node}")])
    return entries


def _describe_running(status: JobStatus, moment: datetime) -> Text:
    since = ""
    if status.newest:
        start = status.newest.started.time.astimezone()
        day = "" if start.date() == moment.astimezone().date() else f"{start:%d %b} "
        since = f"since {day}{start:%H:%M}"
    silence = f"silent for {duration(status.silent.total_seconds())}" if status.silent else ""
    facts = _join(_scored_text(status), since, silence, _node_text(status))
    return shortened(f"  {status.job.label}: {facts}")


def languages_text(model: ModelStatus, width: int = DEFAULT_WIDTH) -> str:
    """Return a table with one row for each language of a model."""
    rows = []
    for status in model.jobs:
        for lang in status.job.languages:
            done, total = status.language(lang)
            percent = "" if total == 0 else _percent(done or 0, total or 0)
            scored = f"{count_text(done)}/{count_text(total)}"
            rows.append(
                {
                    "language": lang,
                    "sentences": "-" if total is None else scored,
                    "": percent,
                    "state": "done" if total and done == total else status.state,
                    "job": status.job.name,
                }
            )
    table = TextTable(rows, text_columns=("language", "state", "job"))
    return printed([model.model, "", table], width)


def _job_json(status: JobStatus) -> dict[str, Any]:
    # part: name of the job; attempt: start of the last attempt; heard: time of the last write;
    # last_words: last line of a failed job's log.
    newest = status.newest
    return {
        "part": status.job.name,
        "state": status.state,
        "reason": status.reason,
        "sentences": status.sentences,
        "done": status.done,
        "attempts": len(status.attempts),
        "attempt": newest.started.model_dump(mode="json") if newest else None,
        "ended": newest.ended.model_dump(mode="json") if newest and newest.ended else None,
        "progress": status.progress.model_dump(mode="json") if status.progress else None,
        "heard": status.last_write.isoformat() if status.last_write else None,
        "log": str(status.log),
        "last_words": last_line(status.log) if status.state in ("failed", "lost") else None,
        "languages": {
            lang: dict(zip(("done", "sentences"), status.language(lang), strict=True))
            for lang in status.job.languages
        },
    }


def as_json(status: Status) -> str:
    """Return the progress of a campaign as JSON; "parts" are the jobs of each model."""
    models = [
        {
            "model": model.model,
            "languages_done": model.languages[0],
            "languages": model.languages[1],
            "sentences": model.sentences,
            "sentences_counted": model.is_counted,
            "done": model.done,
            "states": count_states(model.jobs),
            "tokens_per_second": model.rate("tokens"),
            "seconds_left": model.seconds_left,
            "speed_of_others": model.has_speed_of_others,
            "parts": [_job_json(status) for status in model.jobs],
        }
        for model in status.models
    ]
    facts: dict[str, Any] = {"campaign": status.campaign, "moment": status.moment.isoformat()}
    facts |= {"stages": status.stages, "models": models}
    return json.dumps(facts, indent=1, ensure_ascii=False)
