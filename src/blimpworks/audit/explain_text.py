"""Explanations as text, with the lineage of a number, and as a page."""

import json
import textwrap
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.audit.aligned import Token, align, aligned_lines, shown_number, shown_piece
from blimpworks.audit.cells import TEXT
from blimpworks.audit.explain import Explanation
from blimpworks.audit.lineage import Node
from blimpworks.files import write_text

WIDTH = 100
FEW = 3
"""Most similar products that are listed one by one."""
FACTS = 3
"""Lines of a job's notes."""


def job_line(node: Node) -> str:
    """Return one line on a product's job: command, code, time, machine and commit."""
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


def step(node: Node) -> str:
    """Return a product's origin in a few words."""
    if node.remade or node.record is None:
        return job_line(node)
    return f"by {node.record['verb']}"


def _facts(node: Node) -> list[str]:
    """Return a job's notes, such as counts or the source of a file, in lines."""
    facts: list[str] = []
    for key, value in (node.record["notes"] if node.record else {}).items():
        inner = value.items() if isinstance(value, dict) else [(key, value)]
        for name, fact in inner:
            deep = fact.items() if isinstance(fact, dict) else [(name, fact)]
            facts += [f"{name if n == name else f'{name} {n}'}: {f}" for n, f in deep if f]
    lines = textwrap.wrap(", ".join(facts), WIDTH, break_long_words=False)
    return lines if len(lines) <= FACTS else [*lines[:FACTS], "… (all in the record)"]


class Ancestry:
    """A lineage as lines; each product is described once.

    Similar inputs are represented by those in ``shown`` or one; ``whole`` names all, each with its
    SHA-256, job and notes.
    """

    def __init__(self, whole: bool, shown: Collection[str]) -> None:
        self._seen: set[Path] = set()
        self._whole, self._shown = whole, shown

    def _own(self, node: Node, indent: str) -> list[str]:
        if not self._whole:
            return [f"{indent}← {node.path}  {step(node)}"]
        first = f"{indent}← {node.path}  sha256 {node.sha256[:12]}…"
        if node.path in self._seen:
            return [f"{first}  (above)"]
        return [first, *(f"{indent}     {line}" for line in (job_line(node), *_facts(node)))]

    def lines(self, node: Node, depth: int = 0) -> list[str]:
        """Return lines on the product, its job and its inputs."""
        indent = "   " * depth
        if node.path in self._seen:
            return self._own(node, indent) if self._whole else []
        lines = self._own(node, indent)
        self._seen.add(node.path)
        groups: dict[tuple[str, str, int], list[Node]] = {}
        for child in node.inputs:
            command = child.record["verb"] if child.record else ""
            group = (command, child.path.suffix, len(child.path.parts))
            groups.setdefault(group, []).append(child)
        for alike in groups.values():
            listed = alike
            if not self._whole and len(alike) > FEW:
                listed = [n for n in alike if str(n.path) in self._shown][:FEW] or alike[:1]
            for child in listed:
                lines += self.lines(child, depth + 1)
            if len(listed) < len(alike):
                lines.append(f"{indent}   ← … and {len(alike) - len(listed)} like it")
        return lines


LISTED = 6
"""Most values of a filter that are listed one by one."""
NO_BREAK = "\N{NO-BREAK SPACE}"
SHOWN = ("path", "line")


def _token_lines(side: dict[str, Any]) -> list[str]:
    words = [f"{shown_piece(t)} {shown_number(t)}".replace(" ", NO_BREAK) for t in side["tokens"]]
    lines = textwrap.wrap("  ".join(words), WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f"       {line.replace(NO_BREAK, ' ')}" for line in lines]


def _pair_lines(good: dict[str, Any], bad: dict[str, Any]) -> list[str]:
    lines = [sentence("+", good), sentence("-", bad)]
    if good["tokens"] or bad["tokens"]:
        lines += [f"     {x}" for x in aligned_lines(good["tokens"], bad["tokens"], WIDTH - 7)]
    return lines


