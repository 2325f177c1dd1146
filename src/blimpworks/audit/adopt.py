"""Results from elsewhere, taken over without making them again."""

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
    """What Snakemake prints. Raises UserError with its last lines where it fails."""
    command = [sys.executable, "-m", "snakemake", "--configfile", str(campaign), "--cores", "1"]
    command += ["--no-hooks", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()][-4:]
        raise UserError(f"Snakemake could not take over {campaign}: {' '.join(last)}")
    return done.stdout


def _products(campaign: Path, target: str) -> list[str]:
    """Every product behind a target, there or not."""
    rows = [row.split("\t") for row in _snakemake(campaign, "--summary", target).splitlines()]
    return [*dict.fromkeys(row[0] for row in rows[1:] if len(row) > 1)]


def command_lines(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Names in order, as many at a time as a command line can have."""
    longest = max(len(os.fsencode(name)) for name in names) + 1 if names else 1
    left = iter(names)
    while some := tuple(islice(left, ROOM // longest)):
        yield some


def adopt(campaign: Path) -> int:
    """Have Snakemake take the products that exist for up to date, as if it had made them here.

    It compares ages and remembers what it has run; a copy has other ages and no memory. Whether
    the products are what the campaign would make is for the caller to check. Returns how many
    there are.

    Raises UserError where a product is there and what it was made from is not.
    """
    names: list[str] = []
    files: set[str] = set()
    for target in TARGETS:
        products = _products(campaign, target)
        there = [product for product in products if Path(product).exists()]
        # Products of a whole paper are no targets one by one.
        names += [target] if there == products else there if target == TARGETS[0] else []
        files |= {*there}
    for some in command_lines(names):
        _snakemake(campaign, "--touch", "--rerun-triggers", "mtime", "--", *some)
    return len(files)
