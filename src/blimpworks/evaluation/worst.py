"""The items that a model got most wrong, and what its answers are, with their texts and words."""

import hashlib
import heapq
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.evaluation.card import Side, WorstItem, Written, WrongAnswer
from blimpworks.evaluation.facts import BenchmarkFacts, model_table
from blimpworks.evaluation.judged import Judged, at, lowest
from blimpworks.parquet import read_parquet
from blimpworks.scoring.words import align, single, words_of
from blimpworks.tables import ANSWERS, ITEMS, PROMPTS, SCORES, TableSchema, read_table

MORE = 3
"""How many times as many items are read as shown, because some are of the same sentences."""
LABELS = ("item_id", "paradigm", "good", "bad", "item", "condition")
SCORED = [
    "item_id",
    *(f"logprob_{side}" for side in ("good", "bad")),
    *(f"{side}_{name}" for side in ("good", "bad") for name in ("logprobs", "ends")),
]
Row = Mapping[str, Any]


def _rows(
    schema: TableSchema, path: Path, columns: Sequence[str], key: str, values: Sequence[str]
) -> list[dict[str, Any]]:
    """Rows of a table whose ``key`` is one of some values."""
    table = read_table(schema, path, columns)
    if key not in table.column_names:
        return []
    rows: list[dict[str, Any]] = table.filter(
        pc.is_in(table[key], value_set=pa.array(values, pa.string()))
    ).to_pylist()
    return rows


def _worst_item(
    label: Mapping[str, str],
    lang: str,
    margin: float,
    rows: Sequence[Row],
    scores: Mapping[str, Row],
) -> WorstItem:
    """An item with its sentences and words, from its row, or the rows of its conditions."""
    first = rows[0]
    if "condition" in first:
        parts = [(row["condition"], row, "good") for row in rows]
    elif first["good"] == first["bad"]:
        parts = [("good", first, "good")]
    else:
        parts = [("good", first, "good"), ("bad", first, "bad")]
    sides: list[Side] = []
    words = []
    for name, row, side in parts:
        scored = scores[row["item_id"]]
        logprob = scored[f"logprob_{side}"]
        known = logprob is not None and not math.isnan(logprob)
        sides.append(
            {"name": name, "text": row[side], "logprob": float(logprob) if known else None}
        )
        ends, logprobs = scored[f"{side}_ends"] or [], scored[f"{side}_logprobs"] or []
        words.append(words_of(row[side], ends, logprobs))
    is_pair = len(parts) == 2 and "condition" not in first
    return {
        "item_id": label["item_id"],
        "lang": lang,
        "phenomenon": label["phenomenon"],
        "paradigm": label["paradigm"],
        "margin": float(margin),
        "sides": sides,
        "blocks": [align(*words)] if is_pair else [single(sentence) for sentence in words],
    }


def worst_items(
    model: str,
    name: str,
    benchmark: BenchmarkFacts,
    judgements: Mapping[str, Mapping[str, Judged]],
    *,
    results: str,
    count: int,
) -> list[WorstItem]:
    """The ``count`` items of all languages with a model's most negative margins, lowest first.

    A pair is there once, also if it stands in two paradigms or phenomena. Raises UserError when a
    table is missing or broken.
    """
    chosen = heapq.nsmallest(
        MORE * count,
        (
            (float(models[model].margin[row]), models[model].keys[row].as_py(), lang, int(row))
            for lang, models in judgements.items()
            if model in models
            for row in lowest(models[model], MORE * count)
        ),
    )
    worst: list[WorstItem] = []
    for lang in dict.fromkeys(lang for _, _, lang, _ in chosen):
        positions = np.array([row for _, _, code, row in chosen if code == lang], dtype=np.int64)
        judged = at(judgements[lang][model], positions)
        ids = judged.table["item_id"].to_pylist()
        items = Path(benchmark["items"][lang])
        key = "item_id"
        rows = _rows(ITEMS, items, LABELS, key, ids)
        if not rows:
            key = "item"
            rows = _rows(ITEMS, items, LABELS, key, ids)
        scores = Path(model_table(results, "scores", name, lang, model))
        scored = _rows(SCORES, scores, SCORED, "item_id", [row["item_id"] for row in rows])
        by_id = {row["item_id"]: row for row in scored}
        grouped: dict[str, list[Row]] = {}
        for row in rows:
            grouped.setdefault(row[key], []).append(row)
        for label, margin in zip(judged.table.to_pylist(), judged.margin.tolist(), strict=True):
            worst.append(_worst_item(label, lang, margin, grouped[label["item_id"]], by_id))
    worst.sort(key=lambda item: (item["margin"], item["item_id"], item["paradigm"]))
    distinct: dict[tuple[str, ...], WorstItem] = {}
    for item in worst:
        distinct.setdefault((item["lang"], *(side["text"] for side in item["sides"])), item)
    return [*distinct.values()][:count]


