"""Figure 5 of BLiMP, learning curves, and the table of their slopes.

Source: Warstadt et al. (2020), section 6.3 and footnote 16.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.seeds import size_name
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import PERPLEXITY, UNWEIGHTED, select_rows
from blimpworks.exhibits.shared import Tables, printed_cell, read_plain, read_printed, row_cell
from blimpworks.exhibits.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PAGE_INCHES,
    PINK,
    SKY,
    VERMILION,
    new_figure,
)
from blimpworks.papers.blimp.analysis.curves import DOUBLING, TO_HUMAN, phenomena_accuracies
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.accuracies import (
    computed_cell,
    formula_cell,
    of_phenomenon,
    read_own,
)
from blimpworks.papers.blimp.exhibits.figures import empty_figure
from blimpworks.papers.blimp.exhibits.formulas import EXTRAPOLATED
from blimpworks.papers.blimp.paradigms import HUMAN, LANG, NAMES
from blimpworks.tables import PERPLEXITIES, REGRESSIONS

ROWS = {**NAMES, ALL: "Average"}
"""Phenomena by their keys, and all of them together."""
COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PINK, SKY)
MARKS = (("o", "-"), ("^", (0, (4, 1.5))))
"""Marker and line of the first six phenomena, and of the other six."""
PRINTED_AT = {125_000: "0.125M", 1_000_000: "1M", 8_000_000: "8M", 64_000_000: "64M"}
"""Sizes whose perplexity is printed (footnote 16), as print has them."""
PRINTED = {"blimp-txl-curve": "TXL", "blimp-lstm-curve": "LSTM"}
"""Models whose slopes are printed, and what they are called there."""
WHOLE = {"blimp-txl-curve": "transformer-xl-wt103", "blimp-lstm-curve": "lstm-gulordava"}
"""The same models trained on all of their text, whose accuracies are printed."""
SLOPE, TOKENS, PERPLEXITIES_AT = "slope", "log10 tokens", "perplexity"
ASIDE = 0.015
"""How far apart the lines' points of one size stand, in doublings."""
NONE = "no model is trained on samples"


@dataclass(frozen=True, slots=True)
class Curve:
    """Models of one kind, trained on samples of several sizes."""

    row: str
    """In the table of models."""
    label: str
    tokens: Mapping[str, int]
    """By model."""

    @property
    def sizes(self) -> dict[int, list[str]]:
        """Models by size, the smallest first."""
        sizes = sorted({*self.tokens.values()})
        return {size: [m for m, n in self.tokens.items() if n == size] for size in sizes}


def _curves(labels: Labels) -> list[Curve]:
    facts: Mapping[str, Any] = labels.facts.get("blimp_curves", {})
    return [Curve(row, fact["label"], fact["models"]) for row, fact in facts.items()]


def _with_spread(cell: Cell, values: pd.Series) -> Cell:
    """A cell of a mean over models, with their standard deviation around it."""
    if len(values) < 2:
        return replace(cell, n=len(values))
    deviation = float(values.std())
    low, high = cell.value - deviation, cell.value + deviation
    return replace(cell, n=len(values), low=low, high=high)


# Figure 5


Points = Mapping[str, Sequence[tuple[int, Cell]]]
"""Tokens and mean accuracy of each size, by phenomenon."""


def _points(rows: pd.DataFrame, curve: Curve) -> Points:
    single = 100 * phenomena_accuracies(rows)
    points: dict[str, list[tuple[int, Cell]]] = {}
    for size, models in curve.sizes.items():
        evaluated = [model for model in models if model in single.index]
        of_size = rows[rows["model"].isin(evaluated)]
        for key, name in ROWS.items():
            inside = of_size[of_size["paradigm"].isin(of_phenomenon(key))]
            if not inside.empty:
                cell = computed_cell(
                    inside, (name, f"{curve.label}, {size_name(size)}"), UNWEIGHTED
                )
                spread = _with_spread(cell, single.loc[evaluated, key].dropna())
                points.setdefault(key, []).append((size, spread))
    return points


