"""Numbers that Multi-LMentry gives in running text, as a table; in print only."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, LARGEST, QUOTIENT, Formula, of_row, select_rows
from blimpworks.exhibits.shared import Tables, printed_cell, read_printed
from blimpworks.papers.lmentry.exhibits.formulas import (
    COLUMNS_BY_VALUE,
    FIVE,
    LEAD,
    SMALLEST,
    rank_of,
)
from blimpworks.papers.lmentry.exhibits.names import AVERAGE, HEADS, LANGUAGES, MODELS
from blimpworks.papers.lmentry.tasks import TASKS

PRINTED, AGAIN = "Printed", "Recomputed"


@dataclass(frozen=True, slots=True)
class Rule:
    """The formula, and the rows of other printed numbers, that give a number."""

    formula: Formula
    where: Mapping[str, Any]


def _printed(exhibit: str, row: Any, column: Any) -> dict[str, Any]:
    return {"exhibit": exhibit, "row": row, "column": column}


def _copied(exhibit: str, row: str, column: str) -> Rule:
    return Rule(of_row("value"), _printed(exhibit, row, column))


LMS = [f"{lang} lms" for lang in LANGUAGES]
ACCURACIES = [f"{lang} accuracy" for lang in LANGUAGES]
NOT_IN_BASQUE = ("homophones", "rhyming_word_orthographically_different")
BASQUE = [task for task in HEADS if task not in NOT_IN_BASQUE]
CORRECT = Rule(QUOTIENT, _printed("text", "learners", ["correct", "examples"]))
SIZES = _printed("table3", [*MODELS], "size")
RULES: dict[tuple[str, str], Rule] = {
    ("benchmark", "languages"): Rule(COUNT, _printed("table2", [*LANGUAGES], "samples")),
    ("benchmark", "new languages"): Rule(
        COUNT, _printed("table2", [lang for lang in LANGUAGES if lang != "eng"], "samples")
    ),
    ("benchmark", "tasks"): Rule(COUNT, _printed("table54", [*TASKS], "eng")),
    ("benchmark", "samples"): _copied("table2", "all", "samples"),
    ("models", "models"): Rule(COUNT, SIZES),
    ("models", "smallest"): Rule(SMALLEST, SIZES),
    ("models", "largest"): Rule(LARGEST, SIZES),
    ("agreement eng", "accuracy"): _copied("table52", "global_accuracy", "agreement"),
    ("agreement eus", "accuracy"): _copied("table53", "global_accuracy", "agreement"),
    ("learners", "examples"): Rule(FIVE, _printed("table54", BASQUE, "eus")),
    ("learners", "accuracy"): CORRECT,
    ("learners", "accuracy, rounded"): CORRECT,
    **{
        (AVERAGE, column): _copied("table4", AVERAGE, column)
        for column in (
            "eng lms",
            "eng accuracy",
            "deu lms",
            "deu accuracy",
            "spa lms",
            "eus lms",
        )
    },
    (AVERAGE, "lead of English, lms"): Rule(LEAD, _printed("table4", AVERAGE, LMS)),
    (AVERAGE, "lead of English, accuracy"): Rule(LEAD, _printed("table4", AVERAGE, ACCURACIES)),
    **{
        (AVERAGE, f"rank of {lang}"): Rule(
            rank_of(f"{lang} lms", COLUMNS_BY_VALUE), _printed("table4", AVERAGE, LMS)
        )
        for lang in ("kor", "deu")
    },
    ("best", "deu lms"): Rule(LARGEST, _printed("table4", [*MODELS], "deu lms")),
    (AVERAGE, "robustness"): Rule(SMALLEST, _printed("table5", AVERAGE, [*LANGUAGES])),
}
"""By row and column of the printed number."""


def _name(row: pd.Series) -> str:
    names = {lang: language.name for lang, language in LANGUAGES.items()} | {"lms": "LMS"}
    words = re.split(r"\b", f"{row['row']}: {row['column']}")
    text = "".join(names.get(word, word) for word in words)
    return text[0].upper() + text[1:]


def text(tables: Tables, labels: Labels) -> Exhibit:
    """What the text says of the benchmark, the models, the annotators and the results."""
    printed = read_printed(tables)
    cells = []
    for _, row in printed[printed["exhibit"] == "text"].iterrows():
        place = (row["row"], row["column"])
        cells.append(printed_cell(row, (_name(row), PRINTED)))
        rule = RULES.get(place)
        if rule:
            value = rule.formula(select_rows(printed, dict(rule.where)))
            shown = f"{value:.6g}"
            cells.append(
                Cell(
                    _name(row),
                    AGAIN,
                    value,
                    shown,
                    rule.formula,
                    "published",
                    rule.where,
                    stands_for=place,
                )
            )
    return Exhibit(
        "Statements about the benchmark, the models and the results",
        "As the paper prints them, beside what its tables make of them. Averages of models are "
        "those that Table 4 prints, which its rows do not have. The leads of English and the level "
        "of robustness are bounds: the leads hold once they are rounded to whole points, the "
        "level does not.",
        cells,
        row_title="Statement",
    )
