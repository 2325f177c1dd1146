"""Features of words in one spelling, and the agreement phenomena that are about them.

UniMorph's values have Universal Dependencies' names. The tag inventory is the UniMorph schema's,
with additions of its tables; its grouping, the value map between the two resources and the assumed
values are those of the MultiBLiMP authors. Conditions of phenomena: MultiBLiMP 1.0, section 5, and
the authors' code: English shows subject-verb number in the third person present alone.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from blimpworks.files import read_cells

Bundle = tuple[tuple[str, str], ...]
"""Feature names and values, sorted by name; a value is one UniMorph tag."""

UNDEFINED = "UNDEFINED"
"""The value of an agreement feature that a lexicon row leaves open: one form for all."""

AGREEMENT_FEATURES = ("Number", "Person", "Gender")
ASSUMED = {
    "Degree": "BASE",
    "Number": UNDEFINED,
    "Gender": UNDEFINED,
    "Person": UNDEFINED,
    "Mood": "IND",
    "Voice": "ACT",
}
UD_TO_UNIMORPH = {
    "Sing": "SG",
    "Plur": "PL",
    "Dual": "DU",
    "Pres": "PRS",
    "Past": "PST",
    "Sub": "SBJV",
    "Cnd": "COND",
    "Perf": "PRF",
    "Part": "V.PTCP",
}
READ_AS_MISSING = frozenset(
    "#N/A #NA -NaN -nan <NA> N/A NA NULL NaN None n/a nan null".split()  # noqa: SIM905
)
"""Words that pandas, with which the authors read their tables, takes for missing cells."""
_FROM_UNIMORPH = {unimorph: ud for ud, unimorph in UD_TO_UNIMORPH.items()}


@cache
def tag_features() -> dict[str, str]:
    """Return the feature of every known UniMorph tag; "pos" for parts of speech."""
    features: dict[str, str] = {}
    for row in read_cells(Path(__file__).with_name("unimorph_tags.tsv")):
        for tag in row["tags"].split():
            features.setdefault(tag, row["feature"])
    return features


@cache
def to_unimorph(value: str) -> str:
    """Return a UD feature value in UniMorph's spelling."""
    return UD_TO_UNIMORPH.get(value, value.upper())


def from_unimorph(value: str) -> str:
    """Return a UniMorph value in UD's spelling: the inverse of ``to_unimorph``."""
    return _FROM_UNIMORPH.get(value, value.capitalize())


@lru_cache(maxsize=1 << 16)
def parse_feats(feats: str | None) -> dict[str, str]:
    """Parse CoNLL-U FEATS ("A=b|C=d", or None) into a mapping that calls share: don't change it."""
    return dict(pair.split("=", 1) for pair in feats.split("|")) if feats else {}


def alternatives(value: str) -> frozenset[str]:
    """Return the UniMorph spellings of a UD value that may name several ("Fem,Masc")."""
    return frozenset(to_unimorph(single_value) for single_value in value.split(","))


def render(features: Iterable[tuple[str, str]]) -> str:
    """Write a bundle as the lexicon table has it: "Mood=IND|Number=SG"."""
    return "|".join(f"{name}={value}" for name, value in sorted(features))


def _split_tags(tags: str) -> list[str]:
    """Split UniMorph's ``;``-separated tags, with the variants of its notation levelled."""
    tags = re.sub(r"[A-Z]+\(([^()]*)\)", lambda m: m.group(1).replace(",", ";"), tags)
    tags = re.sub(r"[{}]", "", tags).replace("/", "+").replace(",", "+")
    tags = re.sub(r"V\.(PTCP|PCTP)", "V;V.PTCP", tags)
    cleaned_tags = (_as_known(tag.strip()) for tag in tags.split(";"))
    known_tags = tag_features()
    split = (
        tag
        for cleaned_tag in cleaned_tags
        for tag in ([cleaned_tag] if cleaned_tag in known_tags else cleaned_tag.split("."))
    )
    return [_as_known(tag) for tag in split if tag]


def _as_known(tags: str) -> str:
    """Write in upper case each of tags joined by ``+`` that is known only so."""
    known_tags = tag_features()
    spellings = ((tag, tag.upper()) for tag in tags.split("+"))
    return "+".join(
        upper if tag not in known_tags and upper in known_tags else tag for tag, upper in spellings
    )


@cache
def parse_tags(tags: str) -> tuple[tuple[str, Bundle], ...]:
    """Parse a UniMorph tag string: part of speech and features, one pair per alternative.

    "V;PRS;1+2;SG" gives two. Unknown tags are left out. A feature tagged twice keeps both values as
    alternatives. The part of speech is "" where none is tagged.
    """
    feature_of_tag = tag_features()
    values: dict[str, list[str]] = {}
    for tag in _split_tags(tags):
        feature = feature_of_tag.get(tag.split("+")[0])
        if feature is not None:
            values.setdefault(feature, []).extend(tag.split("+"))
    names = sorted(values)
    rows = []
    for chosen in product(*(dict.fromkeys(values[name]) for name in names)):
        features = dict(zip(names, chosen, strict=True))
        rows.append((features.pop("pos", ""), tuple(sorted(features.items()))))
    return tuple(dict.fromkeys(rows))


PARTICIPLE = "ptcp"
"""Kind of a participle item; subject-verb items are "verb" or "aux"."""

# Lexicon columns that may carry a feature's inflection; the best of them is chosen.
COLUMNS_OF = {"Number": ("Number[subj]", "Number"), "Person": ("Person",), "Gender": ("Gender",)}


CONDITIONS = {("eng", "sv#"): {"Tense": "Pres", "Person": "3"}}
"""UD features that a word must have to show a phenomenon in a language."""


class Phenomenon(NamedTuple):
    """A construction ("sv", "sp"), and the feature that agrees."""

    name: str
    construction: str
    feature: str

    def meets_conditions(self, lang: str, features: Mapping[str, str]) -> bool:
        """Tell whether a word's features allow it to show the phenomenon in a language."""
        return CONDITIONS.get((lang, self.name), {}).items() <= features.items()


PHENOMENA = {
    f"{construction}{sign}": Phenomenon(f"{construction}{sign}", construction, feature)
    for construction in ("sv", "sp")
    for sign, feature in (("#", "Number"), ("G", "Gender"), ("P", "Person"))
}
