"""What the authors' ways of scoring LSTMs change, beside the corrected ones.

Source: Mueller et al. (2020), section 5.2, and the script that counts (docs/clams.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

from blimpworks.campaign.ties import TIES
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.shared import Tables
from blimpworks.papers.clams.exhibits.common import (
    HEADINGS,
    read_accuracies,
    shown_languages,
)
from blimpworks.papers.clams.exhibits.formulas import counted
from blimpworks.papers.clams.exhibits.lstm import NO_LSTM, PARTS, trained
from blimpworks.papers.clams.items.constructions import CONSTRUCTIONS


@dataclass(frozen=True, slots=True)
class Way:
    """A way to score and to count."""

    name: str
    method: str
    ties: str
    more: int


WAYS = (
    Way("As published", "without_end", "right", 1),
    Way("c ÷ n", "without_end", "right", 0),
    Way("c ÷ n, ties half", "without_end", "half", 0),
    Way("Corrected: and with the end of sentence", "full_sentence", "half", 0),
)
"""Each changes one thing more; the last is ``variant: corrected``."""


def variants(tables: Tables, labels: Labels) -> Exhibit:
    """Average accuracies of Table 1 by what the authors' code does and what corrects it."""
    policies: Mapping[str, str] = labels.facts["clams_ties"]
    languages = shown_languages(labels)
    cells: list[Cell] = []
    for way in WAYS:
        if way.method not in policies:
            continue
        accuracies = read_accuracies(tables, replace(labels, method=way.method))
        formula = counted(TIES[way.ties] - TIES[policies[way.method]], way.more)
        for lang, part in product(languages, PARTS):
            selection = accuracies.of(part, lang, CONSTRUCTIONS)
            if selection.complete:
                text = f"{formula(selection.rows):.3f}"
                row = f"{languages[lang]}, {HEADINGS[part]}"
                cells.append(selection.cell((row, way.name), formula, text=text))
    rows = dict.fromkeys(cell.row for cell in cells)
    return Exhibit(
        "Average accuracy of LSTMs as published and corrected",
        f"{trained(labels)}Mean over the seven constructions and over seeds. The authors' script "
        "counts a correct item too many in each set, takes ties for correct, and leaves the "
        "end-of-sentence symbol out of the sum; each column puts one thing more right. Columns "
        f"need their method among clams.methods.{'' if cells else NO_LSTM}",
        cells,
        sections=[Section("", {row: row for row in rows}, [way.name for way in WAYS])],
    )
