"""Draw MultiBLiMP's pairs by language (Figure 3, B.1), its families (4), and a sample of pairs (8).

Each function takes the paths of the campaign's tables and the names to print, and returns an
exhibit: a figure (Figure 8: a table) with its cells (numbers). The measured form counts rows of the
table of items, which has a row for each pair. The published form reads the numbers of pairs in the
paper's Table 5. Source: appendices A.2, B.1.

The paper's text and captions differ on Figures 3 and 4; these functions follow the captions.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from blimpworks.exhibits import style
from blimpworks.exhibits.descriptions import Description
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, LANGS, SUM
from blimpworks.exhibits.shared import SPANS, Tables, formula_cell, marked, read_plain, read_printed
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.measures import CERTAIN, FEATURES
from blimpworks.tables import ITEMS, read_table

COLOURS = {"certain": style.BLUE, "uncertain": style.ORANGE, "pairs": style.BLUE}
"""Colours of the dots of Figure 3, keyed by the column of their numbers. Agreement is certain if
the tests of the pair's condition say so (``measures.CERTAIN``)."""
PER_PANEL = 60
"""Most languages in a panel, for names that are legible at page width."""
KARO = "kxh"
"""ISO code of another Karo that the release uses for Karo of Brazil, a Tupian language."""


def _describe(key: str, sizes: Mapping[str, int], labels: Labels) -> Description:
    """Return the texts of a figure of ``sizes``: {language: number of pairs}.

    The caption tells how many languages our copy of Table 5 lacks, and the wrong code of Karo.
    """
    languages = labels.languages if labels.source == "published" else sizes
    return describe(key, shown=len(sizes), languages=len(languages), karo=KARO in sizes)


def _cell(labels: Labels, row: str, column: str, lang: list[str] | str, n: int) -> Cell:
    """Make the cell of ``n``: the number of languages or pairs (``column``) of ``lang``."""
    if labels.source == "published":
        formula = COUNT if column == "languages" else SUM
        where = {"exhibit": "table5", "column": "n", "row": lang}
        return Cell(row, column, n, str(n), formula, "published", where)
    formula = LANGS if column == "languages" else COUNT
    return Cell(row, column, n, str(n), formula, "items", {"lang": lang})


def _pair_counts(tables: Tables, labels: Labels) -> dict[str, int]:
    """Return {language: number of pairs} of languages with pairs, in the order of the labels."""
    if labels.source == "published":
        printed = read_printed(tables, exhibit="table5", column="n")
        sizes = dict(zip(printed["row"], printed["value"], strict=True))
    else:
        sizes = read_plain(ITEMS, tables["items"], ["lang"])["lang"].value_counts().to_dict()
    return {lang: int(sizes[lang]) for lang in labels.languages if lang in sizes}


