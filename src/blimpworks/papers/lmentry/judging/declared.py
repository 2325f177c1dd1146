"""Define verdicts, the rules of tasks, and the answer patterns of a language pack.

``AnswerPatterns`` is the key ``answers`` of a pack. ``task_patterns`` returns a task's patterns for
its judge (choice.py, yes_no.py, writing.py). A pattern is a right or wrong answer in lower case,
with the prompt's arguments as roles in braces:

    tasks: [more_letters, less_letters]
    slots: {more: [more, less]}                   # the word for <more> in either task
    swap: [answer, distractor]
    accept: ["{answer} has <more> letters( than {distractor})?"]

A pattern may have groups ``(a|b)``, and ``?`` after optional text, but no repetition. It has no
marks beside roles, because answers may always have quotation marks, stops and commas around the
prompt's arguments. With ``swap``, the converse of a pattern is right too: "{distractor} has less
letters( than {answer})?" for ``more_letters``.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3; Efrat, Honovich and Levy (2023).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, model_validator

from blimpworks.campaign.table_files import read_rows
from blimpworks.papers.lmentry.judging.answers import DECLINED_ROLES
from blimpworks.papers.lmentry.tasks import TASKS
from blimpworks.strict import Strict


class Verdict(NamedTuple):
    """A judgement of an answer."""

    correct: bool
    certain: bool
    """Whether the verdict is beyond doubt, as for an answer that is only the right word."""
    rule: str
    """Rule that decided; docs/lmentry_judging.md explains each."""
    pattern: str | None = None

    @classmethod
    def right(cls, rule: str, pattern: str | None = None) -> Self:
        """Make a certain verdict that an answer is right."""
        return cls(True, True, rule, pattern)

    @classmethod
    def wrong(cls, rule: str) -> Self:
        """Make a certain verdict that an answer is wrong."""
        return cls(False, True, rule)


def _read_pairs(cell: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in cell.split())  # "answer=letter word=word"


class TaskRules(Strict):
    """Rules by which a task is judged."""

    task: str
    judge: Literal["choice", "yes_no", "sentence", "edge", "spelling"]
    absent: Literal["", "cased", "any"]
    """Whether an answer without the gold answer is certainly wrong: no (empty), or yes. For "any",
    the release first puts both in lower case; for "cased", only the model's answer, so that it
    never finds a gold answer with capitals."""
    lone: Literal["", "words", "tokens"]
    """Whether an answer is certainly wrong whose only word is not the gold answer: no (empty), or
    yes. Words have ASCII letters (words), or ASCII letters and digits, also repeated (tokens)."""
    echo: bool
    """Whether a repetition of the prompt's sentence is certainly wrong."""
    inside: bool
    """Whether patterns may match inside an answer. Only in tasks where they may, the release also
    accepts the sentences ``AnswerPatterns.shared``."""
    role_types: Annotated[dict[str, str], BeforeValidator(_read_pairs)]
    """Types of roles: letter, number or sentence. A role without a type is a word."""


_RULE_ROWS = read_rows(TaskRules, Path(__file__).with_name("rules.tsv"))
RULES = {rules.task: rules for rules in _RULE_ROWS}
Patterns = tuple[str, ...]
TwoTexts = Annotated[tuple[str, ...], Field(min_length=2, max_length=2)]
_SLOT = re.compile(r"<(\w+)>")


def _check_tasks(tasks: Iterable[str]) -> None:
    unknown = [task for task in tasks if task not in TASKS]
    if unknown:
        raise ValueError(f"task {unknown[0]!r} is unknown; expected one of {', '.join(TASKS)}")


