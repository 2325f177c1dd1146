"""Read a benchmark's tables in an evaluation: skipped items, tests, worst items and wrong answers.

Functions raise UserError when a table is missing or broken.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.analysis.statistics import EXACT_BELOW, KEY, compare
from blimpworks.campaign.registry import load
from blimpworks.evaluation.card import (
    ALL,
    MEAN,
    OUTPUTS,
    BenchmarkFacts,
    Facts,
    Record,
    model_table,
)
from blimpworks.judging.sample import CONDITIONS, item_key
from blimpworks.parquet import read_parquet
from blimpworks.scoring.words import align, single, words_of
from blimpworks.tables import (
    ACCURACIES,
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
Cells = dict[tuple[str, str], dict[str, Record]]
"""Skipped items by language and phenomenon (``all`` for all of them), then by model."""
COLUMNS = [*KEY, "phenomenon", "method", "correct", "margin"]


def read_accuracies(path: Path) -> pd.DataFrame:
    """Read a table of accuracies, with labels as plain strings."""
    rows = read_table(ACCURACIES, path).to_pandas()
    plain: pd.DataFrame = rows.astype(dict.fromkeys(rows.select_dtypes("category"), object))
    return plain


def read_judgements(path: Path) -> pd.DataFrame:
    """Read judgements by all methods; NaN where there is no verdict or margin."""
    frame: pd.DataFrame = read_table(JUDGEMENTS, path, COLUMNS).to_pandas()
    return frame.astype(dict.fromkeys(["paradigm", "phenomenon", "method"], object))


@dataclass(frozen=True)
class Tables:
    """The tables of a benchmark in an evaluation."""

    name: str
    facts: Facts

    @cached_property
    def benchmark(self) -> BenchmarkFacts:
        """The facts on the benchmark."""
        return self.facts["benchmarks"][self.name]

    @cached_property
    def methods(self) -> dict[str, str]:
        """Main methods by model."""
        return {model: methods[0] for model, methods in self.benchmark["methods"].items()}

    @cached_property
    def accuracies(self) -> pd.DataFrame:
        """Accuracies by the main methods, down to paradigms."""
        frame = read_accuracies(Path(self.benchmark["accuracies"]))
        kept: pd.DataFrame = frame[frame["method"] == frame["model"].map(self.methods)]
        return kept

    @cached_property
    def printed(self) -> pd.DataFrame:
        """Accuracies that the benchmark's paper prints; no rows where it prints none."""
        path = self.benchmark["printed"]
        return read_accuracies(Path(path)) if path else pd.DataFrame(columns=ACCURACIES.names)

    @cached_property
    def judgements(self) -> Mapping[str, Mapping[str, pd.DataFrame]]:
        """Judgements by the main methods, by language and model.

        A row per item and paradigm: a pair of two paradigms has two.
        """
        judgements: dict[str, dict[str, pd.DataFrame]] = {
            lang: {} for lang in self.benchmark["items"]
        }
        for model, languages in self.benchmark["languages"].items():
            for lang in languages:
                rows = read_judgements(self.path("judgements", lang, model))
                main = rows[rows["method"] == self.methods[model]]
                judgements[lang][model] = main.reset_index(drop=True)
        return judgements

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Printed names of phenomena whose keys are no names."""
        address = self.benchmark["names"]
        return cast(Mapping[str, str], load(address)) if address else {}

    def path(self, folder: str, lang: str, model: str) -> Path:
        """Return the path of a model's ``judgements``, ``scores`` or ``answers`` in a language."""
        return Path(model_table(self.facts["results"], folder, self.name, lang, model))

    def judged(self, model: str) -> pd.DataFrame:
        """Return a model's judgements in all languages, with a column ``lang``."""
        frames = {
            lang: models[model] for lang, models in self.judgements.items() if model in models
        }
        return pd.concat([rows.assign(lang=lang) for lang, rows in frames.items()])


# What was skipped


def _too_long(outputs: Path) -> str:
    """Return the reason ``too_long`` in words, with the limit from the scores' manifest."""
    for entry in (made_by(outputs) or {}).get("inputs", []):
        recorded = Path(entry["path"])
        if recorded.name == "manifest.json":
            manifest = outputs.parents[3].joinpath(*recorded.parts[-4:])
            if manifest.is_file():
                limit = json.loads(manifest.read_bytes()).get("checks", {}).get("limit", "")
                if limit:
                    return f"longer than the model's {int(limit):,} tokens"
            break
    return "longer than the model's context"


