"""Find skipped items, paired tests, worst items and wrong answers of models on a benchmark.

``Tables`` reads the tables of an evaluation. A judgement is a row that says whether a model is
right on an item (``correct``: 1, 0, a half for a tie if the benchmark counts ties so, or NaN
without a verdict), and by which ``margin``. An item is skipped if it has no verdict. The results
are for the report card (``build``) and comparisons (``compare``). A faulty table raises UserError.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.analysis.statistics import EXACT_BELOW, KEY, compare
from blimpworks.audit.lineage import manifest_behind
from blimpworks.evaluation.card import MEAN, OUTPUTS, BenchmarkFacts, Facts, Record, model_table
from blimpworks.exhibits.shared import read_plain
from blimpworks.items import ALL, APART
from blimpworks.judging.sample import CONDITIONS, item_key
from blimpworks.scoring.tokens import align, align_single, words_of
from blimpworks.tables import (
    ACCURACIES,
    ANSWERS,
    ITEMS,
    JUDGEMENTS,
    PROMPTS,
    SCORES,
    TableSchema,
    read_parquet,
    read_table,
)

OK, TOO_LONG = "ok", "too_long"
REASONS = {
    "refused": "refused by the engine, such as for tokens that the model has no embedding of",
    "out_of_memory": "for which the memory did not suffice",
    "not_finite": "with a score that is no number",
    "empty": "without a token that could be scored",
    "altered": "that the model's chat template changes",
}
"""Ends of "3 items skipped: …", by status of the sentence or prompt in scores or answers."""
JUDGEMENT_COLUMNS = [*KEY, "phenomenon", "method", "correct", "margin"]
"""Columns of judgements that are read. A missing verdict (``correct``) or margin is NaN."""


@dataclass(frozen=True)
class Tables:
    """The tables of one benchmark in an evaluation, read when they are first needed.

    The report card has results by the first of several judging methods, the main method.
    """

    name: str
    facts: Facts

    @cached_property
    def benchmark(self) -> BenchmarkFacts:
        return self.facts["benchmarks"][self.name]

    @cached_property
    def methods(self) -> dict[str, str]:
        return {model: methods[0] for model, methods in self.benchmark["methods"].items()}

    @cached_property
    def accuracies(self) -> pd.DataFrame:
        """Accuracies by the main methods: overall, by phenomenon, and by paradigm."""
        frame = read_plain(ACCURACIES, Path(self.benchmark["accuracies"]))
        by_main: pd.DataFrame = frame[frame["method"] == frame["model"].map(self.methods)]
        return by_main

    @cached_property
    def printed(self) -> pd.DataFrame:
        """Accuracies that the benchmark's paper prints; no rows if it prints none."""
        path = self.benchmark["printed"]
        return read_plain(ACCURACIES, [Path(path)] if path else [])

    @cached_property
    def judgements(self) -> Mapping[str, Mapping[str, pd.DataFrame]]:
        """Judgements by the main methods, keyed by language, then by model.

        There is a row for each item and paradigm: two rows for a pair that is in two paradigms.
        """
        by_lang: dict[str, dict[str, pd.DataFrame]] = {lang: {} for lang in self.benchmark["items"]}
        for model, languages in self.benchmark["languages"].items():
            for lang in languages:
                path = self.path("judgements", lang, model)
                rows = read_plain(JUDGEMENTS, path, JUDGEMENT_COLUMNS)
                main = rows[rows["method"] == self.methods[model]]
                by_lang[lang][model] = main.reset_index(drop=True)
        return by_lang

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Names of phenomena as the paper prints them, by key; empty if it prints the keys."""
        address = self.benchmark["names"]
        return cast(Mapping[str, str], resolve_name(address)) if address else {}

    def path(self, folder: str, lang: str, model: str) -> Path:
        """Return the path of a model's ``judgements``, ``scores`` or ``answers`` in a language."""
        return Path(model_table(self.facts["results"], folder, self.name, lang, model))

    def judged(self, model: str) -> pd.DataFrame:
        """Return a model's judgements in all languages, with a column ``lang``."""
        frames = {lang: rows[model] for lang, rows in self.judgements.items() if model in rows}
        return pd.concat([rows.assign(lang=lang) for lang, rows in frames.items()])


