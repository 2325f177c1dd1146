"""Test by text and lexicon that generated pairs show the phenomenon of their paradigm."""

from collections import defaultdict
from functools import cache

import pytest

from blimpworks.papers.blimp.items.lexicon import regular_plurals
from support.generator_kit import PATHS, lexicon, pairs

GENDER = {"himself": "m", "herself": "f", "itself": "n", "themselves": None}
"""Gender of reflexive pronouns; None for the plural."""
FORMS = ("base", "third", "past", "participle", "gerund")


def words(text):
    return text.lower().rstrip(".?").split()


@cache
def entries():
    """Return verbs by verb, with its particle, and frame; and adjectives by adjective and frame."""
    known = defaultdict(dict)
    for verb in lexicon().verbs:
        known[verb.lexeme][verb.frame] = verb
    for each in lexicon().adjectives:
        known[each.adjective, "adjective"][each.frame] = each
    return known


@cache
def nouns():
    readings = defaultdict(list)
    for noun in lexicon().nouns:
        for number, form in noun.forms.items():
            readings[form.lower()].append((noun, number))
    return readings


def phrase_at(tokens):
    """Return readings of the noun of the words' first phrase, and the words after it."""
    determiners = {"an", *(each.determiner for each in lexicon().determiners)}
    spans = range(len(tokens), 0, -1)
    start = next((n for n in spans if " ".join(tokens[:n]) in determiners), 0)
    for end in range(len(tokens), start, -1):
        found = nouns().get(" ".join(tokens[start:end]), ())
        readings = [each for each in found if ("name" in each[0].tags) != bool(start)]
        if readings:
            return readings, tokens[end:]
    raise AssertionError(f"no noun in {tokens}")


VERBS = [uid for uid in PATHS if "plural_subject_verb" in uid or uid.startswith("distractor")]


def finite(word):
    """Return the numbers of subjects that an auxiliary, or a finite verb in the present, allows."""
    for each in lexicon().auxiliaries:
        if word in (each.auxiliary, each.negated):
            return {*each.numbers}
    return {n for n, form in (("sg", "third"), ("pl", "base")) if word in forms_of(form)}


@cache
def forms_of(form):
    return {verb.form(form) for verb in lexicon().verbs}


@pytest.mark.parametrize("uid", VERBS)
def test_only_the_good_verb_has_the_number_of_its_subject_whose_plural_is_as_named(uid):
    for pair in pairs(uid):
        phrases = [phrase_at(words(side.prefix))[0] for side in (pair.good, pair.bad)]
        numbers = [{number for _, number in readings} for readings in phrases]
        assert finite(pair.good.word) == numbers[0], pair.record
        assert finite(pair.bad.word).isdisjoint(numbers[1]), pair.record
        assert pair.bad.word != pair.drawn["verb"].form("past"), pair.record
        if "relational" not in uid:
            noun = phrases[0][0][0]
            assert noun.irregular == uid.startswith("irregular"), noun
            assert not lexicon().classes.accepts("institution", noun.classes), noun


DETERMINERS = [uid for uid in PATHS if uid.startswith("determiner_noun_agreement")]
THIS = {"this": "sg", "that": "sg", "these": "pl", "those": "pl"}


@pytest.mark.parametrize("uid", DETERMINERS)
def test_the_demonstrative_agrees_with_its_noun_in_the_good_sentence_alone(uid):
    for pair in pairs(uid):
        for side in (pair.good, pair.bad):
            tokens = words(side.text)
            at = max(i for i, word in enumerate(tokens) if word in THIS)
            noun, number = next(
                nouns()[" ".join(tokens[n:])][0]
                for n in range(at + 1, len(tokens))
                if " ".join(tokens[n:]) in nouns()
            )
            assert (THIS[tokens[at]] == number) == (side is pair.good), side.text
            irregular = noun.forms["pl"] not in regular_plurals(noun.noun)
            assert irregular == ("irregular" in uid), side.text


