"""The boxes of Figure 2, each with a pair's data at one stage.

A box is drawn from its top left corner, in points, and says how high it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from blimpworks.exhibits.fonts import font_for, has_bold
from blimpworks.exhibits.pen import FAINT, HOUSE, INK, LEADING, Pen, Run, step, words_of
from blimpworks.exhibits.style import BLUE, GREEN, VERMILION
from blimpworks.exhibits.texts import is_rtl
from blimpworks.papers.multiblimp.exhibits.stages import RESOURCES, Entry, Stages, verdict_of

SIZE, SMALL = 7.0, 6.2
LINE = SIZE * LEADING
SMALL_LINE = SMALL * LEADING
SMALL_LETTERS = {"Amiri": 1.25, "Noto Naskh Arabic": 1.1, "Scheherazade New": 1.25}
"""Fonts whose letters are smaller than the house font's, and how much they are enlarged."""
LABELLED = {
    "+": "significant agreement",
    "~": "near-universal agreement",
    "?": "undecided",
    "-": "no agreement",
}
KINDS = {"verb": "main verb", "aux": "auxiliary", "ptcp": "participle"}
ORDERS = {"SV": "subject first (SV)", "VS": "verb first (VS)"}
MOST_FORMS = 4
"""Forms of the lexicon that are drawn; the cells have all entries."""
BAR, BAR_LEFT, BAR_RIGHT = "#DDDDDD", 24.0, 52.0


@dataclass(slots=True)
class Spelling:
    """Writes words of the pair's language, by number where no font has their letters."""

    families: tuple[str, ...] | None
    rtl: bool
    numbers: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, stages: Stages) -> "Spelling":
        """The spelling of a pair's language, in a font that has all letters of the figure."""
        texts = [stages.item["good"], stages.item["bad"], stages.lemma]
        texts += [word[name] or "" for word in stages.words for name in ("form", "lemma")]
        texts += [entry.row.form for entry in stages.entries]
        # Any font will do for what the house font has beside the letters of a script.
        own = [letter for text in texts for letter in text if not letter.isascii()]
        family = font_for(own)
        families = tuple(dict.fromkeys((family, *HOUSE))) if family else None
        return cls(families, is_rtl(stages.item["good"]))

    def run(self, text: str, size: float = SIZE, colour: str = INK, bold: bool = False) -> Run:
        """A word of the pair's language as text, or its number where no font has its letters."""
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
        """The words of a text; ``glued`` to what stands before it, where no space is."""
        if self.families is not None:
            return words_of(replace(self.run(text, size, colour, bold), glued=glued))
        return [self.run(word, size, colour, bold) for word in text.split()]


def facts(pen: Pen, x: float, y: float, width: float, rows: Sequence[tuple[str, Run]]) -> float:
    """Names and values in two columns; returns their height."""
    left = max(Run(name, SMALL).width for name, _ in rows) + 6
    baseline, before = y, list[Run]()
    for name, value in rows:
        baseline += step(before, [value]) + bool(before)
        before = [value]
        pen.text(x, baseline, Run(name, SMALL, FAINT))
        pen.text(x + left, baseline, value.fitted(width - left))
    return baseline + LINE - SIZE + 1 - y


def draw_candidate(
    pen: Pen, stages: Stages, spelling: Spelling, x: float, y: float, width: float
) -> float:
    """Subject, verb and what is between them."""
    candidate, item = stages.candidate, stages.item
    distance = abs(candidate["distance"])
    words = f"{distance} word{'s' if distance > 1 else ''}"
    between = str(item["attractors"] or "none")
    rows = [
        ("subject", spelling.run(candidate["subject_form"], colour=BLUE, bold=True)),
        ("agreeing word", spelling.run(candidate["form"], colour=GREEN, bold=True)),
        ("kind", Run(KINDS[candidate["kind"]], SIZE)),
        ("order", Run(ORDERS[candidate["order"]], SIZE)),
        ("distance", Run(words, SIZE)),
        ("attractors", Run(between, SIZE)),
        ("feature", Run(f"{stages.feature} = {item['grammatical']}", SIZE, bold=True)),
    ]
    return facts(pen, x, y, width, rows)


