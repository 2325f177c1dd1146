"""Tables of BLiMP: 1 (related work), 2 (phenomena), 3 and 4 (accuracies).

Source: Warstadt et al. (2020).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, PARADIGM_COUNT, select_rows
from blimpworks.exhibits.shared import Tables, best_of_each, printed_cell, read_plain, read_printed
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.accuracies import (
    HALF_UP,
    KEYS,
    OVERALL,
    OWN,
    RELEASED,
    computed_cell,
    formula_cell,
    mean_cell,
    model_names,
    models_sentences,
    of_phenomenon,
    read_humans,
    read_own,
    read_released_paradigms,
    row_accuracy_cell,
    rows_of_model,
)
from blimpworks.papers.blimp.paradigms import (
    BENCHMARK,
    HUMAN,
    LANG,
    NAMES,
    ONE_PREFIX,
    PARADIGMS,
    PHENOMENA,
    PHENOMENON_OF,
    TWO_PREFIX,
)
from blimpworks.tables import ACCURACIES, ITEMS

RELATED = {
    "anaphora_binding": "Anaphora/binding",
    "subject_verb_agreement": "Subj.-verb agreement",
    "npi_licensing": "Neg. polarity items",
    "filler_gap_islands": "Filler-gap/islands",
    "argument_structure": "Argument structure",
}
"""Rows of Table 1 by their keys."""
COLUMNS = {OVERALL: ("", "Overall"), **PHENOMENA}
"""Columns of Table 3 by their keys, and their headings in two lines."""
HEADINGS = {key: " ".join(lines).strip() for key, lines in COLUMNS.items()}
"""The headings in one line, which are also the names of the cells' columns."""
BY_PAIR = "Overall, by pair"
HEADS = {HEADINGS[key]: lines for key, lines in COLUMNS.items()} | {
    BY_PAIR: ("Overall,", "by pair")
}


# Table 1


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Table 1: studies that judge networks by minimal pairs, by phenomenon, as printed."""
    printed = read_printed(tables)
    cells, studies = [], {}
    for key, name in RELATED.items():
        where = {"exhibit": "table1", "row": key}
        rows = select_rows(printed, where)
        cells.append(shared.formula_cell(rows, (name, "Studies"), COUNT, "published", where))
        studies[name] = {"Which": "; ".join(rows["text"])}
    return Exhibit(**describe("table1"), cells=cells, remarks=studies, widths={"Which": 0.55})


# Table 2

_RANK = {uid: number for number, uid in enumerate(PHENOMENON_OF)}


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Table 2: how many paradigms each phenomenon has, and a pair of it as an example."""
    if labels.source == "published":
        return _published_table2(tables, labels)
    columns = ["item_id", "paradigm", "good", "bad"]
    items = read_plain(ITEMS, tables["items"], columns)
    cells, examples = [], {}
    for key, name in NAMES.items():
        where = {"paradigm": [*PARADIGMS[key]]}
        rows = select_rows(items, where)
        if rows.empty:
            continue
        number = formula_cell(rows, (name, "N"), PARADIGM_COUNT, "items", where)
        cells.append(replace(number, stands_for=(key, "N")))
        cells.append(formula_cell(rows, (name, "Pairs"), COUNT, "items", where))
        first = rows.sort_values("paradigm", key=lambda c: c.map(_RANK), kind="stable").iloc[0]
        examples[name] = {"Acceptable": first["good"], "Unacceptable": first["bad"]}
    return Exhibit(
        **describe("table2"),
        cells=cells,
        remarks=examples,
        widths={"Acceptable": 0.35, "Unacceptable": 0.35},
    )


def _published_table2(tables: Tables, labels: Labels) -> Exhibit:
    rows = read_own(tables, labels)
    printed = read_printed(tables, exhibit="table2")
    cells = [printed_cell(row, (NAMES[row["row"]], "N")) for _, row in printed.iterrows()]
    for key, name in NAMES.items():
        inside = rows[rows["paradigm"].isin(PARADIGMS[key])]
        place = (name, "Rows of Table 4")
        cells.append(computed_cell(inside, place, PARADIGM_COUNT, OWN, (key, "N"), "{:.0f}"))
    return Exhibit(**describe("table2_published"), cells=cells)


# Table 3


def _table3_cells(
    rows: pd.DataFrame, source: str, labels: Labels, suffix: str = "", *, stand: bool = True
) -> Iterator[Cell]:
    """A row for each model: the mean of its paradigms, overall and by phenomenon."""
    for model, name in model_names(rows, labels).items():
        for key, heading in HEADINGS.items():
            inside = rows_of_model(rows, model, of_phenomenon(key))
            if not inside.empty:
                stands_for = (model, key) if stand else None
                yield mean_cell(inside, (f"{name}{suffix}", heading), source, stands_for)


