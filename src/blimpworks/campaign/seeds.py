"""Name the trainings of a model: its recipe may have several random seeds and sizes of samples.

``from_seeds`` replaces the row ``lstm`` of the catalogue by a row for each training: ``lstm-seed2``
has seed 2, and ``lstm-125k-seed2`` is trained on a sample of 125,000 tokens.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from blimpworks.errors import UserError

if TYPE_CHECKING:
    from blimpworks.campaign.catalogue import ModelRow
    from blimpworks.campaign.settings.campaign import Campaign

ENDING = re.compile(r"(-\d+[km]?)?(-seed\d+)?")
"""Ending of a training's name after the name of its row, such as ``-125k-seed2``."""


@dataclass(frozen=True, slots=True)
class Seed:
    """One of several trainings of a model, which differ in the random seed or the sample."""

    model: str
    """Name of the model's row in the table of models."""
    number: int
    """Number of the training, from 1."""
    tokens: int | None = None
    """Size of its training sample; None for the whole corpus."""


def size_name(tokens: int) -> str:
    """Return a number of tokens as in models' names: 125000 is ``125k``, 2000000 is ``2m``."""
    for unit, letter in ((10**6, "m"), (10**3, "k")):
        if tokens % unit == 0:
            return f"{tokens // unit}{letter}"
    return str(tokens)


def from_seeds(
    campaign: Campaign, models: Mapping[str, ModelRow], taken: Collection[str]
) -> tuple[dict[str, ModelRow], dict[str, Seed]]:
    """Replace each model that is trained several times by one row for each training.

    A model with 0 seeds is left out. Return rows and seeds, both keyed by the new name. Raises
    UserError if a new name is in ``taken`` or is that of two trainings, and if the campaign names a
    model with 0 seeds.
    """
    rows: dict[str, ModelRow] = {}
    seeds: dict[str, Seed] = {}
    for name, row in models.items():
        recipe = campaign.training.recipes.get(row.recipe)
        count, sizes = getattr(recipe, "seeds", 1), getattr(recipe, "tokens", ())
        if count == 1 and not sizes:
            rows[name] = row
            continue
        if count == 0 and campaign.models != "all":
            raise UserError(
                f"models of campaign {campaign.campaign!r} names {name!r}, whose recipe "
                f"{row.recipe!r} has seeds: 0, so that nothing is trained; give "
                f"training.recipes.{row.recipe} seeds, or take the model out of models."
            )
        for tokens, number in product(sizes or (None,), range(1, count + 1)):
            training, label = name, row.label
            if tokens is not None:
                training, label = f"{name}-{size_name(tokens)}", f"{label}, {tokens:,} tokens"
            if count > 1:
                training, label = f"{training}-seed{number}", f"{label}, seed {number}"
            if training in {*taken, *rows}:
                sampled = f" of {tokens:,} tokens" if tokens else ""
                raise UserError(
                    f"{campaign.catalogue.models}: model {training!r} is called like seed "
                    f"{number}{sampled} of {name!r}, whose recipe {row.recipe!r} has seeds: "
                    f"{count}; rename the row."
                )
            rows[training] = row.model_copy(update={"name": training, "label": label})
            seeds[training] = Seed(name, number, tokens)
    return rows, seeds


def curves_of(seeds: Mapping[str, Seed]) -> dict[str, dict[str, int]]:
    """Return the learning curves: ``{row: {model: tokens of its sample}}``."""
    sizes: dict[str, dict[str, int]] = {}
    for name, seed in seeds.items():
        if seed.tokens is not None:
            sizes.setdefault(seed.model, {})[name] = seed.tokens
    return sizes


def row_called(name: str, rows: Collection[str]) -> str | None:
    """Return the row of a training: ``lstm`` for ``lstm-seed2``. None if ``name`` is of no row."""
    fitting = (row for row in rows if name.startswith(row) and ENDING.fullmatch(name[len(row) :]))
    return max(fitting, key=len, default=None)
