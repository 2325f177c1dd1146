"""What an evaluation is asked to do, and the campaign that does it."""

import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import urlsplit

import yaml

from blimpworks.campaign.addresses import offline_variable
from blimpworks.campaign.registry import papers
from blimpworks.campaign.settings.parsing import read_settings
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.records.job import REPOSITORY
from blimpworks.yaml_files import read_yaml

TEMPLATES = "config/evaluation"
"""Folder of the campaigns that evaluations start from, one for each choice of data."""
AUTO, EMBEDDED, RELEASED = "auto", "embedded", "released"
FOLDER = "evaluations"
"""Where evaluations go that are given no folder, below the current directory."""
CAMPAIGN_FILE, MODELS_FILE = "campaign.yaml", "models.tsv"
HUB = "https://huggingface.co"
PATIENCE = 3.0
"""Seconds until a hub that does not answer counts as unreachable."""


@dataclass(frozen=True, slots=True)
class Request:
    """An evaluation that a user asks for, models aside."""

    data: str = AUTO
    """Name of a template: ``embedded``, ``released``; or ``auto``."""
    benchmarks: tuple[str, ...] = ()
    """Names; empty for all of the template that the models can run."""
    languages: tuple[str, ...] = ()
    """ISO 639-3 codes; empty for those of the benchmarks that are named, or of the template."""
    limit: int | None = None
    """Items of each benchmark and language; None for all."""
    mirror: Path | None = None
    """Directory of copies of upstream files."""
    sensitivity: bool = False
    """Whether it is measured how much the first token's conditioning matters."""


def hub_is_reachable() -> bool:
    """Whether a connection to the hub of models and data can be made now."""
    if offline_variable() is not None:
        return False
    address = urlsplit(os.environ.get("HF_ENDPOINT") or HUB)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        with socket.create_connection((address.hostname or "", port), timeout=PATIENCE):
            return True
    except OSError:
        return False


def choose_data(data: str, mirror: Path | None) -> tuple[str, str]:
    """Name of the template for a choice of data, and why it was chosen, for people.

    Raises UserError for a template that does not exist, or a mirror without the data in it.
    """
    known = sorted(path.stem for path in (REPOSITORY / TEMPLATES).glob("*.yaml"))
    if data not in (AUTO, *known):
        raise UserError(f"--data is {data!r}; expected {AUTO}, {', '.join(known)}.")
    if mirror is not None and not mirror.is_dir():
        raise UserError(f"--mirror is {mirror}, which is no directory; name one that exists.")
    if mirror is not None and data == EMBEDDED:
        raise UserError("--mirror has released data, which --data embedded leaves out; drop one.")
    if data != AUTO:
        return data, ""
    if mirror is not None:
        return RELEASED, f"from {mirror}"
    if hub_is_reachable():
        return RELEASED, "the network is there; `--data embedded` does without"
    return EMBEDDED, "there is no network; released data need one, or --mirror DIRECTORY"


def read_template(name: str) -> dict[str, Any]:
    """Settings of the campaign that evaluations on some data start from."""
    return read_settings(REPOSITORY / TEMPLATES / f"{name}.yaml", "campaign")


def as_setting(path: Path) -> str:
    """A path as campaigns have it: below the repository relative to it, else absolute."""
    absolute = path.expanduser().resolve()
    below = absolute.is_relative_to(REPOSITORY)
    return str(absolute.relative_to(REPOSITORY) if below else absolute)


def folders_outside(names: Iterable[str]) -> list[Path]:
    """Folders of those papers among some that are declared outside the repository."""
    folders = (papers()[name].folder for name in names if name in papers())
    return [each for each in folders if each and not as_setting(each).startswith("config/")]


def check_folder(folder: Path) -> None:
    """Raises UserError for a place that is no directory, or holds what is no evaluation."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--out is {folder}, which is a file; name a directory.")
    # A request that was refused has left a table of models.
    names = {path.name for path in folder.iterdir()} - {MODELS_FILE} if folder.is_dir() else ()
    if names and CAMPAIGN_FILE not in names:
        raise UserError(
            f"--out is {folder}, which holds other things and no {CAMPAIGN_FILE}; name a new or "
            "empty directory, or that of an evaluation."
        )


def campaign_settings(
    request: Request, folder: str, template: Mapping[str, Any], models: Sequence[str]
) -> dict[str, Any]:
    """Settings of the campaign of an evaluation in a folder, but for what has a default."""
    catalogue = {**template.get("catalogue", {}), "models": f"{folder}/{MODELS_FILE}"}
    settings: dict[str, Any] = {
        "campaign": "evaluation",
        **template,
        "pathvars": {
            "results": f"{folder}/results",
            "resources": f"{folder}/resources",
            "logs": f"{folder}/logs",
            "benchmarks": f"{folder}/logs/benchmarks",
        },
        "catalogue": catalogue,
        "benchmarks": [*(request.benchmarks or template["benchmarks"])],
        "languages": [*(request.languages or template["languages"])],
        "models": [*models],
    }
    outside = [as_setting(path) for path in folders_outside(settings["benchmarks"])]
    if outside:
        settings["declared"] = outside
    if {*settings["benchmarks"]} - {*template["benchmarks"]}:
        settings.pop("description", None)  # which is of the template's own data
    if request.mirror is not None:
        settings["mirror"] = as_setting(request.mirror)
    if request.limit is not None:
        settings["limit"] = request.limit
    if request.sensitivity:
        settings["report_card"] = {"sensitivity": True}
    return settings


def write_campaign(settings: Mapping[str, Any], path: Path) -> bool:
    """Write a campaign file; whether it replaces one with other settings."""
    before = read_yaml(path, "a campaign file") if path.exists() else settings
    head = (
        "# An evaluation, as a campaign that can be run again, sent to a cluster and cited:\n"
        f"# snakemake --configfile {quote(as_setting(path))} --cores 2 report_card\n"
    )
    body = yaml.safe_dump({**settings}, sort_keys=False, allow_unicode=True, width=100)
    write_text(path, head + body)
    return bool(before != settings)
