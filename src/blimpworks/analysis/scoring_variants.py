"""Score items with a model by a variant: an engine, which runs the model, and its settings.

``parse_variant`` reads a name such as ``transformers:bfloat16:skip``: the engine transformers,
numbers in bfloat16, and no score for the first token. ``score_variant`` runs ``blimpworks score``
in another process and returns the table of scores; ``analysis.parity`` compares the tables of
several variants.

A start is the tokens before a sentence, from which a causal model predicts the first token. The
setting ``first_token`` names it: ``bos``, ``token:<s>`` for a stated token, or ``skip`` for none.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, get_args

import blimpworks
from blimpworks.campaign.engines import POLICIES, engines, find_engine, find_scorer, obstacle
from blimpworks.campaign.settings.base import parse_options
from blimpworks.campaign.settings.scoring import Dtype, ScoringOptions
from blimpworks.errors import UserError
from blimpworks.files import sha256_of, sidecar_path, write_text
from blimpworks.models.checkpoint import read_description
from blimpworks.models.facts import TOKEN, candidates
from blimpworks.records.job import REPOSITORY
from blimpworks.scoring.run import Shards, collect_scores
from blimpworks.yaml_files import load_yaml

SHORT: dict[str, str] = {
    **{name: f"dtype={name}" for name in get_args(Dtype)},
    **{name: f"first_token={name}" for name in POLICIES},
    "sharing-always": "sharing=always",
    "sharing-never": "sharing=never",
}
"""{short form in names of variants: setting of scoring}, such as {"bfloat16": "dtype=bfloat16"}.
Engines may add short forms."""

REFUSAL_STATUS = 2
"""Exit status of a command after a UserError."""
MESSAGE_PREFIX = "blimpworks: "
"""Beginning of the line with the message of a UserError."""


class Impossible(Exception):
    """A variant cannot score the model; the message is the reason."""


class Variant(NamedTuple):
    """An engine with settings, such as ``transformers:bfloat16:skip`` or ``vllm:in-process``."""

    name: str
    engine: str
    settings: dict[str, Any]
    """Settings of scoring that the variant changes, as in a campaign."""

    def why_impossible(self, architecture: str, pythons: Mapping[str, str]) -> str | None:
        """Return why the variant cannot score models of an architecture here, or None.

        ``pythons`` are interpreters by engine, for engines that this interpreter lacks.
        """
        reason = obstacle(self.engine, architecture, self.settings)
        if reason is not None:
            return reason
        engine = find_engine(self.engine)
        if self.engine in pythons or find_spec(engine.module) is not None:
            return None
        return (
            f"no Python here has the engine {self.engine}; install it (by {engine.install}), or "
            f"name a Python that has it by --python {self.engine}=PATH"
        )

    def options(self, base: Mapping[str, Any]) -> ScoringOptions:
        """Change ``base`` settings. Raises UserError for settings that do not exist."""
        return parse_options(ScoringOptions, json.dumps(merged(base, self.settings)))


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with changes; a changed section keeps its other settings."""
    result = dict(base)
    for key, value in changes.items():
        section = result.get(key)
        if isinstance(value, Mapping) and isinstance(section, Mapping):
            result[key] = merged(section, value)
        else:
            result[key] = value
    return result


def parse_settings(texts: Sequence[str], engine: str, location: str) -> dict[str, Any]:
    """Parse settings of scoring in short forms or as NAME=VALUE. Raises UserError for others."""
    short = {**SHORT, **find_engine(engine).short}
    settings: dict[str, Any] = {}
    for text in texts:
        key, equals, value = short.get(text, text).partition("=")
        if not equals:
            raise UserError(
                f"{location}: {text!r} is no setting; expected {', '.join(short)}, or a "
                "setting of scoring such as batch_tokens=1024."
            )
        setting: Any = load_yaml(value, f"{location}: {text!r}")
        for name in reversed(key.split(".")):  # "vllm.threads=2" becomes {"vllm": {"threads": 2}}
            setting = {name: setting}
        settings = merged(settings, setting)
    parse_options(ScoringOptions, json.dumps(settings))
    return settings


def parse_variant(name: str) -> Variant:
    """Parse a variant's name: engine, and settings after colons. Raises UserError if unknown."""
    # A stated token comes last, because it may have colons: "vllm:float32:first_token=token:<s>".
    head, _, token = name.partition(f":first_token={TOKEN}")
    engine, *texts = head.split(":")
    try:
        find_engine(engine)
    except UserError as error:
        raise UserError(f"variant {name!r}: {error}") from None
    settings = parse_settings(texts, engine, f"variant {name!r}")
    if token:
        settings["first_token"] = TOKEN + token
    return Variant(name, engine, settings)


