"""The licences of the files behind a crate, from the campaign's catalogue."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from blimpworks.audit.lineage import Jobs
from blimpworks.campaign.catalogue import Pinned, load_catalogue
from blimpworks.campaign.registry import benchmarks, paper_of
from blimpworks.campaign.settings.campaign import Campaign
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


def retrieved_files(jobs: Jobs) -> set[Path]:
    """Return retrieved files, whether or not the catalogue pins them now."""
    records = jobs.by_output.values()
    retrieved = (record["outputs"] for record in records if record["verb"] == "retrieve")
    return {Path(entry["path"]) for entries in retrieved for entry in entries}


def sources_behind(jobs: Jobs, campaign: Campaign) -> dict[Path, Pinned]:
    """Return retrieved files with their catalogue rows. Raises UserError for a broken catalogue."""
    catalogue = load_catalogue(campaign)
    pinned: list[Pinned] = [row for rows in catalogue.treebanks.values() for row in rows]
    rows: dict[str, Pinned] = {}
    for row in [*pinned, *catalogue.sources.values()]:
        name = getattr(row, "name", "")
        table = catalogue.tables.get(name, campaign.catalogue.treebanks)
        # Without a pin, the SHA-256 recorded when the file was first retrieved.
        locked = None if row.sha256 else locked_file(table, name, row.url)
        if sha256 := row.sha256 or (locked.sha256 if locked else ""):
            rows[sha256] = row
    return {
        path: rows[sha256]
        for path in sorted(retrieved_files(jobs))
        if (sha256 := jobs.entries[jobs.key(path)]["sha256"]) in rows
    }


def licences_of(rows: Iterable[Pinned]) -> dict[str, int]:
    """Count files under each licence, most frequent first."""
    return dict(Counter(licence_name(row.licence) for row in rows).most_common())


def licences_behind(jobs: Jobs, rows: Mapping[Path, Pinned], results: Path) -> dict[str, int]:
    """Count files under each licence: of sources, and of benchmarks that state one.

    The latter are the files from outside behind a benchmark's items. Without a known licence:
    ``UNSTATED`` with zero files.
    """
    files_by_licence: dict[str, set[Path]] = {}
    for entry in jobs.entries.values():
        table = Path(entry["path"])
        # Some papers have further tables of items, which are of no benchmark alone.
        if not table.is_relative_to(results / "items") or table.parent.name not in benchmarks():
            continue
        if stated := paper_of(table.parent.name).citation.licence:
            outside = {path for path, record in jobs.behind(table).items() if record is None}
            files_by_licence.setdefault(licence_name(stated), set()).update(outside)
    counts = Counter({name: len(files) for name, files in files_by_licence.items()})
    counts.update(licences_of(rows.values()))
    return dict(counts.most_common()) or {UNSTATED: 0}