# Skipped items


def why_skipped(ids: Iterable[str], items: Path, outputs: Path, method: str) -> list[str]:
    """Return why each item has no verdict by ``method``: a phrase for each of ``ids``.

    ``items`` is the table of items, ``outputs`` that of the model's scores or answers.
    """
    if not outputs.is_file():
        return ["for unknown reasons, since there is no table of scores or answers" for _ in ids]
    table = read_parquet(outputs, ["item_id", "status"]).to_pandas()
    failed = table[table["status"] != OK]
    status_by_row = dict(zip(failed["item_id"], failed["status"].astype(str), strict=True))
    status_by_item: dict[str, str] = {}
    if status_by_row:
        # An item can have several rows, its conditions; outputs have the ids of rows.
        rows = read_parquet(items, ["item_id", *CONDITIONS])
        item_ids = rows[item_key(rows.column_names)].to_pylist()
        for item, row in zip(item_ids, rows["item_id"].to_pylist(), strict=True):
            if row in status_by_row:
                status_by_item[item] = status_by_row[row]
    reasons = dict(REASONS)
    if TOO_LONG in status_by_item.values():
        manifest = manifest_behind(outputs)
        checks = json.loads(manifest.read_bytes()).get("checks", {}) if manifest else {}
        context = f"{int(checks['limit']):,} tokens" if checks.get("limit") else "context"
        reasons[TOO_LONG] = f"longer than the model's {context}"
    # Other items were scored or answered, so the method is the reason.
    by_method = f"on which {method} gives no verdict, such as for unknown words"
    return [reasons.get(status_by_item.get(item, OK), by_method) for item in ids]


Skipped = dict[tuple[str, str], dict[str, Record]]
"""Numbers of skipped items, keyed by (language, phenomenon), either of which may be ``all``.

Each value is {model: count}: {("eng", "all"): {"gpt2": {"n": 3, "of": 100, "reasons": {"longer than
…": 3}}}}. ``n`` of the ``of`` items are skipped.
"""


def skipped_items(tables: Tables) -> Skipped:
    """Count the items without a verdict: in each language, and in all if there are several."""
    counts: Skipped = {}
    benchmark = tables.benchmark
    has_languages = len(tables.judgements) > 1
    for lang, models in tables.judgements.items():
        for model, judged in models.items():
            reasons = pd.Series(None, index=judged.index, dtype=object)  # None: not skipped
            is_skipped = judged["correct"].isna()
            if is_skipped.any():
                ids, items = judged.loc[is_skipped, "item_id"], Path(benchmark["items"][lang])
                outputs = tables.path(OUTPUTS[benchmark["unit"]], lang, model)
                reasons[is_skipped] = why_skipped(ids, items, outputs, tables.methods[model])
            # An item counts in its phenomenon and in all, in its language and in all.
            groups: Iterable[Any] = reasons.groupby(judged["phenomenon"], sort=False)
            for phenomenon, reasons_of_items in [(ALL, reasons), *groups]:
                reason_counts = Counter(reasons_of_items.dropna())
                for scope in [lang, ALL] if has_languages else [lang]:
                    count_by_model = counts.setdefault((scope, phenomenon), {})
                    empty: Record = {"n": 0, "of": 0, "reasons": Counter()}
                    count = count_by_model.setdefault(model, empty)
                    count["n"] += reason_counts.total()
                    count["of"] += len(reasons_of_items)
                    count["reasons"] += reason_counts
    if has_languages:
        counts[MEAN, ALL] = counts[ALL, ALL]  # a mean over languages is over the same items
    return counts


# Tests


