"""Models trained several times, from seeds or on samples, as separate models."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError

if TYPE_CHECKING:  # the catalogue imports this module
    from blimpworks.campaign.catalogue import ModelRow
    from blimpworks.campaign.settings.site import Site

ENDING = re.compile(r"(-\d+[km]?)?(-seed\d+)?")
"""Suffix of a seed's name after its row's name."""


@dataclass(frozen=True, slots=True)
class Seed:
    """One of several trainings of a model."""

    model: str
    """Name of the row in the table of models."""
    number: int
    """Number of the training, from 1."""
    tokens: int | None = None
    """Size of its training sample; None for the whole corpus."""


def size_name(tokens: int) -> str:
    """Return a number of tokens for models' names: 125000 is ``125k``, 2000000 is ``2m``."""
    for unit, letter in ((10**6, "m"), (10**3, "k")):
        if tokens % unit == 0:
            return f"{tokens // unit}{letter}"
    return str(tokens)


def from_seeds(
    campaign: Campaign, models: Mapping[str, ModelRow], taken: Collection[str] = ()
) -> tuple[dict[str, ModelRow], dict[str, Seed]]:
    """Replace each of ``models`` whose recipe has several trainings by a row for each.

    Seed 2 of ``lstm`` is named ``lstm-seed2``, or ``lstm-125k-seed2`` where the recipe has sizes.
    Without seeds the row is left out. Returns the rows and their seeds. Raises UserError for a name
    that is ``taken`` by a row of the table, and for a model without seeds that the campaign names.
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
            size = "" if tokens is None else f"-{size_name(tokens)}"
            label = row.label + ("" if tokens is None else f", {tokens:,} tokens")
            training = f"{name}{size}"
            if count > 1:
                training, label = f"{training}-seed{number}", f"{label}, seed {number}"
            if training in taken:
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
    """Return sample sizes of models that are trained on samples, by row and model."""
    sizes: dict[str, dict[str, int]] = {}
    for name, seed in seeds.items():
        if seed.tokens is not None:
            sizes.setdefault(seed.model, {})[name] = seed.tokens
    return sizes


def row_called(name: str, known: Collection[str]) -> str | None:
    """Return the row in ``known`` whose recipe could make a model of this name."""
    rows = (row for row in known if name.startswith(row) and ENDING.fullmatch(name[len(row) :]))
    return max(rows, key=len, default=None)


def for_seeds(site: Site | None, seeds: Mapping[str, Seed]) -> Site | None:
    """Return ``site`` with each model's entry copied to its seeds that have none of their own."""
    if site is None:
        return None
    models = {n: site.models[s.model] for n, s in seeds.items() if s.model in site.models}
    return site.model_copy(update={"models": models | site.models})
