"""Compute the number of each task of a suite from the tables of an evaluation.

``build`` calls ``suite_rows``. A suite (``suites.Suite``) is a set of benchmarks with results
printed by a shared task. Each task is a benchmark and a ``measure``, such as the mean of
accuracies, or the variance of reading times that surprisal explains. A number is a record with its
95 % interval: {"value": 0.71, "low": 0.69, "high": 0.73}; often with the number of items, "n".
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from blimpworks.analysis import people
from blimpworks.analysis.accuracy import weighted_interval
from blimpworks.analysis.statistics import correlation_interval
from blimpworks.errors import UserError
from blimpworks.evaluation.card import Record, Row
from blimpworks.evaluation.checkpoints import training_of
from blimpworks.evaluation.judged import Tables
from blimpworks.evaluation.suites import Acquisition, Regression, Suite
from blimpworks.items import ALL
from blimpworks.tables import count_rows, read_parquet

NO_VALUE: Record = {"value": None, "low": None, "high": None}
EFFECTS, EFFECT_NAMES = "effects", "effect_names"
"""Columns of judgements: sums of surprisals [nats] that the benchmark declares, and their names."""


def _mean_of_groups(rows: pd.DataFrame, levels: Sequence[str]) -> Record:
    """Return the mean of paradigms' accuracies in which the groups of each level count alike.

    With the levels phenomenon and paradigm, it is the mean over phenomena of the means over
    paradigms: of two phenomena, one with three paradigms, these three weigh 1/2 × 1/3. ``rows``
    have accuracies of paradigms in languages; the levels are columns, the widest first.
    """
    weights = pd.Series(1.0, index=rows.index)
    for depth, level in enumerate(levels):
        # The groups of a level share the weight of the wider group that they are in.
        wider_groups = rows.groupby([*levels[:depth]]) if depth else rows.groupby(lambda _: 0)
        weights /= wider_groups[level].transform("nunique")
    # The rows of a group share the weight of the group.
    weights /= rows.groupby([*levels])["n"].transform("size")
    low, high = weighted_interval(rows, weights.tolist())
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
        return {**NO_VALUE, "n": len(rated)}
    low, high = correlation_interval(value, len(rated), spread=1 + value**2 / 2)
    return {"value": value, "low": low, "high": high, "n": len(rated)}


def items_with_effects(items: Path, judgements: Path, method: str) -> pd.DataFrame:
    """Return one row per item: the columns of the table ``items``, and a column for each effect.

    Effects are in nats, NaN where a model has none. They are read from a model's ``judgements`` by
    ``method``. Raises UserError if the judgements have no effects.
    """
    rows = read_parquet(judgements, ["item_id", "method", EFFECTS, EFFECT_NAMES]).to_pandas()
    if EFFECTS not in rows:
        raise UserError(
            f"{judgements} has no effects, which the suite measures; declare 'effects' in the "
            "benchmark, or let the suite measure accuracy."
        )
    rows = rows[(rows["method"] == method) & rows[EFFECTS].notna()]
    effects_of_items = [
        dict(zip(names, values, strict=True))
        for names, values in zip(rows[EFFECT_NAMES], rows[EFFECTS], strict=True)
    ]
    effects = pd.DataFrame(effects_of_items, index=rows["item_id"], dtype=float)
    columns = read_parquet(items).to_pandas().drop_duplicates("item").set_index("item")
    # If an effect and a column have the same name, the effect replaces the column.
    columns = columns.drop(columns=effects.columns, errors="ignore")
    with_effects: pd.DataFrame = columns.join(effects)
    return with_effects


def _all_items(tables: Tables, model: str) -> pd.DataFrame:
    """Return the items of all languages, with a model's effects as columns."""
    frames = []
    for lang, items in tables.benchmark["items"].items():
        judgements = tables.path("judgements", lang, model)
        frames.append(items_with_effects(Path(items), judgements, tables.methods[model]))
    return pd.concat(frames, ignore_index=True)


def _numbers(table: pd.DataFrame, names: Sequence[str], label: str, tables: Tables) -> pd.DataFrame:
    """Return the columns ``names`` as numbers, NaN for empty cells.

    Raises UserError if a cell is no number, or if a named column does not exist. ``label`` names a
    column of texts, which is only required to exist.
    """
    for name in (*names, label):
        if name not in table:
            raise UserError(
                f"the suite names {name!r}, which the items of {tables.name} do not have as a "
                "column or an effect; name it in 'keep' or 'effects' of the benchmark, or correct "
                "the suite."
            )
    try:
        empty_cells = ["", "NA", "NaN", "nan"]
        numbers: pd.DataFrame = table[[*names]].replace(empty_cells, np.nan).astype(float)
    except ValueError as error:
        raise UserError(
            f"a column of {tables.name} that the suite names has a cell that is no number "
            f"({error}); correct the file, or 'rename' the value in the declaration."
        ) from error
    return numbers


def _explained(tables: Tables, model: str, regression: Regression) -> Record:
    """Return the share of the variance of people's times that a model's surprisals explain.

    The items of all languages are taken together; ``n`` counts those with all values and a group.
    """
    table = _all_items(tables, model)
    names = [*regression.outcomes, *regression.controls, regression.predictor]
    numbers = _numbers(table, names, regression.groups, tables)
    groups = table[regression.groups].replace("", None)
    complete = numbers[groups.notna()].dropna()
    without_value: Record = {**NO_VALUE, "n": len(complete)}
    controls = len(regression.controls)
    products_of_two = controls * (controls - 1) // 2
    coefficients = controls + products_of_two + 2  # and those of surprisal and intercept
    if len(complete) <= coefficients:
        return without_value
    share = people.explained_variance(
        complete[[*regression.outcomes]],
        complete[[*regression.controls]],
        complete[regression.predictor],
        groups[complete.index],
    )
    return without_value if any(map(math.isnan, share.values())) else without_value | share


