"""Explanations as text for people."""

import json
import textwrap
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.audit.cells import TEXT
from blimpworks.audit.explain import Explanation
from blimpworks.audit.lineage import Node

WIDTH = 100
FEW = 3
"""Most alike products that are listed one by one."""
LISTED = 6
"""Most values of a filter that are listed one by one."""
FACTS = 3
"""Lines of what a job noted."""
NO_BREAK = "\N{NO-BREAK SPACE}"
SHOWN = ("path", "line")


def _job_line(node: Node) -> str:
    """One line on the job behind a product: command, code, time, machine and commit."""
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
    """The facts that a job noted, such as counts or the source of a file, in lines."""
    facts: list[str] = []
    for key, value in (node.record["notes"] if node.record else {}).items():
        inner = value.items() if isinstance(value, dict) else [(key, value)]
        for name, fact in inner:
            deep = fact.items() if isinstance(fact, dict) else [(name, fact)]
            facts += [f"{name if n == name else f'{name} {n}'}: {f}" for n, f in deep if f]
    lines = textwrap.wrap(", ".join(facts), WIDTH, break_long_words=False)
    return lines if len(lines) <= FACTS else [*lines[:FACTS], "… (all in the record)"]


def _kind(node: Node) -> str:
    """The same for products of one command, suffix and depth: those that are listed together."""
    return f"{node.record['verb'] if node.record else ''} {node.path.suffix} {len(node.path.parts)}"


class _Tree:
    """The ancestry as an indented list; each product is described once."""

    def __init__(self, whole: bool, shown: Collection[str]) -> None:
        self._seen: set[Path] = set()
        self._whole, self._shown = whole, shown

    def _listed(self, alike: list[Node]) -> list[Node]:
        """Those of alike inputs that are listed: all, or those with shown items or rows, or one."""
        if self._whole or len(alike) <= FEW:
            return alike
        return [node for node in alike if str(node.path) in self._shown][:FEW] or alike[:1]

    def lines(self, node: Node, depth: int = 0) -> list[str]:
        """The product, the job that made it, and what it was made from."""
        indent = "   " * depth
        first = f"{indent}← {node.path}  sha256 {node.sha256[:12]}…"
        if node.path in self._seen:
            return [first + "  (above)"]
        self._seen.add(node.path)
        lines = [first, f"{indent}     {_job_line(node)}"]
        lines += [f"{indent}     {line}" for line in _facts(node)]
        kinds: dict[str, list[Node]] = {}
        for child in node.inputs:
            kinds.setdefault(_kind(child), []).append(child)
        for alike in kinds.values():
            shown = self._listed(alike)
            for child in shown:
                lines += self.lines(child, depth + 1)
            if len(shown) < len(alike):
                lines.append(f"{indent}   ← … and {len(alike) - len(shown)} like it (--all)")
        return lines


def _token_lines(side: dict[str, Any]) -> list[str]:
    """Pieces and log-probabilities; a star marks what is compared, ``·`` a space."""
    words = []
    for token in side["tokens"]:
        piece = token["piece"].replace(" ", "·").replace("\n", "⏎") or "∅"
        number = "–" if token["logprob"] is None else f"{token['logprob']:.2f}"
        words.append(f"{piece}{'*' if token['critical'] else ''} {number}".replace(" ", NO_BREAK))
    lines = textwrap.wrap("  ".join(words), WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f"       {line.replace(NO_BREAK, ' ')}" for line in lines]


def _origin_lines(item: dict[str, Any]) -> list[str]:
    """Treebank sentence with file and line, and the words that matter."""
    origin = item.get("origin")
    if not origin:
        return []
    words = ", ".join(f"{k} {w['id']} {w['form']}" for k, w in item.get("words", {}).items())
    place = f"{origin['path']}:{origin['line']}" if "path" in origin else origin["file"]
    named = f"  sent_id {origin['sent_id']}" if "sent_id" in origin else ""
    named += f" of {origin['released_from']}" if "released_from" in origin else ""
    named += f", revision {origin['revision']}" if "revision" in origin else ""
    lines = [f"     {place}{named}" + (f"  ({words})" if words else "")]
    return [*lines, f"       {origin['text']}"] if "text" in origin else lines


def _correctness(item: dict[str, Any]) -> Any:
    """A verdict as a word, or the share that a tie counts."""
    return {0.0: "wrong", 1.0: "right"}.get(item["correct"], item["correct"])


def _verdict(item: dict[str, Any]) -> str:
    """The verdict on a response and the rule that decided it; empty for other verdicts."""
    if "rule" not in item or "prompt" not in item:
        return ""
    if pd.isna(item["correct"]):
        return f"  {item['method']}: not judged"
    sure = "" if pd.isna(item["certain"]) else " for certain" if item["certain"] else ", uncertain"
    pattern = "" if pd.isna(item["pattern"]) else f" {item['pattern']!r}"
    return f"  {item['method']}: {_correctness(item)}{sure}, by rule {item['rule']}{pattern}"


def _indented(sign: str, text: str) -> list[str]:
    """A text of any number of lines behind a sign."""
    first, *rest = text.splitlines() or [""]
    return [f"   {sign} {first}", *(f"     {line}" for line in rest)]


