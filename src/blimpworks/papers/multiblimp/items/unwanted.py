"""Mark words that are no good evidence: slips, typos, corrections, other languages and styles.

Source: MultiBLiMP 1.0, section 4.1; corrections and code-switching are in the authors'
code, not in the paper.
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


def check_each(values: Strings, predicate: Callable[[Any], bool]) -> Mask:
    """Apply a predicate once per distinct string (or None)."""
    results = {value: predicate(value) for value in set(values)}
    return np.fromiter((results[value] for value in values), bool, len(values))


def unwanted_rows(tokens: pa.Table, options: MultiblimpOptions) -> dict[str, Mask]:
    """Mark unwanted rows of ``tokens`` (deprel, feats, misc), by reason; multiword ranges too."""
    feats = tokens["feats"].cast(pa.string()).to_numpy(zero_copy_only=False)
    reasons = {
        "reparandum": np.asarray(
            pc.equal(tokens["deprel"].cast(pa.string()), "reparandum").fill_null(False)
        ),
        "typo, style or foreign": check_each(
            feats,
            lambda f: (
                parse_feats(f).get("Typo") == "Yes"
                or not parse_feats(f).keys().isdisjoint(("Style", "Foreign"))
            ),
        ),
    }
    # The paper does not name this reason, so the correction has it not.
    if not corrected(options, "marked_sentences"):
        misc = tokens["misc"].cast(pa.string())
        reasons["corrected or code-switched"] = np.asarray(
            pc.match_substring_regex(misc, UNWANTED_MISC).fill_null(False)
        )
    return reasons
