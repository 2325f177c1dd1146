"""Collect an evaluation's accuracies by language and phenomenon, for the report card.

Functions raise UserError when a table is missing or broken.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import wordfreq

from blimpworks.analysis.accuracy import mean_interval, wilson
from blimpworks.analysis.baselines import BASELINES, baseline_rows, one_row_per_item
from blimpworks.campaign.registry import load
from blimpworks.evaluation.card import ALL, MEAN, Accuracy, Row, Skipped
from blimpworks.evaluation.facts import BenchmarkFacts
from blimpworks.judging.sample import CONDITIONS, item_key
from blimpworks.parquet import read_parquet
from blimpworks.tables import ACCURACIES, ITEMS, SCORES, read_table

COUNTS = ("n", "skipped", "ties", "near_ties")
SHARES = ("accuracy", "low", "high")
LanguagePhenomenon = tuple[str, str]
LABELS = ["lang", "phenomenon", "paradigm"]
COMPARED = ["good", "bad", "item", "acceptable", "alternatives"]
UNKNOWN_ID, END_ID = 0, 1
"""Lines of ``<unk>`` and of the end of a sentence in vocabularies of words."""


def read_accuracies(path: Path) -> pd.DataFrame:
    """Read a table of accuracies, with labels as plain strings."""
    rows = read_table(ACCURACIES, path).to_pandas()
    plain: pd.DataFrame = rows.astype(dict.fromkeys(rows.select_dtypes("category"), object))
    return plain


def main_accuracies(benchmark: BenchmarkFacts) -> pd.DataFrame:
    """Read each model's accuracies by its main method, down to paradigms."""
    frame = read_accuracies(Path(benchmark["accuracies"]))
    methods = {model: model_methods[0] for model, model_methods in benchmark["methods"].items()}
    kept: pd.DataFrame = frame[frame["method"] == frame["model"].map(methods)]
    return kept


def names_of(benchmark: BenchmarkFacts) -> Mapping[str, str]:
    """Return the printed names of phenomena whose keys are no names."""
    address = benchmark["names"]
    return cast(Mapping[str, str], load(address)) if address else {}


def phenomenon_label(key: str, names: Mapping[str, str]) -> str:
    """Return a phenomenon's printed name, or its key without underscores."""
    return names.get(key, key.replace("_", " "))


def _accuracy_of(row: Mapping[Any, Any]) -> Accuracy:
    counts = {name: int(row[name]) for name in COUNTS}
    shares = {name: float(row[name]) for name in SHARES}
    return cast(Accuracy, {**shares, **counts})


def pooled(rows: pd.DataFrame) -> Accuracy:
    """Return the accuracy on all items of some rows, with Wilson's interval for shares."""
    totals = {name: int(rows[name].sum()) for name in (*COUNTS, "correct")}
    n = totals["n"]
    accuracy = float(np.average(rows["accuracy"], weights=rows["n"]))
    if np.isclose(accuracy * n, float(rows["correct"].sum())):
        low, high = wilson(float(rows["correct"].sum()), n)
    else:
        low, high = mean_interval(rows, (rows["n"] / n).tolist())
    return _accuracy_of({**totals, "accuracy": accuracy, "low": low, "high": high})


def mean_of(rows: pd.DataFrame) -> Accuracy:
    """Return the mean of some rows' accuracies, with the interval that follows from theirs."""
    low, high = mean_interval(rows, [1 / len(rows)] * len(rows))
    totals = {name: int(rows[name].sum()) for name in COUNTS}
    mean = float(rows["accuracy"].mean())
    return _accuracy_of({**totals, "accuracy": mean, "low": low, "high": high})


