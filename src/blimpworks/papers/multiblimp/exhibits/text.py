"""Numbers that MultiBLiMP gives in running text: sections 3, 5, 6.2, 7.1 and 8, as a table."""

from collections.abc import Mapping

from blimpworks.exhibits.exhibit import Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, KINDS, Formula, of_row
from blimpworks.exhibits.shared import Tables, formula_cell, read_plain, read_printed
from blimpworks.exhibits.statements import VALUE, Place, Recomputation, printed_statements
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.formulas import DIFFERENCE, ENOUGH_PAIRS, LANGUAGES
from blimpworks.tables import ITEMS

RECOMPUTATION = Recomputation(dict.fromkeys((COUNT, DIFFERENCE, of_row("value")), "{:g}"))
MEASURED: Mapping[Place, tuple[str, Formula, Mapping[str, str]]] = {
    ("data", "pairs"): ("MultiBLiMP 1.0: pairs", COUNT, {}),
    ("data", "languages"): ("MultiBLiMP 1.0: languages", KINDS, {}),
    ("sv#", "languages"): (
        "Subject-verb number agreement: languages",
        LANGUAGES,
        {"phenomenon": "sv#"},
    ),
    ("spP", "languages"): (
        "Subject-participle person agreement: languages",
        LANGUAGES,
        {"phenomenon": "spP"},
    ),
}
"""What a printed number is about, and the formula and items that give the campaign's own."""


def text(tables: Tables, labels: Labels) -> Exhibit:
    """What the text says of the resources, the pairs and the models, apart from 7.2 and 7.3."""
    if labels.source == "published":
        cells, faults = printed_statements(read_printed(tables), RECOMPUTATION)
        return Exhibit(**describe("text_published", faults=faults), cells=cells)
    items = read_plain(ITEMS, tables["items"], ["lang", "phenomenon"])
    cells = [
        formula_cell(items, (name, VALUE), formula, "items", where, ",.0f", stands_for=place)
        for place, (name, formula, where) in MEASURED.items()
    ]
    return Exhibit(**describe("text", enough=ENOUGH_PAIRS), cells=cells)
