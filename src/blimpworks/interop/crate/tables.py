"""The tables of a crate, as CSV for pandas alone."""

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from blimpworks.audit.evidence import FOLDERS as EVIDENCE_FOLDERS
from blimpworks.audit.evidence import nearest
from blimpworks.audit.lineage import Jobs, Lineage
from blimpworks.campaign.exhibits import file_reader
from blimpworks.files import below
from blimpworks.interop.crate.select import Shown
from blimpworks.parquet import read_parquet

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
    """Return the parts of a table's path below the directory of its kind."""
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
    """Copy each table once into the crate at ``root``, as CSV; CSV files unchanged.

    ``packed``: all but items as gzip.
    """
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
