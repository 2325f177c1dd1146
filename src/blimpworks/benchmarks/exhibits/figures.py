"""Draw the figures of declared benchmarks: accuracies by model, size, perplexity and people.

``models``, ``sizes``, ``perplexity`` and ``people_fig`` take the campaign's tables and the names to
print, and return an exhibit: a figure with its cells. The cell of a point has a row (gpt2), a
column (Accuracy), a value (81.5) and an interval (79.0 to 83.8).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from blimpworks.benchmarks.accuracies import MODEL_PERPLEXITIES
from blimpworks.benchmarks.exhibits import accuracies as acc
from blimpworks.benchmarks.exhibits import view as views
from blimpworks.benchmarks.exhibits.formulas import OF_PARADIGMS, PEARSON, SPEARMAN
from blimpworks.benchmarks.exhibits.heat_maps import PERCENT, SMALL, Names, no_figure
from blimpworks.benchmarks.exhibits.view import PEOPLE, View
from blimpworks.errors import UserError
from blimpworks.exhibits import style
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.render import PNG_DPI
from blimpworks.exhibits.shared import SOURCE, Tables, read_plain, row_cell, where_of
from blimpworks.exhibits.style import take_literally
from blimpworks.items import ALL

CHANCE = 50
"""Accuracy of a random choice between the sentences of a pair [percent]."""
ACCURACY = "Accuracy"
FAINT = "#BFDDF2"
"""Colour of intervals that names overlap."""
MANY_ROWS = 25
"""Fewest rows whose names have small letters."""
Point = tuple[float, float]


def _set_row_names(axes: Axes, rows: Sequence[str], names: Names) -> None:
    """Write the names of rows at the heights 0, 1, 2 …; many names have small letters."""
    size = 7 if len(rows) < MANY_ROWS else SMALL
    look: dict[str, Any] = {"fontfamily": [*names.families], "fontsize": size}
    axes.set_yticks(range(len(rows)), [names.texts[row] for row in rows], **look)
    axes.tick_params(axis="y", length=0)


def _draw_interval(axes: Axes, cell: Cell, y: float, colour: Any, **look: Any) -> None:
    if cell.low is not None and cell.high is not None:
        axes.hlines(y, cell.low, cell.high, color=colour, **look)


def _mark(shape: str, colour: Any, label: str = "", **look: Any) -> Line2D:
    return Line2D(
        [], [], marker=shape, color=colour, label=label, linestyle="none", markersize=4, **look
    )


OFFSETS = ((4, 0), (-4, 0), (0, 4), (0, -4), (3, 3), (3, -3), (-3, 3), (-3, -3))
"""Positions of a name around its point, the best first: offsets (x, y) in points."""


def _lay_out(figure: Figure) -> None:
    """Lay out axes and texts as in print, so that ``_name_points`` can measure the space."""
    figure.set_dpi(PNG_DPI)
    take_literally(figure)
    figure.draw_without_rendering()


def _name_points(axes: Axes, points: Mapping[str, Point], unnamed: Sequence[Point] = ()) -> None:
    """Write names beside points of a laid-out figure where other names and points leave room."""
    pixels = axes.transData.transform([*points.values(), *unnamed])
    pixels_per_point = PNG_DPI / 72
    taken = [Bbox.from_bounds(x, y, 0, 0).padded(2.5 * pixels_per_point) for x, y in pixels]
    inside = axes.get_window_extent().padded(-2 * pixels_per_point)
    for name, point in points.items():
        for right, up in OFFSETS:
            horizontal = "left" if right > 0 else "right" if right else "center"
            vertical = "bottom" if up > 0 else "top" if up else "center"
            text = axes.annotate(
                name, point, (right, up), textcoords="offset points", ha=horizontal, va=vertical,
                fontsize=SMALL, in_layout=False,
                path_effects=[withStroke(linewidth=1.5, foreground="white")],
            )  # fmt: skip
            box = text.get_window_extent()
            fits = all(inside.contains(*corner) for corner in box.corners())
            if fits and not any(box.overlaps(taken_box) for taken_box in taken):
                taken.append(box)
                break
            text.remove()


def _panels(count: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure of a ``width``, and its panels in ``columns``, of a ``height`` [inches]."""
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    figure = style.new_figure(width, height * rows)
    grid = [*figure.subplots(rows, columns, squeeze=False).flat]
    for axes in grid[count:]:
        axes.remove()
    return figure, grid[:count]


