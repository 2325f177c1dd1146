"""The numbers that CLAMS gives in running text, as a table.

Source: Mueller et al. (2020), sections 5 and 6 and appendices B to D.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import KINDS, LARGEST, Formula, select_rows
from blimpworks.exhibits.shared import Tables, printed_cell, read_printed
from blimpworks.papers.clams.exhibits.common import (
    Accuracies,
    read_accuracies,
    shown_languages,
    two_digits,
)
from blimpworks.papers.clams.exhibits.common import (
    Selection as Found,
)
from blimpworks.papers.clams.exhibits.complexity import (
    complexities,
    in_order,
    read_morphology,
    scored_everywhere,
)
from blimpworks.papers.clams.exhibits.facts import MBERT, MONO, MULTI
from blimpworks.papers.clams.exhibits.formulas import FEWEST, LEAD, LEAST, MOST, MOST_FEATURES, rho
from blimpworks.papers.clams.items.constructions import (
    AGREEMENT,
    CAPITALISED,
    CAPITALS,
    CONSTRUCTIONS,
    LANGUAGES,
    construction_of,
)

VALUE, PRINTED, AGAIN = "Value", "Printed", "Recomputed"
ENOUGH = 3
"""Languages that a rank correlation is given of."""


def _but(*left_out: str) -> tuple[str, ...]:
    """The paper's languages without some."""
    return tuple(lang for lang in LANGUAGES if lang not in left_out)


@dataclass(frozen=True, slots=True)
class Claim:
    """A number of the text that accuracies decide: key, wording, and what selects them."""

    row: str
    column: str
    title: str
    formula: Formula
    part: str
    langs: Sequence[str]
    constructions: Sequence[str]


_DISTANT = ("long_vp_coord", "prep")
_RELATIVE = ("subj_rel", "obj_rel_within", "obj_rel_across")
_OTHERS = tuple(key for key in CONSTRUCTIONS if key not in _RELATIVE)
_OF = "in long VP coordination and across PPs, languages but German"
_SUBJECT = "across subject relative clauses"
CLAIMS = (
    Claim(
        "training text",
        "multilingual to monolingual",
        "Multilingual LSTM: languages",
        KINDS,
        MULTI,
        LANGUAGES,
        [*CONSTRUCTIONS],
    ),
    *(
        Claim(
            "LSTM, long VP and PP, German aside",
            key,
            f"LSTM, {_OF}: {key}",
            form,
            MONO,
            _but("deu"),
            _DISTANT,
        )
        for key, form in (("least", LEAST), ("most", MOST))
    ),
    Claim(
        "LSTM, subject relative, German Hebrew Russian",
        "least",
        f"LSTM, {_SUBJECT}, German, Hebrew, Russian: least",
        LEAST,
        MONO,
        ("deu", "heb", "rus"),
        ["subj_rel"],
    ),
    *(
        Claim(
            "LSTM, subject relative, English French",
            key,
            f"LSTM, {_SUBJECT}, English, French: {key}",
            form,
            MONO,
            ("eng", "fra"),
            ["subj_rel"],
        )
        for key, form in (("least", LEAST), ("most", MOST))
    ),
    *(
        Claim(
            f"mBERT, English, {what}",
            key,
            f"mBERT, English, {what}: {key}",
            form,
            MBERT,
            ("eng",),
            c,
        )
        for what, c in (("relative clauses", _RELATIVE), ("other constructions", _OTHERS))
        for key, form in (("least", LEAST), ("most", MOST))
    ),
    Claim(
        "mBERT, German, subject relative",
        "accuracy",
        f"mBERT, German, {_SUBJECT}",
        LEAST,
        MBERT,
        ("deu",),
        ["subj_rel"],
    ),
    Claim(
        "mBERT, German, other constructions",
        "above",
        "mBERT, German, other constructions: least",
        LEAST,
        MBERT,
        ("deu",),
        tuple(key for key in CONSTRUCTIONS if key != "subj_rel"),
    ),
)


@dataclass(frozen=True, slots=True)
class Correlation:
    """A rank correlation of accuracy with morphological complexity, as the text gives it."""

    column: str
    title: str
    part: str
    langs: Sequence[str]
    phenomena: Sequence[str] = (AGREEMENT,)
    stated: bool = True
    """Whether it is what the paper says; the other one is what its number comes from."""


_ABOUT = "Spearman's ρ of accuracy and morphological complexity"
CORRELATIONS = (
    Correlation("LSTM", f"{_ABOUT}: LSTM", MONO, LANGUAGES),
    Correlation("LSTM, German aside", f"{_ABOUT}: LSTM, German aside", MONO, _but("deu")),
    Correlation("mBERT", f"{_ABOUT}: mBERT", MBERT, LANGUAGES),
    Correlation(
        "LSTM, capitals",
        f"{_ABOUT}: LSTM with capitals",
        MONO,
        CAPITALISED,
        (CAPITALS,),
    ),
    Correlation(
        "",
        f"{_ABOUT}: LSTM with capitals, and Hebrew without",
        MONO,
        LANGUAGES,
        (AGREEMENT, CAPITALS),
        stated=False,
    ),
)
CWALS = {
    "fewest features": ("Morphological features of a language: fewest", FEWEST),
    "most features": ("Morphological features of a language: most", MOST_FEATURES),
}
OF_SEEDS = ("SD over seeds", "never exceeds")
SEEDS_TITLE = "LSTM, standard deviation over seeds: largest"
OF_AVERAGES = ("LSTM, average, mono above multi", "least")
AVERAGES_TITLE = "LSTM, average accuracy: monolingual above multilingual, least of all languages"


