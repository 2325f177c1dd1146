"""Turn rows of files into items of several conditions, each with a sentence of several regions.

Source of test suites: Gauthier, Hu, Wilcox, Qian and Levy (2020), "SyntaxGym: An Online Platform
for Targeted Evaluation of Language Models", section 2, and the format of their files.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from blimpworks.benchmarks import entries
from blimpworks.benchmarks.declaration import Declaration
from blimpworks.benchmarks.layouts import Item, item_key, joiner_in, labels_of, region_in, text
from blimpworks.benchmarks.predictions import WHOLE, Effect, Formula, Prediction, Region
from blimpworks.benchmarks.readers import as_text
from blimpworks.benchmarks.templates import Row, Rows, cell, compared
from blimpworks.errors import UserError
from blimpworks.files import load_json
from blimpworks.items import APART

OPTION, RIGHT = "option", "right"
"""Region of an option in its sentence, and condition with the right option."""
SENTENCE, CRITICAL = "sentence", "critical"
"""Regions of sentences without declared regions."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A sentence of an item, with names and texts of its regions; texts may be empty."""

    name: str
    regions: tuple[str, ...]
    texts: tuple[str, ...]
    joined_by: str
    row: Row
    spans: tuple[tuple[int, int], ...] = ()
    """Half-open spans of the regions in characters, unless the sentence joins their texts."""

    @property
    def sentence(self) -> str:
        """Text of the sentence."""
        return self.joined_by.join(filter(None, self.texts)) if not self.spans else self.texts[0]

    def region_spans(self) -> list[tuple[int, int]]:
        """Return each region's half-open span of characters; empty ones follow the one before."""
        if self.spans:
            return [*self.spans]
        spans = []
        end = 0
        for region_text in self.texts:
            start = end + len(self.joined_by) if region_text and end else end
            end = start + len(region_text)
            spans.append((start, end))
        return spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Design(Item):
    """An item of several conditions, with predictions that must hold."""

    conditions: tuple[Condition, ...]
    predictions: tuple[str, ...]
    right: str = "all"
    """``all`` if all predictions must hold, ``mean`` if the share that holds counts."""
    effects: Mapping[str, str] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """Distinct sentences."""
        return [*dict.fromkeys(condition.sentence for condition in self.conditions)]


def _design(
    conditions: Sequence[Condition], name: str, data: entries.Predictions, declared: Declaration
) -> Design:
    """Make an item. Raises UserError if its conditions lack a region of its formulas."""
    first = conditions[0].row
    location = first.place
    labels = {**labels_of(first, data, declared), "id": name}
    predictions = data.predictions
    if isinstance(predictions, Mapping):
        if labels["paradigm"] not in predictions:
            raise UserError(
                f"{location}: the paradigm {labels['paradigm']!r} has no predictions; those that "
                f"have some are {', '.join(predictions)}. Add it to 'predictions'."
            )
        predictions = predictions[labels["paradigm"]]
    design = Design(
        conditions=tuple(conditions),
        predictions=predictions,
        right=data.right,
        effects=data.effects,
        **labels,
    )
    names = [condition.name for condition in conditions]
    if twice := _repeated(names):
        raise UserError(
            f"{location}: item {design.id!r} has the condition {twice[0]!r} twice; expected "
            "distinct ones. Correct the file, or 'item' and 'condition'."
        )
    spans: dict[Region, tuple[int, int]] = {}
    for condition in conditions:
        if twice := _repeated(condition.regions):
            raise UserError(
                f"{location}: condition {condition.name!r} of item {design.id!r} has the region "
                f"{twice[0]!r} twice; expected distinct ones. Correct the file, or 'item' and "
                "'region'."
            )
        for region, span in zip(condition.regions, condition.region_spans(), strict=True):
            spans[region, condition.name] = span
    formulas: list[Formula] = []
    try:
        formulas += map(Prediction.parse, design.predictions)
        formulas += map(Effect.parse, design.effects.values())
    except UserError as error:
        raise UserError(f"{location}: {error}") from error
    for formula in formulas:
        lacking = formula.regions - spans.keys() - {(WHOLE, name) for name in names}
        if lacking:
            region, name = min(lacking)
            regions = dict.fromkeys(region for region, _ in spans)
            raise UserError(
                f"{location}: {type(formula).__name__.lower()} {formula.text!r} names region "
                f"{region!r} of condition {name!r}, which item {design.id!r} lacks; it has the "
                f"conditions {', '.join(names)} and the regions {', '.join(regions)}. Correct one "
                "of them."
            )
    named = frozenset().union(*(formula.regions for formula in formulas))
    if any(start == end for key, (start, end) in spans.items() if key in named):
        note = "items with an empty region in a prediction or effect, whose surprisal is 0"
        first.account.notes[note] += 1
    return design


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name in names if names.count(name) > 1]


