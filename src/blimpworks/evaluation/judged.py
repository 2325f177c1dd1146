"""Read an evaluation's judgements: skipped items, tests, worst items and wrong answers.

Functions raise UserError when a table is missing or broken.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.analysis.comparisons import EXACT_BELOW, KEY, compare
from blimpworks.evaluation.card import (
    ALL,
    MEAN,
    PairedTest,
    Side,
    Skipped,
    WorstItem,
    Written,
    WrongAnswer,
)
from blimpworks.evaluation.facts import OUTPUTS, BenchmarkFacts, model_table
from blimpworks.judging.sample import CONDITIONS, item_key
from blimpworks.parquet import read_parquet
from blimpworks.scoring.words import align, single, words_of
from blimpworks.tables import (
    ANSWERS,
    ITEMS,
    JUDGEMENTS,
    PROMPTS,
    SCORES,
    TableSchema,
    made_by,
    read_table,
)

OK, TOO_LONG = "ok", "too_long"
WORDS = {
    "refused": "refused by the engine, such as for tokens that the model has no embedding of",
    "out_of_memory": "for which the memory did not suffice",
    "not_finite": "with a score that is no number",
    "empty": "without a token that could be scored",
}
"""Reasons by status of a sentence or prompt without a result, except ``too_long``."""
Cells = dict[tuple[str, str], dict[str, Skipped]]
"""Skipped items by language and phenomenon (``all`` for all of them), then by model."""


Judgements = Mapping[str, Mapping[str, pd.DataFrame]]
"""Tables by language and model: one row per item and paradigm; a pair of two paradigms has two."""


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
        keys = (rows[name].to_pylist() for name in (item_key(rows.column_names), "item_id"))
        statuses = {item: statuses[row] for item, row in zip(*keys, strict=True) if row in statuses}
    words = WORDS | ({TOO_LONG: _too_long(outputs)} if TOO_LONG in statuses.values() else {})
    other = f"on which {method} gives no verdict, such as for unknown words"
    return [words.get(statuses.get(item, OK), other) for item in ids]


def skipped_items(
    name: str, benchmark: BenchmarkFacts, judgements: Judgements, results: str
) -> Cells:
    """Count the items without a verdict by reason, also over several languages together."""
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
    """Test each two models by McNemar, uncorrected; a tie that counts half is not right."""
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


MORE = 3
"""Factor of items that are read over those shown, because some share their sentences."""
TEXTS = ("item_id", "good", "bad", "item", "condition")
SCORED = [
    "item_id",
    *("logprob_good", "logprob_bad"),
    *(f"{side}_{name}" for side in ("good", "bad") for name in ("logprobs", "ends")),
]
Rows = list[dict[str, Any]]


def _rows(
    schema: TableSchema, path: Path, columns: Sequence[str], ids: Sequence[str], key: str
) -> Rows:
    table = read_table(schema, path, columns)
    if key not in table.column_names:
        return []
    chosen = pc.is_in(table[key], value_set=pa.array(ids, pa.string()))
    rows: Rows = table.filter(chosen).to_pylist()
    return rows


def _worst_item(
    judged: Mapping[Any, Any], rows: Rows, scores: Mapping[str, Mapping[str, Any]]
) -> WorstItem:
    """Return an item with its sentences and words, from its row or its conditions' rows."""
    first = rows[0]
    if "condition" in first:
        sentences = [(row["condition"], row, "good") for row in rows]
    elif first["good"] == first["bad"]:
        sentences = [("good", first, "good")]
    else:
        sentences = [("good", first, "good"), ("bad", first, "bad")]
    sides: list[Side] = []
    words = []
    for name, row, side in sentences:
        scored = scores[row["item_id"]]
        logprob = scored[f"logprob_{side}"]
        if logprob is None or math.isnan(logprob):
            logprob = None
        sides.append({"name": name, "text": row[side], "logprob": logprob})
        ends, logprobs = scored[f"{side}_ends"] or [], scored[f"{side}_logprobs"] or []
        words.append(words_of(row[side], ends, logprobs))
    is_pair = len(sentences) == 2 and "condition" not in first
    return {
        "item_id": judged["item_id"],
        "lang": judged["lang"],
        "phenomenon": judged["phenomenon"],
        "paradigm": judged["paradigm"],
        "margin": float(judged["margin"]),
        "sides": sides,
        "blocks": [align(*words)] if is_pair else [single(sentence) for sentence in words],
    }


