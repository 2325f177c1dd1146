"""What the exhibits of MultiBLiMP 1.0 share: types, and the names of the phenomena."""

from collections.abc import Mapping, Sequence
from pathlib import Path

Tables = Mapping[str, Sequence[Path]]
"""Paths of the tables that an exhibit needs, by kind."""

BENCHMARK = "multiblimp"
CONSTRUCTIONS = {"sv": "Subject-Verb", "sp": "Subject-Participle"}
"""First part of a phenomenon's code (``sv#``), and what it is called in Table 3."""
FEATURES = {"#": "Number", "P": "Person", "G": "Gender"}
"""Second part, the feature that agrees, in the order of Table 3."""
PHENOMENA = {
    f"{kind}{sign}": (construction, feature)
    for kind, construction in CONSTRUCTIONS.items()
    for sign, feature in FEATURES.items()
}
"""The six agreement types: code, construction and feature."""
