"""Write results in lm-evaluation-harness's format, and read items from its documents.

Source of the written layout: lm-eval 0.4.13 with ``--log_samples`` for a task with two choices.
Each model has a directory with ``results_TIME.json`` and a ``samples_TASK_TIME.jsonl`` for each
language, which is a task. TIME is that of the first judgement, so that exporting the same results
again writes the same bytes. Fields without a counterpart here, such as chat template, are null.

Items are read from lines with the document under ``doc`` (samples), or from lines that are the
document (data sets). Three spellings of a pair's fields are known.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from blimpworks import __version__
from blimpworks.campaign.methods import PREFIXES
from blimpworks.campaign.registry import find_benchmark
from blimpworks.errors import UserError
from blimpworks.files import load_json, sha256_of, write_text
from blimpworks.judging.judge import PREFIX_METHODS
from blimpworks.records.reading import Record, record_of
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, Evaluation, read_table, write_table

# The harness has metrics for these methods; its acc_norm divides by characters.
METRICS = {"full_sentence": "acc", "per_character": "acc_norm", "per_byte": "acc_bytes"}
KEPT = ("item_id", "lang", "phenomenon", "paradigm")
SPANS = ("good_start", "good_end", "bad_start", "bad_end")
DTYPE_IN_KEY = -3
"""Index of the number format in an engine's key (``scoring.engine``)."""
KEY = itemgetter("item_id", "paradigm")
"""Function that returns the key of a verdict: a pair can be in several paradigms."""
TARGET = "0"
"""The good sentence is the first choice."""
EMPTY_RESULT_FIELDS = (
    *("upper_git_hash", "tokenizer_pad_token", "tokenizer_eos_token", "tokenizer_bos_token"),
    *("eot_token_id", "max_length", "system_instruction", "system_instruction_sha"),
    *("fewshot_as_multiturn", "chat_template", "chat_template_sha"),
)
"""Fields of the harness's results without a counterpart here."""


def metric_name(method: str) -> str:
    """Return the harness's name of the accuracy by ``method``, or a similar name."""
    return METRICS.get(method, f"acc_{method}")


def sanitized(model: str) -> str:
    """Return a model's name as the harness spells it in paths."""
    return re.sub(r'["<>:/|\\?*\[\]]+', "__", model)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def samples_of(benchmark: str, tables: Evaluation) -> Iterator[dict[str, Any]]:
    """Yield samples of one model and language, one for each item that any method has judged.

    A sample is the harness's log of a document with two choices. ``is_greedy`` is unknown, "None".
    Prefix methods judge only the items that name them. Raises UserError when a table is missing, or
    has other items than the other tables.
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
    """Return the entries of a task by section of the results, with means and standard errors.

    ``names``: keys of both sentences in documents. ``path``: the table of items.
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
            # Relative to the results, so that paths of this machine are not published.
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
    """Return fields on model, run and machine from records; without a record, the date is 1970."""
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
    """Write results and samples of one model below ``output``; return the path of the results.

    Languages without a judged item have no task. Raises UserError when a table is missing or has
    other items than the other tables, or nothing was judged.
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
    results |= {"group_subtasks": {}, **identity, **dict.fromkeys(EMPTY_RESULT_FIELDS)}
    path = folder / f"results_{time}.json"
    write_text(path, json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    return path


SENTENCE_FIELDS = (("sentence_good", "sentence_bad"), ("sen", "wrong_sen"), ("good", "bad"))
PHENOMENON_FIELDS = ("phenomenon", "linguistics_term", "field")
PARADIGM_FIELDS = ("paradigm", "UID", "feature_vals")
PREFIXED = {
    "one_prefix": ("prefix", "prefix", "word_good", "word_bad"),
    "two_prefix": ("prefix_good", "prefix_bad", "word", "word"),
}
"""Fields with prefixes and critical words of both sentences, by prefix method.

