"""Draw MultiBLiMP's Figure 2: how a minimal pair is made, with a pair of the campaign.

``fig2`` takes a language's tables of all stages (tokens, candidates, agreement, lexicon, items …)
and returns the figure with its cells. ``follow_pair`` (module ``stages``) finds the pair's rows in
the tables, and ``draw`` draws a box for each stage. All lengths are in points; y grows downwards.
A run is a text in one style; a pen draws runs, lines and boxes (module ``text_layout``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise, zip_longest
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from blimpworks.exhibits.exhibit import Exhibit, Labels, is_rtl, language_tag
from blimpworks.exhibits.fonts import HOUSE, font_for, has_bold
from blimpworks.exhibits.formulas import COUNT
from blimpworks.exhibits.shared import Tables, counted
from blimpworks.exhibits.style import BLUE, GREEN, PAGE_INCHES, VERMILION, empty_figure
from blimpworks.exhibits.text_layout import (
    BAND,
    ELLIPSIS,
    FAINT,
    INK,
    LEADING,
    Pen,
    Run,
    canvas,
    step,
    words_of,
)
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.measures import AGREEMENT_TYPES
from blimpworks.papers.multiblimp.exhibits.stages import (
    COLUMN,
    IN_ENGLISH,
    RESOURCES,
    ShownEntry,
    Stages,
    follow_pair,
    stage_cells,
)
from blimpworks.papers.multiblimp.items.words import STATED_AS

SIZE, SMALL = 7.0, 6.2
LINE, SMALL_LINE = SIZE * LEADING, SMALL * LEADING
"""Heights of a line of text in these two sizes of letters [points]."""
SMALL_LETTERS = {"Amiri": 1.25, "Noto Naskh Arabic": 1.1, "Scheherazade New": 1.25}
"""Fonts with smaller letters than the house font, and their enlargement."""
LABEL_MEANINGS = {
    "+": "significant agreement",
    "~": "near-universal agreement",
    "?": "undecided",
    "-": "no agreement",
}
WORD_TYPES = {"verb": "main verb", "aux": "auxiliary", "ptcp": "participle"}
ORDERS = {"SV": "subject first (SV)", "VS": "verb first (VS)"}
MOST_FORMS, MOST_VALUES = 4, 4
"""Most forms of the lexicon, and values of verbs, that are drawn; the cells have all."""
PALE, BAR_LEFT, BAR_RIGHT = "#DDDDDD", 24.0, 52.0
"""Colour of pale bars; space for a bar's name at its left, and its number at its right [points]."""
GAP = 9.0
"""Space between two words of the tree [points]."""
TREE_LINES = ("form", "lemma", "class", "relation", "features")
"""Names of the lines below the tree's arcs."""
FORM_SIZE = 8.5
"""Size of the letters of words in the tree and in the pair [points]."""
MOST_FEATURES = 8
ARC_STEP = 12.0
"""Difference in height between two arcs [points]."""
PAGE_WIDTH = PAGE_INCHES * 72
EDGE, INNER, HEAD, GUTTER = 1.0, 6.0, 14.0, 13.0
"""Margin of the figure and of a box, height of a box's heading, space between boxes [points]."""
HEADING = 7.2