def draw_agreement(
    pen: Pen, stages: Stages, null: float, x: float, y: float, width: float
) -> float:
    """How often the language's verbs have each value, and what the test says."""
    item, test = stages.item, stages.test
    kind = {"sv": "verb", "sp": "participle"}[item["phenomenon"][:2]]
    subjects = f"subjects with {stages.feature} = {item['grammatical']}"
    title = f"{kind}s of {subjects}, {item['order']}"
    top = y + pen.paragraph(x, y, width, words_of(Run(title, SMALL, FAINT))) + 1
    total = sum(row["count"] for row in stages.counts)
    for row in stages.counts[:4]:
        # One value of verbs: its bar and its share.
        agrees = row["verb_value"] == item["grammatical"]
        room = width - BAR_LEFT - BAR_RIGHT
        pen.text(x, top + SIZE, Run(row["verb_value"], SIZE, bold=agrees).fitted(BAR_LEFT - 2))
        share = row["count"] / total
        colour = GREEN if agrees else VERMILION
        pen.rectangle(x + BAR_LEFT, top + 1.2, room, SIZE - 1, BAR)
        pen.rectangle(x + BAR_LEFT, top + 1.2, max(room * share, 0.6), SIZE - 1, colour)
        text = f"{row['count']:,} ({100 * share:.1f} %)"
        pen.text(x + width, top + SIZE, Run(text, SMALL), "right")
        top += LINE + 1.5
    rows = _tested(test, null) if test else [("evidence", Run("none", SIZE))]
    top += 3
    top += facts(pen, x, top, width, rows)
    label = f"“{item['label']}”: {LABELLED.get(item['label'], 'of several values')}"
    pen.text(x, top + SIZE, Run(label, SIZE, bold=True).fitted(width))
    return top + LINE - y


def _tested(test: dict[str, Any], null: float) -> list[tuple[str, Run]]:
    p = test["p_greater"]
    p_text = "< 0.001" if p < 0.001 else f"= {p:.3f}"
    return [
        ("agreeing", Run(f"{test['agreeing']:,} of {test['n']:,}", SIZE)),
        (f"P(agree) > {null:g}", Run(f"p {p_text}", SIZE)),
    ]


def draw_inflection(
    pen: Pen, stages: Stages, spelling: Spelling, x: float, y: float, width: float
) -> float:
    """The lexicon's entries for the agreeing word, and what became of each."""
    sizes = ", ".join(f"{RESOURCES[name]} {n:,}" for name, n in stages.sizes.items())
    lemma = words_of(Run("entries of the lemma", SMALL, FAINT))
    lemma.append(spelling.run(stages.lemma, SMALL, bold=True))
    counted = words_of(Run(f": {sizes}", SMALL, FAINT, glued=True))
    top = y + pen.paragraph(x, y, width, lemma + counted) + 1.5
    groups: dict[tuple[str, str, str], list[Entry]] = {}
    for entry in stages.entries:
        key = (entry.row.form, entry.source, verdict_of(entry))
        groups.setdefault(key, []).append(entry)
    alike = [*groups.values()]
    for entries in alike[:MOST_FORMS]:
        top += _form(pen, entries, spelling, x, top, width)
    for note in _notes(stages, sum(map(len, alike[MOST_FORMS:]))):
        top += pen.paragraph(x, top, width, words_of(Run(note, SMALL, FAINT)))
    return top - y