The hub's copy of such a benchmark names the method, but lacks these fields.
"""
SHOWN = 20
"""Most problems in one message."""
Span = tuple[int | None, int | None]
NOWHERE: Span = (None, None)
Doc = Mapping[str, Any]
First = dict[str, tuple[str, Mapping[str, Any], set[str]]]
"""Location and row of the first document with an item id, and its paradigms so far, by id."""


def _count_equal(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the number of equal words at the start of two sentences."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return len([*pairs])


def differing_words(good: str, bad: str) -> tuple[Span, Span]:
    """Return the span of the differing words in each sentence; ``NOWHERE`` without any."""
    first, second = good.split(), bad.split()
    head = _count_equal(first, second)
    tail = _count_equal(first[head:][::-1], second[head:][::-1])
    spans: list[Span] = []
    for text in (good, bad):
        edges = [word.span() for word in re.finditer(r"\S+", text)]
        inside = edges[head : len(edges) - tail]
        spans.append((inside[0][0], inside[-1][1]) if inside else NOWHERE)
    return spans[0], spans[1]


def critical_regions(doc: Doc, good: str, bad: str) -> tuple[Span, Span]:
    """Return the critical regions of a document's two sentences, in code points.

    The document states them, or the critical words of a prefix method; else they are the differing
    words. Raises ValueError when only some of a prefix method's fields are missing.
    """
    if doc.get("good_start") is not None and doc.get("bad_start") is not None:
        stated = [(doc[f"{side}_start"], doc.get(f"{side}_end")) for side in ("good", "bad")]
        return stated[0], stated[1]
    for method, columns in PREFIXED.items():
        names = [f"{method}_{column}" for column in columns]
        lacking = [name for name in names if doc.get(name) in (None, "")]
        if not doc.get(f"{method}_method") or len(lacking) == len(names):
            continue
        if lacking:
            raise ValueError(f"has no {lacking[0]}, which its prefix method needs")
        spans = []
        for text, prefix, word in zip((good, bad), names[:2], names[2:], strict=True):
            start = text.find(str(doc[word]), len(str(doc[prefix])))
            spans.append((start, start + len(str(doc[word]))) if start >= 0 else NOWHERE)
        return spans[0], spans[1]
    return differing_words(good, bad)


def sentences_of(doc: Doc) -> tuple[str, str]:
    """Return the good and the bad sentence of a document. Raises ValueError without them."""
    names = next((pair for pair in SENTENCE_FIELDS if {*pair} <= doc.keys()), None)
    if names is None:
        expected = "; ".join(" and ".join(pair) for pair in SENTENCE_FIELDS)
        raise ValueError(f"has no pair of sentences, expected {expected}")
    for name in names:
        if not isinstance(doc[name], str) or not doc[name].strip():
            raise ValueError(f"{name} is {doc[name]!r}, expected a sentence")
    return doc[names[0]], doc[names[1]]


def _item(doc: Doc, lang: str, task: str) -> dict[str, Any]:
    """Convert a document to a row of the items table. Raises ValueError for an invalid document."""
    good, bad = sentences_of(doc)
    phenomenon, paradigm = (
        next((str(doc[name]) for name in names if doc.get(name)), task)
        for names in (PHENOMENON_FIELDS, PARADIGM_FIELDS)
    )
    content = (
        f"{lang}\t{paradigm}\t{good}\t{bad}".encode()
    )  # raises ValueError for a lone surrogate
    item_id = doc.get("item_id")
    if item_id is None:
        item_id = hashlib.blake2b(content, digest_size=8).hexdigest()
    elif type(item_id) not in (str, int) or not str(item_id).strip():
        raise ValueError(f"item_id is {item_id!r}, expected a text or a whole number")
    row: dict[str, Any] = dict.fromkeys(ITEMS.names)
    row |= {"item_id": str(item_id), "lang": lang, "phenomenon": phenomenon}
    row |= {"paradigm": paradigm, "good": good, "bad": bad}
    for side, span in zip(("good", "bad"), critical_regions(doc, good, bad), strict=True):
        row[f"{side}_start"], row[f"{side}_end"] = start, end = span
        are_numbers = all(type(edge) is int for edge in span)
        if span != NOWHERE and not (
            are_numbers and 0 <= (start or 0) < (end or 0) <= len(row[side])
        ):
            raise ValueError(
                f"the region of the {side} sentence goes from {start!r} to {end!r}, expected whole "
                f"numbers of characters inside its {len(row[side])}, the first one smaller"
            )
    return row


def _document(line: str, seen: set[str]) -> Doc | None:
    """Return a line's document; None if an earlier line has it. Raises ValueError without one."""
    try:
        value = load_json(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON ({error})") from error
    doc = value.get("doc", value) if isinstance(value, dict) else value
    if not isinstance(doc, dict):
        raise ValueError(f"is no document but {type(doc).__name__}")
    number = value.get("doc_id") if "doc" in value else None
    if number is None:
        return doc
    is_new = repr(number) not in seen
    seen.add(repr(number))
    return doc if is_new else None


def _rows(path: Path, lang: str, first: First, problems: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the items of a file; add a message on each faulty line to ``problems``.

    Scores are stored by item id, so two pairs must not have the same id. A pair may be in several
    paradigms, with one id.
    """
    task, seen = path.stem.removeprefix("samples_").split("_20")[0], set[str]()
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} can't be read ({error}); expected lines of JSON.") from error
    for number, line in enumerate(lines, start=1):
        try:
            doc = _document(line, seen) if line.strip() else None
            if doc is None:
                continue
            row = _item(doc, lang, task)
            address, earlier, paradigms = first.setdefault(
                row["item_id"], (f"{path}:{number}", row, set())
            )
            same = all(row[key] == earlier[key] for key in ("good", "bad"))
            if not same or row["paradigm"] in paradigms:
                raise ValueError(
                    f"its item_id {row['item_id']!r} is that of {'this' if same else 'another'} "
                    f"pair in {address}; "
                    + ("leave one out" if same else "make ids unique over all files")
                )
            paradigms.add(row["paradigm"])
            yield row
        except ValueError as error:
            problems.append(f"{path}:{number}: {error}.")


def import_items(files: Sequence[Path], lang: str, output: Path) -> int:
    """Write the items of samples files or data sets as an items table; return their number.

    Phenomenon and paradigm are those of the documents, or else the file's name. Raises UserError
    with file and line of every problem, such as an id of two pairs; then nothing is written.
    """
    if not re.fullmatch("[a-z]{3}", lang):
        raise UserError(
            f"--lang is {lang!r}; expected the ISO 639-3 code of the items' language, three "
            "lower-case letters such as eng."
        )
    problems: list[str] = []
    first: First = {}
    rows = [row for path in files for row in _rows(path, lang, first, problems)]
    if problems:
        more = [f"… and {len(problems) - SHOWN} more."] if problems[SHOWN:] else []
        raise UserError("\n".join([*problems[:SHOWN], *more]))
    if not rows:
        raise UserError(f"{', '.join(map(str, files))}: no document; expected lines of JSON.")
    write_table(pa.Table.from_pylist(rows, ITEMS.arrow()), ITEMS, output)
    return len(rows)
