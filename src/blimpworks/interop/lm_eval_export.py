"""Results in lm-evaluation-harness's format.

Source of the layout: files of lm-eval 0.4.13 with ``--log_samples`` for a task with two choices.
Each model is a directory with one ``results_TIME.json`` and, for each language, which is a task,
one ``samples_TASK_TIME.jsonl``. Times are those of the first judgement, so that an export of the
same results has the same bytes. Fields without a counterpart here (chat template, git commit of
lm-eval) are null.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from blimpworks import __version__
from blimpworks.campaign.methods import PREFIXES
from blimpworks.campaign.registry import find_benchmark
from blimpworks.errors import UserError
from blimpworks.files import sha256_of, write_text
from blimpworks.judging.judge import PREFIX_METHODS
from blimpworks.records.reading import Record, record_of
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, Evaluation, read_table

# The harness's names of methods that it has too; its acc_norm divides by characters.
METRICS = {"full_sentence": "acc", "per_character": "acc_norm", "per_byte": "acc_bytes"}
KEPT = ("item_id", "lang", "phenomenon", "paradigm")
SPANS = ("good_start", "good_end", "bad_start", "bad_end")
DTYPE_IN_KEY = -3
"""Index of the number format in an engine's key (``scoring.engine``)."""
KEY = itemgetter("item_id", "paradigm")
"""Key of a verdict: a pair can be in several paradigms."""
TARGET = "0"
"""The good sentence is the first choice."""
ABSENT = (
    *("upper_git_hash", "tokenizer_pad_token", "tokenizer_eos_token", "tokenizer_bos_token"),
    *("eot_token_id", "max_length", "system_instruction", "system_instruction_sha"),
    *("fewshot_as_multiturn", "chat_template", "chat_template_sha"),
)
"""Fields of the harness without a counterpart here."""


def metric_name(method: str) -> str:
    """Return the harness's name of the accuracy by ``method``, or a similar name."""
    return METRICS.get(method, f"acc_{method}")


def sanitized(model: str) -> str:
    """Return a model's name as a folder of the harness."""
    return re.sub(r'["<>:/|\\?*\[\]]+', "__", model)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def samples_of(benchmark: str, tables: Evaluation) -> Iterator[dict[str, Any]]:
    """Yield samples of one model and language: the items that any method has judged.

    Each is the harness's log of a document with two choices; ``is_greedy`` is not known: "None".
    Raises UserError when a table is missing, or of other items than the others. Prefix methods
    judge the items that name them.
    """
    items = read_table(ITEMS, tables.items, [*ITEMS.names, PREFIX_METHODS]).to_pylist()
    columns = ["item_id", "logprob_good", "logprob_bad"]
    scored = {r["item_id"]: r for r in read_table(SCORES, tables.outputs, columns).to_pylist()}
    verdicts: dict[str, dict[tuple[str, str], float | None]] = {}
    columns = ["item_id", "paradigm", "method", "correct"]
    for row in read_table(JUDGEMENTS, tables.judgements, columns).to_pylist():
        verdicts.setdefault(row["method"], {})[KEY(row)] = row["correct"]
    are_same = {item["item_id"] for item in items} <= scored.keys()
    for method, judged in verdicts.items():
        allowed = items
        if method in PREFIXES:
            allowed = [item for item in items if method in item.get(PREFIX_METHODS, [method])]
        are_same = are_same and judged.keys() == {*map(KEY, allowed)}
    if not are_same:
        raise UserError(
            f"{tables.judgements} and {tables.outputs} are of other items than {tables.items}; "
            "run the same snakemake command again."
        )
    names = find_benchmark(benchmark).document_keys
    for number, item in enumerate(items):
        metrics = {
            metric_name(method): correct
            for method, by_item in verdicts.items()
            if (correct := by_item.get(KEY(item))) is not None
        }
        if not metrics:
            continue
        sentences = item["good"], item["bad"]
        document = dict(zip(names, sentences, strict=True))
        document |= {name: item[name] for name in (*KEPT, *SPANS)}
        totals = (scored[item["item_id"]][f"logprob_{side}"] for side in ("good", "bad"))
        responses = [[str(float("nan") if t is None else t), "None"] for t in totals]
        yield {
            "doc_id": number,
            "doc": document,
            "target": TARGET,
            "arguments": {
                f"gen_args_{i}": {"arg_0": "", "arg_1": text} for i, text in enumerate(sentences)
            },
            "resps": [[response] for response in responses],
            "filtered_resps": responses,
            "filter": "none",
            "metrics": [*metrics],
            "doc_hash": _hash(json.dumps(document, indent=2, ensure_ascii=False)),
            "prompt_hash": _hash(""),
            "target_hash": _hash(TARGET),
            **metrics,
        }


