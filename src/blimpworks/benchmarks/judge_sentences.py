"""Judge from scores which sentences a model accepts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from blimpworks.benchmarks.verdicts import correlation, read_items, right_of, verdict_columns
from blimpworks.campaign.methods import Method, find_method
from blimpworks.items import item_id
from blimpworks.judging.judge import (
    Rules,
    align_scores,
    labels_of,
    side_of,
    tie_values,
    without_unknown,
    write_judgements,
)
from blimpworks.judging.sides import Mask, Side, divisors, rounding_bounds, shown, totals
from blimpworks.scoring.resolution import Floats, Integers
from blimpworks.tables import SCORES, read_table

FOLDS = 10
FEWEST = 20
"""Distinct sentences below which each is a fold of its own."""


def folds_of(ids: Sequence[str]) -> Integers:
    """Return the fold of each sentence [n], by a hash of its id alone."""
    distinct, sentence = np.unique(np.asarray(ids, dtype=str), return_inverse=True)
    if len(distinct) < FEWEST:
        return np.asarray(sentence, dtype=np.int64)
    folds = [int(item_id("fold", sentence_id), 16) % FOLDS for sentence_id in distinct.tolist()]
    return np.array(folds, dtype=np.int64)[sentence]


def best_threshold(values: Floats, bounds: Floats, acceptable: Mask) -> tuple[float, float]:
    """Return the threshold that agrees best with ``acceptable`` [n], and its bound of rounding.

    Candidates are midway between neighbouring distinct ``values`` [n], in nats. The best has the
    largest Matthews correlation. Of several it is the middle one in ascending order, or the lower
    of the middle two. The bound comes from the values' own ``bounds`` [n]. Equal values give that
    value, and no values NaN.
    """
    order = np.argsort(values, kind="stable")
    values, bounds, good = values[order], bounds[order], acceptable[order]
    if not len(values):
        return np.nan, np.nan
    cuts = np.flatnonzero(values[1:] > values[:-1]) + 1
    if not len(cuts):
        return float(values[0]), float(bounds.max())
    rejected = np.cumsum(good)[cuts - 1]
    agreement = correlation(len(good), good.sum(), len(good) - cuts, good.sum() - rejected)
    # Equal correlations can differ in their last digits.
    best = np.flatnonzero(agreement >= agreement.max() - 1e-12)
    cut = cuts[best[(len(best) - 1) // 2]]
    sides = slice(cut - 1, cut + 1)
    return float(values[sides].mean()), float(bounds[sides].mean())


def thresholds(
    values: Floats, bounds: Floats, acceptable: Mask, folds: Integers
) -> tuple[Floats, Floats]:
    """Return each sentence's best threshold on all other folds, and its bound of rounding [n].

    NaN where no other fold has a sentence.
    """
    chosen, moved = np.full((2, len(values)), np.nan)
    for fold in np.unique(folds):
        inside = folds == fold
        training = (column_values[~inside] for column_values in (values, bounds, acceptable))
        chosen[inside], moved[inside] = best_threshold(*training)
    return chosen, moved


def _columns(
    method: Method, side: Side, rows: pa.Table, usable: Mask, ties: float, near_tie: float
) -> dict[str, pa.Array]:
    """Make the columns of judgements; all but the value are null without a verdict."""
    total, acceptable = totals(method, side), np.asarray(rows["acceptable"], dtype=bool)
    value, bound = total if method.higher else -total, rounding_bounds(method, side)
    usable = usable & ~np.isnan(value)
    threshold, moved = np.full((2, len(value)), np.nan)
    folds = folds_of(rows["item_id"].filter(usable).to_pylist())
    threshold[usable], moved[usable] = thresholds(
        value[usable], bound[usable], acceptable[usable], folds
    )
    missing = np.isnan(threshold)
    ahead = np.where(np.abs(value - threshold) <= bound + moved, 0.0, value - threshold)
    near = np.abs(ahead) * divisors(method, side) < near_tie
    limit = shown(method, threshold if method.higher else -threshold)
    # Plus 0.0: a tie has no sign.
    margin = np.where(acceptable, ahead, -ahead) + 0.0
    return {
        "value_good": pa.array(shown(method, total), mask=np.isnan(total)),
        "value_bad": pa.array(limit, mask=missing),
        **verdict_columns(
            margin, missing, correct=right_of(margin, ties), tie=margin == 0, near=near
        ),
        "acceptable": pa.array(acceptable),
        "accepted": pa.array(ahead >= 0, mask=missing),
    }


def judge_sentences(items: Path, scores: Path, output: Path, rules: Rules) -> int:
    """Write one judgement per sentence and method; return and log the number without a verdict.

    Each row of ``items`` has a sentence (on both sides) and whether it is ``acceptable``. A model
    accepts values at or above a threshold, or below it where the method prefers lower ones. The
    threshold of a sentence has the largest Matthews correlation on the judged sentences of the nine
    other of ten folds (``folds_of``, ``best_threshold``). No sentence takes part in its own
    threshold.

    ``value_good`` is the sentence's value and ``value_bad`` its threshold, both as the method shows
    them. ``margin`` is the distance of the value to the right side of the threshold, in nats of
    what the method compares. In a tie the two differ by no more than rounding: the sentence is
    accepted, and ``correct`` is ``rules.ties``. A near tie is a tie, or a margin that noise of
    ``rules.near_tie`` nats in a sum of log-probabilities could make. ``acceptable`` and
    ``accepted`` are further columns. Sentences without a score keep their row, with nulls, and take
    no part in thresholds. So do those with unknown words, if the rules say so.

    Raises UserError for a missing table or column, an unknown method, or a sentence without scores.
    """
    chosen = [find_method(name) for name in rules.methods]
    policies = tie_values(chosen, rules.ties)
    rows = read_items(items, ["acceptable"])
    side = side_of(rows, align_scores(rows, read_table(SCORES, scores), scores), "good")
    usable: Mask = np.ones(len(rows), dtype=bool)
    if rules.unknown:
        usable = without_unknown(side, side.ids, rules.unknown)
    labels = labels_of(rows)
    tables = []
    for method in chosen:
        ties = policies[method.name]
        columns = _columns(method, side, rows, usable, ties, rules.near_tie)
        column = pa.array([method.name] * len(rows), pa.string())
        tables.append(pa.table({**labels, "method": column, **columns}))
    return write_judgements(tables, output)
