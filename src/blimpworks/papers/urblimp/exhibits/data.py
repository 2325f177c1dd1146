"""Tables about UrBLiMP's data and models: Tables 1, 2, 3 and 10.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025).
"""

from collections.abc import Mapping
from math import isnan

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, PARADIGM_COUNT, TOTAL
from blimpworks.exhibits.shared import (
    Tables,
    formula_cell,
    printed_cell,
    read_plain,
    read_printed,
    size_text,
)
from blimpworks.exhibits.texts import language_tag
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.accuracies import (
    Place,
    complete,
    printed_of,
    read_paradigms,
    where_of,
)
from blimpworks.papers.urblimp.exhibits.formulas import IMPLIED, PAPER_TOTAL
from blimpworks.papers.urblimp.exhibits.models import is_instructed, names_of
from blimpworks.papers.urblimp.phenomena import BENCHMARK, HUMAN, LANG, PARADIGMS, PHENOMENA
from blimpworks.tables import ITEMS

DATASETS = {
    "blimp": ("BLiMP", "English", "dictionary, templates"),
    "climp": ("CLiMP", "Chinese", "translation, templates"),
    "sling": ("SLING", "Chinese", "treebank, templates"),
    "turblimp": ("TurBLiMP", "Turkish", "semi-automatic"),
    "rublimp": ("RuBLiMP", "Russian", "semi-automatic"),
    "jblimp": ("JBLiMP", "Japanese", "from articles"),
    "blimp-nl": ("BLiMP-NL", "Dutch", "semi-automatic"),
    "multiblimp": ("MultiBLiMP", "101 languages", "treebanks"),
    "bhs": ("BHS", "Basque, Hindi, Swahili", "dictionary, templates"),
    BENCHMARK: ("UrBLiMP", "Urdu", "text, rules"),
}
"""Name, language and method of the data sets of Table 1."""
SIZE, KINDS, TUNING = "Pairs", "Paradigms", "Instruction-tuned"
EXAMPLE = {"good": "Grammatical", "bad": "Ungrammatical"}
WIDTHS = dict.fromkeys(EXAMPLE.values(), 0.3)


def _items(tables: Tables) -> pd.DataFrame:
    """The campaign's items, as text; raises UserError when a table is missing or broken."""
    columns = ["item_id", "lang", "phenomenon", "paradigm", "good", "bad"]
    items = read_plain(ITEMS, tables["items"], columns)
    return items[(items["lang"] == LANG) & items["paradigm"].isin(PARADIGMS)]


def _example(items: pd.DataFrame) -> dict[str, str]:
    """The sentences of an item, as if drawn at random: the ids are content hashes."""
    first = items.sort_values("item_id").iloc[0]
    return {name: str(first[column]) for column, name in EXAMPLE.items()}


def _in_urdu(examples: Mapping[str, Mapping[str, str]]) -> dict[Place, str]:
    """The language of some examples' sentences, by row and column."""
    return {
        (row, column): language_tag(LANG) for row, texts in examples.items() for column in texts
    }


# What the paper's own numbers say of the size of the data set


def printed_total(tables: Tables, place: Place, key: Place) -> Cell:
    """The pairs of all paradigms by Table 10; of rows we cannot read, those implied."""
    where = {"exhibit": "table10", "column": "n"}
    rows = read_printed(tables, **where)
    return formula_cell(rows, place, PAPER_TOTAL, "published", where, ",.0f", stands_for=key)


def kinds_cell(rows: pd.DataFrame, place: Place, labels: Labels, key: Place) -> Cell:
    """The number of paradigms that some ``rows`` of items or accuracies are of."""
    if "accuracy" in rows:
        source, where = "accuracies", where_of(rows)
    else:
        source, where = "items", {"lang": LANG, "paradigm": list(dict.fromkeys(rows["paradigm"]))}
    return formula_cell(rows, place, PARADIGM_COUNT, source, where, stands_for=key)


