"""Draw CLAMS's Figures 2 and 3, and make the table of numbers in its text.

``fig2``, ``fig3`` and ``text`` make an exhibit each, from accuracies of a campaign (measured form)
or of the paper's tables (published form). A cell is a number of an exhibit, and a series is a group
of models, such as the monolingual LSTMs. ``claims.tsv`` declares the numbers of the text: each
``Claim`` has a title, a formula, and the series, languages and constructions of its accuracies.

The morphological complexity of a language is the mean of its WALS features, each from 0 to 1 (see
``clams.morphology``). Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020), sections
5 and 6 and appendices B to D.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from blimpworks.campaign.catalogue import Names
from blimpworks.campaign.table_files import read_rows
from blimpworks.exhibits import shared, style
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import LANGS, LARGEST, select_rows
from blimpworks.papers.clams.exhibits import describe, measures
from blimpworks.papers.clams.exhibits.measures import mean_over, read_accuracies, shown_languages
from blimpworks.papers.clams.items.sets import CONSTRUCTIONS, LANGUAGES
from blimpworks.papers.clams.paper import MBERT, MONO, MULTI
from blimpworks.strict import Strict
from blimpworks.tables import MORPHOLOGY


def read_morphology(tables: shared.Tables, languages: Collection[str]) -> pd.DataFrame:
    """Read the values of languages' WALS features, a row for each; no rows without the table."""
    features = shared.read_plain(MORPHOLOGY, tables.get("morphology"))
    return features[features["lang"].isin(languages)]


def groups_by_rank(complexity: pd.Series) -> list[list[str]]:
    """Group languages of equal complexity, the least complex first: [["eng", "fra"], ["deu"]].

    ``complexity``: complexity by language, such as eng 0.4, fra 0.4 and deu 0.5.
    """
    return [sorted(map(str, tied.index)) for _, tied in complexity.groupby(complexity)]


CHANCE = 0.5
LSTMS = {MONO: ("monolingual", style.BLUE), MULTI: ("multilingual", style.ORANGE)}
"""Series of Figure 2: {series: (name, colour)}."""
FIG3_SERIES = {MONO: ("LSTM", style.BLUE, "o"), MBERT: ("mBERT", style.VERMILION, "s")}
"""Series of Figure 3: {series: (name, colour, marker)}."""
COMPLEXITY = "complexity"
"""Column of cells with languages' complexity in Figure 3."""
MEAN, SD = "mean", "SD"
FEWEST_RANKED = 3
"""Fewest languages for a rank correlation."""
LEAST_SPAN = 0.2
"""Shortest range of accuracies on the axis of Figure 3. A shorter one would exaggerate the
differences between models that all guess."""


