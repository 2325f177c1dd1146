"""Find papers, benchmarks and exhibits by name: ``find_benchmark("mine")`` returns a ``Benchmark``.

A ``Paper`` describes the reproduced parts of a paper: benchmarks (items for models), and exhibits
(tables and figures), which are made from input tables such as "accuracies". It comes from

1. a package ``blimpworks.papers.NAME`` of this project, with a module ``paper``,
2. another distribution with an entry point of the group ``blimpworks.papers``::

    [project.entry-points."blimpworks.papers"]
    kablimp = "kablimp.paper:PAPER"

3. a benchmark that is declared as data (docs/benchmarks.md): a folder in ``config/benchmarks``, or
   a folder that a campaign names. It is treated as a paper with one benchmark.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from blimpworks.campaign.paper import ANY, Benchmark, ExhibitSpec, Paper, TableKind
from blimpworks.campaign.settings.base import TiePolicy, Variant
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError, find
from blimpworks.records.digest import GROUP, entries_of

if TYPE_CHECKING:
    import pandas as pd

    from blimpworks.campaign.catalogue import Catalogue

DECLARED = "blimpworks.benchmarks.paper:declared_papers"
"""Address of the function that returns two dictionaries: the paper of each folder with a
declaration, and the error message on each declared benchmark that cannot be used."""
FOLDERS = "BLIMPWORKS_DECLARED"
"""Environment variable with the folders of benchmarks that a campaign names, for its jobs."""


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
    """Add a paper. Raises UserError if its name is taken, or is a setting's name in campaigns."""
    names = {benchmark.name for benchmark in paper.benchmarks}
    names_before = {b.name for earlier in registered.values() for b in earlier.benchmarks}
    twice = sorted(names & names_before) or [*{paper.name} & registered.keys()]
    if twice:
        raise UserError(f"{origin}: {twice[0]!r} is registered twice; rename it, or remove one.")
    if paper.name in Campaign.model_fields:
        raise UserError(
            f"{origin}: {paper.name!r} is a key of every campaign; give the paper another name."
        )
    registered[paper.name] = paper


@cache
def registered() -> tuple[Mapping[str, Paper], Mapping[str, str]]:
    """Return {name: paper} in the order of reports, and {benchmark: error message}.

    The second has the declared benchmarks that cannot be used. Raises UserError for a paper of a
    package that cannot be loaded, or that has a taken name.
    """
    by_name: dict[str, Paper] = {}
    modules = pkgutil.iter_modules(importlib.import_module(GROUP).__path__)
    names = [module.name for module in modules if module.ispkg]
    entries = [EntryPoint(name, f"{GROUP}.{name}.paper:PAPER", GROUP) for name in names]
    for entry in [*entries, *entries_of(GROUP)]:
        _register(_load(entry), entry.value, by_name)
    declared, faults = pkgutil.resolve_name(DECLARED)()
    for folder, paper in declared.items():
        try:
            _register(paper, str(folder), by_name)
        except UserError as error:
            faults[paper.name] = str(error)
    in_order = sorted(by_name.items(), key=lambda item: (item[1].position, item[0]))
    return MappingProxyType(dict(in_order)), MappingProxyType(faults)


def papers() -> Mapping[str, Paper]:
    """Return {name: paper} in the order of reports. Raises the errors of ``registered``."""
    return registered()[0]


def check_usable(name: str) -> None:
    """Raise UserError if ``name`` is a declared benchmark that cannot be used."""
    faults = registered()[1]
    if name in faults:
        raise UserError(faults[name])


@cache
def benchmarks() -> Mapping[str, Benchmark]:
    """Return {name: benchmark}, in the order of the papers."""
    return MappingProxyType({b.name: b for paper in papers().values() for b in paper.benchmarks})


def find_paper(name: str) -> Paper:
    """Return the paper of that name. Raises UserError for an unknown one."""
    check_usable(name)
    return find(papers(), name, "paper")


def find_benchmark(name: str) -> Benchmark:
    """Return the benchmark of that name. Raises UserError for an unknown one."""
    check_usable(name)
    return find(benchmarks(), name, "benchmark")


def paper_of(benchmark: str) -> Paper:
    """Return the paper of a benchmark. Raises UserError for an unknown benchmark."""
    find_benchmark(benchmark)
    return next(p for p in papers().values() if benchmark in {b.name for b in p.benchmarks})


def papers_of(campaign: Campaign) -> list[Paper]:
    """Return the papers of which a campaign runs a benchmark, in the order of reports."""
    return [p for p in papers().values() if {b.name for b in p.benchmarks} & {*campaign.benchmarks}]


def check_papers(campaign: Campaign, catalogue: Catalogue) -> None:
    """Check that a campaign has the data of its benchmarks. Raises UserError for missing data."""
    for paper in papers_of(campaign):
        paper.check(campaign, catalogue)


def printed_folder(published: Path, paper: str) -> Path:
    """Return the folder of a paper's printed numbers: the paper's own, or ``published``/NAME."""
    entry = papers().get(paper)
    return entry.printed if entry and entry.printed else published / paper


def printed_tables(published: Path, paper: str, pattern: str = "*.csv") -> list[Path]:
    """Return the files in the folder of a paper's printed numbers that match the ``pattern``."""
    return sorted(printed_folder(published, paper).glob(pattern))


