"""Draw parts of figures of declared benchmarks: names, intervals, named points."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.fonts import families_for, has_bold, letters_of
from blimpworks.exhibits.pen import HOUSE, text_size
from blimpworks.exhibits.render import PNG_DPI
from blimpworks.exhibits.style import COLUMN_INCHES, empty_figure
from blimpworks.exhibits.texts import take_literally

no_figure = partial(empty_figure, width=COLUMN_INCHES, height=1.2, framed=False)
"""Function from a reason to the figure of an exhibit without data."""
SMALL = 6.0
"""Size of the smallest letters, in points."""
PERCENT = "accuracy (%)"
MANY = 25
"""Number of rows from which their names are small."""
Place = tuple[float, float]
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
        letters = font_manager.get_font(font_manager.findfont(house)).get_charmap().keys()
        lacking = letters_of(texts) - letters
        families, absent = families_for(lacking)
        weight = "bold" if all(map(has_bold, families)) else "normal"
        unwritable = [text for text in texts if letters_of([text]) & absent]
        numbers = {text: str(number) for number, text in enumerate(unwritable, start=1)}
        return cls((*HOUSE, *families), {text: text for text in texts} | numbers, weight)

    @property
    def listed(self) -> str:
        """Caption's sentence on numbers that replace names, or nothing."""
        numbered = [f"{number} {name}" for name, number in self.shown.items() if number != name]
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
    pixels = axes.transData.transform([*points.values(), *others])
    taken = [Bbox.from_bounds(x, y, 0, 0).padded(2.5 * PNG_DPI / 72) for x, y in pixels]
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
            if fits and not any(box.overlaps(taken_box) for taken_box in taken):
                taken.append(box)
                break
            text.remove()
