import hashlib
import json
import re
from collections import Counter

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.lmentry.items import languages
from blimpworks.papers.lmentry.items.packs import Pack, declaration_of, read_declarations, read_pack
from blimpworks.papers.lmentry.items.prompts import join_words, nominal_of, prompt_of, prompts_of
from blimpworks.papers.lmentry.items.resources import PLACEHOLDERS, cleaned, read_resources
from blimpworks.papers.lmentry.items.sampling import Source, draw
from blimpworks.papers.lmentry.judging.choice import number_forms
from blimpworks.papers.lmentry.settings import LmentryOptions
from blimpworks.papers.lmentry.tasks import PARENTS, TASKS
from support import lmentry_prompts_kit
from support.lmentry_prompts_kit import DECLARATIONS, LANGUAGES, PACKS, drawn_of, write_resources

KNOWN = read_declarations(DECLARATIONS)
DIGESTS = {
    "cat": ("50e61f10e86b06d8", "22b7e5e1160c4e61"),
    "deu": ("71624b83cf09aba6", "db81fe09684e3e6e"),
    "eng": ("b67d58a519ce79f2", "b89fd97b3ac3237f"),
    "eus": ("62670b18924b9372", "344729ea649faf58"),
    "glg": ("f139b071049ee3e9", "178558f044351d27"),
    "ita": ("c434fc2c099224de", "7d24164ab31be08c"),
    "kor": ("329bd771d1629f07", "51a1ebe54c169db4"),
    "por": ("3de56a02d2d5010a", "45547c3a440be1dd"),
    "spa": ("7be6171806e9ff40", "de1061f228c4f84a"),
}
"""Digests of all texts and arguments, by variant.

When the published ones were recorded, they matched all 902,100 prompts of the released code
(benchmarks/release_prompts.py).
"""


def test_each_decision_changes_some_declaration_and_says_how():
    for decision in KNOWN.decisions.values():
        assert decision.published
        assert decision.corrected
        without = KNOWN.model_copy(update={"decisions": {"this": decision}})
        changed = [
            declaration_of(without, name, lang, "published")
            != declaration_of(without, name, lang, "corrected")
            for name in (*TASKS, *PARENTS)
            for lang in LANGUAGES
        ]
        assert any(changed), decision


@pytest.mark.parametrize("lang", PACKS)
def test_a_pack_is_short_and_complete_and_its_corrections_differ(lang):
    pack = read_pack(PACKS[lang])
    assert pack.lang == lang
    assert len(PACKS[lang].read_text(encoding="utf-8").splitlines()) <= 170
    assert {*pack.templates} == {*TASKS} - ({"homophones"} if lang == "eus" else set())
    assert all(len(texts) == 3 for texts in pack.templates.values())

    for key, text in pack.corrected.items():
        task, _, number = key.partition(".")
        usual = pack.templates[task][int(number) - 1]
        assert text != usual
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", usual))
        assert text.count('"') % 2 == 0


@lmentry_prompts_kit.needs_mirror
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("variant", ["published", "corrected"])
def test_the_prompts_are_those_of_the_release_and_corrected_ones_stay(lang, variant, tmp_path):
    pack, digest, corrected = read_pack(PACKS[lang]), hashlib.sha256(), variant == "corrected"
    for name, drawn in drawn_of(lang, variant, tmp_path).items():
        for arguments in drawn:
            texts = [prompt_of(pack, name, n, arguments, corrected=corrected) for n in (1, 2, 3)]
            row = json.dumps([name, texts, arguments], ensure_ascii=False, sort_keys=True)
            digest.update(row.encode())
    assert digest.hexdigest()[:16] == DIGESTS[lang][corrected]


@pytest.mark.slow
def test_a_smaller_campaign_takes_prompts_spread_over_all_and_keeps_the_proportion(tmp_path):
    small, pack = read_resources(write_resources(tmp_path)), read_pack(PACKS["ita"])
    few = [*prompts_of(small, pack, KNOWN, LmentryOptions(per_template=2))]
    assert {Counter((r["phenomenon"], r["template"]) for r in few)[k] for k in [("word_after", 1)]}
    every = {row["item_id"] for row in prompts_of(small, pack, KNOWN, LmentryOptions())}
    assert {row["item_id"] for row in few} < every
    task = declaration_of(KNOWN, "starts_with_word", "ita", "published")
    assert [nominal_of(task, pack, 175, kept) for kept in (175, 35, 1)] == [1000, 200, 6]


def test_another_seed_makes_other_draws_and_the_same_seed_the_same(tmp_path):
    small, pack = read_resources(write_resources(tmp_path)), read_pack(PACKS["ita"])
    for name in ("most_associated_word", "bigger_number", "sentence_containing"):
        source = Source(small, pack, declaration_of(KNOWN, name, "ita", "published"))
        assert draw(source, 1407) == draw(source, 1407) != draw(source, 1)


def test_resources_that_allow_no_prompt_are_refused(tmp_path):
    files = write_resources(tmp_path)
    (tmp_path / "rhyme_groups.json").write_text('{"at": ["cat", "cat"]}')
    with pytest.raises(UserError, match="rhyming_word: the resources allow no prompt"):
        [*prompts_of(read_resources(files), read_pack(PACKS["ita"]), KNOWN, LmentryOptions())]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("lmentry_words.json", "[1]", "holds no members; expected a JSON object"),
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


