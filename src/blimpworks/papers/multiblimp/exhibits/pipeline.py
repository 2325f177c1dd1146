"""Draw MultiBLiMP's Figure 2: how a minimal pair is made, with a pair of the campaign.

``fig2`` returns the figure with its data. The module ``stages`` finds the pair's rows in the tables
of all stages. Each stage is a box of the figure, with a method of ``Painter``: sentence, candidate,
agreement, inflection, pair, balance. All lengths are in points; y grows downwards.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
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
from blimpworks.papers.multiblimp.items.words import COLUMNS_OF

SIZE, SMALL = 7.0, 6.2
LINE = SIZE * LEADING
SMALL_LINE = SMALL * LEADING
SMALL_LETTERS = {"Amiri": 1.25, "Noto Naskh Arabic": 1.1, "Scheherazade New": 1.25}
"""Fonts with smaller letters than the house font, and their enlargement."""
LABELLED = {
    "+": "significant agreement",
    "~": "near-universal agreement",
    "?": "undecided",
    "-": "no agreement",
}
KINDS = {"verb": "main verb", "aux": "auxiliary", "ptcp": "participle"}
ORDERS = {"SV": "subject first (SV)", "VS": "verb first (VS)"}
MOST_FORMS = 4
"""Most forms of the lexicon that are drawn; the cells have all entries."""
BAR, BAR_LEFT, BAR_RIGHT = "#DDDDDD", 24.0, 52.0
"""Colour of the pale bars, and space at the left and right of bars [points]."""
GAP = 9.0
"""Space between two words [points]."""
TOKEN_ROWS = ("form", "lemma", "class", "relation", "features")
FORM = 8.5
"""Size of words in the tree [points]."""
MOST_FEATURES = 8
LEVEL = 12.0
"""Difference in height between two arcs [points]."""
PAGE_WIDTH = PAGE_INCHES * 72
EDGE, INNER, HEAD, GUTTER = 1.0, 6.0, 14.0, 13.0
"""Margin of the figure and of a box, height of a box's heading, space between boxes [points]."""
HEADING = 7.2
SHARES = (0.26, 0.33, 0.41)
"""Widths of the boxes of the second row, as shares of the row."""
PAIR_SHARE = 0.62
"""Width of the first box of the third row, as a share of the row."""


@dataclass(slots=True)
class Spelling:
    """Writer of words in the pair's language; it writes numbers if no font has their letters."""

    families: tuple[str, ...] | None
    rtl: bool
    numbers: dict[str, int] = field(default_factory=dict)

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
        """Return a word as a run, or its number if no font has its letters."""
        if self.families is None:
            number = self.numbers.setdefault(text, len(self.numbers) + 1)
            return Run(f"[{number}]", size, colour, bold)
        scale = SMALL_LETTERS.get(self.families[0], 1.0)
        # Without a bold font matplotlib would warn.
        bold = bold and has_bold(self.families[0])
        return Run(text, size * scale, colour, bold, self.families)

    def words(
        self, text: str, glued: bool, size: float, colour: str = INK, bold: bool = False
    ) -> list[Run]:
        """Split a text into runs of words; ``glued``: there is no space before the first."""
        if self.families is not None:
            return words_of(replace(self.run(text, size, colour, bold), glued=glued))
        return [self.run(word, size, colour, bold) for word in text.split()]


class WordRows(NamedTuple):
    """Lines of a word of the tree, from top to bottom, and its CoNLL-U id; 0 for an ellipsis."""

    word: int
    runs: list[Run]

    @property
    def width(self) -> float:
        """Width of the widest line [points]."""
        return max(run.width for run in self.runs)


def _total(columns: Sequence[WordRows]) -> float:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def fitting_columns(columns: Sequence[WordRows], needed: set[int], width: float) -> list[WordRows]:
    """Keep the ``needed`` words, and as many words next to them as fit; elide all others."""
    kept = [*columns]
    while True:
        elided: list[WordRows] = []
        for column in columns:
            if column in kept:
                elided.append(column)
            elif not elided or elided[-1].word:  # one ellipsis for neighbouring words
                elided.append(WordRows(0, [Run(ELLIPSIS, FORM, FAINT)]))
        if len(kept) <= len(needed) or _total(elided) <= width:
            return elided
        far = max(
            (column for column in kept if column.word not in needed),
            key=lambda column: (min(abs(column.word - word) for word in needed), column.word),
        )
        kept.remove(far)


