"""MultiBLiMP's released files: rows read and checked one by one, and as a table of items.

Source: the data set jumelet/multiblimp on the Hugging Face hub, one ``<lang>/data.tsv`` each: 36
columns with headings, quoted like CSV. Positions of words count from 0, that of an auxiliary is
written as a decimal number ("11.0"), and features, lists of words and the sentence's comments are
Python literals. The authors' scripts read their tables by pandas with its defaults, which takes a
word such as "None" for a missing cell. Items have the ids that regenerated ones have.
"""

import csv
import logging
from ast import literal_eval
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from blimpworks.errors import UserError
from blimpworks.items import Regions, item_id
from blimpworks.papers.multiblimp.items.features import (
    PARTICIPLE,
    PHENOMENA,
    READ_AS_MISSING,
    to_unimorph,
)
from blimpworks.papers.multiblimp.items.pairs import capitalised_like
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.papers.multiblimp.tables import RELEASED_SCHEMA
from blimpworks.tables import write_rows


def _literal(value: Any) -> Any:
    """What a cell with a Python literal holds. Raises ValueError for any other text."""
    if not isinstance(value, str):
        return value
    try:
        return literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"{value[:60]!r} is no Python literal") from error


def _features(value: Any) -> dict[str, str]:
    """Features by name; of several values of one (a list) as the treebank spells them."""
    features = _literal(value) or {}
    if not isinstance(features, dict):
        raise ValueError(f"{features!r} is no mapping of features")
    return {k: ",".join(v) if isinstance(v, list | tuple) else v for k, v in features.items()}


Text = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0)]
Position = Annotated[int, Field(ge=0)]
"""Of a word, from 0; "11.0" is 11."""
Features = Annotated[dict[str, str], BeforeValidator(_features)]


class Word(BaseModel):
    """A word between subject and verb, of which the features count."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    feats: Features


class Origin(BaseModel):
    """Of the sentence's comments its name, and the treebank's directory and file."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    treebank: Annotated[str, Field(pattern="^[^/]+/[^/]+$")]
    sent_id: str | None = None


