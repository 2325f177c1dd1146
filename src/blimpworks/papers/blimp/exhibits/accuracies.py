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
from blimpworks.papers.blimp.exhibits.facts import TRAINING
from blimpworks.papers.blimp.exhibits.formulas import common, pearson_interval
from blimpworks.papers.blimp.paradigms import HUMAN, LANG, PARADIGMS, PHENOMENON_OF
from blimpworks.papers.blimp.released_results import INDIVIDUAL, METHODS
from blimpworks.tables import ACCURACIES

HALF_UP = 1e-9
OVERALL = "overall"
"""What printed tables call all paradigms together."""
OWN, RELEASED = "accuracies", "released"
"""Names of the tables that cells are computed from."""
KEYS = ("benchmark", "lang", "model", "method", "paradigm")
"""Columns by which cells select their accuracies."""
ENOUGH = 4
"""Paradigms that an interval of a correlation needs."""


def read_own(tables: Tables, labels: Labels, methods: Sequence[str] = ()) -> pd.DataFrame:
    """The campaign's accuracies by paradigm, or the printed ones, of models with a label.

    By the method that the labels name, or by ``methods``. Raises UserError when there are none.
    """
    methods = methods or [labels.method]
    rows = read_plain(ACCURACIES, tables[OWN][0])
    rows = rows[
        rows["method"].isin(methods)
        & (rows["lang"] == LANG)
        & rows["paradigm"].isin(PHENOMENON_OF)
        & rows["model"].isin([*labels.models, HUMAN])
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
    """The accuracies that the authors released by some methods; no rows without the release."""
    rows = read_plain(ACCURACIES, tables.get(RELEASED))
    return rows[rows["method"].isin(methods)]


def read_released_paradigms(
    tables: Tables, methods: Sequence[str] = (METHODS["sentence"], INDIVIDUAL)
) -> pd.DataFrame:
    """Released accuracies of BLiMP's paradigms, without those that the validation rejected."""
    rows = read_released(tables, methods)
    return rows[rows["paradigm"].isin(PHENOMENON_OF)]


def read_humans(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Released human accuracies to show beside the campaign's; no rows beside printed ones."""
    rows = read_released_paradigms(tables, [INDIVIDUAL])
    return rows if labels.source == "measured" else rows[:0]


def read_all(tables: Tables, labels: Labels) -> pd.DataFrame:
    """The campaign's own accuracies, or the printed ones, and those of humans beside them.

    Raises UserError when no model has any.
    """
    frames = [read_own(tables, labels), read_humans(tables, labels)]
    # Columns without rows have no types that could be kept.
    return pd.concat([frame for frame in frames if not frame.empty], ignore_index=True)


def model_names(rows: pd.DataFrame, labels: Labels) -> dict[str, str]:
    """Printed names of the models (and humans) that have accuracies, in print order."""
    names = {**labels.models, HUMAN: "Human"}
    return {model: name for model, name in names.items() if model in set(rows["model"])}


def rows_of_model(rows: pd.DataFrame, model: str, paradigms: Sequence[str]) -> pd.DataFrame:
    """A model's accuracies on some paradigms."""
    return rows[(rows["model"] == model) & rows["paradigm"].isin(paradigms)]


def of_phenomenon(phenomenon: str) -> tuple[str, ...]:
    """Paradigms of a phenomenon, or of all (``all``, or ``overall`` as the paper calls it)."""
    everything = phenomenon in (ALL, OVERALL)
    return tuple(PHENOMENON_OF) if everything else PARADIGMS[phenomenon]


def filter_of(rows: pd.DataFrame) -> dict[str, Any]:
    """The filter that selects ``rows`` from their table: single values, or lists of several."""
    values = {key: list(rows[key].unique()) for key in KEYS}
    return {key: each[0] if len(each) == 1 else each for key, each in values.items()}


def counted(rows: pd.DataFrame) -> bool:
    """Whether all accuracies come with their numbers of judged and of right pairs."""
    return bool(rows[["correct", "n"]].notna().all(axis=None))


def pairs_sentence(sizes: Mapping[str, int]) -> str:
    """A caption's sentence on how many pairs each model judged; empty without models."""
    if not sizes:
        return ""
    if len({*sizes.values()}) == 1:
        each = " each" if len(sizes) > 1 else ""
        return f"{', '.join(sizes)}: {next(iter(sizes.values())):,} pairs{each}. "
    return "Pairs judged: " + ", ".join(f"{name} {n:,}" for name, n in sizes.items()) + ". "


def training_sentence(labels: Labels) -> str:
    """A caption's sentence on the models trained in this campaign; empty if there are none."""
    trained = labels.facts.get(TRAINING, {}) if labels.source == "measured" else {}
    texts = dict.fromkeys(trained[model] for model in labels.models if model in trained)
    return f"Trained here on treebanks and plain text: {'; '.join(texts)}. " if texts else ""


def models_sentences(
    tables: Tables, labels: Labels, paradigms: Sequence[str] = tuple(PHENOMENON_OF)
) -> str:
    """A measured exhibit's sentences on its models: pairs of ``paradigms`` judged, and training."""
    if labels.source == "published":
        return ""
    rows = read_own(tables, labels)
    counts = rows[rows["paradigm"].isin(paradigms)].groupby("model")["n"].sum()
    names = model_names(counts.reset_index(), labels)
    sizes = {name: int(counts[model]) for model, name in names.items()}
    return pairs_sentence(sizes) + training_sentence(labels)


def formula_cell(
    rows: pd.DataFrame,
    place: tuple[str, str],
    formula: Formula,
    source: str,
    where: Mapping[str, Any],
    form: str = "{:,.0f}",
) -> Cell:
    """A cell with what a formula gives for ``rows``, those of ``source`` that ``where`` selects.

    ``form`` formats the value. Halves are rounded up, as in the paper; floating point may lie a
    little below them.
    """
    value = formula(rows)
    text = form.format(value + HALF_UP).replace("-", "−")
    return Cell(*place, value, text, formula, source, where)


def with_interval(cell: Cell, n: int) -> Cell:
    """A cell in percent with ``n`` observations, and Wilson's 95 % interval of their share."""
    low, high = wilson(cell.value * n / 100, n)
    return replace(cell, n=n, low=100 * low, high=100 * high)


def computed_cell(
    rows: pd.DataFrame,
    place: tuple[str, str],
    formula: Formula,
    source: str = OWN,
    stands_for: tuple[str, str] | None = None,
    form: str = "{:.1f}",
) -> Cell:
    """A cell with what a formula gives for some rows of accuracies."""
    where = filter_of(rows)
    cell = formula_cell(select_rows(rows, where), place, formula, source, where, form)
    return replace(cell, stands_for=stands_for)


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
    return replace(cell, n=n, ties=int(rows["ties"].sum()), low=100 * low, high=100 * high)


def row_accuracy_cell(
    row: pd.Series, place: tuple[str, str], source: str, keys: Sequence[str]
) -> Cell:
    """The accuracy in percent of one row of a table, with the row's own interval.

    ``keys`` are the columns that distinguish the row from all others of the table ``source``.
    """
    value = 100 * row["accuracy"]
    text, where = f"{value + HALF_UP:.1f}", {key: row[key] for key in keys}
    low, high = 100 * row["low"], 100 * row["high"]
    n = int(row["n"])
    return Cell(*place, value, text, UNWEIGHTED, source, where, n=n, low=low, high=high)


def pearson_cell(rows: pd.DataFrame, place: tuple[str, str], formula: Formula, by: str) -> Cell:
    """A correlation over paradigms of the two values of column ``by``, with Fisher's interval."""
    low, high = pearson_interval(rows, by)
    cell = computed_cell(rows, place, formula, form="{:.2f}")
    return replace(cell, n=common(rows, by), low=low, high=high)
