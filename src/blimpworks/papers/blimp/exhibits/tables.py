"""Tables of BLiMP: 1 (related work), 2 (phenomena), 3 and 4 (accuracies).

Source: Warstadt et al. (2020).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, PARADIGM_COUNT, UNWEIGHTED, select_rows
from blimpworks.exhibits.shared import Tables, best_of_each, printed_cell, read_plain, read_printed
from blimpworks.papers.blimp.exhibits.accuracies import (
    HALF_UP,
    OWN,
    RELEASED,
    computed_cell,
    mean_cell,
    of_model,
    of_phenomenon,
    read_humans,
    read_own,
    read_released,
    shown,
    told_of_models,
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
from blimpworks.tables import ACCURACIES, ITEMS, read_table

RELATED = {
    "anaphora_binding": "Anaphora/binding",
    "subject_verb_agreement": "Subj.-verb agreement",
    "npi_licensing": "Neg. polarity items",
    "filler_gap_islands": "Filler-gap/islands",
    "argument_structure": "Argument structure",
}
"""Rows of Table 1 by their keys."""
OVERALL = "overall"
COLUMNS = {OVERALL: ("", "Overall"), **PHENOMENA}
"""Columns of Table 3 by their keys, and their headings in two lines."""
BY_PAIR, OVERALL_NAME = "Overall, by pair", "Overall"
HEADS = {f"{upper} {lower}".strip(): (upper, lower) for upper, lower in COLUMNS.values()}
HEADS[BY_PAIR] = ("Overall,", "by pair")


def _heading(key: str) -> str:
    return " ".join(COLUMNS[key]).strip()


# Table 1


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Table 1: studies that judge networks by minimal pairs, by phenomenon; there is no more."""
    printed = read_printed(tables)
    cells, studies = [], {}
    for key, name in RELATED.items():
        where = {"exhibit": "table1", "row": key}
        found = printed[(printed["exhibit"] == "table1") & (printed["row"] == key)]
        n = len(found)
        cells.append(Cell(name, "Studies", n, str(n), COUNT, "published", where))
        studies[name] = {"Which": "; ".join(found["text"])}
    return Exhibit(
        "Related work by phenomenon",
        "Studies of neural networks' acceptability judgements on minimal pairs, mainly English, "
        "as the paper lists them.",
        cells,
        row_title="Phenomenon",
        remarks=studies,
        widths={"Which": 0.55},
    )


# Table 2

