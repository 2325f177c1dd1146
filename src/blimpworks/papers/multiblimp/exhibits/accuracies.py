"""What MultiBLiMP's exhibits share: names of phenomena, and accuracies as cells."""

from collections.abc import Iterator

import pandas as pd

from blimpworks.analysis.accuracy import ALL, wilson
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Labels
from blimpworks.exhibits.formulas import ACCURACY, UNWEIGHTED, select_rows
from blimpworks.exhibits.shared import Tables, formula_cell, read_plain
from blimpworks.papers.multiblimp.exhibits.formulas import WEIGHTED, weighted_values
from blimpworks.papers.multiblimp.items.release import BENCHMARK
from blimpworks.papers.multiblimp.tables import FREQUENCIES
from blimpworks.tables import ACCURACIES

CONSTRUCTIONS = {"sv": "Subject-Verb", "sp": "Subject-Participle"}
"""First part of a phenomenon's code (``sv#``), and what it is called in Table 3."""
FEATURES = {
    "#": ("Number", ("SG", "PL", "DU")),
    "G": ("Gender", ("MASC", "NEUT", "FEM")),
    "P": ("Person", ("1", "2", "3")),
}
"""Second part: the feature that agrees and its values, in the order of Table 2."""
PHENOMENA = {
    f"{kind}{sign}": (construction, FEATURES[sign][0])
    for kind, construction in CONSTRUCTIONS.items()
    for sign in "#PG"
}
"""The six agreement types: code, construction and feature, in the order of Table 3."""
NAMES = {key: ", ".join(pair) for key, pair in PHENOMENA.items()}
"""Printed name of each agreement type."""
CERTAIN = ("+", "~")
"""Labels of agreement that the paper counts as certain (section 4.2)."""


def abbreviation(phenomenon: str) -> str:
    """``sv#`` as ``SV-N``: subject-verb or subject-participle; number, gender or person."""
    return f"{phenomenon[:2].upper()}-{FEATURES[phenomenon[2:]][0][0]}"


def read_accuracies(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read accuracies of the labelled models and languages. Raises UserError without any."""
    rows = read_plain(ACCURACIES, tables["accuracies"][0])
    if rows.empty:
        raise UserError(
            f"{tables['accuracies'][0]} is empty: no model has judged a pair. Probably the "
            "campaign's languages have no pairs; see the exhibit funnel, or add languages."
        )
    names = {"lang": [*labels.languages], "model": [*labels.models]}
    rows = select_rows(rows, {"paradigm": ALL, "method": labels.method, **names})
    if rows.empty:
        raise UserError(
            f"{tables['accuracies'][0]} has no accuracies by method {labels.method!r} of the "
            "campaign's models and languages; judge with that method and summarise again."
        )
    return rows


def read_groups(tables: Tables) -> dict[str, list[str]]:
    """Languages of each resource group; empty without a frequencies table."""
    rows = read_plain(FREQUENCIES, tables.get("frequencies"))
    return {str(name): list(group["lang"]) for name, group in rows.groupby("resources")}


def _filter(rows: pd.DataFrame, labels: Labels, mean: bool) -> dict[str, object]:
    """What selects some rows of accuracies, which are of one model and one phenomenon."""
    languages = list(rows["lang"])
    return {
        "benchmark": BENCHMARK,
        "lang": languages if mean or len(languages) > 1 else languages[0],
        "model": rows["model"].iloc[0],
        "method": labels.method,
        "phenomenon": rows["phenomenon"].iloc[0],
        "paradigm": ALL,
    }


def accuracy_cell(
    rows: pd.DataFrame,
    row: str,
    column: str,
    labels: Labels,
    mark: str = "",
    *,
    mean: bool = False,
) -> Cell:
    """Accuracy in percent over all pairs of some ``rows`` of accuracies, with its interval.

    The rows are of one model and one phenomenon (or all), of one language or several. Each
    pair counts once: the measured cell is a mean over judgements. Of printed numbers the
    accuracies are weighted by their pairs. ``mark`` follows the number in print; a ``mean`` is over
    all languages of some group, as many as there are.
    """
    percent = float(100 * (rows["accuracy"] * rows["n"]).sum() / rows["n"].sum())
    low, high = (
        wilson(rows["correct"].sum(), int(rows["n"].sum()))
        if len(rows) > 1
        else (rows["low"].iloc[0], rows["high"].iloc[0])
    )
    where = _filter(rows, labels, mean)
    measured = labels.source == "measured"
    if measured:
        # Judgements are of single paradigms, and of a phenomenon each: all of them are none.
        where = {key: value for key, value in where.items() if value != ALL}
    return Cell(
        row,
        column,
        percent,
        f"{percent:.1f}{mark}",
        ACCURACY if measured else WEIGHTED,
        "judgements" if measured else "accuracies",
        where,
        n=int(rows["n"].sum()),
        low=100 * low,
        high=100 * high,
        ties=int(rows["ties"].sum()) if measured else None,
    )


def unweighted_cell(rows: pd.DataFrame, row: str, column: str, labels: Labels) -> Cell:
    """Accuracy in percent with each language counting once; in the files of values alone."""
    percent = float(100 * rows["accuracy"].mean())
    text, where = f"{percent:.1f}", _filter(rows, labels, mean=True)
    n = int(rows["n"].sum())
    return Cell(row, column, percent, text, UNWEIGHTED, "accuracies", where, n=n, printed=False)


PAIRS = {"low": 44_077, "mid": 49_294, "high": 27_934}
"""Pairs of each resource group: the release's numbers by language, in the groups that GlotCC's
characters make (``analysis.frequencies``). They are no fit to Table 3; a fit gives nearly the
same shares."""
SOME_LANGUAGES = {"goldfish"}
"""Models that exist for some of the languages only, whose pairs are others."""


def overall_cells(printed: pd.DataFrame, model: str, name: str, column: str) -> Iterator[Cell]:
    """A model's accuracy on all pairs, from Table 3's on each resource group, weighted by pairs.

    ``printed`` are printed numbers; ``name`` and ``column`` are where the cell stands, in the files
    of values alone. Nothing of a model that covers some languages only.
    """
    if model in SOME_LANGUAGES:
        return
    where = {"exhibit": "table3", "row": model, "column": [*PAIRS]}
    total = sum(PAIRS.values())
    formula = weighted_values(**PAIRS, total=total)
    rows = select_rows(printed, where)
    if len(rows) == len(PAIRS):
        more = {"n": total, "stands_for": (model, ALL), "printed": False}
        yield formula_cell(rows, (name, column), formula, "published", where, ".1f", **more)
