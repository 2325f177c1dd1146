"""Writing of a crate: choose, verify, copy, describe; atomically."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import pandas as pd

from blimpworks import __version__
from blimpworks.audit.lineage import jobs_behind
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.registry import find_paper
from blimpworks.errors import UserError
from blimpworks.files import whole_directory, write_text
from blimpworks.interop.crate.graph import WORKFLOW, write_graph
from blimpworks.interop.crate.tables import (
    CODE,
    Plan,
    Wish,
    all_cells,
    authors_of,
    copy_tables,
    find_exhibits,
    licences_behind,
    require_unaltered,
    results_of,
    sources_behind,
    tables_behind,
    write_csv,
)
from blimpworks.interop.crate.words import dictionary, formulas_text, readme
from blimpworks.interop.croissant import export_items, write_croissant
from blimpworks.records.job import REPOSITORY
from blimpworks.records.places import relative_texts

REPRODUCTION = ("published.csv", "measured.csv")
"""Comparisons with the printed numbers."""


def plan_crate(
    results: Path, campaign_file: Path, wish: Wish, run: Callable[[list[str]], object]
) -> Plan:
    """Choose the contents of a crate, hash all files behind it, and make exhibits again.

    ``run`` runs a command line of this package in this process. Raises UserError when the results
    are missing, are not the campaign's, or lack a requested exhibit. Likewise when they differ from
    their records or from what their jobs make again.
    """
    campaign = load_campaign(campaign_file)
    results = results_of(campaign, campaign_file, results)
    exhibits = find_exhibits(results, wish.exhibits)
    comparisons = [results / "reproduction" / name for name in REPRODUCTION]
    comparisons = [path for path in comparisons if path.is_file() and not wish.exhibits]
    jobs = jobs_behind([*(exhibit.cells for exhibit in exhibits), *comparisons])
    require_unaltered(jobs, results, run)
    behind = tables_behind(exhibits, wish.tables, jobs)
    table_kinds = set(behind["source"])
    if unknown := [table_kind for table_kind in wish.tables if table_kind not in table_kinds]:
        raise UserError(
            f"there are no {unknown[0]!r} tables behind these exhibits; there are: "
            f"{', '.join(sorted(table_kinds))}, and scores."
        )
    return Plan(
        results,
        campaign,
        campaign_file,
        jobs,
        authors_of(wish),
        wish.gzip,
        exhibits,
        comparisons,
        behind,
    )


@contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """Yield a new directory that becomes ``path``. Raises UserError where that is not empty."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(
            f"{path} already exists and is not an empty directory; remove it, or give another."
        )
    with whole_directory(path) as temporary:
        yield temporary


