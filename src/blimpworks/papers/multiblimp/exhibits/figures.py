"""Draw MultiBLiMP's Figures 1, 5 and 6 of accuracy by frequency, size and model, and 7 of margins.

Each function takes the paths of the campaign's tables and the names to print, and returns an
exhibit: a figure with its cells (numbers). Figures 1, 5 and 6 draw rows of accuracies, such as
gemma-3-27b, eng, all phenomena: 0.98. Figure 7 draws coefficients of regressions on the margin: the
log-probability of a pair's good sentence minus that of the bad sentence. ``analysis`` fits the
curve of Figure 1 and these regressions.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
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

MOST_NAMES = 14
"""Most languages that Figure 1 names; it names the languages furthest from the curve."""
Side = tuple[tuple[int, int], str, str]
"""Position of a name beside its point: offset (x, y) in points, and alignment of the text."""
ABOVE: Side = ((0, 4), "center", "bottom")
BELOW: Side = ((0, -4), "center", "top")
RIGHT: Side = ((4, 0), "left", "center")
LEFT: Side = ((-4, 0), "right", "center")
MOST_TICKS = 10
"""Most sizes on the axis of Figure 5."""
FULL_COLOUR = 20.0
"""Distance from the curve from which a point has the full colour [percentage points]."""
DIVERGING = LinearSegmentedColormap.from_list("deviation", [style.ORANGE, "#DDDDDD", style.BLUE])


def _name_points(
    axes: Axes, points: pd.DataFrame, sides: Mapping[str, Sequence[Side]], size: float
) -> None:
    """Name points of a finished figure, where the name covers no other name and no point.

    ``points`` has x and y of all points, by name. ``sides`` has the points to name, the most
    important first, and the sides to try: {"Dutch": [ABOVE, BELOW]}. ``size`` is that of letters.
    """
    take_literally(axes.figure)  # type: ignore[arg-type]
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    pixel_points = axes.transData.transform(points.to_numpy(float))
    taken_boxes = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in pixel_points]
    for name, sides_of_name in sides.items():
        x, y = points.loc[name]
        for offset, horizontal, vertical in sides_of_name:
            text = axes.annotate(
                name, (x, y), offset, fontsize=size, textcoords="offset points", ha=horizontal,
                va=vertical,
            )  # fmt: skip
            box = text.get_window_extent().padded(1)
            if box.x0 > axes.bbox.x0 and not any(map(box.overlaps, taken_boxes)):
                taken_boxes.append(box)
                break
            text.remove()


def fig1(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Figure 1: accuracy by frequency (characters in a corpus), with a logistic curve."""
    model = labels.facts["trend_model"]
    rows = measures.read_accuracies(tables, labels)
    rows = rows[(rows["phenomenon"] == ALL) & (rows["model"] == model)]
    paths = tables.get("frequencies") or []
    frequencies = shared.read_plain(FREQUENCIES, paths)
    frequencies = frequencies[frequencies[RANKED_BY] > 0]
    where = {"analysis": FREQUENCY, "model": model}
    residuals = select_rows(shared.read_plain(RESIDUALS, tables["residuals"]), where)
    terms = select_rows(shared.read_plain(REGRESSIONS, tables["regressions"]), where)
    curve = None if terms.empty else terms.set_index("term")["coefficient"]
    # Tables whose numbers become cells: name, rows, columns of the key, {column: number format}.
    further_tables = (
        ("frequencies", frequencies, ("lang",), {RANKED_BY: ".3g"}),
        ("residuals", residuals, (*where, "lang"), {"fitted": ".1f", "residual": ".1f"}),
    )
    cells = []
    for lang in [lang for lang in labels.languages if lang in {*rows["lang"]}]:
        name = labels.languages[lang]
        cells.append(measures.accuracy_cell(rows[rows["lang"] == lang], (name, "accuracy"), labels))
        for source, table, keys, formats in further_tables:
            for _, row in table[table["lang"] == lang].iterrows():
                for column, form in formats.items():
                    cell_key, text = (name, column), f"{row[column]:{form}}"
                    cells.append(shared.row_cell(source, row, keys, column, cell_key, text))
    # Values of the cells, with a row for each language and a column for each number.
    numbers = style.frame_of(cells).pivot(index="row", columns="column", values="value")
    numbers = numbers.reindex(columns=["accuracy", RANKED_BY, "fitted", "residual"])
    points = numbers[numbers[RANKED_BY].notna()]
    figure = style.new_figure(style.PAGE_INCHES * 0.75, 3.0)
    axes = figure.subplots()
    axes.set(xlabel="characters of text in GlotCC", ylabel="accuracy (%)")
    if len(points):
        distances = np.abs(points["residual"].to_numpy(float))
        # Less than FULL_COLOUR if all points are nearer, but at least 1 point.
        full_colour = min(FULL_COLOUR, np.nanmax(distances, initial=1.0))
        dots = axes.scatter(
            points[RANKED_BY], points["accuracy"], c=points["residual"].fillna(0.0),
            cmap=DIVERGING, vmin=-full_colour, vmax=full_colour, s=18, edgecolors=style.GREY,
            linewidths=0.4, zorder=3,
        )  # fmt: skip
        axes.set_xscale("log")
        if curve is not None:
            exponents = np.log10(points[RANKED_BY])
            x = np.linspace(exponents.min(), exponents.max(), 200)
            y = analysis.logistic(x, curve["intercept"], curve[FREQUENCY])
            axes.plot(10**x, y, color=style.GREY, lw=1)
            label = "deviation from the curve (points)"
            figure.colorbar(dots, ax=axes, label=label, pad=0.02, aspect=30, extend="both")
        axes.margins(y=0.1)
        furthest = points["residual"].abs().sort_values(ascending=False).index[:MOST_NAMES]
        # A name is tried first on the side away from the curve.
        above_first, below_first = [ABOVE, BELOW, RIGHT, LEFT], [BELOW, ABOVE, RIGHT, LEFT]
        is_above = points["residual"][furthest] > 0
        sides = {str(n): above_first if above else below_first for n, above in is_above.items()}
        _name_points(axes, points[[RANKED_BY, "accuracy"]], sides, 5.5)
    else:
        style.say(axes, "no counts of characters by language:\nGlotCC's are not in print")
    above = int((points["residual"] > 0).sum())
    description = describe(
        "fig1",
        model=labels.models.get(model, model),
        counted=paths,
        few=len(points) < analysis.ENOUGH_LANGUAGES,
        intercept=None if curve is None else f"{curve['intercept']:.2f}".replace("-", "−"),
        slope=None if curve is None else curve[FREQUENCY],
        above=shared.counted(above, "language"),
        below=len(points) - above,
        absent=shared.counted(len(rows) - len(points), "language"),
    )
    return Exhibit(**description, cells=cells, figure=figure)


