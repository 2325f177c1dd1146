"""Tables 2 and 54: how many prompts there are.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3 and appendix A.7.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, VALUES
from blimpworks.exhibits.shared import Tables, printed_cell, read_plain, read_printed, row_cell
from blimpworks.papers.lmentry.exhibits.common import (
    cell_of,
    language_code,
    languages_of,
    read_exhibit,
)
from blimpworks.papers.lmentry.exhibits.names import BENCHMARK, LANGUAGES, task_name
from blimpworks.papers.lmentry.tables import PROMPT_COUNTS
from blimpworks.prompt_tables import PROMPTS
from blimpworks.tables import read_table

SAMPLES, TOTAL, EVERY = "Prompts", "Total", "all"
PRINT_ORDER = ("eng", "ita", "spa", "deu", "cat", "glg", "eus", "kor", "por")
"""Languages in the order of Table 54."""


def language_name(lang: str, labels: Labels) -> str:
    """What a language is called; of the key of all, "Total"."""
    if lang == EVERY:
        return TOTAL
    return LANGUAGES[lang].name if lang in LANGUAGES else labels.languages.get(lang, lang)


def read_prompts(paths: Sequence[Path]) -> pd.DataFrame:
    """Language and task of every prompt."""
    frames: list[pd.DataFrame] = [
        read_table(PROMPTS, path, ["lang", "phenomenon"]).to_pandas().astype(str) for path in paths
    ]
    return pd.concat(frames, ignore_index=True)


def count_of(items: pd.DataFrame, place: tuple[str, str], where: Mapping[str, Any]) -> Cell:
    """A cell that counts prompts."""
    cell = cell_of(items, place, COUNT, "items", where)
    return replace(cell, text=f"{cell.value:,.0f}", n=int(cell.value))


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Table 2: prompts of each language.

    The published form has hidden cells of what Table 54 and the rows make of its numbers.
    """
    title = "Prompts per language"
    if labels.source == "published":
        printed = read_printed(tables)
        own = read_exhibit(printed, "table2")
        cells = [
            printed_cell(r, (language_name(r["row"], labels), SAMPLES)) for _, r in own.iterrows()
        ]
        cells += _sums(printed, labels)
        codes = {language_name(x, labels): {"Code": row.code} for x, row in LANGUAGES.items()}
        caption = "Number of prompts, as printed: the sums of Table 54's columns."
    else:
        items = read_prompts(tables["items"])
        languages = sorted(languages_of(items), key=lambda lang: language_name(lang, labels))
        cells = []
        for lang in languages:
            place = (language_name(lang, labels), SAMPLES)
            cell = count_of(items, place, {"benchmark": BENCHMARK, "lang": lang})
            cells.append(replace(cell, stands_for=(lang, "samples")))
        total = count_of(items, (TOTAL, SAMPLES), {"benchmark": BENCHMARK})
        cells.append(replace(total, stands_for=(EVERY, "samples")))
        codes = {language_name(x, labels): {"Code": language_code(x, labels)} for x in languages}
        caption = "Number of prompts of all tasks and their subsets."
    stub = {**codes, TOTAL: {"Code": ""}}
    return Exhibit(title, caption, cells, row_title="Language", stub=stub)


def _sums(printed: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """Sums of Table 54's columns, and of this table's rows."""
    wheres: dict[str, dict[str, Any]] = {
        lang: {"exhibit": "table54", "column": lang} for lang in LANGUAGES
    }
    wheres[EVERY] = {"exhibit": "table2", "row": [*LANGUAGES], "column": "samples"}
    for lang, where in wheres.items():
        place = (
            language_name(lang, labels),
            "Sum of the rows" if lang == EVERY else "From Table 54",
        )
        cell = cell_of(printed, place, VALUES, "published", where, printed=False)
        yield replace(cell, text=f"{cell.value:,.0f}", stands_for=(lang, "samples"))


def table54(tables: Tables, labels: Labels) -> Exhibit:
    """Table 54: prompts of each task and language.

    The published form has hidden cells of what the release's settings make of its numbers.
    """
    title = "Prompts per task and language"
    if labels.source == "published":
        own = read_exhibit(read_printed(tables), "table54")
        places = [
            (task_name(r["row"]), language_code(r["column"], labels)) for _, r in own.iterrows()
        ]
        cells = [
            printed_cell(row, place)
            for (_, row), place in zip(own.iterrows(), places, strict=True)
            if not pd.isna(row["value"])
        ]
        cells += _by_settings(read_plain(PROMPT_COUNTS, tables["prompt_counts"][0]), labels)
        caption = (
            "Number of prompts, as printed. It is three times the number that the settings ask "
            "for; of sentences that start with a word (and words that start with a letter) "
            "fewer are made outside English and Korean."
        )
        order = [*PRINT_ORDER]
    else:
        items = read_prompts(tables["items"])
        cells = list(_counts(items, labels))
        caption = "Number of prompts, over all templates."
        order = languages_of(items)
    codes = {language_code(lang, labels): ("", language_code(lang, labels)) for lang in order}
    return Exhibit(title, caption, cells, row_title="Task", heads=codes)


def _by_settings(counts: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """The numbers again, from the settings of the release."""
    for _, row in counts.iterrows():
        task, lang = row["phenomenon"], row["lang"]
        place = task_name(task), f"{language_code(lang, labels)}, by {row['basis']}"
        keys, text = ("phenomenon", "lang"), f"{row['prompts']:,}"
        cell = row_cell("prompt_counts", row, keys, "prompts", place, text)
        yield replace(cell, stands_for=(task, lang), printed=False)


def _counts(items: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    pairs = set(zip(items["phenomenon"], items["lang"], strict=True))
    for task in sorted({task for task, _ in pairs}):
        for lang in languages_of(items):
            if (task, lang) in pairs:
                where = {"benchmark": BENCHMARK, "lang": lang, "phenomenon": task}
                cell = count_of(items, (task_name(task), language_code(lang, labels)), where)
                yield replace(cell, stands_for=(task, lang))
