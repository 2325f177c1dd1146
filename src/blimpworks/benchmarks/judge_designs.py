"""Judge from scores whether the predictions of items of several conditions hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from blimpworks.benchmarks.predictions import WHOLE, Effect, Formula, Place, Prediction
from blimpworks.benchmarks.verdicts import read_items, right_of, verdict_columns
from blimpworks.campaign.methods import METHODS, Method, find_method, regional
from blimpworks.errors import UserError
from blimpworks.judging.judge import (
    Rules,
    align_scores,
    labels_of,
    side_of,
    tie_values,
    without_unknown,
    write_judgements,
)
from blimpworks.judging.sides import Mask, Side, rounding_bounds, totals
from blimpworks.scoring.resolution import Floats, Integers
from blimpworks.tables import SCORES, read_table

REGIONS = ["regions", "region_starts", "region_ends"]
COLUMNS = ("item", "condition", *REGIONS, "predictions")
"""Columns of these items beyond those of all benchmarks."""
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
    by_place = {
        group_key: rows.set_index("item")
        for group_key, rows in every.groupby(["regions", "condition"])
    }
    groups: list[Group] = []
    taken: list[pd.DataFrame] = []
    end = 0
    for (formulas, sums, by_mean), members in alike.items():
        predictions = tuple(map(Prediction.parse, formulas))
        effects_of = tuple(map(Effect.parse, sums))
        named: dict[Place, Formula] = {
            group_key: formula
            for formula in (*effects_of, *predictions)
            for group_key in sorted(formula.places)
        }
        slices = {}
        for group_key, formula in named.items():
            rows = by_place.get(group_key, every[:0]).reindex(members)
            lacking = rows["row"].isna().to_numpy()
            if lacking.any():
                lacks = members[lacking.argmax()]
                regions = every[(every["item"] == lacks) & (every["regions"] != WHOLE)]
                has = zip(regions["regions"], regions["condition"], strict=True)
                raise UserError(
                    f"{_label(items, lacks)}: the formula {formula.text!r} names region "
                    f"{group_key[0]!r} of condition {group_key[1]!r}, which the item lacks; it has "
                    f"{', '.join(f'({region};%{name}%)' for region, name in has)}. Correct the "
                    "prediction or the items."
                )
            taken.append(rows[["row", "region_starts", "region_ends"]].astype(np.int64))
            slices[group_key] = slice(end, end + len(rows))
            end += len(rows)
        groups.append(Group(np.array(members, np.int64), predictions, effects_of, by_mean, slices))
    return groups, pd.concat(taken)


def surprisals(method: Method, side: RegionSide) -> tuple[Floats, Floats]:
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
            {p: pass_values[where] for p, where in group.slices.items()} for pass_values in regions
        )
        margins = np.stack(
            [pass_values.margins(values, bounds) for pass_values in group.predictions]
        )
        margin[group.items] = margins.min(axis=0)
        counted = margins if group.by_mean else margins.min(axis=0, keepdims=True)
        correct[group.items] = right_of(counted, ties).mean(axis=0)
        tie[group.items] = (counted == 0).any(axis=0)
        near[group.items] = (np.abs(counted) < near_tie).any(axis=0)
        for item, column in zip(group.items.tolist(), (margins > 0).T.tolist(), strict=True):
            held[item] = column
        if group.effects:
            sums = np.stack([pass_values.values(values) for pass_values in group.effects])
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
    taken = aligned.take(rows)
    side = RegionSide(
        texts=table["good"].take(rows).combine_chunks(),
        logprobs=taken["good_logprobs"].combine_chunks(),
        ends=taken["good_ends"].combine_chunks(),
        ids=taken["good_ids"].combine_chunks(),
        rounding=taken["rounding"].to_numpy(),
        span_start=regions["region_starts"].to_numpy(),
        span_end=regions["region_ends"].to_numpy(),
    )
    usable: Mask = np.ones(len(first_rows), dtype=bool)
    if rules.unknown == "critical":
        usable[numbers[regions["row"]][~without_unknown(side, side.ids, "critical")]] = False
    elif rules.unknown:
        sentences = side_of(table, aligned, "good")
        usable[numbers[~without_unknown(sentences, sentences.ids, rules.unknown)]] = False
    labels = labels_of(first_rows, "item")
    names = {name: first_rows[name] for name in (EFFECT_NAMES,) if name in first_rows.column_names}
    tables = []
    for method in methods:
        values = surprisals(method, side)
        columns = _columns(groups, values, usable, policies[method.name], rules.near_tie)
        named = names if EFFECTS in columns else {}
        column = pa.array([method.name] * len(usable), pa.string())
        tables.append(pa.table({**labels, "method": column, **columns, **named}))
    return write_judgements(tables, output)
