"""What every reader of CoNLL-U makes of a file: tables, and the sentences left out."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa

from blimpworks.errors import UserError

FIELDS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
BYTE_ORDER_MARK = "\ufeff"
Mode = Literal["error", "set_aside"]


@dataclass(frozen=True, slots=True)
class Malformed:
    """A sentence that was left out: where its first problem is, and what it is."""

    treebank: str
    file: str
    line: int
    sent_id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The ``tokens`` and ``sentences`` of a file, and the sentences that were left out."""

    tokens: pa.Table
    sentences: pa.Table
    malformed: list[Malformed]


def without_sentence(path: Path) -> UserError:
    """What to say of a treebank file that holds no sentence."""
    return UserError(f"{path} holds no sentence; expected CoNLL-U. Retrieve it again.")


def must_be_mended(path: Path, line: int, reason: str) -> UserError:
    """What to say of a malformed sentence where such sentences stop the reading."""
    return UserError(
        f"{path}:{line}: {reason}; mend the file, or leave such sentences out "
        "with treebanks.malformed: set_aside."
    )
