"""Find and copy the contents of a crate: exhibits, the tables behind them, and their licences.

A crate (Workflow Run RO-Crate), which ``export`` writes, is a directory with the results of a
campaign, to be read without this software. An exhibit is a table or figure; its numbers are in
``EXHIBIT.cells.parquet``. The tables that they are computed from become CSV files, with a
dictionary of their columns. A job is one run of a command; its record has inputs and outputs.
"""

import csv
import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from blimpworks.audit.cells import CELLS_SUFFIX
from blimpworks.audit.check import make_again, verify
from blimpworks.audit.evidence import FOLDERS as EVIDENCE_FOLDERS
from blimpworks.audit.evidence import nearest
from blimpworks.audit.lineage import Jobs, Lineage, jobs_behind
from blimpworks.campaign.catalogue import Pinned, SourceRow, TreebankRow, load_catalogue
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.paper import Citation
from blimpworks.campaign.registry import benchmarks, file_reader, find_paper, paper_of
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.exhibits.shared import counted
from blimpworks.files import below, whole_directory
from blimpworks.records.job import REPOSITORY, relative_texts
from blimpworks.records.reading import Record
from blimpworks.retrieval.sources import SHA256, Pin
from blimpworks.tables import read_parquet
from blimpworks.yaml_files import read_yaml

TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_name("texts.yaml"), "texts of metadata")
"""Texts and names in the metadata of data sets and crates."""
FORMS = {"measured": "exhibits", "published": "published"}
"""Folder of exhibits by form: made from the campaign's results, or from printed numbers."""


class ExhibitCells(NamedTuple):
    """An exhibit in one form (a key of ``FORMS``), and the table of its cells (numbers)."""

    paper: str
    name: str
    form: str
    cells: Path


@dataclass
class CratePlan:
    """The verified contents of a crate that is not written yet."""

    results: Path
    campaign: Campaign
    campaign_file: Path
    jobs: Jobs
    """Provenance records of all jobs behind the contents."""
    authors: list[str]
    gzip: bool = False
    """Whether tables other than items are compressed."""
    exhibits: list[ExhibitCells] = field(default_factory=list)
    comparisons: list[Path] = field(default_factory=list)
    """Tables that compare results with printed numbers."""
    behind: pd.DataFrame = field(default_factory=pd.DataFrame)
    """Tables that the exhibits are computed from, as ``tables_behind`` returns them."""

    @property
    def title(self) -> str:
        return f"Results of the campaign {self.campaign.campaign}"

    @property
    def citations(self) -> list[Citation]:
        """Citations of the papers with exhibits in the crate."""
        names = dict.fromkeys(exhibit.paper for exhibit in self.exhibits)
        return [find_paper(name).citation for name in names]

    def inputs(self) -> list[Path]:
        """Return the files that the crate is written from."""
        tables = self.behind["original"].drop_duplicates()
        cells = [exhibit.cells for exhibit in self.exhibits]
        return [self.campaign_file, *cells, *tables, *self.comparisons]

    @cached_property
    def files(self) -> dict[Path, Record | None]:
        """Files that the contents were made from, with the records of their jobs; None: no job."""
        cells = (exhibit.cells for exhibit in self.exhibits)
        return self.jobs.behind(*cells, *self.comparisons)

    @cached_property
    def pinned(self) -> dict[Path, Pinned]:
        """Rows of the catalogue by the downloaded file."""
        return sources_behind(self.jobs, self.campaign)

    @cached_property
    def licences(self) -> dict[str, int]:
        """Number of files under each licence."""
        return licences_behind(self.jobs, self.pinned, self.results)

    @cached_property
    def relative(self) -> Callable[[str], str]:
        """Function that removes paths of this machine from a text."""
        pathvars = self.campaign.pathvars
        folders = {"results": Path(pathvars.results), "resources": Path(pathvars.resources)}
        return relative_texts(folders)


AUTHOR = re.compile(r"(?P<name>[^<>]+?)\s*(?:<(?P<id>https://orcid\.org/[\dX-]{19})>)?")
"""``Ada Doe <https://orcid.org/0000-0001-2345-6789>``, or a name."""


