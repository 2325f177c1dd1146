"""Read the options of ``blimpworks evaluate``, list benchmarks, and write an evaluation's files.

``session.Evaluation`` and the command call these functions. ``parse_languages("English, deu")``
returns ("eng", "deu"). ``list_benchmarks`` describes the benchmarks that can be run. An evaluation
is a campaign: ``write_campaign`` writes its file, which names models, benchmarks and languages, and
``write_models`` the table that describes the models. The catalogue is the set of tables in
``config/`` with all models, languages and data files that campaigns choose from.
"""

import filecmp
import logging
import os
import re
import shutil
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

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
from blimpworks.campaign.load import check_campaign, declare, named_folder
from blimpworks.campaign.paper import Benchmark
from blimpworks.campaign.registry import benchmarks, check_usable, paper_of, papers, registered
from blimpworks.campaign.scoring_jobs import is_usable
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.evaluation.card import rerun_command
from blimpworks.files import below, write_text
from blimpworks.records.job import REPOSITORY
from blimpworks.retrieval.preflight import unreachable_reason
from blimpworks.yaml_files import read_yaml

log = logging.getLogger(__name__)

CAMPAIGN_FILE, MODELS_FILE = "campaign.yaml", "models.tsv"
HUB = "https://huggingface.co"


def repository_catalogue() -> Catalogue:
    """Return the repository's own catalogue of models and languages."""
    return whole_catalogue(check_campaign({"campaign": "evaluation"}, ""))


def parse_names(text: str) -> tuple[str, ...]:
    """Return the distinct names in a text, with commas between; () for ``all``: no choice."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    return () if names == ("all",) else names


def parse_benchmarks(text: str) -> tuple[str, ...]:
    """Return benchmarks' names for names or paths. Raises UserError for an unusable benchmark."""
    # The folder that declares a benchmark; None for the name of a registered benchmark.
    folder_by_name = {name: named_folder(name) for name in parse_names(text)}
    declare([folder for folder in folder_by_name.values() if folder])
    names = [folder.name if folder else name for name, folder in folder_by_name.items()]
    names = list(dict.fromkeys(names))
    for name in names:
        check_usable(name)
        if name not in benchmarks():
            close = get_close_matches(name, benchmarks(), n=1, cutoff=0.5)
            hint = f"Did you mean {close[0]!r}?" if close else "Correct it, or name a path."
            raise UserError(
                f"--benchmarks names {name!r}; expected some of {', '.join(benchmarks())}. {hint}"
            )
    return tuple(names)


def _equivalent_codes(code: str, languages: Collection[str]) -> list[str]:
    """Return the codes among ``languages`` for the language of ``code``: ["eng"] for "en".

    If there are none, a macrolanguage (``ara``) counts as its main language in CLDR (``arb``).
    """
    if not langcodes.tag_is_valid(code):
        return []
    for macro in (False, True):  # with macro, ``ara`` and ``arb`` have the same standard tag
        tag = langcodes.standardize_tag(code, macro=macro)
        matching = [c for c in languages if langcodes.standardize_tag(c, macro=macro) == tag]
        if matching:
            return matching
    return []


def parse_languages(text: str) -> tuple[str, ...]:
    """Return ISO 639-3 codes for codes or English names. Raises UserError if one is unknown."""
    rows = repository_catalogue().languages
    by_name = {row.name.lower(): lang for lang, row in rows.items()}
    codes = []
    names = parse_names(text)
    if not names and text.strip() != "all":
        raise UserError(f"--languages is {text!r}; expected codes with commas between, or all.")
    for name in names:
        code = name if name in rows else by_name.get(name.lower(), "")
        equivalent = [] if code else _equivalent_codes(name, rows)
        if len(equivalent) == 1:
            [code] = equivalent
            log.info("--languages names %r, read as %s (%s).", name, code, rows[code].name)
        if not code:
            # A valid code that is not in the table is no misspelt name, so no name is suggested.
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
    """Return whether the hub of models and data answers now, directly or through a proxy."""
    hub, limits = os.environ.get("HF_ENDPOINT") or HUB, (3.0, 3.0)
    # Without retries, since urllib3 would print each.
    return offline_variable() is None and not unreachable_reason(hub, limits, retries=0)


def as_setting(path: Path) -> str:
    """Return a path for a campaign file: relative if in the repository, else absolute."""
    absolute = path.expanduser().resolve()
    is_inside = absolute.is_relative_to(REPOSITORY)
    return str(absolute.relative_to(REPOSITORY) if is_inside else absolute)


def folders_outside(names: Iterable[str]) -> list[Path]:
    """Return the folders of the named benchmarks that are declared outside the repository."""
    folders = (papers()[name].folder for name in names if name in papers())
    return [path for path in folders if path and not as_setting(path).startswith("config/")]