def paired_tests(tables: Tables) -> list[Record]:
    """Compare every two models by McNemar's test (keys: ``Benchmark.tests``).

    There is a test for each language, and one over all languages that both models judged. p-values
    are not corrected. A tie counts as wrong, though it may count half in an accuracy.
    """
    models = [*tables.benchmark["languages"]]
    if len(models) < 2:
        return []
    exact_below = EXACT_BELOW if tables.benchmark["mcnemar"] == "corrected" else 0
    verdicts_by_lang = {}  # arrays [item, model]
    skipped_verdict = -1.0  # in place of NaN, which is for items that the model was not run on
    for lang, frames in tables.judgements.items():
        columns = {
            model: rows.drop_duplicates(KEY).set_index(KEY)["correct"].fillna(skipped_verdict)
            for model, rows in frames.items()
        }
        wide = pd.concat(columns, axis="columns")
        verdicts_by_lang[lang] = wide.reindex(columns=models).to_numpy(dtype=float)
    if len(verdicts_by_lang) > 1:
        verdicts_by_lang = {ALL: np.concatenate([*verdicts_by_lang.values()]), **verdicts_by_lang}
    tests: list[Record] = []
    for lang, verdicts in verdicts_by_lang.items():
        was_run = ~np.isnan(verdicts)
        was_judged = was_run & (verdicts != skipped_verdict)
        for row in compare(verdicts == 1, was_judged, exact_below):
            a, b, n = row["a"], row["b"], int(row["n"])
            if a > b:
                continue  # ``compare`` yields each pair of models in both orders
            skipped = int((was_run[:, a] & was_run[:, b]).sum()) - n
            test = {"lang": lang, "a": models[a], "b": models[b], "n": n, "skipped": skipped}
            test["only_a"], test["only_b"] = int(row["only_a"]), int(row["only_b"])
            # ``with_holm`` sets "adjusted", as it needs the tests of all benchmarks.
            tests.append({**test, "p": row["p"], "adjusted": row["p"]})
    # Two models with a single language in common need no test over all languages: it is the same.
    language_counts = Counter((test["a"], test["b"]) for test in tests if test["lang"] != ALL)
    return [t for t in tests if t["lang"] != ALL or language_counts[t["a"], t["b"]] > 1]


def with_holm(tests: Sequence[Record]) -> list[Record]:
    """Return the tests with p-values (``adjusted``) that Holm's method corrects for all of them."""
    if not tests:
        return []
    from statsmodels.stats.multitest import multipletests  # slow; one model has no tests

    adjusted = multipletests([test["p"] for test in tests], method="holm")[1]
    return [{**test, "adjusted": float(p)} for test, p in zip(tests, adjusted, strict=True)]


# Items

ITEM_LABELS = ("item_id", "lang", "phenomenon", "paradigm")


def _rows_by_item(
    schema: TableSchema, path: Path | str, columns: Sequence[str], ids: Iterable[str]
) -> dict[str, list[Record]]:
    """Return the rows of items, by ``ids``: one row, or several if the item has conditions."""
    table = read_table(schema, Path(path), columns)
    key = item_key(table.column_names)
    is_wanted = pc.is_in(table[key], value_set=pa.array(ids, pa.string()))
    rows: dict[str, list[Record]] = {}
    for row in table.filter(is_wanted).to_pylist():
        rows.setdefault(row[key], []).append(row)
    return rows


def _sides_and_blocks(rows: Sequence[Record], scores: Mapping[str, Sequence[Record]]) -> Record:
    """Return an item's ``sides`` and ``blocks`` (see ``Benchmark.worst``) from its rows.

    ``scores``: {id of a row: [its row in the table of scores]}.
    """
    first = rows[0]
    is_pair = "condition" not in first and first["good"] != first["bad"]
    if "condition" in first:
        names_rows_columns = [(row["condition"], row, "good") for row in rows]
    elif is_pair:
        names_rows_columns = [("good", first, "good"), ("bad", first, "bad")]
    else:  # an item of one sentence
        names_rows_columns = [("good", first, "good")]
    sides, words_of_sides = [], []
    for name, row, column in names_rows_columns:
        [scored] = scores[row["item_id"]]
        logprob = scored[f"logprob_{column}"]
        logprob = None if logprob is None or math.isnan(logprob) else logprob
        # The control character between a context and its word is shown as a bar.
        text = row[column].replace(APART, "|")
        sides.append({"name": name, "text": text, "logprob": logprob})
        ends, logprobs = scored[f"{column}_ends"] or [], scored[f"{column}_logprobs"] or []
        words_of_sides.append(words_of(row[column], ends, logprobs))
    blocks = [align(*words_of_sides)] if is_pair else [*map(align_single, words_of_sides)]
    return {"sides": sides, "blocks": blocks}