def authors_of(authors: Sequence[str]) -> list[str]:
    """Return ``authors``, or else this software's. Raises UserError for one unlike ``AUTHOR``."""
    for author in authors:
        if not AUTHOR.fullmatch(author):
            raise UserError(
                f"--author is {author!r}; expected a name, or a name and an address of ORCID such "
                "as 'Ada Doe <https://orcid.org/0000-0001-2345-6789>'. Correct it."
            )
    if authors:
        return [*authors]
    stated = read_yaml(REPOSITORY / "CITATION.cff", "the software's authors")
    return [author["name"] for author in stated["authors"]]


def campaign_of(source: Path, results: Path) -> tuple[Campaign, Path]:
    """Return a campaign, and its results' path as in records. UserError if ``results`` is other."""
    campaign = load_campaign(source)
    campaign_results = Path(campaign.pathvars.results)
    if not results.is_dir():
        raise UserError(
            f"{results} does not exist; expected the results of a campaign, as `snakemake` "
            "leaves them. Build them first."
        )
    if campaign_results.resolve() != results.resolve():
        raise UserError(
            f"{source} puts its results in {campaign_results}, which from here is not {results}; "
            "give the results and the campaign file that belong together, in the directory that "
            "the workflow ran in."
        )
    return campaign, campaign_results


def find_exhibits(results: Path, chosen: Collection[str]) -> list[ExhibitCells]:
    """Return all exhibits, or the ``chosen`` PAPER/EXHIBIT. Raises UserError if one is missing."""
    exhibits = [
        ExhibitCells(path.parent.name, path.name.removesuffix(CELLS_SUFFIX), form, path)
        for form, folder in FORMS.items()
        for path in sorted((results / folder).glob(f"*/*{CELLS_SUFFIX}"))
    ]
    if not exhibits:
        raise UserError(
            f"{results} has no exhibits (expected {results}/exhibits/PAPER/EXHIBIT{CELLS_SUFFIX}); "
            "build them with snakemake."
        )
    keys = list(dict.fromkeys(f"{exhibit.paper}/{exhibit.name}" for exhibit in exhibits))
    if unknown := [key for key in chosen if key not in keys]:
        raise UserError(f"{results} has no exhibit {unknown[0]!r}; there are: {', '.join(keys)}.")
    return [e for e in exhibits if not chosen or f"{e.paper}/{e.name}" in chosen]


def require_unaltered(jobs: Jobs, results: Path, run: Callable[[list[str]], object]) -> None:
    """Check that all files are as the jobs recorded them, and make cheap products again.

    Files outside the results, such as large models, may be missing. ``run``: function that runs a
    command line of this package in this process. Raises UserError if a file differs from
    its record or from the product made again. Raises it for an edited record and a missing result.
    """
    findings = [
        finding
        for finding in verify(jobs)
        if finding.problem != "missing" or finding.path.is_relative_to(results)
    ]
    if not findings:
        _, findings = make_again(jobs, [], run)
    if findings:
        more = ""
        if len(findings) > 1:
            more = f" ({counted(len(findings) - 1, 'more file')} not as recorded)"
        raise UserError(
            f"{findings[0].path} is {findings[0].problem}: {findings[0].detail}{more}; a crate "
            f"would not be what its records say. `blimpworks check {results}` lists what is "
            "wrong; rebuild it with snakemake."
        )


def read_csv(path: Path, nrows: int | None = None) -> pd.DataFrame:
    """Read a CSV file of the crate. Only "" is missing, since "nan" is a language, "NA" a word."""
    return pd.read_csv(path, keep_default_na=False, na_values=[""], nrows=nrows)


class Copied(NamedTuple):
    """A table that was copied into the crate."""

    table_kind: str
    """``judgements``, ``items``, ``accuracies`` …; see docs/tables.md."""
    original: Path
    path: Path
    """Path in the crate."""
    columns: tuple[str, ...] = ()