def _with_pairs(cells: list[Cell], tables: Tables, labels: Labels) -> Iterator[Cell]:
    """The cells, and after each the accuracy over all its pairs; only the overall one in print.

    Each pair counts once, so paradigms of which more pairs could be judged count for more.
    """
    rows = read_plain(ACCURACIES, tables[OWN][0])
    where = {"method": labels.method, "lang": LANG, "benchmark": BENCHMARK, "paradigm": ALL}
    rows = select_rows(rows, where)
    phenomena = {heading: key for key, heading in HEADINGS.items()} | {HEADINGS[OVERALL]: ALL}
    for cell in cells:
        yield cell
        chosen = {"model": cell.where["model"], "phenomenon": phenomena[cell.column]}
        for _, row in select_rows(rows, chosen).iterrows():
            place = (cell.row, f"{cell.column}, by pair")
            by_pair = row_accuracy_cell(row, place, OWN, (*KEYS, "phenomenon"))
            yield replace(by_pair, printed=place[1] == BY_PAIR)


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3: accuracy of models and humans, overall and by phenomenon.

    The published form has for each model the printed row, the one computed from Table 4, and
    with the release the one computed from the released results.
    """
    own = read_own(tables, labels)
    if labels.source == "published":
        return _published_table3(own, tables, labels)
    cells = [*_with_pairs([*_table3_cells(own, OWN, labels)], tables, labels)]
    best = best_of_each(cells, {*labels.models.values()}, by="column")
    cells += _table3_cells(read_humans(tables, labels), RELEASED, labels)
    return Exhibit(
        **describe("table3", models=models_sentences(tables, labels)),
        cells=cells,
        heads=HEADS,
        bold=best,
    )


def _published_table3(own: pd.DataFrame, tables: Tables, labels: Labels) -> Exhibit:
    printed = read_printed(tables, exhibit="table3")
    released = read_released_paradigms(tables)
    exact = not released.empty
    cells: list[Cell] = []
    for model, name in model_names(own, labels).items():
        inside = printed[printed["row"] == model]
        cells += [printed_cell(r, (name, HEADINGS[r["column"]])) for _, r in inside.iterrows()]
        rows = own[own["model"] == model]
        cells += _table3_cells(rows, OWN, labels, ", Table 4", stand=not exact)
        rows = released[released["model"] == model]
        cells += _table3_cells(rows, RELEASED, labels, ", released")
    source = "and of the released results " if exact else ""
    return Exhibit(**describe("table3_published", source=source), cells=cells, heads=HEADS)


# Table 4


SHOULD_READ = "Should read"


def _stub(cells: list[Cell]) -> dict[str, dict[str, str]]:
    """Phenomenon and prefix method beside each paradigm that has cells."""
    prefixes = dict.fromkeys(ONE_PREFIX, "1") | dict.fromkeys(TWO_PREFIX, "2")
    rows = {cell.row for cell in cells}
    return {
        uid: {"Phenomenon": NAMES[phenomenon], "Prefix": prefixes.get(uid, "")}
        for uid, phenomenon in PHENOMENON_OF.items()
        if uid in rows
    }


def _table4_cells(
    rows: pd.DataFrame, source: str, labels: Labels, suffix: str = ""
) -> Iterator[Cell]:
    """A cell for each model's accuracy on each paradigm, rounded to whole percent."""
    names = model_names(rows, labels)
    for uid in PHENOMENON_OF:
        for model, name in names.items():
            single = rows_of_model(rows, model, [uid])
            if not single.empty:
                cell = mean_cell(single, (uid, f"{name}{suffix}"), source, (uid, model))
                yield replace(cell, text=f"{cell.value + HALF_UP:.0f}")


def _corrections(
    printed: pd.DataFrame, names: Mapping[str, str]
) -> tuple[dict[str, dict[str, str]], dict[str, tuple[str, str]]]:
    """What numbers of Table 4 should read, where they are wrong: by row, and the headings."""
    columns = {model: f"{SHOULD_READ}, {name}" for model, name in names.items()}
    remarks = {str(uid): dict.fromkeys(columns.values(), "") for uid in printed["row"]}
    for _, row in printed[printed["corrected"].notna()].iterrows():
        remarks[row["row"]][columns[row["column"]]] = f"{row['corrected']:.0f}"
    return remarks, {columns[model]: (SHOULD_READ, name) for model, name in names.items()}


def table4(tables: Tables, labels: Labels) -> Exhibit:
    """Table 4: accuracy of models and humans on each paradigm, in whole percent."""
    if labels.source == "published":
        return _published_table4(tables, labels)
    cells = [
        *_table4_cells(read_own(tables, labels), OWN, labels),
        *_table4_cells(read_humans(tables, labels), RELEASED, labels),
    ]
    return Exhibit(
        **describe("table4", models=models_sentences(tables, labels)),
        cells=cells,
        stub=_stub(cells),
    )


def _published_table4(tables: Tables, labels: Labels) -> Exhibit:
    printed = read_printed(tables, exhibit="table4")
    names = {**labels.models, HUMAN: "Human"}
    cells = [printed_cell(r, (r["row"], names[r["column"]])) for _, r in printed.iterrows()]
    released = _table4_cells(read_released_paradigms(tables), RELEASED, labels, ", released")
    cells += [replace(cell, printed=False) for cell in released]
    shown = {model: names[model] for model in dict.fromkeys(printed["column"])}
    remarks, heads = _corrections(printed, shown)
    return Exhibit(
        **describe("table4_published"),
        cells=cells,
        stub=_stub(cells),
        remarks=remarks,
        heads=heads,
    )
