"""Make the prompts of Multi-LMentry in a language, and count them by the release's settings.

``build_prompts`` reads a language's annotated words and sentences (resources), its language pack
and the declarations of all tasks. It writes a row of ``PROMPTS`` for each prompt: a task's
template, "Which is bigger, {n1} or {n2}?", filled with arguments that ``sampling`` draws.
``count_prompts`` writes the numbers of prompts.

Source: Moroni, Aula-Blasco, Conia and others (2025), sections 3.2 and 3.3, Tables 1, 8 to 33 and
54; the released code for the joining of lists and the names of categories. The release's settings
are in ``config/lmentry/tasks.yaml`` and in the language packs.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.items import evenly, item_id
from blimpworks.papers.lmentry.items.languages import category_name
from blimpworks.papers.lmentry.items.packs import (
    Declarations,
    Pack,
    Sampling,
    declaration_of,
    read_declarations,
    read_pack,
)
from blimpworks.papers.lmentry.items.resources import Resources, cleaned, read_resources
from blimpworks.papers.lmentry.items.sampling import Arguments, Source, draw
from blimpworks.papers.lmentry.settings import LmentryOptions
from blimpworks.papers.lmentry.tables import PROMPT_COUNTS
from blimpworks.papers.lmentry.tasks import ORDERED, PARENTS, TASKS, task_of
from blimpworks.tables import PROMPTS, write_rows

WITH_COMMAS = 3
"""Number of the template that joins words by commas only, in each task."""
EXHAUSTIVE = ("letters", "homophones", "ends")
"""Samplers that take all possible arguments."""


def join_words(pack: Pack, texts: Sequence[str], name: str, number: int, *, corrected: bool) -> str:
    """Quote words and join them to a list, as template ``number`` of a task or subset does.

    ``name``: of the task or subset. English gives '"cat", "dog" and "bird"'.
    """
    quoted = [f'"{word}"' for word in texts]
    right = pack.lists.last
    # The release joins the words of some tasks otherwise, by error.
    conjunction = right if corrected else pack.lists.slips.get(name, right)
    if number == WITH_COMMAS:
        conjunction = ", "
    return ", ".join(quoted[:-1]) + conjunction + quoted[-1]


def prompt_of(pack: Pack, name: str, number: int, arguments: Arguments, *, corrected: bool) -> str:
    """Fill template ``number`` of a task, or of a subset such as any_words_3, with arguments."""
    task = task_of(name)
    values = {"word": arguments.get("query", ""), **arguments}
    if "words" in arguments:
        values["words"] = join_words(pack, arguments["words"], name, number, corrected=corrected)
    if "category" in arguments:
        category: str = arguments["category"]
        if pack.declension == "basque":
            category = category_name(category, task, number, pack.abstract, correct=corrected)
        else:
            category = pack.categories.get(f"{task}.{number}", {}).get(category, category)
        values["category"] = category
    return pack.template(name, number, corrected=corrected).format_map(values)


def names_of(pack: Pack) -> list[str]:
    """Return the tasks with templates in a pack, and their subsets."""
    return [name for name in (*TASKS, *PARENTS) if task_of(name) in pack.templates]


def _settings_number(task: Sampling, pack: Pack) -> int | None:
    """Return the number of a template's prompts by the settings; None if the resources decide it.

    ``task.nominal`` is the number, "made" (None, since all prompts that the resources allow are
    made) or "drawn". For "drawn" it is the number of letters for letters of the release; None for
    other samplers in ``EXHAUSTIVE``, which take all arguments; ``size`` for the remaining ones.
    """
    if task.nominal != "drawn":
        return None if task.nominal == "made" else task.nominal
    if task.sampler == "letters" and task.letters_of == "release":
        return len(pack.letters.get(task.letters, "")) or None
    return None if task.sampler in EXHAUSTIVE else task.size


def nominal_of(task: Sampling, pack: Pack, available: int, kept: int) -> int:
    """Return a template's number of prompts by the settings, or ``kept`` if they state none.

    If fewer prompts are kept than ``available``, the number shrinks in the same proportion.
    """
    number = _settings_number(task, pack)
    if number is None:
        return kept
    return number if kept == available else max(1, round(number * kept / available))


def prompts_of(
    released: Resources, pack: Pack, declarations: Declarations, options: LmentryOptions
) -> Iterator[dict[str, Any]]:
    """Yield rows of PROMPTS: a language's tasks, then its subsets, template by template."""
    clean_resources = cleaned(released)
    if options.variant == "corrected" and pack.yes_no_corrected:
        pack = pack.model_copy(update={"yes_no": pack.yes_no_corrected})
    for name in names_of(pack):
        declared = declaration_of(declarations, name, pack.lang, options.variant)
        if not declared.made:
            continue
        source = Source(clean_resources if declared.clean else released, pack, declared)
        numbered = [*enumerate(draw(source, options.seed), start=1)]
        if not numbered:
            raise UserError(
                f"{pack.lang}: {name}: the resources allow no prompt; add words that it can be "
                "drawn from, or take the task's templates out of the language pack."
            )
        kept = evenly(numbered, options.per_template)  # at equal distances
        nominal = nominal_of(declared, pack, len(numbered), len(kept))
        task, corrected = task_of(name), declared.wording == "corrected"
        templates = range(1, len(pack.templates[task]) + 1)
        for template, (number, arguments) in product(templates, kept):
            prompt = prompt_of(pack, name, template, arguments, corrected=corrected)
            answer = arguments.get("answer")
            # In tasks with two arguments, paradigms differ in the position of the right argument.
            position = f"/answer={arguments['answer_index'] + 1}" if task in ORDERED else ""
            yield {
                "item_id": item_id("lmentry", pack.lang, name, template, number, prompt),
                "lang": pack.lang,
                "phenomenon": name,
                "paradigm": f"template={template}{position}",
                "template": template,
                "number": number,
                "nominal": nominal,
                "prompt": prompt,
                "answer": None if answer is None else str(answer),
                "arguments": json.dumps(arguments, ensure_ascii=False),
            }


