"""Verbs for auditors: where a number comes from, and whether anything was altered."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer


def explain(
    exhibit: Annotated[Path, typer.Argument(help="Any file of an exhibit.")],
    row: Annotated[str, typer.Option(help="Row, as printed or by its code.")],
    column: Annotated[str, typer.Option(help="Column, as printed or by its code.")],
    items: Annotated[int, typer.Option(help="Show so many of its items.", min=0)] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Trace one number of an exhibit to its judgements, model, items and treebanks."""
    from blimpworks.provenance.explain import as_text
    from blimpworks.provenance.explain import explain as trace

    found = trace(exhibit, row, column, items)
    typer.echo(found.as_json() if json else as_text(found))


def check(
    root: Annotated[Path, typer.Argument(help="Results tree, such as results/.")],
) -> None:
    """Re-hash every product; name what was altered, is missing, stale or unaccounted for."""
    from blimpworks.provenance.check import check_tree

    products, findings = check_tree(root)
    for finding in findings:
        typer.echo(f"{finding.problem}: {finding.path}: {finding.detail}")
    kinds = Counter(finding.problem for finding in findings)
    verdict = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())) or "all as recorded"
    typer.echo(f"{products} products in and behind {root}: {verdict}.")
    raise typer.Exit(1 if findings else 0)


def register(app: typer.Typer) -> None:
    """Add these verbs to the command line."""
    app.command()(explain)
    app.command()(check)
