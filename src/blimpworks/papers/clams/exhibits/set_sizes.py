"""Make CLAMS's exhibits of minimal sets: examples (Figure 1, a table), and numbers (Tables 6, 7).

Table 6 has the number of sets of each construction (row) and language (column). Table 7 has the
number of sets that BERT could score: both focus words (``laugh/laughs``) are in its vocabulary.
The paper does not say which words these are, so the published form infers them from the numbers
(``infer_vocabulary``). It has the recomputed numbers in hidden cells, which are not shown.
Input: the campaign's items, the authors' released sets (``SETS``), and printed numbers.
Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020), appendix D.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, TOTAL, select_rows
from blimpworks.papers.clams.exhibits import describe, measures
from blimpworks.papers.clams.exhibits.facts import BERT, MBERT
from blimpworks.papers.clams.exhibits.measures import Grid
from blimpworks.papers.clams.exhibits.results import ENG, PRINTED_ENGLISH_SETS
from blimpworks.papers.clams.items import sets as clams
from blimpworks.papers.clams.items.sets import AGREEMENT, CONSTRUCTIONS
from blimpworks.tables import EVALUATION_SETS, ITEMS, read_table

SIMPLE = "simple_agrmt"
SAME_PREDICATES = ("vp_coord", "subj_rel", "obj_rel_across", "prep")
"""Constructions with the focus words (the two words that differ) of simple agreement."""
ENGLISH_PREDICATES = ("vp_coord", "subj_rel")
"""These constructions in English, where others have sets with inanimate nouns too."""
EXAMPLE_COLUMNS = ("item_id", "lang", "paradigm", "good", "bad", *shared.SPANS)
"""Columns of items that an example needs."""
SETS = "evaluation_sets"
MOST_FOCUS_WORDS = 22
"""Most focus words of a language, because all subsets of them are tried."""


def read_sets(tables: shared.Tables) -> pd.DataFrame:
    """Read the released evaluation sets with their constructions; no rows without the table."""
    sets = shared.read_plain(EVALUATION_SETS, tables.get(SETS))
    return sets.assign(construction=sets["paradigm"].map(clams.construction_of))


def fig1(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Figure 1, a table: an English minimal set of each construction."""
    paths = [path for path in tables["items"] if path.stem == ENG]
    items = [item for p in paths for item in read_table(ITEMS, p, EXAMPLE_COLUMNS).to_pylist()]
    cells = []
    for key, name in CONSTRUCTIONS.items():
        paradigms = clams.paradigms(key, inanimate=False)
        item = next((item for item in items if item["paradigm"] in paradigms), None)
        if item is not None:
            where = {column: item[column] for column in ("lang", "item_id", "paradigm")}
            cells.append(Cell(name, "Set", 1, shared.marked(item), COUNT, "items", where, n=1))
    description = describe("fig1", empty=not cells)
    return Exhibit(**description, cells=cells, widths={"Set": 0.65}, textual=True)


