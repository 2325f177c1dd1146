"""Commands for whoever runs a campaign: what it would take, how far it is, what it took."""

import time
from pathlib import Path

import typer

from blimpworks.commands.declare import command
from blimpworks.commands.options import argument, option
from blimpworks.errors import UserError

CONFIG = option("The campaign.", default=Path("config/config.yaml"))
JSON = option("Print JSON.", "--json", default=False)


def _told(configfile: Path, model: str | None, *, json: bool) -> str:
    from blimpworks.campaign.catalogue import load_catalogue
    from blimpworks.campaign.load import load_campaign
    from blimpworks.campaign.parts import every_part
    from blimpworks.campaign.reference import groups_of_models
    from blimpworks.cluster import status_text
    from blimpworks.cluster.slurm import read_queue
    from blimpworks.cluster.status import read_status
    from blimpworks.cluster.text import terminal_width

    campaign = load_campaign(configfile)
    catalogue = load_catalogue(campaign)
    groups = groups_of_models(campaign, catalogue)
    parts = every_part(campaign, catalogue, groups)
    queue = read_queue((part.title, part.part) for part in parts)
    found = read_status(campaign, catalogue, groups, queue)
    if json:
        return status_text.as_json(found)
    if model:
        return status_text.languages_text(status_text.find_model(found, model), terminal_width())
    return status_text.as_text(found, str(configfile), terminal_width())


@command()
def status(
    configfile: Path = CONFIG,
    model: str | None = option("Show this model's languages.", default=None),
    watch: float | None = option("Look again every so many seconds.", default=None, min=1),
    json: bool = JSON,
) -> None:
    """Tell how far a campaign is: stages, models, languages, what runs and what failed."""
    if watch and json:
        raise UserError("--watch and --json exclude each other; choose one.")
    try:
        while True:
            told = _told(configfile, model, json=json)
            if watch:
                typer.echo("\x1b[H\x1b[2J", nl=False)
            typer.echo(told)
            if not watch:
                return
            time.sleep(watch)
    except KeyboardInterrupt:
        return


@command()
def efficiency(
    configfile: Path = CONFIG,
    output: Path | None = option("Write a CSV file too.", default=None),
    json: bool = JSON,
) -> None:
    """Tell what a campaign asked the cluster for, held and used, and what to change."""
    from blimpworks.campaign.catalogue import load_catalogue
    from blimpworks.campaign.load import load_campaign
    from blimpworks.campaign.reference import groups_of_models
    from blimpworks.cluster import efficiency_text
    from blimpworks.cluster.efficiency import Efficiency, account_for, read_models, read_rules
    from blimpworks.cluster.slurm import accounting
    from blimpworks.cluster.text import terminal_width
    from blimpworks.files import write_text

    campaign = load_campaign(configfile)
    catalogue = load_catalogue(campaign)
    models = read_models(campaign, catalogue, groups_of_models(campaign, catalogue))
    models = account_for(models, accounting({job for use in models for job in use.jobs}))
    found = Efficiency(campaign.campaign, models, read_rules(campaign))
    if output:
        write_text(output, efficiency_text.as_csv(models))
    text = (
        efficiency_text.as_json(found) if json else efficiency_text.as_text(found, terminal_width())
    )
    typer.echo(text)


@command()
def plan(
    targets: list[str] = argument("What to make, as for snakemake; all by default.", default=list),
    configfile: Path = CONFIG,
    site: Path | None = option(
        "Description of the cluster; by default the campaign's, or site.yaml.", default=None
    ),
    as_json: bool = option("The same as data.", "--json", default=False),
) -> None:
    """Say what a run would do and take before anything is submitted; exit 2 if it cannot."""
    from blimpworks.campaign.catalogue import load_catalogue
    from blimpworks.campaign.load import load_campaign
    from blimpworks.campaign.settings.site import load_site, site_file
    from blimpworks.cluster.dry_run import DryRun, dry_run
    from blimpworks.cluster.plan import make_plan
    from blimpworks.cluster.plan_text import plan_text

    campaign = load_campaign(configfile)
    catalogue = load_catalogue(campaign)
    file = site_file(campaign, site)
    cluster = load_site(file) if file else None
    trouble: UserError | None = None
    dry: DryRun | None = None
    try:
        dry = dry_run(configfile, targets, site)
    except UserError as error:
        trouble = error
    planned = make_plan(campaign, catalogue, cluster, dry, file)
    if trouble and not planned.refused:
        raise trouble
    typer.echo(planned.model_dump_json(indent=1) if as_json else plan_text(planned, cluster))
    if planned.refused:
        raise typer.Exit(2)
