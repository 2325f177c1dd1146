"""Read the two sides of a comparison, A and B, and find out how they were made differently.

``compare`` calls ``read_side``, ``read_samples`` and ``reasons_of``. A side is the directory of an
evaluation, or a results tree (a directory with the workflow's results). B can also be a file of
samples on A's items by lm-evaluation-harness (lm-eval 0.4.13, ``--log_samples``). A line of such a
file has a document with two sentences, the texts that the model read, and their log-probabilities:

    {"doc": {"sentence_good": "A cat sleeps.", "sentence_bad": "A cat sleep."}, "target": "0",
     "arguments": [["", "A cat sleeps."], ["", "A cat sleep."]],
     "filtered_resps": [[-20.5, false], [-24.1, false]], "acc": 1.0}
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.analysis.statistics import KEY
from blimpworks.audit.diff import Cause, Causes, Run, load_run
from blimpworks.audit.lineage import judged_items
from blimpworks.audit.stale import changed_values, shortened
from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.registry import benchmarks
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError, reading
from blimpworks.evaluation.card import Record
from blimpworks.evaluation.judged import JUDGEMENT_COLUMNS
from blimpworks.evaluation.request import CAMPAIGN_FILE, MODELS_FILE
from blimpworks.exhibits.shared import read_plain
from blimpworks.files import load_json, sha256_of, text_of
from blimpworks.interop.lm_eval import METRICS, sentences_of
from blimpworks.items import ALL, SAMPLED
from blimpworks.tables import ACCURACIES, ITEMS, JUDGEMENTS, made_by, read_table

ACCURACY_KEY = ["benchmark", "model", "lang", "phenomenon", "paradigm", "method"]


@dataclass(frozen=True)
class Side:
    """One evaluation of a comparison."""

    folder: Path
    """Directory that the user named."""
    results: Path
    """Folder with ``accuracies/``, ``judgements/``, …."""
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
        """Accuracies, keyed by tuples of the columns in ``ACCURACY_KEY``."""
        accuracies: dict[Any, float] = self.accuracies.set_index(ACCURACY_KEY)["accuracy"].to_dict()
        return accuracies

    @cached_property
    def digests_of_judgements(self) -> dict[tuple[str, str, str], str]:
        """Digests (SHA-256) of the tables of judgements that the accuracies were computed from.

        Keys are (benchmark, language, model), from the records in the tables of accuracies.
        """
        digests: dict[tuple[str, str, str], str] = {}
        for path in sorted((self.results / "accuracies").glob("*.parquet")):
            record = made_by(path) or {}
            for entry in record.get("inputs", []):
                if "/judgements/" in entry["path"]:
                    benchmark, model, lang = Path(entry["path"]).with_suffix("").parts[-3:]
                    digests[benchmark, lang, model] = entry["sha256"]
        return digests

    @cached_property
    def judged_tables(self) -> list[tuple[str, str, str]]:
        """(benchmark, language, model) of each table of judgements.

        A table without any verdict has no accuracies, but records of accuracies name it.
        """
        rows = self.accuracies[["benchmark", "lang", "model"]].itertuples(index=False, name=None)
        return list(dict.fromkeys([*rows, *self.digests_of_judgements]))

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(model for _, _, model in self.judged_tables))

    def judged(self, model: str) -> list[tuple[str, str]]:
        """Return the (benchmark, language) of each table of a model's judgements."""
        return [(benchmark, lang) for benchmark, lang, name in self.judged_tables if name == model]

    def table(self, folder: str, benchmark: str, lang: str, model: str) -> Path:
        """Return the path of a model's table; ``folder`` is "judgements", "scores" or "answers"."""
        return self.results / folder / benchmark / model / f"{lang}.parquet"

    def judgement_table(self, benchmark: str, lang: str, model: str) -> Path:
        """Return a path of judgements. Raises UserError if accuracies were computed from others."""
        path = self.table("judgements", benchmark, lang, model)
        recorded = self.digests_of_judgements.get((benchmark, lang, model))
        if recorded is not None and path.is_file() and sha256_of(path) != recorded:
            raise UserError(
                f"{path} was made again after the accuracies of {benchmark} in {self.results} were "
                "computed from it, as by an evaluation that was interrupted; run it to its end."
            )
        return path

    def judgements(self, benchmark: str, lang: str, model: str) -> pd.DataFrame:
        """Read a model's judgements by all methods, with the columns ``JUDGEMENT_COLUMNS``."""
        path = self.judgement_table(benchmark, lang, model)
        return read_plain(JUDGEMENTS, path, JUDGEMENT_COLUMNS)

    def items(self, benchmark: str, lang: str, model: str) -> Path:
        """Return the path of the items that a model was judged on."""
        return judged_items(self.results, benchmark, lang, model)


