"""Corrections that the MultiBLiMP authors made to UniMorph tables before use.

Source: method notes to MultiBLiMP 1.0, 2.5; the paper does not mention them. The table of
patches beside this module lists them, in their order. Its ``table`` is the file that one is
for (empty: all of the language) and its ``kind`` says what it does:

- ``tags``, ``tags_everywhere``: replace the first, or every, match of ``pattern`` in the tags;
- ``drop``: leave out lines that match ``pattern``;
- ``lemma_as_form``: repeat rows whose tags match with the lemma as form, and other tags;
- ``add``: one more row, "lemma|form|tags".

Tables that replace or extend others (Finnish, Karelian, Kazakh, Livvi, Uzbek, Veps) are rows
of ``config/sources.tsv``. A patch that a later issue of a table makes superfluous changes
nothing.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from blimpworks.campaign.table_files import read_rows
from blimpworks.strict import Strict

Row = tuple[str, str, str]
"""A row of a UniMorph table: lemma, form and tags."""

TABLE = Path(__file__).with_name("unimorph_patches.tsv")
DROPPED = "\t\t"
"""What stands for a line to leave out: neither lemma nor form."""
PLAIN_WORD = re.compile(r"[a-z]+")


class Patch(Strict):
    """One row of the table of patches."""

    lang: str
    table: str
    kind: Literal["tags", "tags_everywhere", "drop", "lemma_as_form", "add"]
    pattern: re.Pattern[str]
    replacement: str
    why: str

    def concerns(self, table: str) -> bool:
        """Whether it is for a file of this name (without .xz)."""
        return self.table in ("", table.removesuffix(".xz"))


@cache
def patches_of(lang: str) -> tuple[Patch, ...]:
    """List patches of a language in order. Raises UserError for a patch of unknown kind."""
    return tuple(patch for patch in read_rows(Patch, TABLE) if patch.lang == lang)


def patch_line(line: str, lang: str, table: str = "") -> str:
    """Correct the tags of one line of ``table``; a line to leave out loses lemma and form."""
    for patch in patches_of(lang):
        if not patch.concerns(table or lang):
            continue
        if patch.kind == "drop":
            if patch.pattern.search(line):
                return DROPPED
        elif patch.kind in ("tags", "tags_everywhere") and line.count("\t") >= 2:
            lemma, form, tags = line.split("\t", 2)
            count = 1 if patch.kind == "tags" else 0
            tags = patch.pattern.sub(patch.replacement, tags, count=count)
            line = f"{lemma}\t{form}\t{tags}"
    return line


def patch_rows(rows: Iterable[Row], lang: str) -> Iterator[Row]:
    """Add the authors' rows to those of a language's patched tables, if it has any."""
    own = patches_of(lang)
    repeated = [patch for patch in own if patch.kind == "lemma_as_form"]
    any_rows = False
    for row in rows:
        any_rows = True
        yield row
        yield from _repetitions(row, repeated)
    if any_rows:
        for patch in own:
            if patch.kind == "add":
                lemma, form, tags = patch.replacement.split("|")
                yield lemma, form, tags


def _repetitions(row: Row, patches: Iterable[Patch]) -> Iterator[Row]:
    """The lemma as another form, as far as it ends in a plain word and the form is one."""
    lemma, form, tags = row
    for patch in patches:
        if patch.pattern.search(tags) and PLAIN_WORD.fullmatch(form):
            ending = re.search(r"[a-z]+$", lemma)
            if ending:
                yield lemma, ending[0], patch.pattern.sub(patch.replacement, tags, count=1)
