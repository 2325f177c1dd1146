"""Writing of a crate: choose, verify, copy, describe; atomically."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from pathlib import Path

import pandas as pd

from blimpworks import __version__
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.paper import Citation
from blimpworks.campaign.registry import find_benchmark, find_paper
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.files import whole_directory, write_text
from blimpworks.interop.crate.graph import WORKFLOW, About, Graph, write_graph
from blimpworks.interop.crate.licences import CODE, DATA, licences_behind, sources_behind
from blimpworks.interop.crate.select import (
    Shown,
    Trace,
    find_exhibits,
    require_unaltered,
    results_of,
    trace_back,
)
from blimpworks.interop.crate.tables import (
    Copied,
    all_cells,
    copy_tables,
    sources_of,
    tables_behind,
    write_csv,
)
from blimpworks.interop.crate.words import dictionary, formulas_text, readme
from blimpworks.interop.croissant import Facts, export_items, write_croissant
from blimpworks.records.job import REPOSITORY
from blimpworks.records.places import relative_texts
from blimpworks.yaml_files import read_yaml

REPRODUCTION = ("published.csv", "measured.csv")
"""Comparisons with the printed numbers."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A user's choices: exhibits by paper/name (none: all), further kinds of tables."""

    exhibits: Sequence[str] = ()
    tables: Sequence[str] = ()
    gzip: bool = False
    authors: Sequence[str] = ()


@dataclass
class Plan:
    """The verified contents of a crate that is not written yet."""

    results: Path
    campaign: Campaign
    campaign_file: Path
    exhibits: list[Shown]
    trace: Trace
    behind: pd.DataFrame
    comparisons: list[Path]
    wish: Wish = field(default_factory=Wish)

    @property
    def title(self) -> str:
        """Title of the crate."""
        return f"Results of the campaign {self.campaign.campaign}"

    @cached_property
    def relative(self) -> Callable[[str], str]:
        """Function that removes the paths of this machine from a text."""
        pathvars = self.campaign.pathvars
        roots = {"results": Path(pathvars.results), "resources": Path(pathvars.resources)}
        return relative_texts(roots)

    def inputs(self) -> list[Path]:
        """Return the files that the crate is made of."""
        tables = self.behind["original"].drop_duplicates()
        cells = [exhibit.cells for exhibit in self.exhibits]
        return [self.campaign_file, *cells, *tables, *self.comparisons]


@dataclass(frozen=True, slots=True)
class Summary:
    """Numbers of a crate's files, bytes, entities, jobs and cells."""

    files: int
    bytes: int
    entities: int
    jobs: int
    cells: int


def authors_of(wish: Wish) -> list[str]:
    """Return authors that the user names, else those of the software."""
    if wish.authors:
        return list(wish.authors)
    stated = read_yaml(REPOSITORY / "CITATION.cff", "the software's authors")
    return [author["name"] for author in stated["authors"]]


def plan_crate(
    results: Path, campaign_file: Path, wish: Wish, run: Callable[[list[str]], object]
) -> Plan:
    """Choose the contents of a crate, hash all files behind it, and make exhibits again.

    ``run`` runs a command line of this package in this process. Raises UserError when the results
    are missing, are not the campaign's, or lack a requested exhibit. Likewise when they differ from
    their records or from what their jobs make again.
    """
    campaign = load_campaign(campaign_file)
    own_results = results_of(campaign, campaign_file, results)
    exhibits = find_exhibits(own_results, wish.exhibits)
    comparisons_too = () if wish.exhibits else REPRODUCTION
    comparisons = [
        path for name in comparisons_too if (path := own_results / "reproduction" / name).is_file()
    ]
    trace = trace_back([*(exhibit.cells for exhibit in exhibits), *comparisons])
    require_unaltered(trace, own_results, run)
    behind = tables_behind(exhibits, wish.tables)
    table_kinds = set(behind["source"])
    if unknown := [table_kind for table_kind in wish.tables if table_kind not in table_kinds]:
        raise UserError(
            f"there are no {unknown[0]!r} tables behind these exhibits; there are: "
            f"{', '.join(sorted(table_kinds))}, and scores."
        )
    return Plan(own_results, campaign, campaign_file, exhibits, trace, behind, comparisons, wish)


@contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """Yield a new directory that becomes ``path`` once the block succeeds.

    Raises UserError when ``path`` exists and is not an empty directory.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(
            f"{path} already exists and is not an empty directory; remove it, or give another."
        )
    with whole_directory(path) as temporary:
        yield temporary


def _finished(plan: Plan) -> Iterator[tuple[Path, Path]]:
    """Yield finished files and their places: exhibits, comparisons, the campaign's file."""
    for exhibit in plan.exhibits:
        folder = exhibit.cells.parent
        record = plan.trace.records[exhibit.cells]
        assert record is not None
        for path in (Path(entry["path"]) for entry in record["outputs"]):
            if path.parent == folder and path != exhibit.cells:
                yield path, path.relative_to(plan.results)
    for path in plan.comparisons:
        yield path, path.relative_to(plan.results)
    yield plan.campaign_file, Path("config", plan.campaign_file.name)


def _workflow_files() -> Iterator[tuple[Path, Path]]:
    names = ["Snakefile", WORKFLOW]
    rules = sorted((REPOSITORY / "workflow/rules").glob("*.smk"))
    for path in (*(REPOSITORY / name for name in names), *rules):
        if not path.is_file():
            raise UserError(f"{path} does not exist; export from a checkout of the repository.")
        yield path, path.relative_to(REPOSITORY)


