"""The command that builds the report."""

import json
from pathlib import Path

import typer

from blimpworks.commands.declare import command
from blimpworks.commands.options import option


@command(
    "blimpworks.report.site:build_report",
    packages=(
        "itables",
        "jinja2",
        "pandas",
        "pyarrow",
        "pydata-sphinx-theme",
        "sphinx",
        "sphinx-design",
    ),
)
def build_report(
    results: Path = option("Results tree of the campaign."),
    printed: Path = option("Directory of printed numbers, one per paper."),
    facts: str = option("What the report says of the campaign, as JSON."),
    measured: str = option("Exhibits that the campaign builds, as JSON."),
    output: Path = option("Directory of the site."),
    corrected: Path | None = option("Results tree of another variant.", default=None),
) -> None:
    """Build the reproduction report: a static site of what is printed and what was measured."""
    from blimpworks.report import site
    from blimpworks.report.sections import Trees

    said = json.loads(facts)
    variant = said.pop("variant")
    campaign = site.Campaign(printed=printed, **{**said, "papers": tuple(said["papers"])})
    trees = Trees(results, variant, frozenset(json.loads(measured)), corrected)
    params = {"facts": said, "variant": variant, "measured": sorted(trees.measured)}
    inputs = site.inputs(campaign, trees)
    with build_report.job(inputs=inputs, outputs=[output], params=params) as job:
        counts = site.build_report(campaign, trees, output)
        job.note(**counts)
    typer.echo(f"{output}/index.html: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
