"""How far verdicts agree with people's labels, and people with each other.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3 and appendix A.6: share of equal
labels, and Cohen's kappa.
"""

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from statsmodels.stats.inter_rater import cohens_kappa

from blimpworks.analysis.accuracy import ALL, wilson
from blimpworks.papers.lmentry.annotation.labels import METHODS, read_labels
from blimpworks.papers.lmentry.tables import ANNOTATION_AGREEMENT, SHEET_KEY
from blimpworks.tables import JUDGEMENTS, read_table, write_table

log = logging.getLogger(__name__)

KEPT = ["row", "lang", "model", "item_id", "phenomenon", "prompt"]


def kappa(first: pd.Series, second: pd.Series) -> tuple[float, float, float]:
    """Cohen's kappa of two judges' labels (0 or 1) and its 95 % interval.

    Not a number where one of them says the same of every answer: kappa is then 0 or not defined
    whatever the other says. The interval is asymptotic (Fleiss, Cohen and Everitt 1969) and, of
    judges that never differ, has no width.
    """
    if first.nunique() < 2 or second.nunique() < 2:
        return math.nan, math.nan, math.nan
    counts = np.zeros((2, 2))
    np.add.at(counts, (first.to_numpy(int), second.to_numpy(int)), 1)
    result = cohens_kappa(counts)
    return float(result.kappa), float(result.kappa_low), float(result.kappa_upp)


def compare(first: pd.Series, second: pd.Series) -> dict[str, Any]:
    """Agreement of two judges of the same answers, at least one: shares, kappa and counts."""
    equal, n = int((first == second).sum()), len(first)
    (low, high), (value, kappa_low, kappa_high) = wilson(equal, n), kappa(first, second)
    return {
        "n": n,
        "equal": equal,
        "accuracy": equal / n,
        "low": low,
        "high": high,
        "kappa": value,
        "kappa_low": kappa_low,
        "kappa_high": kappa_high,
        "right_method": int(first.sum()),
        "right_annotator": int(second.sum()),
    }


def _verdicts(rows: pd.DataFrame, judgements: Path) -> pd.DataFrame:
    """Some rows with the verdicts of one model on their answers, a column for each method.

    NaN where there is none; no row is left out.
    """
    table = read_table(JUDGEMENTS, judgements, ["item_id", "method", "correct"])
    selected = pc.is_in(table["item_id"], value_set=pa.array(rows["item_id"], pa.string()))
    verdicts = table.filter(selected).to_pandas().astype({"method": str})
    wide = verdicts.pivot_table(index="item_id", columns="method", values="correct")
    return rows.merge(wide.reindex(columns=[*METHODS]), on="item_id", how="left")


def _judged(labels: pd.DataFrame, key: pd.DataFrame, judgements: Path) -> pd.DataFrame:
    """Labelled rows, with a column for each method and each annotator; NaN where it has none."""
    wide = labels.pivot_table(index="row", columns="annotator", values="correct")
    rows = key[key["row"].isin(wide.index)]
    parts = [
        _verdicts(part, judgements / str(lang) / f"{model}.parquet")
        for (lang, model), part in rows.groupby(["lang", "model"])
    ]
    return pd.concat(parts).merge(wide, left_on="row", right_index=True)


def _pairs(judged: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Agreement of each pair of judges, by task and over all tasks; no row without an answer."""
    whole = judged.assign(phenomenon=ALL)
    for (lang, task), part in pd.concat([judged, whole]).groupby(["lang", "phenomenon"]):
        for first, second in pairs:
            both = part[[first, second]].dropna()
            if len(both):
                names = {"lang": lang, "phenomenon": task, "method": first, "annotator": second}
                yield names | compare(both[first], both[second])


def read_key(paths: Sequence[Path]) -> pd.DataFrame:
    """The keys of some sheets, without the answers; labels as text."""
    frames: list[pd.DataFrame] = [read_table(SHEET_KEY, path, KEPT).to_pandas() for path in paths]
    joined = pd.concat(frames)
    return joined.astype(dict.fromkeys(("lang", "model", "phenomenon"), object))


def measure_agreement(
    sheets: Sequence[Path], keys: Sequence[Path], judgements: Path, output: Path
) -> Mapping[str, int]:
    """Write the agreement of the verdicts with filled sheets, and of annotators with each other.

    ``keys`` are those of the exported sheets, ``judgements`` the directory of the tables
    LANG/MODEL.parquet. Returns how many labels each annotator gave. Raises UserError for sheets
    that ``read_labels`` refuses, and for tables that are missing or of another schema.
    """
    key = read_key(keys)
    labels = read_labels(sheets, key)
    judged = _judged(labels, key, judgements)
    unjudged = int(judged[[*METHODS]].isna().any(axis=1).sum())
    if unjudged:
        log.warning("%d labelled answers have no verdict of both methods", unjudged)
    annotators = sorted(labels["annotator"].unique())
    pairs = [(method, name) for name in annotators for method in METHODS]
    rows = [*_pairs(judged, [*pairs, *combinations(annotators, 2)])]
    table = pa.Table.from_pandas(
        pd.DataFrame(rows, columns=ANNOTATION_AGREEMENT.names), preserve_index=False
    )
    write_table(table.replace_schema_metadata(None), ANNOTATION_AGREEMENT, output)
    return {name: int((labels["annotator"] == name).sum()) for name in annotators}
