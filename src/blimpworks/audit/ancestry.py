"""What a number was made from, as an indented list."""

import textwrap
from collections.abc import Collection
from pathlib import Path

from blimpworks.audit.lineage import Node

WIDTH = 100
FEW = 3
"""Most alike products that are listed one by one."""
FACTS = 3
"""Lines of what a job noted."""


def job_line(node: Node) -> str:
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


def step(node: Node) -> str:
    """How a product came to be, in a few words."""
    if node.remade or node.record is None:
        return job_line(node)
    return f"by {node.record['verb']}"


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


class Ancestry:
    """A lineage as lines; each product is described once.

    A line for each product, of many alike inputs those in ``shown`` or one; ``whole`` names all,
    each with its SHA-256, its job, and what the job noted.
    """

    def __init__(self, whole: bool, shown: Collection[str]) -> None:
        self._seen: set[Path] = set()
        self._whole, self._shown = whole, shown

    def _own(self, node: Node, indent: str) -> list[str]:
        """The lines on a product itself."""
        if not self._whole:
            return [f"{indent}← {node.path}  {step(node)}"]
        first = f"{indent}← {node.path}  sha256 {node.sha256[:12]}…"
        if node.path in self._seen:
            return [f"{first}  (above)"]
        return [first, *(f"{indent}     {line}" for line in (job_line(node), *_facts(node)))]

    def lines(self, node: Node, depth: int = 0) -> list[str]:
        """The product, how it was made, and what it was made from."""
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
