"""Define ``Strict``, the pydantic base class of settings, rows and records, and types of texts.

The types check texts that users or servers wrote: labels, which figures and pages show, and names
of files, which must stay below a directory.
"""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from blimpworks.files import relative


def _check_component(name: str) -> str:
    if "/" in relative(name):
        raise ValueError("a name must be one of a file or directory, without '/'")
    return name


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    if any(unicodedata.category(character) == "Cc" for character in line):
        raise ValueError("a label must be plain text, without control characters")
    return line


def _check_legend(label: str) -> str:
    if label.startswith("_"):
        raise ValueError("a label must not begin with '_': legends leave such labels out")
    return label


Label = Annotated[str, AfterValidator(_one_line)]
"""Text for people, put on one line."""
DrawnLabel = Annotated[Label, AfterValidator(_check_legend)]
"""Label that figures can show in a legend."""
Within = Annotated[str, AfterValidator(relative)]
"""Relative path of a file below a directory that the reader chooses later (``files.below``)."""
PathComponent = Annotated[str, AfterValidator(_check_component)]
"""Name of a file or directory without a path."""
PerhapsWithin = Annotated[str, AfterValidator(lambda name: name and relative(name))]
"""Relative path of a file below a directory, or an empty text."""


class Strict(BaseModel):
    """Base class of settings, rows and records: immutable, without unknown keys.

    ``campaign.load`` copies docstrings of fields into the JSON Schemas. If pydantic did so, each
    command would start a tenth of a second later.
    """

    # Pydantic builds a model when it is first used, because most commands use few models.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)
