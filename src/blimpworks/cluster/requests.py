"""Request resources from SLURM, under the names that Snakemake's executor uses."""

import sys
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.campaign.settings.site import CpuNodes, GpuKind, Site
from blimpworks.cluster.estimate import (
    Expectation,
    expected_work,
    minutes_to_ask,
    score_seconds,
    speed_of,
)
from blimpworks.cluster.needs import Needs, needs_of
from blimpworks.cluster.slurm import slurm_states
from blimpworks.errors import UserError
from blimpworks.records.journal import Attempt, Cause, journal_path, read_attempts

Request = dict[str, int | str]
"""Snakemake's resources by name, without those that the site leaves empty: the executor would pass
on an empty constraint.
"""


def _request(
    site: Site, nodes: CpuNodes | GpuKind, memory_mb: int, minutes: int, cores: int, gres: str = ""
) -> Request:
    """Request nodes of a site. Raises UserError for more than a node has."""
    if isinstance(nodes, GpuKind):
        name, node_gb = f"{nodes.label} in the site's file", nodes.host_memory_gb
        account = site.account if nodes.account is None else nodes.account
    else:
        name, node_gb, account = "cpu in the site's file", nodes.memory_gb, site.account
    if memory_mb > node_gb * 1000:
        raise UserError(
            f"a job asks for {memory_mb:,} MB, but nodes of {name} have {node_gb * 1000:,.0f} "
            "for jobs; correct the site's file if they have more, or make the job smaller."
        )
    if minutes > nodes.max_hours * 60:
        raise UserError(
            f"a job asks for {minutes:,} minutes, but {name} gives {nodes.max_hours * 60:,.0f} at "
            "most; correct max_hours in the site's file, or make the job smaller."
        )
    texts = {
        "slurm_partition": nodes.partition,
        "slurm_account": account,
        "constraint": nodes.constraint,
        "qos": site.qos,
        "gres": gres,
        "slurm_extra": site.extra,
    }
    amounts: Request = {"mem_mb": memory_mb, "runtime": minutes, "cpus_per_task": cores}
    return amounts | {name: text for name, text in texts.items() if text}


def cpu_request(site: Site | None, *, memory_mb: int, minutes: int, cores: int = 1) -> Request:
    """Request a job without GPUs; without a site, its amounts alone.

    Raises UserError for more than a node has, or for longer than jobs may be.
    """
    if site is None:
        return {"mem_mb": memory_mb, "runtime": minutes, "cpus_per_task": cores}
    request = _request(site, site.cpu, memory_mb, minutes, cores)
    if cores > site.cpu.cores:
        raise UserError(
            f"a job asks for {cores} cores, but nodes of cpu in the site's file have "
            f"{site.cpu.cores}; correct one of the two."
        )
    return request


def score_request(
    site: Site | None, needs: Needs, minutes: int, *, memory_mb: int | None = None
) -> Request:
    """Request a scoring job, with the GPUs in ``needs``. Raises UserError as ``cpu_request`` does.

    ``memory_mb`` replaces the host's memory in ``needs``, for example after it ran out.
    """
    memory = needs.memory_mb if memory_mb is None else memory_mb
    if site is None or needs.kind is None:
        return cpu_request(site, memory_mb=memory, minutes=minutes, cores=needs.cores)
    return _request(site, needs.kind, memory, minutes, needs.cores, needs.gres)


TRAINING_MB = 12_000
"""MB of the host for training on a GPU. The 400 M words of five Wikipedias are 1.6 GB. A model of
their 250,000 words takes as much for each of weights, best weights and snapshot.
"""
TRAINING_HOURS = 48
"""The most hours that one training job requests. A training takes epochs × words / assumed words a
second: 40 × 80 M at 16,000 are 55 hours on an A100; multilingual, 40 × 400 M at 3,900, 1,150 hours.
The next attempt goes on from the snapshot (``cluster/trainings.py``).
"""


def train_kind(site: Site | None) -> GpuKind | None:
    """Choose the kind of GPU that trains an LSTM; None when the site has none.

    The kind with the least memory whose nodes can hold the job: the paper's models take 6 GB.
    """
    gpu_kinds = [k for k in (site.gpus if site else ()) if k.host_memory_gb * 1000 >= TRAINING_MB]
    return min(gpu_kinds, key=lambda kind: kind.memory_gb, default=None)


def train_request(site: Site | None) -> Request | None:
    """Request one GPU for training an LSTM; None when the site has none.

    Requests at most the longest time of the site, since the next attempt goes on.
    """
    gpu_kind = train_kind(site)
    if site is None or gpu_kind is None:
        return None
    minutes = int(min(TRAINING_HOURS, gpu_kind.max_hours) * 60)
    return score_request(
        site, Needs(gpu_kind, 1, gpu_kind.cores_per_gpu, TRAINING_MB, 0.0, 0.0), minutes
    )