def conditions(rows: Rows, data: entries.Conditions, declared: Declaration) -> Iterator[Design]:
    """Yield items from rows that have one condition each, or one region of a condition each."""
    items: dict[tuple[str, ...], dict[str, list[Row]]] = {}
    for row in rows:
        key = item_key(row, data, data.item)
        name = as_text(cell(row, data.condition)).strip()
        items.setdefault(key, {}).setdefault(name, []).append(row)
    for (*_, name), by_condition in items.items():
        group = [_condition(*entry, data, declared) for entry in by_condition.items()]
        yield _design(group, name, data, declared)


def _condition(
    name: str, rows: Sequence[Row], data: entries.Conditions, declared: Declaration
) -> Condition:
    if data.region and data.content:
        regions = tuple(as_text(cell(row, data.region)).strip() for row in rows)
        texts = tuple(as_text(cell(row, data.content)).strip() for row in rows)
    else:
        if len(rows) > 1:
            raise UserError(
                f"{rows[1].place}: condition {name!r} of the item stands in {len(rows)} rows; "
                "expected one. Correct 'item' and 'condition', or give 'region' and 'content'."
            )
        regions = data.regions
        texts = tuple(as_text(cell(rows[0], column)).strip() for column in regions)
    if not any(texts):
        raise UserError(f"{rows[0].place}: condition {name!r} has no text; expected some.")
    joiner = joiner_in(rows[0], data, declared)
    return Condition(name, regions, texts, joiner, rows[0])


def designs(rows: Rows, data: entries.Designs, declared: Declaration) -> Iterator[Design]:
    """Yield an item from each row, which has a column for each condition's sentence."""
    for row in rows:
        group = []
        for name, (before, after) in data.apart.items():
            context = as_text(cell(row, before)).strip()
            if not context and before in row.account.allow_empty:
                continue
            context, word = text(row, before), text(row, after)
            sentence = f"{context}{APART}{word}"
            span = (len(sentence) - len(word), len(sentence))
            group.append(Condition(name, (CRITICAL,), (sentence,), "", row, (span,)))
        for name, column in data.sentences.items():
            # A template can only be blank if its columns may be empty.
            may_lack = column in row.account.allow_empty or column not in row.cells
            if may_lack and not as_text(cell(row, column)).strip():
                continue
            sentence = text(row, column)
            regions: dict[str, tuple[int, int]] = {SENTENCE: (0, len(sentence))}
            if name in data.critical:
                end = len(sentence)
                regions[CRITICAL] = region_in(row, sentence, data.critical[name], (end, end))
            texts, spans = (sentence,), tuple(regions.values())
            group.append(Condition(name, tuple(regions), texts, " ", row, spans))
        names = {condition.name for condition in group}
        effects = {
            name: formula
            for name, formula in data.effects.items()
            if all(condition in names for _, condition in Effect.parse(formula).regions)
        }
        entry = data.model_copy(update={"effects": effects})
        yield _design(group, labels_of(row, data, declared)["id"], entry, declared)


def suites(rows: Rows, data: entries.Suites, declared: Declaration) -> Iterator[Design]:
    """Yield the items of SyntaxGym's test suites, a suite per row. UserError for another record."""
    for row in rows:
        stated = row.cells.get("predictions")
        formulas = data.predictions or tuple(
            str(prediction["formula"])
            for prediction in (stated if isinstance(stated, list) else ())
            if isinstance(prediction, dict) and prediction.get("formula")
        )
        if not formulas or not isinstance(row.cells.get("items"), list) or not row.cells["items"]:
            raise UserError(
                f"{row.place} is no test suite; expected 'items' and 'predictions' with formulas. "
                "Correct the file, or 'layout'."
            )
        entry = data.model_copy(update={"predictions": formulas})
        # The paradigm is the suite's name, unless the pattern of files has a column for it.
        name_cell = {"paradigm": row.cells.get("meta.name") or PurePosixPath(row.file).stem}
        for number, item in enumerate(row.cells["items"], start=1):
            record = replace(row, cells={**name_cell, **row.cells}, line=number)
            if not isinstance(item, Mapping) or not isinstance(item.get("conditions"), list):
                raise UserError(
                    f"{record.place}: the item is {item!r:.60}; expected one with a list of "
                    "'conditions'. Correct the file."
                )
            joiner = joiner_in(record, data, declared)
            group = []
            for condition in item["conditions"]:
                try:
                    name = condition["condition_name"]
                    listed = condition["regions"]
                    regions = tuple(str(region["region_number"]) for region in listed)
                    texts = tuple(region["content"].strip() for region in listed)
                except (KeyError, TypeError, AttributeError) as error:
                    raise UserError(
                        f"{record.place}: a condition of the item has no {error}; expected "
                        "condition_name, and regions with region_number and content. Correct the "
                        "file."
                    ) from error
                group.append(Condition(name, regions, texts, joiner, record))
            yield _design(group, str(item.get("item_number", number)), entry, declared)