def test_a_past_is_replaced_by_a_participle_that_is_no_finite_form():
    pasts_too = {"sung", "shrunk", "sunk", "sprung", "stunk"}
    bare = {form for kind in ("base", "third", "past") for form in forms_of(kind)} | pasts_too
    for pair in pairs("irregular_past_participle_verbs"):
        pasts, participles = (
            {v.lexeme for v in lexicon().verbs if f"{v.form(form)} {v.particle}".strip() == word}
            for form, word in (("past", pair.good.word), ("participle", pair.bad.word))
        )
        assert pasts & participles, pair.record
        assert pair.bad.word.split()[0] not in bare, pair.record


def test_a_reflexive_has_gender_and_number_of_the_subject_and_the_other_one_has_not():
    for pair in pairs("anaphor_gender_agreement"):
        noun = phrase_at(words(pair.good.text))[0][0][0]
        assert noun.gender in "mf"
        assert GENDER[pair.good.word] == noun.gender, pair.record
        assert GENDER[pair.bad.word] not in (noun.gender, None), pair.record
    for pair in pairs("anaphor_number_agreement"):
        readings, _ = phrase_at(words(pair.good.text))
        numbers = {number for noun, number in readings if noun == readings[0][0]}
        plural = [GENDER[side.word] is None for side in (pair.good, pair.bad)]
        assert plural == ([True, False] if numbers == {"pl"} else [False, True]), pair.record


def needs_an_object(verb):
    """Return whether a verb always has an object, by all its entries."""
    strict = {"intransitive", "clause", "raising", "control", "object_control"}
    frames = entries()[verb.lexeme]
    loose = frames["transitive"].tags & {"drops", "bare", "alternates", "psych"}
    return not strict & {*frames} and not loose


def has_no_object(verb):
    """Return whether no word after a verb can be its object, by all its entries."""
    frames = entries()[verb.lexeme]
    return "transitive" not in frames and not verb.particle and "objects" not in verb.tags


@pytest.mark.parametrize(
    ("uid", "tag", "unfit", "final"),
    [
        ("causative", "alternates", has_no_object, False),
        ("drop_argument", "drops", needs_an_object, True),
        ("inchoative", "alternates", needs_an_object, True),
        ("intransitive", None, needs_an_object, True),
        ("passive_1", "passive", has_no_object, False),
        ("passive_2", "passive", has_no_object, False),
        ("transitive", None, has_no_object, False),
    ],
)
def test_only_the_good_verb_allows_the_arguments_of_its_sentence(uid, tag, unfit, final):
    frame = "intransitive" if uid == "intransitive" else "transitive"
    for pair in pairs(uid, 400):
        good, bad = pair.drawn["verb"], pair.drawn["other"]
        assert frame in entries()[good.lexeme], pair.record
        assert tag is None or tag in entries()[good.lexeme][frame].tags, pair.record
        assert unfit(bad), pair.record
        for side, verb in ((pair.good, good), (pair.bad, bad)) if final else ():
            ends = (f" {verb.form(form)} {verb.particle}".rstrip() + "." for form in FORMS)
            assert side.text.endswith((*ends,)), pair.record


@pytest.mark.parametrize(
    ("uid", "right", "wrong"),
    [
        ("existential_there_object_raising", "object_raising", "object_control"),
        ("expletive_it_object_raising", "object_raising", "object_control"),
        ("existential_there_subject_raising", "raising", "control"),
        ("tough_vs_raising_1", "tough", "raising"),
        ("tough_vs_raising_2", "raising", "tough"),
    ],
)
def test_only_the_good_word_has_the_frame_that_its_sentence_needs(uid, right, wrong):
    for pair in pairs(uid, 400):
        name = "verb" if hasattr(pair.drawn["other"], "lexeme") else "adjective"
        drawn = [pair.drawn[key] for key in (name, "other")]
        keys = [e.lexeme if name == "verb" else (e.adjective, name) for e in drawn]
        good, bad = (entries()[key] for key in keys)
        assert right in good, pair.record
        assert bad.keys() & {right, wrong} == {wrong}, pair.record


