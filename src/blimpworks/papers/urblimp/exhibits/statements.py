"""The numbers that UrBLiMP gives in running text, and what its claims without numbers count.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), sections 1 to 4 and appendix B.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, PRODUCT, VALUES, Formula, of_row
from blimpworks.exhibits.shared import Tables, read_printed
from blimpworks.exhibits.statements import (
    AGAIN,
    VALUE,
    Place,
    Recomputation,
    printed_statements,
)
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.accuracies import (
    accuracy_cell,
    complete,
    macro_cell,
    read_paradigms,
    where_of,
)
from blimpworks.papers.urblimp.exhibits.data import kinds_cell, table_models
from blimpworks.papers.urblimp.exhibits.formulas import (
    PAPER_TOTAL,
    above,
    ahead,
    below,
    corrected_tests,
    significant,
)
from blimpworks.papers.urblimp.exhibits.formulas import TUNED as TUNED_PAIRS
from blimpworks.papers.urblimp.exhibits.models import (
    GEMMA,
    NAMES,
    RIVALS,
    TOP,
    TUNED,
    chosen,
    is_instructed,
    names_of,
)
from blimpworks.papers.urblimp.exhibits.significance import ALPHA, pair_cells, read_scores
from blimpworks.papers.urblimp.phenomena import HUMAN, PARADIGMS, PHENOMENA

GRANITE = ("granite-3.3-2b-base", "granite-3.3-8b-base")
NOUN, PRONOUN = "dative_object_noun", "dative_object_pronoun"
SINGULAR = "oblique_singular_noun"
TITLES: dict[Place, str] = {
    ("granite-3.3", NOUN): "Granite base models: dative object, noun, about",
    (SINGULAR, "models above 90%"): "Masculine singular nouns: models of Table 7 above 90 %",
    ("pt vs it", "significant"): "Gemma, pretrained against tuned: sizes with a significant gap",
}
"""What the numbers are about that campaigns have too; a model's average has its name."""
RECOMPUTATION = Recomputation(
    {
        **dict.fromkeys((COUNT, PAPER_TOTAL, PRODUCT, VALUES), "{:,.0f}"),
        of_row("value"): "{text}",
    },
    {
        "models": [name for name in NAMES if name != HUMAN],
        "tuned models": TUNED,
        "phenomena": [*PHENOMENA],
    },
)


@dataclass(frozen=True)
class View:
    """What statements are computed from."""

    tables: Tables
    labels: Labels

    @cached_property
    def rows(self) -> pd.DataFrame:
        """Accuracies by paradigm."""
        return read_paradigms(self.tables, self.labels)

    @cached_property
    def models(self) -> list[str]:
        """Models that have been judged on all paradigms."""
        return [model for model in complete(self.rows) if model != HUMAN]

    def of(self, models: Sequence[str], paradigms: Sequence[str]) -> pd.DataFrame:
        """Accuracies of some models on some paradigms."""
        rows = self.rows
        return rows[rows["model"].isin(models) & rows["paradigm"].isin(paradigms)]

    def title(self, key: Place) -> str:
        """What a printed number is about."""
        if key[1] == "average":
            return f"{names_of(self.labels.models)[key[0]]}: average"
        return TITLES[key]


Statement = Callable[[View, Place, Place], Cell | None]
"""Makes a cell for a place, of the printed number with a key; None if it cannot."""


def _average(view: View, place: Place, key: Place) -> Cell | None:
    rows = view.of([key[0]], [*PARADIGMS])
    return macro_cell(rows, place, view.labels, key) if key[0] in view.models else None


def _mean(
    view: View, place: Place, key: Place, models: Sequence[str], paradigms: Sequence[str]
) -> Cell | None:
    rows = view.of(models, paradigms)
    return None if rows.empty else accuracy_cell(rows, place, view.labels, key)


def _count(place: Place, key: Place | None, rows: pd.DataFrame, formula: Formula) -> Cell:
    """How many of some accuracies are as the formula says."""
    n, where = int(formula(rows)), where_of(rows)
    of = rows["paradigm"].nunique() if rows["paradigm"].nunique() > 1 else len(rows)
    text = f"{n} of {of}"
    return Cell(*place, n, text, formula, "accuracies", where, n=of, stands_for=key)


def _above(view: View, place: Place, key: Place) -> Cell | None:
    facts = view.labels.facts["urblimp_models"]
    models = [model for model in view.models if not is_instructed(model, facts)]
    rows = view.of(models, [SINGULAR])
    return None if rows.empty else _count(place, key, rows, above(0.9))