def _components_below(table_kind: str, original: Path) -> tuple[str, ...]:
    """Return ("mine", "gpt2", "eng") for "results/scores/mine/gpt2/eng.parquet", of scores."""
    components = original.with_suffix("").parts
    folder = EVIDENCE_FOLDERS.get(table_kind, table_kind).rpartition("/")[2]
    # Folders above may have the same name, so take the components after the last one.
    after_last = len(components) - components[::-1].index(folder)
    return components[after_last:]


FOLDERS = {
    "items": ("benchmark",),
    **dict.fromkeys(("judgements", "scores"), ("benchmark", "model", "lang")),
    **dict.fromkeys(("agreement", "agreement_counts", "candidates"), ("benchmark", "lang")),
    **dict.fromkeys(("sentences", "tokens", "lexicon"), ("lang",)),
}
"""Columns that are taken from the components of a table's path, by kind of table."""
LEFT_OUT = {"sentences": ("text", "comments"), "tokens": ("form", "lemma", "misc")}
"""Columns that are left out, by kind of table: text of treebanks, which has their licences."""


def read_table(table_kind: str, original: Path) -> pd.DataFrame:
    """Read a table for a CSV file: with columns from its path, and lists as JSON texts."""
    read = file_reader(table_kind)
    if read is not None:
        return read([original])
    frame: pd.DataFrame = read_parquet(original).to_pandas()
    frame = frame.drop(columns=list(LEFT_OUT.get(table_kind, ())))
    frame = frame.astype(dict.fromkeys(frame.select_dtypes("category"), object))
    for column in frame:
        first = frame[column].dropna().head(1)
        if len(first) and isinstance(first.iloc[0], np.ndarray):  # a column of lists
            frame[column] = frame[column].map(
                lambda array: json.dumps(array.tolist(), ensure_ascii=False), na_action="ignore"
            )
    # The last component, the file's name, may have no column.
    pairs = zip(FOLDERS.get(table_kind, ()), _components_below(table_kind, original), strict=False)
    for position, (name, component) in enumerate(pairs):
        if name not in frame:
            frame.insert(position, name, component)
    return frame


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as UTF-8 CSV with LF line ends; as gzip without a time if ``path`` is .gz."""
    packed = {"method": "gzip", "mtime": 0} if path.suffix == ".gz" else None
    path.parent.mkdir(parents=True, exist_ok=True)
    # Readers take a CR without quotation marks for the end of a row, but Python does not quote it.
    texts = frame.select_dtypes(["object", "string"])
    has_cr = texts.apply(lambda cells: cells.astype(str).str.contains("\r", regex=False))
    frame.to_csv(
        path,
        index=False,
        lineterminator="\n",
        compression=packed,
        quoting=csv.QUOTE_NONNUMERIC if has_cr.any(axis=None) else csv.QUOTE_MINIMAL,
    )


def tables_behind(
    exhibits: Iterable[ExhibitCells], further: Sequence[str], jobs: Jobs
) -> pd.DataFrame:
    """Return the tables that exhibits are computed from, and those of ``further`` kinds.

    A row for each exhibit and table. Columns: paper, form, exhibit, source (kind of table),
    original (path of the table).
    """
    graph, rows = Lineage(records=jobs.search), []
    for exhibit in exhibits:
        ancestors = graph.product(exhibit.cells)
        assert ancestors is not None
        cells = read_parquet(exhibit.cells, columns=["source"])
        table_kinds: list[str] = cells["source"].unique().to_pylist()
        if "judgements" in table_kinds:
            # No cell is computed from items and accuracies, but readers of judgements need them.
            table_kinds += ["items", "accuracies"]
        for table_kind in dict.fromkeys([*table_kinds, *further]):
            for table in nearest(ancestors, table_kind):
                rows.append((exhibit.paper, exhibit.form, exhibit.name, table_kind, table.path))
    return pd.DataFrame(rows, columns=["paper", "form", "exhibit", "source", "original"])


def copy_tables(behind: pd.DataFrame, root: Path, *, packed: bool) -> list[Copied]:
    """Copy each table of ``tables_behind`` as CSV; with ``packed``, all but items as gzip.

    Raises UserError for two tables that would have one path in the crate.
    """
    copies: list[Copied] = []
    original_of: dict[Path, Path] = {}
    folders = {"items": "items", "published": "printed"}
    pairs = behind[["source", "original"]].drop_duplicates().itertuples(index=False)
    for table_kind, original in pairs:
        is_csv = original.suffix == ".csv"
        # Croissant metadata describe items as plain CSV.
        suffix = ".csv.gz" if packed and table_kind != "items" and not is_csv else ".csv"
        folder = folders.get(table_kind, f"tables/{table_kind}")
        name = "/".join(_components_below(table_kind, original)) + suffix
        path = below(Path(folder), name, f"the path in the crate of {original}")
        if path in original_of:
            raise UserError(
                f"{path} in the crate would be {original_of[path]} and {original}, from which "
                "different exhibits are computed; expected one of them. Build all exhibits again "
                "with one limit of items, or choose exhibits of one with --exhibit."
            )
        original_of[path] = original
        if is_csv:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(original, root / path)
            frame = read_csv(original, nrows=0)
        else:
            frame = read_table(table_kind, original)
            write_csv(frame, root / path)
        copies.append(Copied(table_kind, original, path, tuple(map(str, frame))))
    return copies


def all_cells(exhibits: Iterable[ExhibitCells]) -> pd.DataFrame:
    """Return the cells of all exhibits, after the columns paper, form and exhibit."""
    names = ["paper", "form", "exhibit"]
    frames = {(e.paper, e.form, e.name): read_parquet(e.cells).to_pandas() for e in exhibits}
    cells: pd.DataFrame = pd.concat(frames, names=names)
    return cells.reset_index(names).reset_index(drop=True)


UNSTATED = "licence not stated by the source"
CODE, DATA = "Apache-2.0", "CC0-1.0"
"""Licences of this repository's code, and of its data: lexicons, declarations, generated items."""
SPDX_NAMES = {"CC0": "CC0-1.0", "GNU GPL 3.0": "GPL-3.0-only", "C-UDA 1.0": "C-UDA-1.0"}
"""Names in SPDX's list of licences, by their names in the catalogue."""
CREATIVE_COMMONS = re.compile(r"CC[ -](BY(?:-NC)?(?:-SA|-ND)?) (\d\.\d)")
SPDX = re.compile(r"CC0-1\.0|CC-BY[A-Z-]*-\d\.\d|GPL-3\.0-only|C-UDA-1\.0|Apache-2\.0|MIT")


