"""Show decisions by the mean per token beside decisions by the sum of log-probabilities.

These exhibits are ours. Section 3.1 of Adeeba, Dillon, Sajjad and Bhatt (2025) compares
perplexities, which are means per token.
"""

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import wilson
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section, language_tag
from blimpworks.exhibits.formulas import TOTAL, select_rows
from blimpworks.exhibits.render import direction
from blimpworks.exhibits.shared import Tables, counted, formula_cell, read_plain
from blimpworks.exhibits.style import BLUE, GREY, ORANGE, PAGE_INCHES, empty_figure, new_figure, say
from blimpworks.exhibits.text_layout import font_for
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.evaluation import model_names
from blimpworks.papers.urblimp.exhibits.formulas import BITS, BITS_PER_TOKEN, percent_of
from blimpworks.papers.urblimp.phenomena import LANG, PARADIGMS
from blimpworks.papers.urblimp.tables import LENGTHS, SURPRISALS

SOURCE = "lengths"
CHANGES = ("deletion", "replacement", "move")
ALL_PAIRS = "all pairs"
PAIRS, UNEQUAL, DIFFERENTLY = "Pairs", "Unequal tokens", "Decided differently"
BY_TOKEN, BY_SUM = "Accuracy by token", "Accuracy in sum"
RIGHT = {BY_TOKEN: "by_token", BY_SUM: "by_sum"}
SHARES = {UNEQUAL: "unequal", **RIGHT, DIFFERENTLY: "differently"}
LENGTH_HEADS = {
    UNEQUAL: ("Unequal", "tokens"),
    BY_TOKEN: ("Accuracy", "by token"),
    BY_SUM: ("Accuracy", "in sum"),
    DIFFERENTLY: ("Decided", "differently"),
}
MARKS: dict[str, dict[str, Any]] = {
    BY_TOKEN: {"fmt": "o", "color": ORANGE, "markerfacecolor": "white", "markersize": 5},
    BY_SUM: {"fmt": "D", "color": BLUE, "markersize": 3},
}


def _read(tables: Tables, labels: Labels) -> tuple[pd.DataFrame, dict[str, dict[str, Any]]]:
    """Read the table of lengths; return it with a filter for each model and language, by name."""
    rows = read_plain(LENGTHS, tables[SOURCE][0])
    rows = rows[rows["model"].isin(labels.models)]
    multilingual = rows["lang"].nunique() > 1
    evaluations: dict[str, dict[str, Any]] = {}
    for model, name in model_names(labels.models).items():
        for lang in dict.fromkeys(rows["lang"][rows["model"] == model]):
            language = f" ({labels.languages.get(lang, lang)})" if multilingual else ""
            evaluations[f"{name}{language}"] = {"model": model, "lang": lang}
    return rows, evaluations


def _changes(rows: pd.DataFrame) -> list[str]:
    present = {*rows["change"]}
    return [change for change in dict.fromkeys([*CHANGES, *sorted(present)]) if change in present]


def _cells(rows: pd.DataFrame, row: str, where: Mapping[str, Any]) -> Iterator[Cell]:
    """Yield a row of cells for the pairs that ``where`` selects, with Wilson's intervals."""
    rows = select_rows(rows, where)
    n = int(rows["n"].sum())
    yield formula_cell(rows, (row, PAIRS), TOTAL, SOURCE, where, n=n)
    for column, name in SHARES.items():
        fields: dict[str, Any] = {"n": n}
        if column in RIGHT:
            low, high = wilson(float(rows[name].sum()), n)
            fields |= {"low": 100 * low, "high": 100 * high}
        yield formula_cell(rows, (row, column), percent_of(name), SOURCE, where, ".1f", **fields)


def _by_change(rows: pd.DataFrame, name: str, where: Mapping[str, Any]) -> Iterator[Cell]:
    """Yield a model's cells for each type of change, and for all pairs."""
    for change in _changes(select_rows(rows, where)):
        yield from _cells(rows, f"{name}: {change}", {**where, "change": change})
    yield from _cells(rows, f"{name}: {ALL_PAIRS}", where)


