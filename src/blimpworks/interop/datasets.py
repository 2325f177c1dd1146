"""Write item sets for data set loaders: CSV with Croissant metadata, or a data set of the HF hub.

Croissant metadata state the types of columns. Their format is MLCommons Croissant 1.0 with its
vocabulary for responsible AI (RAI) 1.0; the reference library mlcroissant writes and checks them.
Only RAI's properties that hold for every item set are stated. A data set of the Hugging Face hub
has a Parquet file for each subset, and a card.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from string import Template
from types import ModuleType
from typing import Any

import langcodes
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from blimpworks import __version__
from blimpworks.audit.lineage import jobs_behind
from blimpworks.campaign.catalogue import Pinned, whole_catalogue
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.registry import find_benchmark, paper_of
from blimpworks.errors import UserError
from blimpworks.exhibits.shared import counted
from blimpworks.files import sha256_of, write_text
from blimpworks.interop.crate.tables import (
    DATA,
    UNSTATED,
    CratePlan,
    Descriptions,
    ExportOptions,
    authors_of,
    describe,
    licence_name,
    licence_url,
    licences_of,
    new_directory,
    read_csv,
    read_dictionary,
    read_table,
    require_unaltered,
    results_of,
    retrieved_files,
    sources_behind,
    write_csv,
)
from blimpworks.judging.sample import CONDITIONS
from blimpworks.tables import read_parquet

FILE_NAME = "croissant.json"
CONFORMS_TO = ("http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0")
LIMITATIONS = (
    "An item tests one contrast: that a model gets it right does not show that it knows the "
    "construction.",
    "Items made by rules from treebanks and lexicons inherit their errors.",
    "Sentences of public sources may have been in the text that a model was trained on.",
)
USE_CASES = (
    "Evaluation of language models. Not for training: models that have seen the items "
    "cannot be evaluated on them.",
)


def _record_set(croissant: ModuleType, path: Path, dictionary: Descriptions) -> Any:
    """Return the record set of a language, with a record per row and a field per column."""
    lang, frame, types = path.stem, read_csv(path), croissant.DataType
    tests = {
        pd.api.types.is_bool_dtype: types.BOOL,
        pd.api.types.is_integer_dtype: types.INTEGER,
        pd.api.types.is_float_dtype: types.FLOAT,  # also integers with missing values
    }
    fields = [
        croissant.Field(
            id=f"{lang}/{column}",
            name=f"{lang}/{column}",
            description=describe(dictionary, "items", str(column))[1] or str(column),
            data_types=next((name for is_it, name in tests.items() if is_it(values)), types.TEXT),
            source=croissant.Source(
                file_object=path.name, extract=croissant.Extract(column=str(column))
            ),
        )
        for column, values in frame.items()
    ]
    # A pair can be in several paradigms.
    key = [f"{lang}/item_id", f"{lang}/paradigm"]
    about = f"{len(frame)} items"
    return croissant.RecordSet(id=lang, name=lang, key=key, description=about, fields=fields)


def write_croissant(folder: Path, plan: CratePlan, licences: Sequence[str]) -> Path:
    """Write metadata of the files ``LANG.csv`` in ``folder``, which has the benchmark's name.

    Raises UserError without mlcroissant.
    """
    try:
        import mlcroissant as croissant
    except ModuleNotFoundError as error:
        raise UserError(
            "Croissant metadata need the package mlcroissant, which is not installed; "
            "`pip install mlcroissant`."
        ) from error
    files, dictionary = sorted(folder.glob("???.csv")), read_dictionary()
    benchmark, jobs, campaign = folder.name, plan.jobs, plan.campaign
    tables = [Path(entry["path"]) for entry in jobs.entries.values()]
    made = [path for path in tables if path.is_relative_to(plan.results / "items" / benchmark)]
    behind = filter(None, jobs.behind(*made).values())
    verbs = [record["verb"] for record in sorted(behind, key=lambda record: record["started"])]
    statements: dict[str, Any] = {
        "data_collection": "Items are derived by programs from published sources, which the "
        "record of each job names with a checksum.",
        "data_collection_type": ["Secondary Data Analysis"],
        "personal_sensitive_information": [
            "None is collected. Texts of the sources are kept as published; names of persons in "
            "them are neither removed nor marked."
        ],
        "data_limitations": list(LIMITATIONS),
        "data_use_cases": list(USE_CASES),
    }
    if find_benchmark(benchmark).own_words:
        # These items use no source of the campaign, only this repository's lexicon.
        licences, origin = [DATA], "a lexicon written for this purpose."
        statements["data_collection"] = f"Sentences are generated by rules from {origin}"
        del statements["data_collection_type"]
        statements["personal_sensitive_information"] = [f"None: all words are from {origin}"]
    if verbs:
        steps = f"Commands of blimpworks, in this order: {', '.join(dict.fromkeys(verbs))}."
        statements["data_preprocessing_protocol"] = [steps]
    # Not today, so that the same results have the same metadata.
    ended = max(record["ended"] for record in jobs.by_output.values())
    description = f"Items of {benchmark}, campaign {campaign.campaign}. {campaign.description}"
    metadata = croissant.Metadata(
        name=f"{benchmark}-{campaign.campaign}",
        description=description.strip(),
        license=list(licences),
        creators=[croissant.Organization(name=name) for name in plan.authors],
        date_published=datetime.fromisoformat(ended[:10]).replace(tzinfo=UTC),
        version=__version__,
        cite_as=paper_of(benchmark).citation.text,
        conforms_to=list(CONFORMS_TO),
        **statements,
        distribution=[
            croissant.FileObject(
                id=path.name,
                name=path.name,
                content_url=path.name,
                content_size=f"{path.stat().st_size} B",
                encoding_formats=["text/csv"],
                sha256=sha256_of(path),
            )
            for path in files
        ],
        record_sets=[_record_set(croissant, path, dictionary) for path in files],
    )
    output = folder / FILE_NAME
    text = json.dumps(metadata.to_json(), indent=1, ensure_ascii=False, default=str)
    write_text(output, text + "\n")
    return output


def export_croissant(
    results: Path,
    campaign_file: Path,
    output: Path,
    options: ExportOptions,
    run: Callable[[list[str]], object],
) -> list[Path]:
    """Write item sets as CSV with Croissant metadata; return the metadata files.

    Raises UserError without items, or when they differ from their records.
    """
    campaign = load_campaign(campaign_file)
    results = results_of(campaign, campaign_file, results)
    tables = {
        folder.name: sorted(folder.glob("*.parquet"))
        for folder in sorted((results / "items").glob("*"))
    }
    jobs = jobs_behind(chain.from_iterable(tables.values()))
    require_unaltered(jobs, results, run)
    plan = CratePlan(results, campaign, campaign_file, jobs, authors_of(options))
    with new_directory(output) as root:
        for name, paths in tables.items():
            if not paths:
                raise UserError(
                    f"there are no items of {name}, expected <results>/items/{name}/LANG.parquet; "
                    "build them with `snakemake items`."
                )
            for path in paths:
                write_csv(read_table("items", path), root / name / f"{path.stem}.csv")
            write_croissant(root / name, plan, [*plan.licences])
    return [output / name / FILE_NAME for name in tables]


SENTENCE = "sentence"
"""Column for the sentence of a row that has no good and bad one."""
SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
)
"""Upper bounds in rows, and the hub's names, of classes of size."""
HUB_LICENCES = {
    *("apache-2.0", "mit", "cc0-1.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"),
    *("cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0"),
    *("gpl-3.0", "lgpl-lr", "c-uda"),
}
"""Licences in catalogues that the hub lists."""
OTHERWISE = {"gpl-3.0-only": "gpl-3.0", "c-uda-1.0": "c-uda"}
"""The hub's names of licences by SPDX name, if they differ."""
PAIRS: dict[str, list[str]] = {
    "task_categories": ["text-classification"],
    "task_ids": ["acceptability-classification"],
}
TASKS: dict[str, dict[str, list[str]]] = {
    **dict.fromkeys(("pair", "sentence", "item"), PAIRS),
    "prompt": {"task_categories": ["text-generation"]},
}
"""The hub's tasks by unit of items."""
UNITS = {
    "pair": "minimal sets of sentences, of which one is grammatical",
    "prompt": "prompts with what counts as their answer",
    "sentence": "sentences, each acceptable or not",
    "item": "items of several conditions, with predictions over the surprisals of their regions",
}
"""Descriptions of units of items."""


