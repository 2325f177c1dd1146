"""Make CLAMS's exhibits of minimal sets: examples (Figure 1, a table), and numbers (Tables 6, 7).

Table 6 has the number of sets of each construction (row) and language (column). Table 7 has the
number of sets that BERT could score: both focus words (``laugh/laughs``) are in its vocabulary.
The paper does not say which words these are. The published form (made from printed numbers) infers
them (``infer_vocabulary``); its hidden cells have the numbers that follow from them.
Input: the campaign's items, the authors' released sets (``SETS``), and printed numbers.
Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020), appendix D.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, TOTAL, Formula, select_rows
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
"""The same for English, where sets of the other two constructions also have inanimate nouns."""
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
        released = _released_cells(read_sets(tables), grid)
        released_sizes = {cell.stands_for: cell.value for cell in released}
        equal_count = sum(released_sizes.get(cell.stands_for) == cell.value for cell in cells)
        same = equal_count if released else None
        description = describe("table6_published", same=same, total=len(cells))
        return measures.table_of(description, [*cells, *released], [grid])
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


def _released_cells(sets: pd.DataFrame, grid: Grid) -> list[Cell]:
    """Return the hidden cells of Table 6, with numbers of released sets; none without these."""
    cells: list[Cell] = []
    for (key, row), column in product(grid.rows.items(), grid.columns) if len(sets) else ():
        where = {"lang": column.lang, "paradigm": clams.paradigms(key, inanimate=False)}
        cell_key = (row, f"{column.name}, released")
        cell = shared.formula_cell(sets, cell_key, TOTAL, SETS, where, ".0f")
        cells.append(replace(cell, stands_for=(key, column.key), printed=False))
    return cells


class Computed(NamedTuple):
    """A number of Table 7, by a formula from those ``rows`` of a table that ``where`` selects."""

    rows: pd.DataFrame
    formula: Formula
    source: str
    where: dict[str, Any]


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
    # Titles by keys. "In a sentential complement" is a row of both grids, under other columns.
    titles = {
        (key, column.key): (row, column.name)
        for grid in grids
        for (key, row), column in product(grid.rows.items(), grid.columns)
    }
    sets = read_sets(tables)
    for column in columns:
        if sets.empty:
            computed = _from_share(printed, column)
        else:
            computed = _from_words(printed, sets[sets["lang"] == column.lang], column)
        for key, (rows, formula, source, where) in computed.items():
            row, column_title = titles[key, column.key]
            cell_key = (row, f"{column_title}, from the vocabulary")
            cell = shared.formula_cell(rows, cell_key, formula, source, where, ".0f")
            cells.append(replace(cell, stands_for=(key, column.key), printed=False))
    return measures.table_of(description, cells, grids)


def _from_words(
    printed: pd.DataFrame, sets: pd.DataFrame, column: measures.SeriesColumn
) -> dict[str, Computed]:
    """Count each construction's sets with the focus words that explain a column of Table 7 best."""
    numbers = select_rows(printed, {"exhibit": "table7", "column": column.key})
    sizes = dict(zip(numbers["row"], numbers["value"].astype(int), strict=True))
    vocabulary = infer_vocabulary(sets, sizes)
    computed = {}
    for key in sizes:
        paradigms = clams.paradigms(key, inanimate=True)
        where = {"lang": column.lang, "paradigm": paradigms, "focus": vocabulary}
        computed[key] = Computed(sets, TOTAL, SETS, where)
    return computed


def _from_share(printed: pd.DataFrame, column: measures.SeriesColumn) -> dict[str, Computed]:
    """Estimate numbers of Table 7 from Table 6, without the released sets.

    They assume the same share of scored sets where the focus words are those of simple agreement.
    """
    values = printed.set_index(["exhibit", "row", "column"])["value"]
    scored = values.get(("table7", SIMPLE, column.key))
    size = values.get(("table6", SIMPLE, column.lang))
    if scored is None or size is None:
        return {}
    share = Fraction(int(scored), int(size))
    where: dict[str, Any] = {"exhibit": "table6", "column": column.lang}
    formula = measures.fraction_of(share.numerator, share.denominator)
    keys = ENGLISH_PREDICATES if column.lang == ENG else SAME_PREDICATES
    present = [key for key in keys if ("table6", key, column.lang) in values.index]
    return {key: Computed(printed, formula, "published", where | {"row": key}) for key in present}


def infer_vocabulary(sets: pd.DataFrame, scored_sets: Mapping[str, int]) -> list[str]:
    """Infer which focus words (``laugh/laughs``) a model's vocabulary has.

    ``scored_sets`` is the printed number of sets by construction. It should be the sum of n in
    ``sets`` over the focus words in the vocabulary, because the paper skips other sets (appendix
    D). All subsets of words are tried. The result is the subset that gives the printed numbers of
    the most constructions; among equal subsets, the smallest is chosen, then the first.
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
    # Most matches, then fewest words, then the first subset: lexsort's last key decides first.
    best = np.lexsort((subsets.sum(axis=1), -matched))[0]
    return [word for word, is_in in zip(focus_words, subsets[best], strict=True) if is_in]
