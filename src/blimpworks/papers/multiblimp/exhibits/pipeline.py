"""Draw Figure 2 of the paper, on one pair of the campaign."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from matplotlib.figure import Figure

from blimpworks.exhibits.exhibit import Exhibit, Labels
from blimpworks.exhibits.fonts import font_for, has_bold
from blimpworks.exhibits.formulas import COUNT
from blimpworks.exhibits.pen import (
    BAND,
    ELLIPSIS,
    FAINT,
    HOUSE,
    INK,
    LEADING,
    Pen,
    Run,
    canvas,
    step,
    words_of,
)
from blimpworks.exhibits.shared import Tables
from blimpworks.exhibits.style import BLUE, GREEN, PAGE_INCHES, VERMILION, new_figure, say
from blimpworks.exhibits.texts import is_rtl, language_tag
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.accuracies import PHENOMENA
from blimpworks.papers.multiblimp.exhibits.stages import (
    COLUMN,
    IN_ENGLISH,
    RESOURCES,
    Entry,
    Stages,
    follow_pair,
    stage_cells,
    verdict_of,
)
from blimpworks.papers.multiblimp.items.features import COLUMNS_OF

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

GAP = 9.0
"""Between two words [points]."""
NAMES = ("form", "lemma", "class", "relation", "features")
FORM = 8.5
MOST_FEATURES = 8
LEVEL = 12.0
"""Height of an arc above that of the next lower one [points]."""

WIDTH = PAGE_INCHES * 72
EDGE, INNER, HEAD, GUTTER = 1.0, 6.0, 14.0, 13.0
"""Around the figure, inside a box, height of a box's heading, between boxes [points]."""
HEADING = 7.2
SHARES = (0.26, 0.33, 0.41)
"""Widths of the boxes of the second row, for each of the page."""
PAIR_SHARE = 0.62

Draw = Callable[[Pen, float, float, float], float]
"""Draws the inside of a box at x, y, in a width; returns its height."""


@dataclass(slots=True)
class Spelling:
    """Writer of words in the pair's language, by number where no font has their letters."""

    families: tuple[str, ...] | None
    rtl: bool
    numbers: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, stages: Stages) -> "Spelling":
        """Choose a font with all letters of the figure."""
        texts = [stages.item["good"], stages.item["bad"], stages.lemma]
        texts += [word[name] or "" for word in stages.words for name in ("form", "lemma")]
        texts += [entry.row.form for entry in stages.entries]
        # Any font will do for what the house font has beside the letters of a script.
        letters = [letter for text in texts for letter in text if not letter.isascii()]
        family = font_for(letters)
        families = tuple(dict.fromkeys((family, *HOUSE))) if family else None
        return cls(families, is_rtl(stages.item["good"]))

    def run(self, text: str, size: float = SIZE, colour: str = INK, bold: bool = False) -> Run:
        """Write a word of the pair's language, or its number where no font has its letters."""
        if self.families is None:
            return Run(
                f"[{self.numbers.setdefault(text, len(self.numbers) + 1)}]", size, colour, bold
            )
        scale = SMALL_LETTERS.get(self.families[0], 1.0)
        # Matplotlib would warn, and take the plain one.
        bold = bold and has_bold(self.families[0])
        return Run(text, size * scale, colour, bold, self.families)

    def words(
        self, text: str, glued: bool, size: float, colour: str = INK, bold: bool = False
    ) -> list[Run]:
        """Split a text into words; ``glued`` says that no space is before the first."""
        if self.families is not None:
            return words_of(replace(self.run(text, size, colour, bold), glued=glued))
        return [self.run(word, size, colour, bold) for word in text.split()]


@dataclass(frozen=True, slots=True)
class Column:
    """A word as drawn, from top to bottom, with its CoNLL-U id; 0 for an ellipsis."""

    word: int
    runs: tuple[Run, ...]

    @property
    def width(self) -> float:
        """Width of its widest line [points]."""
        return max(run.width for run in self.runs)


