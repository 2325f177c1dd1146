"""Table 1: an example of each task.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2. Print has English prompts without
answers.
"""

import json
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import TEXT
from blimpworks.exhibits.shared import Tables, printed_text_cell, read_printed
from blimpworks.papers.lmentry.exhibits.common import language_tag, read_exhibit
from blimpworks.papers.lmentry.exhibits.data import language_name
from blimpworks.papers.lmentry.exhibits.names import BENCHMARK, long_name
from blimpworks.papers.lmentry.exhibits.texts import pack_cell, unlike_print
from blimpworks.papers.lmentry.items.packs import Pack, read_pack
from blimpworks.papers.lmentry.items.wording import prompt_of
from blimpworks.papers.lmentry.tasks import TASKS
from blimpworks.prompt_tables import PROMPTS
from blimpworks.reproduction.agreement import as_typed
from blimpworks.tables import read_table

ENGLISH = "eng"
EXAMPLE, ANSWER = "Example", "Answer"
TITLE = "An example of each task"
COLUMNS = ("item_id", "lang", "phenomenon", "template", "number", "prompt", "answer", "arguments")
MANY = {
    "sentence_containing": "any sentence with “{word}”",
    "sentence_not_containing": "any sentence without “{word}”",
    "word_containing": "any word with “{letter}”",
    "word_not_containing": "any word without “{letter}”",
    "starts_with_word": "any sentence that starts with “{word}”",
    "ends_with_word": "any sentence that ends with “{word}”",
    "starts_with_letter": "any word that starts with “{letter}”",
    "ends_with_letter": "any word that ends with “{letter}”",
}
"""Answers of the tasks that many answers are right in."""


# Measured


def _first_prompts(path: Path) -> dict[str, dict[str, Any]]:
    """The first prompt of the first template of each task in a table of prompts."""
    first: dict[str, dict[str, Any]] = {}
    for prompt in read_table(PROMPTS, path, COLUMNS).to_pylist():
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
    return MANY[prompt["phenomenon"]].format_map(json.loads(prompt["arguments"]))


def _prompt_cell(prompt: Mapping[str, Any]) -> Cell:
    place = (long_name(prompt["phenomenon"]), EXAMPLE)
    where = {"benchmark": BENCHMARK, "lang": prompt["lang"], "item_id": prompt["item_id"]}
    return Cell(*place, 1, prompt["prompt"], TEXT, "items", where, n=1)


def _measured(tables: Tables, labels: Labels) -> Exhibit:
    chosen = _chosen(tables["items"])
    prompts = [chosen[task] for task in TASKS if task in chosen]
    lang = prompts[0]["lang"]
    answers = {long_name(prompt["phenomenon"]): {ANSWER: _answer(prompt)} for prompt in prompts}
    return Exhibit(
        TITLE,
        f"The first prompt of each task in {language_name(lang, labels)}, with its answer; where "
        "many answers are right, what they have in common.",
        [_prompt_cell(prompt) for prompt in prompts],
        row_title="Task",
        remarks=answers,
        widths={EXAMPLE: 0.5, ANSWER: 0.22},
        textual=True,
        written_in={(row, EXAMPLE): language_tag(lang) for row in answers},
    )


# Published


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


def _published(tables: Tables) -> Exhibit:
    printed = read_exhibit(read_printed(tables), "table1")
    pack = next(p for p in map(read_pack, tables["packs"]) if p.lang == ENGLISH)
    cells: list[Cell] = []
    for _, row in printed.iterrows():
        task, name = row["row"], long_name(row["row"])
        cells.append(printed_text_cell(row, (name, EXAMPLE)))
        for number, text in [*_released(pack, task, row["text"])][:1]:
            cell = pack_cell(pack.lang, f"{task}.{number}", (name, "From the template"), text)
            cells.append(replace(cell, printed=False, stands_for=(task, row["column"])))
    return Exhibit(
        TITLE,
        f"As printed, without answers. {unlike_print(cells)}",
        cells,
        row_title="Task",
        widths={EXAMPLE: 0.7},
        textual=True,
    )


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Table 1: a prompt of each task.

    The measured form has the campaign's own prompts with their answers; the published one the
    printed prompts, with hidden cells of what the release's template makes of their arguments.
    """
    return _published(tables) if labels.source == "published" else _measured(tables, labels)
