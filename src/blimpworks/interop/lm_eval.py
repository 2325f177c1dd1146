"""Write results in the format of lm-evaluation-harness, and read items from its documents.

``export_model`` writes the files that lm-eval 0.4.13 logs with ``--log_samples``. Each model has a
directory with ``results_TIME.json`` and, for each task (a benchmark in a language), a
``samples_TASK_TIME.jsonl``. A sample is a line with a pair of sentences (the harness's document),
the model's log-probabilities and the verdicts. TIME is the start of judging, not the present time,
so that a second export writes the same bytes. Fields without a meaning here are null.

``import_items`` makes an items table from files with a JSON object per line: a sample, which has a
document as ``doc``, or a document itself, as in data sets. Documents have two sentences, such as

    {"sentence_good": "A cat sleeps.", "sentence_bad": "A cat sleep.", "UID": "agreement"}
"""

import hashlib
import json
import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from blimpworks import __version__
from blimpworks.audit.lineage import manifest_behind
from blimpworks.campaign.methods import PREFIXES
from blimpworks.campaign.registry import find_benchmark
from blimpworks.errors import UserError
from blimpworks.files import load_json, sha256_of, sidecar_path, write_text
from blimpworks.items import ALL, SAMPLED, common_prefix_length
from blimpworks.judging.judge import PREFIX_METHODS
from blimpworks.records.reading import Record, read_record
from blimpworks.tables import (
    ITEMS,
    JUDGEMENTS,
    SCORES,
    Evaluation,
    count_rows,
    made_by,
    read_table,
    write_table,
)
from blimpworks.yaml_files import read_yaml

log = logging.getLogger(__name__)

FIELDS: dict[str, Any] = read_yaml(Path(__file__).with_name("lm_eval.yaml"), "fields of lm-eval")
"""Names of metrics, and of fields in results and documents."""
METRICS: dict[str, str] = FIELDS["metrics"]


def metric_name(method: str) -> str:
    """Return the harness's name for the accuracy by a method, or else ``acc_METHOD``."""
    return METRICS.get(method, f"acc_{method}")


def sanitized(model: str) -> str:
    """Return a model's name without the characters that the harness replaces in paths."""
    return re.sub(r'["<>:/|\\?*\[\]]+', "__", model)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


KEY = itemgetter("item_id", "paradigm")
"""Function that returns the key of a row of items or verdicts. The item id alone is no key, because
a pair can be in several paradigms."""
Verdicts = dict[str, dict[tuple[str, str], float | None]]
"""Verdicts by method, then by ``KEY``; None for a pair without one."""
LABELS = ("item_id", "lang", "phenomenon", "paradigm")
EDGES = ("good_start", "good_end", "bad_start", "bad_end")
TARGET = "0"
"""Index of the right choice: the good sentence is the first."""


def _all_judged(items: Sequence[Mapping[str, Any]], verdicts: Verdicts) -> bool:
    """Return whether each method has verdicts on all items that it judges, and on no others.

    The column PREFIX_METHODS names prefix methods that judge an item; without it, all judge it.
    """
    for method, verdict_by_key in verdicts.items():
        judged = items
        if method in PREFIXES:
            judged = [item for item in items if method in item.get(PREFIX_METHODS, [method])]
        if verdict_by_key.keys() != {*map(KEY, judged)}:
            return False
    return True


