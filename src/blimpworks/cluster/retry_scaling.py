"""How much more the next attempt of a job asks for, from how earlier attempts failed."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from blimpworks.records.journal import Attempt, Cause

MOST = 8.0
"""A job that eight times the memory or time does not help will not be helped by more."""
UNKNOWN = 1.5
"""Factor after an attempt that vanished, which either may have been too small for."""
CAUSES: Mapping[str, Cause] = {"OUT_OF_MEMORY": "memory", "TIMEOUT": "walltime"}
"""What SLURM's word for the end of a lost job stands for."""
ENDED = ("NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED", "CANCELLED", "DEADLINE", "COMPLETED")
PRESENT = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "REQUEUED")
HARMLESS = frozenset((*ENDED, *PRESENT))
"""Its words for an end, or for a job that is still there, which call for nothing larger."""


class RetryScaling(NamedTuple):
    """Factors on what a job asks for the first time."""

    memory: float = 1.0
    minutes: float = 1.0
    gpu_step: int = 0
    """How many sizes larger the GPUs, or groups of them, should be."""


def _cause(attempt: Attempt, states: Mapping[str, str]) -> Cause | None:
    """Why an attempt ended; None where nobody knows."""
    if attempt.ended:
        return attempt.ended.cause
    job = attempt.started.slurm_job
    state = "" if job is None else states.get(job, "")
    # Without a scheduler, what is lost was killed by somebody, or still runs.
    return "killed" if job is None or state in HARMLESS else CAUSES.get(state)


def _since_done(attempts: Iterable[Attempt]) -> list[Attempt]:
    """The newest attempts, back to the last that was done."""
    return list(takewhile(lambda attempt: attempt.cause != "done", attempts))


def retry_scaling(
    attempts: Sequence[Attempt], states: Mapping[str, str] | None = None
) -> RetryScaling:
    """What the attempt after ``attempts`` (in order) should ask for.

    Since the last attempt that was done, each that ran out of memory doubles it; each
    that ran out of walltime without a new score doubles that (one that scored goes on where
    it was); each that filled a GPU asks for the next size. No other end changes anything, and
    ``states`` (of SLURM jobs by id) says how lost attempts ended. Where it doesn't, memory and
    walltime grow by half. Neither grows beyond eightfold.
    """
    memory, minutes, step = 1.0, 1.0, 0
    known = dict(states or {})
    for attempt in _since_done(reversed(attempts)):
        cause = _cause(attempt, known)
        # Its earlier attempts in the same job were followed by a requeue, not by this end.
        known[attempt.started.slurm_job or ""] = "REQUEUED"
        stuck = not (attempt.scored and attempt.scored.new)
        memory *= 2 if cause == "memory" else UNKNOWN if cause is None else 1
        minutes *= 2 if cause == "walltime" and stuck else UNKNOWN if cause is None else 1
        step += cause == "gpu_memory"
    return RetryScaling(min(memory, MOST), min(minutes, MOST), step)
