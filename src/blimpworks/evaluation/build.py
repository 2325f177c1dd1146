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
    Accuracy,
    Benchmark,
    Card,
    FirstToken,
    Items,
    Model,
    Row,
    rerun_command,
    write_card,
)
from blimpworks.evaluation.facts import (
    BenchmarkFacts,
    Facts,
    ModelFacts,
    model_table,
    sensitivity_table,
)
from blimpworks.evaluation.judged import (
    judgements_of,
    paired_tests,
    skipped_items,
    with_holm,
    worst_items,
    written_answers,
    wrong_answers,
)
from blimpworks.evaluation.lm_eval_results import model_results
from blimpworks.evaluation.measured import (
    accuracy_rows,
    baselines_of,
    item_counts,
    main_accuracies,
    unknown_words,
)
from blimpworks.evaluation.ranking import printed_accuracies, rankings, size_classes
from blimpworks.files import write_text
from blimpworks.models.checkpoint import read_description
from blimpworks.models.facts import facts_of
from blimpworks.records.reading import record_of
from blimpworks.scoring.run import Manifest, read_manifest
from blimpworks.tables import PARITY, read_table

FOLDER = Path(__file__).parent
# Named in full, so that a record's digest of the code covers them.
TEMPLATE, STYLE = "assets/card.html.jinja", "assets/card.css"


def _bar(accuracy: Accuracy, chance: float | None) -> str:
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
    revision = getattr(source, "revision", "") or getattr(source, "sha256", "")
    checks = [read_manifest(Path(path), Manifest).checks for path in facts["manifests"]]
    starts, notes = (
        dict.fromkeys(filter(None, (check.get(name) for check in checks)))
        for name in ("first token", "other starts")
    )
    return {
        "label": facts["label"],
        "hf_id": facts["hf_id"],
        "revision": revision,
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


def _benchmark(name: str, benchmark: BenchmarkFacts, facts: Facts) -> Benchmark:
    """Return the card's entry of a benchmark; its p-values are not corrected yet."""
    accuracies, printed = main_accuracies(benchmark), printed_accuracies(benchmark)
    results, count = facts["results"], facts["worst"]
    models = [*benchmark["languages"]]
    prompted, scored = (models, []) if benchmark["unit"] == "prompt" else ([], models)
    items: list[Items] = []
    for lang, path in benchmark["items"].items():
        n = item_counts(Path(path))[ALL]
        total = benchmark["whole"].get(lang)
        items.append({"lang": lang, "n": n, "of": item_counts(Path(total))[ALL] if total else n})
    judgements = judgements_of(name, benchmark, results)
    skipped = skipped_items(name, benchmark, judgements, results)
    rows = accuracy_rows(benchmark, accuracies, skipped, baselines_of(benchmark))
    sensitivity: dict[str, list[FirstToken]] = {}
    for model, languages in benchmark["sensitivity"].items():
        sensitivity[model] = []
        for lang in languages:
            table = read_table(PARITY, Path(sensitivity_table(results, name, lang, model)))
            method = benchmark["methods"][model][0]
            possible = [
                row
                for row in table.to_pylist()
                if row["method"] == method and row["impossible"] is None
            ]
            # One per first token, the evaluation's own first.
            distinct = {row["first_token"]: row for row in reversed(possible)}
            for row in reversed(distinct.values()):
                sensitivity[model].append(
                    {
                        "lang": lang,
                        "first_token": row["start"] or str(row["first_token"]),
                        "own": row is possible[0],
                        "n": int(row["n"]),
                        "skipped": int(row["skipped"]),
                        "accuracy": row["accuracy"],
                        "low": row["low"],
                        "high": row["high"],
                        "flips": int(row["flips"]),
                        "flips_beyond": int(row["flips_beyond"]),
                    }
                )
    unknown = {}
    for model, languages in benchmark["languages"].items():
        if find_engine(facts["models"][model]["engine"]).whole_words:
            tables = (model_table(results, "scores", name, lang, model) for lang in languages)
            unknown[model] = unknown_words(map(Path, tables))
    return {
        "name": name,
        "label": benchmark["label"],
        "citation": benchmark["citation"],
        "address": benchmark["address"],
        "unit": benchmark["noun"],
        "data": benchmark["data"].rstrip("."),
        "phenomena": {row["phenomenon"]: row["label"] for row in rows if row["phenomenon"] != ALL},
        "methods": {model: each[0] for model, each in benchmark["methods"].items()},
        "chance": benchmark["chance"],
        "items": items,
        "rows": rows,
        "rankings": rankings(benchmark, facts, accuracies, printed),
        "size_classes": size_classes(benchmark, facts, accuracies, printed),
        "tests": paired_tests(benchmark, judgements),
        "worst": {m: worst_items(m, name, benchmark, judgements, results, count) for m in scored},
        "wrong": {
            m: wrong_answers(m, name, benchmark, judgements, results, count) for m in prompted
        },
        "written": {model: written_answers(model, name, benchmark, results) for model in prompted},
        "sensitivity": sensitivity,
        "unknown": unknown,
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
    benchmarks = [_benchmark(name, of, facts) for name, of in facts["benchmarks"].items()]
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
