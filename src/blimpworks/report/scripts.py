"""Return the data of the report's pages as scripts, since pages opened from a disk read no JSON.

``paper_script`` and ``item_scripts`` return texts that pass data to a function of a page, such as

    blimpworks.receive("paper",{"printed":{"table1":{…}},"forms":{…},"labels":{…},"names":{…}});

The data are the printed numbers and cells of each paper, and the files behind them with their jobs
(``Products``). There are also items with models' verdicts and log-probabilities of words.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, isnan
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
"""Most printed numbers that the page's panel names as origins of a number."""
NOTED = ("origin", "source", "engine")
"""Keys of notes in records that are shown: source of a downloaded file, scoring engine."""
JOB, INPUTS = 2, 3
"""Indices of the job and of the inputs in the list of a product (see ``Products``)."""


@dataclass
class Products:
    """Files and the jobs that made them, each once, as lists that become JSON.

    A product is [path, SHA-256, job, inputs]: ``job`` is an index of ``jobs``, or -1 for a file
    that no job made; ``inputs`` are indices of ``products``. A job is [command, digest of the code,
    date, commit, whether the working tree was clean, notes].
    """

    products: list[list[Any]] = field(default_factory=list)
    jobs: list[list[Any]] = field(default_factory=list)
    _lineage: Lineage = field(default_factory=Lineage)
    _indices: dict[tuple[Path, str], int] = field(default_factory=dict)
    _job_indices: dict[str, int] = field(default_factory=dict)

    def add(self, path: Path) -> int | None:
        """Add a file with all its inputs; return its index, or None if no record names it."""
        node = self._lineage.product(path)
        if node is None:
            return None
        index = self._index_of(node)
        waiting = [node]
        while waiting:
            node = waiting.pop()
            product = self.products[self._index_of(node)]
            if product[INPUTS] is None:
                product[JOB] = self._add_job(node.record) if node.record else -1
                # Inputs that have an index already are waiting, or have been added.
                waiting += [n for n in node.inputs if (n.path, n.sha256) not in self._indices]
                product[INPUTS] = [self._index_of(source) for source in node.inputs]
        return index

    def _index_of(self, node: Node) -> int:
        """Return the index of a product; add a new product, still without job and inputs."""
        key = (node.path, node.sha256)
        if key not in self._indices:
            self._indices[key] = len(self.products)
            self.products.append([str(node.path), node.sha256, -1, None])
        return self._indices[key]

    def _add_job(self, record: Record) -> int:
        """Return the index of a record's job; add the job if it is new."""
        key = f"{record['verb']} {record['outputs'][0]['path']} {record['started']}"
        if key not in self._job_indices:
            self._job_indices[key] = len(self.jobs)
            notes: dict[str, str] = {}
            for name in NOTED:
                # A note is a value, or a mapping from names to values.
                note = (record.get("notes") or {}).get(name)
                entries = note.items() if isinstance(note, dict) else [(name, note)]
                notes |= {str(key): str(value) for key, value in entries if value}
            git, date = record["git"], record["ended"][:10]
            commit = (git["commit"] or "")[:12]
            self.jobs.append([record["verb"], record["code"], date, commit, git["clean"], notes])
        return self._job_indices[key]


def _cell(cell: Cell, key_by_origin: Mapping[str, NumberKey]) -> dict[str, Any]:
    """Return a cell's facts for the panel; of a cell that repeats a printed number only the key.

    "place" is the row and column of the printed number. "of" is the number of printed numbers that
    the cell is computed from, and "from" are the keys of some of them.
    """
    row, key = cell.facts, cell.key
    if key and cell.is_copy:
        return {"row": row["row"], "column": row["column"], "place": key[1:], "itself": True}
    facts: dict[str, Any] = {}
    for name in ("value", "low", "high"):
        if row[name] is not None and not isnan(row[name]):
            facts[name] = float(f"{row[name]:.10g}")
    facts |= {name: row[name] for name in ("row", "column", "text", "n", "formula", "source")}
    facts |= {"where": row["filter"], "place": list(key[1:]) if key else None}
    facts["of"] = len(cell.origins) or None
    listed = [origin for origin in cell.origins[:MOST_ORIGINS] if origin in key_by_origin]
    facts["from"] = [key_by_origin[origin] for origin in listed]
    return {name: value for name, value in facts.items() if value is not None}


def paper_script(paper: PaperInputs, products: Products) -> str:
    """Return the script with all numbers of a paper, and add their inputs to ``products``."""
    printed: dict[str, dict[str, dict[str, Any]]] = {}
    for (exhibit, row, column), number in paper.evidence.items():
        printed.setdefault(exhibit, {}).setdefault(row, {})[column] = number.facts()
    key_by_origin = {"/".join(key): key for key in paper.evidence}
    forms = {}
    for form in (form for exhibit in paper.exhibits for form in exhibit.forms.values()):
        suffix = ".svg" if form.figure else ".csv"
        forms[form.key] = {
            "file": str(form.files) + suffix,
            "product": products.add(form.files.with_name(f"{form.files.name}.cells.parquet")),
            "cells": [_cell(cell, key_by_origin) for cell in form.cells],
        }
    labels = {e.name: exhibit_label(e.name) or e.title for e in paper.exhibits}
    names = {"languages": paper.names.labels["lang"], "models": paper.names.labels["model"]}
    return script("paper", {"printed": printed, "forms": forms, "labels": labels, "names": names})