def _form(
    pen: Pen, entries: Sequence[Entry], spelling: Spelling, x: float, y: float, width: float
) -> float:
    """A form and what becomes of it, and below the features of its entries."""
    entry = entries[0]
    colour = GREEN if entry.own else VERMILION if entry.chosen else INK
    verdict = Run(verdict_of(entry), SMALL, colour if entry.chosen or entry.own else FAINT)
    form = spelling.run(entry.row.form, colour=colour, bold=entry.own or entry.chosen)
    baseline = y + step([], [form])
    pen.text(x + width, baseline, verdict, "right")
    pen.text(x, baseline, form.fitted(width - verdict.width - 4))
    source = Run(f"({RESOURCES[entry.source]})", SMALL, FAINT)
    bundles = (entry.row.bundle.split("|") for entry in entries)
    values = (";".join(part.partition("=")[2] for part in parts) for parts in bundles)
    readings = Run(" / ".join(values), SMALL, FAINT).fitted(width - 10 - source.width)
    baseline += step([form], [readings])
    pen.line(x + 6, baseline, [readings, source], space=4)
    return baseline + SMALL_LINE - SMALL + 2 - y


def _notes(stages: Stages, more: int) -> Iterator[str]:
    """What else there is to say of the lexicon."""
    if more:
        yield f"and {more} more"
    if not stages.consulted["ud"] and stages.consulted["unimorph"]:
        yield "Treebanks not consulted: UniMorph has exactly one other form."


def draw_pair(
    pen: Pen, stages: Stages, spelling: Spelling, x: float, y: float, width: float
) -> float:
    """Both sentences, the ungrammatical one with a star."""
    size, top = 8.5, y
    for side, star, colour in (("good", " ", GREEN), ("bad", "*", VERMILION)):
        mark = Run(star, size, VERMILION, bold=True)
        at = x + width - 7 if spelling.rtl else x
        pen.text(at, top + size, mark)
        left = x if spelling.rtl else x + 9
        item = stages.item
        text, start, end = (item[name] for name in (side, f"{side}_start", f"{side}_end"))
        before, form, after = text[:start], text[start:end], text[end:]
        runs = [
            *spelling.words(before, False, size),
            *spelling.words(form, bool(before) and not before[-1].isspace(), size, colour, True),
            *spelling.words(after, bool(after) and not after[0].isspace(), size),
        ]
        top += pen.paragraph(left, top, width - 9, runs, spelling.rtl) + 2
    values = f"{stages.feature}: {stages.item['grammatical']} → {stages.item['ungrammatical']}"
    edge, align = (x + width - 9, "right") if spelling.rtl else (x + 9, "left")
    pen.text(edge, top + SMALL, Run(values, SMALL, FAINT), align)
    return top + SMALL_LINE - y


def draw_balance(pen: Pen, stages: Stages, limit: int, x: float, y: float, width: float) -> float:
    """Pairs of the condition, and those that were kept."""
    item = stages.item
    values = f"{item['grammatical']} → {item['ungrammatical']}"
    title = f"condition {values}, {item['order']}, {KINDS[item['inflected']]}"
    top = y + pen.paragraph(x, y, width, words_of(Run(title, SMALL, FAINT))) + 2
    room = width - BAR_LEFT - BAR_RIGHT / 2
    for name, n, colour in (("pairs", stages.available, BAR), ("kept", stages.kept, BLUE)):
        pen.text(x, top + SIZE, Run(name, SIZE))
        length = max(room * n / max(stages.available, stages.kept), 0.6)
        pen.rectangle(x + BAR_LEFT, top + 1.2, length, SIZE - 1, colour)
        pen.text(x + width, top + SIZE, Run(f"{n:,}", SIZE, bold=True), "right")
        top += LINE + 1.5
    weight = f"{100 * item['weight']:.2g}\N{NO-BREAK SPACE}%"
    share = f"At most {limit:,} are drawn by weight; this pair has {weight} of all weight."
    top += 1 + pen.paragraph(x, top + 1, width, words_of(Run(share, SMALL, FAINT)))
    return top - y