def is_evaluation(folder: Path) -> bool:
    """Return whether a folder is that of an evaluation, or a results tree."""
    results_trees = (folder, folder / "results")
    return (folder / CAMPAIGN_FILE).is_file() or any(
        (results / "accuracies").is_dir() for results in results_trees
    )


def read_side(folder: Path) -> Side:
    """Read an evaluation or a results tree. Raises UserError when the path is no directory."""
    if not folder.is_dir():
        raise UserError(f"{folder} is no directory; name that of an evaluation, or a results tree.")
    path, below = folder / CAMPAIGN_FILE, folder / "results"
    results = below if (below / "accuracies").is_dir() else folder
    return Side(folder, results, load_campaign(path) if path.exists() else None)


def pair_models(a: Side, b: Side, chosen: tuple[str, str] | None = None) -> list[tuple[str, str]]:
    """Return the pairs (model of A, model of B) to compare.

    They are the ``chosen`` pair. Without one, models with the same name in A and B are compared. If
    no names are the same, A and B must have one model each. Raises UserError if there is no pair.
    """
    if chosen:
        for side, model in zip((a, b), chosen, strict=True):
            if model not in side.models:
                raise UserError(
                    f"{side.folder} has no accuracies of model {model!r}; it has "
                    f"{', '.join(side.models)}. Name one of them, --models A's B's."
                )
        return [chosen]
    common = [model for model in a.models if model in b.models]
    if common:
        return [(model, model) for model in common]
    if len(a.models) == len(b.models) == 1:
        return [(a.models[0], b.models[0])]
    raise UserError(
        f"{a.folder} has {', '.join(a.models)} and {b.folder} has {', '.join(b.models)}, no model "
        f"of the same name; say which two to compare, such as --models {a.models[0]} {b.models[0]}."
    )


# Samples of lm-evaluation-harness


def _parse_sample(line: str) -> tuple[tuple[str, str], Record]:
    """Return a line's (good sentence, bad sentence), and the sample, a record.

    Keys: ``correct``, 1 or 0 by method ({"full_sentence": 1.0}); ``margin`` [nats]; ``before``, the
    set of texts that the model read before a sentence ({" "}). Raises ValueError, LookupError,
    TypeError or AttributeError for a line of another form.
    """
    value = load_json(line)
    pair = sentences_of(value["doc"])
    if str(value["target"]) != "0":
        raise ValueError(f"target is {value['target']!r}, expected 0, the good sentence")
    arguments = value["arguments"]
    requests = arguments  # [[context, continuation], …], or
    if isinstance(arguments, dict):  # {"gen_args_0": {"arg_0": context, "arg_1": continuation}, …}
        requests = [[*request.values()] for request in arguments.values()]
    texts = ["".join(request[:2]) for request in requests]  # that the model read
    if len(texts) != 2 or not all(map(str.endswith, texts, pair)):
        raise ValueError(
            f"arguments are {arguments!r}, expected texts that end in the two sentences"
        )
    before = {*map(str.removesuffix, texts, pair)}
    good, bad = (float(logprob) for logprob, _ in value["filtered_resps"])
    correct = {method: float(value[name]) for method, name in METRICS.items() if name in value}
    if not correct:
        raise ValueError(f"has no accuracy, expected one of {', '.join(METRICS.values())}")
    return pair, {"correct": correct, "margin": good - bad, "before": before}


