"""Which model leads on a language, and how surely: from comparisons of models in pairs.

Source: MultiBLiMP, section 7.1, footnote 7: McNemar's test between the best model and the
second best, p < 0.1. Where models have judged different pairs of a language, accuracies are of
the pairs that two models share, so that who leads is decided pair of models by pair of models.
"""

import pandas as pd

LEAD_BELOW = 0.1


def leaders(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Models that are ahead of every other one on a language, each with the closest other.

    The closest is the one with the smallest difference of accuracies; of several, the one
    with the largest p. Takes and returns rows of the comparisons table, at most one per
    language.
    """
    # Differences of the same number of pairs can differ in the last bits of the quotients.
    lead = (comparisons["accuracy_a"] - comparisons["accuracy_b"]).round(9)
    ranked = comparisons.assign(lead=lead).sort_values(
        ["lang", "model_a", "lead", "p", "model_b"], ascending=[True, True, True, False, True]
    )
    closest = ranked.drop_duplicates(["lang", "model_a"])
    return closest[closest["lead"] > 0].drop(columns="lead")


def leads(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Leads that are significant: rows of ``leaders`` with p < ``LEAD_BELOW``."""
    leading = leaders(comparisons)
    return leading[leading["p"] < LEAD_BELOW]
