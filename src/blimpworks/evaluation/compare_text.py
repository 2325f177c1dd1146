"""A comparison of two evaluations in the terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from blimpworks.analysis.accuracy import ALL
from blimpworks.evaluation.compare import Comparison, Flip, Moved
from blimpworks.evaluation.reasons import Reason
from blimpworks.evaluation.show import nats, p_value, percent, points, skipped_phrase

FEW = 5
"""Languages of a benchmark up to which all their phenomena are shown."""
MOST = 12
"""Reasons that are shown."""
SIGNIFICANT = 0.05
REASONS = "Done differently (behind so many tables of judgements that moved):"
COLUMNS = ("A", "B", "B−A", "n", "only A", "only B", "p")


def _cells(row: Moved) -> list[Text]:
    """The cells of a row, behind its name."""
    difference = "–" if row.difference is None else points(row.difference)
    numbers = [percent(each) for each in (row.accuracy_a, row.accuracy_b)]
    counts = [f"{each:,}" for each in (row.both, row.only_a, row.only_b)]
    style = "bold" if row.p < SIGNIFICANT else ""
    texts = [*numbers, difference, *counts, p_value(row.p) if row.both else "–"]
    return [Text(text, style=style) for text in texts]


def _shown(rows: Sequence[Moved], *, whole: bool) -> list[Moved]:
    """Rows of a benchmark that are shown: of many languages only phenomena that moved for sure."""
    if whole or len({row.lang for row in rows}) <= FEW:
        return [*rows]
    return [row for row in rows if row.phenomenon == ALL or row.p < SIGNIFICANT]


def _table(rows: Sequence[Moved]) -> Table:
    """Rows of a benchmark: a language, and below it its phenomena."""
    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False)
    table.add_column("", overflow="fold")
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        name = row.lang if row.phenomenon == ALL else f"  {row.phenomenon}"
        table.add_row(Text(name), *_cells(row))
    return table


def _own_items(rows: Sequence[Moved]) -> Iterator[str]:
    """A line where the two have judged different items."""
    totals = [row for row in rows if row.phenomenon == ALL]
    a, b = (sum(getattr(row, f"items_only_{side}") for row in totals) for side in "ab")
    if a or b:
        yield (
            "Accuracies are over the items of each: "
            f"{sum(row.both for row in totals):,} are in both, on which the tests are, "
            f"{a:,} in A alone and {b:,} in B alone."
        )


def _skipped(rows: Sequence[Moved]) -> Iterator[str]:
    """What either has skipped of all the languages, and why; nothing where it has not."""
    totals = [row for row in rows if row.phenomenon == ALL]
    for side in "ab":
        reasons = sum((Counter(getattr(row, f"skipped_{side}")) for row in totals), Counter[str]())
        n = sum(getattr(row, f"n_{side}") for row in totals)
        if lost := reasons.total():
            phrase = skipped_phrase({"n": lost, "of": n + lost, "reasons": reasons}, "item")
            yield f"{side.upper()}: {phrase}."


def _flip_lines(flip: Flip) -> Iterator[str]:
    where = f"{flip.benchmark} {flip.lang}, {flip.paradigm}"
    margins = ""
    if flip.margin_a is not None or flip.margin_b is not None:
        margins = f": margin {nats(flip.margin_a)} → {nats(flip.margin_b)}"
    yield f"right in {flip.right_in.upper()} alone{margins} ({where}, {flip.item_id})"
    yield from (f"  {text}" for text in flip.texts)


def _reason(reason: Reason) -> str:
    plural = "s" if reason.tables > 1 else ""
    behind = f" ({reason.tables} table{plural})" if reason.tables else ""
    return f"{reason.kind}: {reason.text}{behind}"


def _say(console: Console, text: str, indent: int = 0, style: str = "") -> None:
    """Text as it is, wrapped within the console's width."""
    console.print(Padding(Text(text, style=style), (0, 0, 0, indent), expand=False))


def _print_rows(comparison: Comparison, console: Console, *, whole: bool) -> None:
    def place(row: Moved) -> tuple[str, str, str, str]:
        """What stands above a table."""
        return row.benchmark, row.model_a, row.model_b, row.method

    ordered = sorted(comparison.rows, key=place)
    for (benchmark, ours, theirs, method), group in groupby(ordered, place):
        rows = [*group]
        shown = _shown(rows, whole=whole)
        models = ours if ours == theirs else f"{ours} → {theirs}"
        console.print()
        _say(console, f"{benchmark}: {models} ({method})", style="bold")
        console.print(_table(shown), highlight=False)
        hidden = len(rows) - len(shown)
        if hidden:
            _say(console, f"… and {hidden} phenomena with p ≥ {SIGNIFICANT} (--all)", 2)
        for line in (*_own_items(rows), *_skipped(rows)):
            _say(console, line, 2)


def print_comparison(comparison: Comparison, console: Console, *, whole: bool = False) -> None:
    """Print a comparison within the console's width; ``whole``: every phenomenon and reason."""
    _say(console, f"A: {comparison.a}")
    _say(console, f"B: {comparison.b}")
    _print_rows(comparison, console, whole=whole)
    console.print()
    _say(console, "p: McNemar's test on the items of both, not corrected for the number of tests.")
    console.print()
    _say(console, REASONS if comparison.reasons else "Nothing was done differently.")
    shown = comparison.reasons if whole else comparison.reasons[:MOST]
    for reason in shown:
        _say(console, _reason(reason), 2)
    if len(shown) < len(comparison.reasons):
        _say(console, f"… and {len(comparison.reasons) - len(shown)} more (--all)", 2)
    if comparison.flips:
        console.print()
        count = f"{len(comparison.flips)} of {comparison.flipped:,}"
        _say(console, f"Items right in one alone, {count}, the largest changes of margin first:")
        for flip in comparison.flips:
            for line in _flip_lines(flip):
                _say(console, line, 2)
    for note in comparison.notes:
        console.print()
        _say(console, note)
