"""Judge a model's answers by two variants of rules (Moroni and others 2025, section 3.3).

``judge_answers`` (command ``judge-answers``) reads the prompts of a language, a model's answers and
the language pack. It writes two rows for each prompt: the verdict by the authors' rules, mistakes
included (method ``published``), and the verdict by rules that judge what the task asks
(``corrected``). For the prompt "Which is bigger, 3 or 7?" and the answer "7 is smaller than 3":

    method     correct  certain  rule    pattern
    published  0        False    none
    corrected  0        True     reject  {answer} is smaller( than {distractor})?
"""

import json
import logging
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks import tables
from blimpworks.campaign.variants import CORRECTED, PUBLISHED
from blimpworks.errors import UserError
from blimpworks.generation.reasoning import Cut, strip_reasoning
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.judging import answers, compiling, repetitions
from blimpworks.papers.lmentry.judging.choice import CorrectedChoice, PublishedChoice
from blimpworks.papers.lmentry.judging.declared import RULES, AnswerPatterns, Verdict
from blimpworks.papers.lmentry.judging.writing import EdgeJudge, SentenceJudge, SpellingJudge
from blimpworks.papers.lmentry.judging.yes_no import YesNoJudge
from blimpworks.papers.lmentry.tasks import task_of


class TaskJudge(Protocol):
    """Judge of one task in a language by one variant of the rules."""

    def for_prompt(self, arguments: answers.Arguments, prompt: str) -> compiling.AnswerJudge: ...


_JUDGES: dict[str, Callable[[AnswerPatterns, str, str], TaskJudge]] = {
    "choice": lambda declared, task, variant: (
        PublishedChoice(declared, task)
        if variant == "published"
        else CorrectedChoice(declared, task)
    ),
    "yes_no": YesNoJudge,
    "sentence": SentenceJudge,
    "edge": EdgeJudge,
    "spelling": SpellingJudge,
}


class Judge:
    """The judge of answers in one language by one variant of the rules."""

    def __init__(self, declared: AnswerPatterns, variant: str, *, prompts: str = PUBLISHED) -> None:
        """Create the judge. ``prompts``: variant of the prompts, ``published`` or ``corrected``."""
        self._declared, self._variant = declared, variant
        # By corrected rules, some published templates ask for another task than their own.
        may_differ = variant == "corrected" and prompts == "published"
        self._task_by_template = declared.asks if may_differ else {}
        self._judges: dict[str, TaskJudge] = {}

    def for_prompt(
        self, phenomenon: str, template: int, arguments: answers.Arguments, prompt: str
    ) -> compiling.AnswerJudge:
        """Return the function that judges answers to a prompt of a task or subset (phenomenon)."""
        task = task_of(phenomenon)
        task = self._task_by_template.get(f"{task}.{template}", task)
        if task not in RULES:
            raise UserError(f"task {task!r} has no rules; expected one of {', '.join(RULES)}.")
        if task not in self._judges:
            # Compile the task's patterns when it first occurs.
            make_judge = _JUDGES[RULES[task].judge]
            declared = self._declared.for_task(task, self._variant)
            self._judges[task] = make_judge(declared, task, self._variant)
        judge_answer = self._judges[task].for_prompt(arguments, prompt)
        if self._variant != "corrected":
            return judge_answer
        # Corrected rules remove repetitions of the prompt from the answer.
        if len(prompt) < repetitions.SHORTEST_ECHO:
            return lambda text: judge_answer(answers.normalise_corrected(text))
        writing = RULES[task].judge in ("sentence", "edge", "spelling")
        # Read the prompt once, and only if an answer is long enough to repeat it.
        read = cache(lambda: repetitions.read_prompt(prompt, arguments, writing=writing))

        def judge_without_prompt(text: str) -> Verdict:
            answer = answers.normalise_corrected(text)
            if len(answer) < repetitions.SHORTEST_ECHO:
                return judge_answer(answer)
            remainder = repetitions.without_prompt(answer, *read())
            if remainder is not answer and not answers.LETTER_OR_DIGIT.search(remainder):
                return Verdict.wrong("echo")
            return judge_answer(remainder)

        return judge_without_prompt


log = logging.getLogger(__name__)

