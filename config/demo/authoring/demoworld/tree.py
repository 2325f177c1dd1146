"""Build and order dependency trees, and write them as text or CoNLL-U."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

CLOSERS = (",", ".", ";", ":")


@dataclass(eq=False)
class Node:
    """A word with its dependents before and after it, in surface order."""

    form: str
    lemma: str
    upos: str
    feats: str = "_"
    rel: str = "root"
    before: list[Node] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)
    glue: bool = False
    mwt: str = ""
    misc: str = ""
    deps: str = ""
    empty: str = ""

    def left(self, rel: str, node: Node | None) -> Node:
        """Attach a dependent directly before this word; return this word."""
        if node is not None:
            node.rel = rel
            self.before.append(node)
        return self

    def right(self, rel: str, node: Node | None) -> Node:
        """Attach a dependent after this word and its other dependents; return this word."""
        if node is not None:
            node.rel = rel
            self.after.append(node)
        return self

    def first(self, rel: str, node: Node) -> Node:
        """Attach a dependent as the first of this word's dependents; return this word."""
        node.rel = rel
        self.before.insert(0, node)
        return self

    def walk(self, head: Node | None = None) -> Iterator[tuple[Node, Node | None]]:
        """Yield (word, head) of this word and its descendants, in surface order."""
        for child in self.before:
            yield from child.walk(self)
        yield self, head
        for child in self.after:
            yield from child.walk(self)


def fs(*values: str) -> str:
    """Return feature strings as one sorted FEATS value."""
    items = {item for value in values for item in value.split("|") if item and item != "_"}
    return "|".join(sorted(items, key=str.lower)) or "_"


def punct(mark: str) -> Node:
    """Return a punctuation mark as a word."""
    return Node(mark, mark, "PUNCT")


Surface = Callable[[list[Node]], None]
Xpos = Callable[[Node], str]


@dataclass
class Sentence:
    """A finished sentence: its words in order, their heads and its text."""

    words: list[Node]
    heads: list[int]
    text: str

    @property
    def rows(self) -> Iterator[tuple[int, Node, int]]:
        """Yield (number, word, number of the head)."""
        for number, (word, head) in enumerate(zip(self.words, self.heads, strict=True), 1):
            yield number, word, head


def finish(root: Node, surface: Surface, *, wide_marks: bool = False) -> Sentence:
    """Return the sentence of a tree, after the language's spelling rules."""
    tidy(root)
    pairs = list(root.walk())
    nodes = [word for word, _ in pairs]
    position = {id(word): number for number, word in enumerate(nodes, 1)}
    heads = [0 if head is None else position[id(head)] for _, head in pairs]
    surface(nodes)
    start = next(word for word in nodes if word.upos != "PUNCT")
    start.form = start.form[0].upper() + start.form[1:]
    start.mwt = start.mwt[:1].upper() + start.mwt[1:]
    tight = CLOSERS if wide_marks else (*CLOSERS, "?", "!")
    for word, after in pairwise(nodes):
        if after.form in tight:
            word.glue = True
    return Sentence(nodes, heads, _text(nodes))


def tidy(root: Node) -> None:
    """Remove commas at the start of the sentence and before another mark."""
    pairs = list(root.walk())
    for (word, head), (after, _) in pairwise(pairs):
        first = word is pairs[0][0]
        if word.form == "," and head is not None and (first or after.upos == "PUNCT"):
            (head.before if word in head.before else head.after).remove(word)


def _text(nodes: list[Node]) -> str:
    pieces: list[str] = []
    skip = False
    for index, word in enumerate(nodes):
        if skip:
            skip = False
            continue
        last = nodes[index + 1] if word.mwt else word
        skip = bool(word.mwt)
        pieces.append((word.mwt or word.form) + ("" if last.glue else " "))
    return "".join(pieces).strip()


def conllu(sentence: Sentence, sent_id: str, xpos: Xpos) -> str:
    """Return a sentence as a CoNLL-U block."""
    lines = [f"# sent_id = {sent_id}", f"# text = {sentence.text}"]
    nodes = sentence.words
    inside = False
    for number, word, head in sentence.rows:
        last = number == len(nodes)
        glue = word.glue and not last
        if word.mwt:
            misc = "SpaceAfter=No" if nodes[number].glue else "_"
            lines.append(_line(f"{number}-{number + 1}", word.mwt, misc=misc))
            glue = False
        elif inside:
            glue = False
        inside = bool(word.mwt)
        misc = "|".join(m for m in (word.misc, "SpaceAfter=No" if glue else "") if m) or "_"
        deps = word.deps or f"{head}:{word.rel}"
        lines.append(
            _line(
                str(number), word.form, word.lemma, word.upos, xpos(word),
                word.feats, str(head), word.rel, deps, misc,
            )
        )  # fmt: skip
        if word.empty:
            form, lemma, upos, feats, edge = word.empty.split("\t")
            lines.append(_line(f"{number}.1", form, lemma, upos, "_", feats, deps=edge))
    return "\n".join(lines) + "\n\n"


def _line(
    number: str,
    form: str,
    lemma: str = "_",
    upos: str = "_",
    xpos: str = "_",
    feats: str = "_",
    head: str = "_",
    rel: str = "_",
    deps: str = "_",
    misc: str = "_",
) -> str:
    return "\t".join((number, form, lemma, upos, xpos, feats, head, rel, deps, misc))
