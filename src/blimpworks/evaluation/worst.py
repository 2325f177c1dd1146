"""Find a model's worst items and wrong answers, and count its answers.

Functions raise UserError when a table is missing or broken.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.evaluation.card import Side, WorstItem, Written, WrongAnswer
from blimpworks.evaluation.facts import BenchmarkFacts, model_table
from blimpworks.evaluation.judged import Judgements
from blimpworks.parquet import read_parquet
from blimpworks.scoring.words import align, single, words_of
from blimpworks.tables import ANSWERS, ITEMS, PROMPTS, SCORES, TableSchema, read_table

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
