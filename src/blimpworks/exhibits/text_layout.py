"""Draw texts, boxes and arrows in figures that are diagrams, in points from the top left corner.

A drawing function is called twice. It first gets a ``Pen`` without axes, which only measures, so
that the height of the figure is known. The second pen, from ``canvas``, draws. A text in one style
is a ``Run``; a line of text has several runs, such as a word in bold and the words around it.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from blimpworks.exhibits.exhibit import is_rtl
from blimpworks.exhibits.fonts import HOUSE

INK, FAINT = "#1B1B1B", "#6A6A6A"
FRAME, FILL, BAND = "#B5B5B5", "#FFFFFF", "#EDF1F5"
ELLIPSIS = "…"
LEADING = 1.36
"""Distance of two lines of text, as a multiple of the font size."""
RESOLUTION = 300
"""Dots per inch at which texts are measured."""
Look = dict[str, Any]
"""Options of matplotlib for one object of a figure."""
MIRRORED = str.maketrans("()[]{}<>«»‹›", ")(][}{><»«›‹")
"""Brackets, which look the other way round from right to left."""


@cache
def _renderer() -> Any:
    canvas: Any = FigureCanvasAgg(Figure(dpi=RESOLUTION))
    return canvas.get_renderer()


@cache
def text_size(
    text: str, size: float, bold: bool, families: tuple[str, ...]
) -> tuple[float, float, float]:
    """Return a text's width, height above and depth below the baseline, in points."""
    if not text:
        return 0.0, 0.0, 0.0
    weight = "bold" if bold else "normal"
    font = FontProperties(family=[*families], size=size, weight=weight)
    width, height, depth = _renderer().get_text_width_height_descent(text, font, False)
    scale = 72 / RESOLUTION
    return width * scale, (height - depth) * scale, depth * scale


@dataclass(frozen=True, slots=True)
class Run:
    """A text in one style, such as a word in bold; ``size`` is the font size in points.

    A ``glued`` run has no space before it, such as a comma after a word in bold. It stays on the
    line of the previous run if it fits. ``families`` are fonts in order of preference.
    """

    text: str
    size: float = 7
    colour: str = INK
    bold: bool = False
    families: tuple[str, ...] = HOUSE
    glued: bool = False

    @property
    def measures(self) -> tuple[float, float, float]:
        """Width, height above and depth below the baseline, in points."""
        return text_size(self.text, self.size, self.bold, self.families)

    @property
    def width(self) -> float:
        return self.measures[0]

    def fitted(self, width: float) -> "Run":
        """Return the run; if it is wider than ``width`` points, cut it and add an ellipsis."""
        if self.width <= width:
            return self
        for letters in range(len(self.text) - 1, 0, -1):
            shorter = replace(self, text=self.text[:letters].rstrip() + ELLIPSIS)
            if shorter.width <= width:
                return shorter
        return replace(self, text="")


def words_of(run: Run) -> list[Run]:
    """Split a run into words; punctuation around a right-to-left word becomes glued runs."""
    runs: list[Run] = []
    # Split at plain spaces only, not at the no-break space before a percent sign.
    for word in filter(None, run.text.split(" ")):
        for index, piece in enumerate(_pieces(word)):
            is_first = not runs
            runs.append(replace(run, text=piece, glued=run.glued if is_first else index > 0))
    return runs


@cache
def _pieces(word: str) -> tuple[str, ...]:
    """Split mirrored punctuation from a right-to-left word: "(word)" becomes ")", "word", "("."""
    if not is_rtl(word):
        return (word,)
    # Offsets of letters, marks and numbers; other characters are punctuation.
    offsets = [i for i, letter in enumerate(word) if unicodedata.category(letter)[0] in "LMN"]
    if not offsets:
        return (word,)
    start, end = offsets[0], offsets[-1] + 1
    pieces = (word[:start].translate(MIRRORED), word[start:end], word[end:].translate(MIRRORED))
    return tuple(filter(None, pieces))


def wrapped(runs: Iterable[Run], width: float, space: float) -> list[list[Run]]:
    """Arrange runs in lines of at most ``width``, with gaps of ``space``, both in points."""
    # Cut runs that are wider than a line.
    pieces: list[Run] = []
    for run in runs:
        remaining = run
        while remaining.width > width and len(remaining.text) > 1:
            letters = len(remaining.text) - 1
            while letters > 1 and replace(remaining, text=remaining.text[:letters]).width > width:
                letters -= 1
            pieces.append(replace(remaining, text=remaining.text[:letters]))
            remaining = replace(remaining, text=remaining.text[letters:], glued=True)
        pieces.append(remaining)
    # A group is a run with the glued runs after it, as long as they fit in a line.
    groups: list[list[Run]] = []
    for piece in pieces:
        if piece.glued and groups and line_width([*groups[-1], piece], 0) <= width:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    lines: list[list[Run]] = [[]]
    for group in groups:
        if lines[-1] and line_width([*lines[-1], *group], space) > width:
            lines.append([])
        lines[-1] += group
    return lines