class Row(BaseModel):
    """One released pair; columns that follow from others are not read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    sen: Text
    wrong_sen: Text
    prefix: str
    verb: str
    verb_idx: Position
    cop_idx: Annotated[
        Position | None, BeforeValidator(lambda value: None if value == "" else value)
    ]
    child: str
    child_idx: Position
    child_features: Features
    child_upos: Text
    head: str
    head_idx: Position
    head_features: Features
    head_upos: Text
    distance: int
    attractors: Annotated[list[Word], BeforeValidator(_literal)]
    metadata: Annotated[Origin, BeforeValidator(_literal)]
    swap_head: Text
    feature_vals: Annotated[str, Field(pattern="^.+ -> .+$")]
    num_attractors: Count
    num_congruent_attractors: Count
    sample_weight: Annotated[float, Field(gt=0)]
    phenomenon: Literal["SV-#", "SV-G", "SV-P", "SP-#", "SP-G", "SP-P"]
    lang: Text
    grammatical_feature: Text
    ungrammatical_feature: Text
    wo: Literal["SV", "VS"]
    inflect_item: Literal["verb", "aux", "ptcp"]
    agreement_certainty: Literal["+", "~", "?"]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        before, _, after = self.feature_vals.partition(" -> ")
        participle = self.inflect_item == PARTICIPLE
        # The authors look for a value in the text, so that "3IMP" is of the condition "3" too.
        faults = {
            "both sentences are the same": self.sen == self.wrong_sen,
            "wo is not the order that distance has": (self.distance > 0) != (self.wo == "SV"),
            "feature_vals lacks grammatical_feature": self.grammatical_feature not in before,
            "feature_vals lacks ungrammatical_feature": self.ungrammatical_feature not in after,
            "inflect_item is not of phenomenon": participle != self.phenomenon.startswith("SP"),
            "an auxiliary agrees, but cop_idx is empty": self.inflect_item == "aux"
            and self.cop_idx is None,
            "num_attractors is not how many there are": len(self.attractors) != self.num_attractors,
            "there are more congruent attractors than attractors": self.num_congruent_attractors
            > self.num_attractors,
        }
        for fault, there in faults.items():
            if there:
                raise ValueError(fault)
        self.regions()
        return self

    def regions(self) -> Regions:
        """Find where the sentences differ: behind the prefix, by a form; else ValueError."""
        forms = dict.fromkeys(
            (
                self.swap_head,
                *(capitalised_like(self.swap_head, "A", rest_too) for rest_too in (True, False)),
            )
        )
        # A prefix that pandas reads as a missing cell is empty in the release.
        prefixes = [self.prefix] if self.prefix else ["", *READ_AS_MISSING]
        for prefix, form in product(prefixes, forms):
            rest = self.sen[len(prefix) :]
            start = len(self.sen) - len(rest.lstrip())
            after = self.wrong_sen[start + len(form) :]
            end = len(self.sen) - len(after)
            swapped = prefix + self.sen[len(prefix) : start] + form + after
            fits = self.sen.startswith(prefix) and self.sen.endswith(after)
            if fits and end > start and self.wrong_sen == swapped:
                return Regions(start, end, start, start + len(form))
        raise ValueError("wrong_sen is not sen with swap_head in place of the word after prefix")


class Numbered(NamedTuple):
    """A row, and the line of the file that it begins in, from 1."""

    line: int
    row: Row


REMEDY = "Retrieve or export the file again."


def _problem(error: ValidationError) -> str:
    first = error.errors()[0]
    column, value = ".".join(map(str, first["loc"])), str(first["input"])[:60]
    text = first["msg"].removeprefix("Value error, ")
    return f"{column} is {value!r}: {text.lower()}" if column else text


def _row(cells: dict[str, str], where: str, lang: str) -> Row:
    """A row, checked. Raises UserError by file and line."""
    if None in cells or None in cells.values():
        raise UserError(
            f"{where}: {'more' if None in cells else 'fewer'} cells than headings; expected one of "
            f"each column, separated by tabs and quoted where they hold some. {REMEDY}"
        )
    try:
        row = Row.model_validate(cells)
    except ValidationError as error:
        raise UserError(
            f"{where}: {_problem(error)}; expected a pair of MultiBLiMP's release. {REMEDY}"
        ) from error
    if row.lang != lang:
        raise UserError(
            f"{where}: lang is {row.lang!r}; expected {lang!r}, as the directory is called. Put "
            "the file where it belongs."
        )
    return row


def read_rows(path: Path, lang: str) -> Iterator[Numbered]:
    """Read and check a language's released pairs. Raises UserError with file, line and fault."""
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            reader = csv.DictReader(handle, delimiter="\t", strict=True)
            headings = list(reader.fieldnames or [])
            missing = [name for name in Row.model_fields if name not in headings]
            if missing:
                raise UserError(
                    f"{path}:1: column {missing[0]!r} is missing; expected the columns of "
                    f"MultiBLiMP's release ({', '.join(Row.model_fields)}), separated by tabs. "
                    f"{REMEDY}"
                )
            line = reader.line_num + 1
            for cells in reader:
                yield Numbered(line, _row(cells, f"{path}:{line}", lang))
                line = reader.line_num + 1
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; expected a released file.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not in UTF-8 ({error.reason}). {REMEDY}") from error
    except csv.Error as error:
        raise UserError(f"{path}:{line}: {error}; expected tabs and quotes. {REMEDY}") from error


# Items


log = logging.getLogger(__name__)

RELEASED_COLUMNS = {
    "sen": "good",
    "wrong_sen": "bad",
    "verb": "verb",
    "child": "subject",
    "child_upos": "subject_upos",
    "head": "inflected_form",
    "head_upos": "inflected_upos",
    "distance": "distance",
    "feature_vals": "values",
    "sample_weight": "weight",
    "lang": "lang",
    "grammatical_feature": "grammatical",
    "ungrammatical_feature": "ungrammatical",
    "wo": "order",
    "inflect_item": "inflected",
    "agreement_certainty": "label",
}
"""Columns of the released layout, and those of items with the same content."""
RELEASED_POSITIONS = {"verb_idx": "verb_id", "child_idx": "subject_id", "head_idx": "replaced_id"}
"""Positions of words in the released layout (from 0), and the CoNLL-U ids of items (from 1)."""