def licence_name(stated: str) -> str:
    """Return the SPDX name of a licence, or the stated name without one.

    >>> licence_name("CC BY-NC-SA 4.0")
    'CC-BY-NC-SA-4.0'
    """
    if match := CREATIVE_COMMONS.match(stated):
        return f"CC-{match[1]}-{match[2]}"
    return SPDX_NAMES.get(stated, stated) or UNSTATED


def licence_url(name: str) -> str | None:
    """Return the address of SPDX's page on a licence; None without one."""
    return f"https://spdx.org/licenses/{name}" if SPDX.fullmatch(name) else None


def retrieved_files(jobs: Jobs) -> set[Path]:
    """Return the downloaded files, also those that the catalogue no longer has."""
    records = jobs.by_output.values()
    retrieved = (record["outputs"] for record in records if record["verb"] == "retrieve")
    return {Path(entry["path"]) for entries in retrieved for entry in entries}


def sources_behind(jobs: Jobs, campaign: Campaign) -> dict[Path, Pinned]:
    """Return the catalogue's row of each downloaded file, found by the SHA-256 of the file.

    A file that the catalogue does not have is left out. Raises UserError for a bad catalogue.
    """
    catalogue = load_catalogue(campaign)
    treebanks = chain.from_iterable(catalogue.treebanks.values())
    pinned: list[SourceRow | TreebankRow] = [*treebanks, *catalogue.sources.values()]
    row_of_sha256: dict[str, Pinned] = {}
    for row in pinned:
        table = catalogue.tables.get(row.name, campaign.catalogue.treebanks)
        for checksum in Pin.of(row, table).checksums:
            if checksum.algorithm == SHA256:
                row_of_sha256[checksum.digest] = row
    rows: dict[Path, Pinned] = {}
    for path in sorted(retrieved_files(jobs)):
        sha256 = jobs.entries[jobs.key(path)]["sha256"]
        if sha256 in row_of_sha256:
            rows[path] = row_of_sha256[sha256]
    return rows