def step(above: Iterable[Run], below: Iterable[Run]) -> float:
    """Return the distance of two lines' baselines, in points, or from the top if none is above."""
    above, below = [*above], [*below]
    size = max((run.size for run in below), default=0.0)
    depth = max((run.measures[2] for run in above), default=0.0)
    height = max((run.measures[1] for run in below), default=0.0)
    return max(LEADING * size, depth + height + 1) if above else max(size, height)


def line_width(line: Sequence[Run], space: float) -> float:
    """Return the width of runs side by side, in points."""
    gaps = sum(0 if run.glued else space for run in line[1:])
    return sum(run.width for run in line) + gaps


@dataclass(frozen=True, slots=True)
class Pen:
    """Draws on ``axes`` in points from the top left corner; without axes, it only measures."""

    axes: Axes | None = None

    def text(self, x: float, y: float, run: Run, align: str = "left") -> float:
        """Write a run with its baseline at ``y``, and return its width in points."""
        if self.axes is not None and run.text:
            look: Look = {"size": run.size, "color": run.colour, "family": [*run.families]}
            look |= {"weight": "bold" if run.bold else "normal", "parse_math": False}
            self.axes.text(x, y, run.text, ha=align, va="baseline", **look)
        return run.width

    def line(self, x: float, y: float, runs: Sequence[Run], space: float = 2.2) -> None:
        """Write runs side by side, from left to right."""
        for number, run in enumerate(runs):
            x += space if number and not run.glued else 0
            x += self.text(x, y, run)

    def paragraph(
        self, x: float, y: float, width: float, runs: Iterable[Run], rtl: bool = False
    ) -> float:
        """Write runs in lines below ``y``, from the right if ``rtl``; return their height."""
        runs = [*runs]
        size = max((run.size for run in runs), default=0)
        space = 0.32 * size  # the width of a space in most fonts
        lines = wrapped(runs, width, space)
        baseline = y
        for line_above, line in pairwise([[], *lines]):
            baseline += step(line_above, line)
            if not rtl:
                self.line(x, baseline, line, space)
                continue
            right = x + width
            for number, run in enumerate(line):
                right -= space if number and not run.glued else 0
                self.text(right, baseline, run, "right")
                right -= run.width
        return baseline + (LEADING - 1) * size - y

    def rectangle(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Draw a filled rectangle without an edge."""
        if self.axes is not None:
            # In front of lines (zorder 2), and behind texts (3).
            patch = Rectangle((x, y), width, height, facecolor=colour, linewidth=0, zorder=2.5)
            self.axes.add_patch(patch)

    def box(self, x: float, y: float, width: float, height: float, fill: str = FILL) -> None:
        """Draw a frame with round corners."""
        if self.axes is not None:
            frame: Look = {"boxstyle": "round,pad=0,rounding_size=3", "edgecolor": FRAME}
            frame |= {"facecolor": fill, "linewidth": 0.7}
            self.axes.add_patch(FancyBboxPatch((x, y), width, height, **frame))

    def curve(self, start: tuple[float, float], end: tuple[float, float], height: float) -> None:
        """Draw an arc that rises ``height`` points above its ends, with an arrowhead at ``end``."""
        if self.axes is not None:
            (x, y), (x2, y2) = start, end
            top = y - height
            corner = 3 if x2 > x else -3  # width of the cut corners, in points
            xs = [x, x, x + corner, x2 - corner, x2, x2]
            ys = [y, top + 3, top, top, top + 3, y2 - 3]
            self.axes.plot(xs, ys, color=FAINT, linewidth=0.7, solid_joinstyle="round")
            self.arrow([(x2, y2 - 3.5), (x2, y2)], FAINT, 0.7, 4)

    def arrow(
        self,
        points: Sequence[tuple[float, float]],
        colour: str = FAINT,
        weight: float = 1.0,
        head: float = 7,
    ) -> None:
        """Draw a line through points, with an arrowhead at the last one."""
        if self.axes is not None:
            for (x, y), (x2, y2) in pairwise(points[:-1]):
                self.axes.plot([x, x2], [y, y2], color=colour, linewidth=weight)
            style: Look = {"arrowstyle": "-|>", "mutation_scale": head, "linewidth": weight}
            ends: Look = {"shrinkA": 0, "shrinkB": 0, "color": colour}
            self.axes.add_patch(FancyArrowPatch(points[-2], points[-1], **style, **ends))


def canvas(width: float, height: float) -> tuple[Figure, Pen]:
    """Return an empty figure of a size in points, and a pen for it."""
    figure = Figure(figsize=(width / 72, height / 72))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    return figure, Pen(axes)
