"""Format the numbers of a report card, and write its sentences, for the terminal and the page.

Functions such as ``percent(0.712)``, which returns "71.2", format a number. ``CardText`` has the
sentences about a card (``card.Card``). ``terminal`` and the page's template use both.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from blimpworks.evaluation.card import MEAN, Benchmark, Card, Model, Record, Row, SuiteTable
from blimpworks.items import ALL

BASELINES = {
    "longer": "Longer: the sentence with more characters is taken for the good one, and equal "
    "ones count half;",
    "shorter": "shorter: the one with fewer.",
    "frequent words": "Frequent words: the one whose words have the higher mean Zipf frequency "
    "(wordfreq).",
    "commoner label": "Commoner label: what most sentences of the paradigm are.",
    "chance": "Chance: one of an item's options.",
}
"""Explanations of baselines, by name, printed in this order: "shorter" ends the first sentence."""
WORST_SIDES = {"good": "✓", "bad": "✗"}
"""Signs of the sentences of a pair in lists of the worst items."""


def percent(value: float | None) -> str:
    """Format a share of 1 in percent: ``71.2``; a dash for None."""
    return "–" if value is None else f"{100 * value:.1f}"


def interval(low: float | None, high: float | None) -> str:
    """Format an interval in percent: ``69.1–73.2``; empty without bounds."""
    return "" if low is None or high is None else f"{percent(low)}–{percent(high)}"


def points(value: float) -> str:
    """Format a difference of shares in percentage points with a sign: ``−3.4``."""
    text = f"{100 * value:+z.1f}".replace("-", "−")
    return "0.0" if text == "+0.0" else text


def nats(value: float | None, digits: int = 2) -> str:
    """Format a log-probability or margin: ``−12.34``; a dash for None."""
    return "–" if value is None else f"{value:z.{digits}f}".replace("-", "−")


def p_value(p: float) -> str:
    """Format a p-value to two digits: ``0.034``, ``< 0.0001``."""
    if p < 0.0001:
        return "< 0.0001"
    return f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def ties(accuracy: Record) -> str:
    """Format ties and near ties, ties included: ``3 / 12``."""
    return f"{accuracy['ties']:,} / {accuracy['near_ties']:,}"


def size(billions: float | None) -> str:
    """Format a number of parameters: ``1.5 B``, ``124 M``; empty for None."""
    if billions is None:
        return ""
    return f"{billions:.3g} B" if billions >= 1 else f"{1000 * billions:.3g} M"


def numbers(counts: Iterable[int], dash: str = "–") -> str:
    """Format numbers of items: ``358``, or ``300–358`` if they differ."""
    distinct = sorted({*counts})
    lowest_and_highest = distinct if len(distinct) < 2 else [distinct[0], distinct[-1]]
    return dash.join(f"{n:,}" for n in lowest_and_highest)


def checked(model: Model) -> str:
    """Return a sentence on the tests that a model passed before scoring; empty without tests."""
    tests = ("weights", "tokenizer", "form", "causality", "padding", "prefixes", "vocabulary")
    texts = []
    for name in (name for name in tests if name in model["checks"]):
        finding = model["checks"][name]
        # Findings of a word or two, such as "passed", have no punctuation, and are not shown.
        texts.append(f"{name} ({finding})" if any(mark in finding for mark in ",;:") else name)
    return f"Checked: {', '.join(texts)}." if texts else ""


def totals(benchmark: Benchmark) -> list[Row]:
    """Return the rows over all phenomena; the first is over all languages, if there are several."""
    return [row for row in benchmark["rows"] if row["phenomenon"] == ALL]


def baselines(rows: Iterable[Row]) -> list[str]:
    """Return the names of the rows' baselines, in the order of ``BASELINES``."""
    present = {name for row in rows for name in row["baselines"]}
    return [name for name in BASELINES if name in present]


def phenomena(benchmark: Benchmark, lang: str) -> list[Row]:
    """Return the rows of a language's phenomena; none if there is only one."""
    rows = [r for r in benchmark["rows"] if r["lang"] == lang and r["phenomenon"] != ALL]
    return rows if len(rows) > 1 else []