def _by_paradigm(rows: pd.DataFrame, name: str, where: Mapping[str, Any]) -> Iterator[Cell]:
    for paradigm, title in PARADIGMS.items():
        inside = {**where, "paradigm": paradigm}
        changes = _changes(select_rows(rows, inside))
        for change in changes:
            row = f"{name}: {title}" + (f", {change}" if len(changes) > 1 else "")
            yield from _cells(rows, row, {**inside, "change": change})


def lengths(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate the effect of unequal lengths on decisions, by type of change and by paradigm."""
    rows, evaluations = _read(tables, labels)
    cells: list[Cell] = []
    sections: list[Section] = []
    for title, make in (("Kind of pair", _by_change), ("Paradigm", _by_paradigm)):
        for name, where in evaluations.items():
            of_model = [*make(rows, name, where)]
            cells += of_model
            titles = {f"{name}, {title}": name}
            titles |= {cell.row: cell.row.removeprefix(f"{name}: ") for cell in of_model}
            sections.append(Section(title, titles, [PAIRS, *SHARES]))
    return Exhibit(**describe("lengths"), cells=cells, heads=LENGTH_HEADS, sections=sections)


def lengths_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Draw the accuracy of each model by token and in sum, a panel for each type of change."""
    rows, evaluations = _read(tables, labels)
    cells = [c for name, where in evaluations.items() for c in _by_change(rows, name, where)]
    names, changes = [*evaluations], _changes(rows)
    by_place = {(cell.row, cell.column): cell for cell in cells}
    figure = new_figure(PAGE_INCHES, 1.0 + 0.27 * max(len(names), 2))
    if names:
        panels = figure.subplots(1, len(changes), sharey=True, squeeze=False)[0]
        for axes, change in zip(panels, changes, strict=True):
            n = 0
            for height, name in enumerate(names):
                row = f"{name}: {change}"
                if (row, PAIRS) not in by_place:
                    axes.text(50, height, "none", ha="center", va="center", color=GREY, fontsize=6)
                    continue
                n = max(n, by_place[row, PAIRS].n or 0)
                for shift, (column, mark) in zip((-0.12, 0.12), MARKS.items(), strict=True):
                    cell = by_place[row, column]
                    low, high = cell.low or 0.0, cell.high or 0.0
                    ends = [[cell.value - low], [high - cell.value]]
                    axes.errorbar(
                        cell.value, height + shift, xerr=ends, lw=0.8, label=column, **mark
                    )
                share = by_place[row, DIFFERENTLY].text
                axes.text(105, height, share, va="center", fontsize=6, color=GREY, clip_on=False)
            axes.axvline(50, color=GREY, lw=0.6, ls="--")
            axes.set_title(f"{change}, {counted(n, 'pair')}", fontsize=7)
            axes.set(xlim=(-3, 103), ylim=(len(names) - 0.5, -0.5), xticks=[0, 25, 50, 75, 100])
            axes.grid(axis="y", visible=False)
            axes.tick_params(axis="y", length=0)
        panels[0].set_yticks(range(len(names)), names)
        handles, titles = panels[0].get_legend_handles_labels()
        entries = dict(zip(titles, handles, strict=True))
        figure.legend(entries.values(), entries, loc="outside upper center", ncols=2)
        figure.supxlabel("accuracy (%)", fontsize=8)
    else:
        say(figure.subplots(), "no scores")
    return Exhibit(**describe("lengths_fig"), cells=cells, figure=figure)


# One pair, word by word

OF_WORDS = "surprisals"
SIDE_NAMES = {"good": "Grammatical", "bad": "Ungrammatical"}
COLOURS = {"good": BLUE, "bad": ORANGE}
WORD, END = "Word", "(end)"
IN_ALL, PER_TOKEN = "in all", "per token"
SUMS = ((IN_ALL, BITS, ".1f"), (PER_TOKEN, BITS_PER_TOKEN, ".2f"))
BAR_WIDTH = 0.4
"""Width of a bar; two words are 1 apart."""
Columns = list[dict[str, int | None]]
"""Row labels by side, for each column of words; None if a sentence has no word there."""


def examples_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Draw the surprisal of each word in a pair that sum and mean per token decide differently."""
    table = read_plain(SURPRISALS, tables[OF_WORDS][0]).fillna({"word": END})
    models = [model for model in labels.models if (table["model"] == model).any()]
    causal = [model for model in models if model in labels.facts["urblimp_left_to_right"]]
    rows = table[table["model"] == next(iter([*causal, *models]), "")]
    if rows.empty:
        figure = empty_figure("no pair is decided differently", height=1.2)
        return Exhibit(**describe("examples_fig_empty"), cells=[], figure=figure)
    langs = [*rows["lang"]]
    rows = rows[rows["lang"] == (LANG if LANG in langs else langs[0])]

    # Words that both sentences have share a column.
    sides = {side: rows[rows["side"] == side].sort_values("position") for side in SIDE_NAMES}
    good, bad = sides.values()
    columns: Columns = []
    matcher = SequenceMatcher(None, [*good["word"]], [*bad["word"]], autojunk=False)
    for _, start, end, bad_start, bad_end in matcher.get_opcodes():
        for labels_of_rows in zip_longest(good.index[start:end], bad.index[bad_start:bad_end]):
            columns.append(dict(zip(SIDE_NAMES, labels_of_rows, strict=True)))
    sentence_words = []
    for indices in columns:
        differing = dict.fromkeys(rows["word"][at] for at in indices.values() if at is not None)
        sentence_words.append(" / ".join(differing))

    keys = {key: str(rows[key].iloc[0]) for key in ("model", "lang", "paradigm", "item_id")}
    cells: dict[tuple[str, str], Cell] = {}
    for number, indices in enumerate(columns, start=1):
        for side, at in indices.items():
            if at is not None:
                position, title = int(rows["position"][at]), (str(number), SIDE_NAMES[side])
                where: dict[str, Any] = {**keys, "side": side, "position": position}
                cells[title] = formula_cell(rows.loc[[at]], title, BITS, OF_WORDS, where, ".1f")
    for side, name in SIDE_NAMES.items():
        of_side, where = rows[rows["side"] == side], {**keys, "side": side}
        n = int(of_side["tokens"].sum())
        for row, formula, form in SUMS:
            title = (row, name)
            cells[title] = formula_cell(of_side, title, formula, OF_WORDS, where, form, n=n)

    figure = new_figure(PAGE_INCHES, 2.6)
    axes = figure.subplots()
    for shift, (side, name) in zip((-0.5, 0.5), SIDE_NAMES.items(), strict=True):
        word_positions = [at for at in range(len(sentence_words)) if (str(at + 1), name) in cells]
        bits = [cells[str(at + 1), name].value for at in word_positions]
        total, mean = cells[IN_ALL, name], cells[PER_TOKEN, name]
        label = f"{name}: {total.text} bits in {total.n} tokens, {mean.text} per token"
        positions = [at + shift * BAR_WIDTH for at in word_positions]
        axes.bar(positions, bits, BAR_WIDTH, color=COLOURS[side], label=label)
    # Without a font for the script, the axis has numbers and the caption lists the words.
    family = font_for(sentence_words)
    numbers = [str(number) for number in range(1, len(sentence_words) + 1)]
    axes.set_xticks(range(len(numbers)), sentence_words if family else numbers)
    for tick in axes.get_xticklabels():
        tick.set(fontfamily=family or "sans-serif", fontsize=9 if family else 7)
    if direction(" ".join(sentence_words)) == "rtl":
        axes.invert_xaxis()
        axes.yaxis.tick_right()
        axes.yaxis.set_label_position("right")
        axes.spines[["left", "right"]].set_visible(False)
    axes.set(ylabel="surprisal (bits)")
    axes.grid(visible=False, axis="x")
    figure.legend(loc="outside upper center", ncols=2)

    numbered = dict(zip(numbers, sentence_words, strict=True))
    listed = ", ".join(f"{number} {word}" for number, word in numbered.items())
    return Exhibit(
        **describe(
            "examples_fig",
            paradigm=PARADIGMS[keys["paradigm"]],
            model=model_names(labels.models)[keys["model"]],
            listed="" if family else f" Words: {listed}.",
        ),
        cells=[*cells.values()],
        stub={row: {WORD: word} for row, word in {**numbered, IN_ALL: "", PER_TOKEN: ""}.items()},
        figure=figure,
        written_in={(row, WORD): language_tag(keys["lang"]) for row in numbered},
    )
