"""Define commands that build tables and figures."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import typer

from blimpworks.campaign.exhibits import exhibits
from blimpworks.commands.declare import REPRODUCE, command
from blimpworks.commands.options import argument, option
from blimpworks.errors import UserError
from blimpworks.records.commands import Command
from blimpworks.records.job import Planned

PLOTTING = (
    "matplotlib",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "seaborn",
    "statsmodels",
    "tabulate",
)
"""Packages that make tables and figures."""


def _needs(pairs: list[str]) -> dict[str, list[Path]]:
    """Read ``["items=a", "items=b"]`` as ``{"items": [a, b]}``."""
    tables: dict[str, list[Path]] = {}
    for pair in pairs:
        need, separator, path = pair.partition("=")
        if not separator:
            raise UserError(f"--input {pair!r}: expected NEED=PATH.")
        tables.setdefault(need, []).append(Path(path))
    return tables


def _exhibits() -> Iterator[Command]:
    for spec in exhibits().values():
        entries = (spec.function, "blimpworks.exhibits.render:build_exhibit")
        yield Command(f"build_exhibit {spec.key}", entries, PLOTTING)


@command(_exhibits, cheap=True)
def build_exhibit(
    key: str = argument("Exhibit, as PAPER/NAME."),
    outputs: list[Path] = argument("Files to write, by suffix."),
    cells: Path = option("Cells table to write."),
    inputs: list[str] = option("Table it needs, as NEED=PATH.", "--input"),
    labels: str = option("Printed names, as JSON."),
) -> None:
    """Build a table or figure from the campaign's tables."""
    from blimpworks.campaign.exhibits import find_exhibit
    from blimpworks.exhibits.exhibit import Labels
    from blimpworks.exhibits.render import build_exhibit as build

    spec, tables, names = find_exhibit(key), _needs(inputs), json.loads(labels)
    sources = [path for paths in tables.values() for path in paths]
    params = {"exhibit": key, "labels": names}
    products = [cells, *outputs]
    with build_exhibit.job(key, inputs=sources, outputs=products, params=params):
        build(spec, tables, Labels(**names), cells, outputs)


@command(cheap=True)
def build_published(
    paper: str = argument("Paper whose exhibits are built."),
    folder: Path = argument("Directory to write them to."),
    inputs: list[str] = option("Table they need, as NEED=PATH.", "--input"),
    labels: str = option("Printed names and all facts, as JSON."),
) -> None:
    """Build every table and figure of a paper that its printed numbers make."""
    from blimpworks.campaign.exhibit_spec import FORMATS
    from blimpworks.campaign.exhibits import exhibits
    from blimpworks.exhibits.exhibit import Labels
    from blimpworks.exhibits.render import build_exhibit as build

    tables, names = _needs(inputs), json.loads(labels)
    for spec in exhibits().values():
        if spec.paper != paper or not spec.published:
            continue
        used = {
            table_kind: tables.get(table_kind, [])
            for table_kind in (*spec.published, *spec.optional)
        }
        chosen = names | {"facts": {name: names["facts"][name] for name in spec.facts}}
        products = [folder / f"{spec.name}.{s}" for s in ("cells.parquet", *FORMATS[spec.kind])]
        sources = [path for paths in used.values() for path in paths]
        params = {"exhibit": spec.key, "labels": chosen}
        # A record each, so that one exhibit does not depend on the tables of all.
        with (
            suppress(Planned),
            build_exhibit.job(spec.key, inputs=sources, outputs=products, params=params),
        ):
            build(spec, used, Labels(**chosen), products[0], products[1:])
            typer.echo(f"{spec.key}: {spec.title}")


@command(panel=REPRODUCE, example="list-exhibits")
def list_exhibits(
    printed: Path = option("Directory of printed numbers.", default=Path("config/published")),
) -> None:
    """List every table and figure of the papers, and what rebuilds it, in Markdown."""
    from blimpworks.report.inventory import LIST, page, read_inventory

    typer.echo(page(read_inventory(printed / LIST)), nl=False)
