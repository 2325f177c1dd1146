"""CLAMS's minimal sets: examples (Figure 1), sizes (Table 6), sets scored by BERT (Table 7).

Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, TOTAL, select_rows
from blimpworks.exhibits.shared import Tables, formula_cell, marked, read_plain, read_printed
from blimpworks.papers.clams.exhibits import describe
from blimpworks.papers.clams.exhibits.common import (
    HEADINGS,
    Column,
    Grid,
    by_phenomenon,
    grid_cells,
    measure_by,
    narrowed,
    shown_languages,
    table_of,
)
from blimpworks.papers.clams.exhibits.facts import BERT, MBERT
from blimpworks.papers.clams.exhibits.formulas import part as share_of
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
WORDS_AT_MOST = 22
"""Most focus words of a language, because all their subsets are tried."""


def read_sets(tables: Tables) -> pd.DataFrame:
    """Read the released evaluation sets with their constructions; no rows without the table."""
    sets = read_plain(EVALUATION_SETS, tables.get("evaluation_sets"))
    return sets.assign(construction=sets["paradigm"].map(construction_of))


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 1: an English minimal set of each construction; the cell's filter names it."""
    paths = [path for path in tables["items"] if path.stem == ENG]
    items = [row for p in paths for row in read_table(ITEMS, p, MARKED).to_pylist()]
    cells = []
    for key, name in CONSTRUCTIONS.items():
        names = paradigms(key, inanimate=False)
        item = next((item for item in items if item["paradigm"] in names), None)
        if item:
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
    languages = shown_languages(labels)
    grid = Grid([Column(lang, "", ("", name), lang) for lang, name in languages.items()])
    cells: list[Cell] = []
    if labels.source == "published":
        cells, caption = grid.printed(tables, "table6"), "As printed."
        sets = read_sets(tables)
        if not sets.empty:
            sizes = {}
            for (key, row), column in product(grid.rows.items(), grid.columns):
                where = {"lang": column.lang, "paradigm": paradigms(key, inanimate=False)}
                cell_key, stands_for = (row, f"{column.name}, released"), (key, column.key)
                size = formula_cell(sets, cell_key, TOTAL, "evaluation_sets", where, ".0f")
                sizes[stands_for] = replace(size, stands_for=stands_for, printed=False)
            same = sum(sizes[c.stands_for].value == c.value for c in cells if c.stands_for in sizes)
            caption += f" Of the released evaluation sets {same} of {len(cells)} have this size."
            cells += sizes.values()
        return table_of(describe("table6", caption=caption), cells, [grid])
    for path in tables["items"]:
        items = read_table(ITEMS, path, ["lang", "phenomenon", "paradigm"]).to_pandas()
        for column, (key, row) in product(grid.columns, grid.rows.items()):
            where = {"lang": column.lang, "phenomenon": AGREEMENT}
            where |= {"paradigm": paradigms(key, inanimate=False)}
            rows = select_rows(items, where)
            if not rows.empty:
                cell_key, n, number = (row, column.name), len(rows), (key, column.key)
                where = narrowed(rows, where)
                cells.append(
                    Cell(*cell_key, n, str(n), COUNT, "items", where, n, stands_for=number)
                )
    return table_of(describe("table6", caption="Of the campaign's pairs."), cells, [grid])


def table7(tables: Tables, labels: Labels) -> Exhibit:
    """Table 7: minimal sets that masked models could score; recomputed in the published form."""
    # Both models have columns in English, one in the other languages.
    columns = []
    for lang, name in shown_languages(labels).items():
        if lang == ENG:
            columns += [
                Column(lang, model_key, (name, HEADINGS[model_key])) for model_key in (BERT, MBERT)
            ]
        else:
            columns.append(Column(lang, MBERT, ("", name)))
    agreement, reflexives = by_phenomenon(columns, ENGLISH_PARTS)
    names = {**agreement.rows, SIMPLE: CONSTRUCTIONS[SIMPLE]}
    grids = [replace(agreement, rows=names), reflexives]
    cells = grid_cells(grids, "table7", tables, labels, measure_by(TOTAL, ".0f"))
    if labels.source == "published":
        printed = read_printed(tables)
        printed = printed[printed["exhibit"].isin(["table6", "table7"]) & printed["value"].notna()]
        row_names = {key: name for grid in grids for key, name in grid.rows.items()}
        sets = read_sets(tables)
        for column in grids[0].columns:
            if sets.empty:
                cells += _from_share(printed, column, row_names)
            else:
                cells += _from_words(printed, sets[sets["lang"] == column.lang], column, row_names)
        description = describe("table7_published")
    else:
        description = describe("table7", none="" if cells else NO_MASKED)
    return table_of(description, cells, grids)


def _from_words(
    printed: pd.DataFrame, sets: pd.DataFrame, column: Column, names: Mapping[str, str]
) -> Iterator[Cell]:
    """Count the sets of the focus words that account for most of a column."""
    numbers = select_rows(printed, {"exhibit": "table7", "column": column.key})
    sizes = dict(zip(numbers["row"], numbers["value"].astype(int), strict=True))
    focus = infer_vocabulary(sets, sizes)
    for key in sizes:
        where = {"lang": column.lang, "paradigm": paradigms(key, inanimate=True), "focus": focus}
        cell_key = (names[key], f"{column.name}, from the vocabulary")
        cell = formula_cell(sets, cell_key, TOTAL, "evaluation_sets", where, ".0f")
        yield replace(cell, stands_for=(key, column.key), printed=False)


def _from_share(printed: pd.DataFrame, column: Column, names: Mapping[str, str]) -> Iterator[Cell]:
    """Apply the share left of simple agreement to Table 6's sets with the same predicates."""
    values = printed.set_index(["exhibit", "row", "column"])["value"]
    used = values.get(("table7", SIMPLE, column.key))
    size = values.get(("table6", SIMPLE, column.lang))
    if used is None or size is None:
        return
    share = Fraction(int(used), int(size))
    formula = share_of(share.numerator, share.denominator)
    for key in ENGLISH_PREDICATES if column.lang == ENG else SAME_PREDICATES:
        if ("table6", key, column.lang) in values.index:
            where = {"exhibit": "table6", "row": key, "column": column.lang}
            cell_key = (names[key], f"{column.name}, from the vocabulary")
            cell = formula_cell(printed, cell_key, formula, "published", where, ".0f")
            yield replace(cell, stands_for=(key, column.key), printed=False)


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
