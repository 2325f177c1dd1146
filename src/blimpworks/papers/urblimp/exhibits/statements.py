"""Numbers of UrBLiMP's running text, and counts for its claims without numbers.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), sections 1 to 4 and appendix B.
"""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, PRODUCT, VALUES, Formula, of_row
from blimpworks.exhibits.shared import (
    AGAIN,
    VALUE,
    Place,
    Recomputation,
    Tables,
    printed_statements,
    read_printed,
    where_of,
)
from blimpworks.papers.urblimp.exhibits import accuracies as acc
from blimpworks.papers.urblimp.exhibits import describe, formulas, models
from blimpworks.papers.urblimp.exhibits.data import kinds_cell, table_models
from blimpworks.papers.urblimp.exhibits.significance import ALPHA, pair_cells, read_scores
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
"""Levels that the text states of "most" models, by paradigm."""
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


def _on(rows: pd.DataFrame, names: Sequence[str], paradigms: Sequence[str]) -> pd.DataFrame:
    return rows[rows["model"].isin(names) & rows["paradigm"].isin(paradigms)]


def _count(place: Place, key: Place | None, rows: pd.DataFrame, formula: Formula) -> Cell:
    n, where = int(formula(rows)), where_of(rows)
    total = rows["paradigm"].nunique() if rows["paradigm"].nunique() > 1 else len(rows)
    text = f"{n} of {total}"
    return Cell(*place, n, text, formula, "accuracies", where, n=total, stands_for=key)


def text(tables: Tables, labels: Labels) -> Exhibit:
    """Numbers in running text, and counts behind its claims."""
    rows, names = acc.read_paradigms(tables, labels), models.names_of(labels.models)
    complete = [model for model in acc.complete(rows) if model != HUMAN]
    # The sizes of Gemma that were judged both pretrained and tuned.
    pairs = zip(models.GEMMA, models.TUNED, strict=True)
    tuned = [model for pair in pairs if {*pair} <= {*complete} for model in pair]
    scores = read_scores(tables, labels, tuned) if tuned else None

    # Statements on accuracies, by the printed number's key.
    measured: dict[Place, Cell] = {}
    for model in complete:
        key = (model, AVERAGE)
        measured[key] = acc.macro_cell(_on(rows, [model], [*PARADIGMS]), key, key)
    granite = _on(rows, GRANITE, [NOUN])
    if len(granite):
        measured[GRANITE_NOUN] = acc.accuracy_cell(granite, GRANITE_NOUN, labels, GRANITE_NOUN)
    facts = labels.facts["urblimp_models"]
    base = [model for model in complete if not models.is_instructed(model, facts)]
    singular = _on(rows, base, [SINGULAR])
    if len(singular):
        measured[ABOVE] = _count(ABOVE, ABOVE, singular, formulas.above(0.9))
    if scores:
        tests = formulas.corrected_tests(scores.rows, formulas.TUNED)
        n, total = int((tests["holm"] < ALPHA).sum()), len(tests)
        formula, key = formulas.significant(ALPHA, formulas.TUNED), SIGNIFICANT
        cell = Cell(*key, n, f"{n} of {total}", formula, scores.source, scores.where, n=total)
        measured[key] = replace(cell, stands_for=key)

    # Models or paradigms that claims without a number are about.
    claims: list[Cell] = []
    for paradigm, formula, level in LEVELS:
        paradigm_rows = _on(rows, complete, [paradigm])
        if len(paradigm_rows):
            title = f"{PARADIGMS[paradigm]}, models {level}"
            claims.append(_count((title, VALUE), None, paradigm_rows, formula))
    if {*models.RIVALS} <= {*complete}:
        rivals = _on(rows, models.RIVALS, [*PARADIGMS])
        small, *large = (names[model] for model in models.RIVALS)
        title = f"{small} ahead of {' and '.join(large)}: paradigms"
        claims.append(_count((title, VALUE), None, rivals, formulas.ahead(models.RIVALS[0])))
    for cell in pair_cells(scores, formulas.TUNED, names, {}) if scores else ():
        claims.append(replace(cell, row=f"{cell.row}: {cell.column}", column=VALUE))

    if labels.source == "measured":
        best = models.chosen(models.TOP, complete)
        titles = {(model, AVERAGE): f"{names[model]}: average" for model in best} | TITLES
        cells = [
            replace(measured[key], row=title, column=VALUE)
            for key, title in titles.items()
            if key in measured
        ]
        return Exhibit(**describe("text"), cells=[*cells, *claims])

    def recomputed(key: Place, title: str) -> Cell | None:
        """Make a printed number's cell from the paper's accuracies, if they give it."""
        cell_key = (title, AGAIN)
        if key == ("dataset", "paradigms"):
            return kinds_cell(table_models(tables, labels), cell_key, key)
        if key == ("human", "accuracy"):
            return acc.accuracy_cell(_on(rows, [HUMAN], [*PARADIGMS]), cell_key, labels, key)
        if key in measured and (key in TITLES or key[0] in models.TOP):
            return replace(measured[key], row=title, column=AGAIN)
        return None

    cells, _ = printed_statements(read_printed(tables), RECOMPUTATION, recomputed)
    recomputed_cells = [replace(cell, column=AGAIN) for cell in claims]
    return Exhibit(**describe("text_published"), cells=[*cells, *recomputed_cells])
