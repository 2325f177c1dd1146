"""Build the report card of an evaluation from the evaluation's tables, in several formats.

The workflow calls ``build_report_card`` with the inputs that ``card.card_facts`` collects. It
writes ``card.json`` (a ``card.Card``, from ``build_card``), an HTML page, and tables to paste into
a paper. Each model gets a file of results in the form of lm-evaluation-harness ("the harness"), and
checkpoints of a training run get a figure of curves. A faulty table raises UserError.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import langcodes
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from blimpworks import __version__
from blimpworks.campaign.addresses import short_address
from blimpworks.campaign.engines import find_engine
from blimpworks.errors import UserError
from blimpworks.evaluation import judged, measured, show
from blimpworks.evaluation.card import (
    CURVES,
    FORMAT,
    MEAN,
    Benchmark,
    Card,
    Facts,
    Model,
    Record,
    Row,
    SuiteTable,
    rerun_command,
    sensitivity_table,
)
from blimpworks.evaluation.checkpoints import draw_curves
from blimpworks.evaluation.judged import Tables
from blimpworks.evaluation.suite_numbers import suite_rows
from blimpworks.evaluation.suites import Suite
from blimpworks.exhibits.exhibit import Cell, Exhibit
from blimpworks.exhibits.formulas import UNWEIGHTED
from blimpworks.exhibits.render import latex_text, markdown_text, render
from blimpworks.exhibits.shared import read_plain
from blimpworks.files import sha256_of, write_text
from blimpworks.interop.lm_eval import metric_name, sanitized
from blimpworks.items import ALL
from blimpworks.models import own_code
from blimpworks.models.checkpoint import read_description
from blimpworks.models.facts import facts_of
from blimpworks.records.reading import record_of
from blimpworks.scoring.shards import read_manifest
from blimpworks.tables import ACCURACIES, PARITY, read_table

PACKAGE_DIR = Path(__file__).parent
# Paths from this folder in one string: digests of code include the files that strings name.
TEMPLATE, STYLE = "assets/card.html.jinja", "assets/card.css"


def _rows_of_phenomena(benchmark: Benchmark) -> list[tuple[str, list[Row]]]:
    """Return (language, rows of its phenomena), without languages in which no item was judged."""
    languages = dict.fromkeys(row["lang"] for row in benchmark["rows"] if row["lang"] != MEAN)
    tables = [(lang, show.phenomena(benchmark, lang)) for lang in languages]
    return [(lang, rows) for lang, rows in tables if any(row["models"] for row in rows)]


def page_of(card: Card) -> str:
    """Return the card's page as HTML."""
    environment = Environment(
        loader=FileSystemLoader(PACKAGE_DIR), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["tag"] = langcodes.standardize_tag
    for name in ("percent", "points", "nats", "p_value", "ties", "size"):
        environment.filters[name] = getattr(show, name)
    curves = [Path(path).name for path in card["files"] if path.endswith(CURVES)]
    return environment.get_template(TEMPLATE).render(
        card=card,
        show=show,
        text=show.CardText(card),
        rows_of_phenomena=_rows_of_phenomena,
        curves=curves[0] if curves else "",
        # Safe as markup, because the file is part of this package.
        style=Markup((PACKAGE_DIR / STYLE).read_text(encoding="utf-8")),  # noqa: S704
    )


def _table_for_papers(card: Card, benchmark: Benchmark, level: str, rows: Sequence[Row]) -> Exhibit:
    """Return a table of accuracies to paste into a paper; ``level``: "Phenomenon" or "Paradigm"."""
    text, models = show.CardText(card), [*benchmark["methods"]]
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}  # {name of a row: its labels}
    has_languages = len(benchmark["items"]) > 1
    for number, row in enumerate(rows):
        row_name = str(number)
        labels = {"Language": text.language(row["lang"])} if has_languages else {}
        labels["Phenomenon"] = benchmark["phenomena"].get(row["phenomenon"], ALL)
        labels[level] = row["label"]
        labels["n"] = show.counts(row, models)
        stub[row_name] = labels
        for model in models:
            if model not in row["models"]:
                continue
            share, low, high = (row["models"][model][key] for key in ("accuracy", "low", "high"))
            printed = f"{show.percent(share)} ({show.interval(low, high)})"
            label, value = text.label(model), 100 * share
            cells.append(Cell(row_name, label, value, printed, UNWEIGHTED, "accuracies", where={}))
    sentences = [
        "Accuracy in % and its 95 % interval.",
        text.items_line(benchmark),
        f"Judged by {text.methods_line(benchmark)}.",
        *text.skipped_lines(benchmark),
        show.unlike_languages(benchmark),
    ]
    caption = " ".join(filter(None, sentences))
    title = f"{benchmark['label']} by {level.lower()}"
    return Exhibit(title, caption, cells, stub=stub, named=False)


