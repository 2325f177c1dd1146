"""CLAMS's figures of accuracy: by construction (2), and by morphological complexity (3).

Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020), section 6.3; complexity by
Bentz et al. (2016), see ``analysis.wals``.
"""

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.exhibits.style import (
    BARS,
    BLUE,
    COLUMN_INCHES,
    GREY,
    ORANGE,
    VERMILION,
    frame_of,
    mark_chance,
    new_figure,
    say,
    with_ends,
)
from blimpworks.papers.clams.exhibits import describe
from blimpworks.papers.clams.exhibits.common import Accuracies, read_accuracies, shown_languages
from blimpworks.papers.clams.exhibits.facts import MBERT, MONO, MULTI
from blimpworks.papers.clams.exhibits.formulas import (
    COMPLEXITY,
    CONSTRUCTION,
    LANGUAGE,
    mean_over,
    rho,
    sd_over,
)
from blimpworks.papers.clams.items.constructions import CONSTRUCTIONS, construction_of
from blimpworks.tables import MORPHOLOGY


def read_morphology(tables: Tables, languages: Collection[str]) -> pd.DataFrame:
    """WALS features of some languages; no rows without the table."""
    features = read_plain(MORPHOLOGY, tables.get("morphology"))
    return features[features["lang"].isin(languages)]


def complexities(morphology: pd.DataFrame) -> dict[str, float]:
    """Morphological complexity by language, from 0 to 1: mean of the features that count."""
    means = morphology.groupby("lang")["value"].mean()
    return {str(lang): float(value) for lang, value in means.items()}


def in_order(known: Mapping[str, float]) -> list[list[str]]:
    """Languages from the least complex to the most; those of equal complexity stand together."""
    values = sorted({*known.values()})
    return [sorted(lang for lang in known if known[lang] == value) for value in values]


def scored_everywhere(
    rows: pd.DataFrame, constructions: Sequence[str], langs: Sequence[str]
) -> list[str]:
    """Constructions that have accuracies in all of some languages."""
    return [
        key for key in constructions if {*langs} <= {*rows[rows["construction"] == key]["lang"]}
    ]


def shared_constructions(accuracies: Accuracies, part: str, langs: Sequence[str]) -> list[str]:
    """Constructions on which the models of a part have accuracies in all of some languages."""
    rows = accuracies.of(part, langs, CONSTRUCTIONS).rows
    known = rows.assign(construction=rows["paradigm"].map(construction_of))
    return scored_everywhere(known, [*CONSTRUCTIONS], langs)


CHANCE = 0.5
LSTMS = {MONO: ("monolingual", BLUE), MULTI: ("multilingual", ORANGE)}
SERIES = {MONO: ("LSTM", BLUE, "o"), MBERT: ("mBERT", VERMILION, "s")}
"""Name, colour and marker, by part."""
COLUMN = "complexity"
MEAN, SD = "mean", "SD"
LEAST_SPAN = 0.2
"""Of the axis of accuracies in Figure 3."""

# Figure 2


def _bar_cells(accuracies: Accuracies, languages: Mapping[str, str]) -> list[Cell]:
    """Mean and standard deviation over languages, by construction and part."""
    formulas = {MEAN: mean_over(LANGUAGE), SD: sd_over(LANGUAGE)}
    selections = [
        (row, series, accuracies.of(part, languages, key))
        for key, row in CONSTRUCTIONS.items()
        for part, (series, _) in LSTMS.items()
    ]
    return [
        selection.cell((row, f"{series} {kind}"), formula)
        for row, series, selection in selections
        if not selection.rows.empty
        for kind, formula in formulas.items()
    ]


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 2: mean and standard deviation over languages of the LSTMs' accuracy."""
    cells = _bar_cells(read_accuracies(tables, labels), shown_languages(labels))
    figure = new_figure(COLUMN_INCHES, 2.9)
    axes = figure.add_subplot()
    if cells:
        # Horizontal bars, the first construction on top, with whiskers of one SD either way.
        rows = frame_of(cells)
        rows[["series", "kind"]] = rows["column"].str.split(" ", expand=True)
        wide = rows.pivot(index=["row", "series"], columns="kind", values="value").reset_index()
        low, high = wide[MEAN] - wide[SD], wide[MEAN] + wide[SD]
        wide = wide.assign(low=low.clip(lower=0), high=high.clip(upper=1))
        sns.barplot(
            with_ends(wide, MEAN), x=MEAN, y="row", hue="series", order=CONSTRUCTIONS.values(),
            palette=dict(LSTMS.values()), capsize=0.2, ax=axes, **BARS,
        )  # fmt: skip
        mark_chance(axes, CHANCE, upright=True)
        axes.set(xlabel="mean accuracy (whiskers: standard deviation)", ylabel=None, xlim=(0, 1.02))
        axes.set_xticks(np.linspace(0, 1, 6))
        axes.grid(visible=False, axis="y")
        sns.move_legend(axes, "lower center", bbox_to_anchor=(0.3, 1.04), ncol=2, title=None)
    else:
        say(axes, "No LSTM has judged any of the constructions.")
    of = "Table 1's numbers" if labels.source == "published" else "the campaign's numbers"
    return Exhibit(**describe("fig2", of=of), cells=cells, figure=figure)


