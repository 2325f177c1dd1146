"""The papers that there are: of this package, registered by others, or declared as data.

A paper of this package has a room ``blimpworks.papers.NAME`` with a module ``paper``. Another
distribution registers one with an entry point of the group ``blimpworks.papers`` that names its
``Paper``::

    [project.entry-points."blimpworks.papers"]
    kablimp = "kablimp.paper:PAPER"

A benchmark that is data alone is a folder in ``config/benchmarks`` (docs/benchmarks.md).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from blimpworks.campaign.paper import Benchmark, Paper
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.records.packages import GROUP, registered_papers

if TYPE_CHECKING:  # the catalogue asks the registry
    from blimpworks.campaign.catalogue import Catalogue


DECLARED = "blimpworks.benchmarks.paper:declared_papers"
"""What gives the papers of benchmarks that are declared as data."""


def _own() -> list[EntryPoint]:
    rooms = importlib.import_module(GROUP).__path__
    names = [module.name for module in pkgutil.iter_modules(rooms) if module.ispkg]
    return [EntryPoint(name, f"{GROUP}.{name}.paper:PAPER", GROUP) for name in names]


def _load(entry: EntryPoint) -> Paper:
    try:
        paper = entry.load()
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"paper {entry.name!r}: {entry.value} cannot be loaded ({error}); expected a Paper. "
            "Correct the package that registers it, or uninstall it."
        ) from error
    if not isinstance(paper, Paper) or paper.name != entry.name:
        raise UserError(
            f"paper {entry.name!r}: {entry.value} is {paper!r:.80}; expected a Paper of that name. "
            "Correct the package that registers it, or uninstall it."
        )
    return paper


def _every() -> Iterator[tuple[str, Paper]]:
    """Each paper, and what registers it."""
    for entry in [*_own(), *registered_papers()]:
        yield entry.value, _load(entry)
    for paper in cast(Callable[[], list[Paper]], load(DECLARED))():
        yield f"config/benchmarks/{paper.name}", paper


@cache
def papers() -> Mapping[str, Paper]:
    """All papers by name, in the order in which reports have them.

    Raises UserError for one that cannot be loaded, or two papers or benchmarks of one name,
    or a paper that is called like a key of every campaign.
    """
    registered: dict[str, Paper] = {}
    taken: set[str] = set()
    for origin, paper in _every():
        names = {benchmark.name for benchmark in paper.benchmarks}
        twice = sorted(names & taken | {paper.name} & registered.keys())
        if twice:
            raise UserError(
                f"{origin}: {twice[0]!r} is registered twice; rename it in the package that "
                "registers it, or uninstall one of the two."
            )
        if paper.name in Campaign.model_fields:
            raise UserError(
                f"{origin}: {paper.name!r} is a key of every campaign, so no section can be "
                "called so; rename the paper in the package that registers it."
            )
        registered[paper.name] = paper
        taken |= names
    in_order = sorted(registered.items(), key=lambda item: (item[1].position, item[0]))
    return MappingProxyType(dict(in_order))


@cache
def benchmarks() -> Mapping[str, Benchmark]:
    """All benchmarks by name."""
    return MappingProxyType({b.name: b for paper in papers().values() for b in paper.benchmarks})


def find_paper(name: str) -> Paper:
    """The paper of that name. Raises UserError for an unknown one."""
    if name not in papers():
        raise UserError(f"paper {name!r} is unknown; expected one of {', '.join(papers())}.")
    return papers()[name]


def find_benchmark(name: str) -> Benchmark:
    """The benchmark of that name. Raises UserError for an unknown one."""
    if name not in benchmarks():
        known = ", ".join(benchmarks())
        raise UserError(f"benchmark {name!r} is unknown; expected one of {known}.")
    return benchmarks()[name]


def paper_of(benchmark: str) -> Paper:
    """The paper that a benchmark is of. Raises UserError for an unknown benchmark."""
    find_benchmark(benchmark)
    return next(p for p in papers().values() if benchmark in {b.name for b in p.benchmarks})


def papers_of(campaign: Campaign) -> list[Paper]:
    """Papers whose benchmarks a campaign has."""
    return [p for p in papers().values() if {b.name for b in p.benchmarks} & {*campaign.benchmarks}]


def check_papers(campaign: Campaign, catalogue: Catalogue) -> None:
    """See that a campaign has what its benchmarks are made of. Raises UserError else."""
    for paper in papers_of(campaign):
        paper.check(campaign, catalogue)


def printed_folder(published: Path, paper: str) -> Path:
    """Folder of a paper's printed numbers: its own, or the one below ``published``."""
    registered = papers().get(paper)
    return (registered and registered.printed) or published / paper


def load(address: str) -> object:
    """What ``module:name`` names."""
    module, _, name = address.partition(":")
    return getattr(importlib.import_module(module), name)
