"""Generated pairs of NPI licensing: where "ever" has a licensor, and where it has none."""

import pytest

from support.clauses_kit import phrase_at, words
from support.generator_kit import pairs

QUESTION = "matrix_question_npi_licensor_present"
EVEN, PLAIN = "npi_present_1", "npi_present_2"
ONLY, ONLY_SCOPE = "only_npi_licensor_present", "only_npi_scope"
NOT, NOT_SCOPE = (f"sentential_negation_npi_{kind}" for kind in ("licensor_present", "scope"))
ALL = [QUESTION, EVEN, PLAIN, ONLY, ONLY_SCOPE, NOT, NOT_SCOPE]
SCOPES = {ONLY_SCOPE: "only", NOT_SCOPE: "not"}
LICENSORS = {
    *("not", "no", "few", "fewer than three", "never", "only", "hardly", "without", "if"),
    # Of universals, what stands in their noun's phrase, such as a relative clause.
    *("every", "all", "each", "most"),
}
RELATIVES = {"who", "which", "that"}


def licensors(text):
    """What stands before "ever" and could license it."""
    before = words(text.lower().partition(" ever ")[0])
    return {word for word in before if word in LICENSORS or word.endswith("n't")}


def relative_clause(text):
    """The words after the relative pronoun that follows the first phrase, up to "ever"."""
    before = words(text.lower().partition(" ever ")[0])
    _, _, rest = phrase_at(before[before[0] == "only" :])
    assert rest[0] in RELATIVES, text
    return rest[1:]


@pytest.mark.parametrize("uid", sorted({*ALL} - {*SCOPES}))
def test_nothing_licenses_ever_in_bad_sentences(uid):
    for pair in pairs(uid):
        assert not licensors(pair.bad.text), pair.bad.text


@pytest.mark.parametrize(("uid", "licensor"), SCOPES.items())
def test_the_one_licensor_of_a_bad_sentence_stands_in_a_relative_clause(uid, licensor):
    for pair in pairs(uid):
        assert licensors(pair.bad.text) == {licensor}, pair.bad.text
        assert licensor in relative_clause(pair.bad.text)[:2], pair.bad.text
        assert words(pair.bad.text).count(licensor) == 1