def _tuned_pairs(view: View) -> list[str]:
    """Gemma models of the sizes that there are both pretrained and tuned."""
    pairs = [pair for pair in zip(GEMMA, TUNED, strict=True) if {*pair} <= {*view.models}]
    return [model for pair in pairs for model in pair]


def _significant(view: View, place: Place, key: Place) -> Cell | None:
    models = _tuned_pairs(view)
    if not models:
        return None
    scores = read_scores(view.tables, view.labels, models)
    tests = corrected_tests(scores.rows, TUNED_PAIRS)
    n, of = int((tests["holm"] < ALPHA).sum()), len(tests)
    formula = significant(ALPHA, TUNED_PAIRS)
    cell = Cell(*place, n, f"{n} of {of}", formula, scores.source, scores.where, n=of)
    return replace(cell, stands_for=key)


def _dataset_kinds(view: View, place: Place, key: Place) -> Cell:
    return kinds_cell(table_models(view.tables, view.labels), place, view.labels, key)


MEASURED: dict[Place, Statement] = {
    ("granite-3.3", NOUN): partial(_mean, models=GRANITE, paradigms=[NOUN]),
    (SINGULAR, "models above 90%"): _above,
    ("pt vs it", "significant"): _significant,
}
"""Statements on the results, by the keys of the printed numbers."""
PUBLISHED: dict[Place, Statement] = MEASURED | {
    **{(model, "average"): _average for model in TOP},
    ("dataset", "paradigms"): _dataset_kinds,
    ("human", "accuracy"): partial(_mean, models=[HUMAN], paradigms=[*PARADIGMS]),
}
"""The same with what only the paper's own accuracies allow."""


# Claims without a number of their own


def _levels(view: View, column: str) -> Iterator[Cell]:
    """How many models are above or below a level that the text names for "most"."""
    for paradigm, formula, level in (
        (NOUN, above(0.92), "above 92 %"),
        (PRONOUN, above(0.92), "above 92 %"),
        ("ergativity_dom", below(0.9), "below 90 %"),
        ("ergativity_verb_object_agreement", below(0.9), "below 90 %"),
    ):
        rows = view.of(view.models, [paradigm])
        if len(rows):
            title = f"{PARADIGMS[paradigm]}, models {level}"
            yield _count((title, column), None, rows, formula)


def _ahead(view: View, column: str) -> Iterator[Cell]:
    """On how many paradigms the small model of Figure 2 is ahead of the larger ones."""
    if not {*RIVALS} <= {*view.models}:
        return
    rows = view.of(RIVALS, [*PARADIGMS])
    small, *large = (names_of(view.labels.models)[model] for model in RIVALS)
    title = f"{small} ahead of {' and '.join(large)}: paradigms"
    yield _count((title, column), None, rows, ahead(RIVALS[0]))


def _tuning(view: View, column: str) -> Iterator[Cell]:
    """The tests of section 4.4, each with its p."""
    models = _tuned_pairs(view)
    if models:
        scores = read_scores(view.tables, view.labels, models)
        for cell in pair_cells(scores, TUNED_PAIRS, names_of(view.labels.models), {}):
            yield replace(cell, row=f"{cell.row}: {cell.column}", column=column)


def _claims(view: View, column: str) -> Iterator[Cell]:
    for claims in (_levels, _ahead, _tuning):
        yield from claims(view, column)


# The exhibit


def text(tables: Tables, labels: Labels) -> Exhibit:
    """Numbers in running text, and counts behind its claims.

    The published form sets each printed number beside its value computed from others.
    """
    view = View(tables, labels)
    if labels.source == "published":
        return _published(view)
    best = {(model, "average"): _average for model in chosen(TOP, view.models)}
    statements = (best | MEASURED).items()
    measured = (make(view, (view.title(key), VALUE), key) for key, make in statements)
    cells = [*filter(None, measured), *_claims(view, VALUE)]
    return Exhibit(**describe("text"), cells=cells)


def _published(view: View) -> Exhibit:
    cells, _ = printed_statements(
        read_printed(view.tables),
        RECOMPUTATION,
        lambda key, title: PUBLISHED[key](view, (title, AGAIN), key) if key in PUBLISHED else None,
    )
    cells += _claims(view, AGAIN)
    return Exhibit(**describe("text_published"), cells=cells)
