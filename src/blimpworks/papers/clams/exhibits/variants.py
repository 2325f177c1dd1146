"""What the authors' ways of scoring LSTMs change, beside the corrected ones.

Source: Mueller et al. (2020), section 5.2, and the script that counts (docs/clams.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from blimpworks.campaign.ties import TIES
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.shared import Tables
from blimpworks.papers.clams.exhibits.common import (
    HEADINGS,
    Found,
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


def _cell(found: Found, way: Way, row: str, policies: Mapping[str, str]) -> Cell | None:
    """The average of a language's and a part's models, counted in a way."""
    if not found.covers(CONSTRUCTIONS):
        return None
    shift = TIES[way.ties] - TIES[policies[way.method]]
    formula = counted(shift, way.more)
    text = f"{formula(found.rows):.3f}"
    return found.cell((row, way.name), formula, text=text)


def variants(tables: Tables, labels: Labels) -> Exhibit:
    """Average accuracies of Table 1 by what the authors' code does and what corrects it."""
    policies: Mapping[str, str] = labels.facts["clams_ties"]
    languages: Sequence[tuple[str, str]] = [*shown_languages(labels).items()]
    cells: list[Cell | None] = []
    for way in WAYS:
        found = read_accuracies(tables, replace(labels, method=way.method))
        cells += [
            _cell(found.of(part, lang, CONSTRUCTIONS), way, f"{name}, {HEADINGS[part]}", policies)
            for lang, name in languages
            for part in PARTS
            if way.method in policies
        ]
    kept = [cell for cell in cells if cell]
    rows = list(dict.fromkeys(cell.row for cell in kept))
    return Exhibit(
        "Average accuracy of LSTMs as published and corrected",
        f"{trained(labels)}Mean over the seven constructions and over seeds. The authors' script "
        "counts a correct item too many in each set, takes ties for correct, and leaves the "
        "end-of-sentence symbol out of the sum; each column puts one thing more right. Columns "
        f"need their method among clams.methods.{'' if kept else NO_LSTM}",
        kept,
        sections=[Section("", {row: row for row in rows}, [way.name for way in WAYS])],
    )