@dataclass(frozen=True)
class BorrowedSide(Side):
    """Another program's decisions of a model, on the items of an evaluation (``reference``)."""

    reference: Side
    model: str
    judged_by_table: Mapping[tuple[str, str], pd.DataFrame]
    """Decisions (``JUDGEMENT_COLUMNS``), keyed by (benchmark, language)."""
    explanation: tuple[str, str] | None
    """Texts before and after "3 of 90 decisions differ"; None if no reason is known."""
    notes: Sequence[str] = ()
    """Sentences on decisions that are not compared."""

    @cached_property
    def accuracies(self) -> pd.DataFrame:
        """Accuracies, overall and of phenomena. Raises UserError if no item has a decision."""
        rows = []
        for benchmark, lang in sorted(self.judged_by_table):
            judged = self.judged_by_table[benchmark, lang]
            for phenomenon, group in [(ALL, judged), *judged.groupby("phenomenon")]:
                for method, values in group.groupby("method")["correct"]:
                    labels = (benchmark, self.model, lang, phenomenon, ALL, method)
                    rows.append([*labels, values.mean()])
        if not rows:
            raise UserError(
                f"{self.folder} has no sample of a pair that {self.reference.folder} has judged; "
                "compare results on the same sentences."
            )
        return pd.DataFrame(rows, columns=[*ACCURACY_KEY, "accuracy"])

    def judgements(self, benchmark: str, lang: str, model: str) -> pd.DataFrame:
        return self.judged_by_table[benchmark, lang]

    def items(self, benchmark: str, lang: str, model: str) -> Path:
        tables = self.reference.judged_tables
        models = [name for table, code, name in tables if (table, code) == (benchmark, lang)]
        return self.reference.items(benchmark, lang, models[0])


def read_samples(source: Path, reference: Side) -> BorrowedSide | None:
    """Read a file of lm-eval samples, or all such files below a folder; None if there are none.

    Samples belong to the items of ``reference`` with their two sentences. Raises UserError for
    unreadable files, samples of several models or of no pairs, and different samples of a pair.
    """
    files = sorted(source.rglob("samples_*.jsonl"))
    if source.suffix == ".jsonl" and source.is_file():
        files = [source]
    if not files:
        return None
    folders = {path.parent for path in files}
    if len(folders) > 1:
        raise UserError(
            f"{source} has samples of several models ({', '.join(sorted(map(str, folders)))}); "
            "name the directory of one."
        )
    # Samples, keyed by the two sentences as in tables of items; a pair of the files has two keys.
    sample_by_key: dict[tuple[str, str], Record] = {}
    keys_of_pair: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for path in files:
        with reading(path, "samples of lm-eval (lines of JSON)", "Log them again."):
            lines = text_of(path).split("\n")
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                pair, sample = _parse_sample(line)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise UserError(
                    f"{path}:{number}: is no sample of lm-eval on a pair of sentences ({error}); "
                    "log samples (--log_samples) of a task with a good and a bad sentence."
                ) from error
            samples_of_pair = {pair: sample}
            if len(sample["before"]) == 1:
                # The items may begin with the text, a space, that the harness puts before both.
                [text] = sample["before"]
                samples_of_pair[text + pair[0], text + pair[1]] = sample | {"before": {""}}
            keys_of_pair[pair] = {*samples_of_pair}
            for key, sample_of_key in samples_of_pair.items():
                if sample_by_key.setdefault(key, sample_of_key) != sample_of_key:
                    raise UserError(
                        f"{source} has two samples of {pair[0]!r} with different numbers, from two "
                        "runs or filters; keep the files of one."
                    )
    judged: dict[tuple[str, str], pd.DataFrame] = {}
    texts_before: set[str] = set()
    matched: set[tuple[str, str]] = set()
    columns = [*KEY, "phenomenon", "good", "bad"]
    for benchmark, lang, model in reference.judged_tables:
        declared = benchmarks().get(benchmark)
        if (benchmark, lang) in judged or not declared or declared.judge != "judge":
            continue
        rows = []
        for item in read_table(ITEMS, reference.items(benchmark, lang, model), columns).to_pylist():
            sentences = (item.pop("good"), item.pop("bad"))
            if match := sample_by_key.get(sentences):
                matched.add(sentences)
                texts_before |= match["before"]
                for method, correct in match["correct"].items():
                    margin = match["margin"] if method == "full_sentence" else math.nan
                    rows.append(item | {"method": method, "correct": correct, "margin": margin})
        judged[benchmark, lang] = pd.DataFrame(rows, columns=JUDGEMENT_COLUMNS)
    unmatched = sum(keys.isdisjoint(matched) for keys in keys_of_pair.values())
    notes = []
    if unmatched:
        notes.append(
            f"Only in {source}, not compared: {unmatched:,} of {len(keys_of_pair):,} pairs."
        )
    added = ", ".join(map(repr, sorted(texts_before)))
    explanation = (
        f"lm-eval put {added} before a sentence (its task's context and target_delimiter), "
        "blimpworks nothing, so that the model reads other tokens; ",
        ", for this and all other reasons",
    )
    model = files[0].absolute().parent.name
    reason = None if texts_before == {""} else explanation
    return BorrowedSide(source, source, None, reference, model, judged, reason, notes)


