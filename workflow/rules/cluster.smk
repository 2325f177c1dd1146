"""What jobs ask of a cluster: of SLURM as the site's file says, and no more than they need."""

import functools

from blimpworks.cluster.needs import needs_of
from blimpworks.cluster.estimate import expected_items
from blimpworks.cluster.packs import pack_parts
from blimpworks.cluster.requests import (
    cpu_request,
    pack_request,
    sized_request,
    train_request,
)
from blimpworks.cluster.trainings import training_retries

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


def score_needs(model, step=0):
    """What scoring with a model needs on this site."""
    row, options = CATALOGUE.models[model], CAMPAIGN.scoring
    engine, dtype = layout.engine_of(model), layout.dtype_of(model)
    return needs_of(row, engine, dtype, SITE, step, options=options)


def score_request_of(wildcards):
    """What a job that scores asks for: by its work, and by how its last attempts ended."""
    return request_of(PARTS[wildcards.model, wildcards.part])


def request_of(part):
    """What the job of a part asks for."""
    return _requested(part, _age(part.log(CAMPAIGN)))


def _age(log):
    """What tells one state of a job's journal from another."""
    from blimpworks.records.journal import journal_path

    try:
        return journal_path(log).stat().st_mtime_ns
    except FileNotFoundError:
        return 0


@functools.lru_cache(maxsize=None)
def _requested(part, _age):
    return sized_request(
        CATALOGUE.models[part.model],
        part.engine,
        layout.dtype_of(part.model),
        SITE,
        CAMPAIGN.scoring,
        expected(part),
        part.log(CAMPAIGN),
    )


def asked(request):
    """Resources by what a function of the wildcards says; what it leaves out is not asked for."""
    names = ("mem_mb", "runtime", "cpus_per_task", *SCHEDULER)
    return {name: lambda w, attempt, name=name: request(w).get(name) for name in names}


def score_job():
    """Resources of a job that scores."""
    return asked(score_request_of)


def answer_job():
    """Resources of a job that answers."""
    return asked(lambda w: request_of(ANSWERING[w.model, w.part]))


def pack_job(pack):
    """Resources of a job that scores a pack."""
    gpus = score_needs(pack.parts[0].model).kind is not None
    shape = {"width": pack.width, "has": "--gpus" if gpus else "--no-gpus"}
    return asked(lambda w: pack_request_of(pack.name)) | shape


def pack_request_of(name):
    """What a job that scores a pack asks for, by how its members' last attempts ended."""
    pack = next(pack for pack in PACKS if pack.name == name)
    return _pack_requested(name, tuple(_age(p.log(CAMPAIGN)) for p in pack.parts))


@functools.lru_cache(maxsize=None)
def _pack_requested(name, _ages):
    pack = next(pack for pack in PACKS if pack.name == name)
    logs = [part.log(CAMPAIGN) for part in pack.parts]
    return pack_request(pack, score_needs, SITE, logs)


def expected(part):
    """What to expect of the items that a part scores."""
    return expected_items(CAMPAIGN, CATALOGUE, part)


def items_of(part):
    """Items tables that a part of the scoring needs."""
    return [str(path) for path in part.items(CAMPAIGN)]


def slots_of(model):
    """GPUs that scoring with a model takes, or cores."""
    needs = score_needs(model)
    return needs.gpus or needs.cores


def packed(pack):
    """The members of a pack as its command wants them."""
    members = []
    for part in pack.parts:
        kinds = {"whole": [], "regions": []}
        for benchmark, lang in part.sets:
            partial = regional(layout.judged_by(benchmark, part.model))
            kinds["regions" if partial else "whole"].append(f"{benchmark}/{lang}")
        members.append(
            {
                "part": part.key,
                "engine": part.engine,
                "checkpoint": str(part.checkpoint(CAMPAIGN)),
                "slots": slots_of(part.model),
                **kinds,
            }
        )
    return json.dumps(members)


def scored_alone(environment):
    """Models scored by jobs of their own, in an environment."""
    packs = {part.model for pack in PACKS for part in pack.parts}
    return [
        name
        for name in CATALOGUE.models
        if name not in packs and environment_of(layout.engine_of(name)) == environment
    ]


def impossible():
    """Why the site cannot run models of the campaign, one sentence each."""
    messages = []
    for model in CATALOGUE.models:
        try:
            score_needs(model)
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
    watch_over(Path(log if isinstance(log, str) else log[0]))
    if not orphans:
        return []
    jobs = ", ".join(job.id for job in orphans)
    message = "an earlier run that is dead left SLURM jobs behind; they are cancelled"
    return [f"blimpworks: {message}: {jobs}. What they had scored is kept.", ""]


if refused := impossible():
    raise WorkflowError("\n".join(refused))
PARTS, ANSWERING = layout.score_parts, layout.answer_parts
LSTM_RETRIES = training_retries(
    CAMPAIGN, CATALOGUE, [*PARTS.values(), *ANSWERING.values()], SITE
)
PACKS = pack_parts([*PARTS.values()], CATALOGUE.models, score_needs, SITE, expected)