@dataclass(slots=True)
class Spelling:
    """Fonts for words of the pair's language; without a font, numbers ("[1]") replace words.

    The caption then has the words that the numbers replace.
    """

    families: tuple[str, ...] | None
    """Names of fonts, the preferred one first; None if no font has all letters of the figure."""
    rtl: bool
    numbers: dict[str, int] = field(default_factory=dict)
    """Numbers so far: {word: number that replaces it}."""

    @classmethod
    def of(cls, stages: Stages) -> "Spelling":
        """Choose a font that has all letters of the figure."""
        texts = [stages.item["good"], stages.item["bad"], stages.lemma]
        texts += [word[key] or "" for word in stages.word_at.values() for key in ("form", "lemma")]
        texts += [entry.row.form for entry in stages.entries]
        # Any font has ASCII characters.
        family = font_for([letter for text in texts for letter in text if not letter.isascii()])
        families = tuple(dict.fromkeys((family, *HOUSE))) if family else None
        return cls(families, is_rtl(stages.item["good"]))

    def run(self, text: str, size: float = SIZE, colour: str = INK, bold: bool = False) -> Run:
        """Return a text as one run, or as its number if no font has its letters."""
        if self.families is None:
            number = self.numbers.setdefault(text, len(self.numbers) + 1)
            return Run(f"[{number}]", size, colour, bold)
        scale = SMALL_LETTERS.get(self.families[0], 1.0)
        # Without a bold font matplotlib would warn.
        bold = bold and has_bold(self.families[0])
        return Run(text, size * scale, colour, bold, self.families)

    def words(self, text: str, glued: bool, colour: str = INK, bold: bool = False) -> list[Run]:
        """Split a text into runs of a word; ``glued``: no space precedes the first word."""
        if self.families is not None:
            return words_of(replace(self.run(text, FORM_SIZE, colour, bold), glued=glued))
        return [self.run(word, FORM_SIZE, colour, bold) for word in text.split()]


class WordColumn(NamedTuple):
    """The texts of a word below each other in the tree."""

    word: int
    """CoNLL-U id; 0 for an ellipsis."""
    runs: list[Run]
    """Form, lemma, class, relation, and each feature; of an ellipsis only "…"."""

    @property
    def width(self) -> float:
        """Width of the widest line [points]."""
        return max(run.width for run in self.runs)


def _total_width(columns: Sequence[WordColumn]) -> float:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def fitting(columns: Sequence[WordColumn], needed: set[int], width: float) -> list[WordColumn]:
    """Keep the ``needed`` words, and neighbours that fit into ``width`` [points], with ellipses."""

    def distance(column: WordColumn) -> tuple[int, int]:
        """Return the distance [words] from the nearest needed word, and the word itself."""
        return min(abs(column.word - word) for word in needed), column.word

    # Leave out more and more words, the furthest first, until the others fit.
    by_distance = sorted(columns, key=distance)
    shortened: list[WordColumn] = []
    for count in range(len(columns), len(needed) - 1, -1):
        shortened = []
        for column in columns:
            if column in by_distance[:count]:
                shortened.append(column)
            elif not shortened or shortened[-1].word:  # no ellipsis after an ellipsis
                shortened.append(WordColumn(0, [Run(ELLIPSIS, FORM_SIZE, FAINT)]))
        if _total_width(shortened) <= width:
            break
    return shortened


