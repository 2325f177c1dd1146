"""Compute the numbers of a suite of benchmarks, as a shared task defines them."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from blimpworks.analysis.accuracy import mean_interval
from blimpworks.analysis.acquisition import FEWEST, age_of_acquisition, training_of_acquisition
from blimpworks.analysis.explained import explained_variance
from blimpworks.analysis.statistics import correlation_interval
from blimpworks.errors import UserError
from blimpworks.evaluation.card import Record, Row
from blimpworks.evaluation.checkpoints import training_of
from blimpworks.evaluation.judged import Tables
from blimpworks.evaluation.suites import Acquisition, Regression, Suite
from blimpworks.items import ALL
from blimpworks.tables import count_rows, read_parquet

MISSING = ["", "NA", "NaN", "nan"]
"""Texts of cells without a number."""
EFFECTS, EFFECT_NAMES = "effects", "effect_names"
"""Columns of judgements: sums of surprisals [nats], and their names."""


def _mean_of_groups(rows: pd.DataFrame, levels: Sequence[str]) -> Record:
    """Return the mean of paradigms' accuracies in which the groups of each level count alike."""
    weights = pd.Series(1.0, index=rows.index)
    for number, level in enumerate(levels):
        outer = rows.groupby([*levels[:number]]) if number else rows.groupby(lambda _: 0)
        weights /= outer[level].transform("nunique")
    weights /= rows.groupby([*levels])["n"].transform("size")
    low, high = mean_interval(rows, weights.tolist())
    return {"value": float((weights * rows["accuracy"]).sum()), "low": low, "high": high}


def _rank_correlation(tables: Tables, model: str) -> Record:
    """Return Spearman's correlation of a model's margins with people's ratings of the items."""
    paths = [tables.path("judgements", lang, model) for lang in tables.benchmark["items"]]
    columns = ["method", "margin", "rating"]
    rows = pd.concat([read_parquet(path, columns).to_pandas() for path in paths])
    if "rating" not in rows:
        raise UserError(
            f"{paths[0]} has no people's ratings, with which the suite correlates margins; declare "
            f"'rating' in the benchmark {tables.name}, or let the suite measure accuracy."
        )
    rated = rows.loc[rows["method"] == tables.methods[model], ["margin", "rating"]].dropna()
    value = float(rated["margin"].corr(rated["rating"], method="spearman"))
    if math.isnan(value):
        return {"value": None, "low": None, "high": None, "n": len(rated)}
    low, high = correlation_interval(value, len(rated), 1 + value**2 / 2)
    return {"value": value, "low": low, "high": high, "n": len(rated)}


def items_with_effects(items: Path, judgements: Path, method: str) -> pd.DataFrame:
    """Return a table's items with a model's effects as columns [nats], NaN where there is none.

    Raises UserError if the judgements have no effects.
    """
    rows = read_parquet(judgements, ["item_id", "method", EFFECTS, EFFECT_NAMES]).to_pandas()
    if EFFECTS not in rows:
        raise UserError(
            f"{judgements} has no effects, which the suite measures; declare 'effects' in the "
            "benchmark, or let the suite measure accuracy."
        )
    rows = rows[(rows["method"] == method) & rows[EFFECTS].notna()]
    pairs = zip(rows[EFFECT_NAMES], rows[EFFECTS], strict=True)
    values = [dict(zip(*pair, strict=True)) for pair in pairs]
    effects = pd.DataFrame(values, index=rows["item_id"], dtype=float)
    stated = read_parquet(items).to_pandas().drop_duplicates("item").set_index("item")
    # An effect goes before a column of items of the same name.
    stated = stated.drop(columns=effects.columns, errors="ignore")
    joined: pd.DataFrame = stated.join(effects)
    return joined


def _all_items(tables: Tables, model: str) -> pd.DataFrame:
    """Return the items of all languages, with a model's effects as columns."""
    frames = [
        items_with_effects(
            Path(items), tables.path("judgements", lang, model), tables.methods[model]
        )
        for lang, items in tables.benchmark["items"].items()
    ]
    return pd.concat(frames, ignore_index=True)


def _numbers(table: pd.DataFrame, names: Sequence[str], label: str, tables: Tables) -> pd.DataFrame:
    """Return columns as numbers, NaN for empty cells.

    Raises UserError for a column of numbers, or for that of the ``label``, that items lack. The
    same for a cell that is no number.
    """
    lacking = next((name for name in (*names, label) if name not in table), None)
    if lacking is not None:
        raise UserError(
            f"the suite names {lacking!r}, which the items of {tables.name} do not have as a "
            "column or an effect; name it in 'keep' or 'effects' of the benchmark, or correct the "
            "suite."
        )
    try:
        numbers: pd.DataFrame = table[[*names]].replace(MISSING, np.nan).astype(float)
    except ValueError as error:
        raise UserError(
            f"a column of {tables.name} that the suite names has a cell that is no number "
            f"({error}); correct the file, or 'rename' the value in the declaration."
        ) from error
    return numbers