def fig2(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Figure 2: the LSTMs' accuracy by construction, mean and SD over languages."""
    accuracies, languages = read_accuracies(tables, labels), shown_languages(labels)
    cells = []
    for (key, row), (series_key, (series, _)) in product(CONSTRUCTIONS.items(), LSTMS.items()):
        selection = accuracies.select(series_key, languages, key)
        if not selection.rows.empty:
            for name, formula in ((MEAN, mean_over), (SD, measures.sd_over)):
                cells.append(selection.cell((row, f"{series} {name}"), formula(measures.LANGUAGE)))
    figure = style.new_figure(style.COLUMN_INCHES, 2.9)
    axes = figure.add_subplot()
    if cells:
        rows = style.frame_of(cells)
        # A column is "monolingual mean": a series, and mean or SD.
        rows[["series", "number"]] = rows["column"].str.split(" ", expand=True)
        wide = rows.pivot(index=["row", "series"], columns="number", values="value").reset_index()
        low, high = wide[MEAN] - wide[SD], wide[MEAN] + wide[SD]
        wide = wide.assign(low=low.clip(lower=0), high=high.clip(upper=1))
        sns.barplot(
            style.with_ends(wide, MEAN), x=MEAN, y="row", hue="series",
            order=CONSTRUCTIONS.values(), palette=dict(LSTMS.values()), capsize=0.2, ax=axes,
            **style.BARS,
        )  # fmt: skip
        style.mark_chance(axes, CHANCE, upright=True)
        axes.set(xlabel="mean accuracy (whiskers: standard deviation)", ylabel=None, xlim=(0, 1.02))
        axes.set_xticks(np.linspace(0, 1, 6))
        axes.grid(visible=False, axis="y")
        sns.move_legend(axes, "lower center", bbox_to_anchor=(0.3, 1.04), ncol=2, title=None)
    else:
        style.say(axes, "No LSTM has judged any of the constructions.")
    description = describe("fig2", published=labels.source == "published")
    return Exhibit(**description, cells=cells, figure=figure)


def _draw_points(axes: Axes, cells: Sequence[Cell]) -> None:
    """Draw accuracy (y) by complexity (x), both from ``cells``, with names of languages."""
    x = {cell.row: cell.value for cell in cells if cell.column == COMPLEXITY}
    points = style.frame_of(cell for cell in cells if cell.row in x and cell.column != COMPLEXITY)
    sns.scatterplot(
        points.assign(x=points["row"].map(x)), x="x", y="value", hue="column", style="column",
        palette={name: colour for name, colour, _ in FIG3_SERIES.values()},
        markers={name: marker for name, _, marker in FIG3_SERIES.values()},
        s=32, linewidth=0, ax=axes,
    )  # fmt: skip
    # Names of neighbouring points alternate between below and above, so that none overlap.
    for rank, language in enumerate(sorted(x, key=lambda language: x[language])):
        heights = points["value"][points["row"] == language]
        if heights.empty:
            continue
        low, high = heights.min(), heights.max()
        y, offset, va = (high, 6, "bottom") if rank % 2 else (low, -6, "top")
        axes.annotate(
            language, (x[language], y), (0, offset), textcoords="offset points", ha="center", va=va
        )
        axes.plot([x[language]] * 2, [low, high], color=style.GREY, lw=0.5, zorder=1)
    axes.set(xlabel="morphological complexity (CWALS)", ylabel="average accuracy")
    axes.margins(0.12, 0.15)
    low, high = axes.get_ylim()
    middle, half_span = (low + high) / 2, max(high - low, LEAST_SPAN) / 2
    axes.set_ylim(middle - half_span, middle + half_span)
    sns.move_legend(axes, "lower center", bbox_to_anchor=(0.5, 1), ncol=2, title=None)


def fig3(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Figure 3: average accuracy of LSTMs and mBERT by the language's complexity."""
    accuracies, languages = read_accuracies(tables, labels), shown_languages(labels)
    morphology = read_morphology(tables, languages)
    order = groups_by_rank(morphology.groupby("lang")["value"].mean())
    with_complexity = [lang for tied in order for lang in tied]
    cells = []
    formula = measures.COMPLEXITY
    for lang in [lang for lang in languages if lang in with_complexity]:
        where, cell_key = {"lang": lang}, (languages[lang], COMPLEXITY)
        cell = shared.formula_cell(morphology, cell_key, formula, "morphology", where, ".3f")
        n = int(select_rows(morphology, where)["value"].notna().sum())
        cells.append(replace(cell, n=n))
    # Averages are over the constructions that all languages have, so that they can be compared.
    for series_key, (name, *_) in FIG3_SERIES.items():
        scored = {*accuracies.select(series_key, languages, CONSTRUCTIONS).rows["lang"]}
        langs = [lang for lang in languages if lang in scored]
        common = accuracies.select_common(series_key, langs)
        if common is None:
            continue
        for lang in langs:
            selection = accuracies.select(series_key, lang, common.constructions)
            cells.append(selection.cell((languages[lang], name), mean_over(measures.CONSTRUCTION)))
    figure = style.new_figure(style.COLUMN_INCHES, 2.5)
    axes = figure.add_subplot()
    if morphology.empty:
        style.say(axes, "There are no WALS features to place languages by.")
    else:
        _draw_points(axes, cells)
    correlations: list[str] = []  # texts of the caption: "LSTM −0.87"
    ranked_series = FIG3_SERIES if len(with_complexity) >= FEWEST_RANKED else {}
    for series_key, (name, *_) in ranked_series.items():
        common = accuracies.select_common(series_key, with_complexity)
        value = measures.rho(order)(common.rows) if common else math.nan
        if not math.isnan(value):
            correlations.append(f"{name} {value:.2f}".replace("-", "−"))
    stand_ins = measures.stand_ins(labels, cells, MBERT)
    description = describe("fig3", correlations=correlations, stand_ins=stand_ins)
    return Exhibit(**description, cells=cells, figure=figure)


# Formulas of the numbers in the text, with the format of their values.
FORMATS = {LANGS: ".0f", measures.LEAST: ".2f", measures.GREATEST: ".2f"}
FORMULAS = {formula.sentence: formula for formula in FORMATS}


class Claim(Strict):
    """A number of the text, and the accuracies from which it is computed: a row of claims.tsv."""

    row: str
    """Row of the printed number; empty if the paper does not print it."""
    column: str
    title: str
    formula: str
    """Key of ``FORMULAS``; empty for the rank correlation of accuracy and complexity."""
    series: str
    langs: Names
    constructions: Names
    phenomena: Names


CLAIMS = read_rows(Claim, Path(__file__).with_name("claims.tsv"))
# Numbers of WALS features that the paper's languages have.
FEATURE_COUNTS = {"fewest": measures.FEWEST, "most": measures.MOST_FEATURES}


def _correlation_cell(
    claim: Claim, accuracies: measures.Accuracies, complexity: pd.Series, cell_key: shared.Place
) -> Cell | None:
    """Make the cell of a claim's correlation of accuracy and ``complexity`` by language, if any."""
    if len(claim.langs) < FEWEST_RANKED or not {*claim.langs} <= {*complexity.index}:
        return None
    selected = (claim.series, claim.langs, claim.constructions, claim.phenomena)
    common = accuracies.select_common(*selected)
    if common is None or not {*claim.phenomena} <= {*common.rows["phenomenon"]}:
        return None
    order_of_languages = groups_by_rank(complexity[[*claim.langs]])
    formula = measures.rho(order_of_languages, mixed=len(claim.phenomena) > 1)
    cell = common.cell(cell_key, formula, ".1f")
    # The correlation is NaN if all languages have the same accuracy.
    return None if math.isnan(cell.value) else replace(cell, text=cell.text.replace("-", "−"))


def text(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of the text's numbers: claims, numbers of WALS features, correlations."""
    accuracies, languages = read_accuracies(tables, labels), shown_languages(labels)
    morphology = read_morphology(tables, languages.keys() & {*LANGUAGES})
    complexity = morphology.groupby("lang")["value"].mean()
    column = shared.AGAIN if labels.source == "published" else shared.VALUE
    cells: list[Cell] = []
    correlations: list[Cell] = []
    for claim in CLAIMS:
        cell_key = (claim.title, column)
        stands_for = (claim.row, claim.column) if claim.row else None
        if claim.formula:
            selected = (claim.series, claim.langs, claim.constructions, claim.phenomena)
            selection, formula = accuracies.select(*selected), FORMULAS[claim.formula]
            if {*selection.rows["lang"]} == {*claim.langs}:
                form = FORMATS[formula]
                cells.append(selection.cell(cell_key, formula, form, stands_for=stands_for))
        else:
            correlation = _correlation_cell(claim, accuracies, complexity, cell_key)
            if correlation is not None:
                correlations.append(replace(correlation, stands_for=stands_for))
    where = {"lang": sorted({*morphology["lang"]})}
    for extreme, formula in FEATURE_COUNTS.items():
        if morphology.empty:
            continue
        cell_key = (f"Morphological features of a language: {extreme}", column)
        cell = shared.formula_cell(morphology, cell_key, formula, "morphology", where, ".0f")
        cells.append(replace(cell, stands_for=("CWALS", f"{extreme} features")))
    cells += correlations
    without_wals = morphology.empty
    if labels.source == "measured":
        stand_ins = measures.stand_ins(labels, cells, MBERT)
        description = describe("text", without_wals=without_wals, stand_ins=stand_ins)
    else:
        # First the paper's numbers, then those from its tables, then those from its other numbers.
        recomputation = shared.Recomputation({measures.LEAD: "{:.0f}", LARGEST: "{:.2f}"})
        in_text, faults = shared.printed_statements(shared.read_printed(tables), recomputation)
        printed = [cell for cell in in_text if cell.column == shared.PRINTED]
        recomputed = [cell for cell in in_text if cell.column == shared.AGAIN]
        cells = [*printed, *cells, *recomputed]
        description = describe("text_published", faults=faults, without_wals=without_wals)
    return Exhibit(**description, cells=cells)
