"""Compare two evaluations, A and B, item by item, and print the comparison.

``blimpworks compare A B`` calls ``compare_evaluations`` and ``print_comparison``. A and B are read
as "sides" (``sides.Side``) with tables of judgements: whether a model is right on an item
(``correct``), and by which ``margin``. A ``Comparison`` has differences of accuracies, items that
only one of the two models judges correctly (flips), and differences of procedure (reasons).
"""

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
    is_evaluation,
    pair_models,
    read_samples,
    read_side,
    reasons_of,
)
from blimpworks.evaluation.submission import read_submission
from blimpworks.evaluation.terminal import NARROWEST_LINE, say, table
from blimpworks.exhibits.shared import counted
from blimpworks.items import ALL
from blimpworks.judging.sample import item_key


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two evaluations side by side."""

    a: str
    b: str
    models: Sequence[tuple[str, str]]
    """The compared models, as (model of A, model of B)."""
    rows: Sequence[Record]
    """Rows of each benchmark, language and pair of models: over all phenomena, then over each.

    Labels: ``benchmark``, ``lang``, ``model_a``, ``model_b``, ``phenomenon``, ``method``. Keys with
    ``_a`` exist with ``_b`` too. ``accuracy_a``: from 0 to 1 (or None), over the ``n_a`` items with
    a verdict in A. ``difference``: accuracy of B minus accuracy of A. ``both``: number of items
    with a verdict in A and in B; of these items, ``only_a`` are right in A only. ``p``: McNemar's
    test on these items, two-sided, not corrected. ``items_only_a``: number of items with a verdict
    in A only. ``skipped_a``: {reason: number of items without a verdict in A}.
    """
    flipped: int
    """Number of all items that are right in A only or in B only."""
    flips: Sequence[Record]
    """The flipped items with the largest changes of margin, the largest first.

    Keys: the labels of ``rows`` without ``method``, ``paradigm``, ``item_id``, ``right_in`` ("a" or
    "b"), ``margin_a`` and ``margin_b`` (in nats, None for prompts), and ``texts`` (``texts_of``).
    """
    reasons: Sequence[Reason]
    """Differences in how the evaluations were made."""
    notes: Sequence[str]
    """Sentences on what was not compared: models, languages, samples, settings."""


Joined = tuple[dict[str, str], pd.DataFrame]
"""Judgements of two models on a benchmark in a language: (labels, table of the items of both).

Labels: benchmark, lang, model_a, model_b, and method: A's first judging method that B has too, or
"" if one table of judgements is empty. Columns: item_id, paradigm, phenomenon; and with the
suffixes _a and _b: ``correct``, ``margin`` and ``why`` (reason for a missing verdict, else None).
"""


def _join(sides: Sequence[Side], benchmark: str, lang: str, models: tuple[str, str]) -> Joined:
    """Join two models' judgements. Raises UserError when they have no method in common."""
    sides_and_models = [*zip(sides, models, strict=True)]
    tables = [side.judgements(benchmark, lang, model) for side, model in sides_and_models]
    methods_a, methods_b = (list(dict.fromkeys(table["method"])) for table in tables)
    common = [method for method in methods_a if method in methods_b]
    if methods_a and methods_b and not common:
        raise UserError(
            f"{benchmark} in {lang} is judged by {', '.join(methods_a)} in {sides[0].folder} and "
            f"by {', '.join(methods_b)} in {sides[1].folder}; expected a method of both. Set the "
            "same methods in the campaigns."
        )
    method = common[0] if common else ""
    frames = []
    for (side, model), judged in zip(sides_and_models, tables, strict=True):
        rows = judged[judged["method"] == method].drop(columns="method").drop_duplicates(KEY)
        rows["why"] = pd.Series(None, index=rows.index, dtype=object)
        is_skipped = rows["correct"].isna()
        if is_skipped.any():
            # Depending on the benchmark, a model has scores or answers, whose statuses say why. If
            # another program made the judgements, there are none.
            outputs = [side.table(name, benchmark, lang, model) for name in OUTPUTS.values()]
            output = next((path for path in outputs if path.is_file()), outputs[0])
            ids, items = rows.loc[is_skipped, "item_id"], side.items(benchmark, lang, model)
            rows.loc[is_skipped, "why"] = why_skipped(ids, items, output, method)
        frames.append(rows)
    joined = frames[0].merge(frames[1], "outer", [*KEY, "phenomenon"], suffixes=("_a", "_b"))
    names = {"model_a": models[0], "model_b": models[1]}
    return {"benchmark": benchmark, "lang": lang, **names, "method": method}, joined


