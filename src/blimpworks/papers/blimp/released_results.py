"""Read the results that BLiMP's authors released: accuracies, and single human judgements.

``read_blimp_release`` reads three files of accuracies by paradigm. One has the printed results, by
model and method. (Its human accuracies are not read, because those of two paradigms are swapped, as
in Table 4.) One has the human validation. One has a run of 2021, which was made after Tables 3 and
4 were found misreported.

``read_ratings`` reads ``raw_results/all_outputs/human_responses.csv`` (Warstadt et al. 2020,
section 3.4). Each row is an assignment: one rater's choices on four pairs and an attention check.
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
RESULTS: dict[str, float] = {**dict.fromkeys(MODEL_BY_COLUMN, 1), "n": RELEASED_PAIRS}
"""Largest possible value by column of the printed results."""
HUMANS: dict[str, float] = {"accepted": VALIDATED, "total_mean": 1, "count": 1000}
"""The same for the validation. ``accepted``: number of validated pairs on which the majority was
right; ``total_mean``: mean of ``count`` ratings."""
ATTENTION = "attention"
"""Value of the columns phenomenon and paradigm for attention checks."""
UNVALIDATED = "unvalidated"
"""Value of the column phenomenon for a paradigm with ratings, but without results."""
OTHERS = {
    "coordinate_structure_constraint_subject_extraction": REJECTED,
    "wh_questions_object_gap_long_distance": REJECTED,
    "subject_island": UNVALIDATED,
    "attnchk": ATTENTION,
}
"""Conditions that are not paradigms of BLiMP, with their value of the column phenomenon."""


def _read(path: Path, keys: list[str], numbers: Mapping[str, float]) -> list[dict[str, Any]]:
    """Read a CSV file of accuracies by paradigm, the first of ``keys``; rows must differ in these.

    ``numbers``: largest possible value by column. Raises UserError for other values.
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
        # Rows of means have one UID. They differ in the term, a phenomenon or all.
        row_key = (uid, row.get("linguistics_term") if uid == RERUN_MEAN else None)
        if uid not in [*PHENOMENON_OF, RERUN_MEAN] or row_key in seen:
            raise UserError(
                f"{path}:{number}: UID is {uid!r}; expected a paradigm of BLiMP, each once."
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
    for row in _read(results, ["UID", "type"], RESULTS):
        if row["type"] not in METHODS:
            raise UserError(f"{results}: type {row['type']!r}; expected {', '.join(METHODS)}.")
        for column, model in MODEL_BY_COLUMN.items():
            rows.append(_row(model, row["UID"], METHODS[row["type"]], row[column], int(row["n"])))
    for row in _read(humans, ["Condition"], HUMANS):
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
"""Reasons for leaving a rating out. The last is the paper's; the summary keeps such ratings."""
# The form misspells the name of its field for the answer "native".
RATING_FIELDS = ("AssignmentId", "AssignmentStatus", "anonCode", "Answer.english", "Answer.navtive")
OPTIONS = ("1", "2")
AGAIN = "Retrieve BLiMP's released responses again."
CHOICE = ("Input.item_{}_condition", "Input.field_{}_1", "Input.field_{}_2", "Answer.Choice{}")
"""Columns of the choice in a slot: its condition, the two sentences, and the answer. The condition
"passive_1ans2" says that the second sentence is acceptable."""


def read_ratings(responses: Path, output: Path) -> dict[str, int]:
    """Write the ratings, one a row; return their numbers, in total and by variant.

    The column ``published`` says whether the released summary counts a rating, and ``corrected``
    whether the rating meets the paper's criterion. A paradigm's pairs are numbered as they appear.
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
        numbers = pairs[paradigm]
        # The released summary leaves ratings out for REFUSED, UNANSWERED and NO_SPEAKER. By section
        # 3.4 raters say that they are native speakers of English, so NO_ENGLISH is a reason too.
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
            # A pair that is not in ``numbers`` gets the next number.
            "pair": numbers.setdefault((good, bad), len(numbers) + 1),
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
