"""Show the explanation of a number (``explain.Explanation``) as text, or as an HTML page.

``as_text`` and ``write_page`` show sections: the number, its items with tokens, its formula, its
rows, and its ancestry, the files that it was made from, with their jobs.
"""

import json
import math
import re
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from blimpworks.audit.cells import TEXT_UNIT
from blimpworks.audit.explain import Explanation
from blimpworks.audit.lineage import Node
from blimpworks.files import write_text

WIDTH = 100
MOST_EXAMPLES = 3
"""Number of similar products, and of values of a long filter, that are listed as examples."""
MOST_NOTE_LINES = 3
"""Most lines on a job's notes."""
MOST_FILTER_VALUES = 6
"""Most values of a filter that are listed without shortening."""
NO_BREAK = "\N{NO-BREAK SPACE}"

Token = dict[str, Any]
"""A ``piece`` of a sentence with its ``logprob``, and whether it is ``critical``."""
Pair = tuple[Token | None, Token | None]
"""A token of the good and a token of the bad sentence; None if the sentence has none there."""


def _piece(token: Token | None) -> str:
    """Return the text of a token with visible spaces and line ends; "∅" for an empty one."""
    if token is None:
        return ""
    return token["piece"].replace(" ", "·").replace("\n", "⏎") or "∅"


def _starred(token: Token | None) -> str:
    return _piece(token) + ("*" if token and token["critical"] else "")


def _logprob(token: Token | None) -> str:
    """Return the log-probability of a token, in nats; "–" for a token that is not scored."""
    if token is None:
        return ""
    return "–" if token["logprob"] is None else f"{token['logprob']:.2f}"


def _sentence_line(sign: str, side: dict[str, Any]) -> str:
    total = side["logprob"]
    return f"   {sign} {side['text']}" + ("" if total is None else f"  [{total:.3f} nats]")


def _sentence_lines(sign: str, side: dict[str, Any]) -> list[str]:
    """Return a line with the sentence, and lines with its tokens and log-probabilities."""
    tokens = [f"{_starred(t)} {_logprob(t)}".replace(" ", NO_BREAK) for t in side["tokens"]]
    lines = textwrap.wrap("  ".join(tokens), WIDTH, break_long_words=False, break_on_hyphens=False)
    indented = [" " * 7 + line.replace(NO_BREAK, " ") for line in lines]
    return [_sentence_line(sign, side), *indented]


def _indented(sign: str, text: str) -> list[str]:
    first, *further_lines = text.splitlines() or [""]
    return [f"   {sign} {first}", *(f"     {line}" for line in further_lines)]


def _verdict(item: dict[str, Any]) -> str:
    # Each type of item has other keys: a sentence "accepted", a pair "margin", a response "rule".
    correct = {0.0: "wrong", 1.0: "right"}.get(item.get("correct", ""), item.get("correct"))
    if "sentence" in item and not pd.isna(item.get("accepted")):
        accepted = "accepted" if item["accepted"] else "not accepted"
        return (
            f"  {item['method']}: value {item['value_good']:.3f}, threshold "
            f"{item['value_bad']:.3f}, {accepted}, {correct}"
        )
    if "sentence" in item:
        return f"  {item['method']}: not judged" if "accepted" in item else ""
    if item.get("margin") is not None:
        return f"  {item['method']}: margin {item['margin']:+.3f}, {correct}"
    if "rule" not in item or "prompt" not in item:
        return ""
    if pd.isna(item["correct"]):
        return f"  {item['method']}: not judged"
    sure = ""
    if not pd.isna(item["certain"]):
        sure = " for certain" if item["certain"] else ", uncertain"
    pattern = "" if pd.isna(item["pattern"]) else f" {item['pattern']!r}"
    return f"  {item['method']}: {correct}{sure}, by rule {item['rule']}{pattern}"


