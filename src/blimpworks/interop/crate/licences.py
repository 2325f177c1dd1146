"""The licences of the files behind a crate, from the campaign's catalogue."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from blimpworks.campaign.catalogue import Catalogue, Pinned, load_catalogue
from blimpworks.campaign.registry import benchmarks, paper_of
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.interop.crate.select import Trace
from blimpworks.retrieval.sources import locked_file

UNSTATED = "licence not stated by the source"
CODE, DATA = "Apache-2.0", "CC0-1.0"
"""Licences of our code, and of our data: word lists, declarations and what they generate."""
NAMES = {"CC0": "CC0-1.0", "GNU GPL 3.0": "GPL-3.0-only", "C-UDA 1.0": "C-UDA-1.0"}
"""SPDX's names of licences with other names in the catalogue."""
CREATIVE_COMMONS = re.compile(r"CC[ -](BY(?:-NC)?(?:-SA|-ND)?) (\d\.\d)")
SPDX = re.compile(r"CC0-1\.0|CC-BY[A-Z-]*-\d\.\d|GPL-3\.0-only|C-UDA-1\.0|Apache-2\.0|MIT")


def licence_name(stated: str) -> str:
    """Return a licence's SPDX name if it has one.

    >>> licence_name("CC BY-NC-SA 4.0")
    'CC-BY-NC-SA-4.0'
    """
    if match := CREATIVE_COMMONS.match(stated):
        return f"CC-{match[1]}-{match[2]}"
    return NAMES.get(stated, stated) or UNSTATED


def licence_url(name: str) -> str | None:
    """Return SPDX's page of a licence, None without one."""
    return f"https://spdx.org/licenses/{name}" if SPDX.fullmatch(name) else None


def catalogue_rows(campaign: Campaign) -> dict[str, Pinned]:
    """Return the campaign's source files by SHA-256. Raises UserError for a broken catalogue."""
    catalogue = load_catalogue(campaign)
    rows: list[Pinned] = [row for rows in catalogue.treebanks.values() for row in rows]
    rows += catalogue.sources.values()
    return {sha: row for row in rows if (sha := row.sha256 or _recorded(row, campaign, catalogue))}


def _recorded(row: Pinned, campaign: Campaign, catalogue: Catalogue) -> str:
    """Return the SHA-256 recorded when a file was first retrieved; empty without one."""
    name = getattr(row, "name", "")
    table = catalogue.tables.get(name, campaign.catalogue.treebanks)
    locked = locked_file(table, name, row.url)
    return locked.sha256 if locked else ""


def retrieved_files(trace: Trace) -> set[Path]:
    """Return retrieved files of a trace, whether or not the catalogue pins them now."""
    return {
        path
        for path, record in trace.records.items()
        if record is not None and record["verb"] == "retrieve"
    }


def sources_behind(trace: Trace, campaign: Campaign) -> dict[Path, Pinned]:
    """Return retrieved files in a trace, with their rows of the catalogue."""
    rows = catalogue_rows(campaign)
    return {
        path: rows[sha]
        for path in sorted(retrieved_files(trace))
        if (sha := trace.sha256(path)) in rows
    }


def licences_of(rows: Iterable[Pinned]) -> dict[str, int]:
    """Count files under each licence, most frequent first."""
    return dict(Counter(licence_name(row.licence) for row in rows).most_common())


def licences_behind(trace: Trace, rows: Mapping[Path, Pinned], results: Path) -> dict[str, int]:
    """Count files under each licence: of sources, and of benchmarks that state one.

    The latter are the files from outside behind a benchmark's items. Without a known licence:
    ``UNSTATED`` with zero files.
    """
    files_by_licence: dict[str, set[Path]] = {}
    for table in trace.records:
        # Some papers have further tables of items, which are of no benchmark alone.
        if not table.is_relative_to(results / "items") or table.parent.name not in benchmarks():
            continue
        if stated := paper_of(table.parent.name).citation.licence:
            files = {path for path in trace.behind(table) if trace.records[path] is None}
            files_by_licence.setdefault(licence_name(stated), set()).update(files)
    counts = Counter({name: len(files) for name, files in files_by_licence.items()})
    counts.update(licences_of(rows.values()))
    return dict(counts.most_common()) or {UNSTATED: 0}
