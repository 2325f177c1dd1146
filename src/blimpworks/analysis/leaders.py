"""Which model leads on a language, and how surely: from comparisons of models in pairs.

Source: MultiBLiMP, section 7.1, footnote 7: McNemar's test between the best model and the
second best, p < 0.1.
"""

import pandas as pd

LEAD_BELOW = 0.1


def leaders(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Models that are ahead of every other one on a language, each with the closest other.

    Of others at the same accuracy the one with the largest p counts. Takes and returns rows
    of the comparisons table, at most one per language and ``model_a``.
    """
    ranked = comparisons.sort_values(
        ["lang", "model_a", "accuracy_b", "p", "model_b"],
        ascending=[True, True, False, False, True],
    )
    closest = ranked.drop_duplicates(["lang", "model_a"])
    return closest[closest["accuracy_a"] > closest["accuracy_b"]]


def leads(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Leads that are significant: rows of ``leaders`` with p < ``LEAD_BELOW``."""
    found = leaders(comparisons)
    return found[found["p"] < LEAD_BELOW]