def _model(facts: Record) -> Model:
    """Return the card's entry for a model, from its facts, its checkpoint and its self-tests."""
    description = read_description(Path(facts["checkpoint"]))
    source, digest_of_code = description.source, description.files.get(own_code.FILE)
    # Findings of the self-test before each scoring, by name of the check.
    checks = [read_manifest(Path(path)).checks for path in facts["manifests"]]
    starts = dict.fromkeys(findings.get("first token", "") for findings in checks)
    better_starts = dict.fromkeys(findings.get("other starts", "") for findings in checks)
    notes = [facts["note"], getattr(source, "described", "")]
    if digest_of_code:
        notes.append(f"Runs code of its own, with the user's consent (SHA-256 {digest_of_code}).")
    if facts["tuning"] == "chat" and facts["manifests"]:
        notes.append("Sentences were read as plain texts, without its chat template.")
    return {
        "label": facts["label"],
        "hf_id": short_address(facts["hf_id"]),
        "revision": getattr(source, "revision", "") or getattr(source, "sha256", ""),
        "parameters": facts["parameters"],
        "architecture": facts["architecture"],
        "engine": facts["engine"],
        "dtype": facts["dtype"],
        "first_token": facts["first_token"],
        "start": " or ".join(filter(None, starts)),
        "better_start": " ".join(filter(None, better_starts)),
        "note": " ".join(filter(None, notes)),
        "checks": checks[0] if checks else {},
        "tuning": facts["tuning"],
        "checkpoints": facts["checkpoints"],
    }


def _sensitivity(tables: Tables, model: str) -> list[Record]:
    """Return a model's accuracies with each first token; the evaluation's token comes first."""
    accuracies: list[Record] = []
    for lang in tables.benchmark["sensitivity"][model]:
        path = sensitivity_table(tables.facts["results"], tables.name, lang, model)
        rows = read_table(PARITY, Path(path)).to_pylist()
        method = tables.methods[model]
        # Without first tokens that the model cannot have. The first row has the evaluation's token.
        possible = [r for r in rows if r["method"] == method and r["impossible"] is None]
        row_by_token: dict[str, Record] = {}
        for row in possible:
            # The rule "likeliest" chooses a token that also has a row: keep the first row of each.
            row_by_token.setdefault(row["first_token"], row)
        for row in row_by_token.values():
            first_token = row["start"] or str(row["first_token"])
            labels = {"lang": lang, "first_token": first_token, "own": row is possible[0]}
            keys = ("n", "skipped", "accuracy", "low", "high", "flips", "flips_beyond")
            accuracies.append(labels | {key: row[key] for key in keys})
    return accuracies