@dataclass(slots=True)
class Painter:
    """Painter of the inside of a box from ``y`` down [points], with a method for each stage."""

    stages: Stages
    spelling: Spelling
    choice: Mapping[str, Any]
    pen: Pen
    x: float
    y: float
    width: float

    def _paragraph(self, runs: Sequence[Run], below: float = 0.0) -> None:
        self.y += self.pen.paragraph(self.x, self.y, self.width, runs) + below

    def _facts(self, rows: Sequence[tuple[str, Run]]) -> None:
        """Draw names and values in two columns."""
        indent = max(Run(name, SMALL).width for name, _ in rows) + 6
        before: list[Run] = []
        for name, value in rows:
            self.y += step(before, [value]) + bool(before)
            before = [value]
            self.pen.text(self.x, self.y, Run(name, SMALL, FAINT))
            self.pen.text(self.x + indent, self.y, value.fitted(self.width - indent))
        self.y += LINE - SIZE + 1

    def _bar(
        self, name: Run, length: float, colour: str, number: Run, reach: float | None = None
    ) -> None:
        """Draw a bar with its name and number, on a pale bar of length ``reach``."""
        x, top = self.x + BAR_LEFT, self.y + 1.2
        self.pen.text(self.x, self.y + SIZE, name)
        if reach is not None:
            self.pen.rectangle(x, top, reach, SIZE - 1, BAR)
        self.pen.rectangle(x, top, max(length, 0.6), SIZE - 1, colour)
        self.pen.text(self.x + self.width, self.y + SIZE, number, "right")
        self.y += LINE + 1.5

    def tree(self) -> None:
        """Draw words side by side, arcs from the verb above them, features below them."""
        pen, edge, word_at = self.pen, self.stages.candidate, self.stages.word_at
        colours = {edge["verb"]: INK, edge["subject"]: BLUE, edge["inflected"]: GREEN}
        columns = [self._column(word, colours.get(word)) for word in word_at]
        indent = max(Run(name, SMALL).width for name in TOKEN_ROWS) + 10
        room = self.width - indent
        columns = fitting_columns(columns, {*colours}, room)
        # Head, dependent and name of the two relations, short ones first.
        pairs = {(edge["verb"], edge["subject"])}
        if edge["inflected"] != edge["verb"]:
            pairs.add((edge["verb"], edge["inflected"]))
        named = [(head, word, word_at[word]["deprel"] or "_") for head, word in pairs]
        relations = sorted(named, key=lambda relation: (abs(relation[0] - relation[1]), relation))
        # Each line of the words has a common baseline, below the arcs.
        top = self.y + LEVEL * len(relations) + 2
        most = max(len(column.runs) for column in columns)
        lines = [[c.runs[n] for c in columns if n < len(c.runs)] for n in range(most)]
        steps = [step(above, below) for above, below in zip([[], *lines], lines, strict=False)]
        baselines = [top + 1.5 + total for total in accumulate(steps)]
        # Middle of each word, from right to left in a language that is so written.
        gap = GAP + min(max(room - _total(columns), 0) / max(len(columns), 1), 5 * GAP)
        centres: dict[int, float] = {}
        at = 0.0
        for column in columns:
            middle = at + column.width / 2
            centre = self.x + indent + (room - middle if self.spelling.rtl else middle)
            centres[column.word] = centre
            at += column.width + gap
            for run, baseline in zip(column.runs, baselines, strict=False):
                pen.text(centre, baseline, run, "center")
        # Arcs end in the middle of the dependent, and begin beside that of the head.
        for level, (head, word, relation) in enumerate(relations, start=1):
            side = 2.5 * level * (1 if centres[word] > centres[head] else -1)
            start, height = centres[head] + side, LEVEL * level - 2
            pen.curve((start, top), (centres[word], top), height)
            label, middle = Run(relation, SMALL), (start + centres[word]) / 2
            edge_x, label_width = middle - label.width / 2 - 2, label.width + 4
            pen.rectangle(edge_x, top - height - 4, label_width, 8, "#FFFFFF")
            pen.text(middle, top - height + 2, label, "center")
        for name, baseline in zip(TOKEN_ROWS, baselines, strict=False):
            pen.text(self.x, baseline, Run(name, SMALL, FAINT))
        self.y = baselines[-1] + 3

    def _column(self, number: int, colour: str | None) -> WordRows:
        word, shade = self.stages.word_at[number], colour or FAINT
        form = self.spelling.run(word["form"], FORM, colour or INK, bold=colour is not None)
        runs = [form, self.spelling.run(word["lemma"] or "_", SMALL, shade)]
        runs += [Run(word[name] or "_", SMALL, shade) for name in ("upos", "deprel")]
        feats = (word["feats"] or "").split("|") if colour else []
        for text in feats[:MOST_FEATURES] + ([ELLIPSIS] if len(feats) > MOST_FEATURES else []):
            agreeing = text.partition("=")[0] in COLUMNS_OF[self.stages.feature]
            runs.append(Run(text, SMALL, shade if agreeing else FAINT, bold=agreeing))
        return WordRows(number, runs)

    def candidate(self) -> None:
        """Draw subject, verb and what is between them."""
        candidate, item = self.stages.candidate, self.stages.item
        distance = counted(abs(candidate["distance"]), "word")
        subject, agreeing = candidate["subject_form"], candidate["form"]
        rows = [
            ("subject", self.spelling.run(subject, colour=BLUE, bold=True)),
            ("agreeing word", self.spelling.run(agreeing, colour=GREEN, bold=True)),
            ("kind", Run(KINDS[candidate["kind"]], SIZE)),
            ("order", Run(ORDERS[candidate["order"]], SIZE)),
            ("distance", Run(distance, SIZE)),
            ("attractors", Run(str(item["attractors"] or "none"), SIZE)),
            ("feature", Run(f"{self.stages.feature} = {item['grammatical']}", SIZE, bold=True)),
        ]
        self._facts(rows)

    def agreement(self) -> None:
        """Draw how often the language's verbs have each value, and the result of the test."""
        stages, item, test = self.stages, self.stages.item, self.stages.test
        inflected = {"sv": "verbs", "sp": "participles"}[item["phenomenon"][:2]]
        value = f"{stages.feature} = {item['grammatical']}"
        title = Run(f"{inflected} of subjects with {value}, {item['order']}", SMALL, FAINT)
        self._paragraph(words_of(title), below=1)
        total = sum(row["count"] for row in stages.counts)
        room = self.width - BAR_LEFT - BAR_RIGHT
        for row in stages.counts[:4]:
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
            self._facts([("agreeing", agreeing), (probability, Run(f"p {p_text}", SIZE))])
        else:
            self._facts([("evidence", Run("none", SIZE))])
        label = f"“{item['label']}”: {LABELLED.get(item['label'], 'of several values')}"
        self.pen.text(self.x, self.y + SIZE, Run(label, SIZE, bold=True).fitted(self.width))
        self.y += LINE

    def inflection(self) -> None:
        """Draw the lexicon's entries for the agreeing word, with the verdict on each."""
        pen, stages, x, width = self.pen, self.stages, self.x, self.width
        sizes = ", ".join(f"{RESOURCES[name]} {n:,}" for name, n in stages.sizes.items())
        lemma = words_of(Run("entries of the lemma", SMALL, FAINT))
        lemma.append(self.spelling.run(stages.lemma, SMALL, bold=True))
        self._paragraph(lemma + words_of(Run(f": {sizes}", SMALL, FAINT, glued=True)), below=1.5)
        groups: dict[tuple[str, str, str], list[ShownEntry]] = {}
        for entry in stages.entries:
            groups.setdefault((entry.row.form, entry.source, entry.verdict), []).append(entry)
        alike = [*groups.values()]
        for entries in alike[:MOST_FORMS]:
            entry = entries[0]
            decided = entry.matches or entry.chosen
            colour = GREEN if entry.matches else VERMILION
            verdict = Run(entry.verdict, SMALL, colour if decided else FAINT)
            form_colour = colour if decided else INK
            form = self.spelling.run(entry.row.form, colour=form_colour, bold=decided)
            baseline = self.y + step([], [form])
            pen.text(x + width, baseline, verdict, "right")
            pen.text(x, baseline, form.fitted(width - verdict.width - 4))
            source = Run(f"({RESOURCES[entry.source]})", SMALL, FAINT)
            bundles = (entry.row.bundle.split("|") for entry in entries)
            values = (";".join(text.partition("=")[2] for text in bundle) for bundle in bundles)
            readings = Run(" / ".join(values), SMALL, FAINT).fitted(width - 10 - source.width)
            baseline += step([form], [readings])
            pen.line(x + 6, baseline, [readings, source], space=4)
            self.y = baseline + SMALL_LINE - SMALL + 2
        if len(alike) > MOST_FORMS:
            more = f"and {sum(map(len, alike[MOST_FORMS:]))} more"
            self._paragraph(words_of(Run(more, SMALL, FAINT)))
        if stages.consulted == ["unimorph"]:
            why = "Treebanks not consulted: UniMorph has exactly one other form."
            self._paragraph(words_of(Run(why, SMALL, FAINT)))

    def pair(self) -> None:
        """Draw both sentences, the ungrammatical one with a star."""
        item, spelling, size = self.stages.item, self.spelling, 8.5
        edge = self.x + (self.width - 9 if spelling.rtl else 9)
        for side, star, colour in (("good", " ", GREEN), ("bad", "*", VERMILION)):
            mark = Run(star, size, VERMILION, bold=True)
            mark_x = self.x + self.width - 7 if spelling.rtl else self.x
            self.pen.text(mark_x, self.y + size, mark)
            text, start, end = (item[name] for name in (side, f"{side}_start", f"{side}_end"))
            before, form, after = text[:start], text[start:end], text[end:]
            joined = bool(before) and not before[-1].isspace()
            runs = [
                *spelling.words(before, False, size),
                *spelling.words(form, joined, size, colour, True),
                *spelling.words(after, bool(after) and not after[0].isspace(), size),
            ]
            start_x = self.x if spelling.rtl else edge
            self.y += self.pen.paragraph(start_x, self.y, self.width - 9, runs, spelling.rtl) + 2
        values = f"{self.stages.feature}: {item['grammatical']} → {item['ungrammatical']}"
        align = "right" if spelling.rtl else "left"
        self.pen.text(edge, self.y + SMALL, Run(values, SMALL, FAINT), align)
        self.y += SMALL_LINE

    def balance(self) -> None:
        """Draw the number of pairs of the condition, and of those that were kept."""
        item, available, kept = self.stages.item, self.stages.available, self.stages.kept
        values = f"{item['grammatical']} → {item['ungrammatical']}"
        title = f"condition {values}, {item['order']}, {KINDS[item['inflected']]}"
        self._paragraph(words_of(Run(title, SMALL, FAINT)), below=2)
        room = self.width - BAR_LEFT - BAR_RIGHT / 2
        for name, n, colour in (("pairs", available, BAR), ("kept", kept, BLUE)):
            number = Run(f"{n:,}", SIZE, bold=True)
            self._bar(Run(name, SIZE), room * n / max(available, kept), colour, number)
        limit, weight = self.choice["limit"], f"{100 * item['weight']:.2g}\N{NO-BREAK SPACE}%"
        share = f"At most {limit:,} are drawn by weight; this pair has {weight} of all weight."
        self.y += 1
        self._paragraph(words_of(Run(share, SMALL, FAINT)))


