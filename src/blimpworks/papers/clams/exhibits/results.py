"""Make CLAMS's tables: of LSTMs (1, 4, 5), of BERT (2, 3), and of minimal sets (6, 7, Figure 1).

Each function makes the table of its name. A row is a construction. A column is a language and a
series, which is a group of models: the monolingual LSTMs (MONO), the multilingual ones (MULTI),
English BERT (BERT) or multilingual BERT (MBERT). A ``Grid`` (``measures``) has both.

A table has two forms. The measured form has the campaign's numbers. The published form
(``labels.source == "published"``) has the paper's numbers, and numbers computed from these or from
the released sets. Hidden cells (``printed=False``) are in the table's CSV file only. The row and
column of a cell are titles: ("Across subject rel. clause", "French Mono"). ``stands_for`` has the
keys of the paper's number with which the cell is compared: ("subj_rel", "fra clams-lstm-mono").

Three tables are ours: pairs that LSTMs could judge (``lstm_sets``), all English sets of Marvin and
Linzen 2018 (``english``), and the effects of ways of counting (``variants``).

Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020), section 5.2 (scoring), appendix
D (sets that BERT could score), and the authors' counting script (docs/clams.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from blimpworks.campaign.registry import TIES
from blimpworks.exhibits import shared
from blimpworks.exhibits.descriptions import Description
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT, N_SUM, PERPLEXITY, select_rows
from blimpworks.files import read_cells
from blimpworks.papers.clams.exhibits import describe, measures
from blimpworks.papers.clams.exhibits.measures import AVERAGE, AVERAGE_KEY, RECOMPUTED_AVERAGE, Grid
from blimpworks.papers.clams.items import sets as clams
from blimpworks.papers.clams.items.sets import AGREEMENT, CONSTRUCTIONS, ENGLISH_SETS
from blimpworks.papers.clams.paper import BERT, MBERT, MONO, MULTI, PRINTED_MODELS
from blimpworks.tables import EVALUATION_SETS, ITEMS, PERPLEXITIES, read_table

ENG, MBERT_KEY = "eng", PRINTED_MODELS[MBERT]
"""Keys of the column that Table 2 and Table 3 both have: multilingual BERT on English."""
PRINTED_ENGLISH_SETS = ENGLISH_SETS[:2]
"""Phenomena of Tables 3 and 7: agreement and reflexives."""


def _hidden_copies(
    tables: shared.Tables, grid: Grid, exhibit: str, column: str, title: str, compared_column: str
) -> list[Cell]:
    """Make hidden cells of the numbers in a ``column`` of another table (``exhibit``) of the paper.

    ``title``: column of the hidden cells; ``compared_column``: key of the column of the table at
    hand that should have the same numbers.
    """
    cells = grid.printed(tables, exhibit, columns={column: title})
    return [replace(c, printed=False, stands_for=(c.where["row"], compared_column)) for c in cells]


def table2(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 2: accuracy of multilingual BERT by construction and language."""
    languages = measures.shown_languages(labels).items()
    grid = Grid([measures.SeriesColumn(lang, MBERT, ("", name), lang) for lang, name in languages])
    cells = measures.grid_cells([grid], "table2", tables, labels, measures.accuracy)
    published = labels.source == "published"
    if published:
        cells += _hidden_copies(tables, grid, "table3", MBERT_KEY, "English, Table 3", ENG)
    stand_ins = measures.stand_ins(labels, cells, MBERT)
    description = describe("table2", published=published, empty=not cells, stand_ins=stand_ins)
    return measures.table_of(description, cells, [grid])