def _benchmark(tables: Tables) -> Benchmark:
    """Return the card's entry for a benchmark; p-values of its tests are not corrected yet."""
    facts, benchmark = tables.facts, tables.benchmark
    models = benchmark["languages"]
    # Models have wrong answers on benchmarks of prompts, and worst items on those of sentences.
    answering_models = [*models] if benchmark["unit"] == "prompt" else []
    scoring_models = [model for model in models if model not in answering_models]
    items = []
    for lang, path in benchmark["items"].items():
        count = measured.item_counts(path)[ALL]
        count_before_sampling = measured.item_counts(benchmark["all_items"].get(lang, path))[ALL]
        items.append({"lang": lang, "n": count, "of": count_before_sampling})
    rows = measured.accuracy_rows(tables, judged.skipped_items(tables))
    return {
        "name": tables.name,
        "label": benchmark["label"],
        "citation": benchmark["citation"],
        "address": benchmark["address"],
        "unit": benchmark["noun"],
        "data": benchmark["data"].rstrip("."),
        "phenomena": {row["phenomenon"]: row["label"] for row in rows if row["phenomenon"] != ALL},
        "methods": tables.methods,
        "chance": benchmark["chance"],
        "items": items,
        "rows": rows,
        "paradigms": measured.paradigm_rows(tables),
        "rankings": measured.rankings(tables),
        "size_classes": measured.size_classes(tables),
        "tests": judged.paired_tests(tables),
        "worst": {model: judged.worst_items(tables, model) for model in scoring_models},
        "wrong": {model: judged.wrong_answers(tables, model) for model in answering_models},
        "written": {model: judged.written_answers(tables, model) for model in answering_models},
        "sensitivity": {model: _sensitivity(tables, model) for model in benchmark["sensitivity"]},
        "unknown": {
            model: measured.unknown_words(tables.path("scores", lang, model) for lang in languages)
            for model, languages in models.items()
            if find_engine(facts["models"][model]["engine"]).whole_words
        },
    }


def _suite(
    facts: Facts, tables: Mapping[str, Tables], benchmarks: Sequence[Benchmark]
) -> SuiteTable | None:
    """Return the card's table of a suite; None without a suite."""
    if not facts["suite"]:
        return None
    suite = Suite.model_validate(facts["suite"])
    totals = {entry["name"]: show.totals(entry)[0] for entry in benchmarks}
    reasons_not_run = {}
    for task in suite.tasks:
        if task.benchmark not in tables:
            reason = f"its data are at {task.source}" if task.local else "not in this evaluation"
            reasons_not_run[task.label] = reason
    return {
        "label": suite.label,
        "address": suite.address,
        "rows": suite_rows(suite, tables, totals),
        # Causal models whose first token is not the suite's.
        "other_starts": [
            model["label"]
            for model in facts["models"].values()
            if model["architecture"] == "causal"
            and suite.first_token not in (None, model["first_token"])
        ],
        "missing": {**reasons_not_run, **suite.missing},
    }


def build_card(facts: Facts, files: Sequence[str] = ()) -> Card:
    """Return the data of a report card that lists ``files``. Raises UserError without models."""
    if not facts["benchmarks"]:
        raise UserError(
            f"{facts['configfile']}: no model is run on a benchmark, so there is nothing to "
            "report; name models and benchmarks in the campaign."
        )
    # Models are copied, because their sizes are filled in.
    facts = {**facts, "models": {name: model.copy() for name, model in facts["models"].items()}}
    for model in facts["models"].values():
        if not model["parameters"]:
            # The table of models has no size, so the parameters in the weights are counted.
            count = facts_of(Path(model["checkpoint"]).parent).parameters
            model["parameters"] = count / 1e9 if count else None
    tables = {name: Tables(name, facts) for name in facts["benchmarks"]}
    benchmarks = [_benchmark(tables_of_benchmark) for tables_of_benchmark in tables.values()]
    # p-values are corrected for the tests of all benchmarks together.
    tests = judged.with_holm([test for entry in benchmarks for test in entry["tests"]])
    next_test = iter(tests)
    for benchmark in benchmarks:
        benchmark["tests"] = [next(next_test) for _ in benchmark["tests"]]
    records = (record_of(Path(entry["accuracies"])) for entry in facts["benchmarks"].values())
    latest = max(filter(None, records), key=lambda record: str(record["ended"]), default={})
    return {
        "format": FORMAT,
        "campaign": facts["campaign"],
        "description": facts["description"],
        "date": str(latest.get("ended", "")),
        "version": __version__,
        "commit": latest.get("git", {}).get("commit") or "",
        "limit": facts["limit"],
        "rerun": rerun_command(facts["configfile"]),
        "results": facts["results"],
        "files": list(files),
        "languages": facts["languages"],
        "models": {name: _model(model) for name, model in facts["models"].items()},
        "benchmarks": benchmarks,
        "tests": len(tests),
        "suite": _suite(facts, tables, benchmarks),
    }


