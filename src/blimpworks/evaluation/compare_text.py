"""A comparison of two evaluations in the terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from blimpworks.analysis.accuracy import ALL
from blimpworks.evaluation.compare import Comparison, Moved
from blimpworks.evaluation.show import nats, p_value, percent, points, skipped_phrase
from blimpworks.evaluation.terminal import plain_table, say

FEW = 5
"""Languages of a benchmark up to which all their phenomena are shown."""
MOST = 12
"""Reasons that are shown."""
SIGNIFICANT = 0.05


def _item_lines(rows: Sequence[Moved]) -> Iterator[str]:
    """Lines where the two have judged different items, and on what either has skipped and why."""
    totals = [row for row in rows if row.phenomenon == ALL]
    a, b = (sum(getattr(row, f"items_only_{side}") for row in totals) for side in "ab")
    if a or b:
        yield (
            "Accuracies are over the items of each: "
            f"{sum(row.both for row in totals):,} are in both, on which the tests are, "
            f"{a:,} in A alone and {b:,} in B alone."
        )
    for side in "ab":
        reasons = sum((Counter(getattr(row, f"skipped_{side}")) for row in totals), Counter[str]())
        n = sum(getattr(row, f"n_{side}") for row in totals)
        if lost := reasons.total():
            phrase = skipped_phrase({"n": lost, "of": n + lost, "reasons": reasons}, "item")
            yield f"{side.upper()}: {phrase}."


def print_comparison(comparison: Comparison, console: Console, *, whole: bool = False) -> None:
    """Print a comparison within the console's width; ``whole``: every phenomenon and reason.

    A benchmark, two models and a method have a table: a language, and below it its phenomena. Of
    many languages only phenomena that moved for sure are shown, unless ``whole``.
    """
    say(console, f"A: {comparison.a}")
    say(console, f"B: {comparison.b}")

    def title(row: Moved) -> tuple[str, str, str, str]:
        return row.benchmark, row.model_a, row.model_b, row.method

    for (benchmark, ours, theirs, method), group in groupby(
        sorted(comparison.rows, key=title), title
    ):
        rows = [*group]
        few = whole or len({row.lang for row in rows}) <= FEW
        shown = [row for row in rows if few or row.phenomenon == ALL or row.p < SIGNIFICANT]
        models = ours if ours == theirs else f"{ours} → {theirs}"
        console.print()
        say(console, f"{benchmark}: {models} ({method})", style="bold")
        table = plain_table("", "A", "B", "B−A", "n", "only A", "only B", "p", gap=(0, 2))
        for row in shown:
            cells = (
                percent(row.accuracy_a),
                percent(row.accuracy_b),
                "–" if row.difference is None else points(row.difference),
                *(f"{count:,}" for count in (row.both, row.only_a, row.only_b)),
                p_value(row.p) if row.both else "–",
            )
            style = "bold" if row.p < SIGNIFICANT else ""
            name = row.lang if row.phenomenon == ALL else f"  {row.phenomenon}"
            table.add_row(Text(name), *(Text(cell, style=style) for cell in cells))
        console.print(table, highlight=False)
        if hidden := len(rows) - len(shown):
            say(console, f"… and {hidden} phenomena with p ≥ {SIGNIFICANT} (--all)", indent=2)
        for line in _item_lines(rows):
            say(console, line, indent=2)
    console.print()
    say(console, "p: McNemar's test on the items of both, not corrected for the number of tests.")
    console.print()
    if comparison.reasons:
        say(console, "Done differently (behind so many tables of judgements that moved):")
    else:
        say(console, "Nothing was done differently.")
    reasons = comparison.reasons if whole else comparison.reasons[:MOST]
    for reason in reasons:
        plural = "s" if reason.tables > 1 else ""
        behind = f" ({reason.tables} table{plural})" if reason.tables else ""
        say(console, f"{reason.kind}: {reason.text}{behind}", indent=2)
    if hidden := len(comparison.reasons) - len(reasons):
        say(console, f"… and {hidden} more (--all)", indent=2)
    if comparison.flips:
        console.print()
        count = f"{len(comparison.flips)} of {comparison.flipped:,}"
        say(console, f"Items right in one alone, {count}, the largest changes of margin first:")
    for flip in comparison.flips:
        margins = ""
        if flip.margin_a is not None or flip.margin_b is not None:
            margins = f": margin {nats(flip.margin_a)} → {nats(flip.margin_b)}"
        address = f"{flip.benchmark} {flip.lang}, {flip.paradigm}, {flip.item_id}"
        say(console, f"right in {flip.right_in.upper()} alone{margins} ({address})", indent=2)
        for text in flip.texts:
            say(console, f"  {text}", indent=2)
    for note in comparison.notes:
        console.print()
        say(console, note)
