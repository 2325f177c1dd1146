"""Show accuracy by size of the training text: BLiMP's Figure 5, and slopes of the learning curves.

``fig5`` draws the accuracy on each phenomenon by size; ``slopes`` tabulates the gain per doubling
of the text (rows: phenomena) and test perplexities (rows: sizes). A curve is an architecture (LSTM,
Transformer-XL) trained on samples of several sizes, often with several seeds:

    ("LSTM", {1_000_000: ["lstm-1m-seed0", "lstm-1m-seed1"], 8_000_000: […]})

Curves come from the catalogue of models, accuracies and regressions from the campaign's tables.
Source: Warstadt et al. (2020), section 6.3.
"""

from collections import defaultdict
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from blimpworks.campaign.seeds import size_name
from blimpworks.exhibits import style
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import PERPLEXITY, UNWEIGHTED, select_rows
from blimpworks.exhibits.shared import Tables, printed_cell, read_plain, read_printed, row_cell
from blimpworks.items import ALL
from blimpworks.papers.blimp import analysis
from blimpworks.papers.blimp.exhibits import accuracies as acc
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.formulas import EXTRAPOLATED
from blimpworks.papers.blimp.paradigms import HUMAN, LANG, NAMES
from blimpworks.tables import PERPLEXITIES, REGRESSIONS

TITLES = {**NAMES, ALL: "Average"}
COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.VERMILION, style.PINK, style.SKY)
LINES: tuple[dict[str, Any], ...] = (
    {"marker": "o", "linestyle": "-"},
    {"marker": "^", "linestyle": (0, (4, 1.5))},
)
"""Line styles of the first six phenomena, and of the last six."""
STYLES: dict[str, dict[str, Any]] = {
    phenomenon: {"color": colour, "linewidth": 1, "markersize": 3.5, **line}
    for phenomenon, (line, colour) in zip(NAMES, product(LINES, COLOURS), strict=True)
}
STYLES[ALL] = {"color": style.GREY, "linewidth": 3.5, "alpha": 0.7, "zorder": 1}
PRINTED_AT = {125_000: "0.125M", 1_000_000: "1M", 8_000_000: "8M", 64_000_000: "64M"}
"""Numbers of tokens with a printed perplexity (footnote 16), and their printed names."""
PRINTED_CURVES = {"blimp-txl-curve": "TXL", "blimp-lstm-curve": "LSTM"}
"""Rows of models.tsv with printed slopes, and the printed names of their models."""
COMPLETE_TEXT = {"blimp-txl-curve": "transformer-xl-wt103", "blimp-lstm-curve": "lstm-gulordava"}
"""Rows of Table 3 with these architectures trained on the complete text, by row of models.tsv."""
SLOPE, TOKENS, PERPLEXITIES_AT = "slope", "log10 tokens", "perplexity"
"""Ends of column titles: accuracy gained per doubling of the text (0 to 1), logarithm of the
tokens at which the line reaches human accuracy, and test perplexity."""
DODGE = 0.015
"""Horizontal distance between the lines' points of one size, in doublings."""
NONE = "no model is trained on samples"
Curve = tuple[str, dict[int, list[str]]]
"""Label of models trained on samples; their names by number of tokens, the fewest first."""


def _read_curves(labels: Labels) -> dict[str, Curve]:
    """Return the campaign's curves by row of models.tsv; ``paper.blimp_curves`` computes them."""
    curves: dict[str, Curve] = {}
    for row, curve in labels.facts.get("blimp_curves", {}).items():
        sizes: dict[int, list[str]] = {size: [] for size in sorted({*curve["models"].values()})}
        for model, size in curve["models"].items():
            sizes[size].append(model)
        curves[row] = curve["label"], sizes
    return curves


def _with_deviation(cell: Cell, values: pd.Series) -> Cell:
    """Return the cell of a mean with the interval of one standard deviation of the ``values``."""
    if len(values) < 2:
        return replace(cell, n=len(values))
    deviation = float(values.std())
    low, high = cell.value - deviation, cell.value + deviation
    return replace(cell, n=len(values), low=low, high=high)


