"""Compare two evaluations item by item, as data and as text."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow.compute as pc
from rich.console import Console
from rich.text import Text

from blimpworks.analysis.accuracy import ALL
from blimpworks.analysis.comparisons import EXACT_BELOW, KEY, mcnemar_p
from blimpworks.audit.evidence import read_arrow
from blimpworks.campaign.registry import benchmarks
from blimpworks.errors import UserError
from blimpworks.evaluation.facts import OUTPUTS
from blimpworks.evaluation.judged import why_skipped
from blimpworks.evaluation.show import nats, p_value, percent, points, skipped_phrase
from blimpworks.evaluation.sides import (
    LABELS,
    Reason,
    Side,
    pair_models,
    read_samples,
    read_side,
    reasons_of,
)
from blimpworks.evaluation.terminal import plain_table, say
from blimpworks.judging.sample import item_key

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Moved:
    """A phenomenon of a benchmark in a language, or all of them, in evaluations A and B."""

    benchmark: str
    lang: str
    model_a: str
    model_b: str
    phenomenon: str
    method: str
    accuracy_a: float | None
    """Accuracy from 0 to 1, over all items that A has judged."""
    accuracy_b: float | None
    n_a: int
    n_b: int
    both: int
    only_a: int
    """Items of ``both`` that are right in A alone."""
    only_b: int
    p: float
    """McNemar's two-sided p, not corrected for the number of tests."""
    items_only_a: int
    """Items that A alone has judged."""
    items_only_b: int
    skipped_a: dict[str, int]
    """Items without a verdict in A, by reason."""
    skipped_b: dict[str, int]

    @property
    def difference(self) -> float | None:
        """Accuracy of B minus that of A; None where one of them is missing."""
        if self.accuracy_a is None or self.accuracy_b is None:
            return None
        return self.accuracy_b - self.accuracy_a


@dataclass(frozen=True, slots=True)
class Flip:
    """An item that is right in one of the evaluations alone."""

    benchmark: str
    lang: str
    model_a: str
    model_b: str
    phenomenon: str
    paradigm: str
    item_id: str
    right_in: Literal["a", "b"]
    margin_a: float | None
    """Margin in nats of the method's score; None for prompts."""
    margin_b: float | None
    texts: Sequence[str]
    """Its sentences, or the prompt and both answers."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two evaluations side by side."""

    a: str
    b: str
    models: Sequence[tuple[str, str]]
    rows: Sequence[Moved]
    """Rows by language; in each, that of all phenomena together comes first."""
    flipped: int
    flips: Sequence[Flip]
    """Items with the largest changes of margin."""
    reasons: Sequence[Reason]
    """Differences in procedure."""
    notes: Sequence[str]
    """Sentences on models and languages that were not compared."""

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        rows = [{**asdict(row), "difference": row.difference} for row in self.rows]
        return {**asdict(self), "rows": rows}


@dataclass(frozen=True)
class _Joined:
    """A benchmark's items in a language, with the judgements of two models."""

    sides: tuple[Side, Side]
    benchmark: str
    lang: str
    models: tuple[str, str]
    method: str
    """The first method that both are judged by; empty where one has judged nothing."""
    rows: "pd.DataFrame"
    """A row per item of either side, with ``correct``, ``margin`` and ``why`` (skipped) of both."""

    @property
    def labels(self) -> dict[str, str]:
        names = {"model_a": self.models[0], "model_b": self.models[1]}
        return {"benchmark": self.benchmark, "lang": self.lang, **names}

    def texts(self, item: str) -> list[str]:
        pairs = [*zip(self.sides, self.models, strict=True)]
        items = [side.items(self.benchmark, self.lang, model) for side, model in pairs]
        answers = [side.table("answers", self.benchmark, self.lang, model) for side, model in pairs]
        return texts_of(item, items, answers)


def _join(sides: tuple[Side, Side], benchmark: str, lang: str, models: tuple[str, str]) -> _Joined:
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
    for (side, model), table in zip(pairs, tables, strict=True):
        rows = table[table["method"] == method].drop(columns="method").drop_duplicates(KEY)
        rows = rows.assign(why=None).astype({"why": object})
        lost = rows["correct"].isna()
        if lost.any():
            outputs = [side.table(kind, benchmark, lang, model) for kind in OUTPUTS.values()]
            scores = next((path for path in outputs if path.is_file()), outputs[0])
            ids, items = rows.loc[lost, "item_id"].tolist(), side.items(benchmark, lang, model)
            rows.loc[lost, "why"] = why_skipped(ids, items, scores, method)
        frames.append(rows)
    on = [*KEY, "phenomenon"]
    both = frames[0].merge(frames[1], how="outer", on=on, suffixes=("_a", "_b"))
    return _Joined(sides, benchmark, lang, models, method, both)