def samples_of(benchmark: str, tables: Evaluation) -> Iterator[dict[str, Any]]:
    """Yield samples of one model and language, one for each item that some method has judged.

    A sample is the harness's log entry for a document with two choices. ``tables``: paths of items,
    scores and judgements. Raises UserError if one is missing, or if they have different items.
    """
    items = read_table(ITEMS, tables.items, [*ITEMS.names, PREFIX_METHODS]).to_pylist()
    columns = ["item_id", "logprob_good", "logprob_bad"]
    score_rows = read_table(SCORES, tables.outputs, columns).to_pylist()
    scores_by_id = {row["item_id"]: row for row in score_rows}
    verdicts: Verdicts = defaultdict(dict)
    columns = ["item_id", "paradigm", "method", "correct"]
    for row in read_table(JUDGEMENTS, tables.judgements, columns).to_pylist():
        verdicts[row["method"]][KEY(row)] = row["correct"]
    all_scored = all(item["item_id"] in scores_by_id for item in items)
    if not (all_scored and _all_judged(items, verdicts)):
        raise UserError(
            f"{tables.judgements} and {tables.outputs} are of other items than {tables.items}; "
            "run the same snakemake command again."
        )
    sentence_keys = find_benchmark(benchmark).document_keys
    for number, item in enumerate(items):
        metrics = {}
        for method, verdict_by_key in verdicts.items():
            correct = verdict_by_key.get(KEY(item))
            if correct is not None:
                metrics[metric_name(method)] = correct
        if not metrics:
            continue
        sentences = item["good"], item["bad"]
        document = dict(zip(sentence_keys, sentences, strict=True))
        document |= {name: item[name] for name in (*LABELS, *EDGES)}
        scores = scores_by_id[item["item_id"]]
        logprobs = (scores["logprob_good"], scores["logprob_bad"])
        # A response is [log-probability, is_greedy]; the second value is not known here.
        responses = [[str(float("nan") if value is None else value), "None"] for value in logprobs]
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
    """Return {section of the results file: entry of a task}, with means and standard errors.

    ``names``: keys of both sentences in documents; ``path``: the table of items.
    """
    numbers: dict[str, float | str] = {}
    metrics = [*dict.fromkeys(name for sample in samples for name in sample["metrics"])]
    for name in metrics:
        values = np.array([sample[name] for sample in samples if name in sample])
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else "N/A"
        numbers |= {f"{name},none": float(values.mean()), f"{name}_stderr,none": error}
    digest = sha256_of(path)
    version = digest[:12]
    original = count_rows(_limit_and_all_items(path)[1])
    hashes = "".join(s["doc_hash"] + s["prompt_hash"] + s["target_hash"] for s in samples)
    return {
        "results": {"name": task, "alias": task, "sample_len": len(samples)} | numbers,
        "configs": {
            "task": task,
            # The path is relative to the results, so that paths of this machine are not published.
            # Choice 0 is the good sentence. A single table counts as the split "train".
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


def _record_beside(product: Path) -> Record:
    """Return the record in the file beside a product, which moves with it; {} without a record."""
    sidecar = sidecar_path(product)
    return read_record(sidecar) if sidecar.is_file() else {}


def _limit_and_all_items(items: Path) -> tuple[int | None, Path]:
    """Return the number of items that a campaign was limited to, and the table of all items.

    For results/sampled/items/mine/eng.parquet, that is results/items/mine/eng.parquet. If no limit
    is recorded, return None and ``items``.
    """
    params = (made_by(items) or {}).get("params", {})
    folder = items.absolute().parents[2]
    if folder.name != SAMPLED or "limit" not in params:
        return None, items
    return int(params["limit"]), folder.parent.joinpath(*items.parts[-3:])


def _identity(tables: Evaluation) -> dict[str, Any]:
    """Return fields on model, run and machine; without records None, and the date 1970-01-01."""
    judging, manifest = _record_beside(tables.judgements), manifest_behind(tables.outputs)
    scoring: Record = _record_beside(manifest) if manifest else {}
    params = scoring.get("params", {})
    started = judging.get("started", "1970-01-01T00:00:00+00:00")
    packages, host = scoring.get("packages", {}), scoring.get("host", {})
    engine = scoring.get("notes", {}).get("engine")
    return {
        "config": {
            "model": params.get("engine"),
            "model_args": {**params, "engine_key": engine},
            # ``scoring.engine.engine_key`` ends in |NUMBER FORMAT|SHA-256|FIRST TOKEN.
            "model_dtype": engine.split("|")[-3] if engine else None,
            "batch_size": None,
            "device": None,
            "limit": _limit_and_all_items(tables.items)[0],
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
    }


def _scoring_seconds(evaluations: Sequence[Evaluation]) -> str | None:
    """Return the duration of the scoring jobs, each counted once; None if a record is missing."""
    seconds: dict[Path, float] = {}
    for tables in evaluations:
        manifest = manifest_behind(tables.outputs)
        record: Record = _record_beside(manifest) if manifest else {}
        if not manifest or not record:
            return None
        start, end = (datetime.fromisoformat(record[key]) for key in ("started", "ended"))
        seconds[manifest] = (end - start).total_seconds()
    return str(sum(seconds.values()))


def export_model(benchmark: str, evaluations: Sequence[Evaluation], output: Path) -> Path:
    """Write results and samples of one model below ``output``; return the path of the results.

    ``evaluations``: the model's tables in each language; a language without judged items is left
    out. Raises UserError as ``samples_of``, and when no item has a judgement.
    """
    entries: dict[str, dict[str, Any]] = defaultdict(dict)  # by section, then by task
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
            entries[section][task] = value
        lines = (json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
        write_text(folder / f"samples_{task}_{time}.jsonl", "".join(lines))
    if not entries:
        name = evaluations[0].model
        raise UserError(f"{name}: no item has a judgement; there is nothing to export.")
    results = {**entries, "group_subtasks": {}, **identity}
    results |= dict.fromkeys(FIELDS["null_fields"])
    results["total_evaluation_time_seconds"] = _scoring_seconds(evaluations)
    path = folder / f"results_{time}.json"
    write_text(path, json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    return path


# Items from documents

SAMPLES_TIME = re.compile(r"_\d{4}-\d\d-\d\dT[\d.:-]+$")
"""Time at the end of a file name such as samples_TASK_2026-01-31T10-00-00.5."""
Span = tuple[int | None, int | None]
"""Start and end of a region of a sentence."""
NOWHERE: Span = (None, None)  # no region
Doc = Mapping[str, Any]
"""A document: a JSON object with two sentences."""


class FirstDocument(NamedTuple):
    """The first document with an item id; all documents with this id must have the same pair."""

    address: str  # file and line
    row: Mapping[str, Any]
    paradigms: set[str]
    """Paradigms of all documents with this id."""


def differing_words(good: str, bad: str) -> tuple[Span, Span]:
    """Return the span of the differing words in each sentence; ``NOWHERE`` without any.

    >>> differing_words("The cat sleeps.", "The cats sleeps.")
    ((4, 7), (4, 8))
    """
    good_words, bad_words = good.split(), bad.split()
    equal_at_start = common_prefix_length(good_words, bad_words)
    # An equal end is an equal beginning of the reversed words.
    good_tail, bad_tail = good_words[equal_at_start:], bad_words[equal_at_start:]
    equal_at_end = common_prefix_length(good_tail[::-1], bad_tail[::-1])
    spans: list[Span] = []
    for text in (good, bad):
        word_spans = [word.span() for word in re.finditer(r"\S+", text)]
        differing = word_spans[equal_at_start : len(word_spans) - equal_at_end]
        spans.append((differing[0][0], differing[-1][1]) if differing else NOWHERE)
    return spans[0], spans[1]


def critical_regions(doc: Doc, good: str, bad: str) -> tuple[Span, Span]:
    """Return the critical regions of a document's two sentences, in code points.

    They come from the first of these sources that there is:

    1. regions that the document states (``good_start`` etc.), even if for one sentence only;
    2. critical words for a prefix method: {"one_prefix_method": true, "one_prefix_prefix": "A cat",
       "one_prefix_word_good": "sleeps", "one_prefix_word_bad": "sleep"};
    3. the differing words.

    Raises ValueError when some fields of a prefix method are missing.
    """
    stated_good = (doc.get("good_start"), doc.get("good_end"))
    stated_bad = (doc.get("bad_start"), doc.get("bad_end"))
    if (stated_good, stated_bad) != (NOWHERE, NOWHERE):
        return stated_good, stated_bad
    for method, columns in FIELDS["prefixed"].items():
        # Fields with the prefixes of both sentences, then with the critical words of both.
        names = [f"{method}_{column}" for column in columns]
        missing = [name for name in names if doc.get(name) in (None, "")]
        if not doc.get(f"{method}_method") or len(missing) == len(names):
            continue
        if missing:
            raise ValueError(f"has no {missing[0]}, which its prefix method needs")
        spans = []
        for text, prefix_name, word_name in zip((good, bad), names[:2], names[2:], strict=True):
            prefix, word = str(doc[prefix_name]), str(doc[word_name])
            start = text.find(word, len(prefix))
            spans.append((start, start + len(word)) if start >= 0 else NOWHERE)
        return spans[0], spans[1]
    return differing_words(good, bad)


def sentences_of(doc: Doc) -> tuple[str, str]:
    """Return the good and the bad sentence of a document. Raises ValueError without them."""
    for names in FIELDS["sentences"]:
        if not {*names} <= doc.keys():
            continue
        for name in names:
            if not isinstance(doc[name], str) or not doc[name].strip():
                raise ValueError(f"{name} is {doc[name]!r}, expected a sentence")
        return doc[names[0]], doc[names[1]]
    expected = "; ".join(" and ".join(names) for names in FIELDS["sentences"])
    raise ValueError(f"has no pair of sentences, expected {expected}")


def _name_of(doc: Doc, fields: Sequence[str], default: str) -> str:
    """Return the value of the first of ``fields`` that a document has."""
    values = [str(doc[field]) for field in fields if doc.get(field)]
    return values[0] if values else default


def _item(doc: Doc, lang: str, task: str) -> dict[str, Any]:
    """Convert a document to an item; ``task``: default of phenomenon and paradigm."""
    good, bad = sentences_of(doc)
    phenomenon = _name_of(doc, FIELDS["phenomenon"], task)
    paradigm = _name_of(doc, FIELDS["paradigm"], task)
    if ALL in (phenomenon, paradigm):
        raise ValueError(
            f"its phenomenon is {phenomenon!r} and its paradigm {paradigm!r}; {ALL!r} is the name "
            "for averages over all, so rename it in the document, or rename the file"
        )
    # Raises ValueError for a text that UTF-8 cannot encode, with a lone surrogate.
    content = f"{lang}\t{paradigm}\t{good}\t{bad}".encode()
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
        if span == NOWHERE:
            continue
        # ``isinstance`` would take true for a number.
        if not (type(start) is int and type(end) is int and 0 <= start < end <= len(row[side])):
            raise ValueError(
                f"the region of the {side} sentence goes from {start!r} to {end!r}, expected whole "
                f"numbers of characters inside its {len(row[side])}, the first one smaller"
            )
    return row


def _new_document(line: str, logged: set[str]) -> Doc | None:
    """Return the document in a line, unless ``logged`` has it already; add it to ``logged``.

    The harness logs a document once for each filter. As files of several tasks may be joined, a
    ``doc_id`` is not unique, so ``logged`` has texts of [doc_id, document]. Documents without an id
    are no samples and always new. Raises ValueError for a line without a document.
    """
    try:
        value = load_json(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON ({error})") from error
    doc = value.get("doc", value) if isinstance(value, dict) else value
    if not isinstance(doc, dict):
        raise ValueError(f"is no document but {type(doc).__name__}")
    if "doc" not in value or value.get("doc_id") is None:
        return doc
    identity = json.dumps([value["doc_id"], doc], sort_keys=True)
    is_new = identity not in logged
    logged.add(identity)
    return doc if is_new else None


def _rows(
    path: Path, lang: str, first: dict[str, FirstDocument], problems: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield the items of a file; add its first documents to ``first``, faults to ``problems``.

    Scores are stored by item id, so two pairs must not have the same id, but a pair may be in
    several paradigms. ``first``: first documents of this and earlier files, by item id.
    """
    task, logged = SAMPLES_TIME.sub("", path.stem.removeprefix("samples_")), set[str]()
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} can't be read ({error}); expected lines of JSON.") from error
    for number, line in enumerate(lines, start=1):
        try:
            doc = _new_document(line, logged) if line.strip() else None
            if doc is None:
                continue
            row = _item(doc, lang, task)
            item_id, paradigm = row["item_id"], row["paradigm"]
            if item_id not in first:
                first[item_id] = FirstDocument(f"{path}:{number}", row, set())
            address, earlier, paradigms = first[item_id]
            if (row["good"], row["bad"]) != (earlier["good"], earlier["bad"]):
                raise ValueError(
                    f"its item_id {item_id!r} is that of another pair in {address}; make ids "
                    "unique over all files"
                )
            if paradigm in paradigms:
                raise ValueError(
                    f"its item_id {item_id!r} is that of this pair in {address}; leave one out"
                )
            paradigms.add(paradigm)
            yield row
        except ValueError as error:
            problems.append(f"{path}:{number}: {error}.")


def import_items(files: Sequence[Path], lang: str, output: Path) -> int:
    """Write the pairs in files of samples or data sets as a table of items; return their number.

    A document that lacks phenomenon or paradigm gets the task in its file's name. Raises UserError
    with file and line of each problem, such as two pairs with one id; then nothing is written.
    """
    if not re.fullmatch("[a-z]{3}", lang):
        raise UserError(
            f"--lang is {lang!r}; expected the ISO 639-3 code of the items' language, three "
            "lower-case letters such as eng."
        )
    problems: list[str] = []
    first: dict[str, FirstDocument] = {}
    rows = [row for path in files for row in _rows(path, lang, first, problems)]
    if problems:
        most = 20
        more = [f"… and {len(problems) - most} more."] if len(problems) > most else []
        raise UserError("\n".join([*problems[:most], *more]))
    if not rows:
        raise UserError(f"{', '.join(map(str, files))}: no document; expected lines of JSON.")
    identical = sum(row["good"] == row["bad"] for row in rows)
    if identical:
        log.warning("%s: %d of %d pairs are twice the same sentence", output, identical, len(rows))
    write_table(pa.Table.from_pylist(rows, ITEMS.arrow()), ITEMS, output)
    return len(rows)
