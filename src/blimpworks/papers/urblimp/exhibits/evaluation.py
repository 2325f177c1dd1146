"""Tables of accuracies on UrBLiMP: Tables 4, 7, 8 and 9.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025).
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import MEAN
from blimpworks.exhibits.shared import Tables, best_of_each, printed_cell
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.accuracies import (
    Place,
    accuracy_cell,
    complete,
    macro_cell,
    paradigms_of,
    percent_text,
    preferred,
    printed_of,
    read_paradigms,
    read_people,
)
from blimpworks.papers.urblimp.exhibits.models import is_instructed, names_of
from blimpworks.papers.urblimp.phenomena import HUMAN, PARADIGMS, PHENOMENA

AVERAGE = "average"
AVERAGE_HEAD = "Average"
DIGITS = 2
Printed = Mapping[Place, pd.Series]

# Table 4


def _table4_row(
    rows: pd.DataFrame, model: str, name: str, printed: Printed, labels: Labels
) -> list[Cell]:
    """A model's cells by phenomenon: from its paradigms, or else as the paper prints them.

    Last its average, from the same; none where neither is known.
    """
    cells, own = [], rows[rows["model"] == model]
    as_printed = {p: printed[model, p] for p in paradigms_of(rows) if (model, p) in printed}
    for phenomenon, paradigms in paradigms_of(rows).items():
        place, key = (name, PHENOMENA[phenomenon][0]), (model, phenomenon)
        inside = own[own["phenomenon"] == phenomenon]
        if len(inside) == len(paradigms):
            cells.append(accuracy_cell(inside, place, labels, key))
        elif phenomenon in as_printed:
            cells.append(printed_cell(as_printed[phenomenon], place))
    place, key = (name, AVERAGE_HEAD), (model, AVERAGE)
    if model in complete(rows):
        cells.append(macro_cell(own, place, labels, key))
    elif as_printed:
        where = {"exhibit": "table4", "row": model, "column": [*as_printed]}
        value = sum(float(row["value"]) for row in as_printed.values()) / len(as_printed)
        text = percent_text(value)
        cells.append(Cell(*place, value, text, MEAN, "published", where, stands_for=key))
    return cells


def table4(tables: Tables, labels: Labels) -> Exhibit:
    """Table 4: accuracy of each model by phenomenon, the unweighted mean of its paradigms.

    The average is the unweighted mean of the phenomena. The published form is computed from
    the paradigms of Tables 7 to 9; of the models that these leave out it has what Table 4
    prints, and the mean of that. The measured form has people where a campaign has asked them.
    """
    rows = _with_people(read_paradigms(tables, labels), tables)
    printed = printed_of(tables, labels, "table4")
    published = labels.source == "published"
    people = {HUMAN: HUMAN} if (rows["model"] == HUMAN).any() else {}
    names = names_of({**labels.models, **people})
    cells = [
        cell
        for model, name in names.items()
        for cell in _table4_row(rows, model, name, printed, labels)
    ]
    models = [cell for cell in cells if cell.row != names.get(HUMAN)]
    best = set() if published else _best(models, "column")
    key = "table4_published" if published else "table4"
    return Exhibit(**describe(key, preferred=preferred(rows, labels)), cells=cells, bold=best)


def _with_people(rows: pd.DataFrame, tables: Tables) -> pd.DataFrame:
    """Rows of models, and people's on the paradigms that these have been judged on."""
    people = read_people(tables)
    people = people[people["paradigm"].isin(rows["paradigm"])]
    return rows if people.empty else pd.concat([rows, people], ignore_index=True)


def _best(cells: Sequence[Cell], by: str) -> set[Place]:
    """The best cells of each row or column, all when they tie as printed."""
    others = {cell.row if by == "column" else cell.column for cell in cells} - {AVERAGE_HEAD}
    return best_of_each(cells, others, by, DIGITS)


# Tables 7 and 8


