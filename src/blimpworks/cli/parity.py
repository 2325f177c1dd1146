"""The command that compares ways to score with one model."""

import json
import shutil
from pathlib import Path

import typer

from blimpworks.campaign.settings.parsing import parse_options
from blimpworks.campaign.settings.scoring import ParityOptions, ScoringOptions
from blimpworks.commands import shared
from blimpworks.commands.declare import command
from blimpworks.commands.options import argument, option
from blimpworks.errors import UserError


def _pythons(given: list[str]) -> dict[str, str]:
    """Interpreters by engine, from ``ENGINE=PATH``."""
    from blimpworks.analysis.scoring_variants import default_pythons

    pythons = default_pythons()
    for text in given:
        engine, sign, path = text.partition("=")
        if not sign:
            raise UserError(f"--python is {text!r}, expected ENGINE=PATH, such as vllm=bin/python.")
        if not shutil.which(path):
            raise UserError(f"--python names {path!r} for {engine}, but no such program exists.")
        pythons[engine] = path
    return pythons


PAIRS = ParityOptions.model_fields["pairs"].default
VARIANT = "ENGINE[:SETTING]…, such as transformers:bfloat16 or vllm:skip; repeatable."


# Each variant's scores are the work of the command `score`, and recorded by it.
@command("blimpworks.analysis.parity:measure_parity", packages=(*shared.MODELLING, "tabulate"))
def parity(
    checkpoint: Path = argument("The model's checkpoint.json."),
    items: list[Path] = argument("Items tables."),
    output: Path = option("Directory to write to."),
    variant: list[str] = option(VARIANT, default=list),
    reference: str | None = option("What the others are compared with.", default=None),
    method: list[str] = option("Method, or name=expression; repeatable.", default=list),
    pairs: int = option("Most pairs to compare on.", default=PAIRS, min=1),
    options: str = option("Scoring options of all, as JSON.", default="{}"),
    python: list[str] = option("Interpreter of an engine: ENGINE=PATH.", default=list),
) -> None:
    """Report how far engines, number formats or first tokens are apart on one model.

    Reference and variants that are not named are those that suit the model's architecture.
    """
    from blimpworks.analysis.parity import measure_parity
    from blimpworks.campaign.engines import comparison_of
    from blimpworks.models.checkpoint import read_description

    parse_options(ScoringOptions, options)
    architecture = read_description(checkpoint).architecture
    compared = comparison_of(architecture, reference, variant or None)
    chosen = {
        "variants": [*compared.variants],
        "reference": compared.reference,
        "methods": method or ["full_sentence"],
        "count": pairs,
        "settings": json.loads(options),
    }
    pythons = _pythons(python)
    # The directory too: the sample and what each variant left are products of this job.
    outputs = [output / "parity.parquet", output]
    inputs = [checkpoint, *items]
    with parity.job(inputs=inputs, outputs=outputs, params=chosen) as job:
        job.note(**measure_parity(checkpoint, items, output, pythons=pythons, **chosen))
    typer.echo((output / "parity.md").read_text(encoding="utf-8"))