def _style(number: int) -> dict[str, Any]:
    """The line of a phenomenon: six colours, each with two markers and dashes."""
    marker, line = MARKS[number // len(COLOURS)]
    colour = COLOURS[number % len(COLOURS)]
    return {"color": colour, "marker": marker, "linestyle": line, "linewidth": 1, "markersize": 3.5}


STYLES = {key: _style(number) for number, key in enumerate(NAMES)} | {
    ALL: {"color": GREY, "linewidth": 3.5, "alpha": 0.7, "zorder": 1}
}


def _draw(axes: Axes, curve: Curve, points: Points) -> None:
    for number, (key, line) in enumerate(points.items()):
        # Side by side, so that bars of one size don't hide each other.
        aside = 2 ** (ASIDE * (number - len(NAMES) / 2))
        sizes = [size * aside for size, _ in line]
        values = [cell.value for _, cell in line]
        spread = [0.0 if c.high is None else c.high - c.value for _, c in line]
        axes.errorbar(sizes, values, spread, elinewidth=0.5, capsize=1.5, **STYLES[key])
    axes.axhline(50, color="black", linewidth=0.6, linestyle=":")
    axes.set_xscale("log", base=2)
    axes.set_xticks([*curve.sizes], [size_name(size).upper() for size in curve.sizes])
    axes.minorticks_off()
    axes.set_title(curve.label, loc="left")
    axes.set_ylabel("accuracy (%)")


def _figure(rows: pd.DataFrame, curves: Sequence[Curve]) -> tuple[Figure, list[Cell]]:
    """A panel for each curve below the last one, and the cells of all."""
    cells: list[Cell] = []
    figure = new_figure(PAGE_INCHES, 2.9 * len(curves))
    grid = figure.subplots(len(curves), 1, squeeze=False, sharey=True)
    for axes, curve in zip(grid.flat, curves, strict=True):
        points = _points(rows, curve)
        _draw(axes, curve, points)
        cells += [cell for line in points.values() for _, cell in line]
    grid.flat[-1].set_xlabel("tokens of training text")
    handles = [Line2D([], [], label=ROWS[key], **style) for key, style in STYLES.items()]
    figure.legend(handles=handles, loc="outside right center", handlelength=3)
    return figure, cells


def fig5(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 5: accuracy on each phenomenon by the tokens that models are trained on."""
    cells: list[Cell] = []
    if curves := _curves(labels):
        figure, cells = _figure(read_own(tables, labels), curves)
    else:
        figure = empty_figure(NONE, 2.9)
    return Exhibit(**describe("fig5"), cells=cells, figure=figure)


# Slopes


def _slopes(table: pd.DataFrame, curve: Curve) -> Iterator[Cell]:
    """Slope of each phenomenon with its interval, and the tokens to human accuracy."""
    keys = ("analysis", "model", "term")
    terms = table[(table["model"] == curve.row) & table["analysis"].isin(ROWS)]
    for _, term in terms.iterrows():
        name, value = ROWS[term["analysis"]], term["coefficient"]
        if term["term"] == DOUBLING:
            place = (name, f"{curve.label} {SLOPE}")
            text = f"{value:.4f} ± {term['high'] - value:.4f}".replace("-", "−")
            cell = row_cell("regressions", term, keys, "coefficient", place, text)
            yield replace(cell, n=int(term["n"]), low=term["low"], high=term["high"])
        elif term["term"] == TO_HUMAN:
            place = (name, f"{curve.label} {TOKENS}")
            yield row_cell("regressions", term, keys, "coefficient", place, f"{value:.1f}")


def _printed_slopes(printed: pd.DataFrame, *, extrapolated: bool) -> Iterator[Cell]:
    """The slopes that the text gives, and the tokens that they would need for human accuracy."""
    printed_of_curves = printed[(printed["exhibit"] == "text") & printed["row"].isin(PRINTED)]
    for _, row in printed_of_curves.iterrows():
        word, _, key = row["column"].partition(" ")
        if word != "slope":
            continue
        name = PRINTED[row["row"]]
        yield printed_cell(row, (NAMES[key], f"printed {name} {SLOPE}"))
        if extrapolated:
            where = {
                "exhibit": ["table3", "text"],
                "row": [row["row"], HUMAN, WHOLE[row["row"]]],
                "column": [row["column"], key, "training tokens"],
            }
            place = (NAMES[key], f"printed {name} {TOKENS}")
            numbers = select_rows(printed, where)
            yield formula_cell(numbers, place, EXTRAPOLATED, "published", where, "{:.1f}")


def _perplexities(tables: Tables, curve: Curve) -> Iterator[tuple[int, Cell]]:
    """Tokens and mean test perplexity of each size; of LSTMs alone there is a table."""
    rows = read_plain(PERPLEXITIES, tables.get("perplexities"))
    for size, models in curve.sizes.items():
        where: dict[str, Any] = {"lang": LANG, "model": models}
        inside = select_rows(rows, where)
        if not inside.empty:
            place = (f"{size:,} tokens", f"{curve.label} {PERPLEXITIES_AT}")
            cell = formula_cell(inside, place, PERPLEXITY, "perplexities", where, "{:.1f}")
            yield size, _with_spread(cell, inside["perplexity"])


def _printed_perplexities(printed: pd.DataFrame) -> Iterator[tuple[int, Cell]]:
    """Tokens and printed perplexity of the sizes that have one."""
    where = {"exhibit": "text", "row": "curve"}
    for size, name in PRINTED_AT.items():
        chosen = where | {"column": f"perplexity at {name}"}
        for _, row in select_rows(printed, chosen).iterrows():
            yield size, printed_cell(row, (f"{size:,} tokens", f"printed {PERPLEXITIES_AT}"))


def _section(title: str, cells: Sequence[Cell]) -> Section:
    rows = {cell.row: cell.row for cell in cells}
    return Section(title, rows, list(dict.fromkeys(cell.column for cell in cells)))


def _heads(cells: Sequence[Cell]) -> dict[str, tuple[str, str]]:
    """Columns in two lines: whose they are, and what."""
    columns = dict.fromkeys(cell.column for cell in cells)
    ends = (SLOPE, TOKENS, PERPLEXITIES_AT)
    split = ((column, next(end for end in ends if column.endswith(end))) for column in columns)
    return {column: (column.removesuffix(end).strip(), end) for column, end in split}


def slopes(tables: Tables, labels: Labels) -> Exhibit:
    """Slopes of the learning curves, beside those that the text gives; perplexity by size."""
    printed, measured = read_printed(tables), labels.source == "measured"
    curves = _curves(labels) if measured else []
    table = read_plain(REGRESSIONS, tables["curves"][0]) if measured else pd.DataFrame()
    fitted = [cell for curve in curves for cell in _slopes(table, curve)]
    fitted += _printed_slopes(printed, extrapolated=not measured)
    order = [*ROWS.values()]
    fitted.sort(key=lambda cell: order.index(cell.row))
    of_sizes = [each for curve in curves for each in _perplexities(tables, curve)]
    of_sizes += _printed_perplexities(printed)
    sized = [cell for _, cell in sorted(of_sizes, key=lambda each: each[0])]
    cells = [*fitted, *sized]
    return Exhibit(
        **describe(
            "slopes" if measured else "slopes_published",
            none="" if curves else f"In this campaign {NONE}. ",
        ),
        cells=cells,
        heads=_heads(cells),
        sections=(_section("Phenomenon", fitted), _section("Training text", sized)),
    )
