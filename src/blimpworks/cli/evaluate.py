"""Define commands that evaluate models, build the report card, and compare evaluations."""

import os
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Any, cast

import typer

from blimpworks.commands import shared
from blimpworks.commands.declare import EVALUATE, UNRECORDED, command
from blimpworks.commands.options import argument, json_option, option


@command(panel=EVALUATE, example="evaluate gpt2 --data released --limit 200")
def evaluate(
    models: list[str] = argument(
        "Models: a hub id (org/name or org/name@revision), a directory in Hugging Face's layout "
        "or with a checkpoint of ours, an n-gram file (.arpa, KenLM's binary), or a name in "
        "config/models.tsv.",
        default=list,
    ),
    benchmarks: str = option(
        "Benchmarks, separated by commas: names, or folders with a benchmark.yaml.", default="all"
    ),
    languages: str = option(
        "Languages, by code (ISO 639) or English name; by default those of the benchmarks named.",
        default="all",
    ),
    limit: int | None = option(
        "At most so many items of each benchmark and language, balanced over paradigms.",
        default=None,
        min=1,
    ),
    engine: str = option("Engine: auto, transformers or vllm.", default="auto"),
    data: str = option(
        "Data: released, embedded (needs no network), or auto: released where they can be had.",
        default="auto",
    ),
    mirror: Path | None = option(
        "Directory with copies of the released data.", default=None, use=UNRECORDED
    ),
    sensitivity: bool = option(
        "Measure how much it matters what conditions the first token.",
        "--sensitivity",
        default=False,
    ),
    profile: str | None = option("Snakemake profile, such as slurm.", default=None),
    cores: int = option("Cores of this machine to use.", default=os.cpu_count() or 1, min=1),
    out: Path | None = option(
        "Directory of the evaluation; by default evaluations/MODEL.", default=None, use=UNRECORDED
    ),
    dtype: str | None = option("Number format in place of the files'.", default=None),
    first_token: str | None = option(
        "What conditions the first token: bos, eos, tokenizer (what it puts there), likeliest, "
        "none, or any token or string, such as '\\n'.",
        default=None,
    ),
    architecture: str | None = option(
        "Architecture in place of the files': causal, masked, encoder-decoder.", default=None
    ),
    parameters: float | None = option("Billions of parameters, if not counted.", default=None),
    tuning: str | None = option("base or chat, in place of the chat template's.", default=None),
    listed: bool = option(
        "Show benchmarks, languages, pairs, and what is on disk.", "--list", default=False
    ),
    dry_run: bool = option(
        "Write the campaign, show its jobs, run none.", "--dry-run", default=False
    ),
) -> None:
    """Evaluate models on benchmarks, and print a report card.

    Architecture, number format, first token, size and chat template are read from the model's own
    files. Writes a complete campaign that can be run again, cited and sent to a cluster.
    """
    from blimpworks.evaluation.request import parse_benchmarks, parse_languages
    from blimpworks.evaluation.session import Evaluation

    overrides = {
        "dtype": dtype,
        "first_token": first_token,
        "architecture": architecture,
        "parameters": parameters,
        "tuning": tuning,
    }
    evaluation = Evaluation(
        data=data,
        benchmarks=parse_benchmarks(benchmarks),
        languages=parse_languages(languages),
        limit=limit,
        mirror=mirror and mirror.expanduser().resolve(),
        sensitivity=sensitivity,
        engine=engine,
        overrides={name: str(value) for name, value in overrides.items() if value is not None},
        profile=profile,
        cores=cores,
        dry_run=dry_run,
    )
    if listed:
        typer.echo(evaluation.listing())
    else:
        evaluation.run(models, out)


@command(panel=EVALUATE, example="compare evaluations/gpt2 evaluations/mymodel")
def compare(
    first: Path = argument("Directory of an evaluation, or a results tree.", metavar="A"),
    second: Path = argument(
        "Directory of an evaluation, a results tree, or a model's results by lm-eval with samples.",
        metavar="B",
    ),
    models: tuple[str, str] | None = option(
        "Model of A and model of B; by default those of the same name, or the only ones.",
        default=None,
    ),
    flips: int = option("Show so many items that are right in one alone.", default=10, min=0),
    whole: bool = option("Show every phenomenon and reason.", "--all", default=False),
    json: bool = option("Print JSON.", "--json", default=False),
) -> None:
    """Show what moved between two evaluations, item by item, and why.

    Accuracies, McNemar's tests, items that only one got right, and what was done differently.
    """
    from blimpworks.evaluation.compare import compare_evaluations

    comparison = compare_evaluations(first, second, models, flips)
    if json:
        typer.echo(dumps(asdict(comparison), indent=1, ensure_ascii=False))
        return
    from rich.console import Console

    from blimpworks.cluster.text import terminal_width
    from blimpworks.evaluation.compare import print_comparison

    print_comparison(comparison, Console(width=terminal_width()), show_all=whole)


@command(
    "blimpworks.evaluation.build:build_report_card",
    packages=("jinja2", "wordfreq", *shared.MODELLING),
)
def build_report_card(
    facts: dict[str, Any] = json_option("What the card is built from, as JSON."),
    outputs: list[Path] = argument("card.json, index.html, and a results file for each model."),
) -> None:
    """Build the report card of an evaluation: its data, its page and results files."""
    from blimpworks.evaluation.build import build_report_card as build
    from blimpworks.evaluation.card import Facts, card_tables

    card_facts = cast(Facts, facts)
    tables = [Path(path) for path in card_tables(card_facts)]
    with build_report_card.job(inputs=tables, outputs=outputs, params={"facts": facts}) as job:
        counts = build(card_facts, outputs)
        job.note(**counts)
    typer.echo(f"{outputs[1]}: " + ", ".join(f"{n} {unit}" for unit, n in counts.items()))
