"""Items of KabLiMP: every subject with every verb, in both numbers."""

from itertools import islice, product
from pathlib import Path

import pyarrow as pa

from blimpworks.items import item_id
from blimpworks.tables import ITEMS, write_table

SUBJECTS = ("cat", "dog", "child", "teacher", "farmer", "singer")
VERBS = (("sleeps", "sleep"), ("runs", "run"), ("waits", "wait"))


def _row(paradigm: str, subject: str, good: str, bad: str) -> dict[str, object]:
    start = len(subject) + 5
    sentences = [f"The {subject} {verb} ." for verb in (good, bad)]
    return {
        "item_id": item_id("kablimp", paradigm, *sentences),
        "lang": "eng",
        "phenomenon": "agreement",
        "paradigm": paradigm,
        "good": sentences[0],
        "bad": sentences[1],
        "good_start": start,
        "good_end": start + len(good),
        "bad_start": start,
        "bad_end": start + len(bad),
    }


def build_items(output: Path, pairs: int) -> int:
    """Write ``pairs`` items of each of two paradigms; return how many rows there are."""
    rows = []
    for paradigm, ending, forms in (("singular", "", (0, 1)), ("plural", "s", (1, 0))):
        for subject, verb in islice(product(SUBJECTS, VERBS), pairs):
            rows.append(_row(paradigm, subject + ending, verb[forms[0]], verb[forms[1]]))
    write_table(pa.Table.from_pylist(rows, schema=ITEMS.arrow()), ITEMS, output)
    return len(rows)
