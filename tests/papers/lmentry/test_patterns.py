"""Answers written to exercise every pattern of every language pack, right and wrong ones."""

import csv
import json
from functools import cache

import pytest

from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.judging.declared import RULES_OF, task_patterns
from blimpworks.papers.lmentry.judging.judge import Judge
from support.paths import DATA, REPOSITORY

PACKS = {p.stem: p for p in sorted((REPOSITORY / "config/lmentry/languages").glob("*.yaml"))}
ANSWERS = DATA / "lmentry_answers"
METHODS = ("published", "corrected")
# Verdicts are found once: tests that share them are run by one worker.
each_language = pytest.mark.parametrize(
    "lang", [pytest.param(lang, marks=pytest.mark.xdist_group(f"answers-{lang}")) for lang in PACKS]
)


def rows_of(lang):
    with (ANSWERS / f"{lang}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def verdicts_of(lang):
    """Each row with the verdicts of both methods on its answer."""
    declared, judged = read_pack(PACKS[lang]).answers, []
    judges = {method: Judge(declared, method) for method in METHODS}
    for row in rows_of(lang):
        arguments, answer = json.loads(row["arguments"]), row["answer"].replace("\\n", "\n")
        question = (row["task"], 1, arguments, arguments.get("prompt") or "?")
        verdicts = {method: judge.ask(*question)(answer) for method, judge in judges.items()}
        judged.append((row, verdicts))
    return judged


def label_of(verdict):
    return ("right" if verdict.correct else "wrong") + ("" if verdict.certain else "?")


@pytest.mark.slow
@each_language
def test_each_answer_gets_the_verdict_that_its_author_expects(lang):
    wrong = [
        (row["task"], row["answer"], method, label_of(verdicts[method]), verdicts[method].rule)
        for row, verdicts in verdicts_of(lang)
        for method in METHODS
        if label_of(verdicts[method]) != row[method]
    ]
    assert not wrong, "\n".join(map(str, wrong))


@each_language
def test_each_answer_is_decided_by_the_rule_that_its_author_names(lang):
    for row, verdicts in verdicts_of(lang):
        method, _, rule = row["rule"].rpartition(":")
        assert verdicts[method or "published"].rule == rule, row


@each_language
def test_every_pattern_of_the_pack_decides_some_answer(lang):
    declared = read_pack(PACKS[lang]).answers
    judged = verdicts_of(lang)
    fired = {(row["task"], v.pattern) for row, verdicts in judged for v in verdicts.values()}
    unused = []
    for task in {task for family in declared.families for task in family.tasks}:
        verdicts = [task_patterns(declared, task, method) for method in METHODS]
        patterns = {p for each in verdicts for p in (*each.exact, *each.reject)}
        shared = {*declared.shared}
        patterns |= {f.pattern for each in verdicts for f in each.accept if f.pattern not in shared}
        stated = (declared.corrected.affirmed, declared.corrected.denied)
        patterns |= {p for each in stated for p in each.get(task, ())}
        unused += [(task, p) for p in sorted(patterns) if (task, p) not in fired]
    assert not unused, "\n".join(map(str, unused))


@each_language
def test_every_task_has_right_and_wrong_answers(lang):
    rows = rows_of(lang)
    tasks = {*RULES_OF} - ({"homophones"} if lang == "eus" else set())
    for task in tasks:
        verdicts = {row["corrected"].rstrip("?") for row in rows if row["task"] == task}
        assert verdicts == {"right", "wrong"}, task
