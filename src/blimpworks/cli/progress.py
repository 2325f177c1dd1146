"""Define commands on a campaign's progress, machines and schemas."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from blimpworks.commands.declare import AUTHOR, REPRODUCE, command
from blimpworks.commands.options import argument, option
from blimpworks.errors import UserError

if TYPE_CHECKING:
    from blimpworks.campaign.catalogue import Catalogue
    from blimpworks.campaign.settings.campaign import Campaign

CONFIG = option("The campaign.", default=Path("config/config.yaml"))
JSON = option("Print JSON.", "--json", default=False)
SCHEMAS = Path("workflow/schemas")


def _read(configfile: Path) -> "tuple[Campaign, Catalogue]":
    """Read a campaign and its catalogue. Raises UserError for missing or malformed files."""
    from blimpworks.campaign.catalogue import load_catalogue
    from blimpworks.campaign.load import load_campaign
    from blimpworks.campaign.parts import check_runs
    from blimpworks.campaign.reference import groups_of_models
    from blimpworks.campaign.registry import check_papers

    campaign = load_campaign(configfile)
    catalogue = load_catalogue(campaign)
    check_papers(campaign, catalogue)
    check_runs(campaign, catalogue, groups_of_models(campaign, catalogue))
    return campaign, catalogue


@command(panel=REPRODUCE, example="status --configfile config/demo/config.yaml")
def status(
    configfile: Path = CONFIG,
    model: str | None = option("Show this model's languages.", default=None),
    watch: float | None = option("Look again every so many seconds.", default=None, min=1),
    json: bool = JSON,
) -> None:
    """Report how far a campaign is: stages, models, languages, running and failed parts."""
    if watch and json:
        raise UserError("--watch and --json exclude each other; choose one.")
    from blimpworks.campaign.parts import every_part
    from blimpworks.campaign.reference import groups_of_models
    from blimpworks.cluster import status_text
    from blimpworks.cluster.slurm import read_queue
    from blimpworks.cluster.status import read_status
    from blimpworks.cluster.text import terminal_width

    try:
        while True:
            campaign, catalogue = _read(configfile)
            groups = groups_of_models(campaign, catalogue)
            parts = every_part(campaign, catalogue, groups)
            queue = read_queue((part.title, part.part) for part in parts)
            progress = read_status(campaign, catalogue, groups, queue)
            if json:
                text = status_text.as_json(progress)
            elif model:
                languages = status_text.find_model(progress, model)
                text = status_text.languages_text(languages, terminal_width())
            else:
                text = status_text.as_text(progress, str(configfile), terminal_width())
            if watch:
                typer.echo("\x1b[H\x1b[2J", nl=False)
            typer.echo(text)
            if not watch:
                return
            time.sleep(watch)
    except KeyboardInterrupt:
        return


@command(panel=REPRODUCE, example="plan --configfile config/demo/config.yaml")
def plan(
    targets: list[str] = argument("What to make, as for snakemake; all by default.", default=list),
    configfile: Path = CONFIG,
    site: Path | None = option(
        "Description of the cluster; by default the campaign's, or site.yaml.", default=None
    ),
    as_json: bool = option("The same as data.", "--json", default=False),
) -> None:
    """Say what a run would do and take before anything is submitted; exit 2 if it cannot."""
    from blimpworks.campaign.settings.site import load_site, site_file
    from blimpworks.cluster.plan import DryRun, dry_run, make_plan
    from blimpworks.cluster.plan_text import plan_text
    from blimpworks.retrieval.preflight import campaign_obstacles

    campaign, catalogue = _read(configfile)
    file = site_file(campaign, site)
    cluster = load_site(file) if file else None
    trouble: UserError | None = None
    dry: DryRun | None = None
    try:
        dry = dry_run(configfile, targets, site)
    except UserError as error:
        trouble = error
    planned = make_plan(campaign, catalogue, cluster, dry, file)
    if dry and dry.retrieved:
        cache = cluster.cache if cluster else None
        blocked = campaign_obstacles(campaign, catalogue, dry.retrieved, cache)
        planned = planned.model_copy(update={"stops": (*blocked, *planned.stops)})
    if trouble and not planned.refused:
        raise trouble
    typer.echo(planned.model_dump_json(indent=1) if as_json else plan_text(planned, cluster))
    if planned.refused or planned.stops:
        raise typer.Exit(2)


@command(panel=REPRODUCE, example="check-gpu")
def check_gpu(
    python: Path | None = option("The Python that is to score; that of .vllm.", default=None),
    as_json: bool = option("The same as data.", "--json", default=False),
) -> None:
    """Say what this machine lacks that its GPUs need for scoring; exit 2 if anything.

    Run it where jobs run: srun --gres=gpu:1 blimpworks check-gpu.
    """
    from blimpworks.cluster import gpu_check

    machine = gpu_check.describe_machine(python or gpu_check.scoring_python(Path.cwd()))
    typer.echo(gpu_check.as_json(machine) if as_json else gpu_check.gpu_text(machine))
    if gpu_check.gpu_problems(machine):
        raise typer.Exit(2)


@command(panel=AUTHOR, example="schemas")
def schemas(
    check: bool = option("Only compare; exit 1 on drift.", "--check", default=False),
) -> None:
    """Write the JSON Schemas of campaigns and catalogues to workflow/schemas."""
    from blimpworks.campaign.schemas import drifted, write_schemas

    if not check:
        write_schemas(SCHEMAS)
        return
    stale = drifted(SCHEMAS)
    for path in stale:
        typer.echo(f"{path} is not what the models say; run `blimpworks schemas`.", err=True)
    raise typer.Exit(1 if stale else 0)
