"""Run one evaluation from the command line: resolve, prepare, run, show the report card."""

import os
from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from blimpworks.campaign.catalogue import Catalogue, load_catalogue
from blimpworks.campaign.engines import find_engine
from blimpworks.campaign.load import check_campaign, declare, read_anew
from blimpworks.campaign.parts import check_runs, every_part, obstacle
from blimpworks.campaign.reference import groups_of_models
from blimpworks.campaign.registry import check_papers, papers
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.site import find_site
from blimpworks.cluster.text import duration
from blimpworks.errors import UserError
from blimpworks.evaluation.card import read_card, rerun_command
from blimpworks.evaluation.listing import list_benchmarks, listing_text, own_languages
from blimpworks.evaluation.machine import Machine, check_memory, choose_engine, this_machine
from blimpworks.evaluation.models import ResolvedModel, in_languages, resolve_models
from blimpworks.evaluation.request import (
    CAMPAIGN_FILE,
    FOLDER,
    MODELS_FILE,
    Request,
    as_setting,
    campaign_settings,
    choose_data,
    folders_outside,
    read_template,
    repository_catalogue,
    write_campaign,
    write_models,
)
from blimpworks.evaluation.run import TARGET, claimed, plan_text, run_snakemake, snakemake_command
from blimpworks.evaluation.terminal import print_card
from blimpworks.files import write_text
from blimpworks.models.weights import refuse_quantised
from blimpworks.records.job import REPOSITORY
from blimpworks.retrieval.preflight import refuse_unreachable

SOURCE = "the evaluation"
"""Name in messages of settings that are in no file yet."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An evaluation that is ready to be run."""

    campaign: Campaign
    catalogue: Catalogue
    models: Sequence[ResolvedModel]
    notes: Sequence[str]
    """Lines for the user before the run."""


def enter_repository() -> None:
    """Change to the repository. Raises UserError when the package is installed without it."""
    if not (REPOSITORY / "workflow/Snakefile").exists():
        raise UserError(
            f"{REPOSITORY} has no workflow/Snakefile; evaluations need the whole repository. "
            "Clone it, and install it there with `pip install -e .`."
        )
    declare(folders_outside(papers()))  # the user may have named them by this directory
    os.chdir(REPOSITORY)
    read_anew()


def _template_of(request: Request) -> tuple[dict[str, Any], str]:
    """Return the template's settings, and a line on its data."""
    data, why = choose_data(request.data, request.mirror)
    template = read_template(data)
    reason = f" ({why})" if why else ""
    return template, f"Data: {data}{reason}. {template['description']}"


def describe_data(request: Request) -> str:
    """List benchmarks with languages, numbers of items, and files on the disk."""
    enter_repository()
    template, line = _template_of(request)
    campaign = check_campaign(campaign_settings(request, FOLDER, template, []), SOURCE)
    return f"{line}\n\n{listing_text(list_benchmarks(campaign))}"


def resolve(
    arguments: Sequence[str], engine: str, overrides: Mapping[str, str], *, remote: bool
) -> list[ResolvedModel]:
    """Resolve models, with engines that fit this machine, or, if ``remote``, the cluster."""
    models = resolve_models(arguments, repository_catalogue().models, overrides)
    machine: Machine = this_machine()
    if remote:
        with chdir(REPOSITORY):  # where the description of the cluster lies
            site = find_site(check_campaign({"campaign": "evaluation"}, ""))
        gpus = tuple(gpu.memory_gb for gpu in site.gpus) if site else ()
        machine = replace(machine, memory_gb=None, gpus_gb=gpus)
    models = [replace(model, row=choose_engine(model.row, engine, machine)) for model in models]
    for model in models:
        if not find_engine(model.row.engine).quantised:
            refuse_quantised(model.quantisation, model.argument)
    return models


def _loaded(settings: Mapping[str, Any]) -> tuple[Campaign, Catalogue]:
    campaign = check_campaign(dict(settings), SOURCE)
    catalogue = load_catalogue(campaign)
    check_papers(campaign, catalogue)
    return campaign, catalogue


def _why_left_out(settings: Mapping[str, Any], benchmark: str) -> str:
    """Return why none of a campaign's models runs on a benchmark; empty where one does."""
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


def choose_benchmarks(
    settings: Mapping[str, Any], *, named: bool, languages: Sequence[str] = ()
) -> tuple[Campaign, Catalogue, Mapping[str, str]]:
    """Return a campaign of the runnable benchmarks, its catalogue, and reasons for the others.

    Raises UserError when a ``named`` one or a requested language is not run, or nothing is left.
    """
    left_out: dict[str, str] = {}
    if not named:
        reasons = {name: _why_left_out(settings, name) for name in settings["benchmarks"]}
        left_out = {name: reason for name, reason in reasons.items() if reason}
        chosen = [name for name in reasons if name not in left_out]
        if not chosen:
            lines = "\n".join(f"  {name}: {reason}" for name, reason in reasons.items())
            raise UserError(f"none of the benchmarks can be run:\n{lines}")
        settings = {**settings, "benchmarks": chosen}
    campaign, catalogue = _loaded(settings)
    groups = groups_of_models(campaign, catalogue)
    check_runs(campaign, catalogue, groups)
    parts = every_part(campaign, catalogue, groups) if languages else []
    covered = {lang for part in parts for _, lang in part.sets}
    unused = [lang for lang in languages if lang not in covered]
    if unused:
        raise UserError(
            f"--languages names {', '.join(unused)}, which no model is run on by "
            f"{', '.join(campaign.benchmarks)}; take it out, or add a benchmark that has it "
            "(`blimpworks evaluate --list`)."
        )
    return campaign, catalogue, left_out


