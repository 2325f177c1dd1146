"""Compute accuracies of people, and of models from decisions that authors released.

``read_people``, ``read_released`` and ``read_perplexities``, called by commands of the same names,
each read the files under a key of a declaration, and write a table. Rows of files become
judgements, which are added up for each paradigm, phenomenon and language, such as ::

    {"lang": "eng", "phenomenon": "agreement", "paradigm": "subject", "correct": 1.0, "n": 1}
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import wilson
from blimpworks.benchmarks.account import Account
from blimpworks.benchmarks.build import named_files
from blimpworks.benchmarks.declaration import Declaration, People, Released
from blimpworks.benchmarks.entries import Values
from blimpworks.benchmarks.files import columns_in, rows_in, with_rename_tables
from blimpworks.benchmarks.layouts import check_label_names, label_in, not_empty, number
from blimpworks.benchmarks.readers import NO_VALUE, as_text
from blimpworks.benchmarks.templates import Row, cell, comparable, is_one_of
from blimpworks.errors import UserError, few
from blimpworks.items import ALL, SIDES
from blimpworks.tables import ACCURACIES, ITEMS, read_schema, read_table, write_frame, write_rows

log = logging.getLogger(__name__)

# Perplexities of models on the authors' test texts. model: name in the released decisions; corpus:
# training corpus; seed: seed of the training. Both are null where the release does not say.
MODEL_PERPLEXITIES = read_schema(__file__, "schemas/model_perplexities.tsv")
HUMAN, RELEASED = "human", "released"
"""Values of the column ``method`` for people, whose ``model`` is the same, and for decisions."""
WRONG = ", which count as wrong"
"""End of the remark on a value that ``right`` does not list."""
LABELS = ["lang", "phenomenon", "paradigm"]
COUNTS = {
    "correct": 0.0,  # number of right choices
    "n": 1,  # number of choices
    "skipped": 0,  # number of empty cells, which are no choices
    "unknown_n": False,  # whether the number of choices is unknown; n is 1, without an interval
}
"""Default counts of a judgement."""
Judgement = dict[str, Any]
"""One choice, or the sum of several: its ``LABELS``, and counts that differ from ``COUNTS``. The
paradigm is ``all`` if people judged a phenomenon without naming paradigms."""
Phenomena = Mapping[tuple[str, str], set[str]]
"""Phenomena of items by (language, paradigm), and all phenomena by (language, ``all``)."""


def read_people(
    declaration: Path,
    files: Sequence[Path],
    sources: Path,
    benchmark: str,
    items: Sequence[Path],
    output: Path,
) -> dict[str, Any]:
    """Write people's accuracies on a declared benchmark; return counts for the provenance record.

    ``files`` lie below ``sources``. The ``items`` tables name the paradigms and phenomena. The
    column n has the number of choices, or of persons for ratings; skipped has the number of choices
    with an empty cell. Raises UserError for malformed files, and paradigms that the items lack.
    """
    declared = Declaration.read(declaration)
    phenomena: dict[tuple[str, str], set[str]] = {}
    for table in items:
        for row in read_table(ITEMS, table, LABELS).group_by(LABELS).aggregate([]).to_pylist():
            for paradigm in (row["paradigm"], ALL):
                phenomena.setdefault((row["lang"], paradigm), set()).add(row["phenomenon"])
    frames, left_out = [], Counter[str]()
    readers = {"choices": _choices, "ratings": _ratings, "accuracies": _accuracies}
    for entry, file_rows in _read_entries(declared, "people", files, sources):
        rows = _frame(readers[entry.kind](declared, entry, file_rows))
        if entry.kind == "choices" and not entry.answer:
            _check_values(file_rows, rows, entry, entry.correct or entry.headings or "")

        # In ``without`` and messages, a judgement is called by its paradigm, else its phenomenon.
        rows["unit"] = rows["phenomenon"].where(rows["paradigm"] == ALL, rows["paradigm"])
        counts = _count_left_out(rows, entry, declared)
        left_out.update(counts)
        rows = rows[~rows["unit"].isin(entry.without)]
        _check_languages(rows, declared, "people's judgements")
        frames.append(_with_phenomena_of_items(rows, phenomena, declared))
        if counts:
            listed = ", ".join(f"{unit} {n}" for unit, n in counts.items())
            log.warning("%s: judgements that 'without' leaves out: %s", declared.path, listed)
    judgements = pd.concat(frames).assign(model=HUMAN)
    for lang, of_language in judgements.groupby("lang", sort=False):
        is_phenomenon = of_language["paradigm"] == ALL
        if is_phenomenon.any() and not is_phenomenon.all():
            raise UserError(
                f"{declaration}: people judged paradigms of {lang!r} and also whole phenomena, "
                "which cannot be added up; keep the entry of one of them in 'people'."
            )
        if of_language["unknown_n"].any() and not of_language["unknown_n"].all():
            raise UserError(
                f"{declaration}: only some entries of 'people' in {lang!r} have numbers of "
                "judgements, so that they cannot be added up; name 'n' of all accuracies."
            )
    return {
        "rows": _write_accuracies(judgements, benchmark, HUMAN, output),
        "left_out": dict(left_out),
        "without_judgement": int(judgements["skipped"].sum()),
    }


def _count_left_out(rows: pd.DataFrame, entry: People, declared: Declaration) -> dict[str, int]:
    """Return the number of judgements of each unit in ``without``. UserError if a unit has none."""
    numbers = (rows["n"] + rows["skipped"]).groupby(rows["unit"]).sum()
    for unit in entry.without:
        if unit not in numbers:
            raise UserError(
                f"{declared.path}: 'without' of people names {unit!r}, which no row of "
                f"{', '.join(entry.patterns)} has; correct it."
            )
    return {unit: int(numbers[unit]) for unit in entry.without}


def _with_phenomena_of_items(
    rows: pd.DataFrame, phenomena: Phenomena, declared: Declaration
) -> pd.DataFrame:
    """Replace the phenomena of judgements by those of items. UserError if units have no items."""
    labels = zip(rows["lang"], rows["phenomenon"], rows["paradigm"], strict=True)
    names = [_phenomenon(*row_labels, phenomena) for row_labels in labels]
    rows = rows.assign(phenomenon=pd.Series(names, rows.index, dtype=object))
    if absent := [*rows["unit"][rows["phenomenon"].isna()].unique()]:
        log.error("%s: people judged what no item is of: %s", declared.path, ", ".join(absent))
        raise UserError(
            f"{declared.path}: people judged {few([*map(repr, absent)], 4)}, which no item is of; "
            "map the names to the benchmark's with 'rename', or leave them out with "
            f"'without: [{', '.join(absent[:4])}]'."
        )
    return rows


def read_released(
    declaration: Path, files: Sequence[Path], sources: Path, benchmark: str, output: Path
) -> int:
    """Write accuracies of released decisions; return how many. UserError for malformed files."""
    declared = Declaration.read(declaration)
    frames = []
    for entry, rows in _read_entries(declared, "released", files, sources):
        judgements = []
        for row in rows:
            right = _is_right(row, entry.correct, cell(row, entry.correct), entry.right)
            labels = _labels(row, entry, declared)
            paradigm, model = labels["paradigm"], not_empty(row, entry.model)
            if not labels["phenomenon"]:
                labels["phenomenon"] = declared.phenomenon_of(paradigm) or paradigm
            check_label_names(row, labels)
            judgements.append({"model": model, **labels, "correct": float(right)})
        frames.append(_frame(judgements))
        _check_values(rows, frames[-1], entry, entry.correct)
        _check_languages(frames[-1], declared, f"released decisions of {', '.join(entry.patterns)}")
    return _write_accuracies(pd.concat(frames), benchmark, RELEASED, output)


def read_perplexities(declaration: Path, files: Sequence[Path], sources: Path, output: Path) -> int:
    """Write released perplexities; return how many. UserError for malformed files."""
    perplexities = []
    declared = Declaration.read(declaration)
    for entry, rows in _read_entries(declared, "perplexities", files, sources):
        for row in rows:
            model, perplexity = not_empty(row, entry.model), number(row, entry.perplexity)
            if perplexity < 1:
                raise UserError(
                    f"{row.location}: the perplexity of {model!r} is {perplexity:g}; expected at "
                    f"least 1. Correct the file, or name another column than {entry.perplexity!r}."
                )
            perplexities.append({"model": model, "perplexity": perplexity})
    write_rows(perplexities, MODEL_PERPLEXITIES, output)
    return len(perplexities)


def _choices(declared: Declaration, entry: People, rows: list[Row]) -> Iterator[Judgement]:
    """Yield a judgement for each choice between two sentences; an empty cell is a skipped one."""
    answers: set[str] = set()  # all values of the column ``answer``
    if entry.answer:
        answers = {as_text(cell(row, entry.answer)).strip() for row in rows}
    has_choices = False
    for row in rows:
        labels = _labels(row, entry, declared)
        if entry.headings is None:
            assert entry.correct is not None
            cells = {entry.correct: cell(row, entry.correct)}
        else:
            patterns = [entry.headings]
            names = [name for name in row.cells if columns_in(patterns, name) is not None]
            cells = {name: row.cells[name] for name in names}
        for heading, value in cells.items():
            has_choices = True
            text = as_text(value).strip()
            if text and answers and not is_one_of(text, (*answers,)):
                raise UserError(
                    f"{row.location}: column {heading!r} is {value!r:.60}; expected a value of "
                    f"column {entry.answer!r} ({', '.join(sorted(answers)[:5])}). Map it with "
                    "'rename', or correct the file."
                )
            if text:
                right = (not_empty(row, entry.answer),) if entry.answer else entry.right
                yield {**labels, "correct": float(_is_right(row, heading, value, right))}
            else:
                yield {**labels, "n": 0, "skipped": 1}
    if rows and not has_choices:
        raise UserError(
            f"{declared.path}: no heading of {', '.join(entry.patterns)} fits "
            f"'headings' ({entry.headings!r}); correct it."
        )


def _accuracies(declared: Declaration, entry: People, rows: list[Row]) -> Iterator[Judgement]:
    """Yield a judgement for each row, with its accuracy; all are in percent if one is above 1."""
    assert entry.accuracy is not None
    values = [number(row, entry.accuracy) for row in rows]
    highest = 100.0 if any(value > 1 for value in values) else 1.0
    for row, value in zip(rows, values, strict=True):
        if not 0 <= value <= highest:
            raise UserError(
                f"{row.location}: the accuracy is {value:g}; expected one from 0 to 1, or in "
                f"percent. Correct the file, or {entry.accuracy!r}."
            )
        if highest > 1 and 0 < value <= 1:
            raise UserError(
                f"{row.location}: the accuracy is {value:g}, and others are up to "
                f"{max(values):g}; expected all from 0 to 1, or all in percent. Write all of them "
                "from 0 to 1."
            )
        n = number(row, entry.n) if entry.n else 1.0
        if n < 1 or not n.is_integer():
            raise UserError(
                f"{row.location}: the number of judgements ({entry.n!r}) is {n:g}; expected a "
                "whole number from 1. Correct the file, or leave such rows out with 'where'."
            )
        counts = {"correct": value / highest * n, "n": int(n), "unknown_n": not entry.n}
        yield {**_labels(row, entry, declared), **counts}


def _ratings(declared: Declaration, entry: People, rows: list[Row]) -> Iterator[Judgement]:
    """Yield a judgement for each person and paradigm, from ratings of sentences.

    ``correct`` is the share of the pairs of a good and a bad sentence in which the person rated the
    good one higher; equal ratings count half.
    """
    ratings = pd.DataFrame(_single_ratings(declared, entry, rows))
    if ratings.empty:
        raise UserError(
            f"{declared.path}: no rating is in {', '.join(entry.patterns)}; "
            f"correct 'headings' ({entry.headings!r}) and 'header_row', or 'side' and 'rating'."
        )
    unpaired = 0
    for (_, *labels), group in ratings.groupby(["person", *LABELS], sort=False):
        good, bad = (group["value"][group["side"] == side].to_numpy() for side in SIDES)
        if not len(good) or not len(bad):
            unpaired += len(group)
            continue
        # Few persons rate both sentences of a pair, so compare all good with all bad sentences.
        margins = good[:, None] - bad[None, :]
        share = float((margins > 0).mean() + 0.5 * (margins == 0).mean())
        yield {**dict(zip(LABELS, labels, strict=True)), "correct": share}
    patterns = ", ".join(entry.patterns)
    if unpaired == len(ratings):
        raise UserError(
            f"{declared.path}: in {patterns} no person rated good and bad "
            "sentences of a paradigm; name the column that identifies the person as 'person'."
        )
    if unpaired:
        message = "%s: ratings of persons who rated only good, or only bad sentences: %d of %d"
        log.warning(message, patterns, unpaired, len(ratings))


def _single_ratings(declared: Declaration, entry: People, rows: list[Row]) -> Iterator[Judgement]:
    """Yield each person's rating of each sentence, from rows with one or several ratings."""
    # The reader has renamed the values of cells, but not values that are part of headings.
    entry = with_rename_tables(entry, declared.folder)
    for row in rows:
        person = not_empty(row, entry.person) if entry.person else row.location
        ratings: list[dict[str, Any]] = []
        if entry.headings is None:
            assert entry.side is not None
            assert entry.rating is not None
            ratings.append({"side": cell(row, entry.side), "rating": cell(row, entry.rating)})
        else:
            # Headings may be repeated, so cell "" has pairs of all headings and values.
            for heading, value in row.cells[""]:
                columns = columns_in([entry.headings], as_text(heading).strip())
                if columns is None or not as_text(value).strip():
                    continue
                for column, old_value in columns.items():
                    new_values = entry.rename.get(column)
                    if isinstance(new_values, Mapping):
                        columns[column] = new_values.get(old_value, old_value)
                ratings.append({**columns, "rating": value})
        for cells in ratings:
            rating = replace(row, cells={**row.cells, **cells})
            side = as_text(rating.cells["side"]).strip()
            if side not in SIDES:
                raise UserError(
                    f"{row.location}: the side of a rating is {side!r}; expected good or bad. Map "
                    "the values with 'rename', or correct 'headings'."
                )
            labels = _labels(rating, entry, declared)
            yield {"person": person, **labels, "side": side, "value": number(rating, "rating")}


