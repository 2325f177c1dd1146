"""Compare the verdicts of two sets of rules on models' answers, and both with people's labels.

Each answer is judged by the authors' rules (method ``published``), and by rules that judge what the
task asks (method ``corrected``). ``compare_verdicts`` counts how often and why verdicts differ.
``write_annotation_sheet`` draws answers for people to label as right or wrong, in a CSV file;
``measure_agreement`` compares the filled sheets with the verdicts.

Labels are in the column ``correct`` of a sheet that is named after its annotator
(``eng.anna.csv``), or for several annotators in columns such as ``correct:anna``.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3 and appendix A.6: 1,000 random
predictions of each task, over random models; share of equal labels, and Cohen's kappa.
"""

import json
import logging
import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.analysis.accuracy import wilson
from blimpworks.annotation import spreadsheet
from blimpworks.campaign.variants import CORRECTED, PUBLISHED, VARIANTS
from blimpworks.errors import UserError
from blimpworks.files import read_cells
from blimpworks.generation.reasoning import strip_reasoning
from blimpworks.items import ALL
from blimpworks.papers.lmentry.items.packs import Pack, read_pack
from blimpworks.papers.lmentry.judging.judge import METHODS
from blimpworks.papers.lmentry.settings import SheetOptions
from blimpworks.papers.lmentry.tables import ANNOTATION_AGREEMENT, SHEET_KEY, VERDICTS
from blimpworks.papers.lmentry.tasks import ALL_WORDS, ANY_WORDS, SUBJECTS, is_yes, task_of
from blimpworks.scoring.shards import OK
from blimpworks.tables import ANSWERS, JUDGEMENTS, PROMPTS, Evaluation, read_table, write_frame

CAUSES = {row["cause"]: row["text"] for row in read_cells(Path(__file__).with_name("causes.tsv"))}
"""Reasons for which the two verdicts on an answer differ; the first that fits is taken."""
VACUOUS, SCRIPT, CASE, YES_NO, WORDING, OTHER = CAUSES
FORM_COUNTS = {"cut": "cut", "echo": "echoes"}
"""Columns of judgements with truth values, and the columns of their counts. cut: the limit of
tokens ended the answer; echo: the answer only repeats its prompt."""
WORDING_RULES = {"whole", "repeated", "pattern", "begins", "line", "inside", "made"}
"""Rules that accept an answer because of its wording (column ``rule`` of judgements)."""
ASCII_TOKEN = r"[A-Za-z0-9]"
log = logging.getLogger(__name__)


def _read_verdicts(path: Path) -> pd.DataFrame:
    """Read judgements as one row for each answer with both verdicts, NaN if it was not judged.

    The columns correct and rule are there twice, with the suffixes ``_published`` and
    ``_corrected``. Raises UserError if a method is missing.
    """
    columns = ["item_id", "phenomenon", "paradigm", "method", "correct", "rule", "nominal"]
    table = read_table(JUDGEMENTS, path)
    # Judgements of earlier versions lack the columns of ``FORM_COUNTS``.
    nulls = pa.nulls(len(table), pa.bool_())
    flags = {name: table[name] if name in table.column_names else nulls for name in FORM_COUNTS}
    table = pa.table({name: table[name] for name in columns} | flags)
    rows_by_method = {
        method: table.filter(pc.equal(table["method"].cast(pa.string()), method)).to_pandas()
        for method in (PUBLISHED, CORRECTED)
    }
    for method, rows in rows_by_method.items():
        if rows.empty:
            raise UserError(
                f"{path} has no verdicts by method {method!r}; expected both {PUBLISHED} and "
                f"{CORRECTED}. Judge again."
            )
    corrected = rows_by_method[CORRECTED][["item_id", "correct", "rule"]]
    suffixes = ("_published", "_corrected")
    joined: pd.DataFrame = rows_by_method[PUBLISHED].merge(
        corrected, on="item_id", suffixes=suffixes
    )
    text_columns = ("phenomenon", "paradigm", "rule_published", "rule_corrected")
    return joined.astype(dict.fromkeys(text_columns, object))