def counts(row: Row, models: Iterable[str], key: Literal["models", "skipped"] = "models") -> str:
    """Format how many items of a row models judged, or by the key "skipped" skipped: ``0–358``."""
    models_of_row = [model for model in models if model in {*row["models"], *row["skipped"]}]
    return numbers(row[key].get(model, {"n": 0})["n"] for model in models_of_row)


MOST_NAMED = 5
"""Most languages that a line names."""


def _join_first(texts: Sequence[str], separator: str = ", ") -> str:
    remaining = [f"{len(texts) - MOST_NAMED} more"] if len(texts) > MOST_NAMED else []
    return separator.join([*texts[:MOST_NAMED], *remaining])


def skipped_phrase(skipped: Record, unit: str) -> str:
    """Return a phrase from a record of ``Row.skipped``: ``n = 42, 18 skipped: out of memory``."""
    reasons: Counter[str] = Counter(skipped["reasons"])
    why = ", ".join(reasons)
    if len(reasons) > 1:
        why = ", ".join(f"{n:,} {reason}" for reason, n in reasons.most_common())
    n, total = skipped["n"], skipped["of"]
    if n < total:
        return f"n = {total - n:,}, {n:,} skipped: {why}"
    return f"1 {unit}, skipped: {why}" if total == 1 else f"{total:,} {unit}s, all skipped: {why}"


NOT_JUDGED = "no number, since a paradigm or language has no judged item"
NO_NUMBER = {
    "accuracy": NOT_JUDGED,
    "correlation": f"{NOT_JUDGED}, or all values are equal",
    "variance": f"{NOT_JUDGED}, too few words have all values, or all values are equal",
    "acquisition": "no number; it needs three checkpoints of one run (--checkpoints), four "
    "surprisals of each word, and three words with both ages",
}
"""Reasons why a task of a suite has no number, by the task's measure."""


