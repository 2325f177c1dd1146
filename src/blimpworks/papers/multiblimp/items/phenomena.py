"""MultiBLiMP's agreement phenomena, and what each requires of the words concerned, as data.

Source: MultiBLiMP 1.0, section 5, and the authors' code: English shows subject-verb number
in the third person present alone; participle agreement needs a participle.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

PARTICIPLE = "ptcp"
"""Kind of a participle item; subject-verb items are "verb" or "aux"."""

# Lexicon columns that may carry a feature's inflection; the best of them is chosen.
COLUMNS_OF = {"Number": ("Number[subj]", "Number"), "Person": ("Person",), "Gender": ("Gender",)}


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """One agreement phenomenon: a construction and the feature that agrees in it.

    ``construction`` is "sv" (subject and verb) or "sp" (subject and participle).
    ``conditions`` are UD features that the inflected word must have, by language.
    """

    name: str
    construction: str
    feature: str
    conditions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def meets_conditions(self, lang: str, features: Mapping[str, str]) -> bool:
        """Whether a word's features allow it to show the phenomenon in a language."""
        required = self.conditions.get(lang, {})
        return required.items() <= features.items()


PHENOMENA = {
    phenomenon.name: phenomenon
    for phenomenon in (
        Phenomenon("sv#", "sv", "Number", {"eng": {"Tense": "Pres", "Person": "3"}}),
        Phenomenon("svG", "sv", "Gender"),
        Phenomenon("svP", "sv", "Person"),
        Phenomenon("sp#", "sp", "Number"),
        Phenomenon("spG", "sp", "Gender"),
        Phenomenon("spP", "sp", "Person"),
    )
}
