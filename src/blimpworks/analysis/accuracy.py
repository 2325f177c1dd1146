"""Compute accuracies and their 95 % intervals from judgements.

``compute_accuracies`` reads tables of judgements, one for each model and language, and writes one
table of accuracies, with a row for each group of items. A judgement is a model's verdict on an item
(a minimal pair or a prompt) by a method of judging.

    judgements: item_id phenomenon paradigm method  correct (1, 0, or ½ for a tie)
    accuracies: model lang phenomenon paradigm method  accuracy low high n
"""

import logging
import math
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from blimpworks.campaign.variants import PUBLISHED
from blimpworks.errors import UserError
from blimpworks.items import ALL
from blimpworks.judging.judge import count_repeats
from blimpworks.tables import ACCURACIES, JUDGEMENTS, read_table, write_frame

log = logging.getLogger(__name__)

Z95 = NormalDist().inv_cdf(0.975)
"""Half the width of the central 95 % of a normal distribution, in standard deviations."""
GROUP_COLUMNS = ["phenomenon", "paradigm", "method"]
VERDICT_COLUMNS = ["correct", "tie", "near_tie"]
Judged = tuple[str, str, Path]
"""Model, language, and table of judgements."""
TABLE = "table"
"""Column with the number of a row's table, if several tables are summarised together."""
BLOCK_ROWS = 200_000
"""Rows after which a new block of tables begins; tables of a block are summarised together."""
NOMINAL = "nominal"
"""Column of judgements of answers: number of prompts that the paper states for the template."""


