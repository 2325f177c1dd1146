"""Collect an evaluation's accuracies by language and phenomenon, for the report card.

Functions raise UserError when a table is missing or broken.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import wordfreq

from blimpworks.analysis.accuracy import mean_interval, wilson
from blimpworks.analysis.baselines import BASELINES, baseline_rows, one_row_per_item
from blimpworks.evaluation.card import ALL, MEAN, Record, Row
from blimpworks.evaluation.judged import Cells, Tables
from blimpworks.judging.sample import CONDITIONS, item_key
from blimpworks.parquet import read_parquet
from blimpworks.tables import ITEMS, SCORES, read_table

COUNTS = ("n", "skipped", "ties", "near_ties")
SHARES = ("accuracy", "low", "high")
LABELS = ["lang", "phenomenon", "paradigm"]
COMPARED = ["good", "bad", "item", "acceptable", "alternatives"]
UNKNOWN_ID, END_ID = 0, 1
"""Lines of ``<unk>`` and of the end of a sentence in vocabularies of words."""


def phenomenon_label(key: str, names: Mapping[str, str]) -> str:
    """Return a phenomenon's printed name, or its key without underscores."""
    return names.get(key, key.replace("_", " "))


def _accuracy(row: Mapping[Any, Any]) -> Record:
    shares = {name: float(row[name]) for name in SHARES}
    return {**shares, **{name: int(row[name]) for name in COUNTS}}


def pooled(rows: pd.DataFrame) -> Record:
    """Return the accuracy on all items of some rows, with Wilson's interval for shares."""
    totals = rows[[*COUNTS, "correct"]].sum()
    n, correct = int(totals["n"]), float(totals["correct"])
    accuracy = float(np.average(rows["accuracy"], weights=rows["n"]))
    if np.isclose(accuracy * n, correct):
        low, high = wilson(correct, n)
    else:
        low, high = mean_interval(rows, (rows["n"] / n).tolist())
    return _accuracy({**totals, "accuracy": accuracy, "low": low, "high": high})


def mean_of(rows: pd.DataFrame) -> Record:
    """Return the mean of some rows' accuracies, with the interval that follows from theirs."""
    low, high = mean_interval(rows, [1 / len(rows)] * len(rows))
    mean = float(rows["accuracy"].mean())
    return _accuracy({**rows[[*COUNTS]].sum(), "accuracy": mean, "low": low, "high": high})


def accuracy_rows(tables: Tables, skipped: Cells) -> list[Row]:
    """Return rows of all languages together, then of each; the whole comes before phenomena.

    A cell where a model skipped everything has a row too.
    """
    order, baselines = [*tables.benchmark["languages"]], baselines_of(tables)
    frame = tables.accuracies[tables.accuracies["paradigm"] == ALL]
    cells: dict[tuple[str, str], dict[str, Record]] = {}
    for row in frame.to_dict("records"):
        cells.setdefault((row["lang"], row["phenomenon"]), {})[row["model"]] = _accuracy(row)
    if (ALL, ALL) in skipped:
        groups: Iterable[Any] = frame.groupby(["phenomenon", "model"])
        for (phenomenon, model), rows in groups:
            cells.setdefault((ALL, phenomenon), {})[model] = pooled(rows)
            if phenomenon == ALL:
                cells.setdefault((MEAN, ALL), {})[model] = mean_of(rows)
    for cell, models in skipped.items():
        if any(0 < lost["n"] == lost["of"] for lost in models.values()):
            cells.setdefault(cell, {})
    positions = {lang: i for i, lang in enumerate([ALL, MEAN, *tables.benchmark["items"]])}
    table: list[Row] = []
    for lang, phenomenon in sorted(cells, key=lambda c: (positions[c[0]], c[1] != ALL, c[1])):
        measured, counted = cells[lang, phenomenon], skipped.get((lang, phenomenon), {})
        lost = {
            model: counted[model] for model in order if model in counted and counted[model]["n"]
        }
        for model in measured.keys() & lost.keys():
            measured[model]["skipped"] = lost[model]["n"]
        table.append(
            {
                "lang": lang,
                "phenomenon": phenomenon,
                "label": phenomenon_label(phenomenon, tables.names),
                "models": {model: measured[model] for model in order if model in measured},
                "skipped": lost,
                "baselines": baselines.get((lang, phenomenon), {}),
            }
        )
    return table


def unknown_words(scores: Iterable[Path]) -> float:
    """Return the share of words in scores that an n-gram model or LSTM does not know."""
    word_count = unknown = 0
    for path in scores:
        for column in read_table(SCORES, path, ["good_ids", "bad_ids"]).columns:
            ids = np.asarray(pc.list_flatten(column))
            word_count += int((ids != END_ID).sum())
            unknown += int((ids == UNKNOWN_ID).sum())
    return unknown / max(word_count, 1)


def item_counts(path: str) -> dict[str, int]:
    """Count items in a table by phenomenon, and ``all``; conditions of an item count once."""
    rows = read_parquet(Path(path), ["phenomenon", "item_id", *CONDITIONS]).to_pandas()
    if item_key(rows.columns) == "item":
        rows = rows.drop_duplicates(["phenomenon", "item"])
    return {ALL: len(rows), **Counter(rows["phenomenon"].astype(str))}


def baselines_of(tables: Tables) -> dict[tuple[str, str], dict[str, float]]:
    """Return shares of right items by baseline, if it knows all items; none for prompts."""
    frames = []
    benchmark = tables.benchmark
    for path in [] if benchmark["unit"] == "prompt" else benchmark["items"].values():
        items = read_table(ITEMS, Path(path), [*LABELS, *COMPARED]).to_pandas()
        rows = baseline_rows(one_row_per_item(items.astype(dict.fromkeys(LABELS, object))))
        # A list of frequencies takes some 40 MB, and a card may have a hundred languages.
        wordfreq.get_frequency_dict.cache_clear()
        if len(rows):
            frames.append(rows)
    if not frames:
        return {}
    rows = pd.concat(frames)
    rows = pd.concat([rows, rows.assign(phenomenon=ALL)])
    rows = pd.concat([rows, rows.assign(lang=ALL)])
    sums = rows.groupby(["lang", "phenomenon", "baseline"])[["correct", "n"]].sum()
    items = sums["n"].groupby(level=["lang", "phenomenon"]).transform("max")
    table = (sums["correct"] / sums["n"])[sums["n"] == items].unstack("baseline")
    table = table.reindex(columns=[name for name in BASELINES if name in table])
    table = table.rename(columns=BASELINES)
    table.loc[(MEAN, ALL), :] = table.drop(ALL).xs(ALL, level="phenomenon").mean(skipna=False)
    shares: Iterable[Any] = table.iterrows()
    return {cell: row.dropna().to_dict() for cell, row in shares}
