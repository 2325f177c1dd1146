"""What CLAMS's paper has no table of: all English sets, and how many pairs LSTMs could judge.

The English release has Marvin and Linzen's (2018) reflexive anaphora and negative polarity
items too, and sets with inanimate nouns.
"""

from collections.abc import Mapping

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.shared import Tables
from blimpworks.papers.clams.exhibits.bert import ENG
from blimpworks.papers.clams.exhibits.common import (
    HEADINGS,
    Accuracies,
    printed_column,
    read_accuracies,
)
from blimpworks.papers.clams.exhibits.facts import MONO, MULTI
from blimpworks.papers.clams.exhibits.formulas import JUDGED
from blimpworks.papers.clams.exhibits.lstm import NO_LSTM, PARTS, Columns, scored, trained
from blimpworks.papers.clams.items.constructions import (
    AGREEMENT,
    ANIMATE,
    CONSTRUCTIONS,
    ENGLISH,
    ENGLISH_NPIS,
    ENGLISH_REFLEXIVES,
    INANIMATE,
    NPIS,
    REFLEXIVES,
)

ENGLISH_SETS = (
    (AGREEMENT, "Subject-verb agreement", ENGLISH),
    (REFLEXIVES, "Reflexive anaphora", ENGLISH_REFLEXIVES),
    (NPIS, "Negative polarity items", ENGLISH_NPIS),
)
"""Phenomena of English: code, title, constructions."""


def _judged(found: Accuracies, columns: Columns) -> list[Cell]:
    """Pairs of each construction that each model of a part has judged."""
    cells = []
    for key, row in CONSTRUCTIONS.items():
        for (lang, part), name in columns.names.items():
            inside = found.of(part, lang, key)
            if not inside.rows.empty:
                n = f"{JUDGED(inside.rows):.0f}"
                here = (key, printed_column(lang, part))
                cells.append(inside.cell((row, name), JUDGED, stands_for=here, text=n))
    return cells


def lstm_sets(tables: Tables, labels: Labels) -> Exhibit:
    """Of how many minimal sets the LSTMs know the words, in the form of Table 7."""
    columns = Columns.of(labels)
    cells = _judged(read_accuracies(tables, labels), columns)
    return columns.exhibit(
        "Minimal sets that the LSTMs were judged on",
        f"{trained(labels)}Those that Table 1's accuracies are over: a set whose words the "
        "vocabulary lacks is left out, as the campaign's clams.unknown_words says. The paper's "
        "models know all words of all sets (Table 6).",
        cells,
        CONSTRUCTIONS,
    )


def _kinds(found: Accuracies, construction: str, phenomenon: str) -> list[tuple[str, str]]:
    """The sets of a construction, each with what its row's name ends in."""
    rows = found.rows[(found.rows["lang"] == ENG) & (found.rows["phenomenon"] == phenomenon)]
    kinds = {"": "", ANIMATE: "animate", INANIMATE: "inanimate"}
    present = [(construction + suffix, told) for suffix, told in kinds.items()]
    present = [(name, told) for name, told in present if (rows["paradigm"] == name).any()]
    several = len(present) > 1
    return [(name, f", {told}" if several and told else "") for name, told in present]


def _section(
    found: Accuracies, phenomenon: str, names: Mapping[str, str]
) -> tuple[list[Cell], dict[str, str]]:
    """Cells of a phenomenon, and its rows by name."""
    cells: list[Cell | None] = []
    rows: dict[str, str] = {}
    for construction, name in names.items():
        for paradigm, told in _kinds(found, construction, phenomenon):
            row = f"{name}{told}"
            rows[row] = row
            for part in PARTS:
                column = f"{HEADINGS[part]}, {phenomenon}"
                cells.append(found.cell(part, ENG, paradigm, (row, column), phenomenon))
    return [cell for cell in cells if cell], rows


def english(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy of the LSTMs on each English set: agreement, reflexives, polarity items."""
    found = read_accuracies(tables, labels)
    cells: list[Cell] = []
    sections: list[Section] = []
    heads: dict[str, tuple[str, str]] = {}
    for phenomenon, title, names in ENGLISH_SETS:
        made, rows = _section(found, phenomenon, names)
        cells += made
        columns = {f"{HEADINGS[part]}, {phenomenon}": HEADINGS[part] for part in (MONO, MULTI)}
        heads |= {name: ("", head) for name, head in columns.items()}
        if made:
            sections.append(Section(title, rows, [*columns]))
    return Exhibit(
        "Accuracy of LSTMs on all English sets",
        f"{trained(labels)}As in Table 1, with Marvin and Linzen's (2018) reflexives and negative "
        f"polarity items, and with inanimate nouns. Chance is 0.5.{scored(labels)}"
        f"{'' if cells else NO_LSTM}",
        cells,
        heads=heads,
        sections=sections or [Section("", CONSTRUCTIONS, [])],
    )
