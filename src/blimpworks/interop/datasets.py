"""Export the items of benchmarks as data sets that other programs can load.

``export_croissant`` writes CSV files with metadata in MLCommons' format Croissant 1.0, with its
vocabulary for responsible AI (RAI) 1.0. ``export_hub`` writes a data set for the Hugging Face hub:
a Parquet file for each subset, which is a benchmark in a language, and a card (README.md). The data
set for the hub leaves out a subset if the licence of one of its sources forbids sharing.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import langcodes
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from jinja2 import Template

from blimpworks import __version__
from blimpworks.audit.lineage import Jobs, jobs_behind
from blimpworks.campaign.catalogue import Pinned, whole_catalogue
from blimpworks.campaign.registry import find_benchmark, paper_of
from blimpworks.errors import UserError
from blimpworks.exhibits.shared import counted
from blimpworks.files import sha256_of, write_text
from blimpworks.interop.crate import tables as crate
from blimpworks.interop.crate.tables import TEXTS
from blimpworks.judging.sample import CONDITIONS
from blimpworks.tables import read_parquet

FILE_NAME = "croissant.json"


def _record_set(croissant: ModuleType, path: Path, dictionary: crate.Descriptions) -> Any:
    """Return Croissant's record set for a language's CSV file, with a field for each column.

    ``croissant``: the module mlcroissant. ``dictionary``: descriptions of columns.
    """
    lang, frame, types = path.stem, crate.read_csv(path), croissant.DataType
    # By numpy's letter for a kind of number; integers with missing values are floats.
    type_of_kind = {"b": types.BOOL, "i": types.INTEGER, "f": types.FLOAT}
    fields = []
    for column, values in frame.items():
        extract = croissant.Extract(column=str(column))
        field = croissant.Field(
            id=f"{lang}/{column}",
            name=f"{lang}/{column}",
            description=crate.describe(dictionary, "items", str(column))[1] or str(column),
            data_types=type_of_kind.get(values.dtype.kind, types.TEXT),
            source=croissant.Source(file_object=path.name, extract=extract),
        )
        fields.append(field)
    # A pair can be in several paradigms, with a row for each.
    key = [f"{lang}/item_id", f"{lang}/paradigm"]
    # An item with conditions has a row for each condition, with the sentence as "good" and "bad".
    # Pairs may have the columns of conditions too, but with different sentences.
    has_conditions = {*frame} >= CONDITIONS and frame["good"].equals(frame["bad"])
    count = counted(frame["item"].nunique() if has_conditions else len(frame), "item")
    return croissant.RecordSet(id=lang, name=lang, key=key, description=count, fields=fields)


def _commands_behind(benchmark: str, plan: crate.CratePlan) -> list[str]:
    """Return the names of the commands that made a benchmark's items, in the order of their run."""
    jobs, folder = plan.jobs, plan.results / "items" / benchmark
    paths = [Path(entry["path"]) for entry in jobs.entries.values()]
    ancestors = jobs.behind(*(path for path in paths if path.is_relative_to(folder)))
    records = [record for record in ancestors.values() if record]
    records.sort(key=lambda record: record["started"])
    return list(dict.fromkeys(record["verb"] for record in records))


