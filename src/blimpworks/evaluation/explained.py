"""Explain a number (an accuracy) of a report card: from which items, tables and files it comes.

``blimpworks explain CARD --row "eng, agreement" --column GPT-2`` first finds the number with
``find_numbers``. Then ``explain_number`` reads the provenance records (files in which jobs describe
their inputs and code), computes the number again, and lists the files behind it.
"""

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
from blimpworks.evaluation.card import MEAN, OUTPUTS, Benchmark, Facts, Row, model_table, read_card
from blimpworks.exhibits.formulas import ACCURACY, UNWEIGHTED
from blimpworks.files import sidecar_path
from blimpworks.items import ALL
from blimpworks.judging.sample import CONDITIONS, item_key
from blimpworks.records.job import REPOSITORY
from blimpworks.records.reading import read_record
from blimpworks.tables import read_parquet

MOST_FILES = 6
"""Most origins of items (files that no job has made) to name with their checksums."""


@dataclass(frozen=True)
class Number:
    """The accuracy of one model in one row of a report card."""

    text: show.CardText
    benchmark: Benchmark
    card_row: Row
    model: str
    row: str
    """Name of the row: benchmark (if there are several), language, phenomenon."""
    column: str
    """Label of the model."""
    accuracy: dict[str, Any] | None
    """The accuracy with its interval and counts; None if every item was skipped."""
    counted: str
    """Phrase with the number of items, skipped items and reasons: "n = 90, none skipped"."""

    @property
    def line(self) -> str:
        if not self.accuracy:
            return f"{self.row} / {self.column}: {self.counted}"
        share = show.percent(self.accuracy["accuracy"])
        return f"{self.row} / {self.column} = {share} ({self.counted})"

    def is_in_row(self, row_names: Collection[str]) -> bool:
        """Return whether the names, in lower case, mean this number's row: {"eng", "agreement"}.

        The benchmark need not be named; without a language (phenomenon), all of them are meant.
        """
        lang, phenomenon = self.card_row["lang"], self.card_row["phenomenon"]
        # The first row of totals is over all languages, or over the only one.
        is_of_all_languages = lang == show.totals(self.benchmark)[0]["lang"]
        # Names of the row's benchmark, language and phenomenon, and whether they can be left out.
        labels_of_row = (
            ({self.benchmark["name"], self.benchmark["label"]}, True),
            ({lang, self.text.language(lang)}, is_of_all_languages),
            ({phenomenon, self.card_row["label"]}, phenomenon == ALL),
        )
        unmatched = {*row_names}
        for synonyms, can_be_left_out in labels_of_row:
            matching = {name.casefold() for name in synonyms} & {*row_names}
            if not matching and not can_be_left_out:
                return False
            unmatched -= matching
        return not unmatched


def _all_numbers(source: Path) -> list[Number]:
    """Return the accuracies of a card, and the cells whose items were all skipped."""
    card = read_card(source)
    text = show.CardText(card)
    numbers: list[Number] = []
    for benchmark in card["benchmarks"]:
        for card_row in benchmark["rows"]:
            names = [benchmark["label"]] if len(card["benchmarks"]) > 1 else []
            names.append(text.language(card_row["lang"]))
            names += [card_row["label"]] if card_row["phenomenon"] != ALL else []
            for model in benchmark["methods"]:
                accuracy, skipped = card_row["models"].get(model), card_row["skipped"].get(model)
                if skipped:
                    counted = show.skipped_phrase(skipped, benchmark["unit"])
                elif accuracy:
                    counted = f"n = {accuracy['n']:,}, none skipped"
                else:
                    continue
                labels = (", ".join(names), text.label(model))
                numbers.append(Number(text, benchmark, card_row, model, *labels, accuracy, counted))
    return numbers


def find_numbers(source: Path, row: str | None, column: str | None) -> list[Number]:
    """Find the accuracies in a ``row`` and a ``column`` of a card; None means any.

    A row is named by some of benchmark, language and phenomenon, with commas between; a column by
    the model's name, label or hub id. Raises UserError, with the choices, when there is no such
    number, or when row and column together mean several.
    """
    all_numbers = _all_numbers(source)
    numbers = []
    for number in all_numbers:
        hf_id = number.text.card["models"][number.model]["hf_id"]
        synonyms = {name.casefold() for name in (number.model, number.column, hf_id)}
        if column is None or column.casefold() in synonyms:
            numbers.append(number)
    if not numbers:
        choice = ", ".join(dict.fromkeys(number.column for number in all_numbers))
        raise UserError(f"{source}: no column {column!r}; there are: {choice}.")
    if row is None:
        return numbers
    row_name = row.casefold()
    # A name can have a comma in it, so the whole text is tried first.
    for names in ([row_name], re.split(r"\s*[,/]\s*", row_name)):
        in_row = [number for number in numbers if number.is_in_row(names)]
        if len(in_row) > 1 and column is not None:
            choice = "; ".join(number.row for number in in_row)
            raise UserError(f"{source}: row {row!r} means several: {choice}. Name one of them.")
        if in_row:
            return in_row
    choice = "; ".join(dict.fromkeys(number.row for number in numbers))
    raise UserError(f"{source}: no row {row!r}; there are: {choice}.")


