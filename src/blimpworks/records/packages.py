"""The packages whose code decides products: this one, and those that register papers or engines."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "blimpworks"
GROUP = f"{PACKAGE}.papers"
"""Entry points of this group register papers of other distributions."""
ENGINES = f"{PACKAGE}.engines"
"""Entry points of this group register engines."""
ROOT = Path(__file__).resolve().parent.parent


@cache
def entries_of(group: str) -> tuple[EntryPoint, ...]:
    """Return what other distributions register in a group, sorted by name."""
    return tuple(sorted(entry_points(group=group), key=lambda entry: entry.name))


@cache
def package_folders() -> dict[str, Path]:
    """Return the folder of each top-level package that digests follow, by name."""
    folders = {PACKAGE: ROOT}
    for entry in (*entries_of(GROUP), *entries_of(ENGINES)):
        package = entry.module.partition(".")[0]
        spec = find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            folders.setdefault(package, Path(place))
    return folders
