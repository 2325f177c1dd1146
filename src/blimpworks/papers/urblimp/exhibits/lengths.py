"""Decisions by the mean per token beside decisions by the sum of log-probabilities.

Exhibits of ours, about section 3.1 of Adeeba, Dillon, Sajjad and Bhatt (2025), who compare
perplexities, which are means per token: all pairs by kind of change, and one pair word by word.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes

from blimpworks.analysis.accuracy import wilson
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.fonts import font_for
from blimpworks.exhibits.formulas import TOTAL, select_rows
from blimpworks.exhibits.html import direction
from blimpworks.exhibits.shared import Tables, counted, formula_cell, read_plain
from blimpworks.exhibits.style import BLUE, GREY, ORANGE, PAGE_INCHES, new_figure, say
from blimpworks.exhibits.texts import language_tag
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.formulas import BITS, BITS_PER_TOKEN, percent_of
from blimpworks.papers.urblimp.exhibits.models import names_of
from blimpworks.papers.urblimp.phenomena import LANG, PARADIGMS
from blimpworks.papers.urblimp.tables import LENGTHS, SURPRISALS

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


class Evaluation(NamedTuple):
    """A model on a language, and what both are called."""

    model: str
    lang: str
    name: str

    @property
    def where(self) -> dict[str, str]:
        """What selects its rows."""
        return {"model": self.model, "lang": self.lang}


def _read(tables: Tables, labels: Labels) -> pd.DataFrame:
    rows = read_plain(LENGTHS, tables[SOURCE][0])
    return rows[rows["model"].isin(labels.models)]


def _evaluations(rows: pd.DataFrame, labels: Labels) -> list[Evaluation]:
    """Models in the order of the paper's tables; with the language where there are several."""
    several = rows["lang"].nunique() > 1
    return [
        Evaluation(model, lang, f"{name} ({labels.languages.get(lang, lang)})" if several else name)
        for model, name in names_of(labels.models).items()
        for lang in dict.fromkeys(rows["lang"][rows["model"] == model])
    ]


def _changes(rows: pd.DataFrame) -> list[str]:
    """Kinds of changes that there are, in their order."""
    present = {*rows["change"]}
    return [change for change in dict.fromkeys([*CHANGES, *sorted(present)]) if change in present]


def _cells(rows: pd.DataFrame, row: str, where: Mapping[str, Any]) -> Iterator[Cell]:
    """Pairs, and what the two compute from them in percent; accuracies with Wilson's interval.

    Of the ``rows``, those that ``where`` selects.
    """
    own = select_rows(rows, where)
    n = int(own["n"].sum())
    yield formula_cell(own, (row, PAIRS), TOTAL, SOURCE, where, n=n)
    for column, name in SHARES.items():
        bounds = {}
        if column in RIGHT:
            ends = wilson(float(own[name].sum()), n)
            bounds = {side: 100 * end for side, end in zip(("low", "high"), ends, strict=True)}
        place, formula = (row, column), percent_of(name)
        yield formula_cell(own, place, formula, SOURCE, where, ".1f", n=n, **bounds)


def _by_change(rows: pd.DataFrame, evaluation: Evaluation) -> Iterator[Cell]:
    """Rows of a model: each kind of change, and all pairs."""
    where, name = evaluation.where, evaluation.name
    for change in _changes(select_rows(rows, where)):
        yield from _cells(rows, f"{name}: {change}", {**where, "change": change})
    yield from _cells(rows, f"{name}: {ALL}", where)


def _by_paradigm(rows: pd.DataFrame, evaluation: Evaluation) -> Iterator[Cell]:
    """Rows of a model: each paradigm, by kind of change where it has several."""
    for paradigm, title in PARADIGMS.items():
        where = {**evaluation.where, "paradigm": paradigm}
        changes = _changes(select_rows(rows, where))
        for change in changes:
            row = f"{evaluation.name}: {title}" + (f", {change}" if len(changes) > 1 else "")
            yield from _cells(rows, row, {**where, "change": change})


def _section(title: str, cells: Sequence[Cell], name: str) -> Section:
    """Rows of a model under its name."""
    rows = {cell.row: cell.row.removeprefix(f"{name}: ") for cell in cells}
    return Section(title, {f"{name}, {title}": name, **rows}, [*COLUMNS])


def lengths(tables: Tables, labels: Labels) -> Exhibit:
    """What pairs of unequal length do to decisions: by kind of change, then by paradigm."""
    rows = _read(tables, labels)
    cells: list[Cell] = []
    sections: list[Section] = []
    for title, make in (("Kind of pair", _by_change), ("Paradigm", _by_paradigm)):
        for evaluation in _evaluations(rows, labels):
            own = list(make(rows, evaluation))
            cells += own
            sections.append(_section(title, own, evaluation.name))
    return Exhibit(**describe("lengths"), cells=cells, heads=HEADS, sections=sections)