def _comparison_row(
    sides: Sequence[Side], labels: dict[str, str], phenomenon: str, rows: pd.DataFrame
) -> Record:
    """Return a row of ``Comparison.rows`` for joined judgements on a phenomenon, or on "all"."""
    name, lang, method = labels["benchmark"], labels["lang"], labels["method"]
    judged_a, judged_b = (rows[f"correct_{side}"].notna() for side in "ab")
    right_a, right_b = (rows[f"correct_{side}"] == 1 for side in "ab")
    only_a = int((judged_b & right_a & ~right_b).sum())
    only_b = int((judged_a & right_b & ~right_a).sum())
    campaign, benchmark = sides[0].campaign or sides[1].campaign, benchmarks().get(name)
    mcnemar_form = benchmark.mcnemar(campaign) if benchmark and campaign else "corrected"
    accuracy_a, accuracy_b = (
        side.accuracy_by_label.get((name, labels[f"model_{letter}"], lang, phenomenon, ALL, method))
        for side, letter in zip(sides, "ab", strict=True)
    )
    return {
        **labels,
        "phenomenon": phenomenon,
        "accuracy_a": accuracy_a,
        "accuracy_b": accuracy_b,
        "n_a": int(judged_a.sum()),
        "n_b": int(judged_b.sum()),
        "both": int((judged_a & judged_b).sum()),
        "only_a": only_a,
        "only_b": only_b,
        "p": mcnemar_p(only_a, only_b, EXACT_BELOW if mcnemar_form == "corrected" else 0),
        "items_only_a": int((judged_a & ~judged_b).sum()),
        "items_only_b": int((judged_b & ~judged_a).sum()),
        "skipped_a": dict(Counter(rows["why_a"].dropna())),
        "skipped_b": dict(Counter(rows["why_b"].dropna())),
        "difference": None if accuracy_a is None or accuracy_b is None else accuracy_b - accuracy_a,
    }


def _largest_flips(
    sides: Sequence[Side], compared: Sequence[Joined], count: int
) -> tuple[int, list[Record]]:
    """Return the number of flipped items, and the ``count`` with the largest changes of margin."""
    tables = []
    for labels, rows in compared:
        judged = rows.dropna(subset=["correct_a", "correct_b"])
        flipped = judged[(judged["correct_a"] == 1) != (judged["correct_b"] == 1)]
        change = (flipped["margin_b"] - flipped["margin_a"]).abs().fillna(0.0)
        tables.append(flipped.assign(change=change, **labels))
    # pandas deprecates empty tables in ``concat``, so they are left out if there are others.
    flipped = pd.concat([table for table in tables if len(table)] or tables[:1])
    flipped = flipped.sort_values(["change", *KEY], ascending=[False, True, True], kind="stable")
    flips = []
    names = ("benchmark", "lang", "model_a", "model_b", "phenomenon", "paradigm", "item_id")
    for row in flipped.head(count).to_dict("records"):
        items, answers = [], []
        for side, letter in zip(sides, "ab", strict=True):
            labels_of_side = (row["benchmark"], row["lang"], row[f"model_{letter}"])
            items.append(side.items(*labels_of_side))
            answers.append(side.table("answers", *labels_of_side))
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


def _rows_of_item(path: Path, item_id: str) -> list[Record]:
    table = read_arrow(path)
    is_item = pc.equal(table[item_key(table.column_names)], item_id)
    rows: list[Record] = table.filter(is_item).to_pylist()
    return rows


