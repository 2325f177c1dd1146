"""Tables 2, 7, 8 and 54: how many prompts there are, system prompts, and subsets of arguments.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2 and appendices A.1 and A.2. The
exhibit ``counts``, which sets numbers of prompts beside those in print, is ours.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, KINDS, VALUES, of_row
from blimpworks.exhibits.shared import (
    Tables,
    by_place,
    formula_cell,
    printed_cell,
    printed_text_cell,
    read_plain,
    read_printed,
    row_cell,
)
from blimpworks.papers.lmentry.exhibits import describe
from blimpworks.papers.lmentry.exhibits.common import (
    EVERY,
    SAMPLES,
    TOTAL,
    count_of,
    language_code,
    language_name,
    language_tag,
    languages_of,
    read_exhibit,
    read_prompts,
)
from blimpworks.papers.lmentry.exhibits.names import (
    BENCHMARK,
    HEADS,
    LANGUAGES,
    TASK_NAMES,
    task_name,
)
from blimpworks.papers.lmentry.exhibits.templates import pack_cell, unlike_print
from blimpworks.papers.lmentry.items.packs import SYSTEM as SYSTEM_KEY
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.tables import PROMPT_COUNTS
from blimpworks.papers.lmentry.tasks import PARENTS

PRINT_ORDER = ("eng", "ita", "spa", "deu", "cat", "glg", "eus", "kor", "por")
"""Languages in the order of Table 54."""
FACT = "lmentry_counts"
PRINTED, MADE, WHY = "printed", "made", "Why they differ"
SYSTEM, SPOKEN = "System prompt", "Languages"


# Table 2


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Table 2: prompts of each language.

    The published form has hidden cells of its numbers computed from Table 54 and its own rows.
    """
    if labels.source == "published":
        printed = read_printed(tables)
        cells = [
            printed_cell(row, (language_name(row["row"], labels), SAMPLES))
            for _, row in read_exhibit(printed, "table2").iterrows()
        ]
        cells += _sums(printed, labels)
        languages, key = [*LANGUAGES], "table2_published"
    else:
        items, key = read_prompts(tables["items"]), "table2"
        languages = sorted(languages_of(items), key=lambda lang: language_name(lang, labels))
        cells = [
            count_of(items, (language_name(lang, labels), SAMPLES), (lang, "samples"), lang=lang)
            for lang in languages
        ]
        cells.append(count_of(items, (TOTAL, SAMPLES), (EVERY, "samples")))
    stub = {language_name(x, labels): {"Code": language_code(x, labels)} for x in languages}
    stub[TOTAL] = {"Code": ""}
    return Exhibit(**describe(key), cells=cells, stub=stub)


