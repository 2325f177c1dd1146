"""Tables of accuracies on UrBLiMP: Tables 4, 7, 8 and 9.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025).
"""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import MEAN
from blimpworks.exhibits.shared import Place, Tables, best_of_each, printed_cell
from blimpworks.papers.urblimp.exhibits import accuracies as acc
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.accuracies import accuracy_cell, macro_cell
from blimpworks.papers.urblimp.exhibits.models import is_instructed, names_of
from blimpworks.papers.urblimp.phenomena import HUMAN, PARADIGMS, PHENOMENA

AVERAGE, AVERAGE_HEAD = "average", "Average"
PEOPLE, MACRO_HEAD = "Accuracy", "Mean of the phenomena"
INTERVAL, PAIRS = "95 % interval", "Pairs"
DIGITS = 2


def _best(cells: Sequence[Cell], by: str) -> set[Place]:
    """Return the best cells of each row or column, all that tie as printed."""
    among = {cell.row if by == "column" else cell.column for cell in cells} - {AVERAGE_HEAD}
    return best_of_each(cells, among, by, DIGITS)


def table4(tables: Tables, labels: Labels) -> Exhibit:
    """Table 4: accuracy by phenomenon, means of its paradigms; from print by Tables 7 to 9."""
    rows = acc.read_paradigms(tables, labels)
    people = acc.read_people(tables)
    people = people[people["paradigm"].isin(rows["paradigm"])]
    rows = rows if people.empty else pd.concat([rows, people], ignore_index=True)
    printed = acc.printed_of(tables, labels, "table4")
    complete, present = acc.complete(rows), {*rows["paradigm"]}
    # Paradigms of each phenomenon that any model has been judged on.
    paradigms = {
        phenomenon: judged
        for phenomenon, (_, every) in PHENOMENA.items()
        if (judged := [name for name in every if name in present])
    }
    human = {HUMAN: HUMAN} if (rows["model"] == HUMAN).any() else {}
    names = names_of({**labels.models, **human})
    cells: list[Cell] = []
    for model, name in names.items():
        of_model = rows[rows["model"] == model]
        as_printed = {p: printed[model, p] for p in paradigms if (model, p) in printed}
        for phenomenon, judged in paradigms.items():
            cell_key, key = (name, PHENOMENA[phenomenon][0]), (model, phenomenon)
            inside = of_model[of_model["phenomenon"] == phenomenon]
            if len(inside) == len(judged):
                cells.append(accuracy_cell(inside, cell_key, labels, key))
            elif phenomenon in as_printed:
                cells.append(printed_cell(as_printed[phenomenon], cell_key))
        cell_key, key = (name, AVERAGE_HEAD), (model, AVERAGE)
        if model in complete:
            cells.append(macro_cell(of_model, cell_key, key))
        elif as_printed:
            where = {"exhibit": "table4", "row": model, "column": [*as_printed]}
            value = sum(float(row["value"]) for row in as_printed.values()) / len(as_printed)
            text = acc.percent_text(value)
            cells.append(Cell(*cell_key, value, text, MEAN, "published", where, stands_for=key))
    published = labels.source == "published"
    models = [cell for cell in cells if cell.row != names.get(HUMAN)]
    best = set() if published else _best(models, "column")
    form = "table4_published" if published else "table4"
    description = describe(form, preferred=acc.preferred(rows, labels))
    return Exhibit(**description, cells=cells, bold=best)


def _paradigm_table(
    exhibit: str, instructed: bool, kind: str, tables: Tables, labels: Labels
) -> Exhibit:
    """Make a table of paradigms by model, with each paradigm's mean over the models."""
    rows = acc.read_paradigms(tables, labels)
    printed = acc.printed_of(tables, labels, exhibit)
    facts, complete = labels.facts["urblimp_models"], acc.complete(rows)
    with_facts = {name: label for name, label in labels.models.items() if name in facts}
    names = {
        model: name
        for model, name in names_of(with_facts).items()
        if is_instructed(model, facts) == instructed and model in complete
    }
    rows = rows[rows["model"].isin([*names])]
    cells: list[Cell] = []
    for paradigm, inside in rows.groupby("paradigm", sort=False):
        title = PARADIGMS[str(paradigm)]
        by_model = inside.set_index("model", drop=False)
        for model, name in names.items():
            cell_key, key = (title, name), (str(paradigm), model)
            if key in printed:
                cells.append(printed_cell(printed[key], cell_key))
            elif model in by_model.index:
                cells.append(accuracy_cell(by_model.loc[[model]], cell_key, labels, key))
        cell_key, key = (title, AVERAGE_HEAD), (str(paradigm), AVERAGE)
        cells.append(accuracy_cell(inside, cell_key, labels, key))
    # Names in two lines, the lower with the size; in one if all have the same upper line.
    heads = {}
    for name in names.values():
        upper, *lower = name.rsplit("-", 2)
        heads[name] = (upper, "-".join(lower)) if len(lower) > 1 else ("", name)
    if len({upper for upper, _ in heads.values()}) < 2:
        heads = {}
    none = "" if names else " The campaign has judged with no such model."
    return Exhibit(
        **describe("paradigms", kind=kind, preferred=acc.preferred(rows, labels), none=none),
        cells=cells,
        heads=heads,
        bold=_best(cells, "row"),
    )


table7 = partial(_paradigm_table, "table7", False, "pretrained")
"""Table 7: accuracy of each pretrained model on each paradigm, and their mean."""
table8 = partial(_paradigm_table, "table8", True, "instruction-tuned")
"""Table 8: accuracy of each instruction-tuned model on each paradigm, and their mean."""


def table9(tables: Tables, labels: Labels) -> Exhibit:
    """Table 9: accuracy of people on each paradigm, and the mean."""
    cell_key, key = (AVERAGE_HEAD, PEOPLE), (AVERAGE, "accuracy")
    if labels.source == "published":
        rows = acc.read_paradigms(tables, labels)
        cells = [
            printed_cell(number, (PARADIGMS[row], PEOPLE))
            for (row, _), number in acc.printed_of(tables, labels, "table9").items()
            if row != AVERAGE
        ]
        cells.append(accuracy_cell(rows[rows["model"] == HUMAN], cell_key, labels, key))
        return Exhibit(**describe("table9_published"), cells=cells)
    rows = acc.read_people(tables)
    cells = [
        accuracy_cell(inside, (PARADIGMS[str(name)], PEOPLE), labels, (str(name), "accuracy"))
        for name, inside in rows.groupby("paradigm", sort=False)
    ]
    cells.append(accuracy_cell(rows, cell_key, labels, key))
    cells.append(macro_cell(rows, (MACRO_HEAD, PEOPLE)))
    intervals = {c.row: "" if c.low is None else f"{c.low:.1f} to {c.high:.1f}" for c in cells}
    return Exhibit(
        **describe("table9"),
        cells=cells,
        stub={cell.row: {PAIRS: f"{cell.n:,}"} for cell in cells},
        remarks={row: {INTERVAL: interval} for row, interval in intervals.items()},
    )
