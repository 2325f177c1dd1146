"""Which focus words a masked model's vocabulary has, to judge by how many sets it was scored on.

CLAMS (appendix D) skips minimal sets whose focus words are not in the vocabulary, and prints how
many are left. That is a sum over words, the same ones in every construction: the words can be
inferred where the vocabulary is not at hand.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

WORDS_AT_MOST = 22
"""Of a language; all their subsets are tried."""


def infer_vocabulary(sets: pd.DataFrame, left: Mapping[str, int]) -> list[str]:
    """The focus words (``laugh/laughs``) that account for most of the numbers ``left``.

    ``sets`` has one row per construction and focus with n, of one language; ``left`` the
    number of sets by construction. Of several answers the one of fewest words; of words that
    cannot be told apart the first ones.

    Raises ValueError for more words than can be tried.
    """
    wide = sets.pivot_table(index="construction", columns="focus", values="n", aggfunc="sum")
    counts = wide.reindex([*left]).fillna(0).to_numpy(np.int64)
    words = [str(word) for word in wide.columns]
    if len(words) > WORDS_AT_MOST:
        raise ValueError(f"{len(words)} focus words are more than {WORDS_AT_MOST}")
    chosen = _subsets(len(words))
    matched = (chosen @ counts.T == np.array([*left.values()])).sum(axis=1)
    # lexsort: the last key decides first; the subsets' own order breaks ties.
    best = np.lexsort((chosen.sum(axis=1), -matched))[0]
    return [word for word, taken in zip(words, chosen[best], strict=True) if taken]


def _subsets(n: int) -> NDArray[np.int64]:
    """All subsets of ``n`` things, 2**n by n, those with the first things first."""
    bits = np.arange(2**n)[:, None] >> np.arange(n)
    return (bits & 1).astype(np.int64)
