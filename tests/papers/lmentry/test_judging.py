import json
import string
import unicodedata
from functools import cache

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.errors import UserError
from blimpworks.files import read_cells
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.judging.answers import CLOSE, OPEN, ROLE
from blimpworks.papers.lmentry.judging.compiling import Expressions, counts_of, expression_of
from blimpworks.papers.lmentry.judging.declared import RULES, AnswerPatterns, task_patterns
from blimpworks.papers.lmentry.judging.judge import Judge, judge_answers
from blimpworks.tables import ANSWERS, JUDGEMENTS, PROMPTS, read_table
from support.lmentry_campaign import prompt_row, write
from support.lmentry_prompts_kit import PACKS
from support.paths import DATA

PACK = PACKS["eng"]
JUDGES = {method: Judge(read_pack(PACK).answers, method) for method in ("published", "corrected")}
LETTERS = {"answer": "drink", "distractor": "city", "word1": "city", "word2": "drink"}
PROMPT = 'Write a word beside "drink": '
HOSTILE = (
    PROMPT * 1_000,
    ('"' * 60 + PROMPT) * 250,
    '"' * 25_000 + PROMPT,
    "a" * 25_000,
    '"' * 25_000,
    "\"'.," * 6_000,
    "drink " * 4_000,
    "\x00\x01\x02" * 8_000,
    "((((((" * 4_000,
    "1" * 25_000,
    "é" * 25_000,
    "\n" * 25_000 + "x",
    'drink"' * 4_000,
    "\ue000\ue001" * 12_000,
)
EXAMPLES = {
    "choice": LETTERS
    | {"query": "city", "word": "city", "category": "c", "sentence": "drink city"},
    "yes_no": {"num_words": 5, "num_distractors": 4, "category": "animals"},
    "sentence": {"word": "drink"},
    "edge": {"word": "drink"},
    "spelling": {"letter": "d"},
}


def ask(method, task, arguments, answer, prompt="Which?"):
    return JUDGES[method].for_prompt(task, 1, arguments, prompt)(answer)


@pytest.mark.parametrize("method", JUDGES)
@pytest.mark.parametrize("task", RULES)
def test_hostile_answers_get_a_verdict_from_every_task(task, method):
    arguments = EXAMPLES[RULES[task].judge]
    if "number" in task:
        arguments = arguments | {"answer": 246, "distractor": 147, "n1": 147, "n2": 246}
    for answer in HOSTILE:
        verdict = ask(method, task, arguments, answer, PROMPT)
        assert isinstance(verdict.correct, bool)


@pytest.mark.parametrize("method", JUDGES)
def test_characters_that_stand_for_roles_say_nothing_in_an_answer(method):
    assert not ask(method, "first_letter", {"answer": "x", "word": "xylo"}, ROLE["answer"]).correct
    for character in (ROLE["answer"], *OPEN.values(), *CLOSE.values()):
        said = f"{character}drink{character} has {character}fewer letters"
        assert not ask(method, "more_letters", LETTERS, said).correct
    assert not ask(method, "more_letters", LETTERS, f"{ROLE['answer']} is longer").correct


words = st.text(string.ascii_lowercase, min_size=2, max_size=8)
anything = st.text(st.characters(exclude_categories=["Cs", "Co"]), min_size=1, max_size=12)


@given(anything, anything)
def test_what_an_argument_contains_is_never_taken_for_syntax(answer, distractor):
    arguments = LETTERS | {"answer": f"a{answer}b", "distractor": f"c{distractor}d"}
    assert ask("corrected", "more_letters", arguments, arguments["answer"]).correct
    assert not ask("corrected", "more_letters", arguments, arguments["distractor"]).correct


@given(words, words)
def test_the_bare_answer_is_right_and_the_distractor_wrong_also_between_quotes(word, other):
    if word == other:
        return
    for method in JUDGES:
        for task in ("more_letters", "first_alphabetically", "rhyming_word"):
            arguments = {"answer": word, "distractor": other, "query": "q", "word1": word}
            for form in ("{}", '"{}"', "{}.", "'{}',"):
                assert ask(method, task, arguments, form.format(word)).correct
                assert not ask(method, task, arguments, form.format(other)).correct