class CardText:
    """Sentences about a report card. Methods that have nothing to say return "" or []."""

    def __init__(self, card: Card) -> None:
        self.card = card
        self.heading = f"{', '.join(map(self.label, card['models']))} on " + ", ".join(
            benchmark["label"] for benchmark in card["benchmarks"]
        )

    def language(self, code: str) -> str:
        """Return the name of a language, or the meaning of ``all`` and ``mean``."""
        names = {ALL: "All languages", MEAN: "Mean of languages"}
        return names.get(code) or self.card["languages"].get(code, code)

    def label(self, model: str) -> str:
        return self.card["models"][model]["label"]

    def _prefix(self, benchmark: Benchmark, model: str) -> str:
        return f"{self.label(model)}: " if len(benchmark["methods"]) > 1 else ""

    def items_line(self, benchmark: Benchmark) -> str:
        """Return a sentence on how many of a benchmark's items models are run on."""
        items, unit, limit = benchmark["items"], benchmark["unit"], self.card["limit"]
        n, total = (sum(row[key] for row in items) for key in ("n", "of"))
        languages = f" in {len(items)} languages" if len(items) > 1 else ""
        plural = unit if n == 1 else f"{unit}s"
        if n == total:
            return f"{n:,} {plural}{languages}: all there are."
        per_language = " a language" if len(items) > 1 else ""
        limited = f" (limit: {limit:,}{per_language})" if limit else ""
        return f"A balanced sample of {n:,} of {total:,} {plural}{languages}{limited}."

    def methods_line(self, benchmark: Benchmark) -> str:
        """Return the judging method, or the methods by model if they differ."""
        methods = benchmark["methods"]
        if len({*methods.values()}) == 1:
            return next(iter(methods.values()))
        return ", ".join(f"{self.label(model)}: {method}" for model, method in methods.items())

    def baselines_note(self, benchmark: Benchmark) -> str:
        """Explain the baselines, and name languages without word frequencies."""
        rows = [row for row in totals(benchmark) if row["lang"] not in (ALL, MEAN)]
        sentences = [BASELINES[name] for name in baselines(rows)]
        without_frequencies = [
            self.language(row["lang"])
            for row in rows
            if "longer" in row["baselines"] and "frequent words" not in row["baselines"]
        ]
        if without_frequencies:
            names = ", ".join(without_frequencies)
            sentences.append(f"wordfreq gives no frequencies of {names} here.")
        return " ".join(["Baselines, by the items alone.", *sentences]) if sentences else ""

    def skipped_lines(self, benchmark: Benchmark) -> list[str]:
        """Return a line for each model that skipped items."""
        rows = totals(benchmark)
        lines = []
        for model, skipped in (rows[0]["skipped"] if rows else {}).items():
            languages = [
                f"{self.language(row['lang'])} {row['skipped'][model]['n']:,} "
                f"of {row['skipped'][model]['of']:,}"
                for row in rows[1:]
                if row["lang"] != MEAN and model in row["skipped"] and skipped["n"] < skipped["of"]
            ]
            where = f" ({_join_first(languages)})" if languages else ""
            phrase = skipped_phrase(skipped, benchmark["unit"])
            lines.append(f"{self._prefix(benchmark, model)}{phrase}{where}.")
        if lines and rows[0]["models"] and len(benchmark["methods"]) > 1:
            lines.append(
                "Accuracies are over the items with a verdict by a model, tests over those by both."
            )
        return lines

    def written_lines(self, benchmark: Benchmark) -> list[str]:
        """Return a line for each model on answers that were cut off or repeat the prompt."""
        lines = []
        # Cards of earlier versions have no such counts.
        for model, written in benchmark.get("written", {}).items():
            start = self._prefix(benchmark, model)
            if any(row[name] is None for row in written for name in ("cut", "echoes")):
                lines.append(f"{start}Whether answers were cut off is not known; judge them again.")
                continue
            n, cut, echoes = (sum(row[key] for row in written) for key in ("n", "cut", "echoes"))
            most = max(row["limit"] for row in written)
            limit = f" of {most:,} tokens" if most else ""
            languages = [
                f"{self.language(row['lang'])}: {row['cut']:,} cut off and "
                f"{row['echoes']:,} repeated of {row['n']:,}"
                for row in written
                if row["cut"] or row["echoes"]
            ]
            where = f" ({_join_first(languages, '; ')})" if len(written) > 1 and languages else ""
            lines.append(
                f"{start}{cut:,} of {n:,} answers reached the limit{limit}; {echoes:,} repeat the "
                f"prompt and say nothing else{where}."
            )
        return lines

    def not_tested(self, benchmark: Benchmark) -> str:
        """Return a line with the numbers of items that are not tested, by language.

        For several pairs of models, it is the lowest and the highest number: "English 0–3".
        """
        counts_by_language: dict[str, list[int]] = {}
        for test in benchmark["tests"]:
            language = self.language(test["lang"])
            counts_by_language.setdefault(language, []).append(test["skipped"])
        texts = [f"{name} {numbers(n)}" for name, n in counts_by_language.items() if any(n)]
        return f"Not in n, as one of the two skipped them: {_join_first(texts)}." if texts else ""

    def skipped_in_sensitivity(self, benchmark: Benchmark) -> str:
        """Return a line on pairs that were skipped with one of the first tokens of sensitivity."""
        texts = [
            f"{self.label(model)}, {self.language(row['lang'])}, {row['first_token']}: "
            f"{row['skipped']:,} of {row['n'] + row['skipped']:,}"
            for model, rows in benchmark["sensitivity"].items()
            for row in rows
            if row["skipped"]
        ]
        return f"Not in n, because they were skipped: {_join_first(texts, '; ')}." if texts else ""

    def unknown_words(self, benchmark: Benchmark) -> str:
        """Return a line on words that n-gram models and LSTMs do not know."""
        # Cards of earlier versions have no such shares.
        shares = benchmark.get("unknown", {}).items()
        lines = (f"{self.label(model)} {percent(share)} %" for model, share in shares)
        return f"Unknown words: {', '.join(lines)} of all words." if shares else ""

    def suite_table(self, suite: SuiteTable) -> tuple[list[str], list[list[str]]]:
        """Return headings and rows of a suite's table, as texts.

        Rows are tasks. Columns are the evaluated models and their intervals, then the printed
        models. With more than two evaluated models, rows are models, without intervals.
        """
        models = dict.fromkeys(name for row in suite["rows"] for name in row["models"])
        printed = dict.fromkeys(name for row in suite["rows"] for name in row["printed"])
        headings, rows = ["task", "n"], []
        for model in models:
            headings += [self.label(model), "95 %"]
        headings += [*printed]
        for row in suite["rows"]:
            is_accuracy = row["measure"] == "accuracy"
            cells = [row["label"], numbers(result["n"] for result in row["models"].values())]
            for model in models:
                result = row["models"].get(model, {"value": None, "low": None, "high": None})
                bounds = (result["low"], result["high"])
                if is_accuracy or result["value"] is None:
                    cells += [percent(result["value"]), interval(*bounds)]
                else:
                    scale = 100 if row["measure"] == "variance" else 1
                    value, *ends = (nats(scale * number) for number in (result["value"], *bounds))
                    cells += [value, "–".join(ends)]
            for name in printed:
                value = row["printed"].get(name)
                digits = 1 if is_accuracy else 2
                cells.append("" if value is None else f"{value:.{digits}f}")
            rows.append(cells)
        if len(models) <= 2:
            return headings, rows
        # Transpose the table, and leave out intervals.
        tasks, item_counts, *columns = zip(headings, *rows, strict=True)
        rows_of_models = [list(column) for column in columns if column[0] != "95 %"]
        return ["model", *tasks[1:]], [["n", *item_counts[1:]], *rows_of_models]

    def suite_notes(self, suite: SuiteTable) -> list[str]:
        """Return sentences on a suite's numbers, and on tasks and items that are left out."""
        measures = {row["measure"] for row in suite["rows"]}
        explanations = {
            "accuracy": "Accuracies are in %, means of the paradigms' accuracies.",
            "correlation": "Correlations (from −1 to 1) are Spearman's, with people's choices.",
            "variance": "Reading: the share, in %, that surprisal explains of the variance of "
            "people's times that the other predictors leave; n are words with all values.",
            "acquisition": "Acquisition: Pearson's correlation (from −1 to 1) of children's age "
            "with the training after which checkpoints know a word; n are words with both.",
        }
        notes = [text for measure, text in explanations.items() if measure in measures]
        printed = dict.fromkeys(name for row in suite["rows"] for name in row["printed"])
        if printed:
            notes.append(f"{', '.join(printed)}: as printed at {suite['address']}.")
        if suite["other_starts"]:
            notes.append(
                f"{', '.join(suite['other_starts'])}: with another first token than the suite's, "
                "so printed numbers may not be comparable."
            )
        if any(row["sampled"] for row in suite["rows"]):
            notes.append("Ours are over a sample of the items, printed numbers over all.")
        for row in suite["rows"]:
            models_by_facts: dict[str, list[str]] = {}  # models with equal facts have one note
            for model, result in row["models"].items():
                skipped, ties = result["skipped"], result["ties"]
                facts = []
                if skipped:
                    facts.append(f"{skipped:,} of {result['n'] + skipped:,} items skipped")
                if ties and row["measure"] == "accuracy":
                    facts.append(f"{ties:,} ties, which count as the benchmark declares")
                if result["value"] is None:
                    facts.append(NO_NUMBER[row["measure"]])
                models_by_facts.setdefault("; ".join(facts), []).append(self.label(model))
            notes += [
                f"{row['label']}, {', '.join(labels)}: {facts}."
                for facts, labels in models_by_facts.items()
                if facts
            ]
        if suite["missing"]:
            reasons = (f"{label} ({why})" for label, why in suite["missing"].items())
            notes.append(f"Not run: {', '.join(reasons)}.")
        return notes

    def verdict(self, test: Record) -> str:
        """Return the result of a paired test as a phrase."""
        if test["adjusted"] >= 0.05:
            return "no difference shown"
        better = test["a"] if test["only_a"] > test["only_b"] else test["b"]
        return f"{self.label(better)} is better"


def unlike_languages(benchmark: Benchmark) -> str:
    """Return a warning if models are not judged in the same languages; else empty."""
    rows = [row for row in totals(benchmark) if row["lang"] not in (ALL, MEAN)]
    # The distinct sets of languages in which models are judged.
    sets_of_languages = {
        frozenset(row["lang"] for row in rows if model in row["models"])
        for model in benchmark["methods"]
    } - {frozenset()}
    if len(sets_of_languages) < 2:
        return ""
    return (
        "The models are not judged in the same languages: compare them by language, not over all "
        "languages."
    )


def ranks(ranking: Record) -> str:
    """Format the ranks of our models: ``3, 7 of 12``."""
    ours = ", ".join(str(row["rank"]) for row in ranking["places"] if row["ours"])
    return f"{ours} of {len(ranking['places'])}"