def _origin_lines(item: dict[str, Any]) -> list[str]:
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
    return {0.0: "wrong", 1.0: "right"}.get(item["correct"], item["correct"])


def _verdict(item: dict[str, Any]) -> str:
    """Return the verdict on a response and the rule that decided it; empty for others."""
    if "rule" not in item or "prompt" not in item:
        return ""
    if pd.isna(item["correct"]):
        return f"  {item['method']}: not judged"
    sure = "" if pd.isna(item["certain"]) else " for certain" if item["certain"] else ", uncertain"
    pattern = "" if pd.isna(item["pattern"]) else f" {item['pattern']!r}"
    return f"  {item['method']}: {_correctness(item)}{sure}, by rule {item['rule']}{pattern}"


def _acceptance(item: dict[str, Any]) -> str:
    """Return value, threshold and verdict of a single sentence."""
    if pd.isna(item.get("accepted")):
        return f"  {item['method']}: not judged" if "accepted" in item else ""
    accepted = "accepted" if item["accepted"] else "not accepted"
    return (
        f"  {item['method']}: value {item['value_good']:.3f}, threshold {item['value_bad']:.3f}, "
        f"{accepted}, {_correctness(item)}"
    )


def _indented(sign: str, text: str) -> list[str]:
    first, *rest = text.splitlines() or [""]
    return [f"   {sign} {first}", *(f"     {line}" for line in rest)]


def _answer_lines(item: dict[str, Any]) -> list[str]:
    if "prompt" not in item:
        return []
    lines = _indented("?", item["prompt"])
    lines += [f"   wanted: {item['gold']}"] if item["gold"] is not None else []
    if item.get("text") is not None:
        cut = "  [cut off at the limit]" if item.get("finish") == "length" else ""
        return [*lines, *_indented(">", f"{item['text']}{cut}")]
    return [*lines, f"   no answer: {item['status']}"] if "status" in item else lines


def item_lines(items: Sequence[dict[str, Any]]) -> list[str]:
    """Return items in lines: verdict, sentences with their pieces, and origin."""
    lines: list[str] = []
    for item in items:
        if "item_id" in item:
            verdict = ""
            if "sentence" in item:
                verdict = _acceptance(item)
            elif item.get("margin") is not None:
                margin = f"margin {item['margin']:+.3f}"
                verdict = f"  {item['method']}: {margin}, {_correctness(item)}"
            verdict = verdict or _verdict(item)
            lines.append(f"{item['item_id']}  {item['paradigm'] or ''}{verdict}")
            lines += _answer_lines(item)
        if "sentence" in item:
            sign = "acceptable:" if item["acceptable"] else "not acceptable:"
            lines += _sentence_lines(sign, item["sentence"])
        if "good" in item and "bad" in item:
            lines += _pair_lines(item["good"], item["bad"])
        elif "good" in item:
            lines += _sentence_lines("+", item["good"])
        lines += _condition_lines(item)
        lines += _origin_lines(item)
    return lines


def sentence(sign: str, side: dict[str, Any]) -> str:
    """Return a sentence after a sign, with its log-probability."""
    total = side["logprob"]
    return f"   {sign} {side['text']}" + ("" if total is None else f"  [{total:.3f} nats]")


def _sentence_lines(sign: str, side: dict[str, Any]) -> list[str]:
    return [sentence(sign, side), *_token_lines(side)]


def _condition_lines(item: dict[str, Any]) -> list[str]:
    formulas = item.get("predictions", ())
    signs = [" (holds)" if holds else " (does not hold)" for holds in item.get("held") or ()]
    lines = [
        f"   predicted: {formula}{sign}"
        for formula, sign in zip(formulas, signs or [""] * len(formulas), strict=True)
    ]
    for name, side in item.get("conditions", {}).items():
        lines += _sentence_lines(f"{name}:", side)
    return lines


def _row_lines(rows: Sequence[dict[str, Any]], of: int) -> list[str]:
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
    """Return the interval, with the number's decimals and at least one."""
    # Where the text has it, it stands there already.
    if pd.isna(cell["low"]) or "[" in cell["text"]:
        return ""
    decimals = max(1, len(cell["text"].partition(".")[2]))
    return f", 95 % interval {cell['low']:.{decimals}f}-{cell['high']:.{decimals}f}"