def script(topic: str, content: Any, receiver: str = "blimpworks") -> str:
    """Return a script that passes a topic and its content to an object of the page."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"{receiver}.receive({json.dumps(topic)},{text});\n"


# Items with verdicts by model, for the page of items. A set is a benchmark in a language. The page
# loads an index of sets, and on demand chunks of pairs, and of the pairs' words. A single sentence
# is a pair in which the good or the bad sentence is None.

CHUNK = 1000
"""Pairs in one script."""
MOST_WORDS = 200_000
"""Most pairs × models with words in the site; further sets only have verdicts."""
RIGHT, WRONG, HALF, UNJUDGED = "1", "0", "h", "-"
"""Letters for a model's verdict on a pair; HALF is for a tie that counts half."""
LABEL_COLUMNS = ("phenomenon", "paradigm")
SCORE_COLUMNS = ["item_id", *(f"{s}_{n}" for s in SIDES for n in ("logprobs", "ends"))]


def _pairs_of(table: pa.Table) -> list[dict[str, Any]]:
    """Return the distinct pairs or sentences of a table of items."""
    is_single = "acceptable" in table.column_names and table["good"] == table["bad"]
    label_column = ["acceptable"] if is_single else []
    row_by_item: dict[str, dict[str, Any]] = {}
    for row in table.select(["item_id", *LABEL_COLUMNS, *SIDES, *label_column]).to_pylist():
        if is_single:
            row["bad" if row["acceptable"] else "good"] = None
        # A pair may belong to several paradigms: keep the first row.
        row_by_item.setdefault(row["item_id"], row)
    return [*row_by_item.values()]


def _read_verdicts(path: Path, method: str) -> dict[str, str]:
    rows = read_table(JUDGEMENTS, path, ["item_id", "method", "correct"]).to_pandas()
    rows = rows[rows["method"] == method]
    correct = rows["correct"].astype(float)
    cases = [correct.isna(), correct == 1, correct == 0]
    letters = np.select(cases, [UNJUDGED, RIGHT, WRONG], HALF).tolist()
    return dict(zip(rows["item_id"], letters, strict=True))


def _words(row: Mapping[str, Any], scores: Mapping[str, Any], side: str) -> list[Any]:
    """Return [log-probabilities, words] of a sentence; no words if the page can split at spaces."""
    if row[side] is None:
        return [[]]
    ends, logprobs = (scores[f"{side}_{name}"] or [] for name in ("ends", "logprobs"))
    words_with_scores = words_of(row[side], ends, logprobs)
    texts = [word["text"] for word in words_with_scores]
    logprobs_of_words = [word["logprob"] for word in words_with_scores]
    values = [None if logprob is None else round(logprob, 2) for logprob in logprobs_of_words]
    without_end = texts[:-1] if texts and texts[-1] == END else texts
    return [values] if without_end == re.findall(r"\S+", row[side]) else [values, texts]


def item_scripts(
    sets: Sequence[PairSet], labels: Mapping[str, Mapping[str, str]], most_words: int = MOST_WORDS
) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each script, the index last; ``most_words`` as ``MOST_WORDS``."""
    receiver = "blimpworksItems"
    index_entries, words_written = [], 0
    omitted: Counter[str] = Counter()  # items of several conditions, by benchmark
    for pair_set in sets:
        items = read_table(ITEMS, pair_set.items)
        # Tables of pairs may have the columns of conditions, too; their sentences differ.
        has_conditions = {*items.column_names} >= CONDITIONS and items["good"] == items["bad"]
        if has_conditions or not len(items):
            omitted[pair_set.benchmark] += len(items["item"].unique()) if has_conditions else 0
            continue
        rows = _pairs_of(items)
        size = len(rows) * len(pair_set.scores)
        has_words = words_written + size <= most_words
        words_written += size if has_words else 0
        verdicts = [_read_verdicts(path, pair_set.method) for path in pair_set.judgements.values()]
        scores_by_model = [
            {row["item_id"]: row for row in read_table(SCORES, path, SCORE_COLUMNS).to_pylist()}
            for path in (pair_set.scores.values() if has_words else ())
        ]
        paradigms: dict[tuple[str, str], int] = {}  # {(phenomenon, paradigm): index}
        for number, start in enumerate(range(0, len(rows), CHUNK)):
            pairs, words_of_pairs = [], []
            for row in rows[start : start + CHUNK]:
                item = row["item_id"]
                label = (row["phenomenon"], row["paradigm"])
                paradigm = paradigms.setdefault(label, len(paradigms))
                letters = "".join(verdict_of.get(item, UNJUDGED) for verdict_of in verdicts)
                pairs.append([item, paradigm, row["good"], row["bad"], letters])
                words_of_models = []
                for scores in scores_by_model:
                    score_row = scores.get(item)
                    words_of_models.append(score_row and [_words(row, score_row, s) for s in SIDES])
                words_of_pairs.append(words_of_models)
            name = f"{pair_set.benchmark}.{pair_set.lang}.{number}"
            yield name, script(name, pairs, receiver)
            if has_words:
                yield f"{name}.words", script(f"{name}.words", words_of_pairs, receiver)
        entry: dict[str, Any] = {"benchmark": pair_set.benchmark, "lang": pair_set.lang}
        entry |= {"tag": language_tag(pair_set.lang), "pairs": len(rows)}
        entry |= {"chunks": ceil(len(rows) / CHUNK), "models": [*pair_set.judgements]}
        index_entries.append(entry | {"paradigms": [*paradigms], "words": has_words})
    if index_entries:
        content = {"sets": index_entries, "labels": labels, "omitted": [*omitted.items()]}
        yield "index", script("index", content, receiver)
