"""Tables 2, 7, 8 and 54: how many prompts there are, system prompts, and subsets of arguments.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2 and appendices A.1 and A.2. The
exhibit ``counts``, which sets numbers of prompts beside those in print, is ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

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
WHY, SYSTEM = "Why they differ", "System prompt"


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Table 2: prompts of each language.

    The published form has hidden cells of its numbers computed from Table 54 and its own rows.
    """
    if labels.source == "published":
        printed = read_printed(tables)
        cells = [
            printed_cell(row, (language_name(row["row"], labels), SAMPLES))
            for _, row in printed[printed["exhibit"] == "table2"].iterrows()
        ]
        sums: dict[tuple[str, str], dict[str, Any]] = {
            (lang, "From Table 54"): {"exhibit": "table54", "column": lang} for lang in LANGUAGES
        }
        own_rows = {"exhibit": "table2", "row": [*LANGUAGES], "column": "samples"}
        sums[EVERY, "Sum of the rows"] = own_rows
        for (lang, column), where in sums.items():
            place = (language_name(lang, labels), column)
            cell = formula_cell(printed, place, VALUES, "published", where, ",.0f", printed=False)
            cells.append(replace(cell, stands_for=(lang, "samples")))
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
        counts_by_settings = read_plain(PROMPT_COUNTS, tables["prompt_counts"][0])
        for _, row in counts_by_settings.iterrows():
            task, lang = row["phenomenon"], row["lang"]
            place = task_name(task), f"{language_code(lang, labels)}, by {row['basis']}"
            columns, text = ("phenomenon", "lang"), f"{row['prompts']:,}"
            cell = row_cell("prompt_counts", row, columns, "prompts", place, text)
            cells.append(replace(cell, stands_for=(task, lang), printed=False))
        order: Sequence[str] = PRINT_ORDER
        key = "table54_published"
    else:
        items, key = read_prompts(tables["items"]), "table54"
        order, asked = languages_of(items), {*zip(items["phenomenon"], items["lang"], strict=True)}
        cells = []
        for task, lang in product(sorted({task for task, _ in asked}), order):
            if (task, lang) in asked:
                place = task_name(task), language_code(lang, labels)
                cells.append(count_of(items, place, (task, lang), lang=lang, phenomenon=task))
    heads = {language_code(lang, labels): ("", language_code(lang, labels)) for lang in order}
    return Exhibit(**describe(key), cells=cells, heads=heads)


def counts(tables: Tables, labels: Labels) -> Exhibit:
    """Prompts of each task and language beside those of Table 54."""
    items, facts = read_prompts(tables["items"]), labels.facts["lmentry_counts"]
    printed = by_place(read_printed(tables, exhibit="table54"))
    sizes = items.groupby(["phenomenon", "lang"]).size()
    cells: list[Cell] = []
    reasons: dict[str, dict[str, list[str]]] = {}
    for task, lang in product(HEADS, languages_of(items)):
        key, row, code = (task, lang), task_name(task), language_code(lang, labels)
        before, after = 0, int(sizes.get(key, 0))
        if key in printed:
            cell = printed_cell(printed[key], (row, f"{code} printed"))
            cells.append(replace(cell, text=f"{cell.value:,.0f}"))
            before = int(cell.value)
        if key in sizes:
            cells.append(count_of(items, (row, f"{code} made"), key, lang=lang, phenomenon=task))
        if before != after:
            reason = _reason(facts, task, lang, before, after)
            reasons.setdefault(row, {}).setdefault(reason, []).append(code)
    columns = dict.fromkeys(cell.column for cell in cells)
    sentences = {
        row: "; ".join(f"{', '.join(codes)}: {reason}" for reason, codes in by_reason.items())
        for row, by_reason in reasons.items()
    }
    return Exhibit(
        **describe("counts", variant=facts["variant"]),
        cells=cells,
        heads={c: (c.rpartition(" ")[0], c.rpartition(" ")[2]) for c in columns},
        remarks={cell.row: {WHY: sentences.get(cell.row, "")} for cell in cells},
        widths={WHY: 0.3},
    )


