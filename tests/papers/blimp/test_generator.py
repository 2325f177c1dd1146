"""The generator: pairs of every declared paradigm, and what a draw excludes."""

import hashlib
import random
import re
from collections import Counter

import pytest

from blimpworks.papers.blimp.items.generator.builder import Builder
from blimpworks.papers.blimp.items.generator.declarations import Scheme
from support.generator_kit import PATHS, lexicon, pairs

MARKS = (".", "?")
ORDER, ENTRY, BOTH = "in order", "in one entry", "in both"
DIFFERENCES = {
    "adjunct_island": {ORDER},
    "complex_NP_island": {ORDER},
    "coordinate_structure_constraint_complex_left_branch": {ORDER},
    # "Who have Kim and Ann met?" against "Who has Kim met and Ann?"
    "coordinate_structure_constraint_object_extraction": {ORDER, BOTH},
    "ellipsis_n_bar_1": {ORDER},
    "ellipsis_n_bar_2": {BOTH},
    "existential_there_quantifiers_2": {ORDER},
    "left_branch_island_echo_question": {ORDER},
    "left_branch_island_simple_question": {ORDER},
    "matrix_question_npi_licensor_present": {ORDER},
    "only_npi_scope": {ORDER},
    "principle_A_domain_3": {ORDER},
    "principle_A_reconstruction": {ORDER},
    "sentential_negation_npi_scope": {ORDER},
    "sentential_subject_island": {ORDER},
    "wh_questions_object_gap": {BOTH},
    "wh_questions_subject_gap": {BOTH},
    "wh_questions_subject_gap_long_distance": {BOTH},
}
"""What sentences of a pair differ in, where that is not one entry in its place."""
DIGEST = "9935e1b6d17cbc22"
"""Of all pairs. When it was written down, each paradigm's had been found to differ in what the
paradigm is about, by text and lexicon: numbers, genders, frames, binders, gaps, licensors.
Examine the pairs of a paradigm that changes so before another digest is written down."""
VOWEL_SOUND = re.compile(
    r"(?!eu|one\b|u[bks][aeiu]|uga|ukr|uni(?![dmn])|unanim|ur[aeiou]|ut[aeio])[aeiou]|heir|hon(or|est)|hour"
)


@pytest.fixture(params=PATHS, scope="module")
def paradigm(request):
    return request.param


def texts(uid):
    return [side.text for pair in pairs(uid) for side in (pair.good, pair.bad)]


def test_both_sentences_have_as_many_lexical_entries(paradigm):
    for pair in pairs(paradigm):
        assert len(pair.good.entries) == len(pair.bad.entries), pair.record


def difference(pair):
    """What the sentences of a pair differ in, or None if in more than one entry and order."""
    good, bad = ([form.lower() for form in side.entries] for side in (pair.good, pair.bad))
    replaced = (Counter(good) - Counter(bad)).total()
    if sum(first != other for first, other in zip(good, bad, strict=True)) == replaced == 1:
        return ENTRY
    return {0: ORDER, 1: BOTH}.get(replaced)


def test_sentences_differ_in_one_entry_or_in_order_as_the_paradigm_says(paradigm):
    differences = {difference(pair): pair.record for pair in pairs(paradigm)}
    assert {*differences} == DIFFERENCES.get(paradigm, {ENTRY}), differences


def test_sentences_are_written_as_released_ones_are(paradigm):
    for text in texts(paradigm):
        assert text[0].isupper()
        assert text.endswith(MARKS), text
        assert not re.search(r"  | [.,?]|[][{}]", text), text


def test_the_article_before_each_word_of_the_lexicon_suits_its_sound():
    words = [each.noun for each in lexicon().nouns] + [a.adjective for a in lexicon().adjectives]
    for word in words:
        article = lexicon().sounds.article(word)
        assert (article == "an") == bool(VOWEL_SOUND.match(word.lower())), word


def test_critical_words_follow_their_prefixes(paradigm):
    for pair in pairs(paradigm):
        for side, (start, end) in zip((pair.good, pair.bad), pair.record.spans(), strict=True):
            assert start is None or side.text[start:end] == side.word


def test_the_pairs_are_those_whose_grammar_was_examined():
    texts_of_all = "\n".join(text for uid in sorted(PATHS) for text in texts(uid))
    assert hashlib.sha256(texts_of_all.encode()).hexdigest()[:16] == DIGEST


def pronouns(classes, gender, number):
    """Reflexives of the other number than that of nouns that are drawn so."""
    noun = {"is": "noun", "classes": classes, "gender": [gender], "number": number}
    other = {"is": "pronoun", "case": "reflexive", "like": "n", "number_unlike": "n"}
    return {each.text for each in drawn("other", n=noun, other=other)}


def test_a_pronoun_of_the_other_number_keeps_the_gender():
    assert pronouns("person", "f", "pl") == {"herself"}
    assert pronouns("person", "c", "pl") == {"himself", "herself"}
    assert pronouns("clothing", "n", "pl") == {"itself"}
    assert pronouns("person", "m", "sg") == {"themselves"}


DRAWS = 60


def drawn(name, **draw):
    """What a scheme of some draws gives for one of them, many times."""
    scheme = Scheme.model_validate({"draw": draw, "good": "", "bad": ""})
    builder = Builder(lexicon(), scheme, random.Random(0))
    return [builder.draw()[name] for _ in range(DRAWS)]


ADJECTIVES = {adjective.adjective for adjective in lexicon().adjectives}
WOMEN = {noun.noun for noun in lexicon().nouns if noun.gender == "f"}


@pytest.mark.parametrize(
    ("draw", "allowed", "kept"),
    [
        ({"is": "verb", "words": ["give up", "cough", "sneeze"]}, {"give up", "cough"}, {"sneeze"}),
        ({"is": "noun", "gender": ["f"]}, WOMEN, {"actress", "queen"}),
        ({"is": "adjective"}, ADJECTIVES, {"old", "new"}),
    ],
)
def test_words_are_other_than_those_that_are_excluded(draw, allowed, kept):
    words = drawn("word", word=draw | {"other_than": sorted(allowed - kept)})
    names = {"verb": "lexeme", "noun": "noun", "adjective": "adjective"}
    assert {getattr(getattr(each, "entry", each), names[draw["is"]]) for each in words} == kept
