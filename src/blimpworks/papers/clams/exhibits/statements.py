"""The numbers that CLAMS gives in running text, as a table.

Source: Mueller et al. (2020), sections 5 and 6 and appendices B to D.
"""

import math
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import ValidationInfo, field_validator

from blimpworks.campaign.catalogue import Names
from blimpworks.campaign.table_files import read_rows
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import KINDS, LARGEST
from blimpworks.exhibits.shared import Tables, formula_cell, read_printed
from blimpworks.exhibits.statements import (
    AGAIN,
    PRINTED,
    VALUE,
    Place,
    Recomputation,
    printed_statements,
)
from blimpworks.papers.clams.exhibits import describe
from blimpworks.papers.clams.exhibits.common import (
    Accuracies,
    Selection,
    read_accuracies,
    shown_languages,
)
from blimpworks.papers.clams.exhibits.figures import (
    complexities,
    in_order,
    read_morphology,
    scored_everywhere,
)
from blimpworks.papers.clams.exhibits.formulas import FEWEST, LEAD, LEAST, MOST, MOST_FEATURES, rho
from blimpworks.papers.clams.items.constructions import (
    AGREEMENT,
    CAPITALS,
    CONSTRUCTIONS,
    LANGUAGES,
    construction_of,
)
from blimpworks.strict import Strict

ENOUGH = 3
"""Languages that a rank correlation is given of."""
RECOMPUTATION = Recomputation({LEAD: "{:.0f}", LARGEST: "{:.2f}"})
FORMATS = {KINDS: "{:.0f}", LEAST: "{:.2f}", MOST: "{:.2f}"}
"""Formulas of claims, and the formats of their numbers."""
FORMULAS = {formula.sentence: formula for formula in FORMATS}
EXPECTED = {
    "formula": ("", *FORMULAS),
    "langs": LANGUAGES,
    "constructions": tuple(CONSTRUCTIONS),
    "phenomena": (AGREEMENT, CAPITALS),
}
"""What the cells of claims can have, by column."""


class Claim(Strict):
    """A number of the text that accuracies decide, and which ones.

    Without a formula it is the rank correlation of accuracy and morphological complexity.
    """

    row: str
    """Key of the printed number; empty for one that is not printed."""
    column: str
    title: str
    formula: str
    part: Literal["mono", "multi", "mbert"]
    langs: Names
    constructions: Names
    phenomena: Names

    @field_validator("formula", "langs", "constructions", "phenomena")
    @classmethod
    def _known(cls, value: str | tuple[str, ...], info: ValidationInfo) -> str | tuple[str, ...]:
        """Raise ValueError for a value that is none of ``EXPECTED``."""
        expected = EXPECTED[str(info.field_name)]
        if not {*([value] if isinstance(value, str) else value)} <= {*expected}:
            raise ValueError(f"expected {', '.join(filter(None, expected))}")
        return value

    @property
    def place(self) -> Place | None:
        """The printed number that it is; None for one that is not printed."""
        return (self.row, self.column) if self.row else None


CLAIMS = read_rows(Claim, Path(__file__).with_name("claims.tsv"))
CWALS = {
    ("CWALS", "fewest features"): ("Morphological features of a language: fewest", FEWEST),
    ("CWALS", "most features"): ("Morphological features of a language: most", MOST_FEATURES),
}


def _claims(accuracies: Accuracies, column: str) -> list[Cell]:
    cells = []
    for claim in CLAIMS:
        inside = accuracies.of(claim.part, claim.langs, claim.constructions, claim.phenomena)
        if claim.formula and {*inside.rows["lang"]} == {*claim.langs}:
            formula = FORMULAS[claim.formula]
            text = FORMATS[formula].format(formula(inside.rows))
            place = (claim.title, column)
            cells.append(inside.cell(place, formula, stands_for=claim.place, text=text))
    return cells


def _complete(accuracies: Accuracies, claim: Claim) -> Selection | None:
    """Accuracies on the constructions that all languages have; None if there are none."""
    rows = accuracies.of(claim.part, claim.langs, claim.constructions, claim.phenomena).rows
    known = rows.assign(construction=rows["paradigm"].map(construction_of))
    shared = scored_everywhere(known, claim.constructions, claim.langs)
    if not shared or not {*claim.phenomena} <= {*rows["phenomenon"]}:
        return None
    return accuracies.of(claim.part, claim.langs, shared, claim.phenomena)


def _features(morphology: pd.DataFrame, column: str) -> list[Cell]:
    """How many features the complexity is a mean of."""
    cells = []
    for place, (title, formula) in CWALS.items() if not morphology.empty else ():
        where = {"lang": sorted({*morphology["lang"]})}
        at, source = (title, column), "morphology"
        cells.append(formula_cell(morphology, at, formula, source, where, ".0f", stands_for=place))
    return cells


def text(tables: Tables, labels: Labels) -> Exhibit:
    """The correlations and other numbers of the text."""
    accuracies, languages = read_accuracies(tables, labels), shown_languages(labels)
    paper = [lang for lang in LANGUAGES if lang in languages]
    morphology = read_morphology(tables, paper)
    column = AGAIN if labels.source == "published" else VALUE
    cells = _claims(accuracies, column) + _features(morphology, column)
    # Rank correlations of the claims whose languages all have a ``known`` complexity.
    known = complexities(morphology)
    for claim in CLAIMS:
        if claim.formula or not {*claim.langs} <= {*known}:
            continue
        inside = _complete(accuracies, claim) if len(claim.langs) >= ENOUGH else None
        if inside is None:
            continue
        order = in_order({lang: known[lang] for lang in claim.langs})
        formula = rho(order, mixed=len(claim.phenomena) > 1)
        value = formula(inside.rows)
        # Languages that are all alike have no ranks.
        if not math.isnan(value):
            text = f"{value:.1f}".replace("-", "−")
            place = (claim.title, column)
            cells.append(inside.cell(place, formula, stands_for=claim.place, text=text))
    without = "" if not morphology.empty else " Without WALS there are no correlations."
    description = describe("text", without=without)
    if labels.source == "published":
        stated, faults = printed_statements(read_printed(tables), RECOMPUTATION)
        again = [cell for cell in stated if cell.column == AGAIN]
        cells = [*(cell for cell in stated if cell.column == PRINTED), *cells, *again]
        description = describe("text_published", faults=faults, without=without)
    return Exhibit(**description, cells=cells)
