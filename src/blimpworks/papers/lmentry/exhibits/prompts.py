"""Tables 7 and 8: system prompts, and subsets of arguments.

Source: Moroni, Aula-Blasco, Conia and others (2025), appendices A.1 and A.2.
"""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, KINDS, VALUES, of_row
from blimpworks.exhibits.shared import Tables, printed_cell, printed_text_cell, read_printed
from blimpworks.papers.lmentry.exhibits.common import (
    cell_of,
    language_code,
    language_tag,
    languages_of,
    read_exhibit,
)
from blimpworks.papers.lmentry.exhibits.data import SAMPLES, count_of, language_name, read_prompts
from blimpworks.papers.lmentry.exhibits.names import BENCHMARK, SUBSET_WORDS, task_name
from blimpworks.papers.lmentry.exhibits.texts import pack_cell, unlike_print
from blimpworks.papers.lmentry.items.packs import SYSTEM as SYSTEM_KEY
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.tasks import SUBSETS

SYSTEM = "System prompt"
LANGUAGES = "Languages"


def _words(printed: pd.DataFrame, exhibit: str) -> dict[str, str]:
    """Texts of a printed exhibit by row."""
    own = read_exhibit(printed, exhibit)
    return dict(zip(own["row"], own["text"], strict=True))


# Table 7


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
        caption = f"As printed, with the numbers of Table 2. {unlike_print(cells)}"
    else:
        items = read_prompts(tables["items"])
        langs = [*packs]
        cells = [_of_items(items, lang, labels) for lang in languages_of(items)]
        cells += [_system_cell(lang, packs[lang], SYSTEM, labels) for lang in langs]
        words = _words(printed, "table7")
        caption = f"System prompts of the language packs. {_differences(packs, words, labels)}"
    rows = {language_name(lang, labels): lang for lang in langs}
    return Exhibit(
        "System prompts",
        caption,
        cells,
        row_title="Language",
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


def _of_items(items: pd.DataFrame, lang: str, labels: Labels) -> Cell:
    where = {"benchmark": BENCHMARK, "lang": lang}
    return count_of(items, (language_name(lang, labels), SAMPLES), where)


def _differences(texts: Mapping[str, str], words: Mapping[str, str], labels: Labels) -> str:
    """Which of some system prompts are not as printed, as a sentence."""
    names = [language_name(x, labels) for x, text in texts.items() if words.get(x) != text]
    if not names:
        return "All are as printed."
    return f"Not as printed, or not in print: {', '.join(names)}."


# Table 8


def _keys() -> list[str]:
    return [f"{task}_{name}" for task, names in SUBSETS.items() for name in names]


def _counts_of_items(items: pd.DataFrame, key: str) -> list[Cell]:
    """Prompts of a subset in all languages, and how many languages have any."""
    where = {"benchmark": BENCHMARK, "phenomenon": key}
    counted = count_of(items, (key, SAMPLES), where)
    kinds = cell_of(items, (key, LANGUAGES), KINDS, "items", where)
    return [counted, replace(kinds, text=f"{kinds.value:.0f}")] if counted.value else []


def _counts_of_table54(printed: pd.DataFrame, key: str) -> list[Cell]:
    """The same from Table 54."""
    own = printed[(printed["exhibit"] == "table54") & (printed["row"] == key)]
    known = sorted(own["column"][own["value"].notna()])
    where = {"exhibit": "table54", "row": key, "column": known}
    total = cell_of(own, (key, SAMPLES), VALUES, "published", where)
    kinds = cell_of(own, (key, LANGUAGES), COUNT, "published", where)
    counted = replace(total, text=f"{total.value:,.0f}")
    return [counted, replace(kinds, text=f"{kinds.value:.0f}")]


def table8(tables: Tables, labels: Labels) -> Exhibit:
    """Table 8: the subsets of arguments, in words, and how many prompts there are of each."""
    if labels.source == "published":
        printed = read_printed(tables)
        words, cells = _words(printed, "table8"), []
        for key in _keys():
            cells += _counts_of_table54(printed, key)
        caption = "As printed, with sums over the languages of Table 54."
    else:
        items = read_prompts(tables["items"])
        words = SUBSET_WORDS
        cells = [cell for key in _keys() for cell in _counts_of_items(items, key)]
        caption = "Prompts of all languages, and how many languages have any."
    tasks = {f"{task}_{name}": task for task, names in SUBSETS.items() for name in names}
    return Exhibit(
        "Subsets of arguments",
        f"{caption} Robustness to the content of arguments compares the subsets of a task.",
        cells,
        row_title="Subset",
        stub={key: {"Task": task_name(tasks[key])} for key in _keys()},
        remarks={key: {"Arguments": words[key]} for key in _keys()},
        widths={"Arguments": 0.5},
        named=False,
    )
