"""Format numbers and sentences of the report card, for the terminal and the page."""

from collections.abc import Iterable, Mapping, Sequence

from blimpworks.evaluation.card import ALL, MEAN, Benchmark, Card, Model, Record, Row

FEW = 5
"""Most languages with skipped items that a line names."""

BASELINES = {
    "longer": "Longer: the sentence with more characters is taken for the good one, and equal "
    "ones count half;",
    "shorter": "shorter: the one with fewer.",
    "frequent words": "Frequent words: the one whose words have the higher mean Zipf frequency "
    "(wordfreq).",
    "commoner label": "Commoner label: what most sentences of the paradigm are.",
    "chance": "Chance: one of an item's options.",
}
"""Sentences that explain the baselines, by name."""
MINUS = "−"
WORST_SIDES = {"good": "✓", "bad": "✗"}
"""Signs of a pair's sentences."""


def percent(value: float | None) -> str:
    """Format a share of 1 in percent: ``71.2``; a dash for None."""
    return "–" if value is None else f"{100 * value:.1f}"


def interval(low: float | None, high: float | None) -> str:
    """Format an interval in percent: ``69.1–73.2``; empty without bounds."""
    return "" if low is None or high is None else f"{percent(low)}–{percent(high)}"


def points(value: float) -> str:
    """Format a difference of shares in percentage points with a sign: ``−3.4``."""
    number = f"{abs(100 * value):.1f}"
    return number if number == "0.0" else f"{MINUS if value < 0 else '+'}{number}"


def nats(value: float | None, digits: int = 2) -> str:
    """Format a log-probability or margin: ``−12.34``; a dash for None."""
    if value is None:
        return "–"
    number = f"{abs(value):.{digits}f}"
    return f"{MINUS}{number}" if value < 0 and float(number) else number


def p_value(p: float) -> str:
    """Format a p-value to two digits: ``0.034``, ``< 0.0001``."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def ties(accuracy: Record) -> str:
    """Format ties and near ties, ties included: ``3 / 12``."""
    return f"{accuracy['ties']:,} / {accuracy['near_ties']:,}"


def size(billions: float | None) -> str:
    """Format a number of parameters: ``1.5 B``, ``124 M``; empty for None."""
    if billions is None:
        return ""
    return f"{billions:.3g} B" if billions >= 1 else f"{1000 * billions:.3g} M"


def language(code: str, names: Mapping[str, str]) -> str:
    """Return a language's name; ``all`` and ``mean`` have names too."""
    return {ALL: "All languages", MEAN: "Mean of languages"}.get(code) or names.get(code, code)


def numbers(counts: Iterable[int]) -> str:
    """Format numbers of items: ``358``, or ``300–358`` where they differ."""
    ordered = sorted(counts)
    return "–".join(dict.fromkeys(f"{n:,}" for n in [*ordered[:1], *ordered[-1:]]))


def checked(model: Model) -> str:
    """Name a model's passed tests, with unusual findings; empty without any."""
    tests = ("weights", "tokenizer", "form", "causality", "padding", "prefixes", "vocabulary")
    findings = {name: model["checks"][name] for name in tests if name in model["checks"]}
    shown_findings = (
        f"{name} ({text})" if any(mark in text for mark in ",;:") else name
        for name, text in findings.items()
    )
    return f"Checked: {', '.join(shown_findings)}." if findings else ""


def model_facts(model: Model) -> list[str]:
    """Return short phrases on a model."""
    facts = (
        model["architecture"],
        "chat" if model["tuning"] == "chat" else "",
        f"{size(model['parameters'])} parameters" if model["parameters"] else "",
        model["dtype"],
        f"first token {model['start'] or model['first_token']}",
        f"engine: {model['engine']}",
        f"{model['checkpoints']} checkpoints" if model["checkpoints"] > 1 else "",
        f"revision {model['revision'][:12]}" if model["revision"] else "",
    )
    return [fact for fact in facts if fact]


def items_line(benchmark: Benchmark, limit: int | None) -> str:
    """Return a sentence on the numbers of items and languages."""
    items, unit = benchmark["items"], benchmark["unit"]
    n, of = (sum(item_count[key] for item_count in items) for key in ("n", "of"))
    languages = f" in {len(items)} languages" if len(items) > 1 else ""
    plural = unit if n == 1 else f"{unit}s"
    if n == of:
        return f"{n:,} {plural}{languages}: all there are."
    item_count = " a language" if len(items) > 1 else ""
    limited = f" (limit: {limit:,}{item_count})" if limit else ""
    return f"A balanced sample of {n:,} of {of:,} {plural}{languages}{limited}."


