"""Items of several conditions, a row each, and where their predictions' regions are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.benchmarks.predictions import Effect, Formula, Place, Prediction
from blimpworks.errors import UserError
from blimpworks.scoring.resolution import Integers

REGIONS = ("regions", "region_starts", "region_ends")
COLUMNS = ("item", "condition", *REGIONS, "predictions")
"""Columns that these items have beyond those of all benchmarks."""
EFFECTS, EFFECT_NAMES, RIGHT = "effects", "effect_names", "right"
OPTIONAL = (EFFECTS, EFFECT_NAMES, RIGHT)
"""Columns that they have where they were declared."""
WHOLE = "*"
"""The region that is the whole sentence."""
KEYS = ["phenomenon", "paradigm", "item"]


@dataclass(frozen=True)
class Spans:
    """n regions, each in a row."""

    rows: Integers
    """[n] row of the condition."""
    starts: Integers
    """[n] first character of the region in the sentence."""
    ends: Integers
    """[n] character after the last."""


def joined(parts: Sequence[Spans]) -> Spans:
    """The regions of all parts, one after another."""
    every = [Spans(*[np.zeros(0, dtype=np.int64)] * 3), *parts]
    columns = ([getattr(part, name) for part in every] for name in ("rows", "starts", "ends"))
    return Spans(*map(np.concatenate, columns))


@dataclass(frozen=True)
class Design:
    """n items that have the same predictions and effects."""

    items: Integers
    """[n] their numbers."""
    predictions: tuple[Prediction, ...]
    spans: Mapping[Place, Spans]
    """Of each place that a formula names, the region in each of the items."""
    effects: tuple[Effect, ...] = ()
    by_mean: bool = False
    """Whether the share of predictions that hold counts, and not whether all do."""


def positions(regions: pa.ListArray, name: str) -> Integers:
    """Where the region of a name is among the flat elements of ``regions``, in each list [n].

    A number that is no name counts the regions from 1. -1 in lists without such a region, and with
    several.
    """
    lengths = np.asarray(pc.list_value_length(regions), dtype=np.int64)
    named = np.flatnonzero(pc.equal(regions.flatten(), name))
    lists = np.asarray(pc.list_parent_indices(regions), dtype=np.int64)[named]
    where = np.full(len(lengths), -1)
    if name.isdecimal():
        fits = (int(name) > 0) & (int(name) <= lengths)
        where = np.where(fits, np.cumsum(lengths) - lengths + int(name) - 1, -1)
    where[lists] = named
    where[np.bincount(lists, minlength=len(where)) > 1] = -1
    return where


@dataclass(frozen=True)
class DesignTable:
    """An items table with a row for each condition of n items."""

    table: pa.Table

    @cached_property
    def item(self) -> Integers:
        """[rows] number of each row's item, in the order of their first rows."""
        groups = self.table.select(KEYS).to_pandas().groupby(KEYS, sort=False, observed=True)
        return np.asarray(groups.ngroup(), dtype=np.int64)

    @cached_property
    def items(self) -> pa.Table:
        """First row of each item [n]."""
        return self.table.take(pa.array(np.unique(self.item, return_index=True)[1]))

    def more(self, column: str) -> list[Any]:
        """Return a column that items can lack, of each item [n]; None without a value."""
        names = self.items.column_names
        return self.items[column].to_pylist() if column in names else [None] * len(self.items)

    @cached_property
    def _rows(self) -> dict[str, Integers]:
        """Row of each condition in every item [n], -1 in those that lack it."""
        codes, names = pd.factorize(self.table["condition"].to_pandas())
        rows = np.full((len(names), len(self.items)), -1)
        rows[codes, self.item] = np.arange(len(codes))
        twice = np.flatnonzero(rows[codes, self.item] != np.arange(len(codes)))
        if len(twice):
            raise UserError(
                f"{self._label(self.item[twice[0]])} has condition {names[codes[twice[0]]]!r} in "
                "several rows; expected distinct conditions. Correct the files or the declaration."
            )
        return dict(zip(names, rows, strict=True))

    def _label(self, item: int) -> str:
        """An item in messages, by its number."""
        row = self.items.slice(item, 1).to_pylist()[0]
        return f"suite {row['paradigm']!r}, item {row['item']!r}"

    def _conditions(self, items: Integers, prediction: Formula, condition: str) -> Integers:
        """Rows of a condition of items [n]. Raises UserError where one lacks it."""
        rows = self._rows.get(condition, np.full(len(self.items), -1))[items]
        if (rows < 0).any():
            item = items[rows.argmin()]
            known = self.table["condition"].filter(pa.array(self.item == item)).to_pylist()
            raise UserError(
                f"{self._label(item)}: prediction {prediction.text!r} names condition "
                f"{condition!r}, which the item lacks; it has {', '.join(known)}. Correct the "
                "prediction or the items."
            )
        return rows

    def spans(self, items: Integers, prediction: Formula, place: Place) -> Spans:
        """A region of a condition in each of n items, which are given by their numbers.

        Raises UserError where one of them does not have it, or has several of that name.
        """
        region, condition = place
        rows = self._conditions(items, prediction, condition)
        if region == WHOLE:
            ends = pc.utf8_length(self.table["good"].take(pa.array(rows)))
            return Spans(rows, np.zeros_like(rows), np.asarray(ends, dtype=np.int64))
        names, *edges = (self.table[name].take(pa.array(rows)).combine_chunks() for name in REGIONS)
        where = positions(names, region)
        if (where < 0).any():
            first = int(where.argmin())
            raise UserError(
                f"{self._label(items[first])}: prediction {prediction.text!r} names region "
                f"{region!r}, which condition {condition!r} must have once; it has "
                f"{', '.join(names[first].as_py())}. Correct the prediction or the items."
            )
        return Spans(rows, *(np.asarray(each.flatten(), dtype=np.int64)[where] for each in edges))

    def designs(self) -> Iterator[Design]:
        """Items with the same formulas, in the order of the first of them.

        Raises UserError for an item without predictions, and where one lacks what they name.
        """
        groups: dict[tuple[tuple[str, ...], tuple[str, ...], bool], list[int]] = {}
        columns = (self.items["predictions"].to_pylist(), self.more(EFFECTS), self.more(RIGHT))
        for number, (formulas, effects, right) in enumerate(zip(*columns, strict=True)):
            key = tuple(formulas), tuple(effects or ()), right == "mean"
            groups.setdefault(key, []).append(number)
        for (formulas, effects, by_mean), numbers in groups.items():
            if not formulas:
                raise UserError(
                    f"{self._label(numbers[0])} has no predictions; expected at least one. Add it "
                    "to the benchmark's declaration."
                )
            items = np.array(numbers, dtype=np.int64)
            predictions = tuple(map(Prediction.parse, formulas))
            sums = tuple(map(Effect.parse, effects))
            named = {place: each for each in (*sums, *predictions) for place in sorted(each.places)}
            spans = {place: self.spans(items, each, place) for place, each in named.items()}
            yield Design(items, predictions, spans, sums, by_mean)