METHODS: dict[str, Cut] = {PUBLISHED: "first", CORRECTED: "last"}
"""Methods, and the ``</think>`` after which the answer begins, if a text has several."""
FURTHER_COLUMNS = {"nominal": tables.INT, "certain": tables.BOOL, "rule": tables.LABEL}
FURTHER_COLUMNS |= {"pattern": tables.STRING, "cut": tables.BOOL, "echo": tables.BOOL}
"""Columns that judgements of other benchmarks lack. nominal: number of prompts of the template by
the settings; certain, rule, pattern: as in ``Verdict``; cut: whether the limit of tokens ended the
answer, null if unknown; echo: whether the answer only repeats its prompt."""
_PROMPT = ["item_id", "phenomenon", "paradigm", "template", "nominal", "prompt", "arguments"]
_COPIED = ("item_id", "phenomenon", "paradigm", "nominal")
_ANSWER_COLUMNS = ["text", "opened", "finish"]
# An answer that ends with a full stop, or with a quotation mark.
_ENDED = re.compile(r"[.!?。…][\s\"'”’»」』)*]*$|[\"”»」』]\s*$")
BATCH = 4096  # prompts judged at a time, since Python objects take more memory than a table


def _judge_batch(judges: dict[str, Judge], prompts: Sequence[dict[str, Any]]) -> pa.Table:
    """Return one row for each prompt and method, with nulls for prompts without an answer."""
    types = dict(tables.JUDGEMENTS.columns) | FURTHER_COLUMNS
    rows = []
    for prompt in prompts:
        arguments, finish = json.loads(prompt["arguments"]), prompt["finish"]
        verdicts: dict[str, Verdict] = {}
        question = (prompt["phenomenon"], prompt["template"], arguments, prompt["prompt"])
        for method, judge in judges.items() if prompt["text"] is not None else ():
            answer = strip_reasoning(prompt["text"], METHODS[method], opened=prompt["opened"])
            verdicts[method] = judge.for_prompt(*question)(answer)
            if method == CORRECTED and finish == "length" and not _ENDED.search(answer):
                # Without the limit of tokens, the model may have gone on to another answer.
                verdicts[method] = verdicts[method]._replace(certain=False)
        copied = {name: prompt[name] for name in _COPIED}
        copied["cut"] = None if finish is None else finish == "length"
        # Only the corrected rules compare the answer with its prompt.
        copied["echo"] = verdicts[CORRECTED].rule == "echo" if verdicts else None
        for method in METHODS:
            verdict = verdicts[method]._asdict() if verdicts else {}
            correct = float(verdict["correct"]) if verdicts else None
            rows.append(copied | verdict | {"method": method, "correct": correct})
    return pa.Table.from_pylist(rows, schema=pa.schema(types.items()))


def judge_answers(items: Path, responses: Path, pack: Path, prompts: str, output: Path) -> int:
    """Write verdicts on a model's answers in one language, by published and corrected rules.

    ``items``: table of prompts; ``prompts``: variant of the prompts; ``responses``: table of
    answers. Returns the number of prompts without an answer, which have rows without a verdict.
    Raises UserError for missing or faulty patterns, and for a prompt without a row of answers.
    """
    declared = read_pack(pack).answers
    if declared is None:
        raise UserError(f"{pack}: key 'answers' is missing; add patterns of right answers.")
    table = tables.read_table(tables.PROMPTS, items, _PROMPT)
    written = tables.read_table(tables.ANSWERS, responses, ["item_id", *_ANSWER_COLUMNS])
    positions = pc.index_in(table["item_id"], value_set=written["item_id"])
    if positions.null_count:
        missing = table["item_id"].filter(pc.is_null(positions))
        raise UserError(
            f"{responses} has no row for {len(missing)} prompts, such as {missing[0]}; "
            "collect the answers again."
        )
    for name in _ANSWER_COLUMNS:
        table = table.append_column(name, written[name].take(positions))
    judges = {method: Judge(declared, method, prompts=prompts) for method in METHODS}
    try:
        batches = [
            _judge_batch(judges, table.slice(start, BATCH).to_pylist())
            for start in range(0, max(len(table), 1), BATCH)
        ]
    except UserError as error:
        raise UserError(f"{pack}: {error}") from error
    judged = pa.concat_tables(batches).combine_chunks()
    tables.write_table(judged, tables.JUDGEMENTS, output)
    unjudged: int = table["text"].null_count
    if unjudged:
        log.warning("%s: %d of %d prompts have no answer", output, unjudged, len(table))
    return unjudged