def _reason(facts: Mapping[str, Any], task: str, lang: str, printed: int, made: int) -> str:
    """Why the printed number of prompts and that of the campaign differ."""
    looked_for = {"variant": facts["variant"], "task": task, "lang": lang}
    looked_for |= {"printed": printed, "made": made}
    for difference in facts["differences"]:
        if looked_for.items() <= difference.items():
            return str(difference["reason"])
    most = facts["per_template"]
    if most is not None:
        return f"the campaign keeps at most {most:,} prompts of a template"
    return "not explained"


def table7(tables: Tables, labels: Labels) -> Exhibit:
    """Table 7: the system prompt of each language, and how many prompts stand behind it.

    The published form has hidden cells of the language packs' system prompts.
    """
    printed = read_printed(tables)
    printed_prompts = printed[printed["exhibit"] == "table7"]
    packs = {pack.lang: pack.system for pack in map(read_pack, tables["packs"])}

    def system_cell(lang: str, column: str) -> Cell:
        """Return the cell of the pack's system prompt."""
        cell = pack_cell(lang, SYSTEM_KEY, (language_name(lang, labels), column), packs[lang])
        return replace(cell, stands_for=(lang, SYSTEM_KEY))

    if labels.source == "published":
        langs, cells = [*printed_prompts["row"]], []
        numbers = by_place(printed[printed["exhibit"] == "table2"])
        for lang in langs:
            number = printed_cell(numbers[lang, "samples"], (language_name(lang, labels), SAMPLES))
            cells.append(replace(number, stands_for=None, formula=of_row("value")))
        for _, row in printed_prompts.iterrows():
            cells.append(printed_text_cell(row, (language_name(row["row"], labels), SYSTEM)))
            cells.append(replace(system_cell(row["row"], f"{SYSTEM}, released"), printed=False))
        description = describe("table7_published", wording=unlike_print(cells))
    else:
        items = read_prompts(tables["items"])
        langs = [*packs]
        cells = [
            count_of(items, (language_name(lang, labels), SAMPLES), lang=lang)
            for lang in languages_of(items)
        ]
        cells += [system_cell(lang, SYSTEM) for lang in langs]
        in_print = dict(zip(printed_prompts["row"], printed_prompts["text"], strict=True))
        unlike = [language_name(x, labels) for x in langs if in_print.get(x) != packs[x]]
        sentence = f"Not as printed, or not in print: {', '.join(unlike)}."
        description = describe("table7", differences=sentence if unlike else "All are as printed.")
    rows = {language_name(lang, labels): lang for lang in langs}
    return Exhibit(
        **description,
        cells=cells,
        stub={name: {"Code": language_code(lang, labels)} for name, lang in rows.items()},
        widths={SYSTEM: 0.6},
        textual=True,
        written_in={(name, SYSTEM): language_tag(lang) for name, lang in rows.items()},
    )


def table8(tables: Tables, labels: Labels) -> Exhibit:
    """Table 8: the subsets of arguments in words, their prompts, and their languages."""
    cells = []
    if labels.source == "published":
        printed = read_printed(tables)
        subsets, key = printed[printed["exhibit"] == "table8"], "table8_published"
        arguments = dict(zip(subsets["row"], subsets["text"], strict=True))
        for subset in PARENTS:
            rows = printed[(printed["exhibit"] == "table54") & (printed["row"] == subset)]
            langs = sorted(rows["column"][rows["value"].notna()])
            where = {"exhibit": "table54", "row": subset, "column": langs}
            for column, formula in ((SAMPLES, VALUES), ("Languages", COUNT)):
                place = (subset, column)
                cells.append(formula_cell(rows, place, formula, "published", where, ",.0f"))
    else:
        items, key = read_prompts(tables["items"]), "table8"
        arguments = {subset: TASK_NAMES[subset].words for subset in PARENTS}
        for subset in PARENTS:
            count = count_of(items, (subset, SAMPLES), phenomenon=subset)
            where = {"benchmark": BENCHMARK, "phenomenon": subset}
            if count.n:
                place = (subset, "Languages")
                cells += [count, formula_cell(items, place, KINDS, "items", where, ".0f")]
    return Exhibit(
        **describe(key),
        cells=cells,
        stub={subset: {"Task": task_name(task)} for subset, task in PARENTS.items()},
        remarks={subset: {"Arguments": arguments[subset]} for subset in PARENTS},
        widths={"Arguments": 0.5},
        named=False,
    )
