"""Read the two evaluations of a comparison, pair their models, and find differences in procedure.

The second may be samples of lm-evaluation-harness (lm-eval 0.4.13, ``--log_samples``). Each line
has a document, two pairs of context and continuation, and their log-probabilities.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.audit.diff import Causes, Run, load_run
from blimpworks.audit.lineage import judged_items
from blimpworks.audit.stale import changed_values, shortened
from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.registry import benchmarks
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.evaluation.card import Record
from blimpworks.evaluation.judged import JUDGEMENT_COLUMNS, read_judgements
from blimpworks.evaluation.request import CAMPAIGN_FILE, MODELS_FILE
from blimpworks.exhibits.shared import read_plain
from blimpworks.files import load_json
from blimpworks.interop.lm_eval import METRICS, sentences_of
from blimpworks.items import ALL, SAMPLED
from blimpworks.tables import ACCURACIES, ITEMS, made_by, read_table

ACCURACY_KEY = ["benchmark", "model", "lang", "phenomenon", "paradigm", "method"]


@dataclass(frozen=True)
class Side:
    """One evaluation of a comparison."""

    folder: Path
    results: Path
    campaign: Campaign | None
    """Settings of the evaluation; None for a results tree without campaign file."""

    @cached_property
    def accuracies(self) -> pd.DataFrame:
        """Accuracies on all benchmarks. Raises UserError when there are none."""
        paths = sorted((self.results / "accuracies").glob("*.parquet"))
        if not paths:
            raise UserError(
                f"{self.folder} has no accuracies; expected the directory of a finished evaluation "
                f"(with {CAMPAIGN_FILE}) or a results tree with accuracies/BENCHMARK.parquet."
            )
        return read_plain(ACCURACIES, paths)

    @cached_property
    def accuracy_by_label(self) -> dict[Any, float]:
        """Accuracies by ``ACCURACY_KEY``."""
        accuracies: dict[Any, float] = self.accuracies.set_index(ACCURACY_KEY)["accuracy"].to_dict()
        return accuracies

    @cached_property
    def judged_tables(self) -> list[tuple[str, str, str]]:
        """Benchmark, language and model of each table of judgements.

        They are in the accuracies, or in the records of the jobs that computed these.
        """
        rows = self.accuracies[["benchmark", "lang", "model"]].itertuples(index=False, name=None)
        inputs = (
            Path(entry["path"]).with_suffix("").parts[-3:]
            for path in sorted((self.results / "accuracies").glob("*.parquet"))
            for entry in (made_by(path) or {}).get("inputs", [])
            if "/judgements/" in entry["path"]
        )
        recorded = ((benchmark, lang, model) for benchmark, model, lang in inputs)
        return list(dict.fromkeys([*rows, *recorded]))

    @property
    def models(self) -> list[str]:
        """Models with judgements."""
        return list(dict.fromkeys(model for _, _, model in self.judged_tables))

    def judged(self, model: str) -> list[tuple[str, str]]:
        """Return benchmark and language of each table of a model's judgements."""
        return [(benchmark, lang) for benchmark, lang, name in self.judged_tables if name == model]

    def table(self, folder: str, benchmark: str, lang: str, model: str) -> Path:
        """Return the path of a model's table in a language."""
        return self.results / folder / benchmark / model / f"{lang}.parquet"

    def judgements(self, benchmark: str, lang: str, model: str) -> pd.DataFrame:
        """Read a model's judgements in a language by all methods: ``JUDGEMENT_COLUMNS``."""
        return read_judgements(self.table("judgements", benchmark, lang, model))

    def items(self, benchmark: str, lang: str, model: str) -> Path:
        """Return the path of the items that a model was judged on."""
        return judged_items(self.results, benchmark, lang, model)


def read_side(folder: Path) -> Side:
    """Read an evaluation or a results tree. Raises UserError when the path is no directory."""
    if not folder.is_dir():
        raise UserError(f"{folder} is no directory; name that of an evaluation, or a results tree.")
    path, below = folder / CAMPAIGN_FILE, folder / "results"
    results = below if (below / "accuracies").is_dir() else folder
    return Side(folder, results, load_campaign(path) if path.exists() else None)


