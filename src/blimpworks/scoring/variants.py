"""Ways to score with one model, and the scores of some items by each of them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import yaml

import blimpworks
from blimpworks.config import Dtype, EngineName, ScoringOptions, parse_options
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.models.checkpoint import FirstToken
from blimpworks.provenance.record import REPOSITORY, sidecar_path
from blimpworks.scoring.collect import collect_scores

SHORT: dict[str, str] = {
    **{name: f"dtype={name}" for name in get_args(Dtype)},
    **{name: f"first_token={name}" for name in get_args(FirstToken)},
    **{f"sharing-{how}": f"sharing={how}" for how in ("always", "never")},
    "within-word": "masked.pll=within_word_l2r",
    "in-process": "vllm.mode=in_process",
}
"""Settings that a variant's name can have in short."""


@dataclass(frozen=True, slots=True)
class Variant:
    """An engine with settings, such as ``transformers:bfloat16:skip`` or ``vllm:in-process``."""

    name: str
    engine: str
    settings: dict[str, Any]
    """Settings of scoring that it changes, as in a campaign."""

    def options(self, base: Mapping[str, Any]) -> ScoringOptions:
        """``base`` settings, changed. Raises UserError for settings that don't exist."""
        return parse_options(ScoringOptions, json.dumps(_merged(base, self.settings)))


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(base)
    for key, value in changes.items():
        inner = found.get(key)
        deeper = isinstance(value, Mapping) and isinstance(inner, Mapping)
        found[key] = _merged(dict(inner or {}), value) if deeper else value
    return found


def _setting(part: str, name: str) -> dict[str, Any]:
    """What one part of a variant's name sets."""
    key, given, value = SHORT.get(part, part).partition("=")
    if not given:
        raise UserError(
            f"variant {name!r}: {part!r} is no setting; expected {', '.join(SHORT)}, or a setting "
            "of scoring such as batch_tokens=1024."
        )
    found: Any = yaml.safe_load(value)
    for inner in reversed(key.split(".")):
        found = {inner: found}
    changed: dict[str, Any] = found
    return changed


def parse_variant(name: str) -> Variant:
    """A variant by its name: an engine, and settings behind colons.

    Raises UserError for an engine or a setting that doesn't exist.
    """
    engine, *parts = name.split(":")
    if engine not in get_args(EngineName):
        raise UserError(
            f"variant {name!r}: engine {engine!r} is unknown; expected one of "
            f"{', '.join(get_args(EngineName))}."
        )
    settings: dict[str, Any] = {}
    for part in parts:
        settings = _merged(settings, _setting(part, name))
    variant = Variant(name, engine, settings)
    variant.options({})
    return variant


def default_pythons() -> dict[str, str]:
    """Interpreters of engines that have an environment of their own in this checkout."""
    own = REPOSITORY / ".vllm/bin/python"
    return {"vllm": str(own)} if own.exists() else {}


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of some items by one variant."""

    table: Path
    """Scores table."""
    engine: str
    """Key of the engine that scored."""
    seconds: float | None
    """Time that scoring took, loading included; None if it was never all done in one go."""


def _command(
    variant: Variant, items: Path, checkpoint: Path, folder: Path, options: ScoringOptions
) -> list[str]:
    """Arguments of the verb that scores, for an interpreter."""
    return [
        *("-m", "blimpworks", "score", str(items), "--checkpoint", str(checkpoint)),
        *("--engine", variant.engine, "--options", options.model_dump_json()),
        *("--store", str(folder / "shards"), "--manifest", str(folder / "manifest.json")),
    ]


def _run(command: Sequence[str], log: Path, name: str) -> None:
    """Run a command; what it says goes to ``log``. Raises UserError with its last line."""
    source = str(Path(blimpworks.__file__).parents[1])
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as told:
        done = subprocess.run(
            command, stdout=told, stderr=subprocess.STDOUT, env=environment, check=False
        )
    if done.returncode:
        said = log.read_text(encoding="utf-8", errors="replace").splitlines()
        last = said[-1].removeprefix("blimpworks: ") if said else "it said nothing"
        raise UserError(f"variant {name!r} could not be scored: {last} (see {log})")


def _seconds(folder: Path, engine: str, *, fresh: bool) -> float | None:
    """How long ``engine`` (its key) took when it scored all in one go; None if it never did."""
    kept = folder / "seconds.json"
    if fresh:
        record = json.loads(sidecar_path(folder / "manifest.json").read_text(encoding="utf-8"))
        started, ended = (datetime.fromisoformat(record[key]) for key in ("started", "ended"))
        write_text(kept, json.dumps({engine: (ended - started).total_seconds()}) + "\n")
    found: dict[str, float] = json.loads(kept.read_bytes()) if kept.is_file() else {}
    return found.get(engine)


def score_variant(
    variant: Variant,
    items: Path,
    checkpoint: Path,
    output: Path,
    base: Mapping[str, Any],
    pythons: Mapping[str, str],
) -> Scored:
    """Score ``items`` by ``variant`` below directory ``output``, as the workflow does.

    The engine runs in a process of its own, by the interpreter that ``pythons`` has for it.
    What has been scored before is not scored again. Raises UserError when scoring fails.
    """
    folder = output / "variants" / re.sub(r"[^\w.=-]", "-", variant.name)
    fresh = not (folder / "shards").is_dir()
    command = _command(variant, items, checkpoint, folder, variant.options(base))
    python = pythons.get(variant.engine, sys.executable)
    _run([python, *command], folder / "log.txt", variant.name)
    table, manifest = folder / "scores.parquet", folder / "manifest.json"
    collect_scores(items, manifest, folder / "shards", table)
    engine = json.loads(manifest.read_bytes())["engine"]
    return Scored(table, engine, _seconds(folder, engine, fresh=fresh))
