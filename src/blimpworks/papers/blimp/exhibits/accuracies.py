"""Read accuracies of BLiMP's paradigms (measured, printed or released) and make cells from them.

The modules of tables and figures call these functions. Their arguments are ``tables``, the paths of
input tables by name, and ``labels``: the models to show, and whether numbers are measured by a
campaign or published. A row of accuracies is

    model=gpt2-large  method=full_sentence  phenomenon=binding  paradigm=principle_A_c_command
    accuracy=0.79  n=1000  source=accuracies (the name of the input table)

A ``uid`` is a paradigm's name. A cell is one number of an exhibit: its ``cell_key`` has the titles
of its row and column, and ``where`` (value or values by column) filters the rows for its formula.
The accuracy on a phenomenon is the mean over its paradigms, and the overall accuracy the mean over
all paradigms (section 5). Paradigms have equal numbers of pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import wilson
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Labels
from blimpworks.exhibits.formulas import Formula, select_rows
from blimpworks.exhibits.shared import Place, Tables, accuracy_cell, read_plain, where_of
from blimpworks.items import ALL
from blimpworks.papers.blimp.exhibits.formulas import common, pearson_interval
from blimpworks.papers.blimp.paradigms import HUMAN, LANG, PARADIGMS, PHENOMENON_OF
from blimpworks.papers.blimp.released_results import INDIVIDUAL, METHODS
from blimpworks.tables import ACCURACIES

HALF_UP = 1e-9
"""Added before rounding, so that halves are rounded up, as in the paper: 81.25 becomes 81.3."""
OVERALL = "overall"
"""Key of all paradigms together in printed tables."""
OWN, RELEASED = "accuracies", "released"
"""Names of the input tables of accuracies; each row has the name in the column ``source``."""
KEYS = ("benchmark", "lang", "model", "method", "paradigm")
"""Columns that identify a row of accuracies."""
ENOUGH = 4
"""Fewest paradigms of which a correlation has an interval."""


def read_own(tables: Tables, labels: Labels, methods: Sequence[str] = ()) -> pd.DataFrame:
    """Read accuracies of the labels' models and humans by methods. Raises UserError without any."""
    chosen = [*methods] or [labels.method]
    where = {"model": [*labels.models, HUMAN], "paradigm": [*PHENOMENON_OF], "lang": LANG}
    rows = select_rows(read_plain(ACCURACIES, tables[OWN][0]), {**where, "method": chosen})
    if rows.empty:
        raise UserError(
            f"{tables[OWN][0]} has no accuracies of BLiMP's paradigms by method "
            f"{', '.join(chosen)} of the campaign's models; judge English with that method."
        )
    return rows.assign(source=OWN)


def read_released(
    tables: Tables,
    methods: Sequence[str] = (METHODS["sentence"], INDIVIDUAL),
    *,
    rejected: bool = False,
) -> pd.DataFrame:
    """Read the authors' released accuracies; ``rejected`` adds the paradigms they left out."""
    rows = read_plain(ACCURACIES, tables.get(RELEASED))
    rows = rows[rows["method"].isin(methods)].assign(source=RELEASED)
    return rows if rejected else rows[rows["paradigm"].isin(PHENOMENON_OF)]


