"""Write predictions on the tasks of a suite as files for other programs, and read such files.

A file has, by group, the text that a model prefers of each item, in the order of the items' source:
``{"GROUP": {"predictions": [{"id": "GROUP_0", "pred": "A text."}, …]}, …}``. Where people's choices
are correlated, ``prob`` is the probability of the first text. The suite says which file, group and
text (``suites.Predictions``). Files of surprisals have numbers in place of texts; a file of curves
has a word's surprisal in each context at each checkpoint.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pydantic import TypeAdapter

from blimpworks.campaign.addresses import is_local
from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.methods import find_method
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError, reading
from blimpworks.evaluation.checkpoints import training_of
from blimpworks.evaluation.judged import JUDGEMENT_COLUMNS
from blimpworks.evaluation.request import CAMPAIGN_FILE, MODELS_FILE
from blimpworks.evaluation.sides import BorrowedSide, Side, read_side
from blimpworks.evaluation.suite_numbers import items_with_effects
from blimpworks.evaluation.suites import Predictions, Suite, Task, read_suite
from blimpworks.exhibits.shared import counted
from blimpworks.files import below, load_json, text_of, write_text
from blimpworks.items import APART, SAMPLED, SIDES
from blimpworks.judging import judge
from blimpworks.strict import Strict
from blimpworks.tables import ITEMS, SCORES, read_table

SUM = find_method("critical_region")
"""Method that decides between wrong options."""
TOKENS = ["item_id", "rounding", "good_ids", "good_logprobs", "good_ends"]
SPANS = [f"{side}_{edge}" for side in SIDES for edge in ("start", "end")]
REGIONS = ["regions", "region_starts", "region_ends"]
MOST_NAMED = 6
"""Most checkpoints in one message."""


class Prediction(Strict):
    """A model's choice on an item."""

    id: str
    pred: str
    prob: float | None = None


class Group(Strict):
    """The predictions of a group of items, in their order."""

    predictions: tuple[Prediction, ...]


Groups = Mapping[str, Group]
FILE: TypeAdapter[Groups] = TypeAdapter(dict[str, Group])
SECTIONS: TypeAdapter[Mapping[str, Any]] = TypeAdapter(dict[str, Any])
EXPECTED = 'predictions, {"GROUP": {"predictions": [{"id": …, "pred": …}, …]}, …}'
REMEDY = "Name files that the suite's own programs, or `export`, have written."


@dataclass(frozen=True, slots=True)
class Question:
    """An item with its texts, the right one first."""

    key: tuple[str, str]
    """Id of the item, and paradigm."""
    phenomenon: str
    texts: Sequence[str]
    rows: Sequence[str]
    """Ids of the rows with the texts: one of a pair, or one of each condition."""
    spans: Sequence[tuple[int, int]]
    """Critical region in the sentence of each row."""


def read_questions(path: Path, form: Predictions) -> dict[str, list[Question]]:
    """Read the items of a table by group, in the order of their source."""
    columns = ["item_id", "paradigm", "phenomenon", *SIDES, *SPANS, "file", "line", "item"]
    rows = read_table(ITEMS, path, [*columns, *REGIONS]).to_pylist()
    items: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: (row["file"] or "", row.get("line") or 0)):
        items.setdefault((row.get("item") or row["item_id"], row["paradigm"]), []).append(row)
    questions: dict[str, list[Question]] = {}
    for key, conditions in items.items():
        spans, texts = [], []
        for row in conditions:
            sides = [(side, row[f"{side}_start"], row[f"{side}_end"]) for side in SIDES]
            if "item" in row:
                if "option" not in row["regions"]:
                    raise UserError(
                        f"{path} has items without options, which have no predictions; leave the "
                        "key 'predictions' of their task out of the suite."
                    )
                region = row["regions"].index("option")
                sides = [("good", row["region_starts"][region], row["region_ends"][region])]
            for side, start, end in sides:
                spans.append((start, end))
                option = row[side][start:end]
                texts.append(form.answer.format(sentence=row[side], option=option))
        ids = [row["item_id"] for row in conditions]
        question = Question(key, conditions[0]["phenomenon"], texts, ids, spans)
        questions.setdefault(form.groups.get(key[1], key[1]), []).append(question)
    return questions


