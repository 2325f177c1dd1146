"""Two evaluations item by item: what moved between them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from blimpworks.analysis.accuracy import ALL
from blimpworks.analysis.comparisons import EXACT_BELOW, mcnemar_p
from blimpworks.audit.lineage import judged_items
from blimpworks.campaign.registry import benchmarks
from blimpworks.errors import UserError
from blimpworks.evaluation.facts import OUTPUTS
from blimpworks.evaluation.lm_eval_side import read_samples
from blimpworks.evaluation.reasons import Reason, reasons_of
from blimpworks.evaluation.sides import Side, pair_models, read_side
from blimpworks.evaluation.skipped import why_skipped
from blimpworks.evaluation.texts import texts_of

if TYPE_CHECKING:
    import pandas as pd

KEY = ["item_id", "paradigm"]
FLIPS = 10


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
class _Place:
    """A language of a benchmark with the two models that are compared on it."""

    a: Side
    b: Side
    benchmark: str
    lang: str
    models: tuple[str, str]

    @property
    def labels(self) -> dict[str, str]:
        """What tells its rows from others."""
        names = {"model_a": self.models[0], "model_b": self.models[1]}
        return {"benchmark": self.benchmark, "lang": self.lang, **names}

    def judgements(self) -> list["pd.DataFrame"]:
        """Judgements of both by all methods."""
        sides = zip((self.a, self.b), self.models, strict=True)
        return [side.judgements(self.benchmark, self.lang, model) for side, model in sides]

    def joined(self, tables: Sequence["pd.DataFrame"], method: str) -> "pd.DataFrame":
        """Items of either, a row each, with ``correct``, ``margin`` and ``why`` (skipped) of both.

        NaN where one of them has no such item; ``correct`` also where it has no verdict on it.
        """
        sides = []
        for side, model, table in zip((self.a, self.b), self.models, tables, strict=True):
            rows = table[table["method"] == method].drop(columns="method").drop_duplicates(KEY)
            rows = rows.assign(why=None).astype({"why": object})
            lost = rows["correct"].isna()
            if lost.any():
                place = (self.benchmark, self.lang, model)
                items = judged_items(side.results, *place)
                outputs = [side.table(kind, *place) for kind in OUTPUTS.values()]
                ids, there = rows.loc[lost, "item_id"].tolist(), [p for p in outputs if p.is_file()]
                rows.loc[lost, "why"] = why_skipped(ids, items, [*there, *outputs][0], method)
            sides.append(rows)
        return sides[0].merge(sides[1], how="outer", on=[*KEY, "phenomenon"], suffixes=("_a", "_b"))

    def exact_below(self) -> int:
        """Number of differing items below which McNemar's test is exact."""
        campaign = self.a.campaign or self.b.campaign
        known = benchmarks().get(self.benchmark)
        form = known.mcnemar(campaign) if known and campaign else "corrected"
        return EXACT_BELOW if form == "corrected" else 0


def _main_method(tables: Sequence["pd.DataFrame"], place: _Place) -> str:
    """The first method that both are judged by. Raises UserError where there is none."""
    first, second = (list(dict.fromkeys(table["method"])) for table in tables)
    common = [method for method in first if method in second]
    if first and second and not common:
        raise UserError(
            f"{place.benchmark} in {place.lang} is judged by {', '.join(first)} in "
            f"{place.a.folder} and by {', '.join(second)} in {place.b.folder}; expected a method "
            "of both. Set the same methods in the campaigns."
        )
    return common[0] if common else ""


def _accuracy(side: Side, place: _Place, model: str, phenomenon: str, method: str) -> float | None:
    """Accuracy as the evaluation has it; None where it has none."""
    table = side.accuracies
    own = {"benchmark": place.benchmark, "lang": place.lang, "model": model, "method": method}
    for column, value in (own | {"phenomenon": phenomenon, "paradigm": ALL}).items():
        table = table[table[column] == value]
    return float(table["accuracy"].iloc[0]) if len(table) else None


def _moved(place: _Place, phenomenon: str, method: str, items: "pd.DataFrame") -> Moved:
    """A phenomenon in both evaluations, from its joined items."""
    judged = [items[f"correct_{side}"].notna() for side in "ab"]
    right = [items[f"correct_{side}"] == 1 for side in "ab"]
    both = judged[0] & judged[1]
    only_a, only_b = (
        int((both & right[0] & ~right[1]).sum()),
        int((both & right[1] & ~right[0]).sum()),
    )
    accuracies = [
        _accuracy(side, place, model, phenomenon, method)
        for side, model in zip((place.a, place.b), place.models, strict=True)
    ]
    return Moved(
        **place.labels,
        phenomenon=phenomenon,
        method=method,
        accuracy_a=accuracies[0],
        accuracy_b=accuracies[1],
        n_a=int(judged[0].sum()),
        n_b=int(judged[1].sum()),
        both=int(both.sum()),
        only_a=only_a,
        only_b=only_b,
        p=mcnemar_p(only_a, only_b, place.exact_below()),
        items_only_a=int((judged[0] & ~judged[1]).sum()),
        items_only_b=int((judged[1] & ~judged[0]).sum()),
        skipped_a=dict(Counter(items["why_a"].dropna())),
        skipped_b=dict(Counter(items["why_b"].dropna())),
    )


