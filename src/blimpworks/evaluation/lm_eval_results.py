"""The accuracies of one model as lm-evaluation-harness writes its results, without samples.

Source of the layout: lm-eval 0.4.13 (``result_schema.py``). A task is a benchmark in a language,
``BENCHMARK_LANG``; its phenomena are tasks below it, ``BENCHMARK_LANG_PHENOMENON``. ``acc`` is
the accuracy by the full sentence's log-probability, as in the harness, or, where no item was
judged by that, by the benchmark's main method; the other methods' names are those of the export
(``interop.lm_eval_export``). A standard error is that of a mean of rights and wrongs. What the
harness would say of things that don't exist here is left out.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from blimpworks.evaluation.card import ALL, Card, Skipped
from blimpworks.evaluation.facts import BenchmarkFacts, Facts
from blimpworks.evaluation.measured import item_counts, read_accuracies
from blimpworks.files import sha256_of, write_text
from blimpworks.interop.lm_eval_export import metric_name

MAIN = "acc"
Row = Mapping[Any, Any]
"""A row of a table of accuracies."""
SECTIONS = ("results", "configs", "versions", "n-shot", "higher_is_better", "n-samples")
"""Parts of the file that have an entry for each task."""


def _error(accuracy: float, n: int) -> float | str:
    """Standard error of a mean of ``n`` rights and wrongs, as the harness computes it."""
    return math.sqrt(max(0.0, accuracy * (1 - accuracy)) / (n - 1)) if n > 1 else "N/A"


def _metrics(rows: Sequence[Row], main: str) -> dict[str, tuple[float, int]]:
    """Accuracy and number of items of each metric, from a row for each method."""
    by_method = {row["method"]: (float(row["accuracy"]), int(row["n"])) for row in rows}
    metrics = {metric_name(method): value for method, value in by_method.items()}
    if MAIN not in metrics and main in by_method:
        metrics = {MAIN: by_method[main], **metrics}
    return metrics


def _entry(
    task: str, rows: Sequence[Row], main: str, original: int, skipped: Skipped | None
) -> dict[str, Any]:
    """The entries of a task by section, all but its configuration and version."""
    metrics = _metrics(rows, main)
    numbers: dict[str, Any] = {}
    for name, (accuracy, n) in metrics.items():
        numbers |= {f"{name},none": accuracy, f"{name}_stderr,none": _error(accuracy, n)}
    effective = max((n for _, n in metrics.values()), default=0)
    counts: dict[str, Any] = {"original": original, "effective": effective}
    if skipped:
        counts |= {"skipped": skipped["n"], "skipped_because": skipped["reasons"]}
    return {
        "results": {"name": task, "alias": task, "sample_len": effective, **numbers},
        "n-shot": 0,
        "higher_is_better": dict.fromkeys(metrics, True),
        "n-samples": counts,
    }


def task_name(*parts: str) -> str:
    """A task's name: its parts joined by ``_``, with nothing in them that file names can't have."""
    return "_".join(re.sub(r"[^\w.+#-]+", "_", part).strip("_") for part in parts)


def _tasks(
    name: str,
    facts: BenchmarkFacts,
    model: str,
    accuracies: Sequence[Row],
    skipped: Mapping[tuple[str, str], Skipped],
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each task of a benchmark, the task that it is below (or none), and its entries."""
    main = facts["methods"][model][0]
    for lang in facts["languages"][model]:
        rows: dict[str, list[Row]] = {key: [] for code, key in skipped if code == lang}
        for row in accuracies:
            if row["lang"] == lang:
                rows.setdefault(row["phenomenon"], []).append(row)
        path = Path(facts["items"][lang])
        counts = item_counts(Path(facts["whole"].get(lang, path)))
        whole, version = task_name(name, lang), sha256_of(path)[:12]
        parts = [each for each in rows if each != ALL]
        for phenomenon in [ALL, *(parts if len(parts) > 1 else [])] if rows else []:
            task = whole if phenomenon == ALL else task_name(name, lang, phenomenon)
            each = rows[phenomenon]
            lost = skipped.get((lang, phenomenon))
            entry = _entry(task, each, main, counts[phenomenon], lost)
            config = {
                "task": task,
                "dataset_path": str(path),
                "output_type": "multiple_choice" if facts["unit"] == "pair" else "generate_until",
                "num_fewshot": 0,
                "metadata": {"version": version, "method": main},
            }
            yield (
                task,
                "" if phenomenon == ALL else whole,
                {
                    **entry,
                    "configs": config,
                    "versions": version,
                },
            )


def model_results(card: Card, facts: Facts, model: str) -> dict[str, Any]:
    """The content of a results file: the accuracies of one model on all its benchmarks.

    Raises UserError when a table is missing or broken.
    """
    sections: dict[str, Any] = {name: {} for name in SECTIONS}
    below: dict[str, list[str]] = {}
    for name, benchmark in facts["benchmarks"].items():
        if model not in benchmark["languages"]:
            continue
        frame = read_accuracies(Path(benchmark["accuracies"]))
        rows = frame[(frame["model"] == model) & (frame["paradigm"] == ALL)]
        skipped = {
            (row["lang"], row["phenomenon"]): row["skipped"][model]
            for each in card["benchmarks"]
            for row in each["rows"]
            if each["name"] == name and model in row["skipped"]
        }
        for task, parent, entry in _tasks(name, benchmark, model, rows.to_dict("records"), skipped):
            for section in SECTIONS:
                sections[section][task] = entry[section]
            below.setdefault(parent or task, []).extend([task] if parent else [])
    return {**sections, "group_subtasks": below, **_identity(card, model)}


def _identity(card: Card, model: str) -> dict[str, Any]:
    """The harness's fields on the model and the run."""
    facts = card["models"][model]
    name = facts["hf_id"] or model
    date = card["date"]
    size = facts["parameters"]
    config = {
        "model": facts["engine"],
        "model_args": {
            "pretrained": name,
            "revision": facts["revision"],
            "dtype": facts["dtype"],
            "first_token": facts["first_token"],
            "start": facts["start"],
        },
        "model_num_parameters": None if size is None else round(size * 1e9),
        "model_dtype": facts["dtype"],
        "model_revision": facts["revision"],
        "batch_size": None,
        "device": None,
        "limit": card["limit"],
    }
    return {
        "config": config,
        "git_hash": card["commit"] or None,
        "date": datetime.fromisoformat(date).astimezone(UTC).timestamp() if date else None,
        "lm_eval_version": None,
        "blimpworks_version": card["version"],
        "model_source": facts["engine"],
        "model_name": name,
        "model_name_sanitized": re.sub(r'["<>:/|\\?*\[\]]+', "__", name),
    }


def write_results(card: Card, facts: Facts, model: str, path: Path) -> None:
    """Write a model's results file. Raises UserError when a table is missing or broken."""
    results = model_results(card, facts, model)
    write_text(path, json.dumps(results, indent=2, ensure_ascii=False) + "\n")
