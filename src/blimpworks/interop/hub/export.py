"""Item sets as a data set of the Hugging Face hub: one Parquet file for each subset."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from blimpworks.campaign.catalogue import Pinned, whole_catalogue
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.registry import find_benchmark, paper_of
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.interop.crate.export import Wish, authors_of, new_directory
from blimpworks.interop.crate.licences import (
    DATA,
    UNSTATED,
    licence_name,
    licences_of,
    retrieved_files,
    sources_behind,
)
from blimpworks.interop.crate.select import require_unaltered, results_of, trace_back
from blimpworks.interop.hub.card import SENTENCE, About, Subset, write_card
from blimpworks.judging.sample import CONDITIONS
from blimpworks.parquet import read_parquet

NO_DERIVATIVES = re.compile(r"\bND\b")
"""Part of licences that forbid sharing derived works."""
PAIRED = ("bad", *(f"{side}_{edge}" for side in ("good", "bad") for edge in ("start", "end")))
"""Columns that single sentences do not need."""
NOT_STATED = ("not stated", UNSTATED)
"""Prefixes in catalogues for sources without a licence."""


@dataclass(frozen=True, slots=True)
class Exported:
    """Written subsets, and reasons for those left out."""

    written: list[Subset]
    left_out: dict[str, str]


def _loadable(table: pa.Table) -> pa.Table:
    """Return the table for loaders of the hub: without dictionaries and metadata.

    Tables of single sentences, and of conditions, repeat a row's only sentence: it is kept once,
    without columns of pairs.
    """
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    table = table.cast(pa.schema(fields))
    names = {*table.column_names}
    # Pairs may keep columns that are called so.
    if not ("acceptable" in names or names >= CONDITIONS) or table["good"] != table["bad"]:
        return table
    kept = [name for name in table.column_names if name not in (*PAIRED, SENTENCE)]
    return table.select(kept).rename_columns(
        [SENTENCE if name == "good" else name for name in kept]
    )


def why_not(licences: Sequence[str]) -> str | None:
    """Return why a work under these licences cannot be shared; None where it can.

    >>> why_not(["CC-BY-SA-4.0", "CC-BY-NC-ND-4.0"])
    'CC-BY-NC-ND-4.0 forbids sharing what is made from a source'
    >>> why_not(["CC-BY-SA-4.0"])
    """
    for name in licences:
        if NO_DERIVATIVES.search(name):
            return f"{name} forbids sharing what is made from a source"
        if name.startswith(NOT_STATED):
            return "a source has no stated licence"
    return None


def _stated(licences: Sequence[str], benchmarks: Sequence[str]) -> dict[str, str]:
    """Return licences that the user states, by benchmark. Raises UserError for malformed ones."""
    stated = {}
    for text in licences:
        benchmark, _, licence = text.partition("=")
        if benchmark not in benchmarks or not licence:
            raise UserError(
                f"--licence {text!r} is no BENCHMARK=LICENCE, expected a benchmark that has items "
                f"({', '.join(benchmarks)}) and SPDX's name of a licence, such as CC-BY-4.0."
            )
        stated[benchmark] = licence
    return stated


def _item_tables(results: Path, benchmarks: Sequence[str]) -> list[Path]:
    """Return item tables of a campaign. Raises UserError where the named ones are missing."""
    tables = sorted((results / "items").glob("*/*.parquet"))
    here = list(dict.fromkeys(path.parent.name for path in tables))
    absent = [name for name in benchmarks or ["any benchmark"] if name not in here]
    if absent and (benchmarks or not tables):
        raise UserError(
            f"{results} has no items of {absent[0]}, expected {results}/items/BENCHMARK/"
            f"LANG.parquet (there are: {', '.join(here) or 'none'}); build them with "
            "`snakemake items`."
        )
    return [path for path in tables if not benchmarks or path.parent.name in benchmarks]


def export_hub(
    results: Path,
    campaign_file: Path,
    output: Path,
    wish: Wish,
    run: Callable[[list[str]], object],
    benchmarks: Sequence[str] = (),
    licences: Sequence[str] = (),
) -> Exported:
    """Write item sets and their data set card to the new directory ``output``.

    A subset is a benchmark in a language. Subsets whose licence forbids sharing are left out and
    named in the card. ``licences`` (BENCHMARK=LICENCE) are for sources that state none. ``run``
    runs a command line of this package in this process. Raises UserError when nothing can be
    shared, or when a table differs from its record.
    """
    campaign = load_campaign(campaign_file)
    own = results_of(campaign, campaign_file, results)
    tables = _item_tables(own, benchmarks)
    stated = _stated(licences, sorted({path.parent.name for path in tables}))
    trace = trace_back(tables)
    require_unaltered(trace, own, run)
    # None stands for a retrieved file that nothing pins.
    pinned: dict[Path, Pinned | None] = dict.fromkeys(retrieved_files(trace))
    pinned |= sources_behind(trace, campaign)
    subsets = []
    for path in tables:
        benchmark = path.parent.name
        declared = licence_name(paper_of(benchmark).citation.licence)
        names = [declared] if declared != UNSTATED else []
        if find_benchmark(benchmark).own_words:
            names = [DATA]
        else:
            fallback = stated.get(benchmark) or next(iter(names), None)
            behind = trace.behind(path)
            sources = [row for source, row in pinned.items() if source in behind]
            of_sources = [*licences_of(filter(None, sources))]
            if not of_sources or None in sources:
                of_sources.append(UNSTATED)
            for name in of_sources:
                names.append(fallback if fallback and name.startswith(NOT_STATED) else name)
        subsets.append(Subset(benchmark, path.stem, path, tuple(dict.fromkeys(names))))
    reasons = {subset.name: why_not(subset.licences) for subset in subsets}
    left_out = {name: reason for name, reason in reasons.items() if reason}
    chosen = [subset for subset in subsets if subset.name not in left_out]
    if not chosen:
        name, reason = next(iter(left_out.items()))
        raise UserError(
            f"none of {len(left_out)} item sets can be shared; {name}: {reason}. Where a source "
            "states none and you know its licence, say so with --licence BENCHMARK=LICENCE."
        )
    with new_directory(output) as root:
        written = []
        for subset in chosen:
            table = _loadable(read_parquet(subset.table))
            columns = tuple(table.column_names)
            has_conditions = "good" not in columns and {*columns} >= CONDITIONS
            items = len(table["item"].unique()) if has_conditions else len(table)
            path = root / subset.file
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table.replace_schema_metadata(), path, compression="zstd")
            written.append(replace(subset, rows=len(table), items=items, columns=columns))
        languages = whole_catalogue(campaign).languages.values()
        about = About(
            campaign.campaign,
            campaign.description,
            authors_of(wish),
            {row.lang: row.name for row in languages},
            trace.root_hash(),
        )
        write_text(root / "README.md", write_card(about, written, left_out))
    return Exported(written, left_out)
