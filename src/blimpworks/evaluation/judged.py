"""Read an evaluation's judgements by the main methods, and test between models.

Functions raise UserError when a table is missing or broken.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from blimpworks.analysis.comparisons import EXACT_BELOW, KEY, compare
from blimpworks.evaluation.card import ALL, MEAN, PairedTest, Skipped
from blimpworks.evaluation.facts import OUTPUTS, BenchmarkFacts, model_table
from blimpworks.judging.sample import CONDITIONS
from blimpworks.parquet import read_parquet
from blimpworks.tables import JUDGEMENTS, made_by, read_table

OK, TOO_LONG = "ok", "too_long"
WORDS = {
    "refused": "refused by the engine, such as for tokens that the model has no embedding of",
    "out_of_memory": "for which the memory did not suffice",
    "not_finite": "with a score that is no number",
    "empty": "without a token that could be scored",
}
"""Reasons by status of a sentence or prompt without a result, except ``too_long``."""
Cells = dict[tuple[str, str], dict[str, Skipped]]
"""By language and phenomenon (``all`` for all of them), then by model."""


Judgements = Mapping[str, Mapping[str, pd.DataFrame]]
"""By language and model: one row per item and paradigm; a pair of two paradigms has two."""


def _too_long(outputs: Path) -> str:
    """Return the reason ``too_long`` in words, with the limit from the scores' manifest."""
    for entry in (made_by(outputs) or {}).get("inputs", []):
        if entry["path"].endswith("/manifest.json"):
            manifest = outputs.parents[3].joinpath(*Path(entry["path"]).parts[-4:])
            if manifest.is_file():
                limit = json.loads(manifest.read_bytes()).get("checks", {}).get("limit", "")
                if limit:
                    return f"longer than the model's {int(limit):,} tokens"
            break
    return "longer than the model's context"


def why_skipped(ids: Sequence[str], items: Path, outputs: Path, method: str) -> list[str]:
    """Return in words why each item has no verdict; ``outputs`` are scores or answers."""
    statuses: dict[str, str] = {}
    if outputs.is_file():
        table = read_parquet(outputs, ["item_id", "status"]).to_pandas()
        failed = table[table["status"] != OK]
        statuses = dict(zip(failed["item_id"], failed["status"].astype(str), strict=True))
    if statuses:
        rows = read_parquet(items, ["item_id", *CONDITIONS])
        if {*rows.column_names} >= CONDITIONS:
            of_rows = zip(rows["item"].to_pylist(), rows["item_id"].to_pylist(), strict=True)
            statuses = {item: statuses[row] for item, row in of_rows if row in statuses}
    words = WORDS | ({TOO_LONG: _too_long(outputs)} if TOO_LONG in statuses.values() else {})
    other = f"on which {method} gives no verdict, such as for unknown words"
    return [words.get(statuses.get(item, OK), other) for item in ids]


def skipped_items(
    name: str, benchmark: BenchmarkFacts, judgements: Judgements, results: str
) -> Cells:
    """Count the items without a verdict by the main methods, by reason; cells with none included.

    With several languages, cells of all together and of their mean follow.
    """
    cells: Cells = {}
    for lang, models in judgements.items():
        for model, judged in models.items():
            for phenomenon, count in [(ALL, len(judged)), *Counter(judged["phenomenon"]).items()]:
                new: Skipped = {"n": 0, "of": count, "reasons": {}}
                cells.setdefault((lang, phenomenon), {})[model] = new
            lost = judged[judged["correct"].isna()]
            if lost.empty:
                continue
            outputs = model_table(results, OUTPUTS[benchmark["unit"]], name, lang, model)
            reasons = why_skipped(
                lost["item_id"].tolist(),
                Path(benchmark["items"][lang]),
                Path(outputs),
                benchmark["methods"][model][0],
            )
            for phenomenon, reason in zip(lost["phenomenon"], reasons, strict=True):
                for cell in (cells[lang, phenomenon][model], cells[lang, ALL][model]):
                    cell["n"] += 1
                    cell["reasons"][reason] = cell["reasons"].get(reason, 0) + 1
    if len(judgements) < 2:
        return cells
    together: Cells = {}
    for (_, phenomenon), skipped in cells.items():
        for model, cell in skipped.items():
            empty: Skipped = {"n": 0, "of": 0, "reasons": {}}
            total = together.setdefault((ALL, phenomenon), {}).setdefault(model, empty)
            total["n"] += cell["n"]
            total["of"] += cell["of"]
            total["reasons"] = dict(Counter(total["reasons"]) + Counter(cell["reasons"]))
    return {**cells, **together, (MEAN, ALL): together[ALL, ALL]}


COLUMNS = [*KEY, "phenomenon", "method", "correct", "margin"]


def read_judgements(path: Path) -> pd.DataFrame:
    """Read judgements by all methods; NaN where there is no verdict or margin."""
    frame: pd.DataFrame = read_table(JUDGEMENTS, path, COLUMNS).to_pandas()
    return frame.astype(dict.fromkeys(["paradigm", "phenomenon", "method"], object))


def judgements_of(name: str, benchmark: BenchmarkFacts, results: str) -> Judgements:
    """Read a benchmark's judgements by each model's main method."""
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
    """Test each two models by McNemar, in all languages together and in each.

    ``with_holm`` corrects the p-values. A tie that counts half is not right.
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
    """Correct the tests' p-values by Holm's method for their number."""
    if not tests:
        return []
    from statsmodels.stats.multitest import multipletests  # slow; one model has no tests

    adjusted = multipletests([test["p"] for test in tests], method="holm")[1]
    return [{**test, "adjusted": float(p)} for test, p in zip(tests, adjusted, strict=True)]