def find_reasons(changed: pd.DataFrame) -> pd.Series:
    """Return why the two verdicts on each answer differ: the first key of ``CAUSES`` that fits.

    ``changed`` has a row for each answer with different verdicts. Columns: phenomenon (the task),
    correct_published, correct_corrected, rule_published, rule_corrected; text: the answer after the
    reasoning that the published rules remove; subject: the word that the prompt is about (see
    ``SUBJECTS``).
    """
    # True if the answer is right by the corrected rules only, False if by the published ones only.
    gained = changed["correct_corrected"] > changed["correct_published"]
    has_ascii = changed["text"].str.contains(ASCII_TOKEN, regex=True)
    pairs = zip(changed["subject"], changed["text"].str.lower(), strict=True)
    only_lower = [subject not in text and subject.lower() in text for subject, text in pairs]
    # The rule by which the one method accepts the answer that the other rejects.
    accepting_rule = changed["rule_corrected"].where(gained, changed["rule_published"])
    fits = {
        VACUOUS: ~gained & ~has_ascii & (changed["rule_published"] == "vacuous"),
        SCRIPT: gained & ~has_ascii,
        CASE: gained & pd.Series(only_lower, changed.index, bool),
        YES_NO: changed["phenomenon"].str.startswith(("any_words", "all_words")),
        WORDING: accepting_rule.isin(WORDING_RULES),
    }
    return pd.Series(np.select([*fits.values()], [*fits], OTHER), changed.index, dtype=object)


def compare_evaluation(evaluation: Evaluation) -> pd.DataFrame:
    """Return the rows of ``VERDICTS`` for one model and language.

    Each task has a row with its counts over all answers (reason ``all``). For each reason in
    ``CAUSES`` it has a row with counts over the answers whose verdicts differ for that reason.
    Raises UserError for judgements that lack a method.
    """
    verdicts = _read_verdicts(evaluation.judgements)
    judged = verdicts.dropna(subset=["correct_published", "correct_corrected"])
    # Join the prompts and answers to the changed verdicts, which are few, and find their reasons.
    changed = judged[judged["correct_published"] != judged["correct_corrected"]]
    joined = changed
    for schema, path, columns in (
        (PROMPTS, evaluation.items, ["item_id", "answer", "arguments"]),
        (ANSWERS, evaluation.outputs, ["item_id", "text"]),
    ):
        table = read_table(schema, path, columns)
        selected = pc.is_in(table["item_id"], value_set=pa.array(changed["item_id"], pa.string()))
        joined = joined.merge(table.filter(selected).to_pandas(), on="item_id", how="left")
    texts = [strip_reasoning(text, METHODS[PUBLISHED]) for text in joined["text"].fillna("")]
    subjects = []
    for _, row in joined[["answer", "arguments"]].replace(np.nan, None).iterrows():
        values = {"answer": row["answer"]} | json.loads(row["arguments"] or "{}")
        subjects.append(next((str(values[name]) for name in SUBJECTS if values.get(name)), ""))
    reasons = find_reasons(joined.assign(text=texts, subject=subjects))
    changed = changed.assign(reason=reasons.to_numpy())
    # Counts of each task: prompts by the settings, and answers with both verdicts. A task's nominal
    # number of prompts is the sum over its templates, judged or not.
    template = verdicts["paradigm"].str.extract(r"template=(\d+)", expand=False)
    nominal = verdicts.groupby(["phenomenon", template])["nominal"].first().groupby(level=0).sum()
    totals = judged.groupby("phenomenon").agg(n=("item_id", "size")).assign(nominal=nominal)
    for column, count in FORM_COUNTS.items():
        values = judged[column].astype("Int32").groupby(judged["phenomenon"])
        is_complete = values.count() == values.size()
        totals[count] = values.sum().where(is_complete)  # null if an answer's value is unknown
    # Every task gets a row for every reason, so that exhibits can take means over tasks.
    by_reason = {name: changed[changed["reason"] == name] for name in CAUSES}
    rows = []
    for reason, answers in {ALL: judged, **by_reason}.items():
        by_task = answers.groupby("phenomenon")
        right = {method: by_task[f"correct_{method}"].sum() for method in (PUBLISHED, CORRECTED)}
        counts = totals.join(pd.DataFrame(right)).fillna(dict.fromkeys(right, 0))
        rows.append(counts.assign(reason=reason))
    return pd.concat(rows).reset_index().assign(model=evaluation.model, lang=evaluation.lang)


