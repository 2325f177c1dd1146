"""Two writers at one file: jobs that outlived the run which submitted them, and runs that live.

Snakemake's lock keeps two runs apart, but a run that was killed leaves its jobs behind in
SLURM, where they go on writing what the next run makes again. Each run therefore leaves a
file that says where it runs and shows that it lives; the jobs of one that does not are
cancelled before any is submitted. What they had scored is kept: they lose a shard at most.
"""

import json
import os
import platform
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from blimpworks.cluster.slurm import ask
from blimpworks.errors import UserError
from blimpworks.files import write_text

RUNS = Path(".snakemake/blimpworks-runs")
"""Directory of the files of runs, below the one that they run in."""
SILENCE = 300.0
"""Seconds after which a run on another machine that shows no life is dead."""
PATIENCE = 180.0
"""Seconds that SLURM may take to end cancelled jobs."""
RUN_ID = re.compile(r"SLURM run ID: (\S+)")
COLUMNS = "%i|%j|%T|%Z"


@dataclass(frozen=True, slots=True)
class Job:
    """A job in SLURM's queue."""

    id: str
    run: str
    """Snakemake's id of the run that submitted it, which is the job's name."""
    state: str
    directory: str


def run_id(log: Path) -> str | None:
    """The id that SLURM jobs of a run are named after, from Snakemake's log of it."""
    match = RUN_ID.search(log.read_text(encoding="utf-8", errors="replace"))
    return match[1] if match else None


def register(run: str) -> Path:
    """Write the file of the run that this process is; returns where."""
    path = RUNS / f"{run}.json"
    started = _started(os.getpid())
    about = {"pid": os.getpid(), "host": platform.node(), "started": started}
    write_text(path, json.dumps(about) + "\n")
    return path


def _started(pid: int) -> str | None:
    """When a process of this machine started, in clock ticks; None if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


def is_alive(path: Path) -> bool:
    """Whether the run with that file lives; one on another machine while it shows life."""
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        silent = time.time() - path.stat().st_mtime
    except (OSError, ValueError):
        return False
    if about["host"] == platform.node():
        return about["started"] is not None and _started(about["pid"]) == about["started"]
    return silent < SILENCE


def find_jobs(directory: Path) -> list[Job] | None:
    """Jobs of this user in SLURM's queue that run in ``directory``.

    None without SLURM. Raises UserError when SLURM is there and does not answer for a while.
    """
    if shutil.which("squeue") is None:
        return None
    waited = time.monotonic()
    while (output := ask(["squeue", "-h", "-u", str(os.getuid()), "-o", COLUMNS])) is None:
        if time.monotonic() - waited > PATIENCE:
            raise UserError(
                f"squeue has not answered for {PATIENCE:.0f} s, so it is not known whether jobs of "
                "an earlier run still write here; run this again when SLURM is up."
            )
        time.sleep(5)
    fields = (line.strip().split("|") for line in output.splitlines())
    jobs = [Job(*parts) for parts in fields if len(parts) == 4]
    here = directory.resolve()
    return [job for job in jobs if Path(job.directory).resolve() == here]


def _turns_out_alive(path: Path) -> bool:
    """Whether a run lives; one on another machine has until its silence is too long to show it."""
    try:
        seen = path.stat().st_mtime
        elsewhere = json.loads(path.read_text(encoding="utf-8"))["host"] != platform.node()
        while elsewhere and is_alive(path):
            time.sleep(5)
            if path.stat().st_mtime != seen:
                return True
    except (OSError, ValueError):
        return False
    return is_alive(path)


def find_orphans(directory: Path) -> list[Job]:
    """Jobs of runs in ``directory`` that live no more. Raises UserError as ``find_jobs`` does."""
    # SLURM is asked only where a run has left its file: most machines have none that answers.
    files = list((directory / RUNS).glob("*.json"))
    dead = {path.stem for path in files if not _turns_out_alive(path)}
    return [job for job in find_jobs(directory) or () if job.run in dead] if dead else []


def end_orphans(directory: Path) -> list[Job]:
    """Cancel the jobs that dead runs in ``directory`` left behind, and wait until they are gone.

    Raises UserError when SLURM does not answer, or does not end them in time.
    """
    orphans = find_orphans(directory)
    if orphans:
        ask(["scancel", *(job.id for job in orphans)])
    waited, left = time.monotonic(), {job.id for job in orphans}
    while left and (left := left & {job.id for job in find_jobs(directory) or ()}):
        if time.monotonic() - waited > PATIENCE:
            raise UserError(
                f"SLURM jobs {', '.join(sorted(left))} of an earlier run write to this directory "
                f"and did not end {PATIENCE:.0f} s after scancel; end them, then run this again."
            )
        time.sleep(1)
    _forget_dead(directory)
    return orphans


def _forget_dead(directory: Path) -> None:
    """Remove the files of runs that are over."""
    for path in (directory / RUNS).glob("*.json"):
        if not is_alive(path):
            path.unlink(missing_ok=True)
