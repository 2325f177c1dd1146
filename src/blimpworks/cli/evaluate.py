"""Define commands that evaluate models, compare evaluations, and serve other tools' formats.

``commands/declare.py`` explains the arguments of ``@command``, and the jobs (``NAME.job``).
"""

import os
from collections.abc import Collection
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Any, cast

import typer

from blimpworks.campaign.registry import find_benchmark
from blimpworks.cli import run_here
from blimpworks.commands import shared
from blimpworks.commands.declare import EVALUATE, GROUPS, UNRECORDED, command
from blimpworks.commands.options import argument, json_option, option, written
from blimpworks.errors import UserError


def _benchmarks_of_suite(suite: str, codes: Collection[str], named: str) -> tuple[str, set[str]]:
    """Choose benchmarks of a suite: the ``named`` ones or, for "all", those of the languages.

    Return those to download, separated by commas, and ``local`` ones, from files in --suite-data.
    """
    from blimpworks.evaluation.request import parse_names
    from blimpworks.evaluation.suites import read_suite

    tasks = read_suite(suite).tasks
    chosen = [task.benchmark for task in tasks if not codes or task.lang in (None, *codes)]
    names = [*dict.fromkeys(chosen)] if named == "all" else parse_names(named)
    local = {task.benchmark for task in tasks if task.local is not None} & {*names}
    return ",".join(name for name in names if name not in local), local


@command(panel=EVALUATE, example="evaluate gpt2 --data released --limit 200")
def evaluate(
    models: list[str] = argument(
        "Models: a hub id (org/name or org/name@revision), a directory in Hugging Face's layout "
        "or with a checkpoint of ours, a LoRA adapter, a GGUF file, an n-gram file (.arpa, KenLM's "
        "binary), or a name in config/models.tsv.",
        default=list,
    ),
    benchmarks: str = option(
        "Benchmarks, separated by commas: names, or folders with a benchmark.yaml.", default="all"
    ),
    suite: str | None = option(
        "Suite of benchmarks with a special table: a name in config/suites, or a YAML file."
    ),
    fast: bool = option("Run the smaller sets of the suite (the suite NAME-fast)."),
    languages: str = option(
        "Languages, by ISO 639 code or English name; by default all languages of the benchmarks.",
        default="all",
    ),
    suite_data: Path | None = option(
        "Directory with the suite's data that cannot be downloaded; it has a folder for each task.",
        use=UNRECORDED,
    ),
    checkpoints: str | None = option(
        "Checkpoints to run in place of the model: a pattern of folders or branches ('chck_*')."
    ),
    limit: int | None = option(
        "Largest number of items of each benchmark and language, balanced over paradigms.", min=1
    ),
    engine: str = option("Engine: auto, transformers or vllm.", default="auto"),
    data: str = option(
        "Data: released, embedded (needs no network), or auto (released if available).",
        default="auto",
    ),
    mirror: Path | None = option("Directory with copies of the released data.", use=UNRECORDED),
    sensitivity: bool = option("Also measure accuracies with other first tokens.", "--sensitivity"),
    profile: str | None = option("Snakemake profile, such as slurm."),
    cores: int = option("Cores of this machine to use.", default=os.cpu_count() or 1, min=1),
    out: Path | None = option(
        "Directory of the evaluation; by default evaluations/MODEL.", use=UNRECORDED
    ),
    dtype: str | None = option("Number format, in place of that of the files."),
    first_token: str | None = option(
        "Token before each text, from which its first token is scored: bos, eos, tokenizer (what "
        "it puts there), likeliest (by scores), none, or any token or string, such as '\\n'."
    ),
    architecture: str | None = option(
        "Architecture, if the files name none: causal, masked, encoder-decoder."
    ),
    scoring: str | None = option(
        "Settings of scoring, separated by commas: mntp, within-word (masked models), "
        "enc_dec_mask, enc_dec_prefix (encoder-decoders), or such as batch_tokens=1024."
    ),
    parameters: float | None = option("Billions of parameters, if they cannot be counted."),
    tuning: str | None = option("base or chat; by default chat for models with a chat template."),
    run_model_code: str | None = option(
        "Let code run that models bring along, by its digest; several are separated by commas. "
        "'show' lists the code with its digest, and runs none.",
        metavar="DIGEST|show",
    ),
    listed: bool = option(
        "List benchmarks with their languages and pairs, and the data on disk.", "--list"
    ),
    dry_run: bool = option("Write the campaign and show its jobs, but run none.", "--dry-run"),
) -> None:
    """Evaluate models on benchmarks, and print a report card.

    Architecture, number format, first token, size and chat template are read from the model's own
    files. Writes a complete campaign that can be run again, cited and sent to a cluster.
    """
    from blimpworks.analysis.scoring_variants import parse_settings
    from blimpworks.evaluation import request
    from blimpworks.evaluation.session import Evaluation
    from blimpworks.evaluation.suites import suite_file

    if fast and suite is None:
        raise UserError("--fast is for suites: name one by --suite, or leave --fast out.")
    if fast and suite:
        # The fast suite of NAME is NAME-fast, or its file NAME-fast.yaml beside that of the suite.
        path = suite_file(suite)
        fast_file = path.with_name(f"{path.stem}-fast.yaml")
        suite = str(fast_file) if suite.endswith(".yaml") else fast_file.stem
    if suite_data is not None and (suite is None or not suite_data.expanduser().is_dir()):
        raise UserError(
            f"--suite-data is {suite_data}; expected a directory with data of the suite that "
            "--suite names."
        )

    if not request.parse_names(benchmarks) and benchmarks.strip() != "all":
        raise UserError(
            f"--benchmarks is {benchmarks!r}; expected names with commas between, or all."
        )
    codes = request.parse_languages(languages)
    local_benchmarks: set[str] = set()
    if suite is not None:
        benchmarks, local_benchmarks = _benchmarks_of_suite(suite, codes, benchmarks)
        suite = request.as_setting(Path(suite)) if suite.endswith(".yaml") else suite

    # Values that replace what the model's files say.
    overrides = {"dtype": dtype, "first_token": first_token, "architecture": architecture}
    overrides |= {"parameters": None if parameters is None else str(parameters), "tuning": tuning}
    evaluation = Evaluation(
        data=data,
        benchmarks=request.parse_benchmarks(benchmarks),
        suite=suite,
        local_benchmarks=local_benchmarks,
        checkpoints=checkpoints,
        trusted=request.parse_names(run_model_code or ""),
        suite_data=suite_data and suite_data.expanduser().resolve(),
        languages=codes,
        limit=limit,
        mirror=mirror and mirror.expanduser().resolve(),
        sensitivity=sensitivity,
        engine=engine,
        scoring=parse_settings(scoring.split(",") if scoring else [], "transformers", "--scoring"),
        overrides={name: value for name, value in overrides.items() if value is not None},
        profile=profile,
        cores=cores,
        dry_run=dry_run,
    )
    if listed:
        typer.echo(evaluation.listing())
    elif run_model_code == "show":
        typer.echo(evaluation.code_listing(models))
    else:
        evaluation.run(models, out)


