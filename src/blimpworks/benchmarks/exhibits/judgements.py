"""Make tables from judgements: hardest items, correlations with labels and ratings, effects.

A judgement is one model's verdict on one item: paradigm, item_id, correct (0 or 1), margin (nats).
``worst`` makes a table of items. ``acceptability``, ``ratings`` and ``effects`` make tables with
rows for models, in groups by phenomenon or effect. All take the campaign's tables and the names to
print, and return an exhibit. A cell has its formula, and the filter (columns and values) that
selects its judgements.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import t as student

from blimpworks.analysis.accuracy import wilson
from blimpworks.analysis.statistics import correlation_interval
from blimpworks.benchmarks.exhibits import describe, formulas, view
from blimpworks.errors import UserError
from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section, language_tag
from blimpworks.exhibits.formulas import ACCURACY, ROW_TEXT, mean_of, select_rows
from blimpworks.items import ALL
from blimpworks.tables import ITEMS, JUDGEMENTS, read_table

MOST_ITEMS = 20
"""Most items of a language in the table of hardest items."""
SOURCE = "judgements"
PHENOMENON, PARADIGM, COUNT = "Phenomenon", "Paradigm", "n"
MISTAKES, MARGIN = "Judged wrong", "Mean margin"
ITEM_KEY = ["lang", "phenomenon", "paradigm", "item_id"]
ItemRow = dict[str, Any]
"""A row of the items table: a pair, a sentence, or a condition of an item."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns by which tables show items of one layout: pairs, sentences or conditions."""

    widths: Mapping[str, float]
    """Shares of the page width, by column of running text; the last column has the sentences."""
    id_column: str
    """Column of the items table that has the judgements' ``item_id``."""
    columns: Sequence[str]
    """Columns to read from the items table, besides the columns of all layouts."""


_WIDTHS = {PHENOMENON: 0.12, PARADIGM: 0.14}
LAYOUTS = {
    "worst_pairs": Layout({**_WIDTHS, "Pair": 0.4}, "item_id", ("bad", *shared.SPANS)),
    "worst_sentences": Layout(
        {**_WIDTHS, "Label": 0.12, "Sentence": 0.28}, "item_id", ["acceptable"]
    ),
    "worst_conditions": Layout(
        {**_WIDTHS, "Condition": 0.12, "Sentence": 0.28}, "item", ["condition"]
    ),
}
"""Layouts of the table of hardest items, by the keys of its title and caption."""


def _read_judgements(tables: shared.Tables, labels: Labels, columns: Sequence[str]) -> pd.DataFrame:
    """Read judgements by the exhibit's method, with model and lang. UserError without any."""
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
    """Return the items of a language with the largest shares of wrong judgements, sorted.

    The columns are those of ``ITEM_KEY``, share and margin (mean). Among equal shares the lowest
    margin is first. Shares are compared, because copies of a pair have several judgements a model.
    """
    judged = judgements[judgements["correct"].notna()]
    items = judged.assign(wrong=judged["correct"] == 0).groupby(ITEM_KEY, sort=False)
    shares = items.agg(share=("wrong", "mean"), margin=("margin", "mean"))
    misjudged = shares[shares["share"] > 0].reset_index()
    order = ["share", "margin", "item_id"]
    return misjudged.sort_values(order, ascending=[False, True, True]).head(MOST_ITEMS)


def _read_items(
    tables: shared.Tables, layout: Layout, ids: pd.Series
) -> dict[tuple[str, ...], list[ItemRow]]:
    """Read items by (language, paradigm, id): a row for each condition, or else a single row."""
    id_column = layout.id_column
    columns = (id_column, "lang", "paradigm", "good", *layout.columns)
    rows_by_item: dict[tuple[str, ...], list[ItemRow]] = {}
    for path in tables["items"]:
        table = read_table(ITEMS, path, columns)
        if id_column in table.column_names:
            is_named = pc.is_in(table[id_column], value_set=pa.array(ids, pa.string()))
            for row in table.filter(is_named).to_pylist():
                key = row["lang"], row["paradigm"], row[id_column]
                # An item has a row for each condition; a second row of a pair is a copy.
                if "condition" in row or key not in rows_by_item:
                    rows_by_item.setdefault(key, []).append(row)
    return rows_by_item


