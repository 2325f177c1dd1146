"""Export a model's predictions to the files that a shared task asks for, and read such files.

``blimpworks export`` calls ``export_submission``, and ``compare`` calls ``read_submission``. A
suite (``suites.Suite``) has the benchmarks of the shared task as tasks, and describes the files:

- predictions: for each item, the text that the model prefers, grouped by paradigm:
  ``{"GROUP": {"predictions": [{"id": "GROUP_0", "pred": "A text."}, …]}, …}``
- surprisals: the same, with numbers in place of ``pred``
- curves: the surprisal of each word in each context, at each checkpoint of a training run

Items are in the order of the benchmark's source files.
"""

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pydantic import TypeAdapter

from blimpworks.campaign.addresses import is_local
from blimpworks.campaign.catalogue import ModelRow, select_rows
from blimpworks.campaign.methods import find_method
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError, reading
from blimpworks.evaluation.checkpoints import training_of
from blimpworks.evaluation.judged import JUDGEMENT_COLUMNS
from blimpworks.evaluation.request import MODELS_FILE
from blimpworks.evaluation.sides import BorrowedSide, Side, read_side
from blimpworks.evaluation.suite_numbers import items_with_effects
from blimpworks.evaluation.suites import Predictions, Submission, Suite, Task, read_suite
from blimpworks.exhibits.shared import counted
from blimpworks.files import below, load_json, text_of, write_text
from blimpworks.items import APART, SAMPLED, SIDES
from blimpworks.judging import judge
from blimpworks.strict import Strict
from blimpworks.tables import ITEMS, SCORES, read_table

MOST_NAMED = 6
"""Most missing checkpoints that a message names."""


class SubmittedPrediction(Strict):
    """A model's choice on an item."""

    id: str
    pred: str
    """The preferred text."""
    prob: float | None = None
    """Probability of the first text, in tasks that correlate it with people's choices."""


class Group(Strict):
    """The predictions on a group of items, in the order of the items."""

    predictions: tuple[SubmittedPrediction, ...]


Groups = Mapping[str, Group]
GROUPS: TypeAdapter[Groups] = TypeAdapter(dict[str, Group])
"""Reader and writer of files of predictions."""
EXPECTED = 'predictions, {"GROUP": {"predictions": [{"id": …, "pred": …}, …]}, …}'
REMEDY = "Name files that the suite's own programs, or `export`, have written."


@dataclass(frozen=True, slots=True)
class Question:
    """An item as a choice between texts: the two sentences of a pair, or the options of an item.

    In tables of items, options are rows, the right one first; the region "option" has its text.
    """

    key: tuple[str, str]
    """Id of the item, and paradigm."""
    phenomenon: str
    texts: Sequence[str]
    """Texts to choose from; the first is right."""
    options: Mapping[str, tuple[int, int]]
    """{id of an option's row: start and end of the option in its sentence}; empty for a pair."""


def read_questions(path: Path, form: Predictions) -> dict[str, list[Question]]:
    """Read a table of items; return {group of predictions: its questions, in source order}."""
    columns = ["item_id", "paradigm", "phenomenon", "file", "line", "item", *SIDES]
    columns += [f"{side}_{edge}" for side in SIDES for edge in ("start", "end")]
    columns += ["regions", "region_starts", "region_ends"]
    rows = read_table(ITEMS, path, columns).to_pylist()
    rows_by_item: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: (row["file"] or "", row.get("line") or 0)):
        key = (row.get("item") or row["item_id"], row["paradigm"])
        rows_by_item.setdefault(key, []).append(row)
    questions: dict[str, list[Question]] = {}
    for key, item_rows in rows_by_item.items():
        texts, options = list[str](), dict[str, tuple[int, int]]()
        for row in item_rows:
            # (column of the sentence, start and end of the critical region or option in it)
            if "item" not in row:  # a pair
                side_spans = [(side, row[f"{side}_start"], row[f"{side}_end"]) for side in SIDES]
            elif "option" in row["regions"]:
                region = row["regions"].index("option")
                start, end = row["region_starts"][region], row["region_ends"][region]
                options[row["item_id"]] = (start, end)
                side_spans = [("good", start, end)]
            else:
                raise UserError(
                    f"{path} has items without options, which have no predictions; leave the key "
                    "'predictions' of their task out of the suite."
                )
            for side, start, end in side_spans:
                option = row[side][start:end]
                texts.append(form.answer.format(sentence=row[side], option=option))
        question = Question(key, item_rows[0]["phenomenon"], texts, options)
        _, paradigm = key
        questions.setdefault(form.groups.get(paradigm, paradigm), []).append(question)
    return questions


