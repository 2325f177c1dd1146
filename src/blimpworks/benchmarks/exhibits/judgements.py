"""Tables of single judgements: items that most models get wrong, and Matthews' correlations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.analysis.accuracy import ALL, wilson
from blimpworks.benchmarks.exhibits import describe
from blimpworks.benchmarks.exhibits.formulas import JUDGED, MATTHEWS, WRONG
from blimpworks.benchmarks.exhibits.view import (
    distinct,
    number_text,
    ordered,
    spoken,
    with_interval,
)
from blimpworks.benchmarks.matthews import matthews_interval
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import ACCURACY, TEXT, mean_of, select_rows
from blimpworks.exhibits.shared import (
    Tables,
    best_of_each,
    counted,
    formula_cell,
    marked,
    read_plain,
)
from blimpworks.exhibits.texts import language_tag
from blimpworks.tables import ITEMS, JUDGEMENTS, read_table

MOST = 20
"""Items of each language that are shown."""
SOURCE = "judgements"
PHENOMENON, PARADIGM, CONDITION, LABEL = "Phenomenon", "Paradigm", "Condition", "Label"
TEXTS = {"pairs": "Pair", "sentences": "Sentence", "conditions": "Sentence"}
"""Heading of items' texts, by layout."""
MISTAKES, MARGIN = "Judged wrong", "Mean margin"
HEADS = {MISTAKES: ("Judged", "wrong"), MARGIN: ("Mean", "margin")}
SPANS = ("good_start", "good_end", "bad_start", "bad_end")
COLUMNS = {
    "pairs": ("item_id", "lang", "paradigm", "good", "bad", *SPANS),
    "sentences": ("item_id", "lang", "paradigm", "good", "acceptable"),
    "conditions": ("item", "lang", "paradigm", "good", "condition"),
}
"""Columns of items that are read, the id of judgements first."""
PLACE = ["lang", "phenomenon", "paradigm", "item_id"]
WIDTHS: Mapping[str, dict[str, float]] = {
    "pairs": {PHENOMENON: 0.12, PARADIGM: 0.14, TEXTS["pairs"]: 0.4},
    "sentences": {PHENOMENON: 0.12, PARADIGM: 0.14, LABEL: 0.12, TEXTS["sentences"]: 0.28},
    "conditions": {PHENOMENON: 0.12, PARADIGM: 0.14, CONDITION: 0.12, TEXTS["conditions"]: 0.28},
}
"""Columns with running text, by layout, with the share of the line that each takes."""
WORST = {"pairs": "worst_pairs", "sentences": "worst_sentences", "conditions": "worst_conditions"}
"""Descriptions by layout."""
Item = dict[str, Any]


def _read(tables: Tables, labels: Labels, columns: Sequence[str]) -> pd.DataFrame:
    """Judgements of the campaign's models by the method shown, with model and language.

    Raises UserError when there are none.
    """
    frames = []
    for path in tables[SOURCE]:
        if path.stem in labels.models:
            rows = read_plain(JUDGEMENTS, path, [*columns, "method"])
            rows = rows[rows["method"] == labels.method]
            frames.append(rows.assign(model=path.stem, lang=path.parent.name))
    judgements = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    if judgements.empty:
        name = labels.facts["benchmark"]["name"]
        raise UserError(
            f"there are no judgements of {name} by method {labels.method!r} of the campaign's "
            "models; judge its items with that method."
        )
    return judgements


def _languages(judgements: pd.DataFrame, labels: Labels) -> dict[str, str]:
    """Printed names of the languages that were judged."""
    names = distinct(dict(labels.languages))
    return {lang: names.get(lang, lang) for lang in ordered(judgements["lang"], names)}


# Items that most models get wrong


def hardest(judgements: pd.DataFrame) -> pd.DataFrame:
    """The items of a language that most models get wrong, and of these by the lowest mean margin.

    With the columns wrong, judged and margin; none that all models get right. By the share of
    judgements: a pair that a file has twice is judged twice by each model.
    """
    judged = judgements[judgements["correct"].notna()]
    items = judged.assign(wrong=judged["correct"] == 0).groupby(PLACE, sort=False)
    numbers = items.agg(wrong=("wrong", "sum"), judged=("wrong", "size"), margin=("margin", "mean"))
    mistaken = numbers[numbers["wrong"] > 0].reset_index()
    mistaken["share"] = mistaken["wrong"] / mistaken["judged"]
    order = ["share", "margin", "item_id"]
    return mistaken.sort_values(order, ascending=[False, True, True]).head(MOST)


