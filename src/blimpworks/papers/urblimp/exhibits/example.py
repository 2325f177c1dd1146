"""One pair, word by word, that the sum of log-probabilities decides otherwise than their mean.

An exhibit of ours; see ``lengths``.
"""

from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.fonts import font_for
from blimpworks.exhibits.html import direction
from blimpworks.exhibits.shared import Tables, formula_cell, read_plain
from blimpworks.exhibits.style import BLUE, ORANGE, PAGE_INCHES, new_figure, say
from blimpworks.exhibits.texts import language_tag
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.formulas import BITS, BITS_PER_TOKEN
from blimpworks.papers.urblimp.exhibits.models import names_of
from blimpworks.papers.urblimp.phenomena import LANG, PARADIGMS
from blimpworks.papers.urblimp.tables import SURPRISALS

SOURCE = "surprisals"
SIDES = {"good": "Grammatical", "bad": "Ungrammatical"}
COLOURS = {"good": BLUE, "bad": ORANGE}
WORD, END = "Word", "(end)"
IN_ALL, PER_TOKEN = "in all", "per token"
SUMS = ((IN_ALL, BITS, ".1f"), (PER_TOKEN, BITS_PER_TOKEN, ".2f"))
WIDTH = 0.4
"""Of a bar, where the distance of two words is 1."""
Columns = list[dict[str, int | None]]
"""Labels of rows by side, for each place in the figure; None where a sentence has no word."""


def examples_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Surprisal of each word of a pair that the sum decides otherwise than the mean per token.

    Of the first model that predicts each token from those before it, in the paper's language if
    there is one; of any model where none of them predicts so.
    """
    table = read_plain(SURPRISALS, tables[SOURCE][0]).fillna({"word": END})
    shown = [model for model in labels.models if (table["model"] == model).any()]
    causal = [model for model in shown if model in labels.facts["urblimp_left_to_right"]]
    rows = table[table["model"] == next(iter([*causal, *shown]), "")]
    if rows.empty:
        figure = new_figure(PAGE_INCHES, 1.2)
        say(figure.subplots(), "no pair is decided differently")
        return Exhibit(**describe("examples_fig_empty"), cells=[], figure=figure)
    langs = [*rows["lang"]]
    rows = rows[rows["lang"] == (LANG if LANG in langs else langs[0])]

    # Both sentences share places as far as they can.
    sides = {side: rows[rows["side"] == side].sort_values("position") for side in SIDES}
    good, bad = sides.values()
    columns: Columns = []
    matcher = SequenceMatcher(None, [*good["word"]], [*bad["word"]], autojunk=False)
    for _, a, b, c, d in matcher.get_opcodes():
        for span in zip_longest(good.index[a:b], bad.index[c:d]):
            columns.append(dict(zip(SIDES, span, strict=True)))
    words = []
    for indices in columns:
        differing = dict.fromkeys(rows["word"][at] for at in indices.values() if at is not None)
        words.append(" / ".join(differing))

    keys = {key: str(rows[key].iloc[0]) for key in ("model", "lang", "paradigm", "item_id")}
    cells: dict[tuple[str, str], Cell] = {}
    for number, indices in enumerate(columns, start=1):
        for side, at in indices.items():
            if at is not None:
                where: dict[str, Any] = {
                    **keys,
                    "side": side,
                    "position": int(rows["position"][at]),
                }
                place = (str(number), SIDES[side])
                cells[place] = formula_cell(rows.loc[[at]], place, BITS, SOURCE, where, ".1f")
    for side, name in SIDES.items():
        of_side, where = rows[rows["side"] == side], {**keys, "side": side}
        n = int(of_side["tokens"].sum())
        for row, formula, form in SUMS:
            cells[row, name] = formula_cell(of_side, (row, name), formula, SOURCE, where, form, n=n)

    figure = new_figure(PAGE_INCHES, 2.6)
    axes = figure.subplots()
    for shift, (side, name) in zip((-0.5, 0.5), SIDES.items(), strict=True):
        places = [at for at in range(len(words)) if (str(at + 1), name) in cells]
        bits = [cells[str(at + 1), name].value for at in places]
        total, mean = cells[IN_ALL, name], cells[PER_TOKEN, name]
        label = f"{name}: {total.text} bits in {total.n} tokens, {mean.text} per token"
        heights = [at + shift * WIDTH for at in places]
        axes.bar(heights, bits, WIDTH, color=COLOURS[side], label=label)
    # Without a font of the script, words are numbered, and listed in the caption.
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
    figure.legend(loc="outside upper center", ncols=2)

    numbered = {str(number): word for number, word in enumerate(words, start=1)}
    listed = ", ".join(f"{number} {word}" for number, word in numbered.items())
    return Exhibit(
        **describe(
            "examples_fig",
            paradigm=PARADIGMS[keys["paradigm"]],
            model=names_of(labels.models)[keys["model"]],
            listed="" if family else f" Words: {listed}.",
        ),
        cells=[*cells.values()],
        stub={row: {WORD: word} for row, word in {**numbered, IN_ALL: "", PER_TOKEN: ""}.items()},
        figure=figure,
        written_in={(row, WORD): language_tag(keys["lang"]) for row in numbered},
    )
