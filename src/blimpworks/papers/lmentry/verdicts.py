"""Compare the published rules' verdicts (Moroni and others 2025, 3.3) with corrected ones."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.variants import CORRECTED, PUBLISHED
from blimpworks.errors import UserError
from blimpworks.generation.reasoning import strip_reasoning
from blimpworks.papers.lmentry.judging.judge import METHODS
from blimpworks.papers.lmentry.tables import VERDICTS
from blimpworks.papers.lmentry.tasks import SUBJECTS
from blimpworks.tables import ANSWERS, JUDGEMENTS, PROMPTS, Evaluation, read_table, write_frame

REASONS = {
    "vacuous": "right by the published rules because no word of ASCII letters contradicts it",
    "script": "wrong by them because it has no word of ASCII letters",
    "case": "wrong by them because the answer is put in lower case and the key is not",
    "yes_no": "any or all words from a category: what counts as yes or no",
    "wording": "a wording that only one of the two knows",
    "other": "something else",
}
"""Reasons for a changed verdict; the first that fits counts."""
VACUOUS, SCRIPT, CASE, YES_NO, WORDING, OTHER = REASONS
WRITTEN = {"cut": "cut", "echo": "echoes"}
"""Columns of judgements on the answer's form, and columns of their counts."""
FITTING = {"whole", "repeated", "pattern", "begins", "line", "inside", "made"}
"""Rules that accept an answer's wording."""
ASCII_TOKEN = r"[A-Za-z0-9]"


def _both(path: Path) -> pd.DataFrame:
    """Read both methods' verdicts side by side. Raises UserError when one method is missing."""
    columns = ["item_id", "phenomenon", "paradigm", "method", "correct", "rule", "nominal"]
    table = read_table(JUDGEMENTS, path)
    # Judgements of earlier versions lack these columns.
    unknown = pa.nulls(len(table), pa.bool_())
    flags = {name: table[name] if name in table.column_names else unknown for name in WRITTEN}
    table = pa.table({name: table[name] for name in columns} | flags)
    sides = {
        method: table.filter(pc.equal(table["method"].cast(pa.string()), method)).to_pandas()
        for method in (PUBLISHED, CORRECTED)
    }
    missing = [method for method, side in sides.items() if side.empty]
    if missing:
        raise UserError(
            f"{path} has no verdicts by method {missing[0]!r}; expected both {PUBLISHED} and "
            f"{CORRECTED}. Judge again."
        )
    right = sides[CORRECTED][["item_id", "correct", "rule"]]
    joined = sides[PUBLISHED].merge(right, on="item_id", suffixes=("_published", "_corrected"))
    text_columns = ("phenomenon", "paradigm", "rule_published", "rule_corrected")
    judged: pd.DataFrame = joined.dropna(subset=["correct_published", "correct_corrected"])
    return judged.astype(dict.fromkeys(text_columns, object))


def reasons(changed: pd.DataFrame) -> pd.Series:
    """Return the reason for each changed verdict: the first key of ``REASONS`` that fits.

    Columns: phenomenon; correct_published, correct_corrected (they differ); rule_published,
    rule_corrected; text (the answer as the published rules cut it) and asked (the subject).
    """
    gained = changed["correct_corrected"] > changed["correct_published"]
    ascii_token = changed["text"].str.contains(ASCII_TOKEN, regex=True)
    pairs = [*zip(changed["asked"], changed["text"].str.lower(), strict=True)]
    lowered = pd.Series([a not in t and a.lower() in t for a, t in pairs], changed.index, bool)
    decided = changed["rule_corrected"].where(gained, changed["rule_published"])
    tests = {
        VACUOUS: ~gained & ~ascii_token & (changed["rule_published"] == "vacuous"),
        SCRIPT: gained & ~ascii_token,
        CASE: gained & lowered,
        YES_NO: changed["phenomenon"].str.startswith(("any_words", "all_words")),
        WORDING: decided.isin(FITTING),
    }
    return pd.Series(np.select([*tests.values()], [*tests], OTHER), changed.index, dtype=object)


def compare_evaluation(evaluation: Evaluation) -> pd.DataFrame:
    """Return the verdicts table's rows of one evaluation. Raises UserError."""
    both = _both(evaluation.judgements)
    changed = both[both["correct_published"] != both["correct_corrected"]]
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
    reason_of = reasons(joined.assign(text=texts, asked=subjects))
    changed = changed.assign(reason=reason_of.to_numpy())
    # Prompts of each task by the settings: a number for each template.
    template = both["paradigm"].str.extract(r"template=(\d+)", expand=False)
    nominal = both.groupby(["phenomenon", template])["nominal"].first().groupby(level=0).sum()
    known = both.groupby("phenomenon").agg(n=("item_id", "size")).assign(nominal=nominal)
    for column, count in WRITTEN.items():
        flags = both[column].astype("Int32").groupby(both["phenomenon"])
        known[count] = flags.sum().where(flags.count() == flags.size())
    rows_of_reason = {ALL: both} | {name: changed[changed["reason"] == name] for name in REASONS}
    rows = []
    for reason, answers in rows_of_reason.items():
        by_task = answers.groupby("phenomenon")
        right = {side: by_task[f"correct_{side}"].sum() for side in (PUBLISHED, CORRECTED)}
        counted = known.join(pd.DataFrame(right)).fillna(dict.fromkeys(right, 0))
        rows.append(counted.assign(reason=reason))
    return pd.concat(rows).reset_index().assign(model=evaluation.model, lang=evaluation.lang)


def compare_verdicts(results: Sequence[Evaluation], output: Path) -> dict[str, Any]:
    """Write the verdicts table; return counts of answers and changes. Raises UserError."""
    if not results:
        raise UserError(f"{output}: no judgements are given; name at least one model.")
    frame = pd.concat([compare_evaluation(evaluation) for evaluation in results], ignore_index=True)
    numbers = dict.fromkeys(("n", "nominal", "published", "corrected"), "int32")
    write_frame(frame.astype(numbers), VERDICTS, output)
    all_reasons, single_reasons = frame[frame["reason"] == ALL], frame[frame["reason"] != ALL]
    changed = single_reasons[[PUBLISHED, CORRECTED]].sum().sum()
    return {"answers": int(all_reasons["n"].sum()), "changed": int(changed)}
