"""Sentences of the generator, taken apart by the lexicon alone."""

from collections import defaultdict
from functools import lru_cache

from support.generator_kit import lexicon

OTHER_FRAMES = {"intransitive", "clause", "control"}


def words(text):
    """Words of a sentence, in lower case, without its marks."""
    return text.lower().rstrip(".?").split()


def falls_under(noun, name):
    """Whether a noun is of a class, or of a narrower one."""
    return lexicon().classes.accepts(name, noun.classes)


@lru_cache(maxsize=1)
def _nouns():
    readings = defaultdict(list)
    for noun in lexicon().nouns:
        for number, form in noun.forms.items():
            readings[form.lower()].append((noun, number))
    return readings


@lru_cache(maxsize=1)
def _determiners():
    return {"an", *(each.determiner for each in lexicon().determiners)}


def phrase_at(tokens):
    """The phrase that some words begin with: determiner, readings of its noun, words after it."""
    spans = range(len(tokens), 0, -1)
    start = next((n for n in spans if " ".join(tokens[:n]) in _determiners()), 0)
    for end in range(len(tokens), start, -1):
        readings = [
            (noun, number)
            for noun, number in _nouns().get(" ".join(tokens[start:end]), ())
            if ("name" in noun.tags) != bool(start)
        ]
        if readings:
            return " ".join(tokens[:start]), readings, tokens[end:]
    raise AssertionError(f"no noun in {tokens}")


def noun_at(text):
    """The noun of the phrase that a text begins with, and the numbers that it can have.

    A noun that stands in several lines of the lexicon is the one of the first.
    """
    _, readings, _ = phrase_at(words(text))
    first = readings[0][0]
    return first, {number for noun, number in readings if noun == first}


def gender_of(reflexive):
    """Gender of a singular reflexive pronoun; None of the plural."""
    return {"himself": "m", "herself": "f", "itself": "n", "themselves": None}[reflexive]


def numbers(readings):
    """The numbers that a noun can have."""
    return {number for _, number in readings}


def numbers_of_verb(word):
    """The numbers of subjects that an auxiliary, or a finite verb in the present, can have."""
    if known := auxiliary(word):
        return set(known.numbers)
    thirds = {verb.form("third") for verb in lexicon().verbs}
    bases = {verb.verb for verb in lexicon().verbs}
    return {n for n, forms in (("sg", thirds), ("pl", bases)) if word in forms}


def auxiliary(word):
    """An auxiliary of the lexicon by its form, negated or not; None for another word."""
    known = (each for each in lexicon().auxiliaries if word in (each.auxiliary, each.negated))
    return next(known, None) if word else None


def entries_of(lexeme):
    """A verb in all its frames."""
    return [verb for verb in lexicon().verbs if verb.lexeme == lexeme]


def wants_its_object(lexeme):
    """Whether a verb never goes without an object."""
    entries = entries_of(lexeme)
    return not any(
        each.frame in OTHER_FRAMES or each.tags & {"drops", "bare", "alternates"}
        for each in entries
    )
