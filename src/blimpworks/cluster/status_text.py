"""How far a campaign is, for people and for programs."""

import json
from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from blimpworks.cluster.part_status import PartStatus, count_states, last_words
from blimpworks.cluster.status import ModelStatus, Status
from blimpworks.cluster.text import (
    WIDTH,
    Columns,
    amount,
    clock,
    duration,
    gpu_names,
    printed,
    shortened,
)
from blimpworks.errors import UserError

SHOWN = 20
"""Jobs that a section has at most."""


def _share(done: int, total: int) -> str:
    """Percentage, which is 100 only when nothing is missing."""
    return f"{100 * done // total} %" if total else "-"


def _states(parts: Sequence[PartStatus]) -> str:
    """State of a model's only part, or how many of its parts are in which."""
    counts = count_states(parts)
    if len(counts) == 1:
        lacking = {part.lacks for part in parts}
        known = f" for {lacking.pop()}" if lacking != {""} and len(lacking) == 1 else ""
        return f"{next(iter(counts))}{known if 'waiting' in counts else ''}"
    return ", ".join(f"{n} {state}" for state, n in counts.items())


def _row(model: ModelStatus) -> dict[str, str]:
    finished, languages = model.languages
    sentences = f"{'' if model.exact else '~'}{amount(model.sentences)}"
    left = duration(model.left) if model.left else "-" if model.left == 0 else "?"
    return {
        "model": model.model,
        "languages": f"{finished}/{languages}",
        "sentences": f"{amount(model.done)}/{sentences}" if model.sentences else "-",
        "": _share(model.done, model.sentences),
        "tokens/s": amount(model.tokens_per_second),
        "left": f"{'~' if model.borrowed and model.left else ''}{left}",
        "state": _states(model.parts),
    }


def _place(part: PartStatus) -> str:
    """Where the newest attempt of a part runs, or ran."""
    if part.newest is None:
        return ""
    begun = part.newest.started
    facts = [begun.node, gpu_names(begun.gpus), f"job {begun.slurm_job}" * bool(begun.slurm_job)]
    return ", ".join(filter(None, facts))


def _scored_share(part: PartStatus) -> str:
    return f"{_share(part.done, part.sentences or 0)} of {amount(part.sentences)}"


def _running(part: PartStatus) -> Text:
    """One line on a running job: how far it is, where, and whether it is strangely silent."""
    facts = [_scored_share(part)]
    if part.newest:
        facts.append(f"since {clock(part.newest.started.time, part.moment)}")
    if part.silent:
        facts.append(f"silent for {duration(part.silent.total_seconds())}")
    facts.append(_place(part))
    return shortened(f"  {part.part.kind_key}: {', '.join(filter(None, facts))}")


def _paused(part: PartStatus) -> Text:
    """One line on a part that was interrupted."""
    state = ", ".join(filter(None, (part.state, part.reason)))
    return shortened(f"  {part.part.kind_key}: {state}; {_scored_share(part)}")


def _trouble(parts: Sequence[PartStatus]) -> list[list[Text]]:
    """What became of parts, their last words and a log; of those that ended alike, once."""
    alike: dict[tuple[str, str, str], list[PartStatus]] = {}
    for part in parts:
        key = (part.part.title, part.reason or part.state, last_words(part.log))
        alike.setdefault(key, []).append(part)
    return [_ended_alike(same, *key[1:]) for key, same in alike.items()]


def _ended_alike(parts: Sequence[PartStatus], reason: str, words: str) -> list[Text]:
    """Lines on parts of a model that ended for one reason with the same last words."""
    first, *others = parts
    tries = f"attempt {len(first.attempts)}: " if len(first.attempts) > 1 else ""
    more = f" ({len(others)} more: {', '.join(o.part.part for o in others)})" if others else ""
    where = f"  ({_place(first)})" if _place(first) else ""
    return [
        shortened(f"  {first.part.kind_key}: {tries}{reason}{more}"),
        *([shortened(f"    {words}")] if words else []),
        Text(f"    {first.log}{where}"),  # a path is there to be copied
    ]


def _section(title: str, entries: Sequence[Sequence[Text]]) -> list[RenderableType]:
    if not entries:
        return []
    lines: list[RenderableType] = [line for entry in entries[:SHOWN] for line in entry]
    more = len(entries) - SHOWN
    return ["", title, *lines, *([f"  … and {more} more (--json has all)"] if more > 0 else [])]