def _where(text: str) -> str:
    where = json.loads(text)
    for column, values in where.items():
        if isinstance(values, list) and len(values) > LISTED:
            where[column] = [*values[:FEW], f"… {len(values) - FEW} more"]
    return json.dumps(where, ensure_ascii=False)


def _heading(explanation: Explanation) -> list[str]:
    cell = explanation.cell
    number = "No cell of ours stands for this number."
    if cell is not None:
        number = f"{cell['row']} / {cell['column']} = {cell['text']}{_interval(cell)}"
    return [number, *_printed_lines(explanation.printed)]


def _formula_lines(explanation: Explanation) -> list[str]:
    cell, again = explanation.cell, explanation.recomputed
    if cell is None or again is None:
        return []
    agrees = abs(again - cell["value"]) < 1e-9
    return [
        f"   {cell['formula']} over {explanation.rows} {cell['source']} where "
        f"{_where(cell['filter'])}",
        f"   computed again from those rows: {again:.6g} "
        + ("(the same)" if agrees else f"(NOT the cell's {cell['value']:.6g})"),
        *(f"   {fact}" for fact in explanation.facts),
    ]


def _ancestry(explanation: Explanation, *, whole: bool) -> list[str]:
    if explanation.tree is None:
        return []
    shown = {item["table"] for item in explanation.items if "table" in item}
    shown |= {row["path"] for row in explanation.selected if "path" in row}
    heading = "Made from:" if whole else "Made from (--ancestry says more):"
    return [heading, *Ancestry(whole, shown).lines(explanation.tree)]


def sections(explanation: Explanation, *, whole: bool = False) -> dict[str, list[str]]:
    """Return the explanation's parts in lines, sentences first; ``whole`` for all ancestry."""
    rows = _row_lines(explanation.selected, explanation.rows) if explanation.selected else []
    return {
        "number": _heading(explanation),
        "items": item_lines(explanation.items),
        "formula": _formula_lines(explanation),
        "rows": ["Rows that it is computed from:", *rows] if rows else [],
        "ancestry": _ancestry(explanation, whole=whole),
    }


def as_text(explanation: Explanation, *, whole: bool = False) -> str:
    """Return the explanation for people; ``whole`` for all of the ancestry."""
    parts = sections(explanation, whole=whole).values()
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


HERE = Path(__file__).parent
TEMPLATE = "explained.html.jinja"
SIGNS = {"+": "good", "-": "bad"}


def _piece(token: Token | None) -> dict[str, Any]:
    critical = token is not None and token["critical"]
    piece = shown_piece(token)
    # The terminal marks a critical piece with an asterisk.
    piece = piece.removesuffix("*") if critical else piece
    return {"piece": piece, "number": shown_number(token), "critical": critical}


def _item(item: dict[str, Any]) -> dict[str, Any]:
    if not {"good", "bad"} <= item.keys():
        return {"pairs": [], "rest": item_lines([item])}
    sides = {side: item.pop(side) for side in ("good", "bad")}
    heading, *rest = item_lines([item])
    pairs = align(sides["good"]["tokens"], sides["bad"]["tokens"])
    return {
        "heading": heading,
        "sentences": [sentence(sign, sides[side]) for sign, side in SIGNS.items()],
        "pairs": [(_piece(good), _piece(bad)) for good, bad in pairs],
        "rest": [line.strip() for line in rest],
    }


def write_page(explanation: Explanation, path: Path) -> None:
    """Write the explanation to ``path``, with all of the ancestry."""
    from jinja2 import Environment, FileSystemLoader  # slow to import, and text needs neither

    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True)
    parts: dict[str, Any] = {**sections(explanation, whole=True)}
    parts["items"] = [_item({**item}) for item in explanation.items]
    products = len([*explanation.tree.walk()]) if explanation.tree else 0
    write_text(path, environment.get_template(TEMPLATE).render(parts, products=products))
