"""Judgements of an evaluation by the main methods, and what follows from them item by item."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from blimpworks.analysis.comparisons import EXACT_BELOW, compare
from blimpworks.evaluation.card import ALL, PairedTest
from blimpworks.evaluation.facts import BenchmarkFacts, model_table
from blimpworks.tables import JUDGEMENTS, read_table

KEY = ("item_id", "paradigm")
COLUMNS = [*KEY, "phenomenon", "method", "margin", "correct"]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """Judgements of one model and language by one method: n items."""

    keys: pa.Array
    """[n] item and paradigm together: a pair that stands in two paradigms counts in both."""
    table: pa.Table
    """[n] item_id, paradigm and phenomenon."""
    correct: Floats
    """[n] NaN without a judgement."""
    margin: Floats
    """[n] NaN without a judgement, and of prompts."""


def read_judged(path: Path, method: str) -> Judged:
    """The judgements by a method in a table. Raises UserError when it is missing or broken."""
    table = read_table(JUDGEMENTS, path, COLUMNS)
    rows = table.filter(pc.equal(table["method"].cast(pa.string()), method))
    labels = {name: rows[name].cast(pa.string()) for name in (*KEY, "phenomenon")}
    keys = pc.binary_join_element_wise(*(labels[name] for name in KEY), "\t")
    correct, margin = (
        np.asarray(rows[name].to_numpy(zero_copy_only=False), dtype=np.float64)
        for name in ("correct", "margin")
    )
    return Judged(keys.combine_chunks(), pa.table(labels), correct, margin)


def judgements_of(
    name: str, benchmark: BenchmarkFacts, results: str
) -> dict[str, dict[str, Judged]]:
    """The judgements of a benchmark by each model's main method: by language and model.

    Raises UserError when a table is missing or broken.
    """
    return {
        lang: {
            model: read_judged(
                Path(model_table(results, "judgements", name, lang, model)),
                benchmark["methods"][model][0],
            )
            for model, languages in benchmark["languages"].items()
            if lang in languages
        }
        for lang in benchmark["items"]
    }


def _matrices(judged: Mapping[str, Judged], models: Sequence[str]) -> tuple[Bools, Bools, Bools]:
    """Which items [items, models] each model was run on, got right, and has judged.

    The items are those of any of the models; a tie that counts half is not right.
    """
    every = pa.chunked_array([each.keys for each in judged.values()]).unique()
    run, right, known = np.zeros((3, len(every), len(models)), dtype=bool)
    for column, model in enumerate(models):
        if model in judged:
            each = judged[model]
            rows = pc.index_in(each.keys, value_set=every).to_numpy()
            run[rows, column] = True
            right[rows, column] = each.correct == 1
            known[rows, column] = ~np.isnan(each.correct)
    return run, right, known


def paired_tests(
    benchmark: BenchmarkFacts, judgements: Mapping[str, Mapping[str, Judged]]
) -> list[PairedTest]:
    """McNemar's test between each two models: in all languages together, and in each.

    The adjusted p is still the plain one (see ``with_holm``).
    """
    models = [*benchmark["languages"]]
    exact_below = EXACT_BELOW if benchmark["mcnemar"] == "corrected" else 0
    if len(models) < 2:
        return []
    by_language = {lang: _matrices(each, models) for lang, each in judgements.items()}
    if len(by_language) > 1:
        run, right, known = (np.concatenate(m) for m in zip(*by_language.values(), strict=True))
        by_language = {ALL: (run, right, known), **by_language}
    tests: list[PairedTest] = []
    for lang, (run, right, known) in by_language.items():
        for row in compare(right, known, exact_below):
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
    """The tests with p-values that Holm's method has corrected for how many there are."""
    if not tests:
        return []
    from statsmodels.stats.multitest import multipletests  # slow; one model has no tests

    adjusted = multipletests([test["p"] for test in tests], method="holm")[1]
    return [{**test, "adjusted": float(p)} for test, p in zip(tests, adjusted, strict=True)]


def lowest(judged: Judged, count: int) -> NDArray[np.int64]:
    """Positions of the most negative margins, the lowest first; of equal ones by the item."""
    wrong = np.flatnonzero(judged.margin < 0)
    if len(wrong) > count:
        limit = np.partition(judged.margin[wrong], count - 1)[count - 1]
        wrong = wrong[judged.margin[wrong] <= limit]
    keys = judged.keys.take(pa.array(wrong)).to_pylist()
    order = sorted(range(len(wrong)), key=lambda i: (judged.margin[wrong[i]], keys[i]))
    return np.asarray(wrong[order[:count]], dtype=np.int64)


def at(judged: Judged, rows: NDArray[np.int64]) -> Judged:
    """Some rows of judgements."""
    taken = pa.array(rows)
    return replace(
        judged,
        keys=judged.keys.take(taken),
        table=judged.table.take(taken),
        correct=judged.correct[rows],
        margin=judged.margin[rows],
    )
