"""Figures of declared benchmarks: models by accuracy, size and perplexity."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from blimpworks.analysis.accuracy import ALL
from blimpworks.benchmarks.exhibits.drawing import (
    PERCENT,
    SMALL,
    Names,
    draw_interval,
    empty_figure,
    lay_out,
    mark,
    name_points,
    set_row_names,
)
from blimpworks.benchmarks.exhibits.formulas import OF_PARADIGMS
from blimpworks.benchmarks.exhibits.view import (
    SOURCE,
    View,
    family_of,
    present,
    read_view,
    where_of,
)
from blimpworks.benchmarks.tables import MODEL_PERPLEXITIES
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import Tables, read_plain, row_cell
from blimpworks.exhibits.style import (
    BLUE,
    COLUMN_INCHES,
    GREY,
    PAGE_INCHES,
    PALETTE,
    SKY,
    colours,
    new_figure,
)

CHANCE = 50
ACCURACY = "Accuracy"
FAINT = "#BFDDF2"
"""Of intervals that names stand over."""


# Models in order


def _panels(count: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A figure with so many panels of the same height, so many beside each other."""
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    figure = new_figure(width, height * rows)
    grid = [*figure.subplots(rows, columns, squeeze=False).flat]
    for axes in grid[count:]:
        axes.remove()
    return figure, grid[:count]


def _overall(view: View, lang: str) -> Iterator[tuple[Cell, list[Cell]]]:
    """Accuracy over all phenomena by column, the highest first, and those of its seeds."""
    title = view.languages[lang] if view.prefix(lang) else ACCURACY
    pairs = []
    for column, models in view.columns.items():
        cell = view.cell(view.behind(lang, ALL, models), (column, title))
        seeds = present(
            view.cell(view.behind(lang, ALL, [model]), (model, title))
            for model in models
            if len(models) > 1
        )
        if cell:
            pairs.append((cell, [replace(seed, printed=False) for seed in seeds]))
    return iter(sorted(pairs, key=lambda pair: -pair[0].value))


def _draw_order(axes: Axes, ranked: Sequence[tuple[Cell, Sequence[Cell]]], chance: bool) -> None:
    """A row for each column of the view: its accuracy with its interval, and its seeds."""
    for y, (cell, seeds) in enumerate(ranked):
        draw_interval(axes, cell, y, BLUE, linewidth=1)
        axes.scatter([seed.value for seed in seeds], [y] * len(seeds), s=9, color=SKY, alpha=0.5,
                     linewidths=0)  # fmt: skip
        axes.plot(cell.value, y, "|" if seeds else "o", color=BLUE, markersize=9 if seeds else 4,
                  markeredgewidth=1.5 if seeds else 0)  # fmt: skip
        axes.text(1.01, y, cell.text, transform=axes.get_yaxis_transform(), va="center",
                  fontsize=SMALL)  # fmt: skip
    if chance:
        axes.axvline(CHANCE, color=GREY, linewidth=0.8, linestyle="--")
    axes.set(ylim=(len(ranked) - 0.4, -0.6), xlabel=PERCENT)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def _limits(cells: Sequence[Cell], chance: bool) -> tuple[float, float]:
    """Ends of an axis of accuracies: all values and intervals, chance, and a little more."""
    ends = [end for c in cells for end in (c.value, c.low, c.high) if end is not None]
    low = min([*ends, CHANCE] if chance else ends)
    return max(-2.0, 5 * math.floor(low / 5) - 2), min(102.0, 5 * math.ceil(max(ends) / 5) + 2)


def _is_pairs(labels: Labels) -> bool:
    return bool(labels.facts["benchmark"]["layout"] == "pairs")


def _chance_sentence(labels: Labels) -> str:
    return " Broken line: chance." if _is_pairs(labels) else ""


def models(tables: Tables, labels: Labels) -> Exhibit:
    """Models by accuracy, the best first, or families of released models with their seeds."""
    view = read_view(tables, labels)
    ranked = {lang: [*_overall(view, lang)] for lang in view.languages}
    cells = [c for rows in ranked.values() for cell, seeds in rows for c in (cell, *seeds)]
    names = Names.of([*view.columns, *view.languages.values()])
    most = max(map(len, ranked.values()))
    columns, wide = (1, COLUMN_INCHES * 1.3) if len(ranked) == 1 else (2, PAGE_INCHES)
    figure, panels = _panels(len(ranked), columns, wide, 0.65 + 0.15 * max(most, 2))
    for axes, (lang, rows) in zip(panels, ranked.items(), strict=True):
        _draw_order(axes, rows, _is_pairs(labels))
        axes.set_xlim(_limits(cells, _is_pairs(labels)))
        set_row_names(axes, [cell.row for cell, _ in rows], names)
        if len(ranked) > 1:
            axes.set_title(names.shown[view.languages[lang]], fontfamily=[*names.families])
    seeds = any(seeds for rows in ranked.values() for _, seeds in rows)
    key = "models_seeds" if seeds else "models"
    description = view.described(
        key,
        chance=_chance_sentence(labels),
        listed=names.listed,
    )
    return Exhibit(**description, cells=cells, figure=figure)


