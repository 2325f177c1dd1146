"""Compare verdicts with people's judgements: write sheets, read filled ones, measure agreement.

A sheet is a random part of a campaign's answers. A filled one has the labels of one annotator in
the column ``correct`` (the file's name says whose: ``eng.anna.csv``), or those of several, people
or models, in columns such as ``correct:anna``.

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
from statsmodels.stats.inter_rater import cohens_kappa

from blimpworks.analysis.accuracy import ALL, wilson
from blimpworks.annotation import spreadsheet
from blimpworks.campaign.variants import VARIANTS
from blimpworks.errors import UserError
from blimpworks.generation.reasoning import strip_reasoning
from blimpworks.papers.lmentry.items.packs import Pack, read_pack
from blimpworks.papers.lmentry.settings import SheetOptions
from blimpworks.papers.lmentry.tables import ANNOTATION_AGREEMENT, SHEET_KEY
from blimpworks.papers.lmentry.tasks import ALL_WORDS, ANY_WORDS, SUBJECTS, is_yes, task_of
from blimpworks.scoring.shards import OK
from blimpworks.tables import ANSWERS, JUDGEMENTS, PROMPTS, read_table, write_frame

log = logging.getLogger(__name__)

TASK, CORRECT = "task", "correct"
COLUMNS = (spreadsheet.ID, "lang", TASK, "prompt", "gold", "answer", CORRECT, "note")


def _gold(row: Mapping[Any, Any], pack: Pack | None) -> tuple[str, str]:
    """Return the gold answer, or the subject of a prompt with many (``word: cat``), and a note.

    Some templates of the released ``pack`` ask another task's question, as the note says. The gold
    answer is to that question.
    """
    gold, arguments = row["gold"], json.loads(row["arguments"] or "{}")
    asks = pack.answers.asks if pack and pack.answers else {}
    if pack and (asked := asks.get(f"{task_of(row['phenomenon'])}.{row['template']}")):
        known = asked in (ANY_WORDS, ALL_WORDS) and "num_distractors" in arguments
        right = pack.yes_no[not is_yes(asked, arguments)] if pack.yes_no and known else ""
        return right, f"the prompt asks for {asked}"
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
    """Write the sheet of a language, and its key (each row's model and prompt); count its rows.

    It has the same number of answers of each task, over all models; all of a smaller task.
    ``answers``: tables by model. The sheet shows neither models nor verdicts. ``pack``: that of
    published prompts, some of whose templates ask for another task; gold answers are to that.
    Raises UserError if nothing is answered.
    """
    columns = ["item_id", "phenomenon", "template", "prompt", "answer", "arguments"]
    asked: pd.DataFrame = read_table(PROMPTS, prompts, columns).to_pandas()
    asked = asked.astype({"phenomenon": str}).rename(columns={"answer": "gold"})
    drawn = pd.DataFrame()
    # Rank depends on seed, model and prompt alone, so a larger sheet contains a smaller one. One
    # model's answers are in memory at a time.
    for model, path in answers.items():
        table = read_table(ANSWERS, path, ["item_id", "status", "text", "opened"]).to_pandas()
        answered = asked.merge(table[table["status"] == OK].drop(columns="status"), on="item_id")
        keys = [spreadsheet.digest(options.seed, lang, model, i) for i in answered["item_id"]]
        drawn = pd.concat([drawn, answered.assign(model=model, lang=lang, rank=keys)])
        tasks = drawn.sort_values(["phenomenon", "rank"]).groupby("phenomenon", sort=False)
        drawn = tasks.head(options.per_task)
    if drawn.empty:
        raise UserError(
            f"{lang}: no prompt of {prompts} is answered by any of {len(answers)} models; "
            "expected at least one. Let the models answer first."
        )
    texts = [
        strip_reasoning(text or "", opened=bool(opened)).strip()
        for text, opened in zip(drawn["text"], drawn["opened"], strict=True)
    ]
    facts = zip(drawn["lang"], drawn["model"], drawn["item_id"], texts, strict=True)
    sampled = drawn.assign(answer=texts, row=[spreadsheet.row_id(*fact) for fact in facts])
    write_frame(sampled, SHEET_KEY, key)
    known = read_pack(pack) if pack else None
    golds, notes = zip(*(_gold(row, known) for row in drawn.to_dict("records")), strict=True)
    rows = sampled.rename(columns={"row": spreadsheet.ID, "phenomenon": TASK})
    rows = rows.assign(gold=golds, note=notes, **{CORRECT: ""})
    spreadsheet.write_sheet(sheet, COLUMNS, rows[[*COLUMNS]].astype(str).to_dict("records"))
    return len(rows)


LABEL_PREFIX = f"{CORRECT}:"


def _annotator_columns(path: Path, columns: Sequence[str]) -> dict[str, str]:
    """Return the annotator of each column with labels. Raises UserError without any."""
    annotators = {
        name: name.removeprefix(LABEL_PREFIX).strip()
        for name in columns
        if name.startswith(LABEL_PREFIX)
    }
    if CORRECT in columns:
        annotators[CORRECT] = spreadsheet.annotator_of(path)
    if not annotators:
        raise spreadsheet.columns_error(
            path, columns, f"{spreadsheet.ID!r} and {CORRECT!r} (or {LABEL_PREFIX}NAME)"
        )
    taken = [name for name in annotators.values() if name in VARIANTS or not name]
    if taken:
        raise UserError(
            f"{path}: an annotator is called {taken[0]!r}; expected a name that is none of "
            f"{', '.join(VARIANTS)}. Name the file LANG.ANNOTATOR.csv."
        )
    return annotators


def read_labels(paths: Sequence[Path], key: pd.DataFrame) -> pd.DataFrame:
    """Read labels as ``Form.labels`` does: columns row, annotator, correct (0 or 1) and place."""
    texts = {row: {"prompt": text} for row, text in zip(key["row"], key["prompt"], strict=True)}
    labels = spreadsheet.Form(texts, lambda _: spreadsheet.YES_NO, _annotator_columns).labels(paths)
    frame = pd.DataFrame(labels, columns=["row", "annotator", "correct", "place"])
    return frame.astype({"correct": int})


def kappa(first: pd.Series, second: pd.Series) -> tuple[float, float, float]:
    """Return Cohen's kappa of two judges' labels (0 or 1) and its 95 % interval.

    A judge is a method or an annotator. NaN if one judge gives a single label: kappa is then 0 or
    undefined. The interval is asymptotic (Fleiss, Cohen and Everitt 1969), without width for judges
    that never differ.
    """
    if first.nunique() < 2 or second.nunique() < 2:
        return math.nan, math.nan, math.nan
    counts = np.zeros((2, 2))
    np.add.at(counts, (first.to_numpy(int), second.to_numpy(int)), 1)
    result = cohens_kappa(counts)
    return float(result.kappa), float(result.kappa_low), float(result.kappa_upp)


def compare(first: pd.Series, second: pd.Series) -> dict[str, Any]:
    """Compute the agreement of two judges on the same answers: shares, kappa and counts."""
    equal, n = int((first == second).sum()), len(first)
    (low, high), (value, kappa_low, kappa_high) = wilson(equal, n), kappa(first, second)
    agreement = {"n": n, "equal": equal, "accuracy": equal / n, "low": low, "high": high}
    agreement |= {"kappa": value, "kappa_low": kappa_low, "kappa_high": kappa_high}
    return agreement | {"right_method": int(first.sum()), "right_annotator": int(second.sum())}


def read_key(paths: Sequence[Path]) -> pd.DataFrame:
    """Read the keys of sheets, without the answers; labels as text."""
    columns = ["row", "lang", "model", "item_id", "phenomenon", "prompt"]
    frames = [read_table(SHEET_KEY, path, columns).to_pandas() for path in paths]
    joined: pd.DataFrame = pd.concat(frames)
    return joined.astype(dict.fromkeys(("lang", "model", "phenomenon"), object))


def measure_agreement(
    sheets: Sequence[Path], keys: Sequence[Path], judgements: Path, output: Path
) -> Mapping[str, int]:
    """Write the agreement of verdicts with filled sheets, and of annotators with each other.

    ``keys``: those of the exported sheets; ``judgements``: directory of MODEL/LANG.parquet. Returns
    labels by annotator, and missing rows of the same languages' sheets as ``ANNOTATOR lacks``.
    Raises UserError for sheets that ``read_labels`` refuses.
    """
    key = read_key(keys)
    labels = read_labels(sheets, key)
    # A column for each method and each annotator; NaN where it has no label.
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
            both = answers[[first, second]].dropna()
            if len(both):
                names = {"lang": lang, "phenomenon": task, "method": first, "annotator": second}
                agreements.append(names | compare(both[first], both[second]))
    frame = pd.DataFrame(agreements, columns=ANNOTATION_AGREEMENT.names)
    write_frame(frame, ANNOTATION_AGREEMENT, output)
    lang_of_row = dict(zip(key["row"], key["lang"], strict=True))
    judged_rows = [*zip(labels["row"], labels["annotator"], strict=True)]
    missing = spreadsheet.lacking(judged_rows, lang_of_row)
    for name in annotators:
        if missing[name]:
            log.warning("%s lacks %d rows of the sheets", name, missing[name])
    counts = {name: int((labels["annotator"] == name).sum()) for name in annotators}
    return counts | {f"{name} lacks": missing[name] for name in annotators if missing[name]}
