"""Draw heat maps of declared benchmarks: accuracy by paradigm, and correlations of models."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, product

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from blimpworks.benchmarks.exhibits import describe
from blimpworks.benchmarks.exhibits.accuracies import (
    FEWEST,
    Baselines,
    blocks,
    correlation_cell,
    means_of_seeds,
)
from blimpworks.benchmarks.exhibits.drawing import MARGIN, PERCENT, SMALL, Names, no_figure
from blimpworks.benchmarks.exhibits.formulas import PARADIGM, PEARSON, accuracies_by, correlation
from blimpworks.benchmarks.exhibits.view import View, number_text, present, read_view, spoken
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.pen import HOUSE, text_size
from blimpworks.exhibits.shared import Tables
from blimpworks.exhibits.style import BLUE, GREY, PAGE_INCHES, VERMILION

NEUTRAL = "#F4F4F4"
DIVERGING = LinearSegmentedColormap.from_list("diverging", [VERMILION, NEUTRAL, BLUE])
"""Colours with a neutral middle, whose ends differ with any common colour blindness."""
ONE_HUE = colormaps["Blues"]
ROW_INCHES = 0.13
NUMBERED = 14
"""Most columns of a heat map whose cells have room for numbers."""
WEIGHTS, EQUAL_CONTRAST = (0.2126, 0.7152, 0.0722), 0.18
"""Shares of red, green and blue in luminance, and luminance on which black and white are equal."""
Groups = Sequence[tuple[str, Sequence["Line"]]]
"""Rows of a heat map by heading."""
LENGTHS = (40, 90)
"""Rows of a part of a heat map: few if the page has room for all parts, else many."""


@dataclass(frozen=True)
class Line:
    """A row of a heat map; one without a key is a heading."""

    text: str
    key: str = ""
    paradigm: tuple[str, str, str] = ("", "", "")
    """Language, phenomenon and paradigm, where it is of one."""


@dataclass(frozen=True)
class HeatMap:
    """Numbers in rows and columns, and their drawing; many lines part into several columns."""

    columns: Sequence[str]
    values: Mapping[tuple[str, str], float | None]
    """Numbers by keys of rows and columns, None for a missing one; other places stay empty."""
    form: str
    colours: Colormap
    norm: Normalize
    label: str
    ticks: Sequence[float]
    names: Names
    parts: Sequence[Sequence[Line]]

    @property
    def numbered(self) -> bool:
        """Whether the cells have room for their numbers."""
        return len(self.columns) <= NUMBERED

    @cached_property
    def cell(self) -> float:
        """Width of a cell, in inches; legible cells may exceed the page."""
        texts = (number_text(v, self.form) for v in self.values.values() if v is not None)
        widest = max((text_size(text, SMALL, False, HOUSE)[0] for text in texts), default=0) / 72
        least = widest + MARGIN if self.numbered else 0.105
        rows = [line.text for part in self.parts for line in part if line.key]
        left = self.names.width(rows) + 2 * MARGIN
        room = (PAGE_INCHES / len(self.parts) - left) / max(len(self.columns), 1)
        return min(max(room, least), 0.4 if self.numbered else 0.2)

    @cached_property
    def left(self) -> float:
        """Width of the names of rows, in inches."""
        lines = [line for part in self.parts for line in part]
        rows = self.names.width(line.text for line in lines if line.key)
        headings = self.names.width((line.text for line in lines if not line.key), heading=True)
        # Headings may reach over the cells.
        return max(rows, headings - self.cell * len(self.columns)) + 2 * MARGIN

    @property
    def width(self) -> float:
        """Width of a part with the names of its rows, in inches."""
        return self.left + self.cell * len(self.columns)

    def draw(self) -> Figure:
        """Draw the map with its scale below."""
        height = ROW_INCHES * max(len(part) for part in self.parts)
        longest = self.names.width(self.columns)
        slanted = longest * (math.sin(math.radians(45)) if self.numbered else 1)
        above, below = 2 * MARGIN + slanted + 0.08, 0.55
        # The scale needs some room even below a single column.
        wide, high = max(self.width * len(self.parts), 1.7), above + height + below
        figure = Figure(figsize=(wide, high))
        for number, part in enumerate(self.parts):
            inches = ROW_INCHES * len(part)
            box = (
                (number * self.width + self.left) / wide,
                (below + height - inches) / high,
                self.cell * len(self.columns) / wide,
                inches / high,
            )
            self._draw_part(figure.add_axes(box), part)
        length = min(2.0, wide - 0.5)
        box = ((wide - length) / 2 / wide, 0.32 / high, length / wide, 0.09 / high)
        scale, axes = ScalarMappable(self.norm, self.colours), figure.add_axes(box)
        bar = figure.colorbar(scale, cax=axes, orientation="horizontal", ticks=[*self.ticks])
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=SMALL, length=2, pad=1)
        bar.set_label(self.label, fontsize=7, labelpad=1)
        return figure

    def _draw_part(self, axes: Axes, part: Sequence[Line]) -> None:
        axes.set(xlim=(0, len(self.columns)), ylim=(len(part), 0), xticks=[], yticks=[])
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        for y, line in enumerate(part):
            if line.key:
                x, look = -MARGIN, self.names.look(ha="right", va="center")
            else:
                x, look = MARGIN - self.left, self.names.look(weight=self.names.weight, va="center")
            axes.text(x / self.cell, y + 0.5, self.names.shown[line.text], **look)
        slant = {"rotation": 45 if self.numbered else 90, "rotation_mode": "anchor"}
        for x, column in enumerate(self.columns):
            look = self.names.look(ha="left", va="center", **slant)
            axes.text(x + 0.5, -0.4, self.names.shown[column], **look)
        values = [[self.values.get((line.key, c)) for c in self.columns] for line in part]
        axes.pcolormesh(
            np.array(values, dtype=float), cmap=self.colours, norm=self.norm, edgecolors="white",
            linewidth=0.4,
        )  # fmt: skip
        look = {"ha": "center", "va": "center", "fontsize": SMALL}
        for y, (line, numbers) in enumerate(zip(part, values, strict=True)):
            for x, (column, value) in enumerate(zip(self.columns, numbers, strict=True)):
                if value is None and (line.key, column) in self.values:
                    axes.text(x + 0.5, y + 0.5, "·", color=GREY, **look)
                elif value is not None and self.numbered:
                    text = number_text(value, self.form)
                    # Relative luminance of an sRGB colour, from 0 (black) to 1 (white): WCAG 2.1.
                    luminance = sum(
                        weight * (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4)
                        for weight, c in zip(WEIGHTS, self.colours(self.norm(value)), strict=False)
                    )
                    ink = "black" if luminance > EQUAL_CONTRAST else "white"
                    axes.text(x + 0.5, y + 0.5, text, color=ink, **look)


def _groups(view: View) -> list[tuple[str, list[Line]]]:
    """Return rows by language and phenomenon, with headings where they tell groups apart."""
    groups: list[tuple[str, list[Line]]] = []
    for lang in view.languages:
        prefix, pairs = view.prefix(lang), view.single(lang)
        times = Counter(paradigm for _, paradigm in pairs)
        rows: dict[str, list[Line]] = {}
        for phenomenon, paradigm in pairs:
            inside = f" ({spoken(phenomenon)})" if times[paradigm] > 1 else ""
            line = Line(paradigm, f"{prefix}{paradigm}{inside}", (lang, phenomenon, paradigm))
            rows.setdefault(phenomenon, []).append(line)
        if all(len(lines) == 1 for lines in rows.values()):
            groups.append((view.languages[lang] if prefix else "", [*chain(*rows.values())]))
        else:
            groups += [(view.row(lang, phenomenon), lines) for phenomenon, lines in rows.items()]
    return groups


def _parts(groups: Groups, count: int) -> list[list[Line]]:
    """Divide rows under their headings into ``count`` parts of about equal length."""
    lists = [[*([Line(heading)] if heading else []), *lines] for heading, lines in groups]
    length = math.ceil(sum(map(len, lists)) / count)
    blocks_of_columns: list[list[Line]] = [[]]
    for lines in (block for line_list in lists for block in blocks(line_list, length)):
        ends_nearer = len(blocks_of_columns[-1]) + len(lines) / 2 > length
        if blocks_of_columns[-1] and ends_nearer and len(blocks_of_columns) < count:
            blocks_of_columns.append([])
        blocks_of_columns[-1] += lines
    return blocks_of_columns


def paradigms(tables: Tables, labels: Labels) -> Exhibit:
    """Show accuracy by paradigm and model, or by family of released models, then baselines."""
    view = read_view(tables, labels)
    baselines = Baselines.read(tables, view)
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    groups = _groups(view)
    for line in chain.from_iterable(lines for _, lines in groups):
        lang, phenomenon, paradigm = line.paradigm
        stub[line.key] = {"Phenomenon": spoken(phenomenon)}
        for column, models in view.columns.items():
            rows = view.of(lang, phenomenon, paradigm, models)
            cells += present([view.cell(rows, (line.key, column))])
        cells += baselines.cells(lang, phenomenon, line.key, paradigm)
    figure, listed = no_figure("no paradigms"), ""
    if cells:
        columns = [*view.columns, *baselines.columns]
        lines = [line for heading, lines in groups for line in (Line(heading), *lines)]
        lines = [line for line in lines if line.text]
        # Headings are numbered first, where no font has their letters.
        texts = [line.text for line in sorted(lines, key=lambda line: line.key != "")]
        names = Names.of([*texts, *columns])
        keys = [line.key for line in lines if line.key]
        values = {(cell.row, cell.column): cell.value for cell in cells}
        for length in LENGTHS:
            heat_map = HeatMap(
                columns,
                dict.fromkeys(product(keys, columns)) | values,
                ".0f",
                DIVERGING,
                Normalize(0, 100),
                PERCENT,
                (0, 25, 50, 75, 100),
                names,
                _parts(groups, math.ceil(len(lines) / length)),
            )
            if heat_map.width * len(heat_map.parts) <= PAGE_INCHES:
                break
        figure, listed = heat_map.draw(), names.listed
    description = view.described(
        "paradigms", means=means_of_seeds(view), baselines=baselines.note, listed=listed
    )
    return Exhibit(**description, cells=cells, stub=stub, figure=figure)


def correlations(tables: Tables, labels: Labels) -> Exhibit:
    """Show Pearson's correlation of every two models over their common paradigms."""
    view = read_view(tables, labels)
    wide = accuracies_by(view.rows, PARADIGM)
    formula = correlation(PEARSON, PARADIGM)
    columns = [*view.columns]
    cells: list[Cell] = []
    for number, row in enumerate(columns):
        for column in columns[:number]:
            models = [*view.columns[column], *view.columns[row]]
            rows = view.rows[view.rows["model"].isin(models)]
            cells += present([correlation_cell(wide[models], rows, (row, column), formula)])
    names, lack = Names.of(columns), ""
    if cells:
        values = {(cell.row, cell.column): cell.value for cell in cells}
        below = dict.fromkeys((row, column) for column, row in combinations(columns, 2))
        negative = min(values.values()) < 0
        heat_map = HeatMap(
            columns[:-1],
            below | values,
            ".2f",
            DIVERGING if negative else ONE_HUE,
            Normalize(-1 if negative else 0, 1),
            PEARSON,
            (-1, 0, 1) if negative else (0, 0.5, 1),
            names,
            [[Line(name, name) for name in columns[1:]]],
        )
        figure = heat_map.draw()
    else:
        few = f"fewer than {FEWEST} paradigms in common"
        reason = "a single model" if len(columns) < 2 else few
        figure, lack = no_figure(reason), f" Nothing to draw: {reason}."
    description = describe("correlations", name=view.name, lack=lack, listed=names.listed)
    return Exhibit(**description, cells=cells, figure=figure)
