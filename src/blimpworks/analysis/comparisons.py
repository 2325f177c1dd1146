"""Compare two models on a language: McNemar's test over its pairs.

Source: Jumelet et al. (2025), sections 7.1 (footnote 7) and 7.3. The text does not name the test's
form, but Table B.2's p-values do. Only chi-squared with continuity correction gives Albanian's
0.041 (241 of 243 pairs right against 235). It also fits the 18 other p-values that Table 5 lets one
check; the exact test and chi-squared without correction do not. With ``mcnemar`` corrected, few
pairs are tested exactly.
"""

import logging
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError
from blimpworks.tables import COMPARISONS, JUDGEMENTS, read_table, write_rows

log = logging.getLogger(__name__)

# With fewer pairs than this on which the models differ, the chi-squared approximation is
# poor, and the exact binomial test takes its place where the decision is corrected.
EXACT_BELOW = 25
KEY = ["item_id", "paradigm"]


def mcnemar_p(only_a: int, only_b: int, exact_below: int = 0) -> float:
    """Return McNemar's two-sided p from numbers of pairs that one model alone has right.

    Exact for fewer than ``exact_below`` such pairs, else chi-squared with continuity correction.
    """
    if only_a == only_b:
        return 1.0
    from statsmodels.stats.contingency_tables import mcnemar  # slow; tables ask for few p-values

    table = [[0, only_a], [only_b, 0]]
    exact = only_a + only_b < exact_below
    return float(mcnemar(table, exact=exact, correction=True).pvalue)


def compare(
    right: NDArray[np.bool_], judged: NDArray[np.bool_], exact_below: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield comparisons of every two models, in both orders, over items that both have judged.

    ``right`` and ``judged`` are [items, models]. McNemar's test is exact for fewer than
    ``exact_below`` pairs.
    """
    good = (right & judged).astype(np.int64)
    wrong = (~right & judged).astype(np.int64)
    only, both, n = good.T @ wrong, good.T @ good, judged.astype(np.int64).T @ judged
    for a, b in combinations(range(right.shape[1]), 2):
        if not n[a, b]:
            continue
        p = mcnemar_p(int(only[a, b]), int(only[b, a]), exact_below)
        for first, second in ((a, b), (b, a)):
            yield {
                "a": first,
                "b": second,
                "n": n[a, b],
                "only_a": only[first, second],
                "only_b": only[second, first],
                "accuracy_a": (both[a, b] + only[first, second]) / n[a, b],
                "accuracy_b": (both[a, b] + only[second, first]) / n[a, b],
                "p": p,
            }


def compare_models(
    judgements: Sequence[tuple[str, str, Path]],
    benchmark: str,
    method: str,
    output: Path,
    mcnemar: Variant = "published",
) -> int:
    """Write the comparisons table from (model, language, judgements table); return its length.

    ``mcnemar`` published is chi-squared for any number of pairs, corrected is exact for few. Raises
    UserError when there is no table, or one is missing or of another schema.
    """
    if not judgements:
        raise UserError(f"{output}: no judgements of {benchmark} are given; name at least one.")
    languages: dict[str, dict[str, pd.Series]] = {}
    for model, lang, path in judgements:
        frame = read_table(JUDGEMENTS, path, [*KEY, "method", "correct"]).to_pandas()
        chosen = frame[frame["method"] == method].astype({"paradigm": object})
        languages.setdefault(lang, {})[model] = chosen.set_index(KEY)["correct"]
    exact_below = EXACT_BELOW if mcnemar == "corrected" else 0
    rows = []
    for lang, models in languages.items():
        verdicts, names = pd.DataFrame(models), [*models]
        right, judged = (verdicts == 1).to_numpy(), verdicts.notna().to_numpy()
        for row in compare(right, judged, exact_below):
            named = {f"model_{side}": names[row.pop(side)] for side in ("a", "b")}
            rows.append({**row, **named, "lang": lang, "benchmark": benchmark, "method": method})
    log.info("%d comparisons in %d languages", len(rows), len(languages))
    write_rows(rows, COMPARISONS, output)
    return len(rows)
