"""Draw MultiBLiMP's Figures 1, 5 and 6 of accuracy by frequency, size and model, and 7 of margins.

The package's docstring explains exhibits and cells.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.transforms import Bbox

from blimpworks.exhibits import shared, style
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.style import take_literally
from blimpworks.items import ALL
from blimpworks.papers.multiblimp import analysis
from blimpworks.papers.multiblimp.analysis import FREQUENCY, RANKED_BY
from blimpworks.papers.multiblimp.exhibits import describe, measures
from blimpworks.papers.multiblimp.tables import FREQUENCIES
from blimpworks.tables import REGRESSIONS, RESIDUALS

NAMED = 14
"""Most languages that Figure 1 names: those furthest off the trend."""
OFFSETS = [
    ((0, 4), "center", "bottom"),
    ((0, -4), "center", "top"),
    ((4, 0), "left", "center"),
    ((-4, 0), "right", "center"),
]
"""Positions of a point's name: offset in points, and alignment."""
MOST_TICKS = 10
"""Most sizes on the axis of Figure 5."""
FULL_COLOUR = 20.0
"""Distance from the trend, in percentage points, from which a point has the full colour."""
WITHOUT = "There is no table of frequencies, so no language is shown."
DIVERGING = LinearSegmentedColormap.from_list("deviation", [style.ORANGE, "#DDDDDD", style.BLUE])


def _name_points(axes: Axes, points: pd.DataFrame, all_points: pd.DataFrame) -> None:
    """Write names above, below or beside ``points``, away from other points and names."""
    axes.margins(y=0.1)
    take_literally(axes.figure)  # type: ignore[arg-type]
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    pixel_points = axes.transData.transform(all_points[[RANKED_BY, "accuracy"]].to_numpy(float))
    taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in pixel_points]
    for name, point in points.iterrows():
        sides = OFFSETS if point["residual"] > 0 else [OFFSETS[1], OFFSETS[0], *OFFSETS[2:]]
        for offset, horizontal, vertical in sides:
            text = axes.annotate(
                str(name), (point[RANKED_BY], point["accuracy"]), offset, fontsize=5.5,
                textcoords="offset points", ha=horizontal, va=vertical,
            )  # fmt: skip
            box = text.get_window_extent()
            if not any(box.overlaps(taken_box) for taken_box in taken):
                taken.append(box)
                break
            text.remove()


