"""Which models UrBLiMP's exhibits show, and what the paper calls them.

Without heavy imports, because the Snakefile asks for the facts each time it is parsed. The
papers' campaign shows what the paper shows; a campaign without those models shows its own.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.papers.urblimp.phenomena import BENCHMARK, HUMAN
from blimpworks.papers.urblimp.settings import GUESSING, UrblimpOptions

BERT, ALIF, DEEPSEEK = (
    "bert-base-multilingual-cased",
    "alif-1.0-8b-instruct",
    "deepseek-r1-distill-llama-70b",
)
SIZES = ("1b", "4b", "12b", "27b")
GEMMA = tuple(f"gemma-3-{size}" for size in SIZES)
TUNED = tuple(f"{name}-it" for name in GEMMA)
TOP = ("gemma-3-12b", "gemma-3-27b", "llama-3-70b", ALIF)
"""Models of Table 6."""
RIVALS = ("gemma-3-27b", "llama-3-70b", DEEPSEEK)
"""Models of Figure 2: the small one, and two larger ones."""
NAMES = (
    {name: f"{name}-pt" for name in GEMMA}
    | {name: name for name in TUNED}
    | {
        "llama-3-8b": "Llama-3-8B",
        "llama-3-70b": "Llama-3-70B",
        ALIF: "Alif-1.0-8B",
        "granite-3.3-8b-base": "granite-3.3-8b-base",
        "granite-3.3-2b-base": "granite-3.3-2b-base",
        "granite-3.3-8b-instruct": "granite-3.3-8b-it",
        "granite-3.3-2b-instruct": "granite-3.3-2b-it",
        DEEPSEEK: "DeepSeek-R1-Llama-70B",
        "bloomz-7b1-p3": "bloomz-7b1-p3",
        BERT: "mBERT",
        "mt5-small": "mT5-small",
        "mt5-large": "mT5-large",
        HUMAN: "Human",
    }
)
"""Models as the paper calls them, in the order of Table 4."""
INSTRUCTED = (*TUNED, ALIF, "granite-3.3-8b-instruct", "granite-3.3-2b-instruct")
"""Models of Table 8; all others are in Table 7, what the catalogue calls tuned there included."""
ALONE = {ALIF: "Alif"}
"""Models that Figure 1 takes for families of their own, whatever they were made from."""
FIRST = 4
"""How many of a campaign's models exhibits show where it has none of the paper's."""


def names_of(models: Mapping[str, str]) -> dict[str, str]:
    """Names of the models that have a label: the paper's in its order, then others."""
    known = {name: printed for name, printed in NAMES.items() if name in models}
    return known | {name: label for name, label in models.items() if name not in known}


def chosen(preferred: Sequence[str], models: Sequence[str]) -> list[str]:
    """Those ``preferred`` among ``models``; if they are not two, the first of ``models``."""
    present = [name for name in preferred if name in models]
    return present if len(present) > 1 else [*models][:FIRST]


def is_instructed(name: str, facts: Mapping[str, Any]) -> bool:
    """Whether a model belongs into Table 8: the paper's view, or else the catalogue's."""
    return name in INSTRUCTED if name in NAMES else facts[name]["tuning"] == "chat"


def family(name: str, facts: Mapping[str, Any]) -> str:
    """The architecture family that Figure 1 counts a model among."""
    return ALONE.get(name) or str(facts[name]["family"])


def _models(catalogue: Catalogue) -> dict[str, ModelRow]:
    """Models of the catalogue that the benchmark has; those of no paper are for all."""
    rows = catalogue.models.items()
    return {name: row for name, row in rows if not row.papers or BENCHMARK in row.papers}


def model_facts(campaign: Campaign, catalogue: Catalogue) -> dict[str, dict[str, Any]]:
    """Billions of parameters (None if unknown), family and tuning of each model."""
    return {
        name: row.model_dump(include={"family", "tuning"}) | {"parameters": row.billions(campaign)}
        for name, row in _models(catalogue).items()
    }


def validation_facts(campaign: Campaign, catalogue: Catalogue) -> dict[str, Any]:
    """How many people judge a pair."""
    return campaign.section(UrblimpOptions).validation.model_dump(include={"per_pair"})


def left_to_right(campaign: Campaign, catalogue: Catalogue) -> list[str]:
    """Models that predict each token from those before it, in the order of the catalogue."""
    models = _models(catalogue).items()
    return [name for name, row in models if row.architecture not in GUESSING]


FACTS = {
    "urblimp_models": model_facts,
    "urblimp_validation": validation_facts,
    "urblimp_left_to_right": left_to_right,
}