def write_croissant(folder: Path, plan: crate.CratePlan, licences: Sequence[str]) -> Path:
    """Write ``croissant.json`` for the files ``LANG.csv`` in ``folder``; return its path.

    The folder is named after the benchmark. ``licences``: names of licences of the files that its
    items were made from. Raises UserError if mlcroissant is not installed.
    """
    try:
        import mlcroissant as croissant
    except ModuleNotFoundError as error:
        raise UserError(
            "Croissant metadata need the package mlcroissant, which is not installed; "
            "`pip install mlcroissant`."
        ) from error
    files, dictionary = sorted(folder.glob("???.csv")), crate.read_dictionary()
    benchmark, campaign = folder.name, plan.campaign
    own_words = find_benchmark(benchmark).own_words
    statements = {**TEXTS["statements"]["all"]}
    statements |= TEXTS["statements"]["own_words" if own_words else "from_sources"]
    if commands := _commands_behind(benchmark, plan):
        steps = f"Commands of blimpworks, in this order: {', '.join(commands)}."
        statements["data_preprocessing_protocol"] = [steps]
    # The date is the end of the last job, so that the same results have the same metadata.
    ended = max(record["ended"] for record in plan.jobs.by_output.values())
    description = f"Items of {benchmark}, campaign {campaign.campaign}. {campaign.description}"
    metadata = croissant.Metadata(
        name=f"{benchmark}-{campaign.campaign}",
        description=description.strip(),
        license=[crate.DATA] if own_words else list(licences),
        creators=[croissant.Organization(name=name) for name in plan.authors],
        date_published=datetime.fromisoformat(ended[:10]).replace(tzinfo=UTC),
        version=__version__,
        cite_as=paper_of(benchmark).citation.text,
        conforms_to=TEXTS["conforms_to"],
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
    authors: Sequence[str],
    run: Callable[[list[str]], object],
) -> list[Path]:
    """Write a campaign's items as CSV with Croissant metadata; return the metadata files.

    ``run``: function that runs a command line of this package in this process. Raises UserError
    without items, or when an items table differs from the record of its job.
    """
    campaign, results = crate.campaign_of(campaign_file, results)
    folders = sorted((results / "items").glob("*"))
    tables = {folder.name: sorted(folder.glob("*.parquet")) for folder in folders}
    jobs = jobs_behind(chain.from_iterable(tables.values()))
    crate.require_unaltered(jobs, results, run)
    plan = crate.CratePlan(results, campaign, campaign_file, jobs, crate.authors_of(authors))
    with crate.new_directory(output) as root:
        for name, paths in tables.items():
            if not paths:
                raise UserError(
                    f"there are no items of {name}, expected <results>/items/{name}/LANG.parquet; "
                    "build them with `snakemake items`."
                )
            for path in paths:
                crate.write_csv(crate.read_table("items", path), root / name / f"{path.stem}.csv")
            write_croissant(root / name, plan, crate.item_licences(paths, plan))
    return [output / name / FILE_NAME for name in tables]


# Data sets of the Hugging Face hub

SENTENCE = "sentence"
"""Column for the text of a row in which the good and the bad sentence are the same."""


class Subset(NamedTuple):
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
        """Unit of the items, a key of ``units`` in texts.yaml."""
        # ``_loadable`` leaves one column of sentences if these are no pairs.
        if "good" in self.columns or SENTENCE not in self.columns:
            return find_benchmark(self.benchmark).unit
        return "item" if {*self.columns} >= CONDITIONS else "sentence"


def hub_licence(name: str) -> str:
    """Return the hub's name for a licence, or ``other`` if the hub does not list it.

    >>> hub_licence("CC-BY-SA-4.0"), hub_licence("CC-BY-NC-SA-2.5")
    ('cc-by-sa-4.0', 'other')
    """
    lower = name.lower()
    licence: str = TEXTS["other_names"].get(lower, lower)
    return licence if licence in TEXTS["hub_licences"] else "other"


def _card_header(campaign: str, subsets: Sequence[Subset]) -> dict[str, Any]:
    """Return the fields of a card by which the hub finds and loads a data set."""
    tags = sorted({str(langcodes.standardize_tag(subset.lang)) for subset in subsets})
    units = dict.fromkeys(subset.unit for subset in subsets)
    tasks: dict[str, list[str]] = {}
    for unit in units:
        for key, names in TEXTS["tasks"][unit].items():
            tasks[key] = list(dict.fromkeys([*tasks.get(key, []), *names]))
    minimal_pairs = ["minimal-pairs"] if "pair" in units else []
    licences = [hub_licence(name) for subset in subsets for name in subset.licences]
    total = sum(subset.rows for subset in subsets)
    # "n<1K" is for less than 10^3 rows, "1K<n<10K" for less than 10^4, and so on.
    size = next(name for exponent, name in enumerate(TEXTS["sizes"], 3) if total < 10**exponent)
    return {
        "pretty_name": f"Item sets of the campaign {campaign}",
        "language": tags,
        "multilinguality": ["multilingual" if len(tags) > 1 else "monolingual"],
        "license": list(dict.fromkeys(licences)),
        **tasks,
        "size_categories": [size],
        "tags": ["linguistic-acceptability", *minimal_pairs, "blimpworks"],
        "configs": [
            {"config_name": subset.name, "data_files": [{"split": "test", "path": subset.file}]}
            for subset in subsets
        ],
    }


