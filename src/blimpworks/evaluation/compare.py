"""Compare two evaluations item by item, and print the comparison."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc
from rich.console import Console

from blimpworks.analysis.statistics import EXACT_BELOW, KEY, mcnemar_p
from blimpworks.audit.evidence import read_arrow
from blimpworks.campaign.registry import benchmarks
from blimpworks.errors import UserError
from blimpworks.evaluation.card import OUTPUTS, Record
from blimpworks.evaluation.judged import why_skipped
from blimpworks.evaluation.show import nats, p_value, percent, points, skipped_phrase
from blimpworks.evaluation.sides import (
    Reason,
    Side,
    pair_models,
    read_samples,
    read_side,
    reasons_of,
)
from blimpworks.evaluation.submission import read_submission
from blimpworks.evaluation.terminal import say, table
from blimpworks.exhibits.shared import counted
from blimpworks.items import ALL
from blimpworks.judging.sample import item_key


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two evaluations side by side."""

    a: str
    b: str
    models: Sequence[tuple[str, str]]
    rows: Sequence[Record]
    """Rows by benchmark, language and models: all phenomena together, then each ``phenomenon``.

    ``accuracy_a`` and ``accuracy_b``, from 0 to 1, are over the ``n_a`` and ``n_b`` items that each
    has judged by ``method``, or None; ``difference`` is B minus A. ``both`` counts items that both
    have judged; ``only_a`` and ``only_b`` of these are right in one only. ``p`` is that of
    McNemar's test, two-sided and not corrected. ``items_only_a`` and ``items_only_b`` count items
    that one only has judged, ``skipped_a`` and ``skipped_b`` items without a verdict, by reason.
    """
    flipped: int
    flips: Sequence[Record]
    """Items that are right in one only (``right_in`` a or b), largest changes of margin first.

    They have labels, ``item_id``, and ``margin_a`` and ``margin_b`` (in nats, None for prompts).
    ``texts`` are the sentences, or the prompt and both answers.
    """
    reasons: Sequence[Reason]
    """Differences in procedure."""
    notes: Sequence[str]
    """Sentences on models and languages that were not compared."""


Joined = tuple[dict[str, str], pd.DataFrame]
"""Labels of the tables of two models, and a row for each item of either.

Labels: benchmark, lang, model_a, model_b, and the first method by which both are judged, or "" if
one has judged nothing. Rows have ``correct``, ``margin`` and ``why`` (reason for skipping) of both.
"""


def _join(sides: Sequence[Side], benchmark: str, lang: str, models: tuple[str, str]) -> Joined:
    """Join two models' judgements. Raises UserError when they have no method in common."""
    pairs = [*zip(sides, models, strict=True)]
    tables = [side.judgements(benchmark, lang, model) for side, model in pairs]
    first, second = (list(dict.fromkeys(table["method"])) for table in tables)
    common = [method for method in first if method in second]
    if first and second and not common:
        raise UserError(
            f"{benchmark} in {lang} is judged by {', '.join(first)} in {sides[0].folder} and by "
            f"{', '.join(second)} in {sides[1].folder}; expected a method of both. Set the same "
            "methods in the campaigns."
        )
    method = common[0] if common else ""
    frames = []
    for (side, model), judged in zip(pairs, tables, strict=True):
        rows = judged[judged["method"] == method].drop(columns="method").drop_duplicates(KEY)
        rows = rows.assign(why=None).astype({"why": object})
        lost = rows["correct"].isna()
        if lost.any():
            outputs = [side.table(name, benchmark, lang, model) for name in OUTPUTS.values()]
            scores = next((path for path in outputs if path.is_file()), outputs[0])
            ids, items = rows.loc[lost, "item_id"], side.items(benchmark, lang, model)
            rows.loc[lost, "why"] = why_skipped(ids, items, scores, method)
        frames.append(rows)
    on = [*KEY, "phenomenon"]
    both = frames[0].merge(frames[1], how="outer", on=on, suffixes=("_a", "_b"))
    names = {"model_a": models[0], "model_b": models[1]}
    return {"benchmark": benchmark, "lang": lang, **names, "method": method}, both


def _row(
    sides: Sequence[Side], labels: dict[str, str], phenomenon: str, rows: pd.DataFrame
) -> Record:
    labels = dict(labels)
    name, lang, method = labels["benchmark"], labels["lang"], labels.pop("method")
    has_a, has_b = (rows[f"correct_{side}"].notna() for side in "ab")
    right_a, right_b = (rows[f"correct_{side}"] == 1 for side in "ab")
    only_a = int((has_b & right_a & ~right_b).sum())
    only_b = int((has_a & right_b & ~right_a).sum())
    campaign, benchmark = sides[0].campaign or sides[1].campaign, benchmarks().get(name)
    form = benchmark.mcnemar(campaign) if benchmark and campaign else "corrected"
    a, b = (
        side.accuracy_by_label.get((name, labels[f"model_{letter}"], lang, phenomenon, ALL, method))
        for side, letter in zip(sides, "ab", strict=True)
    )
    return {
        **labels,
        "phenomenon": phenomenon,
        "method": method,
        "accuracy_a": a,
        "accuracy_b": b,
        "n_a": int(has_a.sum()),
        "n_b": int(has_b.sum()),
        "both": int((has_a & has_b).sum()),
        "only_a": only_a,
        "only_b": only_b,
        "p": mcnemar_p(only_a, only_b, EXACT_BELOW if form == "corrected" else 0),
        "items_only_a": int((has_a & ~has_b).sum()),
        "items_only_b": int((has_b & ~has_a).sum()),
        "skipped_a": dict(Counter(rows["why_a"].dropna())),
        "skipped_b": dict(Counter(rows["why_b"].dropna())),
        "difference": None if a is None or b is None else b - a,
    }


