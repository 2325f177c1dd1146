"""How far a campaign is, for people and for programs."""

import json
from collections.abc import Sequence
from typing import Any

from blimpworks.cluster.looks import Look, count_states, last_words
from blimpworks.cluster.status import ModelStatus, Status
from blimpworks.cluster.wording import (
    WIDTH,
    amount,
    cards,
    clock,
    cut,
    duration,
    named,
    shortened,
    table,
)
from blimpworks.errors import UserError

SHOWN = 20
"""So many jobs are told one by one."""


def _share(done: int, total: int) -> str:
    """Percentage, which is 100 only when nothing is missing."""
    return f"{100 * done // total} %" if total else "-"


def _states(looks: list[Look]) -> str:
    """State of a model's only part, or how many of its parts are in which."""
    counts = count_states(looks)
    if len(counts) == 1:
        lacking = {look.lacks for look in looks}
        known = f" for {lacking.pop()}" if lacking != {""} and len(lacking) == 1 else ""
        return f"{next(iter(counts))}{known if 'waiting' in counts else ''}"
    return ", ".join(f"{n} {state}" for state, n in counts.items())


def _row(model: ModelStatus) -> list[str]:
    finished, languages = model.languages
    sentences = f"{'' if model.exact else '~'}{amount(model.sentences)}"
    left = duration(model.left) if model.left else "-" if model.left == 0 else "?"
    return [
        named(model.model, 26),
        f"{finished}/{languages}",
        f"{amount(model.done)}/{sentences}" if model.sentences else "-",
        _share(model.done, model.sentences),
        amount(model.tokens_per_second),
        f"{'~' if model.borrowed and model.left else ''}{left}",
        _states(model.looks),
    ]


def _place(look: Look) -> str:
    """Where the newest attempt of a part runs, or ran."""
    if look.newest is None:
        return ""
    begun = look.newest.started
    parts = [begun.node, cards(begun.gpus), f"job {begun.slurm_job}" if begun.slurm_job else ""]
    return ", ".join(filter(None, parts))


def _running(look: Look) -> list[str]:
    """One line on a running job, and one where it is strangely silent."""
    facts = [f"{_share(look.done, look.sentences or 0)} of {amount(look.sentences)}"]
    if look.newest:
        facts.append(f"since {clock(look.newest.started.time, look.moment)}")
    if look.silent:
        facts.append(f"silent for {duration(look.silent.total_seconds())}")
    facts.append(_place(look))
    return [shortened(f"  {look.part.kind_key}: {', '.join(filter(None, facts))}", WIDTH)]


def _trouble(looks: list[Look]) -> list[list[str]]:
    """What became of parts, their last words and a log; those that ended alike are told once."""
    alike: dict[tuple[str, str, str], list[Look]] = {}
    for look in looks:
        key = (look.part.title, look.reason or look.state, last_words(look.log))
        alike.setdefault(key, []).append(look)
    return [_ended_alike(found, *key[1:]) for key, found in alike.items()]


def _ended_alike(looks: list[Look], reason: str, words: str) -> list[str]:
    """Lines on parts of a model that ended for one reason with the same last words."""
    first, *others = looks
    tries = f"attempt {len(first.attempts)}: " if len(first.attempts) > 1 else ""
    more = f" ({len(others)} more: {', '.join(o.part.part for o in others)})" if others else ""
    where = f"  ({_place(first)})" if _place(first) else ""
    lines = [
        f"  {first.part.kind_key}: {tries}{reason}{more}",
        *([f"    {words}"] if words else []),
    ]
    # A path is there to be copied, so it is never cut.
    return [*(shortened(line, WIDTH) for line in lines), f"    {first.log}{where}"]


def _section(title: str, told: Sequence[list[str]]) -> list[str]:
    if not told:
        return []
    lines = [line for each in told[:SHOWN] for line in each]
    more = len(told) - SHOWN
    return ["", title, *lines, *([f"  … and {more} more (--json has all)"] if more > 0 else [])]


def _stages(status: Status) -> str:
    """Each stage's count."""
    counts = [f"{stage.done}/{stage.expected}" for stage in status.stages]
    return table([stage.name for stage in status.stages], [counts], left=())


def _in_all(status: Status) -> list[str]:
    """The sum of what is left, and how long it takes at best."""
    total = sum(model.sentences for model in status.models)
    done = sum(model.done for model in status.models)
    waiting = [model for model in status.models if model.left != 0]
    known = [model.left for model in waiting if model.left is not None]
    if not total:
        return ["Nothing says yet how many sentences there are to score."]
    told = f"In all {amount(done)} of {amount(total)} sentences have scores."
    if not waiting:
        return [told]
    if not known:
        return [f"{told} How long the rest takes is known once something was scored."]
    unknown = len(waiting) - len(known)
    besides = f" (without {unknown} models of unknown speed)" if unknown else ""
    line = f"{told} Left: {duration(sum(known))} of scoring{besides};"
    return [line, f"the model that takes longest: {duration(max(known))}."]


