"""Adoption of results from elsewhere without making them again."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from blimpworks.audit.stale import TARGETS
from blimpworks.errors import UserError

ROOM = 1_000_000
"""Bytes of the names on a command line; Linux takes two million, with the environment."""


def _snakemake(campaign: Path, *arguments: str) -> str:
    """Return Snakemake's output. Raises UserError with its last lines where it fails."""
    command = [sys.executable, "-m", "snakemake", "--configfile", str(campaign), "--cores", "1"]
    command += ["--no-hooks", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()][-4:]
        raise UserError(f"Snakemake could not take over {campaign}: {' '.join(last)}")
    return done.stdout


def command_lines(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Split names, in order, into tuples that fit on a command line."""
    longest = max(len(os.fsencode(name)) for name in names) + 1 if names else 1
    remaining = iter(names)
    while some := tuple(islice(remaining, ROOM // longest)):
        yield some


def adopt(campaign: Path) -> int:
    """Make Snakemake treat existing products as up to date; return their number.

    Snakemake compares ages and its own memory of runs, which a copy lacks. The caller checks that
    the products are the campaign's. Raises UserError where a product exists and its inputs do not.
    """
    names: list[str] = []
    files: set[str] = set()
    for target in TARGETS:
        rows = [row.split("\t") for row in _snakemake(campaign, "--summary", target).splitlines()]
        products = [*dict.fromkeys(row[0] for row in rows[1:] if len(row) > 1)]
        existing = [product for product in products if Path(product).exists()]
        # Products of a whole paper are no targets one by one.
        names += [target] if existing == products else existing if target == TARGETS[0] else []
        files |= {*existing}
    for some in command_lines(names):
        _snakemake(campaign, "--touch", "--rerun-triggers", "mtime", "--", *some)
    return len(files)
