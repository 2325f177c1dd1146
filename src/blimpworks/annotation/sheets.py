"""Write lists of sentence pairs for people to judge, and compute accuracies from the filled lists.

``write_lists`` writes a CSV file (sheet) for each participant, and the key: a table that says which
sentence of each row is grammatical. ``read_validation`` reads the filled sheets with the key, and
writes tables of ratings, participants and accuracies. A filled row of a sheet:

    id                 first                second              choice  note
    r0123456789abcdef  the cats sleeps .    the cat sleeps .    2

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3 and Table 9; the paper's participants
judged on PCIbex (Zehr and Schwarz 2018). Lists may also have single sentences, to answer yes or no.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.annotation import spreadsheet
from blimpworks.annotation.lists import CHECK, PAIR, PRACTICE, make_lists, read_pairs
from blimpworks.annotation.options import ValidationOptions
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.tables import ACCURACIES, read_schema, read_table, write_frame, write_rows

log = logging.getLogger(__name__)

# The key of the lists, with a row for each row of a sheet. Columns:
#   row      id in the sheet
#   list     name of the list
#   place    position in the list, from 1
#   part     purpose of the row: practice, pair or check (of attention)
#   item_id  id of the pair; for a check, of the pair with its grammatical sentence
VALIDATION_KEY = read_schema(__file__, "schemas/validation_key.tsv")
# A row for each judgement of a pair, if the participant is not left out; place: as in the key.
VALIDATION_RATINGS = read_schema(__file__, "schemas/validation_ratings.tsv")
#   n         pairs that the participant has judged
#   checks    attention checks on the list, answered or not
#   passed    checks with the right answer
#   left_out  whether the judgements are not used, because too few checks are passed
VALIDATION_PARTICIPANTS = read_schema(__file__, "schemas/validation_participants.tsv")
FIRST, SECOND, SENTENCE, CHOICE, NOTE = "first", "second", "sentence", "choice", "note"
SHEET = (spreadsheet.ID, FIRST, SECOND, CHOICE, NOTE)  # columns of sheets with pairs
SINGLE = (spreadsheet.ID, SENTENCE, CHOICE, NOTE)  # columns of sheets with single sentences
MAIN = "main"  # value for pairs and checks in PCIbex's column ``Part``, which must not differ
CHOICES = {"1": True, "2": False, FIRST: True, SECOND: False}  # {label: whether it is the first}
Key = Mapping[str, Mapping[str, Any]]  # {id of a row: row of ``VALIDATION_KEY``}
HUMAN, METHOD = "human", "choice"  # model and method in the table of people's accuracies


def _texts(first: str, second: str) -> dict[str, str]:
    return {FIRST: first, SECOND: second} if second else {SENTENCE: first}


def write_lists(
    items: Path,
    lang: str,
    sheets: Sequence[Path],
    key: Path,
    pcibex: Path,
    options: ValidationOptions,
) -> int:
    """Write the lists of a language (sheets, key and PCIbex table); return the number of pairs.

    A sheet does not show which sentence is grammatical, or which rows are attention checks. Raises
    UserError if there are not as many ``sheets`` as participants, and as the called functions.
    """
    if len(sheets) != options.participants:
        raise UserError(
            f"{len(sheets)} sheets are named, expected {options.participants}, one for each "
            "participant; name as many as the option participants says."
        )
    rows = make_lists(read_pairs(items), options)
    for name, path in zip(options.names, sheets, strict=True):
        lines = []
        list_rows = [row for row in rows if row.list == name]
        for row in list_rows:
            note = PRACTICE if row.part == PRACTICE else ""
            texts = _texts(row.first, row.second)
            lines.append({spreadsheet.ID: row.row, CHOICE: "", NOTE: note, **texts})
        spreadsheet.write_sheet(path, SHEET if rows[0].second else SINGLE, lines)
    # PCIbex shows each participant the rows of one Group. Nothing there tells checks from pairs.
    columns = {"list": "Group", "row": "Item", "part": "Part", "first": "First", "second": "Second"}
    frame = pd.DataFrame(rows).replace({"part": {PAIR: MAIN, CHECK: MAIN}})
    table = frame[[*columns]].rename(columns=columns)
    write_text(pcibex, table.to_csv(index=False, lineterminator="\n"))
    write_rows([row._asdict() | {"lang": lang} for row in rows], VALIDATION_KEY, key)
    return len({row.item_id for row in rows if row.part == PAIR})


def read_key(paths: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Read the keys of lists; return {id of a row: row of ``VALIDATION_KEY``}.

    With several keys, each list's name ends in the path of its key, because names may be the same.
    """
    key = {}
    for path in paths:
        for row in read_table(VALIDATION_KEY, path).to_pylist():
            name = row["list"] if len(paths) == 1 else f"{row['list']} of {path}"
            key[row["row"]] = row | {"list": name}
    return key


def _participant(path: Path, columns: Sequence[str]) -> dict[str, str]:
    """Return {column with choices: participant}, as ``spreadsheet.Form`` expects."""
    if CHOICE not in columns:
        raise spreadsheet.columns_error(path, columns, f"{spreadsheet.ID!r} and {CHOICE!r}")
    return {CHOICE: spreadsheet.annotator_of(path)}


def read_choices(paths: Sequence[Path], key: Key) -> pd.DataFrame:
    """Return a row for each choice in filled sheets: the key's columns and three others.

    ``participant``: end of the file's name (anna of ``urd.anna.csv``). ``chose_first``: whether the
    participant chose the first sentence, or answered yes to a single one. ``chose_good``: whether
    that is right. Raises UserError in the cases of ``Form.labels``.
    """
    form = spreadsheet.Form(
        texts={name: _texts(row["first"], row["second"]) for name, row in key.items()},
        answers=lambda row: CHOICES if key[row]["second"] else spreadsheet.YES_NO,
        annotators=_participant,
        items={name: (row["part"], row["item_id"]) for name, row in key.items()},
        lists={name: row["list"] for name, row in key.items()},
    )
    frame = pd.DataFrame(
        {**key[label.row], "participant": label.annotator, "chose_first": label.value}
        for label in form.labels(paths)
    )
    return frame.assign(chose_good=frame["chose_first"] == frame["first_is_good"])