def pair_models(
    a: Side, b: Side, chosen: tuple[str, str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Pair the ``chosen`` models, or else models of the same name, or else the only models."""
    if chosen:
        for side, model in zip((a, b), chosen, strict=True):
            if model not in side.models:
                raise UserError(
                    f"{side.folder} has no accuracies of model {model!r}; it has "
                    f"{', '.join(side.models)}. Name one of them, --models A's B's."
                )
        return (chosen,)
    common = [model for model in a.models if model in b.models]
    if common:
        return tuple((model, model) for model in common)
    if len(a.models) == len(b.models) == 1:
        return ((a.models[0], b.models[0]),)
    raise UserError(
        f"{a.folder} has {', '.join(a.models)} and {b.folder} has {', '.join(b.models)}, no model "
        f"of the same name; say which two to compare, such as --models {a.models[0]} {b.models[0]}."
    )


# Samples of lm-evaluation-harness


def _sample(line: str) -> tuple[tuple[str, str], Record]:
    """Return the two sentences and the sample of a line.

    Raises ValueError, LookupError, TypeError or AttributeError for a line of another form.
    """
    value = load_json(line)
    pair = sentences_of(value["doc"])
    if str(value["target"]) != "0":
        raise ValueError(f"target is {value['target']!r}, expected 0, the good sentence")
    arguments = value["arguments"]
    texts = (
        [[*alternative.values()] for alternative in arguments.values()]
        if isinstance(arguments, dict)
        else arguments
    )
    inputs = ["".join(text[:2]) for text in texts]
    if len(inputs) != 2 or not all(map(str.endswith, inputs, pair)):
        raise ValueError(
            f"arguments are {arguments!r}, expected texts that end in the two sentences"
        )
    before = {*map(str.removesuffix, inputs, pair)}
    good, bad = (float(number) for number, _ in value["filtered_resps"])
    correct = {method: float(value[name]) for method, name in METRICS.items() if name in value}
    return pair, {"correct": correct, "margin": good - bad, "before": before}


@dataclass(frozen=True)
class BorrowedSide(Side):
    """Decisions of one model by another program, on the items of the other side."""

    reference: Side
    """The other side, which has the items."""
    model: str

    @cached_property
    def accuracies(self) -> pd.DataFrame:
        """Accuracies on items of the other side. Raises UserError for none."""
        rows = []
        for name, lang in sorted({(n, lang) for n, lang, _ in self.reference.judged_tables}):
            judged = self.judgements(name, lang, self.model)
            for phenomenon, group in [(ALL, judged), *judged.groupby("phenomenon")]:
                for method, values in group.groupby("method")["correct"]:
                    labels = (name, self.model, lang, phenomenon, ALL, method)
                    rows.append([*labels, values.mean()])
        if not rows:
            raise UserError(
                f"{self.folder} has no sample of a pair that {self.reference.folder} has judged; "
                "compare results on the same sentences."
            )
        return pd.DataFrame(rows, columns=[*ACCURACY_KEY, "accuracy"])

    def items(self, benchmark: str, lang: str, model: str) -> Path:
        """Return the path of the other side's items."""
        models = (
            name for *table, name in self.reference.judged_tables if table == [benchmark, lang]
        )
        return self.reference.items(benchmark, lang, next(models))


@dataclass(frozen=True)
class SamplesSide(BorrowedSide):
    """Samples of one model, matched to the other side's items by their two sentences."""

    samples: Mapping[tuple[str, str], Record]
    """Samples by good and bad sentence: ``correct``, 1 or 0 by method, ``margin`` and ``before``.

    ``margin`` is the log-probability of the good sentence minus that of the bad one, in nats.
    ``before`` has the texts that the model read before a sentence.
    """

    def matched(self, benchmark: str, lang: str) -> Iterator[tuple[list[str], Record]]:
        """Yield id, paradigm and phenomenon of the other side's pairs, each with its sample."""
        declared = benchmarks().get(benchmark)
        if declared and declared.judge == "judge":
            names = ["item_id", "paradigm", "phenomenon", "good", "bad"]
            items = read_table(ITEMS, self.items(benchmark, lang, self.model), names)
            for *item, good, bad in zip(*(column.to_pylist() for column in items), strict=True):
                if sample := self.samples.get((good, bad)):
                    yield item, sample

    def judgements(self, benchmark: str, lang: str, model: str) -> pd.DataFrame:
        """Return the decisions of the harness, with the ids of the other side's items."""
        rows = []
        for item, sample in self.matched(benchmark, lang):
            for method, correct in sample["correct"].items():
                margin = sample["margin"] if method == "full_sentence" else None
                rows.append([*item, method, correct, margin])
        return pd.DataFrame(rows, columns=JUDGEMENT_COLUMNS).astype({"margin": float})

    def explanation(self, flipped: int, both: int) -> str:
        """Explain why decisions differ; empty if the harness read nothing but the sentences."""
        tables = {(name, lang) for name, lang, _ in self.reference.judged_tables}
        samples = (sample for table in tables for _, sample in self.matched(*table))
        before = {text for sample in samples for text in sample["before"]}
        if before == {""}:
            return ""
        texts = ", ".join(map(repr, sorted(before)))
        return (
            f"lm-eval put {texts} before a sentence (its task's context and target_delimiter), "
            "blimpworks nothing, so that the model reads other tokens; "
            f"{flipped:,} of {both:,} decisions turn, with all else that differs"
        )


def read_samples(folder: Path, reference: Side) -> SamplesSide | None:
    """Read samples of the harness; None if there are none. Raises UserError if not of pairs."""
    files = sorted(folder.rglob("samples_*.jsonl"))
    if not files:
        return None
    folders = {path.parent for path in files}
    if len(folders) > 1:
        raise UserError(
            f"{folder} has samples of several models ({', '.join(sorted(map(str, folders)))}); "
            "name the directory of one."
        )
    samples: dict[tuple[str, str], Record] = {}
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
            if not line.strip():
                continue
            try:
                pair, sample = _sample(line)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise UserError(
                    f"{path}:{number}: is no sample of lm-eval on a pair of sentences ({error}); "
                    "log samples (--log_samples) of a task with a good and a bad sentence."
                ) from error
            read = {pair: sample}
            if len(sample["before"]) == 1:
                # Items of some benchmarks have the space that the harness puts first.
                [text] = sample["before"]
                read[text + pair[0], text + pair[1]] = sample | {"before": {""}}
            for texts, logged in read.items():
                if samples.setdefault(texts, logged) != logged:
                    raise UserError(
                        f"{folder} has two samples of {pair[0]!r} with other numbers, of two runs "
                        "or filters; leave the files of one."
                    )
    name = files[0].parent.name
    return SamplesSide(folder, folder, None, reference, name, samples)


# Differences in procedure

LOCATIONS = {"campaign", "description", "pathvars", "catalogue", "models", "mirror", "site"}
"""Settings of names and paths, which change no number; rows of models are compared apart."""
DESCRIPTIONS = {"name", "label", "family", "papers", "note"}
"""Columns of a table of models that change no number."""
RENAMING = re.compile(r"(retrieve_model|train_\w+) name: ")
"""Beginning of causes that only concern names of models."""
ALL_ITEMS = re.compile(r"results/items/.* only in (?P<side>[AB])")
"""Cause that comes with one of ``SAMPLED_ITEMS`` when one evaluation took a sample."""
SAMPLED_ITEMS = re.compile(rf"{SAMPLED} only in [AB]")
KINDS = ("model", "input", "parameter", "engine", "code", "package")
"""Kinds of differences between jobs, in the order of the list."""
Compared = tuple[str, str, tuple[str, str]]
"""Benchmark, language and models of compared tables."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A difference between the evaluations."""

    category: str
    """``setting``, ``model``, ``input``, ``code``, ``parameter``, ``engine``, ``package``, …"""
    text: str
    tables: int = 0
    """Number of compared tables that it affects according to the records of jobs."""


@dataclass
class _Renamed(Run):
    """A run with replaced names of models in the keys of its products."""

    new_names: Mapping[str, str] = field(default_factory=dict)
    """New names by the names in the run."""

    def key(self, path: str) -> str:
        *folders, file = super().key(path).split("/")
        stem, dot, suffix = file.partition(".parquet")
        renamed = [self.new_names.get(folder, folder) for folder in folders]
        return "/".join([*renamed, f"{self.new_names.get(stem, stem)}{dot}{suffix}"])

    def file(self, path: str) -> Path:
        return Run(self.root, self.recorded, self.base).file(path)


def _job_differences(
    a: Run, b: Run, pairs: Sequence[tuple[str, str]], compared: Collection[Compared]
) -> list[Reason]:
    """Return differences between the jobs that made the judgements, in the order of ``KINDS``."""
    # Number of tables that each reason, a kind and a text, affects.
    tables: Counter[tuple[str, str]] = Counter()
    for ours, theirs in pairs:
        second = b
        if ours != theirs:
            # Give the model of B the name of A's, so that their products have the same keys.
            second = _Renamed(b.root, b.recorded, b.base, new_names={theirs: ours, ours: theirs})
            jobs = b.jobs.values()
            second.jobs = {second.key(job["outputs"][0]["path"]): job for job in jobs}
        causes = Causes(a, second)
        for benchmark, lang, models in compared:
            key = f"results/judgements/{benchmark}/{ours}/{lang}.parquet"
            in_both = key in a.products and key in second.products
            if models == (ours, theirs) and in_both and causes.changed(key):
                all_causes = causes.all_causes(second.products[key][0])
                has_sample = any(SAMPLED_ITEMS.fullmatch(cause.text) for cause in all_causes)
                reasons = set()
                for cause in all_causes:
                    all_items = ALL_ITEMS.fullmatch(cause.text)
                    if all_items and has_sample:
                        side, sampled = ("A", "B") if all_items["side"] == "A" else ("B", "A")
                        text = f"items: all in {side}, a sample of them in {sampled}"
                        reasons.add(("input", text))
                    elif not RENAMING.match(cause.text) and not SAMPLED_ITEMS.fullmatch(cause.text):
                        reasons.add((cause.category, cause.text))
                tables.update(reasons)
    ranks = {name: rank for rank, name in enumerate(KINDS)}
    differences = [Reason(*reason, n) for reason, n in tables.items()]
    return sorted(differences, key=lambda d: (ranks.get(d.category, len(ranks)), d.text))


def _changes(before: Record, after: Record) -> Iterator[str]:
    for path, values in changed_values(before, after).items():
        yield f"{path}: {' → '.join(map(shortened, values))}"


def reasons_of(
    a: Side, b: Side, pairs: Sequence[tuple[str, str]], compared: Collection[Compared]
) -> tuple[list[Reason], list[str]]:
    """Return differences between two evaluations, and notes on what is unknown.

    ``pairs`` are the names of compared models in A and in B.
    """
    reasons: list[Reason] = []
    notes = []
    if a.campaign and b.campaign:
        settings, rows = [], []
        for side, campaign in ((a, a.campaign), (b, b.campaign)):
            settings.append(campaign.model_dump(mode="json", exclude=LOCATIONS))
            table = side.folder / MODELS_FILE
            table = table if table.exists() else campaign.catalogue.models
            models = ((row.name, row) for row in read_rows(ModelRow, table))
            rows.append({m: row.model_dump(mode="json", exclude=DESCRIPTIONS) for m, row in models})
        reasons += [Reason("setting", change) for change in _changes(*settings)]
        for ours, theirs in pairs:
            names = ours if ours == theirs else f"{ours} → {theirs}"
            if ours in rows[0] and theirs in rows[1]:
                changes = _changes(rows[0][ours], rows[1][theirs])
                reasons += [Reason("model", f"{names}, {change}") for change in changes]
    else:
        without = next(side.folder for side in (a, b) if side.campaign is None)
        notes.append(f"{without} has no campaign.yaml, so settings are not compared.")
    try:
        runs = load_run(a.results), load_run(b.results)
        reasons += _job_differences(*runs, pairs, compared)
    except UserError as error:
        notes.append(f"What jobs did differently is not known: {error}")
    return reasons, notes
