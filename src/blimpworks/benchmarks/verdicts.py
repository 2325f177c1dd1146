"""Judge items of several conditions and single sentences by scores, and measure agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike

from blimpworks.benchmarks.predictions import WHOLE, Effect, Formula, Place, Prediction
from blimpworks.campaign.methods import METHODS, Method, find_method, regional
from blimpworks.errors import UserError
from blimpworks.items import item_id
from blimpworks.judging.judge import (
    RATING,
    Rules,
    align_scores,
    judgement_table,
    right_of,
    side_of,
    tie_values,
    verdict_columns,
    without_unknown,
    write_judgements,
)
from blimpworks.judging.sides import Mask, Side, divisors, rounding_bounds, shown, totals
from blimpworks.scoring.resolution import Floats, Integers
from blimpworks.tables import ITEMS, SCORES, read_table

REGIONS = ["regions", "region_starts", "region_ends"]
COLUMNS = ("item", "condition", *REGIONS, "predictions")
"""Columns of items of conditions beyond those of all benchmarks."""
EFFECTS, EFFECT_NAMES, RIGHT = "effects", "effect_names", "right"
OPTIONAL = (EFFECTS, EFFECT_NAMES, RIGHT)
"""Columns that only some declarations give."""
KEYS = ["phenomenon", "paradigm", "item"]
SCORED = ("item_id", "rounding", "good_ids", "good_logprobs", "good_ends")


class RegionSide(Side):
    """Token scores of n regions: its sentence's, with the region's own length."""

    @cached_property
    def characters(self) -> Integers:
        """Length of each region in code points [n]."""
        return self.span_end - self.span_start

    @cached_property
    def bytes(self) -> Integers:
        """Length of each region in bytes of UTF-8 [n]."""
        spans = zip(self.texts.to_pylist(), self.span_start, self.span_end, strict=True)
        return np.array([len(text[first:after].encode()) for text, first, after in spans], np.int64)


@dataclass(frozen=True)
class Group:
    """Items with the same predictions and effects, by number [n]."""

    items: Integers
    predictions: tuple[Prediction, ...]
    effects: tuple[Effect, ...]
    by_mean: bool
    """Whether the share of predictions that hold counts, and not whether all do."""
    slices: Mapping[Place, slice]
    """Positions of the items' regions [n] of a place among the regions of all groups."""


def _label(items: pa.Table, number: int) -> str:
    [row] = items.slice(number, 1).to_pylist()
    return f"suite {row['paradigm']!r}, item {row['item']!r}"


def _regions(table: pa.Table, numbers: Integers, items: pa.Table) -> pd.DataFrame:
    """List all regions: item, condition, name, row of the condition in ``table``, and span."""
    rows = table.select(["good", "condition", *REGIONS]).to_pandas()
    rows = rows.astype({"condition": object}).assign(item=numbers, row=np.arange(len(rows)))
    sentences = rows.assign(regions=WHOLE, region_starts=0, region_ends=rows["good"].str.len())
    regions: pd.DataFrame = pd.concat([sentences, rows.explode(REGIONS)], ignore_index=True)
    regions = regions.dropna(subset="regions")
    twice = regions[regions.duplicated(["item", "condition", "regions"])]
    if len(twice):
        first = twice.iloc[0]
        location = "in several rows"
        if first["regions"] != WHOLE:
            location = f"with region {first['regions']!r} several times"
        raise UserError(
            f"{_label(items, first['item'])} has condition {first['condition']!r} {location}; "
            "expected it once. Correct the files or the declaration."
        )
    return regions


def _grouped(
    table: pa.Table, numbers: Integers, items: pa.Table
) -> tuple[list[Group], pd.DataFrame]:
    """Group items by their formulas; list the regions that these name, group by group."""
    alike: dict[tuple[tuple[str, ...], tuple[str, ...], bool], list[int]] = {}
    for number, item in enumerate(items.to_pylist()):
        if not item["predictions"]:
            raise UserError(
                f"{_label(items, number)} has no predictions; expected at least one. Add it to the "
                "benchmark's declaration."
            )
        effects = tuple(item.get(EFFECTS) or ())
        key = tuple(item["predictions"]), effects, item.get(RIGHT) == "mean"
        alike.setdefault(key, []).append(number)
    every = _regions(table, numbers, items)
    places = every.groupby(["regions", "condition"])
    by_place = {place: rows.set_index("item") for place, rows in places}
    groups: list[Group] = []
    taken: list[pd.DataFrame] = []
    end = 0
    for (formulas, sums, by_mean), members in alike.items():
        predictions = tuple(map(Prediction.parse, formulas))
        effects_of = tuple(map(Effect.parse, sums))
        every_formula: tuple[Formula, ...] = (*effects_of, *predictions)
        named = {place: each for each in every_formula for place in sorted(each.places)}
        slices = {}
        for place, formula in named.items():
            rows = by_place.get(place, every[:0]).reindex(members)
            lacking = rows["row"].isna().to_numpy()
            if lacking.any():
                lacks = members[lacking.argmax()]
                regions = every[(every["item"] == lacks) & (every["regions"] != WHOLE)]
                has = zip(regions["regions"], regions["condition"], strict=True)
                raise UserError(
                    f"{_label(items, lacks)}: the formula {formula.text!r} names region "
                    f"{place[0]!r} of condition {place[1]!r}, which the item lacks; it has "
                    f"{', '.join(f'({region};%{name}%)' for region, name in has)}. Correct the "
                    "prediction or the items."
                )
            taken.append(rows[["row", "region_starts", "region_ends"]].astype(np.int64))
            slices[place] = slice(end, end + len(rows))
            end += len(rows)
        groups.append(Group(np.array(members, np.int64), predictions, effects_of, by_mean, slices))
    return groups, pd.concat(taken)


