"""Choose the resources that scoring and training jobs request, and estimate trainings.

The workflow's rules call ``sized_request``, ``train_request`` and ``cpu_request``, and pass the
result to Snakemake (``runtime`` in minutes), such as
``{"mem_mb": 24000, "runtime": 95, "cpus_per_task": 8, "slurm_partition": "gpu", "gres": "gpu:1"}``.
After attempts that ran out of memory or time, the next request is larger (``retry_scaling``).
"""

import math
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.scoring_jobs import CampaignSelection, released_corpus
from blimpworks.campaign.settings.site import GpuKind, Site
from blimpworks.campaign.settings.training import LstmRecipe
from blimpworks.cluster.needs import FLOAT32_SPEED, Expectation, Needs, Setup, expected_work
from blimpworks.cluster.slurm import slurm_states
from blimpworks.errors import UserError
from blimpworks.records.journal import Attempt, Cause, journal_path, read_attempts
from blimpworks.strict import Strict

TIME_FACTOR, ADDED_MINUTES = 3, 10
"""Requested minutes are TIME_FACTOR × the estimated minutes + ADDED_MINUTES."""


def minutes_to_ask(seconds: float, max_hours: float) -> int:
    """Return the minutes to request for a job of about ``seconds``, at most ``max_hours``.

    The margin is moderate. A job that runs out of time ends cleanly and is queued again; a job that
    requests too much waits longer in the queue.
    """
    minutes = math.ceil(TIME_FACTOR * seconds / 60) + ADDED_MINUTES
    return max(1, min(minutes, math.floor(max_hours * 60)))


Request = dict[str, int | str]
"""Value of each resource by its name in Snakemake; resources without a value are left out, because
Snakemake's SLURM executor would pass on an empty value."""


def score_request(site: Site | None, needs: Needs, minutes: int) -> Request:
    """Return the request for a job with the cores, memory and GPUs of ``needs``.

    Without a site, it has only memory, minutes and cores. Raises UserError if it exceeds what a
    node has, or the minutes that the site allows.
    """
    memory, cores = needs.memory_mb, needs.cores
    request: Request = {"mem_mb": memory, "runtime": minutes, "cpus_per_task": cores}
    if site is None:
        return request
    nodes = needs.gpu_kind or site.cpu
    # (unit, requested number, largest number); the site's file limits cores only without GPUs.
    limits = [("MB", memory, nodes.host_memory_gb * 1000)]
    limits += [("minutes", minutes, nodes.max_hours * 60)]
    limits += [("cores", cores, site.cpu.cores)] if needs.gpu_kind is None else []
    for unit, number, largest in limits:
        if number > largest:
            raise UserError(
                f"a job asks for {number:,} {unit}, but {nodes.label} in the site's file has at "
                f"most {largest:,.0f} for a job; correct the site's file if that is too little, or "
                "make the job smaller."
            )
    text_resources = {
        "slurm_partition": nodes.partition,
        "slurm_account": site.account if nodes.account is None else nodes.account,
        "constraint": nodes.constraint,
        "qos": site.qos,
        "gres": needs.gres,
        "slurm_extra": site.extra,
    }
    return request | {name: text for name, text in text_resources.items() if text}


def cpu_request(site: Site | None, *, memory_mb: int, minutes: int, cores: int = 1) -> Request:
    """Return the request for a job without GPUs. Raises UserError as ``score_request``."""
    return score_request(site, Needs(None, 0, cores, memory_mb, weights_gb=0.0), minutes)


TRAINING_MB = 12_000
"""MB of the host's memory for training on a GPU. The 400 M words of five Wikipedias take 1.6 GB.
With their 250,000 words as vocabulary, a model's weights, best weights and snapshot take 1.6 GB
each."""
TRAINING_HOURS = 48
"""Most hours that a training job requests; the next attempt continues from the snapshot. On an
A100, 40 epochs of 80 M words take 55 hours at 16,000 words per second. The multilingual model's 40
epochs of 400 M words take 1,150 hours at 3,900 words per second."""


