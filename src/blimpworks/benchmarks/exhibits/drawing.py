"""Draw parts of figures of declared benchmarks: names, heat maps, intervals, named points."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib import colormaps, font_manager
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from blimpworks.benchmarks.exhibits.view import number_text
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.fonts import families_for, has_bold, letters_of
from blimpworks.exhibits.pen import HOUSE, text_size
from blimpworks.exhibits.render import PNG_DPI
from blimpworks.exhibits.style import BLUE, GREY, VERMILION
from blimpworks.exhibits.texts import take_literally

SMALL = 6.0
"""Size of the smallest letters, in points."""
PERCENT = "accuracy (%)"
NEUTRAL = "#F4F4F4"
DIVERGING = LinearSegmentedColormap.from_list("diverging", [VERMILION, NEUTRAL, BLUE])
"""Colours with a neutral middle, whose ends differ with any common colour blindness."""
ONE_HUE = colormaps["Blues"]
ROW_INCHES = 0.13
MANY = 25
"""Number of rows from which their names are small."""
NUMBERED = 14
"""Most columns of a heat map whose cells have room for numbers."""
Place = tuple[float, float]
EQUAL_CONTRAST = 0.18
"""Luminance on which black and white letters are equally legible (WCAG 2.1)."""
MARGIN = 0.06
"""Room around texts, in inches."""


@dataclass(frozen=True)
class Names:
    """Names as a figure writes them: numbers replace names whose letters no font has."""

    families: tuple[str, ...]
    shown: Mapping[str, str]
    weight: str = "bold"
    """Weight of headings; normal where a font has no bold letters."""

    @classmethod
    def of(cls, names: Iterable[str]) -> "Names":
        """Choose fonts for some names: the house's, and others for scripts that it lacks."""
        texts = list(dict.fromkeys(names))
        (house,) = HOUSE
        known = font_manager.get_font(font_manager.findfont(house)).get_charmap().keys()
        lacking = letters_of(texts) - known
        families, absent = families_for(lacking)
        weight = "bold" if all(map(has_bold, families)) else "normal"
        unwritable = [text for text in texts if letters_of([text]) & absent]
        numbers = {text: str(number) for number, text in enumerate(unwritable, start=1)}
        return cls((*HOUSE, *families), {text: text for text in texts} | numbers, weight)

    @property
    def listed(self) -> str:
        """Caption's sentence on numbers that replace names, or nothing."""
        numbered = [f"{shown} {name}" for name, shown in self.shown.items() if shown != name]
        return f" Numbers stand for names: {', '.join(numbered)}." if numbered else ""

    def width(self, texts: Iterable[str], heading: bool = False) -> float:
        """Return the width of the widest of some names, in inches."""
        bold = heading and self.weight == "bold"
        sizes = (text_size(self.shown[text], SMALL, bold, self.families)[0] for text in texts)
        return max(sizes, default=0.0) / 72

    def look(self, **more: Any) -> dict[str, Any]:
        """Return the settings of a text that is a name."""
        return {"fontfamily": [*self.families], "fontsize": SMALL, **more}


def set_row_names(axes: Axes, rows: Sequence[str], names: Names) -> None:
    """Write names beside rows at 0, 1, 2 …, small where they are many."""
    size = 7 if len(rows) < MANY else SMALL
    axes.set_yticks(range(len(rows)), [names.shown[row] for row in rows])
    for label in axes.get_yticklabels():
        label.set(fontfamily=[*names.families], fontsize=size)
    axes.tick_params(axis="y", length=0)


def draw_interval(axes: Axes, cell: Cell, y: float, colour: Any, **look: Any) -> None:
    """Draw a level line over a cell's interval, if it has one."""
    if cell.low is not None and cell.high is not None:
        axes.hlines(y, cell.low, cell.high, color=colour, **look)


def mark(shape: str, colour: Any, label: str = "", **look: Any) -> Line2D:
    """Return a legend's entry with the shape and colour of points."""
    return Line2D(
        [], [], marker=shape, color=colour, label=label, linestyle="none", markersize=4, **look
    )


# Heat maps


@dataclass(frozen=True)
class Line:
    """A row of a heat map; one without a key is a heading."""

    text: str
    key: str = ""


