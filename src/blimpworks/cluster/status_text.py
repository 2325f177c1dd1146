"""Format the progress of a campaign (``status.Status``) as text for a terminal, or as JSON.

The text has the numbers of files, a row for each model, and the jobs that failed or are running:

    model     languages  sentences             tokens/s    left  state
    gpt2-xl        3/19   12,400/62,000  20 %      8,100  1 h 5 min  1 running, 4 waiting
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from blimpworks.cluster.status import JobStatus, ModelStatus, Status, count_states, last_line
from blimpworks.cluster.text import DEFAULT_WIDTH, Columns, amount, duration, printed, shortened
from blimpworks.errors import find

SHOWN = 20
"""Largest number of entries that a section of jobs shows."""


def _share(done: int, total: int) -> str:
    return f"{100 * done // total} %" if total else "-"


def _model_row(model: ModelStatus) -> dict[str, str]:
    """Return a model's row of the table, as {heading: cell}; "~" marks estimates."""
    finished, languages = model.languages
    sentences = f"{'' if model.exact else '~'}{amount(model.sentences)}"
    time_left = duration(model.seconds_left)
    if model.seconds_left == 0:
        time_left = "-"
    elif model.borrowed:
        time_left = f"~{time_left}"
    counts = count_states(model.jobs)
    states = ", ".join(f"{number} {state}" for state, number in counts.items())
    if len(counts) == 1:  # all jobs are in the same state
        [states] = counts
        lacking = {status.lacks for status in model.jobs}
        if states == "waiting" and len(lacking) == 1 and lacking != {""}:
            states += f" for {lacking.pop()}"
    return {
        "model": model.model,
        "languages": f"{finished}/{languages}",
        "sentences": f"{amount(model.done)}/{sentences}" if model.sentences else "-",
        "": _share(model.done, model.sentences),
        "tokens/s": amount(model.rate("tokens")),
        "left": time_left,
        "state": states,
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


def _scored_share(status: JobStatus) -> str:
    return f"{_share(status.done, status.sentences or 0)} of {amount(status.sentences)}"


def _section(title: str, entries: Sequence[Sequence[Text]]) -> list[RenderableType]:
    """Return title and lines of at most ``SHOWN`` entries; nothing if there are no entries."""
    if not entries:
        return []
    lines: list[RenderableType] = [line for entry in entries[:SHOWN] for line in entry]
    more = len(entries) - SHOWN
    return ["", title, *lines, *([f"  … and {more} more (--json has all)"] if more > 0 else [])]


def _summary(status: Status) -> list[str]:
    """Return lines on the scored sentences and the remaining time of all models."""
    total = sum(model.sentences for model in status.models)
    done = sum(model.done for model in status.models)
    if not total:
        return ["Nothing says yet how many sentences there are to score."]
    scored = f"In all {amount(done)} of {amount(total)} sentences have scores."
    unfinished = [model.seconds_left for model in status.models if model.seconds_left != 0]
    seconds = [seconds_left for seconds_left in unfinished if seconds_left is not None]
    if not unfinished:
        return [scored]
    if not seconds:
        return [scored, "How long the rest takes is known once something was scored."]
    without_speed = len(unfinished) - len(seconds)
    exception = f" (without {without_speed} models of unknown speed)" if without_speed else ""
    return [
        scored,
        f"Left: {duration(sum(seconds))} of scoring{exception}; "
        f"the model that takes longest: {duration(max(seconds))}.",
    ]


def as_text(status: Status, configfile: str, width: int = DEFAULT_WIDTH) -> str:
    """Return the progress as text of ``width`` columns; ``configfile`` is the campaign's file."""
    blocks: list[RenderableType] = [
        f"Campaign {status.campaign} ({configfile}), {status.moment.astimezone():%a %d %b %H:%M}",
        "",
        Columns([{name: f"{n['done']}/{n['expected']}" for name, n in status.stages.items()}]),
    ]
    if status.models:
        models = Columns([*map(_model_row, status.models)], text_columns=("model", "state"))
        blocks += ["", models, "", *_summary(status)]
    jobs = [job for model in status.models for job in model.jobs]
    failed = [job for job in jobs if job.state in ("failed", "lost")]
    paused = [job for job in jobs if job.state in ("waiting", "queued") and job.attempts]
    running = [job for job in jobs if job.state == "running"]
    pauses = [f"  {p.job.label}: {_join(p.state, p.reason)}; {_scored_share(p)}" for p in paused]
    blocks += _section("In trouble", _describe_failures(failed))
    blocks += _section("Interrupted, to go on where they were", [[shortened(p)] for p in pauses])
    blocks += _section("Running", [[_describe_running(status)] for status in running])
    return printed(blocks, width)


def _describe_failures(failed: Sequence[JobStatus]) -> list[list[Text]]:
    """Return the lines of one entry for all jobs of a model with the same reason and last line."""
    same_failure: dict[tuple[str, str, str], list[JobStatus]] = {}
    for status in failed:
        key = (status.job.title, status.reason or status.state, last_line(status.log))
        same_failure.setdefault(key, []).append(status)
    entries = []
    for (_, reason, line), (first, *more_jobs) in same_failure.items():
        attempt = f"attempt {len(first.attempts)}: " if len(first.attempts) > 1 else ""
        names = ", ".join(status.job.name for status in more_jobs)
        more = f" ({len(more_jobs)} more: {names})" if more_jobs else ""
        node = f"  ({_node_text(first)})" if _node_text(first) else ""
        entry = [shortened(f"  {first.job.label}: {attempt}{reason}{more}")]
        entry += [shortened(f"    {line}")] if line else []
        # Not shortened, so that the path can be copied.
        entries.append([*entry, Text(f"    {first.log}{node}")])
    return entries


def _describe_running(status: JobStatus) -> Text:
    since = ""
    if status.newest:
        start = status.newest.started.time.astimezone()
        today = status.moment.astimezone()
        day = "" if start.date() == today.date() else f"{start:%d %b} "
        since = f"since {day}{start:%H:%M}"
    silence = f"silent for {duration(status.silent.total_seconds())}" if status.silent else ""
    facts = _join(_scored_share(status), since, silence, _node_text(status))
    return shortened(f"  {status.job.label}: {facts}")


def find_model(status: Status, name: str) -> ModelStatus:
    """Find a model by its name. Raises UserError for an unknown name."""
    models = {model.model: model for model in status.models}
    return find(models, name, f"campaign {status.campaign!r}: model")


def languages_text(model: ModelStatus, width: int = DEFAULT_WIDTH) -> str:
    """Return a table with one row for each language of a model."""
    rows = []
    for status in model.jobs:
        for lang in status.job.languages:
            done, total = status.language(lang)
            share = "" if total == 0 else _share(done or 0, total or 0)
            rows.append(
                {
                    "language": lang,
                    "sentences": "-" if total is None else f"{amount(done)}/{amount(total)}",
                    "": share,
                    "state": "done" if total and done == total else status.state,
                    "job": status.job.name,
                }
            )
    table = Columns(rows, text_columns=("language", "state", "job"))
    return printed([model.model, "", table], width)


def _job_json(status: JobStatus) -> dict[str, Any]:
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
        "heard": status.heard.isoformat() if status.heard else None,
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
            "sentences_counted": model.exact,
            "done": model.done,
            "states": count_states(model.jobs),
            "tokens_per_second": model.rate("tokens"),
            "seconds_left": model.seconds_left,
            "speed_of_others": model.borrowed,
            "parts": [_job_json(status) for status in model.jobs],
        }
        for model in status.models
    ]
    facts: dict[str, Any] = {"campaign": status.campaign, "moment": status.moment.isoformat()}
    facts |= {"stages": status.stages, "models": models}
    return json.dumps(facts, indent=1, ensure_ascii=False)
