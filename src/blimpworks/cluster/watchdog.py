"""Watching over a run from within: it shows that it lives, and ends when it waits in vain.

Snakemake's executor for SLURM can forget jobs (when the controller does not answer for long) or
wait for ever for one that SLURM has forgotten (a controller that lost its state). Nothing would
happen any more, and nobody would be told. Snakemake's log names the jobs it waits for; their
states are asked of SLURM.
"""

import atexit
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from blimpworks.cluster.guard import register, run_id
from blimpworks.cluster.slurm import ask, slurm_states

PERIOD = 60.0
"""Seconds between two looks."""
OVERDUE = 1800.0
"""Seconds that Snakemake may take to notice what became of a job."""
SETTINGS = "BLIMPWORKS_WATCHDOG"
"""Environment variable with other values for the two, as ``PERIOD,OVERDUE``."""
SUBMITTED = re.compile(r"^Job (\d+) has been submitted with SLURM jobid (\d+)", re.MULTILINE)
SETTLED = re.compile(r"^(?:Finished jobid: (\d+)\b|    jobid: (\d+)$)", re.MULTILINE)
ACTIVE = frozenset(
    {
        *("PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "PREEMPTED"),
        *("REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESIZING", "SIGNALING", "STAGE_OUT"),
        *("RESV_DEL_HOLD", "SPECIAL_EXIT", "REVOKED"),
    }
)
"""States of jobs that will still run, or do."""


def awaited(log: str) -> set[str]:
    """SLURM ids of the jobs that Snakemake waits for, by the text of its log."""
    waiting: dict[str, str] = {}
    events = [(m.start(), "submitted", m[1], m[2]) for m in SUBMITTED.finditer(log)]
    events += [(m.start(), "settled", m[1] or m[2], "") for m in SETTLED.finditer(log)]
    for _, event, job, slurm_job in sorted(events):
        if event == "submitted":
            waiting[job] = slurm_job
        else:
            waiting.pop(job, None)
    return {*waiting.values()}


class Vigil:
    """What is known of the jobs that a run waits for."""

    def __init__(self, overdue: float) -> None:
        """Jobs may be over for ``overdue`` seconds without Snakemake noticing."""
        self._overdue = overdue
        self._over_since: dict[str, float] = {}

    def look(self, waiting: set[str], states: Mapping[str, str], moment: float) -> list[str]:
        """Jobs that it waits for in vain, if it waits for no other."""
        over = {job for job in waiting if states.get(job) not in ACTIVE}
        self._over_since = {job: self._over_since.get(job, moment) for job in over}
        late = [job for job in over if moment - self._over_since[job] >= self._overdue]
        return sorted(late) if late and len(late) == len(waiting) else []


def is_controller_up() -> bool:
    """Whether SLURM's controller responds."""
    return "UP" in (ask(["scontrol", "ping"]) or "")


def stop(jobs: list[str]) -> None:
    """End this run as Ctrl-C does, saying why."""
    print(
        f"\nblimpworks: SLURM jobs {', '.join(jobs)} are over, or SLURM has forgotten them, but "
        "Snakemake still waits for them and for nothing else. The run ends here; what is done "
        "is kept. Run the same command again: it goes on from there.\n",
        file=sys.stderr,
        flush=True,
    )
    os.kill(os.getpid(), signal.SIGINT)


def _watch(log: Path, alive: Path, period: float, vigil: Vigil) -> None:
    while True:
        time.sleep(period)
        try:
            os.utime(alive)
            waiting = awaited(log.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        if not waiting or not is_controller_up():
            continue
        late = vigil.look(waiting, slurm_states(waiting), time.monotonic())
        if late:
            stop(late)
            return


def _settings() -> tuple[float, float]:
    given = os.environ.get(SETTINGS)
    if not given:
        return PERIOD, OVERDUE
    period, _, overdue = given.partition(",")
    return float(period), float(overdue)


def watch_over(log: Path) -> None:
    """Register the run that this process is and watch over it until it ends.

    ``log`` is Snakemake's log of it. Does nothing where jobs do not go to SLURM.
    """
    run = run_id(log)
    if run is None:
        return
    alive = register(run)
    period, overdue = _settings()
    vigil = Vigil(overdue)
    threading.Thread(target=_watch, args=(log, alive, period, vigil), daemon=True).start()
    atexit.register(alive.unlink, missing_ok=True)
