"""Make CLAMS's tables: accuracies of LSTMs (1, 4, 5) and BERT (2, 3), and minimal sets (6, 7).

Figure 1, a table of examples, is here too. Three tables are not in the paper: pairs that LSTMs
could judge, all English sets (Marvin and Linzen 2018), and effects of the ways of scoring. Each
function makes the table of its name from a campaign's tables, or in the "published" form from the
numbers that the paper prints. Some cells of this form are hidden: they compare two numbers.

Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020), section 5.2 on scoring, and the
authors' counting script (docs/clams.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from blimpworks.campaign.registry import TIES
from blimpworks.exhibits import shared
from blimpworks.exhibits.descriptions import Description
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT, PERPLEXITY, TOTAL, Formula, select_rows
from blimpworks.papers.clams.exhibits import describe, measures
from blimpworks.papers.clams.exhibits.facts import BERT, MBERT, MONO, MULTI, PRINTED_MODELS
from blimpworks.papers.clams.exhibits.measures import AVERAGE, AVERAGE_KEY, RECOMPUTED_AVERAGE, Grid
from blimpworks.papers.clams.items import sets as clams
from blimpworks.papers.clams.items.sets import AGREEMENT, CONSTRUCTIONS, ENGLISH_SETS
from blimpworks.tables import EVALUATION_SETS, ITEMS, PERPLEXITIES, read_table

ENG = "eng"
NO_MASKED = " No masked model of the campaign has judged any of it."
NO_LSTM = " No LSTM of the campaign has judged any of it."
PRINTED_ENGLISH_SETS = ENGLISH_SETS[:2]
"""Phenomena of Tables 3 and 7."""


def _printed_elsewhere(
    tables: shared.Tables, exhibit: str, grid: Grid, column: str, name: str, stands_for: str
) -> list[Cell]:
    """List the numbers of a grid's rows in a column of another exhibit, as hidden cells."""
    cells = grid.printed(tables, exhibit, columns={column: name})
    return [replace(c, printed=False, stands_for=(c.where["row"], stands_for)) for c in cells]