def _ranked_cells(view: View, lang: str) -> list[tuple[Cell, list[Cell]]]:
    """Return each column's accuracy over all phenomena, and its seeds' accuracies, best first."""
    title = view.languages[lang] if view.prefix(lang) else ACCURACY
    cells_with_seeds = []
    for column, models in view.columns.items():
        cell = view.cell(view.phenomenon_rows(lang, ALL, models), (column, title))
        seeds = []
        for model in models if len(models) > 1 else ():
            if seed := view.cell(view.phenomenon_rows(lang, ALL, [model]), (model, title)):
                seeds.append(replace(seed, printed=False))
        if cell:
            cells_with_seeds.append((cell, seeds))
    return sorted(cells_with_seeds, key=lambda pair: -pair[0].value)


def _limits(cells: Sequence[Cell], chance: bool) -> tuple[float, float]:
    """Return limits, 2 beyond multiples of 5, around all numbers of cells; ``chance`` adds 50 %."""
    ends = [end for cell in cells for end in (cell.value, cell.low, cell.high) if end is not None]
    low = min([*ends, CHANCE] if chance else ends)
    return max(-2.0, 5 * math.floor(low / 5) - 2), min(102.0, 5 * math.ceil(max(ends) / 5) + 2)


def models(tables: Tables, labels: Labels) -> Exhibit:
    """Draw models by accuracy (or families of released models with their seeds), best first."""
    view = views.read_view(tables, labels)
    # {language: [(cell of a column, cells of its seeds)]}
    ranked = {lang: _ranked_cells(view, lang) for lang in view.languages}
    cells: list[Cell] = []
    for cell, cells_of_seeds in chain.from_iterable(ranked.values()):
        cells += [cell, *cells_of_seeds]
    names = Names.of([*view.columns, *view.languages.values()])
    most_rows = max(map(len, ranked.values()))
    is_single = len(ranked) == 1
    columns, width = (1, style.COLUMN_INCHES * 1.3) if is_single else (2, style.PAGE_INCHES)
    figure, panels = _panels(len(ranked), columns, width, 0.65 + 0.15 * max(most_rows, 2))
    for axes, (lang, rows) in zip(panels, ranked.items(), strict=True):
        for y, (cell, seeds) in enumerate(rows):
            _draw_interval(axes, cell, y, style.BLUE, linewidth=1)
            # Faint points of seeds, with a bar at their mean; a dot for a model without seeds.
            axes.scatter([seed.value for seed in seeds], [y] * len(seeds), s=9, color=style.SKY,
                         alpha=0.5, linewidths=0)  # fmt: skip
            shape, size, edge = ("|", 9, 1.5) if seeds else ("o", 4, 0)
            axes.plot(cell.value, y, shape, color=style.BLUE, markersize=size, markeredgewidth=edge)
            axes.text(1.01, y, cell.text, transform=axes.get_yaxis_transform(), va="center",
                      fontsize=SMALL)  # fmt: skip
        if view.has_chance:
            axes.axvline(CHANCE, color=style.GREY, linewidth=0.8, linestyle="--")
        axes.set(ylim=(len(rows) - 0.4, -0.6), xlabel=PERCENT, xlim=_limits(cells, view.has_chance))
        axes.grid(axis="y", visible=False)
        _set_row_names(axes, [cell.row for cell, _ in rows], names)
        if not is_single:
            axes.set_title(names.texts[view.languages[lang]], fontfamily=[*names.families])
    has_seeds = any(seeds for _, seeds in chain.from_iterable(ranked.values()))
    key = "models_seeds" if has_seeds else "models"
    return Exhibit(**view.described(key, names=names), cells=cells, figure=figure)


