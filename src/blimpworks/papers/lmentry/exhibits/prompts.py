"""Draw Tables 1, 2, 7 to 33 and 54 (Moroni and others 2025): prompts, templates and their numbers.

The exhibits, as rows × columns:

- ``table1``: tasks × example of a prompt, answer.
- ``table2``, ``table7``: languages × number of prompts; in Table 7 also the system prompt.
- ``table8``: subsets of arguments × task, number of prompts, number of languages, arguments.
- ``template_table`` (Tables 9 to 33): templates of a task × text, corrected text, prompts.
- ``table54``, ``counts``: tasks and subsets × number of prompts in each language.

Input are prompts (table ``items``), language packs, and what the paper prints: English prompts
without answers, and English templates. A template has arguments: "Which is bigger, {n1} or {n2}?".
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pandas as pd

from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT, KINDS, ROW_TEXT, VALUES
from blimpworks.papers.lmentry import tasks
from blimpworks.papers.lmentry.exhibits import common, describe
from blimpworks.papers.lmentry.exhibits.common import PROMPTS_HEAD, language_code, language_name
from blimpworks.papers.lmentry.items.packs import SYSTEM as SYSTEM_KEY
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.items.prompts import join_words, prompt_of
from blimpworks.papers.lmentry.tables import PROMPT_COUNTS
from blimpworks.reproduction.printed import as_typed, same_wording
from blimpworks.tables import PROMPTS, read_table

SPACE = "␣"
STRAY = re.compile(" {2,}|^ | $")  # superfluous spaces, which are invisible on a page
LISTED_WORDS = ("w₁", "w₂", "w₃", "w₄", "w₅")  # printed names of the words of a list
IN_PRINT = {"word1": "w₁", "word2": "w₂", "n1": "n₁", "n2": "n₂"}  # printed names of arguments
ENGLISH = "eng"
EXAMPLE, ANSWER = "Example", "Answer"
EXAMPLE_COLUMNS = ("item_id", "lang", "phenomenon", "template", "prompt", "answer", "arguments")
TEMPLATE, CORRECTED = "Template", "Corrected"


def pack_cell(cell_key: tuple[str, str], text: str, lang: str, key: str, **more: Any) -> Cell:
    """Return a cell with a pack's text; ``key``: "system", or TASK.NUMBER of a template."""
    return Cell(*cell_key, 1, text, ROW_TEXT, "packs", {"lang": lang, "key": key}, **more)


def unlike_print(cells: Sequence[Cell]) -> list[str]:
    """Return row and released text (a hidden cell) of each printed text that differs from it."""
    released: Mapping[object, str] = {c.stands_for: c.text for c in cells if not c.printed}
    texts = [c for c in cells if c.printed and c.stands_for in released]
    different = [c for c in texts if not same_wording(c.text, released[c.stands_for])]
    return [f"{cell.row}, {released[cell.stands_for].rstrip('.')}" for cell in different]


