"""The origin of a number: cell, formula, judgements, scores, model, items, treebank."""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.audit.cells import (
    cells_file,
    compared_cell,
    comparisons_of,
    find_cell,
    find_comparison,
    printed_place,
    read_cells,
    require_as_recorded,
    require_shown,
)
from blimpworks.audit.evidence import (
    MODEL_COLUMNS,
    TABLE,
    TABLES_OF_ITEMS,
    annotation_evidence,
    candidate_evidence,
    item_evidence,
    judged,
    nearest,
    printed_evidence,
    read_tables,
    sentence_origin,
    spread,
)
from blimpworks.audit.lineage import Node, lineage
from blimpworks.errors import UserError
from blimpworks.exhibits.formula_lookup import formula_of
from blimpworks.exhibits.formulas import select_rows
from blimpworks.records.reading import Records

WITHOUT_ITEMS = ("funnel", "rules", "lexicon")
"""Tables of counts without the counted items, and entries of a dictionary."""
ANNOTATED = ("tokens", "candidates")
"""Tables of words, and of subjects and verbs, of sentences."""


@dataclass(slots=True)
class Explanation:
    """A cell, its ancestry, its value computed again, and some of its rows and items.

    ``selected``: some of its rows in their table. ``printed``: the paper's number, with place and
    comparisons. A number that is printed but not computed has no cell and no ancestry.
    """

    exhibit: Path
    cell: dict[str, Any] | None
    recomputed: float | None
    rows: int
    tree: Node | None
    items: list[dict[str, Any]] = field(default_factory=list)
    selected: list[dict[str, Any]] = field(default_factory=list)
    printed: list[dict[str, Any]] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    """Sentences on the number."""

    def as_json(self) -> str:
        """Return one JSON object, with the ancestry as a flat list of products."""
        cell = self.cell and {k: None if pd.isna(v) else v for k, v in self.cell.items()}
        if cell:
            cell["filter"] = json.loads(cell["filter"])
        chain = [
            {"path": str(n.path), "sha256": n.sha256, "inputs": [str(i.path) for i in n.inputs]}
            | ({"made_by": n.record} if n.record else {})
            for n in (self.tree.walk() if self.tree else ())
        ]
        names = ("recomputed", "rows", "facts", "printed", "selected", "items")
        document = {"exhibit": str(self.exhibit), "cell": cell}
        document |= {name: getattr(self, name) for name in names} | {"chain": chain}
        return json.dumps(document, indent=1, ensure_ascii=False)


def irrelevant_names(record: dict[str, Any], where: dict[str, Any]) -> set[str]:
    """Return languages and models of the exhibit that a cell, hence its lineage, is not about."""
    labels = record["params"].get("labels", {})
    left_out: set[str] = {*labels.get("left_out", ())}
    for label, keys in (("languages", ("lang",)), ("models", MODEL_COLUMNS)):
        chosen = [where[key] for key in keys if key in where]
        names = {name for c in chosen for name in (c if isinstance(c, list) else [c])}
        left_out |= {*labels.get(label, {})} - names if chosen else set()
    return left_out


def _items(
    tree: Node, cell: dict[str, Any], tables: list[Node], rows: pd.DataFrame, count: int
) -> list[dict[str, Any]]:
    """Return some of the items, or sentences, behind the ``rows`` of a cell."""
    source, where = cell["source"], json.loads(cell["filter"])
    if not count or source in WITHOUT_ITEMS:
        return []
    if source == "sentences":
        chosen = spread(rows, count).to_dict("records")
        return [{"origin": sentence_origin(tables[row[TABLE]], row)} for row in chosen]
    if source in ANNOTATED:
        return annotation_evidence(tree, rows, count)
    if source not in TABLES_OF_ITEMS:
        tables, rows = judged(tree, rows, count)
        if not tables:
            return candidate_evidence(tree, where, count)
    chosen = spread(rows, count).to_dict("records")
    return [item_evidence(tables[row[TABLE]], row) for row in chosen]


def explain_cell(
    source: Path,
    cell: dict[str, Any],
    count: int = 0,
    item: str | None = None,
    others: Collection[str] = (),
) -> Explanation:
    """Explain a cell of the file ``source``, with at most ``count`` of its items, or one ``item``.

    ``others`` are languages and models that the cell is not about, besides those of the exhibit.
    Raises UserError when a table behind the cell, or the item, is missing.
    """
    records, where = Records(), json.loads(cell["filter"])
    record = records.of(source)
    tree = lineage(source, {*others, *(irrelevant_names(record, where) if record else ())}, records)
    tables = nearest(tree, cell["source"])
    if not tables:
        raise UserError(f"no {cell['source']} table is among the inputs of this cell. Rebuild it.")
    rows = select_rows(read_tables(tables), where)
    recomputed = formula_of(cell["formula"])(rows.drop(columns=TABLE))
    shown_rows = rows
    if item:
        shown_rows = rows[rows["item_id"] == item] if "item_id" in rows else rows[:0]
        if shown_rows.empty:
            raise UserError(
                f"item {item!r} is not among the {len(rows)} rows of this cell; expected an "
                "item_id of its judgements or items. Leave --item out to see some."
            )
    # Rows that are no items, as plain values; printed accuracies with file and line.
    first = rows[: 0 if cell["source"] in TABLES_OF_ITEMS else count]
    text = first.drop(columns=TABLE, errors="ignore").to_json(orient="records", force_ascii=False)
    selected = [{k: v for k, v in row.items() if v not in (None, "")} for row in json.loads(text)]
    if cell["source"] == "accuracies" and "printed" in tables[0].path.parts:
        locations = printed_evidence(tables, first)
        selected = [row | location for row, location in zip(selected, locations, strict=True)]
    return Explanation(
        source,
        cell,
        recomputed,
        len(rows),
        tree,
        _items(tree, cell, tables, shown_rows, len(shown_rows) if item else count),
        selected,
        comparisons_of(source, cell) if "printed_row" in cell else [],
    )


def explain(
    exhibit: Path, row: str, column: str, items: int = 0, item: str | None = None
) -> Explanation:
    """Explain one cell of an exhibit, with at most ``items`` of its items, or one ``item``.

    Raises UserError when the exhibit, the cell or a table behind it is missing, or the file is not
    as its job wrote it.
    """
    source = cells_file(exhibit)
    for path in (source, exhibit):
        require_as_recorded(path)
    cell = find_cell(read_cells(source), row, column, source)
    require_shown(exhibit, cell)
    return explain_cell(source, cell, items, item)


def explain_comparison(path: Path, requested: dict[str, str | None], items: int = 0) -> Explanation:
    """Explain the cell that one row of a comparison with printed numbers compares.

    ``requested``: paper, exhibit, row and column, None for any. Raises UserError when several
    numbers match, or a table behind it is missing.
    """
    require_as_recorded(path)
    compared = find_comparison(path, requested)
    source, cell = compared_cell(path, compared)
    if cell is not None:
        return explain_cell(source, cell, items)
    printed = compared | printed_place(path, compared)
    return Explanation(path, None, None, 0, None, printed=[printed])
