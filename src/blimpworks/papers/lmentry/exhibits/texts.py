"""Texts of Multi-LMentry's exhibits: templates and system prompts, beside those in print.

Source: Moroni, Aula-Blasco, Conia and others (2025), Tables 1, 7 and 9 to 33.
"""

import re
from collections.abc import Mapping, Sequence

from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import TEXT
from blimpworks.papers.lmentry.items.packs import Pack
from blimpworks.papers.lmentry.items.prompts import row_of
from blimpworks.papers.lmentry.tasks import FIELDS
from blimpworks.reproduction.agreement import same_wording

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
