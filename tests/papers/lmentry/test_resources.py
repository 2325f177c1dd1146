"""Multi-LMentry's input files, and what prompts are worded with."""

import json
import re

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.lmentry.items import languages
from blimpworks.papers.lmentry.items.declarations import read_declarations
from blimpworks.papers.lmentry.items.packs import Pack, read_pack
from blimpworks.papers.lmentry.items.prompts import row_of
from blimpworks.papers.lmentry.items.resources import PLACEHOLDERS, cleaned, read_resources
from blimpworks.papers.lmentry.judging.choice import number_forms
from support.lmentry_prompts_kit import DECLARATIONS, PACKS, write_resources

ABSTRACT = frozenset({"gizarte", "espazio eta kopuru"})


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("lmentry_words.json", "[1]", "holds no members; expected a JSON object"),
        ("lmentry_words.json", "{", "a JSON object"),
        ("lmentry_words.json", '{"cat": "NOUN"}', "'cat' is 'NOUN'; expected a word with an"),
        ("nouns_by_category.json", '{"beasts": "cat"}', "'beasts' is 'cat'; expected a list"),
        ("homophones.csv", "word,homophone\na,b\n", ":1: no column 'easy1' among word, homophone"),
        ("simple_sentences.csv", 'sentence\n""\n', ":2: sentence is empty"),
        ("simple_sentences.csv", "text\nHello.\n", ":1: no column 'sentence' among text"),
    ],
)
def test_a_malformed_resource_is_refused_in_one_sentence(tmp_path, name, text, said):
    files = write_resources(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError) as caught:
        read_resources(files)
    assert f"{tmp_path / name}" in str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_resource_that_is_missing_or_in_another_encoding_is_named(tmp_path):
    files = write_resources(tmp_path)
    with pytest.raises(UserError, match=r"rhyme_groups.json is missing among homophones.csv"):
        read_resources([path for path in files if path.name != "rhyme_groups.json"])
    (tmp_path / "homophones.csv").write_bytes("word,거름\n".encode("euc_kr"))
    with pytest.raises(UserError, match="is not in UTF-8"):
        read_resources(files)


def test_faults_stay_until_clean_resources_are_asked_for(tmp_path):
    files = write_resources(tmp_path)
    words = {"maior ": {"pos": "ADJ"}, "바\x1f": {"pos": "NOUN"}}
    (tmp_path / "lmentry_words.json").write_text(json.dumps(words))
    placeholder = min(PLACEHOLDERS)
    (tmp_path / "simple_sentences.csv").write_text(f"sentence\n{placeholder}\nHi you.\nHi you.\n")
    (tmp_path / "rhyme_groups.json").write_text('{"at": ["cat", "hat", "cat"]}')
    head = "word,homophone,semantic1,semantic2,easy1,easy2"
    text = f"{head}\nsea,see,see,look,cat,sea\n"
    # A byte order mark is no part of the first heading.
    (tmp_path / "homophones.csv").write_text(text, encoding="utf-8-sig")
    released = read_resources(files)
    assert released.homophones[0]["word"] == "sea"
    assert [*released.words] == ["maior ", "바\x1f"]
    assert [*released.sentences] == [placeholder, "Hi you.", "Hi you."]
    tidy = cleaned(released)
    assert [*tidy.words] == ["maior", "바"]
    assert [*tidy.sentences] == ["Hi you."]
    assert tidy.rhymes["at"] == ["cat", "hat"]
    same = {"word": "sea", "homophone": "see"}
    assert tidy.homophones == [same | {"easy1": "cat", "semantic2": "look"}]


FIRST = "  first_word: ['"
NO_FIELD = "'first_word', 'What is {word}?', has {word} in braces; expected {sentence}"


def corrected(template):
    return "templates:\n", f"corrected: {{{template}}}\ntemplates:\n"


@pytest.mark.parametrize(
    ("read", "source", "change", "said"),
    [
        *(
            (read_declarations, DECLARATIONS, change, said)
            for *change, said in (
                ("sampler: homophones", "sampler: anagrams", "homophones"),
                ("  homophones: {sampler", "  anagrams: {sampler", "anagrams' is missing or unkn"),
                ("size: 999", "sise: 999", "sentence_containing (kor)"),
                ("clear_rhymes:", "clear_rhymes: {}\n  other:", "clear_rhymes"),
                ("{rhyming_word: {amb", "{rhyme: {amb", "decisions: 'rhyme' is no task or subset"),
            )
        ),
        *(
            (read_pack, PACKS["eng"], change, said)
            for *change, said in (
                ("  first_word:", "  frist_word:", "frist_word"),
                ('"{word1}" or "{word2}"?\', ', '"{word3}" or "{word2}"?\', ', "word3"),
                ("yes_no:", "yes_or_no:", "yes_or_no"),
                ('yes_no: ["yes", "no"]\n', "", "yes_no is missing"),
                (FIRST, f"{FIRST}What is {{word}}?', '", NO_FIELD),
                (*corrected("first_word.two: '{sentence}?'"), "'first_word.two': no such templa"),
                (*corrected("frist_word.2: '{sentence}?'"), "expected a task of 'temp"),
                (*corrected("first_word.2: '{sentence?'"), "expected {sentence} in"),
                (*corrected("first_word.9: '{sentence}?'"), "'first_word.9': no such template"),
            )
        ),
    ],
)
def test_declarations_and_packs_with_a_mistake_are_refused(tmp_path, read, source, change, said):
    text, path = source.read_text(encoding="utf-8"), tmp_path / "eng.yaml"
    assert change[0] in text
    path.write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(UserError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)
    # One sentence, and not the file over again.
    assert len(str(error.value)) < len(str(path)) + 900


