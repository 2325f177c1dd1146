"""Figures of what drives accuracy on MultiBLiMP: Figures 1 (frequency) and 5 (size).

Source: Jumelet, Weissweiler, Nivre and Bisazza (2025).
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.transforms import Bbox

from blimpworks.analysis.accuracy import ALL
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.shared import (
    Tables,
    counted,
    printed_cell,
    read_plain,
    read_printed,
    row_cell,
    size_text,
)
from blimpworks.exhibits.style import (
    BLUE,
    COLUMN_INCHES,
    GREY,
    ORANGE,
    PAGE_INCHES,
    SMALL,
    family_looks,
    new_figure,
    say,
)
from blimpworks.exhibits.texts import take_literally
from blimpworks.papers.multiblimp.analysis.frequencies import RANKED_BY
from blimpworks.papers.multiblimp.analysis.regressions import ENOUGH_LANGUAGES, FREQUENCY, logistic
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.accuracies import accuracy_cell, read_accuracies
from blimpworks.papers.multiblimp.tables import FREQUENCIES
from blimpworks.tables import REGRESSIONS, RESIDUALS

NAMED = 7
"""Half of how many languages, those furthest off the trend, are named where there is room."""
SIDES = [
    ((0, 4), "center", "bottom"),
    ((0, -4), "center", "top"),
    ((4, 0), "left", "center"),
    ((-4, 0), "right", "center"),
]
"""Where a point's name may stand: offset in points, and alignment."""
MOST_TICKS = 10
"""Most sizes that have room under Figure 5."""
SHADES = 20.0
"""Points off the trend at which the colour is full."""
WITHOUT = "There is no table of frequencies, so no language is shown."
DIVERGING = LinearSegmentedColormap.from_list("deviation", [ORANGE, "#DDDDDD", BLUE])


def _of_languages(rows: pd.DataFrame, model: str) -> pd.DataFrame:
    return select_rows(rows, {"phenomenon": ALL, "model": model}).set_index("lang", drop=False)


# Figure 1


def _draw_trend(axes: Axes, points: pd.DataFrame, curve: pd.Series | None) -> None:
    reach = min(SHADES, np.nanmax(np.abs(points["residual"].to_numpy(float)), initial=1.0))
    drawn = axes.scatter(
        points[RANKED_BY],
        points["accuracy"],
        c=points["residual"].fillna(0.0),
        cmap=DIVERGING,
        vmin=-reach,
        vmax=reach,
        s=18,
        edgecolors=GREY,
        linewidths=0.4,
        zorder=3,
    )
    axes.set_xscale("log")
    axes.set_xlabel("characters of text in GlotCC")
    axes.set_ylabel("accuracy (%)")
    if curve is not None:
        left, right = np.log10(points[RANKED_BY].min()), np.log10(points[RANKED_BY].max())
        x = np.linspace(left, right, 200)
        axes.plot(10**x, logistic(x, curve["intercept"], curve[FREQUENCY]), color=GREY, lw=1)
        label = "deviation from the curve (points)"
        axes.figure.colorbar(drawn, ax=axes, label=label, pad=0.02, aspect=30, extend="both")
    far = points["residual"].abs().sort_values(ascending=False).index[: 2 * NAMED]
    _name_points(axes, points.loc[far], points)


def _name_points(axes: Axes, points: pd.DataFrame, all_points: pd.DataFrame) -> None:
    """Name points above or below them, or beside them, where no other point or name is."""
    axes.margins(y=0.1)
    take_literally(axes.figure)  # type: ignore[arg-type]
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    places = axes.transData.transform(all_points[[RANKED_BY, "accuracy"]].to_numpy(float))
    taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in places]
    for name, point in points.iterrows():
        sides = SIDES if point["residual"] > 0 else [SIDES[1], SIDES[0], *SIDES[2:]]
        for offset, horizontal, vertical in sides:
            text = axes.annotate(
                str(name),
                (point[RANKED_BY], point["accuracy"]),
                offset,
                textcoords="offset points",
                ha=horizontal,
                va=vertical,
                fontsize=5.5,
            )
            box = text.get_window_extent()
            if not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            text.remove()


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 1: accuracy by the language's frequency on the web, with a logistic trend."""
    model = labels.facts["trend_model"]
    rows = _of_languages(read_accuracies(tables, labels), model)
    paths = tables.get("frequencies") or []
    known = read_plain(FREQUENCIES, paths)
    residuals = read_plain(RESIDUALS, tables["residuals"])
    residuals = select_rows(residuals, {"analysis": FREQUENCY, "model": model})
    regressions = read_plain(REGRESSIONS, tables["regressions"])
    terms = select_rows(regressions, {"analysis": FREQUENCY, "model": model})
    curve = None if terms.empty else terms.set_index("term")["coefficient"]
    # Per language: accuracy and, where known, characters, the curve there, how far off it.
    frequencies = known[known[RANKED_BY] > 0]
    cells = []
    for lang, name in labels.languages.items():
        if lang not in rows.index:
            continue
        cells.append(accuracy_cell(rows.loc[[lang]], name, "accuracy", labels))
        for _, row in frequencies[frequencies["lang"] == lang].iterrows():
            text, place = f"{row[RANKED_BY]:.3g}", (name, RANKED_BY)
            cells.append(row_cell("frequencies", row, ("lang",), RANKED_BY, place, text))
        for _, row in residuals[residuals["lang"] == lang].iterrows():
            keys = ("analysis", "model", "lang")
            for column in ("fitted", "residual"):
                text = f"{row[column]:.1f}"
                cells.append(row_cell("residuals", row, keys, column, (name, column), text))
    table = pd.DataFrame([(c.row, c.column, c.value) for c in cells], columns=["row", "col", "v"])
    wide = table.pivot(index="row", columns="col", values="v")
    columns = wide.reindex(columns=["accuracy", RANKED_BY, "fitted", "residual"])
    points = columns[columns[RANKED_BY].notna()]
    figure = new_figure(PAGE_INCHES * 0.75, 3.0)
    axes = figure.subplots()
    if len(points):
        _draw_trend(axes, points, curve)
    else:
        say(axes, "no counts of characters by language:\nGlotCC's are not in print")
        axes.set(xlabel="characters of text in GlotCC", ylabel="accuracy (%)")
    return Exhibit(
        **describe(
            "fig1",
            model=labels.models.get(model, model),
            trend=_trend_caption(curve, points, len(rows)) if paths else WITHOUT,
        ),
        cells=cells,
        figure=figure,
    )


