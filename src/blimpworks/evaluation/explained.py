"""Explain the accuracies of a report card: the items, tables and files that they come from."""

import json
import os
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from blimpworks.analysis.accuracy import NOMINAL
from blimpworks.audit.cells import require_as_recorded
from blimpworks.audit.explain import Explanation, explain_cell
from blimpworks.campaign.variants import PUBLISHED
from blimpworks.errors import UserError
from blimpworks.evaluation import show
from blimpworks.evaluation.card import (
    MEAN,
    OUTPUTS,
    Benchmark,
    Facts,
    Record,
    Row,
    model_table,
    read_card,
)
from blimpworks.exhibits.formulas import ACCURACY, UNWEIGHTED
from blimpworks.files import sidecar_path
from blimpworks.items import ALL
from blimpworks.judging.sample import CONDITIONS, item_key
from blimpworks.records.job import REPOSITORY
from blimpworks.records.reading import read_record
from blimpworks.tables import read_parquet

FILES = 6
"""Most files from outside to name with their checksums."""


@dataclass(frozen=True)
class Number:
    """An accuracy of a report card, in a row and of a model."""

    text: show.CardText
    benchmark: Benchmark
    cells: Row
    model: str
    row: str
    """Name of the row: benchmark (if there are several), language, phenomenon."""
    column: str
    accuracy: Record | None
    """The accuracy with its interval and counts; None if every item was skipped."""
    counted: str
    """Phrase with the number of items, skipped items and reasons."""

    @property
    def line(self) -> str:
        """Line with row, model, accuracy and number of items."""
        if not self.accuracy:
            return f"{self.row} / {self.column}: {self.counted}"
        share = show.percent(self.accuracy["accuracy"])
        return f"{self.row} / {self.column} = {share} ({self.counted})"

    def is_called(self, row_names: Collection[str]) -> bool:
        """Return whether names mean its row; a missing name means all languages or phenomena."""
        lang, phenomenon = self.cells["lang"], self.cells["phenomenon"]
        names = (
            ({self.benchmark["name"], self.benchmark["label"]}, True),
            ({lang, self.text.language(lang)}, lang == show.totals(self.benchmark)[0]["lang"]),
            ({phenomenon, self.cells["label"]}, phenomenon == ALL),
        )
        unused = {*row_names}
        for same, may_be_missing in names:
            called = {name.casefold() for name in same} & {*row_names}
            if not called and not may_be_missing:
                return False
            unused -= called
        return not unused


def find_numbers(source: Path, row: str | None, column: str | None) -> list[Number]:
    """Find the accuracies of a card in a ``row`` and of a model (``column``); None means any.

    A row is named by benchmark, language and phenomenon, or some of them, with commas between.
    Raises UserError, with the choices, when there is no such number, or when row and column mean
    several.
    """
    card = read_card(source)
    text = show.CardText(card)
    all_numbers: list[Number] = []
    for benchmark in card["benchmarks"]:
        for cells in benchmark["rows"]:
            names = [benchmark["label"]] if len(card["benchmarks"]) > 1 else []
            names.append(text.language(cells["lang"]))
            names += [cells["label"]] if cells["phenomenon"] != ALL else []
            for model in benchmark["methods"]:
                accuracy, skipped = cells["models"].get(model), cells["skipped"].get(model)
                if skipped:
                    counted = show.skipped_phrase(skipped, benchmark["unit"])
                elif accuracy:
                    counted = f"n = {accuracy['n']:,}, none skipped"
                else:
                    continue
                named = (", ".join(names), text.label(model))
                all_numbers.append(Number(text, benchmark, cells, model, *named, accuracy, counted))
    numbers = []
    for number in all_numbers:
        called = {number.model, number.column, card["models"][number.model]["hf_id"]}
        if column is None or column.casefold() in {name.casefold() for name in called}:
            numbers.append(number)
    if not numbers:
        choice = ", ".join(dict.fromkeys(number.column for number in all_numbers))
        raise UserError(f"{source}: no column {column!r}; there are: {choice}.")
    if row is None:
        return numbers
    row_name = row.casefold()
    for names in ([row_name], re.split(r"\s*[,/]\s*", row_name)):
        meant = [number for number in numbers if number.is_called(names)]
        if meant and (len(meant) == 1 or column is None):
            return meant
        if meant:
            choice = "; ".join(number.row for number in meant)
            raise UserError(f"{source}: row {row!r} means several: {choice}. Name one of them.")
    choice = "; ".join(dict.fromkeys(number.row for number in numbers))
    raise UserError(f"{source}: no row {row!r}; there are: {choice}.")