def _wilson(right: float, n: int) -> tuple[float, float]:
    if not n:
        return float("nan"), float("nan")
    # Slow to import, and the tables above are read without it.
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(right, n, method="wilson")
    return float(low), float(high)


def participants_of(choices: pd.DataFrame, key: Key, threshold: float) -> pd.DataFrame:
    """Return a row for each participant; log who passes less than ``threshold`` of the checks.

    ``choices`` are from ``read_choices``. All checks of the lists that a participant began count.
    """
    results = []
    for name, rows in choices.groupby("participant"):
        pairs, checks = rows[rows["part"] == PAIR], rows[rows["part"] == CHECK]
        lists = {*rows["list"]}
        n_checks = sum(row["part"] == CHECK and row["list"] in lists for row in key.values())
        right, n = int(pairs["chose_good"].sum()), len(pairs)
        accuracy = right / n if n else float("nan")
        passed = int(checks["chose_good"].sum())
        # A product would be inexact: 0.56 * 25 is 14.000000000000002, and 14 checks suffice.
        left_out = n_checks > 0 and passed / n_checks < threshold
        interval = _wilson(right, n)
        results.append((str(name), n, right, accuracy, *interval, n_checks, passed, left_out))
    people = pd.DataFrame(results, columns=VALIDATION_PARTICIPANTS.names)
    failed = people[people["left_out"].astype(bool)]
    if len(failed):
        named = (f"{row.participant} ({row.passed} of {row.checks})" for row in failed.itertuples())
        text = (
            "%d of %d participants are left out, who passed less than %.0f %% of their attention "
            "checks: %s"
        )
        log.warning(text, len(failed), len(people), 100 * threshold, ", ".join(named))
    return people


def accuracies_of(ratings: pd.DataFrame, benchmark: str, lang: str) -> pd.DataFrame:
    """Return people's accuracy on each paradigm, as a table of accuracies.

    The accuracy is a mean over pairs of the share of right choices. ``n``, also in Wilson's
    interval, counts pairs, not judgements, since judgements of the same pair are not independent.
    """
    keys = ["phenomenon", "paradigm"]
    pairs = ratings.groupby([*keys, "item_id"])["chose_good"].mean().reset_index()
    rows = pairs.groupby(keys)["chose_good"].agg(correct="sum", n="count").reset_index()
    bounds = [_wilson(right, n) for right, n in zip(rows["correct"], rows["n"], strict=True)]
    rows["accuracy"] = rows["correct"] / rows["n"]
    rows["low"], rows["high"] = zip(*bounds, strict=True)
    names = {"benchmark": benchmark, "model": HUMAN, "lang": lang, "method": METHOD}
    counts = dict.fromkeys(("skipped", "ties", "near_ties"), 0)
    return rows.assign(**names, **counts, rounding=None, origin=None)


def read_validation(
    sheets: Sequence[Path],
    keys: Sequence[Path],
    benchmark: str,
    outputs: tuple[Path, Path, Path],
    options: ValidationOptions,
) -> Mapping[str, float]:
    """Write ratings, participants and accuracies of filled lists; return numbers for the log.

    ``outputs``: paths of the three tables. Raises UserError for lists that ``read_choices``
    refuses, for keys of several languages, and if no participant passes the attention checks.
    """
    key = read_key(keys)
    languages = sorted({str(row["lang"]) for row in key.values()})
    if len(languages) != 1:
        raise UserError(
            f"the keys are of {', '.join(languages) or 'no list'}; expected one language."
        )
    choices = read_choices(sheets, key)
    people = participants_of(choices, key, options.check_threshold)
    list_by_row = {row_id: row["list"] for row_id, row in key.items()}
    filled = [*zip(choices["row"], choices["participant"], strict=True)]
    unfilled = sum(spreadsheet.count_missing(filled, list_by_row).values())
    if unfilled:
        log.warning("%d rows of the lists that were filled have no choice", unfilled)
    attentive = people["participant"][~people["left_out"].astype(bool)]
    rated = choices[(choices["part"] == PAIR) & choices["participant"].isin([*attentive])]
    ratings = rated.sort_values(["participant", "place"])[VALIDATION_RATINGS.names]
    if ratings.empty:
        raise UserError(
            f"no pair is judged by any of {len(people)} participants who pass "
            f"{options.check_threshold:.0%} of their attention checks; expected some. Check that "
            "the choices are in the right rows, or lower check_threshold."
        )
    accuracies = accuracies_of(ratings, benchmark, languages[0])
    write_frame(ratings, VALIDATION_RATINGS, outputs[0])
    write_frame(people, VALIDATION_PARTICIPANTS, outputs[1])
    write_frame(accuracies, ACCURACIES, outputs[2])
    judgements = ratings.groupby("item_id").size()
    incomplete = int((judgements != options.per_pair).sum())
    if incomplete:
        text = "%d of %d pairs do not have %d judgements, and are left out of Fleiss' kappa"
        log.warning(text, incomplete, len(judgements), options.per_pair)
    return {
        "participants": len(people),
        "left_out": int(people["left_out"].sum()),
        "judgements": len(ratings),
        "pairs": len(judgements),
        "incomplete": incomplete,
        "unfilled": unfilled,
        "accuracy": float(accuracies["accuracy"].mean()),
    }
