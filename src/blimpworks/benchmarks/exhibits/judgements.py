"""Make the tables of judgements: hardest items, correlations with labels and ratings, effects.

A judgement is one model's verdict on one item. ``worst``, ``acceptability``, ``ratings`` and
``effects`` each make an exhibit (table); ``specs.tsv`` names them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import t as student

from blimpworks.analysis.accuracy import wilson
from blimpworks.analysis.statistics import correlation_interval
from blimpworks.benchmarks.exhibits import describe, view
from blimpworks.errors import UserError
from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section, language_tag
from blimpworks.exhibits.formulas import ACCURACY, ROW_TEXT, mean_of, select_rows
from blimpworks.items import ALL
from blimpworks.tables import ITEMS, JUDGEMENTS, read_table

MOST_ITEMS = 20
SOURCE = "judgements"
PHENOMENON, PARADIGM, COUNT = "Phenomenon", "Paradigm", "n"
MISTAKES, MARGIN = "Judged wrong", "Mean margin"
SPANS = ("good_start", "good_end", "bad_start", "bad_end")
ITEM_KEY = ["lang", "phenomenon", "paradigm", "item_id"]
Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns with which tables show the items of a layout."""

    description: str
    widths: Mapping[str, float]
    """Columns with running text, and their shares of the width; the items' text comes last."""
    id: str
    """Column of the items table with the ids that judgements name."""
    more: Sequence[str]
    """Further columns to read from the items table."""
    rated: str = "margin"
    """Column of judgements that is correlated with people's ratings."""


_WIDTHS = {PHENOMENON: 0.12, PARADIGM: 0.14}
LAYOUTS = {
    "pairs": Layout("worst_pairs", {**_WIDTHS, "Pair": 0.4}, "item_id", ("bad", *SPANS)),
    "sentences": Layout(
        "worst_sentences",
        {**_WIDTHS, "Label": 0.12, "Sentence": 0.28},
        "item_id",
        ("acceptable",),
        "value_good",
    ),
    "conditions": Layout(
        "worst_conditions", {**_WIDTHS, "Condition": 0.12, "Sentence": 0.28}, "item", ("condition",)
    ),
}


def _read_judgements(tables: shared.Tables, labels: Labels, columns: Sequence[str]) -> pd.DataFrame:
    frames = []
    for path in tables[SOURCE]:
        if path.parent.name in labels.models:
            rows = shared.read_plain(JUDGEMENTS, path, [*columns, "method"])
            rows = rows[rows["method"] == labels.method]
            frames.append(rows.assign(model=path.parent.name, lang=path.stem))
    judgements = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    if judgements.empty:
        name = labels.facts["benchmark"]["name"]
        raise UserError(
            f"there are no judgements of {name} by method {labels.method!r} of the campaign's "
            "models; judge its items with that method."
        )
    return judgements


def _caption_names(labels: Labels) -> dict[str, str]:
    return {"name": labels.facts["benchmark"]["label"], "method": labels.method.replace("_", " ")}


def hardest(judgements: pd.DataFrame) -> pd.DataFrame:
    """Choose the items of a language that the largest share of judgements gets wrong.

    Shares are compared, not numbers of judgements, because a pair that a file has twice is judged
    twice. Among equal shares the lowest mean margin comes first.
    """
    judged = judgements[judgements["correct"].notna()]
    items = judged.assign(wrong=judged["correct"] == 0).groupby(ITEM_KEY, sort=False)
    numbers = items.agg(wrong=("wrong", "sum"), judged=("wrong", "size"), margin=("margin", "mean"))
    mistaken = numbers[numbers["wrong"] > 0].reset_index()
    mistaken["share"] = mistaken["wrong"] / mistaken["judged"]
    order = ["share", "margin", "item_id"]
    return mistaken.sort_values(order, ascending=[False, True, True]).head(MOST_ITEMS)


def _read_items(
    tables: shared.Tables, layout: Layout, ids: pd.Series
) -> dict[tuple[str, ...], list[Item]]:
    """Read the rows of items, keyed by language, paradigm and id; a row for each condition."""
    key, columns = layout.id, (layout.id, "lang", "paradigm", "good", *layout.more)
    rows: dict[tuple[str, ...], list[Item]] = {}
    for path in tables["items"]:
        table = read_table(ITEMS, path, columns)
        if key in table.column_names:
            chosen = pc.is_in(table[key], value_set=pa.array(ids, pa.string()))
            for item in table.filter(chosen).to_pylist():
                item_key = item["lang"], item["paradigm"], item[key]
                # Released files have some pairs twice.
                if "condition" in item or item_key not in rows:
                    rows.setdefault(item_key, []).append(item)
    return rows


def _pair_text(item: Item) -> str:
    """Write a pair as a sentence with the difference in brackets, or else as two sentences."""
    good, bad = item["good"], item["bad"]
    if None not in [item[name] for name in SPANS] and good != bad:
        changed = bad[item["bad_start"] : item["bad_end"]]
        if good[: item["good_start"]] + changed + good[item["good_end"] :] == bad:
            return shared.marked(item)
    return f"{good} / *{bad}"


