"""Turn rows of files into items of several conditions, which predictions judge.

Each condition of an item is a sentence with named regions (spans of characters). A prediction
compares the surprisals that a model gives to regions. An item with two conditions::

    match      The dog | barks.     regions: subject, verb
    mismatch   The dog | bark.
    prediction (verb;%match%) < (verb;%mismatch%)

``conditions``, ``designs``, ``suites`` and ``alternatives`` each yield ``Design`` from the rows of
one layout of files; ``build.py`` calls the function that a declaration's ``layout`` names. Source:
Gauthier, Hu, Wilcox, Qian and Levy (2020), "SyntaxGym: An Online Platform for Targeted Evaluation
of Language Models", section 2, and the format of its files.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from blimpworks.benchmarks import entries
from blimpworks.benchmarks.declaration import Declaration
from blimpworks.benchmarks.layouts import Item, item_key, joiner_in, labels_of, region_in, text
from blimpworks.benchmarks.predictions import WHOLE, Effect, Formula, Prediction, Region
from blimpworks.benchmarks.readers import as_text
from blimpworks.benchmarks.templates import Row, Rows, Span, cell, comparable, strip
from blimpworks.errors import UserError
from blimpworks.files import load_json
from blimpworks.items import APART

SENTENCE, CRITICAL, OPTION = "sentence", "critical", "option"
"""Names of regions in layouts without columns of regions: the full sentence, its critical region,
and an option after its context."""
RIGHT = "right"
"""Name of the condition with the right option."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A sentence of an item, with its regions."""

    name: str
    row: Row
    sentence: str
    regions: tuple[str, ...]
    spans: tuple[Span, ...]
    """Span of each region; an empty region is at the end of the one before."""
    texts: tuple[str, ...] = ()
    """Texts that were joined to the sentence; empty if one column has the whole sentence."""

    @classmethod
    def joined(
        cls, name: str, row: Row, regions: tuple[str, ...], texts: tuple[str, ...], joined_by: str
    ) -> "Condition":
        """Make a condition by joining the texts of its regions, which may be empty.

        The texts "It", "" and "rains." make "It rains." with the spans (0, 2), (2, 2) and (3, 9).
        """
        spans, sentence = [], ""
        for region_text in texts:
            if region_text and sentence:
                sentence += joined_by
            start = len(sentence)
            sentence += region_text
            spans.append((start, len(sentence)))
        return cls(name, row, sentence, regions, tuple(spans), texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Design(Item):
    """An item of several conditions, with the formulas of its predictions and effects."""

    conditions: tuple[Condition, ...]
    predictions: tuple[str, ...]
    right: str = "all"
    """``all``: the item counts 1 if all predictions hold. ``mean``: it counts their share."""
    effects: Mapping[str, str] = field(default_factory=dict)
    """Formula of each effect (a sum of surprisals), keyed by the effect's name."""

    @property
    def sentences(self) -> list[str]:
        return [*dict.fromkeys(condition.sentence for condition in self.conditions)]


def conditions(rows: Rows, data: entries.Conditions, declared: Declaration) -> Iterator[Design]:
    """Yield items from rows that have one condition each, or one region of a condition each."""
    items: dict[tuple[str, ...], dict[str, list[Row]]] = {}  # {key of item: {condition: rows}}
    for row in rows:
        rows_by_condition = items.setdefault(item_key(row, data, data.item), {})
        condition_name = as_text(cell(row, data.condition)).strip()
        rows_by_condition.setdefault(condition_name, []).append(row)
    for key, rows_by_condition in items.items():
        group = []
        for name, condition_rows in rows_by_condition.items():
            group.append(_condition(name, condition_rows, data, declared))
        yield _make_design(group, key[-1], data, declared)


def _condition(
    name: str, rows: Sequence[Row], data: entries.Conditions, declared: Declaration
) -> Condition:
    if data.region and data.content:
        regions = tuple(as_text(cell(row, data.region)).strip() for row in rows)
        texts = tuple(strip(row, data.content, as_text(cell(row, data.content))) for row in rows)
    else:
        if len(rows) > 1:
            raise UserError(
                f"{rows[1].location}: condition {name!r} of the item is in {len(rows)} rows; "
                "expected one. Correct 'item' and 'condition', or name 'region' and 'content'."
            )
        regions = data.regions
        texts = tuple(strip(rows[0], column, as_text(cell(rows[0], column))) for column in regions)
    if not any(texts):
        raise UserError(f"{rows[0].location}: condition {name!r} has no text; expected some.")
    return Condition.joined(name, rows[0], regions, texts, joiner_in(rows[0], data, declared))


def designs(rows: Rows, data: entries.Designs, declared: Declaration) -> Iterator[Design]:
    """Yield an item from each row, which has a column for each condition's sentence."""
    for row in rows:
        group = []
        for name, (context_column, word_column) in data.apart.items():
            is_empty = not as_text(cell(row, context_column)).strip()
            if is_empty and context_column in row.account.allow_empty:
                continue
            context, word = text(row, context_column), text(row, word_column)
            sentence = f"{context}{APART}{word}"
            span = (len(sentence) - len(word), len(sentence))
            group.append(Condition(name, row, sentence, (CRITICAL,), (span,)))
        for name, column in data.sentences.items():
            # A template (no column of the row) is filled only if its columns may be empty.
            may_be_empty = column in row.account.allow_empty or column not in row.cells
            if may_be_empty and not as_text(cell(row, column)).strip():
                continue
            sentence = text(row, column)
            regions = {SENTENCE: (0, len(sentence))}
            if name in data.critical:
                regions[CRITICAL] = region_in(row, sentence, data.critical[name])
            group.append(Condition(name, row, sentence, (*regions,), (*regions.values(),)))
        if not group:
            raise UserError(
                f"{row.location}: no condition has a sentence; expected one or more. Correct the "
                "file, or 'allow_empty'."
            )
        # Leave out effects that name a condition which the item lacks.
        names = {condition.name for condition in group}
        effects = {}
        for name, formula in data.effects.items():
            if {condition for _, condition in Effect.parse(formula).regions} <= names:
                effects[name] = formula
        entry = data.model_copy(update={"effects": effects})
        yield _make_design(group, labels_of(row, data, declared)["id"], entry, declared)


def suites(rows: Rows, data: entries.Suites, declared: Declaration) -> Iterator[Design]:
    """Yield the items of SyntaxGym's test suites. UserError for a row that is no suite.

    A suite is JSON such as ::

        {"meta": {"name": ...}, "predictions": [{"formula": "(2;%match%) < (2;%mismatch%)"}],
         "items": [{"item_number": 1, "conditions": [
           {"condition_name": "match", "regions": [{"region_number": 1, "content": "The dog"}]}]}]}
    """
    for row in rows:
        formulas, records = data.predictions, row.cells.get("predictions")
        if not formulas and isinstance(records, list):
            texts = [record.get("formula") for record in records if isinstance(record, dict)]
            # Without the prediction that lacks a formula, items would be easier.
            if all(texts) and len(texts) == len(records):
                formulas = tuple(map(str, texts))
        items = row.cells.get("items")
        if not formulas or not isinstance(items, list) or not items:
            raise UserError(
                f"{row.location} is no test suite; expected 'items', and 'predictions' that each "
                "have a formula. Correct the file, or 'layout'."
            )
        entry = data.model_copy(update={"predictions": formulas})
        # The paradigm is the suite's name, unless the pattern of files has a column for it.
        name_cell = {"paradigm": row.cells.get("meta.name") or PurePosixPath(row.file).stem}
        for number, item in enumerate(items, start=1):
            # The locations of items have the item's number, as a suite has no lines.
            item_row = replace(row, cells={**name_cell, **row.cells}, line=number)
            condition_records = item.get("conditions") if isinstance(item, Mapping) else None
            if not isinstance(condition_records, list) or not condition_records:
                raise UserError(
                    f"{item_row.location}: the item is {item!r:.60}; expected one with a list of "
                    "'conditions'. Correct the file."
                )
            joiner = joiner_in(item_row, data, declared)
            group = [_suite_condition(item_row, record, joiner) for record in condition_records]
            yield _make_design(group, str(item.get("item_number", number)), entry, declared)


def _suite_condition(row: Row, record: Any, joiner: str) -> Condition:
    try:
        name = record["condition_name"]
        regions = tuple(str(region["region_number"]) for region in record["regions"])
        texts = tuple(strip(row, "content", region["content"]) for region in record["regions"])
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{row.location}: a condition of the item has no {error}; expected condition_name, "
            "and regions with region_number and content. Correct the file."
        ) from error
    return Condition.joined(name, row, regions, texts, joiner)


