"""Conditions that single languages put on the agreeing word, as data.

Source: MultiBLiMP's code; English shows subject-verb number in the third person present alone.
"""

from collections.abc import Mapping

# (phenomenon, language) -> UD features that the inflected word must have.
CONDITIONS: dict[tuple[str, str], Mapping[str, str]] = {
    ("sv#", "eng"): {"Tense": "Pres", "Person": "3"},
}


def meets_conditions(phenomenon: str, lang: str, features: Mapping[str, str]) -> bool:
    """Whether a word's features allow it to show the phenomenon in a language."""
    wanted = CONDITIONS.get((phenomenon, lang), {})
    return all(features.get(name) == value for name, value in wanted.items())