class Family(Strict):
    """The patterns of one task, or of tasks that differ in a few words."""

    tasks: Annotated[tuple[str, ...], Field(min_length=1)]
    """The tasks; with ``swap`` or ``slots`` the second is the first's opposite."""
    slots: dict[str, tuple[str, ...]] = Field(default={})
    """Words for each ``<slot>``, one for each task."""
    exact: Patterns = ()
    """Right answers in full, in addition to the bare answer ("{answer} does")."""
    accept: Patterns = ()
    """Right sentences: a certain verdict for a full answer, an uncertain one inside an answer."""
    corrected: Patterns = ()
    """Right sentences that the release does not accept."""
    published: Patterns = ()
    """Sentences that only the release accepts: wrong, garbled or of another language."""
    swap: TwoTexts | None = None
    """Two roles. A pattern with exchanged roles and the opposite task's words is its converse."""
    never: tuple[str, ...] = ()
    """Slots whose patterns have no converse in the release, by mistake."""
    rewrites: dict[str, dict[str, str]] = Field(default={})
    """Replacements {task: {old: new}}, in order, by which the release makes the converse of a
    pattern. An old text without brackets is replaced in arguments too ("además": "ademenos")."""
    converse: bool = False
    """Whether these patterns are converses that the release makes by replacement. They are left out
    for prompts with replaced arguments, whose converses ``rewrites`` makes."""
    same: TwoTexts | None = None
    """Two roles that may be exchanged without any other change ("X rhymes with Y")."""
    reject: Patterns = ()
    """Full answers that are certainly wrong; ``swap`` does not apply."""
    published_reject: Patterns = ()
    """Answers that only the release rejects."""
    corrected_reject: Patterns = ()
    """Wrong answers that the release does not reject."""
    before: Patterns = ()
    """Optional texts before a right sentence ("of the words {word1} and {word2} ")."""
    after: Patterns = ()
    """Optional texts after a right sentence (" in alphabetical order")."""

    @model_validator(mode="after")
    def _check_slots(self) -> Self:
        _check_tasks(self.tasks)
        right = self.exact + self.accept + self.corrected + self.published
        wrong = self.reject + self.published_reject + self.corrected_reject
        used = dict.fromkeys(_SLOT.findall(" ".join(right + wrong + self.before + self.after)))
        lacking = [name for name in used if name not in self.slots]
        if lacking:
            raise ValueError(
                f"patterns of {', '.join(self.tasks)} have the slot <{lacking[0]}>, which slots "
                f"lacks; add {lacking[0]} to slots, with one value for each task"
            )
        short = [name for name, values in self.slots.items() if len(values) != len(self.tasks)]
        if short:
            raise ValueError(
                f"slots {', '.join(short)} need one value for each of the {len(self.tasks)} tasks"
            )
        return self


class PublishedWords(Strict):
    """Words that the release has in place of a language's, such as English words in German."""

    shared: Patterns | None = None
    article: dict[str, str] | None = None
    conjunction: str | None = None


class CorrectedWords(Strict):
    """Words and sentences for corrected verdicts only."""

    shared: Patterns = ()
    """Further right sentences of all tasks."""
    article: dict[str, str] = Field(default={})
    """Introductions of some types of arguments, instead of ``article``."""
    reasons: Patterns = ()
    """Words that begin a reason after an answer ("because")."""
    either: Patterns = ()
    """Words between two alternatives, neither of which is an answer ("or")."""
    affirmed: dict[str, Patterns] = Field(default={})
    """Statements that mean yes, by task, without the prompt's words ("it contains {category}")."""
    denied: dict[str, Patterns] = Field(default={})
    """Statements that mean no ("not all the words are {category}"), tried before ``affirmed``."""