def _option_sums(
    side: Side, table: tuple[str, str, str], questions: Sequence[Question]
) -> dict[str, float]:
    """Return the sum of log-probabilities of each option, in nats, by the id of its row."""
    spans = {
        row: span
        for question in questions
        for row, span in zip(question.rows, question.spans, strict=True)
    }
    items = read_table(ITEMS, side.items(*table), ["item_id", "good"])
    ids = items["item_id"].to_pylist()
    starts, ends = zip(*(spans[row] for row in ids), strict=True)
    scores = side.table("scores", *table)
    aligned = judge.align_scores(items, read_table(SCORES, scores, TOKENS), scores)
    options = pa.table({"good": items["good"], "good_start": starts, "good_end": ends})
    sums = judge.totals(SUM, judge.side_of(options, aligned, "good"))
    return dict(zip(ids, sums.tolist(), strict=True))


def _predictions(side: Side, task: Task, form: Predictions, model: str) -> Groups:
    """Return a model's predictions on a task by group.

    Raises UserError for a sample of the items, and for items without a verdict.
    """
    groups: dict[str, Group] = {}
    for lang in (lang for name, lang in side.judged(model) if name == task.benchmark):
        table = (task.benchmark, lang, model)
        path = _all_items(side, task, table)
        judged = side.judgements(*table)
        judged = judged[judged["method"] == judged["method"].iloc[0]]
        lost = int(judged["margin"].isna().sum())
        if lost:
            raise UserError(
                f"{lost} of {len(judged)} items of {task.label} have no verdict by {model}, and a "
                f"submission has a prediction on each; the report card of {side.folder} says why."
            )
        keys = zip(judged["item_id"], judged["paradigm"], strict=True)
        margins = dict(zip(keys, judged["margin"], strict=True))
        questions = read_questions(path, form)
        choices = [q for group in questions.values() for q in group if len(q.rows) > 1]
        sums = _option_sums(side, table, choices) if choices else {}
        for name, group in questions.items():
            predictions = []
            for number, question in enumerate(group):
                margin = margins[question.key]
                chosen = 0 if margin >= 0 else 1
                if chosen and len(question.rows) > 1:
                    values = [sums[row] for row in question.rows[1:]]
                    chosen += values.index(max(values))
                # The other way round, the exponential of a large margin would overflow.
                odds = math.exp(-abs(margin))
                share = (1.0 if margin >= 0 else odds) / (1 + odds)
                predictions.append(
                    Prediction(
                        id=f"{name}_{number}",
                        pred=question.texts[chosen],
                        prob=share if task.measure == "correlation" else None,
                    )
                )
            groups[name] = Group(predictions=tuple(predictions))
    return groups


def _all_items(side: Side, task: Task, table: tuple[str, str, str]) -> Path:
    """Return the path of a task's items. Raises UserError for a sample of them."""
    path = side.items(*table)
    if SAMPLED in path.relative_to(side.results).parts:
        raise UserError(
            f"{side.folder} has a sample of {task.label}, and a submission has all items; "
            "evaluate without --limit."
        )
    return path


def _items_with_effects(side: Side, task: Task, model: str, needed: str) -> pd.DataFrame:
    """Return a task's items in the order of their source, with a model's effects [nats].

    Raises UserError for a sample of the items, and for items without the ``needed`` effect.
    """
    languages = [lang for name, lang in side.judged(model) if name == task.benchmark]
    if len(languages) > 1:
        raise UserError(
            f"{task.label} has several languages ({', '.join(languages)}), and a file of "
            "surprisals has one; leave the key 'predictions' of the task out of the suite."
        )
    table = (task.benchmark, languages[0], model)
    method = str(side.judgements(*table)["method"].iloc[0])
    path = side.table("judgements", *table)
    items = items_with_effects(_all_items(side, task, table), path, method)
    lost = int(items[needed].isna().sum())
    if lost:
        raise UserError(
            f"{lost} of {len(items)} items of {task.label} have no {needed} by {model}, and a "
            f"submission has one of each; the report card of {side.folder} says why."
        )
    return items.sort_values(["file", "line"], kind="stable")


