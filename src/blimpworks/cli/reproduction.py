"""Define commands that build tables and figures, and compare printed numbers with others.

``commands/declare.py`` explains the arguments of ``@command``, and the jobs (``NAME.job``).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from blimpworks.commands import shared
from blimpworks.commands.declare import REPRODUCE, command
from blimpworks.commands.options import argument, json_option, option
from blimpworks.errors import UserError
from blimpworks.records.job import Command, Planned

if TYPE_CHECKING:
    from blimpworks.campaign.paper import ExhibitSpec
    from blimpworks.reproduction.comparisons import Paper

PRINTED_OPTION = option("Directory of printed numbers, one below per paper.")
PAPERS = option("Paper to compare.", "--paper")


def _cells_by_exhibit(cells: Sequence[Path], paper: str) -> dict[str, Path]:
    return {path.name.split(".")[0]: path for path in cells if path.parent.name == paper}


def _papers_of(
    printed: Path,
    papers: Sequence[str],
    cells: Sequence[Path],
    accuracies: Path | None,
    published: Sequence[Path] = (),
    basis: Mapping[str, Any] | None = None,
) -> list["Paper"]:
    """Return the files of each paper to compare; the parameters are those of the commands."""
    from blimpworks.campaign.comparability import SAME
    from blimpworks.campaign.registry import printed_folder
    from blimpworks.reproduction.comparisons import Paper
    from blimpworks.reproduction.printed import printed_files

    return [
        Paper(
            paper,
            printed_files(printed, paper),
            printed_folder(printed, paper) / "reasons.tsv",
            _cells_by_exhibit(cells, paper),
            accuracies / f"{paper}.parquet" if accuracies else None,
            _cells_by_exhibit(published, paper),
            (basis or {}).get(paper, SAME),
        )
        for paper in papers
    ]


@command(
    calls="blimpworks.reproduction.printed:read_published",
    packages=("numpy", "pyarrow", "scipy"),
    notes="accuracies",
    cheap=True,
)
def read_published(
    printed: list[Path] = argument("Tables of a paper's printed numbers."),
    benchmark: str = shared.BENCHMARK,
    output: Path = shared.OUTPUT,
) -> None:
    """Make a table of the accuracies that a paper prints."""


@command(
    "blimpworks.reproduction.comparisons:compare_published", packages=shared.STATISTICS, cheap=True
)
def compare_published(
    cells: list[Path] = argument("Cells of exhibits, …/PAPER/EXHIBIT.…"),
    printed: Path = PRINTED_OPTION,
    accuracies: Path = option("Directory of printed accuracies."),
    papers: list[str] = PAPERS,
    output: Path = shared.OUTPUT,
) -> None:
    """Compare each printed number with its value computed from the paper's other numbers."""
    from blimpworks.reproduction import comparisons

    paper_files = _papers_of(printed, papers, cells, accuracies)
    inputs, params = [*cells], {"papers": papers}
    for files in paper_files:
        reasons = [files.reasons] if files.reasons.exists() else []
        inputs += [*files.printed, *reasons, *filter(None, [files.accuracies])]
    with compare_published.job(inputs=inputs, outputs=[output], params=params) as job:
        counts = comparisons.compare_published(paper_files, output)
        job.note(**counts)
    for status, n in counts.most_common():
        typer.echo(f"{n:6} {status}")


@command(
    "blimpworks.reproduction.comparisons:compare_measured",
    packages=("numpy", "pandas", "pyarrow"),
    cheap=True,
)
def compare_measured(
    printed: Path = PRINTED_OPTION,
    papers: list[str] = PAPERS,
    output: Path = shared.OUTPUT,
    cells: list[Path] = argument("Cells of exhibits.", default=list),
    published: list[Path] = option("Cells of exhibits that show printed numbers.", default=list),
    accuracies: Path | None = option("Directory of printed accuracies."),
    basis: dict[str, Any] = json_option(
        "How the campaign's models, data and items differ from each paper's, as JSON.", default="{}"
    ),
) -> None:
    """Compare the campaign's numbers with printed numbers of the same model, language and items."""
    from blimpworks.reproduction import comparisons

    paper_files = _papers_of(printed, papers, cells, accuracies, published, basis)
    inputs = [*cells, *published]
    for files in paper_files:
        inputs += [*files.printed, *filter(None, [files.accuracies])]
    params = {"papers": papers, "basis": basis}
    with compare_measured.job(inputs=inputs, outputs=[output], params=params) as job:
        counts = comparisons.compare_measured(paper_files, output)
        job.note(**counts)
    for verdict, n in counts.most_common():
        typer.echo(f"{n:6} {verdict}")


SITE = ("itables", "jinja2", "pandas", "pyarrow", "pydata-sphinx-theme", "sphinx", "sphinx-design")
"""Packages that make the report's pages."""


