"""Judge a model's answers by two variants of rules (Moroni and others 2025, section 3.3).

``judge_answers`` (command ``judge-answers``) reads the prompts of a language, a model's answers and
the language pack. It writes two rows for each prompt: the verdict by the authors' rules, mistakes
included (method ``published``), and the verdict by rules that judge what the task asks
(``corrected``). The corrected rules first remove repetitions of the prompt from an answer:
"question: which is bigger, 3 or 7? 7 is bigger." becomes "7 is bigger.".

For the prompt "Which is bigger, 3 or 7?" and the answer "7 is smaller than 3":

    method     correct  certain  rule    pattern
    published  0        False    none
    corrected  0        True     reject  {answer} is smaller( than {distractor})?
"""

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks import tables
from blimpworks.campaign.variants import CORRECTED, PUBLISHED
from blimpworks.errors import UserError
from blimpworks.generation.reasoning import Cut, strip_reasoning
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.judging import answers, compiling
from blimpworks.papers.lmentry.judging.choice import CorrectedChoice, PublishedChoice
from blimpworks.papers.lmentry.judging.declared import RULES, AnswerPatterns, Verdict
from blimpworks.papers.lmentry.judging.writing import EdgeJudge, SentenceJudge, SpellingJudge
from blimpworks.papers.lmentry.judging.yes_no import YesNoJudge
from blimpworks.papers.lmentry.tasks import task_of

SHORTEST_ECHO = 12  # characters of the shortest sentence whose repetition is removed
FEWEST_CUT_WORDS = 3  # fewest words of a sentence that count as a repetition at an answer's end
LONGEST_LABEL = 40  # characters of the longest label ("Question: ") before a repetition
_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!。])[\s\"]+|\n")
_PHRASE = re.compile(r"[^\W_]+ [^\W_]+(?: [^\W_]+)+")  # three words or more
# A label and marks before a repetition (Your question: "), and marks after it.
_BEFORE = re.compile(r"(?:(?:^|(?<=\n))[^\W_]+(?: [^\W_]+)?:\s*)?[\"'¿¡\[(-]*$")
_BEHIND = re.compile(r"[\"'?!:.…\])]*")
_OPENING = re.compile(r"([^\W\d_]+) ([^\W\d_]+ [^\W\d_]+)\b")  # (Write) (a word)
_STATED = re.compile(r"\.(?![\"'])")  # the full stop of a statement
_LABEL = re.compile(r"[^\W_]+ ?:|[\W_]+")  # a line that has only "Answer:", or only marks


class Sentence(NamedTuple):
    """A sentence of a prompt in lower case."""

    hint: str
    """Three or more successive words that each repetition has, for a quick test; empty if none."""
    text: str
    is_question: bool


@lru_cache(maxsize=256)
def _instruction(verb: str, asked_for: str) -> re.Pattern[str]:
    # For "Write" and "a word", a line "Writing a word that ends with t:" up to the next text. The
    # verb may have another ending than in the prompt, and other words may follow.
    return re.compile(
        rf"^[^\w\n]*{re.escape(verb[:4])}\w* {re.escape(asked_for)}\b[^\n:.?!]*"
        r"[\W_]*?(?=[^\W_]|\n|$)",
        re.MULTILINE,
    )


def _sentences(text: str, quoted: str) -> Iterator[Sentence]:
    # Yield the sentences of a prompt, and Spanish questions ("¿...?") also without text before.
    # ``text``: the prompt, with a placeholder for the sentence ``quoted`` that it is about.
    for sentence in _BETWEEN_SENTENCES.split(text):
        question_start = sentence.find("¿")
        if question_start > 0:
            yield from _sentences(sentence[question_start:], quoted)
        full_sentence = sentence.replace(answers.PLACEHOLDER, quoted)
        if len(full_sentence) >= SHORTEST_ECHO:
            hint = _PHRASE.search(sentence)
            is_question = sentence.rstrip('" ').endswith("?")
            yield Sentence(hint[0] if hint else "", full_sentence, is_question)


def without_prompt(answer: str, sentences: list[Sentence], opening: re.Match[str] | None) -> str:
    """Remove repetitions of the prompt from an answer, with labels before them ("Question: ").

    "question: which is bigger, 3 or 7? 7 is bigger" gives "7 is bigger". A question with a full
    stop is kept, since it is a statement in some languages.

    ``sentences``: of the prompt. ``opening``: match of ``_OPENING`` in a prompt that asks to write
    ("Write a word that ..."), to remove the instruction in other words too; else None.
    """
    remaining_texts, read_to = [], 0  # texts between repetitions; end of the text that was read
    for start, end, is_question in _find_echoes(answer, sentences):
        if start < read_to or (is_question and _STATED.match(answer, end)):
            continue
        # The length of labels is limited, since hostile answers have long runs of marks.
        label = _BEFORE.search(answer, max(read_to, start - LONGEST_LABEL), start)
        remaining_texts.append(answer[read_to : label.start() if label else start])
        marks = _BEHIND.match(answer, end)
        read_to = marks.end() if marks else end
    if read_to:
        lines = map(str.strip, "\n".join([*remaining_texts, answer[read_to:]]).split("\n"))
        answer = "\n".join(line for line in lines if line and not _LABEL.fullmatch(line))
    if opening and opening[2] in answer:
        return _instruction(opening[1], opening[2]).sub("", answer).strip()
    return answer


