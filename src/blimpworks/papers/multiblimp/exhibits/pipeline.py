"""How a minimal pair is made, followed on one pair of the campaign.

Source: Jumelet, Weissweiler, Nivre and Bisazza (2025), Figure 2.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from matplotlib.figure import Figure

from blimpworks.exhibits.exhibit import Exhibit, Labels
from blimpworks.exhibits.pen import BAND, ELLIPSIS, FAINT, INK, Pen, Run, canvas, step
from blimpworks.exhibits.shared import Tables
from blimpworks.exhibits.style import BLUE, GREEN, PAGE_INCHES, new_figure, say
from blimpworks.exhibits.texts import language_tag
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.accuracies import PHENOMENA
from blimpworks.papers.multiblimp.exhibits.stage_boxes import (
    SMALL,
    Spelling,
    draw_agreement,
    draw_balance,
    draw_candidate,
    draw_inflection,
    draw_pair,
)
from blimpworks.papers.multiblimp.exhibits.stages import COLUMN, Stages, follow_pair, stage_cells
from blimpworks.papers.multiblimp.items.features import COLUMNS_OF

GAP = 9.0
"""Between two words, in points."""
NAMES = ("form", "lemma", "class", "relation", "features")
FORM = 8.5
MOST_FEATURES = 8
LEVEL = 12.0
"""Height of an arc above that of the next lower one."""


@dataclass(frozen=True, slots=True)
class Column:
    """A word as drawn, from top to bottom, with its CoNLL-U id, 0 where others are left out."""

    word: int
    runs: tuple[Run, ...]

    @property
    def width(self) -> float:
        """Width of its widest line, in points."""
        return max(run.width for run in self.runs)


def _column(stages: Stages, spelling: Spelling, word: int, colour: str | None) -> Column:
    """Form, lemma, class and relation of a word, and all features of one that the pair is about."""
    row = stages.word_at[word]
    shade = colour or FAINT
    runs = [
        spelling.run(row["form"], FORM, colour or INK, bold=colour is not None),
        spelling.run(row["lemma"] or "_", SMALL, shade),
        Run(row["upos"] or "_", SMALL, shade),
        Run(row["deprel"] or "_", SMALL, shade),
    ]
    feats = (row["feats"] or "").split("|") if colour else []
    for text in feats[:MOST_FEATURES] + ([ELLIPSIS] if len(feats) > MOST_FEATURES else []):
        agreeing = text.partition("=")[0] in COLUMNS_OF[stages.feature]
        runs.append(Run(text, SMALL, shade if agreeing else FAINT, bold=agreeing))
    return Column(word, tuple(runs))


def fitting_columns(columns: Sequence[Column], needed: set[int], width: float) -> list[Column]:
    """Keep the ``needed`` words and those next to them, as the width has room for."""
    kept = [*columns]
    while len(kept) > len(needed) and _total(_elided(columns, kept)) > width:
        far = max(
            (column for column in kept if column.word not in needed),
            key=lambda column: (min(abs(column.word - word) for word in needed), column.word),
        )
        kept.remove(far)
    return _elided(columns, kept)


def _elided(columns: Sequence[Column], kept: Sequence[Column]) -> list[Column]:
    """The kept columns, with one of an ellipsis for each stretch of others."""
    elided: list[Column] = []
    for column in columns:
        if column in kept:
            elided.append(column)
        elif not elided or elided[-1].word:
            elided.append(Column(0, (Run(ELLIPSIS, FORM, FAINT),)))
    return elided


def _total(columns: Sequence[Column]) -> float:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def draw_tree(
    pen: Pen, stages: Stages, spelling: Spelling, x: float, y: float, width: float
) -> float:
    """Words side by side, arcs from the verb above, features below; returns the height."""
    candidate = stages.candidate
    colours = {
        candidate["verb"]: INK,
        candidate["subject"]: BLUE,
        candidate["inflected"]: GREEN,
    }
    columns = [_column(stages, spelling, w["word"], colours.get(w["word"])) for w in stages.words]
    left = max(Run(name, SMALL).width for name in NAMES) + 10
    columns = fitting_columns(columns, {*colours}, width - left)
    # Head, dependent and name of the relations drawn, short ones first.
    edge, words = stages.candidate, stages.word_at
    pairs = {(edge["verb"], edge["subject"])}
    if edge["inflected"] != edge["verb"]:
        pairs.add((edge["verb"], edge["inflected"]))
    named = [(head, word, words[word]["deprel"] or "_") for head, word in pairs]
    relations = sorted(named, key=lambda relation: (abs(relation[0] - relation[1]), relation))
    top = y + LEVEL * len(relations) + 2
    most = max(len(column.runs) for column in columns)
    lines = [[c.runs[n] for c in columns if n < len(c.runs)] for n in range(most)]
    steps = [step(above, below) for above, below in zip([[], *lines], lines, strict=False)]
    baselines = [top + 1.5 + total for total in accumulate(steps)]
    centres = _centres(columns, spelling.rtl, x + left, width - left)
    for column, centre in centres:
        for run, baseline in zip(column.runs, baselines, strict=False):
            pen.text(centre, baseline, run, "center")
    at = {column.word: centre for column, centre in centres}
    for level, (head, word, relation) in enumerate(relations, start=1):
        side = 2.5 * level * (1 if at[word] > at[head] else -1)
        start, height = at[head] + side, LEVEL * level - 2
        pen.curve((start, top), (at[word], top), height)
        label = Run(relation, SMALL)
        middle = (start + at[word]) / 2
        pen.rectangle(middle - label.width / 2 - 2, top - height - 4, label.width + 4, 8, "#FFFFFF")
        pen.text(middle, top - height + 2, label, "center")
    for name, baseline in zip(NAMES, baselines, strict=False):
        pen.text(x, baseline, Run(name, SMALL, FAINT))
    return baselines[-1] + 3 - y


def _centres(
    columns: Sequence[Column], rtl: bool, x: float, width: float
) -> list[tuple[Column, float]]:
    """Columns with the middle of each, from the right if ``rtl``; the room is shared evenly."""
    spare = max(width - _total(columns), 0)
    gap = GAP + min(spare / max(len(columns), 1), 5 * GAP)
    placed, at = [], 0.0
    for column in columns:
        middle = at + column.width / 2
        placed.append((column, x + width - middle if rtl else x + middle))
        at += column.width + gap
    return placed


WIDTH = PAGE_INCHES * 72
EDGE, INNER, HEAD, GUTTER = 1.0, 6.0, 14.0, 13.0
"""Around the figure, inside a box, height of a box's heading, between boxes [points]."""
HEADING = 7.2
SHARES = (0.26, 0.33, 0.41)
"""Widths of the boxes of the second row, for each of the page."""
PAIR_SHARE = 0.62