def table2(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 2: accuracy of the multilingual masked model by construction and language."""
    languages = measures.shown_languages(labels)
    grid = Grid(
        [measures.SeriesColumn(lang, MBERT, ("", name), lang) for lang, name in languages.items()]
    )
    cells, caption = measures.grid_cells([grid], "table2", tables, labels, measures.accuracy), ""
    if labels.source == "published":
        cells += _printed_elsewhere(
            tables, "table3", grid, PRINTED_MODELS[MBERT], "English, Table 3", stands_for=ENG
        )
        caption = "As printed; the CSV file has the same English numbers from Table 3. "
    description = describe("table2", caption=caption, none="" if cells else NO_MASKED)
    return measures.table_of(description, cells, [grid])


def table3(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 3: accuracy of English and multilingual masked models on English sets.

    The published form adds the same numbers from Table 2, and averages of the rows.
    """
    accuracies = measures.read_accuracies(tables, labels)
    published = labels.source == "published"
    columns = measures.columns_of({ENG: ""}, (BERT, MBERT))
    columns = [replace(column, printed_key=PRINTED_MODELS[column.series]) for column in columns]
    grids = measures.by_phenomenon(columns, PRINTED_ENGLISH_SETS)
    cells: list[Cell] = []
    for grid in grids:
        key = f"{grid.phenomenon} average"
        if published:
            cells += grid.printed(tables, "table3", {**grid.rows, key: AVERAGE})
            multilingual_column = (ENG, "Multi, Table 2", PRINTED_MODELS[MBERT])
            cells += _printed_elsewhere(tables, "table2", grid, *multilingual_column)
            cells += grid.cells(accuracies, measures.average, {key: RECOMPUTED_AVERAGE})
            continue
        for column in grid.columns:
            column_grid = replace(grid, columns=[column])
            cells += column_grid.cells(accuracies, measures.accuracy)
            cells += column_grid.cells(accuracies, measures.average, {key: AVERAGE})
    key, none = "table3_published" if published else "table3", "" if cells else NO_MASKED
    further_rows = [AVERAGE, RECOMPUTED_AVERAGE] if published else [AVERAGE]
    sections = [grid.section(*further_rows) for grid in grids]
    return measures.table_of(describe(key, none=none), cells, grids, sections)


LSTM_SERIES = (MONO, MULTI)
PERPLEXITY_KEY, PERPLEXITY_NAME = "perplexity", "Test perplexity"
PERPLEXITY_ROW = {PERPLEXITY_KEY: PERPLEXITY_NAME}
AVERAGE_ROW, RECOMPUTED_ROW = {AVERAGE_KEY: AVERAGE}, {AVERAGE_KEY: RECOMPUTED_AVERAGE}
SEEDS = 2
"""Fewest models for a standard deviation over seeds."""


def lstm_grid(labels: Labels) -> Grid:
    """Make the grid of the LSTMs' tables."""
    return Grid(measures.columns_of(measures.shown_languages(labels), LSTM_SERIES))


def lstm_table(
    grid: Grid, description: Description, cells: Sequence[Cell], *groups: Mapping[str, str]
) -> Exhibit:
    """Lay out a table in groups of rows; rows without cells are left out."""
    present = {cell.row for cell in cells if cell.printed}
    sections = []
    for group in groups:
        rows = {key: name for key, name in group.items() if name in present}
        sections += [replace(grid, rows=rows).section()] if rows else []
    if not present:
        sections = [grid.section()]
        description["caption"] += NO_LSTM
    return measures.table_of(description, cells, [grid], sections)


def describe_training(labels: Labels) -> str:
    """Write the start of a caption, on the LSTMs that were trained for this campaign."""
    models = labels.facts.get("clams_training")
    return f"Models trained here, not the paper's: {models}. " if models else ""


def describe_scoring(labels: Labels) -> str:
    """Write the end of a measured table's caption, on how LSTMs decide pairs."""
    sentences = labels.facts.get("clams_scoring") if labels.source == "measured" else ""
    return f" {sentences}" if sentences else ""


def table1(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 1: accuracy of the LSTMs by construction and language, with averages."""
    accuracies, grid = measures.read_accuracies(tables, labels), lstm_grid(labels)
    last = AVERAGE_ROW
    if labels.source == "published":
        cells = grid.printed(tables, "table1", PERPLEXITY_ROW | CONSTRUCTIONS | AVERAGE_ROW)
        cells += grid.cells(accuracies, measures.average, RECOMPUTED_ROW)
        last = last | {"again": RECOMPUTED_AVERAGE}
        caption = "As printed; the last row is the mean of the seven printed accuracies above. "
    else:
        cells, caption = [], describe_training(labels)
        # Perplexity is a mean over seeds, on the language's test text.
        perplexities = shared.read_plain(PERPLEXITIES, tables.get("perplexities"))
        for column in grid.columns:
            where = {"lang": column.lang, "model": [*accuracies.models[column.series]]}
            rows = select_rows(perplexities, where)
            if not rows.empty:
                where |= shared.where_of(rows, ["model"])
                cell_key, key = (PERPLEXITY_NAME, column.name), (PERPLEXITY_KEY, column.key)
                cell = shared.formula_cell(rows, cell_key, PERPLEXITY, "perplexities", where, ".2f")
                cells.append(replace(cell, stands_for=key))
        cells += grid.cells(accuracies, measures.accuracy)
        cells += grid.cells(accuracies, measures.average, AVERAGE_ROW)
    description = describe("table1", caption=caption, scored=describe_scoring(labels))
    exhibit = lstm_table(grid, description, cells, PERPLEXITY_ROW, CONSTRUCTIONS, last)
    comparable = [cell for cell in cells if cell.row in CONSTRUCTIONS.values()]
    columns = {column.name for column in grid.columns}
    exhibit.bold = shared.best_of_each(comparable, columns, digits=2)
    return exhibit


def measure_gain(
    both: measures.Selection, cell_key: shared.Place, stands_for: shared.Place
) -> Cell | None:
    """Measure the gain in accuracy from a capital first letter; None if an accuracy is missing."""
    if both.rows["phenomenon"].nunique() < 2 or not both.complete:
        return None
    return with_sign(both.cell(cell_key, measures.GAIN, stands_for=stands_for))


def with_sign(cell: Cell) -> Cell:
    """Write a gain as in the paper: a sign and two decimals, or a dash for zero."""
    rounded = round(cell.value, 2)
    return replace(cell, text=f"{rounded:+.2f}".replace("0.", ".", 1) if rounded else "—")


def table4(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 4: gain in the LSTMs' accuracy from a capital first letter."""
    if labels.source == "measured":
        grid, last = lstm_grid(labels), AVERAGE_ROW
        both = replace(grid, phenomenon=(AGREEMENT, clams.CAPITALS))
        accuracies = measures.read_accuracies(tables, labels)
        cells = both.cells(accuracies, measure_gain)
        cells += both.cells(accuracies, measure_gain, AVERAGE_ROW)
        return lstm_table(grid, describe("table4"), cells, CONSTRUCTIONS, last)
    columns = [column for column in lstm_grid(labels).columns if column.lang in clams.CAPITALISED]
    grid, last = Grid(columns), AVERAGE_ROW | {"again": RECOMPUTED_AVERAGE}
    cells = grid.printed(tables, "table4", CONSTRUCTIONS | AVERAGE_ROW)
    # The paper's average gains are relative to the averages of Table 1.
    printed = shared.read_printed(tables)
    keys = [*CONSTRUCTIONS, AVERAGE_KEY]
    for column in grid.columns:
        where = {"exhibit": ["table1", "table4"], "row": keys, "column": column.key}
        numbers = select_rows(printed, where)
        of_table4 = numbers["exhibit"] == "table4"
        gains = numbers[of_table4 & (numbers["row"] != AVERAGE_KEY)]
        if (~of_table4).sum() == len(keys) and len(gains) == len(CONSTRUCTIONS):
            formula, cell_key = measures.PRINTED_GAIN, (RECOMPUTED_AVERAGE, column.name)
            cell = shared.formula_cell(numbers, cell_key, formula, "published", where, ".2f")
            cells.append(with_sign(replace(cell, stands_for=(AVERAGE_KEY, column.key))))
    return lstm_table(grid, describe("table4_published"), cells, CONSTRUCTIONS, last)


seed_sd = measures.measure_by(
    measures.sd_over(measures.MODEL),
    applies=lambda selection: selection.rows["model"].nunique() >= SEEDS,
)


def table5(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 5: standard deviation of the LSTMs' accuracy over seeds."""
    grid = lstm_grid(labels)
    cells = measures.grid_cells([grid], "table5", tables, labels, seed_sd)
    none = "" if cells else " No model was trained from several seeds."
    return lstm_table(grid, describe("table5", none=none), cells, CONSTRUCTIONS)


def lstm_sets(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of minimal sets with words that the LSTMs know, in the form of Table 7."""
    grid, measure = lstm_grid(labels), measures.measure_by(measures.PAIRS_PER_MODEL, ".0f")
    cells = grid.cells(measures.read_accuracies(tables, labels), measure)
    description = describe("lstm_sets", trained=describe_training(labels))
    return lstm_table(grid, description, cells, CONSTRUCTIONS)


def english(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of the LSTMs' accuracy on each English set, with reflexives and NPIs."""
    accuracies = measures.read_accuracies(tables, labels)
    of_english = accuracies.rows[accuracies.rows["lang"] == ENG]
    nouns = {"": "", clams.ANIMATE: ", animate", clams.INANIMATE: ", inanimate"}
    phenomena = []
    for phenomenon, title, names in ENGLISH_SETS:
        scored_sets = {*of_english["paradigm"][of_english["phenomenon"] == phenomenon]}
        # Names of paradigms; those of a construction with both kinds of nouns name the kind.
        named: dict[str, str] = {}
        for construction, name in names.items():
            endings = [ending for ending in nouns if construction + ending in scored_sets]
            for ending in endings:
                named[construction + ending] = name + nouns[ending] if len(endings) > 1 else name
        phenomena.append((phenomenon, title, named))
    columns = measures.columns_of({ENG: ""}, LSTM_SERIES)
    suffix = f", {AGREEMENT}"
    grids = measures.by_phenomenon([replace(c, suffix=suffix) for c in columns], phenomena)
    cells_of_grid = {grid.title: grid.cells(accuracies, measures.accuracy) for grid in grids}
    cells = [cell for of_grid in cells_of_grid.values() for cell in of_grid]
    sections = [grid.section() for grid in grids if cells_of_grid[grid.title]]
    sections = sections or [Section("", CONSTRUCTIONS, [])]
    texts = {"trained": describe_training(labels), "scored": describe_scoring(labels)}
    description = describe("english", **texts, none="" if cells else NO_LSTM)
    return measures.table_of(description, cells, grids, sections)


WAYS = (
    ("As published", "without_end", "right", 1),
    ("c ÷ n", "without_end", "right", 0),
    ("c ÷ n, ties half", "without_end", "half", 0),
    ("Corrected: and with the end of sentence", "full_sentence", "half", 0),
)
"""Name, method, tie policy, and number of correct items too many in each set, for each way.

The last is ``variant: corrected``.
"""


def variants(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of Table 1's averages by the authors' way of scoring and its corrections."""
    policies: Mapping[str, str] = labels.facts["clams_ties"]
    cells: list[Cell] = []
    for name, method, ties, more in WAYS:
        if method not in policies:
            continue
        accuracies = measures.read_accuracies(tables, replace(labels, method=method))
        formula = measures.counted(TIES[ties] - TIES[policies[method]], more)
        for column in lstm_grid(labels).columns:
            selection = accuracies.select(column.series, column.lang, CONSTRUCTIONS)
            if selection.complete:
                cells.append(selection.cell((", ".join(column.head), name), formula, ".3f"))
    rows = dict.fromkeys(cell.row for cell in cells)
    return Exhibit(
        **describe("variants", trained=describe_training(labels), none="" if cells else NO_LSTM),
        cells=cells,
        sections=[Section("", {row: row for row in rows}, [name for name, *_ in WAYS])],
    )


SIMPLE = "simple_agrmt"
SAME_PREDICATES = ("vp_coord", "subj_rel", "obj_rel_across", "prep")
"""Constructions with the focus words (the two that differ) of simple agreement."""
ENGLISH_PREDICATES = ("vp_coord", "subj_rel")
"""The same in English, where the other constructions have sets with inanimate nouns too."""
EXAMPLE_COLUMNS = (
    *("item_id", "lang", "paradigm", "good", "bad"),
    *("good_start", "good_end", "bad_start", "bad_end"),
)
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
    items = [row for p in paths for row in read_table(ITEMS, p, EXAMPLE_COLUMNS).to_pylist()]
    cells = []
    for key, name in CONSTRUCTIONS.items():
        names = clams.paradigms(key, inanimate=False)
        if item := next((item for item in items if item["paradigm"] in names), None):
            where = {column: item[column] for column in ("lang", "item_id", "paradigm")}
            cells.append(Cell(name, "Set", 1, shared.marked(item), COUNT, "items", where, n=1))
    return Exhibit(
        **describe("fig1", none="" if cells else " The campaign has no English sets."),
        cells=cells,
        widths={"Set": 0.65},
        textual=True,
    )


def table6(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 6: number of minimal sets with animate nouns, by construction and language.

    The published form has hidden cells with the sizes of the released sets.
    """
    languages = measures.shown_languages(labels).items()
    grid = Grid([measures.SeriesColumn(lang, "", ("", name), lang) for lang, name in languages])
    cells: list[Cell] = []
    if labels.source == "published":
        cells, caption = grid.printed(tables, "table6"), "As printed."
        sets = read_sets(tables)
        if not sets.empty:
            sizes = {}
            for (key, row), column in product(grid.rows.items(), grid.columns):
                where = {"lang": column.lang, "paradigm": clams.paradigms(key, inanimate=False)}
                cell_key, number = (row, f"{column.name}, released"), (key, column.key)
                cell = shared.formula_cell(sets, cell_key, TOTAL, SETS, where, ".0f")
                sizes[number] = replace(cell, stands_for=number, printed=False)
            same = sum(sizes[c.stands_for].value == c.value for c in cells if c.stands_for in sizes)
            caption += f" Of the released evaluation sets {same} of {len(cells)} have this size."
            cells += sizes.values()
        return measures.table_of(describe("table6", caption=caption), cells, [grid])
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
    return measures.table_of(describe("table6", caption="Of the campaign's pairs."), cells, [grid])


def table7(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 7: minimal sets that masked models could score; published, also recomputed."""
    # The English model has a column in English only.
    columns: list[measures.SeriesColumn] = []
    for lang, name in measures.shown_languages(labels).items():
        if lang == ENG:
            columns += measures.columns_of({lang: name}, (BERT, MBERT))
        else:
            columns.append(measures.SeriesColumn(lang, MBERT, ("", name)))
    agreement, reflexives = measures.by_phenomenon(columns, PRINTED_ENGLISH_SETS)
    names = {**agreement.rows, SIMPLE: CONSTRUCTIONS[SIMPLE]}
    grids, measure = [replace(agreement, rows=names), reflexives], measures.measure_by(TOTAL, ".0f")
    cells = measures.grid_cells(grids, "table7", tables, labels, measure)
    if labels.source == "measured":
        description = describe("table7", none="" if cells else NO_MASKED)
        return measures.table_of(description, cells, grids)
    printed = shared.read_printed(tables)
    printed = printed[printed["exhibit"].isin(["table6", "table7"]) & printed["value"].notna()]
    row_names = {key: name for grid in grids for key, name in grid.rows.items()}
    sets = read_sets(tables)
    for column in grids[0].columns:
        if sets.empty:
            computed = _from_share(printed, column)
        else:
            computed = _from_words(printed, sets[sets["lang"] == column.lang], column)
        for key, (rows, formula, source, where) in computed.items():
            cell_key = (row_names[key], f"{column.name}, from the vocabulary")
            cell = shared.formula_cell(rows, cell_key, formula, source, where, ".0f")
            cells.append(replace(cell, stands_for=(key, column.key), printed=False))
    return measures.table_of(describe("table7_published"), cells, grids)


Computed = dict[str, tuple[pd.DataFrame, Formula, str, dict[str, Any]]]
"""Rows, formula, source and filter for the number of each construction in a column."""


def _from_words(
    printed: pd.DataFrame, sets: pd.DataFrame, column: measures.SeriesColumn
) -> Computed:
    """Count the sets with the focus words that explain most numbers of a column of Table 7."""
    numbers = select_rows(printed, {"exhibit": "table7", "column": column.key})
    sizes = dict(zip(numbers["row"], numbers["value"].astype(int), strict=True))
    of_lang: dict[str, Any] = {"lang": column.lang}
    focus = {"focus": infer_vocabulary(sets, sizes)}
    paradigms = {key: clams.paradigms(key, inanimate=True) for key in sizes}
    filters = {key: of_lang | {"paradigm": names} | focus for key, names in paradigms.items()}
    return {key: (sets, TOTAL, SETS, where) for key, where in filters.items()}


def _from_share(printed: pd.DataFrame, column: measures.SeriesColumn) -> Computed:
    """Estimate numbers of Table 7 from Table 6, without the released sets.

    Constructions with the predicates of simple agreement have the same share of scored sets.
    """
    values = printed.set_index(["exhibit", "row", "column"])["value"]
    used = values.get(("table7", SIMPLE, column.key))
    size = values.get(("table6", SIMPLE, column.lang))
    if used is None or size is None:
        return {}
    share = Fraction(int(used), int(size))
    of_lang: dict[str, Any] = {"exhibit": "table6", "column": column.lang}
    formula = measures.fraction_of(share.numerator, share.denominator)
    keys = ENGLISH_PREDICATES if column.lang == ENG else SAME_PREDICATES
    present = [key for key in keys if ("table6", key, column.lang) in values.index]
    return {key: (printed, formula, "published", of_lang | {"row": key}) for key in present}


def infer_vocabulary(sets: pd.DataFrame, scored_sets: Mapping[str, int]) -> list[str]:
    """Infer which focus words (``laugh/laughs``) a model's vocabulary has.

    CLAMS (appendix D) skips sets with focus words that the vocabulary lacks, and prints the number
    of ``scored_sets`` of each construction: a sum over words of n in ``sets``. All subsets of words
    are tried; the best one explains most constructions. Of equally good ones, that with fewest
    words is chosen, then the first. Raises ValueError for too many words.
    """
    wide = sets.pivot_table(index="construction", columns="focus", values="n", aggfunc="sum")
    counts = wide.reindex([*scored_sets]).fillna(0).to_numpy(np.int64)
    focus_words = [str(word) for word in wide.columns]
    if len(focus_words) > MOST_FOCUS_WORDS:
        raise ValueError(f"{len(focus_words)} focus words are more than {MOST_FOCUS_WORDS}")
    # Each row of ``subsets`` [subset, word] is a number in binary: 1 for the words of the subset.
    n = len(focus_words)
    subsets = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.int64)
    matched = (subsets @ counts.T == np.array([*scored_sets.values()])).sum(axis=1)
    # The last key of lexsort decides first, the order of the subsets last.
    best = np.lexsort((subsets.sum(axis=1), -matched))[0]
    return [word for word, is_in in zip(focus_words, subsets[best], strict=True) if is_in]
