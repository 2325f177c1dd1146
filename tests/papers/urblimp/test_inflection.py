"""Inflection by rule: Urdu's paradigms, what words of a complex make of each other, UniMorph."""

import pytest
from pydantic import ValidationError

from blimpworks.papers.urblimp.items.inflection import Inflection, cell_of
from support.urblimp_kit import urdu, word

FORMS = [
    # Participles have the ending of gender and number, infinitives of case and gender.
    ("دیکھنا", "Perf", "دیکھا دیکھے دیکھی دیکھیں"),
    ("دیکھنا", "Imp", "دیکھتا دیکھتے دیکھتی دیکھتیں"),
    # after vowels
    ("آنا", "Perf", "آیا آئے آئی آئیں"),
    ("سونا", "Perf", "سویا سوئے سوئی سوئیں"),
    ("بتانا", "Imp", "بتاتا بتاتے بتاتی بتاتیں"),
    # stems in ن and in ہ, whose lemmas the treebank has with another ہ
    ("سننا", "Perf", "سنا سنے سنی سنیں"),
    ("کہہنا", "Perf", "کہا کہے کہی کہیں"),
    # irregular ones
    ("کرنا", "Perf", "کیا کیے کی کیں"),
    ("جانا", "Perf", "گیا گئے گئی گئیں"),
    ("دینا", "Perf", "دیا دیے دی دیں"),
    ("ہونا", "Perf", "ہوا ہوئے ہوئی ہوئیں"),
    ("پینا", "Perf", "پیا پیے پی پیں"),
    ("پڑھنا", "Inf", "پڑھنا پڑھنے پڑھنی"),
    ("کرنا", "Inf", "کرنا کرنے کرنی"),
    ("آنا", "Inf", "آنا آنے آنی"),
]


@pytest.fixture(scope="module")
def inflection():
    return urdu().inflection


def cells(paradigm, lemma, inside=False, **features):
    """Usual forms of the cells that have some features, in the order of the paradigm."""
    forms = paradigm.forms(lemma, inside=inside).items()
    return [spellings[0] for cell, spellings in forms if features.items() <= cell_of(cell).items()]


@pytest.mark.parametrize(("lemma", "kind", "forms"), FORMS)
def test_a_verb_has_the_forms_of_its_class(inflection, lemma, kind, forms):
    feature = {"VerbForm": kind} if kind == "Inf" else {"Aspect": kind}
    assert cells(inflection.paradigms["verb"], lemma, **feature) == forms.split()


@pytest.mark.parametrize("lemma", ["دیکھنا", "سونا", "کرنا", "جانا", "ہونا"])
def test_the_plurals_nasal_is_the_last_words_of_a_complex_alone(inflection, lemma):
    verb = inflection.paradigms["verb"]
    for aspect in ("Perf", "Imp"):
        _, _, singular, plural = cells(verb, lemma, inside=True, Aspect=aspect)
        assert plural == singular == cells(verb, lemma, Aspect=aspect)[2]


@pytest.mark.parametrize(
    ("lemma", "upos", "form", "change", "expected"),
    [
        ("جانا", "VERB", "گئیں", {"Gender": "other"}, "گئے"),
        ("جانا", "VERB", "گیے", {"Number": "other"}, "گیا"),
        ("کرنا", "VERB", "کی", {"Aspect": "Imp"}, "کرتی"),
        ("لکھنا", "VERB", "لکھنے", {"VerbForm": "Inf", "Case": "Nom", "Gender": "Masc"}, "لکھنا"),
        ("ہے", "AUX", "ہے", {"Person": "1"}, "ہوں"),
        ("تھا", "AUX", "تھیں", {"Gender": "other"}, "تھے"),
        ("اچھا", "ADJ", "اچھا", {"Gender": "other"}, "اچھی"),
        ("لڑکی", "NOUN", "لڑکیوں", {"Case": "Nom"}, "لڑکیاں"),
        ("کتاب", "NOUN", "کتابوں", {"Case": "Nom", "Gender": "Fem", "Number": "Plur"}, "کتابیں"),
    ],
)
def test_a_form_is_put_into_another_cell(inflection, lemma, upos, form, change, expected):
    assert inflection.changed(word(form, lemma, upos), change)[0] == expected