def _answer_lines(item: dict[str, Any]) -> list[str]:
    """The prompt, the answer that it expects, and the whole response of the model."""
    if "prompt" not in item:
        return []
    lines = _indented("?", item["prompt"])
    lines += [f"   wanted: {item['gold']}"] if item["gold"] is not None else []
    if item.get("text") is not None:
        cut = "  [cut off at the limit]" if item.get("finish") == "length" else ""
        return [*lines, *_indented(">", f"{item['text']}{cut}")]
    return [*lines, f"   no answer: {item['status']}"] if "status" in item else lines


def _item_lines(items: Sequence[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for item in items:
        if "item_id" in item:
            verdict = ""
            if item.get("margin") is not None:
                margin = f"margin {item['margin']:+.3f}"
                verdict = f"  {item['method']}: {margin}, {_correctness(item)}"
            verdict = verdict or _verdict(item)
            lines.append(f"{item['item_id']}  {item['paradigm'] or ''}{verdict}")
            lines += _answer_lines(item)
        for sign, side in (("+", "good"), ("-", "bad")):
            if side in item:
                lines += _sentence_lines(sign, item[side])
        lines += _condition_lines(item)
        lines += _origin_lines(item)
    return lines


def _sentence_lines(sign: str, side: dict[str, Any]) -> list[str]:
    """A sentence behind a sign, with its log-probability and those of its tokens."""
    total = side["logprob"]
    known = "" if total is None else f"  [{total:.3f} nats]"
    return [f"   {sign} {side['text']}{known}", *_token_lines(side)]


def _condition_lines(item: dict[str, Any]) -> list[str]:
    """Predictions of an item, and the sentence of each of its conditions."""
    lines = [f"   predicted: {formula}" for formula in item.get("predictions", ())]
    for name, side in item.get("conditions", {}).items():
        lines += _sentence_lines(f"{name}:", side)
    return lines


def _row_lines(rows: Sequence[dict[str, Any]], of: int) -> list[str]:
    """Rows of a table, with the file and line of those that stand in one."""
    lines = []
    for row in rows:
        place = f"{row['path']}:{row['line']}: " if "line" in row and "path" in row else ""
        facts = ", ".join(f"{k} {v}" for k, v in row.items() if k not in SHOWN)
        lines += textwrap.wrap(
            place + facts, WIDTH, initial_indent="   ", subsequent_indent="     "
        )
    return [*lines, f"   … of {of} rows"] if rows and len(rows) < of else lines


def _printed_lines(printed: Sequence[dict[str, Any]]) -> list[str]:
    lines = []
    for row in printed:
        place = f" ({row['path']}:{row['line']})" if "line" in row else ""
        # A text such as "8 points" says its unit itself.
        known = row["unit"] in ("", TEXT) or row["unit"].split()[0] in row["printed"]
        unit = "" if known else f" {row['unit']}"
        lines.append(
            f"   the paper prints {row['printed']}{unit} in {row['exhibit']}, {row['row']} / "
            f"{row['column']}{place}: {row.get('status', row.get('verdict'))}"
        )
        corrected = row.get("corrected")
        lines += [f"      should read {corrected}"] if corrected is not None else []
        lines += [f"      here it reads {row['reading']}"] if row.get("reading") else []
        note = row.get("note", "")
        lines += textwrap.wrap(note, WIDTH, initial_indent="      ", subsequent_indent="      ")
    return lines


def _interval(cell: dict[str, Any]) -> str:
    """The interval, to as many decimals as the number is printed with, at least one."""
    if pd.isna(cell["low"]):
        return ""
    decimals = max(1, len(cell["text"].partition(".")[2]))
    return f", 95 % interval {cell['low']:.{decimals}f}-{cell['high']:.{decimals}f}"


def _where(text: str) -> str:
    """A cell's filter, with the first values of long lists alone."""
    where = json.loads(text)
    for column, values in where.items():
        if isinstance(values, list) and len(values) > LISTED:
            where[column] = [*values[:FEW], f"… {len(values) - FEW} more"]
    return json.dumps(where, ensure_ascii=False)


def _cell_lines(explanation: Explanation) -> list[str]:
    cell, again = explanation.cell, explanation.recomputed
    if cell is None or again is None:
        return ["No cell of ours stands for this number."]
    agrees = abs(again - cell["value"]) < 1e-9
    return [
        f"{cell['row']} / {cell['column']} = {cell['text']}{_interval(cell)}",
        f"   {cell['formula']} over {explanation.rows} {cell['source']} where "
        f"{_where(cell['filter'])}",
        f"   computed again from those rows: {again:.6g} "
        + ("(the same)" if agrees else f"(NOT the cell's {cell['value']:.6g})"),
    ]


def _paths(records: Sequence[dict[str, Any]], key: str) -> set[str]:
    return {record[key] for record in records if key in record}


def as_text(explanation: Explanation, whole: bool = False) -> str:
    """The explanation for people; ``whole`` names alike inputs one by one."""
    lines = _cell_lines(explanation) + _printed_lines(explanation.printed)
    if explanation.selected:
        rows = _row_lines(explanation.selected, explanation.rows)
        lines += ["", "Rows that it is computed from:", *rows]
    if explanation.tree:
        shown = {*_paths(explanation.items, "table"), *_paths(explanation.selected, "path")}
        lines += ["", *_Tree(whole, shown).lines(explanation.tree)]
    if explanation.items:
        lines += ["", *_item_lines(explanation.items)]
    return "\n".join(lines)
