"""Make items of rows with several options, one of them right: a condition for each option."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from blimpworks.benchmarks.designs import SENTENCE, WHOLE, Condition, Design
from blimpworks.benchmarks.entries import Alternatives, Answer
from blimpworks.benchmarks.layouts import Naming, text
from blimpworks.benchmarks.readers import as_text
from blimpworks.benchmarks.templates import Row, cell, compared
from blimpworks.errors import UserError
from blimpworks.json_files import load_json

OPTION, RIGHT = "option", "right"
"""Region of an option in its sentence, and condition of the right one."""


def alternatives(rows: Iterable[Row], data: Alternatives, naming: Naming) -> Iterator[Design]:
    """Make an item of each row, in which the right option must be better than each other one.

    Raises UserError for a row without a right option, or without a wrong one.
    """
    region = WHOLE if data.compared == "sentence" else OPTION
    for row in rows:
        if isinstance(data.options, str):
            values = [*_listed(row, data.options, data.split_by)]
            columns = (data.options,) * len(values)
        else:
            columns = data.options
            values = [cell(row, column) for column in columns]
        for number, (column, value) in enumerate(zip(columns, values, strict=True), start=1):
            lacks = not as_text(value).strip()
            is_allowed = column in row.rules.allow_empty if lacks else isinstance(value, str)
            if not is_allowed:
                raise UserError(
                    f"{row.place}: option {number} (column {column!r}) is {value!r:.60}; expected "
                    f"text. Correct the file, or add 'allow_empty: [{column}]' where options can "
                    "lack."
                )
        texts = [as_text(value).strip() for value in values]
        right = _position(row, data.right, texts)
        labels = naming.labels(row, data)
        wrong = [option for n, option in enumerate(texts) if option and n != right]
        if texts[right] in wrong:
            row.account.notes["items with a wrong option like the right one, a tie"] += 1
        if not wrong:
            raise UserError(
                f"{row.place} has one option, {texts[right]!r}; expected two or more. Correct "
                "the file, or 'options' and 'split_by'."
            )
        start = ""
        if data.context and not (
            data.context in row.rules.allow_empty and not as_text(cell(row, data.context)).strip()
        ):
            start = text(row, data.context) + naming.joiner(row, labels["lang"], data.joined_by)
        options = {RIGHT: texts[right]} | {f"wrong {n}": o for n, o in enumerate(wrong, start=1)}
        labels["more"] = {**labels["more"], "alternatives": len(options)}
        yield Design(
            conditions=tuple(
                Condition(
                    name,
                    (SENTENCE, OPTION),
                    (start + option,),
                    "",
                    row,
                    ((0, len(start + option)), (len(start), len(start + option))),
                )
                for name, option in options.items()
            ),
            predictions=tuple(
                f"({region};%{RIGHT}%) < ({region};%{name}%)" for name in options if name != RIGHT
            ),
            **labels,
        )


def _listed(row: Row, column: str, separator: str | None) -> Sequence[object]:
    """Return a cell's list, from JSON too, or its parts between separators."""
    name, _, field = column.partition(".*.")
    value = cell(row, name)
    if separator and isinstance(value, str):
        return value.split(separator)
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            value = load_json(value)
    if separator or not isinstance(value, list):
        expected = f"text with {separator!r}" if separator else "a list"
        raise UserError(
            f"{row.place}: column {column!r} is {value!r:.60}; expected {expected}. Say what "
            "stands between options with 'split_by', or name a column for each in 'options'."
        )
    return (
        [each.get(field) if isinstance(each, dict) else None for each in value] if field else value
    )


def _position(row: Row, right: Answer | str, options: Sequence[str]) -> int:
    """Return the position of the right option, from 0. Raises UserError for none or several."""
    if isinstance(right, str):
        column, names, answer = right, [*options], text(row, right)
    else:
        column, answer = right.column, as_text(cell(row, right.column)).strip()
        answer = compared(answer) if right.labels is None else answer
        names = [str(n) for n in range(right.counts_from, right.counts_from + len(options))]
        if right.labels is not None:
            labels = right.labels
            listed = _listed(row, labels, None) if isinstance(labels, str) else labels
            names = [as_text(label).strip() for label in listed][: len(options)]
    positions = [n for n, name in enumerate(names) if name == answer and options[n]]
    if len(positions) != 1:
        raise UserError(
            f"{row.place}: {column!r} is {cell(row, column)!r:.60}, which is {len(positions)} of "
            f"the options' {', '.join(map(repr, names))}; expected one. Correct 'right', or the "
            "file."
        )
    return positions[0]
