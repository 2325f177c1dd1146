"""Generated pairs of determiner-noun agreement, irregular forms and quantifiers."""

import re
from functools import cache

import pytest

from blimpworks.papers.blimp.items.lexicon import regular_plurals
from support.generator_kit import lexicon, pairs

DEMONSTRATIVES = {"this": "sg", "that": "sg", "these": "pl", "those": "pl"}
NOUN_DIFFERS = [
    "determiner_noun_agreement_1",
    "determiner_noun_agreement_irregular_1",
    "determiner_noun_agreement_with_adjective_1",
    "determiner_noun_agreement_with_adj_irregular_1",
]
DEMONSTRATIVE_DIFFERS = [
    "determiner_noun_agreement_2",
    "determiner_noun_agreement_irregular_2",
    "determiner_noun_agreement_with_adj_2",
    "determiner_noun_agreement_with_adj_irregular_2",
]
AGREEMENT = [*NOUN_DIFFERS, *DEMONSTRATIVE_DIFFERS]
BE = {"is": "sg", "was": "sg", "are": "pl", "were": "pl"}
WEAK = {"a": "sg", "an": "sg", "no": "pl", "some": "pl", "few": "pl", "many": "pl", "several": "pl"}
STRONG = {"every": "sg", "each": "sg", "all": "pl", "most": "pl"}
PASTS_TOO = {"sung", "shrunk", "sunk", "sprung", "stunk"}
"""Participles that dictionaries list as pasts, too."""


def texts(uid):
    return [(pair.good.text, pair.bad.text, pair) for pair in pairs(uid)]


@cache
def nouns():
    """Common nouns by each of their forms."""
    readings = {}
    for noun in lexicon().nouns:
        if "name" not in noun.tags:
            for number, form in noun.forms.items():
                readings.setdefault(form, []).append((noun, number))
    return readings


def last_noun(text):
    """What stands before the noun that a sentence ends in, its entry and its number."""
    words, known = text.rstrip(".").split(" "), nouns()
    for at in range(len(words)):
        if " ".join(words[at:]) in known:
            (entry, number), *_ = known[" ".join(words[at:])]
            return words[:at], entry, number
    raise AssertionError(f"{text} ends in no noun")


def demonstrated(text):
    """The last demonstrative of a sentence, what follows it, and the noun at the end."""
    before, noun, number = last_noun(text)
    at = max(i for i, word in enumerate(before) if word in DEMONSTRATIVES)
    return before[at], before[at + 1 :], noun, number


@pytest.mark.parametrize("uid", AGREEMENT)
def test_the_demonstrative_agrees_with_its_noun_in_the_good_sentence_alone(uid):
    for good, bad, _ in texts(uid):
        this, _, noun, number = demonstrated(good)
        assert DEMONSTRATIVES[this] == number, good
        assert len({*noun.forms.values()}) == 2, good
        this, _, other, number = demonstrated(bad)
        assert (other, DEMONSTRATIVES[this] == number) == (noun, False), bad


@pytest.mark.parametrize("uid", AGREEMENT)
def test_plurals_are_irregular_where_the_paradigm_says_so(uid):
    for good, _, _ in texts(uid):
        noun = demonstrated(good)[2]
        regular = noun.forms["pl"] in regular_plurals(noun.noun)
        assert regular != ("irregular" in uid), good


@cache
def verbs_with(form, text):
    """Verbs of which a text is some form, with their particles."""
    return [v for v in lexicon().verbs if f"{v.form(form)} {v.particle}".strip() == text]


def test_a_past_is_replaced_by_a_participle_that_is_no_finite_form():
    finite = {v.form(form) for v in lexicon().verbs for form in ("base", "third", "past")}
    for _good, bad, pair in texts("irregular_past_participle_verbs"):
        past, participle = pair.good.word, pair.bad.word
        same = {v.lexeme for v in verbs_with("past", past)}
        assert same & {v.lexeme for v in verbs_with("participle", participle)}, bad
        assert participle.split()[0] not in finite | PASTS_TOO, bad


def existential(text):
    """Form of "be", determiner and noun of "there is", with the noun's numbers, and the rest."""
    match = re.fullmatch(r"There (\w+) (\w+) (.+)\.", text)
    assert match, text
    words, known = match[3].split(), nouns()
    for at in range(len(words), 0, -1):
        if " ".join(words[:at]) in known:
            of = {number for _, number in known[" ".join(words[:at])]}
            return match[1], match[2], of, words[at:]
    raise AssertionError(f"{text} is about no noun")


def test_a_strong_quantifier_replaces_a_weak_one_of_the_same_number():
    for good, bad, _ in texts("existential_there_quantifiers_1"):
        copula, weak, of, rest = existential(good)
        assert BE[copula] == WEAK[weak], good
        assert BE[copula] in of, good
        other, strong, *same = existential(bad)
        assert (other, STRONG[strong]) == (copula, WEAK[weak]), bad
        assert same == [of, rest], bad
        assert rest[0].endswith("ing"), bad
