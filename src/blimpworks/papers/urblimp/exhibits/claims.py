"""Show tests between models on UrBLiMP, Tables 5 and 6, and the numbers of the running text.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025): sections 1 to 4, appendix B.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import (
    COUNT,
    PRODUCT,
    VALUES,
    Formula,
    of_row,
    truncate,
    truncated,
)
from blimpworks.papers.urblimp.exhibits import describe, evaluation, formulas
from blimpworks.papers.urblimp.exhibits.data import paradigms_cell, table_models
from blimpworks.papers.urblimp.exhibits.evaluation import GEMMA, RIVALS, TOP, choose_models
from blimpworks.papers.urblimp.exhibits.formulas import BY_PARADIGM, BY_PHENOMENON, EACH_OTHER
from blimpworks.papers.urblimp.phenomena import HUMAN, PARADIGMS, PHENOMENA

ALPHA = 0.05
P, HOLM, VERDICT = "p", "p, Holm", "Significant"
OVER = {BY_PHENOMENON: "p over phenomena", BY_PARADIGM: "p over paradigms"}
DECIMALS = {BY_PHENOMENON: 3, BY_PARADIGM: 5}
"""Number of decimals of p, which is smaller over paradigms."""
NO_MODELS = " There are no two models to compare."


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores to test."""

    rows: pd.DataFrame
    source: str
    """Name of the table that has the rows."""
    where: dict[str, Any]
    """Filter that selects the rows."""
    over: str = BY_PHENOMENON
    """Unit of the observations."""


def read_scores(
    tables: shared.Tables, labels: Labels, models: Sequence[str], over: str = BY_PHENOMENON
) -> Scores:
    """Read scores of ``models``: accuracies of a campaign or, in published forms, cells of Table 4.

    The paper tests the rounded cells of Table 4; rounding makes two unequal differences equal.
    Scores by paradigm are always accuracies, measured or printed.
    """
    if labels.source == "measured" or over == BY_PARADIGM:
        table = evaluation.read_paradigms(tables, labels)
        rows = pd.concat([table[table["model"] == model] for model in models])
        return Scores(rows, "accuracies", shared.where_of(rows), over)
    columns = [*PHENOMENA]
    printed = evaluation.printed_numbers(tables, labels, "table4")
    rows = pd.DataFrame([printed[model, column] for model in models for column in columns])
    where = {"exhibit": "table4", "row": [*models], "column": columns}
    return Scores(rows, "published", where)


def pair_cells(
    scores: Scores, among: str, names: Mapping[str, str], printed: Mapping[shared.Place, pd.Series]
) -> Iterator[Cell]:
    """Yield a cell of p for each test ``among`` the models, before and after Holm's correction.

    If the paper prints the p, it is truncated to the same number of digits, as in the paper.
    """
    over = scores.over
    for _, test in formulas.corrected_tests(scores.rows, among, over).iterrows():
        first, second = pair = [test["first"], test["second"]]
        row = " and ".join(names[model] for model in pair)
        if over == BY_PARADIGM:
            of_pair = shared.where_of(scores.rows[scores.rows["model"].isin(pair)])
        else:
            of_pair = {**scores.where, "model" if "model" in scores.where else "row": pair}
        for column, name, formula, where in (
            (P, "p", formulas.signed_rank(over), of_pair),
            (HOLM, "holm", formulas.holm_of(first, second, among, over), scores.where),
        ):
            p, text = float(test[name]), f"{test[name]:.{DECIMALS[over]}f}"
            cell = Cell(row, column, p, text, formula, scores.source, where, n=int(test["n"]))
            key = (" vs ".join(pair), name)
            if key in printed:
                digits = len(printed[key]["text"].partition(".")[2])
                p, cut = truncate(p, digits), truncated(formula, digits)
                text = f"{p:.{digits}f}"
                cell = replace(cell, value=p, text=text, formula=cut, stands_for=key)
            yield cell


def _ranked(tables: shared.Tables, labels: Labels) -> list[str]:
    # Models with all paradigms, by their average over phenomena, best first.
    rows = evaluation.read_paradigms(tables, labels)
    rows = rows[rows["model"].isin(evaluation.complete_models(rows))]
    averages = formulas.scores_by(rows, BY_PHENOMENON).mean()
    return list(averages.sort_values(ascending=False, kind="stable").index)


