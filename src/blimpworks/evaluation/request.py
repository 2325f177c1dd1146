"""Read what a user requests of an evaluation, list benchmarks, and write campaign files."""

import logging
import os
import re
import socket
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import langcodes
import yaml

from blimpworks.campaign.addresses import offline_variable
from blimpworks.campaign.catalogue import (
    Catalogue,
    ModelRow,
    Pinned,
    SourceRow,
    TreebankRow,
    load_catalogue,
    whole_catalogue,
)
from blimpworks.campaign.layout import Layout
from blimpworks.campaign.load import check_campaign, declare, named_folder
from blimpworks.campaign.paper import Benchmark
from blimpworks.campaign.parts import is_usable
from blimpworks.campaign.reference import groups_of_models
from blimpworks.campaign.registry import benchmarks, check_usable, paper_of, papers, registered
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.evaluation.card import rerun_command
from blimpworks.files import below, write_text
from blimpworks.records.job import REPOSITORY
from blimpworks.yaml_files import read_yaml

log = logging.getLogger(__name__)

CAMPAIGN_FILE, MODELS_FILE = "campaign.yaml", "models.tsv"
HUB = "https://huggingface.co"
HUB_SECONDS = 3.0
"""Seconds after which a hub that does not answer counts as unreachable."""


def repository_catalogue() -> Catalogue:
    """Return the repository's own catalogue of models and languages."""
    return whole_catalogue(check_campaign({"campaign": "evaluation"}, ""))


def layout_of(campaign: Campaign) -> Layout:
    """Return the layout of a campaign. Raises UserError for a malformed table of its catalogue."""
    catalogue = load_catalogue(campaign)
    groups = groups_of_models(campaign, catalogue)
    return Layout(campaign, catalogue, whole_catalogue(campaign), groups)


def parse_names(text: str) -> tuple[str, ...]:
    """Return the distinct names between commas; none for ``all``."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    return () if names == ("all",) else names


def parse_benchmarks(text: str) -> tuple[str, ...]:
    """Parse names and paths of benchmarks. Raises UserError if one is unknown or cannot be used."""
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


def _same_language(name: str, languages: Iterable[str]) -> list[str]:
    """Return the codes among ``languages`` that mean the same as another code of ISO 639.

    A macrolanguage (``ara``) and its main language in CLDR (``arb``) mean the same.
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
        equivalent = [] if code else _same_language(name, rows)
        if len(equivalent) == 1:
            [code] = equivalent
            log.info("--languages names %r, read as %s (%s).", name, code, rows[code].name)
        if not code:
            # The code of a language that is not in the table is no misspelt name.
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
        with socket.create_connection((address.hostname or "", port), timeout=HUB_SECONDS):
            return True
    except OSError:
        return False


def as_setting(path: Path) -> str:
    """Return a path for a campaign file: relative if in the repository, else absolute."""
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
    """Write a table of models. Raises UserError when a value has a tab or line break."""
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


# The list of benchmarks

LINE_WIDTH = 80
INDENT = "    "


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of the list of benchmarks; ``label`` is empty if its declaration cannot be used."""

    name: str
    label: str = ""
    items: str = ""
    """Noun for its items in the plural, with "expected" if the paper gives their number."""
    expected: Mapping[str, int | None] = field(default_factory=dict)
    """Number of items by language, before they are built; None if unknown."""
    files: int = 0
    """Number of files from outside the repository that its items are made from."""
    at_hand: int = 0
    """Number of these files that are downloaded, or in the campaign's mirror."""
    origin: str = "in the repository"
    """Origin of its items, if there are no such files."""
    more: tuple[str, ...] = ()
    """Languages that it is only run on if the user names them."""
    by_name: bool = False
    """True if it is only run when the user names it, or one of its languages."""
    obstacle: str = ""
    """Reason why it cannot be run with the data; else empty."""


def is_at_hand(campaign: Campaign, row: SourceRow | TreebankRow) -> bool:
    """Return whether a pinned file is downloaded, or in the mirror (plain or .xz)."""
    copies = [Path(campaign.pathvars.resources, "sources", row.name)]
    if campaign.mirror is not None and row.mirror:
        names = (row.mirror, f"{row.mirror}.xz")
        copies += [below(campaign.mirror, name, f"{row.name}: mirror") for name in names]
    return any(path.is_file() for path in copies)


def _languages(campaign: Campaign, catalogue: Catalogue, benchmark: Benchmark) -> list[str]:
    """Return the languages of a campaign for which all files of the benchmark have checksums.

    Raises UserError when there is none.
    """
    paper = paper_of(benchmark.name)
    paper.check(campaign, catalogue)
    read = paper.treebanks(campaign, catalogue)
    languages = [
        lang
        for lang in benchmark.languages(campaign, catalogue)
        if lang not in read
        or all(row.is_pinned(campaign.checksums) for row in catalogue.treebanks[lang])
    ]
    if not languages:
        raise UserError(
            f"{benchmark.name} has items in none of the languages whose files can be had here; "
            "take it out, or choose other data (--data, --mirror)."
        )
    return languages