@dataclass(slots=True)
class Painter:
    """Painter of the inside of a box from ``y`` down, with a public method for each stage."""

    stages: Stages
    spelling: Spelling
    choice: Mapping[str, Any]
    """The fact ``figure2`` of the campaign, as ``facts.figure2_choice`` returns it."""
    pen: Pen
    x: float
    y: float
    width: float

    def _paragraph(self, runs: Sequence[Run], space_below: float = 0.0) -> None:
        self.y += self.pen.paragraph(self.x, self.y, self.width, runs) + space_below

    def _properties(self, properties: Sequence[tuple[str, Run]]) -> None:
        """Draw names of properties in a column, and their values in the next column."""
        indent = max(Run(name, SMALL).width for name, _ in properties) + 6
        line_above: list[Run] = []
        for name, value in properties:
            self.y += step(line_above, [value]) + bool(line_above)
            line_above = [value]
            self.pen.text(self.x, self.y, Run(name, SMALL, FAINT))
            self.pen.text(self.x + indent, self.y, value.fitted(self.width - indent))
        self.y += LINE - SIZE + 1

    def _bar(self, name: Run, length: float, colour: str, number: Run, reach: float = 0) -> None:
        """Draw a bar between its name and its number, over a pale bar of length ``reach``."""
        x, top = self.x + BAR_LEFT, self.y + 1.2
        self.pen.text(self.x, self.y + SIZE, name)
        if reach:
            self.pen.rectangle(x, top, reach, SIZE - 1, PALE)
        self.pen.rectangle(x, top, max(length, 0.6), SIZE - 1, colour)
        self.pen.text(self.x + self.width, self.y + SIZE, number, "right")
        self.y += LINE + 1.5

    def tree(self) -> None:
        """Draw words side by side, arcs from the verb above them, annotations below them."""
        pen, word_at, candidate = self.pen, self.stages.word_at, self.stages.candidate
        verb, subject, inflected = (candidate[name] for name in ("verb", "subject", "inflected"))
        colours = {verb: INK, subject: BLUE, inflected: GREEN}
        columns = [self._column(word, colours.get(word)) for word in word_at]
        indent = max(Run(name, SMALL).width for name in TREE_LINES) + 10
        room = self.width - indent
        columns = fitting(columns, {*colours}, room)
        # Arcs lead from the verb to its subject, and to the agreeing word if this is an auxiliary.
        dependents = {subject, inflected} - {verb}
        short_first = sorted(dependents, key=lambda word: (abs(verb - word), word))
        # Each line of the words (forms, lemmas, …) has a common baseline, below the arcs.
        top = self.y + ARC_STEP * len(short_first) + 2
        rows = zip_longest(*(column.runs for column in columns))  # None below shorter columns
        lines = [[run for run in runs if run is not None] for runs in rows]
        steps = [step(above, below) for above, below in pairwise([[], *lines])]
        baselines = [top + 1.5 + total for total in accumulate(steps)]
        # Spare room widens the gaps. Words are from right to left in a language that is so written.
        spare = max(room - _total_width(columns), 0)
        gap = GAP + min(spare / len(columns), 5 * GAP)
        centres: dict[int, float] = {}  # {word: x of its middle}
        used_width = 0.0
        for column in columns:
            middle = used_width + column.width / 2
            centre = self.x + indent + (room - middle if self.spelling.rtl else middle)
            centres[column.word] = centre
            used_width += column.width + gap
            for run, baseline in zip(column.runs, baselines, strict=False):
                pen.text(centre, baseline, run, "center")
        for level, word in enumerate(short_first, start=1):
            self._arc(level, centres[verb], centres[word], top, word_at[word]["deprel"] or "_")
        for name, baseline in zip(TREE_LINES, baselines, strict=False):
            pen.text(self.x, baseline, Run(name, SMALL, FAINT))
        self.y = baselines[-1] + 3

    def _arc(self, level: int, head: float, dependent: float, y: float, relation: str) -> None:
        """Draw an arc between two words with their middles at ``head`` and ``dependent`` [x].

        It begins beside the middle of the head, by its level, so that arcs do not meet.
        """
        start = head + 2.5 * level * (1 if dependent > head else -1)
        height, label = ARC_STEP * level - 2, Run(relation, SMALL)
        self.pen.curve((start, y), (dependent, y), height)
        middle, label_x = (start + dependent) / 2, (start + dependent - label.width) / 2
        self.pen.rectangle(label_x - 2, y - height - 4, label.width + 4, 8, "#FFFFFF")
        self.pen.text(middle, y - height + 2, label, "center")

    def _column(self, word_id: int, colour: str | None) -> WordColumn:
        """Return a word's column; only a word with a ``colour`` has its features."""
        word, shade = self.stages.word_at[word_id], colour or FAINT
        form = self.spelling.run(word["form"], FORM_SIZE, colour or INK, bold=colour is not None)
        runs = [form, self.spelling.run(word["lemma"] or "_", SMALL, shade)]
        runs += [Run(word[name] or "_", SMALL, shade) for name in ("upos", "deprel")]
        features = (word["feats"] or "").split("|") if colour else []
        if len(features) > MOST_FEATURES:
            features = [*features[:MOST_FEATURES], ELLIPSIS]
        for feature in features:
            agreeing = feature.partition("=")[0] in STATED_AS[self.stages.feature]
            runs.append(Run(feature, SMALL, shade if agreeing else FAINT, bold=agreeing))
        return WordColumn(word_id, runs)

    def candidate(self) -> None:
        """Draw the properties of subject and verb: forms, order, distance, attractors, feature."""
        candidate, item = self.stages.candidate, self.stages.item
        distance = counted(abs(candidate["distance"]), "word")
        subject, agreeing = candidate["subject_form"], candidate["form"]
        properties = [
            ("subject", self.spelling.run(subject, colour=BLUE, bold=True)),
            ("agreeing word", self.spelling.run(agreeing, colour=GREEN, bold=True)),
            ("kind", Run(WORD_TYPES[candidate["kind"]], SIZE)),
            ("order", Run(ORDERS[candidate["order"]], SIZE)),
            ("distance", Run(distance, SIZE)),
            ("attractors", Run(str(item["attractors"] or "none"), SIZE)),
            ("feature", Run(f"{self.stages.feature} = {item['grammatical']}", SIZE, bold=True)),
        ]
        self._properties(properties)

    def agreement(self) -> None:
        """Draw how often verbs of such subjects have each value, and the test's result."""
        stages, item, test = self.stages, self.stages.item, self.stages.test
        inflected = {"sv": "verbs", "sp": "participles"}[item["phenomenon"][:2]]
        value = f"{stages.feature} = {item['grammatical']}"
        title = Run(f"{inflected} of subjects with {value}, {item['order']}", SMALL, FAINT)
        self._paragraph(words_of(title), space_below=1)
        total = sum(row["count"] for row in stages.counts)
        room = self.width - BAR_LEFT - BAR_RIGHT
        for row in stages.counts[:MOST_VALUES]:
            agrees, share = row["verb_value"] == item["grammatical"], row["count"] / total
            name = Run(row["verb_value"], SIZE, bold=agrees).fitted(BAR_LEFT - 2)
            number = Run(f"{row['count']:,} ({100 * share:.1f} %)", SMALL)
            self._bar(name, room * share, GREEN if agrees else VERMILION, number, reach=room)
        self.y += 3
        if test:
            p = test["p_greater"]
            p_text = "< 0.001" if p < 0.001 else f"= {p:.3f}"
            agreeing = Run(f"{test['agreeing']:,} of {test['n']:,}", SIZE)
            probability = f"P(agree) > {self.choice['null']:g}"
            self._properties([("agreeing", agreeing), (probability, Run(f"p {p_text}", SIZE))])
        else:
            self._properties([("evidence", Run("none", SIZE))])
        meaning = LABEL_MEANINGS.get(item["label"], "of several values")
        label = Run(f"“{item['label']}”: {meaning}", SIZE, bold=True)
        self.pen.text(self.x, self.y + SIZE, label.fitted(self.width))
        self.y += LINE

    def inflection(self) -> None:
        """Draw the lexicon's entries for the agreeing word, with the verdict on each form."""
        pen, stages, x, width = self.pen, self.stages, self.x, self.width
        sizes = ", ".join(f"{RESOURCES[name]} {n:,}" for name, n in stages.sizes.items())
        heading = words_of(Run("entries of the lemma", SMALL, FAINT))
        heading.append(self.spelling.run(stages.lemma, SMALL, bold=True))
        heading += words_of(Run(f": {sizes}", SMALL, FAINT, glued=True))
        self._paragraph(heading, space_below=1.5)
        # Readings of one form are drawn together, if source and verdict are the same.
        entries_by_form: dict[tuple[str, str, str], list[ShownEntry]] = {}
        for entry in stages.entries:
            form_key = (entry.row.form, entry.source, entry.verdict)
            entries_by_form.setdefault(form_key, []).append(entry)
        groups = [*entries_by_form.values()]
        for entries in groups[:MOST_FORMS]:
            entry = entries[0]
            is_decided = entry.matches or entry.chosen
            colour = GREEN if entry.matches else VERMILION
            verdict = Run(entry.verdict, SMALL, colour if is_decided else FAINT)
            form_colour = colour if is_decided else INK
            form = self.spelling.run(entry.row.form, SIZE, form_colour, bold=is_decided)
            baseline = self.y + step([], [form])
            pen.text(x + width, baseline, verdict, "right")
            pen.text(x, baseline, form.fitted(width - verdict.width - 4))
            source = Run(f"({RESOURCES[entry.source]})", SMALL, FAINT)
            # "Number=SG|Person=3" is drawn as "SG;3".
            bundles = [entry.row.bundle.split("|") for entry in entries]
            values = [";".join(pair.partition("=")[2] for pair in bundle) for bundle in bundles]
            readings = Run(" / ".join(values), SMALL, FAINT).fitted(width - 10 - source.width)
            baseline += step([form], [readings])
            pen.line(x + 6, baseline, [readings, source], space=4)
            self.y = baseline + SMALL_LINE - SMALL + 2
        if len(groups) > MOST_FORMS:
            more = f"and {sum(map(len, groups[MOST_FORMS:]))} more"
            self._paragraph(words_of(Run(more, SMALL, FAINT)))
        if stages.consulted == ["unimorph"]:
            why = "Treebanks not consulted: UniMorph has exactly one other form."
            self._paragraph(words_of(Run(why, SMALL, FAINT)))

    def pair(self) -> None:
        """Draw both sentences, the ungrammatical one with a star."""
        item, spelling, size = self.stages.item, self.spelling, FORM_SIZE
        edge = self.x + (self.width - 9 if spelling.rtl else 9)
        for side, star, colour in (("good", " ", GREEN), ("bad", "*", VERMILION)):
            mark = Run(star, size, VERMILION, bold=True)
            mark_x = self.x + self.width - 7 if spelling.rtl else self.x
            self.pen.text(mark_x, self.y + size, mark)
            text, start, end = (item[name] for name in (side, f"{side}_start", f"{side}_end"))
            before, form, after = text[:start], text[start:end], text[end:]
            is_glued = bool(before) and not before[-1].isspace()
            runs = [
                *spelling.words(before, False),
                *spelling.words(form, is_glued, colour, True),
                *spelling.words(after, bool(after) and not after[0].isspace()),
            ]
            start_x = self.x if spelling.rtl else edge
            self.y += self.pen.paragraph(start_x, self.y, self.width - 9, runs, spelling.rtl) + 2
        values = f"{self.stages.feature}: {item['grammatical']} → {item['ungrammatical']}"
        align = "right" if spelling.rtl else "left"
        self.pen.text(edge, self.y + SMALL, Run(values, SMALL, FAINT), align)
        self.y += SMALL_LINE

    def balance(self) -> None:
        """Draw how many pairs the condition has, and how many of them were kept."""
        item, available, kept = self.stages.item, self.stages.available, self.stages.kept
        values = f"{item['grammatical']} → {item['ungrammatical']}"
        title = f"condition {values}, {item['order']}, {WORD_TYPES[item['inflected']]}"
        self._paragraph(words_of(Run(title, SMALL, FAINT)), space_below=2)
        room = self.width - BAR_LEFT - BAR_RIGHT / 2
        for name, n, colour in (("pairs", available, PALE), ("kept", kept, BLUE)):
            number = Run(f"{n:,}", SIZE, bold=True)
            self._bar(Run(name, SIZE), room * n / max(available, kept), colour, number)
        limit, weight = self.choice["limit"], f"{100 * item['weight']:.2g}\N{NO-BREAK SPACE}%"
        share = f"At most {limit:,} are drawn by weight; this pair has {weight} of all weight."
        self.y += 1
        self._paragraph(words_of(Run(share, SMALL, FAINT)))