def task_name(*names: str) -> str:
    """Join names by ``_``, and replace characters that file names cannot have."""
    return "_".join(re.sub(r"[^\w.+#-]+", "_", name).strip("_") for name in names)


SECTIONS = ("results", "configs", "versions", "n-shot", "higher_is_better", "n-samples")
"""Keys of a results file whose values have an entry for each task."""


def _tasks_of(benchmark: str, lang: str, phenomena: Sequence[str]) -> dict[str, str]:
    """Return {task: phenomenon}, such as {"mine_eng": "all", "mine_eng_agreement": "agreement"}."""
    task_of_all = task_name(benchmark, lang)
    if len(phenomena) < 2:  # the only phenomenon has all items
        return {task_of_all: ALL}
    names = [task_name(benchmark, lang, phenomenon) for phenomenon in phenomena]
    # ``task_name`` replaces characters, so two phenomena can get one name: number these.
    tasks = [
        name if names.count(name) == 1 else f"{name}_{number}"
        for number, name in enumerate(names, start=1)
    ]
    return {task_of_all: ALL, **dict(zip(tasks, phenomena, strict=True))}


def _task_entries(
    task: str, rows: Sequence[Mapping[Any, Any]], counts: Record, config: Record
) -> dict[str, Any]:
    """Return a task's entry in each of ``SECTIONS``; ``rows`` are accuracies by judging methods."""
    # {judging method: (accuracy, number of judged items)}, then the same by metric of the harness.
    by_method = {row["method"]: (float(row["accuracy"]), int(row["n"])) for row in rows}
    metrics = {metric_name(method): value for method, value in by_method.items()}
    main_method = config["metadata"]["method"]
    if "acc" not in metrics and main_method in by_method:
        metrics = {"acc": by_method[main_method], **metrics}
    judged_items = max((n for _, n in metrics.values()), default=0)
    results: dict[str, Any] = {"name": task, "alias": task, "sample_len": judged_items}
    for metric, (accuracy, n) in metrics.items():
        # The standard error as the harness computes it.
        variance = max(0.0, accuracy * (1 - accuracy))
        results[f"{metric},none"] = accuracy
        results[f"{metric}_stderr,none"] = math.sqrt(variance / (n - 1)) if n > 1 else "N/A"
    return {
        "results": results,
        "configs": {"task": task, **config},
        "versions": config["metadata"]["version"],
        "n-shot": config["num_fewshot"],
        "higher_is_better": dict.fromkeys(metrics, True),
        "n-samples": {**counts, "effective": judged_items},
    }


