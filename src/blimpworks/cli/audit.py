"""Commands for auditors: where a number comes from, and whether anything was altered."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from blimpworks.commands.declare import command
from blimpworks.commands.options import argument, option
from blimpworks.errors import UserError

if TYPE_CHECKING:
    from blimpworks.audit.check import Audit

JSON = option("Print JSON.", "--json", default=False)
ITEMS = option("Show so many of its items.", default=1, min=0)


@command()
def explain(
    exhibit: Path = argument("Any file of an exhibit, or a comparison."),
    row: str | None = option("Row, as printed or by its code.", default=None),
    column: str | None = option("Column, as printed or by its code.", default=None),
    items: int = ITEMS,
    item: str | None = option("Show the item with this id.", default=None),
    paper: str | None = option("Of a comparison: whose number.", default=None),
    printed_in: str | None = option(
        "Of a comparison: where it is printed.", "--exhibit", default=None
    ),
    whole: bool = option("Name every input.", "--all", default=False),
    json: bool = JSON,
) -> None:
    """Trace one number of an exhibit to its judgements, tokens, model and treebank sentences.

    Without row and column, list the exhibit's cells. Of a comparison with what the papers
    print (reproduction/published.csv, measured.csv), trace the number compared.
    """
    from blimpworks.audit.cells import is_comparison, list_cells
    from blimpworks.audit.explain import explain as trace
    from blimpworks.audit.explain import explain_comparison

    if is_comparison(exhibit):
        requested = {"paper": paper, "exhibit": printed_in, "row": row, "column": column}
        explanation = explain_comparison(exhibit, requested, items)
    elif row is None or column is None:
        typer.echo("\n".join(list_cells(exhibit, row, column)))
        return
    else:
        explanation = trace(exhibit, row, column, items, item)
    if json:
        typer.echo(explanation.as_json())
        return
    from blimpworks.audit.explain_text import as_text

    typer.echo(as_text(explanation, whole))


@command()
def check(
    root: Path = argument("Results tree, such as results/."),
    configfile: Path | None = option(
        "Campaign: compare with what it would make now.", default=None
    ),
    deep: bool = option(
        "Make judgements, accuracies and exhibits again, and compare.", default=False
    ),
    sign: Path | None = option("SSH key to sign the root hash with.", default=None),
    signers: Path | None = option(
        "File of allowed signers (ssh-keygen's), one of whom must have signed.", default=None
    ),
    whole: bool = option("Name every file.", "--all", default=False),
    json: bool = JSON,
) -> None:
    """Re-hash every product; name what was altered, is missing, stale or unaccounted for.

    Stale are products of inputs or code that have changed since, and, with a campaign's
    configuration, of other parameters or inputs than the campaign would use now. Records that
    were edited are named too.
    """
    from blimpworks.audit.check import Meter, as_json, as_text, audit
    from blimpworks.audit.plan import planned_jobs
    from blimpworks.cli import run_here

    plan = None if configfile is None else planned_jobs(configfile, run_here)
    result = audit(root, plan, Meter(), run_here if deep else None)
    typer.echo(as_json(result) if json else as_text(result, root, whole))
    if sign or signers:
        _check_signature(root, result, sign, signers)
    raise typer.Exit(1 if result.findings else 0)


def _check_signature(root: Path, audit: "Audit", key: Path | None, signers: Path | None) -> None:
    """Check who has signed an audited tree, and sign it. Raises UserError where either fails."""
    from blimpworks.audit.signature import sign, signer

    if signers:
        typer.echo(f"Signed by {signer(root, audit.root_hash, signers)}.", err=True)
    if key and audit.findings:
        raise UserError(f"{root} was not signed: it is not as recorded, see above.")
    if key:
        typer.echo(f"Signed: {sign(root, audit.root_hash, key)}", err=True)


@command()
def diff(
    first: Path = argument("Results tree.", metavar="RUN_A"),
    second: Path = argument("Results tree.", metavar="RUN_B"),
    whole: bool = option("Name every number.", "--all", default=False),
    json: bool = JSON,
) -> None:
    """List what two runs did differently, and which numbers changed because of it."""
    from blimpworks.audit.diff import as_json, as_text, compare_runs

    comparison = compare_runs(first, second)
    typer.echo(as_json(comparison) if json else as_text(comparison, whole))
