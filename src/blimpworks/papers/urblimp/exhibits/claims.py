"""Make UrBLiMP's exhibits of claims: tests between models, and the numbers of the running text.

``table5``, ``table6`` and ``tests`` have pairs of models in rows, and p of Wilcoxon's signed-rank
test before and after Holm's correction in columns. ``text`` has a number of the text in each row.
Input: accuracies of paradigms, or the paper's printed numbers if ``labels.source`` is "published".

A cell is a number with its formula. ``where`` selects the input rows: {column: value or values}.
``cell_key`` is the (row, column) of a cell in our exhibit. ``key`` and ``stands_for`` are the (row,
column) of a printed number, such as ("gemma-3-1b vs gemma-3-4b", "holm").
Source: Adeeba, Dillon, Sajjad and Bhatt (2025): sections 1 to 4, appendix B.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, PRODUCT, SUM, Formula, truncate, truncated
from blimpworks.exhibits.formulas import of_row as column_of_row
from blimpworks.exhibits.shared import Place, Tables
from blimpworks.papers.urblimp.exhibits import describe, evaluation, formulas
from blimpworks.papers.urblimp.exhibits.data import paradigms_cell, table_models
from blimpworks.papers.urblimp.exhibits.evaluation import GEMMA, RIVALS, TOP, choose_models
from blimpworks.papers.urblimp.exhibits.formulas import BY_PARADIGM, BY_PHENOMENON, EACH_OTHER
from blimpworks.papers.urblimp.phenomena import HUMAN, PARADIGMS, PHENOMENA

ALPHA = 0.05
P, HOLM, VERDICT = "p", "p, Holm", "Significant"
"""Columns: p of a test, p after Holm's correction, and whether that is below ``ALPHA``."""
UNIT_PHRASES = {BY_PHENOMENON: "over phenomena", BY_PARADIGM: "over paradigms"}
"""Ends of headings, by a test's unit of observation: accuracies on phenomena or on paradigms."""
DECIMALS = {BY_PHENOMENON: 3, BY_PARADIGM: 5}
"""Number of decimals of p by unit; p is smaller over paradigms, because there are more."""


def read_scores(
    tables: Tables, labels: Labels, models: Sequence[str], over: str = BY_PHENOMENON
) -> pd.DataFrame:
    """Read the scores of ``models`` that tests compare.

    They are accuracies of paradigms (0 to 1). In published forms, tests ``over`` phenomena take the
    numbers of Table 4 (in percent), because the paper tests these rounded numbers: rounding makes
    two unequal differences equal, and changes p.
    """
    if labels.source == "measured" or over == BY_PARADIGM:
        table = evaluation.read_paradigms(tables, labels)
        by_model = [table[table["model"] == model] for model in models]
        return pd.concat([table[:0], *by_model])
    printed = evaluation.printed_numbers(tables, labels, "table4")
    return pd.DataFrame([printed[model, column] for model in models for column in PHENOMENA])


def _origin_of(scores: pd.DataFrame) -> tuple[str, dict[str, Any]]:
    """Return the input table that ``read_scores`` has read, and the filter of rows in it."""
    # Printed numbers have the column "value" instead.
    if "accuracy" in scores:
        return "accuracies", shared.where_of(scores)
    return "published", shared.where_of(scores, shared.PRINTED_KEYS)


