"""Constructions of CLAMS, and the names of their evaluation sets.

Source: Mueller et al. (2020), section 4 and Tables 1, 3 and 6. A construction has one released file
(``subj_rel``), or in English one for each kind of noun (``prep_anim``, ``prep_inanim``). A paradigm
is a file's name.
"""

from pathlib import Path

from blimpworks.files import read_cells

AGREEMENT, REFLEXIVES, NPIS = "agreement", "reflexives", "npis"
CAPITALS = "agreement_capitals"
"""Phenomenon of the sentences with a capital first letter (appendix B)."""
_ROWS = read_cells(Path(__file__).with_name("constructions.tsv"))


def _group(name: str) -> dict[str, str]:
    return {row["construction"]: row["name"] for row in _ROWS if row["group"] == name}


CONSTRUCTIONS = _group("all")
"""Names of the seven that all languages have, in the order of Table 1."""
ENGLISH = _group("english")
"""Agreement in English, in the order of Table 3."""
ENGLISH_REFLEXIVES = _group("reflexives")
"""Reflexive anaphora in English, in the order of Table 3."""
ENGLISH_NPIS = _group("npis")
"""Negative polarity items of the English release; no table of the paper has them."""
LANGUAGES = ("eng", "fra", "deu", "heb", "rus")
CAPITALISED = ("eng", "fra", "deu", "rus")
"""Languages of appendix B: Hebrew has no capitals."""
STOP = "."
"""Word that the authors put after each sentence."""
ANIMATE, INANIMATE = "_anim", "_inanim"


def paradigms(construction: str, *, inanimate: bool) -> list[str]:
    """Return the paradigms of a construction; BERT's have ``inanimate`` nouns too (appendix D)."""
    kinds = ("", ANIMATE, INANIMATE) if inanimate else ("", ANIMATE)
    return [construction + kind for kind in kinds]


def construction_of(paradigm: str) -> str:
    """Return a paradigm's construction."""
    return paradigm.removesuffix(INANIMATE).removesuffix(ANIMATE)


def is_paradigm(name: str) -> bool:
    """Tell whether exhibits show a paradigm of this name."""
    known = (CONSTRUCTIONS, ENGLISH, ENGLISH_REFLEXIVES, ENGLISH_NPIS)
    return any(construction_of(name) in names for names in known)


def phenomenon_of(paradigm: str) -> str:
    """Return the phenomenon of a paradigm; an unknown one is agreement."""
    if construction_of(paradigm) in ENGLISH_REFLEXIVES:
        return REFLEXIVES
    return NPIS if "npi" in paradigm.split("_") else AGREEMENT


def has_capitals(paradigm: str) -> bool:
    """Tell whether appendix B has a paradigm: one of Table 1 with animate nouns."""
    return construction_of(paradigm) in CONSTRUCTIONS and not paradigm.endswith(INANIMATE)
