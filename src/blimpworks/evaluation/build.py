"""Build the report card of an evaluation from its tables.

Functions raise UserError when a table is missing or broken.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import langcodes
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from blimpworks import __version__
from blimpworks.campaign.engines import find_engine
from blimpworks.errors import UserError
from blimpworks.evaluation import show
from blimpworks.evaluation.card import (
    ALL,
    FORMAT,
    MEAN,
    Benchmark,
    Card,
    Model,
    Record,
    Row,
    rerun_command,
    write_card,
)
from blimpworks.evaluation.facts import Facts, ModelFacts, sensitivity_table
from blimpworks.evaluation.judged import (
    Tables,
    paired_tests,
    skipped_items,
    with_holm,
    worst_items,
    written_answers,
    wrong_answers,
)
from blimpworks.evaluation.lm_eval_results import model_results
from blimpworks.evaluation.measured import accuracy_rows, item_counts, unknown_words
from blimpworks.evaluation.ranking import rankings, size_classes
from blimpworks.files import write_text
from blimpworks.models.checkpoint import read_description
from blimpworks.models.facts import facts_of
from blimpworks.records.reading import record_of
from blimpworks.scoring.run import Manifest, read_manifest
from blimpworks.tables import PARITY, read_table

FOLDER = Path(__file__).parent
# Named in full, so that a record's digest of the code covers them.
TEMPLATE, STYLE = "assets/card.html.jinja", "assets/card.css"


def _bar(accuracy: Record, chance: float | None) -> str:
    shares = {"a": accuracy["accuracy"], "l": accuracy["low"], "h": accuracy["high"]}
    if chance is not None:
        shares["c"] = chance
    return ";".join(f"--{name}:{100 * share:.2f}%" for name, share in shares.items())


def _detailed(benchmark: Benchmark) -> list[tuple[str, list[Row]]]:
    """Return the languages that have several phenomena, with these; all together come first."""
    languages = dict.fromkeys([ALL, *(row["lang"] for row in benchmark["rows"])])
    phenomena = [(lang, show.phenomena(benchmark, lang)) for lang in languages if lang != MEAN]
    return [(lang, rows) for lang, rows in phenomena if any(row["models"] for row in rows)]


def page_of(card: Card) -> str:
    """Return the card's page as HTML."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["tag"] = langcodes.standardize_tag
    for name in ("percent", "points", "nats", "p_value", "ties", "size"):
        environment.filters[name] = getattr(show, name)
    return environment.get_template(TEMPLATE).render(
        card=card,
        show=show,
        bar=_bar,
        detailed=_detailed,
        name_of=lambda code: show.language(code, card["languages"]),
        label=lambda model: card["models"][model]["label"],
        # A file of ours, without a word of anybody else.
        style=Markup((FOLDER / STYLE).read_text(encoding="utf-8")),  # noqa: S704
    )


def _model(facts: ModelFacts) -> Model:
    source = read_description(Path(facts["checkpoint"])).source
    checks = [read_manifest(Path(path), Manifest).checks for path in facts["manifests"]]
    starts, notes = (
        dict.fromkeys(filter(None, (check.get(name) for check in checks)))
        for name in ("first token", "other starts")
    )
    return {
        "label": facts["label"],
        "hf_id": facts["hf_id"],
        "revision": getattr(source, "revision", "") or getattr(source, "sha256", ""),
        "parameters": facts["parameters"],
        "architecture": facts["architecture"],
        "engine": facts["engine"],
        "dtype": facts["dtype"],
        "first_token": facts["first_token"],
        "start": " or ".join(starts),
        "better_start": " ".join(notes),
        "note": facts["note"],
        "checks": checks[0] if checks else {},
        "tuning": facts["tuning"],
        "checkpoints": facts["checkpoints"],
    }


def _sensitivity(tables: Tables, model: str) -> list[Record]:
    """Return a model's accuracies by first token, its languages' own first tokens first."""
    rows: list[Record] = []
    for lang in tables.benchmark["sensitivity"][model]:
        path = sensitivity_table(tables.facts["results"], tables.name, lang, model)
        possible = [
            row
            for row in read_table(PARITY, Path(path)).to_pylist()
            if row["method"] == tables.methods[model] and row["impossible"] is None
        ]
        distinct = {row["first_token"]: row for row in reversed(possible)}
        for row in reversed(distinct.values()):
            first_token = row["start"] or str(row["first_token"])
            named = {"lang": lang, "first_token": first_token, "own": row is possible[0]}
            keys = ("n", "skipped", "accuracy", "low", "high", "flips", "flips_beyond")
            rows.append(named | {key: row[key] for key in keys})
    return rows


def _benchmark(tables: Tables) -> Benchmark:
    """Return the card's entry of a benchmark; its p-values are not corrected yet."""
    facts, benchmark = tables.facts, tables.benchmark
    models = benchmark["languages"]
    prompted, scored = (models, {}) if benchmark["unit"] == "prompt" else ({}, models)
    items = []
    for lang, path in benchmark["items"].items():
        total = benchmark["whole"].get(lang, path)
        items.append({"lang": lang, "n": item_counts(path)[ALL], "of": item_counts(total)[ALL]})
    rows = accuracy_rows(tables, skipped_items(tables))
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
        "rankings": rankings(tables),
        "size_classes": size_classes(tables),
        "tests": paired_tests(tables),
        "worst": {model: worst_items(tables, model) for model in scored},
        "wrong": {model: wrong_answers(tables, model) for model in prompted},
        "written": {model: written_answers(tables, model) for model in prompted},
        "sensitivity": {model: _sensitivity(tables, model) for model in benchmark["sensitivity"]},
        "unknown": {
            model: unknown_words(tables.path("scores", lang, model) for lang in languages)
            for model, languages in models.items()
            if find_engine(facts["models"][model]["engine"]).whole_words
        },
    }


def build_card(facts: Facts, files: Sequence[str] = ()) -> Card:
    """Return a campaign's report card; ``files`` are its own. Raises UserError without models."""
    if not facts["benchmarks"]:
        raise UserError(
            f"{facts['configfile']}: no model is run on a benchmark, so there is nothing to "
            "report; name models and benchmarks in the campaign."
        )
    facts = {**facts, "models": {name: model.copy() for name, model in facts["models"].items()}}
    for model in facts["models"].values():
        # Of a model whose row has no size, the parameters are counted.
        counted = facts_of(Path(model["checkpoint"]).parent).parameters
        model["parameters"] = model["parameters"] or (counted / 1e9 if counted else None)
    benchmarks = [_benchmark(Tables(name, facts)) for name in facts["benchmarks"]]
    tests = iter(with_holm([test for each in benchmarks for test in each["tests"]]))
    for benchmark in benchmarks:
        benchmark["tests"] = [next(tests) for _ in benchmark["tests"]]
    records = (record_of(Path(each["accuracies"])) for each in facts["benchmarks"].values())
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
        "tests": sum(len(benchmark["tests"]) for benchmark in benchmarks),
    }


def build_report_card(facts: Facts, outputs: Sequence[Path]) -> Mapping[str, int]:
    """Write the card's data, its page, and a results file per model, in this order."""
    data, page, *results = outputs
    card = build_card(facts, [str(path) for path in outputs])
    for path, model in zip(results, card["models"], strict=True):
        content = model_results(card, facts, model)
        write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    write_text(page, page_of(card))
    write_card(card, data)
    return {
        "benchmarks": len(card["benchmarks"]),
        "models": len(card["models"]),
        "tests": card["tests"],
    }
