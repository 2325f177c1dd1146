"""Several small parts of a campaign's scoring in one job of the cluster.

A model of 125 million parameters scores a language in seconds, and a job costs a minute of
waiting and starting; a site that gives nodes as a whole leaves most of one idle beside a small
model. What goes together depends on the campaign and the site alone, never on what is there
already: else a later run would cut the campaign otherwise and ask for everything again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.parts import Part
from blimpworks.campaign.settings.site import Site
from blimpworks.cluster.estimate import ExpectationsOf, score_seconds, speed_of
from blimpworks.cluster.needs import Needs

NeedsOf = Callable[[str], Needs]
"""What scoring with a model needs."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Parts that one job scores, as many at a time as its GPUs (or cores) allow."""

    name: str
    parts: tuple[Part, ...]
    width: int
    """GPUs of the job; cores where it has none."""
    hours: float
    """How long it should take."""


@dataclass(frozen=True, slots=True)
class _Load:
    """A part and what it weighs."""

    part: Part
    slots: int
    hours: float


def _hours(part: Part, row: ModelRow, needs: Needs, site: Site, expected: ExpectationsOf) -> float:
    """How long a part should take, if its items are as expected."""
    tokens = sum(each.texts * each.pairs * each.tokens for each in expected(part).values())
    # Items that are built and speeds that are measured later must not cut the campaign anew.
    site = site.model_copy(update={"models": {}})
    speed = speed_of(row, part.engine, needs, site)
    return score_seconds(tokens, needs.weights_gb, speed, site) / 3600


def _is_small(part: Part, needs: Needs, site: Site) -> bool:
    """Whether a part shares its job: one of many checkpoints, or less than a whole node."""
    if part.scope != "multi":
        return True
    return site.whole_nodes and (needs.kind is None or needs.gpus < needs.kind.per_node)


def _width(needs: Needs, site: Site) -> int:
    """GPUs (or cores) of a pack of parts that need ``needs``."""
    if not site.whole_nodes:
        return needs.gpus or needs.cores
    if needs.kind:
        return needs.kind.per_node
    held = int(site.cpu.memory_gb * 1000) // (needs.memory_mb // needs.cores)
    return max(needs.cores, min(site.cpu.cores, held))


def _bins(loads: Sequence[_Load], width: int, hours: float) -> list[list[_Load]]:
    """Loads in bins of ``width`` × ``hours``: the longest first, each where it still fits."""
    bins: list[list[_Load]] = []
    room: list[float] = []
    for load in sorted(loads, key=lambda each: -each.hours * each.slots):
        size = load.hours * load.slots
        place = next((i for i, left in enumerate(room) if left >= size), None)
        if place is None:
            place = len(bins)
            bins.append([])
            room.append(width * hours)
        bins[place].append(load)
        room[place] -= size
    return bins


def _named(name: str, number: int, loads: Sequence[_Load], width: int) -> Pack:
    parts = tuple(load.part for load in loads)
    together = sum(load.hours * load.slots for load in loads) / width
    hours = max(together, *(load.hours for load in loads))
    return Pack(f"{name}-{number}", parts, width, hours)


def pack_parts(
    parts: Sequence[Part],
    rows: Mapping[str, ModelRow],
    needs_of: NeedsOf,
    site: Site | None,
    expected: ExpectationsOf,
) -> list[Pack]:
    """Packs of those parts that share a job; none without a site.

    The checkpoints of a monolingual model share jobs of about ``pack_hours``; where the site
    gives whole nodes, all models that need less than one do. A model that would be alone is in
    no pack.
    """
    if site is None:
        return []
    shares: dict[tuple[str, int], list[_Load]] = {}
    for part in parts:
        needs = needs_of(part.model)
        if _is_small(part, needs, site):
            hours = _hours(part, rows[part.model], needs, site, expected)
            load = _Load(part, needs.gpus or needs.cores, hours)
            # Engines of different environments cannot share a process that starts them.
            place = needs.kind.label if needs.kind else "cpu"
            group = f"{place} {part.engine}" if site.whole_nodes else part.model
            shares.setdefault((group, _width(needs, site)), []).append(load)
    packs = []
    for (group, width), loads in shares.items():
        name = "-".join("".join(c if c.isalnum() or c == "." else " " for c in group).split())
        name += f"-x{width}" if site.whole_nodes else ""
        bins = enumerate(_bins(loads, width, site.pack_hours), start=1)
        packs += [_named(name.lower(), number, each, width) for number, each in bins]
    return [pack for pack in packs if not _is_alone(pack, packs)]


def _is_alone(pack: Pack, packs: Sequence[Pack]) -> bool:
    """Whether a pack is one part of a model that no other pack has a part of.

    The job for parts of their own knows models, so a model is packed as a whole or not.
    """
    others = {part.model for other in packs if other is not pack for part in other.parts}
    return len(pack.parts) == 1 and pack.parts[0].model not in others