def _task_results(
    task: str, names: tuple[str, str], path: Path, samples: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return one task's entries by section; means and standard errors are the harness's.

    ``names`` are the documents' keys of both sentences, ``path`` is the table of items.
    """
    numbers: dict[str, float | str] = {}
    metrics = [*dict.fromkeys(name for sample in samples for name in sample["metrics"])]
    for name in metrics:
        values = np.array([sample[name] for sample in samples if name in sample])
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else "N/A"
        numbers |= {f"{name},none": float(values.mean()), f"{name}_stderr,none": error}
    digest = sha256_of(path)
    version = digest[:12]
    original = read_table(ITEMS, path, ["item_id"]).num_rows
    hashes = "".join(s["doc_hash"] + s["prompt_hash"] + s["target_hash"] for s in samples)
    return {
        "results": {"name": task, "alias": task, "sample_len": len(samples)} | numbers,
        "configs": {
            "task": task,
            # From the directory of results: the whole path would say on whose machine they lie.
            "dataset_path": Path(*path.parts[-3:]).as_posix(),
            "test_split": "train",
            "doc_to_text": "",
            "doc_to_target": 0,
            "doc_to_choice": f"{{{{[{', '.join(names)}]}}}}",
            "target_delimiter": "",
            "num_fewshot": 0,
            "metric_list": [
                {"metric": name, "aggregation": "mean", "higher_is_better": True}
                for name in metrics
            ],
            "output_type": "multiple_choice",
            "repeats": 1,
            "metadata": {"version": version, "items_sha256": digest},
        },
        "versions": version,
        "n-shot": 0,
        "higher_is_better": dict.fromkeys(metrics, True),
        "n-samples": {"original": original, "effective": len(samples)},
        "task_hashes": _hash(hashes),
    }


def _identity(tables: Evaluation) -> dict[str, Any]:
    """Return fields on model, run and machine from jobs' records (without a record: of 1970)."""
    judging: Record = record_of(tables.judgements) or {}
    collected = (record_of(tables.outputs) or {}).get("inputs", [])
    manifests = [Path(entry["path"]) for entry in collected]
    manifest = next((path for path in manifests if path.name.endswith("manifest.json")), None)
    scoring: Record = (record_of(manifest) if manifest else None) or {}
    params = scoring.get("params", {})
    started = judging.get("started", "1970-01-01T00:00:00+00:00")
    times = [datetime.fromisoformat(scoring[k]) for k in ("started", "ended") if k in scoring]
    packages, host = scoring.get("packages", {}), scoring.get("host", {})
    engine = scoring.get("notes", {}).get("engine")
    return {
        "config": {
            "model": params.get("engine"),
            "model_args": {**params, "engine_key": engine},
            "model_dtype": engine.split("|")[DTYPE_IN_KEY] if engine else None,
            "batch_size": None,
            "device": None,
            "limit": None,
        },
        "git_hash": judging.get("git", {}).get("commit"),
        "date": datetime.fromisoformat(started).timestamp(),
        "pretty_env_info": json.dumps({"packages": packages, "host": host}),
        "transformers_version": packages.get("transformers"),
        "lm_eval_version": None,
        "blimpworks_version": __version__,
        "model_source": params.get("engine"),
        "model_name": tables.model,
        "model_name_sanitized": sanitized(tables.model),
        "total_evaluation_time_seconds": str((times[1] - times[0]).total_seconds())
        if times
        else None,
    }


def export_model(benchmark: str, evaluations: Sequence[Evaluation], output: Path) -> Path:
    """Write one model's results and samples below directory ``output``; return the results.

    ``evaluations`` are of one model. Languages without a judged item have no task. Raises UserError
    when a table is missing or of other items than the others, or nothing was judged.
    """
    results: dict[str, Any] = {}
    identity = _identity(evaluations[0])
    folder = output / str(identity["model_name_sanitized"])
    time = datetime.fromtimestamp(identity["date"], UTC).replace(tzinfo=None).isoformat()
    time = time.replace(":", "-")
    names = find_benchmark(benchmark).document_keys
    for tables in evaluations:
        samples, task = [*samples_of(benchmark, tables)], f"{benchmark}_{tables.lang}"
        if not samples:
            continue
        for section, value in _task_results(task, names, tables.items, samples).items():
            results.setdefault(section, {})[task] = value
        lines = (json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
        write_text(folder / f"samples_{task}_{time}.jsonl", "".join(lines))
    if not results:
        name = evaluations[0].model
        raise UserError(f"{name}: no item has a judgement; there is nothing to export.")
    results |= {"group_subtasks": {}, **identity, **dict.fromkeys(ABSENT)}
    path = folder / f"results_{time}.json"
    write_text(path, json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    return path