def wrong_answers(
    model: str,
    name: str,
    benchmark: BenchmarkFacts,
    judgements: Mapping[str, Mapping[str, Judged]],
    *,
    results: str,
    count: int,
) -> list[WrongAnswer]:
    """``count`` prompts of all languages that a model answered wrongly.

    Answers have no margin, so none is the worst: prompts are drawn by digests of their ids.
    Raises UserError when a table is missing or broken.
    """
    wrong = []
    for lang, models in judgements.items():
        if model in models:
            positions = np.flatnonzero(models[model].correct == 0)
            ids = models[model].table["item_id"].take(pa.array(positions)).to_pylist()
            digests = (hashlib.blake2b(item.encode()).hexdigest() for item in ids)
            wrong += [(d, lang, row) for d, row in zip(digests, positions.tolist(), strict=True)]
    drawn = heapq.nsmallest(count, wrong)
    answers: list[WrongAnswer] = []
    for lang in dict.fromkeys(lang for _, lang, _ in drawn):
        rows = np.array([row for _, code, row in drawn if code == lang], dtype=np.int64)
        labels = at(judgements[lang][model], rows).table.to_pylist()
        ids = [label["item_id"] for label in labels]
        items = Path(benchmark["items"][lang])
        asked = _rows(PROMPTS, items, ["item_id", "prompt", "answer"], "item_id", ids)
        path = Path(model_table(results, "answers", name, lang, model))
        answered = _rows(ANSWERS, path, ["item_id", "status", "text"], "item_id", ids)
        prompts = {row["item_id"]: row for row in asked}
        texts = {row["item_id"]: row for row in answered}
        for label in labels:
            item = label["item_id"]
            answers.append(
                {
                    "item_id": item,
                    "lang": lang,
                    "phenomenon": label["phenomenon"],
                    "paradigm": label["paradigm"],
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
    """Count a model's answers in each language.

    Judgements of earlier versions have neither count. Raises UserError when a table is missing or
    broken.
    """
    counts: list[Written] = []
    for lang in benchmark["languages"][model]:
        rows = read_parquet(Path(model_table(results, "judgements", name, lang, model)))
        rows = rows.filter(
            pc.equal(rows["method"].cast(pa.string()), benchmark["methods"][model][0])
        )
        rows = rows.filter(pc.is_valid(rows["correct"]))
        path = Path(model_table(results, "answers", name, lang, model))
        answers = read_table(ANSWERS, path, ["finish", "tokens"])
        cut = answers.filter(pc.equal(answers["finish"].cast(pa.string()), "length"))
        counts.append(
            {
                "lang": lang,
                "n": len(rows),
                "cut": _count(rows, "cut"),
                "limit": pc.max(cut["tokens"]).as_py() or 0,
                "echoes": _count(rows, "echo"),
            }
        )
    return counts


def _count(rows: pa.Table, name: str) -> int | None:
    """Count rows whose column is true; None where a row does not say."""
    if name not in rows.column_names or rows[name].null_count:
        return None
    return int(pc.sum(rows[name]).as_py() or 0)
