"""Which benchmarks and languages of those at hand an evaluation has."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import langcodes

from blimpworks.campaign.catalogue import Catalogue, load_catalogue, whole_catalogue
from blimpworks.campaign.load import check_campaign, declare, named_folder
from blimpworks.campaign.parts import every_part
from blimpworks.campaign.reference import groups_of_models
from blimpworks.campaign.registry import benchmarks, check_papers, check_usable
from blimpworks.campaign.run_checks import check_runs, obstacle
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError

log = logging.getLogger(__name__)

ALL = "all"
SOURCE = "the evaluation"
"""What messages call its settings, which are in no file yet."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Benchmarks that are run, and those that are not, each with the reason."""

    benchmarks: tuple[str, ...]
    left_out: Mapping[str, str]


def parse_names(text: str) -> tuple[str, ...]:
    """Names separated by commas, each once; none for ``all``."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    return () if names == (ALL,) else names


def parse_benchmarks(text: str) -> tuple[str, ...]:
    """Names of benchmarks; one that a path names is known from then on.

    Raises UserError for what no usable benchmark is called, or no folder of one.
    """
    folders = {each: named_folder(each) for each in parse_names(text)}
    declare([*filter(None, folders.values())])
    names = tuple(dict.fromkeys(path.name if path else each for each, path in folders.items()))
    check_benchmarks(names)
    return names


def check_benchmarks(names: Sequence[str]) -> None:
    """Raises UserError for a name that no usable benchmark has, with its fault or the closest."""
    for name in names:
        check_usable(name)
        if name not in benchmarks():
            close = get_close_matches(name, benchmarks(), n=1, cutoff=0.5)
            hint = f"Did you mean {close[0]!r}?" if close else "Correct it, or name a path."
            raise UserError(
                f"--benchmarks names {name!r}; expected some of {', '.join(benchmarks())}. {hint}"
            )


def _fitting(name: str, languages: Iterable[str]) -> list[str]:
    """Codes among ``languages`` that another code of ISO 639 stands for: in two letters, say.

    A macrolanguage (``ara``) and the one language that CLDR takes for it (``arb``) stand for each
    other; no other language of it does.
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
    """ISO 639-3 codes of languages named by any code of ISO 639 or by English name.

    They are separated by commas; the log says how another code is read. Raises UserError for one
    that the table of languages does not have.
    """
    rows = whole_catalogue(check_campaign({"campaign": "evaluation"}, SOURCE)).languages
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
            words = [] if langcodes.tag_is_valid(name) else [*rows, *by_name]
            close = get_close_matches(name.lower(), words, n=1, cutoff=0.5)
            hint = f"Did you mean {close[0]!r}?" if close else "See `blimpworks evaluate --list`."
            raise UserError(
                f"--languages names {name!r}; expected codes (ISO 639) or "
                f"English names of the {len(rows)} languages in config/languages.tsv. {hint}"
            )
        codes.append(code)
    return tuple(dict.fromkeys(codes))


def _loaded(settings: Mapping[str, Any]) -> tuple[Campaign, Catalogue]:
    campaign = check_campaign(dict(settings), SOURCE)
    catalogue = load_catalogue(campaign)
    check_papers(campaign, catalogue)
    return campaign, catalogue


def checked_campaign(settings: Mapping[str, Any]) -> tuple[Campaign, Catalogue]:
    """A campaign and its catalogue. Raises UserError where it cannot be run as it stands."""
    campaign, catalogue = _loaded(settings)
    check_runs(campaign, catalogue, groups_of_models(campaign, catalogue))
    return campaign, catalogue


def check_items(settings: Mapping[str, Any], benchmark: str, lang: str) -> None:
    """Raises UserError for a language that a benchmark has no items in."""
    campaign, catalogue = _loaded(settings)
    if lang not in benchmarks()[benchmark].languages(campaign, catalogue):
        raise UserError(
            f"{benchmark} has no items in {lang}; name a language that it has: `blimpworks "
            "evaluate --list` shows them."
        )


def check_languages(settings: Mapping[str, Any], requested: Sequence[str]) -> None:
    """Raises UserError for a requested language that no model is run on by any benchmark."""
    campaign, catalogue = checked_campaign(settings)
    parts = every_part(campaign, catalogue, groups_of_models(campaign, catalogue))
    covered = {lang for part in parts for _, lang in part.sets}
    unused = [lang for lang in requested if lang not in covered]
    if unused:
        raise UserError(
            f"--languages names {', '.join(unused)}, which no model is run on by "
            f"{', '.join(campaign.benchmarks)}; take it out, or add a benchmark that has it "
            "(`blimpworks evaluate --list`)."
        )


def _why_left_out(settings: Mapping[str, Any], benchmark: str) -> str:
    """Why none of a campaign's models runs on a benchmark; empty where one does."""
    try:
        campaign, catalogue = _loaded({**settings, "benchmarks": [benchmark]})
    except UserError as error:
        return str(error)
    groups = groups_of_models(campaign, catalogue)
    if every_part(campaign, catalogue, groups):
        return ""
    rows = catalogue.models.items()
    reasons = {name: obstacle(campaign, catalogue, groups, row, benchmark) for name, row in rows}
    if len({*reasons.values()}) == 1:
        return next(iter(reasons.values()))
    return "; ".join(f"{name}: {reason}" for name, reason in reasons.items())


def choose_benchmarks(settings: Mapping[str, Any], *, named: bool) -> Choice:
    """The benchmarks of a campaign that at least one of its models can be run on.

    Where the user has ``named`` them, all must be.

    Raises UserError for a named benchmark or a model that cannot be run, and where nothing is
    left.
    """
    if named:
        checked_campaign(settings)
        return Choice(tuple(settings["benchmarks"]), {})
    reasons = {
        benchmark: _why_left_out(settings, benchmark) for benchmark in settings["benchmarks"]
    }
    chosen = tuple(name for name, reason in reasons.items() if not reason)
    if not chosen:
        lines = "\n".join(f"  {name}: {reason}" for name, reason in reasons.items())
        raise UserError(f"none of the benchmarks can be run:\n{lines}")
    checked_campaign({**settings, "benchmarks": [*chosen]})
    return Choice(chosen, {name: reason for name, reason in reasons.items() if reason})
