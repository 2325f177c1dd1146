"""Find differences between two evaluations: settings, models' rows, and their jobs."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from blimpworks.audit.causes import Causes
from blimpworks.audit.changes import changed_values, shortened
from blimpworks.audit.run import Run, load_run
from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.evaluation.request import MODELS_FILE
from blimpworks.evaluation.sides import Side
from blimpworks.items import SAMPLED

PLACES = {"campaign", "description", "pathvars", "catalogue", "models", "mirror", "site"}
"""Settings of paths and names; the models' rows are compared on their own."""
NAMES = {"name", "label", "family", "papers", "note"}
"""Columns of models that decide no number."""
NAMING = re.compile(r"(retrieve_model|train_\w+) name: ")
"""Beginning of causes that only rename models."""
WHOLE_ITEMS = re.compile(r"results/items/.* only in (?P<side>[AB])")
"""Two causes that come together when one evaluation took a sample."""
SAMPLED_ITEMS = re.compile(rf"{SAMPLED} only in [AB]")
KINDS = ("model", "input", "parameter", "engine", "code", "package")
"""Kinds of the jobs' differences, in their order on the list."""
Compared = tuple[str, str, tuple[str, str]]
"""Benchmark, language and models of compared tables."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A difference between the evaluations."""

    kind: str
    """``setting``, ``model``, ``input``, ``code``, ``parameter``, ``engine``, ``package``, …"""
    text: str
    tables: int = 0
    """Number of compared tables that it affects, by the jobs' records."""


@dataclass
class _Renamed(Run):
    """A run whose products' keys have other names of models."""

    other_names: Mapping[str, str] = field(default_factory=dict)
    """By the model's own name."""

    def key(self, path: str) -> str:
        parts = super().key(path).split("/")
        stem, dot, suffix = parts[-1].partition(".parquet")
        renamed = [self.other_names.get(part, part) for part in parts[:-1]]
        return "/".join([*renamed, f"{self.other_names.get(stem, stem)}{dot}{suffix}"])

    def file(self, path: str) -> Path:
        return Run(self.root, self.recorded, self.base).file(path)


def _of_jobs(
    a: Run, b: Run, pairs: Sequence[tuple[str, str]], compared: Collection[Compared]
) -> Iterator[Reason]:
    """Yield differences between the jobs behind the judgements, in the order of ``KINDS``."""
    tables: Counter[tuple[str, str]] = Counter()
    for ours, theirs in pairs:
        second = b
        if ours != theirs:
            second = _Renamed(b.root, b.recorded, b.base, other_names={theirs: ours, ours: theirs})
            jobs = b.jobs.values()
            second.jobs = {second.key(job["outputs"][0]["path"]): job for job in jobs}
        causes = Causes(a, second)
        for benchmark, lang, models in compared:
            key = f"results/judgements/{benchmark}/{lang}/{ours}.parquet"
            in_both = key in a.products and key in second.products
            if models == (ours, theirs) and in_both and causes.changed(key):
                behind = causes.behind(second.products[key][0])
                samples = any(SAMPLED_ITEMS.fullmatch(cause.text) for cause in behind)
                reasons = set()
                for cause in behind:
                    of_items = WHOLE_ITEMS.fullmatch(cause.text)
                    if of_items and samples:
                        other = {"A": "B", "B": "A"}[of_items["side"]]
                        text = f"items: all in {of_items['side']}, a sample of them in {other}"
                        reasons.add(("input", text))
                    elif not NAMING.match(cause.text) and not SAMPLED_ITEMS.fullmatch(cause.text):
                        reasons.add((cause.kind, cause.text))
                tables.update(reasons)
    order = {kind: rank for rank, kind in enumerate(KINDS)}
    for (kind, text), count in sorted(
        tables.items(), key=lambda each: (order.get(each[0][0], len(KINDS)), each[0][1])
    ):
        yield Reason(kind, text, count)


def reasons_of(
    a: Side, b: Side, pairs: Sequence[tuple[str, str]], compared: Collection[Compared]
) -> tuple[list[Reason], list[str]]:
    """Return differences between two evaluations' ``pairs`` of models, and notes."""
    reasons: list[Reason] = []
    notes = []
    if a.campaign and b.campaign:
        settings, rows = [], []
        for side, campaign in ((a, a.campaign), (b, b.campaign)):
            settings.append(campaign.model_dump(mode="json", exclude=PLACES))
            table = side.folder / MODELS_FILE
            table = table if table.exists() else campaign.catalogue.models
            models = {row.name: row for row in read_rows(ModelRow, table)}
            rows.append(
                {m: row.model_dump(mode="json", exclude=NAMES) for m, row in models.items()}
            )
        for path, (before, after) in changed_values(*settings).items():
            change = f"{shortened(before)} → {shortened(after)}"
            reasons.append(Reason("setting", f"{path}: {change}"))
        for ours, theirs in pairs:
            if ours in rows[0] and theirs in rows[1]:
                names = ours if ours == theirs else f"{ours} → {theirs}"
                changed = changed_values(rows[0][ours], rows[1][theirs])
                for column, (before, after) in changed.items():
                    change = f"{shortened(before)} → {shortened(after)}"
                    reasons.append(Reason("model", f"{names}, {column}: {change}"))
    else:
        without = next(side.folder for side in (a, b) if side.campaign is None)
        notes.append(f"{without} has no campaign.yaml, so settings are not compared.")
    try:
        runs = load_run(a.results), load_run(b.results)
        reasons += _of_jobs(*runs, pairs, compared)
    except UserError as error:
        notes.append(f"What jobs did differently is not known: {error}")
    return reasons, notes