def model_results(card: Card, facts: Facts, model: str) -> dict[str, Any]:
    """Return one model's accuracies as a results file of lm-evaluation-harness, without samples.

    The layout is that of lm-eval 0.4.13 (``result_schema.py``). A task is a benchmark in a
    language; phenomena are tasks below it (``_tasks_of``). ``acc`` is by log-probabilities of full
    sentences, as in the harness, or else by the main method; for others see ``interop.lm_eval``.
    """
    sections: dict[str, Any] = {name: {} for name in SECTIONS}
    output_types = {"pair": "multiple_choice", "prompt": "generate_until"}
    subtasks: dict[str, list[str]] = {}
    for entry in card["benchmarks"]:
        name, benchmark = entry["name"], facts["benchmarks"][entry["name"]]
        if model not in benchmark["languages"]:
            continue
        method = benchmark["methods"][model][0]
        frame = read_plain(ACCURACIES, Path(benchmark["accuracies"]))
        frame = frame[(frame["model"] == model) & (frame["paradigm"] == ALL)]
        for lang in benchmark["languages"][model]:
            skipped = {
                row["phenomenon"]: row["skipped"][model]
                for row in entry["rows"]
                if row["lang"] == lang and model in row["skipped"]
            }
            # By phenomenon. If all items of a phenomenon were skipped, it has no rows, but a task.
            rows: dict[str, list[Mapping[Any, Any]]] = {phenomenon: [] for phenomenon in skipped}
            for row in frame[frame["lang"] == lang].to_dict("records"):
                rows.setdefault(row["phenomenon"], []).append(row)
            if not rows:
                continue
            items = benchmark["items"][lang]
            item_counts = measured.item_counts(benchmark["all_items"].get(lang, items))
            config = {
                "dataset_path": items,
                "output_type": output_types[benchmark["unit"]],
                "num_fewshot": 0,
                "metadata": {"version": sha256_of(Path(items))[:12], "method": method},
            }
            tasks = _tasks_of(name, lang, [phenomenon for phenomenon in rows if phenomenon != ALL])
            task_of_all, *tasks_of_phenomena = tasks
            subtasks[task_of_all] = tasks_of_phenomena
            for task, phenomenon in tasks.items():
                counts: Record = {"original": item_counts[phenomenon]}
                if reasons := skipped.get(phenomenon):
                    counts |= {"skipped": reasons["n"], "skipped_because": reasons["reasons"]}
                entries = _task_entries(task, rows[phenomenon], counts, config)
                for section, entry_of_task in entries.items():
                    sections[section][task] = entry_of_task
    described, date = card["models"][model], card["date"]
    name, size = described["hf_id"] or model, described["parameters"]
    arguments = {key: described[key] for key in ("revision", "dtype", "first_token", "start")}
    return {
        **sections,
        "group_subtasks": subtasks,
        "config": {
            "model": described["engine"],
            "model_args": {"pretrained": name, **arguments},
            "model_num_parameters": None if size is None else round(size * 1e9),
            "model_dtype": described["dtype"],
            "model_revision": described["revision"],
            "batch_size": None,
            "device": None,
            "limit": card["limit"],
        },
        "git_hash": card["commit"] or None,
        "date": datetime.fromisoformat(date).astimezone(UTC).timestamp() if date else None,
        "lm_eval_version": None,
        "blimpworks_version": card["version"],
        "model_source": described["engine"],
        "model_name": name,
        "model_name_sanitized": sanitized(name),
    }


def build_report_card(facts: Facts, outputs: Sequence[Path]) -> Mapping[str, int]:
    """Write a card's files (``card.card_files``); count its benchmarks, models and tests."""
    curves = [path for path in outputs if path.name == CURVES]
    # In the order of ``card_files``; ``results`` has a file for each model.
    data, page, markdown, latex, *results = (path for path in outputs if path not in curves)
    card = build_card(facts, [str(path) for path in outputs])
    for path, model in zip(results, card["models"], strict=True):
        content = model_results(card, facts, model)
        write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    tables = []
    for benchmark in card["benchmarks"]:
        if benchmark["rows"]:
            tables.append(_table_for_papers(card, benchmark, "Phenomenon", benchmark["rows"]))
        if benchmark["paradigms"]:
            tables.append(_table_for_papers(card, benchmark, "Paradigm", benchmark["paradigms"]))
    suite = card.get("suite")
    if curves and suite:
        labels = {name: model["label"] for name, model in card["models"].items()}
        figure = draw_curves(suite, labels)
        if figure.cells:
            tables.append(figure)
        render(figure, curves)
    write_text(markdown, "\n".join(map(markdown_text, tables)))
    write_text(latex, "\n".join(map(latex_text, tables)))
    write_text(page, page_of(card))
    write_text(data, json.dumps(card, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    counts = {name: len(card[name]) for name in ("benchmarks", "models")}
    return {**counts, "tests": card["tests"]}
