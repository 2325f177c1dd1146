"""Compute the resources of jobs from their work and the site's file (config/site.yaml).

Rules whose jobs run on the cluster have them as `resources`.
"""

import functools
from collections import Counter

from blimpworks.cluster.needs import expected_items, setup_of
from blimpworks.cluster.requests import (
    MOST_JOBS_IN_TURN,
    cpu_request,
    sized_request,
    train_request,
    training_retries,
)

# Resources that Snakemake passes on to SLURM; they are the same in all attempts.
SCHEDULER = (
    "slurm_partition",
    "slurm_account",
    "constraint",
    "qos",
    "gres",
    "slurm_extra",
)


# Memory of the two Snakemake processes in each SLURM job.
SNAKEMAKE_MB = 500


def cpu_job(memory_mb, minutes=30):
    """Return the resources of a job without GPUs; attempt n gets n times as much."""

    def request(attempt):
        memory, time = memory_mb * attempt, minutes * attempt
        if SITE:
            memory = min(memory + SNAKEMAKE_MB, int(SITE.cpu.memory_gb * 1000))
            time = min(time, int(SITE.cpu.max_hours * 60))
        return cpu_request(SITE, memory_mb=memory, minutes=time)

    fixed = {k: v for k, v in request(1).items() if k in SCHEDULER}
    return fixed | {
        "mem_mb": lambda w, attempt: request(attempt)["mem_mb"],
        "runtime": lambda w, attempt: request(attempt)["runtime"],
    }


def lstm_job():
    """Return the resources of a job with an LSTM: a GPU if the site has GPUs."""
    return train_request(SITE) or cpu_job(4000, minutes=240)


def score_request_of(wildcards):
    """Return the resources of a job by its work and the ends of its last attempts."""
    return request_of(SCORING[wildcards.model, wildcards.job])


def request_of(job):
    """Return the resources of a scoring job."""
    return _requested(job, _journal_time(job.log(CAMPAIGN)))


def _journal_time(log):
    """Return the time of the last change of a job's journal, in ns; 0 without a journal."""
    from blimpworks.records.journal import journal_path

    try:
        return journal_path(log).stat().st_mtime_ns
    except FileNotFoundError:
        return 0


# Computed once for each state of the journal: Snakemake asks for each resource by itself.
@functools.lru_cache(maxsize=None)
def _requested(job, _journal_time):
    return sized_request(
        setup_of(layout, job.model, SITE),
        expected_items(layout, job),
        job.log(CAMPAIGN),
        jobs_in_turn=SHARING.get(job.model, 1) if job.task == "score" else 1,
    )


def resources_by(request):
    """Return {resource: function of wildcards}, from a function that returns all resources."""
    names = ("mem_mb", "runtime", "cpus_per_task", *SCHEDULER)
    return {name: lambda w, name=name: request(w).get(name) for name in names}


def score_job(shared=False):
    """Return the resources of a job that scores; ``shared``: with others in one SLURM job.

    A job that fails ends the jobs after it in the same SLURM job. Its last attempt therefore does
    not fail: it writes the reason into its manifest, and the job that reads the manifest fails.
    """
    resources = resources_by(score_request_of)
    # An option of the command, but a resource here: params do not have the number of attempts.
    resources["failing"] = "--no-give-up"
    if shared:
        # At most 1 (profiles/slurm): these jobs run one after another, so only their times add up.
        resources["turn"] = 1
        resources["failing"] = lambda w, attempt: (
            "--give-up" if attempt > TRIES else "--no-give-up"
        )
    return resources


def answer_job():
    """Return the resources of a job that generates answers."""
    return resources_by(lambda w: request_of(ANSWERING[w.model, w.job]))


def items_of(job):
    """Return the items tables that a scoring job reads."""
    return [str(path) for path in job.items(CAMPAIGN)]


def unfit_models():
    """Return a sentence for each model of the campaign that the site cannot run."""
    messages = []
    for model in CATALOGUE.models:
        try:
            setup_of(layout, model, SITE).needs()
        except UserError as error:
            messages.append(str(error))
    return messages


def guard_cluster_jobs(log):
    """Cancel SLURM jobs of an earlier, killed run, start the guard, and return lines to print."""
    from blimpworks.cluster.guard import end_orphans
    from blimpworks.cluster.guard import watch_over

    try:
        orphans = end_orphans(Path.cwd())
    except UserError as error:
        raise WorkflowError(str(error)) from None
    watch_over(Path(log[0]))
    if not orphans:
        return []
    jobs = ", ".join(orphans)
    message = "an earlier run that is dead left SLURM jobs behind; they are cancelled"
    return [f"blimpworks: {message}: {jobs}. What they had scored is kept.", ""]


if refused := unfit_models():
    raise WorkflowError("\n".join(refused))
# Only the main process repeats failed jobs: the Snakemake processes in SLURM jobs must not.
TRIES = 2
RETRIES = TRIES if workflow.is_main_process else 0
LSTM_RETRIES = RETRIES and training_retries(layout, SITE)
# Number of a model's scoring jobs that share a SLURM job, at most that of profiles/slurm.
JOB_COUNTS = Counter(job.model for job in SCORING.values() if job.scope != "multi")
SHARING = {
    model: min(count, MOST_JOBS_IN_TURN)
    for model, count in JOB_COUNTS.items()
    if SITE and count > 1
}
