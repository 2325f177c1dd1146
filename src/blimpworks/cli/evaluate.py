"""The command that evaluates models: from a name on the hub or a directory to a report card."""

import os
from pathlib import Path

import typer

from blimpworks.commands.declare import EVALUATE, UNRECORDED, command
from blimpworks.commands.options import argument, option

MODELS = argument(
    "Models: a hub id (org/name or org/name@revision), a directory in Hugging Face's layout "
    "or with a checkpoint of ours, an n-gram file (.arpa, KenLM's binary), or a name in "
    "config/models.tsv.",
    default=list,
)
BENCHMARKS = option(
    "Benchmarks, separated by commas: names, or folders with a benchmark.yaml.", default="all"
)
LANGUAGES = option(
    "Languages, by code (ISO 639) or English name; by default those of the benchmarks named.",
    default="all",
)
LIMIT = option(
    "At most so many items of each benchmark and language, balanced over paradigms.",
    default=None,
    min=1,
)
ENGINE = option("Engine: auto, transformers or vllm.", default="auto")
DATA = option(
    "Data: released, embedded (needs no network), or auto: released where they can be had.",
    default="auto",
)
MIRROR = option("Directory with copies of the released data.", default=None, use=UNRECORDED)
SENSITIVITY = option(
    "Measure how much it matters what conditions the first token.", "--sensitivity", default=False
)
PROFILE = option("Snakemake profile, such as slurm.", default=None)
CORES = option("Cores of this machine to use.", default=os.cpu_count() or 1, min=1)
OUT = option(
    "Directory of the evaluation; by default evaluations/MODEL.", default=None, use=UNRECORDED
)
DTYPE = option("Number format in place of the files'.", default=None)
FIRST_TOKEN = option(
    "What conditions the first token: bos, eos, tokenizer (what it puts there), likeliest, none, "
    "or any token or string, such as '\\n'.",
    default=None,
)
ARCHITECTURE = option(
    "Architecture in place of the files': causal, masked, encoder-decoder.", default=None
)
PARAMETERS = option("Billions of parameters, if not counted.", default=None)
TUNING = option("base or chat, in place of the chat template's.", default=None)
LISTED = option("Show benchmarks, languages, pairs, and what is on disk.", "--list", default=False)
DRY_RUN = option("Write the campaign, show its jobs, run none.", "--dry-run", default=False)


@command(panel=EVALUATE, example="evaluate gpt2 --data released --limit 200")
def evaluate(
    models: list[str] = MODELS,
    benchmarks: str = BENCHMARKS,
    languages: str = LANGUAGES,
    limit: int | None = LIMIT,
    engine: str = ENGINE,
    data: str = DATA,
    mirror: Path | None = MIRROR,
    sensitivity: bool = SENSITIVITY,
    profile: str | None = PROFILE,
    cores: int = CORES,
    out: Path | None = OUT,
    dtype: str | None = DTYPE,
    first_token: str | None = FIRST_TOKEN,
    architecture: str | None = ARCHITECTURE,
    parameters: float | None = PARAMETERS,
    tuning: str | None = TUNING,
    listed: bool = LISTED,
    dry_run: bool = DRY_RUN,
) -> None:
    """Evaluate models on benchmarks, and print a report card.

    Architecture, number format, first token, size and chat template are read from the model's own
    files. Writes a complete campaign that can be run again, cited and sent to a cluster.
    """
    from blimpworks.evaluation.choice import parse_benchmarks, parse_languages
    from blimpworks.evaluation.request import Request
    from blimpworks.evaluation.session import Execution, describe_data, run_evaluation

    request = Request(
        data=data,
        benchmarks=parse_benchmarks(benchmarks),
        languages=parse_languages(languages),
        limit=limit,
        mirror=mirror and mirror.expanduser().resolve(),
        sensitivity=sensitivity,
    )
    if listed:
        typer.echo(describe_data(request))
        return
    overrides = {
        "dtype": dtype,
        "first_token": first_token,
        "architecture": architecture,
        "parameters": parameters,
        "tuning": tuning,
    }
    set_by_user = {name: str(value) for name, value in overrides.items() if value is not None}
    execution = Execution(engine, set_by_user, profile, cores, dry_run)
    run_evaluation(models, request, execution, out)
