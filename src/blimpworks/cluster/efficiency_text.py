"""What a campaign took, for people and for programs, and what to ask for next time."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType

from blimpworks.cluster.efficiency import Efficiency, ModelUse, RuleUse, in_all
from blimpworks.cluster.text import WIDTH, Columns, amount, duration, number, printed

GENEROUS = 2.0
"""Asking for more than this many times what was used is told."""
SMALL_MB = 4000
"""Nobody minds less memory than this."""
SHORT = 30
"""Nor a shorter walltime than this, in minutes."""
LOADING = 1 / 3
"""A larger share of the time spent on loading is told."""
IDLE = 0.25
"""So is a larger share in which nothing was loaded or scored."""


def _gb(megabytes: float | None) -> str:
    if megabytes is None:
        return "?"
    return f"{megabytes / 1000:.{0 if megabytes >= 9950 else 1}f}"


def _hours(hours: float) -> str:
    if 0 < hours < 0.095:
        return f"{hours:.3f}"
    return number(hours) if hours else "-"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def _endings(use: ModelUse) -> str:
    """``3 done, 1 walltime``."""
    order = sorted(use.causes.items(), key=lambda pair: (pair[0] == "done", pair))
    return ", ".join(f"{n} {cause}" for cause, n in order)


def _memory_advice(use: ModelUse) -> Iterator[str]:
    if full := use.causes["memory"]:
        yield f"{full} of {len(use.runs)} attempts ran out of memory"
    elif use.rss_mb and use.mem_mb and use.mem_mb > max(GENEROUS * use.rss_mb, SMALL_MB):
        yield f"asked for {_gb(use.mem_mb)} GB of memory, used {_gb(use.rss_mb)}"
    if full := use.causes["gpu_memory"]:
        yield f"{full} of {len(use.runs)} attempts filled their GPUs (give it memory_gb or gpus)"


def _time_advice(use: ModelUse) -> Iterator[str]:
    late = [run for run in use.runs if run.attempt.cause == "walltime"]
    if stuck := sum(not (run.scored and run.scored.new) for run in late):
        yield f"{stuck} of {len(use.runs)} attempts ran out of time before their first shard"
    longest = max((run.seconds or 0 for run in use.runs), default=0) / 60
    requested = max((run.attempt.started.asked.minutes for run in use.runs), default=0)
    settled = not late and not use.causes["open"]
    if settled and longest and requested > max(GENEROUS * longest, SHORT):
        yield f"asked for {duration(60 * requested)}, took {duration(60 * longest)} at most"


def _use_advice(use: ModelUse) -> Iterator[str]:
    seconds = sum(run.seconds or 0 for run in use.runs)
    # Of a minute or so, starting Python is a large share.
    if seconds < 60 * len(use.runs) or not use.runs:
        return
    loading = sum((r.scored.load_seconds or 0) for r in use.runs if r.scored) / seconds
    if loading > LOADING:
        yield f"{_percent(loading)} of its time was loading (fewer, longer jobs load less)"
    if use.share is not None and 1 - use.share - loading > IDLE:
        yield f"{_percent(1 - use.share - loading)} of its time was neither loading nor scoring"


def advice(use: ModelUse) -> list[str]:
    """What stands out in a model's use, without a final full stop each."""
    return [*_memory_advice(use), *_time_advice(use), *_use_advice(use)]


def _advice(models: Sequence[ModelUse]) -> list[RenderableType]:
    """What stands out, by model; and speeds to ask by, as the site's description has them."""
    advised = [(use.model, sentences) for use in models if (sentences := advice(use))]
    blocks: list[RenderableType] = [
        f"  {model}: {'; '.join(sentences)}." for model, sentences in advised
    ]
    if blocks:
        blocks = ["What to change", *blocks, ""]
    speeds = [(u.model, u.tokens_per_second) for u in models if u.runs and u.tokens_per_second]
    if speeds:
        blocks += ["So that jobs ask for what was measured here, in config/site.yaml:", "models:"]
        blocks += [f"  {model}: {{tokens_per_second: {speed:.0f}}}" for model, speed in speeds]
        blocks.append("")
    return blocks


def _row(use: ModelUse) -> dict[str, str]:
    return {
        "model": use.model,
        "jobs": str(len(use.jobs) or "-"),
        "tries": str(len(use.runs) or "-"),
        "asked": _hours(use.requested),
        "held": _hours(use.held),
        "scoring": _hours(use.scoring),
        "share": _percent(use.share),
        "tokens": amount(use.tokens),
        "tokens/s": amount(use.tokens_per_second),
        "overall": amount(use.tokens_per_second_held),
        "loading": duration(use.load_seconds) if use.load_seconds else "-",
        "GB": f"{_gb(use.rss_mb)}/{_gb(use.mem_mb)}" if use.runs else "-",
    }


