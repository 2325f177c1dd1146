"""One pair that the mean per token and the sum decide differently, word by word.

An exhibit of ours, about section 3.1 of Adeeba, Dillon, Sajjad and Bhatt (2025).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.fonts import font_for
from blimpworks.exhibits.html import direction
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.exhibits.style import BLUE, ORANGE, PAGE_INCHES, house_style, new_figure, say
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
TITLE = "A pair that lengths decide"


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
        matched = SequenceMatcher(None, words["good"], words["bad"], autojunk=False)
        for _, a, b, c, d in matched.get_opcodes():
            spans = {"good": index["good"][a:b], "bad": index["bad"][c:d]}
            places += [
                {side: span[at] if at < len(span) else None for side, span in spans.items()}
                for at in range(max(b - a, d - c))
            ]
        return cls(rows, places)

    def word(self, place: int) -> str:
        """The word at a place, both if they differ."""
        found = [self.rows["word"][at] for at in self.places[place].values() if at is not None]
        return " / ".join(dict.fromkeys(found))

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
    found = read_plain(SURPRISALS, tables[SOURCE][0]).fillna({"word": END})
    known = [model for model in labels.models if (found["model"] == model).any()]
    wanted = [model for model in known if model in labels.facts["urblimp_left_to_right"]]
    rows = found[found["model"] == next(iter([*wanted, *known]), "")]
    langs = [*rows["lang"]]
    return rows[rows["lang"] == (LANG if LANG in langs else next(iter(langs), ""))]


def _word_cells(pair: Pair) -> list[Cell]:
    cells = []
    for number, place in enumerate(pair.places, start=1):
        for side, at in place.items():
            if at is not None:
                where = {**pair.where(side), "position": int(pair.rows["position"][at])}
                bits = float(pair.rows["bits"][at])
                spot = (str(number), SIDES[side])
                cells.append(Cell(*spot, bits, f"{bits:.1f}", BITS, SOURCE, where))
    return cells


def _sums(pair: Pair) -> list[Cell]:
    """Bits of each sentence in all and per token."""
    cells = []
    for side, name in SIDES.items():
        own = pair.rows[pair.rows["side"] == side]
        bits, tokens = float(own["bits"].sum()), int(own["tokens"].sum())
        for row, formula, value in (
            (TOTAL, BITS, bits),
            (PER_TOKEN, BITS_PER_TOKEN, bits / tokens),
        ):
            text = f"{value:.{1 if row == TOTAL else 2}f}"
            cells.append(Cell(row, name, value, text, formula, SOURCE, pair.where(side), n=tokens))
    return cells


def _draw(axes: Axes, pair: Pair, cells: Sequence[Cell]) -> str | None:
    """Bars of both sentences, the first word where its script begins; the font of the words."""
    found = {(cell.row, cell.column): cell for cell in cells}
    words = pair.words
    for shift, (side, name) in zip((-0.5, 0.5), SIDES.items(), strict=True):
        bits = {
            place: found[str(place + 1), name].value
            for place in range(len(words))
            if (str(place + 1), name) in found
        }
        total, mean = (found[row, name] for row in (TOTAL, PER_TOKEN))
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
    with house_style():
        figure = new_figure(PAGE_INCHES, 1.2)
        say(figure.subplots(), "no pair is decided differently")
    return Exhibit(TITLE, "No pair is decided differently by token and in sum.", [], figure=figure)


def examples_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Surprisal of each word of a pair that the sum decides otherwise than the mean per token."""
    rows = _chosen(tables, labels)
    if rows.empty:
        return _empty()
    pair = Pair.of(rows)
    cells = [*_word_cells(pair), *_sums(pair)]
    with house_style():
        figure = new_figure(PAGE_INCHES, 2.6)
        axes = figure.subplots()
        family = _draw(axes, pair, cells)
        figure.legend(loc="outside upper center", ncols=2)
    words = {str(number): {WORD: word} for number, word in enumerate(pair.words, start=1)}
    where = pair.where("good")
    listed = "" if family else f" Words: {_listed(words)}."
    return Exhibit(
        TITLE,
        f"A pair of the paradigm {PARADIGMS[where['paradigm']]} in bits of "
        f"{names_of(labels.models)[where['model']]}: of the paradigm with most deletions, among "
        "the pairs that the two decide differently (short ones, if there are), that whose means "
        "per token are furthest apart. In sum the model prefers the sentence of fewer bits; by "
        f"perplexity that of fewer bits per token.{listed}",
        cells,
        row_title="Place",
        stub={**words, TOTAL: {WORD: ""}, PER_TOKEN: {WORD: ""}},
        figure=figure,
        written_in={(row, WORD): tag_of(where["lang"]) for row in words},
    )


def _listed(words: dict[str, dict[str, str]]) -> str:
    return ", ".join(f"{number} {told[WORD]}" for number, told in words.items())
