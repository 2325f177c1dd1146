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
from dataclasses import dataclass
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
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, read_table

# The harness's names of methods that it has too; its acc_norm divides by characters.
METRICS = {"full_sentence": "acc", "per_character": "acc_norm", "per_byte": "acc_bytes"}
KEPT = ("item_id", "lang", "phenomenon", "paradigm")
SPANS = ("good_start", "good_end", "bad_start", "bad_end")
DTYPE_IN_KEY = -3
"""Index of the number format in an engine's key (``scoring.engine``)."""
KEY = itemgetter("item_id", "paradigm")
"""Key of a verdict: a pair can be in several paradigms."""
Verdicts = dict[tuple[str, str], float | None]
TARGET = "0"
"""The good sentence is the first choice."""
ABSENT = (
    *("upper_git_hash", "tokenizer_pad_token", "tokenizer_eos_token", "tokenizer_bos_token"),
    *("eot_token_id", "max_length", "system_instruction", "system_instruction_sha"),
    *("fewshot_as_multiturn", "chat_template", "chat_template_sha"),
)
"""Fields of the harness without a counterpart here."""


@dataclass(frozen=True, slots=True)
class Source:
    """Tables of one model and language."""

    benchmark: str
    lang: str
    items: Path
    scores: Path
    judgements: Path

    @property
    def task(self) -> str:
        """Name of the task in the harness."""
        return f"{self.benchmark}_{self.lang}"

    @property
    def names(self) -> tuple[str, str]:
        """Keys of the good and the bad sentence in its documents."""
        return find_benchmark(self.benchmark).document_keys


def metric_name(method: str) -> str:
    """Return the harness's name of the accuracy by ``method``, or a similar name."""
    return METRICS.get(method, f"acc_{method}")


def sanitized(model: str) -> str:
    """Return a model's name as a folder of the harness."""
    return re.sub(r'["<>:/|\\?*\[\]]+', "__", model)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _judged(source: Source) -> tuple[list[dict[str, Any]], dict[str, Verdicts]]:
    """Return items with their sentences' log-probabilities, and by method the verdicts.

    Raises UserError where a method judged other items; prefix methods judge those that name them.
    """
    items = read_table(ITEMS, source.items, [*ITEMS.names, PREFIX_METHODS]).to_pylist()
    columns = ["item_id", "logprob_good", "logprob_bad"]
    scored = {r["item_id"]: r for r in read_table(SCORES, source.scores, columns).to_pylist()}
    verdicts: dict[str, Verdicts] = {}
    columns = ["item_id", "paradigm", "method", "correct"]
    for row in read_table(JUDGEMENTS, source.judgements, columns).to_pylist():
        verdicts.setdefault(row["method"], {})[KEY(row)] = row["correct"]
    are_same = {item["item_id"] for item in items} <= scored.keys()
    for method, judged in verdicts.items():
        allowed = items
        if method in PREFIXES:
            allowed = [item for item in items if method in item.get(PREFIX_METHODS, [method])]
        are_same = are_same and judged.keys() == {*map(KEY, allowed)}
    if not are_same:
        raise UserError(
            f"{source.judgements} and {source.scores} are of other items than {source.items}; "
            "run the same snakemake command again."
        )
    return [item | scored[item["item_id"]] for item in items], verdicts


def samples_of(source: Source) -> Iterator[dict[str, Any]]:
    """Yield samples of one model and language: the items that any method has judged.

    Each is the harness's log of a document with two choices; ``is_greedy`` is not known: "None".
    Raises UserError when a table is missing, or of other items than the others.
    """
    items, verdicts = _judged(source)
    for number, item in enumerate(items):
        metrics = {
            metric_name(method): correct
            for method, by_item in verdicts.items()
            if (correct := by_item.get(KEY(item))) is not None
        }
        if not metrics:
            continue
        sentences = item["good"], item["bad"]
        document = dict(zip(source.names, sentences, strict=True))
        document |= {name: item[name] for name in (*KEPT, *SPANS)}
        totals = [item["logprob_good"], item["logprob_bad"]]
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


def _task_results(source: Source, samples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one task's entries by section; means and standard errors are the harness's."""
    numbers: dict[str, float | str] = {}
    metrics = [*dict.fromkeys(name for sample in samples for name in sample["metrics"])]
    for name in metrics:
        values = np.array([sample[name] for sample in samples if name in sample])
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else "N/A"
        numbers |= {f"{name},none": float(values.mean()), f"{name}_stderr,none": error}
    good, bad = source.names
    digest = sha256_of(source.items)
    version = digest[:12]
    original = read_table(ITEMS, source.items, ["item_id"]).num_rows
    hashes = "".join(s["doc_hash"] + s["prompt_hash"] + s["target_hash"] for s in samples)
    return {
        "results": {"name": source.task, "alias": source.task, "sample_len": len(samples)}
        | numbers,
        "configs": {
            "task": source.task,
            # From the directory of results: the whole path would say on whose machine they lie.
            "dataset_path": Path(*source.items.parts[-3:]).as_posix(),
            "test_split": "train",
            "doc_to_text": "",
            "doc_to_target": 0,
            "doc_to_choice": f"{{{{[{good}, {bad}]}}}}",
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


def _identity(model: str, source: Source) -> dict[str, Any]:
    """Return fields on model, run and machine from jobs' records (without a record: of 1970)."""
    judging: Record = record_of(source.judgements) or {}
    collected = (record_of(source.scores) or {}).get("inputs", [])
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
        "model_name": model,
        "model_name_sanitized": sanitized(model),
        "total_evaluation_time_seconds": str((times[1] - times[0]).total_seconds())
        if times
        else None,
    }


def export_model(model: str, sources: Sequence[Source], output: Path) -> Path:
    """Write one model's results and samples below directory ``output``; return the results.

    Languages without a judged item have no task. Raises UserError when a table is missing or of
    other items than the others, or nothing was judged.
    """
    results: dict[str, Any] = {}
    identity = _identity(model, sources[0])
    folder = output / str(identity["model_name_sanitized"])
    time = datetime.fromtimestamp(identity["date"], UTC).replace(tzinfo=None).isoformat()
    time = time.replace(":", "-")
    for source in sources:
        samples = list(samples_of(source))
        if not samples:
            continue
        for section, value in _task_results(source, samples).items():
            results.setdefault(section, {})[source.task] = value
        lines = (json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
        write_text(folder / f"samples_{source.task}_{time}.jsonl", "".join(lines))
    if not results:
        raise UserError(f"{model}: no item has a judgement; there is nothing to export.")
    results |= {"group_subtasks": {}, **identity, **dict.fromkeys(ABSENT)}
    path = folder / f"results_{time}.json"
    write_text(path, json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    return path
