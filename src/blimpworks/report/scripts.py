"""Write the report's data as scripts, because a page that is opened from a file reads no others.

Each script passes JSON to a function of the page: printed numbers and cells by paper, files with
the jobs that made them, and items with verdicts and the words' log-probabilities.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from blimpworks.audit.lineage import Lineage, Node
from blimpworks.exhibits.exhibit import language_tag
from blimpworks.items import SIDES
from blimpworks.judging.sample import CONDITIONS
from blimpworks.records.reading import Record
from blimpworks.report.inventory import exhibit_label
from blimpworks.report.read import Cell, PairSet, PaperInputs
from blimpworks.reproduction.printed import NumberKey
from blimpworks.scoring.tokens import END, words_of
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, read_table

# Numbers and their lineage, for the panel


MOST_ORIGINS = 24
"""Most printed numbers that the panel names as origins of a number."""
NOTED = ("origin", "source", "engine")
"""Notes of jobs to show: the source of a downloaded file, or the scoring engine."""
JOB, INPUTS = 2, 3
"""Indices of a product's job and inputs in its list."""


@dataclass
class Products:
    """Files and the jobs that made them, each listed once.

    A product is [path, SHA-256, job, inputs]: ``job`` is an index of ``jobs``, or -1 for a file
    that no job made; ``inputs`` are indices of ``products``. A job is [command, code, date, commit,
    whether the working tree was clean, notes].
    """

    products: list[list[Any]] = field(default_factory=list)
    jobs: list[list[Any]] = field(default_factory=list)
    _lineage: Lineage = field(default_factory=Lineage)
    _numbers: dict[tuple[Path, str], int] = field(default_factory=dict)
    _jobs: dict[str, int] = field(default_factory=dict)

    def add(self, path: Path) -> int | None:
        """Add a file with all its inputs; return its index, or None if no record names it."""
        node = self._lineage.product(path)
        if node is None:
            return None
        number = self._number(node)
        waiting = [node]
        while waiting:
            node = waiting.pop()
            product = self.products[self._number(node)]
            if product[INPUTS] is None:
                product[JOB] = self._job(node.record) if node.record else -1
                waiting += [n for n in node.inputs if (n.path, n.sha256) not in self._numbers]
                product[INPUTS] = [self._number(source) for source in node.inputs]
        return number

    def _number(self, node: Node) -> int:
        key = (node.path, node.sha256)
        if key not in self._numbers:
            self._numbers[key] = len(self.products)
            self.products.append([str(node.path), node.sha256, -1, None])
        return self._numbers[key]

    def _job(self, record: Record) -> int:
        """Add the job of a record, once for all its outputs; return its index."""
        first = record["outputs"][0]["path"]
        key = f"{record['verb']} {first} {record['started']}"
        if key not in self._jobs:
            self._jobs[key] = len(self.jobs)
            git = record["git"]
            notes = record.get("notes") or {}
            noted: dict[str, str] = {}
            for name in NOTED:
                note = notes.get(name)
                entries = note.items() if isinstance(note, dict) else [(name, note)]
                noted |= {str(key): str(value) for key, value in entries if value}
            made = [record["verb"], record["code"], record["ended"][:10]]
            self.jobs.append([*made, (git["commit"] or "")[:12], git["clean"], noted])
        return self._jobs[key]


def _cell(cell: Cell, number_keys: Mapping[str, NumberKey]) -> dict[str, Any]:
    """Return a cell for the panel; a copy of a printed number has only its key."""
    row, cell_key = cell.facts, cell.key
    if cell_key and cell.is_copy:
        return {"row": row["row"], "column": row["column"], "place": cell_key[1:], "itself": True}
    facts: dict[str, Any] = {}
    for key in ("value", "low", "high"):
        if row[key] is not None and not isnan(row[key]):
            facts[key] = float(f"{row[key]:.10g}")
    facts |= {key: row[key] for key in ("row", "column", "text", "n", "formula", "source")}
    facts |= {"where": row["filter"], "place": list(cell_key[1:]) if cell_key else None}
    facts["of"] = len(cell.origins) or None
    facts["from"] = [number_keys[o] for o in cell.origins[:MOST_ORIGINS] if o in number_keys]
    return {key: value for key, value in facts.items() if value is not None}


def paper_script(paper: PaperInputs, products: Products) -> str:
    """Return the script with all numbers of a paper, and add their inputs to ``products``."""
    printed: dict[str, dict[str, dict[str, Any]]] = {}
    for (exhibit, row, column), number in paper.evidence.items():
        printed.setdefault(exhibit, {}).setdefault(row, {})[column] = number.facts()
    number_keys = {"/".join(cell_key): cell_key for cell_key in paper.evidence}
    forms = {}
    for form in (form for exhibit in paper.exhibits for form in exhibit.forms.values()):
        suffix = ".svg" if form.figure else ".csv"
        forms[form.key] = {
            "file": str(form.files) + suffix,
            "product": products.add(form.files.with_name(f"{form.files.name}.cells.parquet")),
            "cells": [_cell(cell, number_keys) for cell in form.cells],
        }
    labels = {e.name: exhibit_label(e.name) or e.title for e in paper.exhibits}
    names = {"languages": paper.names.labels["lang"], "models": paper.names.labels["model"]}
    return script("paper", {"printed": printed, "forms": forms, "labels": labels, "names": names})