# Figure


def _draw(axes: Axes, cells: Sequence[Cell], change: str, names: Sequence[str]) -> None:
    """Both accuracies of each model on the pairs of one kind of change."""
    by_place = {(cell.row, cell.column): cell for cell in cells}
    for place, name in enumerate(names):
        row = f"{name}: {change}"
        if (row, PAIRS) not in by_place:
            axes.text(50, place, "none", ha="center", va="center", color=GREY, fontsize=6)
            continue
        for shift, (column, mark) in zip((-0.12, 0.12), MARKS.items(), strict=True):
            cell = by_place[row, column]
            low, high = cell.low or 0.0, cell.high or 0.0
            ends = [[cell.value - low], [high - cell.value]]
            axes.errorbar(cell.value, place + shift, xerr=ends, lw=0.8, label=column, **mark)
        share = by_place[row, DIFFERENTLY].text
        axes.text(105, place, share, va="center", fontsize=6, color=GREY, clip_on=False)
    n = max(by_place[place].n or 0 for place in by_place if place[0].endswith(f": {change}"))
    axes.axvline(50, color=GREY, lw=0.6, ls="--")
    axes.set_title(f"{change}, {counted(n, 'pair')}", fontsize=7)
    axes.set(xlim=(-3, 103), ylim=(len(names) - 0.5, -0.5), xticks=[0, 25, 50, 75, 100])
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def lengths_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy of each model by token and in sum, a panel for each kind of change."""
    rows = _read(tables, labels)
    evaluations = _evaluations(rows, labels)
    cells = [cell for evaluation in evaluations for cell in _by_change(rows, evaluation)]
    names, changes = [evaluation.name for evaluation in evaluations], _changes(rows)
    figure = new_figure(PAGE_INCHES, 1.0 + 0.27 * max(len(names), 2))
    if names:
        panels = figure.subplots(1, len(changes), sharey=True, squeeze=False)[0]
        for axes, change in zip(panels, changes, strict=True):
            _draw(axes, cells, change, names)
        panels[0].set_yticks(range(len(names)), names)
        handles, titles = panels[0].get_legend_handles_labels()
        entries = dict(zip(titles, handles, strict=True))
        figure.legend(entries.values(), entries, loc="outside upper center", ncols=2)
        figure.supxlabel("accuracy (%)", fontsize=8)
    else:
        say(figure.subplots(), "no scores")
    return Exhibit(**describe("lengths_fig"), cells=cells, figure=figure)


# One pair, word by word

WORDS_SOURCE = "surprisals"
SIDES = {"good": "Grammatical", "bad": "Ungrammatical"}
COLOURS = {"good": BLUE, "bad": ORANGE}
WORD, END = "Word", "(end)"
IN_ALL, PER_TOKEN = "in all", "per token"
WIDTH = 0.4
"""Of a bar, where the distance of two words is 1."""


@dataclass(frozen=True)
class Pair:
    """The words of a pair, in places that both sentences share as far as they can.

    ``places`` are rows of the table by side, None where the sentence has no word.
    """

    rows: pd.DataFrame
    places: list[dict[str, int | None]]

    @classmethod
    def of(cls, rows: pd.DataFrame) -> "Pair":
        """The pair of some surprisals, which are of one model's pair."""
        sides = {side: rows[rows["side"] == side].sort_values("position") for side in SIDES}
        words = {side: [*own["word"]] for side, own in sides.items()}
        index = {side: [*own.index] for side, own in sides.items()}
        places: list[dict[str, int | None]] = []
        matcher = SequenceMatcher(None, words["good"], words["bad"], autojunk=False)
        for _, a, b, c, d in matcher.get_opcodes():
            spans = zip_longest(index["good"][a:b], index["bad"][c:d])
            places += [dict(zip(SIDES, span, strict=True)) for span in spans]
        return cls(rows, places)

    def word(self, place: int) -> str:
        """The word at a place, both if they differ."""
        words = [self.rows["word"][at] for at in self.places[place].values() if at is not None]
        return " / ".join(dict.fromkeys(words))

    @property
    def words(self) -> list[str]:
        """Words of all places."""
        return [self.word(place) for place in range(len(self.places))]

    def where(self, side: str) -> dict[str, Any]:
        """What selects the words of one sentence."""
        keys = ("model", "lang", "paradigm", "item_id")
        return {key: str(self.rows[key].iloc[0]) for key in keys} | {"side": side}


