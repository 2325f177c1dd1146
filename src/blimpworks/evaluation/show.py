"""How numbers of the report card are written, in the terminal and on its page."""

from collections.abc import Iterable, Mapping, Sequence

from blimpworks.evaluation.card import (
    ALL,
    MEAN,
    Accuracy,
    Benchmark,
    Card,
    Model,
    PairedTest,
    Ranking,
    Row,
)

MINUS = "−"
WORST_SIDES = {"good": "✓", "bad": "✗"}
"""Signs of a pair's sentences."""


def percent(value: float) -> str:
    """A share of 1 in percent: ``71.2``."""
    return f"{100 * value:.1f}"


def interval(low: float | None, high: float | None) -> str:
    """An interval in percent: ``69.1–73.2``; empty without bounds."""
    return "" if low is None or high is None else f"{percent(low)}–{percent(high)}"


def points(value: float) -> str:
    """A difference of two shares, in percentage points with a sign: ``−3.4``."""
    number = f"{abs(100 * value):.1f}"
    return number if number == "0.0" else f"{MINUS if value < 0 else '+'}{number}"


def nats(value: float | None, digits: int = 2) -> str:
    """A log-probability or margin: ``−12.34``; a dash without one."""
    if value is None:
        return "–"
    number = f"{abs(value):.{digits}f}"
    return f"{MINUS}{number}" if value < 0 and float(number) else number


def p_value(p: float) -> str:
    """A p-value to two digits: ``0.034``, ``< 0.0001``."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def ties(accuracy: Accuracy) -> str:
    """Ties and near ties, ties included: ``3 / 12``."""
    return f"{accuracy['ties']:,} / {accuracy['near_ties']:,}"


def size(billions: float | None) -> str:
    """A number of parameters: ``1.5 B``, ``124 M``; empty where it is not known."""
    if billions is None:
        return ""
    return f"{billions:.3g} B" if billions >= 1 else f"{1000 * billions:.3g} M"


def language(code: str, names: Mapping[str, str]) -> str:
    """The name of a language, or of all of them."""
    return {ALL: "All languages", MEAN: "Mean of languages"}.get(code) or names.get(code, code)


def numbers(counts: Iterable[int]) -> str:
    """Some numbers of items: ``358``, or ``300–358`` where they differ."""
    distinct = sorted({*counts})
    if not distinct:
        return ""
    first, last = f"{distinct[0]:,}", f"{distinct[-1]:,}"
    return first if first == last else f"{first}–{last}"


def model_facts(model: Model) -> list[str]:
    """What was read of a model, as short phrases."""
    several = f"{model['checkpoints']} checkpoints" if model["checkpoints"] > 1 else ""
    revision = f"revision {model['revision'][:12]}" if model["revision"] else ""
    parameters = f"{size(model['parameters'])} parameters" if model["parameters"] else ""
    first = f"first token: {model['first_token']}"
    chat = "chat" if model["tuning"] == "chat" else ""
    facts = (
        model["architecture"],
        chat,
        parameters,
        model["dtype"],
        first,
        f"engine: {model['engine']}",
        several,
        revision,
    )
    return [fact for fact in facts if fact]


def items_line(benchmark: Benchmark, limit: int | None) -> str:
    """How many items of how many languages models were run on, as a sentence."""
    items, unit = benchmark["items"], benchmark["unit"]
    n, of = (sum(each[key] for each in items) for key in ("n", "of"))
    languages = f" in {len(items)} languages" if len(items) > 1 else ""
    plural = unit if n == 1 else f"{unit}s"
    if n == of:
        return f"{n:,} {plural}{languages}: all there are."
    each = " a language" if len(items) > 1 else ""
    limited = f" (limit: {limit:,}{each})" if limit else ""
    return f"A balanced sample of {n:,} of {of:,} {plural}{languages}{limited}."


def methods_line(benchmark: Benchmark, models: Mapping[str, Model]) -> str:
    """The methods that items are judged by, as words."""
    methods = benchmark["methods"]
    if len({*methods.values()}) == 1:
        return next(iter(methods.values()))
    return ", ".join(f"{models[name]['label']}: {method}" for name, method in methods.items())


def totals(benchmark: Benchmark) -> list[Row]:
    """Rows of whole languages: all together first, if there are several."""
    return [row for row in benchmark["rows"] if row["phenomenon"] == ALL]


def phenomena(benchmark: Benchmark, lang: str) -> list[Row]:
    """Rows of the phenomena of a language, or of all languages together; none for a single one."""
    rows = [r for r in benchmark["rows"] if r["lang"] == lang and r["phenomenon"] != ALL]
    return rows if len(rows) > 1 else []


def unlike_languages(benchmark: Benchmark) -> str:
    """A warning, where models are not run on the same languages; else empty."""
    covered = {
        model: {row["lang"] for row in totals(benchmark) if model in row["models"]}
        for model in benchmark["methods"]
    }
    if len({frozenset(each) for each in covered.values()}) < 2:
        return ""
    return (
        "The models are not run on the same languages: compare them by language, not over all "
        "languages."
    )


def ours(ranking: Ranking) -> list[int]:
    """Positions of our models in a ranking."""
    return [i for i, place in enumerate(ranking["places"]) if place["ours"]]


def heading(card: Card) -> str:
    """The head line: names of the models, and of the benchmarks."""
    models = ", ".join(model["label"] for model in card["models"].values())
    return f"{models} on {', '.join(each['label'] for each in card['benchmarks'])}"


def verdict(test: PairedTest, models: Mapping[str, Model]) -> str:
    """What a test says, as a phrase."""
    if test["adjusted"] >= 0.05:
        return "no difference shown"
    better = test["a"] if test["only_a"] > test["only_b"] else test["b"]
    return f"{models[better]['label']} is better"


def chunks(names: Sequence[str], count: int) -> list[Sequence[str]]:
    """Names in groups of at most ``count``."""
    return [names[i : i + count] for i in range(0, len(names), count)]