def fitting_columns(columns: Sequence[Column], needed: set[int], width: float) -> list[Column]:
    """Keep the ``needed`` words and those next to them that fit; ellipses for the others."""
    kept = [*columns]
    while True:
        elided: list[Column] = []
        for column in columns:
            if column in kept:
                elided.append(column)
            elif not elided or elided[-1].word:
                elided.append(Column(0, (Run(ELLIPSIS, FORM, FAINT),)))
        if len(kept) <= len(needed) or _total(elided) <= width:
            return elided
        far = max(
            (column for column in kept if column.word not in needed),
            key=lambda column: (min(abs(column.word - word) for word in needed), column.word),
        )
        kept.remove(far)


def _total(columns: Sequence[Column]) -> float:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def facts(pen: Pen, x: float, y: float, width: float, rows: Sequence[tuple[str, Run]]) -> float:
    """Draw names and values in two columns; return their height."""
    indent = max(Run(name, SMALL).width for name, _ in rows) + 6
    baseline, before = y, list[Run]()
    for name, value in rows:
        baseline += step(before, [value]) + bool(before)
        before = [value]
        pen.text(x, baseline, Run(name, SMALL, FAINT))
        pen.text(x + indent, baseline, value.fitted(width - indent))
    return baseline + LINE - SIZE + 1 - y