def _set_log_scale(axes: Axes, values: Sequence[float]) -> None:
    """Give the x axis a logarithmic scale; a narrow range has more ticks in a power of ten."""
    axes.set_xscale("log")
    decades = math.log10(max(values) / min(values))
    if decades < 0.5:
        # Widen the range to 0.8 decades.
        middle = math.sqrt(max(values) * min(values))
        axes.set_xlim(middle / 2.5, middle * 2.5)
    steps = [1] if decades >= 2.5 else [1, 3]
    if decades < 1.5:
        steps = [1, 2, 5]
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.15g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def sizes(tables: Tables, labels: Labels) -> Exhibit:
    """Draw accuracy by number of parameters, for models whose number is in the fact ``sizes``."""
    view = views.read_view(tables, labels)
    known_sizes = labels.facts["sizes"]
    columns = {column: models[0] for column, models in view.columns.items()}
    billions = {name: known_sizes[model] for name, model in columns.items() if model in known_sizes}
    cells_by_lang: dict[str, list[Cell]] = {}  # without models of unknown size
    for lang in view.languages:
        if sized := [cell for cell, _ in _ranked_cells(view, lang) if cell.row in billions]:
            cells_by_lang[lang] = sized
    cells = [*chain.from_iterable(cells_by_lang.values())]
    if cells:
        is_single = len(cells_by_lang) == 1
        width = 0.7 * style.PAGE_INCHES if is_single else style.PAGE_INCHES
        figure, panels = _panels(len(cells_by_lang), 2, width, 2.9 if is_single else 2.4)
        names = Names.of(view.languages.values())
        for axes, (lang, sized) in zip(panels, cells_by_lang.items(), strict=True):
            for cell in sized:
                if cell.low is not None and cell.high is not None:
                    axes.vlines(billions[cell.row], cell.low, cell.high, color=FAINT, linewidth=1.5)
            x_values = [billions[cell.row] for cell in sized]
            axes.plot(x_values, [cell.value for cell in sized], "o", color=style.BLUE, markersize=4)
            if view.has_chance:
                axes.axhline(CHANCE, color=style.GREY, linewidth=0.8, linestyle="--")
            _set_log_scale(axes, [billions[cell.row] for cell in cells])
            axes.margins(x=0.15)
            axes.set_ylim(_limits(cells, view.has_chance))
            axes.set(xlabel="parameters (billions)", ylabel=PERCENT)
            if not is_single:
                axes.set_title(names.texts[view.languages[lang]], fontfamily=[*names.families])
        _lay_out(figure)
        for axes, sized in zip(panels, cells_by_lang.values(), strict=True):
            _name_points(axes, {cell.row: (billions[cell.row], cell.value) for cell in sized})
    else:
        figure = no_figure("the number of parameters of no model is known")
    unknown = [column for column in view.columns if column not in billions]
    return Exhibit(
        **view.described("sizes", unknown=unknown),
        cells=cells,
        stub={cell.row: {"Parameters (billions)": f"{billions[cell.row]:g}"} for cell in cells},
        figure=figure,
    )


MARKERS = "osD^vPX<>ph*"
TEST = "Test perplexity"
MODEL_KEYS = ["model", "corpus", "seed"]
"""Columns that identify a model in the table of perplexities."""
TABLE_KIND = "model_perplexities"


def perplexity(tables: Tables, labels: Labels) -> Exhibit:
    """Draw accuracy of released models by test perplexity. UserError if a model has several."""
    view = views.read_view(tables, labels)
    models = {*view.rows["model"]}
    rows = read_plain(MODEL_PERPLEXITIES, tables[TABLE_KIND])
    rows = rows[rows["perplexity"].notna()]
    # Names of models in the table of accuracies: "lstm", or with corpus and seed "lstm_wiki_3".
    names = []
    for _, row in rows.iterrows():
        full_name = "_".join(row[MODEL_KEYS].dropna().map(str))
        names.append(row["model"] if row["model"] in models else full_name)
    rows = rows.set_axis(names)[pd.Index(names).isin(models)]
    duplicates = rows.index[rows.index.duplicated()]
    if len(duplicates):
        raise UserError(
            f"{', '.join(map(str, tables[TABLE_KIND]))} has several perplexities of model "
            f"{duplicates[0]!r}; expected one. Take the others out of the release's files."
        )
    cells: list[Cell] = []
    points = pd.DataFrame(columns=["family", "corpus", TEST, ACCURACY])  # a row for each model
    for model, row in rows.iterrows():
        accuracies = view.rows[view.rows["model"] == model]
        where = where_of(accuracies, ("benchmark", "method", "model"))
        value = OF_PARADIGMS(accuracies)
        text = f"{value:.1f}"
        cells.append(Cell(str(model), ACCURACY, value, text, OF_PARADIGMS, SOURCE, where))
        keys, text = [key for key in MODEL_KEYS if pd.notna(row[key])], f"{row['perplexity']:.1f}"
        cells.append(row_cell("perplexities", row, keys, "perplexity", (str(model), TEST), text))
        # Without a stated corpus, the model's name has it after the first "_".
        family, _, corpus = views.family_of(row["model"]).partition("_")
        if pd.notna(row["corpus"]):
            corpus = str(row["corpus"])
            family = views.family_of(row["model"]).removesuffix(f"_{corpus}")
        points.loc[str(model)] = [family, corpus, row["perplexity"], value]
    figure = no_figure("no perplexity of these models is released")
    if cells:
        figure = style.new_figure(style.PAGE_INCHES * 0.85, 3.2)
        _draw_perplexities(figure, points.astype({TEST: float, ACCURACY: float}))
    drawn = {*rows.index}
    without = [column for column, seeds in view.columns.items() if drawn.isdisjoint(seeds)]
    return Exhibit(**view.described("perplexity", without=without), cells=cells, figure=figure)


