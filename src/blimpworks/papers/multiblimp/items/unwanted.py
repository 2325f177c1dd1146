"""Words that are no good evidence: slips, typos, corrections, other languages and styles.

Source: MultiBLiMP 1.0, section 4.1; corrections and code-switching are in the code only.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.papers.multiblimp.items.features import parse_feats
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected

Mask = npt.NDArray[np.bool_]
Strings = npt.NDArray[np.object_]
UNWANTED_MISC = r"(^|\|)([^=|]*Correct[^=|]*|(Lang|OrigLang)=[^|]*)"


def marked(values: Strings, predicate: Callable[[Any], bool]) -> Mask:
    """Apply a predicate once per distinct string (or None)."""
    results = {value: predicate(value) for value in set(values)}
    return np.fromiter((results[value] for value in values), bool, len(values))


def _is_unwanted(feats: str | None) -> bool:
    features = parse_feats(feats)
    return features.get("Typo") == "Yes" or "Style" in features or "Foreign" in features


def _flags(column: pa.ChunkedArray) -> Mask:
    return np.asarray(column.fill_null(False))


def unwanted_rows(tokens: pa.Table, options: MultiblimpOptions) -> dict[str, Mask]:
    """Mark unwanted rows of ``tokens`` (deprel, feats, misc), by reason; ranges count too."""
    feats = tokens["feats"].cast(pa.string()).to_numpy(zero_copy_only=False)
    reasons = {
        "reparandum": _flags(pc.equal(tokens["deprel"].cast(pa.string()), "reparandum")),
        "typo, style or foreign": marked(feats, _is_unwanted),
    }
    if not corrected(options, "marked_sentences"):
        misc = tokens["misc"].cast(pa.string())
        reasons["corrected or code-switched"] = _flags(
            pc.match_substring_regex(misc, UNWANTED_MISC)
        )
    return reasons