# Figure 3


def _point_cells(accuracies: Accuracies, languages: Mapping[str, str]) -> list[Cell]:
    """Average accuracy by language, each over the constructions that all languages have."""
    cells = []
    for part, (name, *_) in SERIES.items():
        scored = {*accuracies.of(part, languages, CONSTRUCTIONS).rows["lang"]}
        langs = [lang for lang in languages if lang in scored]
        shared = shared_constructions(accuracies, part, langs)
        for lang in langs if shared else []:
            selection = accuracies.of(part, lang, shared)
            cells.append(selection.cell((languages[lang], name), mean_over(CONSTRUCTION)))
    return cells


def _draw_points(axes: Axes, cells: Sequence[Cell]) -> None:
    x = {cell.row: cell.value for cell in cells if cell.column == COLUMN}
    points = frame_of(cell for cell in cells if cell.row in x and cell.column != COLUMN)
    sns.scatterplot(
        points.assign(x=points["row"].map(x)), x="x", y="value", hue="column", style="column",
        palette={name: colour for name, colour, _ in SERIES.values()},
        markers={name: marker for name, _, marker in SERIES.values()}, s=32, linewidth=0, ax=axes,
    )  # fmt: skip
    # Names of neighbours stand on different sides, so that they don't meet.
    for place, row in enumerate(sorted(x, key=lambda row: x[row])):
        values = [c.value for c in cells if c.row == row and c.column != COLUMN]
        if values:
            end, offset, side = (
                (max(values), 6, "bottom") if place % 2 else (min(values), -6, "top")
            )
            axes.annotate(
                row, (x[row], end), (0, offset), textcoords="offset points", ha="center", va=side
            )
            axes.plot([x[row]] * 2, [min(values), max(values)], color=GREY, lw=0.5, zorder=1)
    axes.set(xlabel="morphological complexity (CWALS)", ylabel="average accuracy")
    axes.margins(0.12, 0.15)
    # Models that all guess must not look as far apart as good and bad ones.
    middle, half = np.mean(axes.get_ylim()), np.ptp(axes.get_ylim()) / 2
    axes.set_ylim(middle - max(half, LEAST_SPAN / 2), middle + max(half, LEAST_SPAN / 2))
    sns.move_legend(axes, "lower center", bbox_to_anchor=(0.5, 1), ncol=2, title=None)


def fig3(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 3: average accuracy of the LSTMs and mBERT by morphological complexity."""
    accuracies, languages = read_accuracies(tables, labels), shown_languages(labels)
    morphology = read_morphology(tables, languages)
    known = complexities(morphology)
    cells = [
        Cell(
            name,
            "complexity",
            known[lang],
            f"{known[lang]:.3f}",
            COMPLEXITY,
            "morphology",
            {"lang": lang},
            n=int(morphology[morphology["lang"] == lang]["value"].notna().sum()),
        )
        for lang, name in languages.items()
        if lang in known
    ] + _point_cells(accuracies, languages)
    figure = new_figure(COLUMN_INCHES, 2.5)
    axes = figure.add_subplot()
    if morphology.empty:
        say(axes, "There are no WALS features to place languages by.")
    else:
        _draw_points(axes, cells)
    order = in_order(complexities(morphology))
    # What the caption says of each series' rank correlation.
    values = []
    langs = [lang for tied in order for lang in tied]
    for part, (name, *_) in SERIES.items():
        shared = shared_constructions(accuracies, part, langs)
        if shared and len(langs) > 2:
            value = rho(order)(accuracies.of(part, langs, shared).rows)
            values += [] if math.isnan(value) else [f"{name} {value:.2f}".replace("-", "−")]
    return Exhibit(
        **describe("fig3", correlations=(f" Spearman's ρ: {', '.join(values)}." if values else "")),
        cells=cells,
        figure=figure,
    )
