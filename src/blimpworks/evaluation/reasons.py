"""Why two evaluations differ: their settings, their models' rows, and what their jobs did."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blimpworks.audit.causes import Cause, Causes
from blimpworks.audit.changes import changed_values, shortened
from blimpworks.audit.run import Run, load_run
from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.evaluation.sides import Side
from blimpworks.items import SAMPLED

PLACES = {"campaign", "description", "pathvars", "catalogue", "models", "mirror", "site"}
"""Settings that say where things are or what they are called; the models' rows are compared
themselves."""
NAMES = {"name", "label", "family", "papers", "note"}
"""Columns of models that decide no number."""
NAMING = re.compile(r"(retrieve_model|train_\w+) name: ")
"""Beginning of causes that say no more than that models are called otherwise."""
WHOLE_ITEMS = re.compile(r"results/items/.* only in (?P<side>[AB])")
SAMPLED_ITEMS = re.compile(rf"{SAMPLED} only in [AB]")
"""Causes which say that one of the evaluations took a sample: they come together."""
KINDS = ("model", "input", "parameter", "engine", "code", "package")
"""Kinds of what jobs did, in the order in which they are listed."""
Compared = tuple[str, str, tuple[str, str]]
"""Benchmark, language and models of tables that are compared."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that differs between the evaluations."""

    kind: str
    """``setting``, ``model``, ``input``, ``code``, ``parameter``, ``engine``, ``package``, …"""
    text: str
    tables: int = 0
    """How many of the compared tables of judgements it is behind, by the jobs' records."""


@dataclass
class _Renamed(Run):
    """A run whose models go by other names: keys of its products have those."""

    other: Mapping[str, str] = field(default_factory=dict)
    """Other names of models by their own."""

    def key(self, path: str) -> str:
        """The key of a product, with the other name of its model."""
        parts = super().key(path).split("/")
        stem, dot, suffix = parts[-1].partition(".parquet")
        renamed = [self.other.get(part, part) for part in parts[:-1]]
        return "/".join([*renamed, f"{self.other.get(stem, stem)}{dot}{suffix}"])

    def file(self, path: str) -> Path:
        """The path of a product's file, which has its model's own name."""
        return Run(self.root, self.recorded, self.base).file(path)


def _renamed(run: Run, pair: tuple[str, str]) -> Run:
    """A run with the second of two models called like the first, and the first like the second."""
    ours, theirs = pair
    if ours == theirs:
        return run
    other = _Renamed(run.root, run.recorded, run.base, other={theirs: ours, ours: theirs})
    other.jobs = {other.key(each["outputs"][0]["path"]): each for each in run.jobs.values()}
    return other


def _settings(side: Side) -> dict[str, Any]:
    """Settings of an evaluation, with what follows from defaults."""
    assert side.campaign is not None
    return side.campaign.model_dump(mode="json", exclude=PLACES)


def _of_settings(a: Side, b: Side) -> Iterator[Reason]:
    """Settings that differ between the campaigns."""
    for path, (before, after) in changed_values(_settings(a), _settings(b)).items():
        yield Reason("setting", f"{path}: {shortened(before)} → {shortened(after)}")


def _model_row(side: Side, model: str) -> dict[str, Any] | None:
    """Columns of a model's row; None where no row is called so."""
    assert side.campaign is not None
    own = side.folder / "models.tsv"
    path = own if own.exists() else side.campaign.catalogue.models
    rows = {row.name: row for row in read_rows(ModelRow, path)}
    return rows[model].model_dump(mode="json", exclude=NAMES) if model in rows else None


def _of_models(a: Side, b: Side, pairs: Sequence[tuple[str, str]]) -> Iterator[Reason]:
    """Columns that differ between the rows of two models."""
    for ours, theirs in pairs:
        old, new = _model_row(a, ours), _model_row(b, theirs)
        called = ours if ours == theirs else f"{ours} → {theirs}"
        if old is None or new is None:
            continue
        for column, (before, after) in changed_values(old, new).items():
            change = f"{shortened(before)} → {shortened(after)}"
            yield Reason("model", f"{called}, {column}: {change}")


def _of_jobs(
    a: Run, b: Run, pairs: Sequence[tuple[str, str]], compared: Collection[Compared]
) -> Iterator[Reason]:
    """What jobs behind the compared judgements did differently."""
    tables: dict[tuple[str, str], int] = {}
    for pair in pairs:
        causes = Causes(a, _renamed(b, pair))
        for benchmark, lang, models in compared:
            key = f"results/judgements/{benchmark}/{lang}/{models[0]}.parquet"
            if models != pair or not all(key in each.products for each in (a, causes.second)):
                continue
            if not causes.changed(key):
                continue
            for each in {*_plain(causes.behind(causes.second.products[key][0]))}:
                tables[each] = tables.get(each, 0) + 1
    for (kind, text), count in sorted(tables.items(), key=lambda each: _rank(*each[0])):
        yield Reason(kind, text, count)


def _rank(kind: str, text: str) -> tuple[int, str]:
    """Where a reason stands: what was chosen before what came with it."""
    return (KINDS.index(kind) if kind in KINDS else len(KINDS), text)


def _plain(causes: Collection[Cause]) -> Iterator[tuple[str, str]]:
    """Kind and text of causes, without those that say nothing else than others."""
    for cause in causes:
        whole = WHOLE_ITEMS.fullmatch(cause.text)
        if whole and any(SAMPLED_ITEMS.fullmatch(each.text) for each in causes):
            other = {"A": "B", "B": "A"}[whole["side"]]
            yield "input", f"items: all in {whole['side']}, a sample of them in {other}"
        elif not NAMING.match(cause.text) and not SAMPLED_ITEMS.fullmatch(cause.text):
            yield cause.kind, cause.text


def reasons_of(
    a: Side, b: Side, pairs: Sequence[tuple[str, str]], compared: Collection[Compared]
) -> tuple[list[Reason], list[str]]:
    """What differs between two evaluations, and notes on what cannot be known.

    ``pairs`` are the models that are compared, ``compared`` the tables of judgements.
    """
    reasons: list[Reason] = []
    notes = []
    if a.campaign and b.campaign:
        reasons += [*_of_settings(a, b), *_of_models(a, b, pairs)]
    else:
        without = next(side.folder for side in (a, b) if side.campaign is None)
        notes.append(f"{without} has no campaign.yaml, so settings are not compared.")
    try:
        runs = load_run(a.results), load_run(b.results)
        reasons += _of_jobs(*runs, pairs, compared)
    except UserError as error:
        notes.append(f"What jobs did differently is not known: {error}")
    return reasons, notes
