"""How many items a declared benchmark has, by its files, where all of them are on the disk."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from blimpworks.benchmarks.build import read_items
from blimpworks.benchmarks.files import local_files
from blimpworks.benchmarks.paper import Declared
from blimpworks.campaign.catalogue import SourceRow
from blimpworks.retrieval.sources import Pin, in_mirror, retrieve


def count_items(
    declared: Declared, resources: Path, mirror: Path | None, most: int | None
) -> Mapping[str, int] | None:
    """Items of each language, at most so many of each paradigm; None without all of the files.

    Copies in a mirror count if they are what was pinned. Raises UserError for a malformed file, or
    a copy that is another.
    """
    with TemporaryDirectory() as folder:
        named = local_files(declared.folder)
        for row in declared.rows_of(declared.declared.data):
            path = _file_of(row, resources, mirror, Path(folder))
            if path is None:
                return None
            named[row.name] = path
        counts: Counter[str] = Counter()
        groups = Counter(
            (item.lang, item.phenomenon, item.paradigm)
            for item in read_items(declared.declared, declared.folder, named, [])
        )
    for (lang, _, _), number in groups.items():
        counts[lang] += min(number, most or number)
    return counts


def _file_of(row: SourceRow, resources: Path, mirror: Path | None, folder: Path) -> Path | None:
    """The file of a source: retrieved, or unpacked from a mirror into a folder; else None."""
    retrieved = resources / "sources" / row.name
    pin = replace(Pin.of(row, Path()), catalogue="")  # beside which nothing is to be recorded
    if retrieved.is_file():
        return retrieved
    if not (row.sha256 or row.git_blob) or in_mirror(pin, mirror) is None:
        return None
    output = folder / row.name
    output.parent.mkdir(parents=True, exist_ok=True)
    retrieve(pin, output, mirror)
    return output
