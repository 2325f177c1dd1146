"""Items in the column layout of the released MultiBLiMP data set, for loaders made for it.

Source: the data set's files on the Hugging Face hub, one ``<lang>/data.tsv`` each, at revision
de923efa8d24. Word positions count from 0 there; lists and features are Python literals. Of an
attractor, and of the sentence's comments in ``metadata``, the release has more than is kept here.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.papers.multiblimp.items.features import (
    PARTICIPLE,
    PHENOMENA,
    from_unimorph,
    parse_feats,
)
from blimpworks.papers.multiblimp.items.released import RELEASED_COLUMNS, RELEASED_POSITIONS
from blimpworks.papers.multiblimp.tables import ITEM_SCHEMA
from blimpworks.tables import ITEMS, read_table

Item = Mapping[str, Any]


COLUMNS = (  # noqa: SIM905
    "sen verb verb_idx cop cop_idx child child_idx child_features child_upos head head_idx "
    "head_features head_upos distance attractors metadata swap_head feature_vals prefix wrong_sen "
    "congruent_attractors incongruent_attractors num_attractors num_congruent_attractors "
    "num_incongruent_attractors has_attractors only_has_congruent_attractors "
    "only_has_incongruent_attractors sample_weight phenomenon lang grammatical_feature "
    "ungrammatical_feature wo inflect_item agreement_certainty"
).split()
"""The release's columns, in its order."""


def _words(item: Item) -> dict[str, Any]:
    """The pair's words; ``head`` is the one that agrees, ``cop`` an auxiliary or copula."""
    auxiliary = item["inflected"] == "aux"
    return {
        **{theirs: item[ours] - 1 for theirs, ours in RELEASED_POSITIONS.items()},
        "cop": item["inflected_form"] if auxiliary else "",
        "cop_idx": item["inflected_id"] - 1 if auxiliary else "",
        "child_features": parse_feats(item["subject_feats"]) | {"lemma": item["subject_lemma"]},
        "head_features": parse_feats(item["inflected_feats"]) | {"lemma": item["inflected_lemma"]},
    }


def released_row(item: Item) -> dict[str, Any]:
    """One item of the sampled set as a row of the released layout, its columns in that order."""
    construction, feature = item["phenomenon"][:2].upper(), item["phenomenon"][2]
    cells = {theirs: item[ours] for theirs, ours in RELEASED_COLUMNS.items()}
    # Attractors, each with its value of the agreement feature, as UD spells it.
    agreeing, values = PHENOMENA[item["phenomenon"]].feature, item["attractor_values"]
    words = [{"feats": {agreeing: from_unimorph(value)}} for value in values]
    sides: dict[bool, list[Any]] = {
        same: [w for w, v in zip(words, values, strict=True) if (v == item["grammatical"]) is same]
        for same in (True, False)
    }
    congruent, incongruent = sides[True], sides[False]
    cells |= _words(item) | {
        "congruent_attractors": congruent,
        "incongruent_attractors": incongruent,
        "num_attractors": len(words),
        "num_congruent_attractors": len(congruent),
        "num_incongruent_attractors": len(incongruent),
        "has_attractors": bool(words),
        "only_has_congruent_attractors": bool(congruent) and not incongruent,
        "only_has_incongruent_attractors": bool(incongruent) and not congruent,
        "attractors": words,
    }
    cells |= {
        "metadata": {"sent_id": item["sent_id"], "treebank": f"{item['treebank']}/{item['file']}"},
        "swap_head": item["bad_form"],
        "prefix": item["good"][: item["good_start"]].rstrip(),
        "phenomenon": f"{construction}-{feature}",
        "inflect_item": PARTICIPLE if construction == "SP" else item["inflected"],
    }
    return {name: cells[name] for name in COLUMNS}


def export_items(items: Path, output: Path) -> int:
    """Write sampled items in the released layout; return how many. Raises UserError for others."""
    table = read_table(ITEMS, items)
    missing = [name for name in ITEM_SCHEMA.names if name not in table.column_names]
    if missing or table["weight"].null_count:
        fault = f"no column {missing[0]!r}" if missing else "pairs that were not drawn"
        raise UserError(
            f"{items} has {fault}; expected the sampled items of this version, "
            "<results>/items/multiblimp/LANG.parquet. Build them with `snakemake items`."
        )
    rows = [released_row(item) for item in table.to_pylist()]
    if rows:
        with atomic(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return len(rows)