def test_a_resource_that_is_missing_is_named(tmp_path):
    files = write_resources(tmp_path)
    with pytest.raises(UserError, match=r"rhyme_groups.json is missing among homophones.csv"):
        read_resources([path for path in files if path.name != "rhyme_groups.json"])


def test_faults_stay_until_clean_resources_are_asked_for(tmp_path):
    files = write_resources(tmp_path)
    words = {"maior ": {"pos": "ADJ"}, "바\x1f": {"pos": "NOUN"}}
    (tmp_path / "lmentry_words.json").write_text(json.dumps(words))
    placeholder = min(PLACEHOLDERS)
    (tmp_path / "simple_sentences.csv").write_text(f"sentence\n{placeholder}\nHi you.\nHi you.\n")
    (tmp_path / "rhyme_groups.json").write_text('{"at": ["cat", "hat", "cat"]}')
    head = "word,homophone,semantic1,semantic2,easy1,easy2"
    text = f"{head}\nsea,see,see,look,cat,sea\n"
    # A byte order mark is not part of the first heading.
    (tmp_path / "homophones.csv").write_text(text, encoding="utf-8-sig")
    released = read_resources(files)
    assert released.homophones[0]["word"] == "sea"
    assert [*released.lexicon] == ["maior ", "바\x1f"]
    assert [*released.sentences] == [placeholder, "Hi you.", "Hi you."]
    tidy = cleaned(released)
    assert [*tidy.lexicon] == ["maior", "바"]
    assert [*tidy.sentences] == ["Hi you."]
    assert tidy.rhymes["at"] == ["cat", "hat"]
    same = {"word": "sea", "homophone": "see"}
    assert tidy.homophones == [same | {"easy1": "cat", "semantic2": "look"}]


FIRST = "  first_word: ['"
NO_FIELD = "'first_word', 'What is {word}?', has {word} in braces; expected {sentence}"


def corrected(template):
    return "templates:\n", f"corrected: {{{template}}}\ntemplates:\n"


SHARED, ENGLISH = (read_declarations, DECLARATIONS), (read_pack, PACKS["eng"])


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        (SHARED, ("sampler: homophones", "sampler: anagrams"), "homophones"),
        (SHARED, ("  homophones: {sampler", "  anagrams: {sampler"), "anagrams' is missing"),
        (SHARED, ("size: 999", "sise: 999"), "sentence_containing (kor)"),
        (SHARED, ("clear_rhymes:", "clear_rhymes: {}\n  other:"), "clear_rhymes"),
        (SHARED, ("{rhyming_word: {amb", "{rhyme: {amb"), "decisions: 'rhyme' is no task"),
        (ENGLISH, ("  first_word:", "  frist_word:"), "frist_word"),
        (ENGLISH, ('"{word1}" or "{word2}"?\', ', '"{word3}" or "{word2}"?\', '), "word3"),
        (ENGLISH, ("yes_no:", "yes_or_no:"), "yes_or_no"),
        (ENGLISH, ('yes_no: ["yes", "no"]\n', ""), "yes_no is missing"),
        (ENGLISH, (FIRST, f"{FIRST}What is {{word}}?', '"), NO_FIELD),
        (ENGLISH, corrected("first_word.two: '{sentence}?'"), "'first_word.two': no such templa"),
        (ENGLISH, corrected("frist_word.2: '{sentence}?'"), "expected a task of 'temp"),
        (ENGLISH, corrected("first_word.2: '{sentence?'"), "expected {sentence} in"),
        (ENGLISH, corrected("first_word.9: '{sentence}?'"), "'first_word.9': no such template"),
    ],
)
def test_declarations_and_packs_with_a_mistake_are_refused(tmp_path, file, change, said):
    (read, source), path = file, tmp_path / "eng.yaml"
    text = source.read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(UserError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)
    # The message quotes little of the file.
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
    name = "any_words_from_category"
    rows = [join_words(english, words, name, n, corrected=False) for n in (1, 3)]
    assert rows == ['"a", "b", and "c"', '"a", "b", "c"']
    name = "most_associated_word"
    most = [join_words(korean, words, name, 1, corrected=c) for c in (False, True)]
    assert most == ['"a", "b", and "c"', '"a", "b", "c"']
    name = "any_words_from_category_5_distractors"
    slip = [join_words(portuguese, words, name, 1, corrected=c) for c in (False, True)]
    assert slip == ['"a", "b" y "c"', '"a", "b" e "c"']


def test_basque_categories_are_declined():
    stems = {"tresna": "tresnak", "etxe": "etxeak", "negar": "negarrak", "kirol": "kirolak"}
    assert {stem: languages.decline(stem, "absolutive_plural") for stem in stems} == stems
    assert languages.decline("tresna", "absolutive_singular") == "tresna"
    assert languages.decline("gizarte", "comitative_singular") == "gizartearekin"
    assert languages.decline("kolore", "genitive") == "koloreren"

    abstract = frozenset({"gizarte", "espazio eta kopuru"})

    def name(category, task, number, correct=False):
        return languages.category_name(category, task, number, abstract, correct=correct)

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
