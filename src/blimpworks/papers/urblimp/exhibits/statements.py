"""The numbers that UrBLiMP gives in running text, and what its claims without numbers count.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), sections 1 to 4 and appendix B.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

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
from blimpworks.papers.urblimp.exhibits import accuracies as acc
from blimpworks.papers.urblimp.exhibits import describe, formulas, models
from blimpworks.papers.urblimp.exhibits.data import kinds_cell, table_models
from blimpworks.papers.urblimp.exhibits.significance import (
    ALPHA,
    Scores,
    pair_cells,
    read_scores,
)
from blimpworks.papers.urblimp.phenomena import HUMAN, PARADIGMS, PHENOMENA

GRANITE = ("granite-3.3-2b-base", "granite-3.3-8b-base")
NOUN, PRONOUN = "dative_object_noun", "dative_object_pronoun"
SINGULAR = "oblique_singular_noun"
AVERAGE = "average"
GRANITE_NOUN: Place = ("granite-3.3", NOUN)
ABOVE: Place = (SINGULAR, "models above 90%")
SIGNIFICANT: Place = ("pt vs it", "significant")
TITLES: dict[Place, str] = {
    GRANITE_NOUN: "Granite base models: dative object, noun, about",
    ABOVE: "Masculine singular nouns: models of Table 7 above 90 %",
    SIGNIFICANT: "Gemma, pretrained against tuned: sizes with a significant gap",
}
"""Titles of the numbers that campaigns have too, by the keys of the printed ones."""
LEVELS = (
    (NOUN, formulas.above(0.92), "above 92 %"),
    (PRONOUN, formulas.above(0.92), "above 92 %"),
    ("ergativity_dom", formulas.below(0.9), "below 90 %"),
    ("ergativity_verb_object_agreement", formulas.below(0.9), "below 90 %"),
)
"""Levels that the text names for "most" models, by paradigm."""
RECOMPUTATION = Recomputation(
    {
        **dict.fromkeys((COUNT, formulas.PAPER_TOTAL, PRODUCT, VALUES), "{:,.0f}"),
        of_row("value"): "{text}",
    },
    {
        "models": [name for name in models.NAMES if name != HUMAN],
        "tuned models": models.TUNED,
        "phenomena": [*PHENOMENA],
    },
)


@dataclass(frozen=True)
class View:
    """Tables and labels that statements are computed from."""

    tables: Tables
    labels: Labels

    @cached_property
    def rows(self) -> pd.DataFrame:
        """Accuracies by paradigm."""
        return acc.read_paradigms(self.tables, self.labels)

    @cached_property
    def models(self) -> list[str]:
        """Models that have been judged on all paradigms."""
        return [model for model in acc.complete(self.rows) if model != HUMAN]

    @cached_property
    def names(self) -> dict[str, str]:
        """Printed names of models."""
        return models.names_of(self.labels.models)

    @cached_property
    def tuned_scores(self) -> Scores | None:
        """Scores of Gemma of the sizes that there are both pretrained and tuned."""
        pairs = zip(models.GEMMA, models.TUNED, strict=True)
        names = [name for pair in pairs if {*pair} <= {*self.models} for name in pair]
        return read_scores(self.tables, self.labels, names) if names else None

    def of(self, names: Sequence[str], paradigms: Sequence[str]) -> pd.DataFrame:
        """Accuracies of some models on some paradigms."""
        rows = self.rows
        return rows[rows["model"].isin(names) & rows["paradigm"].isin(paradigms)]


def _count(place: Place, key: Place | None, rows: pd.DataFrame, formula: Formula) -> Cell:
    """Count how many of some accuracies are as the formula says."""
    n, where = int(formula(rows)), acc.where_of(rows)
    total = rows["paradigm"].nunique() if rows["paradigm"].nunique() > 1 else len(rows)
    text = f"{n} of {total}"
    return Cell(*place, n, text, formula, "accuracies", where, n=total, stands_for=key)


def _measured(view: View, place: Place, key: Place) -> Cell | None:
    """Make the cell of a statement on a campaign's, or the printed, accuracies.

    None where the models or paradigms are missing, or the key is of no such statement.
    """
    if key[1] == AVERAGE and key[0] in view.models:
        return acc.macro_cell(view.of([key[0]], [*PARADIGMS]), place, key)
    if key == GRANITE_NOUN:
        rows = view.of(GRANITE, [NOUN])
        return None if rows.empty else acc.accuracy_cell(rows, place, view.labels, key)
    if key == ABOVE:
        facts = view.labels.facts["urblimp_models"]
        base = [model for model in view.models if not models.is_instructed(model, facts)]
        rows = view.of(base, [SINGULAR])
        return None if rows.empty else _count(place, key, rows, formulas.above(0.9))
    if key == SIGNIFICANT and view.tuned_scores:
        scores = view.tuned_scores
        tests = formulas.corrected_tests(scores.rows, formulas.TUNED)
        n, total = int((tests["holm"] < ALPHA).sum()), len(tests)
        formula = formulas.significant(ALPHA, formulas.TUNED)
        cell = Cell(*place, n, f"{n} of {total}", formula, scores.source, scores.where, n=total)
        return replace(cell, stands_for=key)
    return None


def _claims(view: View, column: str) -> Iterator[Cell]:
    """Count what claims without a number of their own are about."""
    for paradigm, formula, level in LEVELS:
        rows = view.of(view.models, [paradigm])
        if len(rows):
            title = f"{PARADIGMS[paradigm]}, models {level}"
            yield _count((title, column), None, rows, formula)
    # On how many paradigms the small model of Figure 2 is ahead of the larger ones.
    if {*models.RIVALS} <= {*view.models}:
        rows = view.of(models.RIVALS, [*PARADIGMS])
        small, *large = (view.names[model] for model in models.RIVALS)
        title = f"{small} ahead of {' and '.join(large)}: paradigms"
        yield _count((title, column), None, rows, formulas.ahead(models.RIVALS[0]))
    # The tests of section 4.4, each with its p.
    if view.tuned_scores:
        for cell in pair_cells(view.tuned_scores, formulas.TUNED, view.names, {}):
            yield replace(cell, row=f"{cell.row}: {cell.column}", column=column)


def text(tables: Tables, labels: Labels) -> Exhibit:
    """Numbers in running text, and counts behind its claims.

    The published form sets each printed number beside its value computed from others.
    """
    view = View(tables, labels)
    if labels.source == "measured":
        best = models.chosen(models.TOP, view.models)
        titles = {(model, AVERAGE): f"{view.names[model]}: average" for model in best} | TITLES
        measured = (_measured(view, (title, VALUE), key) for key, title in titles.items())
        cells = [*filter(None, measured), *_claims(view, VALUE)]
        return Exhibit(**describe("text"), cells=cells)

    def recomputed(key: Place, title: str) -> Cell | None:
        """Make the cell of a printed number from the paper's accuracies, if they give it."""
        place = (title, AGAIN)
        if key == ("dataset", "paradigms"):
            return kinds_cell(table_models(tables, labels), place, key)
        if key == ("human", "accuracy"):
            return acc.accuracy_cell(view.of([HUMAN], [*PARADIGMS]), place, labels, key)
        if key in TITLES or (key[0] in models.TOP and key[1] == AVERAGE):
            return _measured(view, place, key)
        return None

    cells, _ = printed_statements(read_printed(tables), RECOMPUTATION, recomputed)
    return Exhibit(**describe("text_published"), cells=[*cells, *_claims(view, AGAIN)])