Draw = Callable[[Pen, float, float, float], float]
"""Draws the inside of a box at x, y, in a width; returns its height."""


@dataclass(frozen=True, slots=True)
class Box:
    """One box: its heading, what stands at the heading's right, and its inside."""

    heading: str
    beside: str
    width: float
    draw: Draw

    def height(self) -> float:
        """Height in points, heading and margins included."""
        return HEAD + self.draw(Pen(), 0, 0, self.width - 2 * INNER) + 2 * INNER

    def drawn(self, pen: Pen, x: float, y: float, height: float) -> None:
        """Draw it with its top left corner at ``x``, ``y``."""
        pen.box(x, y, self.width, height)
        pen.box(x, y, self.width, HEAD, BAND)
        used = pen.text(x + INNER, y + HEAD - 4.3, Run(self.heading, HEADING, bold=True))
        beside = Run(self.beside, SMALL, FAINT).fitted(self.width - 3 * INNER - used)
        pen.text(x + self.width - INNER, y + HEAD - 4.3, beside, "right")
        self.draw(pen, x + INNER, y + HEAD + INNER, self.width - 2 * INNER)


def _rows(
    stages: Stages, spelling: Spelling, language: str, choice: Mapping[str, Any]
) -> list[list[Box]]:
    """The boxes of Figure 2, in three rows."""

    def drawn(function: Callable[..., float], *more: Any) -> Draw:
        return lambda pen, x, y, width: function(pen, stages, *more, x, y, width)

    item, full = stages.item, WIDTH - 2 * EDGE
    room = full - 2 * GUTTER
    origin = f"{item['treebank']}, {item['sent_id']}"
    second = [share * room for share in SHARES]
    pair = PAIR_SHARE * (full - GUTTER)
    return [
        [Box("1  Sentence of a treebank", origin, full, drawn(draw_tree, spelling))],
        [
            Box("2  Extract", "§4.1", second[0], drawn(draw_candidate, spelling)),
            Box(
                f"3  Validate in {language}",
                "§4.2",
                second[1],
                drawn(draw_agreement, choice["null"]),
            ),
            Box("4  Inflect", "§4.3", second[2], drawn(draw_inflection, spelling)),
        ],
        [
            Box("5  Minimal pair", f"item {item['item_id']}", pair, drawn(draw_pair, spelling)),
            Box("6  Balance", "§4.4", full - GUTTER - pair, drawn(draw_balance, choice["limit"])),
        ],
    ]


