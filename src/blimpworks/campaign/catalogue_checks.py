"""What the tables of a catalogue must have for a campaign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from blimpworks.campaign.engines import find_engine
from blimpworks.errors import UserError

if TYPE_CHECKING:  # the catalogue imports this module
    from blimpworks.campaign.catalogue import ModelRow, TreebankRow
    from blimpworks.campaign.settings.campaign import Campaign

Row = TypeVar("Row")
TRAINED_AS = {
    "ngram": ("ngram", "kenlm", "float32", "bos"),
    "transformer": ("causal", "transformers", "float32", "bos"),
    "masked": ("masked", "transformers", "float32", "bos"),
    "encoder-decoder": ("encoder-decoder", "transformers", "float32", "bos"),
    "instruct": ("causal", "transformers", "float32", "bos"),
    "lstm": ("lstm", "lstm", "float32", "eos"),
}
"""Architecture, engine, dtype and first token of a model, by the kind of its recipe."""


def keyed(rows: list[Row], key: str, path: Path) -> dict[str, Row]:
    """Rows by one of their fields. Raises UserError where two have the same."""
    names = Counter(getattr(row, key) for row in rows)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise UserError(f"{path}: {key} {twice[0]!r} stands in {names[twice[0]]} rows; keep one.")
    return {getattr(row, key): row for row in rows}


def check_treebanks(campaign: Campaign, treebanks: Mapping[str, list[TreebankRow]]) -> None:
    """Each language must have a file, and one that can be had. Raises UserError else."""
    path = campaign.catalogue.treebanks
    for lang, rows in treebanks.items():
        keyed(rows, "name", path)
        if not rows:
            raise UserError(f"{path} has no treebank file of {lang!r}; add its rows.")
        if campaign.unpinned == "skip" and not any(
            row.is_pinned(campaign.checksums) for row in rows
        ):
            raise UserError(
                f"{path}: no treebank file of {lang!r} has a checksum, and the campaign skips "
                f"such files; leave the language out, or run `blimpworks pin {path}`."
            )


def check_sources(campaign: Campaign, sources: Mapping[str, object]) -> None:
    """Substitutes must be there. Raises UserError else."""
    for missing, used in campaign.substitutes.items():
        for name in (missing, used):
            if name not in sources:
                raise UserError(
                    f"substitutes of campaign {campaign.campaign!r}: {name!r} is not in "
                    f"{campaign.catalogue.sources}. Correct it or add a row."
                )


def check_models(campaign: Campaign, models: Mapping[str, ModelRow]) -> None:
    """Models must be such as their engines run, and can be had. Raises UserError else."""
    path = campaign.catalogue.models
    for model in models.values():
        _check_engine(campaign, model)
        # Of all models those of other papers need nothing.
        if campaign.models == "all" and not {*model.papers} & {*campaign.benchmarks}:
            continue
        if model.recipe:
            _check_trained(campaign, model)
        elif not model.hf_id and campaign.models != "all":
            raise UserError(
                f"{path}: model {model.name!r} has neither hf_id nor recipe, so it cannot be "
                f"had: {model.note or 'no note says why'}."
            )


def _check_engine(campaign: Campaign, model: ModelRow) -> None:
    """The engine that the campaign scores a model with must run its architecture."""
    engine = campaign.engines.get(model.engine, model.engine)
    try:
        find_engine(engine, model.architecture)
    except UserError as error:
        raise UserError(
            f"{campaign.catalogue.models}: model {model.name!r}: {error} Correct the row, or "
            f"'engines' of campaign {campaign.campaign!r}."
        ) from error


def _check_trained(campaign: Campaign, model: ModelRow) -> None:
    """A trained model's recipe must be there, and its row must say what the recipe makes."""
    path, recipes = campaign.catalogue.models, campaign.training.recipes
    if model.recipe not in recipes:
        raise UserError(
            f"{path}: model {model.name!r} has recipe {model.recipe!r}, which training.recipes "
            f"of campaign {campaign.campaign!r} lacks (it has: {', '.join(recipes) or 'none'}). "
            "Add it."
        )
    declared = (model.architecture, model.engine, model.dtype, model.first_token)
    expected = TRAINED_AS[recipes[model.recipe].kind]
    if declared != expected:
        raise UserError(
            f"{path}: model {model.name!r} has architecture, engine, dtype, first_token "
            f"{', '.join(declared)}; its recipe makes {', '.join(expected)}. Correct the row."
        )