def copy_into(files: Sequence[Path], folder: Path) -> None:
    """Copy files into a folder, and delete all others in it."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {file.name for file in files}
    for path in folder.iterdir():
        if path.name not in names:
            path.unlink()
    for file in files:
        copy = folder / file.name
        # An equal copy keeps its modification time, so that Snakemake reruns no rule.
        if file.is_file() and not (copy.exists() and filecmp.cmp(file, copy, shallow=False)):
            shutil.copyfile(file, copy)


def write_campaign(settings: Mapping[str, Any], path: Path) -> bool:
    """Write a campaign file; return True if it replaces one with other settings."""
    earlier_settings = read_yaml(path, "a campaign file") if path.exists() else settings
    comment = (
        "# An evaluation, as a campaign that can be run again, sent to a cluster and cited:\n"
        f"# {rerun_command(as_setting(path))}\n"
    )
    body = yaml.safe_dump({**settings}, sort_keys=False, allow_unicode=True, width=100)
    write_text(path, comment + body)
    return bool(earlier_settings != settings)


def write_models(rows: Iterable[ModelRow], path: Path) -> None:
    """Write a table of models. Raises UserError when a value has a tab or line break."""
    lines = ["\t".join(ModelRow.model_fields)]
    for row in rows:
        cells = []
        for column in ModelRow.model_fields:
            value = getattr(row, column)
            value = "" if value is None else value
            cell = ",".join(value) if isinstance(value, tuple) else str(value)
            if re.search(r"[\t\r\n]", cell):
                raise UserError(
                    f"model {row.name!r}: {column} is {cell!r}, and no table can hold its tabs or "
                    "line ends; rename the model."
                )
            cells.append(cell)
        lines.append("\t".join(cells))
    write_text(path, "".join(f"{line}\n" for line in lines))


# The list of benchmarks

LINE_WIDTH = 80
INDENT = "    "


@dataclass(frozen=True, slots=True)
class Listed:
    """A benchmark in the list of benchmarks."""

    name: str
    label: str = ""
    """Name for people; empty if the benchmark's declaration cannot be used."""
    items: str = ""
    """Noun for its items in the plural, with "expected" if the paper gives their number."""
    expected: Mapping[str, int | None] = field(default_factory=dict)
    """Number of items by language, before they are built; None if unknown."""
    source: str = ""
    """Phrase on where its items come from, or how many of their files are on the disk."""
    optional_languages: tuple[str, ...] = ()
    """Languages in which it is run only if the user names them."""
    is_optional: bool = False
    """True if it is run only when the user names it, or one of its languages."""
    obstacle: str = ""
    """Reason why it cannot be run with these data; empty if it can."""


def is_local_file(campaign: Campaign, row: SourceRow | TreebankRow) -> bool:
    """Return whether a data file is downloaded, or in the mirror (plain or .xz)."""
    copies = [Path(campaign.pathvars.resources, "sources", row.name)]
    if campaign.mirror is not None and row.mirror:
        for name in (row.mirror, f"{row.mirror}.xz"):
            copies.append(below(campaign.mirror, name, f"{row.name}: mirror"))
    return any(path.is_file() for path in copies)


def _pinned_languages(campaign: Campaign, catalogue: Catalogue, benchmark: Benchmark) -> list[str]:
    """Return a benchmark's languages, without those whose treebank files lack a checksum.

    A file whose checksum is in the tables is pinned. Raises UserError if no language remains.
    """
    paper = paper_of(benchmark.name)
    paper.check(campaign, catalogue)
    with_treebanks = paper.treebanks(campaign, catalogue)
    languages = [
        lang
        for lang in benchmark.languages(campaign, catalogue)
        if lang not in with_treebanks
        or all(row.is_pinned(campaign.checksums) for row in catalogue.treebanks[lang])
    ]
    if not languages:
        raise UserError(
            f"{benchmark.name} has items in none of the languages whose files are available here; "
            "take it out, or choose other data (--data, --mirror)."
        )
    return languages


def languages_of_benchmarks(campaign: Campaign) -> tuple[list[str], list[str]]:
    """Return the languages of the campaign's benchmarks: those that can be used, and the others.

    The others have treebank files without checksum. Raises UserError as ``_pinned_languages``.
    """
    pinned: list[str] = []
    all_languages: list[str] = []
    for name in campaign.benchmarks:
        with_one_benchmark = campaign.model_copy(update={"benchmarks": (name,), "languages": "all"})
        # With unpinned "skip", the catalogue would not list languages whose files lack checksums.
        catalogue = load_catalogue(with_one_benchmark.model_copy(update={"unpinned": "error"}))
        pinned += _pinned_languages(with_one_benchmark, catalogue, benchmarks()[name])
        all_languages += benchmarks()[name].languages(with_one_benchmark, catalogue)
    unpinned = [lang for lang in dict.fromkeys(all_languages) if lang not in pinned]
    return list(dict.fromkeys(pinned)), unpinned