_SHOWN = ["item_id", "paradigm", "good", "bad"]
_RANK = {uid: number for number, uid in enumerate(PHENOMENON_OF)}


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Table 2: how many paradigms each phenomenon has, and a pair of it as an example."""
    if labels.source == "published":
        return _published_table2(tables, labels)
    items = pd.concat([read_table(ITEMS, path, _SHOWN).to_pandas() for path in tables["items"]])
    items = items.astype({"paradigm": object})
    cells, examples = [], {}
    for key, name in NAMES.items():
        where = {"paradigm": [*PARADIGMS[key]]}
        found = select_rows(items, where)
        for column, formula in {"N": PARADIGM_COUNT, "Pairs": COUNT}.items() if len(found) else ():
            value = formula(found)
            stands = (key, "N") if column == "N" else None
            cell = Cell(name, column, value, f"{value:,.0f}", formula, "items", where)
            cells.append(replace(cell, stands_for=stands))
            first = found.sort_values("paradigm", key=lambda c: c.map(_RANK), kind="stable").iloc[0]
            examples[name] = {"Acceptable": first["good"], "Unacceptable": first["bad"]}
    return Exhibit(
        "Phenomena and their paradigms",
        "N: paradigms of the phenomenon; pairs of all of them; and the first pair of the first.",
        cells,
        row_title="Phenomenon",
        remarks=examples,
        widths={"Acceptable": 0.35, "Unacceptable": 0.35},
    )


def _published_table2(tables: Tables, labels: Labels) -> Exhibit:
    rows = read_own(tables, labels)
    printed = read_printed(tables).query("exhibit == 'table2'")
    cells = [printed_cell(row, (NAMES[row["row"]], "N")) for _, row in printed.iterrows()]
    for key, name in NAMES.items():
        found = rows[rows["paradigm"].isin(PARADIGMS[key])]
        place = (name, "Rows of Table 4")
        cells.append(computed_cell(found, place, PARADIGM_COUNT, OWN, (key, "N"), "{:.0f}"))
    return Exhibit(
        "Phenomena and their paradigms",
        "N: paradigms of the phenomenon, 1,000 pairs each.",
        cells,
        row_title="Phenomenon",
    )


# Table 3


def _table3_cells(
    rows: pd.DataFrame, source: str, suffix: str, labels: Labels, *, stand: bool
) -> Iterator[Cell]:
    """A row for each model: the mean of its paradigms, overall and by phenomenon."""
    for model, name in shown(rows, labels).items():
        for key in COLUMNS:
            found = of_model(rows, model, of_phenomenon(ALL if key == OVERALL else key))
            if not found.empty:
                place = (f"{name}{suffix}", _heading(key))
                yield mean_cell(found, place, source, (model, key) if stand else None)


def _with_pairs(cells: list[Cell], tables: Tables, labels: Labels) -> list[Cell]:
    """The cells, and after each the accuracy over all its pairs; only the overall one in print.

    Each pair counts once, so paradigms of which more pairs could be judged count for more.
    """
    rows = read_plain(ACCURACIES, tables[OWN][0])
    rows = rows[(rows["method"] == labels.method) & (rows["lang"] == LANG)]
    rows = rows[(rows["benchmark"] == BENCHMARK) & (rows["paradigm"] == ALL)]
    keys = {_heading(key): ALL if key == OVERALL else key for key in COLUMNS}
    found = []
    for cell in cells:
        found.append(cell)
        chosen = {"model": cell.where["model"], "phenomenon": keys[cell.column]}
        for _, row in select_rows(rows, chosen).iterrows():
            column = BY_PAIR if cell.column == OVERALL_NAME else f"{cell.column}, by pair"
            found.append(_pair_cell(row, (cell.row, column)))
    return found


def _pair_cell(row: pd.Series, place: tuple[str, str]) -> Cell:
    """The accuracy of a row of accuracies over all pairs of a phenomenon, or of all."""
    keys = ("benchmark", "lang", "model", "method", "phenomenon", "paradigm")
    value = 100 * row["accuracy"]
    return Cell(
        *place,
        value,
        f"{value + HALF_UP:.1f}",
        UNWEIGHTED,
        OWN,
        {key: row[key] for key in keys},
        n=int(row["n"]),
        low=100 * row["low"],
        high=100 * row["high"],
        printed=place[1] == BY_PAIR,
    )


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3: accuracy of models and humans, overall and by phenomenon.

    The published form has for each model the printed row, what Table 4 makes of it, and what
    the released results do where they are at hand.
    """
    own = read_own(tables, labels)
    if labels.source == "published":
        return _published_table3(own, tables, labels)
    humans = read_humans(tables, labels)
    cells = _with_pairs(list(_table3_cells(own, OWN, "", labels, stand=True)), tables, labels)
    best = best_of_each(cells, {*labels.models.values()}, by="column")
    cells += _table3_cells(humans, RELEASED, "", labels, stand=True)
    return Exhibit(
        "Accuracy of models and humans on BLiMP",
        "Percentage of pairs whose grammatical sentence is the more probable: means of the "
        "paradigms of a phenomenon, and of all; by pair: each pair of all paradigms once. The best "
        "model of each column in bold. Human: single forced choices, as released. By chance: "
        f"50 %. {told_of_models(tables, labels)}"
        "The cells file has 95 % intervals over all pairs of the column.",
        cells,
        row_title="Model",
        heads=HEADS,
        bold=best,
    )


