"""Papers of this package, registered by other distributions, or declared as data.

A paper of this package is ``blimpworks.papers.NAME`` with a module ``paper``. Another distribution
registers its ``Paper`` with an entry point of the group ``blimpworks.papers``::

    [project.entry-points."blimpworks.papers"]
    kablimp = "kablimp.paper:PAPER"

A benchmark that is data alone is a folder in ``config/benchmarks``, or one that a campaign names
(docs/benchmarks.md).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from blimpworks.campaign.paper import ANY, Benchmark, Paper
from blimpworks.campaign.settings.base import TiePolicy, Variant
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.records.packages import GROUP, entries_of

if TYPE_CHECKING:  # the catalogue asks the registry
    from blimpworks.campaign.catalogue import Catalogue


DECLARED = "blimpworks.benchmarks.paper:declared_papers"
"""Function that returns papers of declared benchmarks, and the faults of others."""
FOLDERS = "BLIMPWORKS_DECLARED"
"""Environment variable with a campaign's folders of benchmarks, which jobs inherit."""


def _load(entry: EntryPoint) -> Paper:
    try:
        paper = entry.load()
    except (ImportError, AttributeError) as error:
        paper, fault = None, f"cannot be loaded ({error})"
    else:
        fault = f"is {paper!r:.80}"
    if not isinstance(paper, Paper) or paper.name != entry.name:
        raise UserError(
            f"paper {entry.name!r}: {entry.value} {fault}; expected a Paper of that name. Correct "
            "the package that registers it, or uninstall it."
        )
    return paper


def _register(paper: Paper, origin: str, registered: dict[str, Paper]) -> None:
    """Add a paper. Raises UserError for a name that is taken, or a key of every campaign."""
    names = {benchmark.name for benchmark in paper.benchmarks}
    taken = {benchmark.name for each in registered.values() for benchmark in each.benchmarks}
    twice = sorted(names & taken | {paper.name} & registered.keys())
    if twice:
        raise UserError(
            f"{origin}: {twice[0]!r} is registered twice; rename it there, or take away one of "
            "the two."
        )
    if paper.name in Campaign.model_fields:
        raise UserError(
            f"{origin}: {paper.name!r} is a key of every campaign, so no section can be "
            "called so; rename it there."
        )
    registered[paper.name] = paper


@cache
def registered() -> tuple[Mapping[str, Paper], Mapping[str, str]]:
    """Return all papers by name in the order of reports, and faults of declared benchmarks.

    Raises UserError for a paper of a package that cannot be loaded, or whose name is taken.
    """
    by_name: dict[str, Paper] = {}
    rooms = pkgutil.iter_modules(importlib.import_module(GROUP).__path__)
    names = [module.name for module in rooms if module.ispkg]
    entries = [EntryPoint(name, f"{GROUP}.{name}.paper:PAPER", GROUP) for name in names]
    for entry in [*entries, *entries_of(GROUP)]:
        _register(_load(entry), entry.value, by_name)
    declared, faults = cast(
        Callable[[], tuple[Mapping[Path, Paper], dict[str, str]]], load(DECLARED)
    )()
    for folder, paper in declared.items():
        try:
            _register(paper, str(folder), by_name)
        except UserError as error:
            faults[paper.name] = str(error)
    in_order = sorted(by_name.items(), key=lambda item: (item[1].position, item[0]))
    return MappingProxyType(dict(in_order)), MappingProxyType(faults)


def papers() -> Mapping[str, Paper]:
    """Return all papers by name, in the order of reports. Raises as ``registered``."""
    return registered()[0]


def check_usable(name: str) -> None:
    """Raise UserError with the fault of a declared benchmark that cannot be used."""
    if name in registered()[1]:
        raise UserError(registered()[1][name])


@cache
def benchmarks() -> Mapping[str, Benchmark]:
    """Return all benchmarks by name."""
    return MappingProxyType({b.name: b for paper in papers().values() for b in paper.benchmarks})


def find_paper(name: str) -> Paper:
    """Return the paper of that name. Raises UserError for an unknown one."""
    if name not in papers():
        check_usable(name)
        raise UserError(f"paper {name!r} is unknown; expected one of {', '.join(papers())}.")
    return papers()[name]


def find_benchmark(name: str) -> Benchmark:
    """Return the benchmark of that name. Raises UserError for an unknown one."""
    if name not in benchmarks():
        check_usable(name)
        names = ", ".join(benchmarks())
        raise UserError(f"benchmark {name!r} is unknown; expected one of {names}.")
    return benchmarks()[name]


def paper_of(benchmark: str) -> Paper:
    """Return the paper of a benchmark. Raises UserError for an unknown benchmark."""
    find_benchmark(benchmark)
    return next(p for p in papers().values() if benchmark in {b.name for b in p.benchmarks})


def papers_of(campaign: Campaign) -> list[Paper]:
    """Return the papers whose benchmarks a campaign has."""
    return [p for p in papers().values() if {b.name for b in p.benchmarks} & {*campaign.benchmarks}]


def check_papers(campaign: Campaign, catalogue: Catalogue) -> None:
    """Check that a campaign has the data of its benchmarks. Raises UserError."""
    for paper in papers_of(campaign):
        paper.check(campaign, catalogue)


def printed_folder(published: Path, paper: str) -> Path:
    """Return the folder of a paper's printed numbers: its own, or one below ``published``."""
    registered = papers().get(paper)
    return (registered and registered.printed) or published / paper


def load(address: str) -> object:
    """Import the object that ``module:name`` names."""
    module, _, name = address.partition(":")
    return getattr(importlib.import_module(module), name)


TIES: dict[str, float] = {"wrong": 0.0, "right": 1.0, "half": 0.5}
"""Value of a tie, by policy."""


def tie_policy(benchmark: str, variant: Variant, method: str) -> TiePolicy:
    """Return the policy for ties of ``method`` on ``benchmark``.

    Raises UserError for a benchmark without pairs, or an unknown one.
    """
    policies = find_benchmark(benchmark).ties
    if variant not in policies:
        known = ", ".join(name for name, each in benchmarks().items() if each.ties)
        raise UserError(f"{benchmark} ({variant}) has no policy for ties; expected one of {known}.")
    return policies[variant].get(method, policies[variant][ANY])
