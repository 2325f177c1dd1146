"""The items that a model got most wrong, with their sentences and words."""

import hashlib
import heapq
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.evaluation.card import Side, WorstItem, WrongAnswer
from blimpworks.evaluation.facts import BenchmarkFacts, model_table
from blimpworks.evaluation.judged import Judged, at, lowest
from blimpworks.scoring.words import Word, align, single, words_of
from blimpworks.tables import ANSWERS, ITEMS, PROMPTS, SCORES, TableSchema, read_table

SIDES = ("good", "bad")
CONDITIONS = ("item", "condition")
"""Columns of items that are several sentences, a row for each: the item, and what it is called."""
MORE = 3
"""How many times as many items are read as shown, because some are of the same sentences."""
SCORED = [
    "item_id",
    *(f"logprob_{side}" for side in SIDES),
    *(f"{side}_{name}" for side in SIDES for name in ("logprobs", "ends")),
]
Row = Mapping[str, Any]
Scores = Mapping[str, Row]
"""Rows of scores by item."""


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


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def _words(row: Row, scores: Row, side: str) -> list[Word]:
    return words_of(row[side], scores[f"{side}_ends"] or [], scores[f"{side}_logprobs"] or [])


def _side(name: str, row: Row, scores: Row, side: str) -> Side:
    return {"name": name, "text": row[side], "logprob": _number(scores[f"logprob_{side}"])}


def _item(
    label: Mapping[str, str], lang: str, margin: float, rows: Sequence[Row], scores: Scores
) -> WorstItem:
    """An item with its sentences and words, from its row, or the rows of its conditions."""
    first = rows[0]
    if "condition" in first:
        parts = [(row["condition"], row, scores[row["item_id"]], "good") for row in rows]
    else:
        sides = SIDES if first["good"] != first["bad"] else SIDES[:1]
        parts = [(side, first, scores[first["item_id"]], side) for side in sides]
    words = [_words(*part[1:]) for part in parts]
    pair = len(parts) == 2 and "condition" not in first
    return {
        "item_id": label["item_id"],
        "lang": lang,
        "phenomenon": label["phenomenon"],
        "paradigm": label["paradigm"],
        "margin": float(margin),
        "sides": [_side(*part) for part in parts],
        "blocks": [align(*words)] if pair else [single(each) for each in words],
    }


def _with_sentences(judged: Judged, lang: str, items: Path, scores: Path) -> list[WorstItem]:
    """Items with their sentences and words.

    Raises UserError when a table is missing or broken.
    """
    ids = judged.table["item_id"].to_pylist()
    columns = ["item_id", "paradigm", *SIDES, *CONDITIONS]
    rows = _rows(ITEMS, items, columns, "item_id", ids)
    key = "item_id"
    if not rows:
        key, rows = "item", _rows(ITEMS, items, columns, "item", ids)
    scored = _rows(SCORES, scores, SCORED, "item_id", [row["item_id"] for row in rows])
    by_id = {row["item_id"]: row for row in scored}
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row[key], []).append(row)
    labels = judged.table.to_pylist()
    return [
        _item(label, lang, margin, grouped[item], by_id)
        for label, margin, item in zip(labels, judged.margin.tolist(), ids, strict=True)
    ]


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
    candidates = (
        (float(each.margin[row]), each.keys[row].as_py(), lang, int(row))
        for lang, models in judgements.items()
        for each in [models[model] for _ in [model] if model in models]
        for row in lowest(each, MORE * count)
    )
    chosen = heapq.nsmallest(MORE * count, candidates)
    items: list[WorstItem] = []
    for lang in dict.fromkeys(lang for _, _, lang, _ in chosen):
        rows = np.array([row for _, _, code, row in chosen if code == lang], dtype=np.int64)
        path = Path(model_table(results, "scores", name, lang, model))
        judged = at(judgements[lang][model], rows)
        items += _with_sentences(judged, lang, Path(benchmark["items"][lang]), path)
    ordered = sorted(items, key=lambda item: (item["margin"], item["item_id"], item["paradigm"]))
    distinct: dict[tuple[str, ...], WorstItem] = {}
    for each in ordered:
        distinct.setdefault((each["lang"], *(side["text"] for side in each["sides"])), each)
    return [*distinct.values()][:count]


def _drawn(judged: Judged, count: int) -> list[tuple[str, int]]:
    """Wrong answers in an order that has nothing to do with the items': their ids' digests."""
    wrong = np.flatnonzero(judged.correct == 0)
    ids = judged.table["item_id"].take(pa.array(wrong)).to_pylist()
    digests = (hashlib.blake2b(item.encode()).hexdigest() for item in ids)
    return heapq.nsmallest(count, zip(digests, wrong.tolist(), strict=True))


def wrong_answers(
    model: str,
    name: str,
    benchmark: BenchmarkFacts,
    judgements: Mapping[str, Mapping[str, Judged]],
    *,
    results: str,
    count: int,
) -> list[WrongAnswer]:
    """``count`` prompts of all languages that a model answered wrongly, drawn by their ids.

    Answers have no margin, so none is the worst. Raises UserError when a table is missing or
    broken.
    """
    drawn = heapq.nsmallest(
        count,
        (
            (digest, lang, row)
            for lang, models in judgements.items()
            if model in models
            for digest, row in _drawn(models[model], count)
        ),
    )
    answers: list[WrongAnswer] = []
    for lang in dict.fromkeys(lang for _, lang, _ in drawn):
        rows = np.array([row for _, code, row in drawn if code == lang], dtype=np.int64)
        labels = at(judgements[lang][model], rows).table.to_pylist()
        ids = [label["item_id"] for label in labels]
        columns = ["item_id", "prompt", "answer"]
        items = Path(benchmark["items"][lang])
        prompts = {r["item_id"]: r for r in _rows(PROMPTS, items, columns, "item_id", ids)}
        path = Path(model_table(results, "answers", name, lang, model))
        texts = _rows(ANSWERS, path, ["item_id", "status", "text"], "item_id", ids)
        given = {r["item_id"]: r for r in texts}
        answers += [
            {
                "item_id": label["item_id"],
                "lang": lang,
                "phenomenon": label["phenomenon"],
                "paradigm": label["paradigm"],
                "prompt": prompts[label["item_id"]]["prompt"],
                "expected": prompts[label["item_id"]]["answer"] or "",
                "answer": given[label["item_id"]]["text"] or "",
                "status": str(given[label["item_id"]]["status"]),
            }
            for label in labels
        ]
    return answers