def _table(
    group: str, exhibit: str, preferred: Sequence[str], tables: shared.Tables, labels: Labels
) -> Exhibit:
    measured = labels.source == "measured"
    models = choose_models(preferred, _ranked(tables, labels)) if measured else preferred
    scores, names = read_scores(tables, labels, models), evaluation.model_names(labels.models)
    printed = evaluation.printed_numbers(tables, labels, exhibit)
    cells = [*pair_cells(scores, EACH_OTHER, names, printed)]
    description = describe(
        "tables5_6",
        kind=group if {*models} <= {*preferred} else "the best",
        origin="the means of their paradigms" if measured else "the cells of Table 4",
        level=ALPHA,
        cut="" if measured else " p is cut off, not rounded, as in the paper.",
        none="" if cells else NO_MODELS,
    )
    corrected = [cell for cell in cells if cell.column == HOLM]
    remarks = {c.row: {VERDICT: "yes" if c.value < ALPHA else "no"} for c in corrected}
    return Exhibit(**description, cells=cells, remarks=remarks)


table5 = partial(_table, "pretrained Gemma", "table5", GEMMA)
"""Tabulate Table 5: tests between the pretrained Gemma models, or else between the best."""
table6 = partial(_table, "the best", "table6", TOP)
"""Tabulate Table 6: tests between the best models of the paper, or else of the campaign."""


