"""Where a number comes from: cell, formula, judgements, scores, model, items, treebank."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from blimpworks.catalogue import read_rows
from blimpworks.errors import UserError
from blimpworks.exhibits.formulas import FORMULAS, select_rows
from blimpworks.provenance.lineage import Node, lineage
from blimpworks.reference import PublishedRow

CELLS_SUFFIX = ".cells.parquet"
ITEM_COLUMNS = ("good", "bad", "treebank", "file", "sent_id")


@dataclass(slots=True)
class Explanation:
    """A cell, its ancestry, its value computed again, and some of its rows."""

    exhibit: Path
    cell: dict[str, Any]
    recomputed: float
    rows: int
    tree: Node
    items: list[dict[str, Any]]

    def as_json(self) -> str:
        """The same as one JSON object; the ancestry as a flat list of products."""
        cell = {key: None if pd.isna(value) else value for key, value in self.cell.items()}
        cell["filter"] = json.loads(self.cell["filter"])
        chain = [
            {"path": str(n.path), "sha256": n.sha256, "inputs": [str(i.path) for i in n.inputs]}
            | ({"made_by": n.record} if n.record else {})
            for n in self.tree.walk()
        ]
        document = {"exhibit": str(self.exhibit), "cell": cell, "recomputed": self.recomputed}
        document |= {"rows": self.rows, "items": self.items, "chain": chain}
        return json.dumps(document, indent=1, ensure_ascii=False)


def cells_file(exhibit: Path) -> Path:
    """The cells file of an exhibit given by any of its files."""
    if exhibit.name.endswith(CELLS_SUFFIX):
        return exhibit
    return exhibit.with_name(exhibit.name.split(".")[0] + CELLS_SUFFIX)


def _matches(cells: pd.DataFrame, column: str, wanted: str) -> pd.Series:
    """Cells whose row (or column) has the wanted name, or selects by it ("eng").

    Where there is none, the last words of a name will do ("High" of "Resources High").
    """
    names = cells[column].str.casefold()
    found = names == wanted.casefold()
    found |= cells["filter"].map(lambda text: wanted in json.loads(text).values())
    return found if found.any() else names.str.endswith(f" {wanted.casefold()}")


def find_cell(cells: pd.DataFrame, row: str, column: str, source: Path) -> dict[str, Any]:
    """The one cell in that row and column, by printed name or by code.

    Raises UserError that lists the rows or columns there are when it finds none or several.
    """
    for name, wanted in (("row", row), ("column", column)):
        found = cells[_matches(cells, name, wanted)]
        if found.empty:
            choice = ", ".join(dict.fromkeys(cells[name]))
            raise UserError(f"{source}: no {name} {wanted!r}; there are: {choice}.")
        cells = found
    if len(cells) > 1:
        exact = cells[(cells["row"] == row) & (cells["column"] == column)]
        if len(exact) != 1:
            choice = "; ".join(
                f"{r} / {c}" for r, c in zip(cells["row"], cells["column"], strict=True)
            )
            raise UserError(f"{source}: row {row!r}, column {column!r} means several: {choice}.")
        cells = exact
    return {str(key): value for key, value in cells.astype(object).iloc[0].items()}


def _others(record: dict[str, Any], where: dict[str, Any]) -> set[str]:
    """Languages and models of the exhibit that this cell is not about."""
    labels = record["params"]["labels"]
    kinds = {"lang": labels["languages"], "model": labels.get("models", {})}
    named = ((where[key], names) for key, names in kinds.items() if key in where)
    return {
        name
        for wanted, names in named
        for name in names
        if name not in (wanted if isinstance(wanted, list) else [wanted])
    }


def _read(path: Path) -> pd.DataFrame:
    if path.suffix == ".csv":
        return pd.DataFrame([row.model_dump() for row in read_rows(PublishedRow, path)])
    frame: pd.DataFrame = pq.read_table(path).to_pandas()
    labels = frame.select_dtypes("category").columns
    return frame.astype(dict.fromkeys(labels, object))


def _nearest(tree: Node, kind: str) -> list[Node]:
    """The nearest ancestors of one kind: a directory of that name is in their path.

    What lies behind one of them is not looked at: sampled items come from all items. Tables
    are Parquet files, and the printed numbers of a paper CSV files.
    """
    found: list[Node] = []
    waiting, seen = [*tree.inputs], set[Path]()
    while waiting:
        node = waiting.pop(0)
        if node.path in seen:
            continue
        seen.add(node.path)
        if kind in node.path.parts and node.path.suffix in (".parquet", ".csv"):
            found.append(node)
        else:
            waiting += node.inputs
    return found


def _rows(tree: Node, cell: dict[str, Any]) -> pd.DataFrame:
    """The rows that the cell's filter selects, from the tables it names."""
    where = json.loads(cell["filter"])
    frames = [_read(node.path) for node in _nearest(tree, cell["source"])]
    if not frames:
        raise UserError(f"no {cell['source']} table is among the inputs of this cell. Rebuild it.")
    return select_rows(pd.concat(frames, ignore_index=True), where)


