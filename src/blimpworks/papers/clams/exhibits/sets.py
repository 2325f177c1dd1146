"""CLAMS's minimal sets: examples (Figure 1), all (Table 6), those scored by BERT (Table 7).

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
from blimpworks.exhibits.formulas import COUNT, TOTAL, select_rows
from blimpworks.exhibits.shared import Tables, marked, read_plain, read_printed
from blimpworks.papers.clams.exhibits import describe
from blimpworks.papers.clams.exhibits.common import (
    HEADINGS,
    Column,
    Grid,
    Place,
    by_phenomenon,
    measure_by,
    narrowed,
    read_accuracies,
    select,
    shown_languages,
    table_of,
    whole,
)
from blimpworks.papers.clams.exhibits.facts import BERT, MBERT
from blimpworks.papers.clams.exhibits.formulas import part as share_of
from blimpworks.papers.clams.exhibits.results import ENG, ENGLISH_PARTS, NO_MASKED
from blimpworks.papers.clams.items.constructions import (
    AGREEMENT,
    CONSTRUCTIONS,
    construction_of,
    paradigms,
)
from blimpworks.tables import EVALUATION_SETS, ITEMS, read_table

SIMPLE = "simple_agrmt"
SAME_PREDICATES = ("vp_coord", "subj_rel", "obj_rel_across", "prep")
"""Constructions whose focus words are those of simple agreement."""
ENGLISH_PREDICATES = ("vp_coord", "subj_rel")
"""The same in English, where the others have sets with inanimate nouns too."""
MARKED = (
    *("item_id", "lang", "paradigm", "good", "bad"),
    *("good_start", "good_end", "bad_start", "bad_end"),
)
"""Columns of items that an example needs."""
WORDS_AT_MOST = 22
"""Focus words of a language; all their subsets are tried."""


def read_sets(tables: Tables) -> pd.DataFrame | None:
    """The released evaluation sets, each with its construction; None without them."""
    paths = tables.get("evaluation_sets") or []
    if not paths:
        return None
    sets = read_plain(EVALUATION_SETS, paths[0])
    return sets.assign(construction=sets["paradigm"].map(construction_of))


def _released_number(
    sets: pd.DataFrame, where: Mapping[str, Any], place: Place, stands_for: Place
) -> Cell:
    """How many released sets there are that a filter selects, for the CSV file alone."""
    selection = select("evaluation_sets", sets, where)
    return selection.cell(place, TOTAL, stands_for=stands_for, text=whole, printed=False)


# Figure 1


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


# Table 6


def table6(tables: Tables, labels: Labels) -> Exhibit:
    """Table 6: minimal sets by construction and language, with animate nouns."""
    grid = Grid(
        [Column(lang, "", ("", name), lang) for lang, name in shown_languages(labels).items()]
    )
    if labels.source == "published":
        cells, caption = grid.printed(tables, "table6"), "As printed."
        released = _released(read_sets(tables), grid)
        sizes = {cell.stands_for: cell.value for cell in released}
        same = sum(sizes.get(cell.stands_for) == cell.value for cell in cells)
        if released:
            caption += f" Of the released evaluation sets {same} of {len(cells)} have this size."
        cells += released
    else:
        cells, caption = _counted(tables, grid), "Of the campaign's pairs."
    return table_of(describe("table6", caption=caption), cells, [grid])


def _released(sets: pd.DataFrame | None, grid: Grid) -> list[Cell]:
    """The sizes of the released sets, for the CSV file."""
    if sets is None:
        return []
    return [
        _released_number(
            sets,
            {"lang": column.lang, "paradigm": paradigms(key, inanimate=False)},
            (row, f"{column.name}, released"),
            (key, column.key),
        )
        for key, row in grid.rows.items()
        for column in grid.columns
    ]


def _counted(tables: Tables, grid: Grid) -> list[Cell]:
    """The sizes of the campaign's own sets."""
    cells = []
    for path in tables["items"]:
        items = read_table(ITEMS, path, ["lang", "phenomenon", "paradigm"]).to_pandas()
        for column, (key, row) in product(grid.columns, grid.rows.items()):
            where = {
                "lang": column.lang,
                "phenomenon": AGREEMENT,
                "paradigm": paradigms(key, inanimate=False),
            }
            rows = select_rows(items, where)
            if not rows.empty:
                place, n, number = (row, column.name), len(rows), (key, column.key)
                where = narrowed(rows, where)
                cells.append(Cell(*place, n, str(n), COUNT, "items", where, n, stands_for=number))
    return cells


# Table 7