def draw(stages: Stages, spelling: Spelling, language: str, choice: Mapping[str, Any]) -> Figure:
    """Draw the boxes of a pair's stages in three rows, with arrows from stage to stage."""
    item, row_width = stages.item, PAGE_WIDTH - 2 * EDGE
    widths = [share * (row_width - 2 * GUTTER) for share in (0.26, 0.33, 0.41)]
    pair_width = 0.62 * (row_width - GUTTER)
    origin = f"{item['treebank']}, {item['sent_id']}"
    # A box has a heading, a note at the heading's right, a width, and a method that fills it.
    box_rows = [
        [("1  Sentence of a treebank", origin, row_width, Painter.tree)],
        [
            ("2  Extract", "§4.1", widths[0], Painter.candidate),
            (f"3  Validate in {language}", "§4.2", widths[1], Painter.agreement),
            ("4  Inflect", "§4.3", widths[2], Painter.inflection),
        ],
        [
            ("5  Minimal pair", f"item {item['item_id']}", pair_width, Painter.pair),
            ("6  Balance", "§4.4", row_width - GUTTER - pair_width, Painter.balance),
        ],
    ]

    def fill(
        method: Callable[[Painter], None], width: float, pen: Pen, x: float = 0, y: float = 0
    ) -> float:
        """Draw the inside of a box; return its height."""
        painter = Painter(stages, spelling, choice, pen, x, y, width - 2 * INNER)
        method(painter)
        return painter.y - y

    # A pen without axes only measures the boxes; a row is as high as its highest box.
    heights = []
    for boxes in box_rows:
        inner_height = max(fill(method, width, Pen()) for *_, width, method in boxes)
        heights.append(HEAD + inner_height + 2 * INNER)
    figure, pen = canvas(PAGE_WIDTH, sum(heights) + GUTTER * (len(box_rows) - 1) + 2 * EDGE)
    y = EDGE
    for boxes, height in zip(box_rows, heights, strict=True):
        x = EDGE
        for number, (heading, note, width, method) in enumerate(boxes):
            if number:
                middle = y + height / 2
                pen.arrow([(x - GUTTER + 1, middle), (x - 1, middle)])
            pen.box(x, y, width, height)
            pen.box(x, y, width, HEAD, BAND)
            used_width = pen.text(x + INNER, y + HEAD - 4.3, Run(heading, HEADING, bold=True))
            shown_note = Run(note, SMALL, FAINT).fitted(width - 3 * INNER - used_width)
            pen.text(x + width - INNER, y + HEAD - 4.3, shown_note, "right")
            fill(method, width, pen, x + INNER, y + HEAD + INNER)
            x += width + GUTTER
        y += height + GUTTER
    # Arrows from the sentence down to "Extract", and from "Inflect" down to the pair.
    start, bottom = EDGE + widths[0] / 2, EDGE + heights[0]
    pen.arrow([(start, bottom + 1), (start, bottom + GUTTER - 1)])
    bottom += GUTTER + heights[1]
    start, end = PAGE_WIDTH - EDGE - widths[2] / 2, EDGE + pair_width / 2
    turn = bottom + GUTTER / 2 - 1
    pen.arrow([(start, bottom), (start, turn), (end, turn), (end, bottom + GUTTER - 1)])
    return figure


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 2: a pair of the campaign at each stage. Raises UserError for an unknown pair."""
    choice = labels.facts["figure2"]
    language, tag = labels.languages[choice["language"]], language_tag(choice["language"])
    stages = follow_pair(tables, choice)
    if stages is None:
        empty = empty_figure(f"{language} has no pairs", height=1.2)
        return Exhibit(**describe("fig2_empty", language=language), cells=[], figure=empty)
    by_stage = stage_cells(stages)
    cells = [cell for cells in by_stage.values() for cell in cells]
    # A cell of a text has the formula COUNT too, but its text is not the number of rows.
    texts = [cell for cell in cells if cell.formula == COUNT and cell.text != str(cell.n)]
    spelling = Spelling.of(stages)
    figure = draw(stages, spelling, language, choice)
    construction, feature = AGREEMENT_TYPES[stages.item["phenomenon"]]
    numbered = ", ".join(f"{number} {text}" for text, number in spelling.numbers.items())
    return Exhibit(
        **describe(
            "fig2",
            language=language,
            construction=construction.lower(),
            feature=feature.lower(),
            words=f" Words: {numbered}." if numbered else "",
        ),
        cells=cells,
        stub={cell.row: {"Stage": stage} for stage in by_stage for cell in by_stage[stage]},
        figure=figure,
        textual=True,
        written_in={(cell.row, COLUMN): tag for cell in texts if cell.row not in IN_ENGLISH},
    )