TIES: dict[str, float] = {"wrong": 0.0, "right": 1.0, "half": 0.5}
"""Accuracy of a pair with equal scores, for each policy."""


def tie_policy(benchmark: str, variant: Variant, method: str) -> TiePolicy:
    """Return how a method counts ties. Raises UserError if the benchmark has no policies."""
    policies = find_benchmark(benchmark).ties
    if variant not in policies:
        names = ", ".join(name for name, candidate in benchmarks().items() if candidate.ties)
        raise UserError(f"{benchmark} ({variant}) has no policy for ties; expected one of {names}.")
    return policies[variant].get(method, policies[variant][ANY])


CORE_TABLES = {
    "accuracies": TableKind(
        paths="{results}/accuracies/{paper}.parquet",
        published="{results}/accuracies/printed/{paper}.parquet",
        evaluated=True,
    ),
    "comparisons": TableKind(paths="{results}/comparisons/{paper}.parquet", evaluated=True),
    "judgements": TableKind(
        paths=lambda layout, paper: layout.evaluated_tables("judgements", paper), evaluated=True
    ),
    "items": TableKind(paths=lambda layout, paper: layout.items_tables(paper)),
    # An empty ``published``: no exhibit of printed numbers reads this table.
    "perplexities": TableKind(
        paths=lambda layout, paper: layout.perplexity_tables(paper), published=""
    ),
    # For exhibits that show only printed numbers.
    "printed": TableKind(paths=lambda layout, paper: layout.printed_tables(paper)),
}
"""Input tables that the workflow makes for all papers, keyed by the name that exhibits use."""


@cache
def exhibits() -> Mapping[str, ExhibitSpec]:
    """Return {key: exhibit} of all papers, in the papers' order. A key is ``paper/name``."""
    return MappingProxyType({e.key: e for paper in papers().values() for e in paper.exhibits})


def find_exhibit(key: str) -> ExhibitSpec:
    """Return the exhibit with the key ``paper/name``. Raises UserError for an unknown key."""
    return find(exhibits(), key, "exhibit")


def table_kind(paper: str, name: str) -> TableKind:
    """Return the paper's input table ``name``, or else the core's. Raises UserError if unknown."""
    tables = {**CORE_TABLES, **find_paper(paper).tables}
    remedy = "Correct the exhibit that names it, or add the kind to its paper."
    return find(tables, name, f"paper {paper!r}: the kind of table", remedy)


def _needed_tables(spec: ExhibitSpec) -> list[TableKind]:
    return [table_kind(spec.paper, name) for name in spec.needs]


def is_evaluated(spec: ExhibitSpec) -> bool:
    """Return whether an exhibit shows results of models on the items."""
    return any(table.evaluated for table in _needed_tables(spec))


def _obstacle(spec: ExhibitSpec, campaign: Campaign) -> str:
    # The reason why the campaign cannot make a table of the exhibit; "" if it can.
    return next(filter(None, (table.absent(campaign) for table in _needed_tables(spec))), "")


def exhibits_to_make(
    benchmarks: Collection[str],
    campaign: Campaign,
    *,
    evaluated: Collection[str],
    sampled: Collection[str] = (),
) -> list[ExhibitSpec]:
    """Return the exhibits that a campaign with items of ``benchmarks`` makes.

    ``evaluated``: benchmarks with results of models. ``sampled``: benchmarks with models that were
    trained on samples of a corpus; only these have learning curves. Left out are exhibits of
    printed numbers only, exhibits that need a table that the campaign cannot make, and exhibits
    that the campaign omits.
    """
    made = []
    for spec in exhibits().values():
        # Benchmarks that need results of models. A paper's main benchmark has the paper's name.
        required = {spec.paper} if is_evaluated(spec) else set()
        if any(table.of_all_benchmarks for table in _needed_tables(spec)):
            required = {benchmark.name for benchmark in find_paper(spec.paper).benchmarks}
        has_results = spec.paper in sampled if spec.of_samples else required <= {*evaluated}
        is_wanted = spec.paper in benchmarks and spec.needs and spec.alias not in campaign.omitted
        if is_wanted and has_results and not _obstacle(spec, campaign):
            made.append(spec)
    return made


def refused(campaign: Campaign, benchmarks: Sequence[str]) -> dict[str, str]:
    """Return {exhibit key: reason} of the exhibits that the campaign cannot build."""
    return {
        spec.key: f"exhibit {spec.key} {reason}"
        for spec in exhibits().values()
        if spec.paper in benchmarks and (reason := _obstacle(spec, campaign))
    }


def file_reader(name: str) -> Callable[[Sequence[Path]], pd.DataFrame] | None:
    """Return the function that reads files of the input table ``name``; None for Parquet files.

    Raises UserError if two papers read tables of this name in different ways.
    """
    papers_by_reader = {
        paper.tables[name].reader: paper.name for paper in papers().values() if name in paper.tables
    }
    if len(papers_by_reader) > 1:
        raise UserError(
            f"papers {' and '.join(papers_by_reader.values())} read their tables {name!r} in "
            "different ways; rename the table of one paper."
        )
    address = next(iter(papers_by_reader), "")  # empty for Parquet files
    return cast(Callable[..., "pd.DataFrame"], pkgutil.resolve_name(address)) if address else None
