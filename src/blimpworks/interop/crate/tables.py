"""The contents of a crate: exhibits, checked to be unaltered, tables as CSV, and licences."""

import csv
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from blimpworks.audit.cells import CELLS_SUFFIX
from blimpworks.audit.check import make_again, verify
from blimpworks.audit.evidence import FOLDERS as EVIDENCE_FOLDERS
from blimpworks.audit.evidence import nearest
from blimpworks.audit.lineage import Jobs, Lineage
from blimpworks.campaign.catalogue import Pinned, load_catalogue
from blimpworks.campaign.exhibits import file_reader
from blimpworks.campaign.registry import benchmarks, paper_of
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.exhibits.shared import counted
from blimpworks.files import below
from blimpworks.parquet import read_parquet
from blimpworks.records.job import REPOSITORY
from blimpworks.retrieval.sources import locked_file
from blimpworks.yaml_files import read_yaml

WITH_JUDGEMENTS = ("items", "accuracies")
"""Kinds of tables that accompany judgements, although the cells do not need them."""
FOLDERS = {
    "judgements": ("benchmark", "model", "lang"),
    "scores": ("benchmark", "model", "lang"),
    "items": ("benchmark",),
    "agreement": ("benchmark", "lang"),
    "agreement_counts": ("benchmark", "lang"),
    "sentences": ("lang",),
    "tokens": ("lang",),
    "candidates": ("benchmark", "lang"),
    "lexicon": ("lang",),
}
"""Columns that only the path of a table contains, by kind."""
# Treebank text stays where its licence put it: cells count sentences and words.
LEFT_OUT = {"sentences": ("text", "comments"), "tokens": ("form", "lemma", "misc")}
PLACES = {"items": "items", "published": "printed"}
"""Folder in the crate of a kind of table, if it is not in tables/."""
FORMS = {"measured": "exhibits", "published": "published"}
"""Directory of exhibits, by form."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A user's choices: exhibits by paper/name (none: all), further kinds of tables."""

    exhibits: Sequence[str] = ()
    tables: Sequence[str] = ()
    gzip: bool = False
    authors: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """An exhibit in one form, and the table of its cells."""

    paper: str
    name: str
    form: str
    cells: Path


@dataclass
class Plan:
    """The verified contents of a crate that is not written yet."""

    results: Path
    campaign: Campaign
    campaign_file: Path
    jobs: Jobs
    authors: list[str]
    gzip: bool = False
    exhibits: list[Shown] = field(default_factory=list)
    comparisons: list[Path] = field(default_factory=list)
    behind: pd.DataFrame = field(default_factory=pd.DataFrame)

    def inputs(self) -> list[Path]:
        tables = self.behind["original"].drop_duplicates()
        cells = [exhibit.cells for exhibit in self.exhibits]
        return [self.campaign_file, *cells, *tables, *self.comparisons]


def authors_of(wish: Wish) -> list[str]:
    """Return authors that the user names, else those of the software."""
    if wish.authors:
        return [*wish.authors]
    stated = read_yaml(REPOSITORY / "CITATION.cff", "the software's authors")
    return [author["name"] for author in stated["authors"]]


def results_of(campaign: Campaign, source: Path, results: Path) -> Path:
    """Return the results directory as records spell it. Raises UserError for another campaign's."""
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
    return campaign_results


def find_exhibits(results: Path, chosen: Collection[str]) -> list[Shown]:
    """Return exhibits, or those ``chosen`` by paper/name. Raises UserError where one is missing."""
    by_form = {
        (form, f"{path.parent.name}/{path.name.removesuffix(CELLS_SUFFIX)}"): path
        for form, folder in FORMS.items()
        for path in sorted((results / folder).glob(f"*/*{CELLS_SUFFIX}"))
    }
    if not by_form:
        raise UserError(
            f"{results} has no exhibits (expected {results}/exhibits/PAPER/EXHIBIT{CELLS_SUFFIX}); "
            "build them with snakemake."
        )
    keys = list(dict.fromkeys(key for _, key in by_form))
    if unknown := [key for key in chosen if key not in keys]:
        raise UserError(f"{results} has no exhibit {unknown[0]!r}; there are: {', '.join(keys)}.")
    return [
        Shown(path.parent.name, key.partition("/")[2], form, path)
        for (form, key), path in by_form.items()
        if not chosen or key in chosen
    ]


def require_unaltered(jobs: Jobs, results: Path, run: Callable[[list[str]], object]) -> None:
    """Hash all files of jobs, and make their cheap products again.

    A missing file outside the results, such as a large model, is no fault. ``run`` runs a command
    line of this package in this process. Raises UserError when a file differs from the records or
    from what is made again, a record was edited, or a result is missing.
    """
    findings = [
        finding
        for finding in verify(jobs)
        if finding.problem != "missing" or finding.path.is_relative_to(results)
    ] or make_again(jobs, [], run)[1]
    if findings:
        further_files = counted(len(findings) - 1, "more file")
        more = f" ({further_files} not as recorded)" if findings[1:] else ""
        raise UserError(
            f"{findings[0].path} is {findings[0].problem}: {findings[0].detail}{more}; a crate "
            f"would not be what its records say. `blimpworks check {results}` lists what is "
            "wrong; rebuild it with snakemake."
        )


