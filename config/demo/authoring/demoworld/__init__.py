"""Compose the demo treebanks, word tables and training text from small lexicons."""

from __future__ import annotations

from dataclasses import dataclass

from .deu import German
from .eng import English
from .fra import French
from .grammar import Grammar


@dataclass(frozen=True)
class Language:
    """A language: its code and name in file names, and its grammar."""

    code: str
    name: str
    grammar: type[Grammar]


LANGUAGES = {
    "eng": Language("en", "English", English),
    "deu": Language("de", "German", German),
    "fra": Language("fr", "French", French),
}
