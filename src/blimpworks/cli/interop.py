"""Commands that write and read the files of other tools: export and import."""

from pathlib import Path
from typing import Annotated

import typer

from blimpworks.campaign.settings.campaign import Benchmark
from blimpworks.commands.declare import GROUPS, WRITTEN, command, recorded
from blimpworks.commands.options import TABLES
from blimpworks.errors import UserError

GROUPS["export"] = "Write files that other tools read."
GROUPS["import"] = "Read files that other tools wrote."
Folder = Annotated[Path, typer.Argument(help="Directory to write to.")]


@command("blimpworks.interop.lm_eval_export:export_model", packages=TABLES, group="export")
def export_lm_eval(
    results: Annotated[Path, typer.Argument(help="Directory of a campaign's results.")],
    output: Folder,
    benchmark: Annotated[Benchmark, typer.Option(help="Name of the benchmark.")],
    model: Annotated[
        list[str] | None, typer.Option(help="Model; repeatable; all that were judged by default.")
    ] = None,
) -> None:
    """Write accuracies and per-item results as lm-evaluation-harness does."""
    from blimpworks.interop.lm_eval_export import Source, export_model

    judged = sorted((results / "judgements" / benchmark).glob("*/*.parquet"))
    chosen = model or sorted({path.stem for path in judged})
    for name in chosen:
        paths = [path for path in judged if path.stem == name]
        if not paths:
            raise UserError(
                f"{results} has no judgements of {name} on {benchmark}; expected "
                f"{results}/judgements/{benchmark}/LANG/{name}.parquet."
            )
        sources = [
            Source(
                benchmark,
                path.parent.name,
                results / "items" / benchmark / f"{path.parent.name}.parquet",
                results / "scores" / benchmark / path.parent.name / path.name,
                path,
            )
            for path in paths
        ]
        inputs = [p for s in sources for p in (s.items, s.scores, s.judgements)]
        params = {"benchmark": benchmark, "model": name}
        with export_lm_eval.job(inputs=inputs, outputs=[output / name], params=params):
            typer.echo(str(export_model(name, sources, output)))
    if not chosen:
        raise UserError(f"{results} has no judgements on {benchmark}; build them with snakemake.")


Results = Annotated[Path, typer.Argument(help="Directory of a campaign's results.")]
CampaignFile = Annotated[Path, typer.Option(help="The campaign file of these results.")]
Authors = Annotated[
    list[str] | None,
    typer.Option(
        "--author", help='Such as "Ada Lovelace <https://orcid.org/…>"; repeatable; ours if none.'
    ),
]


@command(
    (
        "blimpworks.interop.crate.export:plan_crate",
        "blimpworks.interop.crate.export:write_crate",
    ),
    packages=("mlcroissant", "numpy", "pandas", "pyarrow", "rocrate"),
    group="export",
)
def export_crate(
    results: Results,
    output: Folder,
    campaign: CampaignFile,
    exhibit: Annotated[
        list[str] | None, typer.Option(help="PAPER/EXHIBIT; repeatable; all by default.")
    ] = None,
    table: Annotated[
        list[str] | None, typer.Option(help="Further kind of tables, such as scores; repeatable.")
    ] = None,
    gzip: Annotated[bool, typer.Option(help="Compress tables (items excepted).")] = False,
    author: Authors = None,
) -> None:
    """Write exhibits, their tables and their provenance as a Workflow Run RO-Crate."""
    from blimpworks.interop.crate.export import Wish, plan_crate, write_crate

    wish = Wish(exhibit or (), table or (), gzip, author or ())
    plan = plan_crate(results, campaign, wish)
    params = {"exhibits": wish.exhibits, "tables": wish.tables, "gzip": gzip}
    params |= {"authors": wish.authors}
    with export_crate.job(inputs=plan.inputs(), outputs=[output], params=params):
        found = write_crate(plan, output)
    typer.echo(
        f"{output}: {found.files} files, {found.bytes / 1e6:.1f} MB, {found.cells} cells, "
        f"{found.jobs} jobs, {found.entities} entities. Start with {output}/README.md."
    )


@command(group="export")
def export_croissant(
    results: Results, output: Folder, campaign: CampaignFile, author: Authors = None
) -> None:
    """Write item sets as CSV with Croissant metadata, for data set loaders."""
    from blimpworks.interop.crate.export import Wish
    from blimpworks.interop.crate.export import export_croissant as write

    for path in write(results, campaign, output, Wish(authors=author or ())):
        typer.echo(str(path))


@recorded("blimpworks.interop.lm_eval_import:import_items", packages=TABLES, group="import")
def import_lm_eval(
    files: Annotated[
        list[Path], typer.Argument(help="Samples files of lm-eval, or data sets as JSON lines.")
    ],
    lang: Annotated[str, typer.Option(help="ISO 639-3 code of the items' language.")],
    output: Annotated[Path, typer.Option(help="Items table to write."), WRITTEN],
) -> None:
    """Make an items table from documents of lm-evaluation-harness's tasks."""
    from blimpworks.interop.lm_eval_import import import_items

    typer.echo(f"{output}: {import_items(files, lang, output)} items")
