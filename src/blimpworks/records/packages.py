"""The packages whose code decides products: this one, and those that register papers."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "blimpworks"
GROUP = f"{PACKAGE}.papers"
"""Entry points of this group register papers of other distributions."""
ROOT = Path(__file__).resolve().parent.parent


@cache
def registered_papers() -> tuple[EntryPoint, ...]:
    """Return the entry points of papers of other distributions, sorted by name."""
    return tuple(sorted(entry_points(group=GROUP), key=lambda entry: entry.name))


@cache
def package_folders() -> dict[str, Path]:
    """Return the folder of each top-level package that digests follow, by name."""
    folders = {PACKAGE: ROOT}
    for entry in registered_papers():
        package = entry.module.partition(".")[0]
        spec = find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            folders.setdefault(package, Path(place))
    return folders
