"""Commands for auditors: where a number comes from, and whether anything was altered."""

from pathlib import Path
from typing import Annotated

import typer

from blimpworks.commands.declare import command

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Items = Annotated[int, typer.Option(help="Show so many of its items.", min=0)]


@command()
def explain(
    exhibit: Annotated[Path, typer.Argument(help="Any file of an exhibit, or a comparison.")],
    row: Annotated[str | None, typer.Option(help="Row, as printed or by its code.")] = None,
    column: Annotated[str | None, typer.Option(help="Column, as printed or by its code.")] = None,
    items: Items = 1,
    item: Annotated[str | None, typer.Option(help="Show the item with this id.")] = None,
    paper: Annotated[str | None, typer.Option(help="Of a comparison: whose number.")] = None,
    printed_in: Annotated[
        str | None, typer.Option("--exhibit", help="Of a comparison: where it is printed.")
    ] = None,
    whole: Annotated[bool, typer.Option("--all", help="Name every input.")] = False,
    json: Json = False,
) -> None:
    """Trace one number of an exhibit to its judgements, tokens, model and treebank sentences.

    Without row and column, list the exhibit's cells. Of a comparison with what the papers
    print (reproduction/published.csv, measured.csv), trace the number compared.
    """
    from blimpworks.audit.cells import is_comparison, list_cells
    from blimpworks.audit.explain import explain as trace
    from blimpworks.audit.explain import explain_comparison

    if is_comparison(exhibit):
        wanted = {"paper": paper, "exhibit": printed_in, "row": row, "column": column}
        found = explain_comparison(exhibit, wanted, items)
    elif row is None or column is None:
        typer.echo("\n".join(list_cells(exhibit, row, column)))
        return
    else:
        found = trace(exhibit, row, column, items, item)
    if json:
        typer.echo(found.as_json())
        return
    from blimpworks.audit.wording import as_text

    typer.echo(as_text(found, whole))


@command()
def check(
    root: Annotated[Path, typer.Argument(help="Results tree, such as results/.")],
    configfile: Annotated[
        Path | None, typer.Option(help="Campaign: compare with what it would make now.")
    ] = None,
    whole: Annotated[bool, typer.Option("--all", help="Name every file.")] = False,
    json: Json = False,
) -> None:
    """Re-hash every product; name what was altered, is missing, stale or unaccounted for.

    Stale are products of inputs or code that have changed since, and, with a campaign's
    configuration, of other parameters or inputs than the campaign would use now.
    """
    from blimpworks.audit.check import audit
    from blimpworks.audit.plan import planned_jobs
    from blimpworks.audit.verdict import Meter, as_json, as_text

    plan = None if configfile is None else planned_jobs(configfile)
    found = audit(root, plan, Meter())
    typer.echo(as_json(found) if json else as_text(found, root, whole))
    raise typer.Exit(1 if found.findings else 0)


@command()
def diff(
    first: Annotated[Path, typer.Argument(metavar="RUN_A", help="Results tree.")],
    second: Annotated[Path, typer.Argument(metavar="RUN_B", help="Results tree.")],
    whole: Annotated[bool, typer.Option("--all", help="Name every number.")] = False,
    json: Json = False,
) -> None:
    """Tell what two runs did differently, and which numbers moved because of it."""
    from blimpworks.audit.diff import compare_runs
    from blimpworks.audit.diff_text import as_json, as_text

    found = compare_runs(first, second)
    typer.echo(as_json(found) if json else as_text(found, whole))
