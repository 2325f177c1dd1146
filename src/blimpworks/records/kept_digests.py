"""A cache of code digests, beside the sources that they are digests of.

Following every definition of the package takes seconds, and every job of a cluster, like
every start of Snakemake, asks for the same digests. They are kept in ``__pycache__`` under
a key over the content of all of the package's files: any edit, whatever its time stamp, is
another key, and nothing kept before it is used.
"""

import atexit
import hashlib
import json
import os
import sys
from functools import cache
from typing import Any

from blimpworks.files import write_text
from blimpworks.records.packages import ROOT, package_folders

FILE = ROOT / "__pycache__" / f"digests-{sys.implementation.cache_tag}.json"
_new: dict[str, list[Any]] = {}


@cache
def package_digest() -> str:
    """SHA-256 over names and bytes of the packages' files, as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for name, root in package_folders().items():
        # Plain strings: every job does this at its start, and paths as objects take half of it.
        for folder, below, files in os.walk(root):
            below[:] = sorted({*below} - {"__pycache__"})
            for file in sorted(files):
                path = os.path.join(folder, file)  # noqa: PTH118
                if not os.path.isfile(path):  # noqa: PTH113
                    continue  # such as the link to nothing by which Emacs locks an edited file
                with open(path, "rb") as handle:  # noqa: PTH123
                    content = handle.read()
                place = f"{name} {folder.removeprefix(str(root))} {file} {len(content)}\n"
                digest.update(place.encode() + content)
    return digest.hexdigest()


@cache
def _kept() -> dict[str, list[Any]]:
    try:
        content = json.loads(FILE.read_text(encoding="utf-8"))
        kept: dict[str, list[Any]] = (
            content["digests"] if content["package"] == package_digest() else {}
        )
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return kept


def recall(entries: tuple[str, ...]) -> tuple[str, list[str]] | None:
    """Code digest of some entry points and the modules they reach, if they are known."""
    name = " ".join(entries)
    known = _new.get(name) or _kept().get(name)
    return (known[0], known[1]) if known else None


def remember(entries: tuple[str, ...], digest: str, modules: list[str]) -> None:
    """Keep a code digest for other processes, from when this one ends."""
    if not _new:
        atexit.register(_write)
    _new[" ".join(entries)] = [digest, modules]


def _write() -> None:
    if package_digest.__wrapped__() != package_digest():
        return  # edited meanwhile: what was computed may be of either state
    # As it is by now: other processes have added theirs.
    content = {"package": package_digest(), "digests": _kept.__wrapped__() | _new}
    try:
        write_text(FILE, json.dumps(content))
    except OSError:
        return  # somebody else's installation: it only takes longer