def _make_design(
    group: Sequence[Condition], name: str, data: entries.Predictions, declared: Declaration
) -> Design:
    """Make an item. Raises UserError if its conditions lack a region of its formulas."""
    row = group[0].row
    labels = {**labels_of(row, data, declared), "id": name}
    predictions = data.predictions
    if isinstance(predictions, Mapping):
        if labels["paradigm"] not in predictions:
            raise UserError(
                f"{row.location}: the paradigm {labels['paradigm']!r} has no predictions; those "
                f"that have some are {', '.join(predictions)}. Add it to 'predictions'."
            )
        predictions = predictions[labels["paradigm"]]
    names = [condition.name for condition in group]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise UserError(
            f"{row.location}: item {name!r} has the condition {repeated[0]!r} twice; expected "
            "distinct ones. Correct the file, or 'item' and 'condition'."
        )
    spans: dict[Region, Span] = {}
    for condition in group:
        regions = condition.regions
        if repeated := [region for region in regions if regions.count(region) > 1]:
            raise UserError(
                f"{row.location}: condition {condition.name!r} of item {name!r} has the region "
                f"{repeated[0]!r} twice; correct the file, or 'item' and 'region'."
            )
        for region, span in zip(regions, condition.spans, strict=True):
            spans[region, condition.name] = span
    formulas: list[Formula] = []
    try:
        formulas += map(Prediction.parse, predictions)
        formulas += map(Effect.parse, data.effects.values())
    except UserError as error:
        raise UserError(f"{row.location}: {error}") from error
    for formula in formulas:
        lacking = formula.regions - spans.keys() - {(WHOLE, condition) for condition in names}
        if lacking:
            region, lacking_condition = min(lacking)
            listed = ", ".join(dict.fromkeys(region for region, _ in spans))
            raise UserError(
                f"{row.location}: {type(formula).__name__.lower()} {formula.text!r} names region "
                f"{region!r} of condition {lacking_condition!r}, which item {name!r} lacks; it has "
                f"the conditions {', '.join(names)} and the regions {listed}. Correct the formula "
                "or the item."
            )
    compared_regions = frozenset().union(*(formula.regions for formula in formulas))
    if any(start == end for key, (start, end) in spans.items() if key in compared_regions):
        note = "items with an empty region in a prediction or effect, whose surprisal is 0"
        row.account.notes[note] += 1
    return Design(
        conditions=tuple(group),
        predictions=predictions,
        right=data.right,
        effects=data.effects,
        **labels,
    )


