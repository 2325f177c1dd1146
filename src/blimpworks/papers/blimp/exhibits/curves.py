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
    house_style,
    new_figure,
    say,
)
from blimpworks.papers.blimp.analysis.curves import DOUBLING, TO_HUMAN, phenomena_accuracies
from blimpworks.papers.blimp.exhibits.accuracies import computed_cell, of_phenomenon, read_own
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
        found: dict[int, list[str]] = {size: [] for size in sorted({*self.tokens.values()})}
        for model, size in self.tokens.items():
            found[size].append(model)
        return found


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


def _points(rows: pd.DataFrame, curve: Curve) -> dict[str, list[tuple[int, Cell]]]:
    """Tokens and mean accuracy of each size, by phenomenon."""
    single = 100 * phenomena_accuracies(rows)
    found: dict[str, list[tuple[int, Cell]]] = {}
    for size, models in curve.sizes.items():
        there = [model for model in models if model in single.index]
        for key, name in ROWS.items():
            chosen = rows[rows["model"].isin(there) & rows["paradigm"].isin(of_phenomenon(key))]
            if chosen.empty:
                continue
            place = (name, f"{curve.label}, {size_name(size)}")
            cell = computed_cell(chosen, place, UNWEIGHTED)
            spread = _with_spread(cell, single.loc[there, key].dropna())
            found.setdefault(key, []).append((size, spread))
    return found


def _look(number: int) -> dict[str, Any]:
    """How the line of a phenomenon looks: six colours, each with two markers and dashes."""
    marker, line = MARKS[number // len(COLOURS)]
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": marker,
        "linestyle": line,
        "linewidth": 1,
        "markersize": 3.5,
    }


LOOKS = {key: _look(number) for number, key in enumerate(NAMES)} | {
    ALL: {"color": GREY, "linewidth": 3.5, "alpha": 0.7, "zorder": 1}
}


def _draw(axes: Axes, curve: Curve, points: Mapping[str, list[tuple[int, Cell]]]) -> None:
    for number, (key, found) in enumerate(points.items()):
        # Side by side, so that bars of one size don't hide each other.
        aside = 2 ** (ASIDE * (number - len(NAMES) / 2))
        sizes = [size * aside for size, _ in found]
        values = [cell.value for _, cell in found]
        spread = [0.0 if c.high is None else c.high - c.value for _, c in found]
        axes.errorbar(sizes, values, spread, elinewidth=0.5, capsize=1.5, **LOOKS[key])
    axes.axhline(50, color="black", linewidth=0.6, linestyle=":")
    axes.set_xscale("log", base=2)
    axes.set_xticks([*curve.sizes], [size_name(size).upper() for size in curve.sizes])
    axes.minorticks_off()
    axes.set_title(curve.label, loc="left")
    axes.set_ylabel("accuracy (%)")


def _legend(figure: Figure) -> None:
    handles = [Line2D([], [], label=ROWS[key], **look) for key, look in LOOKS.items()]
    figure.legend(handles=handles, loc="outside right center", handlelength=3)


