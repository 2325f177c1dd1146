"""Define commands that export to and import from other tools."""

from pathlib import Path

import typer

from blimpworks.campaign.registry import find_benchmark
from blimpworks.commands import shared
from blimpworks.commands.declare import GROUPS, command
from blimpworks.commands.options import argument, option, written
from blimpworks.errors import UserError

GROUPS["export"] = "Write files that other tools read."
GROUPS["import"] = "Read files that other tools wrote."
FOLDER = argument("Directory to write to.")
RESULTS = argument("Directory of a campaign's results.")


@command("blimpworks.interop.lm_eval:export_model", packages=shared.ARROW, group="export")
def export_lm_eval(
    results: Path = RESULTS,
    output: Path = FOLDER,
    benchmark: str = option("Name of the benchmark."),
    model: list[str] = option("Model; repeatable; all that were judged by default.", default=list),
) -> None:
    """Write accuracies and per-item results as lm-evaluation-harness does.

    Sentences were scored as they are, without the space that a task of the harness puts before them
    by default: to reproduce the numbers there, the task needs an empty target_delimiter.
    """
    from blimpworks.audit.lineage import judged_items
    from blimpworks.interop.lm_eval import export_model
    from blimpworks.tables import Evaluation

    if find_benchmark(benchmark).judge != "judge":
        raise UserError(
            f"benchmark {benchmark!r} has no pairs of sentences; lm-evaluation-harness has tasks "
            "of pairs alone. Name a benchmark of pairs."
        )
    judged = sorted((results / "judgements" / benchmark).glob("*/*.parquet"))
    chosen = model or sorted({path.parent.name for path in judged})
    for name in chosen:
        paths = [path for path in judged if path.parent.name == name]
        if not paths:
            raise UserError(
                f"{results} has no judgements of {name} on {benchmark}; expected "
                f"{results}/judgements/{benchmark}/{name}/LANG.parquet."
            )
        evaluations = [
            Evaluation(
                name,
                path.stem,
                judged_items(results, benchmark, path.stem, name),
                results / "scores" / benchmark / name / path.name,
                path,
            )
            for path in paths
        ]
        inputs = [p for one in evaluations for p in (one.items, one.outputs, one.judgements)]
        params = {"benchmark": benchmark, "model": name}
        with export_lm_eval.job(inputs=inputs, outputs=[output / name], params=params):
            typer.echo(str(export_model(benchmark, evaluations, output)))
    if not chosen:
        raise UserError(f"{results} has no judgements on {benchmark}; build them with snakemake.")


CAMPAIGN_FILE = option("The campaign file of these results.")
AUTHORS = option(
    'Such as "Ada Lovelace <https://orcid.org/…>"; repeatable; ours if none.',
    "--author",
    default=list,
)


@command(
    tuple(f"blimpworks.interop.crate.export:{name}" for name in ("plan_crate", "write_crate")),
    packages=("mlcroissant", "numpy", "pandas", "pyarrow", "rocrate"),
    group="export",
)
def export_crate(
    results: Path = RESULTS,
    output: Path = FOLDER,
    campaign: Path = CAMPAIGN_FILE,
    exhibit: list[str] = option("PAPER/EXHIBIT; repeatable; all by default.", default=list),
    table: list[str] = option("Further kind of tables, such as scores; repeatable.", default=list),
    gzip: bool = option("Compress tables (items excepted).", default=False),
    author: list[str] = AUTHORS,
) -> None:
    """Write exhibits, their tables and their provenance as a Workflow Run RO-Crate."""
    from blimpworks.cli import run_here
    from blimpworks.interop.crate.export import plan_crate, write_crate
    from blimpworks.interop.crate.tables import ExportOptions

    options = ExportOptions(exhibit, table, gzip, author)
    plan = plan_crate(results, campaign, options, run_here)
    params = {"exhibits": options.exhibits, "tables": options.tables, "gzip": gzip}
    params |= {"authors": options.authors}
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
    from blimpworks.cli import run_here
    from blimpworks.interop.crate.tables import ExportOptions
    from blimpworks.interop.datasets import export_croissant as write

    for path in write(results, campaign, output, ExportOptions(authors=author), run_here):
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
    from blimpworks.cli import run_here
    from blimpworks.interop.crate.tables import ExportOptions
    from blimpworks.interop.datasets import export_hub as write

    options = ExportOptions(authors=author)
    written, left_out = write(results, campaign, output, options, run_here, benchmark, licence)
    for name, reason in left_out.items():
        typer.echo(f"left out {name}: {reason}")
    typer.echo(
        f"{output}: {sum(subset.items for subset in written):,} items in "
        f"{len(written)} subsets. Read {output}/README.md before you upload it."
    )


@command(recorded="blimpworks.interop.lm_eval:import_items", packages=shared.ARROW, group="import")
def import_lm_eval(
    files: list[Path] = argument("Samples files of lm-eval, or data sets as JSON lines."),
    lang: str = option("ISO 639-3 code of the items' language."),
    output: Path = written("Items table to write."),
) -> None:
    """Make an items table from documents of lm-evaluation-harness's tasks."""
    from blimpworks.interop.lm_eval import import_items

    typer.echo(f"{output}: {import_items(files, lang, output)} items")
