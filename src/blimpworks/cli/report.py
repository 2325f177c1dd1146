"""The command that builds the report."""

import json
from pathlib import Path
from typing import Annotated

import typer

from blimpworks.commands.declare import command


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
    results: Annotated[Path, typer.Option(help="Results tree of the campaign.")],
    printed: Annotated[Path, typer.Option(help="Directory of printed numbers, one per paper.")],
    facts: Annotated[str, typer.Option(help="What the report says of the campaign, as JSON.")],
    measured: Annotated[str, typer.Option(help="Exhibits that the campaign builds, as JSON.")],
    output: Annotated[Path, typer.Option(help="Directory of the site.")],
    corrected: Annotated[Path | None, typer.Option(help="Results tree of another variant.")] = None,
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