def why_skipped(ids: Iterable[str], items: Path, outputs: Path, method: str) -> list[str]:
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


def skipped_items(tables: Tables) -> Cells:
    """Count the items without a verdict by reason, also over several languages together."""
    cells: Cells = {}
    benchmark = tables.benchmark
    several = len(tables.judgements) > 1
    for lang, models in tables.judgements.items():
        for model, judged in models.items():
            lost, reasons = judged[judged["correct"].isna()], list[str]()
            if len(lost):
                outputs = tables.path(OUTPUTS[benchmark["unit"]], lang, model)
                items = Path(benchmark["items"][lang])
                reasons = why_skipped(lost["item_id"], items, outputs, tables.methods[model])
            for scope in [lang, ALL] if several else [lang]:
                for phenomenon, n in [(ALL, len(judged)), *Counter(judged["phenomenon"]).items()]:
                    models_cells = cells.setdefault((scope, phenomenon), {})
                    models_cells.setdefault(model, {"n": 0, "of": 0, "reasons": {}})["of"] += n
                for phenomenon, reason in zip(lost["phenomenon"], reasons, strict=True):
                    for cell in (cells[scope, phenomenon][model], cells[scope, ALL][model]):
                        cell["n"] += 1
                        cell["reasons"][reason] = cell["reasons"].get(reason, 0) + 1
    return {**cells, (MEAN, ALL): cells[ALL, ALL]} if several else cells


# Tests


def paired_tests(tables: Tables) -> list[Record]:
    """Test each two models by McNemar, uncorrected; a tie that counts half is not right."""
    models = [*tables.benchmark["languages"]]
    if len(models) < 2:
        return []
    exact_below = EXACT_BELOW if tables.benchmark["mcnemar"] == "corrected" else 0
    unjudged = -1.0
    verdicts = {}
    for lang, frames in tables.judgements.items():
        columns = {}
        for model, rows in frames.items():
            columns[model] = rows.drop_duplicates(KEY).set_index(KEY)["correct"].fillna(unjudged)
        wide = pd.concat(columns, axis="columns")
        verdicts[lang] = wide.reindex(columns=models).to_numpy(dtype=float)
    if len(verdicts) > 1:
        verdicts = {ALL: np.concatenate([*verdicts.values()]), **verdicts}
    tests: list[Record] = []
    for lang, correct in verdicts.items():
        run = ~np.isnan(correct)
        for row in compare(correct == 1, run & (correct != unjudged), exact_below):
            a, b = row["a"], row["b"]
            if a < b:
                n = int(row["n"])
                tests.append(
                    {
                        "lang": lang,
                        "a": models[a],
                        "b": models[b],
                        "n": n,
                        "skipped": int((run[:, a] & run[:, b]).sum()) - n,
                        "only_a": int(row["only_a"]),
                        "only_b": int(row["only_b"]),
                        "p": row["p"],
                        "adjusted": row["p"],
                    }
                )
    # Of one language in common, all languages together would be the same test again.
    common = Counter((test["a"], test["b"]) for test in tests if test["lang"] != ALL)
    return [t for t in tests if t["lang"] != ALL or common[t["a"], t["b"]] > 1]


def with_holm(tests: Sequence[Record]) -> list[Record]:
    """Correct the tests' p-values by Holm's method for their number."""
    if not tests:
        return []
    from statsmodels.stats.multitest import multipletests  # slow; one model has no tests

    adjusted = multipletests([test["p"] for test in tests], method="holm")[1]
    return [{**test, "adjusted": float(p)} for test, p in zip(tests, adjusted, strict=True)]


# Items


MORE = 3
"""Factor of items that are read over those shown, because some share their sentences."""
TEXTS = ("item_id", "good", "bad", "item", "condition")
SCORED = [
    "item_id",
    *("logprob_good", "logprob_bad"),
    *(f"{side}_{name}" for side in ("good", "bad") for name in ("logprobs", "ends")),
]
LABELS = ("item_id", "lang", "phenomenon", "paradigm")


def _by_item(
    schema: TableSchema, path: Path | str, columns: Sequence[str], ids: Iterable[str]
) -> dict[str, list[Record]]:
    """Read the rows of some items, which have a row per condition or one."""
    table = read_table(schema, Path(path), columns)
    key = item_key(table.column_names)
    rows: dict[str, list[Record]] = {}
    for row in table.filter(pc.is_in(table[key], value_set=pa.array(ids, pa.string()))).to_pylist():
        rows.setdefault(row[key], []).append(row)
    return rows