def prepare(request: Request, folder: Path, models: Sequence[ResolvedModel]) -> Prepared:
    """Write the campaign of an evaluation and its table of models into a folder.

    If the user names benchmarks but no languages, all languages of those benchmarks are taken. A
    model trained here has training text only for the template's languages, so these are kept.

    Raises UserError when a request cannot be met.
    """
    models = [in_languages(model, request.languages) for model in models]
    template, line = _template_of(request)
    notes = [line]
    names, path = [model.row.name for model in models], as_setting(folder)
    settings = campaign_settings(request, path, template, names)
    if request.benchmarks and not request.languages:
        without_models = check_campaign(campaign_settings(request, path, template, []), SOURCE)
        languages = own_languages(without_models)
        campaign_languages = [lang for lang in languages if lang in settings["languages"]]
        added = [lang for lang in languages if lang not in campaign_languages]
        settings["languages"] = [*campaign_languages, *added]
        if added and campaign_languages and any(model.row.recipe for model in models):
            settings["languages"] = campaign_languages
            notes.append(
                f"Left out: {', '.join(added)}, since models that are trained here have no text of "
                "these data; --languages adds them."
            )
        elif added:
            notes.append(
                f"Languages of the benchmarks: {', '.join(languages)}; --languages chooses among "
                "them."
            )
    # The repository's models too: the report card names them beside their printed numbers.
    rows = {**repository_catalogue().models, **{model.row.name: model.row for model in models}}
    table = folder / MODELS_FILE
    earlier = table.read_text(encoding="utf-8") if table.exists() else None
    write_models(rows.values(), table)
    try:
        campaign, catalogue, left_out = choose_benchmarks(
            settings, named=bool(request.benchmarks), languages=request.languages
        )
    except UserError:
        if earlier is None:
            table.unlink()
        else:
            write_text(table, earlier)
        raise
    notes += [f"Left out: {name}, because {reason}" for name, reason in left_out.items()]
    settings["benchmarks"] = [*campaign.benchmarks]
    campaign_file = folder / CAMPAIGN_FILE
    if write_campaign(settings, campaign_file):
        notes.append(
            f"{campaign_file} had other settings before; what was scored is not scored again."
        )
    return Prepared(campaign, catalogue, models, notes)


def run_evaluation(arguments: Sequence[str], request: Request, out: Path | None) -> None:
    """Evaluate models into ``out`` (``evaluations/MODEL``) and print the report card."""
    # Their paths are the user's, so before the directory changes.
    remote = request.profile is not None
    models = resolve(arguments, request.engine, request.overrides, remote=remote)
    name = "+".join(model.row.name for model in models)[:100]
    folder = (out or Path(FOLDER, name)).expanduser().resolve()
    enter_repository()
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--out is {folder}, which is a file; name a directory.")
    # A request that was refused has left a table of models.
    names = {path.name for path in folder.iterdir()} - {MODELS_FILE} if folder.is_dir() else ()
    if names and CAMPAIGN_FILE not in names:
        raise UserError(
            f"--out is {folder}, which holds other things and no {CAMPAIGN_FILE}; name a new or "
            "empty directory, or that of an evaluation."
        )
    console = Console(stderr=True)
    with claimed(folder) as lock:
        prepared = prepare(request, folder, models)
        lines = [*prepared.notes]
        for model in prepared.models:
            lines += [model.described, *model.notes]
        for line in lines:
            console.print(line, soft_wrap=True, highlight=False, markup=False)
        path = folder / CAMPAIGN_FILE
        console.print(f"Campaign: {as_setting(path)}", soft_wrap=True)
        command = snakemake_command(path, [TARGET], cores=request.cores, profile=request.profile)
        if request.dry_run:
            print(plan_text(command))
            return
        campaign, catalogue = prepared.campaign, prepared.catalogue
        parts = every_part(campaign, catalogue, groups_of_models(campaign, catalogue))
        site = find_site(campaign)
        refuse_unreachable(campaign, catalogue, parts, site.cache if site else None)
        if not request.profile:
            for line in check_memory(models):
                console.print(line, soft_wrap=True, highlight=False)
        seconds = run_snakemake(command, campaign, catalogue, console, lock)
        console.print(f"Done in {duration(seconds)}.")
        card = read_card(folder / "results/report_card/card.json")
        card["rerun"] = rerun_command(as_setting(path), request.cores, request.profile)
        print_card(card, Console())
