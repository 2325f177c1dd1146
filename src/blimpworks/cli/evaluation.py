"""The command that builds the report card of an evaluation."""

import json
from pathlib import Path

import typer

from blimpworks.commands import shared
from blimpworks.commands.declare import command
from blimpworks.commands.options import argument, option


@command(
    "blimpworks.evaluation.build:build_report_card",
    packages=("jinja2", "wordfreq", *shared.MODELLING),
)
def build_report_card(
    facts: str = option("What the card is built from, as JSON."),
    outputs: list[Path] = argument("card.json, index.html, and a results file for each model."),
) -> None:
    """Build the report card of an evaluation: its data, its page and results files."""
    from blimpworks.evaluation.build import build_report_card as build
    from blimpworks.evaluation.facts import card_tables

    given = json.loads(facts)
    tables = [Path(path) for path in card_tables(given)]
    with build_report_card.job(inputs=tables, outputs=outputs, params={"facts": given}) as job:
        counts = build(given, outputs)
        job.note(**counts)
    typer.echo(f"{outputs[1]}: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
