"""Prompts per task and language as printed and as made here, with a reason for each difference.

Source: Moroni, Aula-Blasco, Conia and others (2025), Table 54.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT
from blimpworks.exhibits.shared import Tables, printed_cell, read_printed
from blimpworks.papers.lmentry.exhibits.common import (
    cell_of,
    language_code,
    languages_of,
    read_exhibit,
)
from blimpworks.papers.lmentry.exhibits.data import read_prompts
from blimpworks.papers.lmentry.exhibits.names import BENCHMARK, HEADS, task_name

FACT = "lmentry_counts"
PRINTED, MADE, WHY = "printed", "made", "Why they differ"
TABLE = "table54"


def _cells(
    prompts: pd.DataFrame, printed: pd.DataFrame, labels: Labels
) -> Iterator[tuple[str, str, Cell]]:
    """Task, language and cell: for each task and language what is printed, then what is made."""
    printed_rows = {(row["row"], row["column"]): row for _, row in printed.iterrows()}
    sizes = prompts.groupby(["phenomenon", "lang"]).size()
    for task in HEADS:
        for lang in languages_of(prompts):
            code = language_code(lang, labels)
            row = printed_rows.get((task, lang))
            if row is not None and not pd.isna(row["value"]):
                cell = printed_cell(row, (task_name(task), f"{code} {PRINTED}"))
                yield task, lang, replace(cell, text=f"{cell.value:,.0f}")
            if (task, lang) in sizes:
                where: dict[str, Any] = {"benchmark": BENCHMARK, "lang": lang, "phenomenon": task}
                place = task_name(task), f"{code} {MADE}"
                count = cell_of(prompts, place, COUNT, "items", where)
                n = int(count.value)
                yield task, lang, replace(count, text=f"{n:,}", n=n, stands_for=(task, lang))


def reason_of(facts: Mapping[str, Any], task: str, lang: str, printed: float, built: float) -> str:
    """Why two numbers differ; empty where they do not, or nobody has said why."""
    if printed == built:
        return ""
    key = (facts["variant"], task, lang)
    known = {(r["variant"], r["task"], r["lang"]): r for r in facts["differences"]}
    row = known.get(key)
    if row and (printed, built) == (float(row["printed"]), float(row["made"])):
        return str(row["reason"])
    most = facts["per_template"]
    if most is not None:
        return f"the campaign keeps at most {most:,} prompts of a template"
    return "not explained"


def differences(
    prompts: pd.DataFrame, printed: pd.DataFrame
) -> Iterator[tuple[str, str, int, int]]:
    """Task, language, printed and made number where the two differ, 0 for what is not there."""
    known = {
        (row["row"], row["column"]): int(row["value"])
        for _, row in read_exhibit(printed, TABLE).iterrows()
        if not pd.isna(row["value"])
    }
    sizes = prompts.groupby(["phenomenon", "lang"]).size()
    for task in HEADS:
        for lang in languages_of(prompts):
            pair = known.get((task, lang), 0), int(sizes.get((task, lang), 0))
            if pair[0] != pair[1]:
                yield task, lang, *pair


def counts(tables: Tables, labels: Labels) -> Exhibit:
    """Prompts of each task and language beside those of Table 54."""
    prompts, printed = read_prompts(tables["items"]), read_printed(tables)
    triples = [*_cells(prompts, read_exhibit(printed, TABLE), labels)]
    cells = [cell for _, _, cell in triples]
    facts = labels.facts[FACT]
    why: dict[str, dict[str, list[str]]] = {}
    for task, lang, before, after in differences(prompts, printed):
        reason = reason_of(facts, task, lang, before, after)
        why.setdefault(task_name(task), {}).setdefault(reason, []).append(
            language_code(lang, labels)
        )
    remarks = {
        task_name(task): {WHY: _sentence(why.get(task_name(task), {}))} for task, _, _ in triples
    }
    columns = dict.fromkeys(cell.column for cell in cells)
    heads = {c: (c.rpartition(" ")[0], c.rpartition(" ")[2]) for c in columns}
    return Exhibit(
        "Prompts per task and language, as printed and as made",
        f"Number of prompts over all templates: Table 54, and what the variant "
        f"{facts['variant']} makes of the annotated resources. Table 54 has three times the number "
        "that settings name, whether or not so many were made.",
        cells,
        row_title="Task",
        heads=heads,
        remarks=remarks,
        widths={WHY: 0.3},
    )


def _sentence(reasons: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{', '.join(codes)}: {reason}" for reason, codes in reasons.items())
