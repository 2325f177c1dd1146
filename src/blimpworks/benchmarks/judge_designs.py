"""From scores to judgements of items of several conditions: whether their predictions hold."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from blimpworks.benchmarks.design_table import (
    COLUMNS,
    EFFECT_NAMES,
    EFFECTS,
    OPTIONAL,
    Design,
    DesignTable,
    joined,
)
from blimpworks.benchmarks.predictions import Values
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

SCORED = ("item_id", "rounding", "good_ids", "good_logprobs", "good_ends")


class RegionSide(Side):
    """Token scores of n regions: of each those of its sentence, with the region's own length."""

    @cached_property
    def characters(self) -> Integers:
        """[n] length of each region in code points."""
        return self.span_end - self.span_start

    @cached_property
    def bytes(self) -> Integers:
        """[n] length of each region in bytes of UTF-8."""
        spans = zip(self.texts.to_pylist(), self.span_start, self.span_end, strict=True)
        return np.array([len(text[first:after].encode()) for text, first, after in spans], np.int64)


def _by_place(designs: Sequence[Design], values: Floats) -> Iterator[Values]:
    """Of each design its part of ``values``, which are of all their spans one after another."""
    lengths = [len(spans.rows) for design in designs for spans in design.spans.values()]
    parts = iter(np.split(values, np.cumsum(lengths)[:-1]))
    for design in designs:
        yield {place: next(parts) for place in design.spans}


def surprisals(method: Method, side: RegionSide) -> tuple[Floats, Floats]:
    """The surprisal of each region [n], and the most that rounding can have moved it [n].

    It is minus the method's total, in nats (per token or unit of length), or the total itself where
    the method prefers lower ones; 0 in a region without characters, and NaN in one without a value.
    """
    empty = side.span_start == side.span_end
    total = totals(method, side)
    return (
        np.where(empty, 0.0, -total if method.higher else total),
        np.where(empty, 0.0, rounding_bounds(method, side)),
    )


def _columns(
    table: DesignTable,
    designs: Sequence[Design],
    regions: tuple[Floats, Floats],
    usable: Mask,
    ties: float,
    near_tie: float,
) -> dict[str, pa.Array]:
    """Columns of judgements of n items from surprisals of regions and their bounds of rounding."""
    margin, correct = np.full((2, len(usable)), np.nan)
    tie, near = np.zeros((2, len(usable)), dtype=bool)
    held: list[list[bool] | None] = [None] * len(usable)
    effects: list[list[float | None] | None] = [None] * len(usable)
    parts = zip(designs, *(_by_place(designs, each) for each in regions), strict=True)
    for design, values, bounds in parts:
        margins = np.stack([each.margins(values, bounds) for each in design.predictions])
        margin[design.items] = margins.min(axis=0)
        counted = margins if design.by_mean else margins.min(axis=0, keepdims=True)
        correct[design.items] = right_of(counted, ties).mean(axis=0)
        tie[design.items] = (counted == 0).any(axis=0)
        near[design.items] = (np.abs(counted) < near_tie).any(axis=0)
        for item, column in zip(design.items.tolist(), (margins > 0).T.tolist(), strict=True):
            held[item] = column
        if design.effects:
            sums = np.stack([each.values(values) for each in design.effects])
            for item, column in zip(design.items.tolist(), sums.T.tolist(), strict=True):
                effects[item] = [None if np.isnan(value) else value for value in column]
    missing = np.isnan(margin) | ~usable
    columns = {
        **dict.fromkeys(("value_good", "value_bad"), pa.nulls(len(margin), pa.float64())),
        **verdict_columns(margin, missing, correct=correct, tie=tie, near=near),
        "predictions_held": pa.array(held, pa.list_(pa.bool_()), mask=missing),
    }
    if any(effects):
        names = table.items[EFFECT_NAMES].combine_chunks()
        columns[EFFECTS] = pa.array(effects, pa.list_(pa.float64()), mask=~usable)
        columns[EFFECT_NAMES] = names
    return columns


def _usable(
    table: DesignTable, scores: pa.Table, side: RegionSide, rows: Integers, unknown: str | None
) -> Mask:
    """Which items [n] have words that the model knows; ``rows`` are those of the regions."""
    count = len(table.items)
    if unknown is None:
        return np.ones(count, dtype=bool)
    if unknown == "critical":
        items, known = table.item[rows], without_unknown(side, side.ids, unknown)
    else:
        whole = side_of(table.table, scores, "good")
        items, known = table.item, without_unknown(whole, whole.ids, unknown)
    usable: Mask = np.bincount(items[~known], minlength=count) == 0
    return usable


def judge_designs(items: Path, scores: Path, output: Path, rules: Rules) -> int:
    """Write one judgement per item and method: whether all predictions of the item hold.

    ``items`` has a row for each condition of each item, with the condition's sentence on both
    sides, its name and regions, and the item's predictions. Values of a region are surprisals:
    minus the method's total over the tokens that overlap it, with the space before it; 0 where it
    is empty. ``margin`` is the smallest margin of the item's predictions
    (``Prediction.margins``), in nats of what the method compares. 0 is a tie: sums of surprisals
    that have to differ do so by no more than rounding, and ``correct`` is what ``rules.ties``
    says. A near tie is a tie, or a margin below ``rules.near_tie``. ``value_good`` and
    ``value_bad`` are null. ``predictions_held`` is a further column, with each prediction in turn;
    a tied one does not hold. Where the mean counts, ``correct`` is the share of predictions that
    hold, with ties as ``rules.ties`` says, and an item is tied if any of them is. ``effects`` are
    sums of surprisals, named by ``effect_names``; null where a region has no value.

    Items without a verdict keep their row, with nulls: those with a region that a prediction names
    and that has no value, and, if the rules say so, with unknown words in any sentence (``any``)
    or in such a region (``critical``). Their number by all methods is logged and returned.

    Raises UserError when a table is missing or lacks a column, a method is unknown or not over
    regions, a sentence has no scores, a formula is malformed, or an item lacks what it names.
    """
    for name in rules.methods:
        if not regional([name]):
            expected = ", ".join(known for known in METHODS if regional([known]))
            raise UserError(
                f"method {name!r} takes tokens outside of regions, but predictions compare "
                f"regions; expected {expected}, or one such as 'mean=mean(region)'."
            )
    chosen = [find_method(name) for name in rules.methods]
    policies = tie_values(chosen, rules.ties)
    table = DesignTable(read_items(items, COLUMNS, OPTIONAL))
    aligned = align_scores(table.table, read_table(SCORES, scores, SCORED), scores)
    designs = [*table.designs()]
    regions = joined([spans for design in designs for spans in design.spans.values()])
    rows = pa.array(regions.rows)
    taken = aligned.take(rows)
    side = RegionSide(
        texts=table.table["good"].take(rows).combine_chunks(),
        logprobs=taken["good_logprobs"].combine_chunks(),
        ends=taken["good_ends"].combine_chunks(),
        ids=taken["good_ids"].combine_chunks(),
        rounding=taken["rounding"].to_numpy(),
        span_start=regions.starts,
        span_end=regions.ends,
    )
    usable = _usable(table, aligned, side, regions.rows, rules.unknown)
    labels = labels_of(table.items, "item")
    tables = []
    for method in chosen:
        values, ties = surprisals(method, side), policies[method.name]
        columns = _columns(table, designs, values, usable, ties, rules.near_tie)
        column = pa.array([method.name] * len(usable), pa.string())
        tables.append(pa.table({**labels, "method": column, **columns}))
    return write_judgements(tables, output)