def compare_verdicts(results: Sequence[Evaluation], output: Path) -> dict[str, Any]:
    """Write the table ``VERDICTS``; return the numbers of answers and of changed verdicts."""
    if not results:
        raise UserError(f"{output}: no judgements are given; name at least one model.")
    frame = pd.concat([compare_evaluation(evaluation) for evaluation in results], ignore_index=True)
    numbers = dict.fromkeys(("n", "nominal", "published", "corrected"), "int32")
    write_frame(frame.astype(numbers), VERDICTS, output)
    is_total = frame["reason"] == ALL
    changed = frame.loc[~is_total, [PUBLISHED, CORRECTED]].sum().sum()
    return {"answers": int(frame.loc[is_total, "n"].sum()), "changed": int(changed)}


TASK, CORRECT = "task", "correct"
HEADER = (spreadsheet.ID, "lang", TASK, "prompt", "gold", "answer", CORRECT, "note")


def _gold_and_note(row: Mapping[Any, Any], pack: Pack | None) -> tuple[str, str]:
    """Return a prompt's gold answer, and a note for annotators or an empty text.

    ``row``: a drawn answer with its prompt. If many answers are right, the subject of the prompt
    (``word: cat``) takes the place of the gold answer. Some templates in a released ``pack`` ask
    the question of another task, which the note names. The gold answer is then that question's, or
    empty if the arguments do not give it.
    """
    gold, arguments = row["gold"], json.loads(row["arguments"] or "{}")
    if pack and pack.answers:
        template = f"{task_of(row['phenomenon'])}.{row['template']}"
        if task := pack.answers.asks.get(template):
            gold = ""
            if task in (ANY_WORDS, ALL_WORDS) and pack.yes_no and "num_distractors" in arguments:
                yes, no = pack.yes_no
                gold = yes if is_yes(task, arguments) else no
            return gold, f"the prompt asks for {task}"
    if pd.isna(gold):
        subjects = (f"{name}: {arguments[name]}" for name in SUBJECTS if arguments.get(name))
        return next(subjects, ""), ""
    return str(gold), ""