TableKey = tuple[str, str, str]
"""Benchmark, language and model of a table."""


def _task_language(side: Side, task: Task, models: Collection[str]) -> str:
    """Return the language in which models are judged on a task. Raises UserError for several."""
    languages = dict.fromkeys(
        lang
        for benchmark, lang, model in side.judged_tables
        if benchmark == task.benchmark and model in models
    )
    if len(languages) > 1:
        raise UserError(
            f"{side.folder} has {task.label} in several languages ({', '.join(languages)}), and a "
            "file of predictions is of one; evaluate them one by one (--languages), or leave the "
            "key 'predictions' of the task out of the suite."
        )
    return next(iter(languages))


def _option_sums(side: Side, key: TableKey, questions: Sequence[Question]) -> dict[str, float]:
    """Return {id of an option's row: sum of log-probabilities of the option's tokens [nats]}."""
    span_by_row: dict[str, tuple[int, int]] = {}
    for question in questions:
        span_by_row.update(question.options)
    items = read_table(ITEMS, side.items(*key), ["item_id", "good"])
    ids = items["item_id"].to_pylist()
    starts, ends = zip(*(span_by_row[row_id] for row_id in ids), strict=True)
    path = side.table("scores", *key)
    columns = ["item_id", "rounding", "good_ids", "good_logprobs", "good_ends"]
    scores = judge.align_scores(items, read_table(SCORES, path, columns), path)
    # The judging method for critical regions computes the sums, with options as regions.
    options = pa.table({"good": items["good"], "good_start": starts, "good_end": ends})
    sums = judge.totals(find_method("critical_region"), judge.side_of(options, scores, "good"))
    return dict(zip(ids, sums.tolist(), strict=True))


def _predictions(side: Side, task: Task, form: Predictions, model: str) -> Groups:
    """Return a model's predictions on a task, by group. Raises UserError if some are missing."""
    key = (task.benchmark, _task_language(side, task, [model]), model)
    path = _all_items(side, task, key)
    judged = side.judgements(*key)
    main_method = judged["method"].iloc[0]
    judged = judged[judged["method"] == main_method]
    skipped = int(judged["margin"].isna().sum())
    if skipped:
        raise UserError(
            f"{skipped} of {len(judged)} items of {task.label} have no verdict by {model}, and a "
            f"submission has a prediction on each; the report card of {side.folder} says why."
        )
    item_keys = zip(judged["item_id"], judged["paradigm"], strict=True)
    margins = dict(zip(item_keys, judged["margin"], strict=True))
    questions = read_questions(path, form)
    with_options = [q for group in questions.values() for q in group if q.options]
    sum_by_row = _option_sums(side, key, with_options) if with_options else {}
    groups: dict[str, Group] = {}
    for name, group in questions.items():
        predictions = []
        for number, question in enumerate(group):
            # The first text is right, and is also chosen if texts are equally probable (margin 0).
            # With a negative margin, the model chooses the most probable wrong text.
            margin = margins[question.key]
            right_text, *wrong_texts = question.texts
            prediction = right_text if margin >= 0 else wrong_texts[0]
            if margin < 0 and question.options:
                _, *wrong_sums = (sum_by_row[row_id] for row_id in question.options)
                prediction = wrong_texts[wrong_sums.index(max(wrong_sums))]
            # The logistic function of the margin, in a form that cannot overflow.
            odds = math.exp(-abs(margin))
            probability = (1.0 if margin >= 0 else odds) / (1 + odds)
            predictions.append(
                SubmittedPrediction(
                    id=f"{name}_{number}",
                    pred=prediction,
                    prob=probability if task.measure == "correlation" else None,
                )
            )
        groups[name] = Group(predictions=tuple(predictions))
    return groups


