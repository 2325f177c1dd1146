"""Released items of MultiBLiMP as a table of items, with the ids that regenerated ones have."""

import logging
from collections.abc import Collection
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.items import item_id
from blimpworks.papers.multiblimp.items.features import to_unimorph
from blimpworks.papers.multiblimp.items.phenomena import PHENOMENA
from blimpworks.papers.multiblimp.items.release_rows import REMEDY, Numbered, Row, read_rows
from blimpworks.papers.multiblimp.items.schema import (
    ITEM_SCHEMA,
    RELEASED_COLUMNS,
    RELEASED_POSITIONS,
)
from blimpworks.tables import INT, LABEL, extend, write_rows

log = logging.getLogger(__name__)

# Where the release has the pair: file below the data set's root, line from 1.
RELEASED_SCHEMA = extend(ITEM_SCHEMA, released_file=LABEL, released_line=INT, revision=LABEL)


def _feats(features: dict[str, str]) -> list[str]:
    """Features as CoNLL-U has them, without the lemma that the release puts among them."""
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
    """The row of a pair in the table of items: ``file`` is its file below the data set's root.

    The id is the one that the same pair has when it is made from the treebank.
    """
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


def _check_count(path: Path, n: int, expected: int | None) -> None:
    """See that a file of the hub has as many pairs as the paper says. Raises UserError."""
    if expected is not None and n != expected:
        raise UserError(
            f"{path} has {n} pairs; expected the {expected} of the paper's Table 5 (paper_n in "
            f"the table of languages). {REMEDY}"
        )


def build_released_items(
    path: Path,
    lang: str,
    output: Path,
    phenomena: Collection[str],
    revision: str | None = None,
    pairs: int | None = None,
) -> int:
    """Write a language's released items, in the order of the file; return how many.

    Those of other ``phenomena`` are left out; ``pairs`` is how many the whole file must have,
    None where nothing is known of it. A pair that was drawn in two conditions stands twice, with
    the same id. Raises UserError for a missing or malformed file, by file and line.
    """
    file = f"{path.parent.name}/{path.name}"
    rows = [released_item(row, file, revision) for row in read_rows(path, lang)]
    _check_count(path, len(rows), pairs)
    kept = [row for row in rows if row["phenomenon"] in phenomena]
    log.info("%s: %d released pairs, %d of them kept", path, len(rows), len(kept))
    write_rows(kept, RELEASED_SCHEMA, output)
    return len(kept)
