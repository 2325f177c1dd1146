"""Human judgements of BLiMP's pairs, one by one, from the responses that the authors released.

Source: Warstadt et al. (2020), section 3.4, and ``raw_results/all_outputs/human_responses.csv``
of their repository: an assignment in each row, of four pairs and an attention check in any order.
"""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from blimpworks.errors import UserError
from blimpworks.papers.blimp.paradigms import PHENOMENON_OF
from blimpworks.papers.blimp.released_results import REJECTED
from blimpworks.papers.blimp.tables import RATINGS
from blimpworks.tables import write_rows

SLOTS = range(1, 6)
"""Choices of an assignment."""
ATTENTION = "attention"
"""Value of the columns phenomenon and paradigm for attention checks."""
UNVALIDATED = "unvalidated"
"""Value of the column phenomenon for a paradigm that was rated but is in no result."""
OTHERS = {
    "coordinate_structure_constraint_subject_extraction": REJECTED,
    "wh_questions_object_gap_long_distance": REJECTED,
    "subject_island": UNVALIDATED,
    "attnchk": ATTENTION,
}
"""Conditions that are no paradigms of BLiMP, with their value of the column phenomenon."""
REFUSED, UNANSWERED = "assignment rejected", "not answered"
NO_SPEAKER = "neither English nor native confirmed"
NO_ENGLISH = "English not confirmed"
REASONS = (REFUSED, UNANSWERED, NO_SPEAKER, NO_ENGLISH)
"""Why a rating is left out; the last one only where the text's own criterion is applied."""
# The form misspells the name of its field for the answer "native".
FIELDS = ("AssignmentId", "AssignmentStatus", "anonCode", "Answer.english", "Answer.navtive")
SIDES = ("1", "2")
Row = Mapping[str, str]


def _fields(slot: int) -> tuple[str, str, str, str]:
    """Columns of a choice: its condition, the two sentences shown, and the answer."""
    return (
        f"Input.item_{slot}_condition",
        f"Input.field_{slot}_1",
        f"Input.field_{slot}_2",
        f"Answer.Choice{slot}",
    )


def _excluded(row: Row, answer: str) -> str | None:
    """Why a rating is left out, or None.

    The released summary leaves out the first three kinds. Section 3.4 takes self-reported
    native speakers of English alone, which the fourth fails.
    """
    if row["AssignmentStatus"] == "Rejected":
        return REFUSED
    if answer not in SIDES:
        return UNANSWERED
    if row["Answer.english"] == "1":
        return None
    return NO_ENGLISH if row["Answer.navtive"] == "1" else NO_SPEAKER


def _rating(row: Row, slot: int, where: str) -> dict[str, object]:
    condition, first, second, given = (row[name] for name in _fields(slot))
    uid, separator, right = condition.rpartition("ans")
    if not separator or right not in SIDES or uid not in {**PHENOMENON_OF, **OTHERS}:
        raise UserError(
            f"{where}: the condition of item {slot} is {condition!r}; expected a paradigm, or "
            f"attnchk, and ans1 or ans2. Retrieve BLiMP's released responses again."
        )
    answer = given[:1]
    if answer not in SIDES and given not in ("", "NA"):
        raise UserError(
            f"{where}: choice {slot} is {given!r}; expected 1. or 2. and a sentence, or nothing. "
            "Retrieve BLiMP's released responses again."
        )
    good, bad = (first, second) if right == "1" else (second, first)
    reason = _excluded(row, answer)
    return {
        "assignment": row["AssignmentId"],
        "worker": row["anonCode"],
        "slot": slot,
        "phenomenon": PHENOMENON_OF.get(uid) or OTHERS[uid],
        "paradigm": ATTENTION if OTHERS.get(uid) == ATTENTION else uid,
        "good": good,
        "bad": bad,
        "answer": int(answer) if answer in SIDES else None,
        "correct": float(answer == right) if answer in SIDES else None,
        "excluded": reason,
        "published": reason in (None, NO_ENGLISH),
        "corrected": reason is None,
    }


def _ratings(path: Path) -> Iterator[dict[str, object]]:
    """Ratings of a file, in its order. Raises UserError where it is not as expected."""
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            rows = csv.DictReader(handle)
            needed = (*FIELDS, *(name for slot in SLOTS for name in _fields(slot)))
            missing = [name for name in needed if name not in (rows.fieldnames or ())]
            if missing:
                raise UserError(
                    f"{path}:1: there is no column {missing[0]!r}; expected BLiMP's released "
                    "responses. Retrieve them again."
                )
            for row in rows:
                for slot in SLOTS:
                    rating = _rating(row, slot, f"{path}:{rows.line_num}")
                    yield {"line": rows.line_num} | rating
    except FileNotFoundError as error:
        raise UserError(
            f"{path} does not exist; expected BLiMP's released responses. Retrieve them."
        ) from error


def read_ratings(responses: Path, output: Path) -> dict[str, int]:
    """Write the ratings, one in each row; how many there are, all and by variant.

    ``published`` are those of which the released summary is made, ``corrected`` those by the
    criterion that the text states. A paradigm's pairs are numbered in order of appearance.

    Raises UserError for a missing or malformed file.
    """
    rows = list(_ratings(responses))
    pairs: dict[object, dict[object, int]] = {}
    for row in rows:
        known = pairs.setdefault(row["paradigm"], {})
        row["pair"] = known.setdefault((row["good"], row["bad"]), len(known) + 1)
    write_rows(rows, RATINGS, output)
    counts = {name: sum(bool(row[name]) for row in rows) for name in ("published", "corrected")}
    return {"ratings": len(rows), **counts}
