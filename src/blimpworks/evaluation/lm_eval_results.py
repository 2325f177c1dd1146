"""Write a model's accuracies as a results file of lm-evaluation-harness, without samples.

Source of the layout: lm-eval 0.4.13 (``result_schema.py``). A task is a benchmark in a language,
``BENCHMARK_LANG``; its phenomena are tasks below it, ``BENCHMARK_LANG_PHENOMENON``. ``acc`` is by
the full sentence's log-probability, as in the harness, or else by the benchmark's main method.
Other methods have the export's names (``interop.lm_eval_export``).
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from blimpworks.evaluation.card import ALL, Card
from blimpworks.evaluation.facts import Facts
from blimpworks.evaluation.judged import read_accuracies
from blimpworks.evaluation.measured import item_counts
from blimpworks.files import sha256_of
from blimpworks.interop.lm_eval_export import metric_name, sanitized

MAIN = "acc"
Row = Mapping[Any, Any]
SECTIONS = ("results", "configs", "versions", "n-shot", "higher_is_better", "n-samples")
"""Parts of the file with an entry per task."""
OUTPUT_TYPES = {"pair": "multiple_choice", "prompt": "generate_until"}


def task_name(*names: str) -> str:
    """Join names by ``_``, without characters that file names cannot have."""
    return "_".join(re.sub(r"[^\w.+#-]+", "_", name).strip("_") for name in names)


def model_results(card: Card, facts: Facts, model: str) -> dict[str, Any]:
    """Return a results file's content: one model's accuracies on all its benchmarks."""
    sections: dict[str, Any] = {name: {} for name in SECTIONS}
    below: dict[str, list[str]] = {}
    for shown in card["benchmarks"]:
        name, benchmark = shown["name"], facts["benchmarks"][shown["name"]]
        if model not in benchmark["languages"]:
            continue
        method = benchmark["methods"][model][0]
        frame = read_accuracies(Path(benchmark["accuracies"]))
        frame = frame[(frame["model"] == model) & (frame["paradigm"] == ALL)]
        skipped = {
            (row["lang"], row["phenomenon"]): row["skipped"][model]
            for row in shown["rows"]
            if model in row["skipped"]
        }
        for lang in benchmark["languages"][model]:
            rows: dict[str, list[Row]] = {key: [] for code, key in skipped if code == lang}
            for row in frame[frame["lang"] == lang].to_dict("records"):
                rows.setdefault(row["phenomenon"], []).append(row)
            if not rows:
                continue
            items = benchmark["items"][lang]
            original = item_counts(benchmark["whole"].get(lang, items))
            version, parent = sha256_of(Path(items))[:12], task_name(name, lang)
            phenomena = [key for key in rows if key != ALL]
            phenomena = phenomena if len(phenomena) > 1 else []
            below[parent] = [task_name(name, lang, phenomenon) for phenomenon in phenomena]
            for task, key in zip([parent, *below[parent]], [ALL, *phenomena], strict=True):
                by_method = {
                    row["method"]: (float(row["accuracy"]), int(row["n"])) for row in rows[key]
                }
                metrics = {metric_name(name): value for name, value in by_method.items()}
                if MAIN not in metrics and method in by_method:
                    metrics = {MAIN: by_method[method], **metrics}
                effective = max((n for _, n in metrics.values()), default=0)
                counts: dict[str, Any] = {"original": original[key], "effective": effective}
                if lost := skipped.get((lang, key)):
                    counts |= {"skipped": lost["n"], "skipped_because": lost["reasons"]}
                results: dict[str, Any] = {"name": task, "alias": task, "sample_len": effective}
                for metric, (accuracy, n) in metrics.items():
                    # As the harness computes it.
                    variance = max(0.0, accuracy * (1 - accuracy))
                    error = math.sqrt(variance / (n - 1)) if n > 1 else "N/A"
                    results |= {f"{metric},none": accuracy, f"{metric}_stderr,none": error}
                sections["results"][task] = results
                sections["configs"][task] = {
                    "task": task,
                    "dataset_path": items,
                    "output_type": OUTPUT_TYPES[benchmark["unit"]],
                    "num_fewshot": 0,
                    "metadata": {"version": version, "method": method},
                }
                sections["versions"][task] = version
                sections["n-shot"][task] = 0
                sections["higher_is_better"][task] = dict.fromkeys(metrics, True)
                sections["n-samples"][task] = counts
    described, date = card["models"][model], card["date"]
    name, size = described["hf_id"] or model, described["parameters"]
    config = {
        "model": described["engine"],
        "model_args": {
            "pretrained": name,
            **{key: described[key] for key in ("revision", "dtype", "first_token", "start")},
        },
        "model_num_parameters": None if size is None else round(size * 1e9),
        "model_dtype": described["dtype"],
        "model_revision": described["revision"],
        "batch_size": None,
        "device": None,
        "limit": card["limit"],
    }
    return {
        **sections,
        "group_subtasks": below,
        "config": config,
        "git_hash": card["commit"] or None,
        "date": datetime.fromisoformat(date).astimezone(UTC).timestamp() if date else None,
        "lm_eval_version": None,
        "blimpworks_version": card["version"],
        "model_source": described["engine"],
        "model_name": name,
        "model_name_sanitized": sanitized(name),
    }