def _acquisition(tables: Tables, acquisition: Acquisition) -> dict[str, Record]:
    """Return the correlation of models' and children's ages of acquisition of words.

    It is one number of a whole training run, and the result is {last checkpoint: number}. ``n``
    counts the words with both ages. The value is None with fewer than three checkpoints or words,
    and if the models are not checkpoints of one run.
    """
    models = [*tables.benchmark["languages"]]
    training: dict[str, float] = {}  # how long a model was trained, as its label says
    for name in models:
        number = training_of(tables.facts["models"][name]["label"])
        if number is not None:
            training[name] = number
    checkpoints = sorted(training, key=training.__getitem__)
    if not tables.facts["curves"] or not checkpoints:
        return {models[-1]: {**NO_VALUE, "n": 0}}
    # Points of the curves: surprisal of a word in a context, at a checkpoint.
    frames = [_all_items(tables, name).assign(model=name) for name in checkpoints]
    points = pd.concat(frames, ignore_index=True)
    columns = [acquisition.surprisal, *map(str, acquisition.ages)]
    numbers = _numbers(points, columns, acquisition.word, tables)
    numbers = numbers.assign(training=points["model"].map(training))
    numbers = numbers[numbers[acquisition.surprisal].notna()]
    ages_of_children, ages_of_models = [], []
    word_of_row = points.loc[numbers.index, acquisition.word]
    for word, rows in numbers.groupby(word_of_row, sort=False):
        if len(str(word)) < acquisition.shortest or len(rows) < people.FEWEST:
            continue
        # All rows of a word have the same shares of children; take the first.
        shares = rows[[*map(str, acquisition.ages)]].iloc[0].to_numpy(float)
        age_of_children = people.age_of_acquisition(np.array(acquisition.ages, float), shares)
        age_of_models = people.training_of_acquisition(
            rows["training"].to_numpy(float),
            rows[acquisition.surprisal].to_numpy(),
            acquisition.chance,
        )
        if age_of_children is not None and age_of_models is not None:
            ages_of_children.append(age_of_children)
            ages_of_models.append(age_of_models)
    n = len(ages_of_children)
    result: Record = {**NO_VALUE, "n": n}
    # Equal values have no correlation.
    are_equal = len({*ages_of_children}) < 2 or len({*ages_of_models}) < 2
    if len(checkpoints) >= people.FEWEST and n >= people.FEWEST and not are_equal:
        value = float(np.corrcoef(ages_of_children, ages_of_models)[0, 1])
        low, high = correlation_interval(value, n)
        result |= {"value": value, "low": low, "high": high}
    return {checkpoints[-1]: result}


def suite_rows(
    suite: Suite, tables_of: Mapping[str, Tables], totals: Mapping[str, Row]
) -> list[Record]:
    """Return a row for each task that a model was run on (keys: ``card.SuiteTable.rows``).

    ``tables_of`` and ``totals``, the accuracies over all items, are keyed by benchmark. A model has
    no value for a task if it skipped all items of a paradigm.
    """
    rows = []
    for task in suite.tasks:
        tables = tables_of.get(task.benchmark)
        if tables is None:
            continue
        accuracies = tables.accuracies[tables.accuracies["paradigm"] != ALL]
        paradigms = set()
        for lang, path in tables.benchmark["items"].items():
            names = read_parquet(Path(path), ["paradigm"])["paradigm"].unique().to_pylist()
            paradigms |= {(lang, name) for name in names}
        # The measure "acquisition" is one number of all checkpoints; other numbers are of a model.
        acquisition = _acquisition(tables, task.acquisition) if task.acquisition else {}
        models: dict[str, Record] = {}
        for model in acquisition or tables.benchmark["languages"]:
            rows_of_model = accuracies[accuracies["model"] == model]
            judged = rows_of_model.loc[rows_of_model["n"] > 0, ["lang", "paradigm"]]
            if {*judged.itertuples(index=False, name=None)} != paradigms:
                number = NO_VALUE
            elif task.acquisition:
                number = acquisition[model]
            elif task.regression:
                number = _explained(tables, model, task.regression)
            elif task.measure == "accuracy":
                number = _mean_of_groups(rows_of_model, task.mean)
            else:
                number = _rank_correlation(tables, model)
            total = totals[task.benchmark]
            accuracy = total["models"].get(model, {"n": 0, "ties": 0})
            counts = {"n": accuracy["n"], "ties": accuracy["ties"]}
            counts["skipped"] = total["skipped"].get(model, {"n": 0})["n"]
            models[model] = {**counts, **number}
        is_sampled = any(
            count_rows(Path(tables.benchmark["items"][lang])) < count_rows(Path(path))
            for lang, path in tables.benchmark["all_items"].items()
        )
        rows.append(
            {
                "label": task.label,
                "benchmark": task.benchmark,
                "measure": task.measure,
                "sampled": is_sampled,
                "models": models,
                "printed": dict(task.printed),
            }
        )
    return rows
