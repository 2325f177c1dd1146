"""Tables of single judgements: hardest items, Matthews' correlations, and effects."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import t as student

from blimpworks.analysis.accuracy import ALL, wilson
from blimpworks.benchmarks.exhibits import describe
from blimpworks.benchmarks.exhibits.formulas import (
    JUDGED,
    MATTHEWS,
    PEARSON,
    SPEARMAN,
    UNRATED,
    WRONG,
    effect_count,
    effects_in,
    mean_effect,
    rated_count,
    with_rating,
)
from blimpworks.benchmarks.exhibits.view import (
    distinct,
    number_text,
    ordered,
    spoken,
    with_interval,
)
from blimpworks.benchmarks.verdicts import correlation_interval
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
RowCells = Callable[[pd.DataFrame, str, Mapping[str, Any]], Iterator[Cell]]
"""Function from judgements to the cells of a row, by its key and what selects its rows."""


def _read(tables: Tables, labels: Labels, columns: Sequence[str]) -> pd.DataFrame:
    """Judgements of the campaign's models by the method shown, with model and language."""
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
    """Rows of the hardest items of a language."""
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
        (CORRELATION, MATTHEWS, value, correlation_interval(value, n), ".2f"),
        (ACCURACY_HEAD, ACCURACY, share, ends, ".1f"),
    ):
        cell = Cell(row, column, number, "", formula, SOURCE, where, n=n, low=low, high=high)
        yield replace(cell, text=with_interval(cell, form))
    yield formula_cell(own, (row, COUNT), JUDGED, SOURCE, where, "d", n=n)


def _by_group(
    judgements: pd.DataFrame, labels: Labels, cells_of: RowCells, best: Mapping[str, int]
) -> dict[str, Any]:
    """Cells of each model under its language and phenomenon, as parts of an exhibit."""
    languages = _languages(judgements, labels)
    order = ordered({*judgements["phenomenon"]}, labels.facts["benchmark"]["phenomena"])
    groups = [*order, ALL] if len(order) > 1 else [ALL]
    cells: list[Cell] = []
    bold: set[tuple[str, str]] = set()
    rows: dict[str, str] = {}
    for (lang, language), group in product(languages.items(), groups):
        heads = [language] * (len(languages) > 1) + [spoken(group)] * (len(groups) > 1)
        head = ": ".join(heads)
        where = {"lang": lang, **({} if group == ALL else {"phenomenon": group})}
        own = [
            cell
            for model, name in distinct(labels.models).items()
            for cell in cells_of(
                judgements,
                f"{head}: {name}" if head else name,
                {**where, "model": model, "method": labels.method},
            )
        ]
        names = {cell.row: cell.row.removeprefix(f"{head}: ") for cell in own}
        rows |= ({head: head} if head and own else {}) | names
        for column, decimals in best.items() if len(names) > 1 else ():
            scores = [cell for cell in own if cell.column == column]
            bold |= best_of_each(scores, {*names}, "column", decimals)
        cells += own
    columns = list(dict.fromkeys(cell.column for cell in cells))
    return {"cells": cells, "bold": bold, "sections": [Section("Model", rows, columns)]}


def acceptability(tables: Tables, labels: Labels) -> Exhibit:
    """Matthews' correlation, accuracy and number of sentences by phenomenon and model."""
    judgements = _read(tables, labels, ["phenomenon", "correct", "acceptable", "accepted"])
    return Exhibit(
        **describe(
            "acceptability",
            name=labels.facts["benchmark"]["label"],
            method=labels.method.replace("_", " "),
        ),
        **_by_group(judgements, labels, _matthews_row, {CORRELATION: 2}),
    )


# Correlation with people's ratings

UNRATED_HEAD = "Without rating"
LEAST = 4
"""Items that a correlation with an interval needs."""
VALUES = {"pairs": "margin", "sentences": "value_good", "conditions": "margin"}
"""Column of judgements that ratings are compared with, by layout."""
SPREAD: Mapping[str, Callable[[float], float]] = {
    PEARSON: lambda _: 1.0,
    SPEARMAN: lambda r: 1 + r**2 / 2,
}
"""How much wider the square of a coefficient's interval is than Fisher's."""


