"""Tables that the stages of MultiBLiMP write: its items' own columns, and the funnel's counts."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from blimpworks.tables import FLOAT, FUNNEL, INT, ITEMS, LABEL, STRING, extend, write_rows

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

# Words are given by their form and CoNLL-U id. `inflected_*` is the word whose form agrees,
# as annotated and completed from its subject; `verb` the head of the subject; `replaced_id`
# where the other form stands. label: + ~ ? for each value of `grammatical`. `values`: all that
# the pair allows ("3 -> 1|2"), whatever condition it is drawn in. `attractor_values`: the
# agreement feature's values on the words between. `weight`: relative weight in the draw of
# its condition; null before it.
ITEM_SCHEMA = extend(
    ITEMS,
    grammatical=LABEL,
    ungrammatical=LABEL,
    order=LABEL,
    inflected=LABEL,
    label=LABEL,
    values=LABEL,
    subject=STRING,
    subject_id=INT,
    subject_lemma=STRING,
    subject_upos=LABEL,
    subject_feats=STRING,
    verb=STRING,
    verb_id=INT,
    inflected_form=STRING,
    inflected_id=INT,
    inflected_lemma=STRING,
    inflected_upos=LABEL,
    inflected_feats=STRING,
    replaced_id=INT,
    good_form=STRING,
    bad_form=STRING,
    distance=INT,
    attractors=INT,
    congruent_attractors=INT,
    attractor_values=pa.list_(STRING),
    weight=FLOAT,
)


def write_funnel(path: Path, lang: str, counts: Mapping[str, Mapping[str, int]]) -> None:
    """Write the ``funnel`` table of a rule: how many pairs each stage kept or dropped, and why.

    ``counts`` are by stage and reason, whose order is kept.
    """
    rows = [
        {"lang": lang, "stage": stage, "reason": reason, "n": n}
        for stage, reasons in counts.items()
        for reason, n in reasons.items()
    ]
    write_rows(rows, FUNNEL, path)
