"""Make UrBLiMP's exhibits on length: decisions by the mean per token beside decisions by the sum.

A model decides a pair by the sum of token log-probabilities ("in sum", "in all") or by their mean
("by token", "per token"). The decisions can differ if the two sentences have different numbers of
tokens. ``lengths`` tabulates this and ``lengths_fig`` draws it, from the table "lengths" of
``analysis.compare_lengths``: numbers of pairs by model, language, paradigm and change. A model in a
language is called an evaluation here. ``examples_fig`` draws one pair, from the table "surprisals"
(a row per word).
Section 3.1 of Adeeba, Dillon, Sajjad and Bhatt (2025) compares perplexities; the exhibits are ours.
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blimpworks.analysis.accuracy import wilson
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section, language_tag
from blimpworks.exhibits.fonts import font_for
from blimpworks.exhibits.formulas import N_SUM, select_rows
from blimpworks.exhibits.render import direction
from blimpworks.exhibits.shared import Tables, counted, formula_cell, read_plain
from blimpworks.exhibits.style import BLUE, GREY, ORANGE, PAGE_INCHES, empty_figure, new_figure, say
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.evaluation import model_names
from blimpworks.papers.urblimp.exhibits.formulas import BITS, BITS_PER_TOKEN, percent_of
from blimpworks.papers.urblimp.phenomena import LANG, PARADIGMS
from blimpworks.papers.urblimp.tables import LENGTHS, SURPRISALS

SOURCE = "lengths"
CHANGES = ("deletion", "replacement", "move")
"""Types of change between the sentences of a pair."""
ALL_PAIRS = "all pairs"
PAIRS, UNEQUAL, DIFFERENTLY = "Pairs", "Unequal tokens", "Decided differently"
BY_TOKEN, BY_SUM = "Accuracy by token", "Accuracy in sum"
ACCURACY_COLUMNS = {BY_TOKEN: "by_token", BY_SUM: "by_sum"}
SHARES = {UNEQUAL: "unequal", **ACCURACY_COLUMNS, DIFFERENTLY: "differently"}
"""{heading of a percentage: column of the table that counts its pairs}."""
LENGTH_HEADS = {title: title.partition(" ")[::2] for title in SHARES}
"""{heading: its two lines}, such as ("Unequal", "tokens"), without the space between them."""
MARKS: dict[str, dict[str, Any]] = {
    BY_TOKEN: {"fmt": "o", "color": ORANGE, "markerfacecolor": "white", "markersize": 5},
    BY_SUM: {"fmt": "D", "color": BLUE, "markersize": 3},
}
"""Options of ``errorbar`` by column of accuracies."""
Cells = dict[tuple[str, str], Cell]
"""Cells by row and column."""


def _read_table(tables: Tables, labels: Labels) -> tuple[pd.DataFrame, dict[str, dict[str, Any]]]:
    """Return the rows of the table of lengths, and {printed name of an evaluation: its filter}."""
    rows = read_plain(LENGTHS, tables[SOURCE][0])
    rows = rows[rows["model"].isin(labels.models)]
    multilingual = rows["lang"].nunique() > 1
    # Such as {"5-gram (Hindi)": {"model": "ngram-5", "lang": "hin"}}.
    evaluations: dict[str, dict[str, Any]] = {}
    for model, name in model_names(labels.models).items():
        for lang in dict.fromkeys(rows["lang"][rows["model"] == model]):
            language = f" ({labels.languages.get(lang, lang)})" if multilingual else ""
            evaluations[f"{name}{language}"] = {"model": model, "lang": lang}
    return rows, evaluations


def _list_changes(rows: pd.DataFrame) -> list[str]:
    """Return the types of change in ``rows``: ``CHANGES`` first, then others."""
    present = {*rows["change"]}
    return [change for change in dict.fromkeys([*CHANGES, *sorted(present)]) if change in present]


def _cells(rows: pd.DataFrame, row: str, where: Mapping[str, Any]) -> Iterator[Cell]:
    """Yield a row's cells (numbers with formulas) on the pairs that ``where`` selects."""
    counts = select_rows(rows, where)
    n = int(counts["n"].sum())
    yield formula_cell(counts, (row, PAIRS), N_SUM, SOURCE, where, n=n)
    for heading, column in SHARES.items():
        fields: dict[str, Any] = {"n": n}
        if heading in ACCURACY_COLUMNS:
            low, high = wilson(float(counts[column].sum()), n)
            fields |= {"low": 100 * low, "high": 100 * high}
        formula = percent_of(column)
        yield formula_cell(counts, (row, heading), formula, SOURCE, where, ".1f", **fields)