def fig3(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 3: pairs by language; the measured form by certain and uncertain agreement."""
    cells = []
    if labels.source == "published":
        sizes = _pair_counts(tables, labels)
        for lang, n in sizes.items():
            cells.append(_cell(labels, labels.languages[lang], "pairs", lang, n))
        description = _describe("fig3_published", sizes, labels)
    else:
        pairs = read_plain(ITEMS, tables["items"], ["lang", "label"])
        for lang, name in labels.languages.items():
            for column, marks in (("certain", [*CERTAIN]), ("uncertain", ["?"])):
                where = {"lang": lang, "label": marks}
                cell = formula_cell(pairs, (name, column), COUNT, "items", where, "")
                cells.append(replace(cell, n=int(cell.value)))
        description = describe("fig3")
    # Languages without pairs are left out. Most pairs are first, and then most certain pairs.
    counts = style.frame_of(cells).pivot(index="row", columns="column", values="value")
    counts = counts.assign(total=counts.sum(axis=1))
    counts = counts[counts["total"] > 0]
    counts = counts.sort_values(["total", *counts.columns[:-1]], ascending=False, kind="stable")
    # Panels below each other, with equal numbers of languages (the last panel may have fewer).
    panel_count = max(1, math.ceil(len(counts) / PER_PANEL))
    per_panel = max(1, math.ceil(len(counts) / panel_count))
    width = min(style.PAGE_INCHES, max(style.COLUMN_INCHES, 0.16 * per_panel + 1))
    figure = style.new_figure(width, 2.4 * panel_count)
    panels = figure.subplots(panel_count, 1, squeeze=False)[:, 0]
    columns = [column for column in COLOURS if column in counts]
    for number, axes in enumerate(panels):
        languages = counts.iloc[number * per_panel : (number + 1) * per_panel]
        positions = range(len(languages))
        for column, marker in zip(columns, style.MARKERS, strict=False):
            axes.plot(
                positions, languages[column].where(languages[column] > 0), ls="none", marker=marker,
                markersize=3.5, color=COLOURS[column], clip_on=False, label=f"{column} agreement",
            )  # fmt: skip
        axes.set(yscale="log", ylim=(1, 1.6 * max([*counts["total"], 10])))
        axes.set(ylabel="minimal pairs (log scale)", xlim=(-0.7, per_panel - 0.3))
        axes.set_xticks(list(positions), languages.index)
        if per_panel > 4:
            steep = per_panel > PER_PANEL / 2
            look = {"rotation": 90 if steep else 45, "va": "center" if steep else "top"}
            for label in axes.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor", **look)
        axes.tick_params(axis="x", length=0)
        axes.grid(axis="x", visible=False)
    handles, names = panels[0].get_legend_handles_labels()
    if len(handles) > 1:
        figure.legend(handles, names, ncols=2, loc="outside upper right")
    return Exhibit(**description, cells=cells, figure=figure)


def _families(sizes: dict[str, int], labels: Labels) -> dict[str, list[str]]:
    """Return {family: languages}; families with most languages, and then most pairs, are first."""
    families: dict[str, list[str]] = {}
    for lang in sorted(sizes, key=lambda lang: (-sizes[lang], labels.languages[lang])):
        families.setdefault(labels.facts["families"][lang], []).append(lang)

    def rank(family: str) -> tuple[int, int, str]:
        members = families[family]
        return -len(members), -sum(sizes[lang] for lang in members), family

    return {family: families[family] for family in sorted(families, key=rank)}


def _write_numbers(
    axes: Axes, points: Sequence[tuple[int, float]], size: float, lines: int
) -> None:
    """Write numbers beside ``points``, (line, number), in axes with this number of ``lines``."""
    axes.set_ylim(lines - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    for y, n in points:
        axes.annotate(
            f"{n:,.0f}", (n, y), (5, 0), textcoords="offset points", va="center", size=size
        )


def fig4(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 4: a bar for the number of languages, and a dot for the pairs, of each family."""
    sizes = _pair_counts(tables, labels)
    families = _families(sizes, labels)
    cells: list[Cell] = []
    for family, members in families.items():
        cells.append(_cell(labels, family, "languages", members, len(members)))
        cells.append(_cell(labels, family, "pairs", members, sum(sizes[lang] for lang in members)))
    languages = [cell.value for cell in cells if cell.column == "languages"]
    pairs = [cell.value for cell in cells if cell.column == "pairs"]
    figure = style.new_figure(style.PAGE_INCHES * 0.75, 0.6 + 0.17 * max(len(families), 3))
    bars, dots = figure.subplots(1, 2)
    bars.barh([*families], languages, color=style.BLUE)
    bars.set_xlim(0, 1.2 * max(languages, default=10))
    bars.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    bars.set_xlabel("languages")
    dots.scatter(pairs, [*families], color=style.ORANGE)
    dots.set(xscale="log", xlim=(1, 20 * max(pairs, default=10)))
    dots.set_xlabel("minimal pairs (log scale)")
    for axes, values in ((bars, languages), (dots, pairs)):
        _write_numbers(axes, [*enumerate(values)], 7, max(len(families), 2))
    dots.set_yticklabels([])
    return Exhibit(**_describe("fig4", sizes, labels), cells=cells, figure=figure)


LINES_FOR_A_COLUMN = 15
"""Number of lines above which the figure of appendix B.1 has a further column."""
Line = tuple[str, int | None]
"""Text and number of pairs of a line in the figure of appendix B.1; None for a family's heading."""


def _columns_of(families: Mapping[str, Sequence[Line]]) -> list[list[Line]]:
    """Arrange languages below the headings of their families, in up to three similar columns."""
    total = sum(1 + len(members) for members in families.values())  # lines, with headings
    most_columns = min(3, math.ceil(max(total, 1) / LINES_FOR_A_COLUMN))
    height = math.ceil(total / most_columns)
    columns: list[list[Line]] = [[]]
    for family, members in families.items():
        # No column ends in a heading.
        if len(columns[-1]) >= height - 1 and len(columns) < most_columns:
            columns.append([])
        columns[-1].append((f"{family} ({len(members)})", None))
        for member in members:
            if len(columns[-1]) >= height and len(columns) < most_columns:
                columns.append([(f"{family}, continued", None)])
            columns[-1].append(member)
    return columns


def figb1(tables: Tables, labels: Labels) -> Exhibit:
    """Draw the figure of appendix B.1: a dot for the pairs of each language, below its family."""
    sizes, names = _pair_counts(tables, labels), labels.languages
    lines_by_family: dict[str, list[Line]] = {}
    cells: list[Cell] = []
    for family, members in _families(sizes, labels).items():
        lines_by_family[family] = [(names[lang], sizes[lang]) for lang in members]
        cells += [_cell(labels, names[lang], "pairs", lang, sizes[lang]) for lang in members]
    columns = _columns_of(lines_by_family)
    height = max(map(len, columns))
    width = max(style.COLUMN_INCHES, style.PAGE_INCHES * len(columns) / 3)
    figure = style.new_figure(width, 0.6 + 0.135 * max(height, 4))
    grid = figure.subplots(1, len(columns), squeeze=False)[0]
    for axes, lines in zip(grid, columns, strict=True):
        dots = [(y, pairs) for y, (_, pairs) in enumerate(lines) if pairs is not None]
        axes.scatter([n for _, n in dots], [y for y, _ in dots], 12, color=style.BLUE)
        axes.set_yticks(range(len(lines)), [name for name, _ in lines])
        for label, (_, pairs) in zip(axes.get_yticklabels(), lines, strict=True):
            label.set_fontweight("bold" if pairs is None else "normal")
        _write_numbers(axes, dots, style.SMALL, height)
        axes.set(xscale="log", xlim=(1, 60 * max(sizes.values(), default=10)))
    figure.supxlabel("minimal pairs (log scale)", fontsize=8)
    return Exhibit(**_describe("figb1", sizes, labels), cells=cells, figure=figure)


MOST_LANGUAGES = 10
LONGEST_SENTENCE = 75
"""Most characters of a shown sentence, unless all sentences are longer."""
EXAMPLE_COLUMNS = ("item_id", "lang", "phenomenon", "paradigm", "label", "good", "bad", *SPANS)


def choose_languages(languages: Sequence[str], traits: Mapping[str, Sequence[str]]) -> list[str]:
    """Choose up to ten languages that share as few traits as possible.

    ``traits`` has script and family of each language: ``{"deu": ["Latn", "Indo-European"]}``.
    """
    chosen: list[str] = []
    trait_counts: Counter[str] = Counter()  # {trait: number of chosen languages that have it}
    # A hash decides among languages that share as many traits.
    remaining = sorted(languages, key=lambda lang: blake2b(lang.encode(), digest_size=8).digest())
    while remaining and len(chosen) < MOST_LANGUAGES:
        rarest = min(remaining, key=lambda lang: sum(trait_counts[trait] for trait in traits[lang]))
        remaining.remove(rarest)
        chosen.append(rarest)
        trait_counts.update(traits[rarest])
    return [lang for lang in languages if lang in chosen]


def fig8(tables: Tables, labels: Labels) -> Exhibit:
    """Make Figure 8, a table of ten languages with a pair of each: "Dogs [sing/*sings]."."""
    items: dict[str, list[dict[str, Any]]] = {}  # {language: rows of its table}
    for path in tables["items"]:
        if rows := read_table(ITEMS, path, EXAMPLE_COLUMNS).to_pylist():
            items[rows[0]["lang"]] = rows
    languages = [lang for lang in labels.languages if lang in items]
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    phenomenon_counts: Counter[str] = Counter()  # {phenomenon: number of chosen pairs}

    def rank(item: dict[str, Any]) -> tuple[object, ...]:
        """Return the rank of a pair: certain, short, of rare phenomena first; then any order."""
        uncertain, long = item["label"] not in CERTAIN, len(item["good"]) > LONGEST_SENTENCE
        frequency = phenomenon_counts[item["phenomenon"]]
        return uncertain, long, frequency, item["item_id"], item["paradigm"]

    for lang in choose_languages(languages, labels.facts["traits"]):
        item = min(items[lang], key=rank)
        phenomenon_counts[item["phenomenon"]] += 1
        name = labels.languages[lang]
        # "sv#", subject-verb agreement in number, becomes "SV-N".
        code, sign = item["phenomenon"][:2], item["phenomenon"][2:]
        stub[name] = {"Type": f"{code.upper()}-{FEATURES[sign][0][0]}"}
        where = {key: item[key] for key in ("lang", "item_id", "paradigm")}
        cells.append(Cell(name, "Pair", 1, marked(item), COUNT, "items", where, n=1))
    return Exhibit(**describe("fig8"), cells=cells, stub=stub, widths={"Pair": 0.65}, textual=True)
