"""The numbers that UrBLiMP gives in running text, and what its claims without numbers count.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), sections 1 to 4 and appendix B.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, PRODUCT, VALUES, Formula, select_rows
from blimpworks.exhibits.shared import Tables, printed_cell
from blimpworks.papers.urblimp.exhibits.accuracies import (
    Place,
    accuracy_cell,
    complete,
    macro_cell,
    printed_of,
    read_paradigms,
    where_of,
)
from blimpworks.papers.urblimp.exhibits.data import kinds_cell, printed_total, table_models
from blimpworks.papers.urblimp.exhibits.formulas import TUNED as TUNED_PAIRS
from blimpworks.papers.urblimp.exhibits.formulas import (
    above,
    ahead,
    below,
    corrected_tests,
    significant,
)
from blimpworks.papers.urblimp.exhibits.models import (
    BERT,
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

VALUE, PRINTED, AGAIN = "Value", "Printed", "Recomputed"
GRANITE = ("granite-3.3-2b-base", "granite-3.3-8b-base")
NOUN, PRONOUN = "dative_object_noun", "dative_object_pronoun"
SINGULAR = "oblique_singular_noun"
TITLES: dict[Place, str] = {
    ("dataset", "pairs"): "Data set: pairs",
    ("dataset", "phenomena"): "Data set: phenomena",
    ("dataset", "paradigms"): "Data set: paradigms",
    ("dataset", "models"): "Models evaluated",
    ("human", "accuracy"): "People: accuracy, mean of the paradigms",
    ("blimp", "pairs"): "BLiMP: pairs",
    ("multiblimp", "urdu pairs"): "MultiBLiMP: pairs of Urdu",
    ("multiblimp", "languages"): "MultiBLiMP: languages",
    ("treebank", "sentences"): "Urdu treebank: sentences",
    ("corpus", "tokens"): "Urdu corpus: tokens",
    ("validation", "participants"): "Validation: participants",
    ("validation", "males"): "Validation: men",
    ("validation", "females"): "Validation: women",
    ("validation", "youngest"): "Validation: age of the youngest",
    ("validation", "oldest"): "Validation: age of the oldest",
    ("validation", "linguists"): "Validation: linguists",
    ("validation", "doctorates"): "Validation: with a doctorate",
    ("validation", "demonstration pairs"): "Validation: pairs for practice, at least",
    ("validation", "pairs per participant"): "Validation: pairs of each participant",
    ("validation", "pairs per paradigm"): "Validation: of these, of each paradigm",
    ("validation", "judgements per pair"): "Validation: judgements of each pair, at least",
    ("validation", "hours"): "Validation: hours for each participant",
    ("validation", "kappa"): "Validation: Fleiss' kappa",
    ("gemma-3", "languages"): "Gemma 3: languages",
    (BERT, "subject_verb_gender"): "mBERT: subject-verb agreement in gender",
    ("mt5-large", "subject_verb_gender"): "mT5-large: subject-verb agreement in gender",
    ("dative_object", "most models above"): "Dative object: most models are above",
    ("granite-3.3", NOUN): "Granite base models: dative object, noun, about",
    ("ergativity", "most models below"): "DOM and verb-object agreement: most models are below",
    (SINGULAR, "level"): "Masculine singular nouns: level",
    (SINGULAR, "models above 90%"): "Masculine singular nouns: models of Table 7 above 90 %",
    ("tests", "alpha"): "Tests: level of significance",
    ("pt vs it", "sizes"): "Gemma, pretrained against tuned: sizes",
    ("pt vs it", "significant"): "Gemma, pretrained against tuned: sizes with a significant gap",
    ("cost", "gpu memory"): "GPU memory",
    ("cost", "decoder-only hours"): "Hours for a decoder",
    ("cost", "encoder-only hours"): "Hours for an encoder",
    ("cost", "70b gpus"): "GPUs for a model of 70B",
    ("cost", "70b hours"): "Hours for a model of 70B",
}
"""What the printed numbers are about, by their keys; a model's average has its name."""


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
    found = view.of([key[0]], [*PARADIGMS])
    return macro_cell(found, place, view.labels, key) if key[0] in view.models else None


def _mean(
    view: View, place: Place, key: Place, models: Sequence[str], paradigms: Sequence[str]
) -> Cell | None:
    found = view.of(models, paradigms)
    return None if found.empty else accuracy_cell(found, place, view.labels, key)


def _count(
    view: View, place: Place, key: Place | None, found: pd.DataFrame, formula: Formula
) -> Cell:
    """How many of some accuracies are as the formula says."""
    n, where = int(formula(found)), where_of(found)
    of = found["paradigm"].nunique() if found["paradigm"].nunique() > 1 else len(found)
    text = f"{n} of {of}"
    return Cell(*place, n, text, formula, "accuracies", where, n=of, stands_for=key)


def _above(view: View, place: Place, key: Place) -> Cell | None:
    facts = view.labels.facts["urblimp_models"]
    models = [model for model in view.models if not is_instructed(model, facts)]
    found = view.of(models, [SINGULAR])
    return None if found.empty else _count(view, place, key, found, above(0.9))


def _tuned_pairs(view: View) -> list[str]:
    """Gemma models of the sizes that there are both pretrained and tuned."""
    pairs = [pair for pair in zip(GEMMA, TUNED, strict=True) if {*pair} <= {*view.models}]
    return [model for pair in pairs for model in pair]


