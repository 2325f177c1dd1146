"""Read MultiBLiMP's released pairs as items, and write items in the layout of the release.

``build_released_items`` reads, ``export_items`` writes; a command calls each. The release is the
data set jumelet/multiblimp on the Hugging Face hub. Each language has a ``<lang>/data.tsv`` of 36
columns with headings, quoted like CSV; some of them:

    sen               wrong_sen        verb_idx  feature_vals  phenomenon
    She often sings.  She often sing.  2         SG -> PL      SV-#

Positions of words are from 0; an auxiliary's is a decimal number ("11.0"). Features, lists of words
and the sentence's comments are Python literals. The authors read their tables by pandas with its
defaults, which takes a word such as "None" for a missing cell.

The release calls the subject ``child`` and its verb ``head``; ``cop`` is an auxiliary or copula.
A released pair has the id of the same pair made from the treebank. An export lacks some facts of
the release: most features of attractors, and most of the sentence's comments in ``metadata``.
"""

import csv
import logging
from ast import literal_eval
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from blimpworks.errors import UserError, reading
from blimpworks.files import BadLine, atomic, read_cells, table_rows
from blimpworks.items import Regions, item_id
from blimpworks.papers.multiblimp.items import words
from blimpworks.papers.multiblimp.items.pairs import capitalised_like
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.papers.multiblimp.tables import ITEM_SCHEMA, RELEASED_SCHEMA
from blimpworks.tables import ITEMS, read_table, write_rows


def _literal(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"{value[:60]!r} is no Python literal") from error


def _features(value: Any) -> dict[str, str]:
    """Return features by name; a list of values becomes "Fem,Masc", as in the treebank."""
    features = _literal(value) or {}
    if not isinstance(features, dict):
        raise ValueError(f"{features!r} is no mapping of features")
    lists = {name: values for name, values in features.items() if isinstance(values, list | tuple)}
    return features | {name: ",".join(values) for name, values in lists.items()}


Text = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0)]
"""A number, or a word's position from 0; "11.0" is 11."""
Features = Annotated[dict[str, str], BeforeValidator(_features)]


class Attractor(BaseModel, frozen=True):
    """A word between subject and verb that could attract agreement."""

    feats: Features


class Origin(BaseModel, frozen=True):
    """Source of a sentence; ``treebank`` is "directory/file"."""

    treebank: Annotated[str, Field(pattern="^[^/]+/[^/]+$")]
    sent_id: str | None = None


class ReleasedPair(BaseModel, frozen=True):
    """A released pair, without columns that can be computed from others."""

    sen: Text
    wrong_sen: Text
    prefix: str
    verb: str
    verb_idx: Count
    cop_idx: Annotated[Count | None, BeforeValidator(lambda value: None if value == "" else value)]
    child: str
    child_idx: Count
    child_features: Features
    child_upos: Text
    head: str
    head_idx: Count
    head_features: Features
    head_upos: Text
    distance: int
    attractors: Annotated[list[Attractor], BeforeValidator(_literal)]
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
        participle = self.inflect_item == words.PARTICIPLE
        lacks_auxiliary = self.inflect_item == "aux" and self.cop_idx is None
        more_congruent = self.num_congruent_attractors > self.num_attractors
        # Values are searched in texts, because the authors' "3IMP" is of the condition "3" too.
        faults = {
            "both sentences are the same": self.sen == self.wrong_sen,
            "wo is not the order that distance has": (self.distance > 0) != (self.wo == "SV"),
            "feature_vals lacks grammatical_feature": self.grammatical_feature not in before,
            "feature_vals lacks ungrammatical_feature": self.ungrammatical_feature not in after,
            "inflect_item is not of phenomenon": participle != self.phenomenon.startswith("SP"),
            "an auxiliary agrees, but cop_idx is empty": lacks_auxiliary,
            "num_attractors is not how many there are": len(self.attractors) != self.num_attractors,
            "there are more congruent attractors than attractors": more_congruent,
        }
        for fault, is_faulty in faults.items():
            if is_faulty:
                raise ValueError(fault)
        self.regions()
        return self

    def regions(self) -> Regions:
        """Return the spans of the only differing word. Raises ValueError for other differences.

        The word follows ``prefix``, and is replaced by ``swap_head``, perhaps in other letter case:
        "sings" by "sing" in "She often sings.", at (10, 15) and (10, 14).
        """
        # The form as it is, or capitalised by the rules of either variant.
        forms = [self.swap_head]
        for published in (True, False):
            forms.append(capitalised_like(self.swap_head, "A", self.lang, published))
        # The release has an empty prefix where pandas took it ("None") for a missing cell.
        prefixes = [self.prefix] if self.prefix else ["", *words.READ_AS_MISSING]
        for prefix, form in product(prefixes, dict.fromkeys(forms)):
            start = len(self.sen) - len(self.sen[len(prefix) :].lstrip())
            before, after = self.sen[:start], self.wrong_sen[start + len(form) :]
            end = len(self.sen) - len(after)
            fits = before.startswith(prefix) and self.sen.endswith(after)
            if fits and end > start and self.wrong_sen == before + form + after:
                return Regions(start, end, start, start + len(form))
        raise ValueError("wrong_sen is not sen with swap_head in place of the word after prefix")