def _pair_text(pair: ItemRow) -> str:
    """Return a pair as "Dogs [sing/*sings].", or "GOOD / *BAD" if it differs in several regions."""
    good, bad = pair["good"], pair["bad"]
    if None not in [pair[name] for name in shared.SPANS] and good != bad:
        region = bad[pair["bad_start"] : pair["bad_end"]]
        if good[: pair["good_start"]] + region + good[pair["good_end"] :] == bad:
            return shared.marked(pair)
    return f"{good} / *{bad}"


def _row_labels(item: pd.Series, item_row: ItemRow, is_first: bool) -> dict[str, str]:
    """Return a row's labels by column; only the first row of an item has those of the item."""
    labels = {PHENOMENON: view.printed_name(item["phenomenon"]), PARADIGM: item["paradigm"]}
    if not is_first:
        labels = dict.fromkeys(labels, "")
    if "condition" in item_row:
        labels["Condition"] = str(item_row["condition"])
    if "acceptable" in item_row:
        labels["Label"] = "acceptable" if item_row["acceptable"] else "unacceptable"
    return labels


def worst(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of the items of each language that most models get wrong, the worst first."""
    caption_key = f"worst_{labels.facts['benchmark']['layout']}"
    layout = LAYOUTS[caption_key]
    *_, text_heading = layout.widths
    columns = ["item_id", "phenomenon", "paradigm", "margin", "correct"]
    judgements = _read_judgements(tables, labels, columns)
    languages = view.languages_in(judgements, labels)
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    language_tags: dict[tuple[str, str], str] = {}  # by row and column, for screen readers
    sections = []
    for lang, language in languages.items():
        of_language = judgements[judgements["lang"] == lang]
        items = hardest(of_language)
        of_items = of_language[of_language["item_id"].isin(items["item_id"])]
        rows_by_item = _read_items(tables, layout, items["item_id"])
        # {key of the row: its name}; the language is a heading, and an item has its rank.
        row_names = {language: language} if len(languages) > 1 else {}
        for rank, (_, item) in enumerate(items.iterrows(), start=1):
            key = (item["lang"], item["paradigm"], item["item_id"])
            if key not in rows_by_item:
                raise UserError(
                    f"{', '.join(map(str, tables['items']))} has no item {item['item_id']!r} of "
                    f"paradigm {item['paradigm']!r}, which was judged; build the items again, or "
                    "judge them again."
                )
            judgement_filter = {**item[ITEM_KEY], "method": labels.method}
            judged = select_rows(of_items, judgement_filter)
            n, margin = int(formulas.VERDICT_COUNT(judged)), mean_of("margin")
            # Formula and text of the columns with numbers of the item.
            number_columns = {
                MISTAKES: (formulas.WRONG, f"{formulas.WRONG(judged):.0f} of {n}"),
                MARGIN: (margin, view.number_text(margin(judged), ".2f")),
            }
            for item_row in rows_by_item[key]:
                row = " ".join([*key, str(item_row.get("condition", ""))]).strip()
                text = _pair_text(item_row) if "bad" in item_row else str(item_row["good"])
                names = ["lang", "paradigm", layout.id_column, "condition"]
                item_filter = {name: item_row[name] for name in names if name in item_row}
                cells.append(Cell(row, text_heading, 1, text, ROW_TEXT, "items", item_filter, n=1))
                # The page shows an item's labels and numbers beside its first condition.
                is_first = item_row is rows_by_item[key][0]
                for column, (formula, number_text) in number_columns.items():
                    value, shown_text = formula(judged), number_text if is_first else ""
                    cells.append(
                        Cell(row, column, value, shown_text, formula, SOURCE, judgement_filter, n=n)
                    )
                stub[row] = _row_labels(item, item_row, is_first)
                language_tags[row, text_heading] = language_tag(lang)
                row_names[row] = str(rank) if is_first else ""
        sections.append(Section("No.", row_names, [*layout.widths, MISTAKES, MARGIN]))
    models = shared.counted(judgements["model"].nunique(), "model")
    return Exhibit(
        **describe(caption_key, most=MOST_ITEMS, models=models, **_caption_names(labels)),
        cells=cells,
        stub=stub,
        sections=sections,
        heads={MISTAKES: ("Judged", "wrong"), MARGIN: ("Mean", "margin")},
        widths={**layout.widths},
        textual=True,
        written_in=language_tags,
    )


Filter = Mapping[str, Any]
"""Values by column, which select rows of a table."""
RowCells = Callable[[pd.DataFrame, str, Filter], Iterator[Cell]]
"""Function that makes a row's cells from its judgements, its key, and the filter of judgements."""
Group = tuple[str, Filter, RowCells]
"""Rows below one heading: the heading, the filter of their judgements, and how to make cells."""


def _table_by_model(
    judgements: pd.DataFrame, labels: Labels, groups: Iterable[Group], best: Sequence[str] = ()
) -> dict[str, Any]:
    """Return arguments of ``Exhibit``; the best of a group in the columns ``best`` is bold."""
    cells: list[Cell] = []
    bold: set[tuple[str, str]] = set()
    names: dict[str, str] = {}  # {key of a heading or row: printed name}
    for heading, group_filter, make_cells in groups:
        names_of_group: dict[str, str] = {}
        cells_of_group: list[Cell] = []
        for model, name in view.distinct_names(labels.models).items():
            row = f"{heading}: {name}" if heading else name
            row_filter = {**group_filter, "model": model, "method": labels.method}
            cells_of_row = [*make_cells(select_rows(judgements, row_filter), row, row_filter)]
            if cells_of_row:
                names_of_group[row] = name
                cells_of_group += cells_of_row
        if heading and names_of_group:
            names[heading] = heading
        names.update(names_of_group)
        if len(names_of_group) > 1:
            for column in best:
                of_column = [cell for cell in cells_of_group if cell.column == column]
                bold |= shared.best_of_each(of_column, {*names_of_group}, "column", digits=2)
        cells += cells_of_group
    columns = list(dict.fromkeys(cell.column for cell in cells))
    return {"cells": cells, "bold": bold, "sections": [Section("Model", names, columns)]}


def _table_by_phenomenon(
    judgements: pd.DataFrame, labels: Labels, make_cells: RowCells, best: Sequence[str]
) -> dict[str, Any]:
    """Return arguments of ``Exhibit``, with a group of rows for each language and phenomenon."""
    languages = view.languages_in(judgements, labels)
    phenomena = view.ordered({*judgements["phenomenon"]}, labels.facts["benchmark"]["phenomena"])
    groups: list[Group] = []
    for lang, language in languages.items():
        for phenomenon in [*phenomena, ALL] if len(phenomena) > 1 else [ALL]:
            headings = [language] if len(languages) > 1 else []
            headings += [view.printed_name(phenomenon)] if len(phenomena) > 1 else []
            group_filter = {"lang": lang}
            if phenomenon != ALL:
                group_filter["phenomenon"] = phenomenon
            groups.append((": ".join(headings), group_filter, make_cells))
    return _table_by_model(judgements, labels, groups, best)


CORRELATION, ACCURACY_HEADING = "Matthews' correlation", "Accuracy"


def _matthews_cells(judgements: pd.DataFrame, row: str, where: Filter) -> Iterator[Cell]:
    """Yield Matthews' correlation, accuracy and number of sentences; nothing without a verdict."""
    count = formulas.VERDICT_COUNT
    if n := int(count(judgements)):
        value, share = formulas.MATTHEWS(judgements), ACCURACY(judgements)
        low, high = correlation_interval(value, n)
        cell = Cell(row, CORRELATION, value, "", formulas.MATTHEWS, SOURCE, where, n, low, high)
        yield view.with_interval(cell, ".2f")
        low, high = (100 * end for end in wilson(float(judgements["correct"].sum()), n))
        cell = Cell(row, ACCURACY_HEADING, share, "", ACCURACY, SOURCE, where, n, low, high)
        yield view.with_interval(cell)
        yield shared.formula_cell(judgements, (row, COUNT), count, SOURCE, where, "d", n=n)


def acceptability(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of Matthews' correlation and accuracy by phenomenon and model."""
    columns = ["phenomenon", "correct", "acceptable", "accepted"]
    judgements = _read_judgements(tables, labels, columns)
    table = _table_by_phenomenon(judgements, labels, _matthews_cells, [CORRELATION])
    return Exhibit(**describe("acceptability", **_caption_names(labels)), **table)


FEWEST_RATED = 4
"""Fewest items with a rating for which a correlation is shown."""
SPREAD = {formulas.PEARSON: 0.0, formulas.SPEARMAN: 0.5}
"""Factor f in the variance of Fisher's z by coefficient: it is multiplied by 1 + f · r², since rank
correlations vary more (Bonett and Wright 2000)."""


def _rating_cells(judgements: pd.DataFrame, row: str, where: Filter, column: str) -> Iterator[Cell]:
    """Yield correlations of a column with ratings, and numbers of items with and without rating."""
    if not int(formulas.VERDICT_COUNT(judgements)):
        return
    count, unrated = formulas.rated_count(column), formulas.UNRATED
    n = int(count(judgements))
    for coefficient, spread in SPREAD.items():
        formula = formulas.correlation_with_rating(coefficient, column)
        value = formula(judgements)
        if n >= FEWEST_RATED and not pd.isna(value):
            low, high = correlation_interval(value, n, 1 + spread * value**2)
            cell = Cell(row, coefficient, value, "", formula, SOURCE, where, n, low, high)
            yield view.with_interval(cell, ".2f")
    for heading, formula in ((COUNT, count), ("Without rating", unrated)):
        yield shared.formula_cell(judgements, (row, heading), formula, SOURCE, where, "d", n=n)


def ratings(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of correlations of models' values with people's ratings."""
    column, values = "margin", "margins"
    if labels.facts["benchmark"]["layout"] == "sentences":
        column, values = "value_good", "values of sentences"
    judgements = _read_judgements(tables, labels, ["phenomenon", "correct", column, "rating"])
    description = describe("ratings", values=values, few=FEWEST_RATED, **_caption_names(labels))
    make_cells = partial(_rating_cells, column=column)
    return Exhibit(**description, **_table_by_phenomenon(judgements, labels, make_cells, [*SPREAD]))


def _effect_cells(judgements: pd.DataFrame, row: str, where: Filter, effect: str) -> Iterator[Cell]:
    """Yield the mean of an effect with Student's interval, and the number of items, if any."""
    values = formulas.effects_in(judgements, effect)
    if n := len(values):
        mean, formula = float(values.mean()), formulas.mean_effect(effect)
        cell = Cell(row, "Effect", mean, "", formula, SOURCE, where, n)
        if n > 1:
            half_width = float(student.ppf(0.975, n - 1) * values.std() / n**0.5)
            cell = replace(cell, low=mean - half_width, high=mean + half_width)
        yield view.with_interval(cell, ".2f")
        yield Cell(row, COUNT, n, str(n), formulas.effect_count(effect), SOURCE, where, n)


def effects(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of the mean of each effect by paradigm and model."""
    judgements = _read_judgements(tables, labels, ["paradigm", "effects", "effect_names"])
    judgements = judgements[judgements["effect_names"].notna()]
    languages = view.languages_in(judgements, labels)
    groups: list[Group] = []
    for (lang, paradigm), rows in judgements.groupby(["lang", "paradigm"], sort=False):
        group_filter = {"lang": lang, "paradigm": paradigm}
        for effect in dict.fromkeys(chain.from_iterable(rows["effect_names"])):
            headings = [languages[str(lang)]] if len(languages) > 1 else []
            heading = ": ".join([*headings, str(paradigm), effect])
            groups.append((heading, group_filter, partial(_effect_cells, effect=effect)))
    table = _table_by_model(judgements, labels, groups)
    return Exhibit(**describe("effects", **_caption_names(labels)), **table)