def table1(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Table 1: an example prompt of each task, with the answer if the prompt is measured."""
    cells: list[Cell] = []
    if labels.source == "published":
        pack = next(p for p in map(read_pack, tables["packs"]) if p.lang == ENGLISH)
        for _, row in shared.read_printed(tables, exhibit="table1").iterrows():
            task, name = row["row"], tasks.long_name(row["row"])
            cells.append(shared.printed_text_cell(row, (name, EXAMPLE)))
            # A hidden cell has the prompt from the release's first template that fits it.
            for number, template in enumerate(pack.templates[task], start=1):
                arguments = _arguments_of(template, as_typed(row["text"]))
                if arguments is not None:
                    text = prompt_of(pack, task, number, arguments, corrected=False)
                    cell_key, key = (name, "From the template"), f"{task}.{number}"
                    cell = pack_cell(cell_key, text, pack.lang, key, printed=False)
                    cells.append(replace(cell, stands_for=(task, row["column"])))
                    break
        description = describe("table1_published", different=unlike_print(cells))
        return Exhibit(**description, cells=cells, widths={EXAMPLE: 0.7}, textual=True)
    # The first prompt of each task, in English if the campaign has it.
    path_by_language = {path.stem: path for path in tables["items"]}
    path = path_by_language.get(ENGLISH, tables["items"][0])
    first_prompts: dict[str, dict[str, Any]] = {}
    for prompt in read_table(PROMPTS, path, EXAMPLE_COLUMNS).to_pylist():
        if prompt["template"] == 1:
            first_prompts.setdefault(prompt["phenomenon"], prompt)
    answers: dict[str, dict[str, str]] = {}
    tasks_with_prompt = [task for task in tasks.TASKS if task in first_prompts]
    for task in tasks_with_prompt:
        name, prompt = tasks.long_name(task), first_prompts[task]
        answer = prompt["answer"]
        if answer is None:
            # Many answers are right; say what they have in common.
            answer = tasks.TASK_NAMES[task]["words"].format_map(json.loads(prompt["arguments"]))
        answers[name] = {ANSWER: str(answer)}
        where = {"benchmark": tasks.BENCHMARK, "lang": prompt["lang"], "item_id": prompt["item_id"]}
        cells.append(Cell(name, EXAMPLE, 1, prompt["prompt"], ROW_TEXT, "items", where, n=1))
    lang = next(iter(first_prompts.values()))["lang"]
    return Exhibit(
        **describe("table1", language=language_name(lang, labels)),
        cells=cells,
        remarks=answers,
        widths={EXAMPLE: 0.5, ANSWER: 0.22},
        textual=True,
        written_in={(name, EXAMPLE): common.language_tag(lang) for name in answers},
    )


def _arguments_of(template: str, text: str) -> dict[str, Any] | None:
    """Return the arguments with which a template gives a text; None if it cannot give it."""
    # Make a regular expression of the template, with a group in place of each {argument}.
    match = re.fullmatch(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(template)), text)
    if match is None:
        return None
    arguments: dict[str, Any] = {name: value.strip() for name, value in match.groupdict().items()}
    if "words" in arguments:
        arguments["words"] = re.findall('"(.+?)"', arguments["words"])
    return arguments


def template_table(tables: shared.Tables, labels: Labels, table: str) -> Exhibit:
    """Draw one of Tables 9 to 33: the templates of a task. The paper prints English templates."""
    task = tasks.TEMPLATE_TABLES[table]
    packs = {pack.lang: pack for pack in map(read_pack, tables["packs"])}
    # Numbers of the task's templates in each language, from 1.
    numbers = {
        lang: range(1, len(pack.templates.get(task, ())) + 1) for lang, pack in packs.items()
    }

    def row_name(lang: str, number: int) -> str:
        return f"{language_name(lang, labels)} {number}"

    def template_cell(lang: str, number: int, column: str) -> Cell:
        pack, corrected = packs[lang], column == CORRECTED
        # As in print, the names of arguments are shown without braces.
        names = {name: IN_PRINT.get(name, name) for name in tasks.FIELDS[task]}
        if "words" in names:
            names["words"] = join_words(pack, LISTED_WORDS, task, number, corrected=corrected)
        text = pack.template(task, number, corrected=corrected).format_map(names)
        text = STRAY.sub(lambda spaces: SPACE * len(spaces[0]), text)
        where = {"lang": lang, "key": f"{task}.{number}", "phenomenon": task}
        cell = Cell(row_name(lang, number), column, 1, text, ROW_TEXT, "packs", where)
        return cell if corrected else replace(cell, stands_for=(str(number), lang))

    cells: list[Cell] = []
    if labels.source == "published":
        langs, columns = [ENGLISH], [TEMPLATE]
        for _, row in shared.read_printed(tables, exhibit=table).iterrows():
            number, lang = int(row["row"]), row["column"]
            cells.append(shared.printed_text_cell(row, (row_name(lang, number), TEMPLATE)))
            released = template_cell(lang, number, f"{TEMPLATE}, released")
            cells.append(replace(released, printed=False))
        caption_values: dict[str, Any] = {
            "different": unlike_print(cells),
            "note": describe.entries["notes_of_tables"].get(table),
        }
    else:
        # Languages with the task, in the paper's order.
        langs = common.languages_of(pd.DataFrame({"lang": [x for x in packs if numbers[x]]}))
        items = shared.read_plain(PROMPTS, tables["items"], ("lang", "phenomenon", "template"))
        items = items[items["phenomenon"] == task]
        for lang in langs:
            for number in numbers[lang]:
                cells.append(template_cell(lang, number, TEMPLATE))
                if f"{task}.{number}" in packs[lang].corrected:
                    cells.append(template_cell(lang, number, CORRECTED))
                cell_key = (row_name(lang, number), PROMPTS_HEAD)
                where: dict[str, Any] = {"phenomenon": task, "template": number}
                cells.append(common.prompt_count(items, cell_key, lang=lang, **where))
        has_corrected = any(cell.column == CORRECTED for cell in cells)
        columns = [TEMPLATE, CORRECTED, PROMPTS_HEAD] if has_corrected else [TEMPLATE, PROMPTS_HEAD]
        caption_values = {
            "variant": labels.facts["lmentry_variant"] if has_corrected else None,
            "without": [language_name(lang, labels) for lang in packs if not numbers[lang]],
        }
    sections = []
    written_in: dict[tuple[str, str], str] = {}
    for lang in langs:
        name = language_name(lang, labels)
        rows = {row_name(lang, number): str(number) for number in numbers[lang]}
        text_cells = product(rows, (TEMPLATE, CORRECTED))
        written_in |= dict.fromkeys(text_cells, common.language_tag(lang))
        if len(langs) > 1:
            rows = {name: name, **rows}
        sections.append(Section("No.", rows, columns))
    width = 0.32 if CORRECTED in columns else 0.64
    key = "templates_published" if labels.source == "published" else "templates"
    return Exhibit(
        **describe(key, task=tasks.long_name(task).lower(), **caption_values),
        cells=cells,
        widths={TEMPLATE: width, CORRECTED: width},
        sections=sections,
        textual=True,
        written_in=written_in,
    )


WHY, SYSTEM = "Why they differ", "System prompt"


def table2(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Table 2: the number of prompts of each language."""
    name_of = partial(language_name, labels=labels)
    if labels.source == "published":
        printed, languages, key = (
            shared.read_printed(tables),
            [*tasks.LANGUAGES],
            "table2_published",
        )
        totals = printed[printed["exhibit"] == "table2"]
        names = {lang: name_of(lang) for lang in totals["row"]}
        cells = shared.printed_cells(totals, names, {"samples": PROMPTS_HEAD})
        # Filters of printed numbers, by the (language, column) of their sum.
        sums: dict[tuple[str, str], dict[str, Any]] = {
            (lang, "From Table 54"): {"exhibit": "table54", "column": lang} for lang in languages
        }
        row_filter = {"exhibit": "table2", "row": languages, "column": "samples"}
        sums[common.EVERY, "Sum of the rows"] = row_filter
        for (lang, column), where in sums.items():
            cell_key = (name_of(lang), column)
            cell = shared.formula_cell(printed, cell_key, VALUES, "published", where, ",.0f")
            cells.append(replace(cell, stands_for=(lang, "samples"), printed=False))
    else:
        items, key = shared.read_plain(PROMPTS, tables["items"], ["lang"]), "table2"
        languages = sorted(common.languages_of(items), key=name_of)
        cells = [
            common.prompt_count(items, (name_of(lang), PROMPTS_HEAD), (lang, "samples"), lang=lang)
            for lang in languages
        ]
        cells.append(
            common.prompt_count(items, (common.TOTAL, PROMPTS_HEAD), (common.EVERY, "samples"))
        )
    stub = {name_of(lang): {"Code": language_code(lang, labels)} for lang in languages}
    stub[common.TOTAL] = {"Code": ""}
    return Exhibit(**describe(key), cells=cells, stub=stub)


def table54(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Table 54: the number of prompts of each task and language."""
    code_of = partial(language_code, labels=labels)
    cells: list[Cell] = []
    if labels.source == "published":
        key, printed = "table54_published", shared.read_printed(tables, exhibit="table54")
        titles = {task: tasks.task_name(task) for task in printed["row"]}
        cells = shared.printed_cells(printed, titles, {x: code_of(x) for x in printed["column"]})
        # The numbers that follow from the release's settings.
        for _, row in shared.read_plain(PROMPT_COUNTS, tables["prompt_counts"][0]).iterrows():
            task, lang = row["phenomenon"], row["lang"]
            cell_key = tasks.task_name(task), f"{code_of(lang)}, by {row['basis']}"
            keys, text = ("phenomenon", "lang"), f"{row['prompts']:,}"
            cell = shared.row_cell("prompt_counts", row, keys, "prompts", cell_key, text)
            cells.append(replace(cell, stands_for=(task, lang), printed=False))
    else:
        items, key = shared.read_plain(PROMPTS, tables["items"], ["lang", "phenomenon"]), "table54"
        present = {*zip(items["phenomenon"], items["lang"], strict=True)}
        names = sorted({task for task, _ in present})
        for task, lang in product(names, common.languages_of(items)):
            if (task, lang) in present:
                cell_key, where = (tasks.task_name(task), code_of(lang)), {"phenomenon": task}
                cells.append(common.prompt_count(items, cell_key, (task, lang), lang=lang, **where))
    return Exhibit(**describe(key), cells=cells)


def counts(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw the campaign's numbers of prompts beside Table 54's, with reasons for differences."""
    items = shared.read_plain(PROMPTS, tables["items"], ["lang", "phenomenon"])
    facts = labels.facts["lmentry_counts"]
    most, usual_reason = facts["per_template"], "not explained"
    if most is not None:
        usual_reason = f"the campaign keeps at most {most:,} prompts of a template"
    fields = ("variant", "task", "lang", "printed", "made")
    explained = {
        tuple(difference[field] for field in fields): str(difference["reason"])
        for difference in facts["differences"]
    }
    printed = shared.by_place(shared.read_printed(tables, exhibit="table54"))
    sizes = items.groupby(["phenomenon", "lang"]).size()
    cells: list[Cell] = []
    # Codes of languages by row and by reason for a difference.
    codes_by_reason: dict[str, dict[str, list[str]]] = {}
    for task, lang in product(tasks.HEADS, common.languages_of(items)):
        key, row, code = (task, lang), tasks.task_name(task), language_code(lang, labels)
        n_printed, n_made = 0, int(sizes.get(key, 0))
        if key in printed:
            cell = shared.printed_cell(printed[key], (row, f"{code} printed"))
            cells.append(replace(cell, text=f"{cell.value:,.0f}"))
            n_printed = int(cell.value)
        if key in sizes:
            cell_key, where = (row, f"{code} made"), {"lang": lang, "phenomenon": task}
            cells.append(common.prompt_count(items, cell_key, key, **where))
        if n_printed != n_made:
            reason = explained.get((facts["variant"], task, lang, n_printed, n_made), usual_reason)
            codes_by_reason.setdefault(row, {}).setdefault(reason, []).append(code)
    columns = dict.fromkeys(cell.column for cell in cells)
    sentences = {
        row: "; ".join(f"{', '.join(codes)}: {reason}" for reason, codes in reasons.items())
        for row, reasons in codes_by_reason.items()
    }
    return Exhibit(
        **describe("counts", variant=facts["variant"]),
        cells=cells,
        heads={c: (c.rpartition(" ")[0], c.rpartition(" ")[2]) for c in columns},
        remarks={cell.row: {WHY: sentences.get(cell.row, "")} for cell in cells},
        widths={WHY: 0.3},
    )


def table7(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Table 7: the system prompt and the number of prompts of each language."""
    rows = shared.read_printed(tables, exhibit="table7").iterrows()
    printed = {row["row"]: row for _, row in rows}
    released = {pack.lang: pack.system for pack in map(read_pack, tables["packs"])}
    published = labels.source == "published"
    langs = [*printed] if published else [*released]
    names = {lang: language_name(lang, labels) for lang in langs}
    column = f"{SYSTEM}, released" if published else SYSTEM
    pack_cells = []
    for lang in langs:
        cell = pack_cell((names[lang], column), released[lang], lang, SYSTEM_KEY)
        pack_cells.append(replace(cell, stands_for=(lang, SYSTEM_KEY), printed=not published))
    if published:
        numbers = shared.by_place(shared.read_printed(tables, exhibit="table2"))
        cells = []
        for lang in langs:
            samples = shared.printed_cell(numbers[lang, "samples"], (names[lang], PROMPTS_HEAD))
            cells.append(replace(samples, stands_for=None))
        for lang, cell in zip(langs, pack_cells, strict=True):
            cells += [shared.printed_text_cell(printed[lang], (names[lang], SYSTEM)), cell]
        description = describe("table7_published", different=unlike_print(cells))
    else:
        items = shared.read_plain(PROMPTS, tables["items"], ["lang"])
        cells = [
            common.prompt_count(items, (language_name(lang, labels), PROMPTS_HEAD), lang=lang)
            for lang in common.languages_of(items)
        ]
        cells += pack_cells
        printed_texts = {lang: row["text"] for lang, row in printed.items()}
        different = [names[lang] for lang in langs if printed_texts.get(lang) != released[lang]]
        description = describe("table7", different=different)
    return Exhibit(
        **description,
        cells=cells,
        stub={name: {"Code": language_code(lang, labels)} for lang, name in names.items()},
        widths={SYSTEM: 0.6},
        textual=True,
        written_in={(name, SYSTEM): common.language_tag(lang) for lang, name in names.items()},
    )


def table8(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Table 8: descriptions, prompts and languages of the subsets of arguments."""
    cells = []
    if labels.source == "published":
        printed = shared.read_printed(tables)
        subsets, key = printed[printed["exhibit"] == "table8"], "table8_published"
        arguments = dict(zip(subsets["row"], subsets["text"], strict=True))
        for subset in tasks.PARENTS:
            rows = printed[(printed["exhibit"] == "table54") & (printed["row"] == subset)]
            langs = sorted(rows["column"][rows["value"].notna()])
            where = {"exhibit": "table54", "row": subset, "column": langs}
            cells += [
                shared.formula_cell(rows, (subset, column), formula, "published", where, ",.0f")
                for column, formula in ((PROMPTS_HEAD, VALUES), ("Languages", COUNT))
            ]
    else:
        items, key = shared.read_plain(PROMPTS, tables["items"], ["lang", "phenomenon"]), "table8"
        arguments = {subset: tasks.TASK_NAMES[subset]["words"] for subset in tasks.PARENTS}
        for subset in tasks.PARENTS:
            count = common.prompt_count(items, (subset, PROMPTS_HEAD), phenomenon=subset)
            where = {"benchmark": tasks.BENCHMARK, "phenomenon": subset}
            if count.n:
                cell_key = (subset, "Languages")
                cells += [count, shared.formula_cell(items, cell_key, KINDS, "items", where, ".0f")]
    return Exhibit(
        **describe(key),
        cells=cells,
        stub={subset: {"Task": tasks.task_name(task)} for subset, task in tasks.PARENTS.items()},
        remarks={subset: {"Arguments": arguments[subset]} for subset in tasks.PARENTS},
        widths={"Arguments": 0.5},
        named=False,
    )