def build_prompts(
    files: Sequence[Path], pack: Path, declarations: Path, output: Path, options: LmentryOptions
) -> dict[str, int]:
    """Write a language's prompts; return the number of prompts, and of tasks and subsets."""
    resources, tasks = read_resources(files), read_declarations(declarations)
    rows = [*prompts_of(resources, read_pack(pack), tasks, options)]
    write_rows(rows, PROMPTS, output)
    return {"prompts": len(rows), "tasks": len({row["phenomenon"] for row in rows})}


SETTINGS, RESOURCES = "settings", "resources"
"""Basis of a number of prompts: only declarations and pack, or also the resources."""


def count_prompts(
    packs: Sequence[Path], declarations: Path, resources: Sequence[tuple[str, Path]], output: Path
) -> dict[str, int]:
    """Write each task's number of prompts by the settings; return how many numbers have each basis.

    ``resources`` has (language, file) pairs. Tasks that need missing resources are left out.
    """
    task_declarations = read_declarations(declarations)
    rows: list[dict[str, Any]] = []
    for pack in map(read_pack, packs):
        files = [path for lang, path in resources if lang == pack.lang]
        released = read_resources(files) if files else None
        for name in names_of(pack):
            task = declaration_of(task_declarations, name, pack.lang, "published")
            if not task.made:
                continue
            nominal, basis = _settings_number(task, pack), SETTINGS
            if nominal is None and released is not None:
                nominal = len(draw(Source(released, pack, task), LmentryOptions().seed))
                basis = RESOURCES
            if nominal is not None:
                n = len(pack.templates[task_of(name)])
                row = {"templates": n, "nominal": nominal, "prompts": n * nominal, "basis": basis}
                rows.append(row | {"lang": pack.lang, "phenomenon": name})
    write_rows(rows, PROMPT_COUNTS, output)
    return {basis: sum(row["basis"] == basis for row in rows) for basis in (SETTINGS, RESOURCES)}