def _surprisals(side: Side, task: Task, form: Predictions, model: str) -> dict[str, Any]:
    """Return the content of a file of surprisals, NaN where an item has none."""
    items = _items_with_effects(side, task, model, next(iter(form.numbers.values())))
    return {
        form.groups.get(str(name), str(name)): {
            "predictions": [
                {"id": number} | {key: row[effect] for key, effect in form.numbers.items()}
                for number, row in enumerate(rows.to_dict("records"))
            ]
        }
        for name, rows in items.groupby("paradigm", sort=False, observed=True)
    }


def _curves(side: Side, task: Task, revisions: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of a file of curves; ``revisions`` are the checkpoints by model."""
    assert task.acquisition is not None
    results = []
    order = sorted(revisions, key=lambda model: training_of(revisions[model]) or 0.0)
    for model in order:
        revision = revisions[model]
        items = _items_with_effects(side, task, model, task.acquisition.surprisal)
        lengths = items[task.acquisition.word].astype(str).str.len()
        items = items[lengths >= task.acquisition.shortest]
        numbers = items.groupby(task.acquisition.word, sort=False).cumcount()
        for number, row in zip(numbers, items.to_dict("records"), strict=True):
            results.append(
                {
                    "step": revision,
                    "word_count": int(training_of(revision) or 0),
                    "target_word": row[task.acquisition.word],
                    "context_id": number,
                    "context": row["good"].partition(APART)[0],
                    "surprisal": row[task.acquisition.surprisal],
                }
            )
    counts = dict.fromkeys(("total_steps", "completed_steps"), len(revisions))
    return {"metadata": {"use_bos_only": False, **counts}, "results": results}


def _suite_of(side: Side) -> Suite:
    name = side.campaign.report_card.suite if side.campaign else None
    if name is None:
        raise UserError(
            f"{side.folder} is no evaluation of a suite; evaluate with --suite NAME, such as "
            "--suite babylm-strict."
        )
    return read_suite(name)


def _names(row: ModelRow, *, checkpoints: bool) -> tuple[str, str]:
    """Return the names of a model and its revision. Checkpoints of this machine are folders."""
    if not is_local(row.hf_id):
        # The row has the commit, and its label the revision that the user named.
        return Path(row.hf_id or row.name).stem, row.label.partition("@")[2] or "main"
    folder = Path(row.hf_id).expanduser().resolve()
    return (folder.parent.stem, folder.name) if checkpoints else (folder.stem, "main")


def export_submission(run: Path, output: Path) -> Iterator[str]:
    """Write the predictions of an evaluation below ``output``; yield lines about it.

    The first lines say what a whole submission has besides. Raises UserError if the evaluation is
    of no suite, or one whose predictions cannot be submitted, and as ``_predictions``.
    """
    side = read_side(run)
    suite = _suite_of(side)
    form = suite.submission
    if form is None:
        raise UserError(f"the suite {suite.label} has no submission; name another evaluation.")
    assert side.campaign is not None  # which names the suite
    rows = {row.name: row for row in read_rows(ModelRow, side.folder / MODELS_FILE)}
    files: dict[Path, tuple[Task, Predictions, str]] = {}
    curves: dict[Path, tuple[Task, dict[str, str]]] = {}
    # Of tasks with the same items, the first one with predictions counts.
    tasks: dict[str, Task] = {}
    for task in sorted(suite.tasks, key=lambda task: task.predictions is None):
        tasks.setdefault(task.benchmark, task)
    lacks: dict[str, list[str]] = {}
    revisions = set()
    for model in side.models:
        row = rows[model]
        scoring = side.campaign.scoring
        forms = {"masked": scoring.masked.pll, "encoder-decoder": scoring.seq2seq.form}
        scoring_way = " ".join(filter(None, (row.architecture, forms.get(row.architecture))))
        if scoring_way not in form.backends:
            raise UserError(
                f"{model} is scored as {scoring_way!r}; expected {', '.join(form.backends)}, "
                "which alone can be submitted. Evaluate it with another --scoring."
            )
        if row.architecture == "causal" and suite.first_token not in (None, scoring.first_token):
            raise UserError(
                f"{run} is evaluated with first_token {scoring.first_token!r}, and a submission "
                f"has {suite.first_token!r}; evaluate without --first-token."
            )
        name, revision = _names(row, checkpoints=side.campaign.report_card.curves)
        revisions.add(revision)
        names = {"model": name, "revision": revision, "backend": form.backends[scoring_way]}
        paths = {
            label: below(output, path.format(**names), label) for label, path in form.more.items()
        }
        judged = {benchmark for benchmark, _ in side.judged(model)}
        for task in tasks.values():
            if task.acquisition and form.curves:
                path = paths[task.label] = below(output, form.curves.format(**names), task.label)
                if task.benchmark in judged:
                    curves.setdefault(path, (task, {}))[1][model] = revision
                continue
            if task.predictions is None:
                # Without a form of its predictions, a task cannot be written.
                paths.setdefault(task.label, output / "?")
                continue
            file = form.file.format(folder=task.predictions.folder, **names)
            path = paths[task.label] = below(output, file, task.label)
            if task.benchmark in judged:
                if path in files:
                    raise UserError(
                        f"{model} and {files[path][2]} have the same name, so both would be "
                        f"{path}; evaluate each in a directory of its own."
                    )
                files[path] = task, task.predictions, model
        written = files.keys() | curves.keys()
        lacking = [
            label for label, path in paths.items() if not (path in written or path.is_file())
        ]
        lacks.setdefault(", ".join(lacking), []).append(f"{name}, {revision}")
    for labels, checkpoints in lacks.items():
        if labels:
            yield (
                f"{'; '.join(checkpoints)}: no whole submission without {labels}, which are "
                f"neither in {run} nor in {output}."
            )
    for track, expected in form.checkpoints.items():
        absent = [revision for revision in expected if revision not in revisions]
        if absent:
            more = ", …" if absent[MOST_NAMED:] else ""
            yield (
                f"{track}: {len(absent)} of {len(expected)} checkpoints are not in {run} "
                f"({', '.join(absent[:MOST_NAMED])}{more})."
            )
    for path, (task, predictions, model) in files.items():
        if predictions.numbers:
            content = _surprisals(side, task, predictions, model)
            write_text(path, json.dumps(content))
            count = sum(len(group["predictions"]) for group in content.values())
            yield f"{path}: surprisals of {count:,} words"
            continue
        groups = _predictions(side, task, predictions, model)
        write_text(path, FILE.dump_json(dict(groups), exclude_none=True).decode())
        count = sum(len(group.predictions) for group in groups.values())
        yield f"{path}: {count:,} predictions in {counted(len(groups), 'group')}"
    for path, (task, of_models) in curves.items():
        content = _curves(side, task, of_models)
        write_text(path, json.dumps(content))
        count = len(content["results"])
        yield f"{path}: {count:,} surprisals of words at {counted(len(of_models), 'checkpoint')}"


@dataclass(frozen=True)
class PredictionsSide(BorrowedSide):
    """Predictions of one model, matched to the other side's items by their texts and order."""

    judged_by_table: Mapping[tuple[str, str], pd.DataFrame]
    """Decisions by benchmark and language: ``JUDGEMENT_COLUMNS``, without margins."""

    def judgements(self, benchmark: str, lang: str, model: str) -> pd.DataFrame:
        """Return the decisions on the items of a language; no rows without predictions."""
        none = pd.DataFrame(columns=JUDGEMENT_COLUMNS)
        return self.judged_by_table.get((benchmark, lang), none)

    def explanation(self, flipped: int, both: int) -> str:
        """Explain why decisions differ."""
        return f"{flipped:,} of {both:,} decisions turn; predictions do not say how they were made"


def _verdicts(
    groups: Groups, questions: Mapping[str, Sequence[Question]], origin: str
) -> list[list[object]]:
    """Return id, paradigm, phenomenon and ``correct`` of each item.

    Raises UserError for other numbers of items, and for predictions that are no text of their item.
    """
    verdicts: list[list[object]] = []
    unlike = []
    for name in dict.fromkeys((*questions, *groups)):
        predictions = groups[name].predictions if name in groups else ()
        items = questions.get(name, ())
        if len(predictions) != len(items):
            raise UserError(
                f"{origin}: group {name!r} has {len(predictions):,} predictions on {len(items):,} "
                "items; compare predictions on the data of the evaluation."
            )
        for prediction, question in zip(predictions, items, strict=True):
            text, texts = prediction.pred.strip(), [text.strip() for text in question.texts]
            if text not in texts:
                unlike.append(f"{prediction.id} {text!r:.60}")
            verdicts.append([*question.key, question.phenomenon, float(text == texts[0])])
    if unlike:
        raise UserError(
            f"{origin}: {len(unlike):,} of {len(verdicts):,} predictions are none of their items' "
            f"texts, the first {unlike[0]}; compare predictions on the data of the evaluation."
        )
    return verdicts


def read_submission(path: Path, reference: Side) -> PredictionsSide | None:
    """Read predictions of one model: a directory of files, or a file with all tasks.

    None if there are none. Raises UserError for files of several models or of another form, and if
    they do not match the items of ``reference``.
    """
    files = sorted(path.rglob("predictions.json"))
    # An evaluation may have a submission below it.
    if (path / CAMPAIGN_FILE).is_file() or (not files and not path.is_file()):
        return None
    sections: Mapping[str, Any] = {}
    if path.is_file():
        with reading(path, EXPECTED, REMEDY):
            sections = SECTIONS.validate_python(load_json(text_of(path)))
    judged: dict[tuple[str, str], pd.DataFrame] = {}
    for task in _suite_of(reference).tasks:
        form = task.predictions
        tables = [table for table in reference.judged_tables if table[0] == task.benchmark]
        if form is None or form.numbers or not tables:
            continue
        matching = [file for file in files if file.parent.match(form.folder)]
        if len(matching) > 1:
            raise UserError(
                f"{path} has several predictions on {task.label} "
                f"({', '.join(map(str, matching))}); name the directory of one model and revision."
            )
        if not matching and form.section not in sections:
            continue
        origin = matching[0] if matching else path
        with reading(origin, EXPECTED, REMEDY):
            content = load_json(text_of(origin)) if matching else sections[form.section]
            groups = FILE.validate_python(content)
        (_, lang, model), *_ = tables
        items = reference.results / "items" / task.benchmark / f"{lang}.parquet"
        frame = pd.DataFrame(
            _verdicts(groups, read_questions(items, form), f"{origin}, {task.label}"),
            columns=["item_id", "paradigm", "phenomenon", "correct"],
        )
        method = reference.judgements(task.benchmark, lang, model)["method"].iloc[0]
        frame = frame.assign(method=method, margin=math.nan)[JUDGEMENT_COLUMNS]
        judged[task.benchmark, lang] = frame
    if not judged:
        raise UserError(
            f"{path} has no predictions on a task of {reference.folder}; compare predictions on "
            "the tasks of the evaluation."
        )
    name = path.resolve().stem if path.is_file() else path.resolve().name
    return PredictionsSide(path, path, None, reference, name, judged)