def table6(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 6: number of minimal sets with animate nouns, by construction and language.

    The published form has hidden cells with the sizes of the released sets.
    """
    languages = measures.shown_languages(labels).items()
    grid = Grid([measures.SeriesColumn(lang, "", ("", name), lang) for lang, name in languages])
    cells: list[Cell] = []
    if labels.source == "published":
        cells = grid.printed(tables, "table6")
        same, total = None, len(cells)
        sets = read_sets(tables)
        if not sets.empty:
            sizes = {}
            for (key, row), column in product(grid.rows.items(), grid.columns):
                where = {"lang": column.lang, "paradigm": clams.paradigms(key, inanimate=False)}
                cell_key, number = (row, f"{column.name}, released"), (key, column.key)
                cell = shared.formula_cell(sets, cell_key, TOTAL, SETS, where, ".0f")
                sizes[number] = replace(cell, stands_for=number, printed=False)
            same = sum(sizes[c.stands_for].value == c.value for c in cells if c.stands_for in sizes)
            cells += sizes.values()
        description = describe("table6_published", same=same, total=total)
        return measures.table_of(description, cells, [grid])
    for path in tables["items"]:
        items = read_table(ITEMS, path, ["lang", "phenomenon", "paradigm"]).to_pandas()
        for column, (key, row) in product(grid.columns, grid.rows.items()):
            names = clams.paradigms(key, inanimate=False)
            where = {"lang": column.lang, "phenomenon": AGREEMENT, "paradigm": names}
            rows = select_rows(items, where)
            if not rows.empty:
                n, where = len(rows), measures.narrowed(rows, where)
                cell = Cell(row, column.name, n, str(n), COUNT, "items", where, n)
                cells.append(replace(cell, stands_for=(key, column.key)))
    return measures.table_of(describe("table6"), cells, [grid])


def table7(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 7: number of minimal sets that English and multilingual BERT could score."""
    # The English model has a column in English only.
    columns: list[measures.SeriesColumn] = []
    for lang, name in measures.shown_languages(labels).items():
        if lang == ENG:
            columns += measures.columns_of({lang: name}, (BERT, MBERT))
        else:
            columns.append(measures.SeriesColumn(lang, MBERT, ("", name)))
    agreement, reflexives = measures.by_phenomenon(columns, PRINTED_ENGLISH_SETS)
    agreement_rows = {**agreement.rows, SIMPLE: CONSTRUCTIONS[SIMPLE]}
    grids = [replace(agreement, rows=agreement_rows), reflexives]
    measure = measures.measure_by(TOTAL, ".0f")
    cells = measures.grid_cells(grids, "table7", tables, labels, measure)
    description = describe("table7", published=labels.source == "published", empty=not cells)
    if labels.source == "measured":
        return measures.table_of(description, cells, grids)
    printed = shared.read_printed(tables)
    printed = printed[printed["exhibit"].isin(["table6", "table7"]) & printed["value"].notna()]
    # Both grids have a row "In a sentential complement"; only their columns tell the rows apart.
    names = {
        (key, column.key): (row, column.name)
        for grid in grids
        for (key, row), column in product(grid.rows.items(), grid.columns)
    }
    sets = read_sets(tables)
    for column in grids[0].columns:
        numbers = select_rows(printed, {"exhibit": "table7", "column": column.key})
        sizes = dict(zip(numbers["row"], numbers["value"].astype(int), strict=True))
        of_table6 = {"exhibit": "table6", "column": column.lang}
        rows, source, formula = printed, "published", TOTAL
        filters: dict[str, dict[str, Any]] = {}
        if not sets.empty:
            # Count the sets with the focus words that explain most numbers of the column.
            rows, source = sets[sets["lang"] == column.lang], SETS
            vocabulary = infer_vocabulary(rows, sizes)
            for key in sizes:
                filters[key] = {"lang": column.lang, "focus": vocabulary}
                filters[key]["paradigm"] = clams.paradigms(key, inanimate=True)
        else:
            # Constructions with the predicates of simple agreement have the same share of scored
            # sets, which is known where both tables have it.
            sets_of = select_rows(printed, of_table6).set_index("row")["value"]
            if SIMPLE in sizes and SIMPLE in sets_of:
                share = Fraction(sizes[SIMPLE], int(sets_of[SIMPLE]))
                formula = measures.fraction_of(share.numerator, share.denominator)
                keys = ENGLISH_PREDICATES if column.lang == ENG else SAME_PREDICATES
                filters = {key: {**of_table6, "row": key} for key in keys if key in sets_of}
        for key, where in filters.items():
            row, name = names[key, column.key]
            cell_key = (row, f"{name}, from the vocabulary")
            cell = shared.formula_cell(rows, cell_key, formula, source, where, ".0f")
            cells.append(replace(cell, stands_for=(key, column.key), printed=False))
    return measures.table_of(description, cells, grids)


def infer_vocabulary(sets: pd.DataFrame, scored_sets: Mapping[str, int]) -> list[str]:
    """Infer which focus words (``laugh/laughs``) a model's vocabulary has.

    ``scored_sets`` is the printed number of sets by construction. It should be the sum of n in
    ``sets`` over the focus words in the vocabulary, because the paper skips other sets (appendix
    D). All subsets of words are tried. The result gives the printed number of most constructions;
    among equal subsets, the smallest is chosen, then the first.
    Raises ValueError for more than ``MOST_FOCUS_WORDS`` words.
    """
    wide = sets.pivot_table(index="construction", columns="focus", values="n", aggfunc="sum")
    counts = wide.reindex([*scored_sets]).fillna(0).to_numpy(np.int64)
    focus_words = [str(word) for word in wide.columns]
    if len(focus_words) > MOST_FOCUS_WORDS:
        raise ValueError(f"{len(focus_words)} focus words are more than {MOST_FOCUS_WORDS}")
    # ``subsets`` [subset, word] is 1 for the words in a subset: row i has the binary digits of i.
    n = len(focus_words)
    subsets = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.int64)
    matched = (subsets @ counts.T == np.array([*scored_sets.values()])).sum(axis=1)
    # The last key of lexsort decides first, the order of the subsets last.
    best = np.lexsort((subsets.sum(axis=1), -matched))[0]
    return [word for word, is_in in zip(focus_words, subsets[best], strict=True) if is_in]