def alternatives(rows: Rows, data: entries.Alternatives, declared: Declaration) -> Iterator[Design]:
    """Yield an item from each row, which has several options.

    The conditions are ``right``, ``wrong 1`` and so on, each with one option after the row's
    context. Predictions such as ``(*;%right%) < (*;%wrong 1%)`` expect a lower surprisal of the
    right option. Raises UserError for a row without a right option, or without a wrong one.
    """
    region = WHOLE if data.compared == "sentence" else OPTION
    for row in rows:
        texts = _option_texts(row, data)
        right = _right_position(row, data.right, texts)
        labels = labels_of(row, data, declared)
        wrong = [option for number, option in enumerate(texts) if option and number != right]
        if texts[right] in wrong:
            row.account.notes["items with a wrong option equal to the right one, a tie"] += 1
        if not wrong:
            raise UserError(
                f"{row.location} has one option, {texts[right]!r}; expected two or more. Correct "
                "the file, or 'options' and 'split_by'."
            )
        context = ""
        if data.context:
            may_be_empty = data.context in row.account.allow_empty
            if not may_be_empty or as_text(cell(row, data.context)).strip():
                context = text(row, data.context) + joiner_in(row, data, declared)
        options = {RIGHT: texts[right]}
        options |= {f"wrong {number}": option for number, option in enumerate(wrong, start=1)}
        labels["more"] = {**labels["more"], "alternatives": len(options)}
        group = []
        for name, option in options.items():
            sentence = context + option
            spans = ((0, len(sentence)), (len(context), len(sentence)))
            group.append(Condition(name, row, sentence, (SENTENCE, OPTION), spans))
        predictions = tuple(
            f"({region};%{RIGHT}%) < ({region};%{name}%)" for name in options if name != RIGHT
        )
        yield Design(conditions=tuple(group), predictions=predictions, **labels)


