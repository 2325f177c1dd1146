"""Tables 1 and 9 to 33: an example of each task, and its templates in each language.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2 and appendix A.3. Print has
English prompts, without answers, and English templates.
"""

import json
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import TEXT
from blimpworks.exhibits.shared import Tables, printed_text_cell, read_printed
from blimpworks.papers.lmentry.exhibits import describe
from blimpworks.papers.lmentry.exhibits.common import (
    SAMPLES,
    count_of,
    language_name,
    language_tag,
    languages_of,
    read_prompts,
)
from blimpworks.papers.lmentry.exhibits.names import (
    BENCHMARK,
    TASK_NAMES,
    TEMPLATE_TABLES,
    long_name,
)
from blimpworks.papers.lmentry.items.packs import Pack, read_pack, read_texts
from blimpworks.papers.lmentry.items.prompts import prompt_of, row_of
from blimpworks.papers.lmentry.tasks import FIELDS, TASKS
from blimpworks.reproduction.agreement import as_typed, same_wording
from blimpworks.tables import PROMPTS, read_table

SPACE = "␣"
STRAY = re.compile(" {2,}|^ | $")
"""Spaces too many, which a page would not show."""
WORDS = ("w₁", "w₂", "w₃", "w₄", "w₅")
IN_PRINT = {"word1": "w₁", "word2": "w₂", "n1": "n₁", "n2": "n₂"}
"""Arguments that print calls otherwise than the release's templates do."""
ENGLISH = "eng"
EXAMPLE, ANSWER = "Example", "Answer"
EXAMPLE_COLUMNS = ("item_id", "lang", "phenomenon", "template", "prompt", "answer", "arguments")
TEMPLATE, CORRECTED = "Template", "Corrected"


def pack_cell(lang: str, key: str, place: tuple[str, str], text: str) -> Cell:
    """Return a cell of a language pack's text; ``key`` is that of ``packs.read_texts``."""
    return Cell(*place, 1, text, TEXT, "packs", {"lang": lang, "key": key})


def shown_template(pack: Pack, task: str, number: int, *, corrected: bool) -> str:
    """Return a template with the names of its arguments in their places, as print has them.

    Spaces too many are shown as ``SPACE``.
    """
    names = {name: IN_PRINT.get(name, name) for name in FIELDS[task]}
    if "words" in names:
        names["words"] = row_of(pack, WORDS, task, number, corrected=corrected)
    text = pack.template(task, number, corrected=corrected).format_map(names)
    return STRAY.sub(lambda spaces: SPACE * len(spaces[0]), text)