def _paradigm_rows(
    rows: pd.DataFrame, names: Mapping[str, str], printed: Printed, labels: Labels
) -> list[Cell]:
    """Cells of paradigms by model, and each paradigm's mean over the models."""
    cells = []
    for paradigm, inside in rows.groupby("paradigm", sort=False):
        title = PARADIGMS[str(paradigm)]
        by_model = inside.set_index("model", drop=False)
        for model, name in names.items():
            place, key = (title, name), (str(paradigm), model)
            if key in printed:
                cells.append(printed_cell(printed[key], place))
            elif model in by_model.index:
                cells.append(accuracy_cell(by_model.loc[[model]], place, labels, key))
        place, key = (title, AVERAGE_HEAD), (str(paradigm), AVERAGE)
        cells.append(accuracy_cell(inside, place, labels, key))
    return cells


def _paradigm_table(
    exhibit: str, instructed: bool, kind: str, tables: Tables, labels: Labels
) -> Exhibit:
    rows = read_paradigms(tables, labels)
    facts = labels.facts["urblimp_models"]
    known = names_of({name: labels.models[name] for name in labels.models if name in facts})
    names = {
        model: name
        for model, name in known.items()
        if is_instructed(model, facts) == instructed and model in complete(rows)
    }
    rows = rows[rows["model"].isin([*names])]
    cells = _paradigm_rows(rows, names, printed_of(tables, labels, exhibit), labels)
    none = "" if names else " The campaign has judged with no such model."
    return Exhibit(
        **describe("paradigms", kind=kind, preferred=preferred(rows, labels), none=none),
        cells=cells,
        heads=_headings(list(names.values())),
        bold=_best(cells, "row"),
    )


def _headings(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Names in two lines; in one if the upper would be the same for all."""
    heads = {name: _two_lines(name) for name in names}
    return heads if len({upper for upper, _ in heads.values()}) > 1 else {}


def _two_lines(name: str) -> tuple[str, str]:
    """A model's name as a heading: what stands before its size, and the rest."""
    parts = name.rsplit("-", 2)
    return ("-".join(parts[:-2]), "-".join(parts[-2:])) if len(parts) > 2 else ("", name)


def table7(tables: Tables, labels: Labels) -> Exhibit:
    """Table 7: accuracy of each pretrained model on each paradigm, and their mean."""
    return _paradigm_table("table7", False, "pretrained", tables, labels)


def table8(tables: Tables, labels: Labels) -> Exhibit:
    """Table 8: accuracy of each instruction-tuned model on each paradigm, and their mean."""
    return _paradigm_table("table8", True, "instruction-tuned", tables, labels)


# Table 9


PEOPLE, MACRO_HEAD = "Accuracy", "Mean of the phenomena"
INTERVAL, PAIRS = "95 % interval", "Pairs"


def table9(tables: Tables, labels: Labels) -> Exhibit:
    """Table 9: how often people chose the grammatical sentence, and the mean of the paradigms."""
    published = labels.source == "published"
    key = (AVERAGE, "accuracy")
    if published:
        rows = read_paradigms(tables, labels)
        rows = rows[rows["model"] == HUMAN]
        cells = [
            printed_cell(number, (PARADIGMS[row], PEOPLE))
            for (row, _), number in printed_of(tables, labels, "table9").items()
            if row != AVERAGE
        ]
    else:
        rows = read_people(tables)
        cells = [
            accuracy_cell(own, (PARADIGMS[str(kind)], PEOPLE), labels, (str(kind), "accuracy"))
            for kind, own in rows.groupby("paradigm", sort=False)
        ]
    cells.append(accuracy_cell(rows, (AVERAGE_HEAD, PEOPLE), labels, key))
    cells += [] if published else [macro_cell(rows, (MACRO_HEAD, PEOPLE), labels)]
    if published:
        return Exhibit(**describe("table9_published"), cells=cells)
    return Exhibit(
        **describe("table9"),
        cells=cells,
        stub={cell.row: {PAIRS: f"{cell.n:,}"} for cell in cells},
        remarks={cell.row: {INTERVAL: _interval_text(cell)} for cell in cells},
    )


def _interval_text(cell: Cell) -> str:
    """The ends of a cell's interval, to one decimal."""
    return "" if cell.low is None or cell.high is None else f"{cell.low:.1f} to {cell.high:.1f}"
