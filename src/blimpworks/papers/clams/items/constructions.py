"""The constructions of CLAMS, and what their item sets are called.

Source: Mueller et al. (2020), section 4 and Tables 1, 3 and 6. A construction's sets are the
released files: ``subj_rel``, or ``prep_anim`` and ``prep_inanim`` where English has one of
either kind of noun. The names of the files are the paradigms.
"""

from pathlib import Path

from blimpworks.files import read_cells

AGREEMENT, REFLEXIVES, NPIS = "agreement", "reflexives", "npis"
CAPITALS = "agreement_capitals"
"""Phenomenon of the same sentences with a capital first letter (appendix B)."""
_ROWS = read_cells(Path(__file__).with_name("constructions.tsv"))


def _group(name: str) -> dict[str, str]:
    return {row["construction"]: row["name"] for row in _ROWS if row["group"] == name}


CONSTRUCTIONS = _group("all")
"""The seven of all languages, in the order of Table 1, with their names in print."""
ENGLISH = _group("english")
"""Agreement in English, in the order of Table 3."""
ENGLISH_REFLEXIVES = _group("reflexives")
"""Reflexive anaphora in English, in the order of Table 3."""
ENGLISH_NPIS = _group("npis")
"""Negative polarity items of the English release, which the paper has no table of."""
LANGUAGES = ("eng", "fra", "deu", "heb", "rus")
CAPITALISED = ("eng", "fra", "deu", "rus")
"""Languages of appendix B: Hebrew has no capitals."""
STOP = "."
"""What the authors put after each sentence, as a word of its own."""
ANIMATE, INANIMATE = "_anim", "_inanim"


def paradigms(construction: str, *, inanimate: bool) -> list[str]:
    """Name the paradigms of a construction: BERT's have ``inanimate`` nouns too (appendix D)."""
    kinds = ("", ANIMATE, INANIMATE) if inanimate else ("", ANIMATE)
    return [construction + kind for kind in kinds]


def construction_of(paradigm: str) -> str:
    """The construction that a paradigm is of."""
    return paradigm.removesuffix(INANIMATE).removesuffix(ANIMATE)


def is_paradigm(name: str) -> bool:
    """Whether exhibits have a place for a paradigm of this name."""
    known = (CONSTRUCTIONS, ENGLISH, ENGLISH_REFLEXIVES, ENGLISH_NPIS)
    return any(construction_of(name) in names for names in known)


def phenomenon_of(paradigm: str) -> str:
    """The phenomenon that a paradigm belongs to; whatever is unknown is agreement."""
    if construction_of(paradigm) in ENGLISH_REFLEXIVES:
        return REFLEXIVES
    return NPIS if "npi" in paradigm.split("_") else AGREEMENT


def has_capitals(paradigm: str) -> bool:
    """Whether appendix B has a paradigm: one of Table 1, whose nouns are animate."""
    return construction_of(paradigm) in CONSTRUCTIONS and not paradigm.endswith(INANIMATE)