@dataclass(frozen=True)
class HeatMap:
    """Numbers in rows and columns, and their drawing; many lines part into several columns."""

    columns: Sequence[str]
    values: Mapping[tuple[str, str], float | None]
    """Numbers by keys of rows and columns, None for a missing one; other places stay empty."""
    form: str
    """Format for ``number_text``."""
    colours: Colormap
    norm: Normalize
    label: str
    """Name of the scale."""
    ticks: Sequence[float]
    names: Names
    """Names of rows and columns."""
    parts: Sequence[Sequence[Line]]
    page: float = 6.9
    """Width of the page in inches, which legible cells may exceed."""

    @property
    def numbered(self) -> bool:
        """Whether the cells have room for their numbers."""
        return len(self.columns) <= NUMBERED

    @cached_property
    def left(self) -> float:
        """Width of the names of rows, in inches."""
        lines = [line for part in self.parts for line in part]
        rows = self.names.width(line.text for line in lines if line.key)
        headings = self.names.width((line.text for line in lines if not line.key), heading=True)
        # Headings may reach over the cells.
        return max(rows, headings - self.cell * len(self.columns)) + 2 * MARGIN

    @cached_property
    def cell(self) -> float:
        """Width of a cell, in inches."""
        texts = (number_text(v, self.form) for v in self.values.values() if v is not None)
        widest = max((text_size(text, SMALL, False, HOUSE)[0] for text in texts), default=0) / 72
        least = widest + MARGIN if self.numbered else 0.105
        rows = [line.text for part in self.parts for line in part if line.key]
        left = self.names.width(rows) + 2 * MARGIN
        room = (self.page / len(self.parts) - left) / max(len(self.columns), 1)
        return min(max(room, least), 0.4 if self.numbered else 0.2)

    @property
    def above(self) -> float:
        """Height of the names of columns, in inches."""
        longest = self.names.width(self.columns)
        return 2 * MARGIN + longest * (math.sin(math.radians(45)) if self.numbered else 1) + 0.08

    @property
    def width(self) -> float:
        """Width of a part with the names of its rows, in inches."""
        return self.left + self.cell * len(self.columns)

    def draw(self) -> Figure:
        """Draw the map with its scale below."""
        height = ROW_INCHES * max(len(part) for part in self.parts)
        below = 0.55
        # The scale needs some room even below a single column.
        wide, high = (max(self.width * len(self.parts), 1.7), self.above + height + below)
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
                    light = luminance(self.colours(self.norm(value))) > EQUAL_CONTRAST
                    text, ink = number_text(value, self.form), "black" if light else "white"
                    axes.text(x + 0.5, y + 0.5, text, color=ink, **look)


def luminance(colour: Sequence[float]) -> float:
    """Return the relative luminance, from 0 (black) to 1 (white), of an sRGB colour (WCAG 2.1)."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


# Points with names

OFFSETS = (
    ((4, 0), "left", "center"),
    ((-4, 0), "right", "center"),
    ((0, 4), "center", "bottom"),
    ((0, -4), "center", "top"),
    ((3, 3), "left", "bottom"),
    ((3, -3), "left", "top"),
    ((-3, 3), "right", "bottom"),
    ((-3, -3), "right", "top"),
)
"""Places of a point's name: offset in points, and alignment."""


def lay_out(figure: Figure) -> None:
    """Place axes and texts as in print, so that names can find room."""
    figure.set_dpi(PNG_DPI)
    take_literally(figure)
    figure.draw_without_rendering()


def name_points(axes: Axes, points: Mapping[str, Place], others: Sequence[Place] = ()) -> None:
    """Write names beside points where points, names and axes leave room.

    ``others`` are points without a name. The figure must have been laid out.
    """
    places = axes.transData.transform([*points.values(), *others])
    taken = [Bbox.from_bounds(x, y, 0, 0).padded(2.5 * PNG_DPI / 72) for x, y in places]
    inside = axes.get_window_extent().padded(-2 * PNG_DPI / 72)
    for name, point in points.items():
        # The first side with room is the one that is used.
        for offset, horizontal, vertical in OFFSETS:
            text = axes.annotate(
                name, point, offset, textcoords="offset points", ha=horizontal, va=vertical,
                fontsize=SMALL, in_layout=False,
                path_effects=[withStroke(linewidth=1.5, foreground="white")],
            )  # fmt: skip
            box = text.get_window_extent()
            fits = all(inside.contains(*corner) for corner in box.corners())
            if fits and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            text.remove()