@dataclass(frozen=True, slots=True)
class Insides:
    """Painter of the boxes' insides, one method a stage.

    Each draws from a top left corner in a width, and returns its height [points].
    """

    stages: Stages
    spelling: Spelling
    choice: Mapping[str, Any]

    def tree(self, pen: Pen, x: float, y: float, width: float) -> float:
        """Draw words side by side, arcs from the verb above, features below."""
        edge, word_at = self.stages.candidate, self.stages.word_at
        colours = {edge["verb"]: INK, edge["subject"]: BLUE, edge["inflected"]: GREEN}
        columns = [self._column(word, colours.get(word)) for word in word_at]
        indent = max(Run(name, SMALL).width for name in NAMES) + 10
        columns = fitting_columns(columns, {*colours}, width - indent)
        # Head, dependent and name of the relations drawn, short ones first.
        pairs = {(edge["verb"], edge["subject"])}
        if edge["inflected"] != edge["verb"]:
            pairs.add((edge["verb"], edge["inflected"]))
        named = [(head, word, word_at[word]["deprel"] or "_") for head, word in pairs]
        relations = sorted(named, key=lambda relation: (abs(relation[0] - relation[1]), relation))
        top = y + LEVEL * len(relations) + 2
        most = max(len(column.runs) for column in columns)
        lines = [[c.runs[n] for c in columns if n < len(c.runs)] for n in range(most)]
        steps = [step(above, below) for above, below in zip([[], *lines], lines, strict=False)]
        baselines = [top + 1.5 + total for total in accumulate(steps)]
        # The middle of each word, from the right where the language is written so.
        room = width - indent
        gap = GAP + min(max(room - _total(columns), 0) / max(len(columns), 1), 5 * GAP)
        centres: dict[int, float] = {}
        at = 0.0
        for column in columns:
            middle = at + column.width / 2
            centre = x + indent + (room - middle if self.spelling.rtl else middle)
            centres[column.word] = centre
            at += column.width + gap
            for run, baseline in zip(column.runs, baselines, strict=False):
                pen.text(centre, baseline, run, "center")
        for level, (head, word, relation) in enumerate(relations, start=1):
            side = 2.5 * level * (1 if centres[word] > centres[head] else -1)
            start, height = centres[head] + side, LEVEL * level - 2
            pen.curve((start, top), (centres[word], top), height)
            label, middle = Run(relation, SMALL), (start + centres[word]) / 2
            edge_x, label_width = middle - label.width / 2 - 2, label.width + 4
            pen.rectangle(edge_x, top - height - 4, label_width, 8, "#FFFFFF")
            pen.text(middle, top - height + 2, label, "center")
        for name, baseline in zip(NAMES, baselines, strict=False):
            pen.text(x, baseline, Run(name, SMALL, FAINT))
        return baselines[-1] + 3 - y

    def _column(self, number: int, colour: str | None) -> Column:
        word, shade = self.stages.word_at[number], colour or FAINT
        runs = [
            self.spelling.run(word["form"], FORM, colour or INK, bold=colour is not None),
            self.spelling.run(word["lemma"] or "_", SMALL, shade),
            Run(word["upos"] or "_", SMALL, shade),
            Run(word["deprel"] or "_", SMALL, shade),
        ]
        feats = (word["feats"] or "").split("|") if colour else []
        for text in feats[:MOST_FEATURES] + ([ELLIPSIS] if len(feats) > MOST_FEATURES else []):
            agreeing = text.partition("=")[0] in COLUMNS_OF[self.stages.feature]
            runs.append(Run(text, SMALL, shade if agreeing else FAINT, bold=agreeing))
        return Column(number, tuple(runs))

    def candidate(self, pen: Pen, x: float, y: float, width: float) -> float:
        """Draw subject, verb and what is between them."""
        candidate, item = self.stages.candidate, self.stages.item
        distance = abs(candidate["distance"])
        distance_text = f"{distance} word{'s' if distance > 1 else ''}"
        feature = f"{self.stages.feature} = {item['grammatical']}"
        subject, agreeing = candidate["subject_form"], candidate["form"]
        rows = [
            ("subject", self.spelling.run(subject, colour=BLUE, bold=True)),
            ("agreeing word", self.spelling.run(agreeing, colour=GREEN, bold=True)),
            ("kind", Run(KINDS[candidate["kind"]], SIZE)),
            ("order", Run(ORDERS[candidate["order"]], SIZE)),
            ("distance", Run(distance_text, SIZE)),
            ("attractors", Run(str(item["attractors"] or "none"), SIZE)),
            ("feature", Run(feature, SIZE, bold=True)),
        ]
        return facts(pen, x, y, width, rows)

    def agreement(self, pen: Pen, x: float, y: float, width: float) -> float:
        """Draw how often the language's verbs have each value, and what the test says."""
        stages, item, test = self.stages, self.stages.item, self.stages.test
        inflected = {"sv": "verbs", "sp": "participles"}[item["phenomenon"][:2]]
        value = f"{stages.feature} = {item['grammatical']}"
        title = Run(f"{inflected} of subjects with {value}, {item['order']}", SMALL, FAINT)
        top = y + pen.paragraph(x, y, width, words_of(title)) + 1
        total = sum(row["count"] for row in stages.counts)
        room = width - BAR_LEFT - BAR_RIGHT
        for row in stages.counts[:4]:
            agrees, share = row["verb_value"] == item["grammatical"], row["count"] / total
            pen.text(x, top + SIZE, Run(row["verb_value"], SIZE, bold=agrees).fitted(BAR_LEFT - 2))
            colour = GREEN if agrees else VERMILION
            pen.rectangle(x + BAR_LEFT, top + 1.2, room, SIZE - 1, BAR)
            pen.rectangle(x + BAR_LEFT, top + 1.2, max(room * share, 0.6), SIZE - 1, colour)
            text = f"{row['count']:,} ({100 * share:.1f} %)"
            pen.text(x + width, top + SIZE, Run(text, SMALL), "right")
            top += LINE + 1.5
        rows = [("evidence", Run("none", SIZE))]
        if test:
            p = test["p_greater"]
            p_text = "< 0.001" if p < 0.001 else f"= {p:.3f}"
            rows = [
                ("agreeing", Run(f"{test['agreeing']:,} of {test['n']:,}", SIZE)),
                (f"P(agree) > {self.choice['null']:g}", Run(f"p {p_text}", SIZE)),
            ]
        top += 3
        top += facts(pen, x, top, width, rows)
        label = f"“{item['label']}”: {LABELLED.get(item['label'], 'of several values')}"
        pen.text(x, top + SIZE, Run(label, SIZE, bold=True).fitted(width))
        return top + LINE - y

    def inflection(self, pen: Pen, x: float, y: float, width: float) -> float:
        """Draw the lexicon's entries for the agreeing word, and what became of each."""
        stages = self.stages
        sizes = ", ".join(f"{RESOURCES[name]} {n:,}" for name, n in stages.sizes.items())
        lemma = words_of(Run("entries of the lemma", SMALL, FAINT))
        lemma.append(self.spelling.run(stages.lemma, SMALL, bold=True))
        counted = words_of(Run(f": {sizes}", SMALL, FAINT, glued=True))
        top = y + pen.paragraph(x, y, width, lemma + counted) + 1.5
        groups: dict[tuple[str, str, str], list[Entry]] = {}
        for entry in stages.entries:
            key = (entry.row.form, entry.source, verdict_of(entry))
            groups.setdefault(key, []).append(entry)
        alike = [*groups.values()]
        for entries in alike[:MOST_FORMS]:
            top += self._form(pen, entries, x, top, width)
        notes = []
        if len(alike) > MOST_FORMS:
            notes.append(f"and {sum(map(len, alike[MOST_FORMS:]))} more")
        if not stages.consulted["ud"] and stages.consulted["unimorph"]:
            notes.append("Treebanks not consulted: UniMorph has exactly one other form.")
        for note in notes:
            top += pen.paragraph(x, top, width, words_of(Run(note, SMALL, FAINT)))
        return top - y

    def _form(self, pen: Pen, entries: Sequence[Entry], x: float, y: float, width: float) -> float:
        entry = entries[0]
        decided = entry.own or entry.chosen
        colour = GREEN if entry.own else VERMILION if entry.chosen else INK
        verdict = Run(verdict_of(entry), SMALL, colour if decided else FAINT)
        form = self.spelling.run(entry.row.form, colour=colour, bold=decided)
        baseline = y + step([], [form])
        pen.text(x + width, baseline, verdict, "right")
        pen.text(x, baseline, form.fitted(width - verdict.width - 4))
        source = Run(f"({RESOURCES[entry.source]})", SMALL, FAINT)
        bundles = (entry.row.bundle.split("|") for entry in entries)
        values = (";".join(feature.partition("=")[2] for feature in bundle) for bundle in bundles)
        readings = Run(" / ".join(values), SMALL, FAINT).fitted(width - 10 - source.width)
        baseline += step([form], [readings])
        pen.line(x + 6, baseline, [readings, source], space=4)
        return baseline + SMALL_LINE - SMALL + 2 - y

    def pair(self, pen: Pen, x: float, y: float, width: float) -> float:
        """Draw both sentences, the ungrammatical one with a star."""
        item, spelling, size, top = self.stages.item, self.spelling, 8.5, y
        for side, star, colour in (("good", " ", GREEN), ("bad", "*", VERMILION)):
            mark = Run(star, size, VERMILION, bold=True)
            pen.text(x + width - 7 if spelling.rtl else x, top + size, mark)
            text, start, end = (item[name] for name in (side, f"{side}_start", f"{side}_end"))
            before, form, after = text[:start], text[start:end], text[end:]
            runs = [
                *spelling.words(before, False, size),
                *spelling.words(
                    form, bool(before) and not before[-1].isspace(), size, colour, True
                ),
                *spelling.words(after, bool(after) and not after[0].isspace(), size),
            ]
            start_x = x if spelling.rtl else x + 9
            top += pen.paragraph(start_x, top, width - 9, runs, spelling.rtl) + 2
        values = f"{self.stages.feature}: {item['grammatical']} → {item['ungrammatical']}"
        edge, align = (x + width - 9, "right") if spelling.rtl else (x + 9, "left")
        pen.text(edge, top + SMALL, Run(values, SMALL, FAINT), align)
        return top + SMALL_LINE - y

    def balance(self, pen: Pen, x: float, y: float, width: float) -> float:
        """Draw pairs of the condition, and those that were kept."""
        item, available, kept = self.stages.item, self.stages.available, self.stages.kept
        values = f"{item['grammatical']} → {item['ungrammatical']}"
        title = f"condition {values}, {item['order']}, {KINDS[item['inflected']]}"
        top = y + pen.paragraph(x, y, width, words_of(Run(title, SMALL, FAINT))) + 2
        room = width - BAR_LEFT - BAR_RIGHT / 2
        for name, n, colour in (("pairs", available, BAR), ("kept", kept, BLUE)):
            pen.text(x, top + SIZE, Run(name, SIZE))
            length = max(room * n / max(available, kept), 0.6)
            pen.rectangle(x + BAR_LEFT, top + 1.2, length, SIZE - 1, colour)
            pen.text(x + width, top + SIZE, Run(f"{n:,}", SIZE, bold=True), "right")
            top += LINE + 1.5
        limit, weight = self.choice["limit"], f"{100 * item['weight']:.2g}\N{NO-BREAK SPACE}%"
        share = f"At most {limit:,} are drawn by weight; this pair has {weight} of all weight."
        top += 1 + pen.paragraph(x, top + 1, width, words_of(Run(share, SMALL, FAINT)))
        return top - y


