"""Models of UrBLiMP's exhibits, and their names in the paper.

Without heavy imports, because the Snakefile asks for the facts each time it is parsed. A campaign
with the paper's models shows these; another one shows its own.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.files import read_cells
from blimpworks.papers.urblimp.phenomena import BENCHMARK
from blimpworks.papers.urblimp.settings import GUESSING, UrblimpOptions

_ROWS = read_cells(Path(__file__).with_name("models.tsv"))
NAMES = {row["model"]: row["name"] for row in _ROWS}
"""Models' names in the paper, in the order of Table 4."""


def _group(name: str) -> tuple[str, ...]:
    return tuple(row["model"] for row in _ROWS if name in row["groups"].split())


GEMMA, TUNED = _group("gemma"), _group("tuned")
"""Gemma of four sizes, pretrained and tuned."""
TOP = _group("top")
"""Models of Table 6."""
RIVALS = _group("rival")
"""Models of Figure 2: the small one, and two larger ones."""
INSTRUCTED = _group("instructed")
"""Models of Table 8; Table 7 has all others, even if the catalogue calls them tuned."""
ALONE = {"alif-1.0-8b-instruct": "Alif"}
"""Models that Figure 1 takes for families of their own."""
FIRST = 4
"""Number of a campaign's models that exhibits show if it has none of the paper's."""


def names_of(models: Mapping[str, str]) -> dict[str, str]:
    """Return names of the models that have a label: the paper's in its order, then others."""
    printed_names = {name: printed for name, printed in NAMES.items() if name in models}
    return printed_names | {
        name: label for name, label in models.items() if name not in printed_names
    }


def chosen(preferred: Sequence[str], models: Sequence[str]) -> list[str]:
    """Return the ``preferred`` among ``models``; with fewer than two, the first ``models``."""
    present = [name for name in preferred if name in models]
    return present if len(present) > 1 else [*models][:FIRST]


def is_instructed(name: str, facts: Mapping[str, Any]) -> bool:
    """Tell whether Table 8 has a model, according to the paper or else to the catalogue."""
    return name in INSTRUCTED if name in NAMES else facts[name]["tuning"] == "chat"


def family(name: str, facts: Mapping[str, Any]) -> str:
    """Return the architecture family of a model in Figure 1."""
    return ALONE.get(name) or str(facts[name]["family"])


def _models(catalogue: Catalogue) -> dict[str, ModelRow]:
    rows = catalogue.models.items()
    return {name: row for name, row in rows if not row.papers or BENCHMARK in row.papers}


def model_facts(campaign: Campaign, catalogue: Catalogue) -> dict[str, dict[str, Any]]:
    """Return billions of parameters (None if unknown), family and tuning of each model."""
    return {
        name: row.model_dump(include={"family", "tuning"}) | {"parameters": row.billions(campaign)}
        for name, row in _models(catalogue).items()
    }


def validation_facts(campaign: Campaign, catalogue: Catalogue) -> dict[str, Any]:
    """Return the number of people who judge a pair."""
    return campaign.section(UrblimpOptions).validation.model_dump(include={"per_pair"})


def left_to_right(campaign: Campaign, catalogue: Catalogue) -> list[str]:
    """Return the models that predict each token from those before it, in the catalogue's order."""
    models = _models(catalogue).items()
    return [name for name, row in models if row.architecture not in GUESSING]


FACTS = {
    "urblimp_models": model_facts,
    "urblimp_validation": validation_facts,
    "urblimp_left_to_right": left_to_right,
}