def _moved(joined: _Joined, phenomenon: str, rows: "pd.DataFrame") -> Moved:
    has_a, has_b = (rows[f"correct_{side}"].notna() for side in "ab")
    right_a, right_b = (rows[f"correct_{side}"] == 1 for side in "ab")
    only_a, only_b = (
        int((has_b & right_a & ~right_b).sum()),
        int((has_a & right_b & ~right_a).sum()),
    )
    campaign = joined.sides[0].campaign or joined.sides[1].campaign
    benchmark = benchmarks().get(joined.benchmark)
    form = benchmark.mcnemar(campaign) if benchmark and campaign else "corrected"
    accuracies = []
    for side, model in zip(joined.sides, joined.models, strict=True):
        table = side.accuracies.set_index(LABELS)["accuracy"]
        key = (joined.benchmark, model, joined.lang, phenomenon, ALL, joined.method)
        accuracies.append(float(table[key]) if key in table.index else None)
    return Moved(
        **joined.labels,
        phenomenon=phenomenon,
        method=joined.method,
        accuracy_a=accuracies[0],
        accuracy_b=accuracies[1],
        n_a=int(has_a.sum()),
        n_b=int(has_b.sum()),
        both=int((has_a & has_b).sum()),
        only_a=only_a,
        only_b=only_b,
        p=mcnemar_p(only_a, only_b, EXACT_BELOW if form == "corrected" else 0),
        items_only_a=int((has_a & ~has_b).sum()),
        items_only_b=int((has_b & ~has_a).sum()),
        skipped_a=dict(Counter(rows["why_a"].dropna())),
        skipped_b=dict(Counter(rows["why_b"].dropna())),
    )


def _largest_flips(compared: Sequence[_Joined], count: int) -> tuple[int, list[Flip]]:
    """Return the number of flipped items, and the ``count`` with the largest changes of margin."""
    import pandas as pd

    tables = []
    for position, joined in enumerate(compared):
        both = joined.rows.dropna(subset=["correct_a", "correct_b"])
        flipped = both[(both["correct_a"] == 1) != (both["correct_b"] == 1)]
        change = (flipped["margin_b"] - flipped["margin_a"]).abs().fillna(0.0)
        tables.append(flipped.assign(change=change, position=position))
    every = pd.concat([table for table in tables if len(table)] or tables[:1])
    every = every.sort_values(["change", *KEY], ascending=[False, True, True], kind="stable")
    flips = []
    for row in every.head(count).to_dict("records"):
        joined = compared[row["position"]]
        flips.append(
            Flip(
                **joined.labels,
                phenomenon=row["phenomenon"],
                paradigm=row["paradigm"],
                item_id=row["item_id"],
                right_in="a" if row["correct_a"] == 1 else "b",
                margin_a=None if pd.isna(row["margin_a"]) else float(row["margin_a"]),
                margin_b=None if pd.isna(row["margin_b"]) else float(row["margin_b"]),
                texts=joined.texts(row["item_id"]),
            )
        )
    return len(every), flips


def texts_of(item: str, items: Sequence[Path], answers: Sequence[Path]) -> list[str]:
    """Return lines about an item: its sentences, or the prompt and both answers to it."""

    def rows_of(path: Path) -> list[dict[str, Any]]:
        table = read_arrow(path)
        is_item = pc.equal(table[item_key(table.column_names)], item)
        rows: list[dict[str, Any]] = table.filter(is_item).to_pylist()
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
    """Compare two evaluations: numbers that moved, and differences in procedure.

    Each is an evaluation's directory, or a results tree; the second may be lm-evaluation-harness's
    samples. ``models`` names one model of each; by default those of the same name, or the only
    ones. ``flips`` limits the named items. The first method that judges both in a language is
    compared.

    Raises UserError when one is no finished evaluation, or there is nothing to compare.
    """
    a = read_side(first)
    samples = read_samples(second, a)
    b = samples or read_side(second)
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
    rows: list[Moved] = []
    for joined in compared:
        rows.append(_moved(joined, ALL, joined.rows))
        phenomena = joined.rows.groupby("phenomenon", sort=True)
        if phenomena.ngroups > 1:
            rows += [_moved(joined, str(name), group) for name, group in phenomena]
    flipped, largest = _largest_flips(compared, flips)
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
    if samples:
        text = samples.explanation(flipped, sum(r.both for r in rows if r.phenomenon == ALL))
        reasons = [Reason("input", text)] if text else []
    else:
        tables = {(joined.benchmark, joined.lang, joined.models) for joined in compared}
        reasons, unknown = reasons_of(a, b, pairs, tables)
        notes += unknown
    return Comparison(str(first), str(second), pairs, rows, flipped, largest, reasons, notes)


FEW = 5
"""Most languages of a benchmark for which all phenomena are shown."""
MOST = 12
"""Reasons shown."""
SIGNIFICANT = 0.05


def print_comparison(comparison: Comparison, console: Console, *, whole: bool = False) -> None:
    """Print a comparison; ``whole`` adds phenomena without significance and further reasons."""
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
        totals = [row for row in rows if row.phenomenon == ALL]
        a, b = (sum(getattr(row, f"items_only_{side}") for row in totals) for side in "ab")
        if a or b:
            line = (
                "Accuracies are over the items of each: "
                f"{sum(row.both for row in totals):,} are in both, on which the tests are, "
                f"{a:,} in A alone and {b:,} in B alone."
            )
            say(console, line, indent=2)
        for side in "ab":
            skipped = (Counter(getattr(row, f"skipped_{side}")) for row in totals)
            why = sum(skipped, Counter[str]())
            n = sum(getattr(row, f"n_{side}") for row in totals)
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