def _spread(rows: pd.DataFrame, count: int) -> pd.DataFrame:
    """``count`` rows evenly over the margins, the most mistaken first."""
    if "margin" in rows:
        rows = rows.sort_values(["margin", "item_id"], kind="stable")
    steps = [round(i * (len(rows) - 1) / max(count - 1, 1)) for i in range(min(count, len(rows)))]
    return rows.iloc[list(dict.fromkeys(steps))]


def _items(tree: Node, rows: pd.DataFrame, count: int) -> list[dict[str, Any]]:
    """Some rows with their sentences, origin and log-probabilities."""
    if not count or "item_id" not in rows:
        return []
    chosen = _spread(rows, count)
    for kind, columns in (
        ("items", ITEM_COLUMNS),
        ("scores", ("logprob_good", "logprob_bad", "good_logprobs", "bad_logprobs")),
    ):
        wanted = [c for c in columns if c not in chosen]
        frames = [_read(node.path) for node in _nearest(tree, kind)]
        if frames and wanted:
            table = pd.concat(frames).drop_duplicates("item_id")[["item_id", *wanted]]
            chosen = chosen.merge(table, on="item_id", how="left")
    records: list[dict[str, Any]] = json.loads(chosen.to_json(orient="records", force_ascii=False))
    return records


def explain(exhibit: Path, row: str, column: str, items: int) -> Explanation:
    """Explain one cell of an exhibit, with at most ``items`` of its rows.

    Raises UserError when the exhibit, the cell or one of the tables behind it is missing.
    """
    source = cells_file(exhibit)
    if not source.is_file():
        raise UserError(f"{source} does not exist; expected the cells of an exhibit. Build it.")
    cell = find_cell(_read(source), row, column, source)
    whole = lineage(source)
    assert whole.record is not None
    tree = lineage(source, _others(whole.record, json.loads(cell["filter"])))
    rows = _rows(tree, cell)
    recomputed = FORMULAS[cell["formula"]](rows)
    return Explanation(exhibit, cell, recomputed, len(rows), tree, _items(tree, rows, items))


def _made(node: Node) -> str:
    """One line on the job behind a product."""
    record = node.record
    if node.remade:
        return "made anew since, with other content: this version is gone"
    if record is None:
        return "from outside"
    commit = (record["git"]["commit"] or "no commit")[:12]
    state = {True: "", False: " with local changes", None: ""}[record["git"]["clean"]]
    return (
        f"{record['verb']}, code {record['code']}, {record['ended'][:19]} on "
        f"{record['host']['name']}, commit {commit}{state}"
    )


def _facts(node: Node) -> list[str]:
    """What a job noted, such as counts or where a file came from, in lines."""
    facts: list[str] = []
    for key, value in (node.record["notes"] if node.record else {}).items():
        inner = value.items() if isinstance(value, dict) else [(key, value)]
        facts += [f"{name}: {fact}" for name, fact in inner if fact]
    return textwrap.wrap(", ".join(facts), 100, break_long_words=False)


def _tree_lines(node: Node, depth: int, seen: set[Path]) -> list[str]:
    indent = "   " * depth
    lines = [f"{indent}← {node.path}  sha256 {node.sha256[:12]}…"]
    if node.path in seen:
        return [lines[0] + "  (above)"]
    seen.add(node.path)
    lines.append(f"{indent}     {_made(node)}")
    lines += [f"{indent}     {line}" for line in _facts(node)]
    for child in node.inputs:
        lines += _tree_lines(child, depth + 1, seen)
    return lines


def _item_lines(items: Sequence[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for item in items:
        margin = item.get("margin")
        verdict = "" if margin is None else f"  margin {margin:+.3f} nats"
        lines += [
            f"{item['item_id']}  {item['paradigm']}{verdict}",
            f"   + {item['good']}" + _logprob(item, "logprob_good"),
            f"   - {item['bad']}" + _logprob(item, "logprob_bad"),
            f"     {item['treebank']}/{item['file']} # sent_id = {item['sent_id']}",
        ]
    return lines


def _logprob(item: dict[str, Any], name: str) -> str:
    value = item.get(name)
    return "" if value is None else f"  [{value:.3f}]"


def as_text(explanation: Explanation) -> str:
    """The explanation for people."""
    cell = explanation.cell
    interval = (
        "" if pd.isna(cell["low"]) else f", 95 % interval {cell['low']:.1f}-{cell['high']:.1f}"
    )
    agrees = abs(explanation.recomputed - cell["value"]) < 1e-9
    lines = [
        f"{cell['row']} / {cell['column']} = {cell['text']}{interval}",
        f"   {cell['formula']} over {explanation.rows} {cell['source']} where {cell['filter']}",
        f"   computed again from those rows: {explanation.recomputed:.6g} "
        + ("(the same)" if agrees else f"(NOT the cell's {cell['value']:.6g})"),
        "",
        *_tree_lines(explanation.tree, 0, set()),
    ]
    if explanation.items:
        lines += ["", *_item_lines(explanation.items)]
    return "\n".join(lines)