def _find_echoes(answer: str, sentences: list[Sentence]) -> list[tuple[int, int, bool]]:
    """Return (start, end, whether it is a question) of each repeated sentence in an answer."""
    hinted = [sentence for sentence in sentences if sentence.hint in answer]
    # Words of the answer, as spans and as a text with one space around each word.
    spans = [match.span() for match in answers.WORD.finditer(answer)] if hinted else []
    text = f" {' '.join(answer[start:end] for start, end in spans)} "
    echoes = []
    for sentence in hinted:
        for first, last in _find_repetitions(text, sentence):
            (start, _), (_, end) = spans[first], spans[last]
            echoes.append((start, end, sentence.is_question))
    return sorted(echoes)


def _find_repetitions(text: str, sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Yield the numbers (from 0) of the first and last word of each repetition of a sentence.

    ``text``: the answer's words, with one space around each. After full repetitions, it may also
    end with the first words of the sentence, which then are the last repetition. For "which is
    bigger" and the text " which is bigger which is bigger wh ": (0, 2), (3, 5), (6, 6).
    """
    sentence_words = answers.WORD.findall(sentence.text)
    joined, size = f" {' '.join(sentence_words)} ", len(sentence_words)
    occurrences, start = 0, text.find(joined)
    while start >= 0:
        first = text.count(" ", 0, start)  # spaces before a word are its number
        yield first, first + size - 1
        # The next repetition may begin with the last space of this one.
        occurrences, start = occurrences + 1, text.find(joined, start + len(joined) - 1)
    if not occurrences:
        return
    # Look for the beginning of the sentence at the end of the answer, the longest first. One word
    # is enough in an answer that repeats the sentence again and again.
    words_of_answer = text.split()
    total, last_words = len(words_of_answer), words_of_answer[1 - size :]  # fewer than ``size``
    shortest = 1 if occurrences > 1 else FEWEST_CUT_WORDS
    for length in range(len(last_words), shortest - 1, -1):
        *full_words, cut_word = sentence_words[:length]
        if last_words[-length:-1] == full_words and cut_word.startswith(last_words[-1]):
            yield total - length, total - 1
            return


class TaskJudge(Protocol):
    """Judge of one task in a language by one variant of the rules."""

    def for_prompt(self, arguments: answers.Arguments, prompt: str) -> compiling.AnswerJudge: ...


def _choice_judge(declared: AnswerPatterns, task: str, variant: str) -> TaskJudge:
    judge = PublishedChoice if variant == "published" else CorrectedChoice
    return judge(declared, task)


_JUDGES: dict[str, Callable[[AnswerPatterns, str, str], TaskJudge]] = {
    "choice": _choice_judge,
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
        asks_to_write = RULES[task].judge in ("sentence", "edge", "spelling")

        # Read the prompt once for all answers, and only if an answer is long enough to repeat it.
        @cache
        def read_prompt() -> tuple[list[Sentence], re.Match[str] | None]:
            text, quoted = answers.normalise_corrected(prompt), str(arguments.get("sentence", ""))
            if quoted:
                quoted = answers.normalise_corrected(quoted)
                text = text.replace(quoted, answers.PLACEHOLDER)
            return [*_sentences(text, quoted)], _OPENING.match(text) if asks_to_write else None

        def judge_without_prompt(text: str) -> Verdict:
            answer = answers.normalise_corrected(text)
            if min(len(answer), len(prompt)) < SHORTEST_ECHO:
                return judge_answer(answer)
            remainder = without_prompt(answer, *read_prompt())
            if remainder != answer and not answers.LETTER_OR_DIGIT.search(remainder):
                return Verdict.wrong("echo")
            return judge_answer(remainder)

        return judge_without_prompt


log = logging.getLogger(__name__)

METHODS: dict[str, Cut] = {PUBLISHED: "first", CORRECTED: "last"}
"""Methods of judging, each with the ``</think>`` after which the answer begins (first or last)."""
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
BATCH = 4096  # prompts judged at a time, since as Python objects they take much memory


def _judge_batch(judges: dict[str, Judge], prompts: Sequence[dict[str, Any]]) -> pa.Table:
    """Return one row for each prompt and method, with nulls for prompts without an answer."""
    types = dict(tables.JUDGEMENTS.columns) | FURTHER_COLUMNS
    rows = []
    for prompt in prompts:
        arguments, finish = json.loads(prompt["arguments"]), prompt["finish"]
        verdicts: dict[str, Verdict] = {}  # by method; empty without an answer
        question = (prompt["phenomenon"], prompt["template"], arguments, prompt["prompt"])
        for method, judge in judges.items():
            if prompt["text"] is None:
                continue
            answer = strip_reasoning(prompt["text"], METHODS[method], opened=prompt["opened"])
            verdicts[method] = judge.for_prompt(*question)(answer)
            if method == CORRECTED and finish == "length" and not _ENDED.search(answer):
                # Without the limit of tokens, the model may have gone on to another answer.
                verdicts[method] = verdicts[method]._replace(certain=False)
        copied = {name: prompt[name] for name in _COPIED}
        copied["cut"] = None if finish is None else finish == "length"
        # The published rules find few repetitions of the prompt.
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
