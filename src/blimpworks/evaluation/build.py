"""Building the report card of an evaluation from its tables."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shlex import quote

from blimpworks import __version__
from blimpworks.errors import UserError
from blimpworks.evaluation.baselines import baselines_of
from blimpworks.evaluation.card import (
    ALL,
    FORMAT,
    Benchmark,
    Card,
    FirstToken,
    Items,
    Model,
    write_card,
)
from blimpworks.evaluation.facts import (
    BenchmarkFacts,
    Facts,
    ModelFacts,
    model_table,
    sensitivity_table,
)
from blimpworks.evaluation.judged import judgements_of, paired_tests, with_holm
from blimpworks.evaluation.lm_eval_results import write_results
from blimpworks.evaluation.measured import (
    accuracy_rows,
    item_counts,
    main_accuracies,
    unknown_words,
)
from blimpworks.evaluation.page import write_page
from blimpworks.evaluation.ranking import printed_accuracies, rankings, size_classes
from blimpworks.evaluation.skipped import skipped_items
from blimpworks.evaluation.worst import worst_items, wrong_answers
from blimpworks.evaluation.written import written_answers
from blimpworks.models.checkpoint import read_description
from blimpworks.models.facts import ENGINES, facts_of
from blimpworks.records.reading import Record, record_of
from blimpworks.scoring.run import Manifest, read_manifest
from blimpworks.tables import PARITY, read_table


def _model(facts: ModelFacts) -> Model:
    """A model with the revision that its first checkpoint was made of."""
    source = read_description(Path(facts["checkpoint"])).source
    revision = getattr(source, "revision", "") or getattr(source, "sha256", "")
    manifests = [read_manifest(Path(path), Manifest) for path in facts["manifests"]]
    starts, notes = (
        dict.fromkeys(filter(None, (each.checks.get(name) for each in manifests)))
        for name in ("first token", "other starts")
    )
    known: Model = {
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
        "checks": next((each.checks for each in manifests), {}),
        "tuning": facts["tuning"],
        "checkpoints": facts["checkpoints"],
    }
    return known


def _items(benchmark: BenchmarkFacts) -> list[Items]:
    """How many items of each language models were run on, of how many."""
    counts: list[Items] = []
    for lang, path in benchmark["items"].items():
        n = item_counts(Path(path))[ALL]
        whole = benchmark["whole"].get(lang)
        counts.append({"lang": lang, "n": n, "of": item_counts(Path(whole))[ALL] if whole else n})
    return counts


def _sensitivity(name: str, benchmark: BenchmarkFacts, facts: Facts) -> dict[str, list[FirstToken]]:
    """Accuracies under each thing that can condition the first token, by model."""
    return {
        model: [
            each
            for lang in languages
            for each in _first_tokens(
                Path(sensitivity_table(facts["results"], name, lang, model)),
                lang,
                benchmark["methods"][model][0],
            )
        ]
        for model, languages in benchmark["sensitivity"].items()
    }


def _first_tokens(path: Path, lang: str, method: str) -> Iterable[FirstToken]:
    """Rows of a parity table by a method, one for each thing that conditions the first token.

    The first is the evaluation's own.
    """
    rows = read_table(PARITY, path).to_pylist()
    possible = [row for row in rows if row["method"] == method and row["impossible"] is None]
    distinct = {row["first_token"]: row for row in reversed(possible)}
    for row in reversed(distinct.values()):
        yield {
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


def _benchmark(name: str, benchmark: BenchmarkFacts, facts: Facts) -> Benchmark:
    """All that the card says of a benchmark, with p-values that are not corrected yet."""
    accuracies, printed = main_accuracies(benchmark), printed_accuracies(benchmark)
    prompts = benchmark["unit"] == "prompt"
    results, count = facts["results"], facts["worst"]
    judgements = judgements_of(name, benchmark, results)
    skipped = skipped_items(name, benchmark, judgements, results)
    rows = accuracy_rows(benchmark, accuracies, skipped, baselines_of(benchmark))
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
        "items": _items(benchmark),
        "rows": rows,
        "rankings": rankings(benchmark, facts, accuracies, printed),
        "size_classes": size_classes(benchmark, facts, accuracies, printed),
        "tests": paired_tests(benchmark, judgements),
        "worst": {
            model: worst_items(model, name, benchmark, judgements, results=results, count=count)
            for model in ([] if prompts else benchmark["languages"])
        },
        "wrong": {
            model: wrong_answers(model, name, benchmark, judgements, results=results, count=count)
            for model in (benchmark["languages"] if prompts else [])
        },
        "written": {
            model: written_answers(model, name, benchmark, results)
            for model in (benchmark["languages"] if prompts else [])
        },
        "sensitivity": _sensitivity(name, benchmark, facts),
        "unknown": {
            model: unknown_words(
                Path(model_table(results, "scores", name, lang, model)) for lang in languages
            )
            for model, languages in benchmark["languages"].items()
            if facts["models"][model]["architecture"] in ENGINES
        },
    }


def _corrected(benchmarks: Sequence[Benchmark]) -> list[Benchmark]:
    """The benchmarks with p-values that are corrected over all tests of the card."""
    tests = iter(with_holm([test for each in benchmarks for test in each["tests"]]))
    return [{**each, "tests": [next(tests) for _ in each["tests"]]} for each in benchmarks]


def _records(facts: Facts) -> list[Record]:
    """Records of the tables of accuracies, as far as there are any."""
    paths = (Path(each["accuracies"]) for each in facts["benchmarks"].values())
    return [record for path in paths if (record := record_of(path))]


def _with_sizes(models: Mapping[str, ModelFacts]) -> dict[str, ModelFacts]:
    """Models with their sizes; of those whose row has none, the parameters are counted."""
    sized: dict[str, ModelFacts] = {}
    for name, model in models.items():
        counted = facts_of(Path(model["checkpoint"]).parent).parameters
        sized[name] = model.copy()
        sized[name]["parameters"] = model["parameters"] or (counted / 1e9 if counted else None)
    return sized


def build_card(facts: Facts, files: Sequence[str] = ()) -> Card:
    """The report card of a campaign whose tables are there; ``files`` are those that show it.

    Raises UserError when no model is run on a benchmark, or a table is missing or broken.
    """
    if not facts["benchmarks"]:
        raise UserError(
            f"{facts['configfile']}: no model is run on a benchmark, so there is nothing to "
            "report; name models and benchmarks in the campaign."
        )
    facts = {**facts, "models": _with_sizes(facts["models"])}
    each = [_benchmark(name, of, facts) for name, of in facts["benchmarks"].items()]
    benchmarks = _corrected(each)
    latest = max(_records(facts), key=lambda record: str(record["ended"]), default={})
    return {
        "format": FORMAT,
        "campaign": facts["campaign"],
        "description": facts["description"],
        "date": str(latest.get("ended", "")),
        "version": __version__,
        "commit": latest.get("git", {}).get("commit") or "",
        "limit": facts["limit"],
        "rerun": f"snakemake --configfile {quote(facts['configfile'])} --cores 2 report_card",
        "results": facts["results"],
        "files": list(files),
        "languages": facts["languages"],
        "models": {name: _model(model) for name, model in facts["models"].items()},
        "benchmarks": benchmarks,
        "tests": sum(len(benchmark["tests"]) for benchmark in benchmarks),
    }


def build_report_card(facts: Facts, outputs: Sequence[Path]) -> Mapping[str, int]:
    """Write the report card: its data, its page, and a results file for each model, in this order.

    Returns how many benchmarks, models and tests there are. Raises UserError when a table is
    missing or broken.
    """
    data, page, *results = outputs
    card = build_card(facts, [str(path) for path in outputs])
    for path, model in zip(results, card["models"], strict=True):
        write_results(card, facts, model, path)
    write_page(card, page)
    write_card(card, data)
    return {
        "benchmarks": len(card["benchmarks"]),
        "models": len(card["models"]),
        "tests": card["tests"],
    }