def _phenomenon(lang: str, phenomenon: str, paradigm: str, of_items: Phenomena) -> str | None:
    """Return the phenomenon in items of the judgement's paradigm; None if there are no such items.

    The judgement itself may have "". Raises UserError if items have several phenomena.
    """
    # A language without items has nothing to compare the labels with.
    if (lang, ALL) not in of_items:
        return phenomenon or paradigm
    phenomena = of_items.get((lang, paradigm), set())
    if phenomenon in phenomena:
        return phenomenon
    if paradigm == ALL or not phenomena:
        return None
    if len(phenomena) > 1:
        raise UserError(
            f"people judged paradigm {paradigm!r}, which items have in the phenomena "
            f"{', '.join(sorted(phenomena))}; name the column that tells them apart as "
            "'phenomenon' of the entry in 'people'."
        )
    return min(phenomena)  # the only one


def _frame(judgements: Iterable[Judgement]) -> pd.DataFrame:
    rows = [COUNTS | judgement for judgement in judgements]
    return pd.DataFrame(rows, columns=["model", *LABELS, *COUNTS])


def _check_values(
    rows: Sequence[Row], judgements: pd.DataFrame, entry: People | Released, column: str
) -> None:
    """Raise UserError if no judgement is right; warn if several values mean a wrong judgement."""
    notes = rows[0].account.notes if rows else {}  # rows of an entry share its account
    wrong = {note: n for note, n in notes.items() if note.endswith(WRONG)}
    if len(wrong) > 1:
        counts = ", ".join(f"{note}: {n:,}" for note, n in wrong.items())
        log.warning("%s: %s. Name in 'right' those that are right.", rows[0].account.entry, counts)
    if len(judgements) and not judgements["correct"].any():
        raise UserError(
            f"{', '.join(entry.patterns)}: no value of {column!r} is one of 'right' "
            f"({', '.join(map(repr, entry.right))}); list there the values of right judgements."
        )