def card_text(
    campaign: str,
    subsets: Sequence[Subset],
    left_out: Mapping[str, str],
    languages: Mapping[str, str],
    **about: str,
) -> str:
    """Return the card of a data set as text: a YAML header for the hub, then Markdown.

    ``left_out`` is {name of a subset: why it is left out}. ``languages`` is {ISO 639-3 code: name}.
    ``about``: values for description, authors and root_hash (a digest of all records).
    """
    papers = [paper_of(subset.benchmark) for subset in subsets]
    citations = {paper.name: paper.citation.listed for paper in papers}
    dictionary = crate.read_dictionary()
    columns = dict.fromkeys(column for subset in subsets for column in subset.columns)
    units = dict.fromkeys(subset.unit for subset in subsets)
    text = Path(__file__).with_name("card.template.md").read_text(encoding="utf-8")
    card: str = Template(text, trim_blocks=True, keep_trailing_newline=True).render(
        about,
        header=yaml.safe_dump(_card_header(campaign, subsets), allow_unicode=True, sort_keys=False),
        campaign=campaign,
        counts=f"{sum(s.items for s in subsets):,} items in {counted(len(subsets), 'subset')}",
        units=" and ".join(TEXTS["units"][unit] for unit in units),
        use=" ".join(TEXTS["statements"]["all"]["data_use_cases"]),
        limits=TEXTS["statements"]["all"]["data_limitations"],
        subsets=subsets,
        rows=zip(subsets, papers, strict=True),
        languages=languages,
        licence_url=crate.licence_url,
        columns={name: crate.describe(dictionary, "items", name)[1] for name in columns},
        left_out=left_out,
        citations=citations.values(),
        version=__version__,
    )
    return card


def _loadable(table: pa.Table) -> pa.Table:
    """Return a table that the hub's loaders can read, with labels as plain strings.

    In tables of single sentences or conditions, the good and the bad sentence of a row are the same
    text. It is kept once, as ``sentence``, without the columns of pairs.
    """
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    table = table.cast(pa.schema(fields))
    names = {*table.column_names}
    has_single_sentences = "acceptable" in names or names >= CONDITIONS
    # Some tables of pairs have these columns too.
    if not has_single_sentences or table["good"] != table["bad"]:
        return table
    omitted = ("bad", "good_start", "good_end", "bad_start", "bad_end", SENTENCE)
    kept = [name for name in table.column_names if name not in omitted]
    return table.select(kept).rename_columns({"good": SENTENCE})


NO_DERIVATIVES = re.compile(r"\bND\b")
"""Matches names of licences that forbid sharing derived works, such as CC-BY-NC-ND-4.0."""
NOT_STATED = ("not stated", crate.UNSTATED)
"""Beginnings of the licence in the catalogue for a source that states none."""


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


def _licence_options(texts: Sequence[str], benchmarks: Sequence[str]) -> dict[str, str]:
    """Return {benchmark: licence} of options BENCHMARK=LICENCE. Raises UserError for others."""
    licences = {}
    for text in texts:
        benchmark, _, licence = text.partition("=")
        if benchmark not in benchmarks or not licence:
            raise UserError(
                f"--licence {text!r} is no BENCHMARK=LICENCE, expected a benchmark that has items "
                f"({', '.join(benchmarks)}) and SPDX's name of a licence, such as CC-BY-4.0."
            )
        licences[benchmark] = licence
    return licences