def _hues(names: Sequence[str], common_hue: str) -> tuple[bool, dict[str, str]]:
    """Return whether the names have distinct colours, and the colours, else ``common_hue``."""
    are_distinct = len(names) <= len(style.PALETTE)
    hues = style.colours(len(names)) if are_distinct else [common_hue] * len(names)
    return are_distinct, dict(zip(names, hues, strict=True))


def _draw_perplexities(figure: Figure, points: pd.DataFrame) -> None:
    """Draw a point for each model, with a colour for its family and a shape for its corpus."""
    axes = figure.subplots()
    families = list(dict.fromkeys(points["family"]))
    corpora = sorted({*points["corpus"]} - {""})
    are_distinct, hues = _hues(families, style.BLUE)
    marks = dict(zip(corpora, MARKERS, strict=False)) if len(corpora) <= len(MARKERS) else {}
    for (family, corpus), rows in points.groupby(["family", "corpus"], sort=False):
        hue, shape = hues[str(family)], marks.get(corpus, "o")
        axes.scatter(rows[TEST], rows[ACCURACY], color=hue, marker=shape, s=20, alpha=0.8,
                     linewidths=0)  # fmt: skip
    _set_log_scale(axes, [*points[TEST]])
    axes.margins(0.08)
    axes.set(xlabel="test perplexity", ylabel=f"mean {PERCENT}")
    handles = [_mark("o", hues[family], family) for family in families] if are_distinct else []
    handles += [_mark(shape, style.GREY, corpus) for corpus, shape in marks.items()]
    if handles:
        figure.legend(handles=handles, loc="outside right upper")
    if not are_distinct:
        _lay_out(figure)
        means = points.groupby("family", sort=False)[[TEST, ACCURACY]].mean()
        names = {str(family): (x, y) for family, x, y in means.itertuples()}
        _name_points(axes, names, [*zip(points[TEST], points[ACCURACY], strict=True)])


def _draw_phenomena(
    axes: Axes, cells: Sequence[Cell], rows: Sequence[str], hues: Mapping[str, Any]
) -> None:
    """Draw accuracies by phenomenon (``rows``), in ``hues`` by column; many models are faint."""
    are_distinct = len(hues) - 1 <= len(style.PALETTE)
    for number, (column, hue) in enumerate(hues.items()):
        shift = 0.7 * ((number + 0.5) / len(hues) - 0.5) if are_distinct else 0.0
        is_human = column == PEOPLE
        zorder = 3 if is_human else 2
        cells_of_column = [cell for cell in cells if cell.column == column and cell.row in rows]
        y_values = [rows.index(cell.row) + shift for cell in cells_of_column]
        for cell, y in zip(cells_of_column, y_values, strict=True):
            if are_distinct or is_human:
                _draw_interval(axes, cell, y, hue, linewidth=0.8, zorder=zorder)
        values = [cell.value for cell in cells_of_column]
        size, marker = (18, "D") if is_human else (11, "o")
        opacity = 1 if are_distinct or is_human else 0.5
        axes.scatter(values, y_values, s=size, marker=marker, color=hue, alpha=opacity,
                     linewidths=0, zorder=zorder)  # fmt: skip
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlabel=PERCENT)
    lines = [y + 0.5 for y in range(len(rows) - 1)]
    axes.hlines(lines, 0, 1, color="#DDDDDD", linewidth=0.4,
                transform=axes.get_yaxis_transform())  # fmt: skip
    axes.grid(axis="y", visible=False)