def _equation(curve: pd.Series) -> str:
    """The curve as a formula, in percent of x characters."""
    intercept = f"{curve['intercept']:.2f}".replace("-", "−")
    sign = "−" if curve[FREQUENCY] < 0 else "+"
    return f"100 ÷ (1 + exp(−({intercept} {sign} {abs(curve[FREQUENCY]):.2f} log₁₀ x)))"


def _trend_caption(curve: pd.Series | None, points: pd.DataFrame, judged: int) -> str:
    without = judged - len(points)
    lacking = f" Left out, without any text there: {counted(without, 'language')}."
    lacking = lacking if without else ""
    if curve is None:
        few = len(points) < ENOUGH_LANGUAGES
        why = "Too few languages for a trend" if few else "No logistic curve fits them"
        return f"{why}.{lacking}"
    over = int((points["residual"] > 0).sum())
    return (
        f"Curve: least squares, {_equation(curve)}; {counted(over, 'language')} above it, "
        f"{len(points) - over} below; those furthest off are named where there is room.{lacking}"
    )


# Figure 5


def _size_cells(tables: Tables, labels: Labels) -> dict[str, Cell]:
    """Overall accuracy of each model: measured, or as Table 3 prints it."""
    names = {model: labels.models.get(model) for model in labels.facts["sized_models"]}
    places = {model: (name, "accuracy") for model, name in names.items() if name}
    if labels.source == "published":
        printed = read_printed(tables, exhibit="table3", column=ALL)
        rows = {row["row"]: row for _, row in printed.iterrows()}
        return {m: printed_cell(rows[m], place) for m, place in places.items() if m in rows}
    accuracies = read_accuracies(tables, labels)
    frames = {m: _of_languages(accuracies, m) for m in places}
    return {
        m: accuracy_cell(frames[m], *places[m], labels, mean=True) for m in places if len(frames[m])
    }


def _draw_family(axes: Axes, points: pd.DataFrame, family: str, look: tuple[str, str]) -> None:
    """Base models filled on a solid line, chat models open on a broken one; single ones on none."""
    colour, marker = look
    for tuning, face, line in (("base", colour, "-"), ("chat", "white", "--")):
        chosen = points[points["tuning"] == tuning].sort_values("parameters")
        if len(chosen):
            axes.plot(
                chosen["parameters"],
                chosen["accuracy"],
                ls=line if len(chosen) > 1 else "none",
                color=colour,
                marker=marker,
                markersize=4.5,
                markerfacecolor=face,
                lw=1,
                label=f"{family}, {tuning}",
            )


def fig5(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 5: accuracy by model size, a line per family and tuning."""
    cells = _size_cells(tables, labels)
    facts = labels.facts["models"]
    rows = {model: {**facts[model], "accuracy": cell.value} for model, cell in cells.items()}
    points = pd.DataFrame.from_dict(rows, orient="index")
    sized = points[points["parameters"].notna()]
    figure = new_figure(COLUMN_INCHES, 3.4 if len(sized) > 2 else 2.4)
    axes = figure.subplots()
    families = sized.groupby("family", sort=False)
    looks = family_looks(points.get("family", ()))
    for family, inside in families:
        _draw_family(axes, inside, str(family), looks[str(family)])
    unsized = points[points["parameters"].isna()]
    for model, point in unsized.iterrows():
        colour, _ = looks[point["family"]]
        axes.axhline(point["accuracy"], color=colour, ls=":", lw=1.2)
        axes.annotate(
            labels.models[str(model)], (1, point["accuracy"]), (2, 0), size=SMALL, color=colour,
            xycoords=("axes fraction", "data"), textcoords="offset points", va="center",
        )  # fmt: skip
    if len(sized):
        axes.set_xscale("log")
        left, right = axes.get_xlim()
        doubled = [2.0**power for power in range(-14, 11) if left <= 2.0**power <= right]
        ticks = doubled[:: 1 + len(doubled) // MOST_TICKS]
        sizes = sorted({*sized["parameters"]})
        axes.set_xticks(ticks if len(sizes) > 2 else sizes)
        axes.xaxis.set_major_formatter(lambda tick, _: size_text(tick))
        axes.minorticks_off()
        axes.set_xlim(left, right)
    else:
        axes.set_xticks([])
    axes.set_xlabel("parameters (log scale)" if len(sized) else "no size in the catalogue")
    axes.set_ylabel("accuracy (%)")
    if len(sized):
        axes.figure.legend(loc="outside lower center", ncols=2)
    unknown = f" Dotted: {counted(len(unsized), 'model')} whose size the catalogue lacks."
    unknown = unknown if len(unsized) else ""
    return Exhibit(
        **describe(
            "fig5",
            unknown=unknown,
            limits=" As far as Table 3 prints it." if labels.source == "published" else "",
        ),
        cells=list(cells.values()),
        figure=figure,
    )
