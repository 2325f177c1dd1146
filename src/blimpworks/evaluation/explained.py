"""Explain the numbers of a report card as cells of exhibits."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from blimpworks.analysis.accuracy import NOMINAL
from blimpworks.audit.cells import require_as_recorded
from blimpworks.audit.explain import Explanation, explain_cell
from blimpworks.campaign.variants import PUBLISHED
from blimpworks.errors import UserError
from blimpworks.evaluation import show
from blimpworks.evaluation.card import ALL, MEAN, Benchmark, Card, Row, read_card
from blimpworks.evaluation.facts import OUTPUTS, Facts, model_table
from blimpworks.exhibits.formulas import ACCURACY, UNWEIGHTED
from blimpworks.files import sidecar_path
from blimpworks.judging.sample import CONDITIONS, item_key
from blimpworks.parquet import read_parquet
from blimpworks.records.job import REPOSITORY
from blimpworks.records.reading import Record, read_record

FILES = 6
"""Outside files that are named with their checksums."""


@dataclass(frozen=True)
class Number:
    """An accuracy of a report card; without a value where every item was skipped."""

    card: Card
    benchmark: Benchmark
    cells: Row
    model: str

    @property
    def row(self) -> str:
        """Benchmark where there are several, language, phenomenon."""
        names = [show.language(self.cells["lang"], self.card["languages"])]
        if len(self.card["benchmarks"]) > 1:
            names.insert(0, self.benchmark["label"])
        if self.cells["phenomenon"] != ALL:
            names.append(self.cells["label"])
        return ", ".join(names)

    @property
    def column(self) -> str:
        """The model's label."""
        return self.card["models"][self.model]["label"]

    @property
    def is_measured(self) -> bool:
        """Some item was judged."""
        return self.model in self.cells["models"]

    @property
    def counted(self) -> str:
        """Number of items, and of skipped items with reasons."""
        if skipped := self.cells["skipped"].get(self.model):
            return show.skipped_phrase(skipped, self.benchmark["unit"])
        return f"n = {self.cells['models'][self.model]['n']:,}, none skipped"

    @property
    def line(self) -> str:
        """The number in a line."""
        if not self.is_measured:
            return f"{self.row} / {self.column}: {self.counted}"
        text = show.percent(self.cells["models"][self.model]["accuracy"])
        return f"{self.row} / {self.column} = {text} ({self.counted})"

    @property
    def languages(self) -> list[str]:
        """The languages that it is over."""
        if self.cells["lang"] not in (ALL, MEAN):
            return [self.cells["lang"]]
        return [
            row["lang"]
            for row in show.totals(self.benchmark)
            if self.model in {*row["models"], *row["skipped"]} and row["lang"] not in (ALL, MEAN)
        ]

    def is_called(self, wanted: Sequence[str]) -> bool:
        """Return whether these names mean its row; a missing name means all of them together."""
        lang, phenomenon = self.cells["lang"], self.cells["phenomenon"]
        language = show.language(lang, self.card["languages"])
        names = (
            ({self.benchmark["name"], self.benchmark["label"]}, True),
            ({lang, language}, lang == show.totals(self.benchmark)[0]["lang"]),
            ({phenomenon, self.cells["label"]}, phenomenon == ALL),
        )
        unused = {*wanted}
        for same, may_be_missing in names:
            called = {name.casefold() for name in same} & {*wanted}
            if not called and not may_be_missing:
                return False
            unused -= called
        return not unused


def find_numbers(source: Path, row: str | None, column: str | None) -> list[Number]:
    """Find the numbers of a card in a row and of a model, None for any.

    A row's name is some of benchmark, language and phenomenon, divided by commas. Raises UserError,
    with the choices, when there is none, or a row and column mean several.
    """
    card = read_card(source)
    every = [
        Number(card, benchmark, row, model)
        for benchmark in card["benchmarks"]
        for row in benchmark["rows"]
        for model in benchmark["methods"]
        if model in row["models"] or model in row["skipped"]
    ]
    numbers = []
    for number in every:
        called = {number.model, number.column, card["models"][number.model]["hf_id"]}
        if column is None or column.casefold() in {name.casefold() for name in called}:
            numbers.append(number)
    if not numbers:
        choice = ", ".join(dict.fromkeys(number.column for number in every))
        raise UserError(f"{source}: no column {column!r}; there are: {choice}.")
    if row is None:
        return numbers
    wanted = row.casefold()
    for names in ([wanted], re.split(r"\s*[,/]\s*", wanted)):
        meant = [number for number in numbers if number.is_called(names)]
        if meant and (len(meant) == 1 or column is None):
            return meant
        if meant:
            choice = "; ".join(number.row for number in meant)
            raise UserError(f"{source}: row {row!r} means several: {choice}. Name one of them.")
    choice = "; ".join(dict.fromkeys(each.row for each in numbers))
    raise UserError(f"{source}: no row {row!r}; there are: {choice}.")


