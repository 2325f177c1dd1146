"""Decisions by the mean per token beside decisions by the sum of log-probabilities.

An exhibit of ours, about section 3.1 of Adeeba, Dillon, Sajjad and Bhatt (2025), who compare
perplexities, which are means per token.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from blimpworks.analysis.accuracy import wilson
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import TOTAL
from blimpworks.exhibits.shared import Tables, counted, read_plain
from blimpworks.exhibits.style import BLUE, GREY, ORANGE, PAGE_INCHES, house_style, new_figure, say
from blimpworks.papers.urblimp.exhibits.formulas import percent_of
from blimpworks.papers.urblimp.exhibits.models import names_of
from blimpworks.papers.urblimp.phenomena import PARADIGMS
from blimpworks.papers.urblimp.tables import LENGTHS

SOURCE = "lengths"
CHANGES = ("deletion", "replacement", "move")
ALL = "all pairs"
PAIRS, UNEQUAL, DIFFERENTLY = "Pairs", "Unequal tokens", "Decided differently"
BY_TOKEN, BY_SUM = "Accuracy by token", "Accuracy in sum"
RIGHT = {BY_TOKEN: "by_token", BY_SUM: "by_sum"}
SHARES = {UNEQUAL: "unequal", **RIGHT, DIFFERENTLY: "differently"}
COLUMNS = (PAIRS, *SHARES)
HEADS = {
    UNEQUAL: ("Unequal", "tokens"),
    BY_TOKEN: ("Accuracy", "by token"),
    BY_SUM: ("Accuracy", "in sum"),
    DIFFERENTLY: ("Decided", "differently"),
}
MARKS: dict[str, dict[str, Any]] = {
    BY_TOKEN: {"fmt": "o", "color": ORANGE, "markerfacecolor": "white", "markersize": 5},
    BY_SUM: {"fmt": "D", "color": BLUE, "markersize": 3},
}
WHY = (
    "A word that the rest of the sentence makes likely costs few bits: the sentence that keeps it "
    "has more bits in sum, but fewer per token, so that deletions look easier by token"
)
Evaluation = tuple[str, str, str]
"""Model, language, and what both are called."""


def _read(tables: Tables, labels: Labels) -> pd.DataFrame:
    rows = read_plain(LENGTHS, tables[SOURCE][0])
    return rows[rows["model"].isin(labels.models)]


def _evaluations(rows: pd.DataFrame, labels: Labels) -> list[Evaluation]:
    """Models in the order of the paper's tables; with the language where there are several."""
    several = rows["lang"].nunique() > 1
    found = []
    for model, name in names_of(labels.models).items():
        for lang in dict.fromkeys(rows["lang"][rows["model"] == model]):
            told = f" ({labels.languages.get(lang, lang)})" if several else ""
            found.append((model, lang, f"{name}{told}"))
    return found


def _changes(rows: pd.DataFrame) -> list[str]:
    found = {*rows["change"]}
    return [change for change in CHANGES if change in found] + sorted(found - {*CHANGES})


def _cells(rows: pd.DataFrame, row: str, where: Mapping[str, Any]) -> Iterator[Cell]:
    """Pairs, and what the two make of them in percent; accuracies with Wilson's interval."""
    n = int(rows["n"].sum())
    yield Cell(row, PAIRS, n, f"{n:,}", TOTAL, SOURCE, where, n=n)
    for column, name in SHARES.items():
        of = float(rows[name].sum())
        low, high = wilson(of, n) if column in RIGHT else (None, None)
        yield Cell(
            row,
            column,
            100 * of / n,
            f"{100 * of / n:.1f}",
            percent_of(name),
            SOURCE,
            where,
            n=n,
            low=None if low is None else 100 * low,
            high=None if high is None else 100 * high,
        )


def _by_change(rows: pd.DataFrame, one: Evaluation) -> Iterator[Cell]:
    """Rows of a model: each kind of change, and all pairs."""
    model, lang, name = one
    where = {"model": model, "lang": lang}
    for change in _changes(rows):
        yield from _cells(
            rows[rows["change"] == change], f"{name}: {change}", {**where, "change": change}
        )
    yield from _cells(rows, f"{name}: {ALL}", where)


def _by_paradigm(rows: pd.DataFrame, one: Evaluation) -> Iterator[Cell]:
    """Rows of a model: each paradigm, by kind of change where it has several."""
    model, lang, name = one
    for paradigm, title in PARADIGMS.items():
        inside = rows[rows["paradigm"] == paradigm]
        changes = _changes(inside)
        for change in changes:
            where = {"model": model, "lang": lang, "paradigm": paradigm, "change": change}
            told = f", {change}" if len(changes) > 1 else ""
            found = inside[inside["change"] == change]
            yield from _cells(found, f"{name}: {title}{told}", where)