@command(panel=EVALUATE, example="compare evaluations/gpt2 evaluations/mymodel")
def compare(
    first: Path = argument("Directory of an evaluation, or a results tree.", metavar="A"),
    second: Path = argument(
        "Directory of an evaluation, a results tree, a model's results by lm-eval with samples, or "
        "predictions on A's suite (a directory, or a file with all tasks).",
        metavar="B",
    ),
    models: tuple[str, str] | None = option(
        "Model of A and model of B; by default models of one name, or the only models."
    ),
    flips: int = option(
        "Number of items to show that only one model got right.", default=10, min=0
    ),
    show_all: bool = option("Show all phenomena, and all reasons for differences.", "--all"),
    json: bool = shared.JSON,
) -> None:
    """Show numbers and items that differ between two evaluations, and the reasons.

    Prints accuracies, McNemar's tests, items that only one got right, and reasons for differences.
    """
    from blimpworks.evaluation.compare import compare_evaluations

    comparison = compare_evaluations(first, second, models, flips)
    if json:
        typer.echo(dumps(asdict(comparison), indent=1, ensure_ascii=False))
        return

    from rich.console import Console

    from blimpworks.cluster.text import terminal_width
    from blimpworks.evaluation.compare import print_comparison

    print_comparison(comparison, Console(width=terminal_width()), show_all=show_all)


@command(
    "blimpworks.evaluation.build:build_report_card",
    packages=("jinja2", "wordfreq", *shared.MODELLING),
)
def build_report_card(
    facts: dict[str, Any] = json_option("Facts of the card, as JSON."),
    outputs: list[Path] = argument("card.json, index.html, and a results file for each model."),
) -> None:
    """Build the report card of an evaluation: its data, its page and results files."""
    from blimpworks.evaluation import build
    from blimpworks.evaluation.card import Facts, card_tables

    card_facts = cast(Facts, facts)
    tables = [Path(path) for path in card_tables(card_facts)]
    with build_report_card.job(inputs=tables, outputs=outputs, params={"facts": facts}) as job:
        counts = build.build_report_card(card_facts, outputs)
        job.note(**counts)
    typer.echo(f"{outputs[1]}: " + ", ".join(f"{n} {unit}" for unit, n in counts.items()))


GROUPS["export"] = "Write files that other tools read."
GROUPS["import"] = "Read files that other tools wrote."
FOLDER = argument("Directory to write to.")
RESULTS = argument("Directory of a campaign's results.")