def _chosen(tables: Tables, labels: Labels) -> pd.DataFrame:
    """The words of the pair of the first model that predicts each token from those before it.

    In the paper's language if there is one; of any model where none of them predicts so.
    """
    table = read_plain(SURPRISALS, tables[WORDS_SOURCE][0]).fillna({"word": END})
    known = [model for model in labels.models if (table["model"] == model).any()]
    causal = [model for model in known if model in labels.facts["urblimp_left_to_right"]]
    rows = table[table["model"] == next(iter([*causal, *known]), "")]
    langs = [*rows["lang"]]
    return rows[rows["lang"] == (LANG if LANG in langs else next(iter(langs), ""))]


def _word_cells(pair: Pair) -> list[Cell]:
    """Bits of each word of both sentences."""
    cells = []
    for number, place in enumerate(pair.places, start=1):
        for side, at in place.items():
            if at is not None:
                where = {**pair.where(side), "position": int(pair.rows["position"][at])}
                spot = (str(number), SIDES[side])
                cells.append(
                    formula_cell(pair.rows.loc[[at]], spot, BITS, WORDS_SOURCE, where, ".1f")
                )
    return cells


def _sums(pair: Pair) -> list[Cell]:
    """Bits of each sentence in all and per token."""
    cells = []
    for side, name in SIDES.items():
        own, where = pair.rows[pair.rows["side"] == side], pair.where(side)
        n = int(own["tokens"].sum())
        for row, formula, style in ((IN_ALL, BITS, ".1f"), (PER_TOKEN, BITS_PER_TOKEN, ".2f")):
            cells.append(formula_cell(own, (row, name), formula, WORDS_SOURCE, where, style, n=n))
    return cells


def _draw_words(axes: Axes, pair: Pair, cells: Sequence[Cell]) -> str | None:
    """Bars of both sentences, the first word where its script begins; the font of the words."""
    by_place = {(cell.row, cell.column): cell for cell in cells}
    words = pair.words
    for shift, (side, name) in zip((-0.5, 0.5), SIDES.items(), strict=True):
        bits = {
            place: by_place[str(place + 1), name].value
            for place in range(len(words))
            if (str(place + 1), name) in by_place
        }
        total, mean = (by_place[row, name] for row in (IN_ALL, PER_TOKEN))
        label = f"{name}: {total.text} bits in {total.n} tokens, {mean.text} per token"
        at = [place + shift * WIDTH for place in bits]
        axes.bar(at, [*bits.values()], WIDTH, color=COLOURS[side], label=label)
    family = font_for(words)
    axes.set_xticks(range(len(words)), words if family else [str(n + 1) for n in range(len(words))])
    for tick in axes.get_xticklabels():
        tick.set(fontfamily=family or "sans-serif", fontsize=9 if family else 7)
    if direction(" ".join(words)) == "rtl":
        axes.invert_xaxis()
        axes.yaxis.tick_right()
        axes.yaxis.set_label_position("right")
        axes.spines[["left", "right"]].set_visible(False)
    axes.set(ylabel="surprisal (bits)")
    axes.grid(visible=False, axis="x")
    return family


def _no_example() -> Exhibit:
    figure = new_figure(PAGE_INCHES, 1.2)
    say(figure.subplots(), "no pair is decided differently")
    return Exhibit(**describe("examples_fig_empty"), cells=[], figure=figure)


def examples_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Surprisal of each word of a pair that the sum decides otherwise than the mean per token."""
    rows = _chosen(tables, labels)
    if rows.empty:
        return _no_example()
    pair = Pair.of(rows)
    cells = [*_word_cells(pair), *_sums(pair)]
    figure = new_figure(PAGE_INCHES, 2.6)
    axes = figure.subplots()
    family = _draw_words(axes, pair, cells)
    figure.legend(loc="outside upper center", ncols=2)
    words = {str(number): {WORD: word} for number, word in enumerate(pair.words, start=1)}
    where = pair.where("good")
    numbered = ", ".join(f"{number} {stub[WORD]}" for number, stub in words.items())
    listed = "" if family else f" Words: {numbered}."
    return Exhibit(
        **describe(
            "examples_fig",
            paradigm=PARADIGMS[where["paradigm"]],
            model=names_of(labels.models)[where["model"]],
            listed=listed,
        ),
        cells=cells,
        stub={**words, IN_ALL: {WORD: ""}, PER_TOKEN: {WORD: ""}},
        figure=figure,
        written_in={(row, WORD): language_tag(where["lang"]) for row in words},
    )