def write_annotation_sheet(
    lang: str,
    prompts: Path,
    answers: Mapping[str, Path],
    sheet: Path,
    key: Path,
    options: SheetOptions,
    pack: Path | None = None,
) -> int:
    """Write a sheet of answers in one language for people to label; return the number of its rows.

    The sheet has ``options.per_task`` answers of each task, from all models, or all if there are
    fewer. It hides the models, which are in the table ``key``. ``answers``: the table of each
    model. ``pack``: language pack, for published prompts. Raises UserError without any answer.
    """
    columns = ["item_id", "phenomenon", "template", "prompt", "answer", "arguments"]
    questions: pd.DataFrame = read_table(PROMPTS, prompts, columns).to_pandas()
    questions = questions.astype({"phenomenon": str}).rename(columns={"answer": "gold"})
    # Draw the answers of each task with the lowest ranks. A rank depends on seed, model and prompt
    # only, so a larger sheet contains a smaller one. One model's answers are in memory at a time.
    drawn = pd.DataFrame()
    for model, path in answers.items():
        table = read_table(ANSWERS, path, ["item_id", "status", "text", "opened"]).to_pandas()
        answered = questions.merge(
            table[table["status"] == OK].drop(columns="status"), on="item_id"
        )
        ranks = [spreadsheet.digest(options.seed, lang, model, i) for i in answered["item_id"]]
        drawn = pd.concat([drawn, answered.assign(model=model, lang=lang, rank=ranks)])
        by_task = drawn.sort_values(["phenomenon", "rank"]).groupby("phenomenon", sort=False)
        drawn = by_task.head(options.per_task)
    if drawn.empty:
        raise UserError(
            f"{lang}: no prompt of {prompts} is answered by any of {len(answers)} models; "
            "expected at least one. Let the models answer first."
        )
    texts = [
        strip_reasoning(text or "", opened=bool(opened)).strip()
        for text, opened in zip(drawn["text"], drawn["opened"], strict=True)
    ]
    identities = zip(drawn["lang"], drawn["model"], drawn["item_id"], texts, strict=True)
    sampled = drawn.assign(answer=texts, row=[spreadsheet.row_id(*values) for values in identities])
    write_frame(sampled, SHEET_KEY, key)
    language = read_pack(pack) if pack else None
    pairs = [_gold_and_note(row, language) for row in drawn.to_dict("records")]
    golds, notes = zip(*pairs, strict=True)
    rows = sampled.rename(columns={"row": spreadsheet.ID, "phenomenon": TASK})
    rows = rows.assign(gold=golds, note=notes, **{CORRECT: ""})
    spreadsheet.write_sheet(sheet, HEADER, rows[[*HEADER]].astype(str).to_dict("records"))
    return len(rows)


LABEL_PREFIX = f"{CORRECT}:"


def _annotator_columns(path: Path, columns: Sequence[str]) -> dict[str, str]:
    """Return the annotator of each column of labels. UserError for no column or a bad name."""
    prefixed = [name for name in columns if name.startswith(LABEL_PREFIX)]
    annotators = {name: name.removeprefix(LABEL_PREFIX).strip() for name in prefixed}
    if CORRECT in columns:
        annotators[CORRECT] = spreadsheet.annotator_of(path)
    if not annotators:
        raise spreadsheet.columns_error(
            path, columns, f"{spreadsheet.ID!r} and {CORRECT!r} (or {LABEL_PREFIX}NAME)"
        )
    invalid = [name for name in annotators.values() if name in VARIANTS or not name]
    if invalid:
        raise UserError(
            f"{path}: an annotator is called {invalid[0]!r}; expected a name that is none of "
            f"{', '.join(VARIANTS)}. Name the file LANG.ANNOTATOR.csv."
        )
    return annotators


def read_labels(paths: Sequence[Path], key: pd.DataFrame) -> pd.DataFrame:
    """Read the labels of filled sheets: columns row, annotator, correct (0 or 1) and place.

    ``key``: the keys of the sheets, from ``read_key``. Raises UserError as ``Form.labels`` does.
    """
    texts = {row: {"prompt": text} for row, text in zip(key["row"], key["prompt"], strict=True)}
    labels = spreadsheet.Form(texts, lambda _: spreadsheet.YES_NO, _annotator_columns).labels(paths)
    frame = pd.DataFrame(labels, columns=["row", "annotator", "correct", "place"])
    return frame.astype({"correct": int})


def compare(first: pd.Series, second: pd.Series) -> dict[str, Any]:
    """Compute the agreement of two judges' labels (0 or 1): shares, Cohen's kappa and counts.

    A judge is a method or an annotator; right_method counts the answers that the first calls right,
    right_annotator those of the second. Kappa and the ends of its 95 % interval are NaN if a
    judge gives all answers the same label: kappa is then 0 or undefined. The interval is asymptotic
    (Fleiss, Cohen and Everitt 1969); its width is 0 if the judges never differ.
    """
    equal, n = int((first == second).sum()), len(first)
    low, high = wilson(equal, n)
    agreement = {"n": n, "equal": equal, "accuracy": equal / n, "low": low, "high": high}
    agreement |= dict.fromkeys(("kappa", "kappa_low", "kappa_high"), math.nan)
    if first.nunique() == second.nunique() == 2:
        from statsmodels.stats.inter_rater import cohens_kappa  # slow, and exhibits read no sheets

        counts = np.zeros((2, 2))
        np.add.at(counts, (first.to_numpy(int), second.to_numpy(int)), 1)
        result = cohens_kappa(counts)
        agreement["kappa"] = float(result.kappa)
        agreement |= {"kappa_low": float(result.kappa_low), "kappa_high": float(result.kappa_upp)}
    return agreement | {"right_method": int(first.sum()), "right_annotator": int(second.sum())}