@command("blimpworks.interop.lm_eval:export_model", packages=shared.ARROW, group="export")
def export_lm_eval(
    results: Path = RESULTS,
    output: Path = FOLDER,
    benchmark: str = option("Name of the benchmark."),
    model: list[str] = option("Model; repeatable; by default all judged models.", default=list),
) -> None:
    """Write accuracies and per-item results as lm-evaluation-harness does.

    Sentences were scored as they are, without the space that a task of the harness puts before them
    by default: to reproduce the numbers there, the task needs an empty target_delimiter.
    """
    from blimpworks.audit.lineage import judged_items
    from blimpworks.interop.lm_eval import export_model
    from blimpworks.tables import Evaluation

    if find_benchmark(benchmark).judge != "judge":  # that of pairs
        raise UserError(
            f"benchmark {benchmark!r} has no pairs of sentences; lm-evaluation-harness has tasks "
            "of pairs alone. Name a benchmark of pairs."
        )
    tables = sorted((results / "judgements" / benchmark).glob("*/*.parquet"))  # MODEL/LANG.parquet
    judged = sorted({path.parent.name for path in tables})
    unjudged = [name for name in model if name not in judged]
    if unjudged or not judged:
        raise UserError(
            f"{results} has no judgements of {', '.join(unjudged) or 'any model'} on {benchmark}; "
            f"expected {results}/judgements/{benchmark}/MODEL/LANG.parquet."
        )
    for name in model or judged:
        evaluations, inputs = list[Evaluation](), list[Path]()
        for judgements in (path for path in tables if path.parent.name == name):
            items = judged_items(results, benchmark, judgements.stem, name)
            scores = results / "scores" / benchmark / name / judgements.name
            evaluations.append(Evaluation(name, judgements.stem, items, scores, judgements))
            inputs += [items, scores, judgements]
        params = {"benchmark": benchmark, "model": name}
        with export_lm_eval.job(inputs=inputs, outputs=[output / name], params=params):
            typer.echo(str(export_model(benchmark, evaluations, output)))


CAMPAIGN_FILE = option("The campaign file of these results.")
AUTHORS = option(
    'Such as "Ada Lovelace <https://orcid.org/…>"; repeatable; ours if none.',
    "--author",
    default=list,
)


@command(
    ("blimpworks.interop.crate.export:plan_crate", "blimpworks.interop.crate.export:write_crate"),
    packages=("mlcroissant", "numpy", "pandas", "pyarrow", "rocrate"),
    group="export",
)
def export_crate(
    results: Path = RESULTS,
    output: Path = FOLDER,
    campaign: Path = CAMPAIGN_FILE,
    exhibit: list[str] = option("PAPER/EXHIBIT; repeatable; all by default.", default=list),
    table: list[str] = option("Further type of tables, such as scores; repeatable.", default=list),
    gzip: bool = option("Compress tables, except items."),
    author: list[str] = AUTHORS,
) -> None:
    """Write exhibits, their tables and their provenance as a Workflow Run RO-Crate."""
    from blimpworks.interop.crate.export import plan_crate, write_crate

    plan = plan_crate(results, campaign, run_here, exhibit, table, gzip=gzip, authors=author)
    params = {"exhibits": exhibit, "tables": table, "gzip": gzip, "authors": author}
    with export_crate.job(inputs=plan.inputs(), outputs=[output], params=params):
        contents = write_crate(plan, output)
    typer.echo(f"{output}: {contents}. Start with {output}/README.md.")


@command(group="export")
def export_croissant(
    results: Path = RESULTS,
    output: Path = FOLDER,
    campaign: Path = CAMPAIGN_FILE,
    author: list[str] = AUTHORS,
) -> None:
    """Write item sets as CSV with Croissant metadata, for data set loaders."""
    from blimpworks.interop import datasets

    for path in datasets.export_croissant(results, campaign, output, author, run_here):
        typer.echo(str(path))


@command(group="export")
def export_hub(
    results: Path = RESULTS,
    output: Path = FOLDER,
    campaign: Path = CAMPAIGN_FILE,
    benchmark: list[str] = option("Benchmark; repeatable; all by default.", default=list),
    licence: list[str] = option(
        "BENCHMARK=LICENCE, for sources that state none, such as files of your own; repeatable.",
        default=list,
    ),
    author: list[str] = AUTHORS,
) -> None:
    """Write item sets as a data set of the Hugging Face hub, with its card."""
    from blimpworks.interop import datasets

    subsets, reason_by_omitted_subset = datasets.export_hub(
        results, campaign, output, author, run_here, benchmark, licence
    )
    for name, reason in reason_by_omitted_subset.items():
        typer.echo(f"left out {name}: {reason}")
    typer.echo(
        f"{output}: {sum(subset.items for subset in subsets):,} items in "
        f"{len(subsets)} subsets. Read {output}/README.md before you upload it."
    )


@command(group="export")
def export_babylm(
    run: Path = argument("Directory of an evaluation of a suite."), output: Path = FOLDER
) -> None:
    """Write predictions in the format of the BabyLM Challenge, and print what a submission lacks.

    `blimpworks compare EVALUATION DIRECTORY` reads such predictions.
    """
    from blimpworks.evaluation.submission import export_submission

    for line in export_submission(run, output):
        typer.echo(line)


@command(recorded="blimpworks.interop.lm_eval:import_items", packages=shared.ARROW, group="import")
def import_lm_eval(
    files: list[Path] = argument("Samples files of lm-eval, or data sets as JSON lines."),
    lang: str = option("ISO 639-3 code of the items' language."),
    output: Path = written("Items table to write."),
) -> None:
    """Make an items table from documents of lm-evaluation-harness's tasks."""
    from blimpworks.interop.lm_eval import import_items

    typer.echo(f"{output}: {import_items(files, lang, output)} items")
