"""Corrections that the MultiBLiMP authors made to UniMorph tables before use.

A later issue of a table may make one superfluous; it then changes nothing.
"""

import re
from collections.abc import Iterable, Iterator

Row = tuple[str, str, str]

# Tag separators that some tables write differently: (pattern, replacement) on the tags.
SEPARATORS = {"fao": (r"\.", ";"), "hsb": (":", ";")}
ENGLISH_BE = (
    ("be", "am", "V;IND;PRS;1;SG"),
    ("be", "are", "V;IND;PRS;2;SG"),
    ("be", "is", "V;IND;PRS;3;SG"),
    ("be", "are", "V;IND;PRS;1;PL"),
    ("be", "are", "V;IND;PRS;2;PL"),
    ("be", "are", "V;IND;PRS;3;PL"),
)


def patch_line(line: str, lang: str) -> str:
    """One line of a table with its tag separators levelled."""
    if lang not in SEPARATORS or line.count("\t") < 2:
        return line
    pattern, replacement = SEPARATORS[lang]
    lemma, form, tags = line.split("\t", 2)
    return "\t".join((lemma, form, re.sub(pattern, replacement, tags)))


def patch_rows(rows: Iterable[Row], lang: str) -> Iterator[Row]:
    """Rows of a language's tables with the authors' additions."""
    return _english(rows) if lang == "eng" else iter(rows)


def _english(rows: Iterable[Row]) -> Iterator[Row]:
    """Give English its present plural, which UniMorph leaves to the bare form.

    The table with argument marking calls that form an infinitive alone; the main one says
    that it is the imperative and subjunctive too, which keeps it out of the indicative.
    """
    for lemma, form, tags in rows:
        if lemma == "be" and "PRS" in tags and "PTCP" not in tags:
            continue
        if tags in ("V;PRS;3;SG", "V;PRS;NOM(3,SG)"):
            yield lemma, form, "V;IND;PRS;3;SG"
            yield lemma, lemma, "V;IND;PRS;3;PL"
        elif tags == "V;NFIN":
            yield lemma, form, "V;NFIN;IMP+SBJV"
        else:
            yield lemma, form, tags
    yield from ENGLISH_BE