def _all_items(side: Side, task: Task, key: TableKey) -> Path:
    """Return the path of a task's items. Raises UserError if only a sample of them was run."""
    path = side.items(*key)
    if SAMPLED in path.relative_to(side.results).parts:
        raise UserError(
            f"{side.folder} has a sample of {task.label}, and a submission has all items; "
            "evaluate without --limit."
        )
    return path


def _items_with_effects(side: Side, task: Task, model: str, needed: str) -> pd.DataFrame:
    """Return a task's items in source order, with columns for a model's effects [nats].

    An effect is a sum of surprisals that the benchmark declares. Raises UserError if only a sample
    of the items was run, or if an item lacks the ``needed`` effect.
    """
    key = (task.benchmark, _task_language(side, task, [model]), model)
    method = str(side.judgements(*key)["method"].iloc[0])
    path = side.table("judgements", *key)
    items = items_with_effects(_all_items(side, task, key), path, method)
    without_effect = int(items[needed].isna().sum())
    if without_effect:
        raise UserError(
            f"{without_effect} of {len(items)} items of {task.label} have no {needed} by {model}, "
            f"and a submission has one of each; the report card of {side.folder} says why."
        )
    return items.sort_values(["file", "line"], kind="stable")


def _surprisals(side: Side, task: Task, form: Predictions, model: str) -> dict[str, Any]:
    """Return the content of a file of surprisals: {group: {"predictions": [{"id": 0, …}, …]}}."""
    items = _items_with_effects(side, task, model, next(iter(form.numbers.values())))
    content: dict[str, Any] = {}
    for paradigm, rows in items.groupby("paradigm", sort=False, observed=True):
        predictions = []
        for number, row in enumerate(rows.to_dict("records")):
            surprisals = {key: row[effect] for key, effect in form.numbers.items()}
            predictions.append({"id": number, **surprisals})
        group = form.groups.get(str(paradigm), str(paradigm))
        content[group] = {"predictions": predictions}
    return content