# Differences in procedure

CATEGORIES = ("model", "input", "parameter", "engine", "code", "package")
"""Categories of differences between jobs, in the order in which they are listed."""
ComparedTables = tuple[str, str, tuple[str, str]]
"""(benchmark, language, (model of A, model of B)) of two tables of judgements, one of each side."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A difference between the evaluations."""

    category: str
    """``setting``, or one of ``CATEGORIES``."""
    text: str
    tables: int = 0
    """Number of compared tables that the difference affects, by the records of the jobs."""


MODEL_POSITIONS = {
    **dict.fromkeys(("models", "store", "answers_store"), 2),
    **dict.fromkeys(("scores", "answers", "judgements", "perplexities"), 3),
    **dict.fromkeys(("sensitivity", "parity"), 4),
}
"""Index of the model in a path, by the folder: 3 in results/scores/BENCHMARK/MODEL."""


@dataclass(frozen=True)
class _Renamed(Run):
    """The jobs of a results tree, with models renamed in the keys (paths) of their products."""

    new_names: Mapping[str, str] = field(default_factory=dict)
    """New names of models, keyed by their names in the results tree."""

    def key(self, path: str) -> str:
        components = super().key(path).split("/")
        if components[0] in ("results", "resources"):
            # No other component is changed, as benchmarks and languages can have a model's name.
            position = MODEL_POSITIONS.get(components[1], len(components))
            if position < len(components):
                name, dot, suffix = components[position].partition(".parquet")
                components[position] = f"{self.new_names.get(name, name)}{dot}{suffix}"
        return "/".join(components)

    def file(self, path: str) -> Path:  # files have the names of the results tree
        return Run(self.root, self.recorded, self.base).file(path)


def _reasons_of_causes(causes: Collection[Cause]) -> set[tuple[str, str]]:
    """Return (category, text) of the causes that may change the numbers of a table.

    One reason replaces the two causes of a sample: "sampled only in A", "results/items/… only in
    B". The new name of a model is no reason: "train_ngram name: a → b".
    """
    is_sample = re.compile(rf"{SAMPLED} only in [AB]").fullmatch
    has_sample = any(is_sample(cause.text) for cause in causes)
    reasons = set()
    for cause in causes:
        all_items = re.fullmatch(r"results/items/.* only in (?P<side>[AB])", cause.text)
        is_renaming = re.match(r"(retrieve_model|train_\w+) name: ", cause.text)
        if all_items and has_sample:
            side, sampled = ("A", "B") if all_items["side"] == "A" else ("B", "A")
            reasons.add(("input", f"items: all in {side}, a sample of them in {sampled}"))
        elif not is_renaming and not is_sample(cause.text):
            reasons.add((cause.category, cause.text))
    return reasons