@dataclass(frozen=True, slots=True)
class Subset:
    """Items of a benchmark in a language, which the hub calls a configuration."""

    benchmark: str
    lang: str
    licences: tuple[str, ...]
    rows: int
    items: int
    """Number of items; an item has a row for each condition, if it has conditions."""
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.benchmark}-{self.lang}"

    @property
    def file(self) -> str:
        return f"{self.benchmark}/{self.lang}.parquet"

    @property
    def unit(self) -> str:
        """Unit of its items, by the columns of its file."""
        if "good" in self.columns or SENTENCE not in self.columns:
            return find_benchmark(self.benchmark).unit
        return "item" if {*self.columns} >= CONDITIONS else "sentence"


def hub_licence(name: str) -> str:
    """Return the hub's name of a licence, ``other`` for one that it does not list.

    >>> hub_licence("CC-BY-SA-4.0"), hub_licence("CC-BY-NC-SA-2.5")
    ('cc-by-sa-4.0', 'other')
    """
    lower = name.lower()
    licence = OTHERWISE.get(lower, lower)
    return licence if licence in HUB_LICENCES else "other"


def write_card(
    campaign: str,
    subsets: Sequence[Subset],
    left_out: Mapping[str, str],
    languages: Mapping[str, str],
    **about: str,
) -> str:
    """Return the card of a data set with these subsets.

    ``left_out``: reasons by name of a subset that is left out. ``languages``: names by code.
    ``about``: description, authors and root_hash.
    """
    papers = [paper_of(subset.benchmark) for subset in subsets]
    cited = {paper.name: paper.citation.listed for paper in papers}
    rows = []
    for subset, paper in zip(subsets, papers, strict=True):
        addresses = {name: licence_url(name) for name in subset.licences}
        licences = [f"[{name}]({url})" if url else name for name, url in addresses.items()]
        rows.append(
            f"| `{subset.name}` | {paper.citation.label} | "
            f"{languages.get(subset.lang, subset.lang)} | {subset.items:,} | "
            f"{', '.join(licences)} |"
        )
    dictionary, columns = read_dictionary(), []
    for name in dict.fromkeys(column for subset in subsets for column in subset.columns):
        if meaning := describe(dictionary, "items", name)[1]:
            escaped = meaning.replace("|", "\\|")
            columns.append(f"| `{name}` | {escaped} |")
    reasons = "".join(f"- `{name}`: {reason}\n" for name, reason in left_out.items())
    tags = sorted({str(langcodes.standardize_tag(subset.lang)) for subset in subsets})
    units = dict.fromkeys(subset.unit for subset in subsets)
    tasks: dict[str, list[str]] = {}
    for key, values in (pair for unit in units for pair in TASKS[unit].items()):
        tasks[key] = list(dict.fromkeys([*tasks.get(key, []), *values]))
    total = sum(subset.rows for subset in subsets)
    header = {
        "pretty_name": f"Item sets of the campaign {campaign}",
        "language": tags,
        "multilinguality": ["multilingual" if len(tags) > 1 else "monolingual"],
        "license": list(dict.fromkeys(hub_licence(x) for s in subsets for x in s.licences)),
        **tasks,
        "size_categories": [next((size for limit, size in SIZES if total < limit), "n>1T")],
        "tags": [
            "linguistic-acceptability",
            *(["minimal-pairs"] if "pair" in units else []),
            "blimpworks",
        ],
        "configs": [
            {"config_name": subset.name, "data_files": [{"split": "test", "path": subset.file}]}
            for subset in subsets
        ],
    }
    template = Template(Path(__file__).with_name("card.template.md").read_text(encoding="utf-8"))
    return template.substitute(
        about,
        header=yaml.safe_dump(header, allow_unicode=True, sort_keys=False),
        campaign=campaign,
        counts=f"{sum(s.items for s in subsets):,} items in {counted(len(subsets), 'subset')}",
        units=" and ".join(UNITS[unit] for unit in units),
        use=" ".join(USE_CASES),
        limits="\n".join(f"- {limit}" for limit in LIMITATIONS),
        first=subsets[0].name,
        subsets="\n".join(rows),
        columns="\n".join(columns),
        left_out=f"\nLeft out of this data set, though the campaign has them:\n\n{reasons}"
        if left_out
        else "",
        citations="\n".join(cited.values()),
        version=__version__,
    )