def _draw_correlations(axes: Axes, cells: Sequence[Cell], hues: dict[str, Any], unit: str) -> None:
    """Draw models' correlations with people: Pearson's with intervals, Spearman's hollow."""
    columns = [column for column in hues if any(cell.column == column for cell in cells)]
    for cell in cells:
        hue = hues[cell.column]
        shape, face, shift = ("o", hue, -0.12) if PEARSON in cell.row else ("s", "white", 0.12)
        y = columns.index(cell.column) + shift
        _draw_interval(axes, cell, y, hue, linewidth=0.8)
        axes.plot(cell.value, y, shape, color=hue, markersize=4, markerfacecolor=face)
    axes.axvline(0, color=style.GREY, linewidth=0.8)
    _set_row_names(axes, columns, Names.of(columns))
    axes.set(xlim=(-1.05, 1.05), ylim=(len(columns) - 0.5, -0.5))
    axes.set_xlabel(f"correlation over {acc.UNIT_NAMES[unit]}")
    axes.grid(axis="y", visible=False)


def people_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Draw accuracy of people and models by phenomenon, and correlations of models with people."""
    view = views.with_people(views.read_view(tables, labels), tables)
    cells = [*acc.phenomenon_cells(view)]
    # First unit with correlations, and their cells, by language: {"eng": ("paradigm", cells)}.
    correlations: dict[str, tuple[str, list[Cell]]] = {}
    for lang in view.languages:
        for unit, correlation_cells in acc.correlations_with_people(view, lang).items():
            correlations.setdefault(lang, (unit, correlation_cells))
    correlated = bool(correlations)
    model_columns = [column for column in view.columns if column != PEOPLE]
    are_distinct, hues = _hues(model_columns, style.SKY)
    hues = {PEOPLE: "black", **hues}
    phenomena = [*view.phenomena, ALL] if len(view.phenomena) > 1 else view.phenomena
    names = Names.of([*view.phenomenon_names.values(), *view.languages.values()])
    columns = 2 if correlated else 1
    # Heights in inches. A panel has a row of points for each phenomenon, or for each correlation.
    row_height = 0.08 + 0.06 * (len(hues) if are_distinct else 2)
    panel_height = max(len(phenomena) * row_height, 0.14 * len(hues))
    figure = style.new_figure(style.PAGE_INCHES, (0.6 + panel_height) * len(view.languages) + 0.3)
    layout: dict[str, Any] = {"squeeze": False, "gridspec_kw": {"width_ratios": [3, 2][:columns]}}
    grid = figure.subplots(len(view.languages), columns, sharex="col", **layout)
    for (lang, language), panels in zip(view.languages.items(), grid, strict=True):
        keys = [view.row_key(lang, phenomenon) for phenomenon in phenomena]
        _draw_phenomena(panels[0], cells, keys, hues)
        _set_row_names(panels[0], [view.phenomenon_names[key] for key in phenomena], names)
        if view.prefix(lang):
            panels[0].set_title(names.texts[language], fontfamily=[*names.families])
        if lang in correlations:
            unit, correlation_cells = correlations[lang]
            _draw_correlations(panels[1], correlation_cells, hues, unit)
        elif correlated:
            panels[1].remove()
        for axes in panels:
            axes.tick_params(labelbottom=True)
    # The legend names the models, unless the panel of correlations names them.
    handles = [_mark("D", hues[PEOPLE], PEOPLE)]
    if not are_distinct:
        handles.append(_mark("o", style.SKY, "Model"))
    elif not correlated:
        handles += [_mark("o", hues[model], model) for model in model_columns]
    if correlated:
        handles.append(_mark("o", style.GREY, PEARSON))
        handles.append(_mark("s", style.GREY, SPEARMAN, markerfacecolor="white"))
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    for _, correlation_cells in correlations.values():
        cells += correlation_cells
    described = view.described("people_fig", correlated=correlated, fewest=acc.FEWEST, names=names)
    return Exhibit(**described, cells=cells, figure=figure)