class Block(NamedTuple):
    """Text of an item: the sentences of a pair (else empty), and lines before and after them."""

    before: list[str]
    pair: Sequence[dict[str, Any]]
    after: list[str]

    @property
    def token_pairs(self) -> list[Pair]:
        """Tokens of both sentences in order, as pairs; equal tokens are in the same pair."""
        if not self.pair:
            return []
        good, bad = (side["tokens"] for side in self.pair)
        first, second = ([token["piece"] for token in side] for side in (good, bad))
        pairs: list[Pair] = []
        # Each step is a run of equal tokens, or of different ones: good[a:b] and bad[c:d].
        for _, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
            pairs += zip_longest(good[a:b], bad[c:d])
        return pairs

    @property
    def lines(self) -> list[str]:
        """Lines of text, in which tokens of the same pair are aligned."""
        # A block has four lines: good tokens, their log-probabilities, bad tokens, and their
        # log-probabilities. The signs before the lines are "+", " ", "-", " ".
        blocks: list[list[str]] = []
        for good, bad in self.token_pairs:
            cells_of_pair = [_starred(good), _logprob(good), _starred(bad), _logprob(bad)]
            width = max(map(len, cells_of_pair))
            if not blocks or len(blocks[-1][0]) + width > WIDTH - 7:
                blocks.append([""] * 4)
            lines = zip(blocks[-1], cells_of_pair, strict=True)
            blocks[-1] = [f"{line}{cell.ljust(width)}  " for line, cell in lines]
        signed_lines = [line for block in blocks for line in zip("+ - ", block, strict=True)]
        tokens = ["     " + f"{sign} {line}".rstrip() for sign, line in signed_lines]
        return [*self.before, *map(_sentence_line, "+-", self.pair), *tokens, *self.after]


def _prompt_lines(item: dict[str, Any]) -> list[str]:
    lines = _indented("?", item["prompt"])
    if item["gold"] is not None:
        lines.append(f"   wanted: {item['gold']}")
    if item.get("text") is not None:
        cut = "  [cut off at the limit]" if item.get("finish") == "length" else ""
        lines += _indented(">", f"{item['text']}{cut}")
    elif "status" in item:
        lines.append(f"   no answer: {item['status']}")
    return lines


def _origin_lines(item: dict[str, Any]) -> list[str]:
    """Return a line such as "de.conllu:12  sent_id s3  (subject 2 Hund)", and the origin's text."""
    origin = item["origin"]
    line = f"{origin['path']}:{origin['line']}" if "path" in origin else origin["file"]
    line += f"  sent_id {origin['sent_id']}" if "sent_id" in origin else ""
    line += f" of {origin['released_from']}" if "released_from" in origin else ""
    line += f", revision {origin['revision']}" if "revision" in origin else ""
    forms = ", ".join(f"{k} {w['id']} {w['form']}" for k, w in item.get("words", {}).items())
    lines = [f"     {line}" + (f"  ({forms})" if forms else "")]
    return [*lines, f"       {origin['text']}"] if "text" in origin else lines


def block_of(item: dict[str, Any]) -> Block:
    """Format an item: verdict, prompt and answer, sentences with their pieces, and origin."""
    before, after = list[str](), list[str]()
    if "item_id" in item:
        before.append(f"{item['item_id']}  {item['paradigm'] or ''}{_verdict(item)}")
        before += _prompt_lines(item) if "prompt" in item else []
    if "sentence" in item:
        sign = "acceptable:" if item["acceptable"] else "not acceptable:"
        before += _sentence_lines(sign, item["sentence"])
    pair = [item[side] for side in ("good", "bad") if side in item]
    if len(pair) == 1:
        before, pair = [*before, *_sentence_lines("+", pair[0])], []
    signs = (" (holds)" if holds else " (does not hold)" for holds in item.get("held") or ())
    for formula, sign in zip_longest(item.get("predictions", ()), signs, fillvalue=""):
        after.append(f"   predicted: {formula}{sign}")
    for name, side in item.get("conditions", {}).items():
        after += _sentence_lines(f"{name}:", side)
    if item.get("origin"):
        after += _origin_lines(item)
    return Block(before, pair, after)