def _largest_flips(
    sides: Sequence[Side], compared: Sequence[Joined], count: int
) -> tuple[int, list[Record]]:
    """Return the number of flipped items, and the ``count`` with the largest changes of margin."""
    tables = []
    for labels, rows in compared:
        both = rows.dropna(subset=["correct_a", "correct_b"])
        flipped = both[(both["correct_a"] == 1) != (both["correct_b"] == 1)]
        change = (flipped["margin_b"] - flipped["margin_a"]).abs().fillna(0.0)
        tables.append(flipped.assign(change=change, **labels))
    flipped = pd.concat([table for table in tables if len(table)] or tables[:1])
    flipped = flipped.sort_values(["change", *KEY], ascending=[False, True, True], kind="stable")
    flips = []
    names = ("benchmark", "lang", "model_a", "model_b", "phenomenon", "paradigm", "item_id")
    for row in flipped.head(count).to_dict("records"):
        keys = [
            (side, row["benchmark"], row["lang"], row[f"model_{n}"])
            for side, n in zip(sides, "ab", strict=True)
        ]
        items = [side.items(*key) for side, *key in keys]
        answers = [side.table("answers", *key) for side, *key in keys]
        margins = {name: row[name] for name in ("margin_a", "margin_b")}
        flips.append(
            {
                **{name: row[name] for name in names},
                "right_in": "a" if row["correct_a"] == 1 else "b",
                **{name: None if pd.isna(value) else value for name, value in margins.items()},
                "texts": texts_of(row["item_id"], items, answers),
            }
        )
    return len(flipped), flips


def texts_of(item: str, items: Sequence[Path], answers: Sequence[Path]) -> list[str]:
    """Return the texts of an item: its sentences, or the prompt and both answers."""

    def rows_of(path: Path) -> list[Record]:
        table = read_arrow(path)
        is_item = pc.equal(table[item_key(table.column_names)], item)
        rows: list[Record] = table.filter(is_item).to_pylist()
        return rows

    rows = next(filter(None, map(rows_of, items)), [])
    if not rows:
        return []
    first = rows[0]
    if "prompt" in first:
        lines = [first["prompt"]]
        for side, path in zip("AB", answers, strict=True):
            answered = rows_of(path) if path.exists() else []
            lines += [f"{side}: {row['text'] or '(no answer)'}" for row in answered]
        return lines
    if "condition" in first:
        return [f"{row['condition']}: {row['good']}" for row in rows]
    if first["good"] == first["bad"]:
        return [first["good"]]
    return [f"✓ {first['good']}", f"✗ {first['bad']}"]


def compare_evaluations(
    first: Path, second: Path, models: tuple[str, str] | None = None, flips: int = 10
) -> Comparison:
    """Compare two evaluations: their accuracies, items, and differences in procedure.

    Each is the directory of an evaluation, or a results tree; the second may be samples of
    lm-evaluation-harness, or predictions on the first one's suite. ``models`` names one model of
    each; by default models of the same name are compared, or the only ones. Decisions are by the
    first method that both have in a language. ``flips`` is the largest number of items to return.

    Raises UserError when one is no finished evaluation, or there is nothing to compare.
    """
    a = read_side(first)
    borrowed = read_samples(second, a) or read_submission(second, a)
    b = borrowed or read_side(second)
    pairs = pair_models(a, b, models)
    compared = [
        _join((a, b), benchmark, lang, pair)
        for pair in pairs
        for benchmark, lang in a.judged(pair[0])
        if (benchmark, lang) in b.judged(pair[1])
    ]
    if not compared:
        raise UserError(
            f"{first} and {second} have no language of a benchmark in common; compare evaluations "
            "that have."
        )
    rows: list[Record] = []
    for labels, joined in compared:
        phenomena = joined.groupby("phenomenon", sort=True)
        for name, group in [(ALL, joined), *(phenomena if phenomena.ngroups > 1 else ())]:
            rows.append(_row((a, b), labels, str(name), group))
    flipped, largest = _largest_flips((a, b), compared, flips)
    notes = []
    for number, side in enumerate((a, b)):
        missed = [model for model in side.models if model not in {pair[number] for pair in pairs}]
        if missed:
            notes.append(f"Models only in {side.folder}, not compared: {', '.join(missed)}.")
        for pair in pairs:
            common = {*a.judged(pair[0])} & {*b.judged(pair[1])}
            alone: dict[str, list[str]] = {}
            for benchmark, lang in side.judged(pair[number]):
                if (benchmark, lang) not in common:
                    alone.setdefault(benchmark, []).append(lang)
            for benchmark, langs in alone.items():
                notes.append(f"Only in {side.folder}: {benchmark} in {', '.join(langs)}.")
    if borrowed:
        text = borrowed.explanation(
            flipped, sum(row["both"] for row in rows if row["phenomenon"] == ALL)
        )
        reasons = [Reason("input", text)] if text else []
    else:
        tables = [(n["benchmark"], n["lang"], (n["model_a"], n["model_b"])) for n, _ in compared]
        reasons, unknown = reasons_of(a, b, pairs, tables)
        notes += unknown
    return Comparison(str(first), str(second), pairs, rows, flipped, largest, reasons, notes)