@command("blimpworks.report.pages:build_report", packages=SITE)
def build_report(
    results: Path = option("Results tree of the campaign."),
    printed: Path = option("Directory of printed numbers, one per paper."),
    facts: dict[str, Any] = json_option("What the report says of the campaign, as JSON."),
    output: Path = option("Directory of the site."),
    corrected: Path | None = option("Results tree of another variant."),
    resources: Path = option("Directory of retrieved files.", default=Path("resources")),
) -> None:
    """Build the reproduction report: a static site with printed and measured numbers."""
    from blimpworks.report import pages
    from blimpworks.report.read import Campaign, input_files

    campaign = Campaign(
        printed=printed, results=results, corrected=corrected, resources=resources, **facts
    )
    # Variant and measured exhibits are parameters of their own; those in "published" are inputs.
    separate = ("variant", "measured", "published")
    params = {"variant": facts["variant"], "measured": sorted({*facts["measured"]})}
    params["facts"] = {name: fact for name, fact in facts.items() if name not in separate}
    inputs = input_files(campaign)
    with build_report.job(inputs=inputs, outputs=[output], params=params) as job:
        counts = pages.build_report(campaign, output)
        job.note(**counts)
    typer.echo(f"{output}/index.html: " + ", ".join(f"{n} {noun}" for noun, n in counts.items()))


PLOTTING = ("jinja2", "matplotlib", *shared.STATISTICS, "seaborn", "statsmodels", "tabulate")
"""Packages that make tables and figures."""


def _tables_by_need(pairs: list[str]) -> dict[str, list[Path]]:
    """Read ``["items=a", "items=b"]`` as ``{"items": [a, b]}``."""
    tables: dict[str, list[Path]] = {}
    for pair in pairs:
        need, separator, path = pair.partition("=")
        if not separator:
            raise UserError(f"--input {pair!r}: expected NEED=PATH.")
        tables.setdefault(need, []).append(Path(path))
    return tables


def _exhibits() -> Iterator[Command]:
    """Yield a command for each exhibit, so that its digest covers this exhibit's code only."""
    from blimpworks.campaign.registry import exhibits

    for spec in exhibits().values():
        entries = (spec.function, "blimpworks.exhibits.render:build_exhibit")
        yield Command(f"build_exhibit {spec.key}", entries, PLOTTING)


def _build(
    spec: "ExhibitSpec", tables: dict[str, list[Path]], labels: dict[str, Any], products: list[Path]
) -> None:
    from blimpworks.exhibits import render
    from blimpworks.exhibits.exhibit import Labels

    sources = [path for paths in tables.values() for path in paths]
    params = {"exhibit": spec.key, "labels": labels}
    with build_exhibit.job(spec.key, inputs=sources, outputs=products, params=params):
        cells, *outputs = products
        render.build_exhibit(spec, tables, Labels(**labels), cells, outputs)


@command(_exhibits, cheap=True)
def build_exhibit(
    key: str = argument("Exhibit, as PAPER/NAME."),
    outputs: list[Path] = argument("Files to write, by suffix."),
    cells: Path = option("Cells table to write."),
    inputs: list[str] = option("Table it needs, as NEED=PATH.", "--input"),
    labels: str = option("Printed names, as JSON."),
) -> None:
    """Build a table or figure from the campaign's tables."""
    from blimpworks.campaign.registry import find_exhibit

    _build(find_exhibit(key), _tables_by_need(inputs), json.loads(labels), [cells, *outputs])


@command(cheap=True)
def build_published(
    paper: str = argument("Paper whose exhibits are built."),
    folder: Path = argument("Directory to write them to."),
    inputs: list[str] = option("Table they need, as NEED=PATH.", "--input"),
    labels: str = option("Printed names and all facts, as JSON."),
    omitted: list[str] = option("To omit: PAPER_EXHIBIT_published; repeatable.", default=list),
) -> None:
    """Build all exhibits that a paper's printed numbers determine, except the omitted ones."""
    from blimpworks.campaign.paper import FORMATS
    from blimpworks.campaign.registry import exhibits

    tables, all_labels = _tables_by_need(inputs), json.loads(labels)
    for spec in exhibits().values():
        if spec.paper != paper or not spec.published or spec.published_alias in omitted:
            continue
        needed = {need: tables.get(need, []) for need in (*spec.published, *spec.optional)}
        facts = {name: all_labels["facts"][name] for name in spec.facts}
        suffixes = ("cells.parquet", *FORMATS[spec.kind])
        products = [folder / f"{spec.name}.{suffix}" for suffix in suffixes]
        # A job for each exhibit, so that its record has no tables of other exhibits. If jobs are
        # only planned, opening a job raises ``Planned``; then the next exhibit is planned too.
        with suppress(Planned):
            _build(spec, needed, all_labels | {"facts": facts}, products)
            typer.echo(f"{spec.key}: {spec.title}")


@command(panel=REPRODUCE, example="list-exhibits")
def list_exhibits(
    printed: Path = option("Directory of printed numbers.", default=Path("config/published")),
) -> None:
    """List in Markdown all tables and figures of the papers, with the targets that rebuild them."""
    from blimpworks.report.inventory import LIST, page, read_inventory

    typer.echo(page(read_inventory(printed / LIST)), nl=False)