def _significant(view: View, place: Place, key: Place) -> Cell | None:
    models = _tuned_pairs(view)
    if not models:
        return None
    scores = read_scores(view.tables, view.labels, models)
    found = corrected_tests(scores.rows, TUNED_PAIRS)
    n, of = int((found["holm"] < ALPHA).sum()), len(found)
    formula = significant(ALPHA, TUNED_PAIRS)
    made = Cell(*place, n, f"{n} of {of}", formula, scores.source, scores.where, n=of)
    return replace(made, stands_for=key)


def _printed(
    view: View, place: Place, key: Place, formula: Formula, exhibit: str, row: Any, column: Any
) -> Cell:
    """A sum, product or number of other printed numbers."""
    where = {"exhibit": exhibit, "row": row, "column": column}
    printed = pd.DataFrame(printed_of(view.tables, view.labels, exhibit).values())
    value = formula(select_rows(printed, where))
    return Cell(*place, value, f"{value:,.0f}", formula, "published", where, stands_for=key)


def _from_table1(view: View, place: Place, key: Place) -> Cell:
    found = printed_of(view.tables, view.labels, "table1")[key[0], "size"]
    return replace(printed_cell(found, place), stands_for=key)


def _dataset_pairs(view: View, place: Place, key: Place) -> Cell:
    return printed_total(view.tables, place, key)


def _dataset_kinds(view: View, place: Place, key: Place) -> Cell:
    return kinds_cell(table_models(view.tables, view.labels), place, view.labels, key)


SIZES_OF = partial(_printed, formula=COUNT, exhibit="table3", column="size")
MEASURED: dict[Place, Statement] = {
    ("granite-3.3", NOUN): partial(_mean, models=GRANITE, paradigms=[NOUN]),
    (SINGULAR, "models above 90%"): _above,
    ("pt vs it", "significant"): _significant,
}
"""Statements on the results, by the keys of the printed numbers."""
PUBLISHED: dict[Place, Statement] = MEASURED | {
    **{(model, "average"): _average for model in TOP},
    ("dataset", "pairs"): _dataset_pairs,
    ("dataset", "paradigms"): _dataset_kinds,
    ("dataset", "phenomena"): partial(
        _printed, formula=COUNT, exhibit="table4", row=GEMMA[0], column=[*PHENOMENA]
    ),
    ("dataset", "models"): partial(SIZES_OF, row=[name for name in NAMES if name != HUMAN]),
    ("pt vs it", "sizes"): partial(SIZES_OF, row=[*TUNED]),
    ("human", "accuracy"): partial(_mean, models=[HUMAN], paradigms=[*PARADIGMS]),
    ("blimp", "pairs"): _from_table1,
    ("validation", "participants"): partial(
        _printed, formula=VALUES, exhibit="text", row="validation", column=["males", "females"]
    ),
    ("validation", "pairs per participant"): partial(
        _printed,
        formula=PRODUCT,
        exhibit="text",
        row=["validation", "dataset"],
        column=["pairs per paradigm", "paradigms"],
    ),
}
"""The same with what only the paper's own numbers allow."""


# Claims without a number of their own


def _levels(view: View, column: str) -> Iterator[Cell]:
    """How many models are above or below a level that the text names for "most"."""
    for paradigm, formula, level in (
        (NOUN, above(0.92), "above 92 %"),
        (PRONOUN, above(0.92), "above 92 %"),
        ("ergativity_dom", below(0.9), "below 90 %"),
        ("ergativity_verb_object_agreement", below(0.9), "below 90 %"),
    ):
        found = view.of(view.models, [paradigm])
        if len(found):
            title = f"{PARADIGMS[paradigm]}, models {level}"
            yield _count(view, (title, column), None, found, formula)


def _ahead(view: View, column: str) -> Iterator[Cell]:
    """On how many paradigms the small model of Figure 2 is ahead of the larger ones."""
    if not {*RIVALS} <= {*view.models}:
        return
    found = view.of(RIVALS, [*PARADIGMS])
    small, *large = (names_of(view.labels.models)[model] for model in RIVALS)
    title = f"{small} ahead of {' and '.join(large)}: paradigms"
    yield _count(view, (title, column), None, found, ahead(RIVALS[0]))


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

    The published form sets each printed number beside what other printed numbers make of it.
    """
    view = View(tables, labels)
    if labels.source == "published":
        return _published(view)
    best = {(model, "average"): _average for model in chosen(TOP, view.models)}
    statements = (best | MEASURED).items()
    made = (make(view, (view.title(key), VALUE), key) for key, make in statements)
    cells = [cell for cell in made if cell] + list(_claims(view, VALUE))
    return Exhibit(
        "The numbers in the text",
        "Averages of the models that the paper calls its best (without these, of the first), and "
        "what its claims about paradigms and about instruction tuning come to here, where the "
        "campaign has their models; p: as in Tables 5 and 6.",
        cells,
        row_title="Statement",
    )


def _published(view: View) -> Exhibit:
    cells: list[Cell] = []
    for key, found in printed_of(view.tables, view.labels, "text").items():
        title = view.title(key)
        cells.append(printed_cell(found, (title, PRINTED)))
        make = PUBLISHED.get(key)
        again = make(view, (title, AGAIN), key) if make else None
        cells += [again] if again else []
    cells += _claims(view, AGAIN)
    return Exhibit(
        "The numbers in the text, as printed",
        "As the paper prints them, beside what its tables and other numbers make of them; last, "
        "what claims without a number come to.",
        cells,
        row_title="Statement",
    )