def fig5(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Figure 5: accuracy over all pairs by model size, with a line for family and tuning."""
    published = labels.source == "published"
    if published:
        printed = shared.read_printed(tables, exhibit="table3", column=ALL)
        rows = printed.set_index("row", drop=False)
    else:
        rows = measures.read_accuracies(tables, labels)
        rows = rows[rows["phenomenon"] == ALL].set_index("model", drop=False)
    cells: dict[str, Cell] = {}  # {model: cell of its accuracy}
    for model in labels.facts["sized_models"]:
        if model in labels.models and model in rows.index:
            cell_key = (labels.models[model], "accuracy")
            if published:
                cells[model] = shared.printed_cell(rows.loc[model], cell_key)
            else:
                rows_of_model = rows.loc[[model]]
                cells[model] = measures.accuracy_cell(rows_of_model, cell_key, labels, mean=True)
    # A row for each model, with family, tuning, parameters [billions] and accuracy [percent].
    points = pd.DataFrame([labels.facts["models"][model] for model in cells], index=[*cells])
    points["accuracy"] = [cell.value for cell in cells.values()]
    has_size = points["parameters"].notna()
    sized_points, unsized_points = points[has_size], points[~has_size]
    figure = style.new_figure(style.COLUMN_INCHES, 3.4 if len(sized_points) > 2 else 2.4)
    axes = figure.subplots()
    looks = style.family_looks(points["family"])
    # Base models: filled markers, solid lines. Chat models: open markers, broken lines.
    for family, members in sized_points.groupby("family", sort=False):
        colour, marker = looks[str(family)]
        for tuning, face, dashes in (("base", colour, "-"), ("chat", "white", "--")):
            tuned = members[members["tuning"] == tuning].sort_values("parameters")
            if len(tuned):
                line = dashes if len(tuned) > 1 else "none"
                axes.plot(
                    tuned["parameters"], tuned["accuracy"], ls=line, lw=1, color=colour,
                    marker=marker, markersize=4.5, markerfacecolor=face,
                    label=f"{family}, {tuning}",
                )  # fmt: skip
    for model, point in unsized_points.iterrows():
        colour, _ = looks[point["family"]]
        axes.axhline(point["accuracy"], color=colour, ls=":", lw=1.2)
        axes.annotate(
            labels.models[str(model)], (1, point["accuracy"]), (2, 0), color=colour, va="center",
            size=style.SMALL, xycoords=("axes fraction", "data"), textcoords="offset points",
        )  # fmt: skip
    axes.set_ylabel("accuracy (%)")
    if len(sized_points):
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        powers_of_two = [2.0**n for n in range(-14, 11) if low <= 2.0**n <= high]
        every = 1 + len(powers_of_two) // MOST_TICKS
        sizes = sorted({*sized_points["parameters"]})
        axes.set_xticks(powers_of_two[::every] if len(sizes) > 2 else sizes)
        axes.xaxis.set_major_formatter(lambda tick, _: shared.size_text(tick))
        axes.minorticks_off()
        axes.set_xlim(low, high)
        axes.set_xlabel("parameters (log scale)")
        figure.legend(loc="outside lower center", ncols=2)
    else:
        axes.set_xticks([])
        axes.set_xlabel("no size in the catalogue")
    unsized_text = shared.counted(len(unsized_points), "model") if len(unsized_points) else ""
    # The caption names models with fewer languages; printed accuracies are over all languages.
    counts = {} if published else {model: rows.loc[[model], "lang"].nunique() for model in cells}
    highest = max(counts.values(), default=0)
    partial = [labels.models[model] for model, n in counts.items() if n < highest]
    description = describe("fig5", unknown=unsized_text, partial=partial, published=published)
    return Exhibit(**description, cells=[*cells.values()], figure=figure)


MOST_PANEL_NAMES = 10
"""Most languages that a panel of Figure 6 names, those furthest from the line."""


def _draw_panel(
    axes: Axes,
    accuracies: pd.DataFrame,
    names: Sequence[str],
    filled: Sequence[str],
    lowest_of_all: float,
) -> str:
    """Draw accuracies of two models against each other; return a description of the panel.

    ``accuracies`` [percent] has a row for each language, and a column for each model, ``a`` and
    ``b``. ``names`` are the models' printed names, and ``filled`` the languages of filled points.
    ``lowest_of_all`` is the lowest accuracy of all panels.
    """
    in_group = accuracies.index.isin(filled)
    # A group of all languages is not marked.
    in_group &= not in_group.all()
    for mask, colour, face, label in (
        (~in_group, style.GREY, "none", None),
        (in_group, style.BLUE, style.BLUE, f"languages of {names[1]}"),
    ):
        x, y = accuracies["a"][mask], accuracies["b"][mask]
        dots = axes.scatter(x, y, s=12, edgecolors=colour, facecolors=face, label=label)
        dots.set(linewidths=0.8, zorder=3)
    if in_group.any():
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), handletextpad=0.1)
    limits = (lowest_of_all - 4, 102)
    axes.plot(limits, limits, color=style.GREY, lw=0.7, ls="--")
    axes.set(xlim=limits, ylim=limits, xlabel=f"{names[0]} (%)", ylabel=f"{names[1]} (%)")
    step = 10 if limits[0] > 40 else 20
    ticks = range(step * math.ceil(limits[0] / step), 101, step)
    axes.set(xticks=ticks, yticks=ticks)
    axes.set_aspect("equal")
    legend = f", filled: languages of {names[1]}" if in_group.any() else ""
    return f"{len(accuracies)} languages{legend}"


def fig6(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Figure 6: a panel for each pair of models, with a point for each language."""
    rows = measures.read_accuracies(tables, labels)
    rows = rows[rows["phenomenon"] == ALL].set_index("lang", drop=False)
    panels = labels.facts["pairs"]  # [[model, model, group of languages with filled points], …]
    drawn_models = {model for *models, _ in panels for model in models}
    accuracies = 100 * rows["accuracy"][rows["model"].isin(drawn_models)]
    lowest = min(50.0, accuracies.min()) if len(accuracies) else 50.0
    count = max(len(panels), 1)
    figure = style.new_figure(3.4 * min(count, 2), 3.4 * math.ceil(count / 2))
    grid = list(figure.subplots(math.ceil(count / 2), min(count, 2), squeeze=False).flat)
    for unused_axes in grid[count:]:
        unused_axes.set_axis_off()
    # {(row, column): cell}, because panels share models; there are at most four panels.
    cells: dict[tuple[str, str], Cell] = {}
    texts = []
    drawn_panels: list[tuple[Axes, pd.DataFrame]] = []
    for letter, axes, (*models, group) in zip("abcd", grid, panels, strict=False):
        names = [labels.models[model] for model in models]
        rows_by_model = [rows[rows["model"] == model] for model in models]
        if any(of_model.empty for of_model in rows_by_model):
            style.say(axes, "not printed" if labels.source == "published" else "not judged")
            axes.set(xlabel=names[0], ylabel=names[1])
            axes.set_box_aspect(1)
            text = "no accuracies of one of the two"
        else:
            columns = [of_model["accuracy"] for of_model in rows_by_model]
            joint_accuracies = 100 * pd.concat(columns, axis=1, join="inner", keys=["a", "b"])
            members = labels.facts["groups"].get(group, [])
            text = _draw_panel(axes, joint_accuracies, names, members, lowest)
            drawn_panels.append((axes, joint_accuracies.rename(index=labels.languages)))
        texts.append(f"{letter}: {text}" if count > 1 else text)
        if count > 1:
            axes.set_title(f"{letter})", loc="left")
        for name, of_model in zip(names, rows_by_model, strict=True):
            for lang in of_model["lang"]:
                cell_key = (labels.languages[lang], name)
                cells[cell_key] = measures.accuracy_cell(of_model.loc[[lang]], cell_key, labels)
    for axes, points in drawn_panels:
        gap = points["b"] - points["a"]
        furthest = gap.abs().sort_values(ascending=False, kind="stable").index[:MOST_PANEL_NAMES]
        # A name is tried first on the side away from the line of equal accuracy.
        sides = {str(n): [LEFT, RIGHT] if gap[n] > 0 else [RIGHT, LEFT] for n in furthest}
        _name_points(axes, points, sides, style.SMALL)
    if not panels:
        style.say(grid[0], "a single model")
        texts.append("the campaign has no two models to compare")
    description = describe("fig6", panels="; ".join(texts))
    return Exhibit(**description, cells=[*cells.values()], figure=figure)


TERMS = {
    f"{analysis.AGREEMENT_TYPE} {code}": f"{construction}, {feature.lower()}"
    for code, (construction, feature) in measures.AGREEMENT_TYPES.items()
} | {name: name for name in analysis.FACTORS}
"""Printed names of the regression's terms, in the order of the figure: "Subject-Verb, number"."""


def _remarks(remarks: pd.DataFrame, drawn: set[str], labels: Labels) -> Iterator[str]:
    """Yield sentences from remarks: on the reference type, and on terms without estimates.

    ``remarks`` are rows of regressions whose ``analysis`` is a remark, such as
    ``analysis.UNVARYING``. ``drawn`` are the terms with estimates.
    """
    model_count = remarks["model"].nunique()
    by_remark = dict(iter(remarks.groupby("analysis")))

    def model_names(rows: pd.DataFrame) -> str:
        return ", ".join(labels.models[model] for model in rows["model"])

    def terms_of(remark: str) -> str:
        """List the remark's terms, with the models in brackets unless it is about all models."""
        texts = []
        for term, rows in by_remark[remark].groupby("term", sort=False):
            models = "" if len(rows) == model_count else f" ({model_names(rows)})"
            texts.append(TERMS[str(term)] + models)
        return "; ".join(texts)

    if analysis.COMPARED in by_remark:
        yield f"Agreement types are compared with {terms_of(analysis.COMPARED)}."
        types_with_pairs = {*drawn, *by_remark[analysis.COMPARED]["term"]}
        types = [term for term in TERMS if term.startswith(analysis.AGREEMENT_TYPE)]
        names = "; ".join(TERMS[term] for term in types if term not in types_with_pairs)
        if names:
            yield f"Without pairs: {names}."
    if analysis.UNVARYING in by_remark:
        yield f"Without variation, so not estimated: {terms_of(analysis.UNVARYING)}."
    if analysis.UNKNOWN in by_remark:
        yield "There is no table of frequencies, so their effect is not estimated."
    if analysis.TEXTLESS in by_remark:
        rows = by_remark[analysis.TEXTLESS].iterrows()
        counts = "; ".join(f"{labels.models[row['model']]} {row['n']:.0f}" for _, row in rows)
        yield f"Pairs of languages without text in GlotCC: {counts}."
        yield "They are left out; a model without other pairs keeps them and leaves frequency out."
    reasons = {analysis.FEW: "too few pairs", analysis.COLLINEAR: "collinear factors"}
    reasons[analysis.CONSTANT] = "the same margin in all pairs"
    for remark, reason in reasons.items():
        if remark in by_remark:
            yield f"Nothing could be estimated, for {reason}: {model_names(by_remark[remark])}."


def fig7(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Figure 7: coefficients of the regressions on margins [nats per standard deviation]."""
    rows = shared.read_plain(REGRESSIONS, tables["margins"])
    rows = rows[rows["model"].isin(labels.models)]
    is_term = rows["analysis"] == analysis.MARGIN
    names = {term: name for term, name in TERMS.items() if term in {*rows["term"][is_term]}}
    terms = rows[is_term & rows["term"].isin(names)]
    cells = []
    for _, row in terms.iterrows():
        cell_key = (names[row["term"]], labels.models[row["model"]])
        text = f"{row['coefficient']:.2f}".replace("-", "−")
        keys = ("analysis", "model", "term")
        cell = shared.row_cell("regressions", row, keys, "coefficient", cell_key, text)
        low, high = float(row["low"]), float(row["high"])
        cells.append(replace(cell, n=int(row["n"]), low=low, high=high))
    models = [model for model in labels.facts["margin_models"] if model in {*terms["model"]}]
    figure = style.new_figure(style.COLUMN_INCHES * 1.2, max(1.6, 0.24 * len(names) + 1.0))
    axes = figure.subplots()
    if models:
        import seaborn as sns  # slow, and the other figures do without it

        # A colour for each model.
        points = style.with_ends(terms, "coefficient")
        sns.pointplot(
            points.replace({"term": names, "model": labels.models}),
            x="coefficient", y="term", hue="model", order=names.values(),
            hue_order=[labels.models[model] for model in models], ax=axes,
            palette=style.colours(len(models)), dodge=0.22 * (len(models) - 1),
            markers=["osD^v"[number % 5] for number in range(len(models))], **style.POINTS,
        )  # fmt: skip
        # Name the models that lack a term's coefficient; the caption says why they lack it.
        for y, term in enumerate(names):
            estimated = {*terms["model"][terms["term"] == term]}
            missing = [labels.models[model] for model in models if model not in estimated]
            if missing:
                axes.annotate(
                    f"not estimated: {', '.join(missing)}", (1, y), (-2, -5), ha="right",
                    va="center", xycoords=("axes fraction", "data"), textcoords="offset points",
                    size=style.SMALL, color=style.GREY,
                )  # fmt: skip
        axes.axvline(0, color=style.GREY, lw=0.7)
        axes.grid(axis="y", visible=False)
        axes.set(xlabel="coefficient (nats of margin)", ylabel=None)
        sns.move_legend(axes, "lower left", bbox_to_anchor=(0, 1), ncols=3, title=None)
    else:
        style.say(axes, "nothing could be estimated")
    sentences = " ".join(_remarks(rows[~is_term], {*names}, labels))
    return Exhibit(**describe("fig7", remarks=sentences), cells=cells, figure=figure)
