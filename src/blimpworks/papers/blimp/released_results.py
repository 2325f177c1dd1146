"""Results that BLiMP's authors released, as a table of accuracies like the campaign's own.

Three files of their repository: accuracies of each paradigm by each model and method, which are
those that the paper prints, what became of the human validation, and accuracies of a run of
2021, after they had found Tables 3 and 4 misreported. The second says of each paradigm how many
of its pairs a majority got right, the mean of the pairs' shares of right ratings, and how many
ratings there were. (The first has human accuracies too, with those of two paradigms exchanged,
as in Table 4.)
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from blimpworks.analysis.accuracy import wilson
from blimpworks.errors import UserError
from blimpworks.papers.blimp.paradigms import (
    BENCHMARK,
    HUMAN,
    LANG,
    PHENOMENON_OF,
    RELEASED_PAIRS,
    RERUN,
)
from blimpworks.tables import ACCURACIES, write_rows

PREFIX = "released_"
"""Before the name of a method: the campaign may have judged by the same."""
METHODS = {
    "sentence": f"{PREFIX}full_sentence",
    "one-prefix": f"{PREFIX}one_prefix",
    "two-prefix": f"{PREFIX}two_prefix",
}
"""Methods as the release calls them, and as we do."""
INDIVIDUAL, MAJORITY = "individual", "majority"
"""What stands for the method of humans: single ratings, and the majority's on each pair."""
VALIDATED = 5
"""Validated pairs of a paradigm (section 3.4)."""
REJECTED = "rejected"
"""What stands for the phenomenon of paradigms that the validation rejected."""
MODELS = {
    "N-Gram": "blimp-5gram",
    "LSTM": "lstm-gulordava",
    "TXL": "transformer-xl-wt103",
    "GPT2": "gpt2-large",
}
"""Columns of the results, and the models in our catalogue."""
RERUN_MODELS = dict(zip(("ngram", "lstm", "txl", "gpt2"), MODELS.values(), strict=True))
"""Keys of the run of 2021, and the same models."""
RERUN_MEAN = "overall"
"""What its last row is called, a mean."""
RESULTS: dict[str, float] = {**dict.fromkeys(MODELS, 1), "n": float("inf")}
HUMANS = {"accepted": VALIDATED, "total_mean": 1, "count": float("inf")}
"""Columns of numbers that are read of each file, and the most that they can be."""


def _read(path: Path, keys: list[str], numbers: Mapping[str, float]) -> pd.DataFrame:
    """A released file. Raises UserError when it is missing or not as expected."""
    try:
        frame = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is no readable CSV file ({error}). Retrieve it again.") from error
    missing = [column for column in (*keys, *numbers) if column not in frame]
    if missing:
        raise UserError(
            f"{path}:1: there is no column {missing[0]!r}; expected {', '.join(keys)} and "
            f"{', '.join(numbers)}. Retrieve BLiMP's released results again."
        )
    for column, most in numbers.items():
        values = pd.to_numeric(frame[column], errors="coerce")
        for line in frame.index[~values.between(0, most)]:
            raise UserError(
                f"{path}:{line + 2}: {column} is {str(frame[column][line])!r}; expected a number "
                f"from 0 to {most:g}. Retrieve BLiMP's released results again."
            )
    return frame


def _row(model: str, paradigm: str, method: str, accuracy: float, n: int) -> dict[str, object]:
    """One row of the table; the number of right answers is rounded."""
    correct = round(accuracy * n)
    low, high = wilson(correct, n)
    return dict.fromkeys(ACCURACIES.names) | {
        "benchmark": BENCHMARK,
        "model": model,
        "lang": LANG,
        "phenomenon": PHENOMENON_OF.get(paradigm, REJECTED),
        "paradigm": paradigm,
        "method": method,
        "correct": correct,
        "n": n,
        "accuracy": accuracy,
        "low": low,
        "high": high,
    }


def _of_models(path: Path) -> Iterator[dict[str, object]]:
    for _, row in _read(path, ["UID", "type"], RESULTS).iterrows():
        if row["type"] not in METHODS:
            raise UserError(f"{path}: type {row['type']!r}; expected {', '.join(METHODS)}.")
        for column, model in MODELS.items():
            yield _row(model, row["UID"], METHODS[row["type"]], row[column], int(row["n"]))


def _of_humans(path: Path) -> Iterator[dict[str, object]]:
    for _, row in _read(path, ["Condition"], HUMANS).iterrows():
        mean, share = float(row["total_mean"]), row["accepted"] / VALIDATED
        yield _row(HUMAN, row["Condition"], INDIVIDUAL, mean, int(row["count"]))
        yield _row(HUMAN, row["Condition"], MAJORITY, share, VALIDATED)


def _again(row: Mapping[str, object], key: str, where: str) -> float:
    """A model's accuracy in the run of 2021. Raises UserError when it is no share."""
    share = row.get(key)
    if not isinstance(share, int | float) or not 0 <= share <= 1:
        raise UserError(
            f"{where}: {key} is {share!r}; expected a number from 0 to 1. Retrieve BLiMP's "
            "released results again."
        )
    return float(share)


def _of_rerun(path: Path) -> Iterator[dict[str, object]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UserError(f"{path} is not readable ({error}). Retrieve it again.") from error
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UserError(f"{path}:{number}: no JSON object ({error}).") from error
        uid = row.get("UID")
        if uid not in PHENOMENON_OF and uid != RERUN_MEAN:
            raise UserError(f"{path}:{number}: UID is {uid!r}; expected a paradigm of BLiMP.")
        for key, model in RERUN_MODELS.items() if uid != RERUN_MEAN else ():
            share = _again(row, key, f"{path}:{number}")
            yield _row(model, uid, RERUN, share, RELEASED_PAIRS)


def read_blimp_release(results: Path, humans: Path, rerun: Path, output: Path) -> int:
    """Write the released accuracies of models and humans as a table; how many there are.

    ``rerun`` are the models' of 2021, under a method of their own.

    Raises UserError when a file is missing or not as expected.
    """
    rows = [*_of_models(results), *_of_humans(humans), *_of_rerun(rerun)]
    write_rows(rows, ACCURACIES, output)
    return len(rows)
