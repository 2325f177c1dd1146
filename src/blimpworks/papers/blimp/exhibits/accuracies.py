"""Accuracies of BLiMP's paradigms: the campaign's, those that the paper prints or released.

In all of them a phenomenon's accuracy is the mean of its paradigms', and the overall one that
of all paradigms (section 5; each paradigm has as many pairs).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL, wilson
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Labels
from blimpworks.exhibits.formulas import UNWEIGHTED, Formula, select_rows
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.papers.blimp.exhibits.specs import TRAINING
from blimpworks.papers.blimp.paradigms import HUMAN, LANG, PARADIGMS, PHENOMENON_OF
from blimpworks.papers.blimp.released_results import INDIVIDUAL, METHODS
from blimpworks.tables import ACCURACIES

HALF_UP = 1e-9
OWN, RELEASED = "accuracies", "released"
"""Names of the tables that cells are computed from."""


def read_own(tables: Tables, labels: Labels, methods: Sequence[str] = ()) -> pd.DataFrame:
    """The campaign's accuracies by paradigm, or the printed ones, of models with a label.

    By the method shown, or by ``methods``. Raises UserError when there are none.
    """
    methods = methods or [labels.method]
    found = read_plain(ACCURACIES, tables[OWN][0])
    rows = found[
        found["method"].isin(methods)
        & (found["lang"] == LANG)
        & found["paradigm"].isin(PHENOMENON_OF)
        & found["model"].isin([*labels.models, HUMAN])
    ]
    if rows.empty:
        raise UserError(
            f"{tables[OWN][0]} has no accuracies of BLiMP's paradigms by method "
            f"{', '.join(methods)} of the campaign's models; judge English with that method."
        )
    return rows


def read_released(
    tables: Tables, methods: Sequence[str] = (METHODS["sentence"], INDIVIDUAL)
) -> pd.DataFrame:
    """The accuracies that the authors released, or no rows where there are none at hand."""
    paths = tables.get(RELEASED) or []
    if not paths:
        return pd.DataFrame(columns=ACCURACIES.names)
    found = read_plain(ACCURACIES, paths[0])
    return found[found["method"].isin(methods)]


def read_humans(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Accuracies of humans that go with the campaign's own: as released, if at hand."""
    rows = read_released(tables, [INDIVIDUAL])
    return rows[rows["paradigm"].isin(PHENOMENON_OF)] if labels.source == "measured" else rows[:0]


def read_all(tables: Tables, labels: Labels) -> pd.DataFrame:
    """The campaign's own accuracies, or the printed ones, and those of humans beside them.

    Raises UserError when no model has any.
    """
    frames = [read_own(tables, labels), read_humans(tables, labels)]
    # Of no rows the columns have no kinds that could be kept.
    return pd.concat([frame for frame in frames if not frame.empty], ignore_index=True)


def shown(rows: pd.DataFrame, labels: Labels) -> dict[str, str]:
    """The models (and humans) of some accuracies in print order, with their printed names."""
    known = {**labels.models, HUMAN: "Human"}
    return {model: name for model, name in known.items() if model in set(rows["model"])}


def of_model(rows: pd.DataFrame, model: str, paradigms: Sequence[str]) -> pd.DataFrame:
    """A model's rows of some paradigms."""
    return rows[(rows["model"] == model) & rows["paradigm"].isin(paradigms)]


def of_phenomenon(phenomenon: str) -> tuple[str, ...]:
    """Paradigms of a phenomenon, or those of all."""
    return tuple(PHENOMENON_OF) if phenomenon == ALL else PARADIGMS[phenomenon]


def filter_of(rows: pd.DataFrame) -> dict[str, Any]:
    """What selects the ``rows`` from their table: single values, or lists of several."""
    keys = ("benchmark", "lang", "model", "method", "paradigm")
    values = {key: list(rows[key].unique()) for key in keys}
    return {key: found[0] if len(found) == 1 else found for key, found in values.items()}


def counted(rows: pd.DataFrame) -> bool:
    """Whether it is known of all rows how many answers there are, and how many right ones."""
    return bool(rows[["correct", "n"]].notna().all(axis=None))


def pairs_told(sizes: Mapping[str, int]) -> str:
    """How many pairs models were judged on, by their names, as a sentence; empty for none."""
    if not sizes:
        return ""
    if len({*sizes.values()}) == 1:
        each = " each" if len(sizes) > 1 else ""
        return f"{', '.join(sizes)}: {next(iter(sizes.values())):,} pairs{each}. "
    return "Pairs judged: " + ", ".join(f"{name} {n:,}" for name, n in sizes.items()) + ". "


def told_of_models(
    tables: Tables, labels: Labels, paradigms: Sequence[str] = tuple(PHENOMENON_OF)
) -> str:
    """What a measured exhibit's caption says of the campaign's models: pairs and training.

    The pairs are those of the ``paradigms`` that the exhibit is about.
    """
    if labels.source == "published":
        return ""
    rows = read_own(tables, labels)
    rows = rows[rows["paradigm"].isin(paradigms)]
    counts = rows.groupby("model")["n"].sum()
    sizes = {name: int(counts[model]) for model, name in shown(rows, labels).items()}
    return pairs_told(sizes) + told_of_training(labels)


def told_of_training(labels: Labels) -> str:
    """What was trained here, as a sentence; empty for nothing, and of print."""
    known = labels.facts.get(TRAINING, {}) if labels.source == "measured" else {}
    told = dict.fromkeys(known[model] for model in labels.models if model in known)
    return f"Trained here on treebanks and plain text: {'; '.join(told)}. " if told else ""


def mean_cell(
    rows: pd.DataFrame,
    place: tuple[str, str],
    source: str = OWN,
    stands_for: tuple[str, str] | None = None,
) -> Cell:
    """Mean accuracy in percent of some paradigms, with the interval of all their pairs."""
    cell = computed_cell(rows, place, UNWEIGHTED, source, stands_for)
    if not counted(rows):
        return cell
    n = int(rows["n"].sum())
    low, high = wilson(rows["correct"].sum(), n)
    ties = int(rows["ties"].sum())
    return replace(cell, n=n, ties=ties, low=100 * low, high=100 * high)


def computed_cell(
    rows: pd.DataFrame,
    place: tuple[str, str],
    formula: Formula,
    source: str = OWN,
    stands_for: tuple[str, str] | None = None,
    form: str = "{:.1f}",
) -> Cell:
    """What a formula makes of some rows of accuracies."""
    where = filter_of(rows)
    value = formula(select_rows(rows, where))
    # Halves are rounded up, as in the paper; floating point may lie a little below them.
    text = form.format(value + HALF_UP).replace("-", "−")
    return Cell(*place, value, text, formula, source, where, stands_for=stands_for)
