"""How much a job that scores asks for: what its work needs, grown by how it ended before."""

from collections.abc import Sequence
from pathlib import Path

from blimpworks.catalogue import ModelRow
from blimpworks.cluster.estimate import expected_work, minutes_to_ask, score_seconds, speed_of
from blimpworks.cluster.growth import growth
from blimpworks.cluster.journal import journal_path, read_attempts
from blimpworks.cluster.needs import Needs, needs_of
from blimpworks.cluster.requests import Request, longest_hours, score_request
from blimpworks.cluster.slurm import slurm_states
from blimpworks.config import ScoringOptions
from blimpworks.config.site import Site


def node_memory_mb(site: Site | None, needs: Needs) -> int | None:
    """MB of a node that the job may run on; None where no site says."""
    if site is None:
        return None
    return int(1000 * (needs.kind.host_memory_gb if needs.kind else site.cpu.memory_gb))


def sized_request(
    row: ModelRow,
    engine: str,
    dtype: str,
    site: Site | None,
    options: ScoringOptions,
    items: Sequence[Path],
    log: Path,
) -> Request:
    """What the job with log ``log`` asks for that scores ``items`` with the model ``row``.

    Memory doubles for each attempt before that ran out of it, minutes for each whose time was
    over before its first shard, and a larger GPU follows on one that was too small; nothing
    grows beyond a node or the longest time. An attempt of which nothing is known because its
    node took it along is looked up in SLURM.

    Raises UserError for a model that fits nowhere.
    """
    attempts = read_attempts(journal_path(log))
    lost = [a.started.slurm_job for a in attempts if a.ended is None and a.started.slurm_job]
    grown = growth(attempts, slurm_states(lost) if lost else {})
    needs = needs_of(row, engine, dtype, site, grown.gpu_step, options=options)
    work = expected_work(items)
    speed = speed_of(row, engine, needs, site)
    seconds = score_seconds(work.tokens, needs.weights_gb, speed, site)
    hours = longest_hours(site, needs)
    minutes = min(round(minutes_to_ask(seconds, hours) * grown.minutes), int(hours * 60))
    memory = round(needs.memory_mb * grown.memory)
    most = node_memory_mb(site, needs)
    return score_request(
        site, needs, minutes, memory_mb=memory if most is None else min(memory, most)
    )