def as_text(status: Status, configfile: str) -> str:
    """The whole campaign: stages, a line for each model, what runs and what is in trouble."""
    head = ("model", "languages", "sentences", "", "tokens/s", "left", "state")
    looks = [look for model in status.models for look in model.looks]
    lines = [
        f"Campaign {status.campaign} ({configfile}), {status.moment.astimezone():%a %d %b %H:%M}",
        "",
        _stages(status),
    ]
    if status.models:
        lines += ["", cut(table(head, map(_row, status.models), left=(0, 6))), "", *_in_all(status)]
    trouble = [look for look in looks if look.state in ("failed", "lost")]
    paused = [look for look in looks if look.state in ("waiting", "queued") and look.attempts]
    lines += _section("In trouble", _trouble(trouble))
    lines += _section("Interrupted, to go on where they were", [_paused(look) for look in paused])
    lines += _section("Running", [_running(look) for look in looks if look.state == "running"])
    return "\n".join(lines)


def _paused(look: Look) -> list[str]:
    """One line on a part that was interrupted."""
    told = ", ".join(filter(None, (look.state, look.reason)))
    share = f"{_share(look.done, look.sentences or 0)} of {amount(look.sentences)}"
    return [shortened(f"  {look.part.kind_key}: {told}; {share}", WIDTH)]


def _of_language(look: Look, lang: str) -> tuple[int | None, int | None]:
    """Sentences of a language that have scores, and all; None where nothing counted them."""
    known = look.progress.languages.get(lang) if look.progress else None
    if known is None:
        return None, None
    # Where there is a manifest, a progress file of an earlier attempt may be behind.
    return (known.sentences if look.manifest is not None else known.done), known.sentences


def _language_row(look: Look, lang: str) -> list[str]:
    done, total = _of_language(look, lang)
    state = "done" if look.manifest is not None or (total and done == total) else look.state
    counts = ["-", "-"] if total is None else [f"{amount(done)}/{amount(total)}", ""]
    if total:
        counts[1] = _share(done or 0, total)
    return [lang, *counts, state, look.part.part]


def find_model(status: Status, name: str) -> ModelStatus:
    """A model by its name. Raises UserError for one that the campaign lacks."""
    for model in status.models:
        if model.model == name:
            return model
    names = ", ".join(model.model for model in status.models[:8]) or "none"
    raise UserError(
        f"model {name!r} is not in campaign {status.campaign!r}; it has: {names}"
        f"{', …' if len(status.models) > 8 else ''}. Name one of them."
    )


def languages_text(model: ModelStatus) -> str:
    """A line for each language of a model."""
    head = ("language", "sentences", "", "state", "job")
    rows = [_language_row(look, lang) for look in model.looks for lang in look.part.languages]
    return f"{model.model}\n\n{table(head, rows, left=(0, 3, 4))}"


def _look_json(look: Look) -> dict[str, Any]:
    newest = look.newest
    return {
        "part": look.part.part,
        "state": look.state,
        "reason": look.reason,
        "sentences": look.sentences,
        "done": look.done,
        "attempts": len(look.attempts),
        "attempt": newest.started.model_dump(mode="json") if newest else None,
        "ended": newest.ended.model_dump(mode="json") if newest and newest.ended else None,
        "progress": look.progress.model_dump(mode="json") if look.progress else None,
        "heard": look.heard.isoformat() if look.heard else None,
        "log": str(look.log),
        "last_words": last_words(look.log) if look.state in ("failed", "lost") else None,
        "languages": {
            lang: dict(zip(("done", "sentences"), _of_language(look, lang), strict=True))
            for lang in look.part.languages
        },
    }


def as_json(status: Status) -> str:
    """Everything, as JSON."""
    models = [
        {
            "model": model.model,
            "languages_done": model.languages[0],
            "languages": model.languages[1],
            "sentences": model.sentences,
            "sentences_counted": model.exact,
            "done": model.done,
            "states": count_states(model.looks),
            "tokens_per_second": model.tokens_per_second,
            "seconds_left": model.left,
            "speed_of_others": model.borrowed,
            "parts": [_look_json(look) for look in model.looks],
        }
        for model in status.models
    ]
    stages = {s.name: {"done": s.done, "expected": s.expected} for s in status.stages}
    found = {"campaign": status.campaign, "moment": status.moment.isoformat()}
    return json.dumps(found | {"stages": stages, "models": models}, indent=1, ensure_ascii=False)
