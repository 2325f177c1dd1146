"""Read the results that BLiMP's authors released: accuracies, and single human judgements.

``read_blimp_release`` reads three files of accuracies by paradigm:

- results: those printed, by model and method. The file's human accuracies are not read, because
  those of two paradigms are swapped there (and so in Table 4);
- humans: those of the human validation;
- rerun: those of a run of 2021, made because numbers of models in Tables 3 and 4 are misreported.

``read_ratings`` reads ``raw_results/all_outputs/human_responses.csv`` (Warstadt et al. 2020,
section 3.4). Each row is an assignment: one rater's choices on four pairs and an attention check.

The release calls a paradigm "UID" or "condition". In the ratings, a condition also has an ending:
"passive_1ans2" says that the second sentence of the pair is acceptable.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from blimpworks.analysis.accuracy import wilson
from blimpworks.errors import UserError, reading
from blimpworks.files import BadLine, load_json, table_rows, text_of
from blimpworks.papers.blimp import paradigms as blimp
from blimpworks.papers.blimp.paradigms import HUMAN, PHENOMENON_OF, RELEASED_PAIRS
from blimpworks.papers.blimp.tables import RATINGS
from blimpworks.tables import ACCURACIES, write_rows

PREFIX = "released_"
"""Prefix of released methods' names, because the campaign may judge by the same methods."""
METHODS = {
    "sentence": f"{PREFIX}full_sentence",
    "one-prefix": f"{PREFIX}one_prefix",
    "two-prefix": f"{PREFIX}two_prefix",
}
"""Names of methods in our tables, by the type in the released results."""
INDIVIDUAL, MAJORITY = "individual", "majority"
"""Methods of humans: single ratings, and the majority on each pair."""
VALIDATED = 5
"""Number of validated pairs of a paradigm (section 3.4)."""
REJECTED = "rejected"
"""Phenomenon of paradigms that the validation rejected."""
CATALOGUE_MODELS = ("blimp-5gram", "lstm-gulordava", "transformer-xl-wt103", "gpt2-large")
MODEL_BY_COLUMN = dict(zip(("N-Gram", "LSTM", "TXL", "GPT2"), CATALOGUE_MODELS, strict=True))
"""Models in our catalogue, by column of the printed results."""
RERUN_MODELS = dict(zip(("ngram", "lstm", "txl", "gpt2"), CATALOGUE_MODELS, strict=True))
"""Models in our catalogue, by key in the results of the run of 2021."""
RERUN_MEAN = "overall"
"""UID of rows with means in the results of the run of 2021."""
NUMBER = re.compile(r"\d+(\.\d+)?(e-?\d+)?")
MOST_IN_RESULTS: dict[str, float] = {**dict.fromkeys(MODEL_BY_COLUMN, 1), "n": RELEASED_PAIRS}
"""Largest possible value by column of the printed results."""
MOST_IN_HUMANS: dict[str, float] = {"accepted": VALIDATED, "total_mean": 1, "count": 1000}
"""Largest possible value by column of the human validation. ``accepted``: number of validated pairs
on which the majority was right; ``total_mean``: mean of ``count`` ratings."""
ATTENTION = "attention"
"""Value of the columns phenomenon and paradigm for attention checks."""
UNVALIDATED = "unvalidated"
"""Value of the column phenomenon for a paradigm that people rated, but of which no file has
accuracies."""
OTHERS = {
    "coordinate_structure_constraint_subject_extraction": REJECTED,
    "wh_questions_object_gap_long_distance": REJECTED,
    "subject_island": UNVALIDATED,
    "attnchk": ATTENTION,
}
"""Conditions of the release that are no paradigms of BLiMP, with their value of the column
phenomenon."""


