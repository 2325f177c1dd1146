"""From filled lists to ratings, and people's accuracies, in tables like those of models.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3 and Table 9.
"""

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from blimpworks.annotation.lists import CHECK, PAIR
from blimpworks.annotation.options import ValidationOptions
from blimpworks.annotation.sheets import Key, read_choices, read_key
from blimpworks.annotation.tables import VALIDATION_PARTICIPANTS, VALIDATION_RATINGS
from blimpworks.errors import UserError
from blimpworks.tables import ACCURACIES, write_frame

log = logging.getLogger(__name__)

HUMAN, METHOD = "human", "choice"
"""What stands for a model, and for a method, where people have judged."""


def _wilson(right: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a mean of ``n`` shares whose sum is ``right``."""
    if not n:
        return float("nan"), float("nan")
    low, high = proportion_confint(right, n, method="wilson")
    return float(low), float(high)


def _participant(name: str, rows: pd.DataFrame, key: Key, threshold: float) -> dict[str, object]:
    """What a participant has done; a check that was not answered is not passed."""
    pairs, checks = rows[rows["part"] == PAIR], rows[rows["part"] == CHECK]
    name_of_list = rows["list"].iloc[0]
    n_checks = sum(row["part"] == CHECK and row["list"] == name_of_list for row in key.values())
    right, n, passed = int(pairs["chose_good"].sum()), len(pairs), int(checks["chose_good"].sum())
    low, high = _wilson(right, n)
    return {
        "participant": name,
        "n": n,
        "correct": right,
        "accuracy": right / n if n else float("nan"),
        "low": low,
        "high": high,
        "checks": n_checks,
        "passed": passed,
        "left_out": n_checks > 0 and passed < threshold * n_checks,
    }


def participants_of(choices: pd.DataFrame, key: Key, threshold: float) -> pd.DataFrame:
    """A row for each participant, those who pass too few attention checks marked.

    Says in a warning who these are.
    """
    groups = choices.groupby("participant")
    results = [_participant(str(name), own, key, threshold) for name, own in groups]
    people = pd.DataFrame(results, columns=VALIDATION_PARTICIPANTS.names)
    failed = people[people["left_out"].astype(bool)]
    if len(failed):
        names = ", ".join(
            f"{r.participant} ({r.passed} of {r.checks})" for r in failed.itertuples()
        )
        log.warning(
            "%d of %d participants are left out, who passed less than %.0f %% of their attention "
            "checks: %s",
            *(len(failed), len(people), 100 * threshold, names),
        )
    return people


def ratings_of(choices: pd.DataFrame, counted: Collection[str]) -> pd.DataFrame:
    """Choices between the sentences of pairs, of the participants that are ``counted``."""
    kept = choices[(choices["part"] == PAIR) & choices["participant"].isin([*counted])]
    return kept.sort_values(["participant", "place"])[VALIDATION_RATINGS.names]


def accuracies_of(ratings: pd.DataFrame, benchmark: str, lang: str) -> pd.DataFrame:
    """People's accuracy on each paradigm, as a table of accuracies: the mean over judged pairs.

    Of a pair it is the share of right choices. ``n`` counts pairs, and the interval is Wilson's for
    so many: judgements of one pair are not independent.
    """
    keys = ["phenomenon", "paradigm"]
    pairs = ratings.groupby([*keys, "item_id"])["chose_good"].mean().reset_index()
    rows = pairs.groupby(keys)["chose_good"].agg(correct="sum", n="count").reset_index()
    bounds = [_wilson(right, n) for right, n in zip(rows["correct"], rows["n"], strict=True)]
    return rows.assign(
        benchmark=benchmark,
        model=HUMAN,
        lang=lang,
        method=METHOD,
        skipped=0,
        ties=0,
        near_ties=0,
        accuracy=rows["correct"] / rows["n"],
        low=[low for low, _ in bounds],
        high=[high for _, high in bounds],
        rounding=None,
        origin=None,
    )


def unfilled_rows(choices: pd.DataFrame, key: Key) -> int:
    """Rows of the participants' lists that their files lack."""
    sizes = Counter(row["list"] for row in key.values())
    lists = choices[["participant", "list"]].drop_duplicates()
    return sum(sizes[str(each)] for each in lists["list"]) - len(choices)


def read_validation(
    sheets: Sequence[Path],
    keys: Sequence[Path],
    benchmark: str,
    outputs: tuple[Path, Path, Path],
    options: ValidationOptions,
) -> Mapping[str, float]:
    """Write the ratings, the participants and the accuracies of filled lists.

    ``outputs`` are the paths of the three tables. Returns what a job's record says of them. Raises
    UserError for lists that ``read_choices`` refuses, for keys that are missing, of another schema
    or of several languages, and where no participant passes the attention checks.
    """
    key = read_key(keys)
    languages = sorted({str(row["lang"]) for row in key.values()})
    if len(languages) != 1:
        raise UserError(
            f"the keys are of {', '.join(languages) or 'no list'}; expected one language."
        )
    choices = read_choices(sheets, key)
    people = participants_of(choices, key, options.check_threshold)
    unfilled = unfilled_rows(choices, key)
    if unfilled:
        log.warning("%d rows of the lists that were filled have no choice", unfilled)
    counted = people["participant"][~people["left_out"].astype(bool)]
    ratings = ratings_of(choices, [*counted])
    if ratings.empty:
        raise UserError(
            f"no pair is judged by any of {len(people)} participants who pass "
            f"{options.check_threshold:.0%} of their attention checks; expected some. Look whether "
            "the choices stand in the right rows, or lower check_threshold."
        )
    accuracies = accuracies_of(ratings, benchmark, languages[0])
    frames = (ratings, people, accuracies)
    schemas = (VALIDATION_RATINGS, VALIDATION_PARTICIPANTS, ACCURACIES)
    for frame, schema, path in zip(frames, schemas, outputs, strict=True):
        write_frame(frame, schema, path)
    sizes = ratings.groupby("item_id").size()
    lacking = int((sizes != options.per_pair).sum())
    if lacking:
        log.warning(
            "%d of %d pairs have not just %d judgements and enter no kappa",
            *(lacking, len(sizes), options.per_pair),
        )
    return {
        "participants": len(people),
        "left_out": int(people["left_out"].sum()),
        "judgements": len(ratings),
        "pairs": len(sizes),
        "incomplete": lacking,
        "unfilled": unfilled,
        "accuracy": float(accuracies["accuracy"].mean()),
    }