NO_DERIVATIVES = re.compile(r"\bND\b")
"""Part of the names of licences that forbid sharing derived works."""
PAIRED = ("bad", *(f"{side}_{edge}" for side in ("good", "bad") for edge in ("start", "end")))
"""Columns that single sentences do not need."""
NOT_STATED = ("not stated", UNSTATED)
"""Beginnings of the catalogue's entry for a source without a licence."""


def _loadable(table: pa.Table) -> pa.Table:
    """Return a table for the hub's loaders, without dictionaries and metadata.

    In tables of single sentences or conditions, the good and the bad sentence of a row are the
    same: keep it once, without the columns of pairs.
    """
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    table = table.cast(pa.schema(fields))
    names = {*table.column_names}
    # Tables of pairs may have columns of these names too.
    if not ("acceptable" in names or names >= CONDITIONS) or table["good"] != table["bad"]:
        return table
    kept = [name for name in table.column_names if name not in (*PAIRED, SENTENCE)]
    return table.select(kept).rename_columns(
        [SENTENCE if name == "good" else name for name in kept]
    )


def why_not(licences: Sequence[str]) -> str | None:
    """Return the reason why data under these licences cannot be shared; None if they can.

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


def export_hub(
    results: Path,
    campaign_file: Path,
    output: Path,
    options: ExportOptions,
    run: Callable[[list[str]], object],
    benchmarks: Sequence[str] = (),
    licences: Sequence[str] = (),
) -> tuple[list[Subset], dict[str, str]]:
    """Write item sets and their card to the new directory ``output``.

    Return the subsets (a benchmark in a language), and the reasons for subsets that are left out
    because a licence forbids sharing. ``licences`` (BENCHMARK=LICENCE) are for sources that state
    none. ``run``: function that runs a command line of this package in this process. Raises
    UserError when nothing can be shared, or when a table differs from its record.
    """
    campaign = load_campaign(campaign_file)
    results = results_of(campaign, campaign_file, results)
    tables = sorted((results / "items").glob("*/*.parquet"))
    names = list(dict.fromkeys(path.parent.name for path in tables))
    absent = [name for name in benchmarks or ["any benchmark"] if name not in names]
    if absent and (benchmarks or not tables):
        raise UserError(
            f"{results} has no items of {absent[0]}, expected {results}/items/BENCHMARK/"
            f"LANG.parquet (there are: {', '.join(names) or 'none'}); build them with "
            "`snakemake items`."
        )
    tables = [path for path in tables if not benchmarks or path.parent.name in benchmarks]
    chosen_names = sorted({path.parent.name for path in tables})
    stated = {}
    for text in licences:
        benchmark, _, licence = text.partition("=")
        if benchmark not in chosen_names or not licence:
            raise UserError(
                f"--licence {text!r} is no BENCHMARK=LICENCE, expected a benchmark that has items "
                f"({', '.join(chosen_names)}) and SPDX's name of a licence, such as CC-BY-4.0."
            )
        stated[benchmark] = licence
    jobs = jobs_behind(tables)
    require_unaltered(jobs, results, run)
    # None for a retrieved file that the catalogue does not pin.
    pinned: dict[Path, Pinned | None] = dict.fromkeys(retrieved_files(jobs))
    pinned |= sources_behind(jobs, campaign)
    licences_of_tables: dict[Path, tuple[str, ...]] = {}
    for path in tables:
        benchmark = path.parent.name
        declared = licence_name(paper_of(benchmark).citation.licence)
        names = [declared] if declared != UNSTATED else []
        if find_benchmark(benchmark).own_words:
            names = [DATA]
        else:
            fallback = stated.get(benchmark) or next(iter(names), None)
            behind = jobs.behind(path)
            sources = [row for source, row in pinned.items() if source in behind]
            of_sources = [*licences_of(filter(None, sources))]
            if not of_sources or None in sources:
                of_sources.append(UNSTATED)
            for name in of_sources:
                names.append(fallback if fallback and name.startswith(NOT_STATED) else name)
        licences_of_tables[path] = tuple(dict.fromkeys(names))
    reasons = {path: why_not(names) for path, names in licences_of_tables.items()}
    left_out = {f"{path.parent.name}-{path.stem}": why for path, why in reasons.items() if why}
    if all(reasons.values()):
        name, reason = next(iter(left_out.items()))
        raise UserError(
            f"none of {len(left_out)} item sets can be shared; {name}: {reason}. Where a source "
            "states none and you know its licence, say so with --licence BENCHMARK=LICENCE."
        )
    with new_directory(output) as root:
        written = []
        for path in (path for path, why in reasons.items() if not why):
            table = _loadable(read_parquet(path))
            columns = tuple(table.column_names)
            has_conditions = "good" not in columns and {*columns} >= CONDITIONS
            items = len(table["item"].unique()) if has_conditions else len(table)
            keys = path.parent.name, path.stem, licences_of_tables[path]
            written.append(Subset(*keys, len(table), items, columns))
            target = root / written[-1].file
            target.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table.replace_schema_metadata(), target, compression="zstd")
        text = write_card(
            campaign.campaign,
            written,
            left_out,
            {row.lang: row.name for row in whole_catalogue(campaign).languages.values()},
            description=campaign.description,
            authors=", ".join(authors_of(options)),
            root_hash=jobs.root_hash(),
        )
        write_text(root / "README.md", text)
    return written, left_out