def _rows(place: _Place, items: "pd.DataFrame", method: str) -> Iterator[Moved]:
    """The whole of a language, then its phenomena, if it has several."""
    yield _moved(place, ALL, method, items)
    parts = items.groupby("phenomenon", sort=True)
    if parts.ngroups > 1:
        for phenomenon, part in parts:
            yield _moved(place, str(phenomenon), method, part)


def _flipped(items: "pd.DataFrame") -> "pd.DataFrame":
    """Items that are right in one evaluation alone, with how far the margin moved."""
    both = items.dropna(subset=["correct_a", "correct_b"])
    flipped = both[(both["correct_a"] == 1) != (both["correct_b"] == 1)]
    return flipped.assign(moved=(flipped["margin_b"] - flipped["margin_a"]).abs().fillna(0.0))


def _largest(flips: Sequence[tuple[_Place, "pd.DataFrame"]], count: int) -> Iterator[Flip]:
    """The flips whose margin changes most, with their texts."""
    import pandas as pd

    tables = [table.assign(place=number) for number, (_, table) in enumerate(flips) if len(table)]
    if not tables:
        return
    every = pd.concat(tables).sort_values(
        ["moved", *KEY], ascending=[False, True, True], kind="stable"
    )
    for row in every.head(count).to_dict("records"):
        place = flips[row["place"]][0]
        margins = (row["margin_a"], row["margin_b"])
        yield Flip(
            **place.labels,
            phenomenon=row["phenomenon"],
            paradigm=row["paradigm"],
            item_id=row["item_id"],
            right_in="a" if row["correct_a"] == 1 else "b",
            margin_a=None if pd.isna(margins[0]) else float(margins[0]),
            margin_b=None if pd.isna(margins[1]) else float(margins[1]),
            texts=_texts(place, row["item_id"]),
        )


def _texts(place: _Place, item: str) -> list[str]:
    """Sentences of an item, or the prompt and what both answered."""
    sides = [*zip((place.a, place.b), place.models, strict=True)]
    tables = [side.items(place.benchmark, place.lang, model) for side, model in sides]
    answers = [side.table("answers", place.benchmark, place.lang, model) for side, model in sides]
    return texts_of(item, tables, answers)


def _places(a: Side, b: Side, models: tuple[str, str]) -> list[_Place]:
    """What both evaluations have judged with a pair of models."""
    second = {*b.judged(models[1])}
    return [_Place(a, b, *each, models) for each in a.judged(models[0]) if each in second]


def _notes(a: Side, b: Side, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """What only one of the evaluations has."""
    for number, (side, other) in enumerate(((a, b), (b, a))):
        compared = {pair[number] for pair in pairs}
        left = [model for model in side.models if model not in compared]
        if left:
            yield f"Models only in {side.folder}, not compared: {', '.join(left)}."
        for pair in pairs:
            there = {*other.judged(pair[1 - number])}
            alone = [each for each in side.judged(pair[number]) if each not in there]
            by_benchmark: dict[str, list[str]] = {}
            for benchmark, lang in alone:
                by_benchmark.setdefault(benchmark, []).append(lang)
            for benchmark, langs in by_benchmark.items():
                yield f"Only in {side.folder}: {benchmark} in {', '.join(langs)}."


def compare_evaluations(
    first: Path, second: Path, models: tuple[str, str] | None = None, flips: int = FLIPS
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
    places = [place for pair in pairs for place in _places(a, b, pair)]
    if not places:
        raise UserError(
            f"{first} and {second} have no language of a benchmark in common; compare evaluations "
            "that have."
        )
    rows: list[Moved] = []
    flipped: list[tuple[_Place, pd.DataFrame]] = []
    for place in places:
        tables = place.judgements()
        method = _main_method(tables, place)
        items = place.joined(tables, method)
        rows += _rows(place, items, method)
        flipped.append((place, _flipped(items)))
    turned = sum(len(table) for _, table in flipped)
    trouble: list[str] = []
    if samples:
        text = samples.explanation(turned, sum(r.both for r in rows if r.phenomenon == ALL))
        reasons = [Reason("input", text)] if text else []
    else:
        compared = {(p.benchmark, p.lang, p.models) for p in places}
        reasons, trouble = reasons_of(a, b, pairs, compared)
    return Comparison(
        a=str(first),
        b=str(second),
        models=pairs,
        rows=rows,
        flipped=turned,
        flips=[*_largest(flipped, flips)],
        reasons=reasons,
        notes=[*_notes(a, b, pairs), *trouble],
    )
