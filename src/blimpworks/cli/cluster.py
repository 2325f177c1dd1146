"""Commands for running on a cluster: what a run would take."""

from pathlib import Path

import typer

from blimpworks.commands.declare import command
from blimpworks.commands.options import argument, option
from blimpworks.errors import UserError

CAMPAIGN = Path("config/config.yaml")


@command()
def plan(
    targets: list[str] | None = argument(
        "What to make, as for snakemake; all by default.", default=None
    ),
    configfile: Path = option("Campaign.", default=CAMPAIGN),
    site: Path | None = option(
        "Description of the cluster; by default the campaign's, or site.yaml.", default=None
    ),
    as_json: bool = option("The same as data.", "--json", default=False),
) -> None:
    """Say what a run would do and take before anything is submitted; exit 2 if it cannot."""
    from blimpworks.campaign.catalogue import load_catalogue
    from blimpworks.campaign.settings.campaign import load_campaign
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
        dry = dry_run(configfile, targets or (), site)
    except UserError as error:
        trouble = error
    planned = make_plan(campaign, catalogue, cluster, dry, file)
    if trouble and not planned.refused:
        raise trouble
    typer.echo(planned.model_dump_json(indent=1) if as_json else plan_text(planned, cluster))
    if planned.refused:
        raise typer.Exit(2)