def fig5(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 5: accuracy on each phenomenon by the tokens that models are trained on."""
    curves, cells = _curves(labels), []
    rows = read_own(tables, labels) if curves else pd.DataFrame()
    with house_style():
        figure = new_figure(PAGE_INCHES, 2.9 * max(1, len(curves)))
        grid = figure.subplots(max(1, len(curves)), 1, squeeze=False, sharey=True)
        for axes, curve in zip(grid.flat, curves, strict=False):
            points = _points(rows, curve)
            _draw(axes, curve, points)
            cells += [cell for found in points.values() for _, cell in found]
        if curves:
            grid.flat[-1].set_xlabel("tokens of training text")
            _legend(figure)
        else:
            say(grid.flat[0], NONE)
    return Exhibit(
        "Accuracy by size of the training text",
        "Mean accuracy on each phenomenon, and on all paradigms (grey), of models trained on "
        "random samples of the text; bars: one standard deviation over the samples of a size. "
        "Dotted line: chance. In the cells file n is the number of samples, and low and high "
        "are one standard deviation away.",
        cells,
        row_title="Phenomenon",
        figure=figure,
    )


# Slopes


def _slopes(table: pd.DataFrame, curve: Curve) -> Iterator[Cell]:
    """Slope of each phenomenon with its interval, and the tokens to human accuracy."""
    keys = ("analysis", "model", "term")
    mine = table[(table["model"] == curve.row) & table["analysis"].isin(ROWS)]
    for _, found in mine.iterrows():
        name, value = ROWS[found["analysis"]], found["coefficient"]
        if found["term"] == DOUBLING:
            place = (name, f"{curve.label} {SLOPE}")
            text = f"{value:.4f} ± {found['high'] - value:.4f}".replace("-", "−")
            cell = row_cell("regressions", found, keys, "coefficient", place, text)
            yield replace(cell, n=int(found["n"]), low=found["low"], high=found["high"])
        elif found["term"] == TO_HUMAN:
            place = (name, f"{curve.label} {TOKENS}")
            yield row_cell("regressions", found, keys, "coefficient", place, f"{value:.1f}")


def _printed_slopes(printed: pd.DataFrame, *, extrapolated: bool) -> Iterator[Cell]:
    """The slopes that the text gives, and the tokens that they would need for human accuracy."""
    told = printed[(printed["exhibit"] == "text") & printed["row"].isin(PRINTED)]
    for _, found in told.iterrows():
        word, _, key = found["column"].partition(" ")
        name = PRINTED[found["row"]]
        if word != "slope":
            continue
        yield printed_cell(found, (NAMES[key], f"printed {name} {SLOPE}"))
        if extrapolated:
            whole = WHOLE[found["row"]]
            where = {
                "exhibit": ["table3", "text"],
                "row": [found["row"], HUMAN, whole],
                "column": [found["column"], key, "training tokens"],
            }
            value = EXTRAPOLATED(select_rows(printed, where))
            place = (NAMES[key], f"printed {name} {TOKENS}")
            yield Cell(*place, value, f"{value:.1f}", EXTRAPOLATED, "published", where)


def _size_row(size: int) -> str:
    return f"{size:,} tokens"


def _perplexities(tables: Tables, curve: Curve) -> Iterator[Cell]:
    """Mean test perplexity of each size; of LSTMs alone there is a table."""
    frames = [read_plain(PERPLEXITIES, path) for path in tables.get("perplexities", ())]
    rows = pd.concat(frames) if frames else pd.DataFrame({"lang": [], "model": []})
    for size, models in curve.sizes.items():
        where: dict[str, Any] = {"lang": LANG, "model": models}
        found = select_rows(rows, where)
        if not found.empty:
            value = PERPLEXITY(found)
            place = (_size_row(size), f"{curve.label} {PERPLEXITIES_AT}")
            cell = Cell(*place, value, f"{value:.1f}", PERPLEXITY, "perplexities", where)
            yield _with_spread(cell, found["perplexity"])


def _printed_perplexities(printed: pd.DataFrame) -> Iterator[Cell]:
    told = printed[(printed["exhibit"] == "text") & (printed["row"] == "curve")]
    for size, name in PRINTED_AT.items():
        for _, found in told[told["column"] == f"perplexity at {name}"].iterrows():
            yield printed_cell(found, (_size_row(size), f"printed {PERPLEXITIES_AT}"))


def _by_size(cells: Sequence[Cell]) -> list[Cell]:
    return sorted(cells, key=lambda cell: int(cell.row.partition(" ")[0].replace(",", "")))


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
    sized = [cell for curve in curves for cell in _perplexities(tables, curve)]
    sized += _printed_perplexities(printed)
    sized = _by_size(sized)
    cells = [*fitted, *sized]
    return Exhibit(
        "Slopes of the learning curves",
        _caption(curves, measured=measured),
        cells,
        row_title="Phenomenon",
        heads=_heads(cells),
        sections=(_section("Phenomenon", fitted), _section("Training text", sized)),
    )


def _caption(curves: Sequence[Curve], *, measured: bool) -> str:
    line = (
        "Slope: accuracy, a share of 1, gained with each doubling of the training text (least "
        "squares over all samples). log10 tokens: where the line reaches human accuracy. "
    )
    if not measured:
        return (
            f"{line}Printed slopes; the tokens follow from them, from Table 3 as printed, and "
            "from how much text the models of Table 3 were trained on. The paper says: well over "
            "20. Perplexity: of LSTMs, footnote 16."
        )
    none = "" if curves else f"In this campaign {NONE}. "
    return (
        f"{line}{none}±: half of the 95 % interval. Without tokens, where the line falls or "
        "no human accuracies are at hand. Perplexity: mean over the samples of a size, on test "
        "text of this campaign, not the paper's. The cells file has their standard "
        "deviation over samples."
    )