def _section(title: str, cells: Sequence[Cell], one: Evaluation) -> Section:
    """Rows of a model under its name."""
    name = one[2]
    rows = {cell.row: cell.row.removeprefix(f"{name}: ") for cell in cells}
    return Section(title, {f"{name}, {title}": name, **rows}, [*COLUMNS])


def lengths(tables: Tables, labels: Labels) -> Exhibit:
    """What pairs of unequal length do to decisions: by kind of change, then by paradigm."""
    rows = _read(tables, labels)
    cells: list[Cell] = []
    sections: list[Section] = []
    for title, make in (("Kind of pair", _by_change), ("Paradigm", _by_paradigm)):
        for one in _evaluations(rows, labels):
            own = rows[(rows["model"] == one[0]) & (rows["lang"] == one[1])]
            made = list(make(own, one))
            cells += made
            sections.append(_section(title, made, one))
    return Exhibit(
        "Decisions by token and in sum",
        "In percent: pairs whose two sentences have different numbers of tokens by the model's "
        "own cut; pairs whose grammatical sentence has the higher mean of its tokens' "
        "log-probabilities (the lower perplexity), and the higher sum; pairs that the two decide "
        f"differently. {WHY}.",
        cells,
        row_title="Kind of pair",
        heads=HEADS,
        sections=sections,
    )


# Figure


def _counts(row: str, column: str, change: str) -> bool:
    """Whether a cell is how many pairs of a kind of change a model has judged."""
    return column == PAIRS and row.endswith(f": {change}")


def _draw(axes: Axes, cells: Sequence[Cell], change: str, names: Sequence[str]) -> None:
    """Both accuracies of each model on the pairs of one kind of change."""
    found = {(cell.row, cell.column): cell for cell in cells}
    for place, name in enumerate(names):
        row = f"{name}: {change}"
        if (row, PAIRS) not in found:
            axes.text(50, place, "none", ha="center", va="center", color=GREY, fontsize=6)
            continue
        for shift, (column, mark) in zip((-0.12, 0.12), MARKS.items(), strict=True):
            cell = found[row, column]
            low, high = cell.low or 0.0, cell.high or 0.0
            ends = [[cell.value - low], [high - cell.value]]
            axes.errorbar(cell.value, place + shift, xerr=ends, lw=0.8, label=column, **mark)
        share = found[row, DIFFERENTLY].text
        axes.text(105, place, share, va="center", fontsize=6, color=GREY, clip_on=False)
    n = max(cell.value for (row, column), cell in found.items() if _counts(row, column, change))
    axes.axvline(50, color=GREY, lw=0.6, ls="--")
    axes.set_title(f"{change}, {counted(int(n), 'pair')}", fontsize=7)
    axes.set(xlim=(-3, 103), ylim=(len(names) - 0.5, -0.5), xticks=[0, 25, 50, 75, 100])
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def lengths_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy of each model by token and in sum, a panel for each kind of change."""
    rows = _read(tables, labels)
    found = _evaluations(rows, labels)
    cells = [
        cell
        for one in found
        for cell in _by_change(rows[(rows["model"] == one[0]) & (rows["lang"] == one[1])], one)
    ]
    names, changes = [name for _, _, name in found], _changes(rows)
    with house_style():
        figure = new_figure(PAGE_INCHES, 1.0 + 0.27 * max(len(names), 2))
        if names:
            panels = figure.subplots(1, len(changes), sharey=True, squeeze=False)[0]
            for axes, change in zip(panels, changes, strict=True):
                _draw(axes, cells, change, names)
            panels[0].set_yticks(range(len(names)), names)
            handles, titles = panels[0].get_legend_handles_labels()
            shown = dict(zip(titles, handles, strict=True))
            figure.legend(shown.values(), shown, loc="outside upper center", ncols=2)
            figure.supxlabel("accuracy (%)", fontsize=8)
        else:
            say(figure.subplots(), "no scores")
    return Exhibit(
        "Decisions by token and in sum, by kind of change",
        "Accuracy by the mean of the tokens' log-probabilities (perplexity) and by their sum, "
        "with 95 % Wilson intervals; at the right the percentage of pairs that the two decide "
        f"differently; broken line: chance. {WHY}.",
        cells,
        row_title="Model and change",
        figure=figure,
    )
