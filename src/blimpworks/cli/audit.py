"""Define commands for auditors: trace a number, find altered files, compare two runs."""

from pathlib import Path

import typer

from blimpworks.cli import run_here
from blimpworks.commands.declare import AUDIT, command
from blimpworks.commands.options import argument, option
from blimpworks.commands.shared import JSON
from blimpworks.errors import UserError


@command(
    panel=AUDIT,
    example="explain results/demo/exhibits/demo_pairs/models.png --row 5-gram --column German",
)
def explain(
    exhibit: Path = argument(
        "A file of an exhibit or of a comparison, or the directory or report card of an evaluation."
    ),
    row: str | None = option(
        "Row, by its title or key; in a report card: language, phenomenon, benchmark."
    ),
    column: str | None = option("Column, by its title or key; in a report card: the model."),
    items: int = option("Number of items to show.", default=1, min=0),
    item: str | None = option("Show the item with this id."),
    paper: str | None = option("Paper whose printed number is compared; for a comparison only."),
    printed_in: str | None = option(
        "Exhibit that prints the number; for a comparison only.", "--exhibit"
    ),
    ancestry: bool = option("Show all files and jobs that the number was made from.", "--ancestry"),
    html: Path | None = option("Write an HTML page to this file, in place of text."),
    json: bool = JSON,
) -> None:
    """Trace one number of an exhibit to its judgements, tokens, model and treebank sentences.

    Sentences come first, what the number was made from last. Without row and column, list the
    exhibit's cells. Of a comparison with what the papers print (reproduction/published.csv,
    measured.csv), trace the number compared. Of an evaluation, trace an accuracy of its report
    card.
    """
    from blimpworks.audit import cells, explain_text
    from blimpworks.audit import explain as library

    html = html and html.absolute()  # explaining an evaluation changes the directory
    # An evaluation has a report card in its directory, or beside a file.
    folders = [exhibit.parent] if exhibit.is_file() else []
    if exhibit.is_dir():
        folders = [exhibit / "results/report_card", exhibit / "report_card", exhibit]
    card = next(filter(Path.is_file, (folder / "card.json" for folder in folders)), None)
    if card:
        from blimpworks.evaluation.explained import explain_number, find_numbers

        numbers = find_numbers(card, row, column)
        if len(numbers) > 1 or not numbers[0].accuracy:
            typer.echo("\n".join(number.line for number in numbers))
            return
        explanation = explain_number(card, numbers[0], exhibit, items, item)
    elif exhibit.parent.name == cells.REPRODUCTION and exhibit.name in cells.EXHIBITS_OF:
        requested = {"paper": paper, "exhibit": printed_in, "row": row, "column": column}
        explanation = library.explain_comparison(exhibit, requested, items)
    elif row is None or column is None:
        typer.echo("\n".join(cells.list_cells(exhibit, row, column)))
        return
    else:
        explanation = library.explain(exhibit, row, column, items, item)
    if json:
        typer.echo(explanation.as_json())
    elif html:
        explain_text.write_page(explanation, html)
        typer.echo(f"{html}: open it in a browser.")
    else:
        typer.echo(explain_text.as_text(explanation, full_ancestry=ancestry))


@command(panel=AUDIT, example="check results/demo")
def check(
    root: Path = argument("Results tree, such as results/."),
    configfile: Path | None = option(
        "Campaign file; also find products whose parameters or inputs it would change."
    ),
    deep: bool = option("Make judgements, accuracies and exhibits again, and compare them."),
    full: bool = option("Read every file, even if it is unchanged since an earlier check."),
    sign: Path | None = option("SSH key to sign the root hash with."),
    signers: Path | None = option(
        "File of allowed signers (ssh-keygen's), one of whom must have signed."
    ),
    all_files: bool = option("List every file, not only the first ones.", "--all"),
    json: bool = JSON,
) -> None:
    """Verify all products by their hashes; list altered, missing, stale and unaccounted files.

    Files with the size and times of an earlier check are not read again, unless with --full,
    --deep, or a signature. A product is stale if its inputs or code have changed since. With a
    campaign's configuration, it is stale too if the campaign would use other parameters or inputs
    now. Records that were edited are named too.
    """
    from blimpworks.audit import check as library
    from blimpworks.audit.stale import planned_jobs

    plan = None if configfile is None else planned_jobs(configfile, run_here)
    hash_cache = None if full or deep or sign or signers else library.HashCache()
    result = library.audit(root, plan, run_here if deep else None, hash_cache)
    if hash_cache:
        hash_cache.save()
    typer.echo(library.as_json(result) if json else library.as_text(result, root, all_files))
    if signers:
        typer.echo(f"Signed by {library.signer(root, result.root_hash, signers)}.", err=True)
    if sign:
        if result.findings:
            raise UserError(f"{root} was not signed: it is not as recorded, see above.")
        typer.echo(f"Signed: {library.sign(root, result.root_hash, sign)}", err=True)
    raise typer.Exit(1 if result.findings else 0)


@command(panel=AUDIT, example="adopt results/demo --configfile config/demo/config.yaml")
def adopt(
    root: Path = argument("Results tree that was copied to this machine, such as results/."),
    configfile: Path = option("Campaign file of the results."),
) -> None:
    """Accept results of another machine, so that Snakemake does not make them again.

    They are checked first: nothing may be altered, missing, or other than the campaign would make.
    """
    from blimpworks.audit import stale
    from blimpworks.audit.check import as_text, audit

    result = audit(root, stale.planned_jobs(configfile, run_here))
    if result.findings:
        typer.echo(as_text(result, root))
        raise UserError(f"{root} was not taken over: it is not what {configfile} would make.")
    typer.echo(f"{stale.adopt(configfile)} files are up to date; snakemake goes on from there.")


@command(panel=AUDIT, example="diff results/demo results/demo-corrected")
def diff(
    first: Path = argument("Results tree.", metavar="RUN_A"),
    second: Path = argument("Results tree.", metavar="RUN_B"),
    all_numbers: bool = option("List every number, not only the first ones.", "--all"),
    json: bool = JSON,
) -> None:
    """List the differences between two runs, and the numbers that changed."""
    from blimpworks.audit.diff import as_json, as_text, compare_runs

    comparison = compare_runs(first, second)
    typer.echo(as_json(comparison) if json else as_text(comparison, all_numbers))
