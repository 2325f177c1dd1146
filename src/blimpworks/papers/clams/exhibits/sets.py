"""CLAMS's minimal sets: examples (Figure 1), all (Table 6), those scored by BERT (Table 7).

Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020).
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT, TOTAL, select_rows
from blimpworks.exhibits.shared import Tables, marked, read_plain, read_printed
from blimpworks.papers.clams.exhibits.bert import ENG, NO_MASKED, column_name
from blimpworks.papers.clams.exhibits.common import (
    Accuracies,
    plain_or_list,
    printed_cells,
    printed_column,
    read_accuracies,
    shown_languages,
)
from blimpworks.papers.clams.exhibits.facts import BERT, MBERT
from blimpworks.papers.clams.exhibits.formulas import part as share_of
from blimpworks.papers.clams.items.constructions import (
    AGREEMENT,
    CONSTRUCTIONS,
    ENGLISH,
    ENGLISH_REFLEXIVES,
    REFLEXIVES,
    construction_of,
    paradigms,
)
from blimpworks.papers.clams.items.vocabulary import infer_vocabulary
from blimpworks.tables import EVALUATION_SETS, ITEMS, read_table

SIMPLE = "simple_agrmt"
SAME_PREDICATES = ("vp_coord", "subj_rel", "obj_rel_across", "prep")
"""Constructions whose focus words are those of simple agreement."""
ENGLISH_PREDICATES = ("vp_coord", "subj_rel")
"""The same in English, where the others have sets with inanimate nouns too."""


SPANS = ("good_start", "good_end", "bad_start", "bad_end")
MARKED = ("item_id", "lang", "paradigm", "good", "bad", *SPANS)
"""Columns of items that an example needs."""


def whole(value: float) -> str:
    """A count, as the paper prints them."""
    return f"{value:.0f}"


def read_sets(tables: Tables) -> pd.DataFrame | None:
    """The released evaluation sets, each with its construction; None without them."""
    paths = tables.get("evaluation_sets") or []
    if not paths:
        return None
    found = read_plain(EVALUATION_SETS, paths[0])
    return found.assign(construction=found["paradigm"].map(construction_of))


def _sets_cell(
    sets: pd.DataFrame, where: Mapping[str, Any], place: tuple[str, str], here: tuple[str, str]
) -> Cell:
    """How many released sets there are that a filter selects."""
    value = TOTAL(select_rows(sets, dict(where)))
    return Cell(
        *place,
        value,
        whole(value),
        TOTAL,
        "evaluation_sets",
        dict(where),
        printed=False,
        stands_for=here,
    )


def _sections(rows: Mapping[str, str], columns: list[str]) -> list[Section]:
    return [Section("", {name: name for name in rows.values()}, columns)]


# Figure 1


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 1: an English minimal set of each construction; the cell's filter names it."""
    paths = [path for path in tables["items"] if path.stem == ENG]
    items = [row for p in paths for row in read_table(ITEMS, p, MARKED).to_pylist()]
    cells = []
    for key, name in CONSTRUCTIONS.items():
        names = paradigms(key, inanimate=False)
        item = next((item for item in items if item["paradigm"] in names), None)
        if item:
            where = {column: item[column] for column in ("lang", "item_id", "paradigm")}
            cells.append(Cell(name, "Set", 1, marked(item), COUNT, "items", where, n=1))
    return Exhibit(
        "A minimal set of each construction",
        "The first English one of each: the focus word, and with a star the form that takes its "
        "place." + ("" if cells else " The campaign has no English sets."),
        cells,
        row_title="Construction",
        widths={"Set": 0.65},
        textual=True,
    )


# Table 6


def table6(tables: Tables, labels: Labels) -> Exhibit:
    """Table 6: minimal sets by construction and language, with animate nouns."""
    languages = shown_languages(labels)
    published = labels.source == "published"
    if published:
        cells = printed_cells(tables, "table6", CONSTRUCTIONS, languages)
        again = _released(read_sets(tables), languages)
        agree = {cell.stands_for: cell.value for cell in again}
        same = sum(agree.get(c.stands_for) == c.value for c in cells)
        told = f" Of the released evaluation sets {same} of {len(cells)} have this size."
        cells, caption = cells + again, "As printed." + (told if again else "")
    else:
        cells, caption = _counted(tables, languages), "Of the campaign's pairs."
    return Exhibit(
        "Minimal sets by construction and language",
        f"{caption} Animate nouns alone.",
        cells,
        sections=_sections(CONSTRUCTIONS, [*languages.values()]),
    )


def _released(sets: pd.DataFrame | None, languages: Mapping[str, str]) -> list[Cell]:
    """The sizes of the released sets, for the CSV file."""
    if sets is None:
        return []
    return [
        _sets_cell(
            sets,
            {"lang": lang, "paradigm": paradigms(key, inanimate=False)},
            (row, f"{name}, released"),
            (key, lang),
        )
        for key, row in CONSTRUCTIONS.items()
        for lang, name in languages.items()
    ]


def _counted(tables: Tables, languages: Mapping[str, str]) -> list[Cell]:
    """The sizes of the campaign's own sets."""
    cells = []
    for path in tables["items"]:
        found = read_table(ITEMS, path, ["lang", "phenomenon", "paradigm"]).to_pandas()
        found = found[found["phenomenon"] == AGREEMENT]
        for lang, inside in found.groupby("lang", observed=True):
            counts = inside["paradigm"].value_counts()
            for key, row in CONSTRUCTIONS.items():
                names = [p for p in paradigms(key, inanimate=False) if counts.get(p, 0)]
                if names and lang in languages:
                    n = int(counts[names].sum())
                    where = {"lang": lang, "phenomenon": AGREEMENT}
                    where |= {"paradigm": plain_or_list(names)}
                    place = (row, languages[lang])
                    cells.append(
                        Cell(*place, n, str(n), COUNT, "items", where, n, stands_for=(key, lang))
                    )
    return cells