def _explained(tables: Tables, model: str, regression: Regression) -> Record:
    """Return the share of people's times that a model's surprisals explain, over all languages.

    ``n`` counts the items with all values.
    """
    table = _all_items(tables, model)
    names = [*regression.outcomes, *regression.controls, regression.predictor]
    complete = _numbers(table, names, regression.groups, tables).dropna()
    controls = len(regression.controls)
    nothing: Record = {"value": None, "low": None, "high": None, "n": len(complete)}
    if len(complete) <= controls * (controls + 1) // 2 + 2:
        return nothing
    share = explained_variance(
        complete[[*regression.outcomes]],
        complete[[*regression.controls]],
        complete[regression.predictor],
        table.loc[complete.index, regression.groups],
    )
    return nothing if any(map(math.isnan, share.values())) else nothing | share


def _acquisition(tables: Tables, acquisition: Acquisition) -> dict[str, Record]:
    """Return the correlation of models' and children's ages of acquisition, by the last checkpoint.

    ``n`` counts the words with both ages. Without three checkpoints, or words, there is no number.
    Models that are no checkpoints of one run have none either, at the last of them.
    """
    labels = {name: tables.facts["models"][name]["label"] for name in tables.benchmark["languages"]}
    trainings = {name: training_of(label) for name, label in labels.items()}
    training = {name: number for name, number in trainings.items() if number is not None}
    checkpoints = sorted(training, key=lambda name: training[name])
    if not tables.facts["curves"] or not checkpoints:
        return {[*labels][-1]: {"value": None, "low": None, "high": None, "n": 0}}
    frames = [_all_items(tables, name).assign(model=name) for name in checkpoints]
    points = pd.concat(frames, ignore_index=True)
    columns = [acquisition.surprisal, *map(str, acquisition.ages)]
    numbers = _numbers(points, columns, acquisition.word, tables)
    numbers = numbers.assign(training=points["model"].map(training))
    numbers = numbers[numbers[acquisition.surprisal].notna()]
    pairs = []
    for word, rows in numbers.groupby(points[acquisition.word], sort=False):
        if len(str(word)) < acquisition.shortest or len(rows) < FEWEST:
            continue
        surprisals, *shares = (rows[name].to_numpy() for name in columns)
        children = age_of_acquisition(
            np.array(acquisition.ages, float), np.array([share[0] for share in shares])
        )
        trained = training_of_acquisition(
            rows["training"].to_numpy(float), surprisals, acquisition.chance
        )
        if children is not None and trained is not None:
            pairs.append((children, trained))
    result: Record = {"value": None, "low": None, "high": None, "n": len(pairs)}
    if len(checkpoints) >= FEWEST and len(pairs) >= FEWEST:
        children_ages, trainings_needed = zip(*pairs, strict=True)
        if len({*children_ages}) > 1 and len({*trainings_needed}) > 1:
            value = float(np.corrcoef(children_ages, trainings_needed)[0, 1])
            low, high = correlation_interval(value, len(pairs))
            result |= {"value": value, "low": low, "high": high}
    return {checkpoints[-1]: result}


def suite_rows(
    suite: Suite, tables_of: Mapping[str, Tables], totals: Mapping[str, Row]
) -> list[Record]:
    """Return a row for each task of a suite that a model is run on (see ``card.SuiteTable``).

    ``totals`` are the rows over all items, by benchmark. A model has no value for a task if it
    skipped all items of a paradigm.
    """
    rows = []
    for task in suite.tasks:
        tables = tables_of.get(task.benchmark)
        if tables is None:
            continue
        frame = tables.accuracies[tables.accuracies["paradigm"] != ALL]
        paradigms = {
            (lang, paradigm)
            for lang, path in tables.benchmark["items"].items()
            for paradigm in read_parquet(Path(path), ["paradigm"])["paradigm"].unique().to_pylist()
        }
        models: dict[str, Record] = {}
        by_run = _acquisition(tables, task.acquisition) if task.acquisition else None
        for model in tables.benchmark["languages"] if by_run is None else by_run:
            of_model = frame[frame["model"] == model]
            judged = of_model.loc[of_model["n"] > 0, ["lang", "paradigm"]]
            value: Record = {"value": None, "low": None, "high": None}
            if {*judged.itertuples(index=False, name=None)} == paradigms:
                if by_run is not None:
                    value = by_run[model]
                elif task.regression:
                    value = _explained(tables, model, task.regression)
                elif task.measure == "accuracy":
                    value = _mean_of_groups(of_model, task.mean)
                else:
                    value = _rank_correlation(tables, model)
            total = totals[task.benchmark]
            counts = total["models"].get(model, {"n": 0, "ties": 0})
            models[model] = {
                "n": counts["n"],
                "ties": counts["ties"],
                "skipped": total["skipped"].get(model, {"n": 0})["n"],
            } | value
        rows.append(
            {
                "label": task.label,
                "benchmark": task.benchmark,
                "measure": task.measure,
                "sampled": any(
                    count_rows(Path(tables.benchmark["items"][lang])) < count_rows(Path(path))
                    for lang, path in tables.benchmark["all_items"].items()
                ),
                "models": models,
                "printed": dict(task.printed),
            }
        )
    return rows
