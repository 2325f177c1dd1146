"""Draw heat maps of declared benchmarks: accuracy by paradigm, and correlations of models."""

import math
from collections.abc import Sequence
from itertools import combinations, product

from matplotlib.colors import Normalize

from blimpworks.benchmarks.exhibits import describe
from blimpworks.benchmarks.exhibits.accuracies import (
    FEWEST,
    Baselines,
    blocks,
    correlation_cell,
    means_of_seeds,
)
from blimpworks.benchmarks.exhibits.drawing import (
    DIVERGING,
    ONE_HUE,
    PERCENT,
    HeatMap,
    Line,
    Names,
)
from blimpworks.benchmarks.exhibits.formulas import PARADIGM, PEARSON, accuracies_by, correlation
from blimpworks.benchmarks.exhibits.view import View, present, read_view, spoken
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import Tables
from blimpworks.exhibits.style import COLUMN_INCHES, PAGE_INCHES, empty_figure

Groups = Sequence[tuple[str, Sequence[Line]]]
"""Rows of a heat map by heading."""
LENGTHS = (40, 90)
"""Rows of a part of a heat map: few if the page has room for all parts, else many."""


def _paradigms_of(view: View, lang: str) -> dict[str, dict[str, tuple[str, str]]]:
    pairs = view.single(lang)
    names = [paradigm for _, paradigm in pairs]
    rows: dict[str, dict[str, tuple[str, str]]] = {}
    for phenomenon, paradigm in pairs:
        inside = f" ({spoken(phenomenon)})" if names.count(paradigm) > 1 else ""
        key = f"{view.prefix(lang)}{paradigm}{inside}"
        rows.setdefault(phenomenon, {})[key] = (phenomenon, paradigm)
    return rows


def _groups(view: View) -> list[tuple[str, list[Line]]]:
    """Return rows by language and phenomenon, with headings where they tell groups apart."""
    groups: list[tuple[str, list[Line]]] = []
    for lang in view.languages:
        rows = _paradigms_of(view, lang)
        if all(len(inside) == 1 for inside in rows.values()):
            lines = [Line(name, key) for own in rows.values() for key, (_, name) in own.items()]
            groups.append((view.languages[lang] if view.prefix(lang) else "", lines))
            continue
        for phenomenon, own in rows.items():
            lines = [Line(name, key) for key, (_, name) in own.items()]
            groups.append((f"{view.prefix(lang)}{spoken(phenomenon)}", lines))
    return groups


def _parts(groups: Groups, count: int) -> list[list[Line]]:
    """Divide rows under their headings into ``count`` parts of about equal length."""
    lists = [[*([Line(heading)] if heading else []), *lines] for heading, lines in groups]
    length = math.ceil(sum(map(len, lists)) / count)
    parts: list[list[Line]] = [[]]
    for lines in (part for each in lists for part in blocks(each, length)):
        ends_nearer = len(parts[-1]) + len(lines) / 2 > length
        if parts[-1] and ends_nearer and len(parts) < count:
            parts.append([])
        parts[-1] += lines
    return parts


def paradigms(tables: Tables, labels: Labels) -> Exhibit:
    """Show accuracy by paradigm and model, or by family of released models, then baselines."""
    view = read_view(tables, labels)
    baselines = Baselines.read(tables, view)
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    for lang in view.languages:
        for phenomenon, rows in _paradigms_of(view, lang).items():
            for row, (_, paradigm) in rows.items():
                stub[row] = {"Phenomenon": spoken(phenomenon)}
                cells += present(
                    view.cell(view.of(lang, phenomenon, paradigm, models), (row, column))
                    for column, models in view.columns.items()
                )
                cells += baselines.cells(lang, phenomenon, row, paradigm)
    figure, listed = empty_figure("no paradigms", COLUMN_INCHES, 1.2, framed=False), ""
    if cells:
        groups, columns = _groups(view), [*view.columns, *baselines.columns]
        lines = [line for heading, lines in groups for line in (Line(heading), *lines)]
        lines = [line for line in lines if line.text]
        # Headings are numbered first, where no font has their letters.
        texts = [line.text for line in sorted(lines, key=lambda line: line.key != "")]
        names = Names.of([*texts, *columns])
        keys = [line.key for line in lines if line.key]
        values = {(cell.row, cell.column): cell.value for cell in cells}
        for length in LENGTHS:
            heat_map = HeatMap(
                columns,
                dict.fromkeys(product(keys, columns)) | values,
                ".0f",
                DIVERGING,
                Normalize(0, 100),
                PERCENT,
                (0, 25, 50, 75, 100),
                names,
                _parts(groups, math.ceil(len(lines) / length)),
            )
            if heat_map.width * len(heat_map.parts) <= PAGE_INCHES:
                break
        figure, listed = heat_map.draw(), names.listed
    description = view.described(
        "paradigms", means=means_of_seeds(view), baselines=baselines.note, listed=listed
    )
    return Exhibit(**description, cells=cells, stub=stub, figure=figure)


def correlations(tables: Tables, labels: Labels) -> Exhibit:
    """Show Pearson's correlation of every two models over their common paradigms."""
    view = read_view(tables, labels)
    wide = accuracies_by(view.rows, PARADIGM)
    formula = correlation(PEARSON, PARADIGM)
    columns = [*view.columns]
    cells: list[Cell] = []
    for number, row in enumerate(columns):
        for column in columns[:number]:
            models = [*view.columns[column], *view.columns[row]]
            rows = view.rows[view.rows["model"].isin(models)]
            cells += present([correlation_cell(wide[models], rows, (row, column), formula)])
    names, lack = Names.of(columns), ""
    if cells:
        values = {(cell.row, cell.column): cell.value for cell in cells}
        below = dict.fromkeys((row, column) for column, row in combinations(columns, 2))
        negative = min(values.values()) < 0
        heat_map = HeatMap(
            columns[:-1],
            below | values,
            ".2f",
            DIVERGING if negative else ONE_HUE,
            Normalize(-1 if negative else 0, 1),
            PEARSON,
            (-1, 0, 1) if negative else (0, 0.5, 1),
            names,
            [[Line(name, name) for name in columns[1:]]],
        )
        figure = heat_map.draw()
    else:
        few = f"fewer than {FEWEST} paradigms in common"
        reason = "a single model" if len(columns) < 2 else few
        figure, lack = (
            empty_figure(reason, COLUMN_INCHES, 1.2, framed=False),
            f" Nothing to draw: {reason}.",
        )
    description = describe("correlations", name=view.name, lack=lack, listed=names.listed)
    return Exhibit(**description, cells=cells, figure=figure)
