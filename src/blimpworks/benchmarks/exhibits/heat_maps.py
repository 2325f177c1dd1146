"""Draw the heat maps of declared benchmarks: accuracies by paradigm, and correlations of models.

``paradigms`` (rows: paradigms, columns: models) and ``correlations`` (both: models) take the
campaign's tables and the names to print. They return an exhibit: a figure, drawn by ``HeatMap``,
with its cells. Lengths are in inches.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, combinations, product
from typing import Any

import numpy as np
from matplotlib import colormaps, font_manager
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from seaborn.utils import relative_luminance

from blimpworks.benchmarks.exhibits import formulas
from blimpworks.benchmarks.exhibits import view as views
from blimpworks.benchmarks.exhibits.accuracies import FEWEST, Baselines, blocks, correlation_cell
from blimpworks.benchmarks.exhibits.formulas import PARADIGM, PEARSON
from blimpworks.benchmarks.exhibits.view import View, number_text
from blimpworks.exhibits import style
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.fonts import HOUSE, families_for, has_bold, letters_of
from blimpworks.exhibits.shared import Tables
from blimpworks.exhibits.text_layout import text_size

no_figure = partial(style.empty_figure, width=style.COLUMN_INCHES, height=1.2, framed=False)
"""Function that draws, instead of an exhibit without data, the reason why it has none."""
SMALL = 6.0
"""Size of the smallest letters, in points."""
PERCENT = "accuracy (%)"
MARGIN = 0.06
"""Space around texts."""


@dataclass(frozen=True)
class Names:
    """Fonts and texts of names in a figure; a number replaces a name that no font can write."""

    families: tuple[str, ...]
    texts: Mapping[str, str]
    """Text that the figure shows, by name."""
    weight: str = "bold"
    """Weight of headings; normal if a font has no bold letters."""

    @classmethod
    def of(cls, names: Iterable[str]) -> "Names":
        """Choose fonts for names: the house font, and others for letters that it lacks."""
        texts = list(dict.fromkeys(names))
        (house_font,) = HOUSE
        letters = font_manager.get_font(font_manager.findfont(house_font)).get_charmap().keys()
        families, absent = families_for(letters_of(texts) - letters)
        weight = "bold" if all(map(has_bold, families)) else "normal"
        unwritable = [text for text in texts if letters_of([text]) & absent]
        numbers = {text: str(number) for number, text in enumerate(unwritable, start=1)}
        return cls((*HOUSE, *families), {text: text for text in texts} | numbers, weight)

    @property
    def numbered(self) -> list[str]:
        """Key to the numbers that replace names, for a caption: "1 name"."""
        return [f"{text} {name}" for name, text in self.texts.items() if text != name]

    def width(self, names: Iterable[str], heading: bool = False) -> float:
        """Return the width of the widest name, in inches."""
        bold = heading and self.weight == "bold"
        sizes = (text_size(self.texts[name], SMALL, bold, self.families)[0] for name in names)
        return max(sizes, default=0.0) / 72

    def look(self, **more: Any) -> dict[str, Any]:
        return {"fontfamily": [*self.families], "fontsize": SMALL, **more}


NEUTRAL = "#F4F4F4"
DIVERGING = LinearSegmentedColormap.from_list("diverging", [style.VERMILION, NEUTRAL, style.BLUE])
"""Colours with a neutral middle; people with common colour blindness can distinguish the ends."""
ONE_HUE = colormaps["Blues"]
ROW_HEIGHT = 0.13
MOST_NUMBERED = 14
"""Most columns of a heat map with numbers in its cells."""
EQUAL_CONTRAST = 0.18
"""Relative luminance (0 is black, 1 white) on which black and white contrast alike."""
Groups = Sequence[tuple[str, Sequence["MapRow"]]]
"""Headings of a heat map ("" for no heading), each with the rows below it."""
PANEL_ROWS = (40, 90)
"""Most rows of a panel: 40 if all panels then fit side by side on a page, else 90."""


@dataclass(frozen=True)
class MapRow:
    """A row of a heat map: its name, and the key of its cells; a row without a key is a heading."""

    text: str
    key: str = ""
    paradigm: tuple[str, str, str] = ("", "", "")
    """Language, phenomenon and paradigm of a row of paradigms."""


@dataclass(frozen=True)
class HeatMap:
    """Numbers in rows and columns, drawn as panels side by side."""

    columns: Sequence[str]
    values: Mapping[tuple[str, str], float | None]
    """Numbers by (key of the row, column). None is drawn as a dot, for a missing number; a cell
    without an entry stays empty."""
    form: str
    colours: Colormap
    norm: Normalize
    label: str
    """Text below the scale of colours."""
    ticks: Sequence[float]
    names: Names
    panels: Sequence[Sequence[MapRow]]
    """Rows of each panel."""

    @property
    def numbered(self) -> bool:
        """Whether cells have numbers."""
        return len(self.columns) <= MOST_NUMBERED

    @cached_property
    def rows(self) -> list[MapRow]:
        return [*chain.from_iterable(self.panels)]

    @cached_property
    def cell_width(self) -> float:
        """Width in inches that the page allows: 0.105 to 0.2; with numbers, their width to 0.4."""
        numbers = [value for value in self.values.values() if value is not None]
        texts = (number_text(number, self.form) for number in numbers)
        widest = max((text_size(text, SMALL, False, HOUSE)[0] for text in texts), default=0) / 72
        least = widest + MARGIN if self.numbered else 0.105
        names = self.names.width(row.text for row in self.rows if row.key) + 2 * MARGIN
        room = (style.PAGE_INCHES / len(self.panels) - names) / max(len(self.columns), 1)
        return min(max(room, least), 0.4 if self.numbered else 0.2)

    @cached_property
    def names_width(self) -> float:
        """Width of the names of rows."""
        names = self.names.width(row.text for row in self.rows if row.key)
        headings = self.names.width((row.text for row in self.rows if not row.key), heading=True)
        # Headings may reach over the cells.
        return max(names, headings - self.cell_width * len(self.columns)) + 2 * MARGIN

    @property
    def width(self) -> float:
        """Width of a panel with the names of its rows."""
        return self.names_width + self.cell_width * len(self.columns)

    def draw(self) -> Figure:
        """Draw the panels side by side, and the scale of colours below them."""
        panel_height = ROW_HEIGHT * max(len(panel) for panel in self.panels)
        longest = self.names.width(self.columns)
        slanted = longest * (math.sin(math.radians(45)) if self.numbered else 1)
        above, below = 2 * MARGIN + slanted + 0.08, 0.55
        # The scale needs some room even below a single column.
        width, height = max(self.width * len(self.panels), 1.7), above + panel_height + below
        figure = Figure(figsize=(width, height))
        # Boxes are (left, bottom, width, height), as shares of the figure.
        for number, panel in enumerate(self.panels):
            rows_height = ROW_HEIGHT * len(panel)
            box = (
                (number * self.width + self.names_width) / width,
                (below + panel_height - rows_height) / height,
                self.cell_width * len(self.columns) / width,
                rows_height / height,
            )
            self._draw_panel(figure.add_axes(box), panel)
        length = min(2.0, width - 0.5)
        bar_box = ((width - length) / 2 / width, 0.32 / height, length / width, 0.09 / height)
        scale, bar_axes = ScalarMappable(self.norm, self.colours), figure.add_axes(bar_box)
        bar = figure.colorbar(scale, cax=bar_axes, orientation="horizontal", ticks=[*self.ticks])
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=SMALL, length=2, pad=1)
        bar.set_label(self.label, fontsize=7, labelpad=1)
        return figure

    def _draw_panel(self, axes: Axes, panel: Sequence[MapRow]) -> None:
        axes.set(xlim=(0, len(self.columns)), ylim=(len(panel), 0), xticks=[], yticks=[])
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        for y, row in enumerate(panel):
            x, look = -MARGIN, self.names.look(ha="right", va="center")
            if not row.key:
                x = MARGIN - self.names_width
                look = self.names.look(weight=self.names.weight, va="center")
            axes.text(x / self.cell_width, y + 0.5, self.names.texts[row.text], **look)
        slant = {"rotation": 45 if self.numbered else 90, "rotation_mode": "anchor"}
        for x, column in enumerate(self.columns):
            look = self.names.look(ha="left", va="center", **slant)
            axes.text(x + 0.5, -0.4, self.names.texts[column], **look)
        values = [[self.values.get((row.key, name)) for name in self.columns] for row in panel]
        axes.pcolormesh(
            np.array(values, dtype=float), cmap=self.colours, norm=self.norm, edgecolors="white",
            linewidth=0.4,
        )  # fmt: skip
        look = {"ha": "center", "va": "center", "fontsize": SMALL}
        for (y, row), (x, column) in product(enumerate(panel), enumerate(self.columns)):
            value = values[y][x]
            if value is None and (row.key, column) in self.values:
                axes.text(x + 0.5, y + 0.5, "·", **look | {"color": style.GREY})
            elif value is not None and self.numbered:
                is_light = relative_luminance(self.colours(self.norm(value))) > EQUAL_CONTRAST
                look["color"] = "black" if is_light else "white"
                axes.text(x + 0.5, y + 0.5, number_text(value, self.form), **look)


def _groups(view: View) -> Groups:
    """Group paradigms by language and phenomenon; no headings for phenomena of one paradigm."""
    groups: list[tuple[str, list[MapRow]]] = []
    for lang in view.languages:
        prefix, pairs = view.prefix(lang), view.paradigms(lang)
        times = Counter(paradigm for _, paradigm in pairs)
        rows_by_phenomenon: dict[str, list[MapRow]] = {}
        for phenomenon, paradigm in pairs:
            suffix = f" ({views.printed_name(phenomenon)})" if times[paradigm] > 1 else ""
            row = MapRow(paradigm, f"{prefix}{paradigm}{suffix}", (lang, phenomenon, paradigm))
            rows_by_phenomenon.setdefault(phenomenon, []).append(row)
        if len(rows_by_phenomenon) == len(pairs):
            rows = [*chain(*rows_by_phenomenon.values())]
            groups.append((view.languages[lang] if prefix else "", rows))
        else:
            for phenomenon, rows in rows_by_phenomenon.items():
                groups.append((view.row_key(lang, phenomenon), rows))
    return groups


def _panels(groups: Groups, count: int) -> list[list[MapRow]]:
    """Divide rows and their headings into ``count`` panels of about equal length."""
    lists = [[MapRow(heading), *rows] if heading else [*rows] for heading, rows in groups]
    length = math.ceil(sum(map(len, lists)) / count)
    panels: list[list[MapRow]] = [[]]
    for rows in lists:
        for block in blocks(rows, length):
            is_full = len(panels[-1]) + len(block) / 2 > length  # half of the block is too much
            if panels[-1] and is_full and len(panels) < count:
                panels.append([])
            panels[-1] += block
    return panels


def paradigms(tables: Tables, labels: Labels) -> Exhibit:
    """Draw accuracies by paradigm and model (or family of released models), then baselines."""
    view = views.read_view(tables, labels)
    baselines = Baselines.read(tables, view)
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    groups = _groups(view)
    for row in chain.from_iterable(rows for _, rows in groups):
        lang, phenomenon, paradigm = row.paradigm
        stub[row.key] = {"Phenomenon": view.phenomenon_names[phenomenon]}
        for column, models in view.columns.items():
            accuracies = view.paradigm_rows(lang, phenomenon, paradigm, models)
            if cell := view.cell(accuracies, (row.key, column)):
                cells.append(cell)
        cells += baselines.cells(lang, phenomenon, row.key, paradigm)
    figure, names = no_figure("no paradigms"), None
    if cells:
        columns = [*view.columns, *baselines.columns]
        (rows,) = _panels(groups, 1)
        # Headings come first, so that they get the first of the numbers that replace names.
        texts = [row.text for row in sorted(rows, key=lambda row: row.key != "")]
        names = Names.of([*texts, *columns])
        keys = [row.key for row in rows if row.key]
        values = {(cell.row, cell.column): cell.value for cell in cells}
        for length in PANEL_ROWS:
            heat_map = HeatMap(
                columns=columns,
                values=dict.fromkeys(product(keys, columns)) | values,
                form=".0f",
                colours=DIVERGING,
                norm=Normalize(0, 100),
                label=PERCENT,
                ticks=(0, 25, 50, 75, 100),
                names=names,
                panels=_panels(groups, math.ceil(len(rows) / length)),
            )
            if heat_map.width * len(heat_map.panels) <= style.PAGE_INCHES:
                break
        figure = heat_map.draw()
    description = view.described("paradigms", baselines=baselines.described(), names=names)
    return Exhibit(**description, cells=cells, stub=stub, figure=figure)


def correlations(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Pearson's correlation of every two models over their common paradigms."""
    view = views.read_view(tables, labels)
    accuracies = formulas.accuracies_by(view.rows, PARADIGM)
    formula = formulas.correlation(PEARSON, PARADIGM)
    columns = [*view.columns]
    cells: list[Cell] = []
    for number, row in enumerate(columns):
        for column in columns[:number]:
            models = [*view.columns[column], *view.columns[row]]
            rows = view.rows[view.rows["model"].isin(models)]
            if cell := correlation_cell(accuracies[models], rows, (row, column), formula):
                cells.append(cell)
    names, reason = Names.of(columns), ""
    if cells:
        values = {(cell.row, cell.column): cell.value for cell in cells}
        lower_half = dict.fromkeys((row, column) for column, row in combinations(columns, 2))
        negative = min(values.values()) < 0
        heat_map = HeatMap(
            columns=columns[:-1],
            values=lower_half | values,
            form=".2f",
            colours=DIVERGING if negative else ONE_HUE,
            norm=Normalize(-1 if negative else 0, 1),
            label=PEARSON,
            ticks=(-1, 0, 1) if negative else (0, 0.5, 1),
            names=names,
            panels=[[MapRow(name, name) for name in columns[1:]]],
        )
        figure = heat_map.draw()
    else:
        few = f"fewer than {FEWEST} shared paradigms, or equal accuracies"
        reason = "a single model" if len(columns) < 2 else few
        figure = no_figure(reason)
    description = view.described("correlations", empty=reason, names=names)
    return Exhibit(**description, cells=cells, figure=figure)
