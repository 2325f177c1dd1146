"""Tables 2, 3, 52, 53 and 54: prompts, models, and agreement with annotators.

Source: Moroni, Aula-Blasco, Conia and others (2025), sections 3.3 and 4, appendices A.6 and A.7.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, VALUES
from blimpworks.exhibits.lmentry.common import (
    cell_of,
    language_code,
    languages_of,
    model_name,
    read_exhibit,
    sections_of,
)
from blimpworks.exhibits.lmentry.formulas import MEAN
from blimpworks.exhibits.lmentry.names import BENCHMARK, HEADS, LANGUAGES, MODELS, task_name
from blimpworks.exhibits.shared import Tables, printed_cell, read_printed
from blimpworks.tables import ITEMS, read_table

SAMPLES, TOTAL, EVERY = "Prompts", "Total", "all"
AGREEMENT = {"table52": "English", "table53": "Basque"}
GLOBAL = "global_accuracy"
OVERALL = "global accuracy"
PRINT_ORDER = ("eng", "ita", "spa", "deu", "cat", "glg", "eus", "kor", "por")
"""Languages in the order of Table 54."""


def _language(lang: str, labels: Labels) -> str:
    if lang == EVERY:
        return TOTAL
    return LANGUAGES[lang].name if lang in LANGUAGES else labels.languages.get(lang, lang)


def _items(paths: Mapping[str, Path]) -> pd.DataFrame:
    """Language and task of every prompt."""
    frames: list[pd.DataFrame] = [
        read_table(ITEMS, path, ["phenomenon"]).to_pandas().astype(str).assign(lang=lang)
        for lang, path in paths.items()
    ]
    return pd.concat(frames, ignore_index=True)


def _count(items: pd.DataFrame, place: tuple[str, str], where: Mapping[str, Any]) -> Cell:
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
        cells = [printed_cell(r, (_language(r["row"], labels), SAMPLES)) for _, r in own.iterrows()]
        cells += _sums(printed, labels)
        codes = {_language(x, labels): {"Code": row.code} for x, row in LANGUAGES.items()}
        caption = "Number of prompts, as printed: the sums of Table 54's columns."
    else:
        items = _items({path.stem: path for path in tables["items"]})
        languages = sorted(languages_of(items), key=lambda lang: _language(lang, labels))
        cells = []
        for lang in languages:
            place = (_language(lang, labels), SAMPLES)
            cell = _count(items, place, {"benchmark": BENCHMARK, "lang": lang})
            cells.append(replace(cell, stands_for=(lang, "samples")))
        total = _count(items, (TOTAL, SAMPLES), {"benchmark": BENCHMARK})
        cells.append(replace(total, stands_for=(EVERY, "samples")))
        codes = {_language(x, labels): {"Code": language_code(x, labels)} for x in languages}
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
        place = (_language(lang, labels), "Sum of the rows" if lang == EVERY else "From Table 54")
        cell = cell_of(printed, place, VALUES, "published", where, printed=False)
        yield replace(cell, text=f"{cell.value:,.0f}", stands_for=(lang, "samples"))


def table54(tables: Tables, labels: Labels) -> Exhibit:
    """Table 54: prompts of each task and language."""
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
        caption = (
            "Number of prompts, as printed. It is three times the number that the settings ask "
            "for; of sentences that start with a word (and words that start with a letter) "
            "fewer are made outside English and Korean."
        )
        order = [*PRINT_ORDER]
    else:
        items = _items({path.stem: path for path in tables["items"]})
        cells = list(_counts(items, labels))
        caption = "Number of prompts, over all templates."
        order = languages_of(items)
    codes = {language_code(lang, labels): ("", language_code(lang, labels)) for lang in order}
    return Exhibit(title, caption, cells, row_title="Task", heads=codes)


def _counts(items: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    found = set(zip(items["phenomenon"], items["lang"], strict=True))
    for task in sorted({task for task, _ in found}):
        for lang in languages_of(items):
            if (task, lang) in found:
                where = {"benchmark": BENCHMARK, "lang": lang, "phenomenon": task}
                cell = _count(items, (task_name(task), language_code(lang, labels)), where)
                yield replace(cell, stands_for=(task, lang))


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3: the models, their sizes and languages; in print only."""
    own = read_exhibit(read_printed(tables), "table3")
    found = {(row["row"], row["column"]): row for _, row in own.iterrows()}
    cells, stub, remarks = [], {}, {}
    for model in MODELS:
        name = model_name(model, labels)
        cells.append(printed_cell(found[model, "size"], (name, "Size")))
        stub[name] = {"Name": str(found[model, "name"]["text"])}
        remarks[name] = {"Languages": str(found[model, "languages"]["text"])}
    return Exhibit(
        "The models, with size and languages",
        "As printed. The names of Llama-3.2 lack their suffix: the models are those tuned on "
        "instructions (Llama-3.2-1B-Instruct and Llama-3.2-3B-Instruct).",
        cells,
        row_title="Model",
        stub=stub,
        remarks=remarks,
        sections=sections_of([*MODELS], labels, ["Name", "Size", "Languages"], {}),
    )


def agreement_table(tables: Tables, labels: Labels, table: str) -> Exhibit:
    """Tables 52 and 53: how often annotators agree with the patterns; in print only."""
    own = read_exhibit(read_printed(tables), table)
    column = "Agreement (%)"
    cells = [printed_cell(row, (task_name(row["row"]), column)) for _, row in own.iterrows()]
    tasks = [task for task in HEADS if task in set(own["row"])]
    where = {"exhibit": table, "row": tasks, "column": "agreement"}
    mean = cell_of(own, (f"{OVERALL}, mean of the tasks", column), MEAN, "published", where)
    cells.append(replace(mean, text=f"{mean.value:.2f}", stands_for=(GLOBAL, "agreement")))
    return Exhibit(
        f"Agreement of the patterns with annotations in {AGREEMENT[table]}",
        "Percentage of predictions on which the patterns and the annotation agree, as printed; "
        "last, the mean of the tasks and subsets. The paper calls the annotators people, "
        "the scripts of its repository ask a language model.",
        cells,
        row_title="Task",
    )