def tests(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Tabulate the tests of Tables 5 and 6 over paradigms instead of phenomena.

    Over phenomena, one paradigm can weigh as much as five, and ten observations give no p below
    .002.
    """
    ranked, names = _ranked(tables, labels), evaluation.model_names(labels.models)
    groups = {"Table 5": choose_models(GEMMA, ranked), "Table 6": choose_models(TOP, ranked)}
    if groups["Table 5"] == groups["Table 6"]:
        groups = {"": groups["Table 5"]}
    cells: list[Cell] = []
    remarks: dict[str, dict[str, str]] = {}
    for title, models in groups.items():
        for over, name in OVER.items():
            scores = read_scores(tables, labels, models, over)
            for cell in pair_cells(scores, EACH_OTHER, names, {}):
                row = f"{cell.row} ({title})" if title else cell.row
                if cell.column == HOLM:
                    head = f"{VERDICT}, {name.removeprefix(P).strip()}"
                    verdict = "yes" if cell.value < ALPHA else "no"
                    remarks.setdefault(row, {})[head] = verdict
                elif over == BY_PHENOMENON:
                    continue  # Tables 5 and 6 show it
                cells.append(replace(cell, row=row, column=cell.column.replace(P, name, 1)))
    none = "" if cells else NO_MODELS
    return Exhibit(**describe("tests", none=none), cells=cells, remarks=remarks)


# Running text

GRANITE = ("granite-3.3-2b-base", "granite-3.3-8b-base")
NOUN, PRONOUN = "dative_object_noun", "dative_object_pronoun"
SINGULAR = "oblique_singular_noun"
AVERAGE = "average"
GRANITE_NOUN: shared.Place = ("granite-3.3", NOUN)
ABOVE: shared.Place = (SINGULAR, "models above 90%")
SIGNIFICANT: shared.Place = ("pt vs it", "significant")
TITLES: dict[shared.Place, str] = {
    GRANITE_NOUN: "Granite base models: dative object, noun, about",
    ABOVE: "Masculine singular nouns: models of Table 7 above 90 %",
    SIGNIFICANT: "Gemma, pretrained against tuned: sizes with a significant gap",
}
"""Titles of numbers that measured forms have too, by the keys of the printed numbers."""
LEVELS = (
    (NOUN, formulas.above(0.92), "above 92 %"),
    (PRONOUN, formulas.above(0.92), "above 92 %"),
    ("ergativity_dom", formulas.below(0.9), "below 90 %"),
    ("ergativity_verb_object_agreement", formulas.below(0.9), "below 90 %"),
)
"""Levels of accuracy that the text claims for "most" models, by paradigm."""
RECOMPUTATION = shared.Recomputation(
    {
        **dict.fromkeys((COUNT, formulas.PAPER_TOTAL, PRODUCT, VALUES), "{:,.0f}"),
        of_row("value"): "{text}",
    },
    {
        "models": [name for name in evaluation.PRINTED_NAMES if name != HUMAN],
        "tuned models": evaluation.TUNED,
        "phenomena": [*PHENOMENA],
    },
)


def _on(rows: pd.DataFrame, names: Sequence[str], paradigms: Sequence[str]) -> pd.DataFrame:
    return rows[rows["model"].isin(names) & rows["paradigm"].isin(paradigms)]


def _count(
    cell_key: shared.Place, key: shared.Place | None, rows: pd.DataFrame, formula: Formula
) -> Cell:
    n, where = int(formula(rows)), shared.where_of(rows)
    total = rows["paradigm"].nunique() if rows["paradigm"].nunique() > 1 else len(rows)
    text = f"{n} of {total}"
    return Cell(*cell_key, n, text, formula, "accuracies", where, n=total, stands_for=key)


def text(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Tabulate numbers of the running text, and counts for its claims without a number."""
    rows, names = evaluation.read_paradigms(tables, labels), evaluation.model_names(labels.models)
    complete = [model for model in evaluation.complete_models(rows) if model != HUMAN]
    # The sizes of Gemma that were judged both pretrained and tuned.
    pairs = zip(GEMMA, evaluation.TUNED, strict=True)
    tuned = [model for pair in pairs if {*pair} <= {*complete} for model in pair]
    scores = read_scores(tables, labels, tuned) if tuned else None

    # Numbers computed from accuracies, by the key of the printed number.
    measured: dict[shared.Place, Cell] = {}
    for model in complete:
        key = (model, AVERAGE)
        measured[key] = evaluation.macro_cell(_on(rows, [model], [*PARADIGMS]), key, key)
    granite = _on(rows, GRANITE, [NOUN])
    if len(granite):
        measured[GRANITE_NOUN] = evaluation.accuracy_cell(
            granite, GRANITE_NOUN, labels, GRANITE_NOUN
        )
    facts = labels.facts["urblimp_models"]
    base = [model for model in complete if not evaluation.is_instructed(model, facts)]
    singular = _on(rows, base, [SINGULAR])
    if len(singular):
        measured[ABOVE] = _count(ABOVE, ABOVE, singular, formulas.above(0.9))
    if scores:
        formula, key = formulas.significant(ALPHA, formulas.TUNED), SIGNIFICANT
        n, total = int(formula(scores.rows)), len(tuned) // 2
        cell = Cell(*key, n, f"{n} of {total}", formula, scores.source, scores.where, n=total)
        measured[key] = replace(cell, stands_for=key)

    # Counts of models or paradigms for claims without a number.
    claims: list[Cell] = []
    for paradigm, formula, level in LEVELS:
        paradigm_rows = _on(rows, complete, [paradigm])
        if len(paradigm_rows):
            title = f"{PARADIGMS[paradigm]}, models {level}"
            claims.append(_count((title, shared.VALUE), None, paradigm_rows, formula))
    if {*RIVALS} <= {*complete}:
        rivals = _on(rows, RIVALS, [*PARADIGMS])
        small, *large = (names[model] for model in RIVALS)
        title = f"{small} ahead of {' and '.join(large)}: paradigms"
        claims.append(_count((title, shared.VALUE), None, rivals, formulas.ahead(RIVALS[0])))
    for cell in pair_cells(scores, formulas.TUNED, names, {}) if scores else ():
        claims.append(replace(cell, row=f"{cell.row}: {cell.column}", column=shared.VALUE))

    if labels.source == "measured":
        best = choose_models(TOP, complete)
        titles = {(model, AVERAGE): f"{names[model]}: average" for model in best} | TITLES
        cells = []
        for key in (key for key in titles if key in measured):
            cells.append(replace(measured[key], row=titles[key], column=shared.VALUE))
        return Exhibit(**describe("text"), cells=[*cells, *claims])

    def recomputed(key: shared.Place, title: str) -> Cell | None:
        # The cell of a printed number, if the paper's accuracies are enough to compute it.
        cell_key = (title, shared.AGAIN)
        if key == ("dataset", "paradigms"):
            return paradigms_cell(table_models(tables, labels), cell_key, key)
        if key == ("human", "accuracy"):
            return evaluation.accuracy_cell(_on(rows, [HUMAN], [*PARADIGMS]), cell_key, labels, key)
        if key in measured and (key in TITLES or key[0] in TOP):
            return replace(measured[key], row=title, column=shared.AGAIN)
        return None

    cells, _ = shared.printed_statements(shared.read_printed(tables), RECOMPUTATION, recomputed)
    recomputed_cells = [replace(cell, column=shared.AGAIN) for cell in claims]
    return Exhibit(**describe("text_published"), cells=[*cells, *recomputed_cells])