def fig5(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 5: accuracy on each phenomenon by training tokens, with a panel per curve."""
    curves = _read_curves(labels)
    if not curves:
        return Exhibit(**describe("fig5"), cells=[], figure=style.empty_figure(NONE, height=2.9))
    rows = acc.read_own(tables, labels)
    by_model = 100 * analysis.phenomena_accuracies(rows)
    cells: list[Cell] = []
    figure = style.new_figure(style.PAGE_INCHES, 2.9 * len(curves))
    grid = figure.subplots(len(curves), 1, squeeze=False, sharey=True)
    for axes, (label, models_by_size) in zip(grid.flat, curves.values(), strict=True):
        points: dict[str, dict[int, Cell]] = defaultdict(dict)  # means by phenomenon and size
        for size, models in models_by_size.items():
            evaluated = [model for model in models if model in by_model.index]
            size_rows = rows[rows["model"].isin(evaluated)]
            for phenomenon, name in TITLES.items():
                uids = acc.paradigms_of(phenomenon)
                accuracies = size_rows[size_rows["paradigm"].isin(uids)]
                if not accuracies.empty:
                    cell_key = (name, f"{label}, {size_name(size)}")
                    mean = acc.computed_cell(accuracies, cell_key, UNWEIGHTED)
                    model_means = by_model.loc[evaluated, phenomenon].dropna()
                    points[phenomenon][size] = _with_deviation(mean, model_means)

        for number, (phenomenon, cells_by_size) in enumerate(points.items()):
            # Points of one size are side by side, so that error bars don't hide each other. The
            # axis is binary logarithmic, so the same distance is the same factor.
            dodge = 2 ** (DODGE * (number - len(NAMES) / 2))
            sizes, line_cells = [size * dodge for size in cells_by_size], [*cells_by_size.values()]
            values = [cell.value for cell in line_cells]
            errors = [0.0 if cell.high is None else cell.high - cell.value for cell in line_cells]
            axes.errorbar(sizes, values, errors, elinewidth=0.5, capsize=1.5, **STYLES[phenomenon])
            cells += line_cells
        axes.axhline(50, color="black", linewidth=0.6, linestyle=":")
        axes.set_xscale("log", base=2)
        axes.set_xticks([*models_by_size], [size_name(size).upper() for size in models_by_size])
        axes.minorticks_off()
        axes.set_title(label, loc="left")
        axes.set_ylabel("accuracy (%)")
    grid.flat[-1].set_xlabel("tokens of training text")
    handles = [Line2D([], [], label=TITLES[key], **look) for key, look in STYLES.items()]
    figure.legend(handles=handles, loc="outside right center", handlelength=3)
    return Exhibit(**describe("fig5"), cells=cells, figure=figure)


def _printed_slopes(printed: pd.DataFrame, *, extrapolated: bool) -> list[Cell]:
    """Make cells of the printed slopes; ``extrapolated`` adds the tokens for human accuracy."""
    cells = []
    curve_rows = printed[(printed["exhibit"] == "text") & printed["row"].isin(PRINTED_CURVES)]
    for _, row in curve_rows[curve_rows["column"].str.startswith("slope ")].iterrows():
        key, name = row["column"].removeprefix("slope "), PRINTED_CURVES[row["row"]]
        cells.append(printed_cell(row, (NAMES[key], f"printed {name} {SLOPE}")))
        if extrapolated:
            where = {
                "exhibit": ["table3", "text"],
                "row": [row["row"], HUMAN, COMPLETE_TEXT[row["row"]]],
                "column": [row["column"], key, "training tokens"],
            }
            cell_key, formula = (NAMES[key], f"printed {name} {TOKENS}"), EXTRAPOLATED
            cells.append(acc.formula_cell(printed, cell_key, formula, "published", where, "{:.1f}"))
    return cells


TERM_COLUMNS = {analysis.DOUBLING: SLOPE, analysis.TO_HUMAN: TOKENS}
"""Columns of the terms of a curve that ``slopes`` shows."""


def slopes(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate slopes of the curves beside the printed slopes, and test perplexity by size."""
    printed, measured = read_printed(tables), labels.source == "measured"
    curves = _read_curves(labels) if measured else {}
    slope_cells: list[Cell] = []
    if measured:
        terms = read_plain(REGRESSIONS, tables["curves"][0])
        terms = terms[terms["term"].isin(TERM_COLUMNS) & terms["analysis"].isin(TITLES)]
        keys = ("analysis", "model", "term")
        for curve_row, (label, _) in curves.items():
            for _, term in terms[terms["model"] == curve_row].iterrows():
                value, column = term["coefficient"], TERM_COLUMNS[term["term"]]
                cell_key = (TITLES[term["analysis"]], f"{label} {column}")
                cell = row_cell("regressions", term, keys, "coefficient", cell_key, f"{value:.1f}")
                if column == SLOPE:
                    text = f"{value:.4f} ± {term['high'] - value:.4f}".replace("-", "−")
                    ends = {"low": term["low"], "high": term["high"]}
                    cell = replace(cell, text=text, n=int(term["n"]), **ends)
                slope_cells.append(cell)
    slope_cells += _printed_slopes(printed, extrapolated=not measured)
    order = [*TITLES.values()]
    slope_cells.sort(key=lambda cell: order.index(cell.row))
    perplexities = read_plain(PERPLEXITIES, tables.get("perplexities"))
    perplexity_cells = _perplexity_cells(perplexities, printed, curves)
    sections = []
    heads: dict[str, tuple[str, str]] = {}
    for title, cells in (("Phenomenon", slope_cells), ("Training text", perplexity_cells)):
        columns = list(dict.fromkeys(cell.column for cell in cells))
        sections.append(Section(title, {cell.row: cell.row for cell in cells}, columns))
        for column in columns:
            # Headings have two lines: the model, and the number.
            end = next(end for end in (SLOPE, TOKENS, PERPLEXITIES_AT) if column.endswith(end))
            heads[column] = (column.removesuffix(end).strip(), end)
    return Exhibit(
        **describe("slopes" if measured else "slopes_published", curves=curves),
        cells=[*slope_cells, *perplexity_cells],
        heads=heads,
        sections=sections,
    )


def _perplexity_cells(
    perplexities: pd.DataFrame, printed: pd.DataFrame, curves: dict[str, Curve]
) -> list[Cell]:
    """Make cells of measured means and printed test perplexities, the smallest text first."""
    cells: dict[int, list[Cell]] = defaultdict(list)  # by size
    for label, sizes in curves.values():
        for size, models in sizes.items():
            where = {"lang": LANG, "model": models}
            rows = select_rows(perplexities, where)
            if not rows.empty:  # only LSTMs have perplexities
                cell_key = (f"{size:,} tokens", f"{label} {PERPLEXITIES_AT}")
                cell = acc.formula_cell(rows, cell_key, PERPLEXITY, "perplexities", where, "{:.1f}")
                cells[size].append(_with_deviation(cell, rows["perplexity"]))
    for size, name in PRINTED_AT.items():
        where = {"exhibit": "text", "row": "curve", "column": f"perplexity at {name}"}
        for _, row in select_rows(printed, where).iterrows():
            cell_key = (f"{size:,} tokens", f"printed {PERPLEXITIES_AT}")
            cells[size].append(printed_cell(row, cell_key))
    return [cell for size in sorted(cells) for cell in cells[size]]