def accuracy_rows(
    benchmark: BenchmarkFacts,
    accuracies: pd.DataFrame,
    skipped: Mapping[LanguagePhenomenon, Mapping[str, Skipped]],
    baselines: Mapping[LanguagePhenomenon, Mapping[str, float]],
) -> list[Row]:
    """Return rows of all languages together, then of each; the whole comes before phenomena.

    ``accuracies`` are by the main methods; the other two are by language and phenomenon, then by
    model or baseline. A cell where a model skipped everything has a row too.
    """
    names, order = names_of(benchmark), [*benchmark["languages"]]
    frame = accuracies[accuracies["paradigm"] == ALL]
    cells: dict[LanguagePhenomenon, dict[str, Accuracy]] = {}
    for row in frame.to_dict("records"):
        cells.setdefault((row["lang"], row["phenomenon"]), {})[row["model"]] = _accuracy_of(row)
    positions = {lang: i for i, lang in enumerate([ALL, MEAN, *benchmark["items"]])}
    if (ALL, ALL) in skipped:
        for key, rows_of_languages in frame.groupby(["phenomenon", "model"]):
            phenomenon, model = map(str, cast(tuple[str, str], key))
            cells.setdefault((ALL, phenomenon), {})[model] = pooled(rows_of_languages)
            if phenomenon == ALL:
                cells.setdefault((MEAN, ALL), {})[model] = mean_of(rows_of_languages)
    nothing = (
        cell
        for cell, models in skipped.items()
        if any(0 < lost["n"] == lost["of"] for lost in models.values())
    )
    rows: list[Row] = []
    for lang, phenomenon in {*cells, *nothing}:
        measured = cells.get((lang, phenomenon), {})
        counted = skipped.get((lang, phenomenon), {})
        lost = {m: counted[m] for m in order if m in counted and counted[m]["n"]}
        for model in measured.keys() & lost.keys():
            measured[model]["skipped"] = lost[model]["n"]
        rows.append(
            {
                "lang": lang,
                "phenomenon": phenomenon,
                "label": phenomenon_label(phenomenon, names),
                "models": {model: measured[model] for model in order if model in measured},
                "skipped": lost,
                "baselines": baselines.get((lang, phenomenon), {}),
            }
        )
    return sorted(
        rows, key=lambda row: (positions[row["lang"]], row["phenomenon"] != ALL, row["phenomenon"])
    )


def unknown_words(scores: Iterable[Path]) -> float:
    """Return the share of words in scores that an n-gram model or LSTM does not know."""
    word_count = unknown = 0
    for path in scores:
        for column in read_table(SCORES, path, ["good_ids", "bad_ids"]).columns:
            ids = np.asarray(pc.list_flatten(column))
            word_count += int((ids != END_ID).sum())
            unknown += int((ids == UNKNOWN_ID).sum())
    return unknown / max(word_count, 1)


def item_counts(path: Path) -> dict[str, int]:
    """Count items in a table by phenomenon, and ``all``; conditions of an item count once."""
    rows = read_parquet(path, ["phenomenon", "item_id", *CONDITIONS]).to_pandas()
    if item_key(rows.columns) == "item":
        rows = rows.drop_duplicates(["phenomenon", "item"])
    return {ALL: len(rows), **Counter(rows["phenomenon"].astype(str))}


def baselines_of(benchmark: BenchmarkFacts) -> dict[LanguagePhenomenon, dict[str, float]]:
    """Return shares of right items by baseline, if it knows all items; none for prompts."""
    tables = []
    for path in [] if benchmark["unit"] == "prompt" else benchmark["items"].values():
        items = read_table(ITEMS, Path(path), [*LABELS, *COMPARED]).to_pandas()
        rows = baseline_rows(one_row_per_item(items.astype(dict.fromkeys(LABELS, object))))
        # A list of frequencies takes some 40 MB, and a card may have a hundred languages.
        wordfreq.get_frequency_dict.cache_clear()
        if len(rows):
            tables.append(rows)
    if not tables:
        return {}
    rows = pd.concat(tables)
    rows = pd.concat([rows, rows.assign(phenomenon=ALL)])
    rows = pd.concat([rows, rows.assign(lang=ALL)])
    sums = rows.groupby(["lang", "phenomenon", "baseline"])[["correct", "n"]].sum()
    items = sums["n"].groupby(level=["lang", "phenomenon"]).transform("max")
    table = (sums["correct"] / sums["n"])[sums["n"] == items].unstack("baseline")
    table = table.reindex(columns=[name for name in BASELINES if name in table])
    table = table.rename(columns=BASELINES)
    table.loc[(MEAN, ALL), :] = table.drop(ALL).xs(ALL, level="phenomenon").mean(skipna=False)
    shares: dict[LanguagePhenomenon, dict[str, float]] = {}
    for (lang, phenomenon), row in zip(
        table.index.to_list(), table.to_dict("records"), strict=True
    ):
        shares[str(lang), str(phenomenon)] = {
            str(name): float(share) for name, share in row.items() if not np.isnan(share)
        }
    return shares