def surprisals(method: Method, side: Side) -> tuple[Floats, Floats]:
    """Return the surprisal of each region and its bound of rounding [n].

    It is minus the method's total in nats (per token or unit of length), or the total itself where
    the method prefers lower ones. It is 0 in an empty region, and NaN in one without a value.
    """
    empty = side.span_start == side.span_end
    total = totals(method, side)
    return (
        np.where(empty, 0.0, -total if method.higher else total),
        np.where(empty, 0.0, rounding_bounds(method, side)),
    )


def _columns(
    groups: Sequence[Group],
    regions: tuple[Floats, Floats],
    usable: Mask,
    ties: float,
    near_tie: float,
) -> dict[str, pa.Array]:
    margin, correct = np.full((2, len(usable)), np.nan)
    tie, near = np.zeros((2, len(usable)), dtype=bool)
    held: list[list[bool] | None] = [None] * len(usable)
    effects: list[list[float | None] | None] = [None] * len(usable)
    for group in groups:
        values, bounds = (
            {place: numbers[where] for place, where in group.slices.items()} for numbers in regions
        )
        margins = np.stack([formula.margins(values, bounds) for formula in group.predictions])
        margin[group.items] = margins.min(axis=0)
        counted = margins if group.by_mean else margins.min(axis=0, keepdims=True)
        correct[group.items] = right_of(counted, ties).mean(axis=0)
        tie[group.items] = (counted == 0).any(axis=0)
        near[group.items] = (np.abs(counted) < near_tie).any(axis=0)
        for item, column in zip(group.items.tolist(), (margins > 0).T.tolist(), strict=True):
            held[item] = column
        if group.effects:
            sums = np.stack([effect.values(values) for effect in group.effects])
            for item, column in zip(group.items.tolist(), sums.T.tolist(), strict=True):
                effects[item] = [None if np.isnan(value) else value for value in column]
    missing = np.isnan(margin) | ~usable
    columns = {
        **dict.fromkeys(("value_good", "value_bad"), pa.nulls(len(margin), pa.float64())),
        **verdict_columns(margin, missing, correct=correct, tie=tie, near=near),
        "predictions_held": pa.array(held, pa.list_(pa.bool_()), mask=missing),
    }
    if any(effects):
        columns[EFFECTS] = pa.array(effects, pa.list_(pa.float64()), mask=~usable)
    return columns


