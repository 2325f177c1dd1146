"""Inflect and contract German words, and list their tags and word tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .lexicon import Lexicon, Noun
from .tree import Node, fs

CASES = ("Nom", "Acc", "Dat", "Gen")
COLUMNS = ("Masc", "Fem", "Neut", "Plur")
ENDINGS = {
    "Nom": ("er", "e", "es", "e"),
    "Acc": ("en", "e", "es", "e"),
    "Dat": ("em", "er", "em", "en"),
    "Gen": ("es", "er", "es", "er"),
}
DER = {
    "Nom": ("der", "die", "das", "die"),
    "Acc": ("den", "die", "das", "die"),
    "Dat": ("dem", "der", "dem", "den"),
    "Gen": ("des", "der", "des", "der"),
}
BARE = {("Nom", "Masc"), ("Nom", "Neut"), ("Acc", "Neut")}
PERSONS = {"mein": "Number[psor]=Sing|Person=1", "unser": "Number[psor]=Plur|Person=1"}
JOINED = {
    ("in", "dem"): "im", ("in", "das"): "ins", ("an", "dem"): "am", ("zu", "dem"): "zum",
    ("zu", "der"): "zur", ("von", "dem"): "vom", ("bei", "dem"): "beim",
}  # fmt: skip
PRONOUNS = (
    ("ich", "1;SG", "ich mich mir"),
    ("du", "2;SG", "du dich dir"),
    ("er", "3;SG;MASC", "er ihn ihm"),
    ("sie", "3;SG;FEM", "sie sie ihr"),
    ("es", "3;SG;NEUT", "es es ihm"),
    ("wir", "1;PL", "wir uns uns"),
    ("ihr", "2;PL", "ihr euch euch"),
    ("sie", "3;PL", "sie sie ihnen"),
)
TAGS = {
    "ADP": "APPR", "CCONJ": "KON", "SCONJ": "KOUS", "NUM": "CARD", "NOUN": "NN", "PROPN": "NE",
    "INTJ": "ITJ", "X": "FM", "PART": "PTKNEG",
}  # fmt: skip


def column(gender: str, num: str) -> int:
    """Return the index of a gender, or of the plural, in a table of endings."""
    return COLUMNS.index("Plur" if num == "Plur" else gender)


def agreement(gender: str, num: str, case: str) -> str:
    """Return features of case, gender and number; the plural has no gender."""
    return fs(f"Case={case}|Number={num}", f"Gender={gender}" if num == "Sing" else "")


def noun_form(noun: Noun, num: str, case: str) -> str:
    """Return a form of a noun."""
    if num == "Plur":
        ending = "n" if case == "Dat" and noun.plural[-1] not in "ns" else ""
        return noun.plural + ending
    if noun.extra == "weak":
        return noun.lemma if case == "Nom" else noun.plural
    if case == "Gen" and noun.gender != "Fem":
        return noun.extra or noun.lemma + "s"
    return noun.lemma


def article(gender: str, num: str, case: str, upos: str = "DET", extra: str = "") -> Node:
    """Return the definite article or, as a pronoun, the relative pronoun."""
    form = DER[case][column(gender, num)]
    if upos == "PRON" and (case, num) == ("Dat", "Plur"):
        form = "denen"
    extra = extra or "Definite=Def|PronType=Art"
    return Node(form, "der", upos, fs(agreement(gender, num, case), extra))


def determiner(lemma: str, gender: str, num: str, case: str) -> Node:
    """Return a form of dieser, ein, kein, mein or unser."""
    agree = agreement(gender, num, case)
    ending = ENDINGS[case][column(gender, num)]
    if lemma == "dieser":
        return Node("dies" + ending, lemma, "DET", fs(agree, "PronType=Dem"))
    if num == "Sing" and (case, gender) in BARE:
        ending = ""
    if lemma == "ein":
        return Node(lemma + ending, lemma, "DET", fs(agree, "Definite=Ind|PronType=Art"))
    if lemma == "kein":
        return Node(lemma + ending, lemma, "DET", fs(agree, "PronType=Neg"))
    feats = fs(agree, "Poss=Yes|PronType=Prs", PERSONS[lemma])
    return Node(lemma + ending, lemma, "DET", feats)


def adjective(lemma: str, gender: str, num: str, case: str, after: str) -> Node:
    """Return an adjective after a `weak`, `mixed` or `strong` determiner."""
    strong = ENDINGS[case][column(gender, num)]
    if after == "strong" or (after == "mixed" and num == "Sing" and (case, gender) in BARE):
        ending = strong
    elif num == "Sing" and (case == "Nom" or (case == "Acc" and gender != "Masc")):
        ending = "e"
    else:
        ending = "en"
    stem = lemma.removesuffix("e")
    return Node(stem + ending, lemma, "ADJ", fs(agreement(gender, num, case), "Degree=Pos"))


def _dental(stem: str) -> bool:
    return stem[-1] in "td" or (stem[-1] in "nm" and stem[-2] not in "aeiouhrlnmäöü")


def forms(lex: Lexicon, verb: str, tense: str) -> list[str]:
    """Return the six finite forms of a verb in a tense."""
    if verb in lex.paradigms:
        return lex.paradigms[verb][tense].split()
    row = lex.verbs[verb]
    stem = verb.removesuffix("en") if verb.endswith("en") else verb.removesuffix("n")
    join = "e" if _dental(stem) else ""
    if tense == "Pres":
        third = row["s3"] or stem + join + "t"
        base = third.removesuffix("t")
        second = third if base[-1] in "sßzx" else base + "st"
        first = stem + "e"
        return [first, second, third, verb, stem + join + "t", verb]
    past = row["past"] or stem + join + "te"
    if past.endswith("e"):
        return [past, past + "st", past, past + "n", past + "t", past + "n"]
    soft = "e" if past[-1] in "tdsßz" else ""
    hissing = "e" if past[-1] in "sßz" else ""
    return [
        past,
        past + (hissing or soft) + "st",
        past,
        past + "en",
        past + soft + "t",
        past + "en",
    ]


def participle(lex: Lexicon, verb: str) -> str:
    """Return the past participle of a verb."""
    if verb in lex.paradigms:
        return lex.paradigms[verb]["part"]
    stem = verb.removesuffix("en")
    return lex.verbs[verb]["part"] or "ge" + stem + ("et" if _dental(stem) else "t")


def finite(lex: Lexicon, verb: str, num: str, person: int, tense: str = "Pres") -> Node:
    """Return a finite indicative form of a verb."""
    index = person - 1 + (3 if num == "Plur" else 0)
    feats = f"Mood=Ind|Number={num}|Person={person}|Tense={tense}|VerbForm=Fin"
    return Node(forms(lex, verb, tense)[index], verb, "VERB", feats)


def contract(nodes: list[Node]) -> None:
    """Contract prepositions and articles (`in dem`: `im`)."""
    for word, after in pairwise(nodes):
        pair = (word.form.lower(), after.form)
        if word.upos == "ADP" and "Definite=Def" in after.feats and pair in JOINED:
            word.mwt = JOINED[pair]


def xpos(word: Node) -> str:
    """Return a word's tag of the Stuttgart-Tübingen tagset."""
    feats = word.feats
    if word.upos in {"VERB", "AUX"}:
        return _verb_tag(word, feats)
    if word.upos in {"DET", "PRON"}:
        return _pronoun_tag(word, feats)
    tag = TAGS.get(word.upos, "")
    if word.upos == "PUNCT":
        tag = "$," if word.form == "," else "$."
    elif word.upos == "ADJ":
        tag = "ADJA" if "Case=" in feats else "ADJD"
    elif word.upos == "ADV":
        tag = "PWAV" if "PronType=Int" in feats else "ADV"
    elif word.rel == "compound:prt":
        tag = "PTKVZ"
    elif word.upos == "PART" and word.lemma == "zu":
        tag = "PTKZU"
    return tag


