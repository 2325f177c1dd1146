"""Figures of MultiBLiMP's languages: pairs of each, their families, and a sample of pairs.

Source: Jumelet, Weissweiler, Nivre and Bisazza (2025), Figures 3 and 4 and appendices A.2 (Figure
8, a table) and B.1. Captions and references of Figures 3 and 4 are swapped there; these follow
the captions.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, KINDS, VALUES
from blimpworks.exhibits.shared import Tables, marked, read_plain, read_printed
from blimpworks.exhibits.style import (
    BLUE,
    COLUMN_INCHES,
    MARKERS,
    ORANGE,
    PAGE_INCHES,
    SMALL,
    new_figure,
)
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.accuracies import CERTAIN, abbreviation
from blimpworks.tables import ITEMS, read_table

DIVIDED = (("certain", CERTAIN, BLUE), ("uncertain", ("?",), ORANGE))
KINDS_OF_PAIRS = (*DIVIDED, ("pairs", (), BLUE))
PER_PANEL = 60
"""Most languages side by side whose names can still be read at page width."""
LINE_INCHES = 0.135
"""Height of a line of small type."""


KARO = "kxh"
"""The code that the release gives Karo of Brazil, a Tupian language; it is that of another Karo."""


def _limits(sizes: Mapping[str, int], labels: Labels) -> str:
    """What the caption must say of languages that are left out, or that have another's code."""
    printed = labels.source == "published"
    shown, every = len(sizes), len(labels.languages)
    limits = (
        f" {shown} of {every} languages: those whose row of Table 5 is in our copy of the paper."
    )
    karo = " Karo is a language of Brazil, to which the release gives the code of Ethiopia's Karo."
    return (limits if printed and shown < every else "") + (karo if KARO in sizes else "")


def _cell(labels: Labels, row: str, column: str, where: list[str] | str, n: int) -> Cell:
    """``n`` languages or pairs of one language or of several, from items or from Table 5."""
    if labels.source == "published":
        formula = COUNT if column == "languages" else VALUES
        chosen = {"exhibit": "table5", "column": "n", "row": where}
        return Cell(row, column, n, str(n), formula, "published", chosen)
    formula = KINDS if column == "languages" else COUNT
    return Cell(row, column, n, str(n), formula, "items", {"lang": where})


def _sizes(tables: Tables, labels: Labels) -> dict[str, int]:
    """Pairs of each language that has any, in order of the labels."""
    if labels.source == "published":
        printed = read_printed(tables, exhibit="table5", column="n")
        sizes = dict(zip(printed["row"], printed["value"], strict=True))
    else:
        sizes = read_plain(ITEMS, tables["items"], ["lang"])["lang"].value_counts().to_dict()
    return {lang: int(sizes[lang]) for lang in labels.languages if lang in sizes}


# Figure 3


def _count_cells(pairs: pd.DataFrame, labels: Labels) -> list[Cell]:
    counts = pairs.groupby(["lang", "label"]).size().to_dict()
    cells: list[Cell] = []
    for lang, name in labels.languages.items():
        for kind, marks, _ in DIVIDED:
            n = int(sum(counts.get((lang, mark), 0) for mark in marks))
            where = {"lang": lang, "label": list(marks)}
            cells.append(Cell(name, kind, n, str(n), COUNT, "items", where, n=n))
    return cells


def _counts(cells: Sequence[Cell]) -> pd.DataFrame:
    """Rows by columns of the cells, with a total, largest first; rows without pairs go."""
    rows = [(cell.row, cell.column, cell.value) for cell in cells]
    counts = pd.DataFrame(rows, columns=["row", "column", "n"])
    counts = counts.pivot(index="row", columns="column", values="n")
    counts = counts.assign(total=counts.sum(axis=1))
    counts = counts[counts["total"] > 0]
    return counts.sort_values(["total", *counts.columns[:-1]], ascending=False, kind="stable")


def _dots(axes: Axes, counts: pd.DataFrame, slots: int, top: float) -> None:
    """One panel: dots above each other for each language, in ``slots`` places."""
    positions = range(len(counts))
    kinds = [kind for kind in KINDS_OF_PAIRS if kind[0] in counts]
    for (kind, _, colour), marker in zip(kinds, MARKERS, strict=False):
        some = counts[kind].where(counts[kind] > 0)
        look: dict[str, Any] = {"color": colour, "marker": marker, "label": f"{kind} agreement"}
        axes.plot(positions, some, ls="none", markersize=3.5, clip_on=False, **look)
    axes.set_yscale("log")
    axes.set_ylim(1, top)
    axes.set_ylabel("minimal pairs (log scale)")
    axes.set_xticks(list(positions), counts.index)
    if slots > 4:
        steep = 90 if slots > PER_PANEL / 2 else 45
        for name in axes.get_xticklabels():
            across = "center" if steep == 90 else "top"
            name.set(rotation=steep, ha="right", va=across, rotation_mode="anchor")
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.7, slots - 0.3)
    axes.grid(axis="x", visible=False)


