"""Count the subject-verb clauses of a treebank."""

from __future__ import annotations

from collections import Counter

from .tree import Node, Sentence

Counts = Counter[str]
PRESENT = {"Mood=Ind", "Person=3", "Tense=Pres", "VerbForm=Fin"}


def count(sentences: list[Sentence]) -> Counts:
    """Return the numbers of sentences, and of 3rd-person present clauses by order and number."""
    counts: Counts = Counter(sentences=len(sentences))
    for sentence in sentences:
        for position, word, head in sentence.rows:
            if word.rel == "nsubj" and word.upos in {"NOUN", "PRON"} and head:
                verb = _finite(sentence, head)
                number = _value(word, "Number")
                if verb is None or not number or _joined(sentence, position):
                    continue
                order = "SV" if position < verb else "VS"
                counts[f"{order}-{number}"] += 1
    return counts


def _value(word: Node, name: str) -> str:
    pairs = dict(item.split("=") for item in word.feats.split("|") if "=" in item)
    return pairs.get(name, "")


def _finite(sentence: Sentence, head: int) -> int | None:
    for position, word, above in sentence.rows:
        in_clause = position == head or (above == head and word.rel.split(":")[0] in {"aux", "cop"})
        if in_clause and set(word.feats.split("|")) >= PRESENT:
            return position
    return None


def _joined(sentence: Sentence, position: int) -> bool:
    return any(head == position and word.rel == "conj" for _, word, head in sentence.rows)