def read_csv(path: Path, nrows: int | None = None) -> pd.DataFrame:
    """Read as a reader of the crate: "nan" is a language, "NA" a word, only "" is missing."""
    return pd.read_csv(path, keep_default_na=False, na_values=[""], nrows=nrows)


@dataclass(frozen=True, slots=True)
class Copied:
    """A table in the crate."""

    kind: str
    original: Path
    place: Path
    columns: tuple[str, ...] = ()


def _below(kind: str, original: Path) -> tuple[str, ...]:
    components = original.with_suffix("").parts
    folder = EVIDENCE_FOLDERS.get(kind, kind).rpartition("/")[2]
    return components[len(components) - components[::-1].index(folder) :]


def read_table(kind: str, original: Path) -> pd.DataFrame:
    """Read a table with columns of its path, labels as strings, and lists as JSON."""
    read = file_reader(kind)
    if read is not None:
        return read([original])
    frame: pd.DataFrame = read_parquet(original).to_pandas()
    frame = frame.drop(columns=list(LEFT_OUT.get(kind, ())))
    frame = frame.astype(dict.fromkeys(frame.select_dtypes("category"), object))
    for column in frame:
        first = frame[column].dropna().head(1)
        if len(first) and hasattr(first.iloc[0], "tolist") and first.iloc[0].ndim:
            frame[column] = frame[column].map(
                lambda array: json.dumps(array.tolist(), ensure_ascii=False), na_action="ignore"
            )
    below = _below(kind, original)
    for folder_number, name in enumerate(FOLDERS.get(kind, ())):
        if name not in frame and folder_number < len(below):
            frame.insert(folder_number, name, below[folder_number])
    return frame


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as UTF-8 CSV with LF line ends; .gz files as gzip without a time."""
    packed = {"method": "gzip", "mtime": 0} if path.suffix == ".gz" else None
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(path, index=False, lineterminator="\n", compression=packed)


def tables_behind(exhibits: Iterable[Shown], further: Sequence[str], jobs: Jobs) -> pd.DataFrame:
    """Return tables that exhibits are computed from, and those of ``further`` kinds behind them.

    Columns paper, form, exhibit, source (the kind of table), original (its path).
    """
    graph, rows = Lineage(records=jobs.search), []
    for exhibit in exhibits:
        tree = graph.product(exhibit.cells)
        assert tree is not None
        cells = read_parquet(exhibit.cells, columns=["source"])
        sources: list[str] = cells["source"].unique().to_pylist()
        judged = WITH_JUDGEMENTS if "judgements" in sources else ()
        rows += [
            (exhibit.paper, exhibit.form, exhibit.name, source, table.path)
            for source in dict.fromkeys([*sources, *judged, *further])
            for table in nearest(tree, source)
        ]
    return pd.DataFrame(rows, columns=["paper", "form", "exhibit", "source", "original"])


def copy_tables(behind: pd.DataFrame, root: Path, *, packed: bool) -> list[Copied]:
    """Copy each table once, as CSV; CSV files unchanged. ``packed``: all but items as gzip."""
    copies = []
    pairs = behind[["source", "original"]].drop_duplicates().itertuples(index=False)
    for kind, original in pairs:
        # Item sets stay as they are for readers of their Croissant metadata.
        is_copy = original.suffix == ".csv"
        suffix = ".csv.gz" if packed and kind != "items" and not is_copy else ".csv"
        folder, name = PLACES.get(kind, f"tables/{kind}"), "/".join(_below(kind, original))
        place = below(Path(folder), name + suffix, f"the place of {original}")
        if is_copy:
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(original, root / place)
            frame = read_csv(original, nrows=0)
        else:
            frame = read_table(kind, original)
            write_csv(frame, root / place)
        copies.append(Copied(kind, original, place, tuple(map(str, frame))))
    return copies


def all_cells(exhibits: Iterable[Shown]) -> pd.DataFrame:
    """Return the cells of all exhibits, after the columns paper, form and exhibit."""
    frames: list[pd.DataFrame] = []
    for exhibit in exhibits:
        frame: pd.DataFrame = read_parquet(exhibit.cells).to_pandas()
        names = {"paper": exhibit.paper, "form": exhibit.form, "exhibit": exhibit.name}
        for position, (column, name) in enumerate(names.items()):
            frame.insert(position, column, name)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


# Licences


UNSTATED = "licence not stated by the source"
CODE, DATA = "Apache-2.0", "CC0-1.0"
"""Licences of our code, and of our data: word lists, declarations and what they generate."""
NAMES = {"CC0": "CC0-1.0", "GNU GPL 3.0": "GPL-3.0-only", "C-UDA 1.0": "C-UDA-1.0"}
"""SPDX's names of licences with other names in the catalogue."""
CREATIVE_COMMONS = re.compile(r"CC[ -](BY(?:-NC)?(?:-SA|-ND)?) (\d\.\d)")
SPDX = re.compile(r"CC0-1\.0|CC-BY[A-Z-]*-\d\.\d|GPL-3\.0-only|C-UDA-1\.0|Apache-2\.0|MIT")