def worst(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Show the items of each language that most models get wrong by the largest margin."""
    layout = LAYOUTS[labels.facts["benchmark"]["layout"]]
    *_, heading = layout.widths
    columns = ["item_id", "phenomenon", "paradigm", "margin", "correct"]
    judgements = _read_judgements(tables, labels, columns)
    languages = view.languages_in(judgements, labels)
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    written: dict[tuple[str, str], str] = {}
    sections = []
    for lang, language in languages.items():
        of_language = judgements[judgements["lang"] == lang]
        chosen = hardest(of_language)
        of_chosen = of_language[of_language["item_id"].isin(chosen["item_id"])]
        items = _read_items(tables, layout, chosen["item_id"])
        rows = {language: language} if len(languages) > 1 else {}
        for number, (_, numbers) in enumerate(chosen.iterrows(), start=1):
            key = (numbers["lang"], numbers["paradigm"], numbers["item_id"])
            if key not in items:
                raise UserError(
                    f"{', '.join(map(str, tables['items']))} has no item {numbers['item_id']!r} of "
                    f"paradigm {numbers['paradigm']!r}, which was judged; build the items again, "
                    "or judge them again."
                )
            judged = {**numbers[ITEM_KEY], "method": labels.method}
            of_item = select_rows(of_chosen, judged)
            n, margin = int(view.VERDICT_COUNT(of_item)), mean_of("margin")
            numbers_of = {
                MISTAKES: (view.WRONG, f"{view.WRONG(of_item):.0f} of {n}"),
                MARGIN: (margin, view.number_text(margin(of_item), ".2f")),
            }
            phenomenon = view.printed_name(numbers["phenomenon"])
            beside = {PHENOMENON: phenomenon, PARADIGM: numbers["paradigm"]}
            for item in items[key]:
                row = " ".join([*key, str(item.get("condition", ""))]).strip()
                text = _pair_text(item) if "bad" in item else str(item["good"])
                keys = ["lang", "paradigm", layout.id, "condition"]
                where = {key: item[key] for key in keys if key in item}
                cells.append(Cell(row, heading, 1, text, ROW_TEXT, "items", where, n=1))
                # The page shows an item's numbers beside its first condition.
                first = item is items[key][0]
                for column, (formula, printed) in numbers_of.items():
                    text, value = printed if first else "", formula(of_item)
                    cells.append(Cell(row, column, value, text, formula, SOURCE, judged, n=n))
                stub[row] = {**beside} if first else dict.fromkeys(beside, "")
                if "condition" in item:
                    stub[row]["Condition"] = str(item["condition"])
                if "acceptable" in item:
                    stub[row]["Label"] = "acceptable" if item["acceptable"] else "unacceptable"
                written[row, heading] = language_tag(lang)
                rows[row] = str(number) if first else ""
        sections.append(Section("No.", rows, [*layout.widths, MISTAKES, MARGIN]))
    models = shared.counted(judgements["model"].nunique(), "model")
    return Exhibit(
        **describe(layout.description, most=MOST_ITEMS, models=models, **_caption_names(labels)),
        cells=cells,
        stub=stub,
        sections=sections,
        heads={MISTAKES: ("Judged", "wrong"), MARGIN: ("Mean", "margin")},
        widths={**layout.widths},
        textual=True,
        written_in=written,
    )


Where = Mapping[str, Any]
RowCells = Callable[[pd.DataFrame, str, Where], Iterator[Cell]]
"""Function that makes a row's cells from judgements, the row's key, and the judgements' filter."""
Group = tuple[str, Where, RowCells]
"""Rows with a common heading: the heading, the filter of judgements, and the maker of cells."""


def _table_by_model(
    judgements: pd.DataFrame, labels: Labels, groups: Iterable[Group], best: Sequence[str] = ()
) -> dict[str, Any]:
    """Make a row for each group and model; columns of ``best`` have their maximum in bold."""
    cells: list[Cell] = []
    bold: set[tuple[str, str]] = set()
    rows: dict[str, str] = {}
    for head, where, row_cells in groups:
        names: dict[str, str] = {}
        of_group: list[Cell] = []
        for model, name in view.distinct_names(labels.models).items():
            row = f"{head}: {name}" if head else name
            of_model = {**where, "model": model, "method": labels.method}
            of_row = [*row_cells(select_rows(judgements, of_model), row, of_model)]
            names |= {row: name} if of_row else {}
            of_group += of_row
        rows |= ({head: head} if head and names else {}) | names
        for column in best if len(names) > 1 else ():
            scores = [cell for cell in of_group if cell.column == column]
            bold |= shared.best_of_each(scores, {*names}, "column", digits=2)
        cells += of_group
    columns = list(dict.fromkeys(cell.column for cell in cells))
    return {"cells": cells, "bold": bold, "sections": [Section("Model", rows, columns)]}


def _table_by_phenomenon(
    judgements: pd.DataFrame, labels: Labels, row_cells: RowCells, best: Sequence[str]
) -> dict[str, Any]:
    languages = view.languages_in(judgements, labels)
    phenomena = view.ordered({*judgements["phenomenon"]}, labels.facts["benchmark"]["phenomena"])
    groups: list[Group] = []
    for lang, language in languages.items():
        for phenomenon in [*phenomena, ALL] if len(phenomena) > 1 else [ALL]:
            heads = [language] if len(languages) > 1 else []
            heads += [view.printed_name(phenomenon)] if len(phenomena) > 1 else []
            where = {"lang": lang, **({} if phenomenon == ALL else {"phenomenon": phenomenon})}
            groups.append((": ".join(heads), where, row_cells))
    return _table_by_model(judgements, labels, groups, best)


CORRELATION, ACCURACY_HEAD = "Matthews' correlation", "Accuracy"


def _matthews_row(rows: pd.DataFrame, row: str, where: Where) -> Iterator[Cell]:
    n = int(view.VERDICT_COUNT(rows))
    if n:
        value, share = view.MATTHEWS(rows), ACCURACY(rows)
        low, high = correlation_interval(value, n)
        cell = Cell(row, CORRELATION, value, "", view.MATTHEWS, SOURCE, where, n, low, high)
        yield view.with_interval(cell, ".2f")
        low, high = (100 * end for end in wilson(float(rows["correct"].sum()), n))
        cell = Cell(row, ACCURACY_HEAD, share, "", ACCURACY, SOURCE, where, n, low, high)
        yield view.with_interval(cell)
        yield shared.formula_cell(rows, (row, COUNT), view.VERDICT_COUNT, SOURCE, where, "d", n=n)


def acceptability(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Show Matthews' correlation and accuracy, with intervals, and number of sentences by model."""
    columns = ["phenomenon", "correct", "acceptable", "accepted"]
    judgements = _read_judgements(tables, labels, columns)
    table = _table_by_phenomenon(judgements, labels, _matthews_row, [CORRELATION])
    return Exhibit(**describe("acceptability", **_caption_names(labels)), **table)


FEWEST_RATED = 4
SPREAD = {view.PEARSON: 0.0, view.SPEARMAN: 0.5}
"""Factor of r² in the variance of a coefficient (see ``correlation_interval``)."""


def _ratings_row(rows: pd.DataFrame, row: str, where: Where, column: str) -> Iterator[Cell]:
    if not int(view.VERDICT_COUNT(rows)):
        return
    count = view.rated_count(column)
    n = int(count(rows))
    for coefficient, spread in SPREAD.items():
        formula = view.with_rating(coefficient, column)
        value = formula(rows)
        if n >= FEWEST_RATED and not pd.isna(value):
            low, high = correlation_interval(value, n, 1 + spread * value**2)
            cell = Cell(row, coefficient, value, "", formula, SOURCE, where, n, low, high)
            yield view.with_interval(cell, ".2f")
    yield shared.formula_cell(rows, (row, COUNT), count, SOURCE, where, "d", n=n)
    yield shared.formula_cell(rows, (row, "Without rating"), view.UNRATED, SOURCE, where, "d", n=n)


def ratings(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Show correlations of models' values with people's ratings, by phenomenon and model."""
    column = LAYOUTS[labels.facts["benchmark"]["layout"]].rated
    judgements = _read_judgements(tables, labels, ["phenomenon", "correct", column, "rating"])
    values = "margins" if column == "margin" else "values of sentences"
    description = describe("ratings", values=values, few=FEWEST_RATED, **_caption_names(labels))
    row_cells = partial(_ratings_row, column=column)
    return Exhibit(**description, **_table_by_phenomenon(judgements, labels, row_cells, [*SPREAD]))


def _effect_row(rows: pd.DataFrame, row: str, where: Where, effect: str) -> Iterator[Cell]:
    values = view.effects_in(rows, effect)
    n = len(values)
    if n:
        mean, formula = float(values.mean()), view.mean_effect(effect)
        reach = float(student.ppf(0.975, n - 1) * values.std() / n**0.5) if n > 1 else None
        low, high = (None, None) if reach is None else (mean - reach, mean + reach)
        cell = Cell(row, "Effect", mean, "", formula, SOURCE, where, n, low, high)
        yield view.with_interval(cell, ".2f")
        yield Cell(row, COUNT, n, str(n), view.effect_count(effect), SOURCE, where, n)


def effects(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Show the mean of each effect by paradigm and model, with interval and number of items."""
    judgements = _read_judgements(tables, labels, ["paradigm", "effects", "effect_names"])
    judgements = judgements[judgements["effect_names"].notna()]
    languages = view.languages_in(judgements, labels)
    groups: list[Group] = []
    for (lang, paradigm), rows in judgements.groupby(["lang", "paradigm"], sort=False):
        where = {"lang": lang, "paradigm": paradigm}
        for effect in dict.fromkeys(chain.from_iterable(rows["effect_names"])):
            heads = [languages[str(lang)]] if len(languages) > 1 else []
            head = ": ".join([*heads, str(paradigm), effect])
            groups.append((head, where, partial(_effect_row, effect=effect)))
    table = _table_by_model(judgements, labels, groups)
    return Exhibit(**describe("effects", **_caption_names(labels)), **table)