@pytest.mark.parametrize(
    ("lemma", "upos", "form"),
    [
        ("جانا", "VERB", "گیئں"),  # a slip
        ("جانا", "NOUN", "گیا"),  # no verb
        ("عمدہ", "ADJ", "عمدہ"),  # invariable
        ("خوبصورت", "ADJ", "خوبصورت"),
        ("چاہئے", "AUX", "چاہئے"),  # no infinitive
    ],
)
def test_a_form_that_its_lemma_does_not_give_by_rule_is_not_changed(inflection, lemma, upos, form):
    assert inflection.changed(word(form, lemma, upos), {"Gender": "other"}) == ()
    assert inflection.changed(word(form, lemma, upos), {"Number": "other"}) == ()


@pytest.mark.parametrize(
    ("form", "lemma", "features", "change", "known", "expected"),
    [
        ("لڑکے", "لڑکا", "Acc Sing Masc", {"Case": "Nom"}, {}, "لڑکا"),
        ("لڑکے", "لڑکا", "Nom Plur Masc", {"Case": "Nom"}, {}, "لڑکے"),
        # The treebank calls the polite plural Sing, as the subjunctive's third person is.
        ("رہے", "رہنا", "Perf Sing", {"Number": "Sing"}, {"Number": "Plur"}, "رہا"),
    ],
)
def test_ambiguous_forms_are_read_as_treebank_and_complex_say(
    inflection, form, lemma, features, change, known, expected
):
    names = {"Acc": "Case", "Nom": "Case", "Perf": "Aspect", "Masc": "Gender"}
    named = {names.get(value, "Number"): value for value in features.split()}
    upos = "NOUN" if "Case" in named else "AUX"
    changed = inflection.changed(word(form, lemma, upos, **named), change, known=known)
    assert changed[0] == expected


def test_a_verb_is_a_stem_before_the_auxiliary_of_the_progressive(inflection):
    """سن is the stem of سننا and سنا its perfective; before رہنا only the stem can stand."""
    following = word("رہا", "رہنا", "AUX")
    assert {
        reading.cell.get("VerbForm")
        for reading in inflection.readings(word("سن", "سننا", "VERB"), following)
    } == {"Stem"}
    assert inflection.readings(word("سنا", "سننا", "VERB"), following) == []
    assert inflection.readings(word("سنتا", "سننا", "VERB"), following)


def test_before_the_future_a_verb_is_a_subjunctive(inflection):
    future = word("گی", "گا", "AUX")
    go = word("آئیں", "آنا", "VERB")
    assert {r.cell.get("Mood") for r in inflection.readings(go, future)} == {"Sub"}
    assert len(inflection.readings(go)) > len(inflection.readings(go, future))
    assert inflection.changed(go, {"Number": "Sing"}, future)[0] == "آئے"


@pytest.mark.parametrize(
    ("paradigm", "message"),
    [
        *(
            ({"cells": {text: ["a"]}}, r"cell .* is malformed at .*expected Name=Value")
            for text in ("", "Gender", "Gender=", "=Masc", "Gender=Masc|")
        ),
        ({"cells": {"A=b": ["a"]}, "lemma": "(x"}, "'\\(x' is no regular expression"),
        ({"cells": {"A=b": ["a"]}, "stem": ["(x", ""]}, "'\\(x' is no regular expression"),
        ({"cells": {"A=b": ["a"]}, "inside": {"A=c": "A=b"}}, "'A=c', which is no cell"),
        ({"cells": {"A=b": ["a"]}, "irregular": {"x": {"A": ["y"]}}}, "is malformed at 'A'"),
        ({}, "Field required"),
    ],
)
def test_a_malformed_paradigm_is_refused(paradigm, message):
    with pytest.raises(ValidationError, match=message):
        Inflection(paradigms={"x": paradigm})