def _titles() -> dict[tuple[str, str], str]:
    """What the numbers with a rule are called, by key."""
    found = {(claim.row, claim.column): claim.title for claim in CLAIMS}
    found |= {("rho", c.column): c.title for c in CORRELATIONS if c.stated}
    found |= {("CWALS", column): title for column, (title, _) in CWALS.items()}
    return found | {OF_AVERAGES: AVERAGES_TITLE, OF_SEEDS: SEEDS_TITLE}


def _claims(found: Accuracies, column: str) -> list[Cell]:
    cells = []
    for claim in CLAIMS:
        inside = found.of(claim.part, claim.langs, claim.constructions)
        here = (claim.row, claim.column)
        if {*inside.rows["lang"]} == {*claim.langs}:
            text = "{:.0f}".format if claim.formula == KINDS else two_digits
            value = claim.formula(inside.rows)
            place = (claim.title, column)
            cells.append(inside.cell(place, claim.formula, stands_for=here, text=text(value)))
    return cells


def _complete(found: Accuracies, wanted: Correlation, langs: Sequence[str]) -> Found | None:
    """Accuracies on the constructions that all languages have; None if there are none."""
    rows = found.of(wanted.part, langs, CONSTRUCTIONS, wanted.phenomena).rows
    known = rows.assign(construction=rows["paradigm"].map(construction_of))
    shared = scored_everywhere(known, [*CONSTRUCTIONS], langs)
    complete = shared and {*wanted.phenomena} <= {*rows["phenomenon"]}
    return found.of(wanted.part, langs, shared, wanted.phenomena) if complete else None


def _correlations(found: Accuracies, known: Mapping[str, float], column: str) -> list[Cell]:
    cells = []
    for wanted in CORRELATIONS:
        langs = [lang for lang in wanted.langs if lang in known]
        inside = _complete(found, wanted, langs) if len(langs) >= ENOUGH else None
        if inside is None or len(langs) < len(wanted.langs):
            continue
        order = in_order({lang: known[lang] for lang in langs})
        formula = rho(order, mixed=len(wanted.phenomena) > 1)
        value = formula(inside.rows)
        # Languages that are all alike have no ranks.
        if not math.isnan(value):
            shown = f"{value:.1f}".replace("-", "−")
            here = ("rho", wanted.column) if wanted.stated else None
            cells.append(inside.cell((wanted.title, column), formula, stands_for=here, text=shown))
    return cells


def _features(morphology: pd.DataFrame, column: str) -> list[Cell]:
    """How many features the complexity is a mean of."""
    cells = []
    for key, (title, formula) in CWALS.items() if not morphology.empty else ():
        value = formula(morphology)
        where = {"lang": sorted({*morphology["lang"]})}
        place, here = (title, column), ("CWALS", key)
        text = f"{value:.0f}"
        cells.append(Cell(*place, value, text, formula, "morphology", where, stands_for=here))
    return cells


def _of_tables(printed: pd.DataFrame) -> Iterator[Cell]:
    """The least lead of Table 1's monolingual averages, and the largest deviation of Table 5."""
    of_print: tuple[tuple[tuple[str, str], str, Formula, dict[str, str], str], ...] = (
        (OF_AVERAGES, AVERAGES_TITLE, LEAD, {"exhibit": "table1", "row": "average"}, "{:.0f}"),
        (OF_SEEDS, SEEDS_TITLE, LARGEST, {"exhibit": "table5"}, "{:.2f}"),
    )
    for here, title, formula, where, form in of_print:
        value = formula(select_rows(printed, where))
        text = form.format(value)
        yield Cell(title, AGAIN, value, text, formula, "published", where, stands_for=here)


def text(tables: Tables, labels: Labels) -> Exhibit:
    """The correlations and other numbers of the text."""
    found, languages = read_accuracies(tables, labels), shown_languages(labels)
    paper = [lang for lang in LANGUAGES if lang in languages]
    morphology = read_morphology(tables, paper)
    column = AGAIN if labels.source == "published" else VALUE
    cells = _claims(found, column) + _features(morphology, column)
    cells += _correlations(found, complexities(morphology), column)
    without = "" if not morphology.empty else " Without WALS there are no correlations."
    if labels.source == "published":
        return _published(tables, cells, without)
    return Exhibit(
        "The numbers of the text",
        "Of the campaign's models; accuracies as shares of 1, correlations over languages."
        + without,
        cells,
        row_title="Statement",
    )


def _published(tables: Tables, again: list[Cell], without: str) -> Exhibit:
    """Printed numbers of the text, beside what others make of them."""
    printed = read_printed(tables)
    again += _of_tables(printed)
    titles = _titles()
    shown = {}
    for _, row in printed[printed["exhibit"] == "text"].iterrows():
        name = titles.get((row["row"], row["column"]), f"{row['row']}: {row['column']}")
        shown[row["row"], row["column"]] = printed_cell(row, (name, PRINTED))
    cells = [*shown.values(), *again]
    faults = printed[(printed["exhibit"] == "text") & (printed["fault"] != "")]
    told = [f"{shown[r['row'], r['column']].row}: {r['note']}" for _, r in faults.iterrows()]
    return Exhibit(
        "The numbers of the text",
        "As the paper prints them, and from its tables and WALS. "
        + "; ".join(told)
        + "."
        + without,
        cells,
        row_title="Statement",
    )
