"""Two evaluations item by item: what moved between them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow.compute as pc

from blimpworks.analysis.accuracy import ALL
from blimpworks.analysis.comparisons import EXACT_BELOW, mcnemar_p
from blimpworks.audit.evidence import read_arrow
from blimpworks.campaign.registry import benchmarks
from blimpworks.errors import UserError
from blimpworks.evaluation.facts import OUTPUTS
from blimpworks.evaluation.reasons import Reason, reasons_of
from blimpworks.evaluation.sides import Side, pair_models, read_samples, read_side
from blimpworks.evaluation.skipped import why_skipped
from blimpworks.judging.sample import CONDITIONS

if TYPE_CHECKING:
    import pandas as pd

KEY = ["item_id", "paradigm"]


@dataclass(frozen=True, slots=True)
class Moved:
    """A phenomenon of a benchmark in a language, or all of them, in both evaluations."""

    benchmark: str
    lang: str
    model_a: str
    model_b: str
    phenomenon: str
    method: str
    accuracy_a: float | None
    """From 0 to 1, over all items that it has judged; None where there are none."""
    accuracy_b: float | None
    n_a: int
    """Items that it has judged."""
    n_b: int
    both: int
    """Items that both have judged."""
    only_a: int
    """Of these, those that are right in the first alone."""
    only_b: int
    p: float
    """McNemar's, two-sided, not corrected for the number of tests."""
    items_only_a: int
    """Items that the first alone has judged."""
    items_only_b: int
    skipped_a: dict[str, int]
    """Items of the first that it could not judge, by why."""
    skipped_b: dict[str, int]

    @property
    def difference(self) -> float | None:
        """The second accuracy minus the first."""
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
    """In nats of what the method compares; None of prompts."""
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
    """Of each language all phenomena together first."""
    flipped: int
    """How many items are right in one of them alone."""
    flips: Sequence[Flip]
    """Those of them whose margin changes most."""
    reasons: Sequence[Reason]
    """What was done differently."""
    notes: Sequence[str]
    """What was not compared, and why."""

    def as_json(self) -> dict[str, Any]:
        """The comparison as plain values."""
        rows = [{**asdict(row), "difference": row.difference} for row in self.rows]
        return {**asdict(self), "rows": rows}


@dataclass(frozen=True)
class _Judged:
    """A language of a benchmark that both sides have judged with a pair of models."""

    sides: tuple[Side, Side]
    benchmark: str
    lang: str
    models: tuple[str, str]
    method: str = ""
    """The first that both are judged by."""

    @property
    def labels(self) -> dict[str, str]:
        """What tells its rows from others."""
        names = {"model_a": self.models[0], "model_b": self.models[1]}
        return {"benchmark": self.benchmark, "lang": self.lang, **names}

    def tables(self, folder: str) -> list[Path]:
        """Paths of both models' tables in a folder of results."""
        pairs = zip(self.sides, self.models, strict=True)
        return [side.table(folder, self.benchmark, self.lang, model) for side, model in pairs]

    def items_tables(self) -> list[Path]:
        """Paths of the items that each model was judged on."""
        pairs = zip(self.sides, self.models, strict=True)
        return [side.items(self.benchmark, self.lang, model) for side, model in pairs]


def _join(judged: _Judged) -> tuple[_Judged, "pd.DataFrame"]:
    """Items of either side, a row each, with ``correct``, ``margin`` and ``why`` (skipped) of both.

    NaN where a side has no such item; ``correct`` also where it has no verdict on it. Raises
    UserError where the sides have no method in common.
    """
    pairs = zip(judged.sides, judged.models, strict=True)
    tables = [side.judgements(judged.benchmark, judged.lang, model) for side, model in pairs]
    first, second = (list(dict.fromkeys(table["method"])) for table in tables)
    common = [method for method in first if method in second]
    if first and second and not common:
        a, b = judged.sides
        raise UserError(
            f"{judged.benchmark} in {judged.lang} is judged by {', '.join(first)} in "
            f"{a.folder} and by {', '.join(second)} in {b.folder}; expected a method "
            "of both. Set the same methods in the campaigns."
        )
    judged = replace(judged, method=common[0] if common else "")
    outputs = zip(*(judged.tables(folder) for folder in OUTPUTS.values()), strict=True)
    frames = []
    for table, items, paths in zip(tables, judged.items_tables(), outputs, strict=True):
        rows = table[table["method"] == judged.method].drop(columns="method").drop_duplicates(KEY)
        rows = rows.assign(why=None).astype({"why": object})
        lost = rows["correct"].isna()
        if lost.any():
            scores = next((path for path in paths if path.is_file()), paths[0])
            ids = rows.loc[lost, "item_id"].tolist()
            rows.loc[lost, "why"] = why_skipped(ids, items, scores, judged.method)
        frames.append(rows)
    on = [*KEY, "phenomenon"]
    return judged, frames[0].merge(frames[1], how="outer", on=on, suffixes=("_a", "_b"))