def texts_of(item_id: str, items: Sequence[Path], answers: Sequence[Path]) -> list[str]:
    """Return an item's texts from tables of A and B: sentences, or the prompt and both answers."""
    rows: list[Record] = []
    for path in items:  # the same item, unless one table is a sample without it
        rows = rows or _rows_of_item(path, item_id)
    if not rows:
        return []
    first = rows[0]
    if "prompt" in first:
        lines = [first["prompt"]]
        for side, path in zip("AB", answers, strict=True):
            answer_rows = _rows_of_item(path, item_id) if path.exists() else []
            lines += [f"{side}: {row['text'] or '(no answer)'}" for row in answer_rows]
        return lines
    if "condition" in first:
        return [f"{row['condition']}: {row['good']}" for row in rows]
    if first["good"] == first["bad"]:  # an item of one sentence
        return [first["good"]]
    return [f"✓ {first['good']}", f"✗ {first['bad']}"]


def _notes_on_one_side(sides: tuple[Side, Side], pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return sentences on models, and languages of compared models, that only one side has."""
    notes = []
    a, b = sides
    pairs_b_a = [(model_b, model_a) for model_a, model_b in pairs]
    for side, other_side, model_pairs in ((a, b, pairs), (b, a, pairs_b_a)):
        compared_models = {model for model, _ in model_pairs}
        not_compared = [model for model in side.models if model not in compared_models]
        if not_compared:
            notes.append(f"Models only in {side.folder}, not compared: {', '.join(not_compared)}.")
        for model, other_model in model_pairs:
            tables, other_tables = side.judged(model), other_side.judged(other_model)
            languages_only_here: dict[str, list[str]] = {}  # by benchmark
            for benchmark, lang in tables:
                if (benchmark, lang) not in other_tables:
                    languages_only_here.setdefault(benchmark, []).append(lang)
            for benchmark, codes in languages_only_here.items():
                notes.append(f"Only in {side.folder}: {benchmark} in {', '.join(codes)}.")
    return [*dict.fromkeys(notes)]  # several models may have the same languages


def compare_evaluations(
    first: Path, second: Path, models: tuple[str, str] | None = None, flips: int = 10
) -> Comparison:
    """Compare two evaluations: their accuracies, items, and how they were made.

    ``first`` and ``second`` are directories of evaluations, or of the workflow's results.
    ``second`` may also be samples of lm-evaluation-harness, or predictions on the suite of
    ``first``. ``models`` names a model of A and a model of B (see ``pair_models``). At most
    ``flips`` flipped items are returned. Raises UserError if there is nothing to compare.
    """
    a = read_side(first)
    other_program = None
    # Samples or predictions in the directory of an evaluation are its own exports: not compared.
    if not is_evaluation(second):
        other_program = read_samples(second, a) or read_submission(second, a)
    b = other_program or read_side(second)
    pairs = tuple(pair_models(a, b, models))
    compared = [
        _join((a, b), benchmark, lang, pair)
        for pair in pairs
        for benchmark, lang in a.judged(pair[0])
        if (benchmark, lang) in b.judged(pair[1])
    ]
    if not compared:
        raise UserError(
            f"{first} and {second} have no language of a benchmark in common; compare evaluations "
            "that do."
        )
    rows: list[Record] = []
    for labels, joined in compared:
        rows.append(_comparison_row((a, b), labels, ALL, joined))
        phenomena = joined.groupby("phenomenon", sort=True)
        if phenomena.ngroups > 1:
            for name, group in phenomena:
                rows.append(_comparison_row((a, b), labels, str(name), group))
    flipped, largest = _largest_flips((a, b), compared, flips)
    notes = _notes_on_one_side((a, b), pairs)
    if other_program:
        judged_in_both = sum(row["both"] for row in rows if row["phenomenon"] == ALL)
        reasons = []
        notes += other_program.notes
        if other_program.explanation:
            start, end = other_program.explanation
            text = f"{start}{flipped:,} of {judged_in_both:,} decisions differ{end}"
            reasons.append(Reason("input", text))
    else:
        tables = [
            (labels["benchmark"], labels["lang"], (labels["model_a"], labels["model_b"]))
            for labels, _ in compared
        ]
        reasons, notes_on_reasons = reasons_of(a, b, pairs, tables)
        notes += notes_on_reasons
    return Comparison(str(first), str(second), pairs, rows, flipped, largest, reasons, notes)


MOST_DETAILED_LANGUAGES = 5
"""Most languages of a benchmark for which all phenomena are printed."""
MOST_REASONS = 12
SIGNIFICANT = 0.05


def _print_rows(rows: Sequence[Record], console: Console, *, show_all: bool) -> None:
    """Print the rows of one benchmark and two models, and lines on items without two verdicts."""
    totals = [row for row in rows if row["phenomenon"] == ALL]
    print_all = show_all or len(totals) <= MOST_DETAILED_LANGUAGES
    printed = [r for r in rows if print_all or r in totals or r["p"] < SIGNIFICANT]
    lines = []
    for row in printed:
        name = row["lang"] if row in totals else f"  {row['phenomenon']}"
        shares = (percent(row["accuracy_a"]), percent(row["accuracy_b"]))
        difference = "–" if row["difference"] is None else points(row["difference"])
        counts = (f"{row[key]:,}" for key in ("both", "only_a", "only_b"))
        p = p_value(row["p"]) if row["both"] else "–"
        lines.append((name, *shares, difference, *counts, p))
    headings = ("", "A", "B", "B−A", "n", "only A", "only B", "p")
    significant = {i for i, row in enumerate(printed) if row["p"] < SIGNIFICANT}
    console.print(table(headings, lines, bold=significant, gap=(0, 2)), highlight=False)
    if hidden := len(rows) - len(printed):
        say(console, f"… and {hidden} phenomena with p ≥ {SIGNIFICANT} (--all)", indent=2)
    both, only_a, only_b = (
        sum(row[name] for row in totals) for name in ("both", "items_only_a", "items_only_b")
    )
    if only_a or only_b:
        line = (
            f"Accuracies are over the items of each side, tests over the {both:,} of both; "
            f"{only_a:,} are in A alone and {only_b:,} in B alone."
        )
        say(console, line, indent=2)
    for side in "ab":
        reasons = sum((Counter(row[f"skipped_{side}"]) for row in totals), Counter[str]())
        skipped = reasons.total()
        if skipped:
            n = sum(row[f"n_{side}"] for row in totals)
            phrase = skipped_phrase({"n": skipped, "of": n + skipped, "reasons": reasons}, "item")
            say(console, f"{side.upper()}: {phrase}.", indent=2)


def print_comparison(comparison: Comparison, console: Console, *, show_all: bool = False) -> None:
    """Print a comparison; ``show_all`` adds phenomena without significance, and all reasons."""
    console.width = max(NARROWEST_LINE, console.size.width)
    say(console, f"A: {comparison.a}")
    say(console, f"B: {comparison.b}")
    title = itemgetter("benchmark", "model_a", "model_b", "method")
    rows_by_title = groupby(sorted(comparison.rows, key=title), title)
    for (benchmark, model_a, model_b, method), rows in rows_by_title:
        models = model_a if model_a == model_b else f"{model_a} → {model_b}"
        console.print()
        say(console, f"{benchmark}: {models} ({method})", style="bold")
        _print_rows([*rows], console, show_all=show_all)
    console.print()
    say(console, "p: McNemar's test on the items of both, not corrected for the number of tests.")
    console.print()
    if comparison.reasons:
        say(console, "Done differently (with the number of changed tables of judgements):")
    else:
        say(console, "No difference in how A and B were made is known.")
    reasons = comparison.reasons if show_all else comparison.reasons[:MOST_REASONS]
    for reason in reasons:
        count = f" ({counted(reason.tables, 'table')})" if reason.tables else ""
        say(console, f"{reason.category}: {reason.text}{count}", indent=2)
    if hidden := len(comparison.reasons) - len(reasons):
        say(console, f"… and {hidden} more (--all)", indent=2)
    if comparison.flips:
        console.print()
        count = f"{len(comparison.flips)} of {comparison.flipped:,}"
        say(console, f"Items right in one only, {count}, by the size of the change of margin:")
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
