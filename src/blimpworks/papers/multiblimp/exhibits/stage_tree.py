"""The first box of Figure 2: words of a treebank's sentence, and the relations that matter."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from blimpworks.exhibits.pen import ELLIPSIS, FAINT, INK, Pen, Run, step
from blimpworks.exhibits.style import BLUE, GREEN
from blimpworks.papers.multiblimp.exhibits.stage_boxes import SMALL, Spelling
from blimpworks.papers.multiblimp.exhibits.stages import Stages
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


def _colours(stages: Stages) -> dict[int, str]:
    """Colours of the words that the pair is about; the head of the subject is in ink."""
    candidate = stages.candidate
    return {
        candidate["verb"]: INK,
        candidate["subject"]: BLUE,
        candidate["inflected"]: GREEN,
    }


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
    """Words that the width has room for: the ``needed`` ones and those next to them.

    An ellipsis stands where words are left out.
    """
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
    """Width of columns side by side, in points."""
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def _relations(stages: Stages) -> list[tuple[int, int, str]]:
    """Head, dependent and name of the relations drawn, short ones first."""
    candidate, words = stages.candidate, stages.word_at
    pairs = {(candidate["verb"], candidate["subject"])}
    if candidate["inflected"] != candidate["verb"]:
        pairs.add((candidate["verb"], candidate["inflected"]))
    named = [(head, word, words[word]["deprel"] or "_") for head, word in pairs]
    return sorted(named, key=lambda relation: (abs(relation[0] - relation[1]), relation))


def draw_tree(
    pen: Pen, stages: Stages, spelling: Spelling, x: float, y: float, width: float
) -> float:
    """Words side by side, arcs from the verb above, features below; returns the height."""
    colours = _colours(stages)
    columns = [_column(stages, spelling, w["word"], colours.get(w["word"])) for w in stages.words]
    left = max(Run(name, SMALL).width for name in NAMES) + 10
    columns = fitting_columns(columns, {*colours}, width - left)
    relations = _relations(stages)
    top = y + LEVEL * len(relations) + 2
    baselines = _baselines(columns, top)
    centres = _centres(columns, spelling.rtl, x + left, width - left)
    for column, centre in centres:
        for run, baseline in zip(column.runs, baselines, strict=False):
            pen.text(centre, baseline, run, "center")
    at = {column.word: centre for column, centre in centres}
    _draw_relations(pen, relations, at, top)
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


def _baselines(columns: Sequence[Column], top: float) -> list[float]:
    """Baselines of all lines of the columns, below ``top``."""
    most = max(len(column.runs) for column in columns)
    lines = [[c.runs[n] for c in columns if n < len(c.runs)] for n in range(most)]
    steps = [step(above, below) for above, below in zip([[], *lines], lines, strict=False)]
    return [top + 1.5 + total for total in accumulate(steps)]


def _draw_relations(
    pen: Pen, relations: Sequence[tuple[int, int, str]], at: dict[int, float], top: float
) -> None:
    """An arc for each relation, the longer ones higher, with its name on it."""
    for level, (head, word, name) in enumerate(relations, start=1):
        side = 2.5 * level * (1 if at[word] > at[head] else -1)
        start, height = at[head] + side, LEVEL * level - 2
        pen.curve((start, top), (at[word], top), height)
        label = Run(name, SMALL)
        middle = (start + at[word]) / 2
        pen.rectangle(middle - label.width / 2 - 2, top - height - 4, label.width + 4, 8, "#FFFFFF")
        pen.text(middle, top - height + 2, label, "center")