def judge_designs(items: Path, scores: Path, output: Path, rules: Rules) -> int:
    """Write one judgement per item and method; return and log the number without a verdict.

    ``items`` has a row for each condition of each item: its sentence on both sides, name, regions,
    and the item's predictions. Values of a region are surprisals: minus the method's total over the
    tokens that overlap it, with the space before it; 0 if it is empty.

    ``margin`` is the smallest margin of the item's predictions (``Prediction.margins``), in nats of
    what the method compares. 0 is a tie: sums of surprisals differ by no more than rounding, and
    ``correct`` is ``rules.ties``. A near tie is a tie, or a margin below ``rules.near_tie``.
    ``value_good`` and ``value_bad`` are null. ``predictions_held`` is a further column, with each
    prediction in turn; a tied one does not hold. Where the mean counts, ``correct`` is the share of
    predictions that hold, ties as ``rules.ties``. The item is tied if any prediction is.
    ``effects`` are sums of surprisals, named by ``effect_names``; null where a region has no value.

    Items without a verdict keep their row, with nulls. They have a region without a value that a
    prediction names. If the rules say so, also those with unknown words in any sentence (``any``)
    or in such a region (``critical``) have none.

    Raises UserError for a missing table or column, and for a method that is unknown or not over
    regions. Likewise for a sentence without scores, a malformed formula, or an item that lacks
    its regions.
    """
    for name in rules.methods:
        if not regional([name]):
            expected = ", ".join(method_name for method_name in METHODS if regional([method_name]))
            raise UserError(
                f"method {name!r} takes tokens outside of regions, but predictions compare "
                f"regions; expected {expected}, or one such as 'mean=mean(region)'."
            )
    methods = [find_method(name) for name in rules.methods]
    policies = tie_values(methods, rules.ties)
    table = read_items(items, COLUMNS, OPTIONAL)
    aligned = align_scores(table, read_table(SCORES, scores, SCORED), scores)
    keys = table.select(KEYS).to_pandas().groupby(KEYS, sort=False, observed=True)
    numbers = np.asarray(keys.ngroup(), dtype=np.int64)
    first_rows = table.take(pa.array(np.unique(numbers, return_index=True)[1]))
    groups, regions = _grouped(table, numbers, first_rows)
    rows = pa.array(regions["row"])
    spans = {"good_start": regions["region_starts"], "good_end": regions["region_ends"]}
    sentences = pa.table({"good": table["good"].take(rows), **spans})
    side = side_of(sentences, aligned.take(rows), "good", RegionSide)
    usable: Mask = np.ones(len(first_rows), dtype=bool)
    if rules.unknown == "critical":
        usable[numbers[regions["row"]][~without_unknown(side, "critical")]] = False
    elif rules.unknown:
        usable[numbers[~without_unknown(side_of(table, aligned, "good"), rules.unknown)]] = False
    tables = []
    for method in methods:
        values = surprisals(method, side)
        columns = _columns(groups, values, usable, policies[method.name], rules.near_tie)
        if EFFECTS in columns and EFFECT_NAMES in first_rows.column_names:
            columns[EFFECT_NAMES] = first_rows[EFFECT_NAMES]
        tables.append(judgement_table(first_rows, method, columns, "item"))
    return write_judgements(tables, output)


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


def _sentence_columns(
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
        usable = without_unknown(side, rules.unknown)
    tables = []
    for method in chosen:
        ties = policies[method.name]
        columns = _sentence_columns(method, side, rows, usable, ties, rules.near_tie)
        tables.append(judgement_table(rows, method, columns))
    return write_judgements(tables, output)


def read_items(path: Path, more: Sequence[str], optional: Sequence[str] = ()) -> pa.Table:
    """Read an items table with columns of ``more`` (UserError if absent) and ``optional``."""
    rows = read_table(ITEMS, path, [*ITEMS.names, *more, *optional, RATING])
    missing = [name for name in more if name not in rows.column_names or rows[name].null_count]
    if missing:
        raise UserError(
            f"{path} lacks values of {', '.join(missing)}; expected items with "
            f"{', '.join(more)} in each row. Build the items of this benchmark again."
        )
    return rows


def correlation(count: int, acceptable: ArrayLike, accepted: ArrayLike, both: ArrayLike) -> Floats:
    """Compute Matthews' correlation from numbers of sentences; arrays of numbers give arrays.

    Of ``count`` sentences these are acceptable, accepted, and both. It is 0 where either has a
    single value, so that Pearson's correlation, which it equals, is undefined. Source: Matthews
    1975, "Comparison of the predicted and observed secondary structure of T4 phage lysozyme";
    scikit-learn does the same.
    """
    positive, predicted, common = (
        np.asarray(number, dtype=np.float64) for number in (acceptable, accepted, both)
    )
    covariance = count * common - positive * predicted
    scale = np.sqrt(positive * (count - positive) * (predicted * (count - predicted)))
    values: Floats = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    return values


def matthews(acceptable: Mask, accepted: Mask) -> float:
    """Compute Matthews' correlation of two masks [n]; 0 where either has a single value."""
    both = (acceptable & accepted).sum()
    return float(correlation(len(acceptable), acceptable.sum(), accepted.sum(), both))


def correlation_interval(r: float, n: int, spread: float = 1.0) -> tuple[float, float]:
    """Return the 95 % interval of a correlation over n items, by Fisher's z.

    The standard error of z is about √(spread / (n - 3)). ``spread`` is 1 for Pearson's and so for
    Matthews' (Fisher 1921, "On the probable error of a coefficient of correlation deduced from a
    small sample"). It is 1 + r² / 2 for Spearman's (Bonett and Wright 2000, "Sample size
    requirements for estimating Pearson, Kendall and Spearman correlations"). The interval is -1 to
    1 for three items or fewer, and of no width for a correlation of 1 or -1.
    """
    if n <= 3:
        return -1.0, 1.0
    if abs(r) >= 1:
        return r, r
    reach = NormalDist().inv_cdf(0.975) * np.sqrt(spread / (n - 3))
    low, high = np.tanh(np.arctanh(r) + np.array([-reach, reach]))
    return float(low), float(high)
