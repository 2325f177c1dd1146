"""Show accuracy by properties of pairs (Figure 2 of BLiMP), on generated pairs, by size of text.

Source: Warstadt et al. (2020), section 5.2; Figure 5, section 6.3 and footnote 16 on curves and
their slopes. The figure of generated pairs is not the paper's. Pairs of one paradigm by two
generators test the same knowledge with other words, so different accuracies show the influence of
words.
"""

from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.catalogue import size_name
from blimpworks.errors import UserError
from blimpworks.exhibits import style
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import PERPLEXITY, UNWEIGHTED, select_rows
from blimpworks.exhibits.shared import (
    Tables,
    printed_cell,
    read_plain,
    read_printed,
    row_accuracy_cell,
    row_cell,
)
from blimpworks.papers.blimp import analysis
from blimpworks.papers.blimp import paradigms as blimp
from blimpworks.papers.blimp.exhibits import accuracies as acc
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.figures import CHANCE
from blimpworks.papers.blimp.exhibits.formulas import EXTRAPOLATED, SETS_PEARSON, common
from blimpworks.papers.blimp.paradigms import HUMAN, LANG, NAMES
from blimpworks.papers.blimp.tables import BINS
from blimpworks.tables import ACCURACIES, PERPLEXITIES, REGRESSIONS

BINNED = "bins"
AXES = {
    analysis.LENGTH: "sentence length (words)",
    analysis.PERPLEXITY: "perplexity per token",
    analysis.PROBABILITY: "log P(good) (nats)",
    analysis.CONFIDENCE: "|log P(good) − log P(bad)| (nats)",
}
"""Labels of axes by factor; their order is the paper's."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SPREAD = 25
"""Ratio of largest to smallest perplexity above which its axis is logarithmic."""
KEYS = ("model", "lang", "method", "factor", "bin")


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 2: accuracy by bins of length, perplexity, probability and confidence."""
    if labels.source == "published":
        figure = style.empty_figure("not printed: it needs the scores of single sentences")
        return Exhibit(**describe("fig2_published"), cells=[], figure=figure)
    path = tables[BINNED][0]
    where = {"model": [*labels.models], "lang": LANG, "method": labels.method}
    rows = select_rows(read_plain(BINS, path), where)
    if rows.empty:
        raise UserError(
            f"{path} has no bins by method {labels.method} of the campaign's models on English; "
            "bin them by that method."
        )
    orders = {"model": labels.models, "factor": AXES}
    for column, order in orders.items():
        rows = rows.astype({column: pd.CategoricalDtype([*order])})
    rows = rows.sort_values(["model", "factor", "bin"]).astype(dict.fromkeys(orders, object))
    names = acc.model_names(rows, labels)

    cells: list[Cell] = []
    for _, row in rows.iterrows():
        line, column = f"{names[row['model']]}: {AXES[row['factor']]}", f"bin {row['bin'] + 1}"
        # Here halves are rounded to even digits, unlike in tables that repeat printed ones.
        where = {key: row[key] for key in KEYS}
        cells.append(row_accuracy_cell(row, (line, column), where, BINNED))
        text = f"{row['mean']:.4g}"
        mean = row_cell(BINNED, row, KEYS, "mean", (line, f"{column}, mean"), text)
        cells.append(replace(mean, n=int(row["n"])))

    figure = style.new_figure(style.PAGE_INCHES, 4.4)
    grid = figure.subplots(2, 2, sharey=True)
    for axes, factor in zip(grid.flat, AXES, strict=True):
        of_factor = rows[rows["factor"] == factor]
        for number, (model, name) in enumerate(names.items()):
            points = of_factor[of_factor["model"] == model]
            colour, marker = (
                style.PALETTE[number % len(style.PALETTE)],
                MARKERS[number % len(MARKERS)],
            )
            low, high, accuracies = (100 * points[key] for key in ("low", "high", "accuracy"))
            axes.fill_between(points["mean"], low, high, color=colour, alpha=0.2, lw=0)
            axes.plot(
                points["mean"], accuracies, color=colour, marker=marker, ms=3, lw=1, label=name
            )
        axes.axhline(CHANCE, color=style.GREY, lw=0.8, ls="--")
        means = of_factor["mean"]
        if factor == analysis.PERPLEXITY and means.max() > SPREAD * means.min():
            axes.set_xscale("log")
        axes.set(xlabel=AXES[factor], ylim=(0, 100), yticks=range(0, 101, 25))
    for axes in grid[:, 0]:
        axes.set_ylabel("accuracy (%)")
    handles, texts = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper center", ncols=min(len(texts), 4))

    judged = rows[rows["factor"] == analysis.LENGTH].groupby("model")["n"].sum()
    models = acc.models_sentences(tables, labels, counts=judged)
    description = describe("fig2", bins=int(rows["bin"].max()) + 1, models=models)
    return Exhibit(**description, cells=cells, figure=figure)