def draw(stages: Stages, spelling: Spelling, language: str, choice: Mapping[str, Any]) -> Figure:
    """Draw the boxes of a pair's stages in three rows, with arrows from each to the next."""
    item, full = stages.item, PAGE_WIDTH - 2 * EDGE
    second = [share * (full - 2 * GUTTER) for share in SHARES]
    pair = PAIR_SHARE * (full - GUTTER)
    origin = f"{item['treebank']}, {item['sent_id']}"
    # Each box has a heading, a note at its right, a width, and a method that draws the inside.
    rows = [
        [("1  Sentence of a treebank", origin, full, Painter.tree)],
        [
            ("2  Extract", "§4.1", second[0], Painter.candidate),
            (f"3  Validate in {language}", "§4.2", second[1], Painter.agreement),
            ("4  Inflect", "§4.3", second[2], Painter.inflection),
        ],
        [
            ("5  Minimal pair", f"item {item['item_id']}", pair, Painter.pair),
            ("6  Balance", "§4.4", full - GUTTER - pair, Painter.balance),
        ],
    ]

    def paint(
        inside: Callable[[Painter], None], width: float, pen: Pen, x: float = 0, y: float = 0
    ) -> float:
        """Draw the inside of a box; return its height."""
        painter = Painter(stages, spelling, choice, pen, x, y, width - 2 * INNER)
        inside(painter)
        return painter.y - y

    heights = [
        max(HEAD + paint(inside, width, Pen()) + 2 * INNER for *_, width, inside in row)
        for row in rows
    ]
    figure, pen = canvas(PAGE_WIDTH, sum(heights) + GUTTER * (len(rows) - 1) + 2 * EDGE)
    y = EDGE
    for row, height in zip(rows, heights, strict=True):
        x = EDGE
        for number, (heading, note, width, inside) in enumerate(row):
            if number:
                middle = y + height / 2
                pen.arrow([(x - GUTTER + 1, middle), (x - 1, middle)])
            pen.box(x, y, width, height)
            pen.box(x, y, width, HEAD, BAND)
            used = pen.text(x + INNER, y + HEAD - 4.3, Run(heading, HEADING, bold=True))
            beside = Run(note, SMALL, FAINT).fitted(width - 3 * INNER - used)
            pen.text(x + width - INNER, y + HEAD - 4.3, beside, "right")
            paint(inside, width, pen, x + INNER, y + HEAD + INNER)
            x += width + GUTTER
        y += height + GUTTER
    # Arrows from the sentence to the candidate, and from the last form to the pair.
    at = EDGE + second[0] / 2
    below = EDGE + heights[0]
    pen.arrow([(at, below + 1), (at, below + GUTTER - 1)])
    below += GUTTER + heights[1]
    start, end = PAGE_WIDTH - EDGE - second[2] / 2, EDGE + pair / 2
    turn = below + GUTTER / 2 - 1
    pen.arrow([(start, below), (start, turn), (end, turn), (end, below + GUTTER - 1)])
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
    # The text of a cell that counts rows is their number, unless it is the text of one row.
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