def expand_starts(names: Sequence[str], checkpoint: Path) -> list[str]:
    """Replace ``ENGINE:starts`` among names of variants by a variant for each possible start.

    If the engine accepts any stated token, the possible starts are those that suit the model's
    tokenizer (``candidates``); otherwise, those that the engine accepts. Raises UserError for an
    engine that cannot run the model.
    """
    description, expanded = read_description(checkpoint), list[str]()
    for name in names:
        engine, _, setting = name.partition(":")
        if setting != "starts":
            expanded.append(name)
            continue
        starts = [*find_scorer(engine, description.architecture).first_token]
        if "token" in starts:
            from blimpworks.scoring.hub_loading import HubTokenizer

            # A tokenizer that lacks the token of the checkpoint's start loads only with "skip".
            without_start = description.model_copy(update={"first_token": "skip"})
            starts = [*candidates(HubTokenizer(checkpoint, without_start).hub)]
        expanded += [f"{engine}:first_token={start}" for start in starts]
    return expanded


def default_pythons() -> dict[str, str]:
    """Return the interpreters of engines that have a separate environment in this checkout."""
    pythons = {name: engine.python(REPOSITORY) for name, engine in engines().items()}
    return {name: str(python) for name, python in pythons.items() if python}


def score_variant(
    variant: Variant,
    items: Path,
    checkpoint: Path,
    output: Path,
    base: Mapping[str, Any],
    pythons: Mapping[str, str],
    trusted: Sequence[str] = (),
) -> tuple[Path, str, float | None]:
    """Score ``items`` by ``variant`` below the directory ``output``, as the workflow does.

    The engine runs in a separate process, by its interpreter in ``pythons``; sentences scored
    before are not scored again. ``trusted`` are digests of the model's own code that may run.
    Returns the table of scores, the engine's key (its name, version and settings), and the seconds
    of loading the model and scoring ``items``. The seconds are those of the first run below
    ``output``, because later runs use stored scores. They are None if the first run failed, or was
    of another engine, model or table of items. Raises Impossible if the variant cannot score the
    model, and UserError if scoring fails.
    """
    reason = variant.why_impossible(read_description(checkpoint).architecture, pythons)
    if reason:
        raise Impossible(reason)
    folder = output / "variants" / re.sub(r"[^\w.=-]", "-", variant.name)
    is_first_run = not (folder / "shards").is_dir()
    python = pythons.get(variant.engine, sys.executable)
    command = [
        *(python, "-m", "blimpworks", "score", str(items), "--checkpoint", str(checkpoint)),
        *("--engine", variant.engine, "--options", variant.options(base).model_dump_json()),
        *("--store", str(folder / "shards"), "--manifest", str(folder / "manifest.json")),
        *(f"--run-model-code={digest}" for digest in trusted),
    ]
    log, source = folder / "log.txt", str(Path(blimpworks.__file__).parents[1])
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    folder.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as lines:
        finished = subprocess.run(
            command, stdout=lines, stderr=subprocess.STDOUT, env=environment, check=False
        )
    if finished.returncode:
        log_lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        last = log_lines[-1] if log_lines else "its log is empty"
        if finished.returncode == REFUSAL_STATUS and last.startswith(MESSAGE_PREFIX):
            raise Impossible(last.removeprefix(MESSAGE_PREFIX))
        raise UserError(f"variant {variant.name!r} could not be scored: {last} (see {log})")

    table, manifest = folder / "scores.parquet", folder / "manifest.json"
    shards = Shards(manifest, folder / "shards")
    collect_scores(items, shards, table)
    engine_key = shards.described.engine
    seconds_file = folder / "seconds.json"  # {run_key of the first run: its seconds}
    run_key = f"{engine_key} {sha256_of(checkpoint)} {sha256_of(items)}"
    if is_first_run:
        record = json.loads(sidecar_path(manifest).read_text(encoding="utf-8"))
        started, ended = (datetime.fromisoformat(record[key]) for key in ("started", "ended"))
        write_text(seconds_file, json.dumps({run_key: (ended - started).total_seconds()}) + "\n")
    seconds = json.loads(seconds_file.read_bytes()) if seconds_file.is_file() else {}
    return table, engine_key, seconds.get(run_key)