def _feats(features: dict[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in features.items() if name != "lemma"]


def _words(row: Row) -> dict[str, Any]:
    """Subject, verb and the word that agrees; positions become CoNLL-U ids, from 1."""
    inflected = row.cop_idx if row.inflect_item == "aux" else row.verb_idx
    assert inflected is not None  # the row was checked
    return {
        **{ours: getattr(row, theirs) + 1 for theirs, ours in RELEASED_POSITIONS.items()},
        "subject_lemma": row.child_features.get("lemma"),
        "subject_feats": "|".join(_feats(row.child_features)) or None,
        "inflected_id": inflected + 1,
        "inflected_lemma": row.head_features.get("lemma"),
        "inflected_feats": "|".join(sorted(_feats(row.head_features))),
    }


def _attractors(row: Row, feature: str) -> dict[str, Any]:
    """How many there are, how many agree with the subject, and the value of each."""
    values = (word.feats.get(feature) for word in row.attractors)
    return {
        "attractors": row.num_attractors,
        "congruent_attractors": row.num_congruent_attractors,
        "attractor_values": [to_unimorph(value) for value in values if value is not None],
    }


def released_item(numbered: Numbered, file: str, revision: str | None) -> dict[str, Any]:
    """Make the item of a released pair; its id is that of the same pair made from the treebank."""
    line, row = numbered
    name = row.phenomenon.replace("-", "").replace("SV", "sv").replace("SP", "sp")
    treebank, _, treebank_file = row.metadata.treebank.partition("/")
    origin = {"treebank": treebank, "file": treebank_file, "sent_id": row.metadata.sent_id}
    spans = row.regions()
    key = (row.lang, name, *origin.values(), row.child_idx + 1, spans.good_start)
    values = (row.grammatical_feature, row.ungrammatical_feature)
    return {
        "item_id": item_id(*key, row.sen, row.wrong_sen),
        **{ours: getattr(row, theirs) for theirs, ours in RELEASED_COLUMNS.items()},
        "phenomenon": name,
        "paradigm": f"{'>'.join(values)}/{row.wo}/{row.inflect_item}",
        **spans._asdict(),
        **origin,
        **_words(row),
        "good_form": row.sen[spans.good_start : spans.good_end],
        "bad_form": row.wrong_sen[spans.bad_start : spans.bad_end],
        **_attractors(row, PHENOMENA[name].feature),
        "released_file": file,
        "released_line": line,
        "revision": revision,
    }


def build_released_items(
    file: Path,
    lang: str,
    output: Path,
    options: MultiblimpOptions,
    revision: str = "",
    pairs: int | None = None,
) -> int:
    """Write a language's released items, in the order of the file; return how many.

    Those of other phenomena than the options name are left out; ``pairs`` is how many the whole
    file must have, None where nothing is known of it. A pair that was drawn in two conditions
    stands twice, with the same id. Raises UserError for a missing or malformed file, by file and
    line.
    """
    name = f"{file.parent.name}/{file.name}"
    rows = [released_item(row, name, revision or None) for row in read_rows(file, lang)]
    # See that a file of the hub has as many pairs as the paper says. Raises UserError.
    n = len(rows)
    if pairs is not None and n != pairs:
        raise UserError(
            f"{file} has {n} pairs; expected the {pairs} of the paper's Table 5 (paper_n in "
            f"the table of languages). {REMEDY}"
        )
    kept = [row for row in rows if row["phenomenon"] in options.phenomena]
    log.info("%s: %d released pairs, %d of them kept", file, len(rows), len(kept))
    write_rows(kept, RELEASED_SCHEMA, output)
    return len(kept)