def alternatives(rows: Rows, data: entries.Alternatives, declared: Declaration) -> Iterator[Design]:
    """Yield an item from each row, with a prediction per wrong option: the right one is better.

    Raises UserError for a row without a right option, or without a wrong one.
    """
    region = WHOLE if data.compared == "sentence" else OPTION
    for row in rows:
        if isinstance(data.options, str):
            values = [*_list_in(row, data.options, data.split_by)]
            columns = (data.options,) * len(values)
        else:
            columns = data.options
            values = [cell(row, column) for column in columns]
        for number, (column, value) in enumerate(zip(columns, values, strict=True), start=1):
            valid = isinstance(value, str)
            if not as_text(value).strip():
                valid = column in row.account.allow_empty
            if not valid:
                raise UserError(
                    f"{row.place}: option {number} (column {column!r}) is {value!r:.60}; expected "
                    f"text. Correct the file, or add 'allow_empty: [{column}]' where options can "
                    "lack."
                )
        texts = [as_text(value).strip() for value in values]
        right = _right_position(row, data.right, texts)
        labels = labels_of(row, data, declared)
        wrong = [option for n, option in enumerate(texts) if option and n != right]
        if texts[right] in wrong:
            row.account.notes["items with a wrong option like the right one, a tie"] += 1
        if not wrong:
            raise UserError(
                f"{row.place} has one option, {texts[right]!r}; expected two or more. Correct "
                "the file, or 'options' and 'split_by'."
            )
        start = ""
        if data.context:
            may_lack = data.context in row.account.allow_empty
            if not may_lack or as_text(cell(row, data.context)).strip():
                start = text(row, data.context) + joiner_in(row, data, declared)
        options = {RIGHT: texts[right]} | {f"wrong {n}": o for n, o in enumerate(wrong, start=1)}
        labels["more"] = {**labels["more"], "alternatives": len(options)}
        group = []
        for name, option in options.items():
            end = len(start + option)
            spans = ((0, end), (len(start), end))
            group.append(Condition(name, (SENTENCE, OPTION), (start + option,), "", row, spans))
        predictions = tuple(
            f"({region};%{RIGHT}%) < ({region};%{name}%)" for name in options if name != RIGHT
        )
        yield Design(conditions=tuple(group), predictions=predictions, **labels)


def _list_in(row: Row, column: str, separator: str | None) -> Sequence[object]:
    """Return the list in a cell, a JSON list in its text, or its parts between separators."""
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
    if field:
        return [record.get(field) if isinstance(record, dict) else None for record in value]
    return value


def _right_position(row: Row, right: entries.Answer | str, options: Sequence[str]) -> int:
    """Return the position of the right option, from 0. Raises UserError for none or several."""
    if isinstance(right, str):
        # The column has the option's text.
        column, answer, names = right, text(row, right), [*options]
    else:
        column, answer = right.column, as_text(cell(row, right.column)).strip()
        if right.labels is None:
            answer = compared(answer)
            names = [str(n) for n in range(right.counts_from, right.counts_from + len(options))]
        else:
            labels = right.labels
            listed = _list_in(row, labels, None) if isinstance(labels, str) else labels
            names = [as_text(label).strip() for label in listed][: len(options)]
    positions = [n for n, name in enumerate(names) if name == answer and options[n]]
    if len(positions) != 1:
        raise UserError(
            f"{row.place}: {column!r} is {cell(row, column)!r:.60}, which is {len(positions)} of "
            f"the options' {', '.join(map(repr, names))}; expected one. Correct 'right', or the "
            "file."
        )
    return positions[0]
