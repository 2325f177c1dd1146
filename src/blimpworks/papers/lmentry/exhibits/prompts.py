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
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pandas as pd

from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT, LANGS, ROW_TEXT, SUM
from blimpworks.papers.lmentry import tasks
from blimpworks.papers.lmentry.exhibits import common, describe
from blimpworks.papers.lmentry.exhibits.common import PROMPTS_HEAD, language_code, language_name
from blimpworks.papers.lmentry.items.packs import SYSTEM, Pack, read_pack
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


def wording_differences(cells: Sequence[Cell]) -> list[str]:
    """Return "row, released text" of each printed text that the release words otherwise.

    ``cells``: printed texts, and hidden cells with the release's texts that stand for them.
    """
    released: Mapping[object, str] = {c.stands_for: c.text for c in cells if not c.printed}
    different = []
    for cell in cells:
        text = released.get(cell.stands_for) if cell.printed else None
        if text is not None and not same_wording(cell.text, text):
            different.append(f"{cell.row}, {text.rstrip('.')}")
    return different


def table1(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Table 1: an example prompt of each task, with the answer if the prompt is measured."""
    cells: list[Cell] = []
    if labels.source == "published":
        packs = {pack.lang: pack for pack in map(read_pack, tables["packs"])}
        for _, row in shared.read_printed(tables, exhibit="table1").iterrows():
            cells.append(shared.printed_text_cell(row, (tasks.long_name(row["row"]), EXAMPLE)))
            # A hidden cell has the release's wording, by the first template that can give the text.
            task, pack = row["row"], packs[ENGLISH]
            for number, template in enumerate(pack.templates[task], start=1):
                arguments = _arguments_of(template, as_typed(row["text"]))
                if arguments is not None:
                    released = prompt_of(pack, task, number, arguments, corrected=False)
                    cell_key, key = (tasks.long_name(task), "From the template"), f"{task}.{number}"
                    cell = pack_cell(cell_key, released, pack.lang, key, printed=False)
                    cells.append(replace(cell, stands_for=(task, row["column"])))
                    break
        description = describe("table1_published", different=wording_differences(cells))
        return Exhibit(**description, cells=cells, widths={EXAMPLE: 0.7}, textual=True)
    # The first prompt of each task, in English if the campaign has it.
    path_by_language = {path.stem: path for path in tables["items"]}
    path = path_by_language.get(ENGLISH, tables["items"][0])
    first_prompts: dict[str, dict[str, Any]] = {}
    for prompt in read_table(PROMPTS, path, EXAMPLE_COLUMNS).to_pylist():
        if prompt["template"] == 1 and prompt["phenomenon"] not in first_prompts:
            first_prompts[prompt["phenomenon"]] = prompt
    lang = next(iter(first_prompts.values()))["lang"]
    answer_by_name: dict[str, str] = {}
    for task in [task for task in tasks.TASKS if task in first_prompts]:
        name, prompt = tasks.long_name(task), first_prompts[task]
        where = {"benchmark": tasks.BENCHMARK, "lang": lang, "item_id": prompt["item_id"]}
        cells.append(Cell(name, EXAMPLE, 1, prompt["prompt"], ROW_TEXT, "items", where, n=1))
        if prompt["answer"] is not None:
            answer_by_name[name] = str(prompt["answer"])
        else:
            # Many answers are right; say what they have in common.
            right_answers = tasks.TASK_NAMES[task]["words"]
            answer_by_name[name] = right_answers.format_map(json.loads(prompt["arguments"]))
    return Exhibit(
        **describe("table1", language=language_name(lang, labels)),
        cells=cells,
        remarks={name: {ANSWER: answer} for name, answer in answer_by_name.items()},
        widths={EXAMPLE: 0.5, ANSWER: 0.22},
        textual=True,
        written_in={(name, EXAMPLE): common.language_tag(lang) for name in answer_by_name},
    )


def _arguments_of(template: str, text: str) -> dict[str, Any] | None:
    """Return the arguments with which a template gives a text; None if it cannot give it.

    "Which is bigger, {n1} or {n2}?" gives "Which is bigger, 3 or 7?" with {"n1": "3", "n2": "7"}.
    """
    # Make a regular expression of the template, with a group in place of each {argument}.
    expression = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(template))
    match = re.fullmatch(expression, text)
    if match is None:
        return None
    arguments: dict[str, Any] = {name: value.strip() for name, value in match.groupdict().items()}
    if "words" in arguments:
        arguments["words"] = re.findall('"(.+?)"', arguments["words"])
    return arguments


def _template_cell(
    pack: Pack, task: str, number: int, cell_key: tuple[str, str], *, corrected: bool
) -> Cell:
    """Return a cell with a template of a pack, in published or corrected wording."""
    # As in print, the names of arguments are shown without braces.
    names = {name: IN_PRINT.get(name, name) for name in tasks.FIELDS[task]}
    if "words" in names:
        names["words"] = join_words(pack, LISTED_WORDS, task, number, corrected=corrected)
    text = pack.template(task, number, corrected=corrected).format_map(names)
    text = STRAY.sub(lambda spaces: SPACE * len(spaces[0]), text)
    where = {"lang": pack.lang, "key": f"{task}.{number}", "phenomenon": task}
    cell = Cell(*cell_key, 1, text, ROW_TEXT, "packs", where)
    return cell if corrected else replace(cell, stands_for=(str(number), pack.lang))


def template_table(tables: shared.Tables, labels: Labels, table: str) -> Exhibit:
    """Draw one of Tables 9 to 33: the templates of a task. The paper prints English templates."""
    task = tasks.TEMPLATE_TABLES[table]
    packs = {pack.lang: pack for pack in map(read_pack, tables["packs"])}
    # Numbers of the task's templates in each language, from 1.
    numbers = {lang: range(1, len(x.templates.get(task, ())) + 1) for lang, x in packs.items()}

    def row_name(lang: str, number: int) -> str:
        return f"{language_name(lang, labels)} {number}"

    cells: list[Cell] = []
    caption_values: dict[str, Any] = {"task": tasks.long_name(task).lower()}
    if labels.source == "published":
        key, langs, columns = "templates_published", [ENGLISH], [TEMPLATE]
        for _, printed in shared.read_printed(tables, exhibit=table).iterrows():
            number, lang = int(printed["row"]), printed["column"]
            name = row_name(lang, number)
            cells.append(shared.printed_text_cell(printed, (name, TEMPLATE)))
            cell_key = (name, f"{TEMPLATE}, released")
            released = _template_cell(packs[lang], task, number, cell_key, corrected=False)
            cells.append(replace(released, printed=False))
        caption_values["different"] = wording_differences(cells)
        caption_values["note"] = describe.entries["notes_of_tables"].get(table)
    else:
        key = "templates"
        with_task = [lang for lang in packs if numbers[lang]]
        langs = common.languages_of(pd.DataFrame({"lang": with_task}))  # in the paper's order
        items = shared.read_plain(PROMPTS, tables["items"], ("lang", "phenomenon", "template"))
        items = items[items["phenomenon"] == task]
        for lang in langs:
            pack = packs[lang]
            for number in numbers[lang]:
                name = row_name(lang, number)
                cells.append(_template_cell(pack, task, number, (name, TEMPLATE), corrected=False))
                if f"{task}.{number}" in pack.corrected:
                    cell_key = (name, CORRECTED)
                    cells.append(_template_cell(pack, task, number, cell_key, corrected=True))
                where: dict[str, Any] = {"lang": lang, "phenomenon": task, "template": number}
                cells.append(common.prompt_count(items, (name, PROMPTS_HEAD), **where))
        has_corrected = any(cell.column == CORRECTED for cell in cells)
        columns = [TEMPLATE, *([CORRECTED] if has_corrected else []), PROMPTS_HEAD]
        caption_values["variant"] = labels.facts["lmentry_variant"] if has_corrected else None
        without_task = [lang for lang in packs if not numbers[lang]]
        caption_values["without"] = [language_name(lang, labels) for lang in without_task]
    sections = []
    written_in: dict[tuple[str, str], str] = {}
    for lang in langs:
        rows = {row_name(lang, number): str(number) for number in numbers[lang]}
        text_cells = product(rows, (TEMPLATE, CORRECTED))
        written_in |= dict.fromkeys(text_cells, common.language_tag(lang))
        if len(langs) > 1:
            # A row without cells is a heading: the name of the language.
            heading = language_name(lang, labels)
            rows = {heading: heading, **rows}
        sections.append(Section("No.", rows, columns))
    width = 0.32 if CORRECTED in columns else 0.64
    return Exhibit(
        **describe(key, **caption_values),
        cells=cells,
        widths={TEMPLATE: width, CORRECTED: width},
        sections=sections,
        textual=True,
        written_in=written_in,
    )


def table2(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Table 2: the number of prompts of each language."""
    name_of = partial(language_name, labels=labels)
    if labels.source == "published":
        languages, key = [*tasks.LANGUAGES], "table2_published"
        printed = shared.read_printed(tables)
        totals = printed[printed["exhibit"] == "table2"]
        names = {lang: name_of(lang) for lang in totals["row"]}
        cells = shared.printed_cells(totals, names, {"samples": PROMPTS_HEAD})
        # Hidden cells have the sums of the numbers that these filters select.
        filters: dict[tuple[str, str], dict[str, Any]] = {}
        for lang in languages:
            filters[lang, "From Table 54"] = {"exhibit": "table54", "column": lang}
        of_languages = {"exhibit": "table2", "row": languages, "column": "samples"}
        filters[common.EVERY, "Sum of the rows"] = of_languages
        for (lang, column), where in filters.items():
            cell_key = (name_of(lang), column)
            cell = shared.formula_cell(printed, cell_key, SUM, "published", where, ",.0f")
            cells.append(replace(cell, stands_for=(lang, "samples"), printed=False))
    else:
        items, key = shared.read_plain(PROMPTS, tables["items"], ["lang"]), "table2"
        languages, cells = sorted(common.languages_of(items), key=name_of), []
        for lang in languages:
            cell_key = (name_of(lang), PROMPTS_HEAD)
            cells.append(common.prompt_count(items, cell_key, (lang, "samples"), lang=lang))
        cell_key = (common.TOTAL, PROMPTS_HEAD)
        cells.append(common.prompt_count(items, cell_key, (common.EVERY, "samples")))
    stub = {name_of(lang): {"Code": language_code(lang, labels)} for lang in languages}
    stub[common.TOTAL] = {"Code": ""}
    return Exhibit(**describe(key), cells=cells, stub=stub)


def table54(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Table 54: the number of prompts of each task and language."""
    code_of = partial(language_code, labels=labels)
    if labels.source == "published":
        printed = shared.read_printed(tables, exhibit="table54")
        titles = {task: tasks.task_name(task) for task in printed["row"]}
        cells = shared.printed_cells(printed, titles, {x: code_of(x) for x in printed["column"]})
        # Hidden cells have the numbers that follow from the release's settings.
        for _, row in shared.read_plain(PROMPT_COUNTS, tables["prompt_counts"][0]).iterrows():
            task, lang = row["phenomenon"], row["lang"]
            cell_key = tasks.task_name(task), f"{code_of(lang)}, by {row['basis']}"
            keys, text = ("phenomenon", "lang"), f"{row['prompts']:,}"
            cell = shared.row_cell("prompt_counts", row, keys, "prompts", cell_key, text)
            cells.append(replace(cell, stands_for=(task, lang), printed=False))
        return Exhibit(**describe("table54_published"), cells=cells)
    items = shared.read_plain(PROMPTS, tables["items"], ["lang", "phenomenon"])
    present = {*zip(items["phenomenon"], items["lang"], strict=True)}
    names = sorted({task for task, _ in present})
    cells = []
    for task, lang in product(names, common.languages_of(items)):
        if (task, lang) in present:
            cell_key, where = (tasks.task_name(task), code_of(lang)), {"phenomenon": task}
            cells.append(common.prompt_count(items, cell_key, (task, lang), lang=lang, **where))
    return Exhibit(**describe("table54"), cells=cells)


WHY = "Why they differ"


def counts(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw the campaign's numbers of prompts beside Table 54's, with reasons for differences."""
    items = shared.read_plain(PROMPTS, tables["items"], ["lang", "phenomenon"])
    facts = labels.facts["lmentry_counts"]
    limit, default_reason = facts["per_template"], "not explained"
    if limit is not None:
        default_reason = f"the campaign keeps at most {limit:,} prompts of a template"
    # Reasons by variant, task, language, printed number, and number of made prompts.
    fields = ("variant", "task", "lang", "printed", "made")
    reasons = {tuple(row[name] for name in fields): row["reason"] for row in facts["differences"]}
    printed = shared.by_place(shared.read_printed(tables, exhibit="table54"))
    sizes = items.groupby(["phenomenon", "lang"]).size()
    cells: list[Cell] = []
    languages = common.languages_of(items)
    remarks: dict[str, dict[str, str]] = {}
    for task in tasks.HEADS:
        row = tasks.task_name(task)
        codes_of_reason: dict[str, list[str]] = defaultdict(list)  # codes of languages
        for lang in languages:
            key, code = (task, lang), language_code(lang, labels)
            n_printed, n_made = 0, int(sizes.get(key, 0))
            if key in printed:
                cell = shared.printed_cell(printed[key], (row, f"{code} printed"))
                cells.append(replace(cell, text=f"{cell.value:,.0f}"))
                n_printed = int(cell.value)
            if n_made:
                cell_key, where = (row, f"{code} made"), {"lang": lang, "phenomenon": task}
                cells.append(common.prompt_count(items, cell_key, key, **where))
            if n_printed != n_made:
                difference = (facts["variant"], task, lang, n_printed, n_made)
                codes_of_reason[reasons.get(difference, default_reason)].append(code)
        listed = [f"{', '.join(codes)}: {reason}" for reason, codes in codes_of_reason.items()]
        remarks[row] = {WHY: "; ".join(listed)}
    shown_rows = {cell.row for cell in cells}
    heads = {}
    for column in dict.fromkeys(cell.column for cell in cells):
        code, _, number = column.rpartition(" ")  # "EN printed"
        heads[column] = (code, number)
    return Exhibit(
        **describe("counts", variant=facts["variant"]),
        cells=cells,
        heads=heads,
        remarks={row: remark for row, remark in remarks.items() if row in shown_rows},
        widths={WHY: 0.3},
    )


SYSTEM_HEAD = "System prompt"


def table7(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Table 7: the system prompt and the number of prompts of each language."""
    rows = shared.read_printed(tables, exhibit="table7").iterrows()
    printed = {row["row"]: row for _, row in rows}
    released = {pack.lang: pack.system for pack in map(read_pack, tables["packs"])}
    cells: list[Cell] = []
    if labels.source == "published":
        names = {lang: language_name(lang, labels) for lang in printed}
        numbers = shared.by_place(shared.read_printed(tables, exhibit="table2"))
        for lang, name in names.items():
            number = shared.printed_cell(numbers[lang, "samples"], (name, PROMPTS_HEAD))
            cells.append(replace(number, stands_for=None))
        for lang, name in names.items():
            cells.append(shared.printed_text_cell(printed[lang], (name, SYSTEM_HEAD)))
            cell_key = (name, f"{SYSTEM_HEAD}, released")
            cell = pack_cell(cell_key, released[lang], lang, SYSTEM, printed=False)
            cells.append(replace(cell, stands_for=(lang, SYSTEM)))
        description = describe("table7_published", different=wording_differences(cells))
    else:
        names = {lang: language_name(lang, labels) for lang in released}
        items = shared.read_plain(PROMPTS, tables["items"], ["lang"])
        for lang in common.languages_of(items):
            cell_key = (language_name(lang, labels), PROMPTS_HEAD)
            cells.append(common.prompt_count(items, cell_key, lang=lang))
        different = []
        for lang, name in names.items():
            cell = pack_cell((name, SYSTEM_HEAD), released[lang], lang, SYSTEM)
            cells.append(replace(cell, stands_for=(lang, SYSTEM)))
            if lang not in printed or printed[lang]["text"] != released[lang]:
                different.append(name)
        description = describe("table7", different=different)
    return Exhibit(
        **description,
        cells=cells,
        stub={name: {"Code": language_code(lang, labels)} for lang, name in names.items()},
        widths={SYSTEM_HEAD: 0.6},
        textual=True,
        written_in={(name, SYSTEM_HEAD): common.language_tag(lang) for lang, name in names.items()},
    )


def table8(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Table 8: descriptions, prompts and languages of the subsets of arguments."""
    cells: list[Cell] = []
    if labels.source == "published":
        printed, key = shared.read_printed(tables), "table8_published"
        descriptions = printed[printed["exhibit"] == "table8"]
        arguments = dict(zip(descriptions["row"], descriptions["text"], strict=True))
        for subset in tasks.PARENTS:
            rows = printed[(printed["exhibit"] == "table54") & (printed["row"] == subset)]
            langs = sorted(rows["column"][rows["value"].notna()])
            where = {"exhibit": "table54", "row": subset, "column": langs}
            for column, formula in ((PROMPTS_HEAD, SUM), ("Languages", COUNT)):
                cell_key, source = (subset, column), "published"
                cells.append(shared.formula_cell(rows, cell_key, formula, source, where, ",.0f"))
    else:
        items, key = shared.read_plain(PROMPTS, tables["items"], ["lang", "phenomenon"]), "table8"
        arguments = {subset: tasks.TASK_NAMES[subset]["words"] for subset in tasks.PARENTS}
        for subset in tasks.PARENTS:
            count = common.prompt_count(items, (subset, PROMPTS_HEAD), phenomenon=subset)
            where = {"benchmark": tasks.BENCHMARK, "phenomenon": subset}
            if count.n:
                cell_key = (subset, "Languages")
                cells += [count, shared.formula_cell(items, cell_key, LANGS, "items", where, ".0f")]
    return Exhibit(
        **describe(key),
        cells=cells,
        stub={subset: {"Task": tasks.task_name(task)} for subset, task in tasks.PARENTS.items()},
        remarks={subset: {"Arguments": arguments[subset]} for subset in tasks.PARENTS},
        widths={"Arguments": 0.5},
        named=False,
    )