def train_kind(site: Site | None) -> GpuKind | None:
    """Choose the kind of GPU that trains an LSTM; None when the site has none.

    An LSTM takes 6 GB, so choose the GPU with the least memory on a node with enough host memory.
    """
    gpus = site.gpus if site else ()
    fitting = [gpu for gpu in gpus if gpu.host_memory_gb * 1000 >= TRAINING_MB]
    return min(fitting, key=lambda gpu: gpu.memory_gb, default=None)


def train_request(site: Site | None) -> Request | None:
    """Return the request for training an LSTM on one GPU; None when the site has none."""
    gpu_kind = train_kind(site)
    if site is None or gpu_kind is None:
        return None
    minutes = int(min(TRAINING_HOURS, gpu_kind.max_hours) * 60)
    needs = Needs(gpu_kind, 1, gpu_kind.cores_per_gpu, TRAINING_MB, weights_gb=0.0)
    return score_request(site, needs, minutes)


MOST_FACTOR = 8.0
"""Largest factor by which retries multiply memory or time."""
UNKNOWN_CAUSE_FACTOR = 1.5
"""Factor on memory and time after an attempt that ended for an unknown reason."""
CAUSES: Mapping[str, Cause] = {"OUT_OF_MEMORY": "memory", "TIMEOUT": "walltime"}
"""Cause of an attempt's end, by the state that SLURM reports."""
REPEATED_STATES = {
    *("NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED", "CANCELLED", "DEADLINE", "COMPLETED"),
    *("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "REQUEUED"),
}
"""States that SLURM reports after which the next attempt repeats the same request."""


class RetryScaling(NamedTuple):
    """Factors by which a retry multiplies a job's first request."""

    memory: float = 1.0
    minutes: float = 1.0
    gpu_step: int = 0
    """Steps to larger GPUs or more of them."""


def retry_scaling(
    attempts: Sequence[Attempt], states: Mapping[str, str] | None = None
) -> RetryScaling:
    """Return the factors for the attempt that follows ``attempts``, which are in order of time.

    Only attempts after the last successful one have an effect; factors are at most ``MOST_FACTOR``.

    - Out of memory: twice the memory.
    - Out of time: twice the time, unless the attempt scored sentences: then the next one continues.
    - GPU memory too small: one step to larger GPUs.
    - Unknown cause: ``UNKNOWN_CAUSE_FACTOR`` times the memory and time.

    ``states``: SLURM's state by job id, for attempts that could not record their end.
    """
    memory, minutes, gpu_step = 1.0, 1.0, 0
    job_states = dict(states or {})
    for attempt in reversed(attempts):
        job, cause = attempt.started.slurm_job or "", attempt.cause
        if cause == "done":
            break
        state = job_states.get(job, "")
        if cause is None:
            # Without SLURM, a user has killed the attempt, or it is still running.
            cause = "killed" if not job or state in REPEATED_STATES else CAUSES.get(state)
        # SLURM reports how the job's last attempt ended, which is the first in this loop. Earlier
        # attempts in the same SLURM job ended by a requeue.
        job_states[job] = "REQUEUED"
        if cause is None:
            memory *= UNKNOWN_CAUSE_FACTOR
            minutes *= UNKNOWN_CAUSE_FACTOR
        elif cause == "memory":
            memory *= 2
        elif cause == "walltime" and not (attempt.scored and attempt.scored.new):
            minutes *= 2
        elif cause == "gpu_memory":
            gpu_step += 1
    return RetryScaling(min(memory, MOST_FACTOR), min(minutes, MOST_FACTOR), gpu_step)


MOST_JOBS_IN_TURN = 20
"""Largest number of scoring jobs that run one after another in a SLURM job, for the workflow's
groups: ``group-components`` of profiles/slurm."""


def sized_request(
    setup: Setup, items: Mapping[Path, Expectation], log: Path, *, jobs_in_turn: int = 1
) -> Request:
    """Return the request for the job that scores ``items`` with a model.

    ``items``: expected content of each items table, which need not exist. ``log``: the job's log,
    beside the journal of earlier attempts; ``retry_scaling`` enlarges the request after these, up
    to what a node has. ``jobs_in_turn``: number of jobs that run one after another in a SLURM job.
    Raises UserError for a model that fits nowhere.
    """
    attempts: list[Attempt] = []
    try:
        attempts = read_attempts(journal_path(log))
    except UserError as error:
        print(f"blimpworks: {error}", file=sys.stderr)
    lost = [a.started.slurm_job for a in attempts if a.ended is None and a.started.slurm_job]
    scaling = retry_scaling(attempts, slurm_states(lost))
    # Jobs that share a SLURM job must request the same GPUs.
    needs = setup.needs(scaling.gpu_step if jobs_in_turn == 1 else 0)
    seconds = setup.seconds(expected_work(items).tokens, needs)
    max_hours = 168.0  # a week, without a site
    memory = needs.memory_mb * scaling.memory
    if setup.site is not None:
        nodes = needs.gpu_kind or setup.site.cpu
        max_hours = nodes.max_hours
        memory = min(memory, int(1000 * nodes.host_memory_gb))
    job_hours = max_hours / jobs_in_turn
    minutes = round(minutes_to_ask(seconds, job_hours) * scaling.minutes)
    minutes = max(1, min(minutes, int(job_hours * 60)))
    return score_request(setup.site, replace(needs, memory_mb=round(memory)), minutes)


class TrainingPlan(Strict):
    """Estimated training of an LSTM's checkpoints on GPUs, such as a checkpoint per language."""

    model: str
    checkpoints: int
    """Number of checkpoints, each trained by one job on one GPU."""
    epochs: int
    words: int | None
    """Words that the largest checkpoint reads in an epoch; None for a corpus of unknown size."""
    vocabulary: int
    """Largest possible number of words in the output layer."""
    words_per_second: float
    """Assumed speed, see docs/cluster_estimates.md."""
    hours: float | None
    """Hours of one checkpoint: epochs × words / words per second."""
    gpu_hours: float | None
    """GPU-hours of training all checkpoints."""


RELEASED_WORDS = 80_000_000
"""Training words of each corpus released by Mueller et al. (2020, section 5.1)."""
OPERATIONS = 6
"""Operations per weight and word in training: two in the forward pass, four backwards."""


def multiplied_weights(recipe: LstmRecipe, vocabulary: int) -> int:
    """Count the weights that each word is multiplied with: LSTM layers and output layer.

    Embeddings are looked up. Four gates of each layer read its input and its state.
    """
    inputs = recipe.embedding + (recipe.layers - 1) * recipe.hidden
    gates = 4 * recipe.hidden * (inputs + recipe.layers * recipe.hidden)
    return gates + recipe.hidden * vocabulary


def _words_of_corpus(
    selection: CampaignSelection, model: str, corpus: str, languages: Collection[str]
) -> int | None:
    """Return the words of a model's corpus: a stated sample, or released; None if made here."""
    campaign, catalogue = selection.campaign, selection.catalogue
    seed = catalogue.seeds.get(model)
    if seed and seed.tokens:
        return seed.tokens
    released = [released_corpus(campaign, catalogue, corpus, lang) for lang in languages]
    return RELEASED_WORDS * len(languages) if all(released) else None


def plan_trainings(
    selection: CampaignSelection, site: Site | None, *, only_missing: bool = True
) -> list[TrainingPlan]:
    """Estimate the trainings of the LSTMs that a campaign scores with; none without a GPU.

    ``only_missing``: leave out checkpoints that exist. The assumed speed is the GPU's peak in
    float32 times the utilisation that the site's file states for scoring.
    """
    gpu_kind = train_kind(site)
    if site is None or gpu_kind is None:
        return []
    campaign, catalogue = selection.campaign, selection.catalogue
    # {model: {checkpoint: its languages}}; several scoring jobs may use one checkpoint.
    checkpoints_by_model: dict[str, dict[Path, set[str]]] = {}
    recipes: dict[str, LstmRecipe] = {}
    for job in selection.jobs:
        checkpoint = job.checkpoint(campaign)
        recipe = campaign.training.recipes.get(catalogue.models[job.model].recipe)
        if isinstance(recipe, LstmRecipe) and not (only_missing and checkpoint.exists()):
            recipes[job.model] = recipe
            checkpoints = checkpoints_by_model.setdefault(job.model, {})
            checkpoints.setdefault(checkpoint, set()).update(job.languages)
    operations_per_second = site.utilisation * FLOAT32_SPEED * gpu_kind.teraflops * 1e12
    plans = []
    for model, checkpoints in checkpoints_by_model.items():
        recipe, languages = recipes[model], max(checkpoints.values(), key=len)
        vocabulary = campaign.training.corpora[recipe.corpus].vocabulary * len(languages)
        operations_per_word = OPERATIONS * multiplied_weights(recipe, vocabulary)
        rate = operations_per_second / operations_per_word
        corpus_words = _words_of_corpus(selection, model, recipe.corpus, languages)
        hours = recipe.epochs * corpus_words / rate / 3600 if corpus_words else None
        plans.append(
            TrainingPlan(
                model=model,
                checkpoints=len(checkpoints),
                epochs=recipe.epochs,
                words=corpus_words,
                vocabulary=vocabulary,
                words_per_second=rate,
                hours=hours,
                gpu_hours=None if hours is None else hours * len(checkpoints),
            )
        )
    return plans


RETRIES_PER_JOB = 1.5
"""Retries of a training for each job that it is expected to take."""
OTHER_RETRIES = 2
"""Further retries, for failures other than too little time."""


def training_retries(selection: CampaignSelection, site: Site | None) -> int:
    """Return how often Snakemake retries an LSTM's training, which may take several attempts."""
    request = train_request(site)
    plans = plan_trainings(selection, site, only_missing=False)
    longest = max((plan.hours or 0 for plan in plans), default=0)
    if request is None or not longest:
        return OTHER_RETRIES
    expected_jobs = longest * 60 / int(request["runtime"])
    return math.ceil(RETRIES_PER_JOB * expected_jobs) + OTHER_RETRIES


def training_notes(
    plans: Sequence[TrainingPlan], catalogue: Catalogue, site: Site | None
) -> list[str]:
    """Return a list of one sentence on the LSTMs to train on GPUs; empty if there are none."""
    request = train_request(site)
    if not plans or request is None:
        return []
    summaries = []
    # Trainings from several seeds are one row of the catalogue, and take the same time.
    for name in dict.fromkeys(catalogue.row_of(plan.model) for plan in plans):
        plans_of_row = [plan for plan in plans if catalogue.row_of(plan.model) == name]
        first = plans_of_row[0]
        number = sum(plan.checkpoints for plan in plans_of_row)
        if first.hours is None or first.words is None:
            summaries.append(f"{number} {name} (unknown: the corpus is made here)")
        else:
            summaries.append(
                f"{number} {name} {number * first.hours:,.0f} ({first.hours:,.0f} h each: "
                f"{first.epochs} × {first.words / 1e6:,.0f} M words, "
                f"{first.words_per_second:,.0f} a second)"
            )
    count, hours = sum(plan.checkpoints for plan in plans), int(request["runtime"]) / 60
    return [
        f"{count} LSTMs are trained before they score, each on a GPU for which its job asks "
        f"{hours:.0f} hours ({request['gres']}); a longer training goes on in further attempts. "
        f"GPU-hours, not among those of scoring: {'; '.join(summaries)}. The rate is an assumption "
        "(docs/cluster_estimates.md)."
    ]
