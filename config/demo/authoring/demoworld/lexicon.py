"""Read the lexicon files of one language."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

from .tree import Node, fs

Row = dict[str, str]


@dataclass(frozen=True)
class Noun:
    """A noun with its forms, gender and classes of meaning."""

    lemma: str
    plural: str
    gender: str
    extra: str
    classes: frozenset[str]


@dataclass(frozen=True)
class Frame:
    """A verb's frame: classes of its subject and object, and its phrases."""

    verb: str
    subj: frozenset[str]
    obj: frozenset[str]
    pps: tuple[str, ...]
    flags: frozenset[str]


@dataclass(frozen=True)
class Adjunct:
    """An adverbial of time or manner, as an annotated phrase."""

    spec: str
    tense: str
    rel: str


@dataclass
class Lexicon:
    """The word lists of one language."""

    iso: str
    nouns: list[Noun]
    verbs: dict[str, Row]
    frames: list[Frame]
    adjectives: list[Row]
    modifiers: dict[str, list[str]]
    adjuncts: list[Adjunct]
    aliases: dict[str, str]
    paradigms: dict[str, dict[str, str]]
    words: list[str]
    hand: list[str]


def read_tsv(path: Path) -> list[Row]:
    """Return the rows of a tab-separated file with a header line."""
    with path.open(encoding="utf-8", newline="") as handle:
        rows = csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [{key: value or "" for key, value in row.items() if key} for row in rows]


def load(folder: Path) -> Lexicon:
    """Return the word lists in a folder."""
    tables = {path.stem: read_tsv(path) for path in sorted(folder.glob("*.tsv"))}
    setup = json.loads((folder / "setup.json").read_text(encoding="utf-8"))
    hand = (folder / "hand.txt").read_text(encoding="utf-8").splitlines()
    return Lexicon(
        iso=folder.name,
        nouns=[_noun(row) for row in tables["nouns"]],
        verbs={row["lemma"]: row for row in tables["verbs"]},
        frames=[_frame(row) for row in tables["frames"]],
        adjectives=tables["adjectives"],
        modifiers={row["class"]: row["pps"].split() for row in tables["modifiers"]},
        adjuncts=[Adjunct(r["phrase"], r["tense"], r["rel"]) for r in tables["adjuncts"]],
        aliases=setup["aliases"],
        paradigms=setup["paradigms"],
        words=setup["words"],
        hand=[line for line in hand if line.strip() and not line.startswith("#")],
    )


def _noun(row: Row) -> Noun:
    classes = frozenset(row["classes"].split())
    return Noun(row["lemma"], row["plural"], row.get("gender", ""), row.get("extra", ""), classes)


def _frame(row: Row) -> Frame:
    return Frame(
        row["verb"],
        frozenset(row["subj"].split()),
        frozenset(row["obj"].split()) - {"-"},
        tuple(p for p in row["pps"].split() if p != "-"),
        frozenset(row["flags"].split()),
    )


def parse(spec: str, aliases: dict[str, str]) -> Node:
    """Return the tree of words that are written form/lemma/UPOS/feats/head/relation[/deps].

    An empty lemma is the form in lower case; the feature field is an alias or
    a plain FEATS value. A form `a@b` starts a multiword token spelt b. A form
    that ends in `_` has no space after it; a form `a=b` is a typing error for b.
    A word that begins with `*` is an empty node after the word before it, and its
    fifth field is its enhanced edge.
    """
    nodes: list[Node] = []
    links: list[tuple[int, str]] = []
    for item in spec.split():
        fields = item.split("/")
        fields += [""] * (7 - len(fields))
        form, lemma, upos, alias, head, rel, deps = fields[:7]
        feats = fs(*(aliases.get(name, name) for name in alias.split("+")))
        if form.startswith("*"):
            nodes[-1].empty = "\t".join((form[1:], lemma, upos, feats, head))
            continue
        form, _, mwt = form.partition("@")
        glue = form.endswith("_")
        form = form.removesuffix("_")
        form, _, right = form.partition("=")
        lemma = lemma or (form if upos == "PROPN" else form.lower())
        node = Node(form, lemma, upos, feats, mwt=mwt, glue=glue, deps=deps)
        node.misc = f"CorrectForm={right}" if right else ""
        nodes.append(node)
        links.append((int(head), rel))
    return _link(nodes, links)


def _link(nodes: list[Node], links: list[tuple[int, str]]) -> Node:
    root = nodes[0]
    for number, (node, (head, rel)) in enumerate(zip(nodes, links, strict=True), 1):
        node.rel = rel
        if head == 0:
            root = node
            continue
        parent = nodes[head - 1]
        (parent.before if number < head else parent.after).append(node)
    if len(list(root.walk())) != len(nodes) or [n for n, _ in root.walk()] != nodes:
        raise ValueError("not a projective tree: " + " ".join(n.form for n in nodes))
    return root