@dataclass(frozen=True, slots=True)
class Box:
    """A box: its heading, a note at the right of the heading, and its inside."""

    heading: str
    beside: str
    width: float
    draw: Draw

    def height(self) -> float:
        """Return the height in points, heading and margins included."""
        return HEAD + self.draw(Pen(), 0, 0, self.width - 2 * INNER) + 2 * INNER

    def drawn(self, pen: Pen, x: float, y: float, height: float) -> None:
        """Draw the box with its top left corner at ``x``, ``y``."""
        pen.box(x, y, self.width, height)
        pen.box(x, y, self.width, HEAD, BAND)
        used = pen.text(x + INNER, y + HEAD - 4.3, Run(self.heading, HEADING, bold=True))
        beside = Run(self.beside, SMALL, FAINT).fitted(self.width - 3 * INNER - used)
        pen.text(x + self.width - INNER, y + HEAD - 4.3, beside, "right")
        self.draw(pen, x + INNER, y + HEAD + INNER, self.width - 2 * INNER)


def draw(stages: Stages, spelling: Spelling, language: str, choice: Mapping[str, Any]) -> Figure:
    """Draw all boxes of a pair in three rows, with the arrows from each to the next."""
    item, full = stages.item, WIDTH - 2 * EDGE
    inside = Insides(stages, spelling, choice)
    second = [share * (full - 2 * GUTTER) for share in SHARES]
    pair = PAIR_SHARE * (full - GUTTER)
    origin = f"{item['treebank']}, {item['sent_id']}"
    rows = [
        [Box("1  Sentence of a treebank", origin, full, inside.tree)],
        [
            Box("2  Extract", "§4.1", second[0], inside.candidate),
            Box(f"3  Validate in {language}", "§4.2", second[1], inside.agreement),
            Box("4  Inflect", "§4.3", second[2], inside.inflection),
        ],
        [
            Box("5  Minimal pair", f"item {item['item_id']}", pair, inside.pair),
            Box("6  Balance", "§4.4", full - GUTTER - pair, inside.balance),
        ],
    ]
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
    """Draw Figure 2: one pair of the campaign at every stage.

    Raises UserError for an unknown pair.
    """
    choice = labels.facts["figure2"]
    language, tag = labels.languages[choice["language"]], language_tag(choice["language"])
    stages = follow_pair(tables, choice)
    if stages is None:
        empty = new_figure(PAGE_INCHES, 1.2)
        say(empty.subplots(), f"{language} has no pairs")
        return Exhibit(**describe("fig2_empty", language=language), cells=[], figure=empty)
    by_stage = stage_cells(stages)
    cells = [cell for cells in by_stage.values() for cell in cells]
    # A cell of rows counts has their number as its text, unless it shows what one row says.
    texts = [cell for cell in cells if cell.formula == COUNT and cell.text != str(cell.n)]
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
        cells=cells,
        stub={cell.row: {"Stage": stage} for stage in by_stage for cell in by_stage[stage]},
        figure=figure,
        textual=True,
        written_in={(cell.row, COLUMN): tag for cell in texts if cell.row not in IN_ENGLISH},
    )