def _count_statuses(
    number: Number, facts: Facts, lang: str, judgements: Path, items: Path
) -> Counter[str]:
    """Count the statuses (ok, too_long, …) of the scores or answers behind a number, in ``lang``.

    ``judgements`` and ``items`` are the tables of the number's model in this language.
    """
    judged = read_parquet(judgements, ["item_id", "phenomenon"]).to_pandas()
    if number.card_row["phenomenon"] != ALL:
        judged = judged[judged["phenomenon"] == number.card_row["phenomenon"]]
    # An item can have several rows, its conditions. Judgements have the ids of items ("item"),
    # scores and answers the ids of rows ("item_id").
    item_rows = read_parquet(items, ["item_id", *CONDITIONS]).to_pandas()
    is_judged = item_rows[item_key(item_rows.columns)].isin(judged["item_id"])
    row_ids = item_rows.loc[is_judged, "item_id"]
    name = number.benchmark["name"]
    folder = OUTPUTS[facts["benchmarks"][name]["unit"]]
    path = Path(model_table(facts["results"], folder, name, lang, number.model))
    outputs = read_parquet(path, ["item_id", "status"]).to_pandas()
    return Counter(outputs.loc[outputs["item_id"].isin(row_ids), "status"].astype(str))


def _origins_of_items(explanation: Explanation, paths: Collection[Path]) -> list[str]:
    """Return sentences on files, made by no job, from which the tables of items ``paths`` come."""
    assert explanation.tree is not None
    digests: dict[Path, str] = {}
    for table in explanation.tree.walk():
        if table.path in paths:
            digests |= {node.path: node.sha256 for node in table.walk() if node.record is None}
    sentences = [f"Items from {path}, sha256 {digest}." for path, digest in digests.items()]
    if len(sentences) > MOST_FILES:
        more = f"Items from {len(sentences) - MOST_FILES} more files (--ancestry)."
        sentences = [*sentences[:MOST_FILES], more]
    return sentences


def _enter_workflow_directory(card: Path, recorded: Path) -> None:
    """Change to the directory in which the workflow ran, where relative paths in records start.

    ``recorded`` is the card's path in the record. Raises UserError if it names another file.
    """
    bases = (REPOSITORY,) if recorded.is_absolute() else (Path.cwd(), REPOSITORY)
    for base in bases:
        if (base / recorded).resolve() == card:
            os.chdir(base)
            return
    raise UserError(
        f"{card} was made as {recorded}; explain the numbers of that file, in the directory that "
        "the workflow ran in."
    )


def explain_number(
    source: Path, number: Number, named: Path, items: int = 0, item: str | None = None
) -> Explanation:
    """Explain an accuracy of the card ``source``, with one ``item`` or at most ``items`` items.

    ``named`` is the path that the user named: the evaluation's directory, or a file beside the
    card. Changes to the workflow's directory. Raises UserError if the item, or a table that the
    number comes from, is missing. It also does so if a file was changed after the job.
    """
    source, named = source.resolve(), named.resolve()
    record = read_record(sidecar_path(source))
    recorded = Path(record["outputs"][0]["path"])
    _enter_workflow_directory(source, recorded)
    for path in (recorded, recorded.with_name(named.name)):
        require_as_recorded(path)
    facts: Facts = record["params"]["facts"]
    name, model, lang = number.benchmark["name"], number.model, number.card_row["lang"]
    languages = [lang]  # whose items the number is over
    if lang in (ALL, MEAN):
        totals = [row for row in show.totals(number.benchmark) if row["lang"] not in (ALL, MEAN)]
        languages = [row["lang"] for row in totals if model in {*row["models"], *row["skipped"]}]
    judgements = [
        Path(model_table(facts["results"], "judgements", name, code, model)) for code in languages
    ]
    method = number.benchmark["methods"][model]
    # Such accuracies are divided by the number of prompts in the paper, not of judged prompts.
    is_nominal = method == PUBLISHED and NOMINAL in read_parquet(judgements[0]).column_names
    if is_nominal and lang == ALL and len(languages) > 1:
        raise UserError(
            f"{number.line}: over all languages, accuracies by {PUBLISHED} are weighted by n; "
            "explain the accuracies of single languages, such as --row "
            f"{number.text.language(languages[0])!r}."
        )
    phenomenon = number.card_row["phenomenon"]
    row_filter = {"benchmark": name, "model": model, "method": method, "lang": languages}
    if lang == MEAN or is_nominal:
        # Rows of accuracies, which are averaged; they have "all" as a phenomenon.
        source_table, formula = "accuracies", UNWEIGHTED
        row_filter |= {"phenomenon": phenomenon, "paradigm": ALL}
    else:
        source_table, formula = "judgements", ACCURACY
        row_filter |= {} if phenomenon == ALL else {"phenomenon": phenomenon}
    accuracy = number.card_row["models"][model]
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
        "filter": json.dumps(row_filter, ensure_ascii=False),
    }
    # Tables of other languages, models and benchmarks, by their names in paths, need not be read.
    all_names = {*facts["languages"], *facts["models"], *facts["benchmarks"]}
    names_in_paths = {n for path in (*judgements, recorded) for n in (*path.parts, path.stem)}
    explanation = explain_cell(recorded, cell, items, item, ignored=all_names - names_in_paths)
    sentences = [f"{number.counted}."]
    tables_of_items = [Path(facts["benchmarks"][name]["items"][code]) for code in languages]
    statuses: Counter[str] = Counter()
    for code, path, item_path in zip(languages, judgements, tables_of_items, strict=True):
        statuses += _count_statuses(number, facts, code, path, item_path)
    counts = ", ".join(f"{n:,} {status}" for status, n in statuses.most_common())
    folder = OUTPUTS[facts["benchmarks"][name]["unit"]]
    sentences.append(f"Rows of {folder}, by status: {counts}.")
    sentences += _origins_of_items(explanation, tables_of_items)
    commit, is_changed = record["git"]["commit"] or "no commit", record["git"]["clean"] is False
    sentences.append(
        f"By blimpworks {number.text.card['version']}, code {record['code']}, commit {commit[:12]}"
        f"{' with local changes' if is_changed else ''}."
    )
    return replace(explanation, facts=sentences)
