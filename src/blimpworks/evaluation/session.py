"""One evaluation from the command line: resolve, prepare, run, and show the report card."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from blimpworks.campaign.load import check_campaign, declare, read_anew
from blimpworks.campaign.registry import papers
from blimpworks.cluster.text import duration
from blimpworks.errors import UserError
from blimpworks.evaluation.card import read_card
from blimpworks.evaluation.claim import claimed
from blimpworks.evaluation.listing import list_benchmarks, listing_text
from blimpworks.evaluation.memory import check_memory
from blimpworks.evaluation.prepare import Prepared, prepare, resolve
from blimpworks.evaluation.request import (
    CAMPAIGN_FILE,
    FOLDER,
    Request,
    as_setting,
    campaign_settings,
    check_folder,
    choose_data,
    folders_outside,
    read_template,
)
from blimpworks.evaluation.resolved import ResolvedModel
from blimpworks.evaluation.run import TARGET, plan_text, run_snakemake, snakemake_command
from blimpworks.evaluation.terminal import print_card
from blimpworks.records.job import REPOSITORY


@dataclass(frozen=True, slots=True)
class Execution:
    """How an evaluation is run."""

    engine: str = "auto"
    overrides: Mapping[str, str] = field(default_factory=dict)
    """Columns of the models' rows that the user sets."""
    profile: str | None = None
    """Snakemake's profile; None for this machine."""
    cores: int = 1
    dry_run: bool = False


def enter_repository() -> None:
    """Work in the repository from now on, as the workflow does.

    Raises UserError where the package was installed without the workflow.
    """
    if not (REPOSITORY / "workflow/Snakefile").exists():
        raise UserError(
            f"{REPOSITORY} has no workflow/Snakefile; evaluations need the whole repository. "
            "Clone it, and install it there with `pip install -e .`."
        )
    declare(folders_outside(papers()))  # which are perhaps those of the current directory
    os.chdir(REPOSITORY)
    read_anew()


def describe_data(request: Request) -> str:
    """Benchmarks with languages, pairs, and what is on the disk."""
    enter_repository()
    data, why = choose_data(request.data, request.mirror)
    template = read_template(data)
    settings = campaign_settings(request, FOLDER, template, [])
    del settings["catalogue"]["models"]
    campaign = check_campaign(settings, data)
    rows = list_benchmarks(campaign)
    head = f"Data: {data}{f' ({why})' if why else ''}. {template['description']}"
    return f"{head}\n\n{listing_text(rows)}"


def _say(console: Console, prepared: Prepared, folder: Path) -> None:
    for line in prepared.notes:
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    for model in prepared.models:
        for line in (model.described, *model.notes):
            console.print(line, soft_wrap=True, highlight=False, markup=False)
    console.print(f"Campaign: {as_setting(folder / CAMPAIGN_FILE)}", soft_wrap=True)


def run_evaluation(
    arguments: Sequence[str], request: Request, execution: Execution, out: Path | None
) -> None:
    """Evaluate models and print the report card; what is said on the way goes to stderr.

    ``out`` is the directory of the evaluation, ``evaluations/MODEL`` unless given.

    Raises UserError for anything that is asked for and cannot be done.
    """
    # Their paths are the user's, so before the directory changes.
    remote = execution.profile is not None
    models = resolve(arguments, execution.engine, execution.overrides, remote=remote)
    own = "+".join(model.row.name for model in models)[:100]
    folder = (out or Path(FOLDER, own)).expanduser().resolve()
    enter_repository()
    check_folder(folder)
    with claimed(folder) as lock:
        _evaluate(models, request, execution, folder, lock)


def _evaluate(
    models: Sequence[ResolvedModel],
    request: Request,
    execution: Execution,
    folder: Path,
    lock: int,
) -> None:
    console = Console(stderr=True)
    prepared = prepare(request, folder, models)
    _say(console, prepared, folder)
    command = snakemake_command(
        folder / CAMPAIGN_FILE,
        targets=[TARGET],
        cores=execution.cores,
        profile=execution.profile,
    )
    if execution.dry_run:
        print(plan_text(command))
        return
    if not execution.profile:
        for line in check_memory(models):
            console.print(line, soft_wrap=True, highlight=False)
    seconds = run_snakemake(command, prepared.campaign, prepared.catalogue, console, lock)
    console.print(f"Done in {duration(seconds)}.")
    print_card(read_card(folder / "results/report_card/card.json"), Console())