def _by_change(rows: pd.DataFrame, name: str, where: Mapping[str, Any]) -> Iterator[Cell]:
    """Yield an evaluation's cells for each type of change, and for all pairs."""
    for change in _list_changes(select_rows(rows, where)):
        yield from _cells(rows, f"{name}: {change}", {**where, "change": change})
    yield from _cells(rows, f"{name}: {ALL_PAIRS}", where)


def _by_paradigm(rows: pd.DataFrame, name: str, where: Mapping[str, Any]) -> Iterator[Cell]:
    for paradigm, title in PARADIGMS.items():
        paradigm_where = {**where, "paradigm": paradigm}
        changes = _list_changes(select_rows(rows, paradigm_where))
        for change in changes:
            row = f"{name}: {title}" + (f", {change}" if len(changes) > 1 else "")
            yield from _cells(rows, row, {**paradigm_where, "change": change})


def lengths(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate the effect of unequal lengths on decisions, by type of change and by paradigm."""
    rows, evaluations = _read_table(tables, labels)
    cells: list[Cell] = []
    sections: list[Section] = []
    for title, make_cells in (("Kind of pair", _by_change), ("Paradigm", _by_paradigm)):
        for name, where in evaluations.items():
            section_cells = [*make_cells(rows, name, where)]
            cells += section_cells
            # A row with the evaluation's name as a heading, and below it the rows of the cells.
            titles = {f"{name}, {title}": name}
            titles |= {cell.row: cell.row.removeprefix(f"{name}: ") for cell in section_cells}
            sections.append(Section(title, titles, [PAIRS, *SHARES]))
    return Exhibit(**describe("lengths"), cells=cells, heads=LENGTH_HEADS, sections=sections)


def _draw_panel(axes: Axes, change: str, names: Sequence[str], cells: Cells) -> None:
    """Draw accuracies on the pairs of a type of change; evaluations (``names``) are in rows."""
    # The panel's title has the highest number of pairs; evaluations may have fewer.
    highest = 0
    for height, name in enumerate(names):
        row = f"{name}: {change}"
        if (row, PAIRS) not in cells:
            axes.text(50, height, "none", ha="center", va="center", color=GREY, fontsize=6)
            continue
        highest = max(highest, cells[row, PAIRS].n or 0)
        for shift, (column, mark) in zip((-0.12, 0.12), MARKS.items(), strict=True):
            cell, y = cells[row, column], height + shift
            # ``or 0.0`` is for the type checker: ``_cells`` gives accuracies an interval.
            low, high = cell.low or 0.0, cell.high or 0.0
            ends = [[cell.value - low], [high - cell.value]]
            axes.errorbar(cell.value, y, xerr=ends, lw=0.8, label=column, **mark)
        # The percentage of pairs that are decided differently is at the end of the line.
        share = cells[row, DIFFERENTLY].text
        axes.text(105, height, share, va="center", fontsize=6, color=GREY, clip_on=False)
    axes.axvline(50, color=GREY, lw=0.6, ls="--")
    axes.set_title(f"{change}, {counted(highest, 'pair')}", fontsize=7)
    axes.set(xlim=(-3, 103), ylim=(len(names) - 0.5, -0.5), xticks=[0, 25, 50, 75, 100])
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def lengths_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Draw each model's accuracy by token and in sum, in a panel for each type of change."""
    rows, evaluations = _read_table(tables, labels)
    names, changes = [*evaluations], _list_changes(rows)
    cells: Cells = {}
    for name, where in evaluations.items():
        cells |= {(cell.row, cell.column): cell for cell in _by_change(rows, name, where)}
    figure = new_figure(PAGE_INCHES, 1.0 + 0.27 * max(len(names), 2))
    if names:
        panels = figure.subplots(1, len(changes), sharey=True, squeeze=False)[0]
        for axes, change in zip(panels, changes, strict=True):
            _draw_panel(axes, change, names, cells)
        panels[0].set_yticks(range(len(names)), names)
        # Each evaluation has added both marks; the legend shows each mark once.
        handles, titles = panels[0].get_legend_handles_labels()
        entries = dict(zip(titles, handles, strict=True))
        figure.legend(entries.values(), entries, loc="outside upper center", ncols=2)
        figure.supxlabel("accuracy (%)", fontsize=8)
    else:
        say(figure.subplots(), "no scores")
    return Exhibit(**describe("lengths_fig"), cells=[*cells.values()], figure=figure)


# One pair, word by word
OF_WORDS = "surprisals"
SIDE_NAMES = {"good": "Grammatical", "bad": "Ungrammatical"}
COLOURS = {"good": BLUE, "bad": ORANGE}
WORD, END = "Word", "(end)"
IN_ALL, PER_TOKEN = "in all", "per token"
SUMS = ((IN_ALL, BITS, ".1f"), (PER_TOKEN, BITS_PER_TOKEN, ".2f"))
"""(row, formula, format) of numbers of a whole sentence."""
BAR_WIDTH = 0.4
"""Width of a bar; two words are 1 apart."""


def _align_words(rows: pd.DataFrame) -> list[dict[str, int]]:
    """Align the words of two sentences in columns of the figure; equal words share a column.

    A column is {side: index in ``rows`` of the word}, such as {"good": 4, "bad": 9} or {"good": 4}.
    """
    good, bad = (rows[rows["side"] == side].sort_values("position") for side in SIDE_NAMES)
    columns: list[dict[str, int]] = []
    matcher = SequenceMatcher(None, [*good["word"]], [*bad["word"]], autojunk=False)
    for _, start, end, bad_start, bad_end in matcher.get_opcodes():
        for pair in zip_longest(good.index[start:end], bad.index[bad_start:bad_end]):
            indices = dict(zip(SIDE_NAMES, pair, strict=True))
            columns.append({side: index for side, index in indices.items() if index is not None})
    return columns


def _draw_words(cells: Cells, numbers: Sequence[str], titles: Sequence[str]) -> Figure:
    """Draw bars of surprisal; ``numbers`` and ``titles`` are those of the columns of words."""
    figure = new_figure(PAGE_INCHES, 2.6)
    axes = figure.subplots()
    for shift, (side, name) in zip((-0.5, 0.5), SIDE_NAMES.items(), strict=True):
        total, mean = cells[IN_ALL, name], cells[PER_TOKEN, name]
        label = f"{name}: {total.text} bits in {total.n} tokens, {mean.text} per token"
        heights = {
            x + shift * BAR_WIDTH: cells[number, name].value
            for x, number in enumerate(numbers)
            if (number, name) in cells
        }
        axes.bar([*heights], [*heights.values()], BAR_WIDTH, color=COLOURS[side], label=label)
    # Without a font for the script, the axis has numbers and the caption lists the words.
    family = font_for(titles)
    axes.set_xticks(range(len(numbers)), titles if family else numbers)
    for tick in axes.get_xticklabels():
        tick.set(fontfamily=family or "sans-serif", fontsize=9 if family else 7)
    if direction(" ".join(titles)) == "rtl":
        axes.invert_xaxis()
        axes.yaxis.tick_right()
        axes.yaxis.set_label_position("right")
        axes.spines[["left", "right"]].set_visible(False)
    axes.set(ylabel="surprisal (bits)")
    axes.grid(visible=False, axis="x")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def examples_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Draw the surprisal of each word in a pair that sum and mean per token decide differently."""
    # The table has a pair for each model and language. The first causal model is drawn, if any.
    table = read_plain(SURPRISALS, tables[OF_WORDS][0]).fillna({"word": END})
    models = [model for model in labels.models if (table["model"] == model).any()]
    causal = [model for model in models if model in labels.facts["urblimp_left_to_right"]]
    if not models:
        figure = empty_figure("no pair is decided differently", height=1.2)
        return Exhibit(**describe("examples_fig_empty"), cells=[], figure=figure)
    rows = table[table["model"] == [*causal, *models][0]]
    langs = [*rows["lang"]]
    rows = rows[rows["lang"] == (LANG if LANG in langs else langs[0])]

    keys = {key: str(rows[key].iloc[0]) for key in ("model", "lang", "paradigm", "item_id")}
    # Cells have columns of the figure (by number) and ``SUMS`` in rows, and sides in columns.
    cells: Cells = {}
    titles: dict[str, str] = {}  # {number: a word that both sides have, or "word / other word"}
    for number, indices in enumerate(_align_words(rows), start=1):
        titles[str(number)] = " / ".join(dict.fromkeys(rows["word"][[*indices.values()]]))
        for side, index in indices.items():
            position, cell_key = int(rows["position"][index]), (str(number), SIDE_NAMES[side])
            where: dict[str, Any] = {**keys, "side": side, "position": position}
            word = rows.loc[[index]]
            cells[cell_key] = formula_cell(word, cell_key, BITS, OF_WORDS, where, ".1f")
    for side, name in SIDE_NAMES.items():
        sentence, where = rows[rows["side"] == side], {**keys, "side": side}
        n = int(sentence["tokens"].sum())
        for row, formula, form in SUMS:
            cell_key = (row, name)
            cells[cell_key] = formula_cell(sentence, cell_key, formula, OF_WORDS, where, form, n=n)

    return Exhibit(
        **describe(
            "examples_fig",
            paradigm=PARADIGMS[keys["paradigm"]],
            model=model_names(labels.models)[keys["model"]],
            words={} if font_for([*titles.values()]) else titles,
        ),
        cells=[*cells.values()],
        stub={row: {WORD: title} for row, title in {**titles, IN_ALL: "", PER_TOKEN: ""}.items()},
        figure=_draw_words(cells, [*titles], [*titles.values()]),
        written_in={(row, WORD): language_tag(keys["lang"]) for row in titles},
    )
