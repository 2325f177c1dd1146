"""Published against corrected verdicts: what changes, and why."""

import json

import pandas as pd
import pytest

from blimpworks.errors import UserError
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.judging.judge import METHODS, Judge
from blimpworks.papers.lmentry.tables import VERDICTS
from blimpworks.papers.lmentry.tasks import SUBJECTS
from blimpworks.papers.lmentry.verdicts import (
    REASONS,
    compare_evaluation,
    compare_verdicts,
    reasons,
)
from blimpworks.tables import ANSWERS, JUDGEMENTS, PROMPTS, Evaluation, read_table
from support.commands import run
from support.lmentry_campaign import EXTRA, Campaign, judgement, prompts, write
from support.paths import REPOSITORY

PACKS = REPOSITORY / "config/lmentry/languages"
NUMBERS = {"answer": 900, "distractor": 200, "n1": 200, "n2": 900}
RHYMES = {"query": "Mund", "answer": "Hund", "distractor": "Katze", "word1": "Hund", "word2": "See"}
ANIMALS = {"answer": "nein", "num_words": 5, "num_distractors": 5, "category": "Tiere"}
CAT = {"answer": "cat", "sentence": "cat dog sat"}
CASES = [
    # language, task, arguments, answer; its verdicts, published and corrected; reason
    ("kor", "bigger_number", NUMBERS, "이백입니다", (1, 0), "vacuous"),
    ("kor", "starts_with_letter", {"letter": "ㅅ"}, "사과", (0, 1), "script"),
    ("deu", "rhyming_word", RHYMES, "Das Wort Hund", (0, 1), "case"),
    ("deu", "any_words_from_category", ANIMALS, "Nein.", (0, 1), "yes_no"),
    ("eng", "first_word", CAT, "The sentence starts with cat", (0, 1), "wording"),
    ("eus", "ends_with_word", {"word": "katua"}, "nire katua dago hemen", (1, 0), "wording"),
]


def judged(lang, task, arguments, answer):
    """A changed verdict, as the judges of both methods give it."""
    declared = read_pack(PACKS / f"{lang}.yaml").answers
    row = {"phenomenon": task, "text": answer}
    row["asked"] = str(next(arguments[name] for name in SUBJECTS if name in arguments))
    for method in METHODS:
        verdict = Judge(declared, method).ask(task, 1, arguments, "Which?")(answer)
        row |= {f"correct_{method}": float(verdict.correct), f"rule_{method}": verdict.rule}
    return row


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_a_changed_verdict_has_a_reason(case):
    *given, verdicts, reason = case
    row = judged(*given)
    assert (row["correct_published"], row["correct_corrected"]) == verdicts
    assert reasons(pd.DataFrame([row])).tolist() == [reason]


def test_reasons_are_about_what_the_published_rules_take_for_the_answer(tmp_path):
    arguments = {"answer": "고양이", "sentence": "고양이 잔다"}
    # The published rules cut at the first end of reasoning, and so find words of ASCII letters.
    text = "<think>a</think>but b</think>강아지"
    fields = {"item_id": "1", "arguments": json.dumps(arguments)}
    prompt = next(iter(prompts("kor", 1))) | fields | {"answer": "고양이"}
    answer = {"item_id": "1", "status": "ok", "text": text, "finish": "stop", "tokens": 9}
    both = ("published", 1, "vacuous"), ("corrected", 0, "lone")
    verdicts = [judgement(prompt, *verdict) for verdict in both]
    evaluation = Evaluation(
        "mine",
        "kor",
        write([prompt], PROMPTS, tmp_path / "p.parquet"),
        write([answer], ANSWERS, tmp_path / "a.parquet"),
        write(verdicts, JUDGEMENTS, tmp_path / "j.parquet", EXTRA),
    )
    rows = compare_evaluation(evaluation)
    assert rows["published"][rows["reason"] == "vacuous"].sum() == 0
    assert rows["published"][rows["reason"] == "other"].sum() == 1


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    root = tmp_path_factory.mktemp("verdicts")
    return Campaign(root, {"phi-4": 0.8, "mine": 0.4}, ("ita", "kor", "deu")).build()


@pytest.fixture(scope="module")
def compared(campaign):
    output = campaign.root / "verdicts/lmentry.parquet"
    models = json.dumps({model: list(campaign.languages) for model in campaign.models})
    arguments = [campaign.root, f"--models={models}", "--benchmark=lmentry", f"--output={output}"]
    run("compare-verdicts", *arguments)
    return read_table(VERDICTS, output).to_pandas().astype({"reason": str, "phenomenon": str})


def test_right_answers_are_those_of_the_judgements(campaign, compared):
    rows = compared
    for model, lang, path in campaign.judged:
        judged = read_table(JUDGEMENTS, path).to_pandas()
        own = rows[(rows["model"] == model) & (rows["lang"] == lang) & (rows["reason"] == "all")]
        for method in ("published", "corrected"):
            side = judged[judged["method"] == method]
            assert own[method].sum() == side["correct"].sum()
            assert own["cut"].sum() == side["cut"].sum()
            assert own["echoes"].sum() == side["echo"].sum()


def test_answers_that_were_not_judged_are_left_out(campaign, tmp_path):
    evaluation = campaign.evaluations[0]
    rows = read_table(JUDGEMENTS, evaluation.judgements).to_pylist()
    rows[0] |= {"correct": None}
    rows[2] |= {"cut": None}
    path = write(rows, JUDGEMENTS, tmp_path / "j.parquet", EXTRA)
    compared = compare_evaluation(evaluation._replace(judgements=path))
    assert compared["n"][compared["reason"] == "all"].sum() == 41 * 12 - 1
    assert compared["cut"].isna().sum() == 1 + len(REASONS)


def test_verdicts_by_one_method_alone_or_none_are_refused(campaign, tmp_path):
    evaluation = campaign.evaluations[0]
    rows = [judgement(prompt, "corrected", 1, "whole") for prompt in prompts("ita")]
    path = write(rows, JUDGEMENTS, tmp_path / "j.parquet", EXTRA)
    with pytest.raises(UserError, match="no verdicts by method 'published'; expected both"):
        compare_evaluation(evaluation._replace(judgements=path))
    with pytest.raises(UserError, match="no judgements are given"):
        compare_verdicts([], tmp_path / "v.parquet")
