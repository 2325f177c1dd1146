"""Format the progress of a campaign (``status.Status``) as text for a terminal, or as JSON."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from blimpworks.cluster.status import JobStatus, ModelStatus, Status, count_states, last_line
from blimpworks.cluster.text import DEFAULT_WIDTH, Columns, amount, duration, printed, shortened
from blimpworks.errors import UserError

SHOWN = 20
"""Most jobs in a section."""


def _share(done: int, total: int) -> str:
    return f"{100 * done // total} %" if total else "-"


def _model_row(model: ModelStatus) -> dict[str, str]:
    """Return a model's cells by heading; "~" marks estimates."""
    finished, languages = model.languages
    sentences = f"{'' if model.exact else '~'}{amount(model.sentences)}"
    time_left = duration(model.seconds_left)
    if model.seconds_left == 0:
        time_left = "-"
    elif model.borrowed:
        time_left = f"~{time_left}"
    counts = count_states(model.jobs)
    states = ", ".join(f"{number} {state}" for state, number in counts.items())
    if len(counts) == 1:
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


def _joined(*facts: str) -> str:
    return ", ".join(filter(None, facts))


def _node(status: JobStatus) -> str:
    """Return node, number and name of GPUs (``4x A100``) and SLURM job of the last attempt."""
    if status.newest is None:
        return ""
    begun = status.newest.started
    counted = Counter(name.removeprefix("NVIDIA ") for name in begun.gpus)
    gpus = (f"{n}x {name}" if n > 1 else name for name, n in counted.items())
    return _joined(begun.node, *gpus, f"job {begun.slurm_job}" if begun.slurm_job else "")


def _scored_share(status: JobStatus) -> str:
    return f"{_share(status.done, status.sentences or 0)} of {amount(status.sentences)}"


def _section(title: str, entries: Sequence[Sequence[Text]]) -> list[RenderableType]:
    if not entries:
        return []
    lines: list[RenderableType] = [line for entry in entries[:SHOWN] for line in entry]
    more = len(entries) - SHOWN
    return ["", title, *lines, *([f"  … and {more} more (--json has all)"] if more > 0 else [])]


def _in_all(status: Status) -> list[str]:
    """Return lines on the number of scored sentences and the remaining time."""
    total = sum(model.sentences for model in status.models)
    done = sum(model.done for model in status.models)
    unfinished = [model.seconds_left for model in status.models if model.seconds_left != 0]
    seconds = [seconds_left for seconds_left in unfinished if seconds_left is not None]
    if not total:
        return ["Nothing says yet how many sentences there are to score."]
    scored = f"In all {amount(done)} of {amount(total)} sentences have scores."
    if not unfinished:
        return [scored]
    if not seconds:
        return [scored, "How long the rest takes is known once something was scored."]
    unknown = len(unfinished) - len(seconds)
    besides = f" (without {unknown} models of unknown speed)" if unknown else ""
    return [
        scored,
        f"Left: {duration(sum(seconds))} of scoring{besides}; "
        f"the model that takes longest: {duration(max(seconds))}.",
    ]


def as_text(status: Status, configfile: str, width: int = DEFAULT_WIDTH) -> str:
    """Return stages, models, failed, interrupted and running jobs as text of ``width`` columns."""
    statuses = [job for model in status.models for job in model.jobs]
    blocks: list[RenderableType] = [
        f"Campaign {status.campaign} ({configfile}), {status.moment.astimezone():%a %d %b %H:%M}",
        "",
        Columns([{name: f"{n['done']}/{n['expected']}" for name, n in status.stages.items()}]),
    ]
    if status.models:
        models = Columns([*map(_model_row, status.models)], text_columns=("model", "state"))
        blocks += ["", models, "", *_in_all(status)]
    trouble = [s for s in statuses if s.state in ("failed", "lost")]
    paused = [s for s in statuses if s.state in ("waiting", "queued") and s.attempts]
    running = [s for s in statuses if s.state == "running"]
    # Describe failed jobs by last line and log, one entry for all with the same failure.
    alike: dict[tuple[str, str, str], list[JobStatus]] = {}
    for failed in trouble:
        key = (failed.job.title, failed.reason or failed.state, last_line(failed.log))
        alike.setdefault(key, []).append(failed)
    entries = []
    for (_, reason, line), (first, *alike_jobs) in alike.items():
        tries = f"attempt {len(first.attempts)}: " if len(first.attempts) > 1 else ""
        names = ", ".join(same.job.name for same in alike_jobs)
        more = f" ({len(alike_jobs)} more: {names})" if alike_jobs else ""
        node = f"  ({_node(first)})" if _node(first) else ""
        entry = [shortened(f"  {first.job.label}: {tries}{reason}{more}")]
        entry += [shortened(f"    {line}")] if line else []
        # Not shortened, so that the path can be copied.
        entries.append([*entry, Text(f"    {first.log}{node}")])
    blocks += _section("In trouble", entries)
    goes_on = [f"  {p.job.label}: {_joined(p.state, p.reason)}; {_scored_share(p)}" for p in paused]
    blocks += _section("Interrupted, to go on where they were", [[shortened(p)] for p in goes_on])
    lines = []
    for job_status in running:
        since = ""
        if job_status.newest:
            begun = job_status.newest.started.time.astimezone()
            today = job_status.moment.astimezone()
            day = "" if begun.date() == today.date() else f"{begun:%d %b} "
            since = f"since {day}{begun:%H:%M}"
        silent = job_status.silent
        silence = f"silent for {duration(silent.total_seconds())}" if silent else ""
        facts = _joined(_scored_share(job_status), since, silence, _node(job_status))
        lines.append([shortened(f"  {job_status.job.label}: {facts}")])
    blocks += _section("Running", lines)
    return printed(blocks, width)


def find_model(status: Status, name: str) -> ModelStatus:
    """Find a model by its name. Raises UserError for an unknown name."""
    for model in status.models:
        if model.model == name:
            return model
    names = ", ".join(model.model for model in status.models[:8]) or "none"
    raise UserError(
        f"model {name!r} is not in campaign {status.campaign!r}; it has: {names}"
        f"{', …' if len(status.models) > 8 else ''}. Name one of them."
    )


def languages_text(model: ModelStatus, width: int = DEFAULT_WIDTH) -> str:
    """Return a table of a model's languages, one a line."""
    rows = []
    for status in model.jobs:
        for lang in status.job.languages:
            done, total = status.language(lang)
            share = _share(done or 0, total) if total else "" if total == 0 else "-"
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
    """Return the progress of a campaign as JSON."""
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
