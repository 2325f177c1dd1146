"""Define the base class of settings, rows and records: typed, immutable, without unknown keys."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from blimpworks.files import relative


def _part(name: str) -> str:
    if "/" in relative(name):
        raise ValueError("a name must be one of a file or directory, without '/'")
    return name


def _if_any(name: str) -> str:
    return name and relative(name)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    if any(unicodedata.category(character) == "Cc" for character in line):
        raise ValueError("a label must be plain text, without control characters")
    return line


def _in_legends(label: str) -> str:
    if label.startswith("_"):
        raise ValueError("a label must not begin with '_': legends leave such labels out")
    return label


Label = Annotated[str, AfterValidator(_one_line)]
"""Text for people on one line."""
DrawnLabel = Annotated[Label, AfterValidator(_in_legends)]
"""Label that figures have in their legends."""
Within = Annotated[str, AfterValidator(relative)]
"""Name of a file below a directory that is not known yet (see ``files.below``)."""
Part = Annotated[str, AfterValidator(_part)]
"""Name of a file or directory without a path."""
PerhapsWithin = Annotated[str, AfterValidator(_if_any)]
"""Name of a file below a directory, or nothing."""


class Strict(BaseModel):
    """Base of all settings: immutable, without unknown keys.

    Docstrings of fields become descriptions in the schemas (``schemas.py``). Reading them by
    pydantic would cost each command a tenth of a second.
    """

    # Models are built when first used: most commands use a few of them.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
