"""Judge items of several conditions, and single sentences, by the scores of a model.

``judge_designs`` decides for each item whether its predictions hold, such as ``(verb;%match%) <
(verb;%mismatch%)``: the verb has a lower surprisal in the condition ``match``. ``judge_sentences``
decides for each sentence whether the model accepts it rightly. Both read an items table and a
scores table (token log-probabilities), and write a judgement per item and method.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike

from blimpworks.benchmarks.predictions import WHOLE, Effect, Formula, Prediction, Region
from blimpworks.campaign.methods import METHODS, Method, find_method, regional
from blimpworks.errors import UserError
from blimpworks.items import item_id
from blimpworks.judging import judge
from blimpworks.judging.judge import Mask, Side, divisors, in_unit, rounding_bounds, totals
from blimpworks.scoring.tokens import Floats, Integers
from blimpworks.tables import ITEMS, SCORES, read_table

REGIONS = ["regions", "region_starts", "region_ends"]
CONDITION_COLUMNS = ("item", "condition", *REGIONS, "predictions")
"""Columns that tables of conditions have besides those of all items."""
EFFECTS, EFFECT_NAMES, RIGHT = "effects", "effect_names", "right"
OPTIONAL = (EFFECTS, EFFECT_NAMES, RIGHT)
"""Columns that only the items of some benchmarks have."""
ITEM_KEYS = ["phenomenon", "paradigm", "item"]
TOKEN_COLUMNS = ("item_id", "rounding", "good_ids", "good_logprobs", "good_ends")


class RegionSide(Side):
    """Token scores of n regions: the tokens of the full sentence, but the lengths of the region."""

    @cached_property
    def characters(self) -> Integers:
        return self.span_end - self.span_start

    @cached_property
    def bytes(self) -> Integers:
        spans = zip(self.texts.to_pylist(), self.span_start, self.span_end, strict=True)
        return np.array([len(text[first:after].encode()) for text, first, after in spans], np.int64)


@dataclass(frozen=True)
class Group:
    """Items with the same predictions and effects."""

    items: Integers
    """Numbers of the items [n], from 0 in the order of the table."""
    predictions: tuple[Prediction, ...]
    effects: tuple[Effect, ...]
    by_mean: bool
    """Whether ``correct`` is the share of predictions that hold, not whether all hold."""
    slices: Mapping[Region, slice]
    """Rows of each region in the table of compared regions (``_group_by_formulas``)."""


def _label(items: pa.Table, number: int) -> str:
    [row] = items.slice(number, 1).to_pylist()
    return f"suite {row['paradigm']!r}, item {row['item']!r}"


def _read_regions(table: pa.Table, numbers: Integers, items: pa.Table) -> pd.DataFrame:
    """Return the regions of all conditions, and their full sentences as regions named ``WHOLE``.

    ``table`` has a row for each condition, and ``numbers`` the item's number for each row. The
    columns are item (number), row (in ``table``), condition, regions (name), and the region's ends.
    """
    rows = table.select(["good", "condition", *REGIONS]).to_pandas()
    rows = rows.astype({"condition": object}).assign(item=numbers, row=np.arange(len(rows)))
    sentences = rows.assign(regions=WHOLE, region_starts=0, region_ends=rows["good"].str.len())
    all_regions: pd.DataFrame = pd.concat([sentences, rows.explode(REGIONS)], ignore_index=True)
    all_regions = all_regions.dropna(subset="regions")  # a condition without regions
    repeated = all_regions[all_regions.duplicated(["item", "condition", "regions"])]
    if len(repeated):
        first = repeated.iloc[0]
        location = "in several rows"
        if first["regions"] != WHOLE:
            location = f"with region {first['regions']!r} several times"
        raise UserError(
            f"{_label(items, first['item'])} has condition {first['condition']!r} {location}; "
            "expected it once. Correct the files or the declaration."
        )
    return all_regions


def _group_by_formulas(
    table: pa.Table, numbers: Integers, items: pa.Table
) -> tuple[list[Group], pd.DataFrame]:
    """Group items by their formulas; return the groups, and the table of the compared regions.

    The table has a row for each region of a formula and item, ordered by group, region and item.
    ``table`` and ``numbers`` are those of ``_read_regions``; ``items`` has a row for each item.
    """
    # {(predictions, effects, whether ``right`` is mean): numbers of items}
    items_by_formulas: dict[tuple[tuple[str, ...], tuple[str, ...], bool], list[int]] = {}
    for number, item in enumerate(items.to_pylist()):
        if not item["predictions"]:
            raise UserError(
                f"{_label(items, number)} has no predictions; expected at least one. Add it to the "
                "benchmark's declaration."
            )
        sums = tuple(item.get(EFFECTS) or ())
        key = tuple(item["predictions"]), sums, item.get(RIGHT) == "mean"
        items_by_formulas.setdefault(key, []).append(number)
    all_regions = _read_regions(table, numbers, items)
    same_region = all_regions.groupby(["regions", "condition"])
    rows_by_region = {key: rows.set_index("item") for key, rows in same_region}
    groups: list[Group] = []
    compared: list[pd.DataFrame] = []
    end = 0  # number of rows in ``compared``
    for (formulas, sums, by_mean), members in items_by_formulas.items():
        predictions = tuple(map(Prediction.parse, formulas))
        effects = tuple(map(Effect.parse, sums))
        formula_by_region: dict[Region, Formula] = {}  # a formula that names the region
        for formula in (*effects, *predictions):
            formula_by_region |= dict.fromkeys(sorted(formula.regions), formula)
        slices = {}
        for region, formula in formula_by_region.items():
            # A row for each item of the group; an item without the region has NaN.
            rows = rows_by_region.get(region, all_regions[:0]).reindex(members)
            is_lacking = rows["row"].isna().to_numpy()
            if is_lacking.any():
                number = members[is_lacking.argmax()]
                of_item = (all_regions["item"] == number) & (all_regions["regions"] != WHOLE)
                regions = all_regions[of_item]
                present = zip(regions["regions"], regions["condition"], strict=True)
                raise UserError(
                    f"{_label(items, number)}: the formula {formula.text!r} names region "
                    f"{region[0]!r} of condition {region[1]!r}, which the item lacks; it has "
                    f"{', '.join(f'({title};%{name}%)' for title, name in present)}. Correct the "
                    "prediction or the items."
                )
            compared.append(rows[["row", "region_starts", "region_ends"]].astype(np.int64))
            slices[region] = slice(end, end + len(rows))
            end += len(rows)
        groups.append(Group(np.array(members, np.int64), predictions, effects, by_mean, slices))
    return groups, pd.concat(compared)


def surprisals(method: Method, side: Side) -> tuple[Floats, Floats]:
    """Return the surprisals of regions [n], and the bounds of their rounding errors [n].

    A surprisal is the method's total in nats (per token or unit of length), negated if the method
    prefers higher totals. An empty region has 0, a region without a value NaN.
    """
    empty = side.span_start == side.span_end
    total = totals(method, side)
    values = np.where(empty, 0.0, -total if method.higher else total)
    return values, np.where(empty, 0.0, rounding_bounds(method, side))


def _design_columns(
    groups: Sequence[Group],
    regions: tuple[Floats, Floats],
    usable: Mask,
    ties: float,
    near_tie: float,
) -> dict[str, pa.Array]:
    """Compute the columns of judgements from surprisals and rounding bounds of ``regions`` [n].

    ``usable`` marks the items that may have a verdict.
    """
    n = len(usable)
    margin, correct = np.full(n, np.nan), np.full(n, np.nan)
    tie, near_ties = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    held: list[list[bool] | None] = [None] * n
    effects: list[list[float | None] | None] = [None] * n
    all_values, all_bounds = regions
    for group in groups:
        values = {region: all_values[rows] for region, rows in group.slices.items()}
        bounds = {region: all_bounds[rows] for region, rows in group.slices.items()}
        margins = np.stack([formula.margins(values, bounds) for formula in group.predictions])
        smallest = margins.min(axis=0)
        margin[group.items] = smallest
        # All predictions count, or only the one with the smallest margin: if it holds, all hold.
        counted_margins = margins if group.by_mean else smallest[None, :]
        correct[group.items] = judge.right_of(counted_margins, ties).mean(axis=0)
        tie[group.items] = (counted_margins == 0).any(axis=0)
        near_ties[group.items] = (np.abs(counted_margins) < near_tie).any(axis=0)
        for item, holds in zip(group.items.tolist(), (margins > 0).T.tolist(), strict=True):
            held[item] = holds
        if group.effects:
            sums = np.stack([effect.values(values) for effect in group.effects])
            for item, item_sums in zip(group.items.tolist(), sums.T.tolist(), strict=True):
                effects[item] = [None if np.isnan(value) else value for value in item_sums]
    missing = np.isnan(margin) | ~usable
    columns = {
        **dict.fromkeys(("value_good", "value_bad"), pa.nulls(len(margin), pa.float64())),
        **judge.verdict_columns(margin, missing, correct=correct, tie=tie, near=near_ties),
        "predictions_held": pa.array(held, pa.list_(pa.bool_()), mask=missing),
    }
    if any(effects):
        columns[EFFECTS] = pa.array(effects, pa.list_(pa.float64()), mask=~usable)
    return columns


def judge_designs(items: Path, scores: Path, output: Path, rules: judge.Rules) -> int:
    """Write a judgement per item and method; return and log the number without a verdict.

    ``items`` has a row per condition: its sentence as both good and bad, its regions, and the
    item's predictions. A region's surprisal (``surprisals``) is over the tokens that overlap it,
    with the space before it.

    - ``margin``: smallest margin of the predictions (``Prediction.margins``), in nats or, if the
      method divides by a length, in nats per unit of length
    - ``correct``: whether the margin is positive; ``rules.ties`` for a margin of 0
    - ``tie``, ``near_tie``: whether the margin is 0, or below ``rules.near_tie``
    - ``predictions_held``: whether each prediction holds; a tied prediction does not
    - ``effects``, named by ``effect_names``: sums of surprisals, null where a region has no value
    - ``value_good``, ``value_bad``: null

    Margins 0.4 and -0.1 of two predictions give margin -0.1, correct 0, and held [true, false]. If
    ``right`` is ``mean``, ``correct`` is 0.5; then one tied prediction makes the item a tie.

    An item has no verdict, only nulls, if a prediction names a region without a value. With
    ``rules.unknown`` it has none either if unknown words are in any sentence (``any``) or in a
    region of its formulas (``critical``). Raises UserError for a method that is not over regions, a
    malformed formula, and an item that lacks a region of its formulas.
    """
    for name in rules.methods:
        if not regional([name]):
            expected = ", ".join(method_name for method_name in METHODS if regional([method_name]))
            raise UserError(
                f"method {name!r} takes tokens outside of regions, but predictions compare "
                f"regions; expected {expected}, or one such as 'mean=mean(region)'."
            )
    methods = [find_method(name) for name in rules.methods]
    tie_value_of = judge.tie_values(methods, rules.ties)
    table = read_items(items, CONDITION_COLUMNS, OPTIONAL)
    aligned = judge.align_scores(table, read_table(SCORES, scores, TOKEN_COLUMNS), scores)
    keys = table.select(ITEM_KEYS).to_pandas().groupby(ITEM_KEYS, sort=False, observed=True)
    item_of_row = np.asarray(keys.ngroup(), dtype=np.int64)
    _, first_conditions = np.unique(item_of_row, return_index=True)
    first_rows = table.take(pa.array(first_conditions))  # a row for each item
    groups, regions = _group_by_formulas(table, item_of_row, first_rows)
    rows = pa.array(regions["row"])
    spans = {"good_start": regions["region_starts"], "good_end": regions["region_ends"]}
    sentences = pa.table({"good": table["good"].take(rows), **spans})
    side = judge.side_of(sentences, aligned.take(rows), "good", RegionSide)
    usable: Mask = np.ones(len(first_rows), dtype=bool)
    if rules.unknown == "critical":
        item_of_region = item_of_row[regions["row"]]
        usable[item_of_region[~judge.without_unknown(side, "critical")]] = False
    elif rules.unknown:
        sentence_side = judge.side_of(table, aligned, "good")
        usable[item_of_row[~judge.without_unknown(sentence_side, rules.unknown)]] = False
    tables = []
    for method in methods:
        values = surprisals(method, side)
        ties = tie_value_of[method.name]
        columns = _design_columns(groups, values, usable, ties, rules.near_tie)
        if EFFECTS in columns and EFFECT_NAMES in first_rows.column_names:
            columns[EFFECT_NAMES] = first_rows[EFFECT_NAMES]
        tables.append(judge.judgement_table(first_rows, method, columns, "item"))
    return judge.write_judgements(tables, output)


FOLDS = 10
FEWEST = 20
"""Smallest number of sentences for ``FOLDS`` folds; of fewer, each sentence is a fold."""


def folds_of(ids: Sequence[str]) -> Integers:
    """Return the fold of each sentence [n], by a hash of its id."""
    distinct_ids, id_numbers = np.unique(np.asarray(ids, dtype=str), return_inverse=True)
    if len(distinct_ids) < FEWEST:
        return np.asarray(id_numbers, dtype=np.int64)
    folds = [int(item_id("fold", sentence_id), 16) % FOLDS for sentence_id in distinct_ids.tolist()]
    return np.array(folds, dtype=np.int64)[id_numbers]


def best_threshold(values: Floats, bounds: Floats, acceptable: Mask) -> tuple[float, float]:
    """Return the threshold that agrees best with ``acceptable`` [n], and its rounding bound.

    Candidates lie midway between neighbouring distinct ``values`` [n], in nats. The best has the
    largest Matthews correlation. If several have it, the middle one in ascending order is taken, or
    the lower of the middle two. ``bounds`` [n] are rounding errors of the values. If all values are
    equal, the threshold is that value; without values it is NaN.
    """
    order = np.argsort(values, kind="stable")
    values, bounds, good = values[order], bounds[order], acceptable[order]
    if not len(values):
        return np.nan, np.nan
    # A cut is the number of sentences below a candidate, which the model would reject.
    cuts = np.flatnonzero(values[1:] > values[:-1]) + 1
    if not len(cuts):
        return float(values[0]), float(bounds.max())
    n, n_good = len(good), good.sum()
    n_good_rejected = np.cumsum(good)[cuts - 1]
    agreement = matthews_correlation(n, n_good, n - cuts, n_good - n_good_rejected)
    # Equal correlations can differ in their last digits.
    best = np.flatnonzero(agreement >= agreement.max() - 1e-12)
    cut = cuts[best[(len(best) - 1) // 2]]
    neighbours = slice(cut - 1, cut + 1)
    return float(values[neighbours].mean()), float(bounds[neighbours].mean())


def thresholds(
    values: Floats, bounds: Floats, acceptable: Mask, folds: Integers
) -> tuple[Floats, Floats]:
    """Return each sentence's best threshold on all other folds [n], and its rounding bound [n].

    Both are NaN where no other fold has a sentence.
    """
    chosen, threshold_bounds = np.full((2, len(values)), np.nan)
    for fold in np.unique(folds):
        in_fold = folds == fold
        training = (column[~in_fold] for column in (values, bounds, acceptable))
        chosen[in_fold], threshold_bounds[in_fold] = best_threshold(*training)
    return chosen, threshold_bounds


def _sentence_columns(
    method: Method, side: Side, rows: pa.Table, usable: Mask, ties: float, near_tie: float
) -> dict[str, pa.Array]:
    """Compute the columns of judgements; a sentence without a verdict has its value and nulls."""
    acceptable = np.asarray(rows["acceptable"], dtype=bool)
    total, bound = totals(method, side), rounding_bounds(method, side)
    # From here on, higher values are better; the displayed threshold gets its sign back below.
    sign = 1.0 if method.higher else -1.0
    value = sign * total
    usable = usable & ~np.isnan(value)
    threshold, threshold_bounds = np.full(len(value), np.nan), np.full(len(value), np.nan)
    folds = folds_of(rows["item_id"].filter(usable).to_pylist())
    threshold[usable], threshold_bounds[usable] = thresholds(
        value[usable], bound[usable], acceptable[usable], folds
    )
    missing = np.isnan(threshold)
    difference = value - threshold
    difference = np.where(np.abs(difference) <= bound + threshold_bounds, 0.0, difference)  # tied
    # ``near_tie`` is an error of a sum in nats, before the method divides the sum by a length.
    near = np.abs(difference) * divisors(method, side) < near_tie
    # Adding 0.0 turns -0.0 into 0.0, so that a tie has no sign.
    margin = np.where(acceptable, difference, -difference) + 0.0
    return {
        "value_good": pa.array(in_unit(method, total), mask=np.isnan(total)),
        "value_bad": pa.array(in_unit(method, sign * threshold), mask=missing),
        **judge.verdict_columns(
            margin, missing, correct=judge.right_of(margin, ties), tie=margin == 0, near=near
        ),
        "acceptable": pa.array(acceptable),
        "accepted": pa.array(difference >= 0, mask=missing),
    }


def judge_sentences(items: Path, scores: Path, output: Path, rules: judge.Rules) -> int:
    """Write a judgement per sentence and method; return and log the number without a verdict.

    Each row of ``items`` has a sentence, as both good and bad, and whether it is ``acceptable``. A
    model accepts values at or above a threshold, or below it if the method prefers lower values.
    A sentence's threshold is the best one (``best_threshold``) on all other folds (``folds_of``).

    ``value_good`` is the sentence's value and ``value_bad`` its threshold, both in the method's
    unit, such as perplexity. ``margin`` is the value's distance to the right side of the
    threshold, in nats (per unit of length, if the method divides by a length). In a tie,
    value and threshold differ by no more than rounding: the sentence is accepted, and ``correct``
    is ``rules.ties``. A near tie is a tie, or a margin that an error of ``rules.near_tie`` nats in
    a sum of log-probabilities could make. Sentences without a score have only nulls, and no
    influence on thresholds. The same holds for sentences with unknown words if ``rules.unknown``
    says so. Raises UserError for an unknown method, or a sentence without scores.
    """
    methods = [find_method(name) for name in rules.methods]
    tie_value_of = judge.tie_values(methods, rules.ties)
    rows = read_items(items, ["acceptable"])
    side = judge.side_of(rows, judge.align_scores(rows, read_table(SCORES, scores), scores), "good")
    usable: Mask = np.ones(len(rows), dtype=bool)
    if rules.unknown:
        usable = judge.without_unknown(side, rules.unknown)
    tables = []
    for method in methods:
        ties = tie_value_of[method.name]
        columns = _sentence_columns(method, side, rows, usable, ties, rules.near_tie)
        tables.append(judge.judgement_table(rows, method, columns))
    return judge.write_judgements(tables, output)


def read_items(path: Path, more: Sequence[str], optional: Sequence[str] = ()) -> pa.Table:
    """Read an items table with further columns. UserError if one of ``more`` is absent or null."""
    rows = read_table(ITEMS, path, [*ITEMS.names, *more, *optional, judge.RATING])
    missing = [name for name in more if name not in rows.column_names or rows[name].null_count]
    if missing:
        raise UserError(
            f"{path} lacks values of {', '.join(missing)}; expected items with "
            f"{', '.join(more)} in each row. Build the items of this benchmark again."
        )
    return rows


def matthews_correlation(
    count: int, acceptable: ArrayLike, accepted: ArrayLike, both: ArrayLike
) -> Floats:
    """Compute Matthews' correlation (1975) from numbers of sentences, or from arrays of numbers.

    The arguments are the numbers of all sentences, of acceptable ones, of accepted ones, and of
    those that are both. Matthews' equals Pearson's correlation. Where Pearson's is undefined,
    because all or no sentences are acceptable or accepted, it is 0, as in scikit-learn.
    """
    positive, predicted, common = (
        np.asarray(number, dtype=np.float64) for number in (acceptable, accepted, both)
    )
    covariance = count * common - positive * predicted
    scale = np.sqrt(positive * (count - positive) * (predicted * (count - predicted)))
    values: Floats = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    return values