def write_crate(plan: Plan, output: Path) -> str:
    """Write the planned crate to ``output``; say what is in it. Raises as ``new_directory``."""
    pathvars, jobs = plan.campaign.pathvars, plan.jobs
    relative = relative_texts(
        {"results": Path(pathvars.results), "resources": Path(pathvars.resources)}
    )
    pinned = sources_behind(jobs, plan.campaign)
    licences = licences_behind(jobs, pinned, plan.results)
    exhibit_files = [
        path
        for exhibit in plan.exhibits
        for entry in jobs.makers[jobs.key(exhibit.cells)]["outputs"]
        if (path := Path(entry["path"])).parent == exhibit.cells.parent and path != exhibit.cells
    ]
    finished = {
        path: path.relative_to(plan.results) for path in [*exhibit_files, *plan.comparisons]
    }
    campaign = Path("config", plan.campaign_file.name)
    rules = sorted((REPOSITORY / "workflow/rules").glob("*.smk"))
    workflow = [REPOSITORY / "Snakefile", REPOSITORY / WORKFLOW, *rules]
    if absent := [path for path in workflow if not path.is_file()]:
        raise UserError(f"{absent[0]} does not exist; export from a checkout of the repository.")
    files = jobs.behind(*(exhibit.cells for exhibit in plan.exhibits), *plan.comparisons)
    title = f"Results of the campaign {plan.campaign.campaign}"
    papers = dict.fromkeys(exhibit.paper for exhibit in plan.exhibits)
    citations = [find_paper(name).citation for name in papers]
    with new_directory(output) as root:
        own_files = {path: path.relative_to(REPOSITORY) for path in workflow}
        for path, target in chain(finished.items(), own_files.items()):
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, root / target)
        write_text(root / campaign, relative(plan.campaign_file.read_text(encoding="utf-8")))
        finished[plan.campaign_file] = campaign
        copies = copy_tables(plan.behind, root, packed=plan.gzip)
        places = {(copy.kind, copy.original): copy.place.as_posix() for copy in copies}
        pairs = zip(plan.behind["source"], plan.behind["original"], strict=True)
        modules = [
            (record["verb"], record["code"], module, sha256)
            for record in jobs.by_output.values()
            for module, sha256 in record["sources"].items()
        ]
        cells = all_cells(plan.exhibits)
        written = {
            "cells": cells,
            # The crate's files with the rows that an exhibit's cells select from.
            "sources": plan.behind.drop(columns="original").assign(file=[places[p] for p in pairs]),
            # Modules of each version of each command.
            "code": pd.DataFrame(sorted({*modules}), columns=["verb", "code", "module", "sha256"]),
        }
        columns = {name: dict.fromkeys(map(str, frame)) for name, frame in written.items()}
        for copy in copies:
            columns.setdefault(copy.kind, {}).update(dict.fromkeys(copy.columns))
        for name, frame in {**written, "dictionary": dictionary(columns)}.items():
            write_csv(frame, root / f"{name}.csv")
        for folder in sorted(path for path in (root / "items").glob("*") if path.is_dir()):
            write_croissant(folder, plan, [*licences])
        write_text(root / "formulas.md", formulas_text(sorted(cells["formula"].unique())))
        text = readme(
            root,
            cells,
            copies,
            licences,
            [path for path in files if not path.is_file()],
            title=title,
            description=plan.campaign.description,
            citations="\n".join(citation.listed for citation in citations),
            root_hash=jobs.root_hash(),
            version=__version__,
        )
        write_text(root / "README.md", relative(text))
        csv = {copy.original: copy.place for copy in copies if copy.original.suffix == ".csv"}
        entities = write_graph(
            root,
            plan,
            title=title,
            citations=[f"{citation.text} {citation.address}".rstrip() for citation in citations],
            licences=[*licences, CODE],
            settings=campaign,
            behind=files,
            places=csv | finished,
            copies={copy.place: copy.original for copy in copies if copy.original not in csv},
            pinned=pinned,
            relative=relative,
        )
        sizes = [path.stat().st_size for path in root.rglob("*") if path.is_file()]
    contents = f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB, {len(cells)} cells"
    return f"{contents}, {len(jobs.by_output)} jobs, {entities} entities"


def export_croissant(
    results: Path,
    campaign_file: Path,
    output: Path,
    wish: Wish,
    run: Callable[[list[str]], object],
) -> list[Path]:
    """Write item sets as CSV with Croissant metadata. Raises UserError without unaltered ones."""
    campaign = load_campaign(campaign_file)
    results = results_of(campaign, campaign_file, results)
    tables = {
        folder.name: sorted(folder.glob("*.parquet"))
        for folder in sorted((results / "items").glob("*"))
    }
    jobs = jobs_behind(chain.from_iterable(tables.values()))
    require_unaltered(jobs, results, run)
    licences = [*licences_behind(jobs, sources_behind(jobs, campaign), results)]
    plan = Plan(results, campaign, campaign_file, jobs, authors_of(wish))
    with new_directory(output) as root:
        names = [
            export_items(paths, root / name, plan, licences).relative_to(root)
            for name, paths in tables.items()
        ]
    return [output / name for name in names]