def _job_differences(
    a: Run, b: Run, pairs: Sequence[tuple[str, str]], compared: Collection[ComparedTables]
) -> list[Reason]:
    """Return differences between the jobs that made the judgements, in order of ``CATEGORIES``."""
    table_counts: Counter[tuple[str, str]] = Counter()  # by category and text of a reason
    for model_a, model_b in pairs:
        renamed_b = b
        if model_a != model_b:
            # Exchange names in B, so that B's model has the name of A's, and products equal keys.
            new_names = {model_b: model_a, model_a: model_b}
            renamed_b = _Renamed(b.root, b.recorded, b.base, b.records, new_names)
        causes = Causes(a, renamed_b)
        for benchmark, lang, models in compared:
            key = f"results/judgements/{benchmark}/{model_a}/{lang}.parquet"
            in_both = key in a.products and key in renamed_b.products
            if models == (model_a, model_b) and in_both and causes.changed(key):
                job, _entry = renamed_b.products[key]
                table_counts.update(_reasons_of_causes(causes.all_causes(job)))
    ranks = {category: rank for rank, category in enumerate(CATEGORIES)}
    differences = [Reason(*reason, count) for reason, count in table_counts.items()]
    return sorted(differences, key=lambda d: (ranks.get(d.category, len(ranks)), d.text))


def _changes(before: Record, after: Record) -> list[str]:
    """Return texts such as "scoring.batch: 8 → 16"."""
    changed = changed_values(before, after).items()
    return [f"{path}: {' → '.join(map(shortened, values))}" for path, values in changed]


def reasons_of(
    a: Side, b: Side, pairs: Sequence[tuple[str, str]], compared: Collection[ComparedTables]
) -> tuple[list[Reason], list[str]]:
    """Return the differences between two evaluations, and sentences on unknown differences.

    Settings and rows of models are compared if both have a campaign file, then the records of jobs.
    ``pairs`` are the compared (model of A, model of B).
    """
    reasons: list[Reason] = []
    notes = []
    if a.campaign and b.campaign:
        # Names and paths change no number. Rows of models are compared below.
        names = {"campaign", "description", "pathvars", "catalogue", "models", "mirror", "site"}
        names_of_model = {"name", "label", "family", "papers", "note"}
        settings, rows_by_model = [], []
        for side, campaign in ((a, a.campaign), (b, b.campaign)):
            settings.append(campaign.model_dump(mode="json", exclude=names))
            table = side.folder / MODELS_FILE
            table = table if table.exists() else campaign.catalogue.models
            rows = read_rows(ModelRow, table)
            dumped = {r.name: r.model_dump(mode="json", exclude=names_of_model) for r in rows}
            rows_by_model.append(dumped)
        reasons += [Reason("setting", change) for change in _changes(*settings)]
        rows_a, rows_b = rows_by_model
        for model_a, model_b in pairs:
            label = model_a if model_a == model_b else f"{model_a} → {model_b}"
            if model_a in rows_a and model_b in rows_b:
                changes = _changes(rows_a[model_a], rows_b[model_b])
                reasons += [Reason("model", f"{label}, {change}") for change in changes]
    else:
        without = next(side.folder for side in (a, b) if side.campaign is None)
        notes.append(f"{without} has no campaign.yaml, so settings are not compared.")
    try:
        runs = load_run(a.results), load_run(b.results)
        reasons += _job_differences(*runs, pairs, compared)
    except UserError as error:
        notes.append(f"What jobs did differently is not known: {error}")
    return reasons, notes