def read_key(paths: Sequence[Path]) -> pd.DataFrame:
    """Read the keys of sheets, without the answers: each row once, also if several sheets have it.

    Texts are of dtype object, as are labels.
    """
    columns = ["row", "lang", "model", "item_id", "phenomenon", "prompt"]
    frames = [read_table(SHEET_KEY, path, columns).to_pandas() for path in paths]
    joined: pd.DataFrame = pd.concat(frames).drop_duplicates("row")
    return joined.astype(dict.fromkeys(("lang", "model", "phenomenon"), object))


def measure_agreement(
    sheets: Sequence[Path], keys: Sequence[Path], judgements: Path, output: Path
) -> Mapping[str, int]:
    """Write the agreement of verdicts with filled sheets, and of annotators with each other.

    ``keys`` belong to the exported sheets; ``judgements`` is the directory of MODEL/LANG.parquet.
    Returns the number of each annotator's labels (``anna``), and of unlabelled rows in the sheets
    that the annotator has begun (``anna lacks``). Raises UserError as ``read_labels`` does.
    """
    key = read_key(keys)
    labels = read_labels(sheets, key)
    # Make a table of labelled answers, with a column for each annotator and for each method.
    wide = labels.pivot_table(index="row", columns="annotator", values="correct")
    frames = []
    for (lang, model), rows in key[key["row"].isin(wide.index)].groupby(["lang", "model"]):
        path = judgements / str(model) / f"{lang}.parquet"
        table = read_table(JUDGEMENTS, path, ["item_id", "method", "correct"])
        selected = pc.is_in(table["item_id"], value_set=pa.array(rows["item_id"], pa.string()))
        verdicts = table.filter(selected).to_pandas().astype({"method": str})
        by_method = verdicts.pivot_table(index="item_id", columns="method", values="correct")
        frames.append(rows.merge(by_method.reindex(columns=[*VARIANTS]), on="item_id", how="left"))
    judged = pd.concat(frames).merge(wide, left_on="row", right_index=True)
    unjudged = int(judged[[*VARIANTS]].isna().any(axis=1).sum())
    if unjudged:
        log.warning("%d labelled answers have no verdict of both methods", unjudged)
    annotators = sorted(labels["annotator"].unique())
    pairs = [(method, name) for name in annotators for method in VARIANTS]
    agreements = []
    by_task = pd.concat([judged, judged.assign(phenomenon=ALL)]).groupby(["lang", "phenomenon"])
    for (lang, task), answers in by_task:
        for first, second in (*pairs, *combinations(annotators, 2)):
            labelled = answers[[first, second]].dropna()
            if len(labelled):
                names = {"lang": lang, "phenomenon": task, "method": first, "annotator": second}
                agreements.append(names | compare(labelled[first], labelled[second]))
    frame = pd.DataFrame(agreements, columns=ANNOTATION_AGREEMENT.names)
    write_frame(frame, ANNOTATION_AGREEMENT, output)

    lang_of_row = dict(zip(key["row"], key["lang"], strict=True))
    labelled_rows = [*zip(labels["row"], labels["annotator"], strict=True)]
    missing = spreadsheet.count_missing(labelled_rows, lang_of_row)
    for name in annotators:
        if missing[name]:
            log.warning("%s lacks %d rows of the sheets", name, missing[name])
    counts = {name: int((labels["annotator"] == name).sum()) for name in annotators}
    return counts | {f"{name} lacks": missing[name] for name in annotators if missing[name]}