def fig1(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Figure 1: accuracy by the language's frequency on the web, with a logistic trend."""
    model = labels.facts["trend_model"]
    rows = measures.read_accuracies(tables, labels)
    rows = rows[(rows["phenomenon"] == ALL) & (rows["model"] == model)]
    paths = tables.get("frequencies") or []
    frequencies = shared.read_plain(FREQUENCIES, paths)
    frequencies = frequencies[frequencies[RANKED_BY] > 0]
    of_model = {"analysis": FREQUENCY, "model": model}
    residuals = select_rows(shared.read_plain(RESIDUALS, tables["residuals"]), of_model)
    terms = select_rows(shared.read_plain(REGRESSIONS, tables["regressions"]), of_model)
    curve = None if terms.empty else terms.set_index("term")["coefficient"]
    # Each language has an accuracy; some have characters, and a distance from the curve.
    further = (
        ("frequencies", frequencies, ("lang",), {RANKED_BY: ".3g"}),
        ("residuals", residuals, (*of_model, "lang"), {"fitted": ".1f", "residual": ".1f"}),
    )
    cells = []
    for lang in [lang for lang in labels.languages if lang in {*rows["lang"]}]:
        name = labels.languages[lang]
        cells.append(measures.accuracy_cell(rows[rows["lang"] == lang], (name, "accuracy"), labels))
        for source, table, keys, formats in further:
            for _, row in table[table["lang"] == lang].iterrows():
                for column, form in formats.items():
                    cell_key, text = (name, column), f"{row[column]:{form}}"
                    cells.append(shared.row_cell(source, row, keys, column, cell_key, text))
    # The cells' numbers, with a row for each language.
    numbers = style.frame_of(cells).pivot(index="row", columns="column", values="value")
    numbers = numbers.reindex(columns=["accuracy", RANKED_BY, "fitted", "residual"])
    points = numbers[numbers[RANKED_BY].notna()]
    figure = style.new_figure(style.PAGE_INCHES * 0.75, 3.0)
    axes = figure.subplots()
    axes.set(xlabel="characters of text in GlotCC", ylabel="accuracy (%)")
    if len(points):
        reach = min(FULL_COLOUR, np.nanmax(np.abs(points["residual"].to_numpy(float)), initial=1.0))
        drawn = axes.scatter(
            points[RANKED_BY], points["accuracy"], c=points["residual"].fillna(0.0),
            cmap=DIVERGING, vmin=-reach, vmax=reach, s=18, edgecolors=style.GREY, linewidths=0.4,
            zorder=3,
        )  # fmt: skip
        axes.set_xscale("log")
        if curve is not None:
            reached = np.log10(points[RANKED_BY])
            x = np.linspace(reached.min(), reached.max(), 200)
            y = analysis.logistic(x, curve["intercept"], curve[FREQUENCY])
            axes.plot(10**x, y, color=style.GREY, lw=1)
            label = "deviation from the curve (points)"
            figure.colorbar(drawn, ax=axes, label=label, pad=0.02, aspect=30, extend="both")
        far = points["residual"].abs().sort_values(ascending=False).index[:NAMED]
        _name_points(axes, points.loc[far], points)
    else:
        style.say(axes, "no counts of characters by language:\nGlotCC's are not in print")
    trend = _trend_caption(curve, points, len(rows)) if paths else WITHOUT
    description = describe("fig1", model=labels.models.get(model, model), trend=trend)
    return Exhibit(**description, cells=cells, figure=figure)


def _trend_caption(curve: pd.Series | None, points: pd.DataFrame, judged: int) -> str:
    """Describe the curve, and count the languages without text, for the caption."""
    lacking = judged - len(points)
    without = f" Left out, without any text there: {shared.counted(lacking, 'language')}."
    without = without if lacking else ""
    if curve is None:
        few = len(points) < analysis.ENOUGH_LANGUAGES
        why = "Too few languages for a trend" if few else "No logistic curve fits them"
        return f"{why}.{without}"
    intercept = f"{curve['intercept']:.2f}".replace("-", "−")
    sign = "−" if curve[FREQUENCY] < 0 else "+"
    above = int((points["residual"] > 0).sum())
    languages_above = shared.counted(above, "language")
    return (
        f"Curve: least squares, 100 ÷ (1 + exp(−({intercept} {sign} {abs(curve[FREQUENCY]):.2f} "
        f"log₁₀ x))); {languages_above} above it, {len(points) - above} below; those "
        f"furthest off are named where there is room.{without}"
    )


def fig5(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Figure 5: accuracy by model size, with a line for each family and tuning."""
    published = labels.source == "published"
    if published:
        printed = shared.read_printed(tables, exhibit="table3", column=ALL)
        rows = printed.set_index("row", drop=False)
    else:
        rows = measures.read_accuracies(tables, labels)
        rows = rows[rows["phenomenon"] == ALL].set_index("model", drop=False)
    cells: dict[str, Cell] = {}
    for model in labels.facts["sized_models"]:
        if model in labels.models and model in rows.index:
            cell_key = (labels.models[model], "accuracy")
            if published:
                cells[model] = shared.printed_cell(rows.loc[model], cell_key)
            else:
                of_model = rows.loc[[model]]
                cells[model] = measures.accuracy_cell(of_model, cell_key, labels, mean=True)
    points = pd.DataFrame([labels.facts["models"][model] for model in cells], index=[*cells])
    points["accuracy"] = [cell.value for cell in cells.values()]
    has_size = points["parameters"].notna()
    sized, unsized = points[has_size], points[~has_size]
    figure = style.new_figure(style.COLUMN_INCHES, 3.4 if len(sized) > 2 else 2.4)
    axes = figure.subplots()
    looks = style.family_looks(points["family"])
    # Base models: filled markers, solid lines. Chat models: open markers, broken lines.
    for family, inside in sized.groupby("family", sort=False):
        colour, marker = looks[str(family)]
        for tuning, face, dashes in (("base", colour, "-"), ("chat", "white", "--")):
            chosen = inside[inside["tuning"] == tuning].sort_values("parameters")
            if len(chosen):
                line = dashes if len(chosen) > 1 else "none"
                axes.plot(
                    chosen["parameters"], chosen["accuracy"], ls=line, lw=1, color=colour,
                    marker=marker, markersize=4.5, markerfacecolor=face,
                    label=f"{family}, {tuning}",
                )  # fmt: skip
    for model, point in unsized.iterrows():
        colour, _ = looks[point["family"]]
        axes.axhline(point["accuracy"], color=colour, ls=":", lw=1.2)
        axes.annotate(
            labels.models[str(model)], (1, point["accuracy"]), (2, 0), color=colour, va="center",
            size=style.SMALL, xycoords=("axes fraction", "data"), textcoords="offset points",
        )  # fmt: skip
    axes.set_ylabel("accuracy (%)")
    if len(sized):
        axes.set_xscale("log")
        limits = axes.get_xlim()
        doubled = [2.0**power for power in range(-14, 11) if limits[0] <= 2.0**power <= limits[1]]
        ticks = doubled[:: 1 + len(doubled) // MOST_TICKS]
        sizes = sorted({*sized["parameters"]})
        axes.set_xticks(ticks if len(sizes) > 2 else sizes)
        axes.xaxis.set_major_formatter(lambda tick, _: shared.size_text(tick))
        axes.minorticks_off()
        axes.set_xlim(limits)
        axes.set_xlabel("parameters (log scale)")
        figure.legend(loc="outside lower center", ncols=2)
    else:
        axes.set_xticks([])
        axes.set_xlabel("no size in the catalogue")
    unknown = f" Dotted: {shared.counted(len(unsized), 'model')} whose size the catalogue lacks."
    description = describe(
        "fig5",
        unknown=unknown if len(unsized) else "",
        limits=" As far as Table 3 prints it." if published else "",
    )
    return Exhibit(**description, cells=[*cells.values()], figure=figure)


NAMED_IN_PANEL, CANDIDATES = 6, 12
"""Most languages named in a panel, and most that are tried: those furthest off the line."""
NAME_WIDTH = 15
"""Width of a name in percentage points."""


def _draw_panel(
    axes: Axes,
    both: pd.DataFrame,
    names: Sequence[str],
    group: Sequence[str],
    labels: Labels,
    lowest: float,
) -> str:
    """Draw the accuracies ``a`` and ``b`` of two models against each other; describe the panel."""
    inside = both.index.isin(group)
    inside &= not inside.all()  # a group of all languages is not marked
    for chosen, colour, face, label in (
        (~inside, style.GREY, "none", None),
        (inside, style.BLUE, style.BLUE, f"languages of {names[1]}"),
    ):
        x, y = both["a"][chosen], both["b"][chosen]
        drawn = axes.scatter(x, y, s=12, edgecolors=colour, facecolors=face, label=label)
        drawn.set(linewidths=0.8, zorder=3)
    if inside.any():
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), handletextpad=0.1)
    limits = (lowest - 4, 102)
    axes.plot(limits, limits, color=style.GREY, lw=0.7, ls="--")
    axes.set(xlim=limits, ylim=limits, xlabel=f"{names[0]} (%)", ylabel=f"{names[1]} (%)")
    step = 10 if limits[0] > 40 else 20
    ticks = range(step * math.ceil(limits[0] / step), 101, step)
    axes.set(xticks=ticks, yticks=ticks)
    axes.set_aspect("equal")
    _name_furthest(axes, both, labels)
    return f"{len(both)} languages" + (f", filled: languages of {names[1]}" if inside.any() else "")


def _name_furthest(axes: Axes, both: pd.DataFrame, labels: Labels) -> None:
    """Name the languages furthest from equal accuracy, on the side away from the line."""
    gap = both["b"] - both["a"]
    few = len(both) <= NAMED_IN_PANEL
    # Coordinates and side of each name so far.
    named: list[tuple[float, float, int]] = []
    for lang in gap.abs().sort_values(ascending=False, kind="stable").index[:CANDIDATES]:
        if len(named) == NAMED_IN_PANEL:
            break
        x, y = both.loc[lang]
        name = labels.languages[str(lang)]
        # No name begins left of the axes.
        away = -1 if gap[lang] > 0 and x > axes.get_xlim()[0] + NAME_WIDTH else 1
        # A letter is about a percentage point wide. Among many points, names keep off each other.
        near = len(name) + 2 if few else math.inf
        beside = [(other_y, side) for other_x, other_y, side in named if abs(x - other_x) < near]
        for side in (away, -away) if few else (away,):
            if all(abs(y - other_y) > 4 or side != other_side for other_y, other_side in beside):
                named.append((x, y, side))
                axes.annotate(
                    name, (x, y), (4 * side, 0), textcoords="offset points",
                    ha="right" if side < 0 else "left", va="center", size=style.SMALL,
                )  # fmt: skip
                break


def fig6(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Figure 6: a panel for each pair of models, with their accuracies by language."""
    rows = measures.read_accuracies(tables, labels)
    rows = rows[rows["phenomenon"] == ALL].set_index("lang", drop=False)
    pairs = labels.facts["pairs"]
    drawn = rows[rows["model"].isin([model for pair in pairs for model in pair[:2]])]
    lowest = min(50.0, 100 * drawn["accuracy"].min()) if len(drawn) else 50.0
    panels = max(len(pairs), 1)
    columns = min(panels, 2)
    lines = math.ceil(panels / 2)
    figure = style.new_figure(3.4 * columns, 3.4 * lines)
    grid = list(figure.subplots(lines, columns, squeeze=False).flat)
    for spare in grid[panels:]:
        spare.set_axis_off()
    cells: dict[tuple[str, str], Cell] = {}
    contents = []
    for letter, axes, (*models, group) in zip("abcd", grid, pairs, strict=False):
        names = [labels.models[model] for model in models]
        frames = [rows[rows["model"] == model] for model in models]
        if any(frame.empty for frame in frames):
            style.say(axes, "not printed" if labels.source == "published" else "not judged")
            axes.set(xlabel=names[0], ylabel=names[1])
            axes.set_box_aspect(1)
            content = "no accuracies of one of the two"
        else:
            both = pd.concat([frame["accuracy"] for frame in frames], axis=1, join="inner")
            both = 100 * both.set_axis(["a", "b"], axis=1)
            members = labels.facts["groups"].get(group, [])
            content = _draw_panel(axes, both, names, members, labels, lowest)
        contents.append(f"{letter}: {content}" if panels > 1 else content)
        if panels > 1:
            axes.set_title(f"{letter})", loc="left")
        for name, frame in zip(names, frames, strict=True):
            for lang in frame["lang"]:
                cell_key = (labels.languages[lang], name)
                cells[cell_key] = measures.accuracy_cell(frame.loc[[lang]], cell_key, labels)
    if not pairs:
        style.say(grid[0], "a single model")
        contents.append("the campaign has no two models to compare")
    description = describe("fig6", panels="; ".join(contents))
    return Exhibit(**description, cells=[*cells.values()], figure=figure)


TERMS = {
    f"{analysis.AGREEMENT_TYPE} {code}": f"{construction}, {feature.lower()}"
    for code, (construction, feature) in measures.AGREEMENT_TYPES.items()
} | {name: name for name in analysis.FACTORS}
"""Printed names of the regression's terms, in the order of the figure."""


def _draw_factors(
    axes: Axes, terms: pd.DataFrame, names: dict[str, str], models: Sequence[str], labels: Labels
) -> None:
    """Draw coefficients with their intervals by factor, in a colour for each model."""
    import seaborn as sns  # slow, and the other figures do without it

    rows = style.with_ends(terms, "coefficient").replace({"term": names, "model": labels.models})
    sns.pointplot(
        rows, x="coefficient", y="term", hue="model", order=names.values(),
        hue_order=[labels.models[model] for model in models], palette=style.colours(len(models)),
        markers=["osD^v"[number % 5] for number in range(len(models))],
        dodge=0.22 * (len(models) - 1), ax=axes, **style.POINTS,
    )  # fmt: skip
    # Name the models without a coefficient at the factor's line; the caption says why.
    for line, term in enumerate(names):
        having = {*terms["model"][terms["term"] == term]}
        lacking = [labels.models[model] for model in models if model not in having]
        if lacking:
            axes.annotate(
                f"not estimated: {', '.join(lacking)}", (1, line), (-2, -5), ha="right",
                va="center", xycoords=("axes fraction", "data"), textcoords="offset points",
                size=style.SMALL, color=style.GREY,
            )  # fmt: skip
    axes.axvline(0, color=style.GREY, lw=0.7)
    axes.grid(axis="y", visible=False)
    axes.set(xlabel="coefficient (nats of margin)", ylabel=None)
    sns.move_legend(axes, "lower left", bbox_to_anchor=(0, 1), ncols=3, title=None)


def _remarks(remarks: pd.DataFrame, drawn: set[str], labels: Labels) -> Iterator[str]:
    """Yield sentences on the reference of coefficients, and on the terms without estimates."""
    models = remarks["model"].nunique()
    by_remark = dict(iter(remarks.groupby("analysis")))

    def listed(remark: str) -> str:
        """List terms by their printed names, with the models in brackets unless all have it."""
        terms = []
        for term, rows in by_remark[remark].groupby("term", sort=False):
            names = ", ".join(labels.models[model] for model in rows["model"])
            terms.append(TERMS[str(term)] + ("" if len(rows) == models else f" ({names})"))
        return "; ".join(terms)

    if analysis.COMPARED in by_remark:
        yield f"Agreement types are compared with {listed(analysis.COMPARED)}."
        absent = TERMS.keys() - drawn - {*by_remark[analysis.COMPARED]["term"]}
        types = [term for term in TERMS if term.startswith(analysis.AGREEMENT_TYPE)]
        names = "; ".join(TERMS[term] for term in types if term in absent)
        if names:
            yield f"Without pairs: {names}."
    if analysis.UNVARYING in by_remark:
        yield f"Without variation, so not estimated: {listed(analysis.UNVARYING)}."
    if analysis.UNKNOWN in by_remark:
        yield "There is no table of frequencies, so their effect is not estimated."
    if analysis.TEXTLESS in by_remark:
        rows = by_remark[analysis.TEXTLESS].iterrows()
        counts = "; ".join(f"{labels.models[row['model']]} {row['n']:.0f}" for _, row in rows)
        yield f"Pairs of languages without text in GlotCC: {counts}."
        yield "They are left out; where all pairs are such, frequency is instead."
    reasons = {analysis.FEW: "too few pairs", analysis.COLLINEAR: "collinear factors"}
    reasons[analysis.CONSTANT] = "the same margin in all pairs"
    for remark, reason in reasons.items():
        if remark in by_remark:
            names = ", ".join(labels.models[model] for model in by_remark[remark]["model"])
            yield f"Nothing could be estimated, for {reason}: {names}."


def fig7(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Figure 7: standardised coefficients of the margin's factors, with 95 % intervals."""
    everything = shared.read_plain(REGRESSIONS, tables["margins"])
    everything = everything[everything["model"].isin(labels.models)]
    rows = everything[everything["analysis"] == analysis.MARGIN]
    names = {term: name for term, name in TERMS.items() if term in {*rows["term"]}}
    terms = rows[rows["term"].isin(names)]
    cells = []
    for _, row in terms.iterrows():
        cell_key = (names[row["term"]], labels.models[row["model"]])
        text = f"{row['coefficient']:.2f}".replace("-", "−")
        keys = ("analysis", "model", "term")
        cell = shared.row_cell("regressions", row, keys, "coefficient", cell_key, text)
        low, high = float(row["low"]), float(row["high"])
        cells.append(replace(cell, n=int(row["n"]), low=low, high=high))
    models = [m for m in labels.facts["margin_models"] if m in {*terms["model"]}]
    figure = style.new_figure(style.COLUMN_INCHES * 1.2, max(1.6, 0.24 * len(names) + 1.0))
    axes = figure.subplots()
    if models:
        _draw_factors(axes, terms, names, models, labels)
    else:
        style.say(axes, "nothing could be estimated")
    remarks = everything[everything["analysis"] != analysis.MARGIN]
    sentences = " ".join(_remarks(remarks, {*names}, labels))
    return Exhibit(**describe("fig7", remarks=sentences), cells=cells, figure=figure)