def draw(stages: Stages, spelling: Spelling, language: str, choice: Mapping[str, Any]) -> Figure:
    """All boxes of a pair, with the arrows from each to the next."""
    rows = _rows(stages, spelling, language, choice)
    heights = [max(box.height() for box in row) for row in rows]
    figure, pen = canvas(WIDTH, sum(heights) + GUTTER * (len(rows) - 1) + 2 * EDGE)
    y = EDGE
    for row, height in zip(rows, heights, strict=True):
        x = EDGE
        for number, box in enumerate(row):
            if number:
                middle = y + height / 2
                pen.arrow([(x - GUTTER + 1, middle), (x - 1, middle)])
            box.drawn(pen, x, y, height)
            x += box.width + GUTTER
        y += height + GUTTER
    # Arrows from the sentence to the candidate, and from the last form to the pair.
    at = EDGE + rows[1][0].width / 2
    below = EDGE + heights[0]
    pen.arrow([(at, below + 1), (at, below + GUTTER - 1)])
    below += GUTTER + heights[1]
    start, end = WIDTH - EDGE - rows[1][2].width / 2, EDGE + rows[2][0].width / 2
    turn = below + GUTTER / 2 - 1
    pen.arrow([(start, below), (start, turn), (end, turn), (end, below + GUTTER - 1)])
    return figure


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 2: one pair of the campaign at every stage. Raises UserError for an unknown pair."""
    choice = labels.facts["figure2"]
    language, tag = labels.languages[choice["language"]], language_tag(choice["language"])
    stages = follow_pair(tables, choice)
    if stages is None:
        empty = new_figure(PAGE_INCHES, 1.2)
        say(empty.subplots(), f"{language} has no pairs")
        return Exhibit(**describe("fig2_empty", language=language), cells=[], figure=empty)
    cells = stage_cells(stages)
    spelling = Spelling.of(stages)
    figure = draw(stages, spelling, language, choice)
    construction, feature = PHENOMENA[stages.item["phenomenon"]]
    numbered = ", ".join(f"{number} {text}" for text, number in spelling.numbers.items())
    return Exhibit(
        **describe(
            "fig2",
            language=language,
            construction=construction.lower(),
            feature=feature.lower(),
            words=f" Words: {numbered}." if numbered else "",
        ),
        cells=[each.cell for each in cells],
        stub={each.cell.row: {"Stage": each.stage} for each in cells},
        figure=figure,
        textual=True,
        written_in={(each.cell.row, COLUMN): tag for each in cells if each.foreign},
    )