def _curves(side: Side, task: Task, checkpoint_by_model: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of a file of curves; the least trained checkpoint comes first."""
    assert task.acquisition is not None
    word_column, surprisal_column = task.acquisition.word, task.acquisition.surprisal
    results = []
    training = {model: training_of(name) or 0.0 for model, name in checkpoint_by_model.items()}
    for model in sorted(checkpoint_by_model, key=training.__getitem__):
        items = _items_with_effects(side, task, model, surprisal_column)
        items = items[items[word_column].astype(str).str.len() >= task.acquisition.shortest]
        context_ids = items.groupby(word_column, sort=False).cumcount()
        for context_id, row in zip(context_ids, items.to_dict("records"), strict=True):
            results.append(
                {
                    "step": checkpoint_by_model[model],
                    "word_count": int(training[model]),
                    "target_word": row[word_column],
                    "context_id": context_id,
                    "context": row["good"].partition(APART)[0],  # APART ends the context
                    "surprisal": row[surprisal_column],
                }
            )
    counts = dict.fromkeys(("total_steps", "completed_steps"), len(checkpoint_by_model))
    return {"metadata": {"use_bos_only": False, **counts}, "results": results}


def _suite_of(side: Side) -> Suite:
    name = side.campaign.report_card.suite if side.campaign else None
    if name is None:
        raise UserError(
            f"{side.folder} is no evaluation of a suite; evaluate with --suite NAME, such as "
            "--suite babylm-strict."
        )
    return read_suite(name)


def _name_and_revision(row: ModelRow, *, is_checkpoint: bool) -> tuple[str, str]:
    """Return (model, revision) for a submission's paths; local checkpoints are MODEL/REVISION."""
    if not is_local(row.hf_id):
        # The row has the commit, and its label the revision that the user named: "gpt2@step10".
        return Path(row.hf_id or row.name).stem, row.label.partition("@")[2] or "main"
    folder = Path(row.hf_id).expanduser().resolve()
    return (folder.parent.stem, folder.name) if is_checkpoint else (folder.stem, "main")


def _backend(run: Path, row: ModelRow, campaign: Campaign, suite: Suite) -> str:
    """Return the name in a submission's paths for the way in which a model was scored.

    Raises UserError for models that were scored in a way that cannot be submitted.
    """
    assert suite.submission is not None
    scoring, backends = campaign.scoring, suite.submission.backends
    # The way of scoring, as the suite writes it: "causal", or "masked original".
    scoring_way = row.architecture
    if row.architecture == "masked":
        scoring_way += f" {scoring.masked.pll}"
    elif row.architecture == "encoder-decoder":
        scoring_way += f" {scoring.seq2seq.form}"
    if scoring_way not in backends:
        raise UserError(
            f"{row.name} is scored as {scoring_way!r}; expected {', '.join(backends)}, which alone "
            "can be submitted. Evaluate it with another --scoring."
        )
    if row.architecture == "causal" and suite.first_token not in (None, scoring.first_token):
        raise UserError(
            f"{run} is evaluated with first_token {scoring.first_token!r}, and a submission has "
            f"{suite.first_token!r}; evaluate without --first-token."
        )
    return backends[scoring_way]


def _path_of_task(task: Task, form: Submission, names: dict[str, str], output: Path) -> Path | None:
    """Return the path of a task's predictions or curves; None if the task cannot be exported."""
    if task.acquisition and form.curves:
        return below(output, form.curves.format(**names), task.label)
    if task.predictions is None:
        return None
    file = form.file.format(folder=task.predictions.folder, **names)
    return below(output, file, task.label)


def export_submission(run: Path, output: Path) -> Iterator[str]:
    """Write the submission of the evaluation in ``run`` below ``output``; yield lines to print.

    The first lines name what is missing for a complete submission, the others each file and its
    number of predictions. Raises UserError if the evaluation is not of a suite with a submission.
    It also does so if a model was scored in another way, or if items were not run or lack verdicts.
    """
    side = read_side(run)
    suite = _suite_of(side)
    submission = suite.submission
    if submission is None:
        raise UserError(f"the suite {suite.label} has no submission; name another evaluation.")
    assert side.campaign is not None  # which names the suite
    models_file = side.folder / MODELS_FILE
    rows = {row.name: row for row in read_rows(ModelRow, models_file)}
    rows = select_rows(side.models, rows, "model", models_file)
    # Keep one task for each benchmark, if possible one with predictions, which are sorted first.
    task_by_benchmark: dict[str, Task] = {}
    for task in sorted(suite.tasks, key=lambda task: task.predictions is None):
        task_by_benchmark.setdefault(task.benchmark, task)
    # By path: (task, form of the file, model), and (task of curves, {model: revision}).
    files: dict[Path, tuple[Task, Predictions, str]] = {}
    curves: dict[Path, tuple[Task, dict[str, str]]] = {}
    models_by_missing_files: dict[str, list[str]] = {}
    revisions = set()
    for model in side.models:
        row = rows[model]
        name, revision = _name_and_revision(row, is_checkpoint=side.campaign.report_card.curves)
        revisions.add(revision)
        backend = _backend(run, row, side.campaign, suite)
        names = {"model": name, "revision": revision, "backend": backend}
        # Files of a complete submission, by label; files of other programs may exist already.
        paths: dict[str, Path | None] = {}
        for label, path_template in submission.more.items():
            paths[label] = below(output, path_template.format(**names), label)
        judged = {benchmark for benchmark, _ in side.judged(model)}
        for task in task_by_benchmark.values():
            path = _path_of_task(task, submission, names, output)
            if path is None:
                paths.setdefault(task.label, None)
                continue
            paths[task.label] = path
            if task.benchmark not in judged:
                continue
            if task.acquisition and submission.curves:
                _, revision_by_model = curves.setdefault(path, (task, {}))
                revision_by_model[model] = revision
            elif path in files:
                raise UserError(
                    f"{model} and {files[path][2]} have the same name, so both would be {path}; "
                    "evaluate each in a directory of its own."
                )
            elif task.predictions is not None:
                files[path] = (task, task.predictions, model)
        planned = files.keys() | curves.keys()
        missing = [
            label
            for label, path in paths.items()
            if path is None or (path not in planned and not path.is_file())
        ]
        models_by_missing_files.setdefault(", ".join(missing), []).append(f"{name}, {revision}")
    for labels, models in models_by_missing_files.items():
        if labels:  # empty if no file is missing
            yield (
                f"{'; '.join(models)}: no whole submission without {labels}, which are "
                f"neither in {run} nor in {output}."
            )
    for track, expected in submission.checkpoints.items():
        absent = [revision for revision in expected if revision not in revisions]
        if absent:
            more = ", …" if len(absent) > MOST_NAMED else ""
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
        write_text(path, GROUPS.dump_json(dict(groups), exclude_none=True).decode())
        count = sum(len(group.predictions) for group in groups.values())
        yield f"{path}: {count:,} predictions in {counted(len(groups), 'group')}"
    for path, (task, checkpoints) in curves.items():
        content = _curves(side, task, checkpoints)
        write_text(path, json.dumps(content))
        count = len(content["results"])
        yield f"{path}: {count:,} surprisals of words at {counted(len(checkpoints), 'checkpoint')}"


def _verdicts(
    groups: Groups, questions: Mapping[str, Sequence[Question]], origin: str
) -> list[list[object]]:
    """Return rows [item id, paradigm, phenomenon, correct (1.0 or 0.0)], one for each item.

    ``origin`` names the file in messages. Raises UserError if a group has another number of
    predictions than items, or if a prediction is none of the texts of its item.
    """
    verdicts: list[list[object]] = []
    unknown_texts = []
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
                unknown_texts.append(f"{prediction.id} {text!r:.60}")
            verdicts.append([*question.key, question.phenomenon, float(text == texts[0])])
    if unknown_texts:
        raise UserError(
            f"{origin}: {len(unknown_texts):,} of {len(verdicts):,} predictions are none of their "
            f"items' texts, the first {unknown_texts[0]}; compare predictions on the data of the "
            "evaluation."
        )
    return verdicts


def read_submission(path: Path, reference: Side) -> BorrowedSide | None:
    """Read one model's predictions, to compare them with the evaluation ``reference``.

    ``path`` is a directory with a file for each task, or a single file with a section for each
    task. Return None for a directory without predictions. Raises UserError for files of several
    models or of another form, tasks in several languages, and predictions on other items.
    """
    files = sorted(path.rglob("predictions.json"))
    if not files and not path.is_file():
        return None
    sections: Mapping[str, Any] = {}
    if path.is_file():
        with reading(path, EXPECTED, REMEDY):
            sections = TypeAdapter(dict[str, Any]).validate_python(load_json(text_of(path)))
    judged: dict[tuple[str, str], pd.DataFrame] = {}
    for task in _suite_of(reference).tasks:
        form = task.predictions
        models = [model for name, _, model in reference.judged_tables if name == task.benchmark]
        if form is None or form.numbers or not models:
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
            groups = GROUPS.validate_python(content)
        lang = _task_language(reference, task, models)
        items = reference.results / "items" / task.benchmark / f"{lang}.parquet"
        frame = pd.DataFrame(
            _verdicts(groups, read_questions(items, form), f"{origin}, {task.label}"),
            columns=["item_id", "paradigm", "phenomenon", "correct"],
        )
        method = reference.judgements(task.benchmark, lang, models[0])["method"].iloc[0]
        frame = frame.assign(method=method, margin=math.nan)[JUDGEMENT_COLUMNS]
        judged[task.benchmark, lang] = frame
    if not judged:
        raise UserError(
            f"{path} has no predictions on a task of {reference.folder}; add a file for a task."
        )
    name = path.resolve().stem if path.is_file() else path.resolve().name
    reason = ("", "; predictions do not say why")
    return BorrowedSide(path, path, None, reference, name, judged, reason)
