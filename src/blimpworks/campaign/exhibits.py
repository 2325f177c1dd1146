"""Exhibits of all papers, and those that a campaign can build.

Plain data without heavy imports, because the Snakefile reads it each time it is parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from blimpworks.campaign.exhibit_spec import ExhibitSpec
from blimpworks.campaign.paper import TableKind
from blimpworks.campaign.registry import find_paper, load, papers
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

CORE_TABLES = {
    "accuracies": TableKind(
        template="{results}/accuracies/{paper}.parquet",
        published="{results}/accuracies/printed/{paper}.parquet",
        evaluated=True,
    ),
    "comparisons": TableKind(template="{results}/comparisons/{paper}.parquet", evaluated=True),
    "judgements": TableKind(
        paths=lambda layout, paper: layout.evaluated_tables("judgements", paper), evaluated=True
    ),
    "items": TableKind(paths=lambda layout, paper: layout.items_tables(paper)),
    # Print has its own.
    "perplexities": TableKind(
        paths=lambda layout, paper: layout.perplexity_tables(paper), published=""
    ),
    # For what only print has: an exhibit without numbers of its own.
    "printed": TableKind(paths=lambda layout, paper: layout.printed_tables(paper)),
}
"""Kinds of tables that the workflow makes for any paper."""


@cache
def exhibits() -> Mapping[str, ExhibitSpec]:
    """Return all papers' exhibits by key, in the papers' order."""
    return MappingProxyType({e.key: e for paper in papers().values() for e in paper.exhibits})


def find_exhibit(key: str) -> ExhibitSpec:
    """Return the exhibit ``paper/name``. Raises UserError for an unknown one."""
    if key not in exhibits():
        raise UserError(f"there is no exhibit {key!r}; there are: {', '.join(exhibits())}.")
    return exhibits()[key]


def table_kind(paper: str, kind: str) -> TableKind:
    """Return a kind of table of a paper, or else of the core.

    Raises UserError for an unknown one.
    """
    tables = {**CORE_TABLES, **find_paper(paper).tables}
    if kind not in tables:
        raise UserError(
            f"paper {paper!r}: an exhibit names the kind of table {kind!r}; expected one of "
            f"{', '.join(sorted(tables))}. Correct the exhibit, or add the kind to its paper."
        )
    return tables[kind]


def _judged_benchmarks(spec: ExhibitSpec) -> tuple[str, ...]:
    """Return benchmarks whose judgements an exhibit needs."""
    if any(table_kind(spec.paper, table_name).of_all_benchmarks for table_name in spec.needs):
        return tuple(benchmark.name for benchmark in find_paper(spec.paper).benchmarks)
    return (spec.paper,) if is_evaluated(spec) else ()


def is_evaluated(spec: ExhibitSpec) -> bool:
    """Return whether an exhibit shows results of models on the items."""
    return any(table_kind(spec.paper, table_name).evaluated for table_name in spec.needs)


def absent_kinds(spec: ExhibitSpec, campaign: Campaign) -> list[TableKind]:
    """Return kinds of tables that an exhibit needs and the campaign cannot have."""
    kinds = (table_kind(spec.paper, name) for name in spec.needs)
    return [kind for kind in kinds if kind.absent(campaign)]


def of_benchmarks(
    benchmarks: Collection[str],
    campaign: Campaign,
    *,
    evaluated: Collection[str],
    sampled: Collection[str] = (),
) -> list[ExhibitSpec]:
    """Return exhibits of papers whose ``benchmarks`` a campaign has items of.

    An exhibit of results needs its benchmarks among the ``evaluated`` ones; a learning curve needs
    one among ``sampled``, which models trained on samples were evaluated on. Exhibits without
    ``needs``, with a kind of table that the campaign cannot have, or ``omitted`` are left out.
    """
    return [
        spec
        for spec in exhibits().values()
        if spec.paper in (sampled if spec.of_samples else benchmarks)
        and spec.paper in benchmarks
        and spec.needs
        and spec.alias not in campaign.omitted
        and not absent_kinds(spec, campaign)
        and (spec.of_samples or {*_judged_benchmarks(spec)} <= {*evaluated})
    ]


def refused(campaign: Campaign, benchmarks: Sequence[str]) -> dict[str, str]:
    """Return the reasons for exhibits that a campaign cannot build, by key."""
    return {
        spec.key: f"exhibit {spec.key} {absent_kind.why_absent}"
        for spec in exhibits().values()
        if spec.paper in benchmarks
        for absent_kind in absent_kinds(spec, campaign)[:1]
        if absent_kind.why_absent
    }


def file_reader(kind: str) -> Callable[[Sequence[Path]], pd.DataFrame] | None:
    """Return the reader for files of a kind of table that are not Parquet; None where they are."""
    readers = (paper.tables[kind].reader for paper in papers().values() if kind in paper.tables)
    address = next(filter(None, readers), None)
    return None if address is None else cast(Callable[..., "pd.DataFrame"], load(address))
