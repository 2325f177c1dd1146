"""What a campaign took, for people and for programs, and what to ask for next time."""

import csv
import io
import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from blimpworks.cluster.efficiency import Efficiency, ModelUse, RuleUse
from blimpworks.cluster.wording import WIDTH, amount, cut, duration, table

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


def _hours(hours: float | None) -> str:
    if hours is None:
        return "-"
    if not 0 < hours < 0.095:
        return f"{hours:.{0 if hours >= 99.5 else 1 if hours >= 0.95 else 2}f}" if hours else "-"
    return f"{hours:.3f}"


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
    asked = max((run.attempt.started.asked.minutes for run in use.runs), default=0)
    settled = not late and not use.causes["open"]
    if settled and longest and asked > max(GENEROUS * longest, SHORT):
        yield f"asked for {duration(60 * asked)}, took {duration(60 * longest)} at most"


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


def _advice(models: Sequence[ModelUse]) -> list[str]:
    """What stands out, by model; and speeds to ask by, as the site's description has them."""
    told = [(use.model, found) for use in models if (found := advice(use))]
    lines = []
    for model, found in told:
        text = f"{model}: {'; '.join(found)}."
        lines += textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
    if lines:
        lines = ["What to change", *lines, ""]
    speeds = [(u.model, u.tokens_per_second) for u in models if u.runs and u.tokens_per_second]
    if speeds:
        lines += ["So that jobs ask for what was measured here, in config/site.yaml:", "models:"]
        lines += [f"  {model}: {{tokens_per_second: {speed:.0f}}}" for model, speed in speeds]
        lines.append("")
    return lines


def _row(use: ModelUse) -> list[str]:
    memory = f"{_gb(use.rss_mb)}/{_gb(use.mem_mb)}" if use.runs else "-"
    return [
        use.model,
        str(len(use.jobs) or "-"),
        str(len(use.runs) or "-"),
        _hours(use.asked),
        _hours(use.held),
        _hours(use.scoring),
        _percent(use.share),
        amount(use.tokens),
        amount(use.tokens_per_second),
        amount(use.tokens_per_second_held),
        duration(use.load_seconds) if use.load_seconds else "-",
        memory,
    ]


HEAD: tuple[str, ...] = ("model", "jobs", "tries", "asked", "held", "scoring", "share")
HEAD += ("tokens", "tokens/s", "overall", "loading", "GB")


def _totals(models: Sequence[ModelUse]) -> list[str]:
    if len(models) < 2:
        return []
    asked, held, scoring = (
        sum(getattr(use, name) for use in models) for name in ("asked", "held", "scoring")
    )
    hours = [
        _hours(asked),
        _hours(held),
        _hours(scoring),
        _percent(scoring / held if held else None),
    ]
    jobs, runs = sum(len(u.jobs) for u in models), sum(len(u.runs) for u in models)
    tokens = amount(sum(use.tokens for use in models))
    return ["in all", str(jobs or "-"), str(runs or "-"), *hours, tokens, "", "", "", ""]


def _of_unit(models: Sequence[ModelUse], unit: str) -> list[str]:
    """A table of the models whose hours are of one unit."""
    own = [use for use in models if use.unit == unit]
    if not own:
        return []
    totals = _totals(own)
    rows = [_row(use) for use in own] + ([totals] if totals else [])
    return [f"Scoring, in {unit}-hours", cut(table(HEAD, rows)), ""]


def _accounted(models: Sequence[ModelUse]) -> list[str]:
    """What SLURM's accounting says, where it does."""
    found = [(use.model, _accounts(use)) for use in models]
    rows = [
        [
            model,
            str(facts["sacct_jobs"]),
            _hours(facts["sacct_hours"]),
            _gb(facts["sacct_rss_mb"]),
            facts["sacct_states"],
        ]
        for model, facts in found
        if facts["sacct_jobs"]
    ]
    head = ("model", "jobs", "hours", "GB", "states")
    return ["By SLURM's accounting", cut(table(head, rows, left=(0, 4))), ""] if rows else []


def _rules(rules: Sequence[RuleUse]) -> list[str]:
    rows = [[r.rule, str(r.jobs), duration(3600 * r.hours), _gb(r.rss_mb)] for r in rules]
    head = ("rule", "jobs", "time", "largest GB")
    return ["All finished jobs, by rule", table(head, rows), ""] if rows else []


def as_text(found: Efficiency) -> str:
    """Hours, speeds and memory by model, how attempts ended, what to change, and the rules."""
    lines = [f"Campaign {found.campaign}", ""]
    lines += [*_of_unit(found.models, "GPU"), *_of_unit(found.models, "core")]
    if not found.models:
        lines += ["Nothing was scored yet, or by jobs that kept no journal.", ""]
    rough = [use for use in found.models if {*use.causes} - {"done"}]
    if rough:
        lines += ["How attempts ended, where not all were done"]
        lines += [cut(f"  {use.model}: {_endings(use)}") for use in rough] + [""]
    lines += _accounted(found.models)
    return "\n".join([*lines, *_advice(found.models), *_rules(found.rules)]).rstrip()


def _accounts(use: ModelUse) -> dict[str, Any]:
    """What SLURM's accounting says, or None for each value where it says nothing."""
    found = {run.attempt.started.slurm_job: run.accounted for run in use.runs if run.accounted}
    sizes = [each.rss_mb for each in found.values() if each.rss_mb is not None]
    return {
        "sacct_jobs": len(found) or None,
        "sacct_hours": sum(e.seconds for e in found.values()) / 3600 if found else None,
        "sacct_rss_mb": max(sizes, default=None),
        "sacct_states": ", ".join(sorted({each.state for each in found.values()})) or None,
    }


def record(use: ModelUse) -> dict[str, Any]:
    """Plain values of a model, in full precision."""
    return {
        "model": use.model,
        "attempts": len(use.runs),
        "slurm_jobs": len(use.jobs),
        "unit": use.unit,
        "hours_asked": use.asked,
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


def as_json(found: Efficiency) -> str:
    """Everything, as JSON."""
    rules = [
        {"rule": r.rule, "jobs": r.jobs, "hours": r.hours, "rss_mb": r.rss_mb} for r in found.rules
    ]
    whole: dict[str, Any] = {"campaign": found.campaign, "rules": rules}
    whole["models"] = [record(use) for use in found.models]
    return json.dumps(whole, indent=1, ensure_ascii=False)