def _licences_of(
    items: Path, jobs: Jobs, pinned: Mapping[Path, Pinned], fallback: str | None
) -> tuple[str, ...]:
    """Return the licences of a table of items: of its paper, and of the files it was made from.

    ``pinned``: rows of the catalogue by downloaded file. Files that state no licence have that of
    ``fallback``, else of the paper.
    """
    benchmark = items.parent.name
    if find_benchmark(benchmark).own_words:
        return (crate.DATA,)
    licences = []
    paper_licence = crate.licence_name(paper_of(benchmark).citation.licence)
    if paper_licence != crate.UNSTATED:
        licences, fallback = [paper_licence], fallback or paper_licence
    sources = crate.retrieved_files(jobs) & jobs.behind(items).keys()
    names = [*crate.licences_of(pinned[path] for path in sorted(sources & pinned.keys()))]
    if not sources or sources - pinned.keys():
        names.append(crate.UNSTATED)  # as nothing is known of files outside the catalogue
    licences += [fallback if fallback and name.startswith(NOT_STATED) else name for name in names]
    return tuple(dict.fromkeys(licences))


def _write_subset(items: Path, licences: tuple[str, ...], root: Path) -> Subset:
    """Write a table of items below ``root`` for the hub; return its description."""
    table = _loadable(read_parquet(items))
    columns = tuple(table.column_names)
    has_conditions = "good" not in columns and {*columns} >= CONDITIONS
    number = len(table["item"].unique()) if has_conditions else len(table)
    subset = Subset(items.parent.name, items.stem, licences, len(table), number, columns)
    target = root / subset.file
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.replace_schema_metadata(), target, compression="zstd")
    return subset


def export_hub(
    results: Path,
    campaign_file: Path,
    output: Path,
    authors: Sequence[str],
    run: Callable[[list[str]], object],
    benchmarks: Sequence[str],
    licences: Sequence[str],
) -> tuple[list[Subset], dict[str, str]]:
    """Write a campaign's items and a card to the new directory ``output``.

    Return the written subsets, and {name: reason} of subsets that a licence forbids to share.
    ``benchmarks``: names; empty for all. ``licences``: BENCHMARK=LICENCE, for sources that state
    none. ``run``: function that runs a command line of this package in this process. Raises
    UserError when nothing can be shared, or when a table differs from the record of its job.
    """
    campaign, results = crate.campaign_of(campaign_file, results)
    tables = sorted((results / "items").glob("*/*.parquet"))
    available = list(dict.fromkeys(path.parent.name for path in tables))
    absent = [name for name in benchmarks if name not in available]
    if absent or not available:
        raise UserError(
            f"{results} has no items of {absent[0] if absent else 'any benchmark'}, expected "
            f"{results}/items/BENCHMARK/LANG.parquet (there are: {', '.join(available) or 'none'})"
            "; build them with `snakemake items`."
        )
    chosen_names = [name for name in available if not benchmarks or name in benchmarks]
    tables = [path for path in tables if path.parent.name in chosen_names]
    fallbacks = _licence_options(licences, chosen_names)
    jobs = jobs_behind(tables)
    crate.require_unaltered(jobs, results, run)
    pinned = crate.sources_behind(jobs, campaign)
    licences_by_table = {
        path: _licences_of(path, jobs, pinned, fallbacks.get(path.parent.name)) for path in tables
    }
    reasons = {path: why_not(names) for path, names in licences_by_table.items()}
    left_out = {f"{path.parent.name}-{path.stem}": why for path, why in reasons.items() if why}
    if all(reasons.values()):
        name, reason = next(iter(left_out.items()))
        raise UserError(
            f"none of {len(left_out)} item sets can be shared; {name}: {reason}. Where a source "
            "states none and you know its licence, say so with --licence BENCHMARK=LICENCE."
        )
    with crate.new_directory(output) as root:
        shared = [path for path, why in reasons.items() if not why]
        subsets = [_write_subset(path, licences_by_table[path], root) for path in shared]
        text = card_text(
            campaign.campaign,
            subsets,
            left_out,
            {row.lang: row.name for row in whole_catalogue(campaign).languages.values()},
            description=campaign.description,
            authors=", ".join(crate.authors_of(authors)),
            root_hash=jobs.root_hash(),
        )
        write_text(root / "README.md", text)
    return subsets, left_out
