"""How much a job that scores asks for: what its work needs, scaled by how it ended before."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.campaign.settings.site import Site
from blimpworks.cluster.estimate import (
    Expectation,
    expected_work,
    minutes_to_ask,
    score_seconds,
    speed_of,
)
from blimpworks.cluster.needs import Needs, needs_of
from blimpworks.cluster.packs import Pack
from blimpworks.cluster.requests import Request, longest_hours, score_request
from blimpworks.cluster.slurm import slurm_states
from blimpworks.errors import UserError
from blimpworks.records.journal import Attempt, Cause, journal_path, read_attempts

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


def node_memory_mb(site: Site | None, needs: Needs) -> int | None:
    """MB of a node that the job may run on; None where no site says."""
    if site is None:
        return None
    return int(1000 * (needs.kind.host_memory_gb if needs.kind else site.cpu.memory_gb))


def scaling_of(log: Path) -> RetryScaling:
    """How much more than at first the job with that log asks for.

    An attempt of which nothing is known because its node took it along is looked up in SLURM.
    """
    try:
        attempts = read_attempts(journal_path(log))
    except UserError as error:
        print(f"blimpworks: {error}", file=sys.stderr)
        return RetryScaling()
    lost = [a.started.slurm_job for a in attempts if a.ended is None and a.started.slurm_job]
    return retry_scaling(attempts, slurm_states(lost) if lost else {})


def _within(memory: float, site: Site | None, needs: Needs) -> int:
    most = node_memory_mb(site, needs)
    return round(memory if most is None else min(memory, most))


def pack_request(
    pack: Pack, needs_of: Callable[[str], Needs], site: Site | None, logs: Mapping[str, Path]
) -> Request:
    """What the job of a pack asks for: its members' needs, as many as it runs at a time.

    ``logs`` has each member's log. Grows like ``sized_request``, with the member that grew most.
    """
    scalings = [scaling_of(log) for log in logs.values()]
    every = [needs_of(part.model) for part in pack.parts]
    needs = every[0]
    slots = sum(each.gpus or each.cores for each in every)
    densest = max(each.memory_mb / (each.gpus or each.cores) for each in every)
    memory = densest * min(pack.width, slots) * max(each.memory for each in scalings)
    hours = longest_hours(site, needs)
    minutes = minutes_to_ask(pack.hours * 3600, hours) * max(each.minutes for each in scalings)
    whole = replace(needs, gpus=pack.width if needs.kind else 0, cores=_cores(pack, needs))
    memory_mb = _within(memory, site, needs)
    return score_request(site, whole, min(round(minutes), int(hours * 60)), memory_mb=memory_mb)


def _cores(pack: Pack, needs: Needs) -> int:
    return needs.kind.cores_per_gpu * pack.width if needs.kind else pack.width


def sized_request(
    row: ModelRow,
    engine: str,
    dtype: str,
    site: Site | None,
    options: ScoringOptions,
    items: Mapping[Path, Expectation],
    log: Path,
) -> Request:
    """What the job with log ``log`` asks for that scores ``items`` with the model ``row``.

    Of tables that don't exist yet ``items`` says what to expect.

    Memory doubles for each attempt before that ran out of it, minutes for each whose time was
    over before its first shard, and a larger GPU follows on one that was too small; nothing
    grows beyond a node or the longest time.

    Raises UserError for a model that fits nowhere.
    """
    scaling = scaling_of(log)
    needs = needs_of(row, engine, dtype, site, scaling.gpu_step, options=options)
    work, speed = expected_work(items), speed_of(row, engine, needs, site)
    seconds = score_seconds(work.tokens, needs.weights_gb, speed, site)
    hours = longest_hours(site, needs)
    minutes = min(round(minutes_to_ask(seconds, hours) * scaling.minutes), int(hours * 60))
    memory_mb = _within(needs.memory_mb * scaling.memory, site, needs)
    return score_request(site, needs, minutes, memory_mb=memory_mb)