def worst_items(tables: Tables, model: str) -> list[Record]:
    """Return the distinct items with the most negative margins, with their sentences and words."""
    rows, by = tables.judged(model), ["margin", "item_id", "paradigm"]
    most = tables.facts["worst"]
    lowest = rows[rows["margin"] < 0].sort_values([*by, "lang"]).head(MORE * most)
    worst: list[Record] = []
    for lang, judged in lowest.groupby("lang", sort=False):
        path = tables.benchmark["items"][str(lang)]
        texts = _by_item(ITEMS, path, TEXTS, judged["item_id"])
        ids = [row["item_id"] for rows in texts.values() for row in rows]
        scores = _by_item(SCORES, tables.path("scores", str(lang), model), SCORED, ids)
        for item in judged.to_dict("records"):
            conditions = texts[item["item_id"]]
            first, is_pair = conditions[0], False
            if "condition" in first:
                sentences = [(row["condition"], row, "good") for row in conditions]
            else:
                is_pair = first["good"] != first["bad"]
                sides_of_item = ("good", "bad") if is_pair else ("good",)
                sentences = [(side, first, side) for side in sides_of_item]
            sides, words = [], []
            for name, row, side in sentences:
                [scored] = scores[row["item_id"]]
                logprob = scored[f"logprob_{side}"]
                logprob = None if logprob is None or math.isnan(logprob) else logprob
                sides.append({"name": name, "text": row[side], "logprob": logprob})
                ends, logprobs = scored[f"{side}_ends"] or [], scored[f"{side}_logprobs"] or []
                words.append(words_of(row[side], ends, logprobs))
            blocks = [align(*words)] if is_pair else [single(sentence) for sentence in words]
            labels = {name: item[name] for name in LABELS}
            worst.append({**labels, "margin": item["margin"], "sides": sides, "blocks": blocks})
    worst.sort(key=lambda item: [item[name] for name in by])
    distinct: dict[tuple[str, ...], Record] = {}
    for each in worst:
        distinct.setdefault((each["lang"], *(side["text"] for side in each["sides"])), each)
    return [*distinct.values()][:most]


def wrong_answers(tables: Tables, model: str) -> list[Record]:
    """Return some wrong answers, drawn by digests of ids because answers have no margin."""
    rows = tables.judged(model)
    wrong = rows[rows["correct"] == 0]
    digests = [hashlib.blake2b(item.encode()).hexdigest() for item in wrong["item_id"]]
    drawn = wrong.assign(digest=digests).sort_values(["digest", "lang"], kind="stable")
    answers: list[Record] = []
    for lang, judged in drawn.head(tables.facts["worst"]).groupby("lang", sort=False):
        ids, path = judged["item_id"], tables.benchmark["items"][str(lang)]
        prompts = _by_item(PROMPTS, path, ["item_id", "prompt", "answer"], ids)
        answers_path = tables.path("answers", str(lang), model)
        texts = _by_item(ANSWERS, answers_path, ["item_id", "status", "text"], ids)
        for row in judged.to_dict("records"):
            [prompt], [answer] = prompts[row["item_id"]], texts[row["item_id"]]
            answers.append(
                {
                    **{name: row[name] for name in LABELS},
                    "prompt": prompt["prompt"],
                    "expected": prompt["answer"] or "",
                    "answer": answer["text"] or "",
                    "status": str(answer["status"]),
                }
            )
    return answers


def written_answers(tables: Tables, model: str) -> list[Record]:
    """Count answers by language; old judgements lack the counts of cut and repeating ones."""
    counts: list[Record] = []
    for lang in tables.benchmark["languages"][model]:
        rows = read_parquet(tables.path("judgements", lang, model)).to_pandas()
        rows = rows[(rows["method"] == tables.methods[model]) & rows["correct"].notna()]
        path = tables.path("answers", lang, model)
        answers = read_table(ANSWERS, path, ["finish", "tokens"]).to_pandas()
        longest = answers.loc[answers["finish"] == "length", "tokens"].max()
        cut, echoes = (
            int(rows[column].sum()) if column in rows and rows[column].notna().all() else None
            for column in ("cut", "echo")
        )
        limit = 0 if pd.isna(longest) else int(longest)
        counts.append({"lang": lang, "n": len(rows), "cut": cut, "limit": limit, "echoes": echoes})
    return counts
