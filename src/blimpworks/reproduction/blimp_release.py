"""Results that BLiMP's authors released, as a table of accuracies like the campaign's own.

Two files of their repository: accuracies of each paradigm by each model and method, which are
those that the paper prints, and what became of the human validation. The second says of each
paradigm how many of its pairs a majority got right, the mean of the pairs' shares of right
ratings, and how many ratings there were. (The first has human accuracies too, with those of
two paradigms exchanged, as in Table 4.)
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa

from blimpworks.analysis.accuracy import wilson
from blimpworks.blimp.paradigms import BENCHMARK, HUMAN, LANG, PHENOMENON_OF
from blimpworks.errors import UserError
from blimpworks.tables import ACCURACIES, write_table

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
        found = pd.to_numeric(frame[column], errors="coerce")
        for line in frame.index[~found.between(0, most)]:
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


def read_blimp_release(results: Path, humans: Path, output: Path) -> int:
    """Write the released accuracies of models and humans as a table; how many there are.

    Raises UserError when a file is missing or not as expected.
    """
    rows = [*_of_models(results), *_of_humans(humans)]
    write_table(pa.Table.from_pylist(rows, schema=ACCURACIES.arrow()), ACCURACIES, output)
    return len(rows)
