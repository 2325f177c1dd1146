"""CLAMS's minimal sets: examples (Figure 1), sizes (Table 6), sets scored by BERT (Table 7).

Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020).
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, TOTAL, Formula, select_rows
from blimpworks.exhibits.shared import Tables, formula_cell, marked, read_plain, read_printed
from blimpworks.papers.clams.exhibits import common, describe, formulas
from blimpworks.papers.clams.exhibits.common import Column
from blimpworks.papers.clams.exhibits.facts import BERT, MBERT
from blimpworks.papers.clams.exhibits.results import ENG, ENGLISH_PARTS, NO_MASKED
from blimpworks.papers.clams.items.sets import AGREEMENT, CONSTRUCTIONS, construction_of, paradigms
from blimpworks.tables import EVALUATION_SETS, ITEMS, read_table

SIMPLE = "simple_agrmt"
SAME_PREDICATES = ("vp_coord", "subj_rel", "obj_rel_across", "prep")
"""Constructions with the focus words of simple agreement."""
ENGLISH_PREDICATES = ("vp_coord", "subj_rel")
"""The same in English, where others have sets with inanimate nouns too."""
MARKED = (
    *("item_id", "lang", "paradigm", "good", "bad"),
    *("good_start", "good_end", "bad_start", "bad_end"),
)
"""Columns of items that an example needs."""
SETS = "evaluation_sets"
WORDS_AT_MOST = 22
"""Most focus words of a language, because all their subsets are tried."""


def read_sets(tables: Tables) -> pd.DataFrame:
    """Read the released evaluation sets with their constructions; no rows without the table."""
    sets = read_plain(EVALUATION_SETS, tables.get(SETS))
    return sets.assign(construction=sets["paradigm"].map(construction_of))


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 1: an English minimal set of each construction; the cell's filter names it."""
    paths = [path for path in tables["items"] if path.stem == ENG]
    items = [row for p in paths for row in read_table(ITEMS, p, MARKED).to_pylist()]
    cells = []
    for key, name in CONSTRUCTIONS.items():
        names = paradigms(key, inanimate=False)
        if item := next((item for item in items if item["paradigm"] in names), None):
            where = {column: item[column] for column in ("lang", "item_id", "paradigm")}
            cells.append(Cell(name, "Set", 1, marked(item), COUNT, "items", where, n=1))
    return Exhibit(
        **describe("fig1", none="" if cells else " The campaign has no English sets."),
        cells=cells,
        widths={"Set": 0.65},
        textual=True,
    )


def table6(tables: Tables, labels: Labels) -> Exhibit:
    """Table 6: minimal sets by construction and language, with animate nouns.

    The published form has hidden cells of the released sets' sizes.
    """
    languages = common.shown_languages(labels).items()
    grid = common.Grid([Column(lang, "", ("", name), lang) for lang, name in languages])
    cells: list[Cell] = []
    if labels.source == "published":
        cells, caption = grid.printed(tables, "table6"), "As printed."
        sets = read_sets(tables)
        if not sets.empty:
            sizes = {}
            for (key, row), column in product(grid.rows.items(), grid.columns):
                where = {"lang": column.lang, "paradigm": paradigms(key, inanimate=False)}
                cell_key, number = (row, f"{column.name}, released"), (key, column.key)
                more = {"stands_for": number, "printed": False}
                sizes[number] = formula_cell(sets, cell_key, TOTAL, SETS, where, ".0f", **more)
            same = sum(sizes[c.stands_for].value == c.value for c in cells if c.stands_for in sizes)
            caption += f" Of the released evaluation sets {same} of {len(cells)} have this size."
            cells += sizes.values()
        return common.table_of(describe("table6", caption=caption), cells, [grid])
    for path in tables["items"]:
        items = read_table(ITEMS, path, ["lang", "phenomenon", "paradigm"]).to_pandas()
        for column, (key, row) in product(grid.columns, grid.rows.items()):
            where = {"lang": column.lang, "phenomenon": AGREEMENT}
            where |= {"paradigm": paradigms(key, inanimate=False)}
            rows = select_rows(items, where)
            if not rows.empty:
                n, number, where = len(rows), (key, column.key), common.narrowed(rows, where)
                numbers = (n, str(n), COUNT, "items", where, n)
                cells.append(Cell(row, column.name, *numbers, stands_for=number))
    return common.table_of(describe("table6", caption="Of the campaign's pairs."), cells, [grid])


