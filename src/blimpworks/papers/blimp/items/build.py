"""Read files of BLiMP's minimal pairs and write one table of items for the scoring of models.

Each paradigm has one file of JSON lines, called after it, with a pair in each line::

    {"sentence_good": "…", "sentence_bad": "…", …, "UID": "causative", "pairID": "0"}

Prefix methods score only a critical word after a prefix. Both sentences have either the same prefix
(one-prefix method) or the same word (two-prefix method); a paradigm allows at most one method. The
span of the word becomes a column. Source: Warstadt et al. (2020), sections 3, 4.1 and 6.4; only the
files document their fields.
"""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from blimpworks.errors import UserError, fault_of, reading
from blimpworks.files import load_json, text_of
from blimpworks.items import evenly, item_id
from blimpworks.papers.blimp.paradigms import LANG, PHENOMENON_OF
from blimpworks.papers.blimp.tables import ITEM_SCHEMA
from blimpworks.tables import write_rows

log = logging.getLogger(__name__)

FIELD_SPELLINGS = {"syntax/semantics": "syntax_semantics"}
"""A spelling that occurs in some files, and the spelling of the other files."""
Text = Annotated[str, Field(min_length=1)]
Spans = tuple[tuple[int | None, int | None], tuple[int | None, int | None]]
Flag = Annotated[bool, Field(strict=True)]


class Record(BaseModel):
    """One minimal pair, with fields in the order of all files but ``superlative_quantifiers_2``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sentence_good: Text
    sentence_bad: Text
    two_prefix_prefix_good: Text | None = None
    two_prefix_prefix_bad: Text | None = None
    two_prefix_word: Text | None = None
    one_prefix_prefix: Text | None = None
    one_prefix_word_good: Text | None = None
    one_prefix_word_bad: Text | None = None
    dependency_length: int | None = None
    crucial_item: str | None = None
    field: Literal["morphology", "syntax", "syntax_semantics", "syntax/semantics", "semantics"]
    linguistics_term: Text
    UID: Text
    simple_LM_method: Flag
    one_prefix_method: Flag
    two_prefix_method: Flag
    lexically_identical: Flag
    pairID: Text

    @property
    def method(self) -> str | None:
        """The prefix method that the paradigm allows; no released paradigm allows both."""
        if self.one_prefix_method:
            return "one_prefix"
        return "two_prefix" if self.two_prefix_method else None

    def spans(self) -> Spans:
        """Return the half-open spans of both critical words, in characters; None without a method.

        Raises ValueError for a sentence that does not begin with its prefix and word.
        """
        if self.method is None:
            return (None, None), (None, None)
        if self.method == "one_prefix":
            good = (self.sentence_good, self.one_prefix_prefix, self.one_prefix_word_good)
            bad = (self.sentence_bad, self.one_prefix_prefix, self.one_prefix_word_bad)
        else:
            good = (self.sentence_good, self.two_prefix_prefix_good, self.two_prefix_word)
            bad = (self.sentence_bad, self.two_prefix_prefix_bad, self.two_prefix_word)
        spans = []
        for sentence, prefix_field, word_field in (good, bad):
            # Words of ``animate_subject_trans`` and other paradigms begin with an extra space.
            prefix, word = prefix_field or "", (word_field or "").strip()
            start, end = len(prefix) + 1, len(prefix) + 1 + len(word)
            if not (prefix and word and sentence.startswith(f"{prefix} {word}")):
                raise ValueError(f"{sentence!r} does not begin with {prefix!r} and {word!r}")
            if sentence[end : end + 1] not in ("", " ", ".", ",", "?"):
                raise ValueError(f"{word!r} ends inside a word of {sentence!r}")
            spans.append((start, end))
        return spans[0], spans[1]


def read_records(path: Path, pairs: int | None = None) -> Iterator[Record]:
    """Yield the pairs of a paradigm's file. Raises UserError, also if there are not ``pairs``."""
    seen: dict[tuple[str, str], int] = {}
    with reading(path, "a paradigm of BLiMP", "Retrieve or generate the file again."):
        lines = text_of(path).removesuffix("\n").split("\n")
    for number, text in enumerate(lines):
        where = f"{path}:{number + 1}"
        try:
            record = Record.model_validate(load_json(text))
            record.spans()
            if (record.UID, record.pairID) != (path.stem, str(number)):
                raise ValueError(f"UID and pairID are {record.UID!r} and {record.pairID!r}")
        except (ValueError, RecursionError) as error:
            raise UserError(
                f"{where}: {fault_of(error)}; expected pair {number} of the paradigm {path.stem}, "
                "with the fields of BLiMP's release. Retrieve or generate the file again."
            ) from None
        first = seen.setdefault((record.sentence_good, record.sentence_bad), number)
        if first != number:
            raise UserError(
                f"{where}: the pair is in line {first + 1} too; expected distinct "
                "pairs. Retrieve or generate the file again."
            )
        yield record
    if pairs is not None and len(seen) != pairs:
        raise UserError(
            f"{path} has {len(seen)} pairs; expected {pairs}. Retrieve or generate the file again."
        )


def build_items(files: Sequence[Path], output: Path, pairs: int, most: int | None = None) -> int:
    """Write the items of paradigms, in the order of the files; return the number of rows.

    ``pairs`` is each file's number of pairs, of which at most ``most`` are taken evenly. Phenomena
    are those of Tables 2 and 4, which count both paradigms of "s-selection" as argument structure.
    Raises UserError for two files of one paradigm.
    """
    rows: list[dict[str, Any]] = []
    paradigms = [path.stem for path in files]
    for path in files:
        if paradigms.count(path.stem) > 1:
            raise UserError(
                f"{path} is one of {paradigms.count(path.stem)} files of paradigm {path.stem}; "
                "expected one. Name each paradigm once."
            )
        for record in evenly(list(read_records(path, pairs)), most):
            good, bad = record.sentence_good, record.sentence_bad
            row: dict[str, Any] = {
                "item_id": item_id("blimp", record.UID, good, bad),
                "lang": LANG,
                "phenomenon": PHENOMENON_OF.get(record.UID, record.linguistics_term),
                "paradigm": record.UID,
                "good": good,
                "bad": bad,
                "treebank": None,
                "file": path.name,
                "sent_id": record.pairID,
                "prefix_methods": [record.method] if record.method else [],
                "field": FIELD_SPELLINGS.get(record.field, record.field),
                "identical": good == bad,
                "linguistics_term": record.linguistics_term,
                "line": int(record.pairID) + 1,
                "lexically_identical": record.lexically_identical,
            }
            # Null where no prefix method is allowed.
            for side, span in zip(("good", "bad"), record.spans(), strict=True):
                row[f"{side}_start"], row[f"{side}_end"] = span
            rows.append(row)
    identical = sum(row["identical"] for row in rows)
    if identical:
        log.warning("%s: %d of %d pairs are twice the same sentence", output, identical, len(rows))
    write_rows(rows, ITEM_SCHEMA, output)
    return len(rows)
