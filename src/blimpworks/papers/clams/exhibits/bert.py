"""CLAMS's tables of BERT: by language (2), English in full (3), sets that were scored (7).

Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020).
"""

from collections.abc import Mapping, Sequence

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import of_row
from blimpworks.exhibits.shared import Tables, read_printed
from blimpworks.papers.clams.exhibits.common import (
    AGAIN,
    AVERAGE,
    HEADINGS,
    Accuracies,
    printed_cells,
    read_accuracies,
    shown_languages,
)
from blimpworks.papers.clams.exhibits.facts import BERT, MBERT, PRINTED
from blimpworks.papers.clams.items.constructions import (
    AGREEMENT,
    CONSTRUCTIONS,
    ENGLISH,
    ENGLISH_REFLEXIVES,
    REFLEXIVES,
)

ENG = "eng"
NO_MASKED = " No masked model of the campaign has judged any of it."
PARTS = (
    (AGREEMENT, "Subject-verb agreement", ENGLISH),
    (REFLEXIVES, "Reflexive anaphora", ENGLISH_REFLEXIVES),
)
"""Phenomena of English: code, title, constructions."""


def column_name(name: str, phenomenon: str) -> str:
    """A column's name: each part of a table has its own columns, and so headings of its own."""
    return name if phenomenon == AGREEMENT else f"{name}, {phenomenon}"


def shown_twice(
    tables: Tables, there: tuple[str, str, str], place: tuple[str, str], here: tuple[str, str]
) -> list[Cell]:
    """A printed number as another exhibit prints it: exhibit, row and column ``there``.

    ``here`` is where this exhibit has it, ``place`` the cell's row and column.
    """
    printed = read_printed(tables)
    keys = ("exhibit", "row", "column")
    for key, wanted in zip(keys, there, strict=True):
        printed = printed[printed[key] == wanted]
    where = dict(zip(keys, there, strict=True))
    formula = of_row("value")
    return [
        Cell(
            *place,
            float(row["value"]),
            row["text"],
            formula,
            "published",
            where,
            printed=False,
            stands_for=here,
        )
        for _, row in printed[printed["value"].notna()].iterrows()
    ]


# Table 2


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Table 2: accuracy of the multilingual masked model by construction and language."""
    languages = shown_languages(labels)
    caption = ""
    if labels.source == "published":
        cells = printed_cells(tables, "table2", CONSTRUCTIONS, languages)
        for key, name in CONSTRUCTIONS.items():
            there = ("table3", key, PRINTED[MBERT])
            cells += shown_twice(tables, there, (name, "English, Table 3"), (key, ENG))
        caption = "As printed; the CSV file has the same English numbers from Table 3. "
    else:
        found = read_accuracies(tables, labels)
        made = [
            found.cell(MBERT, lang, key, (name, languages[lang]), column=lang)
            for key, name in CONSTRUCTIONS.items()
            for lang in languages
        ]
        cells = [cell for cell in made if cell]
    return Exhibit(
        "Accuracy of multilingual BERT by construction and language",
        f"{caption}Share of minimal sets in which the right form is the more probable one in place "
        "of the masked word, of those whose two forms are in the vocabulary; a dash: none are. "
        "Chance is 0.5." + ("" if cells else NO_MASKED),
        cells,
        sections=_by_construction([*languages.values()]),
    )


def _by_construction(columns: Sequence[str]) -> list[Section]:
    return [Section("", {name: name for name in CONSTRUCTIONS.values()}, columns)]


# Table 3


def _section_cells(
    found: Accuracies, phenomenon: str, rows: Mapping[str, str], *, base: bool, average: str
) -> list[Cell]:
    """Accuracies of a phenomenon's constructions (``base``), and their average."""
    made: list[Cell | None] = []
    for part in (BERT, MBERT):
        column, key = column_name(HEADINGS[part], phenomenon), PRINTED[part]
        if base:
            made += [
                found.cell(part, ENG, construction, (name, column), phenomenon, key)
                for construction, name in rows.items()
            ]
        stands_for = (f"{phenomenon} average", key)
        place = (average, column)
        made.append(found.average(part, ENG, rows, place, stands_for, phenomenon))
    return [cell for cell in made if cell is not None]


def _printed_section(tables: Tables, phenomenon: str, rows: Mapping[str, str]) -> list[Cell]:
    """Printed accuracies, and beside those of Table 2 what it has for them."""
    columns = {PRINTED[part]: column_name(HEADINGS[part], phenomenon) for part in (BERT, MBERT)}
    shown = {**rows, f"{phenomenon} average": AVERAGE}
    cells = printed_cells(tables, "table3", shown, columns)
    for key, name in rows.items():
        place, here = (name, "Multi, Table 2"), (key, PRINTED[MBERT])
        cells += shown_twice(tables, ("table2", key, ENG), place, here)
    return cells


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3: accuracy of English and multilingual masked models on all English sets."""
    found = read_accuracies(tables, labels)
    published = labels.source == "published"
    cells: list[Cell] = []
    sections: list[Section] = []
    heads: dict[str, tuple[str, str]] = {}
    for phenomenon, title, rows in PARTS:
        if published:
            cells += _printed_section(tables, phenomenon, rows)
        average = AGAIN if published else AVERAGE
        cells += _section_cells(found, phenomenon, rows, base=not published, average=average)
        shown = [*rows.values(), *dict.fromkeys((AVERAGE, average))]
        names = {column_name(HEADINGS[part], phenomenon): HEADINGS[part] for part in (BERT, MBERT)}
        heads |= {name: ("", head) for name, head in names.items()}
        sections.append(Section(title, {name: name for name in shown}, [*names]))
    again = "As printed; the last row of each part is the mean of those above. " * published
    return Exhibit(
        "Accuracy of English and multilingual BERT on the English sets",
        f"{again}As in Table 2, on sets with animate and inanimate nouns; average: over "
        "constructions. The English model's accuracies are from Goldberg (2019)."
        if published
        else "As in Table 2, on sets with animate and inanimate nouns; average: over "
        "constructions." + ("" if cells else NO_MASKED),
        cells,
        heads=heads,
        sections=sections,
    )
