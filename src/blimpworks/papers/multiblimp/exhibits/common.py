"""What MultiBLiMP's exhibits share: names of phenomena, labels, and the reading of tables."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.shared import Tables, read_printed
from blimpworks.tables import ITEMS, TableSchema, read_table

CONSTRUCTIONS = {"sv": "Subject-Verb", "sp": "Subject-Participle"}
"""First part of a phenomenon's code (``sv#``), and what it is called in Table 3."""
FEATURES = {
    "#": ("Number", ("SG", "PL", "DU")),
    "G": ("Gender", ("MASC", "NEUT", "FEM")),
    "P": ("Person", ("1", "2", "3")),
}
"""Second part: the feature that agrees and its values, in the order of Table 2."""
PHENOMENA = {
    f"{kind}{sign}": (construction, FEATURES[sign][0])
    for kind, construction in CONSTRUCTIONS.items()
    for sign in "#PG"
}
"""The six agreement types: code, construction and feature, in the order of Table 3."""
NAMES = {key: ", ".join(pair) for key, pair in PHENOMENA.items()}
"""Printed name of each agreement type."""
CERTAIN = ("+", "~")
"""Labels of agreement that the paper counts as certain (section 4.2)."""


def read_frames(
    schema: TableSchema, paths: Sequence[Path], columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Rows of all tables of one kind, with labels as plain text; no rows without any table.

    Raises UserError when a table is missing or broken.
    """
    if not paths:
        return pd.DataFrame(columns=[*(columns or schema.names)])
    frames = [read_table(schema, path, columns).to_pandas() for path in paths]
    rows: pd.DataFrame = pd.concat(frames, ignore_index=True)
    return rows.astype(dict.fromkeys(rows.select_dtypes("category"), object))


def read_items(paths: Sequence[Path], columns: Sequence[str]) -> pd.DataFrame:
    """The given columns of the items of all languages. Raises UserError as ``read_frames``."""
    return read_frames(ITEMS, paths, columns)


def printed_rows(tables: Tables, exhibit: str, **where: str) -> pd.DataFrame:
    """Printed numbers of one of the paper's exhibits, with the given values of columns."""
    return select_rows(read_printed(tables), {"exhibit": exhibit, **where})


def abbreviation(phenomenon: str) -> str:
    """``sv#`` as ``SV-N``: subject-verb or subject-participle; number, gender or person."""
    return f"{phenomenon[:2].upper()}-{FEATURES[phenomenon[2:]][0][0]}"
