"""One spelling of Urdu: code points, joiners, final letters within words, spaces."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blimpworks.linguistics.orthography import INVISIBLE, ZWNJ, Orthography
from blimpworks.papers.urblimp.items.trees import plain_trees, read_trees
from support.urblimp_kit import LETTERS, tables_of, urdu

URDU = urdu().orthography
FOREIGN = "يىكهةۀەڪ"
OTHERS = "ـ" + ZWNJ + "\u200d\u200e\u200f\u202b\ufeff\u064b\u064e\u0651\u0654_"

urdu_text = st.text(st.sampled_from(LETTERS + FOREIGN + OTHERS + "۰۱٣5-"), max_size=8)


@pytest.fixture(scope="module")
def own_trees(tmp_path_factory):
    """Our own treebank, by sentence."""
    tables = tables_of(tmp_path_factory.mktemp("own"))
    return {tree.sent_id: tree for tree in read_trees(*tables, URDU)}


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


def test_only_auxiliaries_of_the_future_stand_apart():
    words = ("گا", "گے", "گی", "گیا", "دہی", "گ", "شمار")
    assert [word for word in words if URDU.stands_apart(word)] == [*words[:3]]


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


def test_the_default_changes_nothing_but_marks_and_joiners():
    plain = Orthography()
    assert plain.word("كتـاب") == "كتاب"
    assert plain.word("a_b") == "a b"
    assert not plain.stands_apart("گا")


@pytest.mark.parametrize(
    ("sent_id", "words"),
    [
        ("spell-1", "کل بارش ہو گی ۔"),
        ("spell-2", "مزدور شام تک کام کریں گے ۔"),
        ("spell-3", "بے شمار لوگ میلے میں آئے ۔"),
        ("dop-no-1", "آپ کو بلایا جائے گا ۔"),
    ],
)
def test_words_of_a_treebank_are_spelled_and_futures_are_two(own_trees, sent_id, words):
    # بے شمار is one word of two parts; a future's auxiliary is a word of its own.
    result = own_trees[sent_id].words
    assert " ".join(word.form for word in result) == words
    futures = [word for word in result if URDU.stands_apart(word.form)]
    assert len(futures) == (sent_id != "spell-3")
    for word in futures:
        assert (word.upos, word.relation, word.space) == ("AUX", "aux", False)
        assert result[word.head].upos == "VERB"


def test_plain_text_makes_words_without_edges(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("وہ كل آیا۔\n\nہم گئے؟\n", encoding="utf-8")
    result = list(plain_trees(path, URDU))
    assert [[w.form for w in t.words] for t in result] == [
        ["وہ", "کل", "آیا", "۔"],
        ["ہم", "گئے", "؟"],
    ]
    assert {w.head for t in result for w in t.words} == {-1}
    assert {t.file for t in result} == {"a.txt"}
