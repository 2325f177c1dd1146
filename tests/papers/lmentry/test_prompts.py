"""Prompts of Multi-LMentry: how many, what they ask, and what is the right answer."""

import csv
import hashlib
import json
import re
from collections import Counter

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.lmentry.items.declarations import declaration_of, read_declarations
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.items.prompts import nominal_of, prompt_of, prompts_of
from blimpworks.papers.lmentry.items.resources import read_resources
from blimpworks.papers.lmentry.items.sampling import Source, draw
from blimpworks.papers.lmentry.settings import LmentryOptions
from blimpworks.papers.lmentry.tasks import PARENTS, SUBSETS, TASKS
from blimpworks.tables import PROMPTS, read_table
from support.commands import run
from support.lmentry_prompts_kit import (
    CONFIG,
    DECLARATIONS,
    LANGUAGES,
    PACKS,
    drawn_of,
    needs_mirror,
    write_resources,
)

VARIANTS = ("published", "corrected")
# What is drawn is drawn once: tests that share it are run by one worker.
each_language = pytest.mark.parametrize(
    "lang",
    [pytest.param(lang, marks=pytest.mark.xdist_group(f"prompts-{lang}")) for lang in LANGUAGES],
)
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
"""Of all texts and arguments, by variant. When the published ones were written down, all 902,100
prompts that the released code makes had been found the same (benchmarks/release_prompts.py)."""


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("lmentry")


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


@needs_mirror
@each_language
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_numbers_are_those_of_table_54_but_for_explained_differences(lang, variant, store):
    drawn = drawn_of(lang, variant, store)
    made = {name: 3 * len(arguments) for name, (arguments, _) in drawn.items()}
    with (CONFIG.parent / "published/lmentry/table54.csv").open() as handle:
        rows = [row for row in csv.DictReader(handle) if row["column"] == lang and row["value"]]
    printed = {row["row"]: int(row["value"]) for row in rows}
    with (CONFIG / "count_differences.tsv").open() as handle:
        rows = [*csv.DictReader(handle, delimiter="\t")]
    explained = {
        row["task"]: (int(row["printed"]), int(row["made"]))
        for row in rows
        if (row["variant"], row["lang"]) == (variant, lang) and row["reason"]
    }
    numbers = {task: (printed.get(task, 0), made.get(task, 0)) for task in {*made, *printed}}
    assert {task: pair for task, pair in numbers.items() if pair[0] != pair[1]} == explained
    # Print has three times what the settings name.
    nominal = {name: 3 * number for name, (_, number) in drawn.items()}
    assert nominal == (printed if variant == "published" else made)


@needs_mirror
@each_language
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_prompts_are_those_of_the_release_and_corrected_ones_stay(lang, variant, store):
    pack, digest, corrected = read_pack(PACKS[lang]), hashlib.sha256(), variant == "corrected"
    for name, (drawn, _) in drawn_of(lang, variant, store).items():
        for arguments in drawn:
            texts = [prompt_of(pack, name, n, arguments, corrected=corrected) for n in (1, 2, 3)]
            row = json.dumps([name, texts, arguments], ensure_ascii=False, sort_keys=True)
            digest.update(row.encode())
    assert digest.hexdigest()[:16] == DIGESTS[lang][corrected]


@pytest.mark.slow
def test_a_language_without_pinned_resources_gets_prompts_from_its_own_files(tmp_path):
    files, output = write_resources(tmp_path / "resources"), tmp_path / "items.parquet"
    options = {"--pack": PACKS["ita"], "--declarations": DECLARATIONS, "--output": output}
    arguments = [x for pair in options.items() for x in pair]
    run("build-lmentry-items", *files, *arguments, "--options={}")
    notes = json.loads(output.with_name("items.parquet.prov.json").read_text())["notes"]
    assert read_table(PROMPTS, output).num_rows == notes["prompts"] > 1000
    # The small resources have no rhymes but -at, -og and -ake, and these are all found.
    assert notes["tasks"] == len(TASKS) + sum(map(len, SUBSETS.values())) - 1


@pytest.mark.slow
def test_a_smaller_campaign_takes_prompts_spread_over_all_and_keeps_the_proportion(tmp_path):
    small, pack = read_resources(write_resources(tmp_path)), read_pack(PACKS["ita"])
    few = [*prompts_of(small, pack, KNOWN, LmentryOptions(per_template=2))]
    assert {Counter((r["phenomenon"], r["template"]) for r in few)[k] for k in [("word_after", 1)]}
    every = {row["item_id"] for row in prompts_of(small, pack, KNOWN, LmentryOptions())}
    assert {row["item_id"] for row in few} < every
    task = declaration_of(KNOWN, "starts_with_word", "ita", "published")
    assert [nominal_of(task, 175, kept) for kept in (175, 35, 1)] == [1000, 200, 6]


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