def test_a_template_of_a_subset_must_stand_in_the_place_of_one():
    data = read_pack(PACKS["cat"]).model_dump()
    for key in ("less_letters.2", "less_letters_length_diff_1.9", "more.2"):
        with pytest.raises(ValueError, match=f"slips '{key}': no such template; expected a subset"):
            Pack.model_validate(data | {"slips": {key: "{word1} {word2}"}})
    with pytest.raises(ValueError, match="has \\{word1\\} in braces; expected \\{word1\\}, "):
        Pack.model_validate(data | {"slips": {"less_letters_length_diff_1.2": "{word1}"}})


def test_lists_are_joined_as_each_language_joins_them():
    words = ["a", "b", "c"]
    english, korean, portuguese = (read_pack(PACKS[lang]) for lang in ("eng", "kor", "por"))
    rows = [row_of(english, words, "any_words_from_category", n, corrected=False) for n in (1, 3)]
    assert rows == ['"a", "b", and "c"', '"a", "b", "c"']
    most = [row_of(korean, words, "most_associated_word", 1, corrected=c) for c in (False, True)]
    assert most == ['"a", "b", and "c"', '"a", "b", "c"']
    name = "any_words_from_category_5_distractors"
    slip = [row_of(portuguese, words, name, 1, corrected=c) for c in (False, True)]
    assert slip == ['"a", "b" y "c"', '"a", "b" e "c"']


def test_basque_categories_are_declined():
    stems = {"tresna": "tresnak", "etxe": "etxeak", "negar": "negarrak", "kirol": "kirolak"}
    assert {stem: languages.decline(stem, "absolutive_plural") for stem in stems} == stems
    assert languages.decline("tresna", "absolutive_singular") == "tresna"
    assert languages.decline("gizarte", "comitative_singular") == "gizartearekin"
    assert languages.decline("kolore", "genitive") == "koloreren"

    def name(category, task, number, correct=False):
        return languages.category_name(category, task, number, ABSTRACT, correct=correct)

    assert name("animalia", "most_associated_word", 1) == "animaliak"
    assert name("gizarte", "least_associated_word", 1) == "gizartea"
    assert name("tresna", "any_words_from_category", 1) == "tresna"
    assert name("tresna", "any_words_from_category", 3) == "tresnaren"
    assert name("gizarte", "all_words_from_category", 1) == "gizartearekin zerikusia duten hitzak"
    every = [name("espazio eta kopuru", "any_words_from_category", 1, c) for c in (False, True)]
    assert every == ["espazio edo kopuru", "espazio edo kopuruarekin zerikusia duen hitz"]


LETTERS = {lang: read_pack(PACKS[lang]).alphabet for lang in PACKS}


def test_words_stand_in_the_order_of_their_language():
    german, spanish, korean = (languages.Alphabet(LETTERS[lang]) for lang in ("deu", "spa", "kor"))
    for alphabet, words in (
        (german, ["Apfel", "apfel", "Äpfel", "öl", "Zebra"]),
        (spanish, ["él", "nube", "nuez", "ñu", "oso"]),
        (korean, ["가방", "까치", "나무", "하늘"]),
    ):
        assert sorted(sorted(words, reverse=True), key=alphabet.key) == words
    assert [korean.initial(word) for word in ("까치", "하늘", "~와")] == ["ㄲ", "ㅎ", ""]
    assert languages.spell("값") == "ㄱㅏㅄ"


GOLDEN = """
1 bat, 10 hamar, 18 hemezortzi, 19 hemeretzi, 20 hogei, 21 hogeita bat, 31 hogeita hamaika,
59 berrogeita hemeretzi, 80 laurogei, 100 ehun, 101 ehun eta bat, 215 berrehun eta hamabost,
444 laurehun eta berrogeita lau, 999 bederatziehun eta laurogeita hemeretzi
"""


def test_basque_numbers_are_spelled_by_scores_and_none_alike():
    for number, words in re.findall(r"(\d+) ([^,\n]+)", GOLDEN):
        assert languages.spelled(int(number)) == words
    assert len({languages.spelled(number) for number in range(1000)}) == 1000
    with pytest.raises(ValueError, match="expected 0 to 999"):
        languages.spelled(1000)


def test_answers_may_have_a_number_in_digits_or_in_words():
    assert number_forms(121, "eu") == ("121", "ehun eta hogeita bat")
    assert number_forms(121, "ko") == ("121", "백이십일")