def licence_name(stated: str) -> str:
    """Return a licence's SPDX name if it has one.

    >>> licence_name("CC BY-NC-SA 4.0")
    'CC-BY-NC-SA-4.0'
    """
    if match := CREATIVE_COMMONS.match(stated):
        return f"CC-{match[1]}-{match[2]}"
    return NAMES.get(stated, stated) or UNSTATED


def licence_url(name: str) -> str | None:
    """Return SPDX's page of a licence, None without one."""
    return f"https://spdx.org/licenses/{name}" if SPDX.fullmatch(name) else None


def retrieved_files(jobs: Jobs) -> set[Path]:
    """Return retrieved files, whether or not the catalogue pins them now."""
    records = jobs.by_output.values()
    retrieved = (record["outputs"] for record in records if record["verb"] == "retrieve")
    return {Path(entry["path"]) for entries in retrieved for entry in entries}


def sources_behind(jobs: Jobs, campaign: Campaign) -> dict[Path, Pinned]:
    """Return retrieved files with their catalogue rows. Raises UserError for a broken catalogue."""
    catalogue = load_catalogue(campaign)
    pinned: list[Pinned] = [row for rows in catalogue.treebanks.values() for row in rows]
    rows: dict[str, Pinned] = {}
    for row in [*pinned, *catalogue.sources.values()]:
        name = getattr(row, "name", "")
        table = catalogue.tables.get(name, campaign.catalogue.treebanks)
        # Without a pin, the SHA-256 recorded when the file was first retrieved.
        locked = None if row.sha256 else locked_file(table, name, row.url)
        if sha256 := row.sha256 or (locked.sha256 if locked else ""):
            rows[sha256] = row
    return {
        path: rows[sha256]
        for path in sorted(retrieved_files(jobs))
        if (sha256 := jobs.entries[jobs.key(path)]["sha256"]) in rows
    }


def licences_of(rows: Iterable[Pinned]) -> dict[str, int]:
    """Count files under each licence, most frequent first."""
    return dict(Counter(licence_name(row.licence) for row in rows).most_common())


def licences_behind(jobs: Jobs, rows: Mapping[Path, Pinned], results: Path) -> dict[str, int]:
    """Count files under each licence: of sources, and of benchmarks that state one.

    The latter are the files from outside behind a benchmark's items. Without a known licence:
    ``UNSTATED`` with zero files.
    """
    files_by_licence: dict[str, set[Path]] = {}
    for entry in jobs.entries.values():
        table = Path(entry["path"])
        # Some papers have further tables of items, which are of no benchmark alone.
        if not table.is_relative_to(results / "items") or table.parent.name not in benchmarks():
            continue
        if stated := paper_of(table.parent.name).citation.licence:
            outside = {path for path, record in jobs.behind(table).items() if record is None}
            files_by_licence.setdefault(licence_name(stated), set()).update(outside)
    counts = Counter({name: len(files) for name, files in files_by_licence.items()})
    counts.update(licences_of(rows.values()))
    return dict(counts.most_common()) or {UNSTATED: 0}


ANY = "*"
Descriptions = Mapping[tuple[str, str], tuple[str, str]]
"""Units and meanings by table and column; the table is ``*`` where all tables agree."""


def read_dictionary() -> Descriptions:
    """Return descriptions of columns."""
    with Path(__file__).with_name("dictionary.tsv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t")]
    return {(row["table"], row["column"]): (row["unit"], row["meaning"]) for row in rows}


def describe(known: Descriptions, table: str, column: str) -> tuple[str, str]:
    """Return unit and meaning of a column of a kind of table; empty without a description.

    The first part of a kind such as items/BENCHMARK/all decides. Columns that benchmarks keep of
    their own files share one description.
    """
    kind = table.partition("/")[0]
    keys = ((kind, column), (ANY, column), (kind, ANY))
    return next((known[key] for key in keys if key in known), ("", ""))


def dictionary(tables: Mapping[str, Iterable[str]]) -> pd.DataFrame:
    """Return the data dictionary of a crate: table, column, unit, meaning."""
    known = read_dictionary()
    rows = [
        (table, column, *describe(known, table, column))
        for table, columns in tables.items()
        for column in columns
    ]
    return pd.DataFrame(rows, columns=["table", "column", "unit", "meaning"])