def _of_unit(models: Sequence[ModelUse], unit: str) -> list[RenderableType]:
    """A table of the models whose hours are of one unit, and of all of them together."""
    own = [use for use in models if use.unit == unit]
    rows = [*own, in_all(own)] if len(own) > 1 else own
    return [f"Scoring, in {unit}-hours", Columns([*map(_row, rows)]), ""] if rows else []


def _accounted(models: Sequence[ModelUse]) -> list[RenderableType]:
    """What SLURM's accounting says, where it does."""
    rows = [
        {
            "model": use.model,
            "jobs": str(facts["sacct_jobs"]),
            "hours": _hours(facts["sacct_hours"]),
            "GB": _gb(facts["sacct_rss_mb"]),
            "states": facts["sacct_states"],
        }
        for use in models
        if (facts := _accounts(use))["sacct_jobs"]
    ]
    return ["By SLURM's accounting", Columns(rows, left=("model", "states")), ""] if rows else []


def _rules(rules: Sequence[RuleUse]) -> list[RenderableType]:
    rows = [
        {
            "rule": rule.rule,
            "jobs": str(rule.jobs),
            "time": duration(3600 * rule.hours),
            "largest GB": _gb(rule.rss_mb),
        }
        for rule in rules
    ]
    return ["All finished jobs, by rule", Columns(rows, left=("rule",)), ""] if rows else []


def as_text(campaign: Efficiency, width: int = WIDTH) -> str:
    """Hours, speeds and memory by model, how attempts ended, what to change, and the rules."""
    models = campaign.models
    blocks: list[RenderableType] = [f"Campaign {campaign.campaign}", ""]
    blocks += [*_of_unit(models, "GPU"), *_of_unit(models, "core")]
    if not models:
        blocks += ["Nothing was scored yet, or by jobs that kept no journal.", ""]
    rough = [use for use in models if {*use.causes} - {"done"}]
    if rough:
        blocks += ["How attempts ended, where not all were done"]
        blocks += [f"  {use.model}: {_endings(use)}" for use in rough] + [""]
    blocks += _accounted(models)
    return printed([*blocks, *_advice(models), *_rules(campaign.rules)], width)


def _accounts(use: ModelUse) -> dict[str, Any]:
    """What SLURM's accounting says, or None for each value where it says nothing."""
    jobs = {run.attempt.started.slurm_job: run.accounted for run in use.runs if run.accounted}
    sizes = [each.rss_mb for each in jobs.values() if each.rss_mb is not None]
    return {
        "sacct_jobs": len(jobs) or None,
        "sacct_hours": sum(e.seconds for e in jobs.values()) / 3600 if jobs else None,
        "sacct_rss_mb": max(sizes, default=None),
        "sacct_states": ", ".join(sorted({each.state for each in jobs.values()})) or None,
    }


def record(use: ModelUse) -> dict[str, Any]:
    """Plain values of a model, in full precision."""
    return {
        "model": use.model,
        "attempts": len(use.runs),
        "slurm_jobs": len(use.jobs),
        "unit": use.unit,
        "hours_asked": use.requested,
        "hours_held": use.held,
        "hours_scoring": use.scoring,
        "share_scoring": use.share,
        "tokens": use.tokens,
        "tokens_per_second": use.tokens_per_second,
        "tokens_per_second_held": use.tokens_per_second_held,
        "load_seconds": use.load_seconds,
        "rss_mb": use.rss_mb,
        "mem_mb_asked": use.mem_mb,
        "ended": _endings(use),
        **_accounts(use),
        "advice": "; ".join(advice(use)),
    }


def as_csv(models: Sequence[ModelUse]) -> str:
    """A line for each model."""
    rows, sink = [record(use) for use in models], io.StringIO()
    names = rows[0].keys() if rows else ["model"]
    writer = csv.DictWriter(sink, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue()


def as_json(efficiency: Efficiency) -> str:
    """The whole efficiency report, as JSON."""
    rules = [asdict(rule) for rule in efficiency.rules]
    models = [record(use) for use in efficiency.models]
    whole = {"campaign": efficiency.campaign, "rules": rules, "models": models}
    return json.dumps(whole, indent=1, ensure_ascii=False)