def _in_all(status: Status) -> list[str]:
    """The sum of what is left, and how long it takes at best."""
    total = sum(model.sentences for model in status.models)
    done = sum(model.done for model in status.models)
    waiting = [model for model in status.models if model.left != 0]
    known = [model.left for model in waiting if model.left is not None]
    if not total:
        return ["Nothing says yet how many sentences there are to score."]
    scored = f"In all {amount(done)} of {amount(total)} sentences have scores."
    if not waiting:
        return [scored]
    if not known:
        return [scored, "How long the rest takes is known once something was scored."]
    unknown = len(waiting) - len(known)
    besides = f" (without {unknown} models of unknown speed)" if unknown else ""
    return [
        scored,
        f"Left: {duration(sum(known))} of scoring{besides}; "
        f"the model that takes longest: {duration(max(known))}.",
    ]


def as_text(status: Status, configfile: str, width: int = WIDTH) -> str:
    """The whole campaign: stages, a line for each model, what runs and what is in trouble."""
    parts = [part for model in status.models for part in model.parts]
    blocks: list[RenderableType] = [
        f"Campaign {status.campaign} ({configfile}), {status.moment.astimezone():%a %d %b %H:%M}",
        "",
        Columns([{stage.name: f"{stage.done}/{stage.expected}" for stage in status.stages}]),
    ]
    if status.models:
        models = Columns([*map(_row, status.models)], left=("model", "state"))
        blocks += ["", models, "", *_in_all(status)]
    trouble = [part for part in parts if part.state in ("failed", "lost")]
    paused = [part for part in parts if part.state in ("waiting", "queued") and part.attempts]
    blocks += _section("In trouble", _trouble(trouble))
    blocks += _section(
        "Interrupted, to go on where they were", [[_paused(part)] for part in paused]
    )
    blocks += _section("Running", [[_running(part)] for part in parts if part.state == "running"])
    return printed(blocks, width)


def _of_language(part: PartStatus, lang: str) -> tuple[int | None, int | None]:
    """Sentences of a language that have scores, and all; None where nothing counted them."""
    known = part.progress.languages.get(lang) if part.progress else None
    if known is None:
        return None, None
    # Where there is a manifest, a progress file of an earlier attempt may be behind.
    return (known.sentences if part.manifest is not None else known.done), known.sentences


def _language_row(part: PartStatus, lang: str) -> dict[str, str]:
    done, total = _of_language(part, lang)
    state = "done" if part.manifest is not None or (total and done == total) else part.state
    return {
        "language": lang,
        "sentences": "-" if total is None else f"{amount(done)}/{amount(total)}",
        "": "-" if total is None else _share(done or 0, total) if total else "",
        "state": state,
        "job": part.part.part,
    }


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


def languages_text(model: ModelStatus, width: int = WIDTH) -> str:
    """A line for each language of a model."""
    rows = [_language_row(part, lang) for part in model.parts for lang in part.part.languages]
    return printed([model.model, "", Columns(rows, left=("language", "state", "job"))], width)


def _part_json(part: PartStatus) -> dict[str, Any]:
    newest = part.newest
    return {
        "part": part.part.part,
        "state": part.state,
        "reason": part.reason,
        "sentences": part.sentences,
        "done": part.done,
        "attempts": len(part.attempts),
        "attempt": newest.started.model_dump(mode="json") if newest else None,
        "ended": newest.ended.model_dump(mode="json") if newest and newest.ended else None,
        "progress": part.progress.model_dump(mode="json") if part.progress else None,
        "heard": part.heard.isoformat() if part.heard else None,
        "log": str(part.log),
        "last_words": last_words(part.log) if part.state in ("failed", "lost") else None,
        "languages": {
            lang: dict(zip(("done", "sentences"), _of_language(part, lang), strict=True))
            for lang in part.part.languages
        },
    }


def as_json(status: Status) -> str:
    """The whole status of a campaign, as JSON."""
    models = [
        {
            "model": model.model,
            "languages_done": model.languages[0],
            "languages": model.languages[1],
            "sentences": model.sentences,
            "sentences_counted": model.exact,
            "done": model.done,
            "states": count_states(model.parts),
            "tokens_per_second": model.tokens_per_second,
            "seconds_left": model.left,
            "speed_of_others": model.borrowed,
            "parts": [_part_json(part) for part in model.parts],
        }
        for model in status.models
    ]
    stages = {s.name: {"done": s.done, "expected": s.expected} for s in status.stages}
    heading = {"campaign": status.campaign, "moment": status.moment.isoformat()}
    return json.dumps(heading | {"stages": stages, "models": models}, indent=1, ensure_ascii=False)
