"""Test languages of Multi-LMentry with our own resources, such as French, outside the release.

A language added as docs/adding_lmentry.md describes needs no further line here.
"""

import json
import re
from collections import Counter
from functools import cache
from itertools import combinations

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.items.prompts import build_prompts
from blimpworks.papers.lmentry.items.resources import DISTRACTORS, read_resources
from blimpworks.papers.lmentry.judging.judge import Judge
from blimpworks.papers.lmentry.paper import resource_files
from blimpworks.papers.lmentry.settings import LmentryOptions
from blimpworks.papers.lmentry.tasks import SUBSETS, TASKS
from blimpworks.tables import PROMPTS, read_table
from support.lmentry_prompts_kit import CONFIG, DECLARATIONS, LANGUAGES, PACKS

OWN = sorted({*PACKS} - {*LANGUAGES})
KINDS = ("ADJECTIVE", "ADPOSITION", "ADVERB", "CONJUNCTION", "DATE", "DETERMINER", "NOUN", "VERB")
FEWER = """
sentence_containing 948, sentence_not_containing 948, word_containing 34, word_not_containing 34,
homophones 368, starts_with_word 116, ends_with_word 914, starts_with_letter 25,
ends_with_letter 21, first_word 254, last_word 254, first_letter 948, last_letter 948
"""
FRENCH = {task: int(number) for task, number in re.findall(r"(\w+) (\d+)", FEWER)}
"""Numbers of a template's prompts by task, if below 1,000."""


def files_of(lang):
    settings = {"campaign": "own", "benchmarks": ["lmentry"], "languages": [lang]}
    campaign = check_campaign(settings | {"lmentry": {"variant": "corrected"}}, "test")
    return resource_files(campaign, load_catalogue(campaign), lang)


@cache
def resources(lang):
    return read_resources(files_of(lang))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")

    @cache
    def build(lang, few):
        output = folder / f"{lang}-{few}.parquet"
        options = LmentryOptions(variant="corrected", per_template=few)
        build_prompts(files_of(lang), PACKS[lang], DECLARATIONS, output, options)
        return read_table(PROMPTS, output).to_pylist()

    return build


@pytest.mark.slow
def test_french_prompts_are_built_from_the_repository_alone(built):
    assert all(path.resolve().is_relative_to(CONFIG) for path in files_of("fra"))
    rows = built("fra", None)
    counts = Counter(row["phenomenon"] for row in rows)
    subsets = [f"{task}_{name}" for task, names in SUBSETS.items() for name in names]
    subsets.remove("rhyming_word_orthographically_different")
    assert counts == {name: 3 * FRENCH.get(name, 1000) for name in (*TASKS, *subsets)}
    assert len(rows) == 98_436
    assert all(row["prompt"].count('"') % 2 == 0 for row in rows)


def repeated(groups):
    counts = Counter(word for words in groups.values() for word in words)
    return {word for word, number in counts.items() if number > 1}


@pytest.mark.parametrize("lang", OWN)
def test_words_are_of_the_alphabet_one_category_and_one_rhyme(lang):
    pack, own = read_pack(PACKS[lang]), resources(lang)
    letters = {*pack.alphabet, *pack.also}
    for word, facts in own.lexicon.items():
        assert {*word} <= letters, word
        assert facts["pos"] in KINDS, word
    for groups in (own.nouns, own.categories):
        assert repeated(groups) == set()
        assert all(10 <= len(words) <= 14 for words in groups.values())
    assert len(own.rhymes) >= 60
    assert repeated(own.rhymes) == set()
    for words in own.rhymes.values():
        # Two words of which neither ends in the other.
        pairs = combinations(words, 2)
        assert any(not (a.endswith(b) or b.endswith(a)) for a, b in pairs), words


@pytest.mark.parametrize("lang", OWN)
def test_homophones_are_six_different_words_and_no_rhymes_of_one_another(lang):
    rows, groups = resources(lang).homophones, resources(lang).rhymes.values()
    assert len(rows) >= 40
    for row in rows:
        others = [row[name] for name in DISTRACTORS]
        assert len({row["word"], row["homophone"], *others}) == 6, row
        for group in groups:
            # A group has a word or its homophone, not both: they do not rhyme, they sound the same.
            # A distractor that sounds like one of its words would be half right.
            known = {row["word"], row["homophone"]} & {*group}
            assert len(known) < 2, row
            assert not known or not {*others} & {*group}, row


@pytest.mark.parametrize("lang", OWN)
def test_sentences_are_short_and_no_word_in_them_can_be_mistaken(lang):
    sentences = resources(lang).sentences
    assert len({*sentences}) == len(sentences) >= 250
    for sentence in sentences:
        words = re.fullmatch(r"[^\W\d_]+(?:,? [^\W\d_]+)*\.", sentence)
        assert words, sentence
        counts = Counter(re.findall(r"\w+", sentence.lower()))
        assert 5 <= len(counts) == counts.total() <= 12, sentence


@pytest.mark.slow
@pytest.mark.parametrize("lang", OWN)
def test_each_gold_answer_is_right_and_each_distractor_wrong(lang, built):
    judge = Judge(read_pack(PACKS[lang]).answers, "corrected", prompts="corrected")
    judged = 0
    for row in built(lang, 60):
        arguments = json.loads(row["arguments"])
        ask = judge.for_prompt(row["phenomenon"], row["template"], arguments, row["prompt"])
        if row["answer"] is not None:
            judged += 1
            for answer in (row["answer"], f"« {row['answer'].upper()} »", f"*{row['answer']}*.\n"):
                assert ask(answer).correct, (row["prompt"], answer)
        wrong = arguments.get("distractors", [arguments.get("distractor", "")])
        for answer in wrong:
            assert not ask(str(answer)).correct, (row["prompt"], answer)
    assert judged > 5000
