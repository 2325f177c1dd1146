"""Sentences as trees of words, from tables of tokens; plain text as words without edges."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

import pyarrow as pa

from blimpworks.linguistics.orthography import Orthography
from blimpworks.tables import SENTENCES, TOKENS, read_table

AUX = "aux"


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a tree."""

    form: str
    head: int
    """Index of its head in the tree; -1 for the root and without edges."""
    relation: str
    features: Mapping[str, str]
    """Features of the treebank, and form, lemma, upos, xpos."""
    space: bool = True
    """Whether a space follows it."""

    @property
    def lemma(self) -> str:
        return self.features.get("lemma", "")

    @property
    def upos(self) -> str:
        return self.features.get("upos", "")

    def spelled(self, form: str) -> "Word":
        return replace(self, form=form, features={**self.features, "form": form})


@dataclass(frozen=True)
class Tree:
    """A sentence: its words in order, and its source."""

    words: tuple[Word, ...]
    treebank: str = ""
    file: str = ""
    sent_id: str = ""
    line: int = 0

    @cached_property
    def children(self) -> Mapping[int, Sequence[int]]:
        children: dict[int, list[int]] = defaultdict(list)
        for index, word in enumerate(self.words):
            children[word.head].append(index)
        return dict(children)

    def complex_of(self, head: int, relations: Sequence[str]) -> list[int]:
        """Return a word and its following children by some relations: verb and auxiliaries."""
        children = self.children.get(head, ())
        return [head, *(i for i in children if i > head and self.words[i].relation in relations)]

    def subtree(self, node: int, without: Collection[int]) -> list[int]:
        """Return a word and its descendants in order, leaving out words ``without`` and theirs."""
        indices = [node]
        for index in indices:
            indices += [i for i in self.children.get(index, ()) if i not in without]
        return sorted(indices)


def _words(rows: Sequence[Mapping[str, object]], orthography: Orthography) -> Iterator[Word]:
    """Yield the words of a sentence's rows.

    A last part of a token that is written apart, such as an auxiliary of the future, becomes a word
    without features: an auxiliary of the token.
    """
    token_parts: list[tuple[Mapping[str, object], dict[str, str], bool]] = []
    indices: dict[object, int] = {0: -1}
    for row in rows:
        indices[row["word"]] = len(token_parts)
        form = orthography.word(str(row["form"]))
        stem, gap, last = form.rpartition(" ")
        apart = bool(gap) and orthography.stands_apart(last)
        pairs = str(row["feats"] or "").split("|")
        features = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        features |= {
            "form": stem if apart else form,
            "lemma": orthography.word(str(row["lemma"] or "")),
            "upos": str(row["upos"] or ""),
            "xpos": str(row["xpos"] or ""),
        }
        token_parts.append((row, features, False))
        if apart:
            token_parts.append(
                (row, {"form": last, "lemma": last, "upos": "AUX", "xpos": ""}, True)
            )
    for (row, features, cut), following in zip_longest(token_parts, token_parts[1:]):
        # A part cut off from an auxiliary is an auxiliary of the same verb.
        beside = cut and not str(row["deprel"]).startswith((AUX, "cop", "compound"))
        head = indices[row["word"]] if beside else indices.get(row["head"], -1)
        relation = AUX if cut else str(row["deprel"] or "")
        space = bool(row["space_after"]) or (following is not None and following[0] is row)
        yield Word(features["form"], head, relation, features, space)


def read_trees(tokens: Path, sentences: Path, orthography: Orthography) -> Iterator[Tree]:
    """Yield the sentences of a language's treebanks in the tables' order, spelled as its pack says.

    Multiword ranges and empty nodes are left out.
    """
    columns = ["sentence", "word", "form", "lemma", "upos", "xpos", "feats", "head", "deprel"]
    table: pa.Table = read_table(TOKENS, tokens, [*columns, "space_after"])
    about = read_table(SENTENCES, sentences).select(
        ["sentence", "treebank", "file", "sent_id", "line"]
    )
    rows: dict[int, list[dict[str, object]]] = defaultdict(list)
    for row in table.to_pylist():
        if row["word"] is not None:
            rows[row["sentence"]].append(row)
    for origin in about.to_pylist():
        number = origin.pop("sentence")
        yield Tree(tuple(_words(rows[number], orthography)), **origin)


def plain_trees(text: Path, orthography: Orthography) -> Iterator[Tree]:
    """Yield the lines of a plain text as words without edges; their only feature is the form.

    Spaces separate words, and so does punctuation at their ends.
    """
    from blimpworks.models.text import read_sentences

    for number, line in enumerate(read_sentences(text), start=1):
        tokens = orthography.tokens(line)
        tree_words = tuple(Word(form, -1, "", {"form": form}, space) for form, space in tokens)
        yield Tree(tree_words, file=text.name, sent_id=str(number), line=number)
