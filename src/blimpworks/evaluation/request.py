"""Parse the names in a user's request for an evaluation, and write its campaign's files."""

import logging
import os
import re
import socket
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import langcodes
import yaml

from blimpworks.campaign.addresses import offline_variable
from blimpworks.campaign.catalogue import Catalogue, ModelRow, load_catalogue, whole_catalogue
from blimpworks.campaign.layout import Layout
from blimpworks.campaign.load import check_campaign, declare, named_folder
from blimpworks.campaign.reference import groups_of_models
from blimpworks.campaign.registry import benchmarks, check_usable, papers
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.evaluation.card import rerun_command
from blimpworks.files import write_text
from blimpworks.records.job import REPOSITORY
from blimpworks.yaml_files import read_yaml

log = logging.getLogger(__name__)

CAMPAIGN_FILE, MODELS_FILE = "campaign.yaml", "models.tsv"
HUB = "https://huggingface.co"
PATIENCE = 3.0
"""Seconds until a silent hub counts as unreachable."""


def repository_catalogue() -> Catalogue:
    """Return the repository's own catalogue of models and languages."""
    return whole_catalogue(check_campaign({"campaign": "evaluation"}, ""))


def layout_of(campaign: Campaign) -> Layout:
    """Load a campaign's catalogues. Raises UserError for a malformed table."""
    catalogue, whole = load_catalogue(campaign), whole_catalogue(campaign)
    return Layout(campaign, catalogue, whole, groups_of_models(campaign, catalogue))


def parse_names(text: str) -> tuple[str, ...]:
    """Split names at commas, each once; ``all`` gives none."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    return () if names == ("all",) else names


def parse_benchmarks(text: str) -> tuple[str, ...]:
    """Parse names and paths of benchmarks. Raises UserError when one is unknown or unusable."""
    folders = {name: named_folder(name) for name in parse_names(text)}
    declare([*filter(None, folders.values())])
    names = tuple(dict.fromkeys(path.name if path else name for name, path in folders.items()))
    for name in names:
        check_usable(name)
        if name not in benchmarks():
            close = get_close_matches(name, benchmarks(), n=1, cutoff=0.5)
            hint = f"Did you mean {close[0]!r}?" if close else "Correct it, or name a path."
            raise UserError(
                f"--benchmarks names {name!r}; expected some of {', '.join(benchmarks())}. {hint}"
            )
    return names


def _fitting(name: str, languages: Iterable[str]) -> list[str]:
    """Return the codes among ``languages`` that another code of ISO 639 means.

    A macrolanguage (``ara``) and its main language in CLDR (``arb``) mean each other.
    """
    if not langcodes.tag_is_valid(name):
        return []
    plain, broad = langcodes.standardize_tag(name), langcodes.standardize_tag(name, macro=True)
    tags = {lang: langcodes.standardize_tag(lang) for lang in languages}
    same = [lang for lang, tag in tags.items() if tag == plain]
    return same or [
        lang for lang, tag in tags.items() if broad == langcodes.standardize_tag(lang, macro=True)
    ]


def parse_languages(text: str) -> tuple[str, ...]:
    """Parse codes of ISO 639 or English names to ISO 639-3 codes. Raises UserError if unknown."""
    rows = repository_catalogue().languages
    by_name = {row.name.lower(): lang for lang, row in rows.items()}
    codes = []
    for name in parse_names(text):
        code = name if name in rows else by_name.get(name.lower(), "")
        fitting = [] if code else _fitting(name, rows)
        if len(fitting) == 1:
            code = fitting[0]
            log.info("--languages names %r, read as %s (%s).", name, code, rows[code].name)
        if not code:
            # What looks like the code of another language is none of it.
            candidates = [] if langcodes.tag_is_valid(name) else [*rows, *by_name]
            close = get_close_matches(name.lower(), candidates, n=1, cutoff=0.5)
            hint = f"Did you mean {close[0]!r}?" if close else "See `blimpworks evaluate --list`."
            raise UserError(
                f"--languages names {name!r}; expected codes (ISO 639) or "
                f"English names of the {len(rows)} languages in config/languages.tsv. {hint}"
            )
        codes.append(code)
    return tuple(dict.fromkeys(codes))


def hub_is_reachable() -> bool:
    """Return whether the hub of models and data accepts a connection now."""
    if offline_variable() is not None:
        return False
    address = urlsplit(os.environ.get("HF_ENDPOINT") or HUB)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        with socket.create_connection((address.hostname or "", port), timeout=PATIENCE):
            return True
    except OSError:
        return False


def as_setting(path: Path) -> str:
    """Return a path as campaigns write it: relative if below the repository, else absolute."""
    absolute = path.expanduser().resolve()
    below = absolute.is_relative_to(REPOSITORY)
    return str(absolute.relative_to(REPOSITORY) if below else absolute)


def folders_outside(names: Iterable[str]) -> list[Path]:
    """Return the folders of papers that are declared outside the repository."""
    folders = (papers()[name].folder for name in names if name in papers())
    return [path for path in folders if path and not as_setting(path).startswith("config/")]


def write_campaign(settings: Mapping[str, Any], path: Path) -> bool:
    """Write a campaign file; return whether it replaces one with other settings."""
    before = read_yaml(path, "a campaign file") if path.exists() else settings
    head = (
        "# An evaluation, as a campaign that can be run again, sent to a cluster and cited:\n"
        f"# {rerun_command(as_setting(path))}\n"
    )
    body = yaml.safe_dump({**settings}, sort_keys=False, allow_unicode=True, width=100)
    write_text(path, head + body)
    return bool(before != settings)


def write_models(rows: Iterable[ModelRow], path: Path) -> None:
    """Write a table of models. Raises UserError when a value has a tab or line end."""
    lines = ["\t".join(ModelRow.model_fields)]
    for row in rows:
        texts = []
        for column in ModelRow.model_fields:
            value = getattr(row, column)
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            text = "" if value is None else text
            if re.search(r"[\t\r\n]", text):
                raise UserError(
                    f"model {row.name!r}: {column} is {text!r}, and no table can hold its tabs or "
                    "line ends; rename the model."
                )
            texts.append(text)
        lines.append("\t".join(texts))
    write_text(path, "".join(f"{line}\n" for line in lines))