def _items(tables: Tables, layout: str, chosen: pd.DataFrame) -> dict[tuple[str, ...], list[Item]]:
    """Rows of the chosen items by language, paradigm and id: several of one with conditions."""
    columns = COLUMNS[layout]
    key = columns[0]
    rows: dict[tuple[str, ...], list[Item]] = {}
    for path in tables["items"]:
        table = read_table(ITEMS, path, columns)
        if key in table.column_names:
            chosen_rows = pc.is_in(table[key], value_set=pa.array(chosen["item_id"], pa.string()))
            for item in table.filter(chosen_rows).to_pylist():
                place = item["lang"], item["paradigm"], item[key]
                # Released files have some pairs twice.
                if layout == "conditions" or place not in rows:
                    rows.setdefault(place, []).append(item)
    return rows


def pair_text(item: Item) -> str:
    """Both sentences of a pair: as one with what differs in brackets, or else one by one.

    Sentences that differ outside of their critical regions, or not at all, stand one by one.
    """
    good, bad = item["good"], item["bad"]
    spans = [item[name] for name in SPANS]
    if None not in spans and good != bad:
        changed = bad[item["bad_start"] : item["bad_end"]]
        if good[: item["good_start"]] + changed + good[item["good_end"] :] == bad:
            return marked(item)
    return f"{good} / *{bad}"


class Entry(NamedTuple):
    """A row of the table: an item, or one of its conditions, and the judgements of the item."""

    row: str
    number: str
    """Empty in further rows of an item."""
    item: Item
    judgements: pd.DataFrame

    def beside(self, layout: str) -> dict[str, str]:
        """What stands before the text: phenomenon and paradigm of the item, and what it is."""
        place = self.judgements.iloc[0]
        texts = {PHENOMENON: spoken(place["phenomenon"]), PARADIGM: str(place["paradigm"])}
        texts = texts if self.number else dict.fromkeys(texts, "")
        if layout == "conditions":
            texts[CONDITION] = str(self.item["condition"])
        elif layout == "sentences":
            texts[LABEL] = "acceptable" if self.item["acceptable"] else "unacceptable"
        return texts

    def cells(self, layout: str) -> Iterator[Cell]:
        """The text, how many models get the item wrong, and their mean margin.

        The numbers are printed in the item's first row alone.
        """
        keys = ["lang", "paradigm", COLUMNS[layout][0]] + ["condition"] * (layout == "conditions")
        text = pair_text(self.item) if layout == "pairs" else str(self.item["good"])
        where: dict[str, Any] = {name: self.item[name] for name in keys}
        yield Cell(self.row, TEXTS[layout], 1, text, TEXT, "items", where, n=1)
        own = self.judgements
        where = {name: own[name].iloc[0] for name in (*PLACE, "method")}
        n = int(JUDGED(own))
        mistakes, margin = WRONG(own), mean_of("margin")
        shown = {MISTAKES: f"{mistakes:.0f} of {n}", MARGIN: number_text(margin(own), ".2f")}
        for column, formula in {MISTAKES: WRONG, MARGIN: margin}.items():
            text = shown[column] if self.number else ""
            yield Cell(self.row, column, formula(own), text, formula, SOURCE, where, n=n)


def _entries(judgements: pd.DataFrame, tables: Tables, layout: str) -> Iterator[Entry]:
    """Rows of the hardest items of a language.

    Raises UserError for one that the items lack.
    """
    chosen = hardest(judgements)
    few = judgements[judgements["item_id"].isin(chosen["item_id"])]
    items = _items(tables, layout, chosen)
    for number, (_, item) in enumerate(chosen.iterrows(), start=1):
        key = (item["lang"], item["paradigm"], item["item_id"])
        if key not in items:
            raise UserError(
                f"{', '.join(map(str, tables['items']))} has no item {item['item_id']!r} of "
                f"paradigm {item['paradigm']!r}, which was judged; build the items again, or judge "
                "them again."
            )
        own = select_rows(few, {name: item[name] for name in PLACE})
        for part, row in enumerate(items[key]):
            name = " ".join([*key, str(row.get("condition", ""))]).strip()
            yield Entry(name, str(number) if part == 0 else "", row, own)


