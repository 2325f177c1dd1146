"""Read from Snakemake's dry run which jobs a run would start."""

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from blimpworks.campaign.parts import ANSWERS_SUFFIX
from blimpworks.errors import UserError

# The messages of the rules that score or answer, and of `retrieve`.
SCORED = re.compile(r"^ *Job \d+: Score with (\S+) \((\S+)\)$", re.MULTILINE)
ANSWERED = re.compile(r"^ *Job \d+: Answer with (\S+) \((\S+)\)$", re.MULTILINE)
RETRIEVED = re.compile(r"^Job \d+: Retrieve (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DryRun:
    """Jobs that a run would start."""

    rules: dict[str, int]
    """Number of jobs by rule."""
    scored: frozenset[tuple[str, str]] | None
    """Model (or title) and part of each job that scores or answers; None when Snakemake's output
    does not tell.
    """
    retrieved: tuple[str, ...]
    """Files to retrieve, relative to the resources directory."""
    seconds: float
    """Duration of the dry run."""


def read_dry_run(said: str, seconds: float) -> DryRun:
    """Read the jobs from the output of a dry run."""
    rules: dict[str, int] = {}
    if "Job stats:\n" in said:
        table = said.rsplit("Job stats:\n", 1)[1].split("\n\n", maxsplit=1)[0]
        rows = (line.split() for line in table.splitlines()[2:])
        rules = {row[0]: int(row[1]) for row in rows if len(row) == 2}
        rules.pop("total", None)
    answered = ((f"{model}{ANSWERS_SUFFIX}", part) for model, part in ANSWERED.findall(said))
    scored = frozenset([*SCORED.findall(said), *answered])
    number = sum(count for rule, count in rules.items() if rule.startswith(("score", "answer")))
    retrieved = tuple(sorted(set(RETRIEVED.findall(said))))
    named = scored if len(scored) == number else None
    return DryRun(rules, named, retrieved, seconds)


def dry_run(
    configfile: Path | None, targets: Sequence[str] = (), site: Path | None = None
) -> DryRun:
    """Ask Snakemake which jobs ``targets`` (without any: the default targets) would start.

    Works in the current directory, the repository's root; writes nothing. Raises UserError with
    Snakemake's message when it refuses.
    """
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", *targets]
    command += ["--quiet", "host", "reason"]
    command += ["--configfile", str(configfile)] if configfile else []
    command += ["--config", f"site={site}"] if site else []
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode:
        # A dry run tells its errors on standard output.
        output_lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise UserError(
            f"Snakemake's dry run fails (exit {done.returncode}), so its jobs are not known; it "
            "says:\n  " + "\n  ".join(output_lines[-6:])
        )
    return read_dry_run(done.stdout + done.stderr, seconds)
