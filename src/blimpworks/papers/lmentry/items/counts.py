"""How many prompts the release's settings give each task and language: what Table 54 has.

Source: Moroni, Aula-Blasco, Conia and others (2025), Table 54, and the benchmark's released code,
whose settings ``config/lmentry/tasks.yaml`` and the language packs have as data.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blimpworks.papers.lmentry.items.declarations import (
    Declaration,
    Declarations,
    declaration_of,
    read_declarations,
)
from blimpworks.papers.lmentry.items.draws import Source
from blimpworks.papers.lmentry.items.packs import Pack, read_pack
from blimpworks.papers.lmentry.items.prompts import EXHAUSTIVE, names_of, nominal_of
from blimpworks.papers.lmentry.items.resources import Resources, read_resources
from blimpworks.papers.lmentry.items.sampling import draw
from blimpworks.papers.lmentry.settings import LmentryOptions
from blimpworks.papers.lmentry.tables import PROMPT_COUNTS
from blimpworks.papers.lmentry.tasks import task_of
from blimpworks.tables import write_rows

SETTINGS, RESOURCES = "settings", "resources"
"""What a number rests on: the declarations and the pack alone, or the annotated resources too."""


def settled(task: Declaration, pack: Pack) -> int | None:
    """How many prompts of a template the settings name; None where the resources decide.

    Tasks that take all there is (every sentence, every pair of homophones) have as many prompts
    as the resources allow; of letters the pack lists those of the release.
    """
    listed = pack.letters.get(task.letters) if task.sampler == "letters" else None
    if task.nominal == "drawn" and listed and task.letters_of == "release":
        return len(listed)
    if task.nominal == "made" or (task.nominal == "drawn" and task.sampler in EXHAUSTIVE):
        return None
    return task.size if task.nominal == "drawn" else task.nominal


def _row(
    pack: Pack, name: str, task: Declaration, resources: Resources | None
) -> dict[str, Any] | None:
    nominal, basis = settled(task, pack), SETTINGS
    if nominal is None:
        if resources is None:
            return None
        n = len(draw(Source(resources, pack, task), LmentryOptions().seed))
        nominal, basis = nominal_of(task, n, n), RESOURCES
    templates = len(pack.templates[task_of(name)])
    return {
        "lang": pack.lang,
        "phenomenon": name,
        "templates": templates,
        "nominal": nominal,
        "prompts": templates * nominal,
        "basis": basis,
    }


def settings_of(
    pack: Pack, declarations: Declarations, resources: Resources | None
) -> Iterator[dict[str, Any]]:
    """Rows of PROMPT_COUNTS of a language, by the published variant of the declarations.

    Without its resources, tasks whose number they decide are left out.
    """
    for name in names_of(pack):
        task = declaration_of(declarations, name, pack.lang, "published")
        row = _row(pack, name, task, resources) if task.made else None
        if row:
            yield row


def count_prompts(
    packs: Sequence[Path], declarations: Path, resources: Mapping[str, Sequence[Path]], output: Path
) -> dict[str, int]:
    """Write how many prompts the settings give each task and subset of some languages.

    ``resources``: files of the languages whose annotated resources are at hand. Returns how many
    numbers rest on the settings alone, and how many on the resources. Raises UserError for a
    pack, declarations or resources that are missing or wrong.
    """
    known = read_declarations(declarations)
    rows = []
    for path in packs:
        pack = read_pack(path)
        files = resources.get(pack.lang)
        rows += [*settings_of(pack, known, read_resources(files) if files else None)]
    write_rows(rows, PROMPT_COUNTS, output)
    return {basis: sum(row["basis"] == basis for row in rows) for basis in (SETTINGS, RESOURCES)}