def _all_languages(judgements: Judgements, model: str) -> pd.DataFrame:
    frames = {lang: models[model] for lang, models in judgements.items() if model in models}
    return pd.concat([rows.assign(lang=lang) for lang, rows in frames.items()])


def worst_items(
    model: str,
    name: str,
    benchmark: BenchmarkFacts,
    judgements: Judgements,
    results: str,
    count: int,
) -> list[WorstItem]:
    """Return the ``count`` distinct items with the most negative margins."""
    by = ["margin", "item_id", "paradigm"]
    rows = _all_languages(judgements, model)
    lowest = rows[rows["margin"] < 0].sort_values([*by, "lang"]).head(MORE * count)
    worst: list[WorstItem] = []
    for lang, judged in lowest.groupby("lang", sort=False):
        ids, items = judged["item_id"].tolist(), Path(benchmark["items"][str(lang)])
        key = "item_id"
        texts = _rows(ITEMS, items, TEXTS, ids, key)
        if not texts:
            key = "item"
            texts = _rows(ITEMS, items, TEXTS, ids, key)
        path = Path(model_table(results, "scores", name, str(lang), model))
        scored = _rows(SCORES, path, SCORED, [row["item_id"] for row in texts], "item_id")
        scores = {row["item_id"]: row for row in scored}
        grouped: dict[str, Rows] = {}
        for text in texts:
            grouped.setdefault(text[key], []).append(text)
        for row in judged.to_dict("records"):
            worst.append(_worst_item(row, grouped[row["item_id"]], scores))
    worst.sort(key=lambda item: (item["margin"], item["item_id"], item["paradigm"]))
    distinct: dict[tuple[str, ...], WorstItem] = {}
    for item in worst:
        distinct.setdefault((item["lang"], *(side["text"] for side in item["sides"])), item)
    return [*distinct.values()][:count]


def wrong_answers(
    model: str,
    name: str,
    benchmark: BenchmarkFacts,
    judgements: Judgements,
    results: str,
    count: int,
) -> list[WrongAnswer]:
    """Return ``count`` wrong answers, drawn by digests of ids because answers have no margin."""
    rows = _all_languages(judgements, model)
    wrong = rows[rows["correct"] == 0]
    digests = [hashlib.blake2b(item.encode()).hexdigest() for item in wrong["item_id"]]
    drawn = wrong.assign(digest=digests).sort_values(["digest", "lang"], kind="stable").head(count)
    answers: list[WrongAnswer] = []
    for lang, judged in drawn.groupby("lang", sort=False):
        ids, items = judged["item_id"].tolist(), Path(benchmark["items"][str(lang)])
        asked = _rows(PROMPTS, items, ["item_id", "prompt", "answer"], ids, "item_id")
        prompts = {row["item_id"]: row for row in asked}
        path = Path(model_table(results, "answers", name, str(lang), model))
        answered = _rows(ANSWERS, path, ["item_id", "status", "text"], ids, "item_id")
        texts = {row["item_id"]: row for row in answered}
        for row in judged.to_dict("records"):
            item = row["item_id"]
            answers.append(
                {
                    "item_id": item,
                    "lang": str(lang),
                    "phenomenon": row["phenomenon"],
                    "paradigm": row["paradigm"],
                    "prompt": prompts[item]["prompt"],
                    "expected": prompts[item]["answer"] or "",
                    "answer": texts[item]["text"] or "",
                    "status": str(texts[item]["status"]),
                }
            )
    return answers


def written_answers(
    model: str, name: str, benchmark: BenchmarkFacts, results: str
) -> list[Written]:
    """Count answers by language; old judgements lack the counts of cut and repeating ones."""
    counts: list[Written] = []
    for lang in benchmark["languages"][model]:
        rows = read_parquet(Path(model_table(results, "judgements", name, lang, model))).to_pandas()
        rows = rows[(rows["method"] == benchmark["methods"][model][0]) & rows["correct"].notna()]
        path = Path(model_table(results, "answers", name, lang, model))
        answers = read_table(ANSWERS, path, ["finish", "tokens"]).to_pandas()
        sums: dict[str, int | None] = {}
        for column in ("cut", "echo"):
            is_stated = column in rows and rows[column].notna().all()
            sums[column] = int(rows[column].sum()) if is_stated else None
        longest = answers.loc[answers["finish"] == "length", "tokens"].max()
        counts.append(
            {
                "lang": lang,
                "n": len(rows),
                "cut": sums["cut"],
                "limit": 0 if pd.isna(longest) else int(longest),
                "echoes": sums["echo"],
            }
        )
    return counts