def _check_languages(judgements: pd.DataFrame, declared: Declaration, noun: str) -> None:
    for lang in judgements["lang"]:
        if lang not in declared.languages:
            raise UserError(
                f"{declared.path}: {noun} are of language {lang!r}, and the benchmark has "
                f"{', '.join(declared.languages)}; name the column of the language as 'lang', map "
                "its values with 'rename', or add the language."
            )


def _is_right(row: Row, column: str, value: object, right: Values) -> bool:
    """Tell whether a cell's value is one of ``right``; count other values in a remark."""
    if as_text(value).strip().casefold() in NO_VALUE:
        raise UserError(
            f"{row.location}: column {column!r} is {value!r}, which is no judgement; leave such "
            "rows out with 'where', or map the value with 'rename'."
        )
    is_right = is_one_of(value, right)
    if not is_right:
        row.account.notes[f"{column!r} {comparable(value)!r}{WRONG}"] += 1
    return is_right


def _write_accuracies(judgements: pd.DataFrame, benchmark: str, method: str, output: Path) -> int:
    """Write accuracies of paradigms, phenomena and languages, with intervals; return how many."""
    if judgements.empty:
        raise UserError(
            f"{benchmark}: the files of {'people' if method == HUMAN else method} have no rows; "
            "retrieve them again, or correct 'where' and 'files' of their entry."
        )
    # Judgements of paradigm "all" are of a whole phenomenon already.
    of_phenomena = judgements[judgements["paradigm"] != ALL].assign(paradigm=ALL)
    of_languages = judgements.assign(paradigm=ALL, phenomenon=ALL)
    rows = (
        pd.concat([judgements, of_phenomena, of_languages])
        .groupby(["model", *LABELS], sort=False, as_index=False)
        .agg({"correct": "sum", "n": "sum", "skipped": "sum", "unknown_n": "any"})
    )
    rows = rows[rows["n"] > 0].reset_index(drop=True)
    rows["accuracy"] = rows["correct"] / rows["n"]
    bounds = [wilson(correct, n) for correct, n in zip(rows["correct"], rows["n"], strict=True)]
    rows["low"] = [low for low, _ in bounds]
    rows["high"] = [high for _, high in bounds]
    rows.loc[rows["unknown_n"], ["low", "high"]] = None
    # Columns of the schema that people and released decisions have no values for.
    constants = {"ties": 0, "near_ties": 0, "rounding": None, "origin": None}
    frame = rows.assign(benchmark=benchmark, method=method, **constants)
    write_frame(frame, ACCURACIES, output)
    return len(frame)