def methods_line(benchmark: Benchmark, models: Mapping[str, Model]) -> str:
    """Return the judging methods, by model where they differ."""
    methods = benchmark["methods"]
    if len({*methods.values()}) == 1:
        return next(iter(methods.values()))
    return ", ".join(f"{models[name]['label']}: {method}" for name, method in methods.items())


def totals(benchmark: Benchmark) -> list[Row]:
    """Return the rows of whole languages, all together first."""
    return [row for row in benchmark["rows"] if row["phenomenon"] == ALL]


def baselines(rows: Iterable[Row]) -> list[str]:
    """Return the names of the rows' baselines, in the order of ``BASELINES``."""
    present = {name for row in rows for name in row["baselines"]}
    return [name for name in BASELINES if name in present]


def baseline_line(benchmark: Benchmark) -> str:
    """Return a sentence with the baselines' shares of the whole benchmark; empty without any."""
    shares = totals(benchmark)[0]["baselines"] if benchmark["rows"] else {}
    baselines = ", ".join(f"{name} {percent(share)}" for name, share in shares.items())
    return f"Baselines (%): {baselines}." if baselines else ""


def baselines_note(benchmark: Benchmark, names: Mapping[str, str]) -> str:
    """Explain the baselines, and name languages without word frequencies; empty without any."""
    rows = [row for row in totals(benchmark) if row["lang"] not in (ALL, MEAN)]
    sentences = [BASELINES[name] for name in baselines(rows)]
    unknown = [
        language(row["lang"], names)
        for row in rows
        if "longer" in row["baselines"] and "frequent words" not in row["baselines"]
    ]
    if unknown:
        sentences.append(f"wordfreq gives no frequencies of {', '.join(unknown)} here.")
    return " ".join(["Baselines, by the items alone.", *sentences]) if sentences else ""


def phenomena(benchmark: Benchmark, lang: str) -> list[Row]:
    """Return the rows of a language's phenomena; none if there is only one."""
    rows = [r for r in benchmark["rows"] if r["lang"] == lang and r["phenomenon"] != ALL]
    return rows if len(rows) > 1 else []


def counts(row: Row, models: Iterable[str]) -> str:
    """Format the numbers of items that models were judged on: ``358``, ``0–358``."""
    run = [model for model in models if model in {*row["models"], *row["skipped"]}]
    return numbers(row["models"][model]["n"] if model in row["models"] else 0 for model in run)


def skips(row: Row, models: Iterable[str]) -> str:
    """Format the numbers of items that models skipped: ``18``, ``0–18``."""
    run = [model for model in models if model in {*row["models"], *row["skipped"]}]
    return numbers(row["skipped"][model]["n"] if model in row["skipped"] else 0 for model in run)


def _few(texts: Sequence[str], comma: str = ", ") -> str:
    more = [f"{len(texts) - FEW} more"] if len(texts) > FEW else []
    return comma.join([*texts[:FEW], *more])


def skipped_phrase(skipped: Record, unit: str) -> str:
    """Return a model's number of items, skipped items and reasons: ``n = 42, 18 skipped: …``."""
    reasons = skipped["reasons"]
    counted = [f"{n:,} {why}" for why, n in sorted(reasons.items(), key=lambda each: -each[1])]
    why = ", ".join(counted if len(reasons) > 1 else reasons)
    n, of = skipped["n"], skipped["of"]
    if n < of:
        return f"n = {of - n:,}, {n:,} skipped: {why}"
    return f"1 {unit}, skipped: {why}" if of == 1 else f"{of:,} {unit}s, all skipped: {why}"


def skipped_lines(benchmark: Benchmark, card: Card) -> list[str]:
    """Return a line per model on its skipped items; none where nothing was skipped."""
    rows = totals(benchmark)
    skipped = rows[0]["skipped"] if rows else {}
    lines = []
    for model, each in skipped.items():
        label = f"{card['models'][model]['label']}: " if len(benchmark["methods"]) > 1 else ""
        languages = [
            f"{language(row['lang'], card['languages'])} {row['skipped'][model]['n']:,} "
            f"of {row['skipped'][model]['of']:,}"
            for row in rows[1:]
            if row["lang"] != MEAN and model in row["skipped"] and each["n"] < each["of"]
        ]
        where = f" ({_few(languages)})" if languages else ""
        lines.append(f"{label}{skipped_phrase(each, benchmark['unit'])}{where}.")
    if lines and rows[0]["models"] and len(benchmark["methods"]) > 1:
        lines.append(
            "Accuracies are over what each model was judged on, tests over what both were."
        )
    return lines


