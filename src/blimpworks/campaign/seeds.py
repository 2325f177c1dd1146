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
class Training:
    """One of several trainings of a model, which differ in the random seed or the sample."""

    model: str
    """Name of the model's row in the table of models."""
    number: int
    """Number of the training, from 1, among those with this sample; it decides the random seed."""
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
) -> tuple[dict[str, ModelRow], dict[str, Training]]:
    """Replace each model that is trained several times by one row for each training.

    Return {name: row} of all models, and {name: training} of those that were replaced. A model
    with 0 seeds is left out of a campaign with all models. Raises UserError if the campaign names
    such a model, and if the name of a training is in ``taken`` or is that of two trainings.
    """
    rows: dict[str, ModelRow] = {}
    trainings: dict[str, Training] = {}
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
            new_name, label = name, row.label
            if tokens is not None:
                new_name += f"-{size_name(tokens)}"
                label += f", {tokens:,} tokens"
            if count > 1:
                new_name += f"-seed{number}"
                label += f", seed {number}"
            if new_name in {*taken, *rows}:
                sampled = f" of {tokens:,} tokens" if tokens else ""
                raise UserError(
                    f"{campaign.catalogue.models}: model {new_name!r} has the name of seed "
                    f"{number}{sampled} of {name!r}, whose recipe {row.recipe!r} has seeds: "
                    f"{count}; rename {name!r}, or the other model."
                )
            rows[new_name] = row.model_copy(update={"name": new_name, "label": label})
            trainings[new_name] = Training(name, number, tokens)
    return rows, trainings


def curves_of(trainings: Mapping[str, Training]) -> dict[str, dict[str, int]]:
    """Return the sizes of samples [tokens] of each row's trainings: ``{row: {training: size}}``."""
    sizes: dict[str, dict[str, int]] = {}
    for name, training in trainings.items():
        if training.tokens is not None:
            sizes.setdefault(training.model, {})[name] = training.tokens
    return sizes


def row_of_training(name: str, rows: Collection[str]) -> str | None:
    """Return the row of a training: ``lstm`` for ``lstm-seed2``; the longest that fits, or None."""
    fitting = (row for row in rows if name.startswith(row) and ENDING.fullmatch(name[len(row) :]))
    return max(fitting, key=len, default=None)
