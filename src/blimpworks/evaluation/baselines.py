"""What length, frequency of words and chance alone get right, beside accuracies of models."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import wordfreq

from blimpworks.analysis.baselines import BASELINES, baseline_rows, compared
from blimpworks.evaluation.card import ALL, MEAN
from blimpworks.evaluation.facts import BenchmarkFacts
from blimpworks.tables import ITEMS, read_table

LABELS = ["lang", "phenomenon", "paradigm"]
COLUMNS = [*LABELS, "good", "bad", "item", "acceptable", "alternatives"]
Shares = Mapping[tuple[str, str], Mapping[str, float]]
"""Share of items that each baseline gets right, by language and phenomenon."""


def _rows_of(path: Path) -> pd.DataFrame:
    """Baselines of a table of items."""
    items = read_table(ITEMS, path, COLUMNS).to_pandas().astype(dict.fromkeys(LABELS, object))
    rows = baseline_rows(compared(items))
    # A list of frequencies takes some 40 MB, and a card may have a hundred languages.
    wordfreq.get_frequency_dict.cache_clear()
    return rows


def baselines_of(benchmark: BenchmarkFacts) -> Shares:
    """What each baseline gets right of a benchmark's items, in all languages together too.

    A baseline has no share of a place where it knows only some of the items, such as those of
    languages that have a list of frequencies. Nothing of prompts. Raises UserError when a table of
    items is missing or broken.
    """
    paths = [] if benchmark["unit"] == "prompt" else benchmark["items"].values()
    tables = [rows for path in paths if len(rows := _rows_of(Path(path)))]
    if not tables:
        return {}
    rows = pd.concat(tables)
    rows = pd.concat([rows, rows.assign(phenomenon=ALL)])
    rows = pd.concat([rows, rows.assign(lang=ALL)])
    sums = rows.groupby(["lang", "phenomenon", "baseline"])[["correct", "n"]].sum()
    items = sums["n"].groupby(level=["lang", "phenomenon"]).transform("max")
    known = (sums["correct"] / sums["n"])[sums["n"] == items].unstack("baseline")
    known = known.reindex(columns=[name for name in BASELINES if name in known])
    known = known.rename(columns=BASELINES)
    known.loc[(MEAN, ALL), :] = known.drop(ALL).xs(ALL, level="phenomenon").mean(skipna=False)
    places = [(str(lang), str(phenomenon)) for lang, phenomenon in known.index.to_list()]
    shares = (row.dropna().to_dict() for _, row in known.iterrows())
    return {
        place: {str(k): float(v) for k, v in row.items()}
        for place, row in zip(places, shares, strict=True)
    }
