"""Mark words that are no good evidence: slips, typos, corrections, other languages and styles.

Source: MultiBLiMP 1.0, section 4.1; corrections and code-switching are in the authors'
code, not in the paper.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected

Mask = npt.NDArray[np.bool_]
UNWANTED_FEATS = r"(^|\|)(Typo=Yes($|\|)|(Style|Foreign)=)"
UNWANTED_MISC = r"(^|\|)([^=|]*Correct[^=|]*|(Lang|OrigLang)=[^|]*)"


def unwanted_rows(tokens: pa.Table, options: MultiblimpOptions) -> dict[str, Mask]:
    """Mark unwanted rows of ``tokens`` (deprel, feats, misc), by reason; multiword ranges too."""
    deprel, feats, misc = (tokens[name].cast(pa.string()) for name in ("deprel", "feats", "misc"))
    reasons = {
        "reparandum": pc.equal(deprel, "reparandum"),
        "typo, style or foreign": pc.match_substring_regex(feats, UNWANTED_FEATS),
    }
    # The paper does not name this reason, so the correction has it not.
    if not corrected(options, "marked_sentences"):
        reasons["corrected or code-switched"] = pc.match_substring_regex(misc, UNWANTED_MISC)
    return {reason: np.asarray(mask.fill_null(False)) for reason, mask in reasons.items()}
