"""Judgements of an evaluation by the main methods, and the tests between models on them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from blimpworks.analysis.comparisons import EXACT_BELOW, KEY, compare
from blimpworks.evaluation.card import ALL, PairedTest
from blimpworks.evaluation.facts import BenchmarkFacts, model_table
from blimpworks.tables import JUDGEMENTS, read_table

COLUMNS = [*KEY, "phenomenon", "method", "correct", "margin"]
Judgements = Mapping[str, Mapping[str, pd.DataFrame]]
"""By language and model: one row for each item and paradigm, a pair of two paradigms twice."""


def read_judgements(path: Path) -> pd.DataFrame:
    """Read judgements by all methods, without a value where there is no verdict or margin.

    Raises UserError when the table is missing or broken.
    """
    frame: pd.DataFrame = read_table(JUDGEMENTS, path, COLUMNS).to_pandas()
    return frame.astype(dict.fromkeys(["paradigm", "phenomenon", "method"], object))


def judgements_of(name: str, benchmark: BenchmarkFacts, results: str) -> Judgements:
    """Read the judgements of a benchmark by each model's main method.

    Raises UserError when a table is missing or broken.
    """
    judgements: dict[str, dict[str, pd.DataFrame]] = {}
    for lang in benchmark["items"]:
        judgements[lang] = {}
        for model, languages in benchmark["languages"].items():
            if lang in languages:
                rows = read_judgements(Path(model_table(results, "judgements", name, lang, model)))
                main = rows[rows["method"] == benchmark["methods"][model][0]]
                judgements[lang][model] = main.reset_index(drop=True)
    return judgements


def paired_tests(benchmark: BenchmarkFacts, judgements: Judgements) -> list[PairedTest]:
    """McNemar's test between each two models: in all languages together, and in each.

    The adjusted p is still the plain one (see ``with_holm``). A tie that counts half is not right.
    """
    models = [*benchmark["languages"]]
    if len(models) < 2:
        return []
    exact_below = EXACT_BELOW if benchmark["mcnemar"] == "corrected" else 0
    unjudged = -1.0
    verdicts = {}
    for lang, frames in judgements.items():
        columns = {}
        for model, rows in frames.items():
            columns[model] = rows.drop_duplicates(KEY).set_index(KEY)["correct"].fillna(unjudged)
        wide = pd.concat(columns, axis="columns")
        verdicts[lang] = wide.reindex(columns=models).to_numpy(dtype=float)
    if len(verdicts) > 1:
        verdicts = {ALL: np.concatenate([*verdicts.values()]), **verdicts}
    tests: list[PairedTest] = []
    for lang, correct in verdicts.items():
        run = ~np.isnan(correct)
        for row in compare(correct == 1, run & (correct != unjudged), exact_below):
            a, b, n, only_a, only_b = (
                int(str(row[name])) for name in ("a", "b", "n", "only_a", "only_b")
            )
            if a < b:
                p = float(str(row["p"]))
                tests.append(
                    {
                        "lang": lang,
                        "a": models[a],
                        "b": models[b],
                        "n": n,
                        "skipped": int((run[:, a] & run[:, b]).sum()) - n,
                        "only_a": only_a,
                        "only_b": only_b,
                        "p": p,
                        "adjusted": p,
                    }
                )
    # Of one language in common, all languages together would be the same test again.
    common = Counter((test["a"], test["b"]) for test in tests if test["lang"] != ALL)
    return [t for t in tests if t["lang"] != ALL or common[t["a"], t["b"]] > 1]


def with_holm(tests: Sequence[PairedTest]) -> list[PairedTest]:
    """Correct the p-values of tests by Holm's method for how many there are."""
    if not tests:
        return []
    from statsmodels.stats.multitest import multipletests  # slow; one model has no tests

    adjusted = multipletests([test["p"] for test in tests], method="holm")[1]
    return [{**test, "adjusted": float(p)} for test, p in zip(tests, adjusted, strict=True)]
