"""Inflect, elide and contract French words, and list their word tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .lexicon import Lexicon, Noun, Row
from .tree import Node, fs

PRESENT = ("e", "es", "e", "ons", "ez", "ent")
IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
INVARIABLE = {"être", "pouvoir"}
TENSES = {"Pres": "PRS", "Imp": "PST", "Fut": "FUT"}
VOWELS = "aàâeéèêiîoôuùhœ"
ELIDED = {"le", "la", "de", "que", "ne", "je", "se", "ce", "lorsque", "puisque", "me", "te"}
BEFORE_VOWEL = {"ce": "cet", "ma": "mon", "beau": "bel", "vieux": "vieil", "nouveau": "nouvel"}
JOINED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
PRONOUNS = (
    ("je", "1;SG", "je", "me"),
    ("tu", "2;SG", "tu", "te"),
    ("il", "3;SG;MASC", "il", "le"),
    ("elle", "3;SG;FEM", "elle", "la"),
    ("nous", "1;PL", "nous", "nous"),
    ("vous", "2;PL", "vous", "vous"),
    ("il", "3;PL;MASC", "ils", "les"),
    ("elle", "3;PL;FEM", "elles", "les"),
)


def plural(noun: Noun) -> str:
    """Return the plural of a noun."""
    return noun.plural or noun.lemma + "s"


def agreement(gender: str, num: str) -> str:
    """Return features of gender and number."""
    return fs(f"Gender={gender}|Number={num}")


def agreeing(masculine: str, gender: str, num: str) -> str:
    """Return the form of a regular participle or adjective in a gender and number."""
    feminine = "e" if gender == "Fem" else ""
    stem = masculine.replace("dû", "du") if gender == "Fem" or num == "Plur" else masculine
    tail = "s" if num == "Plur" and not (stem + feminine).endswith("s") else ""
    return stem + feminine + tail


def adjective(row: Row, gender: str, num: str) -> Node:
    """Return an adjective in a gender and number."""
    form = row["lemma"] if gender == "Masc" else row["fem"]
    if num == "Plur":
        form = row["plm"] if gender == "Masc" and row["plm"] else form + "s"
    return Node(form, row["lemma"], "ADJ", agreement(gender, num))


def article(gender: str, num: str) -> Node:
    """Return the definite article."""
    form = "les" if num == "Plur" else ("le" if gender == "Masc" else "la")
    gendered = f"Gender={gender}" if num == "Sing" else ""
    return Node(form, "le", "DET", fs(f"Definite=Def|Number={num}|PronType=Art", gendered))


def determiner(lemma: str, gender: str, num: str) -> Node:
    """Return a form of un, ce, mon or notre."""
    gendered = f"Gender={gender}" if num == "Sing" else ""
    feats = f"Number={num}"
    if lemma == "un":
        form = "des" if num == "Plur" else ("un" if gender == "Masc" else "une")
        return Node(form, lemma, "DET", fs(feats, gendered, "Definite=Ind|PronType=Art"))
    if lemma == "ce":
        form = "ces" if num == "Plur" else ("ce" if gender == "Masc" else "cette")
        return Node(form, lemma, "DET", fs(feats, gendered, "PronType=Dem"))
    if lemma == "mon":
        form = "mes" if num == "Plur" else ("mon" if gender == "Masc" else "ma")
        owner = "Number[psor]=Sing|Person[psor]=1"
    else:
        form = "nos" if num == "Plur" else "notre"
        owner = "Number[psor]=Plur|Person[psor]=1"
    return Node(form, lemma, "DET", fs(feats, gendered, owner, "Poss=Yes|PronType=Prs"))


def forms(lex: Lexicon, verb: str, tense: str) -> list[str]:
    """Return the six finite forms of a verb in a tense."""
    if verb in lex.paradigms:
        return lex.paradigms[verb][tense].split()
    row = lex.verbs[verb]
    if tense == "Fut":
        stem = row["fut"] or verb.removesuffix("e")
        return [stem + ending for ending in FUTURE]
    stem = verb.removesuffix("er")
    soft = "e" if stem.endswith("g") else ""
    regular = [stem + (soft if e == "ons" else "") + e for e in PRESENT]
    present = row["pres"].split() or regular
    if tense == "Pres":
        return present
    stem = present[3].removesuffix("ons")
    hard = stem.removesuffix("e") if soft else stem
    return [(hard if e.startswith("i") else stem) + e for e in IMPERFECT]


def participle(lex: Lexicon, verb: str, gender: str = "Masc", num: str = "Sing") -> Node:
    """Return the past participle of a verb in a gender and number."""
    if verb in lex.paradigms:
        base = lex.paradigms[verb]["part"]
    else:
        base = lex.verbs[verb]["part"] or verb.removesuffix("er") + "é"
    feats = fs(agreement(gender, num), "Tense=Past|VerbForm=Part")
    return Node(agreeing(base, gender, num), verb, "VERB", feats)


def finite(lex: Lexicon, verb: str, num: str, person: int, tense: str = "Pres") -> Node:
    """Return a finite indicative form of a verb."""
    index = person - 1 + (3 if num == "Plur" else 0)
    feats = f"Mood=Ind|Number={num}|Person={person}|Tense={tense}|VerbForm=Fin"
    return Node(forms(lex, verb, tense)[index], verb, "VERB", feats)


def spell(nodes: list[Node]) -> None:
    """Elide before vowels, then contract prepositions and articles."""
    for word, after in pairwise(nodes):
        if after.form[0].lower() not in VOWELS:
            continue
        low = word.form.lower()
        is_singular = "Number=Sing" in word.feats
        if low in BEFORE_VOWEL and is_singular and word.upos in {"DET", "ADJ"}:
            word.form = BEFORE_VOWEL[low]
        elif low in ELIDED and word.upos not in {"NOUN", "PROPN", "X"}:
            word.form = word.form[:-1] + "'"
            word.glue = True
    for word, after in pairwise(nodes):
        pair = (word.form.lower(), after.form)
        if word.upos == "ADP" and "Definite=Def" in after.feats and pair in JOINED:
            word.mwt = JOINED[pair]
        if after.form.startswith("-") and len(after.form) > 1:
            word.glue = True


def tables(lex: Lexicon) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the word table: lemma, form and UniMorph tags."""
    for verb in [*lex.paradigms, *lex.verbs]:
        yield verb, verb, "V;NFIN"
        for tense, tag in TENSES.items():
            tail = ";IPFV" if tense == "Imp" else ""
            for index, form in enumerate(forms(lex, verb, tense)):
                number = "SG" if index < 3 else "PL"
                yield verb, form, f"V;IND;{tag};{index % 3 + 1};{number}{tail}"
        yield verb, participle(lex, verb).form, "V.PTCP;PST"
        for gender in () if verb in INVARIABLE else ("Masc", "Fem"):
            for num, tag in (("Sing", "SG"), ("Plur", "PL")):
                form = participle(lex, verb, gender, num).form
                yield verb, form, f"V.PTCP;PST;{gender.upper()};{tag}"
    for noun in lex.nouns:
        yield noun.lemma, noun.lemma, "N;SG"
        yield noun.lemma, plural(noun), "N;PL"
    for lemma, tags, subject, object_form in PRONOUNS:
        yield lemma, subject, f"PRO;NOM;{tags}"
        yield lemma, object_form, f"PRO;ACC;{tags}"
    for line in lex.words:
        lemma, form, tags = line.split()
        yield lemma, form, tags