def _ratings_row(
    judgements: pd.DataFrame, row: str, where: Mapping[str, Any], column: str
) -> Iterator[Cell]:
    """Correlations with ratings, each with its interval, items with a rating, and those without."""
    own = select_rows(judgements, where)
    count = rated_count(column)
    if not int(JUDGED(own)):
        return
    n = int(count(own))
    for coefficient in (PEARSON, SPEARMAN):
        formula = with_rating(coefficient, column)
        value = formula(own)
        if n >= LEAST and not pd.isna(value):
            low, high = correlation_interval(value, n, SPREAD[coefficient](value))
            cell = Cell(row, coefficient, value, "", formula, SOURCE, where, n, low, high)
            yield replace(cell, text=with_interval(cell, ".2f"))
    yield formula_cell(own, (row, COUNT), count, SOURCE, where, "d", n=n)
    yield formula_cell(own, (row, UNRATED_HEAD), UNRATED, SOURCE, where, "d", n=n)


def ratings(tables: Tables, labels: Labels) -> Exhibit:
    """Correlation of models' values with people's ratings of items, by phenomenon and model."""
    layout = labels.facts["benchmark"]["layout"]
    column = VALUES[layout]
    judgements = _read(tables, labels, ["phenomenon", "correct", column, "rating"])
    return Exhibit(
        **describe(
            "ratings",
            name=labels.facts["benchmark"]["label"],
            values="margins" if column == "margin" else "values of sentences",
            method=labels.method.replace("_", " "),
            few=LEAST,
        ),
        **_by_group(
            judgements,
            labels,
            partial(_ratings_row, column=column),
            {PEARSON: 2, SPEARMAN: 2},
        ),
    )


# Effects

EFFECT = "Effect"


def _effect_row(rows: pd.DataFrame, row: str, where: Mapping[str, Any], name: str) -> list[Cell]:
    """Return an effect's mean with Student's interval, and the number of items; none without."""
    values = effects_in(select_rows(rows, where), name)
    n = len(values)
    if not n:
        return []
    mean = float(values.mean())
    ends: tuple[float | None, float | None] = (None, None)
    if n > 1:
        reach = float(student.ppf(0.975, n - 1) * values.std() / n**0.5)
        ends = mean - reach, mean + reach
    low, high = ends
    cell = Cell(row, EFFECT, mean, "", mean_effect(name), SOURCE, where, n=n, low=low, high=high)
    count = Cell(row, COUNT, n, str(n), effect_count(name), SOURCE, where, n=n)
    return [replace(cell, text=with_interval(cell, ".2f")), count]


def effects(tables: Tables, labels: Labels) -> Exhibit:
    """Show the mean of each effect by paradigm and model, with its interval and n."""
    judgements = _read(tables, labels, ["paradigm", "effects", "effect_names"])
    judgements = judgements[judgements["effect_names"].notna()]
    languages = _languages(judgements, labels)
    cells: list[Cell] = []
    rows: dict[str, str] = {}
    groups = judgements.groupby(["lang", "paradigm"], sort=False)
    for (lang, paradigm), group in groups:
        for name in dict.fromkeys(chain.from_iterable(group["effect_names"])):
            heads = [languages[str(lang)]] * (len(languages) > 1) + [str(paradigm), name]
            head = ": ".join(heads)
            where = {"lang": lang, "paradigm": paradigm, "method": labels.method}
            for model, label in distinct(labels.models).items():
                row = f"{head}: {label}"
                found = _effect_row(group, row, {**where, "model": model}, name)
                rows |= {head: head, row: label} if found else {}
                cells += found
    return Exhibit(
        **describe(
            "effects",
            name=labels.facts["benchmark"]["label"],
            method=labels.method.replace("_", " "),
        ),
        cells=cells,
        sections=[Section("Model", rows, [EFFECT, COUNT])],
    )