def explain_number(
    source: Path, number: Number, named: Path, items: int = 0, item: str | None = None
) -> Explanation:
    """Explain an accuracy of the card ``source``, with at most ``items`` of its items, or one.

    Changes to the workflow's directory. Raises UserError when a table behind the number, or the
    item, is missing, or the card or the ``named`` file is not its job's output.
    """
    source, named = source.resolve(), named.resolve()
    record = read_record(sidecar_path(source))
    recorded = Path(record["outputs"][0]["path"])
    # An absolute path says nothing of the directory that others in the records start from.
    bases = (REPOSITORY,) if recorded.is_absolute() else (Path.cwd(), REPOSITORY)
    base = next((folder for folder in bases if (folder / recorded).resolve() == source), None)
    if base is None:
        raise UserError(
            f"{source} was made as {recorded}; explain its numbers there, in the directory that "
            "the workflow ran in."
        )
    os.chdir(base)
    for path in (recorded, recorded.with_name(named.name)):
        require_as_recorded(path)
    facts: Facts = record["params"]["facts"]
    name, model, languages = number.benchmark["name"], number.model, number.languages
    results, unit = facts["results"], facts["benchmarks"][name]["unit"]
    judged = [Path(model_table(results, "judgements", name, lang, model)) for lang in languages]
    nominal = number.benchmark["methods"][model] == PUBLISHED and NOMINAL in (
        read_parquet(judged[0]).column_names
    )
    if nominal and number.cells["lang"] == ALL and len(languages) > 1:
        raise UserError(
            f"{number.line}: over all languages, accuracies by {PUBLISHED} are weighted by n; "
            "explain those of the languages, such as --row "
            f"{show.language(languages[0], number.card['languages'])!r}."
        )
    others = {*facts["languages"], *facts["models"], *facts["benchmarks"]}
    needed = {part for path in (*judged, recorded) for part in (*path.parts, path.stem)}
    accuracy = number.cells["models"][model]
    where = {"benchmark": name, "model": model, "method": number.benchmark["methods"][model]}
    source_table, formula = "judgements", ACCURACY
    labels: dict[str, Any] = {"lang": languages, "phenomenon": number.cells["phenomenon"]}
    if number.cells["lang"] == MEAN or nominal:
        source_table, formula = "accuracies", UNWEIGHTED
        labels["paradigm"] = ALL
    elif labels["phenomenon"] == ALL:
        del labels["phenomenon"]
    cell = {
        "row": number.row,
        "column": number.column,
        "text": show.percent(accuracy["accuracy"]),
        "value": 100 * accuracy["accuracy"],
        "n": accuracy["n"],
        "low": 100 * accuracy["low"],
        "high": 100 * accuracy["high"],
        "formula": str(formula),
        "source": source_table,
        "filter": json.dumps(where | labels, ensure_ascii=False),
    }
    explanation = explain_cell(recorded, cell, items, item, others=others - needed)
    tables = [
        (
            Path(facts["benchmarks"][name]["items"][lang]),
            Path(model_table(results, OUTPUTS[unit], name, lang, model)),
        )
        for lang in languages
    ]
    return replace(explanation, facts=[*_facts(number, explanation, judged, tables, record)])


def _facts(
    number: Number,
    explanation: Explanation,
    judged: Sequence[Path],
    tables: Sequence[tuple[Path, Path]],
    record: Record,
) -> Iterator[str]:
    yield f"{number.counted}."
    statuses: Counter[str] = Counter()
    for path, (items, outputs) in zip(judged, tables, strict=True):
        rows = read_parquet(path, ["item_id", "phenomenon"]).to_pandas()
        if number.cells["phenomenon"] != ALL:
            rows = rows[rows["phenomenon"] == number.cells["phenomenon"]]
        conditions = read_parquet(items, ["item_id", *CONDITIONS]).to_pandas()
        is_judged = conditions[item_key(conditions.columns)].isin(rows["item_id"])
        ids = conditions.loc[is_judged, "item_id"]
        scored = read_parquet(outputs, ["item_id", "status"]).to_pandas()
        statuses.update(scored.loc[scored["item_id"].isin(ids), "status"].astype(str))
    counts = ", ".join(f"{n:,} {status}" for status, n in statuses.most_common())
    yield f"Rows of {tables[0][1].parents[2].name}, by status: {counts}."
    assert explanation.tree is not None
    paths = {items for items, _ in tables}
    behind = (
        each for node in explanation.tree.walk() if node.path in paths for each in node.walk()
    )
    outside = {node.path: node.sha256 for node in behind if node.record is None}
    for path, digest in [*outside.items()][:FILES]:
        yield f"Items from {path}, sha256 {digest}."
    if len(outside) > FILES:
        yield f"Items from {len(outside) - FILES} more files (--ancestry)."
    commit, changed = record["git"]["commit"] or "no commit", record["git"]["clean"] is False
    yield (
        f"By blimpworks {number.card['version']}, code {record['code']}, commit {commit[:12]}"
        f"{' with local changes' if changed else ''}."
    )
