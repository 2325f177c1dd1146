"""Inflect and spell English words, and list their tags and word tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .lexicon import Lexicon, Noun
from .tree import Node, fs

POSSESSIVES = {
    "my": "Number=Sing|Person=1",
    "our": "Number=Plur|Person=1",
    "their": "Number=Plur|Person=3",
    "his": "Gender=Masc|Number=Sing|Person=3",
    "her": "Gender=Fem|Number=Sing|Person=3",
}
PRONOUNS = (
    ("I", "1;SG", "I", "me"),
    ("we", "1;PL", "we", "us"),
    ("you", "2", "you", "you"),
    ("he", "3;SG;MASC", "he", "him"),
    ("she", "3;SG;FEM", "she", "her"),
    ("it", "3;SG;NEUT", "it", "it"),
    ("they", "3;PL", "they", "them"),
)
TAGS = {
    "ADP": "IN", "SCONJ": "IN", "CCONJ": "CC", "NUM": "CD", "ADV": "RB", "ADJ": "JJ",
    "INTJ": "UH", "X": "FW", "DET": "DT",
}  # fmt: skip


def plural(noun: Noun) -> str:
    """Return the plural of a noun."""
    return noun.plural or noun.lemma + "s"


def form(lex: Lexicon, verb: str, slot: str) -> str:
    """Return the form of a verb for a slot such as Pres3Sing, PastPlur, part or ing."""
    if verb in lex.paradigms:
        table = lex.paradigms[verb]
        return table.get(slot) or table[slot[:4] + "Plur"]
    row = lex.verbs[verb]
    past = row["past"] or verb + "ed"
    if slot == "ing":
        return row["ing"] or verb + "ing"
    if slot == "part":
        return row["part"] or past
    if slot.startswith("Past"):
        return past
    return (row["s3"] or verb + "s") if slot == "Pres3Sing" else verb


def finite(lex: Lexicon, verb: str, num: str, person: int, tense: str, upos: str) -> Node:
    """Return a finite indicative form of a verb."""
    slot = f"{tense}{person}{num}" if num == "Sing" else f"{tense}Plur"
    feats = f"Mood=Ind|Number={num}|Person={person}|Tense={tense}|VerbForm=Fin"
    return Node(form(lex, verb, slot), verb, upos, feats)


def nonfinite(lex: Lexicon, verb: str, slot: str) -> Node:
    """Return a participle; ``slot`` is part or ing."""
    tense = "Past" if slot == "part" else "Pres"
    return Node(form(lex, verb, slot), verb, "VERB", f"Tense={tense}|VerbForm=Part")


def possessive(word: str) -> Node:
    """Return a possessive pronoun."""
    feats = fs("Case=Gen|Poss=Yes|PronType=Prs", POSSESSIVES[word])
    return Node(word, word, "PRON", feats)


def relative(word: str) -> Node:
    """Return a relative pronoun."""
    return Node(word, word, "PRON", "PronType=Rel")


def spell(nodes: list[Node]) -> None:
    """Write `an` before vowels, and `n't` without a space before it."""
    for word, after in pairwise(nodes):
        if word.lemma == "a" and word.upos == "DET" and after.form[0] in "aeiou":
            word.form = "an"
        if after.form == "n't":
            word.glue = True


def xpos(word: Node) -> str:
    """Return a word's tag of the Penn Treebank."""
    feats = word.feats
    if word.upos in {"VERB", "AUX"}:
        return _verb_tag(feats)
    if word.upos == "PRON":
        return _pronoun_tag(word)
    tag = TAGS.get(word.upos, "")
    if word.upos == "PUNCT":
        tag = word.form if word.form == "," else "."
    elif word.upos in {"NOUN", "PROPN"}:
        tag = "NNP" if word.upos == "PROPN" else "NN"
        tag += "S" if "Number=Plur" in feats else ""
    elif word.upos == "PART":
        tag = "TO" if word.lemma == "to" else "RB"
    elif word.upos == "ADV" and ("PronType=Int" in feats or "PronType=Rel" in feats):
        tag = "WRB"
    return tag


def _pronoun_tag(word: Node) -> str:
    if word.form.lower() == "there":
        return "EX"
    if "Poss=Yes" in word.feats:
        return "PRP$"
    if "PronType=Rel" in word.feats or "PronType=Int" in word.feats:
        return "WDT" if word.lemma in {"that", "which"} else "WP"
    if "PronType=Prs" in word.feats:
        return "PRP"
    return "DT"


def _verb_tag(feats: str) -> str:
    if feats == "VerbForm=Fin":
        return "MD"
    if "VerbForm=Inf" in feats or "Mood=Imp" in feats:
        return "VB"
    if "VerbForm=Part" in feats:
        return "VBN" if "Tense=Past" in feats else "VBG"
    if "Tense=Past" in feats:
        return "VBD"
    return "VBZ" if "Number=Sing|Person=3" in feats else "VBP"


def tables(lex: Lexicon) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the word table: lemma, form and UniMorph tags."""
    for verb in [*lex.paradigms, *lex.verbs]:
        yield verb, verb, "V;NFIN;IMP+SBJV"
        for tense, tag in (("Pres", "PRS"), ("Past", "PST")):
            for person in "123":
                yield verb, form(lex, verb, f"{tense}{person}Sing"), f"V;{tag};{person};SG"
                yield verb, form(lex, verb, f"{tense}Plur"), f"V;{tag};{person};PL"
        if verb != "be":
            yield verb, form(lex, verb, "PastPlur"), "V;PST"
        yield verb, form(lex, verb, "part"), "V;V.PTCP;PST"
        yield verb, form(lex, verb, "ing"), "V;V.PTCP;PRS"
    for noun in lex.nouns:
        yield noun.lemma, noun.lemma, "N;SG"
        yield noun.lemma, plural(noun), "N;PL"
    for lemma, tags, subject, object_form in PRONOUNS:
        yield lemma, subject, f"PRO;NOM;{tags}"
        yield lemma, object_form, f"PRO;ACC;{tags}"
    for line in lex.words:
        lemma, shape, tags = line.split()
        yield lemma, shape, tags