def longest_hours(site: Site | None, needs: Needs) -> float:
    """Return the most hours that a scoring job may request; a week without a site."""
    if site is None:
        return 168.0
    return needs.kind.max_hours if needs.kind else site.cpu.max_hours


MOST = 8.0
"""Largest factor on memory and time."""
UNKNOWN = 1.5
"""Factor on memory and time after an attempt that vanished."""
CAUSES: Mapping[str, Cause] = {"OUT_OF_MEMORY": "memory", "TIMEOUT": "walltime"}
"""Causes by SLURM's state of a lost job."""
ENDED = ("NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED", "CANCELLED", "DEADLINE", "COMPLETED")
PRESENT = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "REQUEUED")
HARMLESS = frozenset((*ENDED, *PRESENT))
"""States of SLURM that call for no larger request."""


class RetryScaling(NamedTuple):
    """Factors on the first request of a job."""

    memory: float = 1.0
    minutes: float = 1.0
    gpu_step: int = 0
    """Steps to larger GPUs or more of them."""


def retry_scaling(
    attempts: Sequence[Attempt], states: Mapping[str, str] | None = None
) -> RetryScaling:
    """Scale the request of the attempt that follows ``attempts`` (in order).

    Counts since the last attempt that was done. One out of memory doubles the memory. One out of
    time doubles the time, unless it scored something: then the next goes on. One that filled a GPU
    asks for the next size. ``states`` (by id of the SLURM job) says how lost attempts ended;
    without it, memory and time grow by half. Factors are at most eight.
    """
    memory, minutes, step = 1.0, 1.0, 0
    slurm_words = dict(states or {})
    for attempt in takewhile(lambda attempt: attempt.cause != "done", reversed(attempts)):
        job = attempt.started.slurm_job
        word = slurm_words.get(job or "", "")
        cause = attempt.cause
        if cause is None:
            # Without a scheduler, a lost attempt was killed by somebody, or still runs.
            cause = "killed" if job is None or word in HARMLESS else CAUSES.get(word)
        # Its earlier attempts in the same job were followed by a requeue, not by this end.
        slurm_words[job or ""] = "REQUEUED"
        stuck = not (attempt.scored and attempt.scored.new)
        memory *= 2 if cause == "memory" else UNKNOWN if cause is None else 1
        minutes *= 2 if cause == "walltime" and stuck else UNKNOWN if cause is None else 1
        step += cause == "gpu_memory"
    return RetryScaling(min(memory, MOST), min(minutes, MOST), step)


def _scaling_of(log: Path) -> RetryScaling:
    """Scale the request of the job with that log; SLURM is asked about lost attempts."""
    try:
        attempts = read_attempts(journal_path(log))
    except UserError as error:
        print(f"blimpworks: {error}", file=sys.stderr)
        return RetryScaling()
    lost = [a.started.slurm_job for a in attempts if a.ended is None and a.started.slurm_job]
    return retry_scaling(attempts, slurm_states(lost) if lost else {})


IN_TURN = 20
"""Most jobs of a model that share a SLURM job, as ``group-components`` of profiles/slurm says."""


def sized_request(
    row: ModelRow,
    engine: str,
    dtype: str,
    site: Site | None,
    options: ScoringOptions,
    items: Mapping[Path, Expectation],
    log: Path,
    *,
    shared: int = 1,
) -> Request:
    """Request the job that scores ``items`` with the model ``row``, by the journal of its ``log``.

    ``items``: expected content of tables, existing or not. ``shared``: number of jobs that share a
    SLURM job, one after another, on the same GPUs. Grows as ``retry_scaling`` says, within a node
    and the longest time. Raises UserError for a model that fits nowhere.
    """
    scaling = _scaling_of(log)
    # What shares a job must ask for the same GPUs.
    step = scaling.gpu_step if shared == 1 else 0
    needs = needs_of(row, engine, dtype, site, step, options=options)
    speed = speed_of(row, engine, needs, site)
    seconds = score_seconds(expected_work(items).tokens, needs.weights_gb, speed, site)
    hours = longest_hours(site, needs) / shared
    minutes = min(round(minutes_to_ask(seconds, hours) * scaling.minutes), int(hours * 60))
    memory = needs.memory_mb * scaling.memory
    if site is not None:
        node_gb = needs.kind.host_memory_gb if needs.kind else site.cpu.memory_gb
        memory = min(memory, int(1000 * node_gb))
    return score_request(site, needs, max(minutes, 1), memory_mb=round(memory))
