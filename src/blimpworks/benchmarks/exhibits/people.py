"""Figure of people beside models: accuracy by phenomenon, and correlations."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blimpworks.analysis.accuracy import ALL
from blimpworks.benchmarks.exhibits.accuracies import (
    FEWEST,
    UNITS,
    likeness_cells,
    phenomenon_cells,
    row_of,
    units_of,
)
from blimpworks.benchmarks.exhibits.drawing import (
    PERCENT,
    Names,
    draw_interval,
    mark,
    set_row_names,
)
from blimpworks.benchmarks.exhibits.formulas import PEARSON, SPEARMAN
from blimpworks.benchmarks.exhibits.view import (
    PEOPLE,
    View,
    read_view,
    spoken,
    with_people,
)
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import Tables
from blimpworks.exhibits.style import GREY, PAGE_INCHES, PALETTE, SKY, colours, new_figure

HUES = len(PALETTE)
"""Models up to which each has a colour of its own."""


def _draw_phenomena(
    axes: Axes, cells: Sequence[Cell], rows: Sequence[str], hues: Mapping[str, Any]
) -> None:
    """Accuracies by phenomenon, people's as larger marks; with intervals where models are few."""
    few = len(hues) - 1 <= HUES
    for number, (column, hue) in enumerate(hues.items()):
        shift = 0.7 * ((number + 0.5) / len(hues) - 0.5) if few else 0.0
        human = column == PEOPLE
        above = 3 if human else 2
        own = [cell for cell in cells if cell.column == column and cell.row in rows]
        places = [rows.index(cell.row) + shift for cell in own]
        for cell, y in zip(own, places, strict=True):
            if few or human:
                draw_interval(axes, cell, y, hue, linewidth=0.8, zorder=above)
        values = [cell.value for cell in own]
        size, opacity = 18 if human else 11, 1 if few or human else 0.5
        axes.scatter(values, places, s=size, marker="D" if human else "o", color=hue, alpha=opacity,
                     linewidths=0, zorder=above)  # fmt: skip
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlabel=PERCENT)
    lines = [y + 0.5 for y in range(len(rows) - 1)]
    axes.hlines(lines, 0, 1, color="#DDDDDD", linewidth=0.4,
                transform=axes.get_yaxis_transform())  # fmt: skip
    axes.grid(axis="y", visible=False)


def _draw_likeness(axes: Axes, cells: Sequence[Cell], hues: Mapping[str, Any], unit: str) -> None:
    """Correlations with people by model: Pearson's with its interval, Spearman's hollow."""
    columns = [column for column in hues if any(cell.column == column for cell in cells)]
    for cell in cells:
        hue = hues[cell.column]
        shape, face, shift = ("o", hue, -0.12) if PEARSON in cell.row else ("s", "white", 0.12)
        y = columns.index(cell.column) + shift
        draw_interval(axes, cell, y, hue, linewidth=0.8)
        axes.plot(cell.value, y, shape, color=hue, markersize=4, markerfacecolor=face)
    axes.axvline(0, color=GREY, linewidth=0.8)
    set_row_names(axes, columns, Names.of(columns))
    axes.set(xlim=(-1.05, 1.05), ylim=(len(columns) - 0.5, -0.5))
    axes.set_xlabel(f"correlation over {UNITS[unit]}")
    axes.grid(axis="y", visible=False)


def _people_figure(
    view: View,
    cells: Sequence[Cell],
    alike: Mapping[str, Sequence[Cell]],
    units: Mapping[str, Sequence[str]],
    names: Names,
) -> Figure:
    """For each language a panel of phenomena, and one of correlations where there are any."""
    models = [column for column in view.columns if column != PEOPLE]
    many = colours(len(models)) if len(models) <= HUES else [SKY] * len(models)
    hues = {PEOPLE: "black", **dict(zip(models, many, strict=True))}
    few = len(hues) - 1 <= HUES
    phenomena = [*view.phenomena, ALL] if len(view.phenomena) > 1 else view.phenomena
    columns = 2 if any(alike.values()) else 1
    rows = max(len(phenomena) * (0.08 + 0.06 * (len(hues) if few else 2)), 0.14 * len(hues))
    figure = new_figure(PAGE_INCHES, (0.6 + rows) * len(view.languages) + 0.3)
    ratios = {"width_ratios": [3, 2][:columns]}
    grid = figure.subplots(
        len(view.languages), columns, sharex="col", squeeze=False, gridspec_kw=ratios
    )
    for (lang, language), panels in zip(view.languages.items(), grid, strict=True):
        keys = [row_of(view, lang, phenomenon) for phenomenon in phenomena]
        _draw_phenomena(panels[0], cells, keys, hues)
        set_row_names(panels[0], [spoken(phenomenon) for phenomenon in phenomena], names)
        if view.prefix(lang):
            panels[0].set_title(names.shown[language], fontfamily=[*names.families])
        if alike[lang]:
            _draw_likeness(panels[1], alike[lang], hues, units[lang][0])
        elif columns > 1:
            panels[1].remove()
        for axes in panels:
            axes.tick_params(labelbottom=True)
    _draw_legend(figure, hues, bool(columns > 1))
    return figure


def _draw_legend(figure: Figure, hues: Mapping[str, Any], correlated: bool) -> None:
    """What marks are; of models their colours where no axis has their names."""
    models = {column: hue for column, hue in hues.items() if column != PEOPLE}
    handles = [mark("D", hues[PEOPLE], PEOPLE)]
    if len(models) > HUES:
        handles.append(mark("o", SKY, "Model"))
    elif not correlated:
        handles += [mark("o", hue, name) for name, hue in models.items()]
    if correlated:
        handles += [mark("o", GREY, PEARSON), mark("s", GREY, SPEARMAN, markerfacecolor="white")]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)


def people_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy of people and models by phenomenon; how models correlate with people beside it."""
    view = with_people(read_view(tables, labels), tables)
    cells = [*phenomenon_cells(view)]
    units = {lang: units_of(view, lang)[:1] for lang in view.languages}
    alike = {lang: [*likeness_cells(view, lang, units[lang])] for lang in view.languages}
    names = Names.of([*map(spoken, (*view.phenomena, ALL)), *view.languages.values()])
    figure = _people_figure(view, cells, alike, units, names)
    few = "" if any(alike.values()) else f" Fewer than {FEWEST} paradigms to correlate."
    return Exhibit(
        **view.described(
            "people_fig",
            people=labels.facts["benchmark"].get("people", ""),
            few=few,
            shared=view.shared,
            listed=names.listed,
        ),
        cells=[*cells, *(cell for own in alike.values() for cell in own)],
        figure=figure,
    )