def explain_number(
    source: Path, number: Number, named: Path, items: int = 0, item: str | None = None
) -> Explanation:
    """Explain an accuracy of the card ``source``, with one ``item`` or at most ``items`` items.

    Changes to the workflow's directory. Raises UserError when the item, or a table that the number
    comes from, is missing. It also does so when the card, or the file ``named`` by the user, was
    changed after its job wrote it.
    """
    source, named = source.resolve(), named.resolve()
    record = read_record(sidecar_path(source))
    recorded = Path(record["outputs"][0]["path"])
    # Relative paths in records start at the current directory or the repository.
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
    name, model, lang = number.benchmark["name"], number.model, number.cells["lang"]
    languages = [lang]
    if lang in (ALL, MEAN):
        run = [row for row in show.totals(number.benchmark) if row["lang"] not in (ALL, MEAN)]
        languages = [r["lang"] for r in run if model in {*r["models"], *r["skipped"]}]
    results, unit = facts["results"], facts["benchmarks"][name]["unit"]
    judged = [Path(model_table(results, "judgements", name, lang, model)) for lang in languages]
    nominal = number.benchmark["methods"][model] == PUBLISHED and NOMINAL in (
        read_parquet(judged[0]).column_names
    )
    if nominal and lang == ALL and len(languages) > 1:
        raise UserError(
            f"{number.line}: over all languages, accuracies by {PUBLISHED} are weighted by n; "
            "explain those of the languages, such as --row "
            f"{number.text.language(languages[0])!r}."
        )
    all_names = {*facts["languages"], *facts["models"], *facts["benchmarks"]}
    needed = {name for path in (*judged, recorded) for name in (*path.parts, path.stem)}
    accuracy = number.cells["models"][model]
    where = {"benchmark": name, "model": model, "method": number.benchmark["methods"][model]}
    # A mean, or a weighted accuracy, is computed from accuracies; others from judgements.
    source_table, formula = "judgements", ACCURACY
    labels: dict[str, Any] = {"lang": languages, "phenomenon": number.cells["phenomenon"]}
    if lang == MEAN or nominal:
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
    explanation = explain_cell(recorded, cell, items, item, ignored=all_names - needed)
    sentences = [f"{number.counted}."]
    statuses: Counter[str] = Counter()
    paths: set[Path] = set()
    for code, path in zip(languages, judged, strict=True):
        rows = read_parquet(path, ["item_id", "phenomenon"]).to_pandas()
        if number.cells["phenomenon"] != ALL:
            rows = rows[rows["phenomenon"] == number.cells["phenomenon"]]
        items_path = Path(facts["benchmarks"][name]["items"][code])
        paths.add(items_path)
        conditions = read_parquet(items_path, ["item_id", *CONDITIONS]).to_pandas()
        is_judged = conditions[item_key(conditions.columns)].isin(rows["item_id"])
        ids = conditions.loc[is_judged, "item_id"]
        outputs = Path(model_table(results, OUTPUTS[unit], name, code, model))
        scored = read_parquet(outputs, ["item_id", "status"]).to_pandas()
        statuses.update(scored.loc[scored["item_id"].isin(ids), "status"].astype(str))
    counts = ", ".join(f"{n:,} {status}" for status, n in statuses.most_common())
    sentences.append(f"Rows of {OUTPUTS[unit]}, by status: {counts}.")
    assert explanation.tree is not None
    # Files without a record, from which the items were made.
    roots = (node for node in explanation.tree.walk() if node.path in paths)
    ancestors = (node for root in roots for node in root.walk())
    outside = {node.path: node.sha256 for node in ancestors if node.record is None}
    for path, digest in [*outside.items()][:FILES]:
        sentences.append(f"Items from {path}, sha256 {digest}.")
    if len(outside) > FILES:
        sentences.append(f"Items from {len(outside) - FILES} more files (--ancestry).")
    commit, changed = record["git"]["commit"] or "no commit", record["git"]["clean"] is False
    sentences.append(
        f"By blimpworks {number.text.card['version']}, code {record['code']}, commit {commit[:12]}"
        f"{' with local changes' if changed else ''}."
    )
    return replace(explanation, facts=sentences)
