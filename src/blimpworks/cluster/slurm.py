"""What SLURM says of jobs, where there is a SLURM that answers."""

import re
import subprocess
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

PATIENCE = 20.0
"""Seconds to wait for an answer: a busy controller takes some."""
TOGETHER = 200
"""Most jobs in one question."""


def ask(command: Sequence[str]) -> str | None:
    """What a SLURM command printed, failing or not; None where it is missing or hangs.

    Asked for several jobs of which it has forgotten some, it fails and tells of the others.
    """
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout


def _blocks(ids: Collection[str]) -> Iterator[str]:
    waiting = iter(sorted(ids))
    while block := list(islice(waiting, TOGETHER)):
        yield ",".join(block)


def _states(command: Sequence[str], ids: Collection[str]) -> dict[str, str]:
    """State of each of ``ids`` that a command tells; it stops asking where there is no answer."""
    found: dict[str, str] = {}
    for block in _blocks(ids):
        answer = ask([*command, block])
        if answer is None:
            break
        for line in answer.splitlines():
            job, _, state = line.strip().partition("|")
            # "CANCELLED by 1000"
            if job in ids and state:
                found[job] = state.split()[0]
    return found


def slurm_states(ids: Collection[str]) -> dict[str, str]:
    """SLURM's word for each job that it still knows: RUNNING, TIMEOUT, NODE_FAIL, ….

    The controller is asked first, then the accounting for what it has forgotten. What neither
    knows is left out; empty where there is no SLURM, or none that answers in time.
    """
    asked = {job for job in ids if re.fullmatch(r"[0-9]+([_+][0-9]+)?", job)}
    if not asked:
        return {}
    found = _states(["squeue", "-h", "-t", "all", "-o", "%i|%T", "-j"], asked)
    if rest := asked - found.keys():
        command = ["sacct", "-n", "-X", "-P", "-o", "JobID,State", "-j"]
        found |= _states(command, rest)
    return found
