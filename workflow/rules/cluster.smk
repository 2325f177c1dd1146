"""What jobs ask of a cluster: of SLURM as the site's file says, and no more than they need.

Rules with jobs of their own have it as resources.
"""

import functools
from collections import Counter

from blimpworks.cluster.needs import expected_items, setup_of
from blimpworks.cluster.requests import (
    IN_TURN,
    cpu_request,
    sized_request,
    train_request,
    training_retries,
)

SCHEDULER = (
    "slurm_partition",
    "slurm_account",
    "constraint",
    "qos",
    "gres",
    "slurm_extra",
)


# Two Snakemakes stand around each job of SLURM's.
SNAKEMAKE_MB = 500


def cpu_job(memory_mb, minutes=30):
    """Resources of a job without GPUs; each further attempt gets as much again."""

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
    """Resources of a job with an LSTM: a GPU where the site has any."""
    return train_request(SITE) or cpu_job(4000, minutes=240)


def score_request_of(wildcards):
    """What a job that scores asks for: by its work, and by how its last attempts ended."""
    return request_of(SCORING[wildcards.model, wildcards.job])


def request_of(job):
    """What a scoring job asks for."""
    return _requested(job, _age(job.log(CAMPAIGN)))


def _age(log):
    """What tells one state of a job's journal from another."""
    from blimpworks.records.journal import journal_path

    try:
        return journal_path(log).stat().st_mtime_ns
    except FileNotFoundError:
        return 0


@functools.lru_cache(maxsize=None)
def _requested(job, _age):
    return sized_request(
        setup_of(layout, job.model, SITE),
        expected_items(layout, job),
        job.log(CAMPAIGN),
        shared=SHARING.get(job.model, 1) if job.task == "score" else 1,
    )


def asked(request):
    """Resources by what a function of the wildcards says; what it leaves out is not asked for."""
    names = ("mem_mb", "runtime", "cpus_per_task", *SCHEDULER)
    return {name: lambda w, name=name: request(w).get(name) for name in names}


def score_job(shared=False):
    """Resources of a job that scores; one that shares a SLURM job, in turn with the others.

    One that fails ends those that follow it in the same SLURM job. So the last attempt passes over
    it: its manifest says why, and the job that reads it fails.
    """
    resources = asked(score_request_of)
    # An option as a resource and no param: only resources know the attempt.
    resources["failing"] = "--no-give-up"
    if shared:
        # A limit of 1 (profiles/slurm), so that times add up and memory does not.
        resources["turn"] = 1
        resources["failing"] = lambda w, attempt: (
            "--give-up" if attempt > TRIES else "--no-give-up"
        )
    return resources


def answer_job():
    """Resources of a job that answers."""
    return asked(lambda w: request_of(ANSWERING[w.model, w.job]))


def items_of(job):
    """Items tables that a scoring job needs."""
    return [str(path) for path in job.items(CAMPAIGN)]


def impossible():
    """Why the site cannot run models of the campaign, one sentence each."""
    messages = []
    for model in CATALOGUE.models:
        try:
            setup_of(layout, model, SITE).needs()
        except UserError as error:
            messages.append(str(error))
    return messages


def cluster_words(log):
    """Take over from a run that was killed, watch over this one, and say what was done."""
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


if refused := impossible():
    raise WorkflowError("\n".join(refused))
# The Snakemakes inside a SLURM job would try again there, each as often, with what has failed.
TRIES = 2
RETRIES = TRIES if workflow.is_main_process else 0
LSTM_RETRIES = RETRIES and training_retries(layout, SITE)
# The most scoring jobs of a model that share a SLURM job; profiles/slurm has the same number.
SHARING = {
    model: min(count, IN_TURN)
    for model, count in Counter(
        job.model for job in SCORING.values() if job.scope != "multi"
    ).items()
    if SITE and count > 1
}