@given(st.integers(1, 400), st.integers(0, 2000))
def test_a_wrong_difference_is_told_from_the_right_one(true, said):
    expressions = counts_of(true, ["one|a single", "two", "three"])
    assert bool(re2.fullmatch(expressions["n"], str(said))) == (said == true)
    assert bool(re2.fullmatch(expressions["m"], str(said))) == (said != true)
    assert bool(re2.fullmatch(expressions["m"], "a single")) == (true != 1)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("{anser} is it", "has the role {anser}; expected one of answer, word"),
        ('"{answer}" is it', "has a mark (\"'.,) beside a role"),
        ("({answer} is it", "cannot be read"),
    ],
)
def test_a_faulty_pattern_is_named_with_its_fault(pattern, said):
    with pytest.raises(UserError) as error:
        expression_of(pattern, Expressions({"answer": "A", "word": "W"}))
    assert pattern in str(error.value)
    assert said in str(error.value)


ENGLISH = read_pack(PACK).answers.model_dump()
PAIR = ["more_letters", "less_letters"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"tasks": PAIR, "slots": {"more": ["more"]}}, "slots more need one value for each of"),
        ({"tasks": PAIR, "accept": ["{answer} <more>"]}, "have the slot <more>, which slots lacks"),
        ({"tasks": ["more_leters"]}, "task 'more_leters' is unknown; expected one of sentence"),
        ({"any_words.2": "more_letters"}, "task 'any_words' is"),
        ({"more_letters.2": "any_words"}, "task 'any_words' is"),
    ],
)
def test_declared_patterns_with_a_mistake_are_refused(fields, said):
    key, value = ("families", [fields]) if "tasks" in fields else ("asks", fields)
    with pytest.raises(ValueError, match=said):
        AnswerPatterns.model_validate(ENGLISH | {key: value})


def test_published_templates_that_ask_for_another_task_are_judged_by_what_they_ask():
    asks = {"any_words_from_category.2": "all_words_from_category"}
    declared = AnswerPatterns.model_validate(ENGLISH | {"asks": asks})
    arguments = {"num_words": 5, "num_distractors": 4}
    for prompts, right in (("published", "no"), ("corrected", "yes")):
        judge = Judge(declared, "corrected", prompts=prompts)
        verdict = judge.for_prompt("any_words_from_category_4_distractors", 2, arguments, "?")
        assert verdict(right).correct
        assert not verdict({"yes": "no", "no": "yes"}[right]).correct
    published = Judge(declared, "published")
    assert published.for_prompt("any_words_from_category", 2, arguments, "?")("yes").correct


@given(st.integers(1, 999), st.integers(0, 999))
def test_a_number_inside_a_longer_one_is_another(number, more):
    arguments = {"answer": number, "distractor": 1000}
    for said in (f"{number},{more:03}", f"{number}.{more}", f"-{number}"):
        assert not ask("corrected", "bigger_number", arguments, said).correct
    assert ask("corrected", "bigger_number", arguments, f"{number}, of course.").correct is False
    assert ask("corrected", "bigger_number", arguments, f"**{number}**.").correct


@pytest.mark.parametrize("task", ["sentence_containing", "starts_with_word", "ends_with_word"])
def test_a_repeated_prompt_is_no_answer(task):
    prompt = 'Drink this "drink":'
    for said in (prompt, prompt.rstrip(":"), f"**{prompt}**", prompt.upper(), f"Q: {prompt}\n" * 9):
        assert ask("corrected", task, {"word": "drink"}, said, prompt).rule == "echo"
    for form in ("NFC", "NFD"):
        prompt = unicodedata.normalize(form, 'Señor, which has more letters, "city" or "drink"?')
        assert ask("corrected", "more_letters", LETTERS, prompt, prompt).rule == "echo"


def tables(tmp_path, texts, opened=False, finish="stop"):
    fields = {"nominal": 1000, "answer": "drink", "prompt": "Which word is longer?"}
    prompt = prompt_row("eng", "more_letters_length_diff_1", 1, 1, LETTERS, **fields)
    answer = {"finish": finish, "tokens": 3, "opened": opened}
    prompts, answers = [], []
    for number, text in enumerate(texts):
        item, status = {"item_id": f"{number:016d}"}, "ok" if text is not None else "too_long"
        prompts.append(prompt | item)
        answers.append(item | answer | {"status": status, "text": text})
    items = write(prompts, PROMPTS, tmp_path / "items.parquet")
    return items, write(answers, ANSWERS, tmp_path / "answers.parquet")


def judged(tmp_path, texts, unjudged=0, **more):
    output = tmp_path / "judgements.parquet"
    assert judge_answers(*tables(tmp_path, texts, **more), PACK, "published", output) == unjudged
    return read_table(JUDGEMENTS, output).to_pandas()


