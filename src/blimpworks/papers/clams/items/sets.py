"""Name the constructions of CLAMS, and find a campaign's evaluation sets and their sizes.

A construction has one released file (``subj_rel.txt``), or in English one for each type of noun
(``prep_anim.txt``, ``prep_inanim.txt``). A paradigm is the stem of a file's name. A file has
minimal sets: a grammatical sentence, then ungrammatical ones.

Source: Mueller et al. (2020), section 4 and Tables 1, 3 and 6. This module imports nothing slow,
because each parse of the Snakefile loads it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from blimpworks.campaign.catalogue import Catalogue, SourceRow
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.files import read_cells
from blimpworks.papers.clams.settings import ClamsOptions

AGREEMENT, REFLEXIVES, NPIS = "agreement", "reflexives", "npis"
CAPITALS = "agreement_capitals"
"""Phenomenon of the sentences with a capital first letter (appendix B)."""
_CONSTRUCTION_ROWS = read_cells(Path(__file__).with_name("constructions.tsv"))


def _group(name: str) -> dict[str, str]:
    return {row["construction"]: row["name"] for row in _CONSTRUCTION_ROWS if row["group"] == name}


CONSTRUCTIONS = _group("all")
"""Names of the seven constructions of all languages, in the order of Table 1."""
ENGLISH, ENGLISH_REFLEXIVES = _group("english"), _group("reflexives")
"""Names of the English constructions of Table 3, those of agreement and those of reflexives."""
ENGLISH_SETS = (
    (AGREEMENT, "Subject-verb agreement", ENGLISH),
    (REFLEXIVES, "Reflexive anaphora", ENGLISH_REFLEXIVES),
    (NPIS, "Negative polarity items", _group("npis")),
)
"""Phenomena of English: code, title and names of constructions, in the order of Table 3. The
polarity items of the English release are in no table of the paper."""
LANGUAGES = ("eng", "fra", "deu", "heb", "rus")
CAPITALISED = ("eng", "fra", "deu", "rus")
"""Languages of appendix B. Hebrew has no capitals."""
STOP = "."
"""Full stop that the authors put after each sentence."""
ANIMATE, INANIMATE = "_anim", "_inanim"


def paradigms(construction: str, *, inanimate: bool) -> list[str]:
    """Return the paradigms of a construction: prep, prep_anim, and if ``inanimate`` prep_inanim."""
    endings = ("", ANIMATE, INANIMATE) if inanimate else ("", ANIMATE)
    return [construction + ending for ending in endings]


def construction_of(paradigm: str) -> str:
    """Return the construction of a paradigm: "prep" of "prep_anim"."""
    return paradigm.removesuffix(INANIMATE).removesuffix(ANIMATE)


def phenomenon_of(paradigm: str) -> str:
    """Return the phenomenon of a paradigm; that of an unknown paradigm is agreement."""
    if construction_of(paradigm) in ENGLISH_REFLEXIVES:
        return REFLEXIVES
    return NPIS if "npi" in paradigm.split("_") else AGREEMENT


def has_capitals(paradigm: str) -> bool:
    """Tell whether a paradigm is in appendix B: a construction of Table 1 with animate nouns."""
    return construction_of(paradigm) in CONSTRUCTIONS and not paradigm.endswith(INANIMATE)


COMMON = "common"
"""Stem of the file with the rules that all grammars of a language share."""
SET, GRAMMAR = "clams_set", "clams_grammar"
"""Kinds of sources."""


class Grammars(NamedTuple):
    """Grammars of a language: a common one, and one for each paradigm."""

    common: Path | None
    cases: tuple[Path, ...]


def _retrieved(campaign: Campaign, rows: Sequence[SourceRow]) -> list[Path]:
    return [Path(campaign.pathvars.resources, "sources", row.name) for row in rows]


def our_grammars(campaign: Campaign, lang: str) -> list[Path]:
    """Return the campaign's grammars of a language; empty without any."""
    return sorted((campaign.folder("grammars") / lang).glob("*.avg"))


def grammars_of(campaign: Campaign, catalogue: Catalogue, lang: str) -> Grammars:
    """Return a language's grammars: the campaign's, else the released. UserError without any."""
    released = catalogue.sources_of(GRAMMAR, lang)
    paths = our_grammars(campaign, lang) or _retrieved(campaign, released)
    common = [path for path in paths if path.stem == COMMON]
    cases = tuple(path for path in paths if path.stem != COMMON)
    if not cases:
        raise UserError(
            f"clams.grammars names {lang!r}, but there is no grammar in "
            f"{campaign.folder('grammars') / lang} and none among the sources; write one "
            "(docs/grammars.md), or leave it out of clams.grammars."
        )
    return Grammars(common[0] if common else None, cases)


def set_paths(campaign: Campaign, catalogue: Catalogue, lang: str) -> list[str]:
    """Return the paths of a language's evaluation sets, generated or released."""
    if lang in campaign.section(ClamsOptions).grammars:
        folder = f"{campaign.pathvars.results}/sets/clams/{lang}"
        cases = grammars_of(campaign, catalogue, lang).cases
        return [f"{folder}/{case.stem}.txt" for case in cases]
    return [str(path) for path in _retrieved(campaign, catalogue.sources_of(SET, lang))]


def languages(campaign: Campaign, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the campaign's languages with evaluation sets, in the catalogue's order."""
    released = {row.lang for row in catalogue.sources.values() if row.kind == SET}
    available = released.union(campaign.section(ClamsOptions).grammars)
    return tuple(lang for lang in catalogue.languages if lang in available)


_RELEASED_ROWS = read_cells(Path(__file__).with_name("released.tsv"))
RELEASED = {row["lang"]: (int(row["sets"]), int(row["pairs"])) for row in _RELEASED_ROWS}
"""{language: (number of released sets, number of their pairs)}. The English sets are Marvin and
Linzen's."""
OURS = (7, 51_780)
"""Expected (number of sets, number of pairs) from a grammar of the campaign: those of the English
sets of Table 1's seven constructions."""


def expected_pairs(campaign: Campaign, catalogue: Catalogue, lang: str) -> int:
    """Return the expected number of a language's pairs, released or generated."""
    options = campaign.section(ClamsOptions)
    sets, pairs = RELEASED.get(lang, OURS)
    # The English release has sets of further constructions, but no grammars. For other languages,
    # generated sets are expected to have the sizes of the released sets.
    if lang == "eng" and lang in options.grammars:
        sets, pairs = OURS
    most_per_set = options.per_paradigm or pairs
    number = min(pairs, most_per_set * sets)
    # Pairs of Table 1's constructions are judged with capitals too; Hebrew has no capitals.
    if options.capitals and lang != "heb":
        sets_with_capitals, pairs_with_capitals = OURS
        number += min(pairs, pairs_with_capitals, most_per_set * sets_with_capitals)
    return number