def _option_texts(row: Row, data: entries.Alternatives) -> list[str]:
    """Return the options' texts, "" for an absent option. UserError for a value that is no text."""
    if isinstance(data.options, str):
        values = [*_list_in(row, data.options, data.split_by)]
        columns = (data.options,) * len(values)
    else:
        columns = data.options
        values = [cell(row, column) for column in columns]
    texts = []
    for number, (column, value) in enumerate(zip(columns, values, strict=True), start=1):
        is_empty = not as_text(value).strip()  # no option: some rows have fewer than others
        is_valid = column in row.account.allow_empty if is_empty else isinstance(value, str)
        if not is_valid:
            raise UserError(
                f"{row.location}: option {number} (column {column!r}) is {value!r:.60}; expected "
                f"text. Correct the file, or add 'allow_empty: [{column}]' if a row may lack it."
            )
        texts.append(strip(row, column, as_text(value)))
    return texts


def _list_in(row: Row, column: str, separator: str | None) -> Sequence[object]:
    """Return the list in a cell, which is a list, a JSON list as text, or text with separators.

    A column ``choices.*.text`` means the field ``text`` of each record in ``choices``.
    """
    name, _, field_name = column.partition(".*.")
    value = cell(row, name)
    if separator and isinstance(value, str):
        return value.split(separator)
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            value = load_json(value)
    if separator or not isinstance(value, list):
        expected = f"text with {separator!r}" if separator else "a list"
        raise UserError(
            f"{row.location}: column {column!r} is {value!r:.60}; expected {expected}. Name the "
            "separator of options as 'split_by', or a column for each option in 'options'."
        )
    if field_name:
        return [record.get(field_name) if isinstance(record, dict) else None for record in value]
    return value


def _right_position(row: Row, right: entries.Answer | str, options: Sequence[str]) -> int:
    """Return the position of the right option, from 0. Raises UserError for none or several."""
    if isinstance(right, str):
        column, answer, names = right, text(row, right), [*options]
    elif right.labels is None:
        column, answer = right.column, comparable(cell(row, right.column))
        names = [str(right.counts_from + position) for position in range(len(options))]
    else:
        column, answer = right.column, as_text(cell(row, right.column)).strip()
        labels = right.labels
        listed = _list_in(row, labels, None) if isinstance(labels, str) else labels
        names = [as_text(label).strip() for label in listed][: len(options)]
    positions = [n for n, name in enumerate(names) if name == answer and options[n]]
    if len(positions) != 1:
        raise UserError(
            f"{row.location}: {column!r} is {cell(row, column)!r:.60}, which fits {len(positions)} "
            f"of the options {', '.join(map(repr, names))}; expected one. Correct it, or 'right'."
        )
    return positions[0]