FILE_REMEDY = "Retrieve or export the file again."


def read_rows(path: Path, lang: str) -> Iterator[tuple[int, ReleasedPair]]:
    """Yield (number of the first line, pair) of a file. Raises UserError for a malformed pair."""
    line = 2  # after the headings
    expected = (
        "a released file of MultiBLiMP: a pair in each row, its columns between tabs and quoted"
    )
    with reading(path, expected, FILE_REMEDY):
        try:
            for last, cells in table_rows(path, [*ReleasedPair.model_fields], delimiter="\t"):
                row = ReleasedPair.model_validate(cells)
                if row.lang != lang:
                    raise UserError(
                        f"{path}:{line}: lang is {row.lang!r}; expected {lang!r}, as the directory "
                        "is called. Move the file to the directory of its language."
                    )
                yield line, row
                line = last + 1
        except ValidationError as error:
            first = error.errors()[0]
            column, problem = ".".join(map(str, first["loc"])), first["msg"]
            problem = problem.removeprefix("Value error, ")
            if column:
                problem = f"{column} is {str(first['input'])[:60]!r}: {problem.lower()}"
            raise BadLine(line, problem) from error
        except csv.Error as error:
            raise BadLine(line, str(error)) from error


log = logging.getLogger(__name__)

_COLUMNS = read_cells(Path(__file__).with_name("released_columns.tsv"))
LAYOUT = [row["released"] for row in _COLUMNS]
"""Columns of the release, in its order."""
RELEASED_COLUMNS = {row["released"]: row["item"] for row in _COLUMNS if row["item"]}
"""Column of items with the same content, keyed by the release's column."""
RELEASED_POSITIONS = {row["released"]: row["word"] for row in _COLUMNS if row["word"]}
"""Column of items with a CoNLL-U id (from 1), keyed by the release's column (from 0)."""


