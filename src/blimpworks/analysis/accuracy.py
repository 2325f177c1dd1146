"""Compute accuracies with intervals from judgements."""

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
from blimpworks.judging.judge import count_repeats
from blimpworks.tables import ACCURACIES, JUDGEMENTS, read_table, write_frame

log = logging.getLogger(__name__)

Z95 = NormalDist().inv_cdf(0.975)
"""Standard deviations on either side that 95 % of a normal distribution lie within."""
ALL = "all"
KEYS = ["phenomenon", "paradigm", "method"]
COLUMNS = [*KEYS, "correct", "tie", "near_tie"]
Judged = tuple[str, str, Path]
"""Model, language, and table of judgements."""
TABLE = "table"
"""Column with a row's table, where several tables are summarised at once."""
BLOCK = 200_000
"""Rows summarised at once; single small tables would take several times as long."""
NOMINAL = "nominal"
"""Number of prompts of a template by the release's settings, in judgements of responses."""


def wilson(correct: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a proportion of ``correct`` in ``n`` > 0 (Wilson 1927).

    ``correct`` is rounded to a whole number, to even: halves come from ties counted half.
    """
    # SciPy and statsmodels take a second to import, most of the time of many jobs.
    right = round(correct)
    total = int(n) + Z95**2
    centre = (right + Z95**2 / 2) / total
    reach = Z95 * math.sqrt(right * (n - right) / n + Z95**2 / 4) / total
    return (centre - reach if right else 0.0, centre + reach if right < n else 1.0)


def mean_interval(rows: pd.DataFrame, weights: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of a weighted sum of independent accuracies, NaN without a bound.

    ``rows`` have columns accuracy, low and high, all from 0 to 1. The squared distances to the
    single bounds add up (Zou and Donner 2008, "Construction of confidence limits about effect
    measures: a general approach").
    """
    share, accuracy = np.asarray(weights, float), rows["accuracy"].to_numpy(float)
    below, above = (
        float(np.linalg.norm(share * (accuracy - rows[end].to_numpy(float))))
        for end in ("low", "high")
    )
    middle = float(share @ accuracy)
    return middle - below, middle + above


def _shares(judgements: pd.DataFrame, accuracies: pd.DataFrame) -> pd.Series:
    """Return the factor of each row of ``accuracies``: n by the nominal number of prompts."""
    template = judgements["paradigm"].astype(str).str.extract(r"(template=\d+)", expand=False)
    by_template = judgements[NOMINAL].groupby([judgements["phenomenon"].astype(str), template])
    nominal = dict[Any, float](by_template.max().items())
    for (task, _), prompts in [*nominal.items()]:
        for wider in ((task, ALL), (ALL, ALL)):
            nominal[wider] = nominal.get(wider, 0.0) + prompts
    names = accuracies[["phenomenon", "paradigm"]].astype(str).itertuples(index=False, name=None)
    shares: pd.Series = accuracies["n"] / [nominal.get(name, np.nan) for name in names]
    return shares.where(accuracies["method"] == PUBLISHED, 1.0).fillna(1.0)


def summarise(judgements: pd.DataFrame, *, one_more: bool = False) -> pd.DataFrame:
    """Compute accuracies of one model and language by phenomenon, paradigm and method.

    A column ``table`` keeps tables apart. Paradigm ``all`` and phenomenon ``all`` are micro
    averages: a pair in two paradigms counts in both (Jumelet et al. 2025, section 6). Rows without
    a judgement are counted as skipped. With ``one_more`` the accuracy of a paradigm is
    (correct + 1) / (n + 1); its interval stays.

    With a column ``nominal``, accuracies and intervals by the method ``published`` are shares of
    the nominal numbers of prompts, and n stays the number judged. Source: Moroni et al. 2025, of a
    template correct ÷ nominal, of a task correct ÷ the sum over its templates.
    """
    rows = judgements.assign(skipped=judgements["correct"].isna())
    keys = [TABLE, *KEYS] if TABLE in judgements else KEYS
    groups = pd.concat(
        [rows, rows.assign(paradigm=ALL), rows.assign(paradigm=ALL, phenomenon=ALL)]
    ).groupby(keys, sort=True)
    every: pd.DataFrame = groups.agg(
        correct=("correct", "sum"),
        n=("correct", "count"),
        skipped=("skipped", "sum"),
        ties=("tie", "sum"),
        near_ties=("near_tie", "sum"),
    ).reset_index()
    summary = every[every["n"] > 0].copy()
    # The script of Mueller et al. (2020) for LSTMs counts so in each file of sentences.
    more = (summary["paradigm"] != ALL) & one_more
    summary["accuracy"] = (summary["correct"] + more) / (summary["n"] + more)
    bounds = [wilson(c, n) for c, n in zip(summary["correct"], summary["n"], strict=True)]
    summary["low"], summary["high"] = [b[0] for b in bounds], [b[1] for b in bounds]
    if NOMINAL in judgements:
        shares = _shares(judgements, summary)
        numbers = ["accuracy", "low", "high"]
        summary[numbers] = summary[numbers].mul(shares, axis=0)
    return summary


def _read(path: Path) -> pa.Table:
    # The last column where it is there.
    table = read_table(JUDGEMENTS, path, ["item_id", *COLUMNS, NOMINAL])
    # Judgements of the same pair twice must say the same of it; each counts.
    keys = ["item_id", "phenomenon", "paradigm", "method"]
    repeated = count_repeats(table, keys, COLUMNS[3:], path, "verdicts")
    if repeated:
        log.info("%s: %d of %d rows are of pairs before them", path, repeated, len(table))
    unjudged = table["correct"].null_count
    if unjudged:
        log.warning("%s: %d of %d rows have no judgement: left out", path, unjudged, len(table))
    return table.drop_columns("item_id")


def _summaries(judgements: Sequence[Judged], one_more: Collection[str]) -> Iterator[pd.DataFrame]:
    """Yield accuracies of tables in their order, neighbours together that are counted alike."""

    def tables() -> Iterator[tuple[tuple[bool, int, int], pa.Table]]:
        rows = 0
        for number, judged in enumerate(judgements):
            table = _read(judged[2])
            # A table with nominal numbers of prompts is of no other's kind.
            alone = number if NOMINAL in table.column_names else -1
            numbers = pa.array(np.full(len(table), number))
            key = (judged[0] in one_more, alone, rows // BLOCK)
            yield key, table.append_column(TABLE, numbers)
            rows += len(table)

    types = dict.fromkeys(KEYS, object) | dict.fromkeys(["tie", "near_tie"], "boolean")
    models, languages = ({n: row[i] for n, row in enumerate(judgements)} for i in (0, 1))
    for (more, *_), block in groupby(tables(), key=itemgetter(0)):
        together = pa.concat_tables([table for _, table in block]).unify_dictionaries()
        summary = summarise(together.to_pandas().astype(types), one_more=more)
        number = summary[TABLE]
        yield summary.assign(model=number.map(models), lang=number.map(languages))


def compute_accuracies(
    judgements: Sequence[Judged], benchmark: str, output: Path, one_more: Collection[str] = ()
) -> int:
    """Write accuracies of ``benchmark`` from (model, language, judgements table); count the rows.

    A row per model, language, phenomenon, paradigm and method, and rows ``all`` of paradigm and
    phenomenon, each with Wilson's 95 % interval. ``one_more`` names models for ``summarise``.
    Raises UserError without a table, and for a missing one or one of another schema.
    """
    if not judgements:
        raise UserError(f"{output}: no judgements of {benchmark} are given; name at least one.")
    frame = pd.concat([*_summaries(judgements, one_more)]).assign(
        benchmark=benchmark, rounding=None, origin=None
    )
    write_frame(frame, ACCURACIES, output)
    return len(frame)