def _read_entries(
    declared: Declaration, key: str, files: Sequence[Path], sources: Path
) -> Iterator[tuple[Any, list[Row]]]:
    """Yield the entries under a key, with their rows; log how many were left out and why."""
    named = named_files(declared, files, sources)
    for index, entry in enumerate(getattr(declared, key)):
        account = Account(f"{declared.path}: key {key}.{index}")
        rows = rows_in(entry, named, declared.folder, account)
        for counts in filter(None, (account.left_out, account.notes)):
            log.info("%s: %s", account.entry, dict(counts))
        yield entry, rows


def _labels(row: Row, entry: People | Released, declared: Declaration) -> dict[str, str]:
    """Return a row's language, phenomenon (empty without one) and paradigm."""
    lang = label_in(row, entry.lang, "lang") or declared.only_language or ""
    if entry.paradigm:
        paradigm = not_empty(row, entry.paradigm)
    else:
        paradigm = as_text(row.cells.get("paradigm")).strip()
    column = entry.phenomenon if isinstance(entry, People) else None
    if isinstance(entry, People) and paradigm and not column:
        # The items name the phenomenon of a paradigm, so that the cell may be empty.
        phenomenon = as_text(row.cells.get("phenomenon")).strip()
    else:
        phenomenon = label_in(row, column, "phenomenon")
    if not paradigm and phenomenon:
        paradigm = ALL  # people judged the phenomenon as a whole
    elif not paradigm:
        paradigm = label_in(row, None, "paradigm") or PurePosixPath(row.file).stem
    return {"lang": lang, "phenomenon": phenomenon, "paradigm": paradigm}