def cells_of_tests(
    scores: pd.DataFrame,
    among: str,
    names: Mapping[str, str],
    printed: Mapping[Place, pd.Series],
    over: str = BY_PHENOMENON,
) -> Iterator[Cell]:
    """Yield two cells for each test of the set ``among``: p, and p after Holm's correction.

    ``scores`` are those of ``read_scores``, ``names`` the models' printed names. ``over`` is a
    test's unit of observation: phenomenon or paradigm. A p with a number in ``printed`` (by row and
    column) is truncated to the decimals of this number, as in the paper.
    """
    source, where_of_all = _origin_of(scores)
    for _, test in formulas.corrected_tests(scores, among, over).iterrows():
        first, second = pair = [test["first"], test["second"]]
        row = " and ".join(names[model] for model in pair)
        # A test reads the rows of its two models; Holm's correction reads the rows of all models.
        model_column = "model" if source == "accuracies" else "row"
        _, pair_where = _origin_of(scores[scores[model_column].isin(pair)])
        for column, test_column, formula, where in (
            (P, "p", formulas.signed_rank(over), pair_where),
            (HOLM, "holm", formulas.holm_of(first, second, among, over), where_of_all),
        ):
            p = float(test[test_column])
            text = f"{p:.{DECIMALS[over]}f}"
            cell = Cell(row, column, p, text, formula, source, where, n=int(test["n"]))
            key = (" vs ".join(pair), test_column)
            if key in printed:
                decimals = len(printed[key]["text"].partition(".")[2])
                p, cut_formula = truncate(p, decimals), truncated(formula, decimals)
                text = f"{p:.{decimals}f}"
                cell = replace(cell, value=p, text=text, formula=cut_formula, stands_for=key)
            yield cell


def _rank_models(tables: Tables, labels: Labels) -> list[str]:
    """Return the models that judged all paradigms, the best average over phenomena first."""
    rows = evaluation.read_paradigms(tables, labels)
    rows = rows[rows["model"].isin(evaluation.complete_models(rows))]
    averages = formulas.scores_by(rows, BY_PHENOMENON).mean()
    return list(averages.sort_values(ascending=False, kind="stable").index)


def _tests_table(
    group: str, exhibit: str, preferred: Sequence[str], tables: Tables, labels: Labels
) -> Exhibit:
    """Make a table of tests between the ``preferred`` models, which the caption calls ``group``.

    A campaign with fewer than two of these models has tests between its best models instead.
    """
    measured = labels.source == "measured"
    models = choose_models(preferred, _rank_models(tables, labels)) if measured else preferred
    scores, names = read_scores(tables, labels, models), evaluation.model_names(labels.models)
    printed = evaluation.printed_numbers(tables, labels, exhibit)
    cells = [*cells_of_tests(scores, EACH_OTHER, names, printed)]
    caption_group = group if {*models} <= {*preferred} else "the best"
    values = {"group": caption_group, "measured": measured, "level": ALPHA, "empty": not cells}
    corrected = [cell for cell in cells if cell.column == HOLM]
    remarks = {cell.row: {VERDICT: "yes" if cell.value < ALPHA else "no"} for cell in corrected}
    return Exhibit(**describe("tables5_6", **values), cells=cells, remarks=remarks)


table5 = partial(_tests_table, "pretrained Gemma", "table5", GEMMA)
"""Tabulate Table 5: tests between the pretrained Gemma models, or else between the best."""
table6 = partial(_tests_table, "the best", "table6", TOP)
"""Tabulate Table 6: tests between the best models of the paper, or else of the campaign."""


