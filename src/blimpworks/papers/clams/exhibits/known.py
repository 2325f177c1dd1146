"""What CLAMS's paper has no table of: all English sets, and how many pairs LSTMs could judge.

The English release has Marvin and Linzen's (2018) reflexive anaphora and negative polarity
items too, and sets with inanimate nouns.
"""

from collections.abc import Mapping

from blimpworks.exhibits.exhibit import Exhibit, Labels, Section
from blimpworks.exhibits.shared import Tables
from blimpworks.papers.clams.exhibits.bert import ENG
from blimpworks.papers.clams.exhibits.bert import PARTS as ENGLISH_PARTS
from blimpworks.papers.clams.exhibits.common import (
    HEADINGS,
    Accuracies,
    Column,
    accuracy,
    by_phenomenon,
    measure_by,
    read_accuracies,
    table_of,
    whole,
)
from blimpworks.papers.clams.exhibits.formulas import JUDGED
from blimpworks.papers.clams.exhibits.lstm import (
    NO_LSTM,
    PARTS,
    lstm_grid,
    lstm_table,
    scored,
    trained,
)
from blimpworks.papers.clams.items.constructions import (
    AGREEMENT,
    ANIMATE,
    CONSTRUCTIONS,
    ENGLISH_NPIS,
    INANIMATE,
    NPIS,
)

ENGLISH_SETS = (*ENGLISH_PARTS, (NPIS, "Negative polarity items", ENGLISH_NPIS))
"""Phenomena of English: code, title, constructions."""


def lstm_sets(tables: Tables, labels: Labels) -> Exhibit:
    """Of how many minimal sets the LSTMs know the words, in the form of Table 7."""
    grid = lstm_grid(labels)
    return lstm_table(
        grid,
        "Minimal sets that the LSTMs were judged on",
        f"{trained(labels)}Those that Table 1's accuracies are over: a set whose words the "
        "vocabulary lacks is left out, as the campaign's clams.unknown_words says. The paper's "
        "models know all words of all sets (Table 6).",
        grid.cells(read_accuracies(tables, labels), measure_by(JUDGED, whole)),
        CONSTRUCTIONS,
    )


def _paradigms(accuracies: Accuracies, phenomenon: str, names: Mapping[str, str]) -> dict[str, str]:
    """Names of a phenomenon's English sets by paradigm, by kind of noun where there are both."""
    rows = accuracies.rows
    rows = rows[(rows["lang"] == ENG) & (rows["phenomenon"] == phenomenon)]
    scored_sets = {*rows["paradigm"]}
    nouns = {"": "", ANIMATE: ", animate", INANIMATE: ", inanimate"}
    named: dict[str, str] = {}
    for construction, name in names.items():
        endings = [ending for ending in nouns if construction + ending in scored_sets]
        several = len(endings) > 1
        named |= {construction + e: name + (nouns[e] if several else "") for e in endings}
    return named


def english(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy of the LSTMs on each English set: agreement, reflexives, polarity items."""
    accuracies = read_accuracies(tables, labels)
    columns = [Column(ENG, part, ("", HEADINGS[part]), suffix=f", {AGREEMENT}") for part in PARTS]
    sets = [
        (phenomenon, title, _paradigms(accuracies, phenomenon, names))
        for phenomenon, title, names in ENGLISH_SETS
    ]
    grids = by_phenomenon(columns, sets)
    parts = {grid.title: grid.cells(accuracies, accuracy) for grid in grids}
    cells = [cell for part in parts.values() for cell in part]
    return table_of(
        "Accuracy of LSTMs on all English sets",
        f"{trained(labels)}As in Table 1, with Marvin and Linzen's (2018) reflexives and negative "
        f"polarity items, and with inanimate nouns. Chance is 0.5.{scored(labels)}"
        f"{'' if cells else NO_LSTM}",
        cells,
        grids,
        [grid.section() for grid in grids if parts[grid.title]] or [Section("", CONSTRUCTIONS, [])],
    )
