"""Test parts of rules: patterns and their matches, inflection by rule, and the spelling of Urdu."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from blimpworks.errors import UserError
from blimpworks.linguistics.orthography import INVISIBLE, ZWNJ
from blimpworks.papers.urblimp.items.inflection import Inflection, cell_of
from blimpworks.papers.urblimp.items.patterns import holds, matches, parse_pattern, plain_trees
from support.urblimp_kit import LETTERS, tree, urdu, word

# The boy gave the girl a book.
GAVE = tree(
    "لڑکے/NOUN/5/nsubj/Case=Acc|Gender=Masc|lemma=لڑکا نے/ADP/1/case/Person=3 "
    "لڑکی/NOUN/5/iobj/Gender=Fem کتاب/NOUN/5/obj/Gender=Fem|Case=Nom "
    "دی/VERB/0/root/Aspect=Perf|Gender=Fem|Person=1st|lemma=دینا "
    "۔/PUNCT/5/punct"
)
LISTS = {"people": "وزیر|لڑک.*"}


@pytest.mark.parametrize(
    ("pattern", "forms"),
    [
        # features
        ("S [upos=NOUN|ADP]", "لڑکے نے لڑکی کتاب"),
        ("S [upos=NOUN, Gender=Fem]", "لڑکی کتاب"),
        ("S [upos=NOUN]; S [Gender=Fem]", "لڑکی کتاب"),
        ('S [form="لڑکے"]', "لڑکے"),
        ("S [form=لڑکے]", "لڑکے"),
        ("S [form=@people]", "لڑکے لڑکی"),
        ('S [lemma="لڑکا"|"دینا"]', "لڑکے دی"),
        ('S [form=re"ل"]', ""),
        ('S [form=re"لڑک(ے|ی)"|"دی"]', "لڑکے لڑکی دی"),
        ('S [form="لڑک."]', ""),
        ("S [Case]", "لڑکے کتاب"),
        ("S [!Case, upos=NOUN]", "لڑکی"),
        ('S [Person="3"]', "نے"),
        ("S [Person=3|1st]", "نے دی"),
        ("S [Person<>3]", "دی"),
        ("S []", "لڑکے نے لڑکی کتاب دی ۔"),
        ("S [upos<>NOUN|PUNCT]", "نے دی"),
        ('S [form<>re".*[ےی]", upos=NOUN]', "کتاب"),
        # relations; matches are in the order of the words
        ("V -[nsubj]-> S", "لڑکے"),
        ("V -[obj|iobj]-> S", "لڑکی کتاب"),
        ("V -[^nsubj|punct]-> S; V [upos=VERB]", "لڑکی کتاب"),
        ("V -> S; V [upos=VERB]", "لڑکے لڑکی کتاب ۔"),
        ("V -[nsubj:pass]-> S", ""),
        ("S < V; V [upos=VERB]", "کتاب"),
        ("V < S; V [upos=VERB]", "۔"),
        ("S << V; V [upos=VERB]", "لڑکے نے لڑکی کتاب"),
        ("S.Gender = V.Gender; V [upos=VERB]", "لڑکی کتاب"),
        ("S.Gender <> V.Gender; V [upos=VERB]", "لڑکے"),
        ("S.upos = V.upos; V [upos=ADP]", ""),
    ],
)
def test_clauses_pick_words(pattern, forms):
    found = matches(parse_pattern(pattern, LISTS), GAVE)
    assert [GAVE.words[match["S"]].form for match in found] == forms.split()


def test_comments_line_ends_and_empty_clauses_at_the_end_say_nothing():
    commented = "\n# who gives\nV [upos=VERB];  # the verb; a semicolon\n V -[nsubj]-> S;\n"
    assert parse_pattern(commented) == parse_pattern("V [upos=VERB]; V -[nsubj]-> S")


@pytest.mark.parametrize(
    ("pattern", "known", "found"),
    [
        ("V -> N; N [upos=NOUN]", {"V": 4}, [0, 2, 3]),
        # The subject has another name already, so it cannot be N too.
        ("N [upos=NOUN]", {"S": 0}, [2, 3]),
    ],
)
def test_known_words_stay_and_are_not_taken_for_others(pattern, known, found):
    assert [match["N"] for match in matches(parse_pattern(pattern), GAVE, known)] == found


@pytest.mark.parametrize(
    ("pattern", "known", "expected"),
    [
        ("N [Gender=Fem]", {"N": 2}, True),
        ("N [Gender=Fem]", {"N": 0}, False),
        ("V -[nsubj]-> S", {"V": 4, "S": 0}, True),
        ("V -[nsubj]-> S", {"V": 4, "S": 2}, False),
        ("N -[case]-> K", {"N": 0}, True),
        ("N -[case]-> K", {"N": 3}, False),
        ("N -[case]-> K", {"N": 0, "P": 1}, False),
        ("A << B", {"A": 3, "B": 1}, False),
    ],
)
def test_a_pattern_holds_of_words_that_are_known(pattern, known, expected):
    assert holds(parse_pattern(pattern), GAVE, known) is expected


APART = "; ".join(f"N{number} []" for number in range(4))
CHAIN = "; ".join(f"N{number} -[a]-> N{number + 1}" for number in range(10))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("V [upos=VERB", "pattern is malformed at "),
        ("V [upos=]", "at line 1, column 9, in 'V [upos=]'; expected clauses such as V [up"),
        ("V [upos=VERB];\nV -[nsubj-> S", "at line 2, column 10, in 'V -[nsubj-> S'; expected"),
        ("V -[]-> S", "at line 1, column 5"),
        ("V [upos==VERB]", "at line 1, column 9"),
        ("1V [upos=VERB]", "at line 1, column 1"),
        ('V [form="x]', "at line 1, column 9"),
        ("", "pattern is empty; expected clauses such as V ["),
        ("# V [upos=VERB]", "pattern is empty; expected clauses such as V ["),
        ('V [form=re"(x"]', "pattern has a malformed regular expression ('(x' is no"),
        ("V [form=@places]", "pattern names the list 'places'; the pack has people."),
        (APART, "has 4 words in 4 parts that no edge connects; expected at most 10 words in 3"),
        (CHAIN, "has 11 words in 1 parts"),
    ],
)
def test_a_malformed_pattern_is_refused_in_a_sentence(pattern, message):
    with pytest.raises(UserError) as raised:
        parse_pattern(pattern, LISTS)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_edges_connect_the_parts_of_a_pattern():
    assert parse_pattern(f"{APART}; N0 -> N1; N2 -> N3").group_count == 2


FORMS = [
    # Participles have the ending of gender and number, infinitives of case and gender.
    ("دیکھنا", "Perf", "دیکھا دیکھے دیکھی دیکھیں"),
    ("دیکھنا", "Imp", "دیکھتا دیکھتے دیکھتی دیکھتیں"),
    # after vowels
    ("آنا", "Perf", "آیا آئے آئی آئیں"),
    ("سونا", "Perf", "سویا سوئے سوئی سوئیں"),
    ("بتانا", "Imp", "بتاتا بتاتے بتاتی بتاتیں"),
    # stems in ن and in ہ, whose lemmas the treebank spells with another ہ
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
    """Return usual forms of the cells with some features, in the order of the paradigm."""
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
    assert inflection.inflect(word(form, lemma, upos), change)[0] == expected


@pytest.mark.parametrize(
    ("lemma", "upos", "form"),
    [
        ("جانا", "VERB", "گیئں"),  # a misspelling
        ("جانا", "NOUN", "گیا"),  # not a verb
        ("عمدہ", "ADJ", "عمدہ"),  # invariable
        ("خوبصورت", "ADJ", "خوبصورت"),
        ("چاہئے", "AUX", "چاہئے"),  # not an infinitive
    ],
)
def test_a_form_that_its_lemma_does_not_give_by_rule_is_not_changed(inflection, lemma, upos, form):
    assert inflection.inflect(word(form, lemma, upos), {"Gender": "other"}) == ()
    assert inflection.inflect(word(form, lemma, upos), {"Number": "other"}) == ()


@pytest.mark.parametrize(
    ("form", "lemma", "features", "change", "known", "expected"),
    [
        ("لڑکے", "لڑکا", {"Case": "Acc"}, {"Case": "Nom"}, {}, "لڑکا"),
        ("لڑکے", "لڑکا", {"Case": "Nom", "Number": "Plur"}, {"Case": "Nom"}, {}, "لڑکے"),
        # The treebank labels the polite plural Sing, like the subjunctive's third person.
        ("رہے", "رہنا", {"Aspect": "Perf"}, {"Number": "Sing"}, {"Number": "Plur"}, "رہا"),
    ],
)
def test_ambiguous_forms_are_read_as_treebank_and_complex_say(
    inflection, form, lemma, features, change, known, expected
):
    given = {"Number": "Sing", "Gender": "Masc"} | features
    ambiguous = word(form, lemma, "NOUN" if "Case" in given else "AUX", **given)
    assert inflection.inflect(ambiguous, change, certain=known)[0] == expected


def test_a_verb_is_a_stem_before_the_auxiliary_of_the_progressive(inflection):
    """سن is the stem of سننا and سنا its perfective; only the stem can precede رہنا."""
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
    assert inflection.inflect(go, {"Number": "Sing"}, future)[0] == "آئے"


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
        ({"cells": {"A=b": ["a"]}, "irregular": {"x": {"A=c": ["y"]}}}, "'A=c', which is no cell"),
        ({}, "Field required"),
    ],
)
def test_a_malformed_paradigm_is_refused(paradigm, message):
    with pytest.raises(ValidationError, match=message):
        Inflection(paradigms={"x": paradigm})


URDU = urdu().orthography
FOREIGN = "يىكهةۀەڪ"
OTHERS = "ـ" + ZWNJ + "\u200d\u200e\u200f\u202b\ufeff\u064b\u064e\u0651\u0654_"

urdu_text = st.text(st.sampled_from(LETTERS + FOREIGN + OTHERS + "۰۱٣5-"), max_size=8)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        # letters of Arabic keyboards
        ("كتاب", "کتاب"),
        ("علي", "علی"),
        ("هم", "ہم"),
        ("٢٠١٣", "۲۰۱۳"),
        # marks without meaning
        ("کتـــاب", "کتاب"),
        ("\ufeffاردو", "اردو"),
        # short vowels
        ("اُردُو", "اردو"),
        # letters and marks in one code point
        ("ا\u0653پ", "آپ"),
        ("آۓ", "آئے"),
        # final letters within words
        ("مےں", "میں"),
        ("اےک", "ایک"),
        ("جائےگا", "جائے گا"),
        ("کرےںگے", "کریں گے"),
        ("بےشمار", "بے شمار"),
        ("ھم", "ہم"),
        # separators of letters
        ("کریں_گے", "کریں گے"),
        (f"خوب{ZWNJ}صورت", "خوب صورت"),
        # correct spellings stay
        ("ہے", "ہے"),
        ("بڑے", "بڑے"),
        ("مانگے", "مانگے"),
        ("گاؤں", "گاؤں"),
        # and so do marks alone
        *((only, only) for only in ("۔", "\u200c", "\u200f", "_", "ـ", "\u064e")),
    ],
)
def test_a_word_has_one_spelling(written, expected):
    assert URDU.word(written) == expected


@given(urdu_text.filter(lambda text: {*text} & {*LETTERS}))
@example("_ھ")
@example("ھ\u0654")
@example("ـ\u200cا")
@settings(max_examples=300)
def test_a_spelled_word_is_composed_has_no_foreign_letter_and_stays(text):
    once = URDU.word(text)
    assert URDU.word(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert not set(once) & {*FOREIGN, *map(chr, INVISIBLE), ZWNJ}
    assert once == " ".join(once.split())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("وہ آیا ۔", "وہ آیا۔"),
        ("وہ ( کل ) آیا ۔", "وہ (کل) آیا۔"),
        ("وہ : میں", "وہ: میں"),
        ('" ہاں " ، " نہیں "', '"ہاں"، "نہیں"'),
        ("وہ آیا -", "وہ آیا۔"),
        ("وہ آیا .", "وہ آیا۔"),
        ("۲ - ۳ گھر ۔", "۲ - ۳ گھر۔"),
    ],
)
def test_punctuation_is_spaced_and_closed_as_in_print(words, expected):
    assert URDU.joined((form, True) for form in words.split()) == expected


@pytest.mark.parametrize(
    ("text", "spelled", "forms"),
    [
        ("وہ كل  جائےگا۔", "وہ کل جائے گا۔", "وہ کل جائے گا ۔"),
        ('اس نے كہا "ہاں"۔', 'اس نے کہا "ہاں"۔', 'اس نے کہا " ہاں " ۔'),
        ("(بےشمار) لوگ", "(بے شمار) لوگ", "( بے شمار ) لوگ"),
        ("", "", ""),
    ],
)
def test_text_is_spelled_and_spaced_as_pairs_are(text, spelled, forms):
    assert URDU.text(text) == spelled
    assert " ".join(form for form, _ in URDU.tokens(text)) == forms


def test_words_that_the_treebank_joins_stay_joined():
    assert URDU.joined([("۲۰", False), ("%", True), ("لوگ", False), ("۔", True)]) == "۲۰% لوگ۔"


def test_plain_text_makes_words_without_edges(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("وہ كل آیا۔\n\nہم گئے؟\n", encoding="utf-8")
    result = list(plain_trees(path, URDU))
    assert [" ".join(w.form for w in t.words) for t in result] == ["وہ کل آیا ۔", "ہم گئے ؟"]
    assert {w.head for t in result for w in t.words} == {-1}
    assert {t.file for t in result} == {"a.txt"}