def _code(trace: Trace) -> pd.DataFrame:
    """Return modules of each version of each command: columns verb, code, module, sha256."""
    rows = [
        (record["verb"], record["code"], module, sha)
        for record in trace.jobs()
        for module, sha in record["sources"].items()
    ]
    frame = pd.DataFrame(rows, columns=["verb", "code", "module", "sha256"])
    return frame.drop_duplicates().sort_values(["verb", "code", "module"], ignore_index=True)


def _facts(plan: Plan, benchmark: str, licences: Sequence[str]) -> Facts:
    own_words = find_benchmark(benchmark).own_words
    folder = plan.results / "items" / benchmark
    tables = {path for path in plan.trace.records if path.is_relative_to(folder)}
    behind = tables.union(*map(plan.trace.behind, tables))
    records = {path: plan.trace.records[path] for path in behind}
    jobs = sorted((r for r in records.values() if r is not None), key=lambda r: r["started"])
    ended = max(record["ended"] for record in plan.trace.jobs())
    return Facts(
        benchmark,
        f"{benchmark}-{plan.campaign.campaign}",
        f"Items of {benchmark}, campaign {plan.campaign.campaign}. "
        f"{plan.campaign.description}".strip(),
        authors_of(plan.wish),
        # Whatever else the campaign is made of, these pairs are of our own words.
        [DATA] if own_words else licences,
        # The day of the last job, not today: the same results look the same.
        datetime.fromisoformat(ended[:10]).replace(tzinfo=UTC),
        __version__,
        list(dict.fromkeys(record["verb"] for record in jobs)),
        own_words,
    )


def _citations(plan: Plan) -> list[Citation]:
    names = dict.fromkeys(exhibit.paper for exhibit in plan.exhibits)
    return [find_paper(name).citation for name in names]


def _write_words(plan: Plan, root: Path, copies: Sequence[Copied], licences: dict[str, int]) -> int:
    """Write README and formulas; return the number of cells."""
    cells = all_cells(plan.exhibits)
    write_text(root / "formulas.md", formulas_text(sorted(cells["formula"].unique())))
    text = readme(
        root,
        plan.title,
        plan.campaign.description,
        cells,
        copies,
        licences,
        [citation.listed for citation in _citations(plan)],
        plan.trace.gone,
        plan.trace.root_hash(),
        __version__,
    )
    write_text(root / "README.md", plan.relative(text))
    return len(cells)


def write_crate(plan: Plan, output: Path) -> Summary:
    """Write the planned crate to the directory ``output``. Raises as ``new_directory``."""
    rows = sources_behind(plan.trace, plan.campaign)
    licences = licences_behind(plan.trace, rows, plan.results)
    with new_directory(output) as root:
        for path, target in chain(_finished(plan), _workflow_files()):
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, root / target)
        settings = root / "config" / plan.campaign_file.name
        write_text(settings, plan.relative(settings.read_text(encoding="utf-8")))
        copies = copy_tables(plan.behind, root, packed=plan.wish.gzip)
        written = {
            "cells": all_cells(plan.exhibits),
            "sources": sources_of(plan.behind, copies),
            "code": _code(plan.trace),
        }
        for name, frame in written.items():
            write_csv(frame, root / f"{name}.csv")
        columns = {name: dict.fromkeys(map(str, frame)) for name, frame in written.items()}
        for copy in copies:
            columns.setdefault(copy.kind, {}).update(dict.fromkeys(copy.columns))
        write_csv(dictionary(columns), root / "dictionary.csv")
        for folder in sorted(path for path in (root / "items").glob("*") if path.is_dir()):
            write_croissant(folder, _facts(plan, folder.name, list(licences)))
        cells = _write_words(plan, root, copies, licences)
        about = About(
            plan.title,
            plan.campaign.description or plan.title,
            authors_of(plan.wish),
            __version__,
            f"config/{plan.campaign_file.name}",
            [f"{cited.text} {cited.address}".rstrip() for cited in _citations(plan)],
        )
        unchanged = {copy.original: copy.place for copy in copies if copy.original.suffix == ".csv"}
        unchanged |= dict(_finished(plan))
        entities = write_graph(
            Graph(root, plan.trace, unchanged, rows, plan.relative),
            about,
            {copy.place: copy.original for copy in copies if copy.original.suffix != ".csv"},
            [
                target
                for _, target in _finished(plan)
                if target.parts[0] in ("exhibits", "published")
            ],
            [*licences, CODE],
        )
        files = [path for path in root.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
    return Summary(len(files), size, entities, len(plan.trace.jobs()), cells)


def export_croissant(
    results: Path,
    campaign_file: Path,
    output: Path,
    wish: Wish,
    run: Callable[[list[str]], object],
) -> list[Path]:
    """Write the item sets of each benchmark as CSV with Croissant metadata; return these.

    Raises UserError when there are none, or when a table differs from its record.
    """
    campaign = load_campaign(campaign_file)
    own_results = results_of(campaign, campaign_file, results)
    tables = {
        folder.name: sorted(folder.glob("*.parquet"))
        for folder in sorted((own_results / "items").glob("*"))
    }
    trace = trace_back(chain.from_iterable(tables.values()))
    require_unaltered(trace, own_results, run)
    rows = sources_behind(trace, campaign)
    licences = [*licences_behind(trace, rows, own_results)]
    plan = Plan(own_results, campaign, campaign_file, [], trace, pd.DataFrame(), [], wish)
    with new_directory(output) as root:
        names = [
            export_items(paths, root / name, _facts(plan, name, licences)).relative_to(root)
            for name, paths in tables.items()
        ]
    return [output / name for name in names]
