"""Tables 1 and 9 to 33: an example of each task, and its templates in each language.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2 and appendix A.3. Print has
English prompts, without answers, and English templates.
"""

import json
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

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

SOURCE = "packs"
SPACE = "␣"
STRAY = re.compile(" {2,}|^ | $")
"""Spaces too many, which a page would not show."""
WORDS = ("w₁", "w₂", "w₃", "w₄", "w₅")
IN_PRINT = {"word1": "w₁", "word2": "w₂", "n1": "n₁", "n2": "n₂"}
"""Arguments that print calls otherwise than the release's templates do."""


def pack_cell(lang: str, key: str, place: tuple[str, str], text: str) -> Cell:
    """A cell of a language pack's text; ``key`` is that of ``packs.texts_of``."""
    return Cell(*place, 1, text, TEXT, SOURCE, {"lang": lang, "key": key})


def shown_template(pack: Pack, task: str, number: int, *, corrected: bool) -> str:
    """A template with the names of its arguments in their places, as print has them.

    Spaces too many are shown as ``SPACE``.
    """
    shown = {name: IN_PRINT.get(name, name) for name in FIELDS[task]}
    if "words" in shown:
        shown["words"] = row_of(pack, WORDS, task, number, corrected=corrected)
    text = pack.template(task, number, corrected=corrected).format_map(shown)
    return STRAY.sub(lambda spaces: SPACE * len(spaces[0]), text)


def unlike_print(cells: Sequence[Cell]) -> str:
    """A sentence on which printed texts are worded otherwise in the release.

    ``cells`` are printed texts, and hidden ones of the release that stand for the same.
    """
    released: Mapping[object, str] = {c.stands_for: c.text for c in cells if not c.printed}
    texts = [c for c in cells if c.printed and c.stands_for in released]
    unlike = [c for c in texts if not same_wording(c.text, released[c.stands_for])]
    if not unlike:
        return "The wording is that of the release."
    readings = "; ".join(f"{c.row}, {released[c.stands_for].rstrip('.')}" for c in unlike)
    return f"Worded otherwise in the release: {readings}."


ENGLISH = "eng"
EXAMPLE, ANSWER = "Example", "Answer"
EXAMPLE_COLUMNS = (
    "item_id",
    "lang",
    "phenomenon",
    "template",
    "number",
    "prompt",
    "answer",
    "arguments",
)
TEMPLATE, CORRECTED = "Template", "Corrected"


# Table 1


def _first_prompts(path: Path) -> dict[str, dict[str, Any]]:
    """The first prompt of the first template of each task in a table of prompts."""
    first: dict[str, dict[str, Any]] = {}
    for prompt in read_table(PROMPTS, path, EXAMPLE_COLUMNS).to_pylist():
        if prompt["template"] == 1 and prompt["phenomenon"] in TASKS:
            first.setdefault(prompt["phenomenon"], prompt)
    return first