def tests(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate the tests of Tables 5 and 6 over paradigms instead of phenomena."""
    # This table is for comparison: over phenomena, a phenomenon of one paradigm weighs as much as
    # one of five paradigms, and the ten differences give no p below .002.
    ranked, names = _rank_models(tables, labels), evaluation.model_names(labels.models)
    groups = {"Table 5": choose_models(GEMMA, ranked), "Table 6": choose_models(TOP, ranked)}
    if groups["Table 5"] == groups["Table 6"]:
        groups = {"": groups["Table 5"]}
    cells: list[Cell] = []
    remarks: dict[str, dict[str, str]] = {}
    for title, models in groups.items():
        for over, phrase in UNIT_PHRASES.items():
            scores = read_scores(tables, labels, models, over)
            for cell in cells_of_tests(scores, EACH_OTHER, names, {}, over):
                # Tables 5 and 6 have the uncorrected p over phenomena already.
                if cell.column == P and over == BY_PHENOMENON:
                    continue
                row = f"{cell.row} ({title})" if title else cell.row
                # "p, Holm" becomes "p over paradigms, Holm".
                heading = cell.column.replace(P, f"{P} {phrase}", 1)
                cells.append(replace(cell, row=row, column=heading))
                if cell.column == HOLM:
                    verdicts = remarks.setdefault(row, {})
                    verdicts[f"{VERDICT}, {phrase}"] = "yes" if cell.value < ALPHA else "no"
    return Exhibit(**describe("tests", empty=not cells), cells=cells, remarks=remarks)


# Numbers of the running text

GRANITE = ("granite-3.3-2b-base", "granite-3.3-8b-base")
NOUN, PRONOUN = "dative_object_noun", "dative_object_pronoun"
SINGULAR = "oblique_singular_noun"
AVERAGE = "average"
GRANITE_NOUN: Place = ("granite-3.3", NOUN)
ABOVE: Place = (SINGULAR, "models above 90%")
SIGNIFICANT: Place = ("pt vs it", "significant")
"""Keys of printed numbers. "pt vs it": pretrained models against instruction-tuned ones."""
TITLES: dict[Place, str] = {
    GRANITE_NOUN: "Granite base models: dative object, noun, about",
    ABOVE: "Masculine singular nouns: models of Table 7 above 90 %",
    SIGNIFICANT: "Gemma, pretrained against tuned: sizes with a significant gap",
}
"""Titles of printed numbers that a campaign's accuracies give too, by key."""
LEVELS = (
    (NOUN, formulas.above(0.92), "above 92 %"),
    (PRONOUN, formulas.above(0.92), "above 92 %"),
    ("ergativity_dom", formulas.below(0.9), "below 90 %"),
    ("ergativity_verb_object_agreement", formulas.below(0.9), "below 90 %"),
)
"""(paradigm, formula, level) of claims that "most" models are above or below a level."""
RECOMPUTATION = shared.Recomputation(
    {
        **dict.fromkeys((COUNT, formulas.PAPER_TOTAL, PRODUCT, SUM), "{:,.0f}"),
        column_of_row("value"): "{text}",
    },
    {
        "models": [name for name in evaluation.PRINTED_NAMES if name != HUMAN],
        "tuned models": evaluation.GEMMA_TUNED,
        "phenomena": [*PHENOMENA],
    },
)
"""Formulas that ``text.csv`` of the printed numbers names, with formats; lists that it names."""


def _rows_of(rows: pd.DataFrame, models: Sequence[str], paradigms: Sequence[str]) -> pd.DataFrame:
    return rows[rows["model"].isin(models) & rows["paradigm"].isin(paradigms)]


def _count_cell(
    cell_key: Place, key: Place | None, rows: pd.DataFrame, formula: Formula, total: int
) -> Cell:
    """Make a cell such as "3 of 10", where ``formula`` counts 3 among ``total`` 10."""
    count, (source, where) = int(formula(rows)), _origin_of(rows)
    text = f"{count} of {total}"
    return Cell(*cell_key, count, text, formula, source, where, n=total, stands_for=key)


def _claim_cells(
    rows: pd.DataFrame,
    finished: Sequence[str],
    scores: pd.DataFrame | None,
    names: Mapping[str, str],
) -> Iterator[Cell]:
    """Yield cells for claims that the text makes in words: counts, and tests of ``scores``.

    ``rows`` are accuracies; ``finished`` are the models that judged all paradigms.
    """
    for paradigm, formula, level in LEVELS:
        paradigm_rows = _rows_of(rows, finished, [paradigm])
        if len(paradigm_rows):
            title = f"{PARADIGMS[paradigm]}, models {level}"
            cell_key, total = (title, shared.VALUE), len(paradigm_rows)
            yield _count_cell(cell_key, None, paradigm_rows, formula, total)
    if {*RIVALS} <= {*finished}:
        rivals = _rows_of(rows, RIVALS, [*PARADIGMS])
        small, *large = (names[model] for model in RIVALS)
        title = f"{small} ahead of {' and '.join(large)}: paradigms"
        formula, total = formulas.ahead(RIVALS[0]), rivals["paradigm"].nunique()
        yield _count_cell((title, shared.VALUE), None, rivals, formula, total)
    if scores is not None:
        for cell in cells_of_tests(scores, formulas.TUNED, names, {}):
            yield replace(cell, row=f"{cell.row}: {cell.column}", column=shared.VALUE)


def _number_cells(
    rows: pd.DataFrame, finished: Sequence[str], scores: pd.DataFrame | None, labels: Labels
) -> dict[Place, Cell]:
    """Return the cells of numbers that ``rows`` of accuracies give, by key of the printed number.

    ``finished`` are the models that judged all paradigms. ``scores`` are those of Gemma models,
    each size pretrained and tuned; None without a size that has both.
    """
    cells: dict[Place, Cell] = {}
    for model in finished:
        key = (model, AVERAGE)
        cells[key] = evaluation.macro_cell(_rows_of(rows, [model], [*PARADIGMS]), key, key)
    granite = _rows_of(rows, GRANITE, [NOUN])
    if len(granite):
        cell = evaluation.accuracy_cell(granite, GRANITE_NOUN, labels, GRANITE_NOUN)
        cells[GRANITE_NOUN] = cell
    facts = labels.facts["urblimp_models"]
    base = [model for model in finished if not evaluation.is_instructed(model, facts)]
    singular = _rows_of(rows, base, [SINGULAR])
    if len(singular):
        cells[ABOVE] = _count_cell(ABOVE, ABOVE, singular, formulas.above(0.9), len(singular))
    if scores is not None:
        formula = formulas.significant(ALPHA, formulas.TUNED)
        sizes = formulas.scores_by(scores, BY_PHENOMENON).shape[1] // 2
        cells[SIGNIFICANT] = _count_cell(SIGNIFICANT, SIGNIFICANT, scores, formula, sizes)
    return cells


def text(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate numbers of the running text, and counts for its claims without a number."""
    rows, names = evaluation.read_paradigms(tables, labels), evaluation.model_names(labels.models)
    finished = [model for model in evaluation.complete_models(rows) if model != HUMAN]
    tuned: list[str] = []
    for pair in zip(GEMMA, evaluation.GEMMA_TUNED, strict=True):
        if {*pair} <= {*finished}:
            tuned += pair
    scores = read_scores(tables, labels, tuned) if tuned else None
    numbers = _number_cells(rows, finished, scores, labels)
    claims = _claim_cells(rows, finished, scores, names)

    if labels.source == "measured":
        best = choose_models(TOP, finished)
        titles = {(model, AVERAGE): f"{names[model]}: average" for model in best} | TITLES
        keys = [key for key in titles if key in numbers]
        cells = [replace(numbers[key], row=titles[key], column=shared.VALUE) for key in keys]
        return Exhibit(**describe("text"), cells=[*cells, *claims])

    def recompute(key: Place, title: str) -> Cell | None:
        """Make the cell of a printed number; None if the paper's accuracies do not give it."""
        cell_key = (title, shared.AGAIN)
        if key == ("dataset", "paradigms"):
            return paradigms_cell(table_models(tables, labels), cell_key, key)
        if key == ("human", "accuracy"):
            people = _rows_of(rows, [HUMAN], [*PARADIGMS])
            return evaluation.accuracy_cell(people, cell_key, labels, key)
        if key in numbers and (key in TITLES or key[0] in TOP):
            return replace(numbers[key], row=title, column=shared.AGAIN)
        return None

    cells, _ = shared.printed_statements(shared.read_printed(tables), RECOMPUTATION, recompute)
    cells += [replace(cell, column=shared.AGAIN) for cell in claims]
    return Exhibit(**describe("text_published"), cells=cells)