class AnswerPatterns(Strict):
    """Patterns of answers in one language."""

    shared: Patterns
    """Sentences with ``{answer}`` that all tasks accept ("the answer is {answer}")."""
    article: dict[str, str]
    """Introduction of an argument by its type (word, letter, number, sentence): a pattern with
    ``{}`` for the argument ("(the word )?{}")."""
    families: tuple[Family, ...]
    """Patterns of tasks; a task may be in several."""
    conjunction: str = "and"
    """Word before the last word of a list."""
    numerals: Patterns = ()
    """Words for the numbers from one, in order ("one|a single"), for differences of length."""
    number_words: str | None = None
    """Language of num2words for numbers in words, or eu (Basque; eu-release: the release's
    spelling); None for digits only."""
    published_number_words: str | None = None
    """The release's language of num2words, if it differs. Then it takes ``numerals`` for wrong."""
    wrong_numerals: Patterns = ()
    """Other numbers in words that are wrong differences ("zero")."""
    single: str = ""
    """Letters that are words ("ai")."""
    published_single: dict[str, str] = Field(default={})
    """The release's single letters by task, where they differ."""
    accents: str = ""
    """Letters with accents that corrected verdicts ignore ("áéíóúü"; not "ñ")."""
    particles: Patterns = ()
    """Endings that arguments may have in corrected verdicts (Korean particles, Basque cases)."""
    yes_words: Annotated[Patterns, Field(min_length=1)]
    """Answers that mean yes; prompts offer the first."""
    no_words: Annotated[Patterns, Field(min_length=1)]
    """Answers that mean no."""
    published: PublishedWords = PublishedWords()
    """Replacements for published verdicts."""
    corrected: CorrectedWords = CorrectedWords()
    """Additions for corrected verdicts."""
    published_yes_no: TwoTexts | None = None
    """The release's yes and no, if not the first of ``yes_words`` and ``no_words``."""
    published_categories: dict[str, Patterns] = Field(default={})
    """Further names of categories that the release accepts in ``all_words_from_category``."""
    published_twice: bool = False
    """Whether the release's rule for words with a letter requires the letter twice."""
    published_marks: dict[str, str] = Field(default={})
    """Marks around an argument in the release's sentences, by task, if fewer than usual."""
    published_unbounded: tuple[str, ...] = ()
    """Tasks in whose sentences the release finds arguments inside longer words, with at most one of
    ``published_marks`` on either side, and without introductions."""
    endings: dict[str, str] = Field(default={})
    """Patterns of case endings for arguments in corrected verdicts (``{query_genitive}``);
    published verdicts decline the argument as the release does."""
    published_anywhere: bool = False
    """Whether the release accepts a last word anywhere after another word, also inside words."""
    published_scorers: dict[str, str] = Field(default={})
    """Tasks that the release scores with another language's patterns, and the language's ISO 639-3
    code; its pack is in the same folder."""
    lent: dict[str, "AnswerPatterns"] = Field(default={}, exclude=True)
    """Patterns of the packs in ``published_scorers``, by language; set by ``read_pack``."""
    copulas: Patterns = ()
    """Suffixes that mean "is" (Korean 입니다); corrected verdicts remove them from words."""
    asks: dict[str, str] = Field(default={})
    """Task that a published template asks for by mistake, by the template's task and number
    (``any_words_from_category.2``). Corrected verdicts judge the task that is asked for."""

    @model_validator(mode="after")
    def _check_task_names(self) -> Self:
        _check_tasks([key.rpartition(".")[0] for key in self.asks])
        _check_tasks(self.asks.values())
        _check_tasks(self.published_scorers)
        return self

    def for_task(self, task: str, variant: str) -> "AnswerPatterns":
        """Return the patterns that judge a task by a variant, with the words of the variant.

        These are another language's patterns if the release uses them.
        """
        if variant == "published":
            lender = self.published_scorers.get(task)
            patterns = self.lent[lender] if lender else self
            return patterns.model_copy(update=patterns.published.model_dump(exclude_none=True))
        shared = self.shared + self.corrected.shared
        article = self.article | self.corrected.article
        return self.model_copy(update={"shared": shared, "article": article})


_ROLE = re.compile(r"\{(\w+)\}")
Changed = Sequence[tuple[str, str]]
"""Pairs of an argument's role and a text that the release replaces in it: ("answer", "more") if the
answer is "moreover". It may also have ``TWINS``."""
TWINS = ("distractor", "query")
"""Member of ``Changed`` for a prompt whose distractor equals the query; not a replacement."""


class Framed(NamedTuple):
    """A right sentence, and texts that may precede and follow it."""

    pattern: str
    before: Patterns = ()
    after: Patterns = ()


class TaskPatterns(NamedTuple):
    """The patterns of one task from all families, with filled slots and with converses."""

    exact: tuple[str, ...]
    accept: tuple[Framed, ...]
    reject: tuple[str, ...]


def exchange_roles(pattern: str, roles: Sequence[str]) -> str:
    """Exchange two roles in ``pattern``, also with case endings (``{answer_ergative}``)."""
    new_name = dict(zip(roles, reversed(roles), strict=True))
    for name, (base, case) in DECLINED_ROLES.items():
        if base in roles:
            new_name[name] = f"{new_name[base]}_{case}"
    return _ROLE.sub(lambda match: "{" + new_name.get(match[1], match[1]) + "}", pattern)


def fill_slots(pattern: str, family: Family, task_index: int) -> str:
    """Fill the slots with the words for a task, given its index in ``family.tasks``."""
    return _SLOT.sub(lambda match: family.slots[match[1]][task_index], pattern)