def item_lines(items: Sequence[dict[str, Any]]) -> list[str]:
    """Return the lines of all items."""
    return [line for item in items for line in block_of(item).lines]


def _heading(explanation: Explanation) -> list[str]:
    """Return lines on the number, its interval, and the number that the paper prints."""
    cell = explanation.cell
    if cell is None:
        lines = ["The campaign has no cell for this number."]
    else:
        interval = ""
        # The text of some cells contains the interval.
        if not pd.isna(cell["low"]) and "[" not in cell["text"]:
            # The interval has as many decimals as the number: 2 for "0.81 ± 0.02".
            digits = re.search(r"\.(\d+)", cell["text"])
            decimals = len(digits[1]) if digits else 1
            interval = f", 95 % interval {cell['low']:.{decimals}f}-{cell['high']:.{decimals}f}"
        lines = [f"{cell['row']} / {cell['column']} = {cell['text']}{interval}"]
    for row in explanation.printed:
        location = f" ({row['path']}:{row['line']})" if "line" in row else ""
        # Texts have no unit to add, and "8 points" contains its unit.
        needs_no_unit = row["unit"] in ("", TEXT_UNIT) or row["unit"].split()[0] in row["printed"]
        unit = "" if needs_no_unit else f" {row['unit']}"
        lines.append(
            f"   the paper prints {row['printed']}{unit} in {row['exhibit']}, {row['row']} / "
            f"{row['column']}{location}: {row.get('status', row.get('verdict'))}"
        )
        corrected = row.get("corrected")
        lines += [f"      should read {corrected}"] if corrected is not None else []
        lines += [f"      here it reads {row['reading']}"] if row.get("reading") else []
        note = row.get("note", "")
        lines += textwrap.wrap(note, WIDTH, initial_indent="      ", subsequent_indent="      ")
    return lines


def _formula_lines(explanation: Explanation) -> list[str]:
    """Return lines with the formula, the filter of its rows, and the number computed again."""
    cell, recomputed = explanation.cell, explanation.recomputed
    if cell is None or recomputed is None:
        return []
    row_filter = json.loads(cell["filter"])
    for column, values in row_filter.items():
        if isinstance(values, list) and len(values) > MOST_FILTER_VALUES:
            row_filter[column] = [*values[:MOST_EXAMPLES], f"… {len(values) - MOST_EXAMPLES} more"]
    # A number without a value, such as a correlation of equal numbers, is NaN both times.
    both_absent = math.isnan(recomputed) and math.isnan(cell["value"])
    same = both_absent or abs(recomputed - cell["value"]) < 1e-9
    return [
        f"   {cell['formula']} over {explanation.rows} {cell['source']} where "
        f"{json.dumps(row_filter, ensure_ascii=False)}",
        f"   computed again from those rows: {recomputed:.6g} "
        + ("(the same)" if same else f"(NOT the cell's {cell['value']:.6g})"),
        *(f"   {fact}" for fact in explanation.facts),
    ]


def _row_lines(rows: Sequence[dict[str, Any]], total: int) -> list[str]:
    if not rows:
        return []
    lines = ["Rows that it is computed from:"]
    for row in rows:
        location = f"{row['path']}:{row['line']}: " if "line" in row and "path" in row else ""
        facts = ", ".join(f"{k} {v}" for k, v in row.items() if k not in ("path", "line"))
        lines += textwrap.wrap(
            location + facts, WIDTH, initial_indent="   ", subsequent_indent="     "
        )
    return [*lines, f"   … of {total} rows"] if len(rows) < total else lines