def licences_of(rows: Iterable[Pinned]) -> dict[str, int]:
    """Count the files under each licence, the most frequent first."""
    return dict(Counter(licence_name(row.licence) for row in rows).most_common())


def licences_behind(jobs: Jobs, rows: Mapping[Path, Pinned], results: Path) -> dict[str, int]:
    """Count the files under each licence: downloaded files, and files of the repository.

    ``rows``: catalogue's rows by downloaded file; other downloaded files are ``UNSTATED``. Files of
    the repository that a benchmark's items were made from have the benchmark's licence. The result
    is {UNSTATED: 0} without any file.
    """
    files_by_licence: dict[str, set[Path]] = defaultdict(set)
    for entry in jobs.entries.values():
        table, benchmark = Path(entry["path"]), Path(entry["path"]).parent.name
        # Some papers have tables of items that belong to no benchmark.
        if not table.is_relative_to(results / "items") or benchmark not in benchmarks():
            continue
        if stated := paper_of(benchmark).citation.licence:
            # Files that no job made are the repository's, or the user's.
            outside = {path for path, record in jobs.behind(table).items() if record is None}
            files_by_licence[licence_name(stated)] |= outside
    counts = Counter({name: len(files) for name, files in files_by_licence.items()})
    counts.update(licences_of(rows.values()))
    if not_in_catalogue := retrieved_files(jobs) - rows.keys():
        counts[UNSTATED] += len(not_in_catalogue)
    return dict(counts.most_common()) or {UNSTATED: 0}


def item_licences(items: Iterable[Path], plan: CratePlan) -> list[str]:
    """Return the names of licences of the files that tables of items were made from."""
    jobs = jobs_behind(items)
    return [*licences_behind(jobs, sources_behind(jobs, plan.campaign), plan.results)]


ANY = "*"  # stands for all tables, or for all columns
Descriptions = Mapping[tuple[str, str], tuple[str, str]]
"""(unit, meaning), keyed by (table, column); the table is ``*`` where all tables agree."""


def read_dictionary() -> Descriptions:
    """Read the descriptions of columns."""
    with Path(__file__).with_name("dictionary.tsv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t")]
    return {(row["table"], row["column"]): (row["unit"], row["meaning"]) for row in rows}


def describe(descriptions: Descriptions, table: str, column: str) -> tuple[str, str]:
    """Return (unit, meaning) of a column of a kind of table; empty texts without a description.

    A kind such as items/BENCHMARK/all is described by its first component. Columns that benchmarks
    copy from their files share one description (column ``*``).
    """
    table_kind = table.partition("/")[0]
    for key in ((table_kind, column), (ANY, column), (table_kind, ANY)):
        if key in descriptions:
            return descriptions[key]
    return "", ""


def dictionary(tables: Mapping[str, Iterable[str]]) -> pd.DataFrame:
    """Return the data dictionary of a crate: table, column, unit, meaning."""
    descriptions = read_dictionary()
    rows = [
        (table, column, *describe(descriptions, table, column))
        for table, columns in tables.items()
        for column in columns
    ]
    return pd.DataFrame(rows, columns=["table", "column", "unit", "meaning"])


def new_directory(path: Path) -> AbstractContextManager[Path]:
    """Make a new directory that becomes ``path``. Raises UserError if ``path`` is not empty."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(
            f"{path} already exists and is not an empty directory; remove it, or give another."
        )
    return whole_directory(path)