def _fill_all(patterns: Patterns, family: Family, task_index: int) -> Patterns:
    return tuple(fill_slots(pattern, family, task_index) for pattern in patterns)


def task_patterns(
    declared: AnswerPatterns, task: str, variant: str, changed: Changed = ()
) -> TaskPatterns:
    """Return the patterns of ``task`` from all families, in a variant (published or corrected).

    ``changed``: replacements in the prompt's arguments, for published patterns. Corrected patterns
    also reject the opposite of each right sentence of a family with ``swap``.
    """
    exact: list[str] = []
    accept: list[Framed] = []
    reject: list[str] = []
    frames: list[tuple[Patterns, Patterns]] = []  # texts before and after sentences, by family
    for family in (family for family in declared.families if task in family.tasks):
        task_index = family.tasks.index(task)
        before = _fill_all(family.before, family, task_index)
        after = _fill_all(family.after, family, task_index)
        frames.append((before, after))
        sentences = _sentences(family, task_index, variant, changed)
        accept += (Framed(sentence, before, after) for sentence in sentences)
        exact += _exact_answers(family, task_index, changed)
        reject += _wrong_answers(family, task_index, variant)
    if variant == "corrected" or RULES[task].inside:
        # The same texts may surround shared sentences as those of the task's first family.
        before, after = frames[0] if frames else ((), ())
        accept += (Framed(pattern, before, after) for pattern in declared.shared)
    return TaskPatterns(
        tuple(dict.fromkeys(exact)), tuple(dict.fromkeys(accept)), tuple(dict.fromkeys(reject))
    )


def _exact_answers(family: Family, task_index: int, changed: Changed) -> Iterator[str]:
    for pattern in _fill_all(family.exact, family, task_index):
        yield pattern
        if family.same:
            exchanged = exchange_roles(pattern, family.same)
            if TWINS in changed:
                # The release exchanges words. It replaces the query by the answer, and so also the
                # distractor, which is the same word.
                exchanged = exchanged.replace("{distractor}", "{answer}")
            yield exchanged


def _wrong_answers(family: Family, task_index: int, variant: str) -> Iterator[str]:
    published = variant == "published"
    further = family.published_reject if published else family.corrected_reject
    yield from _fill_all(family.reject + further, family, task_index)
    if not published and family.swap:
        # A right sentence becomes wrong with exchanged roles or with the opposite task's words.
        for pattern in family.accept + family.corrected:
            if _SLOT.search(pattern):
                yield fill_slots(exchange_roles(pattern, family.swap), family, task_index)
                yield fill_slots(pattern, family, 1 - task_index)


def _sentences(family: Family, task_index: int, variant: str, changed: Changed) -> Iterator[str]:
    """Yield the right sentences of one family for a task, and their converses."""
    published, swap = variant == "published", family.swap or ()
    if changed and family.converse:
        return
    if changed and family.tasks[task_index] in family.rewrites:
        yield from _rewritten_sentences(family, task_index, changed)
        return
    for pattern in family.accept + (family.published if published else family.corrected):
        filled = fill_slots(pattern, family, task_index)
        yield filled
        slots = {*_SLOT.findall(pattern)}
        if slots and swap and not (published and slots & {*family.never}):
            # The converse means the same in the words of the opposite task.
            yield fill_slots(exchange_roles(pattern, swap), family, 1 - task_index)
        if family.same:
            yield exchange_roles(filled, family.same)


def _rewritten_sentences(family: Family, task_index: int, changed: Changed) -> list[str]:
    """Return sentences that the release accepts, and converses that it makes by replacements.

    Replacements also change arguments. If the answer is "moreover", "more" is replaced by "less":

        {answer} has more letters than {distractor}
        {distractor} has less letters than {answer_rewritten}       (its text is "lessover")
    """
    sentences = [*_fill_all(family.accept + family.published, family, task_index)]
    for old, new in family.rewrites[family.tasks[task_index]].items():
        text = old.strip("()")
        roles = [f"{{{role}}}" for role, replaced in changed if replaced == old]
        for pattern in tuple(sentences):  # with the converses by earlier replacements
            if text in pattern or any(role in pattern for role in roles):
                converse = exchange_roles(pattern, family.swap or ()).replace(text, new)
                for role in roles:
                    converse = converse.replace(role, f"{role.removesuffix('}')}_rewritten}}")
                sentences.append(converse)
    return sentences