def table3(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 3: accuracy of English and multilingual BERT on agreement and reflexives.

    The published form adds Table 2's numbers of the same model, and averages of the rows.
    """
    accuracies = measures.read_accuracies(tables, labels)
    published = labels.source == "published"
    columns = measures.columns_of({ENG: ""}, (BERT, MBERT))
    columns = [replace(column, printed_key=PRINTED_MODELS[column.series]) for column in columns]
    grids = measures.by_phenomenon(columns, PRINTED_ENGLISH_SETS)
    cells: list[Cell] = []
    for grid in grids:
        average_key = f"{grid.phenomenon} average"
        if published:
            cells += grid.printed(tables, "table3", {**grid.rows, average_key: AVERAGE})
            cells += _hidden_copies(tables, grid, "table2", ENG, "Multi, Table 2", MBERT_KEY)
            cells += grid.cells(accuracies, measures.average, {average_key: RECOMPUTED_AVERAGE})
        else:
            for column in grid.columns:
                column_grid = replace(grid, columns=[column])
                cells += column_grid.cells(accuracies, measures.accuracy)
                cells += column_grid.cells(accuracies, measures.average, {average_key: AVERAGE})
    further_rows = [AVERAGE, RECOMPUTED_AVERAGE] if published else [AVERAGE]
    sections = [grid.section(*further_rows) for grid in grids]
    stand_ins = measures.stand_ins(labels, cells, BERT, MBERT)
    description = describe("table3", published=published, empty=not cells, stand_ins=stand_ins)
    return measures.table_of(description, cells, grids, sections)


LSTM_SERIES = (MONO, MULTI)
# Rows below the constructions: {key of the paper's row: title}.
PERPLEXITY_KEY, PERPLEXITY_NAME = "perplexity", "Test perplexity"
PERPLEXITY_ROW = {PERPLEXITY_KEY: PERPLEXITY_NAME}
AVERAGE_ROW, RECOMPUTED_ROW = {AVERAGE_KEY: AVERAGE}, {AVERAGE_KEY: RECOMPUTED_AVERAGE}
AVERAGE_ROWS = AVERAGE_ROW | {"recomputed": RECOMPUTED_AVERAGE}
"""Rows of averages in a published form: as printed, and computed from the rows above."""


def lstm_grid(labels: Labels) -> Grid:
    """Return the grid of the LSTMs' tables: each language, monolingual and multilingual."""
    return Grid(measures.columns_of(measures.shown_languages(labels), LSTM_SERIES))


def lstm_table(
    grid: Grid, description: Description, cells: Sequence[Cell], *groups: Mapping[str, str]
) -> Exhibit:
    """Return a table with a section for each group of rows; rows without cells are left out.

    A group has the titles of rows by key, such as ``CONSTRUCTIONS`` or ``AVERAGE_ROW``.
    """
    present = {cell.row for cell in cells if cell.printed}
    sections = []
    for group in groups:
        rows = {key: title for key, title in group.items() if title in present}
        if rows:
            sections.append(replace(grid, rows=rows).section())
    return measures.table_of(description, cells, [grid], sections or [grid.section()])


def describe_lstms(
    key: str, labels: Labels, cells: Sequence[Cell], **values: object
) -> Description:
    """Return title and caption of a table, with the LSTMs' training and method if measured."""
    facts = labels.facts if labels.source == "measured" else {}
    texts = {name: facts.get(f"clams_{name}") for name in ("training", "scoring")}
    return describe(key, empty=not any(cell.printed for cell in cells), **texts, **values)


def table1(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 1: accuracy of the LSTMs by construction and language, with averages."""
    accuracies, grid = measures.read_accuracies(tables, labels), lstm_grid(labels)
    published = labels.source == "published"
    if published:
        cells = grid.printed(tables, "table1", PERPLEXITY_ROW | CONSTRUCTIONS | AVERAGE_ROW)
        cells += grid.cells(accuracies, measures.average, RECOMPUTED_ROW)
    else:
        # Mean perplexity over seeds on the test text of each language.
        cells, perplexities = [], shared.read_plain(PERPLEXITIES, tables.get("perplexities"))
        for column in grid.columns:
            models = labels.facts["clams_models"][column.series]
            rows = select_rows(perplexities, {"lang": column.lang, "model": [*models]})
            if not rows.empty:
                where = {"lang": column.lang, **shared.where_of(rows, ["model"])}
                cell_key, key = (PERPLEXITY_NAME, column.name), (PERPLEXITY_KEY, column.key)
                cell = shared.formula_cell(rows, cell_key, PERPLEXITY, "perplexities", where, ".2f")
                cells.append(replace(cell, stands_for=key))
        cells += grid.cells(accuracies, measures.accuracy)
        cells += grid.cells(accuracies, measures.average, AVERAGE_ROW)
    description = describe_lstms("table1", labels, cells, published=published)
    exhibit = lstm_table(grid, description, cells, PERPLEXITY_ROW, CONSTRUCTIONS, AVERAGE_ROWS)
    comparable = [cell for cell in cells if cell.row in CONSTRUCTIONS.values()]
    columns = {column.name for column in grid.columns}
    exhibit.bold = shared.best_of_each(comparable, columns, digits=2)
    return exhibit


def measure_gain(
    selection: measures.Selection, cell_key: shared.Place, stands_for: shared.Place
) -> Cell | None:
    """Make the cell of the gain by a capital first letter; None without accuracies of both."""
    if selection.rows["phenomenon"].nunique() < 2 or not selection.complete:
        return None
    return with_sign(selection.cell(cell_key, measures.GAIN, stands_for=stands_for))


def with_sign(cell: Cell) -> Cell:
    """Return the cell with its text as in the paper: "+.02", "-.10", or a dash for zero."""
    rounded = round(cell.value, 2)
    return replace(cell, text=f"{rounded:+.2f}".replace("0.", ".", 1) if rounded else "—")


def table4(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 4: gain in the LSTMs' accuracy by a capital first letter."""
    if labels.source == "measured":
        grid = replace(lstm_grid(labels), phenomenon=(AGREEMENT, clams.CAPITALS))
        accuracies = measures.read_accuracies(tables, labels)
        cells = grid.cells(accuracies, measure_gain)
        cells += grid.cells(accuracies, measure_gain, AVERAGE_ROW)
        description = describe("table4", published=False, empty=not cells)
        return lstm_table(grid, description, cells, CONSTRUCTIONS, AVERAGE_ROW)
    columns = [column for column in lstm_grid(labels).columns if column.lang in clams.CAPITALISED]
    grid = Grid(columns)
    cells = grid.printed(tables, "table4", CONSTRUCTIONS | AVERAGE_ROW)
    # The paper's average gain is mean(Table 1 + Table 4) − Table 1's average.
    printed = shared.read_printed(tables)
    keys = [*CONSTRUCTIONS, AVERAGE_KEY]
    for column in grid.columns:
        where = {"exhibit": ["table1", "table4"], "row": keys, "column": column.key}
        numbers = select_rows(printed, where)
        in_table4 = numbers["exhibit"] == "table4"
        gains = numbers[in_table4 & (numbers["row"] != AVERAGE_KEY)]
        if (~in_table4).sum() == len(keys) and len(gains) == len(CONSTRUCTIONS):
            formula, cell_key = measures.PRINTED_GAIN, (RECOMPUTED_AVERAGE, column.name)
            cell = shared.formula_cell(numbers, cell_key, formula, "published", where, ".2f")
            cells.append(with_sign(replace(cell, stands_for=(AVERAGE_KEY, column.key))))
    description = describe("table4", published=True, empty=not cells)
    return lstm_table(grid, description, cells, CONSTRUCTIONS, AVERAGE_ROWS)


def table5(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 5: standard deviation of the LSTMs' accuracy over seeds."""
    grid = lstm_grid(labels)
    seed_sd = measures.measure_by(
        measures.sd_over(measures.MODEL),
        applies=lambda selection: selection.rows["model"].nunique() > 1,
    )
    cells = measures.grid_cells([grid], "table5", tables, labels, seed_sd)
    return lstm_table(grid, describe("table5", empty=not cells), cells, CONSTRUCTIONS)


def lstm_sets(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of the number of pairs that an LSTM could judge, in the form of Table 7."""
    grid, measure = lstm_grid(labels), measures.measure_by(measures.PAIRS_PER_MODEL, ".0f")
    cells = grid.cells(measures.read_accuracies(tables, labels), measure)
    return lstm_table(grid, describe_lstms("lstm_sets", labels, cells), cells, CONSTRUCTIONS)


def english(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of the LSTMs' accuracy on each English set, with reflexives and NPIs."""
    accuracies = measures.read_accuracies(tables, labels)
    english_rows = accuracies.rows[accuracies.rows["lang"] == ENG]
    # {ending of paradigms: ending of titles, if a construction has a set for each type of nouns}
    noun_types = {"": "", clams.ANIMATE: ", animate", clams.INANIMATE: ", inanimate"}
    phenomena = []
    for phenomenon, title, names in ENGLISH_SETS:
        scored_sets = {*english_rows["paradigm"][english_rows["phenomenon"] == phenomenon]}
        row_titles: dict[str, str] = {}  # {"prep_anim": "Across prepositional phrase, animate"}
        for construction, name in names.items():
            endings = [ending for ending in noun_types if construction + ending in scored_sets]
            for ending in endings:
                noun_type = noun_types[ending] if len(endings) > 1 else ""
                row_titles[construction + ending] = name + noun_type
        phenomena.append((phenomenon, title, row_titles))
    columns = measures.columns_of({ENG: ""}, LSTM_SERIES)
    # Each section has columns of its own names. ``by_phenomenon`` names those of other phenomena.
    columns = [replace(column, suffix=f", {AGREEMENT}") for column in columns]
    grids = measures.by_phenomenon(columns, phenomena)
    cells: list[Cell] = []
    sections: list[Section] = []
    for grid in grids:
        if grid_cells := grid.cells(accuracies, measures.accuracy):
            cells += grid_cells
            sections.append(grid.section())
    # A table without numbers has names of rows.
    sections = sections or [Section("", CONSTRUCTIONS, [])]
    return measures.table_of(describe_lstms("english", labels, cells), cells, grids, sections)


COUNTINGS = read_cells(Path(__file__).with_name("countings.tsv"))
"""Ways to compute the accuracy (c + added) ÷ (n + added) of a set with c of n items right. A tie
counts as "right" or "half" (``tie_policy``). The last row is the settings' variant "corrected"."""


def variants(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of Table 1's averages, with a column for each of ``COUNTINGS``."""
    campaign_policies: Mapping[str, str] = labels.facts["clams_ties"]  # by method
    cells: list[Cell] = []
    for counting in COUNTINGS:
        method = counting["method"]
        if method not in campaign_policies:
            continue
        accuracies = measures.read_accuracies(tables, replace(labels, method=method))
        # The column ``correct`` has ties already, by the campaign's policy.
        tie_change = TIES[counting["tie_policy"]] - TIES[campaign_policies[method]]
        formula = measures.counted(tie_change, int(counting["added"]))
        for column in lstm_grid(labels).columns:
            selection = accuracies.select(column.series, column.lang, CONSTRUCTIONS)
            if selection.complete:
                cell_key = (", ".join(column.head), counting["heading"])
                cells.append(selection.cell(cell_key, formula, ".3f"))
    headings = [counting["heading"] for counting in COUNTINGS]
    section = Section("", {cell.row: cell.row for cell in cells}, headings)
    description = describe_lstms("variants", labels, cells)
    return Exhibit(**description, cells=cells, sections=[section])


SETS = "evaluation_sets"
"""Name of the input table with sizes of the released sets by language, paradigm and focus. The
focus of a pair is the two words that differ: "laugh/laughs"."""


def read_sets(tables: shared.Tables) -> pd.DataFrame:
    """Read the released evaluation sets with their constructions; no rows without the table."""
    sets = shared.read_plain(EVALUATION_SETS, tables.get(SETS))
    return sets.assign(construction=sets["paradigm"].map(clams.construction_of))


def fig1(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Figure 1, a table: an English minimal set of each construction."""
    columns = ("item_id", "lang", "paradigm", "good", "bad", *shared.SPANS)
    paths = [path for path in tables["items"] if path.stem == ENG]
    items = [item for path in paths for item in read_table(ITEMS, path, columns).to_pylist()]
    cells = []
    for key, name in CONSTRUCTIONS.items():
        paradigms = clams.paradigms(key, inanimate=False)
        examples = [item for item in items if item["paradigm"] in paradigms]
        if examples:
            item = examples[0]
            where = {column: item[column] for column in ("lang", "item_id", "paradigm")}
            cells.append(Cell(name, "Set", 1, shared.marked(item), COUNT, "items", where, n=1))
    description = describe("fig1", empty=not cells)
    return Exhibit(**description, cells=cells, widths={"Set": 0.65}, textual=True)


def table6(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 6: number of minimal sets with animate nouns, by construction and language."""
    languages = measures.shown_languages(labels).items()
    grid = Grid([measures.SeriesColumn(lang, "", ("", name), lang) for lang, name in languages])
    if labels.source == "published":
        return _published_table6(tables, grid)
    cells = []
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


def _published_table6(tables: shared.Tables, grid: Grid) -> Exhibit:
    """Make Table 6 as printed, with hidden cells of the released sets' sizes."""
    cells, sets = grid.printed(tables, "table6"), read_sets(tables)
    if sets.empty:
        description = describe("table6_published", same=None, total=len(cells))
        return measures.table_of(description, cells, [grid])
    released: dict[shared.Place | None, Cell] = {}  # by keys of the paper's number
    for (key, row), column in product(grid.rows.items(), grid.columns):
        where = {"lang": column.lang, "paradigm": clams.paradigms(key, inanimate=False)}
        cell_key, stands_for = (row, f"{column.name}, released"), (key, column.key)
        cell = shared.formula_cell(sets, cell_key, N_SUM, SETS, where, ".0f")
        released[stands_for] = replace(cell, stands_for=stands_for, printed=False)
    # Number of printed sizes that the released sets have too.
    same = sum(released[cell.stands_for].value == cell.value for cell in cells)
    description = describe("table6_published", same=same, total=len(cells))
    return measures.table_of(description, [*cells, *released.values()], [grid])


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
    measure = measures.measure_by(measures.PAIRS_PER_MODEL, ".0f")
    cells = measures.grid_cells(grids, "table7", tables, labels, measure)
    published = labels.source == "published"
    stand_ins = measures.stand_ins(labels, cells, BERT, MBERT)
    description = describe("table7", published=published, empty=not cells, stand_ins=stand_ins)
    if published:
        cells += _recompute_table7(tables, grids)
    return measures.table_of(description, cells, grids)


def _recompute_table7(tables: shared.Tables, grids: Sequence[Grid]) -> Iterator[Cell]:
    """Yield hidden cells that explain Table 7 by the focus words in a model's vocabulary."""
    printed = shared.read_printed(tables)
    printed = printed[printed["exhibit"].isin(["table6", "table7"]) & printed["value"].notna()]
    # {keys of the paper's number: titles of row and column}
    titles: dict[shared.Place, shared.Place] = {}
    for grid in grids:
        for (key, row), column in product(grid.rows.items(), grid.columns):
            titles[key, column.key] = (row, column.name)
    sets = read_sets(tables)
    for column in grids[0].columns:
        if sets.empty:
            computed = _estimate_from_table6(printed, column)
        else:
            computed = _count_from_words(printed, sets[sets["lang"] == column.lang], column)
        for cell in computed:
            stands_for = (cell.row, cell.column)
            row, column_title = titles[stands_for]
            hidden = replace(cell, printed=False, stands_for=stands_for)
            yield replace(hidden, row=row, column=f"{column_title}, from the vocabulary")


def _count_from_words(
    printed: pd.DataFrame, sets: pd.DataFrame, column: measures.SeriesColumn
) -> Iterator[Cell]:
    """Count each construction's sets with the focus words that explain a column of Table 7 best.

    ``printed``: the paper's numbers; ``sets``: the column's language in ``read_sets``. Yield cells
    with the keys of the paper's numbers as row and column.
    """
    numbers = select_rows(printed, {"exhibit": "table7", "column": column.key})
    sizes = dict(zip(numbers["row"], numbers["value"].astype(int), strict=True))
    vocabulary = infer_vocabulary(sets, sizes)
    for key in sizes:
        paradigms = clams.paradigms(key, inanimate=True)
        where = {"lang": column.lang, "paradigm": paradigms, "focus": vocabulary}
        yield shared.formula_cell(sets, (key, column.key), N_SUM, SETS, where, ".0f")


SIMPLE = "simple_agrmt"
LIKE_SIMPLE = ("vp_coord", "subj_rel", "obj_rel_across", "prep")
"""Constructions whose focus words are those of simple agreement."""
LIKE_SIMPLE_IN_ENGLISH = ("vp_coord", "subj_rel")
"""English constructions whose focus words are those of simple agreement. English sets of
obj_rel_across and prep have inanimate nouns too, with verbs that simple agreement lacks ("brings").
"""


def _estimate_from_table6(printed: pd.DataFrame, column: measures.SeriesColumn) -> Iterator[Cell]:
    """Estimate numbers of Table 7 from Table 6, for want of the released sets.

    A model skips sets by their focus words. So it should have scored the same share of sets in each
    construction that has the focus words of simple agreement. Yield cells as ``_count_from_words``.
    """
    numbers = printed.set_index(["exhibit", "row", "column"])["value"]
    scored = numbers.get(("table7", SIMPLE, column.key))
    size = numbers.get(("table6", SIMPLE, column.lang))
    if scored is None or size is None:
        return
    share = Fraction(int(scored), int(size))
    formula = measures.fraction_of(share.numerator, share.denominator)
    for key in LIKE_SIMPLE_IN_ENGLISH if column.lang == ENG else LIKE_SIMPLE:
        if ("table6", key, column.lang) in numbers.index:
            where = {"exhibit": "table6", "column": column.lang, "row": key}
            cell_key = (key, column.key)
            yield shared.formula_cell(printed, cell_key, formula, "published", where, ".0f")


MOST_FOCUS_WORDS = 22
"""Most focus words of a language; more words have too many subsets to try all."""


def infer_vocabulary(sets: pd.DataFrame, scored_sets: Mapping[str, int]) -> list[str]:
    """Infer which focus words (``laugh/laughs``) a model's vocabulary has.

    ``scored_sets`` is the printed number of sets by construction. It should be the sum of n in
    ``sets`` over the focus words in the vocabulary, because the paper skips other sets (appendix
    D). With n = 10 for "laugh/laughs", n = 5 for "is/are", and 10 scored sets, the vocabulary has
    "laugh/laughs" alone. All subsets of words are tried. The result is the subset that gives the
    printed numbers of the most constructions; among equal subsets, the smallest, then the first.
    Raises ValueError for more than ``MOST_FOCUS_WORDS`` words.
    """
    wide = sets.pivot_table(index="construction", columns="focus", values="n", aggfunc="sum")
    counts = wide.reindex([*scored_sets]).fillna(0).to_numpy(np.int64)
    focus_words = [str(word) for word in wide.columns]
    if len(focus_words) > MOST_FOCUS_WORDS:
        raise ValueError(f"{len(focus_words)} focus words are more than {MOST_FOCUS_WORDS}")
    # Row i has the binary digits of i: [[0, 0], [1, 0], [0, 1], [1, 1]] are the subsets of two
    # words, with 1 for a word in the subset.
    n = len(focus_words)
    subsets = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.int64)
    sums = subsets @ counts.T  # [subset, construction]
    matches = (sums == [*scored_sets.values()]).sum(axis=1)
    # Most matches, then fewest words, then the first subset: lexsort's last key decides first.
    best = np.lexsort((subsets.sum(axis=1), -matches))[0]
    return [word for word, is_in in zip(focus_words, subsets[best], strict=True) if is_in]