def pairs_figure(counts: pd.DataFrame) -> Figure:
    """Draw dots of ``counts`` (languages by certain, uncertain and total) in equal panels."""
    panels = max(1, math.ceil(len(counts) / PER_PANEL))
    slots = max(1, math.ceil(len(counts) / panels))
    width = min(PAGE_INCHES, max(COLUMN_INCHES, 0.16 * slots + 1))
    figure = new_figure(width, 2.4 * panels)
    rows = figure.subplots(panels, 1, squeeze=False)[:, 0]
    top = 1.6 * max([*counts["total"], 10])
    for number, axes in enumerate(rows):
        _dots(axes, counts.iloc[number * slots : (number + 1) * slots], slots, top)
    handles, names = rows[0].get_legend_handles_labels()
    if len(handles) > 1:
        figure.legend(handles, names, ncols=2, loc="outside upper right")
    return figure


def fig3(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 3: minimal pairs per language on a log scale, certain and uncertain if measured."""
    if labels.source == "published":
        names, sizes = labels.languages, _sizes(tables, labels)
        cells = [_cell(labels, names[lang], "pairs", lang, n) for lang, n in sizes.items()]
        description = describe("fig3_published", limits=_limits(sizes, labels))
    else:
        cells = _count_cells(read_plain(ITEMS, tables["items"], ["lang", "label"]), labels)
        description = describe("fig3")
    return Exhibit(**description, cells=cells, figure=pairs_figure(_counts(cells)))


# Figure 4


def _families(sizes: dict[str, int], labels: Labels) -> dict[str, list[str]]:
    """Languages with pairs by family: the largest family first, and in it most pairs first."""
    families: dict[str, list[str]] = {}
    for lang in sorted(sizes, key=lambda lang: (-sizes[lang], labels.languages[lang])):
        families.setdefault(labels.facts["families"][lang], []).append(lang)

    def rank(family: str) -> tuple[object, ...]:
        """Sort key of a family: most languages first, then most pairs."""
        members = families[family]
        return -len(members), -sum(sizes[lang] for lang in members), family

    return {family: families[family] for family in sorted(families, key=rank)}


def _write_numbers(axes: Axes, places: Sequence[tuple[int, float]], size: float) -> None:
    for y, n in places:
        axes.annotate(
            f"{n:,.0f}", (n, y), (5, 0), textcoords="offset points", va="center", size=size
        )


def _family_panel(axes: Axes, cells: Sequence[Cell], column: str, colour: str) -> None:
    """Bars of languages, or dots of pairs on a log scale, each with its number beside it."""
    chosen = [cell for cell in cells if cell.column == column]
    names, values = [cell.row for cell in chosen], [cell.value for cell in chosen]
    draw = axes.barh if column == "languages" else axes.scatter
    data = (names, values) if column == "languages" else (values, names)
    draw(*data, color=colour)
    _write_numbers(axes, [*enumerate(values)], 7)
    top = max([cell.value for cell in chosen], default=10)
    if column == "pairs":
        axes.set_xscale("log")
        axes.set_xlim(1, 20 * top)
        axes.set_xlabel("minimal pairs (log scale)")
    else:
        axes.set_xlim(0, 1.2 * top)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.set_xlabel("languages")
    axes.set_ylim(max(len(chosen), 2) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def fig4(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 4: families of the languages that have pairs, by languages and by pairs."""
    sizes = _sizes(tables, labels)
    cells: list[Cell] = []
    for family, inside in _families(sizes, labels).items():
        cells.append(_cell(labels, family, "languages", inside, len(inside)))
        cells.append(_cell(labels, family, "pairs", inside, sum(sizes[lang] for lang in inside)))
    # Two panels over the families: languages, and pairs.
    rows = len({cell.row for cell in cells})
    figure = new_figure(PAGE_INCHES * 0.75, 0.6 + 0.17 * max(rows, 3))
    left, right = figure.subplots(1, 2)
    _family_panel(left, cells, "languages", BLUE)
    _family_panel(right, cells, "pairs", ORANGE)
    right.set_yticklabels([])
    return Exhibit(
        **describe("fig4", limits=_limits(sizes, labels)),
        cells=cells,
        figure=figure,
    )


# Appendix B.1


Line = tuple[str, float | None]
"""A line of the detailed figure: a language and its pairs, or a family without a number."""


def languages_figure(cells: Sequence[Cell], families: dict[str, str]) -> Figure:
    """Languages' pairs as dots under their families (by printed name), in up to 3 columns."""
    # Languages below the headings of their families.
    lines: list[Line] = []
    names = [families[cell.row] for cell in cells]
    for cell, family, before in zip(cells, names, [None, *names], strict=False):
        if family != before:
            lines.append((f"{family} ({names.count(family)})", None))
        lines.append((cell.row, cell.value))
    # Lines in columns of about equal height; no family's heading stands last in one.
    panels = min(3, math.ceil(max(len(lines), 1) / 15))
    most_lines = math.ceil(len(lines) / panels)
    parts: list[list[Line]] = [[]]
    heading = ""
    for line in lines:
        if len(parts[-1]) >= most_lines - (line[1] is None) and len(parts) < panels:
            parts.append([] if line[1] is None else [(f"{heading}, continued", None)])
        heading = line[0].rpartition(" (")[0] if line[1] is None else heading
        parts[-1].append(line)
    height = max(map(len, parts))
    width = max(COLUMN_INCHES, PAGE_INCHES * len(parts) / 3)
    figure = new_figure(width, 0.6 + LINE_INCHES * max(height, 4))
    for axes, part in zip(figure.subplots(1, len(parts), squeeze=False)[0], parts, strict=True):
        # Dots with names beside them and families in bold above theirs, from the top down.
        dots = [(y, n) for y, (_, n) in enumerate(part) if n is not None]
        axes.scatter([n for _, n in dots], [y for y, _ in dots], 12, color=BLUE)
        _write_numbers(axes, dots, SMALL)
        axes.set_yticks(range(len(part)), [name for name, _ in part])
        for label, (_, pairs) in zip(axes.get_yticklabels(), part, strict=True):
            label.set_fontweight("bold" if pairs is None else "normal")
        axes.set_ylim(height - 0.4, -0.6)
        axes.set_xscale("log")
        axes.set_xlim(1, 60 * max([cell.value for cell in cells], default=10))
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
    figure.supxlabel("minimal pairs (log scale)", fontsize=8)
    return figure


def figb1(tables: Tables, labels: Labels) -> Exhibit:
    """Appendix B.1: every language with its pairs, by family."""
    sizes = _sizes(tables, labels)
    cells = [
        _cell(labels, labels.languages[lang], "pairs", lang, sizes[lang])
        for members in _families(sizes, labels).values()
        for lang in members
    ]
    families = {labels.languages[lang]: f for lang, f in labels.facts["families"].items()}
    return Exhibit(
        **describe("figb1", limits=_limits(sizes, labels)),
        cells=cells,
        figure=languages_figure(cells, families),
    )


LANGUAGES = 10
LONGEST = 75
"""Characters of the longest sentence that is shown if there are others."""
COLUMNS = ("item_id", "lang", "phenomenon", "paradigm", "good", "bad")
SPANS = ("good_start", "good_end", "bad_start", "bad_end")
Item = dict[str, Any]


def choose_languages(languages: Sequence[str], traits: Mapping[str, Sequence[str]]) -> list[str]:
    """Choose ten languages at most, each as unlike in ``traits`` as can be; ties at random."""
    chosen: list[str] = []
    seen: Counter[str] = Counter()
    left = sorted(languages, key=lambda lang: blake2b(lang.encode(), digest_size=8).digest())
    while left and len(chosen) < LANGUAGES:
        rarest = min(left, key=lambda lang: sum(seen[trait] for trait in traits[lang]))
        left.remove(rarest)
        chosen.append(rarest)
        seen.update(traits[rarest])
    return [lang for lang in languages if lang in chosen]


def choose_item(items: Sequence[Item], used: Counter[str]) -> Item:
    """A pair of certain agreement, not long, of the phenomenon seen least; ties by id."""

    def rank(item: Item) -> tuple[object, ...]:
        return (
            item["label"] not in CERTAIN,
            len(item["good"]) > LONGEST,
            used[item["phenomenon"]],
            item["item_id"],
            item["paradigm"],
        )

    return min(items, key=rank)


def _items_of(paths: Sequence[Path]) -> dict[str, list[Item]]:
    """Items by language, of the languages that have any."""
    columns = [*COLUMNS, *SPANS, "label"]
    tables = (read_table(ITEMS, path, columns).to_pylist() for path in paths)
    return {items[0]["lang"]: items for items in tables if items}


def fig8(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 8: one pair of each of ten languages; the cell's filter names the very item."""
    items = _items_of(tables["items"])
    languages = [lang for lang in labels.languages if lang in items]
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    used: Counter[str] = Counter()
    for lang in choose_languages(languages, labels.facts["traits"]):
        item = choose_item(items[lang], used)
        used[item["phenomenon"]] += 1
        name = labels.languages[lang]
        stub[name] = {"Type": abbreviation(item["phenomenon"])}
        where = {key: item[key] for key in ("lang", "item_id", "paradigm")}
        cells.append(Cell(name, "Pair", 1, marked(item), COUNT, "items", where, n=1))
    return Exhibit(**describe("fig8"), cells=cells, stub=stub, widths={"Pair": 0.65}, textual=True)