def own_languages(campaign: Campaign) -> tuple[list[str], list[str]]:
    """Return the languages of a campaign's benchmarks, and those with unpinned treebanks.

    Raises UserError when a benchmark has no language.
    """
    languages: dict[str, None] = {}  # dicts, to keep the order
    all_languages: dict[str, None] = {}
    for name in campaign.benchmarks:
        alone = campaign.model_copy(update={"benchmarks": (name,), "languages": "all"})
        # With "skip", a language would be lost if all its files lack a checksum.
        catalogue = load_catalogue(alone.model_copy(update={"unpinned": "error"}))
        languages |= dict.fromkeys(_languages(alone, catalogue, benchmarks()[name]))
        all_languages |= dict.fromkeys(benchmarks()[name].languages(alone, catalogue))
    return [*languages], [lang for lang in all_languages if lang not in languages]


def _listed(campaign: Campaign, benchmark: Benchmark) -> Listed:
    campaign = campaign.model_copy(update={"benchmarks": (benchmark.name,)})
    paper = paper_of(benchmark.name)
    noun = "pairs" if benchmark.judge == "judge" else "items"
    noun = "prompts" if benchmark.unit == "prompt" else noun
    listed = Listed(benchmark.name, paper.citation.label)
    try:
        catalogue = load_catalogue(campaign)
        languages = _languages(campaign, catalogue, benchmark)
        pinned: list[Pinned] = [*paper.sources(campaign, catalogue)]
        for lang in paper.treebanks(campaign, catalogue):
            pinned += catalogue.treebanks[lang]
        by_name = {row.name: row for row in pinned if isinstance(row, SourceRow | TreebankRow)}
        files = [row for row in by_name.values() if is_usable(campaign, row)]
        number = benchmark.counted_units or benchmark.expected_units
        origin = listed.origin
        if benchmark.own_words:
            origin = "generated here"
        elif paper.folder and not paper.folder.resolve().is_relative_to(REPOSITORY):
            origin = f"in {paper.folder}"
        return replace(
            listed,
            expected={lang: number(campaign, catalogue, lang) for lang in languages},
            files=len(files),
            at_hand=sum(is_at_hand(campaign, row) for row in files),
            origin=origin,
            items=noun if benchmark.counted_units else f"{noun} expected",
        )
    except UserError as error:
        return replace(listed, obstacle=str(error))


def list_benchmarks(campaign: Campaign) -> list[Listed]:
    """List all benchmarks, the campaign's first, and also those that cannot be run."""
    everywhere = campaign.model_copy(update={"languages": "all"})
    rows = []
    for name in dict.fromkeys((*campaign.benchmarks, *benchmarks())):
        listed, in_all = (_listed(data, benchmarks()[name]) for data in (campaign, everywhere))
        if listed.obstacle:
            rows.append(replace(in_all, by_name=not in_all.obstacle))
        else:
            more = tuple(lang for lang in in_all.expected if lang not in listed.expected)
            rows.append(replace(listed, more=more, by_name=name not in campaign.benchmarks))
    faults = registered()[1].items()
    return rows + [Listed(name, obstacle=f"not usable: {fault}") for name, fault in faults]


def _lines(row: Listed) -> Iterator[str]:
    if row.obstacle:
        yield row.obstacle
        return
    is_single = len(row.expected) == 1
    languages = "1 language" if is_single else f"{len(row.expected)} languages"
    numbers = {*row.expected.values()}
    codes = ", ".join(row.expected)
    if None in numbers:
        yield f"{languages}, number not known until retrieved: {codes}"
    elif len(numbers) == 1:
        in_each = "" if is_single else " in each"
        yield f"{languages}, {numbers.pop():,} {row.items}{in_each}: {codes}"
    else:
        counts = ", ".join(f"{lang}\xa0{number:,}" for lang, number in row.expected.items())
        yield f"{languages}, {row.items} in each: {counts}"
    if row.more:
        yield f"where it or they are named also: {', '.join(row.more)}"
    if not row.files:
        yield row.origin
    elif row.at_hand == row.files:
        yield f"all {row.files} files on the disk" if row.files > 1 else "its file is on the disk"
    else:
        missing = "the others are downloaded" if row.at_hand else "they are downloaded"
        yield f"{row.at_hand} of {row.files} files on the disk, {missing}"


def listing_text(rows: Sequence[Listed]) -> str:
    """Return the list as text: benchmarks that always run, those to name, those that cannot run."""
    sections = {
        "": [row for row in rows if not (row.obstacle or row.by_name)],
        "Where they are named (--benchmarks NAME, --languages CODES):": [
            row for row in rows if row.by_name
        ],
        "Not in these data:": [row for row in rows if row.obstacle],
    }
    wrapper = textwrap.TextWrapper(
        LINE_WIDTH, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False
    )
    lines: list[str] = []
    for heading, listed in sections.items():
        lines += ["", heading, ""] if heading and listed else []
        for row in listed:
            title = f"{row.name} ({row.label})" if row.label else row.name
            lines.append(textwrap.shorten(title, LINE_WIDTH, placeholder=" …"))
            for text in _lines(row):
                lines += [line.replace("\xa0", " ") for line in wrapper.wrap(text)]
    return "\n".join(lines)