def _accuracy_rows(
    path: Path, keys: list[str], numbers: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Read a CSV file of accuracies by paradigm.

    ``keys``: columns that identify a row, first that of the paradigm; ``numbers``: largest possible
    value by column. Raises UserError for repeated rows and other values.
    """
    columns = (*keys, *numbers)
    rows: list[dict[str, Any]] = []
    lines: dict[tuple[str, ...], int] = {}
    with reading(path, f"BLiMP's released results ({', '.join(columns)})", "Retrieve them again."):
        for line, row in table_rows(path, columns):
            key = tuple(row[name] for name in keys)
            if key in lines:
                raise BadLine(line, f"{' '.join(key)} is in line {lines[key]} too")
            lines[key] = line
            if key[0] not in {**PHENOMENON_OF, **OTHERS}:
                raise BadLine(line, f"{keys[0]} is {key[0]!r}, no paradigm of BLiMP")
            values: dict[str, float] = {}
            for column, most in numbers.items():
                values[column] = float(row[column]) if NUMBER.fullmatch(row[column]) else math.nan
                if not 0 <= values[column] <= most:
                    raise BadLine(line, f"{column} is {row[column]!r}, no number up to {most:g}")
            rows.append(row | values)
    return rows


def _row(model: str, paradigm: str, method: str, accuracy: float, n: int) -> dict[str, object]:
    """Make a row of the table of accuracies; the number of right answers is rounded."""
    correct = round(accuracy * n)
    low, high = wilson(correct, n)
    return dict.fromkeys(ACCURACIES.names) | {
        "benchmark": blimp.BENCHMARK,
        "model": model,
        "lang": blimp.LANG,
        # Of the paradigms in OTHERS, only the rejected ones have accuracies.
        "phenomenon": PHENOMENON_OF.get(paradigm, REJECTED),
        "paradigm": paradigm,
        "method": method,
        "correct": correct,
        "n": n,
        "accuracy": accuracy,
        "low": low,
        "high": high,
    }


def _read_rerun(path: Path) -> Iterator[dict[str, object]]:
    """Yield rows of accuracies from the JSON lines of the run of 2021, without its means."""
    seen: set[object] = set()
    with reading(path, "BLiMP's results of 2021", "Retrieve them again."):
        lines = text_of(path).splitlines() or [""]
    for number, line in enumerate(lines, start=1):
        try:
            row = load_json(line)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path}:{number}: no JSON object ({error}).") from error
        row = row if isinstance(row, dict) else {}
        uid = row.get("UID")
        # All rows of means have the UID "overall"; the linguistics term tells them apart.
        row_key = (uid, row.get("linguistics_term") if uid == RERUN_MEAN else None)
        if uid not in [*PHENOMENON_OF, RERUN_MEAN] or row_key in seen:
            raise UserError(
                f"{path}:{number}: UID is {uid!r}; expected each paradigm of BLiMP once."
            )
        seen.add(row_key)
        if uid == RERUN_MEAN:
            continue
        for key, model in RERUN_MODELS.items():
            share = row.get(key)
            if not isinstance(share, int | float) or not 0 <= share <= 1:
                raise UserError(
                    f"{path}:{number}: {key} is {share!r}; expected a number from 0 to 1. Retrieve "
                    "BLiMP's released results again."
                )
            yield _row(model, uid, blimp.RERUN, float(share), blimp.RELEASED_PAIRS)


def read_blimp_release(results: Path, humans: Path, rerun: Path, output: Path) -> int:
    """Write accuracies of models, humans and the ``rerun`` of 2021; return the number of rows."""
    rows = []
    for row in _accuracy_rows(results, ["UID", "type"], MOST_IN_RESULTS):
        if row["type"] not in METHODS:
            raise UserError(f"{results}: type {row['type']!r}; expected {', '.join(METHODS)}.")
        for column, model in MODEL_BY_COLUMN.items():
            rows.append(_row(model, row["UID"], METHODS[row["type"]], row[column], int(row["n"])))
    for row in _accuracy_rows(humans, ["Condition"], MOST_IN_HUMANS):
        uid, share = row["Condition"], row["accepted"] / VALIDATED
        rows.append(_row(HUMAN, uid, INDIVIDUAL, row["total_mean"], int(row["count"])))
        rows.append(_row(HUMAN, uid, MAJORITY, share, VALIDATED))
    rows += _read_rerun(rerun)
    write_rows(rows, ACCURACIES, output)
    return len(rows)


# Human judgements

SLOTS = range(1, 6)
REFUSED, UNANSWERED = "assignment rejected", "not answered"
NO_SPEAKER = "neither English nor native confirmed"
NO_ENGLISH = "English not confirmed"
EXCLUSIONS = (REFUSED, UNANSWERED, NO_SPEAKER, NO_ENGLISH)
"""Reasons for leaving a rating out. The released summary of the human validation leaves ratings out
for the first three. By the paper's criterion, the fourth is a reason too."""
# The form misspells the name of its field for the answer "native".
RATING_FIELDS = ("AssignmentId", "AssignmentStatus", "anonCode", "Answer.english", "Answer.navtive")
OPTIONS = ("1", "2")
AGAIN = "Retrieve BLiMP's released responses again."
CHOICE = ("Input.item_{}_condition", "Input.field_{}_1", "Input.field_{}_2", "Answer.Choice{}")
"""Columns of the choice in a slot: its condition, the two sentences, and the answer."""


def read_ratings(responses: Path, output: Path) -> dict[str, int]:
    """Write the ratings, one a row; return {"ratings": all, "published": some, "corrected": some}.

    ``published`` are the ratings that the released summary counts, ``corrected`` those that meet
    the paper's criterion; two columns mark them. A paradigm's pairs are numbered as they appear.
    """
    needed = (*RATING_FIELDS, *(name.format(slot) for slot in SLOTS for name in CHOICE))
    with reading(responses, "BLiMP's released responses", "Retrieve them again."):
        lines = [*table_rows(responses, needed)]
    rows: list[dict[str, object]] = []
    # {paradigm: {(acceptable sentence, other sentence): number of the pair}}
    pairs: dict[str, dict[tuple[str, str], int]] = defaultdict(dict)
    for (line, row), slot in product(lines, SLOTS):
        condition, first, second, choice = (row[name.format(slot)] for name in CHOICE)
        uid, separator, right = condition.rpartition("ans")
        if not separator or right not in OPTIONS or uid not in {**PHENOMENON_OF, **OTHERS}:
            raise UserError(
                f"{responses}:{line}: the condition of item {slot} is {condition!r}; expected a "
                f"paradigm, or attnchk, and ans1 or ans2. {AGAIN}"
            )
        answer = choice[:1]
        if answer not in OPTIONS and choice not in ("", "NA"):
            raise UserError(
                f"{responses}:{line}: choice {slot} is {choice!r}; expected 1. or 2. and a "
                f"sentence, or nothing. {AGAIN}"
            )
        good, bad = (first, second) if right == "1" else (second, first)
        paradigm = ATTENTION if OTHERS.get(uid) == ATTENTION else uid
        number_by_pair = pairs[paradigm]
        # By section 3.4 raters say that they are native speakers of English, so NO_ENGLISH is a
        # reason by the paper's criterion.
        reason = None
        if row["AssignmentStatus"] == "Rejected":
            reason = REFUSED
        elif answer not in OPTIONS:
            reason = UNANSWERED
        elif row["Answer.english"] != "1":
            reason = NO_ENGLISH if row["Answer.navtive"] == "1" else NO_SPEAKER
        rating = {
            "line": line,
            "assignment": row["AssignmentId"],
            "worker": row["anonCode"],
            "slot": slot,
            "phenomenon": PHENOMENON_OF.get(uid) or OTHERS[uid],
            "paradigm": paradigm,
            # A new pair gets the next number.
            "pair": number_by_pair.setdefault((good, bad), len(number_by_pair) + 1),
            "good": good,
            "bad": bad,
            "answer": int(answer) if answer in OPTIONS else None,
            "correct": float(answer == right) if answer in OPTIONS else None,
            "excluded": reason,
            "published": reason in (None, NO_ENGLISH),
            "corrected": reason is None,
        }
        rows.append(rating)
    write_rows(rows, RATINGS, output)
    counts = {name: sum(bool(row[name]) for row in rows) for name in ("published", "corrected")}
    return {"ratings": len(rows), **counts}