def table_models(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Printed accuracies of the models of Tables 7 and 8, which have all paradigms."""
    rows = read_paradigms(tables, labels)
    rows = rows[rows["model"] != HUMAN]
    return rows[rows["model"].isin(complete(rows))]


# Table 1


def _own_row(tables: Tables, labels: Labels) -> list[Cell]:
    """Size and paradigms of UrBLiMP itself: of the campaign, or from the paper's other numbers."""
    name = DATASETS[BENCHMARK][0]
    size, kinds = (BENCHMARK, "size"), (BENCHMARK, "paradigms")
    if labels.source == "published":
        name = f"{name}, Tables 7, 8 and 10"
        rows = table_models(tables, labels)
        total = printed_total(tables, (name, SIZE), size)
        return [total, kinds_cell(rows, (name, KINDS), labels, kinds)]
    items = _items(tables)
    cell = kinds_cell(items, (name, KINDS), labels, kinds)
    total = formula_cell(items, (name, SIZE), COUNT, "items", cell.where, stands_for=size)
    return [total, cell]


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Table 1: data sets of minimal pairs, their size and number of paradigms.

    The measured form has the campaign's own data set alone.
    """
    heads = {"size": SIZE, "paradigms": KINDS}
    cells = [
        printed_cell(number, (DATASETS[row][0], heads[column]))
        for (row, column), number in printed_of(tables, labels, "table1").items()
    ]
    cells += _own_row(tables, labels)
    names = {cell.row for cell in cells}
    about = {name: facts for name, *facts in DATASETS.values() if name in names}
    return Exhibit(
        **describe("table1"),
        cells=cells,
        stub={name: {"Language": language} for name, (language, _) in about.items()},
        remarks={name: {"Method": how} for name, (_, how) in about.items()},
    )


# Table 2


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Table 2: the phenomena with their number of paradigms; measured, with a pair of each."""
    published = labels.source == "published"
    rows = table_models(tables, labels) if published else _items(tables)
    cells: list[Cell] = []
    examples: dict[str, dict[str, str]] = {}
    for phenomenon, (name, _) in PHENOMENA.items():
        own = rows[rows["phenomenon"] == phenomenon]
        if not own.empty:
            cells.append(kinds_cell(own, (name, KINDS), labels, (phenomenon, "n")))
            examples |= {} if published else {name: _example(own)}
    return Exhibit(
        **describe(
            "table2",
            and_more=", as many as Tables 7 and 8 have." if published else ", and one pair of it.",
        ),
        cells=cells,
        remarks=examples,
        widths=WIDTHS,
        textual=not published,
        written_in=_in_urdu(examples),
    )


# Table 10


def table10(tables: Tables, labels: Labels) -> Exhibit:
    """Table 10: pairs of each paradigm; measured, with one of them.

    In the published form N is as printed, beside the number that the accuracies of Tables 7
    and 8 are shares of.
    """
    return (
        _published_table10(tables, labels)
        if labels.source == "published"
        else _measured_table10(_items(tables))
    )


def _measured_table10(items: pd.DataFrame) -> Exhibit:
    cells, examples = [], {}
    for paradigm, name in PARADIGMS.items():
        own = items[items["paradigm"] == paradigm]
        if own.empty:
            continue
        where = {"lang": LANG, "paradigm": paradigm}
        more = {"n": len(own), "stands_for": (paradigm, "n")}
        cells.append(formula_cell(own, (name, "N"), COUNT, "items", where, "d", **more))
        examples[name] = _example(own)
    return Exhibit(
        **describe("table10", pairs=len(items)),
        cells=cells,
        remarks=examples,
        widths=WIDTHS,
        textual=True,
        written_in=_in_urdu(examples),
    )


def _published_table10(tables: Tables, labels: Labels) -> Exhibit:
    rows = table_models(tables, labels)
    printed = printed_of(tables, labels, "table10")
    cells = []
    for paradigm, name in PARADIGMS.items():
        key = (paradigm, "n")
        if key in printed:
            cells.append(printed_cell(printed[key], (name, "N")))
        own = rows[rows["paradigm"] == paradigm]
        if not isnan(IMPLIED(own)):
            place, where = (name, "N, implied"), where_of(own)
            cell = formula_cell(own, place, IMPLIED, "accuracies", where, "d", stands_for=key)
            cells.append(cell)
    implied = sum(cell.value for cell in cells if cell.column != "N")
    return Exhibit(**describe("table10_published", implied=implied), cells=cells)


# Table 3


def _measured_table3(tables: Tables, labels: Labels) -> Exhibit:
    facts = labels.facts["urblimp_models"]
    rows = read_paradigms(tables, labels)
    cells, stub, tuned = [], {}, {}
    for model, name in names_of(labels.models).items():
        own = rows[rows["model"] == model]
        if own.empty:
            continue
        where, n = where_of(own), int(own["n"].sum())
        cells.append(formula_cell(own, (name, SIZE), TOTAL, "accuracies", where, n=n))
        size = facts[model]["parameters"]
        stub[name] = {"Size": "" if size is None else size_text(size)}
        tuned[name] = {TUNING: "yes" if is_instructed(model, facts) else "no"}
    return Exhibit(**describe("table3"), cells=cells, stub=stub, remarks=tuned)


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3: the models with their sizes, and whether they are instruction-tuned.

    The measured form has the number of pairs that each has judged too.
    """
    if labels.source == "measured":
        return _measured_table3(tables, labels)
    printed = read_printed(tables, exhibit="table3").set_index("row", drop=False)
    sizes = {row["row"]: row for _, row in printed[printed["column"] == "size"].iterrows()}
    tuning = printed[printed["column"] == "it"]["text"].str.lower()
    names = {model: name for model, name in names_of(labels.models).items() if model in sizes}
    return Exhibit(
        **describe("table3_published"),
        cells=[printed_cell(sizes[model], (name, "Size")) for model, name in names.items()],
        remarks={name: {TUNING: tuning[model]} for model, name in names.items()},
    )
