"""Put several small scoring parts into one job of the cluster.

A model of 125 million parameters scores a language in seconds, while a job costs a minute of
waiting and starting. A site that gives whole nodes leaves most of a node idle beside a small model.
The division depends on the campaign and the site alone, never on existing results: otherwise a
later run would divide differently and request everything again.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.parts import Part
from blimpworks.campaign.settings.site import Site
from blimpworks.cluster.estimate import ExpectationsOf, score_seconds, speed_of
from blimpworks.cluster.needs import Needs

NeedsOf = Callable[[str], Needs]
"""Function from a model's name to the needs of scoring with it."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Parts that one job scores, as many at a time as its GPUs (or cores) allow."""

    name: str
    parts: tuple[Part, ...]
    width: int
    """GPUs of the job; cores without GPUs."""
    hours: float
    """Estimated duration."""


class _Load(NamedTuple):
    """A part with its GPUs or cores and its estimated hours."""

    part: Part
    slots: int
    hours: float


def _hours(part: Part, row: ModelRow, needs: Needs, site: Site, expected: ExpectationsOf) -> float:
    tokens = sum(items.texts * items.pairs * items.tokens for items in expected(part).values())
    # Items that are built and speeds that are measured later must not cut the campaign anew.
    site = site.model_copy(update={"models": {}})
    speed = speed_of(row, part.engine, needs, site)
    return score_seconds(tokens, needs.weights_gb, speed, site) / 3600


def _width(needs: Needs, site: Site) -> int:
    if not site.whole_nodes:
        return needs.gpus or needs.cores
    if needs.kind:
        return needs.kind.per_node
    held = int(site.cpu.memory_gb * 1000) // (needs.memory_mb // needs.cores)
    return max(needs.cores, min(site.cpu.cores, held))


def _bins(loads: Sequence[_Load], size: float) -> list[list[_Load]]:
    """Put loads into bins of ``size``: the longest first, each into the first bin with room."""
    bins: list[list[_Load]] = []
    room: list[float] = []
    for load in sorted(loads, key=lambda load: -load.hours * load.slots):
        slot_hours = load.hours * load.slots
        fitting = (i for i, free in enumerate(room) if free >= slot_hours)
        number = next(fitting, len(bins))
        if number == len(bins):
            bins.append([])
            room.append(size)
        bins[number].append(load)
        room[number] -= slot_hours
    return bins


def pack_parts(
    parts: Sequence[Part],
    rows: Mapping[str, ModelRow],
    needs_of: NeedsOf,
    site: Site | None,
    expected: ExpectationsOf,
) -> list[Pack]:
    """Divide the parts that share a job into packs; none without a site.

    Checkpoints of a monolingual model share jobs of about ``pack_hours``. At a site with whole
    nodes, so do all models that need less than a node. A single part is in no pack.
    """
    if site is None:
        return []
    shares: dict[tuple[str, int], list[_Load]] = {}
    for part in parts:
        needs = needs_of(part.model)
        fills_node = needs.kind is not None and needs.gpus >= needs.kind.per_node
        if part.scope == "multi" and (not site.whole_nodes or fills_node):
            continue
        hours = _hours(part, rows[part.model], needs, site, expected)
        # Engines of different environments cannot share a process that starts them.
        nodes = needs.kind.label if needs.kind else "cpu"
        group = f"{nodes} {part.engine}" if site.whole_nodes else part.model
        load = _Load(part, needs.gpus or needs.cores, hours)
        shares.setdefault((group, _width(needs, site)), []).append(load)
    packs = []
    for (group, width), loads in shares.items():
        name = "-".join("".join(c if c.isalnum() or c == "." else " " for c in group).split())
        name += f"-x{width}" if site.whole_nodes else ""
        for number, packed in enumerate(_bins(loads, width * site.pack_hours), start=1):
            together = sum(load.hours * load.slots for load in packed) / width
            hours = max(together, *(load.hours for load in packed))
            members = tuple(load.part for load in packed)
            packs.append(Pack(f"{name.lower()}-{number}", members, width, hours))
    # The job for parts of their own knows models, so a model is packed as a whole or not.
    count = Counter(model for pack in packs for model in {part.model for part in pack.parts})
    return [p for p in packs if len(p.parts) > 1 or count[p.parts[0].model] > 1]