def _chosen(paths: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """The first prompts of English, or of the first language where the campaign lacks it."""
    by_language = {path.stem: path for path in paths}
    return _first_prompts(by_language.get(ENGLISH, paths[0]))


def _answer(prompt: Mapping[str, Any]) -> str:
    """The right answer, or what right answers have in common."""
    if prompt["answer"] is not None:
        return str(prompt["answer"])
    return TASK_NAMES[prompt["phenomenon"]].words.format_map(json.loads(prompt["arguments"]))


def _prompt_cell(prompt: Mapping[str, Any]) -> Cell:
    place = (long_name(prompt["phenomenon"]), EXAMPLE)
    where = {"benchmark": BENCHMARK, "lang": prompt["lang"], "item_id": prompt["item_id"]}
    return Cell(*place, 1, prompt["prompt"], TEXT, "items", where, n=1)


def _measured_examples(tables: Tables, labels: Labels) -> Exhibit:
    chosen = _chosen(tables["items"])
    prompts = [chosen[task] for task in TASKS if task in chosen]
    lang = prompts[0]["lang"]
    answers = {long_name(prompt["phenomenon"]): {ANSWER: _answer(prompt)} for prompt in prompts}
    return Exhibit(
        **describe("table1", language=language_name(lang, labels)),
        cells=[_prompt_cell(prompt) for prompt in prompts],
        remarks=answers,
        widths={EXAMPLE: 0.5, ANSWER: 0.22},
        textual=True,
        written_in={(row, EXAMPLE): language_tag(lang) for row in answers},
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


def _released(pack: Pack, task: str, text: str) -> Iterator[tuple[int, str]]:
    """Numbers of the templates that a printed prompt is of, and the release's own prompts."""
    for number, template in enumerate(pack.templates[task], start=1):
        arguments = _arguments_of(template, as_typed(text))
        if arguments is not None:
            yield number, prompt_of(pack, task, number, arguments, corrected=False)


def _published_examples(tables: Tables) -> Exhibit:
    printed = read_printed(tables, exhibit="table1")
    pack = next(p for p in map(read_pack, tables["packs"]) if p.lang == ENGLISH)
    cells: list[Cell] = []
    for _, row in printed.iterrows():
        task, name = row["row"], long_name(row["row"])
        cells.append(printed_text_cell(row, (name, EXAMPLE)))
        for number, text in [*_released(pack, task, row["text"])][:1]:
            cell = pack_cell(pack.lang, f"{task}.{number}", (name, "From the template"), text)
            cells.append(replace(cell, printed=False, stands_for=(task, row["column"])))
    return Exhibit(
        **describe("table1_published", wording=unlike_print(cells)),
        cells=cells,
        widths={EXAMPLE: 0.7},
        textual=True,
    )


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Table 1: a prompt of each task.

    The measured form has the campaign's own prompts with their answers; the published one the
    printed prompts, with hidden cells of what the release's template gives for their arguments.
    """
    return (
        _published_examples(tables)
        if labels.source == "published"
        else _measured_examples(tables, labels)
    )


# Tables 9 to 33


def _row(lang: str, number: int, labels: Labels) -> str:
    return f"{language_name(lang, labels)} {number}"


@dataclass(frozen=True)
class Templates:
    """The templates of a task: the rows of the packs' texts, and the packs by language."""

    task: str
    packs: Mapping[str, Pack]
    texts: pd.DataFrame
    labels: Labels

    @classmethod
    def of(cls, tables: Tables, task: str, labels: Labels) -> "Templates":
        """The templates of a task in all packs. Raises UserError for a pack that is wrong."""
        packs = [read_pack(path) for path in tables["packs"]]
        texts = read_texts(tables["packs"])
        own = texts[texts["phenomenon"] == task]
        return cls(task, {pack.lang: pack for pack in packs}, own, labels)

    def numbers(self, lang: str) -> range:
        """Numbers of the templates in a language, from 1; none where it lacks the task."""
        return range(1, len(self.packs[lang].templates.get(self.task, ())) + 1)

    def cell(self, lang: str, number: int, *, corrected: bool = False) -> Cell:
        """The cell of a template's wording, arguments named as in print."""
        text = shown_template(self.packs[lang], self.task, number, corrected=corrected)
        place = (_row(lang, number, self.labels), CORRECTED if corrected else TEMPLATE)
        cell = pack_cell(lang, f"{self.task}.{number}", place, text)
        stands_for = None if corrected else (str(number), lang)
        return replace(cell, where={**cell.where, "phenomenon": self.task}, stands_for=stands_for)


def _measured(tables: Tables, templates: Templates, langs: Sequence[str]) -> Iterator[Cell]:
    """Both wordings of each template, and how many prompts there are of it."""
    items = read_prompts(tables["items"], ("lang", "phenomenon", "template"))
    items = items[items["phenomenon"] == templates.task]
    for lang in langs:
        for number in templates.numbers(lang):
            yield templates.cell(lang, number)
            right = templates.cell(lang, number, corrected=True)
            if f"{templates.task}.{number}" in templates.packs[lang].corrected:
                yield right
            place = (_row(lang, number, templates.labels), SAMPLES)
            yield count_of(items, place, lang=lang, phenomenon=templates.task, template=number)


def _published(tables: Tables, templates: Templates, table: str) -> Iterator[Cell]:
    """The printed templates, and behind them those of the release."""
    printed = read_printed(tables)
    for _, row in printed[printed["exhibit"] == table].iterrows():
        number, lang = int(row["row"]), row["column"]
        yield printed_text_cell(row, (_row(lang, number, templates.labels), TEMPLATE))
        again = templates.cell(lang, number)
        yield replace(again, column=f"{TEMPLATE}, released", printed=False)


def _sections(templates: Templates, langs: Sequence[str], columns: Sequence[str]) -> list[Section]:
    """A section of each language: its name, and below it its templates by number."""
    sections = []
    for lang in langs:
        name = language_name(lang, templates.labels)
        rows = {_row(lang, n, templates.labels): str(n) for n in templates.numbers(lang)}
        head = {name: name} if len(langs) > 1 else {}
        sections.append(Section("No.", head | rows, columns))
    return sections


def _lacking(templates: Templates, langs: Sequence[str]) -> str:
    """A sentence on languages without the task."""
    names = [language_name(lang, templates.labels) for lang in langs if not templates.numbers(lang)]
    return f" Without the task: {', '.join(names)}." if names else ""


def template_table(tables: Tables, labels: Labels, table: str) -> Exhibit:
    """One of Tables 9 to 33: the templates of a task.

    The measured form has those of all the campaign's languages, the published one the printed
    English ones, with hidden cells of what the release has in their place.
    """
    templates = Templates.of(tables, TEMPLATE_TABLES[table], labels)
    task = long_name(templates.task).lower()
    if labels.source == "published":
        langs, cells = [ENGLISH], list(_published(tables, templates, table))
        columns = [TEMPLATE]
        note = describe.entries["notes_of_tables"].get(table)
        remarks = unlike_print(cells) + (f" {note}" if note else "")
        description = describe("templates_published", task=task, remarks=remarks)
    else:
        langs = languages_of(templates.texts)
        cells = list(_measured(tables, templates, langs))
        both = any(cell.column == CORRECTED for cell in cells)
        columns = [TEMPLATE, *[CORRECTED] * both, SAMPLES]
        description = describe(
            "templates_of_both_wordings" if both else "templates",
            task=task,
            variant=labels.facts["lmentry_variant"],
            lacking=_lacking(templates, [*templates.packs]),
        )
    written = {
        (_row(lang, number, labels), column): language_tag(lang)
        for lang in langs
        for number in templates.numbers(lang)
        for column in (TEMPLATE, CORRECTED)
    }
    width = 0.64 / (1 + (CORRECTED in columns))
    return Exhibit(
        **description,
        cells=cells,
        widths=dict.fromkeys([TEMPLATE, CORRECTED], round(width, 2)),
        sections=_sections(templates, langs, columns),
        textual=True,
        written_in=written,
    )