def table7(tables: Tables, labels: Labels) -> Exhibit:
    """Table 7: minimal sets that masked models could score; recomputed in the published form."""
    # Both models have columns in English, one in the other languages.
    columns: list[Column] = []
    for lang, name in common.shown_languages(labels).items():
        english = lang == ENG and common.columns_of({lang: name}, (BERT, MBERT))
        columns += english or [Column(lang, MBERT, ("", name))]
    agreement, reflexives = common.by_phenomenon(columns, ENGLISH_PARTS)
    names = {**agreement.rows, SIMPLE: CONSTRUCTIONS[SIMPLE]}
    grids = [replace(agreement, rows=names), reflexives]
    measure = common.measure_by(TOTAL, ".0f")
    cells = common.grid_cells(grids, "table7", tables, labels, measure)
    if labels.source == "measured":
        description = describe("table7", none="" if cells else NO_MASKED)
        return common.table_of(description, cells, grids)
    printed = read_printed(tables)
    printed = printed[printed["exhibit"].isin(["table6", "table7"]) & printed["value"].notna()]
    row_names = {key: name for grid in grids for key, name in grid.rows.items()}
    sets = read_sets(tables)
    for column in grids[0].columns:
        of_lang = sets[sets["lang"] == column.lang]
        computed = (
            _from_share(printed, column) if sets.empty else _from_words(printed, of_lang, column)
        )
        for key, (rows, formula, source, where) in computed.items():
            cell_key = (row_names[key], f"{column.name}, from the vocabulary")
            more = {"stands_for": (key, column.key), "printed": False}
            cells.append(formula_cell(rows, cell_key, formula, source, where, ".0f", **more))
    return common.table_of(describe("table7_published"), cells, grids)


Computed = dict[str, tuple[pd.DataFrame, Formula, str, dict[str, Any]]]
"""Rows, formula, source and filter of a column's numbers, by construction."""


def _from_words(printed: pd.DataFrame, sets: pd.DataFrame, column: Column) -> Computed:
    """Count the sets of the focus words that account for most of a column."""
    numbers = select_rows(printed, {"exhibit": "table7", "column": column.key})
    sizes = dict(zip(numbers["row"], numbers["value"].astype(int), strict=True))
    of_lang = {"lang": column.lang}
    focus = {"focus": infer_vocabulary(sets, sizes)}
    return {
        key: (sets, TOTAL, SETS, of_lang | {"paradigm": paradigms(key, inanimate=True)} | focus)
        for key in sizes
    }


def _from_share(printed: pd.DataFrame, column: Column) -> Computed:
    """Apply the share left of simple agreement to Table 6's sets with the same predicates."""
    values = printed.set_index(["exhibit", "row", "column"])["value"]
    used = values.get(("table7", SIMPLE, column.key))
    size = values.get(("table6", SIMPLE, column.lang))
    if used is None or size is None:
        return {}
    share = Fraction(int(used), int(size))
    of_lang: dict[str, Any] = {"exhibit": "table6", "column": column.lang}
    formula = formulas.part(share.numerator, share.denominator)
    return {
        key: (printed, formula, "published", of_lang | {"row": key})
        for key in (ENGLISH_PREDICATES if column.lang == ENG else SAME_PREDICATES)
        if ("table6", key, column.lang) in values.index
    }


def infer_vocabulary(sets: pd.DataFrame, left: Mapping[str, int]) -> list[str]:
    """Infer the focus words (``laugh/laughs``) that account for most of the numbers ``left``.

    CLAMS (appendix D) skips sets whose focus words the vocabulary lacks, and prints the number
    left: a sum over words. ``sets`` has n by construction and focus, ``left`` by construction.
    Fewest words win, then the first ones. Raises ValueError for too many words.
    """
    wide = sets.pivot_table(index="construction", columns="focus", values="n", aggfunc="sum")
    counts = wide.reindex([*left]).fillna(0).to_numpy(np.int64)
    column_words = [str(word) for word in wide.columns]
    if len(column_words) > WORDS_AT_MOST:
        raise ValueError(f"{len(column_words)} focus words are more than {WORDS_AT_MOST}")
    n = len(column_words)
    bits = np.arange(2**n)[:, None] >> np.arange(n)
    chosen = (bits & 1).astype(np.int64)
    matched = (chosen @ counts.T == np.array([*left.values()])).sum(axis=1)
    # lexsort: the last key decides first; the subsets' own order breaks ties.
    best = np.lexsort((chosen.sum(axis=1), -matched))[0]
    return [word for word, taken in zip(column_words, chosen[best], strict=True) if taken]