def table7(tables: Tables, labels: Labels) -> Exhibit:
    """Table 7: minimal sets that the masked models could be scored on; recomputed if published."""
    # A grid for each phenomenon: English has columns of both models, the others of one.
    columns = []
    for lang, name in shown_languages(labels).items():
        if lang == ENG:
            columns += [Column(lang, part, (name, HEADINGS[part])) for part in (BERT, MBERT)]
        else:
            columns.append(Column(lang, MBERT, ("", name)))
    agreement, reflexives = by_phenomenon(columns, ENGLISH_PARTS)
    # Called as in the tables of all languages.
    names = {**agreement.rows, SIMPLE: CONSTRUCTIONS[SIMPLE]}
    grids = [replace(agreement, rows=names), reflexives]
    if labels.source == "published":
        cells = [cell for grid in grids for cell in grid.printed(tables, "table7")]
        printed = read_printed(tables)
        printed = printed[printed["exhibit"].isin(["table6", "table7"]) & printed["value"].notna()]
        row_names = {key: name for grid in grids for key, name in grid.rows.items()}
        sets = read_sets(tables)
        for column in grids[0].columns:
            if sets is not None:
                cells += _from_words(printed, sets[sets["lang"] == column.lang], column, row_names)
            else:
                cells += _from_share(printed, column, row_names)
        description = describe("table7_published")
    else:
        accuracies, judged = read_accuracies(tables, labels), measure_by(TOTAL, whole)
        cells = [cell for grid in grids for cell in grid.cells(accuracies, judged)]
        description = describe("table7", none="" if cells else NO_MASKED)
    return table_of(description, cells, grids)


def _place(names: Mapping[str, str], construction: str, column: Column) -> Place:
    return names[construction], f"{column.name}, from the vocabulary"


def _from_words(
    printed: pd.DataFrame, sets: pd.DataFrame, column: Column, names: Mapping[str, str]
) -> list[Cell]:
    """Sets of the focus words that account for most of a column."""
    numbers = select_rows(printed, {"exhibit": "table7", "column": column.key})
    left = dict(zip(numbers["row"], numbers["value"].astype(int), strict=True))
    words = infer_vocabulary(sets, left)
    return [
        _released_number(
            sets,
            {
                "lang": column.lang,
                "paradigm": paradigms(construction, inanimate=True),
                "focus": words,
            },
            _place(names, construction, column),
            (construction, column.key),
        )
        for construction in left
    ]


def _from_share(printed: pd.DataFrame, column: Column, names: Mapping[str, str]) -> list[Cell]:
    """The share of sets left of simple agreement, of Table 6's sets with the same predicates."""
    values = printed.set_index(["exhibit", "row", "column"])["value"]
    used = values.get(("table7", SIMPLE, column.key))
    size = values.get(("table6", SIMPLE, column.lang))
    if used is None or size is None:
        return []
    share = Fraction(int(used), int(size))
    formula = share_of(share.numerator, share.denominator)
    cells = []
    for construction in ENGLISH_PREDICATES if column.lang == ENG else SAME_PREDICATES:
        where = {"exhibit": "table6", "row": construction, "column": column.lang}
        total = select("published", printed, where)
        if not total.rows.empty:
            place, key = _place(names, construction, column), (construction, column.key)
            cells.append(total.cell(place, formula, stands_for=key, text=whole, printed=False))
    return cells


def infer_vocabulary(sets: pd.DataFrame, left: Mapping[str, int]) -> list[str]:
    """Infer the focus words (``laugh/laughs``) that account for most of the numbers ``left``.

    CLAMS (appendix D) skips sets whose focus words are not in the vocabulary, and prints how many
    are left: a sum over words. ``sets`` has n by construction and focus, ``left`` by construction.
    Fewest words win, then the first ones. Raises ValueError for too many words.
    """
    wide = sets.pivot_table(index="construction", columns="focus", values="n", aggfunc="sum")
    counts = wide.reindex([*left]).fillna(0).to_numpy(np.int64)
    words = [str(word) for word in wide.columns]
    if len(words) > WORDS_AT_MOST:
        raise ValueError(f"{len(words)} focus words are more than {WORDS_AT_MOST}")
    n = len(words)
    bits = np.arange(2**n)[:, None] >> np.arange(n)
    chosen = (bits & 1).astype(np.int64)
    matched = (chosen @ counts.T == np.array([*left.values()])).sum(axis=1)
    # lexsort: the last key decides first; the subsets' own order breaks ties.
    best = np.lexsort((chosen.sum(axis=1), -matched))[0]
    return [word for word, taken in zip(words, chosen[best], strict=True) if taken]