def _job_lines(node: Node) -> list[str]:
    """Return lines on a product's job: command, code, time, machine, commit and notes."""
    record = node.record
    if node.remade:
        return ["made again since, with other content: this version is gone"]
    if record is None:
        return ["from outside"]
    commit = (record["git"]["commit"] or "no commit")[:12]
    state = {True: "", False: " with local changes", None: ""}[record["git"]["clean"]]
    # Notes are nested: {"rows": {"eng": {"good": 3}, "fra": 4}} becomes "eng good: 3, fra: 4".
    note_texts = []
    for key, note in record["notes"].items():
        for name, fact in (note if isinstance(note, dict) else {key: note}).items():
            for subkey, value in (fact if isinstance(fact, dict) else {"": fact}).items():
                note_texts += [f"{name} {subkey}".strip() + f": {value}"] if value else []
    notes = textwrap.wrap(", ".join(note_texts), WIDTH, break_long_words=False)
    where = f"on {record['host']['name']}, commit {commit}{state}"
    lines = [f"{record['verb']}, code {record['code']}, {record['ended'][:19]} {where}"]
    lines += notes[:MOST_NOTE_LINES]
    return [*lines, "… (all in the record)"] if len(notes) > MOST_NOTE_LINES else lines


def _ancestry(
    node: Node, full: bool, examples: Collection[str], seen: set[Path], depth: int = 0
) -> Iterator[str]:
    """Yield lines on a product, its job and its inputs, each product once.

    If more than ``MOST_EXAMPLES`` inputs were made by the same command, list only the inputs in
    ``examples``, or else the first. With ``full``, list all, with SHA-256, job and notes.
    """
    indent, hash_text = "   " * depth, f"sha256 {node.sha256[:12]}…"
    if node.path in seen:
        if full:
            yield f"{indent}← {node.path}  {hash_text}  (above)"
        return
    seen.add(node.path)
    if full:
        yield f"{indent}← {node.path}  {hash_text}"
        yield from (f"{indent}     {line}" for line in _job_lines(node))
    else:
        step = f"by {node.record['verb']}" if node.record else _job_lines(node)[0]
        yield f"{indent}← {node.path}  {step}"
    # Inputs are alike if the same command made them, and their paths have the same form.
    groups: dict[tuple[str, str, int], list[Node]] = defaultdict(list)
    for source in node.inputs:
        command = source.record["verb"] if source.record else ""
        form = (command, source.path.suffix, len(source.path.parts))
        groups[form].append(source)
    for alike in groups.values():
        listed = alike
        if not full and len(alike) > MOST_EXAMPLES:
            listed = [n for n in alike if str(n.path) in examples][:MOST_EXAMPLES] or alike[:1]
        for source in listed:
            yield from _ancestry(source, full, examples, seen, depth + 1)
        if len(listed) < len(alike):
            yield f"{indent}   ← … and {len(alike) - len(listed)} like it"


def _sections(explanation: Explanation, *, full_ancestry: bool) -> dict[str, list[str]]:
    """Return the lines of each section of the explanation, by its name in the template."""
    ancestry: list[str] = []
    if explanation.tree is not None:
        examples = {item["table"] for item in explanation.items if "table" in item}
        examples |= {row["path"] for row in explanation.selected if "path" in row}
        heading = "Made from:" if full_ancestry else "Made from (--ancestry says more):"
        ancestry = [heading, *_ancestry(explanation.tree, full_ancestry, examples, set())]
    return {
        "number": _heading(explanation),
        "items": item_lines(explanation.items),
        "formula": _formula_lines(explanation),
        "rows": _row_lines(explanation.selected, explanation.rows),
        "ancestry": ancestry,
    }


def as_text(explanation: Explanation, *, full_ancestry: bool = False) -> str:
    """Return the explanation as text."""
    sections = _sections(explanation, full_ancestry=full_ancestry).values()
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def write_page(explanation: Explanation, path: Path) -> None:
    """Write the explanation, with all of its ancestry, as an HTML page."""
    from jinja2 import Environment, FileSystemLoader  # slow to import, and not needed for text

    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    environment.filters |= {"piece": _piece, "number": _logprob, "sentence": _sentence_line}
    products = len([*explanation.tree.walk()]) if explanation.tree else 0
    blocks = [*map(block_of, explanation.items)]
    facts = {**_sections(explanation, full_ancestry=True), "items": blocks, "products": products}
    write_text(path, environment.get_template("explained.html.jinja").render(facts))