def worst_items(tables: Tables, model: str) -> list[Record]:
    """Return the wrongly judged items with the largest margins (keys: ``Benchmark.worst``)."""
    item_columns = ["item_id", "good", "bad", "item", "condition"]
    score_columns = [
        "item_id", "logprob_good", "logprob_bad",
        "good_logprobs", "good_ends", "bad_logprobs", "bad_ends",
    ]  # fmt: skip
    judged, order = tables.judged(model), ["margin", "item_id", "paradigm"]
    count = tables.facts["worst"]
    # Of items with the same sentences only the first is returned, so more are read: thrice as many.
    lowest = judged[judged["margin"] < 0].sort_values([*order, "lang"]).head(3 * count)
    worst: list[Record] = []
    for lang, lowest_of_lang in lowest.groupby("lang", sort=False):
        path = tables.benchmark["items"][str(lang)]
        rows_by_item = _rows_by_item(ITEMS, path, item_columns, lowest_of_lang["item_id"])
        ids = [row["item_id"] for rows in rows_by_item.values() for row in rows]
        scores = _rows_by_item(SCORES, tables.path("scores", str(lang), model), score_columns, ids)
        for item in lowest_of_lang.to_dict("records"):
            labels = {name: item[name] for name in (*ITEM_LABELS, "margin")}
            worst.append({**labels, **_sides_and_blocks(rows_by_item[item["item_id"]], scores)})
    worst.sort(key=lambda item: [item[name] for name in order])
    item_by_texts: dict[tuple[str, ...], Record] = {}  # keys: language and sentences
    for worst_item in worst:
        texts = (side["text"] for side in worst_item["sides"])
        item_by_texts.setdefault((worst_item["lang"], *texts), worst_item)
    return [*item_by_texts.values()][:count]


def wrong_answers(tables: Tables, model: str) -> list[Record]:
    """Return a sample of wrong answers (keys: ``Benchmark.wrong``)."""
    rows = tables.judged(model)
    wrong = rows[rows["correct"] == 0]
    # Shuffle by digests of the ids: this order looks random, and is always the same.
    digests = [hashlib.blake2b(item.encode()).hexdigest() for item in wrong["item_id"]]
    shuffled = wrong.assign(digest=digests).sort_values(["digest", "lang"], kind="stable")
    answers: list[Record] = []
    for lang, judged in shuffled.head(tables.facts["worst"]).groupby("lang", sort=False):
        ids, path = judged["item_id"], tables.benchmark["items"][str(lang)]
        prompts = _rows_by_item(PROMPTS, path, ["item_id", "prompt", "answer"], ids)
        answers_path = tables.path("answers", str(lang), model)
        texts = _rows_by_item(ANSWERS, answers_path, ["item_id", "status", "text"], ids)
        for row in judged.to_dict("records"):
            [prompt], [answer] = prompts[row["item_id"]], texts[row["item_id"]]
            answers.append(
                {
                    **{name: row[name] for name in ITEM_LABELS},
                    "prompt": prompt["prompt"],
                    "expected": prompt["answer"] or "",
                    "answer": answer["text"] or "",
                    "status": str(answer["status"]),
                }
            )
    return answers


def written_answers(tables: Tables, model: str) -> list[Record]:
    """Count a model's answers, cut answers and echoes by language (keys: ``Benchmark.written``)."""
    counts: list[Record] = []
    for lang in tables.benchmark["languages"][model]:
        rows = read_parquet(tables.path("judgements", lang, model)).to_pandas()
        rows = rows[(rows["method"] == tables.methods[model]) & rows["correct"].notna()]
        path = tables.path("answers", lang, model)
        answers = read_table(ANSWERS, path, ["finish", "tokens"]).to_pandas()
        longest_cut = answers.loc[answers["finish"] == "length", "tokens"].max()
        count: Record = {"lang": lang, "n": len(rows)}
        for key, column in (("cut", "cut"), ("echoes", "echo")):
            # Judgements of earlier versions lack these columns.
            is_known = column in rows and rows[column].notna().all()
            count[key] = int(rows[column].sum()) if is_known else None
        counts.append({**count, "limit": 0 if pd.isna(longest_cut) else int(longest_cut)})
    return counts
