"""Generated pairs of NPI licensing: where "ever" has a licensor, and where it has none."""

import pytest

from support.clauses_kit import auxiliary, phrase_at, words
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
DO = {"do", "does", "did"}


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


@pytest.mark.parametrize("uid", ALL)
def test_bad_sentences_have_ever_once_and_are_statements(uid):
    for pair in pairs(uid):
        assert words(pair.bad.text).count("ever") == 1, pair.bad.text
        assert pair.bad.text.endswith(".")


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


@pytest.mark.parametrize("uid", ALL)
def test_no_statement_has_do_without_not_nor_any_sentence_can_not(uid):
    for pair in pairs(uid):
        before = words(pair.bad.text.partition(" ever ")[0])
        assert before[-1] not in DO, pair.bad.text
        assert "can not" not in pair.good.text
        assert "can not" not in pair.bad.text


@pytest.mark.parametrize("uid", [QUESTION, ONLY, ONLY_SCOPE, NOT, NOT_SCOPE])
def test_where_ever_is_fine_it_stands_in_no_progressive(uid):
    for pair in pairs(uid):
        good_words = words(pair.good.text)
        before = good_words[0] if uid == QUESTION else good_words[good_words.index("ever") - 1]
        known = auxiliary(before)
        assert known is None or known.takes != "gerund", pair.good.text