def _describe(campaign: Campaign, benchmark: Benchmark) -> Listed:
    """Return a benchmark's languages, numbers of items, and data files for a campaign's list."""
    campaign = campaign.model_copy(update={"benchmarks": (benchmark.name,)})
    paper = paper_of(benchmark.name)
    if benchmark.unit == "prompt":
        noun = "prompts"
    else:
        noun = "pairs" if benchmark.judge == "judge" else "items"
    listed = Listed(benchmark.name, paper.citation.label)
    try:
        catalogue = load_catalogue(campaign)
        languages = _pinned_languages(campaign, catalogue, benchmark)
        rows: list[Pinned] = [*paper.sources(campaign, catalogue)]
        for lang in paper.treebanks(campaign, catalogue):
            rows += catalogue.treebanks[lang]
        row_by_name = {row.name: row for row in rows if isinstance(row, SourceRow | TreebankRow)}
        files = [row for row in row_by_name.values() if is_usable(campaign, row)]
        # If the items' own files do not tell their number, take that of the paper.
        count_items = benchmark.counted_units or benchmark.expected_units
        local_count = sum(is_local_file(campaign, row) for row in files)
        if files and local_count == len(files):
            source = f"all {local_count} files on the disk"
            source = source if local_count > 1 else "its file is on the disk"
        elif files:
            missing = "the others are downloaded" if local_count else "they are downloaded"
            source = f"{local_count} of {len(files)} files on the disk, {missing}"
        elif benchmark.own_words:
            source = "generated here"
        elif paper.folder and not paper.folder.resolve().is_relative_to(REPOSITORY):
            source = f"in {paper.folder}"
        else:
            source = "in the repository"
        return replace(
            listed,
            expected={lang: count_items(campaign, catalogue, lang) for lang in languages},
            source=source,
            items=noun if benchmark.counted_units else f"{noun} expected",
        )
    except UserError as error:
        return replace(listed, obstacle=str(error))


def list_benchmarks(campaign: Campaign) -> list[Listed]:
    """List all benchmarks, the campaign's first, and also those that cannot be run."""
    with_all_languages = campaign.model_copy(update={"languages": "all"})
    rows = []
    for name in dict.fromkeys((*campaign.benchmarks, *benchmarks())):
        row = _describe(campaign, benchmarks()[name])
        row_with_all = _describe(with_all_languages, benchmarks()[name])
        if row.obstacle:
            # It cannot be run in the campaign's languages, but perhaps in others.
            rows.append(replace(row_with_all, is_optional=not row_with_all.obstacle))
        else:
            optional = tuple(lang for lang in row_with_all.expected if lang not in row.expected)
            is_optional = name not in campaign.benchmarks
            rows.append(replace(row, optional_languages=optional, is_optional=is_optional))
    _benchmarks, faults = registered()
    return rows + [Listed(name, obstacle=f"not usable: {why}") for name, why in faults.items()]


def _lines_on(row: Listed) -> Iterator[str]:
    """Yield lines on a benchmark's languages and files: "2 languages, 300 pairs in each: deu, eng".

    A no-break space keeps a language beside the number of items ("deu 300") when lines are wrapped.
    """
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
    if row.optional_languages:
        yield f"only with --languages or --benchmarks: {', '.join(row.optional_languages)}"
    yield row.source


def listing_text(rows: Sequence[Listed]) -> str:
    """Return the list as text: benchmarks run by default, those run if named, and the others."""
    sections = {
        "": [row for row in rows if not (row.obstacle or row.is_optional)],
        "Only if named (--benchmarks NAME, --languages CODES):": [r for r in rows if r.is_optional],
        "Not in these data:": [row for row in rows if row.obstacle],
    }
    wrapper = textwrap.TextWrapper(
        LINE_WIDTH, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False
    )
    lines: list[str] = []
    for heading, rows_of_section in sections.items():
        lines += ["", heading, ""] if heading and rows_of_section else []
        for row in rows_of_section:
            title = f"{row.name} ({row.label})" if row.label else row.name
            lines.append(textwrap.shorten(title, LINE_WIDTH, placeholder=" …"))
            for text in _lines_on(row):
                lines += [line.replace("\xa0", " ") for line in wrapper.wrap(text)]
    return "\n".join(lines)
