"""The accuracies of an evaluation, by language and phenomenon, for the report card."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.analysis.accuracy import mean_interval, wilson
from blimpworks.campaign.registry import load
from blimpworks.evaluation.card import ALL, MEAN, Accuracy, Row
from blimpworks.evaluation.facts import BenchmarkFacts
from blimpworks.parquet import open_parquet
from blimpworks.tables import ACCURACIES, read_table

COUNTS = ("n", "skipped", "ties", "near_ties")
SHARES = ("accuracy", "low", "high")


def read_accuracies(path: Path) -> pd.DataFrame:
    """A table of accuracies, with labels as plain strings.

    Raises UserError when it is missing or broken.
    """
    rows = read_table(ACCURACIES, path).to_pandas()
    plain: pd.DataFrame = rows.astype(dict.fromkeys(rows.select_dtypes("category"), object))
    return plain


def main_accuracies(benchmark: BenchmarkFacts) -> pd.DataFrame:
    """Accuracies of each model by its main method, of all its languages, down to paradigms.

    Raises UserError when the table is missing or broken.
    """
    frame = read_accuracies(Path(benchmark["accuracies"]))
    methods = {model: each[0] for model, each in benchmark["methods"].items()}
    kept: pd.DataFrame = frame[frame["method"] == frame["model"].map(methods)]
    return kept


def names_of(benchmark: BenchmarkFacts) -> Mapping[str, str]:
    """Printed names of the phenomena whose keys are no names."""
    address = benchmark["names"]
    return cast(Mapping[str, str], load(address)) if address else {}


def phenomenon_label(key: str, names: Mapping[str, str]) -> str:
    """The name of a phenomenon: as printed, or its key without underscores."""
    return names.get(key, key.replace("_", " "))


def accuracy_of(row: Mapping[Any, Any]) -> Accuracy:
    """The accuracy in a row of the table."""
    counts = {name: int(row[name]) for name in COUNTS}
    shares = {name: float(row[name]) for name in SHARES}
    return cast(Accuracy, {**shares, **counts})


def pooled(rows: pd.DataFrame) -> Accuracy:
    """The accuracy on all items of some rows together: every item counts once.

    The interval is Wilson's, or made of the rows' own where their accuracies are no shares of
    ``n`` (see ``analysis.accuracy.summarise``).
    """
    totals = {name: int(rows[name].sum()) for name in (*COUNTS, "correct")}
    n = totals["n"]
    accuracy = float(np.average(rows["accuracy"], weights=rows["n"]))
    if np.isclose(accuracy * n, float(rows["correct"].sum())):
        low, high = wilson(float(rows["correct"].sum()), n)
    else:
        low, high = mean_interval(rows, (rows["n"] / n).tolist())
    return accuracy_of({**totals, "accuracy": accuracy, "low": low, "high": high})


def mean_of(rows: pd.DataFrame) -> Accuracy:
    """The mean of some rows' accuracies, with the interval that follows from theirs."""
    low, high = mean_interval(rows, [1 / len(rows)] * len(rows))
    totals = {name: int(rows[name].sum()) for name in COUNTS}
    mean = float(rows["accuracy"].mean())
    return accuracy_of({**totals, "accuracy": mean, "low": low, "high": high})


def _row(
    lang: str, phenomenon: str, names: Mapping[str, str], models: Mapping[str, Accuracy]
) -> Row:
    label = phenomenon_label(phenomenon, names)
    return {"lang": lang, "phenomenon": phenomenon, "label": label, "models": dict(models)}


def _together(rows: pd.DataFrame, names: Mapping[str, str], order: Sequence[str]) -> list[Row]:
    """Rows of all languages together, and of the mean over languages."""
    whole: list[Row] = []
    for phenomenon, each in rows.groupby("phenomenon", sort=True):
        models = {str(model): pooled(own) for model, own in each.groupby("model")}
        ordered = {model: models[model] for model in order if model in models}
        whole.append(_row(ALL, str(phenomenon), names, ordered))
    totals = {str(model): own for model, own in rows[rows["phenomenon"] == ALL].groupby("model")}
    means = {model: mean_of(totals[model]) for model in order if model in totals}
    return [*whole, _row(MEAN, ALL, names, means)]


def accuracy_rows(benchmark: BenchmarkFacts, accuracies: pd.DataFrame) -> list[Row]:
    """Accuracies of all languages together, then of each, by phenomenon: the whole first.

    ``accuracies`` are those of the main methods. With one language there is nothing together.
    """
    names, order = names_of(benchmark), [*benchmark["languages"]]
    rows = accuracies[accuracies["paradigm"] == ALL]
    languages = [lang for lang in benchmark["items"] if lang in {*rows["lang"]}]
    together = _together(rows, names, order) if len(languages) > 1 else []
    cells: dict[tuple[str, str], dict[str, Accuracy]] = {}
    for row in rows.to_dict("records"):
        cells.setdefault((row["lang"], row["phenomenon"]), {})[row["model"]] = accuracy_of(row)
    single = [
        _row(lang, key, names, {m: cells[lang, key][m] for m in order if m in cells[lang, key]})
        for lang in languages
        for key in sorted(key for code, key in cells if code == lang)
    ]
    return sorted([*together, *single], key=_whole_first(languages))


def _whole_first(languages: Sequence[str]) -> Any:
    """Key by which rows are sorted: all languages, their mean, each; of each the whole first."""
    positions = {lang: i for i, lang in enumerate([ALL, MEAN, *languages])}
    return lambda row: (positions[row["lang"]], row["phenomenon"] != ALL)


def item_counts(path: Path) -> dict[str, int]:
    """Items in a table by phenomenon, and ``all`` of them; conditions of an item count once.

    Raises UserError when the table is missing or broken.
    """
    with open_parquet(path, "a table of items", "Build it.") as file:
        several = {"item", "condition"} <= {*file.schema_arrow.names}
        key = "item" if several else "item_id"
        table = file.read(columns=["phenomenon", key])
    labels = table["phenomenon"].cast(pa.string())
    items = pa.table({"phenomenon": labels, "item": table[key].cast(pa.string())})
    if several:
        items = items.group_by(["phenomenon", "item"]).aggregate([])
    counts = {
        row["values"]: row["counts"] for row in pc.value_counts(items["phenomenon"]).to_pylist()
    }
    return {ALL: items.num_rows, **counts}
