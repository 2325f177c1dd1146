"""What the exhibits of MultiBLiMP 1.0 share: types, and the names of the phenomena."""

from collections.abc import Mapping, Sequence
from pathlib import Path

Tables = Mapping[str, Sequence[Path]]
"""Paths of the tables that an exhibit needs, by kind."""

CONSTRUCTIONS = {"sv": "Subject-Verb", "sp": "Subject-Participle"}
"""First part of a phenomenon's code (``sv#``), and what it is called in Table 3."""
FEATURES = {
    "#": ("Number", ("SG", "PL", "DU")),
    "G": ("Gender", ("MASC", "NEUT", "FEM")),
    "P": ("Person", ("1", "2", "3")),
}
"""Second part: the feature that agrees and its values, in the order of Table 2."""
PHENOMENA = {
    f"{kind}{sign}": (construction, FEATURES[sign][0])
    for kind, construction in CONSTRUCTIONS.items()
    for sign in "#PG"
}
"""The six agreement types: code, construction and feature, in the order of Table 3."""


def counted(n: int, noun: str) -> str:
    """``n`` of something: "1 model", "2 models"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