def read_humans(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read released human accuracies; none for published forms, whose printed rows have humans."""
    rows = read_released(tables, [INDIVIDUAL])
    return rows if labels.source == "measured" else rows[:0]


def read_all(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Join the rows of ``read_own`` and ``read_humans``. Raises UserError without models."""
    frames = [read_own(tables, labels), read_humans(tables, labels)]
    # An empty frame would change the types of columns.
    rows = pd.concat([frame for frame in frames if not frame.empty], ignore_index=True)
    return rows.assign(source=OWN)


def model_names(rows: pd.DataFrame, labels: Labels) -> dict[str, str]:
    """Return the printed names of the models in ``rows``, and of humans, in the labels' order."""
    names = {**labels.models, HUMAN: "Human"}
    return {model: name for model, name in names.items() if model in set(rows["model"])}


def rows_of_model(rows: pd.DataFrame, model: str, paradigms: Sequence[str]) -> pd.DataFrame:
    """Select a model's accuracies on some paradigms."""
    return rows[(rows["model"] == model) & rows["paradigm"].isin(paradigms)]


def paradigms_of(phenomenon: str) -> tuple[str, ...]:
    """Return the paradigms of a phenomenon, or all of them for ``all`` and ``overall``."""
    return tuple(PHENOMENON_OF) if phenomenon in (ALL, OVERALL) else PARADIGMS[phenomenon]


def models_of(
    tables: Tables,
    labels: Labels,
    paradigms: Sequence[str] = tuple(PHENOMENON_OF),
    counts: pd.Series | None = None,
) -> dict[str, Any]:
    """Return three values of a caption; they are empty for published forms.

    "pairs": numbers of judged pairs by printed name; "trained": texts on the models trained here;
    "people": whether results of humans are "released" or "missing". ``counts`` has the numbers of
    pairs by model; by default they are summed over ``paradigms``.
    """
    if labels.source == "published":
        return {"pairs": {}, "trained": (), "people": ""}
    if counts is None:
        rows = read_own(tables, labels)
        counts = rows[rows["paradigm"].isin(paradigms)].groupby("model")["n"].sum()
    names = model_names(counts.reset_index(), labels)
    trained = labels.facts.get("blimp_training", {})
    return {
        "pairs": {name: int(counts[model]) for model, name in names.items()},
        "trained": dict.fromkeys(trained[model] for model in labels.models if model in trained),
        "people": "missing" if read_humans(tables, labels).empty else "released",
    }


def formula_cell(
    rows: pd.DataFrame,
    cell_key: Place,
    formula: Formula,
    source: str,
    where: Mapping[str, Any],
    form: str = "{:,.0f}",
    **fields: Any,
) -> Cell:
    """Make a cell of a formula's value for the ``rows`` of ``source`` that ``where`` selects.

    ``form`` formats the value, with halves rounded up. ``fields`` are other fields of the cell.
    """
    value = formula(select_rows(rows, where))
    text = form.format(value + HALF_UP).replace("-", "−")
    return Cell(*cell_key, value, text, formula, source, where, **fields)


def with_interval(cell: Cell, n: int) -> Cell:
    """Return the cell of a percentage of ``n`` judgements with Wilson's 95 % interval."""
    low, high = wilson(cell.value * n / 100, n)
    return replace(cell, n=n, low=100 * low, high=100 * high)


def computed_cell(
    rows: pd.DataFrame, cell_key: Place, formula: Formula, form: str = "{:.1f}", **fields: Any
) -> Cell:
    """Make a cell of a formula's value for some rows of accuracies."""
    # A formula that counts may have no rows.
    source = rows["source"].iloc[0] if len(rows) else OWN
    return formula_cell(rows, cell_key, formula, source, where_of(rows, KEYS), form, **fields)


def percent_text(percent: float) -> str:
    """Format a percentage as the paper prints it: to one decimal, halves up."""
    return f"{percent + HALF_UP:.1f}"


def mean_cell(rows: pd.DataFrame, cell_key: Place, **fields: Any) -> Cell:
    """Make a cell of the mean accuracy in percent, with Wilson's interval over all pairs."""
    fields |= {"source": rows["source"].iloc[0], "keys": KEYS, "ties": True}
    return accuracy_cell(rows, cell_key, interval="pooled", text=percent_text, **fields)


def pearson_cell(rows: pd.DataFrame, cell_key: Place, formula: Formula, by: str) -> Cell:
    """Make a cell of the correlation, over paradigms, of two models (values of a column ``by``)."""
    (low, high), n = pearson_interval(rows, by), common(rows, by)
    return computed_cell(rows, cell_key, formula, form="{:.2f}", n=n, low=low, high=high)