def test_each_answer_has_a_row_by_each_method_with_its_grounds(tmp_path):
    texts = ["drink", "<think>city</think>Drink.", "한국어", None]
    judgements = judged(tmp_path, texts, unjudged=1)
    assert list(judgements["method"]) == ["published", "corrected"] * 4
    assert list(judgements["correct"][:6]) == [1, 1, 1, 1, 1, 0]
    assert judgements["correct"][6:].isna().all()
    assert list(judgements["rule"][:6]) == ["whole"] * 4 + ["vacuous", "lone"]
    assert judgements["pattern"][0] == "{answer}"
    assert set(judgements["nominal"]) == {1000}


@pytest.mark.parametrize(("opened", "corrected"), [(True, [0, 1, 1]), (False, [1, 1, 1])])
def test_what_ends_inside_reasoning_that_a_template_began_is_no_answer(tmp_path, opened, corrected):
    texts = ["drink", "city</think>drink", "<think>city</think>drink"]
    judgements = judged(tmp_path, texts, opened=opened)
    assert list(judgements["correct"][judgements["method"] == "published"]) == [1, 1, 1]
    assert list(judgements["correct"][judgements["method"] == "corrected"]) == corrected


@pytest.mark.parametrize("finish", ["stop", "length", None])
def test_answers_that_were_cut_off_are_uncertain_and_counted(tmp_path, finish):
    texts = ["drink", "drink.", '"drink"', "Which word is longer?"]
    rows = judged(tmp_path, texts, finish=finish)
    assert {*rows["cut"]} == {{"stop": False, "length": True}.get(finish)}
    assert list(rows["echo"]) == [False] * 6 + [True] * 2
    corrected = rows[rows["method"] == "corrected"]
    assert list(corrected["certain"]) == [finish != "length", True, True, True]
    assert rows["certain"][rows["method"] == "published"][:3].all()


def test_judgements_are_the_same_in_batches_of_any_size(tmp_path, monkeypatch):
    texts = ["drink", "city", None, "Drink.", "한국어", "the word drink"]
    usual = judged(tmp_path, texts, unjudged=1)
    for size in (1, 4, 6):
        monkeypatch.setattr("blimpworks.papers.lmentry.judging.judge.BATCH", size)
        assert judged(tmp_path, texts, unjudged=1).equals(usual)


def test_a_prompt_without_a_row_among_the_answers_is_named(tmp_path):
    items, _ = tables(tmp_path, ["drink", "city"])
    _, fewer = tables(tmp_path / "other", ["drink"])
    with pytest.raises(UserError, match="no row for 1 prompts, such as 0000000000000001"):
        judge_answers(items, fewer, PACK, "published", tmp_path / "out.parquet")


# Verdicts are cached: one worker runs the tests that share them.
each_language = pytest.mark.parametrize(
    "lang", [pytest.param(lang, marks=pytest.mark.xdist_group(f"answers-{lang}")) for lang in PACKS]
)


@cache
def verdicts_of(lang):
    """Return each row with the verdicts of both methods on its answer."""
    declared, judged = read_pack(PACKS[lang]).answers, []
    judges = {method: Judge(declared, method) for method in JUDGES}
    for row in read_cells(DATA / f"lmentry_answers/{lang}.tsv"):
        arguments, answer = json.loads(row["arguments"]), row["answer"].replace("\\n", "\n")
        question = (row["task"], 1, arguments, arguments.get("prompt") or "?")
        verdicts = {method: judge.for_prompt(*question)(answer) for method, judge in judges.items()}
        judged.append((row, verdicts))
    return judged


@each_language
def test_each_answer_gets_the_verdicts_and_the_rule_that_its_author_expects(lang):
    for row, verdicts in verdicts_of(lang):
        for method, verdict in verdicts.items():
            doubt = "" if verdict.certain else "?"
            assert ("right" if verdict.correct else "wrong") + doubt == row[method], row
        method, _, rule = row["rule"].rpartition(":")
        assert verdicts[method or "published"].rule == rule, row


@each_language
def test_every_pattern_of_the_pack_decides_some_answer(lang):
    declared = read_pack(PACKS[lang]).answers
    judged = verdicts_of(lang)
    fired = {(row["task"], v.pattern) for row, verdicts in judged for v in verdicts.values()}
    unused = []
    for task in {task for family in declared.families for task in family.tasks}:
        verdicts = [task_patterns(declared, task, method) for method in JUDGES]
        patterns = {p for each in verdicts for p in (*each.exact, *each.reject)}
        shared = {*declared.shared}
        patterns |= {f.pattern for each in verdicts for f in each.accept if f.pattern not in shared}
        stated = (declared.corrected.affirmed, declared.corrected.denied)
        patterns |= {p for each in stated for p in each.get(task, ())}
        unused += [(task, p) for p in sorted(patterns) if (task, p) not in fired]
    assert not unused, "\n".join(map(str, unused))
