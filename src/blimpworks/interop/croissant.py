"""Croissant metadata of item sets: what a loader needs to read their files with types.

Format: MLCommons Croissant 1.0, written and checked by the reference library mlcroissant.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from blimpworks.campaign.registry import paper_of
from blimpworks.errors import UserError
from blimpworks.files import sha256_of, write_text
from blimpworks.interop.crate.tables import read_csv, read_table, write_csv
from blimpworks.interop.crate.words import describe, read_dictionary

FILE_NAME = "croissant.json"


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts on an item set that its files do not hold."""

    benchmark: str
    title: str
    description: str
    creators: Sequence[str]
    licences: Sequence[str]
    published: datetime
    version: str


def library() -> ModuleType:
    """The library mlcroissant. Raises UserError where it is not installed."""
    try:
        import mlcroissant
    except ModuleNotFoundError as error:
        raise UserError(
            "Croissant metadata need the package mlcroissant, which is not installed; "
            "`pip install mlcroissant`."
        ) from error
    module: ModuleType = mlcroissant
    return module


def _type(croissant: ModuleType, column: pd.Series) -> Any:
    """Croissant's type of a column; whole numbers with gaps count as fractional."""
    kinds = croissant.DataType
    if pd.api.types.is_bool_dtype(column):
        return kinds.BOOL
    if pd.api.types.is_integer_dtype(column):
        return kinds.INTEGER
    return kinds.FLOAT if pd.api.types.is_float_dtype(column) else kinds.TEXT


def _record_set(croissant: ModuleType, path: Path, known: Mapping[Any, Any]) -> Any:
    """The items of one language: a record per row, a field per column."""
    lang, frame = path.stem, read_csv(path)
    fields = [
        croissant.Field(
            id=f"{lang}/{column}",
            name=f"{lang}/{column}",
            description=describe(known, "items", str(column)).meaning or str(column),
            data_types=_type(croissant, frame[column]),
            source=croissant.Source(
                file_object=path.name, extract=croissant.Extract(column=str(column))
            ),
        )
        for column in frame
    ]
    # A pair can stand in several paradigms.
    key = [f"{lang}/item_id", f"{lang}/paradigm"]
    about = f"{len(frame)} items"
    return croissant.RecordSet(id=lang, name=lang, key=key, description=about, fields=fields)


def describe_items(files: Sequence[Path], facts: Facts) -> dict[str, Any]:
    """Croissant metadata of CSV files, one a language (``deu.csv``), in one directory.

    Raises UserError where mlcroissant is not installed.
    """
    croissant = library()
    known = read_dictionary()
    metadata = croissant.Metadata(
        name=facts.title,
        description=facts.description,
        license=list(facts.licences),
        creators=[croissant.Organization(name=name) for name in facts.creators],
        date_published=facts.published,
        version=facts.version,
        cite_as=paper_of(facts.benchmark).citation.text,
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
        record_sets=[_record_set(croissant, path, known) for path in files],
    )
    document: dict[str, Any] = metadata.to_json()
    return document


def write_croissant(folder: Path, facts: Facts) -> Path:
    """Describe the item sets in a folder, ``LANG.csv``, in its ``croissant.json``."""
    files = sorted(folder.glob("???.csv"))
    output = folder / FILE_NAME
    text = json.dumps(describe_items(files, facts), indent=1, ensure_ascii=False, default=str)
    write_text(output, text + "\n")
    return output


def export_items(tables: Sequence[Path], folder: Path, facts: Facts) -> Path:
    """Write item tables (Parquet, one a language) as CSV with their Croissant metadata.

    Raises UserError when there is no table.
    """
    if not tables:
        raise UserError(
            f"there are no items of {facts.benchmark}, expected <results>/items/"
            f"{facts.benchmark}/LANG.parquet; build them with `snakemake items`."
        )
    for table in tables:
        write_csv(read_table("items", table), folder / f"{table.stem}.csv")
    return write_croissant(folder, facts)