def written_lines(benchmark: Benchmark, card: Card) -> list[str]:
    """Return a line per model on answers that were cut off or repeat the prompt."""
    lines = []
    # Cards of earlier versions have no such counts.
    for model, written in benchmark.get("written", {}).items():
        label = f"{card['models'][model]['label']}: " if len(benchmark["methods"]) > 1 else ""
        if any(of[name] is None for of in written for name in ("cut", "echoes")):
            lines.append(f"{label}Whether answers were cut off is not known; judge them again.")
            continue
        n, cut, echoes = (sum(of[name] or 0 for of in written) for name in ("n", "cut", "echoes"))
        most = max(of["limit"] for of in written)
        limit = f" of {most:,} tokens" if most else ""
        languages = [
            f"{language(of['lang'], card['languages'])}: {of['cut']:,} cut off and "
            f"{of['echoes']:,} repeated of {of['n']:,}"
            for of in written
            if of["cut"] or of["echoes"]
        ]
        where = f" ({_few(languages, '; ')})" if len(written) > 1 and languages else ""
        lines.append(
            f"{label}{cut:,} of {n:,} answers reached the limit{limit}; {echoes:,} repeat the "
            f"prompt and say nothing else{where}."
        )
    return lines


def not_tested(benchmark: Benchmark, card: Card) -> str:
    """Return a line on items that one of two models skipped; empty without any."""
    skipped: dict[str, list[int]] = {}
    for test in benchmark["tests"]:
        skipped.setdefault(language(test["lang"], card["languages"]), []).append(test["skipped"])
    lost = [f"{name} {numbers(counts)}" for name, counts in skipped.items() if any(counts)]
    return f"Not in n, because one of the two skipped them: {_few(lost)}." if lost else ""


def not_sampled(benchmark: Benchmark, card: Card) -> str:
    """Return a line on pairs without a score by one of the first tokens; empty without any."""
    lost = [
        f"{card['models'][model]['label']}, {language(row['lang'], card['languages'])}, "
        f"{row['first_token']}: {row['skipped']:,} of {row['n'] + row['skipped']:,}"
        for model, rows in benchmark["sensitivity"].items()
        for row in rows
        if row["skipped"]
    ]
    return f"Not in n, because they were skipped: {_few(lost, '; ')}." if lost else ""


def unlike_languages(benchmark: Benchmark) -> str:
    """Return a warning where models are not judged in the same languages; else empty."""
    rows = [row for row in totals(benchmark) if row["lang"] not in (ALL, MEAN)]
    covered = {m: {r["lang"] for r in rows if m in r["models"]} for m in benchmark["methods"]}
    if (
        len(rows) < 2
        or len(
            {frozenset(model_languages) for model_languages in covered.values() if model_languages}
        )
        < 2
    ):
        return ""
    return (
        "The models are not judged in the same languages: compare them by language, not over all "
        "languages."
    )


def unknown_words(benchmark: Benchmark, models: Mapping[str, Model]) -> str:
    """Return a line on unknown words of models of words; empty without such models."""
    # Cards of earlier versions have no such shares.
    shares = benchmark.get("unknown", {}).items()
    model_shares = (f"{models[name]['label']} {percent(share)} %" for name, share in shares)
    return f"Unknown words: {', '.join(model_shares)} of all words." if shares else ""


def ours(ranking: Record) -> list[int]:
    """Return our models' positions in a ranking."""
    return [i for i, ranked in enumerate(ranking["places"]) if ranked["ours"]]


def ranks(ranking: Record) -> str:
    """Format our models' ranks: ``3, 7 of 12``."""
    numbers = ", ".join(str(ranking["places"][position]["rank"]) for position in ours(ranking))
    return f"{numbers} of {len(ranking['places'])}"


def heading(card: Card) -> str:
    """Return the head line: names of models and benchmarks."""
    models = ", ".join(model["label"] for model in card["models"].values())
    return f"{models} on {', '.join(benchmark['label'] for benchmark in card['benchmarks'])}"


def verdict(test: Record, models: Mapping[str, Model]) -> str:
    """Return a test's result as a phrase."""
    if test["adjusted"] >= 0.05:
        return "no difference shown"
    better = test["a"] if test["only_a"] > test["only_b"] else test["b"]
    return f"{models[better]['label']} is better"
