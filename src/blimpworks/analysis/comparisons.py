"""Compare two models on a language by McNemar's test over its pairs.

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
    """Return the two-sided p of McNemar's test from the pairs that only one model gets right.

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
) -> Iterator[dict[str, object]]:
    """Yield comparisons of all models with each other on one language, in both orders.

    ``right`` and ``judged`` are [items, models]. Only items that both models have judged count.
    """
    good = (right & judged).astype(np.int64)
    wrong = (~right & judged).astype(np.int64)
    only, both, n = good.T @ wrong, good.T @ good, judged.astype(np.int64).T @ judged
    for a, b in combinations(range(right.shape[1]), 2):
        if not n[a, b]:
            continue
        row: dict[str, object] = {
            "a": a,
            "b": b,
            "n": n[a, b],
            "only_a": only[a, b],
            "only_b": only[b, a],
            "accuracy_a": (both[a, b] + only[a, b]) / n[a, b],
            "accuracy_b": (both[a, b] + only[b, a]) / n[a, b],
            "p": mcnemar_p(int(only[a, b]), int(only[b, a]), exact_below),
        }
        other = {"a": "b", "b": "a", "only_a": "only_b", "only_b": "only_a"}
        other |= {"accuracy_a": "accuracy_b", "accuracy_b": "accuracy_a"}
        yield from (row, {key: row[other.get(key, key)] for key in row})


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
    for lang, columns in languages.items():
        verdicts = pd.DataFrame(columns)
        names, judged = list(verdicts), verdicts.notna().to_numpy()
        labels = {"lang": lang, "benchmark": benchmark, "method": method}
        for row in compare((verdicts == 1).to_numpy(), judged, exact_below):
            a, b = int(str(row.pop("a"))), int(str(row.pop("b")))
            rows.append({**row, "model_a": names[a], "model_b": names[b], **labels})
    log.info("%d comparisons in %d languages", len(rows), len(languages))
    write_rows(rows, COMPARISONS, output)
    return len(rows)