PRONOUN_TAGS = (
    ("PronType=Art", "ART"), ("PronType=Rel", "PREL*"), ("PronType=Int", "PW*"),
    ("PronType=Dem", "PD*"), ("Poss=Yes", "PPOS*"), ("Reflex=Yes", "PRF"),
    ("PronType=Prs", "PPER"),
)  # fmt: skip


def _pronoun_tag(word: Node, feats: str) -> str:
    tail = "AT" if word.upos == "DET" else "S"
    for mark, tag in PRONOUN_TAGS:
        if mark in feats:
            return tag.replace("*", tail)
    return "PI" + tail


def _verb_tag(word: Node, feats: str) -> str:
    group = "V" if word.upos == "VERB" else "A"
    if word.lemma in {"können", "müssen", "wollen", "dürfen"}:
        group = "M"
    if "Mood=Imp" in feats:
        return f"V{group}IMP"
    if "VerbForm=Part" in feats:
        return f"V{group}PP"
    return f"V{group}INF" if "VerbForm=Inf" in feats else f"V{group}FIN"


def tables(lex: Lexicon) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the word table: lemma, form and UniMorph tags."""
    for verb in [*lex.paradigms, *lex.verbs]:
        yield verb, verb, "V;NFIN"
        for tense, tag in (("Pres", "PRS"), ("Past", "PST")):
            for index, form in enumerate(forms(lex, verb, tense)):
                number = "SG" if index < 3 else "PL"
                yield verb, form, f"V;IND;{tag};{index % 3 + 1};{number}"
        yield verb, participle(lex, verb), "V.PTCP;PST"
    for noun in lex.nouns:
        for case in CASES:
            yield noun.lemma, noun_form(noun, "Sing", case), f"N;{case.upper()};SG"
            yield noun.lemma, noun_form(noun, "Plur", case), f"N;{case.upper()};PL"
    for lemma, tags, three in PRONOUNS:
        for case, form in zip(CASES, three.split(), strict=False):
            yield lemma, form, f"PRO;{case.upper()};{tags}"
    for case in CASES:
        for gender in COLUMNS:
            num, name = ("Plur", "PL") if gender == "Plur" else ("Sing", f"SG;{gender.upper()}")
            form = article(gender, num, case, "PRON").form
            yield "der", form, f"PRO;REL;{case.upper()};{name}"
    for line in lex.words:
        lemma, form, tags = line.split()
        yield lemma, form, tags