def _moved(judged: _Judged, phenomenon: str, items: "pd.DataFrame") -> Moved:
    """A phenomenon in both evaluations, from its joined items."""
    has_a, has_b = (items[f"correct_{side}"].notna() for side in "ab")
    right_a, right_b = (items[f"correct_{side}"] == 1 for side in "ab")
    only_a, only_b = (
        int((has_b & right_a & ~right_b).sum()),
        int((has_a & right_b & ~right_a).sum()),
    )
    campaign = judged.sides[0].campaign or judged.sides[1].campaign
    benchmark = benchmarks().get(judged.benchmark)
    form = benchmark.mcnemar(campaign) if benchmark and campaign else "corrected"
    accuracies = []
    for side, model in zip(judged.sides, judged.models, strict=True):
        table = side.accuracies
        labels = {"benchmark": judged.benchmark, "lang": judged.lang, "model": model}
        labels |= {"method": judged.method, "phenomenon": phenomenon, "paradigm": ALL}
        for column, value in labels.items():
            table = table[table[column] == value]
        accuracies.append(float(table["accuracy"].iloc[0]) if len(table) else None)
    return Moved(
        **judged.labels,
        phenomenon=phenomenon,
        method=judged.method,
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
        skipped_a=dict(Counter(items["why_a"].dropna())),
        skipped_b=dict(Counter(items["why_b"].dropna())),
    )


def _largest_flips(
    joined: Sequence[tuple[_Judged, "pd.DataFrame"]], count: int
) -> tuple[int, list[Flip]]:
    """How many items are right in one side alone, and those whose margin changes most."""
    import pandas as pd

    tables = []
    for position, (_, items) in enumerate(joined):
        both = items.dropna(subset=["correct_a", "correct_b"])
        flipped = both[(both["correct_a"] == 1) != (both["correct_b"] == 1)]
        change = (flipped["margin_b"] - flipped["margin_a"]).abs().fillna(0.0)
        if len(flipped):
            tables.append(flipped.assign(change=change, position=position))
    if not tables:
        return 0, []
    every = pd.concat(tables).sort_values(
        ["change", *KEY], ascending=[False, True, True], kind="stable"
    )
    flips = []
    for row in every.head(count).to_dict("records"):
        judged, _ = joined[row["position"]]
        flips.append(
            Flip(
                **judged.labels,
                phenomenon=row["phenomenon"],
                paradigm=row["paradigm"],
                item_id=row["item_id"],
                right_in="a" if row["correct_a"] == 1 else "b",
                margin_a=None if pd.isna(row["margin_a"]) else float(row["margin_a"]),
                margin_b=None if pd.isna(row["margin_b"]) else float(row["margin_b"]),
                texts=texts_of(row["item_id"], judged.items_tables(), judged.tables("answers")),
            )
        )
    return len(every), flips


def texts_of(item: str, items: Sequence[Path], answers: Sequence[Path]) -> list[str]:
    """Lines about an item: its sentences, or the prompt and both answers to it.

    They are of the first of the ``items`` tables that has it, and of each of the ``answers``
    tables that exist. Raises UserError where an items table is missing or broken.
    """

    def rows_of(path: Path) -> list[dict[str, Any]]:
        table = read_arrow(path)
        # Items with several conditions have a key of their own.
        key = "item" if {*table.column_names} >= CONDITIONS else "item_id"
        rows: list[dict[str, Any]] = table.filter(pc.equal(table[key], item)).to_pylist()
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


def _notes(sides: tuple[Side, Side], pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """What only one of the evaluations has."""
    for number, side in enumerate(sides):
        compared = {pair[number] for pair in pairs}
        missed = [model for model in side.models if model not in compared]
        if missed:
            yield f"Models only in {side.folder}, not compared: {', '.join(missed)}."
        for pair in pairs:
            in_other = {*sides[1 - number].judged(pair[1 - number])}
            alone: dict[str, list[str]] = {}
            for benchmark, lang in side.judged(pair[number]):
                if (benchmark, lang) not in in_other:
                    alone.setdefault(benchmark, []).append(lang)
            for benchmark, langs in alone.items():
                yield f"Only in {side.folder}: {benchmark} in {', '.join(langs)}."


def compare_evaluations(
    first: Path, second: Path, models: tuple[str, str] | None = None, flips: int = 10
) -> Comparison:
    """What moved between two evaluations, and what was done differently.

    Each is the directory of an evaluation, or a results tree; the second may also be what
    lm-evaluation-harness wrote of a model, with its samples. ``models``: which model of the first
    is compared with which of the second; by default those of the same name, or the only ones.
    ``flips``: how many items that are right in one of them alone are named, those whose margin
    changes most. Of each language the first method is compared that judges both.

    Raises UserError where one of them is no finished evaluation, no two models can be compared, or
    the two have no language of a benchmark in common.
    """
    a = read_side(first)
    samples = read_samples(second, a)
    b = samples or read_side(second)
    pairs = pair_models(a, b, models)
    common = [
        _Judged((a, b), *of_language, pair)
        for pair in pairs
        for of_language in a.judged(pair[0])
        if of_language in b.judged(pair[1])
    ]
    if not common:
        raise UserError(
            f"{first} and {second} have no language of a benchmark in common; compare evaluations "
            "that have."
        )
    joined = [_join(judged) for judged in common]
    rows: list[Moved] = []
    for judged, items in joined:
        rows.append(_moved(judged, ALL, items))
        phenomena = items.groupby("phenomenon", sort=True)
        if phenomena.ngroups > 1:
            rows += [_moved(judged, str(name), group) for name, group in phenomena]
    flipped, largest = _largest_flips(joined, flips)
    notes = [*_notes((a, b), pairs)]
    if samples:
        text = samples.explanation(flipped, sum(r.both for r in rows if r.phenomenon == ALL))
        reasons = [Reason("input", text)] if text else []
    else:
        compared = {(judged.benchmark, judged.lang, judged.models) for judged in common}
        reasons, unknown = reasons_of(a, b, pairs, compared)
        notes += unknown
    return Comparison(
        a=str(first),
        b=str(second),
        models=pairs,
        rows=rows,
        flipped=flipped,
        flips=largest,
        reasons=reasons,
        notes=notes,
    )