def _sums(printed: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """Sums of Table 54's columns, and of this table's rows."""
    wheres: dict[str, dict[str, Any]] = {
        lang: {"exhibit": "table54", "column": lang} for lang in LANGUAGES
    }
    wheres[EVERY] = {"exhibit": "table2", "row": [*LANGUAGES], "column": "samples"}
    for lang, where in wheres.items():
        column = "Sum of the rows" if lang == EVERY else "From Table 54"
        place, more = (language_name(lang, labels), column), {"stands_for": (lang, "samples")}
        yield formula_cell(
            printed, place, VALUES, "published", where, ",.0f", printed=False, **more
        )


# Table 54


def table54(tables: Tables, labels: Labels) -> Exhibit:
    """Table 54: prompts of each task and language.

    The published form has hidden cells of its numbers computed from the release's settings.
    """
    if labels.source == "published":
        printed = by_place(read_printed(tables, exhibit="table54"))
        cells = [
            printed_cell(row, (task_name(task), language_code(lang, labels)))
            for (task, lang), row in printed.items()
        ]
        cells += _by_settings(read_plain(PROMPT_COUNTS, tables["prompt_counts"][0]), labels)
        order: Sequence[str] = PRINT_ORDER
        key = "table54_published"
    else:
        items, key = read_prompts(tables["items"]), "table54"
        cells, order = [*_counts(items, labels)], languages_of(items)
    heads = {language_code(lang, labels): ("", language_code(lang, labels)) for lang in order}
    return Exhibit(**describe(key), cells=cells, heads=heads)


def _by_settings(counts: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """The numbers again, from the settings of the release."""
    for _, row in counts.iterrows():
        task, lang = row["phenomenon"], row["lang"]
        place = task_name(task), f"{language_code(lang, labels)}, by {row['basis']}"
        keys, text = ("phenomenon", "lang"), f"{row['prompts']:,}"
        cell = row_cell("prompt_counts", row, keys, "prompts", place, text)
        yield replace(cell, stands_for=(task, lang), printed=False)


def _counts(items: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """How many prompts there are of each task and language that has any."""
    pairs = {*zip(items["phenomenon"], items["lang"], strict=True)}
    for task, lang in product(sorted({task for task, _ in pairs}), languages_of(items)):
        if (task, lang) in pairs:
            place = task_name(task), language_code(lang, labels)
            yield count_of(items, place, (task, lang), lang=lang, phenomenon=task)


# Counts


def reason_of(
    facts: Mapping[str, Any], task: str, lang: str, printed: float, measured: float
) -> str:
    """Why the printed number of prompts and that of the campaign differ."""
    known = {(r["variant"], r["task"], r["lang"]): r for r in facts["differences"]}
    row = known.get((facts["variant"], task, lang))
    if row and (printed, measured) == (float(row["printed"]), float(row["made"])):
        return str(row["reason"])
    most = facts["per_template"]
    if most is not None:
        return f"the campaign keeps at most {most:,} prompts of a template"
    return "not explained"


def counts(tables: Tables, labels: Labels) -> Exhibit:
    """Prompts of each task and language beside those of Table 54."""
    items, facts = read_prompts(tables["items"]), labels.facts[FACT]
    printed = by_place(read_printed(tables, exhibit="table54"))
    sizes = items.groupby(["phenomenon", "lang"]).size()
    cells: list[Cell] = []
    reasons: dict[str, dict[str, list[str]]] = {}
    for task, lang in product(HEADS, languages_of(items)):
        key, row, code = (task, lang), task_name(task), language_code(lang, labels)
        before, after = 0, int(sizes.get(key, 0))
        if key in printed:
            cell = printed_cell(printed[key], (row, f"{code} {PRINTED}"))
            cells.append(replace(cell, text=f"{cell.value:,.0f}"))
            before = int(cell.value)
        if key in sizes:
            cells.append(count_of(items, (row, f"{code} {MADE}"), key, lang=lang, phenomenon=task))
        if before != after:
            reason = reason_of(facts, task, lang, before, after)
            reasons.setdefault(row, {}).setdefault(reason, []).append(code)
    columns = dict.fromkeys(cell.column for cell in cells)
    return Exhibit(
        **describe("counts", variant=facts["variant"]),
        cells=cells,
        heads={c: (c.rpartition(" ")[0], c.rpartition(" ")[2]) for c in columns},
        remarks={cell.row: {WHY: _sentence(reasons.get(cell.row, {}))} for cell in cells},
        widths={WHY: 0.3},
    )


def _sentence(reasons: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{', '.join(codes)}: {reason}" for reason, codes in reasons.items())


# Table 7


def _words(printed: pd.DataFrame, exhibit: str) -> dict[str, str]:
    """Texts of a printed exhibit by row."""
    own = read_exhibit(printed, exhibit)
    return dict(zip(own["row"], own["text"], strict=True))


def table7(tables: Tables, labels: Labels) -> Exhibit:
    """Table 7: the system prompt of each language, and how many prompts stand behind it.

    The published form has hidden cells of the language packs' system prompts.
    """
    printed = read_printed(tables)
    packs = {pack.lang: pack.system for pack in map(read_pack, tables["packs"])}
    if labels.source == "published":
        own = read_exhibit(printed, "table7")
        langs = [*own["row"]]
        cells = _published_prompts(own, printed, packs, labels)
        description = describe("table7_published", wording=unlike_print(cells))
    else:
        items = read_prompts(tables["items"])
        langs = [*packs]
        cells = [
            count_of(items, (language_name(lang, labels), SAMPLES), lang=lang)
            for lang in languages_of(items)
        ]
        cells += [_system_cell(lang, packs[lang], SYSTEM, labels) for lang in langs]
        words = _words(printed, "table7")
        description = describe("table7", differences=_differences(packs, words, labels))
    rows = {language_name(lang, labels): lang for lang in langs}
    return Exhibit(
        **description,
        cells=cells,
        stub={name: {"Code": language_code(lang, labels)} for name, lang in rows.items()},
        widths={SYSTEM: 0.6},
        textual=True,
        written_in={(name, SYSTEM): language_tag(lang) for name, lang in rows.items()},
    )


def _published_prompts(
    own: pd.DataFrame, printed: pd.DataFrame, packs: Mapping[str, str], labels: Labels
) -> list[Cell]:
    """Numbers of Table 2, printed system prompts, and hidden ones of the packs."""
    numbers = {row["row"]: row for _, row in read_exhibit(printed, "table2").iterrows()}
    cells = [_of_table2(numbers[lang], lang, labels) for lang in own["row"]]
    for _, row in own.iterrows():
        lang = row["row"]
        cells.append(printed_text_cell(row, (language_name(lang, labels), SYSTEM)))
        again = _system_cell(lang, packs[lang], f"{SYSTEM}, released", labels)
        cells.append(replace(again, printed=False))
    return cells


def _system_cell(lang: str, text: str, column: str, labels: Labels) -> Cell:
    cell = pack_cell(lang, SYSTEM_KEY, (language_name(lang, labels), column), text)
    return replace(cell, stands_for=(lang, SYSTEM_KEY))


def _of_table2(row: pd.Series, lang: str, labels: Labels) -> Cell:
    cell = printed_cell(row, (language_name(lang, labels), SAMPLES))
    return replace(cell, stands_for=None, formula=of_row("value"))


def _differences(texts: Mapping[str, str], words: Mapping[str, str], labels: Labels) -> str:
    """Which of some system prompts are not as printed, as a sentence."""
    names = [language_name(x, labels) for x, text in texts.items() if words.get(x) != text]
    if not names:
        return "All are as printed."
    return f"Not as printed, or not in print: {', '.join(names)}."


# Table 8


def _counts_of_items(items: pd.DataFrame, key: str) -> list[Cell]:
    """Prompts of a subset in all languages, and how many languages have any."""
    count = count_of(items, (key, SAMPLES), phenomenon=key)
    where = {"benchmark": BENCHMARK, "phenomenon": key}
    return (
        [count, formula_cell(items, (key, SPOKEN), KINDS, "items", where, ".0f")] if count.n else []
    )


def _counts_of_table54(printed: pd.DataFrame, key: str) -> list[Cell]:
    """Prompts of a subset in Table 54, and how many languages have any."""
    own = printed[(printed["exhibit"] == "table54") & (printed["row"] == key)]
    known = sorted(own["column"][own["value"].notna()])
    where = {"exhibit": "table54", "row": key, "column": known}
    return [
        formula_cell(own, (key, column), formula, "published", where, ",.0f")
        for column, formula in ((SAMPLES, VALUES), (SPOKEN, COUNT))
    ]


def table8(tables: Tables, labels: Labels) -> Exhibit:
    """Table 8: the subsets of arguments, in words, and how many prompts there are of each."""
    if labels.source == "published":
        printed = read_printed(tables)
        words, form = _words(printed, "table8"), "table8_published"
        cells = [cell for key in PARENTS for cell in _counts_of_table54(printed, key)]
    else:
        items, form = read_prompts(tables["items"]), "table8"
        words = {key: TASK_NAMES[key].words for key in PARENTS}
        cells = [cell for key in PARENTS for cell in _counts_of_items(items, key)]
    return Exhibit(
        **describe(form),
        cells=cells,
        stub={key: {"Task": task_name(task)} for key, task in PARENTS.items()},
        remarks={key: {"Arguments": words[key]} for key in PARENTS},
        widths={"Arguments": 0.5},
        named=False,
    )
