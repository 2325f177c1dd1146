"""What jobs ask SLURM for, under the names that Snakemake's executor knows."""

from blimpworks.campaign.settings.site import CpuNodes, GpuKind, Site
from blimpworks.cluster.needs import Needs
from blimpworks.errors import UserError

Request = dict[str, int | str]
"""Snakemake's resources by name. What the site leaves empty is not in it, since the executor
would pass on an empty constraint."""


def _check(memory_mb: int, minutes: int, node_gb: float, max_hours: float, where: str) -> None:
    if memory_mb > node_gb * 1000:
        raise UserError(
            f"a job asks for {memory_mb:,} MB, but nodes of {where} have {node_gb * 1000:,.0f} "
            "for jobs; correct the site's file if they have more, or make the job smaller."
        )
    if minutes > max_hours * 60:
        raise UserError(
            f"a job asks for {minutes:,} minutes, but {where} gives {max_hours * 60:,.0f} at most; "
            "correct max_hours in the site's file, or make the job smaller."
        )


def _request(
    site: Site, place: CpuNodes | GpuKind, account: str, amounts: Request, gres: str = ""
) -> Request:
    words = {
        "slurm_partition": place.partition,
        "slurm_account": account,
        "constraint": place.constraint,
        "qos": site.qos,
        "gres": gres,
        "slurm_extra": site.extra,
    }
    return amounts | {name: word for name, word in words.items() if word}


def cpu_request(site: Site | None, *, memory_mb: int, minutes: int, cores: int = 1) -> Request:
    """Resources of a job without GPUs. Without a site, what it takes and no more.

    Raises UserError when that is more than a node has, or longer than jobs may be.
    """
    amounts: Request = {"mem_mb": memory_mb, "runtime": minutes, "cpus_per_task": cores}
    if site is None:
        return amounts
    nodes = site.cpu
    _check(memory_mb, minutes, nodes.memory_gb, nodes.max_hours, "cpu in the site's file")
    if cores > nodes.cores:
        raise UserError(
            f"a job asks for {cores} cores, but nodes of cpu in the site's file have "
            f"{nodes.cores}; correct one of the two."
        )
    return _request(site, nodes, site.account, amounts)


def score_request(
    site: Site | None, needs: Needs, minutes: int, *, memory_mb: int | None = None
) -> Request:
    """Resources of a job that scores, on GPUs if ``needs`` says so.

    ``memory_mb`` takes the place of the host's memory in ``needs``, such as after it ran out.
    Raises UserError when that is more than a node has, or longer than jobs may be.
    """
    memory = needs.memory_mb if memory_mb is None else memory_mb
    if site is None or needs.kind is None:
        return cpu_request(site, memory_mb=memory, minutes=minutes, cores=needs.cores)
    kind = needs.kind
    _check(memory, minutes, kind.host_memory_gb, kind.max_hours, f"{kind.label} in the site's file")
    amounts: Request = {"mem_mb": memory, "runtime": minutes, "cpus_per_task": needs.cores}
    account = site.account if kind.account is None else kind.account
    return _request(site, kind, account, amounts, needs.gres)


TRAINING_MB = 12_000
"""Of the host for a training on a GPU: the 400 M words of five Wikipedias are 1.6 GB, and a
model of their 250,000 words has as much in each of weights, best weights and snapshot."""
TRAINING_HOURS = 48
"""Most that one job of a training asks for. It takes epochs × words / words a second, of which the
last is an assumption: 40 × 80 M at 16,000 are 55 hours on an A100; a multilingual model has five
times the words and an output layer five times as wide, 40 × 400 M at 3,900, 1,150 hours. What does
not get done by then goes on from its snapshot in the next attempt (``cluster/trainings.py``)."""


def train_needs(site: Site) -> Needs | None:
    """What the training of an LSTM needs: one GPU; None where the site has none.

    The GPU is of the kind with the least memory whose nodes can hold the job: the paper's models
    take 6 GB.
    """
    fitting = [kind for kind in site.gpus if kind.host_memory_gb * 1000 >= TRAINING_MB]
    if not fitting:
        return None
    kind = min(fitting, key=lambda kind: kind.memory_gb)
    return Needs(kind, 1, kind.cores_per_gpu, TRAINING_MB, 0.0, 0.0)


def train_request(site: Site) -> Request | None:
    """Resources of a job that trains an LSTM on one GPU; None where the site has none.

    It asks for no longer than jobs may be, since the next attempt goes on.
    """
    needs = train_needs(site)
    if needs is None or needs.kind is None:
        return None
    minutes = int(min(TRAINING_HOURS, needs.kind.max_hours) * 60)
    return score_request(site, needs, minutes)


def longest_hours(site: Site | None, needs: Needs) -> float:
    """Hours that a job which scores may ask for at most; a week where no site says."""
    if site is None:
        return 168.0
    return needs.kind.max_hours if needs.kind else site.cpu.max_hours