def _list_feats(features: dict[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in features.items() if name != "lemma"]


def released_item(line: int, row: ReleasedPair, file: str, revision: str | None) -> dict[str, Any]:
    """Make the item of a released pair, with the id of the same pair made from the treebank."""
    name = row.phenomenon.replace("-", "").replace("SV", "sv").replace("SP", "sp")
    treebank, _, treebank_file = row.metadata.treebank.partition("/")
    origin = {"treebank": treebank, "file": treebank_file, "sent_id": row.metadata.sent_id}
    spans = row.regions()
    key = (row.lang, name, *origin.values(), row.child_idx + 1, spans.good_start)
    values = (row.grammatical_feature, row.ungrammatical_feature)
    inflected = row.cop_idx if row.inflect_item == "aux" else row.verb_idx
    assert inflected is not None  # ``_fits_together`` has checked it
    attractors = (word.feats.get(words.PHENOMENA[name].feature) for word in row.attractors)
    return {
        "item_id": item_id(*key, row.sen, row.wrong_sen),
        **{ours: getattr(row, theirs) for theirs, ours in RELEASED_COLUMNS.items()},
        # Positions become CoNLL-U ids.
        **{ours: getattr(row, theirs) + 1 for theirs, ours in RELEASED_POSITIONS.items()},
        "phenomenon": name,
        "paradigm": f"{'>'.join(values)}/{row.wo}/{row.inflect_item}",
        **spans._asdict(),
        **origin,
        "subject_lemma": row.child_features.get("lemma"),
        "subject_feats": "|".join(_list_feats(row.child_features)) or None,
        "inflected_id": inflected + 1,
        "inflected_lemma": row.head_features.get("lemma"),
        "inflected_feats": "|".join(sorted(_list_feats(row.head_features))),
        "good_form": row.sen[spans.good_start : spans.good_end],
        "bad_form": row.wrong_sen[spans.bad_start : spans.bad_end],
        "attractors": row.num_attractors,
        "congruent_attractors": row.num_congruent_attractors,
        "attractor_values": [words.to_unimorph(value) for value in attractors if value is not None],
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
    """Write a language's released items of the chosen phenomena, in file order; return how many.

    ``pairs`` is the expected number of the file's pairs; None: no check. A pair drawn in two
    conditions occurs twice, with the same id. Raises UserError for a missing or malformed file.
    """
    name = f"{file.parent.name}/{file.name}"
    rows = [released_item(line, row, name, revision or None) for line, row in read_rows(file, lang)]
    if pairs is not None and len(rows) != pairs:
        raise UserError(
            f"{file} has {len(rows)} pairs; expected the {pairs} of the paper's Table 5 (paper_n "
            f"in the table of languages). {FILE_REMEDY}"
        )
    kept = [row for row in rows if row["phenomenon"] in options.phenomena]
    log.info("%s: %d released pairs, %d of them kept", file, len(rows), len(kept))
    write_rows(kept, RELEASED_SCHEMA, output)
    return len(kept)


def released_row(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sampled item as a row of the release, with columns in its order."""
    construction, feature = item["phenomenon"][:2].upper(), item["phenomenon"][2]
    auxiliary = item["inflected"] == "aux"
    # Attractors have only the feature that agrees, in UD's spelling: {"feats": {"Number": "Sing"}}.
    agreeing, values = words.PHENOMENA[item["phenomenon"]].feature, item["attractor_values"]
    word_of = {value: {"feats": {agreeing: words.from_unimorph(value)}} for value in values}
    congruent = [word_of[value] for value in values if value == item["grammatical"]]
    incongruent = [word_of[value] for value in values if value != item["grammatical"]]
    attractors = {
        "attractors": [word_of[value] for value in values],
        "congruent_attractors": congruent,
        "incongruent_attractors": incongruent,
    }
    cells = {
        **{theirs: item[ours] for theirs, ours in RELEASED_COLUMNS.items()},
        **{theirs: item[ours] - 1 for theirs, ours in RELEASED_POSITIONS.items()},
        "cop": item["inflected_form"] if auxiliary else "",
        "cop_idx": item["inflected_id"] - 1 if auxiliary else "",
        "child_features": words.parse_feats(item["subject_feats"])
        | {"lemma": item["subject_lemma"]},
        "head_features": words.parse_feats(item["inflected_feats"])
        | {"lemma": item["inflected_lemma"]},
        **attractors,
        **{f"num_{name}": len(attracting) for name, attracting in attractors.items()},
        "has_attractors": bool(values),
        "only_has_congruent_attractors": bool(congruent) and not incongruent,
        "only_has_incongruent_attractors": bool(incongruent) and not congruent,
        "metadata": {"sent_id": item["sent_id"], "treebank": f"{item['treebank']}/{item['file']}"},
        "swap_head": item["bad_form"],
        "prefix": item["good"][: item["good_start"]].rstrip(),
        "phenomenon": f"{construction}-{feature}",
        "inflect_item": words.PARTICIPLE if construction == "SP" else item["inflected"],
    }
    return {name: cells[name] for name in LAYOUT}


def export_items(items: Path, output: Path) -> int:
    """Write sampled items in the release's layout; return how many.

    An empty table gives no file, and the file of an earlier export is removed.
    Raises UserError for a table of pairs that were not drawn, or of another version.
    """
    table = read_table(ITEMS, items)
    missing = [name for name in ITEM_SCHEMA.names if name not in table.column_names]
    if missing or table["weight"].null_count:
        fault = f"no column {missing[0]!r}" if missing else "pairs that were not drawn"
        raise UserError(
            f"{items} has {fault}; expected the sampled items of this version, "
            "<results>/items/multiblimp/LANG.parquet. Build them with `snakemake items`."
        )
    rows = [released_row(item) for item in table.to_pylist()]
    if not rows:
        output.unlink(missing_ok=True)
    else:
        with atomic(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, LAYOUT, delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return len(rows)