def wilson(correct: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of the proportion of ``correct`` in ``n`` > 0 (Wilson 1927).

    ``correct``, in which ties may count half, is rounded to an integer (halves to even).
    """
    # The formula is written out, because importing SciPy or statsmodels takes long.
    successes = round(correct)
    total = int(n) + Z95**2
    centre = (successes + Z95**2 / 2) / total
    half_width = Z95 * math.sqrt(successes * (n - successes) / n + Z95**2 / 4) / total
    low = centre - half_width if successes else 0.0
    high = centre + half_width if successes < n else 1.0
    return low, high


def weighted_interval(rows: pd.DataFrame, weights: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the sum of independent accuracies, each times its weight.

    ``rows`` have the columns accuracy, low and high, from 0 to 1; a missing bound gives NaN. The
    squared distances to the bounds are added (Zou and Donner 2008, "Construction of confidence
    limits about effect measures: a general approach").
    """
    weight = np.asarray(weights, float)
    accuracy, low, high = (rows[name].to_numpy(float) for name in ("accuracy", "low", "high"))
    below = float(np.linalg.norm(weight * (accuracy - low)))
    above = float(np.linalg.norm(weight * (accuracy - high)))
    middle = float(weight @ accuracy)
    return middle - below, middle + above


def _denominator_ratios(judgements: pd.DataFrame, accuracies: pd.DataFrame) -> pd.Series:
    """Return n ÷ nominal number of prompts [accuracies]: factors from correct/n to correct/nominal.

    The factor is 1 for methods other than ``published``, and for rows without a nominal number:
    paradigms that are more than a template, such as "template=2/answer=1".
    """
    # {(task, template): nominal number of prompts}; a task is a phenomenon.
    template = judgements["paradigm"].astype(str).str.extract(r"(template=\d+)", expand=False)
    by_template = judgements[NOMINAL].groupby([judgements["phenomenon"].astype(str), template])
    nominal = dict[Any, float](by_template.max().items())
    # Add the sums over the templates of a task, (task, ALL), and over all tasks, (ALL, ALL).
    for (task, _template), prompts in [*nominal.items()]:
        for total in ((task, ALL), (ALL, ALL)):
            nominal[total] = nominal.get(total, 0.0) + prompts
    names = accuracies[["phenomenon", "paradigm"]].astype(str).itertuples(index=False, name=None)
    ratios: pd.Series = accuracies["n"] / [nominal.get(name, np.nan) for name in names]
    return ratios.where(accuracies["method"] == PUBLISHED, 1.0).fillna(1.0)


def summarise(judgements: pd.DataFrame, *, one_more: bool = False) -> pd.DataFrame:
    """Compute a model's accuracies in a language by phenomenon, paradigm and method.

    If there is a column ``table``, tables are summarised separately. Rows with paradigm ``all`` or
    phenomenon ``all`` are micro averages; a pair that two paradigms share is counted twice
    (Jumelet et al. 2025, section 6). ``skipped`` is the number of items without a verdict. With
    ``one_more`` the accuracy of a paradigm is (correct + 1) / (n + 1), as by the script of Mueller
    et al. (2020) for LSTMs; its interval is unchanged.

    If there is a column ``nominal``, the denominator of accuracies and intervals by the method
    ``published`` is not n (Moroni et al. 2025), but the nominal number of prompts of the templates.
    """
    # Each judgement counts in its paradigm, in its phenomenon, and in the benchmark.
    rows = judgements.assign(skipped=judgements["correct"].isna())
    keys = [TABLE, *GROUP_COLUMNS] if TABLE in judgements else GROUP_COLUMNS
    totals = [rows.assign(paradigm=ALL), rows.assign(paradigm=ALL, phenomenon=ALL)]
    groups = pd.concat([rows, *totals]).groupby(keys, sort=True)
    counts: pd.DataFrame = groups.agg(
        correct=("correct", "sum"),
        n=("correct", "count"),
        skipped=("skipped", "sum"),
        ties=("tie", "sum"),
        near_ties=("near_tie", "sum"),
    ).reset_index()
    summary = counts[counts["n"] > 0].copy()
    # The script of Mueller et al. adds one for each file of sentences, which is a paradigm.
    added = (summary["paradigm"] != ALL) & one_more  # counts as 1 or 0 in the sums
    summary["accuracy"] = (summary["correct"] + added) / (summary["n"] + added)
    bounds = [wilson(c, n) for c, n in zip(summary["correct"], summary["n"], strict=True)]
    summary["low"], summary["high"] = [low for low, _ in bounds], [high for _, high in bounds]
    if NOMINAL in judgements:
        numbers = ["accuracy", "low", "high"]
        summary[numbers] = summary[numbers].mul(_denominator_ratios(judgements, summary), axis=0)
    return summary


def _read(path: Path) -> pa.Table:
    # Only judgements of answers have the column NOMINAL.
    table = read_table(JUDGEMENTS, path, ["item_id", *GROUP_COLUMNS, *VERDICT_COLUMNS, NOMINAL])
    for column in ("phenomenon", "paradigm"):
        if wrong := {None, ALL} & {*table[column].unique().to_pylist()}:
            raise UserError(
                f"{path}: a {column} is {min(wrong, key=str)!r}; expected a name other than "
                f"{ALL!r}, which names the accuracy over all of them. Correct the items, and judge "
                "them again."
            )
    # Repeated judgements of a pair must agree; each of them counts.
    repeated = count_repeats(table, ["item_id", *GROUP_COLUMNS], VERDICT_COLUMNS, path, "verdicts")
    if repeated:
        log.info("%s: %d of %d rows repeat pairs of earlier rows", path, repeated, len(table))
    unjudged = table["correct"].null_count
    if unjudged:
        log.warning("%s: %d of %d rows have no judgement: left out", path, unjudged, len(table))
    return table.drop_columns("item_id")


def _summaries(judgements: Sequence[Judged], one_more: Collection[str]) -> Iterator[pd.DataFrame]:
    """Yield accuracies of tables, in order; blocks of tables are faster than one at a time."""

    def tables_with_keys() -> Iterator[tuple[tuple[bool, int, int], pa.Table]]:
        """Yield each table with a key; successive tables with the same key are one block."""
        rows_before = 0
        for number, (model, _, path) in enumerate(judgements):
            table = _read(path)
            # A table with nominal numbers of prompts is a block by itself.
            separate = number if NOMINAL in table.column_names else -1
            key = (model in one_more, separate, rows_before // BLOCK_ROWS)
            yield key, table.append_column(TABLE, pa.array(np.full(len(table), number)))
            rows_before += len(table)

    types = {**dict.fromkeys(GROUP_COLUMNS, object), "tie": "boolean", "near_tie": "boolean"}
    names = [(model, lang) for model, lang, _ in judgements]
    labels = pd.DataFrame(names, columns=["model", "lang"], dtype=object)
    for (with_one_more, *_), block in groupby(tables_with_keys(), key=itemgetter(0)):
        joined = pa.concat_tables([table for _, table in block]).unify_dictionaries()
        summary = summarise(joined.to_pandas().astype(types), one_more=with_one_more)
        yield summary.join(labels, on=TABLE)


def compute_accuracies(
    judgements: Sequence[Judged], benchmark: str, output: Path, one_more: Collection[str] = ()
) -> int:
    """Write the accuracies of a benchmark from tables of judgements; return the number of rows.

    There is a row per model, language, phenomenon, paradigm and method, and rows for ``all``
    paradigms and phenomena, with Wilson's 95 % interval. ``one_more``: models for which
    ``summarise`` adds one. Raises UserError if there are no tables, or one is missing or malformed.
    """
    if not judgements:
        raise UserError(f"{output}: no judgements of {benchmark} are given; name at least one.")
    frame = pd.concat([*_summaries(judgements, one_more)])
    frame = frame.assign(benchmark=benchmark, rounding=None, origin=None)
    write_frame(frame, ACCURACIES, output)
    return len(frame)