def worst(tables: Tables, labels: Labels) -> Exhibit:
    """The items of each language that most models get wrong by the largest margin.

    Raises UserError when there are no judgements, or of an item that the items lack.
    """
    layout = labels.facts["benchmark"]["layout"]
    judgements = _read(tables, labels, ["item_id", "phenomenon", "paradigm", "margin", "correct"])
    languages = _languages(judgements, labels)
    entries = {
        lang: [*_entries(judgements[judgements["lang"] == lang], tables, layout)]
        for lang in languages
    }
    columns = [*WIDTHS[layout], MISTAKES, MARGIN]
    heads = {lang: {name: name} if len(languages) > 1 else {} for lang, name in languages.items()}
    every = [entry for own in entries.values() for entry in own]
    return Exhibit(
        **describe(
            WORST[layout],
            name=labels.facts["benchmark"]["label"],
            most=MOST,
            models=counted(judgements["model"].nunique(), "model"),
            method=labels.method.replace("_", " "),
        ),
        cells=[cell for entry in every for cell in entry.cells(layout)],
        stub={entry.row: entry.beside(layout) for entry in every},
        sections=[
            Section("No.", heads[lang] | {entry.row: entry.number for entry in own}, columns)
            for lang, own in entries.items()
        ],
        heads=HEADS,
        widths=WIDTHS[layout],
        textual=True,
        written_in={
            (entry.row, TEXTS[layout]): language_tag(lang)
            for lang, own in entries.items()
            for entry in own
        },
    )


# Matthews' correlation

CORRELATION, ACCURACY_HEAD, COUNT = "Matthews' correlation", "Accuracy", "n"


def _matthews_row(rows: pd.DataFrame, row: str, where: Mapping[str, Any]) -> Iterator[Cell]:
    """Matthews' correlation, accuracy with Wilson's interval, and number of sentences."""
    own = select_rows(rows, where)
    n = int(JUDGED(own))
    if not n:
        return
    value = MATTHEWS(own)
    share = ACCURACY(own)
    ends = [100 * end for end in wilson(float(own["correct"].sum()), n)]
    for column, formula, number, (low, high), form in (
        (CORRELATION, MATTHEWS, value, matthews_interval(value, n), ".2f"),
        (ACCURACY_HEAD, ACCURACY, share, ends, ".1f"),
    ):
        cell = Cell(row, column, number, "", formula, SOURCE, where, n=n, low=low, high=high)
        yield replace(cell, text=with_interval(cell, form))
    yield formula_cell(own, (row, COUNT), JUDGED, SOURCE, where, "d", n=n)


def _groups(judgements: pd.DataFrame, labels: Labels) -> list[str]:
    """Phenomena in the benchmark's order, and all of them last; all alone where there is one."""
    order = ordered({*judgements["phenomenon"]}, labels.facts["benchmark"]["phenomena"])
    return [*order, ALL] if len(order) > 1 else [ALL]


def _group_cells(
    judgements: pd.DataFrame, labels: Labels, head: str, where: Mapping[str, Any]
) -> Iterator[Cell]:
    """A row of each model that has judged the sentences of a language and phenomenon."""
    for model, name in distinct(labels.models).items():
        row = f"{head}: {name}" if head else name
        chosen = {**where, "model": model, "method": labels.method}
        yield from _matthews_row(judgements, row, chosen)


def acceptability(tables: Tables, labels: Labels) -> Exhibit:
    """Matthews' correlation, accuracy and number of sentences by phenomenon and model."""
    judgements = _read(tables, labels, ["phenomenon", "correct", "acceptable", "accepted"])
    languages, groups = _languages(judgements, labels), _groups(judgements, labels)
    cells: list[Cell] = []
    bold: set[tuple[str, str]] = set()
    rows: dict[str, str] = {}
    for (lang, language), group in product(languages.items(), groups):
        heads = [language] * (len(languages) > 1) + [spoken(group)] * (len(groups) > 1)
        head = ": ".join(heads)
        where = {"lang": lang, **({} if group == ALL else {"phenomenon": group})}
        own = [*_group_cells(judgements, labels, head, where)]
        names = {cell.row: cell.row.removeprefix(f"{head}: ") for cell in own}
        rows |= ({head: head} if head and own else {}) | names
        if len(names) > 1:
            scores = [cell for cell in own if cell.column == CORRELATION]
            bold |= best_of_each(scores, {*names}, "column", 2)
        cells += own
    return Exhibit(
        **describe(
            "acceptability",
            name=labels.facts["benchmark"]["label"],
            method=labels.method.replace("_", " "),
        ),
        cells=cells,
        bold=bold,
        sections=[Section("Model", rows, [CORRELATION, ACCURACY_HEAD, COUNT])],
    )
