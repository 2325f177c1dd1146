"""What Multi-LMentry's exhibits share: accuracies, sections of models, printed numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Labels, Section
from blimpworks.exhibits.formulas import Formula, select_rows
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.papers.lmentry.exhibits.names import (
    BENCHMARK,
    DATA,
    LANGUAGES,
    MODELS,
    SPECIFIC,
    WEIGHT,
)
from blimpworks.tables import ACCURACIES

OTHER = "Other Models"
GROUPS = (WEIGHT, DATA, SPECIFIC, OTHER)


def read_accuracies(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Accuracies by the method shown, of the models that have a label.

    Raises UserError when there are none.
    """
    path = tables["accuracies"][0]
    accuracies = read_plain(ACCURACIES, path)
    rows = accuracies[
        (accuracies["method"] == labels.method) & accuracies["model"].isin(labels.models)
    ]
    if rows.empty:
        raise UserError(
            f"{path} has no accuracies by method {labels.method!r} of the campaign's models; "
            "expected at least one task. Judge with that method and summarise again."
        )
    return rows


def read_exhibit(printed: pd.DataFrame, exhibit: str) -> pd.DataFrame:
    """The numbers of one printed exhibit."""
    return printed[printed["exhibit"] == exhibit]


def languages_of(rows: pd.DataFrame) -> list[str]:
    """Languages of some accuracies, the paper's first, in its order."""
    present = {str(lang) for lang in rows["lang"]}
    return [lang for lang in LANGUAGES if lang in present] + sorted(present - {*LANGUAGES})


def models_of(rows: pd.DataFrame) -> list[str]:
    """Models of some accuracies, the paper's first, in its order."""
    present = {str(model) for model in rows["model"]}
    return [model for model in MODELS if model in present] + sorted(present - {*MODELS})


def language_code(lang: str, labels: Labels) -> str:
    """A language's code in the paper's tables, or what the campaign calls it."""
    return LANGUAGES[lang].code if lang in LANGUAGES else labels.languages.get(lang, lang)


def language_tag(lang: str) -> str:
    """A language as HTML has it (BCP 47)."""
    return LANGUAGES[lang].code.lower().replace("_", "-") if lang in LANGUAGES else lang


def model_name(model: str, labels: Labels) -> str:
    """What the paper's tables call a model, or what the campaign does."""
    return MODELS[model][0] if model in MODELS else labels.models[model]


def group_of(model: str) -> str:
    """The heading that a model stands under."""
    return MODELS[model][1] if model in MODELS else OTHER


def sections_of(
    models: Sequence[str], labels: Labels, columns: Sequence[str], more: Mapping[str, str]
) -> list[Section]:
    """Rows of models under the paper's headings, and ``more`` rows below them.

    The headings are rows without cells.
    """
    sections = []
    for group in GROUPS:
        names = [model_name(model, labels) for model in models if group_of(model) == group]
        if names:
            rows = {name: name for name in (group, *names)}
            sections.append(Section("Model", rows, columns))
    return [*sections, Section("Model", more, columns)] if more else sections


def judged_by(labels: Labels) -> str:
    """A sentence on whose verdicts measured numbers rest; print has one kind only."""
    return f" Verdicts by the {labels.method} rules." if labels.source == "measured" else ""


def cell_of(
    rows: pd.DataFrame,
    place: tuple[str, str],
    formula: Formula,
    source: str,
    where: Mapping[str, Any],
    **more: Any,
) -> Cell:
    """A cell that a formula makes of the rows that ``where`` selects; text to one decimal."""
    value = formula(select_rows(rows, dict(where)))
    return Cell(*place, value, f"{value:.1f}", formula, source, where, **more)


def selection(
    lang: str, models: str | Sequence[str], labels: Labels, **more: Any
) -> dict[str, Any]:
    """What selects accuracies of one language; ``more`` are further columns."""
    chosen = models if isinstance(models, str) else [*models]
    where = {"benchmark": BENCHMARK, "lang": lang, "model": chosen, "method": labels.method}
    return where | more


def whole(tasks: Sequence[str]) -> dict[str, Any]:
    """What selects tasks as a whole, by no template or answer."""
    return {"phenomenon": [*tasks], "paradigm": ALL}