MOST_DETAILED_LANGUAGES = 5
"""Most languages of a benchmark for which all phenomena are printed."""
MOST_REASONS = 12
"""Most reasons to print."""
SIGNIFICANT = 0.05


def print_comparison(comparison: Comparison, console: Console, *, show_all: bool = False) -> None:
    """Print a comparison; ``show_all`` adds phenomena without significance, and all reasons."""
    say(console, f"A: {comparison.a}")
    say(console, f"B: {comparison.b}")

    title = itemgetter("benchmark", "model_a", "model_b", "method")
    for (benchmark, ours, theirs, method), group in groupby(
        sorted(comparison.rows, key=title), title
    ):
        rows = [*group]
        totals = [row for row in rows if row["phenomenon"] == ALL]
        is_short = show_all or len(totals) <= MOST_DETAILED_LANGUAGES
        printed = [r for r in rows if is_short or r in totals or r["p"] < SIGNIFICANT]
        models = ours if ours == theirs else f"{ours} → {theirs}"
        console.print()
        say(console, f"{benchmark}: {models} ({method})", style="bold")
        lines = []
        for row in printed:
            name = row["lang"] if row in totals else f"  {row['phenomenon']}"
            shares = (percent(row["accuracy_a"]), percent(row["accuracy_b"]))
            difference = "–" if row["difference"] is None else points(row["difference"])
            counts = (f"{row[key]:,}" for key in ("both", "only_a", "only_b"))
            p = p_value(row["p"]) if row["both"] else "–"
            lines.append((name, *shares, difference, *counts, p))
        headings = ("", "A", "B", "B−A", "n", "only A", "only B", "p")
        bold = {i for i, row in enumerate(printed) if row["p"] < SIGNIFICANT}
        console.print(table(headings, lines, bold=bold, gap=(0, 2)), highlight=False)
        if hidden := len(rows) - len(printed):
            say(console, f"… and {hidden} phenomena with p ≥ {SIGNIFICANT} (--all)", indent=2)
        both, a, b = (
            sum(row[name] for row in totals) for name in ("both", "items_only_a", "items_only_b")
        )
        if a or b:
            line = (
                f"Accuracies are over the items of each: {both:,} are in both, on which the tests "
                f"are, {a:,} in A alone and {b:,} in B alone."
            )
            say(console, line, indent=2)
        for side in "ab":
            why = sum((Counter(row[f"skipped_{side}"]) for row in totals), Counter[str]())
            n = sum(row[f"n_{side}"] for row in totals)
            if lost := why.total():
                phrase = skipped_phrase({"n": lost, "of": n + lost, "reasons": why}, "item")
                say(console, f"{side.upper()}: {phrase}.", indent=2)
    console.print()
    say(console, "p: McNemar's test on the items of both, not corrected for the number of tests.")
    console.print()
    if comparison.reasons:
        say(console, "Done differently (behind so many tables of judgements that moved):")
    else:
        say(console, "Nothing was done differently.")
    reasons = comparison.reasons if show_all else comparison.reasons[:MOST_REASONS]
    for reason in reasons:
        behind = f" ({counted(reason.tables, 'table')})" if reason.tables else ""
        say(console, f"{reason.category}: {reason.text}{behind}", indent=2)
    if hidden := len(comparison.reasons) - len(reasons):
        say(console, f"… and {hidden} more (--all)", indent=2)
    if comparison.flips:
        console.print()
        count = f"{len(comparison.flips)} of {comparison.flipped:,}"
        say(console, f"Items right in one alone, {count}, the largest changes of margin first:")
    for flip in comparison.flips:
        margins = ""
        if flip["margin_a"] is not None or flip["margin_b"] is not None:
            margins = f": margin {nats(flip['margin_a'])} → {nats(flip['margin_b'])}"
        address = f"{flip['benchmark']} {flip['lang']}, {flip['paradigm']}, {flip['item_id']}"
        say(console, f"right in {flip['right_in'].upper()} alone{margins} ({address})", indent=2)
        for text in flip["texts"]:
            say(console, f"  {text}", indent=2)
    for note in comparison.notes:
        console.print()
        say(console, note)