def script(topic: str, content: dict[str, Any]) -> str:
    """Return a script that passes its content to the panel."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f'blimpworks.receive("{topic}",{text});\n'


# Items with verdicts by model, for the page of items: an index of sets (a benchmark in a language),
# and chunks of pairs and of their words, which the page loads on demand. A single sentence is a
# pair without the sentence of the other side.

CHUNK = 1000
"""Pairs in one script."""
MOST_WORDS = 200_000
"""Most pairs × models with words in the site; sets beyond that only have verdicts."""
RIGHT, WRONG, HALF, UNJUDGED = "1", "0", "h", "-"
LABEL_COLUMNS = ("phenomenon", "paradigm")
SCORE_COLUMNS = ["item_id", *(f"{s}_{n}" for s in SIDES for n in ("logprobs", "ends"))]


def _pairs(path: Path) -> list[dict[str, Any]]:
    """Return the distinct pairs or sentences of a table; none if items have several conditions."""
    table = read_table(ITEMS, path)
    if _conditions(table):
        return []
    is_single = "acceptable" in table.column_names and table["good"] == table["bad"]
    label_column = ["acceptable"] if is_single else []
    rows = table.select(["item_id", *LABEL_COLUMNS, *SIDES, *label_column]).to_pylist()
    for row in rows if label_column else ():
        row["bad" if row["acceptable"] else "good"] = None
    return [*{row["item_id"]: row for row in reversed(rows)}.values()][::-1]


def _conditions(table: pa.Table) -> int:
    """Count items of several conditions; 0 for pairs, which may have the same columns."""
    has_conditions = {*table.column_names} >= CONDITIONS and table["good"] == table["bad"]
    return len(table["item"].unique()) if has_conditions else 0


def _verdicts(path: Path, method: str) -> dict[str, str]:
    rows = read_table(JUDGEMENTS, path, ["item_id", "method", "correct"]).to_pandas()
    rows = rows[rows["method"] == method]
    correct = rows["correct"].astype(float)
    cases = [correct.isna(), correct >= 1, correct > 0]
    letters = np.select(cases, [UNJUDGED, RIGHT, HALF], WRONG).tolist()
    return dict(zip(rows["item_id"], letters, strict=True))


def _words(row: Mapping[str, Any], scores: Mapping[str, Any], side: str) -> list[Any]:
    """Return the words' log-probabilities, and the words where spaces do not delimit them."""
    if row[side] is None:
        return [[]]
    ends, logprobs = (scores[f"{side}_{name}"] or [] for name in ("ends", "logprobs"))
    word_scores = words_of(row[side], ends, logprobs)
    numbers = [word["logprob"] for word in word_scores]
    values = [None if number is None else round(number, 2) for number in numbers]
    texts = [word["text"] for word in word_scores]
    between_spaces = re.findall(r"\S+", row[side])
    without_end = texts[:-1] if texts and texts[-1] == END else texts
    return [values] if without_end == between_spaces else [values, texts]


def _script(name: str, content: Any) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"blimpworksItems.receive({json.dumps(name)},{text});\n"


def item_scripts(
    sets: Sequence[PairSet], labels: Mapping[str, Mapping[str, str]], most_words: int = MOST_WORDS
) -> Iterator[tuple[str, str]]:
    """Yield names and texts of all scripts, the index last, with words up to ``most_words``."""
    entries, written = [], 0
    omitted: Counter[str] = Counter()
    for pair_set in sets:
        rows = _pairs(pair_set.items)
        if not rows:
            omitted[pair_set.benchmark] += _conditions(read_table(ITEMS, pair_set.items))
            continue
        size = len(rows) * len(pair_set.scores)
        total_words = written + size <= most_words
        written += size if total_words else 0
        verdicts = [_verdicts(path, pair_set.method) for path in pair_set.judgements.values()]
        scores_by_model = [
            {row["item_id"]: row for row in read_table(SCORES, path, SCORE_COLUMNS).to_pylist()}
            for path in (pair_set.scores.values() if total_words else ())
        ]
        paradigms: dict[tuple[str, str], int] = {}
        for number, start in enumerate(range(0, len(rows), CHUNK)):
            pairs, words_of_pairs = [], []
            for row in rows[start : start + CHUNK]:
                item = row["item_id"]
                labelled = (row["phenomenon"], row["paradigm"])
                paradigm = paradigms.setdefault(labelled, len(paradigms))
                letters = "".join(of_model.get(item, UNJUDGED) for of_model in verdicts)
                pairs.append([item, paradigm, row["good"], row["bad"], letters])
                of_models = []
                for scores in scores_by_model:
                    scored = scores.get(item)
                    of_models.append(scored and [_words(row, scored, side) for side in SIDES])
                words_of_pairs.append(of_models)
            name = f"{pair_set.benchmark}.{pair_set.lang}.{number}"
            yield name, _script(name, pairs)
            if total_words:
                yield f"{name}.words", _script(f"{name}.words", words_of_pairs)
        entries.append(
            {
                "benchmark": pair_set.benchmark,
                "lang": pair_set.lang,
                "tag": language_tag(pair_set.lang),
                "pairs": len(rows),
                "chunks": math.ceil(len(rows) / CHUNK),
                "models": [*pair_set.judgements],
                "paradigms": [*paradigms],
                "words": total_words,
            }
        )
    if entries:
        content = {"sets": entries, "labels": labels, "omitted": [*omitted.items()]}
        yield "index", _script("index", content)
