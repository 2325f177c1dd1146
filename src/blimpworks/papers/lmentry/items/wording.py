"""Prompts from templates and arguments.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2, Tables 9 to 33; how lists are
joined and categories named is a fact of the released code.
"""

from collections.abc import Sequence

from blimpworks.papers.lmentry.items.basque import category_name
from blimpworks.papers.lmentry.items.declarations import PARENTS
from blimpworks.papers.lmentry.items.draws import Arguments
from blimpworks.papers.lmentry.items.packs import Pack


def row_of(pack: Pack, words: Sequence[str], name: str, number: int, *, corrected: bool) -> str:
    """Words in quotation marks, joined as the language joins them in a task's template."""
    quoted = [f'"{word}"' for word in words]
    usual = pack.lists.last
    last = usual if corrected else pack.lists.slips.get(name, usual)
    if number in pack.lists.plain:
        last = ", "
    return ", ".join(quoted[:-1]) + last + quoted[-1]


def category_of(pack: Pack, category: str, task: str, number: int, *, corrected: bool) -> str:
    """A category as it stands in a task's template."""
    if pack.declension == "basque":
        return category_name(category, task, number, pack.abstract, correct=corrected)
    return pack.categories.get(f"{task}.{number}", {}).get(category, category)


def prompt_of(pack: Pack, name: str, number: int, arguments: Arguments, *, corrected: bool) -> str:
    """The prompt that template ``number`` of a task (or a subset's task) makes of arguments."""
    task = PARENTS.get(name, name)
    values = {"word": arguments.get("query", ""), **arguments}
    if "words" in arguments:
        values["words"] = row_of(pack, arguments["words"], name, number, corrected=corrected)
    if "category" in arguments:
        named = arguments["category"]
        values["category"] = category_of(pack, named, task, number, corrected=corrected)
    return pack.template(name, number, corrected=corrected).format_map(values)