# Generated pairs

SETS = {blimp.BENCHMARK: "released", blimp.GENERATED: "generated"}
OVERALL = "Overall"
ACROSS = 3
NAMED = 3
"""Paradigms numbered and named below a panel: those with the largest differences."""


def _in_both_sets(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    sets = rows.groupby(by, observed=True)["benchmark"].nunique()
    return rows[rows[by].isin(sets.index[sets == len(SETS)])]


def _cells(rows: pd.DataFrame, model: str) -> list[Cell]:
    """Make a model's cells: accuracies by paradigm and set, means over shared ones, correlation."""
    # Means over unlike paradigms could not be compared.
    cells, both = [], _in_both_sets(rows, "paradigm")
    for benchmark, name in SETS.items():
        of_set = rows[rows["benchmark"] == benchmark]
        column = f"{model}: {name}"
        present = {*of_set["paradigm"]}
        further = sorted(present - blimp.PHENOMENON_OF.keys())
        for uid in [*(uid for uid in blimp.PHENOMENON_OF if uid in present), *further]:
            cells.append(acc.mean_cell(of_set[of_set["paradigm"] == uid], (uid, column)))
        if not both.empty:
            cells.append(acc.mean_cell(both[both["benchmark"] == benchmark], (OVERALL, column)))
    if common(both, "benchmark") >= acc.ENOUGH:
        cell_key = (OVERALL, f"{model}: r")
        cells.append(acc.pearson_cell(both, cell_key, SETS_PEARSON, "benchmark"))
    return cells


def generated(tables: Tables, labels: Labels) -> Exhibit:
    """Draw accuracy on generated pairs against that on released ones, a panel per model."""
    rows = read_plain(ACCURACIES, tables["data_sets"]).assign(source=acc.OWN)
    rows = select_rows(rows[rows["paradigm"] != ALL], {"method": labels.method, "lang": LANG})
    rows = _in_both_sets(rows, "model")
    names = acc.model_names(rows, labels)
    method = labels.method.replace("_", " ")
    description = describe("generated", method=method, numbered=NAMED)
    if not names:
        figure = style.empty_figure("no model has judged both sets", height=2.7)
        return Exhibit(**description, cells=[], figure=figure)
    cells: list[Cell] = []
    lines = -(-len(names) // ACROSS)
    figure = style.new_figure(style.PAGE_INCHES, 0.3 + 2.4 * lines)
    grid = figure.subplots(lines, min(ACROSS, len(names)), squeeze=False)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for axes, (model, name) in zip(grid.flat, names.items(), strict=False):
        of_model = _cells(rows[rows["model"] == model], name)
        # A point per paradigm: the largest differences have numbers, those in one set names.
        every = pd.DataFrame(
            {"row": c.row, "set": c.column.rpartition(": ")[2], "value": c.value}
            for c in of_model
            if c.row != OVERALL
        ).pivot(index="row", columns="set", values="value")
        wide = every.dropna()
        beside: dict[str, Any] = {"textcoords": "offset points", "ha": "left", "fontsize": 4.5}
        axes.plot([0, 100], [0, 100], color=style.GREY, lw=0.8)
        axes.axhline(50, color=style.GREY, lw=0.6, ls="--")
        axes.axvline(50, color=style.GREY, lw=0.6, ls="--")
        axes.plot(
            wide["released"], wide["generated"], "o", ms=2.6, color=style.BLUE, alpha=0.8, mew=0
        )
        for uid, value in every["generated"][every["released"].isna()].items():
            axes.plot(0, value, ">", ms=4, color=style.ORANGE, mew=0, clip_on=False, zorder=3)
            axes.annotate(str(uid), (0, value), (5, -1.5), **beside)
        far = (wide["released"] - wide["generated"]).abs().nlargest(NAMED).index
        for number, uid in enumerate(far, start=1):
            point = wide["released"][uid], wide["generated"][uid]
            axes.annotate(str(number), point, (2, 1.5), **beside)
        # Below the panel, where long names have room and none hides another.
        listed = (f"{number} {uid}" for number, uid in enumerate(far, start=1))
        axes.set_xlabel("\n".join(listed), fontsize=4.5, loc="left")
        r = next((cell.text for cell in of_model if cell.column == f"{name}: r"), "")
        axes.set_title(f"{name}{r and f', r = {r}'}", loc="left")
        axes.set(xlim=(0, 100), ylim=(0, 100), xticks=range(0, 101, 25), yticks=range(0, 101, 25))
        axes.set_aspect("equal")
        cells += of_model
    figure.supxlabel("accuracy on released pairs (%)", fontsize="medium")
    figure.supylabel("accuracy on generated pairs (%)", fontsize="medium")
    return Exhibit(**description, cells=cells, figure=figure)


# Learning curves

ROWS = {**NAMES, ALL: "Average"}
COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.VERMILION, style.PINK, style.SKY)
LINES: tuple[dict[str, Any], ...] = (
    {"marker": "o", "linestyle": "-"},
    {"marker": "^", "linestyle": (0, (4, 1.5))},
)
"""Looks of the first six phenomena, and of the other six."""
STYLES: dict[str, dict[str, Any]] = {
    key: {"color": colour, "linewidth": 1, "markersize": 3.5, **look}
    for key, (look, colour) in zip(NAMES, product(LINES, COLOURS), strict=True)
}
STYLES[ALL] = {"color": style.GREY, "linewidth": 3.5, "alpha": 0.7, "zorder": 1}
PRINTED_AT = {125_000: "0.125M", 1_000_000: "1M", 8_000_000: "8M", 64_000_000: "64M"}
"""Sizes with a printed perplexity (footnote 16), and their printed names."""
PRINTED = {"blimp-txl-curve": "TXL", "blimp-lstm-curve": "LSTM"}
"""Models with printed slopes, and their printed names."""
WHOLE = {"blimp-txl-curve": "transformer-xl-wt103", "blimp-lstm-curve": "lstm-gulordava"}
"""The same models trained on all of their text, with printed accuracies."""
SLOPE, TOKENS, PERPLEXITIES_AT = "slope", "log10 tokens", "perplexity"
ASIDE = 0.015
"""Distance of the lines' points of one size, in doublings."""
NONE = "no model is trained on samples"


Curves = dict[str, tuple[str, dict[int, list[str]]]]
"""Label and models by size, the smallest first, of each row of models trained on samples."""


def _curves(labels: Labels) -> Curves:
    curves: Curves = {}
    for row, fact in labels.facts.get("blimp_curves", {}).items():
        sizes: dict[int, list[str]] = {size: [] for size in sorted({*fact["models"].values()})}
        for model, size in fact["models"].items():
            sizes[size].append(model)
        curves[row] = fact["label"], sizes
    return curves


def _with_spread(cell: Cell, values: pd.Series) -> Cell:
    if len(values) < 2:
        return replace(cell, n=len(values))
    deviation = float(values.std())
    low, high = cell.value - deviation, cell.value + deviation
    return replace(cell, n=len(values), low=low, high=high)


def fig5(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 5: accuracy on each phenomenon by the tokens that models are trained on."""
    curves = _curves(labels)
    if not curves:
        return Exhibit(**describe("fig5"), cells=[], figure=style.empty_figure(NONE, height=2.9))
    rows = acc.read_own(tables, labels)
    single = 100 * analysis.phenomena_accuracies(rows)
    cells: list[Cell] = []
    figure = style.new_figure(style.PAGE_INCHES, 2.9 * len(curves))
    grid = figure.subplots(len(curves), 1, squeeze=False, sharey=True)
    for axes, (label, models_by_size) in zip(grid.flat, curves.values(), strict=True):
        # Mean accuracy of each size, by phenomenon.
        points: dict[str, dict[int, Cell]] = {}
        for size, models in models_by_size.items():
            evaluated = [model for model in models if model in single.index]
            of_size = rows[rows["model"].isin(evaluated)]
            for key, name in ROWS.items():
                inside = of_size[of_size["paradigm"].isin(acc.of_phenomenon(key))]
                if not inside.empty:
                    place = (name, f"{label}, {size_name(size)}")
                    cell = acc.computed_cell(inside, place, UNWEIGHTED)
                    spread = _with_spread(cell, single.loc[evaluated, key].dropna())
                    points.setdefault(key, {})[size] = spread
        for number, (key, line) in enumerate(points.items()):
            # Side by side, so that bars of one size don't hide each other.
            aside = 2 ** (ASIDE * (number - len(NAMES) / 2))
            sizes = [size * aside for size in line]
            values = [cell.value for cell in line.values()]
            errors = [0.0 if c.high is None else c.high - c.value for c in line.values()]
            axes.errorbar(sizes, values, errors, elinewidth=0.5, capsize=1.5, **STYLES[key])
            cells += line.values()
        axes.axhline(50, color="black", linewidth=0.6, linestyle=":")
        axes.set_xscale("log", base=2)
        names = [size_name(size).upper() for size in models_by_size]
        axes.set_xticks([*models_by_size], names)
        axes.minorticks_off()
        axes.set_title(label, loc="left")
        axes.set_ylabel("accuracy (%)")
    grid.flat[-1].set_xlabel("tokens of training text")
    handles = [Line2D([], [], label=ROWS[key], **look) for key, look in STYLES.items()]
    figure.legend(handles=handles, loc="outside right center", handlelength=3)
    return Exhibit(**describe("fig5"), cells=cells, figure=figure)


# Slopes


def _printed_slopes(printed: pd.DataFrame, *, extrapolated: bool) -> list[Cell]:
    cells = []
    of_curves = printed[(printed["exhibit"] == "text") & printed["row"].isin(PRINTED)]
    for _, row in of_curves[of_curves["column"].str.startswith("slope ")].iterrows():
        key, name = row["column"].removeprefix("slope "), PRINTED[row["row"]]
        cells.append(printed_cell(row, (NAMES[key], f"printed {name} {SLOPE}")))
        if extrapolated:
            where = {
                "exhibit": ["table3", "text"],
                "row": [row["row"], HUMAN, WHOLE[row["row"]]],
                "column": [row["column"], key, "training tokens"],
            }
            place, rows = (NAMES[key], f"printed {name} {TOKENS}"), select_rows(printed, where)
            cells.append(acc.formula_cell(rows, place, EXTRAPOLATED, "published", where, "{:.1f}"))
    return cells


def slopes(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate slopes beside the printed ones, and perplexity by size."""
    printed, measured = read_printed(tables), labels.source == "measured"
    curves = _curves(labels) if measured else {}
    table = read_plain(REGRESSIONS, tables["curves"][0]) if measured else pd.DataFrame()
    slope_cells: list[Cell] = []
    for model, (label, _) in curves.items():
        for _, term in table[table["model"] == model].iterrows():
            column = {analysis.DOUBLING: SLOPE, analysis.TO_HUMAN: TOKENS}.get(term["term"])
            if column is None or term["analysis"] not in ROWS:
                continue
            value, place = term["coefficient"], (ROWS[term["analysis"]], f"{label} {column}")
            fields, text = {}, f"{value:.1f}"
            if column == SLOPE:
                fields = {"n": int(term["n"]), "low": term["low"], "high": term["high"]}
                text = f"{value:.4f} ± {term['high'] - value:.4f}".replace("-", "−")
            keys = ("analysis", "model", "term")
            cell = row_cell("regressions", term, keys, "coefficient", place, text)
            slope_cells.append(replace(cell, **fields))
    slope_cells += _printed_slopes(printed, extrapolated=not measured)
    order = [*ROWS.values()]
    slope_cells.sort(key=lambda cell: order.index(cell.row))

    # Mean test perplexity of each size; of LSTMs alone there is a table.
    perplexities = read_plain(PERPLEXITIES, tables.get("perplexities"))
    sized: list[tuple[int, Cell]] = []
    for label, sizes in curves.values():
        for size, models in sizes.items():
            where = {"lang": LANG, "model": models}
            rows = select_rows(perplexities, where)
            if not rows.empty:
                cell_key = (f"{size:,} tokens", f"{label} {PERPLEXITIES_AT}")
                cell = acc.formula_cell(rows, cell_key, PERPLEXITY, "perplexities", where, "{:.1f}")
                sized.append((size, _with_spread(cell, rows["perplexity"])))
    for size, name in PRINTED_AT.items():
        where = {"exhibit": "text", "row": "curve", "column": f"perplexity at {name}"}
        for _, row in select_rows(printed, where).iterrows():
            cell_key = (f"{size:,} tokens", f"printed {PERPLEXITIES_AT}")
            sized.append((size, printed_cell(row, cell_key)))
    sized.sort(key=lambda sized_cell: sized_cell[0])

    cells_of = {"Phenomenon": slope_cells, "Training text": [cell for _, cell in sized]}
    sections = []
    heads: dict[str, tuple[str, str]] = {}
    for title, cells in cells_of.items():
        columns = list(dict.fromkeys(cell.column for cell in cells))
        sections.append(Section(title, {cell.row: cell.row for cell in cells}, columns))
        for column in columns:
            # In two lines: the model, and the number.
            end = next(e for e in (SLOPE, TOKENS, PERPLEXITIES_AT) if column.endswith(e))
            heads[column] = (column.removesuffix(end).strip(), end)
    key, none = "slopes" if measured else "slopes_published", f"In this campaign {NONE}. "
    return Exhibit(
        **describe(key, none="" if curves else none),
        cells=[cell for cells in cells_of.values() for cell in cells],
        heads=heads,
        sections=sections,
    )
