"""Estimate the work of scoring jobs, and request resources from SLURM for them.

Requests have the names that Snakemake's executor uses.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Literal, NamedTuple

from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.engines import find_engine
from blimpworks.campaign.methods import regional
from blimpworks.campaign.paper import SENTENCE, Benchmark
from blimpworks.campaign.parts import Part, expected_items_of, items_table
from blimpworks.campaign.registry import find_benchmark
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.campaign.settings.site import CpuNodes, GpuKind, ModelNeeds, Site
from blimpworks.cluster.needs import Needs, needs_of
from blimpworks.cluster.slurm import slurm_states
from blimpworks.errors import UserError
from blimpworks.records.journal import Attempt, Cause, journal_path, read_attempts

CRITICAL = 2.0
"""Tokens of a critical region, which is one word in most pairs."""
WRITTEN = 4.0
"""Cost of a generated token as a multiple of a scored one (an assumption): generated tokens go
through the model one by one.
"""


class Expectation(NamedTuple):
    """Expected content of an items table."""

    pairs: int
    """Rows of the table: pairs or prompts."""
    tokens: float
    """Scored tokens of a sentence; of a prompt, the cost of reading it and of the longest answer,
    in scored tokens.
    """
    texts: int = 2
    """Texts of a row: two sentences of a pair, one prompt. Shared texts are scored once, so this is
    an upper bound.
    """


def scores_regions(campaign: Campaign, row: ModelRow, benchmark: Benchmark) -> bool:
    """Tell whether a masked model scores critical regions alone, since its methods need no more."""
    return row.architecture == "masked" and regional(benchmark.methods(campaign, "masked"))


def expected_items(campaign: Campaign, catalogue: Catalogue, part: Part) -> dict[Path, Expectation]:
    """List the expected content of each items table of a part, whether the table exists or not."""
    row = catalogue.models[part.model]
    expectations = {}
    for name, lang in part.sets:
        benchmark = find_benchmark(name)
        tokens, texts = benchmark.tokens, 2
        if benchmark.generation is not None:
            # If all answers run into the limit.
            tokens += WRITTEN * benchmark.generation.options(campaign).max_tokens
            texts = 1
        elif scores_regions(campaign, row, benchmark):
            tokens = CRITICAL
        number = expected_items_of(campaign, catalogue, name, lang)
        expectations[items_table(campaign, name, lang)] = Expectation(number, tokens, texts)
    return expectations


FLOAT32 = 1 / 16
"""Peak of a GPU in float32 relative to bfloat16 (data sheets: A100 1/16, H100 1/15)."""
SMALLEST = 0.005
"""Billions of parameters assumed for a model without a stated number, which is trained here."""
MARGIN, GRACE = 3, 10
"""Minutes to ask for are MARGIN × the estimate + GRACE."""


class Expected(NamedTuple):
    """Number of sentences and tokens that a job has to score."""

    sentences: int
    tokens: int


class Speed(NamedTuple):
    """Scoring speed of a job."""

    tokens_per_second: float
    source: Literal["measured", "stated"]
    """measured: in the site's file; stated: from peak, utilisation and size."""


@lru_cache(maxsize=4096)
def _rows(path: str, _changed: int) -> int:
    # The workflow reads this module each time it starts, and counts only then and when.
    import pyarrow.parquet as pq

    count: int = pq.read_metadata(path).num_rows
    return count


def count_pairs(items: Path) -> int | None:
    """Count the rows of an items table by its metadata; None when it is missing or damaged.

    The job that reads a damaged table reports it.
    """
    try:
        return _rows(str(items), items.stat().st_mtime_ns)
    except (OSError, ValueError):  # Arrow's errors of format are of the latter kind
        return None


def expected_work(items: Mapping[Path, Expectation]) -> Expected:
    """Add up the texts and tokens of items tables, counted where a table exists."""
    sentences, tokens = 0, 0.0
    for path, expected in items.items():
        count = count_pairs(path)
        new = expected.texts * (expected.pairs if count is None else count)
        sentences += new
        tokens += new * expected.tokens
    return Expected(sentences, round(tokens))


def speed_of(
    row: ModelRow, engine: str, needs: Needs, site: Site | None, dtype: str | None = None
) -> Speed:
    """Estimate the tokens a second of a model on the resources ``needs``.

    A measurement in the site's file comes first. Else a token takes 2 operations per parameter, at
    utilisation × peak of the GPUs (a sixteenth in float32), limited by the host for small models.
    On CPUs engines use the job's cores; one may compute less, or have a speed of its own. A masked
    model computes a sentence per scored token.
    """
    site = site or Site()
    measured = site.models.get(row.name, ModelNeeds()).tokens_per_second
    if measured is not None:
        return Speed(measured, "measured")
    facts = find_engine(engine)
    if facts.tokens_per_second is not None:
        return Speed(facts.tokens_per_second, "stated")
    if needs.kind is None:
        teraflops = needs.cores * facts.core_teraflops
    else:
        slower = FLOAT32 if (dtype or row.dtype) == "float32" else 1
        teraflops = site.utilisation * needs.kind.teraflops * needs.gpus * slower
    possible = teraflops * 1e12 / (2e9 * (row.parameters or SMALLEST)) / facts.computed
    if row.architecture == "masked":
        possible /= SENTENCE
    return Speed(min(possible, site.host_tokens_per_second), "stated")


def score_seconds(tokens: float, weights_gb: float, speed: Speed, site: Site | None) -> float:
    """Estimate the seconds to start an engine, load weights and score ``tokens``."""
    site = site or Site()
    load = site.start_seconds + weights_gb / site.load_gb_per_second
    return load + tokens / speed.tokens_per_second


def minutes_to_ask(seconds: float, max_hours: float) -> int:
    """Return the minutes to ask SLURM for, at most ``max_hours``.

    The margin is moderate: a job out of time ends cleanly and is queued again, while a job that
    asks for too much waits longer.
    """
    minutes = math.ceil(MARGIN * seconds / 60) + GRACE
    return max(1, min(minutes, math.floor(max_hours * 60)))


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
    if cores > site.cpu.cores:
        raise UserError(
            f"a job asks for {cores} cores, but nodes of cpu in the site's file have "
            f"{site.cpu.cores}; correct one of the two."
        )
    return _request(site, site.cpu, memory_mb, minutes, cores)


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
HARMLESS = {
    "NODE_FAIL",
    "BOOT_FAIL",
    "PREEMPTED",
    "REVOKED",
    "CANCELLED",
    "DEADLINE",
    "COMPLETED",
    "PENDING",
    "CONFIGURING",
    "RUNNING",
    "COMPLETING",
    "SUSPENDED",
    "STOPPED",
    "REQUEUED",
}
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
    attempts: list[Attempt] = []
    try:
        attempts = read_attempts(journal_path(log))
    except UserError as error:
        print(f"blimpworks: {error}", file=sys.stderr)
    lost = [a.started.slurm_job for a in attempts if a.ended is None and a.started.slurm_job]
    scaling = retry_scaling(attempts, slurm_states(lost))
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
