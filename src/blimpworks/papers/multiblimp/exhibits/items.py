"""What MultiBLiMP's exhibits of pairs share: the words of the benchmark, and its items."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from blimpworks.papers.multiblimp.exhibits.common import FEATURES
from blimpworks.tables import FUNNEL, ITEMS, TableSchema, read_table

CERTAIN = ("+", "~")
"""Labels of agreement that the paper counts as certain (section 4.2)."""


def read_items(paths: Sequence[Path], columns: Sequence[str]) -> pd.DataFrame:
    """The given columns of the items of all languages, as text.

    Raises UserError when a table is missing or broken.
    """
    frames: list[pd.DataFrame] = [
        read_table(ITEMS, path, columns).to_pandas().astype(str) for path in paths
    ]
    return pd.concat(frames, ignore_index=True)


def read_funnel(paths: Sequence[Path]) -> pd.DataFrame:
    """The counts of all stages and languages, labels as text.

    Raises UserError when a table is missing or broken.
    """
    frames: list[pd.DataFrame] = [
        read_table(FUNNEL, path).to_pandas().astype({"reason": str, "stage": str, "lang": str})
        for path in paths
    ]
    return pd.concat(frames, ignore_index=True)


def read_languages(schema: TableSchema, paths: Sequence[Path]) -> dict[str, pd.DataFrame]:
    """Tables of one kind by language, which is the name of the file; labels as text.

    Raises UserError when a table is missing or broken.
    """
    found = {path.stem: read_table(schema, path).to_pandas() for path in paths}
    return {
        lang: frame.astype(dict.fromkeys(frame.select_dtypes("category").columns, str))
        for lang, frame in found.items()
    }


def abbreviation(phenomenon: str) -> str:
    """``sv#`` as ``SV-N``: subject-verb or subject-participle; number, gender or person."""
    return f"{phenomenon[:2].upper()}-{FEATURES[phenomenon[2:]][0][0]}"
