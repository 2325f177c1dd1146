"""One pair that the mean per token and the sum decide differently, word by word.

An exhibit of ours, about section 3.1 of Adeeba, Dillon, Sajjad and Bhatt (2025).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.fonts import font_for
from blimpworks.exhibits.html import direction
from blimpworks.exhibits.shared import Tables, formula_cell, read_plain
from blimpworks.exhibits.style import BLUE, ORANGE, PAGE_INCHES, new_figure, say
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.formulas import BITS, BITS_PER_TOKEN
from blimpworks.papers.urblimp.exhibits.models import names_of
from blimpworks.papers.urblimp.exhibits.samples import tag_of
from blimpworks.papers.urblimp.phenomena import LANG, PARADIGMS
from blimpworks.papers.urblimp.tables import SURPRISALS

SOURCE = "surprisals"
SIDES = {"good": "Grammatical", "bad": "Ungrammatical"}
COLOURS = {"good": BLUE, "bad": ORANGE}
WORD, END = "Word", "(end)"
TOTAL, PER_TOKEN = "in all", "per token"
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
    table = read_plain(SURPRISALS, tables[SOURCE][0]).fillna({"word": END})
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
                cells.append(formula_cell(pair.rows.loc[[at]], spot, BITS, SOURCE, where, ".1f"))
    return cells


def _sums(pair: Pair) -> list[Cell]:
    """Bits of each sentence in all and per token."""
    cells = []
    for side, name in SIDES.items():
        own, where = pair.rows[pair.rows["side"] == side], pair.where(side)
        n = int(own["tokens"].sum())
        for row, formula, style in ((TOTAL, BITS, ".1f"), (PER_TOKEN, BITS_PER_TOKEN, ".2f")):
            cells.append(formula_cell(own, (row, name), formula, SOURCE, where, style, n=n))
    return cells


def _draw(axes: Axes, pair: Pair, cells: Sequence[Cell]) -> str | None:
    """Bars of both sentences, the first word where its script begins; the font of the words."""
    by_place = {(cell.row, cell.column): cell for cell in cells}
    words = pair.words
    for shift, (side, name) in zip((-0.5, 0.5), SIDES.items(), strict=True):
        bits = {
            place: by_place[str(place + 1), name].value
            for place in range(len(words))
            if (str(place + 1), name) in by_place
        }
        total, mean = (by_place[row, name] for row in (TOTAL, PER_TOKEN))
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


def _empty() -> Exhibit:
    figure = new_figure(PAGE_INCHES, 1.2)
    say(figure.subplots(), "no pair is decided differently")
    return Exhibit(**describe("examples_fig_empty"), cells=[], figure=figure)


def examples_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Surprisal of each word of a pair that the sum decides otherwise than the mean per token."""
    rows = _chosen(tables, labels)
    if rows.empty:
        return _empty()
    pair = Pair.of(rows)
    cells = [*_word_cells(pair), *_sums(pair)]
    figure = new_figure(PAGE_INCHES, 2.6)
    axes = figure.subplots()
    family = _draw(axes, pair, cells)
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
        stub={**words, TOTAL: {WORD: ""}, PER_TOKEN: {WORD: ""}},
        figure=figure,
        written_in={(row, WORD): tag_of(where["lang"]) for row in words},
    )
