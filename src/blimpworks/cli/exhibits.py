"""The verbs that build tables and figures."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from blimpworks.audit.verbs import exhibit_verb
from blimpworks.errors import UserError
from blimpworks.records.job import Job, Planned


def _needs(pairs: list[str]) -> dict[str, list[Path]]:
    """``["items=a", "items=b"]`` as ``{"items": [a, b]}``."""
    found: dict[str, list[Path]] = {}
    for pair in pairs:
        need, separator, path = pair.partition("=")
        if not separator:
            raise UserError(f"--input {pair!r}: expected NEED=PATH.")
        found.setdefault(need, []).append(Path(path))
    return found


def build_exhibit(
    key: Annotated[str, typer.Argument(help="Exhibit, as PAPER/NAME.")],
    outputs: Annotated[list[Path], typer.Argument(help="Files to write, by suffix.")],
    cells: Annotated[Path, typer.Option(help="Cells table to write.")],
    inputs: Annotated[list[str], typer.Option("--input", help="Table it needs, as NEED=PATH.")],
    labels: Annotated[str, typer.Option(help="Printed names, as JSON.")],
) -> None:
    """Build a table or figure from the campaign's tables."""
    from blimpworks.campaign.exhibits import find_exhibit
    from blimpworks.exhibits.build import build_exhibit as build
    from blimpworks.exhibits.exhibit import Labels

    spec, tables, names = find_exhibit(key), _needs(inputs), json.loads(labels)
    sources = [path for paths in tables.values() for path in paths]
    params = {"exhibit": key, "labels": names}
    made = [cells, *outputs]
    with Job(exhibit_verb(spec), inputs=sources, outputs=made, params=params):
        build(spec, tables, Labels(**names), cells, outputs)


def build_published(
    paper: Annotated[str, typer.Argument(help="Paper whose exhibits are built.")],
    folder: Annotated[Path, typer.Argument(help="Directory to write them to.")],
    inputs: Annotated[list[str], typer.Option("--input", help="Table they need, as NEED=PATH.")],
    labels: Annotated[str, typer.Option(help="Printed names and all facts, as JSON.")],
) -> None:
    """Build every table and figure of a paper that its printed numbers make."""
    from blimpworks.campaign.exhibit_spec import FORMATS
    from blimpworks.campaign.exhibits import exhibits
    from blimpworks.exhibits.build import build_exhibit as build
    from blimpworks.exhibits.exhibit import Labels

    tables, names = _needs(inputs), json.loads(labels)
    for spec in exhibits().values():
        if spec.paper != paper or not spec.published:
            continue
        used = {kind: tables.get(kind, []) for kind in (*spec.published, *spec.optional)}
        chosen = names | {"facts": {name: names["facts"][name] for name in spec.facts}}
        made = [folder / f"{spec.name}.{s}" for s in ("cells.parquet", *FORMATS[spec.kind])]
        sources = [path for paths in used.values() for path in paths]
        params = {"exhibit": spec.key, "labels": chosen}
        # A record each: what is asked of one exhibit is not answered with all of them.
        with (
            suppress(Planned),
            Job(exhibit_verb(spec), inputs=sources, outputs=made, params=params),
        ):
            build(spec, used, Labels(**chosen), made[0], made[1:])
            typer.echo(f"{spec.key}: {spec.title}")


def list_exhibits(
    printed: Annotated[Path, typer.Option(help="Directory of printed numbers.")] = Path(
        "config/published"
    ),
) -> None:
    """List every table and figure of the papers, and what rebuilds it, in Markdown."""
    from blimpworks.report.inventory import LIST, page, read_inventory

    typer.echo(page(read_inventory(printed / LIST)), nl=False)


def register(app: typer.Typer) -> None:
    """Add these verbs to the command line."""
    app.command()(build_exhibit)
    app.command()(build_published)
    app.command()(list_exhibits)