def bound_by(phrase, reflexive):
    """Return whether a reflexive pronoun can refer to a drawn phrase, by the lexicon."""
    noun, gender = phrase.entry, GENDER[reflexive]
    if gender is None:
        every = phrase.det in (("every",), ("each",))
        return phrase.number == "pl" or noun.gender not in "mf" or every
    either = "mf" if "person" in noun.classes else "mfn"
    return phrase.number == "sg" and gender in (either if noun.gender == "c" else noun.gender)


@pytest.mark.parametrize(
    ("uid", "binder", "other"),
    [
        ("principle_A_c_command", "object", "subject"),
        ("principle_A_domain_1", "subject", "other"),
        ("principle_A_domain_2", "subject", "other"),
    ],
)
def test_the_bad_reflexive_stands_for_a_phrase_that_cannot_bind_it(uid, binder, other):
    for pair in pairs(uid, 400):
        assert bound_by(pair.drawn[binder], pair.bad.word), pair.record
        assert not bound_by(pair.drawn[other], pair.bad.word), pair.record
        if uid != "principle_A_domain_1":  # its good word is a pronoun
            assert bound_by(pair.drawn[other], pair.good.word), pair.record


@pytest.mark.parametrize(
    "uid", ["wh_vs_that_with_gap", "wh_vs_that_with_gap_long_distance", "wh_questions_object_gap"]
)
def test_the_question_word_fits_what_it_asks_about(uid):
    for pair in pairs(uid):
        gap = pair.drawn.get("thing") or pair.drawn["object"]
        wh = "who" if "person" in gap.entry.classes else "what"
        assert (wh,) == pair.drawn["what"], pair.record


@pytest.mark.parametrize(
    ("uid", "name"),
    [
        ("wh_vs_that_with_gap", "verb"),
        ("wh_vs_that_with_gap_long_distance", "verb"),
        ("adjunct_island", "other"),
        ("complex_NP_island", "inner"),
        ("sentential_subject_island", "inner"),
        ("wh_island", "inner"),
    ],
)
def test_verbs_before_a_gap_never_go_without_an_object(uid, name):
    for pair in pairs(uid):
        known = entries()[pair.drawn[name].lexeme]
        assert not known.keys() & {"intransitive", "clause", "control"}, pair.record
        assert not any(each.tags & {"drops", "bare", "alternates"} for each in known.values())


LICENSORS = {
    *("not", "no", "few", "fewer than three", "never", "only", "hardly", "without", "if"),
    # For universals, words within their noun's phrase, such as a relative clause.
    *("every", "all", "each", "most"),
}
SCOPES = {"only_npi_scope": {"only"}, "sentential_negation_npi_scope": {"not"}}
EVER = [uid for uid in PATHS if "npi" in uid]


@pytest.mark.parametrize("uid", EVER)
def test_nothing_licenses_ever_in_bad_sentences_but_from_a_relative_clause(uid):
    for pair in pairs(uid):
        before = words(pair.bad.text.lower().partition(" ever ")[0])
        licensors = {word for word in before if word in LICENSORS or word.endswith("n't")}
        assert licensors == SCOPES.get(uid, set()), pair.bad.text
        for licensor in licensors:
            _, rest = phrase_at(before)
            assert rest[0] in {"who", "which", "that"}, pair.bad.text
            assert licensor in rest[1:3], pair.bad.text


def test_a_strong_quantifier_replaces_a_weak_one_of_the_same_number():
    be = {"is": "sg", "was": "sg", "are": "pl", "were": "pl"}
    weak = dict.fromkeys(("a", "an"), "sg") | dict.fromkeys(("no", "some", "few"), "pl")
    weak |= dict.fromkeys(("many", "several"), "pl")
    strong = {"every": "sg", "each": "sg", "all": "pl", "most": "pl"}
    for pair in pairs("existential_there_quantifiers_1"):
        (_, copula, first, *rest), (_, other, second, *same) = (
            words(side.text) for side in (pair.good, pair.bad)
        )
        assert (be[copula], other, rest) == (weak[first], copula, same), pair.record
        assert strong.get(second) == weak[first], pair.record
