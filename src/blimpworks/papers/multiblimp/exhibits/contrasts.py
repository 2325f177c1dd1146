"""Figures that set models side by side on MultiBLiMP: Figures 6 (languages) and 7 (factors).

Source: Jumelet, Weissweiler, Nivre and Bisazza (2025).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes

from blimpworks.analysis.accuracy import ALL
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import Tables, read_plain, row_cell
from blimpworks.exhibits.style import (
    BLUE,
    COLUMN_INCHES,
    GREY,
    POINTS,
    SMALL,
    colours,
    new_figure,
    say,
    with_ends,
)
from blimpworks.papers.multiblimp.analysis.margins import (
    ANALYSIS,
    COLLINEAR,
    COMPARED,
    CONSTANT,
    FACTORS,
    FEW,
    TEXTLESS,
    TYPE,
    UNKNOWN,
)
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.accuracies import (
    PHENOMENA,
    accuracy_cell,
    read_accuracies,
)
from blimpworks.tables import REGRESSIONS

# Figure 6

NAMED, CANDIDATES = 6, 12
"""Languages named in a panel, and those among which they are chosen: furthest off the line."""
ROOM = 15
"""Points of percentage that a name takes."""


def _draw_panel(
    axes: Axes,
    frames: Sequence[pd.DataFrame],
    names: Sequence[str],
    group: Sequence[str],
    labels: Labels,
    lowest: float,
) -> int:
    """Accuracies of two models against each other; returns on how many languages."""
    both = frames[0].merge(frames[1], left_index=True, right_index=True, suffixes=("_a", "_b"))
    inside = both.index.isin(group)
    inside &= not inside.all()  # a group that all languages are in sets none off
    kinds = (
        (~inside, GREY, "none", None),
        (inside, BLUE, BLUE, f"languages of {names[1]}"),
    )
    for chosen, colour, face, label in kinds:
        x, y = (100 * both[f"accuracy_{side}"][chosen] for side in "ab")
        drawn = axes.scatter(x, y, s=12, edgecolors=colour, facecolors=face, label=label)
        drawn.set(linewidths=0.8, zorder=3)
    if inside.any():
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), handletextpad=0.1)
    limits = (lowest - 4, 102)
    axes.plot(limits, limits, color=GREY, lw=0.7, ls="--")
    axes.set(xlim=limits, ylim=limits, xlabel=f"{names[0]} (%)", ylabel=f"{names[1]} (%)")
    step = 10 if limits[0] > 40 else 20
    ticks = range(step * math.ceil(limits[0] / step), 101, step)
    axes.set(xticks=ticks, yticks=ticks)
    axes.set_aspect("equal")
    _name_furthest(axes, 100 * both[["accuracy_a", "accuracy_b"]], labels)
    return len(both)


def _name_furthest(axes: Axes, places: pd.DataFrame, labels: Labels) -> None:
    """Name the languages furthest from equal accuracy, on the side away from the line."""
    gap = places["accuracy_b"] - places["accuracy_a"]
    few = len(places) <= NAMED
    names: list[tuple[float, float, int]] = []
    for lang in gap.abs().sort_values(ascending=False, kind="stable").index[:CANDIDATES]:
        x, y = places.loc[lang]
        name = labels.languages[str(lang)]
        # No name begins left of the axes.
        away = -1 if gap[lang] > 0 and x > axes.get_xlim()[0] + ROOM else 1
        sides = (away, -away) if few else (away,)
        # A letter takes about a percentage point. Of many points, some stand between two names.
        near = len(name) + 2 if few else math.inf
        beside = [(at, side) for at, across, side in names if abs(x - across) < near]
        free = [s for s in sides if all(abs(y - at) > 4 or s != side for at, side in beside)]
        if len(names) == NAMED:
            break
        if free:
            names.append((y, x, free[0]))
            axes.annotate(
                name, (x, y), (4 * free[0], 0), textcoords="offset points",
                ha="right" if free[0] < 0 else "left", va="center", size=SMALL,
            )  # fmt: skip


def _panel(
    axes: Axes, pair: Sequence[str], frames: Sequence[pd.DataFrame], labels: Labels, lowest: float
) -> str:
    """Draw one panel; say what is in it."""
    names = [labels.models[model] for model in pair[:2]]
    if any(frame.empty for frame in frames):
        say(axes, "not printed" if labels.source == "published" else "not judged")
        axes.set(xlabel=names[0], ylabel=names[1])
        axes.set_box_aspect(1)
        return "no accuracies of one of the two"
    group = labels.facts["groups"].get(pair[2], [])
    n = _draw_panel(axes, frames, names, group, labels, lowest)
    among = frames[0].index.intersection(frames[1].index).isin(group)
    marked = f", filled: languages of {names[1]}" if among.any() and not among.all() else ""
    return f"{n} languages{marked}"


def fig6(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 6: accuracies per language of two models against each other, panel by panel."""
    rows = read_accuracies(tables, labels)
    rows = rows[rows["phenomenon"] == ALL]
    cells: dict[tuple[str, str], Cell] = {}
    contents = []
    pairs = labels.facts["pairs"]
    panels = max(len(pairs), 1)
    figure = new_figure(3.4 * min(panels, 2), 3.4 * -(-panels // 2))
    columns = min(panels, 2)
    all_axes = list(figure.subplots(-(-panels // columns), columns, squeeze=False).flat)
    for spare in all_axes[panels:]:
        spare.set_axis_off()
    grid = all_axes[:panels]
    drawn = rows[rows["model"].isin([model for pair in pairs for model in pair[:2]])]
    lowest = min(50.0, 100 * drawn["accuracy"].min()) if len(drawn) else 50.0
    for letter, axes, pair in zip("abcd", grid, pairs, strict=False):
        frames = [rows[rows["model"] == m].set_index("lang", drop=False) for m in pair[:2]]
        content = _panel(axes, pair, frames, labels, lowest)
        contents.append(f"{letter}: {content}" if panels > 1 else content)
        if panels > 1:
            axes.set_title(f"{letter})", loc="left")
        for frame in frames:
            places = {
                lang: (labels.languages[lang], labels.models[model])
                for lang, model in zip(frame["lang"], frame["model"], strict=True)
            }
            cells |= {
                place: accuracy_cell(frame.loc[[lang]], *place, labels)
                for lang, place in places.items()
            }
    if not pairs:
        say(grid[0], "a single model")
        contents.append("the campaign has no two models to compare")
    return Exhibit(
        **describe("fig6", panels="; ".join(contents)),
        cells=list(cells.values()),
        figure=figure,
    )


# Figure 7


def _term_names() -> dict[str, str]:
    """Terms of the regression in the order of the figure, with their printed names."""
    types = {
        f"{TYPE} {code}": f"{construction}, {feature.lower()}"
        for code, (construction, feature) in PHENOMENA.items()
    }
    return types | {name: name for name in FACTORS}


def _draw_factors(
    axes: Axes, terms: pd.DataFrame, names: dict[str, str], models: Sequence[str], labels: Labels
) -> None:
    """Coefficients with their intervals by factor, each model in a colour and with a marker."""
    import seaborn as sns  # takes a second, and the other figures need none of it

    rows = with_ends(terms, "coefficient").replace({"term": names, "model": labels.models})
    sns.pointplot(
        rows, x="coefficient", y="term", hue="model", order=names.values(),
        hue_order=[labels.models[model] for model in models], palette=colours(len(models)),
        markers=["osD^v"[number % 5] for number in range(len(models))],
        dodge=0.22 * (len(models) - 1), ax=axes, **POINTS,
    )  # fmt: skip
    # Write at a factor's line which models have no coefficient of it; the caption says why.
    for line, term in enumerate(names):
        having = {*terms["model"][terms["term"] == term]}
        lacking = [labels.models[model] for model in models if model not in having]
        if lacking:
            axes.annotate(
                f"not estimated: {', '.join(lacking)}",
                (1, line),
                (-2, -5),
                ha="right",
                va="center",
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                size=SMALL,
                color=GREY,
            )
    axes.axvline(0, color=GREY, lw=0.7)
    axes.grid(axis="y", visible=False)
    axes.set(xlabel="coefficient (nats of margin)", ylabel=None)
    sns.move_legend(axes, "lower left", bbox_to_anchor=(0, 1), ncols=3, title=None)


def _coefficient(row: pd.Series, names: dict[str, str], labels: Labels) -> Cell:
    place = (names[row["term"]], labels.models[row["model"]])
    text = f"{row['coefficient']:.2f}".replace("-", "−")
    keys = ("analysis", "model", "term")
    cell = row_cell("regressions", row, keys, "coefficient", place, text)
    return replace(cell, n=int(row["n"]), low=float(row["low"]), high=float(row["high"]))


def _listed_terms(remarks: pd.DataFrame, models: int, labels: Labels) -> str:
    """Terms by their printed names; with the models in brackets unless all of them have it."""
    names, terms = _term_names(), []
    for term, rows in remarks.groupby("term", sort=False):
        whose = ", ".join(labels.models[model] for model in rows["model"])
        terms.append(names[str(term)] + ("" if len(rows) == models else f" ({whose})"))
    return "; ".join(terms)


def _remarks(remarks: pd.DataFrame, drawn: set[str], labels: Labels) -> Iterator[str]:
    """Sentences on what coefficients are compared with, and on what is not estimated."""
    models = remarks["model"].nunique()
    of = dict(iter(remarks.groupby("analysis")))
    if COMPARED in of:
        yield f"Agreement types are compared with {_listed_terms(of[COMPARED], models, labels)}."
        known = drawn | {*of[COMPARED]["term"]}
        types = [name for t, name in _term_names().items() if t.startswith(TYPE) and t not in known]
        if types:
            yield f"Without pairs: {'; '.join(types)}."
    if CONSTANT in of:
        constant = _listed_terms(of[CONSTANT], models, labels)
        yield f"Without variation, so not estimated: {constant}."
    if UNKNOWN in of:
        yield "There is no table of frequencies, so their effect is not estimated."
    if TEXTLESS in of:
        yield (
            "Pairs of languages without text in GlotCC: "
            + "; ".join(
                f"{labels.models[row['model']]} {row['n']:.0f}"
                for _, row in of[TEXTLESS].iterrows()
            )
            + ". They are left out; where all pairs are such, frequency is instead."
        )
    for kind, why in ((FEW, "too few pairs"), (COLLINEAR, "collinear factors")):
        if kind in of:
            whose = ", ".join(labels.models[model] for model in of[kind]["model"])
            yield f"Nothing could be estimated, for {why}: {whose}."


def fig7(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 7: standardised coefficients of what drives the margin, with 95 % intervals."""
    everything = read_plain(REGRESSIONS, tables["margins"])
    everything = everything[everything["model"].isin(labels.models)]
    rows = everything[everything["analysis"] == ANALYSIS]
    names = {term: name for term, name in _term_names().items() if term in set(rows["term"])}
    terms = rows[rows["term"].isin(names)]
    models = [m for m in labels.facts["margin_models"] if m in set(terms["model"])]
    figure = new_figure(COLUMN_INCHES * 1.2, max(1.6, 0.24 * len(names) + 1.0))
    axes = figure.subplots()
    if models:
        _draw_factors(axes, terms, names, models, labels)
    else:
        say(axes, "nothing could be estimated")
    remarks = everything[everything["analysis"] != ANALYSIS]
    return Exhibit(
        **describe("fig7", remarks=" ".join(_remarks(remarks, set(names), labels))),
        cells=[_coefficient(row, names, labels) for _, row in terms.iterrows()],
        figure=figure,
    )
