"""Which models, pairs of models and groups of languages MultiBLiMP's exhibits show.

Without heavy imports, because the Snakefile asks for these facts each time it is parsed. The
papers' campaign shows what the paper shows; a campaign without those models shows its own.
"""

from typing import Any

from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.reference import language_groups
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.papers.multiblimp.items.release import BENCHMARK
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, variant_of

LLAMA, LLAMA_CHAT = "llama-3.1-8b", "llama-3.1-8b-instruct"
# Columns of Tables 3 and 5.
PRINTED = (
    LLAMA,
    "llama-3.1-70b",
    "llama-3.1-70b-instruct",
    "aya-expanse-32b",
    "gemma-3-27b",
    "gemma-3-27b-it",
    "olmo-2-32b",
    "olmo-2-32b-it",
    "qwen3-14b-it",
    "eurollm-9b",
    "goldfish",
)
SIZED_FAMILIES = ("Llama3", "Qwen3", "Gemma3", "OLMo2")
MARGIN_MODELS = ("llama-3.1-70b", "gemma-3-27b", "goldfish")
TREND_MODEL = "gemma-3-27b"
# Panels of Figure 6: two models, and the group of languages that is set off.
PAIRS = (
    (LLAMA_CHAT, "aya-expanse-8b", "aya"),
    (LLAMA, "eurollm-9b", "eurollm"),
    (LLAMA, "llama-3.1-70b", ""),
    (LLAMA, "goldfish", "goldfish"),
)
PANELS = 4


def _models(catalogue: Catalogue) -> dict[str, ModelRow]:
    """Models that the benchmark is run on."""
    rows = catalogue.models.items()
    return {name: row for name, row in rows if not row.papers or BENCHMARK in row.papers}


def _size(row: ModelRow) -> float:
    return row.parameters or 0.0


def table_models(campaign: Campaign, catalogue: Catalogue) -> list[str]:
    """Models of Tables 3, 5 and B.2: the paper's, if the campaign has them all.

    Otherwise of each family those that the paper prints, or without these its largest model
    of each tuning.
    """
    models = _models(catalogue)
    if models.keys() >= {*PRINTED}:
        return [*PRINTED]
    families = {row.family for name, row in models.items() if name in PRINTED}
    largest: dict[tuple[str, str], str] = {}
    for name, row in models.items():
        key = (row.family, row.tuning)
        if key not in largest or _size(row) >= _size(models[largest[key]]):
            largest[key] = name
    chosen = {name for (family, _), name in largest.items() if family not in families}
    return [name for name in models if name in PRINTED or name in chosen]


def rivals(campaign: Campaign, catalogue: Catalogue) -> list[str]:
    """Models of Table B.2: those of the tables but chat versions whose base model is there.

    Inferred from the paper's p-values: Komi-Zyrian's 0.070 is reached against Goldfish, which
    is third there, and never against the second, a chat version. In Church Slavonic, Latin and
    Old French a chat version is second too, and would have to differ from its base model on
    less than 3 % of the pairs.
    """
    models = _models(catalogue)
    chosen = table_models(campaign, catalogue)
    bases = {(models[m].family, models[m].parameters) for m in chosen if models[m].tuning == "base"}
    return [
        m
        for m in chosen
        if models[m].tuning != "chat" or (models[m].family, models[m].parameters) not in bases
    ]


def mcnemar(campaign: Campaign, catalogue: Catalogue) -> str:
    """Form of McNemar's test: as published or corrected (decision ``mcnemar``)."""
    return variant_of(campaign.section(MultiblimpOptions), "mcnemar")


def sized_models(campaign: Campaign, catalogue: Catalogue) -> list[str]:
    """Models of Figure 5: the paper's four families, or all if the campaign has none of them."""
    models = _models(catalogue)
    return [name for name, row in models.items() if row.family in SIZED_FAMILIES] or [*models]


def margin_models(campaign: Campaign, catalogue: Catalogue) -> list[str]:
    """Models of Figure 7: the paper's three, or the first three of the tables."""
    models = _models(catalogue)
    printed = [name for name in models if name in MARGIN_MODELS]
    return printed or table_models(campaign, catalogue)[: len(MARGIN_MODELS)]


def trend_model(campaign: Campaign, catalogue: Catalogue) -> str:
    """Model of Figure 1: the paper's, or the largest of the tables (of equals the last)."""
    models = _models(catalogue)
    if TREND_MODEL in models:
        return TREND_MODEL
    chosen = table_models(campaign, catalogue)
    return max(reversed(chosen), key=lambda name: _size(models[name]), default="")


def model_pairs(campaign: Campaign, catalogue: Catalogue) -> list[list[str]]:
    """Panels of Figure 6: two models and a group of languages each.

    The paper's panels whose models the campaign has; if there are none, the first model of
    the tables against each of the next.
    """
    models = _models(catalogue)
    printed = [list(pair) for pair in PAIRS if pair[0] in models and pair[1] in models]
    first, *others = table_models(campaign, catalogue) or [""]
    return printed or [[first, other, ""] for other in others[:PANELS]]


def model_facts(campaign: Campaign, catalogue: Catalogue) -> dict[str, dict[str, Any]]:
    """Billions of parameters (None if unknown), family and tuning of each model."""
    fields = {"parameters", "family", "tuning"}
    return {name: row.model_dump(include=fields) for name, row in _models(catalogue).items()}


def groups(campaign: Campaign, catalogue: Catalogue) -> dict[str, list[str]]:
    """Languages of each group that the campaign has."""
    ours = catalogue.languages_of(BENCHMARK)
    groups = language_groups(campaign).items()
    return {name: [lang for lang in languages if lang in ours] for name, languages in groups}


EVALUATION_FACTS = {
    "table_models": table_models,
    "rivals": rivals,
    "mcnemar": mcnemar,
    "sized_models": sized_models,
    "margin_models": margin_models,
    "trend_model": trend_model,
    "pairs": model_pairs,
    "models": model_facts,
    "groups": groups,
}