# Sizes


def _scale(axes: Axes, values: Sequence[float]) -> None:
    """A logarithmic x axis with plain numbers, as many as it has room for."""
    axes.set_xscale("log")
    decades = math.log10(max(values) / min(values))
    if decades < 0.5:
        middle = math.sqrt(max(values) * min(values))
        axes.set_xlim(middle / 2.5, middle * 2.5)
        decades = 0.8
    steps = (1, 2, 5) if decades < 1.5 else (1, 3) if decades < 2.5 else (1,)
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.15g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _draw_sizes(
    axes: Axes, cells: Sequence[Cell], sizes: Mapping[str, float], chance: bool
) -> None:
    """A point with its interval for each model."""
    for cell in cells:
        if cell.low is not None and cell.high is not None:
            axes.vlines(sizes[cell.row], cell.low, cell.high, color=FAINT, linewidth=1.5)
    axes.plot([sizes[cell.row] for cell in cells], [cell.value for cell in cells], "o", color=BLUE,
              markersize=4)  # fmt: skip
    if chance:
        axes.axhline(CHANCE, color=GREY, linewidth=0.8, linestyle="--")


def sizes(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy by number of parameters, of the models whose number is known."""
    view = read_view(tables, labels)
    known = {
        column: float(size)
        for column, (model, *_) in view.columns.items()
        if (size := view.labels.facts["sizes"].get(model))
    }
    by_lang = {
        lang: [cell for cell, _ in _overall(view, lang) if cell.row in known]
        for lang in view.languages
    }
    by_lang = {lang: own for lang, own in by_lang.items() if own}
    cells = [cell for own in by_lang.values() for cell in own]
    figure = (
        _sizes_figure(view, by_lang, known)
        if cells
        else empty_figure("the number of parameters of no model is known", COLUMN_INCHES)
    )
    unknown = [column for column in view.columns if column not in known]
    return Exhibit(
        **view.described(
            "sizes",
            chance=_chance_sentence(labels),
            unknown=f" Not shown, of unknown size: {', '.join(unknown)}." if unknown else "",
        ),
        cells=cells,
        stub={cell.row: {"Parameters (billions)": f"{known[cell.row]:g}"} for cell in cells},
        figure=figure,
    )


def _sizes_figure(
    view: View, by_lang: Mapping[str, Sequence[Cell]], known: Mapping[str, float]
) -> Figure:
    """A panel for each language."""
    cells = [cell for own in by_lang.values() for cell in own]
    alone = len(by_lang) == 1
    width = 0.7 * PAGE_INCHES if alone else PAGE_INCHES
    figure, panels = _panels(len(by_lang), 2, width, 2.9 if alone else 2.4)
    chance = _is_pairs(view.labels)
    names = Names.of(view.languages.values())
    for axes, (lang, own) in zip(panels, by_lang.items(), strict=True):
        _draw_sizes(axes, own, known, chance)
        _scale(axes, [known[cell.row] for cell in cells])
        axes.margins(x=0.15)
        axes.set(ylim=_limits(cells, chance), xlabel="parameters (billions)", ylabel=PERCENT)
        if not alone:
            title = names.shown[view.languages[lang]]
            axes.set_title(title, fontfamily=[*names.families])
    lay_out(figure)
    for axes, own in zip(panels, by_lang.values(), strict=True):
        name_points(axes, {cell.row: (known[cell.row], cell.value) for cell in own})
    return figure


# Perplexities

MARKERS = "osD^vPX<>ph*"
TEST = "Test perplexity"
NAMED = ["model", "corpus", "seed"]
"""What names a model with a perplexity."""
TABLE, PERPLEXITIES = "model_perplexities", "perplexities"
"""The kind of table that exhibits ask for, and the kind that cells name, as the directory is
called."""


def _released_perplexities(tables: Tables, view: View) -> pd.DataFrame:
    """Perplexities of the models that there are accuracies of, by their name there."""
    models = {*view.rows["model"]}
    rows = read_plain(MODEL_PERPLEXITIES, tables[TABLE])
    rows = rows[rows["perplexity"].notna()]
    keys = [
        row["model"] if row["model"] in models else "_".join(row[NAMED].dropna().map(str))
        for _, row in rows.iterrows()
    ]
    rows = rows.assign(key=keys)[pd.Series(keys, index=rows.index).isin(models)]
    twice = rows["key"][rows["key"].duplicated()]
    if len(twice):
        raise UserError(
            f"{', '.join(map(str, tables[TABLE]))} has several perplexities of model "
            f"{twice.iloc[0]!r}; expected one. Take the others out of the release's files."
        )
    return rows.set_index("key")


def _kind(row: pd.Series) -> tuple[str, str]:
    """What kind of model it is, and its corpus: else what its name has after the first "_"."""
    family = family_of(row["model"])
    if pd.notna(row["corpus"]):
        return family.removesuffix(f"_{row['corpus']}"), str(row["corpus"])
    kind, _, rest = family.partition("_")
    return kind, rest


def _perplexity_cells(view: View, rows: pd.DataFrame) -> Iterator[Cell]:
    for model, row in rows.iterrows():
        own = view.rows[view.rows["model"] == model]
        where = {k: v for k, v in where_of(own).items() if k in ("benchmark", "method", "model")}
        value = OF_PARADIGMS(own)
        yield Cell(str(model), ACCURACY, value, f"{value:.1f}", OF_PARADIGMS, SOURCE, where)
        keys = [key for key in NAMED if pd.notna(row[key])]
        text = f"{row['perplexity']:.1f}"
        yield row_cell(PERPLEXITIES, row, keys, "perplexity", (str(model), TEST), text)


def _draw_perplexities(figure: Figure, points: pd.DataFrame) -> None:
    """Points [model] with the colour of their kind and the mark of their corpus."""
    axes = figure.subplots()
    kinds = list(dict.fromkeys(points["kind"]))
    corpora = sorted({*points["corpus"]} - {""})
    few = len(kinds) <= len(PALETTE)
    hues = dict(zip(kinds, colours(len(kinds)) if few else [BLUE] * len(kinds), strict=True))
    marks = dict(zip(corpora, MARKERS, strict=False)) if len(corpora) <= len(MARKERS) else {}
    for (kind, corpus), own in points.groupby(["kind", "corpus"], sort=False):
        axes.scatter(own[TEST], own[ACCURACY], color=hues[kind], marker=marks.get(corpus, "o"),
                     s=20, alpha=0.8, linewidths=0)  # fmt: skip
    _scale(axes, [*points[TEST]])
    axes.margins(0.08)
    axes.set(xlabel="test perplexity", ylabel=f"mean {PERCENT}")
    handles = [mark("o", hues[kind], kind) for kind in kinds] if few else []
    handles += [mark(shape, GREY, corpus) for corpus, shape in marks.items()]
    if handles:
        figure.legend(handles=handles, loc="outside right upper")
    if not few:
        lay_out(figure)
        means = points.groupby("kind", sort=False)[[TEST, ACCURACY]].mean()
        names = {str(kind): (x, y) for kind, x, y in means.itertuples()}
        name_points(axes, names, [*zip(points[TEST], points[ACCURACY], strict=True)])


def perplexity(tables: Tables, labels: Labels) -> Exhibit:
    """Mean accuracy of released models against their test perplexity."""
    view = read_view(tables, labels)
    rows = _released_perplexities(tables, view)
    cells = [*_perplexity_cells(view, rows)]
    without = [column for column, models in view.columns.items() if not {*models} & {*rows.index}]
    if cells:
        values = pd.Series({(cell.row, cell.column): cell.value for cell in cells}).unstack()
        figure = new_figure(PAGE_INCHES * 0.85, 3.2)
        kinds = [_kind(row) for _, row in rows.iterrows()]
        points = pd.DataFrame(kinds, index=rows.index, columns=["kind", "corpus"])
        _draw_perplexities(figure, points.join(values))
    else:
        figure = empty_figure("no perplexity of these models is released", COLUMN_INCHES)
    return Exhibit(
        **view.described(
            "perplexity",
            without=f" Without a released perplexity: {', '.join(without)}." if without else "",
        ),
        cells=cells,
        figure=figure,
    )
