"""One spelling of Urdu: code points, joiners, final letters within words, spaces."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blimpworks.linguistics.orthography import INVISIBLE, ZWNJ
from blimpworks.papers.urblimp.items.trees import plain_trees
from support.urblimp_kit import LETTERS, urdu

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
        # marks that say nothing
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
        # what keeps letters apart
        ("کریں_گے", "کریں گے"),
        (f"خوب{ZWNJ}صورت", "خوب صورت"),
        # what is well spelled stays
        ("ہے", "ہے"),
        ("بڑے", "بڑے"),
        ("مانگے", "مانگے"),
        ("گاؤں", "گاؤں"),
        ("۔", "۔"),
    ],
)
def test_a_word_has_one_spelling(written, expected):
    assert URDU.word(written) == expected


@pytest.mark.parametrize("only", ["\u200c", "\u200f", "_", "ـ", "\u064e"])
def test_a_word_of_nothing_but_marks_stays_a_word(only):
    assert URDU.word(only) == only


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