# Table 7

PARTS = (
    (AGREEMENT, "Subject-verb agreement", {**ENGLISH, SIMPLE: "Simple agreement"}),
    (REFLEXIVES, "Reflexive anaphora", ENGLISH_REFLEXIVES),
)


def _columns(labels: Labels) -> dict[tuple[str, str], tuple[str, str]]:
    """Headings by language and part: English has both models, the others one."""
    heads: dict[tuple[str, str], tuple[str, str]] = {}
    for lang, name in shown_languages(labels).items():
        if lang == ENG:
            heads |= {(lang, BERT): (name, "Mono"), (lang, MBERT): (name, "Multi")}
        else:
            heads[lang, MBERT] = ("", name)
    return heads


def table7(tables: Tables, labels: Labels) -> Exhibit:
    """Table 7: minimal sets that the masked models could be scored on.

    The published form has what the words in the vocabulary make of each number: with the
    released sets, those inferred from the numbers; without them, the share of predicates that
    simple agreement shows.
    """
    heads = _columns(labels)
    cells: list[Cell] = []
    sections: list[Section] = []
    printed_heads: dict[str, tuple[str, str]] = {}
    for phenomenon, title, rows in PARTS:
        names = {
            key: column_name(" ".join(head).strip(), phenomenon) for key, head in heads.items()
        }
        printed_heads |= {names[key]: heads[key] for key in heads}
        if labels.source == "published":
            columns = {printed_column(*key): name for key, name in names.items()}
            cells += printed_cells(tables, "table7", rows, columns)
        else:
            cells += _judged(read_accuracies(tables, labels), phenomenon, rows, names)
        sections.append(Section(title, {n: n for n in rows.values()}, [*names.values()]))
    caption = "" if cells else NO_MASKED
    if labels.source == "published":
        cells += _recomputed(tables, labels)
        caption = (
            " As printed; a dash: not replicated. The CSV file has what the words of the "
            "vocabulary make of each number."
        )
    return Exhibit(
        "Minimal sets that BERT was scored on",
        "Those whose focus words are in the vocabulary, English with inanimate nouns too. Mono: "
        f"English BERT; all others: multilingual BERT.{caption}",
        cells,
        heads=printed_heads,
        sections=sections,
    )


def _judged(
    found: Accuracies,
    phenomenon: str,
    rows: Mapping[str, str],
    names: Mapping[tuple[str, str], str],
) -> list[Cell]:
    """How many pairs the campaign's masked models have judged."""
    cells = []
    for key, row in rows.items():
        for (lang, part), name in names.items():
            inside = found.of(part, lang, key, phenomenon)
            if not inside.rows.empty:
                n = TOTAL(inside.rows)
                here = (key, printed_column(lang, part))
                cells.append(inside.cell((row, name), TOTAL, stands_for=here, text=whole(n)))
    return cells


def _recomputed(tables: Tables, labels: Labels) -> list[Cell]:
    printed = read_printed(tables)
    printed = printed[printed["exhibit"].isin(["table6", "table7"]) & printed["value"].notna()]
    sets = read_sets(tables)
    cells: list[Cell] = []
    for (lang, part), head in _columns(labels).items():
        name = f"{' '.join(head).strip()}, from the vocabulary"
        if sets is not None:
            cells += _from_words(printed, sets[sets["lang"] == lang], lang, part, name)
        else:
            cells += _from_share(printed, lang, part, name)
    return cells


def _names() -> dict[str, str]:
    """Row names by construction."""
    return {key: name for _, _, rows in PARTS for key, name in rows.items()}


def _from_words(
    printed: pd.DataFrame, sets: pd.DataFrame, lang: str, part: str, column: str
) -> list[Cell]:
    """Sets of the focus words that account for most of a column."""
    key = printed_column(lang, part)
    inside = printed[(printed["exhibit"] == "table7") & (printed["column"] == key)]
    left = {str(row["row"]): int(row["value"]) for _, row in inside.iterrows()}
    words = infer_vocabulary(sets, left)
    return [
        _sets_cell(
            sets,
            {
                "lang": lang,
                "paradigm": paradigms(construction, inanimate=True),
                "focus": words,
            },
            (_names()[construction], column),
            (construction, key),
        )
        for construction in left
    ]


def _from_share(printed: pd.DataFrame, lang: str, part: str, column: str) -> list[Cell]:
    """The share of sets left of simple agreement, of Table 6's sets with the same predicates."""
    key = printed_column(lang, part)
    values = printed.set_index(["exhibit", "row", "column"])["value"]
    used, size = values.get(("table7", SIMPLE, key)), values.get(("table6", SIMPLE, lang))
    if used is None or size is None:
        return []
    share = Fraction(int(used), int(size))
    formula = share_of(share.numerator, share.denominator)
    cells = []
    for construction in ENGLISH_PREDICATES if lang == ENG else SAME_PREDICATES:
        total = values.get(("table6", construction, lang))
        if total is not None:
            where = {"exhibit": "table6", "row": construction, "column": lang}
            value = float(total * share)
            place, here = (_names()[construction], column), (construction, key)
            cells.append(
                Cell(
                    *place,
                    value,
                    whole(value),
                    formula,
                    "published",
                    where,
                    printed=False,
                    stands_for=here,
                )
            )
    return cells