def unlike_print(cells: Sequence[Cell]) -> str:
    """Return a sentence on which printed texts are worded otherwise in the release.

    ``cells`` are printed texts, and hidden ones of the release that stand for the same.
    """
    released: Mapping[object, str] = {c.stands_for: c.text for c in cells if not c.printed}
    texts = [c for c in cells if c.printed and c.stands_for in released]
    unlike = [c for c in texts if not same_wording(c.text, released[c.stands_for])]
    if not unlike:
        return "The wording is that of the release."
    readings = "; ".join(f"{c.row}, {released[c.stands_for].rstrip('.')}" for c in unlike)
    return f"Worded otherwise in the release: {readings}."


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Table 1: a prompt of each task.

    The measured form has the campaign's own prompts with their answers, in English or else in its
    first language. The published one has the printed prompts, with hidden cells of what the
    release's template gives for their arguments.
    """
    cells: list[Cell] = []
    if labels.source == "published":
        pack = next(p for p in map(read_pack, tables["packs"]) if p.lang == ENGLISH)
        for _, row in read_printed(tables, exhibit="table1").iterrows():
            task, name = row["row"], long_name(row["row"])
            cells.append(printed_text_cell(row, (name, EXAMPLE)))
            for number, template in enumerate(pack.templates[task], start=1):
                arguments = _arguments_of(template, as_typed(row["text"]))
                if arguments is not None:
                    text = prompt_of(pack, task, number, arguments, corrected=False)
                    place = (name, "From the template")
                    cell = pack_cell(pack.lang, f"{task}.{number}", place, text)
                    cells.append(replace(cell, printed=False, stands_for=(task, row["column"])))
                    break
        description = describe("table1_published", wording=unlike_print(cells))
        return Exhibit(**description, cells=cells, widths={EXAMPLE: 0.7}, textual=True)
    by_language = {path.stem: path for path in tables["items"]}
    path = by_language.get(ENGLISH, tables["items"][0])
    first: dict[str, dict[str, Any]] = {}
    for prompt in read_table(PROMPTS, path, EXAMPLE_COLUMNS).to_pylist():
        if prompt["template"] == 1:
            first.setdefault(prompt["phenomenon"], prompt)
    prompts = [first[task] for task in TASKS if task in first]
    lang = prompts[0]["lang"]
    answers: dict[str, dict[str, str]] = {}
    for prompt in prompts:
        name, answer = long_name(prompt["phenomenon"]), prompt["answer"]
        if answer is None:
            in_common = TASK_NAMES[prompt["phenomenon"]].words
            answer = in_common.format_map(json.loads(prompt["arguments"]))
        answers[name] = {ANSWER: str(answer)}
        where = {"benchmark": BENCHMARK, "lang": lang, "item_id": prompt["item_id"]}
        cells.append(Cell(name, EXAMPLE, 1, prompt["prompt"], TEXT, "items", where, n=1))
    return Exhibit(
        **describe("table1", language=language_name(lang, labels)),
        cells=cells,
        remarks=answers,
        widths={EXAMPLE: 0.5, ANSWER: 0.22},
        textual=True,
        written_in={(name, EXAMPLE): language_tag(lang) for name in answers},
    )


def _arguments_of(template: str, text: str) -> dict[str, Any] | None:
    """The arguments that a template was filled with to give a text; None if it was not.

    Space around an argument is passed over, and how a list is joined.
    """
    parts = [
        re.escape(before) + (f"(?P<{name}>.+?)" if name else "")
        for before, name, _, _ in string.Formatter().parse(template)
    ]
    match = re.fullmatch("".join(parts), text)
    if match is None:
        return None
    arguments: dict[str, Any] = {name: value.strip() for name, value in match.groupdict().items()}
    if "words" in arguments:
        arguments["words"] = re.findall('"(.+?)"', arguments["words"])
    return arguments


def template_table(tables: Tables, labels: Labels, table: str) -> Exhibit:
    """One of Tables 9 to 33: the templates of a task.

    The measured form has those of all the campaign's languages, the published one the printed
    English ones, with hidden cells of what the release has in their place.
    """
    task = TEMPLATE_TABLES[table]
    packs = {pack.lang: pack for pack in map(read_pack, tables["packs"])}
    numbers = {
        lang: range(1, len(pack.templates.get(task, ())) + 1) for lang, pack in packs.items()
    }

    def row_name(lang: str, number: int) -> str:
        """Name the row of a template."""
        return f"{language_name(lang, labels)} {number}"

    def template_cell(lang: str, number: int, column: str) -> Cell:
        """Return the cell of a template's wording, arguments named as in print."""
        corrected = column == CORRECTED
        text = shown_template(packs[lang], task, number, corrected=corrected)
        cell = pack_cell(lang, f"{task}.{number}", (row_name(lang, number), column), text)
        stands_for = None if corrected else (str(number), lang)
        return replace(cell, where={**cell.where, "phenomenon": task}, stands_for=stands_for)

    cells: list[Cell] = []
    if labels.source == "published":
        langs, columns = [ENGLISH], [TEMPLATE]
        for _, row in read_printed(tables, exhibit=table).iterrows():
            number, lang = int(row["row"]), row["column"]
            cells.append(printed_text_cell(row, (row_name(lang, number), TEMPLATE)))
            released = template_cell(lang, number, f"{TEMPLATE}, released")
            cells.append(replace(released, printed=False))
        note = describe.entries["notes_of_tables"].get(table)
        remarks = unlike_print(cells) + (f" {note}" if note else "")
        description = describe("templates_published", task=long_name(task).lower(), remarks=remarks)
    else:
        texts = read_texts(tables["packs"])
        langs = languages_of(texts[texts["phenomenon"] == task])
        items = read_prompts(tables["items"], ("lang", "phenomenon", "template"))
        items = items[items["phenomenon"] == task]
        for lang in langs:
            for number in numbers[lang]:
                cells.append(template_cell(lang, number, TEMPLATE))
                if f"{task}.{number}" in packs[lang].corrected:
                    cells.append(template_cell(lang, number, CORRECTED))
                place = (row_name(lang, number), SAMPLES)
                cells.append(count_of(items, place, lang=lang, phenomenon=task, template=number))
        both = any(cell.column == CORRECTED for cell in cells)
        columns = [TEMPLATE, CORRECTED, SAMPLES] if both else [TEMPLATE, SAMPLES]
        without = ", ".join(language_name(lang, labels) for lang in packs if not numbers[lang])
        description = describe(
            "templates_of_both_wordings" if both else "templates",
            task=long_name(task).lower(),
            variant=labels.facts["lmentry_variant"],
            lacking=f" Without the task: {without}." if without else "",
        )
    sections = []
    for lang in langs:
        name = language_name(lang, labels)
        head = {name: name} if len(langs) > 1 else {}
        rows = {row_name(lang, number): str(number) for number in numbers[lang]}
        sections.append(Section("No.", head | rows, columns))
    width = 0.32 if CORRECTED in columns else 0.64
    return Exhibit(
        **description,
        cells=cells,
        widths={TEMPLATE: width, CORRECTED: width},
        sections=sections,
        textual=True,
        written_in={
            (row_name(lang, number), column): language_tag(lang)
            for lang in langs
            for number in numbers[lang]
            for column in (TEMPLATE, CORRECTED)
        },
    )