def _published_table3(own: pd.DataFrame, tables: Tables, labels: Labels) -> Exhibit:
    printed = read_printed(tables).query("exhibit == 'table3'")
    released = read_released(tables)
    released = released[released["paradigm"].isin(PHENOMENON_OF)]
    exact = not released.empty
    cells: list[Cell] = []
    for model, name in shown(own, labels).items():
        inside = printed[printed["row"] == model]
        cells += [printed_cell(r, (name, _heading(r["column"]))) for _, r in inside.iterrows()]
        mine = own[own["model"] == model]
        cells += _table3_cells(mine, OWN, ", Table 4", labels, stand=not exact)
        theirs = released[released["model"] == model]
        cells += _table3_cells(theirs, RELEASED, ", released", labels, stand=True)
    told = "and of the released results " if exact else ""
    return Exhibit(
        "Accuracy of models and humans on BLiMP, as printed and from Table 4",
        f"Printed percentages, and below them the means of the paradigms of Table 4 {told}"
        "that they should be. Of the models, overall, filler gap and island effects differ: "
        "their means include two paradigms that the validation rejected; that of argument "
        "structure of TXL has no such cause.",
        cells,
        row_title="Model",
        heads=HEADS,
    )


# Table 4


def _stub() -> dict[str, dict[str, str]]:
    """Phenomenon and prefix method beside each paradigm."""
    prefixes = dict.fromkeys(ONE_PREFIX, "1") | dict.fromkeys(TWO_PREFIX, "2")
    return {
        uid: {"Phenomenon": NAMES[PHENOMENON_OF[uid]], "Prefix": prefixes.get(uid, "")}
        for uid in PHENOMENON_OF
    }


def _single_cells(rows: pd.DataFrame, source: str, suffix: str, labels: Labels) -> Iterator[Cell]:
    """A cell for each model's accuracy on each paradigm, rounded to whole percent."""
    names = shown(rows, labels)
    for uid in PHENOMENON_OF:
        inside = rows[rows["paradigm"] == uid]
        for model, name in names.items():
            found = inside[inside["model"] == model]
            if not found.empty:
                cell = mean_cell(found, (uid, f"{name}{suffix}"), source, (uid, model))
                yield replace(cell, text=f"{cell.value + HALF_UP:.0f}")


def _corrections(printed: pd.DataFrame) -> dict[str, dict[str, str]]:
    """What a row of Table 4 should read, where it is wrong."""
    told = {}
    for uid, found in printed.groupby("row", sort=False):
        right = found["corrected"].fillna(found["value"]).map("{:.0f}".format)
        wrong = (found["fault"] != "").any()
        told[str(uid)] = {"Should read": " ".join(right) if wrong else ""}
    return told


def table4(tables: Tables, labels: Labels) -> Exhibit:
    """Table 4: accuracy of models and humans on each paradigm, in whole percent."""
    if labels.source == "published":
        return _published_table4(tables, labels)
    own, humans = read_own(tables, labels), read_humans(tables, labels)
    cells = list(_single_cells(own, OWN, "", labels))
    cells += _single_cells(humans, RELEASED, "", labels)
    return Exhibit(
        "Accuracy on each paradigm",
        "Percentage of pairs whose grammatical sentence is the more probable; human: single "
        "forced choices, as released. Prefix: the method of that many prefixes that the "
        f"paradigm allows. {told_of_models(tables, labels)}The cells file has 95 % Wilson "
        "intervals.",
        cells,
        row_title="Paradigm",
        stub=_kept(_stub(), cells),
    )


def _kept(stub: Mapping[str, dict[str, str]], cells: list[Cell]) -> dict[str, dict[str, str]]:
    rows = {cell.row for cell in cells}
    return {uid: texts for uid, texts in stub.items() if uid in rows}


def _published_table4(tables: Tables, labels: Labels) -> Exhibit:
    printed = read_printed(tables).query("exhibit == 'table4'")
    names = {**labels.models, HUMAN: "Human"}
    cells = [printed_cell(r, (r["row"], names[r["column"]])) for _, r in printed.iterrows()]
    released = _single_cells(read_released(tables), RELEASED, ", released", labels)
    cells += [replace(cell, printed=False) for cell in released]
    return Exhibit(
        "Accuracy on each paradigm, as printed",
        "Printed percentages. Three groups of numbers stand in each other's rows: those of "
        "argument structure, of determiners and nouns with an adjective, and of humans on "
        "irregular subjects; the last column has them in order. Prefix: the method of that many "
        "prefixes that the paradigm allows. The CSV file also has the released results, where "
        "they are at hand.",
        cells,
        row_title="Paradigm",
        stub=_stub(),
        remarks=_corrections(printed),
    )
