"""Explain a number of an exhibit: compute it again, and find the rows and items behind it.

``explain`` takes an exhibit (table or figure) with a row and column, and returns an
``Explanation``, which ``explain_text`` shows. Beside an exhibit is a table of its numbers, the
cells. A cell has its formula, and a filter that selects the rows of the table ``source`` that it is
computed from:

    row   column   value  formula               source      filter
    gpt2  English  81.5   100 × mean(accuracy)  accuracies  {"model": "gpt2", "lang": "eng"}

From the cell, ``explain`` follows provenance records back to rows, items, tokens and sentences.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.audit import cells, evidence
from blimpworks.audit.lineage import Node, lineage
from blimpworks.errors import UserError
from blimpworks.exhibits.formulas import formula_of, select_rows
from blimpworks.records.reading import Records, record_of

WITHOUT_ITEMS = ("funnel", "rules", "lexicon")
"""Kinds of tables without items: counts, rules, and entries of a dictionary."""
ANNOTATED = ("tokens", "candidates")
"""Kinds of tables with words, or subjects and verbs, of sentences."""


@dataclass(slots=True)
class Explanation:
    """A cell, its value computed again, some of its rows and items, and the files behind it.

    A number that a paper prints but the campaign does not compute has no cell and no files.
    """

    exhibit: Path
    cell: dict[str, Any] | None
    recomputed: float | None
    rows: int
    """Number of rows that the cell is computed from."""
    tree: Node | None
    """Cells file, with all files that it was made from."""
    items: list[dict[str, Any]] = field(default_factory=list)
    selected: list[dict[str, Any]] = field(default_factory=list)
    """Some of the rows, for a cell of a table that has no items."""
    printed: list[dict[str, Any]] = field(default_factory=list)
    """Comparisons with the paper's number, each with its file and line."""
    facts: list[str] = field(default_factory=list)
    """Further sentences on the number."""

    def as_json(self) -> str:
        """Return a JSON object, with all files behind the cell as a list "chain"."""
        cell = self.cell and {k: None if pd.isna(v) else v for k, v in self.cell.items()}
        if cell:
            cell["filter"] = json.loads(cell["filter"])
        chain = []
        for node in self.tree.walk() if self.tree else ():
            inputs = [str(source.path) for source in node.inputs]
            file = {"path": str(node.path), "sha256": node.sha256, "inputs": inputs}
            chain.append(file | ({"made_by": node.record} if node.record else {}))
        document: dict[str, Any] = {"exhibit": str(self.exhibit), "cell": cell}
        for name in ("recomputed", "rows", "facts", "printed", "selected", "items"):
            document[name] = getattr(self, name)
        document["chain"] = chain
        return json.dumps(document, indent=1, ensure_ascii=False)


def _items(
    tree: Node, cell: dict[str, Any], tables: list[Node], rows: pd.DataFrame, count: int
) -> list[dict[str, Any]]:
    """Return at most ``count`` items or sentences behind a cell, from ``rows`` of ``tables``."""
    source, row_filter = cell["source"], json.loads(cell["filter"])
    if not count or source in WITHOUT_ITEMS:
        return []
    if source in ANNOTATED:
        return evidence.annotation_evidence(tree, rows, count)
    # Rows of other tables, such as accuracies, are over items of tables behind them.
    if source not in ("sentences", *evidence.TABLES_OF_ITEMS):
        tables, rows = evidence.find_item_tables(tree, rows, count)
        if not tables:
            return evidence.candidate_evidence(tree, row_filter, count)
    chosen = evidence.spread(rows, count).to_dict("records")
    with_tables = [(tables[row[evidence.TABLE]], row) for row in chosen]
    if source == "sentences":
        return [{"origin": evidence.sentence_origin(table, row)} for table, row in with_tables]
    return [evidence.item_evidence(table, row) for table, row in with_tables]


def explain_cell(
    source: Path,
    cell: dict[str, Any],
    count: int = 0,
    item: str | None = None,
    ignored: Collection[str] = (),
) -> Explanation:
    """Explain a cell of the file ``source``, with at most ``count`` of its items, or one ``item``.

    ``ignored``: further languages and models that the cell does not use. Raises UserError when a
    table behind the cell, or the item, is missing.
    """
    records, row_filter = Records(), json.loads(cell["filter"])
    record = records.of(source)
    irrelevant = evidence.irrelevant_names(record, row_filter) if record else set()
    tree = lineage(source, {*ignored, *irrelevant}, records)
    tables = evidence.nearest(tree, cell["source"])
    if not tables:
        raise UserError(f"no {cell['source']} table is among the inputs of this cell. Rebuild it.")
    rows = select_rows(evidence.read_tables(tables), row_filter)
    recomputed = formula_of(cell["formula"])(rows.drop(columns=evidence.TABLE))

    item_rows = rows
    if item:
        item_rows = rows[rows["item_id"] == item] if "item_id" in rows else rows[:0]
        if item_rows.empty:
            raise UserError(
                f"item {item!r} is not among the {len(rows)} rows of this cell; expected an "
                "item_id of its judgements or items. Leave --item out to see some."
            )

    # Rows of tables of items are shown as items. Of other rows, the first are shown as values.
    first = rows[:0] if cell["source"] in evidence.TABLES_OF_ITEMS else rows[:count]
    # JSON turns numpy's numbers into Python's, and NaN into None.
    values = first.drop(columns=evidence.TABLE, errors="ignore")
    records_of_values = json.loads(values.to_json(orient="records", force_ascii=False))
    selected = [{k: v for k, v in row.items() if v not in (None, "")} for row in records_of_values]
    # Accuracies that papers print are tables in a directory "printed".
    if cell["source"] == "accuracies" and "printed" in tables[0].path.parts:
        locations = evidence.printed_evidence(tables, first)
        selected = [row | location for row, location in zip(selected, locations, strict=True)]
    items = _items(tree, cell, tables, item_rows, len(item_rows) if item else count)
    printed = cells.comparisons_of(source, cell, records) if "printed_row" in cell else []
    return Explanation(source, cell, recomputed, len(rows), tree, items, selected, printed)


def explain(
    exhibit: Path, row: str, column: str, items: int = 0, item: str | None = None
) -> Explanation:
    """Explain the number in a row and column, with at most ``items`` of its items, or one ``item``.

    Raises UserError when the exhibit, the cell or a table behind it is missing, or when the exhibit
    was edited since its job wrote it.
    """
    source = cells.cells_file(exhibit)
    for path in (source, exhibit):
        cells.require_as_recorded(path)
    cell = cells.find_cell(cells.read_cells(source), row, column, source)
    cells.require_same_in_csv(exhibit, cell)
    return explain_cell(source, cell, items, item)


def explain_comparison(path: Path, requested: dict[str, str | None], items: int = 0) -> Explanation:
    """Explain the number in one row of ``path``, a comparison with printed numbers.

    ``requested``: values of the row's columns paper, exhibit, row and column; None for any. Raises
    UserError when several rows match, or a table behind the number is missing.
    """
    cells.require_as_recorded(path)
    compared = cells.find_comparison(path, requested)
    source, cell = cells.compared_cell(path, compared)
    if cell is not None:
        return explain_cell(source, cell, items)
    printed = compared | cells.printed_location(record_of(path), compared)
    return Explanation(path, None, None, 0, None, printed=[printed])
